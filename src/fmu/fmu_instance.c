/* fmu_instance.c - an instance of an FMU, whatever the version of the standard.
 *
 * Until initialisation ends an instance is a set of start values, and a simulation that is made of them
 * whenever somebody asks for a value that depends on one that has changed: parameters go into the spec, which
 * is compiled again, start values of coordinates and speeds into a start of the spec, as if the model file
 * had given them, so that assembly treats them alike. A start value that is set to what it is anyway is no
 * change. Without changes the simulation is the one that `linkwork run` makes of the model, bit by bit.
 *
 * Afterwards Co-Simulation advances the simulation (fmu_steps.c), and Model Exchange uses it from outside
 * (simulation_outside.h).
 *
 * Source   docs/fmu.md.
 * Cost     values: what they depend on, computed once after each change of time, state or input; a step: that
 *          of the simulation. Only set-up and changes of tunable parameters allocate.
 */
#include "fmu/fmu_instance_parts.h"
#include "core/archive.h"
#include "core/checksum.h"
#include "model/signals.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- messages --------------------------------------------------------------------------------------- */

lw_fmu_status lw_fmu_say(lw_fmu *fmu, lw_fmu_status status, const char *format, ...) {
    static const char *const categories[] = {"logEvents", "logStatusWarning", "logStatusDiscard",
                                             "logStatusError", "logStatusFatal"};
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (fmu->log) fmu->log(fmu->context, status, categories[status], text);
    return status;
}

/* What the caller may try again with a shorter step is discarded, everything else is an error. */
lw_fmu_status lw_fmu_tell(lw_fmu *fmu, lw_status status, const lw_error *error) {
    if (status == LW_OK) return LW_FMU_OK;
    char text[1024];
    if (error && error->message[0])
        lw_error_format(error, text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", lw_status_text(status));
    const bool again = status == LW_ERROR_SINGULAR || status == LW_ERROR_INTEGRATION;
    return lw_fmu_say(fmu, again ? LW_FMU_DISCARD : LW_FMU_ERROR, "%s", text);
}

static void note(double t, const char *kind, const char *text, void *context) {
    const bool warns = strcmp(kind, "warning") == 0;
    (void)lw_fmu_say(context, warns ? LW_FMU_WARNING : LW_FMU_OK, "t = %.9g: %s: %s", t, kind, text);
}

/* --- making the simulation -------------------------------------------------------------------------- */

static const lw_fmu_variable *variable(const lw_fmu *fmu, unsigned reference) {
    return reference < (unsigned)fmu->table.count ? &fmu->table.variables[reference] : NULL;
}

static lw_status set_parameters(const lw_fmu *fmu, lw_spec *spec, lw_error *error) {
    const char **names = calloc((size_t)fmu->table.count + 1, sizeof *names);
    double *values = calloc((size_t)fmu->table.count + 1, sizeof *values);
    size_t count = 0;
    lw_status status = names && values ? LW_OK : lw_out_of_memory(error);
    for (int k = 0; status == LW_OK && k < fmu->table.count; k++) {
        if (fmu->table.variables[k].kind != LW_FMU_PARAMETER || !fmu->given[k]) continue;
        names[count] = lw_spec_parameter(spec, (size_t)fmu->table.variables[k].index, NULL);
        values[count++] = fmu->given_values[k];
    }
    if (status == LW_OK && count) status = lw_spec_set_parameters(spec, names, values, count, error);
    free(names);
    free(values);
    return status;
}

static bool is_given(const lw_fmu *fmu, int joint, lw_fmu_kind kind) {
    for (int k = 0; k < fmu->table.count; k++) {
        const lw_fmu_variable *v = &fmu->table.variables[k];
        if (v->kind == kind && v->joint == joint && fmu->given[k]) return true;
    }
    return false;
}

/* Enters the coordinates or speeds of a joint, those that were not set with the values that they had. */
static void enter(const lw_fmu *fmu, int joint, lw_fmu_kind kind, double *numbers) {
    for (int k = 0; k < fmu->table.count; k++) {
        const lw_fmu_variable *v = &fmu->table.variables[k];
        if (v->kind == kind && v->joint == joint)
            numbers[v->number] = fmu->given[k] ? fmu->given_values[k] : fmu->own_values[k];
    }
}

/* Start values of coordinates and speeds as a start of the spec, beside those of the start that it has. */
static lw_status set_start(const lw_fmu *fmu, lw_spec *spec, lw_error *error) {
    static const char name[] = "start values of the FMU";
    const char *begin = lw_spec_run(spec)->begin;
    const size_t before = lw_spec_start_count(spec);
    bool any = false;
    lw_status status = LW_OK;
    for (int j = 0; j < lw_model_joint_count(fmu->model) && status == LW_OK; j++) {
        lw_start_spec entry = {.name = name, .joint = lw_model_joint_info(fmu->model, j).name};
        for (size_t k = 0; begin && k < before; k++) {
            const lw_start_spec *old = lw_spec_start(spec, k);
            if (strcmp(old->name, begin) == 0 && strcmp(old->joint, entry.joint) == 0) entry = *old;
        }
        entry.name = name;
        const bool q = is_given(fmu, j, LW_FMU_COORDINATE), v = is_given(fmu, j, LW_FMU_SPEED);
        any |= q || v;
        if (q) enter(fmu, j, LW_FMU_COORDINATE, entry.q), entry.has_q = true;
        if (v) enter(fmu, j, LW_FMU_SPEED, entry.v), entry.has_v = true;
        if (entry.has_q || entry.has_v) status = lw_spec_add_start(spec, &entry);
    }
    if (status != LW_OK) return lw_out_of_memory(error);
    return any ? lw_spec_begin(spec, name, error) : LW_OK;
}

static lw_status compile(const lw_spec *spec, lw_model **model, lw_error *error) {
    lw_report *report = lw_report_create();
    lw_status status = lw_model_compile(spec, NULL, report, model);
    for (size_t k = 0; status != LW_OK && k < lw_report_size(report); k++) {
        const lw_error *fault = lw_report_get(report, k);
        if (fault->severity != LW_SEVERITY_ERROR) continue;
        *error = *fault;
        break;
    }
    lw_report_destroy(report);
    return status;
}

/* A runtime without SUNDIALS (that for Windows) lacks adams, bdf and ida. erk has the same accuracy, at more
 * cost where the model is stiff. */
static void replace_missing(lw_fmu *fmu, lw_run_options *options) {
    const char *name = lw_run_integrator(options);
    if (lw_integrator_find(name)) return;
    if (!fmu->told_integrator)
        (void)lw_fmu_say(fmu, LW_FMU_WARNING,
                         "the integrator %s is not in the FMU's library for this platform: erk takes its "
                         "place; if it is slow, export the model with rosenbrock and a step",
                         name);
    fmu->told_integrator = true;
    options->integrator = "erk";
}

static lw_status simulate(lw_fmu *fmu, const lw_model *model, lw_simulation **simulation, lw_error *error) {
    lw_run_options options;
    lw_run_defaults(model, &options);
    if (isfinite(fmu->start)) {
        options.end += fmu->start - options.start;
        options.start = fmu->start;
    }
    if (isfinite(fmu->stop) && fmu->stop > options.start) options.end = fmu->stop;
    if (isfinite(fmu->tolerance) && fmu->tolerance > 0 && !(options.step > 0))
        options.tolerance = fmu->tolerance;
    options.event = note, options.context = fmu;
    for (int k = 0; k < lw_model_input_count(model); k++) fmu->inputs[k] = lw_model_input_default(model, k);
    for (int k = 0; k < lw_model_state_count(model); k++) fmu->states[k] = lw_model_state_start(model, k);
    for (int k = 0; k < fmu->table.count; k++) {
        const lw_fmu_variable *v = &fmu->table.variables[k];
        if (fmu->given[k] && v->kind == LW_FMU_INPUT) fmu->inputs[v->index] = fmu->given_values[k];
        if (fmu->given[k] && v->kind == LW_FMU_STATE) fmu->states[v->index] = fmu->given_values[k];
    }
    options.inputs = fmu->inputs, options.states = fmu->states;
    if (fmu->exchange) options.integrator = "erk"; /* It is not called. */
    if (!fmu->exchange) replace_missing(fmu, &options);
    return lw_simulation_create(model, &options, NULL, simulation, error);
}

/* Before the simulation may go on with another model, as after a change of a parameter. */
void lw_fmu_drop_derivatives(lw_fmu *fmu) {
    lw_fmu_derivatives_destroy(fmu->derivatives);
    fmu->derivatives = NULL;
}

void lw_fmu_forget(lw_fmu *fmu) {
    fmu->fresh = fmu->has_outputs = fmu->has_reactions = fmu->has_rates = fmu->has_roots = false;
}

/* Makes model and simulation of the present start values. */
static lw_status rebuild(lw_fmu *fmu, lw_error *error) {
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_simulation *simulation = NULL;
    lw_fmu_content content;
    lw_status status = lw_fmu_content_read(fmu->bytes, fmu->size, &content, error);
    if (status != LW_OK) return status;
    spec = content.spec;
    status = set_parameters(fmu, spec, error);
    if (status == LW_OK && fmu->model) status = set_start(fmu, spec, error);
    if (status == LW_OK) status = compile(spec, &model, error);
    if (status == LW_OK && !fmu->inputs) {
        fmu->inputs = LW_NEW(fmu->arena, double, lw_model_input_count(model) + 1);
        fmu->states = LW_NEW(fmu->arena, double, lw_model_state_count(model) + 1);
        if (lw_arena_failed(fmu->arena)) status = lw_out_of_memory(error);
    }
    if (status == LW_OK) status = simulate(fmu, model, &simulation, error);
    if (status == LW_OK && fmu->exchange) status = lw_outside_possible(simulation, error);
    if (status == LW_OK && fmu->exchange) lw_outside_begin(simulation);
    lw_fmu_content_clear(&content);
    if (status != LW_OK) {
        lw_simulation_destroy(simulation);
        lw_model_destroy(model);
        return status;
    }
    lw_fmu_drop_derivatives(fmu);
    lw_simulation_destroy(fmu->simulation);
    lw_model_destroy(fmu->model);
    fmu->simulation = simulation, fmu->model = model;
    fmu->dirty = false;
    lw_fmu_forget(fmu);
    return LW_OK;
}

lw_fmu_status lw_fmu_settle(lw_fmu *fmu) {
    lw_error error = {0};
    return fmu->dirty ? lw_fmu_tell(fmu, rebuild(fmu, &error), &error) : LW_FMU_OK;
}

/* --- creation --------------------------------------------------------------------------------------- */

static bool take_memory(lw_fmu *fmu) {
    const size_t n = (size_t)fmu->table.count + 1;
    const lw_simulation *s = fmu->simulation;
    fmu->given = LW_NEW(fmu->arena, bool, n);
    fmu->given_values = LW_NEW(fmu->arena, double, n);
    fmu->own_values = LW_NEW(fmu->arena, double, n);
    fmu->x = LW_NEW(fmu->arena, double, s->system.base.size + 1);
    fmu->rates = LW_NEW(fmu->arena, double, s->system.base.size + 1);
    fmu->outputs = LW_NEW(fmu->arena, double, lw_model_output_count(fmu->model) + 1);
    fmu->reactions = LW_NEW(fmu->arena, double, 6 * lw_model_joint_count(fmu->model) + 1);
    fmu->roots = LW_NEW(fmu->arena, double, fmu->content.indicators + 1);
    return !lw_arena_failed(fmu->arena);
}

static bool is_start(const lw_fmu_variable *v) {
    return v->kind == LW_FMU_INPUT || v->kind == LW_FMU_PARAMETER || v->kind == LW_FMU_STATE ||
           v->kind == LW_FMU_COORDINATE || v->kind == LW_FMU_SPEED || v->kind == LW_FMU_BOOK;
}

/* The start values that hold if nobody sets them. */
static lw_fmu_status keep_own_values(lw_fmu *fmu) {
    for (int k = 0; k < fmu->table.count; k++) {
        const unsigned reference = (unsigned)k;
        if (!is_start(&fmu->table.variables[k])) continue;
        lw_fmu_status status = lw_fmu_get(fmu, &reference, 1, &fmu->own_values[k]);
        if (status > LW_FMU_WARNING) return status;
    }
    return LW_FMU_OK;
}

lw_fmu *lw_fmu_create(const void *content, size_t size, const char *token, bool exchange, lw_fmu_log *log,
                      void *context) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_fmu *fmu = LW_NEW(arena, lw_fmu, 1);
    if (!fmu) {
        if (arena) lw_arena_destroy(arena);
        return NULL;
    }
    lw_error error = {0};
    char own[LW_FMU_TOKEN];
    *fmu = (lw_fmu){.arena = arena, .log = log, .context = context, .exchange = exchange};
    fmu->start = fmu->stop = fmu->tolerance = NAN;
    lw_fmu_content_token(content, size, own);
    lw_fmu_status answer = LW_FMU_OK;
    if (!token || strcmp(token, own) != 0)
        answer = lw_fmu_say(fmu, LW_FMU_ERROR,
                            "the model in resources is not the one that the description belongs to");
    if (answer == LW_FMU_OK) {
        fmu->bytes = LW_NEW(arena, unsigned char, size + 1);
        lw_status status = fmu->bytes ? LW_OK : lw_out_of_memory(&error);
        if (status == LW_OK) memcpy(fmu->bytes, content, size), fmu->size = size;
        fmu->token = lw_hash(LW_HASH_OF_NOTHING, content, size);
        if (status == LW_OK) status = lw_fmu_content_read(content, size, &fmu->content, &error);
        if (status == LW_OK && exchange && !fmu->content.exchange)
            status = lw_fail(&error, LW_ERROR_UNSUPPORTED, NULL, NULL, "this FMU has no Model Exchange");
        if (status == LW_OK) status = rebuild(fmu, &error);
        if (status == LW_OK)
            status = lw_fmu_table_create(fmu->content.spec, fmu->simulation, fmu->content.reactions,
                                         fmu->content.exchange, fmu->content.indicators, &fmu->table, &error);
        if (status == LW_OK && !take_memory(fmu)) status = lw_out_of_memory(&error);
        answer = lw_fmu_tell(fmu, status, &error);
    }
    if (answer <= LW_FMU_WARNING) answer = keep_own_values(fmu);
    if (answer <= LW_FMU_WARNING) return fmu;
    lw_fmu_destroy(fmu);
    return NULL;
}

void lw_fmu_destroy(lw_fmu *fmu) {
    if (!fmu) return;
    lw_fmu_derivatives_destroy(fmu->derivatives);
    lw_simulation_destroy(fmu->simulation);
    lw_model_destroy(fmu->model);
    lw_fmu_table_destroy(&fmu->table);
    lw_fmu_content_clear(&fmu->content);
    lw_arena_destroy(fmu->arena);
}

lw_fmu_phase lw_fmu_phase_of(const lw_fmu *fmu) { return fmu->phase; }
const lw_fmu_table *lw_fmu_table_of(const lw_fmu *fmu) { return &fmu->table; }
double lw_fmu_time(const lw_fmu *fmu) { return lw_simulation_time(fmu->simulation); }
bool lw_fmu_terminated(const lw_fmu *fmu) { return fmu->ended; }

/* --- phases ----------------------------------------------------------------------------------------- */

lw_fmu_status lw_fmu_setup(lw_fmu *fmu, double tolerance, double start, double stop) {
    if (!isfinite(start)) return lw_fmu_say(fmu, LW_FMU_ERROR, "the start time %g is no time", start);
    const double first = lw_simulation_time(fmu->simulation);
    const bool same =
        start == first && isnan(tolerance) && isnan(stop) && isnan(fmu->tolerance) && isnan(fmu->stop);
    fmu->start = start, fmu->stop = stop, fmu->tolerance = tolerance;
    if (!same) fmu->dirty = true;
    return LW_FMU_OK;
}

lw_fmu_status lw_fmu_enter_initialization(lw_fmu *fmu) {
    fmu->phase = LW_FMU_INITIALIZING;
    return LW_FMU_OK;
}

lw_fmu_status lw_fmu_exit_initialization(lw_fmu *fmu) {
    lw_fmu_status status = lw_fmu_settle(fmu);
    if (status <= LW_FMU_WARNING) fmu->phase = fmu->exchange ? LW_FMU_EVENTS : LW_FMU_STEPPING;
    return status;
}

lw_fmu_status lw_fmu_terminate(lw_fmu *fmu) {
    fmu->phase = LW_FMU_TERMINATED;
    return LW_FMU_OK;
}

lw_fmu_status lw_fmu_reset(lw_fmu *fmu) {
    lw_error error = {0};
    memset(fmu->given, 0, (size_t)fmu->table.count * sizeof *fmu->given);
    fmu->start = fmu->stop = fmu->tolerance = NAN;
    fmu->phase = LW_FMU_INSTANTIATED;
    fmu->ended = false;
    return lw_fmu_tell(fmu, rebuild(fmu, &error), &error);
}

/* --- values ----------------------------------------------------------------------------------------- */

/* Coordinates, speeds and inputs of the present state, in the simulation's data. */
static void refresh(lw_fmu *fmu) {
    if (fmu->fresh) return;
    lw_simulation *s = fmu->simulation;
    lw_simulation_take(s, s->t, s->y, true);
    fmu->fresh = true;
}

/* An input that nobody has set has the value of its default. */
static double input_value(lw_fmu *fmu, int k) {
    lw_simulation *s = fmu->simulation;
    if (!isnan(s->inputs[k])) return s->inputs[k];
    const lw_value_order *order = &s->model->values.for_all;
    const double t = lw_simulation_seen(s, s->t);
    lw_quantity_source source = {.t = t};
    if (order->needs & ~(unsigned)LW_NEEDS_KINEMATICS) {
        if (!s->late.vdot)
            order = &s->model->values.for_forces; /* Nothing that is computed late enters a default. */
        else if (lw_simulation_source(s, order->needs, t, NULL, NULL, &source, NULL) != LW_OK)
            return NAN;
    }
    lw_values_compute(s->model, s->data, t, &source, order);
    return s->data->computed[k];
}

static lw_fmu_status compute_rates(lw_fmu *fmu) {
    lw_error error = {0};
    if (fmu->has_rates) return LW_FMU_OK;
    lw_status status = lw_outside_rates(fmu->simulation, fmu->rates, &error);
    fmu->fresh = false; /* The method has left a state of its own in the workspaces. */
    fmu->has_rates = status == LW_OK;
    return lw_fmu_tell(fmu, status, &error);
}

static lw_fmu_status compute_outputs(lw_fmu *fmu) {
    if (fmu->has_outputs) return LW_FMU_OK;
    lw_simulation *s = fmu->simulation;
    lw_error error = {0};
    (void)lw_simulation_state(s, NULL, NULL);
    lw_status status = lw_simulation_compute_outputs(s, NULL, NULL, 0, lw_model_output_count(s->model),
                                                     fmu->outputs, &error);
    fmu->fresh = false;
    fmu->has_outputs = status == LW_OK;
    return lw_fmu_tell(fmu, status, &error);
}

static lw_fmu_status compute_reactions(lw_fmu *fmu) {
    if (fmu->has_reactions) return LW_FMU_OK;
    lw_error error = {0};
    lw_status status = lw_simulation_accelerations(fmu->simulation, NULL, fmu->reactions, &error);
    fmu->fresh = false;
    fmu->has_reactions = status == LW_OK;
    return lw_fmu_tell(fmu, status, &error);
}

static void compute_roots(lw_fmu *fmu) {
    if (!fmu->has_roots) lw_outside_roots(fmu->simulation, fmu->content.indicators, fmu->roots);
    fmu->has_roots = true;
    fmu->fresh = false;
}

static lw_fmu_status get_one(lw_fmu *fmu, const lw_fmu_variable *v, double *value) {
    lw_simulation *s = fmu->simulation;
    lw_fmu_status status = LW_FMU_OK;
    switch (v->kind) {
    case LW_FMU_TIME:
        *value = lw_simulation_time(s);
        break;
    case LW_FMU_INPUT:
        refresh(fmu);
        *value = input_value(fmu, v->index);
        break;
    case LW_FMU_PARAMETER:
        *value = lw_simulation_parameter(s, v->index);
        break;
    case LW_FMU_OUTPUT:
        status = compute_outputs(fmu);
        *value = fmu->outputs[v->index] * v->scale;
        break;
    case LW_FMU_COORDINATE:
        if (v->state >= 0 && fmu->exchange) {
            *value = s->y[v->index];
            break;
        }
        refresh(fmu);
        *value = s->q[v->index];
        break;
    case LW_FMU_SPEED:
        if (v->state >= 0 && fmu->exchange) {
            *value = s->y[s->model->nq + v->index];
            break;
        }
        refresh(fmu);
        *value = s->v[v->index];
        break;
    case LW_FMU_STATE:
        *value = s->y[lw_simulation_own(s) + v->index];
        break;
    case LW_FMU_BOOK:
        *value = s->y[lw_simulation_books(s) + v->index];
        break;
    case LW_FMU_RATE:
        status = compute_rates(fmu);
        *value = fmu->rates[fmu->table.place[v->index]];
        break;
    case LW_FMU_REACTION:
        status = compute_reactions(fmu);
        *value = fmu->reactions[v->index];
        break;
    case LW_FMU_INDICATOR:
        compute_roots(fmu);
        *value = fmu->roots[v->index];
        break;
    }
    return status;
}

lw_fmu_status lw_fmu_get(lw_fmu *fmu, const unsigned *references, size_t count, double *values) {
    lw_fmu_status status = lw_fmu_settle(fmu);
    for (size_t k = 0; k < count && status <= LW_FMU_WARNING; k++) {
        const lw_fmu_variable *v = variable(fmu, references[k]);
        if (!v)
            return lw_fmu_say(fmu, LW_FMU_ERROR, "there is no variable of value reference %u", references[k]);
        status = get_one(fmu, v, &values[k]);
    }
    return status;
}

static lw_fmu_status set_start_value(lw_fmu *fmu, unsigned reference, double value) {
    const lw_fmu_variable *v = &fmu->table.variables[reference];
    /* Until it is set to another value, a start value is the model's own. */
    if (!fmu->given[reference] && value == fmu->own_values[reference]) return LW_FMU_OK;
    const bool turn = v->kind == LW_FMU_COORDINATE && v->joint < 0;
    if (v->calculated || v->prescribed || turn || v->kind == LW_FMU_BOOK)
        return lw_fmu_say(fmu, LW_FMU_ERROR, "variable %s cannot be set: %s", v->name,
                          v->calculated   ? "it follows from other parameters"
                          : v->prescribed ? "the model prescribes it"
                          : turn          ? "it follows from the positions of bodies"
                                          : "it begins at zero");
    if (fmu->given[reference] && fmu->given_values[reference] == value) return LW_FMU_OK;
    fmu->given[reference] = true;
    fmu->given_values[reference] = value;
    fmu->dirty = true;
    lw_fmu_forget(fmu);
    return LW_FMU_OK;
}

static lw_fmu_status set_now(lw_fmu *fmu, const lw_fmu_variable *v, double value) {
    lw_error error = {0};
    lw_simulation *s = fmu->simulation;
    if (v->kind == LW_FMU_INPUT) {
        if (lw_simulation_set_input(s, v->index, value) != LW_OK)
            return lw_fmu_say(fmu, LW_FMU_ERROR, "input %s cannot be %g", v->name, value);
        if (fmu->exchange && fmu->phase == LW_FMU_CONTINUOUS) lw_outside_keep(s);
    } else if (v->kind == LW_FMU_PARAMETER && v->tunable && !v->calculated) {
        if (fmu->phase == LW_FMU_CONTINUOUS)
            return lw_fmu_say(fmu, LW_FMU_ERROR, "parameter %s can be set in event mode only", v->name);
        lw_fmu_drop_derivatives(fmu);
        lw_status status = lw_simulation_set_parameter(s, v->index, value, &error);
        if (status != LW_OK) return lw_fmu_tell(fmu, status, &error);
    } else
        return lw_fmu_say(fmu, LW_FMU_ERROR, "variable %s cannot be set after initialisation", v->name);
    lw_fmu_forget(fmu);
    return LW_FMU_OK;
}

lw_fmu_status lw_fmu_set(lw_fmu *fmu, const unsigned *references, size_t count, const double *values) {
    lw_fmu_status status = LW_FMU_OK;
    for (size_t k = 0; k < count && status <= LW_FMU_WARNING; k++) {
        const lw_fmu_variable *v = variable(fmu, references[k]);
        if (!v)
            return lw_fmu_say(fmu, LW_FMU_ERROR, "there is no variable of value reference %u", references[k]);
        if (!isfinite(values[k]))
            return lw_fmu_say(fmu, LW_FMU_ERROR, "variable %s cannot be %g", v->name, values[k]);
        if (!is_start(v))
            return lw_fmu_say(fmu, LW_FMU_ERROR, "variable %s is calculated and cannot be set", v->name);
        status = fmu->phase <= LW_FMU_INITIALIZING ? set_start_value(fmu, references[k], values[k])
                                                   : set_now(fmu, v, values[k]);
    }
    return status;
}

/* --- Model Exchange --------------------------------------------------------------------------------- */

static lw_fmu_status must_exchange(lw_fmu *fmu, size_t count, int needed) {
    if (!fmu->exchange) return lw_fmu_say(fmu, LW_FMU_ERROR, "this function belongs to Model Exchange");
    if (count != (size_t)needed)
        return lw_fmu_say(fmu, LW_FMU_ERROR, "room for %zu numbers was given where there are %d", count,
                          needed);
    return lw_fmu_settle(fmu);
}

lw_fmu_status lw_fmu_enter_events(lw_fmu *fmu) {
    lw_fmu_status status = must_exchange(fmu, 0, 0);
    if (status <= LW_FMU_WARNING) fmu->phase = LW_FMU_EVENTS;
    return status;
}

lw_fmu_status lw_fmu_enter_continuous(lw_fmu *fmu) {
    lw_fmu_status status = must_exchange(fmu, 0, 0);
    if (status <= LW_FMU_WARNING) fmu->phase = LW_FMU_CONTINUOUS;
    return status;
}

lw_fmu_status lw_fmu_set_time(lw_fmu *fmu, double t) {
    lw_fmu_status status = must_exchange(fmu, 0, 0);
    if (status > LW_FMU_WARNING) return status;
    lw_fmu_forget(fmu);
    if (lw_outside_set_time(fmu->simulation, t) == LW_OK) return LW_FMU_OK;
    return lw_fmu_say(fmu, LW_FMU_ERROR, "%g is no time", t);
}

lw_fmu_status lw_fmu_set_states(lw_fmu *fmu, const double *x, size_t count) {
    lw_fmu_status status = must_exchange(fmu, count, fmu->table.state_count);
    if (status > LW_FMU_WARNING) return status;
    lw_simulation *s = fmu->simulation;
    memcpy(fmu->x, lw_outside_state(s), (size_t)lw_outside_size(s) * sizeof *x);
    for (size_t i = 0; i < count; i++) fmu->x[fmu->table.place[i]] = x[i];
    lw_fmu_forget(fmu);
    if (lw_outside_set_state(s, fmu->x) == LW_OK) return LW_FMU_OK;
    return lw_fmu_say(fmu, LW_FMU_DISCARD, "a state is not finite");
}

lw_fmu_status lw_fmu_states(lw_fmu *fmu, double *x, size_t count) {
    lw_fmu_status status = must_exchange(fmu, count, fmu->table.state_count);
    if (status > LW_FMU_WARNING) return status;
    const double *y = lw_outside_state(fmu->simulation);
    for (size_t i = 0; i < count; i++) x[i] = y[fmu->table.place[i]];
    return LW_FMU_OK;
}

lw_fmu_status lw_fmu_rates(lw_fmu *fmu, double *rates, size_t count) {
    lw_fmu_status status = must_exchange(fmu, count, fmu->table.state_count);
    if (status <= LW_FMU_WARNING) status = compute_rates(fmu);
    for (size_t i = 0; i < count && status <= LW_FMU_WARNING; i++) rates[i] = fmu->rates[fmu->table.place[i]];
    return status;
}

lw_fmu_status lw_fmu_indicators(lw_fmu *fmu, double *values, size_t count) {
    lw_fmu_status status = must_exchange(fmu, count, fmu->table.indicator_count);
    if (status > LW_FMU_WARNING) return status;
    compute_roots(fmu);
    memcpy(values, fmu->roots, count * sizeof *values);
    return LW_FMU_OK;
}

lw_fmu_status lw_fmu_nominals(lw_fmu *fmu, double *values, size_t count) {
    lw_fmu_status status = must_exchange(fmu, count, fmu->table.state_count);
    for (size_t i = 0; i < count && status <= LW_FMU_WARNING; i++) {
        const double scale = fmu->simulation->scale[fmu->table.place[i]];
        values[i] = scale > 0 && isfinite(scale) ? scale : 1;
    }
    return status;
}

/* How far a state may be from closures and unit quaternions before event mode is asked for, relative to the
 * size of its numbers. */
static const double largest_drift = 1e-9;

lw_fmu_status lw_fmu_stepped(lw_fmu *fmu, bool *event) {
    lw_fmu_status status = must_exchange(fmu, 0, 0);
    lw_error error = {0};
    if (status > LW_FMU_WARNING) return status;
    lw_fmu_forget(fmu);
    return lw_fmu_tell(fmu, lw_outside_stepped(fmu->simulation, largest_drift, event, &error), &error);
}

lw_fmu_status lw_fmu_events(lw_fmu *fmu, lw_outside_news *news) {
    lw_fmu_status status = must_exchange(fmu, 0, 0);
    lw_error error = {0};
    if (status > LW_FMU_WARNING) return status;
    lw_fmu_drop_derivatives(fmu);
    status = lw_fmu_tell(fmu, lw_outside_event(fmu->simulation, news, &error), &error);
    lw_fmu_forget(fmu);
    fmu->ended |= news->stop;
    return status;
}

static lw_status differentiate(lw_fmu *fmu, lw_error *error) {
    if (fmu->derivatives) return LW_OK;
    if (fmu->no_derivatives)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, NULL, "this FMU offers no directional derivatives");
    const lw_status status =
        lw_fmu_derivatives_create(fmu->simulation, &fmu->table, &fmu->derivatives, error);
    fmu->no_derivatives = status == LW_ERROR_UNSUPPORTED;
    return status;
}

bool lw_fmu_is_differentiable(lw_fmu *fmu) { return differentiate(fmu, NULL) == LW_OK; }

lw_fmu_status lw_fmu_directional(lw_fmu *fmu, const unsigned *unknown, size_t unknowns, const unsigned *known,
                                 size_t knowns, const double *seed, double *sensitivity) {
    lw_error error = {0};
    lw_fmu_status answer = lw_fmu_settle(fmu);
    if (answer > LW_FMU_WARNING) return answer;
    lw_status status = differentiate(fmu, &error);
    if (status == LW_OK)
        status = lw_fmu_derivatives_along(fmu->derivatives, unknown, unknowns, known, knowns, seed,
                                          sensitivity, &error);
    fmu->fresh = false;
    return lw_fmu_tell(fmu, status, &error);
}

/* --- FMU states ------------------------------------------------------------------------------------- */

typedef struct saved {
    char magic[8];
    uint64_t token;    /* of the content */
    uint64_t snapshot; /* size of what follows the start values */
    double start, stop, tolerance;
    int32_t count, phase, exchange, ended, dirty, event;
} saved;

size_t lw_fmu_saved_size(lw_fmu *fmu) {
    const size_t n = (size_t)fmu->table.count;
    return sizeof(saved) + n * (sizeof(bool) + sizeof(double)) + lw_simulation_snapshot_size(fmu->simulation);
}

lw_fmu_status lw_fmu_save(lw_fmu *fmu, void *bytes, size_t size) {
    const size_t n = (size_t)fmu->table.count, snapshot = lw_simulation_snapshot_size(fmu->simulation);
    if (!bytes || size < lw_fmu_saved_size(fmu))
        return lw_fmu_say(fmu, LW_FMU_ERROR, "%zu bytes are too few for an FMU state", size);
    saved head;
    memset(&head, 0, sizeof head); /* padding, too */
    memcpy(head.magic, "lwfmust", sizeof head.magic);
    head.token = fmu->token, head.snapshot = snapshot;
    head.start = fmu->start, head.stop = fmu->stop, head.tolerance = fmu->tolerance;
    head.count = fmu->table.count, head.phase = (int32_t)fmu->phase, head.exchange = fmu->exchange;
    head.ended = fmu->ended, head.dirty = fmu->dirty, head.event = fmu->simulation->event;
    unsigned char *at = bytes;
    memcpy(at, &head, sizeof head), at += sizeof head;
    memcpy(at, fmu->given_values, n * sizeof *fmu->given_values), at += n * sizeof *fmu->given_values;
    memcpy(at, fmu->given, n * sizeof *fmu->given), at += n * sizeof *fmu->given;
    const lw_status status = lw_simulation_save(fmu->simulation, at, snapshot);
    return lw_fmu_tell(fmu, status, NULL);
}

static bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

lw_fmu_status lw_fmu_restore(lw_fmu *fmu, const void *bytes, size_t size) {
    const size_t n = (size_t)fmu->table.count;
    const unsigned char *at = bytes;
    saved head;
    if (!bytes || size < sizeof head)
        return lw_fmu_say(fmu, LW_FMU_ERROR, "%zu bytes are no FMU state", bytes ? size : 0);
    memcpy(&head, at, sizeof head), at += sizeof head;
    const size_t fixed = sizeof head + n * (sizeof(bool) + sizeof(double));
    if (memcmp(head.magic, "lwfmust", sizeof head.magic) != 0 || head.token != fmu->token ||
        head.count != fmu->table.count || head.exchange != (int32_t)fmu->exchange || size < fixed ||
        head.snapshot > size - fixed)
        return lw_fmu_say(fmu, LW_FMU_ERROR, "the FMU state is of another FMU or kind, or damaged");
    const unsigned char *values = at, *given = at + n * sizeof *fmu->given_values;
    at = given + n * sizeof *fmu->given;
    const bool same = same_number(head.start, fmu->start) && same_number(head.stop, fmu->stop) &&
                      same_number(head.tolerance, fmu->tolerance) && head.dirty == (int32_t)fmu->dirty &&
                      memcmp(values, fmu->given_values, n * sizeof *fmu->given_values) == 0 &&
                      memcmp(given, fmu->given, n * sizeof *fmu->given) == 0;
    lw_error error = {0};
    lw_status status = LW_OK;
    if (!same) {
        memcpy(fmu->given_values, values, n * sizeof *fmu->given_values);
        memcpy(fmu->given, given, n * sizeof *fmu->given);
        fmu->start = head.start, fmu->stop = head.stop, fmu->tolerance = head.tolerance;
        fmu->dirty = true;
        if (!head.dirty) status = rebuild(fmu, &error);
    }
    lw_fmu_drop_derivatives(fmu);
    if (status == LW_OK && !fmu->dirty)
        status = lw_simulation_restore(fmu->simulation, at, (size_t)head.snapshot, &error);
    if (status != LW_OK) return lw_fmu_tell(fmu, status, &error);
    fmu->phase = (lw_fmu_phase)head.phase;
    fmu->ended = head.ended != 0;
    fmu->simulation->event = head.event;
    lw_fmu_forget(fmu);
    return LW_FMU_OK;
}

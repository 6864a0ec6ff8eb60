/* sensitivity.c - derivatives of a run with respect to parameters: the object and its samples.
 *
 *   d/dp y = sum over k of w_k y_k(q displaced by h_k dq/dp, v + h_k dv/dp, x + h_k dx/dp)               (9)
 *
 * for any quantity y that a run can record: the models of parameter_changes.c show it in states that are
 * displaced along the sensitivities, which sensitivity_step.c has found. So what enters y itself, as a length
 * in the place of a point, is included. The second way, sensitivity_check.c, differentiates whole runs of the
 * same models.
 *
 * Source   docs/theory/sensitivity.md.
 * Cost     that of the steps, four runs per parameter, four evaluations per parameter and sample.
 * Limits   events that change the motion are refused. Allocates.
 */
#include "analyses/sensitivity_parts.h"
#include "model/data.h"
#include "simulation/simulation_parts.h"
#include <linkwork/dynamics.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char states_too[] = "joint(*), state(*)", outputs_too[] = "joint(*), output(*)",
                  all[] = "joint(*), state(*), output(*)";

/* --- what is refused --------------------------------------------------------------------------------- */

static lw_status refuse(const lw_model *model, const lw_sensitivity_options *options, lw_error *error) {
    const lw_run_options *run = &options->run;
    if (run->event_count > 0 || run->force || run->happened)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, lw_model_name(model), "put them into the model",
                       "forces and events of the caller's own have no sensitivities");
    for (int e = 0; e < model->event_count; e++) {
        const lw_model_event *event = &model->events[e];
        if (event->action == LW_ACTION_NOTE) continue;
        return lw_fail_at(error, LW_ERROR_UNSUPPORTED, model->file, event->place, "event", event->name,
                          "leave it out, or take differences of runs",
                          "it changes the motion, or ends it, at an instant that depends on parameters; "
                          "sensitivities would jump there");
    }
    return LW_OK;
}

/* --- samples ----------------------------------------------------------------------------------------- */

/* The recorded quantities of a state of a model; simulation: of this model, or NULL if they need no more than
 * the state. */
static lw_status show(lw_sensitivity_work *w, lw_record *record, lw_simulation *simulation, double t,
                      const double *q, const double *v, const double *states, const double *inputs,
                      lw_error *error) {
    lw_sample sample = {.t = t, .q = q, .v = v, .states = states, .inputs = inputs};
    lw_status status = LW_OK;
    if (simulation) {
        sample.aside = lw_simulation_seen(simulation, t) - t;
        if (w->model->output_names.count > 0) {
            status = lw_simulation_outputs(simulation, w->outputs);
            sample.outputs = w->outputs;
        }
        if (status == LW_OK && (lw_record_accelerations(record) || lw_record_reactions(record))) {
            status = lw_simulation_accelerations(simulation, w->vdot, w->reactions, error);
            sample.vdot = w->vdot, sample.reactions = w->reactions;
            sample.multipliers = lw_checked_multipliers(simulation->checked);
        }
    }
    return status == LW_OK ? lw_record_row(record, &sample, w->row) : status;
}

static lw_status show_variant(lw_sensitivity_work *w, int j, int k, double t, lw_error *error) {
    const lw_model *model = w->model;
    const size_t nv = (size_t)model->nv, ns = (size_t)model->values.state_count;
    lw_variant_model *at = &w->changes[j]->at[k];
    lw_simulation *simulation = w->variants[j * LW_VARIANTS + k];
    memcpy(at->q, w->q, (size_t)model->nq * sizeof *w->q);
    lw_integrate_q(model, at->q, w->dq + (size_t)j * nv, at->offset);
    for (size_t i = 0; i < nv; i++) at->v[i] = w->v[i] + at->offset * w->dv[(size_t)j * nv + i];
    for (size_t i = 0; i < ns; i++) at->rates[i] = w->states[i] + at->offset * w->dx[(size_t)j * ns + i];
    if (!simulation)
        return show(w, w->records[j * LW_VARIANTS + k], NULL, t, at->q, at->v, at->rates, at->inputs, error);
    lw_status status = at->projection ? lw_project_state(at->projection, t, at->q, at->v, error) : LW_OK;
    if (status == LW_OK) status = lw_simulation_set_state(simulation, t, at->q, at->v, error);
    if (status == LW_OK && ns > 0) status = lw_simulation_set_states(simulation, at->rates);
    if (status == LW_OK) lw_simulation_state(simulation, at->q, at->v);
    if (status != LW_OK) return status;
    return show(w, w->records[j * LW_VARIANTS + k], simulation, t, at->q, at->v, at->rates, at->inputs,
                error);
}

static lw_status take_sample(lw_sensitivity_work *w, int sample, lw_error *error) {
    const double t = lw_simulation_time(w->simulation);
    const size_t columns = (size_t)w->result.columns, at = (size_t)sample;
    lw_simulation_state(w->simulation, w->q, w->v);
    lw_simulation_states(w->simulation, w->states);
    lw_status status = show(w, w->record, w->simulation, t, w->q, w->v, w->states, w->inputs, error);
    w->t[sample] = t;
    for (size_t c = 0; c < columns && status == LW_OK; c++) {
        w->values[at * columns + c] = w->row[c + 1];
        if (!isfinite(w->row[c + 1]))
            return lw_fail(
                error, LW_ERROR_UNSUPPORTED, lw_record_name(w->record, c + 1), "record another quantity",
                "it has no value at t = %.9g, or one that only a run has, such as its energy ledger", t);
    }
    for (int j = 0; j < w->m; j++) {
        double *out = w->derivatives + (at * (size_t)w->m + (size_t)j) * columns;
        memset(out, 0, columns * sizeof *out);
        for (int k = 0; k < w->changes[j]->count && status == LW_OK; k++) {
            status = show_variant(w, j, k, t, error);
            const double weight = lw_parameter_weight(w->changes[j], k);
            lw_sensitivity_same_signs(w, w->values + at * columns, w->row + 1);
            for (size_t c = 0; c < columns; c++) out[c] += weight * w->row[c + 1];
        }
    }
    return status;
}

void lw_sensitivity_same_signs(const lw_sensitivity_work *w, const double *like, double *row) {
    for (int k = 0; k < w->quaternion_count; k++) {
        const double *a = like + w->quaternions[k];
        double *b = row + w->quaternions[k];
        if (a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] >= 0) continue;
        for (int i = 0; i < 4; i++) b[i] = -b[i];
    }
}

/* Columns NAME.qw whose three neighbours are the rest of a quaternion. */
static bool find_quaternions(lw_sensitivity_work *w) {
    w->quaternions = LW_NEW(w->arena, int, w->result.columns + 1);
    for (int c = 0; w->quaternions && c + 3 < w->result.columns; c++) {
        bool all_four = true;
        const char *first = w->result.names[c], *dot = strrchr(first, '.');
        for (int i = 0; i < 4 && all_four; i++) {
            const char *name = w->result.names[c + i], *end = strrchr(name, '.');
            all_four = dot && end && end - name == dot - first &&
                       strncmp(name, first, (size_t)(dot - first)) == 0 && end[1] == 'q' &&
                       end[2] == "wxyz"[i] && end[3] == 0;
        }
        if (all_four) w->quaternions[w->quaternion_count++] = c;
    }
    return w->quaternions;
}

static lw_status follow_run(lw_sensitivity_work *w, lw_error *error) {
    const double interval = w->run.output;
    lw_status status = take_sample(w, 0, error);
    for (int k = 1; k < w->samples && status == LW_OK; k++) {
        const double t = k == w->samples - 1 ? w->run.end : w->run.start + k * interval;
        status = lw_variational_advance(w, t, error);
        if (status == LW_OK) status = take_sample(w, k, error);
    }
    return status;
}

/* --- the beginning ----------------------------------------------------------------------------------- */

/* How the start moves with the parameter: from the starts of all variants. */
static lw_status differentiate_start(lw_sensitivity_work *w, int j, lw_error *error) {
    lw_parameter_changes *c = w->changes[j];
    const size_t nv = (size_t)w->model->nv, ns = (size_t)w->model->values.state_count;
    double *dq = w->dq + (size_t)j * nv, *dv = w->dv + (size_t)j * nv, *dx = w->dx + (size_t)j * ns;
    lw_simulation_state(w->simulation, w->q, w->v);
    for (int k = 0; k < c->count; k++) {
        lw_variant_model *at = &c->at[k];
        const double weight = lw_parameter_weight(c, k);
        lw_run_options options = w->run;
        options.inputs = at->inputs;
        lw_status status = lw_run_start(at->model, &options, at->q, at->v, NULL, NULL, NULL, 0, error);
        if (status != LW_OK) return status;
        lw_same_signs(w->model, w->q, at->q);
        lw_motion_between(w->model, w->q, at->q, c->motion);
        for (size_t i = 0; i < nv; i++) dq[i] += weight * c->motion[i], dv[i] += weight * at->v[i];
        for (size_t i = 0; i < ns && !options.states; i++) dx[i] += weight * at->model->values.starts[i];
    }
    return LW_OK;
}

static lw_status make_simulations(lw_sensitivity_work *w, lw_error *error) {
    const bool more = w->model->output_names.count > 0 || lw_record_accelerations(w->record) ||
                      lw_record_reactions(w->record);
    lw_status status = LW_OK;
    for (int j = 0; j < w->m; j++)
        for (int k = 0; k < w->changes[j]->count && status == LW_OK; k++) {
            const lw_variant_model *at = &w->changes[j]->at[k];
            lw_run_options options = w->run;
            options.inputs = at->inputs;
            status = lw_record_create(at->model, w->list, &w->records[j * LW_VARIANTS + k], error);
            if (status == LW_OK && more)
                status =
                    lw_simulation_create(at->model, &options, NULL, &w->variants[j * LW_VARIANTS + k], error);
        }
    return status;
}

static lw_status name_columns(lw_sensitivity_work *w, const lw_sensitivity_options *options,
                              lw_error *error) {
    const bool states = w->model->values.state_count > 0, outputs = w->model->output_names.count > 0;
    w->list = options->record     ? options->record
              : states && outputs ? all
              : states            ? states_too
              : outputs           ? outputs_too
                                  : "joint(*)";
    lw_status status = lw_record_create(w->model, w->list, &w->record, error);
    if (status != LW_OK) return status;
    if (lw_record_works(w->record))
        return lw_fail(error, LW_ERROR_UNSUPPORTED, w->list, "record other quantities",
                       "works of force elements, which a run sums up, have no sensitivities");
    const int columns = w->result.columns = (int)lw_record_count(w->record) - 1;
    const char **names = LW_NEW(w->arena, const char *, columns + 1),
               **units = LW_NEW(w->arena, const char *, columns + 1),
               **parameters = LW_NEW(w->arena, const char *, w->m + 1);
    double *values = LW_NEW(w->arena, double, w->m + 1);
    const size_t all_columns = (size_t)columns * (size_t)w->samples;
    w->row = LW_NEW(w->arena, double, columns + 2);
    w->t = LW_NEW(w->arena, double, w->samples + 1);
    w->values = LW_NEW(w->arena, double, all_columns + 1);
    w->derivatives = LW_NEW(w->arena, double, all_columns *(size_t)w->m + 1);
    w->differences = LW_NEW(w->arena, double, all_columns *(size_t)w->m + 1);
    if (lw_arena_failed(w->arena)) return lw_out_of_memory(error);
    for (int c = 0; c < columns; c++) {
        names[c] = lw_arena_text(w->arena, lw_record_name(w->record, (size_t)c + 1));
        units[c] = lw_arena_text(w->arena, lw_record_unit(w->record, (size_t)c + 1));
    }
    for (int j = 0; j < w->m; j++) parameters[j] = w->changes[j]->name, values[j] = w->changes[j]->value;
    lw_sensitivity *r = &w->result;
    r->samples = w->samples, r->parameters = w->m, r->parameter_names = parameters;
    r->parameter_values = values, r->names = names, r->units = units, r->t = w->t, r->values = w->values;
    r->derivatives = w->derivatives, r->differences = w->differences, r->disagreement_column = "";
    if (lw_arena_failed(w->arena) || !find_quaternions(w)) return lw_out_of_memory(error);
    return LW_OK;
}

static lw_status create(lw_sensitivity_work *w, const lw_sensitivity_options *options, lw_error *error) {
    const lw_model *model = w->model;
    const size_t m = (size_t)options->parameter_count, nv = (size_t)model->nv,
                 ns = (size_t)model->values.state_count, ni = (size_t)model->values.input_count;
    lw_arena *arena = w->arena;
    w->m = options->parameter_count;
    w->changes = LW_NEW(arena, lw_parameter_changes *, m + 1);
    w->records = LW_NEW(arena, lw_record *, m * LW_VARIANTS + 1);
    w->variants = LW_NEW(arena, lw_simulation *, m * LW_VARIANTS + 1);
    w->q = LW_NEW(arena, double, model->nq + 1);
    w->v = LW_NEW(arena, double, nv + 1);
    w->vdot = LW_NEW(arena, double, nv + 1);
    w->reactions = LW_NEW(arena, double, 6 * (size_t)model->joint_count + 1);
    w->outputs = LW_NEW(arena, double, model->output_names.count + 1);
    w->states = LW_NEW(arena, double, ns + 1);
    w->inputs = LW_NEW(arena, double, ni + 1);
    w->dq = LW_NEW(arena, double, m *nv + 1);
    w->dv = LW_NEW(arena, double, m *nv + 1);
    w->dx = LW_NEW(arena, double, m *ns + 1);
    if (lw_arena_failed(arena)) return lw_out_of_memory(error);
    lw_status status = lw_simulation_create(model, &w->run, NULL, &w->simulation, error);
    if (status != LW_OK) return status;
    w->run.method = lw_simulation_method(w->simulation);
    for (size_t k = 0; k < ni; k++) w->inputs[k] = lw_simulation_input(w->simulation, (int)k);
    lw_simulation_state(w->simulation, w->q, w->v);
    lw_simulation_states(w->simulation, w->states);
    const lw_solver_options solver = {.method = w->run.method, .inputs = w->run.inputs, .states = w->states};
    for (int j = 0; j < w->m && status == LW_OK; j++)
        status = lw_parameter_changes_create(model, &solver, options->parameters[j], &w->changes[j], error);
    if (status == LW_OK) status = name_columns(w, options, error);
    if (status != LW_OK) return status;
    lw_linearise_defaults(model, &w->at);
    w->at.t = w->run.start, w->at.q = w->q, w->at.v = w->v, w->at.method = w->run.method;
    w->at.inputs = w->inputs, w->at.states = w->states;
    status = lw_linear_create(&w->linear, model, &w->at, false, error);
    if (status == LW_OK) status = make_simulations(w, error);
    for (int j = 0; j < w->m && status == LW_OK; j++) status = differentiate_start(w, j, error);
    return status == LW_OK ? lw_variational_begin(w, error) : status;
}

/* --- the object -------------------------------------------------------------------------------------- */

void lw_sensitivity_defaults(const lw_model *model, lw_sensitivity_options *options) {
    if (!model || !options) return;
    *options = (lw_sensitivity_options){0};
    lw_run_defaults(model, &options->run);
    options->run.tolerance = options->run.tolerance > 0 ? fmin(options->run.tolerance, 1e-9) : 1e-9;
    options->run.output = (options->run.end - options->run.start) / 100;
}

lw_status lw_sensitivity_find(const lw_model *model, const lw_sensitivity_options *options,
                              lw_sensitivity **sensitivity, lw_error *error) {
    if (sensitivity) *sensitivity = NULL;
    if (!model || !options || !sensitivity || !options->parameters || options->parameter_count < 1)
        return lw_call_needs("a model, options with parameters and a pointer for the result", error);
    lw_status status = refuse(model, options, error);
    if (status == LW_OK) status = lw_run_check(model, &options->run, error);
    if (status != LW_OK) return status;
    lw_sensitivity_work *w = calloc(1, sizeof *w);
    if (!w || !(w->arena = lw_arena_create(NULL))) {
        free(w);
        return lw_out_of_memory(error);
    }
    const double span = options->run.end - options->run.start;
    w->model = model, w->run = options->run;
    w->run.observe = NULL, w->run.event = NULL, w->run.step_taken = NULL, w->run.interrupted = NULL;
    if (!(w->run.output > 0)) w->run.output = span / 100;
    const double intervals = ceil(span / w->run.output - 1e-9);
    if (!(span > 0) || !(intervals < 1e6))
        status = lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(model), "give a longer interval",
                         "a run from %g to %g s has no samples, or too many, at intervals of %g s",
                         w->run.start, w->run.end, w->run.output);
    w->samples = (int)fmax(intervals, 0) + 1;
    if (status == LW_OK) status = create(w, options, error);
    if (status == LW_OK) status = follow_run(w, error);
    if (status == LW_OK) status = lw_sensitivity_check(w, error);
    if (status == LW_OK)
        *sensitivity = &w->result;
    else
        lw_sensitivity_destroy(&w->result);
    return status;
}

void lw_sensitivity_destroy(lw_sensitivity *sensitivity) {
    if (!sensitivity) return;
    lw_sensitivity_work *w = (lw_sensitivity_work *)sensitivity;
    for (int j = 0; w->variants && j < w->m * LW_VARIANTS; j++) lw_simulation_destroy(w->variants[j]);
    for (int j = 0; w->records && j < w->m * LW_VARIANTS; j++) lw_record_destroy(w->records[j]);
    for (int j = 0; w->changes && j < w->m; j++) lw_parameter_changes_destroy(w->changes[j]);
    lw_record_destroy(w->record);
    if (w->linear.arena) lw_linear_destroy(&w->linear);
    lw_simulation_destroy(w->simulation);
    lw_data_destroy(w->probe);
    free(w->snapshot);
    lw_arena_destroy(w->arena);
    free(w);
}

/* sweep.c - the plan of a sweep, and workers that compute its rows.
 *
 * A worker has the spec as an object of its own. For a row it sets all that varies at once, compiles the
 * model and runs it, with the options that linkwork run would take; samples of the measured quantities are
 * kept until the run has ended. Nothing is carried from one row to the next but memory, so that a row depends
 * on the plan and its number alone.
 *
 * With lanes a worker has others beside it, each with the row of one lane; their runs go side by side
 * (simulation/rollout/side_by_side.c), all else row by row.
 *
 * Cost     a row: setting and compiling, O(bodies + text of the expressions), and the run.
 */
#include "sweep/sweep_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checksum.h"
#include "simulation/rollout/side_by_side.h"
#include <linkwork/version.h>

struct lw_sweep_worker {
    const lw_sweep *sweep;
    int measure_count; /* when it was created: none while the plan is read */
    lw_spec *spec;
    size_t chosen;      /* which of the sweep's specs it is */
    const char **names; /* parameters that vary */
    double *numbers;
    double *values; /* of all variables */
    lw_record **records;
    double **rows; /* of each record: time and the quantity */
    double *times; /* of the measured events, NAN: none yet */
    /* Samples of the present run: t, then the measured quantities, room for `room` of each. */
    double **series;
    size_t count, room;
    bool no_memory, stopped;
    bool (*interrupted)(void *context);
    void *context;
    lw_report *report;
    lw_model *model; /* of the present row */
    lw_run_options options;
    lw_simulation *simulation; /* of the present row in a lane */
    lw_sweep_worker **beside;  /* those of the other lanes, or NULL */
};

/* --- the plan ------------------------------------------------------------------------------------- */

typedef struct text_room {
    char *text;
    size_t used, size;
    bool failed;
} text_room;

static void put(text_room *room, const char *key, const char *value) {
    const size_t more = strlen(key) + strlen(value) + 6;
    if (room->failed) return;
    if (room->used + more > room->size) {
        const size_t size = 2 * room->size + more + 1024;
        char *longer = realloc(room->text, size);
        if (!longer) {
            room->failed = true;
            return;
        }
        room->text = longer, room->size = size;
    }
    room->used += (size_t)snprintf(room->text + room->used, room->size - room->used, "# %s: ", key);
    for (; *value; value++) room->text[room->used++] = (unsigned char)*value < ' ' ? ' ' : *value;
    room->text[room->used++] = '\n', room->text[room->used] = '\0';
}

/* Writes the plan as lines "# key: value". What settle changes is not known here: the options of a run that
 * are told are those of the first one. */
static bool write_head(lw_sweep *sweep, const lw_sweep_options *options, const lw_sweep_search *search,
                       const lw_model *model) {
    static const char *const draws[] = {"random", "latin", "sobol", "saltelli"};
    text_room room = {0};
    lw_run_options run;
    char text[400];
    lw_run_defaults(model, &run);
    if (sweep->settle) sweep->settle(&run, sweep->context);
    put(&room, "linkwork-sweep", LW_VERSION);
    put(&room, "model", lw_model_name(model));
    uint64_t hash = LW_HASH_OF_NOTHING;
    for (size_t k = 0; k < sweep->spec_count; k++)
        hash = lw_hash(hash, sweep->specs[k].bytes, sweep->specs[k].size);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    put(&room, "model_hash", text);
    for (size_t k = 0; k < options->vary_count; k++) put(&room, "vary", options->vary[k]);
    for (size_t k = 0; k < options->correlation_count; k++) put(&room, "correlate", options->correlations[k]);
    for (size_t k = 0; k < options->measure_count; k++) put(&room, "measure", options->measures[k]);
    snprintf(text, sizeof text, "%llu of %s draws, seed %llu", (unsigned long long)sweep->design.count,
             draws[sweep->design.draw], (unsigned long long)sweep->design.seed);
    put(&room, "runs", text);
    if (search) put(&room, "search", search->text);
    if (sweep->lanes) put(&room, "lanes", "runs side by side");
    snprintf(text, sizeof text,
             "method %.40s, integrator %.40s, drift %.40s, from %.17g to %.17g s, step %.17g, "
             "tolerance %.17g, output %.17g",
             run.method ? run.method : "auto", run.integrator ? run.integrator : "auto",
             run.drift ? run.drift : "project", run.start, run.end, run.step, run.tolerance, run.output);
    put(&room, "run", text);
    sweep->head = room.failed ? NULL : lw_arena_text(sweep->arena, room.text);
    free(room.text);
    return sweep->head != NULL;
}

static lw_status copy_spec(lw_sweep *sweep, const lw_spec *spec, lw_sweep_spec *copy, lw_error *error) {
    lw_status status = lw_spec_save(spec, NULL, 0, &copy->size);
    if (status == LW_OK) {
        copy->bytes = LW_NEW(sweep->arena, char, copy->size + 1);
        status = copy->bytes ? lw_spec_save(spec, copy->bytes, copy->size, NULL) : LW_ERROR_MEMORY;
    }
    return status == LW_OK ? LW_OK : lw_out_of_memory(error);
}

enum { SPECS_MOST = 1000 };

/* The models of all choices of files, that of the caller where none vary. */
static lw_status read_specs(lw_sweep *sweep, const lw_spec *spec, const lw_sweep_options *options,
                            lw_error *error) {
    const lw_design *d = &sweep->design;
    int uses[LW_VARIABLES_MOST], use_count = 0;
    double count = 1;
    for (int k = 0; k < d->variable_count; k++)
        if (d->variables[k].target == LW_VARY_USE)
            uses[use_count++] = k, count *= (double)d->axis_size[d->variables[k].axis];
    if (count > SPECS_MOST)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "list fewer files", "there are %.4g choices of files",
                       count);
    if (use_count > 0 && !options->read)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "take linkwork sweep, which reads the model's file",
                       "files of parts cannot vary where a model is given as it was read");
    sweep->spec_count = (size_t)count;
    sweep->specs = LW_NEW(sweep->arena, lw_sweep_spec, sweep->spec_count);
    if (!sweep->specs) return lw_out_of_memory(error);
    if (use_count == 0) return copy_spec(sweep, spec, &sweep->specs[0], error);
    for (size_t i = 0; i < sweep->spec_count; i++) {
        const char *names[LW_VARIABLES_MOST], *files[LW_VARIABLES_MOST];
        lw_spec *other = NULL;
        size_t rest = i;
        for (int k = use_count; k-- > 0;) {
            const lw_variable *v = &d->variables[uses[k]];
            names[k] = v->name, files[k] = v->texts[rest % d->axis_size[v->axis]];
            rest /= d->axis_size[v->axis];
        }
        lw_status status = options->read(names, files, (size_t)use_count, &other, error, options->context);
        if (status == LW_OK) status = copy_spec(sweep, other, &sweep->specs[i], error);
        lw_spec_destroy(other);
        if (status != LW_OK) return status;
    }
    return LW_OK;
}

static lw_status set_all(lw_sweep_worker *worker, lw_error *error);

/* The model with the values of the worker. */
static lw_status compile_model(lw_sweep_worker *worker, lw_model **model, lw_error *error) {
    lw_status status = set_all(worker, error);
    if (status == LW_OK) status = lw_model_compile(worker->spec, NULL, worker->report, model);
    if (status != LW_OK && status != LW_ERROR_MEMORY && error && !error->message[0])
        for (size_t k = 0; k < lw_report_size(worker->report); k++)
            if (lw_report_get(worker->report, k)->severity == LW_SEVERITY_ERROR) {
                *error = *lw_report_get(worker->report, k);
                break;
            }
    return status;
}

/* A model by which measures are read: of the start of a search, of the first run, or of another one, since a
 * run with values that cannot be is a row that fails and no reason to refuse the others. */
static lw_status some_model(lw_sweep_worker *worker, bool search, lw_model **model, lw_error *error) {
    const lw_design *design = &worker->sweep->design;
    lw_status first = LW_OK;
    for (int attempt = search ? -1 : 0; attempt < 16; attempt++) {
        lw_error later = {0};
        lw_design_values(design, (uint64_t)(attempt > 0 ? attempt : 0) * (design->count - 1) / 15,
                         worker->values);
        for (int k = 0; k < design->variable_count && attempt < 0; k++)
            worker->values[k] = design->variables[k].p[2];
        const lw_status status = compile_model(worker, model, first == LW_OK ? error : &later);
        if (status == LW_OK) {
            if (first != LW_OK && error) *error = (lw_error){0};
            return LW_OK;
        }
        if (first == LW_OK) first = status;
        if (status == LW_ERROR_MEMORY) return status;
        lw_report_destroy(worker->report);
        worker->report = lw_report_create();
        if (!worker->report) return lw_out_of_memory(error);
    }
    return first;
}

/* Asks for the columns that are there twice by name. */
static lw_status check_names(const lw_sweep *sweep, lw_error *error) {
    const int count = sweep->design.variable_count + sweep->measure_count;
    for (int a = 0; a < count; a++)
        for (int b = sweep->design.variable_count; b < a; b++)
            if (strcmp(lw_sweep_column_name(sweep, a), lw_sweep_column_name(sweep, b)) == 0)
                return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "leave one away, or name it: peak = max(...)",
                               "two measures are called \"%.80s\"", lw_sweep_column_name(sweep, a));
    return LW_OK;
}

/* Methods and integrators that vary must exist; whether they take the model is known run by run. */
static lw_status check_texts(const lw_sweep *sweep, const lw_model *model, lw_error *error) {
    lw_status status = LW_OK;
    for (int k = 0; k < sweep->design.variable_count; k++) {
        const lw_vary_target target = sweep->design.variables[k].target;
        if (target != LW_VARY_METHOD && target != LW_VARY_INTEGRATOR) continue;
        for (int i = 0; lw_sweep_text(sweep, k, i) && status == LW_OK; i++) {
            lw_run_options options;
            lw_run_defaults(model, &options);
            const char *text = lw_sweep_text(sweep, k, i);
            if (strcmp(text, "auto") == 0) continue;
            if (target == LW_VARY_METHOD)
                options.method = text;
            else
                options.integrator = text;
            status = lw_run_check(model, &options, error);
        }
    }
    return status;
}

static void settle(const lw_sweep_worker *worker, const lw_model *model, lw_run_options *options);

static lw_status refuse_lanes(const char *why, lw_error *error) {
    return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "leave the lanes away: runs go one by one then",
                   "runs cannot go side by side in lanes: %s", why);
}

/* Asks whether runs of this model can go side by side. */
static lw_status check_lanes(const lw_sweep *sweep, const lw_sweep_worker *worker, const lw_model *model,
                             lw_error *error) {
    lw_run_options options;
    lw_simulation *simulation = NULL;
    (void)sweep;
    settle(worker, model, &options);
    const lw_status status = lw_simulation_create(model, &options, NULL, &simulation, error);
    const char *why = status == LW_OK ? lw_side_by_side_hindrance(simulation) : NULL;
    lw_simulation_destroy(simulation);
    return why ? refuse_lanes(why, error) : status;
}

static lw_status read_plan(lw_sweep *sweep, const lw_spec *spec, const lw_sweep_options *options,
                           const lw_sweep_search *search, lw_error *error) {
    lw_sweep_worker *worker = NULL;
    lw_model *model = NULL;
    sweep->settle = options->settle, sweep->context = options->context, sweep->lanes = options->lanes;
    lw_status status = lw_design_read(spec, options, search != NULL, sweep->arena, &sweep->design, error);
    if (status == LW_OK) status = read_specs(sweep, spec, options, error);
    sweep->measures = LW_NEW(sweep->arena, lw_sweep_measure, options->measure_count + 1);
    if (status == LW_OK && !sweep->measures) status = lw_out_of_memory(error);
    if (status == LW_OK) status = lw_sweep_worker_create(sweep, &worker, error);
    if (status == LW_OK) status = some_model(worker, search != NULL, &model, error);
    if (status == LW_OK) status = check_texts(sweep, model, error);
    for (size_t k = 0; k < options->measure_count && status == LW_OK; k++) {
        status = lw_sweep_measure_read(model, options->measures[k] ? options->measures[k] : "", sweep->arena,
                                       &sweep->measures[k], error);
        if (status == LW_OK) sweep->measure_count++;
    }
    if (status == LW_OK) status = check_names(sweep, error);
    if (status == LW_OK && !write_head(sweep, options, search, model)) status = lw_out_of_memory(error);
    if (status == LW_OK && sweep->lanes) status = check_lanes(sweep, worker, model, error);
    lw_model_destroy(model);
    lw_sweep_worker_destroy(worker);
    return status;
}

lw_status lw_sweep_create(const lw_spec *spec, const lw_sweep_options *options, lw_sweep **sweep,
                          lw_error *error) {
    return lw_sweep_create_search(spec, options, NULL, sweep, error);
}

lw_status lw_sweep_create_search(const lw_spec *spec, const lw_sweep_options *options,
                                 const lw_sweep_search *search, lw_sweep **sweep, lw_error *error) {
    if (sweep) *sweep = NULL;
    if (!spec || !options || !sweep || (options->vary_count > 0 && !options->vary) ||
        (options->measure_count > 0 && !options->measures) ||
        (options->correlation_count > 0 && !options->correlations))
        return lw_call_needs("a spec, options with the lists they count, and a place for the sweep", error);
    if (options->measure_count > 1000000)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "take fewer", "there are too many measures");
    lw_arena *arena = lw_arena_create(NULL);
    lw_sweep *s = LW_NEW(arena, lw_sweep, 1);
    if (!s) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    s->arena = arena;
    const lw_status status = read_plan(s, spec, options, search, error);
    if (status == LW_OK)
        *sweep = s;
    else
        lw_arena_destroy(arena);
    return status;
}

void lw_sweep_destroy(lw_sweep *sweep) {
    if (sweep) lw_arena_destroy(sweep->arena);
}

uint64_t lw_sweep_count(const lw_sweep *sweep) { return sweep ? sweep->design.count : 0; }
int lw_sweep_variable_count(const lw_sweep *sweep) { return sweep ? sweep->design.variable_count : 0; }
int lw_sweep_measure_count(const lw_sweep *sweep) { return sweep ? sweep->measure_count : 0; }

const char *lw_sweep_column_name(const lw_sweep *sweep, int column) {
    const int variables = lw_sweep_variable_count(sweep);
    if (column < 0 || column >= variables + lw_sweep_measure_count(sweep)) return NULL;
    return column < variables ? sweep->design.variables[column].name
                              : sweep->measures[column - variables].name;
}

const char *lw_sweep_column_unit(const lw_sweep *sweep, int column) {
    const int variables = lw_sweep_variable_count(sweep);
    if (column < 0 || column >= variables + lw_sweep_measure_count(sweep)) return NULL;
    return column < variables ? "" : sweep->measures[column - variables].unit;
}

lw_status lw_sweep_values(const lw_sweep *sweep, uint64_t run, double *values) {
    if (!sweep || !values || run >= sweep->design.count) return LW_ERROR_ARGUMENT;
    lw_design_values(&sweep->design, run, values);
    return LW_OK;
}

const char *lw_sweep_text(const lw_sweep *sweep, int variable, double value) {
    if (variable < 0 || variable >= lw_sweep_variable_count(sweep)) return NULL;
    const lw_variable *v = &sweep->design.variables[variable];
    if (v->kind != LW_VARY_TEXTS || !(value >= 0 && value < (double)sweep->design.axis_size[v->axis]))
        return NULL;
    return v->texts[(size_t)value];
}

bool lw_sweep_is_drawn(const lw_sweep *sweep, int variable) {
    return variable >= 0 && variable < lw_sweep_variable_count(sweep) &&
           lw_vary_drawn(sweep->design.variables[variable].kind);
}

const char *lw_sweep_status_name(lw_sweep_status status) {
    static const char *const names[LW_SWEEP_STATUSES] = {"ok", "doubtful", "failed"};
    return (int)status >= 0 && status < LW_SWEEP_STATUSES ? names[status] : NULL;
}

/* --- workers -------------------------------------------------------------------------------------- */

void lw_sweep_worker_destroy(lw_sweep_worker *worker) {
    if (!worker) return;
    for (int k = 0; worker->series && k <= worker->measure_count; k++) free(worker->series[k]);
    for (int k = 0; worker->beside && k < LW_SIDE_BY_SIDE_MOST; k++)
        lw_sweep_worker_destroy(worker->beside[k]);
    free(worker->beside);
    lw_spec_destroy(worker->spec);
    lw_report_destroy(worker->report);
    free(worker->series);
    free(worker->names);
    free(worker->numbers);
    free(worker->values);
    free(worker->records);
    free(worker->times);
    free(worker);
}

static lw_status create_worker(const lw_sweep *sweep, lw_sweep_worker **worker, lw_error *error) {
    lw_sweep_worker *w = calloc(1, sizeof *w);
    if (!w) return lw_out_of_memory(error);
    w->sweep = sweep, w->measure_count = sweep->measure_count;
    const size_t variables = LW_VARIABLES_MOST, measures = (size_t)sweep->measure_count + 1;
    w->names = calloc(variables, sizeof *w->names);
    w->numbers = calloc(variables, sizeof *w->numbers);
    w->values = calloc(variables, sizeof *w->values);
    w->records = calloc(measures, sizeof *w->records);
    w->times = calloc(measures, sizeof *w->times);
    w->series = calloc(measures, sizeof *w->series);
    w->report = lw_report_create();
    lw_status status = LW_ERROR_MEMORY;
    if (w->names && w->numbers && w->values && w->records && w->times && w->series && w->report)
        status = lw_spec_load(sweep->specs[0].bytes, sweep->specs[0].size, &w->spec, error);
    else
        (void)lw_out_of_memory(error);
    if (status != LW_OK) {
        lw_sweep_worker_destroy(w);
        return status;
    }
    *worker = w;
    return LW_OK;
}

lw_status lw_sweep_worker_create(const lw_sweep *sweep, lw_sweep_worker **worker, lw_error *error) {
    if (!sweep || !worker) return lw_call_needs("a sweep, and a place for the worker", error);
    *worker = NULL;
    lw_sweep_worker *w = NULL;
    lw_status status = create_worker(sweep, &w, error);
    if (status == LW_OK && sweep->lanes) {
        w->beside = calloc(LW_SIDE_BY_SIDE_MOST, sizeof(lw_sweep_worker *));
        if (!w->beside) status = lw_out_of_memory(error);
        for (int k = 0; k < lw_side_by_side_width() - 1 && status == LW_OK; k++)
            status = create_worker(sweep, &w->beside[k], error);
    }
    if (status == LW_OK)
        *worker = w;
    else
        lw_sweep_worker_destroy(w);
    return status;
}

int lw_sweep_worker_width(const lw_sweep_worker *worker) {
    return !worker ? 0 : worker->beside ? lw_side_by_side_width() : 1;
}

/* Sets parameters, inputs and the start of the spec. Whether the present start leaves values behind is not
 * asked: where it varies the spec is a new one for each row. */
static lw_status set_all(lw_sweep_worker *w, lw_error *error) {
    const lw_sweep *sweep = w->sweep;
    const lw_design *design = &sweep->design;
    size_t count = 0;
    lw_status status = LW_OK;
    size_t chosen = 0;
    bool begins = false;
    for (int k = 0; k < design->variable_count; k++) {
        const lw_variable *v = &design->variables[k];
        begins |= v->target == LW_VARY_BEGIN;
        if (v->target == LW_VARY_USE) chosen = chosen * design->axis_size[v->axis] + (size_t)w->values[k];
    }
    if (chosen != w->chosen || begins || !w->spec) {
        lw_spec_destroy(w->spec);
        w->spec = NULL, w->chosen = chosen;
        status = lw_spec_load(sweep->specs[chosen].bytes, sweep->specs[chosen].size, &w->spec, error);
    }
    for (int k = 0; k < design->variable_count && status == LW_OK; k++) {
        const lw_variable *v = &design->variables[k];
        if (v->target != LW_VARY_BEGIN) continue;
        status = lw_spec_begin(w->spec, lw_sweep_text(sweep, k, w->values[k]), error);
    }
    for (int k = 0; k < design->variable_count && status == LW_OK; k++) {
        const lw_variable *v = &design->variables[k];
        if (v->target == LW_VARY_PARAMETER) w->names[count] = v->name, w->numbers[count++] = w->values[k];
        if (v->target == LW_VARY_INPUT) status = lw_spec_set_input(w->spec, v->name, w->values[k]);
    }
    return status == LW_OK ? lw_spec_set_parameters(w->spec, w->names, w->numbers, count, error) : status;
}

static bool make_room(lw_sweep_worker *w) {
    const size_t room = 2 * w->room + 1024;
    for (int k = 0; k <= w->sweep->measure_count; k++) {
        double *longer = realloc(w->series[k], room * sizeof *longer);
        if (!longer) return false;
        w->series[k] = longer;
    }
    w->room = room;
    return true;
}

static bool observe(const lw_sample *sample, void *context) {
    lw_sweep_worker *w = context;
    if (w->count == w->room && !make_room(w)) w->no_memory = true;
    if (w->no_memory) return false;
    w->series[0][w->count] = sample->t;
    for (int k = 0; k < w->sweep->measure_count; k++) {
        double row[2] = {0, NAN};
        if (w->records[k]) (void)lw_record_row(w->records[k], sample, row);
        w->series[1 + k][w->count] = row[1];
    }
    w->count++;
    return true;
}

static void hear(double t, const char *kind, const char *text, void *context) {
    lw_sweep_worker *w = context;
    if (strcmp(kind, "event") != 0) return;
    for (int k = 0; k < w->sweep->measure_count; k++) {
        const lw_sweep_measure *m = &w->sweep->measures[k];
        if (m->kind == LW_TAKE_TIME && isnan(w->times[k]) && strcmp(text, m->quantity) == 0) w->times[k] = t;
    }
}

static bool ask(void *context) {
    lw_sweep_worker *w = context;
    if (w->interrupted && w->interrupted(w->context)) w->stopped = true;
    return w->stopped;
}

/* Creates the records of the measured quantities; what they need of samples goes into the options. */
static lw_status create_records(lw_sweep_worker *w, const lw_model *model, lw_run_options *options,
                                lw_error *error) {
    lw_status status = LW_OK;
    for (int k = 0; k < w->sweep->measure_count && status == LW_OK; k++) {
        const lw_sweep_measure *m = &w->sweep->measures[k];
        w->times[k] = NAN;
        if (m->kind == LW_TAKE_TIME) continue;
        status = lw_record_create(model, m->quantity, &w->records[k], error);
        if (status != LW_OK) break;
        options->want_accelerations |= lw_record_accelerations(w->records[k]);
        options->want_reactions |= lw_record_reactions(w->records[k]);
        options->want_works |= lw_record_works(w->records[k]);
    }
    return status;
}

/* Takes texts that vary into the options of the run. */
static void choose(const lw_sweep_worker *w, lw_run_options *options) {
    for (int k = 0; k < w->sweep->design.variable_count; k++) {
        const lw_variable *v = &w->sweep->design.variables[k];
        const char *text = lw_sweep_text(w->sweep, k, w->values[k]);
        if (v->target == LW_VARY_METHOD) options->method = strcmp(text, "auto") == 0 ? NULL : text;
        if (v->target == LW_VARY_INTEGRATOR) options->integrator = text;
    }
}

/* The options of a run of this model. */
static void settle(const lw_sweep_worker *w, const lw_model *model, lw_run_options *options) {
    lw_run_defaults(model, options);
    if (w->sweep->settle) w->sweep->settle(options, w->sweep->context);
    choose(w, options);
    if (!w->sweep->lanes) return;
    if (!options->method) options->method = "tree";
    if (!options->integrator || strcmp(options->integrator, "auto") == 0) options->integrator = "rk4";
}

lw_status lw_sweep_model(const lw_sweep *sweep, uint64_t run, lw_model **model, lw_run_options *options,
                         lw_error *error) {
    lw_sweep_worker *worker;
    if (model) *model = NULL;
    if (!sweep || !model || !options || run >= sweep->design.count)
        return lw_call_needs("a sweep, the number of a run, and places for its model and options", error);
    lw_status status = lw_sweep_worker_create(sweep, &worker, error);
    if (status != LW_OK) return status;
    lw_design_values(&sweep->design, run, worker->values);
    status = compile_model(worker, model, error);
    if (status == LW_OK) settle(worker, *model, options);
    lw_sweep_worker_destroy(worker);
    return status;
}

static lw_status measure(lw_sweep_worker *w, double *values, lw_error *error) {
    lw_status status = LW_OK;
    for (int k = 0; k < w->sweep->measure_count && status == LW_OK; k++) {
        const lw_sweep_measure *m = &w->sweep->measures[k];
        values[k] = w->times[k];
        if (m->kind == LW_TAKE_TIME || w->count == 0) continue;
        status = lw_sweep_measure_value(m, w->series[0], w->series[1 + k], w->count, &values[k], error);
    }
    return status;
}

/* Compiles the model of the row, whose values the spec has, and makes it ready to be run. */
static lw_status prepare(lw_sweep_worker *w, lw_error *error) {
    lw_report_destroy(w->report);
    w->report = lw_report_create();
    if (!w->report) return lw_out_of_memory(error);
    lw_status status = lw_model_compile(w->spec, NULL, w->report, &w->model);
    for (size_t k = 0; status != LW_OK && error && k < lw_report_size(w->report); k++)
        if (lw_report_get(w->report, k)->severity == LW_SEVERITY_ERROR) {
            *error = *lw_report_get(w->report, k);
            break;
        }
    if (status != LW_OK) return status;
    settle(w, w->model, &w->options);
    w->options.observe = observe, w->options.event = hear, w->options.interrupted = ask;
    w->options.context = w;
    w->count = 0;
    return create_records(w, w->model, &w->options, error);
}

static void release(lw_sweep_worker *w) {
    lw_simulation_destroy(w->simulation);
    for (int k = 0; k < w->sweep->measure_count; k++) {
        lw_record_destroy(w->records[k]);
        w->records[k] = NULL;
    }
    lw_model_destroy(w->model);
    w->simulation = NULL, w->model = NULL;
}

/* Copies a sentence, in one line, cut off at a whole character. */
static void copy_reason(char reason[LW_SWEEP_REASON], const char *text) {
    size_t length = 0;
    while (text[length] && length < LW_SWEEP_REASON - 1) {
        reason[length] = (unsigned char)text[length] < ' ' ? ' ' : text[length];
        length++;
    }
    if (text[length])
        while (length > 0 && lw_utf8_continues(text[length])) length--;
    reason[length] = '\0';
}

/* Begins a row, whose number and values of the variables are there: sets them. */
static lw_status begin_row(lw_sweep_worker *w, lw_sweep_row *row, bool (*interrupted)(void *context),
                           void *context, lw_error *error) {
    w->interrupted = interrupted, w->context = context;
    w->stopped = w->no_memory = false;
    row->status = LW_SWEEP_OK, row->reason[0] = '\0';
    memcpy(w->values, row->values, (size_t)w->sweep->design.variable_count * sizeof *w->values);
    return set_all(w, error);
}

/* Ends a row whose run has ended like this. */
static lw_status end_row(lw_sweep_worker *w, lw_sweep_row *row, lw_status status, lw_error *fault,
                         const lw_run_verdict *verdict, lw_error *error) {
    double *measured = row->values + w->sweep->design.variable_count;
    if (status == LW_EVENT) status = LW_OK; /* An event of the model has ended the run. */
    if (status == LW_OK) status = measure(w, measured, fault);
    release(w);
    if (status == LW_ERROR_MEMORY || w->no_memory) return lw_out_of_memory(error);
    if (w->stopped) return lw_fail(error, LW_ERROR_STOPPED, NULL, NULL, "stopped on request");
    if (status != LW_OK) {
        char text[1024];
        fault->file[0] = '\0', fault->place = (lw_place){0, 0};
        lw_error_format(fault, text, sizeof text);
        for (int k = 0; k < w->sweep->measure_count; k++) measured[k] = NAN;
        row->status = LW_SWEEP_FAILED;
        copy_reason(row->reason, fault->message[0] ? text : lw_status_text(status));
    } else if (!verdict->ok) {
        row->status = LW_SWEEP_DOUBTFUL;
        copy_reason(row->reason, verdict->reason_count > 0 ? verdict->reasons[0] : "doubtful");
    }
    return LW_OK;
}

lw_status lw_sweep_worker_row(lw_sweep_worker *w, lw_sweep_row *row, bool (*interrupted)(void *context),
                              void *context, lw_error *error) {
    lw_run_summary summary = {.verdict = {.ok = true}};
    lw_error fault = {0};
    lw_status status = begin_row(w, row, interrupted, context, &fault);
    if (status == LW_OK) status = prepare(w, &fault);
    if (status == LW_OK) status = lw_simulate(w->model, &w->options, NULL, NULL, &summary, &fault);
    return end_row(w, row, status, &fault, &summary.verdict, error);
}

/* The rows of one vector. All are ended, also where one has stopped or memory is out. */
static lw_status run_lanes(lw_sweep_worker *w, lw_sweep_row *rows, int count,
                           bool (*interrupted)(void *context), void *context, lw_error *error) {
    lw_sweep_worker *each[LW_SIDE_BY_SIDE_MOST];
    lw_simulation *running[LW_SIDE_BY_SIDE_MOST] = {NULL};
    lw_lane_end ends[LW_SIDE_BY_SIDE_MOST];
    lw_status status[LW_SIDE_BY_SIDE_MOST], result = LW_OK;
    lw_error fault[LW_SIDE_BY_SIDE_MOST];
    int place[LW_SIDE_BY_SIDE_MOST], ready = 0;
    for (int k = 0; k < count; k++) {
        lw_sweep_worker *x = each[k] = k ? w->beside[k - 1] : w;
        fault[k] = (lw_error){0};
        place[k] = -1;
        status[k] = begin_row(x, &rows[k], interrupted, context, &fault[k]);
        if (status[k] == LW_OK) status[k] = prepare(x, &fault[k]);
        if (status[k] == LW_OK)
            status[k] = lw_simulation_create(x->model, &x->options, NULL, &x->simulation, &fault[k]);
        const char *why = status[k] == LW_OK ? lw_side_by_side_hindrance(x->simulation) : NULL;
        if (why) status[k] = refuse_lanes(why, &fault[k]);
        if (status[k] == LW_OK) running[ready] = x->simulation, place[k] = ready++;
    }
    lw_run_side_by_side(running, ready, ends);
    for (int k = 0; k < count; k++) {
        const lw_lane_end *end = place[k] >= 0 ? &ends[place[k]] : NULL;
        static const lw_run_verdict good = {.ok = true};
        if (end && end->status != LW_OK) fault[k] = end->error;
        const lw_status ended = end_row(each[k], &rows[k], end ? end->status : status[k], &fault[k],
                                        end ? &end->summary.verdict : &good, result == LW_OK ? error : NULL);
        if (result == LW_OK) result = ended;
    }
    return result;
}

lw_status lw_sweep_worker_run_many(lw_sweep_worker *w, lw_sweep_row *rows, int count,
                                   bool (*interrupted)(void *context), void *context, lw_error *error) {
    bool good = w && rows && count >= 0 && count <= lw_sweep_worker_width(w);
    for (int k = 0; good && k < count; k++) good = rows[k].values && rows[k].run < w->sweep->design.count;
    if (!good)
        return lw_call_needs("a worker, and at most as many rows as it is wide, each with the number of a "
                             "run and room for its values",
                             error);
    for (int k = 0; k < count; k++) lw_design_values(&w->sweep->design, rows[k].run, rows[k].values);
    if (w->beside) return run_lanes(w, rows, count, interrupted, context, error);
    return count > 0 ? lw_sweep_worker_row(w, rows, interrupted, context, error) : LW_OK;
}

lw_status lw_sweep_worker_run(lw_sweep_worker *w, uint64_t run, lw_sweep_row *row,
                              bool (*interrupted)(void *context), void *context, lw_error *error) {
    if (!w || !row || !row->values || run >= w->sweep->design.count)
        return lw_call_needs("a worker, the number of a run, and a row with room for its values", error);
    row->run = run;
    return lw_sweep_worker_run_many(w, row, 1, interrupted, context, error);
}

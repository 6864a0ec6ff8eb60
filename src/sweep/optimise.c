/* optimise.c - the parameters at which a measure is least: plan, batches of runs, and what they say.
 *
 * docs/theory/optimise.md. A way of searching (search.h) asks for points of the unit box; they become values
 * between the bounds, runs with consecutive numbers, and rows of a sweep's file. A search that goes on asks
 * for the same points again and finds their rows there.
 *
 * Cost     the runs; a batch ends when its last run does.
 */
#include "sweep/search.h"
#include "sweep/sweep_parts.h"

#include <linkwork/optimise.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct constraint {
    bool least; /* the measure must be at least the limit; otherwise at most */
    double limit;
} constraint;

struct lw_optimisation {
    lw_arena *arena;
    lw_sweep *sweep;
    const lw_search_way *way;
    lw_search_settings settings;
    constraint *constraints;
    int constraint_count;
    bool maximise;
};

/* --- the plan ------------------------------------------------------------------------------------- */

static lw_status wrong(lw_error *error, const char *what, const char *text, const char *remedy,
                       const char *message) {
    char object[112];
    snprintf(object, sizeof object, "%s \"%.80s\"", what, text);
    return lw_fail(error, LW_ERROR_ARGUMENT, object, remedy, "%s", message);
}

/* "max(drive(J)) <= 40 N m": the measure, into the arena; where the limit begins. */
static lw_status cut_constraint(lw_arena *arena, const char *text, const char **measure, constraint *c,
                                const char **limit, lw_error *error) {
    const char *sign = NULL;
    for (const char *s = text; *s; s++)
        if ((*s == '<' || *s == '>') && s[1] == '=') sign = s;
    char *left = sign ? lw_arena_text(arena, text) : NULL;
    if (!sign || sign == text)
        return wrong(error, "subject", text, "write e.g. max(drive(J)) <= 40 N m",
                     "it says not what must be at most (<=) or at least (>=) how much");
    if (!left) return lw_out_of_memory(error);
    left[sign - text] = '\0';
    c->least = *sign == '>';
    *measure = left, *limit = sign + 2;
    return LW_OK;
}

static lw_status find_way(const lw_optimise_options *options, lw_optimisation *o, lw_error *error) {
    const char *name = options->algorithm ? options->algorithm : "cma";
    o->way = strcmp(name, "cma") == 0       ? &lw_search_cma
             : strcmp(name, "descent") == 0 ? &lw_search_descent
                                            : NULL;
    if (!o->way)
        return wrong(error, "algorithm", name, "take cma (evolution) or descent (by gradients)",
                     "no such algorithm is known");
    if (options->subject_count > 0 && !o->way->constraints)
        return wrong(error, "algorithm", name, "take cma, or leave --subject away",
                     "it takes bounds, but nothing else that must hold");
    return LW_OK;
}

/* The line of the head that says what is looked for, and how. */
static char *describe(lw_arena *arena, const lw_optimise_options *options, const lw_optimisation *o) {
    size_t size = 400;
    for (size_t k = 0; k < options->subject_count; k++) size += strlen(options->subject[k]) + 20;
    char *text = LW_NEW(arena, char, size);
    if (!text) return NULL;
    size_t used = (size_t)snprintf(text, size, "%s, %s, population %d, restarts %d, tolerance %.17g",
                                   options->maximise ? "greatest" : "least", o->way->name,
                                   o->settings.population, o->settings.restarts, o->settings.tolerance);
    for (size_t k = 0; k < options->subject_count; k++)
        used += (size_t)snprintf(text + used, size - used, ", subject to %s", options->subject[k]);
    return text;
}

static lw_status read_plan(lw_optimisation *o, const lw_spec *spec, const lw_optimise_options *options,
                           lw_error *error) {
    const size_t count = 1 + options->subject_count + options->measure_count;
    const char **measures = LW_NEW(o->arena, const char *, count);
    const char **limits = LW_NEW(o->arena, const char *, count);
    o->constraints = LW_NEW(o->arena, constraint, count);
    if (lw_arena_failed(o->arena)) return lw_out_of_memory(error);
    o->constraint_count = (int)options->subject_count, o->maximise = options->maximise;
    o->settings = (lw_search_settings){.seed = options->seed,
                                       .population = options->population,
                                       .restarts = options->restarts,
                                       .tolerance = options->tolerance > 0 ? options->tolerance : 1e-8};
    lw_status status = find_way(options, o, error);
    measures[0] = options->minimise;
    for (size_t k = 0; k < options->subject_count && status == LW_OK; k++)
        status = cut_constraint(o->arena, options->subject[k], &measures[1 + k], &o->constraints[k],
                                &limits[k], error);
    for (size_t k = 0; k < options->measure_count; k++)
        measures[1 + options->subject_count + k] = options->measures[k];
    const lw_sweep_options plan = {.vary = options->vary,
                                   .vary_count = options->vary_count,
                                   .measures = measures,
                                   .measure_count = count,
                                   .draws = options->runs ? options->runs : 1000,
                                   .seed = options->seed,
                                   .settle = options->settle,
                                   .context = options->context};
    if (status != LW_OK) return status;
    const lw_sweep_search search = {describe(o->arena, options, o)};
    if (!search.text) return lw_out_of_memory(error);
    status = lw_sweep_create_search(spec, &plan, &search, &o->sweep, error);
    if (status != LW_OK) return status;
    const lw_design *design = &o->sweep->design;
    double *start = LW_NEW(o->arena, double, design->variable_count);
    if (!start) return lw_out_of_memory(error);
    for (int k = 0; k < design->variable_count; k++) {
        const double *p = design->variables[k].p;
        start[k] = (p[2] - p[0]) / (p[1] - p[0]);
    }
    o->settings.start = start, o->settings.dimension = design->variable_count;
    for (int k = 0; k < o->constraint_count && status == LW_OK; k++)
        status = lw_sweep_measure_number(options->subject[k], limits[k], o->sweep->measures[1 + k].unit,
                                         &o->constraints[k].limit, error);
    return status;
}

lw_status lw_optimise_create(const lw_spec *spec, const lw_optimise_options *options,
                             lw_optimisation **optimisation, lw_error *error) {
    if (optimisation) *optimisation = NULL;
    if (!spec || !options || !optimisation || !options->minimise || options->vary_count == 0 ||
        !options->vary || (options->subject_count > 0 && !options->subject) ||
        (options->measure_count > 0 && !options->measures))
        return lw_call_needs("a spec, what varies, what is minimised, and a place for the optimisation",
                             error);
    for (size_t k = 0; k < options->subject_count; k++)
        if (!options->subject[k]) return lw_call_needs("texts of all that must hold", error);
    if (options->population < 0 || options->restarts < 0 || options->subject_count > 1000)
        return lw_call_needs("a population and restarts not below 0, and at most 1000 constraints", error);
    lw_arena *arena = lw_arena_create(NULL);
    lw_optimisation *o = arena ? LW_NEW(arena, lw_optimisation, 1) : NULL;
    if (!o) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    o->arena = arena;
    const lw_status status = read_plan(o, spec, options, error);
    if (status == LW_OK)
        *optimisation = o;
    else
        lw_optimise_destroy(o);
    return status;
}

void lw_optimise_destroy(lw_optimisation *o) {
    if (!o) return;
    lw_sweep_destroy(o->sweep);
    lw_arena_destroy(o->arena);
}

const lw_sweep *lw_optimise_sweep(const lw_optimisation *o) { return o ? o->sweep : NULL; }

/* --- the search ----------------------------------------------------------------------------------- */

/* A batch of points, as rows and as what the search is told. */
typedef struct batch {
    int count, room;
    lw_sweep_row *rows;
    double *values;
    lw_found *found;
} batch;

static bool make_room(batch *b, int count, int columns) {
    b->count = count;
    if (count <= b->room) return true;
    free(b->rows), free(b->values), free(b->found);
    b->rows = calloc((size_t)count, sizeof *b->rows);
    b->values = calloc((size_t)count * (size_t)columns, sizeof *b->values);
    b->found = calloc((size_t)count, sizeof *b->found);
    b->room = b->rows && b->values && b->found ? count : 0;
    return b->room > 0;
}

/* Points of the unit box become the values of rows. */
static void place_rows(const lw_optimisation *o, batch *b, const double *points, uint64_t first) {
    const int n = o->settings.dimension, columns = n + o->sweep->measure_count;
    for (int k = 0; k < b->count; k++) {
        lw_sweep_row *row = &b->rows[k];
        row->run = first + (uint64_t)k, row->values = b->values + (size_t)k * (size_t)columns;
        for (int i = 0; i < n; i++) {
            const double *p = o->sweep->design.variables[i].p, u = points[k * n + i];
            row->values[i] = u <= 0 ? p[0] : u >= 1 ? p[1] : p[0] + u * (p[1] - p[0]);
        }
    }
}

/* How far a row is from keeping a constraint, in its unit; NAN: it was not measured. */
static double excess(const lw_optimisation *o, const lw_sweep_row *row, int k) {
    const constraint *c = &o->constraints[k];
    const double value = row->values[o->settings.dimension + 1 + k];
    const double by = c->least ? c->limit - value : value - c->limit;
    return isnan(by) ? NAN : fmax(by, 0);
}

/* What the rows say. Each constraint's violation is counted by the largest of the batch, so that units do not
 * matter. Doubtful runs are not believed. */
static void judge(const lw_optimisation *o, batch *b, lw_optimum *best, double *values) {
    const int n = o->settings.dimension, columns = n + o->sweep->measure_count;
    for (int k = 0; k < b->count; k++) {
        const double x = b->rows[k].values[n];
        b->found[k].value = b->rows[k].status != LW_SWEEP_OK || !isfinite(x) ? NAN : o->maximise ? -x : x;
        b->found[k].violation = 0;
    }
    for (int c = 0; c < o->constraint_count; c++) {
        double most = 0;
        for (int k = 0; k < b->count; k++) {
            const double by = isnan(b->found[k].value) ? 0 : excess(o, &b->rows[k], c);
            if (isnan(by))
                b->found[k].value = NAN;
            else
                most = fmax(most, by);
        }
        for (int k = 0; k < b->count && most > 0; k++)
            if (!isnan(b->found[k].value)) b->found[k].violation += excess(o, &b->rows[k], c) / most;
    }
    for (int k = 0; k < b->count; k++) {
        const lw_found *found = &b->found[k];
        best->failed += b->rows[k].status == LW_SWEEP_FAILED;
        best->doubtful += b->rows[k].status == LW_SWEEP_DOUBTFUL;
        if (isnan(found->value)) continue;
        best->outside += found->violation > 0;
        const double value = o->maximise ? -found->value : found->value;
        if (found->violation > 0 ||
            (best->found && !(o->maximise ? value > best->value : value < best->value)))
            continue;
        best->found = true, best->run = b->rows[k].run, best->value = value;
        if (values) memcpy(values, b->rows[k].values, (size_t)columns * sizeof *values);
    }
}

static lw_status search(lw_optimisation *o, lw_sweep_job *job, const lw_sweep_summary *summary, batch *b,
                        lw_optimum *best, double *values, lw_error *error) {
    const int columns = o->settings.dimension + o->sweep->measure_count;
    lw_arena *arena = lw_arena_create(NULL);
    void *way = arena ? o->way->create(arena, &o->settings) : NULL;
    lw_status status = way ? LW_OK : lw_out_of_memory(error);
    while (status == LW_OK) {
        const double *points;
        const int count = o->way->ask(way, &points);
        if (count == 0) {
            best->ended = o->way->ended(way), best->converged = true;
            break;
        }
        if (best->done + (uint64_t)count > lw_sweep_count(o->sweep)) {
            best->ended = "the number of runs";
            break;
        }
        if (!make_room(b, count, columns)) {
            status = lw_out_of_memory(error);
            break;
        }
        place_rows(o, b, points, best->done);
        status = lw_sweep_job_batch(job, best->done, (uint64_t)count, b->rows, error);
        if (status != LW_OK || summary->stopped) { /* Rows of this batch may be missing: they do not count. */
            best->ended = summary->stopped;
            break;
        }
        judge(o, b, best, values);
        o->way->tell(way, b->found);
        best->done += (uint64_t)count;
    }
    if (arena) lw_arena_destroy(arena);
    return status;
}

lw_status lw_optimise_run(lw_optimisation *o, const lw_sweep_call *call, lw_optimum *optimum, double *values,
                          lw_error *error) {
    lw_optimum unwanted;
    lw_sweep_summary summary;
    lw_sweep_job *job;
    batch b = {0};
    if (!o || !call) return lw_call_needs("an optimisation and a call", error);
    if (!optimum) optimum = &unwanted;
    *optimum = (lw_optimum){0};
    lw_status status = lw_sweep_job_create(o->sweep, call, &summary, &job, error);
    if (status != LW_OK) return status;
    status = search(o, job, &summary, &b, optimum, values, error);
    status = lw_sweep_job_end(job, status, error);
    optimum->wall_s = summary.wall_s;
    free(b.rows), free(b.values), free(b.found);
    /* Words of literals, which outlive the search. */
    return status;
}

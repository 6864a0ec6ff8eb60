/* animation_read.c - the animation of a results file: its model, the poses of every row, its columns.
 *
 * Coordinates of the joints of the tree determine all poses. Where the file lacks some, poses that it holds
 * of all bodies do instead. What it lacks beyond that (speeds, reactions, inputs) is told in notes.
 */
#include "export/view/animation.h"

#include <linkwork/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the model of a results file ------------------------------------------------------------------ */

/* The model that the file carries. A file without one is refused with a sentence of its own. */
static lw_status model_of_results(const char *path, lw_report *report, lw_spec **spec, lw_model **model,
                                  lw_error *error) {
    lw_status status = lw_results_spec(path, spec, error);
    if (status != LW_OK) return status;
    status = lw_model_compile(*spec, NULL, report, model);
    if (status == LW_OK) return LW_OK;
    if (status == LW_ERROR_MEMORY) return lw_out_of_memory(error);
    char object[112];
    snprintf(object, sizeof object, "results file \"%.90s\"", path);
    return lw_fail(error, LW_ERROR_ARGUMENT, object, "run the model again by this version of linkwork",
                   "the model that it holds has faults");
}

/* --- poses ---------------------------------------------------------------------------------------- */

/* The columns of the coordinates or speeds (order 0, 1) of all joints of the tree, by their place in q or v.
 * Returns the joint that lacks one, or -1. */
static int find_columns(const lw_model *model, const lw_results_table *table, int order, int *columns) {
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        if (info->cut) continue;
        const int count = order ? info->v_count : info->q_count, first = order ? info->v : info->q;
        for (int k = 0; k < count; k++) {
            char name[512];
            const char *unit;
            snprintf(name, sizeof name, "%s.%s", model->joints[j].name,
                     lw_joint_column(info->type, info->v_count, order, k, &unit));
            columns[first + k] = lw_results_table_column(table, name);
            if (columns[first + k] < 0) return j;
        }
    }
    return -1;
}

/* The columns of body poses, 7 per body: x, y, z, qx, qy, qz, qw. Returns the body that lacks one, or -1. */
static int find_pose_columns(const lw_model *model, const lw_results_table *table, int *columns) {
    static const char *const parts[7] = {"x", "y", "z", "qx", "qy", "qz", "qw"};
    for (int body = 1; body <= model->body_count; body++)
        for (int k = 0; k < 7; k++) {
            char name[512];
            snprintf(name, sizeof name, "body.%s.%s", model->bodies[body].name, parts[k]);
            columns[7 * (body - 1) + k] = lw_results_table_column(table, name);
            if (columns[7 * (body - 1) + k] < 0) return body;
        }
    return -1;
}

static bool gather(const lw_results_table *table, const int *columns, size_t count, size_t row, double *out) {
    bool finite = true;
    for (size_t k = 0; k < count; k++) {
        out[k] = columns[k] >= 0 ? table->columns[columns[k]].values[row] : 0;
        finite = finite && isfinite(out[k]);
    }
    return finite;
}

/* What the rows are made of. */
typedef struct source {
    int *q, *v, *poses;
    bool has_q, has_v;
    double *at_q, *at_v;
} source;

static lw_status find_source(lw_animation *a, const lw_results_table *table, const char *path, source *from,
                             lw_error *error) {
    const lw_model *model = a->model;
    from->q = LW_NEW(a->arena, int, model->nq + 1);
    from->v = LW_NEW(a->arena, int, model->nv + 1);
    from->poses = LW_NEW(a->arena, int, 7 * model->body_count + 1);
    from->at_q = LW_NEW(a->arena, double, model->nq + 1);
    from->at_v = LW_NEW(a->arena, double, model->nv + 1);
    if (lw_arena_failed(a->arena)) return lw_out_of_memory(error);
    for (int k = 0; k < model->nq; k++) from->q[k] = -1;
    const int without = find_columns(model, table, 0, from->q);
    from->has_q = without < 0;
    from->has_v = from->has_q && find_columns(model, table, 1, from->v) < 0;
    if (from->has_q || find_pose_columns(model, table, from->poses) < 0) return LW_OK;
    char object[112];
    snprintf(object, sizeof object, "results file \"%.90s\"", path);
    return lw_fail(error, LW_ERROR_ARGUMENT, object,
                   "run again with --record \"joint, reaction, ledger\", which has all that a page shows",
                   "it lacks the coordinates of joint \"%.100s\" and the poses of all bodies, so the motion "
                   "cannot be drawn",
                   model->joints[without].name);
}

static lw_status take_row(lw_animation *a, const lw_results_table *table, const source *from, size_t row,
                          size_t *skipped) {
    const lw_model *model = a->model;
    const double t = table->columns[0].values[row];
    double *pose = NULL;
    bool again;
    if (!isfinite(t)) return ++*skipped, LW_OK;
    if (from->has_q) {
        if (!gather(table, from->q, (size_t)model->nq, row, from->at_q)) return ++*skipped, LW_OK;
        lw_normalise_q(model, from->at_q);
    }
    const bool moving = from->has_v && gather(table, from->v, (size_t)model->nv, row, from->at_v);
    if (lw_animation_time(a, t, &again) != LW_OK) return LW_ERROR_MEMORY;
    if (from->has_q) {
        if (lw_animation_pose(a, t, from->at_q) != LW_OK) return LW_ERROR_MEMORY;
    } else {
        if (!(pose = lw_sample_rows_add(&a->poses))) return LW_ERROR_MEMORY;
        if (!gather(table, from->poses, 7 * (size_t)model->body_count, row, pose)) {
            a->poses.count--, a->count--;
            return ++*skipped, LW_OK;
        }
    }
    double *values = lw_sample_rows_add(&a->values);
    if (!values) return LW_ERROR_MEMORY;
    for (size_t k = 0; k < a->recorded; k++) values[k] = table->columns[k + 1].values[row];
    lw_animation_row_force_values(a, table, row, from->at_q, moving ? from->at_v : NULL,
                                  values + a->recorded);
    if (a->count == 1 && moving) {
        memcpy(a->q0, from->at_q, (size_t)model->nq * sizeof *a->q0);
        memcpy(a->v0, from->at_v, (size_t)model->nv * sizeof *a->v0);
        a->has_state = true;
    }
    return LW_OK;
}

/* --- columns, summary, notes ---------------------------------------------------------------------- */

static lw_status name_columns(lw_animation *a, lw_results_table *table, bool has_speeds) {
    a->columns = LW_NEW(a->arena, lw_shown_column, table->column_count + 1);
    if (!a->columns) return LW_ERROR_MEMORY;
    for (size_t k = 1; k < table->column_count; k++) {
        lw_shown_column *column = &a->columns[k - 1];
        column->name = lw_arena_text(a->arena, table->columns[k].name);
        column->unit = lw_arena_text(a->arena, table->columns[k].unit);
        if (!column->name || !column->unit) return LW_ERROR_MEMORY;
        column->own_scale = strcmp(column->unit, "J") == 0 || !column->unit[0];
    }
    a->recorded = a->column_count = table->column_count - 1;
    return lw_animation_row_forces(a, table, has_speeds);
}

static double number_of(lw_results_table *table, const char *key) {
    const char *text = lw_results_table_text(table, key);
    return text[0] ? strtod(text, NULL) : NAN;
}

static void take_summary(lw_animation *a, lw_results_table *table) {
    lw_run_summary *s = &a->summary;
    const char *verdict = lw_results_table_text(table, "verdict");
    a->method = lw_arena_text(a->arena, lw_results_table_text(table, "method"));
    a->integrator = lw_arena_text(a->arena, lw_results_table_text(table, "integrator"));
    a->has_summary = verdict[0] != '\0';
    if (!a->has_summary) {
        (void)lw_animation_note(a, "the file has no summary: its run is still going on, or was ended early");
        return;
    }
    s->t_end = number_of(table, "t_end");
    s->samples = (long)number_of(table, "samples"), s->steps = (long)number_of(table, "steps");
    s->rejected = (long)number_of(table, "rejected"), s->evaluations = (long)number_of(table, "evaluations");
    s->wall_s = number_of(table, "wall_s");
    s->energy_initial = number_of(table, "energy_initial");
    s->energy_final = number_of(table, "energy_final");
    s->energy_max_drift = number_of(table, "energy_max_drift");
    s->position_max = number_of(table, "position_violation_max");
    s->velocity_max = number_of(table, "velocity_violation_max");
    s->balance_max = number_of(table, "balance_max");
    double *const ledger[] = {&s->ledger.kinetic, &s->ledger.potential,   &s->ledger.drives,
                              &s->ledger.forces,  &s->ledger.dissipation, &s->ledger.unaccounted};
    static const char *const keys[] = {"kinetic", "potential",   "drives",
                                       "forces",  "dissipation", "unaccounted"};
    for (int k = 0; k < 6; k++) *ledger[k] = number_of(table, keys[k]);
    s->verdict.ok = strcmp(verdict, "ok") == 0;
    for (int k = 0; k < LW_REASONS_MAX; k++) {
        char key[16];
        snprintf(key, sizeof key, k ? "reason_%d" : "reason", k + 1);
        const char *reason = lw_results_table_text(table, key);
        if (reason[0]) snprintf(s->verdict.reasons[s->verdict.reason_count++], LW_REASON_SIZE, "%s", reason);
    }
}

static bool has_column(const lw_results_table *table, const char *start) {
    for (size_t k = 0; k < table->column_count; k++)
        if (strncmp(table->columns[k].name, start, strlen(start)) == 0) return true;
    return false;
}

static void note_lacks(lw_animation *a, const lw_results_table *table, size_t skipped) {
    char text[160];
    if (a->model->joint_count > 0 && !has_column(table, "reaction("))
        (void)lw_animation_note(a,
                                "no reactions are recorded; --record \"joint, reaction, ledger\" adds them");
    if (!has_column(table, "kinetic"))
        (void)lw_animation_note(a, "the energy ledger is not recorded; --record \"joint, ledger\" adds it");
    if (skipped) {
        snprintf(text, sizeof text, "%zu rows without all coordinates were left out", skipped);
        (void)lw_animation_note(a, text);
    }
}

/* --- public --------------------------------------------------------------------------------------- */

static lw_status fill(lw_animation *a, lw_results_table *table, const char *path, lw_error *error) {
    source from;
    lw_status status = find_source(a, table, path, &from, error);
    if (status != LW_OK) return status;
    if (name_columns(a, table, from.has_v) != LW_OK) return lw_out_of_memory(error);
    a->values.width = a->column_count;
    size_t skipped = 0;
    for (size_t row = 0; row < table->row_count && status == LW_OK; row++)
        status = take_row(a, table, &from, row, &skipped);
    if (status != LW_OK) return lw_out_of_memory(error);
    if (a->count == 0) {
        char object[112];
        snprintf(object, sizeof object, "results file \"%.90s\"", path);
        return lw_fail(error, LW_ERROR_ARGUMENT, object, "run the model again",
                       "none of its %zu rows has all coordinates", table->row_count);
    }
    take_summary(a, table);
    note_lacks(a, table, skipped);
    for (size_t k = 0; k < table->event_count; k++)
        if (lw_animation_event(a, table->events[k].t, "event", table->events[k].name) != LW_OK)
            return lw_out_of_memory(error);
    lw_animation_uniqueness(a);
    return lw_arena_failed(a->arena) ? lw_out_of_memory(error) : LW_OK;
}

lw_status lw_animation_read(const char *path, lw_report *report, lw_animation **out, lw_error *error) {
    if (out) *out = NULL;
    if (!path || !out) return lw_call_needs("a results file and a place for the animation", error);
    lw_results_table *table;
    lw_status status = lw_results_table_open(path, &table, error);
    if (status != LW_OK) return status;
    for (size_t k = 0; k < table->column_count; k++) table->columns[k].wanted = true;
    status = lw_results_table_read(table, error);
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_animation *a = NULL;
    if (status == LW_OK) status = model_of_results(path, report, &spec, &model, error);
    if (status == LW_OK) status = lw_animation_begin(model, &a, error);
    if (status == LW_OK) {
        a->owned = model, a->spec = spec;
        a->source = lw_arena_text(a->arena, path);
        status = fill(a, table, path, error);
        if (status != LW_OK) lw_animation_destroy(a);
    } else {
        lw_model_destroy(model);
        lw_spec_destroy(spec);
    }
    lw_results_table_close(table);
    if (status == LW_OK) *out = a;
    return status;
}

/* animation.c - an animation that a run fills: poses and columns of every sample, events, notes, verdict.
 *
 * Poses are those of the users' body frames in the world. The quaternion of a body keeps its sign from sample
 * to sample, so that its components can be interpolated.
 *
 * Cost     O(n + columns) per sample, memory for all samples.
 */
#include "export/view/animation.h"

#include <linkwork/simulate.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JOINTS_WITH_REACTIONS = 100, MOST_EVENTS = 10000 };

double *lw_sample_rows_add(lw_sample_rows *rows) {
    if (rows->count == rows->room) {
        size_t room = rows->room ? 2 * rows->room : 256;
        double *more = realloc(rows->at, (room * rows->width + 1) * sizeof *more);
        if (!more) return NULL;
        rows->at = more, rows->room = room;
    }
    return rows->at + rows->width * rows->count++;
}

lw_status lw_animation_begin(const lw_model *model, lw_animation **out, lw_error *error) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_animation *a = LW_NEW(arena, lw_animation, 1);
    if (!a) {
        lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    a->arena = arena;
    a->model = model;
    a->poses.width = 7 * (size_t)model->body_count;
    a->q0 = LW_NEW(arena, double, model->nq + 1);
    a->v0 = LW_NEW(arena, double, model->nv + 1);
    if (!a->v0 || lw_data_create(model, NULL, &a->data) != LW_OK) {
        lw_animation_destroy(a);
        return lw_out_of_memory(error);
    }
    *out = a;
    return LW_OK;
}

void lw_animation_destroy(lw_animation *a) {
    if (!a) return;
    lw_record_destroy(a->record);
    lw_animation_row_forces_close(a);
    lw_data_destroy(a->data);
    lw_model_destroy(a->owned);
    lw_spec_destroy(a->spec);
    free(a->times);
    free(a->poses.at);
    free(a->values.at);
    free(a->events);
    lw_arena_destroy(a->arena);
}

/* --- columns -------------------------------------------------------------------------------------- */

bool lw_animation_is_power(const char *name) {
    const char *last = strrchr(name, ')');
    return strncmp(name, "force(", 6) == 0 && last && strcmp(last, ").power") == 0;
}

/* Takes the columns of the record, without the powers of force elements that nobody has asked for. */
static lw_status take_columns(lw_animation *a, const char *asked) {
    const size_t count = lw_record_count(a->record);
    const lw_record_column *names = lw_record_columns(a->record);
    const bool powers = strstr(asked, "force") || strstr(asked, "power");
    a->columns = LW_NEW(a->arena, lw_shown_column, count);
    a->row = LW_NEW(a->arena, double, count + 1);
    a->taken = LW_NEW(a->arena, size_t, count);
    if (!a->row || !a->columns || !a->taken) return LW_ERROR_MEMORY;
    for (size_t k = 1; k < count; k++) { /* The first is time. */
        if (!powers && lw_animation_is_power(names[k].name)) continue;
        a->taken[a->column_count] = k;
        a->columns[a->column_count++] = (lw_shown_column){
            names[k].name, names[k].unit, strcmp(names[k].unit, "J") == 0 || names[k].unit[0] == '\0'};
    }
    a->recorded = a->column_count;
    return LW_OK;
}

/* The list of a record with the force elements, whose arrows the page shows. */
static lw_status list_with_forces(lw_animation *a, const char *record, const char **list) {
    lw_status status = LW_OK;
    *list = record;
    if (a->model->force_count == 0 || lw_animation_has_many_forces(a, &status)) return status;
    char *longer = LW_NEW(a->arena, char, strlen(record) + sizeof ", force");
    if (!longer) return LW_ERROR_MEMORY;
    sprintf(longer, "%s, force", record);
    *list = longer;
    return LW_OK;
}

lw_status lw_animation_create(const lw_model *model, const char *record, lw_animation **out,
                              lw_error *error) {
    if (out) *out = NULL;
    if (!model || !out) return lw_call_needs("a model and a place for the animation", error);
    if (!record)
        record = model->joint_count <= MOST_JOINTS_WITH_REACTIONS
                     ? "joint, reaction, output, state, ledger, violation"
                     : "joint, output, state, ledger, violation";
    lw_animation *a;
    const char *list;
    lw_status status = lw_animation_begin(model, &a, error);
    if (status != LW_OK) return status;
    if (list_with_forces(a, record, &list) == LW_OK)
        status = lw_record_create(model, list, &a->record, error);
    else
        status = lw_out_of_memory(error);
    if (status == LW_OK && take_columns(a, record) != LW_OK) status = lw_out_of_memory(error);
    if (status != LW_OK) {
        lw_animation_destroy(a);
        return status;
    }
    a->values.width = a->column_count;
    *out = a;
    return LW_OK;
}

const lw_model *lw_animation_model(const lw_animation *a) { return a ? a->model : NULL; }
size_t lw_animation_samples(const lw_animation *a) { return a ? a->count : 0; }
bool lw_animation_wants_accelerations(const lw_animation *a) {
    return a && a->record && lw_record_accelerations(a->record);
}
bool lw_animation_wants_reactions(const lw_animation *a) {
    return a && a->record && lw_record_reactions(a->record);
}

/* --- samples -------------------------------------------------------------------------------------- */

lw_status lw_animation_time(lw_animation *a, double t, bool *again) {
    *again = a->count > 0 && !(t > a->times[a->count - 1]);
    if (*again) {
        a->count--, a->poses.count--;
        if (a->values.count > a->count) a->values.count--;
    }
    if (a->count == a->room) {
        size_t room = a->room ? 2 * a->room : 256;
        double *more = realloc(a->times, room * sizeof *more);
        if (!more) return LW_ERROR_MEMORY;
        a->times = more, a->room = room;
    }
    a->times[a->count++] = t;
    return LW_OK;
}

/* Gives the quaternion the sign that is nearer to the last sample's. */
static void keep_sign(const double *last, double *q) {
    double dot = 0;
    for (int k = 0; k < 4; k++) dot += last[k] * q[k];
    for (int k = 0; k < 4 && dot < 0; k++) q[k] = -q[k];
}

lw_status lw_animation_pose(lw_animation *a, double t, const double *q) {
    const lw_model *model = a->model;
    double *row = lw_sample_rows_add(&a->poses);
    if (!row) return LW_ERROR_MEMORY;
    lw_take_state(model, a->data, t, q, NULL);
    lw_positions(model, a->data);
    lw_world_poses(model, a->data);
    for (int body = 1; body <= model->body_count; body++) {
        const lw_pose *world = &a->data->world[body], *frame = &model->bodies[body].frame;
        double R[9], quaternion[4], *pose = row + 7 * (body - 1);
        lw_pose_point(world->R, world->p, frame->p, pose);
        lw_m3_mul(world->R, frame->R, R);
        lw_quat_rot(R, quaternion);
        for (int k = 0; k < 3; k++) pose[3 + k] = quaternion[1 + k];
        pose[6] = quaternion[0];
        if (a->poses.count > 1) keep_sign(pose + 3 - a->poses.width, pose + 3);
    }
    return LW_OK;
}

lw_status lw_animation_sample(lw_animation *a, const lw_sample *sample) {
    if (!a || !sample || !a->record || !lw_given(sample->q, a->model->nq) ||
        !lw_given(sample->v, a->model->nv) || !isfinite(sample->t))
        return LW_ERROR_ARGUMENT;
    for (int k = 0; k < a->model->nq; k++)
        if (!isfinite(sample->q[k])) return LW_ERROR_ARGUMENT;
    bool again;
    if (lw_animation_time(a, sample->t, &again) != LW_OK) return LW_ERROR_MEMORY;
    if (lw_animation_pose(a, sample->t, sample->q) != LW_OK) return LW_ERROR_MEMORY;
    double *values = lw_sample_rows_add(&a->values);
    if (!values) return LW_ERROR_MEMORY;
    (void)lw_record_row(a->record, sample, a->row);
    for (size_t k = 0; k < a->recorded; k++) values[k] = a->row[a->taken[k]];
    if (a->count == 1) {
        memcpy(a->q0, sample->q, (size_t)a->model->nq * sizeof *a->q0);
        memcpy(a->v0, sample->v, (size_t)a->model->nv * sizeof *a->v0);
        a->has_state = true;
    }
    return LW_OK;
}

/* What an event of the model does, in a few words. */
static const char *what_happens(lw_animation *a, const char *name) {
    const lw_model *model = a->model;
    const lw_model_event *event = NULL;
    char text[400] = "";
    for (int k = 0; k < model->event_count && !event; k++)
        if (strcmp(model->events[k].name, name) == 0) event = &model->events[k];
    if (event && event->action == LW_ACTION_STOP) snprintf(text, sizeof text, "the run stops");
    if (event && event->action == LW_ACTION_RESTITUTION)
        snprintf(text, sizeof text, "impact in %.200s", model->joints[event->joint].name);
    for (int k = 0; event && k < event->set_count; k++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.40s", k ? ", " : "sets ", event->sets[k].name);
    }
    return lw_arena_text(a->arena, text);
}

lw_status lw_animation_event(lw_animation *a, double t, const char *kind, const char *text) {
    if (!a || !kind || !text) return LW_ERROR_ARGUMENT;
    if (a->event_count >= MOST_EVENTS) return LW_OK;
    if (a->event_count == a->event_room) {
        size_t room = a->event_room ? 2 * a->event_room : 32;
        lw_told *more = realloc(a->events, room * sizeof *more);
        if (!more) return LW_ERROR_MEMORY;
        a->events = more, a->event_room = room;
    }
    const bool own = strcmp(kind, "event") == 0;
    const lw_told told = {t, lw_arena_text(a->arena, kind), own ? lw_arena_text(a->arena, text) : NULL,
                          own ? what_happens(a, text) : lw_arena_text(a->arena, text)};
    if (lw_arena_failed(a->arena)) return LW_ERROR_MEMORY;
    a->events[a->event_count++] = told;
    return LW_OK;
}

lw_status lw_animation_note(lw_animation *a, const char *text) {
    if (!a || !text) return LW_ERROR_ARGUMENT;
    if (a->note_count == a->note_room) {
        size_t room = a->note_room ? 2 * a->note_room : 8;
        const char **more = LW_NEW(a->arena, const char *, room);
        if (!more) return LW_ERROR_MEMORY;
        if (a->note_count) memcpy(more, a->notes, a->note_count * sizeof *more);
        a->notes = more, a->note_room = room;
    }
    const char *kept = lw_arena_text(a->arena, text);
    if (!kept) return LW_ERROR_MEMORY;
    a->notes[a->note_count++] = kept;
    return LW_OK;
}

/* --- the end -------------------------------------------------------------------------------------- */

void lw_animation_uniqueness(lw_animation *a) {
    const lw_model *model = a->model;
    if (!a->has_state || a->unique || model->joint_count == 0 ||
        model->joint_count > 4 * MOST_JOINTS_WITH_REACTIONS ||
        model->closure_count + model->constraint_count == 0)
        return;
    bool *unique = LW_NEW(a->arena, bool, 6 * model->joint_count);
    double *vdot = LW_NEW(a->arena, double, model->nv + 1);
    double *reactions = LW_NEW(a->arena, double, 6 * model->joint_count);
    if (!unique || !vdot || !reactions) return;
    lw_error error;
    if (lw_accelerations(model, NULL, a->times[0], a->q0, a->v0, vdot, reactions, unique, &error) == LW_OK)
        a->unique = unique;
}

lw_status lw_animation_finish(lw_animation *a, const lw_run_summary *summary, const char *failure) {
    if (!a) return LW_ERROR_ARGUMENT;
    a->has_summary = summary != NULL;
    if (summary) {
        a->summary = *summary;
        a->method = lw_arena_text(a->arena, summary->method);
        a->integrator = lw_arena_text(a->arena, summary->integrator);
    }
    a->failure = failure ? lw_arena_text(a->arena, failure) : NULL;
    lw_animation_uniqueness(a);
    return lw_arena_failed(a->arena) ? LW_ERROR_MEMORY : LW_OK;
}

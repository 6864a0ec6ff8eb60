/* recording.c - samples of a run in memory, whole, so that what is asked about them may be decided later.
 *
 * A sample is one row of numbers: t, q, v, then whatever the first sample carries (accelerations, reactions,
 * multipliers of constraints, user states, outputs, inputs, works), the ledger, the violations, the progress
 * and the side of jumps to which it belongs.
 * Rows stand one behind another in an array that grows by half, so that adding n samples costs O(n) copies.
 *
 * A sample whose parameters an event has changed would need another model to be evaluated by; it is refused.
 */
#include "io/results/record_columns.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Where a part of a sample stands in its row; count 0: the samples do not carry it. */
typedef struct part {
    size_t at, count;
} part;

/* The ledger is nothing but doubles, so that a row can hold it. */
enum { LEDGER_SIZE = sizeof(lw_ledger) / sizeof(double) };
_Static_assert(sizeof(lw_ledger) == 6 * sizeof(double), "the ledger has six numbers");

struct lw_recording {
    const lw_model *model;
    size_t width; /* numbers of a sample */
    size_t count, room;
    double *rows;
    part q, v, vdot, reactions, multipliers, states, outputs, inputs, works, books;
};

const char *lw_record_name(const lw_record *record, size_t column) {
    return record && column < lw_record_count(record) ? lw_record_columns(record)[column].name : NULL;
}

const char *lw_record_unit(const lw_record *record, size_t column) {
    return record && column < lw_record_count(record) ? lw_record_columns(record)[column].unit : NULL;
}

lw_status lw_recording_create(const lw_model *model, lw_recording **out, lw_error *error) {
    if (out) *out = NULL;
    if (!model || !out) return lw_call_needs("a model and a place for the recording", error);
    lw_recording *recording = calloc(1, sizeof *recording);
    if (!recording) return lw_out_of_memory(error);
    recording->model = model;
    *out = recording;
    return LW_OK;
}

void lw_recording_destroy(lw_recording *recording) {
    if (!recording) return;
    free(recording->rows);
    free(recording);
}

static int multiplier_count(const lw_model *model) {
    int count = 0;
    for (int k = 0; k < model->constraint_count; k++)
        count += model->constraints[k].type == LW_CONSTRAINT_ROLLING ? 3 : 1;
    return count;
}

static part reserve(lw_recording *recording, bool carried, int count) {
    const part p = {recording->width, carried ? (size_t)count : 0};
    recording->width += p.count;
    return p;
}

/* Lays out the rows after the first sample. */
static void lay_out(lw_recording *r, const lw_sample *first) {
    const lw_model *model = r->model;
    r->width = 5; /* t, both violations, progress, aside */
    r->q = reserve(r, true, lw_model_q_size(model));
    r->v = reserve(r, true, lw_model_v_size(model));
    r->vdot = reserve(r, first->vdot, lw_model_v_size(model));
    r->reactions = reserve(r, first->reactions, 6 * lw_model_joint_count(model));
    r->multipliers = reserve(r, first->multipliers, multiplier_count(model));
    r->states = reserve(r, first->states, lw_model_state_count(model));
    r->outputs = reserve(r, first->outputs, lw_model_output_count(model));
    r->inputs = reserve(r, first->inputs, lw_model_input_count(model));
    r->works = reserve(r, first->works, lw_model_force_count(model));
    r->books = reserve(r, first->ledger, LEDGER_SIZE);
}

static bool make_room(lw_recording *r) {
    if (r->count < r->room) return true;
    const size_t room = r->room ? r->room + r->room / 2 : 256;
    if (room > SIZE_MAX / sizeof(double) / r->width) return false;
    double *rows = realloc(r->rows, room * r->width * sizeof *rows);
    if (!rows) return false;
    r->rows = rows, r->room = room;
    return true;
}

/* A part that a later sample lacks is unknown there. */
static void keep(double *row, part p, const double *values) {
    for (size_t k = 0; k < p.count; k++) row[p.at + k] = values ? values[k] : NAN;
}

lw_status lw_recording_add(lw_recording *r, const lw_sample *sample) {
    if (!r || !sample || !sample->q || !sample->v) return LW_ERROR_ARGUMENT;
    if (sample->model && sample->model != r->model) return LW_ERROR_UNSUPPORTED;
    if (r->count == 0) lay_out(r, sample);
    if (!make_room(r)) return LW_ERROR_MEMORY;
    double *row = r->rows + r->count * r->width;
    row[0] = sample->t, row[1] = sample->position_violation, row[2] = sample->velocity_violation;
    row[3] = sample->progress, row[4] = sample->aside;
    keep(row, r->q, sample->q);
    keep(row, r->v, sample->v);
    keep(row, r->vdot, sample->vdot);
    keep(row, r->reactions, sample->reactions);
    keep(row, r->multipliers, sample->multipliers);
    keep(row, r->states, sample->states);
    keep(row, r->outputs, sample->outputs);
    keep(row, r->inputs, sample->inputs);
    keep(row, r->works, sample->works);
    if (r->books.count && sample->ledger)
        memcpy(row + r->books.at, sample->ledger, sizeof *sample->ledger);
    else
        keep(row, r->books, NULL);
    r->count++;
    return LW_OK;
}

size_t lw_recording_count(const lw_recording *recording) { return recording ? recording->count : 0; }

static const double *kept(const double *row, part p) { return p.count ? row + p.at : NULL; }

lw_status lw_recording_at(const lw_recording *r, size_t index, lw_sample *sample) {
    if (!r || !sample || index >= r->count) return LW_ERROR_ARGUMENT;
    const double *row = r->rows + index * r->width;
    *sample = (lw_sample){.t = row[0],
                          .position_violation = row[1],
                          .velocity_violation = row[2],
                          .progress = row[3],
                          .aside = row[4],
                          .q = row + r->q.at,
                          .v = row + r->v.at,
                          .vdot = kept(row, r->vdot),
                          .reactions = kept(row, r->reactions),
                          .multipliers = kept(row, r->multipliers),
                          .states = kept(row, r->states),
                          .outputs = kept(row, r->outputs),
                          .inputs = kept(row, r->inputs),
                          .works = kept(row, r->works),
                          .ledger = (const lw_ledger *)kept(row, r->books)};
    return LW_OK;
}

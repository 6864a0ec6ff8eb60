/* animation_forces.c - what force elements do in the rows of a results file that does not record it.
 *
 * A record "force" of the file's model (io/results/record.h) gives the columns that the file lacks, from
 * time, coordinates, speeds, user states and inputs of each row. Inputs are columns of their names where the
 * file has these, otherwise the model's own values, up to the first event that sets one; a parameter that an
 * event sets makes another model, too. From there on, and where speeds or user states are not recorded, the
 * forces are unknown, and a note says so.
 *
 * Cost     O(n + elements) per row; models of more than LW_MOST_ELEMENTS elements have no such columns.
 */
#include "export/view/animation.h"
#include "model/quantity/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct lw_row_forces {
    lw_record *record;
    double *row;
    size_t *added; /* which columns of the record the animation shows */
    size_t added_count;
    int *inputs, *states;  /* columns of the file; -1: there is none */
    double *input, *state; /* their values in a row */
    double until;          /* from here on unknown */
};

bool lw_animation_has_many_forces(lw_animation *a, lw_status *status) {
    char text[160];
    if (a->model->force_count <= LW_MOST_ELEMENTS) return false;
    snprintf(text, sizeof text, "forces of the %d elements are left out; up to %d are shown",
             a->model->force_count, LW_MOST_ELEMENTS);
    *status = lw_animation_note(a, text);
    return true;
}

/* --- what a row does not tell --------------------------------------------------------------------- */

static const lw_model_event *event_called(const lw_model *model, const char *name) {
    for (int k = 0; k < model->event_count; k++)
        if (strcmp(model->events[k].name, name) == 0) return &model->events[k];
    return NULL;
}

/* The first thing that an event sets and that rows do not tell; NULL: none. */
static const char *set_unseen(const struct lw_row_forces *f, const lw_model_event *event) {
    for (int k = 0; event && k < event->set_count; k++) {
        const lw_model_event_set *set = &event->sets[k];
        if (set->kind == LW_SET_PARAMETER || (set->kind == LW_SET_INPUT && f->inputs[set->index] < 0))
            return set->name;
    }
    return NULL;
}

/* From when on forces are unknown since an event has set something. Events stand at the end of a file, so
 * that one without an end does not tell when they happened. */
static lw_status find_end(lw_animation *a, lw_results_table *table, struct lw_row_forces *f) {
    const lw_model *model = a->model;
    const char *name = NULL;
    const bool ended = lw_results_table_text(table, "verdict")[0] != '\0';
    f->until = INFINITY;
    for (int k = 0; k < model->event_count && !ended && !name; k++) {
        name = set_unseen(f, &model->events[k]);
        if (name) f->until = -INFINITY;
    }
    for (size_t k = 0; k < table->event_count; k++) {
        const char *set = set_unseen(f, event_called(model, table->events[k].name));
        if (set && table->events[k].t < f->until) f->until = table->events[k].t, name = set;
    }
    if (!name) return LW_OK;
    char text[400];
    if (isfinite(f->until))
        snprintf(text, sizeof text,
                 "an event sets \"%.100s\" at t = %.6g s, so forces are not known from there on; --record "
                 "\"joint, force, ledger\" records them",
                 name, f->until);
    else
        snprintf(text, sizeof text,
                 "events set \"%.100s\", and the file does not tell when, so forces are not known; --record "
                 "\"joint, force, ledger\" records them",
                 name);
    return lw_animation_note(a, text);
}

static lw_status note_inputs(lw_animation *a, const struct lw_row_forces *f) {
    char text[512];
    size_t used = 0;
    const int count = a->model->values.input_count;
    for (int k = 0; k < count && used + 130 < sizeof text; k++)
        if (f->inputs[k] < 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.100s",
                                     used ? ", "
                                          : "inputs are not recorded, so forces are those with the "
                                            "model's own values of ",
                                     a->model->input_names.names[k]);
    return used ? lw_animation_note(a, text) : LW_OK;
}

/* --- columns -------------------------------------------------------------------------------------- */

static lw_status add_columns(lw_animation *a, const lw_results_table *table, struct lw_row_forces *f) {
    const size_t count = lw_record_count(f->record);
    const lw_record_column *names = lw_record_columns(f->record);
    lw_shown_column *columns = LW_NEW(a->arena, lw_shown_column, a->column_count + count);
    f->row = LW_NEW(a->arena, double, count + 1);
    f->added = LW_NEW(a->arena, size_t, count + 1);
    if (!columns || !f->added) return LW_ERROR_MEMORY;
    if (a->column_count) memcpy(columns, a->columns, a->column_count * sizeof *columns);
    a->columns = columns;
    for (size_t k = 1; k < count; k++) { /* The first is time. */
        if (lw_results_table_column(table, names[k].name) >= 0 || lw_animation_is_power(names[k].name))
            continue;
        f->added[f->added_count++] = k;
        columns[a->column_count++] = (lw_shown_column){names[k].name, names[k].unit, false};
    }
    return LW_OK;
}

static bool find_values(lw_animation *a, const lw_results_table *table, struct lw_row_forces *f) {
    const lw_model *model = a->model;
    const int inputs = model->values.input_count, states = model->values.state_count;
    f->inputs = LW_NEW(a->arena, int, inputs + 1);
    f->states = LW_NEW(a->arena, int, states + 1);
    f->input = LW_NEW(a->arena, double, inputs + 1);
    f->state = LW_NEW(a->arena, double, states + 1);
    if (lw_arena_failed(a->arena)) return false;
    for (int k = 0; k < inputs + states; k++) {
        char name[LW_QUANTITY_NAME];
        lw_state_quantity quantity;
        const int own = k < inputs ? k : k - inputs;
        lw_quantity_make(model, k < inputs ? LW_Q_INPUT : LW_Q_STATE, own, 0, &quantity);
        lw_quantity_print(model, &quantity, name);
        (k < inputs ? f->inputs : f->states)[own] = lw_results_table_column(table, name);
    }
    return true;
}

lw_status lw_animation_row_forces(lw_animation *a, lw_results_table *table, bool has_speeds) {
    const lw_model *model = a->model;
    lw_status status = LW_OK;
    if (model->force_count == 0 || lw_animation_has_many_forces(a, &status)) return status;
    struct lw_row_forces *f = a->row_forces = LW_NEW(a->arena, struct lw_row_forces, 1);
    lw_error error;
    if (!f || !find_values(a, table, f)) return LW_ERROR_MEMORY;
    status = lw_record_create(model, "force", &f->record, &error);
    if (status == LW_OK) status = add_columns(a, table, f);
    if (status != LW_OK || f->added_count == 0) return status;
    const char *lacks = has_speeds ? NULL : "joint speeds";
    for (int k = 0; k < model->values.state_count && !lacks; k++)
        if (f->states[k] < 0) lacks = "the states of the model";
    if (lacks) {
        char text[160];
        snprintf(text, sizeof text,
                 "%s are not recorded, so forces are not known; --record \"joint, force, "
                 "ledger\" records these",
                 lacks);
        f->until = -INFINITY;
        return lw_animation_note(a, text);
    }
    status = find_end(a, table, f);
    return status == LW_OK ? note_inputs(a, f) : status;
}

void lw_animation_row_forces_close(lw_animation *a) {
    if (a->row_forces) lw_record_destroy(a->row_forces->record);
}

/* --- values --------------------------------------------------------------------------------------- */

void lw_animation_row_force_values(lw_animation *a, const lw_results_table *table, size_t row,
                                   const double *q, const double *v, double *values) {
    struct lw_row_forces *f = a->row_forces;
    if (!f) return;
    const lw_model *model = a->model;
    const double t = table->columns[0].values[row];
    bool known = v && t < f->until;
    for (int k = 0; k < model->values.input_count && known; k++) {
        const bool told = f->inputs[k] >= 0;
        f->input[k] = told ? table->columns[f->inputs[k]].values[row] : model->input_defaults[k];
        known = !told || isfinite(f->input[k]);
    }
    for (int k = 0; k < model->values.state_count && known; k++) {
        f->state[k] = table->columns[f->states[k]].values[row];
        known = isfinite(f->state[k]);
    }
    if (known) {
        const lw_sample sample = {.t = t, .q = q, .v = v, .inputs = f->input, .states = f->state};
        (void)lw_record_row(f->record, &sample, f->row);
    }
    for (size_t k = 0; k < f->added_count; k++) values[k] = known ? f->row[f->added[k]] : NAN;
}

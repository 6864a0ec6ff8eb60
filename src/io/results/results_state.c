/* results_state.c - a row of a results file as a state of a model, and the rows so far in a new file.
 *
 * The state consists of the coordinates and speeds of the joints of the tree, of the angles of cut joints
 * whose revolutions count, and of the user states; columns of the same names hold them. Both formats keep
 * every bit of a number, so that the state is the one of the sample. Prescribed coordinates and speeds follow
 * from the time.
 */
#include "io/results/read_results.h"
#include "io/results/results_writer.h"
#include "model/signals.h"

#include <linkwork/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lw_status fault(lw_error *error, const char *path, const char *remedy, const char *message) {
    if (!error) return LW_ERROR_FILE;
    (void)lw_fail(error, LW_ERROR_FILE, NULL, remedy, "%s", message);
    snprintf(error->file, sizeof error->file, "%s", path);
    return LW_ERROR_FILE;
}

/* --- rows ----------------------------------------------------------------------------------------- */

/* The last row at time `at`, up to rounding of the times of samples; if at is NAN, the last row. row_count if
 * there is none; then *nearest is the row whose time is nearest. */
static size_t find_row(const lw_results_table *table, double at, size_t *nearest) {
    const double *t = table->columns[0].values;
    const size_t count = table->row_count;
    size_t found = count;
    *nearest = 0;
    if (isnan(at)) return count - 1;
    for (size_t k = 0; k < count; k++) {
        const double spacing = k > 0 ? fabs(t[k] - t[k - 1]) : count > 1 ? fabs(t[1] - t[0]) : 0;
        if (fabs(t[k] - at) <= 1e-9 * (fabs(at) + spacing)) found = k;
        if (fabs(t[k] - at) < fabs(t[*nearest] - at)) *nearest = k;
    }
    return found;
}

static lw_status no_row(const lw_results_table *table, const char *path, double at, size_t nearest,
                        lw_error *error) {
    const double *t = table->columns[0].values;
    char message[160], remedy[160];
    const size_t last = table->row_count - 1;
    const size_t other =
        t[nearest] < at ? (nearest < last ? nearest + 1 : last) : (nearest > 0 ? nearest - 1 : 0);
    if (at < t[0] || at > t[last])
        snprintf(message, sizeof message, "there is no row at t = %.9g; the file goes from t = %.9g to %.9g",
                 at, t[0], t[last]);
    else
        snprintf(message, sizeof message,
                 "there is no row at t = %.9g; the rows beside it are at t = %.9g and %.9g", at,
                 fmin(t[nearest], t[other]), fmax(t[nearest], t[other]));
    snprintf(remedy, sizeof remedy, "give the time of a row, or run the model to that time");
    return fault(error, path, remedy, message);
}

/* --- state ---------------------------------------------------------------------------------------- */

/* An entry of q or v, and the column that holds it. */
typedef struct entry {
    lw_quantity_kind kind;
    int object, component; /* of a joint, or of a user state */
    double *to;
} entry;

/* The entries of the state that a file must hold; returns their number. */
static size_t list_entries(const lw_model *model, double *q, double *v, double *states, entry *list) {
    size_t count = 0;
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_entry *joint = &model->joints[j];
        const lw_joint_info *info = &joint->info;
        const int ball = lw_joint_quaternion(joint->joint.type);
        for (int k = 0; k < joint->joint.nq; k++) {
            const bool turns = ball >= 0 && k >= ball;
            const unsigned given = turns ? info->prescribed >> ball & 7u : info->prescribed >> k & 1u;
            if (!info->cut && !given)
                list[count++] = (entry){LW_Q_COORDINATE, j, k, q + info->q + k};
            else if (info->cut && joint->winding[k] >= 0)
                list[count++] = (entry){LW_Q_COORDINATE, j, k, q + joint->winding[k]};
        }
        for (int k = 0; k < joint->joint.nv && !info->cut; k++)
            if (!(info->prescribed >> k & 1u)) list[count++] = (entry){LW_Q_SPEED, j, k, v + info->v + k};
    }
    for (int k = 0; k < lw_model_state_count(model); k++)
        list[count++] = (entry){LW_Q_STATE, k, 0, states + k};
    return count;
}

static const char *object_of(const lw_model *model, const entry *e) {
    return e->kind == LW_Q_STATE ? lw_model_state_name(model, e->object) : model->joints[e->object].name;
}

/* Finds the columns of the entries and marks them as wanted; reports those that are missing, all of them as
 * far as there is room, and those that measure something else. */
static lw_status find_columns(const lw_model *model, lw_results_table *table, const char *path,
                              const entry *list, size_t count, int *columns, lw_error *error) {
    char lacking[170] = "", message[256], remedy[220];
    size_t used = 0, missing = 0;
    const entry *first = NULL;
    for (size_t k = 0; k < count; k++) {
        char name[LW_QUANTITY_NAME];
        lw_state_quantity quantity;
        lw_quantity_make(model, list[k].kind, list[k].object, list[k].component, &quantity);
        lw_quantity_print(model, &quantity, name);
        columns[k] = lw_results_table_column(table, name);
        if (columns[k] < 0) {
            if (missing == 0) first = &list[k];
            if (used + strlen(name) + 8 < sizeof lacking)
                used += (size_t)snprintf(lacking + used, sizeof lacking - used, "%s%s", missing ? ", " : "",
                                         name);
            else if (used + 6 < sizeof lacking)
                used += (size_t)snprintf(lacking + used, sizeof lacking - used, ", ...");
            missing++;
            continue;
        }
        lw_column *column = &table->columns[columns[k]];
        column->wanted = true;
        if (strcmp(column->unit, quantity.unit) == 0) continue;
        snprintf(message, sizeof message,
                 "column %.90s is in \"%.20s\", and that of the model is in \"%.20s\"", name, column->unit,
                 quantity.unit);
        return fault(error, path, "give the model that the file was made with, or none", message);
    }
    if (missing == 0) return LW_OK;
    snprintf(message, sizeof message, "the file lacks %s of the model's state%s", lacking,
             missing == count ? ": it may belong to another model" : "");
    snprintf(remedy, sizeof remedy,
             "record all of the state, e.g. --record \"joint, state, ...\"; or look whether "
             "the model of the file has \"%.60s\"",
             object_of(model, first));
    return fault(error, path, remedy, message);
}

/* Fills in what motions prescribe, and brings quaternions that a file holds in fewer digits to unit
 * length. */
static lw_status complete(const lw_model *model, double t, double *q, double *v, const double *states) {
    lw_data *data;
    lw_status status = lw_data_create(model, NULL, &data);
    if (status != LW_OK) return status;
    if (lw_model_state_count(model) > 0) (void)lw_data_set_states(model, data, states);
    lw_take_state(model, data, t, q, v);
    if (model->nq) memcpy(q, data->q, (size_t)model->nq * sizeof *q);
    if (model->nv) memcpy(v, data->v, (size_t)model->nv * sizeof *v);
    lw_data_destroy(data);
    return LW_OK;
}

static lw_status take_row(lw_results_table *table, const char *path, double at, const entry *list,
                          size_t count, const int *columns, double *t, lw_error *error) {
    size_t nearest, row = find_row(table, at, &nearest);
    if (row == table->row_count) return no_row(table, path, at, nearest, error);
    *t = table->columns[0].values[row];
    for (size_t k = 0; k < count; k++) {
        const lw_column *column = &table->columns[columns[k]];
        const double value = column->values[row];
        if (!isfinite(value)) {
            char message[240];
            snprintf(message, sizeof message, "%.100s is not known at t = %.9g", column->name, *t);
            return fault(error, path, "take another row, or record the whole state", message);
        }
        *list[k].to = value;
    }
    return LW_OK;
}

lw_status lw_results_state(const char *path, const lw_model *model, double at, double *t, double *q,
                           double *v, double *states, lw_error *error) {
    if (!path || !model || !t || !lw_given(q, model->nq) || !lw_given(v, model->nv) || isinf(at) ||
        !lw_given(states, lw_model_state_count(model)))
        return lw_call_needs("the path of a results file, a model, and places for time and state", error);
    const size_t own = (size_t)lw_model_state_count(model);
    lw_results_table *table = NULL;
    const size_t most = (size_t)model->nq + (size_t)model->nv + own + 1;
    entry *list = calloc(most, sizeof *list);
    int *columns = calloc(most, sizeof *columns);
    double *state_q = calloc((size_t)model->nq + 1, sizeof *state_q);
    double *state_v = calloc((size_t)model->nv + 1, sizeof *state_v), time = NAN;
    double *state_own = calloc(own + 1, sizeof *state_own);
    const bool room = list && columns && state_q && state_v && state_own;
    lw_status status = room ? lw_results_table_open(path, &table, error) : lw_out_of_memory(error);
    if (status == LW_OK && strcmp(table->columns[0].name, "t") != 0)
        status = fault(error, path, "give a results file as \"linkwork run --out\" writes it",
                       "its first column is not the time t");
    if (status == LW_OK) {
        const size_t count = list_entries(model, state_q, state_v, state_own, list);
        table->columns[0].wanted = true;
        status = find_columns(model, table, path, list, count, columns, error);
        if (status == LW_OK) status = lw_results_table_read(table, error);
        if (status == LW_OK) status = take_row(table, path, at, list, count, columns, &time, error);
    }
    if (status == LW_OK && complete(model, time, state_q, state_v, state_own) != LW_OK)
        status = lw_out_of_memory(error);
    if (status == LW_OK) {
        *t = time;
        if (model->nq) memcpy(q, state_q, (size_t)model->nq * sizeof *q);
        if (model->nv) memcpy(v, state_v, (size_t)model->nv * sizeof *v);
        if (own) memcpy(states, state_own, own * sizeof *states);
    }
    lw_results_table_close(table);
    free(list);
    free(columns);
    free(state_q);
    free(state_v);
    free(state_own);
    return status;
}

/* --- inputs and parameters ------------------------------------------------------------------------ */

/* A value that an event or a caller may have set, and its column, or -1. */
typedef struct set_value {
    bool is_input;
    int index, column;
} set_value;

static lw_status find_set_values(const lw_model *model, lw_results_table *table, const char *path,
                                 set_value *list, int *count, lw_error *error) {
    const int inputs = model->input_names.count, all = inputs + model->parameter_names.count;
    *count = 0;
    for (int k = 0; k < all; k++) {
        const bool input = k < inputs;
        const int index = input ? k : k - inputs;
        char name[LW_QUANTITY_NAME];
        lw_state_quantity quantity;
        lw_quantity_make(model, input ? LW_Q_INPUT : LW_Q_PARAMETER, index, 0, &quantity);
        lw_quantity_print(model, &quantity, name);
        const bool by_event = lw_model_event_sets(model, input ? LW_SET_INPUT : LW_SET_PARAMETER, index);
        /* Nobody but an event sets an input whose default is an expression, such as a table of --input, and a
         * parameter that none sets is the model's. */
        if (!by_event && (!input || isnan(model->input_defaults[index]))) continue;
        const int column = lw_results_table_column(table, name);
        if (column >= 0) {
            table->columns[column].wanted = true;
            list[(*count)++] = (set_value){input, index, column};
        } else if (by_event) {
            char message[200];
            snprintf(
                message, sizeof message,
                "the file lacks %.100s, %s that an event of the model sets, so that its value is not known",
                name, input ? "an input" : "a parameter");
            return fault(error, path, "record it, e.g. --record \"joint, state, input, parameter, ...\"",
                         message);
        }
    }
    return LW_OK;
}

/* Does the default of the input, an expression, give this value in the state? */
static bool is_default(const lw_model *model, lw_data *data, double t, int input, double value) {
    const lw_quantity_source source = {.t = t};
    lw_values_compute(model, data, t, &source, &model->values.for_all);
    return fabs(data->computed[input] - value) <= 1e-12 * fabs(value);
}

lw_status lw_results_values(const char *path, const lw_model *model, double t, const double *q,
                            const double *v, const double *states, double *inputs, double *parameters,
                            lw_error *error) {
    if (!path || !model || isnan(t) || !lw_given(q, model->nq) || !lw_given(v, model->nv) ||
        !lw_given(states, lw_model_state_count(model)) || !lw_given(inputs, model->input_names.count) ||
        !lw_given(parameters, model->parameter_names.count))
        return lw_call_needs("the path of a results file, a model, a state, and places for the values",
                             error);
    const int input_count = model->input_names.count, parameter_count = model->parameter_names.count;
    for (int k = 0; k < input_count; k++) inputs[k] = model->input_defaults[k];
    for (int k = 0; k < parameter_count; k++) parameters[k] = model->parameter_values[k];
    lw_results_table *table = NULL;
    lw_data *data = NULL;
    int count = 0;
    set_value *list = calloc((size_t)(input_count + parameter_count + 1), sizeof *list);
    lw_status status = list ? lw_data_create(model, NULL, &data) : LW_ERROR_MEMORY;
    if (status == LW_ERROR_MEMORY) (void)lw_out_of_memory(error);
    if (status == LW_OK) status = lw_results_table_open(path, &table, error);
    if (status == LW_OK) status = find_set_values(model, table, path, list, &count, error);
    if (status == LW_OK) table->columns[0].wanted = true;
    if (status == LW_OK && count > 0) status = lw_results_table_read(table, error);
    if (status == LW_OK && count > 0) {
        size_t nearest, row = find_row(table, t, &nearest);
        if (row == table->row_count) status = no_row(table, path, t, nearest, error);
        lw_data_set_values(model, data, NULL, states);
        lw_take_state(model, data, t, q, v);
        lw_velocities(model, data);
        lw_world_poses(model, data);
        for (int k = 0; k < count && status == LW_OK; k++) {
            const double value = table->columns[list[k].column].values[row];
            const int index = list[k].index;
            if (!isfinite(value)) continue; /* Earlier rows of a file that was gone on with may lack it. */
            if (!list[k].is_input)
                parameters[index] = value;
            else if (!isnan(model->input_defaults[index]) || !is_default(model, data, t, index, value))
                inputs[index] = value;
        }
    }
    lw_results_table_close(table);
    lw_data_destroy(data);
    free(list);
    return status;
}

/* --- going on ------------------------------------------------------------------------------------- */

/* The value of a column of this name in a row; NAN if there is none. */
static double value_in(const lw_results_table *table, const char *name, size_t row) {
    int column = lw_results_table_column(table, name);
    return column >= 0 && table->columns[column].values ? table->columns[column].values[row] : NAN;
}

static lw_status lacks_work(const char *path, const char *name, lw_error *error) {
    char message[300], remedy[300];
    snprintf(message, sizeof message, "the file lacks %.150s, so that the work since the start is not known",
             name);
    snprintf(remedy, sizeof remedy,
             "record it from the start on, e.g. --record \"joint, state, input, parameter, %.150s\"", name);
    return fault(error, path, remedy, message);
}

lw_status lw_results_works(const char *path, const lw_model *model, double t, double *works,
                           lw_error *error) {
    if (!path || !model || isnan(t) || !lw_given(works, model->force_count))
        return lw_call_needs("the path of a results file, a model, a time, and places for the works", error);
    lw_results_table *table = NULL;
    lw_status status = lw_results_table_open(path, &table, error);
    for (int pass = 0; pass < 2 && status == LW_OK; pass++) {
        size_t nearest, row = 0;
        if (pass == 1) {
            status = lw_results_table_read(table, error);
            if (status == LW_OK) row = find_row(table, t, &nearest);
            if (status == LW_OK && row == table->row_count) status = no_row(table, path, t, nearest, error);
        }
        table->columns[0].wanted = true;
        for (int k = 0; k < model->force_count && status == LW_OK; k++) {
            lw_state_quantity work;
            char name[LW_QUANTITY_NAME];
            lw_quantity_make(model, LW_Q_FORCE, k, LW_FORCE_WORK, &work);
            lw_quantity_print(model, &work, name);
            const int column = lw_results_table_column(table, name);
            if (column >= 0) table->columns[column].wanted = true;
            const double value = pass == 1 ? value_in(table, name, row) : 0;
            works[k] = isfinite(value) ? value : 0;
            if (!isfinite(value) && lw_outputs_use_work(model, k)) status = lacks_work(path, name, error);
        }
    }
    lw_results_table_close(table);
    return status;
}

lw_status lw_results_go_on(lw_results *results, const char *path, double until, lw_ledger *ledger, long *rows,
                           lw_error *error) {
    if (!path || isnan(until))
        return lw_call_needs("the path of a results file, and the time until which its rows are taken",
                             error);
    lw_results_table *table = NULL;
    lw_status status = lw_results_table_open(path, &table, error);
    if (status == LW_OK) {
        for (size_t k = 0; k < table->column_count; k++) table->columns[k].wanted = true;
        status = lw_results_table_read(table, error);
    }
    size_t nearest, last = 0;
    if (status == LW_OK) {
        last = find_row(table, until, &nearest);
        if (last == table->row_count) status = no_row(table, path, until, nearest, error);
    }
    if (status == LW_OK && ledger)
        *ledger = (lw_ledger){.kinetic = value_in(table, "kinetic", last),
                              .potential = value_in(table, "potential", last),
                              .drives = value_in(table, "drives", last),
                              .forces = value_in(table, "forces", last),
                              .dissipation = value_in(table, "dissipation", last),
                              .unaccounted = value_in(table, "unaccounted", last)};
    if (status == LW_OK && rows) *rows = (long)last + 1;
    if (status == LW_OK && results) {
        const char *lacking = lw_results_lacking_work(results, table, last);
        status =
            lacking ? lacks_work(path, lacking, error) : lw_results_copy(results, table, last + 1, error);
        const double t = status == LW_OK ? table->columns[0].values[last] : -INFINITY;
        for (size_t k = 0; k < table->event_count && status == LW_OK; k++)
            if (table->events[k].t <= t)
                status = lw_results_event(results, table->events[k].t, table->events[k].name);
    }
    lw_results_table_close(table);
    return status;
}

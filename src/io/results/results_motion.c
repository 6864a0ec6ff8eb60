/* results_motion.c - a motion from the columns of a file: CSV with a line of names, or results of either
 * format.
 *
 * Columns have the names of results files. A joint's own name stands for its only coordinate. Columns that
 * are no coordinate, speed, acceleration, user state or input of the model are left alone.
 */
#include "io/results/read_results.h"
#include "io/table_file.h"
#include "model/compiled_model.h"
#include "model/quantity/quantity.h"

#include <linkwork/inverse.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kept_motion {
    lw_motion_table motion; /* first, so that a motion is one of these */
    double *t, *q, *v, *vdot, *states, *inputs;
} kept_motion;

static lw_status fault(lw_error *error, const char *path, const char *remedy, const char *message) {
    (void)lw_fail(error, LW_ERROR_FILE, NULL, remedy, "%s", message);
    if (error) snprintf(error->file, sizeof error->file, "%s", path);
    return LW_ERROR_FILE;
}

/* A place of a motion, and the column that fills it. */
typedef struct place {
    double *first;
    size_t stride;
    int column;
} place;

/* The column of a quantity, by its name or `other`, or -1; *factor converts it to SI units. */
static lw_status find_column(const lw_model *model, lw_results_table *table, const char *path,
                             lw_quantity_kind kind, int object, int component, const char *other, int *column,
                             lw_error *error) {
    char name[LW_QUANTITY_NAME], message[256];
    lw_state_quantity quantity;
    lw_quantity_make(model, kind, object, component, &quantity);
    lw_quantity_print(model, &quantity, name);
    *column = lw_results_table_column(table, name);
    if (*column < 0 && other) *column = lw_results_table_column(table, other);
    if (*column < 0) return LW_OK;
    const char *unit = table->columns[*column].unit;
    table->columns[*column].wanted = true;
    if (unit[0] == 0 || strcmp(unit, quantity.unit) == 0) return LW_OK;
    snprintf(message, sizeof message, "column %.90s is in \"%.20s\", and the motion is read in \"%.20s\"",
             table->columns[*column].name, unit, quantity.unit);
    return fault(error, path, "convert the column, e.g. give angles in rad", message);
}

static lw_status find_places(const lw_model *model, lw_results_table *table, const char *path, kept_motion *m,
                             place *places, size_t *count, lw_error *error) {
    lw_status status = LW_OK;
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    *count = 0;
    for (int j = 0; j < model->joint_count && status == LW_OK; j++) {
        const lw_joint_entry *joint = &model->joints[j];
        if (joint->info.cut) continue;
        const char *own = joint->joint.nq == 1 ? joint->name : NULL;
        for (int level = 0; level < 3; level++)
            for (int k = 0; k < (level ? joint->joint.nv : joint->joint.nq) && status == LW_OK; k++) {
                int column;
                static const lw_quantity_kind kinds[] = {LW_Q_COORDINATE, LW_Q_SPEED, LW_Q_ACCELERATION};
                status = find_column(model, table, path, kinds[level], j, k, level == 0 ? own : NULL, &column,
                                     error);
                double *to = level == 0   ? m->q + joint->info.q + k
                             : level == 1 ? m->v + joint->info.v + k
                                          : m->vdot + joint->info.v + k;
                if (column >= 0) places[(*count)++] = (place){to, level ? nv : nq, column};
            }
    }
    if (status == LW_OK && *count == 0)
        return fault(error, path, "name columns as results do: t, crank.q, crank.v",
                     "no column is a coordinate of the model");
    for (int k = 0; k < model->values.state_count && status == LW_OK; k++) {
        int column;
        status = find_column(model, table, path, LW_Q_STATE, k, 0, NULL, &column, error);
        if (column >= 0)
            places[(*count)++] = (place){m->states + k, (size_t)model->values.state_count, column};
    }
    for (int k = 0; k < model->values.input_count && status == LW_OK; k++) {
        int column = -1; /* Others follow from the model, which may be another than that of the file. */
        if (lw_model_event_sets(model, LW_SET_INPUT, k))
            status = find_column(model, table, path, LW_Q_INPUT, k, 0, NULL, &column, error);
        if (column >= 0)
            places[(*count)++] = (place){m->inputs + k, (size_t)model->values.input_count, column};
    }
    return status;
}

static bool reserve(const lw_model *model, size_t rows, kept_motion *m) {
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv, ns = (size_t)model->values.state_count,
                 ni = (size_t)model->values.input_count;
    m->t = calloc(rows + 1, sizeof(double));
    m->q = calloc(rows * nq + 1, sizeof(double));
    m->v = calloc(rows * nv + 1, sizeof(double));
    m->vdot = calloc(rows * nv + 1, sizeof(double));
    m->states = calloc(rows * ns + 1, sizeof(double));
    m->inputs = calloc(rows * ni + 1, sizeof(double));
    if (!m->t || !m->q || !m->v || !m->vdot || !m->states || !m->inputs) return false;
    for (size_t k = 0; k < rows * nq; k++) m->q[k] = NAN;
    for (size_t k = 0; k < rows * nv; k++) m->v[k] = m->vdot[k] = NAN;
    for (size_t k = 0; k < rows * ns; k++) m->states[k] = NAN;
    for (size_t k = 0; k < rows * ni; k++) m->inputs[k] = NAN;
    m->motion = (lw_motion_table){.samples = (int)rows, .t = m->t, .q = m->q, .v = m->v, .vdot = m->vdot};
    return true;
}

static void release(kept_motion *m) {
    free(m->t);
    free(m->q);
    free(m->v);
    free(m->vdot);
    free(m->states);
    free(m->inputs);
}

/* The column of a parameter in a results file; -1 if there is none. */
static int parameter_column(const lw_model *model, const lw_results_table *table, int parameter) {
    char name[LW_QUANTITY_NAME];
    lw_state_quantity quantity;
    lw_quantity_make(model, LW_Q_PARAMETER, parameter, 0, &quantity);
    lw_quantity_print(model, &quantity, name);
    return lw_results_table_column(table, name);
}

/* Parameters are the model's here: a file in which an event has given one another value tells of another
 * mechanism from there on. */
static lw_status check_parameters(const lw_model *model, const lw_results_table *table, const char *path,
                                  lw_error *error) {
    for (int p = 0; p < model->parameter_names.count; p++) {
        const int column = parameter_column(model, table, p);
        for (size_t i = 0; column >= 0 && i < table->row_count; i++) {
            const double value = table->columns[column].values[i];
            char message[200], remedy[200];
            if (!isfinite(value) || value == model->parameter_values[p]) continue;
            snprintf(message, sizeof message, "parameter %.60s is %.9g at t = %.9g, and %.9g in the model",
                     model->parameter_names.names[p], value, table->columns[0].values[i],
                     model->parameter_values[p]);
            snprintf(
                remedy, sizeof remedy,
                "take the rows in which it has one value, with --set %.60s=%.9g, or leave the column away",
                model->parameter_names.names[p], value);
            return fault(error, path, remedy, message);
        }
    }
    return LW_OK;
}

lw_status lw_motion_table_read(const char *path, const lw_model *model, lw_motion_table **motion,
                               lw_error *error) {
    if (motion) *motion = NULL;
    if (!path || !model || !motion)
        return lw_call_needs("the path of a file, a model and a pointer for the motion", error);
    lw_results_table *table = NULL;
    kept_motion *m = calloc(1, sizeof *m);
    const size_t most = (size_t)model->nq + 2 * (size_t)model->nv + (size_t)model->values.state_count +
                        (size_t)model->values.input_count + 1;
    place *places = calloc(most, sizeof *places);
    size_t count = 0;
    lw_status status = m && places ? lw_results_table_open(path, &table, error) : lw_out_of_memory(error);
    if (status == LW_OK && strcmp(table->columns[0].name, "t") != 0)
        status =
            fault(error, path, "begin with a column t, in seconds", "its first column is not the time t");
    /* Columns first, by places in a motion without rows, which are given their memory once rows are known. */
    kept_motion none = {0};
    if (status == LW_OK && !reserve(model, 1, &none)) status = lw_out_of_memory(error);
    if (status == LW_OK) status = find_places(model, table, path, &none, places, &count, error);
    release(&none);
    const bool results = status == LW_OK && lw_is_results(path);
    for (int p = 0; results && p < model->parameter_names.count; p++) {
        const int column = parameter_column(model, table, p);
        if (column >= 0) table->columns[column].wanted = true;
    }
    if (status == LW_OK) {
        table->columns[0].wanted = true;
        status = lw_results_table_read(table, error);
    }
    if (results && status == LW_OK) status = check_parameters(model, table, path, error);
    if (status == LW_OK && (table->row_count < 1 || table->row_count > 100000000))
        status = fault(error, path, "give rows with times and coordinates", "it has no rows");
    if (status == LW_OK && !reserve(model, table->row_count, m)) status = lw_out_of_memory(error);
    if (status == LW_OK) status = find_places(model, table, path, m, places, &count, error);
    for (size_t i = 0; status == LW_OK && i < table->row_count; i++) {
        char message[200];
        m->t[i] = table->columns[0].values[i];
        if (!isfinite(m->t[i]) || (i > 0 && m->t[i] < m->t[i - 1])) {
            snprintf(message, sizeof message, "in row %zu the time is not a number that ascends", i + 1);
            status = fault(error, path, "sort the rows by time", message);
        }
        for (size_t k = 0; status == LW_OK && k < count; k++) {
            const lw_column *column = &table->columns[places[k].column];
            places[k].first[i * places[k].stride] = column->values[i];
            if (isfinite(column->values[i])) continue;
            snprintf(message, sizeof message, "%.100s is not known at t = %.9g", column->name, m->t[i]);
            status = fault(error, path, "give a number in every row", message);
        }
    }
    bool states = model->values.state_count > 0;
    for (int k = 0; status == LW_OK && k < model->values.state_count; k++)
        states = states && isfinite(m->states[k]);
    if (status == LW_OK) {
        m->motion.states = states ? m->states : NULL;
        m->motion.inputs = model->values.input_count ? m->inputs : NULL;
        *motion = &m->motion;
    } else if (m) {
        release(m);
        free(m);
    }
    lw_results_table_close(table);
    free(places);
    return status;
}

void lw_motion_table_destroy(lw_motion_table *motion) {
    if (!motion) return;
    kept_motion *m = (kept_motion *)motion;
    release(m);
    free(m);
}

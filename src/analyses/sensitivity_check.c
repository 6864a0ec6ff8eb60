/* sensitivity_check.c - sensitivities once more, by differences of whole runs.
 *
 *   D_4 = sum of w_k y(t; p + h_k),   D_2 of lower order from the same runs, |D_4 - D_2| its error  (10)
 *
 * The runs are those of the models of parameter_changes.c, so that nothing but the integrator and the
 * recursions themselves is shared with the variational equations. Where something makes sensitivities jump
 * that the equations do not know of, the two disagree, and no answer is given.
 *
 * Source   docs/theory/sensitivity.md, (10), (11).
 * Cost     four runs per parameter.
 */
#include "analyses/sensitivity_parts.h"

#include <math.h>
#include <string.h>

/* What is allowed relative to the largest derivative of a column. */
static const double agreed = 1e-3;
/* Derivatives stand out from the noise of runs where they are so many times as large. */
static const double clear = 100;

typedef struct collector {
    const lw_sensitivity_work *work;
    lw_record *record;
    double *rows, *row;
    int count, samples;
    size_t columns;
} collector;

static bool collect(const lw_sample *sample, void *context) {
    collector *c = context;
    if (c->count >= c->samples || lw_record_row(c->record, sample, c->row) != LW_OK) return false;
    lw_sensitivity_same_signs(c->work, c->work->values + (size_t)c->count * c->columns, c->row + 1);
    memcpy(c->rows + (size_t)c->count++ * c->columns, c->row + 1, c->columns * sizeof *c->row);
    return true;
}

static lw_status run_variant(lw_sensitivity_work *w, int j, int k, collector *c, lw_error *error) {
    const lw_variant_model *at = &w->changes[j]->at[k];
    lw_run_options options = w->run;
    options.inputs = at->inputs;
    options.observe = collect, options.context = c, c->record = w->records[j * LW_VARIANTS + k];
    options.want_accelerations = lw_record_accelerations(c->record);
    options.want_reactions = lw_record_reactions(c->record);
    c->count = 0;
    lw_status status = lw_simulate(at->model, &options, NULL, NULL, NULL, error);
    if (status == LW_OK && c->count < c->samples)
        status = lw_fail(error, LW_ERROR_SINGULAR, w->changes[j]->name, NULL,
                         "the run with %s = %.9g has ended before its time", w->changes[j]->name,
                         w->changes[j]->value + at->offset);
    return status;
}

/* The formula of lower order: the middle pair of central differences, or three points on one side. */
static double low_weight(const lw_parameter_changes *c, int k) {
    static const double central[] = {0, -0.5, 0.5, 0}, sided[] = {-1.5, 2, -0.5, 0, 0};
    return (c->central ? central[k] : sided[k]) / c->step;
}

/* The size with which values of a column are compared: its own, that of columns in the same unit; of angles
 * and lengths at least a radian and the longest arm, of others a trace of the weight. So what is zero but for
 * rounding is not compared digit by digit. */
static double size_of(const lw_sensitivity_work *w, size_t column) {
    const size_t columns = (size_t)w->result.columns;
    const char *unit = w->result.units[column];
    const double length = lw_longest_arm(w->model), rate = 1 / (w->run.end - w->run.start);
    double mass = 0;
    for (int i = 0; i < lw_model_body_count(w->model); i++) mass += lw_model_body_mass(w->model, i);
    const double weight = mass * (lw_v3_norm(w->model->gravity) + length * rate * rate) * fmax(1, length);
    double size = strcmp(unit, "rad") == 0     ? 1
                  : strcmp(unit, "m") == 0     ? length
                  : strcmp(unit, "rad/s") == 0 ? rate
                  : strcmp(unit, "m/s") == 0   ? length * rate
                                               : 1e-3 * weight;
    for (size_t c = 0; c < columns; c++)
        for (size_t s = 0; s < (size_t)w->samples; s++)
            size = fmax(size, fabs(w->values[s * columns + c]) * (strcmp(unit, w->result.units[c]) == 0));
    return size;
}

/* One column of one parameter. noise: what the tolerance of the runs leaves in differences. */
static lw_status compare(lw_sensitivity_work *w, int j, size_t column, const double *low, lw_error *error) {
    const lw_parameter_changes *c = w->changes[j];
    const size_t columns = (size_t)w->result.columns, m = (size_t)w->m;
    double most = 0, off = 0, uncertain = 0, size = size_of(w, column), at[3] = {0};
    for (size_t s = 0; s < (size_t)w->samples; s++) {
        const size_t place = (s * m + (size_t)j) * columns + column;
        const double x = w->derivatives[place], y = w->differences[place];
        most = fmax(most, fmax(fabs(x), fabs(y)));
        uncertain = fmax(uncertain, fabs(y - low[s * columns + column]));
        if (!(fabs(x - y) <= off)) off = fabs(x - y), at[0] = w->t[s], at[1] = x, at[2] = y;
    }
    const double noise = 1e2 * fmax(w->run.tolerance, 1e-12) * size / c->step;
    if (!(off <= agreed * most + 10 * uncertain + noise))
        return lw_fail(
            error, LW_ERROR_SINGULAR, lw_record_name(w->record, column + 1),
            "let no forces jump together at instants that depend on the state or the parameter, and "
            "follow the motion more exactly (a smaller tolerance or step)",
            "its derivative with respect to %s is %.9g by the variational equations and %.9g by "
            "differences of runs at t = %.9g; neither is given",
            c->name, at[1], at[2], at[0]);
    most = fmax(most, clear * noise); /* A column that hardly changes says little. */
    if (!(most > 0)) return LW_OK;
    w->result.uncertainty = fmax(w->result.uncertainty, uncertain / most);
    if (off / most > w->result.disagreement)
        w->result.disagreement = off / most, w->result.disagreement_column = w->result.names[column];
    return LW_OK;
}

lw_status lw_sensitivity_check(lw_sensitivity_work *w, lw_error *error) {
    const size_t columns = (size_t)w->result.columns, m = (size_t)w->m, samples = (size_t)w->samples;
    collector c = {.work = w, .samples = w->samples, .columns = columns};
    c.rows = LW_NEW(w->arena, double, samples *columns + 1);
    c.row = LW_NEW(w->arena, double, columns + 2);
    double *low = LW_NEW(w->arena, double, samples *columns + 1);
    lw_status status = lw_arena_failed(w->arena) ? lw_out_of_memory(error) : LW_OK;
    for (int j = 0; j < w->m && status == LW_OK; j++) {
        memset(low, 0, samples * columns * sizeof *low);
        for (int k = 0; k < w->changes[j]->count && status == LW_OK; k++) {
            status = run_variant(w, j, k, &c, error);
            const double weight = lw_parameter_weight(w->changes[j], k), less = low_weight(w->changes[j], k);
            for (size_t s = 0; s < samples && status == LW_OK; s++)
                for (size_t i = 0; i < columns; i++) {
                    const double value = c.rows[s * columns + i];
                    w->differences[(s * m + (size_t)j) * columns + i] += weight * value;
                    low[s * columns + i] += less * value;
                }
        }
        for (size_t i = 0; i < columns && status == LW_OK; i++) status = compare(w, j, i, low, error);
    }
    return status;
}

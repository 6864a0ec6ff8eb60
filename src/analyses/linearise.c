/* linearise.c - A, B, C and D of a mechanism near a state, in independent coordinates.
 *
 *   dq = Nq dz,   dv = Nv du + Y Nq dz,   dz' = (dv - w x dq)_I,   du' = (d vdot)_J                    (5-8)
 *
 * Nq and Nv are bases of the motions and of the speeds that closures and constraints admit, the identity in
 * the rows of the independent coordinates I and speeds J; they differ where wheels roll. Y keeps the speeds
 * admissible where the mechanism is displaced.
 *
 * Source   docs/theory/linearise.md; derivatives by solver_derivatives.c.
 * Cost     that of the derivatives, and O(states^3). Allocates.
 */
#include "analyses/linear_massless.h"
#include "analyses/linear_outputs.h"
#include "analyses/linear_parts.h"
#include "linalg/eigen.h"
#include "model/signals.h"
#include <linkwork/assemble.h>
#include <linkwork/simulate.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lw_linearise_defaults(const lw_model *model, lw_linearise_options *options) {
    if (!options) return;
    (void)model;
    *options = (lw_linearise_options){0};
}

/* --- names ----------------------------------------------------------------------------------------- */

/* The name of a coordinate (order 0) or speed (1) of the tree by its number in v. */
void lw_state_name(const lw_model *model, int speed, int order, char *text, size_t size) {
    int body = 1;
    while (body < model->body_count && model->links[body + 1].v <= speed) body++;
    while (model->links[body].joint.nv == 0) body--;
    const lw_joint_entry *entry = &model->joints[model->bodies[body].joint_index];
    const int k = speed - model->links[body].v;
    const char *unit;
    if (order == 0 && lw_joint_coordinate_of_speed(entry->info.type, k) < 0)
        snprintf(text, size, "%s.turn.%c", entry->name,
                 "xyz"[k - lw_joint_describe(entry->info.type)->slides]);
    else
        snprintf(text, size, "%s.%s", entry->name,
                 lw_joint_column(entry->info.type, entry->joint.nv, order, k, &unit));
}

static int find_speed(const lw_model *model, const char *name) {
    const int joint = lw_names_find(&model->joint_names, name);
    if (joint >= 0) {
        const lw_joint_info *info = &model->joints[joint].info;
        return !info->cut && model->joints[joint].joint.nv == 1 ? info->v : -1;
    }
    for (int v = 0; v < model->nv; v++)
        for (int order = 0; order < 2; order++) {
            char text[256];
            lw_state_name(model, v, order, text, sizeof text);
            if (strcmp(text, name) == 0) return v;
        }
    return -1;
}

/* --- bases ----------------------------------------------------------------------------------------- */

/* The speeds that stand for the columns of an admissible basis N (free x f, column by column): those of
 * `named`, or if it is NULL those that move most. Then N becomes the identity in their rows. own, named:
 * indices of d->free. */
static lw_status choose(lw_linear_work *w, int f, double *N, const int *named, int *own, lw_error *error) {
    const lw_derivatives *d = w->derivatives;
    const int nf = d->free_count;
    const double length = lw_longest_arm(d->model);
    double *turned = w->square, *block = w->block;
    if (f == 0) return LW_OK;
    for (int i = 0; i < nf; i++) { /* a basis of dimensionless speeds, transposed */
        const double unit = w->slides[d->free[i]] ? length : 1;
        for (int j = 0; j < f; j++) turned[j + i * f] = N[i + j * nf] / unit;
    }
    lw_qr_factor(w->factors, f, nf, turned, w->order, 0);
    for (int j = 0; j < f; j++) own[j] = w->order[j];
    for (int a = 1; a < f; a++) /* in the order of the speeds */
        for (int b = a; b > 0 && own[b - 1] > own[b]; b--) {
            const int keep = own[b];
            own[b] = own[b - 1], own[b - 1] = keep;
        }
    for (int j = 0; named && j < f; j++) own[j] = named[j];
    for (int i = 0; i < f; i++)
        for (int j = 0; j < f; j++)
            block[i + j * f] = N[own[i] + j * nf] / (w->slides[d->free[own[i]]] ? length : 1);
    /* N := N block^-1 by the factors of block': X block = N, so block'X' = N'. */
    for (int i = 0; i < f; i++)
        for (int j = 0; j < f; j++) turned[j + i * f] = block[i + j * f];
    if (lw_qr_factor(w->factors, f, f, turned, w->order, 1e-6) < f)
        return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(d->model),
                       "name others, or none: then those that move most are taken",
                       "the named coordinates do not determine the position of the mechanism");
    double *right = w->block;
    for (int i = 0; i < nf; i++)
        for (int j = 0; j < f; j++) right[j + i * f] = N[i + j * nf];
    lw_qr_apply(w->factors, true, f, f, turned, nf, right);
    lw_qr_triangle(false, f, f, turned, nf, right, f);
    for (int i = 0; i < nf; i++)
        for (int j = 0; j < f; j++) N[i + w->order[j] * nf] = right[j + i * f];
    for (int j = 0; j < f; j++) { /* Columns so far belong to dimensionless coordinates. */
        const double unit = w->slides[d->free[own[j]]] ? length : 1;
        for (int i = 0; i < nf; i++) N[i + j * nf] /= unit;
        for (int i = 0; i < f; i++) N[own[i] + j * nf] = i == j;
    }
    return LW_OK;
}

/* Admissible motions: those of all rows but slip, which has a velocity level only. */
static int motions(lw_linear_work *w, double *N) {
    const lw_derivatives *d = w->derivatives;
    const int nf = d->free_count, nv = d->model->nv;
    int m = 0, slips = 0, rank = 0;
    for (int r = 0; d->rows && r < d->rows->count; r++) slips += lw_row_is_slip(d->model, &d->rows->rows[r]);
    if (d->rows && slips == 0) {
        memcpy(N, d->N, (size_t)nf * (size_t)d->freedom * sizeof *N);
        return d->freedom;
    }
    for (int r = 0; d->rows && r < d->rows->count; r++) {
        if (lw_row_is_slip(d->model, &d->rows->rows[r])) continue;
        for (int i = 0; i < nf; i++)
            w->square[i + m * nf] = d->tangent->row_unit[r] * d->tangent->unit[d->free[i]] *
                                    d->G[(size_t)r * (size_t)nv + (size_t)d->free[i]];
        m++;
    }
    if (m > 0) rank = lw_qr_factor(w->factors, nf, m, w->square, w->order, LW_RANK_TOLERANCE);
    const int f = nf - rank;
    memset(N, 0, (size_t)nf * (size_t)f * sizeof *N);
    for (int j = 0; j < f; j++) N[rank + j + j * nf] = 1;
    if (m > 0) {
        lw_qr_apply(w->factors, false, nf, m, w->square, f, N);
        for (int i = 0; i < nf; i++)
            for (int j = 0; j < f; j++) N[i + j * nf] *= d->tangent->unit[d->free[i]];
    }
    return f;
}

static int speeds(lw_linear_work *w, double *N) {
    const lw_derivatives *d = w->derivatives;
    const int nf = d->free_count;
    if (d->rows) {
        memcpy(N, d->N, (size_t)nf * (size_t)d->freedom * sizeof *N);
        return d->freedom;
    }
    memset(N, 0, (size_t)nf * (size_t)nf * sizeof *N);
    for (int i = 0; i < nf; i++) N[i + i * nf] = 1;
    return nf;
}

static lw_status take_names(lw_linear_work *w, const lw_linearise_options *options, lw_error *error) {
    const lw_derivatives *d = w->derivatives;
    if (!options->coordinates) return LW_OK;
    if (options->coordinate_count != w->coordinates)
        return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(d->model), "name as many, or none",
                       "%d coordinates are named, and the mechanism has %d that are independent",
                       options->coordinate_count, w->coordinates);
    if (w->coordinates != w->speeds)
        return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(d->model), "name none",
                       "independent coordinates cannot be named where wheels roll: there are fewer speeds");
    w->named = LW_NEW(w->arena, int, w->coordinates + 1);
    if (!w->named) return lw_out_of_memory(error);
    for (int k = 0; k < w->coordinates; k++) {
        const char *name = options->coordinates[k];
        const int speed = name ? find_speed(d->model, name) : -1;
        int at = -1;
        for (int i = 0; i < d->free_count; i++)
            if (d->free[i] == speed) at = i;
        if (at < 0)
            return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(d->model),
                           "name a joint of the tree with one coordinate, or a coordinate as in results",
                           "\"%s\" is no free coordinate of the mechanism", name ? name : "");
        for (int i = 0; i < k; i++)
            if (w->named[i] == at)
                return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(d->model), "name each once",
                               "coordinate \"%s\" is named twice", name);
        w->named[k] = at;
    }
    return LW_OK;
}

/* --- the maps Lq and Lv ------------------------------------------------------------------------------ */

/* dq = Lq x and dv = Lv x, nv x n row by row. */
static void make_maps(lw_linear_work *w) {
    const lw_derivatives *d = w->derivatives;
    const int nf = d->free_count, n = w->n, fq = w->coordinates, fv = w->speeds;
    const size_t wide = (size_t)n;
    for (int i = 0; i < nf; i++) {
        double *Lq = w->Lq + (size_t)d->free[i] * wide, *Lv = w->Lv + (size_t)d->free[i] * wide;
        for (int j = 0; j < fq; j++) Lq[j] = w->Nq[i + j * nf];
        for (int j = 0; j < fv; j++) Lv[fq + j] = w->Nv[i + j * nf];
    }
    if (!d->rows) return;
    lw_derivatives_speeds(w->derivatives, w->square); /* Y, free x nv column by column */
    for (int j = 0; j < fq; j++) {
        double *y = w->block;
        for (int i = 0; i < nf; i++) {
            y[i] = 0;
            for (int k = 0; k < nf; k++) y[i] += w->square[i + d->free[k] * nf] * w->Nq[k + j * nf];
        }
        for (int i = 0; i < nf; i++) { /* Independent speeds stay. */
            double value = y[i];
            for (int k = 0; k < fv; k++) value -= w->Nv[i + k * nf] * y[w->own_v[k]];
            w->Lv[(size_t)d->free[i] * wide + (size_t)j] = value;
        }
    }
    for (int k = 0; k < fv; k++)
        for (int j = 0; j < fq; j++) w->Lv[(size_t)d->free[w->own_v[k]] * wide + (size_t)j] = 0;
}

/* The row of x (n) and of the inputs of a row of derivatives (columns of d->tree). */
static void reduce_row(const lw_linear_work *w, const double *row, double *of_x, double *of_u) {
    const lw_model *model = w->derivatives->model;
    const int nv = model->nv, n = w->n, inputs = model->values.input_count;
    for (int j = 0; j < n; j++) of_x[j] = 0;
    for (int k = 0; k < nv; k++) {
        const double by_q = row[k], by_v = row[nv + k];
        for (int j = 0; j < n && (by_q != 0 || by_v != 0); j++)
            of_x[j] += by_q * w->Lq[(size_t)k * (size_t)n + (size_t)j] +
                       by_v * w->Lv[(size_t)k * (size_t)n + (size_t)j];
    }
    for (int k = 0; k < model->values.state_count; k++)
        of_x[w->coordinates + w->speeds + k] += row[2 * nv + inputs + k];
    for (int k = 0; k < inputs; k++) of_u[k] = row[2 * nv + k];
}

/* dz' = (dv - w x dq)_I */
static void coordinate_rows(lw_linear_work *w) {
    const lw_derivatives *d = w->derivatives;
    const lw_model *model = d->model;
    const size_t n = (size_t)w->n;
    for (int c = 0; c < w->coordinates; c++) {
        const int speed = d->free[w->own_q[c]];
        double *A = w->A + (size_t)c * n;
        for (size_t j = 0; j < n; j++) A[j] = w->Lv[(size_t)speed * n + j];
        w->rates[c] = d->data->v[speed];
        const lw_motion_column *m = &d->tree->motions[speed];
        const lw_link *link = &model->links[m->body];
        const int slides = lw_joint_describe(link->joint.type)->slides, k = m->component - slides;
        if (lw_joint_coordinate_of_speed(link->joint.type, m->component) >= 0) continue;
        const int first = link->v + slides, a = (k + 1) % 3, b = (k + 2) % 3;
        const double *v = d->data->v + first;
        for (size_t j = 0; j < n; j++) /* (w x t)_k = w_a t_b - w_b t_a */
            A[j] -= v[a] * w->Lq[(size_t)(first + b) * n + j] - v[b] * w->Lq[(size_t)(first + a) * n + j];
    }
}

static lw_status not_smooth(const char *name, lw_error *error) {
    char object[160];
    snprintf(object, sizeof object, "state \"%s\"", name);
    return lw_fail(
        error, LW_ERROR_UNSUPPORTED, object,
        "let its rate depend on coordinates, positions, speeds and velocities, and take a smooth state",
        "its rate has no derivatives in this state");
}

void lw_linear_forces(lw_linear_work *w, double *A, double *B) {
    const lw_derivatives *d = w->derivatives;
    const lw_tree_derivatives *tree = d->tree;
    const int nf = d->free_count, nv = d->model->nv, columns = tree->columns, f = w->speeds, n = w->n,
              inputs = d->model->values.input_count;
    double *right = d->right, *change = d->dvdot;
    for (int c = 0; c < columns; c++) {
        double *to = right + (size_t)c * (size_t)nf, *y = change + (size_t)c * (size_t)nf;
        const double *given = d->particular + (size_t)c * (size_t)nf;
        for (int i = 0; i < nf && d->rows; i++) { /* y - Nv y_J */
            y[i] = given[i];
            for (int k = 0; k < f; k++) y[i] -= w->Nv[i + k * nf] * given[w->own_v[k]];
        }
        for (int i = 0; i < nf; i++) {
            to[i] = tree->T[(size_t)d->free[i] * (size_t)tree->stride + (size_t)c];
            for (int k = 0; k < nf && d->rows; k++)
                to[i] += tree->mass[(size_t)d->free[i] * (size_t)nv + (size_t)d->free[k]] * y[k];
        }
    }
    for (int c = 0; c < f; c++) {
        for (int k = 0; k < columns; k++) w->row[k] = 0;
        for (int i = 0; i < nf; i++) {
            const double part = w->Nv[i + c * nf];
            for (int k = 0; k < columns && part != 0; k++)
                w->row[k] -= part * right[(size_t)i + (size_t)k * (size_t)nf];
        }
        reduce_row(w, w->row, A + (size_t)c * (size_t)n, B + (size_t)c * (size_t)inputs);
    }
}

static lw_status fill(lw_linear_work *w, lw_error *error) {
    lw_derivatives *d = w->derivatives;
    lw_tree_derivatives *tree = d->tree;
    const lw_model *model = d->model;
    const lw_values *values = &model->values;
    const int nf = d->free_count, columns = tree->columns, n = w->n, inputs = values->input_count;
    double *row = w->row;
    coordinate_rows(w);
    if (d->massless) {
        const size_t at = (size_t)w->coordinates;
        lw_linear_forces(w, w->A + at * (size_t)n, w->B + at * (size_t)inputs);
        for (int c = 0; c < w->speeds; c++) w->rates[w->coordinates + c] = d->vdot[d->free[w->own_v[c]]];
    }
    for (int c = 0; c < w->speeds && !d->massless; c++) {
        for (int k = 0; k < columns; k++) row[k] = d->dvdot[(size_t)w->own_v[c] + (size_t)k * (size_t)nf];
        const int at = w->coordinates + c;
        reduce_row(w, row, w->A + (size_t)at * (size_t)n, w->B + (size_t)at * (size_t)inputs);
        w->rates[at] = d->vdot[d->free[w->own_v[c]]];
    }
    for (int i = 0; i < nf; i++) /* Joint accelerations may be outputs. */
        for (int k = 0; k < columns; k++)
            w->accelerations[(size_t)d->free[i] * (size_t)columns + (size_t)k] =
                d->dvdot[(size_t)i + (size_t)k * (size_t)nf];
    tree->accelerations = d->massless ? NULL : w->accelerations;
    tree->tolerant = true;
    lw_status status = LW_OK;
    if (values->count > 0) {
        const lw_quantity_source source = {.t = tree->t, .vdot = d->vdot};
        lw_values_compute(model, d->data, tree->t, &source, &values->for_all);
        status = lw_value_derivatives(tree, &values->for_all, error);
    }
    for (int k = 0; k < values->state_count && status == LW_OK; k++) {
        const lw_function *rate = values->functions[inputs + k];
        const int at = w->coordinates + w->speeds + k;
        memset(row, 0, (size_t)columns * sizeof *row);
        lw_function_derivatives(tree, rate, &tree->t, d->data->computed, 1, row, NULL, 0);
        if (!lw_finite(row, columns)) status = not_smooth(lw_model_state_name(model, k), error);
        reduce_row(w, row, w->A + (size_t)at * (size_t)n, w->B + (size_t)at * (size_t)inputs);
        w->rates[at] = lw_function_value(rate, &tree->t, d->data->computed);
    }
    if (model->output_names.count > 0) w->outputs = 0;
    for (int k = 0; k < model->output_names.count && status == LW_OK; k++) {
        memset(row, 0, (size_t)columns * sizeof *row);
        lw_function_derivatives(tree, model->outputs[k].function, &tree->t, d->data->computed, 1, row, NULL,
                                0);
        if (!lw_finite(row, columns)) continue;
        const int at = w->outputs++;
        w->output_of[at] = k;
        reduce_row(w, row, w->C + (size_t)at * (size_t)n, w->D + (size_t)at * (size_t)inputs);
    }
    for (int k = 0; k < w->outputs && model->output_names.count == 0; k++) {
        w->C[(size_t)k * (size_t)n + (size_t)k] = 1;
        w->shown[k] = w->own_q[k];
    }
    tree->accelerations = NULL;
    tree->tolerant = false;
    return status;
}

/* --- subspaces --------------------------------------------------------------------------------------- */

/* The dimension of the smallest subspace that contains the columns of B (n x m) and its images by A: columns
 * are made orthonormal one by one, and each new one is mapped by A in its turn. A is n x n row by row, or to
 * be used transposed; the same of B. Scaled by their sizes, what is left below 1e-9 counts as nothing. */
static int reach(lw_linear_work *w, bool transpose, int m, const double *B) {
    const int n = w->n;
    double *basis = w->subspace, *x = w->row, norm = 0;
    int count = 0;
    for (int k = 0; k < n * n; k++) norm = fmax(norm, fabs(w->A[k]));
    for (int next = -m; next < count && count < n; next++) {
        double size = 0, left = 0;
        for (int i = 0; i < n; i++) {
            x[i] = 0;
            if (next < 0)
                x[i] = transpose ? B[(size_t)(next + m) * (size_t)n + (size_t)i]
                                 : B[(size_t)i * (size_t)m + (size_t)(next + m)];
            for (int k = 0; k < n && next >= 0; k++)
                x[i] += (transpose ? w->A[k * n + i] : w->A[i * n + k]) *
                        basis[(size_t)next * (size_t)n + (size_t)k];
            size = hypot(size, x[i]);
        }
        const double scale = next < 0 ? size : fmax(size, 1e-3 * norm);
        for (int pass = 0; pass < 2; pass++)
            for (int b = 0; b < count; b++) {
                double along = 0;
                for (int i = 0; i < n; i++) along += basis[(size_t)b * (size_t)n + (size_t)i] * x[i];
                for (int i = 0; i < n; i++) x[i] -= along * basis[(size_t)b * (size_t)n + (size_t)i];
            }
        for (int i = 0; i < n; i++) left = hypot(left, x[i]);
        if (!(left > 1e-9 * scale) || scale == 0) continue;
        for (int i = 0; i < n; i++) basis[(size_t)count * (size_t)n + (size_t)i] = x[i] / left;
        count++;
    }
    return count;
}

static int by_magnitude(const void *a, const void *b) {
    const double *x = a, *y = b, d = hypot(x[0], x[1]) - hypot(y[0], y[1]);
    if (fabs(d) > 1e-12 * hypot(x[0], x[1])) return d < 0 ? -1 : 1;
    return x[1] < y[1] ? 1 : x[1] > y[1] ? -1 : 0;
}

static lw_status eigenvalues(lw_linear_work *w, lw_error *error) {
    const int n = w->n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) w->subspace[i + j * n] = w->A[i * n + j];
    if (!lw_eigen_general(n, w->subspace, w->eigenvalues, NULL))
        return lw_fail(error, LW_ERROR_SINGULAR, NULL, NULL,
                       "the eigenvalues of the linear system did not converge");
    qsort(w->eigenvalues, (size_t)n, 2 * sizeof(double), by_magnitude);
    return LW_OK;
}

/* --- the work ---------------------------------------------------------------------------------------- */

lw_status lw_linear_create(lw_linear_work *w, const lw_model *model, const lw_linearise_options *options,
                           bool massless, lw_error *error) {
    lw_solver_options solver;
    *w = (lw_linear_work){.arena = lw_arena_create(NULL)};
    if (!w->arena) return lw_out_of_memory(error);
    lw_solver_defaults(model, &solver);
    if (options->method) solver.method = options->method;
    solver.inputs = options->inputs, solver.states = options->states;
    if (options->q && options->v) solver.t = options->t, solver.q = options->q, solver.v = options->v;
    lw_status status = (massless ? lw_derivatives_create_any : lw_derivatives_create)(model, &solver, NULL,
                                                                                      &w->derivatives, error);
    if (status != LW_OK) return status;
    const lw_derivatives *d = w->derivatives;
    const size_t nv = (size_t)model->nv, m = d->rows ? (size_t)d->rows->count : 0,
                 ns = (size_t)model->values.state_count, ni = (size_t)model->values.input_count,
                 most = 2 * nv + ns, columns = (size_t)d->tree->columns,
                 no = model->output_names.count ? (size_t)model->output_names.count : nv;
    lw_arena *a = w->arena;
    w->Nq = LW_NEW(a, double, nv *nv + 1);
    w->Nv = LW_NEW(a, double, nv *nv + 1);
    w->own_q = LW_NEW(a, int, nv + 1);
    w->own_v = LW_NEW(a, int, nv + 1);
    w->order = LW_NEW(a, int, nv + m + ns + 1);
    w->output_of = LW_NEW(a, int, no + 1);
    w->slides = LW_NEW(a, bool, nv + 1);
    w->square = LW_NEW(a, double, nv *(nv + m) + 1);
    w->block = LW_NEW(a, double, nv *nv + 1);
    w->Lq = LW_NEW(a, double, nv *most + 1);
    w->Lv = LW_NEW(a, double, nv *most + 1);
    w->Uq = LW_NEW(a, double, nv *ni + 1);
    w->Uv = LW_NEW(a, double, nv *ni + 1);
    w->shown = LW_NEW(a, int, nv + 1);
    w->A = LW_NEW(a, double, most *most + 1);
    w->B = LW_NEW(a, double, most *ni + 1);
    w->C = LW_NEW(a, double, no *most + 1);
    w->D = LW_NEW(a, double, no *ni + 1);
    w->rates = LW_NEW(a, double, most + 1);
    w->eigenvalues = LW_NEW(a, double, 2 * most + 1);
    w->row = LW_NEW(a, double, columns + most + 1);
    w->subspace = LW_NEW(a, double, most *most + 1);
    w->accelerations = LW_NEW(a, double, nv *columns + 1);
    w->factors = lw_orthogonal_create((int)(nv + ns + 1), (int)(nv + ns + m + 1), false);
    if (lw_arena_failed(a) || !w->factors) return lw_out_of_memory(error);
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++)
            w->slides[model->links[i].v + k] = !lw_joint_speed_turns(model->links[i].joint.type, k);
    return LW_OK;
}

lw_status lw_linear_at(lw_linear_work *w, const lw_linearise_options *options, double t, const double *q,
                       const double *v, lw_error *error) {
    lw_derivatives *d = w->derivatives;
    const lw_model *model = d->model;
    lw_status status = d->massless ? lw_derivatives_balance(d, t, q, v, error)
                                   : lw_derivatives_evaluate(d, t, q, v, NULL, error);
    if (status != LW_OK) return status;
    w->coordinates = motions(w, w->Nq);
    w->speeds = speeds(w, w->Nv);
    w->n = w->coordinates + w->speeds + model->values.state_count;
    w->outputs = model->output_names.count ? model->output_names.count : w->coordinates;
    if (!w->named) status = take_names(w, options, error);
    if (status == LW_OK)
        status = choose(w, w->coordinates, w->Nq, w->kept_q ? w->kept_q : w->named, w->own_q, error);
    if (status == LW_OK)
        status = choose(w, w->speeds, w->Nv, w->kept_v ? w->kept_v : w->named, w->own_v, error);
    if (status != LW_OK) return status;
    const size_t n = (size_t)w->n, nv = (size_t)model->nv, ni = (size_t)model->values.input_count;
    memset(w->Lq, 0, nv * n * sizeof *w->Lq);
    memset(w->Lv, 0, nv * n * sizeof *w->Lv);
    memset(w->A, 0, n * n * sizeof *w->A);
    memset(w->B, 0, n * ni * sizeof *w->B);
    memset(w->C, 0, (size_t)w->outputs * n * sizeof *w->C);
    memset(w->D, 0, (size_t)w->outputs * ni * sizeof *w->D);
    make_maps(w);
    w->rolling = w->coordinates - w->speeds;
    status = fill(w, error);
    return status == LW_OK && d->massless ? lw_linear_massless(w, t, q, error) : status;
}

void lw_linear_destroy(lw_linear_work *w) {
    lw_derivatives_destroy(w->derivatives);
    lw_orthogonal_destroy(w->factors);
    if (w->arena) lw_arena_destroy(w->arena);
}

lw_status lw_linear_start(const lw_model *model, const lw_linearise_options *options, double *q, double *v,
                          lw_error *error) {
    if (options->q) {
        memcpy(q, options->q, (size_t)model->nq * sizeof *q);
        memset(v, 0, (size_t)model->nv * sizeof *v);
        if (options->v) memcpy(v, options->v, (size_t)model->nv * sizeof *v);
        return LW_OK;
    }
    lw_model_initial_state(model, q, v);
    return lw_assemble(model, options->t, q, v, NULL, error);
}

/* --- the answer -------------------------------------------------------------------------------------- */

typedef struct answer {
    lw_linear_system system;
    lw_linear_work work;
} answer;

static const char **names(lw_arena *arena, int count) { return LW_NEW(arena, const char *, count + 1); }

static lw_status give(answer *a, double t, const double *q, const double *v, lw_error *error) {
    lw_linear_work *w = &a->work;
    const lw_derivatives *d = w->derivatives;
    const lw_model *model = d->model;
    lw_arena *arena = w->arena;
    const int inputs = model->values.input_count, ns = model->values.state_count;
    const char **x = names(arena, w->n), **u = names(arena, inputs), **y = names(arena, w->outputs);
    const char **left = names(arena, model->output_names.count);
    int *of = LW_NEW(arena, int, w->coordinates + w->speeds + 1), left_count = 0;
    double *motion = LW_NEW(arena, double, (size_t)model->nv *(size_t)w->coordinates + 1);
    double *faster = LW_NEW(arena, double, (size_t)model->nv *(size_t)w->speeds + 1);
    if (lw_arena_failed(arena)) return lw_out_of_memory(error);
    for (int k = 0; k < w->coordinates + w->speeds; k++) {
        char text[256], dynamic[280];
        of[k] = d->free[k < w->coordinates ? w->own_q[k] : w->own_v[k - w->coordinates]];
        lw_state_name(model, of[k], k >= w->coordinates, text, sizeof text);
        snprintf(dynamic, sizeof dynamic, "dynamic(%s)", text);
        x[k] = lw_arena_text(arena, w->shared && w->shared[k] ? dynamic : text);
    }
    for (int k = 0; k < ns; k++)
        x[w->coordinates + w->speeds + k] = lw_arena_text(arena, lw_model_state_name(model, k));
    for (int k = 0; k < inputs; k++) u[k] = lw_arena_text(arena, lw_model_input_name(model, k));
    for (int k = 0; k < w->outputs; k++) {
        char text[256];
        if (!model->output_names.count) lw_state_name(model, d->free[w->shown[k]], 0, text, sizeof text);
        y[k] = lw_arena_text(arena,
                             model->output_names.count ? lw_model_output_name(model, w->output_of[k]) : text);
    }
    for (int k = 0, at = 0; k < model->output_names.count; k++) {
        if (at < w->outputs && w->output_of[at] == k) {
            at++;
            continue;
        }
        left[left_count++] = lw_arena_text(arena, lw_model_output_name(model, k));
    }
    for (int i = 0; i < model->nv; i++)
        for (int j = 0; j < w->coordinates; j++)
            motion[i * w->coordinates + j] = w->Lq[(size_t)i * (size_t)w->n + (size_t)j];
    for (int i = 0; i < model->nv; i++)
        for (int j = 0; j < w->speeds; j++)
            faster[i * w->speeds + j] = w->Lv[(size_t)i * (size_t)w->n + (size_t)(w->coordinates + j)];
    if (lw_arena_failed(arena)) return lw_out_of_memory(error);
    a->system = (lw_linear_system){.states = w->n,
                                   .inputs = inputs,
                                   .outputs = w->outputs,
                                   .coordinates = w->coordinates,
                                   .speeds = w->speeds,
                                   .user_states = ns,
                                   .state_names = x,
                                   .input_names = u,
                                   .output_names = y,
                                   .A = w->A,
                                   .B = w->B,
                                   .C = w->C,
                                   .D = w->D,
                                   .eigenvalues = w->eigenvalues,
                                   .rates = w->rates,
                                   .controllable = reach(w, false, inputs, w->B),
                                   .observable = reach(w, true, w->outputs, w->C),
                                   .t = t,
                                   .q = q,
                                   .v = v,
                                   .coordinate_of = of,
                                   .motions = motion,
                                   .speed_motions = faster,
                                   .first_order = w->first_order,
                                   .algebraic = w->algebraic,
                                   .left_out = left,
                                   .left_out_count = left_count};
    return LW_OK;
}

lw_status lw_linearise(const lw_model *model, const lw_linearise_options *options, lw_linear_system **system,
                       lw_error *error) {
    if (system) *system = NULL;
    if (!model || !options || !system || !isfinite(options->t) ||
        (options->q && !lw_finite(options->q, model->nq)) ||
        (options->v && !lw_finite(options->v, model->nv)) ||
        (options->coordinates && options->coordinate_count < 0))
        return lw_call_needs("a model, options with finite numbers and a pointer for the result", error);
    answer *a = calloc(1, sizeof *a);
    if (!a) return lw_out_of_memory(error);
    lw_status status = lw_linear_create(&a->work, model, options, true, error);
    double *q = NULL, *v = NULL;
    if (status == LW_OK) {
        q = LW_NEW(a->work.arena, double, model->nq + 1), v = LW_NEW(a->work.arena, double, model->nv + 1);
        status = q && v ? lw_linear_start(model, options, q, v, error) : lw_out_of_memory(error);
    }
    if (status == LW_OK) lw_derivatives_settle(a->work.derivatives, options->t, q, v);
    if (status == LW_OK) status = lw_linear_at(&a->work, options, options->t, q, v, error);
    if (status == LW_OK) status = lw_linear_outputs(&a->work, options, options->t, q, v, error);
    if (status == LW_OK) status = eigenvalues(&a->work, error);
    if (status == LW_OK) status = give(a, options->t, q, v, error);
    if (status == LW_OK)
        *system = &a->system;
    else
        lw_linear_system_destroy(&a->system);
    return status;
}

void lw_linear_system_destroy(lw_linear_system *system) {
    if (!system) return;
    answer *a = (answer *)system;
    lw_linear_destroy(&a->work);
    free(a);
}

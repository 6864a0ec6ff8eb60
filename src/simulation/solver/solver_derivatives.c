/* solver_derivatives.c - derivatives of the accelerations, with loops by implicit differentiation.
 *
 *   R1 = ID(q, v, a) - G'lambda - tau = 0,   R2 = G a - gamma = 0
 *   da = y - N (N'M N)^-1 N'(dR1 + M y),     G y = -dR2,   G N = 0                                    (33)
 *
 * Rows that depend on others are left out by the rank decision of tangent_space.c; G'lambda is unique
 * although lambda is not, and so is da.
 *
 * Source   docs/theory/derivatives.md, 3 and 33-35.
 * Cost     O(n depth) for a tree's dR1, then dense: O(free^3) and O(free^2 columns). No allocation but in
 *          create.
 * Limits   mass matrices that are singular along admissible speeds are refused (massless bodies), except
 *          by lw_derivatives_balance.
 */
#include "simulation/solver/solver_derivatives.h"
#include "dynamics/tree_dynamics.h"
#include "simulation/solver/solver_parts.h"
#include <linkwork/massless.h>
#include <linkwork/tree.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- creation -------------------------------------------------------------------------------------- */

/* Method massless is chosen where some motion moves no mass, and may be asked for where none does. */
static lw_status look_for_massless(lw_derivatives *d, bool refused, lw_error *error) {
    lw_directions *directions = NULL;
    lw_status status = lw_directions_create(d->model, &directions, error);
    if (status == LW_OK) d->massless = lw_directions_count(directions);
    if (d->massless > 0 && refused) {
        const lw_direction *first = lw_directions_at(directions, 0);
        char object[160];
        snprintf(object, sizeof object, "body \"%s\"", first->body_name);
        status =
            lw_fail(error, LW_ERROR_UNSUPPORTED, object, "give it a small mass or inertia",
                    "its %s moves no mass: the derivatives of such a motion follow from the balance of its "
                    "forces, which this analysis does not differentiate",
                    first->text);
    }
    lw_directions_destroy(directions);
    return status;
}

static lw_status refuse(lw_derivatives *d, bool massless, lw_error *error) {
    const lw_model *model = d->model;
    if (strcmp(lw_solver_method(d->solver), "massless") == 0) {
        lw_status status = look_for_massless(d, !massless, error);
        if (status != LW_OK) return status;
    }
    if (model->values.mover_count > 0)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, lw_model_name(model),
                       "let a drive or a spring follow the user state instead",
                       "a prescribed motion depends on user state \"%s\", and has no derivatives here",
                       lw_model_state_name(model, model->values.moving[0]));
    return LW_OK;
}

static void list_free(lw_derivatives *d) {
    for (int i = 1; i <= d->model->body_count; i++)
        for (int k = 0; k < d->model->links[i].joint.nv; k++)
            d->prescribed[d->model->links[i].v + k] = d->model->links[i].prescribed >> k & 1;
    for (int k = 0; k < d->model->nv; k++)
        if (!d->prescribed[k]) d->free[d->free_count++] = k;
}

static lw_status create(lw_derivatives *d, const lw_solver_options *options, bool massless, lw_error *error) {
    const lw_model *model = d->model;
    lw_arena *arena = d->arena;
    lw_status status = lw_solver_create(model, options, NULL, &d->solver, error);
    if (status == LW_OK) status = refuse(d, massless, error);
    if (status == LW_OK && (status = lw_data_create(model, NULL, &d->data)) != LW_OK)
        return lw_out_of_memory(error);
    if (status != LW_OK) return status;
    lw_data_set_values(model, d->data, options->inputs, options->states);
    d->tree = lw_tree_derivatives_create(model, arena, d->data);
    const bool loops = model->closure_count + model->constraint_count > 0;
    if (loops) {
        d->rows = lw_rows_create_loops(model, arena);
        if (d->rows) d->tangent = lw_tangent_create(model, d->rows, arena);
        if (!d->tangent) return lw_out_of_memory(error);
    }
    if (!d->tree) return lw_out_of_memory(error);
    const size_t nv = (size_t)model->nv, m = loops ? (size_t)d->rows->count : 0,
                 columns = (size_t)d->tree->columns;
    d->prescribed = LW_NEW(arena, bool, nv + 1);
    d->free = LW_NEW(arena, int, nv + 1);
    d->order = LW_NEW(arena, int, nv + m + 1);
    d->vdot = LW_NEW(arena, double, nv + 1);
    d->residual = LW_NEW(arena, double, 2 * nv + 2); /* and forces */
    d->drives = LW_NEW(arena, int, 2 * nv + 2);
    d->lambda = LW_NEW(arena, double, m + 1);
    d->G = LW_NEW(arena, double, m *nv + 1);
    d->rows_by = LW_NEW(arena, double, m *columns + 1);
    d->rates_by = LW_NEW(arena, double, m *columns + 1);
    d->A = LW_NEW(arena, double, nv *m + 1);
    d->N = LW_NEW(arena, double, nv *nv + 1);
    d->K = LW_NEW(arena, double, nv *nv + 1);
    d->MN = LW_NEW(arena, double, nv *nv + 1);
    d->inverse = LW_NEW(arena, double, nv *nv + 1);
    d->particular = LW_NEW(arena, double, nv *columns + 1);
    d->right = LW_NEW(arena, double, nv *columns + 1);
    d->dvdot = LW_NEW(arena, double, nv *columns + 1);
    d->symmetric = lw_symmetric_create(model->nv + 1);
    if (loops) d->factors = lw_orthogonal_create(model->nv + 1, d->tree->columns + 1, false);
    if (lw_arena_failed(arena) || !d->symmetric || (loops && !d->factors)) return lw_out_of_memory(error);
    list_free(d);
    return LW_OK;
}

static lw_status create_object(const lw_model *model, const lw_solver_options *options,
                               const lw_allocator *allocator, bool massless, lw_derivatives **derivatives,
                               lw_error *error) {
    lw_solver_options defaults;
    if (derivatives) *derivatives = NULL;
    if (!model || !derivatives) return lw_call_needs("a model and a pointer for the result", error);
    lw_solver_defaults(model, &defaults);
    lw_arena *arena = lw_arena_create(allocator);
    lw_derivatives *d = LW_NEW(arena, lw_derivatives, 1);
    if (!d) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    *d = (lw_derivatives){.arena = arena, .model = model};
    lw_status status = create(d, options ? options : &defaults, massless, error);
    if (status == LW_OK)
        *derivatives = d;
    else
        lw_derivatives_destroy(d);
    return status;
}

lw_status lw_derivatives_create(const lw_model *model, const lw_solver_options *options,
                                const lw_allocator *allocator, lw_derivatives **derivatives,
                                lw_error *error) {
    return create_object(model, options, allocator, false, derivatives, error);
}

lw_status lw_derivatives_create_any(const lw_model *model, const lw_solver_options *options,
                                    const lw_allocator *allocator, lw_derivatives **derivatives,
                                    lw_error *error) {
    return create_object(model, options, allocator, true, derivatives, error);
}

void lw_derivatives_destroy(lw_derivatives *d) {
    if (!d) return;
    lw_solver_destroy(d->solver);
    lw_data_destroy(d->data);
    lw_symmetric_destroy(d->symmetric);
    lw_orthogonal_destroy(d->factors);
    lw_arena_destroy(d->arena);
}

lw_solver *lw_derivatives_solver(lw_derivatives *d) { return d ? d->solver : NULL; }

/* --- equations ------------------------------------------------------------------------------------- */

lw_status lw_derivatives_differentiate(lw_derivatives *d, double t, const double *tau, lw_error *error) {
    const lw_model *model = d->model;
    lw_tree_derivatives *tree = d->tree;
    lw_tree_derivatives_inertia(tree, t, d->vdot);
    lw_status status = lw_tree_derivatives_forces(tree, error);
    if (status != LW_OK || !d->rows) {
        lw_tree_derivatives_prescribe(tree, model->nv, tree->stride, tree->T);
        return status;
    }
    lw_rows_evaluate(model, d->data, false, d->rows);
    lw_tangent_rows(d->tangent, d->data);
    lw_tangent_factor(d->tangent, model->motion_count ? d->prescribed : NULL);
    lw_inverse_held(model, d->data, t, d->data->q, d->data->v, d->vdot, d->residual);
    for (int k = 0; k < model->nv; k++)
        d->residual[k] = d->tangent->unit[k] * (d->residual[k] - (tau ? tau[k] : 0));
    lw_tangent_apply(d->tangent, true, d->residual);
    lw_tangent_multipliers(d->tangent, d->residual, d->lambda);
    status = lw_cut_force_derivatives(tree, d->rows, error);
    lw_loop_derivatives(tree, d->rows, d->lambda, &(lw_row_matrices){d->rows_by, d->rates_by});
    lw_tree_derivatives_prescribe(tree, model->nv, tree->stride, tree->T);
    lw_tree_derivatives_prescribe(tree, d->rows->count, tree->columns, d->rows_by);
    lw_tree_derivatives_prescribe(tree, d->rows->count, tree->columns, d->rates_by);
    return status;
}

void lw_derivatives_particular(lw_derivatives *d) {
    const lw_tangent *t = d->tangent;
    const int nf = d->free_count, columns = d->tree->columns, nv = d->model->nv;
    int *kept = d->order, *order = d->order + d->rows->count;
    d->rank = 0;
    for (int r = 0; r < d->rows->count; r++)
        if (t->kept[r]) kept[d->rank++] = r;
    d->freedom = nf - d->rank;
    lw_tangent_matrix(t, d->G);
    for (int k = 0; k < d->rank; k++)
        for (int i = 0; i < nf; i++)
            d->A[i + k * nf] = t->row_unit[kept[k]] * t->unit[d->free[i]] * d->G[kept[k] * nv + d->free[i]];
    lw_qr_factor(d->factors, nf, d->rank, d->A, order, 0);
    memset(d->N, 0, (size_t)nf * (size_t)d->freedom * sizeof *d->N);
    for (int j = 0; j < d->freedom; j++) d->N[d->rank + j + j * nf] = 1;
    lw_qr_apply(d->factors, false, nf, d->rank, d->A, d->freedom, d->N);
    for (int c = 0; c < columns; c++) {
        double *y = d->particular + (size_t)c * (size_t)nf;
        for (int k = 0; k < d->rank; k++) {
            const int r = kept[order[k]];
            y[k] = -t->row_unit[r] * d->rows_by[(size_t)r * (size_t)columns + (size_t)c];
        }
        for (int k = d->rank; k < nf; k++) y[k] = 0;
    }
    lw_qr_triangle(true, d->rank, nf, d->A, columns, d->particular, nf);
    lw_qr_apply(d->factors, false, nf, d->rank, d->A, columns, d->particular);
    for (int i = 0; i < nf; i++) {
        const double unit = t->unit[d->free[i]];
        for (int j = 0; j < d->freedom; j++) d->N[i + j * nf] *= unit;
        for (int c = 0; c < columns; c++) d->particular[(size_t)i + (size_t)c * (size_t)nf] *= unit;
    }
}

void lw_derivatives_speeds(lw_derivatives *d, double *Y) {
    const lw_tangent *t = d->tangent;
    const int nf = d->free_count, nv = d->model->nv, *kept = d->order, *order = d->order + d->rows->count;
    memset(Y, 0, (size_t)nf * (size_t)nv * sizeof *Y);
    for (int c = 0; c < nv; c++)
        for (int k = 0; k < d->rank; k++) {
            const int r = kept[order[k]];
            Y[k + c * nf] = -t->row_unit[r] * d->rates_by[(size_t)r * (size_t)d->tree->columns + (size_t)c];
        }
    lw_qr_triangle(true, d->rank, nf, d->A, nv, Y, nf);
    lw_qr_apply(d->factors, false, nf, d->rank, d->A, nv, Y);
    for (int i = 0; i < nf; i++)
        for (int c = 0; c < nv; c++) Y[i + c * nf] *= t->unit[d->free[i]];
}

static lw_status singular(const lw_derivatives *d, lw_error *error) {
    return lw_fail(error, LW_ERROR_SINGULAR, lw_model_name(d->model),
                   "give every body that moves a mass or inertia, or leave this position",
                   "the mass matrix is singular along a motion that closures and constraints admit");
}

/* The factor L of the n x n matrix K = L L', in place, and its inverse. False: K is not positive definite, or
 * singular to rounding. */
static bool factor(lw_derivatives *d, int n, double *K, double *inverse) {
    double least = HUGE_VAL, most = 0;
    if (!lw_cholesky_factor(d->symmetric, n, K, NULL)) return false;
    memset(inverse, 0, (size_t)n * (size_t)n * sizeof *inverse);
    for (int j = 0; j < n; j++) { /* column j of L X = 1, from above, by columns of L */
        double *x = inverse + (size_t)j * (size_t)n;
        x[j] = 1;
        for (int k = j; k < n; k++) {
            const double *L = K + (size_t)k * (size_t)n, value = x[k] /= L[k];
            for (int i = k + 1; i < n; i++) x[i] -= value * L[i];
        }
        least = fmin(least, K[(size_t)j * ((size_t)n + 1)]);
        most = fmax(most, K[(size_t)j * ((size_t)n + 1)]);
    }
    return least * least > 1e-15 * most * most;
}

/* inverse = N (N'M N)^-1 N' = (L^-1 N')'(L^-1 N'), M of the free speeds. */
static lw_status invert(lw_derivatives *d, const double *M, lw_error *error) {
    const int nf = d->free_count, f = d->freedom;
    memset(d->inverse, 0, (size_t)nf * (size_t)nf * sizeof *d->inverse);
    if (f == 0) return LW_OK;
    lw_dense_multiply(false, false, nf, f, nf, 1, M, d->N, 0, d->MN);
    lw_dense_multiply(true, false, f, f, nf, 1, d->N, d->MN, 0, d->K);
    if (!factor(d, f, d->K, d->MN)) return singular(d, error);
    lw_dense_multiply(false, true, f, nf, f, 1, d->MN, d->N, 0, d->K); /* L^-1 N' */
    lw_dense_multiply(true, false, nf, nf, f, 1, d->K, d->K, 0, d->inverse);
    return LW_OK;
}

static lw_status solve_loops(lw_derivatives *d, lw_error *error) {
    const int nf = d->free_count, columns = d->tree->columns, nv = d->model->nv;
    const double *T = d->tree->T, *mass = d->tree->mass;
    double *M = d->dvdot; /* a workspace until the answer is written: columns >= nv */
    lw_derivatives_particular(d);
    for (int j = 0; j < nf; j++)
        for (int i = 0; i < nf; i++) M[i + j * nf] = mass[d->free[i] * nv + d->free[j]];
    lw_status status = invert(d, M, error);
    if (status != LW_OK) return status;
    for (int c = 0; c < columns; c++)
        for (int i = 0; i < nf; i++)
            d->right[(size_t)i + (size_t)c * (size_t)nf] =
                T[(size_t)d->free[i] * (size_t)d->tree->stride + (size_t)c];
    lw_dense_multiply(false, false, nf, columns, nf, 1, M, d->particular, 1, d->right);
    memcpy(d->dvdot, d->particular, (size_t)nf * (size_t)columns * sizeof *d->dvdot);
    lw_dense_multiply(false, false, nf, columns, nf, -1, d->inverse, d->right, 1, d->dvdot);
    if (!lw_finite(d->dvdot, nf * columns)) return singular(d, error);
    return LW_OK;
}

/* The answer of a tree, as that of loops stands. */
static void list_answer(lw_derivatives *d) {
    const int nf = d->free_count, columns = d->tree->columns;
    d->rank = 0, d->freedom = nf;
    for (int i = 0; i < nf; i++) {
        const double *row = d->tree->T + (size_t)d->free[i] * (size_t)d->tree->stride;
        for (int c = 0; c < columns; c++) d->dvdot[(size_t)i + (size_t)c * (size_t)nf] = -row[c];
        for (int j = 0; j < nf; j++) d->inverse[i + j * nf] = lw_solved_unit(d->tree, d->free[i], d->free[j]);
    }
}

/* The derivatives of the state: in a tree into tree->T (units: the inverse of the mass matrix, too),
 * else into dvdot and inverse. */
static lw_status evaluate(lw_derivatives *d, double t, const double *q, const double *v, const double *tau,
                          bool units, lw_error *error) {
    lw_status status = lw_solver_accelerations(d->solver, t, q, v, tau, d->vdot, error);
    if (status != LW_OK) return status;
    lw_take_state(d->model, d->data, t, q, v);
    status = lw_derivatives_differentiate(d, t, tau, error);
    if (status != LW_OK) return status;
    if (d->rows) {
        lw_tree_derivatives_mass(d->tree);
        return solve_loops(d, error);
    }
    return lw_tree_derivatives_solve(d->tree, units) ? LW_OK : singular(d, error);
}

lw_status lw_derivatives_evaluate(lw_derivatives *d, double t, const double *q, const double *v,
                                  const double *tau, lw_error *error) {
    lw_status status = evaluate(d, t, q, v, tau, true, error);
    if (status != LW_OK || d->rows) return status;
    lw_tree_derivatives_mass(d->tree);
    list_answer(d);
    return LW_OK;
}

void lw_derivatives_settle(lw_derivatives *d, double t, double *q, double *v) {
    lw_method *method = d->solver->method;
    double *y = d->right; /* It has room for q and v. */
    if (!d->massless) return;
    method->formulation->to_state(method, t, q, v, y);
    method->formulation->from_state(method, t, y, q, v);
}

lw_status lw_derivatives_balance(lw_derivatives *d, double t, const double *q, const double *v,
                                 lw_error *error) {
    lw_status status = lw_solver_accelerations(d->solver, t, q, v, NULL, d->vdot, error);
    if (status != LW_OK) return status;
    lw_take_state(d->model, d->data, t, q, v);
    status = lw_derivatives_differentiate(d, t, NULL, error);
    if (status != LW_OK) return status;
    lw_tree_derivatives_mass(d->tree);
    d->rank = 0, d->freedom = d->free_count;
    if (d->rows) lw_derivatives_particular(d);
    return LW_OK;
}

/* Columns first .. first + count - 1 of the answer into an nv x count matrix. */
static void give(const lw_derivatives *d, int first, int count, double *out) {
    const int nf = d->free_count, nv = d->model->nv;
    if (!out) return;
    if (!d->rows) {
        for (int i = 0; i < nv; i++) {
            const double *row = d->tree->T + (size_t)i * (size_t)d->tree->stride + first;
            double *to = out + (size_t)i * (size_t)count;
            for (int c = 0; c < count; c++) to[c] = 0 - row[c];
        }
        return;
    }
    memset(out, 0, (size_t)nv * (size_t)count * sizeof *out);
    for (int c = 0; c < count; c++)
        for (int i = 0; i < nf; i++)
            out[(size_t)d->free[i] * (size_t)count + (size_t)c] =
                d->dvdot[i + (size_t)(first + c) * (size_t)nf];
}

static void give_inverse(const lw_derivatives *d, double *out) {
    const int nf = d->free_count, nv = d->model->nv;
    if (!out) return;
    if (!d->rows) {
        const double *inverse = d->tree->T + d->tree->units;
        for (int i = 0; i < nv; i++, inverse += d->tree->stride)
            for (int j = i; j < nv; j++) out[i * nv + j] = out[j * nv + i] = inverse[j];
        return;
    }
    memset(out, 0, (size_t)nv * (size_t)nv * sizeof *out);
    for (int i = 0; i < nf; i++)
        for (int j = 0; j < nf; j++) out[d->free[i] * nv + d->free[j]] = d->inverse[i + j * nf];
}

static bool good_state(const lw_derivatives *d, const double *q, const double *v, const double *vdot) {
    return d && lw_given(q, d->model->nq) && lw_given(v, d->model->nv) && lw_finite(q, d->model->nq) &&
           lw_finite(v, d->model->nv) && (!vdot || lw_finite(vdot, d->model->nv));
}

lw_status lw_derivatives_of_accelerations(lw_derivatives *d, double t, const double *q, const double *v,
                                          const double *tau, const lw_acceleration_derivatives *out,
                                          lw_error *error) {
    if (!good_state(d, q, v, tau) || !out || !isfinite(t))
        return lw_call_needs("an object, a finite state and a place for the results", error);
    lw_status status = evaluate(d, t, q, v, tau, out->dtau != NULL, error);
    if (status != LW_OK) return status;
    const int nv = d->model->nv, inputs = d->model->values.input_count;
    if (out->vdot) memcpy(out->vdot, d->vdot, (size_t)nv * sizeof *d->vdot);
    give(d, 0, nv, out->dq);
    give(d, nv, nv, out->dv);
    give(d, 2 * nv, inputs, out->dinputs);
    give(d, 2 * nv + inputs, d->model->values.state_count, out->dstates);
    give_inverse(d, out->dtau);
    return LW_OK;
}

lw_status lw_derivatives_of_forces(lw_derivatives *d, double t, const double *q, const double *v,
                                   const double *vdot, double *dq, double *dv, double *mass,
                                   lw_error *error) {
    if (!good_state(d, q, v, vdot) || !lw_given(vdot, d->model->nv) || !isfinite(t))
        return lw_call_needs("an object, a finite state and accelerations", error);
    lw_status status = lw_only_trees(d->model, error);
    if (status != LW_OK) return status;
    const int nv = d->model->nv;
    lw_tree_derivatives *tree = d->tree;
    memcpy(d->data->vdot, vdot, (size_t)nv * sizeof *vdot); /* Prescribed ones are then overwritten. */
    lw_take_state(d->model, d->data, t, q, v);
    memcpy(d->vdot, d->data->vdot, (size_t)nv * sizeof *vdot);
    status = lw_derivatives_differentiate(d, t, NULL, error);
    if (status != LW_OK) return status;
    if (mass) lw_tree_derivatives_mass(tree);
    for (int k = 0; k < nv; k++)
        for (int j = 0; j < nv; j++) {
            const double *T = tree->T + (size_t)k * (size_t)tree->stride + j;
            if (dq) dq[k * nv + j] = T[0];
            if (dv) dv[k * nv + j] = T[nv];
            if (mass) mass[k * nv + j] = tree->mass[k * nv + j];
        }
    return LW_OK;
}

/* solver_drive_derivatives.c - derivatives of the forces of drives for a given motion, through loops.
 *
 *   N'(ID - tau) = 0,  tau = forces of the drives D       hence  N_D' dtau_D = N'(dR1 + M da)         (41)
 *
 * with dR1 at the multipliers that belong to the forces of the drives, whose changes N' removes.
 *
 * Source   docs/theory/derivatives.md, 41.
 * Symbols  N: basis of the admissible speeds, N_D its rows of driven speeds.
 * Cost     that of the derivatives, and O(freedoms^2 columns); no allocation.
 * Limits   as many drives as freedoms, independent of each other: then forces are unique.
 */
#include "dynamics/tree_dynamics.h"
#include "simulation/solver/solver_derivatives.h"
#include "simulation/solver/solver_parts.h"

#include <math.h>
#include <string.h>

static lw_status not_unique(const lw_derivatives *d, int drives, int freedom, lw_error *error) {
    return lw_fail(
        error, LW_ERROR_UNSUPPORTED, lw_model_name(d->model),
        "name as many driven coordinates in the options of the solver as the mechanism has freedoms",
        "%d driven coordinates for %d freedoms do not make the forces unique, which have no "
        "derivatives then",
        drives, freedom);
}

/* Columns first .. first + count - 1 of the right sides, of T or of M, into an nv x count matrix. `work`
 * holds the factors of N_D' (NULL in a tree, where every force is its own right side). */
static void give(lw_derivatives *d, const double *from, int stride, int first, int count,
                 const double *factors, const int *order, const int *drives, double *out) {
    const int nv = d->model->nv, nf = d->free_count, f = d->freedom;
    double *x = d->particular, *y = d->right; /* Their own contents have been used. */
    if (!out) return;
    memset(out, 0, (size_t)nv * (size_t)count * sizeof *out);
    for (int k = 0; k < nv; k++)
        for (int c = 0; c < count && d->prescribed[k]; c++) out[(size_t)k * (size_t)count + (size_t)c] = NAN;
    for (int c = 0; c < count; c++) {
        for (int i = 0; i < nf; i++) x[i] = from[(size_t)d->free[i] * (size_t)stride + (size_t)(first + c)];
        if (!factors) {
            for (int i = 0; i < nf; i++) out[(size_t)d->free[i] * (size_t)count + (size_t)c] = x[i];
            continue;
        }
        lw_dense_times(true, nf, f, 1, d->N, x, 0, y);
        lw_qr_apply(d->factors, true, f, f, factors, 1, y);
        lw_qr_triangle(false, f, f, factors, 1, y, f);
        for (int k = 0; k < f; k++) out[(size_t)d->free[drives[order[k]]] * (size_t)count + (size_t)c] = y[k];
    }
}

lw_status lw_derivatives_of_drives(lw_derivatives *d, double t, const double *q, const double *v,
                                   const double *vdot, const lw_drive_derivatives *out, lw_error *error) {
    if (!d || !out || !q || !v || !vdot || !isfinite(t))
        return lw_call_needs("an object, a finite motion and a place for the results", error);
    const lw_model *model = d->model;
    const int nv = model->nv, inputs = model->values.input_count;
    lw_tree_derivatives *tree = d->tree;
    double *tau = d->residual + nv + 1; /* behind what the derivatives use themselves */
    lw_status status = lw_solver_inverse_dynamics(d->solver, t, q, v, vdot, tau, error);
    if (status != LW_OK) return status;
    memcpy(d->data->vdot, vdot, (size_t)nv * sizeof *vdot); /* Prescribed ones are then overwritten. */
    lw_take_state(model, d->data, t, q, v);
    memcpy(d->vdot, d->data->vdot, (size_t)nv * sizeof *vdot);
    status = lw_derivatives_differentiate(d, t, tau, error);
    if (status != LW_OK) return status;
    lw_tree_derivatives_mass(tree);
    const bool *driven = d->solver->inverse->driven;
    int *drives = d->drives, *order = d->drives + nv + 1, count = 0;
    double *factors = NULL;
    for (int i = 0; i < d->free_count; i++)
        if (driven[d->free[i]]) drives[count++] = i;
    d->freedom = d->free_count;
    if (d->rows) lw_derivatives_particular(d);
    if (count != d->freedom) return not_unique(d, count, d->freedom, error);
    if (d->rows) {
        factors = d->K;
        for (int j = 0; j < count; j++) /* column j of N_D': row drives[j] of N */
            for (int i = 0; i < count; i++) factors[i + j * count] = d->N[drives[j] + i * d->free_count];
        if (lw_qr_factor(d->factors, count, count, factors, order, 1e-9) < count)
            return not_unique(d, count - 1, count, error);
    }
    if (out->tau) memcpy(out->tau, tau, (size_t)nv * sizeof *tau);
    give(d, tree->T, tree->stride, 0, nv, factors, order, drives, out->dq);
    give(d, tree->T, tree->stride, nv, nv, factors, order, drives, out->dv);
    give(d, tree->T, tree->stride, 2 * nv, inputs, factors, order, drives, out->dinputs);
    give(d, tree->T, tree->stride, 2 * nv + inputs, model->values.state_count, factors, order, drives,
         out->dstates);
    give(d, tree->mass, nv, 0, nv, factors, order, drives, out->dvdot);
    if (!out->dvdot) return LW_OK;
    for (int k = 0; k < nv; k++) /* Accelerations that are prescribed do not change. */
        for (int j = 0; j < nv; j++)
            if (d->prescribed[j] && !d->prescribed[k]) out->dvdot[k * nv + j] = 0;
    return LW_OK;
}

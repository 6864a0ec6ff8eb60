/* linear_turns.c - how motions without mass turn while a mechanism moves.
 *
 *   T = (X; 1),   w_r = w_D - X w_s:   dX w_s,   dX w_s' + d(X' w_s)                                  (15-17)
 *
 * X depends on positions alone. Its rates are differences of fourth order, of 0.001 rad or parts of the
 * longest arm: right to some 1e-9.
 *
 * Source   docs/theory/linearise.md, 15-17.
 * Cost     16 mass matrices per coordinate and 4 per speed. No allocation.
 */
#include "analyses/linear_turns.h"
#include <linkwork/assemble.h>

#include <math.h>
#include <string.h>

/* X of another position, with the same independent speeds; false: it has none. */
static bool turned(lw_linear_reduction *r, double t, const double *q, double *X) {
    lw_linear_work *w = r->w;
    const lw_derivatives *d = w->derivatives;
    const int nv = d->model->nv, f = r->f, kept = r->dynamic;
    double *basis = r->basis, *M = r->other_M, *block = r->block, *N = r->turned_N;
    int mobility = 0;
    if (lw_solver_mobility(d->solver, t, q, &mobility, NULL) != LW_OK || mobility != f ||
        lw_solver_tangent_basis(d->solver, t, q, f, basis, NULL, NULL) != LW_OK)
        return false;
    for (int i = 0; i < f; i++) /* N' = block'^-1 basis', block: rows of the independent speeds */
        for (int j = 0; j < f; j++)
            block[j + i * f] = basis[(size_t)d->free[w->own_v[i]] * (size_t)f + (size_t)j];
    if (lw_qr_factor(r->factors, f, f, block, r->order, 1e-12) < f) return false;
    for (int i = 0; i < nv * f; i++) N[i] = basis[i]; /* column i of basis' is row i of basis */
    lw_qr_apply(r->factors, true, f, f, block, nv, N);
    lw_qr_triangle(false, f, f, block, nv, N, f);
    for (int i = 0; i < nv; i++) /* row by row; unknown j stands at place order[j] */
        for (int j = 0; j < f; j++) basis[(size_t)i * (size_t)f + (size_t)r->order[j]] = N[j + i * f];
    if (lw_solver_mass_matrix(d->solver, t, q, f, basis, M, NULL) != LW_OK) return false;
    for (int i = 0; i < kept; i++)
        for (int j = 0; j < kept; j++) block[i + j * kept] = M[r->of_dynamic[i] * f + r->of_dynamic[j]];
    if (kept == 0) return true;
    if (!lw_cholesky_factor(r->symmetric, kept, block, NULL)) return false;
    for (int i = 0; i < kept; i++)
        for (int j = 0; j < r->still; j++) X[i + j * kept] = -M[r->of_dynamic[i] * f + r->of_still[j]];
    lw_cholesky_solve(r->symmetric, kept, block, r->still, X);
    return true;
}

/* The position from q along `motion` by `by`, with loops closed, and X there; false: it has none. */
static bool turned_along(lw_linear_reduction *r, double t, const double *q, const double *motion, double by,
                         double *X) {
    const lw_model *model = r->w->derivatives->model;
    memcpy(r->moved, q, (size_t)model->nq * sizeof *q);
    lw_integrate_q(model, r->moved, motion, by);
    memset(r->speeds, 0, (size_t)model->nv * sizeof *r->speeds);
    if (r->w->derivatives->rows && lw_assemble(model, t, r->moved, r->speeds, NULL, NULL) != LW_OK)
        return false;
    return turned(r, t, r->moved, X);
}

static const double offsets[] = {-2, -1, 1, 2}, weights[] = {1. / 12, -8. / 12, 8. / 12, -1. / 12};

/* The rate of X along a motion, per unit of it; `passing` of time pass meanwhile. */
static bool rate_along(lw_linear_reduction *r, double t, const double *q, const double *motion,
                       double passing, double step, double *rate) {
    const size_t count = (size_t)r->dynamic * (size_t)r->still;
    memset(rate, 0, count * sizeof *rate);
    for (int i = 0; i < 4; i++) {
        const double by = offsets[i] * step;
        if (!turned_along(r, t + passing * by, q, motion, by, r->other_X)) return false;
        for (size_t k = 0; k < count; k++) rate[k] += weights[i] / step * r->other_X[k];
    }
    return true;
}

/* The step that moves joints by 0.001 rad or parts of the longest arm. */
static double step_along(const lw_linear_reduction *r, const double *motion) {
    const lw_model *model = r->w->derivatives->model;
    double most = 0;
    for (int k = 0; k < model->nv; k++)
        most = fmax(most, fabs(motion[k]) / (r->w->slides[k] ? lw_longest_arm(model) : 1));
    return most > 0 ? 1e-3 / most : 0;
}

/* to (dynamic) += factor times the matrix (dynamic x still) times the entries of x at still speeds. */
static void add_turn(const lw_linear_reduction *r, const double *matrix, const double *x, double factor,
                     double *to, int stride) {
    for (int i = 0; i < r->dynamic; i++)
        for (int k = 0; k < r->still; k++)
            to[(size_t)i * (size_t)stride] +=
                factor * matrix[i + k * r->dynamic] * x[r->w->derivatives->free[r->w->own_v[r->of_still[k]]]];
}

bool lw_linear_find_turns(lw_linear_reduction *r, double t, const double *q, const double *v,
                          const double *vdot) {
    const lw_linear_work *w = r->w;
    const lw_derivatives *d = w->derivatives;
    const int nv = d->model->nv, nf = d->free_count, fq = r->fq, f = r->f, n = r->n;
    double *motion = r->motion, *rate = r->rate, *moved_v = r->moved_v, *start = r->start;
    const double step = step_along(r, v);
    memset(r->turn_z, 0, (size_t)r->dynamic * (size_t)fq * sizeof *r->turn_z);
    memset(r->turn_rate, 0, (size_t)r->dynamic * (size_t)n * sizeof *r->turn_rate);
    memset(r->turning, 0, (size_t)r->dynamic * sizeof *r->turning);
    if (step > 0) { /* X' w and, in the columns of still speeds, X' dw */
        if (!rate_along(r, t, q, v, 1, step, rate)) return false;
        add_turn(r, rate, v, 1, r->turning, 1);
        for (int i = 0; i < r->dynamic; i++)
            for (int k = 0; k < r->still; k++)
                r->turn_rate[(size_t)i * (size_t)n + (size_t)(fq + r->of_still[k])] +=
                    rate[i + k * r->dynamic];
    }
    for (int j = 0; j < fq + f; j++) { /* along admissible motions: of coordinates, and of speeds */
        const double *N = j < fq ? w->Nq + (size_t)j * (size_t)nf : w->Nv + (size_t)(j - fq) * (size_t)nf;
        memset(motion, 0, (size_t)nv * sizeof *motion);
        for (int i = 0; i < nf; i++) motion[d->free[i]] = N[i];
        const double h = step_along(r, motion);
        if (!rate_along(r, t, q, motion, 0, h, rate)) return false;
        if (j < fq) add_turn(r, rate, v, 1, r->turn_z + j, fq);
        add_turn(r, rate, j < fq ? vdot : v, 1, r->turn_rate + j, n);
        for (int i = 0; i < 4 && j < fq && step > 0; i++) { /* X' w displaced */
            memcpy(start, q, (size_t)d->model->nq * sizeof *q);
            lw_integrate_q(d->model, start, motion, offsets[i] * h);
            memset(moved_v, 0, (size_t)nv * sizeof *moved_v);
            if (d->rows && lw_assemble(d->model, t, start, moved_v, NULL, NULL) != LW_OK) return false;
            for (int k = 0; k < nv; k++)
                moved_v[k] = v[k] + offsets[i] * h * w->Lv[(size_t)k * (size_t)n + (size_t)j];
            if (!rate_along(r, t, start, moved_v, 1, step, rate)) return false;
            add_turn(r, rate, v, weights[i] / h, r->turn_rate + j, n);
        }
    }
    return true;
}

bool lw_linear_turns(lw_linear_reduction *r, double t, const double *q, const double *v) {
    const lw_linear_work *w = r->w;
    const lw_derivatives *d = w->derivatives;
    const int kept = r->dynamic;
    for (int trial = 0; trial < 3; trial++) {
        const double passing = trial == 2 ? 20 * step_along(r, v) : 0;
        memset(r->motion, 0, (size_t)d->model->nv * sizeof *r->motion);
        for (int k = 0; k < d->model->nv && trial == 2; k++) r->motion[k] = passing * v[k];
        for (int j = 0; j < r->fq && trial < 2; j++) {
            const bool slides = w->slides[d->free[w->own_q[j]]];
            const double part = 0.02 * sin(1 + 2.3 * j + 5 * trial) * (slides ? lw_longest_arm(d->model) : 1);
            for (int i = 0; i < d->free_count; i++)
                r->motion[d->free[i]] += part * w->Nq[i + j * d->free_count];
        }
        if (!turned_along(r, t + passing, q, r->motion, 1, r->other_X)) return true;
        for (int i = 0; i < kept; i++)
            for (int j = 0; j < r->still; j++)
                if (fabs(r->other_X[i + j * kept] - r->X[i + j * kept]) * r->unit[r->of_still[j]] >
                    1e-7 * r->unit[r->of_dynamic[i]])
                    return true;
    }
    return false;
}

/* saddle.c - dense symmetric stationary-point systems by L D L', also with dependent rows.
 *
 * Without multipliers: Cholesky. With them S is replaced by S + E, E a small diagonal, and corrections by the residual of
 * the system with E = 0 lead to a solution of that, as in kkt.c: rows that depend on each other need not be left out.
 *
 * Source   Mufti (1983), eqs 51, 61, 73; the treatment of dependent rows is ours (docs/theory/lagrange.md, 3).
 * Cost     (n + m)^3 / 3, dense; no allocation but in create.
 */
#include "formulations/saddle.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* E relative to what a unit multiplier moves at its own row: small against the modes that matter, large against
 * rounding. That is asked from outside: a row that depends on others can vanish in G but for rounding. */
static const double softness = 1e-9;

struct lw_saddle {
    int n, m, soft;
    bool doubtful;
    double *matrix, *solution, *residual;
    const double *A, *G, *S, *mobility;
    lw_symmetric *work;
};

lw_saddle *lw_saddle_create(int n, int m, int soft, bool doubtful) {
    lw_saddle *saddle = calloc(1, sizeof *saddle);
    if (!saddle) return NULL;
    size_t size = (size_t)n + (size_t)m;
    saddle->n = n, saddle->m = m, saddle->soft = soft;
    saddle->doubtful = doubtful;
    saddle->matrix = calloc(size * size + 1, sizeof *saddle->matrix);
    saddle->solution = calloc(size + 1, sizeof *saddle->solution);
    saddle->residual = calloc(size + 1, sizeof *saddle->residual);
    saddle->work = lw_symmetric_create(n + m);
    if (saddle->matrix && saddle->solution && saddle->residual && saddle->work) return saddle;
    lw_saddle_destroy(saddle);
    return NULL;
}

void lw_saddle_destroy(lw_saddle *saddle) {
    if (!saddle) return;
    lw_symmetric_destroy(saddle->work);
    free(saddle->matrix), free(saddle->solution), free(saddle->residual), free(saddle);
}

lw_status lw_saddle_singular(lw_error *error) {
    return lw_fail(error, LW_ERROR_SINGULAR, NULL,
                   "give mass or inertia to the bodies that move freely without any",
                   "the equations of motion are singular: some acceleration is not determined");
}

/* The lower triangle, with E, factored. */
static bool factor(lw_saddle *saddle, double *condition) {
    int n = saddle->n, m = saddle->m, soft = saddle->soft;
    size_t size = (size_t)n + (size_t)m;
    for (int j = 0; j < n; j++) {
        double *column = saddle->matrix + (size_t)j * size;
        memcpy(column + j, saddle->A + (size_t)j * (size_t)n + j, (size_t)(n - j) * sizeof *column);
        for (int r = 0; r < m; r++) column[n + r] = -saddle->G[(size_t)r * (size_t)n + (size_t)j];
    }
    if (m == 0) return lw_cholesky_factor(saddle->work, n, saddle->matrix, condition);
    for (int r = 0; r < m; r++) {
        double *column = saddle->matrix + ((size_t)n + (size_t)r) * size + n;
        memset(column, 0, (size_t)m * sizeof *column);
        int k = r - (m - soft);
        for (int l = k; k >= 0 && l < soft; l++)
            column[m - soft + l] = -saddle->S[(size_t)k * (size_t)soft + (size_t)l];
        column[r] -= softness * saddle->mobility[r];
    }
    return lw_symmetric_factor(saddle->work, n + m, saddle->matrix, condition);
}

/* Residual of the system with E = 0; returns its largest entry, each part relative to the terms that make it up. */
static double residual_of(lw_saddle *saddle, const double *right) {
    int n = saddle->n, m = saddle->m, soft = saddle->soft, hard = m - soft;
    const double *x = saddle->solution, *l = x + n;
    double *top = saddle->residual, *bottom = top + n, force = 0, motion = 0, worst = 0, worse = 0;
    memcpy(top, right, ((size_t)n + (size_t)m) * sizeof *top);
    lw_dense_times(false, n, n, -1, saddle->A, x, 1, top);
    for (int i = 0; i < n; i++) force = fmax(force, fmax(fabs(right[i]), fabs(top[i])));
    lw_dense_times(false, n, m, 1, saddle->G, l, 1, top);
    lw_dense_times(true, n, m, 1, saddle->G, x, 1, bottom);
    for (int r = 0; r < m; r++) motion = fmax(motion, fmax(fabs(right[n + r]), fabs(bottom[r])));
    lw_dense_times(false, soft, soft, 1, saddle->S, l + hard, 1, bottom + hard);
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(top[i]));
    for (int r = 0; r < m; r++) worse = fmax(worse, fabs(bottom[r]));
    return fmax(force > 0 ? worst / force : 0, motion > 0 ? worse / motion : 0);
}

lw_status lw_saddle_factor(lw_saddle *saddle, const double *A, const double *G, const double *S,
                           const double *mobility, lw_error *error) {
    const double singular = 1e15; /* E alone makes a condition of 1e9 to 1e12 */
    double condition = 1;
    saddle->A = A, saddle->G = G, saddle->S = S, saddle->mobility = mobility;
    if (factor(saddle, saddle->doubtful ? &condition : NULL) && condition < singular) return LW_OK;
    return lw_saddle_singular(error);
}

lw_status lw_saddle_solve(lw_saddle *saddle, double *right, lw_error *error) {
    enum { ROUNDS = 60 };
    const double rounding = 4e-16;
    int size = saddle->n + saddle->m;
    if (saddle->m == 0) {
        lw_cholesky_solve(saddle->work, size, saddle->matrix, 1, right);
        return LW_OK;
    }
    double before = HUGE_VAL, now;
    memset(saddle->solution, 0, (size_t)size * sizeof *saddle->solution);
    for (int round = 0;; round++) {
        now = residual_of(saddle, right);
        if (!(now > rounding) || round == ROUNDS || (round > 3 && now > 0.9 * before) || !isfinite(now))
            break;
        before = now;
        lw_symmetric_solve(saddle->work, size, saddle->matrix, 1, saddle->residual);
        for (int k = 0; k < size; k++) saddle->solution[k] += saddle->residual[k];
    }
    if (!isfinite(now)) return lw_saddle_singular(error);
    memcpy(right, saddle->solution, (size_t)size * sizeof *right);
    return LW_OK;
}

double lw_saddle_condition(lw_saddle *saddle) {
    double condition = 1;
    if (saddle->A && !factor(saddle, &condition)) condition = HUGE_VAL;
    return condition;
}

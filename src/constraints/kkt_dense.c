/* kkt_dense.c - dense symmetric stationary-point systems by L D L'.
 *
 *   D K D = L D_1 L',   D a diagonal of powers of two that makes the largest entry of each row about one
 *
 * D takes units and masses out: whatever these are, pivots are compared with their like, and the result
 * scales with the units to the last bit. Multipliers that are left out get a one on the diagonal. Without
 * multipliers: Cholesky. What rounding leaves is corrected outside, by the equations that the system was made
 * of (refinement.c).
 *
 * Source   Mufti (1983), eqs 15, 51, 61, 73; the scaling is Ruiz's (2001), rows and columns alike.
 * Cost     (n + m)^3 / 3, dense; no allocation but in create.
 */
#include "constraints/kkt_dense.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lw_kkt_dense {
    int n, m, soft;
    bool doubtful;
    double norm, condition; /* condition: 0 if it is not known yet */
    double *matrix;         /* lower triangle, then its factors */
    double *scale, *most;   /* D; the largest entries of the rows */
    lw_symmetric *work;
};

lw_kkt_dense *lw_kkt_dense_create(int n, int m, int soft, bool doubtful) {
    lw_kkt_dense *saddle = calloc(1, sizeof *saddle);
    if (!saddle) return NULL;
    size_t size = (size_t)n + (size_t)m;
    saddle->n = n, saddle->m = m, saddle->soft = soft;
    saddle->doubtful = doubtful;
    saddle->condition = 1;
    saddle->matrix = calloc(size * size + 1, sizeof *saddle->matrix);
    saddle->scale = calloc(size + 1, sizeof *saddle->scale);
    saddle->most = calloc(size + 1, sizeof *saddle->most);
    saddle->work = lw_symmetric_create(n + m);
    if (saddle->matrix && saddle->scale && saddle->most && saddle->work) return saddle;
    lw_kkt_dense_destroy(saddle);
    return NULL;
}

void lw_kkt_dense_destroy(lw_kkt_dense *saddle) {
    if (!saddle) return;
    lw_symmetric_destroy(saddle->work);
    free(saddle->matrix), free(saddle->scale), free(saddle->most), free(saddle);
}

lw_status lw_kkt_dense_singular(lw_error *error) {
    return lw_fail(
        error, LW_ERROR_SINGULAR, NULL,
        "give mass or inertia to bodies that move freely without any; where bodies are very unlike, take "
        "method rcr or tree",
        "the equations of motion are singular to rounding: some acceleration is not determined, or one body "
        "is too light beside the others");
}

/* The lower triangle. */
static void fill(lw_kkt_dense *saddle, const double *A, const double *G, const double *S, const bool *kept,
                 int count) {
    int n = saddle->n, m = saddle->m, soft = saddle->soft;
    size_t size = (size_t)n + (size_t)m;
    for (int j = 0; j < n; j++) {
        double *column = saddle->matrix + (size_t)j * size;
        memcpy(column + j, A + (size_t)j * (size_t)n + j, (size_t)(n - j) * sizeof *column);
        for (int r = 0; r < m; r++) {
            bool out = kept && r >= m - count && !kept[r - (m - count)];
            column[n + r] = out ? 0 : -G[(size_t)r * (size_t)n + (size_t)j];
        }
    }
    for (int r = 0; r < m; r++) {
        double *column = saddle->matrix + ((size_t)n + (size_t)r) * size + n;
        bool out = kept && r >= m - count && !kept[r - (m - count)];
        memset(column + r, 0, (size_t)(m - r) * sizeof *column);
        int k = r - (m - soft);
        for (int l = k; k >= 0 && l < soft && !out; l++) {
            int row = m - soft + l;
            if (!(kept && row >= m - count && !kept[row - (m - count)]))
                column[row] = -S[(size_t)k * (size_t)soft + (size_t)l];
        }
        if (out) column[r] = 1;
    }
}

/* 2^-e with the whole e nearest to log2(x) / root; 1 for nothing. */
static double inverse_root(double x, int root) {
    int e = 0;
    if (x > 0 && isfinite(x)) frexp(x, &e);
    return ldexp(1, -(int)floor((double)e / root));
}

/* The largest entry of each row. */
static void find_most(lw_kkt_dense *saddle) {
    size_t size = (size_t)saddle->n + (size_t)saddle->m;
    memset(saddle->most, 0, size * sizeof *saddle->most);
    for (size_t j = 0; j < size; j++) {
        const double *column = saddle->matrix + j * size;
        double most = saddle->most[j];
        for (size_t i = j; i < size; i++) {
            double entry = fabs(column[i]);
            saddle->most[i] = fmax(saddle->most[i], entry);
            most = fmax(most, entry);
        }
        saddle->most[j] = most;
    }
}

/* D K D in place of K for the D in most. Returns whether that is any change. */
static bool apply_scale(lw_kkt_dense *saddle) {
    size_t size = (size_t)saddle->n + (size_t)saddle->m;
    bool change = false;
    for (size_t i = 0; i < size; i++) {
        change = change || saddle->most[i] != 1;
        saddle->scale[i] *= saddle->most[i];
    }
    for (size_t j = 0; j < size && change; j++) {
        double *column = saddle->matrix + j * size;
        for (size_t i = j; i < size; i++) column[i] *= saddle->most[i] * saddle->most[j];
    }
    return change;
}

/* First the unit of mass out of A, then that of each row; what is left is a matter of single bodies and rows,
 * and converges by half of its powers of two at a time. */
static void equilibrate(lw_kkt_dense *saddle) {
    enum { PASSES = 6 };
    size_t size = (size_t)saddle->n + (size_t)saddle->m, n = (size_t)saddle->n;
    double most = 0;
    for (size_t i = 0; i < size; i++) saddle->scale[i] = 1;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) most = fmax(most, fabs(saddle->matrix[i + j * size]));
    for (size_t i = 0; i < size; i++) saddle->most[i] = i < n ? inverse_root(most, 2) : 1;
    apply_scale(saddle);
    memset(saddle->most, 0, size * sizeof *saddle->most);
    for (size_t j = 0; j < n; j++)
        for (size_t i = n; i < size; i++)
            saddle->most[i] = fmax(saddle->most[i], fabs(saddle->matrix[i + j * size]));
    for (size_t i = 0; i < size; i++) saddle->most[i] = i < n ? 1 : inverse_root(saddle->most[i], 1);
    apply_scale(saddle);
    for (int pass = 0; pass < PASSES; pass++) {
        find_most(saddle);
        for (size_t i = 0; i < size; i++) saddle->most[i] = inverse_root(saddle->most[i], 2);
        if (!apply_scale(saddle)) break;
    }
}

lw_status lw_kkt_dense_factor(lw_kkt_dense *saddle, const double *A, const double *G, const double *S,
                              const bool *kept, int count, lw_error *error) {
    const double singular = 1e15; /* to rounding */
    int size = saddle->n + saddle->m;
    fill(saddle, A, G, S, kept, count);
    equilibrate(saddle);
    for (int r = 0; r < count && kept; r++)
        if (!kept[r])
            saddle->scale[size - count + r] =
                0; /* a multiplier that is left out is zero, whatever the row asks */
    saddle->norm = lw_symmetric_norm(saddle->work, size, saddle->matrix);
    bool regular = saddle->m == 0 ? lw_cholesky_factor(saddle->work, size, saddle->matrix, NULL)
                                  : lw_symmetric_factor(saddle->work, size, saddle->matrix, NULL);
    saddle->condition = regular ? 0 : HUGE_VAL;
    if (regular && (!saddle->doubtful || lw_kkt_dense_condition(saddle) < singular)) return LW_OK;
    return lw_kkt_dense_singular(error);
}

void lw_kkt_dense_solve(const lw_kkt_dense *saddle, double *right) {
    int size = saddle->n + saddle->m;
    for (int k = 0; k < size; k++) right[k] *= saddle->scale[k];
    if (saddle->m == 0)
        lw_cholesky_solve(saddle->work, size, saddle->matrix, 1, right);
    else
        lw_symmetric_solve(saddle->work, size, saddle->matrix, 1, right);
    for (int k = 0; k < size; k++) right[k] *= saddle->scale[k];
}

double lw_kkt_dense_condition(lw_kkt_dense *saddle) {
    if (!(saddle->condition > 0))
        saddle->condition = lw_factored_condition(saddle->work, saddle->n + saddle->m, saddle->matrix,
                                                  saddle->norm, saddle->m == 0);
    return saddle->condition;
}

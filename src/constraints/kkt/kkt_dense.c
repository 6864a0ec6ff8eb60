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
#include "constraints/kkt/kkt_dense.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

struct lw_kkt_dense {
    lw_arena *arena;
    int n, m, soft;
    bool doubtful;
    double norm, condition; /* condition: 0 if it is not known yet */
    double *matrix;         /* lower triangle, then its factors */
    double *scale, *most;   /* D; the largest entries of the rows */
    lw_symmetric *work;
};

lw_kkt_dense *lw_kkt_dense_create(int n, int m, int soft, bool doubtful) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_kkt_dense *kkt = LW_NEW(arena, lw_kkt_dense, 1);
    if (!kkt) {
        lw_arena_destroy(arena);
        return NULL;
    }
    size_t size = (size_t)n + (size_t)m;
    kkt->arena = arena;
    kkt->n = n, kkt->m = m, kkt->soft = soft;
    kkt->doubtful = doubtful;
    kkt->condition = 1;
    kkt->matrix = LW_NEW(arena, double, size *size + 1);
    kkt->scale = LW_NEW(arena, double, size + 1);
    kkt->most = LW_NEW(arena, double, size + 1);
    kkt->work = lw_symmetric_create(n + m);
    if (!lw_arena_failed(arena) && kkt->work) return kkt;
    lw_kkt_dense_destroy(kkt);
    return NULL;
}

void lw_kkt_dense_destroy(lw_kkt_dense *kkt) {
    if (!kkt) return;
    lw_symmetric_destroy(kkt->work);
    lw_arena_destroy(kkt->arena);
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
static void fill(lw_kkt_dense *kkt, const double *A, const double *G, const double *S, const bool *kept,
                 int count) {
    int n = kkt->n, m = kkt->m, soft = kkt->soft;
    size_t size = (size_t)n + (size_t)m;
    for (int j = 0; j < n; j++) {
        double *column = kkt->matrix + (size_t)j * size;
        memcpy(column + j, A + (size_t)j * (size_t)n + j, (size_t)(n - j) * sizeof *column);
        for (int r = 0; r < m; r++) {
            bool out = kept && r >= m - count && !kept[r - (m - count)];
            column[n + r] = out ? 0 : -G[(size_t)r * (size_t)n + (size_t)j];
        }
    }
    for (int r = 0; r < m; r++) {
        double *column = kkt->matrix + ((size_t)n + (size_t)r) * size + n;
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
static void find_most(lw_kkt_dense *kkt) {
    size_t size = (size_t)kkt->n + (size_t)kkt->m;
    memset(kkt->most, 0, size * sizeof *kkt->most);
    for (size_t j = 0; j < size; j++) {
        const double *column = kkt->matrix + j * size;
        double most = kkt->most[j];
        for (size_t i = j; i < size; i++) {
            double entry = fabs(column[i]);
            kkt->most[i] = fmax(kkt->most[i], entry);
            most = fmax(most, entry);
        }
        kkt->most[j] = most;
    }
}

/* D K D in place of K for the D in most. Returns whether that is any change. */
static bool apply_scale(lw_kkt_dense *kkt) {
    size_t size = (size_t)kkt->n + (size_t)kkt->m;
    bool change = false;
    for (size_t i = 0; i < size; i++) {
        change = change || kkt->most[i] != 1;
        kkt->scale[i] *= kkt->most[i];
    }
    for (size_t j = 0; j < size && change; j++) {
        double *column = kkt->matrix + j * size;
        for (size_t i = j; i < size; i++) column[i] *= kkt->most[i] * kkt->most[j];
    }
    return change;
}

/* First the unit of mass out of A, then that of each row, from G and from the root of S: a row that turns
 * nothing has rounding in G, down to 1e-160, and by that alone S would overflow. What is left is a matter of
 * single bodies and rows, and converges by half of its powers of two at a time. */
static void equilibrate(lw_kkt_dense *kkt) {
    enum { PASSES = 6 };
    size_t size = (size_t)kkt->n + (size_t)kkt->m, n = (size_t)kkt->n;
    double most = 0;
    for (size_t i = 0; i < size; i++) kkt->scale[i] = 1;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) most = fmax(most, fabs(kkt->matrix[i + j * size]));
    for (size_t i = 0; i < size; i++) kkt->most[i] = i < n ? inverse_root(most, 2) : 1;
    apply_scale(kkt);
    memset(kkt->most, 0, size * sizeof *kkt->most);
    for (size_t j = 0; j < n; j++)
        for (size_t i = n; i < size; i++) kkt->most[i] = fmax(kkt->most[i], fabs(kkt->matrix[i + j * size]));
    for (size_t i = size - (size_t)kkt->soft; i < size; i++)
        kkt->most[i] = fmax(kkt->most[i], sqrt(fabs(kkt->matrix[i * (size + 1)])));
    for (size_t i = 0; i < size; i++) kkt->most[i] = i < n ? 1 : inverse_root(kkt->most[i], 1);
    apply_scale(kkt);
    for (int pass = 0; pass < PASSES; pass++) {
        find_most(kkt);
        for (size_t i = 0; i < size; i++) kkt->most[i] = inverse_root(kkt->most[i], 2);
        if (!apply_scale(kkt)) break;
    }
}

lw_status lw_kkt_dense_factor(lw_kkt_dense *kkt, const double *A, const double *G, const double *S,
                              const bool *kept, int count, lw_error *error) {
    const double singular = 1e15; /* to rounding */
    int size = kkt->n + kkt->m;
    fill(kkt, A, G, S, kept, count);
    equilibrate(kkt);
    for (int r = 0; r < count && kept; r++)
        if (!kept[r])
            kkt->scale[size - count + r] =
                0; /* a multiplier that is left out is zero, whatever the row asks */
    kkt->norm = lw_symmetric_norm(kkt->work, size, kkt->matrix);
    bool regular = kkt->m == 0 ? lw_cholesky_factor(kkt->work, size, kkt->matrix, NULL)
                               : lw_symmetric_factor(kkt->work, size, kkt->matrix, NULL);
    kkt->condition = regular ? 0 : HUGE_VAL;
    if (regular && (!kkt->doubtful || lw_kkt_dense_condition(kkt) < singular)) return LW_OK;
    return lw_kkt_dense_singular(error);
}

void lw_kkt_dense_solve(const lw_kkt_dense *kkt, double *right) {
    int size = kkt->n + kkt->m;
    for (int k = 0; k < size; k++) right[k] *= kkt->scale[k];
    if (kkt->m == 0)
        lw_cholesky_solve(kkt->work, size, kkt->matrix, 1, right);
    else
        lw_symmetric_solve(kkt->work, size, kkt->matrix, 1, right);
    for (int k = 0; k < size; k++) right[k] *= kkt->scale[k];
}

double lw_kkt_dense_condition(lw_kkt_dense *kkt) {
    if (!(kkt->condition > 0))
        kkt->condition =
            lw_factored_condition(kkt->work, kkt->n + kkt->m, kkt->matrix, kkt->norm, kkt->m == 0);
    return kkt->condition;
}

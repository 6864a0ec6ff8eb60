/* eigen_lowest.c - the smallest eigenvalues of K x = w M x by simultaneous inverse iteration with a shift.
 *
 *   (K - s M) Y = M X,   K' = Y'K Y,  M' = Y'M Y,   K' Z = M' Z diag(w),   X = Y Z
 *
 * The shift s lies below all eigenvalues, which a Cholesky factor of K - s M proves: so the smallest come
 * first, negative ones too, and none is passed over, however often it repeats. With p vectors for `count`
 * eigenvalues vector k converges by (w_k - s) / (w_p+1 - s) in an iteration, and w_k by its square.
 *
 * Source   B. N. Parlett, The symmetric eigenvalue problem (1998), 14 and 15.
 * Cost     n^3 / 3 for the factor, then 10 n^2 p per iteration; dense eigenvalues of p x p. Allocates.
 */
#include "linalg/dense.h"
#include "linalg/eigen.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITERATIONS = 300, SHIFTS = 16 };

/* A measure of the largest w: the largest sum of a row of K, made dimensionless by the diagonal of M. */
static double largest(int n, const double *K, const double *M) {
    double most = 0;
    for (int j = 0; j < n; j++) {
        double row = 0;
        for (int i = 0; i < n; i++)
            row += fabs(K[i + (size_t)j * (size_t)n]) / sqrt(M[(size_t)i * ((size_t)n + 1)]);
        most = fmax(most, row / sqrt(M[(size_t)j * ((size_t)n + 1)]));
    }
    return most;
}

/* The largest entry of each row of K, times the units; where it is next to nothing among all, the entries are
 * rounding, and it is the largest of all. Divided by the square of the unit. */
static void find_sizes(int n, const double *K, const double *unit, double *sizes) {
    double most = 0;
    for (int i = 0; i < n; i++) sizes[i] = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            sizes[i] = fmax(sizes[i], fabs(K[i + (size_t)j * (size_t)n]) * unit[i] * unit[j]);
    for (int i = 0; i < n; i++) most = fmax(most, sizes[i]);
    for (int i = 0; i < n; i++) sizes[i] = (sizes[i] > 1e-12 * most ? sizes[i] : most) / (unit[i] * unit[i]);
}

/* What rounding of K may leave in x'K x. */
static double rounding_of(int n, const double *sizes, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += sizes[i] * x[i] * x[i];
    return 4e-16 * sum;
}

static void start(size_t count, double *X) {
    uint64_t state = 88172645463325252u; /* Any numbers that are not special will do. */
    for (size_t k = 0; k < count; k++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        X[k] = (double)(state >> 11) * 0x1p-53 - 0.5;
    }
}

/* Columns of Y with Y'M Y = 1, by Gram and Schmidt twice: inverse iteration leaves random columns nearly
 * parallel. MY follows. */
static void orthonormal(int n, int p, double *Y, double *MY) {
    for (int j = 0; j < p; j++) {
        double *y = Y + (size_t)j * (size_t)n, *My = MY + (size_t)j * (size_t)n, size = 0;
        for (int k = 0; k < 2 * j; k++) {
            const double *x = Y + (size_t)(k % j) * (size_t)n, *Mx = MY + (size_t)(k % j) * (size_t)n;
            double along = 0;
            for (int i = 0; i < n; i++) along += Mx[i] * y[i];
            for (int i = 0; i < n; i++) y[i] -= along * x[i], My[i] -= along * Mx[i];
        }
        for (int i = 0; i < n; i++) size += y[i] * My[i];
        size = size > 0 ? 1 / sqrt(size) : 0;
        for (int i = 0; i < n; i++) y[i] *= size, My[i] *= size;
    }
}

bool lw_eigen_lowest(int n, const double *K, const double *M, const double *unit, int count, double *values,
                     double *vectors, double *rounding) {
    const int p = 2 * count + 8 < n ? 2 * count + 8 : n;
    const size_t square = (size_t)n * (size_t)n, wide = (size_t)n * (size_t)p, small = (size_t)p * (size_t)p;
    double *S = malloc((square + 3 * wide + 2 * small + 2 * (size_t)p + (size_t)n) * sizeof *S);
    lw_symmetric *factors = lw_symmetric_create(n);
    bool found = false;
    if (S && factors) {
        double *X = S + square, *Y = X + wide, *MY = Y + wide, *Kp = MY + wide, *Mp = Kp + small;
        double *w = Mp + small, *last = w + p, *sizes = last + p, shift = -1e-13 * largest(n, K, M);
        bool below = false;
        for (int k = 0; k < SHIFTS && !below; k++, shift *= 10) {
            for (size_t i = 0; i < square; i++) S[i] = K[i] - shift * M[i];
            below = lw_cholesky_factor(factors, n, S, NULL);
            if (below) break;
        }
        start(wide, X);
        find_sizes(n, K, unit, sizes);
        for (int i = 0; i < p; i++) last[i] = HUGE_VAL;
        for (int k = 0; below && !found && k < MOST_ITERATIONS; k++) {
            lw_dense_multiply(false, false, n, p, n, 1, M, X, 0, Y);
            lw_cholesky_solve(factors, n, S, p, Y);
            /* The first one's MY has lost digits with what it took off. */
            for (int pass = 0; pass < 2; pass++) {
                lw_dense_multiply(false, false, n, p, n, 1, M, Y, 0, MY);
                orthonormal(n, p, Y, MY);
            }
            lw_dense_multiply(true, false, p, p, n, 1, Y, MY, 0, Mp);
            lw_dense_multiply(false, false, n, p, n, 1, K, Y, 0, MY);
            lw_dense_multiply(true, false, p, p, n, 1, Y, MY, 0, Kp);
            if (!lw_eigen_definite(p, Kp, Mp, w)) break;
            lw_dense_multiply(false, false, n, p, p, 1, Y, Kp, 0, X);
            found = k > 2;
            for (int i = 0; i < count; i++) {
                rounding[i] = rounding_of(n, sizes, X + (size_t)i * (size_t)n);
                found = found && fabs(w[i] - last[i]) <= 1e-13 * fabs(w[i] - shift) + rounding[i];
            }
            memcpy(last, w, (size_t)p * sizeof *w);
        }
        memcpy(values, w, (size_t)count * sizeof *w);
        memcpy(vectors, X, (size_t)n * (size_t)count * sizeof *X);
    }
    free(S);
    lw_symmetric_destroy(factors);
    return found;
}

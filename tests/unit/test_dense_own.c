/* test_dense_own.c - the dense routines of our own against LAPACK's and against bounds of their backward errors, on
 * random matrices: tiny and large, of full and of lower rank, and with entries from 1e-150 to 1e150. The two forms of
 * ours, with AVX2 and without, give the same bits.
 */
#include "linalg/dense_routines.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern void dtrsm_(const char *, const char *, const char *, const char *, const int *, const int *,
                   const double *, const double *, const int *, double *, const int *);
extern void dsytrs_(const char *, const int *, const int *, const double *, const int *, const int *,
                    double *, const int *, int *);

enum { MOST = 70, COUNT = MOST * MOST, SEEDS = 250, WORK = 200 * MOST + 8 * COUNT };

/* Sums of n products, each rounded: n roundings, and some room for the few operations around them. */
static double rounding(int n) { return 8 * DBL_EPSILON * (n + 4); }

static double A[COUNT], B[COUNT], C[3][COUNT], F[3][COUNT], U[3][COUNT], V[3][COUNT], X[COUNT], work[WORK];
static double s[3][MOST], tau[3][MOST];
static int order[3][MOST], integers[8 * MOST];

/* Ours, ours with AVX2 where the processor has it, LAPACK's. */
static const lw_dense_routines *by[3];

static int set_up(void **state) {
    (void)state;
    by[0] = by[1] = &lw_dense_own;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) by[1] = &lw_dense_own_avx2;
#endif
    by[2] = lw_dense_lapack();
    return by[2] ? 0 : 1;
}

/* Small sizes often, large ones now and then. */
static int size_of(lw_random *random) {
    const int most[] = {4, 12, 30, MOST};
    return 1 + random_below(random, most[random_below(random, 4)]);
}

static void same_bits(const void *a, const void *b, size_t size, const char *what, int seed) {
    if (memcmp(a, b, size) != 0) fail_msg("%s, seed %d: AVX2 gives other bits", what, seed);
}

static double largest_of(const double *x, int count) {
    double largest = 0;
    for (int k = 0; k < count; k++) largest = fmax(largest, fabs(x[k]));
    return largest;
}

/* X Y' of the rank, or full; entries about one. */
static void random_matrix(lw_random *random, int m, int n, int rank, double *out) {
    if (rank >= m || rank >= n) {
        random_vector(random, m * n, 1, out);
        return;
    }
    static double left[COUNT], right[COUNT];
    random_vector(random, m * rank, 1, left), random_vector(random, n * rank, 1, right);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            out[i + j * m] = 0;
            for (int k = 0; k < rank; k++) out[i + j * m] += left[i + k * m] * right[j + k * n];
        }
}

static void products(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        const int m = size_of(&random), n = size_of(&random), k = size_of(&random), form = seed % 4;
        const bool ta = form & 1, tb = form & 2;
        const double scale = seed % 5 == 0 ? 1e150 : 1, alpha = random_between(&random, -2, 2);
        const double beta = seed % 3 == 0 ? 0 : random_between(&random, -2, 2);
        random_vector(&random, m * k, scale, A), random_vector(&random, n * k, 1 / scale, B);
        random_vector(&random, m * n, 1, C[0]);
        memcpy(C[1], C[0], sizeof C[0]), memcpy(C[2], C[0], sizeof C[0]);
        for (int i = 0; i < m * n && beta == 0; i++)
            C[0][i] = C[1][i] = C[2][i] = NAN; /* It does not count. */
        for (int f = 0; f < 3; f++) by[f]->multiply(ta, tb, m, n, k, alpha, A, B, beta, C[f]);
        same_bits(C[0], C[1], (size_t)(m * n) * sizeof **C, "product", seed);
        for (int q = 0; q < m * n; q++)
            if (!(fabs(C[0][q] - C[2][q]) <= rounding(k) * (k + 2)))
                fail_msg("product, seed %d: %g and %g", seed, C[0][q], C[2][q]);
        double y[3][MOST], x[MOST];
        random_vector(&random, MOST, 1 / scale, x);
        random_vector(&random, MOST, 1, y[0]), memcpy(y[1], y[0], sizeof y[0]),
            memcpy(y[2], y[0], sizeof y[0]);
        const int rows = ta ? k : m, columns = ta ? m : k; /* A as it lies there */
        for (int f = 0; f < 2; f++) by[f]->times(ta, rows, columns, alpha, A, x, 1, y[f]);
        by[2]->multiply(ta, false, m, 1, k, alpha, A, x, 1, y[2]);
        same_bits(y[0], y[1], (size_t)m * sizeof **y, "times", seed);
        for (int i = 0; i < m; i++) assert_true(fabs(y[0][i] - y[2][i]) <= rounding(k) * (k + 2));
    }
}

/* Solutions of triangles: |T x - b| against |T| |x|, row by row, and LAPACK's where the triangle is tame. */
static void triangles(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        const int n = size_of(&random), columns = 1 + random_below(&random, 5),
                  stride = n + random_below(&random, 3);
        const bool upper = seed & 1, transpose = seed & 2;
        const double one = 1;
        static double T[COUNT + 3 * MOST], right[COUNT];
        random_vector(&random, stride * n, 1, T);
        for (int i = 0; i < n; i++) T[i * (stride + 1)] += T[i * (stride + 1)] < 0 ? -n : n;
        for (int i = 0; i < n && seed % 4 > 1; i++) { /* rows and columns from 1e-75 to 1e75 */
            const double d = pow(10, random_between(&random, -75, 75));
            for (int j = 0; j < n; j++) T[i + j * stride] *= d, T[j + i * stride] *= d;
        }
        for (int k = 0; k < n * columns; k++) right[k] = random_between(&random, -1, 1);
        for (int f = 0; f < 3; f++) memcpy(C[f], right, sizeof(double) * (size_t)(n * columns));
        for (int f = 0; f < 2; f++) by[f]->triangle(upper, transpose, n, T, stride, columns, C[f], n);
        dtrsm_("L", upper ? "U" : "L", transpose ? "T" : "N", "N", &n, &columns, &one, T, &stride, C[2], &n);
        same_bits(C[0], C[1], sizeof(double) * (size_t)(n * columns), "triangle", seed);
        for (int c = 0; c < columns; c++)
            for (int i = 0; i < n; i++) {
                double sum = -right[i + c * n], amount = fabs(sum);
                for (int j = 0; j < n; j++) {
                    const int row = transpose ? j : i, column = transpose ? i : j;
                    if (upper ? row > column : row < column) continue;
                    const double term = T[row + column * stride] * C[0][j + c * n];
                    sum += term, amount += fabs(term);
                }
                if (!(fabs(sum) <= rounding(n) * amount))
                    fail_msg("triangle, seed %d: %g of %g", seed, sum, amount);
                const double ours = C[0][i + c * n], theirs = C[2][i + c * n];
                if (seed % 4 < 2 && !(fabs(ours - theirs) <= rounding(n) * largest_of(C[2] + c * n, n)))
                    fail_msg("triangle, seed %d: %g, LAPACK %g", seed, ours, theirs);
            }
    }
}

/* B B' + a diagonal, or of the rank; rows and columns scaled by up to 75 decades each way, so that the entries are
 * from 1e-150 to 1e150. */
static void random_definite(lw_random *random, int n, int rank, bool graded, double *out) {
    double d[MOST];
    random_matrix(random, n, rank, n, B);
    for (int i = 0; i < n; i++) d[i] = graded ? pow(10, random_between(random, -75, 75)) : 1;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double sum = i == j && rank >= n;
            for (int k = 0; k < rank; k++) sum += B[i + k * n] * B[j + k * n];
            out[i + j * n] = d[i] * sum * d[j];
        }
}

/* |A - L L'| against sqrt(a_ii a_jj), which rows and columns of any scale have in common. */
static void cholesky(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        const int n = size_of(&random);
        random_definite(&random, n, n, seed % 2, A);
        for (int f = 0; f < 3; f++) {
            memcpy(F[f], A, sizeof F[f]);
            for (int j = 1; j < n; j++) F[f][j - 1 + j * n] = NAN; /* The upper triangle is not read. */
            assert_true(by[f]->cholesky(n, F[f]));
        }
        same_bits(F[0], F[1], sizeof(double) * (size_t)(n * n), "cholesky", seed);
        for (int j = 0; j < n; j++)
            for (int i = j; i < n; i++) {
                double sum = A[i + j * n], bound = sqrt(A[i * (n + 1)]) * sqrt(A[j * (n + 1)]);
                for (int k = 0; k <= j; k++) sum -= F[0][i + k * n] * F[0][j + k * n];
                if (!(fabs(sum) <= rounding(n) * bound))
                    fail_msg("cholesky, seed %d: %g of %g", seed, sum, bound);
                /* relative to the length of row i of L; 1e3 for the condition of B B' + 1 */
                assert_true(fabs(F[0][i + j * n] - F[2][i + j * n]) <=
                            1e3 * rounding(n) * sqrt(A[i * (n + 1)]));
            }
        A[(n - 1) * (n + 1)] = -fabs(A[(n - 1) * (n + 1)]);
        for (int f = 0; f < 3; f++) {
            memcpy(F[f], A, sizeof F[f]);
            assert_false(by[f]->cholesky(n, F[f]));
        }
        A[0] = NAN;
        assert_false(by[seed % 2]->cholesky(n, A));
    }
}

/* Rank and |P'A P - L L'|; LAPACK finds the same rank, and the same pivots where no two are equal. */
static void semidefinite(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        const int n = size_of(&random), rank = 1 + random_below(&random, n);
        const double scale = seed % 3 == 0 ? 1e-150 : seed % 3 == 1 ? 1e150 : 1;
        int ranks[3];
        random_definite(&random, n, rank, false, A);
        for (int k = 0; k < n * n; k++) A[k] *= scale;
        double largest = 0;
        for (int i = 0; i < n; i++) largest = fmax(largest, A[i * (n + 1)]);
        for (int f = 0; f < 3; f++) {
            memcpy(F[f], A, sizeof F[f]);
            ranks[f] = by[f]->semidefinite(n, F[f], order[f], work, 1e-10 * largest);
        }
        assert_int_equal(ranks[0], ranks[1]);
        assert_int_equal(ranks[0], ranks[2]);
        assert_true(ranks[0] <= rank);
        same_bits(order[0], order[1], sizeof(int) * (size_t)n, "semidefinite", seed);
        for (int j = 0; j < ranks[0]; j++)
            same_bits(F[0] + j * (n + 1), F[1] + j * (n + 1), sizeof(double) * (size_t)(n - j),
                      "semidefinite", seed);
        for (int j = 0; j < n; j++)
            for (int i = j; i < n; i++) {
                const int row = order[0][i], column = order[0][j];
                double sum = A[row + column * n];
                for (int k = 0; k < ranks[0] && k <= j; k++) sum -= F[0][i + k * n] * F[0][j + k * n];
                assert_true(fabs(sum) <= (rounding(n) + 1e-10) * largest);
            }
        for (int j = 0; j < ranks[0]; j++) /* pivots, most of them far above the rounding that they carry */
            assert_true(fabs(F[0][j * (n + 1)] - F[2][j * (n + 1)]) <= 1e-5 * F[0][0]);
    }
}

/* |A x - b| against |A| |x|: with growth as bounded as the pivoting makes it. Our solution also takes LAPACK's
 * factors, and LAPACK's ours. */
static void indefinite(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        const int n = size_of(&random), columns = 1 + random_below(&random, 3);
        const double scale = seed % 3 == 0 ? 1e-150 : seed % 3 == 1 ? 1e150 : 1;
        random_vector(&random, n * n, scale, A);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < j; i++) A[i + j * n] = A[j + i * n];
        /* a block of zeros, as of multipliers; two rows of three at most, so that it is regular */
        const int zeros = seed % 2 ? n / 3 : 0;
        for (int j = n - zeros; j < n; j++)
            for (int i = n - zeros; i < n; i++) A[i + j * n] = 0;
        random_vector(&random, n * columns, 1, B);
        for (int f = 0; f < 3; f++) {
            memcpy(F[f], A, sizeof F[f]), memcpy(C[f], B, sizeof C[f]);
            for (int j = 1; j < n; j++) F[f][j - 1 + j * n] = NAN;
            assert_true(by[f]->indefinite(n, F[f], order[f], work, WORK));
        }
        same_bits(order[0], order[1], sizeof(int) * (size_t)n, "indefinite", seed);
        for (int j = 0; j < n; j++)
            same_bits(F[0] + j * (n + 1), F[1] + j * (n + 1), sizeof(double) * (size_t)(n - j), "indefinite",
                      seed);
        int info;
        by[0]->indefinite_solve(n, F[0], order[0], columns, C[0]);
        by[1]->indefinite_solve(n, F[2], order[2], columns, C[1]);
        dsytrs_("L", &n, &columns, F[0], &n, order[0], C[2], &n, &info);
        for (int f = 0; f < 3; f++)
            for (int c = 0; c < columns; c++)
                for (int i = 0; i < n; i++) {
                    double sum = -B[i + c * n], amount = fabs(sum);
                    for (int j = 0; j < n; j++) sum += A[i + j * n] * C[f][j + c * n];
                    amount += n * scale * largest_of(C[f] + c * n, n);
                    if (!(fabs(sum) <= 20 * rounding(n) * amount))
                        fail_msg("indefinite, seed %d, form %d: %g of %g", seed, f, sum, amount);
                }
    }
    double zero[4] = {0}, nan[4] = {NAN, 1, 1, 1};
    assert_false(lw_dense_own.indefinite(2, zero, order[0], work, WORK));
    assert_false(lw_dense_own.indefinite(2, nan, order[0], work, WORK));
}

/* Columns from 1e-150 to 1e150: |A P - Q R| of each column against its length. The diagonal of R falls, and is
 * LAPACK's. */
static void qr(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        const int m = size_of(&random), n = size_of(&random), small = m < n ? m : n;
        const int rank = 1 + random_below(&random, small);
        const bool graded = seed % 3 == 0;
        random_matrix(&random, m, n, rank, A);
        for (int j = 0; j < n && graded; j++) {
            const double d = pow(10, random_between(&random, -150, 150));
            for (int i = 0; i < m; i++) A[i + j * m] *= d;
        }
        for (int f = 0; f < 3; f++) {
            memcpy(F[f], A, sizeof F[f]);
            by[f]->qr(m, n, F[f], order[f], tau[f], work, WORK);
        }
        same_bits(F[0], F[1], sizeof(double) * (size_t)(m * n), "qr", seed);
        same_bits(order[0], order[1], sizeof(int) * (size_t)n, "qr", seed);
        memset(C, 0, sizeof C);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m && i <= j; i++)
                C[0][i + j * m] = C[1][i + j * m] = C[2][i + j * m] = F[0][i + j * m];
        for (int f = 0; f < 3; f++) by[f]->reflect(false, m, small, F[0], tau[0], n, C[f], work, WORK);
        same_bits(C[0], C[1], sizeof(double) * (size_t)(m * n), "reflect", seed);
        for (int j = 0; j < n; j++) {
            const double *column = A + order[0][j] * m, largest = largest_of(column, m);
            for (int i = 0; i < m; i++) {
                if (!(fabs(C[0][i + j * m] - column[i]) <= 4 * rounding(m) * small * largest))
                    fail_msg("qr, seed %d: %g, not %g", seed, C[0][i + j * m], column[i]);
                assert_true(fabs(C[0][i + j * m] - C[2][i + j * m]) <= 4 * rounding(m) * small * largest);
            }
        }
        for (int k = 1; k < small; k++) /* Lengths are known to half of the digits at least. */
            assert_true(fabs(F[0][k * (m + 1)]) <= fabs(F[0][(k - 1) * (m + 1)]) * (1 + 1e-7));
        for (int k = 0; k < rank && !graded; k++)
            assert_true(fabs(fabs(F[0][k * (m + 1)]) - fabs(F[2][k * (m + 1)])) <= 1e-7 * fabs(F[0][0]));
        for (int j = 0; j < m; j++) /* Q'Q = 1 */
            for (int i = 0; i < m; i++) X[i + j * m] = i == j;
        by[0]->reflect(false, m, small, F[0], tau[0], m, X, work, WORK);
        by[1]->reflect(true, m, small, F[0], tau[0], m, X, work, WORK);
        for (int j = 0; j < m; j++)
            for (int i = 0; i < m; i++) assert_true(fabs(X[i + j * m] - (i == j)) <= rounding(m) * 4);
    }
}

/* A power of two, however large or small, scales R and nothing else, but for what is rounded at the end of the range
 * of numbers. */
static void extreme_scales(void **state) {
    (void)state;
    lw_random random = random_seed(1);
    const int m = 6, n = 5, exponents[] = {-1000, 1018};
    random_vector(&random, m * n, 1, A);
    memcpy(F[0], A, sizeof F[0]);
    lw_dense_own.qr(m, n, F[0], order[0], tau[0], work, WORK);
    for (int e = 0; e < 2; e++) {
        for (int k = 0; k < m * n; k++) F[1][k] = ldexp(A[k], exponents[e]);
        lw_dense_own.qr(m, n, F[1], order[1], tau[1], work, WORK);
        assert_memory_equal(order[0], order[1], sizeof(int) * (size_t)n);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                const double entry = i <= j ? ldexp(F[1][i + j * m], -exponents[e]) : F[1][i + j * m];
                assert_true(fabs(entry - F[0][i + j * m]) <= 1e-13);
            }
    }
}

static void svd(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        const int m = size_of(&random), n = size_of(&random), small = m < n ? m : n;
        const int rank = seed % 7 == 0 ? 0 : 1 + random_below(&random, small);
        const double scale = seed % 3 == 0 ? 1e-150 : seed % 3 == 1 ? 1e150 : 1;
        random_matrix(&random, m, n, rank, A);
        for (int k = 0; k < m * n; k++) A[k] *= scale;
        for (int j = 0; j < n && seed % 5 == 0; j++) { /* columns of very different lengths */
            const double d = pow(10, -random_between(&random, 0, 12));
            for (int i = 0; i < m; i++) A[i + j * m] *= d;
        }
        for (int f = 0; f < 3; f++) {
            memcpy(F[f], A, sizeof F[f]);
            assert_true(by[f]->svd(m, n, F[f], s[f], U[f], V[f], tau[f], integers, work, WORK));
        }
        same_bits(s[0], s[1], sizeof(double) * (size_t)small, "svd", seed);
        same_bits(U[0], U[1], sizeof(double) * (size_t)(m * m), "svd", seed);
        same_bits(V[0], V[1], sizeof(double) * (size_t)(n * n), "svd", seed);
        const double bound = 4 * rounding(m + n) * s[2][0];
        for (int k = 0; k < small; k++) {
            if (!(fabs(s[0][k] - s[2][k]) <= bound))
                fail_msg("svd, seed %d: %g, not %g", seed, s[0][k], s[2][k]);
            assert_true(k == 0 || s[0][k] <= s[0][k - 1]);
        }
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                double sum = -A[i + j * m];
                for (int k = 0; k < small; k++) sum += U[0][i + k * m] * s[0][k] * V[0][k + j * n];
                assert_true(fabs(sum) <= bound);
            }
        for (int side = 0; side < 2; side++) { /* U'U = 1, V V' = 1 */
            const int size = side ? n : m;
            for (int i = 0; i < size; i++)
                for (int j = 0; j <= i; j++) {
                    double sum = 0;
                    for (int k = 0; k < size; k++)
                        sum += side ? V[0][i + k * n] * V[0][j + k * n] : U[0][k + i * m] * U[0][k + j * m];
                    if (!(fabs(sum - (i == j)) <= 4 * rounding(size)))
                        fail_msg("svd, seed %d: %g", seed, sum);
                }
        }
    }
    /* Kahan's triangles: the least singular value is far below the last pivot, down to less than rounding, so that
     * entries of the bidiagonal matrix vanish, at its end and, with several triangles, inside. */
    for (int blocks = 1; blocks <= 3; blocks++) {
        const int n = MOST / blocks * blocks, size = n / blocks;
        memset(A, 0, sizeof A);
        for (int j = 0; j < n; j++)
            for (int i = j / size * size; i <= j; i++)
                A[i + j * n] =
                    pow(0.96, i % size) * (i == j ? 1 + 1e-13 * (n - i) : -0.28) * pow(0.5, blocks == 2);
        for (int f = 0; f < 3; f++) {
            memcpy(F[f], A, sizeof F[f]);
            assert_true(by[f]->svd(n, n, F[f], s[f], U[f], V[f], tau[f], integers, work, WORK));
        }
        for (int k = 0; k < n; k++) assert_true(fabs(s[0][k] - s[2][k]) <= rounding(n) * s[2][0]);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                double sum = -A[i + j * n];
                for (int k = 0; k < n; k++) sum += U[0][i + k * n] * s[0][k] * V[0][k + j * n];
                assert_true(fabs(sum) <= rounding(n) * s[2][0]);
            }
    }
    double no_number[4] = {1, NAN, 1, 1};
    assert_false(lw_dense_own.svd(2, 2, no_number, s[0], U[0], V[0], tau[0], integers, work, WORK));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),     cmocka_unit_test(triangles),      cmocka_unit_test(cholesky),
        cmocka_unit_test(semidefinite), cmocka_unit_test(indefinite),     cmocka_unit_test(qr),
        cmocka_unit_test(svd),          cmocka_unit_test(extreme_scales),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

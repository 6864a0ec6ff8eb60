/* test_dense.c - dense linear algebra: products, factorisations and ranks against their definitions, empty sizes too.
 */
#include "linalg/dense.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#define MOST 12
#define SEEDS 40

/* Sums of at most a dozen products of numbers up to one, solved with condition numbers up to about 1e3. */
static const double rounding = 1e-14, solved = 1e-10;

static void near(const double *a, const double *b, int count, double tolerance, const char *what, int seed) {
    double difference = relative_difference(a, b, count);
    if (!(difference <= tolerance)) fail_msg("%s, seed %d: %g", what, seed, difference);
}

static double entry(const double *A, bool transpose, int rows, int i, int j) {
    return transpose ? A[j + i * rows] : A[i + j * rows];
}

static void products(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        int m = random_below(&random, 6), n = random_below(&random, 6), k = random_below(&random, 6);
        double A[36], B[36], C[36], want[36];
        random_vector(&random, 36, 1, A), random_vector(&random, 36, 1, B), random_vector(&random, 36, 1, C);
        for (int form = 0; form < 4; form++) {
            bool ta = form & 1, tb = form & 2;
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) {
                    want[i + j * m] = 0.5 * C[i + j * m];
                    for (int l = 0; l < k; l++)
                        want[i + j * m] +=
                            2 * entry(A, ta, ta ? k : m, i, l) * entry(B, tb, tb ? n : k, l, j);
                }
            double out[36];
            memcpy(out, C, sizeof out);
            lw_dense_multiply(ta, tb, m, n, k, 2, A, B, 0.5, out);
            near(out, want, m * n, rounding, "product", seed);
        }
        for (int transpose = 0; transpose < 2; transpose++) {
            int rows = transpose ? n : m, columns = transpose ? m : n;
            double y[6], right[6];
            random_vector(&random, 6, 1, y);
            for (int i = 0; i < rows; i++) {
                right[i] = 3 * y[i];
                for (int j = 0; j < columns; j++) right[i] -= entry(A, transpose, m, i, j) * B[j];
            }
            lw_dense_times(transpose, m, n, -1, A, B, 3, y);
            near(y, right, rows, rounding, "times", seed);
        }
    }
}

/* B'B + 1, or the same with some signs turned. */
static void random_symmetric(lw_random *random, int n, bool definite, double *A) {
    double B[MOST * MOST];
    random_vector(random, n * n, 1, B);
    lw_dense_multiply(true, false, n, n, n, 1, B, B, 0, A);
    for (int i = 0; i < n; i++) A[i + i * n] += definite || i % 2 ? 1 : -2 * n;
}

static void symmetric_systems(void **state) {
    (void)state;
    lw_symmetric *work = lw_symmetric_create(MOST);
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        int n = random_below(&random, MOST + 1), columns = random_below(&random, 3);
        double A[MOST * MOST], factor[MOST * MOST], X[3 * MOST], B[3 * MOST], condition, none;
        random_vector(&random, n * columns, 1, X);
        for (int definite = 0; definite < 2; definite++) {
            random_symmetric(&random, n, definite, A);
            lw_dense_multiply(false, false, n, columns, n, 1, A, X, 0, B);
            memcpy(factor, A, sizeof factor);
            for (int j = 1; j < n; j++)
                for (int i = 0; i < j; i++) factor[i + j * n] = NAN; /* only the lower triangle is read */
            if (definite) {
                assert_true(lw_cholesky_factor(work, n, factor, &condition));
                lw_cholesky_solve(work, n, factor, columns, B);
            } else {
                assert_true(lw_symmetric_factor(work, n, factor, &condition));
                lw_symmetric_solve(work, n, factor, columns, B);
                memcpy(factor, A, sizeof factor);
                if (n > 0) assert_false(lw_cholesky_factor(work, n, factor, &none));
            }
            assert_true(condition > 1 - rounding && condition < 1e6);
            near(B, X, n * columns, solved, "solution", seed);
        }
    }
    double singular[4] = {0, 0, 0, 0};
    assert_false(lw_symmetric_factor(work, 2, singular, NULL));
    lw_symmetric_destroy(work);
    lw_symmetric_destroy(NULL);
}

/* An m x n matrix of a given rank; rows and columns may be fewer than the workspace's. */
static void ranks(void **state) {
    (void)state;
    lw_orthogonal *work = lw_orthogonal_create(MOST, MOST - 2, true);
    for (int seed = 1; seed <= 4 * SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        int m = random_below(&random, MOST + 1), n = random_below(&random, MOST - 1), small = m < n ? m : n;
        int rank = random_below(&random, small + 1), order[MOST], seen[MOST] = {0};
        double X[MOST * MOST], Y[MOST * MOST], A[MOST * MOST] = {0}, R[MOST * MOST],
                                                        product[MOST * MOST] = {0};
        random_vector(&random, m * rank, 1, X);
        random_vector(&random, n * rank, 1, Y);
        lw_dense_multiply(false, true, m, n, rank, 1, X, Y, 0, A);
        memcpy(R, A, sizeof R);
        assert_int_equal(lw_qr_factor(work, m, n, R, order, LW_RANK_TOLERANCE), rank);
        for (int j = 0; j < n && m > 0; j++) seen[order[j]]++;
        for (int j = 0; j < n && m > 0; j++) assert_int_equal(seen[j], 1);

        /* Q R = A P, and Q'Q = 1 */
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) product[i + j * m] = i <= j ? R[i + j * m] : 0;
        lw_qr_apply(work, false, m, n, R, n, product);
        for (int j = 0; j < n && m > 0; j++) near(product + j * m, A + order[j] * m, m, 1e-13, "Q R", seed);
        lw_qr_apply(work, true, m, n, R, n, product);
        for (int j = 0; j < n && m > 0; j++)
            for (int i = 0; i < m; i++)
                assert_true(fabs(product[i + j * m] - (i <= j ? R[i + j * m] : 0)) < 1e-13);

        /* R11 (R11^-1 x) = x, and the same transposed */
        for (int transpose = 0; transpose < 2 && rank > 0; transpose++) {
            double x[2 * MOST], back[2 * MOST] = {0};
            random_vector(&random, 2 * MOST, 1, x);
            double kept[2 * MOST];
            memcpy(kept, x, sizeof kept);
            lw_qr_triangle(transpose, rank, m, R, 2, x, MOST);
            for (int c = 0; c < 2; c++)
                for (int i = 0; i < rank; i++)
                    for (int j = 0; j < rank; j++) {
                        int row = transpose ? j : i, column = transpose ? i : j;
                        if (row <= column) back[i + c * MOST] += R[row + column * m] * x[j + c * MOST];
                    }
            for (int c = 0; c < 2; c++)
                near(back + c * MOST, kept + c * MOST, rank, 1e-8, "triangle",
                     seed); /* pivots down to 1e-5 */
        }

        double s[MOST] = {0}, U[MOST * MOST], Vt[MOST * MOST], left[MOST * MOST] = {0};
        memcpy(R, A, sizeof R);
        assert_int_equal(lw_svd(work, m, n, R, s, U, Vt, LW_RANK_TOLERANCE), rank);
        for (int j = 0; j < n; j++)
            for (int k = 0; k < small; k++)
                for (int i = 0; i < m; i++) left[i + j * m] += U[i + k * m] * s[k] * Vt[k + j * n];
        near(left, A, m * n, 1e-13, "U s V'", seed);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                double dot = 0;
                for (int k = 0; k < m; k++) dot += U[k + i * m] * U[k + j * m];
                assert_true(fabs(dot - (i == j)) < 1e-13);
            }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double dot = 0;
                for (int k = 0; k < n; k++) dot += Vt[i + k * n] * Vt[j + k * n];
                assert_true(fabs(dot - (i == j)) < 1e-13);
            }
    }
    lw_orthogonal_destroy(work);
    lw_orthogonal_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(symmetric_systems),
        cmocka_unit_test(ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

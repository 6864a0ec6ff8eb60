/* test_dense_condition.c - the estimated norm of an inverse against the inverse itself and against LAPACK's estimate,
 * for symmetric and for other matrices.
 */
#include "linalg/dense.h"
#include "linalg/dense_condition.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

extern void dgetrf_(const int *, const int *, double *, const int *, int *, int *);
extern void dgetrs_(const char *, const int *, const int *, const double *, const int *, const int *,
                    double *, const int *, int *);
extern void dpocon_(const char *, const int *, const double *, const int *, const double *, double *,
                    double *, int *, int *);

enum { MOST = 20, SEEDS = 200 };

typedef struct factors {
    int n, pivots[MOST];
    double A[MOST * MOST];
} factors;

static void solve(void *context, bool transpose, double *x) {
    const factors *f = context;
    const int one = 1;
    int info;
    dgetrs_(transpose ? "T" : "N", &f->n, &one, f->A, &f->n, f->pivots, x, &f->n, &info);
}

static double inverse_norm(factors *f) {
    double norm = 0;
    for (int j = 0; j < f->n; j++) {
        double x[MOST] = {0}, sum = 0;
        x[j] = 1;
        solve(f, false, x);
        for (int i = 0; i < f->n; i++) sum += fabs(x[i]);
        norm = fmax(norm, sum);
    }
    return norm;
}

static void any_matrix(void **state) {
    (void)state;
    int exact = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        factors f = {.n = 1 + random_below(&random, MOST)};
        double work[2 * MOST];
        int info;
        random_vector(&random, f.n * f.n, 1, f.A);
        dgetrf_(&f.n, &f.n, f.A, &f.n, f.pivots, &info);
        assert_int_equal(info, 0);
        const double norm = inverse_norm(&f), estimate = lw_inverse_norm(f.n, solve, &f, work);
        assert_true(estimate <= norm * (1 + 1e-10) && estimate >= norm / 3);
        exact += estimate >= norm * (1 - 1e-10);
    }
    print_message("exact in %d of %d\n", exact, SEEDS);
    assert_true(exact > 8 * SEEDS / 10);
}

static void symmetric_matrix(void **state) {
    (void)state;
    lw_symmetric *s = lw_symmetric_create(MOST);
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        const int n = 1 + random_below(&random, MOST);
        double B[MOST * MOST], A[MOST * MOST], work[3 * MOST], condition, reciprocal;
        int integers[MOST], info;
        random_vector(&random, n * n, 1, B);
        lw_dense_multiply(true, false, n, n, n, 1, B, B, 0, A);
        const double norm = lw_symmetric_norm(s, n, A);
        double sum = 0, largest = 0;
        for (int j = 0; j < n; j++, largest = fmax(largest, sum), sum = 0)
            for (int i = 0; i < n; i++) sum += fabs(A[i + j * n]);
        assert_true(fabs(norm - largest) <= 1e-13 * norm);
        if (!lw_cholesky_factor(s, n, A, &condition)) continue; /* singular to rounding */
        dpocon_("L", &n, A, &n, &norm, &reciprocal, work, integers, &info);
        /* Rounding of the factors shows in a condition as much as its own size times 1e-16. */
        if (condition < 1e10 && !(fabs(condition * reciprocal - 1) < 1e-4))
            fail_msg("seed %d: %g, LAPACK %g", seed, condition, 1 / reciprocal);
        assert_true(condition >= 1 - 1e-12);
    }
    lw_symmetric_destroy(s);
}

/* Nothing finite can be said of a matrix whose solutions are not. */
static void not_a_number(void *context, bool transpose, double *x) {
    (void)context, (void)transpose;
    x[0] = NAN;
}

static void no_numbers(void **state) {
    (void)state;
    double work[6];
    assert_true(isinf(lw_inverse_norm(3, not_a_number, NULL, work)));
    assert_true(isinf(lw_inverse_norm(1, not_a_number, NULL, work)));
    assert_true(lw_inverse_norm(0, not_a_number, NULL, work) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_matrix),
        cmocka_unit_test(symmetric_matrix),
        cmocka_unit_test(no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

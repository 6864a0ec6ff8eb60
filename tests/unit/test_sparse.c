/* test_sparse.c - sparse systems of equations: solutions against known ones and by their residuals, the same pivots
 * with other values, condition numbers against the inverse, and matrices that are singular.
 */
#include "linalg/sparse.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 60, SEEDS = 300 };

static uint64_t seeded;

static double number(void) { /* between -1 and 1 */
    seeded = seeded * 6364136223846793005u + 1442695040888963407u;
    return (double)(seeded >> 11) / 0x1p52 - 1;
}
static int below(int count) { return (int)((number() + 1) / 2 * count); }

typedef struct matrix {
    int n, start[MOST + 1], index[MOST * MOST];
    double value[MOST * MOST];
} matrix;

/* A permutation, so that it is regular, and a few entries in each column; kind 1 has the structure of a system with
 * multipliers, whose last rows have nothing on the diagonal. */
static void make_structure(matrix *a, int n, int kind) {
    static bool there[MOST][MOST];
    memset(there, 0, sizeof there);
    int shift = below(n), last = kind == 1 ? n / 3 : 0;
    for (int j = 0; j < n; j++) {
        if (kind == 1)
            there[j][j] = j < n - last;
        else
            there[(j + shift) % n][j] = true;
        for (int k = below(4); k > 0; k--) there[below(n)][j] = true;
    }
    for (int r = n - last; r < n; r++) {
        there[r - (n - last)][r] = there[r][r - (n - last)] = true; /* a row has a column of its own */
        for (int j = n - last; j < n; j++) there[r][j] = false;
    }
    a->n = n, a->start[0] = 0;
    for (int j = 0; j < n; j++) {
        a->start[j + 1] = a->start[j];
        for (int i = 0; i < n; i++)
            if (there[i][j]) a->index[a->start[j + 1]++] = i;
    }
}

/* Numbers of about one, rows scaled by up to `decades` powers of ten each way. */
static void make_values(matrix *a, double decades) {
    double scale[MOST];
    for (int i = 0; i < a->n; i++) scale[i] = pow(10, decades * number());
    for (int k = 0; k < a->start[a->n]; k++)
        a->value[k] = scale[a->index[k]] * (number() + (number() > 0 ? 1.5 : -1.5));
}

static void multiply(const matrix *a, const double *x, double *out, double *amounts) {
    memset(out, 0, (size_t)a->n * sizeof *out), memset(amounts, 0, (size_t)a->n * sizeof *amounts);
    for (int j = 0; j < a->n; j++)
        for (int k = a->start[j]; k < a->start[j + 1]; k++) {
            out[a->index[k]] += a->value[k] * x[j];
            amounts[a->index[k]] += fabs(a->value[k] * x[j]);
        }
}

/* Solves A x = b for a random x; fails if a residual is more than rounding of what its row adds up. A pivot may be a
 * tenth, and later a thousandth, of what stands below it: that much rounding may grow. */
static void solve(lw_sparse *s, matrix *a, int seed) {
    double x[MOST], b[MOST], amounts[MOST], back[MOST], found[MOST], largest = 0;
    for (int i = 0; i < a->n; i++) x[i] = number();
    multiply(a, x, b, amounts);
    memcpy(found, b, sizeof found);
    lw_sparse_solve(s, found);
    multiply(a, found, back, amounts);
    for (int i = 0; i < a->n; i++) largest = fmax(largest, fabs(found[i]));
    for (int i = 0; i < a->n; i++) {
        double row = 0;
        for (int j = 0; j < a->n; j++)
            for (int k = a->start[j]; k < a->start[j + 1]; k++)
                if (a->index[k] == i) row = fmax(row, fabs(a->value[k]));
        if (!(fabs(back[i] - b[i]) <= 1e4 * DBL_EPSILON * a->n * row * largest))
            fail_msg("seed %d, row %d of %d: residual %g of %g", seed, i, a->n, back[i] - b[i],
                     row * largest);
    }
}

/* The 1-norm of A times that of its inverse, column by column. */
static double condition_of(lw_sparse *s, const matrix *a) {
    double norm = 0, inverse = 0;
    for (int j = 0; j < a->n; j++) {
        double sum = 0, x[MOST] = {0};
        for (int k = a->start[j]; k < a->start[j + 1]; k++) sum += fabs(a->value[k]);
        norm = fmax(norm, sum);
        x[j] = 1, sum = 0;
        lw_sparse_solve(s, x);
        for (int i = 0; i < a->n; i++) sum += fabs(x[i]);
        inverse = fmax(inverse, sum);
    }
    return norm * inverse;
}

static void random_systems(void **state) {
    (void)state;
    static matrix a;
    int solved = 0, exact = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        seeded = (uint64_t)seed;
        make_structure(&a, 1 + below(MOST), seed % 2);
        make_values(&a, seed % 3 == 0 ? 100 : 2);
        lw_sparse *s = lw_sparse_create(a.n, a.start, a.index);
        if (!s ||
            !lw_sparse_factor(s, a.value, true)) { /* A random structure may leave a row to no column. */
            lw_sparse_destroy(s);
            continue;
        }
        assert_true(lw_sparse_fill(s) >= a.n);
        solve(s, &a, seed);
        const double condition = lw_sparse_condition(s, a.value), true_condition = condition_of(s, &a);
        assert_true(condition <= true_condition * (1 + 1e-6) && condition >= true_condition / 10);
        exact += condition >= true_condition * (1 - 1e-6);
        for (int again = 0; again < 3;
             again++) { /* other values, with the pivots that there are if they serve */
            make_values(&a, 2);
            if (!lw_sparse_factor(s, a.value, false)) continue;
            if (condition_of(s, &a) < 1e8) solve(s, &a, seed);
        }
        lw_sparse_destroy(s);
        solved++;
    }
    print_message("%d systems; condition exact in %d\n", solved, exact);
    assert_true(solved > 2 * SEEDS / 3 && exact > solved / 2);
}

/* Pivots that served once and vanish later are chosen anew. */
static void vanishing_pivot(void **state) {
    (void)state;
    static matrix a = {2, {0, 2, 4}, {0, 1, 0, 1}, {4, 1, 1, 3}};
    lw_sparse *s = lw_sparse_create(2, a.start, a.index);
    assert_true(lw_sparse_factor(s, a.value, true));
    solve(s, &a, 0);
    a.value[0] = 0, a.value[3] = 0;
    assert_true(lw_sparse_factor(s, a.value, false));
    solve(s, &a, 0);
    assert_true(fabs(lw_sparse_condition(s, a.value) - 1) < 1e-12);
    lw_sparse_destroy(s);
}

static void singular(void **state) {
    (void)state;
    static matrix a = {2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 2, 4}};
    lw_sparse *s = lw_sparse_create(2, a.start, a.index);
    assert_false(lw_sparse_factor(s, a.value, true));
    assert_true(lw_sparse_condition(s, a.value) == 1 || !isfinite(lw_sparse_condition(s, a.value)));
    a.value[0] = NAN;
    assert_false(lw_sparse_factor(s, a.value, true) && isfinite(lw_sparse_condition(s, a.value)));
    a.value[0] = 1, a.value[3] = 5;
    assert_true(lw_sparse_factor(s, a.value, false));
    solve(s, &a, 0);
    lw_sparse_destroy(s);
    lw_sparse_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems),
        cmocka_unit_test(vanishing_pivot),
        cmocka_unit_test(singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

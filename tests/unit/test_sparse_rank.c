/* test_sparse_rank.c - ranks and multipliers that cause no motion by sparse elimination, against those by orthogonal factors, on
 * random closed loops. */
#include "random_loops.h"
#include "constraints/rank/redundancy.h"
#include "constraints/rank/sparse_rank.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

/* What is left of sparse null vectors beside the basis of the dense ones, in the rows' own measure, is rounding; and a row takes part
 * in them exactly if it takes part in the basis. */
static void compare_null_vectors(const lw_newton_euler *s, const lw_redundancy *dense, int seed) {
    lw_error error;
    int rows = dense->rows, nulls = dense->nulls;
    double *null = calloc(2 * (size_t)rows + 1, sizeof *null),
           *basis = calloc((size_t)rows * (size_t)nulls + 1, sizeof *basis);
    lw_sparse_rank *sparse = lw_sparse_rank_create(s);
    assert_non_null(sparse);
    for (int twice = 0; twice < 2; twice++) /* The second time in the same memory. */
        assert_int_equal(lw_sparse_null_vectors(sparse, s, 2, null, &error), LW_OK);
    lw_sparse_rank_destroy(sparse);
    for (int c = 0; c < nulls; c++) { /* an orthonormal basis by Gram and Schmidt, twice */
        double *b = basis + c * rows;
        for (int r = 0; r < rows; r++) b[r] = dense->null[c * rows + r] / dense->unit[r];
        for (int twice = 0; twice < 2; twice++) {
            for (int e = 0; e < c; e++) {
                double dot = 0;
                for (int r = 0; r < rows; r++) dot += b[r] * basis[e * rows + r];
                for (int r = 0; r < rows; r++) b[r] -= dot * basis[e * rows + r];
            }
            double norm = 0;
            for (int r = 0; r < rows; r++) norm += b[r] * b[r];
            for (int r = 0; r < rows; r++) b[r] /= sqrt(norm);
        }
    }
    for (int v = 0; v < 2; v++) {
        double *l = null + v * rows, size = 0, left = 0;
        for (int r = 0; r < rows; r++) size = fmax(size, fabs(l[r] /= dense->unit[r]));
        assert_true(nulls == 0 ? size == 0 : size > 1e-3);
        for (int r = 0; r < rows; r++) {
            double part = 0;
            for (int c = 0; c < nulls; c++) part = fmax(part, fabs(basis[c * rows + r]));
            if ((part > 1e-7) != (fabs(l[r]) > 1e-9 * size))
                fail_msg("seed %d: row %d: %g, in the basis %g", seed, r, l[r], part);
        }
        for (int c = 0; c < nulls; c++) {
            double dot = 0;
            for (int r = 0; r < rows; r++) dot += l[r] * basis[c * rows + r];
            for (int r = 0; r < rows; r++) l[r] -= dot * basis[c * rows + r];
        }
        for (int r = 0; r < rows; r++) left = fmax(left, fabs(l[r]));
        if (left > 1e-9 * size) fail_msg("seed %d: %g of %g is outside of the null space", seed, left, size);
    }
    free(null), free(basis);
}

static void ranks_are_the_same(void **unused) {
    (void)unused;
    int redundant = 0;
    for (int seed = 0; seed < 400; seed++) {
        random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        double *q = calloc((size_t)model->nq + (size_t)model->nv + 1, sizeof *q);
        random_loops_state(&loops, model, seed % 2, q, q + model->nq);
        lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
        lw_redundancy *dense;
        lw_error error;
        assert_non_null(s);
        lw_newton_euler_rows_at(s, loops.t, q, NULL);
        assert_int_equal(lw_redundancy_create(s, &dense, &error), LW_OK);
        bool *kept = calloc((size_t)dense->rows + 1, sizeof *kept);
        int rank, speeds, count = 0;
        assert_int_equal(lw_sparse_rank_at(s, kept, &rank, &speeds, &error), LW_OK);
        for (int r = 0; r < dense->rows; r++) count += kept[r];
        if (rank != dense->rank)
            fail_msg("seed %d: rank %d, and %d by orthogonal factors", seed, rank, dense->rank);
        assert_int_equal(speeds, dense->speeds);
        assert_int_equal(count, rank);
        redundant += rank < dense->rows;
        compare_null_vectors(s, dense, seed);
        free(kept), free(q);
        lw_redundancy_destroy(dense);
        lw_newton_euler_destroy(s);
        lw_model_destroy(model);
    }
    assert_true(redundant > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_are_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

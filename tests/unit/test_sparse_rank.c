/* test_sparse_rank.c - ranks by sparse elimination against those by orthogonal factors, on random closed loops. */
#include "random_loops.h"
#include "constraints/redundancy.h"
#include "constraints/sparse_rank.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

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
        assert_int_equal(lw_sparse_rank(s, kept, &rank, &speeds, &error), LW_OK);
        for (int r = 0; r < dense->rows; r++) count += kept[r];
        if (rank != dense->rank)
            fail_msg("seed %d: rank %d, and %d by orthogonal factors", seed, rank, dense->rank);
        assert_int_equal(speeds, dense->speeds);
        assert_int_equal(count, rank);
        redundant += rank < dense->rows;
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

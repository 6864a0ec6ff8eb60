/* test_projective_criterion.c - the projective criterion: formulas of the paper, both forms on random mechanisms, choices of sets.
 */
#include "random_loops.h"
#include "constraints/projective_criterion.h"
#include "constraints/rank/redundancy.h"
#include "linalg/dense.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { MECHANISMS = 400, MAX_NV = 6 * LOOP_BODIES, MAX_NQ = 7 * LOOP_BODIES, MAX_ROWS = 200 };

typedef struct workspace {
    lw_arena *arena;
    lw_criterion *criterion;
} workspace;

static workspace open_workspace(int n, int m) {
    workspace w = {.arena = lw_arena_create(NULL)};
    assert_non_null(w.arena);
    w.criterion = lw_criterion_create(n, m, w.arena);
    assert_non_null(w.criterion);
    return w;
}

static void close_workspace(workspace *w) {
    lw_criterion_destroy(w->criterion);
    lw_arena_destroy(w->arena);
}

/* --- the pendulum of the paper -------------------------------------------------------------------- */

/* (24)-(26), at any angle, and with lengths in millimetres, redundant rows or rows of any size: the same numbers. */
static void pendulum_formulas(void **state) {
    (void)state;
    const double m = 3, J = 0.7, rho = 1.3;
    workspace w = open_workspace(3, 4);
    for (int step = 0; step < 60; step++) {
        double gamma = 0.1047 * step, s = sin(gamma), c = cos(gamma), moment = m * rho * rho + J;
        const double exact[3] = {m * rho * rho / moment * s * s, m * rho * rho / moment * c * c, J / moment};
        const double M[9] = {m, 0, 0, 0, m, 0, 0, 0, J};
        /* the last two are sums of the first two */
        const double C[12] = {1, 0, rho * s,       0, 1,  -rho * c,
                              1, 1, rho * (s - c), 5, -2, rho * (5 * s + 2 * c)};
        for (int rows = 2; rows <= 4; rows += 2) {
            double alpha[3], beta[3];
            int freedom;
            assert_int_equal(lw_criterion_evaluate(w.criterion, 3, rows, M, C, NULL, LW_RANK_TOLERANCE, alpha,
                                                   beta, &freedom, NULL),
                             LW_OK);
            assert_int_equal(freedom, 1);
            assert_true(lw_criterion_bounded(w.criterion));
            for (int i = 0; i < 3; i++) { /* a few operations of numbers of size one */
                assert_true(fabs(alpha[i] - exact[i]) < 1e-14);
                assert_true(fabs(beta[i] - (1 - exact[i])) < 1e-14);
            }
        }
        double M_mm[9], C_mm[12], alpha[3];
        const double unit[3] = {1e-3, 1e-3, 1}, back[3] = {1e3, 1e3, 1}; /* x in mm: M in kg m^2 / mm^2 */
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) M_mm[i + 3 * j] = M[i + 3 * j] * unit[i] * unit[j];
            for (int r = 0; r < 4; r++) C_mm[3 * r + i] = C[3 * r + i] * unit[i];
        }
        assert_int_equal(lw_criterion_evaluate(w.criterion, 3, 4, M_mm, C_mm, back, LW_RANK_TOLERANCE, alpha,
                                               NULL, NULL, NULL),
                         LW_OK);
        for (int i = 0; i < 3; i++) assert_true(fabs(alpha[i] - exact[i]) < 1e-14);
    }
    close_workspace(&w);
}

/* Masses decide which coordinate is best; singular values do not see them. */
static void masses_decide(void **state) {
    (void)state;
    workspace w = open_workspace(3, 2);
    const double gamma = 0.3, rho = 1;
    const double C[6] = {1, 0, rho * sin(gamma), 0, 1, -rho * cos(gamma)};
    double weight[2][3];
    int first[2];
    for (int heavy = 0; heavy < 2; heavy++) {
        const double J = heavy ? 10 : 0.1, M[9] = {1, 0, 0, 0, 1, 0, 0, 0, J};
        int chosen[1];
        assert_int_equal(
            lw_criterion_evaluate(w.criterion, 3, 2, M, C, NULL, LW_RANK_TOLERANCE, NULL, NULL, NULL, NULL),
            LW_OK);
        assert_int_equal(lw_criterion_choose(w.criterion, NULL, chosen, NULL), 1);
        first[heavy] = chosen[0];
        lw_criterion_svd(w.criterion, weight[heavy]);
    }
    assert_int_equal(first[0], 1); /* y: mass resists */
    assert_int_equal(first[1], 2); /* gamma: inertia does */
    for (int i = 0; i < 3; i++) assert_true(fabs(weight[0][i] - weight[1][i]) < 1e-15);
    close_workspace(&w);
}

/* --- choices -------------------------------------------------------------------------------------- */

/* Tangent space spanned by (1, 1, 0, 0) / sqrt 2 and (d, -d, c, c): the images of the first two coordinates are nearly the
 * same and the longest, so the two largest cos^2 make a set that is singular for d = 0. */
static void two_alike_are_not_both_taken(void **state) {
    (void)state;
    const double d = 1e-5, c = sqrt(0.5 - d * d);
    const double M[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const double C[8] = {0, 0, 1, -1, c, -c, -d, -d};
    workspace w = open_workspace(4, 2);
    double alpha[4], pivots[2];
    int chosen[2], freedom;
    assert_int_equal(
        lw_criterion_evaluate(w.criterion, 4, 2, M, C, NULL, LW_RANK_TOLERANCE, alpha, NULL, &freedom, NULL),
        LW_OK);
    assert_int_equal(freedom, 2);
    assert_true(alpha[0] > alpha[2] && alpha[0] > alpha[3] && alpha[1] > alpha[2] && alpha[1] > alpha[3]);
    const int largest[2] = {0, 1};
    /* Gram matrix ((1/2 + d^2, 1/2 - d^2), ...): second pivot 2 d^2 / (1/2 + d^2) = 4e-10 */
    assert_true(fabs(lw_criterion_worth(w.criterion, largest, 2) / (4 * d * d) - 1) < 1e-4);
    assert_int_equal(lw_criterion_choose(w.criterion, NULL, chosen, pivots), 2);
    assert_int_equal(chosen[0], 0); /* the paper's, the first of equals */
    assert_int_equal(chosen[1], 2);
    assert_true(fabs(pivots[0] - alpha[0]) < 1e-15 && pivots[1] > 0.49);
    /* the worth of the set chosen is its smallest pivot, in any order */
    const int turned[2] = {2, 0};
    assert_true(fabs(lw_criterion_worth(w.criterion, chosen, 2) - fmin(pivots[0], pivots[1])) < 1e-15);
    assert_true(fabs(lw_criterion_worth(w.criterion, turned, 2) - fmin(pivots[0], pivots[1])) < 1e-15);
    const bool skip[4] = {true, false, true, true};
    assert_int_equal(lw_criterion_choose(w.criterion, skip, chosen, pivots), 1); /* one is left */
    assert_int_equal(chosen[0], 1);
    const int three[3] = {0, 2, 3};
    assert_true(lw_criterion_worth(w.criterion, three, 3) == 0);
    close_workspace(&w);
}

/* A coordinate without inertia: M^-1 has no bound, but the motion is determined, and a choice possible. */
static void singular_mass_matrix(void **state) {
    (void)state;
    workspace w = open_workspace(3, 2);
    const double M[9] = {0, 0, 0, 0, 2, 0, 0, 0, 1}, C[6] = {1, -2, 0, 0, 1, 1};
    double alpha[3], beta[3];
    int chosen[1], freedom;
    lw_error error = {0};
    assert_int_equal(lw_criterion_evaluate(w.criterion, 3, 2, M, C, NULL, LW_RANK_TOLERANCE, alpha, beta,
                                           &freedom, &error),
                     LW_OK);
    assert_int_equal(freedom, 1);
    assert_false(lw_criterion_bounded(w.criterion));
    assert_int_equal(lw_criterion_choose(w.criterion, NULL, chosen, NULL), 1);
    assert_int_equal(chosen[0], 0); /* v = (2, 1, -1): moves most */
    for (int i = 0; i < 3; i++) assert_true(fabs(alpha[i] + beta[i] - 1) < 1e-15);
    assert_true(alpha[0] == 1 && fabs(alpha[1] - 0.25) < 1e-15);
    /* with the first row alone a motion without inertia is left */
    const double free_row[3] = {0, 1, 1};
    assert_int_equal(lw_criterion_evaluate(w.criterion, 3, 1, M, free_row, NULL, LW_RANK_TOLERANCE, alpha,
                                           beta, &freedom, &error),
                     LW_ERROR_SINGULAR);
    assert_non_null(strstr(error.message, "singular"));
    close_workspace(&w);
}

/* --- random mechanisms ---------------------------------------------------------------------------- */

/* cos^2 alpha by the tangent space and cos^2 beta by C M^-1 C' have nothing in common but M^-1(i, i). */
static void sums_are_one(void **state) {
    (void)state;
    static double M[MAX_NV * MAX_NV], C[MAX_ROWS * MAX_NV];
    double worst = 0, least_worth = 1;
    int redundant = 0;
    for (int seed = 0; seed < MECHANISMS; seed++) {
        random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        lw_data *data;
        assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
        double q[MAX_NQ], v[MAX_NV], alpha[MAX_NV], beta[MAX_NV], pivots[MAX_NV], units[MAX_NV];
        int n = model->nv, m = lw_criterion_row_count(model), freedom, chosen[MAX_NV];
        assert_true(n <= MAX_NV && m <= MAX_ROWS);
        random_loops_state(&loops, model, seed % 5 < 3, q, v);
        workspace w = open_workspace(n, m);
        lw_rows *ties = lw_rows_create_loops(model, w.arena);
        lw_tree_mass_matrix(model, data, loops.t, q, M);
        lw_take_state(model, data, loops.t, q, v);
        lw_velocities(model, data);
        lw_world_poses(model, data);
        lw_rows_evaluate(model, data, false, ties);
        double length = lw_longest_arm(model);
        lw_criterion_rows(model, data, ties, length, C, NULL);
        lw_criterion_units(model, length, units);
        lw_error error = {0};
        lw_status status =
            lw_criterion_evaluate(w.criterion, n, m, M, C, units, lw_criterion_tolerance(ties, length), alpha,
                                  beta, &freedom, &error);
        if (status != LW_OK) fail_msg("seed %d: %s", seed, error.message);

        /* rank and mobility as redundancy.c has them, from other rows */
        lw_newton_euler *system = lw_newton_euler_create(model, LW_HOLD_NONE);
        lw_redundancy *redundancy;
        lw_newton_euler_rows_at(system, loops.t, q, NULL);
        assert_int_equal(lw_redundancy_create(system, &redundancy, &error), LW_OK);
        if (freedom != redundancy->mobility)
            fail_msg("seed %d: %d degrees of freedom, %d by redundancy.c", seed, freedom,
                     redundancy->mobility);
        redundant += redundancy->nulls > 0;
        lw_redundancy_destroy(redundancy);
        lw_newton_euler_destroy(system);

        double most = 0;
        for (int i = 0; i < n; i++) {
            worst = fmax(worst, fabs(alpha[i] + beta[i] - 1));
            most = fmax(most, alpha[i]);
            if (!(fabs(alpha[i] + beta[i] - 1) <= 1e-12))
                fail_msg("seed %d, coordinate %d of %d: cos^2 %.15g + %.15g", seed, i, n, alpha[i], beta[i]);
        }
        int count = lw_criterion_choose(w.criterion, NULL, chosen, pivots);
        if (count != freedom) fail_msg("seed %d: %d of %d chosen", seed, count, freedom);
        if (count > 0 && !(alpha[chosen[0]] >= most * (1 - 1e-8))) /* the first of equals */
            fail_msg("seed %d: the first pick has cos^2 %g, the largest is %g", seed, alpha[chosen[0]], most);
        for (int k = 0; k < count; k++) {
            least_worth = fmin(least_worth, pivots[k]);
            for (int i = 1, at = 0; i <= model->body_count; i++)
                for (int j = 0; j < model->links[i].joint.nv; j++, at++)
                    if (model->links[i].v + j == chosen[k]) assert_false(model->links[i].prescribed >> j & 1);
        }
        for (int k = 1; k < count; k++) assert_true(pivots[k] <= pivots[k - 1] * (1 + 1e-8));
        close_workspace(&w);
        lw_data_destroy(data);
        lw_model_destroy(model);
    }
    print_message(
        "%d mechanisms, %d with redundant rows: sums differ from one by at most %.1e; smallest pivot %.2g\n",
        MECHANISMS, redundant, worst, least_worth);
    assert_true(redundant > MECHANISMS / 3);
}

static void names(void **state) {
    (void)state;
    lw_random random = random_seed(5);
    lw_model *model = random_tree_model(&random, &(random_tree){.bodies = 3, .joint = LW_JOINT_FREE});
    char text[64];
    lw_speed_name(model, 7, text, sizeof text);
    assert_non_null(strstr(text, ".y"));
    lw_speed_name(model, 5, text, sizeof text);
    assert_non_null(strstr(text, ".wz"));
    lw_model_destroy(model);
    model = random_tree_model(&random, &(random_tree){.bodies = 2, .joint = LW_JOINT_REVOLUTE});
    lw_speed_name(model, 1, text, sizeof text);
    assert_null(strchr(text, '.'));
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_formulas),
        cmocka_unit_test(masses_decide),
        cmocka_unit_test(two_alike_are_not_both_taken),
        cmocka_unit_test(singular_mass_matrix),
        cmocka_unit_test(sums_are_one),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

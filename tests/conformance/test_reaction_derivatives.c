/* test_reaction_derivatives.c - exact derivatives of reactions, and of accelerations with couplings by curves,
 * against extrapolated differences (support/differences.h) on random mechanisms along random curves on their
 * closures.
 *
 * Differences are right to about 1e-9 of the largest reaction. The tolerance is 1e-7 of the largest
 * derivative, as for accelerations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "allocations.h"
#include "build.h"
#include "differences.h"
#include "random_loops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { JOINTS = 64, TABLE_POINTS = 7 };
static const double tolerance = 1e-7;
static int compared, undecided, not_unique;

typedef struct matrices {
    double dq[NV * NV], dv[NV * NV], basis[NV * NV];
    double by_q[6 * JOINTS * NV], by_v[6 * JOINTS * NV], by_tau[6 * JOINTS * NV];
} matrices;
static matrices m;

static void compare(const char *what, int seed, const double *q_rates, const double *v_rates,
                    const double *rates, int rows, const double *dq, const double *dv, int nv, double error) {
    double size = 0, worst = 0;
    int at = 0;
    for (int k = 0; k < rows; k++) {
        double exact = 0;
        if (isnan(dq[k * nv])) continue;
        for (int j = 0; j < nv; j++) exact += dq[k * nv + j] * q_rates[j] + dv[k * nv + j] * v_rates[j];
        size = fmax(size, fabs(rates[k]));
        if (fabs(exact - rates[k]) > worst) worst = fabs(exact - rates[k]), at = k;
    }
    if (!(worst <= tolerance * (1 + size)))
        fail_msg("seed %d, %s, row %d: %g of %g (differences are right to %g)", seed, what, at, worst, size,
                 error);
}

/* Along two random curves, and by forces. */
static void one_state(int seed, const lw_model *model, lw_random *random, double t, const double *q,
                      const double *v) {
    const int nv = lw_model_v_size(model), joints = lw_model_joint_count(model);
    double tau[NV], along[NV], faster[NV];
    static double rates[DIFFERENCE_VALUES];
    static bool unique[6 * JOINTS], unsteady[DIFFERENCE_VALUES];
    lw_derivatives *derivatives;
    lw_solver_options options;
    lw_error error = {0};
    assert_true(joints <= JOINTS);
    random_vector(random, nv, 1, tau);
    lw_solver_defaults(model, &options);
    options.t = t, options.q = q, options.v = v;
    if (lw_derivatives_create(model, &options, NULL, &derivatives, &error) != LW_OK)
        fail_msg("seed %d: %s", seed, error.message);
    assert_int_equal(lw_derivatives_prepare_reactions(derivatives, &error), LW_OK);
    lw_solver *solver = lw_derivatives_solver(derivatives);
    const lw_acceleration_derivatives accelerations = {.dq = m.dq, .dv = m.dv};
    const lw_reaction_derivatives out = {.unique = unique, .dq = m.by_q, .dv = m.by_v, .dtau = m.by_tau};
    lw_status status = lw_derivatives_of_accelerations(derivatives, t, q, v, tau, &accelerations, &error);
    const long before = allocations;
    if (status == LW_OK) status = lw_derivatives_of_reactions(derivatives, t, q, v, tau, &out, &error);
    assert_true(!counting || allocations == before);
    if (status == LW_OK) {
        int mobility;
        assert_int_equal(lw_solver_mobility(solver, t, q, &mobility, &error), LW_OK);
        assert_int_equal(lw_solver_tangent_basis(solver, t, q, mobility, m.basis, NULL, &error), LW_OK);
        for (int k = 0; k < 3 * nv + 6 * joints; k++) unsteady[k] = k >= 3 * nv && !unique[k - 3 * nv];
        for (int k = 0; k < 6 * joints; k++) not_unique += !unique[k];
        for (int trial = 0; trial < 2; trial++) {
            double x[NV], y[NV];
            random_vector(random, mobility, 1, x);
            random_vector(random, mobility, 1, y);
            for (int k = 0; k < nv; k++) {
                along[k] = faster[k] = 0;
                for (int j = 0; j < mobility; j++) {
                    along[k] += m.basis[k * mobility + j] * x[j];
                    faster[k] += m.basis[k * mobility + j] * y[j];
                }
            }
            loop_case c = {model, solver, t, q, v, tau, along, faster, true};
            const double right = ridders_of(loop_curve, &c, 3 * nv + 6 * joints, 4e-3, unsteady, rates);
            if (!(right < 1e-8)) { /* An assembly failed or jumped, or a passage is near. */
                undecided++;
                continue;
            }
            compared++;
            compare("accelerations", seed, rates + 2 * nv, rates + nv, rates, nv, m.dq, m.dv, nv, right);
            compare("reactions", seed, rates + 2 * nv, rates + nv, rates + 3 * nv, 6 * joints, m.by_q, m.by_v,
                    nv, right);
        }
        static double first[6 * JOINTS], second[6 * JOINTS]; /* They are linear in forces. */
        double vdot[NV], size = 1;
        assert_int_equal(lw_solver_accelerations(solver, t, q, v, tau, vdot, NULL), LW_OK);
        assert_int_equal(lw_solver_reactions(solver, first, NULL, NULL), LW_OK);
        random_vector(random, nv, 1, faster);
        for (int k = 0; k < nv; k++) tau[k] += faster[k];
        assert_int_equal(lw_solver_accelerations(solver, t, q, v, tau, vdot, NULL), LW_OK);
        assert_int_equal(lw_solver_reactions(solver, second, NULL, NULL), LW_OK);
        for (int k = 0; k < 6 * joints; k++) size = fmax(size, fabs(first[k]) + fabs(second[k]));
        for (int k = 0; k < 6 * joints; k++) {
            double change = 0;
            for (int j = 0; j < nv; j++) change += m.by_tau[k * nv + j] * faster[j];
            assert_true(isnan(change) == !unique[k]);
            if (unique[k] && !(fabs(change - (second[k] - first[k])) < 1e-8 * size))
                fail_msg("seed %d, reactions by forces, row %d: %g, not %g", seed, k, change,
                         second[k] - first[k]);
        }
    } else
        print_message("seed %d: %s\n", seed, error.message);
    lw_derivatives_destroy(derivatives);
}

static void test_loops(void **state) {
    (void)state;
    for (int seed = 0; seed < 200; seed++) {
        random_loops loops;
        double q[2 * NV], v[NV];
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        random_loops_state(&loops, model, seed % 2, q, v);
        one_state(seed, model, &loops.random, loops.t, q, v);
        lw_model_destroy(model);
    }
    print_message("%d curves compared, %d undecided, %d components not unique\n", compared, undecided,
                  not_unique);
    assert_true(compared > 4 * undecided && not_unique > 0);
}

static void test_trees(void **state) {
    (void)state;
    for (int seed = 0; seed < 120; seed++) {
        lw_random random = random_seed(3000u + (uint64_t)seed);
        lw_model *model = random_tree_model(&random, &(random_tree){.bodies = 1 + seed % 8,
                                                                    .forces = seed % 2,
                                                                    .prescribed = seed % 3 == 1,
                                                                    .reversed = seed % 4 > 1,
                                                                    .aligned = seed % 5 == 0,
                                                                    .joint = -1});
        double q[2 * NV], v[NV];
        random_state(&random, model, q, v);
        if (lw_assemble(model, 0.3, q, v, NULL, NULL) == LW_OK) one_state(seed, model, &random, 0.3, q, v);
        lw_model_destroy(model);
    }
}

/* A coupling by a polynomial and a table, of coordinates of a random tree. */
static void test_curves(void **state) {
    (void)state;
    static const double x[TABLE_POINTS] = {-3, -1.5, -0.4, 0.5, 1.1, 2, 3},
                        y[TABLE_POINTS] = {0.3, 0.1, 0.4, 1.2, 1.3, 0.7, 0.3};
    const int before = compared;
    for (int seed = 0; seed < 80; seed++) {
        lw_random random = random_seed(5000u + (uint64_t)seed);
        const random_tree options = {
            .bodies = 3 + seed % 5, .forces = seed % 2, .reversed = seed % 4 > 1, .joint = -1};
        lw_spec *spec = random_tree_spec(&random, &options);
        const lw_table_spec table = {.name = "cam",
                                     .size = TABLE_POINTS,
                                     .x = x,
                                     .y = y,
                                     .interpolation = LW_INTERPOLATION_SMOOTH,
                                     .beyond = LW_BEYOND_REPEAT};
        assert_int_equal(lw_spec_add_table(spec, &table), LW_OK);
        lw_constraint_spec c = {.name = "curve", .type = LW_CONSTRAINT_COUPLING};
        for (size_t j = 0; j < lw_spec_joint_count(spec) && c.terms < 3; j++) {
            const lw_joint_spec *joint = lw_spec_joint(spec, j);
            if (joint->type == LW_JOINT_SPHERICAL || joint->type == LW_JOINT_FREE ||
                joint->type == LW_JOINT_WELD)
                continue;
            const int k = c.terms++;
            c.joints[k] = joint->name;
            c.factors[k] = random_between(&random, 0.3, 2);
            c.about[k] = random_between(&random, -1, 1);
            if (k == 0) c.tables[k] = "cam";
            if (k == 1) c.polynomial_size[k] = 5;
            for (int i = 0; i < 5 && k == 1; i++) c.polynomial[k][i] = random_between(&random, 0.2, 1);
        }
        if (c.terms < 2) {
            lw_spec_destroy(spec);
            continue;
        }
        add_constraint(spec, c);
        lw_model *model = compile_or_fail(spec);
        double q[2 * NV], v[NV];
        random_state(&random, model, q, v);
        if (lw_assemble(model, 0.3, q, v, NULL, NULL) == LW_OK) one_state(seed, model, &random, 0.3, q, v);
        lw_model_destroy(model);
    }
    print_message("%d curves compared\n", compared - before);
    assert_true(compared - before > 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_curves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

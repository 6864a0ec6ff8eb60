/* test_derivatives.c - exact derivatives of the dynamics against extrapolated differences, on random trees
 * and on random mechanisms with loops, with all joints, force elements, constraints and moving bases.
 *
 * Differences are extrapolated by Ridders' scheme: central differences at falling distances, and of their
 * table the entry with the smallest estimated error. They are right to about 1e-10 of the sizes involved; the
 * tolerance 1e-7 leaves room for friction with a narrow passage of zero and for ill-conditioned mechanisms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "allocations.h"
#include "differences.h"
#include "random_loops.h"
#include "simulation/solver/solver_derivatives.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double tolerance = 1e-7;

/* --- trees ----------------------------------------------------------------------------------------- */

typedef struct tree_case {
    const lw_model *model;
    lw_data *data;
    const double *q, *v, *x; /* x: tau or vdot */
    bool inverse;
    int column, what; /* 0: motion, 1: speed, 2: tau */
} tree_case;

static bool tree_curve(void *context, double s, double *out) {
    tree_case *c = context;
    double q[2 * NV], v[NV], x[NV], unit[NV] = {0};
    const int nv = lw_model_v_size(c->model);
    memcpy(q, c->q, (size_t)lw_model_q_size(c->model) * sizeof *q);
    memcpy(v, c->v, (size_t)nv * sizeof *v);
    memcpy(x, c->x, (size_t)nv * sizeof *x);
    unit[c->column] = 1;
    if (c->what == 0) lw_integrate_q(c->model, q, unit, s);
    if (c->what == 1) v[c->column] += s;
    if (c->what == 2) x[c->column] += s;
    return (c->inverse ? lw_tree_inverse_dynamics(c->model, c->data, 0.3, q, v, x, out, NULL)
                       : lw_tree_forward_dynamics(c->model, c->data, 0.3, q, v, x, out, NULL)) == LW_OK;
}

static void compare_columns(tree_case *c, int seed, const char *what, const double *matrix) {
    const int nv = lw_model_v_size(c->model);
    for (c->column = 0; c->column < nv; c->column++) {
        double difference[NV], size = 0, scale = 0;
        double error = ridders(tree_curve, c, nv, 1e-2, difference);
        for (int k = 0; k < nv; k++) {
            scale = fmax(scale, fabs(difference[k]));
            size = fmax(size, fabs(difference[k] - matrix[k * nv + c->column]));
        }
        if (!(size <= tolerance * (1 + scale)))
            for (int k = 0; k < nv; k++)
                print_message("  %d: %.10g %.10g\n", k, difference[k], matrix[k * nv + c->column]);
        if (!(size <= tolerance * (1 + scale)))
            fail_msg("seed %d, %s, column %d: %g of %g (differences are right to %g)", seed, what, c->column,
                     size, scale, error);
    }
}

static void one_tree(int seed, const random_tree *options) {
    lw_random random = random_seed((uint64_t)seed);
    lw_model *model = random_tree_model(&random, options);
    const int nv = lw_model_v_size(model);
    lw_data *data;
    lw_derivatives *derivatives;
    lw_error error = {0};
    double q[2 * NV], v[NV], tau[NV], vdot[NV];
    static double dq[NV * NV], dv[NV * NV], dtau[NV * NV], mass[NV * NV], expected[NV * NV];
    random_state(&random, model, q, v);
    random_vector(&random, nv, 1, tau);
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    lw_solver_options solver;
    lw_solver_defaults(model, &solver);
    solver.method = "tree";
    if (lw_derivatives_create(model, &solver, NULL, &derivatives, &error) != LW_OK)
        fail_msg("seed %d: %s", seed, error.message);
    if (lw_derivatives_of_forces(derivatives, 0.3, q, v, tau, dq, dv, mass, &error) != LW_OK)
        fail_msg("seed %d: %s", seed, error.message);
    tree_case c = {.model = model, .data = data, .q = q, .v = v, .x = tau, .inverse = true};
    compare_columns(&c, seed, "forces by motion", dq);
    c.what = 1;
    compare_columns(&c, seed, "forces by speed", dv);
    assert_int_equal(lw_tree_mass_matrix(model, data, 0.3, q, expected), LW_OK);
    assert_true(relative_difference(expected, mass, nv * nv) < 1e-12);
    lw_acceleration_derivatives out = {.vdot = vdot, .dq = dq, .dv = dv, .dtau = dtau};
    const long before = allocations;
    lw_status status = lw_derivatives_of_accelerations(derivatives, 0.3, q, v, tau, &out, &error);
    assert_true(!counting || allocations == before);
    if (status != LW_OK) fail_msg("seed %d: %s", seed, error.message);
    c.inverse = false;
    c.what = 0;
    compare_columns(&c, seed, "accelerations by motion", dq);
    c.what = 1;
    compare_columns(&c, seed, "accelerations by speed", dv);
    c.what = 2;
    compare_columns(&c, seed, "accelerations by force", dtau);
    lw_derivatives_destroy(derivatives);
    lw_data_destroy(data);
    lw_model_destroy(model);
}

static void test_trees(void **state) {
    (void)state;
    for (int seed = 0; seed < 160; seed++)
        one_tree(1000 + seed, &(random_tree){.bodies = 1 + seed % 8,
                                             .forces = seed % 2,
                                             .prescribed = seed % 3 == 1,
                                             .reversed = seed % 4 > 1,
                                             .aligned = seed % 5 == 0,
                                             .joint = -1});
}

/* Every type of joint alone, in both senses. */
static void test_joints(void **state) {
    (void)state;
    for (int type = 0; type < LW_JOINT_TYPES; type++)
        for (int k = 0; k < 4 && type != LW_JOINT_WELD; k++)
            one_tree(40 * type + k,
                     &(random_tree){.bodies = 3, .forces = k > 1, .reversed = k % 2, .joint = type});
}

/* Vectors of every width that the processor has compute the same, but for rounding. */
static void test_widths(void **state) {
    (void)state;
    const lw_tree_simd *widths[3] = {&lw_tree_simd_2};
    int count = 1;
    const lw_tree_simd *widest = lw_tree_simd_widest();
    if (widest->width > 2) widths[count++] = &lw_tree_simd_4;
    if (widest->width > 4) widths[count++] = &lw_tree_simd_8;
    static double results[3][3 * NV * NV];
    for (int seed = 0; seed < 60; seed++) {
        lw_random random = random_seed(8000u + (uint64_t)seed);
        lw_model *model = random_tree_model(&random, &(random_tree){.bodies = 1 + seed % 12,
                                                                    .forces = seed % 2,
                                                                    .prescribed = seed % 3 == 1,
                                                                    .reversed = seed % 4 > 1,
                                                                    .aligned = seed % 5 == 0,
                                                                    .joint = -1});
        const int nv = lw_model_v_size(model);
        double q[2 * NV], v[NV];
        lw_derivatives *derivatives;
        random_state(&random, model, q, v);
        assert_int_equal(lw_derivatives_create(model, NULL, NULL, &derivatives, NULL), LW_OK);
        for (int k = 0; k < count; k++) {
            derivatives->tree->simd = widths[k];
            const lw_acceleration_derivatives out = {
                .dq = results[k], .dv = results[k] + nv * nv, .dtau = results[k] + 2 * nv * nv};
            assert_int_equal(lw_derivatives_of_accelerations(derivatives, 0.3, q, v, NULL, &out, NULL),
                             LW_OK);
            for (int part = 0; part < 3; part++)
                assert_true(relative_difference(results[0] + part * nv * nv, results[k] + part * nv * nv,
                                                nv * nv) < 1e-10);
        }
        lw_derivatives_destroy(derivatives);
        lw_model_destroy(model);
    }
}

/* --- loops ----------------------------------------------------------------------------------------- */

static int compared, undecided;

static void one_direction(loop_case *c, const random_loops *loops, const double *dq, const double *dv) {
    const int nv = lw_model_v_size(c->model);
    double rates[3 * NV], size = 0, worst = 0;
    double error = ridders(loop_curve, c, 3 * nv, 4e-3, rates);
    if (!(error <
          1e-8)) { /* The differences do not decide: an assembly failed or jumped, or a passage is near. */
        undecided++;
        return;
    }
    compared++;
    for (int k = 0; k < nv; k++) {
        double exact = 0;
        for (int j = 0; j < nv; j++)
            exact += dq[k * nv + j] * rates[2 * nv + j] + dv[k * nv + j] * rates[nv + j];
        size = fmax(size, fabs(rates[k]));
        worst = fmax(worst, fabs(exact - rates[k]));
    }
    if (!(worst <= 10 * tolerance * (1 + size)))
        fail_msg("seed %d (%s, %s): %g of %g (differences are right to %g)", loops->seed,
                 loop_kind_name(loops->kind), loop_base_name(loops->base), worst, size, error);
}

static void one_loop(int seed) {
    random_loops loops;
    random_loops_build(&loops, seed);
    lw_model *model = compile_or_fail(loops.spec);
    const int nv = lw_model_v_size(model);
    double q[2 * NV], v[NV], tau[NV], along[NV], faster[NV];
    static double dq[NV * NV], dv[NV * NV], basis[NV * NV];
    lw_derivatives *derivatives;
    lw_solver_options options;
    lw_error error = {0};
    random_loops_state(&loops, model, seed % 2, q, v);
    random_vector(&loops.random, nv, 1, tau);
    lw_solver_defaults(model, &options);
    options.t = loops.t, options.q = q, options.v = v;
    if (lw_derivatives_create(model, &options, NULL, &derivatives, &error) != LW_OK)
        fail_msg("seed %d: %s", seed, error.message);
    lw_acceleration_derivatives out = {.dq = dq, .dv = dv};
    lw_solver *solver = lw_derivatives_solver(derivatives);
    const long before = allocations;
    lw_status status = lw_derivatives_of_accelerations(derivatives, loops.t, q, v, tau, &out, &error);
    assert_true(!counting || allocations == before);
    if (status == LW_OK) {
        int mobility;
        assert_int_equal(lw_solver_mobility(solver, loops.t, q, &mobility, &error), LW_OK);
        assert_int_equal(lw_solver_tangent_basis(solver, loops.t, q, mobility, basis, NULL, &error), LW_OK);
        for (int trial = 0; trial < 2; trial++) {
            double x[NV], y[NV];
            random_vector(&loops.random, mobility, 1, x);
            random_vector(&loops.random, mobility, 1, y);
            for (int k = 0; k < nv; k++) {
                along[k] = faster[k] = 0;
                for (int j = 0; j < mobility; j++) {
                    along[k] += basis[k * mobility + j] * x[j];
                    faster[k] += basis[k * mobility + j] * y[j];
                }
            }
            loop_case c = {model, solver, loops.t, q, v, tau, along, faster, false};
            one_direction(&c, &loops, dq, dv);
        }
    } else
        print_message("seed %d: %s\n", seed, error.message);
    lw_derivatives_destroy(derivatives);
    lw_model_destroy(model);
}

static void test_loops(void **state) {
    (void)state;
    for (int seed = 0; seed < 440; seed++) one_loop(seed);
    print_message("%d directions compared, %d undecided\n", compared, undecided);
    assert_true(compared > 4 * undecided);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joints),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

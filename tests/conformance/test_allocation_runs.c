/* test_allocation_runs.c - solvers and simulations allocate nothing after creation: every method on many
 * problems, with the integrators of our own (SUNDIALS has an allocation of its own in a start).
 *
 * With sanitizers, or without glibc, the calls run but nothing is counted (tests/support/allocations.h).
 */
#include "allocations.h"
#include "problems.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 512 };

static const char *const problems[] = {
    "andrews_squeezer", "bennett",          "bricard",       "chain",
    "double_wishbone",  "four_bar",         "free_tree",     "gantry",
    "gyro_top",         "ladder",           "parallelogram", "pendulum",
    "series_damper",    "six_body_linkage", "slider_crank",  "spring_chain",
    "stewart_platform", "tumbling_body",
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* Runs the statement and fails if anything was allocated or freed. */
#define QUIET(statement)                                                                                     \
    do {                                                                                                     \
        long before_ = allocations;                                                                          \
        statement;                                                                                           \
        long during_ = allocations - before_;                                                                \
        if (during_) fail_msg("%s by %s: %ld allocations in %s", problem, method, during_, #statement);      \
    } while (0)

/* Products and decompositions of large matrices are LAPACK's, for which OpenBLAS takes memory by itself on some
 * processors: absolute coordinates of chains of a hundred bodies. */
static bool is_by_lapack(const lw_model *model, const char *method) {
    return lw_model_body_count(model) > 50 &&
           (strcmp(method, "nullspace-svd") == 0 || strcmp(method, "partition-absolute") == 0);
}

static void solvers(void **state) {
    (void)state;
    int asked = 0;
    for (int p = 0; p < PROBLEMS; p++) {
        const char *problem = problems[p];
        lw_model *model = read_problem(problem);
        double q[MAX], v[MAX], vdot[MAX], tau[MAX], amount;
        bool unique[MAX];
        static double matrix[MAX * MAX], mass[MAX * MAX];
        int mobility = 0, rows = 0;
        double *reactions = calloc(6 * (size_t)lw_model_joint_count(model) + 1, sizeof *reactions);
        lw_model_initial_state(model, q, v);
        assert_int_equal(lw_assemble(model, 0, q, v, NULL, NULL), LW_OK);
        for (int m = 0; m < lw_method_count(); m++) {
            const char *method = lw_method_at(m).name;
            /* None named, and the first joint of the tree: mostly too few. */
            const char *const driven[1] = {lw_model_joint_info(model, lw_model_body_joint(model, 1)).name};
            const lw_solver_options options = {
                .method = method, .driven = m % 2 ? driven : NULL, .driven_count = m % 2};
            if (is_by_lapack(model, method)) continue;
            lw_solver *solver;
            if (lw_solver_create(model, &options, NULL, &solver, NULL) != LW_OK) continue;
            lw_status status = lw_solver_accelerations(solver, 0, q, v, NULL, vdot, NULL);
            if (status == LW_OK) {
                QUIET(status = lw_solver_accelerations(solver, 0, q, v, vdot, vdot, NULL));
                if (status == LW_OK) QUIET(status = lw_solver_reactions(solver, reactions, NULL, NULL));
                if (status == LW_OK) QUIET(status = lw_solver_balance(solver, &amount, NULL));
                QUIET(status = lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, NULL));
                if (status == LW_OK) QUIET(status = lw_solver_unique_forces(solver, unique, NULL));
                if (status == LW_OK) QUIET(status = lw_solver_reactions(solver, reactions, NULL, NULL));
                QUIET(rows = lw_solver_row_count(solver));
                assert_true(rows <= MAX);
                QUIET(status = lw_solver_closure_jacobian(solver, 0, q, v, matrix, tau, NULL));
                QUIET(status = lw_solver_mobility(solver, 0, q, &mobility, NULL));
                QUIET(status = lw_solver_tangent_basis(solver, 0, q, mobility, matrix, NULL, NULL));
                QUIET(status = lw_solver_mass_matrix(solver, 0, q, mobility, matrix, mass, NULL));
                assert_int_equal(status, LW_OK);
                asked++;
            }
            lw_solver_destroy(solver);
        }
        free(reactions);
        lw_model_destroy(model);
    }
    print_message("%d solvers\n", asked);
    assert_true(asked > 8 * PROBLEMS / 2);
}

static void simulations(void **state) {
    (void)state;
    static const char *const integrators[] = {"rk4", "erk"};
    int run = 0;
    for (int p = 0; p < PROBLEMS; p++) {
        const char *problem = problems[p];
        lw_model *model = read_problem(problem);
        for (int m = 0; m < lw_method_count(); m++)
            for (int i = 0; i < 2; i++) {
                const char *method = lw_method_at(m).name;
                if (strcmp(method, "penalty") == 0 || strncmp(method, "director", 8) == 0) continue;
                if (is_by_lapack(model, method)) continue;
                lw_run_options options;
                lw_run_defaults(model, &options);
                options.method = method;
                options.integrator = integrators[i];
                options.step = i == 0 ? 1e-4 : 0;
                options.tolerance = i == 0 ? 0 : 1e-6;
                lw_simulation *simulation;
                double q[MAX], v[MAX];
                if (lw_simulation_create(model, &options, NULL, &simulation, NULL) != LW_OK) continue;
                const size_t size = lw_simulation_snapshot_size(simulation);
                void *snapshot = malloc(size);
                assert_non_null(snapshot);
                lw_status status = lw_simulation_advance(simulation, 1e-3, NULL);
                if (status == LW_OK) {
                    QUIET(status = lw_simulation_advance(simulation, 3e-3, NULL));
                    QUIET(lw_simulation_state(simulation, q, v));
                    QUIET(lw_simulation_save(simulation, snapshot, size));
                    QUIET(status = lw_simulation_step(simulation, NULL));
                    QUIET(status = lw_simulation_restore(simulation, snapshot, size, NULL));
                    QUIET(status = lw_simulation_set_state(simulation, 3e-3, q, v, NULL));
                    QUIET(status = lw_simulation_advance(simulation, 4e-3, NULL));
                    run++;
                }
                free(snapshot);
                lw_simulation_destroy(simulation);
            }
        lw_model_destroy(model);
    }
    print_message("%d simulations\n", run);
    assert_true(run > 8 * PROBLEMS);
}

/* Through knots, at which the integrator starts anew. */
static void knots(void **state) {
    (void)state;
    static const char *const integrators[] = {"rk4", "erk"};
    const char *const problem = "knots", *const method = "tree";
    lw_model *model = compile_or_fail(read_text_spec(
        "linkwork: 1\nname: knots\nbodies:\n  b: {mass: 1, inertia: [1, 1, 1]}\njoints:\n"
        "  x: {type: prismatic, axis: [1, 0, 0], between: [ground, b]}\nforces:\n"
        "  f: {type: drive, joint: x, force: \"(mod(t, 0.1) < 0.02) + (t > 0.33)\"}\nrun: {end: 1}\n"));
    for (int i = 0; i < 2; i++) {
        lw_run_options options;
        lw_run_defaults(model, &options);
        options.method = method;
        options.integrator = integrators[i];
        options.step = i == 0 ? 3e-3 : 0;
        options.tolerance = i == 0 ? 0 : 1e-6;
        lw_simulation *simulation;
        assert_int_equal(lw_simulation_create(model, &options, NULL, &simulation, NULL), LW_OK);
        lw_status status;
        QUIET(status = lw_simulation_advance(simulation, 0.9, NULL));
        assert_int_equal(status, LW_OK);
        lw_simulation_destroy(simulation);
    }
    lw_model_destroy(model);
}

/* Signals, user states, quantities of the state and outputs, by all methods and steps of their own. */
static void signals(void **state) {
    (void)state;
    const char *const problem = "signals";
    int run = 0;
    lw_model *model = compile_or_fail(read_text_spec(
        "linkwork: 1\nname: signals\nsignals: {e: 1 - pin.q - 0.1*body.b.x, w: e + other}\n"
        "inputs: {u: 2*t, other: w0*t}\nparameters: {w0: 3}\n"
        "states: {i: {rate: e + kinetic, start: 1}, lag: {rate: (u - lag)/0.1, start: 0}}\n"
        "bodies:\n  b: {mass: 1, com: [0, 0, -1], inertia: [1, 1, 1]}\njoints:\n"
        "  pin: {type: revolute, point: [0, 0, 0], axis: [0, 1, 0], between: [ground, b]}\nforces:\n"
        "  f: {type: drive, joint: pin, torque: w + i - 3*pin.v + lag}\n"
        "outputs: {a: pin.a, r: reaction(pin).force, f: force(f), x: 'point(b, 0, 0, 1).z'}\nrun: {end: 1}\n"));
    lw_model *driven = compile_or_fail(read_text_spec(
        "linkwork: 1\nname: driven\nstates: {lag: {rate: (3*t - lag)/0.1 - pin.q, start: 0}}\n"
        "bodies:\n  b: {mass: 1, com: [0, 0, -1], inertia: [1, 1, 1]}\njoints:\n"
        "  pin: {type: revolute, point: [0, 0, 0], axis: [0, 1, 0], between: [ground, b]}\nforces:\n"
        "  f: {type: drive, joint: pin, torque: lag}\nrun: {end: 1}\n"));
    for (int m = 0; m < 2 * lw_method_count(); m++) {
        const char *method = lw_method_at(m / 2).name;
        const bool own = strncmp(method, "director", 8) == 0;
        lw_run_options options;
        lw_run_defaults(own ? driven : model, &options);
        options.method = method;
        options.integrator = own ? NULL : m % 2 ? "erk" : "rk4";
        options.step = own || m % 2 == 0 ? 1e-3 : 0;
        options.tolerance = own || m % 2 == 0 ? 0 : 1e-6;
        lw_simulation *simulation;
        double values[8];
        lw_status status = lw_simulation_create(own ? driven : model, &options, NULL, &simulation, NULL);
        assert_int_equal(status, LW_OK);
        assert_int_equal(lw_simulation_advance(simulation, 0.01, NULL), LW_OK);
        QUIET(status = lw_simulation_advance(simulation, 0.05, NULL));
        assert_int_equal(status, LW_OK);
        QUIET(status = lw_simulation_states(simulation, values));
        QUIET(status = lw_simulation_set_states(simulation, values));
        if (!own) QUIET(status = lw_simulation_outputs(simulation, values));
        assert_int_equal(status, LW_OK);
        QUIET(status = lw_simulation_advance(simulation, 0.06, NULL));
        assert_int_equal(status, LW_OK);
        lw_simulation_destroy(simulation);
        run++;
    }
    print_message("%d simulations with signals\n", run);
    lw_model_destroy(model);
    lw_model_destroy(driven);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals),
        cmocka_unit_test(solvers),
        cmocka_unit_test(simulations),
        cmocka_unit_test(knots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

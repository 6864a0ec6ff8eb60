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

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROBLEMS = 100 };
static char problems[PROBLEMS][64];
static int problem_count;

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* The names of all problems. */
static int list_problems(void **state) {
    (void)state;
    DIR *folder = opendir(LW_SOURCE_DIR "/problems");
    if (!folder) return -1;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char path[1024];
        snprintf(path, sizeof path, "%s/problems/%s/model.yaml", LW_SOURCE_DIR, entry->d_name);
        if (access(path, R_OK) == 0 && problem_count < PROBLEMS)
            snprintf(problems[problem_count++], sizeof *problems, "%.63s", entry->d_name);
    }
    closedir(folder);
    qsort(problems, (size_t)problem_count, sizeof *problems, by_name);
    return problem_count >= 40 && problem_count < PROBLEMS ? 0 : -1;
}

static double *numbers(int count) {
    double *memory = calloc((size_t)count + 1, sizeof *memory);
    assert_non_null(memory);
    return memory;
}

static int loud; /* statements that have allocated */

/* Runs the statement and says so if anything was allocated or freed. */
#define QUIET(statement)                                                                                     \
    do {                                                                                                     \
        long before_ = allocations;                                                                          \
        statement;                                                                                           \
        long during_ = allocations - before_;                                                                \
        if (during_ && ++loud)                                                                               \
            print_error("%s by %s: %ld allocations in %s\n", problem, method, during_, #statement);          \
    } while (0)

/* Every call of a solver. The first joint of the tree alone is mostly too little for inverse dynamics. */
static bool watch_solver(const lw_model *model, const char *problem, const char *method, bool one_driven,
                         const double *q, const double *v) {
    const char *const driven[1] = {lw_model_joint_info(model, lw_model_body_joint(model, 1)).name};
    const lw_solver_options options = {
        .method = method, .driven = one_driven ? driven : NULL, .driven_count = one_driven};
    lw_solver *solver;
    if (lw_solver_create(model, &options, NULL, &solver, NULL) != LW_OK) return false;
    const int nv = lw_model_v_size(model), joints = lw_model_joint_count(model),
              rows = lw_solver_row_count(solver);
    double *vdot = numbers(nv), *tau = numbers(nv > rows ? nv : rows), *reactions = numbers(6 * joints),
           *matrix = numbers(nv * (nv > rows ? nv : rows)), *mass = numbers(nv * nv), amount;
    bool *unique = calloc(6 * (size_t)joints + (size_t)nv + 1, sizeof *unique);
    int mobility = 0;
    lw_status status = LW_OK;
    QUIET(status = lw_solver_accelerations(solver, 0, q, v, NULL, vdot, NULL));
    const bool answers = status == LW_OK;
    if (answers) {
        QUIET(status = lw_solver_accelerations(solver, 0, q, v, vdot, vdot, NULL));
        if (status == LW_OK) QUIET(status = lw_solver_reactions(solver, reactions, NULL, NULL));
        if (status == LW_OK) QUIET(status = lw_solver_reactions(solver, reactions, unique, NULL));
        if (status == LW_OK) QUIET(status = lw_solver_balance(solver, &amount, NULL));
        QUIET(status = lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, NULL));
        if (status == LW_OK) QUIET(status = lw_solver_unique_forces(solver, unique, NULL));
        if (status == LW_OK) QUIET(status = lw_solver_reactions(solver, reactions, unique, NULL));
        QUIET(status = lw_solver_closure_jacobian(solver, 0, q, v, matrix, tau, NULL));
        QUIET(status = lw_solver_mobility(solver, 0, q, &mobility, NULL));
        QUIET(status = lw_solver_tangent_basis(solver, 0, q, mobility, matrix, NULL, NULL));
        QUIET(status = lw_solver_mass_matrix(solver, 0, q, mobility, matrix, mass, NULL));
        assert_int_equal(status, LW_OK);
    }
    free(vdot), free(tau), free(reactions), free(matrix), free(mass), free(unique);
    lw_solver_destroy(solver);
    return answers;
}

static void solvers(void **state) {
    (void)state;
    int asked = 0;
    loud = 0;
    for (int p = 0; p < problem_count; p++) {
        lw_model *model = read_problem(problems[p]);
        double *q = numbers(lw_model_q_size(model)), *v = numbers(lw_model_v_size(model));
        lw_model_initial_state(model, q, v);
        assert_int_equal(lw_assemble(model, 0, q, v, NULL, NULL), LW_OK);
        for (int m = 0; m < lw_method_count(); m++)
            asked += watch_solver(model, problems[p], lw_method_at(m).name, m % 2, q, v);
        free(q), free(v);
        lw_model_destroy(model);
    }
    print_message("%d solvers\n", asked);
    assert_int_equal(loud, 0);
    assert_true(asked > 8 * problem_count);
}

static bool watch_simulation(const lw_model *model, const char *problem, const char *method,
                             const char *integrator) {
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.method = method;
    options.integrator = integrator;
    options.step = strcmp(integrator, "erk") == 0 ? 0 : 1e-4;
    options.tolerance = strcmp(integrator, "erk") == 0 ? 1e-6 : 0;
    lw_simulation *simulation;
    if (lw_simulation_create(model, &options, NULL, &simulation, NULL) != LW_OK) return false;
    double *q = numbers(lw_model_q_size(model)), *v = numbers(lw_model_v_size(model));
    const size_t size = lw_simulation_snapshot_size(simulation);
    void *snapshot = malloc(size);
    assert_non_null(snapshot);
    lw_status status = LW_OK;
    QUIET(status = lw_simulation_advance(simulation, 3e-4, NULL));
    const bool runs = status == LW_OK;
    if (runs) {
        QUIET(status = lw_simulation_advance(simulation, 6e-4, NULL));
        QUIET(lw_simulation_state(simulation, q, v));
        QUIET(lw_simulation_save(simulation, snapshot, size));
        QUIET(status = lw_simulation_step(simulation, NULL));
        QUIET(status = lw_simulation_restore(simulation, snapshot, size, NULL));
        QUIET(status = lw_simulation_set_state(simulation, 6e-4, q, v, NULL));
        QUIET(status = lw_simulation_advance(simulation, 8e-4, NULL));
    }
    free(snapshot), free(q), free(v);
    lw_simulation_destroy(simulation);
    return runs;
}

static void simulations(void **state) {
    (void)state;
    static const char *const integrators[] = {"rk4", "erk", "energy-momentum", "energy-momentum-4",
                                              "rosenbrock"};
    int run = 0;
    loud = 0;
    for (int p = 0; p < problem_count; p++) {
        lw_model *model = read_problem(problems[p]);
        for (int m = 0; m < lw_method_count(); m++)
            for (int i = 0; i < 5; i++) {
                /* Steps of rosenbrock by differences take an evaluation for each state: models with many
                 * bodies by the two methods that have exact derivatives. Large models, on which dense methods
                 * take seconds: one integrator for each method, and by energy-momentum those that have such
                 * steps. */
                const char *method = lw_method_at(m).name;
                const bool exact = strcmp(method, "tree") == 0 || strcmp(method, "rcr") == 0;
                if (i == 4 && lw_model_body_count(model) > 6 && !exact) continue;
                if (lw_model_body_count(model) > 30 && (i == 4 || (i < 2 && i != m % 2))) continue;
                run += watch_simulation(model, problems[p], method, integrators[i]);
            }
        lw_model_destroy(model);
    }
    print_message("%d simulations\n", run);
    assert_int_equal(loud, 0);
    assert_true(run > 8 * problem_count);
}

/* Through knots, at which the integrator starts anew. */
static void knots(void **state) {
    (void)state;
    static const char *const integrators[] = {"rk4", "erk", "rosenbrock"};
    const char *const problem = "knots", *const method = "tree";
    loud = 0;
    lw_model *model = compile_or_fail(read_text_spec(
        "linkwork: 1\nname: knots\nbodies:\n  b: {mass: 1, inertia: [1, 1, 1]}\njoints:\n"
        "  x: {type: prismatic, axis: [1, 0, 0], between: [ground, b]}\nforces:\n"
        "  f: {type: drive, joint: x, force: \"(mod(t, 0.1) < 0.02) + (t > 0.33)\"}\nrun: {end: 1}\n"));
    for (int i = 0; i < 3; i++) {
        lw_run_options options;
        lw_run_defaults(model, &options);
        options.method = method;
        options.integrator = integrators[i];
        options.step = i != 1 ? 3e-3 : 0;
        options.tolerance = i != 1 ? 0 : 1e-6;
        lw_simulation *simulation;
        assert_int_equal(lw_simulation_create(model, &options, NULL, &simulation, NULL), LW_OK);
        lw_status status;
        QUIET(status = lw_simulation_advance(simulation, 0.9, NULL));
        assert_int_equal(status, LW_OK);
        assert_int_equal(loud, 0);
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
        "linkwork: 1\nname: signals\nsignals: {gap: 1 - pin.q - 0.1*body.b.x, w: gap + other}\n"
        "inputs: {u: 2*t, other: w0*t}\nparameters: {w0: 3}\n"
        "states: {i: {rate: gap + 0.1*kinetic, start: 1}, lag: {rate: (u - lag)/0.1, start: 0}}\n"
        "bodies:\n  b: {mass: 1, com: [0, 0, -1], inertia: [1, 1, 1]}\njoints:\n"
        "  pin: {type: revolute, point: [0, 0, 0], axis: [0, 1, 0], between: [ground, b]}\nforces:\n"
        "  f: {type: drive, joint: pin, torque: w + i - 3*pin.v + lag}\n"
        "outputs: {a: pin.a, r: reaction(pin).force, f: force(f), x: 'point(b, 0, 0, 1).z'}\nrun: {end: "
        "1}\n"));
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
    return cmocka_run_group_tests(tests, list_problems, NULL);
}

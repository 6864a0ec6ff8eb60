/* test_allocation.c - nothing allocates after creation: every call of dynamics.h, every formulation, every
 * time step.
 *
 * With sanitizers, or without glibc, the calls run but nothing is counted (tests/support/allocations.h).
 */
#include "formulations/formulation.h"
#include "allocations.h"
#include "random_massless.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

enum { MAX = 120, SEEDS = 60 };

static lw_model *random_model(lw_random *random, int seed) {
    random_tree options = {.bodies = 2 + seed % 10,
                           .forces = true,
                           .prescribed = seed % 2,
                           .reversed = seed % 3 == 0,
                           .joint = seed % 4 ? -1 : seed / 4 % LW_JOINT_TYPES};
    return random_tree_model(random, &options);
}

static void counting_works(void **state) {
    (void)state;
    if (!counting) {
        print_message(
            "built with a sanitizer or without glibc: the calls run, but allocations are not counted\n");
        return;
    }
    long before = allocations;
    void *volatile memory = malloc(10);
    memory = realloc(memory, 1000);
    free(memory);
    memory = calloc(3, 3);
    free(memory);
    assert_int_equal(allocations - before, 5);
    /* creation is seen, too */
    lw_random random = random_seed(1);
    before = allocations;
    lw_model_destroy(random_model(&random, 1));
    assert_true(allocations - before > 0);
}

/* Runs the statement and fails if anything was allocated or freed. */
#define QUIET(statement)                                                                                     \
    do {                                                                                                     \
        long before_ = allocations;                                                                          \
        statement;                                                                                           \
        long during_ = allocations - before_;                                                                \
        if (during_) fail_msg("seed %d: %ld allocations in %s", seed, during_, #statement);                  \
    } while (0)

static void dynamics_do_not_allocate(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_model *m = random_model(&random, seed);
        lw_data *d;
        assert_int_equal(lw_data_create(m, NULL, &d), LW_OK);
        double q[MAX], v[MAX], vdot[MAX], tau[MAX], x[3], y[3], R[9], t = 0.4;
        assert_true(lw_model_q_size(m) <= MAX);
        double *mass = calloc((size_t)MAX * MAX, sizeof *mass),
               *reactions = calloc(6 * MAX, sizeof *reactions);
        lw_error error;
        lw_status status = LW_OK;
        random_state(&random, m, q, v);
        random_vector(&random, MAX, 1, tau);
        for (int twice = 0; twice < 2; twice++) {
            QUIET(status = lw_tree_forward_dynamics(m, d, t, q, v, tau, vdot, &error));
            assert_int_equal(status, LW_OK);
            QUIET(lw_tree_inverse_dynamics(m, d, t, q, v, vdot, tau, NULL));
            QUIET(lw_tree_mass_matrix(m, d, t, q, mass));
            QUIET(lw_energy_of(m, d, t, q, v));
            QUIET(lw_momentum(m, d, t, q, v, x, y));
            QUIET(lw_joint_reactions(m, d, t, q, v, vdot, reactions, NULL));
            for (int body = 1; body <= lw_model_body_count(m); body++) {
                QUIET(lw_tree_body_jacobian(m, d, t, q, body, mass));
                QUIET(lw_tree_point_jacobian(m, d, t, q, body, x, mass));
                QUIET(lw_body_pose(m, d, t, q, body, y, R));
                QUIET(lw_body_velocity(m, d, t, q, v, body, x, y, R));
            }
            QUIET(lw_q_rate(m, q, v, tau));
            QUIET(lw_integrate_q(m, q, v, 0.01));
            QUIET(lw_normalise_q(m, q));
            QUIET(lw_model_initial_state(m, q, v));
        }
        free(mass);
        free(reactions);
        lw_data_destroy(d);
        lw_model_destroy(m);
    }
}

static void a_failing_call_does_not_allocate(void **state) {
    (void)state;
    int seed = 0;
    lw_spec *spec = lw_spec_create("massless");
    lw_body_spec body = {.name = "ghost"};
    lw_joint_spec joint = {.name = "pin", .type = LW_JOINT_SPHERICAL, .bodies = {LW_GROUND, "ghost"}};
    assert_int_equal(lw_spec_add_body(spec, &body), LW_OK);
    assert_int_equal(lw_spec_add_joint(spec, &joint), LW_OK);
    lw_model *model = compile_or_fail(spec);
    lw_data *data;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    double q[4] = {1, 0, 0, 0}, v[3] = {0, 0, 0}, vdot[3];
    lw_error error;
    lw_status status = LW_OK;
    QUIET(status = lw_tree_forward_dynamics(model, data, 0, q, v, NULL, vdot, &error));
    assert_int_equal(status, LW_ERROR_SINGULAR);
    lw_data_destroy(data);
    lw_model_destroy(model);
}

/* Every call of a formulation, from the state (q, v) on; false if the model is not for it. */
static bool watch_formulation(const lw_formulation *f, const lw_model *model, int seed, double *q,
                              double *v) {
    lw_error error;
    if (f->applies(model, &error) != LW_OK) return false;
    const lw_method_options options = {.flags = true};
    lw_method *method;
    assert_int_equal(f->create(model, &options, &method, &error), LW_OK);
    size_t n = (size_t)method->state_size + 1;
    double *y = calloc(n, sizeof *y), *ydot = calloc(n, sizeof *ydot), *r = calloc(n, sizeof *r);
    double vdot[MAX], reactions[6 * MAX], position, velocity;
    bool unique[6 * MAX];
    lw_power power;
    lw_status status = LW_OK;
    for (int twice = 0; twice < 2; twice++) {
        QUIET(f->to_state(method, 0.3, q, v, y));
        if (f->project) QUIET(status |= f->project(method, 0.3, y, &error));
        QUIET(status |= f->accelerations(method, 0.3, q, v, NULL, vdot, reactions, NULL, &error));
        QUIET(status |= f->accelerations(method, 0.3, q, v, NULL, vdot, reactions, unique, &error));
        if (f->derivative) QUIET(status |= f->derivative(method, 0.3, y, ydot, &power, &error));
        if (f->residual) QUIET(status |= f->residual(method, 0.3, y, ydot, r, &power, &error));
        if (f->step) QUIET(status |= f->step(method, 0.3, 1e-3, y, r, &power, &error));
        if (f->violation) QUIET(f->violation(method, 0.3, y, &position, &velocity));
        QUIET(f->from_state(method, 0.3, y, q, v));
    }
    assert_int_equal(status, LW_OK);
    free(y), free(ydot), free(r);
    f->destroy(method);
    return true;
}

static void formulations_do_not_allocate(void **state) {
    (void)state;
    for (int k = 0; k < lw_formulation_count(); k++)
        for (int seed = 1; seed <= SEEDS; seed++) {
            lw_random random = random_seed((uint64_t)seed);
            lw_model *model = random_model(&random, seed);
            double q[MAX], v[MAX];
            random_state(&random, model, q, v);
            watch_formulation(lw_formulation_at(k), model, seed, q, v);
            lw_model_destroy(model);
        }
}

/* Batches on vectors, on threads, one by one, with a state that fails. */
static void batches_do_not_allocate(void **state) {
    (void)state;
    enum { COUNT = 37 };
    for (int seed = 1; seed <= 24; seed++) {
        static random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        size_t nq = (size_t)lw_model_q_size(model), nv = (size_t)lw_model_v_size(model);
        double q[MAX], v[MAX], *many = calloc(COUNT * (nq + 2 * nv), sizeof *many);
        double *many_v = many + COUNT * nq, *vdot = many_v + COUNT * nv;
        random_loops_state(&loops, model, false, q, v);
        for (size_t s = 0; s < COUNT; s++) {
            for (size_t k = 0; k < nq; k++) many[k * COUNT + s] = q[k];
            for (size_t k = 0; k < nv; k++) many_v[k * COUNT + s] = v[k] * (1 - 0.001 * (double)s);
        }
        lw_solver_options options;
        lw_solver_batch *batch;
        lw_error error;
        lw_status status = LW_OK;
        lw_solver_batch_defaults(model, &options);
        options.method = "rcr";
        if (lw_solver_batch_create(model, &options, 1 + seed % 3, NULL, &batch, &error) == LW_OK) {
            for (int twice = 0; twice < 2; twice++) {
                QUIET(status = lw_solver_batch_accelerations(batch, COUNT, loops.t, many, many_v, NULL, vdot,
                                                             &error));
                for (size_t k = 0; k < nv; k++)
                    many_v[k * COUNT + 5] = INFINITY; /* Some may be prescribed. */
            }
            assert_int_equal(status, LW_ERROR_ARGUMENT);
            lw_solver_batch_destroy(batch);
        }
        free(many);
        lw_model_destroy(model);
    }
}

/* Between the first and the last sample of a run: steps, dense output, energies. */
typedef struct watch {
    long at_first, at_last;
    int samples;
} watch;

static bool observe(const lw_sample *sample, void *context) {
    (void)sample;
    watch *w = context;
    if (w->samples == 1) w->at_first = allocations; /* behind the first step */
    w->at_last = allocations;
    w->samples++;
    return true;
}

/* The integrators of our own. SUNDIALS allocates in its own start-up, and adams, bdf and ida are its
 * business. */
static lw_status watch_steps(const lw_model *model, const char *method, int seed) {
    watch w = {0};
    lw_run_options options = {.method = method,
                              .integrator = "rk4",
                              .end = 0.05,
                              .step = 1e-3,
                              .output = seed % 2 ? 1e-3 : 0.7e-3, /* on the steps, or between them */
                              .observe = observe,
                              .context = &w};
    lw_error error;
    lw_status status = lw_simulate(model, &options, NULL, NULL, NULL, &error);
    assert_true(status != LW_OK || w.samples >= 50);
    if (w.at_last != w.at_first)
        fail_msg("seed %d: %ld allocations in %d samples of rk4", seed, w.at_last - w.at_first, w.samples);
    return status;
}

static void steps_do_not_allocate(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_model *model = random_model(&random, seed);
        assert_int_equal(watch_steps(model, "tree", seed), LW_OK);
        lw_model_destroy(model);
    }
}

/* Bodies without mass: damped trees, trees on springs alone, closed loops. */
static void bodies_without_mass_do_not_allocate(void **state) {
    (void)state;
    int seen[3] = {0};
    for (int what = 0; what < 3; what++)
        for (int seed = 0; seed < 24; seed++) {
            static random_loops loops;
            lw_model *model = what < 2 ? random_massless_model((uint64_t)seed, 2 + seed % 5,
                                                               what ? HOLD_SPRUNG : HOLD_DAMPED, 0)
                                       : random_massless_loops(&loops, seed, 0);
            const lw_formulation *f = lw_formulation_find("massless");
            double q[MAX], v[MAX];
            if (what == 2 && loops.base == LOOP_MOVING) { /* It cannot start at rest. */
                lw_model_destroy(model);
                continue;
            }
            lw_model_initial_state(model, q, v);
            if (what == 2) random_loops_configuration(&loops, model, q);
            /* some run into positions where a motion loses its mass */
            if (watch_formulation(f, model, seed, q, v) && watch_steps(model, "massless", seed) == LW_OK)
                seen[what]++;
            lw_model_destroy(model);
        }
    print_message("%d damped trees, %d on springs, %d loops\n", seen[0], seen[1], seen[2]);
    assert_true(seen[0] >= 10 && seen[1] >= 10 && seen[2] >= 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_works),
        cmocka_unit_test(dynamics_do_not_allocate),
        cmocka_unit_test(a_failing_call_does_not_allocate),
        cmocka_unit_test(formulations_do_not_allocate),
        cmocka_unit_test(batches_do_not_allocate),
        cmocka_unit_test(steps_do_not_allocate),
        cmocka_unit_test(bodies_without_mass_do_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

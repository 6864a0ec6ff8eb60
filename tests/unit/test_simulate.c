/* test_simulate.c - a run: options, samples, ledger, integrators against each other, order of rk4, long runs.
 */
#include "build.h"
#include "formulations/formulation.h"
#include "integrators/integrator.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double z_axis[3] = {0, 0, 1}, y_axis[3] = {0, 1, 0};
enum { MAX = 128 };

/* A body of mass 1 and moment 1 about y at distance 1 below a pin: angle'' = -9.81 / 2 sin. */
static lw_spec *pendulum(void) {
    lw_spec *spec = lw_spec_create("pendulum");
    add_body(spec, (lw_body_spec){.name = "bob", .mass = 1, .com = {0, 0, -1}, .inertia = {1, 1, 1}});
    add_plain_joint(spec, "pin", LW_JOINT_REVOLUTE, LW_GROUND, "bob", NULL, y_axis);
    return spec;
}

static void run_or_fail(const lw_model *model, const lw_run_options *options, double *q, double *v,
                        lw_run_summary *summary) {
    lw_error error = {0};
    lw_status status = lw_simulate(model, options, q, v, summary, &error);
    if (status != LW_OK) fail_msg("%s: %s", options->integrator, error.message);
}

/* --- options -------------------------------------------------------------------------------------- */

static void faulty_options(void **state) {
    (void)state;
    lw_model *model = compile_or_fail(pendulum());
    static const struct {
        lw_run_options options;
        lw_status status;
        const char *message, *remedy;
    } faults[] = {
        {{.end = 0}, LW_ERROR_ARGUMENT, "a run from t = 0 to t = 0 is empty", "an end after the start"},
        {{.start = 2, .end = 1}, LW_ERROR_ARGUMENT, "a run from t = 2 to t = 1 is empty", "after the start"},
        {{.end = INFINITY}, LW_ERROR_ARGUMENT, "from t = 0 to t = inf", "after the start"},
        {{.end = NAN}, LW_ERROR_ARGUMENT, "is empty", "after the start"},
        {{.end = 1, .step = -1}, LW_ERROR_ARGUMENT, "step -1 is not a step", "positive number of seconds"},
        {{.end = 1, .step = NAN}, LW_ERROR_ARGUMENT, "is not a step", "positive number of seconds"},
        {{.end = 1, .tolerance = 1}, LW_ERROR_ARGUMENT, "tolerance 1 is not between 0 and 1", "1e-8"},
        {{.end = 1, .tolerance = -1e-3}, LW_ERROR_ARGUMENT, "tolerance -0.001 is not between", "1e-8"},
        {{.end = 1, .output = -1}, LW_ERROR_ARGUMENT, "output interval -1 is not positive", "positive"},
        {{.end = 1, .method = "tre"}, LW_ERROR_ARGUMENT, "unknown method \"tre\"", "did you mean \"tree\"?"},
        {{.end = 1, .integrator = "rk5"}, LW_ERROR_ARGUMENT, "unknown integrator \"rk5\"", "did you mean"},
        {{.end = 1, .integrator = "leapfrog"}, LW_ERROR_ARGUMENT, "unknown integrator", "known are"},
        {{.end = 1, .integrator = "rk4"}, LW_ERROR_ARGUMENT, "rk4 works with a fixed step", "--step"},
        {{.end = 1, .drift = "hope"},
         LW_ERROR_ARGUMENT,
         "unknown drift control \"hope\"",
         "project, baumgarte"},
    };
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        lw_error error = {0};
        lw_run_summary summary;
        double q[1] = {7}, v[1] = {7};
        lw_status status = lw_simulate(model, &faults[k].options, q, v, &summary, &error);
        if (status != faults[k].status || !strstr(error.message, faults[k].message) ||
            !strstr(error.remedy, faults[k].remedy))
            fail_msg("fault %zu: status %d, \"%s\"; \"%s\"", k, (int)status, error.message, error.remedy);
        assert_int_equal(lw_simulate(model, &faults[k].options, NULL, NULL, NULL, NULL), faults[k].status);
    }
    lw_model_destroy(model);
}

static void defaults_come_from_the_model(void **state) {
    (void)state;
    lw_spec *spec = pendulum();
    lw_model *model = NULL;
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_run_options options;
    lw_run_defaults(model, &options);
    assert_true(options.end == 10 && options.step == 0 && options.tolerance == 0 && !options.method);
    lw_model_destroy(model);
    const lw_run_spec run = {
        .end = 3, .step = 0.1, .tolerance = 1e-5, .output = 0.5, .method = "tree", .integrator = "bdf"};
    assert_int_equal(lw_spec_set_run(spec, &run), LW_OK);
    model = compile_or_fail(spec);
    lw_run_defaults(model, &options);
    assert_true(options.end == 3 && options.step == 0.1 && options.tolerance == 1e-5 &&
                options.output == 0.5);
    assert_string_equal(options.method, "tree");
    assert_string_equal(options.integrator, "bdf");
    lw_run_summary summary;
    run_or_fail(model, &options, NULL, NULL, &summary);
    assert_string_equal(summary.method, "tree");
    assert_string_equal(summary.integrator, "bdf");
    /* without a name: a step alone means rk4, otherwise the step is adaptive */
    options = (lw_run_options){.end = 0.1, .step = 0.01};
    run_or_fail(model, &options, NULL, NULL, &summary);
    assert_string_equal(summary.integrator, "rk4");
    assert_int_equal(summary.steps, 10);
    options.tolerance = 1e-6;
    run_or_fail(model, &options, NULL, NULL, &summary);
    assert_string_not_equal(summary.integrator, "rk4");
    lw_model_destroy(model);
}

/* --- samples -------------------------------------------------------------------------------------- */

typedef struct record {
    int count, stop_at;
    double t[2000], progress[2000], unaccounted, books;
    lw_ledger first;
} record;

static bool observe(const lw_sample *sample, void *context) {
    record *r = context;
    assert_true(r->count < 2000);
    r->t[r->count] = sample->t;
    r->progress[r->count] = sample->progress;
    const lw_ledger *l = sample->ledger;
    if (r->count == 0) r->first = *l;
    /* the ledger's own rule */
    double rule = l->kinetic + l->potential - r->first.kinetic - r->first.potential - l->drives - l->forces +
                  l->dissipation - l->unaccounted;
    r->books = fmax(r->books, fabs(rule));
    r->unaccounted = fmax(r->unaccounted, fabs(l->unaccounted));
    r->count++;
    return r->stop_at == 0 || r->count < r->stop_at;
}

/* No name: by tolerance or step, and by what the method wants for a step. */
static void the_integrator_follows_from_the_options(void **state) {
    (void)state;
    static const struct {
        lw_run_options options;
        const char *integrator;
        bool by_step;
    } cases[] = {
        {{.tolerance = 1e-8}, "erk", false},
        {{.step = 0.01}, "rk4", true},
        {{.step = 0.01, .tolerance = 1e-8}, "erk", false}, /* its largest step */
        {{.step = 0.01, .integrator = "auto"}, "rk4", true},
        {{.step = 0.01, .integrator = "bdf"}, "bdf", false},
        {{.step = 0.01, .method = "director"}, "energy-momentum", true},
        {{.tolerance = 1e-8, .integrator = "energy-momentum"}, "energy-momentum", false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_string_equal(lw_run_integrator(&cases[k].options), cases[k].integrator);
        assert_int_equal(lw_integrator_by_step(cases[k].integrator, &cases[k].options), cases[k].by_step);
    }
}

static void samples_at_exact_times(void **state) {
    (void)state;
    lw_model *model = compile_or_fail(pendulum());
    static const struct {
        double start, end, output;
        int count;
    } cases[] = {
        {0, 1, 0.25, 5}, {0, 1, 0.3, 5}, /* the last interval is shorter */
        {2, 3, 0.1, 11}, {0, 1, 7, 2},    {0, 1, 0, 1001},
        {-1, 1, 0.5, 5}, {0, 0.7, 0.1, 8} /* 7 times 0.1 is not 0.7, yet there is no eighth interval */
    };
    for (int i = 0; i < lw_integrator_count(); i++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            static record r;
            memset(&r, 0, sizeof r);
            lw_run_options options = {.method = "tree",
                                      .integrator = lw_integrator_name(i),
                                      .start = cases[k].start,
                                      .end = cases[k].end,
                                      .output = cases[k].output,
                                      .step = 0.013,
                                      .tolerance = 1e-6,
                                      .observe = observe,
                                      .context = &r};
            lw_run_summary summary;
            lw_error error;
            lw_status status = lw_simulate(model, &options, NULL, NULL, &summary, &error);
            if (status == LW_ERROR_UNSUPPORTED) continue; /* needs a step of the method's own */
            assert_int_equal(status, LW_OK);
            assert_int_equal(r.count, cases[k].count);
            assert_int_equal(summary.samples, r.count);
            double interval = cases[k].output > 0 ? cases[k].output : (cases[k].end - cases[k].start) / 1000;
            for (int n = 0; n < r.count - 1; n++) assert_true(r.t[n] == cases[k].start + n * interval);
            assert_true(r.t[r.count - 1] == cases[k].end);
            assert_true(summary.t_end == cases[k].end);
            assert_true(r.progress[0] == 0 && r.progress[r.count - 1] == 1);
            for (int n = 1; n < r.count; n++) assert_true(r.progress[n] > r.progress[n - 1]);
        }
    lw_model_destroy(model);
}

static void the_observer_can_stop(void **state) {
    (void)state;
    lw_model *model = compile_or_fail(pendulum());
    for (int stop = 1; stop < 6; stop++) {
        static record r;
        memset(&r, 0, sizeof r);
        r.stop_at = stop;
        lw_run_options options = {.end = 1, .output = 0.1, .observe = observe, .context = &r};
        lw_run_summary summary;
        lw_error error = {0};
        double q[1], v[1];
        assert_int_equal(lw_simulate(model, &options, q, v, &summary, &error), LW_ERROR_STOPPED);
        assert_int_equal(error.status, LW_ERROR_STOPPED);
        char text[64];
        snprintf(text, sizeof text, "stopped at t = %g", 0.1 * (stop - 1));
        assert_string_equal(error.message, text);
        assert_int_equal(r.count, stop);
        assert_true(fabs(summary.t_end - 0.1 * (stop - 1)) < 1e-15); /* what there is, is told */
        assert_int_equal(summary.samples, stop);
        assert_true(isfinite(q[0]) && isfinite(v[0]));
    }
    lw_model_destroy(model);
}

static void the_initial_state_is_the_callers(void **state) {
    (void)state;
    lw_model *model = compile_or_fail(pendulum());
    const double q0[1] = {0.5}, v0[1] = {1};
    double q[1], v[1];
    lw_run_options options = {.end = 1e-9, .q = q0, .v = v0, .tolerance = 1e-9};
    run_or_fail(model, &options, q, v, NULL);
    assert_true(fabs(q[0] - 0.5) < 1e-8 && fabs(v[0] - 1) < 1e-7);
    lw_model_destroy(model);
}

static void a_run_that_blows_up_says_so(void **state) {
    (void)state;
    lw_spec *spec = pendulum();
    add_force(spec, (lw_force_spec){
                        .name = "bang", .type = LW_FORCE_DRIVE, .joint = "pin", .drive = "exp(100*v^2)"});
    lw_model *model = compile_or_fail(spec);
    static const char *const integrators[] = {"rk4", "erk", "adams", "bdf"};
    for (int k = 0; k < 4; k++) {
        lw_error error = {0};
        lw_run_options options = {
            .end = 10, .integrator = integrators[k], .step = k ? 0 : 0.01, .tolerance = 1e-6};
        lw_status status = lw_simulate(model, &options, NULL, NULL, NULL, &error);
        assert_true(status == LW_ERROR_INTEGRATION || status == LW_ERROR_SINGULAR);
        assert_true(error.message[0] && error.remedy[0]);
    }
    lw_model_destroy(model);
}

/* --- the ledger ----------------------------------------------------------------------------------- */

/* A wheel on a screw of 0.1 m per radian, J = 0.25, mass 1, whose angle is sin(3 t): the drive pays for
 * kinetic energy, lifting, a torsion spring of stiffness 2 and friction 0.3 w. */
static void prescribed_motion_is_paid_for(void **state) {
    (void)state;
    static const char *const integrators[] = {"rk4", "erk", "adams", "bdf", "ida"};
    for (int k = 0; k < 5; k++) {
        lw_spec *spec = lw_spec_create("wheel");
        add_plain_body(spec, "wheel");
        add_plain_joint(spec, "screw", LW_JOINT_SCREW, LW_GROUND, "wheel", NULL, z_axis);
        lw_spec_joint(spec, 0)->lead = 2 * 3.14159265358979323846 * 0.1;
        lw_spec_joint(spec, 0)->motion[0] = "sin(3*t)";
        add_force(spec,
                  (lw_force_spec){.name = "f", .type = LW_FORCE_FRICTION, .joint = "screw", .viscous = 0.3});
        add_force(spec,
                  (lw_force_spec){.name = "s", .type = LW_FORCE_TORSION, .joint = "screw", .stiffness = 2});
        lw_model *model = compile_or_fail(spec);
        static record r;
        memset(&r, 0, sizeof r);
        double q[1], v[1], T = 1.5;
        lw_run_options options = {.integrator = integrators[k],
                                  .end = T,
                                  .output = 0.1,
                                  .step = k ? 0 : 0.01,
                                  .tolerance = 1e-9,
                                  .observe = observe,
                                  .context = &r};
        lw_run_summary summary;
        run_or_fail(model, &options, q, v, &summary);
        double angle = sin(3 * T), w = 3 * cos(3 * T), J = 0.25 + 0.01;
        assert_true(fabs(q[0] - angle) < 1e-14 && fabs(v[0] - w) < 1e-14); /* from the expression itself */
        double kinetic = 0.5 * J * w * w, potential = 9.81 * 0.1 * angle + angle * angle;
        double friction = 0.3 * 9 * (T / 2 + sin(6 * T) / 12); /* integral of 0.3 (3 cos 3t)^2 */
        double drives = kinetic - 0.5 * J * 9 + potential + friction;
        const lw_ledger *l = &summary.ledger;
        double got[5] = {l->kinetic, l->potential, l->dissipation, l->drives, l->forces};
        const double want[5] = {kinetic, potential, friction, drives, 0};
        /* the books are integrated with the motion's steps but without error control of their own: three
         * digits less than the tolerance */
        double difference = relative_difference(want, got, 5);
        if (!(difference < 1e-6)) fail_msg("%s: the books differ by %g", integrators[k], difference);
        assert_true(r.books < 1e-12);
        assert_true(r.unaccounted < 1e-6);
        lw_model_destroy(model);
    }
}

/* A load that settles: steps grow by orders of magnitude, and what implicit integrators correct with an old matrix must not leave
 * a rest in the books, which would grow from step to step. */
static void the_books_last_while_steps_grow(void **state) {
    (void)state;
    static const char *const integrators[] = {"erk", "adams", "bdf", "ida"};
    for (int k = 0; k < 4; k++) {
        lw_spec *spec = lw_spec_create("settling");
        add_plain_body(spec, "load");
        add_plain_joint(spec, "slide", LW_JOINT_PRISMATIC, LW_GROUND, "load", NULL, z_axis);
        add_force(
            spec,
            (lw_force_spec){
                .name = "s", .type = LW_FORCE_TORSION, .joint = "slide", .stiffness = 200, .damping = 12});
        lw_model *model = compile_or_fail(spec);
        const lw_run_options options = {.integrator = integrators[k], .end = 8, .tolerance = 1e-9};
        lw_run_summary summary;
        run_or_fail(model, &options, NULL, NULL, &summary);
        /* three digits less than the tolerance, as above; energies are about 0.5 J */
        if (!(summary.energy_max_drift < 1e-6))
            fail_msg("%s: %g J are unaccounted for", integrators[k], summary.energy_max_drift);
        lw_model_destroy(model);
    }
}

/* Everything at once: the books balance, and all integrators end in the same state. */
static void integrators_agree(void **state) {
    (void)state;
    static const char *const integrators[] = {"erk", "adams", "bdf", "ida", "rk4"};
    for (int seed = 1; seed <= 6; seed++) {
        double reference[2 * MAX];
        int n = 0;
        for (int k = 0; k < 5; k++) {
            lw_random random = random_seed(70u + (uint64_t)seed);
            random_tree tree = {
                .bodies = 4, .forces = true, .prescribed = true, .reversed = true, .joint = -1};
            lw_model *model = random_tree_model(&random, &tree);
            static record r;
            memset(&r, 0, sizeof r);
            double y[2 * MAX];
            int nq = lw_model_q_size(model);
            n = nq + lw_model_v_size(model);
            lw_run_options options = {.integrator = integrators[k],
                                      .end = 0.5,
                                      .output = 0.05,
                                      .step = k == 4 ? 1e-4 : 0,
                                      .tolerance = 1e-10,
                                      .observe = observe,
                                      .context = &r};
            lw_run_summary summary;
            run_or_fail(model, &options, y, y + nq, &summary);
            if (k == 0) memcpy(reference, y, sizeof y);
            /* tolerance 1e-10 per step, some 1e3 steps: 1e-7 if errors add up; measured 5e-9 (bdf) */
            double difference = relative_difference(reference, y, n);
            if (!(difference < 1e-7))
                fail_msg("seed %d: %s differs from erk by %g", seed, integrators[k], difference);
            double scale = 1 + fabs(summary.energy_initial) + fabs(summary.ledger.drives) +
                           fabs(summary.ledger.forces) + summary.ledger.dissipation;
            assert_true(r.books < 1e-13 * scale);
            if (!(r.unaccounted < 1e-6 * scale))
                fail_msg("seed %d: %s leaves %g unaccounted of %g", seed, integrators[k], r.unaccounted,
                         scale);
            assert_true(summary.energy_max_drift == r.unaccounted);
            assert_true(summary.energy_final == summary.ledger.kinetic + summary.ledger.potential);
            assert_true(summary.ledger.dissipation > 0);
            lw_model_destroy(model);
        }
    }
}

/* --- rk4 on quaternions --------------------------------------------------------------------------- */

/* A heavy body that tumbles: on a ball joint, or free with a spring to ground. */
static lw_spec *tumbling(lw_joint_type type) {
    lw_spec *spec = lw_spec_create("tumbling");
    add_body(spec,
             (lw_body_spec){.name = "top", .mass = 1, .com = {0.1, 0.2, 0.5}, .inertia = {0.3, 0.4, 0.5}});
    add_plain_joint(spec, "j", type, LW_GROUND, "top", NULL, NULL);
    lw_joint_spec *joint = lw_spec_joint(spec, 0);
    joint->has_v = true;
    int at = type == LW_JOINT_FREE ? 3 : 0;
    joint->v[at] = 1, joint->v[at + 1] = -2, joint->v[at + 2] = 3;
    if (type == LW_JOINT_FREE)
        add_force(spec, (lw_force_spec){.name = "s",
                                        .bodies = {LW_GROUND, "top"},
                                        .points = {{0, 0, 3}, {0, 0.2, 1}},
                                        .stiffness = 20,
                                        .free_length = 1,
                                        .has_free_length = true});
    return spec;
}

static void rk4_has_order_four(void **state) {
    (void)state;
    static const lw_joint_type types[] = {LW_JOINT_SPHERICAL, LW_JOINT_FREE};
    for (int k = 0; k < 2; k++) {
        lw_model *model = compile_or_fail(tumbling(types[k]));
        int nq = lw_model_q_size(model), n = nq + lw_model_v_size(model);
        double best[16], y[16], errors[4];
        lw_run_options options = {.integrator = "rk4", .end = 1, .output = 1, .step = 1.0 / 8192};
        run_or_fail(model, &options, best, best + nq, NULL);
        for (int r = 0; r < 4; r++) {
            options.step = 1.0 / (100 << r);
            run_or_fail(model, &options, y, y + nq, NULL);
            errors[r] = 0;
            for (int i = 0; i < n; i++) errors[r] = fmax(errors[r], fabs(y[i] - best[i]));
        }
        for (int r = 1; r < 4; r++) { /* from errors of 1e-7 to 1e-11 */
            double slope = log2(errors[r - 1] / errors[r]);
            if (!(fabs(slope - 4) < 0.15))
                fail_msg("%s: order %.3f between steps 1/%d and 1/%d (errors %g, %g)",
                         lw_joint_type_name(types[k]), slope, 100 << (r - 1), 100 << r, errors[r - 1],
                         errors[r]);
        }
        lw_model_destroy(model);
    }
}

/* --- long runs ------------------------------------------------------------------------------------ */

/* The formulation's derivative without its projection: nothing but the pull in qdot keeps the length. */
typedef struct bare_system {
    lw_system base;
    lw_method *method;
} bare_system;

static lw_status bare_derivative(lw_system *base, double t, const double *y, double *ydot, lw_error *error) {
    lw_method *method = ((bare_system *)base)->method;
    lw_power power;
    return method->formulation->derivative(method, t, y, ydot, &power, error);
}

/* 1e5 steps of at most 1 ms. The local error of the length is below the tolerance per step and decays within
 * a radian of rotation, here some 300 steps; without the pull it would add up to 1e5 times the error per
 * step. */
static void quaternions_over_many_steps(void **state) {
    (void)state;
    static const char *const integrators[] = {"adams", "bdf"};
    const double tolerance = 1e-8;
    for (int k = 0; k < 2; k++) {
        lw_spec *spec = tumbling(LW_JOINT_SPHERICAL);
        const double none[3] = {0, 0, 0};
        lw_spec_set_gravity(spec, none);
        lw_model *model = compile_or_fail(spec);
        const lw_formulation *f = lw_formulation_find("tree");
        const lw_integrator *integrator = lw_integrator_find(integrators[k]);
        const lw_method_options method_options = {0};
        const lw_integrator_options options = {.step = 1e-3, .tolerance = tolerance};
        lw_error error = {0};
        bare_system system = {.base = {.derivative = bare_derivative}};
        assert_int_equal(f->create(model, &method_options, &system.method, &error), LW_OK);
        system.base.size = system.method->state_size;
        double y[7], worst = 0;
        lw_model_initial_state(model, y, y + 4);
        lw_integration *run;
        assert_int_equal(integrator->create(&system.base, &options, 0, y, NULL, &run, &error), LW_OK);
        for (int n = 1; n <= 1000; n++) {
            lw_status status = integrator->advance(run, 0.1 * n, 100, y, &error);
            if (status != LW_OK) fail_msg("%s: %s", integrators[k], error.message);
            double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]);
            worst = fmax(worst, fabs(length - 1));
        }
        lw_integrator_statistics statistics;
        integrator->statistics(run, &statistics);
        assert_true(statistics.steps >= 100000);
        if (!(worst < tolerance))
            fail_msg("%s: the quaternion's length is off by %g after %ld steps", integrators[k], worst,
                     statistics.steps);
        integrator->destroy(run);
        f->destroy(system.method);
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faulty_options),
        cmocka_unit_test(defaults_come_from_the_model),
        cmocka_unit_test(the_integrator_follows_from_the_options),
        cmocka_unit_test(samples_at_exact_times),
        cmocka_unit_test(the_observer_can_stop),
        cmocka_unit_test(the_initial_state_is_the_callers),
        cmocka_unit_test(a_run_that_blows_up_says_so),
        cmocka_unit_test(prescribed_motion_is_paid_for),
        cmocka_unit_test(the_books_last_while_steps_grow),
        cmocka_unit_test(integrators_agree),
        cmocka_unit_test(rk4_has_order_four),
        cmocka_unit_test(quaternions_over_many_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

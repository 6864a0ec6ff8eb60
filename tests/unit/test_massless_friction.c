/* test_massless_friction.c - the speed at which smoothed friction and dampers balance the forces on motions without mass.
 *
 *   loop        friction of several smoothings in a closed loop of bodies without mass: each force rises with its speed, so there is one
 *               balance at each instant. What is out of balance grows on the way there, in the metric of the dampers at hand
 *   sentences   a stop that lets go by speed, positions out of the balance of springs, friction that is saturated, forces that are no numbers, and a position where a joint of several speeds has one more motion
 *               without mass than elsewhere: object, motion, remedy
 */
#include "build.h"
#include "problems.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

static const char loop[] =
    "linkwork: 1\n"
    "name: fuzz\n"
    "gravity: [1, -9, 2]\n"
    "bodies:\n"
    "  b0: {mass: 0, inertia: [0, 0, 0]}\n"
    "  b1: {mass: 1e-4, inertia: [1e-6, 1e-6, 1e-6]}\n"
    "  b2: {mass: 0, inertia: [0, 0, 0]}\n"
    "  b3: {mass: 0, inertia: [0, 0, 0]}\n"
    "  b4: {mass: 1e-4, inertia: [1e-6, 1e-6, 1e-6]}\n"
    "joints:\n"
    "  j0: {type: revolute, between: [ground, b0], axis: [0, 1, 0], point: [-0.2, 0.3, 0.1], q: 0, v: 0.1}\n"
    "  j1: {type: revolute, between: [b0, b1], axis: [0, 1, 0], point: [0, 0, 0], q: 0}\n"
    "  j2: {type: spherical, between: [b1, b2], point: [-0.2, 0.3, 0.3]}\n"
    "  j3: {type: planar, between: [b2, b3], normal: [0, 1, 0], point: [0, 0, 0]}\n"
    "  j4: {type: spherical, between: [b3, b4], point: [0.1, 0, 0.1]}\n"
    "  loop: {type: revolute, between: [ground, b4], point: [0.1, 0.5, 0], axis: [0, 1, 0]}\n"
    "forces:\n"
    "  t0_0: {type: torsion, joint: j0, coordinate: 0, stiffness: 0, table: {x: [-1, -0.1, 0, 0.1, 1], "
    "torque: [-5, 0, 0, 0, 5]}}\n"
    "  s0: {type: spring, between: [ground, b0], first: [0.5, 0.5, 0.1], second: [0.5, 0.5, 0.5], stiffness: "
    "1e3, damping: 1, length: 0.5}\n"
    "  t1_0: {type: friction, joint: j1, coordinate: 0, viscous: 1}\n"
    "  t2_0: {type: friction, joint: j2, coordinate: 0, viscous: 1, coulomb: 1, smoothing: 0.1}\n"
    "  t2_1: {type: friction, joint: j2, coordinate: 1, viscous: 1, coulomb: 1, smoothing: 1e-3}\n"
    "  t2_2: {type: friction, joint: j2, coordinate: 2, viscous: 1, coulomb: 1, smoothing: 0.1}\n"
    "  s2: {type: spring, between: [b0, b2], first: [0.3, 0.3, 0.1], second: [-0.2, -0.2, 0.1], stiffness: "
    "1e3, damping: 0, length: 0}\n"
    "  t3_0: {type: friction, joint: j3, coordinate: 0, viscous: 1, coulomb: 0, smoothing: 1e-3}\n"
    "  t3_1: {type: torsion, joint: j3, coordinate: 1, stiffness: 1, law: \"5*x\"}\n"
    "  t3_2: {type: friction, joint: j3, coordinate: 2, viscous: 10}\n"
    "  s3: {type: spring, between: [b2, b3], first: [-0.2, -0.2, 0], second: [0.5, 0.1, 0], stiffness: 1, "
    "damping: 1, length: 0.5}\n"
    "  t4_0: {type: friction, joint: j4, coordinate: 0, viscous: 1, coulomb: 1, smoothing: 1e-3}\n"
    "  t4_1: {type: friction, joint: j4, coordinate: 1, viscous: 1, coulomb: 0, smoothing: 1e-3}\n"
    "  t4_2: {type: friction, joint: j4, coordinate: 2, viscous: 1, coulomb: 1, smoothing: 0.1}\n";

static const char coplanar[] =
    "linkwork: 1\n"
    "name: fuzz\n"
    "bodies:\n"
    "  b0: {mass: 0, inertia: [0, 0, 0]}\n"
    "  b1: {mass: 1, inertia: [1, 1, 0], com: [0, 0, 0.1]}\n"
    "  b2: {kind: point, mass: 0, com: [0, 0, 0]}\n"
    "  b3: {mass: 0, inertia: [0, 1, 1], com: [0, 0, 0]}\n"
    "  b4: {mass: 1e-4, inertia: [1e-6, 1e-6, 1e-6]}\n"
    "joints:\n"
    "  j0: {type: planar, between: [ground, b0], normal: [0, 0, 1], point: [-0.2, -0.2, 0.5]}\n"
    "  j1: {type: prismatic, between: [ground, b1], axis: [0, 1, 0], q: 1e-09}\n"
    "  j2: {type: revolute, between: [b0, b2], axis: [0.6, 0, 0.8], point: [0, 0, 0], q: 0}\n"
    "  j3: {type: translation, between: [b2, b3], axes: [[1, 0, 0], [0, 1, 0]]}\n"
    "  j4: {type: translation, between: [b3, b4], axes: [[1, 0, 0], [0, 1, 0]]}\n"
    "forces:\n"
    "  t0_0: {type: torsion, joint: j0, coordinate: 0, stiffness: 5, damping: 0, free: 0}\n"
    "  t0_1: {type: friction, joint: j0, coordinate: 1, viscous: 1, coulomb: 0, smoothing: 0.1}\n"
    "  d0_1: {type: drive, joint: j0, coordinate: 1, torque: \"2*cos(3*t)-0.5*v\"}\n"
    "  t0_2: {type: torsion, joint: j0, coordinate: 2, stiffness: 50, damping: 50, free: 0.2}\n"
    "  t1_0: {type: torsion, joint: j1, coordinate: 0, stiffness: 50, damping: 1e3, free: 0}\n"
    "  t2_0: {type: friction, joint: j2, coordinate: 0, viscous: 10}\n"
    "  s2: {type: spring, between: [b3, b2], first: [0.1, 0.3, -0.2], second: [-0.2, 0.3, 0], stiffness: 1, "
    "damping: 1, length: 0}\n"
    "  t3_0: {type: torsion, joint: j3, coordinate: 0, stiffness: 5, damping: 1, free: 0}\n"
    "  t3_1: {type: torsion, joint: j3, coordinate: 1, stiffness: 1e3, damping: 0, free: 0}\n"
    "  u3: {type: bushing, between: [b2, b3], point: [0, 0, 0], stiffness: [1, 1, 1, 1e3, 5, 1e3], damping: "
    "[0, 1e3, 0, 5, 5, 5]}\n"
    "  t4_0: {type: torsion, joint: j4, coordinate: 0, stiffness: 1, damping: 0, free: 0.2}\n"
    "  t4_1: {type: friction, joint: j4, coordinate: 1, viscous: 1, coulomb: 1, smoothing: 0.1}\n"
    "  s4: {type: spring, between: [b2, b4], first: [-0.2, 0.1, 0.5], second: [0.5, 0.3, -0.2], stiffness: "
    "5, damping: 0, length: 0}\n";

static lw_status run(const char *text, const char *integrator, double tolerance, double *q, lw_error *error) {
    lw_model *model = compile_or_fail(read_text_spec(text));
    lw_run_options options;
    double v[40];
    lw_run_defaults(model, &options);
    options.method = "massless", options.integrator = integrator, options.tolerance = tolerance;
    options.end = 0.01, options.output = 0.01;
    lw_status status = lw_simulate(model, &options, q, v, NULL, error);
    lw_model_destroy(model);
    return status;
}

/* ida draws speeds without mass into balance, bdf puts them there: within a hundred tolerances both are the same. */
static void friction_in_a_loop_balances(void **state) {
    (void)state;
    static const struct {
        const char *integrator;
        double tolerance;
    } runs[] = {{"bdf", 1e-8}, {"bdf", 1e-6}, {"ida", 1e-6}, {"ida", 1e-8}};
    double q[4][40] = {{0}};
    for (int i = 0; i < 4; i++) {
        lw_error error = {0};
        if (run(loop, runs[i].integrator, runs[i].tolerance, q[i], &error) != LW_OK)
            fail_msg("%s %g: %s %s", runs[i].integrator, runs[i].tolerance, error.object, error.message);
        for (int k = 0; k < 40; k++)
            if (!(fabs(q[i][k] - q[0][k]) < 100 * runs[i].tolerance))
                fail_msg("%s %g: q %d differs by %g", runs[i].integrator, runs[i].tolerance, k,
                         fabs(q[i][k] - q[0][k]));
    }
}

static void refused(const char *text, const char *object, const char *message) {
    double q[40];
    lw_error error = {0};
    assert_int_not_equal(run(text, "bdf", 1e-6, q, &error), LW_OK);
    if (!strstr(error.object, object) || !strstr(error.message, message) || !error.remedy[0])
        fail_msg("\"%s\": %s; %s", error.object, error.message, error.remedy);
}

#define SLIDER(force)                                                                                        \
    "linkwork: 1\nname: slider\nbodies:\n  b: {mass: 0, inertia: [0, 0, 0]}\njoints:\n"                      \
    "  rail: {type: prismatic, between: [ground, b], axis: [0, 0, 1]}\nforces:\n"                            \
    "  pull: {type: drive, joint: rail, torque: \"" force "\"}\n"

/* A knot without mass between a stop, which lets go by speed, and a bob on a spring. */
#define STOP(q)                                                                                              \
    "linkwork: 1\nbodies:\n  knot: {kind: point, mass: 0}\n  bob: {kind: point, mass: 1}\njoints:\n"         \
    "  first: {type: prismatic, between: [ground, knot], axis: [1, 0, 0], " q "}\n"                          \
    "  second: {type: prismatic, between: [knot, bob], axis: [1, 0, 0], q: -0.2}\n"                          \
    "forces:\n  stop: {type: torsion, joint: first, law: \"max(0, 200*x + 3*v)\"}\n"                         \
    "  pull: {type: torsion, joint: second, stiffness: 100}\n"

/* The spring pulls the knot off the stop, which pushes only: no speed balances its forces. */
static void a_law_that_lets_go_by_speed_is_named(void **state) {
    (void)state;
    refused(STOP("q: 0.1"), "knot", "force \"stop\" resists its translation along x (joint \"first\")");
    refused(STOP("q: 0.1"), "knot", "which leave 40 N at the given one");
}

/* Springs alone hold the knot, 0.1 m from where they balance: 300 N/m leave 30 N. */
static void accelerations_out_of_balance_are_refused(void **state) {
    (void)state;
    static const char text[] =
        "linkwork: 1\nbodies:\n  knot: {kind: point, mass: 0}\n  bob: {kind: point, mass: 1}\njoints:\n"
        "  first: {type: prismatic, between: [ground, knot], axis: [1, 0, 0], q: 0.1}\n"
        "  second: {type: prismatic, between: [knot, bob], axis: [1, 0, 0], q: -0.1}\n"
        "forces:\n  push: {type: torsion, joint: first, stiffness: 200}\n"
        "  pull: {type: torsion, joint: second, stiffness: 100}\n";
    lw_model *model = compile_or_fail(read_text_spec(text));
    double q[2] = {0.1, -0.1}, v[2] = {0}, vdot[2];
    lw_error error = {0};
    assert_int_equal(lw_accelerations(model, "massless", 0, q, v, vdot, NULL, NULL, &error),
                     LW_ERROR_SINGULAR);
    assert_non_null(strstr(error.object, "knot"));
    assert_non_null(
        strstr(error.message, "30 N of force are left that nothing balances, about 0.1 m from balance"));
    assert_non_null(strstr(error.remedy, "begin where its forces balance"));
    q[0] = -0.06, q[1] = -0.12; /* in balance: 12 N */
    assert_int_equal(lw_accelerations(model, "massless", 0, q, v, vdot, NULL, NULL, &error), LW_OK);
    assert_true(fabs(vdot[0] + vdot[1] - 12) < 1e-9); /* of the bob */
    lw_model_destroy(model);
}

static void sentences_name_the_motion(void **state) {
    (void)state;
    refused(SLIDER("sqrt(0.005-t) - 10*v - v^3"), "b", "not finite");
    refused(SLIDER("1000*t") "  rub: {type: friction, joint: rail, coulomb: 1, smoothing: 1e-3}\n", "b",
            "nothing resists its translation along z");
    refused(coplanar, "j0", "singular position");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_in_a_loop_balances),
        cmocka_unit_test(sentences_name_the_motion),
        cmocka_unit_test(a_law_that_lets_go_by_speed_is_named),
        cmocka_unit_test(accelerations_out_of_balance_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_massless_prescribed.c - motions without mass beside prescribed ones.
 *
 * A cart without mass carries a rail that turns as prescribed, on it a mass slides. Cart and mass can move against each other without
 * moving mass only while both rails are parallel: a singular position, whether a run starts there or not.
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
#include <stdio.h>
#include <string.h>

static lw_status run(const char *motion, const char *method, double q[3], lw_error *error) {
    char text[1200];
    snprintf(text, sizeof text,
             "linkwork: 1\nname: rails\nbodies:\n  cart: {mass: 0, inertia: [0, 0, 0]}\n"
             "  rail: {mass: 0, inertia: [0, 0, 0]}\n  load: {mass: 1, inertia: [1, 1, 1]}\njoints:\n"
             "  first: {type: prismatic, between: [ground, cart], axis: [1, 0, 0], v: 1}\n"
             "  turn: {type: revolute, between: [cart, rail], axis: [0, 1, 0], point: [0, 0, 0], motion: "
             "[\"%s\"]}\n"
             "  second: {type: prismatic, between: [rail, load], axis: [1, 0, 0]}\nforces:\n"
             "  a: {type: torsion, joint: first, stiffness: 10, damping: 1}\n"
             "  b: {type: torsion, joint: second, stiffness: 10, damping: 1}\n",
             motion);
    lw_model *model = compile_or_fail(read_text_spec(text));
    lw_run_options options;
    double v[3];
    lw_run_defaults(model, &options);
    options.method = method, options.integrator = "erk", options.tolerance = 1e-10;
    options.end = 0.05, options.output = 0.05;
    lw_status status = lw_simulate(model, &options, q, v, NULL, error);
    lw_model_destroy(model);
    return status;
}

static void parallel_at_the_start_is_told(void **state) {
    (void)state;
    static const char *const motions[] = {"t", "sin(t)", "t^2"};
    for (int k = 0; k < 3; k++) {
        double q[3];
        lw_error error = {0};
        lw_status status = run(motions[k], "massless", q, &error);
        if (status == LW_OK || !strstr(error.message, "singular position"))
            fail_msg("%s: %s", motions[k], status == LW_OK ? "runs" : error.message);
    }
}

static void elsewhere_every_motion_has_mass(void **state) {
    (void)state;
    double q[3], reference[3];
    lw_error error = {0};
    assert_int_equal(run("0.5 + t", "massless", q, &error), LW_OK);
    assert_int_equal(run("0.5 + t", "tree", reference, &error), LW_OK);
    for (int k = 0; k < 3; k++) assert_true(fabs(q[k] - reference[k]) < 1e-12); /* the same numbers */
}

/* A function that is undefined later does not keep from deciding. */
static void parallel_for_good_is_first_order(void **state) {
    (void)state;
    static const char *const motions[] = {"0", "0*sqrt(0.1-t)"};
    for (int k = 0; k < 2; k++) {
        double q[3];
        lw_error error = {0};
        if (run(motions[k], "massless", q, &error) != LW_OK) fail_msg("%s: %s", motions[k], error.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parallel_at_the_start_is_told),
        cmocka_unit_test(elsewhere_every_motion_has_mass),
        cmocka_unit_test(parallel_for_good_is_first_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

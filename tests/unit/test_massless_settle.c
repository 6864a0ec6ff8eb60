/* test_massless_settle.c - where bodies on springs alone come to rest at the start of a run: at the next stable balance downhill.
 *
 *   toggles   points between two pressed springs, a balance at dead centre that is unstable and one at each side; known in closed form
 *   strut     a rod pressed from above on a coil that is too weak to hold it upright: k q = F sin q has three solutions, the one
 *             in the middle is unstable
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

static const double side = 0.66332495807108; /* sqrt(1.2^2 - 1): the springs have their length */

static lw_model *toggles(const double q0[3]) {
    char text[2400];
    int at = snprintf(text, sizeof text, "linkwork: 1\nname: toggles\ngravity: [0, 0, 0]\nbodies:\n");
    for (int k = 0; k < 3; k++)
        at += snprintf(text + at, sizeof text - (size_t)at, "  p%d: {kind: point, mass: 0}\n", k);
    at += snprintf(text + at, sizeof text - (size_t)at, "  m: {kind: point, mass: 1}\njoints:\n");
    for (int k = 0; k < 3; k++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "  j%d: {type: prismatic, between: [ground, p%d], axis: [0, 1, 0], q: %.17g}\n", k, k,
                       q0[k]);
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "  jm: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}\nforces:\n");
    for (int k = 0; k < 3; k++)
        for (int s = -1; s <= 1; s += 2)
            at += snprintf(
                text + at, sizeof text - (size_t)at,
                "  s%d%d: {type: spring, between: [ground, p%d], first: [%d, 0, 0], second: [0, 0, 0], "
                "stiffness: %d, length: 1.2}\n",
                k, s > 0, k, s, k == 1 ? 100000 : 100);
    return compile_or_fail(read_text_spec(text));
}

static lw_status rest(const lw_model *model, const char *integrator, double *q, lw_error *error) {
    lw_run_options options;
    lw_run_summary summary;
    double v[8];
    lw_run_defaults(model, &options);
    options.method = "massless", options.integrator = integrator, options.end = 0.01, options.output = 0.01;
    return lw_simulate(model, &options, q, v, &summary, error);
}

static void toggles_fall_to_their_own_side(void **state) {
    (void)state;
    static const double starts[][3] = {{0, 0, 0},         {0.05, -0.05, 1e-3}, {2, -2, 0.9},
                                       {1e-9, 0.3, -0.3}, {0.66, 0, -5},       {-0.01, 0.01, 0}};
    static const char *const integrators[] = {"erk", "bdf", "ida"};
    for (size_t n = 0; n < sizeof starts / sizeof *starts; n++)
        for (int i = 0; i < 3; i++) {
            lw_model *model = toggles(starts[n]);
            double q[8];
            lw_error error = {0};
            if (rest(model, integrators[i], q, &error) != LW_OK) fail_msg("start %zu: %s", n, error.message);
            for (int k = 0; k < 3; k++) {
                double there = starts[n][k] != 0 ? copysign(side, starts[n][k]) : copysign(side, q[k]);
                /* settled to rounding of forces, 1e-16 of them over the stiffness across, which is a third of that of a spring */
                if (!(fabs(q[k] - there) < 1e-9)) fail_msg("start %zu, point %d: %.12g", n, k, q[k]);
            }
            lw_model_destroy(model);
        }
}

static void a_strut_falls_over(void **state) {
    (void)state;
    for (int n = -3; n <= 3; n++) {
        char text[900];
        snprintf(text, sizeof text,
                 "linkwork: 1\nname: strut\nbodies:\n  rod: {mass: 0, inertia: [0, 0, 0]}\n"
                 "  load: {kind: point, mass: 1}\njoints:\n"
                 "  pin: {type: revolute, between: [ground, rod], point: [0, 0, 0], axis: [0, 1, 0], q: %g}\n"
                 "  slide: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}\nforces:\n"
                 "  coil: {type: torsion, joint: pin, stiffness: 5}\n"
                 "  push: {type: applied, body: rod, point: [0, 0, 1], force: [0, 0, -10]}\n",
                 0.01 * n);
        lw_model *model = compile_or_fail(read_text_spec(text));
        double q[8];
        lw_error error = {0};
        if (rest(model, "bdf", q, &error) != LW_OK) fail_msg("start %d: %s", n, error.message);
        assert_true(fabs(5 * q[0] - 10 * sin(q[0])) < 1e-9 && 5 - 10 * cos(q[0]) > 0);
        if (n) assert_true(q[0] * n > 0);
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(toggles_fall_to_their_own_side),
        cmocka_unit_test(a_strut_falls_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

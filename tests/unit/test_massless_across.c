/* test_massless_across.c - motions without mass whose only damper stands across them at one position, away from balance.
 *
 *   slider   a point on a rail, pulled by a coil towards q = rest, against a damper from a point beside the rail, which stands across
 *            at q = foot:
 *
 *              c x^2 / (x^2 + b^2) dq/dt = k (rest - q),     x = q - foot
 *
 *            Where x = 0 the speed is infinite, but for an instant only (x^3 ~ t): the slider passes, and a little mass instead of none
 *            leads to the same motion. t(q) is an integral, taken here by Simpson's rule.
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

static const double c = 1, k = 10, b = 0.3, foot = 0.1, rest = 0.2;
static const char *const integrators[] = {"erk", "bdf", "ida"};

static lw_model *slider(double q0, double mass) {
    char text[1200];
    snprintf(text, sizeof text,
             "linkwork: 1\nname: slider\ngravity: [0, 0, 0]\nbodies:\n  p: {kind: point, mass: %g}\n"
             "  m: {kind: point, mass: 1}\njoints:\n"
             "  rail: {type: prismatic, between: [ground, p], axis: [1, 0, 0], q: %.17g}\n"
             "  other: {type: prismatic, between: [ground, m], axis: [0, 0, 1], v: 1}\nforces:\n"
             "  coil: {type: torsion, joint: rail, stiffness: %g, free: %g}\n"
             "  damper: {type: spring, between: [ground, p], first: [%g, %g, 0], second: [0, 0, 0], "
             "stiffness: 0, damping: %g}\n",
             mass, q0, k, rest, foot, b, c);
    return compile_or_fail(read_text_spec(text));
}

static double slowness(double q) {
    double x = q - foot;
    return c * x * x / ((x * x + b * b) * k * (rest - q));
}

/* t(q) from q0, by Simpson's rule. */
static double time_to(double q0, double q) {
    enum { PARTS = 2000 };
    double h = (q - q0) / PARTS, sum = slowness(q0) + slowness(q);
    for (int n = 1; n < PARTS; n++) sum += (n % 2 ? 4 : 2) * slowness(q0 + n * h);
    return sum * h / 3;
}
static double place_at(double q0, double t) {
    double low = q0, high = rest - 1e-4;
    for (int n = 0; n < 60; n++) {
        double q = (low + high) / 2;
        if (time_to(q0, q) < t)
            low = q;
        else
            high = q;
    }
    return low;
}

static lw_run_summary run(const lw_model *model, const char *method, const char *integrator, double end,
                          double *q, double *v) {
    lw_run_options options;
    lw_run_summary summary;
    lw_error error = {0};
    lw_run_defaults(model, &options);
    options.method = method, options.integrator = integrator, options.tolerance = 1e-9;
    options.end = end, options.output = end;
    if (lw_simulate(model, &options, q, v, &summary, &error) != LW_OK)
        fail_msg("%s, %s: %s", method, integrator, error.message);
    return summary;
}

/* Through the position, and from it. */
static void a_slider_passes(void **state) {
    (void)state;
    static const double starts[] = {0, 0.05, 0.1, 0.11};
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < 3; i++)
            for (double end = 0.003; end < 0.02; end *= 2) {
                lw_model *model = slider(starts[s], 0);
                double q[2], v[2], there = place_at(starts[s], end);
                lw_run_summary summary = run(model, "massless", integrators[i], end, q, v);
                /* 100 tolerances; a pivot counts as lost up to 1e-5 b, a way that takes 1e-16 s ... */
                double wrong = fabs(q[0] - there);
                if (!(wrong < 1e-7))
                    fail_msg("start %g, %s, t = %g: %.9g instead of %.9g", starts[s], integrators[i], end,
                             q[0], there);
                /* ... but on it a force of 1 N does work that nobody sees */
                assert_true(fabs(summary.energy_max_drift) < 2e-5);
                lw_model_destroy(model);
            }
}

/* The same with a little mass: the limit. */
static void a_little_mass_passes_alike(void **state) {
    (void)state;
    double q[2], v[2], there = place_at(0, 0.01), before = 1;
    for (double mass = 1e-4; mass > 5e-9; mass /= 100) {
        lw_model *model = slider(0, mass);
        run(model, "tree", "bdf", 0.01, q, v);
        double wrong = fabs(q[0] - there);
        /* x of the place where mass counts is its power 1/5, the time that takes 3/5: a factor 16 for 100 */
        assert_true(wrong < before / 10);
        before = wrong;
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slider_passes),
        cmocka_unit_test(a_little_mass_passes_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

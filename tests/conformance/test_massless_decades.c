/* test_massless_decades.c - errors of runs with method massless follow the tolerance where all motions without mass are damped, but by
 * decades more or less as the mechanism turns.
 *
 * A body without mass slides along an arm that turns, held by a weak damper there and a strong one that stays in the world: what resists
 * its motion is little + strong cos^2 of the angle, and falls by four or five decades and rises again in a twentieth of a turn. A matrix of Newton's
 * method that was made before must not be taken for a good one, though no direction is ever left to springs (test_massless_tolerance.c).
 * ida and bdf from 1e-4 to 1e-10 against bdf at 1e-12, which erk at 1e-11 confirms.
 */
#include "problems.h"
#include "random_massless.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

enum { MAX = 64 };

static lw_status run(const lw_model *model, const char *integrator, double tolerance, double *q,
                     lw_error *error) {
    lw_run_options options;
    lw_run_summary summary;
    double v[MAX];
    lw_run_defaults(model, &options);
    options.method = "massless", options.integrator = integrator, options.tolerance = tolerance;
    options.end = options.output = 1.5;
    return lw_simulate(model, &options, q, v, &summary, error);
}

/* law: of the strong damper, of x and v. */
static lw_model *turning_arm(double strong, double little, double speed, const char *law) {
    char text[1600];
    snprintf(
        text, sizeof text,
        "linkwork: 1\n"
        "name: turning arm\n"
        "bodies:\n"
        "  arm: {mass: 2, com: [0.5, 0, 0], inertia: [0.01, 0.2, 0.2]}\n"
        "  slider: {mass: 0, inertia: [0, 0, 0], position: [0.4, 0, 0]}\n"
        "  load: {kind: point, mass: 1, position: [0.8, 0, 0]}\n"
        "joints:\n"
        "  hub: {type: revolute, between: [ground, arm], point: [0, 0, 0], axis: [0, 0, 1], v: %.17g}\n"
        "  slide: {type: prismatic, between: [arm, slider], axis: [1, 0, 0]}\n"
        "  guide: {type: prismatic, between: [arm, load], axis: [1, 0, 0]}\n"
        "forces:\n"
        "  weak: {type: torsion, joint: slide, stiffness: 40, damping: %.17g}\n"
        "  strong: {type: spring, between: [ground, slider], points: [[100, 0, 0], [0.4, 0, 0]], law: "
        "\"%.17g*(%s)\"}\n"
        "  tie: {type: spring, between: [slider, load], points: [[0.4, 0, 0], [0.8, 0, 0]], stiffness: 60, "
        "damping: "
        "%.17g}\n"
        "  back: {type: torsion, joint: guide, stiffness: 90, damping: 1}\n",
        speed, little, strong, law, little);
    return compile_or_fail(read_text_spec(text));
}

static void errors_follow_the_tolerance(void **state) {
    (void)state;
    static const char *const integrators[] = {"ida", "bdf"};
    static const char *const laws[] = {"v", "v", "v + 0.3*v*abs(v)", "0.1*tanh(10*v) + 0.01*v"};
    static const double strong[] = {1000, 50, 200, 500}, little[] = {0.01, 0.002, 0.01, 0.02};
    static const double speed[] = {4, -7, 5, 3};
    double worst = 0;
    for (int m = 0; m < 4; m++) {
        lw_model *model = turning_arm(strong[m], little[m], speed[m], laws[m]);
        lw_error error = {0};
        double exact[MAX], other[MAX], q[MAX];
        int nq = lw_model_q_size(model);
        if (run(model, "bdf", 1e-12, exact, &error) != LW_OK ||
            run(model, "erk", 1e-11, other, &error) != LW_OK)
            fail_msg("arm %d: %s", m, error.message);
        for (int k = 0; k < nq; k++)
            if (!(fabs(other[k] - exact[k]) < 1e-9))
                fail_msg("arm %d: bdf and erk differ by %g", m, other[k] - exact[k]);
        for (int i = 0; i < 2; i++)
            for (int d = 4; d <= 10; d++) {
                double most = 0, tolerance = pow(10, -d);
                if (run(model, integrators[i], tolerance, q, &error) != LW_OK)
                    fail_msg("arm %d, %s at 1e-%d: %s", m, integrators[i], d, error.message);
                for (int k = 0; k < nq; k++) most = fmax(most, fabs(q[k] - exact[k]) / (1 + fabs(exact[k])));
                /* what arms that turn across make of the errors of steps: up to 460 when every step tested its matrix in two
                   rounds. A matrix that is taken for good though stiffness has fallen by decades makes 1e5. */
                double ratio = (most - 1e-10) / tolerance;
                if (!(ratio < 1000))
                    fail_msg("arm %d, %s at 1e-%d: %g tolerances", m, integrators[i], d, ratio);
                worst = fmax(worst, ratio);
            }
        lw_model_destroy(model);
    }
    print_message("at most %g tolerances\n", worst);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_follow_the_tolerance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

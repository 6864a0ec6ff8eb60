/* test_drift.c - how far a loop opens in 100 s of the four-bar linkage, with a fixed step and each way against drift
 * (Mufti 1983, remark 4; Anderson 2003, figs 5 and 6).
 *
 *   none        accelerations satisfy the constraints, so phi'' = e(t), the error of the integrator per unit of time. It has
 *               the period of the linkage and a mean e: velocities are violated by e t, positions by e t^2 / 2
 *   baumgarte   phi'' + 2 alpha phi' + beta^2 phi = e(t): bounded, once the start is forgotten
 *   project     positions and velocities are put right after each step: rounding
 *
 * In absolute coordinates (lagrange), where every joint drifts, and in joint coordinates (relative, cut), where only the
 * loop does.
 */
#include "random_model.h"
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linkwork/linkwork.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WINDOWS = 10 };
static const double whole = 100;

/* The largest violation in each tenth of the run: several turns of the crank (one takes about a second), so that what
 * goes up and down with its angle is gone. */
typedef struct peaks {
    double end;
    double position[WINDOWS], velocity[WINDOWS];
} peaks;

static bool watch(const lw_sample *sample, void *context) {
    peaks *p = context;
    int window = (int)ceil(WINDOWS * sample->t / p->end - 1e-9) - 1;
    if (window < 0) window = 0;
    assert_true(isfinite(sample->position_violation) && isfinite(sample->velocity_violation));
    p->position[window] = fmax(p->position[window], sample->position_violation);
    p->velocity[window] = fmax(p->velocity[window], sample->velocity_violation);
    return true;
}

static void run(const char *method, const char *drift, double step, double end, peaks *p) {
    lw_model *model = read_problem("four_bar");
    lw_run_options options;
    lw_run_summary summary;
    lw_error error;
    memset(p, 0, sizeof *p);
    p->end = end;
    lw_run_defaults(model, &options);
    options.method = method;
    options.drift = drift;
    options.integrator = "rk4";
    options.step = step;
    options.end = end;
    options.output = 0.05;
    options.observe = watch;
    options.context = p;
    if (lw_simulate(model, &options, NULL, NULL, &summary, &error) != LW_OK)
        fail_msg("%s, %s: %s", method, drift, error.message);
    lw_model_destroy(model);
}

/* Slope of log(peak) over log(end of its window), by least squares. */
static double exponent(const double *peak) {
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int k = 0; k < WINDOWS; k++) {
        double u = log(k + 1), w = log(peak[k]);
        x += u / WINDOWS, y += w / WINDOWS, xx += u * u / WINDOWS, xy += u * w / WINDOWS;
    }
    return (xy - x * y) / (xx - x * x);
}

static double largest(const double *peak, int from, int to) {
    double most = 0;
    for (int k = from; k < to; k++) most = fmax(most, peak[k]);
    return most;
}

static const char *const methods[] = {"lagrange", "relative", "cut"};
enum { METHODS = sizeof methods / sizeof *methods };
static const double step = 0.005; /* about 200 per turn of the crank */

static void without_control_it_grows(void **state) {
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        peaks p;
        run(methods[m], "none", step, whole, &p);
        double position = exponent(p.position), velocity = exponent(p.velocity);
        print_message("%-9s none       position %.2g ~ t^%.3f, velocity %.2g ~ t^%.3f\n", methods[m],
                      p.position[WINDOWS - 1], position, p.velocity[WINDOWS - 1], velocity);
        /* a tenth of the exponent: the periodic part of e counts most in the first window */
        assert_true(position > 1.8 && position < 2.2);
        assert_true(velocity > 0.9 && velocity < 1.1);
        /* phi = phi' t / 2 at the end, but for the direction in which the joint opens */
        double ratio = p.position[WINDOWS - 1] / (p.velocity[WINDOWS - 1] * whole / 2);
        assert_true(ratio > 0.7 && ratio < 1.4);
    }
}

/* The error per unit of time of rk4 is of fourth order. */
static void it_is_the_error_of_the_integrator(void **state) {
    (void)state;
    peaks coarse, fine;
    const double part = 20; /* both loops are open by little there; the coarse one falls apart at 88 s */
    run("cut", "none", 2 * step, part, &coarse);
    run("cut", "none", step, part, &fine);
    double order = log2(coarse.position[WINDOWS - 1] / fine.position[WINDOWS - 1]);
    print_message("cut       none       order %.3f\n", order);
    assert_true(order > 3.8 && order < 4.2);
}

static void with_baumgarte_it_stays(void **state) {
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        peaks p, open;
        run(methods[m], "baumgarte", step, whole, &p);
        print_message("%-9s baumgarte  position %.2g, velocity %.2g\n", methods[m],
                      largest(p.position, 0, WINDOWS), largest(p.velocity, 0, WINDOWS));
        /* no window has more than the first, but for where in the period the samples fall */
        assert_true(largest(p.position, 1, WINDOWS) < 1.3 * p.position[0]);
        assert_true(largest(p.velocity, 1, WINDOWS) < 1.3 * p.velocity[0]);
        /* e / beta^2 with alpha = beta = 10 / s would be the mean; its periodic part is some ten times larger */
        run(methods[m], "none", step, whole / 10, &open);
        double e = open.velocity[WINDOWS - 1] / open.end;
        assert_true(largest(p.position, 0, WINDOWS) < 20 * e / 100);
    }
}

static void with_projection_it_is_rounding(void **state) {
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        peaks p;
        run(methods[m], "project", step, whole, &p);
        double position = largest(p.position, 0, WINDOWS), velocity = largest(p.velocity, 0, WINDOWS);
        print_message("%-9s project    position %.2g, velocity %.2g\n", methods[m], position, velocity);
        /* bars of 3 m that move at 20 m/s: a few thousand times their rounding, as Gauss-Newton ends at 1e-12 */
        assert_true(position < 1e-12);
        assert_true(velocity < 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_control_it_grows),
        cmocka_unit_test(it_is_the_error_of_the_integrator),
        cmocka_unit_test(with_baumgarte_it_stays),
        cmocka_unit_test(with_projection_it_is_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

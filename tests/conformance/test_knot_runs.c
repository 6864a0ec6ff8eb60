/* test_knot_runs.c - runs through knots: forces and motions that switch at times known in advance, by all
 * integrators.
 *
 * Every result has a closed form. Pulses of any width and with any comparison bring a body of 1 kg to 1 m/s;
 * a ramp of a prescribed motion starts an oscillator. The books are closed, times that are asked for do not
 * matter to the last bit, and neither do snapshots on the way.
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
#include <stdlib.h>
#include <string.h>

typedef struct way {
    const char *method, *integrator;
    double step, tolerance;
} way;

static const way ways[] = {
    {"tree", "erk", 0, 1e-9},
    {"tree", "erk", 0, 1e-3}, /* order 5 */
    {"tree", "adams", 0, 1e-10},
    {"tree", "bdf", 0, 1e-10},
    {"tree", "ida", 0, 1e-10},
    {"tree", "rk4", 0.03, 0},
    {"lagrange", "rk4", 0.01, 0},
    {"director", "energy-momentum", 0.01, 0},
    {"director", "energy-momentum", 0, 1e-8},
    {"director", "energy-momentum-4", 0.03, 0},
};
enum { WAYS = sizeof ways / sizeof *ways };

static lw_run_options options_of(const lw_model *model, const way *w) {
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.method = w->method, options.integrator = w->integrator;
    options.step = w->step, options.tolerance = w->tolerance;
    return options;
}

/* A body of 1 kg on a prismatic joint, with this force. */
static lw_model *pushed(const char *force, const char *more) {
    char text[1200];
    snprintf(text, sizeof text,
             "linkwork: 1\nname: pushed\ngravity: [0, 0, 0]\nbodies:\n  b: {mass: 1, inertia: [1, 1, 1]}\n"
             "joints:\n  x: {type: prismatic, axis: [1, 0, 0], between: [ground, b]}\nforces:\n"
             "  f: {type: drive, joint: x, force: \"%s\"}\n%srun: {end: 10}\n",
             force, more);
    return compile_or_fail(read_text_spec(text));
}

static void must_reach(const lw_model *model, const way *w, const lw_run_options *options, double q, double v,
                       const char *what) {
    double at[1], speed[1];
    lw_run_summary summary;
    lw_error error = {0};
    if (lw_simulate(model, options, at, speed, &summary, &error) != LW_OK)
        fail_msg("%s by %s %s: %s", what, w->method, w->integrator, error.message);
    if (!(fabs(at[0] - q) < 1e-7) || !(fabs(speed[0] - v) < 1e-7))
        fail_msg("%s by %s %s: q = %.12g, v = %.12g instead of %.12g, %.12g", what, w->method, w->integrator,
                 at[0], speed[0], q, v);
    if (!(fabs(summary.ledger.unaccounted) < 1e-7) || !summary.verdict.ok)
        fail_msg("%s by %s %s: %g J unaccounted; %s", what, w->method, w->integrator,
                 summary.ledger.unaccounted, summary.verdict.ok ? "" : summary.verdict.reasons[0]);
    if (w->step == 0 && summary.steps > 2000)
        fail_msg("%s by %s %s: %ld steps", what, w->method, w->integrator, summary.steps);
}

/* Pulses of unit momentum, of all widths, with all pairs of comparisons. */
static void pulses(void **state) {
    (void)state;
    static const double widths[] = {1e-6, 1e-3, 0.1};
    static const char *const comparisons[][2] = {{">", "<"}, {">=", "<="}, {">", "<="}, {">=", "<"}};
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 4; c++) {
            char text[160];
            snprintf(text, sizeof text, "if(t %s 5 and t %s 5 + %g, 1/%g, 0)", comparisons[c][0],
                     comparisons[c][1], widths[i], widths[i]);
            lw_model *model = pushed(text, "");
            for (int w = 0; w < WAYS; w++) {
                lw_run_options options = options_of(model, &ways[w]);
                const double width = 5 + widths[i] - 5; /* as it can be told at t = 5 */
                must_reach(model, &ways[w], &options, width / widths[i] * (5 - width / 2), width / widths[i],
                           text);
            }
            lw_model_destroy(model);
        }
}

/* Forms of the same switch; several elements with the same knot; knots at both ends of the run. */
static void forms(void **state) {
    (void)state;
    static const struct {
        const char *force, *more;
        double start, q, v;
        bool curved; /* Not for fixed steps and coarse tolerances, which have larger errors in it. */
    } cases[] = {
        {"if(2*t - 1 > 9, 1, 0)*if(t/2 < 3, 1, 0)", "", 0, 4.5, 1, false},
        {"if(6 > t, 1, 0)", "", 5, 4.5, 1, false}, /* from t = 5 on */
        {"if(t > 5 and t < 5.001, 500, 0)",
         "  g: {type: applied, body: b, point: [0, 0, 0], force: [\"if(t >= 5 and t <= 5.001, 500, 0)\", 0, "
         "0]}\n",
         0, 4.9995, 1, false},
        {"if(t > 0, 0.1, 5)", "", 0, 5, 1, false},
        {"if(t < 10, 0.1, 50)", "", 0, 5, 1, false},
        {"if(t <= 0, 1e6, 0.1*(t < 10))", "", 0, 5, 1, false},
        {"if(t > 3 and t < 4, 1, 0)", "", 4, 0, 0, false}, /* begins beyond, at the knot itself */
        {"if(t > 3 and t < 4, 1, 0)", "", 6.5, 0, 0, false},
        {"sign(t - 5)", "", 0, -25, 0, false},
        {"ramp(t - 9)*2", "", 0, 1. / 3, 1, true},
        {"max(0, min(t - 8, 1))", "", 0, 1. / 6 + 0.5 + 0.5, 1.5, true},
        {"step(t, 5, 0, 5.002, 1e3)*(t < 5.002)", "", 0, 4.998 + 6e-4, 1, true},
        {"1e3*(mod(t - 0.5, 1) < 1e-4)", "", 0, 5 - 10 * 5e-6, 1, false}, /* 10 pulses, at 0.5, 1.5, ... */
        {"1 - 2*mod(floor(t), 2)", "", 0, 5, 0, false},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        lw_model *model = pushed(cases[c].force, cases[c].more);
        for (int w = 0; w < WAYS; w++) {
            lw_run_options options = options_of(model, &ways[w]);
            options.start = cases[c].start;
            if (cases[c].curved && (ways[w].step > 0 || ways[w].tolerance > 2e-9)) continue;
            must_reach(model, &ways[w], &options, cases[c].q, cases[c].v, cases[c].force);
        }
        lw_model_destroy(model);
    }
}

/* A prescribed motion of 1 m within w, with a body of 1 kg behind it on a spring of 1 N/m. Relative to the
 * motion it is at -cos(t - 1 - w/2) K with K = 1 - w^2/40 + ..., the mean of cos over the ramp's speed. On the
 * way both have the speed 1.5/w, to which a tolerance is relative. */
static void ramp_of_a_motion(void **state) {
    (void)state;
    static const char *const integrators[] = {"erk", "adams", "bdf", "ida", "rk4"};
    /* With less than 1e-8 at the first the ledger would be lost in the rounding of time: the power rises by
     * 80 W from one double to the next. */
    static const double widths[] = {1e-4, 1e-2}, tolerances[] = {1e-8, 1e-10}, enough[] = {2e-6, 2e-8};
    static const double steps[] = {1e-2, 1e-3};
    for (int k = 0; k < 2; k++) {
        const double w = widths[k], expected = -cos(3 - w / 2) * (1 - w * w / 40), fastest = 1.5 / w;
        char text[800];
        snprintf(text, sizeof text,
                 "linkwork: 1\nname: ramp\ngravity: [0, 0, 0]\nbodies:\n  b: {mass: 1, inertia: [1, 1, 1]}\n"
                 "  c: {mass: 1, inertia: [1, 1, 1]}\njoints:\n"
                 "  x: {type: prismatic, axis: [1, 0, 0], between: [ground, b], "
                 "motion: \"step(t, 1, 0, 1 + %g, 1)\"}\n"
                 "  y: {type: prismatic, axis: [1, 0, 0], between: [b, c]}\n"
                 "forces:\n  s: {type: torsion, joint: y, stiffness: 1}\nrun: {end: 4}\n",
                 w);
        lw_model *model = compile_or_fail(read_text_spec(text));
        for (int i = 0; i < 5; i++) {
            lw_run_options options;
            lw_run_summary summary;
            lw_error error = {0};
            lw_run_defaults(model, &options);
            options.integrator = integrators[i];
            options.tolerance = i < 4 ? tolerances[k] : 0;
            options.step = i < 4 ? 0 : steps[k];
            double q[2], v[2];
            if (lw_simulate(model, &options, q, v, &summary, &error) != LW_OK)
                fail_msg("%s: %s", integrators[i], error.message);
            if (fabs(q[0] - 1) > 1e-12 || !(fabs(q[1] - expected) < enough[k]))
                fail_msg("%s, %g s: %.12g instead of %.12g", integrators[i], w, q[1], expected);
            /* Of fastest^2 J that come and go. */
            if (!(fabs(summary.ledger.unaccounted) < 1e-7 * fastest * fastest))
                fail_msg("%s, %g s: %g J unaccounted", integrators[i], w, summary.ledger.unaccounted);
        }
        lw_model_destroy(model);
    }
}

/* --- the caller's side ----------------------------------------------------------------------------- */

static lw_simulation *create(const lw_model *model, const lw_run_options *options) {
    lw_simulation *simulation;
    lw_error error = {0};
    if (lw_simulation_create(model, options, NULL, &simulation, &error) != LW_OK)
        fail_msg("%s %s: %s", options->method, options->integrator, error.message);
    return simulation;
}

static void state_of(const lw_simulation *s, double out[3]) {
    out[0] = lw_simulation_time(s);
    assert_int_equal(lw_simulation_state(s, out + 1, out + 2), LW_OK);
}

static void must_be_same(const lw_simulation *s, const double expected[3], const char *what) {
    double now[3];
    state_of(s, now);
    /* A state of energy-momentum between the ends of steps is that of another step, from which its Newton
     * iterations go on, so that the last digits depend on it. */
    const bool conserving = strncmp(lw_simulation_integrator(s), "energy", 6) == 0;
    if (conserving && fabs(now[1] - expected[1]) + fabs(now[2] - expected[2]) < 1e-11) return;
    if (memcmp(now, expected, sizeof now) != 0)
        fail_msg("%s, %s: %.17g %.17g instead of %.17g %.17g", what, lw_simulation_integrator(s), now[1],
                 now[2], expected[1], expected[2]);
}

static void advance(lw_simulation *s, double t) {
    lw_error error = {0};
    if (lw_simulation_advance(s, t, &error) != LW_OK) fail_msg("t = %g: %s", t, error.message);
    assert_true(lw_simulation_time(s) == t);
}

/* One advance, many (some of them to the knots, and next to them), and steps; snapshots before, at, between
 * and after knots. */
static void times_and_snapshots(void **state) {
    (void)state;
    lw_model *model = pushed("if(t > 5 and t < 5.001, 1000, -q) + 0.1*(mod(t, 3) < 1)", "");
    const double times[] = {0.5, 1, 2.99, 3, 4.9999999, 5, 5.0005, 5.001, nextafter(5.001, 6), 5.3, 6.7, 7};
    const int count = sizeof times / sizeof *times;
    for (int w = 0; w < WAYS; w++) {
        lw_run_options options = options_of(model, &ways[w]);
        lw_simulation *once = create(model, &options), *often = create(model, &options);
        double expected[3];
        advance(once, 8.25);
        state_of(once, expected);
        const size_t size = lw_simulation_snapshot_size(often);
        unsigned char *snapshots = malloc(size * (size_t)count);
        assert_non_null(snapshots);
        for (int k = 0; k < count; k++) {
            advance(often, times[k]);
            assert_int_equal(lw_simulation_save(often, snapshots + size * (size_t)k, size), LW_OK);
        }
        advance(often, 8.25);
        must_be_same(often, expected, "often");
        for (int k = 0; k < count; k++) {
            lw_error error = {0};
            char what[60];
            snprintf(what, sizeof what, "snapshot at %.9g", times[k]);
            if (lw_simulation_restore(once, snapshots + size * (size_t)k, size, &error) != LW_OK)
                fail_msg("%s: %s", what, error.message);
            advance(once, 8.25);
            must_be_same(once, expected, what);
        }
        assert_int_equal(lw_simulation_reset(often, NULL), LW_OK);
        bool stopped = false;
        while (lw_simulation_time(often) < 7.9) {
            assert_int_equal(lw_simulation_step(often, NULL), LW_OK);
            stopped |= lw_simulation_time(often) == 5.001;
        }
        assert_true(stopped);
        advance(often, 8.25);
        must_be_same(often, expected, "by steps");
        free(snapshots);
        lw_simulation_destroy(once);
        lw_simulation_destroy(often);
    }
    lw_model_destroy(model);
}

/* A state that is set before a knot, at it and beyond it. */
static void set_back(void **state) {
    (void)state;
    lw_model *model = pushed("if(t > 5 and t < 5.001, 1000, 0)", "");
    for (int w = 0; w < WAYS; w++) {
        lw_run_options options = options_of(model, &ways[w]);
        lw_simulation *s = create(model, &options);
        const double starts[] = {6, 4, 5, 5.001, 0}, speeds[] = {0, 1, 1, 0, 1}, zero = 0;
        for (int k = 0; k < 5; k++) {
            double now[3];
            assert_int_equal(lw_simulation_set_state(s, starts[k], &zero, &zero, NULL), LW_OK);
            advance(s, 10);
            state_of(s, now);
            if (!(fabs(now[2] - speeds[k]) < 1e-9))
                fail_msg("%s from %g: v = %.12g", ways[w].integrator, starts[k], now[2]);
        }
        lw_simulation_destroy(s);
    }
    lw_model_destroy(model);
}

/* A force on a body without mass, held by a spring of 100 N/m, jumps by 1 N while it pulls 1 kg by another
 * spring: its position jumps, and what a small mass would keep as vibration is booked. Closed form: the mass
 * sees a spring of 50 N/m with a displaced centre, F/(2 k) by half of the force. */
static void massless_jump(void **state) {
    (void)state;
    static const char *const text =
        "linkwork: 1\nname: jump\ngravity: [0, 0, 0]\nbodies:\n  A: {kind: point, mass: 0}\n"
        "  B: {kind: point, mass: 1}\njoints:\n  a: {type: prismatic, axis: [0, 0, 1], between: [ground, "
        "A]}\n"
        "  b: {type: prismatic, axis: [0, 0, 1], between: [A, B]}\nforces:\n"
        "  s1: {type: torsion, joint: a, stiffness: 100}\n  s2: {type: torsion, joint: b, stiffness: 100}\n"
        "  p: {type: applied, body: A, point: [0, 0, 0], force: [0, 0, \"if(t > 0.5 and t < 0.7, 1, "
        "0)\"]}\nrun: {end: 1}\n";
    static const char *const integrators[] = {"erk", "bdf", "adams", "ida"};
    lw_model *model = compile_or_fail(read_text_spec(text));
    /* With the place z of B: z'' = -50 z + F/2. */
    const double w = sqrt(50), z1 = 0.01 * (1 - cos(0.2 * w)), v1 = 0.01 * w * sin(0.2 * w);
    const double z = z1 * cos(0.3 * w) + v1 / w * sin(0.3 * w);
    for (int i = 0; i < 4; i++) {
        lw_run_options options;
        lw_run_summary summary;
        lw_error error = {0};
        lw_run_defaults(model, &options);
        options.integrator = integrators[i], options.tolerance = 1e-10;
        double q[2], v[2];
        if (lw_simulate(model, &options, q, v, &summary, &error) != LW_OK)
            fail_msg("%s: %s", integrators[i], error.message);
        if (!(fabs(q[0] + q[1] - z) < 1e-7) || !(fabs(q[0] - z / 2) < 1e-7) || !summary.verdict.ok ||
            !(fabs(summary.ledger.unaccounted) < 1e-7))
            fail_msg("%s: %.12g instead of %.12g, %g J unaccounted", integrators[i], q[0] + q[1], z,
                     summary.ledger.unaccounted);
    }
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pulses),        cmocka_unit_test(forms),
                                       cmocka_unit_test(set_back),      cmocka_unit_test(times_and_snapshots),
                                       cmocka_unit_test(massless_jump), cmocka_unit_test(ramp_of_a_motion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

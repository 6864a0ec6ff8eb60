/* test_switches.c - conditions in forces: held and located by every integrator; narrow ones, guards, endless
 * ones.
 */
#include "build.h"
#include "problems.h"
#include "expression/function.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = 5 };
static const char *const integrators[ALL] = {"erk", "adams", "bdf", "rk4", "rosenbrock"};

static int notes;
static void hear(double t, const char *kind, const char *text, void *context) {
    (void)t, (void)text, (void)context;
    notes += strcmp(kind, "switch") == 0;
}

typedef struct motion {
    double q, v;
    lw_run_summary summary;
} motion;

/* A mass of 1 kg on a line with this joint, force and run, by one integrator. */
static lw_status move(int k, const char *joint, const char *sections, double tolerance, motion *m) {
    char text[2000];
    snprintf(text, sizeof text,
             "linkwork: 1\nname: line\ngravity: [0, 0, 0]\nbodies:\n  m: {mass: 1, inertia: [1, 1, 1]}\n"
             "joints:\n  x: {type: prismatic, between: [ground, m], axis: [1, 0, 0]%s}\n%s",
             joint, sections);
    lw_report *report = lw_report_create();
    lw_spec *spec;
    lw_model *model = NULL;
    if (lw_read_model_text(text, strlen(text), "test", NULL, 0, report, &spec) != LW_OK ||
        lw_model_compile(spec, NULL, report, &model) != LW_OK) {
        show_report(report);
        fail_msg("a model of the test is refused");
    }
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.integrator = integrators[k];
    options.step = k >= 3 ? 1e-3 : 0;
    options.tolerance = k >= 3 ? 0 : tolerance;
    options.output = options.end; /* few samples: steps as long as they like */
    options.event = hear;
    notes = 0;
    lw_error error = {0};
    lw_status status = lw_simulate(model, &options, &m->q, &m->v, &m->summary, &error);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    return status;
}

static void must_be(int k, const char *what, double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s, %s: %.15g, not %.15g", integrators[k], what, value, expected);
}

/* A force in a strip that is narrower than any step: v^2 = 1 + 2 * 100 * 0.01. */
static void narrow_strip(void **state) {
    (void)state;
    static const char *const laws[] = {"if(q > 0.5 and q < 0.51, 100, 0)", "100*(q > 0.5)*(q <= 0.51)",
                                       "if(abs(q - 0.505) < 0.005, 100, 0)",
                                       "50*(sign(q - 0.5) - sign(q - 0.51))"};
    for (int k = 0; k < ALL; k++)
        for (int i = 0; i < 4; i++) {
            char sections[300];
            motion m;
            snprintf(sections, sizeof sections,
                     "forces:\n  f: {type: drive, joint: x, force: \"%s\"}\nrun: {end: 2}\n", laws[i]);
            assert_int_equal(move(k, ", v: 1", sections, 1e-8, &m), LW_OK);
            must_be(k, laws[i], m.v, sqrt(3), 1e-7);
            const double through = 0.02 / (1 + sqrt(3)), after = 2 - 0.5 - through;
            must_be(k, laws[i], m.q, 0.51 + sqrt(3) * after, 1e-6);
            assert_true(m.summary.energy_max_drift < 1e-6);
        }
}

/* The same as a signal, and in the rate of a user state that drives. */
static void in_signals_and_rates(void **state) {
    (void)state;
    for (int k = 0; k < ALL; k++) {
        motion m;
        assert_int_equal(move(k, ", v: 1",
                              "signals:\n  push: \"if(x.q > 0.5 and x.q < 0.51, 100, 0)\"\n"
                              "forces:\n  f: {type: drive, joint: x, force: push}\nrun: {end: 2}\n",
                              1e-8, &m),
                         LW_OK);
        must_be(k, "signal", m.v, sqrt(3), 1e-7);
        /* The state grows by 1 while x is in 0.5 .. 0.6 at unit speed, 0.1 s; the force 20 (n - 0.1) (x > 1)
         * would be felt if that were missed. */
        assert_int_equal(move(k, ", v: 1",
                              "states:\n  n: {rate: \"if(x.q > 0.5 and x.q < 0.6, 1, 0)\"}\n"
                              "forces:\n  f: {type: drive, joint: x, force: \"20*(n - 0.1)*(q > 1)\"}\n"
                              "run: {end: 2}\n",
                              1e-8, &m),
                         LW_OK);
        must_be(k, "rate", m.v, 1, 1e-6);
    }
}

/* A fast square wave: v is the integral of sign(sin(w t)), q that of v. */
static void square_wave(void **state) {
    (void)state;
    static const double frequencies[] = {50, 200, 1000, 4000};
    for (int k = 0; k < ALL; k++)
        for (int i = 0; i < 4; i++) {
            const double w = frequencies[i], half = 3.14159265358979323846 / w, end = 1;
            char sections[200];
            double v = 0, t = 0;
            motion m;
            snprintf(sections, sizeof sections,
                     "forces:\n  f: {type: drive, joint: x, force: \"sign(sin(%g*t))\"}\nrun: {end: 1}\n", w);
            assert_int_equal(move(k, "", sections, 1e-8, &m), LW_OK);
            for (int n = 0; t < end; n++, t += half) v += (n % 2 ? -1 : 1) * fmin(half, end - t);
            must_be(k, sections, m.v, v, 1e-9);
        }
}

/* A stiff contact hit at 100 m/s: half a period in it, and away with the same speed. */
static void hard_contact(void **state) {
    (void)state;
    static const char *const laws[] = {"-1e8*max(0, -x)", "if(x < 0, 1e8*x, 0)", "1e8*min(x, 0)",
                                       "-1e8*ramp(-x)", "-5e7*(abs(x) - x)"};
    for (int k = 0; k < 3; k++) /* rk4 with 1e-3 s is unstable in it, and the verdict says so */
        for (int i = 0; i < 5; i++) {
            char sections[200];
            motion m;
            snprintf(sections, sizeof sections,
                     "forces:\n  f: {type: torsion, joint: x, law: \"%s\"}\nrun: {end: 0.1}\n", laws[i]);
            assert_int_equal(move(k, ", q: 1, v: -100", sections, 1e-9, &m), LW_OK);
            must_be(k, laws[i], m.v, 100, 1e-3);
            must_be(k, laws[i], m.q, 100 * (0.1 - 0.01 - 3.14159265358979323846e-4), 1e-4);
        }
}

/* Just touched: the turning point lies beyond the switch by a thousandth. */
static void short_touch(void **state) {
    (void)state;
    for (int k = 0; k < ALL; k++) {
        motion m;
        /* x = -1 + 2 t - t^2 + 1e-3: above 0 for 2 sqrt(1e-3) s around t = 1; there the damper-free push
         * -50. */
        assert_int_equal(move(k, ", q: -0.999, v: 2",
                              "forces:\n  f: {type: drive, joint: x, force: \"-2 - if(q > 0, 50, 0)\"}\n"
                              "run: {end: 2}\n",
                              1e-8, &m),
                         LW_OK);
        /* In: v0 = 2 sqrt(1e-3) at t0 = 1 - v0/2; above for 2 v0/52; out with -v0. */
        const double v0 = 2 * sqrt(1e-3), t0 = 1 - 0.5 * v0, out = t0 + 2 * v0 / 52, rest = 2 - out;
        /* It is touched at 0.06 m/s, so that an error of q is 800 times as large in v behind it. */
        must_be(k, "touch", m.v, -v0 - 2 * rest, 1e-5);
        must_be(k, "touch", m.q, -v0 * rest - rest * rest, 1e-5);
    }
}

/* A law without a value beyond its guard, and remainders and whole numbers of a coordinate. */
static void guards_and_remainders(void **state) {
    (void)state;
    for (int k = 0; k < ALL; k++) {
        motion m;
        assert_int_equal(
            move(k, ", q: 0.5, v: -1",
                 "forces:\n  f: {type: torsion, joint: x, law: \"-if(x < 0, 100*(-x)^1.5, 0)\"}\n"
                 "run: {end: 2}\n",
                 1e-9, &m),
            LW_OK);
        must_be(k, "guard", m.v, 1, 1e-6);
        /* mod(q, 0.25): work of each piece is 0.25^2/2. */
        assert_int_equal(move(k, ", v: 1",
                              "forces:\n  f: {type: drive, joint: x, force: \"if(q < 1, mod(q, 0.25), 0)\"}\n"
                              "run: {end: 2}\n",
                              1e-9, &m),
                         LW_OK);
        must_be(k, "mod", m.v, sqrt(1 + 2 * 4 * 0.03125), 1e-7);
        assert_int_equal(move(k, ", v: 1",
                              "forces:\n  f: {type: drive, joint: x, force: \"if(q < 1, floor(4*q), 0)\"}\n"
                              "run: {end: 2}\n",
                              1e-9, &m),
                         LW_OK);
        must_be(k, "floor", m.v, sqrt(1 + 2 * 0.25 * (0 + 1 + 2 + 3)), 1e-7);
        assert_int_equal(
            move(k, ", v: 1",
                 "forces:\n  f: {type: drive, joint: x, force: \"step(q, 0.5, 0, 0.501, 100)*(q < 1)\"}\n"
                 "run: {end: 2}\n",
                 1e-9, &m),
            LW_OK);
        /* One fixed step is as long as it takes to pass the width. */
        must_be(k, "step", m.v, sqrt(1 + 2 * 100 * (0.499 + 0.0005)), k >= 3 ? 3e-4 : 1e-6);
    }
}

/* Friction that holds: bounded effort, a note, and then an answer or the reason why there is none. */
static void endless_switch(void **state) {
    (void)state;
    for (int k = 0; k < ALL; k++) {
        motion m;
        lw_status status = move(
            k, ", v: 1", "forces:\n  f: {type: drive, joint: x, force: \"0.3 - sign(v)\"}\nrun: {end: 3}\n",
            1e-6, &m);
        assert_true(status == LW_OK || status == LW_ERROR_INTEGRATION);
        assert_int_equal(notes, 1);
    }
}

/* Held values of every kind of condition, and distances that change sign where outcomes do. */
static void held_values(void **state) {
    (void)state;
    static const char *const texts[] = {"if(x > 1, x^2, 3*x)",
                                        "abs(x - 1)",
                                        "max(x, 1) + min(x, 2)",
                                        "ramp(x - 1)",
                                        "sign(x - 1)*x",
                                        "mod(x, 1)",
                                        "floor(x) + x",
                                        "ceil(x)*x",
                                        "step(x, 0.7, 1, 1.3, 2)",
                                        "step5(x, 0.7, 1, 1.3, 2) + abs(sin(3*x))"};
    const char *const variables[] = {"x"};
    const lw_expression_names names = {.variables = variables, .variable_count = 1};
    lw_arena *arena = lw_arena_create(NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const lw_function *f = lw_function_compile(arena, texts[i], &names, NULL);
        assert_non_null(f);
        assert_true(lw_function_conditions(f) > 0 && lw_function_conditions(f) < 8);
        for (double x = -0.35; x < 2.5; x += 0.1) {
            double held[8], now[8], distances[8];
            lw_function_look(f, &x, NULL, 0, &(lw_look){.outcomes = held});
            assert_true(fabs(lw_function_value_held(f, &x, NULL, held) - lw_function_value(f, &x, NULL)) <
                        1e-14);
            for (double other = x - 0.4; other < x + 0.4; other += 0.05) {
                const double least = lw_function_look(
                    f, &other, NULL, 0, &(lw_look){.held = held, .outcomes = now, .distances = distances});
                bool same = true;
                for (int c = 0; c < lw_function_conditions(f); c++) {
                    same = same && now[c] == held[c];
                    assert_true((distances[c] > 0) == (now[c] == held[c]));
                }
                assert_true(same == (least > 0));
                const double value = lw_function_value_held(f, &other, NULL, held);
                if (same) assert_true(fabs(value - lw_function_value(f, &other, NULL)) < 1e-14);
                /* The slope is that of the held value, on either side. */
                const double e = 1e-6, ahead = other + e, behind = other - e;
                const double slope = (lw_function_value_held(f, &ahead, NULL, held) -
                                      lw_function_value_held(f, &behind, NULL, held)) /
                                     (2 * e);
                const lw_jet jet = lw_function_jet_held(f, &(lw_jet){other, 1, 0}, NULL, held);
                assert_true(jet.f == value && fabs(jet.d - slope) < 1e-5 * (1 + fabs(slope)));
            }
        }
    }
    lw_arena_destroy(arena);
}

/* A force of 1 and -1 N by a periodic function of the coordinate, which the motion, smooth between two
 * switches, does not slow down for: each period of length l takes 2 (c - 1) seconds with c = sqrt(1 + l), at
 * 1 m/s at its ends. Steps of adams grew over its periods. */
static void gear_teeth(void **state) {
    (void)state;
    const double l = 2 * 3.14159265358979324 / 50, period = 2 * (sqrt(1 + l) - 1);
    const double periods = floor(10 / period), left = 10 - period * periods;
    assert_true(left < 0.5 * period); /* The last one is in its first half. */
    const double q = periods * l + left + 0.5 * left * left;
    for (int k = 0; k < ALL; k++) {
        motion m;
        assert_int_equal(move(k, ", v: 1",
                              "forces:\n  f: {type: drive, joint: x, force: \"if(sin(50*q) > 0, 1, -1)\"}\n"
                              "run: {end: 10}\n",
                              1e-10, &m),
                         LW_OK);
        must_be(k, "q", m.q, q, 1e-6);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gear_teeth),     cmocka_unit_test(held_values),
        cmocka_unit_test(narrow_strip),   cmocka_unit_test(in_signals_and_rates),
        cmocka_unit_test(square_wave),    cmocka_unit_test(hard_contact),
        cmocka_unit_test(short_touch),    cmocka_unit_test(guards_and_remainders),
        cmocka_unit_test(endless_switch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

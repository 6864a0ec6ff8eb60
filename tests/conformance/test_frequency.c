/* test_frequency.c - frequency responses: closed forms (a mass on a spring, a quarter car on its road), a system of
 * many states against elimination without reduction, and a run that is excited by a sine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "problems.h"

#include <complex.h>
#include <linkwork/linkwork.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static lw_model *text_model(const char *text) {
    lw_spec *spec = read_text_spec(text);
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_spec_destroy(spec);
    return model;
}

static lw_linear_system *system_of(const lw_model *model) {
    lw_linearise_options options;
    lw_linear_system *system;
    lw_error error = {0};
    lw_linearise_defaults(model, &options);
    if (lw_linearise(model, &options, &system, &error) != LW_OK) fail_msg("%s", error.message);
    return system;
}

static lw_frequency_response *response_of(const lw_linear_system *system,
                                          const lw_frequency_options *options) {
    lw_frequency_response *response;
    lw_error error = {0};
    if (lw_frequency_find(system, options, &response, &error) != LW_OK) fail_msg("%s", error.message);
    return response;
}

static double complex value(const lw_frequency_response *r, int f, int output, int input) {
    const size_t at = ((size_t)f * (size_t)r->outputs + (size_t)output) * (size_t)r->inputs + (size_t)input;
    return r->G[2 * at] + I * r->G[2 * at + 1];
}

static void near(double complex expected, double complex found, double tolerance) {
    if (!(cabs(expected - found) <= tolerance * cabs(expected)))
        fail_msg("%.15g %+.15g i and not %.15g %+.15g i", creal(found), cimag(found), creal(expected),
                 cimag(expected));
}

static const char mass_text[] = "linkwork: 1\nname: mass\ngravity: [0, 0, 0]\ninputs: {push: 0}\n"
                                "bodies: {m: {kind: point, mass: 2}}\n"
                                "joints: {z: {type: prismatic, between: [ground, m], axis: [0, 0, 1]}}\n"
                                "forces:\n  s: {type: torsion, joint: z, stiffness: 50, damping: %g}\n  p: "
                                "{type: drive, joint: z, force: push}\n"
                                "outputs: {place: z.q, fast: z.v, push_felt: push - 50*z.q}\n";

static void mass(void **state) {
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, mass_text, 0.3);
    lw_model *model = text_model(text);
    lw_linear_system *system = system_of(model);
    lw_frequency_options options;
    lw_frequency_defaults(&options);
    lw_frequency_response *r = response_of(system, &options);
    double largest = 0;
    assert_true(r->count > 100 && r->frequency[0] < 5 / (2 * pi) / 9 &&
                r->frequency[r->count - 1] > 5 / (2 * pi) * 9);
    for (int f = 0; f < r->count; f++) {
        const double complex s = I * 2 * pi * r->frequency[f], G = 1 / (2 * s * s + 0.3 * s + 50);
        near(G, value(r, f, 0, 0), 1e-13);
        near(s * G, value(r, f, 1, 0), 1e-13);
        near(1 - 50 * G, value(r, f, 2, 0), 1e-11); /* a small difference at low frequencies */
        near(cabs(G), r->magnitude[3 * f], 1e-13);
        assert_true(fabs(r->phase[3 * f] - carg(G)) < 1e-12); /* 0 .. -pi: no jumps */
        if (f > 0) assert_true(r->frequency[f] > r->frequency[f - 1]);
        largest = fmax(largest, r->magnitude[3 * f]);
    }
    /* The grid meets the peak: 1 / (c wd) for w of largest response. */
    const double peak = 1 / (0.3 * sqrt(25 - 0.3 * 0.3 / 16));
    assert_true(fabs(largest / peak - 1) < 1e-4);
    lw_frequency_destroy(r);
    lw_linear_system_destroy(system);
    lw_model_destroy(model);
    /* Without damping the response at 5 rad/s is infinite, and elsewhere that of the closed form. */
    snprintf(text, sizeof text, mass_text, 0.0);
    model = text_model(text);
    system = system_of(model);
    options.from = options.to = 5 / (2 * pi), options.points = 1, options.exactly = true;
    r = response_of(system, &options);
    assert_int_equal(r->count, 1);
    assert_true(isinf(r->magnitude[0]) || r->magnitude[0] > 1e12);
    lw_frequency_destroy(r);
    lw_linear_system_destroy(system);
    lw_model_destroy(model);
}

/* Road to body: kt (cs s + ks) / ((mb s^2 + cs s + ks)(mw s^2 + cs s + ks + kt) - (cs s + ks)^2). */
static void quarter_car(void **state) {
    (void)state;
    lw_model *model = text_model(
        "linkwork: 1\nname: quarter car\ngravity: [0, 0, 0]\ninputs: {road: 0}\n"
        "bodies: {car: {kind: point, mass: 290}, wheel: {kind: point, mass: 59}}\n"
        "joints:\n  heave: {type: prismatic, between: [ground, car], axis: [0, 0, 1]}\n"
        "  axle: {type: prismatic, between: [ground, wheel], axis: [0, 0, 1]}\n"
        "forces:\n"
        "  strut: {type: spring, between: [wheel, car], points: [[0, 0, 0], [0, 0, 0.6]], length: 0.6, "
        "stiffness: 16812, damping: 1000}\n"
        "  tyre: {type: drive, joint: axle, force: -190000*(q - road)}\n"
        "outputs: {comfort: heave.a, body: heave.q, grip: 190000*(axle.q - road)}\n");
    lw_linear_system *system = system_of(model);
    lw_frequency_options options;
    lw_frequency_defaults(&options);
    options.from = 0.01, options.to = 1000;
    lw_frequency_response *r = response_of(system, &options);
    for (int f = 0; f < r->count; f++) {
        const double complex s = I * 2 * pi * r->frequency[f], strut = 1000 * s + 16812;
        const double complex body = 290 * s * s + strut, wheel = 59 * s * s + strut + 190000;
        const double complex G = 190000 * strut / (body * wheel - strut * strut);
        near(G, value(r, f, 1, 0), 1e-11);
        near(s * s * G, value(r, f, 0, 0), 1e-10);
        near(190000 * (G * body / strut - 1), value(r, f, 2, 0),
             1e-6); /* a difference of up to 1e-6 of its terms */
    }
    lw_frequency_destroy(r);
    lw_linear_system_destroy(system);
    lw_model_destroy(model);
}

/* (i w - A) x = B by elimination with pivots, without balancing and reduction. */
static void eliminate(int n, const double *A, double w, double complex *x) {
    double complex *M = calloc((size_t)n * (size_t)n, sizeof *M);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) M[i * n + j] = (i == j ? I * w : 0) - A[i * n + j];
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (cabs(M[i * n + k]) > cabs(M[best * n + k])) best = i;
        for (int j = 0; j < n; j++) {
            const double complex keep = M[k * n + j];
            M[k * n + j] = M[best * n + j], M[best * n + j] = keep;
        }
        const double complex keep = x[k];
        x[k] = x[best], x[best] = keep;
        for (int i = k + 1; i < n; i++) {
            const double complex factor = M[i * n + k] / M[k * n + k];
            for (int j = k; j < n; j++) M[i * n + j] -= factor * M[k * n + j];
            x[i] -= factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) x[k] -= M[k * n + j] * x[j];
        x[k] /= M[k * n + k];
    }
    free(M);
}

/* A chain of links with springs and dampers in space, its states in units that differ by thousands. */
static void many_states(void **state) {
    (void)state;
    enum { LINKS = 12, STATES = 2 * LINKS };
    char text[16384];
    int used = snprintf(text, sizeof text, "linkwork: 1\nname: chain\ninputs: {u: 0, w: 0}\nbodies:\n");
    for (int k = 0; k < LINKS; k++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  b%d: {mass: %g, com: [0.3, 0.02, -0.1], inertia: [0.02, 0.03, 0.04]}\n", k,
                         1 + 0.3 * k);
    used += snprintf(text + used, sizeof text - (size_t)used, "joints:\n");
    for (int k = 0; k < LINKS; k++) {
        char before[16] = "ground";
        if (k) snprintf(before, sizeof before, "b%d", k - 1);
        used += snprintf(
            text + used, sizeof text - (size_t)used,
            "  j%d: {type: revolute, between: [%s, b%d], point: [%g, 0, 0], axis: [%d, %d, %d], q: %g}\n", k,
            before, k, 0.5 * k, k % 3 == 0, k % 3 == 1, k % 3 == 2, 0.1 * k);
    }
    used += snprintf(text + used, sizeof text - (size_t)used, "forces:\n");
    for (int k = 0; k < LINKS; k++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  t%d: {type: torsion, joint: j%d, stiffness: %g, damping: %g}\n", k, k,
                         pow(10, 1 + k % 5), 0.1 * (k + 1));
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "  p: {type: drive, joint: j0, force: u}\n  r: {type: drive, joint: j7, force: 1000*w}\n"
                     "outputs: {tip: body.b11.z, turn: 1000*j3.q, rate: j11.v, both: j2.q + 0.3*w}\n");
    lw_model *model = text_model(text);
    lw_linear_system *s = system_of(model);
    assert_int_equal(s->states, STATES);
    lw_frequency_options options;
    lw_frequency_defaults(&options);
    options.points = 60;
    lw_frequency_response *r = response_of(s, &options);
    for (int f = 0; f < r->count; f++)
        for (int i = 0; i < 2; i++) {
            double complex x[STATES];
            for (int k = 0; k < STATES; k++) x[k] = s->B[k * 2 + i];
            eliminate(STATES, s->A, 2 * pi * r->frequency[f], x);
            for (int o = 0; o < 4; o++) {
                double complex G = s->D[o * 2 + i];
                double size = cabs(G);
                for (int k = 0; k < STATES; k++)
                    G += s->C[o * STATES + k] * x[k], size = fmax(size, cabs(s->C[o * STATES + k] * x[k]));
                if (!(cabs(G - value(r, f, o, i)) <=
                      1e-8 * size)) /* rounding times the condition near peaks */
                    fail_msg("%s/%s at %g Hz: off by %g of %g", r->output_names[o], r->input_names[i],
                             r->frequency[f], cabs(G - value(r, f, o, i)), size);
            }
        }
    lw_frequency_destroy(r);
    /* Some of them by name, in another order. */
    options.inputs = (const char *[]){"w"}, options.input_count = 1;
    options.outputs = (const char *[]){"rate", "tip"}, options.output_count = 2;
    lw_frequency_response *all = response_of(s, &(lw_frequency_options){.points = 60}),
                          *some = response_of(s, &options);
    assert_int_equal(all->count, some->count);
    for (int f = 0; f < all->count; f++) {
        near(value(all, f, 2, 1), value(some, f, 0, 0), 1e-9);
        near(value(all, f, 0, 1), value(some, f, 1, 0), 1e-9);
    }
    lw_frequency_destroy(all);
    lw_frequency_destroy(some);
    lw_error error = {0};
    options.inputs = (const char *[]){"v"};
    assert_int_equal(lw_frequency_find(s, &options, &some, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "is no input"));
    options.inputs = NULL, options.from = 10, options.to = 1;
    assert_int_equal(lw_frequency_find(s, &options, &some, &error), LW_ERROR_ARGUMENT);
    lw_linear_system_destroy(s);
    lw_model_destroy(model);
}

/* A pendulum with a damper, a loop beside it: excited by a small sine until only that is left. */
static void sine_run(void **state) {
    (void)state;
    const double amplitude = 1e-3, f0 = 0.7;
    char text[2048];
    for (int excited = 0; excited < 2; excited++) {
        static double re, im;
        snprintf(text, sizeof text,
                 "linkwork: 1\nname: swing\ninputs: {push: %s}\n"
                 "bodies:\n  left: {mass: 1, com: [0, 0, -0.3], inertia: [0.01, 0.02, 0.01]}\n"
                 "  right: {mass: 2, com: [0.5, 0, -0.3], inertia: [0.01, 0.02, 0.01]}\n"
                 "  bar: {mass: 3, com: [0.25, 0, -0.6], inertia: [0.01, 0.05, 0.01]}\n"
                 "joints:\n"
                 "  a: {type: revolute, between: [ground, left], point: [0, 0, 0], axis: [0, 1, 0]}\n"
                 "  b: {type: revolute, between: [ground, right], point: [0.5, 0, 0], axis: [0, 1, 0]}\n"
                 "  c: {type: revolute, between: [left, bar], point: [0, 0, -0.6], axis: [0, 1, 0]}\n"
                 "  d: {type: revolute, between: [right, bar], point: [0.5, 0, -0.6], axis: [0, 1, 0]}\n"
                 "forces:\n  drag: {type: torsion, joint: a, damping: 2}\n"
                 "  p: {type: drive, joint: a, force: push}\n"
                 "outputs: {sway: body.bar.x}\nrun: {end: 20, tolerance: 1e-12}\n",
                 excited ? "0.001*sin(2*pi*0.7*t)" : "0");
        lw_model *model = text_model(text);
        if (!excited) {
            lw_linear_system *system = system_of(model);
            lw_frequency_options options;
            lw_frequency_defaults(&options);
            options.from = options.to = f0, options.points = 1, options.exactly = true;
            lw_frequency_response *r = response_of(system, &options);
            re = r->G[0], im = r->G[1];
            lw_frequency_destroy(r);
            lw_linear_system_destroy(system);
        } else {
            enum { N = 64 };
            lw_run_options run;
            lw_simulation *simulation;
            lw_error error = {0};
            lw_run_defaults(model, &run);
            if (lw_simulation_create(model, &run, NULL, &simulation, &error) != LW_OK)
                fail_msg("%s", error.message);
            double sine = 0, cosine = 0;
            for (int k = 0; k < N;
                 k++) { /* the last whole period: Fourier's sums are exact up to harmonic N / 2 */
                const double t = (13 + (double)k / N) / f0;
                double y;
                assert_int_equal(lw_simulation_advance(simulation, t, &error), LW_OK);
                assert_int_equal(lw_simulation_output(simulation, 0, &y), LW_OK);
                sine += 2 * y * sin(2 * pi * f0 * t) / N, cosine += 2 * y * cos(2 * pi * f0 * t) / N;
            }
            /* y = |G| a sin(w t + phase); cubes of the amplitude are 1e-7 of it */
            near(re + I * im, (sine + I * cosine) / amplitude, 1e-6);
            lw_simulation_destroy(simulation);
        }
        lw_model_destroy(model);
    }
    lw_model *model = read_problem("double_pendulum");
    lw_linear_system *system = system_of(model);
    lw_frequency_options options;
    lw_frequency_response *r;
    lw_error error = {0};
    lw_frequency_defaults(&options);
    assert_int_equal(lw_frequency_find(system, &options, &r, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "no inputs"));
    lw_linear_system_destroy(system);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass),
        cmocka_unit_test(quarter_car),
        cmocka_unit_test(many_states),
        cmocka_unit_test(sine_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

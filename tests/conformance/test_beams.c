/* test_beams.c - beams of rigid segments (docs/theory/beams.md) against closed forms and the elastica.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* E I = 350, G J not needed, m = 1.57 kg/m. */
#define BLADE "section: {width: 20 mm, height: 10 mm}, material: {young: 210 GPa, density: 7850}"
static const double bending = 210e9 * 0.02 * 1e-6 / 12, mass_per_length = 7850 * 2e-4;

static lw_model *model_of(const char *text) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    if (lw_read_model_text(text, strlen(text), "test.yaml", NULL, 0, report, &spec) != LW_OK ||
        lw_model_compile(spec, NULL, report, &model) != LW_OK) {
        show_report(report);
        fail();
    }
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    return model;
}

/* Where the origin of the tip's body is in the position of rest. */
static void tip_at_rest(const lw_model *model, double p[3]) {
    lw_linearise_options options;
    lw_equilibrium *rest = NULL;
    lw_error error = {0};
    lw_data *data;
    double R[9];
    lw_linearise_defaults(model, &options);
    if (lw_equilibrium_find(model, &options, &rest, &error) != LW_OK) fail_msg("%s", error.message);
    assert_true(rest->converged);
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    assert_int_equal(lw_body_pose(model, data, 0, rest->q, lw_model_body(model, "blade.tip"), p, R), LW_OK);
    lw_data_destroy(data);
    lw_equilibrium_destroy(rest);
}

/* The tip of an inextensible beam under a force F across its first direction, by shooting:
 * EI theta'' = -F cos theta, theta(0) = 0, theta'(L) = 0. */
static void elastica(double F, double EI, double tip[2]) {
    double low = 0, high = 4 * F / EI + 4;
    for (int k = 0; k < 100; k++) {
        const int n = 2000;
        double th = 0, slope = 0.5 * (low + high), h = 1.0 / n;
        const double tried = slope;
        tip[0] = tip[1] = 0;
        for (int i = 0; i < n; i++) {
            /* Stoermer-Verlet with Simpson's rule for the place, second order in h */
            const double half = slope - 0.5 * h * F / EI * cos(th), next = th + h * half;
            const double middle = 0.5 * (th + next) + h * h * F / EI * cos(th) / 8;
            tip[0] += h / 6 * (cos(th) + 4 * cos(middle) + cos(next));
            tip[1] += h / 6 * (sin(th) + 4 * sin(middle) + sin(next));
            slope = half - 0.5 * h * F / EI * cos(next), th = next;
        }
        if (slope > 0)
            high = tried;
        else
            low = tried;
    }
}

static void deflections(void **state) {
    (void)state;
    static const double loads[] = {1e-3, 1, 10}; /* F L^2/EI */
    for (int shear = 0; shear < 2; shear++)
        for (int k = 0; k < 3; k++) {
            char text[800];
            const double F = loads[k] * bending;
            snprintf(
                text, sizeof text,
                "linkwork: 1\ngravity: [0, 0, 0]\n"
                "beams: {blade: {between: [ground, ~], points: [[0, 0, 0], [1, 0, 0]], " BLADE
                ", shear: %s}}\n"
                "forces: {pull: {type: applied, body: blade.tip, point: [1, 0, 0], force: [0, 0, %.17g]}}\n",
                shear ? "true" : "false", F);
            lw_model *model = model_of(text);
            double p[3], want[2];
            tip_at_rest(model, p);
            elastica(F, bending, want);
            if (k == 0) want[1] = F / (3 * bending);
            /* (2): 0.1 % with ball joints; with shear, what the elastica has not: E A and shear, 2e-4 */
            const double part = k == 0 && shear ? 3e-4 : 2e-3;
            if (!(fabs(p[2] - want[1]) < part * want[1]) || !(fabs(p[0] - (k ? want[0] : 1)) < 2e-3))
                fail_msg("shear %d, load %g: tip at %.6g, %.6g, not %.6g, %.6g", shear, loads[k], p[0], p[2],
                         want[0], want[1]);
            lw_model_destroy(model);
        }
}

/* An end moment of 2 pi EI/L bends the beam into a closed polygon. */
static void a_full_circle(void **state) {
    (void)state;
    char text[800];
    snprintf(text, sizeof text,
             "linkwork: 1\ngravity: [0, 0, 0]\n"
             "beams: {blade: {between: [ground, ~], points: [[0, 0, 0], [1, 0, 0]], " BLADE
             ", elements: 12}}\n"
             "joints: {}\n"
             "forces: {turn: {type: applied, body: blade.tip, torque: [0, %.17g, 0]}}\n",
             -0.5 * pi * bending);
    lw_model *model = model_of(text);
    double p[3];
    tip_at_rest(model, p);
    /* A quarter: R = 2 L/pi; the polygon's first and last pieces are half as long. */
    double want[2] = {0, 0}, h = 1.0 / 12;
    for (int i = 0; i <= 12; i++) {
        const double length = i == 0 || i == 12 ? h / 2 : h, angle = 0.5 * pi / 12 * i;
        want[0] += length * cos(angle), want[1] += length * sin(angle);
    }
    if (!(hypot(p[0] - want[0], p[2] - want[1]) < 1e-7))
        fail_msg("tip at %.8g, %.8g, not %.8g, %.8g", p[0], p[2], want[0], want[1]);
    lw_model_destroy(model);
}

/* The imaginary parts of the eigenvalues of the lowest modes, 1/s, ascending. */
static void frequencies(const lw_model *model, int count, double *w) {
    lw_linearise_options options;
    lw_modes *modes = NULL;
    lw_error error = {0};
    lw_linearise_defaults(model, &options);
    if (lw_modes_find(model, &options, &modes, &error) != LW_OK) fail_msg("%s", error.message);
    for (int k = 0; k < count; k++) w[k] = modes->modes[k].frequency * 2 * pi;
    lw_modes_destroy(modes);
}

static void cantilever_frequencies(void **state) {
    (void)state;
    static const double roots[3] = {1.8751040687, 4.6940911330, 7.8547574382};
    lw_model *model =
        model_of("linkwork: 1\ngravity: [0, 0, 0]\n"
                 "beams: {blade: {between: [ground, ~], points: [[0, 0, 0], [0, 1, 0]], " BLADE "}}\n");
    double w[16];
    frequencies(model, 8, w);
    for (int k = 0; k < 3; k++) {
        const double want = roots[k] * roots[k] * sqrt(bending / mass_per_length);
        bool found = false;
        for (int i = 0; i < 8; i++) found |= fabs(w[i] - want) < 0.01 * want;
        if (!found) fail_msg("no frequency within 1 %% of %g", want);
    }
    lw_model_destroy(model);
}

/* Flapping of a blade on a hub of no size that turns (Wright, Smith, Thresher, Wang 1982). */
static void a_spinning_blade(void **state) {
    (void)state;
    static const double speeds[] = {1, 2, 10}, known[] = {3.6817, 4.1373, 11.2023};
    const double unit = sqrt(bending / mass_per_length);
    for (int k = 0; k < 3; k++) {
        char text[800];
        double w[4];
        snprintf(text, sizeof text,
                 "linkwork: 1\ngravity: [0, 0, 0]\n"
                 "bodies: {hub: {mass: 1, inertia: [1, 1, 1]}}\n"
                 "joints: {axle: {type: revolute, between: [ground, hub], point: [0, 0, 0], axis: [0, 0, 1],"
                 " motion: %.17g*t}}\n"
                 "beams: {blade: {between: [hub, ~], points: [[0, 0, 0], [1, 0, 0]], " BLADE
                 ", elements: 32}}\n",
                 speeds[k] * unit);
        lw_model *model = model_of(text);
        frequencies(model, 2, w);
        /* At high speed the lowest mode is the one in the plane: w_plane^2 = w_flap^2 - speed^2 only for equal
         * stiffness; here bending in the plane is four times as stiff. */
        const double want = known[k] * unit;
        if (!(fmin(fabs(w[0] - want), fabs(w[1] - want)) < 0.006 * want))
            fail_msg("speed %g: %g and %g, not %g", speeds[k], w[0], w[1], want);
        lw_model_destroy(model);
    }
}

/* A cable that hangs at rest, 40 segments, has no acceleration but rounding, and that is no fault; its
 * frequencies are z/2 sqrt(g/L), z the zeros of J_0. */
static void a_cable(void **state) {
    (void)state;
    static const double zeros[3] = {2.404825558, 5.520078110, 8.653727913};
    lw_model *model = model_of(
        "linkwork: 1\n"
        "beams: {blade: {between: [ground, ~], points: [[0, 0, 0], [0, 0, -2]], section: {radius: 5 mm},"
        " material: {young: 1e5, density: 1000}, elements: 40}}\n");
    double w[24];
    frequencies(model, 24, w);
    for (int k = 0; k < 3; k++) {
        const double want = 0.5 * zeros[k] * sqrt(9.81 / 2);
        bool found = false;
        for (int i = 0; i < 24; i++) found |= fabs(w[i] - want) < 0.02 * want;
        if (!found) fail_msg("no frequency within 2 %% of %g (%g %g %g %g)", want, w[0], w[1], w[2], w[3]);
    }
    lw_run_options options;
    lw_simulation *simulation;
    lw_error error = {0};
    lw_run_defaults(model, &options);
    if (lw_simulation_create(model, &options, NULL, &simulation, &error) != LW_OK)
        fail_msg("%s", error.message);
    lw_simulation_destroy(simulation);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deflections),
        cmocka_unit_test(a_full_circle),
        cmocka_unit_test(cantilever_frequencies),
        cmocka_unit_test(a_spinning_blade),
        cmocka_unit_test(a_cable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_sensitivity.c - sensitivities of runs with respect to parameters: closed forms, and trees, loops, rolling
 * wheels, balls, user states, stiff elements against differences of runs; what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "problems.h"

#include <linkwork/linkwork.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static lw_model *text_model(const char *text) {
    lw_spec *spec = read_text_spec(text);
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_spec_destroy(spec);
    return model;
}

static lw_sensitivity *find(const lw_model *model, double end, double tolerance, const char *record,
                            int count, const char *const *parameters) {
    lw_sensitivity_options options;
    lw_sensitivity *s;
    lw_error error = {0};
    lw_sensitivity_defaults(model, &options);
    options.run.end = end, options.run.output = end / 40, options.run.tolerance = tolerance;
    options.parameters = parameters, options.parameter_count = count, options.record = record;
    if (lw_sensitivity_find(model, &options, &s, &error) != LW_OK)
        fail_msg("%s: %s", error.object, error.message);
    return s;
}

static double derivative(const lw_sensitivity *s, int sample, int parameter, const char *column) {
    for (int c = 0; c < s->columns; c++)
        if (strcmp(s->names[c], column) == 0)
            return s->derivatives[((size_t)sample * (size_t)s->parameters + (size_t)parameter) *
                                      (size_t)s->columns +
                                  (size_t)c];
    fail_msg("there is no column %s", column);
    return NAN;
}

static const char mass_text[] =
    "linkwork: 1\nname: mass\ngravity: [0, 0, 0]\nparameters: {m: 2, k: 50, x0: 0.3}\n"
    "bodies: {b: {kind: point, mass: m}}\n"
    "joints: {z: {type: prismatic, between: [ground, b], axis: [0, 0, 1], q: x0}}\n"
    "forces:\n  s: {type: torsion, joint: z, stiffness: k, free: 0}\n"
    "outputs: {energy: k*z.q^2/2 + m*z.v^2/2}\nrun: {end: 3}\n";

/* x = x0 cos(w t), w^2 = k/m. */
static void test_mass_on_a_spring(void **state) {
    static const char *const names[] = {"m", "k", "x0"};
    (void)state;
    lw_model *model = text_model(mass_text);
    lw_sensitivity *s = find(model, 3, 1e-12, NULL, 3, names);
    const double m = 2, k = 50, x0 = 0.3, w = sqrt(k / m);
    assert_int_equal(s->samples, 41);
    for (int i = 0; i < s->samples; i++) {
        const double t = s->t[i], by_w = -x0 * t * sin(w * t),
                     v_by_w = -x0 * sin(w * t) - x0 * w * t * cos(w * t);
        assert_true(fabs(derivative(s, i, 0, "z.q") - by_w * -w / (2 * m)) < 1e-8);
        assert_true(fabs(derivative(s, i, 1, "z.q") - by_w * w / (2 * k)) < 1e-9);
        assert_true(fabs(derivative(s, i, 2, "z.q") - cos(w * t)) < 1e-8);
        assert_true(fabs(derivative(s, i, 0, "z.v") - v_by_w * -w / (2 * m)) < 1e-7);
        /* k x0^2 / 2 all the time */
        assert_true(fabs(derivative(s, i, 0, "energy")) < 1e-7);
        assert_true(fabs(derivative(s, i, 1, "energy") - x0 * x0 / 2) < 1e-8);
        assert_true(fabs(derivative(s, i, 2, "energy") - k * x0) < 1e-6);
    }
    /* The energy does not depend on m: there the noise of runs is compared. */
    assert_true(s->disagreement < 1e-2);
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

/* A base moves as A sin(f t); on it a mass m is held by a stiff spring and damper: its force follows m A f^2, and
 * what the base's drive exerts does, too. */
static const char base_text[] =
    "linkwork: 1\nname: base\ngravity: [0, 0, 0]\nparameters: {A: 0.1, f: 3, m: 2, k: 1e7}\n"
    "inputs: {lift: 100*A}\nstates: {lag: {rate: (base.q - lag)/0.2, start: A}}\n"
    "bodies: {b: {kind: point, mass: 1}, c: {kind: point, mass: m}}\n"
    "joints:\n  base: {type: prismatic, between: [ground, b], axis: [0, 0, 1], motion: A*sin(f*t)}\n"
    "  rest: {type: prismatic, between: [b, c], axis: [0, 0, 1]}\n"
    "forces:\n  s: {type: torsion, joint: rest, stiffness: k, damping: 2*sqrt(k*m), free: 0}\n"
    "  u: {type: drive, joint: rest, force: lift}\nrun: {end: 2, integrator: bdf}\n";

static void test_stiff_mass_on_a_base(void **state) {
    static const char *const names[] = {"A", "f", "m"};
    (void)state;
    lw_model *model = text_model(base_text);
    lw_sensitivity *s = find(model, 2, 1e-10, "joint(*), state(*), drive(base)", 3, names);
    const double A = 0.1, f = 3, m = 2, T = 0.2;
    for (int i = 4; i < s->samples; i++) {
        const double t = s->t[i], force = (m + 1) * A * f * f;
        assert_true(fabs(derivative(s, i, 0, "base.q") - sin(f * t)) < 1e-9);
        assert_true(fabs(derivative(s, i, 1, "base.q") - A * t * cos(f * t)) < 1e-9);
        assert_true(fabs(derivative(s, i, 1, "base.v") - A * cos(f * t) + A * f * t * sin(f * t)) < 1e-8);
        /* rest of order m a / k */
        assert_true(fabs(derivative(s, i, 0, "drive(base)") + force / A * sin(f * t)) < 1e-2 * force / A);
        assert_true(fabs(derivative(s, i, 2, "drive(base)") + A * f * f * sin(f * t)) < 1e-2 * A * f * f);
        /* lag' = (A sin - lag)/T */
        const double gain = 1 / (1 + f * f * T * T),
                     lag = gain * (sin(f * t) - f * T * cos(f * t)) + (1 + gain * f * T) * exp(-t / T);
        assert_true(fabs(derivative(s, i, 0, "lag") - lag) < 1e-7);
    }
    assert_true(s->disagreement < 1e-3);
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

typedef struct sample_case {
    const char *problem, *parameters[4], *record;
    double end, agree;
} sample_case;

/* By two ways: how well they agree is bounded by the differences of runs. */
static void test_problems_by_differences(void **state) {
    static const sample_case cases[] = {
        {"double_pendulum", {"L", "m"}, NULL, 1, 1e-6},
        {"four_bar", {"a", "b", "c", "d"}, "joint(*), reaction(*).f*", 0.5, 1e-5},
        {"spatial_slider_crank", {"jx", "jy"}, NULL, 0.4, 1e-5},
        {"stewart_platform", {"R", "p", "h", "gap"}, NULL, 0.2, 1e-5},
        {"heavy_top_steady", {"m", "l", "A", "C"}, NULL, 0.5, 1e-6},
        {"bicycle", {"speed", "wheelbase", "trail", "tilt"}, NULL, 0.3, 1e-5},
        {"cart_pole", {"m_cart", "m_pole", "b", "Jp"}, NULL, 0.5, 1e-6},
        {"five_bar_redundant", {"L", "m"}, NULL, 0.5, 1e-4},
        {"slider_crank", {"a", "b", "r"}, "joint(*), accelerations(*)", 0.5, 1e-5},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sample_case *c = &cases[k];
        lw_model *model = read_problem(c->problem);
        int count = 0;
        while (count < 4 && c->parameters[count]) count++;
        lw_sensitivity *s = find(model, c->end, 1e-11, c->record, count, c->parameters);
        if (!(s->disagreement < c->agree))
            fail_msg("%s: %g in column %s (differences are known to %g)", c->problem, s->disagreement,
                     s->disagreement_column, s->uncertainty);
        lw_sensitivity_destroy(s);
        lw_model_destroy(model);
    }
}

static void refused(const char *text, const char *parameter, lw_status expected, const char *word) {
    lw_model *model = text_model(text);
    lw_sensitivity_options options;
    lw_sensitivity *s;
    lw_error error = {0};
    lw_sensitivity_defaults(model, &options);
    options.parameters = &parameter, options.parameter_count = 1;
    const lw_status status = lw_sensitivity_find(model, &options, &s, &error);
    if (status != expected) fail_msg("%s: status %d, %s", parameter, status, error.message);
    assert_null(s);
    if (!strstr(error.message, word) && !strstr(error.remedy, word) && !strstr(error.object, word))
        fail_msg("\"%s\" is missing in: %s; %s", word, error.message, error.remedy);
    lw_model_destroy(model);
}

static const char drop_text[] =
    "linkwork: 1\nname: drop\nparameters: {h: 1, push: 5, t0: 0.2, edge: 0.5}\nbodies: {b: {kind: point, "
    "mass: 1}}\n"
    "joints: {z: {type: prismatic, between: [ground, b], axis: [0, 0, 1], q: h}}\nrun: {end: 0.6}\n";

static void test_refused(void **state) {
    char text[1024];
    (void)state;
    refused(drop_text, "hh", LW_ERROR_ARGUMENT, "\"h\"");
    snprintf(text, sizeof text, "%sevents:\n  hit: {when: z.q, direction: down, do: stop}\n", drop_text);
    refused(text, "h", LW_ERROR_UNSUPPORTED, "hit");
    lw_model *model = read_problem("series_damper"); /* a knot without mass */
    lw_sensitivity_options options;
    lw_sensitivity *s;
    lw_error error = {0};
    static const char *const names[] = {"k"};
    lw_sensitivity_defaults(model, &options);
    options.parameters = names, options.parameter_count = 1;
    assert_int_equal(lw_sensitivity_find(model, &options, &s, &error), LW_ERROR_UNSUPPORTED);
    options.parameter_count = 0;
    assert_int_equal(lw_sensitivity_find(model, &options, &s, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_sensitivity_find(model, NULL, &s, &error), LW_ERROR_ARGUMENT);
    lw_model_destroy(model);
}

/* A jump at a known time is no obstacle, also if the time is the parameter. */
static void test_known_jump(void **state) {
    static const char *const names[] = {"push", "t0"};
    char text[1024];
    (void)state;
    snprintf(text, sizeof text, "%sforces:\n  f: {type: drive, joint: z, force: \"if(t > t0, push, 0)\"}\n",
             drop_text);
    lw_model *model = text_model(text);
    lw_sensitivity *s = find(model, 0.6, 1e-11, NULL, 2, names);
    for (int i = 0; i < s->samples; i++) {
        const double since = fmax(0, s->t[i] - 0.2);
        assert_true(fabs(derivative(s, i, 0, "z.q") - since * since / 2) < 1e-10);
        assert_true(fabs(derivative(s, i, 0, "z.v") - since) < 1e-9);
        if (fabs(s->t[i] - 0.2) < 1e-3) continue; /* The jump is spread over four steps of differences. */
        assert_true(fabs(derivative(s, i, 1, "z.q") + 5 * since) < 1e-5);
        assert_true(fabs(derivative(s, i, 1, "z.v") + (since > 0 ? 5 : 0)) < 1e-5);
    }
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

/* Nor is one where the state decides: a fall that is braked below an edge. */
static void test_jump_of_the_state(void **state) {
    static const char *const names[] = {"h", "edge"};
    char text[1024];
    (void)state;
    snprintf(text, sizeof text, "%sforces:\n  f: {type: drive, joint: z, force: \"if(z.q < edge, 20, 0)\"}\n",
             drop_text);
    lw_model *model = text_model(text);
    lw_sensitivity *s = find(model, 0.6, 1e-11, NULL, 2, names);
    const double t1 = sqrt(2 * 0.5 / 9.81), by = 1 / (9.81 * t1);
    for (int i = 0; i < s->samples; i++) {
        const double since = s->t[i] - t1;
        if (fabs(since) < 1e-3) continue; /* Runs with other values switch before and after. */
        assert_true(fabs(derivative(s, i, 0, "z.q") - 1 + (since > 0 ? 20 * since * by : 0)) < 1e-6);
        assert_true(fabs(derivative(s, i, 0, "z.v") + (since > 0 ? 20 * by : 0)) < 1e-6);
        assert_true(fabs(derivative(s, i, 1, "z.q") - (since > 0 ? 20 * since * by : 0)) < 1e-4);
    }
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
    /* A stop with damping: the force begins with a jump. */
    static const char *const stop[] = {"m", "k", "c"};
    model =
        text_model("linkwork: 1\nname: flap\nparameters: {m: 2, k: 200, c: 1}\n"
                   "bodies: {a: {mass: m, com: [0.2, 0, 0], inertia: [0.1, 0.1, 0.1]}}\n"
                   "joints: {w: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 1, 0], "
                   "limits: [-1, 0.5], stop: {stiffness: k, damping: c}}}\nrun: {end: 1}\n");
    s = find(model, 1, 1e-10, NULL, 3, stop);
    assert_true(s->disagreement < 1e-4);
    assert_true(fabs(derivative(s, 40, 2, "w.q")) > 0.1);
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

/* A four-bar whose lengths all grow by s: at rest in the same angles its accelerations are those under gravity
 * g/s, its reactions those of the same weights. */
static const char scaled[] =
    "linkwork: 1\nname: scaled\nparameters: {s: 1.3, m: 2}\nbodies:\n"
    "  crank: {kind: point, mass: m, com: [0, 0, 0.6*s]}\n"
    "  coupler: {mass: m, com: [s, 0, s], inertia: [0.1*s^2, 0.2*s^2, 0.1*s^2]}\n"
    "  rocker: {kind: point, mass: 1, com: [2*s, 0, 0.5*s]}\n"
    "joints:\n  A: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  B: {type: revolute, between: [crank, coupler], point: [0, 0, s], axis: [0, 1, 0]}\n"
    "  C: {type: spherical, between: [coupler, rocker], point: [2*s, 0, 1.2*s]}\n"
    "  D: {type: revolute, between: [ground, rocker], point: [2.2*s, 0, 0], axis: [0, 1, 0]}\nrun: {end: "
    "1}\n";

static void test_single_states(void **state) {
    enum { ROOM = 24 };
    lw_error error = {0};
    lw_parameter_changes *changes;
    lw_solver *solver;
    lw_solver_options options;
    double q[ROOM], v[ROOM] = {0}, vdot[ROOM], reactions[ROOM], dq[ROOM], da[ROOM], dr[ROOM];
    bool unique[ROOM];
    (void)state;
    lw_model *model = text_model(scaled);
    const int nv = lw_model_v_size(model), joints = lw_model_joint_count(model);
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
    lw_solver_defaults(model, &options);
    assert_int_equal(lw_solver_create(model, &options, NULL, &solver, &error), LW_OK);
    assert_int_equal(lw_solver_accelerations(solver, 0, q, v, NULL, vdot, &error), LW_OK);
    assert_int_equal(lw_solver_reactions(solver, reactions, unique, &error), LW_OK);
    assert_int_equal(lw_parameter_changes_create(model, NULL, "s", &changes, &error), LW_OK);
    const lw_parameter_derivatives out = {.dq = dq, .dvdot = da, .dreactions = dr};
    assert_int_equal(lw_parameter_changes_of_state(changes, 0, q, v, &out, &error), LW_OK);
    for (int k = 0; k < nv; k++) {
        assert_true(fabs(dq[k]) < 1e-10);
        assert_true(fabs(da[k] + vdot[k] / 1.3) < 1e-9 * 9.81);
    }
    for (int k = 0; k < 6 * joints; k++) {
        if (!unique[k]) assert_true(isnan(dr[k]));
        /* Forces stay, torques grow with s. */
        if (unique[k]) assert_true(fabs(dr[k] - (k % 6 < 3 ? 0 : reactions[k] / 1.3)) < 1e-7);
    }
    lw_parameter_changes_destroy(changes);
    /* A mass moves nothing. */
    assert_int_equal(lw_parameter_changes_create(model, NULL, "m", &changes, &error), LW_OK);
    assert_int_equal(lw_parameter_changes_of_state(changes, 0, q, v, &out, &error), LW_OK);
    for (int k = 0; k < nv; k++) assert_true(dq[k] == 0);
    lw_parameter_changes_destroy(changes);
    assert_int_equal(lw_parameter_changes_create(model, NULL, "n", &changes, &error), LW_ERROR_ARGUMENT);
    assert_null(changes);
    lw_solver_destroy(solver);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mass_on_a_spring),
        cmocka_unit_test(test_stiff_mass_on_a_base),
        cmocka_unit_test(test_problems_by_differences),
        cmocka_unit_test(test_known_jump),
        cmocka_unit_test(test_single_states),
        cmocka_unit_test(test_jump_of_the_state),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_simulation_parameters.c - parameters that change while the mechanism moves.
 *
 * A simulation with a changed parameter goes on as one of the model that was compiled with the new value; what does not enter forces
 * only is refused; results do not depend on the order of changes; snapshots and resetting bring the old values back.
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
#include <stdlib.h>
#include <string.h>

enum { MAX = 64 };

/* A four-bar and a pendulum with everything that a force may take from a parameter; `double_k` follows k, `soft` follows both. */
static const char mechanism[] =
    "linkwork: 1\nname: tuned\n"
    "parameters: {k: 40, double_k: 2*k, soft: double_k/10, c: 0.3, g: 9.81, m: 1, L: 0.5, w: 3, unused: 1, "
    "start: 0.4}\n"
    "gravity: [0, 0, -g]\n"
    "bodies:\n"
    "  crank: {mass: m, com: [0, 0, 0.15], inertia: [0.01, 0.01, 0.001]}\n"
    "  coupler: {mass: 1.5, com: [0.3, 0, 0.4], inertia: [0.01, 0.05, 0.05]}\n"
    "  rocker: {mass: 1.2, com: [0.65, 0, 0.25], inertia: [0.05, 0.05, 0.002]}\n"
    "  bob: {mass: 0.8, com: [2, 0, -L], inertia: [0.01, 0.01, 0.01]}\n"
    "  sled: {mass: 1, inertia: [1, 1, 1]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0], v: 2}\n"
    "  B: {type: revolute, between: [crank, coupler], point: [0, 0, 0.3], axis: [0, 1, 0]}\n"
    "  C: {type: revolute, between: [coupler, rocker], point: [0.6, 0, 0.5], axis: [0, 1, 0]}\n"
    "  D: {type: revolute, between: [ground, rocker], point: [0.7, 0, 0], axis: [0, 1, 0]}\n"
    "  pin: {type: revolute, between: [ground, bob], point: [2, 0, 0], axis: [0, 1, 0], q: start}\n"
    "  slide: {type: prismatic, between: [ground, sled], axis: [1, 0, 0], motion: 0.1*sin(w*t)}\n"
    "forces:\n"
    "  spring: {type: spring, between: [ground, rocker], points: [[1, 0, 0.4], [0.65, 0, 0.3]], stiffness: "
    "double_k, damping: c}\n"
    "  twist: {type: torsion, joint: pin, table: {x: [-2, 0, 2], torque: [-k, 0, soft]}}\n"
    "  motor: {type: drive, joint: A, torque: soft*sin(t) - c*v}\n";

static lw_model *compile_with(const char *name, double value) {
    lw_spec *spec = read_text_spec(mechanism);
    lw_error error = {0};
    if (name && lw_spec_set_parameter(spec, name, value, &error) != LW_OK) fail_msg("%s", error.message);
    return compile_or_fail(spec);
}

static lw_simulation *create(const lw_model *model, const char *method, const char *integrator) {
    lw_run_options options;
    lw_simulation *simulation;
    lw_error error = {0};
    lw_run_defaults(model, &options);
    options.method = method, options.integrator = integrator;
    options.step = strcmp(integrator, "rk4") == 0 || strcmp(integrator, "energy-momentum") == 0 ? 1e-3 : 0;
    options.tolerance = strcmp(integrator, "rk4") == 0 ? 0 : 1e-9;
    if (lw_simulation_create(model, &options, NULL, &simulation, &error) != LW_OK)
        fail_msg("%s, %s: %s", method, integrator, error.message);
    return simulation;
}

static void advance(lw_simulation *simulation, double t) {
    lw_error error = {0};
    if (lw_simulation_advance(simulation, t, &error) != LW_OK) fail_msg("t = %g: %s", t, error.message);
}

static void set(lw_simulation *simulation, const char *name, double value) {
    lw_error error = {0};
    int parameter = lw_model_parameter(lw_simulation_model(simulation), name);
    if (lw_simulation_set_parameter(simulation, parameter, value, &error) != LW_OK)
        fail_msg("%s = %g: %s", name, value, error.message);
    assert_true(lw_simulation_parameter(simulation, parameter) == value);
}

static void must_agree(const lw_simulation *a, const lw_simulation *b, double tolerance, const char *what) {
    double first[2][MAX] = {{0}}, second[2][MAX] = {{0}};
    assert_int_equal(lw_simulation_state(a, first[0], first[1]), LW_OK);
    assert_int_equal(lw_simulation_state(b, second[0], second[1]), LW_OK);
    for (int k = 0; k < MAX; k++)
        for (int s = 0; s < 2; s++)
            if (!(fabs(first[s][k] - second[s][k]) <= tolerance))
                fail_msg("%s: %s[%d] is %.17g and %.17g", what, s ? "v" : "q", k, first[s][k], second[s][k]);
}

static void goes_on_as_the_other_model(void **state) {
    (void)state;
    static const char *const ways[][2] = {{"rcr", "rk4"},      {"rcr", "erk"},
                                          {"cut", "adams"},    {"lagrange", "bdf"},
                                          {"massless", "erk"}, {"director", "energy-momentum"},
                                          {"partition", "erk"}};
    static const struct {
        const char *name;
        double value;
    } changes[] = {{"k", 70}, {"double_k", 30}, {"soft", 20}, {"c", 2}, {"c", 0}, {"g", 3}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
            lw_model *base = compile_with(NULL, 0), *other = compile_with(changes[c].name, changes[c].value);
            lw_simulation *tuned = create(base, ways[w][0], ways[w][1]),
                          *fresh = create(other, ways[w][0], ways[w][1]);
            double q[MAX], v[MAX];
            lw_ledger ledger;
            advance(tuned, 0.2);
            assert_int_equal(lw_simulation_state(tuned, q, v), LW_OK);
            assert_int_equal(lw_simulation_set_state(fresh, 0.2, q, v, NULL), LW_OK);
            set(tuned, changes[c].name, changes[c].value);
            must_agree(tuned, fresh, 1e-12, "at the change");
            advance(tuned, 0.5);
            advance(fresh, 0.5);
            must_agree(tuned, fresh, 1e-6,
                       ways[w][0]); /* a hundred times what the tolerance makes of speeds of 10 */
            assert_int_equal(lw_simulation_ledger(tuned, &ledger), LW_OK);
            if (!(fabs(ledger.unaccounted) < 1e-4))
                fail_msg("%s: %g J are not accounted for", ways[w][0], ledger.unaccounted);
            lw_simulation_destroy(tuned);
            lw_simulation_destroy(fresh);
            lw_model_destroy(base);
            lw_model_destroy(other);
        }
}

/* The effect is there: with another stiffness the motion is another. */
static void the_motion_changes(void **state) {
    (void)state;
    lw_model *model = compile_with(NULL, 0);
    lw_simulation *a = create(model, "rcr", "erk"), *b = create(model, "rcr", "erk");
    double first[MAX], second[MAX];
    set(b, "k", 400);
    advance(a, 0.3), advance(b, 0.3);
    lw_simulation_state(a, first, NULL), lw_simulation_state(b, second, NULL);
    assert_true(fabs(first[0] - second[0]) > 1e-3);
    lw_simulation_destroy(a);
    lw_simulation_destroy(b);
    lw_model_destroy(model);
}

/* In the callback of an event, as by hand at the same instant. */
static double until(double t, const double *q, const double *v, void *context) {
    (void)q, (void)v, (void)context;
    return t - 0.21;
}
static bool stiffen(lw_simulation *simulation, int event, void *context) {
    (void)event, (void)context;
    set(simulation, "k", 90);
    return true;
}
static void events_may_change_them(void **state) {
    (void)state;
    lw_model *model = compile_with(NULL, 0);
    const lw_event_function events[] = {{until, 1}};
    lw_run_options options;
    lw_simulation *by_event, *by_hand = create(model, "rcr", "erk");
    lw_run_defaults(model, &options);
    options.method = "rcr", options.integrator = "erk", options.tolerance = 1e-9;
    options.events = events, options.event_count = 1, options.happened = stiffen;
    assert_int_equal(lw_simulation_create(model, &options, NULL, &by_event, NULL), LW_OK);
    advance(by_event, 0.4);
    advance(by_hand, 0.21);
    set(by_hand, "k", 90);
    advance(by_hand, 0.4);
    assert_true(lw_simulation_parameter(by_event, lw_model_parameter(model, "double_k")) == 180);
    must_agree(by_event, by_hand, 1e-7, "event");
    lw_simulation_destroy(by_event);
    lw_simulation_destroy(by_hand);
    lw_model_destroy(model);
}

static void order_does_not_matter(void **state) {
    (void)state;
    lw_model *model = compile_with(NULL, 0);
    lw_simulation *a = create(model, "rcr", "erk"), *b = create(model, "rcr", "erk");
    advance(a, 0.1), advance(b, 0.1);
    set(a, "c", 1), set(a, "g", 2), set(a, "k", 55);
    set(b, "k", 20), set(b, "g", 2), set(b, "k", 55), set(b, "c", 1);
    assert_true(lw_simulation_parameter(b, lw_model_parameter(model, "double_k")) == 110);
    advance(a, 0.4), advance(b, 0.4);
    must_agree(a, b, 0, "order");
    lw_simulation_destroy(a);
    lw_simulation_destroy(b);
    lw_model_destroy(model);
}

static void snapshots_hold_parameters(void **state) {
    (void)state;
    static const char *const ways[][2] = {{"rcr", "rk4"}, {"rcr", "erk"}, {"lagrange", "bdf"}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        lw_model *model = compile_with(NULL, 0);
        lw_simulation *a = create(model, ways[w][0], ways[w][1]), *b = create(model, ways[w][0], ways[w][1]);
        lw_error error = {0};
        advance(a, 0.1);
        set(a, "k", 90);
        advance(a, 0.15);
        size_t size = lw_simulation_snapshot_size(a);
        void *snapshot = malloc(size);
        assert_int_equal(lw_simulation_save(a, snapshot, size), LW_OK);
        advance(a, 0.3);
        set(b, "c", 5);
        advance(b, 0.05);
        if (lw_simulation_restore(b, snapshot, size, &error) != LW_OK) fail_msg("%s", error.message);
        assert_true(lw_simulation_parameter(b, lw_model_parameter(model, "k")) == 90);
        assert_true(lw_simulation_parameter(b, lw_model_parameter(model, "c")) == 0.3);
        advance(b, 0.3);
        must_agree(a, b, 0, "restored");
        /* Back to the beginning, parameters included. */
        lw_simulation *fresh = create(model, ways[w][0], ways[w][1]);
        assert_int_equal(lw_simulation_reset(a, NULL), LW_OK);
        assert_true(lw_simulation_parameter(a, lw_model_parameter(model, "k")) == 40 &&
                    lw_simulation_model(a) == model);
        advance(a, 0.2), advance(fresh, 0.2);
        must_agree(a, fresh, 0, "reset");
        free(snapshot);
        lw_simulation_destroy(a);
        lw_simulation_destroy(b);
        lw_simulation_destroy(fresh);
        lw_model_destroy(model);
    }
}

static void others_are_refused(void **state) {
    (void)state;
    static const char *const refused[][2] = {
        {"m", "body \"crank\""}, {"L", "body \"bob\""}, {"w", "joint \"slide\""}, {"start", "joint \"pin\""}};
    lw_model *model = compile_with(NULL, 0);
    lw_simulation *simulation = create(model, "rcr", "erk");
    lw_error error;
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        int parameter = lw_model_parameter(model, refused[k][0]);
        memset(&error, 0, sizeof error);
        assert_int_equal(lw_simulation_set_parameter(simulation, parameter, 2, &error), LW_ERROR_UNSUPPORTED);
        assert_string_equal(error.object, refused[k][1]);
        assert_non_null(strstr(error.message, refused[k][0]));
    }
    assert_int_equal(lw_simulation_set_parameter(simulation, 0, NAN, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_set_parameter(simulation, -1, 1, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_set_parameter(simulation, 99, 1, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_set_parameter(NULL, 0, 1, NULL), LW_ERROR_ARGUMENT);
    assert_true(isnan(lw_simulation_parameter(simulation, 99)) && isnan(lw_simulation_parameter(NULL, 0)));
    /* A value with which the model is wrong leaves the simulation as it is. */
    lw_simulation *other = create(model, "rcr", "erk");
    lw_error told = {0};
    (void)lw_simulation_set_parameter(simulation, lw_model_parameter(model, "k"), 1e308, &told);
    set(simulation, "k", 40);
    set(simulation, "unused", 7);
    advance(simulation, 0.2), advance(other, 0.2);
    must_agree(simulation, other, 1e-9, "after a refusal");
    lw_simulation_destroy(simulation);
    lw_simulation_destroy(other);
    lw_model_destroy(model);
}

/* A snapshot does not fit a model that differs in a stiffness only. */
static void another_stiffness_is_another_model(void **state) {
    (void)state;
    lw_model *a = compile_with(NULL, 0), *b = compile_with("k", 41);
    lw_simulation *first = create(a, "rcr", "erk"), *second = create(b, "rcr", "erk");
    size_t size = lw_simulation_snapshot_size(first);
    void *snapshot = malloc(size);
    assert_int_equal(lw_simulation_save(first, snapshot, size), LW_OK);
    assert_int_equal(lw_simulation_restore(second, snapshot, size, NULL), LW_ERROR_ARGUMENT);
    free(snapshot);
    lw_simulation_destroy(first);
    lw_simulation_destroy(second);
    lw_model_destroy(a);
    lw_model_destroy(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_as_the_other_model),
        cmocka_unit_test(the_motion_changes),
        cmocka_unit_test(events_may_change_them),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(snapshots_hold_parameters),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(another_stiffness_is_another_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

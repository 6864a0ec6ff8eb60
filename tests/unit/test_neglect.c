/* test_neglect.c - small inertia: what is found, how it is scaled, what the error of neglecting it is, where it makes a run stiff.
 */
#include "build.h"
#include "problems.h"

#include <linkwork/neglect.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lw_spec *oscillators(const char *m1, const char *d) {
    const lw_setting settings[] = {{"m1", m1}, {"d", d}};
    return read_problem_spec("two_oscillators", settings, d ? 2 : 1);
}

static lw_neglect *find(lw_spec *spec, double ratio) {
    lw_neglect *neglect;
    lw_error error = {0};
    lw_status status = lw_neglect_create(spec, ratio, &neglect, &error);
    if (status != LW_OK) fail_msg("%s", error.message);
    return neglect;
}

/* --- what is neglected ------------------------------------------------------------------------------ */

static void test_mass(void **state) {
    (void)state;
    lw_spec *spec = oscillators("3e-5", NULL);
    lw_neglect *none = find(spec, 2e-5), *one = find(spec, 4e-5);
    assert_int_equal(lw_neglect_count(none), 0);
    assert_true(lw_neglect_largest(none) == 0);
    assert_int_equal(lw_neglect_count(one), 1);
    const lw_neglected *n = lw_neglect_at(one, 0);
    assert_string_equal(n->body, "light");
    assert_true(n->mass == 3e-5 && n->inertia == 0 && !n->kept);
    assert_true(fabs(n->mass_ratio - 3e-5) < 1e-15); /* of 1 kg, rounding */
    assert_true(lw_neglect_largest(one) == n->mass_ratio);
    lw_neglect_scale(one, 0);
    assert_true(lw_spec_body(spec, 0)->mass == 0 && lw_spec_body(spec, 1)->mass == 1);
    lw_neglect_scale(one, 100);
    assert_true(fabs(lw_spec_body(spec, 0)->mass - 3e-3) < 1e-17);
    lw_neglect_scale(one, 1);
    assert_true(lw_spec_body(spec, 0)->mass == 3e-5); /* exactly */
    lw_neglect_destroy(none);
    lw_neglect_destroy(one);
    lw_spec_destroy(spec);
}

static void test_ratio_is_checked(void **state) {
    (void)state;
    const double ratios[] = {0, -1, 1, 2, NAN, INFINITY};
    lw_spec *spec = oscillators("1e-5", NULL);
    for (size_t k = 0; k < sizeof ratios / sizeof *ratios; k++) {
        lw_neglect *neglect;
        lw_error error = {0};
        assert_int_equal(lw_neglect_create(spec, ratios[k], &neglect, &error), LW_ERROR_ARGUMENT);
        assert_null(neglect);
        assert_non_null(strstr(error.message, "between 0 and 1"));
    }
    lw_spec_destroy(spec);
}

/* Mechanisms that have nothing to do with each other are not measured against each other, also not through ground. */
static void test_sets(void **state) {
    (void)state;
    lw_spec *spec = read_text_spec(
        "linkwork: 1\n"
        "bodies:\n"
        "  crane: {kind: point, mass: 1000}\n"
        "  balance: {kind: point, mass: 1e-3}\n"
        "  hair: {kind: point, mass: 2e-6}\n"
        "  hook: {kind: point, mass: 3}\n"
        "joints:\n"
        "  a: {type: prismatic, between: [ground, crane], axis: [1, 0, 0]}\n"
        "  b: {type: prismatic, between: [ground, balance], axis: [1, 0, 0]}\n"
        "  c: {type: prismatic, between: [ground, hair], axis: [1, 0, 0]}\n"
        "  d: {type: prismatic, between: [ground, hook], axis: [1, 0, 0]}\n"
        "forces:\n"
        "  spring: {type: spring, between: [balance, hair], first: [0, 0, 1], second: [0, 0, 0], "
        "stiffness: 1, damping: 1}\n"
        "constraints:\n"
        "  gear: {type: coupling, terms: [{joint: a}, {joint: d, factor: 2}]}\n");
    lw_neglect *neglect = find(spec, 1e-2);
    assert_int_equal(lw_neglect_count(neglect), 2);
    assert_string_equal(lw_neglect_at(neglect, 0)->body, "hair");
    assert_true(fabs(lw_neglect_at(neglect, 0)->mass_ratio - 2e-3) < 1e-15);
    assert_string_equal(lw_neglect_at(neglect, 1)->body, "hook");
    assert_true(fabs(lw_neglect_at(neglect, 1)->mass_ratio - 3e-3) < 1e-15);
    lw_neglect_destroy(neglect);
    lw_spec_destroy(spec);
}

/* A slender bar that lies askew keeps its moments across and loses the one along. A light block loses all. */
static void test_inertia(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("bar");
    const double u[3] = {2.0 / 3, -1.0 / 3, 2.0 / 3}, along = 1e-5, across = 0.5;
    lw_body_spec bar = {.name = "bar", .mass = 3}, block = {.name = "block", .mass = 1e-4};
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++)
        bar.inertia[k] = across * (k < 3) + (along - across) * u[row[k]] * u[column[k]];
    block.inertia[0] = block.inertia[1] = 1e-7, block.inertia[2] = 1.5e-7;
    add_body(spec, bar);
    add_body(spec, block);
    const double point[3] = {0}, axis[3] = {0, 0, 1};
    add_plain_joint(spec, "pin", LW_JOINT_REVOLUTE, "ground", "bar", point, axis);
    add_plain_joint(spec, "slide", LW_JOINT_PRISMATIC, "bar", "block", point, axis);
    add_force(spec,
              (lw_force_spec){
                  .name = "hold", .type = LW_FORCE_TORSION, .joint = "slide", .stiffness = 1, .damping = 1});
    lw_neglect *neglect = find(spec, 1e-3);
    assert_int_equal(lw_neglect_count(neglect), 2);
    const lw_neglected *n = lw_neglect_at(neglect, 0);
    assert_true(n->mass == 0 && fabs(n->inertia - along) < 1e-13 && !n->kept); /* an eigenvalue beside 0.5 */
    n = lw_neglect_at(neglect, 1);
    assert_true(n->mass == 1e-4 && fabs(n->inertia - 1.5e-7) < 1e-20);
    lw_neglect_scale(neglect, 0);
    const double *I = lw_spec_body(spec, 0)->inertia;
    for (int k = 0; k < 6; k++) {
        double rod = across * ((k < 3) - u[row[k]] * u[column[k]]);
        assert_true(fabs(I[k] - rod) < 1e-10); /* the axis comes from rows with rounding, eps / 0.5 */
        assert_true(lw_spec_body(spec, 1)->inertia[k] == 0);
    }
    assert_true(lw_spec_body(spec, 0)->mass == 3 && lw_spec_body(spec, 1)->mass == 0);
    /* what is scaled is a body, whatever the factor */
    const double factors[] = {0, 0.5, 2, 1e3, 1e4};
    for (size_t k = 0; k < sizeof factors / sizeof *factors; k++) {
        lw_model *model;
        lw_neglect_scale(neglect, factors[k]);
        assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
        lw_model_destroy(model);
    }
    lw_neglect_scale(neglect, 1);
    assert_memory_equal(lw_spec_body(spec, 0)->inertia, bar.inertia, sizeof bar.inertia);
    lw_neglect_destroy(neglect);
    lw_spec_destroy(spec);
}

/* Without its mass nothing would determine how this body slides; the other has a damper. */
static void test_kept(void **state) {
    (void)state;
    lw_spec *spec = read_text_spec("linkwork: 1\n"
                                   "bodies:\n"
                                   "  cart: {kind: point, mass: 1}\n"
                                   "  loose: {kind: point, mass: 1e-4}\n"
                                   "  damped: {kind: point, mass: 1e-4}\n"
                                   "joints:\n"
                                   "  a: {type: prismatic, between: [ground, cart], axis: [1, 0, 0]}\n"
                                   "  b: {type: prismatic, between: [cart, loose], axis: [1, 0, 0]}\n"
                                   "  c: {type: prismatic, between: [cart, damped], axis: [1, 0, 0]}\n"
                                   "forces:\n"
                                   "  rub: {type: friction, joint: c, viscous: 2}\n");
    lw_neglect *neglect = find(spec, 1e-2);
    assert_int_equal(lw_neglect_count(neglect), 2);
    assert_string_equal(lw_neglect_at(neglect, 0)->body, "loose");
    assert_true(lw_neglect_at(neglect, 0)->kept && !lw_neglect_at(neglect, 1)->kept);
    lw_neglect_scale(neglect, 0);
    assert_true(lw_spec_body(spec, 1)->mass == 1e-4 && lw_spec_body(spec, 2)->mass == 0);
    lw_neglect_destroy(neglect);
    lw_spec_destroy(spec);
}

/* Without its mass the knot would be held by springs alone, in a balance that it leaves: it stays. */
static void test_unstable(void **state) {
    (void)state;
    static const struct {
        const char *law;
        lw_kept kept;
    } cases[] = {{"-200*x", LW_KEPT_BALANCES}, {"200*x", LW_KEPT_NOT}};
    for (int k = 0; k < 2; k++) {
        char text[800];
        snprintf(text, sizeof text,
                 "linkwork: 1\n"
                 "bodies:\n"
                 "  knot: {kind: point, mass: 1e-5}\n"
                 "  bob: {kind: point, mass: 1}\n"
                 "joints:\n"
                 "  first: {type: prismatic, between: [ground, knot], axis: [1, 0, 0], q: 0.1}\n"
                 "  second: {type: prismatic, between: [knot, bob], axis: [1, 0, 0], q: 0.2}\n"
                 "forces:\n"
                 "  push: {type: torsion, joint: first, law: %s}\n"
                 "  pull: {type: torsion, joint: second, stiffness: 100}\n",
                 cases[k].law);
        lw_spec *spec = read_text_spec(text);
        lw_neglect *neglect = find(spec, 1e-3);
        assert_int_equal(lw_neglect_count(neglect), 1);
        assert_string_equal(lw_neglect_at(neglect, 0)->body, "knot");
        assert_int_equal(lw_neglect_at(neglect, 0)->mass_kept, cases[k].kept);
        lw_neglect_destroy(neglect);
        lw_spec_destroy(spec);
    }
}

/* --- the error made by it ---------------------------------------------------------------------------- */

typedef struct record {
    double q[2 * 102];
    int rows;
} record;

static bool keep(const lw_sample *sample, void *context) {
    record *r = context;
    if (r->rows < 102) memcpy(r->q + 2 * r->rows++, sample->q, 2 * sizeof(double));
    return true;
}

static record run(lw_spec *spec, const char *method) {
    record r = {.rows = 0};
    lw_model *model;
    lw_error error = {0};
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    const lw_run_options options = {.method = method,
                                    .integrator = "bdf",
                                    .end = 1,
                                    .tolerance = 1e-11,
                                    .output = 0.01,
                                    .observe = keep,
                                    .context = &r};
    lw_status status = lw_simulate(model, &options, NULL, NULL, NULL, &error);
    if (status != LW_OK) fail_msg("%s", error.message);
    lw_model_destroy(model);
    return r;
}

/* The estimate against the difference of both runs. Within a factor of two is what a decision needs. */
static void test_estimate(void **state) {
    (void)state;
    static const char *const masses[] = {"1e-2", "1e-3", "1e-5", "1e-7"};
    for (size_t k = 0; k < sizeof masses / sizeof *masses; k++) {
        lw_spec *spec = oscillators(masses[k], NULL);
        lw_neglect *neglect = find(spec, 0.1);
        lw_neglect_error e;
        lw_error error = {0};
        const lw_run_options options = {
            .method = "massless", .integrator = "bdf", .end = 1, .tolerance = 1e-8};
        record with = run(spec, "tree");
        lw_neglect_scale(neglect, 0);
        record without = run(spec, "massless");
        lw_neglect_scale(neglect, 1);
        double truth = 0;
        for (int i = 0; i < 2 * with.rows; i++) truth = fmax(truth, fabs(with.q[i] - without.q[i]));
        lw_status status = lw_neglect_estimate(neglect, &options, &e, &error);
        if (status != LW_OK) fail_msg("%s", error.message);
        print_message("m1 = %s: error %.3g, estimate %.3g, scale %g, order %.3f\n", masses[k], truth,
                      e.largest, e.scale, e.order);
        assert_true(e.trusted && e.resolved);
        assert_true(e.largest > truth / 2 && e.largest < 2 * truth);
        assert_true(e.largest == fmax(e.errors[0], e.errors[1]));
        assert_true(e.motions[0] > 0.01 && e.motions[1] > 0.01);
        assert_true(lw_spec_body(spec, 0)->mass == strtod(masses[k], NULL));
        lw_neglect_destroy(neglect);
        lw_spec_destroy(spec);
    }
}

/* Without damping the light mass swings forever at an amplitude that does not fall with its mass: the estimate says that it is not
 * to be trusted. */
static void test_undamped(void **state) {
    (void)state;
    lw_spec *spec = oscillators("1e-8", "0");
    lw_neglect *neglect = find(spec, 1e-3);
    lw_neglect_error e;
    lw_error error = {0};
    const lw_run_options options = {.method = "massless", .integrator = "bdf", .end = 1, .tolerance = 1e-6};
    lw_status status = lw_neglect_estimate(neglect, &options, &e, &error);
    if (status != LW_OK) fail_msg("%s", error.message);
    assert_false(e.trusted);
    lw_neglect_destroy(neglect);
    lw_spec_destroy(spec);
}

/* A slider-crank with a light coupler: without its mass the loop is closed elsewhere, in other coordinates. The state is the same, and
 * so is the error of the crank angle, which is a coordinate of both. */
typedef struct angle {
    int q, rows;
    double at[102];
} angle;

static bool keep_angle(const lw_sample *sample, void *context) {
    angle *a = context;
    if (a->rows < 102) a->at[a->rows++] = sample->q[a->q];
    return true;
}

static angle run_crank(const lw_model *model, const char *method, const double *q, const double *v) {
    angle a = {.q = lw_model_joint_info(model, lw_model_joint(model, "crank")).q};
    lw_error error = {0};
    const lw_run_options options = {.method = method,
                                    .integrator = "erk",
                                    .end = 1,
                                    .tolerance = 1e-10,
                                    .output = 0.01,
                                    .q = q,
                                    .v = v,
                                    .as_given = true,
                                    .observe = keep_angle,
                                    .context = &a};
    lw_status status = lw_simulate(model, &options, NULL, NULL, NULL, &error);
    if (status != LW_OK) fail_msg("%s", error.message);
    return a;
}

static void test_loop(void **state) {
    (void)state;
    lw_spec *spec = read_text_spec(
        "linkwork: 1\n"
        "bodies:\n"
        "  crank: {mass: 2, shape: rod, points: [[0, 0, 0], [0, 0, 0.3]], radius: 0.05}\n"
        "  coupler: {mass: 2e-3, shape: rod, points: [[0, 0, 0.3], [0.8, 0, 0.3]]}\n"
        "  slider: {mass: 1.5, inertia: [0.1, 0.1, 0.1], position: [0.8, 0, 0.3]}\n"
        "joints:\n"
        "  crank: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0], v: 8}\n"
        "  b: {type: revolute, between: [crank, coupler], point: [0, 0, 0.3], axis: [0, 1, 0]}\n"
        "  c: {type: revolute, between: [coupler, slider], point: [0.8, 0, 0.3], axis: [0, 1, 0], cut: "
        "true}\n"
        "  s: {type: prismatic, between: [ground, slider], axis: [1, 0, 0]}\n"
        "forces: {stop: {type: torsion, joint: s, stiffness: 40, damping: 2}}\n");
    lw_model *with, *without;
    lw_data *data[2];
    lw_error error = {0};
    double q[2][8], v[2][8];
    lw_neglect *neglect = find(spec, 5e-3);
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &with), LW_OK);
    lw_neglect_scale(neglect, 0);
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &without), LW_OK);
    lw_neglect_scale(neglect, 1);
    lw_model_initial_state(with, q[0], v[0]);
    assert_int_equal(lw_assemble(with, 0, q[0], v[0], NULL, &error), LW_OK);
    assert_int_equal(lw_neglect_state(with, without, 0, q[0], v[0], q[1], v[1], &error), LW_OK);
    assert_int_equal(lw_data_create(with, NULL, &data[0]), LW_OK);
    assert_int_equal(lw_data_create(without, NULL, &data[1]), LW_OK);
    static const char *const bodies[] = {"crank", "coupler", "slider"};
    for (int b = 0; b < 3; b++) {
        double position[2][3], rotation[2][9], angular[2][3], linear[2][3];
        const double origin[3] = {0};
        for (int k = 0; k < 2; k++) {
            const lw_model *model = k ? without : with;
            int body = lw_model_body(model, bodies[b]);
            lw_body_pose(model, data[k], 0, q[k], body, position[k], rotation[k]);
            lw_body_velocity(model, data[k], 0, q[k], v[k], body, origin, angular[k], linear[k]);
        }
        for (int k = 0; k < 3; k++) { /* assembled to 1e-10 and better */
            assert_true(fabs(position[0][k] - position[1][k]) < 1e-9);
            assert_true(fabs(angular[0][k] - angular[1][k]) < 1e-8);
            assert_true(fabs(linear[0][k] - linear[1][k]) < 1e-8);
        }
    }
    angle a = run_crank(with, "rcr", q[0], v[0]), b = run_crank(without, "massless", q[1], v[1]);
    double truth = 0;
    for (int k = 0; k < a.rows; k++) truth = fmax(truth, fabs(a.at[k] - b.at[k]));
    lw_neglect_error e;
    const lw_run_options options = {.method = "massless", .end = 1, .tolerance = 1e-8};
    lw_status status = lw_neglect_estimate(neglect, &options, &e, &error);
    if (status != LW_OK) fail_msg("%s", error.message);
    print_message("light coupler: error %.3g, estimate %.3g, scale %g, order %.3f\n", truth, e.errors[0],
                  e.scale, e.order);
    assert_true(e.trusted && e.errors[0] > truth / 2 && e.errors[0] < 2 * truth);
    for (int k = 0; k < 2; k++) lw_data_destroy(data[k]);
    lw_model_destroy(with);
    lw_model_destroy(without);
    lw_neglect_destroy(neglect);
    lw_spec_destroy(spec);
}

/* --- where small inertia makes a run stiff ------------------------------------------------------------ */

static void test_stiff(void **state) {
    (void)state;
    static const struct {
        const char *m1, *d;
        int count;
        bool oscillates;
        double rate;
    } cases[] = {
        {"0.5", "20", 0, false, 0},
        {"0", "20", 0, false, 0},
        {"1e-4", "20", 1, false, 40e4}, /* 2 d / m1 */
        {"1e-6", "0", 1, true, 44721},  /* sqrt(2 c / m1) */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        lw_spec *spec = oscillators(cases[k].m1, cases[k].d);
        lw_stiff_body stiff[4];
        int count;
        lw_error error = {0};
        assert_int_equal(lw_stiff_bodies(spec, stiff, 4, &count, &error), LW_OK);
        assert_int_equal(count, cases[k].count);
        assert_true(lw_spec_body(spec, 0)->mass == strtod(cases[k].m1, NULL));
        lw_spec_destroy(spec);
        if (count == 0) continue;
        assert_int_equal(stiff[0].oscillates, cases[k].oscillates);
        assert_true(fabs(stiff[0].rate / cases[k].rate - 1) < 0.01); /* differences, and m1/m2 beside 1 */
        /* the rest: two masses of 1 kg between springs of 1000 N/m, sqrt of (3 + sqrt 5)/2 c/m, or the same of d/m */
        double rest = cases[k].oscillates ? sqrt((3 + sqrt(5)) / 2 * 1000) : (3 + sqrt(5)) / 2 * 20;
        assert_true(fabs(stiff[0].rest / rest - 1) < 0.05); /* a power iteration of 24 rounds */
    }
}

/* The bodies of a large model are named one after the other, those of equal kind together; a rod that spins about itself is
 * light in inertia only. */
static void test_stiff_several(void **state) {
    (void)state;
    lw_spec *spec = read_text_spec(
        "linkwork: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  block: {mass: 10, inertia: [1, 1, 1]}\n"
        "  pin{i}: {repeat: {i: 1..3}, kind: point, mass: 1e-3}\n"
        "  tiny: {kind: point, mass: 1e-5}\n"
        "  spindle: {mass: 5, inertia: [0.5, 0.5, 1e-6]}\n"
        "joints:\n"
        "  block: {type: free, between: [ground, block], point: [0, 0, 0]}\n"
        "  pin{i}: {repeat: {i: 1..3}, type: prismatic, between: [block, \"pin{i}\"], axis: [1, 0, 0]}\n"
        "  tiny: {type: prismatic, between: [block, tiny], axis: [0, 1, 0]}\n"
        "  spindle: {type: revolute, between: [block, spindle], point: [0, 0, 0], axis: [0, 0, 1]}\n"
        "forces:\n"
        "  pin{i}: {repeat: {i: 1..3}, type: torsion, joint: \"pin{i}\", stiffness: 1e4}\n"
        "  tiny: {type: torsion, joint: tiny, stiffness: 1e4}\n"
        "  spindle: {type: torsion, joint: spindle, stiffness: 100}\n");
    lw_stiff_body stiff[16];
    int count;
    lw_error error = {0};
    assert_int_equal(lw_stiff_bodies(spec, stiff, 16, &count, &error), LW_OK);
    assert_int_equal(count, 5);
    assert_string_equal(stiff[0].body, "tiny"); /* sqrt(1e4/1e-5) = 31623 */
    assert_true(stiff[0].rate > 31000 && stiff[0].rate < 32000);
    assert_string_equal(stiff[1].body, "spindle"); /* sqrt(100/1e-6) = 10000 */
    assert_true(stiff[1].rate > 9900 && stiff[1].rate < 10100 && fabs(stiff[1].ratio - 1e-6) < 1e-12);
    for (int k = 2; k <= 4; k++) { /* sqrt(1e4/1e-3) = 3162 */
        assert_int_equal(strncmp(stiff[k].body, "pin", 3), 0);
        assert_true(stiff[k].rate > 3100 && stiff[k].rate < 3200);
    }
    lw_spec_destroy(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mass),          cmocka_unit_test(test_ratio_is_checked),
        cmocka_unit_test(test_sets),          cmocka_unit_test(test_inertia),
        cmocka_unit_test(test_kept),          cmocka_unit_test(test_unstable),
        cmocka_unit_test(test_estimate),      cmocka_unit_test(test_undamped),
        cmocka_unit_test(test_loop),          cmocka_unit_test(test_stiff),
        cmocka_unit_test(test_stiff_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

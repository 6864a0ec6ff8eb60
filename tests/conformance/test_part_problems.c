/* test_part_problems.c - problems with parts against their references: the V8 crank train and the car.
 *
 * The crankshaft of the V8 follows reference.csv, one equation for its angle, by three methods; each piston
 * is where the slider-crank's formula has it. The car is compared with the same car without parts, written
 * out below with signs in place of mirrors; its left and right stay images of each other; at rest its tyres
 * carry its weight as the lever rule says.
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
#include <string.h>

static lw_simulation *begin(const lw_model *model, const char *method) {
    lw_run_options options;
    lw_error error = {0};
    lw_simulation *s = NULL;
    lw_run_defaults(model, &options);
    options.method = method;
    if (lw_simulation_create(model, &options, NULL, &s, &error) != LW_OK) fail_msg("%s", error.message);
    return s;
}

static void advance(lw_simulation *s, double t) {
    lw_error error = {0};
    if (t > lw_simulation_time(s) && lw_simulation_advance(s, t, &error) != LW_OK)
        fail_msg("t = %g: %s", t, error.message);
}

static double output(lw_simulation *s, const char *name) {
    double value = NAN;
    const int index = lw_model_output(lw_simulation_model(s), name);
    if (index < 0) fail_msg("there is no output %s", name);
    assert_int_equal(lw_simulation_output(s, index, &value), LW_OK);
    return value;
}

static void joint_state(lw_simulation *s, const char *joint, double *q, double *v) {
    static double all_q[400], all_v[400];
    const lw_model *model = lw_simulation_model(s);
    const lw_joint_info info = lw_model_joint_info(model, lw_model_joint(model, joint));
    assert_true(lw_model_q_size(model) <= 400);
    assert_int_equal(lw_simulation_state(s, all_q, all_v), LW_OK);
    memcpy(q, all_q + info.q, (size_t)info.q_count * sizeof *q);
    memcpy(v, all_v + info.v, (size_t)info.v_count * sizeof *v);
}

/* --- the V8 --------------------------------------------------------------------------------------- */

/* The tolerance of the run is 1e-10; some sixty steps of a motion without sensitivity add it up. The rate is
 * six hundred times as large as the angle. */
static void v8_follows(void **state) {
    (void)state;
    static const char *const methods[] = {"rcr", "cut", "partition"};
    static reference_table reference;
    read_reference("v8/reference.csv", &reference);
    lw_model *model = read_problem("v8");
    assert_int_equal(lw_model_loop_count(model), 8);
    for (int m = 0; m < 3; m++) {
        lw_simulation *s = begin(model, methods[m]);
        for (int row = 0; row < reference.rows; row++) {
            double q, v;
            advance(s, reference.at[row][0]);
            joint_state(s, "main", &q, &v);
            if (!(fabs(q - reference.at[row][1]) < 1e-8 && fabs(v - reference.at[row][2]) < 1e-6))
                fail_msg("%s, t = %g: angle %.12g, rate %.12g", methods[m], reference.at[row][0], q, v);
            for (int i = 1; i <= 8; i++) {
                static const double pins[] = {0, 90, 270, 180};
                const double degree = acos(-1) / 180, r = 0.044, l = 0.15;
                const double phi = q + (pins[(i - 1) / 2] - (i % 2 ? 45 : -45)) * degree;
                const double wanted = r * cos(phi) + sqrt(l * l - r * r * sin(phi) * sin(phi));
                char name[40];
                snprintf(name, sizeof name, "cylinder%d.stroke", i);
                assert_true(fabs(output(s, name) - wanted) < 1e-8);
            }
        }
        lw_simulation_destroy(s);
    }
    lw_model_destroy(model);
}

/* A parameter of the model reaches all its parts, also after reading. */
static void v8_scales(void **state) {
    (void)state;
    const lw_setting setting = {"l", "170 mm"};
    lw_error error = {0};
    lw_spec *read = read_problem_spec("v8", &setting, 1), *set = read_problem_spec("v8", NULL, 0);
    assert_int_equal(lw_spec_set_parameter(set, "l", 0.17, &error), LW_OK);
    lw_model *one = compile_or_fail(read), *two = compile_or_fail(set);
    double q[100], q2[100], v[100], a[100], a2[100];
    lw_model_initial_state(one, q, v);
    lw_model_initial_state(two, q2, v);
    assert_memory_equal(q, q2, (size_t)lw_model_q_size(one) * sizeof *q);
    assert_int_equal(lw_accelerations(one, "rcr", 0, q, v, a, NULL, NULL, &error), LW_OK);
    assert_int_equal(lw_accelerations(two, "rcr", 0, q, v, a2, NULL, NULL, &error), LW_OK);
    assert_memory_equal(a, a2, (size_t)lw_model_v_size(one) * sizeof *a);
    lw_model_destroy(one);
    lw_model_destroy(two);
}

/* --- the car -------------------------------------------------------------------------------------- */

/* Corners 1 to 4 are front left, front right, rear left, rear right; s(i) is +1 on the left. A mirrored axis
 * of rotation [1, 0.2 s, 0] turns the other way on the right: [-1, 0.2, 0]. */
static const char by_hand[] =
    "linkwork: 1\n"
    "name: car by hand\n"
    "parameters: {front: 1.2, rear: 1.5, half: 0.75, arm: 0.4, radius: 0.3, cs: 2500, kt: 200000, ct: 800}\n"
    "tables:\n"
    "  s: {x: [1, 2, 3, 4], y: [1, -1, 1, -1]}\n"
    "  at: {x: [1, 2, 3, 4], y: [front, front, -rear, -rear]}\n"
    "  ks: {x: [1, 2, 3, 4], y: [28000, 28000, 32000, 32000]}\n"
    "bodies:\n"
    "  car: {mass: 900, inertia: [300, 1300, 1450], position: [0, 0, 0.55]}\n"
    "  lever{i}: {repeat: {i: 1..4}, mass: 12, shape: rod, points: [[at(i), s(i)*(half - arm), 0.35], "
    "[at(i), "
    "s(i)*half, radius]], radius: 0.02}\n"
    "  wheel{i}: {repeat: {i: 1..4}, mass: 18, position: [at(i), s(i)*half, radius], shape: {type: cylinder, "
    "radius: radius, length: 0.2, rotation: {axis: [1, 0, 0], angle: 90 deg}}}\n"
    "joints:\n"
    "  float: {type: free, between: [ground, car]}\n"
    "  hinge{i}: {repeat: {i: 1..4}, type: revolute, between: [car, 'lever{i}'], point: [at(i), s(i)*(half - "
    "arm), 0.35], axis: [s(i), 0.2, 0]}\n"
    "  hub{i}: {repeat: {i: 1..4}, type: revolute, between: ['lever{i}', 'wheel{i}'], point: [at(i), "
    "s(i)*half, radius], axis: [0, 1, 0]}\n"
    "forces:\n"
    "  strut{i}: {repeat: {i: 1..4}, type: spring, between: [car, 'lever{i}'], points: [[at(i), s(i)*(half - "
    "0.25), 0.8], [at(i), s(i)*(half - 0.1), 0.31]], stiffness: ks(i), damping: cs, length: 0.6}\n"
    "  tyre{i}: {repeat: {i: 1..4}, type: applied, body: 'wheel{i}', point: [at(i), s(i)*half, radius], "
    "force: "
    "['-ct*body.wheel{i}.vx', '-ct*body.wheel{i}.vy', 'kt*(radius - body.wheel{i}.z) - "
    "ct*body.wheel{i}.vz']}\n"
    "run: {end: 4, tolerance: 1e-9}\n";

/* Both runs keep 1e-9 per step; the motion is damped and forgets errors. */
static void car_is_the_one_by_hand(void **state) {
    (void)state;
    static const char *const corners[] = {"front_left", "front_right", "rear_left", "rear_right"};
    lw_model *parts = read_problem("car"), *hand = compile_or_fail(read_text_spec(by_hand));
    lw_simulation *one = begin(parts, NULL), *two = begin(hand, NULL);
    for (int k = 1; k <= 8; k++) {
        double q[7], v[6], q2[7], v2[6];
        advance(one, 0.25 * k);
        advance(two, 0.25 * k);
        joint_state(one, "float", q, v);
        joint_state(two, "float", q2, v2);
        assert_true(relative_difference(q, q2, 7) < 1e-7);
        assert_true(relative_difference(v, v2, 6) < 1e-6);
        for (int i = 0; i < 4; i++) {
            char name[40], other[40];
            snprintf(name, sizeof name, "%s.hinge", corners[i]);
            snprintf(other, sizeof other, "hinge%d", i + 1);
            joint_state(one, name, q, v);
            joint_state(two, other, q2, v2);
            if (!(fabs(q[0] - q2[0]) < 1e-7 && fabs(v[0] - v2[0]) < 1e-6))
                fail_msg("%s: %.12g, by hand %.12g", name, q[0], q2[0]);
        }
    }
    lw_simulation_destroy(one);
    lw_simulation_destroy(two);
    lw_model_destroy(parts);
    lw_model_destroy(hand);
}

/* Left and right get the same numbers up to signs, and sums of three products in another order. */
static void car_stays_symmetric(void **state) {
    (void)state;
    lw_model *model = read_problem("car");
    lw_simulation *s = begin(model, NULL);
    for (int k = 1; k <= 8; k++) {
        advance(s, 0.25 * k);
        assert_true(fabs(output(s, "roll")) < 1e-10);
        assert_true(fabs(output(s, "front_left.travel") - output(s, "front_right.travel")) < 1e-10);
        assert_true(fabs(output(s, "rear_left.side") - output(s, "rear_right.side")) < 1e-10);
        assert_true(fabs(output(s, "rear_left.tyre_load") - output(s, "rear_right.tyre_load")) < 1e-5);
    }
    lw_simulation_destroy(s);
    lw_model_destroy(model);
}

static void car_at_rest(void **state) {
    (void)state;
    lw_model *model = read_problem("car");
    lw_simulation *s = begin(model, NULL);
    advance(s, 40);
    static const char *const corners[] = {"front_left", "front_right", "rear_left", "rear_right"};
    const double weight = (900 + 4 * (12 + 18)) * 9.81;
    double moment = 0, own = 0, x[3], R[9], q[400], v[400];
    lw_data *data;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    assert_int_equal(lw_simulation_state(s, q, v), LW_OK);
    assert_int_equal(lw_body_pose(model, data, 40, q, lw_model_body(model, "car"), x, R), LW_OK);
    own += 900 * 9.81 * x[0];
    for (int i = 0; i < 4; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s.wheel", corners[i]);
        assert_int_equal(lw_body_pose(model, data, 40, q, lw_model_body(model, name), x, R), LW_OK);
        snprintf(name, sizeof name, "%s.tyre_load", corners[i]);
        moment += output(s, name) * x[0];
        own += 18 * 9.81 * x[0];
        snprintf(name, sizeof name, "%s.lever", corners[i]);
        assert_int_equal(lw_body_pose(model, data, 40, q, lw_model_body(model, name), x, R), LW_OK);
        /* The lever's centre, in its own frame, which was the part's world: halfway between its ends. */
        const double side = i % 2 ? -1 : 1, centre[3] = {0, side * (0.75 - 0.2), 0.325};
        own += 12 * 9.81 * (x[0] + R[0] * centre[0] + R[1] * centre[1] + R[2] * centre[2]);
    }
    assert_true(fabs(output(s, "carried") - weight) < 1e-5 * weight);
    assert_true(fabs(moment - own) < 1e-5 * weight);
    lw_data_destroy(data);
    lw_simulation_destroy(s);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v8_follows),
        cmocka_unit_test(v8_scales),
        cmocka_unit_test(car_is_the_one_by_hand),
        cmocka_unit_test(car_stays_symmetric),
        cmocka_unit_test(car_at_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

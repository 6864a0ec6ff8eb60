/* test_record.c - what a list of quantities selects, what it says of faults, and the values, against the
 * public calls for one body at a time.
 */
#define _GNU_SOURCE
#include "io/results/record_columns.h"
#include "linalg/vec3.h"
#include "problems.h"
#include "random_model.h"

#include <linkwork/dynamics.h>
#include <linkwork/io.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

/* A crank that carries a ball joint, a car on a rail with a second guide that closes a loop, a
 * welded base. */
static const char text[] =
    "linkwork: 1\nname: arms\n"
    "bodies:\n"
    "  base: {mass: 1, inertia: [1, 1, 1]}\n"
    "  crank: {mass: 1, com: [0.5, 0, 0], inertia: [1, 1, 1], position: [0.1, 0.2, 0.3], rotation: {axis: "
    "[1, 2, 3], "
    "angle: 40 deg}}\n"
    "  load: {mass: 2, com: [1, 0, 0], inertia: [1, 2, 2], position: [1, 0, 0.2]}\n"
    "  car: {mass: 2, com: [1, 0, 0], inertia: [1, 2, 2]}\n"
    "joints:\n"
    "  pin: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0.2]}\n"
    "  ball: {type: spherical, between: [crank, load], point: [1, 0, 0]}\n"
    "  rail: {type: translation, between: [ground, car], axes: [[1, 0, 0]]}\n"
    "  guide: {type: prismatic, between: [ground, car], point: [0, 0, 0], axis: [1, 0, 0], cut: true}\n"
    "  plate: {type: weld, between: [ground, base], point: [0, 0, 0]}\n";

static lw_model *arms(void) { return compile_or_fail(read_text_spec(text)); }

static lw_record *record_of(const lw_model *model, const char *list) {
    lw_record *record;
    lw_error error;
    if (lw_record_create(model, list, &record, &error) != LW_OK)
        fail_msg("%s: %s: %s", list, error.object, error.message);
    return record;
}

/* --- lists ---------------------------------------------------------------------------------------- */

/* The columns of a list after t, as "name [unit]; name [unit]". */
static void expect_columns(const lw_model *model, const char *list, const char *expected) {
    lw_record *record = record_of(model, list);
    char names[4096] = "";
    assert_string_equal(lw_record_columns(record)[0].name, "t");
    assert_string_equal(lw_record_columns(record)[0].unit, "s");
    for (size_t k = 1; k < lw_record_count(record); k++) {
        const lw_record_column *column = &lw_record_columns(record)[k];
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s [%s]", k > 1 ? "; " : "", column->name,
                 column->unit);
    }
    lw_record_destroy(record);
    assert_string_equal(names, expected);
}

static void lists_select_columns(void **state) {
    (void)state;
    lw_model *model = arms();
    expect_columns(model, "t", "");
    expect_columns(model, "pin.q", "pin.q [rad]");
    expect_columns(model, " kinetic ,t, pin.v", "kinetic [J]; pin.v [rad/s]");
    expect_columns(model, "joint(pin)", "pin.q [rad]; pin.v [rad/s]");
    expect_columns(model, "joint(p*)", "pin.q [rad]; pin.v [rad/s]");     /* a weld has none */
    expect_columns(model, "joint(guide*)", "guide.q [m]; guide.v [m/s]"); /* a cut joint has, too */
    expect_columns(
        model, "coordinates",
        "pin.q [rad]; ball.qw [1]; ball.qx [1]; ball.qy [1]; ball.qz [1]; rail.q [m]; guide.q [m]");
    expect_columns(model, "speeds(*a*)", "ball.wx [rad/s]; ball.wy [rad/s]; ball.wz [rad/s]; rail.v [m/s]");
    expect_columns(model, "accelerations",
                   "pin.a [rad/s^2]; ball.alphax [rad/s^2]; ball.alphay [rad/s^2]; ball.alphaz [rad/s^2]; "
                   "rail.a [m/s^2]; guide.a [m/s^2]");
    expect_columns(model, "reaction(guide)",
                   "reaction(guide).fx [N]; reaction(guide).fy [N]; reaction(guide).fz [N]; "
                   "reaction(guide).tx [N m]; reaction(guide).ty [N m]; reaction(guide).tz [N m]");
    expect_columns(model, "reaction(pin).fz, reaction( pin ).t*, reaction(pin).fz",
                   "reaction(pin).fz [N]; reaction(pin).tx [N m]; reaction(pin).ty [N m]; "
                   "reaction(pin).tz [N m]");
    expect_columns(model, "position(load), rotation(load).qw",
                   "body.load.x [m]; body.load.y [m]; body.load.z [m]; body.load.qw [1]");
    expect_columns(model, "velocity(car)",
                   "body.car.vx [m/s]; body.car.vy [m/s]; body.car.vz [m/s]; body.car.wx [rad/s]; "
                   "body.car.wy [rad/s]; body.car.wz [rad/s]");
    expect_columns(model, "pose(car).*x", "body.car.x [m]; body.car.qx [1]");
    expect_columns(model, "body.load.v*,body(load).vx",
                   "body.load.vx [m/s]; body.load.vy [m/s]; body.load.vz [m/s]");
    expect_columns(
        model, "point(load,0,.5, -0.50).z, point( load, 0, 0.5, -0.5 ).*, point_velocity(load,0,0.5,-.5).vx",
        "point(load, 0, 0.5, -0.5).z [m]; point(load, 0, 0.5, -0.5).x [m]; "
        "point(load, 0, 0.5, -0.5).y [m]; point(load, 0, 0.5, -0.5).vx [m/s]");
    expect_columns(model, "ledger",
                   "kinetic [J]; potential [J]; drives [J]; forces [J]; dissipation [J]; unaccounted [J]");
    expect_columns(model, "com(load)", "com(load).x [m]; com(load).y [m]; com(load).z [m]");
    expect_columns(model, "com(load).v*, com_acceleration(car).az",
                   "com(load).vx [m/s]; com(load).vy [m/s]; com(load).vz [m/s]; com(car).az [m/s^2]");
    expect_columns(model, "reaction(pin).force, reaction(*).torque, reaction(pin at first in load).f*",
                   "reaction(pin).force [N]; reaction(pin).torque [N m]; reaction(ball).torque [N m]; "
                   "reaction(rail).torque [N m]; reaction(guide).torque [N m]; reaction(plate).torque [N m]; "
                   "reaction(pin at first in load).fx [N]; reaction(pin at first in load).fy [N]; "
                   "reaction(pin at first in load).fz [N]");
    expect_columns(model, "velocity(load in crank).w*",
                   "body(load in crank).wx [rad/s]; body(load in crank).wy [rad/s]; "
                   "body(load in crank).wz [rad/s]");
    expect_columns(model, "momentum.p*", "momentum.px [kg m/s]; momentum.py [kg m/s]; momentum.pz [kg m/s]");
    expect_columns(model, "momentum(car).hz", "momentum(car).hz [kg m^2/s]");
    expect_columns(model, "distance(load, com(car)), distance(ground,crank).rate",
                   "distance(load, com(car)) [m]; distance(ground, crank).rate [m/s]");
    expect_columns(
        model, "2*pin.q + body.load.z, atan2(ball.wx, pin.v), reaction(pin).fx - reaction(ball).fx",
        "2*pin.q + body.load.z []; atan2(ball.wx, pin.v) []; reaction(pin).fx - reaction(ball).fx []");
    expect_columns(model, "violation", "position_violation []; velocity_violation []");
    lw_model_destroy(model);
}

static void everything_is_everything(void **state) {
    (void)state;
    lw_model *model = arms();
    lw_record *all = record_of(model, "*");
    size_t joints = 5, bodies = 4, nq = 7, nv = 6; /* with those of the cut joint */
    assert_int_equal(lw_record_count(all), 1 + nq + 2 * nv + 6 * joints + 40 * bodies + 9 + 6 + 2);
    assert_true(lw_record_accelerations(all) && lw_record_reactions(all));
    for (size_t i = 0; i < lw_record_count(all); i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(lw_record_columns(all)[i].name, lw_record_columns(all)[k].name);
    lw_record_destroy(all);
    lw_record *usual = record_of(model, LW_RECORD_DEFAULT);
    assert_int_equal(lw_record_count(usual), 1 + nq + nv + 3 * bodies + 6);
    assert_false(lw_record_accelerations(usual) || lw_record_reactions(usual));
    lw_record_destroy(usual);
    lw_model_destroy(model);
}

static void expect_fault(const lw_model *model, const char *list, const char *message) {
    lw_record *record;
    lw_error error;
    char told[1200];
    assert_int_equal(lw_record_create(model, list, &record, &error), LW_ERROR_ARGUMENT);
    assert_null(record);
    lw_error_format(&error, told, sizeof told);
    if (!strstr(told, message)) fail_msg("\"%s\" does not contain \"%s\"", told, message);
    assert_int_equal(lw_record_create(model, list, &record, NULL), LW_ERROR_ARGUMENT);
}

static void faults_name_the_item_and_the_remedy(void **state) {
    (void)state;
    lw_model *model = arms();
    expect_fault(
        model, "ledger, reaction(pim)",
        "record \"reaction(pim)\": unknown joint \"pim\"; there is pin, ball, rail, guide, plate; did "
        "you mean \"pin\"?");
    expect_fault(model, "reaction(zeppelin)",
                 "unknown joint \"zeppelin\"; there is pin, ball, rail, guide, plate");
    expect_fault(model, "reaction(z*)", "unknown joint \"z*\"");
    expect_fault(model, "position(cart)", "unknown body \"cart\"; there is ");
    expect_fault(model, "position(cart)", "did you mean \"car\"?");
    expect_fault(model, "pin.w", "unknown quantity \"pin.w\"");
    expect_fault(model, "reactoin(pin)",
                 "unknown quantity \"reactoin\"; there is joint, coordinates, speeds,");
    expect_fault(model, "reactoin(pin)", "did you mean \"reaction\"?");
    expect_fault(model, "ledgers", "did you mean \"ledger\"?");
    expect_fault(model, "kinetik", "did you mean \"kinetic\"?");
    expect_fault(model, "", "record \"\": an item is empty; write e.g. joint(*), reaction(pin), ledger");
    expect_fault(model, "ledger,", "an item is empty");
    expect_fault(model, "reaction(pin", "the parentheses do not match");
    expect_fault(model, "reaction(pin)fx", "the parentheses do not match");
    expect_fault(model, "reaction(pin).q", "there is no such component");
    expect_fault(model, "reaction(*).q", "there is no such component");
    expect_fault(model, "joint(plate)", "the joint has no coordinates");
    expect_fault(model, "position(ground)", "ground does not move; name a body that moves");
    expect_fault(model, "point(load)",
                 "a point is a body and three numbers; write e.g. point(load, 0, 0, -0.5)");
    expect_fault(model, "point(load, 1, 2, x)", "unknown name \"x\"");
    expect_fault(model, "point(load, 1, 2, inf)", "\"inf\" is not a number to compute with");
    expect_fault(model, "point(load, 1, 2, 3, 4)", "a closing parenthesis is missing");
    expect_fault(model, "point(lod, 1, 2, 3)", "did you mean \"load\"?");
    expect_fault(model, "reaction(pin in lod)", "there is no body \"lod\"; did you mean \"load\"?");
    expect_fault(model, "position(load at first)", "there is no such component with this reference");
    expect_fault(model, "2*pin.q + body.lod.z", "there is no body \"lod\"; did you mean \"load\"?");
    expect_fault(model, "2*pin.q +",
                 "character 10: the expression ends where a number or a name should follow");
    expect_fault(model, "pin.q + kinetic", "character 7");
    expect_fault(model, "drive(pin)", "no motion of the joint is prescribed");
    expect_fault(model, "force(sprig)", "unknown force element \"sprig\"; there is none");
    expect_fault(model, "distance(load)", "a distance has two places");
    expect_fault(model, "point", "the parentheses do not match");
    lw_model_destroy(model);
}

static void patterns_match(void **state) {
    (void)state;
    assert_true(lw_pattern_matches("", ""));
    assert_true(lw_pattern_matches("*", ""));
    assert_true(lw_pattern_matches("a*b*c", "aXbbYc"));
    assert_true(lw_pattern_matches("*.q", "link1.q"));
    assert_true(lw_pattern_matches("a**", "a"));
    assert_false(lw_pattern_matches("a*b", "abc"));
    assert_false(lw_pattern_matches("", "a"));
    assert_false(lw_pattern_matches("ab", "a"));
    /* many stars do not take for ever */
    char pattern[64], long_text[2001];
    for (int k = 0; k < 30; k++) memcpy(pattern + 2 * k, "*a", 2);
    memcpy(pattern + 60, "*b", 3);
    memset(long_text, 'a', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    assert_false(lw_pattern_matches(pattern, long_text));
}

/* --- values --------------------------------------------------------------------------------------- */

static double value_of(const lw_record *record, const double *row, const char *format, ...) {
    char name[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    for (size_t k = 0; k < lw_record_count(record); k++)
        if (strcmp(lw_record_columns(record)[k].name, name) == 0) return row[k];
    fail_msg("no column %s", name);
    return 0;
}

/* Rounding of a few products of numbers of order one. */
static void close_to(double a, double b) {
    if (!(fabs(a - b) <= 1e-13 * (1 + fabs(b)))) fail_msg("%.17g is not %.17g", a, b);
}

static void check_body(const lw_model *model, lw_data *data, const lw_record *record, const lw_sample *s,
                       const double *row, int body) {
    const char *name = lw_model_body_name(model, body);
    const double origin[3] = {0};
    double position[3], rotation[9], turned[9], angular[3], linear[3], quaternion[4];
    lw_body_pose(model, data, s->t, s->q, body, position, rotation);
    lw_body_velocity(model, data, s->t, s->q, s->v, body, origin, angular, linear);
    for (int k = 0; k < 3; k++) {
        close_to(value_of(record, row, "body.%s.%c", name, "xyz"[k]), position[k]);
        close_to(value_of(record, row, "body.%s.v%c", name, "xyz"[k]), linear[k]);
        close_to(value_of(record, row, "body.%s.w%c", name, "xyz"[k]), angular[k]);
    }
    for (int k = 0; k < 4; k++) quaternion[k] = value_of(record, row, "body.%s.q%c", name, "wxyz"[k]);
    lw_rot_quat(quaternion, turned);
    for (int k = 0; k < 9; k++) close_to(turned[k], rotation[k]);
}

static void values_are_those_of_the_public_calls(void **state) {
    (void)state;
    lw_model *model = arms();
    lw_data *data;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    lw_record *record =
        record_of(model, "*, point(load, 0.1, -0.2, 0.3), point_velocity(load, 0.1, -0.2, 0.3), "
                         "2*pin.q + reaction(pin).fx*ball.alphax");
    double row[512], q[6], v[5], vdot[5], reactions[30];
    lw_random random = random_seed(20240607);
    for (int trial = 0; trial < 100; trial++) {
        random_state(&random, model, q, v);
        random_vector(&random, 5, 1, vdot);
        random_vector(&random, 30, 1, reactions);
        const lw_ledger ledger = {1, 2, 3, 4, 5, 6};
        const lw_sample sample = {.t = trial,
                                  .q = q,
                                  .v = v,
                                  .vdot = vdot,
                                  .reactions = reactions,
                                  .ledger = &ledger,
                                  .position_violation = 0.5,
                                  .velocity_violation = 0.25};
        size_t before = mallinfo2().uordblks;
        lw_record_row(record, &sample, row);
        assert_int_equal(mallinfo2().uordblks, before);
        assert_true(row[0] == trial);
        for (int body = 1; body <= lw_model_body_count(model); body++)
            check_body(model, data, record, &sample, row, body);

        const double at[3] = {0.1, -0.2, 0.3};
        double position[3], rotation[9], angular[3], linear[3], arm[3];
        int load = lw_model_body(model, "load");
        lw_body_pose(model, data, trial, q, load, position, rotation);
        lw_body_velocity(model, data, trial, q, v, load, at, angular, linear);
        lw_m3_mul_v(rotation, at, arm);
        for (int k = 0; k < 3; k++) {
            close_to(value_of(record, row, "point(load, 0.1, -0.2, 0.3).%c", "xyz"[k]), position[k] + arm[k]);
            close_to(value_of(record, row, "point(load, 0.1, -0.2, 0.3).v%c", "xyz"[k]), linear[k]);
        }
        for (int j = 0; j < lw_model_joint_count(model); j++)
            for (int k = 0; k < 6; k++) {
                static const char *const parts[] = {"fx", "fy", "fz", "tx", "ty", "tz"};
                assert_true(value_of(record, row, "reaction(%s).%s", lw_model_joint_info(model, j).name,
                                     parts[k]) == reactions[6 * j + k]);
            }
        lw_joint_info ball = lw_model_joint_info(model, lw_model_joint(model, "ball"));
        assert_true(value_of(record, row, "ball.qy") == q[ball.q + 2]);
        assert_true(value_of(record, row, "ball.wz") == v[ball.v + 2]);
        assert_true(value_of(record, row, "ball.alphax") == vdot[ball.v]);
        close_to(value_of(record, row, "2*pin.q + reaction(pin).fx*ball.alphax"),
                 2 * value_of(record, row, "pin.q") + reactions[0] * vdot[ball.v]);
        assert_true(value_of(record, row, "dissipation") == 5 && value_of(record, row, "drives") == 3);
        assert_true(value_of(record, row, "position_violation") == 0.5);
        assert_true(value_of(record, row, "velocity_violation") == 0.25);
    }
    /* what the sample does not carry is not a number */
    lw_record_row(record, &(lw_sample){.q = q, .v = v}, row);
    assert_true(isnan(value_of(record, row, "pin.a")) && isnan(value_of(record, row, "drives")));
    close_to(value_of(record, row, "kinetic"), lw_energy_of(model, data, 0, q, v).kinetic);
    close_to(value_of(record, row, "potential"), lw_energy_of(model, data, 0, q, v).potential);
    assert_true(isnan(value_of(record, row, "reaction(guide).tz")));
    lw_record_destroy(record);
    lw_data_destroy(data);
    lw_model_destroy(model);
}

/* Two turns in steps of a degree: no component of the quaternion moves by more than half the angle. */
static void quaternions_do_not_jump(void **state) {
    (void)state;
    lw_model *model = arms();
    lw_record *record = record_of(model, "rotation(crank)");
    double row[5], last[5], q[6] = {0}, v[5] = {0};
    lw_normalise_q(model, q);
    lw_joint_info pin = lw_model_joint_info(model, lw_model_joint(model, "pin"));
    const double step = 3.14159265358979 / 180;
    for (int k = 0; k <= 720; k++) {
        q[pin.q] = k * step;
        lw_record_row(record, &(lw_sample){.q = q, .v = v}, row);
        for (int i = 1; i < 5 && k > 0; i++) assert_true(fabs(row[i] - last[i]) <= step / 2 + 1e-12);
        memcpy(last, row, sizeof row);
    }
    lw_record_destroy(record);
    lw_model_destroy(model);
}

/* Forces of elements that depend on signals are those of the row, not of the row before. */
static void forces_follow_signals(void **state) {
    (void)state;
    lw_model *model = compile_or_fail(
        read_text_spec("linkwork: 1\nsignals: {push: 3 + 2*rail.q}\n"
                       "bodies: {cart: {mass: 1, inertia: [1, 1, 1]}}\n"
                       "joints: {rail: {type: prismatic, between: [ground, cart], axis: [1, 0, 0]}}\n"
                       "forces:\n  hand: {type: applied, body: cart, point: [0, 0, 0], force: [push, 0, 0]}\n"
                       "  motor: {type: drive, joint: rail, force: 4*push}\n"));
    lw_record *record = record_of(model, "force(hand).fx, force(hand).power, force(motor)");
    for (int k = 0; k < 4; k++) {
        const double q[1] = {0.5 * k}, v[1] = {2.0 + k}, push = 3 + 2 * q[0];
        double row[5]; /* the time, and the motor's power too */
        lw_record_row(record, &(lw_sample){.q = q, .v = v}, row);
        assert_true(row[1] == push && row[2] == push * v[0] && row[3] == 4 * push);
    }
    lw_record_destroy(record);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_follow_signals),    cmocka_unit_test(lists_select_columns),
        cmocka_unit_test(everything_is_everything), cmocka_unit_test(faults_name_the_item_and_the_remedy),
        cmocka_unit_test(patterns_match),           cmocka_unit_test(values_are_those_of_the_public_calls),
        cmocka_unit_test(quaternions_do_not_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_signal_problems.c - problems with controllers, tables, user states and events against their
 * references.
 *
 * cart_pole, pid_arm and quarter_car are compared with equations of their own that were solved with 30 digits
 * and more, by several methods and integrators, at every time of the reference; the gains of the cart-pole
 * with the published eigenvalues; the controller of the arm with one that winds up; the crank that stops with
 * the quadrature for its first impact. The double wishbone has no solution of its own: by its kinematics,
 * camber and toe lie on the curve of reference.csv in every state, the load on the tyre is the weight at
 * rest, and two formulations with two integrators agree.
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

static lw_simulation *simulation_of(const lw_model *model, const way *by) {
    lw_run_options options;
    lw_error error = {0};
    lw_simulation *s = NULL;
    lw_run_defaults(model, &options);
    options.method = by->method, options.integrator = by->integrator;
    options.step = by->step, options.tolerance = by->tolerance;
    if (lw_simulation_create(model, &options, NULL, &s, &error) != LW_OK)
        fail_msg("%s, %s: %s", by->method, by->integrator, error.message);
    return s;
}

static void advance(lw_simulation *s, double t) {
    lw_error error = {0};
    if (t > lw_simulation_time(s) && lw_simulation_advance(s, t, &error) != LW_OK)
        fail_msg("%s, t = %g: %s", lw_simulation_method(s), t, error.message);
}

/* Coordinate and speed of a joint with one freedom. */
static void motion_of(lw_simulation *s, const char *joint, double *coordinate, double *speed) {
    enum { MOST = 32 };
    double q[MOST], v[MOST];
    const lw_model *model = lw_simulation_model(s);
    const lw_joint_info info = lw_model_joint_info(model, lw_model_joint(model, joint));
    assert_true(lw_model_q_size(model) <= MOST && info.q_count == 1);
    assert_int_equal(lw_simulation_state(s, q, v), LW_OK);
    *coordinate = q[info.q], *speed = v[info.v];
}

static double output_of(lw_simulation *s, const char *name) {
    double value = NAN;
    const int output = lw_model_output(lw_simulation_model(s), name);
    assert_true(output >= 0);
    assert_int_equal(lw_simulation_output(s, output, &value), LW_OK);
    return value;
}

/* Runs a problem along its reference: t, coordinate and speed of joint one, those of joint two or (NULL) the
 * user states. Returns the largest difference. */
static double follow(const lw_model *model, const way *by, const reference_table *reference, const char *one,
                     const char *two) {
    lw_simulation *s = simulation_of(model, by);
    double largest = 0;
    for (int row = 0; row < reference->rows; row++) {
        const double *wanted = reference->at[row];
        double got[4] = {0};
        advance(s, wanted[0]);
        motion_of(s, one, &got[0], &got[1]);
        if (two)
            motion_of(s, two, &got[2], &got[3]);
        else
            assert_int_equal(lw_simulation_states(s, got + 2), LW_OK);
        for (int k = 0; k < (two ? 4 : 3); k++) largest = fmax(largest, fabs(got[k] - wanted[1 + k]));
    }
    lw_simulation_destroy(s);
    return largest;
}

/* Adaptive integrators keep the error of a step, relative and in SI units, below the tolerance; a run of some
 * hundred to thousand steps of a controlled, and thus contracting, motion adds them up. Fourth order with
 * fixed steps of 1 ms, where rates are up to 100 1/s, leaves 1e-8. */
static const way ways[] = {
    {"tree", "erk", 0, 1e-11},     {"tree", "adams", 0, 1e-11},     {"tree", "bdf", 0, 1e-10},
    {"tree", "ida", 0, 1e-9},      {"tree", "rk4", 5e-4, 0},        {"lagrange", "erk", 0, 1e-11},
    {"cut", "adams", 0, 1e-11},    {"rcr", "erk", 0, 1e-11},        {"partition", "erk", 0, 1e-11},
    {"relative", "erk", 0, 1e-11}, {"schur", "bdf", 0, 1e-10},      {"nullspace", "erk", 0, 1e-11},
    {"massless", "erk", 0, 1e-11}, {"barycentre", "erk", 0, 1e-11}, {"lagrange", "rk4", 5e-4, 0},
};
enum { WAYS = sizeof ways / sizeof *ways };

static double allowed(const way *by) { return by->tolerance > 0 ? 2e3 * by->tolerance : 1e-8; }

static void follow_by_all(const char *problem, const char *one, const char *two, double scale) {
    char file[64];
    reference_table *reference = malloc(sizeof *reference);
    assert_non_null(reference);
    snprintf(file, sizeof file, "%s/reference.csv", problem);
    read_reference(file, reference);
    assert_true(reference->rows > 50);
    lw_model *model = read_problem(problem);
    for (int k = 0; k < WAYS; k++) {
        const double difference = follow(model, &ways[k], reference, one, two);
        print_message("%s, %s, %s: %.1e\n", problem, ways[k].method, ways[k].integrator, difference);
        if (!(difference < scale * allowed(&ways[k])))
            fail_msg("%s by %s, %s: %g off", problem, ways[k].method, ways[k].integrator, difference);
    }
    lw_model_destroy(model);
    free(reference);
}

/* --- control -------------------------------------------------------------------------------------- */

static void cart_pole_follows(void **state) {
    (void)state;
    follow_by_all("cart_pole", "rail", "pivot", 1);
}

/* Coefficients of the characteristic polynomial of a 4 x 4 matrix by Faddeev and LeVerrier. */
static void characteristic(double a[4][4], double c[5]) {
    double m[4][4] = {{0}};
    c[0] = 1;
    for (int k = 1; k <= 4; k++) {
        double next[4][4], trace = 0;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                next[i][j] = i == j ? c[k - 1] : 0;
                for (int l = 0; l < 4; l++) next[i][j] += a[i][l] * m[l][j];
            }
        memcpy(m, next, sizeof m);
        for (int i = 0; i < 4; i++)
            for (int l = 0; l < 4; l++) trace += a[i][l] * m[l][i];
        c[k] = -trace / k;
    }
}

/* The linearised closed loop has the published eigenvalues, all of them with negative real parts. */
static void cart_pole_is_stable(void **state) {
    (void)state;
    lw_model *model = read_problem("cart_pole");
    static const char *const methods[] = {"tree", "rcr", "lagrange"};
    const int rail = lw_model_joint_info(model, lw_model_joint(model, "rail")).v,
              pivot = lw_model_joint_info(model, lw_model_joint(model, "pivot")).v;
    const int order[2] = {rail, pivot};
    /* -8.4910 +- 7.9283i, -4.7592 +- 0.8309i: products of two quadratic factors */
    const double p[2] = {2 * 8.4910, 2 * 4.7592},
                 r[2] = {8.4910 * 8.4910 + 7.9283 * 7.9283, 4.7592 * 4.7592 + 0.8309 * 0.8309};
    const double published[5] = {1, p[0] + p[1], r[0] + r[1] + p[0] * p[1], p[0] * r[1] + p[1] * r[0],
                                 r[0] * r[1]};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        double a[4][4] = {{0}}, c[5];
        a[0][1] = a[2][3] = 1; /* x, x', phi, phi' */
        for (int column = 0; column < 4; column++) {
            const double h = 1e-5; /* differences of second order: 1e-10 and rounding 1e-11 */
            double rates[2][2];
            for (int side = 0; side < 2; side++) {
                double q[2] = {0}, v[2] = {0}, vdot[2];
                lw_error error = {0};
                (column % 2 ? v : q)[order[column / 2]] = side ? h : -h;
                if (lw_accelerations(model, methods[k], 0, q, v, vdot, NULL, NULL, &error) != LW_OK)
                    fail_msg("%s: %s", methods[k], error.message);
                for (int i = 0; i < 2; i++) rates[side][i] = vdot[order[i]];
            }
            for (int i = 0; i < 2; i++) a[2 * i + 1][column] = (rates[1][i] - rates[0][i]) / (2 * h);
        }
        characteristic(a, c);
        /* Eigenvalues are published with four digits behind the point. */
        for (int i = 1; i < 5; i++)
            if (!(fabs(c[i] - published[i]) < 5e-5 * published[i]))
                fail_msg("%s: coefficient %d is %.8g, not %.8g", methods[k], i, c[i], published[i]);
    }
    /* And the pole stands again 5 s after the blow. */
    lw_simulation *s = simulation_of(model, &ways[0]);
    double x, v;
    advance(s, 8);
    motion_of(s, "pivot", &x, &v);
    assert_true(fabs(x) < 1e-6 && fabs(v) < 1e-6);
    lw_simulation_destroy(s);
    lw_model_destroy(model);
}

static void pid_arm_follows(void **state) {
    (void)state;
    /* The integral is of the order of 30, and integrators keep it relative to that. */
    follow_by_all("pid_arm", "elbow", NULL, 30);
}

/* How far the arm passes its first target, and the largest magnitude of the integral until then. */
static void swing(const char *tracking, double *overshoot, double *windup) {
    lw_model *model = read_problem_with("pid_arm", tracking ? "Tt" : NULL, tracking);
    lw_simulation *s = simulation_of(model, &ways[0]);
    *overshoot = *windup = 0;
    for (int k = 1; k <= 200; k++) { /* the target changes at 2 s */
        double q, v, integral;
        advance(s, 0.01 * k);
        motion_of(s, "elbow", &q, &v);
        assert_int_equal(lw_simulation_states(s, &integral), LW_OK);
        *overshoot = fmax(*overshoot, q * 180 / acos(-1) - 60);
        *windup = fmax(*windup, fabs(integral));
        assert_true(fabs(output_of(s, "torque")) <= 10);
    }
    lw_simulation_destroy(s);
    lw_model_destroy(model);
}

/* With anti-windup the arm passes its target by less than a degree, and its integral stays small; without it
 * some thirty degrees, because the integral has grown by ki times the error for as long as the torque was at
 * its limit. */
static void pid_arm_does_not_wind_up(void **state) {
    (void)state;
    double with, without, bounded, wound;
    swing(NULL, &with, &bounded);
    swing("1e9", &without, &wound);
    print_message("overshoot %.2f deg, integral up to %.1f; without anti-windup %.1f deg, %.1f\n", with,
                  bounded, without, wound);
    assert_true(with > 0.5 && with < 0.9); /* 0.73 deg by the reference */
    assert_true(without > 25 && without < 35);
    assert_true(bounded < 9 && wound > 3 * bounded); /* 8.4 by the reference */
}

static void quarter_car_follows(void **state) {
    (void)state;
    follow_by_all("quarter_car", "heave", "axle", 1);
}

/* --- a stop --------------------------------------------------------------------------------------- */

/* With `do: stop` the run of the crank ends at its first impact. */
static void crank_stops(void **state) {
    (void)state;
    reference_table *reference = malloc(sizeof *reference);
    assert_non_null(reference);
    read_reference("crank_stop/reference.csv", reference);
    lw_spec *spec = read_problem_spec("crank_stop", NULL, 0);
    lw_spec_event(spec, 0)->action = LW_ACTION_STOP;
    lw_model *model = compile_or_fail(spec);
    static const way by[] = {{"rcr", "erk", 0, 1e-12},   {"lagrange", "erk", 0, 1e-12},
                             {"cut", "adams", 0, 1e-12}, {"rcr", "bdf", 0, 1e-11},
                             {"rcr", "rk4", 1e-3, 0},    {"partition", "erk", 0, 1e-12}};
    for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
        lw_simulation *s = simulation_of(model, &by[k]);
        lw_error error = {0};
        double angle, rate, place, speed;
        assert_int_equal(lw_simulation_advance(s, 3, &error), LW_EVENT);
        assert_int_equal(lw_simulation_model_event(s), 0);
        motion_of(s, "A", &angle, &rate);
        motion_of(s, "D", &place, &speed);
        const double *wanted = reference->at[0], off = fabs(lw_simulation_time(s) - wanted[1]);
        const double near = by[k].tolerance > 0 ? 1e3 * by[k].tolerance : 1e-9;
        print_message("crank by %s, %s: %.1e s\n", by[k].method, by[k].integrator, off);
        if (!(off < near && fabs(angle - wanted[2]) < 10 * near && fabs(rate - wanted[3]) < 100 * near))
            fail_msg("%s, %s: stops %g s off", by[k].method, by[k].integrator, off);
        assert_true(fabs(place + 0.9) < 1e-9);
        lw_simulation_destroy(s);
    }
    lw_model_destroy(model);
    free(reference);
}

/* --- suspension ----------------------------------------------------------------------------------- */

/* The wheel against the subframe, along its axes, beside the outputs of the problem. */
static lw_spec *suspension_spec(void) {
    static const struct {
        const char *name, *value;
    } added[] = {
        {"nx", "point(upright, 0, 1, 0 in subframe).x - body(upright in subframe).x"},
        {"ny", "point(upright, 0, 1, 0 in subframe).y - body(upright in subframe).y"},
        {"nz", "point(upright, 0, 1, 0 in subframe).z - body(upright in subframe).z"},
        {"rise", "point(upright, 0, 0.75, 0.3 in subframe).z - body(subframe in subframe).z - 0.3"},
        {"low", "lower.q"},
        {"top", "upper.q"},
    };
    lw_spec *spec = read_problem_spec("suspension", NULL, 0);
    for (size_t k = 0; k < sizeof added / sizeof *added; k++) {
        const lw_output_spec output = {.name = added[k].name, .value = added[k].value};
        assert_int_equal(lw_spec_add_output(spec, &output), LW_OK);
    }
    return spec;
}

/* Travel, camber, toe, angles of the wishbones against the subframe: a row of the reference. */
static void wheel_of(lw_simulation *s, double row[5]) {
    const double n[3] = {output_of(s, "nx"), output_of(s, "ny"), output_of(s, "nz")};
    row[0] = output_of(s, "rise");
    row[1] = -atan2(n[2], hypot(n[0], n[1]));
    row[2] = atan2(n[0], n[1]);
    row[3] = output_of(s, "low"), row[4] = output_of(s, "top");
}

/* Assembled with the lower wishbone at the angle of each row, the mechanism stands as the row says. */
static void wishbones_assemble(void **state) {
    (void)state;
    reference_table *reference = malloc(sizeof *reference);
    assert_non_null(reference);
    read_reference("suspension/reference.csv", reference);
    for (int row = 0; row < reference->rows; row++) {
        char angle[40];
        lw_spec *spec = suspension_spec();
        snprintf(angle, sizeof angle, "%.17g", reference->at[row][3]);
        for (size_t j = 0; j < lw_spec_joint_count(spec); j++) {
            lw_joint_spec *joint = lw_spec_joint(spec, j);
            if (strcmp(joint->name, "lower") == 0)
                joint->motion[0] = angle, joint->q[0] = reference->at[row][3];
        }
        lw_spec_constraint(spec, 0)->length = hypot(0.35, 0.01); /* not that of this initial state */
        lw_model *model = compile_or_fail(spec);
        lw_simulation *s = simulation_of(model, &(way){"rcr", "erk", 0, 1e-8});
        double got[5];
        wheel_of(s, got);
        for (int k = 0; k < 5; k++) /* Loops are closed to rounding, lengths are below 1 m. */
            if (!(fabs(got[k] - reference->at[row][k]) < 1e-13))
                fail_msg("row %d, column %d: %.15g, not %.15g", row, k, got[k], reference->at[row][k]);
        lw_simulation_destroy(s);
        lw_model_destroy(model);
    }
    free(reference);
}

/* The polynomial through nine rows of the reference around a travel: rows are 5 mm apart and the curves bend
 * over some 300 mm, so that its error is rounding. */
static double on_curve(const reference_table *reference, double travel, int column) {
    enum { POINTS = 9 };
    int first = (int)lround((travel - reference->at[0][0]) / 5e-3) - POINTS / 2;
    if (first < 0) first = 0;
    if (first > reference->rows - POINTS) first = reference->rows - POINTS;
    double sum = 0;
    for (int i = first; i < first + POINTS; i++) {
        double term = reference->at[i][column];
        for (int j = first; j < first + POINTS; j++)
            if (j != i) term *= (travel - reference->at[j][0]) / (reference->at[i][0] - reference->at[j][0]);
        sum += term;
    }
    return sum;
}

/* The run by two formulations and three integrators: in every state the wheel is on the curve of its rigid
 * kinematics, and the outputs agree. */
static void wishbones_run(void **state) {
    (void)state;
    enum { TIMES = 60 };
    static const way by[] = {
        {"rcr", "bdf", 0, 1e-9}, {"lagrange", "erk", 0, 1e-9}, {"cut", "adams", 0, 1e-9}};
    enum { WAYS_HERE = sizeof by / sizeof *by };
    static const struct {
        const char *name;
        double
            near; /* 1e-9 of a step and a hundred steps in metres, times stiffnesses of 1e5 N/m for forces */
    } outputs[] = {{"camber", 1e-7},  {"toe", 1e-7},  {"travel", 1e-7}, {"tyre_load", 1e-2},
                   {"bushing", 1e-2}, {"ball", 1e-2}, {"tie_rod", 1e-2}};
    enum { OUTPUTS = sizeof outputs / sizeof *outputs };
    static double found[WAYS_HERE][TIMES][OUTPUTS];
    reference_table *reference = malloc(sizeof *reference);
    assert_non_null(reference);
    read_reference("suspension/reference.csv", reference);
    lw_model *model = compile_or_fail(suspension_spec());
    double least = 0, most = 0;
    for (int k = 0; k < WAYS_HERE; k++) {
        lw_simulation *s = simulation_of(model, &by[k]);
        for (int i = 0; i < TIMES; i++) {
            double wheel[5];
            advance(s, (i + 1) * 3.0 / TIMES);
            wheel_of(s, wheel);
            least = fmin(least, wheel[0]), most = fmax(most, wheel[0]);
            for (int c = 1; c < 5; c++) /* Drift control closes the loops to far less. */
                if (!(fabs(wheel[c] - on_curve(reference, wheel[0], c)) < 1e-10))
                    fail_msg("%s at t = %g, travel %g: column %d is %.12g, not %.12g", by[k].method,
                             lw_simulation_time(s), wheel[0], c, wheel[c], on_curve(reference, wheel[0], c));
            for (int o = 0; o < OUTPUTS; o++) found[k][i][o] = output_of(s, outputs[o].name);
        }
        lw_simulation_destroy(s);
    }
    for (int o = 0; o < OUTPUTS; o++) {
        double off = 0;
        for (int k = 1; k < WAYS_HERE; k++)
            for (int i = 0; i < TIMES; i++) off = fmax(off, fabs(found[k][i][o] - found[0][i][o]));
        print_message("%s: %.1e\n", outputs[o].name, off);
        if (!(off < outputs[o].near)) fail_msg("%s differs by %g", outputs[o].name, off);
    }
    print_message("travel from %.1f to %.1f mm\n", 1e3 * least, 1e3 * most);
    assert_true(least < -0.05 && most > 0.03);
    lw_model_destroy(model);
    free(reference);
}

/* Long after the bumps everything rests: the tyre carries the weight of all, and the bushings what the
 * wishbones and the tie rod leave of the weight of the subframe and what hangs on it, less the coil. */
static void wishbones_rest(void **state) {
    (void)state;
    lw_spec *spec = suspension_spec();
    const lw_output_spec lifts[] = {
        {.name = "lift",
         .value = "force(front_low).fz + force(rear_low).fz + force(front_top).fz + force(rear_top).fz"},
        {.name = "push",
         .value = "force(front_low).fy + force(rear_low).fy + force(front_top).fy + force(rear_top).fy"},
        {.name = "coil_z", .value = "force(coil).fz"},
        {.name = "coil_y", .value = "force(coil).fy"}};
    for (int k = 0; k < 4; k++) assert_int_equal(lw_spec_add_output(spec, &lifts[k]), LW_OK);
    lw_model *model = compile_or_fail(spec);
    const double g = 9.81, all = 350 * g, unsprung = (12 + 4 + 2 + 32) * g; /* without the car's body */
    static const way by[] = {{"rcr", "bdf", 0, 1e-9}, {"lagrange", "bdf", 0, 1e-9}};
    for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
        lw_simulation *s = simulation_of(model, &by[k]);
        advance(s, 20); /* The slowest mode decays at 2 1/s. */
        const double tyre = output_of(s, "tyre_load");
        print_message("%s: %.6f N on the tyre, %.6f N of weight\n", by[k].method, tyre, all);
        assert_true(fabs(tyre - all) < 1e-3);
        /* Subframe, wishbones and upright: bushings + coil + tyre - weight = 0, up and across. */
        assert_true(fabs(output_of(s, "lift") + output_of(s, "coil_z") + tyre - unsprung) < 1e-3);
        assert_true(fabs(output_of(s, "push") + output_of(s, "coil_y")) < 1e-3);
        lw_simulation_destroy(s);
    }
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cart_pole_follows),   cmocka_unit_test(cart_pole_is_stable),
        cmocka_unit_test(pid_arm_follows),     cmocka_unit_test(pid_arm_does_not_wind_up),
        cmocka_unit_test(quarter_car_follows), cmocka_unit_test(crank_stops),
        cmocka_unit_test(wishbones_assemble),  cmocka_unit_test(wishbones_run),
        cmocka_unit_test(wishbones_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

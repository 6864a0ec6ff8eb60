/* test_signals.c - quantities of the state in expressions, signals, user states and outputs.
 *
 * Closed loops of control are compared with equations that are written out and integrated here; forces of
 * expressions of ten random quantities with the same numbers given as joint forces from outside, for every
 * formulation on random mechanisms; user states with closed forms, for every integrator, with the order that is
 * observed; snapshots to the last bit.
 */
#include "random_loops.h"
#include "random_model.h"
#include "expression/function.h"
#include "formulations/common/checked_accelerations.h"

#include <linkwork/io.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lw_model *read_text(const char *text) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_status status = lw_read_model_text(text, strlen(text), "test", NULL, 0, report, &spec);
    if (status == LW_OK) status = lw_model_compile(spec, NULL, report, &model);
    for (size_t k = 0; k < lw_report_size(report); k++) {
        char line[1024];
        lw_error_format(lw_report_get(report, k), line, sizeof line);
        if (status != LW_OK) print_error("%s\n", line);
    }
    assert_int_equal(status, LW_OK);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    return model;
}

/* The simulation of a model by a method and an integrator; step 0: adaptive with the tolerance. */
static lw_simulation *simulation_of(const lw_model *model, const char *method, const char *integrator,
                                    double step, double tolerance) {
    lw_run_options options;
    lw_error error = {0};
    lw_simulation *s = NULL;
    lw_run_defaults(model, &options);
    options.method = method, options.integrator = integrator;
    options.step = step, options.tolerance = tolerance;
    if (lw_simulation_create(model, &options, NULL, &s, &error) != LW_OK)
        fail_msg("%s, %s: %s", method, integrator ? integrator : "its own", error.message);
    return s;
}

static void advance(lw_simulation *s, double t) {
    lw_error error = {0};
    if (lw_simulation_advance(s, t, &error) != LW_OK) fail_msg("t = %g: %s", t, error.message);
}

/* --- control -------------------------------------------------------------------------------------- */

/* The classical Runge-Kutta method with steps so short that its error is below 1e-11. */
static void integrate(void (*f)(double t, const double *y, double *ydot), int n, double end, double *y) {
    enum { STEPS = 20000, MOST = 8 };
    const double h = end / STEPS;
    for (int i = 0; i < STEPS; i++) {
        double k[4][MOST], at[MOST], t = i * h;
        for (int stage = 0; stage < 4; stage++) {
            const double c = stage == 3 ? 1 : 0.5;
            for (int j = 0; j < n; j++) at[j] = y[j] + (stage ? c * h * k[stage - 1][j] : 0);
            f(t + (stage ? c * h : 0), at, k[stage]);
        }
        for (int j = 0; j < n; j++) y[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
}

/* A cart of 1 kg with a pole of 0.1 kg, 0.5 m to its centre, moment 0.01 about it; y = x, a, x', a'. The angle
 * counts from upright about y. Lagrange's equations with u = K y:
 *     (M + m) x'' + m l cos a a'' = u + m l sin a a'^2,   m l cos a x'' + (J + m l^2) a'' = m g l sin a. */
static const double gain[4] = {1.0, 25.0, 2.0, 6.0};
static void cart_pole(double t, const double *y, double *ydot) {
    const double M = 1, m = 0.1, l = 0.5, J = 0.01, g = 9.81, c = cos(y[1]), s = sin(y[1]);
    const double u = gain[0] * y[0] + gain[1] * y[1] + gain[2] * y[2] + gain[3] * y[3];
    const double a11 = M + m, a12 = m * l * c, a22 = J + m * l * l, b1 = u + m * l * s * y[3] * y[3],
                 b2 = m * g * l * s, det = a11 * a22 - a12 * a12;
    (void)t;
    ydot[0] = y[2], ydot[1] = y[3];
    ydot[2] = (a22 * b1 - a12 * b2) / det;
    ydot[3] = (a11 * b2 - a12 * b1) / det;
}

static void cart_pole_with_state_feedback(void **state) {
    (void)state;
    lw_model *model = read_text(
        "linkwork: 1\n"
        "bodies:\n"
        "  cart: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
        "  pole: {mass: 0.1, com: [0, 0, 0.5], inertia: [0.01, 0.01, 0.01], position: [0, 0, 0]}\n"
        "joints:\n"
        "  rail: {type: prismatic, between: [ground, cart], point: [0, 0, 0], axis: [1, 0, 0]}\n"
        "  hinge: {type: revolute, between: [cart, pole], point: [0, 0, 0], axis: [0, 1, 0], q: 0.2}\n"
        "signals:\n"
        "  u: k1*rail.q + push\n"
        "  push: k2*hinge.q + k3*body.cart.vx + k4*body.pole.wy\n"
        "parameters: {k1: 1, k2: 25, k3: 2, k4: 6}\n"
        "forces:\n"
        "  motor: {type: drive, joint: rail, force: u}\n"
        "outputs:\n"
        "  tip: point(pole, 0, 0, 1).x\n"
        "  force: u\n");
    double y[4] = {0, 0.2, 0, 0}, q[2], v[2], out[2];
    integrate(cart_pole, 4, 6, y);
    static const char *const methods[] = {"tree", "lagrange", "rcr", "partition", "schur", "relative"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        lw_simulation *s = simulation_of(model, methods[k], "erk", 0, 1e-11);
        advance(s, 6);
        assert_int_equal(lw_simulation_state(s, q, v), LW_OK);
        const double got[4] = {q[0], q[1], v[0], v[1]};
        /* The tolerance, amplified by the fast modes of the controlled system. */
        if (relative_difference(y, got, 4) > 1e-8)
            fail_msg("%s: %g", methods[k], relative_difference(y, got, 4));
        assert_int_equal(lw_simulation_outputs(s, out), LW_OK);
        assert_true(fabs(out[0] - (y[0] + sin(y[1]))) < 1e-8);
        assert_true(fabs(out[1] - (gain[0] * y[0] + gain[1] * y[1] + gain[2] * y[2] + gain[3] * y[3])) <
                    1e-7);
        lw_simulation_destroy(s);
    }
    lw_model_destroy(model);
}

/* A pendulum, J q'' = -m g l sin q + kp e + ki i - kd q' + F, i' = e, with an actuator that lags: T F' = w - F,
 * w an input with the default 0.3 sin 2 t. y = q, q', i, F. */
static void pid(double t, const double *y, double *ydot) {
    const double e = 0.5 - y[0], torque = 20 * e + 8 * y[2] - 4 * y[1] + y[3];
    ydot[0] = y[1];
    ydot[1] = (torque - 9.81 * 0.5 * sin(y[0])) / (0.1 + 0.25);
    ydot[2] = e;
    ydot[3] = (0.3 * sin(2 * t) - y[3]) / 0.05;
}

static const char pid_text[] =
    "linkwork: 1\n"
    "inputs: {w: 0.3*sin(2*t)}\n"
    "parameters: {kp: 20, ki: 8, kd: 4, target: 0.5, T: 0.05}\n"
    "states:\n"
    "  integral: {rate: error, start: 0}\n"
    "  lag: {rate: (w - lag)/T, start: 0}\n"
    "signals: {error: target - pin.q}\n"
    "bodies:\n"
    "  load: {mass: 1, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.1]}\n"
    "joints:\n"
    "  pin: {type: revolute, between: [ground, load], point: [0, 0, 0], axis: [0, 1, 0]}\n"
    "forces:\n"
    "  motor: {type: drive, joint: pin, torque: kp*error + ki*integral - kd*pin.v + lag}\n"
    "outputs:\n"
    "  acceleration: pin.a\n"
    "  height: {value: 'point(load, 0, 0, -1).z', unit: mm}\n";

static void pid_with_actuator(void **state) {
    (void)state;
    lw_model *model = read_text(pid_text);
    double y[4] = {0}, rate[4], q, v, x[2], out[2];
    integrate(pid, 4, 3, y);
    pid(3, y, rate);
    struct {
        const char *method, *integrator;
        double tolerance;
    } const runs[] = {{"tree", "erk", 1e-11},     {"tree", "adams", 1e-10},    {"tree", "bdf", 1e-9},
                      {"lagrange", "erk", 1e-11}, {"cut", "adams", 1e-10},     {"rcr", "bdf", 1e-9},
                      {"penalty", "erk", 1e-11},  {"partition", "erk", 1e-11}, {"nullspace", "erk", 1e-11},
                      {"tree", "ida", 1e-9},      {"massless", "erk", 1e-11},  {"barycentre", "erk", 1e-11}};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        lw_simulation *s = simulation_of(model, runs[k].method, runs[k].integrator, 0, runs[k].tolerance);
        advance(s, 3);
        assert_int_equal(lw_simulation_state(s, &q, &v), LW_OK);
        assert_int_equal(lw_simulation_states(s, x), LW_OK);
        assert_int_equal(lw_simulation_outputs(s, out), LW_OK);
        const double got[6] = {q, v, x[0], x[1], out[0], out[1]},
                     wanted[6] = {y[0], y[1], y[2], y[3], rate[1], -cos(y[0])};
        /* Global errors are some hundred times the tolerance of a step; penalty has its accuracy. */
        if (relative_difference(wanted, got, 6) > 3e4 * runs[k].tolerance)
            fail_msg("%s, %s: %g", runs[k].method, runs[k].integrator, relative_difference(wanted, got, 6));
        lw_simulation_destroy(s);
    }
    lw_model_destroy(model);
}

/* --- user states: orders, snapshots --------------------------------------------------------------- */

/* The error of y = q, q', i, F at t = 1 with fixed steps. */
static double error_of(const lw_model *model, const char *method, const char *integrator, double step,
                       const double *wanted) {
    double got[4];
    lw_simulation *s = simulation_of(model, method, integrator, step, 0);
    advance(s, 1);
    (void)lw_simulation_state(s, got, got + 1);
    (void)lw_simulation_states(s, got + 2);
    lw_simulation_destroy(s);
    return relative_difference(wanted, got, 4);
}

static void orders_are_kept(void **state) {
    (void)state;
    /* Forces of steps in director coordinates may depend on q, v of their own joint and on user states, and
     * rates on all quantities. */
    char text[sizeof pid_text + 64];
    snprintf(text, sizeof text, "%s", pid_text);
    char *torque = strstr(text, "kp*error + ki*integral - kd*pin.v + lag");
    static const char other[] = "kp*(target - q) + ki*integral - kd*v + lag";
    const size_t old = strlen("kp*error + ki*integral - kd*pin.v + lag");
    memmove(torque + strlen(other), torque + old, strlen(torque + old) + 1);
    memcpy(torque, other, strlen(other));
    lw_model *model = read_text(pid_text), *own = read_text(text);
    double y[4] = {0};
    integrate(pid, 4, 1, y);
    const double by_rk4 =
        log2(error_of(model, "tree", "rk4", 0.01, y) / error_of(model, "tree", "rk4", 0.005, y));
    const double coarse = error_of(own, "director", NULL, 0.01, y),
                 fine = error_of(own, "director", NULL, 0.005, y);
    print_message("orders with user states: rk4 %.3f, director %.3f (error %.2g)\n", by_rk4,
                  log2(coarse / fine), fine);
    assert_true(by_rk4 > 3.8 && by_rk4 < 4.6);
    assert_true(log2(coarse / fine) > 1.9 && log2(coarse / fine) < 2.2);
    lw_model_destroy(model);
    lw_model_destroy(own);
}

static void snapshots_to_the_last_bit(void **state) {
    (void)state;
    lw_model *model = read_text(pid_text);
    static const char *const integrators[] = {"rk4", "erk", "adams", "bdf", "ida"};
    for (size_t k = 0; k < sizeof integrators / sizeof *integrators; k++) {
        const bool fixed = k == 0;
        lw_simulation *s = simulation_of(model, "tree", integrators[k], fixed ? 0.01 : 0, 1e-7);
        double q[2], v[2], x[2][2];
        lw_error error = {0};
        advance(s, 0.537);
        const size_t size = lw_simulation_snapshot_size(s);
        void *buffer = malloc(size);
        assert_int_equal(lw_simulation_save(s, buffer, size), LW_OK);
        for (int turn = 0; turn < 2; turn++) {
            if (turn) assert_int_equal(lw_simulation_restore(s, buffer, size, &error), LW_OK);
            advance(s, 1.1);
            (void)lw_simulation_state(s, &q[turn], &v[turn]);
            (void)lw_simulation_states(s, x[turn]);
        }
        assert_memory_equal(&q[0], &q[1], sizeof *q);
        assert_memory_equal(&v[0], &v[1], sizeof *v);
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        const double set[2] = {0.25, -1};
        assert_int_equal(lw_simulation_set_states(s, set), LW_OK);
        (void)lw_simulation_states(s, x[0]);
        assert_memory_equal(x[0], set, sizeof set);
        assert_int_equal(lw_simulation_reset(s, &error), LW_OK);
        (void)lw_simulation_states(s, x[0]);
        assert_true(x[0][0] == 0 && x[0][1] == 0);
        free(buffer);
        lw_simulation_destroy(s);
    }
    lw_model_destroy(model);
}

/* A default that is an expression holds until the caller sets the input, and again after NaN. */
static void defaults_that_are_expressions(void **state) {
    (void)state;
    lw_model *model =
        read_text("linkwork: 1\n"
                  "inputs: {u: 2*gain + body.block.x, gain: 3*t}\n"
                  "bodies: {block: {mass: 1, inertia: [1, 1, 1]}}\n"
                  "joints: {rail: {type: prismatic, between: [ground, block], point: [0, 0, 0], "
                  "axis: [1, 0, 0], q: 0.25}}\n"
                  "forces: {push: {type: drive, joint: rail, force: u}}\n");
    lw_simulation *s = simulation_of(model, "tree", "erk", 0, 1e-9);
    double vdot;
    lw_error error = {0};
    assert_true(isnan(lw_model_input_default(model, 0)));
    assert_int_equal(lw_simulation_accelerations(s, &vdot, NULL, &error), LW_OK);
    assert_true(vdot == 0.25);
    assert_int_equal(lw_simulation_set_input(s, 1, 4), LW_OK);
    assert_int_equal(lw_simulation_accelerations(s, &vdot, NULL, &error), LW_OK);
    assert_true(vdot == 8.25);
    assert_int_equal(lw_simulation_set_input(s, 0, 1), LW_OK);
    assert_int_equal(lw_simulation_accelerations(s, &vdot, NULL, &error), LW_OK);
    assert_true(vdot == 1);
    assert_int_equal(lw_simulation_set_input(s, 0, NAN), LW_OK);
    assert_int_equal(lw_simulation_accelerations(s, &vdot, NULL, &error), LW_OK);
    assert_true(vdot == 8.25);
    lw_simulation_destroy(s);
    lw_model_destroy(model);
}

/* A motion of a state filtered twice: b'' = (a' - b')/T, closed form of two lags in a row. */
static void motions_of_states(void **state) {
    (void)state;
    lw_model *model = read_text("linkwork: 1\n"
                                "inputs: {u: 1}\n"
                                "states:\n"
                                "  a: {rate: (u - a)/0.1, start: 0}\n"
                                "  b: {rate: follow/0.1, start: 0}\n"
                                "signals: {follow: a - b}\n"
                                "bodies: {load: {mass: 1, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.1]}}\n"
                                "joints: {pin: {type: revolute, between: [ground, load], point: [0, 0, 0], "
                                "axis: [0, 1, 0], motion: 2*b + t}}\n"
                                "outputs: {acceleration: pin.a}\n");
    const double T = 0.1, t = 0.3, e = exp(-t / T);
    const double q0 = 2 * (1 - e * (1 + t / T)) + t, v0 = 2 * t / T / T * e + 1,
                 a0 = 2 * (1 / T / T - t / (T * T * T)) * e;
    static const char *const methods[] = {"tree",      "lagrange", "cut",     "rcr",
                                          "partition", "penalty",  "massless"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        lw_simulation *s = simulation_of(model, methods[k], "erk", 0, 1e-11);
        double q, v, a;
        lw_ledger ledger;
        advance(s, t);
        (void)lw_simulation_state(s, &q, &v);
        assert_int_equal(lw_simulation_output(s, 0, &a), LW_OK);
        /* The accuracy of penalty is 1e-8 of the accelerations. */
        if (fabs(q - q0) + fabs(v - v0) > 1e-9 ||
            fabs(a - a0) > (strcmp(methods[k], "penalty") ? 1e-8 : 1e-6))
            fail_msg("%s: %g %g %g", methods[k], q - q0, v - v0, a - a0);
        assert_int_equal(lw_simulation_ledger(s, &ledger), LW_OK);
        if (fabs(ledger.unaccounted) > (strcmp(methods[k], "penalty") ? 1e-8 : 1e-6))
            fail_msg("%s: %g J", methods[k], ledger.unaccounted);
        lw_simulation_destroy(s);
    }
    lw_model_destroy(model);
}

/* --- random quantities on random mechanisms ------------------------------------------------------- */

/* Writes a random quantity of positions and speeds. */
static void random_quantity(lw_random *random, const lw_spec *spec, char *text, size_t size) {
    lw_spec *list = (lw_spec *)spec;
    const char *body = lw_spec_body(list, (size_t)random_below(random, (int)lw_spec_body_count(list)))->name,
               *other = lw_spec_body(list, (size_t)random_below(random, (int)lw_spec_body_count(list)))->name;
    const lw_joint_spec *joint =
        lw_spec_joint(list, (size_t)random_below(random, (int)lw_spec_joint_count(list)));
    static const char axes[] = "xyz";
    const char axis = axes[random_below(random, 3)];
    const bool single = joint->type == LW_JOINT_REVOLUTE || joint->type == LW_JOINT_PRISMATIC;
    switch (random_below(random, 9)) {
    case 0:
        snprintf(text, size, "body.%s.%c", body, axis);
        break;
    case 1:
        snprintf(text, size, "body.%s.v%c", body, axis);
        break;
    case 2:
        snprintf(text, size, "body.%s.w%c", body, axis);
        break;
    case 3:
        snprintf(text, size, "point(%s, 0.1, -0.2, %.2f).v%c", body, random_unit(random), axis);
        break;
    case 4:
        snprintf(text, size, "com(%s).%c", body, axis);
        break;
    case 5:
        snprintf(text, size, "distance(%s, point(%s, 3, 1, 2))", body, other);
        break;
    case 6:
        snprintf(text, size, "kinetic");
        break;
    default:
        if (single)
            snprintf(text, size, "'%s'.%s", joint->name, random_below(random, 2) ? "q" : "v");
        else
            snprintf(text, size, "body.'%s'.qw", body);
    }
}

/* A product and sum of ten quantities, of which some are signals. */
static void random_expression(lw_random *random, const lw_spec *spec, char *text, size_t size) {
    text[0] = '\0';
    for (int k = 0; k < 10; k++) {
        char quantity[128];
        random_quantity(random, spec, quantity, sizeof quantity);
        snprintf(text + strlen(text), size - strlen(text), "%s%.3f*%s(0.3*%s)", k ? " + " : "",
                 random_between(random, -2, 2), k % 3 ? "sin" : "atan", quantity);
    }
    snprintf(text + strlen(text), size - strlen(text), " + 0.2*t*x1");
}

/* Adds drives of random expressions; those of `plain` are outputs instead. Returns how many there are. */
static int add_drives(lw_random *random, lw_spec *spec, lw_spec *plain) {
    char text[2048], name[32];
    int count = 0;
    const lw_signal_spec signal = {.name = "x1", .value = "0.5 + kinetic/(1 + kinetic)"};
    assert_int_equal(lw_spec_add_signal(spec, &signal), LW_OK);
    assert_int_equal(lw_spec_add_signal(plain, &signal), LW_OK);
    for (size_t j = 0; j < lw_spec_joint_count(spec) && count < 6; j++) {
        const lw_joint_spec *joint = lw_spec_joint(spec, j);
        if (joint->type != LW_JOINT_REVOLUTE && joint->type != LW_JOINT_PRISMATIC) continue;
        random_expression(random, spec, text, sizeof text);
        snprintf(name, sizeof name, "random%d", count);
        const lw_force_spec drive = {
            .name = name, .type = LW_FORCE_DRIVE, .joint = joint->name, .drive = text};
        const lw_output_spec output = {.name = name, .value = text};
        assert_int_equal(lw_spec_add_force(spec, &drive), LW_OK);
        assert_int_equal(lw_spec_add_output(plain, &output), LW_OK);
        count++;
    }
    return count;
}

static lw_spec *copy_of(const lw_spec *spec) {
    size_t size;
    lw_spec *copy;
    lw_error error = {0};
    assert_int_equal(lw_spec_save(spec, NULL, 0, &size), LW_OK);
    void *bytes = malloc(size);
    assert_int_equal(lw_spec_save(spec, bytes, size, NULL), LW_OK);
    assert_int_equal(lw_spec_load(bytes, size, &copy, &error), LW_OK);
    free(bytes);
    return copy;
}

typedef struct tally {
    int models, methods, refused;
    double worst;
} tally;

/* The state in which drives of expressions are compared with joint forces of the same numbers. */
static void compare_drives(const lw_model *driven, const lw_model *plain, double t, const double *q,
                           const double *v, int seed, tally *sum) {
    enum { MOST = 128 };
    double tau[MOST] = {0}, wanted[MOST], got[MOST], values[8];
    lw_run_options options;
    lw_error error = {0};
    lw_simulation *s;
    lw_run_defaults(plain, &options);
    options.q = q, options.v = v, options.as_given = true, options.start = t, options.end = t + 1;
    options.method = lw_model_loop_count(plain) + lw_model_constraint_count(plain) ? "lagrange" : "tree";
    if (lw_simulation_create(plain, &options, NULL, &s, &error) != LW_OK) return; /* a singular position */
    const lw_status known = lw_simulation_outputs(s, values);
    lw_simulation_destroy(s);
    if (known != LW_OK) return;
    for (int k = 0; k < lw_model_output_count(plain); k++) {
        int f = 0;
        while (strcmp(lw_model_force_name(driven, f), lw_model_output_name(plain, k)) != 0) f++;
        if (driven->forces[f].closure >= 0) return; /* tau cannot act on a joint that closes a loop. */
        tau[driven->forces[f].v] += values[k];
    }
    lw_checked *checked = lw_checked_create(plain), *own = lw_checked_create(driven);
    sum->models++;
    for (int i = 0; i < lw_formulation_count(); i++) {
        const lw_formulation *f = lw_formulation_at(i);
        const lw_method_options none = {0};
        lw_method *one = NULL, *two = NULL;
        if (f->applies(plain, &error) != LW_OK) continue;
        if (f->applies(driven, &error) != LW_OK) {
            sum->refused++; /* director and, with bodies without mass, massless */
            assert_true(strncmp(f->name, "director", 8) == 0 || strcmp(f->name, "massless") == 0);
            continue;
        }
        assert_int_equal(f->create(plain, &none, &one, &error), LW_OK);
        assert_int_equal(f->create(driven, &none, &two, &error), LW_OK);
        const lw_status first =
            lw_checked_accelerations(checked, &(lw_checked_state){one, &none, t, q, v, tau},
                                     (lw_checked_answer){.vdot = wanted}, &error);
        if (first == LW_OK) {
            const lw_status second =
                lw_checked_accelerations(own, &(lw_checked_state){two, &none, t, q, v, NULL},
                                         (lw_checked_answer){.vdot = got}, &error);
            const double gap = relative_difference(wanted, got, lw_model_v_size(plain));
            if (second != LW_OK || gap > fmax(1e-7, 100 * f->accuracy))
                fail_msg("seed %d, method %s: %s, accelerations differ by %g", seed, f->name,
                         second ? error.message : "", gap);
            if (f->accuracy == 0) sum->worst = fmax(sum->worst, gap);
            sum->methods++;
        }
        f->destroy(one);
        f->destroy(two);
    }
    lw_checked_destroy(checked);
    lw_checked_destroy(own);
}

static void random_quantities_in_trees(void **state) {
    (void)state;
    tally sum = {0};
    for (int seed = 1; seed <= 120; seed++) {
        lw_random random = random_seed((uint64_t)seed + 4400);
        const random_tree options = {.bodies = 2 + random_below(&random, 8),
                                     .forces = true,
                                     .prescribed = seed % 3 == 0,
                                     .reversed = true,
                                     .aligned = seed % 2,
                                     .joint = -1};
        lw_spec *spec = random_tree_spec(&random, &options), *plain = copy_of(spec);
        const int count = add_drives(&random, spec, plain);
        lw_model *driven = compile_or_fail(spec), *without = compile_or_fail(plain);
        double q[128], v[128];
        random_state(&random, without, q, v);
        if (count) compare_drives(driven, without, 0.7, q, v, seed, &sum);
        lw_model_destroy(driven);
        lw_model_destroy(without);
    }
    print_message("%d trees, %d comparisons, worst %.2g; %d methods refuse\n", sum.models, sum.methods,
                  sum.worst, sum.refused);
    assert_true(sum.models > 60 && sum.methods > 5 * sum.models);
}

static void random_quantities_in_loops(void **state) {
    (void)state;
    tally sum = {0};
    for (int seed = 1; seed <= 60; seed++) {
        random_loops *loops = calloc(1, sizeof *loops);
        random_loops_build(loops, seed);
        lw_spec *spec = loops->spec, *plain = copy_of(spec);
        const int count = add_drives(&loops->random, spec, plain);
        lw_report *report = lw_report_create();
        lw_model *driven = NULL, *without = NULL;
        /* Drives let the library choose other cuts; then there is nothing to compare. */
        if (count && lw_model_compile(spec, NULL, report, &driven) == LW_OK &&
            lw_model_compile(plain, NULL, report, &without) == LW_OK && driven->nq == without->nq &&
            driven->nv == without->nv) {
            bool same = true;
            for (int j = 0; j < driven->joint_count; j++)
                same = same && driven->joints[j].info.cut == without->joints[j].info.cut &&
                       driven->joints[j].info.v == without->joints[j].info.v;
            double q[256], v[256];
            random_loops_configuration(loops, without, q);
            if (same) {
                (void)random_loops_state(loops, without, false, q, v);
                compare_drives(driven, without, loops->t, q, v, seed, &sum);
            }
        }
        lw_model_destroy(driven);
        lw_model_destroy(without);
        lw_report_destroy(report);
        lw_spec_destroy(spec);
        lw_spec_destroy(plain);
        free(loops);
    }
    print_message("%d mechanisms with loops, %d comparisons, worst %.2g; %d methods refuse\n", sum.models,
                  sum.methods, sum.worst, sum.refused);
    assert_true(sum.models > 15 && sum.methods > 4 * sum.models);
}

/* --- batches, solvers, gradients ------------------------------------------------------------------ */

static void solvers_and_batches_see_states(void **state) {
    (void)state;
    lw_model *model = read_text(pid_text);
    double x[2] = {0.7, -0.3}, w = 0.1;
    lw_solver_options options;
    lw_solver *solver = NULL;
    lw_batch *batch = NULL;
    lw_error error = {0};
    lw_solver_defaults(model, &options);
    options.states = x, options.inputs = &w;
    assert_int_equal(lw_solver_create(model, &options, NULL, &solver, &error), LW_OK);
    assert_int_equal(lw_batch_create(model, 1, NULL, &batch), LW_OK);
    assert_int_equal(lw_batch_set_inputs(batch, &w), LW_OK);
    assert_int_equal(lw_batch_set_states(batch, x), LW_OK);
    enum { COUNT = 9 };
    double q[COUNT], v[COUNT], out[COUNT];
    for (int turn = 0; turn < 2; turn++, x[0] = -2) {
        for (int k = 0; k < COUNT; k++) q[k] = 0.3 * k - 1, v[k] = 0.2 * k;
        assert_int_equal(lw_tree_forward_dynamics_batch(model, batch, COUNT, 0, q, v, NULL, out, &error),
                         LW_OK);
        for (int k = 0; k < COUNT; k++) {
            const double torque = 20 * (0.5 - q[k]) + 8 * x[0] - 4 * v[k] + x[1];
            const double wanted = (torque - 9.81 * 0.5 * sin(q[k])) / 0.35;
            double vdot;
            assert_int_equal(lw_solver_accelerations(solver, 0, &q[k], &v[k], NULL, &vdot, &error), LW_OK);
            assert_true(fabs(vdot - wanted) < 1e-12 * (1 + fabs(wanted)));
            assert_true(fabs(out[k] - wanted) < 1e-12 * (1 + fabs(wanted)));
        }
    }
    lw_solver_destroy(solver);
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

static void gradients_against_differences(void **state) {
    (void)state;
    static const char *const texts[] = {"a*sin(b*x) + c^2/(1 + a^2)", "step(a, 0, b, 2, c)*x",
                                        "max(a, b)*c + t*a", "if(a > b, a*c, b/c)",
                                        "hypot(a, b) + atan2(c, a)*mod(b, 3)"};
    const lw_constant names[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    const char *const variables[] = {"x", "t"};
    const lw_expression_names known = {.inputs = names,
                                       .input_count = 1,
                                       .state_count = 1,
                                       .signal_count = 1,
                                       .variables = variables,
                                       .variable_count = 2};
    lw_arena *arena = lw_arena_create(NULL);
    lw_random random = random_seed(12);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        const lw_function *f = lw_function_compile(arena, texts[k], &known, NULL);
        assert_non_null(f);
        for (int turn = 0; turn < 20; turn++) {
            double values[3], x[2], slopes[3], of_variables[2];
            const int *entries;
            for (int i = 0; i < 3; i++) values[i] = random_between(&random, 0.3, 1.8);
            for (int i = 0; i < 2; i++) x[i] = random_between(&random, -1, 1);
            const size_t count = lw_function_inputs(f, &entries);
            const double value = lw_function_gradient(f, x, values, slopes, of_variables, 2);
            assert_true(value == lw_function_value(f, x, values));
            for (size_t i = 0; i < count + 2; i++) {
                double *at = i < count ? &values[entries[i]] : &x[i - count], kept = *at, h = 1e-6;
                *at = kept + h;
                const double above = lw_function_value(f, x, values);
                *at = kept - h;
                const double below = lw_function_value(f, x, values);
                *at = kept;
                const double slope = i < count ? slopes[i] : of_variables[i - count];
                if (fabs(slope - (above - below) / (2 * h)) > 1e-7 * (1 + fabs(slope)))
                    fail_msg("%s: slope %zu is %g, not %g", texts[k], i, slope, (above - below) / (2 * h));
            }
        }
    }
    lw_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cart_pole_with_state_feedback),
        cmocka_unit_test(pid_with_actuator),
        cmocka_unit_test(orders_are_kept),
        cmocka_unit_test(snapshots_to_the_last_bit),
        cmocka_unit_test(defaults_that_are_expressions),
        cmocka_unit_test(motions_of_states),
        cmocka_unit_test(random_quantities_in_trees),
        cmocka_unit_test(random_quantities_in_loops),
        cmocka_unit_test(solvers_and_batches_see_states),
        cmocka_unit_test(gradients_against_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

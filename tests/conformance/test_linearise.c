/* test_linearise.c - linear systems near a state: against closed forms (quarter car, cart-pole, double
 * pendulum), against the equations of the benchmark bicycle at many speeds, and against differences of runs
 * that start beside each other, loops, rolling wheels and user states included; exact derivatives with
 * respect to inputs and user states, and of elements at each joint of a loop that is cut there, against
 * differences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "problems.h"
#include "random_model.h"
#include "model/compiled_model.h"

#include <linkwork/linkwork.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40 };

static lw_linear_system *system_of(const lw_model *model, const lw_linearise_options *options) {
    lw_linear_system *system = NULL;
    lw_error error = {0};
    if (lw_linearise(model, options, &system, &error) != LW_OK)
        fail_msg("%s: %s", lw_model_name(model), error.message);
    return system;
}

static lw_linear_system *at_rest(const lw_model *model, lw_equilibrium **equilibrium) {
    lw_linearise_options options;
    lw_error error = {0};
    lw_linearise_defaults(model, &options);
    if (lw_equilibrium_find(model, &options, equilibrium, &error) != LW_OK) fail_msg("%s", error.message);
    assert_true((*equilibrium)->converged);
    options.q = (*equilibrium)->q, options.states = (*equilibrium)->states;
    return system_of(model, &options);
}

static double parameter(const lw_model *model, const char *name) {
    return lw_model_parameter_value(model, lw_model_parameter(model, name));
}

static void near(double expected, double found, double tolerance) {
    if (!(fabs(expected - found) <= tolerance * (1 + fabs(expected))))
        fail_msg("%.15g and not %.15g", found, expected);
}

/* --- closed forms ---------------------------------------------------------------------------------- */

static void quarter_car(void **state) {
    (void)state;
    lw_model *model = read_problem("quarter_car");
    lw_linearise_options options;
    lw_linearise_defaults(model, &options);
    lw_linear_system *s = system_of(model, &options);
    const double mb = parameter(model, "mb"), mw = parameter(model, "mw"), ks = parameter(model, "ks"),
                 cs = parameter(model, "cs"), kt = parameter(model, "kt");
    const double A[16] = {0,       0,        1,       0,        0,       0,       0,
                          1,       -ks / mb, ks / mb, -cs / mb, cs / mb, ks / mw, -(ks + kt) / mw,
                          cs / mw, -cs / mw};
    assert_int_equal(s->states, 4);
    for (int k = 0; k < 16; k++) near(A[k], s->A[k], 1e-12);
    lw_linear_system_destroy(s);
    lw_model_destroy(model);
}

/* The equations in the head of the problem's file, linearised by hand; its eigenvalues are in there, too. */
static void cart_pole(void **state) {
    (void)state;
    lw_model *model = read_problem("cart_pole");
    lw_equilibrium *e;
    lw_linear_system *s = at_rest(model, &e);
    const double m = parameter(model, "m_pole"), M = parameter(model, "m_cart"), b = parameter(model, "b"),
                 J = parameter(model, "Jp"), l = parameter(model, "l"), g = 9.8;
    const double k[4] = {parameter(model, "k1"), parameter(model, "k3"), parameter(model, "k2"),
                         parameter(model, "k4")};
    const double determinant = (M + m) * (J + m * l * l) - m * m * l * l;
    /* (M + m) x'' - m l a'' = u - b x',  (J + m l^2) a'' - m l x'' = m g l a,  u = -k y */
    const double force[4] = {-k[0], -k[1], -k[2] - b, -k[3]}, weight[4] = {0, m * g * l, 0, 0};
    assert_int_equal(s->states, 4);
    for (int c = 0; c < 4; c++) {
        near(((J + m * l * l) * force[c] + m * l * weight[c]) / determinant, s->A[8 + c], 1e-11);
        near(((M + m) * weight[c] + m * l * force[c]) / determinant, s->A[12 + c], 1e-11);
    }
    near((J + m * l * l) / determinant, s->B[2], 1e-12);
    near(m * l / determinant, s->B[3], 1e-12);
    near(1, s->C[0], 1e-12); /* the tip: x - 2 l sin a */
    near(-2 * l, s->C[1], 1e-12);
    for (int c = 0; c < 4; c++) near(-k[c], s->C[8 + c], 1e-12);
    assert_int_equal(s->controllable, 4);
    assert_int_equal(s->observable, 4);
    near(-4.7592, s->eigenvalues[0], 2e-5);
    near(-8.4910, s->eigenvalues[4], 2e-5);
    lw_linear_system_destroy(s);
    lw_equilibrium_destroy(e);
    lw_model_destroy(model);
}

/* --- the bicycle ----------------------------------------------------------------------------------- */

/* |det(M x^2 + v C x + g K0 + v^2 K2)| relative to its terms, with the matrices that Meijaard and others
 * (2007) print, for x = re + i im. */
static double bicycle_residual(double v, double re, double im) {
    const double M[4] = {80.81722, 2.31941332208709, 2.31941332208709, 0.29784188199686};
    const double C[4] = {0, 33.86641391492494, -0.85035641456978, 1.68540397397560};
    const double K0[4] = {-80.95, -2.59951685249872, -2.59951685249872, -0.80329488458618};
    const double K2[4] = {0, 76.59734589573222, 0, 2.65431523794604};
    double r[4], i[4], size[4];
    for (int k = 0; k < 4; k++) {
        r[k] = M[k] * (re * re - im * im) + v * C[k] * re + 9.81 * K0[k] + v * v * K2[k];
        i[k] = 2 * M[k] * re * im + v * C[k] * im;
        size[k] = fabs(M[k]) * (re * re + im * im) + fabs(v * C[k]) * hypot(re, im) + fabs(9.81 * K0[k]) +
                  fabs(v * v * K2[k]);
    }
    const double real = r[0] * r[3] - i[0] * i[3] - r[1] * r[2] + i[1] * i[2];
    const double imaginary = r[0] * i[3] + i[0] * r[3] - r[1] * i[2] - i[1] * r[2];
    return hypot(real, imaginary) / (size[0] * size[3] + size[1] * size[2]);
}

static void bicycle(void **state) {
    (void)state;
    const double published[4][2] = {{-0.322866429004, 0},
                                    {-0.775341882196, 4.464867713788},
                                    {-0.775341882196, -4.464867713788},
                                    {-14.078389692798, 0}};
    for (int speed = 1; speed <= 10; speed++) {
        char value[16];
        snprintf(value, sizeof value, "%d", speed);
        lw_model *model = read_problem_with("bicycle", "speed", value);
        lw_linearise_options options;
        lw_linearise_defaults(model, &options);
        lw_linear_system *s = system_of(model, &options);
        assert_int_equal(s->coordinates, 7);
        assert_int_equal(s->speeds, 3);
        for (int k = 0; k < 6;
             k++) /* place on the road, heading, wheels, speed: a double zero is right to 1e-8 */
            assert_true(hypot(s->eigenvalues[2 * k], s->eigenvalues[2 * k + 1]) < 1e-6);
        for (int k = 6; k < 10; k++) {
            const double re = s->eigenvalues[2 * k], im = s->eigenvalues[2 * k + 1];
            /* The matrices are printed with 14 digits. */
            if (!(bicycle_residual(speed, re, im) < 1e-12))
                fail_msg("%d m/s: %.12g %.12g has %g", speed, re, im, bicycle_residual(speed, re, im));
            if (speed == 5) {
                near(published[k - 6][0], re, 1e-10);
                near(published[k - 6][1], im, 1e-10);
            }
        }
        lw_linear_system_destroy(s);
        lw_model_destroy(model);
    }
}

/* --- differences of runs --------------------------------------------------------------------------- */

/* The state x of a run at its end, relative to another position: independent coordinates, speeds, user
 * states. */
static void state_after(const lw_model *model, const lw_linear_system *s, const double *x0, double end,
                        const double *states, double *q_out, double *v_out, double *user) {
    double q[MOST], v[MOST], dq[MOST] = {0}, start[MOST];
    lw_run_options options;
    lw_simulation *simulation = NULL;
    lw_error error = {0};
    const int nv = lw_model_v_size(model), nq = lw_model_q_size(model);
    memcpy(q, s->q, (size_t)nq * sizeof *q);
    memcpy(v, s->v, (size_t)nv * sizeof *v);
    for (int k = 0; k < nv; k++)
        for (int j = 0; j < s->coordinates; j++) dq[k] += s->motions[k * s->coordinates + j] * x0[j];
    lw_integrate_q(model, q, dq, 1);
    for (int k = 0; k < nv; k++)
        for (int j = 0; j < s->speeds; j++)
            v[k] += s->speed_motions[k * s->speeds + j] * x0[s->coordinates + j];
    for (int k = 0; k < s->user_states; k++)
        start[k] = (states ? states[k] : lw_model_state_start(model, k)) + x0[s->coordinates + s->speeds + k];
    lw_run_defaults(model, &options);
    options.tolerance = 1e-12, options.step = 0, options.integrator = NULL;
    options.q = q, options.v = v, options.states = s->user_states ? start : NULL, options.end = end;
    if (lw_simulation_create(model, &options, NULL, &simulation, &error) != LW_OK ||
        lw_simulation_advance(simulation, end, &error) != LW_OK)
        fail_msg("%s: %s", lw_model_name(model), error.message);
    lw_simulation_state(simulation, q_out, v_out);
    if (s->user_states) lw_simulation_states(simulation, user);
    lw_simulation_destroy(simulation);
}

/* exp(A t) x by its series in short steps. */
static void propagate(const lw_linear_system *s, double t, double *x) {
    const int n = s->states, steps = 400;
    for (int step = 0; step < steps; step++) {
        double term[MOST], next[MOST];
        memcpy(term, x, (size_t)n * sizeof *x);
        for (int order = 1; order < 12; order++) {
            for (int i = 0; i < n; i++) {
                next[i] = 0;
                for (int j = 0; j < n; j++) next[i] += s->A[i * n + j] * term[j] * t / steps / order;
            }
            memcpy(term, next, (size_t)n * sizeof *x);
            for (int i = 0; i < n; i++) x[i] += term[i];
        }
    }
}

/* Runs that start at +-d beside a steady state differ by 2 d exp(A t) x0, to d^2. first: the first state that
 * is displaced; those before it (coordinates of rolling wheels) are not. */
static void compare_runs(const lw_model *model, const lw_linear_system *s, const double *states, double end,
                         int first) {
    const double d = 1e-4;
    for (int column = first; column < s->states; column++) {
        double x[MOST] = {0}, q[2][MOST], v[2][MOST], user[2][MOST], found[MOST], size = 0;
        for (int side = 0; side < 2; side++) {
            double x0[MOST] = {0};
            x0[column] = side ? -d : d;
            state_after(model, s, x0, end, states, q[side], v[side], user[side]);
        }
        x[column] = 1;
        propagate(s, end, x);
        for (int k = 0; k < s->states; k++) size = fmax(size, fabs(x[k]));
        for (int k = 0; k < s->states; k++) {
            const bool plain = k < s->coordinates;
            if (k < s->coordinates + s->speeds) {
                const int speed = s->coordinate_of[k];
                int body = 1;
                while (body < model->body_count && model->links[body + 1].v <= speed) body++;
                const lw_link *link = &model->links[body];
                const int c = speed - link->v, at = lw_joint_quaternion(link->joint.type);
                if (!plain)
                    found[k] = (v[0][speed] - v[1][speed]) / (2 * d);
                else if (at < 0 || c < at)
                    found[k] = (q[0][link->q + c] - q[1][link->q + c]) / (2 * d);
                else {
                    double back[4], turn[4], phi[3];
                    const double *from = q[1] + link->q + at;
                    back[0] = from[0];
                    for (int i = 1; i < 4; i++) back[i] = -from[i];
                    lw_quat_mul(back, q[0] + link->q + at, turn);
                    lw_quat_log(turn, phi);
                    found[k] = phi[c - at] / (2 * d);
                }
            } else
                found[k] =
                    (user[0][k - s->coordinates - s->speeds] - user[1][k - s->coordinates - s->speeds]) /
                    (2 * d);
            if (!(fabs(found[k] - x[k]) < 3e-6 * (1 + size))) /* d^2 times third derivatives, tolerance / d */
                fail_msg("%s: %s after a change of %s is %.9g, and %.9g by runs", lw_model_name(model),
                         s->state_names[k], s->state_names[column], x[k], found[k]);
        }
    }
}

static void differences_of_runs(void **state) {
    (void)state;
    static const char *const problems[] = {"double_pendulum", "cart_pole", "pid_arm",           "four_bar",
                                           "ladder",          "bennett",   "five_bar_redundant"};
    for (size_t k = 0; k < sizeof problems / sizeof problems[0]; k++) {
        lw_model *model = read_problem(problems[k]);
        lw_equilibrium *e;
        lw_linear_system *s = at_rest(model, &e);
        compare_runs(model, s, e->states, 0.4, 0);
        lw_linear_system_destroy(s);
        lw_equilibrium_destroy(e);
        lw_model_destroy(model);
    }
    lw_model *model = read_problem("bicycle"); /* in steady motion; places on the road shift nothing */
    lw_linearise_options options;
    lw_linearise_defaults(model, &options);
    lw_linear_system *s = system_of(model, &options);
    compare_runs(model, s, NULL, 0.3, s->coordinates);
    lw_linear_system_destroy(s);
    lw_model_destroy(model);
}

/* --- inputs, user states, cut joints ---------------------------------------------------------------- */

static const char *const linkage =
    "linkwork: 1\nname: linkage\nparameters: {k: 3}\ninputs: {push: 2, pull: 0.5*push + sin(t)}\n"
    "states: {filter: {start: 0.4, rate: 2*(A.q - filter) + push*B.v}, other: {start: -1, rate: filter*other "
    "- C.v}}\n"
    "signals: {gain: filter^2 + push*B.v, mix: 'gain*cos(A.q) + body.rod.z + distance(com(rod), "
    "com(lever))'}\n"
    "bodies:\n"
    "  crank: {mass: 1, com: [0.1, 0, 0.1], inertia: [0.02, 0.03, 0.01]}\n"
    "  rod: {mass: 2, com: [0.3, 0, 0.3], inertia: [0.02, 0.03, 0.01]}\n"
    "  lever: {mass: 1.5, com: [0.6, 0, 0.2], inertia: [0.02, 0.03, 0.01]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0]%s}\n"
    "  B: {type: revolute, between: [crank, rod], point: [0.1, 0, 0.3], axis: [0, 1, 0]%s}\n"
    "  C: {type: %s, between: [rod, lever], point: [0.6, 0, 0.5], axis: [0, 1, 0]%s}\n"
    "  D: {type: revolute, between: [ground, lever], point: [0.7, 0, 0], axis: [0, 1, 0]%s}\n"
    "forces:\n"
    "  sA: {type: torsion, joint: A, stiffness: 2, damping: 0.3, free: 0.2, law: mix*x^2 + v*gain}\n"
    "  sB: {type: drive, joint: B, force: sin(q)*push + filter - 0.2*v^3}\n"
    "  dC: {type: torsion, joint: C, %s stiffness: 5, damping: 0.4, law: 0.3*x^3*mix}\n"
    "  fD: {type: friction, joint: D, viscous: 0.2, coulomb: 0.3, smoothing: 0.5}\n"
    "  mD: {type: drive, joint: D, force: q*v*k + other*pull}\n"
    "  line: {type: spring, between: [crank, lever], points: [[0.05, 0.1, 0.2], [0.7, -0.1, 0.3]], length: "
    "0.3, stiffness: 30, "
    "damping: 2, law: gain*x + 0.1*v^2}\n"
    "  wind: {type: applied, body: rod, point: [0.3, 0.1, 0.4], force: [mix, 1, push*t], torque: [0, other, "
    "0], axes: body}\n";

typedef struct input_case {
    const lw_model *model;
    lw_solver *solver;
    const double *q, *v;
    double *inputs, *states;
    int column;
} input_case;

/* The derivative of the accelerations with respect to an input or user state by central differences. */
static void input_difference(input_case *c, double *x, double *out) {
    double plus[MOST], minus[MOST], keep = *x, first[MOST];
    const int nv = lw_model_v_size(c->model);
    for (int level = 0; level < 2; level++) {
        const double h = level ? 5e-4 : 1e-3;
        *x = keep + h;
        assert_int_equal(lw_solver_accelerations(c->solver, 0.3, c->q, c->v, NULL, plus, NULL), LW_OK);
        *x = keep - h;
        assert_int_equal(lw_solver_accelerations(c->solver, 0.3, c->q, c->v, NULL, minus, NULL), LW_OK);
        *x = keep;
        for (int k = 0; k < nv; k++) {
            const double slope = (plus[k] - minus[k]) / (2 * h);
            out[k] = level ? (4 * slope - first[k]) / 3 : slope;
            first[k] = slope;
        }
    }
}

static void elements_at_cuts(void **state) {
    (void)state;
    for (int trial = 0; trial < 8; trial++) {
        char text[4096];
        const int cut = trial % 4, ball = trial >= 4;
        snprintf(text, sizeof text, linkage, cut == 0 ? ", cut: true" : "", cut == 1 ? ", cut: true" : "",
                 ball ? "cylindrical" : "revolute", cut == 2 ? ", cut: true" : "",
                 cut == 3 ? ", cut: true" : "", ball ? "coordinate: angle," : "");
        if (ball) { /* A law names the coordinate's quantities by those of the joint. */
            char *at;
            while ((at = strstr(text, "C.v"))) memcpy(at, "B.v", 3);
        }
        if (cut < 2)
            continue; /* A and B appear by their coordinates, which cut joints have in results only. */
        lw_model *model = compile_or_fail(read_text_spec(text));
        const int nv = lw_model_v_size(model);
        double q[MOST], v[MOST], inputs[2] = {1.7, NAN}, states[2] = {0.6, -0.8}, vdot[MOST];
        static double dq[MOST * MOST], dv[MOST * MOST], di[MOST * 2], ds[MOST * 2], basis[MOST * MOST];
        lw_solver_options options;
        lw_derivatives *d = NULL;
        lw_error error = {0};
        lw_model_initial_state(model, q, v);
        v[0] = 1.3;
        assert_int_equal(lw_assemble(model, 0.3, q, v, NULL, &error), LW_OK);
        lw_solver_defaults(model, &options);
        options.inputs = inputs, options.states = states, options.method = "cut";
        if (lw_derivatives_create(model, &options, NULL, &d, &error) != LW_OK) fail_msg("%s", error.message);
        lw_acceleration_derivatives out = {.vdot = vdot, .dq = dq, .dv = dv, .dinputs = di, .dstates = ds};
        if (lw_derivatives_of_accelerations(d, 0.3, q, v, NULL, &out, &error) != LW_OK)
            fail_msg("%s", error.message);
        input_case c = {.model = model, .solver = lw_derivatives_solver(d), .q = q, .v = v};
        double slope[MOST];
        for (int k = 0; k < 2; k++) {
            input_difference(&c, &states[k], slope);
            for (int i = 0; i < nv; i++) near(slope[i], ds[i * 2 + k], 1e-8);
        }
        input_difference(&c, &inputs[0], slope);
        for (int i = 0; i < nv; i++) near(slope[i], di[i * 2], 1e-8);
        inputs[1] = 0.5 * inputs[0] + sin(0.3); /* its default there */
        input_difference(&c, &inputs[1], slope);
        for (int i = 0; i < nv; i++) near(slope[i], di[i * 2 + 1], 1e-8);
        inputs[1] = NAN;
        /* Along the motions that the loop admits, by differences of assembled states. */
        int mobility;
        assert_int_equal(lw_solver_mobility(c.solver, 0.3, q, &mobility, &error), LW_OK);
        assert_int_equal(lw_solver_tangent_basis(c.solver, 0.3, q, mobility, basis, NULL, &error), LW_OK);
        for (int j = 0; j < mobility; j++) {
            double a[2][2][MOST], w[2][2][MOST], along[MOST], difference[MOST], faster[MOST];
            for (int k = 0; k < nv; k++) along[k] = basis[k * mobility + j];
            for (int level = 0; level < 2; level++)
                for (int side = 0; side < 2; side++) {
                    double p[MOST], *u = w[level][side];
                    memcpy(p, q, sizeof p);
                    memcpy(u, v, sizeof v);
                    lw_integrate_q(model, p, along, (side ? -1 : 1) * (level ? 5e-4 : 1e-3));
                    assert_int_equal(lw_assemble(model, 0.3, p, u, NULL, &error), LW_OK);
                    assert_int_equal(
                        lw_solver_accelerations(c.solver, 0.3, p, u, NULL, a[level][side], &error), LW_OK);
                }
            for (int k = 0; k < nv; k++) {
                double first = (a[0][0][k] - a[0][1][k]) / 2e-3, second = (a[1][0][k] - a[1][1][k]) / 1e-3;
                difference[k] = (4 * second - first) / 3;
                first = (w[0][0][k] - w[0][1][k]) / 2e-3, second = (w[1][0][k] - w[1][1][k]) / 1e-3;
                faster[k] = (4 * second - first) / 3;
            }
            for (int i = 0; i < nv; i++) {
                double exact = 0;
                for (int k = 0; k < nv; k++) exact += dq[i * nv + k] * along[k] + dv[i * nv + k] * faster[k];
                near(difference[i], exact, 2e-6); /* h^4 of differences at 1e-3 */
            }
        }
        lw_derivatives_destroy(d);
        lw_model_destroy(model);
    }
}

/* --- refusals --------------------------------------------------------------------------------------- */

static void refusals(void **state) {
    (void)state;
    lw_model *model = read_problem("four_bar");
    lw_linearise_options options;
    lw_linear_system *s = NULL;
    lw_error error = {0};
    lw_linearise_defaults(model, &options);
    assert_int_equal(lw_linearise(NULL, &options, &s, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_linearise(model, NULL, &s, &error), LW_ERROR_ARGUMENT);
    const char *names[2] = {"A", "nothing"};
    options.coordinates = names, options.coordinate_count = 2;
    assert_int_equal(lw_linearise(model, &options, &s, &error), LW_ERROR_ARGUMENT);
    options.coordinate_count = 1;
    lw_linear_system *named = system_of(model, &options);
    assert_string_equal(named->state_names[0], "A.q");
    options.coordinates = names + 1;
    assert_int_equal(lw_linearise(model, &options, &s, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "nothing"));
    options.coordinates = NULL;
    lw_linear_system *chosen =
        system_of(model, &options); /* Eigenvalues depend on no choice of coordinates. */
    for (int k = 0; k < 2; k++) assert_non_null(chosen->state_names[k]);
    lw_linear_system_destroy(named);
    lw_linear_system_destroy(chosen);
    lw_model_destroy(model);
    /* Single accelerations of motions without mass have no derivatives, though linear systems have them. */
    lw_derivatives *derivatives = NULL;
    model = read_problem("series_damper");
    assert_int_equal(lw_derivatives_create(model, NULL, NULL, &derivatives, &error), LW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "no mass"));
    assert_non_null(strstr(error.object, "body"));
    assert_null(derivatives);
    lw_model_destroy(model);
}

/* Outputs of forces, reactions and accelerations of bodies: a mass on a spring with a push by hand; reactions of
 * the four-bar against their exact derivatives. */
static const char pushed[] =
    "linkwork: 1\nname: pushed\ninputs: {push: 3}\nbodies: {m: {kind: point, mass: 2}}\n"
    "joints: {z: {type: prismatic, between: [ground, m], axis: [0, 0, 1], q: 0.1, v: 0.2}}\n"
    "forces:\n  s: {type: torsion, joint: z, stiffness: 50, damping: 3}\n  p: {type: drive, joint: z, force: "
    "push^2}\n"
    "outputs: {held: force(s), height: 2*z.q, felt: body.m.az}\nrun: {end: 1}\n";

static void outputs_of_forces(void **state) {
    static const double C[] = {-50, -3, 2, 0, -25, -1.5}, D[] = {0, 0, 3};
    (void)state;
    lw_spec *spec = read_text_spec(pushed);
    lw_model *model = compile_or_fail(spec);
    double q = 0.1, v = 0.2;
    lw_linearise_options options;
    lw_linearise_defaults(model, &options);
    options.q = &q, options.v = &v;
    lw_linear_system *system = system_of(model, &options);
    assert_int_equal(system->outputs, 3);
    assert_int_equal(system->left_out_count, 0);
    for (int k = 0; k < 6; k++) assert_true(fabs(system->C[k] - C[k]) < 1e-8);
    for (int k = 0; k < 3; k++) assert_true(fabs(system->D[k] - D[k]) < 1e-8);
    assert_string_equal(system->output_names[1], "height");
    lw_linear_system_destroy(system);
    lw_model_destroy(model);
    spec = read_problem_spec("four_bar", NULL, 0);
    assert_int_equal(lw_spec_add_output(spec, &(lw_output_spec){.name = "x", .value = "reaction(A).fx"}),
                     LW_OK);
    assert_int_equal(lw_spec_add_output(spec, &(lw_output_spec){.name = "z", .value = "reaction(D).fz"}),
                     LW_OK);
    model = compile_or_fail(spec);
    lw_linearise_defaults(model, &options);
    double start_q[16], start_v[16];
    lw_error error = {0};
    lw_model_initial_state(model, start_q, start_v);
    assert_int_equal(lw_assemble(model, 0, start_q, start_v, NULL, &error), LW_OK);
    memset(start_v, 0, sizeof start_v);
    options.q = start_q, options.v = start_v;
    system = system_of(model, &options);
    const int nv = lw_model_v_size(model), joints = lw_model_joint_count(model),
              places[2] = {6 * lw_model_joint(model, "A"), 6 * lw_model_joint(model, "D") + 2};
    double dq[6 * 8 * 8], dv[6 * 8 * 8];
    assert_true(joints <= 8 && nv <= 8);
    lw_derivatives *derivatives;
    assert_int_equal(lw_derivatives_create(model, NULL, NULL, &derivatives, &error), LW_OK);
    assert_int_equal(lw_derivatives_prepare_reactions(derivatives, &error), LW_OK);
    assert_int_equal(lw_derivatives_of_reactions(derivatives, 0, start_q, start_v, NULL,
                                                 &(lw_reaction_derivatives){.dq = dq, .dv = dv}, &error),
                     LW_OK);
    for (int k = 0; k < 2; k++) {
        double by_speed = 0, by_place = 0, most = 0;
        for (int i = 0; i < nv; i++) {
            by_place += dq[places[k] * nv + i] * system->motions[i];
            by_speed += dv[places[k] * nv + i] * system->speed_motions[i];
            most = fmax(most, fabs(dq[places[k] * nv + i]));
        }
        assert_int_equal(system->states, 2);
        /* At rest speeds do not change with the position. */
        assert_true(fabs(system->C[2 * (system->outputs - 2 + k)] - by_place) < 1e-8 * fmax(most, 1));
        assert_true(fabs(system->C[2 * (system->outputs - 2 + k) + 1] - by_speed) < 1e-8 * fmax(most, 1));
    }
    lw_derivatives_destroy(derivatives);
    lw_linear_system_destroy(system);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quarter_car),
        cmocka_unit_test(cart_pole),
        cmocka_unit_test(bicycle),
        cmocka_unit_test(refusals),
        cmocka_unit_test(outputs_of_forces),
        cmocka_unit_test(elements_at_cuts),
        cmocka_unit_test(differences_of_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

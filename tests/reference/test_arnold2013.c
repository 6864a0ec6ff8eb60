/* test_arnold2013.c - method massless against equations written by hand: the paper's (6), (34)-(36), a Maxwell element, springs in a
 * row without dampers, a hinge whose middle part has no inertia. Each reference is an ordinary differential equation for what has
 * mass and for the first-order coordinates, integrated here by a Runge-Kutta method of fourth order; positions,
 * velocities and the velocities at the start must agree. (linkwork reproduce has the matrix exponential.)
 */
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

enum { STATES = 6, SAMPLES = 40, SUBSTEPS = 500 };

/* z' = f(t, z), and the joint coordinates and speeds that belong to z. */
typedef struct problem {
    const char *name;
    bool by_springs;    /* a direction is held by springs alone */
    const char *file;   /* in problems/; NULL: text */
    const char *text;   /* of the model */
    const char *set[2]; /* name and value of a parameter; NULL: none */
    int states;
    double start[STATES];
    double end;
    void (*rate)(double t, const double *z, double *rate);
    void (*joints)(double t, const double *z, double *q, double *v);
} problem;

/* --- the equations -------------------------------------------------------------------------------- */

/* (6) and (5b): z = p1, p2, p2'. */
static double oscillator_speed(double t, const double *z) {
    const double c = 1000, d = 20;
    return (50 * sin(10 * t) - c * z[0] + d * z[2] + c * (z[1] - z[0])) / (2 * d);
}
static void oscillator_rate(double t, const double *z, double *rate) {
    const double c = 1000, d = 20, m2 = 1;
    rate[0] = oscillator_speed(t, z);
    rate[1] = z[2];
    rate[2] = (-d * (z[2] - rate[0]) - c * (z[1] - z[0])) / m2;
}
static void oscillator_joints(double t, const double *z, double *q, double *v) {
    q[0] = z[0], q[1] = z[1] - z[0];
    v[0] = oscillator_speed(t, z), v[1] = z[2] - v[0];
}

/* The same without dampers: 0 = F - c p1 + c (p2 - p1) holds at position level. z = p2, p2'. */
static void spring_rate(double t, const double *z, double *rate) {
    const double c = 1000, m2 = 1, p1 = (50 * sin(10 * t) / c + z[0]) / 2;
    rate[0] = z[1];
    rate[1] = -c * (z[0] - p1) / m2;
}
static void spring_joints(double t, const double *z, double *q, double *v) {
    q[0] = (50 * sin(10 * t) / 1000 + z[0]) / 2, q[1] = z[0] - q[0];
    v[0] = (50 * 10 * cos(10 * t) / 1000 + z[1]) / 2, v[1] = z[1] - v[0];
}

/* (34) and (35): z = q_ix, q_iy, p_jx, p_jy, p_jx', p_jy'. */
static void upper_rate(double t, const double *z, double *rate) {
    const double mj = 2, cx = 300, cy = 50, dx = 20, dy = 10, cj = 120, dj = 3;
    (void)t;
    rate[0] = (-cx * z[0] + dj * z[4] + cj * (z[2] - z[0])) / (dx + dj);
    rate[1] = -cy * z[1] / dy;
    rate[2] = z[4], rate[3] = z[5];
    rate[4] = (-dj * (z[4] - rate[0]) - cj * (z[2] - z[0])) / mj;
    rate[5] = 0;
}
static void upper_joints(double t, const double *z, double *q, double *v) {
    double rate[STATES];
    upper_rate(t, z, rate);
    q[0] = z[0], q[1] = z[1], q[2] = z[2] - z[0], q[3] = z[3] - z[1];
    v[0] = rate[0], v[1] = rate[1], v[2] = z[4] - v[0], v[3] = z[5] - v[1];
}

/* The same without the damper along y, where then c q_iy = 0: z = q_ix, p_jx, p_jy, p_jx', p_jy'. */
static void half_rate(double t, const double *z, double *rate) {
    double full[STATES] = {z[0], 0, z[1], z[2], z[3], z[4]}, r[STATES];
    upper_rate(t, full, r);
    rate[0] = r[0], rate[1] = r[2], rate[2] = r[3], rate[3] = r[4], rate[4] = r[5];
}
static void half_joints(double t, const double *z, double *q, double *v) {
    double rate[STATES];
    half_rate(t, z, rate);
    q[0] = z[0], q[1] = 0, q[2] = z[1] - z[0], q[3] = z[2];
    v[0] = rate[0], v[1] = 0, v[2] = z[3] - v[0], v[3] = z[4];
}

/* Below (36): z = q_ix, q_iy, p_jy, q_ix', p_jy'. */
static void lower_rate(double t, const double *z, double *rate) {
    const double mj = 2, cx = 300, cy = 50, dx = 20, dy = 10;
    (void)t;
    rate[0] = z[3];
    rate[1] = -cy * z[1] / dy;
    rate[2] = z[4];
    rate[3] = (-dx * z[3] - cx * z[0]) / mj;
    rate[4] = 0;
}
static void lower_joints(double t, const double *z, double *q, double *v) {
    double rate[STATES];
    lower_rate(t, z, rate);
    q[0] = z[0], q[1] = z[1], q[2] = z[2] - z[1];
    v[0] = z[3], v[1] = rate[1], v[2] = z[4] - v[1];
}

/* d q1' = k q2 for the knot, m p'' = m g - k q2 - beside p for the load: z = q1, p, p'. */
static void series_rate(double t, const double *z, double *rate) {
    const double m = 4, k = 800, d = 60, beside = 200, g = 9.81;
    (void)t;
    rate[0] = k * (z[1] - z[0]) / d;
    rate[1] = z[2];
    rate[2] = g - (k * (z[1] - z[0]) + beside * z[1]) / m;
}
static void series_joints(double t, const double *z, double *q, double *v) {
    double rate[STATES];
    series_rate(t, z, rate);
    q[0] = z[0], q[1] = z[1] - z[0], v[0] = rate[0], v[1] = z[2] - rate[0];
}

/* A pendulum of angle a on a spring k whose other end turns in a damper d: d b' = k (a - b), m l^2 a'' = -k (a - b) - m g l sin a.
 * z = b, a, a'. */
static void hinge_rate(double t, const double *z, double *rate) {
    const double m = 1.5, l = 0.8, k = 20, d = 3, g = 9.81;
    (void)t;
    rate[0] = k * (z[1] - z[0]) / d;
    rate[1] = z[2];
    rate[2] = (-k * (z[1] - z[0]) - m * g * l * sin(z[1])) / (m * l * l);
}
static void hinge_joints(double t, const double *z, double *q, double *v) {
    double rate[STATES];
    hinge_rate(t, z, rate);
    q[0] = z[0], q[1] = z[1] - z[0], v[0] = rate[0], v[1] = z[2] - rate[0];
}
static const char hinge_text[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  sleeve: {mass: 0}\n"
    "  bob: {kind: point, mass: 1.5, com: [0, 0, -0.8]}\n"
    "joints:\n"
    "  b: {type: revolute, between: [ground, sleeve], point: [0, 0, 0], axis: [0, 1, 0], q: 0.2}\n"
    "  a: {type: revolute, between: [sleeve, bob], point: [0, 0, 0], axis: [0, 1, 0], q: 1, v: 2}\n"
    "forces:\n"
    "  damper: {type: torsion, joint: b, damping: 3}\n"
    "  spring: {type: torsion, joint: a, stiffness: 20}\n";

/* Two knots in a row, assumption (23) not needed: ground - damper - knot 1 - spring and damper - knot 2 - spring - mass.
 * z = p1, p2, p3, p3'. */
static void knots_rate(double t, const double *z, double *rate) {
    const double m = 2, d1 = 30, k1 = 400, da = 8, k2 = 250, pull = k2 * (z[2] - z[1]);
    (void)t;
    rate[0] = pull / d1;
    rate[1] = rate[0] + (pull - k1 * (z[1] - z[0])) / da;
    rate[2] = z[3];
    rate[3] = -pull / m;
}
static void knots_joints(double t, const double *z, double *q, double *v) {
    double rate[STATES];
    knots_rate(t, z, rate);
    q[0] = z[0], q[1] = z[1] - z[0], q[2] = z[2] - z[1];
    v[0] = rate[0], v[1] = rate[1] - rate[0], v[2] = z[3] - rate[1];
}
static const char knots_text[] =
    "linkwork: 1\n"
    "gravity: [0, 0, 0]\n"
    "bodies: {k1: {kind: point, mass: 0}, k2: {kind: point, mass: 0}, m: {kind: point, mass: 2}}\n"
    "joints:\n"
    "  q1: {type: prismatic, between: [ground, k1], axis: [1, 0, 0], q: 0.1}\n"
    "  q2: {type: prismatic, between: [k1, k2], axis: [1, 0, 0], q: -0.05}\n"
    "  q3: {type: prismatic, between: [k2, m], axis: [1, 0, 0], q: 0.2, v: 1}\n"
    "forces:\n"
    "  f1: {type: torsion, joint: q1, damping: 30}\n"
    "  f2: {type: torsion, joint: q2, stiffness: 400, damping: 8}\n"
    "  f3: {type: torsion, joint: q3, stiffness: 250}\n";

/* A base without mass that is moved as s(t), a knot after it: d (pk' - s') = k (p - pk), m p'' = -k (p - pk). z = pk, p, p'. */
static void base_rate(double t, const double *z, double *rate) {
    const double m = 2, d = 12, k = 180;
    rate[0] = 0.5 * cos(5 * t) + k * (z[1] - z[0]) / d;
    rate[1] = z[2];
    rate[2] = -k * (z[1] - z[0]) / m;
}
static void base_joints(double t, const double *z, double *q, double *v) {
    double rate[STATES];
    base_rate(t, z, rate);
    q[0] = 0.1 * sin(5 * t), q[1] = z[0] - q[0], q[2] = z[1] - z[0];
    v[0] = 0.5 * cos(5 * t), v[1] = rate[0] - v[0], v[2] = z[2] - rate[0];
}
static const char base_text[] =
    "linkwork: 1\n"
    "gravity: [0, 0, 0]\n"
    "bodies: {base: {mass: 0}, knot: {kind: point, mass: 0}, m: {kind: point, mass: 2}}\n"
    "joints:\n"
    "  q1: {type: prismatic, between: [ground, base], axis: [1, 0, 0], motion: 0.1*sin(5*t)}\n"
    "  q2: {type: prismatic, between: [base, knot], axis: [1, 0, 0]}\n"
    "  q3: {type: prismatic, between: [knot, m], axis: [1, 0, 0], q: 0.1, v: -0.5}\n"
    "forces:\n"
    "  f2: {type: torsion, joint: q2, damping: 12}\n"
    "  f3: {type: torsion, joint: q3, stiffness: 180}\n";

static const problem problems[] = {
    {"two oscillators, (6)",
     false,
     "two_oscillators",
     NULL,
     {0},
     3,
     {0.02, 0.07, 0},
     1,
     oscillator_rate,
     oscillator_joints},
    {"two oscillators, springs only",
     true,
     "two_oscillators",
     NULL,
     {"d", "0"},
     2,
     {0.07, 0},
     1,
     spring_rate,
     spring_joints},
    {"sect. 4, upper",
     false,
     "arnold_sect4_upper",
     NULL,
     {0},
     6,
     {0.1, 0.2, 0.4, 0.1, -1, 0.5},
     2,
     upper_rate,
     upper_joints},
    {"sect. 4, upper, no damper along y",
     true,
     "arnold_sect4_upper",
     NULL,
     {"dy", "0"},
     5,
     {0.1, 0.4, 0.1, -1, 0.5},
     2,
     half_rate,
     half_joints},
    {"sect. 4, lower",
     false,
     "arnold_sect4_lower",
     NULL,
     {0},
     5,
     {0.1, 0.2, 0.1, 0.7, 0.5},
     2,
     lower_rate,
     lower_joints},
    {"spring and damper in series", false, "series_damper", NULL, {0}, 3, {0}, 5, series_rate, series_joints},
    {"sleeve in a hinge", false, NULL, hinge_text, {0}, 3, {0.2, 1.2, 2}, 3, hinge_rate, hinge_joints},
    {"two knots in a row",
     false,
     NULL,
     knots_text,
     {0},
     4,
     {0.1, 0.05, 0.25, 1},
     2,
     knots_rate,
     knots_joints},
    {"knot on a moved base", false, NULL, base_text, {0}, 3, {0, 0.1, 0}, 2, base_rate, base_joints},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* --- running them ---------------------------------------------------------------------------------- */

static void runge_kutta(const problem *p, double t, double h, double *z) {
    double k[4][STATES] = {{0}}, at[STATES];
    static const double place[4] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < p->states; i++) at[i] = z[i] + (s ? h * place[s] * k[s - 1][i] : 0);
        p->rate(t + place[s] * h, at, k[s]);
    }
    for (int i = 0; i < p->states; i++) z[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

typedef struct comparison {
    const problem *p;
    int row, nq;
    double z[STATES], t, positions, velocities, at_start;
} comparison;

static bool compare(const lw_sample *sample, void *context) {
    comparison *c = context;
    double h = c->p->end / SAMPLES / SUBSTEPS, q[STATES], v[STATES];
    for (int k = 0; k < SUBSTEPS && c->row > 0; k++) runge_kutta(c->p, c->t + k * h, h, c->z);
    c->t = sample->t;
    c->p->joints(sample->t, c->z, q, v);
    for (int k = 0; k < c->nq; k++) {
        c->positions = fmax(c->positions, fabs(sample->q[k] - q[k]));
        c->velocities = fmax(c->velocities, fabs(sample->v[k] - v[k]));
    }
    if (c->row++ == 0) c->at_start = fmax(c->positions, c->velocities);
    return true;
}

static lw_model *model_of(const problem *p) {
    return p->file ? read_problem_with(p->file, p->set[0], p->set[1])
                   : compile_or_fail(read_text_spec(p->text));
}

static comparison run(const problem *p, const lw_model *model, const char *integrator, double tolerance) {
    comparison c = {.p = p, .nq = lw_model_q_size(model)};
    memcpy(c.z, p->start, sizeof c.z);
    const lw_run_options options = {.method = "massless",
                                    .integrator = integrator,
                                    .end = p->end,
                                    .tolerance = tolerance,
                                    .output = p->end / SAMPLES,
                                    .observe = compare,
                                    .context = &c};
    lw_error error = {0};
    char text[1200];
    lw_status status = lw_simulate(model, &options, NULL, NULL, NULL, &error);
    lw_error_format(&error, text, sizeof text);
    if (status != LW_OK) {
        print_error("%s, %s: %s\n", p->name, integrator, text);
        c.positions = c.velocities = c.at_start = INFINITY;
    }
    return c;
}

/* A local tolerance binds the global error loosely: explicit codes stay within some ten, BDF codes within some thousand
 * tolerances. At 1e-10 all are far above rounding, and above the error of the reference: with 500 steps per sample, rates up
 * to 50/s and a fourth-order formula that is 1e-13. Speeds are up to ten times as large as positions. */
static void test_trajectories(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double factor;
    } integrators[] = {{"ida", 3000}, {"bdf", 3000}, {"erk", 100}};
    const double tolerance = 1e-10;
    int wrong = 0;
    for (int p = 0; p < PROBLEMS; p++) {
        lw_model *model = model_of(&problems[p]);
        for (int i = 0; i < 3; i++) {
            comparison c = run(&problems[p], model, integrators[i].name, tolerance);
            print_message("%-34s %s: positions %.1e, velocities %.1e, at the start %.1e\n", problems[p].name,
                          integrators[i].name, c.positions, c.velocities, c.at_start);
            wrong += !(c.positions < tolerance * integrators[i].factor);
            wrong += !(c.velocities < 10 * tolerance * integrators[i].factor);
        }
        lw_model_destroy(model);
    }
    assert_int_equal(wrong, 0);
}

/* Consistent velocities at the start: from the balance of forces, while what has mass keeps its own. Rounding only; where springs alone
 * hold a body, its velocity comes from differences of forces, which have half the digits. */
static void test_start(void **state) {
    (void)state;
    int wrong = 0;
    for (int p = 0; p < PROBLEMS; p++) {
        lw_model *model = model_of(&problems[p]);
        comparison c = run(&problems[p], model, "erk", 1e-6);
        print_message("%-34s off by %.1e at the start\n", problems[p].name, c.at_start);
        wrong += !(c.at_start < (problems[p].by_springs ? 1e-8 : 1e-12));
        lw_model_destroy(model);
    }
    assert_int_equal(wrong, 0);
}

/* --- a closed loop: a coupler without mass is a constant distance ---------------------------------------- */

static const char crank_text[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  crank: {mass: 2, com: [0, 0, 0.15], inertia: [0.02, 0.02, 0.001]}\n"
    "  slider: {kind: point, mass: 1.5, position: [0.8, 0, 0.3]}\n"
    "%s"
    "joints:\n"
    "  a: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0], v: 8}\n"
    "  s: {type: prismatic, between: [ground, slider], axis: [1, 0, 0]}\n"
    "%s"
    "forces:\n"
    "  stop: {type: torsion, joint: s, stiffness: 40, damping: 2}\n"
    "%s";

typedef struct crank {
    const lw_model *model;
    lw_data *data;
    int a, slider, rows;
    double at[SAMPLES + 1][3]; /* angle and its rate, place of the slider */
} crank;

static bool keep_crank(const lw_sample *sample, void *context) {
    crank *c = context;
    double position[3], rotation[9];
    lw_body_pose(c->model, c->data, sample->t, sample->q, c->slider, position, rotation);
    c->at[c->rows][0] = sample->q[c->a];
    c->at[c->rows][1] = sample->v[c->a];
    c->at[c->rows++][2] = position[0];
    return true;
}

static void run_crank(bool as_body, const char *method, const char *integrator, crank *result) {
    char text[2048];
    snprintf(
        text, sizeof text, crank_text, as_body ? "  coupler: {mass: 0}\n" : "",
        as_body
            ? "  b: {type: revolute, between: [crank, coupler], point: [0, 0, 0.3], axis: [0, 1, 0], v: -8}\n"
              "  c: {type: revolute, between: [coupler, slider], point: [0.8, 0, 0.3], axis: [0, 1, 0], "
              "}\n"
            : "",
        as_body ? ""
                : "constraints:\n  rod: {type: distance, between: [crank, slider], points: [[0, 0, "
                  "0.3], [0.8, 0, 0.3]]}\n");
    const problem p = {.name = "slider-crank", .text = text};
    lw_model *model = model_of(&p);
    *result = (crank){.model = model,
                      .a = lw_model_joint_info(model, lw_model_joint(model, "a")).q,
                      .slider = lw_model_body(model, "slider")};
    assert_true(result->a >= 0);
    assert_int_equal(lw_data_create(model, NULL, &result->data), LW_OK);
    const lw_run_options options = {.method = method,
                                    .integrator = integrator,
                                    .end = 2,
                                    .tolerance = 1e-10,
                                    .output = 2.0 / SAMPLES,
                                    .observe = keep_crank,
                                    .context = result};
    lw_error error = {0};
    lw_status status = lw_simulate(model, &options, NULL, NULL, NULL, &error);
    if (status != LW_OK) fail_msg("%s, %s: %s", method, integrator, error.message);
    lw_data_destroy(result->data);
    lw_model_destroy(model);
}

/* Speeds are up to 20 1/s, over several turns: a hundred tolerances for an explicit code, some thousand for a BDF code. */
static void test_coupler(void **state) {
    (void)state;
    static const char *const integrators[] = {"erk", "bdf"};
    static const double allowed[] = {1e-8, 3e-7};
    crank exact, here;
    run_crank(false, "lagrange", "erk", &exact);
    for (int i = 0; i < 2; i++) {
        double worst = 0;
        run_crank(true, "massless", integrators[i], &here);
        for (int row = 0; row <= SAMPLES; row++)
            for (int k = 0; k < 3; k++)
                worst = fmax(worst, fabs(here.at[row][k] - exact.at[row][k]) / (k == 1 ? 10 : 1));
        print_message("coupler without mass, %s: %.1e\n", integrators[i], worst);
        assert_true(worst < allowed[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_trajectories),
        cmocka_unit_test(test_coupler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

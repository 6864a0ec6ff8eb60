/* test_equilibrium.c - positions of rest and vibrations: closed forms (springs, pendulums, chains and rings
 * of masses, a damped oscillator), random mechanisms and linkages whose accelerations must vanish where the
 * analysis says that they rest, by another method, and refusals.
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

enum { MOST = 128 };

static void near(double expected, double found, double tolerance) {
    if (!(fabs(expected - found) <= tolerance * (1 + fabs(expected))))
        fail_msg("%.15g and not %.15g", found, expected);
}

static lw_equilibrium *rest_of(const lw_model *model) {
    lw_linearise_options options;
    lw_equilibrium *e = NULL;
    lw_error error = {0};
    lw_linearise_defaults(model, &options);
    if (lw_equilibrium_find(model, &options, &e, &error) != LW_OK)
        fail_msg("%s: %s", lw_model_name(model), error.message);
    return e;
}

static lw_modes *modes_of(const lw_model *model, const double *q) {
    lw_linearise_options options;
    lw_modes *modes = NULL;
    lw_error error = {0};
    lw_linearise_defaults(model, &options);
    options.q = q;
    if (lw_modes_find(model, &options, &modes, &error) != LW_OK)
        fail_msg("%s: %s", lw_model_name(model), error.message);
    return modes;
}

static lw_model *text_model(const char *text) { return compile_or_fail(read_text_spec(text)); }

/* A mass that hangs on a spring: x = m g / k below its free length; w^2 = k / m, damping c / (2 sqrt(k
 * m)). */
static void hanging_mass(void **state) {
    (void)state;
    lw_model *model =
        text_model("linkwork: 1\nname: mass\ngravity: [0, 0, -9.81]\nbodies: {m: {kind: point, mass: 2}}\n"
                   "joints: {z: {type: prismatic, between: [ground, m], axis: [0, 0, 1]}}\n"
                   "forces: {s: {type: torsion, joint: z, stiffness: 50, damping: 3}}\n");
    lw_equilibrium *e = rest_of(model);
    assert_true(e->converged && e->stable);
    near(-2 * 9.81 / 50, e->q[0], 1e-13);
    lw_modes *modes = modes_of(model, e->q);
    assert_int_equal(modes->rigid, 0);
    assert_int_equal(modes->count, 1);
    near(sqrt(50.0 / 2) / (2 * LW_PI), modes->modes[0].frequency, 1e-12);
    near(3 / (2 * sqrt(50.0 * 2)), modes->modes[0].damping_ratio, 1e-12);
    assert_true(modes->imbalance < 1e-12);
    lw_modes_destroy(modes);
    lw_equilibrium_destroy(e);
    lw_model_destroy(model);
}

/* Equal masses on slides along x: parts of the energy are as the squares of the shape; effective masses of
 * all modes are the whole mass, if both ends are fixed. */
static void must_share(const lw_modes *modes, int masses, bool whole) {
    double effective = 0;
    for (int j = 0; j < modes->count; j++) {
        const lw_mode *mode = &modes->modes[j];
        double square = 0, sum = 0;
        for (int i = 0; i < masses; i++) square += mode->shape[i] * mode->shape[i];
        for (int i = 0; i < masses; i++) {
            near(mode->shape[i] * mode->shape[i] / square, mode->energy[i], 1e-12);
            sum += mode->energy[i];
        }
        near(1, sum, 1e-12);
        near(0, mode->participation[1], 1e-12);
        effective += mode->participation[0];
    }
    if (whole) near(1, effective, 1e-10);
}

/* n equal masses in a row between springs, with both ends fixed, free, or closed to a ring. */
static void chains_of_masses(void **state) {
    (void)state;
    enum { N = 12 };
    const double k = 250, m = 0.7;
    for (int kind = 0; kind < 3; kind++) {
        char text[8192];
        int used = snprintf(text, sizeof text, "linkwork: 1\nname: row\ngravity: [0, 0, 0]\nbodies:\n");
        for (int i = 0; i < N; i++)
            used +=
                snprintf(text + used, sizeof text - (size_t)used, "  m%d: {kind: point, mass: %g}\n", i, m);
        used += snprintf(text + used, sizeof text - (size_t)used, "joints:\n");
        for (int i = 0; i < N; i++)
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "  x%d: {type: prismatic, between: [ground, m%d], axis: [1, 0, 0]}\n", i, i);
        used += snprintf(text + used, sizeof text - (size_t)used, "forces:\n");
        for (int i = 0; i <= N; i++) {
            const bool last = i == N, first = i == 0;
            if (kind == 1 && (first || last)) continue;
            if (kind == 2 && last) continue;
            if (kind == 0 && (first || last))
                used +=
                    snprintf(text + used, sizeof text - (size_t)used,
                             "  s%d: {type: torsion, joint: x%d, stiffness: %g}\n", i, last ? N - 1 : 0, k);
            else
                for (int end = 0; end < 2; end++) {
                    const int a = i, b = (i + N - 1) % N;
                    used += snprintf(text + used, sizeof text - (size_t)used,
                                     "  s%d_%d: {type: drive, joint: x%d, force: '%g*(x%d.q - x%d.q)'}\n", i,
                                     end, end ? a : b, k, end ? b : a, end ? a : b);
                }
        }
        lw_model *model = text_model(text);
        lw_modes *modes = modes_of(model, NULL);
        double expected[N];
        int count = 0;
        for (int j = 0; j < N; j++) {
            double w = 2 * sqrt(k / m) *
                       sin(kind == 0   ? (j + 1) * LW_PI / (2 * (N + 1))
                           : kind == 1 ? j * LW_PI / (2 * N)
                                       : ((j + 1) / 2) * LW_PI / N);
            if (w > 0) expected[count++] = w / (2 * LW_PI);
        }
        assert_int_equal(modes->rigid, kind > 0);
        assert_int_equal(modes->count, count);
        for (int j = 0; j < count; j++) near(expected[j], modes->modes[j].frequency, 1e-11);
        must_share(modes, N, kind == 0);
        lw_modes_destroy(modes);
        /* The lowest alone, the pairs of the ring among them. */
        lw_linearise_options options;
        lw_error error;
        lw_linearise_defaults(model, &options);
        assert_int_equal(lw_modes_lowest(model, &options, 3, &modes, &error), LW_OK);
        assert_int_equal(modes->rigid, kind > 0);
        assert_int_equal(modes->rigid + modes->count, 3);
        assert_true(modes->undamped);
        for (int j = 0; j < modes->count; j++) near(expected[j], modes->modes[j].frequency, 1e-11);
        must_share(modes, N, false);
        lw_modes_destroy(modes);
        assert_int_equal(lw_modes_lowest(model, &options, 0, &modes, &error), LW_ERROR_ARGUMENT);
        lw_model_destroy(model);
    }
}

/* Two equal point masses on rods of length L: w^2 = (2 -+ sqrt 2) g / L. */
static void double_pendulum(void **state) {
    (void)state;
    lw_model *model = read_problem("double_pendulum");
    lw_equilibrium *e = rest_of(model);
    assert_true(e->converged && e->stable);
    near(0, e->q[0], 1e-10);
    near(0, e->q[1], 1e-10);
    lw_modes *modes = modes_of(model, e->q);
    assert_int_equal(modes->count, 2);
    for (int k = 0; k < 2; k++)
        near(sqrt((2 + (k ? 1 : -1) * sqrt(2)) * 9.81) / (2 * LW_PI), modes->modes[k].frequency, 1e-10);
    /* Shapes in absolute angles are (1, +-sqrt 2): relative ones (1, +-sqrt 2 - 1). */
    for (int k = 0; k < 2; k++)
        near((k ? -1 : 1) * sqrt(2) - 1, modes->modes[k].shape[1] / modes->modes[k].shape[0], 1e-9);
    lw_modes_destroy(modes);
    double upright[2] = {LW_PI, 0};
    lw_linearise_options options;
    lw_linearise_defaults(model, &options);
    options.q = upright;
    lw_equilibrium *up = NULL;
    assert_int_equal(lw_equilibrium_find(model, &options, &up, NULL), LW_OK);
    assert_true(up->converged && !up->stable);
    lw_equilibrium_destroy(up);
    lw_equilibrium_destroy(e);
    lw_model_destroy(model);
}

/* A linkage or random tree rests where it is said to: its accelerations vanish there by another method, to
 * 1e-6 of what they are at a position some hundredths of a radian beside it. */
static void check_rest(const lw_model *model, int seed, int *found, int *stable) {
    lw_equilibrium *e = rest_of(model);
    const int nv = lw_model_v_size(model), nq = lw_model_q_size(model);
    if (e->converged) {
        double v[MOST] = {0}, vdot[MOST], still[MOST], most = 0, scale = 0;
        lw_solver_options options;
        lw_solver *solver = NULL;
        lw_random random = random_seed((uint64_t)seed);
        lw_solver_defaults(model, &options);
        options.method = "lagrange";
        if (lw_solver_create(model, &options, NULL, &solver, NULL) == LW_OK) {
            assert_int_equal(lw_solver_accelerations(solver, 0, e->q, v, NULL, vdot, NULL), LW_OK);
            memcpy(still, e->q, (size_t)nq * sizeof *still);
            random_vector(&random, nv, 0.05, v);
            lw_integrate_q(model, still, v, 1);
            memset(v, 0, sizeof v);
            assert_int_equal(lw_assemble(model, 0, still, v, NULL, NULL), LW_OK);
            for (int k = 0; k < nv; k++) most = fmax(most, fabs(vdot[k]));
            lw_solver_accelerations(solver, 0, still, v, NULL, vdot, NULL);
            for (int k = 0; k < nv; k++) scale = fmax(scale, fabs(vdot[k]));
            if (!(most <= 1e-6 * (1 + scale)))
                fail_msg("seed %d: accelerates by %g (%g beside it)", seed, most, scale);
            (*found)++;
            *stable += e->stable;
        }
        lw_solver_destroy(solver);
    } else
        assert_true(e->unbalanced[0] != 0);
    lw_equilibrium_destroy(e);
}

static void random_trees(void **state) {
    (void)state;
    int found = 0, stable = 0;
    for (int seed = 0; seed < 60; seed++) {
        lw_random random = random_seed((uint64_t)(5000 + seed));
        lw_model *model = random_tree_model(
            &random, &(random_tree){.bodies = 1 + seed % 4,
                                    .joint = seed % 2 ? LW_JOINT_REVOLUTE : LW_JOINT_UNIVERSAL});
        check_rest(model, seed, &found, &stable);
        lw_model_destroy(model);
    }
    print_message("%d rest, %d stable\n", found, stable);
    assert_true(found > 30);
}

static void linkages(void **state) {
    (void)state;
    static const char *const problems[] = {
        "four_bar",           "ladder",          "stewart_platform", "bennett",
        "five_bar_redundant", "suspension",      "double_wishbone",  "net",
        "andrews_squeezer",   "blajer_four_bar", "two_arms",         "six_body_linkage",
        "slider_crank",       "bricard"};
    int found = 0, stable = 0;
    for (size_t k = 0; k < sizeof problems / sizeof problems[0]; k++) {
        lw_model *model = read_problem(problems[k]);
        check_rest(model, (int)k, &found, &stable);
        lw_model_destroy(model);
    }
    assert_int_equal(found, sizeof problems / sizeof problems[0]);
    assert_true(stable >= 11);
}

static void refusals(void **state) {
    (void)state;
    lw_linearise_options options;
    lw_equilibrium *e = NULL;
    lw_modes *modes = NULL;
    lw_error error = {0};
    lw_model *falling = read_problem("bouncing_ball");
    lw_linearise_defaults(falling, &options);
    assert_int_equal(lw_equilibrium_find(falling, NULL, &e, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_modes_find(NULL, &options, &modes, &error), LW_ERROR_ARGUMENT);
    e = rest_of(falling);
    assert_false(e->converged);
    assert_non_null(strstr(e->unbalanced, "fall"));
    lw_equilibrium_destroy(e);
    lw_model_destroy(falling);
    lw_model *moving = text_model("linkwork: 1\nname: crank\nbodies: {c: {mass: 1, inertia: [1, 1, 1]}}\n"
                                  "joints: {pin: {type: revolute, between: [ground, c], point: [0, 0, 0], "
                                  "axis: [0, 1, 0], motion: 2*t}}\n");
    assert_int_equal(lw_equilibrium_find(moving, &options, &e, &error), LW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "moves"));
    lw_model_destroy(moving);
    lw_model *bicycle = read_problem("bicycle");
    assert_int_equal(lw_modes_find(bicycle, &options, &modes, &error), LW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "roll"));
    lw_model_destroy(bicycle);
}

static const char toggle[] =
    "linkwork: 1\nname: toggle\nparameters: {k: 4 N*m/rad, rest: 0, load: 1}\ninputs: {push: 0}\n"
    "bodies: {bob: {kind: point, mass: load, com: [0, 0, 1]}}\n"
    "joints: {pin: {type: revolute, between: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0], q: 0.5}}\n"
    "forces:\n  s: {type: torsion, joint: pin, stiffness: k, damping: 0.2, free: rest}\n"
    "  p: {type: drive, joint: pin, force: push}\n";

/* An inverted pendulum on a weak spring falls to either side: k a = m g l sin a. */
static void several(void **state) {
    (void)state;
    lw_model *model = text_model(toggle);
    lw_linearise_options options;
    lw_equilibria *all = NULL;
    lw_error error = {0};
    lw_linearise_defaults(model, &options);
    double a = 2;
    for (int k = 0; k < 50; k++) a -= (4 * a - 9.81 * sin(a)) / (4 - 9.81 * cos(a));
    if (lw_equilibria_find(model, &options, 24, &all, &error) != LW_OK) fail_msg("%s", error.message);
    assert_int_equal(all->tried, 24);
    assert_int_equal(all->count, 2);
    for (int k = 0; k < 2; k++) {
        assert_true(all->items[k]->stable);
        near(a, fabs(all->items[k]->q[0]), 1e-11);
        near(2 * a * a + 9.81 * cos(a), all->potential[k], 1e-11);
    }
    assert_true(all->items[0]->q[0] * all->items[1]->q[0] < 0);
    lw_equilibria_destroy(all);
    assert_int_equal(lw_equilibria_find(model, &options, 0, &all, &error), LW_ERROR_ARGUMENT);
    lw_model_destroy(model);
    /* One that cannot rest has none. */
    model = read_problem("bouncing_ball");
    lw_linearise_defaults(model, &options);
    assert_int_equal(lw_equilibria_find(model, &options, 3, &all, &error), LW_OK);
    assert_int_equal(all->count, 0);
    lw_equilibria_destroy(all);
    lw_model_destroy(model);
}

static double trimmed(const lw_model *model, const char *held, double value, const char *freed, bool stable) {
    lw_trim_options options = {
        .held = (const char *[]){held}, .values = &value, .freed = (const char *[]){freed}, .count = 1};
    lw_trim *trim = NULL;
    lw_error error = {0};
    lw_linearise_defaults(model, &options.state);
    if (lw_trim_find(model, &options, &trim, &error) != LW_OK) fail_msg("%s: %s", freed, error.message);
    assert_true(trim->converged && trim->off < 1e-8 && trim->equilibrium->converged);
    assert_int_equal(trim->equilibrium->stable, stable);
    const double found = trim->values[0];
    lw_trim_destroy(trim);
    return found;
}

static void trim(void **state) {
    (void)state;
    lw_model *model = text_model(toggle);
    /* k (a - rest) = m g l sin a + push; unstable where k < m g l cos a */
    near(9.81 * sin(1), trimmed(model, "pin", 1, "k", true), 1e-10);
    near(1 - 9.81 * sin(1) / 4, trimmed(model, "pin", 1, "rest", false), 1e-10);
    near(4 * 1.9 - 9.81 * sin(1.9), trimmed(model, "pin.q", 1.9, "push", true), 1e-10);
    near(4 / (9.81 * sin(1)), trimmed(model, "pin", 1, "load", true), 1e-10);
    double value = 1;
    lw_trim_options options = {
        .held = (const char *[]){"pin"}, .values = &value, .freed = (const char *[]){"kk"}, .count = 1};
    lw_trim *none = NULL;
    lw_error error = {0};
    lw_linearise_defaults(model, &options.state);
    assert_int_equal(lw_trim_find(model, &options, &none, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "no parameter and no input"));
    options.held = (const char *[]){"pim"}, options.freed = (const char *[]){"k"};
    assert_int_equal(lw_trim_find(model, &options, &none, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "no coordinate"));
    lw_model_destroy(model);
    /* The length of a spring in a loop, by which a platform lies level: two springs, two coordinates. */
    model =
        text_model("linkwork: 1\nname: platform\nparameters: {a: 0.3 m, b: 0.3 m, idle: 1}\n"
                   "bodies:\n  slide: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0.5]}\n"
                   "  table: {mass: 4, com: [0.1, 0, 0], inertia: [0.2, 0.3, 0.2], position: [0, 0, 0.5]}\n"
                   "joints:\n  lift: {type: prismatic, between: [ground, slide], axis: [0, 0, 1]}\n"
                   "  tilt: {type: revolute, between: [slide, table], point: [0, 0, 0.5], axis: [0, 1, 0]}\n"
                   "forces:\n"
                   "  left: {type: spring, between: [ground, table], points: [[-0.4, 0, 0], [-0.4, 0, 0.5]], "
                   "length: a, stiffness: 900, damping: 5}\n"
                   "  right: {type: spring, between: [ground, table], points: [[0.4, 0, 0], [0.4, 0, 0.5]], "
                   "length: b, stiffness: 900, damping: 5}\n");
    const double level[2] = {-0.02, 0};
    options.held = (const char *[]){"lift", "tilt"}, options.values = level;
    options.freed = (const char *[]){"a", "b"}, options.count = 2;
    lw_linearise_defaults(model, &options.state);
    if (lw_trim_find(model, &options, &none, &error) != LW_OK) fail_msg("%s", error.message);
    assert_true(none->converged && none->equilibrium->stable);
    /* Both carry 5 g in all, and 4 g 0.1 about the middle: F = k (free - 0.48). */
    near(0.48 + (5 * 9.81 / 2 - 4 * 9.81 * 0.1 / 0.8) / 900, none->values[0], 1e-10);
    near(0.48 + (5 * 9.81 / 2 + 4 * 9.81 * 0.1 / 0.8) / 900, none->values[1], 1e-10);
    lw_trim_destroy(none);
    options.freed = (const char *[]){"a", "idle"};
    assert_int_equal(lw_trim_find(model, &options, &none, &error), LW_ERROR_SINGULAR);
    assert_non_null(strstr(error.message, "do not depend on all that is free"));
    lw_model_destroy(model);
}

/* A knot without mass between three springs, from which a load hangs by a fourth. */
static const char star[] =
    "linkwork: 1\nname: star\nbodies: {x: {kind: point, mass: 0}, knot: {kind: point, mass: 0}, load: {kind: "
    "point, "
    "mass: 3}}\n"
    "joints:\n  x: {type: prismatic, between: [ground, x], axis: [1, 0, 0]}\n"
    "  z: {type: prismatic, between: [x, knot], axis: [0, 0, 1]}\n"
    "  hang: {type: prismatic, between: [knot, load], axis: [0, 0, -1]}\n"
    "forces:\n"
    "  a: {type: spring, between: [ground, knot], points: [[1, 0, 1], [0, 0, 0]], stiffness: 300, length: "
    "1}\n"
    "  b: {type: spring, between: [ground, knot], points: [[-2, 0, 0.5], [0, 0, 0]], stiffness: 100, length: "
    "1.5}\n"
    "  c: {type: spring, between: [ground, knot], points: [[0.2, 0, -1], [0, 0, 0]], stiffness: 150, length: "
    "0.5}\n"
    "  d: {type: torsion, joint: hang, stiffness: 400, damping: 20}\n%srun: {end: 1}\n";

static void pull(const double at[3], double stiffness, double length, const double *q, double force[2]) {
    const double dx = at[0] - q[0], dz = at[2] - q[1], size = hypot(dx, dz),
                 tension = stiffness * (size - length);
    force[0] += tension * dx / size, force[1] += tension * dz / size;
}

static void motions_without_mass(void **state) {
    static const double at[3][3] = {{1, 0, 1}, {-2, 0, 0.5}, {0.2, 0, -1}}, k[3] = {300, 100, 150},
                        rest_length[3] = {1, 1.5, 0.5};
    char text[2048];
    (void)state;
    lw_model *model = read_problem("series_damper");
    lw_equilibrium *rest = rest_of(model);
    assert_true(rest->converged && rest->stable);
    near(4 * 9.81 / 200, rest->q[0] + rest->q[1], 1e-14); /* The knot's damper holds nothing. */
    near(0, rest->q[1], 1e-14);
    lw_equilibrium_destroy(rest);
    lw_model_destroy(model);
    snprintf(text, sizeof text, star, "");
    model = text_model(text);
    rest = rest_of(model);
    assert_true(rest->converged && rest->stable && rest->neutral == 0);
    double force[2] = {0, -3 * 9.81};
    for (int i = 0; i < 3; i++) pull(at[i], k[i], rest_length[i], rest->q, force);
    near(0, force[0], 1e-10);
    near(0, force[1], 1e-10);
    near(3 * 9.81 / 400, rest->q[2], 1e-13);
    lw_equilibrium_destroy(rest);
    lw_model_destroy(model);
    /* A force that turns about the knot has no potential: masses would decide. */
    snprintf(text, sizeof text, star,
             "  e: {type: drive, joint: x, force: 250*z.q}\n  f: {type: drive, joint: z, force: -250*x.q}\n");
    model = text_model(text);
    lw_linearise_options options;
    lw_error error = {0};
    lw_linearise_defaults(model, &options);
    assert_int_equal(lw_equilibrium_find(model, &options, &rest, &error), LW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "depends on masses"));
    assert_null(rest);
    lw_model_destroy(model);
}

/* A cantilever of n hinged rods with springs, of unit length, mass and bending stiffness: its lowest
 * frequencies are those of Bernoulli's beam, 3.516015, 22.03449, but for 1/n^2. */
static lw_model *beam(int n, double damping) {
    char *text = malloc((size_t)n * 400 + 400), name[32] = "ground";
    lw_model *model = NULL;
    lw_spec *spec;
    int at = sprintf(text, "linkwork: 1\nname: beam\ngravity: [0, 0, 0]\nbodies:\n");
    for (int i = 0; i < n; i++)
        at += sprintf(text + at, "  b%d: {mass: 1/%d, com: [%d.5/%d, 0, 0], inertia: [1e-9, %.17g, 1e-9]}\n",
                      i, n, i, n, 1.0 / 12 / n / n / n);
    at += sprintf(text + at, "joints:\n");
    for (int i = 0; i < n; i++) {
        at += sprintf(text + at,
                      "  j%d: {type: revolute, between: [%s, b%d], point: [%d/%d, 0, 0], axis: [0, 1, 0]}\n",
                      i, name, i, i, n);
        sprintf(name, "b%d", i);
    }
    at += sprintf(text + at, "forces:\n");
    for (int i = 0; i < n; i++)
        at += sprintf(text + at, "  t%d: {type: torsion, joint: j%d, stiffness: %d, damping: %.17g}\n", i, i,
                      i == 0 ? 2 * n : n, damping * (i == 0 ? 2 * n : n));
    sprintf(text + at, "run: {end: 1}\n");
    spec = read_text_spec(text);
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_spec_destroy(spec);
    free(text);
    return model;
}

/* All modes and the lowest few go different ways; the lowest of 400 rods has 4e-11 of the largest square. */
static void beams(void **state) {
    (void)state;
    double last = 0;
    for (int n = 100; n <= 400; n *= 2) {
        lw_model *model = beam(n, 0);
        lw_linearise_options options;
        lw_modes *few, *all = NULL;
        lw_error error;
        lw_linearise_defaults(model, &options);
        assert_int_equal(lw_modes_lowest(model, &options, 2, &few, &error), LW_OK);
        assert_int_equal(few->rigid, 0);
        assert_int_equal(few->count, 2);
        const double lowest = few->modes[0].eigenvalue[1], second = few->modes[1].eigenvalue[1];
        assert_true(fabs(lowest - 3.51601527) < 4. / n / n);
        assert_true(fabs(second - 22.0344916) < 60. / n / n);
        if (n < 400) {
            assert_int_equal(lw_modes_find(model, &options, &all, &error), LW_OK);
            assert_int_equal(all->count, n);
            assert_true(fabs(all->modes[0].eigenvalue[1] - lowest) < 1e-9 * lowest);
            assert_true(fabs(all->modes[1].eigenvalue[1] - second) < 1e-9 * second);
        }
        /* Dampers in proportion to the springs leave sizes of eigenvalues as they are, l = -b w^2 / 2 + .. */
        lw_model *slowed = beam(n, 1e-4);
        lw_modes *with = NULL;
        if (n < 200) {
            assert_int_equal(lw_modes_find(slowed, &options, &with, &error), LW_OK);
            const double *l = with->modes[0].eigenvalue;
            assert_true(fabs(hypot(l[0], l[1]) - lowest) < 1e-9 * lowest);
            assert_true(fabs(l[0] + 0.5e-4 * lowest * lowest) < 1e-9);
        }
        lw_modes_destroy(with);
        lw_model_destroy(slowed);
        if (last > 0) /* of second order */
            assert_true(fabs((last - 3.51601526850) / (lowest - 3.51601526850) - 4) < 0.02);
        last = lowest;
        lw_modes_destroy(few);
        lw_modes_destroy(all);
        lw_model_destroy(model);
    }
}

/* Three masses in a row without a hold: a stiff damper between the first two, a soft spring to the third. The
 * row slides, the first two slide against the third one only with the spring; the damper leaves a decay. */
static void a_soft_spring_beside_a_stiff_damper(void **state) {
    (void)state;
    static const char text[] =
        "linkwork: 1\nname: row\ngravity: [0, 0, 0]\n"
        "bodies: {a: {kind: point, mass: 1}, b: {kind: point, mass: 1}, c: {kind: point, mass: 1}}\njoints:\n"
        "  a: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}\n"
        "  b: {type: prismatic, between: [a, b], axis: [1, 0, 0]}\n"
        "  c: {type: prismatic, between: [b, c], axis: [1, 0, 0]}\n"
        "forces: {d: {type: torsion, joint: b, damping: 1e8}, s: {type: torsion, joint: c, stiffness: 1}}\n"
        "run: {end: 1}\n";
    lw_spec *spec = read_text_spec(text);
    lw_model *model;
    lw_linearise_options options;
    lw_modes *modes;
    lw_error error;
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_linearise_defaults(model, &options);
    assert_int_equal(lw_modes_find(model, &options, &modes, &error), LW_OK);
    assert_int_equal(modes->rigid, 2);
    assert_int_equal(modes->count, 2);
    assert_true(fabs(modes->modes[0].eigenvalue[1] - sqrt(1.5)) < 1e-7);
    assert_true(fabs(modes->modes[1].eigenvalue[0] + 2e8) < 10);
    lw_modes_destroy(modes);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beams),
        cmocka_unit_test(a_soft_spring_beside_a_stiff_damper),
        cmocka_unit_test(several),
        cmocka_unit_test(trim),
        cmocka_unit_test(motions_without_mass),
        cmocka_unit_test(hanging_mass),
        cmocka_unit_test(chains_of_masses),
        cmocka_unit_test(double_pendulum),
        cmocka_unit_test(linkages),
        cmocka_unit_test(refusals),
        cmocka_unit_test(random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_idle.c - spins that move no inertia and on which nothing acts are held, and everything else is the limit of a little inertia there.
 *
 * Each mechanism has a parameter eps, a moment of inertia about the axes that are idle at eps = 0. What joints transmit says all about
 * accelerations that matter: it must be the limit for eps -> 0, by every method, whatever the spins.
 */
#include "build.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dynamics/tree_dynamics.h"
#include "model/compiled_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 64 };

/* A rod from (0.2, 0, 0) to (1, 0.5, 0.6), its moments J (1 - u u') + eps u u' with u = (0.8, 0.5, 0.6) / sqrt(1.25). */
#define ROD                                                                                                  \
    "inertia: [J*(1-0.512)+eps*0.512, J*(1-0.2)+eps*0.2, J*(1-0.288)+eps*0.288, (eps-J)*0.32, "              \
    "(eps-J)*0.384, (eps-J)*0.24]"
#define RSSR(coupler, ball, more)                                                                            \
    "linkwork: 1\nname: idle\nparameters: {eps: 0, J: 0.1}\nbodies:\n"                                       \
    "  crank: {mass: 1, shape: rod, points: [[0, 0, 0], [0.2, 0, 0]]}\n"                                     \
    "  coupler: {" coupler "}\n"                                                                             \
    "  rocker: {mass: 2, shape: rod, points: [[1, 0.5, 0], [1, 0.5, 0.6]], radius: 0.02}\n"                  \
    "joints:\n"                                                                                              \
    "  r1: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 0, 1], v: 5}\n"            \
    "  s1: {" ball ", between: [crank, coupler], point: [0.2, 0, 0]}\n"                                      \
    "  s2: {type: spherical, between: [coupler, rocker], point: [1, 0.5, 0.6]}\n"                            \
    "  r2: {type: revolute, between: [ground, rocker], point: [1, 0.5, 0], axis: [0, 1, 0]}\n"               \
    "run: {end: 0.3, tolerance: 1e-9}\n" more

typedef struct mechanism {
    const char *name, *text;
    int idle;         /* spins held */
    const char *says; /* in the one warning, or NULL */
} mechanism;

static const mechanism mechanisms[] = {
    {"thin coupler", RSSR("mass: 1, com: [0.6, 0.25, 0.3], " ROD, "type: spherical, v: [4, 3, 5]", ""), 1,
     "about [0.7155, 0.4472, 0.5367] in its own axes, the line through joints \"s1\" and \"s2\""},
    {"coupler without mass", RSSR("mass: 0, inertia: [eps, eps, eps]", "type: spherical, v: [4, 3, 5]", ""),
     1, "about [0.7155, 0.4472, 0.5367] in its own axes, the line through joints \"s1\" and \"s2\""},
    {"a universal joint holds it",
     RSSR("mass: 0, inertia: [eps, eps, eps]", "type: universal, axes: [[0, 0, 1], [0.5, -0.8, 0]]", ""), 0,
     NULL},
    {"forces on the line",
     RSSR(
         "mass: 1, com: [0.6, 0.25, 0.3], " ROD, "type: spherical, v: [4, 3, 5]",
         "forces:\n  pull: {type: spring, between: [ground, coupler], points: [[0, 2, 1], [0.6, 0.25, 0.3]], "
         "stiffness: 100, damping: 3}\n"
         "  push: {type: applied, body: coupler, point: [0.44, 0.15, 0.18], force: [3, -2, 5*t]}\n"),
     1, "line through joints"},
    {"rods in a row",
     "linkwork: 1\nname: idle\nparameters: {eps: 0}\nbodies:\n"
     "  a: {mass: 1, com: [0.3, 0, -0.4], inertia: [0.12*0.64+eps, 0.12, 0.12*0.36+eps, 0, 0.12*0.48, 0]}\n"
     "  b: {mass: 0, inertia: [eps, eps, eps]}\n"
     "  w: {mass: 3, com: [0.7, 0.5, -1.3], inertia: [0.1, 0.2, 0.15]}\n"
     "joints:\n"
     "  s0: {type: spherical, between: [ground, a], point: [0, 0, 0], v: [1, 2, -1]}\n"
     "  s1: {type: spherical, between: [a, b], point: [0.6, 0, -0.8], v: [0.5, 3, 1]}\n"
     "  s2: {type: spherical, between: [b, w], point: [0.6, 0.4, -1.2], v: [1, -2, 0.3]}\n"
     "run: {end: 0.3, tolerance: 1e-9}\n",
     2, "the same holds for 1 more: \"b\""},
    {"thin rods, hung up and flying",
     "linkwork: 1\nname: idle\nparameters: {eps: 0}\nbodies:\n"
     "  a: {mass: 1, com: [0.3, 0, -0.4], inertia: [0.12*0.64+eps, 0.12, 0.12*0.36+eps, 0, 0.12*0.48, 0]}\n"
     "  f: {mass: 1, com: [2, 0, 0], inertia: [eps, 1, 1]}\n"
     "  p: {kind: point, mass: 1, com: [1, 1, 1]}\n"
     "joints:\n"
     "  s0: {type: spherical, between: [ground, a], point: [0, 0, 0], v: [1, 2, -1]}\n"
     "  s1: {type: spherical, between: [a, p], point: [1, 1, 1], v: [1, 2, -1]}\n"
     "  fly: {type: free, between: [ground, f], v: [1, 2, 3, 0.4, 5, 6]}\n"
     "run: {end: 0.3, tolerance: 1e-9}\n",
     4, "the same holds for 1 more: \"p\""},
    {"tubes on a cylindrical joint",
     "linkwork: 1\nname: idle\nparameters: {eps: 0}\nbodies:\n"
     "  crank: {mass: 1, shape: rod, points: [[0, 0, 0], [0.2, 0, 0]], radius: 0.02}\n"
     "  t1: {mass: 0, inertia: [eps, eps, eps]}\n  t2: {mass: 0, inertia: [eps, eps, eps]}\n"
     "  rocker: {mass: 2, shape: rod, points: [[1, 0.5, 0], [1, 0.5, 0.6]], radius: 0.02}\n"
     "joints:\n"
     "  r1: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 0, 1], v: 5}\n"
     "  s1: {type: spherical, between: [crank, t1], point: [0.2, 0, 0]}\n"
     "  tube: {type: cylindrical, between: [t1, t2], point: [0.2, 0, 0], axis: [0.8, 0.5, 0.6]}\n"
     "  s2: {type: spherical, between: [t2, rocker], point: [1, 0.5, 0.6]}\n"
     "  r2: {type: revolute, between: [ground, rocker], point: [1, 0.5, 0], axis: [0, 1, 0]}\n"
     "forces:\n  k: {type: spring, between: [t1, t2], points: [[0.2, 0, 0], [1, 0.5, 0.6]], stiffness: 300, "
     "damping: 3}\n"
     "run: {end: 0.3, tolerance: 1e-9}\n",
     2, "the same holds for 1 more: \"t2\""},
    {"a platform on six telescopes between balls",
     "linkwork: 1\nname: idle\nparameters: {eps: 0}\nbodies:\n"
     "  top: {mass: 10, com: [0, 0, 1], inertia: [0.8, 0.8, 1.5]}\n"
     "  c{i}: {repeat: {i: 0..5}, mass: 1, shape: rod, points: [[cos(i*60 deg), sin(i*60 deg), 0], "
     "[0.5*cos(i*60 deg)+0.3*cos(i*60 deg+20 deg), 0.5*sin(i*60 deg)+0.3*sin(i*60 deg+20 deg), 0.5]]}\n"
     "  p{i}: {repeat: {i: 0..5}, mass: 0, inertia: [eps, eps, eps]}\n"
     "joints:\n"
     "  g{i}: {repeat: {i: 0..5}, type: spherical, between: [ground, \"c{i}\"], point: [cos(i*60 deg), "
     "sin(i*60 deg), 0]}\n"
     "  l{i}: {repeat: {i: 0..5}, type: prismatic, between: [\"c{i}\", \"p{i}\"], point: [cos(i*60 deg), "
     "sin(i*60 deg), 0], "
     "axis: [0.6*cos(i*60 deg+20 deg)-cos(i*60 deg), 0.6*sin(i*60 deg+20 deg)-sin(i*60 deg), 1], v: 0.1*i}\n"
     "  h{i}: {repeat: {i: 0..5}, type: spherical, between: [\"p{i}\", top], point: [0.6*cos(i*60 deg+20 "
     "deg), "
     "0.6*sin(i*60 deg+20 deg), 1]}\n"
     "forces:\n  k{i}: {repeat: {i: 0..5}, type: torsion, joint: \"l{i}\", stiffness: 500, damping: 5}\n"
     "run: {end: 0.1, tolerance: 1e-8}\n",
     6, "the same holds for 5 more"},
};
enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms };

static lw_model *compile(const char *text, const char *eps, lw_report *report) {
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    const lw_setting set = {"eps", eps};
    if (lw_read_model_text(text, strlen(text), "text", &set, 1, report, &spec) != LW_OK) {
        show_report(report);
        fail_msg("cannot be read");
    }
    lw_model_compile(spec, NULL, report, &model);
    lw_spec_destroy(spec);
    return model;
}

static lw_model *compile_quietly(const char *text, const char *eps) {
    lw_report *report = lw_report_create();
    lw_model *model = compile(text, eps, report);
    if (!model) show_report(report);
    assert_non_null(model);
    lw_report_destroy(report);
    return model;
}

/* A state with spins: random where nothing is closed, else that of the model. */
static void take_state(const lw_model *model, uint64_t seed, double *q, double *v) {
    lw_random random = random_seed(seed);
    lw_error error = {0};
    lw_model_initial_state(model, q, v);
    if (seed && lw_model_loop_count(model) == 0) random_state(&random, model, q, v);
    if (lw_assemble(model, 0, q, v, NULL, &error) != LW_OK) fail_msg("%s", error.message);
}

static void one_warning_tells_the_axis(void **state) {
    (void)state;
    for (int m = 0; m < MECHANISMS; m++) {
        lw_report *report = lw_report_create();
        lw_model *model = compile(mechanisms[m].text, "0", report);
        if (!model) show_report(report);
        assert_non_null(model);
        if (model->idle_count != mechanisms[m].idle)
            fail_msg("%s: %d idle spins", mechanisms[m].name, model->idle_count);
        assert_int_equal(lw_report_size(report), mechanisms[m].says ? 1 : 0);
        if (mechanisms[m].says)
            must_say(report, LW_SEVERITY_WARNING, NULL, mechanisms[m].says, "if its spin matters");
        lw_model_destroy(model);
        lw_report_destroy(report);
    }
}

/* |a - b| of the forces, over their size. */
static double difference(const lw_model *model, const double *a, const double *b) {
    double most = 0, size = 0;
    for (int k = 0; k < 6 * lw_model_joint_count(model); k++) {
        most = fmax(most, fabs(a[k] - b[k]));
        size = fmax(size, fabs(a[k]));
    }
    return most / size;
}

static void everything_else_is_the_limit(void **state) {
    (void)state;
    int methods = 0;
    for (int m = 0; m < MECHANISMS; m++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            double q[MAX], v[MAX], vdot[MAX], own[6 * MAX], limit[6 * MAX], first = 0;
            lw_error error = {0};
            lw_model *model = compile_quietly(mechanisms[m].text, "0"),
                     *near = compile_quietly(mechanisms[m].text, "1e-4"),
                     *nearer = compile_quietly(mechanisms[m].text, "1e-6");
            take_state(model, seed, q, v);
            const char *reference = lw_model_loop_count(model) ? "cut" : "tree";
            if (lw_accelerations(model, reference, 0, q, v, vdot, own, NULL, &error) != LW_OK)
                fail_msg("%s: %s", mechanisms[m].name, error.message);
            if (lw_accelerations(near, reference, 0, q, v, vdot, limit, NULL, &error) != LW_OK)
                fail_msg("%s: %s", mechanisms[m].name, error.message);
            first = difference(model, own, limit);
            assert_int_equal(lw_accelerations(nearer, reference, 0, q, v, vdot, limit, NULL, &error), LW_OK);
            double second = difference(model, own, limit);
            /* of first order in eps, whose size is to be seen beside moments of 0.02 and more; spins are of the order 1 to 10 */
            if (!(first < 0.1) || !(second < 0.02 * first + 1e-10))
                fail_msg("%s: %.2e, %.2e from the limit", mechanisms[m].name, first, second);
            for (int k = 0; k < lw_method_count(); k++) {
                const char *name = lw_method_at(k).name;
                double all[6 * MAX];
                if (lw_method_applies(name, model, &error) != LW_OK || strcmp(name, "penalty") == 0) continue;
                if (lw_accelerations(model, name, 0, q, v, vdot, all, NULL, &error) != LW_OK)
                    fail_msg("%s, %s: %s", mechanisms[m].name, name, error.message);
                double off = difference(model, own, all);
                if (!(off < 1e-9)) fail_msg("%s, %s: off by %.2e", mechanisms[m].name, name, off);
                methods++;
            }
            lw_model_destroy(model), lw_model_destroy(near), lw_model_destroy(nearer);
        }
    print_message("%d methods and states\n", methods);
    assert_true(methods > 250);
}

/* Energy, momentum, mass matrix and inverse dynamics know nothing of the moments that hold the spins. */
static void books_do_not_count_them(void **state) {
    (void)state;
    for (int m = 0; m < MECHANISMS; m++) {
        double q[MAX], v[MAX], w[MAX], vdot[MAX], tau[MAX], other[MAX], M[MAX * MAX], p[3], L[3], p0[3],
            L0[3];
        lw_model *model = compile_quietly(mechanisms[m].text, "0"),
                 *near = compile_quietly(mechanisms[m].text, "1e-13");
        lw_data *data, *beside;
        lw_random random = random_seed(7);
        int n = lw_model_v_size(model);
        assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
        assert_int_equal(lw_data_create(near, NULL, &beside), LW_OK);
        random_state(&random, model, q, v);
        random_vector(&random, n, 1, vdot);
        lw_energy energy = lw_energy_of(model, data, 0, q, v), limit = lw_energy_of(near, beside, 0, q, v);
        assert_true(fabs(energy.kinetic - limit.kinetic) < 1e-10 * limit.kinetic);
        lw_momentum(model, data, 0, q, v, p, L);
        lw_momentum(near, beside, 0, q, v, p0, L0);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(p[k] - p0[k]) + fabs(L[k] - L0[k]) < 1e-10 * (1 + fabs(L0[k])));
        lw_tree_mass_matrix(model, data, 0, q, M);
        lw_open_inverse(model, data, 0, q, v, vdot, tau);
        lw_open_inverse(near, beside, 0, q, v, vdot, other);
        assert_true(relative_difference(other, tau, n) < 1e-10);
        double kinetic = 0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) kinetic += 0.5 * v[i] * M[i * n + k] * v[k];
        assert_true(fabs(kinetic - energy.kinetic) < 1e-12 * (1 + energy.kinetic));
        for (int k = 0; k < n; k++) w[k] = 0;
        if (lw_model_loop_count(model) == 0) { /* forward and inverse dynamics are each other's */
            assert_int_equal(lw_tree_forward_dynamics(model, data, 0, q, v, NULL, vdot, NULL), LW_OK);
            assert_int_equal(lw_tree_inverse_dynamics(model, data, 0, q, v, vdot, tau, NULL), LW_OK);
            assert_true(relative_difference(w, tau, n) < 1e-9);
        }
        lw_data_destroy(data), lw_data_destroy(beside);
        lw_model_destroy(model), lw_model_destroy(near);
    }
}

/* At the end of a run: energies and momenta, in which idle spins have no part. */
static void end_of_run(const lw_model *model, const char *method, const char *integrator, double out[8]) {
    double q[MAX], v[MAX];
    lw_run_options options;
    lw_run_summary summary;
    lw_error error = {0};
    lw_data *data;
    lw_run_defaults(model, &options);
    options.method = method;
    if (integrator) options.integrator = integrator, options.step = 1e-3;
    if (lw_simulate(model, &options, q, v, &summary, &error) != LW_OK)
        fail_msg("%s, %s: %s %s", lw_model_name(model), method, error.object, error.message);
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    lw_energy energy = lw_energy_of(model, data, options.end, q, v);
    out[0] = energy.kinetic, out[1] = energy.potential;
    lw_momentum(model, data, options.end, q, v, out + 2, out + 5);
    lw_data_destroy(data);
}

static void runs_end_where_a_little_inertia_leads(void **state) {
    (void)state;
    for (int m = 0; m < MECHANISMS; m++) {
        lw_model *model = compile_quietly(mechanisms[m].text, "0"),
                 *near = compile_quietly(mechanisms[m].text, "1e-7");
        bool loops = lw_model_loop_count(model) > 0;
        double limit[8], own[8];
        end_of_run(near, loops ? "cut" : "tree", NULL, limit);
        static const char *const methods[] = {"rcr", "massless", "lagrange", "director"};
        for (int k = 0; k < 4; k++) {
            bool steps = k == 3; /* the scheme of its own, of second order with 1 ms */
            end_of_run(model, methods[k], steps ? "energy-momentum" : NULL, own);
            double off = relative_difference(limit, own, 8);
            if (!(off < (steps ? 2e-4 : 1e-5)))
                fail_msg("%s, %s: off by %.2e", mechanisms[m].name, methods[k], off);
        }
        lw_model_destroy(model), lw_model_destroy(near);
    }
}

/* What acts on the spin makes it a matter of that: a damper determines it, a torque leaves it undetermined. */
static void what_acts_there_is_not_idle(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool determined;
    } cases[] = {
        {RSSR("mass: 1, com: [0.6, 0.25, 0.3], " ROD, "type: spherical, v: [4, 3, 5]",
              "forces: {t: {type: applied, body: coupler, torque: [1, 0, 0]}}\n"),
         false},
        {RSSR("mass: 1, com: [0.6, 0.25, 0.3], " ROD, "type: spherical, v: [4, 3, 5]",
              "forces: {t: {type: applied, body: coupler, point: [0.6, 0.3, 0.3], force: [1, 0, 0]}}\n"),
         true}, /* as of a pendulum without mass: the place where it balances */
        {RSSR("mass: 1, com: [0.6, 0.25, 0.3], " ROD, "type: spherical, v: [4, 3, 5]",
              "forces: {t: {type: friction, joint: s1, coordinate: 0, viscous: 1}}\n"),
         true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        lw_model *model = compile_quietly(cases[k].text, "0");
        lw_error error = {0};
        assert_int_equal(model->idle_count, 0);
        assert_int_equal(lw_method_applies("massless", model, &error),
                         cases[k].determined ? LW_OK : LW_ERROR_UNSUPPORTED);
        if (!cases[k].determined) assert_non_null(strstr(error.object, "coupler"));
        assert_int_equal(lw_method_applies("lagrange", model, &error), LW_ERROR_UNSUPPORTED);
        lw_model_destroy(model);
    }
    /* the caller's tau */
    lw_model *rods = compile_quietly(mechanisms[4].text, "0");
    lw_data *data;
    lw_error error = {0};
    double q[MAX], v[MAX], vdot[MAX], tau[MAX] = {0};
    lw_model_initial_state(rods, q, v);
    assert_int_equal(lw_data_create(rods, NULL, &data), LW_OK);
    tau[0] = 0.8, tau[2] = 0.6; /* across the first rod, which lies along (0.6, 0, -0.8) */
    assert_int_equal(lw_tree_forward_dynamics(rods, data, 0, q, v, tau, vdot, &error), LW_OK);
    tau[0] = 1, tau[2] = 0;
    assert_int_equal(lw_tree_forward_dynamics(rods, data, 0, q, v, tau, vdot, &error), LW_ERROR_SINGULAR);
    assert_string_equal(error.object, "body \"a\"");
    lw_data_destroy(data);
    lw_model_destroy(rods);
}

/* A linkage without mass that flaps, and bodies that lead nowhere, are not held: their shape would be of our making. */
static void shapes_are_not_held(void **state) {
    (void)state;
    static const char flaps[] =
        "linkwork: 1\nname: idle\nparameters: {eps: 0}\nbodies:\n"
        "  a: {mass: 1, inertia: [1, 1, 1]}\n  b: {mass: 0}\n  c: {mass: 0}\n  d: {mass: 0}\n"
        "joints:\n  j0: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1]}\n"
        "  j1: {type: revolute, between: [a, b], point: [0, 1, 0], axis: [0, 0, 1]}\n"
        "  j2: {type: revolute, between: [b, c], point: [1, 2, 0], axis: [0, 0, 1]}\n"
        "  j3: {type: revolute, between: [c, d], point: [2, 1.5, 0], axis: [0, 0, 1]}\n"
        "  j4: {type: revolute, between: [d, ground], point: [3, 0, 0], axis: [0, 0, 1]}\n";
    static const char nowhere[] =
        "linkwork: 1\nname: idle\nparameters: {eps: 0}\nbodies:\n"
        "  a: {mass: 1, inertia: [1, 1, 1]}\n  b: {mass: 0}\n"
        "joints:\n  j0: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1]}\n"
        "  j1: {type: spherical, between: [a, b], point: [0, 1, 0]}\n";
    const char *const texts[] = {flaps, nowhere};
    for (int k = 0; k < 2; k++) {
        lw_model *model = compile_quietly(texts[k], "0");
        assert_int_equal(model->idle_count, 0);
        assert_int_equal(lw_method_applies("massless", model, NULL), LW_ERROR_UNSUPPORTED);
        lw_model_destroy(model);
    }
}

/* Rotors and measured inertias that no solid has: all methods agree where the motion is determined; where their gyroscopic torque acts on
 * a motion without inertia, it is not. */
static void moments_of_no_solid(void **state) {
    (void)state;
    static const char *const sound[] = {
        /* an arm with a flywheel and, by a gear, a second one that turns five times as fast */
        "linkwork: 1\nname: idle\nparameters: {eps: 0}\nbodies:\n"
        "  link1: {mass: 0, inertia: [0, 0, 0.35]}\n"
        "  link2: {mass: 17.4, com: [0.07, 0.01, -0.02], inertia: [0.13, 0.524, 0.1]}\n"
        "  wheel: {mass: 0, inertia: [0, 0, 0.01, 2.4e-35, 0, 0]}\n  fast: {mass: 0, inertia: [0.002, 0, "
        "0]}\n"
        "joints:\n  j1: {type: revolute, between: [ground, link1], point: [0, 0, 0], axis: [0, 0, 1], v: 1}\n"
        "  j2: {type: revolute, between: [link1, link2], point: [0, 0.1, 0], axis: [0, 1, 0], v: 2}\n"
        "  jw: {type: revolute, between: [link2, wheel], point: [0.5, 0.1, 0], axis: [0, 0, 1], v: 100}\n"
        "  jf: {type: revolute, between: [link2, fast], point: [0.5, 0.3, 0], axis: [1, 0, 0], v: 500}\n"
        "constraints: {gear: {type: coupling, terms: [{joint: jw, factor: 5}, {joint: jf, factor: "
        "-1}]}}\nrun: {end: 0.1, tolerance: 1e-9}\n",
        RSSR("mass: 0, com: [0.6, 0.25, 0.3], inertia: [0.01, 0.02, 0.5]", "type: spherical, v: [4, 3, 5]",
             ""),
    };
    for (int m = 0; m < 2; m++) {
        double q[MAX], v[MAX], vdot[MAX], own[6 * MAX], all[6 * MAX], limit[8], end[8];
        lw_model *model = compile_quietly(sound[m], "0");
        lw_error error = {0};
        int methods = 0;
        take_state(model, 0, q, v);
        assert_int_equal(lw_accelerations(model, "lagrange", 0, q, v, vdot, own, NULL, &error), LW_OK);
        for (int k = 0; k < lw_method_count(); k++) {
            const char *name = lw_method_at(k).name;
            if (lw_method_applies(name, model, &error) != LW_OK || strcmp(name, "penalty") == 0) continue;
            assert_int_equal(lw_accelerations(model, name, 0, q, v, vdot, all, NULL, &error), LW_OK);
            if (!(difference(model, own, all) < 1e-9))
                fail_msg("%s: off by %.2e", name, difference(model, own, all));
            methods++;
        }
        assert_true(methods >= 10);
        end_of_run(model, "lagrange", NULL, limit);
        end_of_run(model, "director", "energy-momentum",
                   end); /* of second order; Euler tensors with negative entries */
        if (!(relative_difference(limit, end, 8) < 1e-2))
            fail_msg("director: off by %.2e", relative_difference(limit, end, 8));
        end_of_run(model, "massless", NULL, end);
        assert_true(relative_difference(limit, end, 8) < 1e-6);
        lw_model_destroy(model);
    }
    lw_report *report = lw_report_create();
    assert_null(compile(
        "linkwork: 1\nname: idle\nparameters: {eps: 0}\nbodies: {rotor: {mass: 0, inertia: [0, 0, 1]}}\n"
        "joints: {ball: {type: spherical, between: [ground, rotor], point: [0, 0, 0]}}\n",
        "0", report));
    must_say(report, LW_SEVERITY_ERROR, "body \"rotor\"",
             "gyroscopic torque acts there and nothing resists it", "the difference of the other two");
    lw_report_destroy(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_warning_tells_the_axis),
        cmocka_unit_test(everything_else_is_the_limit),
        cmocka_unit_test(books_do_not_count_them),
        cmocka_unit_test(runs_end_where_a_little_inertia_leads),
        cmocka_unit_test(what_acts_there_is_not_idle),
        cmocka_unit_test(shapes_are_not_held),
        cmocka_unit_test(moments_of_no_solid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

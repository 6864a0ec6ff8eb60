/* test_linear_massless.c - linear systems and modes of mechanisms some of whose motions move no mass: against
 * closed forms; against differences of accelerations and of linear systems along runs, on random trees that
 * move; against the same mechanisms with a little mass, loops and frequency responses included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analyses/linear_parts.h"
#include "problems.h"
#include "random_massless.h"
#include "random_model.h"

#include <linkwork/linkwork.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 80 };

static lw_linear_system *system_at(const lw_model *model, const double *q, const double *v) {
    lw_linearise_options options;
    lw_linear_system *system = NULL;
    lw_error error = {0};
    lw_linearise_defaults(model, &options);
    options.q = q, options.v = v;
    if (lw_linearise(model, &options, &system, &error) != LW_OK)
        fail_msg("%s: %s", lw_model_name(model), error.message);
    return system;
}

static void near(double expected, double found, double tolerance) {
    if (!(fabs(expected - found) <= tolerance * (1 + fabs(expected))))
        fail_msg("%.15g and not %.15g", found, expected);
}

/* --- closed forms ---------------------------------------------------------------------------------- */

/* d q1' = k q2, m (q1 + q2)'' = -b (q1 + q2) - k q2 (the weight is constant); w = q1' + q2'. */
static void a_spring_and_a_damper_in_series(void **state) {
    (void)state;
    lw_model *model = read_problem("series_damper");
    lw_linear_system *s = system_at(model, NULL, NULL);
    const double m = 4, k = 800, d = 60, b = 200;
    const double A[9] = {0, k / d, 0, 0, -k / d, 1, -b / m, -(b + k) / m, 0};
    assert_int_equal(s->states, 3);
    assert_int_equal(s->first_order, 1);
    assert_int_equal(s->algebraic, 0);
    for (int i = 0; i < 9; i++) near(A[i], s->A[i], 1e-13);
    lw_linear_system_destroy(s);
    lw_model_destroy(model);
}

/* arnold2013, (6): d q1' + c q1 = d q2' + c q2, m2 w' = -c q2 - d q2', w = q1' + q2'. The motion of the light
 * mass turns q1 and q2 against each other, so that w is no speed of a joint. */
static void two_oscillators(void **state) {
    (void)state;
    lw_model *model = read_problem("two_oscillators");
    lw_linear_system *s = system_at(model, NULL, NULL);
    const double c = 1000, d = 20, m = 1, r = c / (2 * d);
    const double A[9] = {-r, r, 0.5, r, -r, 0.5, -c / (2 * m), -c / (2 * m), -d / (2 * m)};
    for (int i = 0; i < 9; i++) near(A[i], s->A[i], 1e-13);
    near(-c / d, s->eigenvalues[4], 1e-12);
    lw_linear_system_destroy(s);
    lw_model_destroy(model);
}

/* Two springs in series and a mass: m x'' = -k x / 2 + f / 2, with f on the knot, which moves by (k x + f) /
 * (2 k). */
static void springs_in_series(void **state) {
    (void)state;
    static const char text[] =
        "linkwork: 1\nname: springs in series\ngravity: [0, 0, 0]\ninputs: {f: 0}\n"
        "bodies: {knot: {kind: point, mass: 0}, load: {kind: point, mass: 2}}\n"
        "joints:\n  a: {type: prismatic, between: [ground, knot], axis: [1, 0, 0]}\n"
        "  b: {type: prismatic, between: [knot, load], axis: [1, 0, 0]}\n"
        "forces:\n  ka: {type: torsion, joint: a, stiffness: 50}\n  kb: {type: torsion, joint: b, stiffness: "
        "50}\n"
        "  f: {type: applied, body: knot, point: [0, 0, 0], force: [f, 0, 0]}\n"
        "outputs: {knot: a.q, load: com(load).x, speed: com(load).vx, fast: a.v}\nrun: {end: 1}\n";
    lw_spec *spec = read_text_spec(text);
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_spec_destroy(spec);
    lw_linear_system *s = system_at(model, NULL, NULL);
    assert_int_equal(s->states, 2);
    assert_int_equal(s->algebraic, 1);
    const double A[4] = {0, 1, -50. / 4, 0}, B[2] = {0, 0.25}, C[6] = {0.5, 0, 1, 0, 0, 1},
                 D[3] = {0.01, 0, 0};
    for (int i = 0; i < 4; i++) near(A[i], s->A[i], 1e-13);
    for (int i = 0; i < 2; i++) near(B[i], s->B[i], 1e-13);
    /* a.v has a part with f', which no such system can say, and is left out. */
    assert_int_equal(s->outputs, 3);
    for (int i = 0; i < 6; i++) near(C[i], s->C[i], 1e-13);
    for (int i = 0; i < 3; i++) near(D[i], s->D[i], 1e-13);
    assert_int_equal(s->left_out_count, 1);
    assert_string_equal(s->left_out[0], "fast");
    lw_linear_system_destroy(s);
    const double q[2] = {0.1, 0.1}, v[2] = {0.4, 0.4}; /* on the way the same */
    s = system_at(model, q, v);
    for (int i = 0; i < 4; i++) near(A[i], s->A[i], 1e-13);
    for (int i = 0; i < 2; i++) near(B[i], s->B[i], 1e-13);
    near(0.8, s->rates[0], 1e-12);
    near(-2.5, s->rates[1], 1e-12);
    lw_linear_system_destroy(s);
    lw_linearise_options options;
    lw_modes *modes;
    lw_linearise_defaults(model, &options);
    assert_int_equal(lw_modes_find(model, &options, &modes, NULL), LW_OK);
    assert_int_equal(modes->count, 1);
    assert_int_equal(modes->rigid, 0);
    near(sqrt(12.5), modes->modes[0].eigenvalue[1], 1e-12);
    near(0.5, modes->modes[0].shape[0] / (modes->modes[0].shape[0] + modes->modes[0].shape[1]), 1e-12);
    lw_modes_destroy(modes);
    lw_model_destroy(model);
}

/* --- along runs ------------------------------------------------------------------------------------ */

static const double offsets[] = {-2, -1, 1, 2}, weights[] = {1. / 12, -8. / 12, 8. / 12, -1. / 12};

typedef struct place {
    double q[MOST], v[MOST];
    int n;
    double A[MOST * MOST], Lq[MOST * MOST], Lv[MOST * MOST];
    int own[MOST];
} place;

static bool linear_at(lw_linear_work *w, double t, place *p) {
    const lw_model *model = w->derivatives->model;
    lw_linearise_options options;
    lw_linearise_defaults(model, &options);
    if (lw_linear_at(w, &options, t, p->q, p->v, NULL) != LW_OK) return false;
    const size_t nv = (size_t)lw_model_v_size(model), n = (size_t)w->n;
    p->n = w->n;
    memcpy(p->A, w->A, n * n * sizeof *p->A);
    memcpy(p->Lq, w->Lq, nv * n * sizeof *p->Lq);
    memcpy(p->Lv, w->Lv, nv * n * sizeof *p->Lv);
    for (int k = 0; k < w->coordinates; k++) p->own[k] = w->own_q[k];
    for (int k = 0; k < w->speeds; k++) p->own[w->coordinates + k] = w->own_v[k];
    return true;
}

/* A change dv = Lv x has the rate Lv' x + Lv A x along the run; it is also the change of accelerations between
 * displaced states. Speeds of displaced states are those in which forces balance. Returns the largest
 * difference, relative to the largest entry; NAN: no such run. */
static double disagreement(lw_model *model, const double *q0, const double *v0, double delta) {
    static place at[5];
    static double moved[4][MOST], rate[4][MOST];
    lw_linear_work w;
    lw_linearise_options options;
    lw_run_options run;
    lw_simulation *simulation = NULL;
    const int nq = lw_model_q_size(model), nv = lw_model_v_size(model);
    double worst = NAN, most = 0;
    lw_linearise_defaults(model, &options);
    lw_run_defaults(model, &run);
    run.method = "massless", run.integrator = "erk", run.tolerance = 1e-12, run.step = 0, run.end = 1;
    run.q = q0, run.v = v0, run.as_given = true;
    bool good = lw_linear_create(&w, model, &options, true, NULL) == LW_OK &&
                lw_simulation_create(model, &run, NULL, &simulation, NULL) == LW_OK;
    for (int k = 0; k < 5 && good; k++) {
        good = (k == 0 || lw_simulation_advance(simulation, k * delta, NULL) == LW_OK) &&
               lw_simulation_state(simulation, at[k].q, at[k].v) == LW_OK &&
               linear_at(&w, k * delta, &at[k]) && at[k].n == at[0].n &&
               memcmp(at[k].own, at[0].own, (size_t)at[0].n * sizeof(int)) == 0;
    }
    const place *p = &at[2];
    const double t = 2 * delta, h = 1e-4;
    for (int j = 0; j < p->n && good; j++) {
        for (int i = 0; i < 4 && good; i++) {
            double change[MOST], q[MOST], v[MOST];
            memcpy(q, p->q, (size_t)nq * sizeof *q);
            for (int k = 0; k < nv; k++) {
                change[k] = p->Lq[k * p->n + j];
                v[k] = p->v[k] + offsets[i] * h * p->Lv[k * p->n + j];
            }
            lw_integrate_q(model, q, change, offsets[i] * h);
            good = lw_solver_accelerations(lw_derivatives_solver(w.derivatives), t, q, v, NULL, rate[i],
                                           NULL) == LW_OK;
            lw_derivatives_settle(w.derivatives, t, q, v);
            memcpy(moved[i], v, (size_t)nv * sizeof *v);
        }
        for (int k = 0; k < nv && good; k++) {
            double da = 0, dv = 0, expected = 0;
            for (int i = 0; i < 4; i++) {
                da += weights[i] / h * rate[i][k], dv += weights[i] / h * moved[i][k];
                expected += weights[i] / delta * at[i < 2 ? i : i + 1].Lv[k * p->n + j];
            }
            for (int l = 0; l < p->n; l++) expected += p->Lv[k * p->n + l] * p->A[l * p->n + j];
            const double speed = fabs(dv - p->Lv[k * p->n + j]), error = fabs(da - expected);
            worst = fmax(isnan(worst) ? 0 : worst, fmax(error, speed));
            most = fmax(most, fmax(fabs(expected), fabs(dv)));
        }
    }
    lw_simulation_destroy(simulation);
    lw_linear_destroy(&w);
    return good ? worst / (1 + most) : NAN;
}

/* Rounding of the accelerations, themselves differences, is some 1e-10, divided by steps of 1e-4; that of
 * speeds in runs of a tolerance of 1e-12 likewise. Where a motion is fast the step in time is too long: half
 * of it must then show a sixteenth, until steps are too short: in one loop 1.4e-5 is left. Most of these motions turn as the mechanism moves. */
static void random_trees_that_move(void **state) {
    (void)state;
    int seen = 0;
    for (int seed = 1; seed <= 120; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        const int bodies = 2 + random_below(&random, 5);
        lw_model *model = random_massless_model((uint64_t)seed, bodies, HOLD_DAMPED, 0);
        lw_directions *directions = NULL;
        double q0[MOST], v0[MOST];
        lw_directions_create(model, &directions, NULL);
        const int count = lw_directions_count(directions);
        lw_directions_destroy(directions);
        random_state(&random, model, q0, v0);
        for (int k = 0; k < lw_model_v_size(model); k++) v0[k] *= 0.3;
        if (count > 0 && lw_model_q_size(model) < MOST / 2) {
            double error = disagreement(model, q0, v0, 1e-3);
            for (double delta = 2.5e-4; error > 1e-5 && delta > 1e-6; delta /= 4)
                error = fmin(error, disagreement(model, q0, v0, delta));
            if (error > 1e-5) fail_msg("seed %d: %g", seed, error);
            seen += !isnan(error);
        }
        lw_model_destroy(model);
    }
    print_message("%d trees\n", seen);
    assert_true(seen >= 30);
}

static void random_loops_that_move(void **state) {
    (void)state;
    int seen = 0;
    for (int seed = 0; seed < 60; seed++) {
        static random_loops loops;
        lw_model *model = random_massless_loops(&loops, seed, 0);
        double q0[2 * MOST], v0[MOST] = {0};
        if (loops.base != LOOP_MOVING && lw_model_v_size(model) < MOST / 2) { /* It starts at rest. */
            random_loops_configuration(&loops, model, q0);
            double error = disagreement(model, q0, v0, 1e-3);
            for (double delta = 2.5e-4; error > 1e-5 && delta > 1e-6; delta /= 4)
                error = fmin(error, disagreement(model, q0, v0, delta));
            if (error > 5e-5) fail_msg("seed %d: %g", seed, error);
            seen += !isnan(error);
        }
        lw_model_destroy(model);
    }
    print_message("%d loops\n", seen);
    assert_true(seen >= 5);
}

/* --- the limit of small mass ------------------------------------------------------------------------ */

/* In a position of rest, searched from q (NULL: from the start), where the model finds one. */
static lw_linear_system *at_rest(const lw_model *model, const double *q) {
    lw_equilibrium *equilibrium = NULL;
    lw_linearise_options options;
    lw_linear_system *system = NULL;
    lw_linearise_defaults(model, &options);
    options.q = q;
    if (lw_equilibrium_find(model, &options, &equilibrium, NULL) == LW_OK && equilibrium->converged) {
        options.q = equilibrium->q;
        lw_linearise(model, &options, &system, NULL);
    }
    lw_equilibrium_destroy(equilibrium);
    return system;
}

/* The largest distance, relative to itself or 1 /s, of an eigenvalue of `s` from the nearest one of the same
 * mechanism with a little mass, where that rests. NAN: it rests elsewhere. */
static double distance(const lw_linear_system *s, lw_model *little) {
    lw_linear_system *other = at_rest(little, s->q);
    double worst = 0;
    for (int k = 0; k < s->states && other; k++) {
        double nearest = HUGE_VAL;
        for (int l = 0; l < other->states; l++)
            nearest = fmin(nearest, hypot(s->eigenvalues[2 * k] - other->eigenvalues[2 * l],
                                          s->eigenvalues[2 * k + 1] - other->eigenvalues[2 * l + 1]));
        worst = fmax(worst, nearest / (1 + hypot(s->eigenvalues[2 * k], s->eigenvalues[2 * k + 1])));
    }
    if (!other) worst = NAN;
    lw_linear_system_destroy(other);
    lw_model_destroy(little);
    return worst;
}

/* A tenth of the mass leaves a tenth of the distance, as far as rounding lets it be seen: positions of rest are
 * right to 1e-9 and more. Returns whether there was something to see. */
static bool check_limit(int seed, const double error[3]) {
    if (isnan(error[0] + error[1] + error[2])) return false;
    for (int k = 0; k < 2; k++)
        if (error[k + 1] > 1e-6 && !(error[k] > 5 * error[k + 1]))
            fail_msg("seed %d: %g, %g, %g", seed, error[0], error[1], error[2]);
    if (!(error[2] < 0.01)) fail_msg("seed %d: %g", seed, error[2]);
    return true;
}

static void trees_are_the_limit_of_small_mass(void **state) {
    (void)state;
    int seen = 0, held = 0;
    for (int seed = 1; seed <= 120; seed++) {
        if (seed % 3 == 1) continue; /* prescribed motions, which do not rest */
        lw_random random = random_seed((uint64_t)seed);
        const int bodies = 2 + random_below(&random, 4);
        const massless_hold hold = seed % 2 ? HOLD_SPRUNG : HOLD_DAMPED;
        lw_model *model = random_massless_model((uint64_t)seed, bodies, hold, 0);
        lw_linear_system *s = at_rest(model, NULL);
        if (s && s->first_order + s->algebraic > 0) {
            double error[3];
            for (int k = 0; k < 3; k++)
                error[k] = distance(s, random_massless_model((uint64_t)seed, bodies, hold, pow(10, -4 - k)));
            if (check_limit(seed, error)) seen++, held += s->algebraic > 0;
        }
        lw_linear_system_destroy(s);
        lw_model_destroy(model);
    }
    print_message("%d trees, %d of them with motions held by springs alone\n", seen, held);
    assert_true(seen >= 12 && held >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spring_and_a_damper_in_series),
        cmocka_unit_test(two_oscillators),
        cmocka_unit_test(springs_in_series),
        cmocka_unit_test(random_trees_that_move),
        cmocka_unit_test(random_loops_that_move),
        cmocka_unit_test(trees_are_the_limit_of_small_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_light.c - light, massless and heavy bodies between others, and any unit of mass: lagrange, director and partition are right,
 * or refuse with a reason.
 *
 * Mechanisms with known answers: a four-bar whose loop closes between two light frames, a pendulum of which the tip weighs up to 1e15 times
 * the rest, a cardan drive with light crosses. Then random loops of all kinds in which one body's mass and inertia are those of a
 * body 1e-12 to 1 times as heavy, or all of them 1e-9 to 1e9 times; the truth is the balance check, which knows no method.
 */
#include "problems.h"
#include "random_loops.h"
#include "formulations/common/checked_accelerations.h"
#include "model/spec/spec_storage.h"
#include <linkwork/assemble.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char four_bar[] =
    "linkwork: 1\n"
    "parameters: {eps: %s}\n"
    "bodies:\n"
    "  crank: {mass: 1, com: [0, 0, 0.5], inertia: [0.1, 0.1, 0.02]}\n"
    "  coupler: {mass: 2, com: [1, 0, 1], inertia: [0.04, 0.7, 0.7]}\n"
    "  rocker: {mass: 1.5, com: [2, 0, 0.5], inertia: [0.3, 0.3, 0.03]}\n"
    "  frameA: {mass: eps, com: [2, 0, 1], inertia: [0, 0, 0]}\n"
    "  frameB: {mass: eps, com: [2, 0, 1], inertia: [0, 0, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0], v: 1}\n"
    "  B: {type: revolute, between: [crank, coupler], point: [0, 0, 1], axis: [0, 1, 0], v: -1}\n"
    "  D: {type: revolute, between: [ground, rocker], point: [2, 0, 0], axis: [0, 1, 0], v: 1}\n"
    "  wA: {type: weld, between: [coupler, frameA]}\n"
    "  wB: {type: weld, between: [rocker, frameB]}\n"
    "  C: {type: spherical, between: [frameA, frameB], point: [2, 0, 1], cut: true}\n"
    "forces:\n"
    "  m: {type: drive, joint: A, torque: 10}\n";

static const char heavy_tip[] =
    "linkwork: 1\n"
    "parameters: {r: %s}\n"
    "bodies:\n"
    "  a: {mass: 1, shape: rod, points: [[0,0,0],[0,0,-1]], radius: 0.05}\n"
    "  b: {mass: r, shape: rod, points: [[0,0,-1],[0,0,-2]], radius: 0.05}\n"
    "joints:\n"
    "  p: {type: revolute, between: [ground, a], point: [0,0,0], axis: [0,1,0], q: 1}\n"
    "  e: {type: revolute, between: [a, b], point: [0,0,-1], axis: [0,1,0], q: 0.5}\n";

static const char cardan[] =
    "linkwork: 1\n"
    "gravity: [0,0,0]\n"
    "parameters: {mx: %s}\n"
    "bodies:\n"
    "  in: {mass: 1, inertia: [0.1,0.1,0.1]}\n"
    "  cross1: {mass: mx, inertia: [mx/100, mx/100, mx/100], com: [1,0,0]}\n"
    "  shaft: {mass: mx, inertia: [mx/100, mx/100, mx/100], com: [1.5,0,0.25]}\n"
    "  cross2: {mass: mx, inertia: [mx/100, mx/100, mx/100], com: [2,0,0.5]}\n"
    "  out: {mass: 1, com: [2.5,0,0.5], inertia: [0.2,0.2,0.2]}\n"
    "joints:\n"
    "  b1: {type: revolute, between: [ground, in], point: [0,0,0], axis: [1,0,0], v: 10}\n"
    "  c1: {type: revolute, between: [in, cross1], point: [1,0,0], axis: [0,1,0]}\n"
    "  c2: {type: revolute, between: [cross1, shaft], point: [1,0,0], axis: [-0.5,0,1]}\n"
    "  c3: {type: revolute, between: [shaft, cross2], point: [2,0,0.5], axis: [0,1,0]}\n"
    "  c4: {type: revolute, between: [cross2, out], point: [2,0,0.5], axis: [0,0,1]}\n"
    "  b2: {type: cylindrical, between: [ground, out], point: [2.5,0,0.5], axis: [1,0,0]}\n"
    "forces:\n"
    "  drag: {type: friction, joint: b2, coordinate: angle, viscous: 0.05}\n"
    "  tors: {type: drive, joint: b1, torque: 0.2}\n";

/* The acceleration of a joint's first coordinate by a method, at the assembled start; NaN if it refuses. */
static double answer(const char *form, const char *value, const char *name, const char *joint) {
    char text[4096];
    snprintf(text, sizeof text, form, value);
    lw_model *model = compile_or_fail(read_text_spec(text));
    const lw_formulation *f = lw_formulation_find(name);
    const lw_method_options options = {0};
    lw_method *method = NULL;
    lw_assembly assembly;
    lw_error error = {0};
    double q[64], v[64], vdot[64], result = NAN;
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_assemble(model, 0, q, v, &assembly, &error), LW_OK);
    if (f->applies(model, &error) == LW_OK && f->create(model, &options, &method, &error) == LW_OK) {
        if (f->accelerations(method, 0, q, v, NULL, vdot, NULL, NULL, &error) == LW_OK)
            result = vdot[model->joints[lw_model_joint(model, joint)].info.v];
        f->destroy(method);
    }
    if (isnan(result)) print_message("%s, %s: %s: %s\n", value, name, error.object, error.message);
    lw_model_destroy(model);
    return result;
}

static void known(const char *form, const char *value, const char *method, const char *joint, double right,
                  double tolerance) {
    double found = answer(form, value, method, joint);
    if (!(fabs(found - right) <= tolerance * fabs(right)))
        fail_msg("%s with %s: %.15g instead of %.15g", method, value, found, right);
}

/* 400 / 121 at eps = 0, and less by eps times something of the order 1. */
static void frames_between(void **state) {
    (void)state;
    static const char *const eps[] = {"1e-6", "1e-9", "1e-10", "1e-12", "1e-15", "0"};
    static const char *const methods[] = {"lagrange", "director", "director-full", "partition"};
    for (int k = 0; k < 6; k++)
        for (int m = 0; m < 4; m++)
            known(four_bar, eps[k], methods[m], "A", 3.305785123966942, fmax(1e-12, 10 * atof(eps[k])));
}

/* Up to r = 1e4 against tree. Beyond, the limit of a heavy tip, from which it is off by 1 / r times something of the order 1. */
static void tip_beyond(void **state) {
    (void)state;
    static const char *const r[] = {"1", "1e2", "1e4", "1e7", "1e8", "1e10", "1e12", "1e15"};
    static const char *const methods[] = {"lagrange", "director", "director-full"};
    for (int k = 0; k < 8; k++)
        for (int m = 0; m < 3; m++)
            if (k < 3)
                known(heavy_tip, r[k], methods[m], "p", answer(heavy_tip, r[k], "tree", "p"), 1e-12);
            else
                known(heavy_tip, r[k], methods[m], "p", -4.31259564, fmax(1e-8, 10 / atof(r[k])));
}

/* -10 / 19: moments of inertia 0.1 and 0.2 in series, a drag of 0.05 times 10 rad/s against a torque of 0.2. */
static void crosses_between(void **state) {
    (void)state;
    static const char *const mass[] = {"1e-5", "1e-7", "1e-9", "1e-12", "1e-15", "0"};
    static const char *const methods[] = {"lagrange", "director", "director-full"};
    for (int k = 0; k < 6; k++)
        for (int m = 0; m < 3; m++)
            known(cardan, mass[k], methods[m], "b1", -10.0 / 19, fmax(1e-10, atof(mass[k])));
}

static int right, wrong, refused;

/* Every method of ours that applies: what it answers must pass the check. Forces on a body below 1e-9 of its neighbours are rounding of
 * theirs (balance.md, What it cannot see): there the check may be what refuses. lightest: of a body, relative to the others. */
static void put_to_check(const lw_model *model, int seed, const char *change, double by, double lightest,
                         double t, const double *q, const double *v) {
    const double beyond = 1e-9;
    static const char *const methods[] = {"lagrange", "director", "partition", "partition-absolute"};
    const lw_method_options options = {0};
    lw_checked *checked = lw_checked_create(model);
    double *vdot = calloc((size_t)model->nv + 1, sizeof *vdot);
    assert_true(checked && vdot);
    for (int k = 0; k < 4; k++) {
        const lw_formulation *f = lw_formulation_find(methods[k]);
        lw_method *method;
        lw_error error = {0};
        double amount = 0;
        if (f->applies(model, &error) != LW_OK || f->create(model, &options, &method, &error) != LW_OK) {
            refused++;
            continue;
        }
        if (f->accelerations(method, t, q, v, NULL, vdot, NULL, NULL, &error) != LW_OK)
            refused++;
        else if (lw_checked_accelerations(checked, &(lw_checked_state){method, &options, t, q, v, NULL},
                                          (lw_checked_answer){.vdot = vdot, .amount = &amount},
                                          &error) == LW_OK)
            right++;
        else if (lightest < beyond)
            refused++;
        else
            print_error("seed %d, %s times %g, %s: %s: %s\n", seed, change, by, methods[k], error.object,
                        error.message),
                wrong++;
        f->destroy(method);
    }
    free(vdot);
    lw_checked_destroy(checked);
}

static void random_masses(bool all) {
    int seeds = getenv("LINKWORK_LONG") ? 2000 : 120;
    right = wrong = refused = 0;
    for (int seed = 0; seed < seeds; seed++) {
        random_loops loops;
        random_loops_build(&loops, seed);
        lw_random random = random_seed((uint64_t)seed + 5);
        double by = pow(10, all ? random_between(&random, -9, 9) : random_between(&random, -12, 0));
        size_t only = (size_t)random_below(&random, (int)loops.spec->body_count);
        for (size_t i = 0; i < loops.spec->body_count; i++) {
            lw_body_spec *body = &loops.spec->bodies[i];
            if (!all && i != only) continue;
            body->mass *= by;
            for (int k = 0; k < 6; k++) body->inertia[k] *= by;
        }
        lw_model *model = compile_or_fail(loops.spec);
        double *q = calloc((size_t)model->nq + (size_t)model->nv + 1, sizeof *q), *v = q + model->nq;
        random_loops_state(&loops, model, seed % 3 > 0, q, v);
        put_to_check(model, seed, all ? "all masses" : "one body", by, all ? 1 : by, loops.t, q, v);
        free(q);
        lw_model_destroy(model);
    }
    print_message("%s: %d answers balance, %d do not, %d refused\n", all ? "all masses" : "one body", right,
                  wrong, refused);
    assert_true(wrong == 0 && refused <= right / 20);
}

static void one_body_light(void **state) {
    (void)state;
    random_masses(false);
}

static void any_unit_of_mass(void **state) {
    (void)state;
    random_masses(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_between),   cmocka_unit_test(tip_beyond),
        cmocka_unit_test(crosses_between),  cmocka_unit_test(one_body_light),
        cmocka_unit_test(any_unit_of_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

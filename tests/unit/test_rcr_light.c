/* test_rcr_light.c - rcr and cut where bodies of one loop differ in mass by up to 1e16, and whether what rcr says depends on the state alone.
 */
#include "formulations/formulation.h"
#include "problems.h"
#include "random_loops.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 128 };

static lw_status accelerations(const lw_model *model, const char *name, double t, const double *q,
                               const double *v, double *vdot, lw_error *error) {
    const lw_formulation *f = lw_formulation_find(name);
    const lw_method_options options = {0};
    lw_method *method = NULL;
    *error = (lw_error){0};
    lw_status status = f->applies(model, error);
    if (status == LW_OK) status = f->create(model, &options, &method, error);
    if (status == LW_OK) status = f->accelerations(method, t, q, v, NULL, vdot, NULL, NULL, error);
    if (method) f->destroy(method);
    return status;
}

/* --- a cardan drive whose crosses and shaft weigh next to nothing ------------------------------------------- */

static const char cardan[] =
    "linkwork: 1\nname: cardan drive\ngravity: [0, 0, 0]\nparameters: {mx: %s}\n"
    "bodies:\n"
    "  in: {mass: 1, inertia: [0.1, 0.1, 0.1]}\n"
    "  cross1: {mass: mx, inertia: [mx/100, mx/100, mx/100], com: [1, 0, 0]}\n"
    "  shaft: {mass: mx, inertia: [mx/100, mx/100, mx/100], com: [1.5, 0, 0.25]}\n"
    "  cross2: {mass: mx, inertia: [mx/100, mx/100, mx/100], com: [2, 0, 0.5]}\n"
    "  out: {mass: 1, com: [2.5, 0, 0.5], inertia: [0.2, 0.2, 0.2]}\n"
    "joints:\n"
    "  b1: {type: revolute, between: [ground, in], point: [0, 0, 0], axis: [1, 0, 0], v: 10}\n"
    "  c1: {type: revolute, between: [in, cross1], point: [1, 0, 0], axis: [0, 1, 0]}\n"
    "  c2: {type: revolute, between: [cross1, shaft], point: [1, 0, 0], axis: [-0.5, 0, 1]}\n"
    "  c3: {type: revolute, between: [shaft, cross2], point: [2, 0, 0.5], axis: [0, 1, 0]}\n"
    "  c4: {type: revolute, between: [cross2, out], point: [2, 0, 0.5], axis: [0, 0, 1]}\n"
    "  b2: {type: cylindrical, between: [ground, out], point: [2.5, 0, 0.5], axis: [1, 0, 0]}\n"
    "forces:\n"
    "  drag: {type: friction, joint: b2, coordinate: angle, viscous: 0.05}\n"
    "  tors: {type: drive, joint: b1, torque: 0.2}\n";

static void cardan_drive(void **state) {
    (void)state;
    static const char *const masses[] = {"1e-5", "1e-7", "1e-9", "1e-12", "1e-14", "1e-16"};
    for (int k = 0; k < 6; k++) {
        char text[2048];
        snprintf(text, sizeof text, cardan, masses[k]);
        lw_model *model = compile_or_fail(read_text_spec(text));
        double q[MAX], v[MAX], vdot[MAX];
        lw_error error = {0};
        lw_model_initial_state(model, q, v);
        assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
        int b1 = lw_model_joint_info(model, lw_model_joint(model, "b1")).v;
        /* -10/19 without crosses and shaft, which change it by less than their mass */
        assert_int_equal(accelerations(model, "rcr", 0, q, v, vdot, &error), LW_OK);
        assert_true(fabs(vdot[b1] + 10. / 19) < 1e-8 + 1. * atof(masses[k]));
        lw_status status = accelerations(model, "cut", 0, q, v, vdot, &error);
        if (status == LW_OK)
            assert_true(fabs(vdot[b1] + 10. / 19) < 1e-7 + 1. * atof(masses[k]));
        else
            assert_non_null(strstr(error.message, "differ so much in mass"));
        assert_true(status == LW_OK || k > 3);
        lw_run_options options = {.method = "rcr", .integrator = "erk", .tolerance = 1e-9, .end = 1};
        lw_run_summary summary;
        status = lw_simulate(model, &options, NULL, NULL, &summary, &error);
        if (status != LW_OK && (k < 5 || !strstr(error.message, "differ so much in mass")))
            fail_msg("mx = %s: %s", masses[k], error.message);
        assert_true(status != LW_OK || summary.energy_max_drift < 1e-6);
        lw_model_destroy(model);
    }
}

/* --- random loops with one light body ------------------------------------------------------------------------ */

static void lighten(lw_model *model, int body, double factor) {
    lw_rigid_inertia *I = &model->links[body].inertia;
    I->mass *= factor;
    for (int k = 0; k < 3; k++) I->moment[k] *= factor;
    for (int k = 0; k < 6; k++) I->second[k] *= factor;
}

static double difference(int count, const double *a, const double *b) {
    double most = 0, size = 1e-6; /* some cannot move at all */
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
        size = fmax(size, fmax(fabs(a[k]), fabs(b[k])));
    }
    return size > 0 ? most / size : 0;
}

static void one_light_body(void **state) {
    (void)state;
    static const double factors[] = {1e-3, 1e-6, 1e-9, 1e-12};
    int seen = 0, refused = 0, wrong = 0;
    double worst = 0;
    for (int seed = 1; seed <= 240; seed++) {
        random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        double q[MAX], v[MAX], a[3][MAX];
        if (model->nv > MAX || model->nq > MAX) {
            lw_model_destroy(model);
            continue;
        }
        random_loops_state(&loops, model, true, q, v);
        lighten(model, 1 + seed % model->body_count, factors[seed % 4]);
        lw_error error;
        static const char *const names[3] = {"rcr", "cut", "nullspace"};
        bool fine[3];
        for (int k = 0; k < 3; k++) {
            fine[k] = accelerations(model, names[k], loops.t, q, v, a[k], &error) == LW_OK;
            if (!fine[k]) assert_true(strlen(error.message) > 20);
        }
        refused += !fine[0] + !fine[1];
        for (int k = 0; k < 2; k++)
            if (fine[k] && (fine[1 - k] || fine[2])) {
                double off = difference(model->nv, a[k], fine[1 - k] ? a[1 - k] : a[2]);
                seen++;
                worst = fmax(worst, off);
                if (!(off < 1e-6)) {
                    wrong++;
                    print_message("seed %d (%s, %s), %s of 1e%d: %.2g\n", seed, loop_kind_name(loops.kind),
                                  loop_base_name(loops.base), names[k], (int)log10(factors[seed % 4]), off);
                }
            }
        lw_model_destroy(model);
    }
    print_message("%d answers, worst %.1e, %d refused, %d wrong\n", seen, worst, refused, wrong);
    assert_true(seen > 300);
    assert_int_equal(wrong, 0);
}

/* --- nothing is remembered ------------------------------------------------------------------------------------- */

/* States in one order and in another: the same numbers to the last bit, from accelerations and from derivatives. */
static void no_memory(void **state) {
    (void)state;
    static const char *const problems[] = {"four_bar", "bennett", "parallelogram", "ladder",
                                           "trellis",  "scissor", "hub",           "five_bar_redundant"};
    enum { STATES = 12 };
    const lw_formulation *f = lw_formulation_find("rcr");
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
        lw_model *model = read_problem(problems[p]);
        const lw_method_options options = {0};
        lw_method *method;
        lw_error error = {0};
        static double q[STATES][MAX], v[STATES][MAX], first[STATES][MAX], second[MAX], y[2 * MAX],
            rate[STATES][2 * MAX], again[2 * MAX];
        lw_random random = random_seed(p + 3);
        lw_power power;
        assert_int_equal(f->create(model, &options, &method, &error), LW_OK);
        for (int k = 0; k < STATES; k++) {
            lw_model_initial_state(model, q[k], v[k]);
            assert_int_equal(lw_assemble(model, 0, q[k], v[k], NULL, &error), LW_OK);
            lw_integrate_q(model, q[k], v[k], 0.05 * k);
            if (lw_assemble(model, 0, q[k], v[k], NULL, &error) != LW_OK && k > 0)
                memcpy(q[k], q[0], sizeof q[k]), memcpy(v[k], v[0], sizeof v[k]);
            assert_int_equal(f->accelerations(method, 0, q[k], v[k], NULL, first[k], NULL, NULL, &error),
                             LW_OK);
        }
        f->to_state(method, 0, q[0], v[0], y);
        for (int k = 0; k < STATES; k++) {
            memcpy(y, q[k], (size_t)model->nq * sizeof *y);
            memcpy(y + model->nq, v[k], (size_t)model->nv * sizeof *y);
            assert_int_equal(f->derivative(method, 0, y, rate[k], &power, &error), LW_OK);
        }
        for (int n = 0; n < 5 * STATES; n++) {
            int k = (int)random_between(&random, 0, STATES - 1e-9);
            assert_int_equal(f->accelerations(method, 0, q[k], v[k], NULL, second, NULL, NULL, &error),
                             LW_OK);
            assert_memory_equal(first[k], second, (size_t)model->nv * sizeof *second);
            memcpy(y, q[k], (size_t)model->nq * sizeof *y);
            memcpy(y + model->nq, v[k], (size_t)model->nv * sizeof *y);
            assert_int_equal(f->derivative(method, 0, y, again, &power, &error), LW_OK);
            assert_memory_equal(rate[k], again, (size_t)(model->nq + model->nv) * sizeof *again);
        }
        f->destroy(method);
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cardan_drive), cmocka_unit_test(one_light_body),
                                       cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

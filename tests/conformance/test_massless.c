/* test_massless.c - method massless on random trees and loops with bodies that lack mass or inertia.
 *
 *   with full rank it is tree                     accelerations, to rounding
 *   without, it is the limit of small mass        the error of a run with a little mass instead is proportional to it, over three decades
 *   the state is not unique, the motion is        w and w + N z lead to the same motion
 *   all integrators agree                         to their tolerance
 *   no mechanism, however loose, makes a NaN      a sentence instead
 */
#include "random_loops.h"
#include "random_massless.h"
#include "formulations/massless/massless_parts.h"
#include "formulations/common/tree_method_base.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const lw_formulation lw_formulation_tree;

enum { MAX = 200 };
static const lw_formulation *const massless = &lw_formulation_massless;
static const lw_method_options no_options = {0};

static void fully_massive_trees_are_as_tree_has_them(void **state) {
    (void)state;
    for (int seed = 1; seed <= 300; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        random_tree options = {.bodies = 1 + random_below(&random, 9),
                               .forces = seed % 2,
                               .prescribed = seed % 3 == 1,
                               .reversed = seed % 4 < 2,
                               .aligned = seed % 5 < 3,
                               .joint = -1};
        lw_model *model = random_tree_model(&random, &options);
        lw_method *a, *b;
        lw_error error;
        double q[MAX], v[MAX], x[MAX], y[MAX];
        assert_int_equal(lw_formulation_tree.create(model, &no_options, &a, &error), LW_OK);
        assert_int_equal(massless->create(model, &no_options, &b, &error), LW_OK);
        random_state(&random, model, q, v);
        assert_int_equal(lw_formulation_tree.accelerations(a, 0.3, q, v, NULL, x, NULL, NULL, &error), LW_OK);
        assert_int_equal(massless->accelerations(b, 0.3, q, v, NULL, y, NULL, NULL, &error), LW_OK);
        double difference = relative_difference(x, y, lw_model_v_size(model));
        if (!(difference < 1e-12)) fail_msg("seed %d: accelerations differ by %g", seed, difference);
        lw_formulation_tree.destroy(a);
        massless->destroy(b);
        lw_model_destroy(model);
    }
}

/* --- runs ------------------------------------------------------------------------------------------------- */

static lw_status run(const lw_model *model, const char *method, const char *integrator, double tolerance,
                     double end, const double *q0, const double *v0, double *q, double *v,
                     lw_run_summary *summary, lw_error *error) {
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.method = method, options.integrator = integrator, options.tolerance = tolerance;
    options.step = 0, options.end = end, options.output = end, options.as_given = true;
    options.q = q0, options.v = v0;
    return lw_simulate(model, &options, q, v, summary, error);
}

/* The consistent state nearest to (q, v): that of a run which hardly moves. */
static bool settle(const lw_model *model, double *q, double *v) {
    lw_error error;
    lw_run_summary summary;
    double q0[MAX], v0[MAX];
    memcpy(q0, q, (size_t)lw_model_q_size(model) * sizeof *q);
    memcpy(v0, v, (size_t)lw_model_v_size(model) * sizeof *v);
    return run(model, "massless", "erk", 1e-9, 1e-9, q0, v0, q, v, &summary, &error) == LW_OK;
}

/* Errors of runs with a little mass against the one without: each tenth of the mass must leave a tenth of the error, to a few per
 * cent (terms of second order), as far as errors exceed what integrators leave. Returns whether there was something to see. */
static bool check_limit(int seed, const double error[4]) {
    if (!(error[1] > 1e-6)) return false;
    for (int k = 1; k < 3; k++) {
        double ratio = error[k] / error[k + 1];
        if (!(ratio > 8 && ratio < 12.5))
            fail_msg("seed %d: errors %g, %g, %g, %g are not proportional to the mass added", seed, error[0],
                     error[1], error[2], error[3]);
    }
    return true;
}

static void trees_are_the_limit_of_small_mass(void **state) {
    (void)state;
    int seen = 0, directions_seen = 0;
    for (int seed = 1; seed <= 150; seed++) {
        if (seed % 4 == 3) continue; /* laws that drive as well as damp */
        lw_random random = random_seed((uint64_t)seed);
        int bodies = 2 + random_below(&random, 5);
        lw_model *model = random_massless_model((uint64_t)seed, bodies, HOLD_DAMPED, 0);
        lw_directions *directions;
        lw_error error;
        lw_run_summary summary;
        double q0[MAX], v0[MAX], q[MAX], v[MAX], qe[MAX], ve[MAX], errors[4];
        assert_int_equal(lw_directions_create(model, &directions, &error), LW_OK);
        int count = lw_directions_count(directions), nq = lw_model_q_size(model);
        lw_directions_destroy(directions);
        random_state(&random, model, q0, v0);
        for (int k = 0; k < lw_model_v_size(model); k++) v0[k] *= 0.3;
        /* a tree whose rank drops on the way has no limit there: it stops with a sentence */
        bool good = count > 0 && settle(model, q0, v0) &&
                    run(model, "massless", "erk", 1e-11, 0.2, q0, v0, q, v, &summary, &error) == LW_OK;
        for (int k = 0; k < 4 && good; k++) {
            lw_model *little = random_massless_model((uint64_t)seed, bodies, HOLD_DAMPED, pow(10, -2 - k));
            good = run(little, "tree", "bdf", 1e-10, 0.2, q0, v0, qe, ve, &summary, &error) == LW_OK;
            errors[k] = good ? relative_difference(q, qe, nq) : 0;
            lw_model_destroy(little);
        }
        if (good && check_limit(seed, errors)) seen++, directions_seen += count;
        lw_model_destroy(model);
    }
    print_message("%d trees, %d directions without mass\n", seen, directions_seen);
    assert_true(seen >= 40);
}

static void loops_are_the_limit_of_small_mass(void **state) {
    (void)state;
    int seen = 0;
    for (int seed = 0; seed < 14; seed++) {
        static random_loops loops;
        lw_model *model = random_massless_loops(&loops, seed, 0);
        lw_error error;
        lw_run_summary summary;
        double q0[MAX], v0[MAX], q[MAX], v[MAX], qe[MAX], ve[MAX], errors[4];
        int nq = lw_model_q_size(model);
        if (loops.base == LOOP_MOVING) { /* it cannot start at rest */
            lw_model_destroy(model);
            continue;
        }
        random_loops_configuration(&loops, model, q0);
        memset(v0, 0, sizeof v0);
        bool good = settle(model, q0, v0) &&
                    run(model, "massless", "erk", 1e-10, 0.2, q0, v0, q, v, &summary, &error) == LW_OK;
        for (int k = 0; k < 4 && good; k++) {
            static random_loops again;
            lw_model *little = random_massless_loops(&again, seed, pow(10, -2 - k));
            /* which joints are cut may depend on which bodies have mass */
            for (int j = 0; j < lw_model_joint_count(model); j++)
                good = good && lw_model_joint_info(model, j).cut == lw_model_joint_info(little, j).cut &&
                       lw_model_joint_info(model, j).q == lw_model_joint_info(little, j).q;
            good = good && run(little, "cut", "bdf", 1e-10, 0.2, q0, v0, qe, ve, &summary, &error) == LW_OK;
            (void)ve;
            errors[k] = good ? relative_difference(q, qe, nq) : 0;
            lw_model_destroy(little);
        }
        if (good && check_limit(seed, errors)) seen++;
        lw_model_destroy(model);
    }
    print_message("%d loops\n", seen);
    assert_true(seen >= 4);
}

static void all_integrators_agree(void **state) {
    (void)state;
    static const char *const names[] = {"bdf", "adams", "ida"};
    int seen = 0;
    for (int seed = 1; seed <= 60; seed++) {
        if (seed % 4 == 3) continue;
        lw_random random = random_seed((uint64_t)seed);
        massless_hold hold = seed % 2 ? HOLD_DAMPED : HOLD_SPRUNG;
        lw_model *model = random_massless_model((uint64_t)seed, 2 + random_below(&random, 4), hold, 0);
        lw_error error;
        lw_run_summary summary;
        double q0[MAX], v0[MAX], q[MAX], v[MAX], qe[MAX], ve[MAX];
        random_state(&random, model, q0, v0);
        for (int k = 0; k < lw_model_v_size(model); k++) v0[k] *= 0.3;
        if (settle(model, q0, v0) &&
            run(model, "massless", "erk", 1e-10, 0.2, q0, v0, q, v, &summary, &error) == LW_OK) {
            assert_true(summary.energy_max_drift < 1e-7 * (1 + fabs(summary.energy_initial)));
            for (int k = 0; k < 3; k++) {
                assert_int_equal(
                    run(model, "massless", names[k], 1e-8, 0.2, q0, v0, qe, ve, &summary, &error), LW_OK);
                /* errors of some hundred steps at 1e-8 each, and what the motion makes of them */
                double difference = fmax(relative_difference(q, qe, lw_model_q_size(model)),
                                         relative_difference(v, ve, lw_model_v_size(model)));
                if (!(difference < 1e-5)) fail_msg("seed %d: %s differs by %g", seed, names[k], difference);
            }
            seen++;
        }
        lw_model_destroy(model);
    }
    assert_true(seen >= 25);
}

/* --- the state ----------------------------------------------------------------------------------------------- */

static bool step(lw_method *method, double t, double h, double *y) {
    double k[4][2 * MAX], z[2 * MAX];
    static const double at[4] = {0, 0.5, 0.5, 1};
    lw_power power;
    lw_error error;
    int n = method->state_size;
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < n; i++) z[i] = y[i] + (s ? at[s] * h * k[s - 1][i] : 0);
        if (massless->derivative(method, t + at[s] * h, z, k[s], &power, &error) != LW_OK) return false;
    }
    for (int i = 0; i < n; i++) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    return true;
}

static void motions_without_mass_in_w_change_nothing(void **state) {
    (void)state;
    int seen = 0;
    for (int seed = 1; seed <= 200; seed++) {
        if (seed % 4 == 3) continue;
        lw_random random = random_seed((uint64_t)seed);
        lw_model *model = random_massless_model((uint64_t)seed, 2 + random_below(&random, 5), HOLD_DAMPED, 0);
        lw_method *method;
        lw_error error;
        assert_int_equal(massless->create(model, &no_options, &method, &error), LW_OK);
        lw_null_shape *shape = lw_null_shape_create(model);
        lw_flow *flow = lw_flow_create(shape);
        lw_data *data;
        assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
        double q[MAX], v[MAX], y[2 * MAX], z[2 * MAX], weights[MAX], n[MAX],
            *mass = calloc(MAX * MAX, sizeof *mass);
        int nq = model->nq, nv = model->nv;
        random_state(&random, model, q, v);
        massless->to_state(method, 0.3, q, v, y);
        memcpy(z, y, sizeof y);
        lw_take_state(model, flow->data, 0.3, y, y + nq);
        lw_null_at(flow->null, flow->data);
        lw_tree_mass_matrix(model, data, 0.3, y, mass);
        for (int k = 0; k < shape->count; k++) { /* M N = 0 */
            double unit[MAX] = {0};
            unit[k] = 1, weights[k] = random_between(&random, -1, 1);
            memset(n, 0, sizeof n);
            lw_null_times(flow->null, unit, n);
            for (int i = 0; i < nv; i++) {
                double sum = 0;
                for (int j = 0; j < nv; j++) sum += mass[i * nv + j] * n[j];
                if (!(fabs(sum) < 1e-11)) fail_msg("seed %d: direction %d moves mass (%g)", seed, k, sum);
            }
        }
        lw_null_times(flow->null, weights, z + nq);
        bool good = shape->count > 0;
        double fastest = 0;
        for (int k = 0; k < 20 && good; k++)
            good = step(method, 0.3 + 1e-3 * k, 1e-3, y) && step(method, 0.3 + 1e-3 * k, 1e-3, z);
        for (int k = 0; k < nv && good; k++) fastest = fmax(fastest, fabs(y[nq + k]));
        if (good && fastest < 100) { /* else near a position where the rank drops */
            double qa[MAX], va[MAX], qb[MAX], vb[MAX];
            massless->from_state(method, 0.32, y, qa, va);
            massless->from_state(method, 0.32, z, qb, vb);
            /* w differs, so does the error of the steps: h^4 times high derivatives */
            if (!(relative_difference(qa, qb, nq) < 1e-6 && relative_difference(va, vb, nv) < 1e-5))
                fail_msg("seed %d: positions differ by %g, velocities by %g", seed,
                         relative_difference(qa, qb, nq), relative_difference(va, vb, nv));
            seen++;
        }
        free(mass);
        lw_data_destroy(data);
        lw_flow_destroy(flow);
        lw_null_shape_destroy(shape);
        massless->destroy(method);
        lw_model_destroy(model);
    }
    assert_true(seen >= 50);
}

/* --- loose mechanisms -------------------------------------------------------------------------------------------- */

static void nothing_makes_a_nan(void **state) {
    (void)state;
    int refused = 0, fine = 0;
    for (int seed = 1; seed <= 600; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_model *model = random_massless_model((uint64_t)seed, 1 + random_below(&random, 7),
                                                (massless_hold)(seed % HOLD_KINDS), 0);
        lw_method *method;
        lw_error error = {0};
        if (massless->create(model, &no_options, &method, &error) != LW_OK) {
            assert_int_equal(error.status, LW_ERROR_UNSUPPORTED);
            assert_non_null(strstr(error.message, "resists"));
            assert_true(error.object[0] && error.remedy[0]);
            refused++;
            lw_model_destroy(model);
            continue;
        }
        double q[MAX], v[MAX], y[2 * MAX], ydot[2 * MAX], vdot[MAX], reactions[6 * MAX];
        lw_power power;
        random_state(&random, model, q, v);
        massless->to_state(method, 0.3, q, v, y);
        if (massless->derivative(method, 0.3, y, ydot, &power, &error) == LW_OK) {
            for (int k = 0; k < method->state_size; k++) assert_true(isfinite(ydot[k]));
            fine++;
        } else
            assert_true(error.message[0]);
        if (massless->accelerations(method, 0.3, q, v, NULL, vdot, reactions, NULL, &error) == LW_OK)
            for (int k = 0; k < lw_model_v_size(model); k++) assert_true(isfinite(vdot[k]));
        massless->from_state(method, 0.3, y, q, v);
        for (int k = 0; k < lw_model_v_size(model); k++) assert_true(isfinite(v[k]));
        massless->destroy(method);
        lw_model_destroy(model);
    }
    print_message("%d refused with a sentence, %d evaluated\n", refused, fine);
    assert_true(refused > 50 && fine > 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fully_massive_trees_are_as_tree_has_them),
        cmocka_unit_test(motions_without_mass_in_w_change_nothing),
        cmocka_unit_test(nothing_makes_a_nan),
        cmocka_unit_test(all_integrators_agree),
        cmocka_unit_test(trees_are_the_limit_of_small_mass),
        cmocka_unit_test(loops_are_the_limit_of_small_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

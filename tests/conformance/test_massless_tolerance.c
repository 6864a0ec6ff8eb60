/* test_massless_tolerance.c - errors of runs with method massless follow the tolerance, for damped motions without mass beside such that
 * springs alone hold.
 *
 * Where a damper stands nearly across a motion, stiffness changes by decades within a few steps. A matrix of Newton's method that was made
 * before leaves next to no correction then, and the tests of IDA and CVODE take that for convergence: errors of 1e-2 at a
 * tolerance of 1e-7. Runs of ida and bdf with tolerances from 1e-4 to 1e-10 are compared with bdf at 1e-12, which ida at 1e-12 confirms: these
 * have different equations (a derivative and projection, a residual).
 */
#include "build.h"
#include "problems.h"
#include "random_massless.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX = 200 };

static lw_status run(const lw_model *model, const char *integrator, double tolerance, double end,
                     const double *q0, const double *v0, double *q, lw_error *error) {
    lw_run_options options;
    lw_run_summary summary;
    double v[MAX];
    lw_run_defaults(model, &options);
    options.method = "massless", options.integrator = integrator, options.tolerance = tolerance;
    options.step = 0, options.end = end, options.output = end, options.as_given = true;
    options.q = q0, options.v = v0;
    return lw_simulate(model, &options, q, v, &summary, error);
}

static double distance(const double *a, const double *b, int n) {
    double most = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(a[k] - b[k]) / (1 + fabs(b[k])));
    return most;
}

/* How far the errors exceed the tolerance, at most. */
static double worst_ratio(const char *name, const lw_model *model, double end, const double *q0,
                          const double *v0) {
    static const char *const integrators[] = {"ida", "bdf"};
    int nq = lw_model_q_size(model);
    double exact[MAX], other[MAX], q[MAX], worst = 0;
    lw_error error = {0};
    if (run(model, "bdf", 1e-12, end, q0, v0, exact, &error) != LW_OK ||
        run(model, "ida", 1e-12, end, q0, v0, other, &error) != LW_OK)
        fail_msg("%s: %s", name, error.message);
    double known = distance(other, exact, nq);
    /* differences leave 1e-10 of velocities, accumulated */
    if (!(known < 2e-9)) fail_msg("%s: bdf and ida differ by %g at 1e-12", name, known);
    for (int i = 0; i < 2; i++)
        for (int d = 4; d <= 10; d++) {
            if (run(model, integrators[i], pow(10, -d), end, q0, v0, q, &error) != LW_OK)
                fail_msg("%s, %s at 1e-%d: %s", name, integrators[i], d, error.message);
            double ratio = (distance(q, exact, nq) - 2 * known) / pow(10, -d);
            /* steps are controlled by the error that each makes: 48 at most are what these models make of it */
            if (!(ratio < 50)) fail_msg("%s, %s at 1e-%d: %g tolerances", name, integrators[i], d, ratio);
            worst = fmax(worst, ratio);
        }
    return worst;
}

static void errors_of_trees_follow_the_tolerance(void **state) {
    (void)state;
    int seen = 0;
    double most = 0;
    for (int seed = 30; seed <= 90; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        int bodies = 2 + random_below(&random, 5), kinds[4] = {0};
        lw_model *model = random_massless_model((uint64_t)seed, bodies, HOLD_SPRUNG, 0);
        lw_directions *directions;
        lw_error error;
        double q0[MAX], v0[MAX];
        assert_int_equal(lw_directions_create(model, &directions, &error), LW_OK);
        for (int k = 0; k < lw_directions_count(directions); k++)
            kinds[lw_directions_at(directions, k)->kind]++;
        lw_directions_destroy(directions);
        if (kinds[LW_DIRECTION_FIRST_ORDER] && kinds[LW_DIRECTION_ALGEBRAIC]) {
            char name[32];
            snprintf(name, sizeof name, "seed %d", seed);
            random_state(&random, model, q0, v0);
            for (int k = 0; k < lw_model_v_size(model); k++) v0[k] *= 0.3;
            double ratio = worst_ratio(name, model, 0.2, q0, v0);
            most = fmax(most, ratio);
            seen++;
        }
        lw_model_destroy(model);
    }
    print_message("%d trees, at most %g tolerances\n", seen, most);
    assert_true(seen >= 8);
}

/* Two bodies without mass and one with, in bushings and coil springs some rows of which have no damper; the motion goes over several time
 * constants of all that is damped. */
static lw_model *row_of_bushings(lw_random *random) {
    char text[2400], k[2][6][24], c[2][6][24], coil[2][2][24];
    for (int b = 0; b < 2; b++) {
        for (int i = 0; i < 6; i++) {
            bool turns = i >= 3, used = b || !turns;
            snprintf(k[b][i], sizeof *k[b], "%.3g",
                     used ? random_between(random, 300, 2000) * (turns ? 0.04 : 1) : 0);
            snprintf(c[b][i], sizeof *c[b], "%.3g",
                     used && random_below(random, 2) ? random_between(random, 5, 40) * (turns ? 0.04 : 1)
                                                     : 0);
        }
        snprintf(coil[b][0], sizeof *coil[b], "%.3g", random_between(random, 20, 60));
        snprintf(coil[b][1], sizeof *coil[b], "%.3g",
                 random_below(random, 2) ? random_between(random, 0.5, 3) : 0);
    }
    snprintf(
        text, sizeof text,
        "linkwork: 1\n"
        "name: row of bushings\n"
        "bodies:\n"
        "  a: {mass: 0, inertia: [0, 0, 0]}\n"
        "  b: {mass: 0, inertia: [0, 0, 0], position: [0.3, 0, 0]}\n"
        "  d: {mass: 2, com: [0.2, 0.05, 0], inertia: [0.03, 0.05, 0.04], position: [0.6, 0, 0]}\n"
        "joints:\n"
        "  ja: {type: universal, between: [ground, a], point: [0, 0, 0], axes: [[1, 0, 0], [0, 1, 0]]}\n"
        "  jb: {type: translation, between: [a, b], axes: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n"
        "  jd: {type: free, between: [b, d], point: [0.6, 0, 0]}\n"
        "forces:\n"
        "  f1: {type: torsion, joint: ja, coordinate: 0, stiffness: %s, damping: %s}\n"
        "  f2: {type: torsion, joint: ja, coordinate: 1, stiffness: %s, damping: %s}\n"
        "  ft: {type: bushing, between: [a, b], point: [0.3, 0, 0], stiffness: [%s, %s, %s, 0, 0, 0], "
        "damping: [%s, %s, %s, 0, 0, 0]}\n"
        "  fd: {type: bushing, between: [b, d], point: [0.6, 0, 0], stiffness: [%s, %s, %s, %s, %s, %s], "
        "damping: [%s, %s, %s, %s, %s, %s]}\n",
        coil[0][0], coil[0][1], coil[1][0], coil[1][1], k[0][0], k[0][1], k[0][2], c[0][0], c[0][1], c[0][2],
        k[1][0], k[1][1], k[1][2], k[1][3], k[1][4], k[1][5], c[1][0], c[1][1], c[1][2], c[1][3], c[1][4],
        c[1][5]);
    return compile_or_fail(read_text_spec(text));
}

static void errors_of_bushings_follow_the_tolerance(void **state) {
    (void)state;
    double most = 0;
    for (int seed = 1; seed <= 16; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_model *model = row_of_bushings(&random);
        double q0[MAX], v0[MAX];
        char name[32];
        snprintf(name, sizeof name, "row %d", seed);
        lw_model_initial_state(model, q0, v0);
        double ratio = worst_ratio(name, model, 0.5, q0, v0);
        most = fmax(most, ratio);
        lw_model_destroy(model);
    }
    print_message("at most %g tolerances\n", most);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_bushings_follow_the_tolerance),
        cmocka_unit_test(errors_of_trees_follow_the_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

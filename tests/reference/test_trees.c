/* test_trees.c - trees of problems/ against trusted trajectories (analytic, or in quadruple precision).
 *
 * Each problem runs with every adaptive integrator at several tolerances and with rk4. What must hold at a
 * tolerance is the error at the end of the reference, bounded by tolerance times a factor: how much the
 * problem amplifies errors over its duration (measured once, with room of ten), and how loosely a code's
 * local tolerance binds its global error.
 */
#include "problems.h"
#include "linalg/vec3.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

static reference_table reference; /* large */

static void read_reference_of(const char *problem) {
    char name[64];
    snprintf(name, sizeof name, "%s/reference.csv", problem);
    read_reference(name, &reference);
    /* this file's times are multiples of pi/8 printed to ten digits, which is too few for its states */
    for (int k = 0; k < reference.rows && strcmp(problem, "heavy_top_steady") == 0; k++)
        reference.at[k][0] = k * LW_PI / 8;
}

/* The error of a state against one row of the reference. */
typedef double (*error_of)(const lw_model *model, lw_data *data, const lw_sample *sample, const double *row);

typedef struct comparison {
    const lw_model *model;
    lw_data *data;
    error_of error;
    int row;
    double worst;
} comparison;

static bool compare(const lw_sample *sample, void *context) {
    comparison *c = context;
    while (c->row < reference.rows && reference.at[c->row][0] < sample->t - 1e-8) c->row++;
    if (c->row >= reference.rows || fabs(reference.at[c->row][0] - sample->t) > 1e-8) return true;
    double error = c->error(c->model, c->data, sample, reference.at[c->row]);
    if (!(error <= c->worst) && !isnan(c->worst)) c->worst = error;
    return true;
}

/* Largest error at the times of the reference. */
static double run_problem(const lw_model *model, error_of error, const char *integrator, double tolerance,
                          double step, lw_run_summary *summary) {
    comparison c = {.model = model, .error = error};
    assert_int_equal(lw_data_create(model, NULL, &c.data), LW_OK);
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.integrator = integrator;
    options.tolerance = tolerance;
    options.step = step;
    options.end = reference.at[reference.rows - 1][0];
    options.output = reference.at[1][0] - reference.at[0][0];
    options.observe = compare;
    options.context = &c;
    lw_error fault;
    lw_status status = lw_simulate(model, &options, NULL, NULL, summary, &fault);
    if (status != LW_OK) fail_msg("%s: %s", integrator, fault.message);
    lw_data_destroy(c.data);
    assert_true(c.row >= reference.rows - 1);
    return c.worst;
}

static double point_error(const lw_model *model, lw_data *data, const lw_sample *sample, const double *row) {
    double position[3], R[9], x[3];
    const double bob[3] = {0, -1, 0};
    lw_body_pose(model, data, sample->t, sample->q, 1, position, R);
    lw_m3_mul_v(R, bob, x);
    return fmax(fabs(position[0] + x[0] - row[1]), fabs(position[1] + x[1] - row[2]));
}

static double double_pendulum_error(const lw_model *model, lw_data *data, const lw_sample *s,
                                    const double *row) {
    (void)model, (void)data;
    return fmax(fmax(fabs(s->q[0] - row[1]), fabs(s->q[0] + s->q[1] - row[2])),
                fmax(fabs(s->v[0] - row[3]), fabs(s->v[0] + s->v[1] - row[4])));
}

/* Reference quaternion in row[4..7] and body-axes angular velocity in row[8..10]; q and -q are the same
 * rotation. */
static double rotation_error(const double *q, const double *w, const double *row, double speed) {
    double same = 0, opposite = 0, spin = 0;
    for (int k = 0; k < 4; k++) {
        same = fmax(same, fabs(q[k] - row[4 + k]));
        opposite = fmax(opposite, fabs(q[k] + row[4 + k]));
    }
    for (int k = 0; k < 3; k++) spin = fmax(spin, fabs(w[k] - row[8 + k]) / speed);
    return fmax(fmin(same, opposite), spin);
}
static double fast_top_error(const lw_model *model, lw_data *data, const lw_sample *s, const double *row) {
    (void)model, (void)data;
    return rotation_error(s->q, s->v, row, 150);
}
static double steady_top_error(const lw_model *model, lw_data *data, const lw_sample *s, const double *row) {
    (void)model, (void)data;
    return rotation_error(s->q, s->v, row, 10);
}
static double tumbling_error(const lw_model *model, lw_data *data, const lw_sample *s, const double *row) {
    (void)model, (void)data;
    return rotation_error(s->q + 3, s->v + 3, row, 1);
}

typedef struct problem {
    const char *name;
    error_of error;
    double amplification; /* error at the end per unit of tolerance */
    double loosest;       /* tolerance to start with */
    double step;          /* for rk4: the coarsest of three, errors well above rounding */
} problem;

static const problem problems[] = {
    {"pendulum", point_error, 1e4, 1e-6, 0.01},
    {"double_pendulum", double_pendulum_error, 1e5, 1e-6,
     0.005},                                               /* chaotic: errors grow a thousandfold in 10 s */
    {"heavy_top_fast", fast_top_error, 1e5, 1e-6, 0.0002}, /* 50 revolutions */
    {"heavy_top_steady", steady_top_error, 1e4, 1e-6, 0.02},
    /* turns over three times, each time passing close to the unstable axis, where errors grow
     * by a thousand */
    {"tumbling_body", tumbling_error, 1e7, 1e-8, 0.2}, /* rounding alone comes to some 1e-9 */
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static void problems_come_out_to_the_tolerance(void **state) {
    (void)state;
    static const char *const integrators[] = {"erk", "adams", "bdf", "ida"};
    for (int p = 0; p < PROBLEMS; p++) {
        read_reference_of(problems[p].name);
        lw_model *model = read_problem(problems[p].name);
        for (int i = 0; i < 4; i++) {
            bool implicit = i >= 2; /* of order 5 at most: left at a tolerance they reach in seconds */
            for (double tolerance = problems[p].loosest; tolerance > (implicit ? 1e-9 : 1e-12);
                 tolerance *= 1e-2) {
                lw_run_summary summary;
                double error = run_problem(model, problems[p].error, integrators[i], tolerance, 0, &summary);
                print_message("%-18s %-6s tol %.0e  error %.2e  energy %.1e  steps %ld  evaluations %ld\n",
                              problems[p].name, integrators[i], tolerance, error, summary.energy_max_drift,
                              summary.steps, summary.evaluations);
                if (!(error <= tolerance * problems[p].amplification))
                    fail_msg("%s with %s at %g: error %g", problems[p].name, integrators[i], tolerance,
                             error);
            }
        }
        lw_model_destroy(model);
    }
}

/* Observed order of rk4 from two halvings, on quaternions too: 4 within what the finest error allows. */
static void rk4_converges_with_order_four(void **state) {
    (void)state;
    for (int p = 0; p < PROBLEMS; p++) {
        read_reference_of(problems[p].name);
        lw_model *model = read_problem(problems[p].name);
        double errors[3];
        lw_run_summary summary;
        for (int k = 0; k < 3; k++) {
            double step = problems[p].step / (1 << k);
            errors[k] = run_problem(model, problems[p].error, "rk4", 0, step, &summary);
        }
        double order = log2(errors[1] / errors[2]);
        print_message("%-18s rk4 errors %.2e %.2e %.2e  order %.2f\n", problems[p].name, errors[0], errors[1],
                      errors[2], order);
        assert_true(order > 3.8 && order < 4.3);
        lw_model_destroy(model);
    }
}

/* A01 to t = 2000 s, 845 periods: position against the analytic value (REFERENCES:
 * period 2.3678419475762374). */
static void pendulum_keeps_time_over_2000_s(void **state) {
    (void)state;
    lw_model *model = read_problem("pendulum");
    static const struct {
        const char *integrator;
        double tolerance, error;
    } runs[] = {{"erk", 1e-12, 1e-7}, {"adams", 1e-12, 1e-6}};
    for (int k = 0; k < 2; k++) {
        lw_run_options options;
        lw_run_summary summary;
        lw_error fault;
        double q, v;
        lw_run_defaults(model, &options);
        options.integrator = runs[k].integrator;
        options.tolerance = runs[k].tolerance;
        options.end = 2000;
        lw_status status = lw_simulate(model, &options, &q, &v, &summary, &fault);
        if (status != LW_OK) fail_msg("%s", fault.message);
        double error = fmax(fabs(sin(q) - 0.8146030685890322), fabs(-cos(q) - -0.5800188278369355));
        print_message("pendulum 2000 s %-6s tol %.0e  error %.2e  energy %.1e  steps %ld\n",
                      runs[k].integrator, runs[k].tolerance, error, summary.energy_max_drift, summary.steps);
        assert_true(error < runs[k].error);
    }
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_come_out_to_the_tolerance),
        cmocka_unit_test(rk4_converges_with_order_four),
        cmocka_unit_test(pendulum_keeps_time_over_2000_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

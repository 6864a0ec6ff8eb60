/* test_loops.c - closed loops of problems/ against trusted trajectories (analytic, or in extended precision), and the
 * momentum of a free-flying tree.
 *
 * What must hold is the error up to the end of the run, bounded by the tolerance times a factor: how much the problem
 * amplifies errors over its duration (measured once, with room of ten).
 */
#include "problems.h"
#include "linalg/vec3.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static reference_table reference; /* large */

/* --- a run against the rows of the reference -------------------------------------------------------- */

typedef struct follower {
    const lw_model *model;
    lw_data *data;
    double (*error)(const struct follower *f, const lw_sample *sample, const double *row);
    int body, coordinate;
    int row;
    double worst;
} follower;

static bool follow(const lw_sample *sample, void *context) {
    follower *f = context;
    assert_true(f->row < reference.rows);
    const double *row = reference.at[f->row++];
    assert_true(fabs(sample->t - row[0]) < 1e-9);
    double error = f->error(f, sample, row);
    if (!(error <= f->worst) && !isnan(f->worst)) f->worst = error;
    return true;
}

/* Largest error up to the end, by one method. */
static double run(follower *f, const char *method, double end, double tolerance, lw_run_summary *summary) {
    lw_run_options options;
    lw_error error = {0};
    lw_run_defaults(f->model, &options);
    options.method = method;
    options.integrator = "erk";
    options.step = 0;
    options.tolerance = tolerance;
    options.end = end;
    options.output = reference.at[1][0] - reference.at[0][0];
    options.observe = follow;
    options.context = f;
    f->row = 0;
    f->worst = 0;
    assert_int_equal(lw_data_create(f->model, NULL, &f->data), LW_OK);
    lw_status status = lw_simulate(f->model, &options, NULL, NULL, summary, &error);
    lw_data_destroy(f->data);
    if (status != LW_OK) fail_msg("%s: %s", method, error.message);
    print_message("%-18s %-20s tol %.0e  error %.2e  energy %.1e  drift %.1e  steps %ld\n",
                  lw_model_name(f->model), method, tolerance, f->worst, summary->energy_max_drift,
                  summary->position_max, summary->steps);
    return f->worst;
}

/* Error of a point of the body in three columns, or in x and z where the reference is planar and knows x and y. */
static double point_error(const follower *f, const lw_sample *sample, const double point[3],
                          const double *expected, bool planar) {
    double position[3], R[9], x[3];
    lw_body_pose(f->model, f->data, sample->t, sample->q, f->body, position, R);
    lw_m3_mul_v(R, point, x);
    lw_v3_add(position, x, x);
    if (planar) return fmax(fabs(x[0] - expected[0]), fabs(x[2] - expected[1]));
    return fmax(fabs(x[0] - expected[0]), fmax(fabs(x[1] - expected[1]), fabs(x[2] - expected[2])));
}

static bool exact(const char *method, const lw_model *model) {
    return strcmp(method, "penalty") != 0 && lw_method_applies(method, model, NULL) == LW_OK;
}

/* --- problems ------------------------------------------------------------------------------------- */

static double crank_error(const follower *f, const lw_sample *sample, const double *row) {
    return fmax(fabs(sample->q[f->coordinate] - row[1]), fabs(sample->v[f->coordinate] - row[2]));
}

/* By every exact method; the crank turns 13 times. */
static void four_bar(void **state) {
    (void)state;
    read_reference("four_bar/reference.csv", &reference);
    lw_model *model = read_problem("four_bar");
    lw_joint_info crank = lw_model_joint_info(model, lw_model_joint(model, "A"));
    follower f = {.model = model, .error = crank_error, .coordinate = crank.q};
    assert_int_equal(crank.q, crank.v);
    for (int k = 0; k < lw_method_count(); k++) {
        const char *method = lw_method_at(k).name;
        lw_run_summary summary;
        if (!exact(method, model)) continue;
        for (double tolerance = 1e-6; tolerance > 1e-11; tolerance *= 1e-2)
            assert_true(run(&f, method, 10, tolerance, &summary) < 1e5 * tolerance);
        assert_true(summary.position_max < 1e-10 &&
                    summary.velocity_max < 1e-10); /* projected, to rounding */
    }
    lw_model_destroy(model);
}

static double joint_error(const follower *f, const lw_sample *sample, const double *row) {
    return point_error(f, sample, (double[3]){0, -0.5, 0}, row + 1, false);
}

/* Two periods, by the method that auto takes and by lagrange. */
static void bricard(void **state) {
    (void)state;
    read_reference("bricard/reference.csv", &reference);
    lw_model *model = read_problem("bricard");
    follower f = {.model = model, .error = joint_error, .body = lw_model_body(model, "bc")};
    const char *methods[] = {"lagrange", lw_method_auto(model, NULL, 0, NULL)};
    for (int k = 0; k < 2; k++) {
        lw_run_summary summary;
        for (double tolerance = 1e-6; tolerance > 1e-11; tolerance *= 1e-2)
            assert_true(run(&f, methods[k], 10, tolerance, &summary) < 1e5 * tolerance);
    }
    lw_model_destroy(model);
}

static double top_error(const follower *f, const lw_sample *sample, const double *row) {
    return point_error(f, sample, (double[3]){0, 0, 1}, row + 1, true);
}

/* Up to where the rods come in line. */
static void windows(void **state) {
    (void)state;
    static const struct {
        const char *n, *file;
    } sizes[] = {{"2", "n_four_bar/reference_2.csv"}, {"40", "n_four_bar/reference_40.csv"}};
    for (int k = 0; k < 2; k++) {
        read_reference(sizes[k].file, &reference);
        lw_model *model = read_problem_with("n_four_bar", "N", sizes[k].n);
        follower f = {.model = model, .error = top_error, .body = lw_model_body(model, "post0")};
        lw_run_summary summary;
        for (double tolerance = 1e-6; tolerance > 1e-11; tolerance *= 1e-2)
            assert_true(run(&f, "lagrange", 0.6, tolerance, &summary) < 1e2 * tolerance);
        lw_model_destroy(model);
    }
}

/* Momentum and angular momentum of the satellite, at each sample against the first; relative to their sizes. */
typedef struct keeper {
    const lw_model *model;
    lw_data *data;
    double first[6], worst;
} keeper;

static bool keep(const lw_sample *sample, void *context) {
    keeper *k = context;
    double now[6];
    lw_momentum(k->model, k->data, sample->t, sample->q, sample->v, now, now + 3);
    if (sample->progress == 0) memcpy(k->first, now, sizeof now);
    for (int i = 0; i < 6; i++) {
        double size = lw_v3_norm(k->first + (i < 3 ? 0 : 3));
        k->worst = fmax(k->worst, fabs(now[i] - k->first[i]) / size);
    }
    return true;
}

static void satellite(void **state) {
    (void)state;
    lw_model *model = read_problem("free_tree");
    for (int m = 0; m < lw_method_count(); m++) {
        const char *method = lw_method_at(m).name;
        if (!exact(method, model)) continue;
        keeper k = {.model = model};
        lw_run_options options;
        lw_run_summary summary;
        lw_error error = {0};
        assert_int_equal(lw_data_create(model, NULL, &k.data), LW_OK);
        lw_run_defaults(model, &options);
        options.method = method;
        options.end = 2;
        options.observe = keep;
        options.context = &k;
        lw_status status = lw_simulate(model, &options, NULL, NULL, &summary, &error);
        if (status != LW_OK) fail_msg("%s: %s", method, error.message);
        print_message("satellite %-20s momentum kept to %.1e, energy to %.1e J\n", method, k.worst,
                      summary.energy_max_drift);
        assert_true(k.worst < 1e-6); /* the tolerance, 1e-8 per step, times 200 steps, with room */
        lw_data_destroy(k.data);
    }
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_bar),
        cmocka_unit_test(bricard),
        cmocka_unit_test(windows),
        cmocka_unit_test(satellite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_linkages.c - single and coupled loops of problems/ against trusted trajectories: planar, spatial, overconstrained,
 * redundant, and through positions where the rank of their rows drops.
 *
 * The references come from equations in as many coordinates as there are freedoms, in extended or quadruple precision (the
 * headers of the models say which). Each problem runs to the end of its reference file by rcr, in joint coordinates, and by
 * lagrange, in absolute ones.
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

typedef struct follower follower;
typedef double (*error_of)(const follower *f, const lw_sample *sample, const double *row);

struct follower {
    const lw_model *model;
    lw_data *data;
    error_of error;
    int row;
    double worst;
};

static bool follow(const lw_sample *sample, void *context) {
    follower *f = context;
    assert_true(f->row < reference.rows);
    const double *row = reference.at[f->row++];
    assert_true(fabs(sample->t - row[0]) < 1e-9);
    for (int k = 0; k < lw_model_q_size(f->model); k++) assert_true(isfinite(sample->q[k]));
    for (int k = 0; k < lw_model_v_size(f->model); k++) assert_true(isfinite(sample->v[k]));
    double error = f->error(f, sample, row);
    f->worst = fmax(f->worst, error);
    return true;
}

/* Runs to the end of the reference; returns the largest error. */
static double run(const lw_model *model, error_of error, const char *method, double tolerance,
                  lw_run_summary *summary) {
    follower f = {.model = model, .error = error};
    lw_run_options options;
    lw_error fault = {0};
    lw_run_defaults(model, &options);
    options.method = method;
    options.tolerance = tolerance;
    options.end = reference.at[reference.rows - 1][0];
    options.output = options.end / (reference.rows - 1);
    options.observe = follow;
    options.context = &f;
    assert_int_equal(lw_data_create(model, NULL, &f.data), LW_OK);
    lw_status status = lw_simulate(model, &options, NULL, NULL, summary, &fault);
    lw_data_destroy(f.data);
    if (status != LW_OK) fail_msg("%s by %s: %s", lw_model_name(model), method, fault.message);
    assert_int_equal(f.row, reference.rows);
    print_message("%-20s %-8s tol %.0e  error %.1e  energy %.1e  drift %.0e %.0e  steps %ld  %.2f s\n",
                  lw_model_name(model), method, tolerance, f.worst, summary->energy_max_drift,
                  summary->position_max, summary->velocity_max, summary->steps, summary->wall_s);
    return f.worst;
}

/* Error of a coordinate of a joint, and of its speed. */
static double q_error(const follower *f, const lw_sample *sample, const char *joint, int k, double expected) {
    lw_joint_info info = lw_model_joint_info(f->model, lw_model_joint(f->model, joint));
    assert_true(k < info.q_count);
    return fabs(sample->q[info.q + k] - expected);
}
static double v_error(const follower *f, const lw_sample *sample, const char *joint, int k, double expected) {
    lw_joint_info info = lw_model_joint_info(f->model, lw_model_joint(f->model, joint));
    assert_true(k < info.v_count);
    return fabs(sample->v[info.v + k] - expected);
}

/* A point of a body in the world, and its velocity. */
static void place(const follower *f, const lw_sample *sample, const char *body, const double point[3],
                  double x[3], double rate[3]) {
    double position[3], R[9], w[3];
    int b = lw_model_body(f->model, body);
    assert_true(b > 0);
    lw_body_pose(f->model, f->data, sample->t, sample->q, b, position, R);
    lw_m3_mul_v(R, point, x);
    lw_v3_add(position, x, x);
    lw_body_velocity(f->model, f->data, sample->t, sample->q, sample->v, b, point, w, rate);
}

static const char *const methods[] = {"rcr", "lagrange"};

/* --- Andrews' squeezer ------------------------------------------------------------------------------ */

static const char *const angles[] = {"beta", "Theta", "gamma", "phi", "delta", "Omega", "epsilon"};

static double angles_error(const follower *f, const lw_sample *sample, const double *row) {
    double worst = 0;
    for (int k = 0; k < 7; k++) worst = fmax(worst, q_error(f, sample, angles[k], 0, row[1 + k]));
    return worst;
}

/* The values at 0.03 s, once more as REFERENCES has them, and the whole file. */
static void andrews_squeezer(void **state) {
    (void)state;
    static const double at_30_ms[7] = {15.810771195153707,  -15.756371058411839, .040822240119645805,
                                       -.53473011634207959, .52440996587995407,  .53473011634207959,
                                       1.0480807410419379};
    read_reference("andrews_squeezer/reference.csv", &reference);
    for (int k = 0; k < 7; k++) assert_true(fabs(reference.at[300][1 + k] - at_30_ms[k]) < 1e-15 * 16);
    lw_model *model = read_problem("andrews_squeezer");
    for (int m = 0; m < 2; m++) {
        lw_run_summary summary;
        assert_true(run(model, angles_error, methods[m], 1e-11, &summary) < 1e-8);
        assert_true(summary.energy_max_drift < 1e-10); /* of 3 J */
    }
    lw_model_destroy(model);
}

/* --- one loop ----------------------------------------------------------------------------------------- */

static double sarrus_error(const follower *f, const lw_sample *sample, const double *row) {
    double x[3], rate[3];
    place(f, sample, "platform", (double[3]){0, 0, 0}, x, rate);
    double aside = fmax(fabs(x[0]), fabs(x[1])); /* it moves in a straight line */
    return fmax(aside, fmax(fabs(x[2] - row[1]), fabs(rate[2] - row[2])));
}

static double spatial_slider_crank_error(const follower *f, const lw_sample *sample, const double *row) {
    double slider = fmax(q_error(f, sample, "D", 0, row[1] - 0.2), v_error(f, sample, "D", 0, row[2]));
    return fmax(slider, fmax(q_error(f, sample, "A", 0, row[3]), v_error(f, sample, "A", 0, row[4])));
}

/* The slider's coordinate counts from where it is with both bars stretched. */
static double slider_crank_error(const follower *f, const lw_sample *sample, const double *row) {
    double slider =
        fmax(q_error(f, sample, "D", 0, row[3] - reference.at[0][3]), v_error(f, sample, "D", 0, row[4]));
    return fmax(slider, fmax(q_error(f, sample, "A", 0, row[1]), v_error(f, sample, "A", 0, row[2])));
}

/* With Bennett's relation between two neighbouring angles, and opposite ones. */
static double bennett_error(const follower *f, const lw_sample *sample, const double *row) {
    double alpha = 40 * LW_PI / 180, beta = 70 * LW_PI / 180;
    double q1 = sample->q[lw_model_joint_info(f->model, lw_model_joint(f->model, "h1")).q];
    double q2 = sample->q[lw_model_joint_info(f->model, lw_model_joint(f->model, "h2")).q];
    double relation = sin((beta - alpha) / 2) * sin(q1 / 2) * sin(q2 / 2) -
                      sin((beta + alpha) / 2) * cos(q1 / 2) * cos(q2 / 2);
    double geometry = fmax(fabs(relation), q_error(f, sample, "h3", 0, -q1));
    return fmax(geometry, fmax(q_error(f, sample, "h1", 0, row[1]), v_error(f, sample, "h1", 0, row[2])));
}

/* --- several loops ------------------------------------------------------------------------------------ */

static double five_bar_error(const follower *f, const lw_sample *sample, const double *row) {
    double x[3], rate[3];
    /* bars are drawn in the world, so the tool has its first place in the frame of each */
    const double tool[3] = {0.3, 0, 0.4};
    place(f, sample, "c2", tool, x, rate);
    return fmax(fmax(fabs(x[0] - row[1]), fabs(x[2] - row[2])),
                fmax(fabs(rate[0] - row[3]), fabs(rate[2] - row[4])));
}

/* The place of the platform, its velocity, and the ends of its x and y axes. */
static double stewart_error(const follower *f, const lw_sample *sample, const double *row) {
    double x[3], rate[3], end[3], unused[3], worst = 0;
    double ca = cos(row[4]), sa = sin(row[4]), cb = cos(row[5]), sb = sin(row[5]), cc = cos(row[6]),
           sc = sin(row[6]);
    const double axes[2][3] = {{cb * cc, ca * sc + sa * sb * cc, sa * sc - ca * sb * cc},
                               {-cb * sc, ca * cc - sa * sb * sc, sa * cc + ca * sb * sc}};
    place(f, sample, "platform", (double[3]){0, 0, 0}, x, rate);
    for (int k = 0; k < 3; k++)
        worst = fmax(worst, fmax(fabs(x[k] - row[1 + k]), fabs(rate[k] - row[7 + k])));
    for (int axis = 0; axis < 2; axis++) {
        place(f, sample, "platform", (double[3]){axis == 0, axis == 1, 0}, end, unused);
        for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(end[k] - x[k] - axes[axis][k]));
    }
    return worst;
}

typedef struct problem {
    const char *name, *file;
    error_of error;
    double tolerance;
} problem;

static const problem problems[] = {
    {"sarrus", "sarrus/reference.csv", sarrus_error, 1e-10},
    {"spatial_slider_crank", "spatial_slider_crank/reference.csv", spatial_slider_crank_error, 1e-11},
    {"slider_crank", "slider_crank/reference.csv", slider_crank_error, 1e-11},
    {"bennett", "bennett/reference.csv", bennett_error, 1e-11},
    {"five_bar_redundant", "five_bar_redundant/reference.csv", five_bar_error, 1e-11},
    {"stewart_platform", "stewart_platform/reference.csv", stewart_error, 1e-11},
};

static void linkages(void **state) {
    (void)state;
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
        lw_model *model = read_problem(problems[p].name);
        read_reference(problems[p].file, &reference);
        for (int m = 0; m < 2; m++) {
            lw_run_summary summary;
            double tolerance = problems[p].tolerance;
            assert_true(run(model, problems[p].error, methods[m], tolerance, &summary) < 1e-7);
            assert_true(summary.energy_max_drift < 1e5 * tolerance);                   /* J, of 1 to 1000 J */
            assert_true(summary.position_max < 1e-12 && summary.velocity_max < 1e-10); /* projected */
        }
        lw_model_destroy(model);
    }
}

/* --- ladders: like the pendulum, whatever the number of cells ------------------------------------------- */

static double pendulum_error(const follower *f, const lw_sample *sample, const double *row) {
    char name[20];
    double worst = 0;
    int rungs = lw_model_loop_count(f->model) + 1; /* of the pendulum: itself */
    for (int i = 0; i < rungs; i++) {
        snprintf(name, sizeof name, "hooke%d", i);
        for (int k = 0; k < 2; k++) {
            const char *joint = rungs > 1 ? name : "hooke";
            worst = fmax(worst, q_error(f, sample, joint, k, row[1 + k]));
            worst = fmax(worst, v_error(f, sample, joint, k, row[3 + k]));
        }
    }
    return worst;
}

static void ladders(void **state) {
    (void)state;
    static const char *const cells[] = {"1", "2", "4", "16"};
    lw_run_summary summary;
    read_reference("ladder_pendulum/reference.csv", &reference);
    lw_model *model = read_problem("ladder_pendulum");
    assert_true(run(model, pendulum_error, "tree", 1e-11, &summary) < 1e-9);
    lw_model_destroy(model);
    for (int k = 0; k < 4; k++) {
        model = read_problem_with("ladder", "N", cells[k]);
        assert_true(run(model, pendulum_error, "rcr", 1e-11, &summary) < 1e-9);
        assert_true(summary.energy_max_drift < 1e-8); /* of 90 J */
        if (k < 3) assert_true(run(model, pendulum_error, "lagrange", 1e-12, &summary) < 1e-8);
        lw_model_destroy(model);
    }
}

/* --- singular positions --------------------------------------------------------------------------------- */

static double parallelogram_error(const follower *f, const lw_sample *sample, const double *row) {
    double both = fmax(q_error(f, sample, "A", 0, row[1]), q_error(f, sample, "D", 0, row[1]));
    return fmax(both, v_error(f, sample, "A", 0, row[2]));
}

/* Twice a turn the rank of the rows drops and another motion branches off. rcr goes straight on, its errors and the energy
 * bounded by the tolerance as elsewhere (measured: 1000 and 5 times that, relative). */
static void through_singular_positions(void **state) {
    (void)state;
    static const struct {
        const char *problem, *file, *name, *value;
        error_of error;
    } cases[] = {
        {"parallelogram", "parallelogram/reference.csv", NULL, NULL, parallelogram_error},
        {"slider_crank", "slider_crank/reference_equal.csv", "b", "1 m", slider_crank_error},
    };
    for (int c = 0; c < 2; c++) {
        read_reference(cases[c].file, &reference);
        lw_model *model = read_problem_with(cases[c].problem, cases[c].name, cases[c].value);
        for (double tolerance = 1e-6; tolerance > 1e-11; tolerance *= 1e-2) {
            lw_run_summary summary;
            assert_true(run(model, cases[c].error, "rcr", tolerance, &summary) < 1e4 * tolerance);
            assert_true(fabs(summary.ledger.unaccounted) < 100 * tolerance * 800); /* 800 J */
            assert_true(summary.position_max < 1e-12);
        }
        lw_model_destroy(model);
    }
}

/* 118 turns, 236 crossings, and a start in line: both cranks stay together, as in a parallelogram. */
static void branch_is_kept(void **state) {
    (void)state;
    static const char *const starts[] = {"0 deg", "90 deg"};
    for (int k = 0; k < 2; k++) {
        lw_model *model = read_problem_with("parallelogram", "start", starts[k]);
        lw_run_options options;
        lw_run_summary summary;
        lw_error fault = {0};
        double q[3], v[3];
        lw_run_defaults(model, &options);
        options.method = "rcr";
        options.tolerance = 1e-8;
        options.end = 100;
        lw_status status = lw_simulate(model, &options, q, v, &summary, &fault);
        if (status != LW_OK) fail_msg("%s", fault.message);
        double left = q[lw_model_joint_info(model, lw_model_joint(model, "A")).q];
        double right = q[lw_model_joint_info(model, lw_model_joint(model, "D")).q];
        print_message("parallelogram from %-6s  %.0f turns, cranks apart by %.0e rad, energy %.1e J\n",
                      starts[k], left / (2 * LW_PI), fabs(left - right), summary.ledger.unaccounted);
        assert_true(left > 80 * 2 * LW_PI);
        assert_true(fabs(left - right) < 1e-6);
        assert_true(fabs(summary.ledger.unaccounted) < 1e-2); /* 1000 steps of 1e-8, of 800 J */
        lw_model_destroy(model);
    }
}

static double top_error(const follower *f, const lw_sample *sample, const double *row) {
    double x[3], rate[3];
    place(f, sample, "post0", (double[3]){0, 0, 1}, x, rate);
    return fmax(fabs(x[0] - row[1]), fabs(x[2] - row[2]));
}

/* 40 loops that become singular all at once, 20 times: the problem as it is stored, by auto. */
static void windows_to_the_end(void **state) {
    (void)state;
    lw_run_summary summary;
    lw_run_options stored;
    read_reference("n_four_bar/reference_40.csv", &reference);
    lw_model *model = read_problem("n_four_bar");
    lw_run_defaults(model, &stored);
    assert_true(stored.end == reference.at[reference.rows - 1][0]);
    static const double tolerances[] = {1e-8, 1e-10, 1e-12}, errors[] = {1e-4, 1e-7, 3e-9};
    long before = 0;
    for (int k = 0; k < 3; k++) {
        double error = run(model, top_error, NULL, tolerances[k], &summary);
        print_message("windows %g: error %.1e, %ld evaluations, energy %.1e J\n", tolerances[k], error,
                      summary.evaluations, summary.energy_max_drift);
        assert_string_equal(summary.method, "rcr");
        assert_true(error < errors[k]);
        assert_true(summary.energy_max_drift < 1e4 * tolerances[k] * summary.ledger.kinetic);
        if (k == 0) before = summary.evaluations;
    }
    /* erk (8(7)) estimates an error of order h^8: 1e4^(1/8) = 3.16 times the evaluations for 1e-4 of it, and
     * steps that are rejected near singular positions, where accelerations are right to 1e-11; 1e4^(1/6) =
     * 4.64 is too many. */
    assert_true((double)summary.evaluations < 4.64 * (double)before);
    lw_model_destroy(model);
    read_reference("n_four_bar/reference_2.csv", &reference);
    model = read_problem_with("n_four_bar", "N", "2");
    assert_true(run(model, top_error, "rcr", 1e-12, &summary) < 1e-9);
    lw_model_destroy(model);
}

/* --- mobility ------------------------------------------------------------------------------------------- */

static void mobility_is_as_known(void **state) {
    (void)state;
    static const struct {
        const char *problem, *name, *value;
        int freedom, speeds, rows, rank;
    } known[] = {
        {"andrews_squeezer", NULL, NULL, 1, 7, 15, 6},
        {"sarrus", NULL, NULL, 1, 5, 5, 4},
        {"spatial_slider_crank", NULL, NULL, 1, 4, 3, 3},
        {"slider_crank", NULL, NULL, 1, 3, 5, 2},
        {"parallelogram", NULL, NULL, 1, 3, 5, 2},
        {"parallelogram", "start", "90 deg", 2, 3, 5, 1}, /* in line */
        {"bennett", NULL, NULL, 1, 3, 5, 2},
        {"bennett", "start", "0 deg", 1, 3, 5, 2}, /* in line */
        {"bennett", "b", "1.1 m", 0, 3, 5, 3},     /* the relation is broken: it is stiff */
        {"five_bar_redundant", NULL, NULL, 2, 6, 10, 4},
        {"stewart_platform", NULL, NULL, 6, 21, 15, 15},
        {"ladder", "N", "1", 2, 5, 5, 3},
        {"ladder", "N", "16", 2, 50, 80, 48},
        {"ladder_pendulum", NULL, NULL, 2, 2, 0, 0},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        lw_model *model = read_problem_with(known[k].problem, known[k].name, known[k].value);
        double *q = calloc((size_t)lw_model_q_size(model), sizeof *q),
               *v = calloc((size_t)lw_model_v_size(model), sizeof *v);
        lw_mobility *mobility;
        lw_error error = {0};
        lw_model_initial_state(model, q, v);
        if (lw_mobility_create(model, 0, q, &mobility, &error) != LW_OK)
            fail_msg("%s: %s", known[k].problem, error.message);
        print_message("%-20s freedom %d  speeds %d  rows %d  rank %d\n", known[k].problem,
                      lw_mobility_freedom(mobility), lw_mobility_speeds(mobility), lw_mobility_rows(mobility),
                      lw_mobility_rank(mobility));
        assert_int_equal(lw_mobility_freedom(mobility), known[k].freedom);
        assert_int_equal(lw_mobility_speeds(mobility), known[k].speeds);
        assert_int_equal(lw_mobility_rows(mobility), known[k].rows);
        assert_int_equal(lw_mobility_rank(mobility), known[k].rank);
        for (int r = 0; r < known[k].rows - known[k].rank;
             r++) { /* each by the name of its joint: there are no constraints */
            lw_joint_info joint = lw_model_joint_info(model, lw_mobility_redundant_joint(mobility, r));
            assert_true(joint.cut && strstr(lw_mobility_redundant(mobility, r), joint.name));
        }
        lw_mobility_destroy(mobility);
        lw_model_destroy(model);
        free(q), free(v);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(andrews_squeezer),
        cmocka_unit_test(linkages),
        cmocka_unit_test(ladders),
        cmocka_unit_test(through_singular_positions),
        cmocka_unit_test(branch_is_kept),
        cmocka_unit_test(windows_to_the_end),
        cmocka_unit_test(mobility_is_as_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

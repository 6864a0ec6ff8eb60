/* reproduce_anderson2003.c - K. S. Anderson and J. H. Critchley (2003), section 4: the figures of the
 * results.
 *
 * The paper prints no data of its mechanisms and no numbers beside the figures; mechanisms of problems/ are
 * used instead, and statements of the paper are checked: drift 'at a constant rate' and '~ quadratic in
 * time', cost 'linear' and O(n^3). AUTOLEV, with which the paper verifies its results, is replaced by another
 * method of Linkwork (fig. 8) and by a separate model (fig. 10).
 */
#include "reproduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the four-bar linkage, figs 5 and 6 ----------------------------------------------------------- */

static const double step = 0.01; /* s, step of the paper's Runge-Kutta integrator with 'no error check' */

/* Computes a state of the motion, 'accurate to nine decimal places'. */
static lw_status rounded_start(const lw_model *model, double *q, double *v, lw_error *error) {
    const lw_run_options options = {.method = "rcr", .end = 0.25, .tolerance = 1e-12};
    lw_status status = lw_simulate(model, &options, q, v, NULL, error);
    for (int k = 0; k < lw_model_q_size(model); k++) q[k] = round(1e9 * q[k]) / 1e9;
    for (int k = 0; k < lw_model_v_size(model); k++) v[k] = round(1e9 * v[k]) / 1e9;
    return status;
}

/* Makes the run of the paper by one method, without drift control. */
static lw_status four_bar_run(reproduction *r, const lw_model *model, const char *method, double end,
                              const reproduce_trace *trace, lw_error *error) {
    double q[8], v[8]; /* Three are used. */
    lw_status status = rounded_start(model, q, v, error);
    lw_run_options options = {.method = method,
                              .integrator = "rk4",
                              .drift = "none",
                              .end = end,
                              .step = step,
                              .output = step,
                              .q = q,
                              .v = v,
                              .as_given = true};
    return status == LW_OK ? reproduce_run(r, model, &options, trace, error) : status;
}

static lw_status fig5(reproduction *r, lw_error *error) {
    static const char *const joints[] = {"A", "B", "D"};
    static const char *const headers[] = {"t [s]",        "A, rcr [rad]", "B, rcr [rad]", "D, rcr [rad]",
                                          "A, cut [rad]", "B, cut [rad]", "D, cut [rad]"};
    const double end = 2;
    lw_model *model;
    reproduce_table table = {.values = NULL};
    int q[3] = {0};
    lw_status status = reproduce_model("four_bar", NULL, 0, &model, error);
    for (int k = 0; k < 3 && status == LW_OK; k++)
        status = reproduce_coordinate(model, joints[k], &q[k], error);
    if (status == LW_OK)
        status = reproduce_table_create(&table, headers, 7, (int)lround(end / step) + 1, error);
    if (status == LW_OK)
        status = four_bar_run(r, model, "rcr", end, &(reproduce_trace){&table, 1, 3, q, false}, error);
    if (status == LW_OK)
        status = four_bar_run(r, model, "cut", end, &(reproduce_trace){&table, 4, 3, q, false}, error);
    /* A line of the figure is about 0.01 rad wide. */
    for (int k = 0; k < 3 && status == LW_OK; k++)
        status = reproduce_expect(r, NAN, reproduce_difference(&table, 1 + k, 4 + k), 0, 1e-3, error,
                                  "largest difference of angle %s between rcr and cut, rad", joints[k]);
    static const char *const panels[] = {"A, rcr + A, cut", "B, rcr + B, cut", "D, rcr + D, cut"};
    if (status == LW_OK)
        status = reproduce_figure(r, &table, &(lw_plot_options){.columns = panels, .count = 3}, error);
    reproduce_table_clear(&table);
    lw_model_destroy(model);
    return status;
}

/* Column `to` becomes the running maximum of column `from`. */
static void running_maximum(const reproduce_table *table, int from, int to) {
    double most = 0;
    for (int row = 0; row < table->rows; row++) {
        most = fmax(most, *reproduce_at(table, row, from));
        *reproduce_at(table, row, to) = most;
    }
}

static lw_status fig6(reproduction *r, lw_error *error) {
    static const char *const headers[] = {"t [s]", "rcr [m]", "cut [m]", "rcr so far [m]", "cut so far [m]"};
    static const char *const panel[] = {"rcr + cut"};
    const double end = 30; /* dozens of crank turns, with each of which the violation oscillates */
    lw_model *model;
    reproduce_table table = {.values = NULL};
    lw_status status = reproduce_model("four_bar", NULL, 0, &model, error);
    if (status == LW_OK)
        status = reproduce_table_create(&table, headers, 5, (int)lround(end / step) + 1, error);
    if (status == LW_OK)
        status = four_bar_run(r, model, "rcr", end, &(reproduce_trace){&table, 1, 0, NULL, true}, error);
    if (status == LW_OK)
        status = four_bar_run(r, model, "cut", end, &(reproduce_trace){&table, 2, 0, NULL, true}, error);
    if (status == LW_OK) {
        running_maximum(&table, 1, 3);
        running_maximum(&table, 2, 4);
        status = reproduce_expect(r, 1e-9, *reproduce_at(&table, 0, 1), 1e-11, 3e-9, error,
                                  "violation of the loop at the start, m");
    }
    /* The fit is over the last decade of time, after many turns. */
    if (status == LW_OK)
        status = reproduce_expect(r, 1, reproduce_exponent(&table, 0, 3, table.rows / 10, table.rows), 0.8,
                                  1.2, error, "exponent of time in the violation, rcr (velocity level)");
    if (status == LW_OK)
        status = reproduce_expect(r, 2, reproduce_exponent(&table, 0, 4, table.rows / 10, table.rows), 1.8,
                                  2.2, error, "exponent of time in the violation, cut (acceleration level)");
    if (status == LW_OK)
        status = reproduce_expect(
            r, NAN, *reproduce_at(&table, table.rows - 1, 4) / *reproduce_at(&table, table.rows - 1, 3), 10,
            INFINITY, error, "violation of cut over that of rcr at the end");
    if (status == LW_OK)
        status = reproduce_figure(r, &table,
                                  &(lw_plot_options){.columns = panel,
                                                     .count = 1,
                                                     .quantity = "violation of the loop",
                                                     .log_x = true,
                                                     .log_y = true},
                                  error);
    reproduce_table_clear(&table);
    lw_model_destroy(model);
    return status;
}

/* --- the redundant five-bar mechanism, fig. 8 ------------------------------------------------------ */

static lw_status fig8(reproduction *r, lw_error *error) {
    static const char *const joints[] = {"A", "D"}; /* along the leg to the tool, as in the paper */
    static const char *const headers[] = {"t [s]", "A, rcr [rad]", "D, rcr [rad]", "A, lagrange [rad]",
                                          "D, lagrange [rad]"};
    static const char *const methods[] = {"rcr", "lagrange"};
    static const char *const panels[] = {"A, rcr + A, lagrange", "D, rcr + D, lagrange"};
    enum { SAMPLES = 500 };
    lw_model *model;
    reproduce_table table = {.values = NULL};
    int q[2] = {0};
    lw_status status = reproduce_model("five_bar_redundant", NULL, 0, &model, error);
    for (int k = 0; k < 2 && status == LW_OK; k++)
        status = reproduce_coordinate(model, joints[k], &q[k], error);
    if (status == LW_OK) status = reproduce_table_create(&table, headers, 5, SAMPLES + 1, error);
    for (int k = 0; k < 2 && status == LW_OK; k++) {
        lw_run_options options;
        lw_run_defaults(model, &options);
        options.method = methods[k];
        options.tolerance = 1e-11;
        options.output = options.end / SAMPLES;
        status = reproduce_run(r, model, &options, &(reproduce_trace){&table, 1 + 2 * k, 2, q, false}, error);
    }
    for (int k = 0; k < 2 && status == LW_OK; k++)
        status = reproduce_expect(r, NAN, reproduce_difference(&table, 1 + k, 3 + k), 0, 1e-7, error,
                                  "largest difference of angle %s between rcr and lagrange, rad", joints[k]);
    if (status == LW_OK)
        status = reproduce_figure(r, &table, &(lw_plot_options){.columns = panels, .count = 2}, error);
    reproduce_table_clear(&table);
    lw_model_destroy(model);
    return status;
}

/* --- ladders, figs 10 and 11 ----------------------------------------------------------------------- */

static const char cells_parameter[] = "N";

/* Records two angles of a model against time in columns first and first + 1. */
static lw_status two_angles(reproduction *r, const lw_model *model, const char *method, double end,
                            const char *joint, const reproduce_table *table, int first, lw_error *error) {
    int q[2];
    lw_status status = reproduce_coordinate(model, joint, &q[0], error);
    if (status != LW_OK) return status;
    q[1] = q[0] + 1;
    lw_run_options options = {
        .method = method, .end = end, .tolerance = 1e-12, .output = end / (table->rows - 1)};
    reproduce_table rows = *table;
    return reproduce_run(r, model, &options, &(reproduce_trace){&rows, first, 2, q, false}, error);
}

static lw_status fig10(reproduction *r, lw_error *error) {
    static const char *const headers[] = {"t [s]",
                                          "q1, pendulum [rad]",
                                          "q2, pendulum [rad]",
                                          "q1, 1 cell [rad]",
                                          "q2, 1 cell [rad]",
                                          "q1, 2 cells [rad]",
                                          "q2, 2 cells [rad]",
                                          "q1, 4 cells [rad]",
                                          "q2, 4 cells [rad]",
                                          "q1, 16 cells [rad]",
                                          "q2, 16 cells [rad]"};
    static const char *const panels[] = {"q1, *", "q2, *"};
    static const int cells[] = {1, 2, 4, 16};
    enum { LADDERS = sizeof cells / sizeof *cells, SAMPLES = 500 };
    const double end = 10;
    reproduce_table table;
    lw_model *model;
    lw_status status = reproduce_table_create(&table, headers, 3 + 2 * LADDERS, SAMPLES + 1, error);
    if (status == LW_OK) {
        status = reproduce_model("ladder_pendulum", NULL, 0, &model, error);
        if (status == LW_OK) status = two_angles(r, model, "tree", end, "hooke", &table, 1, error);
        lw_model_destroy(model);
    }
    for (int k = 0; k < LADDERS && status == LW_OK; k++) {
        status = reproduce_model("ladder", cells_parameter, cells[k], &model, error);
        if (status == LW_OK) status = two_angles(r, model, "rcr", end, "hooke0", &table, 3 + 2 * k, error);
        lw_model_destroy(model);
        for (int a = 0; a < 2 && status == LW_OK; a++)
            status =
                reproduce_expect(r, NAN, reproduce_difference(&table, 1 + a, 3 + 2 * k + a), 0, 1e-8, error,
                                 "largest difference of q%d, ladder of %d cell%s and pendulum, rad", a + 1,
                                 cells[k], cells[k] > 1 ? "s" : "");
    }
    if (status == LW_OK)
        status = reproduce_figure(r, &table, &(lw_plot_options){.columns = panels, .count = 2}, error);
    reproduce_table_clear(&table);
    return status;
}

/* Makes the ladder with open loops: the bodies on their tree. */
static lw_status open_ladder(const lw_model *closed, lw_spec *spec, lw_model **model, lw_error *error) {
    *model = NULL;
    lw_spec *tree = lw_spec_create(lw_spec_name(spec));
    lw_status status = tree ? LW_OK : reproduce_fail(error, LW_ERROR_MEMORY, "out of memory");
    if (status == LW_OK) lw_spec_set_gravity(tree, lw_spec_gravity(spec));
    for (size_t k = 0; k < lw_spec_body_count(spec) && status == LW_OK; k++)
        status = lw_spec_add_body(tree, lw_spec_body(spec, k));
    for (size_t k = 0; k < lw_spec_joint_count(spec) && status == LW_OK; k++)
        if (!lw_model_joint_info(closed, (int)k).cut)
            status = lw_spec_add_joint(tree, lw_spec_joint(spec, k));
    if (status == LW_OK) status = reproduce_compile(tree, model, error);
    lw_spec_destroy(tree);
    return status;
}

/* Measures the processor time of one call, s, as linkwork compare does, and the difference from rcr unless
 * `difference` is NULL. */
static lw_status time_of_call(const lw_model *model, const char *method, bool quick, double *seconds,
                              double *difference, lw_error *error) {
    const char *const methods[] = {method, "rcr"};
    lw_comparison *results = calloc((size_t)lw_method_count(), sizeof *results);
    lw_compare_options options;
    int count = 0;
    if (!results) return reproduce_fail(error, LW_ERROR_MEMORY, "out of memory");
    lw_compare_defaults(model, &options);
    options.methods = methods;
    options.method_count = difference ? 2 : 1;
    options.no_run = options.no_reactions = true;
    options.timing = quick ? 0.02 : 0.1;
    lw_status status = lw_compare(model, &options, results, &count, error);
    for (int k = 0; k < count && status == LW_OK; k++) {
        if (strcmp(results[k].method, method) == 0) *seconds = 1e-9 * results[k].ns_per_call;
        if (difference) *difference = fmax(*difference, results[k].max_rel_diff);
        if (isfinite(results[k].ns_per_call)) continue; /* The method has results. */
        status = reproduce_fail(error, LW_ERROR_UNSUPPORTED, "method %s: %s", results[k].method,
                                results[k].reason);
    }
    free(results);
    return status;
}

enum { CELLS, TREE, CUT, RCR, TIMES }; /* columns */

/* Measures one size of the ladder by one method. */
static lw_status time_ladder(reproduction *r, int cells, int column, double *seconds, double *difference,
                             lw_error *error) {
    static const char *const methods[] = {"", "tree", "cut", "rcr"};
    lw_spec *spec = NULL;
    lw_model *model = NULL, *tree = NULL;
    lw_status status = reproduce_working(r, error, "%d cells, %s", cells, methods[column]);
    if (status == LW_OK) status = reproduce_spec("ladder", cells_parameter, cells, &spec, error);
    if (status == LW_OK) status = reproduce_compile(spec, &model, error);
    if (status == LW_OK && column == TREE) status = open_ladder(model, spec, &tree, error);
    if (status == LW_OK)
        status = time_of_call(tree ? tree : model, methods[column], r->quick, seconds, difference, error);
    lw_model_destroy(tree);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return status;
}

/* The exponent over the last sizes that were timed, those above 1/range of the largest. */
static double growth(const reproduce_table *table, int column, double range) {
    int end = table->rows, first = 0;
    while (end > 0 && isnan(*reproduce_at(table, end - 1, column))) end--;
    while (first < end && range * *reproduce_at(table, first, CELLS) < *reproduce_at(table, end - 1, CELLS))
        first++;
    return reproduce_exponent(table, CELLS, column, first, end);
}

/* The size from which rcr is faster than cut. */
static double crossing(const reproduce_table *table) {
    double from = INFINITY;
    for (int row = table->rows - 1; row >= 0; row--) {
        double cut = *reproduce_at(table, row, CUT);
        if (cut <= *reproduce_at(table, row, RCR)) break;
        if (!isnan(cut)) from = *reproduce_at(table, row, CELLS);
    }
    return from;
}

/* Measures all sizes by one method, in several passes. Other processes can only add to a time, so that the
 * least time counts; passes are repeated as long as the time of some size decreases. */
static lw_status time_ladders(reproduction *r, const reproduce_table *table, int column, double *difference,
                              lw_error *error) {
    const int fewest = r->quick ? 2 : 4, most = r->quick ? 3 : 10;
    const double patience = r->quick ? 0.02 : 0.5; /* s; cut would take 8 times as long for the next size */
    const double dear = 0.1;                       /* s; above it the least number of passes is enough */
    const double settled = 0.99;
    bool falling = true;
    lw_status status = LW_OK;
    for (int pass = 0; pass < most && (falling || pass < fewest); pass++) {
        falling = false;
        for (int row = 0; row < table->rows && status == LW_OK; row++) {
            double *least = reproduce_at(table, row, column), seconds = NAN;
            if (pass > 0 && isnan(*least)) break; /* The first pass gave it up. */
            if (pass >= fewest && *least > dear) break;
            status =
                time_ladder(r, (int)*reproduce_at(table, row, CELLS), column, &seconds, difference, error);
            falling = falling || seconds < settled * *least;
            *least = fmin(*least, seconds); /* fmin ignores NaN. */
            if (pass == 0 && seconds > patience) break;
        }
    }
    return status;
}

/* A function of OpenBLAS, if dense algebra uses this library. Threads that wait for each other would count as
 * processor time. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

static lw_status fig11(reproduction *r, lw_error *error) {
    static const char *const headers[] = {"cells", "(i) no constraints [s]", "(ii) cut [s]", "(iii) rcr [s]"};
    static const char *const panel[] = {"(i) no constraints + (ii) cut + (iii) rcr"};
    enum { SIZES = 11 }; /* 1 .. 1024 */
    const double everything = INFINITY, decade = 10, doubling = 2;
    /* Lower powers matter less with size: the exponent of cut approaches 3 from below, and with fewer sizes
     * remains farther from it. */
    const double cubic = r->quick ? 2 : 2.5;
    const struct {
        int column;
        double range, paper, least, most;
        const char *what;
    } fits[] = {{TREE, everything, 1, 0, 1.1, "(i) no constraints, all sizes"},
                {TREE, decade, 1, 0, 1.1, "(i) no constraints, last decade"},
                {CUT, decade, 3, cubic, 3.3, "(ii) cut, last decade"},
                {CUT, doubling, 3, cubic, 3.3, "(ii) cut, last doubling"},
                {RCR, everything, 1, 0, 1.1, "(iii) rcr, all sizes"},
                {RCR, decade, 1, 0, 1.1, "(iii) rcr, last decade"}};
    double difference = 0;
    reproduce_table table;
    lw_status status = reproduce_table_create(&table, headers, TIMES, SIZES, error);
    for (int row = 0; row < SIZES && status == LW_OK; row++) *reproduce_at(&table, row, CELLS) = 1 << row;
    if (openblas_set_num_threads) openblas_set_num_threads(1);
    if (status == LW_OK) status = time_ladders(r, &table, RCR, NULL, error);
    if (status == LW_OK) status = time_ladders(r, &table, TREE, NULL, error);
    if (status == LW_OK) status = time_ladders(r, &table, CUT, &difference, error);
    for (size_t k = 0; k < sizeof fits / sizeof *fits && status == LW_OK; k++)
        status =
            reproduce_expect(r, fits[k].paper, growth(&table, fits[k].column, fits[k].range), fits[k].least,
                             fits[k].most, error, "exponent of time against cells, %s", fits[k].what);
    if (status == LW_OK)
        status = reproduce_expect(r, NAN, crossing(&table), 0, 4, error, "cells from which on rcr is faster");
    if (status == LW_OK)
        status = reproduce_expect(r, NAN, difference, 0, 1e-9, error,
                                  "relative difference of accelerations, cut and rcr");
    if (status == LW_OK)
        status = reproduce_figure(
            r, &table,
            &(lw_plot_options){
                .columns = panel, .count = 1, .quantity = "time of a call", .log_x = true, .log_y = true},
            error);
    reproduce_table_clear(&table);
    return status;
}

static const reproduce_item items[] = {
    {"fig5", "four-bar linkage: trajectories by rcr and by cut lie on each other", fig5, "four_bar"},
    {"fig6", "four-bar linkage: how the loop opens in time, by rcr and by cut", fig6, "four_bar"},
    {"fig8", "redundant five-bar mechanism: independent coordinates", fig8, "five_bar_redundant"},
    {"fig10", "ladders with matched inertias move like one pendulum", fig10, "ladder"},
    {"fig11", "ladders: time of a call against the number of cells", fig11, "ladder"},
};
const reproduce_paper reproduce_anderson2003 = {
    "anderson2003", items, sizeof items / sizeof *items,
    "K. S. Anderson and J. H. Critchley (2003). Improved 'Order-N' performance algorithm for the simulation "
    "of "
    "constrained multi-rigid-body dynamic systems. Multibody System Dynamics 9.",
    "Recursive coordinate reduction: closed loops at a cost linear in bodies and constraints (methods tree, "
    "cut, "
    "rcr)."};

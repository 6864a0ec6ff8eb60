/* test_massless_rows.c - rows of cells whose couplers have no mass: the loops are cut beside the couplers, so that they stay short, rcr
 * lends the couplers inertia for its elimination, and all methods agree.
 *
 * Couplers that are springs in a slide, rigid rods, slides between ball and universal joints in space, and couplers under forces of their
 * own. The truth is lagrange, which knows no tree, and the balance check. That the cost is linear is counted: loops of five joints or so at any
 * number of cells, and as many pairs of loops that share a joint as there are cells.
 */
#include "problems.h"
#include "random_loops.h"
#include "formulations/common/checked_accelerations.h"
#include "formulations/formulation.h"
#include "model/compiled_model.h"
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

#define POSTS "  post{i}: {repeat: {i: 0..N}, mass: 1, shape: rod, points: [[i, 0, 0], [i, 0, -1]]}\n"
#define HINGES                                                                                               \
    "  foot{i}: {repeat: {i: 0..N}, type: revolute, between: [ground, \"post{i}\"], point: [i, 0, 0], "      \
    "axis: [0, 1, 0], q: a*sin(i), v: 0.1*i/N}\n"
#define LEFT(type)                                                                                           \
    "  left{i}: {repeat: {i: 1..N}, type: " type ", between: [\"post{i-1}\", \"x{i}\"], point: [i-1, 0, -1]"
#define MID "  mid{i}: {repeat: {i: 1..N}, type: prismatic, between: [\"x{i}\", \"y{i}\"], axis: [1, 0, 0]}\n"
#define RIGHT(type, from)                                                                                    \
    "  right{i}: {repeat: {i: 1..N}, type: " type ", between: [\"" from                                      \
    "{i}\", \"post{i}\"], point: [i, 0, -1]"
#define SPRINGS "  k{i}: {repeat: {i: 1..N}, type: torsion, joint: \"mid{i}\", stiffness: 50, damping: 1}\n"

static const char springs[] =
    "linkwork: 1\nparameters: {N: %d, a: %g}\nbodies:\n" POSTS "  x{i}: {repeat: {i: 1..N}, mass: 0}\n"
    "  y{i}: {repeat: {i: 1..N}, mass: 0}\njoints:\n" HINGES LEFT(
        "revolute") ", axis: [0, 1, 0]}\n" MID RIGHT("revolute", "y") ", axis: [0, 1, 0]}\nforces:\n" SPRINGS;

/* The same, with the user's word on where to cut. */
static const char asked[] =
    "linkwork: 1\nparameters: {N: %d, a: %g}\nbodies:\n" POSTS "  x{i}: {repeat: {i: 1..N}, mass: 0}\n"
    "  y{i}: {repeat: {i: 1..N}, mass: 0}\njoints:\n" HINGES LEFT(
        "revolute") ", axis: [0, 1, 0]}\n" MID RIGHT("revolute",
                                                     "y") ", axis: [0, 1, 0], cut: true}\nforces:\n" SPRINGS;

/* One freedom in all: the posts stay parallel. */
static const char rods[] = "linkwork: 1\nparameters: {N: %d, a: %g}\nbodies:\n" POSTS
                           "  x{i}: {repeat: {i: 1..N}, mass: 0}\njoints:\n"
                           "  foot{i}: {repeat: {i: 0..N}, type: revolute, between: [ground, \"post{i}\"], "
                           "point: [i, 0, 0], axis: [0, 1, "
                           "0], q: a, v: 0.1}\n" LEFT("revolute") ", axis: [0, 1, 0]}\n" RIGHT(
                               "revolute", "x") ", axis: [0, 1, 0]}\n";

static const char in_space[] =
    "linkwork: 1\nparameters: {N: %d, a: %g}\nbodies:\n" POSTS "  x{i}: {repeat: {i: 1..N}, mass: 0}\n"
    "  y{i}: {repeat: {i: 1..N}, mass: 0}\njoints:\n"
    "  foot{i}: {repeat: {i: 0..N}, type: universal, between: [ground, \"post{i}\"], point: [i, 0, 0], axes: "
    "[[1, 0, "
    "0], [0, 1, 0]], q: [a*cos(i), a*sin(i)], v: [0.1, 0.2*i/N]}\n" LEFT("spherical") "}\n" MID RIGHT(
        "universal", "y") ", axes: [[0, 1, 0], [0, 0, 1]]}\nforces:\n" SPRINGS;

static const char loaded[] =
    "linkwork: 1\nparameters: {N: %d, a: %g}\nbodies:\n" POSTS "  x{i}: {repeat: {i: 1..N}, mass: 0}\n"
    "  y{i}: {repeat: {i: 1..N}, mass: 0}\njoints:\n" HINGES LEFT("revolute") ", axis: [0, 1, 0]}\n" MID
        RIGHT("revolute", "y") ", axis: [0, 1, 0]}\nforces:\n"
                               "  s{i}: {repeat: {i: 1..N}, type: spring, between: [ground, \"x{i}\"], "
                               "points: [[i-0.5, 0, -3], [i-0.7, 0, -1]], "
                               "stiffness: 50, damping: 1, length: 1}\n";

static const char *const rows[] = {springs, asked, rods, in_space, loaded};
enum { ROWS = sizeof rows / sizeof *rows };

static lw_model *row_of(int kind, int cells, double angle) {
    char text[4096];
    snprintf(text, sizeof text, rows[kind], cells, angle);
    return compile_or_fail(read_text_spec(text));
}

/* Accelerations by a method, which have passed the check; the caller frees them. */
static double *accelerations(const lw_model *model, const char *name, const double *q, const double *v) {
    const lw_formulation *f = lw_formulation_find(name);
    const lw_method_options options = {.drift = LW_DRIFT_PROJECT};
    lw_method *method = NULL;
    lw_error error;
    double *vdot = calloc((size_t)model->nv, sizeof *vdot);
    lw_checked *checked = lw_checked_create(model);
    if (f->applies(model, &error) != LW_OK || f->create(model, &options, &method, &error) != LW_OK)
        fail_msg("%s: %s", name, error.message);
    if (lw_checked_accelerations(checked, &(lw_checked_state){method, &options, 0, q, v, NULL},
                                 (lw_checked_answer){.vdot = vdot}, &error) != LW_OK)
        fail_msg("%s: %s", name, error.message);
    f->destroy(method);
    lw_checked_destroy(checked);
    return vdot;
}

static void methods_agree(void **state) {
    (void)state;
    static const char *const names[] = {"rcr", "massless", "partition"};
    for (int kind = 0; kind < ROWS; kind++) {
        lw_model *model = row_of(kind, 12, 0.2);
        double *q = calloc((size_t)model->nq, sizeof *q), *v = calloc((size_t)model->nv, sizeof *v), most = 0;
        lw_error error;
        lw_model_initial_state(model, q, v);
        assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
        double *truth = accelerations(model, "lagrange", q, v);
        for (int k = 0; k < model->nv; k++) most = fmax(most, fabs(truth[k]));
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            double *vdot = accelerations(model, names[n], q, v);
            for (int k = 0; k < model->nv; k++)
                if (!(fabs(vdot[k] - truth[k]) < 1e-9 * most))
                    fail_msg("row %d, %s, speed %d: %.12g instead of %.12g", kind, names[n], k, vdot[k],
                             truth[k]);
            free(vdot);
        }
        free(truth), free(q), free(v);
        lw_model_destroy(model);
    }
}

/* Loops do not grow with the row, and neither does what one of them costs. */
static void rows_grow_linearly(void **state) {
    (void)state;
    const lw_formulation *f = lw_formulation_find("rcr");
    const lw_method_options options = {.drift = LW_DRIFT_PROJECT};
    for (int kind = 0; kind < ROWS; kind++) {
        double cost[2];
        for (int size = 0; size < 2; size++) {
            lw_model *model = row_of(kind, size ? 640 : 20, 0);
            lw_method *method = NULL;
            lw_error error;
            assert_true(model->graph.short_beside_massless);
            for (int k = 0; k < model->graph.loop_count; k++)
                assert_in_range(model->graph.loop_start[k + 1] - model->graph.loop_start[k], 4, 5);
            assert_int_equal(f->create(model, &options, &method, &error), LW_OK);
            cost[size] = f->expense(method);
            f->destroy(method);
            lw_model_destroy(model);
        }
        assert_true(cost[1] < 1.1 * 32 * cost[0]);
    }
}

/* Where they stand upright, so that nothing has to be assembled. */
static void long_rows_are_right(void **state) {
    (void)state;
    for (int kind = 0; kind < ROWS; kind++) {
        lw_model *model = row_of(kind, 500, 0);
        double *q = calloc((size_t)model->nq, sizeof *q), *v = calloc((size_t)model->nv, sizeof *v);
        double most = 1; /* of what gravity does to a post: upright, some do not move */
        lw_error error;
        lw_model_initial_state(model, q, v);
        assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
        double *vdot = accelerations(model, "rcr", q, v), *truth = accelerations(model, "lagrange", q, v);
        for (int k = 0; k < model->nv; k++) most = fmax(most, fabs(truth[k]));
        for (int k = 0; k < model->nv; k++)
            if (!(fabs(vdot[k] - truth[k]) < 1e-9 * most))
                fail_msg("row %d, speed %d: %.12g instead of %.12g, of %g", kind, k, vdot[k], truth[k], most);
        free(vdot), free(truth), free(q), free(v);
        lw_model_destroy(model);
    }
}

/* A body without mass that no loop holds keeps its reason. */
static void what_loops_do_not_hold_is_refused(void **state) {
    (void)state;
    static const char text[] =
        "linkwork: 1\nbodies:\n  a: {mass: 1, shape: rod, points: [[0,0,0],[0,0,1]]}\n"
        "  b: {mass: 0}\n  c: {mass: 0}\n  m: {mass: 0}\njoints:\n"
        "  A: {type: revolute, between: [ground, a], point: [0,0,0], axis: [0,1,0]}\n"
        "  B: {type: revolute, between: [a, b], point: [0,0,1], axis: [0,1,0]}\n"
        "  C: {type: revolute, between: [b, c], point: [1,0,1], axis: [0,1,0]}\n"
        "  D: {type: cylindrical, between: [ground, c], point: [1,0,0], axis: [0,0,1], cut: true}\n"
        "  E: {type: prismatic, between: [a, m], axis: [0,0,1]}\n";
    lw_model *model = compile_or_fail(read_text_spec(text));
    lw_error error;
    assert_int_equal(lw_formulation_find("rcr")->applies(model, &error), LW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "resists"));
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(methods_agree), cmocka_unit_test(rows_grow_linearly),
                                       cmocka_unit_test(long_rows_are_right),
                                       cmocka_unit_test(what_loops_do_not_hold_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_cuts.c - every possible cut of a loop: the same mechanism each time; and the automatic choice, which leaves cuts alone
 * unless the tree they leave is singular or its best coordinates are poor.
 */
#include "build.h"
#include "model/compiled_model.h"
#include "random_loops.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double y[3] = {0, 1, 0};

/* A crank, a coupler and a rocker in the plane x, z: A (0, 0), B (0, 1), C (2, 1.2), D (2, 0). */
static lw_spec *linkage(lw_body_spec coupler, lw_body_spec rocker) {
    static const double A[3] = {0, 0, 0}, B[3] = {0, 0, 1}, C[3] = {2, 0, 1.2}, D[3] = {2, 0, 0};
    lw_spec *spec = lw_spec_create("linkage");
    coupler.name = "coupler", rocker.name = "rocker";
    add_body(spec,
             (lw_body_spec){.name = "crank", .mass = 1, .com = {0, 0, 0.5}, .inertia = {0.1, 0.1, 0.01}});
    add_body(spec, coupler);
    add_body(spec, rocker);
    add_plain_joint(spec, "A", LW_JOINT_REVOLUTE, "ground", "crank", A, y);
    add_plain_joint(spec, "B", LW_JOINT_REVOLUTE, "crank", "coupler", B, y);
    add_plain_joint(spec, "C", LW_JOINT_REVOLUTE, "coupler", "rocker", C, y);
    add_plain_joint(spec, "D", LW_JOINT_REVOLUTE, "ground", "rocker", D, y);
    return spec;
}

static const lw_body_spec rod = {.mass = 1, .com = {1, 0, 1.1}, .inertia = {0.1, 0.1, 0.1}};
static const lw_body_spec rocker_rod = {.mass = 1, .com = {2, 0, 0.6}, .inertia = {0.1, 0.1, 0.01}};
static const lw_body_spec in_the_hinge = {.kind = LW_BODY_POINT, .mass = 1, .com = {0, 0, 1}}; /* B */

static lw_model *compile(const lw_spec *spec) {
    lw_model *model;
    lw_report *report = lw_report_create();
    if (lw_compile_as_cut(spec, NULL, report, &model) != LW_OK) {
        show_report(report);
        fail();
    }
    lw_report_destroy(report);
    return model;
}

static const char *cut_of(const lw_model *model, int loop) {
    return lw_model_joint_info(model, lw_model_loop_cut(model, loop)).name;
}

/* The automatic choice; returns the model with the cuts it has led to. */
static lw_model *choose(lw_spec *spec, lw_cut_move *move, int *count) {
    lw_model *model = NULL;
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    *count = lw_model_cut_move_count(model);
    if (*count > 0 && move) *move = *lw_model_cut_move(model, *count - 1);
    assert_null(lw_model_cut_move(model, *count));
    return model;
}

/* Accelerations and reactions by a method that knows no cuts and by those that recur over the tree. */
static void recursions_work(const lw_model *model) {
    static const char *const methods[] = {"lagrange", "cut", "rcr"};
    double q[64], v[64], vdot[3][64], reactions[3][6 * 16];
    lw_error error = {0};
    lw_model_initial_state(model, q, v);
    v[0] = 3;
    assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
    for (int k = 0; k < 3; k++) {
        lw_status status = lw_accelerations(model, methods[k], 0, q, v, vdot[k], reactions[k], NULL, &error);
        if (status != LW_OK) print_error("%s: %s\n", methods[k], error.message);
        assert_int_equal(status, LW_OK);
        /* 1e-9: rounding, and the rank decisions of the redundant rows; forces out of the plane are not unique */
        assert_true(relative_difference(vdot[0], vdot[k], lw_model_v_size(model)) < 1e-9);
        for (int j = 0; j < lw_model_joint_count(model); j++)
            for (int x = 0; x < 3; x += 2)
                assert_true(fabs(reactions[0][6 * j + x] - reactions[k][6 * j + x]) < 1e-8);
    }
}

/* --- every cut -------------------------------------------------------------------------------------- */

static lw_cuts *cuts_of(const lw_spec *spec, const lw_model *model, const double *q, double t) {
    lw_cuts *cuts;
    lw_error error = {0};
    lw_status status = lw_cuts_create(spec, model, t, q, &cuts, &error);
    if (status != LW_OK) print_error("%s\n", error.message);
    assert_int_equal(status, LW_OK);
    return cuts;
}

static const lw_merit *merit_of(const lw_cut_option *option, const char *name) {
    for (int i = 0; i < lw_merits_count(option->merits); i++)
        if (strcmp(lw_merits_get(option->merits, i)->name, name) == 0)
            return lw_merits_get(option->merits, i);
    return NULL;
}

/* Where the loop is cut does not change how its joints move: with one freedom the weights of two joints that ignore masses have
 * the same ratio for every cut. */
static void every_cut_is_the_same_mechanism(void **state) {
    (void)state;
    static const char *const names[] = {"A", "B", "C", "D"};
    lw_spec *spec = linkage(rod, rocker_rod);
    lw_spec_joint(spec, 0)->has_q = true;
    lw_spec_joint(spec, 0)->q[0] = 0.4;
    lw_model *model = compile(spec);
    double q[8], v[8] = {0};
    lw_error error;
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
    lw_cuts *cuts = cuts_of(spec, model, q, 0);
    assert_int_equal(lw_cuts_count(cuts), 4);
    double ratio[4][4] = {{0}};
    for (int k = 0; k < 4; k++) {
        const lw_cut_option *option = lw_cuts_get(cuts, k);
        assert_non_null(option->merits);
        assert_int_equal(option->undetermined, 0);
        assert_int_equal(lw_merits_freedom(option->merits), 1);
        assert_int_equal(lw_merits_count(option->merits), 3);
        if (k > 0) assert_null(merit_of(option, lw_model_joint_info(model, option->joint).name));
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                const lw_merit *a = merit_of(option, names[i]), *b = merit_of(option, names[j]);
                if (!a || !b) continue;
                if (ratio[i][j] == 0) ratio[i][j] = a->svd / b->svd;
                assert_true(fabs(a->svd / b->svd / ratio[i][j] - 1) <
                            1e-10); /* closed to 1e-14, divided by slow ones */
            }
        /* a joint with a given value is not free for the automatic choice */
        if (k > 0) assert_int_equal(option->free, option->joint != 0);
    }
    assert_int_equal(lw_cuts_best(cuts), 0);
    lw_cuts_destroy(cuts);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

static void cuts_of_random_loops_have_the_same_freedom(void **state) {
    (void)state;
    static random_loops loops;
    int tried = 0;
    for (int seed = 1; seed <= 48; seed++) {
        random_loops_build(&loops, seed);
        lw_model *model = compile(loops.spec);
        double q[512], v[512];
        random_loops_state(&loops, model, true, q, v);
        lw_cuts *cuts = cuts_of(loops.spec, model, q, loops.t);
        int freedom = lw_merits_freedom(lw_cuts_get(cuts, 0)->merits);
        for (int k = 1; k < lw_cuts_count(cuts); k++) {
            const lw_cut_option *option = lw_cuts_get(cuts, k);
            if (!option->merits) { /* the base's motion needs its joint; couplings need theirs */
                assert_true(option->reason[0] != '\0');
                continue;
            }
            tried++;
            if (lw_merits_freedom(option->merits) != freedom)
                fail_msg("seed %d: cut of loop %d at joint %d has freedom %d, not %d", seed, option->loop,
                         option->joint, lw_merits_freedom(option->merits), freedom);
        }
        lw_cuts_destroy(cuts);
        lw_model_destroy(model);
        lw_spec_destroy(loops.spec);
    }
    assert_true(tried > 100);
}

/* --- the automatic choice --------------------------------------------------------------------------- */

/* The coupler's mass is in hinge B, so on B it resists no rotation: what was cut at C has to be cut elsewhere. */
static void singular_trees_are_cut_elsewhere(void **state) {
    (void)state;
    lw_cut_move move;
    lw_error error = {0};
    int count;
    lw_spec *spec = linkage(in_the_hinge, rocker_rod);
    lw_model *model = compile(spec);
    assert_string_equal(cut_of(model, 0), "C");
    assert_int_equal(lw_method_applies("cut", model, &error), LW_ERROR_UNSUPPORTED);
    assert_int_equal(lw_method_applies("rcr", model, &error), LW_OK); /* it lends the coupler inertia */
    lw_model_destroy(model);

    model = choose(spec, &move, &count);
    assert_int_equal(count, 1);
    assert_int_equal(move.from, 2);
    assert_int_equal(lw_model_loop_cut(model, 0), move.to);
    assert_non_null(strstr(move.why, "\"coupler\""));
    recursions_work(model);
    assert_int_equal(lw_spec_keep_cuts(spec, model), LW_OK);
    lw_model_destroy(model);

    /* and it stays there: nothing is left to improve */
    model = choose(spec, NULL, &count);
    assert_int_equal(count, 0);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

/* A coupler without any mass: the graph itself does not cut beside it, and the recursions work. */
static void massless_bodies_are_not_cut_off(void **state) {
    (void)state;
    int count;
    lw_spec *spec = linkage((lw_body_spec){.mass = 0}, rocker_rod);
    lw_model *model = choose(spec, NULL, &count);
    assert_int_equal(count, 0);
    recursions_work(model);
    double q[8], v[8];
    lw_model_initial_state(model, q, v);
    lw_cuts *cuts = cuts_of(spec, model, q, 0);
    for (int k = 1; k < lw_cuts_count(cuts); k++) {
        const lw_cut_option *option = lw_cuts_get(cuts, k);
        bool beside = option->joint == 1 || option->joint == 2;
        assert_int_equal(option->merits == NULL, beside);
        if (beside) assert_non_null(strstr(option->reason, "no mass"));
    }
    lw_cuts_destroy(cuts);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

static void wishes_and_given_values_are_respected(void **state) {
    (void)state;
    int count;
    lw_cut_move move;
    /* the user wants it cut where it is singular */
    lw_spec *spec = linkage(in_the_hinge, rocker_rod);
    lw_spec_joint(spec, 2)->cut = true;
    lw_model *model = choose(spec, NULL, &count);
    assert_int_equal(count, 0);
    assert_string_equal(cut_of(model, 0), "C");
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    /* values at A and B, so only D is left */
    spec = linkage(in_the_hinge, rocker_rod);
    for (size_t j = 0; j < 2; j++) lw_spec_joint(spec, j)->has_v = true;
    model = choose(spec, &move, &count);
    assert_int_equal(count, 1);
    assert_string_equal(cut_of(model, 0), "D");
    recursions_work(model);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    /* a drive at D as well: nothing is left */
    spec = linkage(in_the_hinge, rocker_rod);
    for (size_t j = 0; j < 2; j++) lw_spec_joint(spec, j)->has_v = true;
    add_force(spec, (lw_force_spec){.name = "motor", .type = LW_FORCE_DRIVE, .joint = "D", .drive = "1"});
    model = choose(spec, NULL, &count);
    assert_int_equal(count, 0);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

/* A rocker of little mass that hardly turns. If the loop is cut at its foot D, a ball joint, which costs the fewest rows, then A, B
 * and C can move without turning it, and tell next to nothing of the mechanism's motion. */
static void poor_coordinates_are_replaced_by_much_better_ones(void **state) {
    (void)state;
    int count;
    lw_cut_move move;
    for (int heavy = 0; heavy < 2; heavy++) {
        lw_body_spec rocker = rocker_rod;
        if (heavy) rocker.inertia[0] = rocker.inertia[1] = rocker.inertia[2] = 1e5;
        lw_spec *spec = linkage(rod, rocker);
        lw_spec_joint(spec, 3)->type = LW_JOINT_SPHERICAL;
        lw_spec_joint(spec, 3)->geometry[0].axis_count = 0;
        lw_model *model = choose(spec, &move, &count);
        assert_int_equal(count, heavy);
        if (heavy) {
            assert_int_equal(move.from, 3);
            assert_non_null(strstr(move.why, "worth"));
            double q[16], v[16];
            lw_model_initial_state(model, q, v);
            lw_cuts *cuts = cuts_of(spec, model, q, 0);
            assert_true(lw_merits_worth(lw_cuts_get(cuts, 0)->merits) > 0.9);
            for (int k = 1; k < lw_cuts_count(cuts); k++)
                if (lw_cuts_get(cuts, k)->joint == 3)
                    assert_true(lw_merits_worth(lw_cuts_get(cuts, k)->merits) < LW_CUT_POOR);
            lw_cuts_destroy(cuts);
        } else
            assert_string_equal(cut_of(model, 0), "D");
        lw_model_destroy(model);
        lw_spec_destroy(spec);
    }
}

/* Two singular loops: both are cut elsewhere. */
static void several_loops_are_moved_in_turn(void **state) {
    (void)state;
    static const double A[3] = {-3, 0, 0}, B[3] = {-3, 0, 1}, C[3] = {-1, 0, 1.2}, D[3] = {-1, 0, 0};
    int count;
    lw_spec *spec = linkage(in_the_hinge, rocker_rod);
    add_body(spec,
             (lw_body_spec){.name = "crank 2", .mass = 1, .com = {-3, 0, 0.5}, .inertia = {0.1, 0.1, 0.01}});
    add_body(spec, (lw_body_spec){.name = "coupler 2", .kind = LW_BODY_POINT, .mass = 1, .com = {-3, 0, 1}});
    add_body(spec,
             (lw_body_spec){.name = "rocker 2", .mass = 1, .com = {-1, 0, 0.6}, .inertia = {0.1, 0.1, 0.01}});
    add_plain_joint(spec, "A2", LW_JOINT_REVOLUTE, "ground", "crank 2", A, y);
    add_plain_joint(spec, "B2", LW_JOINT_REVOLUTE, "crank 2", "coupler 2", B, y);
    add_plain_joint(spec, "C2", LW_JOINT_REVOLUTE, "coupler 2", "rocker 2", C, y);
    add_plain_joint(spec, "D2", LW_JOINT_REVOLUTE, "ground", "rocker 2", D, y);
    lw_model *model = choose(spec, NULL, &count);
    assert_int_equal(count, 2);
    recursions_work(model);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

/* Every model of problems/ keeps its cuts. */
static void good_models_keep_their_cuts(void **state) {
    (void)state;
    glob_t files;
    int looped = 0;
    assert_int_equal(glob(LW_SOURCE_DIR "/problems/*/model.yaml", 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        lw_spec *spec;
        lw_report *report = lw_report_create();
        int count;
        assert_int_equal(lw_read_model(files.gl_pathv[k], NULL, 0, report, &spec), LW_OK);
        lw_report_destroy(report);
        lw_model *model = choose(spec, NULL, &count);
        if (count > 0) fail_msg("%s: a cut has moved", files.gl_pathv[k]);
        looped += lw_model_loop_count(model) > 0;
        lw_model_destroy(model);
        lw_spec_destroy(spec);
    }
    assert_true(looped >= 10);
    globfree(&files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_is_the_same_mechanism),
        cmocka_unit_test(cuts_of_random_loops_have_the_same_freedom),
        cmocka_unit_test(singular_trees_are_cut_elsewhere),
        cmocka_unit_test(massless_bodies_are_not_cut_off),
        cmocka_unit_test(wishes_and_given_values_are_respected),
        cmocka_unit_test(poor_coordinates_are_replaced_by_much_better_ones),
        cmocka_unit_test(several_loops_are_moved_in_turn),
        cmocka_unit_test(good_models_keep_their_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

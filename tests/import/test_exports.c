/* test_exports.c - mechanisms that are exported and imported again move as before: the problems, and random
 * trees. Keyframes give the same initial state.
 *
 * Where an export lists what it left out, nothing is compared. Tolerance: geometry is composed in another
 * order, and hinges that close loops become two points 0.1 m apart, so that 1e-12 of the largest
 * acceleration, times the condition of the mechanism where it has loops, is some thousand times that
 * rounding.
 */
#define _POSIX_C_SOURCE 200809L

#include "random_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linkwork/linkwork.h>

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const lw_report *report) {
    for (size_t k = 0; k < lw_report_size(report); k++) {
        char text[2048];
        lw_error_format(lw_report_get(report, k), text, sizeof text);
        print_message("%s\n", text);
    }
}

/* Does every note say that the motion is the same? */
static bool all_said(const lw_import_notes *notes) {
    static const char *const harmless[] = {
        "outputs", "shapes", "frames", "spherical joints", "bodies without mass", "initial speeds"};
    for (size_t k = 0; k < lw_import_notes_size(notes); k++) {
        bool known = false;
        for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
            known =
                known || strncmp(lw_import_notes_get(notes, k)->kind, harmless[i], strlen(harmless[i])) == 0;
        if (!known) return false;
    }
    return true;
}

/* The model of an export; NULL if something was left out. */
static lw_model *back(const lw_spec *spec, bool urdf, const char *key) {
    const char *path = urdf ? "export_again.urdf" : "export_again.xml";
    lw_import_notes *notes = lw_import_notes_create();
    lw_report *report = lw_report_create();
    lw_error error = {0};
    lw_spec *again = NULL;
    lw_model *model = NULL;
    lw_status status =
        urdf ? lw_export_urdf(spec, path, notes, &error) : lw_export_mjcf(spec, path, notes, &error);
    const bool said = status == LW_OK && all_said(notes);
    if (status == LW_OK && said) {
        lw_import_options options;
        lw_import_defaults(&options);
        options.key = key;
        status = lw_import(path, &options, report, &again);
        if (status == LW_OK) status = lw_model_compile(again, NULL, report, &model);
        if (status != LW_OK) show(report);
        assert_int_equal(status, LW_OK);
    } else if (status != LW_OK)
        assert_int_equal(status, LW_ERROR_UNSUPPORTED);
    (void)remove(path);
    lw_report_destroy(report);
    lw_import_notes_destroy(notes);
    lw_spec_destroy(again);
    return model;
}

enum { MOST = 1200 };

static bool accelerations(const lw_model *model, const double *q, const double *v, double *a) {
    lw_solver_options options;
    lw_solver *solver = NULL;
    lw_error error = {0};
    lw_solver_defaults(model, &options);
    options.method = NULL;
    options.q = q, options.v = v;
    lw_status status = lw_solver_create(model, &options, NULL, &solver, &error);
    if (status == LW_OK) status = lw_solver_accelerations(solver, 0, q, v, NULL, a, &error);
    lw_solver_destroy(solver);
    return status == LW_OK;
}

/* Where coordinate k of a joint is in the other model; false if it is nowhere. A joint that was written from
 * the child to the parent may come back with its turns in the opposite order, or as several joints,
 * NAME.x. */
static bool find_coordinate(const lw_model *to, const lw_joint_info *a, int k, int *q, int *v) {
    static const char *const words[LW_JOINT_TYPES][3] = {
        [LW_JOINT_CYLINDRICAL] = {"displacement", "angle"},
        [LW_JOINT_UNIVERSAL] = {"first", "second"},
        [LW_JOINT_PLANAR] = {"x", "y", "angle"},
        [LW_JOINT_TRANSLATION] = {"first", "second", "third"},
        [LW_JOINT_SCREW] = {"angle"},
        [LW_JOINT_FREE] = {"x", "y", "z"}};
    int there = lw_model_joint(to, a->name);
    if (there >= 0) {
        const lw_joint_info b = lw_model_joint_info(to, there);
        const int other = a->reversed && a->type == LW_JOINT_UNIVERSAL ? 1 - k : k;
        if (b.type == a->type && !b.cut) {
            *q = b.q + other, *v = b.v + other;
            return true;
        }
    }
    char name[200];
    if (k > 2 || !words[a->type][k]) return false;
    snprintf(name, sizeof name, "%s.%s", a->name, words[a->type][k]);
    there = lw_model_joint(to, name);
    if (there < 0) return false;
    const lw_joint_info b = lw_model_joint_info(to, there);
    *q = b.q, *v = b.v;
    return !b.cut;
}

/* Copies the coordinates and speeds of joints to those of the same names; false if the other model has other
 * joints: a ball that was written from the child to the parent, a screw as slide and hinge. */
static bool transfer(const lw_model *from, const lw_model *to, const double *q, const double *v, double *q2,
                     double *v2) {
    lw_model_initial_state(to, q2, v2);
    for (int j = 0; j < lw_model_joint_count(from); j++) {
        const lw_joint_info a = lw_model_joint_info(from, j);
        if (a.cut || a.v_count == 0) continue;
        if (a.type == LW_JOINT_SPHERICAL || a.type == LW_JOINT_FREE) {
            const int there = lw_model_joint(to, a.name);
            if (there < 0) return false;
            const lw_joint_info b = lw_model_joint_info(to, there);
            if (b.type != a.type || b.cut || a.reversed) return false;
            if (q) memcpy(q2 + b.q, q + a.q, (size_t)a.q_count * sizeof *q);
            memcpy(v2 + b.v, v + a.v, (size_t)a.v_count * sizeof *v);
            continue;
        }
        for (int k = 0; k < a.v_count; k++) {
            int there, speed;
            if (!find_coordinate(to, &a, k, &there, &speed)) return false;
            if (q) q2[there] = q[a.q + k];
            v2[speed] = v[a.v + k];
        }
    }
    return true;
}

/* Compares accelerations; false if the states cannot be carried over. */
static bool same_motion(const char *name, const lw_model *model, const lw_model *again, const double *q,
                        const double *v, double tolerance) {
    static double q2[MOST], v2[MOST], a[MOST], b[MOST], a2[MOST], unused[MOST];
    double worst = 0, largest = 0;
    if (lw_model_v_size(model) != lw_model_v_size(again) || lw_model_q_size(model) > MOST) return false;
    if (!transfer(model, again, q, v, q2, v2)) return false;
    if (!accelerations(model, q, v, a)) return false;
    if (!accelerations(again, q2, v2, b)) fail_msg("%s: the import has no accelerations", name);
    assert_true(transfer(model, again, NULL, a, unused, a2));
    for (int k = 0; k < lw_model_v_size(model); k++) {
        largest = fmax(largest, fabs(a2[k]));
        worst = fmax(worst, fabs(a2[k] - b[k]));
    }
    if (!(worst <= tolerance * largest))
        fail_msg("%s: accelerations differ by %g of %g", name, worst, largest);
    return true;
}

static void test_problems(void **state) {
    (void)state;
    static double q[MOST], v[MOST], q2[MOST], v2[MOST], q3[MOST], v3[MOST];
    int compared = 0, loops = 0;
    glob_t found;
    assert_int_equal(glob(LW_SOURCE_DIR "/problems/*/model.yaml", 0, NULL, &found), 0);
    for (size_t k = 0; k < found.gl_pathc; k++) {
        const char *path = found.gl_pathv[k];
        lw_report *report = lw_report_create();
        lw_spec *spec = NULL;
        lw_model *model = NULL;
        assert_int_equal(lw_read_model(path, NULL, 0, report, &spec), LW_OK);
        assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
        lw_model_initial_state(model, q, v);
        const bool assembled = lw_assemble(model, 0, q, v, NULL, NULL) == LW_OK;
        for (int urdf = 0; urdf < 2; urdf++) {
            lw_model *again = back(spec, urdf, urdf ? NULL : "initial");
            if (!again) continue;
            /* A keyframe brings the initial state back, loops closed, to the last bit where joints are the
             * same. */
            if (!urdf && assembled && transfer(model, again, q, v, q3, v3)) {
                lw_model_initial_state(again, q2, v2);
                assert_true(relative_difference(q2, q3, lw_model_q_size(again)) < 1e-15);
                assert_true(relative_difference(v2, v3, lw_model_v_size(again)) < 1e-15);
            }
            const bool closed = lw_model_loop_count(model) > 0 || lw_model_constraint_count(model) > 0;
            if (assembled && same_motion(path, model, again, q, v, 1e-12)) compared++, loops += closed;
            lw_model_destroy(again);
        }
        lw_report_destroy(report);
        lw_model_destroy(model);
        lw_spec_destroy(spec);
    }
    globfree(&found);
    print_message("%d exports compared, %d of them with loops\n", compared, loops);
    assert_true(compared >= 40 && loops >= 12);
}

static void test_random_trees(void **state) {
    (void)state;
    static double q[MOST], v[MOST];
    int compared[2] = {0, 0};
    for (int seed = 1; seed <= 200; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        random_tree options = {.bodies = 1 + random_below(&random, 12),
                               .reversed = seed % 2 == 0,
                               .aligned = seed % 3 == 0,
                               .joint = seed % 4 == 0 ? -1 : (int)(seed % LW_JOINT_TYPES)};
        lw_spec *spec = random_tree_spec(&random, &options);
        lw_model *model = NULL;
        if (seed % 5 != 0) lw_spec_set_gravity(spec, (const double[]){0, 0, -9.81}); /* URDF knows no other */
        assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
        char name[32];
        snprintf(name, sizeof name, "seed %d", seed);
        for (int urdf = 0; urdf < 2; urdf++) {
            lw_model *again = back(spec, urdf, NULL);
            random_state(&random, model, q, v);
            if (again && same_motion(name, model, again, q, v, 1e-12)) compared[urdf]++;
            lw_model_destroy(again);
        }
        lw_model_destroy(model);
        lw_spec_destroy(spec);
    }
    print_message("random trees compared: %d by MJCF, %d by URDF\n", compared[0], compared[1]);
    assert_true(compared[0] >= 100 && compared[1] >= 30);
}

/* A screw without lead is a hinge; a spring between two things that nothing moves has no effect. */
static void test_special(void **state) {
    (void)state;
    static const char text[] =
        "linkwork: 1\nname: special\ngravity: [0, 0, -9.81]\n"
        "bodies: {post: {mass: 1, inertia: [1, 1, 1]}, a: {mass: 1, inertia: [0.1, 0.2, 0.3], com: [0.1, 0, "
        "0]},\n"
        "  b: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0.1, 0, 0]}}\n"
        "joints:\n"
        "  w: {type: weld, between: [ground, post], first: {point: [0, 0, 1]}, second: {point: [0, 0, "
        "0.1]}}\n"
        "  s: {type: screw, between: [post, a], first: {point: [0.2, 0, 0], axis: [0, 1, 0]},\n"
        "    second: {point: [0, 0, 0], axis: [0, 1, 0]}, lead: 0}\n"
        "  r: {type: revolute, between: [a, b], first: {point: [0.2, 0, 0], axis: [0, 1, 1]},\n"
        "    second: {point: [0, 0, 0], axis: [0, 1, 1]}}\n";
    static const char *const springs[] = {
        "forces: {sp: {type: spring, between: [ground, post], first: [0, 0, 3], second: [0, 0, 0], "
        "stiffness: 9},\n"
        "  sb: {type: spring, between: [post, b], first: [0, 0, 1], second: [0.1, 0, 0], stiffness: 99}}\n",
        ""};
    for (int urdf = 0; urdf < 2; urdf++) {
        char whole[2000];
        lw_spec *spec = NULL;
        lw_model *model = NULL;
        const double q[2] = {0.3, -0.4}, v[2] = {1, 2};
        double a[2], b[2];
        snprintf(whole, sizeof whole, "%s%s", text, springs[urdf]);
        lw_report *report = lw_report_create();
        lw_status status = lw_read_model_text(whole, strlen(whole), "text", NULL, 0, report, &spec);
        if (status == LW_OK) status = lw_model_compile(spec, NULL, report, &model);
        show(report);
        assert_int_equal(status, LW_OK);
        lw_model *again = back(spec, urdf, NULL);
        assert_non_null(again);
        assert_int_equal(lw_model_v_size(model), 2);
        assert_int_equal(lw_model_v_size(again), 2);
        assert_true(lw_model_joint(again, "s") >= 0 && lw_model_joint(again, "r") >= 0);
        assert_true(accelerations(model, q, v, a) && accelerations(again, q, v, b));
        for (int k = 0; k < 2; k++) assert_true(fabs(a[k] - b[k]) <= 1e-12 * (fabs(a[0]) + fabs(a[1])));
        lw_model_destroy(again);
        lw_model_destroy(model);
        lw_spec_destroy(spec);
        lw_report_destroy(report);
    }
}

static void test_arguments(void **state) {
    (void)state;
    lw_error error = {0};
    lw_spec *spec = lw_spec_create("empty");
    assert_int_equal(lw_export_mjcf(NULL, "x.xml", NULL, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_export_urdf(NULL, "x.urdf", NULL, &error), LW_ERROR_ARGUMENT);
    assert_int_not_equal(lw_export_mjcf(spec, "no/such/folder/x.xml", NULL, &error), LW_OK);
    lw_spec_destroy(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problems),
        cmocka_unit_test(test_random_trees),
        cmocka_unit_test(test_special),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

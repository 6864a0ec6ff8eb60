/* test_equations.c - imported mechanisms move as those that are written by hand: accelerations at random
 * states, joint by joint, for every type of joint and every way in which loops are said.
 *
 * Tolerance: both are the same equations with geometry that was rounded in another order; 1e-12 of the
 * largest acceleration is some thousand times that rounding.
 */
#include "random_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER LW_SOURCE_DIR "/tests/import/"

static void show(const lw_report *report) {
    for (size_t k = 0; k < lw_report_size(report); k++) {
        char text[2048];
        lw_error_format(lw_report_get(report, k), text, sizeof text);
        print_message("%s\n", text);
    }
}

static lw_model *import_model(const char *name, const lw_import_options *options) {
    char path[512];
    snprintf(path, sizeof path, FOLDER "%s", name);
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_status status = lw_import(path, options, report, &spec);
    if (status == LW_OK) status = lw_model_compile(spec, NULL, report, &model);
    if (status != LW_OK) show(report);
    assert_int_equal(status, LW_OK);
    lw_report_destroy(report);
    lw_spec_destroy(spec);
    return model;
}

/* A spec as a model file, and that read again. */
static lw_model *written_model(const char *name, const lw_import_options *options) {
    char path[512], out[] = "import_written.yaml";
    snprintf(path, sizeof path, FOLDER "%s", name);
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_error error = {0};
    assert_int_equal(lw_import(path, options, report, &spec), LW_OK);
    const lw_status written = lw_write_model(spec, out, &error);
    if (written != LW_OK) print_message("%s: %s\n", error.object, error.message);
    assert_int_equal(written, LW_OK);
    lw_spec_destroy(spec);
    spec = NULL;
    lw_status status = lw_read_model(out, NULL, 0, report, &spec);
    if (status == LW_OK) status = lw_model_compile(spec, NULL, report, &model);
    if (status != LW_OK) show(report);
    assert_int_equal(status, LW_OK);
    assert_int_equal(remove(out), 0);
    lw_report_destroy(report);
    lw_spec_destroy(spec);
    return model;
}

static void accelerations(const lw_model *model, const double *q, const double *v, double *a) {
    lw_solver_options options;
    lw_solver *solver = NULL;
    lw_error error = {0};
    lw_solver_defaults(model, &options);
    lw_status status = lw_solver_create(model, &options, NULL, &solver, &error);
    if (status == LW_OK) status = lw_solver_accelerations(solver, 0, q, v, NULL, a, &error);
    if (status != LW_OK) print_message("%s: %s; %s\n", error.object, error.message, error.remedy);
    assert_int_equal(status, LW_OK);
    lw_solver_destroy(solver);
}

enum { MOST = 128 };

/* Joints of one model have the coordinates of those with the same names in the other. */
static void same_motion(const lw_model *model, const lw_model *by_hand, int seed) {
    double q[2][MOST], v[2][MOST], a[2][MOST], largest = 0, worst = 0;
    assert_int_equal(lw_model_v_size(model), lw_model_v_size(by_hand));
    assert_true(lw_model_q_size(model) <= MOST && lw_model_q_size(by_hand) <= MOST);
    lw_random random = random_seed((uint64_t)seed);
    lw_model_initial_state(by_hand, q[1], v[1]);
    lw_model_initial_state(model, q[0], v[0]);
    for (int k = 0; k < lw_model_v_size(by_hand); k++) v[1][k] = 0.3 * (2 * random_unit(&random) - 1);
    assert_int_equal(lw_integrate_q(by_hand, q[1], v[1], 1), LW_OK);
    for (int k = 0; k < lw_model_v_size(by_hand); k++) v[1][k] = 2 * random_unit(&random) - 1;
    assert_int_equal(lw_assemble(by_hand, 0, q[1], v[1], NULL, NULL), LW_OK);
    double start[2][MOST], rest[MOST];
    lw_model_initial_state(by_hand, start[1], rest);
    lw_model_initial_state(model, start[0], rest);
    int mapped = 0;
    for (int j = 0; j < lw_model_joint_count(by_hand); j++) {
        const lw_joint_info from = lw_model_joint_info(by_hand, j);
        if (from.cut || from.v_count == 0) continue;
        const int there = lw_model_joint(model, from.name);
        if (there < 0) print_message("joint %s is not there\n", from.name);
        assert_true(there >= 0);
        const lw_joint_info to = lw_model_joint_info(model, there);
        assert_false(to.cut);
        assert_int_equal(to.type, from.type);
        memcpy(q[0] + to.q, q[1] + from.q, (size_t)from.q_count * sizeof(double));
        memcpy(v[0] + to.v, v[1] + from.v, (size_t)from.v_count * sizeof(double));
        mapped += from.v_count;
        /* Both begin in the drawn configuration. */
        for (int k = 0; k < from.q_count; k++)
            assert_true(fabs(start[0][to.q + k] - start[1][from.q + k]) < 1e-14);
    }
    assert_int_equal(mapped, lw_model_v_size(model));
    accelerations(model, q[0], v[0], a[0]);
    accelerations(by_hand, q[1], v[1], a[1]);
    for (int j = 0; j < lw_model_joint_count(by_hand); j++) {
        const lw_joint_info from = lw_model_joint_info(by_hand, j);
        if (from.cut || from.v_count == 0) continue;
        const lw_joint_info to = lw_model_joint_info(model, lw_model_joint(model, from.name));
        for (int k = 0; k < from.v_count; k++) {
            largest = fmax(largest, fabs(a[1][from.v + k]));
            worst = fmax(worst, fabs(a[1][from.v + k] - a[0][to.v + k]));
        }
    }
    if (!(worst <= 1e-12 * largest)) fail_msg("accelerations differ by %g of %g", worst, largest);
}

static void compare(const char *name, const lw_import_options *options, const char *by_hand) {
    lw_model *reference = import_model(by_hand, NULL), *model = import_model(name, options),
             *again = written_model(name, options);
    for (int seed = 1; seed <= 10; seed++) {
        same_motion(model, reference, seed);
        same_motion(again, reference, seed);
    }
    lw_model_destroy(reference);
    lw_model_destroy(model);
    lw_model_destroy(again);
}

static void test_urdf_tree(void **state) {
    (void)state;
    lw_import_options keep;
    lw_import_defaults(&keep);
    keep.keep_fixed = true;
    compare("tree.urdf", NULL, "tree.yaml");
    compare("tree.urdf", &keep, "tree.yaml");
    compare("measured.urdf", NULL, "measured.yaml");
}

static void test_urdf_loops(void **state) {
    (void)state;
    static const char *const files[] = {"loop_second_parent.urdf", "loop_urdf_plus.urdf",
                                        "loop_constraint.urdf", "loop_drake.urdf", "loop_3d.urdf"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        print_message("%s\n", files[k]);
        compare(files[k], NULL, "four_bar.yaml");
    }
}

/* A weld beside a hinge: as one revolute closure it is the linkage itself, as written it has a body more. */
static void test_weld_beside_hinge(void **state) {
    (void)state;
    lw_import_options joints;
    lw_import_defaults(&joints);
    joints.loops = LW_LOOPS_JOINTS;
    compare("loop_6d.urdf", &joints, "four_bar.yaml");
    lw_model *whole = import_model("loop_6d.urdf", NULL), *one = import_model("loop_6d.urdf", &joints);
    assert_int_equal(lw_model_loop_count(whole), 1);
    assert_int_equal(lw_model_loop_count(one), 1);
    assert_int_equal(lw_model_joint_info(one, lw_model_loop_cut(one, 0)).rows, 5);
    assert_int_equal(lw_model_input_count(one), 1);
    assert_string_equal(lw_model_input_name(one, 0), "crank_pin_torque");
    lw_model_destroy(whole);
    lw_model_destroy(one);
}

static void test_sdf(void **state) {
    (void)state;
    compare("sdf_tree.sdf", NULL, "sdf_tree.yaml");
    compare("loop_native.sdf", NULL, "four_bar_98.yaml");
    compare("loop_old.sdf", NULL, "four_bar_98.yaml");
    compare("include.sdf", NULL, "four_bar_98.yaml");
}

/* Assemblies of CAD: by joints, with a part of an assembly, in millimetres and grams; by mates. */
static void test_simscape(void **state) {
    (void)state;
    compare("simscape/joints.xml", NULL, "simscape/joints.yaml");
    compare("simscape/mates.xml", NULL, "simscape/mates.yaml");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urdf_tree),         cmocka_unit_test(test_urdf_loops),
        cmocka_unit_test(test_weld_beside_hinge), cmocka_unit_test(test_sdf),
        cmocka_unit_test(test_simscape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

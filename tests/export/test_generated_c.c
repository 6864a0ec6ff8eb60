/* test_generated_c.c - generated C computes what the library computes.
 *
 * NAME_test.c has the library's figures and compares with 1e-12; here it is written for the trees among
 * problems/ and for random trees with every joint, every force element, prescribed motions, user states and
 * joints written backwards, compiled by each compiler that there is, without and with optimisation, under the
 * warnings that docs/generated-c.md promises to be silent, and run. LINKWORK_LONG=1: 300 random trees, with
 * sanitizers, and all problems.
 */
#define _POSIX_C_SOURCE 200809L
#include "problems.h"
#include "random_loops.h"
#include "random_model.h"
#include "model/compiled_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static bool is_long;

static bool have(const char *compiler) {
    char command[128];
    snprintf(command, sizeof command, "command -v %s > /dev/null 2>&1", compiler);
    return system(command) == 0;
}

static void compile_and_run(const char *compiler, const char *flags, const char *what) {
    char command[1024];
    snprintf(command, sizeof command,
             "cd %s && %s -std=c99 -Wall -Wextra -Wconversion -Wdouble-promotion -Wvla -pedantic -Werror %s "
             "m.c m_test.c -lm -o m",
             folder, compiler, flags);
    if (system(command) != 0) fail_msg("%s: %s %s does not compile it in silence", what, compiler, flags);
    snprintf(command, sizeof command, "%s/m", folder);
    const int result = system(command);
    if (result != 0) fail_msg("%s: %s %s: figures differ (status %d)", what, compiler, flags, result);
}

static bool has_loops(const lw_model *model) {
    for (int j = 0; j < lw_model_joint_count(model); j++)
        if (lw_model_joint_info(model, j).cut) return true;
    return model->constraint_count > 0;
}

/* Generates C of a model and tests it. Returns false if the model is refused with this reason. */
static bool agrees_driven(const lw_model *model, const char *what, bool single, const char *flags,
                          const char *const *driven, int driven_count) {
    const lw_code_options options = {.driven = driven,
                                     .driven_count = driven_count,
                                     .forward = true,
                                     .inverse = true,
                                     .mass_matrix = true,
                                     .kinematics = true,
                                     .step = true,
                                     /* of large models it is millions of characters */
                                     .derivatives = lw_model_v_size(model) <= 20 && !has_loops(model),
                                     .single = single,
                                     .batch = single ? 0 : 4,
                                     .name = "m"};
    lw_error error = {0};
    const lw_status status = lw_export_c(model, &options, folder, NULL, &error);
    if (status == LW_ERROR_UNSUPPORTED || status == LW_ERROR_SINGULAR) return false;
    if (status == LW_ERROR_MODEL && has_loops(model)) return false; /* It cannot be assembled at t = 0. */
    if (status != LW_OK) fail_msg("%s: %s", what, error.message);
    compile_and_run("cc", flags, what);
    if (have("clang")) compile_and_run("clang", flags, what);
    if (!is_long) return true;
    compile_and_run("cc", "-O2", what);
    compile_and_run("cc", "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all", what);
    return true;
}

static bool agrees(const lw_model *model, const char *what, bool single, const char *flags) {
    return agrees_driven(model, what, single, flags, NULL, 0);
}

static void problem(const char *name, const char *flags) {
    lw_model *model = read_problem(name);
    if (!agrees(model, name, false, flags)) fail_msg("%s: refused", name);
    lw_model_destroy(model);
}

/* Models with most of what expressions can say, and each of them in float, too. */
static void test_problems(void **state) {
    (void)state;
    static const char *const names[] = {"robot_arm", "gantry", "pid_arm", "quarter_car", "cylindrical_pair"};
    static const char *const others[] = {
        "bouncing_ball",  "car",      "cart_pole",        "double_pendulum", "free_tree",  "gyro_top",
        "heavy_top_fast", "pendulum", "planar_pair",      "revolute_pair",   "six_bodies", "spherical_pair",
        "tumbling_body",  "two_arms", "heavy_top_steady", "prismatic_pair",  "walker",     "chain",
        "ladder_pendulum"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) problem(names[k], k % 2 ? "-O2" : "-O0");
    for (size_t k = 0; k < sizeof others / sizeof *others && is_long; k++) problem(others[k], "-O0");
    lw_model *model = read_problem("robot_arm");
    assert_true(agrees(model, "robot_arm in float", true, "-O1"));
    lw_model_destroy(model);
}

/* Loops: plane, in space, overconstrained, closed by a screw's angle or a wheel; elements at the joint that
 * closes; drives of some joints. */
static void test_loops(void **state) {
    (void)state;
    static const char *const names[] = {"four_bar", "bennett", "spatial_slider_crank", "blajer_four_bar"};
    static const char *const others[] = {"slider_crank",
                                         "parallelogram",
                                         "andrews_squeezer",
                                         "bicycle",
                                         "blajer_pendulum",
                                         "bricard",
                                         "double_wishbone",
                                         "hub",
                                         "ladder",
                                         "net",
                                         "sarrus",
                                         "scissor",
                                         "six_body_linkage",
                                         "stewart_platform",
                                         "suspension",
                                         "trellis",
                                         "five_bar_redundant",
                                         "v8",
                                         "n_four_bar",
                                         "crank_stop"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) problem(names[k], k % 2 ? "-O2" : "-O0");
    for (size_t k = 0; k < sizeof others / sizeof *others && is_long; k++) problem(others[k], "-O0");
    lw_model *model = read_problem("four_bar");
    const char *const crank[] = {"A"}, *const none[] = {"nothing"};
    assert_true(agrees_driven(model, "four_bar by its crank", false, "-O0", crank, 1));
    assert_true(agrees(model, "four_bar in float", true, "-O1"));
    lw_code_options options = {.forward = true, .derivatives = true, .name = "m"};
    lw_error error = {0};
    assert_int_equal(lw_export_c(model, &options, folder, NULL, &error), LW_ERROR_UNSUPPORTED);
    options = (lw_code_options){.inverse = true, .name = "m", .driven = none, .driven_count = 1};
    assert_int_equal(lw_export_c(model, &options, folder, NULL, &error), LW_ERROR_ARGUMENT);
    /* No drive moves it. */
    options.driven_count = 0;
    assert_int_equal(lw_export_c(model, &options, folder, NULL, &error), LW_ERROR_UNSUPPORTED);
    lw_model_destroy(model);
}

/* Elements at a joint that closes a loop, expressions that read it, and a drive elsewhere that follows it. */
static void test_joint_that_closes(void **state) {
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "name: joint that closes\n"
        "bodies:\n"
        "  crank: {mass: 10, shape: rod, points: [[0, 0, 0], [0, 0, 1]], radius: 0.02}\n"
        "  coupler: {mass: 20, shape: rod, points: [[0, 0, 1], [2, 0, 2]], radius: 0.02}\n"
        "  rocker: {mass: 25, shape: rod, points: [[3, 0, 0], [2, 0, 2]], radius: 0.02}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0], v: 6 rad/s}\n"
        "  B: {type: revolute, between: [crank, coupler], point: [0, 0, 1], axis: [0, 1, 0]}\n"
        "  C: {type: revolute, between: [coupler, rocker], point: [2, 0, 2], axis: [0, 1, 0], cut: true}\n"
        "  D: {type: revolute, between: [ground, rocker], point: [3, 0, 0], axis: [0, 1, 0]}\n"
        "forces:\n"
        "  t: {type: torsion, joint: C, stiffness: 3 N m/rad, damping: 0.4 N m s/rad, free: 0.2 rad}\n"
        "  f: {type: friction, joint: C, coulomb: 0.5 N m, smoothing: 0.1 rad/s}\n"
        "  d: {type: drive, joint: C, force: '(1 N m)*sin(3*C.q/(1 rad)) + (0.1 N m s/rad)*A.v'}\n"
        "  e: {type: drive, joint: D, force: '(1 N m)*cos(C.q/(1 rad)) - (0.2 N m s/rad)*C.v'}\n";
    lw_model *model = compile_or_fail(read_text_spec(text));
    assert_true(agrees(model, "joint that closes", false, "-O0"));
    lw_model_destroy(model);
    /* A screw that closes, whose angle needs revolutions, and a motion that follows a state. */
    static const char other[] =
        "linkwork: 1\n"
        "name: screw that closes\n"
        "states: {y: {start: 0.2, rate: '(cos(t/(1 s)) - y)/0.5'}}\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: [0.1, 0.2, 0.25], position: [0.5, 0, 0]}\n"
        "  b: {mass: 2, inertia: [0.3, 0.2, 0.25], position: [1, 0.5, 0]}\n"
        "  s: {mass: 0.7, inertia: [0.1, 0.1, 0.1], position: [0.5, 1, 0]}\n"
        "joints:\n"
        "  j1: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1], motion: '0.3*y + "
        "0.2*sin(3*t)'}\n"
        "  j2: {type: revolute, between: [a, b], point: [1, 0, 0], axis: [0, 0, 1]}\n"
        "  j3: {type: screw, between: [b, s], point: [1, 1, 0], axis: [1, 0, 0], lead: 0.2, cut: true}\n"
        "  j4: {type: free, between: [ground, s]}\n";
    model = compile_or_fail(read_text_spec(other));
    assert_true(agrees(model, "screw that closes", false, "-O0"));
    lw_model_destroy(model);
}

static void test_random_loops(void **state) {
    (void)state;
    const int count = is_long ? 300 : 6;
    int done = 0;
    for (int seed = 0; seed < count; seed++) {
        static random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        char what[64];
        snprintf(what, sizeof what, "random loops, seed %d", seed);
        done += agrees(model, what, false, seed % 2 ? "-O1" : "-O0");
        lw_model_destroy(model);
    }
    assert_true(done > count / 3);
}

static void test_random_trees(void **state) {
    (void)state;
    const int count = is_long ? 300 : 4;
    int done = 0;
    for (int seed = 1; seed <= count; seed++) {
        lw_random random = random_seed((uint64_t)seed + 3000);
        const random_tree options = {.bodies = 1 + random_below(&random, is_long ? 12 : 6),
                                     .forces = seed % 2 == 0,
                                     .prescribed = seed % 3 == 0,
                                     .reversed = seed % 4 != 1,
                                     .aligned = seed % 5 == 0,
                                     .joint = -1};
        lw_model *model = random_tree_model(&random, &options);
        char what[64];
        snprintf(what, sizeof what, "random tree, seed %d", seed);
        done += agrees(model, what, false, seed % 2 ? "-O1" : "-O0");
        lw_model_destroy(model);
    }
    assert_true(done > count / 2);
}

/* Tables, functions of all kinds, user states, signals, quantities of bodies, motions that follow a state. */
static void test_expressions(void **state) {
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "name: expressions\n"
        "inputs: {u: 0.3}\n"
        "states: {y: {start: 0.2, rate: '(u - y)/0.5'}}\n"
        "tables:\n"
        "  f: {x: [-1, 0, 1, 2], y: [0, 1, 0.5, 3], interpolation: smooth}\n"
        "  g: {x: [0, 0.1, 0.3], y: [0, 1, 0], beyond: repeat}\n"
        "signals: {w: 'max(y, 0.1)*tip.v/(1 rad/s) + sign(u)*body.b.z/(1 m)'}\n"
        "bodies:\n"
        "  a: {mass: 2, inertia: [1, 2, 2.5], position: [0, 0, -1]}\n"
        "  b: {mass: 1, inertia: [0.5, 0.6, 0.7], position: [0, 0.2, -2]}\n"
        "joints:\n"
        "  base: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [1, 0, 0]}\n"
        "  tip: {type: revolute, between: [a, b], point: [0, 0, -1.5], axis: [1, 2, 0]}\n"
        "forces:\n"
        "  one: {type: drive, joint: base, force: '(1 N m)*(f(base.q/(1 rad)) + g(t/(1 s)) + w + atan2(y, 2) "
        "+ if(t > 0.3 s and u > 0, exp(-t/(1 s)), 2))'}\n"
        "  two: {type: drive, joint: tip, force: '(1 N m)*(step(t, 0, 0, 1, 2) + mod(t/(1 s), 0.2) + "
        "hypot(u, base.v/(1 rad/s)) + min(base.q, abs(tip.q))/(1 rad) + ramp(tip.v/(1 rad/s))^1.5 + "
        "body.b.rx/(1 rad) + body.b.qw + tanh(floor(3*t/(1 s)) + cbrt(y)))'}\n";
    lw_model *model = compile_or_fail(read_text_spec(text));
    assert_true(agrees(model, "expressions", false, "-O0"));
    lw_model_destroy(model);
}

static void test_refusals(void **state) {
    (void)state;
    lw_error error = {0};
    lw_code_options options = {.forward = true, .name = "4"};
    lw_model *model = read_problem("pendulum");
    assert_int_equal(lw_export_c(model, &options, folder, NULL, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "letter"));
    options.name = NULL;
    assert_int_equal(lw_export_c(model, &options, "/there/is/no/such/folder", NULL, &error), LW_ERROR_FILE);
    assert_int_equal(lw_export_c(NULL, NULL, folder, NULL, &error), LW_ERROR_ARGUMENT);
    lw_model_destroy(model);
}

static int set_up(void **state) {
    (void)state;
    is_long = getenv("LINKWORK_LONG") != NULL;
    strcpy(folder, "/tmp/linkwork-c-XXXXXX");
    return mkdtemp(folder) ? 0 : 1;
}

static int tear_down(void **state) {
    (void)state;
    static const char *const files[] = {"m.c", "m.h", "m_test.c", "m"};
    char path[128];
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[k]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problems),          cmocka_unit_test(test_loops),
        cmocka_unit_test(test_joint_that_closes), cmocka_unit_test(test_random_loops),
        cmocka_unit_test(test_random_trees),      cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

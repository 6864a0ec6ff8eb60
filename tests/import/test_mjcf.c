/* test_mjcf.c - what MJCF means: mechanisms in it against ones that are written by hand, against MuJoCo's own
 * figures, and published robots.
 *
 * By hand: accelerations at random states agree to 1e-12 of the largest, which is some thousand times the
 * rounding of geometry that is composed in another order. MuJoCo: tests/import/mjcf/digests.txt has states
 * and accelerations that judges/judge_mjcf.py has computed; they agree to 1e-9, the promise of docs/import.md
 * (its derivatives of Jacobians are differences). Robots: only where ../shared/robots is there.
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

#define FOLDER LW_SOURCE_DIR "/tests/import/mjcf/"
#define ROBOTS LW_SOURCE_DIR "/../shared/robots/"

enum { MOST = 400 };

static void show(const lw_report *report) {
    for (size_t k = 0; k < lw_report_size(report); k++) {
        char text[2048];
        lw_error_format(lw_report_get(report, k), text, sizeof text);
        print_message("%s\n", text);
    }
}

static lw_model *import_path(const char *path, const lw_import_options *options) {
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

static lw_model *compile_text(const char *text, bool mjcf, const lw_import_options *options) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_status status = mjcf ? lw_import_text(text, strlen(text), "text", options, report, &spec)
                            : lw_read_model_text(text, strlen(text), "text", NULL, 0, report, &spec);
    if (status == LW_OK) status = lw_model_compile(spec, NULL, report, &model);
    if (status != LW_OK) show(report);
    assert_int_equal(status, LW_OK);
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
    if (status != LW_OK) print_message("%s: %s\n", error.object, error.message);
    assert_int_equal(status, LW_OK);
    lw_solver_destroy(solver);
}

/* The joints of the first model have the coordinates of those of the same names in the second. */
static void same_motion(const char *name, const lw_model *model, const lw_model *hand, int seed) {
    double q[2][MOST], v[2][MOST], a[2][MOST], worst = 0, largest = 0;
    lw_random random = random_seed((uint64_t)seed);
    const int nv = lw_model_v_size(hand);
    assert_int_equal(lw_model_v_size(model), nv);
    lw_model_initial_state(model, q[0], v[0]);
    lw_model_initial_state(hand, q[1], v[1]);
    for (int k = 0; k < nv; k++) v[1][k] = 0.3 * (2 * random_unit(&random) - 1);
    assert_int_equal(lw_integrate_q(hand, q[1], v[1], 1), LW_OK);
    for (int k = 0; k < nv; k++) v[1][k] = 2 * random_unit(&random) - 1;
    assert_int_equal(lw_assemble(hand, 0, q[1], v[1], NULL, NULL), LW_OK);
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < lw_model_joint_count(hand); j++) {
            const lw_joint_info from = lw_model_joint_info(hand, j);
            if (from.cut || from.v_count == 0) continue;
            const int there = lw_model_joint(model, from.name);
            if (there < 0) fail_msg("%s: joint %s is not there", name, from.name);
            const lw_joint_info to = lw_model_joint_info(model, there);
            assert_int_equal(to.type, from.type);
            if (pass == 0) {
                memcpy(q[0] + to.q, q[1] + from.q, (size_t)from.q_count * sizeof(double));
                memcpy(v[0] + to.v, v[1] + from.v, (size_t)from.v_count * sizeof(double));
            }
            for (int k = 0; pass == 1 && k < from.v_count; k++) {
                largest = fmax(largest, fabs(a[1][from.v + k]));
                worst = fmax(worst, fabs(a[1][from.v + k] - a[0][to.v + k]));
            }
        }
        if (pass == 1) break;
        accelerations(model, q[0], v[0], a[0]);
        accelerations(hand, q[1], v[1], a[1]);
    }
    if (!(worst <= 1e-12 * largest)) fail_msg("%s: accelerations differ by %g of %g", name, worst, largest);
}

#define HEAD "linkwork: 1\nname: by hand\n"

static const struct {
    const char *name, *mjcf, *hand;
} pairs[] = {
    {"mass from a capsule, degrees, ref, springs, dry friction",
     "<mujoco><worldbody><body name='a' pos='0 0 1' euler='90 0 0'>"
     "<joint name='j' axis='0 0 2' ref='30' springref='40' stiffness='3' damping='0.2' frictionloss='0.1' "
     "armature='0.5' pos='0.1 0 0'/>"
     "<geom type='capsule' size='0.1 0.2' pos='0 -0.3 0' euler='90 0 0' "
     "density='500'/></body></worldbody></mujoco>",
     HEAD
     "bodies: {a: {density: 500, position: [0, 0, 1], rotation: {axis: [1, 0, 0], angle: 90 deg}, shape: "
     "{type: "
     "capsule, radius: 0.1, length: 0.4, position: [0, -0.3, 0], rotation: {axis: [1, 0, 0], angle: 90 "
     "deg}}}}\n"
     "joints: {j: {type: revolute, between: [ground, a], point: [0.1, 0, 1], axis: [0, -1, 0], zero: 30 deg, "
     "armature: 0.5}}\n"
     "forces: {s: {type: torsion, joint: j, stiffness: 3, free: 40 deg}, f: {type: friction, joint: j, "
     "viscous: "
     "0.2, coulomb: 0.1, smoothing: 0.001}}\n"},
    {"full inertia in a turned frame, a static part, gravity",
     "<mujoco><compiler angle='radian'/><option gravity='0 1 -5'/><worldbody><body name='a'>"
     "<joint name='j' type='slide' axis='0 0 1'/>"
     "<inertial mass='2' pos='0.1 0.2 0.3' fullinertia='1 2 2.5 0.1 0.2 0.3'/>"
     "<body name='b' pos='1 0 0'><inertial mass='1' pos='0 0 0' diaginertia='0.1 0.2 0.3' axisangle='0 0 1 "
     "1.5707963267948966'/><body name='c'><joint name='k' axis='0 1 0'/><inertial mass='1' pos='0 0 -1' "
     "diaginertia='0.1 0.1 0.1'/></body></body></body></worldbody></mujoco>",
     HEAD "gravity: [0, 1, -5]\n"
          "bodies: {a: {mass: 2, com: [0.1, 0.2, 0.3], inertia: [1, 2, 2.5, 0.1, 0.2, 0.3]}, b: {mass: 1, "
          "inertia: "
          "[0.2, 0.1, 0.3], position: [1, 0, 0]}, c: {mass: 1, com: [0, 0, -1], inertia: [0.1, 0.1, 0.1], "
          "position: "
          "[1, 0, 0]}}\n"
          "joints: {j: {type: prismatic, between: [ground, a], axis: [0, 0, 1]}, w: {type: weld, between: "
          "[a, b]}, k: "
          "{type: revolute, between: [b, c], point: [1, 0, 0], axis: [0, 1, 0]}}\n"},
    {"three joints that are planar, two that are universal",
     "<mujoco><compiler angle='radian'/><worldbody><body name='p' pos='0 0 1'>"
     "<joint type='slide' axis='1 0 0' name='p.x'/><joint type='slide' axis='0 0 -1' name='p.y' damping='2'/>"
     "<joint type='hinge' axis='0 1 0' pos='0.1 0 0' name='p.angle' stiffness='4'/><inertial mass='1' "
     "pos='0.2 0.1 0' "
     "diaginertia='1 2 3'/><body name='u' pos='0.5 0 0'><joint axis='1 0 0' name='a'/><joint axis='0 1 0' "
     "name='b' "
     "armature='0.2'/><inertial mass='1' pos='0.2 0.1 0' diaginertia='1 2 "
     "3'/></body></body></worldbody></mujoco>",
     HEAD "bodies: {p: {mass: 1, com: [0.2, 0.1, 0], inertia: [1, 2, 3], position: [0, 0, 1]}, u: {mass: 1, "
          "com: [0.2, "
          "0.1, 0], inertia: [1, 2, 3], position: [0.5, 0, 1]}}\n"
          "joints: {p: {type: planar, between: [ground, p], point: [0.1, 0, 1], normal: [0, 1, 0], x: [1, 0, "
          "0]}, u: "
          "{type: universal, between: [p, u], point: [0.5, 0, 1], axes: [[1, 0, 0], [0, 1, 0]], armature: "
          "[0, 0.2]}}\n"
          "forces: {d: {type: friction, joint: p, coordinate: y, viscous: 2}, s: {type: torsion, joint: p, "
          "coordinate: "
          "angle, stiffness: 4}}\n"},
    {"a servo, a motor, a tendon of two joints",
     "<mujoco><compiler angle='radian'/><worldbody><body name='a'><joint name='j' axis='0 1 0'/><inertial "
     "mass='1' "
     "pos='0 0 -1' diaginertia='1 1 1'/><body name='b' pos='0 0 -2'><joint name='k' axis='0 1 0'/><inertial "
     "mass='1' "
     "pos='0 0 -1' diaginertia='1 1 1'/></body></body></worldbody><tendon><fixed name='t' stiffness='6' "
     "damping='0.5' "
     "springlength='0.1'><joint joint='j' coef='0.5'/><joint joint='k' coef='-2'/></fixed></tendon><actuator>"
     "<position joint='j' kp='30' kv='4' forcerange='-2 2' gear='3'/><motor joint='k' "
     "gear='2'/></actuator></mujoco>",
     HEAD "inputs: {m: 0}\nbodies: {a: {mass: 1, com: [0, 0, -1], inertia: [1, 1, 1]}, b: {mass: 1, com: [0, "
          "0, -3], "
          "inertia: [1, 1, 1]}}\n"
          "joints: {j: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]}, k: {type: "
          "revolute, "
          "between: [a, b], point: [0, 0, -2], axis: [0, 1, 0]}}\n"
          "signals: {T: -6*(0.5*j.q - 2*k.q - 0.1) - 0.5*(0.5*j.v - 2*k.v)}\n"
          "forces: {p: {type: drive, joint: j, torque: 3*(0 - 90*q - 12*v), limit: 6}, m: {type: drive, "
          "joint: k, torque: "
          "2*m}, t1: {type: drive, joint: j, torque: 0.5*T}, t2: {type: drive, joint: k, torque: -2*T}}\n"},
    {"a four-bar linkage by two connects, a coupling",
     "<mujoco><compiler angle='radian'/><worldbody><body name='crank'><joint name='c' axis='0 1 "
     "0'/><inertial mass='1' "
     "pos='0 0 0.5' diaginertia='0.1 0.1 0.1'/><body name='coupler' pos='0 0 1'><joint name='d' axis='0 1 "
     "0'/><inertial "
     "mass='1' pos='1 0 0' diaginertia='0.1 0.1 0.1'/></body></body><body name='rocker' pos='2 0 0'><joint "
     "name='r' "
     "axis='0 1 0'/><inertial mass='1' pos='0 0 0.5' diaginertia='0.1 0.1 0.1'/></body><body name='g'><joint "
     "name='g' "
     "axis='1 0 0' ref='0.1'/><inertial mass='1' pos='0 0 0.5' diaginertia='0.1 0.1 "
     "0.1'/></body></worldbody><equality>"
     "<connect body1='coupler' body2='rocker' anchor='2 0.1 0'/><connect body1='coupler' body2='rocker' "
     "anchor='2 -0.1 "
     "0'/><joint joint1='g' joint2='c' polycoef='0.2 0.5 0 0 0'/></equality></mujoco>",
     HEAD
     "bodies: {crank: {mass: 1, com: [0, 0, 0.5], inertia: [0.1, 0.1, 0.1]}, coupler: {mass: 1, com: [1, 0, "
     "1], "
     "inertia: [0.1, 0.1, 0.1]}, rocker: {mass: 1, com: [2, 0, 0.5], inertia: [0.1, 0.1, 0.1]}, g: {mass: 1, "
     "com: "
     "[0, 0, 0.5], inertia: [0.1, 0.1, 0.1]}}\n"
     "joints: {c: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0]}, d: {type: "
     "revolute, between: [crank, coupler], point: [0, 0, 1], axis: [0, 1, 0]}, r: {type: revolute, between: "
     "[ground, rocker], point: [2, 0, 0], axis: [0, 1, 0]}, e: {type: revolute, between: [coupler, rocker], "
     "point: "
     "[2, 0, 1], axis: [0, 1, 0], cut: true}, g: {type: revolute, between: [ground, g], point: [0, 0, 0], "
     "axis: [1, "
     "0, 0], zero: 0.1}}\n"
     "constraints: {k: {type: coupling, terms: [{joint: g, factor: 1}, {joint: c, factor: -0.5}], offset: "
     "0.3}}\n"},
};

static void test_by_hand(void **state) {
    (void)state;
    lw_import_options joints;
    lw_import_defaults(&joints);
    joints.loops = LW_LOOPS_JOINTS;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        lw_model *hand = compile_text(pairs[k].hand, false, NULL);
        lw_model *model = compile_text(pairs[k].mjcf, true, NULL),
                 *one = compile_text(pairs[k].mjcf, true, &joints);
        for (int seed = 1; seed <= 10; seed++) {
            same_motion(pairs[k].name, model, hand, seed);
            same_motion(pairs[k].name, one, hand, seed);
        }
        /* Two connects are two loops as written, and one as a joint. */
        if (lw_model_loop_count(hand) > 0) {
            assert_int_equal(lw_model_loop_count(model), 2 * lw_model_loop_count(hand));
            assert_int_equal(lw_model_loop_count(one), lw_model_loop_count(hand));
        }
        lw_model_destroy(hand);
        lw_model_destroy(model);
        lw_model_destroy(one);
    }
}

/* --- MuJoCo's figures -------------------------------------------------------------------------------- */

/* digests.txt: "> FILE KEY NV"; then for each state lines "q ...", "v ...", "a ...", "m ..." in the order of
 * the model's coordinates; m is the diagonal of the mass matrix. */
static int read_numbers(char *line, double *out) {
    int count = 0;
    for (char *at = line + 2, *end; count < MOST; at = end) {
        const double value = strtod(at, &end);
        if (end == at) break;
        out[count++] = value;
    }
    return count;
}

static void test_digests(void **state) {
    (void)state;
    static char line[20000];
    FILE *file = fopen(FOLDER "digests.txt", "rb");
    lw_model *model = NULL;
    lw_data *data = NULL;
    static double q[MOST], v[MOST], a[MOST], m[MOST], mine[MOST], M[MOST * MOST];
    char name[200] = "", key[100] = "";
    int states = 0, files = 0, nv = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '>') {
            char path[600];
            lw_import_options options;
            lw_import_defaults(&options);
            assert_int_equal(sscanf(line, "> %199s %99s %d", name, key, &nv), 3);
            if (strcmp(key, "-") != 0) options.key = key;
            snprintf(path, sizeof path, FOLDER "%s", name);
            lw_data_destroy(data);
            lw_model_destroy(model);
            model = import_path(path, &options);
            assert_int_equal(lw_model_v_size(model), nv);
            assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
            files++;
        } else if (line[0] == 'q')
            assert_int_equal(read_numbers(line, q), lw_model_q_size(model));
        else if (line[0] == 'v')
            assert_int_equal(read_numbers(line, v), nv);
        else if (line[0] == 'a')
            assert_int_equal(read_numbers(line, a), nv);
        else if (line[0] == 'm') {
            double error = 0, size = 0;
            assert_int_equal(read_numbers(line, m), nv);
            accelerations(model, q, v, mine);
            assert_int_equal(lw_tree_mass_matrix(model, data, 0, q, M), LW_OK);
            for (int k = 0; k < nv; k++) {
                /* In the metric of the mass matrix's diagonal. */
                error += m[k] * (a[k] - mine[k]) * (a[k] - mine[k]);
                size += m[k] * a[k] * a[k];
                const double own = M[k * nv + k];
                if (!(fabs(own - m[k]) <= 1e-9 * m[k]))
                    fail_msg("%s %s: mass %d is %g, not %g", name, key, k, own, m[k]);
            }
            if (!(error <= 1e-18 * size))
                fail_msg("%s %s: accelerations differ by %g", name, key, sqrt(error / size));
            states++;
        }
    }
    fclose(file);
    lw_data_destroy(data);
    lw_model_destroy(model);
    print_message("%d states of %d files as MuJoCo has them\n", states, files);
    assert_true(files >= 12 && states >= 36);
}

/* --- robots ------------------------------------------------------------------------------------------ */

static void test_robots(void **state) {
    (void)state;
    static const struct {
        const char *path, *key;
        int bodies, loops, speeds, mobility;
    } robots[] = {{"franka_emika_panda/panda.xml", "home", 9, 0, 9, 8},
                  {"unitree_go1/go1.xml", "home", 13, 0, 18, 18},
                  {"robotiq_2f85/2f85.xml", NULL, 8, 2, 8, 3},
                  {"agility_cassie/cassie.xml", "home", 23, 4, 32, 22}};
    for (size_t k = 0; k < sizeof robots / sizeof *robots; k++) {
        char path[600];
        static double q[MOST], v[MOST];
        snprintf(path, sizeof path, ROBOTS "%s", robots[k].path);
        FILE *file = fopen(path, "rb");
        if (!file) {
            print_message("skipped: %s is not there\n", path);
            continue;
        }
        fclose(file);
        lw_import_options options;
        lw_import_defaults(&options);
        options.key = robots[k].key;
        lw_model *model = import_path(path, &options);
        assert_int_equal(lw_model_body_count(model), robots[k].bodies);
        assert_int_equal(lw_model_loop_count(model), robots[k].loops);
        assert_int_equal(lw_model_v_size(model), robots[k].speeds);
        lw_mobility *mobility = NULL;
        lw_model_initial_state(model, q, v);
        assert_int_equal(lw_assemble(model, 0, q, v, NULL, NULL), LW_OK);
        assert_int_equal(lw_mobility_create(model, 0, q, &mobility, NULL), LW_OK);
        assert_int_equal(lw_mobility_freedom(mobility), robots[k].mobility);
        lw_mobility_destroy(mobility);
        lw_run_options run;
        lw_run_defaults(model, &run);
        run.end = 0.02;
        lw_run_summary summary;
        lw_error error = {0};
        assert_int_equal(lw_simulate(model, &run, NULL, NULL, &summary, &error), LW_OK);
        lw_model_destroy(model);
    }
}

/* --- details ----------------------------------------------------------------------------------------- */

static void test_notes(void **state) {
    (void)state;
    lw_import_options options;
    lw_import_defaults(&options);
    options.notes = lw_import_notes_create();
    lw_model *model = import_path(FOLDER "hands.xml", &options);
    bool sensors = false, touch = false;
    for (size_t k = 0; k < lw_import_notes_size(options.notes); k++) {
        const lw_import_note *note = lw_import_notes_get(options.notes, k);
        sensors |= strcmp(note->kind, "sensors") == 0 && note->count == 1;
        touch |= strcmp(note->kind, "geoms that touch others") == 0 && note->count == 3;
    }
    assert_true(sensors && touch);
    /* Names live on, and bodies that nothing moves are frames of ground. */
    assert_true(lw_model_joint(model, "hinge.a-1") >= 0 && lw_model_body(model, "link/a:1") >= 0);
    assert_true(lw_model_frame(model, "mocap") >= 0);
    lw_import_notes_destroy(options.notes);
    lw_model_destroy(model);
}

/* Attributes that are not read are counted by name, wherever they stand; nothing of our own files is. */
static void test_unread(void **state) {
    (void)state;
    static const char text[] =
        "<mujoco><default><joint springyield='1'/></default><worldbody><body><joint name='j'/>"
        "<geom size='.1' surprise='2'/></body></worldbody>"
        "<actuator><motor joint='j' armature='1' delay='0.1'/></actuator></mujoco>";
    static const char *const wanted[] = {"attribute springyield of <joint>", "attribute surprise of <geom>",
                                         "attribute armature of <motor>", "attribute delay of <motor>"};
    static const char *const files[] = {"actuators", "bounds", "classes", "compound", "hands",
                                        "loops",     "meshes", "paths",   "passive",  "shapes"};
    lw_import_options options;
    lw_import_defaults(&options);
    options.notes = lw_import_notes_create();
    lw_model_destroy(compile_text(text, true, &options));
    int found = 0;
    for (size_t k = 0; k < lw_import_notes_size(options.notes); k++)
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
            found += strcmp(lw_import_notes_get(options.notes, k)->kind, wanted[i]) == 0;
    assert_int_equal(found, (int)(sizeof wanted / sizeof *wanted));
    lw_import_notes_destroy(options.notes);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[600];
        snprintf(path, sizeof path, FOLDER "%s.xml", files[i]);
        options.notes = lw_import_notes_create();
        lw_model_destroy(import_path(path, &options));
        for (size_t k = 0; k < lw_import_notes_size(options.notes); k++)
            assert_null(strstr(lw_import_notes_get(options.notes, k)->kind, "attribute "));
        lw_import_notes_destroy(options.notes);
    }
}

static void test_keys(void **state) {
    (void)state;
    double q[MOST], v[MOST];
    lw_import_options options;
    lw_import_defaults(&options);
    options.key = "thrown";
    lw_model *model = import_path(FOLDER "shapes.xml", &options);
    const lw_joint_info free = lw_model_joint_info(model, lw_model_joint(model, "float"));
    lw_model_initial_state(model, q, v);
    assert_true(q[free.q] == 1 && q[free.q + 2] == 3 && q[free.q + 3] == 0.5 && v[free.v + 5] == 0.3);
    lw_model_destroy(model);
    /* Aligned free joints have other coordinates in MuJoCo; activations must be complete. */
    static const char *const refused[2][2] = {
        {"<mujoco><worldbody><body><freejoint align='true'/><geom size='.1' pos='1 0 0'/></body></worldbody>"
         "<keyframe><key name='k' qpos='0 0 1 1 0 0 0'/></keyframe></mujoco>",
         "aligned"},
        {"<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody><actuator><general "
         "joint='j' dyntype='filter'/></actuator><keyframe><key name='k' act='1 2'/></keyframe></mujoco>",
         "act has 2 numbers, not 1"}};
    for (int k = 0; k < 2; k++) {
        lw_report *faults = lw_report_create();
        lw_spec *none = NULL;
        options.key = "k";
        assert_int_equal(
            lw_import_text(refused[k][0], strlen(refused[k][0]), "text", &options, faults, &none),
            LW_ERROR_MODEL);
        assert_non_null(strstr(lw_report_get(faults, 0)->message, refused[k][1]));
        lw_report_destroy(faults);
    }
    options.key = "throwm";
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    assert_int_not_equal(lw_import(FOLDER "shapes.xml", &options, report, &spec), LW_OK);
    assert_null(spec);
    assert_non_null(strstr(lw_report_get(report, 0)->remedy, "thrown"));
    lw_report_destroy(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_digests), cmocka_unit_test(test_robots),
        cmocka_unit_test(test_notes),   cmocka_unit_test(test_unread),  cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_frames.c - frames on bodies, and named starts.
 *
 * A frame is compared with a body without mass that is welded to the body at the same pose, in the same
 * places of the same model: both models have the same coordinates, accelerations and reactions. The
 * tolerance, 1e-10 of the largest value, is some thousand times the rounding of these small mechanisms.
 */
#include "build.h"

#include <linkwork/simulation.h>
#include <linkwork/solver.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16000, MOST_JOINTS = 40 };

/* --- two ways to write a model -------------------------------------------------------------------- */

static const struct frame {
    const char *name, *body, *position, *axis, *angle;
} frames[] = {
    {"ground1", "ground", "[0.1, -0.2, 0.3]", "[1, 2, 3]", "0.7"},
    {"a1", "a", "[0.3, 0.1, 0]", "[0, 1, 1]", "-0.4"},
    {"a2", "a", "[-0.5, 0.2, 0.4]", "[1, 0, 1]", "1.1"},
    {"b1", "b", "[0, 0.2, 0.1]", "[3, 1, 0]", "2"},
    {"b2", "b", "[0.2, 0, 0]", "[1, 1, 1]", "0.3"},
    {"c1", "c", "[0, 0, 0.4]", "[0, 0, 1]", "0.9"},
    {"c2", "c", "[0.1, 0.1, 0]", "[1, -1, 0]", "-2"},
    {"d1", "d", "[0.2, 0.1, 0]", "[1, 0, 2]", "0.5"},
    {"e1", "e", "[0, 0.3, 0]", "[0, 2, 1]", "0.6"},
    {"f1", "f", "[0.3, 0, 0]", "[2, 1, 1]", "1.4"},
    {"g1", "g", "[0, 0, -0.3]", "[1, 1, 0]", "-0.8"},
};
enum { FRAMES = sizeof frames / sizeof *frames };

/* Adds text in which, of [x|y], x stands if frames are frames, and y if they are bodies. */
static void add(char *model, const char *text, bool as_frames) {
    char *at = model + strlen(model);
    assert_true((size_t)(at - model) + strlen(text) < MOST);
    for (; *text; text++) {
        if (*text != '<') {
            *at++ = *text;
            continue;
        }
        const char *middle = strchr(text, '|'), *end = strchr(text, '>');
        const char *from = as_frames ? text + 1 : middle + 1, *to = as_frames ? middle : end;
        memcpy(at, from, (size_t)(to - from));
        at += to - from;
        text = end;
    }
    *at = '\0';
}

/* Columns of the rotation about an axis, by Rodrigues' formula. */
static void column(const char *axis, double angle, int k, double out[3]) {
    double n[3], e[3] = {k == 0, k == 1, k == 2};
    assert_int_equal(sscanf(axis, "[%lf, %lf, %lf]", &n[0], &n[1], &n[2]), 3);
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3; i++) n[i] /= length;
    const double along = n[0] * e[0] + n[1] * e[1] + n[2] * e[2];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        out[i] =
            e[i] * cos(angle) + (n[j] * e[l] - n[l] * e[j]) * sin(angle) + n[i] * along * (1 - cos(angle));
    }
}

static void add_bodies(char *model, bool as_frames) {
    char line[600];
    add(model,
        "linkwork: 1\nbodies:\n"
        "  a: &solid {mass: 1, inertia: [0.3, 0.4, 0.5, 0.01, 0.02, 0.03], com: [0.1, 0.2, -0.1]}\n"
        "  b: *solid\n  c: *solid\n  d: *solid\n  e: *solid\n  f: *solid\n  g: *solid\n",
        as_frames);
    for (int k = 0; k < FRAMES && !as_frames; k++) {
        snprintf(line, sizeof line, "  %s: {mass: 0, shape: none}\n", frames[k].name);
        add(model, line, as_frames);
    }
    if (as_frames) add(model, "frames:\n", as_frames);
    for (int k = 0; k < FRAMES && as_frames; k++) {
        const struct frame *f = &frames[k];
        snprintf(line, sizeof line, "  %s: {body: %s, position: %s, rotation: {axis: %s, angle: %s}}\n",
                 f->name, f->body, f->position, f->axis, f->angle);
        add(model, line, as_frames);
    }
    add(model, "joints:\n", as_frames);
    for (int k = 0; k < FRAMES && !as_frames; k++) {
        const struct frame *f = &frames[k];
        double x[3], z[3];
        column(f->axis, atof(f->angle), 0, x);
        column(f->axis, atof(f->angle), 2, z);
        snprintf(
            line, sizeof line,
            "  weld_%s: {type: weld, between: [%s, %s], first: {point: %s, axis: [%.17g, %.17g, %.17g], x: "
            "[%.17g, %.17g, %.17g]}, second: {point: [0, 0, 0], axis: [0, 0, 1], x: [1, 0, 0]}}\n",
            f->name, f->body, f->name, f->position, z[0], z[1], z[2], x[0], x[1], x[2]);
        add(model, line, as_frames);
    }
}

/* Joints of all types between frames, and force elements. */
static const char elements[] =
    "  j1: {type: revolute, between: [ground1, a1], first: {<|point: [0, 0, 0], >axis: [0, 1, 0], x: [1, 0, "
    "0]}, "
    "second: {<|point: [0, 0, 0], >axis: [0, 0, 1], x: [0, 1, 0]}, q: 0.3, v: 1.2}\n"
    "  j2: {type: translation, between: [a2, b1], first: {<|point: [0, 0, 0], >axes: [[1, 0, 0], [0, 1, "
    "1]]}, "
    "second: {<|point: [0, 0, 0]>}, q: [0.1, -0.2], v: [0.5, 0.4]}\n"
    "  j3: {type: spherical, between: [b2, c1], first: {<|point: [0, 0, 0]>}, second: {<|point: [0, 0, 0]>}, "
    "q: "
    "[0.8, 0, 0.6, 0], v: [1, 2, 3]}\n"
    "  j4: {type: universal, between: [c2, d1], first: {point: [0.1, 0, 0], axes: [[1, 0, 0], [0, 1, 0]]}, "
    "second: {<|point: [0, 0, 0], >axes: [[0, 1, 0], [0, 0, 1]]}, q: [0.2, 0.5], v: [-1, 0.3]}\n"
    "  j5: {type: planar, between: [a2, e1], first: {<|point: [0, 0, 0], >normal: [0, 1, 0], x: [0, 0, 1]}, "
    "second: "
    "{<|point: [0, 0, 0], >normal: [0, 0, 1], x: [1, 0, 0]}, q: [0.1, 0.2, 0.3], v: [0.4, 0.5, 0.6]}\n"
    "  j6: {type: screw, lead: 0.1, between: [f1, b2], first: {<|point: [0, 0, 0], >axis: [1, 0, 0], x: [0, "
    "1, 0]}, "
    "second: {<|point: [0, 0, 0], >axis: [0, 1, 0], x: [0, 0, 1]}, q: 0.7, v: -2}\n"
    "  j7: {type: free, between: [a1, g1], first: {<|point: [0, 0, 0]>}, second: {<|point: [0, 0, 0]>}, q: "
    "[0.1, "
    "0.2, 0.3, 0.6, 0, 0, 0.8], v: [1, 0, 0, 0, 1, 0]}\n"
    "forces:\n"
    "  s1: {type: spring, between: [ground1, b2], <|first: [0, 0, 0], second: [0, 0, 0], >stiffness: 30, "
    "damping: 2, "
    "length: 0.4}\n"
    "  s2: {type: spring, between: [c1, e], <|first: [0, 0, 0], >second: [0.1, 0, 0], stiffness: 20, length: "
    "0.2}\n"
    "  b1: {type: bushing, between: [d1, g1], <|first: [0, 0, 0], second: [0, 0, 0], >rotation: {axis: [1, "
    "0, 0], "
    "angle: 0.3}, stiffness: [1, 2, 3, 4, 5, 6], damping: [0.1, 0.2, 0.3, 0.1, 0.1, 0.1]}\n"
    "  p1: {type: applied, body: f1, against: a2, <|point: [0, 0, 0], frame: body, >force: [1, 2, 3], "
    "torque: [0.1, "
    "0.2, 0.3], axes: body}\n"
    "  p2: {type: applied, body: e1, <|point: [0, 0, 0], frame: body, >force: [0, 5, 0]}\n";

static lw_model *read_model(const char *text, lw_spec **kept) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    if (lw_read_model_text(text, strlen(text), "text", NULL, 0, report, &spec) != LW_OK ||
        lw_model_compile(spec, NULL, report, &model) != LW_OK) {
        show_report(report);
        fail_msg("%s", text);
    }
    lw_report_destroy(report);
    if (kept)
        *kept = spec;
    else
        lw_spec_destroy(spec);
    return model;
}

/* --- states --------------------------------------------------------------------------------------- */

typedef struct answer {
    double q[100], v[100], vdot[100], reactions[6 * MOST_JOINTS];
} answer;

static void solve(const lw_model *model, answer *a) {
    lw_error error = {0};
    lw_solver_options options;
    lw_solver *solver = NULL;
    lw_solver_defaults(model, &options);
    if (lw_solver_create(model, &options, NULL, &solver, &error) != LW_OK ||
        lw_solver_accelerations(solver, 0, a->q, a->v, NULL, a->vdot, &error) != LW_OK ||
        lw_solver_reactions(solver, a->reactions, NULL, &error) != LW_OK)
        fail_msg("%s; %s", error.message, error.remedy);
    lw_solver_destroy(solver);
}

static void same(const char *what, const double *a, const double *b, int count) {
    double scale = 1;
    for (int k = 0; k < count; k++) scale = fmax(scale, fabs(a[k]));
    for (int k = 0; k < count; k++)
        if (!(fabs(a[k] - b[k]) <= 1e-10 * scale))
            fail_msg("%s, entry %d: %.17g, not %.17g", what, k, a[k], b[k]);
}

/* The joints of one have the states, accelerations and reactions that those of the same name in the other
 * have. */
static void agree(const lw_model *one, const lw_model *two) {
    answer a, b;
    lw_error error = {0};
    const int joints = lw_model_joint_count(one);
    assert_true(lw_model_q_size(one) <= 100 && lw_model_q_size(two) <= 100);
    assert_true(joints <= MOST_JOINTS && lw_model_joint_count(two) <= MOST_JOINTS);
    lw_model_initial_state(one, a.q, a.v);
    lw_model_initial_state(two, b.q, b.v);
    for (int j = 0; j < joints; j++) {
        const lw_joint_info i = lw_model_joint_info(one, j);
        const lw_joint_info k = lw_model_joint_info(two, lw_model_joint(two, i.name));
        same(i.name, a.q + i.q, b.q + k.q, i.q_count);
        same(i.name, a.v + i.v, b.v + k.v, i.v_count);
    }
    /* Both take the state to which one is assembled: where constraints leave a choice, iterations end a
     * little apart. */
    assert_int_equal(lw_assemble(one, 0, a.q, a.v, NULL, &error), LW_OK);
    for (int j = 0; j < joints; j++) {
        const lw_joint_info i = lw_model_joint_info(one, j);
        const lw_joint_info k = lw_model_joint_info(two, lw_model_joint(two, i.name));
        memcpy(b.q + k.q, a.q + i.q, (size_t)i.q_count * sizeof(double));
        memcpy(b.v + k.v, a.v + i.v, (size_t)i.v_count * sizeof(double));
    }
    solve(one, &a);
    solve(two, &b);
    int compared = 0;
    for (int j = 0; j < lw_model_joint_count(one); j++) {
        const lw_joint_info i = lw_model_joint_info(one, j);
        const int other = lw_model_joint(two, i.name);
        if (other < 0) continue;
        const lw_joint_info k = lw_model_joint_info(two, other);
        compared++;
        same(i.name, a.reactions + 6 * j, b.reactions + 6 * other, 6);
        if (i.cut || k.cut) continue;
        same(i.name, a.vdot + i.v, b.vdot + k.v, i.v_count);
    }
    assert_true(compared > 0);
}

/* --- tests ---------------------------------------------------------------------------------------- */

static void frames_are_welded_bodies(void **state) {
    (void)state;
    static char texts[2][MOST];
    lw_model *models[2];
    for (int k = 0; k < 2; k++) {
        texts[k][0] = '\0';
        add_bodies(texts[k], k == 0);
        add(texts[k], elements, k == 0);
        models[k] = read_model(texts[k], NULL);
    }
    assert_int_equal(lw_model_body_count(models[0]), 7);
    assert_int_equal(lw_model_frame_count(models[0]), FRAMES);
    agree(models[0], models[1]);
    for (int k = 0; k < 2; k++) lw_model_destroy(models[k]);
}

static void constraints_take_frames(void **state) {
    (void)state;
    static const char joints[] =
        "  j1: {type: revolute, between: [ground1, a1], first: {<|point: [0, 0, 0], >axis: [0, 1, 0], x: [1, "
        "0, 0]}, "
        "second: {<|point: [0, 0, 0], >axis: [0, 1, 0], x: [1, 0, 0]}, q: 0.3}\n"
        "  j2: {type: spherical, between: [a2, b1], first: {<|point: [0, 0, 0]>}, second: {<|point: [0, 0, "
        "0]>}}\n"
        "  j3: {type: free, between: [ground, c], position: [0, 0, 0.5]}\n"
        "  j4: {type: free, between: [ground, d], position: [2, 0, 0]}\n"
        "  j5: {type: weld, between: [d1, e1], first: {<|point: [0, 0, 0]>}, second: {<|point: [0, 0, 0]>}}\n"
        "  j6: {type: weld, between: [ground, f]}\n"
        "  j7: {type: prismatic, between: [f, g], axis: [0, 0, 1]}\n"
        "constraints:\n"
        "  rod: {type: distance, between: [ground1, b2]<|, first: [0, 0, 0], second: [0, 0, 0]>}\n"
        "  link: {type: distance, between: [e1, g], <|first: [0, 0, 0], >second: [0, 0, 1]}\n"
        "  roll: {type: rolling, body: c1, on: ground1, <|centre: [0, 0, 0], >radius: 0.4, axis: [0, 1, 0], "
        "normal: "
        "[0, 0, 1], frame: body}\n";
    static char texts[2][MOST];
    lw_model *models[2];
    for (int k = 0; k < 2; k++) {
        texts[k][0] = '\0';
        add_bodies(texts[k], k == 0);
        add(texts[k], joints, k == 0);
        models[k] = read_model(texts[k], NULL);
    }
    agree(models[0], models[1]);
    for (int k = 0; k < 2; k++) lw_model_destroy(models[k]);
}

#define CRANE_BODIES                                                                                         \
    "linkwork: 1\nparameters: {L: 0.5}\nbodies:\n"                                                           \
    "  boom: {mass: 10, inertia: [0.1, 3, 3], com: [1, 0, 0], position: [0, 0, 2]}\n"                        \
    "  load: {mass: 5, inertia: [0.1, 0.2, 0.3]}\n"

static const char crane[] = CRANE_BODIES
    "frames:\n"
    "  hook: {body: boom, position: [2, 0, 0], rotation: {axis: [0, 0, 1], angle: 30 deg}}\n"
    "  eye: {body: load, position: [0, 0, L]}\n"
    "joints:\n"
    "  heel: {type: revolute, between: [ground, boom], point: [0, 0, 2], axis: [0, 1, 0], q: 0.1, v: 1}\n"
    "  swing: {type: revolute, between: [hook, eye], axis: [0, 1, 0], q: L, v: 2}\n"
    "outputs:\n  z: body.eye.z\n"
    "starts:\n"
    "  up: {heel: {q: -1}, swing: {q: 2*L, v: 3}}\n"
    "  down: {swing: {v: 0.5}}\n";

/* Geometry in the world without a point: the second frame lies on the first, axes too. */
static void points_are_origins(void **state) {
    (void)state;
    static const char explicit[] = CRANE_BODIES
        "joints:\n"
        "  heel: {type: revolute, between: [ground, boom], point: [0, 0, 2], axis: [0, 1, 0], q: 0.1, v: 1}\n"
        "  swing: {type: revolute, between: [boom, load], first: {point: [2, 0, 0], axis: [0, 1, 0], x: [1, "
        "0, 0]}, "
        "second: {point: [0, 0, L], axis: [sin(30 deg), cos(30 deg), 0], x: [cos(30 deg), -sin(30 deg), 0]}, "
        "q: L, "
        "v: 2}\n";
    lw_model *one = read_model(crane, NULL), *two = read_model(explicit, NULL);
    agree(one, two);
    lw_model_destroy(one);
    lw_model_destroy(two);

    /* With one frame the other body has its point where the frame is in the reference configuration. */
    static const char half[] = CRANE_BODIES
        "frames:\n  hook: {body: boom, position: [2, 0, 0], rotation: {axis: [0, 0, 1], angle: 30 deg}}\n"
        "joints:\n"
        "  heel: {type: revolute, between: [ground, boom], point: [0, 0, 2], axis: [0, 1, 0], q: 0.1, v: 1}\n"
        "  swing: {type: revolute, between: [load, hook], axis: [0, 1, 0], q: L, v: 2}\n";
    static const char world[] = CRANE_BODIES
        "joints:\n"
        "  heel: {type: revolute, between: [ground, boom], point: [0, 0, 2], axis: [0, 1, 0], q: 0.1, v: 1}\n"
        "  swing: {type: revolute, between: [load, boom], point: [2, 0, 2], axis: [0, 1, 0], q: L, v: 2}\n";
    one = read_model(half, NULL), two = read_model(world, NULL);
    agree(one, two);
    lw_model_destroy(one);
    lw_model_destroy(two);
}

/* Poses that contradict a joint at two frames give a warning. */
static void poses_may_contradict(void **state) {
    (void)state;
    static const char text[] =
        "linkwork: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
        "  b: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}\n"
        "frames:\n  fa: {body: a, position: [0.5, 0, 0]}\n  fb: {body: b, position: [-0.4, 0, 0]}\n"
        "joints:\n  j: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1]}\n"
        "  k: {type: revolute, between: [fa, fb], axis: [0, 0, 1]}\n";
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    assert_int_equal(lw_read_model_text(text, strlen(text), "text", NULL, 0, report, &spec), LW_OK);
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    must_say(report, LW_SEVERITY_WARNING, "joint \"k\"", "0.1 m apart", NULL);
    lw_report_destroy(report);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

/* A parameter moves a frame and what stands at it, and the values of starts, in a spec from bytes, too. */
static void parameters_move_frames(void **state) {
    (void)state;
    const lw_setting setting = {"L", "0.7"};
    lw_spec *spec = NULL, *other = NULL, *loaded = NULL;
    lw_error error = {0};
    size_t size = 0;
    lw_model_destroy(read_model(crane, &spec));
    assert_int_equal(lw_read_model_text(crane, strlen(crane), "text", &setting, 1, NULL, &other), LW_OK);
    assert_int_equal(lw_spec_save(spec, NULL, 0, &size), LW_OK);
    void *bytes = malloc(size);
    assert_int_equal(lw_spec_save(spec, bytes, size, NULL), LW_OK);
    assert_int_equal(lw_spec_load(bytes, size, &loaded, &error), LW_OK);
    free(bytes);
    assert_int_equal(lw_spec_begin(loaded, "up", &error), LW_OK); /* before the parameter changes */
    assert_int_equal(lw_spec_set_parameter(loaded, "L", 0.7, &error), LW_OK);
    assert_memory_equal(lw_spec_frame(loaded, 1)->position, lw_spec_frame(other, 1)->position,
                        3 * sizeof(double));
    assert_memory_equal(lw_spec_frame(loaded, 0)->rotation, lw_spec_frame(other, 0)->rotation,
                        4 * sizeof(double));
    assert_int_equal(lw_spec_start_count(loaded), 3);
    assert_true(lw_spec_start(loaded, 1)->q[0] == 1.4 && lw_spec_start(other, 1)->q[0] == 1.4);
    assert_true(lw_spec_joint(loaded, 1)->at_frames);

    lw_model *models[2] = {NULL, NULL};
    lw_spec *specs[2] = {loaded, other};
    assert_int_equal(lw_spec_begin(other, "up", &error), LW_OK);
    for (int k = 0; k < 2; k++) assert_int_equal(lw_model_compile(specs[k], NULL, NULL, &models[k]), LW_OK);
    agree(models[0], models[1]);
    for (int k = 0; k < 2; k++) lw_model_destroy(models[k]);
    lw_spec_destroy(spec);
    lw_spec_destroy(other);
    lw_spec_destroy(loaded);
}

static void starts_give_values(void **state) {
    (void)state;
    lw_spec *spec = NULL;
    lw_error error = {0};
    lw_model *model = NULL;
    double q[2], v[2];
    lw_model_destroy(read_model(crane, &spec));
    assert_int_equal(lw_spec_begin(spec, "upp", &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.remedy, "did you mean \"up\"?"));
    assert_null(lw_spec_run(spec)->begin);
    /* Each start counts alone: what one has set is not there in the next. */
    static const struct {
        const char *name;
        double q[2], v[2];
    } expected[] = {{"up", {-1, 1}, {1, 3}}, {"down", {0.1, 0.5}, {1, 0.5}}, {NULL, {0.1, 0.5}, {1, 2}}};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(lw_spec_begin(spec, expected[k].name, &error), LW_OK);
        assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
        lw_model_initial_state(model, q, v);
        assert_memory_equal(q, expected[k].q, sizeof q);
        assert_memory_equal(v, expected[k].v, sizeof v);
        lw_model_destroy(model);
    }

    /* A start that names a joint that there is not changes nothing. */
    const lw_start_spec good = {.name = "odd", .joint = "heel", .has_q = true, .q = {7}};
    const lw_start_spec bad = {.name = "odd", .joint = "heal", .has_q = true};
    assert_int_equal(lw_spec_add_start(spec, &good), LW_OK);
    assert_int_equal(lw_spec_add_start(spec, &bad), LW_OK);
    assert_int_equal(lw_spec_begin(spec, "odd", &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "heal"));
    assert_null(lw_spec_run(spec)->begin);
    lw_run_spec run = *lw_spec_run(spec);
    run.begin = "odd";
    assert_int_equal(lw_spec_set_run(spec, &run), LW_OK);
    lw_report *report = compile_and_fail(spec);
    must_say(report, LW_SEVERITY_ERROR, "start \"odd\"", "no joint \"heal\"", NULL);
    lw_report_destroy(report);
}

/* Faults that only specs built by calls have. */
static void faults_of_specs(void **state) {
    (void)state;
    static const double origin[3], up[3] = {0, 0, 1};
    lw_spec *spec = lw_spec_create("faults");
    add_plain_body(spec, "a");
    add_plain_body(spec, "b");
    add_plain_joint(spec, "pin", LW_JOINT_REVOLUTE, "ground", "a", origin, up);
    add_plain_joint(spec, "odd", LW_JOINT_REVOLUTE, "a", "hok", origin, up);
    add_plain_joint(spec, "bare", LW_JOINT_REVOLUTE, "a", "b", origin, up);
    lw_spec_joint(spec, 2)->at_frames = true;
    const lw_frame_spec list[] = {
        {.name = "hook", .body = "a"},   {.name = "hook", .body = "a"},
        {.name = "b", .body = "a"},      {.name = "", .body = "a"},
        {.name = "ground", .body = "a"}, {.name = "on", .body = "hook"},
        {.name = "none", .body = NULL},  {.name = "far", .body = "a", .position = {NAN, 0, 0}}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        assert_int_equal(lw_spec_add_frame(spec, &list[k]), LW_OK);
    lw_report *report = compile_and_fail(spec);
    must_say(report, LW_SEVERITY_ERROR, "frame \"hook\"", "taken twice", NULL);
    must_say(report, LW_SEVERITY_ERROR, "frame \"b\"", "a body has this name", NULL);
    must_say(report, LW_SEVERITY_ERROR, "frame \"\"", "has no name", NULL);
    must_say(report, LW_SEVERITY_ERROR, "frame \"ground\"", "belongs to ground", NULL);
    must_say(report, LW_SEVERITY_ERROR, "frame \"on\"", "\"hook\" is a frame", NULL);
    must_say(report, LW_SEVERITY_ERROR, "frame \"none\"", "unknown body \"\"", NULL);
    must_say(report, LW_SEVERITY_ERROR, "frame \"far\"", "not finite", NULL);
    must_say(report, LW_SEVERITY_ERROR, "joint \"odd\"", "unknown body \"hok\"", "hook");
    must_say(report, LW_SEVERITY_ERROR, "joint \"bare\"", "between two bodies", NULL);
    lw_report_destroy(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_welded_bodies), cmocka_unit_test(constraints_take_frames),
        cmocka_unit_test(points_are_origins),       cmocka_unit_test(poses_may_contradict),
        cmocka_unit_test(parameters_move_frames),   cmocka_unit_test(starts_give_values),
        cmocka_unit_test(faults_of_specs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_read_model.c - what the reader makes of good models: every key of every element, units, parameters,
 * repeat.
 *
 * Numbers are compared exactly where the reader only copies or multiplies by a unit, and to 1e-15 relative (a
 * few roundings) where it computes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linkwork/io.h>

#include "linalg/vec3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* --- help ----------------------------------------------------------------------------------------- */

static lw_spec *read_with(const char *text, const lw_setting *settings, size_t count) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_status status = lw_read_model_text(text, strlen(text), "text", settings, count, report, &spec);
    for (size_t k = 0; k < lw_report_size(report); k++) {
        char line[1200];
        lw_error_format(lw_report_get(report, k), line, sizeof line);
        print_error("%s\n", line);
    }
    assert_int_equal(lw_report_size(report), 0);
    assert_int_equal(status, LW_OK);
    assert_non_null(spec);
    lw_report_destroy(report);
    return spec;
}

static lw_spec *read(const char *text) { return read_with(text, NULL, 0); }

/* The only message that a text gives, in space. */
static const char *fault(const char *text, const lw_setting *settings, size_t count, char space[1200]) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    assert_int_equal(lw_read_model_text(text, strlen(text), "text", settings, count, report, &spec),
                     LW_ERROR_MODEL);
    assert_null(spec);
    assert_int_equal(lw_report_size(report), 1);
    lw_error_format(lw_report_get(report, 0), space, 1200);
    lw_report_destroy(report);
    return space;
}

static void near(double got, double wanted) {
    if (!(fabs(got - wanted) <= 1e-15 * fmax(1, fabs(wanted))))
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

static void vector(const double *got, double x, double y, double z) {
    near(got[0], x);
    near(got[1], y);
    near(got[2], z);
}

static double parameter(const lw_spec *spec, const char *name) {
    for (size_t k = 0; k < lw_spec_parameter_count(spec); k++) {
        double value;
        if (strcmp(lw_spec_parameter(spec, k, &value), name) == 0) return value;
    }
    fail_msg("no parameter %s", name);
    return 0;
}

static const lw_body_spec *body(lw_spec *spec, const char *name) {
    for (size_t k = 0; k < lw_spec_body_count(spec); k++) {
        if (strcmp(lw_spec_body(spec, k)->name, name) == 0) return lw_spec_body(spec, k);
    }
    fail_msg("no body %s", name);
    return NULL;
}

static const lw_joint_spec *joint(lw_spec *spec, const char *name) {
    for (size_t k = 0; k < lw_spec_joint_count(spec); k++) {
        if (strcmp(lw_spec_joint(spec, k)->name, name) == 0) return lw_spec_joint(spec, k);
    }
    fail_msg("no joint %s", name);
    return NULL;
}

static const lw_force_spec *force(lw_spec *spec, const char *name) {
    for (size_t k = 0; k < lw_spec_force_count(spec); k++) {
        if (strcmp(lw_spec_force(spec, k)->name, name) == 0) return lw_spec_force(spec, k);
    }
    fail_msg("no force %s", name);
    return NULL;
}

/* --- head, parameters, settings ------------------------------------------------------------------- */

static void head(void **state) {
    (void)state;
    lw_spec *spec =
        read("linkwork: 1\nname: a name\ngravity: [0, -9.81, 0]\n"
             "run: {end: 2 min, step: 1 ms, tolerance: 1e-7, output: 0.1, method: tree, integrator: rk4, "
             "drift: none}\n");
    assert_string_equal(lw_spec_name(spec), "a name");
    assert_string_equal(lw_spec_file(spec), "text");
    vector(lw_spec_gravity(spec), 0, -9.81, 0);
    const lw_run_spec *run = lw_spec_run(spec);
    near(run->end, 120);
    near(run->step, 0.001);
    near(run->tolerance, 1e-7);
    near(run->output, 0.1);
    assert_string_equal(run->method, "tree");
    assert_string_equal(run->integrator, "rk4");
    assert_string_equal(run->drift, "none");
    lw_spec_destroy(spec);

    /* byte order mark, CR LF */
    spec = read("\xEF\xBB\xBFlinkwork: 1\r\nbodies:\r\n  r\xC3\xB6hre: {mass: 0}\r\n");
    assert_string_equal(lw_spec_name(spec), "text");
    vector(lw_spec_gravity(spec), 0, 0, -9.81);
    assert_string_equal(lw_spec_body(spec, 0)->name, "r\xC3\xB6hre");
    assert_int_equal(lw_spec_body(spec, 0)->place.line, 3);
    assert_int_equal(lw_spec_body(spec, 0)->place.column, 3);
    lw_spec_destroy(spec);
}

/* Texts in all of YAML's ways to write them. */
static void texts(void **state) {
    (void)state;
    static const struct {
        const char *yaml, *wanted;
    } cases[] = {
        {"plain text", "plain text"},
        {"over\n  two lines", "over two lines"},
        {"'a ''b'' ''c'' ''d'' ''e'' ''f'''", "a 'b' 'c' 'd' 'e' 'f'"},
        {"'one  \n   two\n\n\n  three'", "one two\n\nthree"},
        {"'one\r\n  two'", "one two"},
        {"''", ""},
        {"\"tab\\tquote\\\" \\u00e9\"", "tab\tquote\" \xC3\xA9"},
        {"|-\n  line 1\n  line 2\n", "line 1\nline 2"},
        {">\n  line 1\n  line 2\n", "line 1 line 2\n"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[200];
        snprintf(text, sizeof text, "linkwork: 1\nname: %s", cases[k].yaml);
        lw_spec *spec = read(text);
        assert_string_equal(lw_spec_name(spec), cases[k].wanted);
        lw_spec_destroy(spec);
    }
}

static const char parametric[] =
    "linkwork: 1\nparameters: {c: (a + b)*1 (kg/m), a: 2*b, b: 3 mm, m: 2 m, k: 5 (N/m), s: 3*m, e1: "
    "1e1, \"f\": 'max(a, b)'}\nbodies: {x: {kind: point, mass: c}}\n";

static void parameters(void **state) {
    (void)state;
    lw_spec *spec = read(parametric);
    near(parameter(spec, "b"), 0.003);
    near(parameter(spec, "a"), 0.006);
    near(parameter(spec, "c"), 0.009);
    near(parameter(spec, "m"), 2); /* the unit is no reference to itself */
    near(parameter(spec, "k"), 5);
    near(parameter(spec, "s"), 6);
    near(parameter(spec, "e1"), 10);
    near(parameter(spec, "f"), 0.006);
    lw_spec_destroy(spec);

    const lw_setting settings[] = {{"b", "1"}, {"b", "2*e1"}, {"k", "7 N/mm"}}; /* the last one counts */
    spec = read_with("linkwork: 1\nparameters: {a: 2*b, b: 3, k: 1, e1: 0.5}\n", settings, 3);
    near(parameter(spec, "b"), 1);
    near(parameter(spec, "a"), 2);
    near(parameter(spec, "k"), 7000);
    lw_spec_destroy(spec);

    char space[1200];
    const lw_setting unknown = {"lenght", "1"}, bad = {"length", "1 +"}, cycle = {"length", "2*length"};
    const char *text = "linkwork: 1\nparameters: {length: 2}\n";
    assert_string_equal(fault(text, &unknown, 1, space),
                        "text: there is no parameter \"lenght\" to set; did you mean \"length\"?");
    assert_non_null(
        strstr(fault(text, &bad, 1, space), "text: parameter \"length\": set to \"1 +\", character 4: "));
    assert_non_null(strstr(fault(text, &cycle, 1, space), "length -> length"));
    assert_non_null(strstr(fault("linkwork: 1\n", &bad, 1, space), "the model has no parameters"));
}

/* A long chain of references must not need a deep stack, nor much time. */
static void parameter_chain(void **state) {
    (void)state;
    enum { LENGTH = 5000 };
    char *text = malloc(64 + 32 * LENGTH);
    assert_non_null(text);
    int used = sprintf(text, "linkwork: 1\nparameters:\n");
    for (int k = 0; k < LENGTH; k++) used += sprintf(text + used, "  p%d: p%d + 1\n", k, k + 1);
    sprintf(text + used, "  p%d: 0\n", LENGTH);
    lw_spec *spec = read(text);
    near(parameter(spec, "p0"), LENGTH);
    lw_spec_destroy(spec);
    free(text);
}

/* --- bodies --------------------------------------------------------------------------------------- */

static void bodies(void **state) {
    (void)state;
    lw_spec *spec =
        read("linkwork: 1\nbodies:\n"
             "  a: {mass: 2, com: [1, 2, 3], inertia: [4, 5, 6]}\n"
             "  b: {mass: 1, inertia: [4, 5, 6, 0.1, 0.2, 0.3], position: [7, 8, 9]}\n"
             "  c: {mass: 1, inertia: [[4, 0.1, 0.2], [0.1, 5, 0.3], [0.2, 0.3, 6]]}\n"
             "  d: {kind: planar, mass: 1, inertia: 3}\n"
             "  e: {kind: point, mass: 4 g}\n"
             "  f: {density: 1000, shape: box, size: [0.1, 0.2, 0.3]}\n"
             "  g: {mass: 12, shape: {type: rod, points: [[0, 0, 0], [2, 0, 0]]}, com: [0, 0, 0]}\n"
             "  h: {mass: 1, inertia: [1, 1, 1], shape: {type: sphere, radius: 2, position: [1, 0, 0]}}\n"
             "  i: {mass: 0}\n"
             "  j: ground\n");
    assert_int_equal(lw_spec_body_count(spec), 9);
    const lw_body_spec *a = body(spec, "a"), *b = body(spec, "b"), *c = body(spec, "c"), *f = body(spec, "f"),
                       *g = body(spec, "g"), *h = body(spec, "h");
    assert_int_equal(a->kind, LW_BODY_SPATIAL);
    near(a->mass, 2);
    vector(a->com, 1, 2, 3);
    vector(a->inertia, 4, 5, 6);
    vector(a->inertia + 3, 0, 0, 0);
    assert_false(a->has_pose);
    assert_true(b->has_pose);
    vector(b->position, 7, 8, 9);
    near(b->rotation[0], 1);
    vector(b->inertia + 3, 0.1, 0.2, 0.3);
    for (int k = 0; k < 6; k++) near(c->inertia[k], b->inertia[k]);
    assert_int_equal(body(spec, "d")->kind, LW_BODY_PLANAR);
    vector(body(spec, "d")->inertia, 0, 0, 3);
    assert_int_equal(body(spec, "e")->kind, LW_BODY_POINT);
    near(body(spec, "e")->mass, 0.004);
    near(f->mass, 6); /* 1000 * 0.1 * 0.2 * 0.3 */
    vector(f->inertia, 6 * (0.04 + 0.09) / 12, 6 * (0.01 + 0.09) / 12, 6 * (0.01 + 0.04) / 12);
    assert_int_equal(f->shape.kind, LW_SHAPE_BOX);
    vector(g->com, 0, 0, 0);     /* given, so the rod's middle does not count */
    vector(g->inertia, 0, 4, 4); /* 12 * 2^2 / 12 about the middle */
    vector(h->inertia, 1, 1, 1); /* given as well */
    vector(h->com, 1, 0, 0);     /* the sphere's */
    vector(h->shape.position, 1, 0, 0);
    lw_spec_destroy(spec);
}

/* All ways to write a rotation, against rotation matrices multiplied out. */
static void rotations(void **state) {
    (void)state;
    lw_spec *spec = read("linkwork: 1\nparameters: {a: 0.3, b: -1.1, c: 2.5}\nbodies:\n"
                         "  x: {mass: 0, rotation: {axis: [2, 0, 0], angle: a}}\n"
                         "  y: {mass: 0, rotation: {axis: [0, 0.1, 0], angle: b}}\n"
                         "  z: {mass: 0, rotation: {axis: [0, 0, 7], angle: c}}\n"
                         "  all: {mass: 0, rotation: {cardan: [a, b, c]}}\n"
                         "  quarter: {mass: 0, rotation: [0.7071, 0, 0.7071, 0]}\n"
                         "  same: {mass: 0, rotation: {axis: [0, 1, 0], angle: 90 deg}}\n");
    double R[4][9], xy[9], xyz[9];
    static const char *const names[] = {"x", "y", "z", "all"};
    for (int k = 0; k < 4; k++) lw_rot_quat(body(spec, names[k])->rotation, R[k]);
    lw_m3_mul(R[0], R[1], xy);
    lw_m3_mul(xy, R[2], xyz);
    for (int k = 0; k < 9; k++) near(R[3][k], xyz[k]);
    near(R[0][5], -sin(0.3)); /* Rx: row y, column z */
    near(R[1][2], sin(-1.1)); /* Ry: row x, column z */
    near(R[2][1], -sin(2.5)); /* Rz: row x, column y */
    for (int k = 0; k < 4; k++) near(body(spec, "quarter")->rotation[k], body(spec, "same")->rotation[k]);
    lw_spec_destroy(spec);
}

/* --- joints --------------------------------------------------------------------------------------- */

static void joints(void **state) {
    (void)state;
    lw_spec *spec = read(
        "linkwork: 1\nparameters: {w: 3}\nbodies: {a: {mass: 0}, b: {mass: 0}, base: ground}\njoints:\n"
        "  rev: {type: revolute, between: [base, a], point: [1, 2, 3], axis: [0, 2, 0], q: 30 deg, v: 6 "
        "rpm}\n"
        "  pri: {type: prismatic, between: [a, b], first: {point: [1, 0, 0], axis: [1, 0, 0], x: [0, 1, 0]}, "
        "second: {point: [0, 0, 4], axis: [0, 0, 1], x: [1, 0, 0]}, cut: true}\n"
        "  scr: {type: screw, between: [a, b], point: [0, 0, 0], axis: [0, 0, 1], lead: 5 mm, motion: "
        "sin(w*t)}\n"
        "  cyl: {type: cylindrical, between: [a, b], point: [0, 0, 0], axis: [0, 0, 1], q: [1, 2], v: [3, "
        "4]}\n"
        "  uni: {type: universal, between: [a, b], point: [0, 0, 0], axes: [[1, 0, 0], [0, 1, 0]]}\n"
        "  sph: {type: spherical, between: [a, b], point: [0, 0, 0], rotation: [0, 1, 0, 0], "
        "angular_velocity: "
        "[1, 2, 3], motion: [t, 0, 2*t]}\n"
        "  pla: {type: planar, between: [a, b], point: [0, 0, 0], normal: [0, 0, 1], x: [0, 1, 0], motion: "
        "[null, 't^2', ~]}\n"
        "  tra: {type: translation, between: [a, b], first: {point: [0, 0, 1], axes: [[1, 0, 0], [0, 1, "
        "0]]}, "
        "second: {point: [0, 0, 2]}, v: [5, 6]}\n"
        "  fre: {type: free, between: [ground, b], position: [1, 2, 3], velocity: [4, 5, 6]}\n"
        "  fr2: {type: free, between: [ground, b], q: [1, 2, 3, 1, 0, 0, 0], v: [1, 2, 3, 4, 5, 6]}\n"
        "  wel: {type: weld, between: [a, b]}\n");
    const lw_joint_spec *j = joint(spec, "rev");
    assert_int_equal(j->type, LW_JOINT_REVOLUTE);
    assert_string_equal(j->bodies[0], "ground"); /* the second name is resolved */
    assert_string_equal(j->bodies[1], "a");
    assert_int_equal(j->frame, LW_GEOMETRY_WORLD);
    vector(j->geometry[0].point, 1, 2, 3);
    vector(j->geometry[0].axes[0], 0, 2, 0);
    assert_int_equal(j->geometry[0].axis_count, 1);
    assert_true(j->has_q && j->has_v && !j->cut);
    near(j->q[0], PI / 6);
    near(j->v[0], 6 * 2 * PI / 60);
    assert_int_equal(j->place.line, 5);

    j = joint(spec, "pri");
    assert_int_equal(j->frame, LW_GEOMETRY_BODY);
    assert_true(j->cut && !j->has_q && !j->has_v);
    vector(j->geometry[0].point, 1, 0, 0);
    vector(j->geometry[1].point, 0, 0, 4);
    vector(j->geometry[1].axes[0], 0, 0, 1);
    vector(j->geometry[1].axes[1], 1, 0, 0);
    assert_int_equal(j->geometry[1].axis_count, 2);

    near(joint(spec, "scr")->lead, 0.005);
    assert_string_equal(joint(spec, "scr")->motion[0], "sin(w*t)");
    near(joint(spec, "cyl")->q[1], 2);
    near(joint(spec, "cyl")->v[1], 4);
    assert_int_equal(joint(spec, "uni")->geometry[0].axis_count, 2);

    j = joint(spec, "sph");
    assert_true(j->has_q && j->has_v);
    vector(j->q, 0, 1, 0);
    vector(j->v, 1, 2, 3);
    assert_string_equal(j->motion[2], "2*t");

    j = joint(spec, "pla");
    assert_int_equal(j->geometry[0].axis_count, 2);
    vector(j->geometry[0].axes[1], 0, 1, 0);
    assert_null(j->motion[0]);
    assert_string_equal(j->motion[1], "t^2");
    assert_null(j->motion[2]);

    j = joint(spec, "tra");
    assert_int_equal(j->geometry[0].axis_count, 2);
    vector(j->geometry[1].point, 0, 0, 2);
    near(j->v[1], 6);

    j = joint(spec, "fre");
    vector(j->q, 1, 2, 3);
    near(j->q[3], 1);
    vector(j->v, 4, 5, 6);
    vector(j->v + 3, 0, 0, 0);
    near(joint(spec, "fr2")->v[5], 6);
    assert_int_equal(joint(spec, "wel")->type, LW_JOINT_WELD);
    assert_int_equal(joint(spec, "wel")->geometry[0].axis_count, 0);
    lw_spec_destroy(spec);
}

/* --- forces and constraints ----------------------------------------------------------------------- */

static void forces(void **state) {
    (void)state;
    lw_spec *spec =
        read("linkwork: 1\nparameters: {k: 4}\nbodies: {a: {mass: 0}, b: {mass: 0}}\njoints:\n"
             "  p: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1]}\n"
             "  f: {type: free, between: [a, b]}\nforces:\n"
             "  s: {type: spring, between: [a, b], points: [[1, 2, 3], [4, 5, 6]], stiffness: 2 N/mm, "
             "damping: 3, length: 0}\n"
             "  l: {type: spring, between: [a, b], first: [1, 0, 0], second: [0, 1, 0], law: 'k*x^3 - v*t'}\n"
             "  w: {type: spring, between: [a, b], first: [1, 0, 0], second: [0, 1, 0], table: {x: [-1, 0, "
             "k], force: [-2, 0, "
             "9], smooth: true}}\n"
             "  t: {type: torsion, joint: f, coordinate: z, stiffness: 5, free: 90 mm}\n"
             "  u: {type: torsion, joint: p, table: {x: [0, 1], torque: [0, 3]}}\n"
             "  b: {type: bushing, between: [ground, b], point: [1, 1, 1], rotation: {axis: [0, 0, 1], "
             "angle: 180 deg}, "
             "stiffness: [1, 2, 3, 4, 5, 6], damping: [0, 0, 0, 0, 0, k]}\n"
             "  c: {type: bushing, between: [a, b], first: [1, 1, 1], second: [2, 2, 2], stiffness: [1, 2, "
             "3, 4, 5, 6]}\n"
             "  a: {type: applied, body: a, against: b, point: [1, 2, 3], frame: body, axes: body, force: "
             "[t, null, 'k*t'], "
             "torque: [0, 0, 1]}\n"
             "  d: {type: drive, joint: f, coordinate: 5, torque: 'sin(t) - q + v'}\n"
             "  r: {type: friction, joint: p, viscous: 1, coulomb: 2}\n"
             "  q: {type: friction, joint: p, coulomb: 2, smoothing: 0.5}\n");
    const lw_force_spec *f = force(spec, "s");
    assert_int_equal(f->type, LW_FORCE_SPRING);
    assert_int_equal(f->frame, LW_GEOMETRY_WORLD);
    vector(f->points[1], 4, 5, 6);
    near(f->stiffness, 2000);
    near(f->damping, 3);
    assert_true(f->has_free_length); /* zero is a length, too */
    f = force(spec, "l");
    assert_int_equal(f->frame, LW_GEOMETRY_BODY);
    assert_false(f->has_free_length);
    assert_string_equal(f->law.expression, "k*x^3 - v*t");
    f = force(spec, "w");
    assert_int_equal(f->law.table_size, 3);
    assert_true(f->law.smooth);
    vector(f->law.table_x, -1, 0, 4);
    vector(f->law.table_y, -2, 0, 9);
    f = force(spec, "t");
    assert_string_equal(f->joint, "f");
    assert_int_equal(f->coordinate, 2);
    near(f->free_length, 0.09);
    assert_int_equal(force(spec, "u")->law.table_size, 2);
    assert_false(force(spec, "u")->law.smooth);
    f = force(spec, "b");
    assert_string_equal(f->bodies[0], "ground");
    near(f->rotation[3], 1);
    near(f->bushing_stiffness[5], 6);
    near(f->bushing_damping[5], 4);
    vector(force(spec, "c")->points[1], 2, 2, 2);
    assert_int_equal(force(spec, "c")->frame, LW_GEOMETRY_BODY);
    f = force(spec, "a");
    assert_string_equal(f->bodies[1], "b");
    assert_true(f->follows_body);
    assert_int_equal(f->frame, LW_GEOMETRY_BODY);
    assert_string_equal(f->force[0], "t");
    assert_null(f->force[1]);
    assert_string_equal(f->force[2], "k*t");
    assert_string_equal(f->torque[2], "1");
    f = force(spec, "d");
    assert_int_equal(f->coordinate, 5);
    assert_string_equal(f->drive, "sin(t) - q + v");
    near(force(spec, "r")->smoothing, 0.001);
    near(force(spec, "q")->smoothing, 0.5);
    lw_spec_destroy(spec);
}

static void constraints(void **state) {
    (void)state;
    lw_spec *spec = read(
        "linkwork: 1\nbodies: {a: {mass: 0}, b: {mass: 0}}\njoints:\n"
        "  p: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1]}\n"
        "  c: {type: cylindrical, between: [a, b], point: [0, 0, 0], axis: [0, 0, 1]}\nconstraints:\n"
        "  d: {type: distance, between: [a, b], first: [1, 0, 0], second: [0, 1, 0], length: 2}\n"
        "  g: {type: coupling, terms: [{joint: p}, {joint: c, coordinate: angle, factor: -3}], offset: 1}\n"
        "  r: {type: rolling, body: b, centre: [0, 0, 1], radius: 1, axis: [0, 1, 0], frame: body}\n"
        "  s: {type: rolling, body: b, on: a, centre: [0, 0, 1], radius: 1, point: [0, 0, 2], normal: "
        "[0, 1, 0]}\n");
    const lw_constraint_spec *d = lw_spec_constraint(spec, 0), *g = lw_spec_constraint(spec, 1),
                             *r = lw_spec_constraint(spec, 2), *s = lw_spec_constraint(spec, 3);
    near(d->length, 2);
    vector(d->points[1], 0, 1, 0);
    assert_int_equal(d->frame, LW_GEOMETRY_BODY);
    assert_int_equal(g->terms, 2);
    assert_string_equal(g->joints[1], "c");
    assert_int_equal(g->coordinates[1], 1);
    near(g->factors[0], 1);
    near(g->factors[1], -3);
    near(g->offset, 1);
    assert_string_equal(r->bodies[1], "ground");
    vector(r->axis, 0, 1, 0);
    vector(r->normal, 0, 0, 1);
    assert_int_equal(r->frame, LW_GEOMETRY_BODY);
    vector(s->axis, 0, 0, 0);
    vector(s->points[1], 0, 0, 2);
    vector(s->normal, 0, 1, 0);
    lw_spec_destroy(spec);
}

/* --- repetition ----------------------------------------------------------------------------------- */

static void repeats(void **state) {
    (void)state;
    lw_spec *spec = read(
        "linkwork: 1\nparameters: {N: 3, m: 2}\nbodies:\n  link0: ground\n  \"link{N+1}\": ground\n"
        "  link{i}: {repeat: {i: 1..N}, kind: point, mass: i*m}\n"
        "  none{i}: {repeat: {i: 2..1}, mass: 1}\n"
        "  odd{k}: {repeat: {k: [1, 5]}, kind: point, mass: k}\n"
        "  tri{i}_{j}: {repeat: {i: 1..3, j: 1..i}, kind: point, mass: 10*i + j}\n"
        "joints:\n  pin{i}: {repeat: {i: 1..N+1}, type: revolute, between: ['link{i-1}', 'link{i}'], "
        "point: [0, 0, -i], "
        "axis: [0, 1, 0]}\n"
        "forces:\n  f{i}: {repeat: {i: 0..N}, type: drive, joint: 'pin{i+1}', torque: 'sin(i*t) + 2 Nm + "
        "min(i, t)'}\n");
    assert_int_equal(lw_spec_body_count(spec), 3 + 2 + 6);
    near(body(spec, "link3")->mass, 6);
    near(body(spec, "odd5")->mass, 5);
    near(body(spec, "tri3_2")->mass, 32);
    assert_int_equal(lw_spec_joint_count(spec), 4);
    assert_string_equal(joint(spec, "pin1")->bodies[0], "ground");
    assert_string_equal(joint(spec, "pin2")->bodies[0], "link1");
    assert_string_equal(joint(spec, "pin4")->bodies[1], "ground");
    near(joint(spec, "pin4")->geometry[0].point[2], -4);
    assert_string_equal(force(spec, "f2")->joint, "pin3");
    assert_string_equal(force(spec, "f2")->drive, "sin((2)*t) + 2 Nm + min((2), t)");
    lw_spec_destroy(spec);

    char space[1200]; /* a fault in the second step: all names are known nevertheless */
    fault(
        "linkwork: 1\nbodies: {'b{i}': {repeat: {i: 1..9}, kind: point, mass: 1/(i-2)^2}}\njoints: {'j{i}': "
        "{repeat: {i: "
        "1..9}, type: revolute, between: [ground, 'b{i}'], point: [0, 0, 0], axis: [0, 0, 1]}}\nforces: "
        "{f: {type: drive, joint: j9, torque: 1}}\n",
        NULL, 0, space);
    fault("linkwork: 1\nbodies: {'b{i}': {repeat: {i: 1..M}, mass: 0}}\njoints: {j: {type: weld, between: "
          "[ground, "
          "b1]}}\n",
          NULL, 0, space);

    const lw_setting none = {"N", "0"};
    spec = read_with("linkwork: 1\nparameters: {N: 3}\nbodies:\n  b{i}: {repeat: {i: 1..N}, mass: 0}\n",
                     &none, 1);
    assert_int_equal(lw_spec_body_count(spec), 0);
    lw_spec_destroy(spec);
}

static void aliases(void **state) {
    (void)state;
    lw_spec *spec = read("linkwork: 1\nbodies:\n  a: &wheel {mass: 2, inertia: &i [1, 2, 3]}\n  b: *wheel\n"
                         "  c: {mass: 1, inertia: *i}\n");
    assert_int_equal(lw_spec_body_count(spec), 3);
    near(body(spec, "b")->mass, 2);
    vector(body(spec, "c")->inertia, 1, 2, 3);
    lw_spec_destroy(spec);
}

/* --- reports -------------------------------------------------------------------------------------- */

static void faults_come_in_the_order_of_the_file(void **state) {
    (void)state;
    const char *text =
        "linkwork: 1\nrun: {end: 0}\nconstraints: {c: {type: x}}\njoints: {j: {type: y}}\nbodies: {b: "
        "{mass: z}}\nparameters: {p: u}\n";
    lw_report *report = lw_report_create();
    lw_spec *spec;
    assert_int_equal(lw_read_model_text(text, strlen(text), "m", NULL, 0, report, &spec), LW_ERROR_MODEL);
    int last = 0;
    for (size_t k = 0; k < lw_report_size(report); k++) {
        assert_true(lw_report_get(report, k)->place.line >= last);
        last = lw_report_get(report, k)->place.line;
    }
    assert_int_equal(last, 6);
    assert_int_equal(lw_report_size(report), 6); /* the joint has no between, too */
    lw_report_destroy(report);
    assert_int_equal(lw_read_model_text(text, strlen(text), "m", NULL, 0, NULL, &spec), LW_ERROR_MODEL);
    assert_null(spec);
}

/* --- documentation -------------------------------------------------------------------------------- */

/* Every example of docs/model-format.md is a model: it is read and compiled without a fault or a warning. */
static void documented_examples(void **state) {
    (void)state;
    FILE *file = fopen(LW_SOURCE_DIR "/docs/model-format.md", "rb");
    assert_non_null(file);
    enum { ROOM = 200000 };
    char *text = malloc(ROOM);
    assert_non_null(text);
    size_t length = fread(text, 1, ROOM - 1, file);
    assert_true(length < ROOM - 1);
    text[length] = '\0';
    fclose(file);
    int examples = 0;
    for (char *start = strstr(text, "```yaml\nlinkwork: 1"); start;
         start = strstr(start, "```yaml\nlinkwork: 1")) {
        start += strlen("```yaml\n");
        char *end = strstr(start, "```");
        assert_non_null(end);
        *end = '\0';
        if (strstr(start, "\nparts:")) { /* It needs a folder: conformance/documented_models. */
            *end = '`';
            continue;
        }
        lw_spec *spec = read(start);
        lw_report *report = lw_report_create();
        lw_model *model = NULL;
        lw_status status = lw_model_compile(spec, NULL, report, &model);
        for (size_t k = 0; k < lw_report_size(report); k++) {
            char line[1200];
            lw_error_format(lw_report_get(report, k), line, sizeof line);
            print_error("example \"%s\": %s\n", lw_spec_name(spec), line);
        }
        assert_int_equal(status, LW_OK);
        assert_int_equal(lw_report_size(report), 0);
        lw_model_destroy(model);
        lw_report_destroy(report);
        lw_spec_destroy(spec);
        examples++;
        start = end + 1;
    }
    free(text);
    assert_true(examples >= 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head),
        cmocka_unit_test(texts),
        cmocka_unit_test(parameters),
        cmocka_unit_test(parameter_chain),
        cmocka_unit_test(bodies),
        cmocka_unit_test(rotations),
        cmocka_unit_test(joints),
        cmocka_unit_test(forces),
        cmocka_unit_test(constraints),
        cmocka_unit_test(repeats),
        cmocka_unit_test(aliases),
        cmocka_unit_test(faults_come_in_the_order_of_the_file),
        cmocka_unit_test(documented_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

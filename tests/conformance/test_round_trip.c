/* test_round_trip.c - a spec written as a model file reads back as the same model.
 *
 * For every problem, every example of docs/model-format.md and hundreds of random specs: read, write, read,
 * write. Both specs must be equal in every field that means something, to the last bit; both texts must be
 * equal; both must compile to the same initial state or to the same faults; and if the model is a tree, both
 * must give the same accelerations to the last bit (there is no tolerance here: nothing is computed twice in
 * two ways).
 */
#define _POSIX_C_SOURCE 200809L

#include "io/model_write/write_model.h"
#include "random_model.h"
#include "same_spec.h"

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
#include <unistd.h>

/* --- the same model ------------------------------------------------------------------------------- */

typedef struct state {
    int nq, nv;
    double *q, *v, *vdot;
    lw_status status;
} state;

static state accelerate(const lw_model *model) {
    state s = {lw_model_q_size(model), lw_model_v_size(model), NULL, NULL, NULL, LW_OK};
    s.q = calloc((size_t)s.nq + 1, sizeof *s.q);
    s.v = calloc((size_t)s.nv + 1, sizeof *s.v);
    s.vdot = calloc((size_t)s.nv + 1, sizeof *s.vdot);
    lw_model_initial_state(model, s.q, s.v);
    if (lw_model_loop_count(model) == 0 && lw_model_constraint_count(model) == 0) {
        lw_data *data;
        assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
        s.status = lw_tree_forward_dynamics(model, data, 0.3, s.q, s.v, NULL, s.vdot, NULL);
        lw_data_destroy(data);
    }
    return s;
}

static void release(state *s) {
    free(s->q);
    free(s->v);
    free(s->vdot);
}

/* Compiles both; returns whether they did. */
static bool same_model(lw_spec *a, lw_spec *b) {
    lw_report *reports[2] = {lw_report_create(), lw_report_create()};
    lw_model *models[2];
    lw_status status = lw_model_compile(a, NULL, reports[0], &models[0]);
    same_int("model", "status", (int)status, (int)lw_model_compile(b, NULL, reports[1], &models[1]));
    same_int("model", "faults", (int)lw_report_size(reports[0]), (int)lw_report_size(reports[1]));
    for (size_t k = 0; k < lw_report_size(reports[0]); k++) {
        const lw_error *x = lw_report_get(reports[0], k), *y = lw_report_get(reports[1], k);
        same_text(x->object, "fault", x->message, y->message);
    }
    if (status == LW_OK) {
        state x = accelerate(models[0]), y = accelerate(models[1]);
        same_int("model", "coordinates", x.nq, y.nq);
        same_int("model", "speeds", x.nv, y.nv);
        same_numbers("model", "initial coordinates", x.q, y.q, x.nq);
        same_numbers("model", "initial speeds", x.v, y.v, x.nv);
        same_int("model", "status of forward dynamics", (int)x.status, (int)y.status);
        same_numbers("model", "accelerations", x.vdot, y.vdot, x.nv);
        release(&x);
        release(&y);
    }
    for (int k = 0; k < 2; k++) {
        lw_model_destroy(models[k]);
        lw_report_destroy(reports[k]);
    }
    return status == LW_OK;
}

/* --- there and back ------------------------------------------------------------------------------- */

static lw_spec *read_back(const char *text, size_t length) {
    lw_report *report = lw_report_create();
    lw_spec *spec;
    if (lw_read_model_text(text, length, "written", NULL, 0, report, &spec) != LW_OK) {
        char line[1200];
        lw_error_format(lw_report_get(report, 0), line, sizeof line);
        fail_msg("%s: what was written is not read: %s\n%s", what, line, text);
    }
    lw_report_destroy(report);
    return spec;
}

static char *write_text(const lw_spec *spec, size_t *length) {
    lw_error error;
    char *text, line[1200];
    if (lw_model_text(spec, &text, length, &error) != LW_OK) {
        lw_error_format(&error, line, sizeof line);
        fail_msg("%s: cannot be written: %s", what, line);
    }
    assert_int_equal(strlen(text), *length);
    return text;
}

/* Writes, reads, writes again; consumes the spec. Returns whether the model compiles. */
static bool round_trip(lw_spec *spec) {
    size_t length, again_length;
    char *text = write_text(spec, &length);
    text_under_test = text;
    lw_spec *back = read_back(text, length);
    /* Parts are written as what they are made of, in the world of the model; test_parts.c compares those. */
    if (lw_spec_part_count(spec) == 0) same_spec(spec, back);
    bool compiles = same_model(spec, back);
    char *again = write_text(back, &again_length);
    if (strcmp(text, again) != 0) fail_msg("%s: written twice, read as\n%s\nand then\n%s", what, text, again);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        /* readable: 110 columns, unless one name, vector or expression needs more */
        if (strcspn(line, "\n") > 200) fail_msg("%s: a long line in\n%s", what, text);
    }
    free(text);
    free(again);
    lw_spec_destroy(back);
    lw_spec_destroy(spec);
    return compiles;
}

/* --- files ---------------------------------------------------------------------------------------- */

static lw_spec *read_file(const char *path) {
    lw_report *report = lw_report_create();
    lw_spec *spec;
    if (lw_read_model(path, NULL, 0, report, &spec) != LW_OK) {
        char line[1200];
        lw_error_format(lw_report_get(report, 0), line, sizeof line);
        fail_msg("%s", line);
    }
    lw_report_destroy(report);
    return spec;
}

/* Every problem, through a file. */
static void test_problems(void **unused) {
    (void)unused;
    glob_t files;
    assert_int_equal(glob(LW_SOURCE_DIR "/problems/*/model.yaml", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 7);
    char path[] = "/tmp/linkwork-round-trip-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        what = files.gl_pathv[k];
        lw_spec *spec = read_file(what);
        lw_error error;
        text_under_test = "";
        assert_int_equal(lw_write_model(spec, path, &error), LW_OK);
        lw_spec *back = read_file(path);
        if (lw_spec_part_count(spec) == 0) same_spec(spec, back);
        lw_spec_destroy(back);
        /* A text in memory has no folder in which the file of a table could be; its points stand in the text. */
        for (size_t t = 0; t < lw_spec_table_count(spec); t++) lw_spec_table(spec, t)->file = NULL;
        assert_true(round_trip(spec));
    }
    unlink(path);
    globfree(&files);
}

static void test_examples(void **unused) {
    (void)unused;
    static const char fence[] = "```yaml\n";
    FILE *file = fopen(LW_SOURCE_DIR "/docs/model-format.md", "rb");
    assert_non_null(file);
    static char text[1 << 20];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    int count = 0;
    for (char *start = text; (start = strstr(start, fence));) {
        start += strlen(fence);
        char *end = strstr(start, "```");
        assert_non_null(end);
        *end = '\0';
        const bool alone = !strstr(start, "\nparts:"); /* Parts need a folder: test_parts.c. */
        *end = '`';
        if (strncmp(start, "linkwork: 1", 11) == 0 && alone) {
            char name[64];
            snprintf(name, sizeof name, "example %d of docs/model-format.md", ++count);
            what = name;
            assert_true(round_trip(read_back(start, (size_t)(end - start))));
        }
        start = end + 3;
    }
    assert_true(count >= 9); /* one for each element, and the repetitions */
}

/* --- random specs --------------------------------------------------------------------------------- */

/* Names that YAML could take for something else, and some that it could not. */
static const char *const odd_names[] = {
    "null",
    "~",
    "true",
    "no",
    "12",
    "1e5",
    "-",
    "- a",
    "-x",
    "?",
    "? a",
    "a: b",
    "a:",
    ":a",
    "#",
    "a #b",
    "a#b",
    "&a",
    "*a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a`",
    "[a]",
    "a]",
    "<<",
    "=",
    "---",
    "...",
    " a",
    "a ",
    "a  b",
    "left arm",
    "\\",
    "a\\nb",
    "\\x41",
    "Gelenk_\xC3\xA4",
    "\xE8\x85\x95",
    "\xF0\x9F\xA6\xBE",
    "a\xC2\xA0z",
    "\xEF\xBF\xBE",
    "(a)",
    ".5",
    "$HOME",
    "a|b",
    "a;b",
    "a/b",
    "+1",
    "0x10",
    "1_000",
    "2026-01-01",
    "y",
    "x",
    "t",
    "repeat",
    "type",
    "a=b",
    "a&b",
    "~a",
    "^",
    "\xC3\xA9t\xC3\xA9",
};
enum { ODD_NAMES = sizeof odd_names / sizeof *odd_names, NAME_ROOM = 96, MOST_OBJECTS = 64 };

/* Different names for a list of objects: an odd one each, with a number where it is taken. */
typedef struct renaming {
    char names[MOST_OBJECTS][NAME_ROOM];
    const char *old[MOST_OBJECTS];
    int count;
} renaming;

static const char *new_name(lw_random *random, renaming *table, const char *old) {
    assert_true(table->count < MOST_OBJECTS);
    char *name = table->names[table->count];
    int pick = random_below(random, ODD_NAMES);
    snprintf(name, NAME_ROOM, "%s", odd_names[pick]);
    for (int k = 0; k < table->count; k++) {
        if (strcmp(table->names[k], name) == 0) {
            snprintf(name, NAME_ROOM, "%s%d", odd_names[pick], table->count);
            break;
        }
    }
    table->old[table->count++] = old;
    return name;
}

static void follow(const renaming *table, const char **name) {
    for (int k = 0; *name && k < table->count; k++) {
        if (strcmp(table->old[k], *name) == 0) {
            *name = table->names[k];
            return;
        }
    }
}

/* The tables must live as long as the spec. */
static void rename_all(lw_random *random, lw_spec *spec, renaming *bodies, renaming *joints,
                       renaming *others) {
    bodies->count = joints->count = others->count = 0;
    for (size_t k = 0; k < lw_spec_body_count(spec); k++)
        lw_spec_body(spec, k)->name = new_name(random, bodies, lw_spec_body(spec, k)->name);
    for (size_t k = 0; k < lw_spec_joint_count(spec); k++) {
        lw_joint_spec *joint = lw_spec_joint(spec, k);
        joint->name = new_name(random, joints, joint->name);
        for (int side = 0; side < 2; side++) follow(bodies, &joint->bodies[side]);
    }
    for (size_t k = 0; k < lw_spec_force_count(spec); k++) {
        lw_force_spec *force = lw_spec_force(spec, k);
        force->name = new_name(random, others, force->name);
        follow(joints, &force->joint);
        for (int side = 0; side < 2; side++) follow(bodies, &force->bodies[side]);
    }
    for (size_t k = 0; k < lw_spec_constraint_count(spec); k++) {
        lw_constraint_spec *constraint = lw_spec_constraint(spec, k);
        constraint->name = new_name(random, others, constraint->name);
        for (int side = 0; side < 2; side++) follow(bodies, &constraint->bodies[side]);
        for (int i = 0; i < constraint->terms; i++) follow(joints, &constraint->joints[i]);
    }
}

/* Numbers that are hard to print: long, tiny, huge, whole, negative zero. */
static double odd_number(lw_random *random) {
    static const double numbers[] = {0,       -0.0,
                                     1,       0.1,
                                     1.0 / 3, -2.0 / 3,
                                     1e-300,  1e300,
                                     5e-324,  2.2250738585072014e-308,
                                     1e22,    123456789.123456789};
    int pick = random_below(random, 2 * (int)(sizeof numbers / sizeof *numbers));
    return pick < (int)(sizeof numbers / sizeof *numbers) ? numbers[pick] : random_between(random, -10, 10);
}

static void odd_numbers(lw_random *random, double *values, int count) {
    for (int k = 0; k < count; k++) values[k] = odd_number(random);
}

static const char *const expressions[] = {
    "t",
    "-t",
    "(t)",
    "2",
    "-0.5",
    "1e-3*t",
    "if(t > 1, 2, t^2)",
    "atan2(t, 1)",
    "step(t, 0, 0, 1, 1) - 2 mm/mm",
    "a_b*t + b2/3",
    "not (t < 1) and 2 != 3",
    "t **2",
    "t\n+ 1",
    " t ",
    "3 (N s/N)/(2 s)*t",
    "+t",
};
static const char *random_expression(lw_random *random) {
    return expressions[random_below(random, (int)(sizeof expressions / sizeof *expressions))];
}

/* A shape of any kind, at any place, of a colour or none. */
static lw_shape random_shape(lw_random *random, const double rotation[4]) {
    static const double corners[] = {0, 0, 0.1, 1, 0, 0, 0, 1, 0, 0.25, 0.5, 1.0 / 3};
    static const int faces[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    static const lw_mesh_spec mesh = {4, 4, corners, faces, NULL};
    lw_shape shape = {.kind = (lw_shape_kind)(1 + random_below(random, LW_SHAPE_KINDS - 1))};
    for (int i = 0; i < 3; i++) shape.size[i] = random_between(random, 0.1, 2);
    for (int i = 0; i < 4; i++) random_vector(random, 3, 1, shape.points[i]);
    if (random_below(random, 2)) random_vector(random, 3, 1, shape.position);
    if (random_below(random, 2)) memcpy(shape.rotation, rotation, sizeof shape.rotation);
    if (random_below(random, 2)) shape.colour = LW_COLOUR | random_below(random, LW_COLOUR);
    if (shape.kind == LW_SHAPE_MESH) shape.mesh = &mesh;
    return shape;
}

/* Rotors, zeros, limits and stops, from a sequence of their own. */
static lw_random extras = {20240229};
static void say_of_coordinates(lw_joint_spec *joint) {
    int count = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
    bool ball = joint->type == LW_JOINT_SPHERICAL || joint->type == LW_JOINT_FREE;
    for (int i = 0; i < count && !ball; i++) {
        if (random_below(&extras, 3) == 0) joint->armature[i] = random_between(&extras, 0, 2);
        if (random_below(&extras, 3) == 0) joint->zero[i] = random_between(&extras, -2, 2);
        if (random_below(&extras, 3) == 0) {
            joint->stop = (lw_stop_kind)random_below(&extras, joint->motion[i] ? 2 : LW_STOP_KINDS);
            joint->limits[i][0] = random_below(&extras, 3) ? random_between(&extras, -9, -7) : -HUGE_VAL;
            joint->limits[i][1] = random_between(&extras, 7, 9);
        }
    }
    for (int i = 0; i < count && joint->stop == LW_STOP_SPRING; i++) {
        joint->stop_stiffness[i] = random_between(&extras, 1, 9);
        if (random_below(&extras, 2)) joint->stop_damping[i] = random_between(&extras, 1, 9);
    }
    for (int i = 0; i < count && joint->stop == LW_STOP_IMPACT; i++)
        joint->stop_restitution[i] = random_between(&extras, 0, 1);
}

/* Random initial states, shapes, planar bodies and points, where the model stays sound; parameters, run. */
static void enrich(lw_random *random, lw_spec *spec) {
    for (size_t k = 0; k < lw_spec_body_count(spec); k++) {
        lw_body_spec *body = lw_spec_body(spec, k);
        int pick = random_below(random, 4);
        if (pick == 0) { /* a shape for drawing only, or one that gives everything but the mass */
            body->shape = random_shape(random, body->rotation);
            double total;
            if (random_below(random, 2))
                (void)lw_shape_inertia(&body->shape, body->mass, 0, &total, body->com, body->inertia);
        } else if (pick == 2 && random_below(random, 2)) { /* several, with masses of their own or without */
            static lw_shape rooms[64][3];
            lw_shape *shapes = rooms[k % 64];
            bool own = random_below(random, 2);
            for (int i = 0; i < 3; i++) {
                shapes[i] = random_shape(random, body->rotation);
                if (own && random_below(random, 2))
                    shapes[i].density = random_between(random, 1, 2);
                else if (own)
                    shapes[i].has_mass = true, shapes[i].mass = random_between(random, 0, 2);
            }
            body->shapes = shapes;
            body->shape_count = 3;
            double total = body->mass;
            if (own || random_below(random, 2)) {
                assert_int_equal(lw_shapes_inertia(shapes, 3, body->mass, &total, body->com, body->inertia),
                                 LW_OK);
                body->mass = total;
            }
        } else if (pick == 1) {
            body->kind = LW_BODY_POINT;
            memset(body->inertia, 0, sizeof body->inertia);
        }
    }
    for (size_t k = 0; k < lw_spec_joint_count(spec); k++) {
        lw_joint_spec *joint = lw_spec_joint(spec, k);
        bool moves = joint->type != LW_JOINT_WELD; /* a weld has no coordinates to write */
        joint->has_q = random_below(random, 2) && moves;
        joint->has_v = random_below(random, 2) && moves;
        random_vector(random, LW_JOINT_MAX_Q, 1, joint->q);
        random_vector(random, LW_JOINT_MAX_V, 1, joint->v);
        say_of_coordinates(joint);
    }
    assert_int_equal(lw_spec_add_parameter(spec, "a_b", odd_number(random)), LW_OK);
    assert_int_equal(lw_spec_add_parameter(spec, "b2", odd_number(random)), LW_OK);
    assert_int_equal(lw_spec_add_parameter(spec, "_c", odd_number(random)), LW_OK);
    lw_run_spec run = {0};
    if (random_below(random, 2)) run.end = random_between(random, 1, 2);
    if (random_below(random, 2)) run.step = 1e-3;
    if (random_below(random, 2)) run.tolerance = 1e-9;
    if (random_below(random, 2)) run.output = 1.0 / 3;
    if (random_below(random, 2)) run.method = "tree";
    if (random_below(random, 2)) run.integrator = "no such: one";
    if (random_below(random, 2)) run.drift = "project";
    assert_int_equal(lw_spec_set_run(spec, &run), LW_OK);
}

/* Trees that compile: all the way to the accelerations. */
static void test_random_trees(void **unused) {
    (void)unused;
    static renaming bodies, joints, others;
    int compiled = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        char name[32];
        snprintf(name, sizeof name, "random tree, seed %d", (int)seed);
        what = name;
        lw_random random = random_seed(seed);
        random_tree options = {.bodies = 1 + random_below(&random, 8),
                               .forces = random_below(&random, 2),
                               .prescribed = random_below(&random, 2),
                               .reversed = random_below(&random, 2),
                               .joint = -1};
        lw_spec *spec = random_tree_spec(&random, &options);
        if (random_below(&random, 3) > 0) enrich(&random, spec);
        if (random_below(&random, 2)) rename_all(&random, spec, &bodies, &joints, &others);
        compiled += round_trip(spec);
    }
    assert_true(compiled > 200); /* point masses on turning joints and the like do not compile, but most do */
}

/* --- random specs of any kind --------------------------------------------------------------------- */

static const char *any_body(lw_random *random, lw_spec *spec) {
    size_t pick = (size_t)random_below(random, (int)lw_spec_body_count(spec) + 1);
    return pick == lw_spec_body_count(spec) ? LW_GROUND : lw_spec_body(spec, pick)->name;
}

static void add_loops(lw_random *random, lw_spec *spec) {
    for (int k = random_below(random, 4); k > 0; k--) {
        lw_joint_spec joint =
            *lw_spec_joint(spec, (size_t)random_below(random, (int)lw_spec_joint_count(spec)));
        char name[32];
        snprintf(name, sizeof name, "loop%d", k);
        joint.name = name;
        joint.cut = random_below(random, 2);
        joint.bodies[0] = any_body(random, spec);
        joint.bodies[1] = any_body(random, spec);
        assert_int_equal(lw_spec_add_joint(spec, &joint), LW_OK);
    }
}

static void add_constraints(lw_random *random, lw_spec *spec) {
    for (int k = 0; k < 6; k++) {
        char name[32];
        snprintf(name, sizeof name, "constraint%d", k);
        lw_constraint_spec c = {.name = name, .type = (lw_constraint_type)(k % LW_CONSTRAINT_TYPES)};
        if (c.type == LW_CONSTRAINT_COUPLING) {
            int terms = 1 + random_below(random, LW_COUPLING_MAX);
            for (int i = 0; i < terms; i++) {
                const lw_joint_spec *joint =
                    lw_spec_joint(spec, (size_t)random_below(random, (int)lw_spec_joint_count(spec)));
                int nv = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
                if (nv == 0) continue;
                c.joints[c.terms] = joint->name;
                c.coordinates[c.terms] = random_below(random, nv);
                c.factors[c.terms++] = odd_number(random);
            }
            if (c.terms == 0) continue;
            c.offset = odd_number(random);
        } else {
            c.bodies[0] = any_body(random, spec);
            c.bodies[1] = any_body(random, spec);
            c.frame = random_below(random, 2) ? LW_GEOMETRY_BODY : LW_GEOMETRY_WORLD;
            odd_numbers(random, c.points[0], 6);
        }
        if (c.type == LW_CONSTRAINT_DISTANCE && random_below(random, 2)) c.length = fabs(odd_number(random));
        if (c.type == LW_CONSTRAINT_ROLLING) {
            c.radius = odd_number(random);
            if (random_below(random, 2)) random_direction(random, c.axis);
            c.normal[2] = 1;
            if (random_below(random, 2)) odd_numbers(random, c.normal, 3);
        }
        assert_int_equal(lw_spec_add_constraint(spec, &c), LW_OK);
    }
}

/* Every field of every object gets some number: nothing here needs to be a sound model. */
static void spoil(lw_random *random, lw_spec *spec) {
    static const double table[16] = {-1e300, -5,      -1.0 / 3, -1e-300, -5e-324, -0.0, 5e-324, 1e-300,
                                     0.1,    1.0 / 3, 2.0 / 3,  1,       2,       3,    1e22,   1e300};
    double gravity[3];
    odd_numbers(random, gravity, 3);
    lw_spec_set_gravity(spec, gravity);
    for (size_t k = 0; k < lw_spec_body_count(spec); k++) {
        lw_body_spec *body = lw_spec_body(spec, k);
        body->kind = (lw_body_kind)random_below(random, 3);
        /* Where shapes have masses of their own, another mass of the body would replace them. */
        if (random_below(random, 3) == 0 && body->shape_count == 0) body->mass = odd_number(random);
        if (random_below(random, 2)) odd_numbers(random, body->com, 3);
        if (random_below(random, 2)) odd_numbers(random, body->inertia, 6);
        if (body->kind == LW_BODY_POINT) memset(body->inertia, 0, sizeof body->inertia);
        odd_numbers(random, body->position, 3);
        if (random_below(random, 3) == 0)
            memcpy(body->rotation, (double[4]){1, 0, 0, 0}, sizeof body->rotation);
    }
    for (size_t k = 0; k < lw_spec_joint_count(spec); k++) {
        lw_joint_spec *joint = lw_spec_joint(spec, k);
        int nv = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
        odd_numbers(random, joint->q, LW_JOINT_MAX_Q);
        odd_numbers(random, joint->v, LW_JOINT_MAX_V);
        odd_numbers(random, joint->geometry[0].point, 3);
        odd_numbers(random, joint->geometry[1].axes[0], 9);
        joint->lead = odd_number(random);
        bool turns = joint->type == LW_JOINT_SPHERICAL || joint->type == LW_JOINT_FREE;
        for (int i = 0; i < nv && random_below(random, 2); i++) {
            joint->motion[i] = turns || random_below(random, 2) ? random_expression(random) : NULL;
        }
        for (int i = turns ? 0 : nv; i < nv; i++) { /* the reader wants all three Cardan angles or none */
            if (!joint->motion[i]) memset(joint->motion, 0, sizeof joint->motion);
        }
    }
    for (size_t k = 0; k < lw_spec_force_count(spec); k++) {
        lw_force_spec *force = lw_spec_force(spec, k);
        odd_numbers(random, force->points[0], 6);
        if (random_below(random, 2)) memset(force->points, 0, sizeof force->points);
        if (random_below(random, 2)) memset(force->rotation, 0, sizeof force->rotation);
        if (random_below(random, 2)) force->stiffness = odd_number(random);
        if (random_below(random, 2)) force->damping = odd_number(random);
        if (random_below(random, 2)) force->free_length = odd_number(random);
        odd_numbers(random, force->bushing_damping, 6);
        force->viscous = odd_number(random);
        force->coulomb = odd_number(random);
        force->smoothing = odd_number(random);
        force->drive = random_expression(random);
        if (force->law.expression) force->law.expression = random_expression(random);
        if (force->law.table_size > 0) {
            force->law = (lw_law_spec){.table_size = 16, .table_x = table, .table_y = table};
            force->law.smooth = random_below(random, 2);
        }
        for (int i = 0; i < 3; i++) {
            force->force[i] = random_below(random, 2) ? random_expression(random) : NULL;
            force->torque[i] = random_below(random, 2) ? random_expression(random) : NULL;
        }
        if (random_below(random, 4) == 0) memset(force->force, 0, sizeof force->force);
        if (random_below(random, 4) == 0) memset(force->torque, 0, sizeof force->torque);
    }
}

static void test_random_specs(void **unused) {
    (void)unused;
    static renaming bodies, joints, others;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        char name[32];
        snprintf(name, sizeof name, "random spec, seed %d", (int)seed);
        what = name;
        lw_random random = random_seed(1000 + seed);
        random_tree options = {.bodies = 1 + random_below(&random, 8),
                               .forces = true,
                               .prescribed = random_below(&random, 2),
                               .reversed = true,
                               .joint = -1};
        lw_spec *spec = random_tree_spec(&random, &options);
        enrich(&random, spec);
        if (random_below(&random, 2)) add_loops(&random, spec);
        if (random_below(&random, 2)) add_constraints(&random, spec);
        if (random_below(&random, 2)) spoil(&random, spec);
        if (random_below(&random, 2)) rename_all(&random, spec, &bodies, &joints, &others);
        round_trip(spec);
    }
}

/* --- names and texts ------------------------------------------------------------------------------ */

static void test_model_names(void **unused) {
    (void)unused;
    static const char *const more[] = {
        "",           "a \"quoted\" text", "it's", "{a, b}", "a\nb\n", "\ta", "two\r\nlines", "\xE2\x80\xA8",
        "a\xC2\x85z", "\xEF\xBB\xBF",      "\x01", "\x7F",   "\x1B[0m"};
    for (int k = 0; k < ODD_NAMES + (int)(sizeof more / sizeof *more); k++) {
        what = k < ODD_NAMES ? odd_names[k] : more[k - ODD_NAMES];
        round_trip(lw_spec_create(what));
    }
}

/* --- what cannot be written ----------------------------------------------------------------------- */

static void cannot_write(lw_spec *spec, const char *object, const char *message) {
    lw_error error;
    char *text;
    size_t length;
    assert_int_equal(lw_model_text(spec, &text, &length, &error), LW_ERROR_ARGUMENT);
    assert_null(text);
    assert_string_equal(error.object, object);
    if (!strstr(error.message, message)) fail_msg("wanted \"%s\", got \"%s\"", message, error.message);
    lw_spec_destroy(spec);
}

static lw_spec *with_body(lw_body_spec body) {
    lw_spec *spec = lw_spec_create("faulty");
    assert_int_equal(lw_spec_add_body(spec, &body), LW_OK);
    return spec;
}

static lw_spec *with_joint(lw_joint_spec joint) {
    lw_spec *spec = lw_spec_create("faulty");
    assert_int_equal(lw_spec_add_joint(spec, &joint), LW_OK);
    return spec;
}

static void test_faults(void **unused) {
    (void)unused;
    static const char *const names[] = {"a{i}", "a\"", "a'b", "a, b", "a\nb", "", "\x1B[0m", "a\xC2\x85z"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char object[64];
        snprintf(object, sizeof object, "body \"%s\"", names[k]);
        cannot_write(with_body((lw_body_spec){.name = names[k]}), object, "name");
    }
    cannot_write(with_body((lw_body_spec){.name = "a\xFF"}), "body \"a\xFF\"", "byte 0xFF is not UTF-8");
    cannot_write(with_body((lw_body_spec){.name = "a", .mass = NAN}), "body \"a\"", "nan");
    cannot_write(with_body((lw_body_spec){.name = "a", .com = {0, INFINITY, 0}}), "body \"a\"", "inf");
    cannot_write(with_body((lw_body_spec){.name = "a", .has_pose = true}), "body \"a\"", "rotation");
    cannot_write(with_body((lw_body_spec){.name = "a", .kind = (lw_body_kind)7}), "body \"a\"",
                 "unknown kind 7");
    cannot_write(with_body((lw_body_spec){.name = "a", .shape = {.kind = LW_SHAPE_BOX}}), "body \"a\"",
                 "no extent");
    cannot_write(with_joint((lw_joint_spec){.name = "j", .type = LW_JOINT_TYPES}), "joint \"j\"",
                 "unknown type");
    cannot_write(with_joint((lw_joint_spec){.name = "j", .bodies = {"ground", NULL}}), "joint \"j\"",
                 "a body has no name");
    cannot_write(
        with_joint((lw_joint_spec){.name = "j", .bodies = {"ground", "a"}, .geometry[0] = {.axis_count = 3}}),
        "joint \"j\"", "3 axes given to a weld joint");
    cannot_write(with_joint((lw_joint_spec){.name = "j",
                                            .bodies = {"ground", "a"},
                                            .frame = LW_GEOMETRY_BODY,
                                            .geometry[0] = {.axis_count = 2}}),
                 "joint \"j\"", "first body has 2 axes, its second 0");
    lw_spec *spec = lw_spec_create("faulty");
    assert_int_equal(lw_spec_add_parameter(spec, "sin", 1), LW_OK);
    cannot_write(spec, "parameter \"sin\"", "cannot hold a parameter of this name");
    spec = lw_spec_create("faulty");
    assert_int_equal(lw_spec_set_run(spec, &(lw_run_spec){.end = -1}), LW_OK);
    cannot_write(spec, "run", "end -1 is not positive");
}

/* A fault leaves the file that is there; a folder that is not there is a fault of its own. */
static void test_files(void **unused) {
    (void)unused;
    lw_error error;
    char path[] = "/tmp/linkwork-round-trip-XXXXXX", text[16] = "";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "kept", 4), 4);
    close(file);
    lw_spec *spec = with_body((lw_body_spec){.name = "a", .mass = NAN});
    assert_int_equal(lw_write_model(spec, path, &error), LW_ERROR_ARGUMENT);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fread(text, 1, sizeof text, stream), 4);
    assert_string_equal(text, "kept");
    fclose(stream);
    unlink(path);
    lw_spec_destroy(spec);

    spec = lw_spec_create("good");
    assert_int_equal(lw_write_model(spec, "/no such folder/model.yaml", &error), LW_ERROR_FILE);
    assert_string_equal(error.object, "model file \"/no such folder/model.yaml\"");
    if (access("/dev/full", W_OK) == 0)
        assert_int_equal(lw_write_model(spec, "/dev/full", &error), LW_ERROR_FILE);
    lw_spec_destroy(spec);
}

/* Quaternions of any length are written at length 1: the reader refuses others. */
static void test_long_quaternion(void **unused) {
    (void)unused;
    size_t length;
    lw_spec *spec = with_body((lw_body_spec){.name = "a", .has_pose = true, .rotation = {3, 0, 4, 0}});
    what = "long quaternion";
    char *text = write_text(spec, &length);
    assert_non_null(strstr(text, "rotation: [0.6, 0, 0.8, 0]"));
    lw_spec_destroy(read_back(text, length));
    free(text);
    lw_spec_destroy(spec);
}

/* A free joint at the origin of the world is not one that moves the body's own frame, which stands elsewhere. */
static void test_free_at_origin(void **unused) {
    (void)unused;
    lw_spec *spec = with_body((lw_body_spec){.name = "a",
                                             .mass = 1,
                                             .inertia = {1, 1, 1},
                                             .has_pose = true,
                                             .position = {1, 2, 3},
                                             .rotation = {1}});
    lw_joint_spec joint = {
        .name = "j", .type = LW_JOINT_FREE, .bodies = {LW_GROUND, "a"}, .has_q = true, .q = {0, 0, 2, 1}};
    what = "free joint at the origin";
    assert_int_equal(lw_spec_add_joint(spec, &joint), LW_OK);
    assert_true(round_trip(spec));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problems),       cmocka_unit_test(test_examples),
        cmocka_unit_test(test_random_trees),   cmocka_unit_test(test_random_specs),
        cmocka_unit_test(test_model_names),    cmocka_unit_test(test_faults),
        cmocka_unit_test(test_files),          cmocka_unit_test(test_long_quaternion),
        cmocka_unit_test(test_free_at_origin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_parts.c - parts: a mechanism in a part is the same mechanism, mirrored, turned and moved.
 *
 * Random trees with every joint type and every force type become parts of a model, mirrored in every way,
 * turned and moved, also within each other: accelerations, energies, reactions, places and velocities of all
 * bodies are the images of those of the tree alone, computed here with matrices; so are those of a net of
 * points and of a bicycle that rolls. Rotors at rest may stand anywhere. A file with every kind of
 * quantity in its expressions has the same outputs alone and as a part. Parameters of parts that are changed
 * after reading give what reading with them gives; writing and reading back, and bytes, keep the motion, also
 * where events set parameters.
 */
#include "build.h"
#include "problems.h"
#include "random_model.h"
#include "io/model_write/write_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES LW_SOURCE_DIR "/tests/support/parts/"

/* --- random mechanisms ---------------------------------------------------------------------------- */

enum { MOST = 200 };

static void rotation_of(const double q[4], double R[3][3]) {
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                               {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                               {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(R, rows, sizeof rows);
}

/* x -> p + A x, with frames of bodies mirrored by D. */
typedef struct image {
    double p[3], A[3][3], D[3], det;
} image;

static void image_of(const lw_part_spec *part, image *out) {
    double R[3][3];
    rotation_of(part->rotation, R);
    out->det = part->mirror ? -1 : 1;
    for (int i = 0; i < 3; i++) {
        out->p[i] = part->position[i];
        out->D[i] = (int)part->mirror == i + 1 ? -1 : 1;
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) out->A[i][k] = R[i][k] * out->D[k];
}

static void map_vector(const image *m, double factor, const double *x, double *out) {
    double y[3];
    for (int i = 0; i < 3; i++) y[i] = factor * (m->A[i][0] * x[0] + m->A[i][1] * x[1] + m->A[i][2] * x[2]);
    memcpy(out, y, sizeof y);
}

static image compose(const image *outer, const image *inner) {
    image out;
    map_vector(outer, 1, inner->p, out.p);
    out.det = outer->det * inner->det;
    for (int i = 0; i < 3; i++) {
        out.p[i] += outer->p[i];
        out.D[i] = outer->D[i] * inner->D[i];
        for (int k = 0; k < 3; k++) {
            out.A[i][k] = 0;
            for (int l = 0; l < 3; l++) out.A[i][k] += outer->A[i][l] * inner->A[l][k];
        }
    }
    return out;
}

static const char *prefixed(const char *prefix, const char *name) {
    static char names[4096][40];
    static int used;
    char *text = names[used++ % 4096];
    snprintf(text, sizeof names[0], "%s%s", prefix, name);
    return text;
}

/* The spec as a part: the same objects under longer names, ground as a frame. */
static void make_part(lw_spec *spec, const char *prefix, const double gravity[3]) {
    for (size_t k = 0; k < lw_spec_body_count(spec); k++)
        lw_spec_body(spec, k)->name = prefixed(prefix, lw_spec_body(spec, k)->name);
    for (size_t k = 0; k < lw_spec_joint_count(spec); k++) {
        lw_joint_spec *joint = lw_spec_joint(spec, k);
        joint->name = prefixed(prefix, joint->name);
        for (int side = 0; side < 2; side++) joint->bodies[side] = prefixed(prefix, joint->bodies[side]);
    }
    for (size_t k = 0; k < lw_spec_force_count(spec); k++) {
        lw_force_spec *force = lw_spec_force(spec, k);
        force->name = prefixed(prefix, force->name);
        for (int side = 0; side < 2; side++)
            if (force->bodies[side]) force->bodies[side] = prefixed(prefix, force->bodies[side]);
        if (force->joint) force->joint = prefixed(prefix, force->joint);
    }
    for (size_t k = 0; k < lw_spec_constraint_count(spec); k++) {
        lw_constraint_spec *constraint = lw_spec_constraint(spec, k);
        constraint->name = prefixed(prefix, constraint->name);
        for (int side = 0; side < 2; side++)
            if (constraint->bodies[side])
                constraint->bodies[side] = prefixed(prefix, constraint->bodies[side]);
        for (int i = 0; i < constraint->terms; i++)
            if (constraint->joints[i]) constraint->joints[i] = prefixed(prefix, constraint->joints[i]);
    }
    const lw_frame_spec ground = {.name = prefixed(prefix, LW_GROUND), .body = LW_GROUND};
    assert_int_equal(lw_spec_add_frame(spec, &ground), LW_OK);
    lw_spec_set_gravity(spec, gravity);
}

/* What a mirrored coordinate of a joint is: docs/model-format.md, section Parts. */
static void signs_of(const image *m, lw_joint_type type, int nv, double *of_v, double *of_q) {
    for (int k = 0; k < nv; k++) of_v[k] = of_q[k] = 1;
    if (type == LW_JOINT_CYLINDRICAL) of_v[1] = of_q[1] = m->det;
    if (type != LW_JOINT_SPHERICAL && type != LW_JOINT_FREE) return;
    const int slides = type == LW_JOINT_FREE ? 3 : 0;
    for (int k = 0; k < 3; k++) {
        if (slides) of_v[k] = of_q[k] = m->D[k];
        of_v[slides + k] = m->det * m->D[k];
        of_q[slides + 1 + k] = m->det * m->D[k];
    }
    of_q[slides] = 1;
}

static void map_state(const image *m, const lw_model *model, const double *q, const double *v, double *q2,
                      double *v2) {
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        const lw_joint_info info = lw_model_joint_info(model, j);
        double of_v[8], of_q[8];
        signs_of(m, info.type, info.v_count, of_v, of_q);
        for (int k = 0; q && k < info.q_count; k++) q2[info.q + k] = of_q[k] * q[info.q + k];
        for (int k = 0; v && k < info.v_count; k++) v2[info.v + k] = of_v[k] * v[info.v + k];
    }
}

/* A rotation has two quaternions, of which compiling takes one where poses give the initial state. */
static void same_quaternions(const lw_model *model, const double *wanted, double *q) {
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        const lw_joint_info info = lw_model_joint_info(model, j);
        if (info.type != LW_JOINT_SPHERICAL && info.type != LW_JOINT_FREE) continue;
        const int at = info.q + (info.type == LW_JOINT_FREE ? 3 : 0);
        double product = 0;
        for (int k = 0; k < 4; k++) product += wanted[at + k] * q[at + k];
        for (int k = 0; k < 4 && product < 0; k++) q[at + k] = -q[at + k];
    }
}

static char context[120];

static void near(const char *what, const double *a, const double *b, int count, double tolerance) {
    const double gap = relative_difference(a, b, count);
    if (!(gap < tolerance)) fail_msg("%s: %s differs by %g", context, what, gap);
}

/* Rounding: a tree of ten bodies loses two to four digits of sixteen where it is badly conditioned. */
static const double same = 1e-10;

static void compare(const image *m, const lw_model *alone, const lw_model *part, const char *prefix,
                    lw_random *random) {
    double q[MOST], v[MOST], a[MOST], q2[MOST], v2[MOST], a2[MOST], wanted[MOST];
    static double r[6 * MOST], r2[6 * MOST];
    lw_error error = {0};
    lw_data *one, *two;
    assert_true(lw_model_q_size(alone) <= MOST);
    assert_int_equal(lw_model_v_size(alone), lw_model_v_size(part));
    lw_model_initial_state(alone, q, v);
    lw_model_initial_state(part, q2, v2);
    map_state(m, alone, q, v, wanted, a);
    same_quaternions(alone, wanted, q2);
    near("initial q", wanted, q2, lw_model_q_size(part), same);
    near("initial v", a, v2, lw_model_v_size(part), same);
    assert_int_equal(lw_data_create(alone, NULL, &one), LW_OK);
    assert_int_equal(lw_data_create(part, NULL, &two), LW_OK);
    for (int state = 0; state < 3; state++) {
        if (state > 0) random_state(random, alone, q, v);
        map_state(m, alone, q, v, q2, v2);
        const double t = 0.3 * state;
        if (lw_accelerations(alone, "tree", t, q, v, a, r, NULL, &error) != LW_OK)
            fail_msg("%s", error.message);
        if (lw_accelerations(part, "tree", t, q2, v2, a2, r2, NULL, &error) != LW_OK)
            fail_msg("%s", error.message);
        map_state(m, alone, NULL, a, NULL, wanted);
        near("acceleration", wanted, a2, lw_model_v_size(part), same);
        const lw_energy e = lw_energy_of(alone, one, t, q, v), e2 = lw_energy_of(part, two, t, q2, v2);
        near("kinetic energy", &e.kinetic, &e2.kinetic, 1, same);
        for (int j = 0; j < lw_model_joint_count(alone); j++) {
            map_vector(m, 1, r + 6 * j, wanted);
            map_vector(m, m->det, r + 6 * j + 3, wanted + 3);
            near("reaction", wanted, r2 + 6 * j, 6, same);
        }
        for (int i = 1; i <= lw_model_body_count(alone); i++) {
            double x[3], x2[3], R[9], R2[9], w[3], w2[3], u[3], u2[3];
            const double point[3] = {0.1, 0.2, -0.3},
                         image_point[3] = {m->D[0] * 0.1, m->D[1] * 0.2, m->D[2] * -0.3};
            const int other = lw_model_body(part, prefixed(prefix, lw_model_body_name(alone, i)));
            assert_int_equal(lw_body_pose(alone, one, t, q, i, x, R), LW_OK);
            assert_int_equal(lw_body_pose(part, two, t, q2, other, x2, R2), LW_OK);
            map_vector(m, 1, x, x);
            for (int k = 0; k < 3; k++) x[k] += m->p[k];
            near("place", x, x2, 3, same);
            for (int c = 0; c < 3; c++) { /* A R D, column by column */
                const double column[3] = {R[c] * m->D[c], R[3 + c] * m->D[c], R[6 + c] * m->D[c]};
                const double got[3] = {R2[c], R2[3 + c], R2[6 + c]};
                map_vector(m, 1, column, w);
                near("rotation", w, got, 3, same);
            }
            assert_int_equal(lw_body_velocity(alone, one, t, q, v, i, point, w, u), LW_OK);
            assert_int_equal(lw_body_velocity(part, two, t, q2, v2, other, image_point, w2, u2), LW_OK);
            map_vector(m, m->det, w, w);
            map_vector(m, 1, u, u);
            near("angular velocity", w, w2, 3, same);
            near("velocity", u, u2, 3, same);
        }
    }
    lw_data_destroy(one);
    lw_data_destroy(two);
}

static lw_part_spec random_part(lw_random *random, const char *name, int mirror, bool moved) {
    lw_part_spec part = {.name = name, .mirror = (lw_mirror)mirror, .rotation = {1, 0, 0, 0}};
    if (!moved) return part;
    random_vector(random, 3, 2, part.position);
    double length = 0;
    random_vector(random, 4, 1, part.rotation);
    for (int k = 0; k < 4; k++) length += part.rotation[k] * part.rotation[k];
    for (int k = 0; k < 4; k++) part.rotation[k] /= sqrt(length);
    return part;
}

static lw_spec *random_spec(uint64_t seed, int joint) {
    lw_random random = random_seed(seed);
    const random_tree options = {.bodies = 6,
                                 .forces = true,
                                 .prescribed = seed % 3 == 0,
                                 .reversed = seed % 2 == 1,
                                 .aligned = seed % 5 == 0,
                                 .joint = joint};
    return random_tree_spec(&random, &options);
}

static void mirrored_trees_move_as_images(void **state) {
    (void)state;
    for (int joint = -1; joint < LW_JOINT_TYPES; joint++) {
        if (joint == LW_JOINT_WELD) continue;
        for (int round = 0; round < (joint < 0 ? 60 : 12); round++) {
            const uint64_t seed = 7000 + 100 * (uint64_t)(joint + 1) + (uint64_t)round;
            lw_random random = random_seed(seed + 1);
            lw_spec *one = random_spec(seed, joint), *two = random_spec(seed, joint);
            const bool nested = round % 3 == 2;
            const lw_part_spec outer = random_part(&random, "p", round % 4, round % 2 == 1);
            const lw_part_spec inner = random_part(&random, "p.s", (round / 4 + 1) % 4, true);
            image m, own;
            image_of(&outer, &m);
            if (nested) {
                image_of(&inner, &own);
                m = compose(&m, &own);
                assert_int_equal(lw_spec_add_part(two, &inner), LW_OK);
            }
            assert_int_equal(lw_spec_add_part(two, &outer), LW_OK);
            double gravity[3];
            map_vector(&m, 1, lw_spec_gravity(one), gravity);
            const char *prefix = nested ? "p.s." : "p.";
            make_part(two, prefix, gravity);
            lw_model *alone = compile_or_fail(one), *part = compile_or_fail(two);
            snprintf(context, sizeof context, "joint type %d, round %d, mirror %d", joint, round,
                     (int)outer.mirror);
            compare(&m, alone, part, prefix, &random);
            lw_model_destroy(alone);
            lw_model_destroy(part);
        }
    }
}

/* A net of points, whose arms are zero in its own world and rounding in another one, and a bicycle that
 * rolls, by methods of every family. Accelerations have passed the check of balance. */
static void problems_move_as_images(void **state) {
    (void)state;
    static const char *const problems[] = {"net", "bicycle"};
    static const char *const methods[] = {"cut",       "rcr",       "massless",      "lagrange", "schur",
                                          "nullspace", "partition", "nullspace-svd", "auto"};
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++)
        for (int mirror = 0; mirror < 4; mirror++) {
            lw_random random = random_seed(31 + (uint64_t)mirror);
            lw_spec *one = read_problem_spec(problems[p], NULL, 0),
                    *two = read_problem_spec(problems[p], NULL, 0);
            const lw_part_spec part = random_part(&random, "p", mirror, true);
            image m;
            image_of(&part, &m);
            assert_int_equal(lw_spec_add_part(two, &part), LW_OK);
            double gravity[3], q[MOST], v[MOST], a[MOST], q2[MOST], v2[MOST], a2[MOST], wanted[MOST];
            map_vector(&m, 1, lw_spec_gravity(one), gravity);
            make_part(two, "p.", gravity);
            lw_model *alone = compile_or_fail(one), *placed = compile_or_fail(two);
            lw_model_initial_state(alone, q, v);
            map_state(&m, alone, q, v, q2, v2);
            for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
                lw_error error = {0};
                snprintf(context, sizeof context, "%s, mirror %d, %s", problems[p], mirror, methods[k]);
                if (lw_accelerations(alone, methods[k], 0, q, v, a, NULL, NULL, &error) != LW_OK ||
                    lw_accelerations(placed, methods[k], 0, q2, v2, a2, NULL, NULL, &error) != LW_OK)
                    fail_msg("%s: %s", context, error.message);
                map_state(&m, alone, NULL, a, NULL, wanted);
                /* The net is nearly flat, so that its strings pull 20 times its weight. */
                near("acceleration", wanted, a2, lw_model_v_size(placed), 1e-9);
            }
            lw_model_destroy(alone);
            lw_model_destroy(placed);
        }
}

/* A rotor and a flywheel at rest whose weight their bearings carry: what rounding of that does to their
 * angles is none of their motion, however far from the world's origin they stand. */
static void rotors_at_rest_stand_anywhere(void **state) {
    (void)state;
    for (int wheels = 1; wheels <= 2; wheels++)
        for (int far = 0; far <= 6; far += 3) {
            char text[1024];
            double a[2] = {NAN, NAN}, q[2], v[2];
            lw_error error = {0};
            snprintf(
                text, sizeof text,
                "linkwork: 1\n"
                "parameters: {L: 1e%d}\n"
                "bodies:\n"
                "  rotor: {mass: 2, inertia: [0.01, 0.01, 0.002], com: [L, -L, 2*L]}\n"
                "%s"
                "joints:\n"
                "  pin: {type: revolute, between: [ground, rotor], point: [L, -L, 2*L], axis: [1, 2, 3]}\n"
                "%s",
                far,
                wheels > 1 ? "  wheel: {mass: 0.1, inertia: [1e-4, 1e-4, 1e-4], com: [L + 0.1, L, 0]}\n" : "",
                wheels > 1 ? "  axle: {type: revolute, between: [ground, wheel], point: [L + 0.1, L, 0], "
                             "axis: [0, 3, 1]}\n"
                           : "");
            lw_model *model = compile_or_fail(read_text_spec(text));
            lw_model_initial_state(model, q, v);
            if (lw_accelerations(model, "auto", 0, q, v, a, NULL, NULL, &error) != LW_OK)
                fail_msg("L = 1e%d: %s", far, error.message);
            for (int k = 0; k < wheels; k++) assert_true(fabs(a[k]) < 1e-9);
            lw_model_destroy(model);
        }
}

/* --- files ---------------------------------------------------------------------------------------- */

static lw_spec *read_with(const char *file, const lw_setting *settings, size_t count) {
    char path[512];
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    snprintf(path, sizeof path, "%s%s", FILES, file);
    lw_status status = lw_read_model(path, settings, count, report, &spec);
    if (status != LW_OK || lw_report_size(report) > 0) show_report(report);
    assert_int_equal(status, LW_OK);
    assert_int_equal((int)lw_report_size(report), 0);
    lw_report_destroy(report);
    return spec;
}

static lw_simulation *run(const lw_model *model, double end) {
    lw_run_options options;
    lw_error error = {0};
    lw_simulation *s = NULL;
    lw_run_defaults(model, &options);
    options.tolerance = 1e-11;
    if (lw_simulation_create(model, &options, NULL, &s, &error) != LW_OK) fail_msg("%s", error.message);
    if (lw_simulation_advance(s, end, &error) != LW_OK) fail_msg("%s", error.message);
    return s;
}

static double output(lw_simulation *s, const char *name) {
    double value = NAN;
    const int index = lw_model_output(lw_simulation_model(s), name);
    if (index < 0) fail_msg("there is no output %s", name);
    assert_int_equal(lw_simulation_output(s, index, &value), LW_OK);
    return value;
}

/* Tolerance 1e-11 per step, some hundred steps of a motion that is not chaotic; chosen a thousand times
 * that. */
static void outputs_are_those_alone(void **state) {
    (void)state;
    lw_model *alone = compile_or_fail(read_with("machine.yaml", NULL, 0)),
             *parts = compile_or_fail(read_with("uses_machine.yaml", NULL, 0));
    static const char *const uses[] = {"plain", "moved", "flipped", "turned", "deep.twice"};
    lw_simulation *one = run(alone, 0.5), *two = run(parts, 0.5);
    const int count = lw_model_output_count(alone);
    assert_true(count > 30);
    for (size_t u = 0; u < sizeof uses / sizeof *uses; u++)
        for (int k = 0; k < count; k++) {
            char name[80];
            snprintf(name, sizeof name, "%s.%s", uses[u], lw_model_output_name(alone, k));
            const double a = output(one, lw_model_output_name(alone, k)), b = output(two, name);
            if (!(fabs(a - b) < 1e-8 * (1 + fabs(a)))) fail_msg("%s is %.12g, alone %.12g", name, b, a);
        }
    lw_simulation_destroy(one);
    lw_simulation_destroy(two);
    lw_model_destroy(alone);
    lw_model_destroy(parts);
}

static char *text_of(const lw_spec *spec) {
    char *text = NULL;
    size_t length;
    lw_error error = {0};
    if (lw_model_text(spec, &text, &length, &error) != LW_OK) fail_msg("%s: %s", error.object, error.message);
    return text;
}

/* A parameter that is set after reading, in the part, in a part of a part, or in the model above, gives the
 * model that reading with the setting gives, to the last bit. */
static void parameters_can_be_set(void **state) {
    (void)state;
    static const lw_setting settings[] = {{"plain.L", "0.45"},
                                          {"deep.twice.mp", "2.5"},
                                          {"width", "0.8"},
                                          {"turned.L", "0.3"},
                                          {"deep.scale", "1.3"}};
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        lw_error error = {0};
        lw_spec *read = read_with("uses_machine.yaml", &settings[k], 1),
                *set = read_with("uses_machine.yaml", NULL, 0),
                *before = read_with("uses_machine.yaml", NULL, 0);
        if (lw_spec_set_parameter(set, settings[k].name, strtod(settings[k].value, NULL), &error) != LW_OK)
            fail_msg("%s: %s", settings[k].name, error.message);
        char *a = text_of(read), *b = text_of(set), *c = text_of(before);
        assert_string_equal(a, b);
        assert_string_not_equal(a, c);
        free(a), free(b), free(c);
        lw_spec_destroy(read), lw_spec_destroy(set), lw_spec_destroy(before);
    }
}

/* The written model, which has no parts, and the spec from bytes move as the model with parts does. */
static void written_models_move_alike(void **state) {
    (void)state;
    lw_error error = {0};
    lw_spec *spec = read_with("uses_machine.yaml", NULL, 0), *again = NULL, *loaded = NULL;
    char *text = text_of(spec);
    again = read_text_spec(text);
    size_t size;
    assert_int_equal(lw_spec_save(spec, NULL, 0, &size), LW_OK);
    void *bytes = malloc(size);
    assert_int_equal(lw_spec_save(spec, bytes, size, NULL), LW_OK);
    assert_int_equal(lw_spec_load(bytes, size, &loaded, &error), LW_OK);
    char *second = text_of(again), *third = text_of(loaded);
    assert_string_equal(text, second);
    assert_string_equal(text, third);
    assert_int_equal(lw_spec_part_count(loaded), lw_spec_part_count(spec));
    assert_int_equal(lw_spec_set_parameter(loaded, "plain.L", 0.45, &error), LW_OK);
    assert_int_equal(lw_spec_set_parameter(spec, "plain.L", 0.45, &error), LW_OK);
    char *fourth = text_of(loaded), *fifth = text_of(spec);
    assert_string_equal(fourth, fifth);
    free(fourth), free(fifth), free(second), free(third), free(text), free(bytes);
    lw_model *parts = compile_or_fail(read_with("uses_machine.yaml", NULL, 0)),
             *written = compile_or_fail(again);
    double q[MOST], v[MOST], a[MOST], a2[MOST], q2[MOST], v2[MOST];
    assert_true(lw_model_q_size(parts) <= MOST && lw_model_q_size(parts) == lw_model_q_size(written));
    lw_model_initial_state(parts, q, v);
    lw_model_initial_state(written, q2, v2);
    near("initial q", q, q2, lw_model_q_size(parts), 1e-13);
    if (lw_accelerations(parts, "auto", 0, q, v, a, NULL, NULL, &error) != LW_OK)
        fail_msg("%s", error.message);
    if (lw_accelerations(written, "auto", 0, q, v, a2, NULL, NULL, &error) != LW_OK)
        fail_msg("%s", error.message);
    near("acceleration", a, a2, lw_model_v_size(parts), 1e-11);
    lw_model_destroy(parts), lw_model_destroy(written);
    lw_spec_destroy(spec), lw_spec_destroy(loaded);
}

/* Parameters that events set are parameters in the written model, too: forces, inputs, tables and gravity
 * follow them. A point that would have to be turned into another world is refused. */
static void set_parameters_are_written(void **state) {
    (void)state;
    lw_spec *spec = read_with("uses_set_parameters.yaml", NULL, 0);
    char *text = text_of(spec);
    lw_spec *again = read_text_spec(text);
    char *second = text_of(again);
    assert_string_equal(text, second);
    lw_model *parts = compile_or_fail(spec), *written = compile_or_fail(again);
    lw_simulation *one = run(parts, 0.5), *two = run(written, 0.5), *before = run(parts, 0.19);
    for (int k = 0; k < lw_model_output_count(parts); k++) {
        const char *name = lw_model_output_name(parts, k);
        const double a = output(one, name), b = output(two, name);
        /* Equal but for rounding, which grows a little over some hundred steps. */
        if (!(fabs(a - b) < 1e-10 * (1 + fabs(a)))) fail_msg("%s is %.12g, written %.12g", name, a, b);
    }
    assert_true(fabs(output(before, "plain.w") - 15) < 1e-12);
    assert_true(fabs(output(two, "plain.w") - 27) < 1e-12);
    assert_true(fabs(output(two, "moved.w") - 36) < 1e-12);
    lw_simulation_destroy(one), lw_simulation_destroy(two), lw_simulation_destroy(before);
    lw_model_destroy(parts), lw_model_destroy(written);
    free(text), free(second);

    size_t length;
    lw_error error = {0};
    spec = read_with("set_point.yaml", NULL, 0);
    text = text_of(spec);
    assert_non_null(strstr(text, "[L, 0, 0]"));
    free(text);
    lw_spec_destroy(spec);
    spec = read_with("uses_set_point.yaml", NULL, 0);
    assert_int_equal(lw_model_text(spec, &text, &length, &error), LW_ERROR_UNSUPPORTED);
    assert_string_equal(error.object, "force \"p.push\"");
    assert_non_null(strstr(error.message, "depends on a parameter that an event sets"));
    lw_spec_destroy(spec);
}

/* --- faults --------------------------------------------------------------------------------------- */

static void fault_says(const char *file, const char *where, const char *message) {
    char path[512];
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    snprintf(path, sizeof path, "%s%s", FILES, file);
    lw_status status = lw_read_model(path, NULL, 0, report, &spec);
    if (status == LW_OK) status = lw_model_compile(spec, NULL, report, &model);
    assert_int_not_equal(status, LW_OK);
    bool said = false;
    for (size_t k = 0; k < lw_report_size(report); k++) {
        char text[2048];
        lw_error_format(lw_report_get(report, k), text, sizeof text);
        said = said || (strstr(text, message) && strstr(text, where));
    }
    if (!said) show_report(report);
    if (!said) fail_msg("%s: nothing says \"%s\" at \"%s\"", file, message, where);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
}

static void faults_name_both_files(void **state) {
    (void)state;
    fault_says("wrong_inside.yaml",
               "broken.yaml:5:", "(used as part \"left\", " FILES "wrong_inside.yaml:6:3)");
    fault_says("wrong_law.yaml",
               "broken_law.yaml:8:", "(used as part \"left\", " FILES "wrong_law.yaml:6:3)");
    fault_says("itself.yaml", "itself.yaml:5:", "uses itself");
    fault_says("wrong_names.yaml", "wrong_names.yaml:6:", "no parameter \"LL\"");
    fault_says("wrong_names.yaml", "wrong_names.yaml:6:", "no body \"chasis\"");
    fault_says("wrong_outer.yaml", "wrong_outer.yaml:4:", "is not among the bodies");
    fault_says("wrong_names.yaml", "wrong_names.yaml:8:", "cannot be the name of a part");
    fault_says("wrong_names.yaml", "wrong_names.yaml:9:", "outside the folder");
    fault_says("wrong_names.yaml", "wrong_names.yaml:3:", "belong to the part");
    fault_says("wrong_unit.yaml", "link.yaml:3:", "that is a mass, but in the model it is a length");
    fault_says("wrong_clash.yaml", "wrong_clash.yaml:7:", "has this name, too");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mirrored_trees_move_as_images), cmocka_unit_test(problems_move_as_images),
        cmocka_unit_test(rotors_at_rest_stand_anywhere), cmocka_unit_test(outputs_are_those_alone),
        cmocka_unit_test(parameters_can_be_set),         cmocka_unit_test(written_models_move_alike),
        cmocka_unit_test(set_parameters_are_written),    cmocka_unit_test(faults_name_both_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

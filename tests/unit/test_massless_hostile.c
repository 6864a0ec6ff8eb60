/* test_massless_hostile.c - method massless on models that nobody should write: a result or a sentence, never a number that is none.
 *
 * Everything zero, stiffness and damping from 1e-300 to 1e300, springs of no length, springs collapsed between two points without mass,
 * inertia of rank one about odd axes, and all of that in closed loops.
 */
#include "build.h"
#include "problems.h"
#include "random_model.h"
#include "formulations/massless/massless_parts.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX = 100 };
static int results, sentences, refused; /* of the running test */

static void all_finite(const char *what, const double *x, int count) {
    for (int k = 0; k < count; k++)
        if (!isfinite(x[k])) fail_msg("%s: number %d is %g", what, k, x[k]);
}

static bool watch(const lw_sample *sample, void *context) {
    const lw_model *model = context;
    all_finite("position", sample->q, lw_model_q_size(model));
    all_finite("speed", sample->v, lw_model_v_size(model));
    if (sample->vdot) all_finite("acceleration", sample->vdot, lw_model_v_size(model));
    if (sample->reactions) all_finite("reaction", sample->reactions, 6 * lw_model_joint_count(model));
    return true;
}

static void sentence(const char *name, const lw_error *error) {
    if (!error->message[0] || strstr(error->message, " nan") || strstr(error->message, "-nan"))
        fail_msg("%s: \"%s\"", name, error->message);
    sentences++;
}

/* Classifies, evaluates and runs; destroys the spec. */
static void must_end(const char *name, lw_spec *spec) {
    static const char *const integrators[] = {"rk4", "bdf", "ida"};
    lw_report *report = lw_report_create();
    lw_model *model;
    lw_status status = lw_model_compile(spec, NULL, report, &model);
    lw_report_destroy(report);
    lw_spec_destroy(spec);
    if (status != LW_OK) { /* the reader has refused it */
        refused++;
        return;
    }
    lw_directions *directions;
    lw_error error = {0};
    status = lw_directions_create(model, &directions, &error);
    if (status == LW_OK)
        lw_directions_destroy(directions);
    else
        sentence(name, &error);
    for (int k = 0; k < 3; k++) {
        lw_run_options options;
        lw_run_summary summary;
        double q[MAX], v[MAX];
        lw_run_defaults(model, &options);
        options.method = "massless", options.integrator = integrators[k], options.tolerance = 1e-5;
        options.step = k ? 0 : 1e-3;
        options.end = 0.01, options.output = 0.005;
        options.want_accelerations = options.want_reactions = true;
        options.observe = watch, options.context = model;
        lw_model_initial_state(model, q, v);
        status = lw_simulate(model, &options, q, v, &summary, &error);
        if (status == LW_OK) {
            all_finite(name, q, lw_model_q_size(model));
            all_finite(name, v, lw_model_v_size(model));
            results++;
        } else
            sentence(name, &error);
    }
    lw_model_destroy(model);
}

static void begin(void) { results = sentences = refused = 0; }
static void told(void) {
    print_message("%d results, %d sentences, %d not compiled\n", results, sentences, refused);
}

/* --- trees -------------------------------------------------------------------------------------------- */

/* ground - ghost - ghost - load, on joints of one type, a spring and a damper of these sizes at each. */
static lw_spec *row_of(lw_joint_type type, double mass, double stiffness, double damping) {
    lw_spec *spec = lw_spec_create("row");
    const double axis[3] = {0.6, 0, 0.8};
    for (int k = 0; k < 3; k++) {
        char name[16], before[16], joint[16];
        snprintf(name, sizeof name, "b%d", k + 1);
        snprintf(before, sizeof before, k ? "b%d" : "ground", k);
        snprintf(joint, sizeof joint, "j%d", k + 1);
        lw_body_spec body = {.name = name, .com = {0.1, 0.2, 0.3}};
        if (k == 2) body.mass = mass, body.inertia[0] = body.inertia[1] = body.inertia[2] = mass;
        add_body(spec, body);
        const double point[3] = {0.2 * k, 0, 0};
        bool axes = type != LW_JOINT_SPHERICAL && type != LW_JOINT_FREE;
        add_plain_joint(spec, joint, type, before, name, point, axes ? axis : NULL);
        int nv = type == LW_JOINT_PLANAR || type == LW_JOINT_SPHERICAL ? 3 : type == LW_JOINT_FREE ? 6 : 1;
        for (int c = 0; c < nv; c++) {
            char force[24];
            bool coordinate = type != LW_JOINT_SPHERICAL && !(type == LW_JOINT_FREE && c >= 3);
            snprintf(force, sizeof force, "spring%d_%d", k, c);
            if (coordinate && stiffness != 0)
                add_force(spec, (lw_force_spec){.name = force,
                                                .type = LW_FORCE_TORSION,
                                                .joint = joint,
                                                .coordinate = c,
                                                .stiffness = stiffness});
            snprintf(force, sizeof force, "damper%d_%d", k, c);
            if (damping != 0)
                add_force(spec, (lw_force_spec){.name = force,
                                                .type = LW_FORCE_FRICTION,
                                                .joint = joint,
                                                .coordinate = c,
                                                .viscous = damping});
        }
    }
    return spec;
}

static void sizes(void **state) {
    (void)state;
    static const double size[] = {0, 1e-300, 1e-30, 1, 1e30, 1e300};
    static const lw_joint_type types[] = {LW_JOINT_REVOLUTE, LW_JOINT_PRISMATIC, LW_JOINT_PLANAR,
                                          LW_JOINT_SPHERICAL, LW_JOINT_FREE};
    begin();
    for (size_t j = 0; j < sizeof types / sizeof *types; j++)
        for (int k = 0; k < 6; k++)
            for (int c = 0; c < 6; c++) {
                char name[64];
                snprintf(name, sizeof name, "joint %d, stiffness %g, damping %g", (int)types[j], size[k],
                         size[c]);
                must_end(name, row_of(types[j], (k + c) % 2 ? 1 : 0, size[k], size[c]));
            }
    told();
    assert_true(results > 100 && sentences > 100);
}

/* Two points without mass on slides of three axes, joined by a spring of this length, which may be that of their distance or none. */
static lw_spec *points(double distance, double length, double stiffness, double damping, bool held) {
    lw_spec *spec = lw_spec_create("points");
    const char *const names[2] = {"p", "s"};
    for (int k = 0; k < 2; k++) {
        char joint[8];
        snprintf(joint, sizeof joint, "j%d", k);
        add_body(spec, (lw_body_spec){.name = names[k], .kind = LW_BODY_POINT});
        lw_joint_spec slide = {.name = joint, .type = LW_JOINT_TRANSLATION, .bodies = {LW_GROUND, names[k]}};
        slide.geometry[0].axis_count = 3;
        for (int c = 0; c < 3; c++) slide.geometry[0].axes[c][c] = 1;
        slide.has_q = true, slide.q[0] = k * distance;
        add_joint(spec, slide);
        for (int c = 0; c < 3 && held; c++) {
            char force[16];
            snprintf(force, sizeof force, "h%d%d", k, c);
            add_force(spec, (lw_force_spec){.name = force,
                                            .type = LW_FORCE_TORSION,
                                            .joint = joint,
                                            .coordinate = c,
                                            .stiffness = k ? 2 : 1,
                                            .damping = c == 1});
        }
    }
    add_force(spec, (lw_force_spec){.name = "line",
                                    .type = LW_FORCE_SPRING,
                                    .bodies = {"p", "s"},
                                    .stiffness = stiffness,
                                    .damping = damping,
                                    .free_length = length});
    return spec;
}

static void springs_without_length(void **state) {
    (void)state;
    static const double distance[] = {0, 1e-300, 1e-12, 0.5}, length[] = {0, 1e-9, 0.5},
                        stiffness[] = {0, 1e-12, 10, 1e12};
    begin();
    for (int held = 0; held < 2; held++)
        for (int d = 0; d < 4; d++)
            for (int l = 0; l < 3; l++)
                for (int k = 0; k < 4; k++) {
                    char name[96];
                    snprintf(name, sizeof name, "held %d, distance %g, length %g, stiffness %g", held,
                             distance[d], length[l], stiffness[k]);
                    must_end(name, points(distance[d], length[l], stiffness[k], k % 2 ? 0.1 : 0, held));
                }
    told();
    assert_true(results > 20);
}

/* One body with inertia of rank one or two about an odd axis. */
static void odd_inertia(void **state) {
    (void)state;
    begin();
    for (int seed = 1; seed <= 60; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        double a[3];
        random_direction(&random, a);
        double moment = pow(10, random_between(&random, -20, 20));
        lw_spec *spec = lw_spec_create("odd");
        lw_body_spec body = {.name = "body", .mass = seed % 3 ? 0 : 1, .com = {a[1], a[2], a[0]}};
        bool rod =
            seed % 2; /* J (1 - a a'): zero about a; else two rods across each other in one body: full */
        for (int k = 0; k < 6; k++) {
            static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
            body.inertia[k] = moment * ((k < 3) - (rod ? 1 : 0.5) * a[row[k]] * a[column[k]]);
        }
        add_body(spec, body);
        const double point[3] = {0.1, 0, -0.2};
        add_plain_joint(spec, "ball", LW_JOINT_SPHERICAL, LW_GROUND, "body", point, NULL);
        for (int c = 0; c < seed % 4; c++) {
            char name[16];
            snprintf(name, sizeof name, "f%d", c);
            add_force(spec, (lw_force_spec){.name = name,
                                            .type = LW_FORCE_FRICTION,
                                            .joint = "ball",
                                            .coordinate = c,
                                            .viscous = seed % 5 ? 1 : 0,
                                            .coulomb = seed % 5 ? 0 : 1,
                                            .smoothing = 1e-3});
        }
        must_end("odd inertia", spec);
    }
    told();
    assert_true(results > 20);
}

/* --- loops ---------------------------------------------------------------------------------------------- */

/* A four-bar of which the bars in `with` have mass, with a damper and a spring of these sizes at the first hinge. */
static lw_spec *four_bar(unsigned with, double length, double stiffness, double damping) {
    lw_spec *spec = lw_spec_create("four-bar");
    const char *const names[3] = {"crank", "coupler", "rocker"};
    const double corner[4][3] = {{0, 0, 0},
                                 {0.3 * length, 0.4 * length, 0},
                                 {length, 0.7 * length, 0},
                                 {length, 0, 0}},
                 axis[3] = {0, 0, 1};
    for (int k = 0; k < 3; k++) {
        lw_body_spec body = {.name = names[k]};
        if (with >> k & 1)
            body.mass = 1, body.inertia[0] = body.inertia[1] = body.inertia[2] = length * length;
        for (int c = 0; c < 3; c++) body.com[c] = (corner[k][c] + corner[k + 1][c]) / 2;
        add_body(spec, body);
    }
    add_plain_joint(spec, "A", LW_JOINT_REVOLUTE, LW_GROUND, "crank", corner[0], axis);
    add_plain_joint(spec, "B", LW_JOINT_REVOLUTE, "crank", "coupler", corner[1], axis);
    add_plain_joint(spec, "C", LW_JOINT_REVOLUTE, "coupler", "rocker", corner[2], axis);
    add_plain_joint(spec, "D", LW_JOINT_REVOLUTE, LW_GROUND, "rocker", corner[3], axis);
    if (stiffness != 0)
        add_force(spec, (lw_force_spec){
                            .name = "coil", .type = LW_FORCE_TORSION, .joint = "A", .stiffness = stiffness});
    if (damping != 0)
        add_force(spec, (lw_force_spec){
                            .name = "rub", .type = LW_FORCE_FRICTION, .joint = "B", .viscous = damping});
    return spec;
}

static void loops(void **state) {
    (void)state;
    static const double size[] = {0, 1e-300, 1, 1e300}, lengths[] = {1e-9, 1, 1e9};
    begin();
    for (unsigned with = 0; with < 8; with++)
        for (int l = 0; l < 3; l++)
            for (int k = 0; k < 4; k++)
                for (int c = 0; c < 4; c++) {
                    char name[96];
                    snprintf(name, sizeof name, "mass %u, length %g, stiffness %g, damping %g", with,
                             lengths[l], size[k], size[c]);
                    if ((with + (unsigned)(l + k + c)) % 3) continue; /* a third of them */
                    must_end(name, four_bar(with, lengths[l], size[k], size[c]));
                }
    told();
    assert_true(results > 50);
}

/* --- what random models found ----------------------------------------------------------------------------- */

static lw_status run_by(lw_spec *spec, const char *integrator, double end, lw_error *error) {
    lw_report *report = lw_report_create();
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    lw_report_destroy(report);
    lw_spec_destroy(spec);
    lw_run_options options;
    lw_run_summary summary;
    double q[MAX], v[MAX];
    lw_run_defaults(model, &options);
    options.method = "massless", options.integrator = integrator, options.tolerance = 1e-6;
    options.end = end, options.output = end / 2;
    options.observe = watch, options.context = model;
    lw_model_initial_state(model, q, v);
    lw_status status = lw_simulate(model, &options, q, v, &summary, error);
    lw_model_destroy(model);
    return status;
}

/* A slider is tied to a wheel that is made to turn: the loop cannot stay closed. Nothing projects the steps of ida, which went on with
 * the loop open. */
static void contradicting_motion(void **state) {
    (void)state;
    static const char *const integrators[] = {"erk", "bdf", "ida"};
    for (int k = 0; k < 3; k++) {
        lw_spec *spec = lw_spec_create("torn");
        const double along[3] = {1, 0, 0}, up[3] = {0, 0, 1}, centre[3] = {0.3, 0, 0.5}, tie[3] = {0.1, 0, 0};
        add_body(spec, (lw_body_spec){.name = "slider", .mass = 1, .inertia = {1, 1, 1}});
        add_body(spec, (lw_body_spec){.name = "ghost"});
        add_body(spec, (lw_body_spec){.name = "wheel", .mass = 1, .inertia = {0.1, 0.1, 0.1}});
        add_plain_joint(spec, "rail", LW_JOINT_PRISMATIC, LW_GROUND, "slider", tie, along);
        add_plain_joint(spec, "pin", LW_JOINT_REVOLUTE, "slider", "ghost", tie, up);
        lw_joint_spec axle = {
            .name = "axle", .type = LW_JOINT_REVOLUTE, .bodies = {LW_GROUND, "wheel"}, .motion = {"t^3"}};
        memcpy(axle.geometry[0].point, centre, sizeof centre);
        memcpy(axle.geometry[0].axes[0], up, sizeof up);
        axle.geometry[0].axis_count = 1;
        add_joint(spec, axle);
        add_plain_joint(spec, "tie", LW_JOINT_SPHERICAL, "slider", "wheel", tie, NULL);
        add_force(spec,
                  (lw_force_spec){.name = "rub", .type = LW_FORCE_FRICTION, .joint = "pin", .viscous = 1});
        lw_error error = {0};
        lw_status status = run_by(spec, integrators[k], 0.1, &error);
        if (status != LW_ERROR_SINGULAR) fail_msg("%s: %d %s", integrators[k], status, error.message);
        sentence(integrators[k], &error);
    }
}

/* Positions with more motions without mass than elsewhere: two universal joints in line; a ball on the normal of a plane through another ball. Dampers
 * resist all of them, so that the sentence must not ask for one. A ball and a universal joint in line, apart, are in no such position. */
static void singular_starts(void **state) {
    (void)state;
    static const char *const joints[] = {
        "  j1: {type: universal, between: [ground, a], point: [0, 0, 0], axes: [[1, 0, 0], [0, 1, 0]]}\n"
        "  j2: {type: universal, between: [a, e], point: [0, 0, 0], axes: [[1, 0, 0], [0, 1, 0]]}\n",
        "  j1: {type: spherical, between: [ground, a], first: {point: [0, 0, 0]}, second: {point: [0, 0, "
        "0]}}\n"
        "  j2: {type: planar, between: [a, b], first: {point: [0, 0, 0], normal: [0.2, 0.3, 0.9]},\n"
        "    second: {point: [0, 0, 0], normal: [0.2, 0.3, 0.9]}}\n"
        "  j3: {type: revolute, between: [b, c], first: {point: [0, 0, 0], axis: [0.2, 0.3, 0.9]},\n"
        "    second: {point: [0, 0, 0], axis: [0.2, 0.3, 0.9]}}\n"
        "  j4: {type: spherical, between: [c, e], first: {point: [0.02, 0.03, 0.09]}, second: {point: [0, 0, "
        "0]}}\n",
        "  j1: {type: spherical, between: [ground, a], point: [0, 0, 0]}\n"
        "  j2: {type: universal, between: [a, e], point: [0, 0, 1], axes: [[1, 0, 0], [0, 1, 0]]}\n"};
    for (int k = 0; k < 3; k++) {
        char text[2400];
        snprintf(text, sizeof text,
                 "linkwork: 1\nname: straight\nbodies:\n  a: {mass: 0}\n%s"
                 "  e: {mass: 1.3, com: [-0.3, 0.15, -0.16], inertia: [0.25, 0.2, 0.27]}\njoints:\n%s",
                 k == 1 ? "  b: {mass: 0}\n  c: {mass: 0}\n" : "", joints[k]);
        lw_spec *spec = read_text_spec(text);
        for (size_t j = 0; j < lw_spec_joint_count(spec); j++) {
            const lw_joint_spec *joint = lw_spec_joint(spec, j);
            bool ball = joint->type == LW_JOINT_SPHERICAL;
            char name[40];
            lw_force_spec bushing = {.name = name,
                                     .type = LW_FORCE_BUSHING,
                                     .bodies = {joint->bodies[0], joint->bodies[1]},
                                     .bushing_damping = {0, 0, 0, 1, 1, 1}};
            snprintf(name, sizeof name, "d%zu", j);
            if (ball) add_force(spec, bushing);
            for (int v = 0; v < lw_joint_type_v(joint->type, 0) && !ball; v++) {
                snprintf(name, sizeof name, "d%zu_%d", j, v);
                add_force(spec, (lw_force_spec){.name = name,
                                                .type = LW_FORCE_FRICTION,
                                                .joint = joint->name,
                                                .coordinate = v,
                                                .viscous = 1 + v});
            }
        }
        lw_model *model = compile_or_fail(spec);
        lw_directions *directions;
        lw_error error = {0};
        if (lw_directions_create(model, &directions, &error) != LW_OK) fail_msg("%s", error.message);
        for (int d = 0; d < lw_directions_count(directions); d++)
            assert_int_equal(lw_directions_at(directions, d)->kind, LW_DIRECTION_FIRST_ORDER);
        lw_directions_destroy(directions);
        lw_run_options options;
        lw_run_summary summary;
        double q[MAX], v[MAX];
        lw_run_defaults(model, &options);
        options.method = "massless", options.end = 0.01;
        lw_status status = lw_simulate(model, &options, q, v, &summary, &error);
        if (status == LW_OK) all_finite("q", q, lw_model_q_size(model));
        if ((status == LW_OK) != (k == 2))
            fail_msg("model %d: %s", k, status == LW_OK ? "runs" : error.message);
        if (status != LW_OK && !strstr(error.message, "singular position")) fail_msg("%s", error.message);
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes), cmocka_unit_test(springs_without_length), cmocka_unit_test(odd_inertia),
        cmocka_unit_test(loops), cmocka_unit_test(contradicting_motion),   cmocka_unit_test(singular_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

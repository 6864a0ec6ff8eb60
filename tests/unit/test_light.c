/* test_light.c - mechanisms with light bodies, points and planar bodies for the reductions of mufti1983: known answers.
 */
#include "build.h"
#include "formulations/formulation.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { MAX_V = 16, MAX_JOINTS = 8 };

static const char *const methods[] = {"schur",         "rates",          "barycentre",
                                      "relative",      "nullspace",      "nullspace-partition",
                                      "nullspace-svd", "nullspace-graph"};
enum { METHODS = sizeof methods / sizeof *methods };

static const double y_axis[3] = {0, 1, 0}, origin[3] = {0, 0, 0};

static lw_status accelerations(const lw_model *model, const char *name, const double *q, const double *v,
                               double *vdot, double *reactions, lw_error *error) {
    const lw_formulation *f = lw_formulation_find(name);
    const lw_method_options options = {0};
    lw_method *method;
    lw_status status = f->applies(model, error);
    if (status == LW_OK) status = f->create(model, &options, &method, error);
    if (status != LW_OK) return status;
    status = f->accelerations(method, 0, q, v, NULL, vdot, reactions, NULL, error);
    f->destroy(method);
    return status;
}

static void add(lw_spec *spec, const char *name, double mass, double x, double z, double ixx, double iyy,
                double izz) {
    add_body(spec, (lw_body_spec){.name = name, .mass = mass, .com = {x, 0, z}, .inertia = {ixx, iyy, izz}});
}

/* A four-bar whose loop closes between frames of mass eps welded to coupler and rocker, as exporters write closed loops. */
static lw_model *light_four_bar(double eps) {
    lw_spec *spec = lw_spec_create("light four-bar");
    const double a[3] = {0, 0, 0}, b[3] = {0, 0, 1}, d[3] = {2, 0, 0}, c[3] = {2, 0, 1};
    add(spec, "crank", 1, 0, 0.5, 0.1, 0.1, 0.02);
    add(spec, "coupler", 2, 1, 1, 0.04, 0.7, 0.7);
    add(spec, "rocker", 1.5, 2, 0.5, 0.3, 0.3, 0.03);
    add(spec, "frame on the coupler", eps, 2, 1, 0, 0, 0);
    add(spec, "frame on the rocker", eps, 2, 1, 0, 0, 0);
    add_plain_joint(spec, "A", LW_JOINT_REVOLUTE, LW_GROUND, "crank", a, y_axis);
    add_plain_joint(spec, "B", LW_JOINT_REVOLUTE, "crank", "coupler", b, y_axis);
    add_plain_joint(spec, "D", LW_JOINT_REVOLUTE, LW_GROUND, "rocker", d, y_axis);
    add_plain_joint(spec, "wA", LW_JOINT_WELD, "coupler", "frame on the coupler", c, y_axis);
    add_plain_joint(spec, "wB", LW_JOINT_WELD, "rocker", "frame on the rocker", c, y_axis);
    add_plain_joint(spec, "C", LW_JOINT_SPHERICAL, "frame on the coupler", "frame on the rocker", c, y_axis);
    lw_spec_joint(spec, 5)->cut = true;
    lw_force_spec drive = {.name = "m", .type = LW_FORCE_DRIVE, .joint = "A", .drive = "10"};
    assert_int_equal(lw_spec_add_force(spec, &drive), LW_OK);
    return compile_or_fail(spec);
}

/* At unit speeds (crank and rocker 1 rad/s, coupler -1 rad/s in B). Crank and rocker turn alike, the coupler translates:
 * (0.1 + 1/4 + 2 + 0.3 + 1.5/4) wddot = 10, gravity does nothing here. */
static void a_frame_without_mass_to_speak_of(void **state) {
    (void)state;
    const double right = 10 / 3.025;
    for (double eps = 1e-3; eps > 1e-13; eps /= 10)
        for (int k = 0; k < METHODS; k++) {
            lw_model *model = light_four_bar(eps);
            double q[2 * MAX_V], v[MAX_V], vdot[MAX_V], reactions[6 * MAX_JOINTS];
            lw_error error = {0};
            lw_model_initial_state(model, q, v);
            v[lw_model_joint_info(model, 0).v] = 1, v[lw_model_joint_info(model, 1).v] = -1;
            v[lw_model_joint_info(model, 2).v] = 1;
            lw_status status = accelerations(model, methods[k], q, v, vdot, reactions, &error);
            if (status != LW_OK) fail_msg("%s, eps %g: %s", methods[k], eps, error.message);
            double off = fabs(vdot[lw_model_joint_info(model, 0).v] / right - 1);
            if (!(off < 1e-9 + 2 * eps)) fail_msg("%s, eps %g: off by %g", methods[k], eps, off);
            lw_model_destroy(model);
        }
}

/* Pendulums of points and planar bodies: no torques at all, or rotations without inertia out of the plane. */
static lw_model *pendulum(lw_body_kind kind) {
    lw_spec *spec = lw_spec_create("pendulum");
    for (int k = 0; k < 2; k++) {
        lw_body_spec body = {.name = k ? "lower" : "upper", .kind = kind, .mass = 1, .com = {0, -1 - k, 0}};
        if (kind == LW_BODY_PLANAR) body.inertia[2] = 0.1;
        add_body(spec, body);
    }
    const double gravity[3] = {0, -9.81, 0}, below[3] = {0, -1, 0}, normal[3] = {0, 0, 1};
    lw_spec_set_gravity(spec, gravity);
    add_plain_joint(spec, "pin", LW_JOINT_REVOLUTE, LW_GROUND, "upper", origin, normal);
    add_plain_joint(spec, "elbow", LW_JOINT_REVOLUTE, "upper", "lower", below, normal);
    return compile_or_fail(spec);
}

static void points_and_planar_bodies_swing(void **state) {
    (void)state;
    static const lw_body_kind kinds[] = {LW_BODY_POINT, LW_BODY_PLANAR};
    for (int kind = 0; kind < 2; kind++) {
        lw_model *model = pendulum(kinds[kind]);
        double q[3][2 * MAX_V], v[3][MAX_V];
        lw_run_options options;
        lw_error error = {0};
        for (int k = -1; k < METHODS; k++) {
            lw_run_defaults(model, &options);
            options.end = 1, options.tolerance = 1e-10;
            options.method = k < 0 ? "tree" : methods[k];
            double start[2] = {1, -0.5}, rest[2] = {0, 0};
            memcpy(q[0], start, sizeof start), memcpy(v[0], rest, sizeof rest);
            options.q = q[0], options.v = v[0];
            lw_status status = lw_simulate(model, &options, q[1], v[1], NULL, &error);
            if (status != LW_OK) fail_msg("%s: %s", options.method, error.message);
            if (k < 0) memcpy(q[2], q[1], sizeof q[1]), memcpy(v[2], v[1], sizeof v[1]);
            assert_true(relative_difference(q[2], q[1], 2) < 1e-7);
            assert_true(relative_difference(v[2], v[1], 2) < 1e-7);
        }
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_without_mass_to_speak_of),
        cmocka_unit_test(points_and_planar_bodies_swing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

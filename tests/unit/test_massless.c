/* test_massless.c - motions without mass by hand: what is found, what it is called, how it moves.
 *
 * Exact solutions: a damped spring without mass decays, two springs in series are one, Maxwell's element relaxes.
 */
#include "build.h"
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

/* A chain of sliders along x on ground: masses m[k], and between neighbours a spring k and a damper c. */
static lw_model *sliders(int count, const double *m, const double *k, const double *c) {
    lw_spec *spec = lw_spec_create("sliders");
    for (int i = 0; i < count; i++) {
        char body[16], joint[16], before[16], force[16];
        snprintf(body, sizeof body, "b%d", i + 1);
        snprintf(joint, sizeof joint, "j%d", i + 1);
        snprintf(force, sizeof force, "f%d", i + 1);
        snprintf(before, sizeof before, i ? "b%d" : "ground", i);
        add_body(spec, (lw_body_spec){.name = body, .kind = LW_BODY_POINT, .mass = m[i]});
        const double point[3] = {0, 0, 0}, axis[3] = {1, 0, 0};
        add_plain_joint(spec, joint, LW_JOINT_PRISMATIC, before, body, point, axis);
        if (k[i] != 0 || c[i] != 0)
            add_force(spec, (lw_force_spec){.name = force,
                                            .type = LW_FORCE_TORSION,
                                            .joint = joint,
                                            .stiffness = k[i],
                                            .damping = c[i]});
    }
    return compile_or_fail(spec);
}

static void must_be(const lw_model *model, int dynamic, const char *kinds) {
    lw_directions *directions;
    lw_error error;
    assert_int_equal(lw_directions_create(model, &directions, &error), LW_OK);
    assert_int_equal(lw_directions_dynamic(directions), dynamic);
    assert_int_equal(lw_directions_count(directions), (int)strlen(kinds));
    for (int k = 0; kinds[k]; k++) {
        const char *name = lw_direction_kind_name(lw_directions_at(directions, k)->kind);
        if (name[0] != kinds[k]) fail_msg("direction %d is %s, not %c", k, name, kinds[k]);
    }
    assert_null(lw_directions_at(directions, (int)strlen(kinds)));
    lw_directions_destroy(directions);
}

static void run(const lw_model *model, const char *integrator, double end, const double *q0, const double *v0,
                double *q, double *v) {
    lw_run_options options;
    lw_error error;
    lw_run_summary summary;
    lw_run_defaults(model, &options);
    options.integrator = integrator, options.tolerance = 1e-10, options.end = end, options.q = q0,
    options.v = v0;
    lw_status status = lw_simulate(model, &options, q, v, &summary, &error);
    if (status != LW_OK) fail_msg("%s: %s", integrator, error.message);
    assert_string_equal(summary.method, "massless");
    assert_true(summary.energy_max_drift < 1e-6); /* ida's books are the least exact: some 1e-7 */
}

static const char *const integrators[] = {"erk", "bdf", "adams", "ida"};

/* c q' + k q = 0 */
static void a_damped_spring_decays(void **state) {
    (void)state;
    lw_model *model = sliders(1, (double[]){0}, (double[]){6}, (double[]){2});
    must_be(model, 0, "f");
    for (int k = 0; k < 4; k++) {
        double q[1], v[1];
        run(model, integrators[k], 1, (double[]){0.5}, (double[]){7}, q, v);
        assert_true(fabs(q[0] - 0.5 * exp(-3)) < 1e-8);
        assert_true(fabs(v[0] + 1.5 * exp(-3)) < 1e-7);
    }
    lw_model_destroy(model);
}

/* ground - k1 - (no mass) - k2 - m: a spring k1 k2 / (k1 + k2) */
static void springs_in_series_are_one(void **state) {
    (void)state;
    double k1 = 30, k2 = 60, m = 2, omega = sqrt(20.0 / 2);
    lw_model *model = sliders(2, (double[]){0, m}, (double[]){k1, k2}, (double[]){0, 0});
    must_be(model, 1, "a");
    for (int k = 0; k < 4; k++) {
        double q[2], v[2];
        /* positions out of balance are brought into it: the mass stays where it is */
        run(model, integrators[k], 2, (double[]){0.3, 0}, (double[]){0, 0}, q, v);
        double x = 0.3 * cos(2 * omega);
        assert_true(fabs(q[0] + q[1] - x) < 1e-7);
        assert_true(fabs(q[0] - x * k2 / (k1 + k2)) < 1e-7);
        assert_true(fabs(v[0] + 0.3 * omega * sin(2 * omega) * k2 / (k1 + k2)) < 1e-6);
    }
    lw_model_destroy(model);
}

/* Two bodies without mass in a row, ground - k - b1 - c - b2 - k - m: the damper between them is felt, and the spring condition is on
 * both together. With x of the mass, s = q1 + q3 the springs' length, k s / 2 the force, c q2' = k s / 2. */
static void two_in_a_row_are_of_both_kinds(void **state) {
    (void)state;
    double m = 1, k = 40, c = 5;
    lw_model *model = sliders(3, (double[]){0, 0, m}, (double[]){k, 0, k}, (double[]){0, c, 0});
    must_be(model, 1, "af");
    double q[3], v[3], q0[3] = {0.1, 0, 0.1}, v0[3] = {0, 0, 0};
    /* reference: y = (x, x', q2) with x = q1 + q2 + q3, q1 = q3 = (x - q2) / 2: m x'' = -k q3, c q2' = k q1; rk4 */
    double y[3] = {0.2, 0, 0}, h = 1e-4;
    for (int n = 0; n < 10000; n++) {
        double d[4][3], z[3];
        static const double at[4] = {0, 0.5, 0.5, 1};
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < 3; i++) z[i] = y[i] + (s ? at[s] * h * d[s - 1][i] : 0);
            double stretch = (z[0] - z[2]) / 2;
            d[s][0] = z[1], d[s][1] = -k * stretch / m, d[s][2] = k * stretch / c;
        }
        for (int i = 0; i < 3; i++) y[i] += h / 6 * (d[0][i] + 2 * d[1][i] + 2 * d[2][i] + d[3][i]);
    }
    for (int n = 0; n < 4; n++) {
        run(model, integrators[n], 1, q0, v0, q, v);
        assert_true(fabs(q[0] + q[1] + q[2] - y[0]) < 1e-7);
        assert_true(fabs(q[1] - y[2]) < 1e-7);
        assert_true(fabs(q[0] - q[2]) < 1e-7);
    }
    lw_model_destroy(model);
}

/* A row of coaxial bodies: each column of N ends at the next joint. */
static void rows_have_short_directions(void **state) {
    (void)state;
    double m[50], k[50], c[50];
    for (int i = 0; i < 50; i++) m[i] = i == 49, k[i] = 1, c[i] = 1;
    lw_model *model = sliders(50, m, k, c);
    lw_null_shape *shape = lw_null_shape_create(model);
    assert_non_null(shape);
    assert_int_equal(shape->count, 49);
    for (int d = 0; d < 49; d++) assert_int_equal(shape->node_start[d + 1] - shape->node_start[d], 2);
    lw_null_shape_destroy(shape);
    lw_model_destroy(model);
}

/* A rod without inertia about its axis, on a ball joint with friction: first order about that axis alone. */
static void a_rod_turns_about_its_axis(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("rod");
    const double gravity[3] = {0, 0, -9.81}, point[3] = {0, 0, 0};
    lw_spec_set_gravity(spec, gravity);
    add_body(spec,
             (lw_body_spec){.name = "rod", .mass = 1, .com = {0.5, 0, 0}, .inertia = {0, 0.1, 0.1, 0, 0, 0}});
    add_plain_joint(spec, "ball", LW_JOINT_SPHERICAL, LW_GROUND, "rod", point, NULL);
    for (int k = 0; k < 3; k++) {
        char name[16];
        snprintf(name, sizeof name, "friction%d", k);
        add_force(
            spec,
            (lw_force_spec){
                .name = name, .type = LW_FORCE_FRICTION, .joint = "ball", .coordinate = k, .viscous = 0.1});
    }
    lw_model *model = compile_or_fail(spec);
    lw_directions *directions;
    lw_error error;
    assert_int_equal(lw_directions_create(model, &directions, &error), LW_OK);
    assert_int_equal(lw_directions_count(directions), 1);
    assert_int_equal(lw_directions_dynamic(directions), 2);
    assert_string_equal(lw_directions_at(directions, 0)->text, "rotation about x");
    assert_string_equal(lw_directions_at(directions, 0)->body_name, "rod");
    assert_int_equal(lw_directions_at(directions, 0)->kind, LW_DIRECTION_FIRST_ORDER);
    lw_directions_destroy(directions);
    double q[4], v[3];
    run(model, "erk", 0.5, (double[]){1, 0, 0, 0}, (double[]){5, 0, 0.3}, q, v);
    assert_true(fabs(v[0]) < 1e-9); /* friction stops it at once */
    lw_model_destroy(model);
}

static void undetermined_is_a_sentence(void **state) {
    (void)state;
    lw_model *model = sliders(2, (double[]){0, 1}, (double[]){0, 0}, (double[]){0, 0});
    must_be(model, 1, "u");
    lw_error error;
    assert_int_equal(lw_method_applies("massless", model, &error), LW_ERROR_UNSUPPORTED);
    assert_string_equal(error.object, "body \"b1\"");
    assert_non_null(
        strstr(error.message, "has no mass, and nothing resists its translation along x (joint \"j1\")"));
    assert_non_null(strstr(error.remedy, "add inertia, a damper or a spring there, or weld it"));
    lw_model_destroy(model);

    /* a constant force determines nothing; a drive that pushes with the motion does worse */
    lw_spec *spec = lw_spec_create("driven");
    const double point[3] = {0, 0, 0}, axis[3] = {0, 1, 0};
    add_body(spec, (lw_body_spec){.name = "ghost"});
    add_plain_joint(spec, "hinge", LW_JOINT_REVOLUTE, LW_GROUND, "ghost", point, axis);
    add_force(spec, (lw_force_spec){
                        .name = "motor", .type = LW_FORCE_DRIVE, .joint = "hinge", .drive = "2 + 0.5*v"});
    model = compile_or_fail(spec);
    assert_int_equal(lw_method_applies("massless", model, &error), LW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "rotation about y"));
    assert_non_null(strstr(error.message, "driven rather than damped"));
    lw_model_destroy(model);
}

/* A prescribed base, a point without mass on a spring-damper between bodies, a nonlinear damper: the balance holds along the run. */
static void laws_and_prescribed_motions(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("laws");
    const double point[3] = {0, 0, 0}, axis[3] = {1, 0, 0};
    add_plain_body(spec, "base");
    add_body(spec, (lw_body_spec){.name = "ghost", .kind = LW_BODY_POINT});
    add_plain_body(spec, "load");
    lw_joint_spec drive = {.name = "rail",
                           .type = LW_JOINT_PRISMATIC,
                           .bodies = {LW_GROUND, "base"},
                           .motion = {"0.2*sin(3*t)"}};
    drive.geometry[0].axis_count = 1, drive.geometry[0].axes[0][0] = 1;
    add_joint(spec, drive);
    add_plain_joint(spec, "slide", LW_JOINT_PRISMATIC, "base", "ghost", point, axis);
    add_plain_joint(spec, "carry", LW_JOINT_PRISMATIC, "ghost", "load", point, axis);
    add_force(spec, (lw_force_spec){.name = "cubic",
                                    .type = LW_FORCE_TORSION,
                                    .joint = "slide",
                                    .stiffness = 10,
                                    .law = {.expression = "v + 2*v^3"}});
    add_force(
        spec,
        (lw_force_spec){
            .name = "coil", .type = LW_FORCE_TORSION, .joint = "carry", .stiffness = 20, .damping = 0.1});
    add_force(
        spec,
        (lw_force_spec){
            .name = "rub", .type = LW_FORCE_FRICTION, .joint = "slide", .coulomb = 1, .smoothing = 0.01});
    lw_model *model = compile_or_fail(spec);
    must_be(model, 1, "f");
    double q[3], v[3], ends[4][3];
    for (int k = 0; k < 4; k++) {
        run(model, integrators[k], 2, (double[]){0, 0.1, 0}, (double[]){0, 0, 1}, q, v);
        memcpy(ends[k], q, sizeof q);
        double slide = 10 * q[1] + v[1] + 2 * v[1] * v[1] * v[1] + tanh(v[1] / 0.01),
               carry = 20 * q[2] + 0.1 * v[2];
        assert_true(fabs(slide - carry) < 1e-9 * (1 + fabs(carry)));
        assert_true(relative_difference(ends[0], ends[k], 3) < 1e-6);
    }
    lw_model_destroy(model);
}

/* The kinds of body and all their ranks, alone on a free joint with friction at every speed. */
static void ranks(void **state) {
    (void)state;
    static const struct {
        lw_body_kind kind;
        double mass, inertia[6];
        int without;
    } cases[] = {
        {LW_BODY_SPATIAL, 1, {1, 1, 1}, 0}, {LW_BODY_SPATIAL, 1, {0, 1, 1}, 1}, {LW_BODY_SPATIAL, 1, {0}, 3},
        {LW_BODY_SPATIAL, 0, {1, 1, 1}, 3}, {LW_BODY_SPATIAL, 0, {0, 1, 1}, 4}, {LW_BODY_SPATIAL, 0, {0}, 6},
        {LW_BODY_POINT, 1, {0}, 3},         {LW_BODY_POINT, 0, {0}, 6},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        lw_spec *spec = lw_spec_create("one body");
        lw_body_spec body = {
            .name = "body", .kind = cases[k].kind, .mass = cases[k].mass, .com = {0.3, -0.2, 0.5}};
        memcpy(body.inertia, cases[k].inertia, sizeof body.inertia);
        add_body(spec, body);
        add_joint(spec,
                  (lw_joint_spec){.name = "float", .type = LW_JOINT_FREE, .bodies = {LW_GROUND, "body"}});
        for (int c = 0; c < 6; c++) {
            char name[16];
            snprintf(name, sizeof name, "friction%d", c);
            add_force(spec, (lw_force_spec){.name = name,
                                            .type = LW_FORCE_FRICTION,
                                            .joint = "float",
                                            .coordinate = c,
                                            .viscous = 1});
        }
        lw_model *model = compile_or_fail(spec);
        must_be(model, 6 - cases[k].without, &"ffffff"[6 - cases[k].without]);
        lw_model_destroy(model);
    }
    /* planar: in its plane only */
    static const int planar[4] = {0, 1, 2, 3}; /* mass and inertia; mass; inertia; none */
    for (int k = 0; k < 4; k++) {
        lw_spec *spec = lw_spec_create("planar body");
        const double point[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
        add_body(spec, (lw_body_spec){.name = "body",
                                      .kind = LW_BODY_PLANAR,
                                      .mass = k < 2,
                                      .inertia = {0, 0, k % 2 == 0},
                                      .com = {0.1, 0.2, 0}});
        add_plain_joint(spec, "plane", LW_JOINT_PLANAR, LW_GROUND, "body", point, axis);
        for (int c = 0; c < 3; c++) {
            char name[16];
            snprintf(name, sizeof name, "friction%d", c);
            add_force(spec, (lw_force_spec){.name = name,
                                            .type = LW_FORCE_FRICTION,
                                            .joint = "plane",
                                            .coordinate = c,
                                            .viscous = 1});
        }
        lw_model *model = compile_or_fail(spec);
        must_be(model, 3 - planar[k], &"fff"[3 - planar[k]]);
        lw_model_destroy(model);
    }
}

/* A rod without mass on a ball joint, a point of mass at its tip and forces at its axis: nothing resists its spin, whatever they are, and
 * nothing acts on it: it is held (idle_spins.c), and counts as dynamic. The limit is one of rounding, so the rod also lies askew. */
static void forces_at_its_axis_hold_no_rod(void **state) {
    (void)state;
    static const char *const forces[][3] = {
        {"0", "0", "-3"}, {"0", "2", "0"}, {"0", "0", "0"}, {"5", "-1e4", "7e3"}};
    static const double tips[][3] = {{1, 0, 0}, {0.3, -0.4, 1.2}};
    for (int k = 0; k < 8; k++) {
        lw_spec *spec = lw_spec_create("rod");
        const char *const *force = forces[k % 4];
        const double *tip = tips[k / 4], point[3] = {0, 0, 0};
        add_body(spec, (lw_body_spec){.name = "rod"});
        add_body(spec, (lw_body_spec){
                           .name = "tip", .kind = LW_BODY_POINT, .mass = 1, .com = {tip[0], tip[1], tip[2]}});
        add_plain_joint(spec, "ball", LW_JOINT_SPHERICAL, LW_GROUND, "rod", point, NULL);
        add_plain_joint(spec, "glue", LW_JOINT_WELD, "rod", "tip", tip, NULL);
        add_force(spec, (lw_force_spec){.name = "push",
                                        .type = LW_FORCE_APPLIED,
                                        .bodies = {"rod", LW_GROUND},
                                        .points = {{0.5 * tip[0], 0.5 * tip[1], 0.5 * tip[2]}},
                                        .force = {force[0], force[1], force[2]}});
        lw_model *model = compile_or_fail(spec);
        must_be(model, 3, "");
        lw_model_destroy(model);
    }
}

/* The same spin in a closed loop: two bodies without mass that slide in each other, between ball joints. */
static void forces_at_its_axis_hold_no_coupler(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        lw_spec *spec = lw_spec_create("coupler");
        const double axis[3] = {0, 1, 0}, slide[3] = {1, 0, 0},
                     points[5][3] = {{0, 0, 0}, {0, 0, 0.3}, {0.3, 0, 0.3}, {0.6, 0, 0.3}, {0.6, 0, 0}};
        add_plain_body(spec, "crank");
        add_body(spec, (lw_body_spec){.name = "inner"});
        add_body(spec, (lw_body_spec){.name = "outer"});
        add_plain_body(spec, "rocker");
        add_plain_joint(spec, "p1", LW_JOINT_REVOLUTE, LW_GROUND, "crank", points[0], axis);
        add_plain_joint(spec, "p2", LW_JOINT_SPHERICAL, "crank", "inner", points[1], NULL);
        add_plain_joint(spec, "slide", LW_JOINT_PRISMATIC, "inner", "outer", points[2], slide);
        add_plain_joint(spec, "p3", LW_JOINT_SPHERICAL, "outer", "rocker", points[3], NULL);
        add_plain_joint(spec, "p4", LW_JOINT_REVOLUTE, LW_GROUND, "rocker", points[4], axis);
        add_force(spec, (lw_force_spec){.name = "spring",
                                        .type = LW_FORCE_TORSION,
                                        .joint = "slide",
                                        .stiffness = 500,
                                        .damping = 20});
        if (k)
            add_force(spec, (lw_force_spec){.name = "push",
                                            .type = LW_FORCE_APPLIED,
                                            .bodies = {"inner", LW_GROUND},
                                            .points = {{0.2, 0, 0.3}},
                                            .force = {NULL, NULL, "-3"}});
        lw_model *model = compile_or_fail(spec);
        must_be(model, 3, "");
        lw_model_destroy(model);
    }
}

/* ground - k1 - (no mass) - k2 - m. With a little mass the motion stays near the balance if k1 + k2 > 0, and leaves it at a rate without
 * bounds otherwise, although the balance is there all the same: k1 k2 / (k1 + k2) > 0 for -200, 100. */
static void an_unstable_balance_is_a_sentence(void **state) {
    (void)state;
    static const double stiffness[][3] = {{-200, 100, 1}, {-50, 100, 0}, {100, -200, 1}, {100, -50, 0}};
    for (int s = 0; s < 4; s++) {
        const double *k = stiffness[s];
        lw_model *model = sliders(2, (double[]){0, 1}, k, (double[]){0, 0});
        must_be(model, 1, "a");
        for (int n = 0; n < 4; n++) {
            lw_run_options options;
            lw_error error = {0};
            lw_run_summary summary;
            double q[2], v[2], q0[2] = {0.1, 0.2}, v0[2] = {0, 0};
            lw_run_defaults(model, &options);
            options.integrator = integrators[n], options.end = 0.1, options.q = q0, options.v = v0;
            lw_status status = lw_simulate(model, &options, q, v, &summary, &error);
            assert_int_equal(status, k[2] > 0 ? LW_ERROR_UNSUPPORTED : LW_OK);
            if (status == LW_OK) continue;
            assert_string_equal(error.object, "body \"b1\"");
            assert_non_null(
                strstr(error.message, "translation along x (joint \"j1\"), in an unstable balance"));
            assert_non_null(strstr(error.remedy, "mass or damping"));
        }
        lw_model_destroy(model);
    }
}

/* A knot without mass between two oblique springs, drawn through their line by a soft one: at the fold its balance ends, and the
 * run with it. Drawn by a stiff one it has a stable balance everywhere, and goes through. */
static void a_snap_ends_the_run(void **state) {
    (void)state;
    for (int stiff = 0; stiff < 2; stiff++) {
        lw_spec *spec = lw_spec_create("truss");
        const double point[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
        add_body(spec, (lw_body_spec){.name = "knot", .kind = LW_BODY_POINT});
        add_body(spec, (lw_body_spec){.name = "load", .kind = LW_BODY_POINT, .mass = 1});
        add_plain_joint(spec, "j1", LW_JOINT_PRISMATIC, LW_GROUND, "knot", point, axis);
        add_plain_joint(spec, "j2", LW_JOINT_PRISMATIC, "knot", "load", point, axis);
        lw_joint_spec *joint = lw_spec_joint(spec, 0);
        joint->has_q = true, joint->q[0] = 0.3;
        for (int side = 0; side < 2; side++) {
            add_force(spec, (lw_force_spec){.name = side ? "right" : "left",
                                            .type = LW_FORCE_SPRING,
                                            .bodies = {LW_GROUND, "knot"},
                                            .points = {{side ? 1 : -1, 0, 0}},
                                            .stiffness = 1000,
                                            .has_free_length = true,
                                            .free_length = 1.044});
        }
        /* across the line of the oblique springs: 2 * 1000 * (1 - 1.044) = -88 N/m */
        add_force(spec, (lw_force_spec){.name = "pull",
                                        .type = LW_FORCE_TORSION,
                                        .joint = "j2",
                                        .stiffness = stiff ? 500 : 50});
        lw_model *model = compile_or_fail(spec);
        for (int n = 0; n < 3; n++) {
            lw_run_options options;
            lw_error error = {0};
            lw_run_summary summary;
            double q[2], v[2], v0[2] = {0, -3};
            lw_run_defaults(model, &options);
            options.integrator = integrators[n], options.end = 0.3, options.v = v0;
            lw_status status = lw_simulate(model, &options, q, v, &summary, &error);
            assert_int_equal(status, stiff ? LW_OK : LW_ERROR_SINGULAR);
            if (!stiff) assert_string_equal(error.object, "body \"knot\"");
        }
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damped_spring_decays),
        cmocka_unit_test(springs_in_series_are_one),
        cmocka_unit_test(two_in_a_row_are_of_both_kinds),
        cmocka_unit_test(rows_have_short_directions),
        cmocka_unit_test(a_rod_turns_about_its_axis),
        cmocka_unit_test(undetermined_is_a_sentence),
        cmocka_unit_test(laws_and_prescribed_motions),
        cmocka_unit_test(ranks),
        cmocka_unit_test(forces_at_its_axis_hold_no_rod),
        cmocka_unit_test(forces_at_its_axis_hold_no_coupler),
        cmocka_unit_test(an_unstable_balance_is_a_sentence),
        cmocka_unit_test(a_snap_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

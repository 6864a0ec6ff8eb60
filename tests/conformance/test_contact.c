/* test_contact.c - contacts (docs/theory/contact.md): geometry, power, derivatives against differences for
 * every pair of surface and shape, and runs against closed forms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "build.h"
#include "differences.h"
#include "model/contact.h"
#include "random_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- every pair, in random states ------------------------------------------------------------------ */

static bool meets(lw_contact_surface surface, lw_contact_shape shape) {
    return shape <= LW_TOUCH_SPHERE || surface == LW_SURFACE_PLANE ||
           (shape == LW_TOUCH_CAPSULE && surface == LW_SURFACE_SPHERE);
}

/* Two free bodies, each with another on a hinge; the contact is between the latter. */
static lw_model *pair_of(lw_random *random, lw_contact_surface surface, lw_contact_shape shape, bool inside) {
    lw_spec *spec = lw_spec_create("pair");
    static const char *const names[4] = {"a", "b", "c", "d"};
    const double zero[3] = {0, 0, 0};
    lw_spec_set_gravity(spec, zero);
    for (int k = 0; k < 4; k++) add_plain_body(spec, names[k]);
    for (int k = 0; k < 2; k++) {
        double point[3], axis[3];
        random_vector(random, 3, 0.3, point);
        random_direction(random, axis);
        add_plain_joint(spec, k ? "jb" : "ja", LW_JOINT_FREE, LW_GROUND, names[k], NULL, NULL);
        add_plain_joint(spec, k ? "jd" : "jc", LW_JOINT_REVOLUTE, names[k], names[2 + k], point, axis);
    }
    lw_force_spec force = {.name = "touch",
                           .type = LW_FORCE_CONTACT,
                           .bodies = {"c", "d"},
                           .frame = random_below(random, 2) ? LW_GEOMETRY_BODY : LW_GEOMETRY_WORLD,
                           .contact = {.surface = surface,
                                       .shape = shape,
                                       .inside = inside,
                                       .stiffness = 50,
                                       .exponent = random_below(random, 2) ? 1.5 : 1,
                                       .damping = 0.3,
                                       .friction = random_below(random, 3) ? 0.4 : 0,
                                       .smoothing = 0.5}};
    for (int side = 0; side < 2; side++) {
        lw_contact_figure *figure = &force.contact.on[side];
        random_vector(random, 3, 0.2, force.points[side]);
        random_direction(random, figure->axis);
        random_vector(random, 4, 1, figure->rotation);
        figure->radius = random_between(random, 0.5, 1);
        figure->length = inside && side == 0 ? 0 : random_between(random, 0.5, 2);
        for (int k = 0; k < 3; k++) figure->size[k] = random_between(random, 0.5, 2);
    }
    if (inside) force.contact.on[0].radius += 1;
    add_force(spec, force);
    /* The gap in a force: its derivatives, too. */
    add_force(spec, (lw_force_spec){.name = "by_gap",
                                    .type = LW_FORCE_APPLIED,
                                    .bodies = {"a"},
                                    .frame = LW_GEOMETRY_BODY,
                                    .force = {"0.3*touch.gap"}});
    return compile_or_fail(spec);
}

/* A state in which some probe is well within the surface and none is near its edge of touching. */
static bool touching_state(lw_random *random, const lw_model *model, lw_data *data, double *q, double *v) {
    for (int tries = 0; tries < 2000; tries++) {
        bool near = false, deep = false;
        random_state(random, model, q, v);
        lw_take_state(model, data, 0, q, v);
        lw_velocities(model, data);
        lw_world_poses(model, data);
        lw_contact_body surface, shape;
        lw_contact_bodies(&model->forces[0], data, &surface, &shape);
        for (int k = 0; k < model->forces[0].contact->probes; k++) {
            lw_touch touch;
            lw_contact_look(model->forces[0].contact, &surface, &shape, k, &touch);
            near |= fabs(touch.depth) < 0.02;
            deep |= touch.depth > 0.02 && touch.depth < 0.3 && 1 + 0.3 * touch.rate > 0.05;
            near |= touch.depth > 0 && 1 + 0.3 * touch.rate < 0.05;
        }
        if (deep && !near) return true;
    }
    return false;
}

typedef struct moving {
    const lw_model *model;
    lw_data *data;
    const double *q, *v;
    int column; /* -1: along the motion */
    bool speed;
} moving;

/* Accelerations, or the potential energy along the motion. */
static bool displaced(void *context, double s, double *out) {
    const moving *m = context;
    const int nv = lw_model_v_size(m->model);
    double q[32], v[32], unit[32] = {0};
    memcpy(q, m->q, (size_t)lw_model_q_size(m->model) * sizeof *q);
    memcpy(v, m->v, (size_t)nv * sizeof *v);
    if (m->column < 0) {
        lw_integrate_q(m->model, q, v, s);
        *out = lw_energy_of(m->model, m->data, 0, q, v).potential;
        return true;
    }
    unit[m->column] = 1;
    if (m->speed)
        v[m->column] += s;
    else
        lw_integrate_q(m->model, q, unit, s);
    return lw_tree_forward_dynamics(m->model, m->data, 0, q, v, NULL, out, NULL) == LW_OK;
}

/* What a contact takes out of the motion is the change of its potential and its dissipation; it acts on both
 * bodies alike; its dissipation is not negative. */
static void check_power(const moving *m, const char *what) {
    double unused[32], rate = 0, power = 0, sum[6] = {0};
    moving along = *m;
    along.column = -1;
    ridders(displaced, &along, 1, 1e-3, &rate);
    lw_take_state(m->model, m->data, 0, m->q, m->v);
    lw_velocities(m->model, m->data);
    lw_world_poses(m->model, m->data);
    lw_forces_clear(m->model, m->data, 0);
    lw_forces_add(m->model, m->data, 0, 1, 0, true);
    (void)unused;
    for (int i = 1; i <= m->model->body_count; i++) {
        const double *load = m->data->load + 6 * i;
        double world[6];
        power += lw_v6_dot(load, m->data->motion[i].V);
        lw_m3_mul_v(m->data->world[i].R, load, world);
        lw_m3_mul_v(m->data->world[i].R, load + 3, world + 3);
        lw_v3_add_cross(m->data->world[i].p, world + 3, world);
        lw_v6_axpy(1, world, sum);
    }
    const double D = m->data->power.dissipation;
    if (!(D >= -1e-14)) fail_msg("%s: dissipates %g", what, D);
    if (!(fabs(power + rate + D) <= 1e-7 * (1 + fabs(power))))
        fail_msg("%s: power %.10g, potential changes by %.10g, dissipation %.10g", what, power, rate, D);
    for (int k = 0; k < 6; k++)
        if (!(fabs(sum[k]) < 1e-12 * (1 + fabs(power)) * 100)) fail_msg("%s: %g is left over", what, sum[k]);
}

static void check_derivatives(moving *m, const char *what) {
    const int nv = lw_model_v_size(m->model);
    double vdot[32], dq[32 * 32], dv[32 * 32], difference[32];
    lw_derivatives *derivatives;
    lw_error error = {0};
    assert_int_equal(lw_derivatives_create(m->model, NULL, NULL, &derivatives, &error), LW_OK);
    const lw_acceleration_derivatives out = {.vdot = vdot, .dq = dq, .dv = dv};
    if (lw_derivatives_of_accelerations(derivatives, 0, m->q, m->v, NULL, &out, &error) != LW_OK)
        fail_msg("%s: %s", what, error.message);
    for (int speed = 0; speed < 2; speed++)
        for (m->column = 0; m->column < nv; m->column++) {
            m->speed = speed;
            const double unsure = ridders(displaced, m, nv, 1e-3, difference);
            const double *matrix = speed ? dv : dq;
            double off = 0, scale = 1;
            for (int k = 0; k < nv; k++) {
                off = fmax(off, fabs(difference[k] - matrix[k * nv + m->column]));
                scale = fmax(scale, fabs(difference[k]));
            }
            /* Differences across an edge of a surface are none. */
            if (unsure < 1e-7 && !(off <= 1e-6 * scale))
                fail_msg("%s, %s %d: %g of %g (differences right to %g)", what, speed ? "speed" : "motion",
                         m->column, off, scale, unsure);
        }
    lw_derivatives_destroy(derivatives);
}

static void every_pair(void **state) {
    (void)state;
    int count = 0;
    for (int surface = 0; surface < LW_SURFACES; surface++)
        for (int shape = 0; shape < LW_TOUCHES; shape++)
            for (int inside = 0; inside < 2; inside++) {
                const bool round = surface == LW_SURFACE_SPHERE || surface == LW_SURFACE_CYLINDER;
                if (!meets((lw_contact_surface)surface, (lw_contact_shape)shape) || (inside && !round))
                    continue;
                for (int seed = 0; seed < 6; seed++) {
                    lw_random random =
                        random_seed((uint64_t)(100 * (10 * surface + shape) + 10 * inside + seed));
                    lw_model *model =
                        pair_of(&random, (lw_contact_surface)surface, (lw_contact_shape)shape, inside);
                    lw_data *data;
                    double q[32], v[32];
                    char what[64];
                    snprintf(what, sizeof what, "surface %d, shape %d, inside %d, seed %d", surface, shape,
                             inside, seed);
                    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
                    if (touching_state(&random, model, data, q, v)) {
                        moving m = {.model = model, .data = data, .q = q, .v = v};
                        check_power(&m, what);
                        check_derivatives(&m, what);
                        count++;
                    }
                    lw_data_destroy(data);
                    lw_model_destroy(model);
                }
            }
    print_message("%d states\n", count);
    assert_true(count > 80);
}

/* --- runs ------------------------------------------------------------------------------------------ */

static lw_model *model_of(const char *text) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    if (lw_read_model_text(text, strlen(text), "test.yaml", NULL, 0, report, &spec) != LW_OK ||
        lw_model_compile(spec, NULL, report, &model) != LW_OK) {
        show_report(report);
        fail();
    }
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    return model;
}

/* Runs to t; q and v there. */
static void run(const lw_model *model, double t, const char *integrator, double tolerance, double *q,
                double *v) {
    lw_run_options options;
    lw_simulation *simulation;
    lw_error error = {0};
    lw_run_defaults(model, &options);
    options.integrator = integrator, options.tolerance = tolerance;
    if (lw_simulation_create(model, &options, NULL, &simulation, &error) != LW_OK ||
        lw_simulation_advance(simulation, t, &error) != LW_OK)
        fail_msg("%s", error.message);
    lw_simulation_state(simulation, q, v);
    lw_simulation_destroy(simulation);
}

#define BALL(MORE)                                                                                           \
    "linkwork: 1\n"                                                                                          \
    "bodies: {ball: {shape: sphere, radius: 0.1, mass: 2, position: [0, 0, 0.1]}}\n" MORE

/* (9) of the theory: the speeds before and after an impact do not depend on stiffness and mass. */
static void restitution(void **state) {
    (void)state;
    static const double dampings[] = {0.02, 0.3};
    static const double exponents[] = {1, 1.5, 2};
    for (int d = 0; d < 2; d++)
        for (int p = 0; p < 3; p++) {
            char text[800];
            const double a = dampings[d], w = 2;
            snprintf(text, sizeof text,
                     BALL("gravity: [0, 0, 0]\n"
                          "joints: {fall: {type: prismatic, between: [ground, ball], axis: [0, 0, 1], q: 1,"
                          " v: -2}}\n"
                          "forces: {floor: {type: contact, between: [ground, ball], points: [[0, 0, 0],"
                          " [0, 0, 0.1]], surface: plane, shape: {type: sphere, radius: 0.1}, stiffness: 1e6,"
                          " exponent: %g, damping: %g}}\n"),
                     exponents[p], a);
            lw_model *model = model_of(text);
            double q[1], v[1], low = 0, high = fmin(w, 0.999999999999 / a);
            run(model, 1.5, "erk", 1e-11, q, v);
            for (int k = 0; k < 200; k++) { /* -g(-w') = g(w), g(x) = x/a - ln(1 + a x)/a^2 */
                const double m = 0.5 * (low + high);
                const double g_before = w / a - log1p(a * w) / (a * a),
                             g_after = -m / a - log1p(-a * m) / (a * a);
                if (g_after < g_before)
                    low = m;
                else
                    high = m;
            }
            if (!(fabs(v[0] - low) < 1e-8)) fail_msg("damping %g: %.12g, not %.12g", a, v[0], low);
            lw_model_destroy(model);
        }
}

/* A ball set down with a speed slides, then rolls at 5/7 of it; the smoothing delays this by little. */
static void from_sliding_to_rolling(void **state) {
    (void)state;
    lw_model *model = model_of(BALL(
        "joints: {free: {type: free, between: [ground, ball], point: [0, 0, 0.1], v: [3, 0, 0, 0, 0, 0]}}\n"
        "forces: {floor: {type: contact, between: [ground, ball], points: [[0, 0, 0], [0, 0, 0.1]],"
        " surface: plane, shape: {type: sphere, radius: 0.1}, stiffness: 1e9, damping: 1,"
        " friction: 0.2, smoothing: 1e-4}}\n"
        "run: {end: 3}\n"));
    double q[7], v[6];
    const double g = 9.81, mu = 0.2, until = 2 * 3 / (7 * mu * g);
    run(model, 0.5 * until, "auto", 1e-9, q, v);
    /* While it slides it is slower by mu g t; set down, it bounces by some 1e-5 m, which the normal force and
     * so the friction average out. */
    const double slides = 3 - mu * g * 0.5 * until, rolls = 3 * 5.0 / 7;
    if (!(fabs(v[0] - slides) < 2e-3)) fail_msg("slides at %.8g, not %.8g", v[0], slides);
    run(model, 1.2 * until, "auto", 1e-9, q, v);
    if (!(fabs(v[0] - rolls) < 1e-3) || !(fabs(v[4] - rolls / 0.1) < 1e-2))
        fail_msg("rolls at %.8g and %.8g rad/s, not %.8g", v[0], v[4], rolls);
    lw_model_destroy(model);
}

/* A block on a slope of 0.3 rad, on its corners: tan 0.3 = 0.3093. */
static void on_a_slope(void **state) {
    (void)state;
    static const double frictions[] = {0.34, 0.28};
    for (int k = 0; k < 2; k++) {
        char text[900];
        snprintf(
            text, sizeof text,
            "linkwork: 1\n"
            "gravity: [%.17g, 0, %.17g]\n"
            "bodies: {block: {shape: box, size: [0.2, 0.1, 0.05], mass: 3, position: [0, 0, 0.025]}}\n"
            "joints: {free: {type: free, between: [ground, block], point: [0, 0, 0.025]}}\n"
            "forces: {slope: {type: contact, between: [ground, block], points: [[0, 0, 0], [0, 0, 0.025]],"
            " surface: plane, shape: {type: box, size: [0.2, 0.1, 0.05]}, stiffness: 1e8, damping: 2,"
            " friction: %g, smoothing: 1e-4}}\n"
            "run: {end: 1}\n",
            9.81 * sin(0.3), -9.81 * cos(0.3), frictions[k]);
        lw_model *model = model_of(text);
        double q[7], v[6], fast = 0;
        run(model, 1, "auto", 1e-8, q, v);
        for (int i = 0; i < 6; i++) fast = fmax(fast, fabs(v[i]));
        const double slides = 9.81 * (sin(0.3) - frictions[k] * cos(0.3));
        const double creeps = 1e-4 * atanh(fmin(tan(0.3) / frictions[k], 0.999999));
        if (k == 0 && !(fabs(fast - creeps) < 1e-6)) fail_msg("creeps at %g, not %g", fast, creeps);
        if (k == 1 && !(fabs(fast - slides) < 2e-3)) fail_msg("slides at %g, not %g", fast, slides);
        lw_model_destroy(model);
    }
}

/* A bullet grazes a small ball within far less than a step of free flight; it must not be passed over. */
static void a_graze_is_found(void **state) {
    (void)state;
    lw_model *model = model_of(
        "linkwork: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies: {shot: {mass: 0.01, inertia: [1e-7, 1e-7, 1e-7]}}\n"
        "joints: {fly: {type: translation, between: [ground, shot], axes: [[1, 0, 0], [0, 0, 1]],"
        " q: [-7, 0], v: [100, 0]}}\n"
        "forces: {ball: {type: contact, between: [ground, shot], first: [0, 0, -0.0105], second: [0, 0, 0],"
        " surface: {type: sphere, radius: 0.01}, shape: {type: sphere, radius: 0.001}, stiffness: 1e7}}\n");
    double q[2][2], v[2][2];
    run(model, 0.2, "erk", 1e-9, q[0], v[0]);
    assert_true(v[0][1] > 0.1);
    run(model, 0.2, "adams", 1e-10, q[1], v[1]);
    assert_true(fabs(v[0][1] - v[1][1]) < 1e-4 * v[0][1]);
    assert_true(fabs(hypot(v[0][0], v[0][1]) - 100) < 1e-5);
    lw_model_destroy(model);
}

/* Four corners meet and part at one instant but for rounding, far from the world's origin. */
static void a_crate_falls_flat(void **state) {
    (void)state;
    lw_model *model = model_of("linkwork: 1\n"
                               "bodies: {crate: {shape: box, size: [0.4, 0.3, 0.2], mass: 5, position: [10, "
                               "1, 0.12], rotation: {axis:"
                               " [0, 0, 1], angle: 30 deg}}}\n"
                               "joints: {free: {type: free, between: [ground, crate], position: [10, 1, "
                               "0.12], rotation: {axis: [0, 0, 1],"
                               " angle: 30 deg}}}\n"
                               "forces: {table: {type: contact, between: [ground, crate], first: [10, 1, 0], "
                               "second: [0, 0, 0], surface:"
                               " plane, shape: {type: box, size: [0.4, 0.3, 0.2]}, stiffness: 1e6, exponent: "
                               "1, damping: 1, friction: 0.5,"
                               " smoothing: 1e-4}}\n");
    double q[7], v[6], u[6];
    run(model, 0.1, "erk", 1e-9, q, v);
    run(model, 0.1, "bdf", 1e-11, q, u);
    assert_true(v[2] > 0.05 && fabs(u[2] - v[2]) < 1e-5); /* on its way up again */
    lw_model_destroy(model);
}

/* A tippe top turns over; Jellett's integral L . (contact - centre) is kept but for the overlap, R - e/2. */
static void a_tippe_top(void **state) {
    (void)state;
    static const double stiffness[2] = {1e6, 1e8}, allowed[2] = {5e-4, 4e-5};
    for (int k = 0; k < 2; k++) {
        char text[1200];
        snprintf(
            text, sizeof text,
            "linkwork: 1\n"
            "bodies: {top: {mass: 6e-3, com: [0, 0, -3e-3], inertia: [8e-7, 8e-7, 7e-7]}}\n"
            "joints: {loose: {type: free, between: [ground, top], position: [0, 0, 0.015],"
            " rotation: {axis: [1, 0, 0], angle: 0.1}, angular_velocity: [0, 0, 155]}}\n"
            "forces: {table: {type: contact, between: [ground, top], first: [0, 0, 0], second: [0, 0, 0],"
            " surface: plane, shape: {type: sphere, radius: 0.015}, stiffness: %g, damping: 5,"
            " friction: 0.3, smoothing: 0.01}}\n"
            "outputs: {upright: (com(top).z - body.top.z)/3e-3, jellett:"
            " 'momentum(top).hx*(com(top).x - body.top.x) + momentum(top).hy*(com(top).y - body.top.y)"
            " + momentum(top).hz*(com(top).z - body.top.z + 0.015)'}\n"
            "run: {end: 2}\n",
            stiffness[k]);
        lw_model *model = model_of(text);
        lw_run_options options;
        lw_simulation *simulation;
        lw_error error = {0};
        lw_run_defaults(model, &options);
        assert_int_equal(lw_simulation_create(model, &options, NULL, &simulation, &error), LW_OK);
        double before, after, upright;
        assert_int_equal(lw_simulation_output(simulation, lw_model_output(model, "jellett"), &before), LW_OK);
        if (lw_simulation_advance(simulation, 2, &error) != LW_OK) fail_msg("%s", error.message);
        assert_int_equal(lw_simulation_output(simulation, lw_model_output(model, "jellett"), &after), LW_OK);
        assert_int_equal(lw_simulation_output(simulation, lw_model_output(model, "upright"), &upright),
                         LW_OK);
        assert_true(upright > 0.6);
        if (!(fabs(after / before - 1) < allowed[k]))
            fail_msg("stiffness %g: Jellett's integral changes by %g", stiffness[k], after / before - 1);
        lw_simulation_destroy(simulation);
        lw_model_destroy(model);
    }
}

/* Two balls that meet in space: linear and angular momentum are kept, and no energy comes from it. */
static void two_balls(void **state) {
    (void)state;
    lw_model *model = model_of(
        "linkwork: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies: {a: {shape: sphere, radius: 0.1, mass: 1}, b: {shape: sphere, radius: 0.2, mass: 3, "
        "position: [2,"
        " 0.1, 0]}}\n"
        "joints: {ja: {type: free, between: [ground, a], position: [0, 0, 0], velocity: [3, 0, 0],"
        " angular_velocity: [0, 5, 9]}, jb: {type: free, between: [ground, b], position: [2, 0.1, 0]}}\n"
        "forces: {meet: {type: contact, between: [a, b], first: [0, 0, 0], second: [0, 0, 0], surface: {type:"
        " sphere, radius: 0.1}, shape: {type: sphere, radius: 0.2}, stiffness: 1e7, damping: 0.2, friction: "
        "0.5}}\n"
        "outputs: {px: momentum.px, py: momentum.py, lx: momentum.lx, ly: momentum.ly, lz: momentum.lz,"
        " e: kinetic}\n");
    lw_run_options options;
    lw_simulation *simulation;
    lw_error error = {0};
    double before[6], after[6];
    lw_run_defaults(model, &options);
    options.tolerance = 1e-10;
    assert_int_equal(lw_simulation_create(model, &options, NULL, &simulation, &error), LW_OK);
    for (int k = 0; k < 6; k++) lw_simulation_output(simulation, k, &before[k]);
    if (lw_simulation_advance(simulation, 1.5, &error) != LW_OK) fail_msg("%s", error.message);
    for (int k = 0; k < 6; k++) lw_simulation_output(simulation, k, &after[k]);
    for (int k = 0; k < 5; k++)
        if (!(fabs(after[k] - before[k]) < 1e-7))
            fail_msg("momentum %d changes by %g", k, after[k] - before[k]);
    assert_true(after[5] < 0.99 * before[5]);
    lw_simulation_destroy(simulation);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair),
        cmocka_unit_test(restitution),
        cmocka_unit_test(from_sliding_to_rolling),
        cmocka_unit_test(on_a_slope),
        cmocka_unit_test(a_graze_is_found),
        cmocka_unit_test(a_crate_falls_flat),
        cmocka_unit_test(a_tippe_top),
        cmocka_unit_test(two_balls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

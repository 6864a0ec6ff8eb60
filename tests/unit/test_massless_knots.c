/* test_massless_knots.c - bodies without mass whose joint is rigid for them, one to three in a row.
 *
 * Random trees of knots: one to three bodies without mass in a row, whose joints share all their motions, then one or two bodies with mass,
 * sometimes with a branch between; dampers in joints and springs that pull at the bodies without mass too. Two ways to the accelerations:
 *
 *   derivative   articulated inertias, from which the speeds of these bodies are left out
 *   residual     a Newton-Euler recursion over every body, which must find nothing left
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
#include <stdlib.h>
#include <string.h>

enum { MAX = 400 };

/* The joint of a body without mass, and one that can take up all its motions. */
static const struct pair {
    lw_joint_type first, second;
    enum { AT_ONE_POINT, ON_AXIS, ANYWHERE } offset; /* of the second, seen from the first */
} pairs[] = {
    {LW_JOINT_REVOLUTE, LW_JOINT_REVOLUTE, ON_AXIS},
    {LW_JOINT_REVOLUTE, LW_JOINT_CYLINDRICAL, ON_AXIS},
    {LW_JOINT_REVOLUTE, LW_JOINT_SPHERICAL, AT_ONE_POINT},
    {LW_JOINT_REVOLUTE, LW_JOINT_PLANAR, ON_AXIS},
    {LW_JOINT_PRISMATIC, LW_JOINT_PRISMATIC, ANYWHERE},
    {LW_JOINT_PRISMATIC, LW_JOINT_CYLINDRICAL, ANYWHERE},
    {LW_JOINT_CYLINDRICAL, LW_JOINT_CYLINDRICAL, ON_AXIS},
    {LW_JOINT_PLANAR, LW_JOINT_PLANAR, ON_AXIS},
    {LW_JOINT_SPHERICAL, LW_JOINT_SPHERICAL, AT_ONE_POINT},
    {LW_JOINT_REVOLUTE, LW_JOINT_FREE, ANYWHERE},
    {LW_JOINT_SPHERICAL, LW_JOINT_FREE, ANYWHERE},
    {LW_JOINT_UNIVERSAL, LW_JOINT_SPHERICAL, AT_ONE_POINT},
    {LW_JOINT_UNIVERSAL, LW_JOINT_UNIVERSAL, AT_ONE_POINT}, /* one motion only: its body is not passed over */
    {LW_JOINT_FREE, LW_JOINT_FREE, ANYWHERE},               /* nor are free ones */
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

typedef struct builder {
    lw_random random;
    lw_spec *spec;
    int bodies;
    bool springs;
    bool bushings; /* instead of dampers in joints, at free ones */
} builder;

/* A body on `carrier`, by a joint at this point of both, with a damper at each of its speeds. Returns its number. */
static int add(builder *b, int carrier, lw_joint_type type, const double point[3], double axes[2][3],
               bool massive) {
    char name[24], before[24], joint[24], force[32];
    int own = ++b->bodies;
    snprintf(name, sizeof name, "b%d", own), snprintf(joint, sizeof joint, "j%d", own);
    snprintf(before, sizeof before, carrier ? "b%d" : "ground", carrier);
    lw_body_spec body = {.name = name};
    if (massive) {
        body.mass = random_between(&b->random, 1, 2);
        for (int k = 0; k < 3; k++)
            body.inertia[k] = random_between(&b->random, 0.2, 0.3),
            body.com[k] = random_between(&b->random, -0.3, 0.3);
    }
    add_body(b->spec, body);
    lw_joint_spec pin = {.name = joint, .type = type, .bodies = {before, name}, .frame = LW_GEOMETRY_BODY};
    if (random_below(&b->random, 4) == 0) /* against the tree */
        memcpy(pin.bodies, (const char *const[2]){name, before}, sizeof pin.bodies);
    for (int side = 0; side < 2; side++) {
        lw_joint_geometry *geometry = &pin.geometry[side];
        geometry->axis_count = type == LW_JOINT_SPHERICAL || type == LW_JOINT_FREE ? 0
                               : type == LW_JOINT_UNIVERSAL                        ? 2
                                                                                   : 1;
        memcpy(geometry->axes, axes, (size_t)geometry->axis_count * sizeof *axes);
    }
    memcpy(pin.geometry[strcmp(pin.bodies[0], before) ? 1 : 0].point, point, 3 * sizeof *point);
    pin.has_q = type == LW_JOINT_UNIVERSAL; /* two in a row that are straight are in a singular position */
    for (int k = 0; k < 2 && pin.has_q; k++) pin.q[k] = random_between(&b->random, 0.2, 0.9);
    add_joint(b->spec, pin);
    bool bushed = type == LW_JOINT_FREE && b->bushings;
    lw_force_spec bushing = {
        .name = force, .type = LW_FORCE_BUSHING, .bodies = {before, name}, .frame = LW_GEOMETRY_BODY};
    memcpy(bushing.points[0], point, sizeof bushing.points[0]);
    for (int k = 0; k < 6; k++)
        bushing.bushing_stiffness[k] = 3, bushing.bushing_damping[k] = random_between(&b->random, 0.5, 2);
    snprintf(force, sizeof force, "u%d", own);
    if (bushed) add_force(b->spec, bushing);
    for (int k = 0; k < lw_joint_type_v(type, 0) && !bushed; k++) {
        snprintf(force, sizeof force, "d%d.%d", own, k);
        add_force(b->spec, (lw_force_spec){.name = force,
                                           .type = LW_FORCE_FRICTION,
                                           .joint = joint,
                                           .coordinate = k,
                                           .viscous = random_between(&b->random, 1, 3)});
    }
    if (!b->springs) return own;
    snprintf(force, sizeof force, "s%d", own); /* from ground, so that a body without mass is pulled */
    lw_force_spec spring = {.name = force,
                            .type = LW_FORCE_SPRING,
                            .bodies = {"ground", name},
                            .frame = LW_GEOMETRY_BODY,
                            .stiffness = 5,
                            .damping = 0.4};
    for (int k = 0; k < 3; k++)
        spring.points[0][k] = random_between(&b->random, 2, 3),
        spring.points[1][k] = random_between(&b->random, -0.3, 0.3);
    add_force(b->spec, spring);
    return own;
}

static void somewhere(lw_random *random, double size, double point[3]) {
    for (int k = 0; k < 3; k++) point[k] = random_between(random, -size, size);
}

/* Returns the last body, with mass. */
static int add_knot(builder *b, int carrier) {
    const struct pair *pair = &pairs[random_below(&b->random, 2) ? random_below(&b->random, PAIRS) : 0];
    double axes[2][3], point[3];
    int row = pair->first == LW_JOINT_UNIVERSAL ? 1 : 1 + random_below(&b->random, 3),
        ends = 1 + random_below(&b->random, 2);
    somewhere(&b->random, 0.5, point);
    for (int k = 0; k < 3; k++) axes[0][k] = axes[1][k] = 0;
    if (random_below(&b->random, 2)) {
        double other[3];
        random_direction(&b->random, axes[0]), random_direction(&b->random, other);
        for (int k = 0; k < 3; k++)
            axes[1][k] =
                axes[0][(k + 1) % 3] * other[(k + 2) % 3] - axes[0][(k + 2) % 3] * other[(k + 1) % 3];
    } else {
        int k = random_below(&b->random, 3);
        axes[0][k] = axes[1][(k + 1) % 3] = 1;
    }
    for (int k = 0; k < row + ends; k++) {
        bool massive = k >= row;
        int own = add(b, carrier, massive ? pair->second : pair->first, point, axes, massive);
        double along = random_below(&b->random, 2) ? random_between(&b->random, -0.3, 0.3) : 0;
        if (massive && k == row + ends - 1) return own;
        if (massive) continue; /* the next one hangs beside it */
        carrier = own;
        for (int c = 0; c < 3; c++) point[c] = pair->offset == ON_AXIS ? along * axes[0][c] : 0;
        if (pair->offset == ANYWHERE) somewhere(&b->random, 0.3, point);
    }
    return carrier;
}

/* A body without mass on a ball joint, then two hinges about one line, then a rod through the ball: the ball's body turns about the rod, which
 * the hinges do not take up. Returns the rod. */
static int add_rod(builder *b, int carrier) {
    double axes[2][3] = {{0}}, point[3], rod[3];
    random_direction(&b->random, rod);
    axes[0][random_below(&b->random, 3)] = 1;
    somewhere(&b->random, 0.5, point);
    for (int k = 0; k < 3; k++) {
        carrier = add(b, carrier, k ? LW_JOINT_REVOLUTE : LW_JOINT_SPHERICAL, point, axes, k == 2);
        for (int c = 0; c < 3; c++) point[c] = 0;
    }
    lw_body_spec *body = lw_spec_body(b->spec, lw_spec_body_count(b->spec) - 1);
    for (int k = 0; k < 3; k++) {
        body->com[k] = 0.3 * rod[k];
        body->inertia[k] = 0.2 * (1 - rod[k] * rod[k]);
        int i = k == 2, j = k ? 2 : 1; /* xy, xz, yz */
        body->inertia[3 + k] = -0.2 * rod[i] * rod[j];
    }
    return carrier;
}

static void nothing_is_left(void **state) {
    (void)state;
    int seen = 0;
    double largest = 0;
    for (int seed = 1; seed <= 600; seed++) {
        builder b = {.random = random_seed((uint64_t)seed),
                     .spec = lw_spec_create("knots"),
                     .springs = seed % 2,
                     .bushings = seed % 3};
        int knots = 1 + random_below(&b.random, 3), carrier = 0;
        lw_spec_set_gravity(b.spec, (const double[3]){1, -9, 2});
        for (int k = 0; k < knots; k++) {
            int last = random_below(&b.random, 4) ? add_knot(&b, carrier) : add_rod(&b, carrier);
            if (random_below(&b.random, 3)) carrier = last; /* or beside it */
        }
        lw_model *model = compile_or_fail(b.spec);
        lw_method *method;
        lw_error error;
        lw_power power;
        double q[MAX], v[MAX], y[MAX], ydot[MAX], still[MAX], left[MAX], size = 0, most = 0;
        const lw_method_options options = {0};
        if (lw_formulation_massless.create(model, &options, &method, &error) != LW_OK)
            fail_msg("seed %d: %s", seed, error.message);
        random_state(&b.random, model, q, v);
        lw_formulation_massless.to_state(method, 0, q, v, y);
        int n = method->state_size, nq = lw_model_q_size(model);
        for (int k = nq; k < n; k++)
            y[k] += random_between(&b.random, -0.5, 0.5); /* w need not be consistent */
        bool good = lw_formulation_massless.derivative(method, 0, y, ydot, &power, &error) == LW_OK;
        memcpy(still, ydot, sizeof still);
        for (int k = nq; k < n; k++) still[k] = 0;
        good = good && lw_formulation_massless.residual(method, 0, y, still, left, &power, &error) == LW_OK;
        for (int k = nq; k < n && good; k++) size = fmax(size, fabs(left[k]));
        good = good && lw_formulation_massless.residual(method, 0, y, ydot, left, &power, &error) == LW_OK;
        for (int k = 0; k < n && good; k++) most = fmax(most, fabs(left[k]));
        /* rounding of forces that balance, and of pivots of light against heavy motions */
        if (good && !(most < 1e-11 * size)) fail_msg("seed %d: %g of %g is left", seed, most, size);
        if (good) seen++, largest = fmax(largest, most / size);
        lw_formulation_massless.destroy(method);
        lw_model_destroy(model);
    }
    print_message("%d trees, at most %.2g is left\n", seen, largest);
    assert_true(seen > 550);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

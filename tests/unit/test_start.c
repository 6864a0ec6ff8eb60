/* test_start.c - initial speeds of loops that are not given completely: they do not depend on where the loop is cut, nor on whether
 * a body has no mass or nearly none; they are those of least kinetic energy.
 */
#include "build.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double y[3] = {0, 1, 0};
static const char *const bodies[] = {"crank", "first", "second", "third", "rocker", "arm"};
static const char *const joints[] = {"A", "B", "C", "D", "E", "F"};
enum { BODIES = 6, JOINTS = 6 }; /* in the loop; the arm hangs on the rocker */

/* Six bars in the plane x, z: four freedoms of the loop and that of an arm. The crank's speed is given, or prescribed. */
static lw_spec *chain(double mass, int cut, bool prescribed) {
    static const double at[JOINTS][3] = {{0, 0, 0},   {0, 0, 1},   {0.7, 0, 1.4},
                                         {1.6, 0, 1}, {2, 0, 0.6}, {2.3, 0, 0}};
    lw_spec *spec = lw_spec_create("six bars");
    for (int b = 0; b < BODIES; b++) {
        bool light = b > 0 && b < 4;
        lw_body_spec body = {.name = bodies[b], .mass = light ? mass : 1 + 0.3 * b};
        for (int k = 0; k < 3; k++) body.inertia[k] = body.mass * 0.1;
        if (b < 5)
            for (int k = 0; k < 3; k++) body.com[k] = (at[b][k] + at[b + 1][k]) / 2;
        else
            body.com[0] = 3;
        add_body(spec, body);
    }
    for (int j = 0; j < JOINTS; j++)
        add_joint(
            spec,
            (lw_joint_spec){
                .name = joints[j],
                .type = LW_JOINT_REVOLUTE,
                .bodies = {j == 0 ? "ground" : bodies[j - 1], j == JOINTS - 1 ? "ground" : bodies[j]},
                .geometry = {{.point = {at[j][0], at[j][1], at[j][2]}, .axis_count = 1, .axes = {{0, 1, 0}}}},
                .has_v = j == 0 && !prescribed,
                .v = {j == 0 && !prescribed ? 3 : 0},
                .motion = {j == 0 && prescribed ? "3*t" : NULL},
                .cut = j == cut});
    add_plain_joint(spec, "shoulder", LW_JOINT_REVOLUTE, "rocker", "arm", at[4], y);
    return spec;
}

/* Velocities of all bodies where a run starts: angular, then of the origin. */
static void start(lw_spec *spec, double V[BODIES][6], double *shoulder) {
    lw_model *model;
    lw_data *data;
    lw_error error = {0};
    double q[16], v[16];
    const double origin[3] = {0};
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_model_initial_state(model, q, v);
    lw_status status = lw_assemble(model, 0, q, v, NULL, &error);
    if (status != LW_OK) fail_msg("%s", error.message);
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    for (int b = 0; b < BODIES; b++)
        lw_body_velocity(model, data, 0, q, v, lw_model_body(model, bodies[b]), origin, V[b], V[b] + 3);
    *shoulder = v[lw_model_joint_info(model, lw_model_joint(model, "shoulder")).v];
    lw_data_destroy(data);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

static double difference(double (*a)[6], double (*b)[6]) {
    double most = 0;
    for (int i = 0; i < BODIES; i++)
        for (int k = 0; k < 6; k++) most = fmax(most, fabs(a[i][k] - b[i][k]));
    return most;
}

static void the_cut_does_not_matter(void **state) {
    (void)state;
    for (int prescribed = 0; prescribed < 2; prescribed++) {
        double first[BODIES][6], V[BODIES][6], shoulder;
        start(chain(0.5, 1, prescribed), first, &shoulder);
        assert_true(fabs(first[0][1] - 3) < 1e-12);
        assert_true(fabs(first[4][1]) > 1e-3); /* the impulse reaches the rocker */
        for (int cut = 2; cut < JOINTS; cut++) {
            start(chain(0.5, cut, prescribed), V, &shoulder);
            assert_true(difference(first, V) < 1e-10); /* two ways to solve the same equations */
            assert_true(fabs(shoulder) < 1e-12);       /* no loop has a part in it: at rest */
        }
    }
}

/* The bodies in the middle have no mass, or little: the loop is cut elsewhere, and the heavy bodies start with the same velocities.
 * The differences are those that a little mass makes. */
static void no_mass_is_little_mass(void **state) {
    (void)state;
    for (int prescribed = 0; prescribed < 2; prescribed++) {
        double none[BODIES][6], V[BODIES][6], shoulder;
        start(chain(0, -1, prescribed), none, &shoulder);
        const double masses[] = {1e-12, 1e-9, 1e-7};
        for (int k = 0; k < 3; k++) {
            start(chain(masses[k], -1, prescribed), V, &shoulder);
            for (int b = 0; b < BODIES; b++)
                for (int i = 0; i < 6; i++) {
                    /* beside the 1e-6 of the mean mass that the metric has of its own */
                    double little = b > 0 && b < 4 ? 10 * masses[k] / 1e-6 : 10 * masses[k];
                    assert_true(fabs(none[b][i] - V[b][i]) < 1e-9 + little);
                }
            assert_true(fabs(V[4][1]) < 1e-4 &&
                        fabs(none[4][1]) < 1e-4); /* nothing heavy pushes the rocker */
        }
    }
}

static double energy(double mass, double (*V)[6]) {
    double sum = 0;
    lw_spec *spec = chain(mass, 1, false);
    for (int b = 0; b < BODIES; b++) {
        const lw_body_spec *body = lw_spec_body(spec, (size_t)b);
        const double *c = body->com, *w = V[b];
        double v[3] = {V[b][3] + w[1] * c[2] - w[2] * c[1], V[b][4] + w[2] * c[0] - w[0] * c[2],
                       V[b][5] + w[0] * c[1] - w[1] * c[0]};
        for (int k = 0; k < 3; k++) sum += (body->mass * v[k] * v[k] + body->inertia[k] * w[k] * w[k]) / 2;
    }
    lw_spec_destroy(spec);
    return sum;
}

/* Among all motions with that speed of the crank and the arm at rest on the rocker it is the one of least energy: any other given speed
 * has more. */
static void the_energy_is_least(void **state) {
    (void)state;
    double V[BODIES][6], other[BODIES][6], shoulder;
    start(chain(0.5, 1, false), V, &shoulder);
    double least = energy(0.5, V), rocker = V[4][1];
    for (int k = -3; k <= 3; k++) {
        lw_spec *spec = chain(0.5, 1, false);
        lw_joint_spec *last =
            lw_spec_joint(spec, JOINTS - 1); /* from the rocker to ground: its speed has the other sign */
        last->has_v = true;
        last->v[0] = -rocker + 0.1 * k;
        start(spec, other, &shoulder);
        double more = energy(0.5, other) - least;
        if (k == 0)
            assert_true(fabs(more) < 1e-12 * least && difference(V, other) < 1e-9); /* rounding */
        else
            assert_true(more > 1e-6 * least);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cut_does_not_matter),
        cmocka_unit_test(no_mass_is_little_mass),
        cmocka_unit_test(the_energy_is_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

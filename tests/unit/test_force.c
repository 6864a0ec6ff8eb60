/* test_force.c - each force element against a closed form, against the gradient of its potential, and against
 * action = reaction.
 *
 * A body without mass needs no force to move, so inverse dynamics of massless bodies gives the generalised
 * forces of the elements themselves, with the opposite sign, at any speed.
 */
#include "build.h"
#include "linalg/vec3.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static const double rounding = 1e-12; /* of forces up to 1e2, a few dozen operations */
enum { MAX = 64 };

typedef struct mechanism {
    lw_model *model;
    lw_data *data;
} mechanism;

static mechanism make(lw_spec *spec) {
    mechanism m = {.model = compile_or_fail(spec)};
    assert_int_equal(lw_data_create(m.model, NULL, &m.data), LW_OK);
    return m;
}
static void unmake(mechanism *m) {
    lw_data_destroy(m->data);
    lw_model_destroy(m->model);
}

/* Generalised forces of all that acts, if the bodies have no mass or are at rest. */
static void generalised_forces(const mechanism *m, double t, const double *q, const double *v, double *Q) {
    const double rest[MAX] = {0};
    assert_int_equal(lw_tree_inverse_dynamics(m->model, m->data, t, q, v, rest, Q, NULL), LW_OK);
    for (int k = 0; k < lw_model_v_size(m->model); k++) Q[k] = -Q[k];
}

static void near(const double *a, const double *b, int count, double tolerance, int seed, const char *what) {
    double difference = relative_difference(a, b, count);
    if (!(difference <= tolerance)) fail_msg("case %d: %s differ by %g", seed, what, difference);
}

/* A massless body, free; Q is the force in world axes, the torque in its own. */
static lw_spec *floating(void) {
    lw_spec *spec = lw_spec_create("floating");
    add_body(spec, (lw_body_spec){.name = "ghost"});
    add_plain_joint(spec, "free", LW_JOINT_FREE, LW_GROUND, "ghost", NULL, NULL);
    return spec;
}

static void springs_in_closed_form(void **state) {
    (void)state;
    static const double x[] = {0, 2, 4}, y[] = {0, 1, 7};
    static const struct {
        lw_law_spec law;
        double force, potential; /* at x = 3, v = 0.6, t = 2 */
    } laws[] = {{{0}, 0, 0},
                {{.expression = "2*x^2"}, 18, 18},
                {{.expression = "x*v*t"}, 3.6, 0}, /* no potential */
                {{.table_size = 3, .table_x = x, .table_y = y}, 4, 1 + 2.5}};
    for (int k = 0; k < 4; k++) {
        lw_spec *spec = floating();
        add_force(spec, (lw_force_spec){.name = "s",
                                        .bodies = {LW_GROUND, "ghost"},
                                        .points = {{1, 0, 0}, {0, 2, 0}},
                                        .stiffness = 10,
                                        .damping = 5,
                                        .free_length = 2,
                                        .has_free_length = true,
                                        .law = laws[k].law});
        mechanism m = make(spec);
        /* body moved by (4, 2, 0): its point is at (4, 4, 0), 5 away from (1, 0, 0) along (0.6, 0.8, 0) */
        const double q[7] = {4, 2, 0, 1, 0, 0, 0}, v[6] = {1, 0, 7, 0, 0, 0};
        double tension = 10 * 3 + 5 * 0.6 + laws[k].force, Q[6];
        const double F[2] = {-0.6 * tension, -0.8 * tension};
        const double want[6] = {F[0], F[1], 0,
                                0,    0,    -2 * F[0]}; /* torque about the body's origin: (0,2) x F */
        generalised_forces(&m, 2, q, v, Q);
        near(Q, want, 6, rounding, k, "spring forces");
        lw_energy energy = lw_energy_of(m.model, m.data, 2, q, v);
        assert_true(fabs(energy.potential - (45 + laws[k].potential)) < 1e-10);
        unmake(&m);
    }
}

static void a_spring_without_length_pulls_nowhere(void **state) {
    (void)state;
    lw_spec *spec = floating();
    add_force(spec,
              (lw_force_spec){
                  .name = "s", .bodies = {LW_GROUND, "ghost"}, .stiffness = 10, .has_free_length = true});
    mechanism m = make(spec);
    const double q[7] = {0, 0, 0, 1, 0, 0, 0}, v[6] = {1, 0, 0, 0, 0, 0}, want[6] = {0};
    double Q[6];
    generalised_forces(&m, 0, q, v, Q);
    near(Q, want, 6, 0, 0, "forces");
    unmake(&m);
}

static void joint_elements_in_closed_form(void **state) {
    (void)state;
    static const double z[3] = {0, 0, 1};
    for (int written = 0; written < 2; written++) { /* joints written either way have the same coordinates */
        lw_spec *spec = lw_spec_create("joint");
        add_body(spec, (lw_body_spec){.name = "ghost"});
        add_plain_joint(spec, "c", LW_JOINT_CYLINDRICAL, written ? "ghost" : LW_GROUND,
                        written ? LW_GROUND : "ghost", NULL, z);
        add_force(spec, (lw_force_spec){.name = "torsion",
                                        .type = LW_FORCE_TORSION,
                                        .joint = "c",
                                        .coordinate = 1,
                                        .stiffness = 3,
                                        .damping = 0.5,
                                        .free_length = -0.25,
                                        .law = {.expression = "x^3"}});
        add_force(spec, (lw_force_spec){
                            .name = "drive", .type = LW_FORCE_DRIVE, .joint = "c", .drive = "t + 2*q - 3*v"});
        add_force(spec, (lw_force_spec){.name = "friction",
                                        .type = LW_FORCE_FRICTION,
                                        .joint = "c",
                                        .viscous = 0.7,
                                        .coulomb = 4,
                                        .smoothing = 0.1});
        mechanism m = make(spec);
        const double q[2] = {1.5, 0.75}, v[2] = {0.2, -2};
        const double want[2] = {0.3 + 2 * 1.5 - 3 * 0.2 - (0.7 * 0.2 + 4 * tanh(2)), -(3 * 1 + 0.5 * -2 + 1)};
        double Q[2];
        generalised_forces(&m, 0.3, q, v, Q);
        near(Q, want, 2, rounding, written, "joint forces");
        lw_energy energy = lw_energy_of(m.model, m.data, 0.3, q, v);
        assert_true(fabs(energy.potential - (1.5 + 0.25)) < 1e-12);
        unmake(&m);
    }
}

static void bushings_in_closed_form(void **state) {
    (void)state;
    const lw_force_spec force = {.name = "b",
                                 .type = LW_FORCE_BUSHING,
                                 .bodies = {LW_GROUND, "ghost"},
                                 .bushing_stiffness = {1, 2, 3, 4, 5, 6},
                                 .bushing_damping = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}};
    for (int turned = 0; turned < 2; turned++) { /* frame of the bushing: the world's, or turned by z -> x */
        lw_spec *spec = floating();
        lw_force_spec own = force;
        if (turned) own.rotation[0] = own.rotation[1] = own.rotation[2] = own.rotation[3] = 0.5;
        add_force(spec, own);
        mechanism m = make(spec);
        const double q[7] = {0.1, 0.2, 0.3, 1, 0, 0, 0}, v[6] = {1, -1, 2, 0.5, 0.25, -1};
        static const int axis[2][3] = {{0, 1, 2}, {2, 0, 1}}; /* world axis k is this axis of the bushing */
        double Q[6], want[6];
        for (int k = 0; k < 3; k++) {
            int a = axis[turned][k];
            want[k] = -own.bushing_stiffness[a] * q[k] - own.bushing_damping[a] * v[k];
            want[3 + k] = -own.bushing_damping[3 + a] * v[3 + k];
        }
        generalised_forces(&m, 0, q, v, Q);
        near(Q, want, 6, rounding, turned, "bushing forces");
        unmake(&m);
    }
    /* turns about one axis of the bushing, up to nearly half a turn: torque -k angle */
    for (int k = 0; k < 3; k++)
        for (int n = -10; n <= 10; n++) {
            lw_spec *spec = floating();
            add_force(spec, force);
            mechanism m = make(spec);
            double angle = n == 0 ? 1e-9 : 0.314 * n, q[7] = {0}, v[6] = {0}, Q[6], want[6] = {0};
            q[3] = cos(angle / 2), q[4 + k] = sin(angle / 2);
            want[3 + k] = -force.bushing_stiffness[3 + k] * angle;
            generalised_forces(&m, 0, q, v, Q);
            near(Q, want, 6, rounding, n, "torques of a turned bushing");
            lw_energy energy = lw_energy_of(m.model, m.data, 0, q, v);
            assert_true(fabs(energy.potential + 0.5 * want[3 + k] * angle) < 1e-12);
            unmake(&m);
        }
}

static void applied_forces_in_closed_form(void **state) {
    (void)state;
    for (int follows = 0; follows < 2; follows++) {
        lw_spec *spec = floating();
        add_force(spec, (lw_force_spec){.name = "push",
                                        .type = LW_FORCE_APPLIED,
                                        .bodies = {"ghost"},
                                        .points = {{1, 0, 0}},
                                        .force = {"t", NULL, "2"},
                                        .torque = {NULL, NULL, "5"},
                                        .follows_body = follows});
        mechanism m = make(spec);
        /* a quarter turn about z: body x is world y; the point is at (0, 1, 0) of the body's origin */
        const double q[7] = {9, 9, 9, sqrt(0.5), 0, 0, sqrt(0.5)}, v[6] = {0};
        /* world axes: F = (3, 0, 2), (0,1,0) x F = (2, 0, -3), in body axes (0, -2, -3); + 5 about z.
         * body axes: F = (3, 0, 2) is (0, 3, 2) in the world; (1,0,0) x (3,0,2) = (0, -2, 0); + 5 about z. */
        const double want[2][6] = {{3, 0, 2, 0, -2, 2}, {0, 3, 2, 0, -2, 5}};
        double Q[6];
        generalised_forces(&m, 3, q, v, Q);
        near(Q, want[follows], 6, rounding, follows, "applied forces");
        unmake(&m);
    }
}

/* Two free massless bodies: what an element does to one it does to the other, force and moment. */
static void action_is_reaction(void **state) {
    (void)state;
    static const lw_force_type types[] = {LW_FORCE_SPRING, LW_FORCE_BUSHING, LW_FORCE_APPLIED};
    for (int seed = 1; seed <= 150; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_spec *spec = lw_spec_create("two");
        for (int k = 0; k < 2; k++) {
            add_body(spec, (lw_body_spec){.name = k ? "b" : "a"});
            add_plain_joint(spec, k ? "jb" : "ja", LW_JOINT_FREE, LW_GROUND, k ? "b" : "a", NULL, NULL);
        }
        lw_force_spec force = {.name = "f",
                               .type = types[seed % 3],
                               .bodies = {"a", "b"},
                               .frame = seed % 2 ? LW_GEOMETRY_BODY : LW_GEOMETRY_WORLD,
                               .stiffness = 3,
                               .damping = 2,
                               .has_free_length = true,
                               .bushing_stiffness = {1, 2, 3, 4, 5, 6},
                               .bushing_damping = {6, 5, 4, 3, 2, 1},
                               .force = {"1", "2", "t"},
                               .torque = {"3*t", "1", "-1"},
                               .follows_body = seed % 4 < 2};
        random_vector(&random, 6, 1, force.points[0]);
        random_vector(&random, 4, 1, force.rotation);
        add_force(spec, force);
        mechanism m = make(spec);
        double q[14], v[12], Q[12], sum[6] = {0}, size = 0;
        random_state(&random, m.model, q, v);
        generalised_forces(&m, 0.7, q, v, Q);
        for (int k = 0; k < 2; k++) {
            double R[9], p[3], n[3];
            lw_body_pose(m.model, m.data, 0.7, q, 1 + k, p, R);
            lw_m3_mul_v(R, Q + 6 * k + 3, n); /* about the body's origin, then about the world's */
            lw_v3_add_cross(p, Q + 6 * k, n);
            lw_v3_add(sum, Q + 6 * k, sum);
            lw_v3_add(sum + 3, n, sum + 3);
            size = fmax(size, lw_v3_norm(Q + 6 * k) + lw_v3_norm(n));
        }
        assert_true(size > 0.1);
        for (int k = 0; k < 6; k++)
            if (!(fabs(sum[k]) < rounding * (1 + size))) fail_msg("seed %d: %g is left over", seed, sum[k]);
        unmake(&m);
    }
}

/* A tree with every element that has a potential, at rest in random states not far from the reference (a
 * bushing's potential has a ridge where its frames are half a turn apart). */
static mechanism elastic_tree(lw_random *random, int seed) {
    static const double x[] = {-2, 0, 1, 3}, y[] = {-3, 0, 1, 6};
    random_tree options = {
        .bodies = 1 + seed % 3, .reversed = true, .joint = seed % 2 ? seed / 2 % LW_JOINT_TYPES : -1};
    lw_spec *spec = random_tree_spec(random, &options);
    for (int i = 1; i <= options.bodies; i++) {
        char names[3][24], body[24], other[24], joint[24];
        lw_spec_body(spec, (size_t)i - 1)->has_pose = false; /* so that q = 0 is the reference */
        lw_spec_joint(spec, (size_t)i - 1)->frame = LW_GEOMETRY_WORLD;
        snprintf(names[0], sizeof names[0], "spring%d", i);
        snprintf(names[1], sizeof names[1], "bushing%d", i);
        snprintf(names[2], sizeof names[2], "torsion%d", i);
        snprintf(body, sizeof body, "body%d", i);
        snprintf(other, sizeof other, i > 1 ? "body%d" : "ground", i - 1);
        snprintf(joint, sizeof joint, "joint%d", i);
        lw_force_spec force = {.name = names[0],
                               .bodies = {body, other},
                               .frame = seed % 3 ? LW_GEOMETRY_WORLD : LW_GEOMETRY_BODY,
                               .stiffness = 3,
                               .bushing_stiffness = {1, 2, 3, 4, 5, 6}};
        if (seed % 2)
            force.law.expression = "sin(x) + x^3/5";
        else
            force.law = (lw_law_spec){.table_size = 4, .table_x = x, .table_y = y, .smooth = true};
        random_vector(random, 6, 1, force.points[0]);
        random_vector(random, 4, 1, force.rotation);
        force.points[1][0] += 4; /* a spring's length is never small, where its force turns fast */
        add_force(spec, force);
        force.name = names[1], force.type = LW_FORCE_BUSHING;
        add_force(spec, force);
        lw_joint_spec *js = lw_spec_joint(spec, (size_t)i - 1);
        if (js->type == LW_JOINT_WELD || js->type == LW_JOINT_SPHERICAL) continue;
        force.name = names[2], force.type = LW_FORCE_TORSION, force.joint = joint, force.free_length = 0.3;
        add_force(spec, force);
    }
    return make(spec);
}

/* Eighth-order differences with h = 0.02, as in conformance/tree; the table's slope is only continuous, so
 * its second derivative jumps and the differences have an error of h * jump * stiffness there at worst: such
 * laws are compared at 1e-8 only away from the kinks, which is why the states are shared with the smooth ones
 * and a few outliers of the size h^2 are allowed for. */
static void forces_are_gradients_of_the_potential(void **state) {
    (void)state;
    static const double weights[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    const double h = 0.02;
    int compared = 0, outliers = 0;
    for (int seed = 1; seed <= 200; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        mechanism m = elastic_tree(&random, seed);
        int nv = lw_model_v_size(m.model);
        double q[MAX], v[MAX], zero[MAX] = {0}, Q[MAX];
        assert_true(nv <= MAX);
        lw_model_initial_state(m.model, q, v);
        random_vector(&random, nv, 0.6, v);
        lw_integrate_q(m.model, q, v, 1);
        generalised_forces(&m, 0, q, zero, Q);
        for (int k = 0; k < nv; k++) {
            double along[MAX] = {0}, slope = 0;
            along[k] = 1;
            for (int i = 1; i <= 4; i++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    double at[MAX];
                    memcpy(at, q, sizeof at);
                    lw_integrate_q(m.model, at, along, sign * i * h);
                    slope += sign * weights[i - 1] / h * lw_energy_of(m.model, m.data, 0, at, zero).potential;
                }
            double difference = fabs(Q[k] + slope) / (1 + fabs(slope));
            compared++;
            if (difference <= 1e-8) continue;
            outliers++;
            if (seed % 2 || difference > h * h)
                fail_msg("seed %d, speed %d: force %.12g, but -dU/dq = %.12g", seed, k, Q[k], -slope);
        }
        unmake(&m);
    }
    assert_true(compared > 800);
    assert_true(outliers < compared / 20);
}

/* Gravity: potential and force agree with a mass on a string of joints; the elements have no part in it. */
static void gravity_in_closed_form(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("falling");
    add_body(spec, (lw_body_spec){.name = "stone", .kind = LW_BODY_POINT, .mass = 2, .com = {0, 0, 1}});
    add_plain_joint(spec, "free", LW_JOINT_TRANSLATION, LW_GROUND, "stone", NULL, (const double[3]){0, 0, 1});
    mechanism m = make(spec);
    const double q = 3, v = -1;
    double Q;
    generalised_forces(&m, 0, &q, &v, &Q);
    assert_true(fabs(Q + 2 * 9.81) < 1e-14);
    lw_energy energy = lw_energy_of(m.model, m.data, 0, &q, &v);
    assert_true(fabs(energy.potential - 2 * 9.81 * 4) < 1e-13 && fabs(energy.kinetic - 1) < 1e-15);
    unmake(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_in_closed_form),
        cmocka_unit_test(a_spring_without_length_pulls_nowhere),
        cmocka_unit_test(joint_elements_in_closed_form),
        cmocka_unit_test(bushings_in_closed_form),
        cmocka_unit_test(applied_forces_in_closed_form),
        cmocka_unit_test(action_is_reaction),
        cmocka_unit_test(forces_are_gradients_of_the_potential),
        cmocka_unit_test(gravity_in_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

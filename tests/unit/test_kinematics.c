/* test_kinematics.c - poses and Jacobians in closed form, coordinates and their rates, prescribed rotations.
 * (Velocities and accelerations on random trees: conformance/tree.)
 */
#include "build.h"
#include "model/data.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

static const double rounding = 1e-13;
/* Eighth-order differences, h = 0.02, of functions with derivatives of order 1: 1e-14; rounding 1e-14 / h. */
static const double differences = 1e-11, h = 0.02;
static const double weights[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};

enum { MAX = 96 };

static void near(const double *a, const double *b, int count, double tolerance, int seed, const char *what) {
    double difference = relative_difference(a, b, count);
    if (!(difference <= tolerance)) fail_msg("case %d: %s differ by %g", seed, what, difference);
}

/* Two links of length 2 and 1 in the x-y plane. */
static void a_planar_arm_in_closed_form(void **state) {
    (void)state;
    static const double z[3] = {0, 0, 1}, elbow[3] = {2, 0, 0};
    lw_spec *spec = lw_spec_create("arm");
    add_plain_body(spec, "upper");
    add_plain_body(spec, "lower");
    add_plain_joint(spec, "shoulder", LW_JOINT_REVOLUTE, LW_GROUND, "upper", NULL, z);
    add_plain_joint(spec, "elbow", LW_JOINT_REVOLUTE, "upper", "lower", elbow, z);
    lw_model *model = compile_or_fail(spec);
    lw_data *data;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    for (int n = 0; n < 20; n++) {
        double a = 0.3 * n, b = 1 - 0.2 * n, q[2] = {a, b}, v[2] = {1.5, -0.5}, w[3], l[3], p[3], R[9];
        double ca = cos(a), sa = sin(a), cab = cos(a + b), sab = sin(a + b);
        const double tip[3] = {3, 0, 0}; /* in the frame of lower, which is the world's at q = 0 */
        const double J[6] = {-2 * sa - sab, -sab, 2 * ca + cab, cab, 0, 0};
        const double speed[3] = {J[0] * 1.5 + J[1] * -0.5, J[2] * 1.5 + J[3] * -0.5, 0}, turn[3] = {0, 0, 1};
        double got[6], twist[12];
        lw_tree_point_jacobian(model, data, 0, q, 2, tip, got);
        near(got, J, 6, rounding, n, "point Jacobians");
        lw_body_velocity(model, data, 0, q, v, 2, tip, w, l);
        near(l, speed, 3, rounding, n, "velocities");
        near(w, turn, 3, rounding, n, "angular velocities");
        lw_body_pose(model, data, 0, q, 2, p, R);
        const double rotation[9] = {cab, -sab, 0, sab, cab, 0, 0, 0, 1};
        const double origin[3] = {2 * ca - 2 * cab, 2 * sa - 2 * sab, 0};
        near(p, origin, 3, rounding, n, "positions");
        near(R, rotation, 9, rounding, n, "rotations");
        lw_tree_body_jacobian(model, data, 0, q, 2, twist);
        const double angular[6] = {0, 0, 0, 0, 1, 1};
        near(twist, angular, 6, rounding, n, "angular Jacobians");
        const double linear[6] = {-2 * sa + 2 * sab, 2 * sab, 2 * ca - 2 * cab, -2 * cab, 0, 0};
        near(twist + 6, linear, 6, rounding, n, "linear Jacobians");
        lw_body_pose(model, data, 0, q, 0, p, R); /* ground stays where it is */
        assert_true(p[0] == 0 && p[1] == 0 && p[2] == 0 && R[0] == 1 && R[4] == 1 && R[8] == 1);
    }
    lw_data_destroy(data);
    lw_model_destroy(model);
}

static void coordinates_follow_their_rates(void **state) {
    (void)state;
    for (int seed = 1; seed <= 80; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        random_tree options = {.bodies = 1 + seed % 8, .reversed = true, .joint = -1};
        lw_model *model = random_tree_model(&random, &options);
        int nq = lw_model_q_size(model);
        double q[2 * MAX], v[MAX], rate[2 * MAX], stable[2 * MAX], want[2 * MAX] = {0}, at[2 * MAX];
        random_state(&random, model, q, v);
        lw_q_rate(model, q, v, rate);
        lw_q_rate_stable(model, q, v, stable);
        near(rate, stable, nq, rounding, seed, "stable rates");
        for (int i = 1; i <= 4; i++)
            for (int sign = -1; sign <= 1; sign += 2) {
                memcpy(at, q, sizeof at);
                lw_integrate_q(model, at, v, sign * i * h);
                for (int k = 0; k < nq; k++) want[k] += sign * weights[i - 1] / h * at[k];
            }
        near(rate, want, nq, differences, seed, "rates");
        /* exact about a constant axis: many small steps are one large one, and back again */
        double one[2 * MAX], many[2 * MAX];
        memcpy(one, q, sizeof one);
        memcpy(many, q, sizeof many);
        lw_integrate_q(model, one, v, 1);
        for (int k = 0; k < 100; k++) lw_integrate_q(model, many, v, 0.01);
        near(one, many, nq, rounding, seed, "coordinates after 100 steps and after one");
        lw_integrate_q(model, one, v, -1);
        near(one, q, nq, rounding, seed, "coordinates there and back");
        /* unit length: after normalising, and kept by integrating */
        for (int k = 0; k < nq; k++) many[k] = 3 * q[k];
        lw_normalise_q(model, many);
        for (int j = 0; j < lw_model_joint_count(model); j++) {
            lw_joint_info info = lw_model_joint_info(model, j);
            if (info.q_count == info.v_count) continue;
            const double *a = q + info.q + info.q_count - 4, *b = many + info.q + info.q_count - 4;
            near(a, b, 4, rounding, seed, "normalised quaternions");
        }
        lw_model_destroy(model);
    }
}

/* rotation = Rx(a) Ry(b) Rz(c) with angles that are functions of time; its angular velocity and acceleration
 * against differences of the matrix, also through b = pi/2, where Cardan angles are singular but known. */
static void prescribed_rotations(void **state) {
    (void)state;
    static const lw_joint_type types[] = {LW_JOINT_SPHERICAL, LW_JOINT_FREE};
    for (int n = 0; n < 40; n++) {
        lw_joint_type type = types[n % 2];
        lw_spec *spec = lw_spec_create("wrist");
        add_plain_body(spec, "hand");
        lw_joint_spec joint = {.name = "ball", .type = type, .bodies = {LW_GROUND, "hand"}};
        int at = type == LW_JOINT_FREE ? 3 : 0;
        joint.motion[at] = "0.7*sin(t)", joint.motion[at + 1] = "pi/2*t", joint.motion[at + 2] = "t^2/4";
        if (n % 4 == 1) joint.motion[1] = "3*t";
        add_joint(spec, joint);
        lw_model *model = compile_or_fail(spec);
        lw_data *data;
        assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
        double t0 = 0.05 * n, q[7] = {0}, v[6] = {0}, p[3], R[9], want[9], A[9], B[9], AB[9], C[9];
        const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1}, origin[3] = {0, 0, 0};
        lw_body_pose(model, data, t0, q, 1, p, R);
        lw_rot_axis(x, 0.7 * sin(t0), A);
        lw_rot_axis(y, LW_PI / 2 * t0, B);
        lw_rot_axis(z, t0 * t0 / 4, C);
        lw_m3_mul(A, B, AB);
        lw_m3_mul(AB, C, want);
        near(R, want, 9, rounding, n, "rotations");
        double w[3], l[3], R_dot[9] = {0}, w_dot[3] = {0}, wn[3], ln[3], W[9], vdot[6];
        lw_error error;
        lw_body_velocity(model, data, t0, q, v, 1, origin, w, l);
        assert_true(fabs(l[1] - (n % 4 == 1 ? 3 : 0)) < rounding);
        assert_int_equal(lw_tree_forward_dynamics(model, data, t0, q, v, NULL, vdot, &error), LW_OK);
        for (int i = 1; i <= 4; i++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double Rn[9];
                lw_body_pose(model, data, t0 + sign * i * h, q, 1, p, Rn);
                lw_body_velocity(model, data, t0 + sign * i * h, q, v, 1, origin, wn, ln);
                for (int k = 0; k < 9; k++) R_dot[k] += sign * weights[i - 1] / h * Rn[k];
                for (int k = 0; k < 3; k++) w_dot[k] += sign * weights[i - 1] / h * wn[k];
            }
        for (int i = 0; i < 3; i++) /* w~ = Rdot R' */
            for (int j = 0; j < 3; j++) W[3 * i + j] = lw_v3_dot(R_dot + 3 * i, R + 3 * j);
        const double spin[3] = {W[7], W[2], W[3]};
        near(w, spin, 3, differences, n, "angular velocities");
        double world[3]; /* the speeds' rates are components of wdot in the body's axes */
        lw_m3_mul_v(R, vdot + at, world);
        near(world, w_dot, 3, differences, n, "angular accelerations");
        lw_data_destroy(data);
        lw_model_destroy(model);
    }
}

/* Linear and angular momentum from poses and velocities of every body. */
static void momentum_is_the_sum_over_bodies(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("pair");
    static const double z[3] = {0, 0, 1}, at[3] = {1, 2, 3};
    add_body(spec, (lw_body_spec){.name = "a", .mass = 2, .com = {0.1, 0, 0}, .inertia = {1, 2, 2.5}});
    add_body(spec, (lw_body_spec){.name = "b", .mass = 3, .com = {0, 0.2, 0.3}, .inertia = {1, 1, 1}});
    add_plain_joint(spec, "free", LW_JOINT_FREE, LW_GROUND, "a", NULL, NULL);
    add_plain_joint(spec, "pin", LW_JOINT_REVOLUTE, "a", "b", at, z);
    lw_model *model = compile_or_fail(spec);
    lw_data *data;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    const double mass[2] = {2, 3}, com[2][3] = {{0.1, 0, 0}, {0, 0.2, 0.3}},
                 J[2][3] = {{1, 2, 2.5}, {1, 1, 1}};
    for (int seed = 1; seed <= 30; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        double q[8], v[7], P[3] = {0}, L[3] = {0}, linear[3], angular[3];
        random_state(&random, model, q, v);
        for (int k = 0; k < 2; k++) {
            int body = lw_model_body(model, k ? "b" : "a");
            double p[3], R[9], w[3], l[3], c[3], local[3], spin[3];
            lw_body_pose(model, data, 0, q, body, p, R);
            lw_body_velocity(model, data, 0, q, v, body, com[k], w, l);
            lw_pose_point(R, p, com[k], c);
            lw_v3_axpy(mass[k], l, P);
            lw_m3_tmul_v(R, w, local);
            for (int i = 0; i < 3; i++) local[i] *= J[k][i];
            lw_m3_mul_v(R, local, spin);
            lw_v3_add(L, spin, L);
            for (int i = 0; i < 3; i++) l[i] *= mass[k];
            lw_v3_add_cross(c, l, L);
        }
        lw_momentum(model, data, 0, q, v, linear, angular);
        near(linear, P, 3, rounding, seed, "linear momenta");
        near(angular, L, 3, rounding, seed, "angular momenta");
    }
    lw_data_destroy(data);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planar_arm_in_closed_form),
        cmocka_unit_test(coordinates_follow_their_rates),
        cmocka_unit_test(prescribed_rotations),
        cmocka_unit_test(momentum_is_the_sum_over_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

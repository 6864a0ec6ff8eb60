/* test_joint.c - every type of joint, both ways round, against finite differences of its own place.
 *
 *   place at q = 0 and for known motions                  closed forms
 *   S v       against the derivative of the place         along q(s) with qdot = lw_joint_rate
 *   bias      against the derivative of S v               along the same curve with constant v
 *   inverse   place is the inverse of the direct one
 */
#include "random_model.h"
#include "model/joint.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

/* Eighth-order central differences with h = 0.02 of functions whose ninth derivative is at most 2^9 |v|^9
 * or so: h^8 / 630 * 1e3 = 4e-14; rounding 1e-16 / h = 5e-15 times values of order 10. */
static const double differences = 1e-12;
static const double rounding = 1e-14;

#define SEEDS 40

typedef struct place {
    double R[9], p[3], S[6 * LW_JOINT_MAX_V];
} place;

/* Revolute and prismatic joints may move about or along any coordinate axis, in either sense; a translation's
 * directions may count backwards. */
static lw_joint random_joint(lw_random *random, lw_joint_type type, double directions[9]) {
    lw_joint joint = {.type = type, .axis = 2, .sign = 1, .pitch = random_between(random, -1, 1)};
    int axes = 1 + random_below(random, 3);
    for (int k = 0; k < 3; k++) random_direction(random, directions + 3 * k);
    joint.axes = directions;
    if (type == LW_JOINT_REVOLUTE || type == LW_JOINT_PRISMATIC) joint.axis = random_below(random, 3);
    if (type == LW_JOINT_REVOLUTE || type == LW_JOINT_PRISMATIC || type == LW_JOINT_TRANSLATION)
        joint.sign = random_below(random, 2) ? 1 : -1;
    joint.nq = lw_joint_type_q(type, axes);
    joint.nv = lw_joint_type_v(type, axes);
    return joint;
}

static void random_coordinates(lw_random *random, const lw_joint *joint, double *q, double *v) {
    random_vector(random, LW_JOINT_MAX_Q, 2, q);
    random_vector(random, LW_JOINT_MAX_V, 1, v);
    int at = lw_joint_quaternion(joint->type);
    if (at >= 0) lw_quat_normalise(q + at);
}

/* q on the curve of constant speeds v, exactly: quaternions turn about the constant vector v. */
static void along(const lw_joint *joint, const double *q, const double *v, double s, double *out) {
    memcpy(out, q, LW_JOINT_MAX_Q * sizeof *q);
    int at = lw_joint_quaternion(joint->type);
    for (int k = 0; k < joint->nv && (at < 0 || k < at); k++) out[k] += s * v[k];
    if (at < 0) return;
    double phi[3], turn[4];
    for (int k = 0; k < 3; k++) phi[k] = s * v[at + k];
    lw_quat_exp(phi, turn);
    lw_quat_mul(q + at, turn, out + at);
}

static const double weights[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
static const double h = 0.02;

static void near(const double *a, const double *b, int count, double tolerance, lw_joint_type type, int seed,
                 const char *what) {
    double difference = relative_difference(a, b, count);
    if (!(difference <= tolerance))
        fail_msg("%s, seed %d: %s differs by %g", lw_joint_type_name(type), seed, what, difference);
}

static void relative_twist(const lw_joint *joint, const place *at, const double *v, double V[6]) {
    memset(V, 0, 6 * sizeof *V);
    for (int k = 0; k < joint->nv; k++) lw_v6_axpy(v[k], at->S + 6 * k, V);
}

/* The body twist of a moving frame: w~ = R'Rdot, and R'pdot. */
static void subspace_is_the_rate_of_the_place(void **state) {
    (void)state;
    for (int type = 0; type < LW_JOINT_TYPES; type++)
        for (int seed = 1; seed <= 2 * SEEDS; seed++) {
            lw_random random = random_seed((uint64_t)seed);
            double directions[9];
            lw_joint joint = random_joint(&random, (lw_joint_type)type, directions);
            joint.inverse = seed % 2;
            double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], V[6], want[6], at[LW_JOINT_MAX_Q];
            random_coordinates(&random, &joint, q, v);
            place here, near_by;
            lw_joint_motion(&joint, q, NULL, here.R, here.p, here.S, NULL);
            relative_twist(&joint, &here, v, V);
            double R_dot[9] = {0}, p_dot[3] = {0}, W[9];
            for (int i = 1; i <= 4; i++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    along(&joint, q, v, sign * i * h, at);
                    lw_joint_motion(&joint, at, NULL, near_by.R, near_by.p, near_by.S, NULL);
                    for (int k = 0; k < 9; k++) R_dot[k] += sign * weights[i - 1] / h * near_by.R[k];
                    for (int k = 0; k < 3; k++) p_dot[k] += sign * weights[i - 1] / h * near_by.p[k];
                }
            lw_m3_tmul(here.R, R_dot, W);
            lw_v3_set(want, W[7], W[2], W[3]);
            lw_m3_tmul_v(here.R, p_dot, want + 3);
            near(V, want, 6, differences, joint.type, seed, "S v");
        }
}

static void bias_is_the_rate_of_the_twist(void **state) {
    (void)state;
    for (int type = 0; type < LW_JOINT_TYPES; type++)
        for (int seed = 1; seed <= 2 * SEEDS; seed++) {
            lw_random random = random_seed((uint64_t)seed);
            double directions[9];
            lw_joint joint = random_joint(&random, (lw_joint_type)type, directions);
            joint.inverse = seed % 2;
            double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], at[LW_JOINT_MAX_Q], bias[6], own[6], want[6] = {0};
            random_coordinates(&random, &joint, q, v);
            place here, near_by;
            lw_joint_motion(&joint, q, v, here.R, here.p, here.S, bias);
            for (int i = 1; i <= 4; i++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    double V[6];
                    along(&joint, q, v, sign * i * h, at);
                    lw_joint_motion(&joint, at, NULL, near_by.R, near_by.p, near_by.S, NULL);
                    relative_twist(&joint, &near_by, v, V);
                    lw_v6_axpy(sign * weights[i - 1] / h, V, want);
                }
            near(bias, want, 6, differences, joint.type, seed, "bias");
            /* it is quadratic in the speeds */
            for (int k = 0; k < joint.nv; k++) v[k] *= -3;
            lw_joint_motion(&joint, q, v, here.R, here.p, here.S, own);
            for (int k = 0; k < 6; k++) want[k] = 9 * bias[k];
            near(own, want, 6, 10 * rounding, joint.type, seed, "bias of -3 v");
        }
}

static void inverse_undoes_the_direct_place(void **state) {
    (void)state;
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3] = {0, 0, 0};
    for (int type = 0; type < LW_JOINT_TYPES; type++)
        for (int seed = 1; seed <= SEEDS; seed++) {
            lw_random random = random_seed((uint64_t)seed);
            double directions[9];
            lw_joint joint = random_joint(&random, (lw_joint_type)type, directions), other = joint;
            double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], R[9], p[3], zero[LW_JOINT_MAX_Q];
            place direct, inverse;
            other.inverse = true;
            random_coordinates(&random, &joint, q, v);
            lw_joint_motion(&joint, q, NULL, direct.R, direct.p, direct.S, NULL);
            lw_joint_motion(&other, q, NULL, inverse.R, inverse.p, inverse.S, NULL);
            lw_pose_compose(direct.R, direct.p, inverse.R, inverse.p, R, p);
            near(R, identity, 9, rounding, joint.type, seed, "direct times inverse rotation");
            near(p, origin, 3, rounding, joint.type, seed, "direct times inverse position");
            lw_joint_zero(joint.type, zero);
            lw_joint_motion(seed % 2 ? &joint : &other, zero, NULL, R, p, inverse.S, NULL);
            near(R, identity, 9, 0, joint.type, seed, "rotation at zero");
            near(p, origin, 3, 0, joint.type, seed, "position at zero");
        }
}

/* The table of spec.h in closed form. */
static void places_in_closed_form(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], R[9], p[3], S[36], want[9], a[9], b[9];
        const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1}, origin[3] = {0, 0, 0};
        for (int type = 0; type < LW_JOINT_TYPES; type++) {
            double directions[9];
            lw_joint joint = random_joint(&random, (lw_joint_type)type, directions);
            double at[3] = {0, 0, 0};
            random_coordinates(&random, &joint, q, v);
            lw_joint_motion(&joint, q, NULL, R, p, S, NULL);
            lw_m3_identity(want);
            switch (joint.type) {
            case LW_JOINT_REVOLUTE:
                lw_rot_axis(joint.axis == 0 ? x : joint.axis == 1 ? y : z, joint.sign * q[0], want);
                break;
            case LW_JOINT_PRISMATIC:
                at[joint.axis] = joint.sign * q[0];
                break;
            case LW_JOINT_SCREW:
                lw_rot_axis(z, q[0], want), at[2] = joint.pitch * q[0];
                break;
            case LW_JOINT_CYLINDRICAL:
                lw_rot_axis(z, q[1], want), at[2] = q[0];
                break;
            case LW_JOINT_UNIVERSAL:
                lw_rot_axis(x, q[0], a), lw_rot_axis(y, q[1], b), lw_m3_mul(a, b, want);
                break;
            case LW_JOINT_SPHERICAL:
                lw_rot_quat(q, want);
                break;
            case LW_JOINT_PLANAR:
                lw_rot_axis(z, q[2], want), at[0] = q[0], at[1] = q[1];
                break;
            case LW_JOINT_TRANSLATION:
                for (int k = 0; k < joint.nv; k++) lw_v3_axpy(joint.sign * q[k], joint.axes + 3 * k, at);
                break;
            case LW_JOINT_FREE:
                lw_rot_quat(q + 3, want), lw_v3_copy(q, at);
                break;
            default:
                lw_v3_copy(origin, at);
            }
            near(R, want, 9, rounding, joint.type, seed, "rotation");
            near(p, at, 3, rounding, joint.type, seed, "position");
        }
    }
}

static void rates_of_coordinates(void **state) {
    (void)state;
    for (int type = 0; type < LW_JOINT_TYPES; type++)
        for (int seed = 1; seed <= SEEDS; seed++) {
            lw_random random = random_seed((uint64_t)seed);
            double directions[9];
            lw_joint joint = random_joint(&random, (lw_joint_type)type, directions);
            double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], rate[LW_JOINT_MAX_Q], want[LW_JOINT_MAX_Q] = {0};
            double at[LW_JOINT_MAX_Q], stable[LW_JOINT_MAX_Q];
            random_coordinates(&random, &joint, q, v);
            lw_joint_rate(&joint, q, v, false, rate);
            for (int i = 1; i <= 4; i++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    along(&joint, q, v, sign * i * h, at);
                    for (int k = 0; k < joint.nq; k++) want[k] += sign * weights[i - 1] / h * at[k];
                }
            near(rate, want, joint.nq, differences, joint.type, seed, "qdot");
            lw_joint_rate(&joint, q, v, true, stable); /* the pull vanishes on unit quaternions */
            near(rate, stable, joint.nq, rounding, joint.type, seed, "stable qdot");
            int quaternion = lw_joint_quaternion(joint.type);
            if (quaternion < 0) continue;
            /* off the unit length d|q|^2/dt = |w| (1 - |q|^2) |q|^2: towards it from both sides */
            double *u = q + quaternion, *rate_u = stable + quaternion, square = 0, change = 0;
            double factor = seed % 2 ? 1.3 : 0.8;
            for (int k = 0; k < 4; k++) u[k] *= factor;
            lw_joint_rate(&joint, q, v, true, stable);
            for (int k = 0; k < 4; k++) square += u[k] * u[k], change += 2 * u[k] * rate_u[k];
            double expected = lw_v3_norm(v + quaternion) * (1 - square) * square;
            assert_true(fabs(change - expected) < 1e-13);
            assert_true(change * (1 - square) > 0);
        }
}

/* Sizes and kinds of coordinates, from the table in spec.h. */
static void coordinates_in_order(void **state) {
    (void)state;
    static const struct {
        lw_joint_type type;
        int axes, nq, nv;
        const char *turns; /* per speed: t turns, s slides, w angular velocity without a coordinate */
    } table[] = {
        {LW_JOINT_WELD, 0, 0, 0, ""},           {LW_JOINT_REVOLUTE, 1, 1, 1, "t"},
        {LW_JOINT_PRISMATIC, 1, 1, 1, "s"},     {LW_JOINT_SCREW, 1, 1, 1, "t"},
        {LW_JOINT_CYLINDRICAL, 1, 2, 2, "st"},  {LW_JOINT_UNIVERSAL, 2, 2, 2, "tt"},
        {LW_JOINT_SPHERICAL, 0, 4, 3, "www"},   {LW_JOINT_PLANAR, 1, 3, 3, "sst"},
        {LW_JOINT_TRANSLATION, 1, 1, 1, "s"},   {LW_JOINT_TRANSLATION, 2, 2, 2, "ss"},
        {LW_JOINT_TRANSLATION, 3, 3, 3, "sss"}, {LW_JOINT_FREE, 0, 7, 6, "ssswww"},
    };
    for (size_t r = 0; r < sizeof table / sizeof *table; r++) {
        lw_joint_type type = table[r].type;
        assert_int_equal(lw_joint_type_q(type, table[r].axes), table[r].nq);
        assert_int_equal(lw_joint_type_v(type, table[r].axes), table[r].nv);
        assert_int_equal((int)strlen(table[r].turns), table[r].nv);
        for (int k = 0; k < table[r].nv; k++) {
            char kind = table[r].turns[k];
            assert_int_equal(lw_joint_speed_turns(type, k), kind != 's');
            assert_int_equal(lw_joint_coordinate_of_speed(type, k), kind == 'w' ? -1 : k);
        }
        int at = lw_joint_quaternion(type);
        assert_int_equal(at, type == LW_JOINT_SPHERICAL ? 0 : type == LW_JOINT_FREE ? 3 : -1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subspace_is_the_rate_of_the_place),
        cmocka_unit_test(bias_is_the_rate_of_the_twist),
        cmocka_unit_test(inverse_undoes_the_direct_place),
        cmocka_unit_test(places_in_closed_form),
        cmocka_unit_test(rates_of_coordinates),
        cmocka_unit_test(coordinates_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

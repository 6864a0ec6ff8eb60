/* test_spatial.c - the kernels of vec3.h and spatial.h against 3 x 3 and 6 x 6 matrices written out in full.
 *
 * Numbers are of order 1, sums have at most a few dozen terms: both ways differ by roundings, 1e-13 is
 * enough.
 */
#include "random_model.h"
#include "linalg/spatial.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

static const double rounding = 1e-13;

#define SEEDS 300

static void near(const double *a, const double *b, int count, double tolerance, int seed, const char *what) {
    double difference = relative_difference(a, b, count);
    if (!(difference <= tolerance)) fail_msg("seed %d: %s differs by %g", seed, what, difference);
}

static void multiply(int n, const double *A, const double *B, double *out) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += A[n * i + k] * B[n * k + j];
            out[n * i + j] = sum;
        }
}

static void transpose(int n, const double *A, double *out) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) out[n * j + i] = A[n * i + j];
}

static void apply(int n, const double *A, const double *x, double *out) {
    for (int i = 0; i < n; i++) {
        out[i] = 0;
        for (int k = 0; k < n; k++) out[i] += A[n * i + k] * x[k];
    }
}

static void tilde(const double x[3], double out[9]) {
    const double full[9] = {0, -x[2], x[1], x[2], 0, -x[0], -x[1], x[0], 0};
    memcpy(out, full, sizeof full);
}

static void full3(const double S[6], double out[9]) {
    const double full[9] = {S[0], S[3], S[4], S[3], S[1], S[5], S[4], S[5], S[2]};
    memcpy(out, full, sizeof full);
}

/* [A B; C D] */
static void blocks(const double A[9], const double B[9], const double C[9], const double D[9],
                   double out[36]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            out[6 * i + j] = A[3 * i + j];
            out[6 * i + 3 + j] = B[3 * i + j];
            out[6 * (3 + i) + j] = C[3 * i + j];
            out[6 * (3 + i) + 3 + j] = D[3 * i + j];
        }
}

/* Twist parent -> child: [R' 0; -R' p~ R']. */
static void shift(const double R[9], const double p[3], double X[36]) {
    double Rt[9], P[9], lower[9];
    const double zero[9] = {0};
    transpose(3, R, Rt);
    tilde(p, P);
    multiply(3, Rt, P, lower);
    for (int k = 0; k < 9; k++) lower[k] = -lower[k];
    blocks(Rt, zero, lower, Rt, X);
}

static void random_rotation(lw_random *random, double R[9]) {
    double q[4];
    do random_vector(random, 4, 1, q);
    while (q[0] * q[0] + lw_v3_dot(q + 1, q + 1) < 0.1);
    lw_rot_quat(q, R);
}

static void three_by_three(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        double A[9], B[9], At[9], x[3], y[3], got[9], want[9], T[9], R[9], Rt[9];
        random_vector(&random, 9, 1, A);
        random_vector(&random, 9, 1, B);
        random_vector(&random, 3, 1, x);
        random_vector(&random, 3, 1, y);
        transpose(3, A, At);
        lw_m3_mul(A, B, got);
        multiply(3, A, B, want);
        near(got, want, 9, rounding, seed, "A B");
        lw_m3_tmul(A, B, got);
        multiply(3, At, B, want);
        near(got, want, 9, rounding, seed, "A'B");
        lw_m3_transpose(A, got);
        near(got, At, 9, 0, seed, "A'");
        lw_m3_mul_v(A, x, got);
        apply(3, A, x, want);
        near(got, want, 3, rounding, seed, "A x");
        lw_m3_tmul_v(A, x, got);
        apply(3, At, x, want);
        near(got, want, 3, rounding, seed, "A'x");
        tilde(x, T);
        lw_v3_cross(x, y, got);
        apply(3, T, y, want);
        near(got, want, 3, rounding, seed, "x cross y");
        double sum[3] = {B[0], B[1], B[2]};
        lw_v3_add_cross(x, y, sum);
        for (int k = 0; k < 3; k++) want[k] += B[k];
        near(sum, want, 3, rounding, seed, "adding x cross y");
        random_rotation(&random, R);
        transpose(3, R, Rt);
        double S[9], symmetric[6];
        full3(A, S);
        lw_s3_mul_v(A, x, got);
        apply(3, S, x, want);
        near(got, want, 3, rounding, seed, "S x");
        lw_s3_rotate(R, A, symmetric);
        full3(symmetric, got);
        multiply(3, R, S, T);
        multiply(3, T, Rt, want);
        near(got, want, 9, rounding, seed, "R S R'");
    }
}

static double determinant(const double R[9]) {
    double t[3];
    lw_v3_cross(R, R + 3, t);
    return lw_v3_dot(t, R + 6);
}

static void rotations(void **state) {
    (void)state;
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        double axis[3], R[9], Rt[9], RRt[9], K[9], K2[9], want[9], angle = random_between(&random, -7, 7);
        random_direction(&random, axis);
        lw_rot_axis(axis, angle, R);
        transpose(3, R, Rt);
        multiply(3, R, Rt, RRt);
        near(RRt, identity, 9, rounding, seed, "R R'");
        assert_true(fabs(determinant(R) - 1) < rounding);
        /* exp(angle K) by its series, 40 terms: 7^40 / 40! = 8e-15 */
        double term[9], next[9];
        tilde(axis, K);
        memcpy(term, identity, sizeof term);
        memcpy(want, identity, sizeof want);
        for (int k = 1; k <= 60; k++) {
            multiply(3, term, K, next);
            for (int i = 0; i < 9; i++) term[i] = next[i] * angle / k, want[i] += term[i];
        }
        near(R, want, 9, 1e-12, seed, "the exponential series"); /* terms up to 7^7/7! = 163 cancel */
        for (int k = 0; k < 3; k++) { /* about a coordinate axis: cosine and sine in the plane across it */
            const double e[3] = {k == 0, k == 1, k == 2};
            int x = (k + 1) % 3, y = (k + 2) % 3;
            memset(K2, 0, sizeof K2);
            K2[4 * k] = 1, K2[4 * x] = K2[4 * y] = cos(angle);
            K2[3 * y + x] = sin(angle), K2[3 * x + y] = -K2[3 * y + x];
            lw_rot_axis(e, angle, R);
            near(R, K2, 9, rounding, seed, "the turn about a coordinate axis");
        }
        /* the same rotation by a quaternion of any length, by its rotation vector, and as a product */
        double half = 0.5 * angle, length = random_between(&random, 0.1, 10), q[4], phi[3];
        q[0] = length * cos(half);
        for (int k = 0; k < 3; k++) q[1 + k] = length * sin(half) * axis[k], phi[k] = angle * axis[k];
        lw_rot_axis(axis, angle, R);
        lw_rot_quat(q, K);
        near(R, K, 9, rounding, seed, "the rotation of a quaternion");
        lw_quat_exp(phi, q);
        lw_rot_quat(q, K);
        near(R, K, 9, rounding, seed, "the rotation of a rotation vector");
        double other[4], product[4], Q[9], P[9];
        random_vector(&random, 4, 1, other);
        lw_quat_normalise(other);
        lw_quat_mul(q, other, product);
        lw_rot_quat(product, P);
        lw_rot_quat(other, Q);
        multiply(3, R, Q, want);
        near(P, want, 9, rounding, seed, "the rotation of a product of quaternions");
    }
}

/* Shepperd: matrix -> quaternion -> matrix, in each of its four branches and at their borders. */
static void quaternions_of_matrices(void **state) {
    (void)state;
    int branch[4] = {0};
    for (int seed = 1; seed <= 4 * SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        double q[4], R[9], back[4], again[9];
        random_vector(&random, 4, seed % 3 ? 1 : 1e-9, q);
        q[seed % 4] = 1; /* this one is the largest */
        if (seed % 7 == 0) q[(seed / 7) % 4] = q[(seed / 5) % 4] = 1;
        lw_rot_quat(q, R);
        lw_quat_rot(R, back);
        lw_rot_quat(back, again);
        near(R, again, 9, rounding, seed, "matrix of the quaternion of a matrix");
        double n = sqrt(back[0] * back[0] + lw_v3_dot(back + 1, back + 1));
        assert_true(fabs(n - 1) < rounding);
        int big = 0;
        for (int k = 1; k < 4; k++)
            if (fabs(back[k]) > fabs(back[big])) big = k;
        assert_true(back[big] > 0.49); /* the largest component is at least 1/2, and positive */
        branch[big]++;
        /* q and back are the same up to length and sign */
        double length = sqrt(q[0] * q[0] + lw_v3_dot(q + 1, q + 1));
        double cosine = (q[0] * back[0] + lw_v3_dot(q + 1, back + 1)) / length;
        assert_true(fabs(fabs(cosine) - 1) < rounding);
    }
    for (int k = 0; k < 4; k++) assert_true(branch[k] > 20);
    double zero[4] = {0};
    lw_quat_normalise(zero);
    const double unit[4] = {1, 0, 0, 0};
    assert_memory_equal(zero, unit, sizeof unit);
}

/* exp and log are inverse to each other for angles up to pi; the relative error of the vector must stay small
 * down to angles whose squares vanish, and close to pi, where the quaternion's w passes zero. */
static void logarithms(void **state) {
    (void)state;
    static const double angles[] = {0,       1e-300,    1e-160,       1e-20,        1e-9, 0.99e-8,
                                    1.01e-8, 1e-7,      1e-4,         0.1,          1,    3,
                                    3.14,    3.1415926, LW_PI - 1e-9, LW_PI - 1e-15};
    for (int seed = 1; seed <= 40; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        double axis[3], phi[3], q[4], back[3], scaled[4];
        random_direction(&random, axis);
        for (size_t k = 0; k < sizeof angles / sizeof *angles; k++) {
            for (int i = 0; i < 3; i++) phi[i] = angles[k] * axis[i];
            lw_quat_exp(phi, q);
            assert_true(fabs(q[0] * q[0] + lw_v3_dot(q + 1, q + 1) - 1) < 1e-15);
            double length = random_between(&random, -3, 3);
            for (int i = 0; i < 4; i++) scaled[i] = length * q[i]; /* any length, either sign */
            lw_quat_log(scaled, back);
            for (int i = 0; i < 3; i++)
                if (!(fabs(back[i] - phi[i]) <= 1e-14 * angles[k]))
                    fail_msg("seed %d, angle %g: %g became %g", seed, angles[k], phi[i], back[i]);
            assert_true(lw_v3_norm(back) <= LW_PI * (1 + 1e-15));
        }
        /* beyond pi it is the shorter way round */
        for (int i = 0; i < 3; i++) phi[i] = 4 * axis[i];
        lw_quat_exp(phi, q);
        lw_quat_log(q, back);
        for (int i = 0; i < 3; i++) assert_true(fabs(back[i] - (4 - 2 * LW_PI) * axis[i]) < 1e-14);
    }
}

static void frames(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        double z[3], x[3], R[9], y[3];
        random_direction(&random, z);
        if (seed % 5 == 0) lw_v3_set(z, seed % 3 == 0, seed % 3 == 1, seed % 3 == 2);
        lw_v3_perpendicular(z, x);
        assert_true(fabs(lw_v3_dot(x, z)) < 1e-15 && fabs(lw_v3_norm(x) - 1) < 1e-15);
        lw_rot_columns_zx(z, x, R);
        assert_true(fabs(determinant(R) - 1) < 1e-14);
        lw_v3_cross(z, x, y);
        for (int i = 0; i < 3; i++)
            assert_true(R[3 * i] == x[i] && R[3 * i + 1] == y[i] && R[3 * i + 2] == z[i]);
        /* poses as 4 x 4 matrices */
        double Ra[9], Rb[9], pa[3], pb[3], p[3], A[16] = {0}, B[16] = {0}, AB[16], point[4] = {0, 0, 0, 1};
        random_rotation(&random, Ra);
        random_rotation(&random, Rb);
        random_vector(&random, 3, 1, pa);
        random_vector(&random, 3, 1, pb);
        random_vector(&random, 3, 1, point);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) A[4 * i + j] = Ra[3 * i + j], B[4 * i + j] = Rb[3 * i + j];
            A[4 * i + 3] = pa[i], B[4 * i + 3] = pb[i];
        }
        A[15] = B[15] = 1;
        multiply(4, A, B, AB);
        lw_pose_compose(Ra, pa, Rb, pb, R, p);
        for (int i = 0; i < 3; i++) {
            near(R + 3 * i, AB + 4 * i, 3, rounding, seed, "composed rotation");
            assert_true(fabs(p[i] - AB[4 * i + 3]) < rounding);
        }
        double moved[3], want[4], Ri[9], pi[3], home[3];
        lw_pose_point(R, p, point, moved);
        apply(4, AB, point, want);
        near(moved, want, 3, rounding, seed, "moved point");
        lw_pose_invert(R, p, Ri, pi);
        lw_pose_point(Ri, pi, moved, home);
        near(home, point, 3, rounding, seed, "point moved back");
    }
}

static void twists_and_wrenches(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        double R[9], p[3], V[6], F[6], X[36], Xt[36], got[6], want[6], W[9], L[9], cross[36], dual[36];
        const double zero[9] = {0};
        random_rotation(&random, R);
        random_vector(&random, 3, 1, p);
        random_vector(&random, 6, 1, V);
        random_vector(&random, 6, 1, F);
        shift(R, p, X);
        transpose(6, X, Xt);
        lw_twist_to_child(R, p, V, got);
        apply(6, X, V, want);
        near(got, want, 6, rounding, seed, "twist in the child");
        lw_twist_to_parent(R, p, got, want);
        near(V, want, 6, rounding, seed, "twist there and back");
        lw_wrench_to_parent(R, p, F, got);
        apply(6, Xt, F, want);
        near(got, want, 6, rounding, seed, "wrench in the parent");
        /* V x = [w~ 0; v~ w~], and V x* = -(V x)' */
        tilde(V, W);
        tilde(V + 3, L);
        blocks(W, zero, L, W, cross);
        transpose(6, cross, dual);
        lw_twist_cross(V, F, got);
        apply(6, cross, F, want);
        near(got, want, 6, rounding, seed, "V x M");
        lw_wrench_cross(V, F, got);
        apply(6, dual, F, want);
        for (int k = 0; k < 6; k++) want[k] = -want[k];
        near(got, want, 6, rounding, seed, "V x* F");
        double sum = 0, axpy[6];
        for (int k = 0; k < 6; k++) sum += V[k] * F[k], axpy[k] = V[k] + 2.5 * F[k];
        assert_true(fabs(lw_v6_dot(V, F) - sum) < rounding);
        lw_v6_axpy(2.5, F, V);
        near(V, axpy, 6, rounding, seed, "V + s F");
    }
}

/* The matrix of a rigid body: [J h~; -h~ m]. */
static void rigid6(const lw_rigid_inertia *rigid, double out[36]) {
    double J[9], H[9], minus[9], m[9] = {0};
    full3(rigid->second, J);
    tilde(rigid->moment, H);
    for (int k = 0; k < 9; k++) minus[k] = -H[k];
    m[0] = m[4] = m[8] = rigid->mass;
    blocks(J, H, minus, m, out);
}

static void inertias(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        double R[9], p[3], V[6], X[36], Xt[36], M[36], T[36], want[36], got[36], x[6], y[6];
        random_rotation(&random, R);
        random_vector(&random, 3, 1, p);
        random_vector(&random, 6, 1, V);
        lw_rigid_inertia rigid = {.mass = random_between(&random, 0, 3)};
        random_vector(&random, 3, 1, rigid.moment);
        random_vector(&random, 6, 1, rigid.second);
        rigid6(&rigid, M);
        lw_rigid_mul(&rigid, V, x);
        apply(6, M, V, y);
        near(x, y, 6, rounding, seed, "the momentum of a rigid body");

        lw_rigid_inertia sum = {.mass = 2, .moment = {1, 2, 3}, .second = {4, 5, 6, 7, 8, 9}};
        shift(R, p, X);
        transpose(6, X, Xt);
        rigid6(&sum, want);
        multiply(6, Xt, M, T);
        multiply(6, T, X, M);
        for (int k = 0; k < 36; k++) want[k] += M[k];
        lw_rigid_add_to_parent(R, p, &rigid, &sum);
        rigid6(&sum, got);
        near(got, want, 36, rounding, seed, "parent + X'I X");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_by_three),
        cmocka_unit_test(rotations),
        cmocka_unit_test(quaternions_of_matrices),
        cmocka_unit_test(logarithms),
        cmocka_unit_test(frames),
        cmocka_unit_test(twists_and_wrenches),
        cmocka_unit_test(inertias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

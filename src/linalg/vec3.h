/* vec3.h - 3-vectors, 3 x 3 matrices, rotations and quaternions; all inline, all on plain arrays of double.
 *
 * A matrix is nine numbers row by row. A symmetric one is six: xx, yy, zz, xy, xz, yz. A quaternion is (w, x,
 * y, z). Outputs may not overlap inputs unless said.
 */
#ifndef LW_VEC3_H
#define LW_VEC3_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define LW_PI 3.14159265358979323846

/* Are all of these numbers finite? The difference of a number with itself is zero only then. Four
 * numbers at a time, in two vectors: the calls of tree.h check their results, at 1 % of their time. */
static inline bool lw_finite(const double *x, int count) {
    typedef double pair __attribute__((vector_size(16)));
    pair sum = {0, 0}, x1, x2;
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        memcpy(&x1, x + k, sizeof x1);
        memcpy(&x2, x + k + 2, sizeof x2);
        sum += (x1 - x1) + (x2 - x2);
    }
    for (; k < count; k++) sum[0] += x[k] - x[k];
    return sum[0] + sum[1] == 0;
}

static inline void lw_v3_set(double a[3], double x, double y, double z) { a[0] = x, a[1] = y, a[2] = z; }
static inline void lw_v3_copy(const double a[3], double out[3]) {
    out[0] = a[0], out[1] = a[1], out[2] = a[2];
}
static inline double lw_v3_dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline double lw_v3_norm(const double a[3]) { return sqrt(lw_v3_dot(a, a)); }
/* out may be a or b in the next three. */
static inline void lw_v3_add(const double a[3], const double b[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[k] + b[k];
}
static inline void lw_v3_sub(const double a[3], const double b[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}
static inline void lw_v3_axpy(double s, const double a[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] += s * a[k];
}
static inline void lw_v3_cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}
static inline void lw_v3_add_cross(const double a[3], const double b[3], double out[3]) {
    out[0] += a[1] * b[2] - a[2] * b[1];
    out[1] += a[2] * b[0] - a[0] * b[2];
    out[2] += a[0] * b[1] - a[1] * b[0];
}

static inline void lw_m3_identity(double A[9]) {
    memset(A, 0, 9 * sizeof *A);
    A[0] = A[4] = A[8] = 1;
}
static inline void lw_m3_mul_v(const double A[9], const double x[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}
static inline void lw_m3_tmul_v(const double A[9], const double x[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
}
static inline void lw_m3_mul(const double A[9], const double B[9], double out[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}
static inline void lw_m3_tmul(const double A[9], const double B[9], double out[9]) { /* A' B */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}
static inline void lw_m3_transpose(const double A[9], double out[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[3 * j + i] = A[3 * i + j];
}
static inline void lw_s3_mul_v(const double S[6], const double x[3], double out[3]) {
    out[0] = S[0] * x[0] + S[3] * x[1] + S[4] * x[2];
    out[1] = S[3] * x[0] + S[1] * x[1] + S[5] * x[2];
    out[2] = S[4] * x[0] + S[5] * x[1] + S[2] * x[2];
}
/* R S R' */
static inline void lw_s3_rotate(const double R[9], const double S[6], double out[6]) {
    double T[9]; /* R S */
    for (int i = 0; i < 3; i++) {
        const double *r = R + 3 * i;
        T[3 * i] = r[0] * S[0] + r[1] * S[3] + r[2] * S[4];
        T[3 * i + 1] = r[0] * S[3] + r[1] * S[1] + r[2] * S[5];
        T[3 * i + 2] = r[0] * S[4] + r[1] * S[5] + r[2] * S[2];
    }
    out[0] = lw_v3_dot(T, R);
    out[1] = lw_v3_dot(T + 3, R + 3);
    out[2] = lw_v3_dot(T + 6, R + 6);
    out[3] = lw_v3_dot(T, R + 3);
    out[4] = lw_v3_dot(T, R + 6);
    out[5] = lw_v3_dot(T + 3, R + 6);
}

static inline void lw_rot_axis(const double unit[3], double angle, double R[9]) { /* Rodrigues */
    double s = sin(angle), c = cos(angle), k = 1 - c, x = unit[0], y = unit[1], z = unit[2];
    R[0] = c + k * x * x, R[1] = k * x * y - s * z, R[2] = k * x * z + s * y;
    R[3] = k * x * y + s * z, R[4] = c + k * y * y, R[5] = k * y * z - s * x;
    R[6] = k * x * z - s * y, R[7] = k * y * z + s * x, R[8] = c + k * z * z;
}
/* From a quaternion of any non-zero length. */
static inline void lw_rot_quat(const double q[4], double R[9]) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double s = 2 / (w * w + x * x + y * y + z * z);
    R[0] = 1 - s * (y * y + z * z), R[1] = s * (x * y - w * z), R[2] = s * (x * z + w * y);
    R[3] = s * (x * y + w * z), R[4] = 1 - s * (x * x + z * z), R[5] = s * (y * z - w * x);
    R[6] = s * (x * z - w * y), R[7] = s * (y * z + w * x), R[8] = 1 - s * (x * x + y * y);
}
/* Unit quaternion of a rotation matrix, with the largest component positive (Shepperd). */
static inline void lw_quat_rot(const double R[9], double q[4]) {
    double d[4] = {R[0] + R[4] + R[8], R[0], R[4], R[8]};
    int big = 0;
    for (int k = 1; k < 4; k++)
        if (d[k] > d[big]) big = k;
    if (big == 0) {
        q[0] = 0.5 * sqrt(1 + d[0]);
        double s = 0.25 / q[0];
        q[1] = (R[7] - R[5]) * s, q[2] = (R[2] - R[6]) * s, q[3] = (R[3] - R[1]) * s;
    } else {
        int i = big - 1, j = (i + 1) % 3, k = (i + 2) % 3;
        q[1 + i] = 0.5 * sqrt(1 + R[4 * i] - R[4 * j] - R[4 * k]);
        double s = 0.25 / q[1 + i];
        q[0] = (R[3 * k + j] - R[3 * j + k]) * s;
        q[1 + j] = (R[3 * j + i] + R[3 * i + j]) * s;
        q[1 + k] = (R[3 * k + i] + R[3 * i + k]) * s;
    }
}
static inline void lw_quat_mul(const double a[4], const double b[4], double out[4]) {
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    out[2] = a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3];
    out[3] = a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1];
}
/* In place; the zero quaternion becomes the unit one. */
static inline void lw_quat_normalise(double q[4]) {
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (n > 0) {
        for (int k = 0; k < 4; k++) q[k] /= n;
    } else
        q[0] = 1, q[1] = q[2] = q[3] = 0;
}
/* Quaternion of a rotation vector. */
static inline void lw_quat_exp(const double phi[3], double q[4]) {
    double angle = lw_v3_norm(phi), half = 0.5 * angle;
    double s = angle > 1e-8 ? sin(half) / angle : 0.5 - angle * angle / 48;
    q[0] = cos(half), q[1] = s * phi[0], q[2] = s * phi[1], q[3] = s * phi[2];
}
/* Rotation vector of a quaternion of any length, angle in [0, pi]. */
static inline void lw_quat_log(const double q[4], double phi[3]) {
    double w = q[0] < 0 ? -q[0] : q[0], sign = q[0] < 0 ? -1 : 1, n = lw_v3_norm(q + 1);
    double s = n > 1e-8 * w ? 2 * atan2(n, w) / n : 2 / w; /* relative error of the latter: n^2 / 3 w^2 */
    for (int k = 0; k < 3; k++) phi[k] = sign * s * q[1 + k];
}

/* Any unit vector perpendicular to the unit vector z; the same for the same z. */
static inline void lw_v3_perpendicular(const double z[3], double out[3]) {
    double e[3] = {0, 0, 0};
    int k =
        fabs(z[0]) <= fabs(z[1]) ? (fabs(z[0]) <= fabs(z[2]) ? 0 : 2) : (fabs(z[1]) <= fabs(z[2]) ? 1 : 2);
    e[k] = 1;
    lw_v3_axpy(-z[k], z, e);
    double n = lw_v3_norm(e);
    for (int i = 0; i < 3; i++) out[i] = e[i] / n;
}
/* Rotation whose columns are x, y, z; from two unit vectors z and x perpendicular to each other. */
static inline void lw_rot_columns_zx(const double z[3], const double x[3], double R[9]) {
    double y[3];
    lw_v3_cross(z, x, y);
    for (int i = 0; i < 3; i++) R[3 * i] = x[i], R[3 * i + 1] = y[i], R[3 * i + 2] = z[i];
}

/* A pose (R, p) places a frame in another: x_outer = R x_inner + p. */
static inline void lw_pose_compose(const double Ra[9], const double pa[3], const double Rb[9],
                                   const double pb[3], double R[9], double p[3]) { /* a then b inside it */
    double t[3];
    lw_m3_mul(Ra, Rb, R);
    lw_m3_mul_v(Ra, pb, t);
    lw_v3_add(pa, t, p);
}
static inline void lw_pose_invert(const double R[9], const double p[3], double Ri[9], double pi[3]) {
    lw_m3_transpose(R, Ri);
    lw_m3_mul_v(Ri, p, pi);
    for (int k = 0; k < 3; k++) pi[k] = -pi[k];
}
static inline void lw_pose_point(const double R[9], const double p[3], const double x[3], double out[3]) {
    lw_m3_mul_v(R, x, out);
    lw_v3_add(out, p, out);
}

#endif

/* spatial.h - spatial algebra: twists, wrenches and inertias of rigid and articulated bodies, inline.
 *
 * A twist is (angular; linear), the linear part being the velocity of the point of the body at the frame's
 * origin. A wrench is (torque about the origin; force). A frame i is placed in its parent frame by (R, p): R
 * maps components in i to components in the parent, p is i's origin seen from the parent. In these terms,
 * with x~ y = x cross y,
 *
 *     twist   parent -> child    w' = R'w,                v' = R'(v - p~ w)
 *     wrench  child -> parent    f  = R f',               n  = R n' + p~ f
 */
#ifndef LW_SPATIAL_H
#define LW_SPATIAL_H

#include "linalg/vec3.h"

static inline double lw_v6_dot(const double a[6], const double b[6]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}
static inline void lw_v6_axpy(double s, const double a[6], double out[6]) {
    for (int k = 0; k < 6; k++) out[k] += s * a[k];
}

static inline void lw_twist_to_child(const double R[9], const double p[3], const double V[6], double out[6]) {
    double t[3];
    lw_v3_cross(V, p, t); /* -p~ w */
    lw_v3_add(V + 3, t, t);
    lw_m3_tmul_v(R, V, out);
    lw_m3_tmul_v(R, t, out + 3);
}
static inline void lw_twist_to_parent(const double R[9], const double p[3], const double V[6],
                                      double out[6]) {
    lw_m3_mul_v(R, V, out);
    lw_m3_mul_v(R, V + 3, out + 3);
    lw_v3_add_cross(p, out, out + 3);
}
static inline void lw_wrench_to_parent(const double R[9], const double p[3], const double F[6],
                                       double out[6]) {
    lw_m3_mul_v(R, F, out);
    lw_m3_mul_v(R, F + 3, out + 3);
    lw_v3_add_cross(p, out + 3, out);
}
/* V x M for a twist M:  (w x m; w x l + v x m). */
static inline void lw_twist_cross(const double V[6], const double M[6], double out[6]) {
    lw_v3_cross(V, M, out);
    lw_v3_cross(V, M + 3, out + 3);
    lw_v3_add_cross(V + 3, M, out + 3);
}
/* V x* F for a wrench F:  (w x n + v x f; w x f). */
static inline void lw_wrench_cross(const double V[6], const double F[6], double out[6]) {
    lw_v3_cross(V, F, out);
    lw_v3_add_cross(V + 3, F + 3, out);
    lw_v3_cross(V, F + 3, out + 3);
}

/* A rigid body's inertia at its frame's origin: mass, first moment m c, second moment about the origin. */
typedef struct lw_rigid_inertia {
    double mass, moment[3], second[6];
} lw_rigid_inertia;

/* Momentum  I V = (J w + h~ v; m v - h~ w). */
static inline void lw_rigid_mul(const lw_rigid_inertia *I, const double V[6], double out[6]) {
    lw_s3_mul_v(I->second, V, out);
    lw_v3_add_cross(I->moment, V + 3, out);
    lw_v3_cross(V, I->moment, out + 3);
    lw_v3_axpy(I->mass, V + 3, out + 3);
}

/* Adds a rigid inertia given in the child's frame to one in the parent's. */
static inline void lw_rigid_add_to_parent(const double R[9], const double p[3], const lw_rigid_inertia *child,
                                          lw_rigid_inertia *parent) {
    double h[3], J[6], m = child->mass;
    lw_m3_mul_v(R, child->moment, h);
    lw_s3_rotate(R, child->second, J);
    /* J - p~h~ - h~p~ - m p~p~, with g = h + m p / 2:  J_ij + 2 (p.g) d_ij - p_i g_j - g_i p_j */
    double g[3];
    for (int k = 0; k < 3; k++) g[k] = h[k] + 0.5 * m * p[k];
    double trace = 2 * lw_v3_dot(p, g);
    for (int k = 0; k < 3; k++) parent->second[k] += J[k] + trace - 2 * p[k] * g[k];
    parent->second[3] += J[3] - p[0] * g[1] - g[0] * p[1];
    parent->second[4] += J[4] - p[0] * g[2] - g[0] * p[2];
    parent->second[5] += J[5] - p[1] * g[2] - g[1] * p[2];
    for (int k = 0; k < 3; k++) parent->moment[k] += h[k] + m * p[k];
    parent->mass += m;
}

/* An inertia of any kind: the symmetric matrix [A B; B' C] that maps twist to momentum, acceleration to
 * wrench. */
typedef struct lw_inertia {
    double A[6], B[9], C[6];
} lw_inertia;

static inline void lw_inertia_from_rigid(const lw_rigid_inertia *I, lw_inertia *out) {
    const double *h = I->moment;
    memcpy(out->A, I->second, sizeof out->A);
    out->B[0] = 0, out->B[1] = -h[2], out->B[2] = h[1];
    out->B[3] = h[2], out->B[4] = 0, out->B[5] = -h[0];
    out->B[6] = -h[1], out->B[7] = h[0], out->B[8] = 0;
    out->C[0] = out->C[1] = out->C[2] = I->mass;
    out->C[3] = out->C[4] = out->C[5] = 0;
}
static inline void lw_inertia_mul(const lw_inertia *I, const double V[6], double out[6]) {
    double t[3];
    lw_s3_mul_v(I->A, V, out);
    lw_m3_mul_v(I->B, V + 3, t);
    lw_v3_add(out, t, out);
    lw_s3_mul_v(I->C, V + 3, out + 3);
    lw_m3_tmul_v(I->B, V, t);
    lw_v3_add(out + 3, t, out + 3);
}
/* I -= s u u'. */
static inline void lw_inertia_rank_one(lw_inertia *I, double s, const double u[6]) {
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double w[6];
    for (int k = 0; k < 6; k++) w[k] = s * u[k];
    for (int k = 0; k < 6; k++) {
        I->A[k] -= w[row[k]] * u[column[k]];
        I->C[k] -= w[3 + row[k]] * u[3 + column[k]];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) I->B[3 * i + j] -= w[i] * u[3 + j];
}
/* parent += X' child X: rotate the blocks, then shift by p:
 *     C = RCR',   B = RBR' + p~ C,   A = RAR' - B p~ + p~ (RBR')'. */
static inline void lw_inertia_add_to_parent(const double R[9], const double p[3], const lw_inertia *child,
                                            lw_inertia *parent) {
    double A[6], C[6], T[9], B[9], S[9];
    lw_s3_rotate(R, child->A, A);
    lw_s3_rotate(R, child->C, C);
    lw_m3_mul(R, child->B, T);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B[3 * i + j] = lw_v3_dot(T + 3 * i, R + 3 * j);
    /* S = B + p~ C */
    const double full[9] = {C[0], C[3], C[4], C[3], C[1], C[5], C[4], C[5], C[2]};
    for (int j = 0; j < 3; j++) {
        S[j] = B[j] + p[1] * full[6 + j] - p[2] * full[3 + j];
        S[3 + j] = B[3 + j] + p[2] * full[j] - p[0] * full[6 + j];
        S[6 + j] = B[6 + j] + p[0] * full[3 + j] - p[1] * full[j];
    }
    /* (S p~)_ij with p~ columns: e_j -> p x e_j;  (p~ B')_ij = (p x (row j of B))_i */
    parent->A[0] += A[0] - (S[1] * p[2] - S[2] * p[1]) + (p[1] * B[2] - p[2] * B[1]);
    parent->A[1] += A[1] - (S[5] * p[0] - S[3] * p[2]) + (p[2] * B[3] - p[0] * B[5]);
    parent->A[2] += A[2] - (S[6] * p[1] - S[7] * p[0]) + (p[0] * B[7] - p[1] * B[6]);
    parent->A[3] += A[3] - (S[2] * p[0] - S[0] * p[2]) + (p[1] * B[5] - p[2] * B[4]);
    parent->A[4] += A[4] - (S[0] * p[1] - S[1] * p[0]) + (p[1] * B[8] - p[2] * B[7]);
    parent->A[5] += A[5] - (S[3] * p[1] - S[4] * p[0]) + (p[2] * B[6] - p[0] * B[8]);
    for (int k = 0; k < 9; k++) parent->B[k] += S[k];
    for (int k = 0; k < 6; k++) parent->C[k] += C[k];
}

#endif

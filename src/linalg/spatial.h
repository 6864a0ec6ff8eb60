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

#endif

/* massless_motion.h - joints and kinetic indicators, for the search of massless motions.
 *
 * The kinetic indicator K of a body is a semi-definite 6 x 6 matrix on twists (angular; linear / length) that
 * has the null space of the articulated inertia (17a): K a = 0 means that the body can move by a, while the
 * bodies it carries respond, without any mass moving. K follows the recursion (17a) with indicators in place
 * of inertias, so its entries are of order one for masses of any size.
 */
#ifndef LW_MASSLESS_MOTION_H
#define LW_MASSLESS_MOTION_H

#include "formulations/massless/massless_parts.h"

#define LANES 1
#include "dynamics/tree_forward.h"

/* --- massless_null.c ---------------------------------------------------------------------------------- */

/* Computes the indicators of the kinetic bodies at the relative poses of r. */
void lw_null_kinetics(lw_null *null, const recursion *r);
/* Computes the directions of a joint some of whose speeds respond, at their root: the values of the joint's
 * speeds and the twists of the body, which are `values` and `twists` numbers apart from one direction to the
 * next. Returns the speeds that represent them. */
unsigned lw_null_root(const lw_null *null, const recursion *r, int body, double *value, int values,
                      double *twist, int twists);
/* Computes the response of a joint to the twist of its parent: the values of its speeds (value, may be NULL)
 * and the twist of its body. */
void lw_null_respond(const lw_null *null, const recursion *r, int body, const double parent[6], double *value,
                     double twist[6]);

/* --- joints ------------------------------------------------------------------------------------------- */

/* Computes the relative poses of all joints at r->q, which the velocity recursion of tree_recursion.h
 * computes otherwise. */
static inline void find_relative_poses(const recursion *r) {
    turn_joints(r);
    for (int i = 1; i <= r->model->body_count && r->model->revolute_count < r->model->body_count; i++)
        BY_JOINT(&r->model->links[i], pose, r, i)
}

/* Returns the motion subspace of joint i, 6 per speed; S is workspace for joints that store none. */
static inline const double *subspace(const recursion *r, int i, double S[6]) {
    const lw_link *link = &r->model->links[i];
    if (link->kernel >= LW_KERNEL_SPHERICAL) return r->S + 6 * link->v;
    for (int k = 0; k < 6; k++) S[k] = k == link->kernel ? link->sign : 0;
    return S;
}

/* Transforms a twist of the parent into the axes and to the origin of body i, for a joint whose relative pose
 * is stored. */
static inline void twist_to_child_by_pose(const recursion *r, int i, const double parent[6], double out[6]) {
    const relative_pose *at = &r->relative[i];
    double t[3];
    lw_v3_cross(parent, at->p, t);
    lw_v3_add(t, parent + 3, t);
    lw_m3_tmul_v(at->R, parent, out);
    lw_m3_tmul_v(at->R, t, out + 3);
}
/* Transforms a twist of the parent into the axes and to the origin of body i, for any joint. */
static inline void twist_to_child(const recursion *r, int i, const double parent[6], double out[6]) {
    const lw_link *link = &r->model->links[i];
    const int kernel = link->kernel;
    if (kernel >= LW_KERNEL_SPHERICAL) {
        twist_to_child_by_pose(r, i, parent, out);
        return;
    }
    const double *p = kernel < LW_KERNEL_PRISMATIC ? link->p : r->relative[i].p;
    double t[3];
    lw_v3_cross(parent, p, t);
    lw_v3_add(t, parent + 3, t);
    if (kernel < LW_KERNEL_PRISMATIC) {
        turn_back(kernel, r->cosine[link->v], r->sine[link->v], parent, out);
        turn_back(kernel, r->cosine[link->v], r->sine[link->v], t, out + 3);
    } else {
        lw_v3_copy(parent, out);
        lw_v3_copy(t, out + 3);
    }
}

/* Finds the speeds x with S x closest to -a, in the metric in which lengths are measured by `length`, over
 * the speeds of the joint that are not prescribed. */
static inline void take_up(const lw_link *link, const double *S, double length, const double a[6],
                           double *x) {
    const lw_joint_descriptor *about = lw_joint_describe(link->joint.type);
    const int nv = link->joint.nv;
    const unsigned fixed = link->prescribed;
    if (!link->joint.inverse && !about->screws && !about->axes_are_slides) {
        /* The columns of S are orthonormal, and each is either a rotation or a translation. */
        for (int k = 0; k < nv; k++) {
            int part = k >= about->slides ? 0 : 3;
            x[k] = fixed >> k & 1 ? 0 : -lw_v3_dot(S + 6 * k + part, a + part);
        }
        return;
    }
    static const double none[6] = {0}; /* floors of zero, since the columns of S are independent */
    double D[36], s[6];
    for (int k = 0; k < nv; k++) {
        for (int c = 0; c < 6; c++) s[c] = S[6 * k + c] * (c < 3 ? 1 : 1 / (length * length));
        for (int l = 0; l <= k; l++) D[6 * k + l] = lw_v6_dot(s, S + 6 * l);
        x[k] = fixed >> k & 1 ? 0 : -lw_v6_dot(s, a);
    }
    factor(nv, fixed, D, none);
    solve_lower(nv, fixed, D, x);
    solve_upper(nv, fixed, D, x);
}

/* a += S x. */
static inline void add_motion(const lw_link *link, const double *S, const double *x, double a[6]) {
    for (int k = 0; k < link->joint.nv; k++) lw_v6_axpy(x[k], S + 6 * k, a);
}

/* A pivot of S'K S relative to the square of its column of S, and an eigenvalue of an indicator, count as
 * zero below this value. In geometry this is 1e-5 of the length. */
#define LW_KINETIC_ZERO 1e-10

/* Eliminates a joint from K: computes U = K S (S in units of length), the factor L D L' of S'K S with 1 / D
 * on its diagonal, and K - U D^+ U'. Fixed speeds take no part. The speeds in *null are left out of D^+; with
 * `decide`, these are first found as the speeds whose pivots vanish. */
static inline void eliminate_joint(const lw_link *link, bool decide, unsigned *null, const double *S,
                                   double length, double K[36], double U[36], double D[36]) {
    const int nv = link->joint.nv;
    const unsigned fixed = link->prescribed;
    double s[36], W[36];
    for (int k = 0; k < nv; k++)
        for (int c = 0; c < 6; c++) s[6 * k + c] = S[6 * k + c] / (c < 3 ? 1 : length);
    for (int k = 0; k < nv; k++)
        for (int c = 0; c < 6; c++) {
            U[6 * k + c] = 0;
            for (int l = 0; l < 6; l++) U[6 * k + c] += K[6 * c + l] * s[6 * k + l];
        }
    if (decide) *null = 0;
    for (int i = 0; i < nv; i++) {
        if (fixed >> i & 1) continue;
        for (int c = 0; c < 6; c++) W[6 * i + c] = U[6 * i + c];
        double pivot = lw_v6_dot(s + 6 * i, U + 6 * i), square = lw_v6_dot(s + 6 * i, s + 6 * i);
        for (int j = 0; j < i; j++) {
            if (fixed >> j & 1) continue;
            double l = lw_v6_dot(s + 6 * i, W + 6 * j) * D[7 * j]; /* L_ij */
            D[6 * i + j] = l;
            lw_v6_axpy(-l, W + 6 * j, W + 6 * i);
            pivot -= l * lw_v6_dot(s + 6 * i, W + 6 * j);
        }
        if (decide && !(pivot > LW_KINETIC_ZERO * square)) *null |= 1u << i;
        D[7 * i] = *null >> i & 1 || !(pivot > 0) ? 0 : 1 / pivot; /* may vanish at singular positions */
        for (int c = 0; c < 6; c++)
            for (int l = 0; l < 6; l++) K[6 * c + l] -= D[7 * i] * W[6 * i + c] * W[6 * i + l];
    }
}

/* Adds X'K X of joint i to the indicator of the parent. */
static inline void kinetic_to_parent(const recursion *r, int i, double length, const double K[36],
                                     double parent[36]) {
    double X[36], T[36]; /* The columns of X are the unit twists of the parent in the child's axes. */
    for (int c = 0; c < 6; c++) {
        double unit[6] = {0};
        unit[c] = c < 3 ? 1 : length;
        twist_to_child(r, i, unit, X + 6 * c);
        for (int l = 3; l < 6; l++) X[6 * c + l] /= length;
        for (int l = 0; l < 6; l++) T[6 * c + l] = lw_v6_dot(K + 6 * l, X + 6 * c);
    }
    for (int c = 0; c < 6; c++)
        for (int l = 0; l < 6; l++) parent[6 * c + l] += lw_v6_dot(X + 6 * c, T + 6 * l);
}

#endif

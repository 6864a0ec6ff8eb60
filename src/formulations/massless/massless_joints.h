/* massless_joints.h - the articulated-body recursion at joints of several speeds, some of which represent
 * massless directions.
 *
 *   inertia handed over   I^ - U D^+ U'                                                             (17)
 *   force handed over     f^ + U D^+ u + (that inertia) bias
 *
 * D^+ is the inverse of D without the speeds that are left out, whose floor is infinite. No mass moves along
 * these, so I^ n = 0. A joint of which every speed is left out is rigid: its U vanishes, and it hands over
 * the whole inertia and force of its body. A ball joint hands over a mass matrix only, as a ball joint of
 * full rank does, since U D^+ U' cancels A and B.
 *
 * Source   Arnold (2013), eqs 17, 25a; symbols of tree_recursion.h, kernels beside those of tree_forward.h.
 * Cost     O(1).
 */
#ifndef LW_MASSLESS_JOINTS_H
#define LW_MASSLESS_JOINTS_H

#include "formulations/massless/massless_motion.h"

/* Tells whether every speed of the joint is left out. */
static inline bool is_rigid(const lw_link *link, unsigned left_out) {
    return left_out == (1u << link->joint.nv) - 1;
}

/* Hands over the inertia and force of a rigid ball joint; the inertia is the mass matrix C alone. */
static void rigid_ball_eliminate(const recursion *r, int i) {
    const lw_link *link = &r->model->links[i];
    const place *at = &r->places[i];
    const double none[9] = {0}, *b = r->nodes[i].bias + 3;
    double A[6], B[9], C[6], C1[6], f[6], f1[6], t[3];
    if (link->parent == 0) return;
    gather(r, i, A, B, C, f);
    symmetric_times(C, b, t);
    for (int k = 0; k < 3; k++) f[3 + k] += t[k];
    turn_symmetric_by(at->R, C, C1);
    r3_turn(at->R, f, f1);
    r3_turn(at->R, f + 3, f1 + 3);
    hand_over(r, link, at->p, none, none, C1, f1, -1);
}

/* The same as spherical_eliminate for a deficient A. There the torque handed over is tau; here it is
 * f + A A^+ (tau - f), which equals tau if all forces balance. */
static void ball_eliminate(const recursion *r, int i, int *bad) {
    const lw_link *link = &r->model->links[i];
    double *L = r->D + 6 * link->v, *kept = r->U + 6 * link->v, *u = r->u + link->v;
    double A[6], B[9], C[6], f[6], W[9], V[9], y[3], x[3], t[3], f1[6], C1[6];
    gather(r, i, A, B, C, f);
    for (int k = 0; k < 3; k++) {
        for (int l = 0; l <= k; l++) L[6 * k + l] = A[sym(k, l)];
        u[k] = r->tau[link->v + k] - f[k];
        y[k] = u[k];
    }
    for (int k = 0; k < 9; k++) kept[k] = B[k];
    *bad = factor(3, 0, L, r->floor + link->v);
    if (link->parent == 0) return;
    solve_lower(3, 0, L, y);
    for (int m = 0; m < 3; m++) { /* the columns of W = L^-1 B and V = D^+ W */
        double w[3] = {B[m], B[3 + m], B[6 + m]};
        solve_lower(3, 0, L, w);
        for (int k = 0; k < 3; k++) W[3 * k + m] = w[k], V[3 * k + m] = L[7 * k] * w[k];
    }
    for (int k = 0; k < 3; k++) x[k] = y[k];
    solve_upper(3, 0, L, x);
    symmetric_times(A, x, t);
    for (int l = 0; l < 3; l++) {
        for (int m = 0; m <= l; m++) C[sym(l, m)] -= V[l] * W[m] + V[3 + l] * W[3 + m] + V[6 + l] * W[6 + m];
        f[l] += t[l];
        f[3 + l] += V[l] * y[0] + V[3 + l] * y[1] + V[6 + l] * y[2];
    }
    const double *b = r->nodes[i].bias + 3, none[9] = {0};
    for (int l = 0; l < 3; l++) f[3 + l] += C[sym(l, 0)] * b[0] + C[sym(l, 1)] * b[1] + C[sym(l, 2)] * b[2];
    const place *at = &r->places[i];
    turn_symmetric_by(at->R, C, C1);
    r3_turn(at->R, f, f1);
    r3_turn(at->R, f + 3, f1 + 3);
    hand_over(r, link, at->p, none, none, C1, f1, -1);
}

static void deficient_eliminate(const recursion *r, int i, unsigned left_out, int *bad) {
    const lw_link *link = &r->model->links[i];
    bool rigid = is_rigid(link, left_out);
    if (link->kernel == LW_KERNEL_SPHERICAL && rigid)
        rigid_ball_eliminate(r, i);
    else if (link->kernel == LW_KERNEL_SPHERICAL)
        ball_eliminate(r, i, bad);
    else if (rigid)
        joint_eliminate(r, i, bad, 0, 0, false);
    else if (link->kernel == LW_KERNEL_FREE)
        joint_eliminate(r, i, bad, 6, 0, false);
    else
        general_eliminate(r, i, bad);
}

static void rigid_accelerate(const recursion *r, int i) {
    const lw_link *link = &r->model->links[i];
    double *a = r->nodes[i].a;
    carry_general(r, i, a);
    for (int k = 0; k < link->joint.nv; k++) r->vdot[link->v + k] = 0;
}

/* Computes the accelerations of a joint before the choice of their massless part. x: the acceleration that
 * the joint carries outwards, with the prescribed accelerations of the joint. y: the other accelerations of
 * the joint, D^+ (u - U'x), whose massless part is arbitrary. Callers pass nv and fixed as constants where
 * the compiler gains by it. */
INLINE void rates_by_motion(const recursion *r, int i, int nv, unsigned fixed, double x[6], double *y) {
    const lw_link *link = &r->model->links[i];
    const double *S = r->S + 6 * link->v, *U = r->U + 6 * link->v, *D = r->D + 6 * link->v,
                 *u = r->u + link->v;
    carry_general(r, i, x);
    for (int k = 0; k < nv; k++)
        if (fixed >> k & 1) lw_v6_axpy(r->vdot[link->v + k], S + 6 * k, x);
    for (int k = 0; k < nv; k++) y[k] = fixed >> k & 1 ? 0 : u[k] - lw_v6_dot(U + 6 * k, x);
    solve_lower(nv, fixed, D, y);
    solve_upper(nv, fixed, D, y);
}
INLINE void deficient_rates(const recursion *r, int i, double x[6], double y[LW_JOINT_MAX_V]) {
    const lw_link *link = &r->model->links[i];
    if (link->kernel == LW_KERNEL_SPHERICAL) { /* U = (A; B'), of which B is stored. */
        const double *B = r->U + 6 * link->v, *D = r->D + 6 * link->v;
        carry_general(r, i, x);
        for (int k = 0; k < 3; k++) y[k] = r->u[link->v + k] - r3_dot(B + 3 * k, x + 3);
        solve_lower(3, 0, D, y);
        solve_upper(3, 0, D, y);
        for (int k = 0; k < 3; k++) y[k] -= x[k];
    } else if (link->kernel == LW_KERNEL_UNIVERSAL)
        rates_by_motion(r, i, 2, 0, x, y);
    else
        rates_by_motion(r, i, link->joint.nv, link->prescribed, x, y);
}

/* Computes the accelerations of the joint and of its body from x and y of deficient_rates. */
INLINE void deficient_accelerate(const recursion *r, int i, const double x[6], const double *y) {
    const lw_link *link = &r->model->links[i];
    const double *S = r->S + 6 * link->v, *U = r->U + 6 * link->v;
    double *vdot = r->vdot + link->v, *a = r->nodes[i].a;
    unsigned fixed = link->prescribed;
    for (int k = 0; k < 6; k++) a[k] = x[k];
    if (link->kernel == LW_KERNEL_UNIVERSAL) {
        a[0] += y[0] * S[0], a[1] += y[1], a[2] += y[0] * S[2];
        vdot[0] = y[0], vdot[1] = y[1];
        return;
    }
    if (link->kernel == LW_KERNEL_SPHERICAL) {
        for (int k = 0; k < 3; k++) a[k] += y[k], vdot[k] = y[k];
        return;
    }
    for (int k = 0; k < link->joint.nv; k++) {
        if (fixed >> k & 1) continue;
        vdot[k] = y[k];
        lw_v6_axpy(y[k], S + 6 * k, a);
    }
    for (int k = 0; k < link->joint.nv; k++)
        if (fixed >> k & 1) r->drive[link->v + k] = lw_v6_dot(U + 6 * k, a) - r->u[link->v + k];
}

#endif

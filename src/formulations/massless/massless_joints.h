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

/* Of a ball joint the kernel of tree_forward.h hands over the joint's torque, which is f + A A^+ (tau - f)
 * here, since the forces on massless motions balance. That of free joints has no place for speeds left
 * out. */
static void deficient_eliminate(const recursion *r, int i, unsigned left_out, int *bad) {
    const lw_link *link = &r->model->links[i];
    if (is_rigid(link, left_out))
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

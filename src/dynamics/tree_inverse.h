/* tree_inverse.h - inverse dynamics of a tree for one state or several: accelerations outwards, wrenches
 * inwards.
 *
 *   given q, v, vdot    find tau with  M(q) vdot + c(q, v) = tau + forces
 *
 * Source   the recursive Newton-Euler algorithm; docs/theory/tree.md, 19-20. Symbols as in tree_recursion.h.
 * Cost     O(n): see tree_recursion.h.
 */
#ifndef LW_TREE_INVERSE_H
#define LW_TREE_INVERSE_H

#include "dynamics/tree_recursion.h"

/* --- inverse dynamics (docs/theory/tree.md, 19-20) ------------------------------------------------ */

/* Leaves, whose slot is -1, share swings[0], which is never read. */
INLINE swing *swing_of(const recursion *r, const lw_link *link) { return &r->swings[1 + link->slot]; }

/* With K = alpha~ + w~ w~ a point x of the body accelerates by a + K x. So the body needs the force m a + K h
 * and, with sum m x x (K x) by its second moments J, the torque h x a + J alpha + w x J w. K, w and a stay in
 * the body's slot until its last child has read them. */
INLINE void ask(const recursion *r, int i, const REAL w[3], const REAL x[6]) {
    const lw_link *link = &r->model->links[i];
    const double *h = link->inertia.moment, *J = link->inertia.second;
    swing *own = swing_of(r, link);
    REAL *f = r->wrenches + 6 * i, *K = own->K;
    for (int k = 0; k < 3; k++) own->w[k] = w[k];
    for (int k = 0; k < 6; k++) own->a[k] = x[k];
    REAL xx = w[0] * w[0], yy = w[1] * w[1], zz = w[2] * w[2];
    REAL xy = w[0] * w[1], xz = w[0] * w[2], yz = w[1] * w[2];
    K[0] = -(yy + zz), K[1] = xy - x[2], K[2] = xz + x[1];
    K[3] = xy + x[2], K[4] = -(xx + zz), K[5] = yz - x[0];
    K[6] = xz - x[1], K[7] = yz + x[0], K[8] = -(xx + yy);
    REAL n[3] = {J[0] * x[0] + (J[2] - J[1]) * yz, J[1] * x[1] + (J[0] - J[2]) * xz,
                 J[2] * x[2] + (J[1] - J[0]) * xy};
    if (!link->principal) {
        n[0] += (K[3] * J[4] - K[6] * J[3]) + (yy - zz) * J[5];
        n[1] += (K[7] * J[3] - K[1] * J[5]) + (zz - xx) * J[4];
        n[2] += (K[2] * J[5] - K[5] * J[4]) + (xx - yy) * J[3];
    }
    f[0] = n[0] + (h[1] * x[5] - h[2] * x[4]);
    f[1] = n[1] + (h[2] * x[3] - h[0] * x[5]);
    f[2] = n[2] + (h[0] * x[4] - h[1] * x[3]);
    for (int k = 0; k < 3; k++)
        f[3 + k] =
            link->inertia.mass * x[3 + k] + (K[3 * k] * h[0] + K[3 * k + 1] * h[1] + K[3 * k + 2] * h[2]);
    if (r->load)
        for (int k = 0; k < 6; k++) f[k] -= r->load[6 * i + k];
}

/* Acceleration of the parent's point p. */
INLINE void carry_point(const swing *parent, const REAL p[3], REAL out[3]) {
    const REAL *K = parent->K;
    for (int k = 0; k < 3; k++)
        out[k] = parent->a[3 + k] + (K[3 * k] * p[0] + K[3 * k + 1] * p[1] + K[3 * k + 2] * p[2]);
}

INLINE void revolute_outwards(const recursion *r, int i, const REAL *vdot, int a) {
    const lw_link *link = &r->model->links[i];
    const swing *parent = swing_of(r, &r->model->links[link->parent]);
    int j = (a + 1) % 3, k = (a + 2) % 3;
    REAL w[3], x[6], p[3], at[3], rate = link->sign * r->v[link->v];
    constant3(link->p, p);
    carry_point(parent, p, at);
    turn_back(a, r->cosine[link->v], r->sine[link->v], parent->w, w);
    turn_back(a, r->cosine[link->v], r->sine[link->v], parent->a, x);
    turn_back(a, r->cosine[link->v], r->sine[link->v], at, x + 3);
    x[j] += w[k] * rate; /* w x e_a rate */
    x[k] -= w[j] * rate;
    x[a] += link->sign * vdot[link->v];
    w[a] += rate;
    ask(r, i, w, x);
}
INLINE void prismatic_outwards(const recursion *r, int i, const REAL *vdot, int a) {
    const lw_link *link = &r->model->links[i];
    const swing *parent = swing_of(r, &r->model->links[link->parent]);
    int j = (a + 1) % 3, k = (a + 2) % 3;
    REAL x[6], rate = 2 * link->sign * r->v[link->v];
    prismatic_pose(r, i, a);
    carry_point(parent, r->relative[i].p, x + 3);
    for (int l = 0; l < 3; l++) x[l] = parent->a[l];
    x[3 + j] += parent->w[k] * rate; /* 2 w x e_a rate */
    x[3 + k] -= parent->w[j] * rate;
    x[3 + a] += link->sign * vdot[link->v];
    ask(r, i, parent->w, x);
}
static void general_outwards(const recursion *r, int i, const REAL *vdot) {
    const lw_link *link = &r->model->links[i];
    const swing *parent = swing_of(r, &r->model->links[link->parent]);
    const relative_pose *own = &r->relative[i];
    REAL w[3], bias[6], at[3], x[6];
    general_rates(r, i, parent->w, w, bias);
    carry_point(parent, own->p, at);
    r3_turn_back(own->R, parent->a, x);
    r3_turn_back(own->R, at, x + 3);
    for (int l = 0; l < 6; l++) {
        x[l] += bias[l];
        for (int k = link->v; k < link->v + link->joint.nv; k++) x[l] += vdot[k] * r->S[6 * k + l];
    }
    ask(r, i, w, x);
}

INLINE void add_wrench(const recursion *r, int parent, const REAL p[3], const REAL f[6]) {
    REAL *total = r->wrenches + 6 * parent;
    r3_add_cross(p, f + 3, total);
    for (int k = 0; k < 6; k++) total[k] += f[k];
}
INLINE void revolute_inwards(const recursion *r, int i, REAL *tau, int a) {
    const lw_link *link = &r->model->links[i];
    const REAL *own_f = r->wrenches + 6 * i;
    tau[link->v] = link->sign * own_f[a];
    if (link->parent == 0) return;
    REAL f[6], p[3];
    turn(a, r->cosine[link->v], r->sine[link->v], own_f, f);
    turn(a, r->cosine[link->v], r->sine[link->v], own_f + 3, f + 3);
    constant3(link->p, p);
    add_wrench(r, link->parent, p, f);
}
INLINE void prismatic_inwards(const recursion *r, int i, REAL *tau, int a) {
    const lw_link *link = &r->model->links[i];
    const REAL *own_f = r->wrenches + 6 * i;
    tau[link->v] = link->sign * own_f[3 + a];
    if (link->parent) add_wrench(r, link->parent, r->relative[i].p, own_f);
}
static void general_inwards(const recursion *r, int i, REAL *tau) {
    const lw_link *link = &r->model->links[i];
    const relative_pose *at = &r->relative[i];
    const REAL *own_f = r->wrenches + 6 * i;
    for (int k = link->v; k < link->v + link->joint.nv; k++) tau[k] = r6_dot(r->S + 6 * k, own_f);
    if (link->parent == 0) return;
    REAL f[6];
    r3_turn(at->R, own_f, f);
    r3_turn(at->R, own_f + 3, f + 3);
    add_wrench(r, link->parent, at->p, f);
}

/* tau for given vdot, with that of the rotors (docs/theory/armature.md, 5); afterwards wrenches + 6 i is the
 * wrench that joint i transmits, in the child's axes. */
static inline void inverse(const recursion *r, const REAL *vdot, REAL *tau) {
    turn_joints(r);
    swing *ground = swing_of(r, &r->model->links[0]);
    for (int k = 0; k < 3; k++) ground->w[k] = ground->a[k] = real(0);
    for (int k = 0; k < 3; k++) ground->a[3 + k] = real(-r->model->gravity[k]);
    for (int k = 0; k < 9; k++) ground->K[k] = real(0);
    for (int i = 1; i <= r->model->body_count; i++) {
        look_ahead(r->model->links, sizeof(lw_link), 2, i + AHEAD);
        BY_JOINT(&r->model->links[i], outwards, r, i, vdot)
    }
    for (int i = r->model->body_count; i >= 1; i--) {
        look_ahead(r->model->links, sizeof(lw_link), 1, i - AHEAD);
        look_ahead(r->wrenches, 6 * sizeof(REAL), 1, i - AHEAD);
        BY_JOINT(&r->model->links[i], inwards, r, i, tau)
    }
    const double *armature = r->model->armature;
    for (int k = 0; armature && k < r->model->nv; k++) tau[k] += armature[k] * vdot[k];
}

#endif

/* massless_bias.h - velocities of a tree, with the bias of w = v - N zeta instead of v.
 *
 * The accelerations that speeds alone make differ by (docs/theory/massless.md, 6)
 *
 *     (S v) x X E - Sdot(v) e,      e = N zeta at the joint,  E the parent's twist by it
 *
 * at the few joints that N moves, known once per model (shape->corrected). They are corrected on the way of the velocities, while
 * their numbers are at hand.
 *
 * Source   Arnold (2013), eqs 29-32.
 * Cost     O(n).
 */
#ifndef LW_MASSLESS_BIAS_H
#define LW_MASSLESS_BIAS_H

#include "formulations/massless_motion.h"

/* The joint's S differentiated along v, times e. */
static void subspace_rate(const recursion *r, int i, const double *e, double out[6]) {
    const lw_link *link = &r->model->links[i];
    const lw_joint *joint = &link->joint;
    const double *q = r->q + link->q, *v = r->v + link->v, *S = r->S + 6 * link->v;
    double R[9], p[3], direct[6 * LW_JOINT_MAX_V], b[6] = {0};
    memset(out, 0, 6 * sizeof *out);
    if (link->kernel < LW_KERNEL_SPHERICAL || joint->nv == 0) return;
    joint_place_direct(joint, q, R, p, direct);
    if (joint->type == LW_JOINT_UNIVERSAL) { /* first axis (cos q1, 0, sin q1) */
        b[0] = -direct[2] * v[1] * e[0];
        b[2] = direct[0] * v[1] * e[0];
    } else if (joint->type == LW_JOINT_PLANAR) {
        b[3] = v[2] * (R[0] * e[1] - R[3] * e[0]);
        b[4] = -v[2] * (R[0] * e[0] + R[3] * e[1]);
    } else if (joint->type == LW_JOINT_FREE) {
        double local[3];
        lw_m3_tmul_v(R, e, local);
        lw_v3_cross(local, v + 3, b + 3);
    }
    if (!joint->inverse) {
        memcpy(out, b, sizeof b);
        return;
    }
    double moving[6] = {0}, other[6] = {0}, across[6]; /* S = -Ad S_direct, and Ad turns with the joint */
    joint_other_side(R, p, b, out);
    for (int k = 0; k < joint->nv; k++) {
        lw_v6_axpy(v[k], S + 6 * k, moving);
        lw_v6_axpy(e[k], S + 6 * k, other);
    }
    lw_twist_cross(moving, other, across);
    lw_v6_axpy(-1, across, out);
}

/* bias of body i += the difference. */
INLINE void revolute_correct(const recursion *r, int i, const double E[6], const double *apart, int a) {
    (void)apart; /* S does not turn */
    const lw_link *link = &r->model->links[i];
    int b = (a + 1) % 3, c = (a + 2) % 3;
    double rate = link->sign * r->v[link->v], cosine = r->cosine[link->v], sine = r->sine[link->v];
    double linear[3], w[3], x[3], *bias = r->nodes[i].bias;
    lw_v3_copy(E + 3, linear);
    lw_v3_add_cross(E, link->p, linear);
    turn_back(a, cosine, sine, E, w);
    turn_back(a, cosine, sine, linear, x);
    bias[b] -= rate * w[c];
    bias[c] += rate * w[b];
    bias[3 + b] -= rate * x[c];
    bias[3 + c] += rate * x[b];
}
INLINE void prismatic_correct(const recursion *r, int i, const double E[6], const double *apart, int a) {
    (void)apart;
    const lw_link *link = &r->model->links[i];
    int b = (a + 1) % 3, c = (a + 2) % 3;
    double rate = link->sign * r->v[link->v], *bias = r->nodes[i].bias;
    bias[3 + b] -= rate * E[c];
    bias[3 + c] += rate * E[b];
}
static void general_correct(const recursion *r, int i, const double E[6], const double *apart) {
    const lw_link *link = &r->model->links[i];
    double carried[6], moving[6] = {0}, change[6], own[6], *bias = r->nodes[i].bias;
    twist_to_child(r, i, E, carried);
    for (int j = 0; j < link->joint.nv; j++) lw_v6_axpy(r->v[link->v + j], r->S + 6 * (link->v + j), moving);
    lw_twist_cross(moving, carried, change);
    subspace_rate(r, i, apart + link->v, own); /* apart stays zero where no S turns */
    for (int c = 0; c < 6; c++) bias[c] += change[c] - own[c];
}

/* e per speed, where some S turns, and 6 per body: E of the bodies that N moves. Others keep zeros. */
static inline void motion_apart(const lw_null *null, const double *zeta, double *e, double *E) {
    const lw_null_shape *shape = null->shape;
    for (int b = 0; b < shape->moved_start[shape->count]; b++)
        memset(E + 6 * shape->body[b], 0, 6 * sizeof *E);
    for (int k = 0; k < shape->count; k++)
        for (int b = shape->moved_start[k]; b < shape->moved_start[k + 1]; b++)
            lw_v6_axpy(zeta[k], null->twist + 6 * b, E + 6 * shape->body[b]);
    if (!shape->turning) return;
    memset(e, 0, (size_t)shape->model->nv * sizeof *e);
    lw_null_times(null, zeta, e);
}

/* As velocities of recursion.h, when lw_null_at has turned the joints. E NULL: the bias of v itself. */
static inline void velocities_apart(const lw_null_shape *shape, const recursion *r, const double *e,
                                    const double *E) {
    const lw_model *model = r->model;
    int next = 0, count = E ? shape->corrected_count : 0;
    for (int k = 0; k < 3; k++) r->nodes[0].w[k] = 0;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        look_ahead(model->links, sizeof(lw_link), 1, i + AHEAD);
        BY_JOINT(link, velocity, r, i)
        if (next == count || shape->corrected[next] != i) continue;
        const double *carrier = E + 6 * link->parent;
        next++;
        BY_JOINT(link, correct, r, i, carrier, e)
    }
}

#endif

/* massless_bias.h - velocities of a tree, with the bias accelerations of w = v - N zeta instead of those of
 * v.
 *
 * The two bias accelerations differ by (docs/theory/massless.md, eq. 6)
 *
 *     (S v) x X E - Sdot(v) e,      e = N zeta at the joint,  E the twist of the parent in the motion N zeta
 *
 * at the few joints that N moves, which are known once per model (shape->corrected). The recursion of the
 * velocities adds the difference while the numbers of the joint are in the cache.
 *
 * Source   Arnold (2013), eqs 29-32.
 * Cost     O(n).
 */
#ifndef LW_MASSLESS_BIAS_H
#define LW_MASSLESS_BIAS_H

#include "formulations/massless/massless_joints.h"

/* out = Sdot(v) e, from S itself, for a joint that is not inverted. Its columns of S are those of
 * joint_motion.h: each is a rotation or a translation, and turns with the rotations after it, dS_k/dt = S_k x
 * w, where w is their angular velocity. Those of a ball are constant. */
INLINE void turning_rate(const lw_joint *joint, const double *S, const double *v, const double *e,
                         double out[6]) {
    const lw_joint_descriptor *about = lw_joint_describe(joint->type);
    double w[3] = {0, 0, 0};
    for (int k = 0; k < 6; k++) out[k] = 0;
    for (int k = joint->nv - 1; k >= 0; k--) {
        bool turns = k >= about->slides;
        int part = turns ? 0 : 3;
        double turned[3];
        if (k < joint->nv - 1 && !(turns && about->ball)) {
            lw_v3_cross(S + 6 * k + part, w, turned);
            lw_v3_axpy(e[k], turned, out + part);
        }
        if (turns) lw_v3_axpy(v[k], S + 6 * k, w);
    }
}

/* out = Sdot(v) e of joint i. */
static void subspace_rate(const recursion *r, int i, const double *e, double out[6]) {
    const lw_link *link = &r->model->links[i];
    const lw_joint *joint = &link->joint;
    const double *v = r->v + link->v, *S = r->S + 6 * link->v;
    if (!joint->inverse) {
        turning_rate(joint, S, v, e, out);
        return;
    }
    double R[9], p[3], direct[6 * LW_JOINT_MAX_V], b[6];
    joint_pose_direct(joint, r->q + link->q, R, p, direct);
    turning_rate(joint, direct, v, e, b);
    /* S = -Ad S_direct, and Ad turns with the joint. */
    double moving[6] = {0}, other[6] = {0}, across[6];
    joint_other_side(R, p, b, out);
    for (int k = 0; k < joint->nv; k++) {
        lw_v6_axpy(v[k], S + 6 * k, moving);
        lw_v6_axpy(e[k], S + 6 * k, other);
    }
    lw_twist_cross(moving, other, across);
    lw_v6_axpy(-1, across, out);
}

/* The three functions add the difference to the bias of body i. E: the parent's twist in the motion N zeta;
 * apart: N zeta per speed. The subspaces of aligned joints are constant, so these do not need apart. */
INLINE void revolute_correct(const recursion *r, int i, const double *E, const double *apart, int a) {
    (void)apart;
    const lw_link *link = &r->model->links[i];
    int b = (a + 1) % 3, c = (a + 2) % 3;
    double linear[3], w[3], x[3], rate = link->sign * r->v[link->v], *bias = r->nodes[i].bias;
    lw_v3_copy(E + 3, linear);
    lw_v3_add_cross(E, link->p, linear);
    turn_back(a, r->cosine[link->v], r->sine[link->v], E, w);
    turn_back(a, r->cosine[link->v], r->sine[link->v], linear, x);
    bias[b] -= rate * w[c];
    bias[c] += rate * w[b];
    bias[3 + b] -= rate * x[c];
    bias[3 + c] += rate * x[b];
}
INLINE void prismatic_correct(const recursion *r, int i, const double *E, const double *apart, int a) {
    (void)apart;
    const lw_link *link = &r->model->links[i];
    int b = (a + 1) % 3, c = (a + 2) % 3;
    double rate = link->sign * r->v[link->v], *bias = r->nodes[i].bias;
    bias[3 + b] -= rate * E[c];
    bias[3 + c] += rate * E[b];
}
static void general_correct(const recursion *r, int i, const double *E, const double *apart) {
    const lw_link *link = &r->model->links[i];
    const double *v = r->v + link->v, *S = r->S + 6 * link->v;
    double rate[6], *bias = r->nodes[i].bias;
    if (E) {
        double carried[6], moving[6] = {0};
        twist_to_child_by_pose(r, i, E, carried);
        for (int k = 0; k < link->joint.nv; k++) lw_v6_axpy(v[k], S + 6 * k, moving);
        lw_v3_add_cross(moving, carried, bias);
        lw_v3_add_cross(moving, carried + 3, bias + 3);
        lw_v3_add_cross(moving + 3, carried, bias + 3);
    }
    if (link->kernel == LW_KERNEL_UNIVERSAL) { /* The first axis is (cos q1, 0, sin q1). */
        double turned = v[1] * apart[link->v];
        bias[0] += S[2] * turned, bias[2] -= S[0] * turned;
    } else if (link->kernel != LW_KERNEL_SPHERICAL) { /* S of a ball is constant. */
        subspace_rate(r, i, apart + link->v, rate);
        lw_v6_axpy(-1, rate, bias);
    }
}

/* The same as velocities of tree_recursion.h, after lw_null_at, which has computed the sines and cosines of
 * the joints. E NULL: the bias is that of v itself. */
static inline void velocities_apart(const lw_null_shape *shape, const recursion *r, const double *e,
                                    const double *E) {
    const lw_model *model = r->model;
    int next = 0, count = E ? shape->corrected_count : 0;
    for (int k = 0; k < 3; k++) r->nodes[0].w[k] = 0;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        look_ahead(model->links, sizeof(lw_link), 1, i + AHEAD);
        BY_JOINT(link, velocity, r, i)
        if (next < count && shape->corrected[next] == i) {
            const double *carrier = shape->carried[next] ? E + 6 * link->parent : NULL;
            next++;
            BY_JOINT(link, correct, r, i, carrier, e)
        }
    }
}

#endif

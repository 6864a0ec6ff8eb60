/* code_joint.c - pose, motion subspace, bias and rates of any joint as nodes, from its type's descriptor.
 *
 * Source   docs/theory/tree.md, section "Joints"; the product of elementary motions of model/joint_motion.h,
 *          which has the symbols. One formula serves all types: what is zero or one for a type costs nothing.
 */
#include "export/code/code_build.h"

static void turn_about(code_graph *g, int axis, code_node angle, code_node R[9]) {
    const int j = (axis + 1) % 3, k = (axis + 2) % 3;
    const code_node s = code_make(g, CODE_SIN, angle, 0, 0), c = code_make(g, CODE_COS, angle, 0, 0);
    code33_identity(g, R);
    R[4 * j] = R[4 * k] = c;
    R[3 * j + k] = code_neg(g, s), R[3 * k + j] = s;
}

static void quaternion_rotation(code_graph *g, const code_node q[4], code_node R[9]) {
    code_node norm = 0;
    for (int k = 0; k < 4; k++) norm = code_add(g, norm, code_mul(g, q[k], q[k]));
    const code_node s = code_div(g, code_constant(g, 2), norm), w = q[0];
    code_node x[3];
    code3_scale(g, s, q + 1, x); /* 2 q / |q|^2 */
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const code_node across = code_mul(g, q[1 + i], x[j]), along = code_mul(g, w, x[k]);
        R[4 * i] = code_sub(g, code_constant(g, 1),
                            code_add(g, code_mul(g, q[1 + j], x[j]), code_mul(g, q[1 + k], x[k])));
        R[3 * i + j] = code_sub(g, across, along);
        R[3 * j + i] = code_add(g, across, along);
    }
}

static void rotation(code_graph *g, const lw_joint *joint, const code_node *q, code_node R[9]) {
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    code33_identity(g, R);
    if (d->ball) quaternion_rotation(g, q + d->slides, R);
    if (d->turns == 0) return;
    if (joint->nv == 1) {
        turn_about(g, joint->axis, code_mul(g, code_constant(g, joint->sign), q[0]), R);
        return;
    }
    turn_about(g, d->axis[d->slides], q[d->slides], R);
    if (d->turns == 1) return;
    code_node first[9], second[9];
    for (int k = 0; k < 9; k++) first[k] = R[k];
    turn_about(g, d->axis[d->slides + 1], q[d->slides + 1], second);
    code33_mul(g, first, second, R);
}

static void direct(code_graph *g, const lw_joint *joint, const code_node *q, const code_node *v,
                   code_node R[9], code_node p[3], code_node *S, code_node bias[6]) {
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    const int slides = joint->nv < d->slides ? joint->nv : d->slides;
    const bool single = joint->nv == 1;
    /* A single turn of a screw is about z in the positive sense, as the descriptor says. */
    rotation(g, joint, q, R);
    for (int k = 0; k < 6 * joint->nv; k++) S[k] = 0;
    code3_zero(p);
    for (int k = 0; k < slides; k++)
        for (int i = 0; i < 3; i++) {
            const double axis = i == (single ? joint->axis : d->axis[k]);
            const code_node along = d->axes_are_slides
                                        ? code_number(g, joint->sign * joint->axes[3 * k + i], 1)
                                        : code_constant(g, joint->sign * axis);
            p[i] = code_add(g, p[i], code_mul(g, along, q[k]));
            for (int j = 0; j < 3; j++)
                S[6 * k + 3 + j] = code_add(g, S[6 * k + 3 + j], code_mul(g, along, R[3 * i + j]));
        }
    for (int k = slides; k < slides + d->turns; k++) {
        const int a = single ? joint->axis : d->axis[k];
        const bool last = k == slides + d->turns - 1;
        for (int i = 0; i < 3; i++)
            S[6 * k + i] = last ? code_constant(g, (single ? joint->sign : 1) * (i == a)) : R[3 * a + i];
        if (!d->screws) continue;
        const code_node pitch = code_number(g, joint->pitch, 0);
        p[a] = code_add(g, p[a], code_mul(g, pitch, q[k]));
        S[6 * k + 3 + a] = pitch;
    }
    for (int k = 0; k < 3 && d->ball; k++) S[6 * (slides + k) + k] = code_constant(g, 1);

    for (int k = 0; k < 6; k++) bias[k] = 0;
    if (!lw_joint_subspace_varies(joint->type)) return;
    code_node u[3] = {0, 0, 0}, w[3] = {0, 0, 0};
    for (int k = 0; k < 3 && d->ball; k++) w[k] = v[d->slides + k];
    for (int k = 0; k < d->slides; k++) code3_add_scaled(g, v[k], R + 3 * d->axis[k], u);
    const int first = d->slides, last = d->slides + d->turns - 1;
    if (d->turns == 2) {
        code_node along[3], other[3] = {0, 0, 0};
        code3_scale(g, v[first], R + 3 * d->axis[first], along);
        other[d->axis[last]] = v[last];
        code3_cross(g, along, other, bias);
        code3_copy(along, w);
    }
    if (d->turns) w[d->axis[last]] = code_add(g, w[d->axis[last]], v[last]);
    code3_cross(g, u, w, bias + 3);
}

/* -Ad(R, p) x: a relative twist seen from the other side. */
static void other_side(code_graph *g, const code_node R[9], const code_node p[3], const code_node x[6],
                       code_node out[6]) {
    code3_turn(g, R, x, out);
    code3_turn(g, R, x + 3, out + 3);
    code3_add_cross(g, p, out, out + 3);
    for (int k = 0; k < 6; k++) out[k] = code_neg(g, out[k]);
}

void code_joint_motion(code_graph *g, const lw_joint *joint, const code_node *q, const code_node *v,
                       code_node R[9], code_node p[3], code_node *S, code_node bias[6]) {
    if (!joint->inverse) {
        direct(g, joint, q, v, R, p, S, bias);
        return;
    }
    code_node R1[9], p1[3], S1[6 * LW_JOINT_MAX_V], own[6];
    direct(g, joint, q, v, R1, p1, S1, own);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[3 * i + j] = R1[3 * j + i];
    code3_turn(g, R, p1, p);
    for (int k = 0; k < 3; k++) p[k] = code_neg(g, p[k]);
    for (int k = 0; k < joint->nv; k++) other_side(g, R1, p1, S1 + 6 * k, S + 6 * k);
    other_side(g, R1, p1, own, bias);
}

void code_joint_rate(code_graph *g, const lw_joint *joint, const code_node *q, const code_node *v,
                     code_node *qdot) {
    const int at = lw_joint_quaternion(joint->type), plain = at >= 0 ? at : joint->nv;
    for (int k = 0; k < plain; k++) qdot[k] = v[k];
    if (at < 0) return;
    const code_node *x = q + at + 1, w = q[at], *u = v + at, half = code_constant(g, 0.5);
    code_node spin[3], *out = qdot + at;
    out[0] = code_mul(g, half, code_neg(g, code3_dot(g, x, u)));
    code3_cross(g, x, u, spin);
    for (int k = 0; k < 3; k++) out[1 + k] = code_mul(g, half, code_add(g, code_mul(g, w, u[k]), spin[k]));
}

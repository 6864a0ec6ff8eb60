/* joint.c - pose, motion subspace and bias of every type of joint.
 *
 *   twist of the second frame relative to the first, in the second's axes  = S(q) v
 *   its derivative, componentwise                                          = S(q) vdot + bias(q, v)
 *
 * Source   docs/theory/tree.md, section "Joints", which derives every S and bias below.
 * Frames   one-axis joints move along and about z; universal: about x of the first, then y of the second
 * frame; planar: x, y in the first frame's plane, angle about z. Inverse  the motion of the first frame
 * relative to the second: place inverted, S and bias times -Ad(place). Cost     O(1), no allocation.
 */
#include "model/joint.h"

static void column(double *S, int k, double a, double b, double c, double x, double y, double z) {
    double *s = S + 6 * k;
    s[0] = a, s[1] = b, s[2] = c, s[3] = x, s[4] = y, s[5] = z;
}

static void place_direct(const lw_joint *joint, const double *q, double R[9], double p[3], double *S) {
    lw_v3_set(p, 0, 0, 0);
    switch (joint->type) {
    case LW_JOINT_WELD:
        lw_m3_identity(R);
        break;
    case LW_JOINT_REVOLUTE:
        lw_rot_z(q[0], R);
        column(S, 0, 0, 0, 1, 0, 0, 0);
        break;
    case LW_JOINT_PRISMATIC:
        lw_m3_identity(R);
        p[2] = q[0];
        column(S, 0, 0, 0, 0, 0, 0, 1);
        break;
    case LW_JOINT_SCREW:
        lw_rot_z(q[0], R);
        p[2] = joint->pitch * q[0];
        column(S, 0, 0, 0, 1, 0, 0, joint->pitch);
        break;
    case LW_JOINT_CYLINDRICAL:
        lw_rot_z(q[1], R);
        p[2] = q[0];
        column(S, 0, 0, 0, 0, 0, 0, 1);
        column(S, 1, 0, 0, 1, 0, 0, 0);
        break;
    case LW_JOINT_UNIVERSAL: {
        double s1 = sin(q[0]), c1 = cos(q[0]), s2 = sin(q[1]), c2 = cos(q[1]);
        R[0] = c2, R[1] = 0, R[2] = s2; /* Rx(q0) Ry(q1) */
        R[3] = s1 * s2, R[4] = c1, R[5] = -s1 * c2;
        R[6] = -c1 * s2, R[7] = s1, R[8] = c1 * c2;
        column(S, 0, c2, 0, s2, 0, 0, 0);
        column(S, 1, 0, 1, 0, 0, 0, 0);
        break;
    }
    case LW_JOINT_SPHERICAL:
        lw_rot_quat(q, R);
        column(S, 0, 1, 0, 0, 0, 0, 0);
        column(S, 1, 0, 1, 0, 0, 0, 0);
        column(S, 2, 0, 0, 1, 0, 0, 0);
        break;
    case LW_JOINT_PLANAR:
        lw_rot_z(q[2], R);
        p[0] = q[0], p[1] = q[1];
        column(S, 0, 0, 0, 0, R[0], R[1], 0);
        column(S, 1, 0, 0, 0, R[3], R[4], 0);
        column(S, 2, 0, 0, 1, 0, 0, 0);
        break;
    case LW_JOINT_TRANSLATION:
        lw_m3_identity(R);
        for (int k = 0; k < joint->nv; k++) {
            const double *a = joint->axes + 3 * k;
            lw_v3_axpy(q[k], a, p);
            column(S, k, 0, 0, 0, a[0], a[1], a[2]);
        }
        break;
    case LW_JOINT_FREE:
        lw_v3_copy(q, p);
        lw_rot_quat(q + 3, R);
        for (int k = 0; k < 3; k++) column(S, k, 0, 0, 0, R[3 * k], R[3 * k + 1], R[3 * k + 2]);
        column(S, 3, 1, 0, 0, 0, 0, 0);
        column(S, 4, 0, 1, 0, 0, 0, 0);
        column(S, 5, 0, 0, 1, 0, 0, 0);
        break;
    case LW_JOINT_TYPES:
        break;
    }
}

void lw_joint_place(const lw_joint *joint, const double *q, double R[9], double p[3], double *S) {
    if (!joint->inverse) {
        place_direct(joint, q, R, p, S);
        return;
    }
    double R1[9], p1[3], S1[6 * LW_JOINT_MAX_V];
    place_direct(joint, q, R1, p1, S1);
    lw_pose_invert(R1, p1, R, p);
    for (int k = 0; k < joint->nv; k++) {
        lw_twist_to_parent(R1, p1, S1 + 6 * k, S + 6 * k);
        for (int i = 0; i < 6; i++) S[6 * k + i] = -S[6 * k + i];
    }
}

/* With R of the direct place. */
static void bias_direct(const lw_joint *joint, const double *q, const double *v, const double R[9],
                        double bias[6]) {
    memset(bias, 0, 6 * sizeof *bias);
    switch (joint->type) {
    case LW_JOINT_UNIVERSAL:
        bias[0] = -sin(q[1]) * v[0] * v[1];
        bias[2] = cos(q[1]) * v[0] * v[1];
        break;
    case LW_JOINT_PLANAR: { /* d/dt of R'(vx, vy, 0) = -w x R'(vx, vy, 0) */
        double c = R[0], s = R[3];
        bias[3] = v[2] * (-s * v[0] + c * v[1]);
        bias[4] = -v[2] * (c * v[0] + s * v[1]);
        break;
    }
    case LW_JOINT_FREE: {
        double local[3];
        lw_m3_tmul_v(R, v, local);
        lw_v3_cross(local, v + 3, bias + 3);
        break;
    }
    default: /* S is constant in the child's axes */
        break;
    }
}

void lw_joint_bias(const lw_joint *joint, const double *q, const double *v, const double R[9],
                   const double p[3], double bias[6]) {
    if (!joint->inverse) {
        bias_direct(joint, q, v, R, bias);
        return;
    }
    double R1[9], p1[3], b[6];
    lw_pose_invert(R, p, R1, p1);
    bias_direct(joint, q, v, R1, b);
    lw_twist_to_parent(R1, p1, b, bias);
    for (int i = 0; i < 6; i++) bias[i] = -bias[i];
}

/* qdot = q * (0, w) / 2, and for long runs + |w| (1 - |q|^2) q / 2: zero for |q| = 1, so the motion is
 * untouched, but errors of the length decay within about a radian of rotation whatever the integrator. */
static void quaternion_rate(const double *q, const double *w, bool stabilise, double *qdot) {
    const double pure[4] = {0, w[0], w[1], w[2]};
    lw_quat_mul(q, pure, qdot);
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    double pull = stabilise ? lw_v3_norm(w) * (1 - square) : 0;
    for (int k = 0; k < 4; k++) qdot[k] = 0.5 * (qdot[k] + pull * q[k]);
}

void lw_joint_rate(const lw_joint *joint, const double *q, const double *v, bool stabilise, double *qdot) {
    switch (joint->type) {
    case LW_JOINT_SPHERICAL:
        quaternion_rate(q, v, stabilise, qdot);
        break;
    case LW_JOINT_FREE:
        lw_v3_copy(v, qdot);
        quaternion_rate(q + 3, v + 3, stabilise, qdot + 3);
        break;
    default:
        for (int k = 0; k < joint->nv; k++) qdot[k] = v[k];
    }
}

void lw_joint_zero(lw_joint_type type, double *q) {
    for (int k = 0; k < LW_JOINT_MAX_Q; k++) q[k] = 0;
    int at = lw_joint_quaternion(type);
    if (at >= 0) q[at] = 1;
}

int lw_joint_quaternion(lw_joint_type type) {
    return type == LW_JOINT_SPHERICAL ? 0 : type == LW_JOINT_FREE ? 3 : -1;
}

bool lw_joint_speed_turns(lw_joint_type type, int k) {
    switch (type) {
    case LW_JOINT_REVOLUTE:
    case LW_JOINT_SCREW:
    case LW_JOINT_UNIVERSAL:
    case LW_JOINT_SPHERICAL:
        return true;
    case LW_JOINT_CYLINDRICAL:
        return k == 1;
    case LW_JOINT_PLANAR:
        return k == 2;
    case LW_JOINT_FREE:
        return k >= 3;
    default:
        return false;
    }
}

int lw_joint_coordinate_of_speed(lw_joint_type type, int k) {
    if (type == LW_JOINT_SPHERICAL || (type == LW_JOINT_FREE && k >= 3)) return -1;
    return k;
}

/* joint_motion.h - pose, motion subspace and bias of every type of joint, for one state or several
 * (linalg/simd.h): of any joint as the product of elementary motions of its descriptor, and with fewer
 * operations for the types that have a case of their own.
 *
 *   twist of the second frame relative to the first, in the second's axes  = S(q) v
 *   its derivative, componentwise                                          = S(q) vdot + bias(q, v)
 *
 * Source   docs/theory/tree.md, section "Joints", which derives every S and bias below.
 * Product  p = sum of axis_k q_k over the slides, R = R_a(q) R_b(q) of the turns or that of a quaternion;
 *          with the first frame's axes in the second, the rows r_k of R, S = (0; r_k) of a slide, (r_a; 0) of
 *          a turn, the unit vectors of a ball; bias = (r_a x e_b v_a v_b; u x w), where u is the velocity of
 *          the slides and w the angular velocity.
 * Frames   revolute, prismatic   about or along one coordinate axis, in either sense
 *          screw, cylindrical    about and along z; a screw advances by its pitch, lead / (2 pi), per radian
 *          universal             about x of the first, then y of the second frame
 *          planar                x, y in the first frame's plane, angle about z
 * Inverse  the motion of the first frame relative to the second: pose inverted, S and bias times -Ad(pose).
 * Cost     O(1), no allocation.
 */
#ifndef LW_JOINT_MOTION_H
#define LW_JOINT_MOTION_H

#include "linalg/simd.h"
#include "model/compiled_model.h"

/* Column k of S from numbers; the columns start as zero. */
static inline void joint_column(REAL *S, int k, double a, double b, double c, double x, double y, double z) {
    REAL *s = S + 6 * k;
    s[0] = real(a), s[1] = real(b), s[2] = real(c), s[3] = real(x), s[4] = real(y), s[5] = real(z);
}

static inline void joint_turn(int axis, REAL sine, REAL cosine, REAL R[9]) {
    int j = (axis + 1) % 3, k = (axis + 2) % 3;
    R[4 * axis] = real(1);
    R[4 * j] = R[4 * k] = cosine;
    R[3 * j + k] = -sine, R[3 * k + j] = sine;
}

static inline void joint_quaternion(const REAL q[4], REAL R[9]) {
    REAL w = q[0], x = q[1], y = q[2], z = q[3], s = 2 / (w * w + x * x + y * y + z * z);
    R[0] = 1 - s * (y * y + z * z), R[1] = s * (x * y - w * z), R[2] = s * (x * z + w * y);
    R[3] = s * (x * y + w * z), R[4] = 1 - s * (x * x + z * z), R[5] = s * (y * z - w * x);
    R[6] = s * (x * z - w * y), R[7] = s * (y * z + w * x), R[8] = 1 - s * (x * x + y * y);
}

/* A universal joint from sines and cosines of its angles: R = Rx(q0) Ry(q1), S and, unless v is NULL,
 * bias. */
static inline void universal_motion(REAL s1, REAL c1, REAL s, REAL c, const REAL *v, REAL R[9], REAL *S,
                                    REAL *bias) {
    R[0] = c, R[1] = real(0), R[2] = s;
    R[3] = s1 * s, R[4] = c1, R[5] = -s1 * c;
    R[6] = -c1 * s, R[7] = s1, R[8] = c1 * c;
    for (int k = 0; k < 12; k++) S[k] = real(0);
    S[0] = c, S[2] = s;
    S[6 + 1] = real(1);
    if (!v) return;
    for (int k = 0; k < 6; k++) bias[k] = real(0);
    bias[0] = -s * v[0] * v[1];
    bias[2] = c * v[0] * v[1];
}

/* The product is called by few joints: out of line, so that the frames of the common cases stay small. */
#define OUT_OF_LINE static __attribute__((noinline, unused))

/* The rotation of the second frame in the first, of any type. */
OUT_OF_LINE void joint_rotation(const lw_joint *joint, const REAL *q, REAL R[9]) {
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    REAL s, c;
    for (int k = 0; k < 9; k++) R[k] = real(k % 4 == 0);
    if (d->ball) joint_quaternion(q + d->slides, R);
    if (d->turns == 0) return;
    int a = joint->nv == 1 ? joint->axis : d->axis[d->slides];
    real_sincos(joint->nv == 1 ? joint->sign * q[0] : q[d->slides], &s, &c);
    joint_turn(a, s, c, R);
    if (d->turns == 1) return;
    int b = d->axis[d->slides + 1], j = (b + 1) % 3,
        k = (b + 2) % 3; /* times Rb: columns j and k are combined */
    real_sincos(q[d->slides + 1], &s, &c);
    for (int i = 0; i < 9; i += 3) {
        REAL x = R[i + j], y = R[i + k];
        R[i + j] = c * x + s * y;
        R[i + k] = c * y - s * x;
    }
}

/* Pose and motion subspace of any type; S and p are zero. */
OUT_OF_LINE void joint_product(const lw_joint *joint, const REAL *q, REAL R[9], REAL p[3], REAL *S) {
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    int slides = joint->nv < d->slides ? joint->nv : d->slides;
    bool single = joint->nv == 1;
    joint_rotation(joint, q, R);
    for (int k = 0; k < slides; k++)
        for (int i = 0; i < 3; i++) {
            double axis = i == (single ? joint->axis : d->axis[k]);
            double along = joint->sign * (d->axes_are_slides ? joint->axes[3 * k + i] : axis);
            p[i] += along * q[k];
            for (int j = 0; j < 3; j++) S[6 * k + 3 + j] += along * R[3 * i + j];
        }
    for (int k = slides; k < slides + d->turns; k++) {
        int a = single ? joint->axis : d->axis[k];
        bool last = k == slides + d->turns - 1;
        for (int i = 0; i < 3; i++) S[6 * k + i] = last ? real(joint->sign * (i == a)) : R[3 * a + i];
        if (!d->screws) continue;
        p[a] += joint->pitch * q[k];
        S[6 * k + 3 + a] = real(joint->pitch);
    }
    for (int k = 0; k < 3 && d->ball; k++) S[6 * (slides + k) + k] = real(1);
}

/* Bias of any type, with R of the direct pose. */
OUT_OF_LINE void joint_product_bias(const lw_joint *joint, const REAL *v, const REAL R[9], REAL bias[6]) {
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    REAL u[3], w[3];
    for (int k = 0; k < 6; k++) bias[k] = real(0);
    if (!lw_joint_subspace_varies(joint->type)) return;
    for (int k = 0; k < 3; k++) u[k] = real(0), w[k] = d->ball ? v[d->slides + k] : real(0);
    for (int k = 0; k < d->slides; k++)
        for (int i = 0; i < 3; i++) u[i] += R[3 * d->axis[k] + i] * v[k];
    int first = d->slides, last = d->slides + d->turns - 1;
    if (d->turns == 2) {
        REAL along[3], other[3];
        for (int i = 0; i < 3; i++)
            along[i] = R[3 * d->axis[first] + i] * v[first], other[i] = real(i == d->axis[last]) * v[last];
        r3_cross(along, other, bias);
        for (int i = 0; i < 3; i++) w[i] = along[i];
    }
    if (d->turns) w[d->axis[last]] += v[last];
    r3_cross(u, w, bias + 3);
}

static inline void joint_pose_direct(const lw_joint *joint, const REAL *q, REAL R[9], REAL p[3], REAL *S) {
    REAL s, c;
    for (int k = 0; k < 3; k++) p[k] = real(0);
    for (int k = 0; k < 9; k++) R[k] = real(k % 4 == 0);
    for (int k = 0; k < joint->nv; k++) joint_column(S, k, 0, 0, 0, 0, 0, 0);
    switch (joint->type) {
    case LW_JOINT_REVOLUTE:
        real_sincos(joint->sign * q[0], &s, &c);
        joint_turn(joint->axis, s, c, R);
        S[joint->axis] = real(joint->sign);
        break;
    case LW_JOINT_PRISMATIC:
        p[joint->axis] = joint->sign * q[0];
        S[3 + joint->axis] = real(joint->sign);
        break;
    case LW_JOINT_SCREW:
        real_sincos(q[0], &s, &c);
        joint_turn(2, s, c, R);
        p[2] = joint->pitch * q[0];
        joint_column(S, 0, 0, 0, 1, 0, 0, joint->pitch);
        break;
    case LW_JOINT_CYLINDRICAL:
        real_sincos(q[1], &s, &c);
        joint_turn(2, s, c, R);
        p[2] = q[0];
        joint_column(S, 0, 0, 0, 0, 0, 0, 1);
        joint_column(S, 1, 0, 0, 1, 0, 0, 0);
        break;
    case LW_JOINT_UNIVERSAL: {
        REAL s1, c1;
        real_sincos(q[0], &s1, &c1);
        real_sincos(q[1], &s, &c);
        universal_motion(s1, c1, s, c, NULL, R, S, NULL);
        break;
    }
    case LW_JOINT_SPHERICAL:
        joint_quaternion(q, R);
        for (int k = 0; k < 3; k++) S[6 * k + k] = real(1);
        break;
    case LW_JOINT_PLANAR:
        real_sincos(q[2], &s, &c);
        joint_turn(2, s, c, R);
        p[0] = q[0], p[1] = q[1];
        S[3] = c, S[4] = -s;
        S[6 + 3] = s, S[6 + 4] = c;
        S[12 + 2] = real(1);
        break;
    case LW_JOINT_TRANSLATION:
        for (int k = 0; k < joint->nv; k++)
            for (int i = 0; i < 3; i++) {
                double along = joint->sign * joint->axes[3 * k + i];
                p[i] += along * q[k];
                S[6 * k + 3 + i] = real(along);
            }
        break;
    case LW_JOINT_FREE:
        for (int k = 0; k < 3; k++) p[k] = q[k];
        joint_quaternion(q + 3, R);
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) S[6 * k + 3 + i] = R[3 * k + i]; /* R'e_k */
            S[6 * (3 + k) + k] = real(1);
        }
        break;
    case LW_JOINT_WELD:
        break;
    default:
        joint_product(joint, q, R, p, S);
    }
}

/* Bias S° v, with R of the direct pose. */
static inline void joint_bias_direct(const lw_joint *joint, const REAL *q, const REAL *v, const REAL R[9],
                                     REAL bias[6]) {
    for (int k = 0; k < 6; k++) bias[k] = real(0);
    switch (joint->type) {
    case LW_JOINT_UNIVERSAL: {
        REAL s, c;
        real_sincos(q[1], &s, &c);
        bias[0] = -s * v[0] * v[1];
        bias[2] = c * v[0] * v[1];
        break;
    }
    case LW_JOINT_PLANAR: /* d/dt of R'(vx, vy, 0) = -w x R'(vx, vy, 0) */
        bias[3] = v[2] * (R[0] * v[1] - R[3] * v[0]);
        bias[4] = -v[2] * (R[0] * v[0] + R[3] * v[1]);
        break;
    case LW_JOINT_FREE: {
        REAL local[3];
        r3_turn_back(R, v, local);
        r3_cross(local, v + 3, bias + 3);
        break;
    }
    case LW_JOINT_WELD: /* S is constant in the second frame's axes */
    case LW_JOINT_REVOLUTE:
    case LW_JOINT_PRISMATIC:
    case LW_JOINT_SCREW:
    case LW_JOINT_CYLINDRICAL:
    case LW_JOINT_SPHERICAL:
    case LW_JOINT_TRANSLATION:
        break;
    default:
        joint_product_bias(joint, v, R, bias);
    }
}

/* -Ad(R, p) x: a relative twist seen from the other side, in the other side's axes. */
static inline void joint_other_side(const REAL R[9], const REAL p[3], const REAL x[6], REAL out[6]) {
    r3_turn(R, x, out);
    r3_turn(R, x + 3, out + 3);
    r3_add_cross(p, out, out + 3);
    for (int k = 0; k < 6; k++) out[k] = -out[k];
}

/* Pose (R, p) of the child's joint frame in the parent's, motion subspace S (6 per speed, child's axes) and,
 * unless v is NULL, bias. */
static inline void joint_motion(const lw_joint *joint, const REAL *q, const REAL *v, REAL R[9], REAL p[3],
                                REAL *S, REAL bias[6]) {
    if (!joint->inverse) {
        joint_pose_direct(joint, q, R, p, S);
        if (v) joint_bias_direct(joint, q, v, R, bias);
        return;
    }
    REAL R1[9], p1[3], S1[6 * LW_JOINT_MAX_V], b[6];
    joint_pose_direct(joint, q, R1, p1, S1);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[3 * i + j] = R1[3 * j + i];
    r3_turn(R, p1, p);
    for (int k = 0; k < 3; k++) p[k] = -p[k];
    for (int k = 0; k < joint->nv; k++) joint_other_side(R1, p1, S1 + 6 * k, S + 6 * k);
    if (!v) return;
    joint_bias_direct(joint, q, v, R1, b);
    joint_other_side(R1, p1, b, bias);
}

#endif

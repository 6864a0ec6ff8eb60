/* joint.c - joints of every type in one state: their motion (joint_motion.h), the wrenches that they
 * transmit, coordinates from a relative pose, rates of coordinates, properties of coordinates and speeds.
 *
 * The rate of a quaternion may contain a term that drives it towards unit length (lw_joint_rate), so that
 * quaternions stay at unit length in runs whose steps nothing projects. kinematics.c normalises them exactly
 * (lw_normalise_q), after each step of methods that project.
 *
 * Cost     O(1), no allocation.
 */
#include "model/joint.h"

#define LANES 1
#include "model/joint_motion.h"

void lw_joint_motion(const lw_joint *joint, const double *q, const double *v, double R[9], double p[3],
                     double *S, double bias[6]) {
    joint_motion(joint, q, v, R, p, S, bias);
}

/* qdot = q * (0, w) / 2, and if stabilised + |w| (1 - |q|^2) q / 2. The second term is zero for |q| = 1, so
 * that it does not change the motion, but with any integrator it makes errors of the length decay within
 * about a radian of rotation. */
static void quaternion_rate(const double *q, const double *w, bool stabilise, double *qdot) {
    const double pure[4] = {0, w[0], w[1], w[2]};
    lw_quat_mul(q, pure, qdot);
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    double pull = stabilise ? lw_v3_norm(w) * (1 - square) : 0;
    for (int k = 0; k < 4; k++) qdot[k] = 0.5 * (qdot[k] + pull * q[k]);
}

void lw_joint_rate(const lw_joint *joint, const double *q, const double *v, bool stabilise, double *qdot) {
    int at = lw_joint_quaternion(joint->type), plain = at >= 0 ? at : joint->nv;
    for (int k = 0; k < plain; k++) qdot[k] = v[k];
    if (at >= 0) quaternion_rate(q + at, v + at, stabilise, qdot + at);
}

void lw_joint_direction(const lw_joint *joint, int k, double out[3]) {
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    if (d->axes_are_slides) {
        for (int i = 0; i < 3; i++) out[i] = joint->sign * joint->axes[3 * k + i];
        return;
    }
    lw_v3_set(out, 0, 0, 0);
    if (joint->nv == 1)
        out[joint->axis] = joint->sign;
    else
        out[d->axis[k]] = 1;
}

/* Completes the axes of a translation to a basis by unit vectors perpendicular to them, and computes the
 * reciprocal basis, in which the added vectors are unchanged. */
static void reciprocal(const lw_joint *joint, double dual[9]) {
    double a[9];
    memcpy(a, joint->axes, 3 * (size_t)joint->nv * sizeof *a);
    if (joint->nv == 1) lw_v3_perpendicular(a, a + 3);
    if (joint->nv < 3) {
        lw_v3_cross(a, a + 3, a + 6);
        double size = lw_v3_norm(a + 6);
        for (int k = 6; k < 9; k++) a[k] /= size;
    }
    for (int k = 0; k < 3; k++) {
        lw_v3_cross(a + 3 * ((k + 1) % 3), a + 3 * ((k + 2) % 3), dual + 3 * k);
        double volume = lw_v3_dot(a + 3 * k, dual + 3 * k);
        for (int i = 0; i < 3; i++) dual[3 * k + i] /= volume;
    }
}

/* The sign of two successive rotations about the coordinate axes a and b: a x b is this times the third
 * axis. */
static int handedness(int a, int b) { return b == (a + 1) % 3 ? 1 : -1; }

/* Computes the forces of a joint with slides: the forces dual to the slides in the columns at `dual`, and the
 * transmitted forces perpendicular to the slides in the columns at `across`; returns the number of the
 * latter. All columns are zero before. */
static int slide_forces(const lw_joint *joint, const double *q, double *dual, double *across) {
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    double R[9];
    int count = 0;
    if (d->axes_are_slides) {
        double basis[9];
        reciprocal(joint, basis);
        for (int k = 0; k < joint->nv; k++) lw_v3_copy(basis + 3 * k, dual + 6 * k + 3);
        for (int k = joint->nv; k < 3; k++) lw_v3_copy(basis + 3 * k, across + 6 * count++ + 3);
        return count;
    }
    lw_m3_identity(R); /* Rows are axes of the first frame in the second. */
    if (lw_joint_subspace_varies(joint->type)) joint_rotation(joint, q, R);
    bool slid[3] = {false, false, false};
    int last = 0;
    for (int k = 0; k < d->slides; k++) {
        int a = last = joint->nv == 1 ? joint->axis : d->axis[k];
        slid[a] = true;
        for (int i = 0; i < 3; i++) dual[6 * k + 3 + i] = joint->sign * R[3 * a + i];
    }
    for (int k = 1; k < 3; k++) { /* axes after that of the last slide, in cyclic order */
        int a = (last + k) % 3;
        if (!slid[a]) lw_v3_copy(R + 3 * a, across + 6 * count++ + 3);
    }
    return count;
}

void lw_joint_dual(const lw_joint *joint, const double *q, double W[36]) {
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    const int slides = joint->nv < d->slides ? joint->nv : d->slides;
    const int a = joint->nv == 1 ? joint->axis : d->axis[slides < LW_JOINT_MOTIONS ? slides : 0];
    double *turn = W + 6 * slides, *force = W + 6 * joint->nv, *torque;
    memset(W, 0, 36 * sizeof *W);
    if (slides) {
        torque = force + 6 * slide_forces(joint, q, W, force);
    } else {
        for (int k = 0; k < 3; k++) force[7 * k + 3] = 1;
        if (d->screws) force[6 * a + a] = -joint->pitch;
        torque = force + 18;
    }
    if (d->ball) {
        for (int k = 0; k < 3; k++) turn[7 * k] = 1;
    } else if (d->turns == 0) {
        for (int k = 0; k < 3; k++) torque[7 * k] = 1;
    } else if (d->turns == 1) {
        turn[a] = joint->sign;
        torque[a == 2 ? 0 : a + 1] = 1;
        torque[6 + (a == 0 ? 2 : a - 1)] = 1;
    } else { /* In the second body the first axis is cos q e_a + sin q e_third. */
        int second = d->axis[slides + 1], third = 3 - a - second;
        double s = handedness(a, second) * sin(q[slides + 1]), cosine = cos(q[slides + 1]);
        turn[a] = cosine, turn[third] = s;
        turn[6 + second] = 1;
        torque[a] = -s, torque[third] = cosine;
    }
}

/* Lists the coordinate axes along which the joint transmits forces, in the order of lw_joint_dual; returns
 * their number. */
static int kept_positions(const lw_joint_descriptor *d, int out[3]) {
    int count = 0, last = d->slides ? d->axis[d->slides - 1] : 2;
    for (int k = 1; k <= 3; k++) {
        int a = (last + k) % 3;
        bool slid = false;
        for (int i = 0; i < d->slides; i++) slid |= d->axis[i] == a;
        if (!slid) out[count++] = a;
    }
    return count;
}

const char *lw_joint_row_name(const lw_joint *joint, int k) {
    static const char *const positions[3] = {"position x", "position y", "position z"};
    static const char *const rotations[3] = {"rotation x", "rotation y", "rotation z"};
    static const char *const advances[3] = {"advance along x", "advance along y", "advance along z"};
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    if (d->axes_are_slides) {
        int sliding = 3 - joint->nv;
        if (k >= sliding) return rotations[k - sliding];
        return k == 0 ? "position across" : "position across, second";
    }
    int axes[3], count = kept_positions(d, axes);
    if (k < count) return d->screws && axes[k] == d->axis[0] ? advances[axes[k]] : positions[axes[k]];
    k -= count;
    if (d->turns == 2) return "rotation across both axes";
    return rotations[d->turns == 1 ? (d->axis[d->slides] + 1 + k) % 3 : k];
}

/* The angle, with a multiple of 2 pi added so that it is nearest to the guess. A guess that is not finite,
 * left by a trial step that overflowed, is ignored. */
static double nearest_revolution(double angle, double guess) {
    double turns = round((guess - angle) / (2 * LW_PI));
    return isfinite(turns) ? angle + 2 * LW_PI * turns : angle;
}

/* The angle about coordinate axis a of the rotation R, modulo 2 pi nearest to the guess. */
static double angle_about(const double R[9], int a, double guess) {
    int b = (a + 1) % 3, c = (a + 2) % 3;
    return nearest_revolution(atan2(R[3 * c + b] - R[3 * b + c], R[4 * b] + R[4 * c]), guess);
}

static void quaternion_of(const double R[9], double *q) {
    double guess[4];
    memcpy(guess, q, sizeof guess);
    lw_quat_rot(R, q);
    double dot = q[0] * guess[0] + q[1] * guess[1] + q[2] * guess[2] + q[3] * guess[3];
    if (dot < 0)
        for (int k = 0; k < 4; k++) q[k] = -q[k];
}

void lw_joint_fit(const lw_joint *joint, const double R[9], const double p[3], double *q) {
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    if (d->axes_are_slides) {
        double dual[9];
        reciprocal(joint, dual);
        for (int k = 0; k < joint->nv; k++) q[k] = lw_v3_dot(dual + 3 * k, p);
        return;
    }
    const bool single = joint->nv == 1;
    for (int k = 0; k < d->slides; k++) q[k] = single ? joint->sign * p[joint->axis] : p[d->axis[k]];
    double *angles = q + d->slides;
    const int *axis = d->axis + d->slides;
    if (d->ball) {
        quaternion_of(R, angles);
    } else if (d->turns == 1) {
        double sign = single ? joint->sign : 1;
        angles[0] = sign * angle_about(R, single ? joint->axis : axis[0], sign * angles[0]);
    } else if (d->turns == 2) { /* Column b of Ra Rb is Ra e_b, and row a is Rb' e_a. */
        int a = axis[0], b = axis[1], c = 3 - a - b, sense = handedness(a, b);
        angles[0] = nearest_revolution(atan2(sense * R[3 * c + b], R[4 * b]), angles[0]);
        angles[1] = nearest_revolution(atan2(sense * R[3 * a + c], R[4 * a]), angles[1]);
    }
}

void lw_joint_zero(lw_joint_type type, double *q) {
    for (int k = 0; k < LW_JOINT_MAX_Q; k++) q[k] = 0;
    int at = lw_joint_quaternion(type);
    if (at >= 0) q[at] = 1;
}

/* joint.c - what each type of joint does, for one state: motion (joint_motion.h), the wrenches it transmits, its
 * coordinates from a place, rates of coordinates, what its coordinates and speeds are.
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

/* Adds the wrench with torque n and force f as a column of W. */
static void column(double *W, int *count, const double n[3], const double f[3]) {
    double *w = W + 6 * (*count)++;
    for (int k = 0; k < 3; k++) w[k] = n ? n[k] : 0, w[3 + k] = f ? f[k] : 0;
}

static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* A translation's axes completed to a basis by unit vectors across them, and its reciprocal basis: of the
 * added vectors that is they themselves. */
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

void lw_joint_dual(const lw_joint *joint, const double *q, double W[36]) {
    int at = 0;
    const int a = joint->axis, b = (a + 1) % 3, c = (a + 2) % 3;
    double along[3], R[9];
    for (int k = 0; k < 3; k++) along[k] = joint->sign * unit[a][k];
    switch (joint->type) {
    case LW_JOINT_REVOLUTE:
        column(W, &at, along, NULL);
        for (int k = 0; k < 3; k++) column(W, &at, NULL, unit[k]);
        column(W, &at, unit[b], NULL);
        column(W, &at, unit[c], NULL);
        break;
    case LW_JOINT_PRISMATIC:
        column(W, &at, NULL, along);
        column(W, &at, NULL, unit[b]);
        column(W, &at, NULL, unit[c]);
        for (int k = 0; k < 3; k++) column(W, &at, unit[k], NULL);
        break;
    case LW_JOINT_SCREW: {
        const double back[3] = {0, 0, -joint->pitch};
        column(W, &at, unit[2], NULL);
        column(W, &at, NULL, unit[0]);
        column(W, &at, NULL, unit[1]);
        column(W, &at, back, unit[2]);
        column(W, &at, unit[0], NULL);
        column(W, &at, unit[1], NULL);
        break;
    }
    case LW_JOINT_CYLINDRICAL:
        column(W, &at, NULL, unit[2]);
        column(W, &at, unit[2], NULL);
        column(W, &at, NULL, unit[0]);
        column(W, &at, NULL, unit[1]);
        column(W, &at, unit[0], NULL);
        column(W, &at, unit[1], NULL);
        break;
    case LW_JOINT_UNIVERSAL: {
        double s = sin(q[1]), cosine = cos(q[1]);
        const double first[3] = {cosine, 0, s}, across[3] = {-s, 0, cosine};
        column(W, &at, first, NULL);
        column(W, &at, unit[1], NULL);
        for (int k = 0; k < 3; k++) column(W, &at, NULL, unit[k]);
        column(W, &at, across, NULL);
        break;
    }
    case LW_JOINT_SPHERICAL:
        for (int k = 0; k < 3; k++) column(W, &at, unit[k], NULL);
        for (int k = 0; k < 3; k++) column(W, &at, NULL, unit[k]);
        break;
    case LW_JOINT_PLANAR: {
        double s = sin(q[2]), cosine = cos(q[2]);
        const double x[3] = {cosine, -s, 0}, y[3] = {s, cosine, 0};
        column(W, &at, NULL, x);
        column(W, &at, NULL, y);
        column(W, &at, unit[2], NULL);
        column(W, &at, NULL, unit[2]);
        column(W, &at, unit[0], NULL);
        column(W, &at, unit[1], NULL);
        break;
    }
    case LW_JOINT_TRANSLATION: {
        double dual[9];
        reciprocal(joint, dual);
        for (int k = 0; k < 3; k++) column(W, &at, NULL, dual + 3 * k);
        for (int k = 0; k < 3; k++) column(W, &at, unit[k], NULL);
        break;
    }
    case LW_JOINT_FREE:
        lw_rot_quat(q + 3, R);
        for (int k = 0; k < 3; k++) column(W, &at, NULL, R + 3 * k); /* R'e_k */
        for (int k = 0; k < 3; k++) column(W, &at, unit[k], NULL);
        break;
    case LW_JOINT_WELD:
    case LW_JOINT_TYPES:
        for (int k = 0; k < 3; k++) column(W, &at, NULL, unit[k]);
        for (int k = 0; k < 3; k++) column(W, &at, unit[k], NULL);
        break;
    }
}

const char *lw_joint_row_name(const lw_joint *joint, int k) {
    static const char *const names[LW_JOINT_TYPES][6] = {
        [LW_JOINT_REVOLUTE] = {"position x", "position y", "position z", "rotation x", "rotation y"},
        [LW_JOINT_PRISMATIC] = {"position x", "position y", "rotation x", "rotation y", "rotation z"},
        [LW_JOINT_SCREW] = {"position x", "position y", "advance along z", "rotation x", "rotation y"},
        [LW_JOINT_CYLINDRICAL] = {"position x", "position y", "rotation x", "rotation y"},
        [LW_JOINT_UNIVERSAL] = {"position x", "position y", "position z", "rotation across both axes"},
        [LW_JOINT_SPHERICAL] = {"position x", "position y", "position z"},
        [LW_JOINT_PLANAR] = {"position z", "rotation x", "rotation y"},
        [LW_JOINT_WELD] = {"position x", "position y", "position z", "rotation x", "rotation y",
                           "rotation z"},
    };
    static const char *const rotations[3] = {"rotation x", "rotation y", "rotation z"};
    if (joint->type != LW_JOINT_TRANSLATION) return names[joint->type][k];
    int sliding = 3 - joint->nv;
    if (k >= sliding) return rotations[k - sliding];
    return sliding == 1 ? "position across" : k == 0 ? "position across" : "position across, second";
}

/* The angle in the turn nearest to the guess. A guess that is no number, left by a trial step that overflowed, counts
 * for nothing. */
static double nearest_turn(double angle, double guess) {
    double turns = round((guess - angle) / (2 * LW_PI));
    return isfinite(turns) ? angle + 2 * LW_PI * turns : angle;
}

/* The angle about coordinate axis a of the rotation R, in the turn nearest to the guess. */
static double angle_about(const double R[9], int a, double guess) {
    int b = (a + 1) % 3, c = (a + 2) % 3;
    return nearest_turn(atan2(R[3 * c + b] - R[3 * b + c], R[4 * b] + R[4 * c]), guess);
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
    double dual[9];
    switch (joint->type) {
    case LW_JOINT_REVOLUTE:
        q[0] = joint->sign * angle_about(R, joint->axis, joint->sign * q[0]);
        break;
    case LW_JOINT_PRISMATIC:
        q[0] = joint->sign * p[joint->axis];
        break;
    case LW_JOINT_SCREW:
        q[0] = angle_about(R, 2, q[0]);
        break;
    case LW_JOINT_CYLINDRICAL:
        q[0] = p[2];
        q[1] = angle_about(R, 2, q[1]);
        break;
    case LW_JOINT_UNIVERSAL: /* Rx(q0) Ry(q1): second column (0, cos q0, sin q0), first row (cos q1, 0, sin q1) */
        q[0] = nearest_turn(atan2(R[7], R[4]), q[0]);
        q[1] = nearest_turn(atan2(R[2], R[0]), q[1]);
        break;
    case LW_JOINT_SPHERICAL:
        quaternion_of(R, q);
        break;
    case LW_JOINT_PLANAR:
        q[0] = p[0], q[1] = p[1];
        q[2] = angle_about(R, 2, q[2]);
        break;
    case LW_JOINT_TRANSLATION:
        reciprocal(joint, dual);
        for (int k = 0; k < joint->nv; k++) q[k] = lw_v3_dot(dual + 3 * k, p);
        break;
    case LW_JOINT_FREE:
        lw_v3_copy(p, q);
        quaternion_of(R, q + 3);
        break;
    case LW_JOINT_WELD:
    case LW_JOINT_TYPES:
        break;
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

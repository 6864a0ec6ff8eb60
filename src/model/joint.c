/* joint.c - what each type of joint does, for one state: motion (joint_motion.h), rates of coordinates, what
 * its coordinates and speeds are.
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

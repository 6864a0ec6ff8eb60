/* joint.h - the functions of a joint: pose, motion subspace and bias, in the frame of its second body. All of
 * them follow from the descriptor of the joint's type (joint_types.h).
 */
#ifndef LW_JOINT_H
#define LW_JOINT_H

#include "model/compiled_model.h"

/* Pose (R, p) of the child's joint frame in the parent's, the motion subspace S (6 per speed, child's axes)
 * and, unless v is NULL, the bias S° v: the part of the joint's relative acceleration that depends on speeds
 * only. */
void lw_joint_motion(const lw_joint *joint, const double *q, const double *v, double R[9], double p[3],
                     double *S, double bias[6]);
/* qdot from q and v. stabilise adds a term that drives quaternions towards unit length and vanishes there. */
void lw_joint_rate(const lw_joint *joint, const double *q, const double *v, bool stabilise, double *qdot);
/* Six wrenches on the second body (torque; force, in its axes), the columns of W: the first nv are dual to S,
 * W_k'S_l = delta_kl; the other 6 - nv are transmitted by the joint, W_k'S = 0, forces before torques. Except
 * for the screw, each is either a force or a torque; the transmitted ones have unit vectors perpendicular to
 * each other. For joints that are not inverse. */
void lw_joint_dual(const lw_joint *joint, const double *q, double W[36]);
/* The name of row k (0 .. 5 - nv) of a joint: "position x", "rotation z", in the joint's axes. */
const char *lw_joint_row_name(const lw_joint *joint, int k);
/* The coordinates whose pose comes closest to (R, p). q holds a guess, which selects the revolution of angles
 * and the sign of quaternions. For joints that are not inverse. */
void lw_joint_fit(const lw_joint *joint, const double R[9], const double p[3], double *q);
/* q of zero displacement. */
void lw_joint_zero(lw_joint_type type, double *q);
/* The direction of slide or turn k, k < nv, as a unit vector in the axes of the joint's frame on its first
 * body while all coordinates are zero. Not for the speeds of a ball. */
void lw_joint_direction(const lw_joint *joint, int k, double out[3]);

#endif

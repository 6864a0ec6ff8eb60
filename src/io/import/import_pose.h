/* import_pose.h - poses as other formats give them, inertias in turned axes, and the geometry of joints.
 */
#ifndef LW_IMPORT_POSE_H
#define LW_IMPORT_POSE_H

#include "linalg/vec3.h"
#include "model/compiled_model.h"

#include <linkwork/spec.h>

/* The identity; roll, pitch, yaw about fixed axes, R = Rz(yaw) Ry(pitch) Rx(roll); poses one within the
 * other. */
lw_pose lw_pose_none(void);
void lw_rot_rpy(const double rpy[3], double R[9]);
lw_pose lw_pose_rpy(const double xyz[3], const double rpy[3]);
lw_pose lw_pose_in(const lw_pose *outer, const lw_pose *inner);
/* inner such that outer with inner in it is whole. */
lw_pose lw_pose_between(const lw_pose *outer, const lw_pose *whole);
bool lw_pose_is_none(const lw_pose *pose);
/* The shortest rotation that takes z to a unit vector. */
void lw_rot_z_to(const double axis[3], double R[9]);

/* A pose as position and quaternion; no rotation is all zeros. */
void lw_pose_parts(const lw_pose *pose, double position[3], double rotation[4]);

/* Mass properties of a body frame from those of an inertial frame in it: centre of mass at its origin,
 * inertia xx, yy, zz, xy, xz, yz in its axes. */
void lw_inertia_in(const lw_pose *inertial, const double inertia[6], double com[3], double out[6]);

/* Adds the mass properties of a part, given in its own frame, to a body. */
void lw_inertia_add(lw_body_spec *body, double mass, const double com[3], const double inertia[6],
                    const lw_pose *pose);

/* The geometry of a joint in the frames of its two bodies, from the pose of the joint's frame on each side
 * and the directions in that frame: the axis or normal (unit vectors) for joints that have one, both axes of
 * a universal joint. Joints without axes have those of the frame. x: the x direction of a planar joint; NULL:
 * any. */
void lw_import_geometry(lw_joint_spec *joint, const lw_pose *first, const lw_pose *second,
                        const double axis[3], const double *second_axis, const double *x);

#endif

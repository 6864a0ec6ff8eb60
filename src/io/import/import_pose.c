/* import_pose.c - poses as other formats give them, inertias in turned axes, and the geometry of joints.
 *
 * The joints of all these formats have a frame on each body, the two of which coincide where the coordinates
 * are zero. A spec asks for an axis and a direction x that is perpendicular to it, in the frame of each body;
 * x is chosen in the joint's frame and carried to both sides, so that zero is where the format has it.
 */
#include "io/import/import_pose.h"

#include <string.h>

lw_pose lw_pose_none(void) {
    lw_pose pose = {.p = {0, 0, 0}};
    lw_m3_identity(pose.R);
    return pose;
}

void lw_rot_rpy(const double rpy[3], double R[9]) {
    const double cr = cos(rpy[0]), sr = sin(rpy[0]), cp = cos(rpy[1]), sp = sin(rpy[1]), cy = cos(rpy[2]),
                 sy = sin(rpy[2]);
    R[0] = cy * cp, R[1] = cy * sp * sr - sy * cr, R[2] = cy * sp * cr + sy * sr;
    R[3] = sy * cp, R[4] = sy * sp * sr + cy * cr, R[5] = sy * sp * cr - cy * sr;
    R[6] = -sp, R[7] = cp * sr, R[8] = cp * cr;
}

lw_pose lw_pose_rpy(const double xyz[3], const double rpy[3]) {
    lw_pose pose;
    lw_rot_rpy(rpy, pose.R);
    lw_v3_copy(xyz, pose.p);
    return pose;
}

lw_pose lw_pose_in(const lw_pose *outer, const lw_pose *inner) {
    lw_pose pose;
    lw_pose_compose(outer->R, outer->p, inner->R, inner->p, pose.R, pose.p);
    return pose;
}

lw_pose lw_pose_between(const lw_pose *outer, const lw_pose *whole) {
    lw_pose inverse;
    lw_pose_invert(outer->R, outer->p, inverse.R, inverse.p);
    return lw_pose_in(&inverse, whole);
}

bool lw_pose_is_none(const lw_pose *pose) {
    const lw_pose none = lw_pose_none();
    for (int k = 0; k < 9; k++)
        if (pose->R[k] != none.R[k]) return false;
    return pose->p[0] == 0 && pose->p[1] == 0 && pose->p[2] == 0;
}

void lw_rot_z_to(const double axis[3], double R[9]) {
    const double z[3] = {0, 0, 1};
    double turn[3];
    lw_v3_cross(z, axis, turn);
    const double sine = lw_v3_norm(turn);
    if (sine < 1e-14) { /* parallel; the other way round it turns about x */
        lw_m3_identity(R);
        if (axis[2] < 0) R[4] = R[8] = -1;
        return;
    }
    for (int k = 0; k < 3; k++) turn[k] /= sine;
    lw_rot_axis(turn, atan2(sine, axis[2]), R);
}

void lw_pose_parts(const lw_pose *pose, double position[3], double rotation[4]) {
    const lw_pose none = lw_pose_none();
    lw_v3_copy(pose->p, position);
    memset(rotation, 0, 4 * sizeof *rotation);
    for (int k = 0; k < 9; k++)
        if (pose->R[k] != none.R[k]) {
            lw_quat_rot(pose->R, rotation);
            return;
        }
}

void lw_inertia_in(const lw_pose *inertial, const double inertia[6], double com[3], double out[6]) {
    lw_v3_copy(inertial->p, com);
    const lw_pose none = lw_pose_none();
    if (memcmp(none.R, inertial->R, sizeof none.R) == 0)
        memcpy(out, inertia, 6 * sizeof *out);
    else
        lw_s3_rotate(inertial->R, inertia, out);
}

/* Adds to an inertia about c that of a mass whose centre is elsewhere, by the theorem of parallel axes. */
static void add_about(const double c[3], double mass, const double com[3], const double own[6],
                      double inertia[6]) {
    double d[3];
    lw_v3_sub(com, c, d);
    const double square = lw_v3_dot(d, d);
    for (int k = 0; k < 3; k++) inertia[k] += own[k] + mass * (square - d[k] * d[k]);
    inertia[3] += own[3] - mass * d[0] * d[1];
    inertia[4] += own[4] - mass * d[0] * d[2];
    inertia[5] += own[5] - mass * d[1] * d[2];
}

void lw_inertia_add(lw_body_spec *body, double mass, const double com[3], const double inertia[6],
                    const lw_pose *pose) {
    double centre[3], moments[6], both[3] = {0, 0, 0}, sum[6] = {0, 0, 0, 0, 0, 0};
    lw_pose_point(pose->R, pose->p, com, centre);
    lw_s3_rotate(pose->R, inertia, moments);
    const double total = body->mass + mass;
    for (int k = 0; k < 3 && total > 0; k++) both[k] = (body->mass * body->com[k] + mass * centre[k]) / total;
    add_about(both, body->mass, body->com, body->inertia, sum);
    add_about(both, mass, centre, moments, sum);
    body->mass = total;
    lw_v3_copy(both, body->com);
    memcpy(body->inertia, sum, sizeof sum);
}

static void put_axes(lw_joint_geometry *geometry, const lw_pose *frame, const double (*axes)[3], int count) {
    lw_v3_copy(frame->p, geometry->point);
    geometry->axis_count = count;
    for (int k = 0; k < count; k++) lw_m3_mul_v(frame->R, axes[k], geometry->axes[k]);
}

void lw_import_geometry(lw_joint_spec *joint, const lw_pose *first, const lw_pose *second,
                        const double axis[3], const double *second_axis, const double *x) {
    double axes[2][3] = {{0, 0, 1}, {1, 0, 0}};
    const bool own =
        joint->type == LW_JOINT_WELD || joint->type == LW_JOINT_SPHERICAL || joint->type == LW_JOINT_FREE;
    if (!own) {
        lw_v3_copy(axis, axes[0]);
        if (second_axis)
            lw_v3_copy(second_axis, axes[1]);
        else if (x)
            lw_v3_copy(x, axes[1]);
        else
            lw_v3_perpendicular(axis, axes[1]);
    }
    joint->frame = LW_GEOMETRY_BODY;
    if (joint->type == LW_JOINT_FREE) { /* It begins where the frames coincide, whatever poses bodies have. */
        joint->has_q = true;
        joint->q[3] = 1;
    }
    put_axes(&joint->geometry[0], first, (const double(*)[3])axes, 2);
    put_axes(&joint->geometry[1], second, (const double(*)[3])axes, 2);
}

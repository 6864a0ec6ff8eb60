/* mjcf_joints.c - joints of MJCF as joints of a spec.
 *
 * The joints of a body act one after the other: joint k moves the body's frame B_k relative to B_{k-1}, about
 * or along an axis and through a point that have the same coordinates in both, and all B_k coincide in the
 * drawn configuration. One joint of a spec takes the place of several where they are exactly such a joint:
 *
 *     slide, slide [, slide]              translation
 *     slide, slide, hinge                 planar,      if the axes are perpendicular and right-handed
 *     slide, hinge                        cylindrical, if the axes are one
 *     hinge, hinge                        universal,   if the axes are perpendicular and meet
 *     slide x, slide y, slide z, ball     free
 *
 * with coordinates in the same order. Otherwise there are bodies without mass in between, called BODY.JOINT.
 *
 * Coordinates are MuJoCo's: ref is the spec's zero. A ball's quaternion and a free body's pose, and their
 * speeds, mean the same in both.
 */
#include "io/import/mjcf/mjcf.h"

#include "model/joint_types.h"

#include <stdio.h>
#include <string.h>

static const double rounding = 1e-14; /* Axes that were normalised are perpendicular to this. */

static bool perpendicular(const double a[3], const double b[3]) { return fabs(lw_v3_dot(a, b)) < rounding; }

static bool same(const double a[3], const double b[3]) {
    double d[3];
    lw_v3_sub(a, b, d);
    return lw_v3_norm(d) < rounding;
}

/* May the joint become part of a free joint, which has neither zero, limits nor armature? */
static bool is_plain(const mj_joint *joint) {
    return joint->ref == 0 && joint->armature == 0 && !joint->limited;
}

/* The joint type that these joints of one body make together, and its point; LW_JOINT_TYPES if there is
 * none. */
static lw_joint_type together(const mj_joint *j, int count, double point[3]) {
    double d[3], normal[3];
    lw_v3_copy(j[count - 1].pos, point);
    if (count < 2 || count > 4) return LW_JOINT_TYPES;
    int slides = 0;
    while (slides < count && j[slides].type == MJ_SLIDE) slides++;
    for (int a = 0; a < slides; a++)
        for (int b = 0; b < a; b++)
            if (!perpendicular(j[a].axis, j[b].axis)) return LW_JOINT_TYPES;
    if (slides == count && count <= 3) return LW_JOINT_TRANSLATION;
    if (slides == 3 && count == 4 && j[3].type == MJ_BALL) {
        static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
        const bool straight = same(j[0].axis, x) && same(j[1].axis, y) && same(j[2].axis, z);
        for (int k = 0; k < 4; k++)
            if (!is_plain(&j[k])) return LW_JOINT_TYPES;
        return straight ? LW_JOINT_FREE : LW_JOINT_TYPES;
    }
    if (j[count - 1].type != MJ_HINGE) return LW_JOINT_TYPES;
    if (slides == 2 && count == 3) {
        lw_v3_cross(j[0].axis, j[1].axis, normal);
        return same(normal, j[2].axis) ? LW_JOINT_PLANAR : LW_JOINT_TYPES;
    }
    if (slides == 1 && count == 2) return same(j[0].axis, j[1].axis) ? LW_JOINT_CYLINDRICAL : LW_JOINT_TYPES;
    if (slides == 0 && count == 2 && j[0].type == MJ_HINGE && perpendicular(j[0].axis, j[1].axis)) {
        lw_v3_sub(j[1].pos, j[0].pos, d);
        lw_v3_cross(j[0].axis, j[1].axis, normal);
        if (fabs(lw_v3_dot(d, normal)) > rounding * lw_v3_norm(d)) return LW_JOINT_TYPES;
        lw_v3_copy(j[0].pos, point);
        lw_v3_axpy(lw_v3_dot(d, j[0].axis), j[0].axis, point);
        return LW_JOINT_UNIVERSAL;
    }
    return LW_JOINT_TYPES;
}

/* The axes of translations, and the frames of a bushing, which is a ball's spring, are those of the drawn
 * poses. */
bool mj_needs_poses(const mj_reader *reader) {
    for (int k = 0; k < reader->joints.count; k++) {
        const mj_joint *joint = MJ_JOINT(reader, k);
        if (joint->type > MJ_SLIDE && (joint->stiffness[0] != 0 || joint->springdamper[0] > 0)) return true;
    }
    for (int k = 1; k < reader->bodies.count; k++) {
        const mj_body *body = MJ_BODY(reader, k);
        double point[3];
        if (body->joint_count > 0 &&
            together(MJ_JOINT(reader, body->first_joint), body->joint_count, point) == LW_JOINT_TRANSLATION)
            return true;
    }
    return false;
}

/* The armature a of a free joint, or of a ball that stands on the ground, adds a to the diagonal of the mass
 * matrix and nothing else. So does a body of mass a (a free joint's only) at the origin of the body's frame
 * with the moments a about all axes: its kinetic energy is a |v|^2 / 2 + a |omega|^2 / 2 with the speeds of
 * the joint, which has no velocity terms as its moments are equal. A force bears its weight. On a moving body
 * a ball's speeds are relative ones, and there is no such body. */
static void add_rotor(mj_reader *reader, const mj_joint *joint, const char *carrier) {
    lw_importer *importer = reader->importer;
    const mj_body *body = MJ_BODY(reader, joint->body);
    const double a = joint->armature;
    const lw_pose none = lw_pose_none();
    static const double z[3] = {0, 0, 1};
    lw_body_spec rotor = {.name = lw_import_own_name(importer, &importer->bodies,
                                                     lw_import_print(importer, "%.120s.rotor", carrier)),
                          .mass = joint->type == MJ_FREE ? a : 0,
                          .inertia = {a, a, a, 0, 0, 0},
                          .place = joint->node->place};
    mj_give_pose(reader, body, &rotor);
    lw_import_add_body(importer, &rotor);
    lw_joint_spec weld = {.name = lw_import_own_name(importer, &importer->joints, rotor.name),
                          .type = LW_JOINT_WELD,
                          .bodies = {carrier, rotor.name},
                          .place = joint->node->place};
    lw_import_geometry(&weld, &none, &none, z, NULL, NULL);
    lw_import_add_joint(importer, &weld);
    lw_force_spec lift = {.name =
                              lw_import_own_name(importer, &importer->forces,
                                                 lw_import_print(importer, "%.120s.weightless", rotor.name)),
                          .type = LW_FORCE_APPLIED,
                          .bodies = {rotor.name, LW_GROUND},
                          .frame = LW_GEOMETRY_BODY,
                          .place = joint->node->place};
    bool any = false;
    for (int k = 0; k < 3; k++) {
        if (rotor.mass * reader->gravity[k] == 0) continue;
        lift.force[k] = mj_digits(reader, -rotor.mass * reader->gravity[k]);
        any = true;
    }
    if (any) lw_import_add_force(importer, &lift);
    lw_import_note_of(importer, joint->node->place, "armature of free joints, and of balls on the ground",
                      "a body NAME.rotor without weight: the motion is MuJoCo's; mass and energy count it");
}

/* What one coordinate of a joint has of its own. */
static void give_coordinate(mj_reader *reader, lw_joint_spec *spec, int coordinate, const mj_joint *joint) {
    if (joint->type > MJ_SLIDE) {
        const mj_body *parent = MJ_BODY(reader, MJ_BODY(reader, joint->body)->parent);
        const bool free = joint->type == MJ_FREE && !joint->aligned;
        const bool ball =
            joint->type == MJ_BALL && strcmp(spec->bodies[0], LW_GROUND) == 0 && parent->host == 0;
        if (joint->armature > 0 && coordinate == 0 && (free || ball))
            add_rotor(reader, joint, spec->bodies[1]);
        else if (joint->armature > 0)
            lw_import_note_of(reader->importer, joint->node->place, "armature of balls on moving bodies",
                              "left out: these joints accelerate as if they had no rotors");
        if (joint->limited)
            lw_import_note_of(reader->importer, joint->node->place, "limits of ball joints",
                              "they are not kept: the ball turns freely");
        return;
    }
    spec->armature[coordinate] = joint->armature;
    spec->zero[coordinate] = joint->ref;
    if (joint->limited && !reader->no_limit) {
        spec->limits[coordinate][0] = joint->range[0];
        spec->limits[coordinate][1] = joint->range[1];
        lw_import_note_of(reader->importer, joint->node->place, "ranges of joints",
                          "kept as limits: a run notes where one is passed, but nothing stops the joint");
    }
}

static lw_joint_type single(mj_joint_type type) {
    return type == MJ_SLIDE  ? LW_JOINT_PRISMATIC
           : type == MJ_BALL ? LW_JOINT_SPHERICAL
           : type == MJ_FREE ? LW_JOINT_FREE
                             : LW_JOINT_REVOLUTE;
}

/* The frame of joints at a point on the parent's side: the body's drawn pose with the point in it. */
static lw_pose at_point(const lw_pose *body, const double point[3]) {
    lw_pose pose = *body;
    lw_pose_point(body->R, body->p, point, pose.p);
    return pose;
}

/* Adds a joint of the spec for count joints of a body, between two of its frames. first: the drawn pose of
 * the body's frame in the body on the first side. */
static void add_joint(mj_reader *reader, lw_joint_type type, int index, int count, const double point[3],
                      const char *name, const char *const bodies[2], const lw_pose *first) {
    const mj_joint *joints = MJ_JOINT(reader, index);
    lw_joint_spec spec = {.type = type, .bodies = {bodies[0], bodies[1]}, .place = joints->node->place};
    const lw_pose none = lw_pose_none(), a = at_point(first, point), b = at_point(&none, point);
    spec.name = name;
    if (type == LW_JOINT_TRANSLATION) {
        spec.frame = LW_GEOMETRY_BODY;
        lw_v3_copy(a.p, spec.geometry[0].point);
        lw_v3_copy(b.p, spec.geometry[1].point);
        spec.geometry[0].axis_count = count;
        for (int k = 0; k < count; k++) lw_m3_mul_v(a.R, joints[k].axis, spec.geometry[0].axes[k]);
    } else if (type == LW_JOINT_PLANAR)
        lw_import_geometry(&spec, &a, &b, joints[2].axis, NULL, joints[0].axis);
    else if (type == LW_JOINT_UNIVERSAL)
        lw_import_geometry(&spec, &a, &b, joints[0].axis, joints[1].axis, NULL);
    else if (joints->type == MJ_FREE) {
        /* Its coordinates are the pose of the body in the world, not beside the drawn one. */
        lw_import_geometry(&spec, &none, &none, joints->axis, NULL, NULL);
        spec.has_q = true;
        lw_v3_copy(first->p, spec.q);
        lw_quat_rot(first->R, spec.q + 3);
    } else
        lw_import_geometry(&spec, &a, &b, joints->axis, NULL, NULL);
    for (int k = 0; k < count; k++) {
        mj_joint *joint = MJ_JOINT(reader, index + k);
        give_coordinate(reader, &spec, k, joint);
        joint->spec_joint = spec.name;
        joint->spec_type = type;
        joint->coordinate = k;
    }
    lw_import_add_joint(reader->importer, &spec);
}

/* The name of a joint that several make: what their names have in common before a last dot, NAME.x, NAME.y,
 * or that of the body. */
static const char *common_name(mj_reader *reader, const mj_body *body) {
    const mj_joint *first = MJ_JOINT(reader, body->first_joint);
    const char *dot = first->named ? strrchr(first->name, '.') : NULL;
    const size_t length = dot ? (size_t)(dot - first->name) : 0;
    for (int k = 1; k < body->joint_count && length > 0; k++) {
        const mj_joint *joint = MJ_JOINT(reader, body->first_joint + k);
        if (!joint->named || strncmp(joint->name, first->name, length + 1) != 0) return body->name;
    }
    return length > 0 ? lw_import_print(reader->importer, "%.*s", (int)length, first->name) : body->name;
}

/* The joints of one body: one of the spec if that is what they are, or a chain. */
static void make_chain(mj_reader *reader, int k) {
    lw_importer *importer = reader->importer;
    const mj_body *body = MJ_BODY(reader, k), *parent = MJ_BODY(reader, body->parent);
    const lw_pose local = lw_pose_in(&parent->in_host, &body->local), none = lw_pose_none();
    const char *from = MJ_BODY(reader, parent->host)->spec_name;
    const int count = body->joint_count, index = body->first_joint;
    double point[3];
    const lw_joint_type type = together(MJ_JOINT(reader, index), count, point);
    if (type != LW_JOINT_TYPES) {
        add_joint(reader, type, index, count, point,
                  lw_import_own_name(importer, &importer->joints, common_name(reader, body)),
                  (const char *[]){from, body->spec_name}, &local);
        return;
    }
    for (int i = 0; i < count; i++) {
        const mj_joint *joint = MJ_JOINT(reader, index + i);
        const char *to = body->spec_name;
        char name[300];
        (void)snprintf(name, sizeof name, count > 1 ? "%.120s.%d" : "%.120s", body->name, i + 1);
        const char *own = joint->named ? lw_import_name(importer, &importer->joints, joint->name,
                                                        joint->node->place, "joint")
                                       : lw_import_own_name(importer, &importer->joints, name);
        if (i < count - 1) {
            (void)snprintf(name, sizeof name, "%.120s.%.120s", body->name, own);
            to = lw_import_own_name(importer, &importer->bodies, name);
            lw_body_spec between = {.name = to, .place = body->node->place};
            mj_give_pose(reader, body, &between);
            lw_import_add_body(importer, &between);
        }
        add_joint(reader, single(joint->type), index + i, 1, joint->pos, own, (const char *[]){from, to},
                  i == 0 ? &local : &none);
        from = to;
    }
}

/* A body that stays though it has no joint: on a weld. */
static void make_weld(mj_reader *reader, int k) {
    lw_importer *importer = reader->importer;
    const mj_body *body = MJ_BODY(reader, k), *parent = MJ_BODY(reader, body->parent);
    const lw_pose local = lw_pose_in(&parent->in_host, &body->local), none = lw_pose_none();
    static const double z[3] = {0, 0, 1};
    lw_joint_spec weld = {.name = lw_import_own_name(importer, &importer->joints, body->name),
                          .type = LW_JOINT_WELD,
                          .bodies = {MJ_BODY(reader, parent->host)->spec_name, body->spec_name},
                          .place = body->node->place};
    lw_import_geometry(&weld, &local, &none, z, NULL, NULL);
    lw_import_add_joint(importer, &weld);
}

void mj_make_joints(mj_reader *reader) {
    /* Names that the file gives come before those that are made up. */
    for (int k = 1; k < reader->bodies.count; k++) {
        const mj_body *body = MJ_BODY(reader, k);
        if (body->host != k) continue;
        if (body->joint_count > 0)
            make_chain(reader, k);
        else
            make_weld(reader, k);
    }
}

const char *mj_quantity(mj_reader *reader, const mj_joint *joint, const char *what) {
    const lw_joint_descriptor *type = lw_joint_describe(joint->spec_type);
    const bool several = lw_joint_type_v(joint->spec_type, 1) > 1 || joint->spec_type == LW_JOINT_TRANSLATION;
    const int column = what[0] == 'q' ? 0 : 1;
    const char *name = several ? type->names[joint->coordinate].columns[column] : what;
    return lw_import_print(reader->importer, "'%s'.%s", joint->spec_joint, name);
}

/* simscape_joints.c - joints between frames of parts, as Onshape and Inventor have them.
 *
 * A joint has a frame on each part, <BaseFrame> and <FollowerFrame>; where its coordinates are zero the two
 * coincide. It turns about z, and slides along it; a planar joint slides along x and y. The coordinates of
 * the drawn position are those of the follower's frame in the base's, which must lie within what the joint
 * lets move: if not, the file is not understood, and nothing is guessed.
 */
#include "io/import/simscape/simscape.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    lw_joint_type type;
} types[] = {{"Weld", LW_JOINT_WELD},           {"Revolute", LW_JOINT_REVOLUTE},
             {"Prismatic", LW_JOINT_PRISMATIC}, {"Cylindrical", LW_JOINT_CYLINDRICAL},
             {"Planar", LW_JOINT_PLANAR},       {"Spherical", LW_JOINT_SPHERICAL},
             {"SixDof", LW_JOINT_FREE}};
enum { TYPES = sizeof types / sizeof *types };

/* How far the drawn frames are from what the joint allows, in rad and m. */
static double misfit(lw_joint_type type, const lw_pose *d) {
    const double *R = d->R, *p = d->p;
    const double tilt = sqrt(R[2] * R[2] + R[5] * R[5]), side = sqrt(p[0] * p[0] + p[1] * p[1]);
    double turn = 0;
    for (int k = 0; k < 9; k++) turn = fmax(turn, fabs(R[k] - (k % 4 == 0)));
    if (R[8] < 0 && (type == LW_JOINT_REVOLUTE || type == LW_JOINT_CYLINDRICAL || type == LW_JOINT_PLANAR))
        return 2; /* The axes are opposite. */
    switch (type) {
    case LW_JOINT_WELD:
        return fmax(turn, lw_v3_norm(p));
    case LW_JOINT_REVOLUTE:
        return fmax(tilt, lw_v3_norm(p));
    case LW_JOINT_PRISMATIC:
        return fmax(turn, side);
    case LW_JOINT_CYLINDRICAL:
        return fmax(tilt, side);
    case LW_JOINT_PLANAR:
        return fmax(tilt, fabs(p[2]));
    case LW_JOINT_SPHERICAL:
        return lw_v3_norm(p);
    default:
        return 0;
    }
}

/* Coordinates of the drawn position. Where they count from another one (zero), the joint's frames are drawn
 * as one: with the axes of the base's and the origin of the follower's. A ball's begin where it is drawn. */
static void give_coordinates(lw_joint_spec *joint, const lw_pose *d, lw_pose frames[2]) {
    const double angle = atan2(d->R[3], d->R[0]);
    if (joint->type == LW_JOINT_SPHERICAL || joint->type == LW_JOINT_FREE) {
        const bool free = joint->type == LW_JOINT_FREE;
        const lw_pose none = lw_pose_none();
        joint->has_q = free || memcmp(none.R, d->R, sizeof none.R) != 0;
        if (free) lw_v3_copy(d->p, joint->q);
        lw_quat_rot(d->R, joint->q + (free ? 3 : 0));
        return;
    }
    switch (joint->type) {
    case LW_JOINT_REVOLUTE:
        joint->zero[0] = angle;
        break;
    case LW_JOINT_PRISMATIC:
        joint->zero[0] = d->p[2];
        break;
    case LW_JOINT_CYLINDRICAL:
        joint->zero[0] = d->p[2], joint->zero[1] = angle;
        break;
    default: /* planar */
        joint->zero[0] = d->p[0], joint->zero[1] = d->p[1], joint->zero[2] = angle;
        break;
    }
    lw_v3_copy(frames[1].p, frames[0].p);
    frames[1] = frames[0];
}

static void add_joint(lw_simscape *cad, const lw_xml *e, int assembly, bool welds) {
    lw_importer *importer = cad->importer;
    const char *given = lw_xml_get(e, "name");
    const char *object = lw_import_print(importer, "joint \"%.90s\"", given ? given : e->name);
    const lw_xml *sides[2] = {lw_xml_child(e, "BaseFrame"), lw_xml_child(e, "FollowerFrame")};
    int kind = 0, parts[2] = {-1, -1};
    while (kind < TYPES && strcmp(types[kind].name, e->name) != 0) kind++;
    if (kind == TYPES) {
        if (welds)
            lw_import_fault(importer, e->place, object,
                            "give a weld, revolute, prismatic, cylindrical, planar or spherical joint",
                            "joints of the type %.60s are not read", e->name);
        return;
    }
    if ((types[kind].type == LW_JOINT_WELD) != welds) return;
    lw_pose frames[2];
    for (int side = 0; side < 2; side++) {
        if (!sides[side]) {
            lw_import_fault(importer, e->place, object, "export the assembly again", "<%s> is missing",
                            side ? "FollowerFrame" : "BaseFrame");
            return;
        }
        parts[side] = lw_simscape_part(cad, sides[side], assembly, object);
        const lw_pose own = lw_simscape_pose(cad, sides[side], object);
        if (parts[side] < 0) return;
        frames[side] = lw_pose_in(&cad->instances[parts[side]].world, &own);
    }
    if (parts[0] == parts[1]) {
        lw_import_fault(importer, e->place, object, "name two different instances",
                        "it joins a part to itself");
        return;
    }
    const char *name = given && given[0] ? given : lw_import_print(importer, "%s.%s", e->name, "joint");
    if (assembly >= 0) name = lw_import_print(importer, "%s/%s", cad->instances[assembly].name, name);
    const lw_pose d = lw_pose_between(&frames[0], &frames[1]);
    const double off = misfit(types[kind].type, &d);
    if (off > 1e-4)
        lw_import_warning(importer, e->place, object, "let the CAD program solve its mates before the export",
                          "as drawn, its two frames are off by %.3g (rad or m)%s", off,
                          welds ? "; the parts are fixed as they are drawn" : "");
    if (welds) {
        lw_simscape_weld(cad, parts[0], parts[1], name, e->place);
        return;
    }
    lw_joint_spec joint = {.name = lw_import_name(importer, &importer->joints, name, e->place, "joint"),
                           .type = types[kind].type,
                           .place = e->place};
    give_coordinates(&joint, &d, frames);
    lw_simscape_join(cad, &joint, parts, frames);
}

static void add_all(lw_simscape *cad, const lw_xml *assembly, int instance, bool welds) {
    const lw_xml *joints = lw_xml_child(assembly, "Joints");
    for (const lw_xml *e = joints ? joints->first : NULL; e; e = e->next) add_joint(cad, e, instance, welds);
}

void lw_simscape_welds(lw_simscape *cad, const lw_xml *assembly, int instance) {
    add_all(cad, assembly, instance, true);
}

void lw_simscape_joints(lw_simscape *cad, const lw_xml *assembly, int instance) {
    add_all(cad, assembly, instance, false);
}

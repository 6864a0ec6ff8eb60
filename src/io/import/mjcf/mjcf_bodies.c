/* mjcf_bodies.c - the tree of bodies of MJCF: bodies, frames, joints, sites and inertials, with defaults.
 *
 * The tree is given by nesting. A <frame> is no body: its pose composes with those of its children, joints
 * and inertials included, and then it is gone. Joints of one body act one after the other.
 */
#include "io/import/mjcf/mjcf.h"

#include <string.h>

static const double degree = LW_PI / 180;

/* --- finding by name -------------------------------------------------------------------------------- */

int mj_find_body(const mj_reader *reader, const char *name) {
    for (int k = 0; k < reader->bodies.count; k++)
        if (strcmp(MJ_BODY(reader, k)->name, name) == 0) return k;
    return -1;
}

int mj_find_joint(const mj_reader *reader, const char *name) {
    for (int k = 0; k < reader->joints.count; k++)
        if (MJ_JOINT(reader, k)->named && strcmp(MJ_JOINT(reader, k)->name, name) == 0) return k;
    return -1;
}

int mj_find_site(const mj_reader *reader, const char *name) {
    for (int k = 0; k < reader->sites.count; k++)
        if (strcmp(MJ_SITE(reader, k)->name, name) == 0) return k;
    return -1;
}

/* --- joints ----------------------------------------------------------------------------------------- */

static bool joint_limited(mj_reader *reader, const mj_element *element, bool ranged) {
    const int limited = mj_tristate(reader, element, "limited", 2);
    if (limited == 2) return reader->autolimits && ranged;
    return limited == 1;
}

static void read_joint(mj_reader *reader, const lw_xml *node, int body, const lw_pose *frame,
                       int childclass) {
    static const char *const types[] = {"hinge", "slide", "ball", "free", NULL};
    const bool freejoint = lw_xml_is(node, "freejoint");
    mj_element element = {node, -1, "joint"};
    if (!freejoint) element = mj_with_class(reader, node, "joint", childclass);
    mj_joint joint = {.node = node, .body = body, .axis = {0, 0, 1}, .type = MJ_FREE};
    if (!freejoint) {
        const int type = mj_word(reader, &element, "type", types, MJ_HINGE);
        if (type < 0) return;
        joint.type = (mj_joint_type)type;
    }
    if (freejoint) {
        const int align = mj_tristate(reader, &element, "align", 2);
        joint.aligned = align == 1 || (align == 2 && reader->align_free);
    }
    joint.name = lw_xml_get(node, "name");
    joint.named = joint.name != NULL;
    if (joint.named && mj_find_joint(reader, joint.name) >= 0)
        mj_error(reader, node, "name", "give it another name", "there is a joint \"%.60s\" already",
                 joint.name);
    if (joint.type == MJ_FREE && MJ_BODY(reader, body)->parent != 0) {
        mj_error(reader, node, NULL, "put the body into <worldbody>",
                 "a free joint is for bodies of the world, and this body has a parent");
        return;
    }
    if (!freejoint) {
        (void)mj_numbers(reader, &element, "pos", 3, 3, joint.pos);
        (void)mj_numbers(reader, &element, "axis", 3, 3, joint.axis);
        (void)mj_number(reader, &element, "ref", &joint.ref);
        (void)mj_number(reader, &element, "springref", &joint.springref);
        (void)mj_numbers(reader, &element, "stiffness", 1, 3, joint.stiffness);
        (void)mj_numbers(reader, &element, "damping", 1, 3, joint.damping);
        (void)mj_number(reader, &element, "armature", &joint.armature);
        (void)mj_number(reader, &element, "frictionloss", &joint.frictionloss);
        (void)mj_numbers(reader, &element, "springdamper", 2, 2, joint.springdamper);
        (void)mj_numbers(reader, &element, "actuatorfrcrange", 2, 2, joint.force_range);
    }
    double axis[3], point[3];
    if (joint.type <= MJ_SLIDE && !(mj_unit(joint.axis, axis) > 1e-15)) {
        mj_error(reader, node, "axis", "give any vector but zero, e.g. \"0 0 1\"", "axis has no direction");
        return;
    }
    if (joint.type <= MJ_SLIDE) lw_m3_mul_v(frame->R, axis, joint.axis);
    lw_pose_point(frame->R, frame->p, joint.pos, point);
    lw_v3_copy(point, joint.pos);
    if (joint.type == MJ_FREE) lw_v3_set(joint.pos, 0, 0, 0);
    if (joint.armature < 0) {
        mj_error(reader, node, "armature", "give zero or a positive number", "armature %g is negative",
                 joint.armature);
        joint.armature = 0;
    }
    const bool ranged = mj_numbers(reader, &element, "range", 2, 2, joint.range) == 2 &&
                        (joint.range[0] != 0 || joint.range[1] != 0);
    joint.limited = !freejoint && joint_limited(reader, &element, ranged) && ranged;
    if (joint.limited && joint.type <= MJ_SLIDE && !(joint.range[0] < joint.range[1])) {
        mj_error(reader, node, "range", "give the lower bound first", "range %g .. %g is empty",
                 joint.range[0], joint.range[1]);
        joint.limited = false;
    }
    if (reader->degrees && (joint.type == MJ_HINGE || joint.type == MJ_BALL))
        joint.range[0] *= degree, joint.range[1] *= degree;
    if (reader->degrees && joint.type == MJ_HINGE) joint.ref *= degree, joint.springref *= degree;
    joint.qpos = reader->nq, joint.dof = reader->nv;
    reader->nq += joint.type == MJ_FREE ? 7 : joint.type == MJ_BALL ? 4 : 1;
    reader->nv += joint.type == MJ_FREE ? 6 : joint.type == MJ_BALL ? 3 : 1;
    mj_joint *added = mj_add(reader, &reader->joints, sizeof *added);
    if (!added) return;
    *added = joint;
    MJ_BODY(reader, body)->joint_count++;
}

/* Checks the joints of one body together. */
static void check_joints(mj_reader *reader, int body) {
    const mj_body *of = MJ_BODY(reader, body);
    int balls = 0, turns = 0;
    for (int k = 0; k < of->joint_count; k++) {
        const mj_joint *joint = MJ_JOINT(reader, of->first_joint + k);
        if (joint->type == MJ_FREE && of->joint_count > 1) {
            mj_error(reader, joint->node, NULL, "remove the other joints of the body",
                     "a body with a free joint has no other joint");
            return;
        }
        balls += joint->type == MJ_BALL;
        turns += joint->type == MJ_HINGE || joint->type == MJ_BALL;
    }
    if (balls > 0 && turns > 1)
        mj_error(reader, of->node, NULL, "keep the ball alone",
                 "a body has a ball and another joint that turns");
}

/* --- bodies ----------------------------------------------------------------------------------------- */

static void read_inertial(mj_reader *reader, const lw_xml *node, int body, const lw_pose *frame) {
    const mj_element element = {node, -1, "inertial"};
    mj_body *of = MJ_BODY(reader, body);
    lw_pose pose, whole;
    double moments[6] = {0, 0, 0, 0, 0, 0}, mass = 0;
    if (body == 0) {
        mj_warn(reader, node, NULL, NULL, "an inertial of the world has no effect");
        return;
    }
    if (!lw_xml_find(node, "mass") || !lw_xml_find(node, "pos"))
        mj_error(reader, node, NULL, "give <inertial mass=\"...\" pos=\"...\">",
                 "an inertial needs mass and pos");
    mj_read_pose(reader, &element, &pose);
    (void)mj_number(reader, &element, "mass", &mass);
    const bool diagonal = mj_numbers(reader, &element, "diaginertia", 3, 3, moments) == 3;
    const bool full = mj_numbers(reader, &element, "fullinertia", 6, 6, moments) == 6;
    if (diagonal && full)
        mj_error(reader, node, "fullinertia", "keep one of them",
                 "diaginertia and fullinertia are both given");
    if (mass < 0) {
        mj_error(reader, node, "mass", "give zero or a positive number", "mass %g is negative", mass);
        return;
    }
    whole = lw_pose_in(frame, &pose);
    of = MJ_BODY(reader, body);
    of->explicit_inertial = true;
    of->mass = mass;
    lw_inertia_in(&whole, moments, of->com, of->inertia);
}

static void read_site(mj_reader *reader, const lw_xml *node, int body, const lw_pose *frame, int childclass) {
    const mj_element element = mj_with_class(reader, node, "site", childclass);
    const char *name = lw_xml_get(node, "name");
    double ends[6];
    lw_pose pose;
    mj_read_pose(reader, &element, &pose);
    if (mj_numbers(reader, &element, "fromto", 6, 6, ends) == 6) {
        double along[3];
        for (int k = 0; k < 3; k++) pose.p[k] = (ends[k] + ends[3 + k]) / 2, along[k] = ends[3 + k] - ends[k];
        if (mj_unit(along, along) > 0) lw_rot_z_to(along, pose.R);
    }
    if (!name) return;
    if (mj_find_site(reader, name) >= 0) {
        mj_error(reader, node, "name", "give it another name", "there is a site \"%.60s\" already", name);
        return;
    }
    mj_site *site = mj_add(reader, &reader->sites, sizeof *site);
    if (site) *site = (mj_site){.name = name, .node = node, .body = body, .pose = lw_pose_in(frame, &pose)};
}

static void read_body(mj_reader *reader, const lw_xml *node, int parent, const lw_pose *frame,
                      int childclass);

static int childclass_of(mj_reader *reader, const lw_xml *node, int around) {
    const char *name = lw_xml_get(node, "childclass");
    if (!name) return around;
    const int class = mj_find_class(reader, name);
    if (class < 0)
        mj_error(reader, node, "childclass", "define it in <default>", "there is no class \"%.60s\"", name);
    return class < 0 ? around : class;
}

/* Elements that describe bodies in a shorter way than this reader follows. */
static bool is_macro(const lw_xml *node) {
    static const char *const macros[] = {"replicate", "composite", "flexcomp", "attach", NULL};
    for (int k = 0; macros[k]; k++)
        if (lw_xml_is(node, macros[k])) return true;
    return false;
}

/* What stands in a body or frame, apart from bodies; frames are gone through. */
static void read_contents(mj_reader *reader, const lw_xml *node, int body, const lw_pose *frame,
                          int childclass, bool bodies) {
    for (const lw_xml *child = node->first; child; child = child->next) {
        if (lw_xml_is(child, "frame")) {
            const mj_element element = {child, -1, "frame"};
            lw_pose pose;
            mj_read_pose(reader, &element, &pose);
            pose = lw_pose_in(frame, &pose);
            read_contents(reader, child, body, &pose, childclass_of(reader, child, childclass), bodies);
        } else if (bodies) {
            if (lw_xml_is(child, "body")) read_body(reader, child, body, frame, childclass);
        } else if (lw_xml_is(child, "joint") || lw_xml_is(child, "freejoint")) {
            if (body == 0)
                mj_error(reader, child, NULL, "put it into a body", "the world has no joints");
            else
                read_joint(reader, child, body, frame, childclass);
        } else if (lw_xml_is(child, "inertial"))
            read_inertial(reader, child, body, frame);
        else if (lw_xml_is(child, "geom"))
            mj_read_geom(reader, child, body, frame, childclass);
        else if (lw_xml_is(child, "site"))
            read_site(reader, child, body, frame, childclass);
        else if (lw_xml_is(child, "camera") || lw_xml_is(child, "light"))
            lw_import_note_of(reader->importer, child->place, "cameras and lights",
                              "no effect on the motion");
        else if (lw_xml_is(child, "plugin"))
            lw_import_note_of(reader->importer, child->place, "plugins", "what they do is not known here");
        else if (is_macro(child))
            mj_error(reader, child, NULL,
                     "let MuJoCo write the file out: load it and save it by mj_saveLastXML",
                     "<%s> makes bodies by a rule, which is not followed here", child->name);
        else if (!lw_xml_is(child, "body"))
            mj_warn(reader, child, NULL, NULL, "<%.40s> is not known and has no effect", child->name);
    }
}

static void read_body(mj_reader *reader, const lw_xml *node, int parent, const lw_pose *frame,
                      int childclass) {
    const mj_element element = {node, -1, "body"};
    mj_body body = {.node = node, .parent = parent, .name = lw_xml_get(node, "name")};
    lw_pose pose;
    mj_read_pose(reader, &element, &pose);
    body.local = lw_pose_in(frame, &pose);
    body.world = lw_pose_in(&MJ_BODY(reader, parent)->world, &body.local);
    (void)mj_flag(reader, &element, "mocap", &body.mocap);
    (void)mj_number(reader, &element, "gravcomp", &body.gravcomp);
    if (!body.name)
        body.name = lw_import_print(reader->importer, "body%d", reader->bodies.count);
    else if (mj_find_body(reader, body.name) >= 0)
        mj_error(reader, node, "name", "give it another name", "there is a body \"%.60s\" already",
                 body.name);
    childclass = childclass_of(reader, node, childclass);
    body.first_joint = reader->joints.count;
    mj_body *added = mj_add(reader, &reader->bodies, sizeof *added);
    if (!added) return;
    *added = body;
    const int own = reader->bodies.count - 1;
    lw_pose none = lw_pose_none();
    read_contents(reader, node, own, &none, childclass, false);
    check_joints(reader, own);
    if (MJ_BODY(reader, own)->mocap && MJ_BODY(reader, own)->joint_count > 0)
        mj_error(reader, node, "mocap", "remove its joints", "a mocap body has joints");
    read_contents(reader, node, own, &none, childclass, true);
}

void mj_read_bodies(mj_reader *reader) {
    mj_body *world = mj_add(reader, &reader->bodies, sizeof *world);
    if (!world) return;
    *world = (mj_body){.name = "world", .node = reader->root, .parent = -1, .spec_name = LW_GROUND};
    world->local = world->world = world->in_host = lw_pose_none();
    const lw_pose none = lw_pose_none();
    const int top = reader->classes.count > 0 ? 0 : -1;
    for (const lw_xml *section = lw_xml_child(reader->root, "worldbody"); section;
         section = lw_xml_next(section)) {
        read_contents(reader, section, 0, &none, top, false);
        read_contents(reader, section, 0, &none, top, true);
    }
    /* Where a body has no joint it moves with its parent. */
    for (int k = 1; k < reader->bodies.count; k++) {
        mj_body *body = MJ_BODY(reader, k);
        const mj_body *parent = MJ_BODY(reader, body->parent);
        body->host = body->joint_count > 0 ? k : parent->host;
        if (body->host == k)
            body->in_host = lw_pose_none();
        else
            body->in_host = lw_pose_in(&parent->in_host, &body->local);
    }
    if (reader->bodies.count == 1 && reader->importer->faults == 0)
        mj_error(reader, reader->root, NULL, "put bodies into <worldbody>", "the file has no bodies");
}

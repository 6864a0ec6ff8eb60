/* sdf_joints.c - joints of an SDF: types, axes, what acts on them, gearboxes and mimics.
 *
 * A joint's frame is where its pose says, the same on both links in the drawn configuration, in which all
 * coordinates are zero. Two axes that are perpendicular make a universal joint; others are two hinges with a
 * body without mass between them. A gearbox is no joint: it couples the hinges by which its parent and its
 * child turn on the reference body,
 *
 *   theta2 = -ratio theta1,
 *
 * theta1 being the angle of the parent about axis, theta2 that of the child about axis2, both seen from the
 * reference body. A screw advances by screw_thread_pitch per turn; the older thread_pitch is in turns of a
 * radian per metre with the opposite sense, lead = -2 pi / thread_pitch.
 */
#include "io/import/sdf/sdf_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- reading -------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    lw_joint_type type;
    int axes;
} types[] = {{"revolute", LW_JOINT_REVOLUTE, 1},   {"continuous", LW_JOINT_REVOLUTE, 1},
             {"prismatic", LW_JOINT_PRISMATIC, 1}, {"ball", LW_JOINT_SPHERICAL, 0},
             {"universal", LW_JOINT_UNIVERSAL, 2}, {"revolute2", LW_JOINT_UNIVERSAL, 2},
             {"screw", LW_JOINT_SCREW, 1},         {"fixed", LW_JOINT_WELD, 0},
             {"gearbox", LW_JOINT_TYPES, 2}};
enum { TYPES = sizeof types / sizeof *types };

static int type_of(lw_sdf *sdf, const lw_sdf_item *joint) {
    const char *names[TYPES], *type = lw_xml_need(sdf->importer, joint->element, joint->object, "type");
    for (int k = 0; k < TYPES && type; k++) {
        names[k] = types[k].name;
        if (strcmp(type, names[k]) == 0) return k;
    }
    if (!type) return -1;
    char remedy[200];
    if (!lw_did_you_mean(lw_closest(type, names, TYPES), remedy, sizeof remedy))
        (void)snprintf(remedy, sizeof remedy,
                       "give revolute, continuous, prismatic, ball, universal, revolute2, screw, gearbox or "
                       "fixed");
    lw_import_fault(sdf->importer, lw_xml_place(joint->element, "type"), joint->object, remedy,
                    "joint type \"%.60s\" is not known", type);
    return -1;
}

/* The link on one side; LW_SDF_NONE: reported. */
static int side_of(lw_sdf *sdf, const lw_sdf_item *joint, const char *side) {
    const lw_xml *end = lw_xml_child(joint->element, side);
    if (!end || !end->text[0]) {
        lw_import_fault(sdf->importer, end ? end->place : joint->element->place, joint->object,
                        lw_import_print(sdf->importer, "give <%s>link</%s>", side, side), "<%s> is missing",
                        side);
        return LW_SDF_NONE;
    }
    const int item = lw_sdf_find(sdf, joint->scope, end->text, end->text_place, joint->object, false);
    if (item < 0) return item;
    const int link = sdf->items[item].attached;
    if (link == LW_SDF_NONE)
        lw_import_fault(sdf->importer, end->text_place, joint->object, "name a link",
                        "\"%.80s\" has no link that it is fixed to", end->text);
    return link;
}

/* A unit vector in the joint's frame. */
static bool read_axis(lw_sdf *sdf, lw_sdf_item *joint, const lw_xml *axis, double out[3]) {
    lw_importer *importer = sdf->importer;
    const lw_xml *xyz = lw_xml_child(axis, "xyz");
    double given[3] = {0, 0, 1}, turned[3];
    (void)lw_sdf_vector(importer, axis, joint->object, "xyz", 3, given);
    const double largest = fmax(fabs(given[0]), fmax(fabs(given[1]), fabs(given[2])));
    if (!(largest > 0)) {
        lw_import_fault(importer, xyz->text_place, joint->object, "give any non-zero vector, e.g. 0 0 1",
                        "axis [0, 0, 0] has no direction");
        return false;
    }
    for (int k = 0; k < 3; k++) given[k] /= largest;
    const double norm = lw_v3_norm(given);
    for (int k = 0; k < 3; k++) given[k] /= norm;
    const char *expressed = lw_xml_get(xyz, "expressed_in");
    int frame = LW_SDF_NONE;
    if (expressed && expressed[0]) {
        frame = lw_sdf_find(sdf, joint->scope, expressed, lw_xml_place(xyz, "expressed_in"), joint->object,
                            false);
        if (frame == LW_SDF_NONE) return false;
    } else if (joint->version <= 4 || (joint->version <= 6 && lw_sdf_flag(importer, axis, joint->object,
                                                                          "use_parent_model_frame", false)))
        frame = joint->scope;
    if (frame == LW_SDF_NONE) {
        lw_v3_copy(given, out);
        return true;
    }
    const lw_pose of = lw_sdf_world(sdf, frame);
    lw_m3_mul_v(of.R, given, turned);
    lw_m3_tmul_v(joint->world.R, turned, out);
    return true;
}

void lw_sdf_read_joint(lw_sdf *sdf, lw_sdf_item *joint) {
    const int kind = type_of(sdf, joint);
    joint->sides[0] = side_of(sdf, joint, "parent");
    joint->sides[1] = side_of(sdf, joint, "child");
    if (kind < 0) return;
    joint->type = types[kind].type;
    if (joint->sides[1] == LW_SDF_WORLD)
        lw_import_fault(sdf->importer, lw_xml_child(joint->element, "child")->text_place, joint->object,
                        "make the world its parent", "the world cannot be its child");
    if (joint->sides[0] >= 0 && joint->sides[0] == joint->sides[1])
        lw_import_fault(sdf->importer, joint->element->place, joint->object, "name two different links",
                        "joins link \"%.80s\" to itself", sdf->items[joint->sides[0]].full);
    static const char *const names[2] = {"axis", "axis2"};
    for (int k = 0; k < types[kind].axes; k++) {
        const lw_xml *axis = lw_xml_child(joint->element, names[k]);
        lw_v3_set(joint->axes[k], 0, 0, 1);
        if (!axis)
            lw_import_fault(
                sdf->importer, joint->element->place, joint->object,
                lw_import_print(sdf->importer, "give <%s><xyz>0 0 1</xyz></%s>", names[k], names[k]),
                "a %s joint needs <%s>", types[kind].name, names[k]);
        else
            (void)read_axis(sdf, joint, axis, joint->axes[k]);
    }
}

/* --- into the spec -------------------------------------------------------------------------------- */

static const char *body_of(const lw_sdf *sdf, int link) {
    return link >= 0 ? sdf->items[link].body : LW_GROUND;
}

static void read_limits(lw_sdf *sdf, const lw_sdf_item *joint, const lw_xml *axis, double limits[2]) {
    lw_importer *importer = sdf->importer;
    const lw_xml *limit = lw_xml_child(axis, "limit");
    const char *type = lw_xml_get(joint->element, "type");
    if (!limit) return;
    static const char *const names[2] = {"lower", "upper"};
    double ends[2] = {-HUGE_VAL, HUGE_VAL};
    for (int k = 0; k < 2; k++) {
        const lw_xml *end = lw_xml_child(limit, names[k]);
        if (end && end->text[0])
            ends[k] = lw_xml_limit(importer, end->text, end->text_place, joint->object, names[k]);
    }
    if (lw_xml_child(limit, "effort") || lw_xml_child(limit, "velocity"))
        lw_import_note_of(importer, limit->place, "limits of effort and velocity", "they limit nothing here");
    if (lw_xml_child(limit, "stiffness") || lw_xml_child(limit, "dissipation"))
        lw_import_note_of(importer, limit->place, "stiffness and dissipation of limits",
                          "passing a limit is noted in a run, nothing stops there");
    if (strcmp(type, "continuous") != 0)
        (void)lw_import_limits(importer, ends[0], ends[1], limits, limit->place, joint->object);
}

static void add_dynamics(lw_sdf *sdf, const lw_sdf_item *joint, int which, const lw_xml *axis) {
    lw_importer *importer = sdf->importer;
    const lw_xml *dynamics = lw_xml_child(axis, "dynamics");
    if (!dynamics || !joint->own[which]) return;
    const double damping = lw_sdf_number(importer, dynamics, joint->object, "damping", 0),
                 friction = lw_sdf_number(importer, dynamics, joint->object, "friction", 0),
                 stiffness = lw_sdf_number(importer, dynamics, joint->object, "spring_stiffness", 0),
                 free = lw_sdf_number(importer, dynamics, joint->object, "spring_reference", 0);
    if (damping < 0 || friction < 0) {
        lw_import_fault(importer, dynamics->place, joint->object, "give zero or a positive number",
                        "damping %g, friction %g: one is negative", damping, friction);
        return;
    }
    lw_import_add_friction(importer, joint->own[which], joint->coordinates[which], damping, friction,
                           dynamics->place);
    if (stiffness == 0) return;
    const lw_force_spec spring = {
        .name = lw_import_own_name(importer, &importer->forces,
                                   lw_import_print(importer, "%s.spring", joint->own[which])),
        .type = LW_FORCE_TORSION,
        .joint = joint->own[which],
        .coordinate = joint->coordinates[which],
        .stiffness = stiffness,
        .free_length = free,
        .has_free_length = true,
        .place = dynamics->place};
    lw_import_add_force(importer, &spring);
}

static void read_lead(lw_sdf *sdf, const lw_sdf_item *joint, double *lead) {
    lw_importer *importer = sdf->importer;
    const double two_pi = 6.28318530717958647693;
    const double per_turn = lw_sdf_number(importer, joint->element, joint->object, "screw_thread_pitch", 0),
                 old = lw_sdf_number(importer, joint->element, joint->object, "thread_pitch", 0);
    if (per_turn != 0)
        *lead = per_turn;
    else if (old != 0)
        *lead = -two_pi / old;
    else
        lw_import_fault(importer, joint->element->place, joint->object,
                        "give <screw_thread_pitch> in metres per turn, other than zero",
                        "a screw needs its pitch");
}

/* Two hinges in series, with a body without mass between them. */
static void add_two_hinges(lw_sdf *sdf, lw_sdf_item *joint, const lw_pose frames[2], double limits[2][2]) {
    lw_importer *importer = sdf->importer;
    const lw_pose none = lw_pose_none();
    const char *between = lw_import_own_name(importer, &importer->bodies,
                                             lw_import_print(importer, "%s.between", joint->own[0]));
    const lw_body_spec body = {.name = between, .place = joint->element->place};
    lw_import_add_body(importer, &body);
    joint->own[1] =
        lw_import_own_name(importer, &importer->joints, lw_import_print(importer, "%s.axis2", joint->own[0]));
    joint->coordinates[1] = 0;
    lw_joint_spec first = {.name = joint->own[0],
                           .type = LW_JOINT_REVOLUTE,
                           .bodies = {body_of(sdf, joint->sides[0]), between},
                           .place = joint->element->place};
    lw_joint_spec second = {.name = joint->own[1],
                            .type = LW_JOINT_REVOLUTE,
                            .bodies = {between, body_of(sdf, joint->sides[1])},
                            .place = joint->element->place};
    memcpy(first.limits[0], limits[0], sizeof limits[0]);
    memcpy(second.limits[0], limits[1], sizeof limits[1]);
    lw_import_geometry(&first, &frames[0], &none, joint->axes[0], NULL, NULL);
    lw_import_geometry(&second, &none, &frames[1], joint->axes[1], NULL, NULL);
    lw_import_add_joint(importer, &first);
    lw_import_add_joint(importer, &second);
}

void lw_sdf_add_joint(lw_sdf *sdf, lw_sdf_item *joint) {
    lw_importer *importer = sdf->importer;
    if (joint->type == LW_JOINT_TYPES) return; /* a gearbox */
    const lw_pose parent = lw_sdf_world(sdf, joint->sides[0]), child = lw_sdf_world(sdf, joint->sides[1]);
    lw_pose frames[2] = {lw_pose_between(&parent, &joint->world), lw_pose_between(&child, &joint->world)};
    double limits[2][2] = {{0, 0}, {0, 0}};
    const lw_xml *axes[2] = {lw_xml_child(joint->element, "axis"), lw_xml_child(joint->element, "axis2")};
    const int speeds = lw_joint_type_v(joint->type, 0);
    for (int k = 0; k < 2 && k < speeds && joint->type != LW_JOINT_SPHERICAL; k++)
        read_limits(sdf, joint, axes[k], limits[k]);
    lw_joint_spec spec = {.name = joint->own[0],
                          .type = joint->type,
                          .bodies = {body_of(sdf, joint->sides[0]), body_of(sdf, joint->sides[1])},
                          .place = joint->element->place};
    bool moves = false;
    for (int k = 0; k < 2; k++)
        moves = moves || (joint->sides[k] >= 0 && !sdf->items[joint->sides[k]].is_static);
    if (!moves) return; /* between parts of the ground */
    if (joint->type == LW_JOINT_SCREW) read_lead(sdf, joint, &spec.lead);
    if (joint->type == LW_JOINT_UNIVERSAL && fabs(lw_v3_dot(joint->axes[0], joint->axes[1])) > 1e-9)
        add_two_hinges(sdf, joint, frames, limits);
    else {
        memcpy(spec.limits[0], limits[0], sizeof limits[0]);
        memcpy(spec.limits[1], limits[1], sizeof limits[1]);
        lw_import_geometry(&spec, &frames[0], &frames[1], joint->axes[0],
                           joint->type == LW_JOINT_UNIVERSAL ? joint->axes[1] : NULL, NULL);
        lw_import_add_joint(importer, &spec);
        joint->own[1] = joint->type == LW_JOINT_UNIVERSAL ? joint->own[0] : NULL;
        joint->coordinates[1] = 1;
    }
    for (int k = 0; k < 2; k++)
        if (joint->type != LW_JOINT_SPHERICAL && joint->type != LW_JOINT_WELD)
            add_dynamics(sdf, joint, k, axes[k]);
    for (const lw_xml *part = joint->element->first; part; part = part->next)
        if (lw_xml_is(part, "physics") || lw_xml_is(part, "sensor") || lw_xml_is(part, "plugin"))
            lw_import_note_of(importer, part->place,
                              lw_import_print(importer, "<%.40s> of joints", part->name), "passed over");
}

/* --- relations between joints --------------------------------------------------------------------- */

/* The hinge between two links, and whether turning it turns `turning` about a direction of the world, +1, or
 * the other way; NULL if there is none. */
static const lw_sdf_item *hinge_of(lw_sdf *sdf, int reference, int turning, const double direction[3],
                                   double *sense) {
    for (int k = 0; k < sdf->count; k++) {
        const lw_sdf_item *item = &sdf->items[k];
        if (item->kind != LW_SDF_JOINT || item->type != LW_JOINT_REVOLUTE) continue;
        const bool forward = item->sides[0] == reference && item->sides[1] == turning,
                   backward = item->sides[1] == reference && item->sides[0] == turning;
        if (!forward && !backward) continue;
        double axis[3];
        lw_m3_mul_v(item->world.R, item->axes[0], axis);
        const double along = lw_v3_dot(axis, direction);
        if (fabs(along) < 1 - 1e-6) continue;
        *sense = (along > 0 ? 1 : -1) * (forward ? 1 : -1);
        return item;
    }
    return NULL;
}

static void add_gearbox(lw_sdf *sdf, const lw_sdf_item *joint) {
    lw_importer *importer = sdf->importer;
    const lw_xml *element = joint->element, *body = lw_xml_child(element, "gearbox_reference_body");
    const double ratio = lw_sdf_number(importer, element, joint->object, "gearbox_ratio", 1);
    if (!body || !body->text[0]) {
        lw_import_fault(importer, element->place, joint->object,
                        "give <gearbox_reference_body>link</gearbox_reference_body>",
                        "a gearbox needs the body that its angles are seen from");
        return;
    }
    const int item = lw_sdf_find(sdf, joint->scope, body->text, body->text_place, joint->object, false);
    if (item == LW_SDF_NONE) return;
    const int reference = item >= 0 ? sdf->items[item].attached : item;
    const lw_sdf_item *hinges[2];
    double factors[2];
    for (int k = 0; k < 2; k++) {
        double direction[3], sense = 1;
        lw_m3_mul_v(joint->world.R, joint->axes[k], direction);
        hinges[k] = hinge_of(sdf, reference, joint->sides[k], direction, &sense);
        if (!hinges[k]) {
            lw_import_fault(
                importer, element->place, joint->object, "join them by a revolute joint about that axis",
                "no hinge about <%s> joins \"%.60s\" and the reference body", k ? "axis2" : "axis",
                joint->sides[k] >= 0 ? sdf->items[joint->sides[k]].full : "world");
            return;
        }
        factors[k] = k == 0 ? ratio * sense : sense;
    }
    const char *const joints[2] = {hinges[0]->own[0], hinges[1]->own[0]};
    const int coordinates[2] = {0, 0};
    lw_import_add_coupling(importer, joint->own[0], joints, coordinates, factors, 0, element->place);
}

static void add_mimic(lw_sdf *sdf, const lw_sdf_item *joint, int which, const lw_xml *axis) {
    lw_importer *importer = sdf->importer;
    const lw_xml *mimic = lw_xml_child(axis, "mimic");
    if (!mimic) return;
    const char *name = lw_xml_need(importer, mimic, joint->object, "joint"), *of = lw_xml_get(mimic, "axis");
    const int item =
        name ? lw_sdf_find(sdf, joint->scope, name, lw_xml_place(mimic, "joint"), joint->object, false)
             : LW_SDF_NONE;
    if (item == LW_SDF_NONE) return;
    const int other = of && strcmp(of, "axis2") == 0;
    const lw_sdf_item *leader = item >= 0 ? &sdf->items[item] : NULL;
    const bool driven = leader && leader->kind == LW_SDF_JOINT && leader->own[other] &&
                        leader->type != LW_JOINT_WELD && leader->type != LW_JOINT_SPHERICAL &&
                        leader->type != LW_JOINT_TYPES;
    if (!driven || !joint->own[which] || (leader == joint && other == which)) {
        lw_import_fault(importer, mimic->place, joint->object, "name another joint that has this axis",
                        "it mimics \"%.80s\", which is no joint with such a coordinate", name);
        return;
    }
    const double multiplier = lw_sdf_number(importer, mimic, joint->object, "multiplier", 1),
                 offset = lw_sdf_number(importer, mimic, joint->object, "offset", 0),
                 reference = lw_sdf_number(importer, mimic, joint->object, "reference", 0);
    const char *const joints[2] = {joint->own[which], leader->own[other]};
    const int coordinates[2] = {joint->coordinates[which], leader->coordinates[other]};
    const double factors[2] = {1, -multiplier};
    lw_import_add_coupling(importer, lw_import_print(importer, "%s.mimic", joint->own[0]), joints,
                           coordinates, factors, offset - multiplier * reference, mimic->place);
}

void lw_sdf_add_relations(lw_sdf *sdf, lw_sdf_item *joint) {
    if (joint->type == LW_JOINT_TYPES) {
        add_gearbox(sdf, joint);
        return;
    }
    if (joint->type == LW_JOINT_WELD || joint->type == LW_JOINT_SPHERICAL) return;
    add_mimic(sdf, joint, 0, lw_xml_child(joint->element, "axis"));
    add_mimic(sdf, joint, 1, lw_xml_child(joint->element, "axis2"));
}

void lw_sdf_add_ball(lw_sdf *sdf, const lw_xml *element, int scope) {
    static const char *const bodies[2] = {"drake:ball_constraint_body_A", "drake:ball_constraint_body_B"};
    static const char *const points[2] = {"drake:ball_constraint_p_AP", "drake:ball_constraint_p_BQ"};
    lw_importer *importer = sdf->importer;
    const char *object = "drake:ball_constraint";
    lw_joint_spec joint = {.type = LW_JOINT_SPHERICAL, .cut = true, .place = element->place};
    lw_pose frames[2] = {lw_pose_none(), lw_pose_none()};
    for (int k = 0; k < 2; k++) {
        const lw_xml *body = lw_xml_child(element, bodies[k]);
        if (!body || !body->text[0]) {
            lw_import_fault(importer, element->place, object,
                            lw_import_print(importer, "give <%s>link</%s>", bodies[k], bodies[k]),
                            "<%s> is missing", bodies[k]);
            return;
        }
        const int item = lw_sdf_find(sdf, scope, body->text, body->text_place, object, false);
        if (item == LW_SDF_NONE) return;
        joint.bodies[k] = body_of(sdf, item >= 0 ? sdf->items[item].attached : item);
        (void)lw_sdf_vector(importer, element, object, points[k], 3, frames[k].p);
    }
    joint.name = lw_import_own_name(importer, &importer->joints, "ball_constraint");
    lw_import_geometry(&joint, &frames[0], &frames[1], frames[0].p, NULL, NULL);
    lw_import_add_joint(importer, &joint);
}

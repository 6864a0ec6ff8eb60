/* urdf_loops.c - loops in a URDF: closures and couplings that extensions of the format say.
 *
 *   <loop name type>         URDF+ (Chignoli and others 2024): <predecessor link>, <successor link>, each
 *                            with an <origin>, or <predecessor_origin>, <successor_origin> beside; <axis>
 *   <coupling name>          URDF+: <predecessor link>, <successor link>, <ratio value>: along the ways from
 *                            their nearest common ancestor, sum of the successor's coordinates = ratio times
 *                            the sum of the predecessor's
 *   <constraint name type>   <parent link>, <parent_origin>, <parent_axis> and the same of the child
 *   <drake:ball_constraint>  bodies A and B, points p_AP and p_BQ
 *
 * The second joint with the same child needs nothing here (import_urdf.c), robot.yaml is read by
 * urdf_sidecar.c. With loops as joints, a weld that closes a loop makes one body of two: the link at its end
 * becomes a frame of the other's body, its mass goes there, and its own joint closes the loop.
 */
#include "io/import/urdf/urdf_parts.h"

#include <stdio.h>
#include <string.h>

/* --- closures ------------------------------------------------------------------------------------- */

static int link_of(lw_urdf *urdf, const lw_xml *element, const char *object, const char *side,
                   const lw_xml **end) {
    *end = lw_xml_child(element, side);
    if (!*end) {
        lw_import_fault(urdf->importer, element->place, object,
                        lw_import_print(urdf->importer, "give <%s link=\"...\"/>", side), "<%s> is missing",
                        side);
        return -1;
    }
    const char *name = lw_xml_need(urdf->importer, *end, object, "link");
    return name ? lw_urdf_find_link(urdf, name, lw_xml_place(*end, "link"), object) : -1;
}

/* The rotation that takes one unit vector into another the shortest way. */
static void turn_between(const double from[3], const double to[3], double R[9]) {
    double turn[3];
    lw_v3_cross(from, to, turn);
    const double sine = lw_v3_norm(turn), cosine = lw_v3_dot(from, to);
    if (sine < 1e-14 && cosine > 0) {
        lw_m3_identity(R);
        return;
    }
    if (sine < 1e-14) {
        lw_v3_perpendicular(from, turn);
        lw_rot_axis(turn, 3.14159265358979323846, R);
        return;
    }
    for (int k = 0; k < 3; k++) turn[k] /= sine;
    lw_rot_axis(turn, atan2(sine, cosine), R);
}

static void read_closure(lw_urdf *urdf, const lw_xml *element, bool plus) {
    lw_importer *importer = urdf->importer;
    const char *const sides[2] = {plus ? "predecessor" : "parent", plus ? "successor" : "child"};
    const char *name = lw_xml_need(importer, element, element->name, "name");
    if (!name) return;
    lw_urdf_joint closure = {.name = name, .place = element->place, .closure = true, .axis = {1, 0, 0}};
    closure.object = lw_import_print(importer, "%s \"%.80s\"", element->name, name);
    const bool known = lw_urdf_type(urdf, element, closure.object, &closure.type);
    lw_pose frames[2] = {lw_pose_none(), lw_pose_none()};
    int links[2];
    for (int k = 0; k < 2; k++) {
        const lw_xml *end;
        links[k] = link_of(urdf, element, closure.object, sides[k], &end);
        const lw_xml *origin = lw_xml_child(end, "origin");
        if (!origin) origin = lw_xml_child(element, lw_import_print(importer, "%s_origin", sides[k]));
        if (!origin && plus && k == 0) origin = lw_xml_child(element, "origin");
        frames[k] = lw_urdf_origin(importer, origin, closure.object);
    }
    closure.parent = links[0], closure.child = links[1];
    closure.origin = frames[0], closure.end = frames[1];
    const lw_xml *axis = lw_xml_child(element, plus ? "axis" : "parent_axis"),
                 *other = plus ? NULL : lw_xml_child(element, "child_axis");
    const bool has_axis = axis && lw_urdf_axis(importer, axis, closure.object, "xyz", closure.axis);
    double child_axis[3];
    if (other && lw_urdf_axis(importer, other, closure.object, "xyz", child_axis)) {
        if (closure.type == LW_JOINT_UNIVERSAL)
            lw_v3_copy(child_axis, closure.second_axis);
        else if (has_axis) { /* The frame on the child has its axis where the parent's has its own. */
            lw_pose turn = lw_pose_none();
            turn_between(closure.axis, child_axis, turn.R);
            closure.end = lw_pose_in(&closure.end, &turn);
        }
    } else if (closure.type == LW_JOINT_UNIVERSAL && known)
        lw_import_fault(importer, element->place, closure.object,
                        "give <parent_axis xyz=\"...\"/> and <child_axis xyz=\"...\"/>",
                        "a universal joint needs two axes");
    if (links[0] >= 0 && links[0] == links[1])
        lw_import_fault(importer, element->place, closure.object, "name two different links",
                        "it joins link \"%.80s\" to itself", urdf->links[links[0]].name);
    lw_urdf_joint *joint = known && importer->faults == 0 ? lw_urdf_new_joint(urdf) : NULL;
    if (joint) *joint = closure;
}

static void read_ball(lw_urdf *urdf, const lw_xml *element) {
    static const char *const bodies[2] = {"drake:ball_constraint_body_A", "drake:ball_constraint_body_B"};
    static const char *const points[2] = {"drake:ball_constraint_p_AP", "drake:ball_constraint_p_BQ"};
    lw_importer *importer = urdf->importer;
    const char *object = "drake:ball_constraint";
    lw_urdf_joint closure = {.object = object,
                             .place = element->place,
                             .closure = true,
                             .type = LW_JOINT_SPHERICAL,
                             .axis = {1, 0, 0}};
    int links[2] = {-1, -1};
    lw_pose frames[2] = {lw_pose_none(), lw_pose_none()};
    for (int k = 0; k < 2; k++) {
        const lw_xml *body = lw_xml_child(element, bodies[k]), *point = lw_xml_child(element, points[k]);
        const char *name = body ? lw_xml_need(importer, body, object, "name") : NULL;
        if (!body)
            lw_import_fault(importer, element->place, object,
                            lw_import_print(importer, "give <%s name=\"...\"/>", bodies[k]),
                            "<%s> is missing", bodies[k]);
        if (name) links[k] = lw_urdf_find_link(urdf, name, lw_xml_place(body, "name"), object);
        (void)lw_xml_vector(importer, point, object, "value", 3, frames[k].p);
    }
    closure.name = lw_import_print(importer, "ball_constraint_%d", urdf->joint_count);
    closure.parent = links[0], closure.child = links[1];
    closure.origin = frames[0], closure.end = frames[1];
    lw_urdf_joint *joint = importer->faults == 0 ? lw_urdf_new_joint(urdf) : NULL;
    if (joint) *joint = closure;
}

void lw_urdf_read_closures(lw_urdf *urdf) {
    for (const lw_xml *part = urdf->root->first; part; part = part->next) {
        if (lw_xml_is(part, "loop"))
            read_closure(urdf, part, true);
        else if (lw_xml_is(part, "constraint"))
            read_closure(urdf, part, false);
        else if (lw_xml_is(part, "drake:ball_constraint"))
            read_ball(urdf, part);
        else if (strncmp(part->name, "drake:", 6) == 0)
            lw_import_note_of(urdf->importer, part->place,
                              lw_import_print(urdf->importer, "<%.40s> elements", part->name), "passed over");
    }
    lw_urdf_read_sidecar(urdf);
}

/* --- welds that close loops, as joints ------------------------------------------------------------ */

/* On which link the place of a link depends: the one that it was joined to, or its parent; -1: none. */
static int depends_on(const lw_urdf *urdf, int link) {
    const lw_urdf_link *own = &urdf->links[link];
    if (own->on >= 0) return own->on;
    return own->parent >= 0 ? urdf->joints[own->parent].parent : -1;
}

static bool can_follow(const lw_urdf *urdf, int link, int other) {
    if (urdf->links[link].on >= 0 || urdf->links[link].parent < 0) return false;
    for (int k = other; k >= 0; k = depends_on(urdf, k))
        if (k == link) return false;
    return true;
}

/* The link at the end of fixed joints above a link, and where the link is in it. */
static int rigid_root(const lw_urdf *urdf, int link, lw_pose *pose) {
    *pose = lw_pose_none();
    while (urdf->links[link].parent >= 0 && urdf->links[link].on < 0) {
        const lw_urdf_joint *joint = &urdf->joints[urdf->links[link].parent];
        if (joint->type != LW_JOINT_WELD) break;
        *pose = lw_pose_in(&joint->origin, pose);
        link = joint->parent;
    }
    return link;
}

void lw_urdf_join_welds(lw_urdf *urdf) {
    for (int k = 0; k < urdf->joint_count; k++) {
        lw_urdf_joint *weld = &urdf->joints[k];
        if (!weld->closure || weld->type != LW_JOINT_WELD) continue;
        lw_pose in[2];
        const int root[2] = {rigid_root(urdf, weld->parent, &in[0]), rigid_root(urdf, weld->child, &in[1])};
        if (root[0] == root[1]) continue;
        if (urdf->importer->options.loops != LW_LOOPS_JOINTS) {
            lw_import_note_of(urdf->importer, weld->place, "welds that close loops",
                              "kept as written, six rows each, some of them redundant; --loops joints makes "
                              "one body of the two and lets the joint beside the weld close the loop");
            continue;
        }
        const lw_pose first = lw_pose_in(&in[0], &weld->origin), second = lw_pose_in(&in[1], &weld->end);
        const lw_pose frames[2] = {first, second};
        for (int side = 1; side >= 0; side--) { /* Which of the two follows the other? */
            const int link = root[side], other = root[1 - side];
            if (!can_follow(urdf, link, other)) continue;
            const lw_pose none = lw_pose_none(), back = lw_pose_between(&frames[side], &none);
            urdf->links[link].on = other;
            urdf->links[link].on_pose = lw_pose_in(&frames[1 - side], &back);
            urdf->joints[urdf->links[link].parent].closure = true;
            urdf->joints[urdf->links[link].parent].joined = true;
            urdf->joined++;
            weld->left_out = true;
            break;
        }
    }
}

/* --- couplings ------------------------------------------------------------------------------------ */

enum { MOST_DEPTH = 100000 };

static int depth_of(const lw_urdf *urdf, int link) {
    int depth = 0;
    while (urdf->links[link].parent >= 0 && depth < MOST_DEPTH) {
        link = urdf->joints[urdf->links[link].parent].parent;
        depth++;
    }
    return depth;
}

typedef struct lw_urdf_terms {
    lw_constraint_spec *coupling;
    const char *object;
    const lw_xml *element;
} lw_urdf_terms;

/* Adds the coordinate of the joint that carries a link, and returns the link above it. */
static int climb(lw_urdf *urdf, lw_urdf_terms *terms, int link, double factor) {
    const lw_urdf_joint *joint = &urdf->joints[urdf->links[link].parent];
    lw_constraint_spec *coupling = terms->coupling;
    const int speeds = lw_joint_type_v(joint->type, 0);
    if (speeds > 1 || (speeds == 1 && coupling->terms == LW_COUPLING_MAX))
        lw_import_fault(urdf->importer, terms->element->place, terms->object,
                        "couple joints of one coordinate, at most 8 of them",
                        "joint \"%.80s\" on its way cannot be part of it", joint->name);
    else if (speeds == 1) {
        coupling->joints[coupling->terms] = joint->own;
        coupling->factors[coupling->terms++] = factor;
    }
    return joint->parent;
}

static void add_coupling(lw_urdf *urdf, const lw_xml *element) {
    lw_importer *importer = urdf->importer;
    const char *name = lw_xml_need(importer, element, "coupling", "name");
    const char *object = lw_import_print(importer, "coupling \"%.80s\"", name ? name : "");
    const lw_xml *ends[2], *ratio = lw_xml_child(element, "ratio");
    int first = link_of(urdf, element, object, "predecessor", &ends[0]),
        second = link_of(urdf, element, object, "successor", &ends[1]);
    double value = 1;
    if (!ratio || !lw_xml_vector(importer, ratio, object, "value", 1, &value))
        lw_import_fault(importer, element->place, object, "give <ratio value=\"...\"/>",
                        "the ratio is missing");
    if (!name || first < 0 || second < 0 || importer->faults > 0) return;
    lw_constraint_spec coupling = {.type = LW_CONSTRAINT_COUPLING, .place = element->place};
    lw_urdf_terms terms = {&coupling, object, element};
    int depths[2] = {depth_of(urdf, first), depth_of(urdf, second)};
    while (first != second && importer->faults == 0) {
        if (depths[0] == 0 && depths[1] == 0) break;
        if (depths[0] >= depths[1])
            first = climb(urdf, &terms, first, -value), depths[0]--;
        else
            second = climb(urdf, &terms, second, 1), depths[1]--;
    }
    if (importer->faults > 0) return;
    if (coupling.terms < 1) {
        lw_import_fault(importer, element->place, object, "name links that joints move",
                        "no joint lies between its links");
        return;
    }
    coupling.name = lw_import_name(importer, &importer->constraints, name, element->place, "coupling");
    lw_import_add_constraint(importer, &coupling);
}

void lw_urdf_add_couplings(lw_urdf *urdf) {
    for (const lw_xml *e = lw_xml_child(urdf->root, "coupling"); e; e = lw_xml_next(e)) add_coupling(urdf, e);
}

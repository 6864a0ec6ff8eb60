/* import_urdf.c - URDF: links and joints to bodies and joints.
 *
 * A link's frame becomes the frame of its body, a joint's origin its geometry: the frame of a joint is that
 * of its child where the coordinate is zero. The first joint that has a link as its child carries it; any
 * further one closes a loop. Links without mass on fixed joints become frames of the body that carries them,
 * unless fixed joints are to be kept; other fixed joints are welds. Cost O(links + joints).
 */
#include "io/import/urdf/urdf_parts.h"

#include "linalg/small.h"

#include <stdio.h>
#include <string.h>

/* --- names ---------------------------------------------------------------------------------------- */

static int find(lw_urdf *urdf, const lw_name_table *table, const char *kind, const char *name, lw_place place,
                const char *object) {
    const lw_named *named = lw_results_table_find(table, name);
    if (named) return named->type;
    char remedy[160] = "";
    if (!lw_did_you_mean(lw_results_table_closest(table, name, NULL), remedy, sizeof remedy))
        (void)snprintf(remedy, sizeof remedy, "name one of the %ss", kind);
    lw_import_fault(urdf->importer, place, object, remedy, "there is no %s \"%.80s\"", kind, name);
    return -1;
}

int lw_urdf_find_link(lw_urdf *urdf, const char *name, lw_place place, const char *object) {
    return find(urdf, &urdf->link_names, "link", name, place, object);
}

int lw_urdf_find_joint(lw_urdf *urdf, const char *name, lw_place place, const char *object) {
    return find(urdf, &urdf->joint_names, "joint", name, place, object);
}

/* Enters a name with its index; false if it is there already. */
static bool enter(lw_urdf *urdf, lw_name_table *table, const lw_xml *element, const char *name, int index) {
    const lw_named *before = lw_results_table_find(table, name);
    if (before) {
        lw_import_fault(urdf->importer, lw_xml_place(element, "name"), NULL, "give it another name",
                        "there are two %ss \"%.80s\", the first in line %d", element->name, name,
                        before->place.line);
        return false;
    }
    lw_named *named = lw_results_table_add(table, urdf->importer->arena, name, element->place);
    if (named)
        named->type = index;
    else
        urdf->importer->out_of_memory = true;
    return named != NULL;
}

/* --- joints --------------------------------------------------------------------------------------- */

lw_urdf_joint *lw_urdf_new_joint(lw_urdf *urdf) {
    if (urdf->joint_count == urdf->joint_room) {
        const int room = 2 * urdf->joint_room + 16;
        lw_urdf_joint *joints = LW_NEW(urdf->importer->arena, lw_urdf_joint, room);
        if (!joints) {
            urdf->importer->out_of_memory = true;
            return NULL;
        }
        if (urdf->joint_count > 0) memcpy(joints, urdf->joints, (size_t)urdf->joint_count * sizeof *joints);
        urdf->joints = joints;
        urdf->joint_room = room;
    }
    lw_urdf_joint *joint = &urdf->joints[urdf->joint_count++];
    *joint = (lw_urdf_joint){.parent = -1, .child = -1, .axis = {1, 0, 0}, .own = ""};
    joint->origin = joint->end = lw_pose_none();
    return joint;
}

bool lw_urdf_type(lw_urdf *urdf, const lw_xml *element, const char *object, lw_joint_type *type) {
    static const struct {
        const char *name;
        lw_joint_type type;
    } types[] = {{"revolute", LW_JOINT_REVOLUTE},   {"continuous", LW_JOINT_REVOLUTE},
                 {"prismatic", LW_JOINT_PRISMATIC}, {"fixed", LW_JOINT_WELD},
                 {"floating", LW_JOINT_FREE},       {"planar", LW_JOINT_PLANAR},
                 {"spherical", LW_JOINT_SPHERICAL}, {"ball", LW_JOINT_SPHERICAL},
                 {"universal", LW_JOINT_UNIVERSAL}, {"cylindrical", LW_JOINT_CYLINDRICAL}};
    enum { TYPES = sizeof types / sizeof *types };
    const bool is_joint = lw_xml_is(element, "joint");
    const int count = is_joint ? TYPES - 2 : TYPES; /* the last are for closures with two axes, and others */
    const char *names[TYPES], *given = lw_xml_need(urdf->importer, element, object, "type");
    for (int k = 0; k < count && given; k++) {
        names[k] = types[k].name;
        if (strcmp(given, names[k]) != 0) continue;
        *type = types[k].type;
        return true;
    }
    if (!given) return false;
    char remedy[200];
    if (!lw_did_you_mean(lw_closest(given, names, (size_t)count), remedy, sizeof remedy))
        (void)snprintf(remedy, sizeof remedy,
                       "give revolute, continuous, prismatic, fixed, floating, planar%s",
                       is_joint ? " or spherical" : ", spherical, universal or cylindrical");
    lw_import_fault(urdf->importer, lw_xml_place(element, "type"), object, remedy,
                    "joint type \"%.60s\" is not known", given);
    return false;
}

static int read_end(lw_urdf *urdf, const lw_xml *element, const char *object, const char *side) {
    const lw_xml *end = lw_xml_child(element, side);
    if (!end) {
        lw_import_fault(urdf->importer, element->place, object,
                        lw_import_print(urdf->importer, "give <%s link=\"...\"/>", side), "<%s> is missing",
                        side);
        return -1;
    }
    const char *name = lw_xml_need(urdf->importer, end, object, "link");
    return name ? lw_urdf_find_link(urdf, name, lw_xml_place(end, "link"), object) : -1;
}

static void read_limits(lw_urdf *urdf, const lw_xml *element, lw_urdf_joint *joint) {
    lw_importer *importer = urdf->importer;
    const lw_xml *limit = lw_xml_child(element, "limit");
    if (!limit) return;
    const lw_xml_attribute *ends[2] = {lw_xml_find(limit, "lower"), lw_xml_find(limit, "upper")};
    double values[2] = {0, 0};
    for (int k = 0; k < 2; k++)
        if (ends[k])
            values[k] = lw_xml_limit(importer, ends[k]->value, ends[k]->place, joint->object, ends[k]->name);
    if (lw_xml_get(limit, "effort") || lw_xml_get(limit, "velocity"))
        lw_import_note_of(importer, limit->place, "limits of effort and velocity", "they limit nothing here");
    const char *type = lw_xml_get(element, "type");
    if ((joint->type != LW_JOINT_REVOLUTE && joint->type != LW_JOINT_PRISMATIC) ||
        (type && strcmp(type, "continuous") == 0))
        return;
    (void)lw_import_limits(importer, values[0], values[1], joint->limits, limit->place, joint->object);
}

static void read_joint(lw_urdf *urdf, const lw_xml *element) {
    lw_importer *importer = urdf->importer;
    const char *name = lw_xml_need(importer, element, "joint", "name");
    if (!name || !enter(urdf, &urdf->joint_names, element, name, urdf->joint_count)) return;
    lw_urdf_joint *joint = lw_urdf_new_joint(urdf);
    if (!joint) return;
    joint->name = name;
    joint->element = element;
    joint->place = element->place;
    joint->object = lw_import_print(importer, "joint \"%.80s\"", name);
    const bool known = lw_urdf_type(urdf, element, joint->object, &joint->type);
    joint->parent = read_end(urdf, element, joint->object, "parent");
    joint->child = read_end(urdf, element, joint->object, "child");
    joint->origin = lw_urdf_origin(importer, lw_xml_child(element, "origin"), joint->object);
    if (joint->parent >= 0 && joint->parent == joint->child)
        lw_import_fault(importer, element->place, joint->object, "name two different links",
                        "joins link \"%.80s\" to itself", urdf->links[joint->child].name);
    const lw_xml *axis = lw_xml_child(element, "axis"), *dynamics = lw_xml_child(element, "dynamics");
    if (axis && joint->type != LW_JOINT_WELD && joint->type != LW_JOINT_FREE &&
        joint->type != LW_JOINT_SPHERICAL)
        (void)lw_urdf_axis(importer, axis, joint->object, "xyz", joint->axis);
    if (known) read_limits(urdf, element, joint);
    joint->damping = lw_xml_number(importer, dynamics, joint->object, "damping", 0);
    joint->friction = lw_xml_number(importer, dynamics, joint->object, "friction", 0);
    if (joint->damping < 0 || joint->friction < 0)
        lw_import_fault(importer, dynamics->place, joint->object, "give zero or a positive number",
                        "damping %g, friction %g: one is negative", joint->damping, joint->friction);
    if (lw_xml_child(element, "safety_controller") || lw_xml_child(element, "calibration"))
        lw_import_note_of(importer, element->place, "safety controllers and calibrations", "passed over");
}

/* --- the tree ------------------------------------------------------------------------------------- */

/* Who carries each link; joints that carry none close loops. */
static void find_parents(lw_urdf *urdf) {
    for (int k = 0; k < urdf->joint_count; k++) {
        lw_urdf_joint *joint = &urdf->joints[k];
        if (joint->parent < 0 || joint->child < 0 || joint->parent == joint->child) continue;
        urdf->links[joint->parent].children++;
        if (joint->closure) continue;
        lw_urdf_link *child = &urdf->links[joint->child];
        if (child->parent < 0)
            child->parent = k;
        else
            joint->closure = true;
    }
}

/* Links in an order in which each comes behind its parent; returns how many there are that way. */
static int order_links(const lw_urdf *urdf, int *order) {
    int count = 0, *first = LW_NEW(urdf->importer->arena, int, urdf->link_count + 1),
        *next = LW_NEW(urdf->importer->arena, int, urdf->link_count + 1);
    if (!first || !next) {
        urdf->importer->out_of_memory = true;
        return 0;
    }
    for (int k = 0; k <= urdf->link_count; k++) first[k] = -1;
    for (int k = urdf->link_count - 1; k >= 0; k--) {
        const int joint = urdf->links[k].parent, parent = joint < 0 ? -1 : urdf->joints[joint].parent;
        const int slot = parent < 0 ? urdf->link_count : parent;
        next[k] = first[slot];
        first[slot] = k;
    }
    for (int k = first[urdf->link_count]; k >= 0; k = next[k]) order[count++] = k;
    for (int at = 0; at < count; at++)
        for (int k = first[order[at]]; k >= 0; k = next[k]) order[count++] = k;
    return count;
}

static void check_roots(lw_urdf *urdf, int reached, const int *order) {
    lw_importer *importer = urdf->importer;
    const lw_urdf_link *root = NULL;
    for (int k = 0; k < urdf->link_count; k++) {
        const lw_urdf_link *link = &urdf->links[k];
        if (link->parent >= 0) continue;
        if (root)
            lw_import_fault(importer, link->element->place, link->object,
                            "join it to another link, e.g. by a floating joint",
                            "no joint has it as its child, and \"%.80s\" is the root already", root->name);
        else
            root = link;
    }
    if (reached == urdf->link_count || importer->faults > 0) return;
    bool *seen = LW_NEW(importer->arena, bool, urdf->link_count + 1);
    for (int k = 0; k < reached && seen; k++) seen[order[k]] = true;
    for (int k = 0; k < urdf->link_count && seen; k++) {
        if (seen[k]) continue;
        lw_import_fault(importer, urdf->links[k].element->place, urdf->links[k].object,
                        "let one of the joints have another child",
                        "the joints above it lead back to itself, so that it has no root");
        return;
    }
}

/* --- into the spec -------------------------------------------------------------------------------- */

static bool is_ground(const lw_urdf_link *link) {
    return link->parent < 0 && strcmp(link->name, "world") == 0;
}

/* Measured inertias may have a negative moment, which no body has. */
static bool no_inertia_of_a_body(const lw_urdf_link *link) {
    double e[3], axes[9];
    if (link->massless || !lw_finite(link->inertia, 6)) return false;
    lw_s3_axes_ascending(link->inertia, e, axes);
    return e[0] < -1e-9 * fmax(-e[0], e[2]);
}

/* The body or frame that stands for a link. */
static void place_link(lw_urdf *urdf, int index) {
    lw_importer *importer = urdf->importer;
    lw_urdf_link *link = &urdf->links[index];
    const lw_urdf_joint *joint = link->parent < 0 ? NULL : &urdf->joints[link->parent];
    const lw_urdf_link *parent = joint ? &urdf->links[joint->parent] : NULL;
    const bool fixed = joint ? joint->type == LW_JOINT_WELD : importer->options.base == LW_BASE_FIXED;
    link->in_carrier = lw_pose_none();
    link->carrier = index;
    if (is_ground(link)) {
        link->carrier = LW_URDF_GROUND;
        link->body = LW_GROUND;
        if (!link->massless)
            lw_import_note_of(importer, link->element->place, "mass of the link world",
                              "it is the ground, which never moves");
        return;
    }
    link->body = lw_import_name(importer, &importer->bodies, link->name, link->element->place, "link");
    if (link->on >= 0) {
        const lw_urdf_link *other = &urdf->links[link->on];
        link->carrier = other->carrier;
        link->in_carrier = lw_pose_in(&other->in_carrier, &link->on_pose);
        return;
    }
    if (!fixed || importer->options.keep_fixed) return;
    if (!link->massless) { /* What matters is the inertia of all that is fixed to each other. */
        if (!no_inertia_of_a_body(link)) return;
        lw_import_warning(importer, link->element->place, link->object, "check the signs of its products",
                          "its inertia has a negative moment, which no body has; it counts as a part of what "
                          "it is fixed to, and its name is that of a frame");
        urdf->joined++;
    }
    link->carrier = parent ? parent->carrier : LW_URDF_GROUND;
    if (joint) link->in_carrier = lw_pose_in(&parent->in_carrier, &joint->origin);
}

static const char *carrier_name(const lw_urdf *urdf, int carrier) {
    return carrier == LW_URDF_GROUND ? LW_GROUND : urdf->links[carrier].body;
}

static void add_frame(lw_urdf *urdf, const lw_urdf_link *link) {
    lw_importer *importer = urdf->importer;
    lw_import_add_frame(importer, link->body, carrier_name(urdf, link->carrier), &link->in_carrier,
                        link->element->place);
    for (int k = 0; k < link->shapes.count; k++) {
        const lw_shape *shape = &link->shapes.items[k];
        lw_pose own = lw_pose_none();
        if (link->carrier == LW_URDF_GROUND) {
            lw_import_note_of(importer, link->element->place, "shapes of the ground", "they are not drawn");
            continue;
        }
        lw_v3_copy(shape->position, own.p);
        if (shape->rotation[0] != 0 || shape->rotation[1] != 0 || shape->rotation[2] != 0 ||
            shape->rotation[3] != 0)
            lw_rot_quat(shape->rotation, own.R);
        const lw_pose whole = lw_pose_in(&link->in_carrier, &own);
        lw_import_add_shape(importer, &urdf->links[link->carrier].shapes, shape, &whole, link->element->place,
                            link->object);
    }
}

static void add_body(lw_urdf *urdf, const lw_urdf_link *link) {
    lw_body_spec body = {.name = link->body, .mass = link->mass, .place = link->element->place};
    memcpy(body.com, link->com, sizeof body.com);
    memcpy(body.inertia, link->inertia, sizeof body.inertia);
    for (int k = 0; k < urdf->link_count && urdf->joined > 0;
         k++) { /* those that a closure has made parts of it */
        const lw_urdf_link *part = &urdf->links[k];
        if (part != link && part->carrier == link - urdf->links && !part->massless)
            lw_inertia_add(&body, part->mass, part->com, part->inertia, &part->in_carrier);
    }
    lw_import_give_shapes(&link->shapes, &body);
    lw_import_add_body(urdf->importer, &body);
}

static void add_root(lw_urdf *urdf, const lw_urdf_link *link) {
    lw_importer *importer = urdf->importer;
    const lw_pose none = lw_pose_none();
    lw_joint_spec joint = {.name = lw_import_own_name(importer, &importer->joints, "root"),
                           .type = importer->options.base == LW_BASE_FREE ? LW_JOINT_FREE : LW_JOINT_WELD,
                           .bodies = {LW_GROUND, link->body},
                           .place = link->element->place};
    lw_import_geometry(&joint, &none, &none, none.p, NULL, NULL);
    lw_import_add_joint(importer, &joint);
}

static void add_joint(lw_urdf *urdf, lw_urdf_joint *joint) {
    lw_importer *importer = urdf->importer;
    const double *x = NULL, *second = joint->type == LW_JOINT_UNIVERSAL ? joint->second_axis : NULL;
    double turned[9];
    if (joint->type == LW_JOINT_PLANAR) { /* x and y follow from the shortest turn of z into the normal. */
        lw_rot_z_to(joint->axis, turned);
        lw_v3_set(joint->x, turned[0], turned[3], turned[6]);
        x = joint->x;
    }
    lw_joint_spec spec = {.name = joint->own,
                          .type = joint->type,
                          .bodies = {urdf->links[joint->parent].body, urdf->links[joint->child].body},
                          .cut = joint->closure && !joint->joined,
                          .place = joint->place};
    memcpy(spec.limits[0], joint->limits, sizeof joint->limits);
    lw_import_geometry(&spec, &joint->origin, &joint->end, joint->axis, second, x);
    lw_import_add_joint(importer, &spec);
    if (joint->type == LW_JOINT_FREE || joint->type == LW_JOINT_WELD) return;
    const int speeds = lw_joint_type_v(joint->type, 0);
    for (int k = 0; k < speeds; k++)
        lw_import_add_friction(importer, joint->own, k, joint->damping, joint->friction, joint->place);
}

static void add_mimic(lw_urdf *urdf, const lw_urdf_joint *joint) {
    const lw_xml *mimic = lw_xml_child(joint->element, "mimic");
    if (!mimic) return;
    lw_importer *importer = urdf->importer;
    const char *name = lw_xml_need(importer, mimic, joint->object, "joint");
    const double multiplier = lw_xml_number(importer, mimic, joint->object, "multiplier", 1),
                 offset = lw_xml_number(importer, mimic, joint->object, "offset", 0);
    const int index = name ? lw_urdf_find_joint(urdf, name, lw_xml_place(mimic, "joint"), joint->object) : -1;
    if (index < 0) return;
    const lw_urdf_joint *other = &urdf->joints[index];
    if (other == joint) {
        lw_import_fault(importer, lw_xml_place(mimic, "joint"), joint->object, "name another joint",
                        "it mimics itself");
        return;
    }
    if (joint->type == LW_JOINT_WELD) { /* Published robots have it where fingers are fixed for a while. */
        lw_import_note_of(importer, mimic->place, "mimics of fixed joints", "they do not move");
        return;
    }
    const bool held = other->type == LW_JOINT_WELD; /* It mimics a coordinate that is zero. */
    if (lw_joint_type_v(joint->type, 0) != 1 || (!held && lw_joint_type_v(other->type, 0) != 1)) {
        lw_import_fault(
            importer, mimic->place, joint->object, "let both be revolute, continuous or prismatic",
            "it mimics \"%.80s\", but one of the two has not exactly one coordinate", other->name);
        return;
    }
    const char *const joints[2] = {joint->own, held ? NULL : other->own};
    const int coordinates[2] = {0, 0};
    const double factors[2] = {1, -multiplier};
    lw_import_add_coupling(importer, lw_import_print(importer, "%s.mimic", joint->own), joints, coordinates,
                           factors, offset, mimic->place);
}

/* Places every link after the one that its place depends on. */
static void place_all(lw_urdf *urdf, const int *order) {
    bool *placed = LW_NEW(urdf->importer->arena, bool, urdf->link_count + 1);
    int *waiting = LW_NEW(urdf->importer->arena, int, urdf->link_count + 1);
    if (!placed || !waiting) {
        urdf->importer->out_of_memory = true;
        return;
    }
    for (int k = 0; k < urdf->link_count; k++) {
        int count = 0;
        for (int link = order[k]; link >= 0 && !placed[link];) {
            const lw_urdf_link *own = &urdf->links[link];
            waiting[count++] = link;
            placed[link] = true; /* from here on */
            link = own->on >= 0 ? own->on : own->parent >= 0 ? urdf->joints[own->parent].parent : -1;
        }
        while (count > 0) place_link(urdf, waiting[--count]);
    }
}

static void fill_spec(lw_urdf *urdf, const int *order) {
    lw_importer *importer = urdf->importer;
    for (int k = 0; k < urdf->joint_count; k++)
        urdf->joints[k].own =
            lw_import_name(importer, &importer->joints, urdf->joints[k].name, urdf->joints[k].place, "joint");
    place_all(urdf, order);
    for (int k = 0; k < urdf->link_count; k++) {
        const lw_urdf_link *link = &urdf->links[k];
        if (link->carrier != k && !is_ground(link)) add_frame(urdf, link);
    }
    for (int k = 0; k < urdf->link_count; k++)
        if (urdf->links[k].carrier == k) add_body(urdf, &urdf->links[k]);
    const lw_urdf_link *root = &urdf->links[order[0]];
    if (root->carrier == order[0]) add_root(urdf, root);
    for (int k = 0; k < urdf->joint_count; k++) {
        lw_urdf_joint *joint = &urdf->joints[k];
        const lw_urdf_link *child = &urdf->links[joint->child];
        if (!joint->left_out && (joint->closure || child->carrier == joint->child)) add_joint(urdf, joint);
    }
    for (int k = 0; k < urdf->joint_count; k++)
        if (urdf->joints[k].element) add_mimic(urdf, &urdf->joints[k]);
    lw_urdf_add_couplings(urdf);
    lw_urdf_add_motors(urdf);
}

static void read_rest(lw_urdf *urdf) {
    static const char *const used[] = {"link", "joint", "material", "loop", "coupling", "constraint", NULL};
    for (const lw_xml *part = urdf->root->first; part; part = part->next) {
        bool known = strncmp(part->name, "drake:", 6) == 0;
        for (int k = 0; used[k]; k++) known = known || lw_xml_is(part, used[k]);
        if (known) continue;
        const bool motors = lw_xml_is(part, "transmission") || lw_xml_is(part, "ros2_control");
        lw_import_note_of(urdf->importer, part->place,
                          lw_import_print(urdf->importer, "<%.40s> elements", part->name),
                          motors ? "no motor acts; give drives in a model file" : "passed over");
    }
}

/* Some files, and Drake, take a link "world" as given: where a joint has it as its parent and the file does
 * not hold it, it is there. */
static void add_world(lw_urdf *urdf) {
    lw_importer *importer = urdf->importer;
    if (lw_results_table_find(&urdf->link_names, "world")) return;
    for (const lw_xml *e = lw_xml_child(urdf->root, "joint"); e; e = lw_xml_next(e)) {
        const lw_xml *parent = lw_xml_child(e, "parent");
        const char *link = lw_xml_get(parent, "link");
        if (!link || strcmp(link, "world") != 0) continue;
        if (!enter(urdf, &urdf->link_names, parent, link, urdf->link_count)) return;
        urdf->links[urdf->link_count++] = (lw_urdf_link){
            .name = link, .element = parent, .parent = -1, .on = -1, .object = "link \"world\""};
        lw_import_warning(importer, lw_xml_place(parent, "link"), NULL, "give <link name=\"world\"/>",
                          "there is no link \"world\"; the ground is taken for it");
        return;
    }
}

void lw_import_urdf(lw_importer *importer) {
    lw_urdf urdf = {.importer = importer};
    urdf.root = lw_xml_parse(importer, importer->text, importer->length, importer->file);
    if (!urdf.root) return;
    const char *name = lw_xml_get(urdf.root, "name");
    if (!name || !name[0])
        lw_import_warning(importer, urdf.root->place, NULL, "give <robot name=\"...\">",
                          "the robot has no name");
    importer->spec = lw_spec_create(name && name[0] ? name : "robot");
    for (const lw_xml *e = lw_xml_child(urdf.root, "link"); e; e = lw_xml_next(e)) urdf.link_count++;
    urdf.links = LW_NEW(importer->arena, lw_urdf_link, urdf.link_count + 2); /* and perhaps the world */
    int *order = LW_NEW(importer->arena, int, urdf.link_count + 2);
    if (!importer->spec || !urdf.links || !order) {
        importer->out_of_memory = true;
        return;
    }
    urdf.link_count = 0;
    for (const lw_xml *e = lw_xml_child(urdf.root, "link"); e; e = lw_xml_next(e)) {
        const char *own = lw_xml_need(importer, e, "link", "name");
        if (!own || !enter(&urdf, &urdf.link_names, e, own, urdf.link_count)) continue;
        urdf.links[urdf.link_count++] =
            (lw_urdf_link){.name = own,
                           .element = e,
                           .parent = -1,
                           .on = -1,
                           .object = lw_import_print(importer, "link \"%.80s\"", own)};
    }
    if (urdf.link_count > 0) add_world(&urdf);
    if (urdf.link_count == 0 && importer->faults == 0)
        lw_import_fault(importer, urdf.root->place, NULL, "give at least <link name=\"base\"/>",
                        "the robot has no links");
    for (const lw_xml *e = lw_xml_child(urdf.root, "joint"); e; e = lw_xml_next(e)) read_joint(&urdf, e);
    lw_urdf_read_links(&urdf);
    read_rest(&urdf);
    lw_urdf_read_closures(&urdf);
    if (importer->faults > 0 || importer->out_of_memory) return;
    find_parents(&urdf);
    const int reached = order_links(&urdf, order);
    check_roots(&urdf, reached, order);
    if (importer->faults == 0) lw_urdf_join_welds(&urdf);
    if (importer->faults == 0 && !importer->out_of_memory) fill_spec(&urdf, order);
    lw_import_unread(importer, urdf.root, false);
}

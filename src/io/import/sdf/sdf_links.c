/* sdf_links.c - links of an SDF: mass properties, and shapes to draw.
 *
 * What a link does not say has the values of the format: a mass of 1 kg and moments of inertia of 1 kg m^2,
 * which a note tells. inertial auto="true" takes them from the collision shapes and their density, 1000
 * kg/m^3 if left out.
 */
#include "io/import/sdf/sdf_parts.h"
#include "io/number.h"

#include <string.h>

/* The solid of a <geometry>; false: nothing that is drawn here, which is noted. */
static bool read_geometry(lw_sdf *sdf, const lw_xml *geometry, const char *object, lw_shape *shape) {
    lw_importer *importer = sdf->importer;
    const lw_xml *solid = geometry ? geometry->first : NULL;
    *shape = (lw_shape){.kind = LW_SHAPE_NONE, .size = {1, 1, 1}};
    if (!solid) return false;
    if (lw_xml_is(solid, "box")) {
        shape->kind = LW_SHAPE_BOX;
        return lw_sdf_vector(importer, solid, object, "size", 3, shape->size) || importer->faults == 0;
    }
    if (lw_xml_is(solid, "cylinder") || lw_xml_is(solid, "capsule") || lw_xml_is(solid, "cone")) {
        shape->kind = lw_xml_is(solid, "cylinder")  ? LW_SHAPE_CYLINDER
                      : lw_xml_is(solid, "capsule") ? LW_SHAPE_CAPSULE
                                                    : LW_SHAPE_CONE;
        shape->size[0] = lw_sdf_number(importer, solid, object, "radius", 0.5);
        shape->size[1] = lw_sdf_number(importer, solid, object, "length", 1);
        return true;
    }
    if (lw_xml_is(solid, "sphere")) {
        shape->kind = LW_SHAPE_SPHERE;
        shape->size[0] = lw_sdf_number(importer, solid, object, "radius", 1);
        return true;
    }
    if (lw_xml_is(solid, "ellipsoid")) {
        shape->kind = LW_SHAPE_ELLIPSOID;
        (void)lw_sdf_vector(importer, solid, object, "radii", 3, shape->size);
        return true;
    }
    if (lw_xml_is(solid, "mesh")) {
        const lw_xml *uri = lw_xml_child(solid, "uri");
        shape->kind = LW_SHAPE_MESH;
        (void)lw_sdf_vector(importer, solid, object, "scale", 3, shape->size);
        shape->mesh =
            uri && uri->text[0] ? lw_import_mesh(importer, uri->text, uri->text_place, object) : NULL;
        return shape->mesh != NULL;
    }
    lw_import_note_of(importer, solid->place, lw_import_print(importer, "<%.40s> shapes", solid->name),
                      "they are not drawn");
    return false;
}

static void read_visual(lw_sdf *sdf, const lw_sdf_item *link, const lw_xml *visual, lw_shape_list *shapes) {
    lw_importer *importer = sdf->importer;
    lw_shape shape;
    double rgba[4];
    if (!read_geometry(sdf, lw_xml_child(visual, "geometry"), link->object, &shape)) return;
    const lw_xml *material = lw_xml_child(visual, "material");
    const lw_xml *colour = lw_xml_child(material, "diffuse");
    if (!colour) colour = lw_xml_child(material, "ambient");
    if (colour && colour->text[0]) {
        const int count = lw_xml_read_numbers(importer, colour->text, colour->text_place, link->object,
                                              colour->name, 3, 4, rgba);
        if (count >= 3) shape.colour = lw_import_colour(rgba);
    }
    lw_pose pose = lw_sdf_pose(importer, lw_xml_child(visual, "pose"), link->object);
    if (shape.kind == LW_SHAPE_CONE) { /* Centred at half its height there. */
        const lw_pose down = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, -0.5 * shape.size[1]}};
        pose = lw_pose_in(&pose, &down);
    }
    lw_import_add_shape(importer, shapes, &shape, &pose, visual->place, link->object);
}

static void weigh_collisions(lw_sdf *sdf, const lw_sdf_item *link, const lw_xml *inertial,
                             lw_body_spec *body) {
    lw_importer *importer = sdf->importer;
    const double common = lw_sdf_number(importer, inertial, link->object, "density", 1000);
    lw_body_spec sum = {.mass = 0};
    for (const lw_xml *c = lw_xml_child(link->element, "collision"); c; c = lw_xml_next(c)) {
        const double density = lw_sdf_number(importer, c, link->object, "density", common);
        lw_shape shape;
        double mass, com[3], inertia[6];
        lw_pose pose = lw_sdf_pose(importer, lw_xml_child(c, "pose"), link->object);
        const lw_xml *geometry = lw_xml_child(c, "geometry");
        if (!read_geometry(sdf, geometry, link->object, &shape) ||
            lw_shape_inertia(&shape, 0, density, &mass, com, inertia) != LW_OK) {
            lw_import_fault(importer, c->place, link->object, "give mass and inertia as numbers",
                            "inertial auto=\"true\" needs the volume of this collision shape, which is not "
                            "known");
            return;
        }
        if (shape.kind == LW_SHAPE_CONE) com[2] -= 0.5 * shape.size[1];
        lw_inertia_add(&sum, mass, com, inertia, &pose);
    }
    body->mass = sum.mass;
    memcpy(body->com, sum.com, sizeof sum.com);
    memcpy(body->inertia, sum.inertia, sizeof sum.inertia);
}

static void read_inertial(lw_sdf *sdf, const lw_sdf_item *link, lw_body_spec *body) {
    static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    lw_importer *importer = sdf->importer;
    const lw_xml *inertial = lw_xml_child(link->element, "inertial"),
                 *inertia = lw_xml_child(inertial, "inertia");
    double moments[6] = {1, 1, 1, 0, 0, 0};
    body->mass = 1;
    if (lw_xml_flag(importer, inertial, link->object, "auto", false)) {
        weigh_collisions(sdf, link, inertial, body);
        return;
    }
    if (!inertial || !inertia || !lw_xml_child(inertial, "mass"))
        lw_import_note_of(importer, link->element->place, "links without mass or inertia",
                          "they have those that the format prescribes, 1 kg and 1 kg m^2 about each axis");
    body->mass = lw_sdf_number(importer, inertial, link->object, "mass", 1);
    if (body->mass < 0)
        lw_import_fault(importer, lw_xml_child(inertial, "mass")->text_place, link->object,
                        "give zero or a positive mass", "mass %g is negative", body->mass);
    for (int k = 0; k < 6 && inertia; k++)
        moments[k] = lw_sdf_number(importer, inertia, link->object, names[k], moments[k]);
    if (lw_xml_child(inertial, "fluid_added_mass"))
        lw_import_note_of(importer, inertial->place, "<fluid_added_mass>", "no fluid acts");
    const lw_pose pose = lw_sdf_pose(importer, lw_xml_child(inertial, "pose"), link->object);
    lw_inertia_in(&pose, moments, body->com, body->inertia);
}

static void note_rest(lw_sdf *sdf, const lw_sdf_item *link) {
    static const char *const known[] = {"pose",    "inertial",     "visual",    "collision",
                                        "gravity", "self_collide", "kinematic", "must_be_base_link"};
    lw_importer *importer = sdf->importer;
    for (const lw_xml *part = link->element->first; part; part = part->next) {
        bool is_known = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            is_known = is_known || lw_xml_is(part, known[k]);
        if (lw_xml_is(part, "collision"))
            lw_import_note_of(importer, part->place, "collision shapes",
                              "nothing touches: bodies pass through each other and through the ground");
        else if (lw_xml_is(part, "velocity_decay"))
            lw_import_note_of(importer, part->place, "<velocity_decay>", "nothing slows the link down by it");
        else if (lw_xml_is(part, "enable_wind"))
            continue;
        else if (!is_known)
            lw_import_note_of(importer, part->place,
                              lw_import_print(importer, "<%.40s> of links", part->name), "passed over");
    }
    if (lw_sdf_flag(importer, link->element, link->object, "kinematic", false))
        lw_import_note_of(importer, link->element->place, "kinematic links", "forces move them here");
}

/* A link without gravity: a force at its centre of mass that bears its weight. */
static void bear(lw_sdf *sdf, const lw_sdf_item *link, const lw_body_spec *body) {
    lw_importer *importer = sdf->importer;
    const double *gravity = lw_spec_gravity(importer->spec);
    lw_force_spec lift = {.name = lw_import_own_name(importer, &importer->forces,
                                                     lw_import_print(importer, "%s.weightless", link->body)),
                          .type = LW_FORCE_APPLIED,
                          .bodies = {link->body, LW_GROUND},
                          .frame = LW_GEOMETRY_BODY,
                          .place = link->element->place};
    bool any = false;
    lw_v3_copy(body->com, lift.points[0]);
    for (int k = 0; k < 3; k++) {
        char digits[LW_NUMBER_SIZE];
        if (gravity[k] == 0 || body->mass == 0) continue;
        (void)lw_number_print(-body->mass * gravity[k], digits);
        lift.force[k] = lw_import_print(importer, "%s", digits);
        any = true;
    }
    if (any) lw_import_add_force(importer, &lift);
}

void lw_sdf_add_link(lw_sdf *sdf, lw_sdf_item *link) {
    lw_importer *importer = sdf->importer;
    lw_shape_list shapes = {.items = NULL};
    if (link->is_static) {
        lw_import_add_frame(importer, link->body, LW_GROUND, &link->world, link->element->place);
        if (lw_xml_child(link->element, "visual"))
            lw_import_note_of(importer, link->element->place, "shapes of the ground", "they are not drawn");
        return;
    }
    lw_body_spec body = {.name = link->body, .place = link->element->place};
    read_inertial(sdf, link, &body);
    for (const lw_xml *v = lw_xml_child(link->element, "visual"); v; v = lw_xml_next(v))
        read_visual(sdf, link, v, &shapes);
    note_rest(sdf, link);
    lw_import_give_shapes(&shapes, &body);
    lw_import_add_body(importer, &body);
    if (!lw_sdf_flag(importer, link->element, link->object, "gravity", true)) bear(sdf, link, &body);
}

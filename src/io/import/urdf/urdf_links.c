/* urdf_links.c - links of a URDF: mass properties, and shapes to draw.
 */
#include "io/import/urdf/urdf_parts.h"

#include <string.h>

lw_pose lw_urdf_origin(lw_importer *importer, const lw_xml *element, const char *object) {
    static const char *const names[] = {"xyz", "rpy", "quat_xyzw", NULL};
    double xyz[3] = {0, 0, 0}, rpy[3] = {0, 0, 0}, quat[4];
    if (!element) return lw_pose_none();
    lw_xml_known(importer, element, object, names);
    (void)lw_xml_vector(importer, element, object, "xyz", 3, xyz);
    (void)lw_xml_vector(importer, element, object, "rpy", 3, rpy);
    lw_pose pose = lw_pose_rpy(xyz, rpy);
    if (lw_xml_vector(importer, element, object, "quat_xyzw", 4, quat)) {
        const double turned[4] = {quat[3], quat[0], quat[1], quat[2]};
        if (turned[0] == 0 && turned[1] == 0 && turned[2] == 0 && turned[3] == 0)
            lw_import_fault(importer, lw_xml_place(element, "quat_xyzw"), object, "give e.g. 0 0 0 1",
                            "the quaternion is zero and means no rotation");
        else
            lw_rot_quat(turned, pose.R);
    }
    return pose;
}

bool lw_urdf_axis(lw_importer *importer, const lw_xml *element, const char *object, const char *attribute,
                  double axis[3]) {
    double given[3];
    if (!lw_xml_vector(importer, element, object, attribute, 3, given)) return false;
    const double largest = fmax(fabs(given[0]), fmax(fabs(given[1]), fabs(given[2])));
    if (!(largest > 0)) {
        lw_import_fault(importer, lw_xml_place(element, attribute), object,
                        "give any non-zero vector, e.g. 0 0 1", "axis [0, 0, 0] has no direction");
        return false;
    }
    for (int k = 0; k < 3; k++) given[k] /= largest;
    const double norm = lw_v3_norm(given);
    for (int k = 0; k < 3; k++) axis[k] = given[k] / norm;
    return true;
}

static void read_inertial(lw_importer *importer, lw_urdf_link *link) {
    static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const lw_xml *inertial = lw_xml_child(link->element, "inertial");
    link->massless = true;
    if (!inertial) return;
    const lw_xml *mass = lw_xml_child(inertial, "mass"), *inertia = lw_xml_child(inertial, "inertia");
    const lw_pose pose = lw_urdf_origin(importer, lw_xml_child(inertial, "origin"), link->object);
    double moments[6] = {0, 0, 0, 0, 0, 0};
    if (!mass)
        lw_import_warning(importer, inertial->place, link->object, "give <mass value=\"...\"/>",
                          "its inertial has no mass, which counts as zero");
    else if (lw_xml_need(importer, mass, link->object, "value"))
        link->mass = lw_xml_number(importer, mass, link->object, "value", 0);
    for (int k = 0; k < 6 && inertia; k++)
        moments[k] = lw_xml_number(importer, inertia, link->object, names[k], 0);
    if (link->mass < 0)
        lw_import_fault(importer, lw_xml_place(mass, "value"), link->object, "give zero or a positive mass",
                        "mass %g is negative", link->mass);
    lw_inertia_in(&pose, moments, link->com, link->inertia);
    link->massless = link->mass == 0;
    for (int k = 0; k < 6; k++) link->massless = link->massless && moments[k] == 0;
}

/* --- shapes --------------------------------------------------------------------------------------- */

static int colour_of(lw_urdf *urdf, const lw_xml *visual, const char *object) {
    const lw_xml *material = lw_xml_child(visual, "material"), *colour = lw_xml_child(material, "color");
    const char *name = lw_xml_get(material, "name");
    for (const lw_xml *m = lw_xml_child(urdf->root, "material"); m && !colour && name; m = lw_xml_next(m))
        if (lw_xml_get(m, "name") && strcmp(lw_xml_get(m, "name"), name) == 0)
            colour = lw_xml_child(m, "color");
    double rgba[4];
    return lw_xml_vector(urdf->importer, colour, object, "rgba", 4, rgba) ? lw_import_colour(rgba) : 0;
}

static void read_visual(lw_urdf *urdf, lw_urdf_link *link, const lw_xml *visual) {
    lw_importer *importer = urdf->importer;
    const lw_xml *geometry = lw_xml_child(visual, "geometry"), *solid = geometry ? geometry->first : NULL;
    const lw_pose pose = lw_urdf_origin(importer, lw_xml_child(visual, "origin"), link->object);
    lw_shape shape = {.kind = LW_SHAPE_NONE, .size = {1, 1, 1}};
    if (!solid) {
        lw_import_warning(importer, visual->place, link->object, "give e.g. <geometry><box size=\"1 1 1\"/>",
                          "a visual has no geometry");
        return;
    }
    if (lw_xml_is(solid, "box")) {
        shape.kind = LW_SHAPE_BOX;
        if (!lw_xml_vector(importer, solid, link->object, "size", 3, shape.size)) return;
    } else if (lw_xml_is(solid, "cylinder") || lw_xml_is(solid, "capsule")) {
        shape.kind = lw_xml_is(solid, "cylinder") ? LW_SHAPE_CYLINDER : LW_SHAPE_CAPSULE;
        shape.size[0] = lw_xml_number(importer, solid, link->object, "radius", 0);
        shape.size[1] = lw_xml_number(importer, solid, link->object, "length", 0);
    } else if (lw_xml_is(solid, "sphere")) {
        shape.kind = LW_SHAPE_SPHERE;
        shape.size[0] = lw_xml_number(importer, solid, link->object, "radius", 0);
    } else if (lw_xml_is(solid, "mesh")) {
        const char *uri = lw_xml_need(importer, solid, link->object, "filename");
        (void)lw_xml_numbers(importer, solid, link->object, "scale", 3, 3, shape.size);
        shape.kind = LW_SHAPE_MESH;
        shape.mesh =
            uri ? lw_import_mesh(importer, uri, lw_xml_place(solid, "filename"), link->object) : NULL;
        if (!shape.mesh) return;
    } else {
        lw_import_note_of(importer, solid->place, "visual shapes of unknown kinds", "they are not drawn");
        return;
    }
    shape.colour = colour_of(urdf, visual, link->object);
    lw_import_add_shape(importer, &link->shapes, &shape, &pose, solid->place, link->object);
}

void lw_urdf_read_links(lw_urdf *urdf) {
    static const char *const known[] = {"inertial", "visual", "collision", NULL};
    for (int k = 0; k < urdf->link_count; k++) {
        lw_urdf_link *link = &urdf->links[k];
        read_inertial(urdf->importer, link);
        for (const lw_xml *part = link->element->first; part; part = part->next) {
            bool is_known = false;
            for (int n = 0; known[n]; n++) is_known = is_known || lw_xml_is(part, known[n]);
            if (lw_xml_is(part, "visual")) {
                urdf->importer->drawing = true;
                read_visual(urdf, link, part);
                urdf->importer->drawing = false;
            } else if (lw_xml_is(part, "collision"))
                lw_import_note_of(urdf->importer, part->place, "collision shapes",
                                  "nothing touches: bodies pass through each other and through the ground");
            else if (!is_known)
                lw_import_note_of(urdf->importer, part->place,
                                  lw_import_print(urdf->importer, "<%.40s> of links", part->name),
                                  "passed over");
        }
    }
}

/* mjcf_geoms.c - geoms of MJCF: shapes of bodies, which have mass, touch each other and are seen.
 *
 * Sizes are half those of a spec: a box of half-lengths, a capsule and a cylinder of half-lengths (that of
 * the capsule without its half balls). With fromto, capsule, cylinder, ellipsoid and box lie between two
 * points, along their z axis.
 */
#include "io/import/mjcf/mjcf.h"

#include <string.h>

typedef enum mj_geom_type {
    PLANE = 0,
    HFIELD,
    SPHERE,
    CAPSULE,
    ELLIPSOID,
    CYLINDER,
    BOX,
    MESH,
    SDF,
    GEOM_TYPES
} mj_geom_type;

/* How many sizes a type has, and its shape. */
static const struct {
    int sizes;
    lw_shape_kind kind;
} types[GEOM_TYPES] = {[PLANE] = {0, LW_SHAPE_NONE},
                       [HFIELD] = {0, LW_SHAPE_NONE},
                       [SPHERE] = {1, LW_SHAPE_SPHERE},
                       [CAPSULE] = {2, LW_SHAPE_CAPSULE},
                       [ELLIPSOID] = {3, LW_SHAPE_ELLIPSOID},
                       [CYLINDER] = {2, LW_SHAPE_CYLINDER},
                       [BOX] = {3, LW_SHAPE_BOX},
                       [MESH] = {0, LW_SHAPE_MESH},
                       [SDF] = {0, LW_SHAPE_NONE}};

/* Sizes of the element into those of a spec's shape; false with a message if they are not right. */
static bool read_size(mj_reader *reader, const mj_element *element, mj_geom_type type, bool between,
                      double length, double size[3]) {
    const int needed = types[type].sizes;
    double given[3] = {0, 0, 0};
    int count = mj_numbers(reader, element, "size", 0, 3, given);
    if (between) {
        /* The length is that between the points, and the others come first. */
        if (type == BOX || type == ELLIPSOID)
            given[1] = given[0], given[2] = length / 2;
        else
            given[1] = length / 2;
        if (count > 0) count = 3;
    }
    for (int k = 0; k < needed; k++)
        if (k >= count || !(given[k] > 0)) {
            mj_error(reader, element->node, "size", "give positive sizes",
                     "size %d of a %s is missing or not positive", k + 1,
                     mj_text(reader, element, "type") ? mj_text(reader, element, "type") : "sphere");
            return false;
        }
    for (int k = 0; k < 3; k++) size[k] = given[k];
    if (type == BOX)
        for (int k = 0; k < 3; k++) size[k] *= 2;
    if (type == CAPSULE || type == CYLINDER) size[1] *= 2;
    return true;
}

static int colour_of(mj_reader *reader, const mj_element *element) {
    double rgba[4];
    const char *material = mj_text(reader, element, "material");
    if (mj_numbers(reader, element, "rgba", 3, 4, rgba) >= 3) return lw_import_colour(rgba);
    const mj_material *known = reader->materials.items;
    for (int k = 0; material && k < reader->materials.count; k++)
        if (strcmp(known[k].name, material) == 0) return known[k].colour;
    return 0;
}

void mj_read_geom(mj_reader *reader, const lw_xml *node, int body, const lw_pose *frame, int childclass) {
    static const char *const names[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                        "cylinder", "box",    "mesh",   "sdf",     NULL};
    const mj_element element = mj_with_class(reader, node, "geom", childclass);
    const int type = mj_word(reader, &element, "type", names, SPHERE);
    if (type < 0) return;
    mj_geom geom = {.node = node, .body = body, .density = 1000, .mesh = -1};
    double ends[6], group = 0, contacts[2] = {1, 1}, along[3] = {0, 0, 0}, length = 0;
    bool shell = false;
    lw_pose pose;
    mj_read_pose(reader, &element, &pose);
    const bool fits = type == CAPSULE || type == ELLIPSOID || type == CYLINDER || type == BOX;
    const bool between = fits && mj_numbers(reader, &element, "fromto", 6, 6, ends) == 6;
    if (between) {
        /* MuJoCo turns z towards the first point; shapes are the same either way. */
        for (int k = 0; k < 3; k++) pose.p[k] = (ends[k] + ends[3 + k]) / 2, along[k] = ends[k] - ends[3 + k];
        length = mj_unit(along, along);
        if (!(length > 1e-15)) {
            mj_error(reader, node, "fromto", "give two different points", "fromto has no length");
            return;
        }
        lw_rot_z_to(along, pose.R);
    }
    pose = lw_pose_in(frame, &pose);
    geom.has_mass = mj_number(reader, &element, "mass", &geom.mass);
    (void)mj_number(reader, &element, "density", &geom.density);
    (void)mj_number(reader, &element, "group", &group);
    (void)mj_number(reader, &element, "contype", &contacts[0]);
    (void)mj_number(reader, &element, "conaffinity", &contacts[1]);
    (void)mj_flag(reader, &element, "shellinertia", &shell);
    geom.group = (int)fmax(-1e6, fmin(1e6, group));
    geom.collides = contacts[0] != 0 || contacts[1] != 0;
    geom.shell = shell;
    if (geom.mass < 0 || geom.density < 0) {
        mj_error(reader, node, geom.mass < 0 ? "mass" : "density", "give zero or a positive number",
                 "%s is negative", geom.mass < 0 ? "mass" : "density");
        return;
    }
    geom.shape.kind = types[type].kind;
    geom.shape.colour = colour_of(reader, &element);
    lw_pose_parts(&pose, geom.shape.position, geom.shape.rotation);
    const char *mesh = mj_text(reader, &element, "mesh");
    if (type == MESH || (mesh && fits)) {
        const int k = mesh ? mj_find_mesh(reader, mesh) : -1;
        if (k < 0) {
            mj_error(reader, node, mesh ? "mesh" : NULL, "define it in <asset>",
                     mesh ? "there is no mesh \"%.60s\"" : "a geom of type mesh names no mesh%s",
                     mesh ? mesh : "");
            return;
        }
        const mj_mesh *of = MJ_MESH(reader, k);
        /* A primitive that MuJoCo would fit to a mesh is drawn as the mesh, and has no mass. */
        geom.unknown = !of->known || type != MESH;
        geom.shape.kind = of->loaded ? LW_SHAPE_MESH : LW_SHAPE_NONE;
        geom.shape.mesh = &of->mesh;
        lw_v3_copy(of->scale, geom.shape.size);
        geom.mesh = k;
    } else if (!read_size(reader, &element, (mj_geom_type)type, between, length, geom.shape.size))
        if (types[type].sizes > 0) return;
    if (type == SDF) geom.unknown = true;
    if (body != 0 && type == PLANE && MJ_BODY(reader, body)->joint_count > 0)
        mj_warn(reader, node, NULL, NULL, "a plane on a body that moves is not drawn and touches nothing");
    mj_geom *added = mj_add(reader, &reader->geoms, sizeof *added);
    if (added) *added = geom;
}

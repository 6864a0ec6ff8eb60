/* write_bodies.c - bodies and their shapes in a model file.
 *
 * A value is left out only if the reader computes the same from the shapes, to the last bit. Where shapes of
 * their own masses do not give the body's mass, centre or inertia, because a caller has changed it, these are
 * written, and the shapes without masses.
 */
#include "io/model_write/write_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    lw_writer *w;
    lw_mesh_has_file *has_file;
    const void *context;
} body_writer;

/* --- shapes --------------------------------------------------------------------------------------- */

static void put_triangles(lw_writer *w, const lw_mesh_spec *mesh) {
    lw_put_key(w, "triangles");
    for (size_t t = 0; t < (size_t)mesh->triangle_count; t++) {
        const int *at = mesh->triangles + 3 * t;
        char text[64];
        lw_put(w, t ? ", " : "[");
        size_t part = w->length;
        (void)snprintf(text, sizeof text, "[%d, %d, %d]", at[0], at[1], at[2]);
        lw_put(w, text);
        if (t > 0) lw_fit(w, part);
    }
    lw_put(w, "]");
}

static void put_mesh(const body_writer *b, const lw_shape *shape) {
    lw_writer *w = b->w;
    const lw_mesh_spec *mesh = shape->mesh;
    if (!mesh || mesh->vertex_count < 1 || mesh->triangle_count < 1 || !mesh->vertices || !mesh->triangles) {
        lw_write_fault(w, LW_ERROR_ARGUMENT, "give vertices and triangles", "its mesh is empty");
        return;
    }
    if (b->has_file(mesh, b->context)) {
        lw_write_text(w, "file", mesh->file);
    } else {
        lw_write_list(w, "vertices", (const double(*)[3])(const void *)mesh->vertices, mesh->vertex_count);
        put_triangles(w, mesh);
    }
    const double *s = shape->size;
    if (memcmp(&s[0], &s[1], sizeof *s) != 0 || memcmp(&s[0], &s[2], sizeof *s) != 0)
        lw_write_numbers(w, "scale", s, 3);
    else if (s[0] != 1)
        lw_write_number(w, "scale", s[0]);
}

static void put_extent(const body_writer *b, const lw_shape *shape) {
    lw_writer *w = b->w;
    switch (shape->kind) {
    case LW_SHAPE_BOX:
        lw_write_numbers(w, "size", shape->size, 3);
        break;
    case LW_SHAPE_CYLINDER:
    case LW_SHAPE_CAPSULE:
        lw_write_number(w, "radius", shape->size[0]);
        lw_write_number(w, "length", shape->size[1]);
        break;
    case LW_SHAPE_SPHERE:
        lw_write_number(w, "radius", shape->size[0]);
        break;
    case LW_SHAPE_CONE:
        lw_write_number(w, "radius", shape->size[0]);
        lw_write_number(w, "height", shape->size[1]);
        break;
    case LW_SHAPE_ROD:
        lw_write_list(w, "points", shape->points, 2);
        if (shape->size[0] != 0) lw_write_number(w, "radius", shape->size[0]);
        break;
    case LW_SHAPE_TETRAHEDRON:
        lw_write_list(w, "points", shape->points, 4);
        break;
    case LW_SHAPE_ELLIPSOID:
        lw_write_numbers(w, "radii", shape->size, 3);
        break;
    case LW_SHAPE_MESH:
        put_mesh(b, shape);
        break;
    case LW_SHAPE_NONE:
    case LW_SHAPE_KINDS:
        break;
    }
    if (shape->colour) {
        char text[16];
        (void)snprintf(text, sizeof text, "\"#%06x\"", (unsigned)shape->colour & 0xFFFFFFu);
        lw_write_word(w, "colour", text);
    }
}

static const char *name_of(const lw_shape *shape) {
    static const char *const names[LW_SHAPE_KINDS] = {"none", "box",         "cylinder", "sphere",    "cone",
                                                      "rod",  "tetrahedron", "capsule",  "ellipsoid", "mesh"};
    return names[shape->kind];
}

/* brace: where it begins if a line may be broken there, else 0. */
static void put_placed(const body_writer *b, const lw_shape *shape, bool with_mass, size_t brace) {
    lw_writer *w = b->w;
    lw_open(w);
    if (brace > 0) w->part = brace;
    lw_write_word(w, "type", name_of(shape));
    put_extent(b, shape);
    if (!lw_nothing(shape->position, 3)) lw_write_numbers(w, "position", shape->position, 3);
    if (!lw_nothing(shape->rotation, 4)) lw_write_rotation(w, shape->rotation);
    if (with_mass && shape->density > 0)
        lw_write_number(w, "density", shape->density);
    else if (with_mass && shape->has_mass)
        lw_write_number(w, "mass", shape->mass);
    lw_close(w);
}

static void put_shape(const body_writer *b, const lw_shape *shape) {
    lw_writer *w = b->w;
    if (lw_nothing(shape->position, 3) && lw_nothing(shape->rotation, 4)) {
        lw_write_word(w, "shape", name_of(shape));
        put_extent(b, shape);
        return;
    }
    lw_put_key(w, "shape");
    put_placed(b, shape, false, 0);
}

static void put_shapes(const body_writer *b, const lw_body_spec *body, bool with_masses) {
    lw_writer *w = b->w;
    lw_put_key(w, "shapes");
    lw_put(w, "[");
    for (int k = 0; k < body->shape_count; k++) {
        if (k > 0) lw_put(w, ", ");
        put_placed(b, &body->shapes[k], with_masses, k > 0 ? w->length : 0);
    }
    lw_put(w, "]");
}

/* --- masses --------------------------------------------------------------------------------------- */

/* What the reader makes of the shapes if the file gives no more than the mass, or nothing if a shape has one;
 * false if it makes nothing of them. Rotations are written with unit length. */
static bool masses_of_shapes(const lw_body_spec *body, bool own, double *total, double com[3],
                             double inertia[6]) {
    if (body->shape_count == 0) {
        lw_shape shape = body->shape;
        lw_unit_rotation(body->shape.rotation, shape.rotation);
        return lw_shape_inertia(&shape, fmax(body->mass, 0), 0, total, com, inertia) == LW_OK;
    }
    lw_arena *arena = lw_arena_create(NULL);
    lw_shape *shapes = LW_NEW(arena, lw_shape, body->shape_count);
    for (int k = 0; k < body->shape_count && shapes; k++) {
        shapes[k] = body->shapes[k];
        lw_unit_rotation(body->shapes[k].rotation, shapes[k].rotation);
        if (!own) shapes[k].has_mass = false, shapes[k].density = 0;
    }
    bool good = shapes && lw_shapes_inertia(shapes, body->shape_count, fmax(body->mass, 0), total, com,
                                            inertia) == LW_OK;
    if (arena) lw_arena_destroy(arena);
    return good;
}

/* May the shapes be without mass properties of their own? So may meshes that only show something. */
static bool has_mesh(const lw_body_spec *body) {
    bool any = body->shape.kind == LW_SHAPE_MESH;
    for (int k = 0; k < body->shape_count; k++) any = any || body->shapes[k].kind == LW_SHAPE_MESH;
    return any;
}

static bool same(const double *a, const double *b, size_t count) {
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* Writes what the reader does not compute from the shapes; returns whether they are to have their masses. */
static bool put_mass(lw_writer *w, const lw_body_spec *body) {
    double total = 0, com[3] = {0, 0, 0}, inertia[6] = {0, 0, 0, 0, 0, 0};
    bool has_shape = body->shape.kind != LW_SHAPE_NONE || body->shape_count > 0, own = false;
    for (int k = 0; k < body->shape_count; k++)
        own = own || body->shapes[k].has_mass || body->shapes[k].density > 0;
    own = own && masses_of_shapes(body, true, &total, com, inertia) && same(&total, &body->mass, 1);
    bool must_be_given = !has_shape && body->mass != 0;
    if (!own && has_shape && !(body->mass >= 0)) { /* The reader takes nothing from the shapes then. */
        memset(com, 0, sizeof com);
        memset(inertia, 0, sizeof inertia);
    } else if (!own && has_shape && !masses_of_shapes(body, false, &total, com, inertia)) {
        memset(com, 0, sizeof com);
        memset(inertia, 0, sizeof inertia);
        must_be_given = body->mass != 0;
        if (!has_mesh(body))
            lw_write_fault(w, LW_ERROR_ARGUMENT, "its lengths must be positive and its points apart",
                           "its shape has no extent");
    }
    if (!own) lw_write_number(w, "mass", body->mass);
    if ((must_be_given && has_shape) || !same(com, body->com, 3)) lw_write_numbers(w, "com", body->com, 3);
    if (body->kind == LW_BODY_POINT) return own;
    if (body->kind == LW_BODY_PLANAR) {
        if (must_be_given || !same(&inertia[2], &body->inertia[2], 1))
            lw_write_number(w, "inertia", body->inertia[2]);
    } else if (must_be_given || !same(inertia, body->inertia, 6)) {
        lw_write_numbers(w, "inertia", body->inertia, lw_nothing(body->inertia + 3, 3) ? 3 : 6);
    }
    return own;
}

/* --- body ----------------------------------------------------------------------------------------- */

static bool known_shapes(lw_writer *w, const lw_body_spec *body) {
    bool known = body->shape.kind >= 0 && body->shape.kind < LW_SHAPE_KINDS && body->shape_count >= 0 &&
                 (body->shape_count == 0 || body->shapes);
    int shape = (int)body->shape.kind;
    for (int k = 0; k < body->shape_count && known; k++) {
        shape = (int)body->shapes[k].kind;
        known = shape > LW_SHAPE_NONE && shape < LW_SHAPE_KINDS;
    }
    if (!known || body->kind < 0 || body->kind > LW_BODY_POINT)
        lw_write_fault(w, LW_ERROR_ARGUMENT, NULL, "unknown kind %d or shape %d", (int)body->kind, shape);
    return known && body->kind >= 0 && body->kind <= LW_BODY_POINT;
}

void lw_write_body(lw_writer *w, const lw_body_spec *body, lw_mesh_has_file *has_file, const void *context) {
    static const char *const kinds[] = {"spatial", "planar", "point"};
    static const double no_turn[4] = {1, 0, 0, 0};
    const body_writer b = {w, has_file, context};
    lw_put_entry(w, "body", body->name);
    if (!known_shapes(w, body)) return;
    if (body->kind != LW_BODY_SPATIAL) lw_write_word(w, "kind", kinds[body->kind]);
    bool own = put_mass(w, body);
    if (body->shape_count > 0)
        put_shapes(&b, body, own);
    else if (body->shape.kind != LW_SHAPE_NONE)
        put_shape(&b, &body->shape);
    if (body->has_pose) {
        if (body->rotation[0] == 0 && body->rotation[1] == 0 && body->rotation[2] == 0 &&
            body->rotation[3] == 0) {
            lw_write_fault(w, LW_ERROR_ARGUMENT, "no rotation is [1, 0, 0, 0]",
                           "rotation quaternion [0, 0, 0, 0] has no direction");
        }
        lw_write_numbers(w, "position", body->position, 3);
        if (memcmp(body->rotation, no_turn, sizeof no_turn) != 0) lw_write_rotation(w, body->rotation);
    }
    lw_end_entry(w);
}

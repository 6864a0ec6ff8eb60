/* read_shapes.c - shapes of a body: key shape with the extent among the body's keys, shape: {type: ...}, or
 * shapes: [{type: ..., mass or density: ...}, ...].
 *
 *     shape: {type: mesh, file: part.stl, scale: 0.001}
 *     shape: {type: mesh, vertices: [[x, y, z], ...], triangles: [[0, 1, 2], ...]}
 *
 * A file of several bodies, or of a repeated one, is read once.
 */
#include "io/mesh/mesh_file.h"
#include "io/model_read/reader.h"
#include "io/table_file.h"
#include "model/mesh_inertia.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"none",        "box",     "cylinder",  "sphere", "cone", "rod",
                                    "tetrahedron", "capsule", "ellipsoid", "mesh",   NULL};
static const char every_type[] =
    "give type: box, cylinder, sphere, cone, rod, tetrahedron, capsule, ellipsoid or mesh";

/* The keys of extents, and of which kinds each is one. */
typedef struct {
    const char *key;
    unsigned needed, allowed; /* bits of lw_shape_kind */
} extent_key;
#define KIND(name) (1u << LW_SHAPE_##name)
static const extent_key extent_keys[] = {
    {"size", KIND(BOX), 0},
    {"radius", KIND(CYLINDER) | KIND(SPHERE) | KIND(CONE) | KIND(CAPSULE), KIND(ROD)},
    {"length", KIND(CYLINDER) | KIND(CAPSULE), 0},
    {"height", KIND(CONE), 0},
    {"points", KIND(ROD) | KIND(TETRAHEDRON), 0},
    {"radii", KIND(ELLIPSOID), 0},
    {"file", 0, KIND(MESH)},
    {"scale", 0, KIND(MESH)},
    {"vertices", 0, KIND(MESH)},
    {"triangles", 0, KIND(MESH)},
    {"colour", 0, ~KIND(NONE)},
};
enum { EXTENT_KEYS = sizeof extent_keys / sizeof *extent_keys };

static const char *const remedies[] = {
    [LW_SHAPE_NONE] = "leave it out, or give another shape",
    [LW_SHAPE_BOX] = "give size: [along x, along y, along z]",
    [LW_SHAPE_CYLINDER] = "give radius and length (along z)",
    [LW_SHAPE_SPHERE] = "give radius",
    [LW_SHAPE_CONE] = "give radius (of the base) and height (along z)",
    [LW_SHAPE_ROD] = "give points: [[x, y, z], [x, y, z]], and a radius unless it is thin",
    [LW_SHAPE_TETRAHEDRON] = "give points: four of them",
    [LW_SHAPE_CAPSULE] = "give radius and length (of the straight part, along z)",
    [LW_SHAPE_ELLIPSOID] = "give radii: [along x, along y, along z]",
    [LW_SHAPE_MESH] = "give file: part.stl (or .obj) and, unless it is in metres, scale: 0.001",
};

const char *lw_shape_kind_name(lw_shape_kind kind) { return names[kind]; }

/* --- colours -------------------------------------------------------------------------------------- */

static bool read_colour(lw_reader *reader, const lw_yaml *node, int *colour) {
    static const struct {
        const char *name;
        int rgb;
    } known[] = {{"red", 0xc23b3b},   {"orange", 0xe87a2e}, {"yellow", 0xd9b12e}, {"green", 0x2aa87e},
                 {"sky", 0x62b8dc},   {"blue", 0x2b83c6},   {"purple", 0xb862a0}, {"brown", 0xa0764f},
                 {"black", 0x23272b}, {"grey", 0x8d98a3},   {"white", 0xf4f5f6}};
    const char *text = lw_reader_text(reader, node, "colour");
    if (!text) return false;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k].name, text) == 0) {
            *colour = LW_COLOUR | known[k].rgb;
            return true;
        }
    if (text[0] == '#' && strlen(text) == 7 && strspn(text + 1, "0123456789abcdefABCDEF") == 6) {
        *colour = LW_COLOUR | (int)strtol(text + 1, NULL, 16);
        return true;
    }
    lw_reader_fault(reader, node->place,
                    "give red, orange, yellow, green, sky, blue, purple, brown, black, grey, white, or "
                    "\"#rrggbb\" in quotes",
                    "\"%.40s\" is no colour", text);
    return false;
}

/* --- meshes --------------------------------------------------------------------------------------- */

static void report_mesh(lw_reader *reader, lw_place place, const char *file, const lw_error *fault) {
    if (fault->status == LW_ERROR_MEMORY)
        reader->out_of_memory = true;
    else if (fault->place.line > 0)
        lw_reader_fault(reader, place, fault->remedy, "%.200s:%d: %s", file, fault->place.line,
                        fault->message);
    else
        lw_reader_fault(reader, place, fault->remedy, "%.200s: %s", file, fault->message);
}

static bool read_mesh_file(lw_reader *reader, const lw_yaml *node, lw_shape *shape) {
    const char *file = lw_reader_text(reader, node, "file");
    if (!file) return false;
    if (!reader->has_folder) {
        lw_reader_fault(reader, node->place,
                        "read the model from a file, or give vertices and triangles in it",
                        "a model in memory has no folder in which the file \"%.60s\" could be", file);
        return false;
    }
    for (lw_mesh_of_file *known = reader->meshes; known; known = known->next)
        if (strcmp(known->mesh.file, file) == 0) {
            shape->mesh = &known->mesh;
            return true;
        }
    lw_error error = {0};
    lw_mesh_of_file *added = LW_NEW(reader->arena, lw_mesh_of_file, 1);
    char *path = lw_table_file_path(reader->file, file, reader->any_path, &error);
    bool good = added && path && lw_mesh_file_read(path, reader->arena, &added->mesh, &error) == LW_OK;
    free(path);
    if (!added || lw_arena_failed(reader->arena)) {
        reader->out_of_memory = true;
        return false;
    }
    if (!good) {
        report_mesh(reader, node->place, file, &error);
        return false;
    }
    added->mesh.file = file;
    added->next = reader->meshes;
    reader->meshes = added;
    shape->mesh = &added->mesh;
    return true;
}

static bool is_list(lw_reader *reader, const lw_yaml *node, const char *what, const char *remedy) {
    if (node->kind == LW_YAML_LIST && node->count > 0 && node->count < INT_MAX / 3) return true;
    lw_reader_fault(reader, node->place, remedy, "%s is no list, or an empty one", what);
    return false;
}

static bool read_triangle(lw_reader *reader, const lw_yaml *node, int vertices, int corners[3]) {
    if (!lw_reader_list(reader, node, "triangle", 3)) return false;
    for (int k = 0; k < 3; k++) {
        long number = -1;
        if (node->items[k]->kind != LW_YAML_TEXT ||
            !lw_reader_integer(reader, node->items[k]->text, node->items[k], "vertex of a triangle", &number))
            return false;
        if (number < 0 || number >= vertices) {
            lw_reader_fault(reader, node->items[k]->place, "vertices are counted from 0",
                            "the triangle refers to vertex %ld, but there are %d", number, vertices);
            return false;
        }
        corners[k] = (int)number;
    }
    return true;
}

/* Vertices and triangles that stand in the model. */
static bool read_mesh_numbers(lw_reader *reader, const lw_yaml *map, lw_shape *shape) {
    const lw_yaml *vertices =
        lw_reader_need(reader, map, "vertices", "give file: part.stl, or vertices: [[x, y, z], ...]");
    const lw_yaml *triangles =
        vertices ? lw_reader_need(reader, map, "triangles", "give triangles: [[0, 1, 2], ...]") : NULL;
    if (!vertices || !triangles ||
        !is_list(reader, vertices, "vertices", "give vertices: [[x, y, z], ...]") ||
        !is_list(reader, triangles, "triangles", "give triangles: [[0, 1, 2], ...]"))
        return false;
    lw_mesh_spec *mesh = LW_NEW(reader->arena, lw_mesh_spec, 1);
    double *numbers = LW_NEW(reader->arena, double, 3 * vertices->count);
    int *corners = LW_NEW(reader->arena, int, 3 * triangles->count);
    if (lw_arena_failed(reader->arena)) {
        reader->out_of_memory = true;
        return false;
    }
    size_t mark = reader->waiting_count;
    for (size_t k = 0; k < vertices->count; k++) {
        const lw_yaml *node = vertices->items[k];
        if (!lw_reader_numbers(reader, node, "vertex", LW_LENGTH, 3, numbers + 3 * k)) return false;
        if (reader->waiting_count == mark) continue;
        reader->waiting_count = mark;
        lw_reader_fault(reader, node->place, "give scale, position and rotation by parameters instead",
                        "a vertex of a mesh cannot depend on parameters");
        return false;
    }
    for (size_t k = 0; k < triangles->count; k++)
        if (!read_triangle(reader, triangles->items[k], (int)vertices->count, corners + 3 * k)) return false;
    *mesh = (lw_mesh_spec){.vertex_count = (int)vertices->count,
                           .triangle_count = (int)triangles->count,
                           .vertices = numbers,
                           .triangles = corners};
    lw_mesh_turn_outward(mesh, corners);
    shape->mesh = mesh;
    return true;
}

/* One factor, or three. */
static bool read_scale(lw_reader *reader, const lw_yaml *node, lw_shape *shape) {
    if (node && node->kind == LW_YAML_LIST) {
        if (!lw_reader_numbers(reader, node, "scale", LW_PLAIN_NUMBER, 3, shape->size)) return false;
    } else if (node) {
        /* Each is bound to a parameter by itself. */
        for (int k = 0; k < 3; k++)
            if (!lw_reader_number(reader, node, "scale", LW_PLAIN_NUMBER, &shape->size[k])) return false;
    }
    for (int k = 0; k < 3; k++)
        if (shape->size[k] == 0) {
            lw_reader_fault(reader, node->place, "give a factor, e.g. 0.001 for a mesh in millimetres",
                            "scale 0 leaves nothing of the mesh");
            return false;
        }
    return true;
}

static bool read_mesh(lw_reader *reader, const lw_yaml *map, lw_shape *shape) {
    const lw_yaml *file = lw_yaml_get(map, "file"), *numbers = lw_yaml_get(map, "vertices");
    for (int k = 0; k < 3; k++) shape->size[k] = 1;
    if (file && !numbers) numbers = lw_yaml_get(map, "triangles");
    if (file && numbers) {
        lw_reader_fault(reader, numbers->place, "keep one of them",
                        "a mesh has a file, or vertices and triangles, but not both");
        return false;
    }
    if (!file && !numbers && !lw_yaml_get(map, "triangles")) {
        lw_reader_missing(reader, map, "file", remedies[LW_SHAPE_MESH]);
        return false;
    }
    bool good = read_scale(reader, lw_yaml_get(map, "scale"), shape);
    return (file ? read_mesh_file(reader, file, shape) : read_mesh_numbers(reader, map, shape)) && good;
}

/* --- one shape ------------------------------------------------------------------------------------ */

/* A key that gives lengths; place: of the first in shape->size. */
static bool read_lengths(lw_reader *reader, const lw_yaml *map, const char *key, lw_shape *shape) {
    const lw_yaml *node = lw_reader_need(reader, map, key, remedies[shape->kind]);
    if (!node) return false;
    if (strcmp(key, "size") == 0 || strcmp(key, "radii") == 0)
        return lw_reader_numbers(reader, node, key, LW_LENGTH, 3, shape->size);
    if (strcmp(key, "points") == 0) {
        size_t count = shape->kind == LW_SHAPE_ROD ? 2 : 4;
        bool good = lw_reader_list(reader, node, "points", count);
        for (size_t j = 0; good && j < count; j++)
            good = lw_reader_numbers(reader, node->items[j], "point", LW_LENGTH, 3, shape->points[j]);
        return good;
    }
    return lw_reader_number(reader, node, key, LW_LENGTH, &shape->size[strcmp(key, "radius") != 0]);
}

/* Reads the keys that give the extent of the shape, e.g. a cylinder's radius and length. */
static bool read_extent(lw_reader *reader, const lw_yaml *map, lw_shape *shape) {
    const unsigned bit = 1u << shape->kind;
    bool good = true;
    for (int k = 0; k < EXTENT_KEYS; k++) {
        const lw_yaml *node = lw_yaml_get(map, extent_keys[k].key);
        if (!node || (extent_keys[k].needed | extent_keys[k].allowed) & bit) continue;
        lw_reader_fault(reader, node->place, remedies[shape->kind], "%s %s has no %s",
                        shape->kind == LW_SHAPE_ELLIPSOID ? "an" : "a", names[shape->kind],
                        extent_keys[k].key);
        good = false;
    }
    for (int k = 0; k < EXTENT_KEYS; k++)
        if (extent_keys[k].needed & bit) good = read_lengths(reader, map, extent_keys[k].key, shape) && good;
    const lw_yaml *radius = shape->kind == LW_SHAPE_ROD ? lw_yaml_get(map, "radius") : NULL;
    if (radius) good = lw_reader_number(reader, radius, "radius", LW_LENGTH, &shape->size[0]) && good;
    if (shape->kind == LW_SHAPE_MESH) good = read_mesh(reader, map, shape) && good;
    const lw_yaml *colour = shape->kind != LW_SHAPE_NONE ? lw_yaml_get(map, "colour") : NULL;
    return (!colour || read_colour(reader, colour, &shape->colour)) && good;
}

/* Reads a map with its type, place and extent. */
static bool read_placed(lw_reader *reader, const lw_yaml *map, lw_shape *shape) {
    const lw_yaml *type = lw_reader_need(reader, map, "type", every_type);
    const lw_yaml *rotation = lw_yaml_get(map, "rotation");
    bool good = !rotation || lw_reader_rotation(reader, rotation, "rotation", shape->rotation);
    if (lw_yaml_get(map, "position"))
        good = lw_reader_key_numbers(reader, map, "position", LW_LENGTH, 3, shape->position) && good;
    int kind = type ? lw_reader_choice(reader, type, "shape", names) : -1;
    if (kind < 0) return false;
    shape->kind = (lw_shape_kind)kind;
    return read_extent(reader, map, shape) && good;
}

#define PLACED_KEYS                                                                                          \
    "type", "size", "radius", "length", "height", "points", "radii", "file", "scale", "vertices",            \
        "triangles", "colour", "position", "rotation"

/* Extents among the body's keys that no shape takes. */
static bool stray_keys(lw_reader *reader, const lw_yaml *body, const char *remedy) {
    bool good = true;
    for (int k = 0; k < EXTENT_KEYS; k++) {
        const lw_yaml *stray = lw_yaml_get(body, extent_keys[k].key);
        if (!stray) continue;
        lw_reader_fault(reader, stray->place, remedy, "%s belongs to a shape", extent_keys[k].key);
        good = false;
    }
    return good;
}

bool lw_read_shape(lw_reader *reader, const lw_yaml *body, lw_shape *shape) {
    static const char *const keys[] = {PLACED_KEYS, NULL};
    const lw_yaml *node = lw_yaml_get(body, "shape");
    if (!node) return stray_keys(reader, body, "give shape: box, cylinder, ...");
    if (node->kind == LW_YAML_MAP) {
        lw_reader_keys(reader, node, keys);
        bool good = stray_keys(reader, body, "put it into the shape");
        return read_placed(reader, node, shape) && good;
    }
    int kind = lw_reader_choice(reader, node, "shape", names);
    if (kind < 0) return false;
    shape->kind = (lw_shape_kind)kind;
    return read_extent(reader, body, shape);
}

/* --- several shapes ------------------------------------------------------------------------------- */

/* The mass or density of one of several shapes. */
static bool read_own_mass(lw_reader *reader, const lw_yaml *map, lw_shape *shape) {
    const lw_yaml *mass = lw_yaml_get(map, "mass"), *density = lw_yaml_get(map, "density");
    if (mass && density) {
        lw_reader_fault(reader, density->place, "keep one of them", "both mass and density are given");
        return false;
    }
    if (mass) {
        if (!lw_reader_number(reader, mass, "mass", LW_MASS, &shape->mass)) return false;
        shape->has_mass = true;
        if (shape->mass >= 0) return true;
        lw_reader_fault(reader, mass->place, "give zero or a positive number of kilograms",
                        "mass %g is not a mass", shape->mass);
        return false;
    }
    if (!density) return true;
    if (!lw_reader_number(reader, density, "density", LW_DENSITY, &shape->density)) return false;
    lw_reader_bind_rule(reader, &shape->density, LW_RULE_POSITIVE);
    if (shape->density > 0) return true;
    lw_reader_fault(reader, density->place, "give a positive number, e.g. 7850 kg/m^3",
                    "density %g is not positive", shape->density);
    return false;
}

bool lw_read_shapes(lw_reader *reader, const lw_yaml *body, lw_body_spec *out) {
    static const char *const keys[] = {PLACED_KEYS, "mass", "density", NULL};
    const lw_yaml *list = lw_yaml_get(body, "shapes"), *single = lw_yaml_get(body, "shape");
    if (single)
        lw_reader_fault(reader, single->place, "put it into shapes, or keep one of them",
                        "both shape and shapes are given");
    bool good = stray_keys(reader, body, "put it into one of the shapes") && !single;
    if (!is_list(reader, list, "shapes", "give shapes: [{type: box, ...}, {type: cylinder, ...}]"))
        return false;
    lw_shape *shapes = LW_NEW(reader->arena, lw_shape, list->count);
    if (!shapes) {
        reader->out_of_memory = true;
        return false;
    }
    for (size_t k = 0; k < list->count; k++) {
        const lw_yaml *map = list->items[k];
        if (!lw_reader_keys(reader, map, keys)) {
            good = false;
            continue;
        }
        good = read_placed(reader, map, &shapes[k]) && good;
        if (shapes[k].kind == LW_SHAPE_NONE && lw_yaml_get(map, "type") && good) {
            lw_reader_fault(reader, map->place, every_type, "one of several shapes cannot be none");
            good = false;
        }
        good = read_own_mass(reader, map, &shapes[k]) && good;
    }
    out->shapes = shapes;
    out->shape_count = (int)list->count;
    return good;
}

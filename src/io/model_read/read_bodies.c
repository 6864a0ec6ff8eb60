/* read_bodies.c - section bodies: mass, centre, inertia, shape and pose of each body, and second names of
 * bodies.
 *
 * Mass properties come from mass, com and inertia, or from a shape of given mass or density; values that are
 * given have precedence over those of the shape.
 */
#include "io/model_read/reader.h"
#include "model/spec/spec_storage.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const keys[] = {"kind",     "mass",     "density", "com",    "inertia",
                                   "position", "rotation", "shape",   "size",   "radius",
                                   "length",   "height",   "points",  "repeat", NULL};

/* --- shape ---------------------------------------------------------------------------------------- */

static const char *const shape_names[] = {"none", "box", "cylinder",    "sphere",
                                          "cone", "rod", "tetrahedron", NULL};
static const char *const size_keys[] = {"size", "radius", "length", "height", "points", NULL};

/* Reads the keys that give the extent of the shape, e.g. a cylinder's radius and length. */
static bool read_extent(lw_reader *reader, const lw_yaml *map, lw_shape *shape) {
    static const char *const extents[][3] = {
        [LW_SHAPE_BOX] = {"size"},      [LW_SHAPE_CYLINDER] = {"radius", "length"},
        [LW_SHAPE_SPHERE] = {"radius"}, [LW_SHAPE_CONE] = {"radius", "height"},
        [LW_SHAPE_ROD] = {"points"},    [LW_SHAPE_TETRAHEDRON] = {"points"},
    };
    static const char *const remedies[] = {
        [LW_SHAPE_BOX] = "give size: [along x, along y, along z]",
        [LW_SHAPE_CYLINDER] = "give radius and length (along z)",
        [LW_SHAPE_SPHERE] = "give radius",
        [LW_SHAPE_CONE] = "give radius (of the base) and height (along z)",
        [LW_SHAPE_ROD] = "give points: [[x, y, z], [x, y, z]], and a radius unless it is thin",
        [LW_SHAPE_TETRAHEDRON] = "give points: four of them",
    };
    const char *const *wanted = extents[shape->kind];
    bool good = true;
    for (int k = 0; size_keys[k]; k++) {
        bool is_wanted = (wanted[0] && !strcmp(size_keys[k], wanted[0])) ||
                         (wanted[1] && !strcmp(size_keys[k], wanted[1])) ||
                         (shape->kind == LW_SHAPE_ROD && !strcmp(size_keys[k], "radius"));
        const lw_yaml *node = lw_yaml_get(map, size_keys[k]);
        if (node && !is_wanted) {
            lw_reader_fault(reader, node->place, remedies[shape->kind], "a %s has no %s",
                            shape_names[shape->kind], size_keys[k]);
            good = false;
        }
    }
    for (int k = 0; k < 2 && wanted[k]; k++) {
        const lw_yaml *node = lw_reader_need(reader, map, wanted[k], remedies[shape->kind]);
        if (!node) {
            good = false;
        } else if (shape->kind == LW_SHAPE_BOX) {
            good = lw_reader_numbers(reader, node, "size", LW_LENGTH, 3, shape->size);
        } else if (strcmp(wanted[k], "points") == 0) {
            size_t count = shape->kind == LW_SHAPE_ROD ? 2 : 4;
            good = lw_reader_list(reader, node, "points", count);
            for (size_t j = 0; good && j < count; j++) {
                good = lw_reader_numbers(reader, node->items[j], "point", LW_LENGTH, 3, shape->points[j]);
            }
        } else {
            good = lw_reader_number(reader, node, wanted[k], LW_LENGTH, &shape->size[k]) && good;
        }
    }
    const lw_yaml *radius = shape->kind == LW_SHAPE_ROD ? lw_yaml_get(map, "radius") : NULL;
    return (!radius || lw_reader_number(reader, radius, "radius", LW_LENGTH, &shape->size[0])) && good;
}

/* Reads shape: box, with the size among the body's keys, or shape: {type: box, size: ..., position: ...,
 * rotation: ...}. */
static bool read_shape(lw_reader *reader, const lw_yaml *body, lw_shape *shape) {
    static const char *const shape_keys[] = {"type",   "size",     "radius",   "length", "height",
                                             "points", "position", "rotation", NULL};
    const lw_yaml *node = lw_yaml_get(body, "shape");
    const lw_yaml *map = body, *type = node;
    bool good = true;
    if (node && node->kind == LW_YAML_MAP) {
        lw_reader_keys(reader, node, shape_keys);
        map = node;
        type = lw_reader_need(reader, node, "type",
                              "give type: box, cylinder, sphere, cone, rod or tetrahedron");
        const lw_yaml *rotation = lw_yaml_get(node, "rotation");
        good = !rotation || lw_reader_rotation(reader, rotation, "rotation", shape->rotation);
        if (lw_yaml_get(node, "position")) {
            good = lw_reader_key_numbers(reader, node, "position", LW_LENGTH, 3, shape->position) && good;
        }
    }
    if (!node || map == node) {
        for (int k = 0; size_keys[k]; k++) {
            const lw_yaml *stray = lw_yaml_get(body, size_keys[k]);
            if (!stray) continue;
            lw_reader_fault(reader, stray->place,
                            node ? "put it into the shape" : "give shape: box, cylinder, ...",
                            "%s belongs to a shape", size_keys[k]);
            good = false;
        }
    }
    if (!type) return good && !node;
    int kind = lw_reader_choice(reader, type, "shape", shape_names);
    if (kind < 0) return false;
    shape->kind = (lw_shape_kind)kind;
    return read_extent(reader, map, shape) && good;
}

/* --- mass ----------------------------------------------------------------------------------------- */

static bool read_matrix(lw_reader *reader, const lw_yaml *node, double inertia[6]) {
    double m[9], six[6];
    size_t mark = reader->waiting_count;
    for (int k = 0; k < 3; k++)
        if (!lw_reader_numbers(reader, node->items[k], "row of inertia", LW_INERTIA, 3, m + 3 * k))
            return false;
    if (lw_binding_apply(LW_BIND_INERTIA, m, six)) {
        memcpy(inertia, six, sizeof six);
        lw_reader_bind_group(reader, mark, LW_BIND_INERTIA, m, inertia);
        return true;
    }
    int worst[2] = {0, 1};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            if (fabs(m[3 * i + j] - m[3 * j + i]) >
                fabs(m[3 * worst[0] + worst[1]] - m[3 * worst[1] + worst[0]]))
                worst[0] = i, worst[1] = j;
    int i = worst[0] > worst[1] ? worst[0] : worst[1], j = worst[0] + worst[1] - i;
    lw_reader_fault(reader, node->place, "entries ij and ji of an inertia are equal",
                    "inertia is not symmetric: entry %d%d is %g, entry %d%d is %g", i + 1, j + 1,
                    m[3 * i + j], j + 1, i + 1, m[3 * j + i]);
    return false;
}

/* Reads [xx, yy, zz], [xx, yy, zz, xy, xz, yz], three rows, or the one number of a planar body. */
static bool read_inertia(lw_reader *reader, const lw_yaml *node, lw_body_kind kind, double inertia[6]) {
    memset(inertia, 0, 6 * sizeof *inertia);
    if (kind == LW_BODY_POINT) {
        lw_reader_fault(reader, node->place, "leave inertia out, or choose kind: spatial",
                        "a point has no inertia");
        return false;
    }
    if (kind == LW_BODY_PLANAR && node->kind != LW_YAML_LIST) {
        return lw_reader_number(reader, node, "inertia", LW_INERTIA, &inertia[2]);
    }
    if (kind == LW_BODY_SPATIAL && node->kind == LW_YAML_LIST) {
        if (node->count == 3 && node->items[0]->kind == LW_YAML_LIST)
            return read_matrix(reader, node, inertia);
        if (node->count == 3 || node->count == 6) {
            return lw_reader_numbers(reader, node, "inertia", LW_INERTIA, node->count, inertia);
        }
    }
    lw_reader_fault(
        reader, node->place,
        kind == LW_BODY_PLANAR ? "give one number, about the plane's normal"
                               : "give [xx, yy, zz], [xx, yy, zz, xy, xz, yz] or three rows of three",
        "inertia has the wrong form for a %s body", kind == LW_BODY_PLANAR ? "planar" : "spatial");
    return false;
}

/* A density needs a shape that has a volume. */
static bool read_density(lw_reader *reader, const lw_yaml *entry, bool shape_good, const lw_body_spec *body,
                         double *rho) {
    const lw_yaml *density = lw_yaml_get(entry, "density");
    if (!lw_reader_number(reader, density, "density", LW_DENSITY, rho)) return false;
    if (!lw_yaml_get(entry, "shape") || (shape_good && body->shape.kind == LW_SHAPE_NONE)) {
        lw_reader_fault(reader, density->place, "give a shape, or mass instead", "a density needs a shape");
        return false;
    }
    if (!(*rho > 0)) {
        lw_reader_fault(reader, density->place, "give a positive number, e.g. 7850 kg/m^3",
                        "density %g is not positive", *rho);
        return false;
    }
    if (body->shape.kind == LW_SHAPE_ROD && body->shape.size[0] == 0) {
        lw_reader_fault(reader, density->place, "give radius, or mass instead of density",
                        "a rod without radius is thin and has no volume");
        return false;
    }
    return true;
}

/* Reads the one of them that is given; returns whether it is exactly one, without faults. */
static bool read_mass_or_density(lw_reader *reader, const lw_yaml *entry, bool shape_good, lw_body_spec *body,
                                 double *rho) {
    const lw_yaml *mass = lw_yaml_get(entry, "mass"), *density = lw_yaml_get(entry, "density");
    bool good = (mass != NULL) != (density != NULL);
    if (mass && density)
        lw_reader_fault(reader, density->place, "keep one of them", "both mass and density are given");
    else if (!good)
        lw_reader_missing(reader, entry, "mass",
                          "give mass (0 for a body without mass), or a shape and density");
    if (mass) good = lw_reader_number(reader, mass, "mass", LW_MASS, &body->mass) && good;
    if (density) good = read_density(reader, entry, shape_good, body, rho) && good;
    return good;
}

/* Returns whether a shape whose density gives no mass fails because the product is not finite. */
static bool mass_overflows(const lw_shape *shape) {
    double total, com[3], inertia[6];
    const double huge = 1e100; /* Its cube may overflow. */
    for (int k = 0; k < 3; k++) {
        if (shape->size[k] > huge) return true;
        for (int i = 0; i < 4; i++) {
            if (fabs(shape->points[i][k]) > huge) return true;
        }
    }
    return lw_shape_inertia(shape, 0, DBL_MIN, &total, com, inertia) == LW_OK;
}

/* Mass, centre and inertia of the shape, with the mass or the density *rho, whose address a binding has
 * recorded. */
static void take_shape(lw_reader *reader, const lw_yaml *entry, const double *rho, lw_body_spec *body) {
    const lw_yaml *density = lw_yaml_get(entry, "density");
    const lw_yaml *com = lw_yaml_get(entry, "com"), *inertia = lw_yaml_get(entry, "inertia");
    double total;
    lw_status status = lw_shape_inertia(&body->shape, body->mass, *rho, &total, body->com, body->inertia);
    if (status == LW_OK) {
        body->mass = total;
        lw_reader_bind_group(reader, 0, LW_BIND_SHAPE, rho, &body->mass);
        lw_reader_bind_keeps(reader, (density ? 0u : 1u) | (com ? 0xEu : 0u) | (inertia ? 0x3F0u : 0u));
    } else if (*rho > 0 && mass_overflows(&body->shape)) {
        lw_reader_fault(reader, density->place, "check the units of density and lengths",
                        "density %g makes the mass too large to compute with", *rho);
    } else {
        lw_reader_fault(reader, lw_yaml_get(entry, "shape")->place,
                        "its lengths must be positive and its points apart", "%s has no %s",
                        shape_names[body->shape.kind], *rho > 0 ? "volume for the density" : "extent");
    }
}

static void read_mass(lw_reader *reader, const lw_yaml *entry, bool kind_good, bool shape_good,
                      lw_body_spec *body) {
    const lw_yaml *com = lw_yaml_get(entry, "com"), *inertia = lw_yaml_get(entry, "inertia");
    double rho = 0;
    bool good = read_mass_or_density(reader, entry, shape_good, body, &rho) && shape_good;
    bool from_shape = good && body->shape.kind != LW_SHAPE_NONE;
    if (from_shape && body->mass >= 0) take_shape(reader, entry, &rho, body);
    if (com) lw_reader_numbers(reader, com, "com", LW_LENGTH, 3, body->com);
    if (!kind_good) return; /* The valid forms of inertia depend on the kind. */
    if (inertia) {
        read_inertia(reader, inertia, body->kind, body->inertia);
    } else if (good && !from_shape && body->mass > 0 && body->kind != LW_BODY_POINT) {
        lw_reader_missing(reader, entry, "inertia",
                          body->kind == LW_BODY_PLANAR
                              ? "give one number (it may be 0), a shape, or kind: point"
                              : "give inertia: [xx, yy, zz] (zeros are allowed), a shape, or kind: point");
    }
    if (body->kind == LW_BODY_POINT) memset(body->inertia, 0, sizeof body->inertia);
    if (body->kind == LW_BODY_PLANAR) {
        for (int k = 0; k < 6; k++) body->inertia[k] *= k == 2;
    }
}

/* --- body ----------------------------------------------------------------------------------------- */

static void read_body(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    static const char *const kinds[] = {"spatial", "planar", "point", NULL};
    if (entry->kind == LW_YAML_TEXT) { /* link0: ground */
        named->stands_for = lw_reader_text(reader, entry, "body");
        return;
    }
    size_t before = reader->faults - reader->harmless;
    if (!lw_reader_keys(reader, entry, keys)) return;
    lw_body_spec body = {.name = named->name, .rotation = {1, 0, 0, 0}, .place = named->place};
    const lw_yaml *kind = lw_yaml_get(entry, "kind");
    int choice = kind ? lw_reader_choice(reader, kind, "kind", kinds) : LW_BODY_SPATIAL;
    if (choice >= 0) body.kind = (lw_body_kind)choice;

    read_mass(reader, entry, choice >= 0, read_shape(reader, entry, &body.shape), &body);

    const lw_yaml *rotation = lw_yaml_get(entry, "rotation"), *position = lw_yaml_get(entry, "position");
    body.has_pose = rotation || position;
    if (position) lw_reader_numbers(reader, position, "position", LW_LENGTH, 3, body.position);
    if (rotation) lw_reader_rotation(reader, rotation, "rotation", body.rotation);
    if (reader->faults - reader->harmless > before) return;
    const lw_body_places places = {.mass = lw_reader_place(entry, "mass"),
                                   .com = lw_reader_place(entry, "com"),
                                   .inertia = lw_reader_place(entry, "inertia"),
                                   .position = lw_reader_place(entry, "position"),
                                   .rotation = lw_reader_place(entry, "rotation")};
    lw_status status = lw_spec_add_body(reader->spec, &body);
    lw_reader_check(reader, status == LW_OK ? lw_spec_place_body(reader->spec, &places) : status);
    if (status == LW_OK)
        lw_reader_bound(reader, LW_OWNER_BODY, reader->spec->body_count - 1, &body, sizeof body);
}

/* Resolves second names when all bodies are known, since they may refer to later bodies. */
static void resolve_second_names(lw_reader *reader) {
    for (size_t k = 0; k < reader->bodies.count; k++) {
        lw_named *named = &reader->bodies.items[k];
        if (!named->stands_for || strcmp(named->stands_for, LW_GROUND) == 0) continue;
        const lw_named *other = lw_results_table_find(&reader->bodies, named->stands_for);
        if (other ? !other->stands_for : reader->bodies.incomplete) continue;
        char remedy[160];
        const char *closest = other ? other->stands_for
                                    : lw_results_table_closest(&reader->bodies, named->stands_for, LW_GROUND);
        snprintf(remedy, sizeof remedy, "name ground or a body, e.g. %s",
                 closest ? closest : "link0: ground");
        snprintf(reader->object, sizeof reader->object, "body \"%s\"", named->name);
        lw_reader_fault(reader, named->place, remedy, "it is a second name of \"%.80s\", which %s",
                        named->stands_for, other ? "is a second name itself" : "is not among the bodies");
    }
    reader->object[0] = '\0';
}

void lw_read_bodies(lw_reader *reader, const lw_yaml *section) {
    lw_reader_section(reader, section, "body", &reader->bodies, read_body);
    resolve_second_names(reader);
}

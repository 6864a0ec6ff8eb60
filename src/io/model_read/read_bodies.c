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

static const char *const keys[] = {"kind",      "mass",   "density", "com",  "inertia", "position",
                                   "rotation",  "shape",  "shapes",  "size", "radius",  "length",
                                   "height",    "points", "radii",   "file", "scale",   "vertices",
                                   "triangles", "colour", "repeat",  NULL};

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
    if (!lw_yaml_get(entry, "shapes") &&
        (!lw_yaml_get(entry, "shape") || (shape_good && body->shape.kind == LW_SHAPE_NONE))) {
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

/* Has one of several shapes a mass or density of its own? */
static bool have_own(const lw_body_spec *body) {
    bool own = false;
    for (int k = 0; k < body->shape_count; k++)
        own = own || body->shapes[k].has_mass || body->shapes[k].density != 0;
    return own;
}

/* Reads the one of them that is given; returns whether it is exactly one, without faults. */
static bool read_mass_or_density(lw_reader *reader, const lw_yaml *entry, bool shape_good, lw_body_spec *body,
                                 double *rho) {
    const lw_yaml *mass = lw_yaml_get(entry, "mass"), *density = lw_yaml_get(entry, "density");
    const bool own = have_own(body);
    bool good = (mass != NULL) != (density != NULL) || (own && !mass);
    if (mass && density)
        lw_reader_fault(reader, density->place, "keep one of them", "both mass and density are given");
    else if (mass && own) {
        lw_reader_fault(reader, mass->place, "keep the mass of the body, or those of its shapes",
                        "both the body and its shapes have masses or densities");
        good = false;
    } else if (!good && (shape_good || !lw_yaml_get(entry, "shapes")))
        lw_reader_missing(reader, entry, "mass",
                          body->shape_count > 0
                              ? "give mass or density, of the body or of its shapes"
                              : "give mass (0 for a body without mass), or a shape and density");
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

/* Says why a shape has no mass, centre and inertia; false if it has. place: of the shape in the file. */
static bool report_shape(lw_reader *reader, const lw_shape *shape, lw_place place, double rho,
                         lw_place rho_place) {
    lw_error error;
    double total, com[3], inertia[6];
    lw_status status = lw_shape_inertia(shape, 0, rho, &total, com, inertia);
    if (status == LW_OK) return false;
    if (status == LW_ERROR_MEMORY) {
        reader->out_of_memory = true;
        return true;
    }
    lw_status mesh = shape->kind == LW_SHAPE_MESH ? lw_mesh_check(shape->mesh, &error) : LW_OK;
    if (mesh != LW_OK)
        lw_reader_fault(reader, place, error.remedy, "%s%s%s", shape->mesh->file ? shape->mesh->file : "",
                        shape->mesh->file ? ": " : "", error.message);
    else if (rho > 0 && mass_overflows(shape))
        lw_reader_fault(reader, rho_place, "check the units of density and lengths",
                        "density %g makes the mass too large to compute with", rho);
    else
        lw_reader_fault(reader, place, "its lengths must be positive and its points apart", "%s has no %s",
                        lw_shape_kind_name(shape->kind), rho > 0 ? "volume for the density" : "extent");
    return true;
}

/* Does the file itself give all that a shape is asked for? Then a mesh only shows the body, and may be
 * open. */
static bool only_shows(const lw_yaml *entry, const lw_body_spec *body, double rho) {
    bool given = lw_yaml_get(entry, "com") && (body->kind == LW_BODY_POINT || lw_yaml_get(entry, "inertia"));
    return !(rho > 0) && !have_own(body) && (given || body->mass == 0);
}

static bool is_open_mesh(const lw_shape *shape) {
    return shape->kind == LW_SHAPE_MESH && lw_mesh_check(shape->mesh, NULL) == LW_ERROR_ARGUMENT;
}

/* Reports the faults of several shapes, of which there is at least one. */
static void report_shapes(lw_reader *reader, const lw_yaml *list, const lw_body_spec *body, bool shows) {
    const bool own = have_own(body);
    bool any = false;
    for (int k = 0; k < body->shape_count; k++) {
        const lw_shape *shape = &body->shapes[k];
        const lw_place place = list->items[k]->place;
        double total, com[3], inertia[6];
        bool drawn = shows || (own && !(shape->density > 0) && !(shape->has_mass && shape->mass != 0));
        if (drawn && is_open_mesh(shape)) continue;
        if (report_shape(reader, shape, place, shape->density, lw_reader_place(list->items[k], "density"))) {
            any = true;
        } else if (!own && !shows && lw_shape_inertia(shape, 0, 1, &total, com, inertia) != LW_OK) {
            lw_reader_fault(reader, place, "give a mass or density to each of the shapes",
                            "%s has no volume to share the mass of the body by",
                            lw_shape_kind_name(shape->kind));
            any = true;
        }
    }
    if (!any && !shows)
        lw_reader_fault(reader, list->place, "check the units of densities and lengths",
                        "the shapes make a mass that is too large to compute with");
}

/* Mass, centre and inertia of the shapes, with the mass or the density *rho, whose address a binding has
 * recorded. */
static void take_shape(lw_reader *reader, const lw_yaml *entry, const double *rho, lw_body_spec *body) {
    const lw_yaml *mass = lw_yaml_get(entry, "mass");
    const lw_yaml *com = lw_yaml_get(entry, "com"), *inertia = lw_yaml_get(entry, "inertia");
    const bool several = body->shape_count > 0, shows = only_shows(entry, body, *rho);
    double total;
    lw_status status =
        several
            ? lw_shapes_inertia(body->shapes, body->shape_count, body->mass, &total, body->com, body->inertia)
            : lw_shape_inertia(&body->shape, body->mass, *rho, &total, body->com, body->inertia);
    if (status == LW_OK) {
        body->mass = total;
        lw_reader_bind_group(reader, 0, LW_BIND_SHAPE, rho, &body->mass);
        lw_reader_bind_keeps(reader, (mass ? 1u : 0u) | (com ? 0xEu : 0u) | (inertia ? 0x3F0u : 0u));
    } else if (status == LW_ERROR_MEMORY) {
        reader->out_of_memory = true;
    } else if (several) {
        report_shapes(reader, lw_yaml_get(entry, "shapes"), body, shows);
    } else if (!shows || !is_open_mesh(&body->shape)) {
        (void)report_shape(reader, &body->shape, lw_yaml_get(entry, "shape")->place, *rho,
                           lw_reader_place(entry, "density"));
    }
}

/* The body's density is that of each of its shapes that has none. */
static bool spread_density(lw_reader *reader, const lw_yaml *entry, lw_body_spec *body, double *rho) {
    const lw_yaml *density = lw_yaml_get(entry, "density");
    lw_shape *shapes = (lw_shape *)(void *)body->shapes;
    bool good = true;
    for (int k = 0; k < body->shape_count && good && density; k++) {
        if (shapes[k].has_mass || shapes[k].density != 0) continue;
        good = lw_reader_number(reader, density, "density", LW_DENSITY, &shapes[k].density);
        lw_reader_bind_rule(reader, &shapes[k].density, LW_RULE_POSITIVE);
    }
    lw_reader_unbind(reader, rho);
    *rho = 0;
    return good;
}

static void read_mass(lw_reader *reader, const lw_yaml *entry, bool kind_good, bool shape_good,
                      lw_body_spec *body) {
    const lw_yaml *com = lw_yaml_get(entry, "com"), *inertia = lw_yaml_get(entry, "inertia");
    double rho = 0;
    bool good = read_mass_or_density(reader, entry, shape_good, body, &rho) && shape_good;
    bool from_shape = good && (body->shape.kind != LW_SHAPE_NONE || body->shape_count > 0);
    if (good && body->shape_count > 0) from_shape = spread_density(reader, entry, body, &rho);
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

    const bool shape_good = lw_yaml_get(entry, "shapes") ? lw_read_shapes(reader, entry, &body)
                                                         : lw_read_shape(reader, entry, &body.shape);
    read_mass(reader, entry, choice >= 0, shape_good, &body);

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
    if (status != LW_OK) return;
    const size_t index = reader->spec->body_count - 1;
    if (body.shape_count > 0) /* These first: the mass of the body follows from them. */
        lw_reader_bound(reader, LW_OWNER_SHAPES, index, body.shapes,
                        (size_t)body.shape_count * sizeof *body.shapes);
    lw_reader_bound(reader, LW_OWNER_BODY, index, &body, sizeof body);
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

/* read_beams.c - section beams: slender elastic bodies as chains of rigid segments.
 *
 *     blade: {between: [hub, ~], points: [[0, 0, 0], [2, 0, 0]], section: {width: 0.1, height: 0.02},
 *             material: {young: 70 GPa, density: 2700}, elements: 16}
 *
 * A beam is a part (read_parts.c) whose model is made here, with bodies `root`, `segment1`, ..., `tip`,
 * joints `hinge1`, ... and forces `bend1`, ...; numbers of section and material are its parameters.
 * Neighbours meet in the middle of an element: there the flexibility of a uniform element of length h is
 * diagonal,
 *
 *     bending h/EI, torsion h/GJ, stretching h/EA, shear h/(k G A) + h^3/(12 EI)                         (1)
 *
 * so that the stiffness of each element is exact. Without `shear` the joints are balls and the last two are
 * left out: the deflection of a cantilever is short by 1/(4 elements^2) of itself.
 *
 * Source   docs/theory/beams.md.
 * Limits   Beams are straight and uniform. Their ends and `elements` cannot vary in one sweep.
 */
#include "io/model_read/reader.h"
#include "linalg/vec3.h"
#include "model/spec/spec_storage.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 2000 };

/* The two ends, world, and the number of elements. */
typedef struct beam {
    double ends[2][3], length, normal[3];
    bool has_normal, shear, damped;
    long elements;
    const char *section; /* definitions of A, Iy, Iz, J, and the shape of a piece, as text */
    const char *shape;
} beam;

/* --- section and material -------------------------------------------------------------------------- */

/* A parameter of the part from a key of the map; it must be positive. */
static bool give(lw_reader *reader, lw_part_read *part, const lw_yaml *map, const char *key,
                 lw_quantity quantity, const char *remedy) {
    double value = 0;
    const lw_yaml *node = lw_reader_need(reader, map, key, remedy);
    if (!node || !lw_reader_add_preset(reader, part, key, node, quantity, &value)) return false;
    if (value > 0) return true;
    lw_reader_fault(reader, node->place, "give a positive number", "%s %g is not positive", key, value);
    return false;
}

/* The torsion constant of a rectangle is within 0.5 % (Roark's formula). */
static const char *const rectangle =
    "  width: 1 m\n  height: 1 m\n  A: width*height\n  Iy: width*height^3/12\n  Iz: height*width^3/12\n"
    "  a: max(width, height)\n  b: min(width, height)\n"
    "  J: a*b^3*(1/3 - 0.21*b/a*(1 - b^4/(12*a^4)))\n";
static const char *const circle =
    "  radius: 1 m\n  A: pi*radius^2\n  Iy: pi*radius^4/4\n  Iz: Iy\n  J: 2*Iy\n";
static const char *const tube =
    "  radius: 1 m\n  inner: 0.5 m\n  A: pi*(radius^2 - inner^2)\n  Iy: pi*(radius^4 - inner^4)/4\n"
    "  Iz: Iy\n  J: 2*Iy\n";
static const char *const any = "  area: 1 m^2\n  iy: 1 m^4\n  iz: 1 m^4\n  torsion: 1 m^4\n  A: area\n  Iy: "
                               "iy\n  Iz: iz\n  J: torsion\n";

static bool read_section(lw_reader *reader, const lw_yaml *entry, lw_part_read *part, beam *b) {
    static const char *const keys[] = {"width", "height", "radius",  "inner", "area",
                                       "iy",    "iz",     "torsion", NULL};
    const lw_yaml *map =
        lw_reader_need(reader, entry, "section", "give {width: ..., height: ...} or {radius: ...}");
    if (!map || !lw_reader_keys(reader, map, keys)) return false;
    const bool flat = lw_yaml_get(map, "width") || lw_yaml_get(map, "height"),
               round = lw_yaml_get(map, "radius"), free = lw_yaml_get(map, "area"),
               hollow = lw_yaml_get(map, "inner");
    if (flat + round + free != 1 || (hollow && !round)) {
        lw_reader_fault(reader, map->place,
                        "give width and height, or radius (and inner), or area, iy, iz, torsion",
                        "it is not clear what section this is");
        return false;
    }
    b->section = flat ? rectangle : hollow ? tube : round ? circle : any;
    if (flat) {
        b->shape = "type: box, size: [%s, width, height]";
        return give(reader, part, map, "width", LW_LENGTH, "give the size across the normal") &&
               give(reader, part, map, "height", LW_LENGTH, "give the size along the normal");
    }
    if (round) {
        b->shape =
            hollow ? NULL
                   : "type: cylinder, radius: radius, length: %s, rotation: {axis: [0, 1, 0], angle: 90 deg}";
        if (!give(reader, part, map, "radius", LW_LENGTH, "give its radius")) return false;
        if (!hollow) return true;
        if (!give(reader, part, map, "inner", LW_LENGTH, "give its inner radius")) return false;
        const lw_preset *both = part->presets + part->preset_count - 2;
        if (both[1].value < both[0].value) return true;
        lw_reader_fault(reader, both[1].place, "give a smaller one",
                        "the inner radius %g leaves nothing of the radius %g", both[1].value, both[0].value);
        return false;
    }
    return give(reader, part, map, "area", LW_ANY_QUANTITY, "give its area, m^2") &&
           give(reader, part, map, "iy", LW_ANY_QUANTITY,
                "give its second moment for bending along z, m^4") &&
           give(reader, part, map, "iz", LW_ANY_QUANTITY,
                "give its second moment for bending along y, m^4") &&
           give(reader, part, map, "torsion", LW_ANY_QUANTITY, "give its torsion constant, m^4");
}

static bool read_material(lw_reader *reader, const lw_yaml *entry, lw_part_read *part) {
    static const char *const keys[] = {"young", "poisson", "density", NULL};
    const lw_yaml *map =
        lw_reader_need(reader, entry, "material", "give e.g. {young: 210 GPa, density: 7850}");
    if (!map || !lw_reader_keys(reader, map, keys)) return false;
    double value;
    const lw_yaml *poisson = lw_yaml_get(map, "poisson");
    bool good = give(reader, part, map, "young", LW_PRESSURE, "give Young's modulus, e.g. 210 GPa") &&
                give(reader, part, map, "density", LW_DENSITY, "give the density, e.g. 7850 kg/m^3");
    if (!poisson) return good;
    good = lw_reader_add_preset(reader, part, "poisson", poisson, LW_PLAIN_NUMBER, &value) && good;
    if (good && !(value > -1 && value <= 0.5)) {
        lw_reader_fault(reader, poisson->place, "give a number above -1, up to 0.5; 0.3 if left out",
                        "Poisson's ratio %g is that of no material", value);
        good = false;
    }
    return good;
}

/* --- place and ends -------------------------------------------------------------------------------- */

/* Three numbers on which the model's structure depends. */
static bool structural(lw_reader *reader, const lw_yaml *node, const char *what, lw_quantity quantity,
                       double out[3]) {
    const size_t mark = reader->waiting_count;
    const bool good = lw_reader_numbers(reader, node, what, quantity, 3, out);
    reader->waiting_count = mark;
    for (size_t k = 0; good && k < 3; k++)
        lw_reader_bind_structure(reader, node->items[k]->text, node->items[k]->place, out[k]);
    return good;
}

static bool read_line(lw_reader *reader, const lw_yaml *entry, beam *b) {
    const lw_yaml *points = lw_reader_need(reader, entry, "points", "give its two ends in the world"),
                  *normal = lw_yaml_get(entry, "normal");
    if (!points || !lw_reader_list(reader, points, "points", 2)) return false;
    for (int k = 0; k < 2; k++)
        if (!structural(reader, points->items[k], "an end", LW_LENGTH, b->ends[k])) return false;
    double line[3];
    lw_v3_sub(b->ends[1], b->ends[0], line);
    b->length = lw_v3_norm(line);
    if (!(b->length > 0) || !isfinite(b->length)) {
        lw_reader_fault(reader, points->place, "give two different points", "the beam has no length");
        return false;
    }
    b->has_normal = normal != NULL;
    return !normal || structural(reader, normal, "normal", LW_ANY_QUANTITY, b->normal);
}

/* The rotation that has x along the beam and z as near to the normal as may be. */
static bool turn(lw_reader *reader, const lw_yaml *entry, const beam *b, double q[4]) {
    double x[3], z[3], R[9];
    const double up[3] = {0, 0, 1}, aside[3] = {1, 0, 0};
    lw_v3_sub(b->ends[1], b->ends[0], x);
    for (int k = 0; k < 3; k++) x[k] /= b->length;
    lw_v3_copy(b->has_normal ? b->normal : fabs(x[2]) < 0.99 ? up : aside, z);
    const double size = lw_v3_norm(z);
    lw_v3_axpy(-lw_v3_dot(x, z), x, z);
    const double length = lw_v3_norm(z);
    if (!(length > 1e-9 * size)) {
        lw_reader_fault(reader, lw_yaml_get(entry, "normal")->place, "give a direction across the beam",
                        "the normal [%g, %g, %g] has no part across the beam", b->normal[0], b->normal[1],
                        b->normal[2]);
        return false;
    }
    for (int k = 0; k < 3; k++) z[k] /= length;
    double y[3];
    lw_v3_cross(z, x, y);
    for (int i = 0; i < 3; i++) R[3 * i] = x[i], R[3 * i + 1] = y[i], R[3 * i + 2] = z[i];
    lw_quat_rot(R, q);
    return true;
}

/* between: [root's body, tip's body], ~ for an end that is free. */
static bool read_ends(lw_reader *reader, const lw_yaml *entry, lw_part_read *part) {
    static const char *const inner[2] = {"root", "tip"};
    const lw_yaml *between =
        lw_reader_need(reader, entry, "between", "name the bodies at both ends, ~ where an end is free");
    if (!between || !lw_reader_list(reader, between, "between", 2)) return false;
    part->joins = LW_NEW(reader->arena, lw_part_join, 2);
    if (!part->joins) {
        reader->out_of_memory = true;
        return false;
    }
    for (int k = 0; k < 2; k++) {
        const lw_yaml *node = between->items[k];
        if (node->kind == LW_YAML_NULL) continue;
        const char *outer = lw_reader_text(reader, node, "body");
        if (!outer) return false;
        part->joins[part->join_count++] = (lw_part_join){inner[k], outer, node->place, node->place};
    }
    return true;
}

/* --- the model ------------------------------------------------------------------------------------- */

typedef struct text {
    char *at;
    size_t size, used;
} text;

LW_PRINTF(2, 3)
static void put(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf(t->at ? t->at + t->used : NULL, t->at ? t->size - t->used : 0, format, arguments);
    va_end(arguments);
    t->used += length > 0 ? (size_t)length : 0;
}

/* A piece of the beam: its name, its middle in its own frame, and its length as expressions. */
static void put_body(text *t, const beam *b, const char *name, const char *place, const char *middle,
                     const char *length) {
    put(t, "  %s: {position: [%s, 0, 0], ", name, place);
    if (b->shape) {
        put(t, "shapes: [{position: [%s, 0, 0], density: density, colour: sky, ", middle);
        put(t, b->shape, length);
        put(t, "}]}\n");
        return;
    }
    put(t,
        "mass: density*A*%s, com: [%s, 0, 0], inertia: [density*(Iy + Iz)*%s, density*Iy*%s + "
        "density*A*(%s)^3/12, "
        "density*Iz*%s + density*A*(%s)^3/12]}\n",
        length, middle, length, length, length, length, length);
}

static void put_model(text *t, const beam *b, bool joined) {
    const long n = b->elements;
    char one[32], two[32];
    put(t, "linkwork: 1\nname: beam\nparameters:\n  L: %.17g m\n  young: 1 Pa\n  poisson: 0.3\n", b->length);
    put(t, "  density: 1 kg/m^3\n%s%s  G: young/(2*(1 + poisson))\n  h: L/%ld\n",
        b->damped ? "  damping: 0 s\n" : "", b->section, n);
    put(t, "bodies:\n");
    put_body(t, b, "root", "0", "h/4", "(h/2)");
    for (long i = 1; i < n; i++) {
        char name[32], place[32];
        snprintf(name, sizeof name, "segment%ld", i);
        snprintf(place, sizeof place, "%ld*h", i);
        put_body(t, b, name, place, "0", "h");
    }
    put_body(t, b, "tip", "L", "-h/4", "(h/2)");
    put(t, "joints:\n");
    if (!joined) put(t, "  free: {type: free, between: [ground, root]}\n");
    for (int forces = 0; forces < 2; forces++) {
        if (forces) put(t, "forces:\n");
        for (long i = 1; i <= n; i++) {
            snprintf(one, sizeof one, i == 1 ? "root" : "segment%ld", i - 1);
            snprintf(two, sizeof two, i == n ? "tip" : "segment%ld", i);
            if (!forces) {
                put(t, "  hinge%ld: {type: %s, between: [%s, %s], %s: [%ld/2*h, 0, 0]}\n", i,
                    b->shear ? "free" : "spherical", one, two, "point", 2 * i - 1);
                continue;
            }
            static const char *const sway = "1/(h/(5/6*G*A) + h^3/(12*young*%s))";
            put(t, "  bend%ld: {type: bushing, between: [%s, %s], point: [%ld/2*h, 0, 0], stiffness: [", i,
                one, two, 2 * i - 1);
            if (b->shear) {
                put(t, "young*A/h, ");
                put(t, sway, "Iz");
                put(t, ", ");
                put(t, sway, "Iy");
            } else
                put(t, "0, 0, 0");
            put(t, ", G*J/h, young*Iy/h, young*Iz/h]");
            if (b->damped && b->shear) {
                put(t, ", damping: [damping*young*A/h, damping*");
                put(t, sway, "Iz");
                put(t, ", damping*");
                put(t, sway, "Iy");
                put(t, ", damping*G*J/h, damping*young*Iy/h, damping*young*Iz/h]");
            } else if (b->damped)
                put(t, ", damping: [0, 0, 0, damping*G*J/h, damping*young*Iy/h, damping*young*Iz/h]");
            put(t, "}\n");
        }
    }
}

void lw_read_beam(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    static const char *const keys[] = {"between",  "points",  "normal", "section", "material",
                                       "elements", "damping", "shear",  "repeat",  NULL};
    enum { PRESETS = 12 };
    const size_t before = reader->faults;
    beam b = {.elements = 16};
    lw_part_read *part = lw_reader_new_part(reader, named);
    if (!part || !lw_reader_keys(reader, entry, keys)) return;
    part->presets = LW_NEW(reader->arena, lw_preset, PRESETS);
    if (!part->presets) {
        reader->out_of_memory = true;
        return;
    }
    lw_part_spec own = {.name = named->name, .place = named->place};
    const lw_yaml *elements = lw_yaml_get(entry, "elements"), *shear = lw_yaml_get(entry, "shear"),
                  *damping = lw_yaml_get(entry, "damping");
    bool good = read_line(reader, entry, &b) && turn(reader, entry, &b, own.rotation);
    good = read_ends(reader, entry, part) && good;
    good = read_section(reader, entry, part, &b) && good;
    good = read_material(reader, entry, part) && good;
    if (shear) good = lw_reader_flag(reader, shear, "shear", &b.shear) && good;
    double value = 0;
    b.damped = damping != NULL;
    if (damping) good = lw_reader_add_preset(reader, part, "damping", damping, LW_TIME, &value) && good;
    if (elements && elements->kind != LW_YAML_TEXT) {
        lw_reader_fault(reader, elements->place, "give a whole number", "elements is no number");
        good = false;
    } else if (elements) {
        good = lw_reader_integer(reader, elements->text, elements, "elements", &b.elements) && good;
    }
    if (good && (b.elements < 1 || b.elements > ELEMENTS_MAX)) {
        lw_reader_fault(reader, elements->place, "give a number from 1 to 2000; 16 if left out",
                        "%ld elements", b.elements);
        good = false;
    }
    if (!good || reader->faults > before) return;
    lw_v3_copy(b.ends[0], own.position);
    text t = {0};
    put_model(&t, &b, part->join_count > 0);
    t.size = t.used + 1, t.used = 0;
    t.at = LW_NEW(reader->arena, char, t.size);
    if (!t.at) {
        reader->out_of_memory = true;
        return;
    }
    put_model(&t, &b, part->join_count > 0);
    lw_reader_finish_part(reader, named, part, &own, t.at, before);
}

/* read_contacts.c - contacts in section forces: a surface of one body, a shape on another, and their law.
 */
#include "io/model_read/reader.h"

#include <stdio.h>
#include <string.h>

static const char *const surfaces[] = {"plane", "sphere", "cylinder", "box", NULL};
static const char *const shapes[] = {"point", "sphere", "capsule", "disc", "box", NULL};

/* Keys of each figure besides type, in the order of `surfaces` and `shapes`. */
static const char *const surface_keys[][6] = {{"type", "normal"},
                                              {"type", "radius", "inside"},
                                              {"type", "axis", "radius", "length", "inside"},
                                              {"type", "size", "rotation"}};
static const char *const shape_keys[][6] = {{"type"},
                                            {"type", "radius"},
                                            {"type", "axis", "radius", "length"},
                                            {"type", "axis", "radius"},
                                            {"type", "size", "rotation"}};

static void need_number(lw_reader *reader, const lw_yaml *map, const char *key, const char *remedy,
                        double *value) {
    const lw_yaml *node = lw_reader_need(reader, map, key, remedy);
    if (node) lw_reader_number(reader, node, key, LW_LENGTH, value);
}

/* The numbers of one figure, after its keys have been checked. */
static void read_figure(lw_reader *reader, const lw_yaml *map, const char *const *keys,
                        lw_contact_figure *figure) {
    for (; *keys; keys++) {
        const char *key = *keys;
        const bool plane = strcmp(key, "normal") == 0;
        if (plane || strcmp(key, "axis") == 0) {
            const lw_yaml *axis =
                plane ? lw_yaml_get(map, key) : lw_reader_need(reader, map, key, "give a direction");
            if (axis) lw_reader_numbers(reader, axis, key, LW_ANY_QUANTITY, 3, figure->axis);
        } else if (strcmp(key, "radius") == 0) {
            need_number(reader, map, key, "give its radius", &figure->radius);
        } else if (strcmp(key, "length") == 0) {
            lw_reader_key_number(reader, map, key, LW_LENGTH, &figure->length);
        } else if (strcmp(key, "size") == 0) {
            const lw_yaml *size = lw_reader_need(reader, map, key, "give the lengths of its three edges");
            if (size) lw_reader_numbers(reader, size, key, LW_LENGTH, 3, figure->size);
        } else if (strcmp(key, "rotation") == 0 && lw_yaml_get(map, key)) {
            lw_reader_rotation(reader, lw_yaml_get(map, key), key, figure->rotation);
        }
    }
}

/* Reads `surface` or `shape`, which are maps with a type, or the name of a type that needs nothing more;
 * returns its number, or -1. */
static int read_side(lw_reader *reader, const lw_yaml *entry, bool surface, lw_contact_spec *contact) {
    const char *key = surface ? "surface" : "shape";
    const char *const *names = surface ? surfaces : shapes;
    const lw_yaml *map = lw_reader_need(reader, entry, key,
                                        surface ? "give e.g. surface: {type: plane, normal: [0, 0, 1]}"
                                                : "give e.g. shape: {type: sphere, radius: 0.1}");
    lw_contact_figure *figure = &contact->on[!surface];
    if (surface) figure->axis[2] = 1;
    if (!map) return -1;
    if (map->kind != LW_YAML_MAP) return lw_reader_choice(reader, map, key, names);
    const lw_yaml *type = lw_reader_need(
        reader, map, "type", surface ? "give type: plane, sphere, ..." : "give type: sphere, point, ...");
    const int number = type ? lw_reader_choice(reader, type, key, names) : -1;
    if (number < 0) return -1;
    const char *const *keys = surface ? surface_keys[number] : shape_keys[number];
    if (!lw_reader_keys(reader, map, keys)) return -1;
    const lw_yaml *inside = lw_yaml_get(map, "inside");
    if (inside) lw_reader_flag(reader, inside, "inside", &contact->inside);
    read_figure(reader, map, keys, figure);
    return number;
}

/* A number that measures kg m^length s^time or, with mass 0, the same without the mass; `unit` says it so. */
static void read_measured(lw_reader *reader, const lw_yaml *map, const char *key, lw_meaning wanted,
                          const char *unit, double *value) {
    const lw_yaml *node = lw_yaml_get(map, key);
    lw_expression_names names = lw_reader_names(reader);
    lw_meaning found;
    double number;
    if (!lw_reader_key_number(reader, map, key, LW_ANY_QUANTITY, value) || node->kind != LW_YAML_TEXT) return;
    names.table_count = 0;
    if (!lw_number_meaning(node->text, &names, &number, &found, NULL) || !lw_meaning_is_known(&found) ||
        lw_meaning_same(&found, &wanted))
        return;
    char remedy[80];
    snprintf(remedy, sizeof remedy, "give it in %s, or as a number without a unit", unit);
    lw_reader_fault(reader, node->place, remedy, "%s \"%.40s\" measures something else", key, node->text);
}

bool lw_read_contact(lw_reader *reader, const lw_yaml *entry, lw_force_spec *force) {
    lw_contact_spec *contact = &force->contact;
    bool good = lw_reader_between(reader, entry, force->bodies);
    const int surface = read_side(reader, entry, true, contact),
              shape = read_side(reader, entry, false, contact);
    good = good && surface >= 0 && shape >= 0;
    if (surface >= 0) contact->surface = (lw_contact_surface)surface;
    if (shape >= 0) contact->shape = (lw_contact_shape)shape;
    lw_reader_points(reader, entry, force->bodies, &force->frame, force->points);
    contact->exponent = 1.5;
    contact->smoothing = 1e-3;
    lw_reader_key_number(reader, entry, "exponent", LW_ANY_QUANTITY, &contact->exponent);
    char unit[32];
    snprintf(unit, sizeof unit, contact->exponent == 1 ? "N/m" : "N/m^%g", contact->exponent);
    const lw_meaning stiffness = {.mass = 1, .length = 1 - contact->exponent, .time = -2},
                     damping = {.length = -1, .time = 1};
    if (lw_reader_need(reader, entry, "stiffness",
                       "give the normal force at a depth of 1 m, N/m^exponent, e.g. 1e6"))
        read_measured(reader, entry, "stiffness", stiffness, unit, &contact->stiffness);
    read_measured(reader, entry, "damping", damping, "s/m", &contact->damping);
    lw_reader_key_number(reader, entry, "friction", LW_PLAIN_NUMBER, &contact->friction);
    lw_reader_key_number(reader, entry, "smoothing", LW_SPEED, &contact->smoothing);
    return good;
}

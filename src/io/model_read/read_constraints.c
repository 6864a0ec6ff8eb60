/* read_constraints.c - section constraints: distances, couplings of joint coordinates, rolling.
 */
#include "io/model_read/reader.h"
#include "model/spec/spec_storage.h"

#include <string.h>

static bool read_distance(lw_reader *reader, const lw_yaml *entry, lw_constraint_spec *constraint) {
    bool good = lw_reader_between(reader, entry, constraint->bodies);
    const lw_yaml *length = lw_yaml_get(entry, "length");
    lw_reader_points(reader, entry, constraint->bodies, &constraint->frame, constraint->points);
    if (length && lw_reader_number(reader, length, "length", LW_LENGTH, &constraint->length) &&
        !(constraint->length > 0)) {
        lw_reader_fault(
            reader, length->place,
            "give a positive length, or leave it out for the length in the initial state; two points in "
            "one place are a spherical joint",
            "length %g is not positive", constraint->length);
    }
    lw_reader_bind_rule(reader, &constraint->length, LW_RULE_POSITIVE);
    return good;
}

/* The curve of a term: about, polynomial or table. */
static bool read_curve(lw_reader *reader, const lw_yaml *term, int k, lw_constraint_spec *constraint) {
    static const char *const remedy = "give 2 to 5 coefficients, e.g. polynomial: [0, 1, 0, 0.2]";
    const lw_yaml *list = lw_yaml_get(term, "polynomial"), *table = lw_yaml_get(term, "table");
    lw_reader_key_number(reader, term, "about", LW_ANY_QUANTITY, &constraint->about[k]);
    if (list && table) {
        lw_reader_fault(reader, table->place, "give one of both", "a term has a polynomial and a table");
        return false;
    }
    if (table) constraint->tables[k] = lw_reader_text(reader, table, "table");
    if (table) return constraint->tables[k] != NULL;
    if (!list) return true;
    if (list->kind != LW_YAML_LIST || list->count < 2 || list->count > LW_POLYNOMIAL_MAX) {
        lw_reader_fault(reader, list->place, remedy,
                        "polynomial must be a list of 2 to %d coefficients, from that of x^0 on",
                        LW_POLYNOMIAL_MAX);
        return false;
    }
    constraint->polynomial_size[k] = (int)list->count;
    return lw_reader_numbers(reader, list, "polynomial", LW_ANY_QUANTITY, list->count,
                             constraint->polynomial[k]);
}

static bool read_coupling(lw_reader *reader, const lw_yaml *entry, lw_constraint_spec *constraint) {
    static const char *const keys[] = {"joint", "coordinate", "factor", "about", "polynomial", "table", NULL};
    static const char *const remedy = "give terms: [{joint: a, factor: 1}, {joint: b, factor: -2}]";
    const lw_yaml *terms = lw_reader_need(reader, entry, "terms", remedy);
    lw_reader_key_number(reader, entry, "offset", LW_ANY_QUANTITY, &constraint->offset);
    if (!terms) return false;
    if (terms->kind != LW_YAML_LIST || terms->count == 0 || terms->count > LW_COUPLING_MAX) {
        lw_reader_fault(reader, terms->place, remedy, "terms must be a list of 1 to %d mappings",
                        LW_COUPLING_MAX);
        return false;
    }
    bool good = true;
    constraint->terms = (int)terms->count;
    for (size_t k = 0; k < terms->count; k++) {
        const lw_yaml *term = terms->items[k];
        if (!lw_reader_keys(reader, term, keys)) {
            good = false;
            continue;
        }
        const lw_yaml *node = lw_reader_need(reader, term, "joint", "name the joint of this term");
        const lw_named *joint = node ? lw_reader_joint(reader, node, "joint") : NULL;
        constraint->factors[k] = 1;
        lw_reader_key_number(reader, term, "factor", LW_ANY_QUANTITY, &constraint->factors[k]);
        constraint->joints[k] = joint ? joint->name : NULL;
        good = read_curve(reader, term, (int)k, constraint) && good;
        good = joint && lw_reader_coordinate(reader, term, joint, &constraint->coordinates[k]) && good;
    }
    return good;
}

static bool read_rolling(lw_reader *reader, const lw_yaml *entry, lw_constraint_spec *constraint) {
    static const char *const frames[] = {"world", "body", NULL};
    const lw_yaml *body = lw_reader_need(reader, entry, "body", "name the body that rolls");
    const lw_yaml *on = lw_yaml_get(entry, "on"), *frame = lw_yaml_get(entry, "frame");
    const lw_yaml *radius = lw_reader_need(reader, entry, "radius", "give the radius of the disc or sphere");
    constraint->bodies[0] = body ? lw_reader_body(reader, body, "body") : NULL;
    constraint->bodies[1] = on ? lw_reader_body(reader, on, "on") : LW_GROUND;
    constraint->normal[2] = 1;
    if (frame && lw_reader_choice(reader, frame, "frame", frames) == 1) constraint->frame = LW_GEOMETRY_BODY;
    const lw_yaml *centre = lw_yaml_get(entry, "centre");
    if (!centre &&
        !(constraint->frame == LW_GEOMETRY_BODY && lw_reader_has_point(reader, constraint->bodies[0])))
        lw_reader_missing(reader, entry, "centre", "give the centre of the disc or sphere");
    if (centre) lw_reader_numbers(reader, centre, "centre", LW_LENGTH, 3, constraint->points[0]);
    if (radius) lw_reader_number(reader, radius, "radius", LW_LENGTH, &constraint->radius);
    lw_reader_key_numbers(reader, entry, "point", LW_LENGTH, 3, constraint->points[1]);
    lw_reader_key_numbers(reader, entry, "normal", LW_ANY_QUANTITY, 3, constraint->normal);
    size_t mark = reader->waiting_count;
    if (lw_reader_key_numbers(reader, entry, "axis", LW_ANY_QUANTITY, 3, constraint->axis))
        lw_reader_bind_group(reader, mark, LW_BIND_DIRECTION, constraint->axis, constraint->axis);
    const lw_yaml *axis = lw_yaml_get(entry, "axis");
    if (axis && constraint->axis[0] == 0 && constraint->axis[1] == 0 && constraint->axis[2] == 0 &&
        axis->kind == LW_YAML_LIST) {
        lw_reader_fault(reader, axis->place, "give any non-zero vector, or leave axis out for a sphere",
                        "axis [0, 0, 0] has no direction");
    }
    return constraint->bodies[0] && constraint->bodies[1];
}

static const struct constraint_type {
    bool (*read)(lw_reader *reader, const lw_yaml *entry, lw_constraint_spec *constraint);
    const char *keys[12];
} types[LW_CONSTRAINT_TYPES] = {
    [LW_CONSTRAINT_DISTANCE] = {read_distance,
                                {"type", "repeat", "between", "points", "first", "second", "length"}},
    [LW_CONSTRAINT_COUPLING] = {read_coupling, {"type", "repeat", "terms", "offset"}},
    [LW_CONSTRAINT_ROLLING] = {read_rolling,
                               {"type", "repeat", "body", "on", "centre", "radius", "axis", "point", "normal",
                                "frame"}},
};

static void read_constraint(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    const char *names[LW_CONSTRAINT_TYPES + 1] = {NULL};
    for (int k = 0; k < LW_CONSTRAINT_TYPES; k++) names[k] = lw_constraint_type_name((lw_constraint_type)k);
    if (entry->kind != LW_YAML_MAP) {
        lw_reader_keys(reader, entry, types[LW_CONSTRAINT_DISTANCE].keys);
        return;
    }
    size_t before = reader->faults;
    const lw_yaml *type_node =
        lw_reader_need(reader, entry, "type", "give type: distance, coupling or rolling");
    int type = type_node ? lw_reader_choice(reader, type_node, "constraint type", names) : -1;
    if (type < 0) return; /* The valid keys depend on the type. */
    lw_constraint_spec constraint = {
        .name = named->name, .type = (lw_constraint_type)type, .place = named->place};
    lw_reader_keys(reader, entry, types[type].keys);
    bool good = types[type].read(reader, entry, &constraint);
    if (good && reader->faults == before) {
        lw_status status = lw_spec_add_constraint(reader->spec, &constraint);
        lw_reader_check(reader, status);
        if (status == LW_OK)
            lw_reader_bound(reader, LW_OWNER_CONSTRAINT, reader->spec->constraint_count - 1, &constraint,
                            sizeof constraint);
    }
}

void lw_read_constraints(lw_reader *reader, const lw_yaml *section) {
    lw_reader_section(reader, section, "constraint", &reader->constraints, read_constraint);
}

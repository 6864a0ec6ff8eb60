/* read_forces.c - section forces: springs, torsion springs, bushings, applied forces, drives, friction,
 * contacts (read_contacts.c).
 */
#include "io/model_read/reader.h"
#include "model/spec/spec_storage.h"

#include <stdio.h>
#include <string.h>

static const lw_law_variables time_only = {{"t"}, {LW_TIME}, LW_INPUTS_ALLOWED};

/* The speed over which friction changes from rest to sliding if no smoothing is given, m/s or rad/s. */
static const double default_smoothing = 1e-3;

/* --- laws ----------------------------------------------------------------------------------------- */

static double *read_column(lw_reader *reader, const lw_yaml *node, const char *what, lw_quantity quantity) {
    if (node->kind != LW_YAML_LIST || node->count < 2) {
        lw_reader_fault(reader, node->place, "give a list of two or more numbers",
                        "%s of the table is no such list", what);
        return NULL;
    }
    double *values = LW_NEW(reader->arena, double, node->count);
    if (!values) reader->out_of_memory = true;
    return values && lw_reader_numbers(reader, node, what, quantity, node->count, values) ? values : NULL;
}

/* Reads table: {x: [...], force: [...], smooth: true}; a torque may have the key torque. */
static void read_table(lw_reader *reader, const lw_yaml *node, lw_coordinate_quantities measured,
                       lw_law_spec *law) {
    static const char *const keys[] = {"x", "force", "torque", "smooth", NULL};
    if (!lw_reader_keys(reader, node, keys)) return;
    const lw_yaml *x_node = lw_reader_need(reader, node, "x", "give the elongations, ascending");
    const char *column = lw_yaml_get(node, "torque") ? "torque" : "force";
    if (lw_yaml_get(node, "torque") && lw_yaml_get(node, "force")) {
        lw_reader_fault(reader, node->place, "keep one of them", "both force and torque are given");
    }
    const lw_yaml *y_node = lw_reader_need(reader, node, column, "give one value for each entry of x");
    const lw_yaml *smooth = lw_yaml_get(node, "smooth");
    if (smooth) lw_reader_flag(reader, smooth, "smooth", &law->smooth);
    double *x = x_node ? read_column(reader, x_node, "x", measured.coordinate) : NULL;
    double *y = y_node ? read_column(reader, y_node, column, measured.force) : NULL;
    if (!x || !y) return;
    if (x_node->count != y_node->count) {
        lw_reader_fault(reader, y_node->place, "give one value for each entry of x",
                        "%zu entries of x, but %zu of %s", x_node->count, y_node->count, column);
        return;
    }
    for (size_t k = 1; k < x_node->count; k++) {
        if (x[k] > x[k - 1]) continue;
        lw_reader_fault(reader, x_node->items[k]->place, "sort the table", "x does not ascend: %g behind %g",
                        x[k], x[k - 1]);
        return;
    }
    law->table_size = (int)x_node->count;
    law->table_x = x;
    law->table_y = y;
}

/* Reads the linear terms and the law of a spring or torsion spring, of which at least one must be given. */
static void read_law(lw_reader *reader, const lw_yaml *entry, lw_coordinate_quantities measured,
                     lw_force_spec *force) {
    const lw_yaml *law = lw_yaml_get(entry, "law"), *table = lw_yaml_get(entry, "table");
    lw_reader_key_number(reader, entry, "stiffness", measured.stiffness, &force->stiffness);
    lw_reader_key_number(reader, entry, "damping", measured.damping, &force->damping);
    if (law && table) {
        lw_reader_fault(reader, table->place, "keep one of them", "both law and table are given");
    } else if (law) {
        const lw_law_variables variables = {
            {"x", "v", "t"}, {measured.coordinate, measured.speed, LW_TIME}, LW_INPUTS_ALLOWED};
        force->law.expression = lw_reader_function(reader, law, "law", measured.force, &variables);
    } else if (table) {
        read_table(reader, table, measured, &force->law);
    } else if (!lw_yaml_get(entry, "stiffness") && !lw_yaml_get(entry, "damping")) {
        lw_reader_fault(reader, entry->place, "give stiffness, damping, law or table",
                        "it has no law of force");
    }
}

/* --- one reader for each type --------------------------------------------------------------------- */

static bool read_spring(lw_reader *reader, const lw_yaml *entry, lw_force_spec *force) {
    bool good = lw_reader_between(reader, entry, force->bodies);
    lw_reader_points(reader, entry, force->bodies, &force->frame, force->points);
    force->has_free_length = lw_reader_key_number(reader, entry, "length", LW_LENGTH, &force->free_length);
    read_law(reader, entry, lw_quantities_of(LW_LENGTH), force);
    return good;
}

/* Reads the joint, and its coordinate, on which a torsion spring, drive or friction acts. */
static bool read_joint_coordinate(lw_reader *reader, const lw_yaml *entry, lw_force_spec *force,
                                  lw_coordinate_quantities *measured) {
    const lw_yaml *node = lw_reader_need(reader, entry, "joint", "name the joint on which it acts");
    const lw_named *joint = node ? lw_reader_joint(reader, node, "joint") : NULL;
    if (joint) force->joint = joint->name;
    bool good = joint && lw_reader_coordinate(reader, entry, joint, &force->coordinate);
    *measured =
        lw_quantities_of(good ? lw_coordinate_quantity(joint->type, force->coordinate) : LW_ANY_QUANTITY);
    return good;
}

static bool read_torsion(lw_reader *reader, const lw_yaml *entry, lw_force_spec *force) {
    lw_coordinate_quantities measured;
    bool good = read_joint_coordinate(reader, entry, force, &measured);
    force->has_free_length =
        lw_reader_key_number(reader, entry, "free", measured.coordinate, &force->free_length);
    read_law(reader, entry, measured, force);
    return good;
}

static bool read_bushing(lw_reader *reader, const lw_yaml *entry, lw_force_spec *force) {
    bool good = lw_reader_between(reader, entry, force->bodies);
    const lw_yaml *point = lw_yaml_get(entry, "point"), *rotation = lw_yaml_get(entry, "rotation");
    const bool first = lw_yaml_get(entry, "first"), second = lw_yaml_get(entry, "second");
    if (point && !first && !second) {
        lw_reader_numbers(reader, point, "point", LW_LENGTH, 3, force->points[0]);
    } else if (!point && (first || lw_reader_has_point(reader, force->bodies[0])) &&
               (second || lw_reader_has_point(reader, force->bodies[1]))) {
        lw_reader_points(reader, entry, force->bodies, &force->frame, force->points);
    } else {
        lw_reader_fault(
            reader, entry->place,
            "give either point: [x, y, z] in the world, or first: [x, y, z] and second: [x, y, z] in the "
            "frames of the two bodies",
            "its place is not clear");
    }
    if (rotation) lw_reader_rotation(reader, rotation, "rotation", force->rotation);
    const lw_yaml *stiffness = lw_reader_need(
        reader, entry, "stiffness", "give six numbers: three for translations, three for rotations");
    static const lw_quantity stiffnesses[6] = {LW_STIFFNESS,         LW_STIFFNESS,
                                               LW_STIFFNESS,         LW_TURNING_STIFFNESS,
                                               LW_TURNING_STIFFNESS, LW_TURNING_STIFFNESS};
    static const lw_quantity dampings[6] = {LW_DAMPING,         LW_DAMPING,         LW_DAMPING,
                                            LW_TURNING_DAMPING, LW_TURNING_DAMPING, LW_TURNING_DAMPING};
    const lw_yaml *damping = lw_yaml_get(entry, "damping");
    if (stiffness)
        lw_reader_mixed_numbers(reader, stiffness, "stiffness", stiffnesses, 6, force->bushing_stiffness);
    if (damping) lw_reader_mixed_numbers(reader, damping, "damping", dampings, 6, force->bushing_damping);
    return good;
}

static void read_components(lw_reader *reader, const lw_yaml *node, const char *what, lw_quantity quantity,
                            const char *components[3]) {
    if (!node || !lw_reader_list(reader, node, what, 3)) return;
    for (size_t k = 0; k < 3; k++) {
        char entry[64];
        snprintf(entry, sizeof entry, "entry %zu of %s", k + 1, what);
        if (node->items[k]->kind != LW_YAML_NULL) {
            components[k] = lw_reader_function(reader, node->items[k], entry, quantity, &time_only);
        }
    }
}

static bool read_applied(lw_reader *reader, const lw_yaml *entry, lw_force_spec *force) {
    static const char *const frames[] = {"world", "body", NULL};
    const lw_yaml *body = lw_reader_need(reader, entry, "body", "name the body on which it acts");
    const lw_yaml *against = lw_yaml_get(entry, "against"), *point = lw_yaml_get(entry, "point");
    const lw_yaml *vector = lw_yaml_get(entry, "force"), *torque = lw_yaml_get(entry, "torque");
    const lw_yaml *frame = lw_yaml_get(entry, "frame"), *axes = lw_yaml_get(entry, "axes");
    force->bodies[0] = body ? lw_reader_body(reader, body, "body") : NULL;
    force->bodies[1] = against ? lw_reader_body(reader, against, "against") : LW_GROUND;
    if (frame && lw_reader_choice(reader, frame, "frame", frames) == 1) force->frame = LW_GEOMETRY_BODY;
    if (axes) force->follows_body = lw_reader_choice(reader, axes, "axes", frames) == 1;
    if (point) {
        lw_reader_numbers(reader, point, "point", LW_LENGTH, 3, force->points[0]);
    } else if (vector && !lw_reader_has_point(reader, force->bodies[0])) {
        lw_reader_need(reader, entry, "point",
                       "say where the force acts: in the world, or with frame: body on the body");
    } else {
        force->frame = LW_GEOMETRY_BODY; /* A frame has its origin; a pure torque has no point of action. */
    }
    if (!vector && !torque) {
        lw_reader_fault(reader, entry->place, "give force: [x, y, z], torque: [x, y, z] or both",
                        "it has no effect");
    }
    read_components(reader, vector, "force", LW_FORCE, force->force);
    read_components(reader, torque, "torque", LW_TORQUE, force->torque);
    return force->bodies[0] && force->bodies[1];
}

static bool read_drive(lw_reader *reader, const lw_yaml *entry, lw_force_spec *force) {
    lw_coordinate_quantities measured;
    bool good = read_joint_coordinate(reader, entry, force, &measured);
    const lw_yaml *node = lw_yaml_get(entry, "force"), *torque = lw_yaml_get(entry, "torque");
    if ((node && torque) || (!node && !torque)) {
        lw_reader_fault(reader, entry->place, "give one of force and torque: an expression of t, q, v",
                        "%s given", node ? "both force and torque are" : "neither force nor torque is");
        return false;
    }
    const lw_law_variables variables = {
        {"t", "q", "v"}, {LW_TIME, measured.coordinate, measured.speed}, LW_INPUTS_ALLOWED};
    force->drive = lw_reader_function(reader, node ? node : torque, node ? "force" : "torque", measured.force,
                                      &variables);
    if (!lw_yaml_get(entry, "limit")) return good;
    lw_reader_key_number(reader, entry, "limit", measured.force, &force->limit);
    if (force->limit == 0) {
        lw_reader_fault(reader, lw_reader_place(entry, "limit"), "give the largest force, or leave limit out",
                        "a limit of zero leaves nothing of the drive");
        return false;
    }
    return good;
}

static bool read_friction(lw_reader *reader, const lw_yaml *entry, lw_force_spec *force) {
    lw_coordinate_quantities measured;
    bool good = read_joint_coordinate(reader, entry, force, &measured);
    force->smoothing = default_smoothing;
    lw_reader_key_number(reader, entry, "viscous", measured.damping, &force->viscous);
    lw_reader_key_number(reader, entry, "coulomb", measured.force, &force->coulomb);
    lw_reader_key_number(reader, entry, "smoothing", measured.speed, &force->smoothing);
    if (!lw_yaml_get(entry, "viscous") && !lw_yaml_get(entry, "coulomb")) {
        lw_reader_fault(reader, entry->place, "give viscous, coulomb or both", "it has no effect");
    }
    return good;
}

/* --- section -------------------------------------------------------------------------------------- */

static const struct force_type {
    bool (*read)(lw_reader *reader, const lw_yaml *entry, lw_force_spec *force);
    const char *keys[16];
} types[LW_FORCE_TYPES] = {
    [LW_FORCE_SPRING] = {read_spring,
                         {"type", "repeat", "between", "points", "first", "second", "stiffness", "damping",
                          "length", "law", "table"}},
    [LW_FORCE_TORSION] = {read_torsion,
                          {"type", "repeat", "joint", "coordinate", "stiffness", "damping", "free", "law",
                           "table"}},
    [LW_FORCE_BUSHING] = {read_bushing,
                          {"type", "repeat", "between", "point", "first", "second", "rotation", "stiffness",
                           "damping"}},
    [LW_FORCE_APPLIED] = {read_applied,
                          {"type", "repeat", "body", "against", "point", "frame", "force", "torque", "axes"}},
    [LW_FORCE_DRIVE] = {read_drive, {"type", "repeat", "joint", "coordinate", "force", "torque", "limit"}},
    [LW_FORCE_FRICTION] = {read_friction,
                           {"type", "repeat", "joint", "coordinate", "viscous", "coulomb", "smoothing"}},
    [LW_FORCE_CONTACT] = {lw_read_contact,
                          {"type", "repeat", "between", "points", "first", "second", "surface", "shape",
                           "stiffness", "exponent", "damping", "friction", "smoothing"}},
};

static void read_force(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    const char *names[LW_FORCE_TYPES + 1] = {NULL};
    for (int k = 0; k < LW_FORCE_TYPES; k++) names[k] = lw_force_type_name((lw_force_type)k);
    if (entry->kind != LW_YAML_MAP) {
        lw_reader_keys(reader, entry, types[LW_FORCE_SPRING].keys);
        return;
    }
    size_t before = reader->faults;
    const lw_yaml *type_node =
        lw_reader_need(reader, entry, "type", "give type: spring, torsion, bushing, ...");
    int type = type_node ? lw_reader_choice(reader, type_node, "force type", names) : -1;
    if (type < 0) return; /* The valid keys depend on the type. */
    lw_force_spec force = {.name = named->name, .type = (lw_force_type)type, .place = named->place};
    lw_reader_keys(reader, entry, types[type].keys);
    bool good = types[type].read(reader, entry, &force);
    if (!good || reader->faults > before) return;
    lw_status status = lw_spec_add_force(reader->spec, &force);
    lw_reader_check(reader, status);
    if (status != LW_OK) return;
    size_t index = reader->spec->force_count - 1, table = (size_t)force.law.table_size * sizeof(double);
    lw_reader_bound(reader, LW_OWNER_FORCE, index, &force, sizeof force);
    lw_reader_bound(reader, LW_OWNER_TABLE_X, index, force.law.table_x, table);
    lw_reader_bound(reader, LW_OWNER_TABLE_Y, index, force.law.table_y, table);
}

void lw_read_forces(lw_reader *reader, const lw_yaml *section) {
    lw_reader_section(reader, section, "force", &reader->forces, read_force);
}

/* read_joints.c - section joints: type, bodies, geometry, initial coordinates and speeds, prescribed motion.
 *
 * Geometry is given either in the entry itself (point and axes in the world, in the reference configuration)
 * or in first: {...} and second: {...} (point and axes in the frame of each body).
 */
#include "io/model_read/reader.h"
#include "model/joint_types.h"
#include "model/spec/spec_storage.h"

#include <stdio.h>
#include <string.h>

typedef struct key_list {
    const char *keys[24];
    size_t count;
} key_list;

static void add_key(key_list *list, const char *key) {
    list->keys[list->count++] = key;
    list->keys[list->count] = NULL;
}

static bool turns_freely(lw_joint_type type) { return lw_joint_describe(type)->ball; }

/* --- geometry ------------------------------------------------------------------------------------- */

/* Lists the geometry keys that an entry, or its first and second, may have. */
static void geometry_keys(lw_joint_type type, key_list *list) {
    add_key(list, "point");
    add_key(list, lw_joint_describe(type)->axis_key);
    if (!lw_joint_axes_are_listed(type)) add_key(list, "x");
}

static bool read_axis_and_x(lw_reader *reader, const lw_yaml *map, lw_joint_type type,
                            lw_joint_geometry *geometry) {
    const lw_yaml *axis = lw_yaml_get(map, lw_joint_describe(type)->axis_key), *x = lw_yaml_get(map, "x");
    if (!axis && !x && lw_joint_describe(type)->fewest_axes == 0) return true;
    axis = lw_reader_need(reader, map, lw_joint_describe(type)->axis_key, "give a direction, e.g. [0, 0, 1]");
    bool good = axis && lw_reader_numbers(reader, axis, lw_joint_describe(type)->axis_key, LW_ANY_QUANTITY, 3,
                                          geometry->axes[0]);
    geometry->axis_count = x ? 2 : 1;
    return (!x || lw_reader_numbers(reader, x, "x", LW_ANY_QUANTITY, 3, geometry->axes[1])) && good;
}

static bool read_axes(lw_reader *reader, const lw_yaml *map, lw_joint_type type,
                      lw_joint_geometry *geometry) {
    static const char *const remedy = "give a list of directions, e.g. [[1, 0, 0], [0, 1, 0]]";
    int fewest = lw_joint_describe(type)->fewest_axes, most = lw_joint_describe(type)->most_axes;
    if (!lw_joint_axes_are_listed(type)) return read_axis_and_x(reader, map, type, geometry);
    const lw_yaml *node = lw_reader_need(reader, map, "axes", remedy);
    if (!node) return false;
    if (node->kind != LW_YAML_LIST || node->count < (size_t)fewest || node->count > (size_t)most) {
        lw_reader_fault(reader, node->place, remedy,
                        fewest == most ? "axes must be a list of %d directions"
                                       : "axes must be a list of %d to %d directions",
                        fewest, most);
        return false;
    }
    bool good = true;
    for (size_t k = 0; k < node->count; k++) {
        good =
            lw_reader_numbers(reader, node->items[k], "axis", LW_ANY_QUANTITY, 3, geometry->axes[k]) && good;
    }
    geometry->axis_count = (int)node->count;
    return good;
}

/* open: the point may be left out, because a frame has one. */
static bool read_point(lw_reader *reader, const lw_yaml *map, lw_joint_type type, bool in_body, bool open,
                       lw_joint_geometry *geometry) {
    const lw_yaml *point = lw_yaml_get(map, "point");
    bool good = true;
    if (point) {
        good = lw_reader_numbers(reader, point, "point", LW_LENGTH, 3, geometry->point);
    } else if (!open && (in_body || lw_joint_describe(type)->point_must_be_given)) {
        good = lw_reader_need(
            reader, map, "point",
            in_body ? "give a point in the body's frame, e.g. [0, 0, 0]"
                    : "give a point in the world, or first and second in the frames of the bodies");
    }
    return good;
}

static bool read_geometry(lw_reader *reader, const lw_yaml *entry, lw_joint_spec *joint) {
    const lw_yaml *sides[2] = {lw_yaml_get(entry, "first"), lw_yaml_get(entry, "second")};
    const bool open[2] = {lw_reader_has_point(reader, joint->bodies[0]),
                          lw_reader_has_point(reader, joint->bodies[1])};
    if (!sides[0] && !sides[1]) {
        if (lw_joint_is_free(joint->type) && !lw_yaml_get(entry, "point") && !lw_yaml_get(entry, "axis") &&
            !lw_yaml_get(entry, "x")) { /* It moves the body's frame, from the body's pose. */
            joint->frame = LW_GEOMETRY_BODY;
            return true;
        }
        bool point = read_point(reader, entry, joint->type, false, open[0] || open[1], &joint->geometry[0]);
        joint->at_frames = !lw_yaml_get(entry, "point") && (lw_reader_is_frame(reader, joint->bodies[0]) ||
                                                            lw_reader_is_frame(reader, joint->bodies[1]));
        return read_axes(reader, entry, joint->type, &joint->geometry[0]) && point;
    }

    joint->frame = LW_GEOMETRY_BODY;
    key_list keys = {.count = 0};
    geometry_keys(joint->type, &keys);
    bool good = true, first_alone = lw_joint_describe(joint->type)->frame == LW_FRAME_OF_BODY;
    for (size_t k = 0; k < keys.count; k++) {
        const lw_yaml *stray = lw_yaml_get(entry, keys.keys[k]);
        if (!stray) continue;
        lw_reader_fault(reader, stray->place,
                        "give the geometry either in the world or in first and second, not both",
                        "%s stands beside first and second", keys.keys[k]);
        good = false;
    }
    for (int k = 0; k < 2; k++) {
        const char *side = k == 0 ? "first" : "second";
        if (!sides[k]) {
            good = lw_reader_need(reader, entry, side, "first and second go together: one for each body") &&
                   good;
            continue;
        }
        bool axes_wanted = k == 0 || !first_alone; /* Without rotation the first axes are enough. */
        if (!axes_wanted) keys.keys[1] = NULL;
        good = lw_reader_keys(reader, sides[k], keys.keys) && good;
        if (sides[k]->kind != LW_YAML_MAP) continue;
        good = read_point(reader, sides[k], joint->type, true, open[k], &joint->geometry[k]) && good;
        if (axes_wanted) good = read_axes(reader, sides[k], joint->type, &joint->geometry[k]) && good;
    }
    if (good && !first_alone && joint->geometry[0].axis_count != joint->geometry[1].axis_count) {
        lw_reader_fault(reader, sides[1]->place, "give the same number of axes on both sides",
                        "first has %d axes, second has %d", joint->geometry[0].axis_count,
                        joint->geometry[1].axis_count);
        good = false;
    }
    return good;
}

/* --- initial state and motion --------------------------------------------------------------------- */

/* Reads a number if there is one value, otherwise a list. */
static bool read_values(lw_reader *reader, const lw_yaml *node, const char *what,
                        const lw_quantity *quantities, int count, double *values) {
    if (count == 1 && node->kind != LW_YAML_LIST)
        return lw_reader_number(reader, node, what, quantities[0], values);
    return lw_reader_mixed_numbers(reader, node, what, quantities, (size_t)count, values);
}

/* Reports two keys that give the same quantity. */
static bool exclude(lw_reader *reader, const lw_yaml *map, const char *one, const char *other) {
    const lw_yaml *node = lw_yaml_get(map, other);
    if (!node || !lw_yaml_get(map, one)) return true;
    lw_reader_fault(reader, node->place, "keep one of them", "both %s and %s are given", one, other);
    return false;
}

/* The quantity of entry k of q; those of a quaternion are plain numbers. */
static lw_quantity coordinate_quantity(lw_joint_type type, int k) {
    int at = lw_joint_quaternion(type);
    bool quaternion = at >= 0 && k >= at;
    return quaternion ? LW_PLAIN_NUMBER : lw_coordinate_quantity(type, k);
}

void lw_reader_state_keys(lw_joint_type type, const char **keys) {
    if (turns_freely(type)) *keys++ = "rotation", *keys++ = "angular_velocity";
    if (lw_joint_is_free(type)) *keys++ = "position", *keys++ = "velocity";
    *keys = NULL;
}

void lw_reader_state(lw_reader *reader, const lw_yaml *entry, lw_joint_type type, int axis_count,
                     const lw_state_target *target) {
    int nq = lw_joint_type_q(type, axis_count), nv = lw_joint_type_v(type, axis_count);
    const lw_yaml *q = lw_yaml_get(entry, "q"), *v = lw_yaml_get(entry, "v");
    *target->has_q = q != NULL;
    *target->has_v = v != NULL;
    lw_quantity coordinates[LW_JOINT_MAX_Q], speeds[LW_JOINT_MAX_V];
    for (int k = 0; k < nq; k++) coordinates[k] = coordinate_quantity(type, k);
    for (int k = 0; k < nv; k++) speeds[k] = lw_quantities_of(lw_coordinate_quantity(type, k)).speed;
    if (q) read_values(reader, q, "q", coordinates, nq, target->q);
    if (v) read_values(reader, v, "v", speeds, nv, target->v);
    if (!turns_freely(type)) return;

    /* The coordinates may be given by name: [position,] rotation, [velocity,] angular_velocity. */
    bool is_free = lw_joint_is_free(type);
    exclude(reader, entry, "q", "rotation");
    exclude(reader, entry, "v", "angular_velocity");
    double *quaternion = target->q + (is_free ? 3 : 0), *turn = target->v + (is_free ? 3 : 0);
    const lw_yaml *rotation = lw_yaml_get(entry, "rotation"), *spin = lw_yaml_get(entry, "angular_velocity");
    const lw_yaml *position = is_free ? lw_yaml_get(entry, "position") : NULL;
    const lw_yaml *velocity = is_free ? lw_yaml_get(entry, "velocity") : NULL;
    if (!q && (rotation || position)) {
        *target->has_q = true;
        quaternion[0] = 1;
        if (rotation) lw_reader_rotation(reader, rotation, "rotation", quaternion);
        if (position) lw_reader_numbers(reader, position, "position", LW_LENGTH, 3, target->q);
    }
    if (!v && (spin || velocity)) {
        *target->has_v = true;
        if (spin) lw_reader_numbers(reader, spin, "angular_velocity", LW_ANGULAR_SPEED, 3, turn);
        if (velocity) lw_reader_numbers(reader, velocity, "velocity", LW_SPEED, 3, target->v);
    }
    if (is_free) {
        exclude(reader, entry, "q", "position");
        exclude(reader, entry, "v", "velocity");
    }
}

static void read_motion(lw_reader *reader, const lw_yaml *entry, lw_joint_spec *joint) {
    static const lw_law_variables time_only = {{"t"}, {LW_TIME}, LW_INPUTS_NOT_IN_MOTIONS};
    const lw_yaml *node = lw_yaml_get(entry, "motion");
    size_t count = (size_t)lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
    if (!node || node->kind == LW_YAML_NULL) return;
    if (count == 1 && node->kind != LW_YAML_LIST) {
        joint->motion[0] =
            lw_reader_function(reader, node, "motion", lw_coordinate_quantity(joint->type, 0), &time_only);
        return;
    }
    if (!lw_reader_list(reader, node, "motion", count)) return;
    for (size_t k = 0; k < count; k++) {
        char what[64];
        snprintf(what, sizeof what, "entry %zu of motion", k + 1);
        if (node->items[k]->kind == LW_YAML_NULL) continue; /* The coordinate is free. */
        joint->motion[k] = lw_reader_function(reader, node->items[k], what,
                                              lw_coordinate_quantity(joint->type, (int)k), &time_only);
    }
    if (!turns_freely(joint->type)) return;
    size_t turns = (size_t)lw_joint_quaternion(joint->type);
    bool some = false, all = true;
    for (size_t k = turns; k < turns + 3; k++) {
        bool given = node->items[k]->kind != LW_YAML_NULL;
        some = some || given;
        all = all && given;
    }
    if (some && !all) {
        lw_reader_fault(reader, node->place, "give all three Cardan angles, or null for all three",
                        "the rotation is prescribed by half");
    }
}

/* --- joint ---------------------------------------------------------------------------------------- */

/* Keys of every joint; those from q to motion only where the joint moves. */
static const char *const common_keys[] = {"type",   "between", "first",  "second",     "q", "v",
                                          "motion", "cut",     "repeat", "compliance", NULL};

/* The keys that a joint of this type may have. */
static void joint_keys(lw_joint_type type, bool moves, key_list *keys) {
    for (int k = 0; common_keys[k]; k++) {
        const char *key = common_keys[k];
        bool of_state = !strcmp(key, "q") || !strcmp(key, "v") || !strcmp(key, "motion");
        if (moves || !of_state) add_key(keys, key);
    }
    geometry_keys(type, keys);
    if (lw_joint_describe(type)->screws) add_key(keys, "lead");
    static const char *const of_coordinates[] = {"armature", "zero", "limits", "stop"};
    for (int k = 0; k < 4 && moves && !turns_freely(type); k++) add_key(keys, of_coordinates[k]);
    const char *of_state[5];
    lw_reader_state_keys(type, of_state);
    for (int k = 0; of_state[k]; k++) add_key(keys, of_state[k]);
}

/* The places in the file of the values of an entry without faults. */
static lw_joint_places places_of(const lw_yaml *entry, const lw_joint_spec *joint) {
    lw_joint_places places = {.between = lw_reader_place(entry, "between"),
                              .lead = lw_reader_place(entry, "lead"),
                              .q = lw_reader_place(entry, "q"),
                              .v = lw_reader_place(entry, "v")};
    lw_place_joint_coordinates(entry, joint, &places);
    for (int side = 0; side < 2; side++) {
        const lw_yaml *map = lw_yaml_get(entry, side == 0 ? "first" : "second");
        if (!map && side == 0) map = entry; /* The geometry is given in the world. */
        places.point[side] = lw_reader_place(map, "point");
        if (!lw_joint_axes_are_listed(joint->type)) {
            places.axes[side][0] = lw_reader_place(map, lw_joint_describe(joint->type)->axis_key);
            places.axes[side][1] = lw_reader_place(map, "x");
            continue;
        }
        const lw_yaml *axes = map ? lw_yaml_get(map, "axes") : NULL;
        for (size_t k = 0; axes && k < axes->count; k++) places.axes[side][k] = axes->items[k]->place;
    }
    return places;
}

/* Adds a joint without faults to the spec; bodies: its bodies are known. */
static void add_joint(lw_reader *reader, const lw_yaml *entry, bool bodies, lw_joint_spec *joint) {
    /* The text has faults, so that the spec is only checked; these names, which no body has, cause no further
     * fault. */
    if (!bodies)
        for (int k = 0; k < 2; k++)
            if (!joint->bodies[k]) joint->bodies[k] = k ? "?2" : "?1";
    const lw_joint_places places = places_of(entry, joint);
    lw_status status = lw_spec_add_joint(reader->spec, joint);
    lw_reader_check(reader, status == LW_OK ? lw_spec_place_joint(reader->spec, &places) : status);
    if (status == LW_OK)
        lw_reader_bound(reader, LW_OWNER_JOINT, reader->spec->joint_count - 1, joint, sizeof *joint);
}

static void read_joint(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    const char *types[LW_JOINT_TYPES_MOST + 1] = {NULL};
    for (int k = 0; k < lw_joint_descriptor_count; k++) types[k] = lw_joint_type_name((lw_joint_type)k);
    if (entry->kind != LW_YAML_MAP) {
        lw_reader_keys(reader, entry, common_keys);
        return;
    }
    lw_joint_spec joint = {.name = named->name, .place = named->place};
    size_t before = reader->faults - reader->harmless;
    const lw_yaml *type_node = lw_reader_need(reader, entry, "type", "give type: revolute, prismatic, ...");
    int type = type_node ? lw_reader_choice(reader, type_node, "joint type", types) : -1;
    if (type < 0) { /* The valid keys depend on the type, except `between`. */
        lw_reader_between(reader, entry, joint.bodies);
        return;
    }
    joint.type = (lw_joint_type)type;

    bool moves = lw_joint_type_v(joint.type, 1) > 0;
    key_list keys = {.count = 0};
    joint_keys(joint.type, moves, &keys);
    lw_reader_keys(reader, entry, keys.keys);

    bool bodies = lw_reader_between(reader, entry, joint.bodies);
    if (lw_joint_describe(joint.type)->screws) {
        const lw_yaml *lead =
            lw_reader_need(reader, entry, "lead", "give the advance per turn, e.g. lead: 5 mm");
        if (lead) lw_reader_number(reader, lead, "lead", LW_LENGTH, &joint.lead);
    }
    const lw_yaml *cut = lw_yaml_get(entry, "cut");
    if (cut) lw_reader_flag(reader, cut, "cut", &joint.cut);
    lw_read_joint_compliance(reader, entry, &joint);
    /* The number of coordinates follows from the type, or from the number of axes. */
    if (read_geometry(reader, entry, &joint) || !lw_joint_describe(joint.type)->axes_are_slides) {
        named->type = type;
        named->axis_count = joint.geometry[0].axis_count;
        if (moves) {
            const lw_state_target target = {&joint.has_q, &joint.has_v, joint.q, joint.v};
            lw_reader_state(reader, entry, joint.type, joint.geometry[0].axis_count, &target);
            read_motion(reader, entry, &joint);
            if (!turns_freely(joint.type)) lw_read_joint_coordinates(reader, entry, &joint);
        }
    }
    if (reader->faults - reader->harmless > before || (!bodies && reader->muted)) return;
    add_joint(reader, entry, bodies, &joint);
}

void lw_read_joints(lw_reader *reader, const lw_yaml *section) {
    lw_reader_section(reader, section, "joint", &reader->joints, read_joint);
}

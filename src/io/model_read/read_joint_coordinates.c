/* read_joint_coordinates.c - what a joint says of its coordinates: armature, zero, limits, stop. Each is one
 * value where the joint has one coordinate, otherwise a list.
 */
#include "io/model_read/reader.h"
#include "model/joint_types.h"
#include "model/spec/spec_storage.h"

#include <math.h>
#include <stdio.h>

enum { MOST = LW_JOINT_MAX_V };

static void read_values(lw_reader *reader, const lw_yaml *node, const char *what,
                        const lw_quantity *quantities, int count, double *values) {
    if (!node) return;
    if (count == 1 && node->kind != LW_YAML_LIST)
        lw_reader_number(reader, node, what, quantities[0], values);
    else
        lw_reader_mixed_numbers(reader, node, what, quantities, (size_t)count, values);
}

/* A pair of limits, of which null leaves its side open. */
static void read_pair(lw_reader *reader, const lw_yaml *node, lw_quantity quantity, double limits[2]) {
    if (!lw_reader_list(reader, node, "limits", 2)) return;
    const size_t before = reader->faults;
    for (size_t side = 0; side < 2; side++) {
        if (node->items[side]->kind == LW_YAML_NULL)
            limits[side] = side ? HUGE_VAL : -HUGE_VAL;
        else
            lw_reader_number(reader, node->items[side], side ? "upper limit" : "lower limit", quantity,
                             &limits[side]);
    }
    if (limits[0] == 0 && limits[1] == 0 && reader->faults == before) /* In a spec this means none. */
        lw_reader_fault(reader, node->place, "give the lower one first, or leave limits out",
                        "limits [0, 0] do not ascend");
    if (limits[0] == -HUGE_VAL && limits[1] == HUGE_VAL) limits[0] = limits[1] = 0;
}

static void read_limits(lw_reader *reader, const lw_yaml *node, const lw_quantity *quantities, int count,
                        lw_joint_spec *joint) {
    if (!node || node->kind == LW_YAML_NULL) return;
    if (count == 1) {
        read_pair(reader, node, quantities[0], joint->limits[0]);
        return;
    }
    if (!lw_reader_list(reader, node, "limits", (size_t)count)) return;
    for (int k = 0; k < count; k++)
        if (node->items[k]->kind != LW_YAML_NULL)
            read_pair(reader, node->items[k], quantities[k], joint->limits[k]);
}

static void read_stop(lw_reader *reader, const lw_yaml *node, const lw_quantity *coordinates, int count,
                      lw_joint_spec *joint) {
    static const char *const keys[] = {"stiffness", "damping", "restitution", NULL};
    lw_quantity stiffness[MOST], damping[MOST], plain[MOST];
    if (!node || !lw_reader_keys(reader, node, keys) || node->kind != LW_YAML_MAP) return;
    for (int k = 0; k < count; k++) {
        stiffness[k] = lw_quantities_of(coordinates[k]).stiffness;
        damping[k] = lw_quantities_of(coordinates[k]).damping;
        plain[k] = LW_PLAIN_NUMBER;
    }
    const lw_yaml *spring = lw_yaml_get(node, "stiffness"), *impact = lw_yaml_get(node, "restitution");
    if ((spring != NULL) == (impact != NULL)) {
        lw_reader_fault(reader, node->place,
                        "give stop: {stiffness: ..., damping: ...} or stop: {restitution: ...}",
                        spring ? "a stop is either a spring or an impact, and both are given"
                               : "the stop says neither its stiffness nor its restitution");
        return;
    }
    if (impact && lw_yaml_get(node, "damping"))
        lw_reader_fault(reader, node->place, "leave damping out: restitution says what is lost",
                        "damping is given beside restitution");
    joint->stop = spring ? LW_STOP_SPRING : LW_STOP_IMPACT;
    read_values(reader, spring, "stiffness", stiffness, count, joint->stop_stiffness);
    read_values(reader, lw_yaml_get(node, "damping"), "damping", damping, count, joint->stop_damping);
    read_values(reader, impact, "restitution", plain, count, joint->stop_restitution);
}

void lw_read_joint_compliance(lw_reader *reader, const lw_yaml *entry, lw_joint_spec *joint) {
    static const char *const keys[] = {"translation", "rotation", NULL};
    const lw_yaml *node = lw_yaml_get(entry, "compliance");
    if (!node || !lw_reader_keys(reader, node, keys) || node->kind != LW_YAML_MAP) return;
    lw_reader_key_number(reader, node, "translation", LW_COMPLIANCE, &joint->compliance[0]);
    lw_reader_key_number(reader, node, "rotation", LW_TURNING_COMPLIANCE, &joint->compliance[1]);
}

/* Their places in the file, where the joint has any of them. */
void lw_place_joint_coordinates(const lw_yaml *entry, const lw_joint_spec *joint, lw_joint_places *places) {
    bool any = joint->stop != LW_STOP_NONE;
    for (int k = 0; k < MOST; k++)
        any |= joint->armature[k] != 0 || joint->zero[k] != 0 || joint->limits[k][0] < joint->limits[k][1] ||
               joint->limits[k][0] > joint->limits[k][1];
    any |= joint->compliance[0] != 0 || joint->compliance[1] != 0;
    if (!any) return;
    places->compliance = lw_reader_place(entry, "compliance");
    places->armature = lw_reader_place(entry, "armature");
    places->zero = lw_reader_place(entry, "zero");
    places->limits = lw_reader_place(entry, "limits");
    places->stop = lw_reader_place(entry, "stop");
}

void lw_read_joint_coordinates(lw_reader *reader, const lw_yaml *entry, lw_joint_spec *joint) {
    const int count = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
    lw_quantity coordinates[MOST], inertias[MOST];
    for (int k = 0; k < count; k++) {
        coordinates[k] = lw_coordinate_quantity(joint->type, k);
        inertias[k] = lw_joint_speed_turns(joint->type, k) ? LW_INERTIA : LW_MASS;
    }
    read_values(reader, lw_yaml_get(entry, "armature"), "armature", inertias, count, joint->armature);
    read_values(reader, lw_yaml_get(entry, "zero"), "zero", coordinates, count, joint->zero);
    read_limits(reader, lw_yaml_get(entry, "limits"), coordinates, count, joint);
    read_stop(reader, lw_yaml_get(entry, "stop"), coordinates, count, joint);
}

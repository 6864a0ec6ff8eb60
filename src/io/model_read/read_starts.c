/* read_starts.c - section starts: initial coordinates and speeds of joints under a name, of which a run takes
 * one set.
 *
 *     starts:
 *       home: {knee: {q: 0.3}, hip: {q: -0.2, v: 1}}
 *
 * Entries of a start may be repeated as joints are; a start itself may not.
 */
#include "io/model_read/reader.h"
#include "model/joint_types.h"
#include "model/spec/spec_storage.h"

#include <stdio.h>
#include <string.h>

/* Reads what a start says of one joint. The name of the start is `reader->start`. */
static void read_start_joint(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    const char *keys[12] = {"q", "v", "repeat", NULL};
    const lw_yaml word = {.kind = LW_YAML_TEXT, .text = named->name, .place = named->place};
    const lw_named *found = lw_reader_joint(reader, &word, "joint");
    if (!found || found->type < 0) return; /* The joint's own faults have been reported. */
    const lw_joint_type type = (lw_joint_type)found->type;
    if (lw_joint_type_v(type, found->axis_count) == 0) {
        lw_reader_fault(reader, named->place, "leave it out", "the joint is a %s and has no coordinates",
                        lw_joint_type_name(type));
        return;
    }
    lw_reader_state_keys(type, keys + 3);
    size_t before = reader->faults;
    if (!lw_reader_keys(reader, entry, keys)) return;
    lw_start_spec start = {.name = reader->start, .joint = found->name, .place = named->place};
    const lw_state_target target = {&start.has_q, &start.has_v, start.q, start.v};
    lw_reader_state(reader, entry, type, found->axis_count, &target);
    if (reader->faults > before) return;
    if (!start.has_q && !start.has_v) {
        lw_reader_fault(reader, entry->place, "give q, v or both", "it says nothing about the joint");
        return;
    }
    lw_status status = lw_spec_add_start(reader->spec, &start);
    lw_reader_check(reader, status);
    if (status == LW_OK)
        lw_reader_bound(reader, LW_OWNER_START, reader->spec->start_count - 1, &start, sizeof start);
}

static void read_start(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    static const char *const remedy = "write e.g. home: {knee: {q: 0.3}, hip: {q: -0.2}}";
    if (entry->kind != LW_YAML_MAP || entry->count == 0) {
        lw_reader_fault(reader, entry->place, remedy, "here a mapping from joints to their values is wanted");
        return;
    }
    if (lw_yaml_get(entry, "repeat")) {
        lw_reader_fault(reader, lw_yaml_get(entry, "repeat")->place,
                        "put repeat into the entry of a joint: knee{i}: {repeat: {i: 1..4}, q: 0.3}",
                        "a start is not repeated");
        return;
    }
    char noun[64];
    lw_name_table joints = {.items = NULL};
    reader->start = named->name;
    snprintf(noun, sizeof noun, "start \"%.40s\", joint", named->name);
    lw_reader_section(reader, entry, noun, &joints, read_start_joint);
    reader->start = NULL;
}

void lw_read_starts(lw_reader *reader, const lw_yaml *section) {
    lw_reader_section(reader, section, "start", &reader->starts, read_start);
}

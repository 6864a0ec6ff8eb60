/* read_frames.c - section frames: markers with names on bodies.
 *
 * Bodies and frames share one namespace, so that a frame may stand wherever a body is named; lw_reader_body
 * finds both.
 */
#include "io/model_read/reader.h"
#include "model/spec/spec_storage.h"

#include <string.h>

/* The body that carries the frame, with a second name resolved; NULL after a fault. */
static const char *read_carrier(lw_reader *reader, const lw_yaml *entry) {
    const lw_yaml *node = lw_reader_need(reader, entry, "body", "name the body that the frame is on");
    const char *name = node ? lw_reader_body(reader, node, "body") : NULL;
    if (!name || !lw_reader_is_frame(reader, name)) return name;
    lw_reader_fault(reader, node->place, "name the body, and give the place in the frame of the body",
                    "a frame is on a body, but \"%.80s\" is a frame", name);
    return NULL;
}

static void read_frame(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    static const char *const keys[] = {"body", "position", "rotation", "repeat", NULL};
    const lw_named *body = lw_results_table_find(&reader->bodies, named->name);
    size_t before = reader->faults;
    if (strcmp(named->name, LW_GROUND) == 0)
        lw_reader_fault(reader, named->place, "choose another name", "the name belongs to ground");
    else if (body)
        lw_reader_fault(reader, named->place, "rename one of them: both may stand where a body is named",
                        "the body in line %d has this name, too", body->place.line);
    if (!lw_reader_keys(reader, entry, keys)) return;
    lw_frame_spec frame = {.name = named->name, .place = named->place};
    frame.body = read_carrier(reader, entry);
    named->stands_for = frame.body;
    const lw_yaml *rotation = lw_yaml_get(entry, "rotation");
    lw_reader_key_numbers(reader, entry, "position", LW_LENGTH, 3, frame.position);
    if (rotation) lw_reader_rotation(reader, rotation, "rotation", frame.rotation);
    if (!frame.body || reader->faults > before) return;
    lw_status status = lw_spec_add_frame(reader->spec, &frame);
    lw_reader_check(reader, status);
    if (status == LW_OK)
        lw_reader_bound(reader, LW_OWNER_FRAME, reader->spec->frame_count - 1, &frame, sizeof frame);
}

void lw_read_frames(lw_reader *reader, const lw_yaml *section) {
    lw_reader_section(reader, section, "frame", &reader->frames, read_frame);
}

bool lw_reader_is_frame(const lw_reader *reader, const char *name) {
    return name && lw_results_table_find(&reader->frames, name) != NULL;
}

bool lw_reader_has_point(const lw_reader *reader, const char *name) {
    return name ? lw_reader_is_frame(reader, name) : reader->frames.count > 0 || reader->frames.incomplete;
}

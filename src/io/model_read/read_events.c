/* read_events.c - section events: when an expression passes through zero, and what happens then.
 */
#include "io/model_read/reader.h"
#include "model/spec/spec_storage.h"

#include <string.h>

static const char *const remedy =
    "write do: stop, note, {set: {name: value}} or {restitution: {joint: name, factor: 0.5}}";

static const lw_law_variables of_time = {{"t"}, {LW_TIME}, LW_INPUTS_ALLOWED};

static bool read_set(lw_reader *reader, const lw_yaml *node, lw_event_spec *event) {
    event->action = LW_ACTION_SET;
    if (node->kind != LW_YAML_MAP || node->count == 0 || node->count > LW_EVENT_SETS) {
        lw_reader_fault(reader, node->place, "write {set: {throttle: 5}}",
                        "set wants a mapping from 1 to %d names to values", LW_EVENT_SETS);
        return false;
    }
    event->set_count = (int)node->count;
    bool good = true;
    for (size_t k = 0; k < node->count; k++) {
        const lw_yaml *name = node->items[2 * k], *value = node->items[2 * k + 1];
        event->sets[k].name = lw_reader_text(reader, name, "name");
        event->sets[k].value = lw_reader_function(reader, value, "value", LW_ANY_QUANTITY, &of_time);
        good = event->sets[k].name && event->sets[k].value && good;
    }
    return good;
}

static bool read_restitution(lw_reader *reader, const lw_yaml *node, lw_event_spec *event) {
    static const char *const keys[] = {"joint", "coordinate", "factor", NULL};
    event->action = LW_ACTION_RESTITUTION;
    if (!lw_reader_keys(reader, node, keys)) return false;
    const lw_yaml *name = lw_reader_need(reader, node, "joint", "name the joint whose speed is reversed");
    const lw_yaml *factor = lw_reader_need(reader, node, "factor", "give 0 (no rebound) to 1 (no loss)");
    const lw_named *joint = name ? lw_reader_joint(reader, name, "joint") : NULL;
    if (factor) event->factor = lw_reader_function(reader, factor, "factor", LW_PLAIN_NUMBER, &of_time);
    event->joint = joint ? joint->name : NULL;
    return joint && lw_reader_coordinate(reader, node, joint, &event->coordinate) && event->factor;
}

static bool read_action(lw_reader *reader, const lw_yaml *node, lw_event_spec *event) {
    static const char *const words[] = {"stop", "note", NULL}, *const keys[] = {"set", "restitution", NULL};
    if (node->kind == LW_YAML_TEXT && !lw_closest(node->text, words, 2)) {
        lw_reader_fault(reader, node->place, remedy, "unknown do \"%.40s\"", node->text);
        return false;
    }
    if (node->kind == LW_YAML_TEXT) {
        const int choice = lw_reader_choice(reader, node, "do", words);
        event->action = choice == 1 ? LW_ACTION_NOTE : LW_ACTION_STOP;
        return choice >= 0;
    }
    if (node->kind != LW_YAML_MAP) {
        lw_reader_fault(reader, node->place, remedy, "do is no action");
        return false;
    }
    if (!lw_reader_keys(reader, node, keys)) return false;
    const lw_yaml *set = lw_yaml_get(node, "set"), *restitution = lw_yaml_get(node, "restitution");
    if (!set == !restitution) {
        lw_reader_fault(reader, node->place, remedy,
                        set ? "both set and restitution are given" : "do is empty");
        return false;
    }
    return set ? read_set(reader, set, event) : read_restitution(reader, restitution, event);
}

static void read_event(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    static const char *const keys[] = {"when", "direction", "do", "repeat", NULL};
    static const char *const directions[] = {"any", "up", "down", NULL};
    const size_t before = reader->faults;
    if (!lw_reader_keys(reader, entry, keys)) return;
    lw_event_spec event = {.name = named->name, .place = named->place};
    const lw_yaml *when =
        lw_reader_need(reader, entry, "when", "give an expression that passes through zero");
    const lw_yaml *direction = lw_yaml_get(entry, "direction");
    const lw_yaml *action = lw_reader_need(reader, entry, "do", remedy);
    if (when) event.when = lw_reader_function(reader, when, "when", LW_ANY_QUANTITY, &of_time);
    if (direction) {
        const int choice = lw_reader_choice(reader, direction, "direction", directions);
        event.direction = choice == 1 ? 1 : choice == 2 ? -1 : 0;
    }
    const bool good = action && read_action(reader, action, &event) && event.when;
    if (good && reader->faults == before) lw_reader_check(reader, lw_spec_add_event(reader->spec, &event));
}

void lw_read_events(lw_reader *reader, const lw_yaml *section) {
    lw_reader_section(reader, section, "event", &reader->events, read_event);
}

/* read_signals.c - sections signals, states and outputs, and defaults of inputs that are expressions.
 *
 * Their names must be known to all expressions, and their expressions may name everything, so that they are
 * read in two passes: first names, texts and start values, before bodies and joints; then, when all sections
 * are read, the syntax of their expressions. Which joints and bodies quantities of the state name is checked
 * when the model is compiled (model/compile/compile_signals.c), with the places that are recorded here.
 */
#include "io/model_read/reader.h"
#include "model/spec/spec_storage.h"

#include <stdio.h>
#include <string.h>

static const lw_law_variables of_time = {{"t"}, {LW_TIME}, LW_INPUTS_ALLOWED};

/* --- names ---------------------------------------------------------------------------------------- */

/* Who has this name in the namespace of parameters, inputs, tables, states and signals; NULL: nobody. */
static const char *owner_of(const lw_reader *reader, const char *name) {
    for (size_t k = 0; k < reader->parameter_count; k++)
        if (strcmp(reader->constants[k].name, name) == 0) return "a parameter";
    for (size_t k = 0; k < reader->table_count; k++)
        if (strcmp(reader->tables[k].name, name) == 0) return "a table";
    for (size_t k = 0; k < reader->input_count + reader->state_count + reader->signal_count; k++)
        if (strcmp(reader->inputs[k].name, name) == 0)
            return k < reader->input_count                         ? "an input"
                   : k < reader->input_count + reader->state_count ? "a state"
                                                                   : "a signal";
    return NULL;
}

/* Adds the name of a state or signal to those that expressions know; false after a fault. */
static bool add_name(lw_reader *reader, const lw_named *named, const char *noun, size_t *count) {
    const lw_yaml word = {.kind = LW_YAML_TEXT, .text = named->name, .place = named->place};
    if (!lw_reader_new_name(reader, &word, noun)) return false;
    const char *owner = owner_of(reader, named->name);
    if (owner) {
        lw_reader_fault(reader, named->place, "choose another name", "the name \"%s\" is taken by %s",
                        named->name, owner);
        return false;
    }
    lw_reader_add_value(reader, named->name, count);
    return !reader->out_of_memory;
}

void lw_reader_add_value(lw_reader *reader, const char *name, size_t *count) {
    const size_t all = reader->input_count + reader->state_count + reader->signal_count;
    if (all >= reader->value_capacity) {
        const size_t capacity = 2 * all + 16;
        lw_constant *longer = LW_NEW(reader->arena, lw_constant, capacity);
        if (!longer) {
            reader->out_of_memory = true;
            return;
        }
        if (all) memcpy(longer, reader->inputs, all * sizeof *longer);
        reader->inputs = longer;
        reader->value_capacity = capacity;
    }
    reader->inputs[all] = (lw_constant){.name = name};
    ++*count;
}

/* --- first pass ----------------------------------------------------------------------------------- */

void lw_reader_check_later(lw_reader *reader, const lw_yaml *node, const char *what, const char *text) {
    if (reader->later_count == reader->later_capacity) {
        const size_t capacity = 2 * reader->later_capacity + 16;
        lw_later *longer = LW_NEW(reader->arena, lw_later, capacity);
        if (!longer) {
            reader->out_of_memory = true;
            return;
        }
        if (reader->later_count) memcpy(longer, reader->later, reader->later_count * sizeof *longer);
        reader->later = longer;
        reader->later_capacity = capacity;
    }
    lw_later *later = &reader->later[reader->later_count++];
    *later = (lw_later){.node = node, .what = what, .text = text};
    snprintf(later->object, sizeof later->object, "%s", reader->object);
}

/* The expression of a node, to be checked in the second pass; NULL after a fault. */
static const char *read_expression(lw_reader *reader, const lw_yaml *node, const char *what) {
    const char *text = lw_reader_expression(reader, node, what, "give an expression, e.g. target - pin.q");
    if (text) lw_reader_check_later(reader, node, what, text);
    return text;
}

static void read_signal(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    static const char *const keys[] = {"value", "repeat", NULL};
    const lw_yaml *value = entry;
    if (entry->kind == LW_YAML_MAP) {
        if (!lw_reader_keys(reader, entry, keys)) return;
        value = lw_reader_need(reader, entry, "value", "give an expression");
    }
    if (!add_name(reader, named, "signal", &reader->signal_count) || !value) return;
    const lw_signal_spec signal = {
        .name = named->name, .value = read_expression(reader, value, "value"), .place = named->place};
    if (signal.value) lw_reader_check(reader, lw_spec_add_signal(reader->spec, &signal));
}

static void read_state(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    static const char *const keys[] = {"rate", "start", "repeat", NULL};
    if (!add_name(reader, named, "state", &reader->state_count)) return;
    if (!lw_reader_keys(reader, entry, keys)) return;
    const lw_yaml *rate = lw_reader_need(reader, entry, "rate", "give its rate, e.g. rate: (u - lag)/T");
    lw_state_spec state = {.name = named->name, .place = named->place};
    if (!rate) return;
    state.rate = read_expression(reader, rate, "rate");
    const bool good = !lw_yaml_get(entry, "start") ||
                      lw_reader_key_number(reader, entry, "start", LW_ANY_QUANTITY, &state.start);
    if (!state.rate || !good) return;
    lw_reader_check(reader, lw_spec_add_state(reader->spec, &state));
    if (reader->spec->state_count)
        lw_reader_bound(reader, LW_OWNER_STATE, reader->spec->state_count - 1, &state, sizeof state);
}

static void read_output(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    static const char *const keys[] = {"value", "unit", "repeat", NULL};
    const lw_yaml *value = entry, *unit = NULL;
    if (entry->kind == LW_YAML_MAP) {
        if (!lw_reader_keys(reader, entry, keys)) return;
        value = lw_reader_need(reader, entry, "value", "give an expression");
        unit = lw_yaml_get(entry, "unit");
    }
    if (!value) return;
    lw_output_spec output = {.name = named->name, .place = named->place};
    output.value = read_expression(reader, value, "value");
    if (unit) {
        output.unit = lw_reader_text(reader, unit, "unit");
        if (!output.unit) return;
        lw_reader_check(reader, lw_spec_place_text(reader->spec, output.unit, unit->place, unit->exact));
    }
    if (output.value) lw_reader_check(reader, lw_spec_add_output(reader->spec, &output));
}

void lw_read_signals(lw_reader *reader, const lw_yaml *states, const lw_yaml *signals) {
    lw_reader_section(reader, states, "state", &reader->states, read_state);
    lw_append_states(reader);
    lw_reader_section(reader, signals, "signal", &reader->signals, read_signal);
    lw_append_signals(reader);
}

void lw_read_outputs(lw_reader *reader, const lw_yaml *outputs) {
    lw_reader_section(reader, outputs, "output", &reader->outputs, read_output);
}

/* --- second pass ---------------------------------------------------------------------------------- */

void lw_read_later(lw_reader *reader) {
    for (size_t k = 0; k < reader->part_count; k++)
        if (!reader->parts[k].spec) return; /* Values of a part with faults are not known. */
    for (size_t k = 0; k < reader->later_count; k++) {
        const lw_later *later = &reader->later[k];
        snprintf(reader->object, sizeof reader->object, "%s", later->object);
        (void)lw_reader_law(reader, later->node, later->text, later->what, LW_ANY_QUANTITY, &of_time);
    }
    reader->object[0] = '\0';
}

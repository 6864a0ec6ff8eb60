/* read_parameters.c - the parameters and inputs of a model: named numbers. Parameters may refer to each other
 * in any order; the default of an input may refer to parameters; a value that must be constant may not refer
 * to an input.
 *
 * Each is an expression of the others. They are evaluated depth first along their references, with an
 * explicit stack, in O(length of all expressions * number of parameters); a reference to a parameter on the
 * stack is a cycle and is reported. Settings of the caller replace expressions before anything is evaluated.
 */
#include "io/model_read/reader.h"
#include "model/spec/spec_storage.h"

#include <stdio.h>
#include <string.h>

typedef enum state { WAITING, ACTIVE, DONE, FAILED } state;

typedef struct parameter {
    const char *name;
    const char *text;    /* its expression; NULL if faulty */
    const lw_yaml *node; /* its node in the file; NULL if the caller has set it */
    const char *given;   /* its expression in the file if the caller has set it, otherwise NULL */
    lw_place place;
    const lw_preset *preset; /* the value that the user of a part gives */
    lw_constant *input;      /* entry of an input; NULL for a parameter */
    state state;
    lw_name_scan scan; /* position of the next reference to follow */
} parameter;

typedef struct job {
    lw_reader *reader;
    parameter *parameters;
    size_t count;
    lw_name_table names; /* by name; items in the order of parameters */
    size_t *stack, height;
} job;

static size_t index_of(const job *j, const char *name) {
    const lw_named *named = lw_results_table_find(&j->names, name);
    return named ? (size_t)(named - j->names.items) : j->count;
}

static void name_object(lw_reader *reader, const parameter *p) {
    snprintf(reader->object, sizeof reader->object, "%s \"%.80s\"", p->input ? "input" : "parameter",
             p->name);
}

/* Reports a cycle: the stack from first on, and first again, as "a -> b -> a". */
static void report_cycle(job *j, size_t first) {
    char path[256] = "";
    size_t used = 0, start = 0;
    while (j->stack[start] != first) start++;
    for (size_t k = start; k <= j->height && used < sizeof path; k++) {
        const char *name = k < j->height ? j->parameters[j->stack[k]].name : j->parameters[first].name;
        used += (size_t)snprintf(path + used, sizeof path - used, "%s%s", k > start ? " -> " : "", name);
    }
    parameter *p = &j->parameters[first];
    name_object(j->reader, p);
    lw_reader_fault(j->reader, p->place, "give one of them a number of its own",
                    "its value needs itself: %s%s", path, used >= sizeof path ? "..." : "");
    for (size_t k = start; k < j->height; k++) j->parameters[j->stack[k]].state = FAILED;
}

/* A parameter that the caller sets must have the dimension that it has in the file, unless the file leaves it
 * open. Returns false if it has another one. */
static bool keeps_dimension(job *j, const parameter *p, lw_meaning *measure, lw_syntax *syntax) {
    lw_reader *reader = j->reader;
    lw_meaning given;
    double value;
    const lw_expression_names names = lw_reader_names(reader);
    if (!p->given || !lw_number_meaning(p->given, &names, &value, &given, NULL) ||
        given.kind != LW_MEANING_SURE)
        return true;
    if (measure->kind != LW_MEANING_SURE) {
        *measure = given;
        return true;
    }
    if (lw_meaning_same(measure, &given)) return true;
    char here[64], there[64];
    lw_meaning_name(measure, here, sizeof here);
    lw_meaning_name(&given, there, sizeof there);
    syntax->offset = 0;
    snprintf(syntax->message, sizeof syntax->message, "that is %s, but in the model it is %s (%.60s)", here,
             there, p->given);
    snprintf(syntax->remedy, sizeof syntax->remedy, "give %s, e.g. %.60s", there, p->given);
    return false;
}

/* Binds the default of an input, if it depends on parameters. */
static void bind_default(lw_reader *reader, const parameter *p, double value) {
    const lw_yaml node = {.text = p->text, .place = p->place};
    lw_reader_bind(reader, &node, &value);
    lw_reader_bound(reader, LW_OWNER_INPUT, (size_t)(p->input - reader->inputs), &value, sizeof value);
}

/* Says why a table, which is not known yet, cannot be called. */
static void explain_table(const lw_reader *reader, const char *text, lw_syntax *syntax) {
    lw_name_scan scan = {text, 0, false};
    for (size_t length; (length = lw_next_name(&scan)) > 0; scan.at += length) {
        char word[LW_MAX_NAME + 1];
        if (scan.at != syntax->offset || length > LW_MAX_NAME) continue;
        snprintf(word, sizeof word, "%.*s", (int)length, text + scan.at);
        const lw_yaml *tables = reader->table_section;
        if (!tables || tables->kind != LW_YAML_MAP || !lw_yaml_get(tables, word)) continue;
        snprintf(syntax->message, sizeof syntax->message,
                 "\"%s\" is a table, and tables may use parameters, so that these may not use tables", word);
        snprintf(syntax->remedy, sizeof syntax->remedy, "call the table where the value is needed");
    }
}

static void evaluate(job *j, parameter *p) {
    lw_reader *reader = j->reader;
    lw_syntax syntax;
    lw_meaning measure;
    double value;
    const lw_expression_names names = lw_reader_names(reader);
    bool good;
    if (p->preset) {
        value = p->preset->value, measure = p->preset->meaning;
        good = true;
    } else {
        good = lw_number_meaning(p->text, &names, &value, &measure, &syntax);
    }
    if (good && keeps_dimension(j, p, &measure, &syntax)) {
        p->state = DONE;
        if (measure.kind == LW_MEANING_NUMBER) measure.kind = LW_MEANING_UNKNOWN; /* k: 5 may be 5 N/m */
        const lw_constant constant = {p->name, value, measure, p->text};
        if (p->input) {
            *p->input = constant;
            lw_reader_check(reader, lw_spec_set_input(reader->spec, p->name, value));
            reader->spec->inputs[p->input - reader->inputs].meaning = measure;
            bind_default(reader, p, value);
        } else {
            reader->constants[reader->parameter_count++] = constant;
            /* The expression of a given value is one of the user's parameters: append_part.c has it. */
            lw_reader_check(reader, lw_spec_evaluated(reader->spec, (size_t)(p - j->parameters), value,
                                                      p->preset ? NULL : p->text));
            reader->spec->parameters[p - j->parameters].meaning = measure;
        }
        return;
    }
    if (p->input && p->node) { /* An expression of what changes; read_signals.c checks it. */
        p->state = DONE;
        name_object(reader, p);
        *p->input = (lw_constant){.name = p->name};
        lw_reader_check(reader,
                        lw_spec_place_input_expression(reader->spec, p->name, p->text, p->node->place));
        lw_reader_check_later(reader, p->node, "default", p->text);
        return;
    }
    p->state = FAILED;
    name_object(reader, p);
    lw_reader_explain(p->text, &syntax);
    explain_table(reader, p->text, &syntax);
    if (p->node) {
        lw_reader_fault(reader, lw_yaml_place_in(p->node, syntax.offset), syntax.remedy, "\"%.60s\": %s",
                        p->text, syntax.message);
    } else {
        lw_reader_fault(reader, p->place, syntax.remedy, "set to \"%.60s\", character %zu: %s", p->text,
                        syntax.offset + 1, syntax.message);
    }
}

/* The next parameter that p refers to, j->count if there is none left. */
static size_t next_reference(job *j, parameter *p) {
    size_t length;
    while ((length = lw_next_name(&p->scan)) > 0) {
        char word[LW_MAX_NAME + 1];
        const char *start = p->scan.text + p->scan.at;
        p->scan.at += length;
        if (length > LW_MAX_NAME) continue;
        memcpy(word, start, length);
        word[length] = '\0';
        size_t other = index_of(j, word);
        if (other < j->count && !j->parameters[other].input) return other; /* Evaluation reports an input. */
    }
    return j->count;
}

static void resolve(job *j, size_t first) {
    j->stack[0] = first;
    j->height = 1;
    j->parameters[first].state = ACTIVE;
    while (j->height > 0) {
        parameter *p = &j->parameters[j->stack[j->height - 1]];
        size_t other = p->state == ACTIVE ? next_reference(j, p) : j->count;
        if (other == j->count) {
            if (p->state == ACTIVE) evaluate(j, p);
            j->height--;
            if (p->state == FAILED && j->height > 0) j->parameters[j->stack[j->height - 1]].state = FAILED;
        } else if (j->parameters[other].state == WAITING) {
            j->parameters[other].state = ACTIVE;
            j->stack[j->height++] = other;
        } else if (j->parameters[other].state == ACTIVE) {
            report_cycle(j, other);
        } else if (j->parameters[other].state == FAILED) {
            p->state = FAILED; /* The cause has been reported. */
        }
    }
}

/* Parameters and inputs share one namespace. */
static bool may_be_added(const job *j, const lw_yaml *key, const char *noun) {
    if (!lw_reader_new_name(j->reader, key, noun)) return false;
    const lw_named *other = lw_results_table_find(&j->names, key->text);
    if (!other) return true;
    if (noun[0] == 'i' && !j->parameters[index_of(j, key->text)].input)
        lw_reader_fault(j->reader, key->place, "choose another name",
                        "the name \"%s\" is taken by a parameter in line %d", key->text, other->place.line);
    return false; /* A duplicate key is reported elsewhere. */
}

static void collect(job *j, const lw_yaml *section, bool inputs) {
    lw_reader *reader = j->reader;
    const char *noun = inputs ? "input" : "parameter";
    for (size_t k = 0; k < section->count; k++) {
        const lw_yaml *key = section->items[2 * k], *value = section->items[2 * k + 1];
        if (!may_be_added(j, key, noun)) continue;
        parameter *p = &j->parameters[j->count];
        *p = (parameter){.name = key->text, .node = value, .place = value->place};
        if (!lw_results_table_add(&j->names, reader->arena, key->text, key->place)) {
            reader->out_of_memory = true;
            return;
        }
        j->count++;
        if (inputs) {
            p->input = &reader->inputs[reader->input_count++];
            *p->input = (lw_constant){.name = p->name};
            lw_reader_check(reader, lw_spec_place_input(reader->spec, p->name, 0, key->place));
        } else {
            lw_reader_check(reader, lw_spec_place_parameter(reader->spec, p->name, value->place));
        }
        name_object(reader, p);
        if (value->kind == LW_YAML_TEXT) {
            p->text = value->text;
        } else {
            p->state = FAILED;
            lw_reader_fault(reader, value->place, "give a number or an expression, e.g. 2, 20 mm, 2*pi/L",
                            "its %s is %s", inputs ? "default" : "value",
                            value->kind == LW_YAML_NULL   ? "empty"
                            : value->kind == LW_YAML_LIST ? "a list"
                                                          : "a mapping");
        }
        reader->object[0] = '\0';
    }
}

/* Values that the user of a part gives; read_parts.c reports those that the part does not have. */
static void preset(job *j) {
    for (size_t k = 0; k < j->reader->preset_count; k++) {
        lw_preset *given = &j->reader->presets[k];
        const size_t index = index_of(j, given->name);
        given->kept = index < j->count && !j->parameters[index].input;
        if (!given->kept) continue;
        parameter *p = &j->parameters[index];
        if (p->node && p->node->kind == LW_YAML_TEXT) p->given = p->node->text;
        p->text = given->text;
        p->preset = given;
        p->node = NULL;
        p->state = WAITING;
    }
}

static void override(job *j, const lw_setting *settings, size_t count) {
    for (size_t k = 0; k < count; k++) {
        const char *name = settings[k].name ? settings[k].name : "";
        size_t index = index_of(j, name);
        if (index == j->count && j->reader->has_parts && (strchr(name, '.') || lw_setting_is_use(name)))
            continue; /* of a part */
        if (index == j->count) {
            char remedy[160] = "the model has no parameters";
            const char *closest = lw_results_table_closest(&j->names, name, NULL);
            if (!lw_did_you_mean(closest, remedy, sizeof remedy) && j->count > 0)
                snprintf(remedy, sizeof remedy, "set one of the model's parameters, e.g. %s",
                         j->parameters[0].name);
            lw_reader_fault(j->reader, (lw_place){0, 0}, remedy, "there is no parameter \"%.80s\" to set",
                            name);
            continue;
        }
        parameter *p = &j->parameters[index];
        if (p->node && p->node->kind == LW_YAML_TEXT) p->given = p->node->text;
        for (size_t i = 0; i < j->reader->preset_count; i++)
            if (p->preset == &j->reader->presets[i]) j->reader->presets[i].kept = false;
        p->preset = NULL;
        p->text = settings[k].value ? settings[k].value : "";
        p->node = NULL;
        p->place = (lw_place){0, 0};
        p->state = WAITING;
    }
}

/* The section if it is a mapping of admissible size, otherwise an empty mapping. */
static const lw_yaml *checked(lw_reader *reader, const lw_yaml *section, const char *name,
                              const char *remedy) {
    static const lw_yaml none = {.kind = LW_YAML_MAP};
    if (!section || section->kind == LW_YAML_NULL) return &none;
    if (section->kind == LW_YAML_MAP && section->count <= LW_MAX_PARAMETERS) return section;
    lw_reader_fault(reader, section->place, remedy, "%s must be a mapping from names to at most %d numbers",
                    name, LW_MAX_PARAMETERS);
    return &none;
}

void lw_read_parameters(lw_reader *reader, const lw_yaml *parameters, const lw_yaml *inputs,
                        const lw_setting *settings, size_t setting_count) {
    parameters = checked(reader, parameters, "parameters", "write parameters: {L: 1, m: 2 kg}");
    inputs = checked(reader, inputs, "inputs", "write inputs: {throttle: 0 N m}");
    size_t most = parameters->count + inputs->count;
    job j = {.reader = reader};
    j.parameters = LW_NEW(reader->arena, parameter, most + 1);
    j.stack = LW_NEW(reader->arena, size_t, most + 1);
    reader->constants = LW_NEW(reader->arena, lw_constant, parameters->count + LW_MAX_INDICES);
    reader->inputs = LW_NEW(reader->arena, lw_constant, inputs->count + 1);
    reader->value_capacity = inputs->count;
    if (lw_arena_failed(reader->arena)) {
        reader->out_of_memory = true;
        return;
    }
    collect(&j, parameters, false);
    collect(&j, inputs, true);
    preset(&j);
    override(&j, settings, setting_count);
    for (size_t k = 0; k < j.count; k++) /* A given value refers to no parameter of this file. */
        j.parameters[k].scan.text = j.parameters[k].preset ? "" : j.parameters[k].text;
    for (size_t k = 0; k < j.count && !reader->out_of_memory; k++) {
        if (j.parameters[k].state == WAITING) resolve(&j, k);
    }
    /* Faulty parameters get some number, so that their use is not a second fault. */
    for (size_t k = 0; k < j.count; k++) {
        if (j.parameters[k].state != FAILED || j.parameters[k].input) continue;
        reader->constants[reader->parameter_count++] =
            (lw_constant){.name = j.parameters[k].name, .value = 7};
        lw_reader_check(reader, lw_spec_evaluated(reader->spec, k, 7, NULL));
    }
    reader->object[0] = '\0';
}

/* read_value.c - single values of a model file: numbers, vectors, rotations, flags, choices, texts,
 * expressions.
 *
 * A number is any text that lw_number accepts: an expression of the parameters, of the indices of the repeat
 * it stands in, and of units. A fault inside an expression is placed at the character concerned.
 */
#include "io/model_read/reader.h"
#include "expression/expression.h"
#include "model/spec/spec_storage.h"

#include <linkwork/spec.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 64 }; /* bytes of a user's text that a message repeats */

void lw_reader_fault(lw_reader *reader, lw_place place, const char *remedy, const char *format, ...) {
    char message[sizeof((lw_error *)0)->message];
    if (reader->muted) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    reader->faults++;
    lw_complain(reader->report, LW_SEVERITY_ERROR, reader->file, place, reader->object, remedy, "%s",
                message);
}

/* Reports a warning; of a repeated entry, only those of the first step that has any. */
static void warn(lw_reader *reader, lw_place place, const char *remedy, const char *format, ...)
    LW_PRINTF(4, 5);
static void warn(lw_reader *reader, lw_place place, const char *remedy, const char *format, ...) {
    char message[sizeof((lw_error *)0)->message];
    if (reader->muted || reader->warned) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    reader->warnings++;
    lw_complain(reader->report, LW_SEVERITY_WARNING, reader->file, place, reader->object, remedy, "%s",
                message);
}

void lw_reader_check(lw_reader *reader, lw_status status) {
    if (status == LW_ERROR_MEMORY) reader->out_of_memory = true;
}

/* --- nodes and keys ------------------------------------------------------------------------------- */

/* The node in a message: a shortened text in quotes, or its kind. */
static const char *show(const lw_yaml *node, char shown[SHOWN]) {
    static const char *const kinds[] = {"empty", "a text", "a list", "a mapping"};
    if (node->kind != LW_YAML_TEXT) return kinds[node->kind];
    size_t length = strlen(node->text);
    bool whole = length < SHOWN - 8;
    if (!whole) {
        length = SHOWN - 8;
        while (length > 0 && lw_utf8_continues(node->text[length])) length--;
    }
    snprintf(shown, SHOWN, "\"%.*s%s\"", (int)length, node->text, whole ? "" : "...");
    return shown;
}

static bool is_text(lw_reader *reader, const lw_yaml *node, const char *what, const char *remedy) {
    char shown[SHOWN];
    if (node->kind == LW_YAML_TEXT) return true;
    lw_reader_fault(reader, node->place, remedy, "%s is %s", what, show(node, shown));
    return false;
}

static void list_names(char *text, size_t size, const char *start, const char *const *names) {
    int used = snprintf(text, size, "%s", start);
    for (size_t k = 0; names[k] && used > 0 && (size_t)used < size; k++) {
        used += snprintf(text + used, size - (size_t)used, "%s%s", k > 0 ? ", " : "", names[k]);
    }
}

static size_t count_names(const char *const *names) {
    size_t count = 0;
    while (names[count]) count++;
    return count;
}

/* Writes a suggestion for a wrong name; returns the suggested name, or NULL if the text only lists names. */
static const char *suggest(char *text, size_t size, const char *word, const char *start,
                           const char *const *names) {
    const char *closest = lw_closest(word, names, count_names(names));
    if (!lw_did_you_mean(closest, text, size)) list_names(text, size, start, names);
    return closest;
}

bool lw_reader_keys(lw_reader *reader, const lw_yaml *node, const char *const *keys) {
    char shown[SHOWN], remedy[256];
    if (node->kind != LW_YAML_MAP) {
        list_names(remedy, sizeof remedy, "give a mapping with keys of: ", keys);
        lw_reader_fault(reader, node->place, remedy, "%s stands where a mapping {key: value, ...} is wanted",
                        node->kind == LW_YAML_NULL ? "nothing" : show(node, shown));
        return false;
    }
    for (size_t k = 0; k < node->count; k++) {
        const lw_yaml *key = node->items[2 * k];
        bool known = false, like_another = true;
        for (size_t j = 0; keys[j] && !known; j++) known = strcmp(key->text, keys[j]) == 0;
        if (known) continue;
        if (strcmp(key->text, "<<") == 0) {
            snprintf(remedy, sizeof remedy,
                     "mappings are not merged; use repeat, or an alias for a whole value");
        } else {
            size_t slot = reader->suggestion_count++ % (sizeof reader->suggested / sizeof *reader->suggested);
            reader->suggested[slot].map = node;
            reader->suggested[slot].key = suggest(remedy, sizeof remedy, key->text, "keys here: ", keys);
            like_another = reader->suggested[slot].key != NULL; /* Then the intended key is missing. */
        }
        size_t before = reader->faults;
        lw_reader_fault(reader, key->place, remedy, "unknown key %s", show(key, shown));
        if (!like_another) reader->harmless += reader->faults - before;
    }
    return true;
}

const lw_yaml *lw_reader_need(lw_reader *reader, const lw_yaml *map, const char *key, const char *remedy) {
    const lw_yaml *value = lw_yaml_get(map, key);
    if (!value) lw_reader_missing(reader, map, key, remedy);
    return value;
}

lw_place lw_reader_place(const lw_yaml *map, const char *key) {
    const lw_yaml *node = map ? lw_yaml_get(map, key) : NULL;
    return node ? node->place : (lw_place){0, 0};
}

bool lw_reader_suggested(const lw_reader *reader, const lw_yaml *map, const char *key) {
    for (size_t k = 0; k < sizeof reader->suggested / sizeof *reader->suggested; k++) {
        const char *suggested = reader->suggested[k].key;
        if (reader->suggested[k].map == map && suggested && strcmp(suggested, key) == 0) return true;
    }
    return false;
}

void lw_reader_missing(lw_reader *reader, const lw_yaml *map, const char *key, const char *remedy) {
    if (lw_reader_suggested(reader, map, key)) return;
    lw_reader_fault(reader, map->place, remedy, "key \"%s\" is missing", key);
}

bool lw_reader_list(lw_reader *reader, const lw_yaml *node, const char *what, size_t count) {
    char shown[SHOWN], remedy[64];
    if (node->kind == LW_YAML_LIST && node->count == count) return true;
    snprintf(remedy, sizeof remedy, "give a list of %zu", count);
    if (node->kind == LW_YAML_LIST) {
        lw_reader_fault(reader, node->place, remedy, "%s has %zu %s, not %zu", what, node->count,
                        node->count == 1 ? "entry" : "entries", count);
    } else {
        lw_reader_fault(reader, node->place, remedy, "%s is %s", what, show(node, shown));
    }
    return false;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The length of what lw_next_name passes over at text: a quoted name, or a word behind a dot that follows
 * one; 0: nothing. */
static size_t quantity_part(const char *text) {
    size_t length = 0;
    if (*text == '\'') {
        do { /* A mark that is doubled does not end the name. */
            length += 1 + strcspn(text + length + 1, "'");
            if (text[length]) length++;
        } while (text[length] == '\'');
    } else if (*text == '.' && is_letter(text[1])) {
        length = 1;
        while (is_letter(text[length]) || is_digit(text[length])) length++;
    }
    return length;
}

static size_t number_length(const char *text) {
    size_t k = 0;
    while (is_digit(text[k]) || text[k] == '.') k++;
    if (k > 0 && (text[k] == 'e' || text[k] == 'E')) {
        size_t sign = text[k + 1] == '+' || text[k + 1] == '-';
        if (is_digit(text[k + 1 + sign])) k += 1 + sign;
        while (is_digit(text[k])) k++;
    }
    return k;
}

/* --- numbers -------------------------------------------------------------------------------------- */

void lw_reader_explain(const char *text, lw_syntax *syntax) {
    static const char *const spellings[] = {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF"};
    size_t sign = *text == '-' || *text == '+';
    for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++) {
        if (strcmp(text + sign, spellings[k]) != 0) continue;
        syntax->offset = sign;
        snprintf(syntax->message, sizeof syntax->message, "\"%s\" is not a number to compute with",
                 spellings[k]);
        snprintf(syntax->remedy, sizeof syntax->remedy, "use a finite number, e.g. 1e9");
    }
}

static void report_syntax(lw_reader *reader, const lw_yaml *node, const char *what, lw_syntax *syntax,
                          bool offset_holds) {
    char shown[SHOWN];
    lw_reader_explain(node->text, syntax);
    lw_reader_fault(reader, offset_holds ? lw_yaml_place_in(node, syntax->offset) : node->place,
                    syntax->remedy, "%s %s: %s", what, show(node, shown), syntax->message);
}

static size_t constant_count(const lw_reader *reader) {
    return reader->parameter_count + reader->index_count;
}

lw_expression_names lw_reader_names(const lw_reader *reader) {
    return (lw_expression_names){.constants = reader->constants,
                                 .constant_count = constant_count(reader),
                                 .inputs = reader->inputs,
                                 .input_count = reader->input_count,
                                 .state_count = reader->state_count,
                                 .signal_count = reader->signal_count,
                                 .tables = reader->tables,
                                 .table_count = reader->table_count};
}

/* Returns whether the text is one number without unit, such as 90 or -1.5e3. */
static bool is_bare_number(const char *text) {
    size_t sign = *text == '-' || *text == '+', length = number_length(text + sign);
    return length > 0 && text[sign + length] == '\0';
}

/* The constant whose name is the whole text, or NULL. */
static const lw_constant *lone_constant(const lw_reader *reader, const char *text) {
    for (size_t k = 0; k < constant_count(reader); k++) {
        if (strcmp(reader->constants[k].name, text) == 0) return &reader->constants[k];
    }
    return NULL;
}

/* Writes the parameters with units in an expression as they are given: "(3 mm)" for m, "(m is 3 mm)" for
 * 2*m + 1. */
static void show_origin(const lw_reader *reader, const char *text, char *shown, size_t size) {
    const lw_constant *lone = lone_constant(reader, text);
    size_t used = 0, length;
    shown[0] = '\0';
    if (lone && lone->text) snprintf(shown, size, " (%.40s)", lone->text);
    for (lw_name_scan scan = {text, 0, false}; !lone && (length = lw_next_name(&scan)) > 0;
         scan.at += length) {
        for (size_t k = 0; k < reader->parameter_count; k++) {
            const lw_constant *c = &reader->constants[k];
            bool named = strlen(c->name) == length && strncmp(c->name, text + scan.at, length) == 0;
            if (!named || !c->text || !lw_meaning_is_known(&c->meaning) || used + 60 > size) continue;
            used += (size_t)snprintf(shown + used, size - used, "%s%.24s is %.24s", used ? ", " : " (",
                                     c->name, c->text);
        }
    }
    if (used > 0) snprintf(shown + used, size - used, ")");
}

/* Returns whether the dimension of an expression fits the quantity that is needed; reports it if not. */
static bool fits(lw_reader *reader, const lw_yaml *node, const char *what, lw_quantity quantity,
                 const lw_meaning *measure, bool uses_time) {
    lw_fitness fit = lw_meaning_fit(measure, quantity, uses_time);
    if (fit == LW_FITS) return true;
    char shown[SHOWN], name[64], origin[160], remedy[160];
    show(node, shown);
    lw_meaning_name(measure, name, sizeof name);
    show_origin(reader, node->text, origin, sizeof origin);
    const char *wanted = lw_quantity_name(quantity);
    if (fit == LW_IS_PER_ANGLE) {
        lw_reader_fault(reader, node->place, "give it in m; a screw's lead is per turn",
                        "%s %s%s has an angle in it, but a length is expected", what, shown, origin);
        return false;
    }
    if (fit == LW_MAY_FIT) {
        snprintf(remedy, sizeof remedy, "it is taken as %s in SI units; give every number in it its unit",
                 wanted);
        warn(reader, node->place, remedy, "%s %s%s looks like %s, but %s is expected", what, shown, origin,
             name, wanted);
        return true;
    }
    if (quantity == LW_PLAIN_NUMBER) {
        snprintf(remedy, sizeof remedy, "give a number without unit");
    } else {
        snprintf(remedy, sizeof remedy, "give %s, e.g. 3 %s", wanted, lw_quantity_unit(quantity));
    }
    lw_reader_fault(reader, node->place, remedy, "%s %s is %s%s", what, shown, name, origin);
    return false;
}

/* Warns of a bare number of more than one turn for an angle, such as 90: most likely degrees are meant. */
static void question_angle(lw_reader *reader, const lw_yaml *node, const char *what, double value) {
    /* allows for a turn given with seven digits */
    static const double turn = 6.2831853071795865 * (1 + 1e-6);
    if (fabs(value) <= turn) return;
    const lw_constant *constant = lone_constant(reader, node->text);
    if (!is_bare_number(constant && constant->text ? constant->text : node->text)) return;
    char remedy[96];
    snprintf(remedy, sizeof remedy, "did you mean %g deg? Write %g rad if not", value, value);
    warn(reader, node->place, remedy, "%s is %g rad", what, value);
}

/* Is it a number with the unit Hz, and nothing else? */
static bool is_lone_frequency(const char *text) {
    const size_t sign = *text == '-' || *text == '+', length = number_length(text + sign);
    const char *unit = text + sign + length;
    while (*unit == ' ') unit++;
    return length > 0 && strcmp(unit, "Hz") == 0;
}

/* Warns of a frequency for an angular speed: Hz is 1/s, and so is rad/s, but turns per second are most likely
 * meant, which are 2 pi times as fast. */
static void question_frequency(lw_reader *reader, const lw_yaml *node, const char *what, double value) {
    const lw_constant *constant = lone_constant(reader, node->text);
    if (!is_lone_frequency(constant && constant->text ? constant->text : node->text)) return;
    char remedy[96];
    snprintf(remedy, sizeof remedy, "did you mean %g rev/s? Write %g rad/s if not", value, value);
    warn(reader, node->place, remedy, "%s of %g Hz is %g rad/s", what, value, value);
}

/* Looks for numbers that are valid and probably mistaken. */
static void question(lw_reader *reader, const lw_yaml *node, const char *what, lw_quantity quantity,
                     double value) {
    if (quantity == LW_ANGLE) question_angle(reader, node, what, value);
    if (quantity == LW_ANGULAR_SPEED) question_frequency(reader, node, what, value);
}

bool lw_reader_number(lw_reader *reader, const lw_yaml *node, const char *what, lw_quantity quantity,
                      double *value) {
    lw_syntax syntax;
    lw_meaning measure;
    if (!is_text(reader, node, what, "give a number or an expression, e.g. 2, 30 deg, L/2")) return false;
    double number;
    const lw_expression_names names = lw_reader_names(reader);
    if (lw_number_meaning(node->text, &names, &number, &measure, &syntax) &&
        lw_units_fit(node->text, quantity, &syntax)) {
        if (!fits(reader, node, what, quantity, &measure, false)) return false;
        question(reader, node, what, quantity, number);
        *value = number;
        lw_reader_bind(reader, node, value);
        return true;
    }
    report_syntax(reader, node, what, &syntax, true);
    return false;
}

bool lw_reader_mixed_numbers(lw_reader *reader, const lw_yaml *node, const char *what,
                             const lw_quantity *quantities, size_t count, double *values) {
    bool good = true;
    const lw_expression_names names = lw_reader_names(reader);
    if (!lw_reader_list(reader, node, what, count)) return false;
    for (size_t k = 0; k < count; k++) {
        const lw_yaml *item = node->items[k];
        lw_meaning measure;
        if (item->kind == LW_YAML_TEXT && quantities[k] != LW_ANGLE && quantities[k] != LW_ANGULAR_SPEED &&
            lw_number_meaning(item->text, &names, &values[k], &measure, NULL) &&
            (!lw_meaning_is_known(&measure) || lw_meaning_fit(&measure, quantities[k], false) == LW_FITS)) {
            lw_reader_bind(reader, item, &values[k]);
            continue;
        }
        char entry[96]; /* its name in messages */
        snprintf(entry, sizeof entry, "entry %zu of %s", k + 1, what);
        good = lw_reader_number(reader, item, entry, quantities[k], &values[k]) && good;
    }
    return good;
}

bool lw_reader_numbers(lw_reader *reader, const lw_yaml *node, const char *what, lw_quantity quantity,
                       size_t count, double *values) {
    lw_quantity quantities[16];
    enum { MOST = sizeof quantities / sizeof *quantities };
    bool good = true;
    if (!lw_reader_list(reader, node, what, count)) return false;
    for (size_t k = 0; k < MOST; k++) quantities[k] = quantity;
    if (count <= MOST) return lw_reader_mixed_numbers(reader, node, what, quantities, count, values);
    for (size_t k = 0; k < count; k++) { /* The list is a column of a table. */
        char entry[96];
        snprintf(entry, sizeof entry, "entry %zu of %s", k + 1, what);
        good = lw_reader_number(reader, node->items[k], entry, quantity, &values[k]) && good;
    }
    return good;
}

bool lw_reader_key_number(lw_reader *reader, const lw_yaml *map, const char *key, lw_quantity quantity,
                          double *value) {
    const lw_yaml *node = lw_yaml_get(map, key);
    return node && lw_reader_number(reader, node, key, quantity, value);
}

bool lw_reader_key_numbers(lw_reader *reader, const lw_yaml *map, const char *key, lw_quantity quantity,
                           size_t count, double *values) {
    const lw_yaml *node = lw_yaml_get(map, key);
    return node && lw_reader_numbers(reader, node, key, quantity, count, values);
}

bool lw_reader_integer(lw_reader *reader, const char *text, const lw_yaml *node, const char *what,
                       long *value) {
    double number;
    lw_syntax syntax;
    const lw_expression_names names = lw_reader_names(reader);
    if (!lw_number_meaning(text, &names, &number, NULL, &syntax)) {
        report_syntax(reader, node, what, &syntax, text == node->text);
        return false;
    }
    if (number != floor(number) || fabs(number) > 1e9) {
        lw_reader_fault(reader, node->place, "an integer up to 1e9 is wanted here", "%s \"%.40s\" is %g",
                        what, text, number);
        return false;
    }
    *value = (long)number;
    lw_reader_bind_structure(reader, text, node->place, number);
    return true;
}

/* --- flags, choices, rotations -------------------------------------------------------------------- */

bool lw_reader_flag(lw_reader *reader, const lw_yaml *node, const char *what, bool *value) {
    char shown[SHOWN];
    if (node->kind == LW_YAML_TEXT && !node->quoted) {
        *value = strcmp(node->text, "true") == 0;
        if (*value || strcmp(node->text, "false") == 0) return true;
    }
    lw_reader_fault(reader, node->place, "write true or false", "%s is %s", what, show(node, shown));
    return false;
}

int lw_reader_choice(lw_reader *reader, const lw_yaml *node, const char *what, const char *const *choices) {
    char shown[SHOWN], remedy[256];
    list_names(remedy, sizeof remedy, "give one of: ", choices);
    if (!is_text(reader, node, what, remedy)) return -1;
    for (int k = 0; choices[k]; k++) {
        if (strcmp(node->text, choices[k]) == 0) return k;
    }
    suggest(remedy, sizeof remedy, node->text, "give one of: ", choices);
    lw_reader_fault(reader, node->place, remedy, "unknown %s %s", what, show(node, shown));
    return -1;
}

static bool from_axis(lw_reader *reader, const lw_yaml *node, double q[4]) {
    double given[4]; /* axis, angle */
    size_t mark = reader->waiting_count;
    const lw_yaml *axis_node = lw_reader_need(reader, node, "axis", "write {axis: [x, y, z], angle: a}");
    const lw_yaml *angle_node = lw_reader_need(reader, node, "angle", "write {axis: [x, y, z], angle: a}");
    bool good = axis_node && lw_reader_numbers(reader, axis_node, "axis", LW_ANY_QUANTITY, 3, given);
    good = angle_node && lw_reader_number(reader, angle_node, "angle", LW_ANGLE, &given[3]) && good;
    if (!good) return false;
    if (!lw_binding_apply(LW_BIND_AXIS_ANGLE, given, q)) {
        lw_reader_fault(reader, axis_node->place, "give any non-zero vector, e.g. [0, 0, 1]",
                        "axis [0, 0, 0] has no direction");
        return false;
    }
    lw_reader_bind_group(reader, mark, LW_BIND_AXIS_ANGLE, given, q);
    return true;
}

static bool from_quaternion(lw_reader *reader, const lw_yaml *node, const char *what, double q[4]) {
    double given[4];
    size_t mark = reader->waiting_count;
    if (!lw_reader_numbers(reader, node, what, LW_PLAIN_NUMBER, 4, given)) return false;
    if (!lw_binding_apply(LW_BIND_QUATERNION, given, q)) {
        double length = hypot(hypot(given[0], given[1]), hypot(given[2], given[3]));
        lw_reader_fault(reader, node->place,
                        "a quaternion [w, x, y, z] has length 1; or write {axis: [x, y, z], angle: a}",
                        "%s [%g, %g, %g, %g] has length %g", what, given[0], given[1], given[2], given[3],
                        length);
        return false;
    }
    lw_reader_bind_group(reader, mark, LW_BIND_QUATERNION, given, q);
    return true;
}

bool lw_reader_rotation(lw_reader *reader, const lw_yaml *node, const char *what, double rotation[4]) {
    static const char *const axis_keys[] = {"axis", "angle", NULL};
    static const char *const cardan_keys[] = {"cardan", NULL};
    if (node->kind != LW_YAML_MAP) return from_quaternion(reader, node, what, rotation);
    if (!lw_yaml_get(node, "cardan"))
        return lw_reader_keys(reader, node, axis_keys) && from_axis(reader, node, rotation);
    double angles[3];
    size_t mark = reader->waiting_count;
    lw_reader_keys(reader, node, cardan_keys);
    if (!lw_reader_key_numbers(reader, node, "cardan", LW_ANGLE, 3, angles)) return false;
    lw_binding_apply(LW_BIND_CARDAN, angles, rotation);
    lw_reader_bind_group(reader, mark, LW_BIND_CARDAN, angles, rotation);
    return true;
}

/* --- texts ---------------------------------------------------------------------------------------- */

typedef struct text_buffer {
    lw_reader *reader;
    char *text;
    size_t length, capacity;
} text_buffer;

static void append(text_buffer *buffer, const char *part, size_t length) {
    if (buffer->length + length + 1 > buffer->capacity) {
        size_t capacity = 2 * (buffer->length + length + 32);
        char *text = realloc(buffer->text, capacity);
        if (!text) {
            buffer->reader->out_of_memory = true;
            return;
        }
        buffer->text = text;
        buffer->capacity = capacity;
    }
    memcpy(buffer->text + buffer->length, part, length);
    buffer->length += length;
    buffer->text[buffer->length] = '\0';
}

/* Copies the text into the arena. */
static const char *keep(text_buffer *buffer) {
    lw_reader *reader = buffer->reader;
    const char *kept =
        reader->out_of_memory ? NULL : lw_arena_text(reader->arena, buffer->text ? buffer->text : "");
    if (!kept) reader->out_of_memory = true;
    free(buffer->text);
    return kept;
}

const char *lw_reader_text(lw_reader *reader, const lw_yaml *node, const char *what) {
    if (!is_text(reader, node, what, "give a text")) return NULL;
    if (!strchr(node->text, '{')) return node->text;

    text_buffer buffer = {reader, NULL, 0, 0};
    bool good = true;
    for (const char *rest = node->text; *rest;) {
        const char *brace = strchr(rest, '{');
        append(&buffer, rest, brace ? (size_t)(brace - rest) : strlen(rest));
        if (!brace) break;
        const char *end = strchr(brace, '}');
        char expression[128], digits[32];
        long value;
        if (!end || (size_t)(end - brace) > sizeof expression) {
            lw_reader_fault(reader, lw_yaml_place_in(node, (size_t)(brace - node->text)),
                            "close it, e.g. link{i} or link{i-1}", "%s \"%.40s\" has a { without }", what,
                            node->text);
            good = false;
            break;
        }
        snprintf(expression, sizeof expression, "%.*s", (int)(end - brace - 1), brace + 1);
        good = lw_reader_integer(reader, expression, node, what, &value);
        if (!good) break;
        append(&buffer, digits, (size_t)snprintf(digits, sizeof digits, "%ld", value));
        rest = end + 1;
    }
    const char *text = keep(&buffer);
    return good ? text : NULL;
}

size_t lw_next_name(lw_name_scan *scan) {
    const char *text = scan->text;
    bool unit_may_follow = false; /* Parentheses behind a name are those of a function. */
    for (size_t k = scan->at; text[k];) {
        size_t length = quantity_part(text + k);
        if (length > 0) {
            scan->operand = true;
            unit_may_follow = false;
        } else if (is_letter(text[k])) {
            /* Words with dots between them are a name of a part's value, or of a quantity of the state. */
            while (is_letter(text[k + length]) || is_digit(text[k + length]) ||
                   (length > 0 && text[k + length] == '.' &&
                    (is_letter(text[k + length + 1]) || is_digit(text[k + length + 1]))))
                length++;
            bool is_operator =
                (length == 3 && (!strncmp(text + k, "and", 3) || !strncmp(text + k, "not", 3))) ||
                (length == 2 && !strncmp(text + k, "or", 2));
            bool is_name = !scan->operand && !is_operator;
            scan->operand = unit_may_follow = !is_operator;
            if (is_name) {
                scan->at = k;
                return length;
            }
        } else if ((length = number_length(text + k)) > 0) {
            scan->operand = unit_may_follow = true;
        } else if (text[k] == '(' && unit_may_follow) { /* 5 (N/m) */
            length = strcspn(text + k, ")");
        } else {
            length = 1;
            if (!strchr(" \t\r\n", text[k])) scan->operand = unit_may_follow = text[k] == ')';
        }
        k += length;
    }
    return 0;
}

const char *lw_reader_without_indices(lw_reader *reader, const char *text) {
    text_buffer buffer = {reader, NULL, 0, 0};
    const lw_constant *indices = reader->constants + reader->parameter_count;
    size_t done = 0, length;
    for (lw_name_scan scan = {text, 0, false}; (length = lw_next_name(&scan)) > 0; scan.at += length) {
        for (size_t k = 0; k < reader->index_count; k++) {
            char digits[32];
            if (strlen(indices[k].name) != length || strncmp(indices[k].name, text + scan.at, length) != 0)
                continue;
            append(&buffer, text + done, scan.at - done);
            append(&buffer, digits, (size_t)snprintf(digits, sizeof digits, "(%.17g)", indices[k].value));
            done = scan.at + length;
        }
    }
    append(&buffer, text + done, strlen(text + done));
    return keep(&buffer);
}

const char *lw_reader_expression(lw_reader *reader, const lw_yaml *node, const char *what,
                                 const char *remedy) {
    if (!is_text(reader, node, what, remedy)) return NULL;
    const char *text = strchr(node->text, '{') ? lw_reader_text(reader, node, what) : node->text;
    return text && reader->index_count > 0 ? lw_reader_without_indices(reader, text) : text;
}

/* lw_quantity_finder of the reader: by syntax only, since joints and bodies may not be known yet. */
static size_t find_quantity(void *context, const char *text, int *value, lw_meaning *measure,
                            lw_syntax *syntax) {
    (void)context, (void)syntax;
    *value = 0;
    *measure = (lw_meaning){.kind = LW_MEANING_UNKNOWN};
    return lw_quantity_extent(text);
}

const char *lw_reader_function(lw_reader *reader, const lw_yaml *node, const char *what, lw_quantity quantity,
                               const lw_law_variables *variables) {
    char remedy[160];
    list_names(remedy, sizeof remedy, "give a number or an expression of ", variables->names);
    const char *text = lw_reader_expression(reader, node, what, remedy);
    return text ? lw_reader_law(reader, node, text, what, quantity, variables) : NULL;
}

const char *lw_reader_law(lw_reader *reader, const lw_yaml *node, const char *text, const char *what,
                          lw_quantity quantity, const lw_law_variables *variables) {
    lw_instruction program[LW_EXPRESSION_LENGTH];
    lw_meaning measures[LW_MAX_VARIABLES], measure;
    lw_expression_names names = {.constants = reader->constants,
                                 .constant_count = reader->parameter_count,
                                 .variables = variables->names,
                                 .variable_count = count_names(variables->names),
                                 .variable_measures = measures,
                                 .inputs = reader->inputs,
                                 .input_count = reader->input_count,
                                 .state_count = reader->state_count,
                                 .signal_count = reader->signal_count,
                                 .input_use = variables->inputs,
                                 .find_quantity = find_quantity,
                                 .tables = reader->tables,
                                 .table_count = reader->table_count};
    lw_syntax syntax = {0};
    bool uses_time = false, uses_values = false;
    for (size_t k = 0; k < LW_MAX_VARIABLES; k++)
        measures[k] = lw_quantity_meaning(variables->quantities[k], LW_MEANING_VARIABLE);
    size_t length = lw_expression_compile(text, &names, program, &measure, &syntax);
    if (length == 0) {
        report_syntax(reader, node, what, &syntax, strcmp(text, node->text) == 0);
        return NULL;
    }
    for (size_t k = 0; k < length; k++) {
        if (program[k].op == LW_OP_VARIABLE && variables->quantities[program[k].variable] == LW_TIME)
            uses_time = true;
        if (program[k].op == LW_OP_INPUT) uses_values = true;
    }
    if (uses_values)
        lw_reader_check(reader, lw_spec_place_text(reader->spec, text, node->place,
                                                   node->exact && strcmp(text, node->text) == 0));
    bool constant = length == 1 && program[0].op == LW_OP_CONSTANT;
    if (!constant && measure.kind == LW_MEANING_LIKELY)
        measure.kind = LW_MEANING_UNKNOWN; /* 5*x is a common law. */
    if (!fits(reader, node, what, quantity, &measure, uses_time)) return NULL;
    if (constant) question(reader, node, what, quantity, program[0].value);
    return text;
}

bool lw_reader_new_name(lw_reader *reader, const lw_yaml *word, const char *noun) {
    const char *text = word->text;
    size_t length = 0, begin = 0; /* Of a value of a part, each word between dots. */
    while (is_letter(text[length]) || (length > begin && (is_digit(text[length]) || text[length] == '.')))
        if (text[length++] == '.') begin = length;
    if (length == begin || text[length] || length > LW_MAX_NAME) {
        lw_reader_fault(reader, word->place, "use letters, digits and _, e.g. arm_length",
                        "\"%.40s\" cannot be the name of %s %s", text, strchr("aeiou", noun[0]) ? "an" : "a",
                        noun);
        return false;
    }
    const char *taken = lw_name_taken(text);
    if (taken)
        lw_reader_fault(reader, word->place, "choose another name", "the name \"%s\" is taken by %s", text,
                        taken);
    return !taken;
}

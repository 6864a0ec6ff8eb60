/* part_names.c - expressions of a part with the prefix of its name before every name of its own.
 *
 * In `kp*error - knee.v + point(hub, L, 0, 0).z` of part front_left the values kp, error and L, the joint
 * knee and the body hub are the part's; functions, units, variables and the words of quantities are not
 * names. This is decided by syntax and by the part's names: values are found among its values; between the
 * parentheses of a quantity stands the longest name of an object that fits, as everywhere (quantity_find.c).
 * A name that could be read otherwise with the prefix before it, or with names of the model, is put in
 * quotes.
 *
 * Cost     O(length of the text * log(names)).
 */
#include "model/spec/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- growing texts -------------------------------------------------------------------------------- */

void lw_text_add(lw_text_out *out, const char *text, size_t length) {
    if (out->failed) return;
    if (out->length + length + 1 > out->capacity) {
        size_t capacity = 2 * (out->length + length) + 64;
        char *longer = LW_NEW(out->arena, char, capacity);
        if (!longer) {
            out->failed = true;
            return;
        }
        if (out->length > 0) memcpy(longer, out->text, out->length);
        out->text = longer;
        out->capacity = capacity;
    }
    memcpy(out->text + out->length, text, length);
    out->length += length;
    out->text[out->length] = '\0';
}

void lw_text_print(lw_text_out *out, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++)
        if (*c == ',') *c = '.'; /* The decimal point of some locales; no format has a comma. */
    lw_text_add(out, text, length > 0 ? strlen(text) : 0);
}

/* --- scanning ------------------------------------------------------------------------------------- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t word_length(const char *text) {
    size_t length = 0;
    while (is_letter(text[length]) || is_digit(text[length])) length++;
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

static bool is_operator(const char *text, size_t length) {
    return (length == 3 && (!strncmp(text, "and", 3) || !strncmp(text, "not", 3))) ||
           (length == 2 && !strncmp(text, "or", 2));
}

size_t lw_part_scan_next(lw_part_scan *scan) {
    const char *text = scan->text;
    for (size_t k = scan->at; text[k];) {
        size_t length = 0;
        if (is_letter(text[k]) || text[k] == '\'') {
            const size_t extent = lw_quantity_extent(text + k), word = word_length(text + k);
            if (word > 0 && is_operator(text + k, word)) {
                length = word;
                scan->operand = scan->unit_may_follow = false;
            } else if (scan->operand && word > 0) { /* a unit */
                length = word;
                scan->unit_may_follow = true;
            } else {
                scan->at = k;
                scan->operand = true;
                scan->unit_may_follow = false; /* Parentheses behind a name are those of a call. */
                return extent > 0 ? extent : word > 0 ? word : 1;
            }
        } else if ((length = number_length(text + k)) > 0) {
            scan->operand = scan->unit_may_follow = true;
        } else if (text[k] == '(' && scan->unit_may_follow) {
            length = strcspn(text + k, ")"); /* 5 (N/m) */
        } else {
            length = 1;
            if (!strchr(" \t\r\n", text[k])) scan->operand = scan->unit_may_follow = text[k] == ')';
        }
        k += length;
    }
    return 0;
}

enum { MOST_NAME = 300 };

/* --- names of a part ------------------------------------------------------------------------------ */

lw_status lw_part_names_create(const lw_spec *spec, lw_arena *arena, lw_part_names *names) {
    const size_t values = spec->parameter_count + spec->input_count + spec->state_count + spec->signal_count +
                          spec->table_count,
                 bodies = spec->body_count + spec->frame_count + 1,
                 joints = spec->joint_count + spec->constraint_count;
    size_t n = 0;
    if (lw_names_create(arena, (int)values, &names->values) != LW_OK ||
        lw_names_create(arena, (int)bodies, &names->bodies) != LW_OK ||
        lw_names_create(arena, (int)joints, &names->joints) != LW_OK ||
        lw_names_create(arena, (int)spec->force_count, &names->forces) != LW_OK)
        return LW_ERROR_MEMORY;
    const char **list = names->values.names;
    for (size_t k = 0; k < spec->parameter_count; k++) list[n++] = spec->parameters[k].name;
    for (size_t k = 0; k < spec->input_count; k++) list[n++] = spec->inputs[k].name;
    for (size_t k = 0; k < spec->state_count; k++) list[n++] = spec->states[k].name;
    for (size_t k = 0; k < spec->signal_count; k++) list[n++] = spec->signals[k].name;
    for (size_t k = 0; k < spec->table_count; k++) list[n++] = spec->tables[k].name;
    list = names->bodies.names, n = 0;
    for (size_t k = 0; k < spec->body_count; k++) list[n++] = spec->bodies[k].name;
    for (size_t k = 0; k < spec->frame_count; k++) list[n++] = spec->frames[k].name;
    list[n] = LW_GROUND;
    list = names->joints.names, n = 0;
    for (size_t k = 0; k < spec->joint_count; k++) list[n++] = spec->joints[k].name;
    for (size_t k = 0; k < spec->constraint_count; k++) list[n++] = spec->constraints[k].name;
    for (size_t k = 0; k < spec->force_count; k++) names->forces.names[k] = spec->forces[k].name;
    lw_names_sort(&names->values);
    lw_names_sort(&names->bodies);
    lw_names_sort(&names->joints);
    lw_names_sort(&names->forces);
    return LW_OK;
}

typedef struct renaming {
    lw_text_out out;
    const lw_part_names *names;
    const char *prefix;
} renaming;

static bool is_among(const lw_names *names, const char *text, size_t length) {
    char name[512];
    if (length >= sizeof name) return false;
    memcpy(name, text, length);
    name[length] = '\0';
    return lw_names_find(names, name) >= 0;
}

static bool is_value(const renaming *r, const char *text, size_t length) {
    return is_among(&r->names->values, text, length);
}

/* The prefix goes before a name, or behind the mark that opens it. */
static void add_prefix(renaming *r, const char *text) {
    if (*text == '\'') lw_text_add(&r->out, "'", 1);
    lw_text_add(&r->out, r->prefix, strlen(r->prefix));
}

static void rename_text(renaming *r, const char *text, size_t length);

/* The length of the name of an object between parentheses: of the longest known one, or up to where one that
 * is not known seems to go. */
static size_t object_length(const lw_names *objects, const char *text) {
    size_t k = 0, longest = 0;
    if (*text == '\'') {
        for (k = 1; text[k] && (text[k] != '\'' || text[k + 1] == '\''); k++) k += text[k] == '\'';
        return text[k] ? k + 1 : k;
    }
    for (size_t end = 1; text[0] && text[end] && end <= MOST_NAME; end++)
        if (strchr(" \t,)", text[end]) && is_among(objects, text, end)) longest = end;
    if (longest > 0) return longest;
    while (text[k] && text[k] != ',' && text[k] != ')') {
        if (strncmp(text + k, " in ", 4) == 0 || strncmp(text + k, " at ", 4) == 0) break;
        k++;
    }
    return k;
}

static void add_object(renaming *r, const char *text, size_t length) {
    add_prefix(r, text);
    lw_text_add(&r->out, text + (*text == '\''), length - (*text == '\''));
}

/* An object between parentheses, in quotes unless its name is plain and ends where the argument does. */
static void add_argument(renaming *r, const char *text, size_t length) {
    size_t plain = 0;
    while (plain < length && (is_letter(text[plain]) || is_digit(text[plain]) || text[plain] == '.')) plain++;
    const bool quote = length > 0 && *text != '\'' && (plain < length || !strchr(",)", text[length]));
    if (quote) lw_text_add(&r->out, "'", 1);
    add_object(r, text, length);
    if (quote) lw_text_add(&r->out, "'", 1);
}

/* The arguments of a call, from behind "(" to before ")"; returns their length. */
static size_t rename_arguments(renaming *r, const lw_names *objects, const char *text) {
    size_t at = 0;
    bool named = false; /* Behind the first name of point(load, x, y, z) come numbers. */
    while (text[at] && text[at] != ')') {
        const size_t blanks = strspn(text + at, " \t\r\n");
        if (blanks > 0 && strncmp(text + at + blanks, "in ", 3) == 0) {
            size_t begin = at + blanks + 3;
            begin += strspn(text + begin, " \t\r\n");
            size_t length = object_length(&r->names->bodies, text + begin);
            lw_text_add(&r->out, " in ", 4);
            if (length == 5 && strncmp(text + begin, "world", 5) == 0) {
                lw_text_add(&r->out, r->prefix, strlen(r->prefix));
                lw_text_add(&r->out, LW_GROUND, strlen(LW_GROUND));
            } else {
                add_argument(r, text + begin, length);
            }
            at = begin + length;
            continue;
        }
        lw_text_add(&r->out, text + at, blanks);
        at += blanks;
        if (strncmp(text + at, "at first", 8) == 0 && named) {
            lw_text_add(&r->out, text + at, 8);
            at += 8;
        } else if (strncmp(text + at, "point(", 6) == 0 || strncmp(text + at, "com(", 4) == 0) {
            size_t open = strcspn(text + at, "(") + 1;
            lw_text_add(&r->out, text + at, open);
            at += open;
            at += rename_arguments(r, &r->names->bodies, text + at);
            if (text[at]) lw_text_add(&r->out, text + at++, 1);
            named = false; /* The second place of a distance may follow. */
        } else if (text[at] == ',') {
            lw_text_add(&r->out, text + at++, 1);
        } else if (!named) {
            size_t length = object_length(objects, text + at);
            add_argument(r, text + at, length);
            at += length;
            named = true;
        } else { /* a number */
            size_t length = 0;
            for (int depth = 0; text[at + length]; length++) {
                char c = text[at + length];
                if (depth == 0 && (c == ',' || c == ')')) break;
                if (depth == 0 && length > 0 && strncmp(text + at + length, " in ", 4) == 0) break;
                depth += (c == '(') - (c == ')');
            }
            if (length == 0) break;
            rename_text(r, text + at, length);
            at += length;
        }
    }
    return at;
}

/* distance(a, b): both arguments are places, so that a name follows the comma. */
static size_t rename_pair(renaming *r, const char *text) {
    size_t at = 0;
    for (int side = 0; side < 2; side++) {
        const size_t blanks = strspn(text + at, " \t\r\n");
        lw_text_add(&r->out, text + at, blanks);
        at += blanks;
        if (strncmp(text + at, "point(", 6) == 0 || strncmp(text + at, "com(", 4) == 0) {
            size_t open = strcspn(text + at, "(") + 1;
            lw_text_add(&r->out, text + at, open);
            at += open;
            at += rename_arguments(r, &r->names->bodies, text + at);
            if (text[at]) lw_text_add(&r->out, text + at++, 1);
        } else {
            size_t length = object_length(&r->names->bodies, text + at);
            add_argument(r, text + at, length);
            at += length;
        }
        size_t rest = strcspn(text + at, ",)");
        if (side == 0 && text[at + rest] == ',') rest++;
        lw_text_add(&r->out, text + at, rest);
        at += rest;
    }
    return at;
}

static void rename_quantity(renaming *r, const char *text, size_t length) {
    const size_t word = word_length(text);
    size_t run = word; /* the longest run of words with dots: may be a value of a part in the part */
    while (word > 0 && text[run] == '.' && word_length(text + run + 1) > 0)
        run += 1 + word_length(text + run + 1);
    if (word > 0 && run == length && is_value(r, text, length)) {
        add_object(r, text, length);
        return;
    }
    const size_t space = strspn(text + word, " \t\r\n");
    if (word > 0 && text[word + space] == '(' && lw_quantity_is_called(text, word)) {
        size_t at = word + space + 1;
        const bool pair = word == 8 && strncmp(text, "distance", 8) == 0;
        lw_text_add(&r->out, text, at);
        const lw_names *objects = &r->names->bodies;
        if (*text == 'd' || *text == 'r') objects = &r->names->joints; /* drive, reaction */
        if (*text == 'f') objects = &r->names->forces;
        at += pair ? rename_pair(r, text + at) : rename_arguments(r, objects, text + at);
        if (at < length) lw_text_add(&r->out, text + at, length - at);
    } else if (word == 4 && strncmp(text, "body.", 5) == 0) {
        lw_text_add(&r->out, "body.", 5);
        add_object(r, text + 5, length - 5);
    } else if (word == length || (word == 8 && strncmp(text, "momentum.", 9) == 0)) {
        lw_text_add(&r->out, text, length); /* of the whole model */
    } else {
        add_object(r, text, length);
    }
}

static void rename_text(renaming *r, const char *text, size_t length) {
    char *own = LW_NEW(r->out.arena, char, length + 1);
    if (!own) {
        r->out.failed = true;
        return;
    }
    memcpy(own, text, length);
    lw_part_scan scan = {.text = own};
    size_t done = 0;
    for (size_t found; (found = lw_part_scan_next(&scan)) > 0; scan.at += found) {
        const char *name = own + scan.at;
        const size_t word = word_length(name);
        /* A value called distance or com comes before the quantity. */
        if (word > 0 && found > word && name[word] != '.' && is_value(r, name, word)) {
            found = word;
        }
        lw_text_add(&r->out, own + done, scan.at - done);
        done = scan.at + found;
        if (found > word || name[word] == '.' || word == 0)
            rename_quantity(r, name, found);
        else if (is_value(r, name, word))
            add_object(r, name, word);
        else
            lw_text_add(&r->out, name, found);
    }
    lw_text_add(&r->out, own + done, length - done);
}

const char *lw_part_expression(lw_arena *arena, const lw_part_names *names, const char *prefix,
                               const char *text) {
    renaming r = {.out = {.arena = arena}, .names = names, .prefix = prefix};
    rename_text(&r, text, strlen(text));
    return r.out.failed ? NULL : r.out.text;
}

/* write_text.c - building the text of a model file: entries in braces, numbers, texts, names.
 *
 * Numbers have the fewest digits (15 to 17) that read back equal, -0 included. A text is written without
 * quotes if no YAML reader could take it for anything else, and otherwise in double quotes, with escapes for
 * characters that are not printable. Lines longer than WIDTH are broken, before an item of the entry if this
 * is enough, and otherwise inside the item.
 */
#include "io/model_write/write_text.h"

#include "io/number.h"
#include "io/model_read/reader.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 110 };

void lw_write_fault(lw_writer *writer, lw_status status, const char *remedy, const char *format, ...) {
    char message[sizeof((lw_error *)0)->message];
    if (writer->status != LW_OK) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    writer->status = lw_fail(writer->error, status, writer->object, remedy, "%s", message);
}

/* --- text ----------------------------------------------------------------------------------------- */

static bool make_room(lw_writer *writer, size_t more) {
    if (writer->length + more < writer->capacity) return true;
    size_t capacity = 2 * (writer->length + more) + 1024;
    char *text = realloc(writer->text, capacity);
    if (!text) {
        lw_write_fault(writer, LW_ERROR_MEMORY, NULL, "memory is out");
        return false;
    }
    writer->text = text;
    writer->capacity = capacity;
    return true;
}

static void put_bytes(lw_writer *writer, const char *bytes, size_t count) {
    if (!make_room(writer, count)) return;
    for (size_t k = 0; k < count; k++) {
        writer->text[writer->length++] = bytes[k];
        if (bytes[k] == '\n') writer->line = writer->length;
    }
    writer->text[writer->length] = '\0';
}

void lw_put(lw_writer *writer, const char *text) { put_bytes(writer, text, strlen(text)); }

/* --- entries -------------------------------------------------------------------------------------- */

/* Breaks the line at position `at`, behind a blank; returns by how many bytes the following text moves. */
static size_t break_line(lw_writer *writer, size_t at, size_t indent) {
    const size_t more = indent; /* The blank becomes a line break. */
    if (!make_room(writer, more)) return 0;
    char *rest = writer->text + at;
    memmove(rest + more, rest, writer->length - at + 1);
    rest[-1] = '\n';
    memset(rest, ' ', more);
    writer->length += more;
    if (writer->part >= at) writer->part += more;
    writer->line = at;
    return more;
}

void lw_fit(lw_writer *writer, size_t part) {
    if (writer->status != LW_OK || writer->length - writer->line <= WIDTH) return;
    if (writer->item > writer->line) {
        size_t moved = break_line(writer, writer->item, 4);
        if (part >= writer->item) part += moved;
        writer->item = writer->line; /* The item begins a line now. */
    }
    bool begins_line = part <= writer->line + 6;
    if (writer->length - writer->line > WIDTH && !begins_line) (void)break_line(writer, part, 6);
}

void lw_put_entry(lw_writer *writer, const char *noun, const char *name) {
    snprintf(writer->object, sizeof writer->object, "%s \"%.80s\"", noun, name ? name : "");
    lw_put(writer, "  ");
    lw_put_name(writer, noun, name);
    lw_put(writer, ": ");
    writer->item = writer->line; /* The first item stays on the line of the name. */
    lw_open(writer);
}

void lw_end_entry(lw_writer *writer) {
    lw_close(writer);
    lw_put(writer, "\n");
    writer->object[0] = '\0';
}

/* Comma and line break before a key. */
static void begin_key(lw_writer *writer) {
    if (!writer->fresh) {
        lw_fit(writer, writer->part);
        lw_put(writer, ", ");
    }
    if (!writer->fresh) writer->part = writer->length;
    if (!writer->fresh && writer->depth == 1) writer->item = writer->part;
    writer->fresh = false;
}

void lw_put_key(lw_writer *writer, const char *key) {
    begin_key(writer);
    lw_put(writer, key);
    lw_put(writer, ": ");
}

void lw_put_name_key(lw_writer *writer, const char *what, const char *name) {
    begin_key(writer);
    lw_put_name(writer, what, name);
    lw_put(writer, ": ");
}

void lw_open(lw_writer *writer) {
    lw_put(writer, "{");
    writer->depth++;
    writer->fresh = true;
    writer->part = writer->line; /* There is no part to break before. */
}

void lw_close(lw_writer *writer) {
    lw_put(writer, "}");
    lw_fit(writer, writer->part);
    writer->depth--;
    writer->fresh = false;
    writer->part = writer->line;
}

/* --- numbers -------------------------------------------------------------------------------------- */

void lw_put_number(lw_writer *writer, double value) {
    char text[LW_NUMBER_SIZE];
    if (!isfinite(value)) {
        lw_write_fault(writer, LW_ERROR_ARGUMENT, "a model file holds finite numbers only",
                       "the number %g cannot be written", value);
        return;
    }
    lw_number_print(value, text);
    lw_put(writer, value == 0 && signbit(value) ? "-0" : text);
}

void lw_put_field(lw_writer *writer, const double *field) {
    for (size_t k = 0; k < writer->bound_count; k++) {
        lw_bound_text *bound = &writer->bound[k];
        if (bound->field != field) continue;
        bound->written = true;
        lw_put_text(writer, bound->text);
        return;
    }
    lw_put_number(writer, *field);
}

void lw_put_numbers(lw_writer *writer, const double *values, int count) {
    lw_put(writer, "[");
    for (int k = 0; k < count; k++) {
        if (k > 0) lw_put(writer, ", ");
        size_t part = writer->length;
        lw_put_field(writer, &values[k]);
        if (k > 0 && count > 3) lw_fit(writer, part); /* Vectors are not broken. */
    }
    lw_put(writer, "]");
}

/* --- texts ---------------------------------------------------------------------------------------- */

/* Returns whether a character is not printable, or a line break in some version of YAML. */
static bool needs_escape(unsigned code) {
    return code < 0x20 || (code >= 0x7F && code <= 0xA0) || code == 0x2028 || code == 0x2029 ||
           code == 0xFEFF || code == 0xFFFE || code == 0xFFFF;
}

static bool is_word(unsigned c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c > 0x7F && !needs_escape(c));
}
static bool is_digit(unsigned c) { return c >= '0' && c <= '9'; }

/* Returns whether some YAML reader, old or new, interprets the text as something else. */
static bool has_other_meaning(const char *text) {
    static const char *const words[] = {"null",  "Null",  "NULL", "true", "True", "TRUE", "false",
                                        "False", "FALSE", "yes",  "Yes",  "YES",  "no",   "No",
                                        "NO",    "on",    "On",   "ON",   "off",  "Off",  "OFF"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (strcmp(text, words[k]) == 0) return true;
    }
    return false;
}

/* Returns whether a text needs no quotes, also inside brackets and braces: a name, a number or an
 * expression. */
static bool is_plain(const char *text) {
    const char *at = text + (*text == '-');
    unsigned code = (unsigned char)*at;
    if (!(is_word(code) || is_digit(code) || code == '(' || code == '.')) return false;
    while (*at) {
        size_t length = lw_utf8(at, 4, &code);
        if (length == 0) return false;
        if (!is_word(code) && !is_digit(code) && !(code < 0x80 && strchr(" .+-*/^()<>=", (int)code)))
            return false;
        at += length;
    }
    return code != ' ' && !has_other_meaning(text);
}

static void put_quoted(lw_writer *writer, const char *text) {
    lw_put(writer, "\"");
    for (const char *at = text; *at;) {
        char escape[16];
        unsigned code = 0;
        size_t length = lw_utf8(at, 4, &code);
        if (length == 0) {
            lw_write_fault(writer, LW_ERROR_ARGUMENT, "a model file is UTF-8",
                           "a text with the byte 0x%02X is not UTF-8", (unsigned char)*at);
            return;
        }
        if (code == '"' || code == '\\') {
            snprintf(escape, sizeof escape, "\\%c", (char)code);
        } else if (code == '\n') {
            snprintf(escape, sizeof escape, "\\n");
        } else if (needs_escape(code)) {
            snprintf(escape, sizeof escape, code < 0x100 ? "\\x%02X" : "\\u%04X", code);
        } else {
            memcpy(escape, at, length);
            escape[length] = '\0';
        }
        lw_put(writer, escape);
        at += length;
    }
    lw_put(writer, "\"");
}

void lw_put_text(lw_writer *writer, const char *text) {
    if (!text) {
        lw_put(writer, "null");
    } else if (is_plain(text)) {
        lw_put(writer, text);
    } else {
        put_quoted(writer, text);
    }
}

static bool valid_utf8(const char *text) {
    unsigned code;
    size_t length = 1;
    for (; *text && length > 0; text += length) length = lw_utf8(text, 4, &code);
    return length > 0;
}

void lw_put_name(lw_writer *writer, const char *what, const char *name) {
    const char *fault = NULL;
    if (!name || !*name) {
        fault = "has no name";
    } else if (strlen(name) > LW_MAX_NAME) {
        fault = "has a name longer than 80 bytes";
    } else if (strpbrk(name, "\"',{}\n\r\t")) {
        fault = "has a quote, comma, brace or line break in its name";
    } else if (lw_escape(name, NULL, 0) != strlen(name) && valid_utf8(name)) {
        fault = "has a control character in its name";
    }
    if (fault) {
        lw_write_fault(writer, LW_ERROR_ARGUMENT, "use letters, digits, - and _, e.g. left_arm",
                       "a %s %s, which a model file cannot hold", what, fault);
    } else if (is_digit((unsigned char)name[0]) || strchr("-.(", name[0])) {
        put_quoted(writer, name); /* Other YAML readers take 12 for a number. */
    } else {
        lw_put_text(writer, name);
    }
}

/* json.c - the JSON writer: RFC 8259.
 */
#include "json.h"

#include <linkwork/text.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_text(FILE *out, const char *text) {
    putc('"', out);
    while (*text) {
        unsigned code;
        size_t length = lw_utf8(text, 4, &code);
        if (length == 0) {
            fputs("\\ufffd", out);
            length = 1;
        } else if (code == '"' || code == '\\') {
            fprintf(out, "\\%c", (int)code);
        } else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) { /* control characters */
            fprintf(out, "\\u%04x", code);
        } else {
            fwrite(text, 1, length, out);
        }
        text += length;
    }
    putc('"', out);
}

static void new_line(json *j) { fprintf(j->out, "\n%*s", 2 * j->depth, ""); }

/* Writes comma, line break and key before a value; containers inside arrays and all members of objects get
 * lines of their own. */
static void before_value(json *j, const char *key, bool container) {
    if (j->depth > 0) {
        bool array = j->level[j->depth - 1].array;
        assert(array == (key == NULL));
        if (j->level[j->depth - 1].filled) fputs(array && !container ? ", " : ",", j->out);
        j->level[j->depth - 1].filled = true;
        if (!array || container) {
            j->level[j->depth - 1].tall = true;
            new_line(j);
        }
    }
    if (key) {
        put_text(j->out, key);
        fputs(": ", j->out);
    }
}

static void open_level(json *j, const char *key, bool array) {
    before_value(j, key, true);
    putc(array ? '[' : '{', j->out);
    assert(j->depth < JSON_MAX_DEPTH);
    j->level[j->depth].array = array;
    j->level[j->depth].filled = j->level[j->depth].tall = false;
    j->depth++;
}

static void close_level(json *j, bool array) {
    j->depth--;
    assert(j->depth >= 0 && j->level[j->depth].array == array);
    if (j->level[j->depth].tall) new_line(j);
    putc(array ? ']' : '}', j->out);
}

void json_begin(json *j, FILE *out) { *j = (json){.out = out}; }

void json_end(json *j) {
    assert(j->depth == 0);
    putc('\n', j->out);
}

void json_object(json *j, const char *key) { open_level(j, key, false); }
void json_object_end(json *j) { close_level(j, false); }
void json_array(json *j, const char *key) { open_level(j, key, true); }
void json_array_end(json *j) { close_level(j, true); }

void json_text(json *j, const char *key, const char *text) {
    before_value(j, key, false);
    if (text)
        put_text(j->out, text);
    else
        fputs("null", j->out);
}

void json_number(json *j, const char *key, double number) {
    before_value(j, key, false);
    if (!isfinite(number)) {
        fputs("null", j->out);
        return;
    }
    char digits[32];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number) break;
    }
    fputs(digits, j->out);
}

void json_integer(json *j, const char *key, long number) {
    before_value(j, key, false);
    fprintf(j->out, "%ld", number);
}

void json_bool(json *j, const char *key, bool value) {
    before_value(j, key, false);
    fputs(value ? "true" : "false", j->out);
}

void json_numbers(json *j, const char *key, const double *numbers, int count) {
    json_array(j, key);
    for (int i = 0; i < count; i++) json_number(j, NULL, numbers[i]);
    json_array_end(j);
}

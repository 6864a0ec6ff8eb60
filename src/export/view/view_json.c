/* view_json.c - writes JSON inside of an HTML page, with arrays of numbers as base64 (RFC 4648).
 */
#include "export/view/view_json.h"

#include <linkwork/text.h>

#include <math.h>
#include <string.h>

static void put_text(FILE *file, const char *text) {
    putc('"', file);
    for (size_t left = strlen(text); left > 0;) {
        unsigned code;
        size_t length = lw_utf8(text, left, &code);
        if (length == 0) {
            fputs("\\ufffd", file);
            length = 1;
        } else if (code < 0x20 || code == 0x7f || strchr("<>&\"\\", (int)code) || code == 0x2028 ||
                   code == 0x2029) {
            fprintf(file, "\\u%04x", code);
        } else {
            fwrite(text, 1, length, file);
        }
        text += length, left -= length;
    }
    putc('"', file);
}

static void begin(lw_view_json *j, const char *key) {
    if (j->filled) fputs(",\n", j->file);
    j->filled = true;
    if (!key) return;
    put_text(j->file, key);
    putc(':', j->file);
}

void lw_view_open(lw_view_json *j, const char *key, char bracket) {
    begin(j, key);
    putc(bracket, j->file);
    j->filled = false;
}

void lw_view_close(lw_view_json *j, char bracket) {
    putc(bracket, j->file);
    j->filled = true;
}

void lw_view_text(lw_view_json *j, const char *key, const char *text) {
    begin(j, key);
    if (text)
        put_text(j->file, text);
    else
        fputs("null", j->file);
}

static void put_number(FILE *file, double number) {
    if (isfinite(number))
        fprintf(file, "%.9g", number);
    else
        fputs("null", file);
}

void lw_view_number(lw_view_json *j, const char *key, double number) {
    begin(j, key);
    put_number(j->file, number);
}

void lw_view_numbers(lw_view_json *j, const char *key, const double *numbers, size_t count) {
    begin(j, key);
    putc('[', j->file);
    for (size_t k = 0; k < count; k++) {
        if (k) putc(',', j->file);
        put_number(j->file, numbers[k]);
    }
    putc(']', j->file);
}

void lw_view_integer(lw_view_json *j, const char *key, long number) {
    begin(j, key);
    fprintf(j->file, "%ld", number);
}

void lw_view_bool(lw_view_json *j, const char *key, bool value) {
    begin(j, key);
    fputs(value ? "true" : "false", j->file);
}

/* --- base64 --------------------------------------------------------------------------------------- */

static void put_part(lw_view_base64 *b) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = (unsigned)b->part[0] << 16 | (unsigned)b->part[1] << 8 | b->part[2];
    for (int k = 0; k < 4; k++) putc(k <= b->filled ? digits[bits >> (18 - 6 * k) & 63] : '=', b->file);
    memset(b->part, 0, sizeof b->part);
    b->filled = 0;
}

void lw_view_base64_open(lw_view_json *j, const char *key, lw_view_base64 *b) {
    begin(j, key);
    putc('"', j->file);
    *b = (lw_view_base64){.file = j->file};
}

void lw_view_base64_put(lw_view_base64 *b, const void *bytes, size_t size) {
    const unsigned char *byte = bytes;
    for (size_t k = 0; k < size; k++) {
        b->part[b->filled++] = byte[k];
        if (b->filled == 3) put_part(b);
    }
}

void lw_view_base64_float(lw_view_base64 *b, double number) {
    float rounded = (float)number;
    lw_view_base64_put(b, &rounded, sizeof rounded);
}

void lw_view_base64_close(lw_view_base64 *b, bool quoted) {
    if (b->filled) put_part(b);
    if (quoted) putc('"', b->file);
}

/* view_json.h - JSON inside of an HTML page: members one by one, arrays of numbers as base64.
 *
 * The text is valid inside of <script type="application/json">: < and & never occur in it. Numbers that JSON
 * cannot represent become null, bytes that are not UTF-8 U+FFFD.
 */
#ifndef LW_VIEW_JSON_H
#define LW_VIEW_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct lw_view_json {
    FILE *file;
    bool filled; /* a member stands before the next one */
} lw_view_json;

/* key is NULL inside of arrays. */
void lw_view_open(lw_view_json *j, const char *key, char bracket); /* { or [ */
void lw_view_close(lw_view_json *j, char bracket);                 /* } or ] */
void lw_view_text(lw_view_json *j, const char *key, const char *text);
void lw_view_number(lw_view_json *j, const char *key, double number);
void lw_view_numbers(lw_view_json *j, const char *key, const double *numbers, size_t count);
void lw_view_integer(lw_view_json *j, const char *key, long number);
void lw_view_bool(lw_view_json *j, const char *key, bool value);

/* Bytes as base64, little endian as they stand in memory of all machines that this runs on. */
typedef struct lw_view_base64 {
    FILE *file;
    unsigned char part[3];
    int filled;
} lw_view_base64;
void lw_view_base64_open(lw_view_json *j, const char *key, lw_view_base64 *b);
void lw_view_base64_put(lw_view_base64 *b, const void *bytes, size_t size);
void lw_view_base64_float(lw_view_base64 *b, double number);
void lw_view_base64_close(lw_view_base64 *b, bool quoted);

#endif

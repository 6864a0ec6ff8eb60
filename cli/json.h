/* json.h - writes one JSON document to a stream, member by member.
 *
 * Numbers have as many digits as needed to be read back exactly; values that JSON cannot represent (NaN,
 * infinities) become null. Texts are escaped; bytes that are not UTF-8 become U+FFFD.
 */
#ifndef LINKWORK_JSON_H
#define LINKWORK_JSON_H

#include <stdbool.h>
#include <stdio.h>

enum { JSON_MAX_DEPTH = 16 };

typedef struct json {
    FILE *out;
    int depth;
    struct {
        bool array, filled, tall; /* tall: its members have lines of their own */
    } level[JSON_MAX_DEPTH];
} json;

void json_begin(json *j, FILE *out);
void json_end(json *j); /* completes the document */

/* key is NULL inside arrays and for the document itself. */
void json_object(json *j, const char *key);
void json_object_end(json *j);
void json_array(json *j, const char *key);
void json_array_end(json *j);
void json_text(json *j, const char *key, const char *text); /* NULL becomes null */
void json_number(json *j, const char *key, double number);
void json_integer(json *j, const char *key, long number);
void json_bool(json *j, const char *key, bool value);
void json_numbers(json *j, const char *key, const double *numbers, int count);

#endif

/* number.c - numbers as text, with a decimal point whatever the locale.
 *
 * printf and strtod use the locale's decimal point, which the calling program may have set; a file must not
 * depend on it, so it is exchanged here.
 */
#include "io/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *decimal_point(void) {
    const char *point = localeconv()->decimal_point;
    return point[0] ? point : ".";
}

/* The locale's point becomes "."; returns the new length. */
static int use_point(char *text) {
    const char *point = decimal_point();
    char *place = strcmp(point, ".") == 0 ? NULL : strstr(text, point);
    if (place) {
        char *rest = place + strlen(point);
        *place = '.';
        memmove(place + 1, rest, strlen(rest) + 1);
    }
    return (int)strlen(text);
}

int lw_number_print(double value, char text[LW_NUMBER_SIZE]) {
    if (value == 0) value = 0; /* no "-0" */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, LW_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return use_point(text);
}

int lw_number_print_fixed(double value, int decimals, char text[LW_NUMBER_SIZE]) {
    snprintf(text, LW_NUMBER_SIZE, "%.*f", decimals, value);
    return use_point(text);
}

static const char *skip_blanks(const char *text) {
    while (*text == ' ' || *text == '\t') text++;
    return text;
}

static bool read_all(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *skip_blanks(end) == '\0';
}

bool lw_number_read(const char *text, double *value) {
    text = skip_blanks(text);
    const char *place = strchr(text, '.'), *point = decimal_point();
    if (!place || strcmp(point, ".") == 0) return read_all(text, value);

    char local[128]; /* longer numbers are not worth the trouble in a foreign locale */
    size_t before = (size_t)(place - text), after = strlen(place + 1), width = strlen(point);
    if (before + width + after >= sizeof local) return false;
    memcpy(local, text, before);
    memcpy(local + before, point, width);
    memcpy(local + before + width, place + 1, after + 1);
    return read_all(local, value);
}

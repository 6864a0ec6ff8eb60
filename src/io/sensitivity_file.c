/* sensitivity_file.c - writes sensitivities as comma-separated values.
 *
 * One row for each sample: t, the columns, and for every parameter their derivatives,
 * "d(COLUMN)/d(PARAMETER)".
 */
#include "core/core.h"
#include "io/number.h"
#include <linkwork/sensitivity.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void put_text(FILE *file, const char *text) {
    for (const char *c = text; *c; c++) {
        if (*c == '"') fputc('"', file);
        fputc(*c, file);
    }
}

static void put_names(FILE *file, const lw_sensitivity *s) {
    fputs("t [s]", file);
    for (int c = 0; c < s->columns; c++) {
        fputs(",\"", file), put_text(file, s->names[c]);
        if (s->units[c][0]) fputs(" [", file), put_text(file, s->units[c]), fputc(']', file);
        fputc('"', file);
    }
    for (int p = 0; p < s->parameters; p++)
        for (int c = 0; c < s->columns; c++) {
            fputs(",\"d(", file), put_text(file, s->names[c]);
            fputs(")/d(", file), put_text(file, s->parameter_names[p]), fputs(")\"", file);
        }
    fputc('\n', file);
}

static void put_numbers(FILE *file, const double *numbers, size_t count) {
    for (size_t k = 0; k < count; k++) {
        char text[LW_NUMBER_SIZE];
        lw_number_print(numbers[k], text);
        fprintf(file, ",%s", text);
    }
}

lw_status lw_sensitivity_write(const lw_sensitivity *s, const char *path, lw_error *error) {
    if (!s || !path) return lw_call_needs("sensitivities and a path", error);
    const bool out = strcmp(path, "-") == 0;
    FILE *file = out ? stdout : fopen(path, "w");
    if (!file)
        return lw_fail(error, LW_ERROR_FILE, path, "choose another path", "cannot be written: %s",
                       strerror(errno));
    put_names(file, s);
    const size_t columns = (size_t)s->columns, wide = columns * (size_t)s->parameters;
    for (size_t k = 0; k < (size_t)s->samples; k++) {
        char text[LW_NUMBER_SIZE];
        lw_number_print(s->t[k], text);
        fputs(text, file);
        put_numbers(file, s->values + k * columns, columns);
        put_numbers(file, s->derivatives + k * wide, wide);
        fputc('\n', file);
    }
    bool good = !ferror(file) && fflush(file) == 0;
    if (!out && fclose(file) != 0) good = false;
    return good ? LW_OK
                : lw_fail(error, LW_ERROR_FILE, path, "look for room on the disk",
                          "could not be written whole");
}

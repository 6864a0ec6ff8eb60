/* frequency_file.c - writes a frequency response as comma-separated values.
 *
 * One row for each frequency; for every output and input five columns, "OUTPUT/INPUT.dB [dB]" and so on. A
 * number that is infinite is left out, so that plots have a gap there.
 */
#include "core/core.h"
#include "io/number.h"
#include <linkwork/frequency.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_name(FILE *file, const char *output, const char *input, const char *rest) {
    fputs(",\"", file);
    const char *const texts[] = {output, "/", input, rest};
    for (int k = 0; k < 4; k++)
        for (const char *c = texts[k]; *c; c++) {
            if (*c == '"') fputc('"', file);
            fputc(*c, file);
        }
    fputc('"', file);
}

static void put_number(FILE *file, double x) {
    char text[LW_NUMBER_SIZE] = "";
    if (isfinite(x)) lw_number_print(x, text);
    fprintf(file, ",%s", text);
}

lw_status lw_frequency_write(const lw_frequency_response *r, const char *path, lw_error *error) {
    static const char *const parts[] = {".magnitude", ".dB [dB]", ".phase [deg]", ".re", ".im"};
    if (!r || !path) return lw_call_needs("a frequency response and a path", error);
    const bool out = strcmp(path, "-") == 0;
    FILE *file = out ? stdout : fopen(path, "w");
    if (!file)
        return lw_fail(error, LW_ERROR_FILE, path, "choose another path", "cannot be written: %s",
                       strerror(errno));
    fputs("f [Hz]", file);
    for (int o = 0; o < r->outputs; o++)
        for (int i = 0; i < r->inputs; i++)
            for (int k = 0; k < 5; k++) put_name(file, r->output_names[o], r->input_names[i], parts[k]);
    fputc('\n', file);
    const size_t pairs = (size_t)r->inputs * (size_t)r->outputs;
    for (int f = 0; f < r->count; f++) {
        char text[LW_NUMBER_SIZE];
        lw_number_print(r->frequency[f], text);
        fputs(text, file);
        for (size_t p = 0; p < pairs; p++) {
            const size_t at = (size_t)f * pairs + p;
            put_number(file, r->magnitude[at]);
            put_number(file, 20 * log10(r->magnitude[at]));
            put_number(file, r->phase[at] * 57.295779513082320877);
            put_number(file, r->G[2 * at]);
            put_number(file, r->G[2 * at + 1]);
        }
        fputc('\n', file);
    }
    const bool good = !ferror(file) && fflush(file) == 0;
    if (!out && fclose(file) != 0)
        return lw_fail(error, LW_ERROR_FILE, path, "look for room on the disk", "could not be written whole");
    return good ? LW_OK
                : lw_fail(error, LW_ERROR_FILE, path, "look for room on the disk",
                          "could not be written whole");
}

/* linear_system_file.c - writes a linear system as a MATLAB file of version 4, or as comma-separated values.
 *
 * Version 4 is a sequence of matrices: five integers (kind, rows, columns, whether it is complex, length of
 * the name), the name, and the numbers column by column, real parts first. Kind 0 are doubles, 1 is text; the
 * byte order is little endian on all machines, which the kind says, too.
 *
 * Limits   MATLAB's names have no dots, but the names of states stand in rows of characters and may have any.
 */
#include "core/core.h"
#include <linkwork/linearise.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void put_integer(FILE *file, uint32_t x) {
    for (int k = 0; k < 4; k++) fputc((int)(x >> (8 * k) & 255), file);
}

static void put_number(FILE *file, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    for (int k = 0; k < 8; k++) fputc((int)(bits >> (8 * k) & 255), file);
}

static void put_head(FILE *file, const char *name, int kind, int rows, int columns, int is_complex) {
    put_integer(file, (uint32_t)kind);
    put_integer(file, (uint32_t)rows);
    put_integer(file, (uint32_t)columns);
    put_integer(file, (uint32_t)is_complex);
    put_integer(file, (uint32_t)strlen(name) + 1);
    fwrite(name, 1, strlen(name) + 1, file);
}

static void put_matrix(FILE *file, const char *name, int rows, int columns, const double *matrix) {
    put_head(file, name, 0, rows, columns, 0);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) put_number(file, matrix[(size_t)i * (size_t)columns + (size_t)j]);
}

static void put_texts(FILE *file, const char *name, int count, const char *const *texts) {
    size_t longest = 0;
    for (int k = 0; k < count; k++)
        if (strlen(texts[k]) > longest) longest = strlen(texts[k]);
    put_head(file, name, 1, count, (int)longest, 0);
    for (size_t j = 0; j < longest; j++)
        for (int i = 0; i < count; i++)
            put_number(file, j < strlen(texts[i]) ? (double)(unsigned char)texts[i][j] : ' ');
}

static void write_mat(FILE *file, const lw_linear_system *s) {
    put_matrix(file, "A", s->states, s->states, s->A);
    put_matrix(file, "B", s->states, s->inputs, s->B);
    put_matrix(file, "C", s->outputs, s->states, s->C);
    put_matrix(file, "D", s->outputs, s->inputs, s->D);
    put_head(file, "eigenvalues", 0, s->states, 1, 1);
    for (int part = 0; part < 2; part++)
        for (int k = 0; k < s->states; k++) put_number(file, s->eigenvalues[2 * k + part]);
    put_texts(file, "state_names", s->states, s->state_names);
    put_texts(file, "input_names", s->inputs, s->input_names);
    put_texts(file, "output_names", s->outputs, s->output_names);
}

/* A name as a field: in quotes where it has a comma or a quote. */
static void put_field(FILE *file, const char *text) {
    if (!strpbrk(text, ",\"\n")) {
        fprintf(file, "%s", text);
        return;
    }
    fputc('"', file);
    for (; *text; text++) fprintf(file, "%s%c", *text == '"' ? "\"" : "", *text);
    fputc('"', file);
}

static void csv_block(FILE *file, const char *name, int rows, const char *const *row_names, int columns,
                      const char *const *column_names, const double *matrix) {
    fprintf(file, "%s", name);
    for (int j = 0; j < columns; j++) {
        fputc(',', file);
        put_field(file, column_names[j]);
    }
    fputc('\n', file);
    for (int i = 0; i < rows; i++) {
        put_field(file, row_names[i]);
        for (int j = 0; j < columns; j++)
            fprintf(file, ",%.17g", matrix[(size_t)i * (size_t)columns + (size_t)j]);
        fputc('\n', file);
    }
}

static void write_csv(FILE *file, const lw_linear_system *s) {
    csv_block(file, "A", s->states, s->state_names, s->states, s->state_names, s->A);
    csv_block(file, "B", s->states, s->state_names, s->inputs, s->input_names, s->B);
    csv_block(file, "C", s->outputs, s->output_names, s->states, s->state_names, s->C);
    csv_block(file, "D", s->outputs, s->output_names, s->inputs, s->input_names, s->D);
    fprintf(file, "eigenvalues,real,imaginary\n");
    for (int k = 0; k < s->states; k++)
        fprintf(file, "%d,%.17g,%.17g\n", k + 1, s->eigenvalues[2 * k], s->eigenvalues[2 * k + 1]);
}

lw_status lw_linear_system_write(const lw_linear_system *s, const char *path, lw_error *error) {
    if (!s || !path) return lw_call_needs("a linear system and a path", error);
    const char *dot = strrchr(path, '.');
    const bool mat = dot && strcmp(dot, ".mat") == 0;
    if (!mat && !(dot && strcmp(dot, ".csv") == 0))
        return lw_fail(error, LW_ERROR_ARGUMENT, path, "give a name that ends in .mat or .csv",
                       "the ending says the format, and this is neither MATLAB's nor comma-separated values");
    FILE *file = fopen(path, "wb");
    if (!file)
        return lw_fail(error, LW_ERROR_FILE, path, "look at the folder and its permissions",
                       "the file cannot be written: %s", strerror(errno));
    if (mat)
        write_mat(file, s);
    else
        write_csv(file, s);
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad)
        return lw_fail(error, LW_ERROR_FILE, path, "look for space on the disk",
                       "the file could not be written");
    return LW_OK;
}

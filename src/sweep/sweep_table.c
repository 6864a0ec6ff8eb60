/* sweep_table.c - the measured rows of a sweep's file, CSV or HDF5.
 */
#define _POSIX_C_SOURCE 200809L
#include "io/number.h"
#include "sweep/sweep_parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct table {
    lw_sweep_table shown; /* the first member */
    lw_arena *arena;
    uint64_t *runs;
    double *values;
    size_t room;
} table;

static bool is_csv(const char *path) {
    const size_t length = strlen(path);
    return length > 4 && strcasecmp(path + length - 4, ".csv") == 0;
}

bool lw_sweep_table_is(const char *path) {
    static const char first[] = "# linkwork-sweep:";
    char text[sizeof first] = "";
    if (!path) return false;
    if (!is_csv(path)) return lw_sweep_hdf5_is(path);
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    const bool is = fread(text, 1, sizeof first - 1, file) == sizeof first - 1 && strcmp(text, first) == 0;
    fclose(file);
    return is;
}

/* How many measures a plan has; searches and sweeps alike say so in lines of their own. */
static int count_measures(const char *plan) {
    int count = 0;
    for (const char *p = strstr(plan, "# measure: "); p; p = strstr(p + 1, "\n# measure: ")) count++;
    return count;
}

static double *new_row(table *t, uint64_t run) {
    const size_t columns = (size_t)t->shown.columns;
    if (t->shown.count == t->room) {
        const size_t room = 2 * t->room + 1024;
        double *values = realloc(t->values, (room * columns + 1) * sizeof *values);
        if (values) t->values = values;
        uint64_t *runs = values ? realloc(t->runs, room * sizeof *runs) : NULL;
        if (!runs) return NULL;
        t->runs = runs, t->room = room;
    }
    t->runs[t->shown.count] = run;
    return t->values + t->shown.count++ * columns;
}

/* "peak [J]" into name and unit. */
static bool take_name(table *t, const char *text, const char **name, const char **unit) {
    const size_t length = strlen(text);
    const char *open = length > 0 && text[length - 1] == ']' ? strrchr(text, '[') : NULL;
    char *own = lw_arena_text(t->arena, text[0] == ' ' ? text + 1 : text);
    char *measured = lw_arena_text(t->arena, open ? open + 1 : "");
    if (!own || !measured) return false;
    if (open && open > text)
        own[strlen(own) - strlen(open) - 1] = '\0', measured[strlen(measured) - 1] = '\0';
    *name = own, *unit = measured;
    return true;
}

static lw_status read_names(table *t, const char *line, int measures, lw_error *error) {
    char field[1024];
    int columns = 0;
    for (const char *at = line; *at && *at != '\n'; columns++) lw_sweep_csv_field(&at, field, sizeof field);
    columns -= 3; /* run, status, reason */
    const char **names = columns > 0 ? LW_NEW(t->arena, const char *, columns) : NULL;
    const char **units = columns > 0 ? LW_NEW(t->arena, const char *, columns) : NULL;
    if (!names || !units || measures > columns)
        return lw_fail(error, LW_ERROR_FILE, "file", NULL, "it has no line of names as sweeps write it");
    const char *at = line;
    lw_sweep_csv_field(&at, field, sizeof field);
    for (int k = 0; k < columns; k++) {
        lw_sweep_csv_field(&at, field, sizeof field);
        if (!take_name(t, field, &names[k], &units[k])) return lw_out_of_memory(error);
    }
    t->shown.columns = columns, t->shown.variables = columns - measures;
    t->shown.names = names, t->shown.units = units;
    return LW_OK;
}

static lw_status read_csv(table *t, const char *path, lw_error *error) {
    FILE *file = fopen(path, "rb");
    char *line = NULL, field[1024];
    size_t size = 0;
    int measures = 0;
    lw_status status = LW_OK;
    if (!file) return lw_sweep_file_fault(error, path, "read", strerror(errno), NULL);
    while (status == LW_OK && getline(&line, &size, file) > 0) {
        if (!strchr(line, '\n')) break; /* cut off */
        if (line[0] == '#') {
            measures += strncmp(line, "# measure: ", 11) == 0;
            continue;
        }
        if (!t->shown.names) {
            status = read_names(t, line, measures, error);
            continue;
        }
        const char *at = line;
        lw_sweep_csv_field(&at, field, sizeof field);
        double *row = new_row(t, strtoull(field, NULL, 10));
        if (!row) status = lw_out_of_memory(error);
        for (int k = 0; row && k < t->shown.columns; k++) {
            lw_sweep_csv_field(&at, field, sizeof field);
            if (!lw_number_read(field, &row[k])) row[k] = NAN;
        }
        lw_sweep_csv_field(&at, field, sizeof field);
        if (strcmp(field, "ok") != 0 && strcmp(field, "doubtful") != 0) t->shown.count--;
    }
    free(line);
    fclose(file);
    if (status == LW_OK && !t->shown.names)
        return lw_sweep_file_fault(error, path, "read", "it has no rows", NULL);
    return status;
}

static lw_status take_hdf5(table *t, const lw_sweep_contents *c, lw_error *error) {
    const char **names = LW_NEW(t->arena, const char *, c->columns + 1);
    const char **units = LW_NEW(t->arena, const char *, c->columns + 1);
    bool *text = LW_NEW(t->arena, bool, c->columns + 1);
    if (!names || !units || !text) return lw_out_of_memory(error);
    for (size_t k = 0; k < c->columns; k++) {
        names[k] = lw_arena_text(t->arena, c->names + k * c->name_size);
        units[k] = lw_arena_text(t->arena, c->units + k * c->unit_size);
        if (!names[k] || !units[k]) return lw_out_of_memory(error);
        const size_t length = strlen(names[k]);
        for (size_t i = 0; i < c->text_count; i++)
            text[k] |= strncmp(c->texts + i * c->text_size, names[k], length) == 0 &&
                       c->texts[i * c->text_size + length] == ':';
    }
    const int measures = count_measures(c->plan);
    t->shown.columns = (int)c->columns;
    t->shown.variables = measures < t->shown.columns ? t->shown.columns - measures : 0;
    t->shown.names = names, t->shown.units = units;
    for (size_t r = 0; r < c->count; r++) {
        if (c->status[r] != 1 && c->status[r] != 2) continue;
        double *row = new_row(t, r);
        if (!row) return lw_out_of_memory(error);
        for (size_t k = 0; k < c->columns; k++) row[k] = text[k] ? NAN : c->values[r * c->columns + k];
    }
    return LW_OK;
}

lw_status lw_sweep_table_read(const char *path, lw_sweep_table **read, lw_error *error) {
    if (!path || !read) return lw_call_needs("a path, and a place for the table", error);
    *read = NULL;
    lw_arena *arena = lw_arena_create(NULL);
    table *t = arena ? LW_NEW(arena, table, 1) : NULL;
    if (!t) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    t->arena = arena;
    lw_status status;
    if (is_csv(path)) {
        status = read_csv(t, path, error);
    } else {
        lw_sweep_contents contents;
        status = lw_sweep_hdf5_read(path, &contents, error);
        if (status == LW_OK) status = take_hdf5(t, &contents, error);
        free(contents.plan), free(contents.names), free(contents.units), free(contents.texts);
        free(contents.values), free(contents.status);
    }
    if (status != LW_OK) {
        lw_sweep_table_destroy(&t->shown);
        return status;
    }
    t->shown.runs = t->runs, t->shown.values = t->values;
    *read = &t->shown;
    return LW_OK;
}

void lw_sweep_table_destroy(lw_sweep_table *shown) {
    table *t = (table *)shown;
    if (!t) return;
    free(t->runs);
    free(t->values);
    lw_arena_destroy(t->arena);
}

/* table_file.c - points of a table from two columns of a file.
 *
 * The file is comma-separated values with a line of names, or a results file of either format
 * (results/read_results.c). A name may end with a unit in brackets, "height [mm]"; the values are converted
 * to SI units by it. Any bytes are safe: what is no such file is refused with line and remedy. A model may
 * read files of its own folder only, so that a model from elsewhere cannot look at the files of its user;
 * links and .. are resolved before the comparison.
 *
 * Cost     O(bytes of the file), some 0.2 s for a million rows.
 */
#define _XOPEN_SOURCE 700

#include "io/table_file.h"

#include "expression/table.h"
#include "expression/units.h"
#include "io/results/read_results.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_POINTS = 50000000, SHOWN = 60 };

/* --- paths ---------------------------------------------------------------------------------------- */

static lw_status file_fault(lw_error *error, const char *path, const char *remedy, const char *message) {
    lw_status status = lw_fail(error, LW_ERROR_FILE, NULL, remedy, "%s", message);
    if (error) (void)snprintf(error->file, sizeof error->file, "%s", path);
    return status;
}

static const char *reason(int fault) {
    return fault == ENOENT    ? "there is no such file"
           : fault == EACCES  ? "the file may not be read"
           : fault == ENOTDIR ? "a part of the path is not a folder"
           : fault == ELOOP   ? "symbolic links in the path lead back to themselves"
                              : strerror(fault);
}

/* The folder of a file, with its last slash; "./" if the path has none. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
}

static bool lies_in(const char *path, const char *folder) {
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/') length--;
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

char *lw_table_file_path(const char *model, const char *file, bool any_path, lw_error *error) {
    char *folder = folder_of(model), *joined = NULL, *real = NULL, *real_folder = NULL;
    size_t size = folder ? strlen(folder) + strlen(file) + 1 : 0;
    bool good = false;
    if (folder) joined = malloc(size);
    if (joined) {
        (void)snprintf(joined, size, "%s%s", file[0] == '/' ? "" : folder, file);
        errno = 0;
        real = realpath(joined, NULL);
        if (!real)
            (void)file_fault(error, file, "check the path, which is relative to the model file's folder",
                             reason(errno));
        else if (!(real_folder = realpath(folder, NULL)))
            (void)file_fault(error, folder, "check the path", reason(errno));
        else if (!any_path && !lies_in(real, real_folder))
            (void)file_fault(error, file, "copy it into that folder, or allow other places with --allow-path",
                             "the file is outside the folder of the model");
        else
            good = true;
    } else {
        (void)lw_out_of_memory(error);
    }
    free(folder), free(joined), free(real_folder);
    if (good) return real;
    free(real);
    return NULL;
}

/* --- columns -------------------------------------------------------------------------------------- */

/* The names of the columns, as far as there is room. */
static void list_columns(const lw_results_table *table, char *text, size_t size) {
    int used = snprintf(text, size, "columns:");
    for (size_t k = 0; k < table->column_count; k++) {
        const char *header = table->columns[k].header;
        if ((size_t)used + SHOWN + 8 > size) {
            (void)snprintf(text + used, size - (size_t)used, ", ...");
            return;
        }
        char shown[SHOWN];
        lw_escape(header, shown, sizeof shown);
        used += snprintf(text + used, size - (size_t)used, "%s %s", k ? "," : "", shown);
    }
}

static lw_status no_column(const lw_results_table *table, const char *path, const char *name,
                           lw_error *error) {
    char remedy[sizeof error->remedy], message[160], shown[SHOWN];
    lw_closest_search search = lw_closest_to(name);
    for (size_t k = 0; k < table->column_count && k < 1000; k++)
        lw_closest_try(&search, table->columns[k].name);
    size_t used = 0;
    if (lw_did_you_mean(search.name, remedy, sizeof remedy - 1)) {
        used = strlen(remedy);
        remedy[used++] = ' ';
    }
    list_columns(table, remedy + used, sizeof remedy - used);
    lw_escape(name, shown, sizeof shown);
    (void)snprintf(message, sizeof message, "there is no column \"%s\"", shown);
    return file_fault(error, path, remedy, message);
}

/* Finds a column by its name, which must be clear. */
static lw_status find_column(const lw_results_table *table, const char *path, const char *name, int *column,
                             lw_error *error) {
    *column = lw_results_table_column(table, name);
    if (*column < 0) return no_column(table, path, name, error);
    const char *found = table->columns[*column].header;
    for (size_t k = (size_t)*column + 1; k < table->column_count; k++)
        if (strcmp(table->columns[k].header, found) == 0 || strcmp(table->columns[k].name, name) == 0) {
            char message[160], shown[SHOWN];
            lw_escape(name, shown, sizeof shown);
            (void)snprintf(message, sizeof message, "columns %d and %zu are both named \"%s\"", *column + 1,
                           k + 1, shown);
            return file_fault(error, path, "give them different names", message);
        }
    return LW_OK;
}

/* The factor numerator / denominator of a column's unit, and what it measures. */
static lw_status read_unit(const lw_column *column, const char *path, lw_units *units, lw_meaning *measure,
                           lw_error *error) {
    static const lw_expression_names none;
    char text[128];
    *units = (lw_units){.numerator = 1, .denominator = 1};
    *measure = (lw_meaning){.kind = LW_MEANING_UNKNOWN};
    if (column->unit[0] == '\0' || strcmp(column->unit, "1") == 0 || strcmp(column->unit, "-") == 0)
        return LW_OK;
    /* Parentheses also admit 1/s. */
    const int length = snprintf(text, sizeof text, "(%s)", column->unit);
    if (length > 0 && (size_t)length < sizeof text &&
        lw_units_read(text, 0, &none, units) == LW_UNITS_FOUND && text[units->end] == '\0') {
        *measure = lw_units_meaning(units);
        return LW_OK;
    }
    char message[200], shown[SHOWN];
    lw_escape(column->header, shown, sizeof shown);
    (void)snprintf(message, sizeof message, "the unit of column \"%s\" is not known", shown);
    return file_fault(error, path,
                      "units are m, mm, deg, rpm, s, kg, N, kN, Nm, MPa, J, W, Hz, ...; without brackets the "
                      "numbers are SI units",
                      message);
}

/* --- reading -------------------------------------------------------------------------------------- */

static void convert(double *values, size_t count, const lw_units *units) {
    if (units->numerator == 1 && units->denominator == 1) return;
    for (size_t k = 0; k < count; k++) values[k] = values[k] * units->numerator / units->denominator;
}

/* Are the points a table? The fault has the line, or in a file without lines the row. */
static lw_status judge(const lw_results_table *table, const lw_table_file *points, const int columns[2],
                       const char *path, lw_error *error) {
    size_t row;
    lw_syntax syntax;
    char message[360];
    if (lw_table_check(points->x, points->y, points->count, &row, &syntax)) return LW_OK;
    const bool absent = points->count > 1 && (isnan(points->x[row]) || isnan(points->y[row]));
    if (absent) {
        char shown[SHOWN];
        lw_escape(table->columns[columns[isnan(points->x[row]) ? 0 : 1]].header, shown, sizeof shown);
        (void)snprintf(message, sizeof message, "row %zu: column \"%s\" is empty or NaN", row + 1, shown);
    } else if (points->count > 1) {
        (void)snprintf(message, sizeof message, "row %zu: %s", row + 1, syntax.message);
    } else {
        (void)snprintf(message, sizeof message, "%s", syntax.message);
    }
    (void)file_fault(error, path, syntax.remedy, message);
    if (error && table->lines && points->count > 1) error->place.line = table->lines[row];
    return LW_ERROR_FILE;
}

static lw_status take_columns(lw_results_table *table, const int columns[2], lw_table_file *points,
                              const char *path, lw_error *error) {
    table->strict = true;
    for (int k = 0; k < 2; k++) table->columns[columns[k]].wanted = true;
    lw_status status = lw_results_table_read(table, error);
    if (status != LW_OK) return status;
    if (table->row_count > MOST_POINTS)
        return file_fault(error, path, "give fewer points", "the file has more than 50 million rows");
    double **values[2] = {&points->x, &points->y};
    for (int k = 0; k < 2; k++) {
        *values[k] = malloc((table->row_count + 1) * sizeof **values[k]);
        if (!*values[k]) return lw_out_of_memory(error);
        memcpy(*values[k], table->columns[columns[k]].values, table->row_count * sizeof **values[k]);
    }
    points->count = table->row_count;
    return LW_OK;
}

static bool says_time(const char *name) {
    return strcmp(name, "t") == 0 || strcmp(name, "time") == 0 || strcmp(name, "Time") == 0;
}

/* Where the first column is to be the argument, it is not the one asked for, nor does another one say that it
 * is the time. */
static lw_status first_is_time(const lw_results_table *table, const char *path, int column, lw_error *error) {
    char message[200], shown[SHOWN];
    const bool itself = says_time(table->columns[0].name) || table->columns[0].unit[0] != '\0';
    bool other = column == 0;
    for (size_t k = 1; k < table->column_count && !itself; k++) other |= says_time(table->columns[k].name);
    if (!other) return LW_OK;
    lw_escape(table->columns[0].header, shown, sizeof shown);
    (void)snprintf(message, sizeof message,
                   column == 0 ? "column \"%s\" is the first one, which has to be the time"
                               : "its first column, \"%s\", is not the one that is named time",
                   shown);
    return file_fault(error, path, "put the time first, e.g. time [s]", message);
}

static lw_status read_columns(lw_results_table *table, const char *path, const char *x_column,
                              const char *y_column, lw_table_file *points, lw_error *error) {
    int columns[2] = {0, 0};
    lw_units units[2];
    lw_meaning *measures[2] = {&points->x_measure, &points->y_measure};
    lw_status status = x_column ? find_column(table, path, x_column, &columns[0], error) : LW_OK;
    if (status == LW_OK) status = find_column(table, path, y_column, &columns[1], error);
    if (status == LW_OK && !x_column) status = first_is_time(table, path, columns[1], error);
    for (int k = 0; k < 2 && status == LW_OK; k++)
        status = read_unit(&table->columns[columns[k]], path, &units[k], measures[k], error);
    if (status == LW_OK) status = take_columns(table, columns, points, path, error);
    if (status != LW_OK) return status;
    convert(points->x, points->count, &units[0]);
    convert(points->y, points->count, &units[1]);
    return judge(table, points, columns, path, error);
}

/* Has the beginning of the file bytes that no text has? HDF5 is none, but has its own reader. */
static bool is_binary(const char *path) {
    char start[4096];
    FILE *file = fopen(path, "rb");
    const size_t count = file ? fread(start, 1, sizeof start, file) : 0;
    if (file) (void)fclose(file);
    if (count >= 4 && memcmp(start, "\x89HDF", 4) == 0) return false;
    return count > 0 && memchr(start, '\0', count);
}

lw_status lw_table_file_read(const char *path, const char *x_column, const char *y_column,
                             lw_table_file *points, lw_error *error) {
    struct stat about;
    lw_results_table *table = NULL;
    *points = (lw_table_file){0};
    errno = 0;
    if (stat(path, &about) != 0) return file_fault(error, path, "check the path", reason(errno));
    if (!S_ISREG(about.st_mode)) /* Reading a pipe could take for ever. */
        return file_fault(error, path, "give a file of comma-separated values, or a results file",
                          S_ISDIR(about.st_mode) ? "this is a folder" : "this is a device, pipe or socket");
    if (about.st_size == 0)
        return file_fault(error, path, "give a line of names, e.g. time [s],height [m], and rows of numbers",
                          "the file is empty");
    if (is_binary(path))
        return file_fault(error, path, "give comma-separated values, or a results file",
                          "the file is no text: it has bytes of value 0");
    lw_status status = lw_results_table_open(path, &table, error);
    if (status == LW_OK) status = read_columns(table, path, x_column, y_column, points, error);
    lw_results_table_close(table);
    if (status != LW_OK) lw_table_file_free(points);
    return status;
}

void lw_table_file_free(lw_table_file *points) {
    free(points->x);
    free(points->y);
    points->x = points->y = NULL;
    points->count = 0;
}

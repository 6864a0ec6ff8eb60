/* read_tables.c - section tables: functions of one argument, given by points.
 *
 *     road: {file: road.csv, x: time, y: height, interpolation: smooth, beyond: hold}
 *     gain: {x: [0, 1, 2], y: [0, 5, 6]}
 *
 * Tables are read behind parameters, which their numbers may use, and before everything else, which may call
 * them.
 */
#include "io/model_read/reader.h"
#include "io/table_file.h"
#include "model/spec/spec_storage.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const interpolations[] = {"linear", "smooth", "steps", NULL};
static const char *const beyonds[] = {"hold", "linear", "repeat", NULL};

/* --- names ---------------------------------------------------------------------------------------- */

/* Parameters, inputs, states, signals and tables share one namespace. */
static bool may_have_name(lw_reader *reader, const lw_named *named) {
    const lw_yaml word = {.kind = LW_YAML_TEXT, .text = named->name, .place = named->place};
    const char *owner = NULL;
    if (!lw_reader_new_name(reader, &word, "table")) return false;
    for (size_t k = 0; k < reader->parameter_count; k++)
        if (strcmp(reader->constants[k].name, named->name) == 0) owner = "a parameter";
    for (size_t k = 0; k < reader->input_count; k++)
        if (strcmp(reader->inputs[k].name, named->name) == 0) owner = "an input";
    if (owner) lw_reader_fault(reader, named->place, "choose another name", "the name is taken by %s", owner);
    return !owner;
}

/* --- numbers in the model ------------------------------------------------------------------------- */

/* What the numbers of a column measure: those with a unit must agree. */
static bool agree(lw_reader *reader, const lw_yaml *item, const char *entry, lw_meaning *measure) {
    const lw_expression_names names = lw_reader_names(reader);
    lw_meaning own;
    double value;
    if (!lw_number_meaning(item->text, &names, &value, &own, NULL) || own.kind != LW_MEANING_SURE)
        return true;
    if (measure->kind != LW_MEANING_SURE) *measure = own;
    if (lw_meaning_same(measure, &own)) return true;
    char here[64], there[64];
    lw_meaning_name(&own, here, sizeof here);
    lw_meaning_name(measure, there, sizeof there);
    lw_reader_fault(reader, item->place, "give all numbers of a column in units of one dimension",
                    "%s \"%.40s\" is %s, those before it are %s", entry, item->text, here, there);
    return false;
}

static double *read_column(lw_reader *reader, const lw_yaml *node, const char *what, lw_meaning *measure) {
    if (node->kind != LW_YAML_LIST) {
        lw_reader_fault(reader, node->place, "give a list of numbers, or file: with the names of two columns",
                        "%s of the table is no list", what);
        return NULL;
    }
    double *values = LW_NEW(reader->arena, double, node->count + 1);
    bool good = values != NULL;
    if (!values) reader->out_of_memory = true;
    for (size_t k = 0; k < node->count && values; k++) {
        char entry[64];
        (void)snprintf(entry, sizeof entry, "entry %zu of %s", k + 1, what);
        good = lw_reader_number(reader, node->items[k], entry, LW_ANY_QUANTITY, &values[k]) &&
               agree(reader, node->items[k], entry, measure) && good;
    }
    return good ? values : NULL;
}

static bool read_numbers(lw_reader *reader, const lw_yaml *entry, lw_table_spec *table,
                         lw_named_table *named) {
    const lw_yaml *x_node = lw_reader_need(reader, entry, "x", "give the arguments, ascending");
    const lw_yaml *y_node = lw_reader_need(reader, entry, "y", "give one value for each entry of x");
    double *x = x_node ? read_column(reader, x_node, "x", &named->argument) : NULL;
    double *y = y_node ? read_column(reader, y_node, "y", &named->value) : NULL;
    size_t row;
    lw_syntax syntax;
    if (!x || !y) return false;
    if (x_node->count != y_node->count) {
        lw_reader_fault(reader, y_node->place, "give one value for each entry of x",
                        "%zu entries of x, but %zu of y", x_node->count, y_node->count);
        return false;
    }
    if (!lw_table_check(x, y, x_node->count, &row, &syntax)) {
        const lw_yaml *wrong = row < x_node->count ? x_node->items[row] : x_node;
        if (x_node->count > 1)
            lw_reader_fault(reader, wrong->place, syntax.remedy, "point %zu: %s", row + 1, syntax.message);
        else
            lw_reader_fault(reader, x_node->place, syntax.remedy, "%s", syntax.message);
        return false;
    }
    table->x = x, table->y = y, table->size = (int)x_node->count;
    return true;
}

/* --- columns of a file ---------------------------------------------------------------------------- */

/* Takes over a fault of the file, which names a line of it. */
static void report_file(lw_reader *reader, lw_place place, const lw_error *fault) {
    char where[sizeof fault->file + 24] = "";
    if (reader->muted) return;
    if (fault->file[0] && fault->place.line > 0)
        (void)snprintf(where, sizeof where, "%.200s:%d: ", fault->file, fault->place.line);
    else if (fault->file[0])
        (void)snprintf(where, sizeof where, "%.200s: ", fault->file);
    if (fault->object[0])
        lw_reader_fault(reader, place, fault->remedy, "%s%s: %s", where, fault->object, fault->message);
    else
        lw_reader_fault(reader, place, fault->remedy, "%s%s", where, fault->message);
}

static bool take_points(lw_reader *reader, const lw_table_file *points, lw_table_spec *table) {
    double *x = LW_NEW(reader->arena, double, points->count),
           *y = LW_NEW(reader->arena, double, points->count);
    if (lw_arena_failed(reader->arena) || points->count > INT_MAX) {
        reader->out_of_memory = true;
        return false;
    }
    memcpy(x, points->x, points->count * sizeof *x);
    memcpy(y, points->y, points->count * sizeof *y);
    table->x = x, table->y = y, table->size = (int)points->count;
    return true;
}

static bool read_file(lw_reader *reader, const lw_yaml *entry, const lw_yaml *file, lw_table_spec *table,
                      lw_named_table *named) {
    const lw_yaml *x = lw_reader_need(reader, entry, "x", "name the column of the arguments");
    const lw_yaml *y = lw_reader_need(reader, entry, "y", "name the column of the values");
    table->file = lw_reader_text(reader, file, "file");
    if (x) table->x_column = lw_reader_text(reader, x, "x, the name of a column,");
    if (y) table->y_column = lw_reader_text(reader, y, "y, the name of a column,");
    if (!table->file || !table->x_column || !table->y_column) return false;
    if (!reader->has_folder) {
        lw_reader_fault(reader, file->place, "read the model from a file, or give the numbers in it",
                        "a model in memory has no folder in which the file \"%.60s\" could be", table->file);
        return false;
    }
    lw_error error = {0};
    lw_table_file points;
    char *path = lw_table_file_path(reader->file, table->file, reader->any_path, &error);
    bool good = path && lw_table_file_read(path, table->x_column, table->y_column, &points, &error) == LW_OK;
    if (good) {
        named->argument = points.x_measure, named->value = points.y_measure;
        good = take_points(reader, &points, table);
        lw_table_file_free(&points);
    } else {
        if (path) (void)snprintf(error.file, sizeof error.file, "%s", table->file);
        report_file(reader, file->place, &error);
    }
    free(path);
    return good;
}

/* --- section -------------------------------------------------------------------------------------- */

static const double stand_in[] = {0, 1};

/* Makes it known to expressions. */
void lw_reader_announce_table(lw_reader *reader, const lw_table_spec *spec, lw_named_table *named) {
    if (reader->table_count == reader->table_capacity) {
        size_t capacity = 2 * reader->table_capacity + 8;
        lw_named_table *longer = LW_NEW(reader->arena, lw_named_table, capacity);
        if (!longer) {
            reader->out_of_memory = true;
            return;
        }
        if (reader->table_count > 0) memcpy(longer, reader->tables, reader->table_count * sizeof *longer);
        reader->tables = longer;
        reader->table_capacity = capacity;
    }
    named->table = lw_table_create(reader->arena, spec->x, spec->y, (size_t)spec->size, spec->interpolation,
                                   spec->beyond);
    if (!named->table) /* Its slopes overflow, which compiling reports. */
        named->table =
            lw_table_create(reader->arena, stand_in, stand_in, 2, LW_INTERPOLATION_SMOOTH, LW_BEYOND_LINEAR);
    if (!named->table)
        reader->out_of_memory = true;
    else
        reader->tables[reader->table_count++] = *named;
}

static bool read_entry(lw_reader *reader, const lw_yaml *entry, lw_table_spec *table, lw_named_table *named) {
    static const char *const keys[] = {"file", "x", "y", "interpolation", "beyond", "repeat", NULL};
    if (!lw_reader_keys(reader, entry, keys)) return false;
    const size_t before = reader->faults;
    const lw_yaml *interpolation = lw_yaml_get(entry, "interpolation"),
                  *beyond = lw_yaml_get(entry, "beyond"), *file = lw_yaml_get(entry, "file");
    const int how = interpolation ? lw_reader_choice(reader, interpolation, "interpolation", interpolations)
                                  : LW_INTERPOLATION_LINEAR;
    const int then = beyond ? lw_reader_choice(reader, beyond, "continuation", beyonds) : LW_BEYOND_HOLD;
    if (how >= 0) table->interpolation = (lw_interpolation)how;
    if (then >= 0) table->beyond = (lw_beyond)then;
    const bool good =
        file ? read_file(reader, entry, file, table, named) : read_numbers(reader, entry, table, named);
    return good && reader->faults == before;
}

static void read_table(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    lw_table_spec table = {.name = named->name, .place = named->place};
    lw_named_table known = {.name = named->name};
    if (!may_have_name(reader, named)) return;
    const bool good = read_entry(reader, entry, &table, &known);
    if (!good) { /* So that calls of a faulty table are no further faults. */
        table.x = table.y = stand_in, table.size = 2;
        table.interpolation = LW_INTERPOLATION_SMOOTH, table.beyond = LW_BEYOND_LINEAR;
        table.file = NULL;
        known.argument = known.value = (lw_meaning){.kind = LW_MEANING_UNKNOWN};
    }
    lw_reader_announce_table(reader, &table, &known);
    lw_status status = lw_spec_add_table(reader->spec, &table);
    lw_reader_check(reader, status);
    if (status != LW_OK) return;
    const size_t index = reader->spec->table_count - 1, size = (size_t)table.size * sizeof(double);
    lw_reader_bound(reader, LW_OWNER_POINTS_X, index, table.x, size);
    lw_reader_bound(reader, LW_OWNER_POINTS_Y, index, table.y, size);
}

void lw_read_tables(lw_reader *reader, const lw_yaml *section) {
    lw_reader_section(reader, section, "table", &reader->table_names, read_table);
}

/* read_input.c - a column of a file over its first column, the time, as the default of an input.
 *
 * The column becomes a table of the spec with a name of its own, NAME_over_time, and the default of the input
 * the expression NAME_over_time(t).
 */
#include "expression/units.h"
#include "io/table_file.h"
#include "model/spec/spec_storage.h"

#include <linkwork/io.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 200 };

static lw_status find_input(const lw_spec *spec, const char *input, size_t *index, lw_error *error) {
    char remedy[160] = "the model has no inputs; give it some, e.g. inputs: {throttle: 0}";
    lw_closest_search search = lw_closest_to(input);
    for (size_t k = 0; k < spec->input_count; k++) {
        *index = k;
        if (strcmp(spec->inputs[k].name, input) == 0) return LW_OK;
        lw_closest_try(&search, spec->inputs[k].name);
    }
    if (!lw_did_you_mean(search.name, remedy, sizeof remedy) && spec->input_count > 0)
        (void)snprintf(remedy, sizeof remedy, "name one of its inputs, e.g. %.60s", spec->inputs[0].name);
    return lw_fail_at(error, LW_ERROR_ARGUMENT, spec->file, (lw_place){0, 0}, NULL, NULL, remedy,
                      "there is no input \"%.80s\"", input);
}

static bool is_taken(const lw_spec *spec, const char *name) {
    bool taken = false;
    for (size_t k = 0; k < spec->parameter_count; k++) taken |= strcmp(spec->parameters[k].name, name) == 0;
    for (size_t k = 0; k < spec->input_count; k++) taken |= strcmp(spec->inputs[k].name, name) == 0;
    for (size_t k = 0; k < spec->state_count; k++) taken |= strcmp(spec->states[k].name, name) == 0;
    for (size_t k = 0; k < spec->signal_count; k++) taken |= strcmp(spec->signals[k].name, name) == 0;
    for (size_t k = 0; k < spec->table_count; k++) taken |= strcmp(spec->tables[k].name, name) == 0;
    return taken;
}

static lw_status add_table(lw_spec *spec, const char *input, const lw_table_file *points) {
    char name[LONGEST], expression[LONGEST + 8];
    (void)snprintf(name, sizeof name - 40, "%.80s_over_time", input);
    while (is_taken(spec, name) && strlen(name) + 2 < sizeof name) (void)strcat(name, "_");
    (void)snprintf(expression, sizeof expression, "%s(t)", name);
    const lw_table_spec table = {.name = name, .size = (int)points->count, .x = points->x, .y = points->y};
    lw_status status = lw_spec_add_table(spec, &table);
    return status == LW_OK ? lw_spec_set_input_expression(spec, input, expression) : status;
}

lw_status lw_read_input(lw_spec *spec, const char *input, const char *path, const char *column,
                        lw_error *error) {
    if (!spec || !input || !path || !column)
        return lw_call_needs("a spec, an input, a path and a column", error);
    lw_table_file points;
    size_t index = 0;
    lw_status status = find_input(spec, input, &index, error);
    if (status == LW_OK) status = lw_table_file_read(path, NULL, column, &points, error);
    if (status != LW_OK) return status;
    const lw_meaning *wanted = &spec->inputs[index].meaning, *given = &points.y_measure;
    if (wanted->kind == LW_MEANING_SURE && given->kind == LW_MEANING_SURE &&
        !lw_meaning_same(wanted, given)) {
        char here[64], there[64];
        lw_meaning_name(given, here, sizeof here);
        lw_meaning_name(wanted, there, sizeof there);
        status = lw_fail_at(error, LW_ERROR_FILE, path, (lw_place){0, 0}, "input", input,
                            "check the unit in the name of the column", "the column is %s, the input %s",
                            here, there);
    } else if (lw_meaning_fit(&points.x_measure, LW_TIME, false) != LW_FITS)
        status = lw_fail_at(error, LW_ERROR_FILE, path, (lw_place){0, 0}, "input", input,
                            "put the time first, e.g. time [s]", "the first column of the file is no time");
    else if (points.count > INT_MAX)
        status = lw_out_of_memory(error);
    else
        status = add_table(spec, input, &points);
    lw_table_file_free(&points);
    if (status == LW_ERROR_MEMORY) return lw_out_of_memory(error);
    return status;
}

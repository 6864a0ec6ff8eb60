/* results.c - results files: their quantities, format and metadata.
 *
 * The head has the version, the model (name, file, text), the method and all options; the end has the summary
 * and the energy ledger. The model's text is read again from its file, if the file still exists.
 */
#define _POSIX_C_SOURCE 200809L
#include "io/results/results_file.h"
#include "io/results/results_writer.h"

#include <linkwork/io.h>
#include <linkwork/version.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_MODEL_TEXT = 16 << 20, MOST_ENTRIES = 32 };

struct lw_results {
    lw_arena *arena;
    lw_record *record;
    lw_results_writer *writer;
    double *row;
    lw_results_mark *events;
    size_t event_count, event_room;
    size_t count; /* columns */
};

lw_status lw_results_fault(lw_error *error, const char *path, const char *action, const char *reason) {
    char object[112];
    snprintf(object, sizeof object, "results file \"%.90s\"", path);
    const char *remedy = strcmp(action, "opened") == 0
                             ? "give a path in an existing folder where you may write"
                             : "free some space or write elsewhere; the rows so far are kept";
    return lw_fail(error, LW_ERROR_FILE, object, remedy, "cannot be %s: %s", action, reason);
}

/* --- metadata ------------------------------------------------------------------------------------- */

typedef struct entries {
    lw_entry at[MOST_ENTRIES];
    size_t count;
} entries;

static void add_text(entries *list, const char *key, const char *text) {
    if (!text || !text[0]) return;
    list->at[list->count++] = (lw_entry){.key = key, .kind = LW_ENTRY_TEXT, .text = text};
}

static void add_number(entries *list, const char *key, double number) {
    list->at[list->count++] = (lw_entry){.key = key, .kind = LW_ENTRY_NUMBER, .number = number};
}

static void add_integer(entries *list, const char *key, long integer) {
    list->at[list->count++] = (lw_entry){.key = key, .kind = LW_ENTRY_INTEGER, .integer = integer};
}

/* The settings, separated by commas; NULL if there is no memory. */
static const char *settings_text(lw_arena *arena, const lw_results_options *options) {
    size_t size = 1, used = 0;
    for (size_t k = 0; k < options->setting_count; k++) size += strlen(options->settings[k]) + 2;
    char *text = LW_NEW(arena, char, size);
    for (size_t k = 0; text && k < options->setting_count; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", k ? ", " : "", options->settings[k]);
    return text;
}

static void describe_run(entries *list, const lw_model *model, const lw_results_options *options,
                         const char *settings) {
    add_text(list, "linkwork", LW_VERSION);
    add_text(list, "model", lw_model_name(model));
    add_text(list, "file", lw_model_file(model));
    add_text(list, "set", settings);
    add_text(list, "method", options->method);
    add_text(list, "integrator", options->integrator);
    add_text(list, "drift", options->drift);
    if (options->end > options->start) {
        add_number(list, "start", options->start);
        add_number(list, "end", options->end);
    }
    if (options->step > 0) add_number(list, "step", options->step);
    if (options->tolerance > 0) add_number(list, "tolerance", options->tolerance);
    if (options->output > 0) add_number(list, "output", options->output);
    if (options->neglect > 0) add_number(list, "neglect_mass", options->neglect);
    add_text(list, "record", options->record ? options->record : LW_RECORD_DEFAULT);
}

static void describe_end(entries *list, const lw_run_summary *s) {
    add_text(list, "method", s->method);
    add_text(list, "integrator", s->integrator);
    add_number(list, "t_end", s->t_end);
    add_integer(list, "samples", s->samples);
    add_integer(list, "steps", s->steps);
    add_integer(list, "rejected", s->rejected);
    add_integer(list, "evaluations", s->evaluations);
    add_number(list, "wall_s", s->wall_s);
    add_number(list, "energy_initial", s->energy_initial);
    add_number(list, "energy_final", s->energy_final);
    add_number(list, "energy_max_drift", s->energy_max_drift);
    add_number(list, "position_violation_max", s->position_max);
    add_number(list, "velocity_violation_max", s->velocity_max);
    add_number(list, "kinetic", s->ledger.kinetic);
    add_number(list, "potential", s->ledger.potential);
    add_number(list, "drives", s->ledger.drives);
    add_number(list, "forces", s->ledger.forces);
    add_number(list, "dissipation", s->ledger.dissipation);
    add_number(list, "unaccounted", s->ledger.unaccounted);
    add_number(list, "balance_max", s->balance_max);
    add_text(list, "verdict", s->verdict.ok ? "ok" : "doubtful");
    static const char *const keys[LW_REASONS_MAX] = {"reason",   "reason_2", "reason_3",
                                                     "reason_4", "reason_5", "reason_6"};
    for (int k = 0; k < s->verdict.reason_count; k++) add_text(list, keys[k], s->verdict.reasons[k]);
}

/* The text of the model's file, or NULL if it is not a regular file (a pipe has been read), too long or
 * unreadable. */
static const char *model_text(lw_arena *arena, const char *path) {
    struct stat about;
    if (!path || !path[0] || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return NULL;
    if (about.st_size <= 0 || about.st_size > MOST_MODEL_TEXT) return NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    size_t size = (size_t)about.st_size;
    char *text = LW_NEW(arena, char, size + 1);
    bool whole = text && fread(text, 1, size, file) == size && !memchr(text, '\0', size);
    fclose(file);
    return whole ? text : NULL;
}

/* --- format --------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static const lw_format *format_of(const char *path) {
    const lw_format *const formats[] = {&lw_format_csv, &lw_format_hdf5};
    if (strcmp(path, "-") == 0) return &lw_format_csv;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        for (int i = 0; i < 3 && formats[k]->endings[i]; i++)
            if (ends_with(path, formats[k]->endings[i])) return formats[k];
    return NULL;
}

static lw_status check_path(const char *path, const lw_format **format, lw_error *error) {
    if (!path || !path[0])
        return lw_fail(error, LW_ERROR_ARGUMENT, "results file", "give a path, or \"-\" for standard output",
                       "it has no name");
    *format = format_of(path);
    if (*format) return LW_OK;
    char object[112];
    snprintf(object, sizeof object, "results file \"%.90s\"", path);
    return lw_fail(error, LW_ERROR_ARGUMENT, object,
                   "end it in .csv for comma-separated values, in .h5 or .hdf5 for HDF5",
                   "its ending names no format");
}

/* --- public --------------------------------------------------------------------------------------- */

static void release(lw_results *results) {
    lw_record_destroy(results->record);
    lw_arena_destroy(results->arena);
}

static lw_status fill(lw_results *results, const lw_model *model, const lw_results_options *options,
                      const lw_format *format, lw_error *error) {
    const char *list = options->record ? options->record : LW_RECORD_DEFAULT;
    lw_status status = lw_record_create(model, list, &results->record, error);
    if (status != LW_OK) return status;
    size_t count = lw_record_count(results->record);
    results->count = count;
    const char *settings = settings_text(results->arena, options);
    results->row = LW_NEW(results->arena, double, count);
    if (!settings || !results->row)
        return lw_fail(error, LW_ERROR_MEMORY, "results file", NULL, "memory is out");

    entries about = {.count = 0};
    describe_run(&about, model, options, settings);
    double span = options->end - options->start,
           interval = options->output > 0 ? options->output : span / 1000;
    const lw_head head = {.path = options->path,
                          .entries = about.at,
                          .entry_count = about.count,
                          .model_text = model_text(results->arena, lw_model_file(model)),
                          .spec = model->kept.bytes,
                          .spec_size = model->kept.size,
                          .columns = lw_record_columns(results->record),
                          .column_count = count,
                          .expected_rows = span > 0 ? span / interval + 1 : 0};
    return format->open(&head, &results->writer, error);
}

lw_status lw_results_open(const lw_model *model, const lw_results_options *options, lw_results **out,
                          lw_error *error) {
    if (out) *out = NULL;
    if (!model || !options || !out || (options->setting_count > 0 && !options->settings))
        return lw_call_needs("a model, options with a path, and a place for the results", error);
    const lw_format *format;
    lw_status status = check_path(options->path, &format, error);
    if (status != LW_OK) return status;
    lw_arena *arena = lw_arena_create(NULL);
    lw_results *results = LW_NEW(arena, lw_results, 1);
    if (!results) {
        lw_arena_destroy(arena);
        return lw_fail(error, LW_ERROR_MEMORY, "results file", NULL, "memory is out");
    }
    results->arena = arena;
    status = fill(results, model, options, format, error);
    if (status != LW_OK) {
        release(results);
        return status;
    }
    *out = results;
    return LW_OK;
}

bool lw_results_want_accelerations(const lw_results *results) {
    return results && lw_record_accelerations(results->record);
}

bool lw_results_want_reactions(const lw_results *results) {
    return results && lw_record_reactions(results->record);
}

bool lw_results_want_works(const lw_results *results) { return results && lw_record_works(results->record); }

lw_status lw_results_write(lw_results *results, const lw_sample *sample) {
    if (!results || !sample || !sample->q || !sample->v) return LW_ERROR_ARGUMENT;
    (void)lw_record_row(results->record, sample, results->row);
    return results->writer->format->row(results->writer, results->row);
}

lw_status lw_results_event(lw_results *results, double t, const char *name) {
    if (!results || !name) return LW_ERROR_ARGUMENT;
    if (results->event_count == results->event_room) { /* Doubling leaves less behind than is in use. */
        const size_t room = results->event_room ? 2 * results->event_room : 64;
        lw_results_mark *longer = LW_NEW(results->arena, lw_results_mark, room);
        if (!longer) return LW_ERROR_MEMORY;
        if (results->event_count) memcpy(longer, results->events, results->event_count * sizeof *longer);
        results->events = longer, results->event_room = room;
    }
    const char *copy = lw_arena_text(results->arena, name);
    if (!copy) return LW_ERROR_MEMORY;
    results->events[results->event_count++] = (lw_results_mark){t, copy};
    return LW_OK;
}

const char *lw_results_lacking_work(const lw_results *results, const lw_results_table *table, size_t row) {
    const lw_record_column *names = lw_record_columns(results->record);
    for (size_t k = 0; k < results->count; k++) {
        if (!lw_record_is_work(results->record, k)) continue;
        const int column = lw_results_table_column(table, names[k].name);
        if (column < 0 || !isfinite(table->columns[column].values[row])) return names[k].name;
    }
    return NULL;
}

/* The last row that is copied. */
typedef struct last_row {
    const lw_results_table *table;
    size_t row;
} last_row;

static double value_of(void *context, const char *name) {
    const last_row *last = context;
    const int column = lw_results_table_column(last->table, name);
    return column >= 0 && last->table->columns[column].values ? last->table->columns[column].values[last->row]
                                                              : NAN;
}

lw_status lw_results_copy(lw_results *results, const lw_results_table *table, size_t rows, lw_error *error) {
    const lw_record_column *names = lw_record_columns(results->record);
    const double **from = LW_NEW(results->arena, const double *, results->count);
    if (!from) return lw_fail(error, LW_ERROR_MEMORY, "results file", NULL, "memory is out");
    for (size_t k = 0; k < results->count; k++) {
        const int column = lw_results_table_column(table, names[k].name);
        from[k] = column >= 0 ? table->columns[column].values : NULL;
    }
    lw_status status = LW_OK;
    for (size_t row = 0; row < rows && status == LW_OK; row++) {
        for (size_t k = 0; k < results->count; k++) results->row[k] = from[k] ? from[k][row] : NAN;
        status = results->writer->format->row(results->writer, results->row);
    }
    if (rows > 0) lw_record_go_on(results->record, value_of, &(last_row){table, rows - 1});
    return status; /* Faults of writing are reported when the file is closed. */
}

lw_status lw_results_close(lw_results *results, const lw_run_summary *summary, lw_error *error) {
    if (!results) return LW_OK;
    entries end = {.count = 0};
    if (summary) describe_end(&end, summary);
    const lw_results_end last = {end.at, end.count, results->events, results->event_count};
    lw_status status = results->writer->format->close(results->writer, &last, error);
    release(results);
    return status;
}

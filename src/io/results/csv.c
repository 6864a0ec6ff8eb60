/* csv.c - writes results as comma-separated values (RFC 4180), one row per sample.
 *
 *     # linkwork: <version>
 *     # model: <name>            and other metadata of the run, "# key: value"
 *     #| <text of the model, line by line>
 *     #= <the whole model as bytes (lw_spec_save), base64, in at most 64 lines>
 *     t [s],<name [unit]>,...
 *     0,...
 *     # t_end: <time>            and other entries of the summary
 *
 * Numbers have the fewest digits (15 to 17) that read back equal; unknown values are empty fields. Rows are
 * collected in a buffer, which is written when it is full or a second old, always at the end of a row, so
 * that a run that is killed leaves a readable file.
 */
#include "io/number.h"
#include "io/results/base64.h"
#include "io/results/results_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BUFFER_SIZE = 1 << 16 };

typedef struct {
    lw_results_writer base;
    lw_arena *arena;
    const char *path;
    size_t columns;
    FILE *file;
    int fault; /* errno of the first write that failed, or 0 */

    char *buffer;
    size_t used, capacity; /* A row always fits into the capacity after a flush. */
    time_t flushed;
} csv_writer;

/* --- output; faults are recorded and reported at the end ------------------------------------------ */

static void flush(csv_writer *csv) {
    if (csv->fault == 0 && csv->used > 0) {
        errno = 0;
        if (fwrite(csv->buffer, 1, csv->used, csv->file) != csv->used || fflush(csv->file) != 0) {
            csv->fault = errno ? errno : EIO;
        }
    }
    csv->used = 0;
}

static void put(csv_writer *csv, const char *bytes, size_t size) {
    while (size > 0) {
        if (csv->used == csv->capacity) flush(csv);
        size_t room = csv->capacity - csv->used, part = size < room ? size : room;
        memcpy(csv->buffer + csv->used, bytes, part);
        csv->used += part;
        bytes += part;
        size -= part;
    }
}

static void put_text(csv_writer *csv, const char *text) { put(csv, text, strlen(text)); }

static void put_entry(csv_writer *csv, const lw_entry *entry) {
    char text[LW_NUMBER_SIZE] = "";
    if (entry->kind == LW_ENTRY_NUMBER) (void)lw_number_print(entry->number, text);
    if (entry->kind == LW_ENTRY_INTEGER) snprintf(text, sizeof text, "%ld", entry->integer);
    put_text(csv, "# ");
    put_text(csv, entry->key);
    put_text(csv, ": ");
    /* Characters that would end the line become blanks. */
    const char *value = entry->kind == LW_ENTRY_TEXT ? entry->text : text;
    for (; *value; value++) put(csv, (unsigned char)*value < ' ' ? " " : value, 1);
    put_text(csv, "\n");
}

static void put_model(csv_writer *csv, const char *text) {
    while (*text) {
        size_t length = strcspn(text, "\r\n");
        put_text(csv, length > 0 ? "#| " : "#|");
        put(csv, text, length);
        put_text(csv, "\n");
        text += length;
        if (text[0] == '\r' && text[1] == '\n') text++;
        if (*text) text++;
    }
}

/* The longer the bytes, the longer the lines: a reader that shows the head shows few of them. */
static void put_spec(csv_writer *csv, const unsigned char *bytes, size_t size) {
    enum { MOST_LINES = 64, SHORTEST = 3 * 1024, PIECE = 3 * 64 };
    size_t line = size / MOST_LINES + 1;
    if (line < SHORTEST) line = SHORTEST;
    line += (3 - line % 3) % 3; /* Whole fours of letters. */
    for (size_t start = 0; start < size; start += line) {
        const size_t end = start + line < size ? start + line : size;
        put_text(csv, "#= ");
        for (size_t at = start; at < end; at += PIECE) {
            char text[4 * PIECE / 3];
            put(csv, text, lw_base64_write(bytes + at, end - at < PIECE ? end - at : PIECE, text));
        }
        put_text(csv, "\n");
    }
}

/* Writes "name [unit]", with quotes if the name needs them. */
static void put_column(csv_writer *csv, const lw_record_column *column) {
    bool quoted = strpbrk(column->name, ",\"\n\r") != NULL;
    if (quoted) put_text(csv, "\"");
    for (const char *c = column->name; *c; c++) {
        if (*c == '"') put(csv, c, 1); /* Quotes are doubled. */
        put(csv, c, 1);
    }
    if (column->unit[0]) {
        put_text(csv, " [");
        put_text(csv, column->unit);
        put_text(csv, "]");
    }
    if (quoted) put_text(csv, "\"");
}

static void put_head(csv_writer *csv, const lw_head *head) {
    for (size_t k = 0; k < head->entry_count; k++) put_entry(csv, &head->entries[k]);
    if (head->model_text) put_model(csv, head->model_text);
    if (head->spec) put_spec(csv, head->spec, head->spec_size);
    for (size_t k = 0; k < head->column_count; k++) {
        if (k > 0) put_text(csv, ",");
        put_column(csv, &head->columns[k]);
    }
    put_text(csv, "\n");
}

/* --- the format ----------------------------------------------------------------------------------- */

static csv_writer *create(const lw_head *head) {
    lw_arena *arena = lw_arena_create(NULL);
    csv_writer *csv = LW_NEW(arena, csv_writer, 1);
    if (csv) {
        csv->base.format = &lw_format_csv;
        csv->arena = arena;
        csv->path = lw_arena_text(arena, head->path);
        csv->columns = head->column_count;
        csv->capacity = BUFFER_SIZE + head->column_count * (LW_NUMBER_SIZE + 1);
        csv->buffer = LW_NEW(arena, char, csv->capacity);
    }
    if (csv && csv->path && csv->buffer) return csv;
    lw_arena_destroy(arena);
    return NULL;
}

/* Writes "# event: time name". */
static void put_event(csv_writer *csv, const lw_results_mark *event) {
    char text[LW_NUMBER_SIZE];
    (void)lw_number_print(event->t, text);
    put_text(csv, "# event: ");
    put_text(csv, text);
    put_text(csv, " ");
    for (const char *c = event->name; *c; c++) put(csv, (unsigned char)*c < ' ' ? " " : c, 1);
    put_text(csv, "\n");
}

static lw_status close_csv(lw_results_writer *writer, const lw_results_end *end, lw_error *error) {
    csv_writer *csv = (csv_writer *)writer;
    for (size_t k = 0; end && k < end->event_count; k++) put_event(csv, &end->events[k]);
    for (size_t k = 0; end && k < end->entry_count; k++) put_entry(csv, &end->entries[k]);
    flush(csv);
    errno = 0;
    if (csv->file != stdout && fclose(csv->file) != 0 && csv->fault == 0) csv->fault = errno ? errno : EIO;
    lw_status status = LW_OK;
    if (csv->fault) status = lw_results_fault(error, csv->path, "written", strerror(csv->fault));
    lw_arena_destroy(csv->arena);
    return status;
}

static lw_status open_csv(const lw_head *head, lw_results_writer **writer, lw_error *error) {
    csv_writer *csv = create(head);
    if (!csv) return lw_fail(error, LW_ERROR_MEMORY, "results file", NULL, "memory is out");
    errno = 0;
    bool standard_output = strcmp(csv->path, "-") == 0;
    csv->file = standard_output ? stdout : fopen(csv->path, "wb");
    if (!csv->file) {
        int fault = errno;
        lw_arena_destroy(csv->arena);
        return lw_results_fault(error, head->path, "opened", strerror(fault));
    }
    /* The buffer of this file is enough, and passes whole rows to the system. */
    if (!standard_output) (void)setvbuf(csv->file, NULL, _IONBF, 0);
    put_head(csv, head);
    flush(csv);
    csv->flushed = time(NULL);
    if (csv->fault) return close_csv(&csv->base, NULL, error);
    *writer = &csv->base;
    return LW_OK;
}

static lw_status write_row(lw_results_writer *writer, const double *values) {
    csv_writer *csv = (csv_writer *)writer;
    for (size_t k = 0; k < csv->columns; k++) {
        char text[LW_NUMBER_SIZE];
        if (k > 0) put(csv, ",", 1);
        if (!isnan(values[k])) put(csv, text, (size_t)lw_number_print(values[k], text));
    }
    put(csv, "\n", 1);

    time_t now = time(NULL);
    if (csv->used >= BUFFER_SIZE || now != csv->flushed) {
        flush(csv);
        csv->flushed = now;
    }
    return csv->fault ? LW_ERROR_FILE : LW_OK;
}

const lw_format lw_format_csv = {{".csv"}, open_csv, write_row, close_csv};

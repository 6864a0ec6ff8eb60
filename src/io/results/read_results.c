/* read_results.c - reads columns of a results file: finds its format, and reads comma-separated values (RFC
 * 4180) as csv.c writes them; hdf5.c reads HDF5.
 *
 * Lines that start with # are metadata, "# key: value"; blank lines are ignored; the first other line is the
 * header. A last row that is shorter than the others and has no end of line was left by a killed run, and is
 * dropped unless the caller asks for strictness. The file is read in one pass, with memory only for the
 * requested columns.
 */
#define _POSIX_C_SOURCE 200809L

#include "io/results/read_results.h"
#include "io/number.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A longer field means that a quote is not closed, or that the file has another format. */
enum { LONGEST_FIELD = 1 << 20, BUFFER_SIZE = 1 << 16 };

/* A line "# key: value". */
typedef struct metadata {
    const char *line; /* "key: value" */
    struct metadata *next;
} metadata;

/* A table and the state of its reader. */
typedef struct {
    lw_results_table table; /* the public part; it must be the first member */
    lw_arena *arena;
    const char *path;
    FILE *file;
    char *buffer;
    size_t at, filled; /* of the buffer */
    int line;          /* line of the next character */
    char *field;       /* the last field read */
    size_t field_length, field_capacity;
    size_t row_capacity;
    size_t event_room;
    struct metadata *metadata; /* the last line first */
    char *model_text;          /* its lines, each with an end of line; NULL: none */
    size_t model_length, model_capacity;
} table_reader;

typedef enum { END_FIELD, END_LINE, END_FILE, END_MEMORY, END_TOO_LONG } ending;

static lw_status fail_at(const table_reader *reader, lw_error *error, int line, const char *object,
                         const char *remedy, const char *message) {
    if (!error) return LW_ERROR_FILE;
    (void)lw_fail(error, LW_ERROR_FILE, object, remedy, "%s", message);
    snprintf(error->file, sizeof error->file, "%s", reader->path);
    error->place.line = line;
    return LW_ERROR_FILE;
}

static lw_status out_of_memory(const table_reader *reader, lw_error *error) {
    return lw_fail(error, LW_ERROR_MEMORY, reader->path, NULL, "memory is out");
}

/* --- fields --------------------------------------------------------------------------------------- */

static bool append(table_reader *reader, char letter) {
    if (reader->field_length + 1 >= reader->field_capacity) {
        size_t capacity = reader->field_capacity ? 2 * reader->field_capacity : 256;
        char *field = realloc(reader->field, capacity);
        if (!field) return false;
        reader->field = field;
        reader->field_capacity = capacity;
    }
    reader->field[reader->field_length++] = letter;
    reader->field[reader->field_length] = '\0';
    return true;
}

static int peek(table_reader *reader) {
    if (reader->at == reader->filled) {
        reader->at = 0;
        reader->filled = fread(reader->buffer, 1, BUFFER_SIZE, reader->file);
        if (reader->filled == 0) return EOF;
    }
    return (unsigned char)reader->buffer[reader->at];
}

static inline int next(table_reader *reader) {
    int letter = reader->at < reader->filled ? (unsigned char)reader->buffer[reader->at] : peek(reader);
    if (letter == EOF) return EOF;
    reader->at++;
    reader->line += letter == '\n';
    return letter;
}

/* Reads one field into reader->field and returns how it ended. */
static ending read_field(table_reader *reader) {
    bool quoted = false;
    reader->field_length = 0;
    if (!append(reader, ' ')) return END_MEMORY; /* An empty field needs memory, too. */
    reader->field_length = 0;
    reader->field[0] = '\0';
    for (;;) {
        int letter = next(reader);
        if (letter == EOF) return END_FILE;
        if (letter == '"') {
            if (quoted && peek(reader) == '"') {
                (void)next(reader);
            } else {
                quoted = !quoted;
                continue;
            }
        } else if (!quoted) {
            if (letter == ',') return END_FIELD;
            if (letter == '\n') return END_LINE;
            if (letter == '\r' && peek(reader) == '\n') continue;
        }
        if (reader->field_length >= LONGEST_FIELD) return END_TOO_LONG;
        if (!append(reader, (char)letter)) return END_MEMORY;
    }
}

static lw_status field_fault(table_reader *reader, lw_error *error, ending end, int line) {
    if (end == END_MEMORY) return out_of_memory(reader, error);
    return fail_at(reader, error, line, NULL, "look for a quotation mark that is not closed",
                   "a field that starts here is longer than a million characters");
}

/* --- metadata and header -------------------------------------------------------------------------- */

/* Takes "time name" of an event; a line that is none is passed over. */
static bool take_event(table_reader *reader, const char *text) {
    lw_results_table *table = &reader->table;
    const size_t room = reader->event_room;
    char number[LW_NUMBER_SIZE + 8];
    const size_t length = strcspn(text, " ");
    if (length == 0 || length >= sizeof number || text[length] == '\0') return true;
    snprintf(number, sizeof number, "%.*s", (int)length, text);
    lw_results_moment event = {.name = lw_arena_text(reader->arena, text + length + 1)};
    if (!event.name) return false;
    if (!lw_number_read(number, &event.t)) return true;
    if (table->event_count == room) {
        reader->event_room = room ? 2 * room : 64;
        lw_results_moment *longer = LW_NEW(reader->arena, lw_results_moment, reader->event_room);
        if (!longer) return false;
        if (room) memcpy(longer, table->events, room * sizeof *longer);
        table->events = longer;
    }
    table->events[table->event_count++] = event;
    return true;
}

/* Appends a line of the model's text. */
static bool take_model_line(table_reader *reader, const char *line) {
    size_t length = strlen(line);
    if (reader->model_length + length + 2 > reader->model_capacity) {
        size_t capacity = 2 * reader->model_capacity + length + 1024;
        char *text = realloc(reader->model_text, capacity);
        if (!text) return false;
        reader->model_text = text;
        reader->model_capacity = capacity;
    }
    memcpy(reader->model_text + reader->model_length, line, length);
    reader->model_length += length + 1;
    reader->model_text[reader->model_length - 1] = '\n';
    reader->model_text[reader->model_length] = '\0';
    return true;
}

static bool take_metadata(table_reader *reader, const char *line) {
    static const char *const event = " event: ";
    if (strncmp(line, event, strlen(event)) == 0) return take_event(reader, line + strlen(event));

    if (line[0] == '|') return take_model_line(reader, line + 1 + (line[1] == ' '));
    if (line[0] == ' ' && strstr(line, ": ")) {
        metadata *entry = LW_NEW(reader->arena, metadata, 1);
        if (!entry || !(entry->line = lw_arena_text(reader->arena, line + 1))) return false;
        entry->next = reader->metadata;
        reader->metadata = entry;
    }
    const struct {
        const char *key;
        const char **value;
    } known[] = {{" model: ", &reader->table.model},
                 {" method: ", &reader->table.method},
                 {" integrator: ", &reader->table.integrator}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        size_t length = strlen(known[k].key);
        if (strncmp(line, known[k].key, length) != 0) continue;
        *known[k].value = lw_arena_text(reader->arena, line + length);
        return *known[k].value != NULL;
    }
    return true;
}

/* Reads the rest of a line after #. */
static ending read_metadata(table_reader *reader) {
    reader->field_length = 0;
    for (;;) {
        int letter = next(reader);
        if (letter == EOF || letter == '\n') {
            if (reader->field_length > 0 && !take_metadata(reader, reader->field)) return END_MEMORY;
            return letter == EOF ? END_FILE : END_LINE;
        }
        if (letter == '\r' || reader->field_length >= LONGEST_FIELD) continue;
        if (!append(reader, (char)letter)) return END_MEMORY;
    }
}

/* Advances to the next line that is neither metadata nor blank; END_LINE if there is one. */
static ending find_line(table_reader *reader) {
    for (;;) {
        int letter = peek(reader);
        if (letter == EOF) return END_FILE;
        if (letter == '\n' || letter == '\r') {
            (void)next(reader);
        } else if (letter == '#') {
            (void)next(reader);
            ending end = read_metadata(reader);
            if (end != END_LINE) return end;
        } else {
            return END_LINE;
        }
    }
}

/* Splits "name [unit]". */
static bool split_header(table_reader *reader, lw_column *column) {
    const char *header = column->header, *bracket = strrchr(header, '[');
    size_t length = strlen(header);
    column->name = header;
    column->unit = "";
    if (!bracket || bracket == header || bracket[-1] != ' ' || header[length - 1] != ']') return true;
    char *name = lw_arena_text(reader->arena, header), *unit = lw_arena_text(reader->arena, bracket + 1);
    if (!name || !unit) return false;
    name[bracket - header - 1] = '\0';
    unit[strlen(unit) - 1] = '\0';
    column->name = name;
    column->unit = unit;
    return true;
}

static bool add_column(table_reader *reader, size_t *capacity) {
    lw_results_table *table = &reader->table;
    if (table->column_count == *capacity) {
        size_t longer = *capacity ? 2 * *capacity : 64;
        lw_column *columns = LW_NEW(reader->arena, lw_column, longer);
        if (!columns) return false;
        if (table->column_count > 0) memcpy(columns, table->columns, table->column_count * sizeof *columns);
        table->columns = columns;
        *capacity = longer;
    }
    lw_column *column = &table->columns[table->column_count];
    *column = (lw_column){.header = lw_arena_text(reader->arena, reader->field)};
    if (!column->header || !split_header(reader, column)) return false;
    table->column_count++;
    return true;
}

static void skip_byte_order_mark(table_reader *reader) {
    const unsigned char mark[3] = {0xEF, 0xBB, 0xBF};
    for (int k = 0; k < 3 && peek(reader) == mark[k]; k++) (void)next(reader);
}

static lw_status read_header(table_reader *reader, lw_error *error) {
    size_t capacity = 0;
    skip_byte_order_mark(reader);
    ending end = find_line(reader);
    if (end == END_MEMORY) return out_of_memory(reader, error);
    if (end == END_FILE) {
        return fail_at(reader, error, reader->line, NULL,
                       "give a results file as \"linkwork run --out\" writes it",
                       "the file has no line with the names of the columns");
    }
    for (end = END_FIELD; end == END_FIELD;) {
        int line = reader->line;
        end = read_field(reader);
        if (end == END_MEMORY || end == END_TOO_LONG) return field_fault(reader, error, end, line);
        if (!add_column(reader, &capacity)) return out_of_memory(reader, error);
    }
    return LW_OK;
}

static void release(table_reader *reader) {
    if (reader->file) fclose(reader->file);
    free(reader->buffer);
    free(reader->table.lines);
    for (size_t k = 0; k < reader->table.column_count; k++) free(reader->table.columns[k].values);
    free(reader->field);
    free(reader->model_text);
    lw_arena_destroy(reader->arena);
    free(reader);
}

static void close_csv(lw_results_table *table) { release((table_reader *)table); }

static const char *csv_text(lw_results_table *table, const char *key) {
    const table_reader *reader = (table_reader *)table;
    if (strcmp(key, "model_text") == 0) return reader->model_text ? reader->model_text : "";
    size_t length = strlen(key);
    for (const metadata *entry = reader->metadata; entry; entry = entry->next)
        if (strncmp(entry->line, key, length) == 0 && entry->line[length] == ':' &&
            entry->line[length + 1] == ' ')
            return entry->line + length + 2;
    return "";
}

static lw_status read_csv(lw_results_table *table, lw_error *error);

static lw_status open_csv(const char *path, lw_results_table **table, lw_error *error) {
    table_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return lw_fail(error, LW_ERROR_MEMORY, path, NULL, "memory is out");
    reader->line = 1;
    reader->table.read = read_csv;
    reader->table.text = csv_text;
    reader->table.close = close_csv;
    reader->table.model = reader->table.method = reader->table.integrator = "";
    reader->arena = lw_arena_create(NULL);
    reader->path = lw_arena_text(reader->arena, path);
    reader->buffer = malloc(BUFFER_SIZE);
    lw_status status = LW_OK;
    errno = 0;
    if (!reader->path || !reader->buffer) {
        status = lw_fail(error, LW_ERROR_MEMORY, path, NULL, "memory is out");
    } else if (!(reader->file = fopen(path, "rb"))) {
        char message[256];
        snprintf(message, sizeof message, "cannot be opened: %s", strerror(errno));
        status = fail_at(reader, error, 0, NULL, "give the path of a results file", message);
    } else {
        status = read_header(reader, error);
    }
    if (status != LW_OK) {
        release(reader);
        return status;
    }
    *table = &reader->table;
    return LW_OK;
}

/* --- rows ----------------------------------------------------------------------------------------- */

static bool make_room(table_reader *reader) {
    lw_results_table *table = &reader->table;
    if (table->row_count < reader->row_capacity) return true;
    size_t capacity = reader->row_capacity ? 2 * reader->row_capacity : 1024;
    if (capacity > SIZE_MAX / sizeof(double)) return false;
    for (size_t k = 0; k < table->column_count; k++) {
        if (!table->columns[k].wanted) continue;
        double *values = realloc(table->columns[k].values, capacity * sizeof *values);
        if (!values) return false;
        table->columns[k].values = values;
    }
    if (table->strict) {
        int *lines = realloc(table->lines, capacity * sizeof *lines);
        if (!lines) return false;
        table->lines = lines;
    }
    reader->row_capacity = capacity;
    return true;
}

static lw_status take_value(table_reader *reader, lw_column *column, int line, lw_error *error) {
    double *value = &column->values[reader->table.row_count];
    *value = NAN;
    if (reader->field_length == 0 || lw_number_read(reader->field, value)) return LW_OK;
    char object[112], message[128];
    snprintf(object, sizeof object, "column \"%.90s\"", column->header);
    snprintf(message, sizeof message, "\"%.60s\" is not a number", reader->field);
    return fail_at(reader, error, line, object, "correct the value or leave it empty", message);
}

/* Reads one row; *dropped says whether it was an incomplete last row. */
static lw_status read_row(table_reader *reader, bool *dropped, lw_error *error) {
    lw_results_table *table = &reader->table;
    size_t count = 0;
    int line = reader->line;
    ending end = END_FIELD;
    lw_status status = LW_OK;
    if (table->lines) table->lines[table->row_count] = line;
    while (end == END_FIELD) {
        end = read_field(reader);
        if (end == END_MEMORY || end == END_TOO_LONG) return field_fault(reader, error, end, line);
        bool kept = count < table->column_count && table->columns[count].wanted && status == LW_OK;
        if (kept) status = take_value(reader, &table->columns[count], line, error);
        count++;
    }
    *dropped = end == END_FILE && !table->strict && (count < table->column_count || status != LW_OK);
    if (*dropped) return LW_OK;
    if (status == LW_OK && count != table->column_count) {
        char message[96];
        snprintf(message, sizeof message, "the row has %zu value%s, but the header names %zu columns", count,
                 count == 1 ? "" : "s", table->column_count);
        status = fail_at(reader, error, line, NULL, "make all rows as long as the header", message);
    }
    return status;
}

static lw_status read_csv(lw_results_table *table, lw_error *error) {
    table_reader *reader = (table_reader *)table;
    for (;;) {
        bool dropped = false;
        ending end = find_line(reader);
        if (end == END_FILE) break;
        if (end == END_MEMORY || !make_room(reader)) return out_of_memory(reader, error);
        lw_status status = read_row(reader, &dropped, error);
        if (status != LW_OK) return status;
        if (!dropped) table->row_count++;
    }
    if (ferror(reader->file)) {
        return fail_at(reader, error, reader->line, NULL, NULL, "the file cannot be read any further");
    }
    if (table->row_count == 0) {
        return fail_at(reader, error, reader->line, NULL, "give at least one row of numbers",
                       "the file has no rows");
    }
    return LW_OK;
}

/* --- either format -------------------------------------------------------------------------------- */

/* Opening a pipe would wait for whoever writes to it, and take bytes that belong to its reader. */
static bool begins_with(const char *path, const void *bytes, size_t size) {
    unsigned char start[16];
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    FILE *file = fopen(path, "rb");
    bool same = file && size <= sizeof start && fread(start, 1, size, file) == size &&
                memcmp(start, bytes, size) == 0;
    if (file) fclose(file);
    return same;
}

bool lw_is_hdf5(const char *path) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
    return begins_with(path, signature, sizeof signature);
}

bool lw_is_results(const char *path) {
    static const char start[] = "# linkwork: ";
    if (lw_is_hdf5(path)) return true;
    if (!begins_with(path, start, sizeof start - 1)) return false;
    FILE *file = fopen(path, "rb");
    bool at_start = true, comment = true, found = false;
    /* A comment of a model file may begin so, too, but has no line of a spec. */
    for (int letter = 0, last = '\n'; file && comment && !found && (letter = getc(file)) != EOF;
         last = letter) {
        at_start = last == '\n';
        if (at_start && letter != '#') comment = false;
        if (at_start && letter == '#') found = (letter = getc(file)) == '=';
    }
    if (file) fclose(file);
    return found;
}

lw_status lw_results_table_open(const char *path, lw_results_table **table, lw_error *error) {
    *table = NULL;
    return lw_is_hdf5(path) ? lw_results_table_open_hdf5(path, table, error) : open_csv(path, table, error);
}

lw_status lw_results_table_read(lw_results_table *table, lw_error *error) {
    return table->read(table, error);
}

void lw_results_table_close(lw_results_table *table) {
    if (table) table->close(table);
}

const char *lw_results_table_text(lw_results_table *table, const char *key) {
    return table->text(table, key);
}

int lw_results_table_column(const lw_results_table *table, const char *name) {
    for (size_t k = 0; k < table->column_count; k++) {
        if (strcmp(table->columns[k].header, name) == 0) return (int)k;
    }
    for (size_t k = 0; k < table->column_count; k++) {
        if (strcmp(table->columns[k].name, name) == 0) return (int)k;
    }
    return -1;
}

/* sweep_csv.c - the rows of a sweep as comma-separated values (RFC 4180).
 *
 *     # linkwork-sweep: <version>       the plan, "# key: value"
 *     run,L,k,max(kinetic) [J],status,reason
 *     0,1,20000,0.25,ok,
 *
 * Rows stand in the order of runs, so that a row waits for those before it, in a heap by its number. A file
 * that was cut off anywhere is the beginning of the whole one: going on drops a last line that is not
 * complete, and begins with the run behind the last row. Numbers have the fewest digits that read back equal.
 *
 * Cost     O(log of the rows that wait) a row.
 */
#define _POSIX_C_SOURCE 200809L
#include "io/number.h"
#include "sweep/sweep_parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct csv_file {
    lw_sweep_file base;
    const lw_sweep *sweep;
    char *path;
    FILE *file; /* for reading the rows from before */
    FILE *out;  /* rows that wait for the disk, in memory: `text`, `length` */
    char *text;
    size_t length;
    off_t end;                 /* of what is on the disk */
    bool broken;               /* it could not be written */
    uint64_t next;             /* the run whose row follows */
    long *places, rows_before; /* where the rows begin that the file had when it was opened */
    lw_sweep_row **waiting;    /* a heap, the smallest run at its head */
    size_t count, room;
} csv_file;

static int column_count(const lw_sweep *sweep) { return sweep->design.variable_count + sweep->measure_count; }

/* --- writing -------------------------------------------------------------------------------------- */

/* A text that a spreadsheet takes for a formula begins with a blank. */
static void put_text(FILE *file, const char *text) {
    const bool formula = text[0] && strchr("=+-@", text[0]);
    const bool quoted = strpbrk(text, ",\"\n\r") != NULL;
    if (quoted) fputc('"', file);
    if (formula) fputc(' ', file);
    for (; *text; text++) {
        if (*text == '"') fputc('"', file);
        fputc(*text, file);
    }
    if (quoted) fputc('"', file);
}

static lw_status fault(const csv_file *csv, lw_error *error) {
    return lw_sweep_file_fault(error, csv->path, "written", strerror(errno ? errno : EIO), NULL);
}

static void put_row(csv_file *csv, const lw_sweep_row *row) {
    fprintf(csv->out, "%llu", (unsigned long long)row->run);
    for (int k = 0; k < column_count(csv->sweep); k++) {
        char text[LW_NUMBER_SIZE];
        const char *word = lw_sweep_text(csv->sweep, k, row->values[k]);
        fputc(',', csv->out);
        if (word)
            put_text(csv->out, word);
        else if (!isnan(row->values[k]))
            (void)lw_number_print(row->values[k], text), fputs(text, csv->out);
    }
    fprintf(csv->out, ",%s,", lw_sweep_status_name(row->status));
    put_text(csv->out, row->reason);
    fputc('\n', csv->out);
}

static void put_head(csv_file *csv) {
    fputs(csv->sweep->head, csv->out);
    fputs("run", csv->out);
    for (int k = 0; k < column_count(csv->sweep); k++) {
        char text[512];
        const char *unit = lw_sweep_column_unit(csv->sweep, k);
        snprintf(text, sizeof text, unit[0] ? "%.400s [%.80s]" : "%.400s%s",
                 lw_sweep_column_name(csv->sweep, k), unit);
        fputc(',', csv->out);
        put_text(csv->out, text);
    }
    fputs(",status,reason\n", csv->out);
}

/* --- the heap of rows that wait --------------------------------------------------------------------- */

static bool wait_for(csv_file *csv, const lw_sweep_row *row) {
    const size_t values = (size_t)column_count(csv->sweep) * sizeof *row->values;
    if (csv->count == csv->room) {
        const size_t room = 2 * csv->room + 64;
        lw_sweep_row **longer = realloc(csv->waiting, room * sizeof *longer);
        if (!longer) return false;
        csv->waiting = longer, csv->room = room;
    }
    lw_sweep_row *own = malloc(sizeof *own + values);
    if (!own) return false;
    *own = *row;
    own->values = (double *)(void *)(own + 1);
    memcpy(own->values, row->values, values);
    size_t k = csv->count++;
    for (; k > 0 && csv->waiting[(k - 1) / 2]->run > own->run; k = (k - 1) / 2)
        csv->waiting[k] = csv->waiting[(k - 1) / 2];
    csv->waiting[k] = own;
    return true;
}

static lw_sweep_row *take_first(csv_file *csv) {
    lw_sweep_row *first = csv->waiting[0], *last = csv->waiting[--csv->count];
    size_t k = 0;
    for (size_t child = 1; child < csv->count; child = 2 * k + 1) {
        if (child + 1 < csv->count && csv->waiting[child + 1]->run < csv->waiting[child]->run) child++;
        if (csv->waiting[child]->run > last->run) break;
        csv->waiting[k] = csv->waiting[child];
        k = child;
    }
    csv->waiting[k] = last;
    return first;
}

/* --- reading what is there -------------------------------------------------------------------------- */

/* The end of the line that begins at text; quotes may hold line ends. NULL: it is not complete. */
static const char *line_end(const char *text, const char *end) {
    bool quoted = false;
    for (; text < end; text++) {
        if (*text == '"') quoted = !quoted;
        if (*text == '\n' && !quoted) return text;
    }
    return NULL;
}

/* Finds the rows of a file that is there, and cuts off a last one that is not complete. */
static lw_status look_through(csv_file *csv, lw_error *error) {
    lw_status status = LW_OK;
    char *text = NULL;
    long size = -1;
    errno = 0;
    if (fseek(csv->file, 0, SEEK_END) == 0) size = ftell(csv->file);
    if (size >= 0) text = malloc((size_t)size + 1);
    if (size >= 0 && !text) return lw_out_of_memory(error);
    rewind(csv->file);
    if (size < 0 || fread(text, 1, (size_t)size, csv->file) != (size_t)size) {
        free(text);
        return lw_sweep_file_fault(error, csv->path, "read", strerror(errno ? errno : EIO), NULL);
    }
    text[size] = '\0';
    const char *at = text, *end = text + size;
    while (*at == '#') { /* The plan, and the line of names behind it. */
        const char *line = line_end(at, end);
        if (!line) break;
        at = line + 1;
    }
    char *head = text;
    const size_t length = (size_t)(at - text);
    const char *names = at < end && *at != '#' ? line_end(at, end) : NULL;
    const size_t known = strlen(csv->sweep->head) < (size_t)size ? strlen(csv->sweep->head) : (size_t)size;
    if (!names && strncmp(text, csv->sweep->head, known) == 0) { /* It was cut off in its head: begin anew. */
        put_head(csv);
        if (ftruncate(fileno(csv->file), 0) != 0) status = fault(csv, error);
    } else if (strncmp(text, "# linkwork-sweep:", 17) != 0) {
        status = lw_sweep_file_fault(error, csv->path, "gone on with", "it is not the file of a sweep",
                                     "give another name");
    } else if (strlen(csv->sweep->head) != length || strncmp(csv->sweep->head, text, length) != 0) {
        head[length] = '\0';
        status = lw_sweep_other_plan(csv->sweep, csv->path, head, error);
    } else {
        const char *first = names + 1;
        size_t rows = 0;
        for (const char *line, *p = first; p < end && (line = line_end(p, end)); p = line + 1) rows++;
        csv->places = malloc((rows + 1) * sizeof *csv->places);
        if (!csv->places) status = lw_out_of_memory(error);
        const char *p = first;
        for (size_t k = 0; k < rows && csv->places; k++, p = line_end(p, end) + 1) {
            if (strtoull(p, NULL, 10) != k || k >= csv->sweep->design.count) {
                status = lw_sweep_file_fault(error, csv->path, "gone on with", "its rows are not in order",
                                             "remove it, or give another name");
                break;
            }
            csv->places[k] = (long)(p - text);
        }
        csv->next = rows, csv->rows_before = (long)rows;
        csv->end = p - text;
        if (status == LW_OK && ftruncate(fileno(csv->file), csv->end) != 0) status = fault(csv, error);
    }
    free(text);
    return status;
}

static bool has(const lw_sweep_file *file, uint64_t run) { return run < ((const csv_file *)file)->next; }

void lw_sweep_csv_field(const char **at, char *field, size_t size) {
    size_t length = 0;
    const bool quoted = **at == '"';
    if (quoted) (*at)++;
    for (; **at; (*at)++) {
        if (quoted && **at == '"' && (*at)[1] == '"')
            (*at)++;
        else if (quoted && **at == '"')
            break;
        else if (!quoted && (**at == ',' || **at == '\n'))
            break;
        if (length + 1 < size) field[length++] = **at;
    }
    field[length] = '\0';
    if (quoted && **at == '"') (*at)++;
    if (**at == ',') (*at)++;
}

static lw_status get(lw_sweep_file *file, uint64_t run, lw_sweep_row *row) {
    csv_file *csv = (csv_file *)file;
    if (run >= (uint64_t)csv->rows_before) return LW_ERROR_ARGUMENT;
    const int columns = column_count(csv->sweep);
    char field[LW_SWEEP_REASON + 8], *line = NULL;
    size_t size = 0;
    if (fseek(csv->file, csv->places[run], SEEK_SET) != 0 || getline(&line, &size, csv->file) < 0) {
        free(line);
        return LW_ERROR_FILE;
    }
    const char *at = line;
    lw_sweep_csv_field(&at, field, sizeof field);
    row->run = run;
    lw_design_values(&csv->sweep->design, run, row->values);
    for (int k = 0; k < columns; k++) {
        lw_sweep_csv_field(&at, field, sizeof field);
        if (k < csv->sweep->design.variable_count && !csv->sweep->design.search)
            continue; /* They follow from the plan. */
        if (!lw_number_read(field, &row->values[k])) row->values[k] = NAN;
    }
    lw_sweep_csv_field(&at, field, sizeof field);
    row->status = strcmp(field, "failed") == 0     ? LW_SWEEP_FAILED
                  : strcmp(field, "doubtful") == 0 ? LW_SWEEP_DOUBTFUL
                                                   : LW_SWEEP_OK;
    lw_sweep_csv_field(&at, row->reason, sizeof row->reason);
    free(line);
    return LW_OK;
}

/* --- the format ----------------------------------------------------------------------------------- */

/* Writes what waits. After a fault the file ends somewhere in a row, and nothing more is written. */
static lw_status flush(lw_sweep_file *file, lw_error *error) {
    csv_file *csv = (csv_file *)file;
    if (csv->broken) return LW_ERROR_FILE;
    if (fflush(csv->out) != 0 || ferror(csv->out)) return lw_out_of_memory(error);
    for (size_t done = 0; done < csv->length;) {
        errno = 0;
        const ssize_t more = pwrite(fileno(csv->file), csv->text + done, csv->length - done, csv->end);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) {
            csv->broken = true;
            return fault(csv, error);
        }
        done += (size_t)more, csv->end += more;
    }
    rewind(csv->out);
    return LW_OK;
}

static lw_status add(lw_sweep_file *file, const lw_sweep_row *row, lw_error *error) {
    csv_file *csv = (csv_file *)file;
    if (row->run < csv->next) return LW_OK; /* It is there. */
    if (row->run != csv->next) return wait_for(csv, row) ? LW_OK : lw_out_of_memory(error);
    put_row(csv, row);
    csv->next++;
    while (csv->count > 0 && csv->waiting[0]->run <= csv->next) {
        lw_sweep_row *first = take_first(csv);
        if (first->run == csv->next) {
            put_row(csv, first);
            csv->next++;
        }
        free(first);
    }
    return LW_OK;
}

static lw_status close_csv(lw_sweep_file *file, lw_error *error) {
    csv_file *csv = (csv_file *)file;
    lw_status status = csv->broken ? LW_OK : flush(file, error);
    if (fclose(csv->out) != 0 && status == LW_OK) status = lw_out_of_memory(error);
    errno = 0;
    if (fclose(csv->file) != 0 && status == LW_OK) status = fault(csv, error);
    while (csv->count > 0) free(csv->waiting[--csv->count]);
    free(csv->text);
    free(csv->waiting);
    free(csv->places);
    free(csv->path);
    free(csv);
    return status;
}

static lw_status open_csv(const lw_sweep *sweep, const char *path, bool resume, lw_sweep_file **file,
                          lw_error *error) {
    csv_file *csv = calloc(1, sizeof *csv);
    char *own = csv ? strdup(path) : NULL;
    if (!own) {
        free(csv);
        return lw_out_of_memory(error);
    }
    csv->sweep = sweep, csv->path = own;
    errno = 0;
    csv->file = fopen(path, resume ? "r+b" : "wxb");
    csv->out = csv->file ? open_memstream(&csv->text, &csv->length) : NULL;
    if (!csv->out) {
        const lw_status status =
            lw_sweep_file_fault(error, path, csv->file ? "written" : "created", strerror(errno), NULL);
        if (csv->file) fclose(csv->file);
        free(own);
        free(csv);
        return status;
    }
    lw_status status = LW_OK;
    if (resume)
        status = look_through(csv, error);
    else
        put_head(csv);
    if (status == LW_OK) status = flush(&csv->base, error);
    if (status != LW_OK) {
        (void)close_csv(&csv->base, NULL);
        return status;
    }
    *file = &csv->base;
    return LW_OK;
}

const lw_sweep_format lw_sweep_csv = {open_csv, has, get, add, flush, close_csv};

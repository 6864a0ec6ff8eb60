/* reproduce.c - rows, models, tables of numbers, figures and runs for the items of reproduce_*.c.
 */
#include "reproduce.h"
#include "problems.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

lw_status reproduce_fail(lw_error *error, lw_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    *error = (lw_error){.status = status};
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

const char *reproduce_number(char text[24], double x) {
    if (isnan(x))
        snprintf(text, 24, "-");
    else
        snprintf(text, 24, "%.4g", x);
    return text;
}

static lw_status out_of_memory(lw_error *error) {
    return reproduce_fail(error, LW_ERROR_MEMORY, "out of memory");
}

/* --- rows and progress ---------------------------------------------------------------------------- */

static void describe_wanted(double least, double most, char *text, size_t size) {
    if (least == most)
        snprintf(text, size, "%g", least);
    else if (isinf(least) && isinf(most))
        text[0] = '\0';
    else if (isinf(least) || least == 0) /* No number is negative. */
        snprintf(text, size, "at most %g", most);
    else if (isinf(most))
        snprintf(text, size, "at least %g", least);
    else
        snprintf(text, size, "%g .. %g", least, most);
}

static lw_status add_row(reproduction *r, reproduce_row given, double least, double most, lw_error *error,
                         const char *quantity, va_list arguments) {
    reproduce_row *rows = realloc(r->rows, (size_t)(r->row_count + 1) * sizeof *rows);
    if (!rows) return out_of_memory(error);
    r->rows = rows;
    reproduce_row *row = &rows[r->row_count++];
    *row = given;
    row->ok = row->here >= least && row->here <= most;
    describe_wanted(least, most, row->wanted, sizeof row->wanted);
    vsnprintf(row->quantity, sizeof row->quantity, quantity, arguments);
    return LW_OK;
}

lw_status reproduce_expect(reproduction *r, double stated, double here, double least, double most,
                           lw_error *error, const char *quantity, ...) {
    va_list arguments;
    va_start(arguments, quantity);
    lw_status status = add_row(r, (reproduce_row){.paper = NAN, .stated = stated, .here = here}, least, most,
                               error, quantity, arguments);
    va_end(arguments);
    return status;
}

lw_status reproduce_printed(reproduction *r, double paper, double here, double least, double most,
                            const char *reason, lw_error *error, const char *quantity, ...) {
    va_list arguments;
    va_start(arguments, quantity);
    lw_status status =
        add_row(r, (reproduce_row){.paper = paper, .stated = NAN, .here = here, .reason = reason}, least,
                most, error, quantity, arguments);
    va_end(arguments);
    return status;
}

void reproduce_tally(const reproduce_outcome *outcomes, int count, reproduce_count *sum) {
    *sum = (reproduce_count){0};
    for (int k = 0; k < count; k++)
        for (int i = 0; i < outcomes[k].work.row_count; i++) {
            const reproduce_row *row = &outcomes[k].work.rows[i];
            if (!isnan(row->paper)) {
                sum->printed++;
                sum->to_the_digits += row->ok && !row->reason;
                sum->reasoned += row->ok && row->reason;
            } else if (!isnan(row->stated)) {
                sum->stated++, sum->stated_ok += row->ok;
            } else {
                sum->own++, sum->own_ok += row->ok;
            }
        }
}

const char *reproduce_origin(char text[24], const reproduce_row *row) {
    if (isnan(row->stated)) return reproduce_number(text, row->paper);
    snprintf(text, 24, "(%.4g)", row->stated);
    return text;
}

lw_status reproduce_working(reproduction *r, lw_error *error, const char *work, ...) {
    if (stop_wanted()) return reproduce_fail(error, LW_ERROR_STOPPED, "stopped on request");
    if (!r->bar.shown) return LW_OK;
    va_list arguments;
    va_start(arguments, work);
    fprintf(stderr, "\r%s: ", r->item);
    vfprintf(stderr, work, arguments);
    fputs("\033[K", stderr);
    fflush(stderr);
    va_end(arguments);
    r->bar.drawn = true;
    return LW_OK;
}

/* --- models --------------------------------------------------------------------------------------- */

static lw_status first_fault(const lw_report *report, lw_status status, lw_error *error) {
    for (size_t k = 0; k < lw_report_size(report); k++)
        if (lw_report_get(report, k)->severity == LW_SEVERITY_ERROR) {
            *error = *lw_report_get(report, k);
            return status;
        }
    return reproduce_fail(error, status, "%s", lw_status_text(status));
}

lw_status reproduce_spec(const char *name, const char *parameter, double value, lw_spec **spec,
                         lw_error *error) {
    const problem *found = NULL;
    for (int k = 0; k < problem_count; k++)
        if (strcmp(problems[k].name, name) == 0) found = &problems[k];
    *spec = NULL;
    if (!found)
        return reproduce_fail(error, LW_ERROR_FILE, "the program was built without problems/%s", name);
    char number[32], file[128];
    snprintf(number, sizeof number, "%.17g", value);
    snprintf(file, sizeof file, "problems/%s/model.yaml", name);
    const lw_setting setting = {parameter, number};
    lw_report *report = lw_report_create();
    if (!report) return out_of_memory(error);
    lw_status status =
        lw_read_model_text(found->text, found->length, file, &setting, parameter ? 1 : 0, report, spec);
    if (status != LW_OK) first_fault(report, status, error);
    lw_report_destroy(report);
    return status;
}

lw_status reproduce_compile(const lw_spec *spec, lw_model **model, lw_error *error) {
    *model = NULL;
    lw_report *report = lw_report_create();
    if (!report) return out_of_memory(error);
    lw_status status = lw_model_compile(spec, NULL, report, model);
    if (status != LW_OK) first_fault(report, status, error);
    lw_report_destroy(report);
    return status;
}

lw_status reproduce_model(const char *name, const char *parameter, double value, lw_model **model,
                          lw_error *error) {
    lw_spec *spec;
    *model = NULL;
    lw_status status = reproduce_spec(name, parameter, value, &spec, error);
    if (status == LW_OK) status = reproduce_compile(spec, model, error);
    lw_spec_destroy(spec);
    return status;
}

lw_status reproduce_coordinate(const lw_model *model, const char *joint, int *q, lw_error *error) {
    int index = lw_model_joint(model, joint);
    lw_joint_info info = index >= 0 ? lw_model_joint_info(model, index) : (lw_joint_info){.q = -1};
    *q = info.q;
    return info.q >= 0
               ? LW_OK
               : reproduce_fail(error, LW_ERROR_MODEL, "%s: joint \"%s\" has no coordinate in the tree",
                                lw_model_name(model), joint);
}

/* --- tables and figures --------------------------------------------------------------------------- */

lw_status reproduce_table_create(reproduce_table *table, const char *const *headers, int columns, int rows,
                                 lw_error *error) {
    *table = (reproduce_table){.columns = columns, .rows = rows};
    for (int k = 0; k < columns; k++) table->headers[k] = headers[k];
    table->values = calloc((size_t)columns * (size_t)rows, sizeof *table->values);
    if (!table->values) return out_of_memory(error);
    for (int k = 0; k < columns * rows; k++) table->values[k] = NAN;
    return LW_OK;
}

void reproduce_table_clear(reproduce_table *table) { free(table->values), table->values = NULL; }

double *reproduce_at(const reproduce_table *table, int row, int column) {
    return &table->values[row * table->columns + column];
}

double reproduce_difference(const reproduce_table *table, int a, int b) {
    double most = 0;
    for (int row = 0; row < table->rows; row++)
        most = fmax(most, fabs(*reproduce_at(table, row, a) - *reproduce_at(table, row, b)));
    return most;
}

double reproduce_exponent(const reproduce_table *table, int x, int y, int first, int end) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int row = first; row < end; row++) {
        double a = log(*reproduce_at(table, row, x)), b = log(*reproduce_at(table, row, y));
        if (!isfinite(a) || !isfinite(b)) continue;
        n++, sx += a, sy += b, sxx += a * a, sxy += a * b;
    }
    return n >= 2 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : NAN;
}

static lw_status write_csv(const reproduction *r, const reproduce_table *table, const char *path,
                           lw_error *error) {
    errno = 0;
    FILE *file = fopen(path, "w");
    if (!file)
        return reproduce_fail(error, LW_ERROR_FILE, "%s could not be opened: %s", path, strerror(errno));
    fprintf(file, "# linkwork: %s\n# model: %s: %s\n", LW_VERSION, r->item, r->summary);
    for (int k = 0; k < table->columns; k++) fprintf(file, "%s\"%s\"", k ? "," : "", table->headers[k]);
    putc('\n', file);
    for (int row = 0; row < table->rows; row++) {
        for (int k = 0; k < table->columns; k++) {
            double value = *reproduce_at(table, row, k);
            if (k) putc(',', file);
            if (!isnan(value)) fprintf(file, "%.17g", value);
        }
        putc('\n', file);
    }
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0) bad = true;
    return bad ? reproduce_fail(error, LW_ERROR_FILE, "%s could not be written: %s", path, strerror(errno))
               : LW_OK;
}

lw_status reproduce_figure(reproduction *r, const reproduce_table *table, const lw_plot_options *plot,
                           lw_error *error) {
    if (!r->folder) return LW_OK;
    static const char *const endings[] = {"csv", "svg"};
    for (int k = 0; k < 2; k++) {
        int length = snprintf(r->files[k], sizeof r->files[k], "%s/%s.%s", r->folder, r->item, endings[k]);
        if (length < 0 || (size_t)length >= sizeof r->files[k]) {
            r->files[k][0] = '\0';
            return reproduce_fail(error, LW_ERROR_FILE, "the name of the folder is too long");
        }
    }
    lw_plot_options options = *plot;
    if (!options.title) options.title = r->summary;
    options.no_heading = true; /* Page and terminal say what it is. */
    lw_status status = write_csv(r, table, r->files[0], error);
    if (status == LW_OK) status = lw_plot_with(r->files[0], r->files[1], &options, error);
    if (status != LW_OK) r->files[0][0] = r->files[1][0] = '\0';
    return status;
}

lw_status reproduce_paths(reproduction *r, const char *x, const char *y, lw_error *error) {
    if (!r->folder || !r->files[0][0]) return LW_OK;
    int length = snprintf(r->path_figure, sizeof r->path_figure, "%s/%s-path.svg", r->folder, r->item);
    if (length < 0 || (size_t)length >= sizeof r->path_figure)
        return reproduce_fail(error, LW_ERROR_FILE, "the name of the folder is too long");
    const lw_plot_options options = {
        .columns = &y, .count = 1, .x = x, .title = r->summary, .no_heading = true};
    lw_status status = lw_plot_with(r->files[0], r->path_figure, &options, error);
    if (status != LW_OK) r->path_figure[0] = '\0';
    return status;
}

/* --- runs ----------------------------------------------------------------------------------------- */

typedef struct recorder {
    const reproduce_trace *trace;
    int row;
} recorder;

static bool record(const lw_sample *sample, void *context) {
    recorder *to = context;
    const reproduce_trace *trace = to->trace;
    if (to->row < trace->table->rows) {
        *reproduce_at(trace->table, to->row, 0) = sample->t;
        for (int k = 0; k < trace->count; k++)
            *reproduce_at(trace->table, to->row, trace->first + k) = sample->q[trace->q[k]];
        if (trace->violation)
            *reproduce_at(trace->table, to->row, trace->first + trace->count) = sample->position_violation;
    }
    to->row++;
    return !stop_wanted();
}

static bool interrupted(void *context) {
    (void)context;
    return stop_wanted();
}

lw_status reproduce_run(reproduction *r, const lw_model *model, lw_run_options *options,
                        const reproduce_trace *trace, lw_error *error) {
    recorder to = {trace, 0};
    options->observe = record;
    options->interrupted = interrupted;
    options->context = &to;
    lw_status status = reproduce_working(r, error, "%s by %s", lw_model_name(model),
                                         options->method ? options->method : "auto");
    if (status == LW_OK) status = lw_simulate(model, options, NULL, NULL, NULL, error);
    if (status == LW_OK && to.row != trace->table->rows)
        status = reproduce_fail(error, LW_ERROR_ARGUMENT, "the run has %d samples, the table %d rows", to.row,
                                trace->table->rows);
    return status;
}

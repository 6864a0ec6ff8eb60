/* sweep_page.c - linkwork sweep --page: pictures of the runs, and the motions of some of them.
 *
 * A click on a red point shows the run's motion in a frame on the page; all runs have one if there are at
 * most so many (sweep_page.motions), otherwise the extreme ones of each measure and some between. Motions are
 * pages of linkwork view in a folder beside the page, FILE_runs/RUN.html, so that a script is needed for the
 * motions alone.
 */
#define _POSIX_C_SOURCE 200809L
#include "sweep_page.h"
#include "page.h"
#include "sweep_picture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { EXTREMES = 3 };

typedef struct motions {
    const sweep_page *page;
    char folder[4096];  /* of the files */
    char address[1100]; /* of the folder, relative to the page */
    uint64_t *runs;     /* room for page->motions */
    size_t count;
} motions;

static size_t stem_length(const char *path) {
    const size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".html") == 0 ? length - 5 : 0;
}

int sweep_page_check(const cli_command *command, const char *path) {
    struct stat found;
    const size_t stem = stem_length(path);
    if (stem == 0 || stem > 1000)
        return cli_say(command, CLI_WRONG, "--page: \"%s\" does not end in .html; give e.g. --page rows.html",
                       path);
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode))
        return cli_say(command, CLI_WRONG, "--page: \"%s\" is no file", path);
    return CLI_DONE;
}

static void choose(motions *m, uint64_t run) {
    for (size_t k = 0; k < m->count; k++)
        if (m->runs[k] == run) return;
    if (m->count < m->page->motions) m->runs[m->count++] = run;
}

/* The extreme runs of a measure, and those at even steps between. */
static void choose_extremes(motions *m, int column) {
    const sweep_rows *rows = m->page->rows;
    for (int sign = -1; sign <= 1; sign += 2) {
        double bound = INFINITY;
        for (int k = 0; k < EXTREMES; k++) {
            double best = -INFINITY;
            uint64_t run = 0;
            for (size_t r = 0; r < rows->count; r++) {
                const double x = sign * rows->values[r * (size_t)rows->columns + (size_t)column];
                if (x < bound && x > best) best = x, run = rows->runs[r];
            }
            if (best > -INFINITY) choose(m, run);
            bound = best;
        }
    }
}

static void choose_runs(motions *m) {
    const sweep_rows *rows = m->page->rows;
    const int variables = lw_sweep_variable_count(rows->sweep);
    const size_t most = m->page->motions, between = most / 3 > 0 ? most / 3 : 1;
    for (int c = variables; c < rows->columns && rows->count > most; c++) choose_extremes(m, c);
    const size_t step = rows->count > most ? rows->count / between + 1 : 1;
    for (size_t r = 0; r < rows->count; r += step) choose(m, rows->runs[r]);
}

static bool link_of(uint64_t run, char *text, size_t size, void *context) {
    const motions *m = context;
    for (size_t k = 0; k < m->count; k++)
        if (m->runs[k] == run)
            return snprintf(text, size, "%s/%llu.html", m->address, (unsigned long long)run) < (int)size;
    return false;
}

/* Writes the motion of a run; one that fails on the way leaves what it has reached. */
static lw_status write_motion(const motions *m, uint64_t run, lw_error *error) {
    lw_model *model = NULL;
    lw_run_options options;
    char path[4200];
    lw_status status = lw_sweep_model(m->page->rows->sweep, run, &model, &options, error);
    snprintf(path, sizeof path, "%s/%llu.html", m->folder, (unsigned long long)run);
    if (status == LW_OK) status = page_write_motion(model, &options, path, error);
    lw_model_destroy(model);
    return status;
}

static void write_page(FILE *file, motions *m, const lw_sweep_table *table) {
    page_begin(file, "Runs of a sweep");
    fputs("<main><h2>Runs of a sweep</h2><p class=\"about\">", file);
    fprintf(file, "%zu measured runs. A click on a red point shows the motion of its run below.</p>\n",
            table->count);
    for (int k = table->variables; k < table->columns; k++) {
        fputs("<article>", file);
        sweep_picture(file, table, k, link_of, m);
        fputs("</article>\n", file);
    }
    if (m->count > 0)
        fprintf(
            file,
            "<article><h3>Motion</h3><iframe class=\"motion\" name=\"motion\" title=\"the motion of a run\" "
            "src=\"%s/%llu.html\"></iframe></article>\n",
            m->address, (unsigned long long)m->runs[0]);
    fputs("<article><h3>Each against each</h3>", file);
    sweep_matrix(file, table, link_of, m);
    fputs("</article></main>\n", file);
    page_end(file);
}

int sweep_page_write(const cli_command *command, const sweep_page *page) {
    const lw_sweep *sweep = page->rows->sweep;
    const size_t stem = stem_length(page->path);
    const char *slash = strrchr(page->path, '/');
    const int start = slash ? (int)(slash + 1 - page->path) : 0;
    motions *m = calloc(1, sizeof *m);
    const char *names[512], *units[512];
    lw_error error = {0};
    if (m) m->runs = calloc(page->motions + 1, sizeof *m->runs);
    if (!m || !m->runs) {
        free(m);
        return cli_say(command, CLI_FAILED, "out of memory");
    }
    m->page = page;
    snprintf(m->folder, sizeof m->folder, "%.*s_runs", (int)stem, page->path);
    snprintf(m->address, sizeof m->address, "%.*s_runs", (int)stem - start, page->path + start);
    int columns = page->rows->columns, result = CLI_DONE;
    if (columns > 512) columns = 512;
    for (int k = 0; k < columns; k++)
        names[k] = lw_sweep_column_name(sweep, k), units[k] = lw_sweep_column_unit(sweep, k);
    const lw_sweep_table table = {.columns = page->rows->columns,
                                  .variables = lw_sweep_variable_count(sweep),
                                  .names = names,
                                  .units = units,
                                  .count = page->rows->count,
                                  .runs = page->rows->runs,
                                  .values = page->rows->values};
    choose_runs(m);
    if (page->rows->columns > 512)
        result = cli_say(command, CLI_WRONG, "--page: at most 512 columns can be drawn");
    else if (mkdir(m->folder, 0777) != 0 && errno != EEXIST)
        result = cli_say(command, CLI_FAILED, "%s cannot be created: %s", m->folder, strerror(errno));
    for (size_t k = 0; k < m->count && result == CLI_DONE; k++) {
        const lw_status status = write_motion(m, m->runs[k], &error);
        if (status != LW_OK) result = cli_fault(command, status, &error);
    }
    FILE *file = result == CLI_DONE ? fopen(page->path, "w") : NULL;
    if (file) write_page(file, m, &table);
    const bool failed = file && ferror(file), unclosed = file && fclose(file) != 0;
    if (result == CLI_DONE && (!file || failed || unclosed))
        result = cli_say(command, CLI_FAILED, "%s cannot be written: %s", page->path, strerror(errno));
    free(m->runs);
    free(m);
    return result;
}

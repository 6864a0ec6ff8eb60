/* cmd_plot.c - linkwork plot: columns of results files as an SVG or PDF picture.
 */
#define _POSIX_C_SOURCE 200809L
#include "options.h"
#include "sweep_picture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The length of a results file's name without its ending; 0 if it has none of theirs. */
static size_t stem_of(const char *path) {
    static const char *const endings[] = {".csv", ".h5", ".hdf5"};
    size_t length = strlen(path);
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
        size_t tail = strlen(endings[k]);
        if (length > tail && strcasecmp(path + length - tail, endings[k]) == 0) return length - tail;
    }
    return 0;
}

static bool ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcasecmp(path + length - tail, ending) == 0;
}

/* Refuses an ending that is neither .svg nor .pdf, and says what to do. */
static int check_ending(const cli_command *command, const char *out) {
    if (ends_in(out, ".svg") || ends_in(out, ".pdf")) return CLI_DONE;
    const char *file = strrchr(out, '/'), *ending = strrchr(file ? file : out, '.');
    int stem = ending ? (int)(ending - out) : (int)strlen(out);
    if (ends_in(out, ".png"))
        return cli_say(
            command, CLI_WRONG,
            "--out: \"%s\": PNG needs a font and a rasteriser, which linkwork does not carry; give "
            "--out %.*s.svg and convert it, e.g. by: rsvg-convert %.*s.svg -o %s",
            out, stem, out, stem, out, out);
    return cli_say(command, CLI_WRONG,
                   "--out: \"%s\" does not end in .svg or .pdf, and only these are drawn; give e.g. --out "
                   "%.*s.svg, which browsers show and convert",
                   out, stem, out);
}

static void tell(const char *text, void *context) { cli_say(context, CLI_DONE, "%s", text); }

/* The rows of a sweep: histograms, points over what varies, maps of two parameters, and the matrix of all. */
static int plot_sweep(const cli_command *command, const char *path, const char *out) {
    lw_sweep_table *table = NULL;
    lw_error error = {0};
    if (!ends_in(out, ".svg"))
        return cli_say(command, CLI_WRONG,
                       "--out: \"%s\": the rows of a sweep are drawn as SVG only; give --out NAME.svg", out);
    const lw_status status = lw_sweep_table_read(path, &table, &error);
    if (status != LW_OK) return cli_fault(command, status, &error);
    FILE *file = fopen(out, "w");
    if (file) sweep_picture_file(file, table);
    const bool failed = !file || ferror(file);
    const bool unclosed = file && fclose(file) != 0;
    lw_sweep_table_destroy(table);
    if (failed || unclosed)
        return cli_say(command, CLI_FAILED, "%s cannot be written: %s", out, strerror(errno));
    printf("%s\n", out);
    return CLI_DONE;
}

static int plot(const cli_command *command, int argc, char **argv) {
    const char *out = NULL;
    cli_list y = {.count = 0};
    lw_plot_options how = {.tell = tell, .context = (void *)command};
    const cli_option options[] = {
        {"out", "FILE", "the picture, .svg or .pdf; otherwise the results file's name with .svg",
         "angles.svg", .text = &out},
        {"x", "COLUMN", "horizontal axis; otherwise time", "body.load.x", .text = &how.x},
        {"y", "COLUMN", "a column, as if it stood without --y", "body.load.z", .list = &y},
        {"all", NULL, "every column that matches, however many", NULL, .flag = &how.all},
        {"log-x", NULL, "horizontal axis in decades", NULL, .flag = &how.log_x},
        {"log-y", NULL, "vertical axes in decades", NULL, .flag = &how.log_y},
        {"title", "TEXT", "otherwise the model's name", "\"Crane\"", .text = &how.title},
    };
    cli_list rest = {.count = 0};
    switch (
        cli_parse(command, options, sizeof options / sizeof options[0], argc, argv, &rest, CLI_LIST_MAX)) {
    case CLI_HELPED:
        return CLI_DONE;
    case CLI_MISTAKEN:
        return CLI_WRONG;
    case CLI_PARSED:
        break;
    }
    if (rest.count == 0)
        return cli_say(command, CLI_WRONG, "no results file given; the call is linkwork plot %s",
                       command->arguments);
    /* The first is a file in any case; others are known by their endings. */
    const char *files[CLI_LIST_MAX], *columns[2 * CLI_LIST_MAX];
    size_t file_count = 0, count = 0;
    for (int k = 0; k < rest.count; k++) {
        if (k == 0 || stem_of(rest.items[k]) > 0)
            files[file_count++] = rest.items[k];
        else
            columns[count++] = rest.items[k];
    }
    for (int k = 0; k < y.count; k++) columns[count++] = y.items[k];
    if (how.x && count == 0)
        return cli_say(command, CLI_WRONG,
                       "--x %s has nothing to be drawn against; name columns, e.g. --y pin.q", how.x);

    char name[4096];
    size_t stem = stem_of(files[0]) > 0 ? stem_of(files[0]) : strlen(files[0]);
    if (!out && (size_t)snprintf(name, sizeof name, "%.*s.svg", (int)stem, files[0]) >= sizeof name)
        return cli_say(command, CLI_WRONG, "the results file's name is too long; give --out FILE.svg");
    if (!out) out = name;
    int result = check_ending(command, out);
    if (result != CLI_DONE) return result;
    if (lw_sweep_table_is(files[0])) {
        if (count > 0 || how.x || file_count > 1 || how.log_x || how.log_y)
            return cli_say(
                command, CLI_WRONG,
                "%s holds the rows of a sweep, which are drawn as a whole, alone; leave columns, other "
                "files and --log away",
                files[0]);
        return plot_sweep(command, files[0], out);
    }
    how.columns = columns;
    how.count = count;
    how.more = files + 1;
    how.more_count = file_count - 1;
    lw_error error = {0};
    lw_status status = lw_plot_with(files[0], out, &how, &error);
    if (status != LW_OK) return cli_fault(command, status, &error);
    printf("%s\n", out);
    return CLI_DONE;
}

const cli_command cli_plot = {
    "plot",
    "RESULTS... [COLUMNS] [options]",
    "draw columns of results files as an SVG or PDF picture",
    "RESULTS are files that linkwork run --out wrote, CSV or HDF5; several are laid over each other. Each "
    "column "
    "named gets a panel\nof its own; names joined by + share one, and * stands for anything. Without names, "
    "joint coordinates and the energies are\ndrawn. Of many curves those that differ most are drawn; --all "
    "draws every one. Of the rows of a sweep: histograms, points over what varies, maps, a matrix.\n"
    "A path:  linkwork plot crane.h5 --x \"com(load).x\" --y \"com(load).z\"\n"
    "Paths:   linkwork plot crane.h5 --x \"com(*).x\" --y \"com(*).z\"",
    plot,
    NULL};

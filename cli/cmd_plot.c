/* cmd_plot.c - linkwork plot: columns of a results file as an SVG picture.
 */
#define _POSIX_C_SOURCE 200809L
#include "options.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Makes the name of the results file with the ending .svg; returns false if it does not fit. */
static bool svg_name(const char *results, char *svg, size_t size) {
    const char *const endings[] = {".csv", ".h5", ".hdf5"};
    size_t length = strlen(results);
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
        size_t tail = strlen(endings[k]);
        if (length <= tail || strcmp(results + length - tail, endings[k]) != 0) continue;
        length -= tail;
        break;
    }
    return (size_t)snprintf(svg, size, "%.*s.svg", (int)length, results) < size;
}

static int plot(const cli_command *command, int argc, char **argv) {
    const char *out = NULL;
    const cli_option options[] = {
        {"out", "FILE.svg", "the picture; otherwise the results file's name with .svg", "angles.svg",
         .text = &out},
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

    char name[4096];
    if (!out && !svg_name(rest.items[0], name, sizeof name))
        return cli_say(command, CLI_WRONG, "the results file's name is too long; give --out FILE.svg");
    if (!out) out = name;
    const char *file = strrchr(out, '/'), *ending = strrchr(file ? file : out, '.');
    int stem = ending ? (int)(ending - out) : (int)strlen(out);
    if (!ending || strcasecmp(ending, ".svg") != 0)
        return cli_say(command, CLI_WRONG,
                       "--out: \"%s\" does not end in .svg, and only SVG pictures are drawn; give e.g. --out "
                       "%.*s.svg, which browsers show and convert",
                       out, stem, out);
    lw_error error = {0};
    lw_status status = lw_plot_results(rest.items[0], out, rest.items + 1, (size_t)(rest.count - 1), &error);
    if (status != LW_OK) return cli_fault(command, status, &error);
    printf("%s\n", out);
    return CLI_DONE;
}

const cli_command cli_plot = {
    "plot", "RESULTS [COLUMNS] [options]", "draw columns of a results file as an SVG picture",
    "RESULTS is a file that linkwork run --out wrote, CSV or HDF5. Each column named "
    "gets a panel of its own;\n"
    "names joined by + share one, and * stands for anything. Without names, all joint "
    "coordinates and the\nenergies are drawn.",
    plot};

/* cmd_plot.c - linkwork plot: columns of a results file as an SVG picture.
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

/* The results file's name with .svg for .csv; false if it does not fit. */
static bool svg_name(const char *csv, char *svg, size_t size) {
    size_t length = strlen(csv);
    if (length > 4 && strcmp(csv + length - 4, ".csv") == 0) length -= 4;
    return (size_t)snprintf(svg, size, "%.*s.svg", (int)length, csv) < size;
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
    lw_error error = {0};
    lw_status status = lw_plot_csv(rest.items[0], out, rest.items + 1, (size_t)(rest.count - 1), &error);
    if (status != LW_OK) return cli_fault(command, status, &error);
    printf("%s\n", out);
    return CLI_DONE;
}

const cli_command cli_plot = {"plot", "RESULTS.csv [COLUMNS] [options]",
                              "draw columns of a results file as an SVG picture",
                              "Each column named gets a panel of its own; names joined by + share one. "
                              "Without names, all joint coordinates\n"
                              "and the energies are drawn.",
                              plot};

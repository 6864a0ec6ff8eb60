/* cmd_check.c - linkwork check: every fault of a model at once, with places and remedies.
 */
#include "load.h"

#include <stdio.h>

static int check(const cli_command *command, int argc, char **argv) {
    cli_list settings = {.count = 0};
    const cli_option options[] = {
        {"set", "NAME=VALUE", "another value for a parameter of the model", "length=0.5", .list = &settings},
    };
    cli_model loaded;
    int result;
    cli_open_model(command, options, sizeof options / sizeof options[0], argc, argv, &settings, &loaded,
                   &result);
    if (loaded.path)
        printf("%s: %zu error%s, %zu warning%s\n", loaded.path, loaded.errors, loaded.errors == 1 ? "" : "s",
               loaded.warnings, loaded.warnings == 1 ? "" : "s");
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_check = {"check", "MODEL [options]",
                               "every fault of a model at once, with places and remedies",
                               "Exit status 0 without errors (warnings do not count), 2 with errors.", check};

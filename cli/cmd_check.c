/* cmd_check.c - linkwork check: every fault of a model at once, with places and remedies.
 */
#include "load.h"

#include <stdio.h>

/* What the file suggests for a run: names of method, integrator and drift control, numbers. */
static bool run_is_sound(const cli_model *loaded) {
    lw_run_options options;
    lw_error error = {0};
    char text[1200];
    lw_run_defaults(loaded->model, &options);
    if (lw_run_check(loaded->model, &options, &error) == LW_OK) return true;
    snprintf(error.file, sizeof error.file, "%s", loaded->path);
    snprintf(error.object, sizeof error.object, "run");
    error.place = lw_model_run(loaded->model)->place;
    lw_error_format(&error, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return false;
}

static int check(const cli_command *command, int argc, char **argv) {
    cli_list settings = {.count = 0};
    const cli_option options[] = {
        {"set", "NAME=VALUE", "another value for a parameter of the model", "length=0.5", .list = &settings},
    };
    cli_model loaded;
    int result;
    cli_open_model(command, options, sizeof options / sizeof options[0], argc, argv, &settings, &loaded,
                   &result);
    if (loaded.model && !run_is_sound(&loaded)) {
        loaded.errors++;
        result = CLI_WRONG;
    }
    if (loaded.path)
        printf("%s: %zu error%s, %zu warning%s\n", loaded.path, loaded.errors, loaded.errors == 1 ? "" : "s",
               loaded.warnings, loaded.warnings == 1 ? "" : "s");
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_check = {"check", "MODEL [options]",
                               "every fault of a model at once, with places and remedies",
                               "Exit status 0 without errors (warnings do not count), 2 with errors.", check};

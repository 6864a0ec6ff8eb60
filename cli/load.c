/* load.c - reads a model file with the user's settings, compiles it and tells every fault.
 */
#define _POSIX_C_SOURCE 200809L
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_tell(const lw_report *report) {
    if (!report) return;
    for (size_t i = 0; i < lw_report_size(report); i++) {
        char text[2048];
        lw_error_format(lw_report_get(report, i), text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
}

void cli_free_settings(lw_setting *settings, int count) {
    for (int i = 0; i < count; i++) free((char *)settings[i].name);
}

int cli_split_settings(const cli_command *command, const cli_list *texts, lw_setting settings[CLI_LIST_MAX]) {
    for (int i = 0; i < texts->count; i++) {
        const char *equals = strchr(texts->items[i], '=');
        if (!equals || equals == texts->items[i] || !equals[1])
            return cli_say(command, CLI_WRONG,
                           "--set: \"%s\" is not of the form name=value; give e.g. --set length=0.5",
                           texts->items[i]);
        const char *name = texts->items[i] + strspn(texts->items[i], " \t");
        size_t length = strcspn(name, " \t=");
        settings[i].name = strndup(name, length);
        settings[i].value = equals + 1;
        if (!settings[i].name) return cli_say(command, CLI_FAILED, "out of memory");
    }
    return CLI_DONE;
}

/* Cuts that leave a singular tree, or poor coordinates, are moved, and the user is told. */
static lw_status improve_cuts(cli_model *loaded) {
    lw_error error = {0};
    lw_status status = lw_cuts_choose(loaded->spec, loaded->model, loaded->moves, CLI_MOVES_MAX,
                                      &loaded->move_count, &error);
    if (status != LW_OK || loaded->move_count == 0) return status;
    for (int k = 0; k < loaded->move_count && status == LW_OK; k++) {
        const lw_cut_move *move = &loaded->moves[k];
        lw_error warning = {.severity = LW_SEVERITY_WARNING,
                            .place = lw_spec_joint(loaded->spec, (size_t)move->from)->place};
        snprintf(warning.file, sizeof warning.file, "%s", lw_spec_file(loaded->spec));
        snprintf(warning.object, sizeof warning.object, "joint \"%.90s\"",
                 lw_spec_joint(loaded->spec, (size_t)move->from)->name);
        snprintf(warning.message, sizeof warning.message,
                 "its loop is cut at joint \"%.80s\" instead: %.380s",
                 lw_spec_joint(loaded->spec, (size_t)move->to)->name, move->why);
        snprintf(warning.remedy, sizeof warning.remedy, "write cut: true where it shall be cut");
        status = lw_report_add(loaded->report, &warning);
    }
    lw_model_destroy(loaded->model);
    loaded->model = NULL;
    return status == LW_OK ? lw_model_compile(loaded->spec, NULL, NULL, &loaded->model) : status;
}

static int read_and_compile(const cli_command *command, const char *path, const lw_setting *settings,
                            int count, cli_model *loaded) {
    lw_report *report = loaded->report = lw_report_create();
    if (!report) return cli_say(command, CLI_FAILED, "out of memory");
    lw_status status = lw_read_model(path, settings, (size_t)count, report, &loaded->spec);
    if (status == LW_OK) status = lw_model_compile(loaded->spec, NULL, report, &loaded->model);
    if (status == LW_OK) status = improve_cuts(loaded);
    loaded->errors = lw_report_errors(report);
    loaded->warnings = lw_report_size(report) - loaded->errors;
    if (status == LW_OK) return CLI_DONE;
    if (loaded->errors == 0) cli_say(command, CLI_WRONG, "%s: %s", path, lw_status_text(status));
    return status == LW_ERROR_MEMORY ? CLI_FAILED : CLI_WRONG;
}

int cli_load(const cli_command *command, const char *path, const cli_list *texts, cli_model *loaded) {
    lw_setting settings[CLI_LIST_MAX] = {0};
    int result = cli_split_settings(command, texts, settings);
    if (result == CLI_DONE) {
        loaded->path = path;
        result = read_and_compile(command, path, settings, texts->count, loaded);
    }
    cli_free_settings(settings, texts->count);
    return result;
}

bool cli_read_model(const cli_command *command, const cli_option *options, int option_count, int argc,
                    char **argv, const cli_list *settings, cli_model *loaded, int *result) {
    cli_list rest = {.count = 0};
    *loaded = (cli_model){0};
    switch (cli_parse(command, options, option_count, argc, argv, &rest, 1)) {
    case CLI_HELPED:
        *result = CLI_DONE;
        return false;
    case CLI_MISTAKEN:
        *result = CLI_WRONG;
        return false;
    case CLI_PARSED:
        break;
    }
    if (rest.count == 0)
        *result = cli_say(command, CLI_WRONG, "no model file given; the call is linkwork %s %s",
                          command->name, command->arguments);
    else
        *result = cli_load(command, rest.items[0], settings, loaded);
    return *result == CLI_DONE;
}

bool cli_open_model(const cli_command *command, const cli_option *options, int option_count, int argc,
                    char **argv, const cli_list *settings, cli_model *loaded, int *result) {
    bool good = cli_read_model(command, options, option_count, argc, argv, settings, loaded, result);
    cli_tell(loaded->report);
    return good;
}

void cli_close_model(cli_model *loaded) {
    lw_report_destroy(loaded->report);
    lw_model_destroy(loaded->model);
    lw_spec_destroy(loaded->spec);
    *loaded = (cli_model){0};
}

const char *cli_method(const char *name) { return name && strcmp(name, "auto") != 0 ? name : NULL; }

static void warn_of_change(const lw_model *model, int joint, double change, const char *what) {
    if (joint < 0) return;
    lw_error warning = {.severity = LW_SEVERITY_WARNING};
    char text[1200];
    snprintf(warning.file, sizeof warning.file, "%s", lw_model_file(model) ? lw_model_file(model) : "");
    snprintf(warning.object, sizeof warning.object, "joint \"%.90s\"",
             lw_model_joint_info(model, joint).name);
    snprintf(
        warning.message, sizeof warning.message,
        "the given initial %s do not fit together and were taken as approximate; here one changed by %.3g",
        what, change);
    lw_error_format(&warning, text, sizeof text);
    fprintf(stderr, "%s\n", text);
}

lw_status cli_initial_state(const lw_model *model, double t, double *q, double *v, lw_error *error) {
    lw_assembly assembly;
    lw_model_initial_state(model, q, v);
    lw_status status = lw_assemble(model, t, q, v, &assembly, error);
    if (status != LW_OK) return status;
    warn_of_change(model, assembly.moved_joint, assembly.moved, "coordinates");
    warn_of_change(model, assembly.changed_joint, assembly.changed, "speeds");
    return LW_OK;
}

double *cli_numbers(const cli_command *command, int count) {
    double *numbers = calloc((size_t)count + 1, sizeof *numbers);
    if (!numbers) cli_say(command, CLI_FAILED, "out of memory");
    return numbers;
}

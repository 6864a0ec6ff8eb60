/* load.c - reads a model file with the user's settings, compiles it and reports every fault.
 */
#define _POSIX_C_SOURCE 200809L
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void cli_tell(const lw_report *report) {
    if (!report) return;
    for (size_t i = 0; i < lw_report_size(report); i++) {
        char text[2048];
        lw_error_format(lw_report_get(report, i), text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
}

const char *cli_show(const char *text, cli_shown *space) {
    lw_escape(text, space->text, sizeof space->text);
    return space->text;
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

/* Reads "name=file:column" into the spec; faults go into the report. The column begins behind the last colon,
 * so that the path may have some. */
static int apply_input(const cli_command *command, const char *text, cli_model *loaded) {
    const char *equals = strchr(text, '='), *colon = equals ? strrchr(equals, ':') : NULL;
    if (!equals || equals == text || !colon || colon == equals + 1 || !colon[1])
        return cli_say(command, CLI_WRONG,
                       "--input: \"%s\" is not of the form name=file:column; give e.g. --input "
                       "throttle=drive.csv:torque",
                       text);
    char *name = strndup(text, (size_t)(equals - text)),
         *file = strndup(equals + 1, (size_t)(colon - equals) - 1);
    lw_error error = {0};
    lw_status status = LW_ERROR_MEMORY;
    if (name && file) status = lw_read_input(loaded->spec, name, file, colon + 1, &error);
    free(name);
    free(file);
    if (status == LW_OK) return CLI_DONE;
    if (status == LW_ERROR_MEMORY) return cli_say(command, CLI_FAILED, "out of memory");
    (void)lw_report_add(loaded->report, &error);
    return CLI_WRONG;
}

/* Does --set give this input, too, or another --input before? */
static const char *given_twice(const cli_changes *changes, int input) {
    const char *text = changes->inputs.items[input], *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) + 1 : strlen(text) + 1;
    for (int k = 0; k < changes->settings.count && equals; k++)
        if (strncmp(changes->settings.items[k], text, length) == 0) return changes->settings.items[k];
    for (int k = 0; k < input && equals; k++)
        if (strncmp(changes->inputs.items[k], text, length) == 0) return changes->inputs.items[k];
    return NULL;
}

static int read_and_compile(const cli_command *command, const char *path, const lw_setting *settings,
                            const cli_changes *changes, cli_model *loaded) {
    lw_report *report = loaded->report = lw_report_create();
    if (!report) return cli_say(command, CLI_FAILED, "out of memory");
    lw_status status = LW_OK;
    const int read = cli_read_spec(command, path, settings, changes, loaded, &status);
    if (read != CLI_DONE) return read;
    for (int k = 0; k < changes->inputs.count && status == LW_OK; k++) {
        const char *text = changes->inputs.items[k], *other = given_twice(changes, k);
        const int result = other ? cli_say(command, CLI_WRONG,
                                           "--input: \"%s\" and \"%s\" give the same input; "
                                           "leave one of them away",
                                           other, text)
                                 : apply_input(command, text, loaded);
        loaded->errors = lw_report_errors(report);
        if (result != CLI_DONE) return result;
    }
    if (status == LW_OK && changes->begin) {
        lw_error error = {0};
        status = lw_spec_begin(loaded->spec, changes->begin, &error);
        if (status != LW_OK && status != LW_ERROR_MEMORY) (void)lw_report_add(report, &error);
    }
    if (status == LW_OK) status = lw_model_compile(loaded->spec, NULL, report, &loaded->model);
    if (status == LW_OK && lw_model_cut_move_count(loaded->model) > 0)
        status = lw_spec_keep_cuts(loaded->spec, loaded->model); /* for variants of the model */
    loaded->errors = lw_report_errors(report);
    loaded->warnings = lw_report_size(report) - loaded->errors;
    if (status == LW_OK) return CLI_DONE;
    if (loaded->errors == 0) cli_say(command, CLI_WRONG, "%s: %s", path, lw_status_text(status));
    return status == LW_ERROR_MEMORY ? CLI_FAILED : CLI_WRONG;
}

/* --- standard input -------------------------------------------------------------------------------- */

const char cli_input_name[] = "standard input";

/* It can be read once only, and some commands load a model several times: what was read stays here. */
static struct {
    char *text;
    size_t length;
} input;

static void forget_input(void) { free(input.text); }

int cli_read_input(const cli_command *command, const char **text, size_t *length) {
    enum { MOST = 1 << 26 }; /* as of a model file */
    size_t room = 0;
    bool first = !input.text;
    for (bool more = first; more;) {
        if (input.length + 1 >= room) {
            room = room ? 2 * room : 1 << 16;
            char *longer = realloc(input.text, room);
            if (!longer) return cli_say(command, CLI_FAILED, "out of memory");
            input.text = longer;
        }
        const size_t got = fread(input.text + input.length, 1, room - 1 - input.length, stdin);
        input.length += got;
        input.text[input.length] = '\0';
        more = got > 0;
        if (input.length > MOST)
            return cli_say(command, CLI_WRONG,
                           "standard input: is larger than 64 MiB; describe large models "
                           "with repeat");
    }
    if (ferror(stdin)) return cli_say(command, CLI_FAILED, "standard input cannot be read");
    if (first) (void)atexit(forget_input);
    *text = input.text;
    *length = input.length;
    return CLI_DONE;
}

bool cli_from_input(const cli_command *command, const cli_model *loaded, const char *what) {
    if (loaded->path != cli_input_name) return false;
    cli_say(command, CLI_WRONG, "%s needs the model as a file, and it came from standard input", what);
    return true;
}

bool cli_same_file(const char *a, const char *b) {
    struct stat one, two;
    return stat(a, &one) == 0 && stat(b, &two) == 0 && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

int cli_load(const cli_command *command, const char *path, const cli_changes *changes, cli_model *loaded) {
    lw_setting settings[CLI_LIST_MAX] = {0};
    int result = cli_split_settings(command, &changes->settings, settings);
    if (result == CLI_DONE) {
        loaded->path = path = strcmp(path, "-") == 0 ? cli_input_name : path;
        result = read_and_compile(command, path, settings, changes, loaded);
    }
    cli_free_settings(settings, changes->settings.count);
    return result;
}

int cli_tune(const cli_command *command, cli_model *loaded, const double *parameters) {
    lw_error error = {0};
    lw_model *tuned = NULL;
    bool differs = false;
    lw_status status = LW_OK;
    for (int k = 0; k < lw_model_parameter_count(loaded->model) && status == LW_OK; k++) {
        if (lw_model_parameter_value(loaded->model, k) == parameters[k]) continue;
        differs = true;
        status = lw_spec_set_parameter(loaded->spec, lw_model_parameter_name(loaded->model, k), parameters[k],
                                       &error);
    }
    if (!differs) return CLI_DONE;
    if (status != LW_OK) return cli_fault(command, status, &error);
    status = lw_model_compile(loaded->spec, NULL, loaded->report, &tuned);
    if (status != LW_OK) {
        cli_tell(loaded->report);
        return status == LW_ERROR_MEMORY ? CLI_FAILED : CLI_WRONG;
    }
    lw_model_destroy(loaded->model);
    loaded->model = tuned;
    return CLI_DONE;
}

/* Parses the command line and reads the model, or *otherwise (may be NULL) if none is named. */
static bool read_model(const cli_command *command, const cli_option *options, int option_count, int argc,
                       char **argv, const cli_changes *changes, const char *const *otherwise,
                       cli_model *loaded, int *result) {
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
    const char *path = rest.count > 0 ? rest.items[0] : otherwise ? *otherwise : NULL;
    if (!path)
        *result = cli_say(command, CLI_WRONG, "no model file given; the call is linkwork %s %s",
                          command->name, command->arguments);
    else
        *result = cli_load(command, path, changes, loaded);
    return *result == CLI_DONE;
}

bool cli_read_model(const cli_command *command, const cli_option *options, int option_count, int argc,
                    char **argv, const cli_changes *changes, cli_model *loaded, int *result) {
    return read_model(command, options, option_count, argc, argv, changes, NULL, loaded, result);
}

bool cli_open_model(const cli_command *command, const cli_option *options, int option_count, int argc,
                    char **argv, const cli_changes *changes, cli_model *loaded, int *result) {
    return cli_open_model_or(command, options, option_count, argc, argv, changes, NULL, loaded, result);
}

bool cli_open_model_or(const cli_command *command, const cli_option *options, int option_count, int argc,
                       char **argv, const cli_changes *changes, const char *const *otherwise,
                       cli_model *loaded, int *result) {
    bool good = read_model(command, options, option_count, argc, argv, changes, otherwise, loaded, result);
    cli_tell(loaded->report);
    cli_tell_notes(loaded);
    return good;
}

void cli_close_model(cli_model *loaded) {
    lw_report_destroy(loaded->report);
    lw_import_notes_destroy(loaded->notes);
    lw_model_destroy(loaded->model);
    lw_spec_destroy(loaded->spec);
    *loaded = (cli_model){0};
}

const char *cli_method(const char *name) { return name && strcmp(name, "auto") != 0 ? name : NULL; }

/* Adds a warning to the report, or prints it on standard error if there is none. */
static void warn(lw_report *report, const lw_error *warning) {
    char text[2048];
    if (report) {
        (void)lw_report_add(report, warning);
        return;
    }
    lw_error_format(warning, text, sizeof text);
    fprintf(stderr, "%s\n", text);
}

static lw_error warning_of(const lw_model *model) {
    lw_error warning = {.severity = LW_SEVERITY_WARNING};
    snprintf(warning.file, sizeof warning.file, "%s", lw_model_file(model) ? lw_model_file(model) : "");
    return warning;
}

static void warn_of_change(const lw_model *model, int joint, double change, const char *what,
                           lw_report *report) {
    if (joint < 0) return;
    lw_error warning = warning_of(model);
    snprintf(warning.object, sizeof warning.object, "joint \"%.90s\"",
             lw_model_joint_info(model, joint).name);
    snprintf(
        warning.message, sizeof warning.message,
        "the given initial %s do not fit together and were taken as approximate; here one changed by %.3g",
        what, change);
    warn(report, &warning);
}

static bool is_driven(const lw_model *model) {
    for (int j = 0; j < lw_model_joint_count(model); j++)
        if (lw_model_joint_info(model, j).prescribed) return true;
    return false;
}

bool cli_cannot_move(const lw_model *model, const lw_mobility *mobility) {
    return lw_mobility_freedom(mobility) == 0 && lw_model_body_count(model) > 0 && !is_driven(model);
}

/* Warns if nothing can move. The rank of the rows, which are dense here, is computed only if it can equal the
 * number of speeds, and only in models for which this takes no longer than some 10 ms. */
static void warn_of_mobility(const lw_model *model, double t, const double *q, lw_report *report) {
    const double most_work = 3e7;
    double speeds = lw_model_v_size(model), rows = 0;
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        lw_joint_info joint = lw_model_joint_info(model, j);
        if (joint.cut) rows += joint.rows;
    }
    rows += 3 * lw_model_constraint_count(model); /* at most */
    if (rows < speeds || rows * rows * speeds > most_work || is_driven(model)) return;
    lw_mobility *mobility = NULL;
    if (lw_mobility_create(model, t, q, &mobility, NULL) == LW_OK && cli_cannot_move(model, mobility)) {
        lw_error warning = warning_of(model);
        int redundant = lw_mobility_rows(mobility) - lw_mobility_rank(mobility);
        snprintf(warning.message, sizeof warning.message, "mobility 0: nothing can move");
        if (lw_mobility_rows(mobility) > 0)
            snprintf(warning.remedy, sizeof warning.remedy,
                     "its closed loops take all %d freedoms of the tree%s; check the axes of the joints in "
                     "them, or "
                     "let one joint have more freedom",
                     lw_mobility_speeds(mobility), redundant > 0 ? ", some of them twice" : "");
        else
            snprintf(warning.remedy, sizeof warning.remedy, "every joint is a weld; let one of them move");
        warn(report, &warning);
    }
    lw_mobility_destroy(mobility);
}

/* In exact balance all accelerations are exactly zero; otherwise a run departs from its start sooner or
 * later. */
void cli_warn_of_rest(const lw_model *model, const double *q_start, const double *q, const double *v) {
    for (int k = 0; k < lw_model_q_size(model); k++)
        if (q[k] != q_start[k]) return;
    for (int k = 0; k < lw_model_v_size(model); k++)
        if (v[k] != 0) return;
    if (lw_model_v_size(model) == 0 || lw_model_body_count(model) == 0 || is_driven(model)) return;
    lw_error warning = warning_of(model);
    snprintf(warning.message, sizeof warning.message, "nothing moves: it starts at rest and stays there");
    snprintf(warning.remedy, sizeof warning.remedy,
             "if it should move, give initial speeds (v), a force, a drive, gravity, or another position");
    warn(NULL, &warning);
}

lw_status cli_start(const lw_model *model, const lw_run_options *options, double *q, double *v,
                    const char **method, char *why, size_t size, lw_report *report, lw_error *error) {
    lw_assembly assembly;
    lw_status status = lw_run_start(model, options, q, v, &assembly, method, why, size, error);
    if (status != LW_OK) return status;
    warn_of_change(model, assembly.moved_joint, assembly.moved, "coordinates", report);
    warn_of_change(model, assembly.changed_joint, assembly.changed, "speeds", report);
    warn_of_mobility(model, options->start, q, report);
    return LW_OK;
}

double *cli_numbers(const cli_command *command, int count) {
    double *numbers = calloc((size_t)count + 1, sizeof *numbers);
    if (!numbers) cli_say(command, CLI_FAILED, "out of memory");
    return numbers;
}

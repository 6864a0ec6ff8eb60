/* cmd_check.c - linkwork check: all faults of a model at once, with places and remedies.
 */
#include "json.h"
#include "load.h"

#include <linkwork/fmu.h>
#include <linkwork/massless.h>
#include <stdlib.h>
#include <string.h>

/* --- the run section ------------------------------------------------------------------------------- */

static bool check_options(cli_model *loaded, const lw_model *model, const lw_run_options *options) {
    lw_error error = {0};
    if (lw_run_check(model, options, &error) == LW_OK) return true;
    snprintf(error.file, sizeof error.file, "%s", loaded->path);
    snprintf(error.object, sizeof error.object, "run");
    error.place = lw_model_run(model)->place;
    (void)lw_report_add(loaded->report, &error);
    return false;
}

/* Checks the run section of the file: numbers, and separately the names of method, integrator and drift
 * control. */
static void check_run(cli_model *loaded, const lw_model *model) {
    lw_run_options given, options;
    lw_run_defaults(model, &given);
    options = given;
    options.method = options.integrator = options.drift = NULL;
    if (!check_options(loaded, model, &options)) return;
    const lw_run_options bare = options;
    options.method = given.method;
    check_options(loaded, model, &options);
    options = bare;
    options.integrator = given.integrator;
    check_options(loaded, model, &options);
    options = bare;
    options.drift = given.drift;
    check_options(loaded, model, &options);
}

/* Checks the run section of a file with other faults, on a model that has only this section. */
static void check_run_alone(const cli_command *command, const cli_list *texts, cli_model *loaded) {
    lw_setting settings[CLI_LIST_MAX] = {0};
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    if (loaded->path != cli_input_name && cli_split_settings(command, texts, settings) == CLI_DONE &&
        lw_read_run(loaded->path, settings, (size_t)texts->count, &spec) == LW_OK &&
        lw_model_compile(spec, NULL, NULL, &model) == LW_OK)
        check_run(loaded, model);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    cli_free_settings(settings, texts->count);
}

/* --- the initial state ----------------------------------------------------------------------------- */

static void add_fault(cli_model *loaded, const lw_error *fault) {
    (void)lw_report_add(loaded->report, fault);
}

/* Returns whether auto would use method massless at this state, or find no method. */
static bool takes_massless(const lw_model *model, double t, const double *q, const double *v) {
    const char *method = lw_method_auto_at(model, t, q, v, NULL, 0, NULL);
    return !method || strcmp(method, "massless") == 0;
}

/* Reports motions that are not determined, and motions without mass that have no speed or stable balance in
 * the initial state. */
static void check_motions(cli_model *loaded) {
    lw_directions *directions = NULL;
    lw_error error = {0};
    if (lw_directions_create(loaded->model, &directions, &error) != LW_OK) return;
    bool determined = true;
    for (int k = 0; k < lw_directions_count(directions); k++) {
        const lw_direction *direction = lw_directions_at(directions, k);
        if (direction->kind != LW_DIRECTION_UNDETERMINED) continue;
        add_fault(loaded, &direction->error);
        determined = false;
    }
    lw_directions_destroy(directions);
    if (determined && lw_directions_balance(loaded->model, &error) != LW_OK) add_fault(loaded, &error);
}

/* Reports loops that do not close, and speeds and motions that contradict each other; then motions without
 * mass, where a run would have to do with them. */
static void check_start(const cli_command *command, cli_model *loaded) {
    lw_error error = {0};
    lw_run_options options;
    double *q = cli_numbers(command, lw_model_q_size(loaded->model));
    double *v = cli_numbers(command, lw_model_v_size(loaded->model));
    lw_run_defaults(loaded->model, &options);
    if (q && v) {
        if (cli_start(loaded->model, &options, q, v, NULL, NULL, 0, loaded->report, &error) != LW_OK)
            add_fault(loaded, &error);
        else if (takes_massless(loaded->model, options.start, q, v))
            check_motions(loaded);
    }
    free(q), free(v);
}

/* --- a file that is a part ------------------------------------------------------------------------- */

/* The first body of a report that is not connected to ground; NULL if something else is wrong first. */
static const lw_error *loose_body(const lw_report *report) {
    for (size_t k = 0; k < lw_report_size(report); k++) {
        const lw_error *fault = lw_report_get(report, k);
        if (fault->severity == LW_SEVERITY_WARNING) continue;
        return strncmp(fault->message, "is not connected to ground", 26) == 0 ? fault : NULL;
    }
    return NULL;
}

/* The body that a joint names: itself, or that of a frame. */
static const char *body_of(lw_spec *spec, const char *name) {
    for (size_t k = 0; k < lw_spec_frame_count(spec); k++)
        if (strcmp(lw_spec_frame(spec, k)->name, name) == 0) return lw_spec_frame(spec, k)->body;
    return name;
}

/* Do joints of the file lead from this body to ground? O(bodies x joints), of files that are small. */
static bool is_grounded(lw_spec *spec, const char *name) {
    const size_t joints = lw_spec_joint_count(spec);
    bool *passed = calloc(joints + 1, sizeof *passed);
    const char **reached = calloc(joints + 2, sizeof *reached);
    size_t count = 0;
    bool found = false;
    if (passed && reached) reached[count++] = name;
    for (size_t at = 0; at < count && !found; at++) {
        found = strcmp(reached[at], LW_GROUND) == 0;
        for (size_t k = 0; k < joints; k++) {
            const lw_joint_spec *joint = lw_spec_joint(spec, k);
            if (passed[k] || joint->place.line == 0) continue;
            const char *first = body_of(spec, joint->bodies[0]), *second = body_of(spec, joint->bodies[1]);
            const bool here = strcmp(first, reached[at]) == 0;
            if (!here && strcmp(second, reached[at]) != 0) continue;
            passed[k] = true;
            reached[count++] = here ? second : first;
        }
    }
    free(passed);
    free(reached);
    return found;
}

/* Is this body, or nothing at all in the file, meant to be held from outside? A body that joints lead from
 * to ground is not, nor one with mass beside others that are joined to ground, which is more likely
 * forgotten. */
static bool is_mounting(lw_spec *spec, const char *name) {
    bool grounded = false, used = false;
    if (is_grounded(spec, name)) return false;
    for (size_t k = 0; k < lw_spec_joint_count(spec); k++) {
        const lw_joint_spec *joint = lw_spec_joint(spec, k);
        for (int side = 0; side < 2 && joint->place.line > 0; side++) {
            grounded = grounded || strcmp(joint->bodies[side], LW_GROUND) == 0;
            used = used || strcmp(body_of(spec, joint->bodies[side]), name) == 0;
        }
    }
    if (!used) return false;
    for (size_t k = 0; k < lw_spec_body_count(spec); k++)
        if (strcmp(lw_spec_body(spec, k)->name, name) == 0 && lw_spec_body(spec, k)->mass == 0) return true;
    return !grounded;
}

/* A body without mass that nothing holds alone is held by what it is joined to. False: the fault is
 * another. */
static bool hold_massless(lw_spec *spec, const lw_error *fault, lw_report *lacks) {
    char name[sizeof fault->object] = "";
    if (fault->severity == LW_SEVERITY_WARNING) return true;
    if (strncmp(fault->message, "is not connected to ground", 26) == 0) return true;
    if (strncmp(fault->message, "has no mass", 11) != 0 ||
        sscanf(fault->object, "body \"%111[^\"]", name) != 1 || !is_mounting(spec, name))
        return false;
    const lw_joint_spec weld = {.name = fault->object, .bodies = {LW_GROUND, name}};
    lw_error lack = *fault;
    lack.severity = LW_SEVERITY_WARNING;
    snprintf(lack.message, sizeof lack.message, "alone it lacks a body that holds it");
    snprintf(lack.remedy, sizeof lack.remedy, "joins of the model that uses the part give one");
    (void)lw_report_add(lacks, &lack);
    return lw_spec_add_joint(spec, &weld) == LW_OK;
}

/* Compiles the spec with one loose body after the other welded to ground, as joins of a model would hold
 * them. Returns a report of these bodies, as warnings; NULL if that is not all that is wrong. */
static lw_report *lacks_of(lw_spec *spec, const lw_report *alone) {
    lw_report *lacks = lw_report_create();
    bool whole = false;
    for (size_t k = 0; lacks && k < lw_report_size(alone); k++)
        if (!hold_massless(spec, lw_report_get(alone, k), lacks)) {
            lw_report_destroy(lacks);
            return NULL;
        }
    for (size_t k = 0; lacks && !whole && k <= lw_spec_body_count(spec); k++) {
        lw_report *found = lw_report_create();
        lw_model *model = NULL;
        whole = found && lw_model_compile(spec, NULL, found, &model) == LW_OK;
        const lw_error *loose = whole || !found ? NULL : loose_body(found);
        lw_model_destroy(model);
        char name[sizeof loose->object] = "";
        if (loose && sscanf(loose->object, "body \"%111[^\"]", name) == 1 && !is_mounting(spec, name))
            name[0] = '\0';
        if (loose && name[0]) {
            const lw_joint_spec weld = {.name = loose->object, .bodies = {LW_GROUND, name}};
            lw_error lack = *loose;
            lack.severity = LW_SEVERITY_WARNING;
            snprintf(lack.message, sizeof lack.message, "alone it lacks a connection to ground");
            snprintf(lack.remedy, sizeof lack.remedy, "joins of the model that uses the part give one");
            (void)lw_report_add(lacks, &lack);
            if (lw_spec_add_joint(spec, &weld) != LW_OK) name[0] = '\0';
        }
        lw_report_destroy(found);
        if (!whole && !name[0]) break;
    }
    if (whole) return lacks;
    lw_report_destroy(lacks);
    return NULL;
}

/* What a file without a run lacks to be a model of its own, if it is sound as a part; otherwise NULL. */
static lw_report *check_as_part(const cli_command *command, const cli_changes *changes,
                                const cli_model *loaded) {
    lw_setting settings[CLI_LIST_MAX] = {0};
    lw_spec *spec = NULL;
    lw_report *lacks = NULL;
    if (cli_split_settings(command, &changes->settings, settings) == CLI_DONE) {
        lw_read_options options = {.settings = settings,
                                   .setting_count = (size_t)changes->settings.count,
                                   .any_path = changes->any_path};
        if (loaded->path == cli_input_name) (void)cli_read_input(command, &options.text, &options.length);
        if (lw_read_model_with(loaded->path, &options, NULL, &spec) == LW_OK &&
            lw_spec_run(spec)->place.line == 0)
            lacks = lacks_of(spec, loaded->report);
    }
    lw_spec_destroy(spec);
    cli_free_settings(settings, changes->settings.count);
    return lacks;
}

static void print_lacks(const cli_model *loaded, const lw_report *lacks) {
    cli_shown space;
    printf("%s: 0 errors as a part; alone it lacks", cli_show(loaded->path, &space));
    for (size_t k = 0; k < lw_report_size(lacks); k++)
        printf("%s %s", k ? "," : " a connection to ground, or to a body with mass, of",
               lw_report_get(lacks, k)->object);
    printf("\n");
}

/* --- the report ------------------------------------------------------------------------------------ */

/* Orders faults as in the file; faults at the same place keep the order in which they were found. */
static int compare_places(const void *a, const void *b) {
    const lw_error *first = *(const lw_error *const *)a, *second = *(const lw_error *const *)b;
    if (first->place.line != second->place.line) return first->place.line < second->place.line ? -1 : 1;
    if (first->place.column != second->place.column)
        return first->place.column < second->place.column ? -1 : 1;
    return (first > second) - (first < second);
}

static void json_place(json *j, const char *key, int number) {
    if (number > 0)
        json_integer(j, key, number);
    else
        json_text(j, key, NULL);
}

static void json_faults(json *j, const lw_error *const *faults, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const lw_error *fault = faults[i];
        json_object(j, NULL);
        json_text(j, "severity", fault->severity == LW_SEVERITY_WARNING ? "warning" : "error");
        json_text(j, "file", fault->file);
        json_place(j, "line", fault->place.line);
        json_place(j, "column", fault->place.column);
        json_text(j, "object", fault->object[0] ? fault->object : NULL);
        json_text(j, "message", fault->message);
        json_text(j, "remedy", fault->remedy[0] ? fault->remedy : NULL);
        json_object_end(j);
    }
}

static void print_text(const cli_model *loaded, const lw_error *const *faults, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char text[2048];
        lw_error_format(faults[i], text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    cli_shown space;
    printf("%s: %zu error%s, %zu warning%s\n", cli_show(loaded->path, &space), loaded->errors,
           loaded->errors == 1 ? "" : "s", loaded->warnings, loaded->warnings == 1 ? "" : "s");
}

/* Adds the faults to the list j or, where it is NULL, prints them. */
static int report(const cli_command *command, cli_model *loaded, json *j) {
    size_t count = lw_report_size(loaded->report);
    loaded->errors = lw_report_errors(loaded->report);
    loaded->warnings = count - loaded->errors;
    const lw_error **faults = calloc(count + 1, sizeof *faults);
    if (!faults) return cli_say(command, CLI_FAILED, "out of memory");
    for (size_t i = 0; i < count; i++) faults[i] = lw_report_get(loaded->report, i);
    qsort(faults, count, sizeof *faults, compare_places);
    if (j)
        json_faults(j, faults, count);
    else
        print_text(loaded, faults, count);
    free(faults);
    return loaded->errors > 0 ? CLI_WRONG : CLI_DONE;
}

static bool is_fmu(const char *path) {
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".fmu") == 0;
}

static int check_fmu(const cli_command *command, const char *path, json *j) {
    cli_model loaded = {.path = path, .report = lw_report_create()};
    if (!loaded.report) return cli_say(command, CLI_FAILED, "out of memory");
    (void)lw_fmu_check(path, loaded.report);
    const int result = report(command, &loaded, j);
    lw_report_destroy(loaded.report);
    return result;
}

static int check_file(const cli_command *command, const char *path, const cli_changes *changes, json *j) {
    cli_model loaded = {0};
    int result = cli_load(command, path, changes, &loaded);
    if (loaded.report) {
        if (loaded.model) {
            check_run(&loaded, loaded.model);
            check_start(command, &loaded);
        } else
            check_run_alone(command, &changes->settings, &loaded);
        lw_report *lacks = NULL;
        if (lw_report_errors(loaded.report) > 0) lacks = check_as_part(command, changes, &loaded);
        if (lacks) {
            lw_report *all = loaded.report;
            loaded.report = lacks;
            result = j ? report(command, &loaded, j) : CLI_DONE;
            if (!j) print_lacks(&loaded, lacks);
            loaded.report = all;
            lw_report_destroy(lacks);
        } else {
            int told = report(command, &loaded, j);
            if (result == CLI_DONE) result = told;
        }
    }
    cli_close_model(&loaded);
    return result;
}

static int check(const cli_command *command, int argc, char **argv) {
    cli_changes changes = {.any_path = false};
    bool as_json = false;
    const cli_option options[] = {
        CLI_SET_OPTION(changes),
        CLI_BEGIN_OPTION(changes),
        CLI_PATH_OPTION(changes),
        CLI_IMPORT_OPTIONS(changes),
        {"json", NULL, "print the faults of all files as one JSON document, a list", NULL, .flag = &as_json},
    };
    cli_list files = {.count = 0};
    switch (
        cli_parse(command, options, sizeof options / sizeof options[0], argc, argv, &files, CLI_LIST_MAX)) {
    case CLI_HELPED:
        return CLI_DONE;
    case CLI_MISTAKEN:
        return CLI_WRONG;
    case CLI_PARSED:
        break;
    }
    if (files.count == 0)
        return cli_say(command, CLI_WRONG, "no model file given; the call is linkwork %s %s", command->name,
                       command->arguments);
    json j;
    if (as_json) {
        json_begin(&j, stdout);
        json_array(&j, NULL);
    }
    int worst = CLI_DONE;
    for (int k = 0; k < files.count && !(worst == CLI_FAILED); k++) {
        json *list = as_json ? &j : NULL;
        const char *path = files.items[k];
        const int result =
            is_fmu(path) ? check_fmu(command, path, list) : check_file(command, path, &changes, list);
        if (result != CLI_DONE) worst = result;
    }
    if (as_json) {
        json_array_end(&j);
        json_end(&j);
    }
    return worst;
}

const cli_command cli_check = {
    "check",
    "MODEL ... [options]",
    "every fault of models at once, with places and remedies",
    "Exit status 0 without errors (warnings do not count), 2 with errors. A file without "
    "a run that lacks nothing but joints to ground is taken for a part. Of an FMU (FILE.fmu, of any program) "
    "the\n"
    "archive and the description are checked, and its library is run in a child process.",
    check,
    NULL};

/* read_model.c - model files (docs/model-format.md) to specs.
 *
 * A file is loaded whole (at most LW_YAML_MAX_BYTES), converted to a tree (yaml.c), and read section by
 * section: parameters and inputs first, then tables, parts, bodies, frames, joints, starts, forces,
 * constraints, events, in any order in the file, so that each reference can be checked when it is read.
 * Faults are reported in the order of the file. Cost O(size of the file + number of objects).
 */
#include "io/model_read/reader.h"
#include "io/results/read_results.h"
#include "io/whole_file.h"
#include "model/spec/spec_storage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- sections ------------------------------------------------------------------------------------- */

static void read_gravity(lw_reader *reader, const lw_yaml *node) {
    double gravity[3];
    reader->waiting_count = 0;
    if (!node || !lw_reader_numbers(reader, node, "gravity", LW_ACCELERATION, 3, gravity)) return;
    lw_spec_set_gravity(reader->spec, gravity);
    lw_reader_bound(reader, LW_OWNER_GRAVITY, 0, gravity, sizeof gravity);
}

static void read_welds(lw_reader *reader, const lw_yaml *node) {
    static const char *const choices[] = {[LW_WELDS_MERGE] = "merge", [LW_WELDS_KEEP] = "keep", NULL};
    const int choice = node ? lw_reader_choice(reader, node, "welds", choices) : -1;
    if (choice >= 0) lw_reader_check(reader, lw_spec_set_welds(reader->spec, (lw_welds)choice));
}

/* Converts a list of names to one text, separated by commas, which no name contains. */
static const char *read_names(lw_reader *reader, const lw_yaml *list) {
    size_t length = 1;
    for (size_t k = 0; k < list->count; k++) {
        const char *name = lw_reader_text(reader, list->items[k], "independent");
        if (!name) return NULL;
        length += strlen(name) + 2;
    }
    char *text = LW_NEW(reader->arena, char, length);
    if (!text) reader->out_of_memory = true;
    for (size_t k = 0, used = 0; text && k < list->count; k++)
        used += (size_t)snprintf(text + used, length - used, "%s%s", k ? ", " : "",
                                 lw_reader_text(reader, list->items[k], "independent"));
    return text;
}

static void read_run(lw_reader *reader, const lw_yaml *node) {
    static const char *const keys[] = {"end",       "step",       "tolerance", "output",
                                       "method",    "integrator", "drift",     "independent",
                                       "reactions", "baumgarte",  "begin",     NULL};
    if (!node || node->kind == LW_YAML_NULL) return;
    snprintf(reader->object, sizeof reader->object, "run");
    lw_run_spec run = {.place = node->place};
    reader->waiting_count = 0;
    if (lw_reader_keys(reader, node, keys)) {
        double *numbers[] = {&run.end, &run.step, &run.tolerance, &run.output};
        static const lw_quantity quantities[] = {LW_TIME, LW_TIME, LW_PLAIN_NUMBER, LW_TIME};
        const char **texts[] = {&run.method, &run.integrator, &run.drift, &run.independent, &run.reactions};
        for (int k = 0; k < 4; k++) {
            if (!lw_reader_key_number(reader, node, keys[k], quantities[k], numbers[k]) || *numbers[k] > 0)
                continue;
            lw_reader_fault(reader, lw_yaml_get(node, keys[k])->place, "give a positive number",
                            "%s %g is not positive", keys[k], *numbers[k]);
            *numbers[k] = 0;
        }
        if (run.tolerance >= 1) {
            lw_reader_fault(reader, lw_yaml_get(node, "tolerance")->place,
                            "give a relative tolerance, e.g. 1e-6", "tolerance %g is not below 1",
                            run.tolerance);
            run.tolerance = 0;
        }
        for (int k = 0; k < 5; k++) {
            const lw_yaml *text = lw_yaml_get(node, keys[4 + k]);
            if (text && text->kind == LW_YAML_LIST && texts[k] == &run.independent)
                run.independent = read_names(reader, text);
            else if (text)
                *texts[k] = lw_reader_text(reader, text, keys[4 + k]);
        }
        const lw_yaml *begin = lw_yaml_get(node, "begin");
        if (begin && !reader->only_run) run.begin = lw_reader_text(reader, begin, "begin");
        static const lw_quantity rates[2] = {LW_ANGULAR_SPEED, LW_ANGULAR_SPEED}; /* 1/s */
        const lw_yaml *baumgarte = lw_yaml_get(node, "baumgarte");
        if (baumgarte && lw_reader_mixed_numbers(reader, baumgarte, "baumgarte", rates, 2, run.baumgarte) &&
            !(run.baumgarte[0] > 0 && run.baumgarte[1] > 0))
            lw_reader_fault(reader, baumgarte->place, "give alpha and beta, e.g. [10, 10]",
                            "baumgarte [%g, %g] is not positive", run.baumgarte[0], run.baumgarte[1]);
        for (int k = 0; k < 4; k++)
            lw_reader_bind_rule(reader, numbers[k], k == 2 ? LW_RULE_FRACTION : LW_RULE_POSITIVE);
        for (int k = 0; k < 2; k++) lw_reader_bind_rule(reader, &run.baumgarte[k], LW_RULE_POSITIVE);
        lw_status status = lw_spec_set_run(reader->spec, &run);
        lw_reader_check(reader, status);
        if (status == LW_OK) lw_reader_bound(reader, LW_OWNER_RUN, 0, &run, sizeof run);
    }
    reader->object[0] = '\0';
}

/* The first line says that this is a model and how to read it. */
static bool good_version(lw_reader *reader, const lw_yaml *root) {
    static const char *const remedy = "a model starts with the line \"linkwork: 1\"";
    if (root->kind != LW_YAML_MAP) {
        lw_reader_fault(reader, root->place, remedy, "this is not a model: it is a %s",
                        root->kind == LW_YAML_LIST ? "list" : "text");
        return false;
    }
    const lw_yaml *version = lw_yaml_get(root, "linkwork");
    if (!version) {
        lw_reader_fault(reader, root->place, remedy, "key \"linkwork\" is missing");
        return false;
    }
    if (version->kind != LW_YAML_TEXT || strcmp(version->text, "1") != 0) {
        lw_reader_fault(reader, version->place,
                        "this program reads version 1; a newer file needs a newer program",
                        "version \"%.40s\" of the model format is not known",
                        version->kind == LW_YAML_TEXT ? version->text : "");
        return false;
    }
    if (root->items[1] != version) {
        lw_reader_fault(reader, root->items[0]->place, remedy, "\"%.40s\" stands before \"linkwork\"",
                        root->items[0]->text);
    }
    return true;
}

static void read_root(lw_reader *reader, const lw_yaml *root, const lw_setting *settings,
                      size_t setting_count) {
    static const char *const keys[] = {"linkwork", "name",   "description", "parameters",  "inputs", "tables",
                                       "signals",  "states", "outputs",     "gravity",     "bodies", "frames",
                                       "joints",   "starts", "forces",      "constraints", "events", "parts",
                                       "run",      "welds",  "beams",       NULL};
    if (!good_version(reader, root)) return;
    lw_reader_keys(reader, root, keys);
    /* The section is under a misspelt key. */
    reader->bodies.incomplete = lw_reader_suggested(reader, root, "bodies");
    reader->frames.incomplete = lw_reader_suggested(reader, root, "frames");
    reader->joints.incomplete = lw_reader_suggested(reader, root, "joints");
    const lw_yaml *name = lw_yaml_get(root, "name"), *description = lw_yaml_get(root, "description");
    if (name && name->kind != LW_YAML_TEXT) {
        lw_reader_fault(reader, name->place, "write name: text", "the model's name is no text");
        name = NULL;
    }
    if (description && description->kind != LW_YAML_TEXT) {
        lw_reader_fault(reader, description->place, "write description: text", "the description is no text");
    }
    reader->spec = lw_spec_create(name ? name->text : reader->file);
    if (!reader->spec) {
        reader->out_of_memory = true;
        return;
    }
    lw_reader_check(reader, lw_spec_set_file(reader->spec, reader->file));
    reader->table_section = lw_yaml_get(root, "tables");
    reader->has_parts = lw_yaml_get(root, "parts") || lw_yaml_get(root, "beams");
    reader->settings = settings, reader->setting_count = setting_count;
    lw_read_parameters(reader, lw_yaml_get(root, "parameters"), lw_yaml_get(root, "inputs"), settings,
                       setting_count);
    if (reader->out_of_memory) return;
    if (!reader->only_run) {
        lw_read_tables(reader, reader->table_section);
        lw_read_parts(reader, lw_yaml_get(root, "parts"), lw_yaml_get(root, "beams"));
        lw_append_values(reader);
        if (reader->out_of_memory) return;
    }
    lw_read_signals(reader, lw_yaml_get(root, "states"), lw_yaml_get(root, "signals"));
    if (!reader->only_run) {
        read_gravity(reader, lw_yaml_get(root, "gravity"));
        read_welds(reader, lw_yaml_get(root, "welds"));
        lw_append_names(reader);
        lw_read_bodies(reader, lw_yaml_get(root, "bodies"));
        lw_read_frames(reader, lw_yaml_get(root, "frames"));
        lw_read_joints(reader, lw_yaml_get(root, "joints"));
        lw_read_starts(reader, lw_yaml_get(root, "starts"));
        lw_read_forces(reader, lw_yaml_get(root, "forces"));
        lw_read_constraints(reader, lw_yaml_get(root, "constraints"));
        lw_read_outputs(reader, lw_yaml_get(root, "outputs"));
        lw_read_events(reader, lw_yaml_get(root, "events"));
        lw_append_objects(reader);
    }
    read_run(reader, lw_yaml_get(root, "run"));
    lw_read_later(reader);
}

/* --- faults in the order of the file -------------------------------------------------------------- */

/* Those of a file that is used as a part follow those of the file itself, in the order in which they were
 * found. */
static bool is_of_part(const lw_error *error) { return strstr(error->message, "(used as part \"") != NULL; }

static int compare_places(const void *a, const void *b) {
    const lw_error *first = *(const lw_error *const *)a, *second = *(const lw_error *const *)b;
    lw_place p = first->place, q = second->place;
    if (is_of_part(first) != is_of_part(second)) return is_of_part(first) ? 1 : -1;
    if (is_of_part(first)) return (first > second) - (first < second);
    if (p.line != q.line) return p.line < q.line ? -1 : 1;
    if (p.column != q.column) return p.column < q.column ? -1 : 1;
    return (first > second) - (first < second); /* order in which they were found */
}

static void hand_over(const lw_report *found, lw_report *report) {
    size_t count = lw_report_size(found);
    const lw_error **order = malloc((count + 1) * sizeof *order);
    for (size_t k = 0; order && k < count; k++) order[k] = lw_report_get(found, k);
    if (order) qsort(order, count, sizeof *order, compare_places);
    for (size_t k = 0; k < count; k++)
        (void)lw_report_add(report, order ? order[k] : lw_report_get(found, k));
    free(order);
}

/* --- calls ---------------------------------------------------------------------------------------- */

static lw_status read_text(lw_reader *reader, const char *text, size_t length, const lw_setting *settings,
                           size_t setting_count, lw_report *report, lw_spec **spec) {
    lw_status status = LW_ERROR_MEMORY;
    *spec = NULL;
    reader->arena = lw_arena_create(NULL);
    reader->report = lw_report_create();
    if (reader->arena && reader->report) {
        const lw_yaml *root = NULL;
        status = lw_yaml_parse(reader->arena, text, length, reader->file, reader->report, &root);
        if (reader->only_run && root) status = LW_OK;
        if (root) read_root(reader, root, settings, setting_count);
        if (status == LW_OK && (reader->faults > 0 || !reader->spec)) status = LW_ERROR_MODEL;
        /* A faulty model is not compiled, but faults of its other parts are reported, too. */
        if (status == LW_ERROR_MODEL && reader->spec) {
            lw_spec_check_parts(reader->spec, reader->report);
            if (!reader->user && !reader->has_parts) lw_report_loose(reader, lw_yaml_get(root, "joints"));
        }
        if (reader->out_of_memory) status = LW_ERROR_MEMORY;
        if (report) hand_over(reader->report, report);
    }
    if (status == LW_OK) {
        *spec = reader->spec;
    } else {
        lw_spec_destroy(reader->spec);
    }
    lw_reader_free_parts(reader);
    lw_report_destroy(reader->report);
    lw_arena_destroy(reader->arena);
    return status;
}

static lw_status read_file(lw_reader *reader, const char *path, const lw_setting *settings,
                           size_t setting_count, lw_report *report, lw_spec **spec) {
    *spec = NULL;
    char *text = NULL;
    size_t length = 0;
    lw_status status =
        lw_whole_file(path, LW_YAML_MAX_BYTES, "describe large models with repeat", report, &text, &length);
    reader->part_bytes += reader->user ? length : 0;
    if (status == LW_OK && reader->part_bytes > LW_YAML_MAX_BYTES)
        status = lw_file_fault(report, path, "use fewer or smaller files",
                               "the files of all parts are together larger than 64 MiB");
    if (status == LW_OK) status = read_text(reader, text, length, settings, setting_count, report, spec);
    free(text);
    return status;
}

lw_status lw_read_part_file(lw_reader *reader, const char *path, const lw_setting *settings,
                            size_t setting_count, lw_report *report, lw_spec **spec) {
    return read_file(reader, path, settings, setting_count, report, spec);
}

lw_status lw_read_part_text(lw_reader *reader, const char *text, const lw_setting *settings,
                            size_t setting_count, lw_report *report, lw_spec **spec) {
    return read_text(reader, text, strlen(text), settings, setting_count, report, spec);
}

/* Has every setting a name and a value? */
static bool settings_given(const lw_setting *settings, size_t count) {
    if (count > 0 && !settings) return false;
    for (size_t k = 0; k < count; k++)
        if (!settings[k].name || !settings[k].value) return false;
    return true;
}

lw_status lw_read_model_text(const char *text, size_t length, const char *name, const lw_setting *settings,
                             size_t setting_count, lw_report *report, lw_spec **spec) {
    if (spec) *spec = NULL;
    if (!spec || (!text && length > 0) || !settings_given(settings, setting_count)) return LW_ERROR_ARGUMENT;
    lw_reader reader = {.file = name ? name : ""};
    return read_text(&reader, text, length, settings, setting_count, report, spec);
}

/* The model that a results file carries, with parameters set as reading a model file would set them. */
static lw_status read_results(const char *path, const lw_setting *settings, size_t setting_count,
                              lw_report *report, lw_spec **spec) {
    lw_error error = {0};
    lw_status status = lw_results_spec(path, spec, &error);
    for (size_t k = 0; k < setting_count && status == LW_OK; k++) {
        double value = 0;
        status = lw_read_number(settings[k].value, NULL, &value, &error);
        if (status == LW_OK) status = lw_spec_set_parameter(*spec, settings[k].name, value, &error);
    }
    if (status == LW_OK) return LW_OK;
    if (report) (void)lw_report_add(report, &error);
    lw_spec_destroy(*spec);
    *spec = NULL;
    return status;
}

lw_status lw_read_model(const char *path, const lw_setting *settings, size_t setting_count, lw_report *report,
                        lw_spec **spec) {
    if (spec) *spec = NULL;
    if (!spec || !path || !settings_given(settings, setting_count)) return LW_ERROR_ARGUMENT;
    if (lw_is_results(path)) return read_results(path, settings, setting_count, report, spec);
    lw_reader reader = {.file = path, .has_folder = true};
    return read_file(&reader, path, settings, setting_count, report, spec);
}

lw_status lw_read_model_with(const char *path, const lw_read_options *options, lw_report *report,
                             lw_spec **spec) {
    if (spec) *spec = NULL;
    if (!spec || !path || !options || !settings_given(options->settings, options->setting_count))
        return LW_ERROR_ARGUMENT;
    lw_reader reader = {.file = path, .has_folder = true, .any_path = options->any_path};
    if (options->text)
        return read_text(&reader, options->text, options->length, options->settings, options->setting_count,
                         report, spec);
    if (lw_is_results(path))
        return read_results(path, options->settings, options->setting_count, report, spec);
    return read_file(&reader, path, options->settings, options->setting_count, report, spec);
}

lw_status lw_read_run(const char *path, const lw_setting *settings, size_t setting_count, lw_spec **spec) {
    if (spec) *spec = NULL;
    if (!spec || !path || !settings_given(settings, setting_count)) return LW_ERROR_ARGUMENT;
    if (lw_is_results(path)) return read_results(path, settings, setting_count, NULL, spec);
    lw_reader reader = {.file = path, .muted = true, .only_run = true};
    return read_file(&reader, path, settings, setting_count, NULL, spec);
}

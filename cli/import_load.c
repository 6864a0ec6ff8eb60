/* import_load.c - reads a model file, or a file in another format with the options of its import.
 */
#include "load.h"

#include <stdio.h>
#include <string.h>

/* Fills the options of an import from those of the command line. */
static int options_of(const cli_command *command, const cli_changes *changes, lw_import_options *options) {
    lw_import_defaults(options);
    if (changes->base && strcmp(changes->base, "free") == 0)
        options->base = LW_BASE_FREE;
    else if (changes->base && strcmp(changes->base, "fixed") != 0)
        return cli_say(command, CLI_WRONG, "--base: \"%s\" is neither fixed nor free", changes->base);
    if (changes->loops && strcmp(changes->loops, "joints") == 0)
        options->loops = LW_LOOPS_JOINTS;
    else if (changes->loops && strcmp(changes->loops, "as-written") != 0)
        return cli_say(command, CLI_WRONG, "--loops: \"%s\" is neither as-written nor joints",
                       changes->loops);
    options->keep_fixed = changes->keep_fixed;
    options->key = changes->key;
    options->folders = changes->folders.items;
    options->folder_count = (size_t)changes->folders.count;
    options->any_path = changes->any_path;
    return CLI_DONE;
}

/* Options of imports have no meaning for a model file. */
static int refuse_options(const cli_command *command, const char *path, const cli_changes *changes) {
    const char *given = changes->base                ? "base"
                        : changes->loops             ? "loops"
                        : changes->key               ? "key"
                        : changes->keep_fixed        ? "keep-fixed"
                        : changes->folders.count > 0 ? "package-path"
                                                     : NULL;
    if (!given) return CLI_DONE;
    return cli_say(command, CLI_WRONG,
                   "--%s is for files in URDF, SDF, MJCF or CAD's XML, and %s is none of these", given, path);
}

int cli_read_spec(const cli_command *command, const char *path, const lw_setting *settings,
                  const cli_changes *changes, cli_model *loaded, lw_status *status) {
    lw_read_options reading = {.settings = settings,
                               .setting_count = (size_t)changes->settings.count,
                               .any_path = changes->any_path};
    if (path == cli_input_name) {
        const int result = cli_read_input(command, &reading.text, &reading.length);
        if (result != CLI_DONE) return result;
    }
    const lw_import_format format =
        reading.text ? lw_import_format_of_text(reading.text, reading.length) : lw_import_format_of(path);
    *status = LW_OK;
    if (format != LW_FORMAT_MODEL && reading.text)
        return cli_say(command, CLI_WRONG,
                       "standard input holds XML, which refers to files beside it; give it as a file");
    if (format == LW_FORMAT_MODEL) {
        const int result = refuse_options(command, path, changes);
        if (result != CLI_DONE) return result;
        *status = lw_read_model_with(path, &reading, loaded->report, &loaded->spec);
        return CLI_DONE;
    }
    lw_import_options options;
    const int result = options_of(command, changes, &options);
    if (result != CLI_DONE) return result;
    loaded->notes = options.notes = lw_import_notes_create();
    if (!loaded->notes) return cli_say(command, CLI_FAILED, "out of memory");
    *status = lw_import(path, &options, loaded->report, &loaded->spec);
    for (int k = 0; k < changes->settings.count && *status == LW_OK; k++) {
        lw_error error = {0};
        double value = 0;
        *status = lw_read_number(settings[k].value, NULL, &value, &error);
        if (*status == LW_OK) *status = lw_spec_set_parameter(loaded->spec, settings[k].name, value, &error);
        if (*status != LW_OK) (void)lw_report_add(loaded->report, &error);
    }
    return CLI_DONE;
}

void cli_tell_notes(const cli_model *loaded) {
    if (lw_import_notes_size(loaded->notes) == 0) return;
    cli_shown space;
    fprintf(stderr, "%s: note: not as the file says: ", cli_show(loaded->path, &space));
    for (size_t k = 0; k < lw_import_notes_size(loaded->notes); k++) {
        const lw_import_note *note = lw_import_notes_get(loaded->notes, k);
        fprintf(stderr, "%s%d %s", k ? ", " : "", note->count, cli_show(note->kind, &space));
    }
    fprintf(stderr, "; linkwork import tells what this means\n");
}

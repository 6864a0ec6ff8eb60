/* cmd_export.c - linkwork export: a model as MJCF or URDF, and what these formats cannot say of it.
 */
#include "load.h"

#include <linkwork/export.h>

#include <stdio.h>
#include <string.h>

static void tell_notes(const char *path, const lw_import_notes *notes) {
    cli_shown space;
    for (size_t k = 0; k < lw_import_notes_size(notes); k++) {
        const lw_import_note *note = lw_import_notes_get(notes, k);
        fprintf(stderr, "%s: note: %d %s: %s\n", cli_show(path, &space), note->count, note->kind,
                note->meaning);
    }
}

static int export_model(const cli_command *command, int argc, char **argv) {
    cli_changes changes = {.any_path = false};
    const char *out = "-";
    const cli_option options[] = {
        {"out", "FILE", "the file to write; - is standard output", "-", .text = &out},
        CLI_PATH_OPTION(changes),
        CLI_IMPORT_OPTIONS(changes),
    };
    /* The format stands before the model. */
    const char *format = argc > 0 ? argv[0] : "";
    const bool mjcf = strcmp(format, "mjcf") == 0, urdf = strcmp(format, "urdf") == 0;
    const bool asks = argc > 0 && (strcmp(format, "--help") == 0 || strcmp(format, "-h") == 0);
    if (!mjcf && !urdf && !asks)
        return cli_say(command, CLI_WRONG, "\"%s\" is no format; give mjcf or urdf, then the model", format);
    cli_model loaded;
    int result = CLI_DONE;
    const int taken = asks ? 0 : 1;
    const bool good = cli_read_model(command, options, sizeof options / sizeof options[0], argc - taken,
                                     argv + taken, &changes, &loaded, &result);
    cli_tell(loaded.report);
    if (good) {
        lw_error error = {0};
        lw_import_notes *notes = lw_import_notes_create();
        const lw_status status = mjcf ? lw_export_mjcf(loaded.spec, out, notes, &error)
                                      : lw_export_urdf(loaded.spec, out, notes, &error);
        if (status != LW_OK)
            result = cli_fault(command, status, &error);
        else
            tell_notes(loaded.path, notes);
        lw_import_notes_destroy(notes);
    }
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_export = {"export", "mjcf|urdf MODEL [options]",
                                "write a model for MuJoCo (MJCF) or as URDF",
                                "MJCF can say loops, by equalities; URDF trees only. What the format cannot "
                                "say is left out and listed on\n"
                                "standard error, by kind and count, with what that means for the motion.",
                                export_model};

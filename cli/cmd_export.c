/* cmd_export.c - linkwork export: a model as MJCF or URDF, and what these formats cannot say of it; as C; as
 * an FMU (export_fmu_cli.c).
 */
#include "export_fmu_cli.h"
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

static int export_c(const cli_command *command, int argc, char **argv) {
    static const char *const titles[] = {
        "forward dynamics", "inverse dynamics",  "mass matrix",   "kinematics", "rates",
        "derivatives",      "closing positions", "closing speeds"};
    cli_changes changes = {.any_path = false};
    cli_list drives = {0};
    lw_code_options code = {.forward = false};
    const char *out = NULL, *real = "double", *name = NULL, *batch = NULL;
    const cli_option options[] = {
        {"out", "DIR", "the folder for NAME.h, NAME.c and NAME_test.c", "generated", .text = &out},
        {"forward", NULL, "accelerations from forces", NULL, .flag = &code.forward},
        {"inverse", NULL, "forces from accelerations", NULL, .flag = &code.inverse},
        {"mass-matrix", NULL, "the mass matrix", NULL, .flag = &code.mass_matrix},
        {"kinematics", NULL, "places and velocities of all bodies", NULL, .flag = &code.kinematics},
        {"derivatives", NULL, "derivatives of forces and accelerations", NULL, .flag = &code.derivatives},
        {"drive", "NAME",
         "a joint that inverse dynamics of loops may drive (may be repeated; if left out, all of "
         "the tree)",
         "crank", .list = &drives},
        {"step", NULL, "steps in time: rk4 and semi-implicit, with --forward", NULL, .flag = &code.step},
        {"batch", "W", "forward dynamics of 2, 4 or 8 states at a time, in vectors", "4", .text = &batch},
        {"real", "TYPE", "double (if left out) or float", "float", .text = &real},
        {"name", "NAME", "of files and functions; if left out, that of the model", "robot_arm",
         .text = &name},
        CLI_SET_OPTION(changes),
        CLI_BEGIN_OPTION(changes),
        CLI_PATH_OPTION(changes),
        CLI_IMPORT_OPTIONS(changes),
    };
    cli_model loaded;
    int result = CLI_DONE;
    const bool good = cli_open_model(command, options, sizeof options / sizeof options[0], argc, argv,
                                     &changes, &loaded, &result);
    if (good && !out)
        result = cli_say(command, CLI_WRONG, "no folder is given; give one by --out, as --out generated");
    else if (good && strcmp(real, "double") != 0 && strcmp(real, "float") != 0)
        result =
            cli_say(command, CLI_WRONG, "--real %s is no type of numbers here; give double or float", real);
    else if (good && batch && strcmp(batch, "2") != 0 && strcmp(batch, "4") != 0 && strcmp(batch, "8") != 0)
        result = cli_say(command, CLI_WRONG, "--batch %s: give 2, 4 or 8 states at a time", batch);
    else if (good) {
        lw_error error = {0};
        lw_code_summary summary;
        code.batch = batch ? batch[0] - '0' : 0;
        code.single = strcmp(real, "float") == 0;
        code.name = name;
        if (drives.count > 0) code.driven = drives.items, code.driven_count = drives.count;
        const lw_status status = lw_export_c(loaded.model, &code, out, &summary, &error);
        if (status != LW_OK)
            result = cli_fault(command, status, &error);
        else {
            printf("%s/%s.h, %s.c, %s_test.c\n", out, summary.name, summary.name, summary.name);
            for (size_t k = 0; k < sizeof titles / sizeof *titles; k++)
                if (summary.operations[k] >= 0)
                    printf("%-18s%8d operations\n", titles[k], summary.operations[k]);
        }
    }
    cli_close_model(&loaded);
    return result;
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
    if (strcmp(format, "fmu") == 0) return cli_export_fmu(command, argc - 1, argv + 1);
    if (strcmp(format, "c") == 0) return export_c(command, argc - 1, argv + 1);
    const bool mjcf = strcmp(format, "mjcf") == 0, urdf = strcmp(format, "urdf") == 0;
    const bool asks = argc > 0 && (strcmp(format, "--help") == 0 || strcmp(format, "-h") == 0);
    if (!mjcf && !urdf && !asks)
        return cli_say(command, CLI_WRONG, "\"%s\" is no format; give mjcf, urdf, c or fmu, then the model",
                       format);
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

static const char *const forms[] = {"c", "fmu", NULL};

const cli_command cli_export = {
    "export",
    "mjcf|urdf|c|fmu MODEL [options]",
    "write a model for MuJoCo (MJCF), as URDF, as C, or as an FMU",
    "MJCF can say loops, by equalities; URDF trees only. What the format cannot "
    "say is left out and listed on\n"
    "standard error, by kind and count, with what that means for the motion.\n"
    "C: functions for this mechanism alone, with a test; export c --help lists its\n"
    "options.\n"
    "An FMU for system simulators (docs/fmu.md): export fmu --help lists its options.",
    export_model,
    forms};

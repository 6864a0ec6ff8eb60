/* cmd_import.c - linkwork import: a file in another format as a model, with a summary of what it holds and of
 * what was left out.
 */
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct counts {
    int bodies, frames, joints, closures, constraints, forces, inputs;
} counts;

static counts count_parts(const cli_model *loaded) {
    counts c = {.bodies = (int)lw_spec_body_count(loaded->spec),
                .frames = (int)lw_spec_frame_count(loaded->spec),
                .joints = (int)lw_spec_joint_count(loaded->spec),
                .constraints = (int)lw_spec_constraint_count(loaded->spec),
                .forces = (int)lw_spec_force_count(loaded->spec),
                .inputs = (int)lw_spec_input_count(loaded->spec)};
    for (int j = 0; j < lw_model_joint_count(loaded->model); j++)
        c.closures += lw_model_joint_info(loaded->model, j).cut;
    return c;
}

/* Mobility of the assembled start; -1 if it cannot be told. */
static int mobility_of(const cli_command *command, const cli_model *loaded, int *redundant) {
    const lw_model *model = loaded->model;
    double *q = cli_numbers(command, lw_model_q_size(model)),
           *v = cli_numbers(command, lw_model_v_size(model));
    lw_run_options options;
    lw_mobility *mobility = NULL;
    int freedom = -1;
    lw_error error = {0};
    lw_run_defaults(model, &options);
    if (q && v) {
        lw_status status = lw_run_start(model, &options, q, v, NULL, NULL, NULL, 0, &error);
        if (status == LW_OK) status = lw_mobility_create(model, options.start, q, &mobility, &error);
        if (status == LW_OK) {
            freedom = lw_mobility_freedom(mobility);
            *redundant = lw_mobility_rows(mobility) - lw_mobility_rank(mobility);
        } else
            (void)cli_fault(command, status, &error);
    }
    lw_mobility_destroy(mobility);
    free(q), free(v);
    return freedom;
}

static void print_summary(const cli_command *command, const cli_model *loaded) {
    const counts c = count_parts(loaded);
    int redundant = 0;
    const int freedom = mobility_of(command, loaded, &redundant);
    cli_shown space;
    printf("%s: %s, \"%s\"\n", cli_show(loaded->path, &space),
           lw_import_format_name(lw_import_format_of(loaded->path)), lw_spec_name(loaded->spec));
    printf("  bodies       %d\n", c.bodies);
    if (c.frames > 0) printf("  frames       %d\n", c.frames);
    printf("  joints       %d\n", c.joints);
    printf("  loops        %d\n", c.closures);
    if (c.constraints > 0) printf("  constraints  %d\n", c.constraints);
    if (c.forces > 0) printf("  forces       %d\n", c.forces);
    if (c.inputs > 0) printf("  inputs       %d\n", c.inputs);
    if (freedom >= 0) printf("  mobility     %d\n", freedom);
    if (redundant > 0) printf("  redundant    %d constraint rows\n", redundant);
    const size_t notes = lw_import_notes_size(loaded->notes);
    if (notes == 0) printf("  left out     nothing\n");
    for (size_t k = 0; k < notes; k++) {
        const lw_import_note *note = lw_import_notes_get(loaded->notes, k);
        printf("  %-12s %d %s: %s\n", k == 0 ? "left out" : "", note->count, cli_show(note->kind, &space),
               note->meaning);
    }
}

static int write_out(const cli_command *command, const cli_model *loaded, const char *out) {
    lw_error error = {0};
    const lw_status status = lw_write_model(loaded->spec, out, &error);
    return status == LW_OK ? CLI_DONE : cli_fault(command, status, &error);
}

static int import_file(const cli_command *command, int argc, char **argv) {
    cli_changes changes = {.any_path = false};
    const char *out = NULL;
    bool quiet = false;
    const cli_option options[] = {
        {"out", "FILE", "write the mechanism as a model file; - is standard output", "model.yaml",
         .text = &out},
        CLI_PATH_OPTION(changes),
        CLI_IMPORT_OPTIONS(changes),
        {"quiet", NULL, "print faults only", NULL, .flag = &quiet},
    };
    cli_model loaded;
    int result = CLI_DONE;
    const bool good = cli_read_model(command, options, sizeof options / sizeof options[0], argc, argv,
                                     &changes, &loaded, &result);
    cli_tell(loaded.report);
    /* A mechanism that does not compile is written all the same, to be completed by hand. */
    if (loaded.spec && out) {
        const int written = write_out(command, &loaded, out);
        if (result == CLI_DONE) result = written;
    }
    if (good && !quiet && !(out && strcmp(out, "-") == 0)) print_summary(command, &loaded);
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_import = {
    "import",
    "FILE [options]",
    "read URDF, SDF, MJCF or CAD's XML, tell what it holds, write a model",
    "The format is told by the content. Every other command takes such a file, too. What the file says and\n"
    "Linkwork does not hold is listed by kind and count, with what that means for the motion.",
    import_file,
    NULL};

/* export_fmu_cli.c - linkwork export fmu: a model as an FMU.
 */
#include "export_fmu_cli.h"
#include "load.h"

#include <linkwork/fmu.h>

#include <stdio.h>
#include <string.h>

typedef struct fmu_request {
    const char *fmi, *kind, *reactions, *out;
} fmu_request;

/* NAME.fmu from the name of the model file; that of a folder for model.yaml. */
static void name_fmu(const char *path, char *name, size_t size) {
    char stem[1024];
    snprintf(stem, sizeof stem, "%s", path);
    char *dot = strrchr(stem, '.'), *slash = strrchr(stem, '/');
    if (dot && (!slash || dot > slash)) *dot = '\0';
    const char *last = slash ? slash + 1 : stem;
    if (slash && strcmp(last, "model") == 0) {
        *slash = '\0';
        slash = strrchr(stem, '/');
        last = slash ? slash + 1 : stem;
    }
    snprintf(name, size, "%s.fmu", last[0] && strcmp(last, ".") != 0 ? last : "model");
}

static int write_fmu(const cli_command *command, const cli_model *loaded, const fmu_request *r) {
    lw_fmu_options options;
    lw_error error = {0};
    char name[1100];
    lw_fmu_defaults(&options);
    options.reactions = r->reactions;
    options.version = strcmp(r->fmi, "3") == 0 ? 3 : 2;
    const bool me = strcmp(r->kind, "me") == 0, cs = strcmp(r->kind, "cs") == 0;
    if (me) options.co_simulation = false;
    if (cs) options.model_exchange = false;
    if (r->out)
        snprintf(name, sizeof name, "%s", r->out);
    else
        name_fmu(loaded->path, name, sizeof name);
    const lw_status status = lw_export_fmu(loaded->spec, name, &options, &error);
    if (status != LW_OK) return cli_fault(command, status, &error);
    cli_shown space;
    printf("%s: FMI %d.0, %s, for %s\n", cli_show(name, &space), options.version,
           me   ? "Model Exchange"
           : cs ? "Co-Simulation"
                : "Model Exchange and Co-Simulation",
           lw_fmu_platforms(&options));
    return CLI_DONE;
}

int cli_export_fmu(const cli_command *command, int argc, char **argv) {
    cli_changes changes = {.any_path = false};
    fmu_request request = {"2", "me,cs", NULL, NULL};
    const cli_option options[] = {
        {"fmi", "VERSION", "of the standard: 2 or 3", "2", .text = &request.fmi},
        {"kind", "KINDS", "me (Model Exchange), cs (Co-Simulation) or me,cs", "me,cs", .text = &request.kind},
        {"reactions", "JOINTS", "whose reactions are outputs, separated by commas; * stands for all", NULL,
         .text = &request.reactions},
        {"out", "FILE", "the file to write", "MODEL.fmu", .text = &request.out},
        CLI_SET_OPTION(changes),
        CLI_BEGIN_OPTION(changes),
        CLI_PATH_OPTION(changes),
        CLI_IMPORT_OPTIONS(changes),
    };
    cli_model loaded;
    int result = CLI_DONE;
    const bool good = cli_read_model(command, options, sizeof options / sizeof options[0], argc, argv,
                                     &changes, &loaded, &result);
    cli_tell(loaded.report);
    const char *const kinds[] = {"me", "cs", "me,cs", "cs,me"};
    bool known = false;
    for (int k = 0; k < 4; k++) known |= strcmp(request.kind, kinds[k]) == 0;
    if (good && strcmp(request.fmi, "2") != 0 && strcmp(request.fmi, "3") != 0)
        result = cli_say(command, CLI_WRONG, "\"%s\" is no version of FMI that is written; give --fmi 2 or 3",
                         request.fmi);
    else if (good && !known)
        result = cli_say(command, CLI_WRONG, "\"%s\" is no kind of FMU; give --kind me, cs or me,cs",
                         request.kind);
    else if (good)
        result = write_fmu(command, &loaded, &request);
    cli_close_model(&loaded);
    return result;
}

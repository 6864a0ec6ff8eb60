/* load.h - reading and compiling a model file for the commands, with a report of its faults.
 */
#ifndef LINKWORK_LOAD_H
#define LINKWORK_LOAD_H

#include "options.h"

typedef struct cli_model {
    const char *path;
    lw_spec *spec; /* the contents of the file */
    lw_model *model;
    lw_report *report;      /* the faults, in the order in which they were found */
    lw_import_notes *notes; /* what an import left out; NULL if the file is a model */
    size_t errors, warnings;
} cli_model;

/* What the command line says about the model: values of parameters, "name=value"; inputs as columns of files,
 * "name=file.csv:column"; which of its starts; whether tables may come from files outside its folder.
 * Commands fill it by the options CLI_SET_OPTION, CLI_INPUT_OPTION, CLI_BEGIN_OPTION and CLI_PATH_OPTION. */
typedef struct cli_changes {
    cli_list settings, inputs;
    const char *begin;
    bool any_path;
    /* Of a file in another format than Linkwork's: CLI_IMPORT_OPTIONS. */
    const char *base, *loops, *key;
    bool keep_fixed;
    cli_list folders;
} cli_changes;
#define CLI_SET_OPTION(changes)                                                                              \
    {                                                                                                        \
        "set", "NAME=VALUE", "another value for a parameter of the model", "length=0.5",                     \
            .list = &(changes).settings                                                                      \
    }
#define CLI_INPUT_OPTION(changes)                                                                            \
    {                                                                                                        \
        "input", "NAME=FILE:COLUMN", "an input over time from a file, whose first column is time",           \
            "throttle=drive.csv:torque", .list = &(changes).inputs                                           \
    }
#define CLI_BEGIN_OPTION(changes)                                                                            \
    { "begin", "START", "from this one of the model's starts", "home", .text = &(changes).begin }
#define CLI_PATH_OPTION(changes)                                                                             \
    {                                                                                                        \
        "allow-path", NULL, "tables, meshes and parts may come from files outside the folder of the model",  \
            NULL, .flag = &(changes).any_path                                                                \
    }

#define CLI_IMPORT_OPTIONS(changes)                                                                          \
    {"base", "KIND", "of a URDF: fixed (if left out) or free", "free", .text = &(changes).base},             \
        {"keep-fixed", NULL, "of a URDF, SDF or MJCF: links on fixed joints stay bodies", NULL,              \
         .flag = &(changes).keep_fixed},                                                                     \
        {"loops", "KIND", "of a URDF, SDF or MJCF: as-written (if left out) or joints", "joints",            \
         .text = &(changes).loops},                                                                          \
        {"key", "NAME", "of an MJCF: begin with this keyframe", "home", .text = &(changes).key}, {           \
        "package-path", "DIR", "of a URDF, SDF or MJCF: where packages and meshes are", "~/ros/src",         \
            .list = &(changes).folders                                                                       \
    }

/* Parses a command line of options and one model file, reads and compiles the file; changes are filled by the
 * options. Every fault is printed on standard error. Returns false if there
 * is no model, with the exit status in *result. loaded must be closed in both cases; its path is NULL if
 * nothing was read. */
bool cli_open_model(const cli_command *command, const cli_option *options, int option_count, int argc,
                    char **argv, const cli_changes *changes, cli_model *loaded, int *result);
/* The same, but *otherwise, a results file that an option names, stands for the model if none is named; the
 * option or otherwise may be NULL. */
bool cli_open_model_or(const cli_command *command, const cli_option *options, int option_count, int argc,
                       char **argv, const cli_changes *changes, const char *const *otherwise,
                       cli_model *loaded, int *result);
/* cli_open_model, but faults of the file are only added to the report. */
bool cli_read_model(const cli_command *command, const cli_option *options, int option_count, int argc,
                    char **argv, const cli_changes *changes, cli_model *loaded, int *result);
/* Reads and compiles only, e.g. the same file with other settings; faults are added to the report. Returns
 * the exit status. */
int cli_load(const cli_command *command, const char *path, const cli_changes *changes, cli_model *loaded);
/* Gives parameters of the model these values, which events have set in the course of a run; compiles it anew
 * if one differs. */
int cli_tune(const cli_command *command, cli_model *loaded, const double *parameters);
/* What messages call standard input, and the path under which it is loaded; "-" on a command line. */
extern const char cli_input_name[];
/* The whole of standard input, which is read once and kept. Returns the exit status. */
int cli_read_input(const cli_command *command, const char **text, size_t *length);
/* Does a loaded model come from standard input? Says so, with what cannot be done, if it does. */
bool cli_from_input(const cli_command *command, const cli_model *loaded, const char *what);
/* Do both paths lead to the same file that exists? */
bool cli_same_file(const char *a, const char *b);
/* Reads a file into a spec: a model file, a results file, or one in another format, of which loaded->notes
 * receives what was left out. Faults go into the report. Returns the exit status. */
int cli_read_spec(const cli_command *command, const char *path, const lw_setting *settings,
                  const cli_changes *changes, cli_model *loaded, lw_status *status);
/* Prints in one line what was left out. */
void cli_tell_notes(const cli_model *loaded);
/* Prints the faults of a report, which may be NULL, on standard error. */
void cli_tell(const lw_report *report);
void cli_close_model(cli_model *loaded);
/* Memory of the caller for a name or path in a form safe for a terminal, shortened if it is long. */
typedef struct cli_shown {
    char text[512];
} cli_shown;
const char *cli_show(const char *text, cli_shown *space);
/* Splits settings "name=value"; the names are copies, for cli_free_settings. */
int cli_split_settings(const cli_command *command, const cli_list *texts, lw_setting settings[CLI_LIST_MAX]);
void cli_free_settings(lw_setting *settings, int count);

/* The name of a method as an argument of the library: NULL for auto. */
const char *cli_method(const char *name);

/* lw_run_start, and a warning if given initial values had to be changed, or if nothing can move: added to the
 * report or, without a report, printed on standard error. */
lw_status cli_start(const lw_model *model, const lw_run_options *options, double *q, double *v,
                    const char **method, char *why, size_t size, lw_report *report, lw_error *error);
/* Warns on standard error if nothing has moved in a run from q_start to q, v. */
void cli_warn_of_rest(const lw_model *model, const double *q_start, const double *q, const double *v);
/* Returns whether the mechanism is rigid, without prescribed motions. */
bool cli_cannot_move(const lw_model *model, const lw_mobility *mobility);

/* Memory for q, v, vdot or reactions: count zeroed doubles, at least one. If there is no memory, the result
 * is NULL, and standard error has a message. */
double *cli_numbers(const cli_command *command, int count);

#endif

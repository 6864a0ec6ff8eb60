/* load.h - a model file as the commands need it: read, compiled, its faults told.
 */
#ifndef LINKWORK_LOAD_H
#define LINKWORK_LOAD_H

#include "options.h"

typedef struct cli_model {
    const char *path;
    lw_spec *spec; /* what the user wrote */
    lw_model *model;
    lw_report *report; /* the faults, in the order in which they were found */
    size_t errors, warnings;
} cli_model;

/* Parses a command line of options and one model file, reads and compiles the file; settings, which one of
 * the options fills, are texts "name=value". Every fault goes to standard error. False: there is nothing to
 * go on with, and *result is the exit status. loaded is to be closed in both cases; its path is NULL if
 * nothing was read. */
bool cli_open_model(const cli_command *command, const cli_option *options, int option_count, int argc,
                    char **argv, const cli_list *settings, cli_model *loaded, int *result);
/* The same, but faults of the file only go into the report. */
bool cli_read_model(const cli_command *command, const cli_option *options, int option_count, int argc,
                    char **argv, const cli_list *settings, cli_model *loaded, int *result);
/* The reading and compiling alone, e.g. of the same file with other settings: faults go into the report.
 * Returns the exit status. */
int cli_load(const cli_command *command, const char *path, const cli_list *settings, cli_model *loaded);
/* Prints the faults of a report, which may be NULL, on standard error. */
void cli_tell(const lw_report *report);
void cli_close_model(cli_model *loaded);
/* A name or path, fit for a terminal, in a space of the caller's; cut if it is long. */
typedef struct cli_shown {
    char text[512];
} cli_shown;
const char *cli_show(const char *text, cli_shown *space);
/* Splits settings "name=value"; the names are copies, for cli_free_settings. */
int cli_split_settings(const cli_command *command, const cli_list *texts, lw_setting settings[CLI_LIST_MAX]);
void cli_free_settings(lw_setting *settings, int count);

/* A method's name as the library takes it: NULL for auto. */
const char *cli_method(const char *name);

/* The model's initial state at time t, assembled. Where given initial values had to be changed for that, and
 * if nothing can move, a warning in the report, or without one on standard error, says so. */
lw_status cli_initial_state(const lw_model *model, double t, double *q, double *v, lw_report *report,
                            lw_error *error);
/* Of a run from q_start to q, v that should have gone somewhere: says on standard error if nothing moved at
 * all. */
void cli_warn_of_rest(const lw_model *model, const double *q_start, const double *q, const double *v);
/* Is it rigid, with no motion prescribed? */
bool cli_cannot_move(const lw_model *model, const lw_mobility *mobility);

/* Room for q, v, vdot or reactions: count zeroed doubles, at least one; NULL is said on standard error. */
double *cli_numbers(const cli_command *command, int count);

#endif

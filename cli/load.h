/* load.h - a model file as the commands need it: read, compiled, its faults told.
 */
#ifndef LINKWORK_LOAD_H
#define LINKWORK_LOAD_H

#include "options.h"

typedef struct cli_model {
    const char *path;
    lw_spec *spec; /* what the user wrote */
    lw_model *model;
    size_t errors, warnings;
} cli_model;

/* Parses a command line of options and one model file, reads and compiles the file; settings, which one of
 * the options fills, are texts "name=value". Every fault goes to standard error. False: there is nothing to
 * go on with, and *result is the exit status. loaded is to be closed in both cases; its path is NULL if
 * nothing was read. */
bool cli_open_model(const cli_command *command, const cli_option *options, int option_count, int argc,
                    char **argv, const cli_list *settings, cli_model *loaded, int *result);
void cli_close_model(cli_model *loaded);

/* A method's name as the library takes it: NULL for auto. */
const char *cli_method(const char *name);

/* Room for q, v, vdot or reactions: count zeroed doubles, at least one; NULL is said on standard error. */
double *cli_numbers(const cli_command *command, int count);

#endif

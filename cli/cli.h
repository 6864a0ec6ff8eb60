/* cli.h - common parts of the commands of the program: their table, exit statuses, and the output of faults.
 *
 * The program uses the public headers of the library only. Results go to standard output, messages about the
 * work (faults, progress, notes) to standard error.
 */
#ifndef LINKWORK_CLI_H
#define LINKWORK_CLI_H

#include <linkwork/linkwork.h>
#include <stdbool.h>

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_WRONG = 2 };

typedef struct cli_command {
    const char *name;
    const char *arguments; /* arguments as in the synopsis */
    const char *summary;   /* one line */
    const char *details;   /* printed by --help after the options; may be "" */
    int (*run)(const struct cli_command *command, int argc,
               char **argv);  /* argv excludes program and command. */
    const char *const *forms; /* first arguments that have options of their own, as of export; NULL: none */
} cli_command;

extern const cli_command cli_run, cli_check, cli_info, cli_accel, cli_compare, cli_reproduce, cli_plot,
    cli_view, cli_equilibrium, cli_linearise, cli_modes, cli_inverse, cli_frequency, cli_sensitivity,
    cli_sweep, cli_optimise, cli_import, cli_export, cli_example, cli_gallery, cli_manual, cli_completion;

/* The commands, in the order in which help lists them; NULL behind the last one. */
const cli_command *cli_command_at(int index);

/* Runs the program; returns its exit status. */
int cli_main(int argc, char **argv);
/* The exit status for a status of the library. */
int cli_exit_of(lw_status status);
/* Prints the error of a call of the library on standard error; returns the exit status. */
int cli_fault(const cli_command *command, lw_status status, const lw_error *error);
/* Prints "linkwork COMMAND: message" on standard error and returns status. */
int cli_say(const cli_command *command, int status, const char *format, ...);

#endif

/* options.h - a small typed parser for the options of one command: --name value, --name=value, flags, lists.
 */
#ifndef LINKWORK_OPTIONS_H
#define LINKWORK_OPTIONS_H

#include "cli.h"

enum { CLI_LIST_MAX = 256, CLI_OPTION_MAX = 64 };

/* Texts in the order given. */
typedef struct cli_list {
    const char *items[CLI_LIST_MAX];
    int count;
} cli_list;

/* One option. Exactly one of the targets is set and determines the kind of the option. */
typedef struct cli_option {
    const char *name;     /* without the dashes */
    const char *argument; /* name of its argument in the help text; NULL for a flag */
    const char *help;
    const char *example; /* a valid value, for messages about invalid ones */
    bool *flag;
    const char **text;
    double *number;   /* an expression with units, greater than zero unless any_sign */
    cli_list *list;   /* may be repeated */
    const char *unit; /* SI unit of a number; other dimensions are refused; NULL allows any */
    bool any_sign;
} cli_option;

/* The options of a command as cli_parse gets them: what the manual and completions are made of. The targets
 * mean nothing here but the kind of each option. */
typedef struct cli_table {
    cli_option options[CLI_OPTION_MAX];
    int count;
} cli_table;
/* Calls the command so that it does nothing but hand its options over; form is one of its forms or NULL. */
void cli_options_of(const cli_command *command, const char *form, cli_table *table);

typedef enum cli_parsed { CLI_PARSED, CLI_HELPED, CLI_MISTAKEN } cli_parsed;

/* Parses argv into the targets and the rest, at most rest_max other arguments. --help prints the command's
 * help. Mistakes are reported on standard error. */
cli_parsed cli_parse(const cli_command *command, const cli_option *options, int option_count, int argc,
                     char **argv, cli_list *rest, int rest_max);

#endif

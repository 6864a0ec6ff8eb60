/* compare_call.h - what the two halves of linkwork compare share: one model (cmd_compare.c), and a sweep over
 * sizes (compare_sweep.c).
 */
#ifndef LINKWORK_CLI_COMPARE_H
#define LINKWORK_CLI_COMPARE_H

#include "json.h"
#include "load.h"
#include "progress.h"

typedef struct compare_call {
    const cli_command *command;
    cli_list methods; /* none: all */
    progress bar;
    char size[64]; /* what is being looked at in a sweep, "bodies = 8"; "" otherwise */
} compare_call;

/* For lw_compare_options. */
bool compare_progress(const char *method, const char *work, void *context);

bool compare_applies(const lw_comparison *r);
/* It applies, and has answers for all states. */
bool compare_answers(const lw_comparison *r);
/* The members that both documents begin with. */
void compare_json_head(json *j, const lw_comparison *r);
/* "12.3 us", or "-" for what was not measured. */
const char *compare_time(char text[16], double ns);
/* Prints into a file, "-" is standard output; says what went wrong. Returns the exit status. */
int compare_write(const cli_command *command, const char *path, void (*print)(FILE *out, const void *what),
                  const void *what);
/* Says which methods failed or differ; returns the exit status. where stands before each sentence. */
int compare_verdict(const cli_command *command, const char *where, const lw_comparison *results, int count);

typedef struct compare_sweep_request {
    const char *range; /* name=from..to */
    double budget;     /* s; 0: the program's */
    const char *out;   /* NULL: none */
    bool as_json;
} compare_sweep_request;
int compare_sweep(compare_call *call, const cli_model *loaded, const cli_list *settings,
                  const compare_sweep_request *request);

#endif

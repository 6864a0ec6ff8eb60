/* compare_call.h - common parts of linkwork compare for one model (cmd_compare.c) and for a sweep over sizes
 * (compare_sweep.c).
 */
#ifndef LINKWORK_CLI_COMPARE_H
#define LINKWORK_CLI_COMPARE_H

#include "json.h"
#include "load.h"
#include "progress.h"

typedef struct compare_call {
    const cli_command *command;
    cli_list methods; /* An empty list means all methods. */
    progress bar;
    char size[64]; /* present size of a sweep, as "bodies = 8"; otherwise "" */
} compare_call;

/* The progress callback for lw_compare_options. */
bool compare_progress(const char *method, const char *work, void *context);

bool compare_applies(const lw_comparison *r);
/* Returns whether the method applies and has results for all states. */
bool compare_answers(const lw_comparison *r);
/* Writes the members with which both JSON documents begin. */
void compare_json_head(json *j, const lw_comparison *r);
/* The text "12.3 us", or "-" for a time that was not measured. */
const char *compare_time(char text[16], double ns);
/* Prints into a file ("-" is standard output) and reports faults. Returns the exit status. */
int compare_write(const cli_command *command, const char *path, void (*print)(FILE *out, const void *what),
                  const void *what);
/* Reports which methods failed or differ, with `where` before each sentence; returns the exit status. */
int compare_verdict(const cli_command *command, const char *where, const lw_comparison *results, int count);

typedef struct compare_sweep_request {
    const char *range; /* "name=from..to" */
    double budget;     /* s; 0 for the default */
    const char *out;   /* file for the results, or NULL */
    bool as_json;
} compare_sweep_request;
int compare_sweep(compare_call *call, const cli_model *loaded, const cli_changes *changes,
                  const compare_sweep_request *request);

#endif

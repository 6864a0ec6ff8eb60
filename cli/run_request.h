/* run_request.h - what run and compare take from the command line for a run, over what the model suggests.
 */
#ifndef CLI_RUN_REQUEST_H
#define CLI_RUN_REQUEST_H

#include "cli.h"

/* 0 and NULL: not given. */
typedef struct run_request {
    const char *integrator, *drift, *out;
    double step, tolerance, end;
    bool as_json;
} run_request;

/* CLI_WRONG, and a sentence, where options exclude each other; example: a name for a file of results. */
int run_request_check(const cli_command *command, const run_request *request, const char *example);
void run_request_apply(const run_request *request, lw_run_options *options);

#endif

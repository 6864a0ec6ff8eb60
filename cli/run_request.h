/* run_request.h - options of a run on the command lines of run and compare, which override the model's
 * defaults.
 */
#ifndef CLI_RUN_REQUEST_H
#define CLI_RUN_REQUEST_H

#include "cli.h"

/* 0 and NULL mean that an option is not given. */
typedef struct run_request {
    const char *integrator, *drift, *out;
    double step, tolerance, end;
    bool as_json;
} run_request;

/* Returns CLI_WRONG, with a message, if options exclude each other; `example` is a name for a results
 * file. */
int run_request_check(const cli_command *command, const run_request *request, const char *example);
void run_request_apply(const run_request *request, lw_run_options *options);

#endif

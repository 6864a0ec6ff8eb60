/* run_request.h - what run and compare take from the command line for a run, over what the model suggests.
 */
#ifndef CLI_RUN_WISH_H
#define CLI_RUN_WISH_H

#include "cli.h"

/* 0 and NULL: not given. */
typedef struct run_wish {
    const char *integrator, *drift, *out;
    double step, tolerance, end;
    bool as_json;
} run_wish;

/* CLI_WRONG, and a sentence, where options exclude each other; example: a name for a file of results. */
int run_wish_check(const cli_command *command, const run_wish *wish, const char *example);
void run_wish_apply(const run_wish *wish, lw_run_options *options);

#endif

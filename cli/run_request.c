/* run_request.c - options of a run: which exclude each other, and how they override the model's suggestions.
 */
#include "run_request.h"

#include <string.h>

int run_wish_check(const cli_command *command, const run_wish *wish, const char *example) {
    if (wish->step > 0 && wish->tolerance > 0 && !wish->integrator)
        return cli_say(
            command, CLI_WRONG,
            "--step and --tol exclude each other: a step belongs to rk4, a tolerance to the adaptive "
            "integrators; give one of them, or name the --integrator whose largest step --step shall be");
    if (wish->out && strcmp(wish->out, "-") == 0 && wish->as_json)
        return cli_say(command, CLI_WRONG,
                       "--out - and --json both want standard output; give a file, e.g. --out %s", example);
    return CLI_DONE;
}

void run_wish_apply(const run_wish *wish, lw_run_options *options) {
    if (wish->tolerance > 0) {
        /* A tolerance asks for an adaptive integrator, whatever step the model suggests. */
        options->tolerance = wish->tolerance;
        options->step = 0;
        if (options->integrator && strcmp(options->integrator, "rk4") == 0) options->integrator = NULL;
    }
    if (wish->step > 0) {
        /* A step alone asks for rk4, unless the model names an integrator, whose largest step it then is. */
        options->step = wish->step;
        if (!wish->tolerance && !options->integrator) options->tolerance = 0;
    }
    if (wish->integrator) options->integrator = wish->integrator;
    if (wish->drift) options->drift = wish->drift;
    if (wish->end > 0) options->end = wish->end;
}

/* run_request.c - options of a run: exclusions among them, and how they override the model's defaults.
 */
#include "run_request.h"

#include <string.h>

int run_request_check(const cli_command *command, const run_request *request, const char *example) {
    if (request->step > 0 && request->tolerance > 0 && !request->integrator)
        return cli_say(
            command, CLI_WRONG,
            "--step and --tol exclude each other: a step belongs to rk4, a tolerance to the adaptive "
            "integrators; give one of them, or name the --integrator whose largest step --step shall be");
    if (request->out && strcmp(request->out, "-") == 0 && request->as_json)
        return cli_say(command, CLI_WRONG,
                       "--out - and --json both want standard output; give a file, e.g. --out %s", example);
    return CLI_DONE;
}

void run_request_apply(const run_request *request, lw_run_options *options) {
    if (request->tolerance > 0) {
        /* A tolerance requests an adaptive integrator, whatever step the model gives. */
        options->tolerance = request->tolerance;
        options->step = 0;
        if (options->integrator &&
            (strcmp(options->integrator, "rk4") == 0 || strcmp(options->integrator, "rosenbrock") == 0))
            options->integrator = NULL;
    }
    if (request->step > 0) {
        /* A step alone requests rk4, unless the model names an integrator; it is then its largest step. */
        options->step = request->step;
        if (!request->tolerance && !options->integrator) options->tolerance = 0;
    }
    if (request->integrator) options->integrator = request->integrator;
    if (request->drift) options->drift = request->drift;
    if (request->end > 0) options->end = request->end;
}

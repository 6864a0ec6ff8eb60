/* repeat_call.h - the call of linkwork run that repeats a run of a sweep or a search.
 */
#ifndef CLI_REPEAT_CALL_H
#define CLI_REPEAT_CALL_H

#include "load.h"
#include "run_request.h"

#include <linkwork/sweep.h>

/* What the command line of the sweep has said about its runs. */
typedef struct repeat_call {
    const char *path; /* of the model */
    const cli_changes *changes;
    const run_request *run;
    const char *method;
    double output;
    bool lanes;
} repeat_call;

/* Prints the call with these values of what varies, and all that the sweep's own call has said, in a line. */
void repeat_call_print(FILE *out, const repeat_call *call, const lw_sweep *sweep, const double *values);

#endif

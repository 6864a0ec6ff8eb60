/* run_neglect.h - linkwork run --neglect-mass: the model without small inertia, and what is said of the error
 * made.
 */
#ifndef CLI_RUN_NEGLECT_H
#define CLI_RUN_NEGLECT_H

#include "json.h"
#include "load.h"

#include <linkwork/neglect.h>

/* What was neglected and what that costs. */
typedef struct run_neglect {
    double ratio;        /* as asked for; 0: nothing is */
    lw_neglect *neglect; /* NULL: nothing is */
    lw_model *with;      /* the model with its true inertia; NULL: nothing is neglected */
    lw_neglect_error error;
    char failure[1024]; /* why there is no estimate; "" */
} run_neglect;

/* Replaces the loaded model by the one without inertia below the ratio; nothing small enough leaves it as it
 * is. */
int run_neglect_apply(const cli_command *command, cli_model *loaded, double ratio, run_neglect *n);
bool run_neglect_any(const run_neglect *n);
/* The initial state, assembled with the true inertia, in the coordinates of model. */
lw_status run_neglect_start(const cli_command *command, const run_neglect *n, const lw_model *model, double t,
                            double *q, double *v, lw_error *error);
/* After the run that options describe. */
void run_neglect_estimate(run_neglect *n, const lw_run_options *options);
void run_neglect_print(FILE *out, const run_neglect *n, const lw_model *model);
void run_neglect_json(json *j, const run_neglect *n, const lw_model *model);
void run_neglect_close(run_neglect *n);

#endif

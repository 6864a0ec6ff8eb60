/* run_neglect.h - linkwork run --neglect-mass: the model without small inertia, and an estimate of the error.
 */
#ifndef CLI_RUN_NEGLECT_H
#define CLI_RUN_NEGLECT_H

#include "json.h"
#include "load.h"

#include <linkwork/neglect.h>

/* The neglected inertia and the resulting error. */
typedef struct run_neglect {
    double ratio;        /* the requested ratio; 0 if nothing is to be neglected */
    lw_neglect *neglect; /* NULL if nothing is neglected */
    lw_model *with;      /* the model with its true inertia; NULL if nothing is neglected */
    lw_neglect_error error;
    char failure[1024]; /* why there is no estimate, or "" */
} run_neglect;

/* Replaces the loaded model by the one without inertia below the ratio; the model is unchanged if there is no
 * such inertia. */
int run_neglect_apply(const cli_command *command, cli_model *loaded, double ratio, run_neglect *n);
bool run_neglect_any(const run_neglect *n);
/* Computes the initial state, assembled with the true inertia, in the coordinates of model. */
lw_status run_neglect_start(const cli_command *command, const run_neglect *n, const lw_model *model, double t,
                            double *q, double *v, lw_error *error);
/* Estimates the error, after the run with these options. */
void run_neglect_estimate(run_neglect *n, const lw_run_options *options);
void run_neglect_print(FILE *out, const run_neglect *n, const lw_model *model);
void run_neglect_json(json *j, const run_neglect *n, const lw_model *model);
void run_neglect_close(run_neglect *n);

#endif

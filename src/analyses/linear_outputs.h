/* linear_outputs.h - rows of outputs without exact derivatives, for linearise.c.
 */
#ifndef LW_LINEAR_OUTPUTS_H
#define LW_LINEAR_OUTPUTS_H

#include "analyses/linear_parts.h"

/* Adds those rows that are missing in C and D, after lw_linear_at for this state. */
lw_status lw_linear_outputs(lw_linear_work *work, const lw_linearise_options *options, double t,
                            const double *q, const double *v, lw_error *error);

#endif

/* stiff_cause.h - what makes the accelerations of a model change so fast between states of a run?
 */
#ifndef LW_STIFF_CAUSE_H
#define LW_STIFF_CAUSE_H

#include "formulations/formulation.h"

typedef struct lw_cause {
    char object[112]; /* force "buffer", joint "hip"; "": not known */
    char text[160];   /* what it does, to be put after its name or "it" */
    bool element;     /* a force element, otherwise a joint that moves fast */
    bool jumps;       /* its force has no limit where it is asked for */
    bool feeds;       /* it gives more energy than all that brake take */
} lw_cause;

/* Between those two of `count` states (2 or more) that differ most. By a method of its own of that
 * formulation. */
void lw_find_cause(const lw_model *model, const lw_formulation *formulation, const lw_method_options *options,
                   int count, const double *times, const double *const *states, lw_cause *cause);

#endif

/* stiff_cause.h - finds the cause of fast changes of the accelerations between states of a run.
 */
#ifndef LW_STIFF_CAUSE_H
#define LW_STIFF_CAUSE_H

#include "formulations/formulation.h"

typedef struct lw_cause {
    char object[112]; /* the cause, as force "buffer" or joint "hip"; "" if it is not known */
    char text[160];   /* the predicate of a sentence about the cause */
    bool element;     /* The cause is a force element, otherwise a joint that moves fast. */
    bool jumps;       /* Its force jumps between the states. */
    bool feeds;       /* It supplies more energy than all dissipating elements take. */
} lw_cause;

/* Finds the cause between the two of `count` states (2 or more) that differ most, with a method of its own of
 * this formulation. */
void lw_find_cause(const lw_model *model, const lw_formulation *formulation, const lw_method_options *options,
                   int count, const double *times, const double *const *states, lw_cause *cause);

#endif

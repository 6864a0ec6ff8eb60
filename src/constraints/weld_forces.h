/* weld_forces.h - what merged welds transmit, from the motion and the reactions of all other joints.
 */
#ifndef LW_WELD_FORCES_H
#define LW_WELD_FORCES_H

#include "constraints/rank/redundancy.h"

typedef struct lw_weld_forces lw_weld_forces;

/* The state, and what a method has found for it on the merged form of the model. */
typedef struct lw_weld_state {
    double t;
    const double *q, *v;           /* v: the speeds to which vdot belongs */
    const double *inputs, *states; /* NULL for defaults and start values */
    const lw_outcomes *hold;       /* NULL: no condition is held */
    const double *vdot;            /* prescribed speeds included */
    const double *multipliers;     /* of the constraints, in the model's order */
    const double *reactions;       /* 6 per joint of the merged form */
} lw_weld_state;

/* For a model with merged welds. flags: lw_weld_flags will be called. NULL when memory is out. */
lw_weld_forces *lw_weld_forces_create(const lw_model *model, bool flags);
void lw_weld_forces_destroy(lw_weld_forces *welds);

/* Reactions of all joints of the whole model: those given, and those of the merged welds. Allocates
 * nothing. */
void lw_weld_forces_at(lw_weld_forces *welds, const lw_weld_state *state, double *reactions);
/* Flags of uniqueness of all joints of the whole model: those given for the joints of the merged form, and
 * those of the merged welds. Allocates nothing if flags were announced. */
lw_status lw_weld_flags(lw_weld_forces *welds, double t, const double *q, const bool *given, bool *unique,
                        lw_error *error);

#endif

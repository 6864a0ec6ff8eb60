/* singularity_monitor.h - runs that come to a singular position by a method that has no way through
 * (singularity_monitor.c).
 */
#ifndef LW_SINGULARITY_MONITOR_H
#define LW_SINGULARITY_MONITOR_H

#include "formulations/formulation.h"

typedef struct lw_passage {
    const lw_formulation *formulation; /* of the run */
    lw_method *rcr; /* tells how near a position is to a singular one; NULL: not needed yet */
    bool watches;
    double longest; /* step so far */
    int shorts;     /* steps far shorter than that, the last ones */
} lw_passage;

void lw_passage_start(lw_passage *passage, const lw_model *model, const lw_formulation *formulation);
/* Told of every step: is one of h worth a look at the position at its end? */
bool lw_passage_due(lw_passage *passage, double h);
/* Fails with a sentence if the run has come to a singular position. */
lw_status lw_passage_look(lw_passage *passage, const lw_model *model, double t, const double *q,
                          const double *v, lw_error *error);
void lw_passage_end(lw_passage *passage);

#endif

/* singularity_monitor.h - detects runs that start in a singular position without a determined motion, and
 * runs that come to one that their method cannot pass (singularity_monitor.c).
 */
#ifndef LW_SINGULARITY_MONITOR_H
#define LW_SINGULARITY_MONITOR_H

#include "formulations/formulation.h"

typedef struct lw_passage {
    const lw_formulation *formulation; /* the method of the run */
    lw_method *rcr; /* computes the distance from a singular position; NULL until it is needed */
    bool watches;
    double longest; /* the longest step so far */
    int shorts;     /* number of the last steps in a row that were far shorter */
} lw_passage;

void lw_passage_start(lw_passage *passage, const lw_model *model, const lw_formulation *formulation);
/* Called with the state in which the run begins: fails with a message if its motion is not determined. */
lw_status lw_passage_begin(lw_passage *passage, const lw_model *model, const lw_method_options *options,
                           double t, const double *q, const double *v, lw_error *error);
/* Called with every step h: returns whether the position at its end must be examined. */
bool lw_passage_due(lw_passage *passage, double h);
/* Fails with a message if the run has come to a singular position. */
lw_status lw_passage_look(lw_passage *passage, const lw_model *model, double t, const double *q,
                          const double *v, lw_error *error);
void lw_passage_end(lw_passage *passage);

#endif

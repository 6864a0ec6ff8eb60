/* run_plan.h - decisions made once for a run: assembled start, method, integrator, completed options.
 */
#ifndef LW_RUN_PLAN_H
#define LW_RUN_PLAN_H

#include "formulations/formulation.h"
#include "integrators/integrator.h"
#include <linkwork/assemble.h>
#include <linkwork/simulate.h>

typedef struct lw_run_plan {
    const lw_model *model;
    lw_run_options options; /* the caller's options, with the chosen method */
    const lw_formulation *formulation;
    lw_method_options method_options; /* without note and inputs, which the simulation adds */
    const lw_integrator *integrator;
    lw_integrator_options integrator_options;
    /* The caller has named no integrator, so that another may take over where it pays. */
    bool automatic;
    bool by_step;         /* The integrator works with fixed steps. */
    char why[256];        /* the reason for the method, as a sentence */
    double *q, *v;        /* the start: assembled, or as given */
    lw_assembly assembly; /* the result of the assembly */
} lw_run_plan;

/* Makes a plan. Its memory, including copies of the options' texts, is in the arena. */
lw_status lw_run_plan_make(const lw_model *model, const lw_run_options *options, lw_arena *arena,
                           lw_run_plan *plan, lw_error *error);

#endif

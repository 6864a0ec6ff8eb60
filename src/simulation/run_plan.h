/* run_plan.h - what a run will be, decided once: assembled start, method, integrator, completed options.
 */
#ifndef LW_RUN_PLAN_H
#define LW_RUN_PLAN_H

#include "formulations/formulation.h"
#include "integrators/integrator.h"
#include <linkwork/assemble.h>
#include <linkwork/simulate.h>

typedef struct lw_run_plan {
    const lw_model *model;
    lw_run_options options; /* as asked for; its method is the one chosen */
    const lw_formulation *formulation;
    lw_method_options method_options; /* without note and inputs, which belong to whoever runs */
    const lw_integrator *integrator;
    lw_integrator_options integrator_options;
    bool automatic;       /* nobody has named the integrator: another one may go on where that pays */
    bool by_step;         /* the integrator works with fixed steps */
    char why[256];        /* the reason for the method, as a sentence */
    double *q, *v;        /* the start: closed, or as given */
    lw_assembly assembly; /* how closing it went */
} lw_run_plan;

/* Memory comes from the arena, and so do copies of the options' texts. */
lw_status lw_run_plan_make(const lw_model *model, const lw_run_options *options, lw_arena *arena,
                           lw_run_plan *plan, lw_error *error);

#endif

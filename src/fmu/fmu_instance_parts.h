/* fmu_instance_parts.h - what the files of an instance of an FMU share.
 */
#ifndef LW_FMU_INSTANCE_PARTS_H
#define LW_FMU_INSTANCE_PARTS_H

#include "fmu/fmu_derivatives.h"
#include "fmu/fmu_instance.h"

#include <stdint.h>

struct lw_fmu {
    lw_arena *arena;
    void *bytes; /* the content */
    size_t size;
    uint64_t token; /* a hash of it */
    lw_fmu_content content;
    lw_fmu_table table;
    lw_fmu_log *log;
    void *context;
    bool exchange; /* used for Model Exchange */
    lw_fmu_phase phase;
    double start, stop, tolerance; /* NAN: not given */
    bool ended;                    /* an event of the model has ended the run */
    bool told_integrator;          /* that another one has taken the place of the model's */
    bool dirty;                    /* The simulation does not know all start values. */
    /* By variable: start values that have been set, and the ones that would hold otherwise. */
    bool *given;
    double *given_values, *own_values;
    lw_model *model;
    lw_simulation *simulation;
    lw_fmu_derivatives *derivatives; /* made when they are asked for, or NULL */
    bool no_derivatives;             /* They have been asked for, and there are none. */
    double *inputs, *states, *x;     /* workspaces */
    /* What has been computed for the present state. */
    bool fresh, has_outputs, has_reactions, has_rates, has_roots;
    double *outputs, *reactions, *rates, *roots;
};

/* Says what has gone wrong; what may be tried again with a shorter step is Discard, else it is Error. */
lw_fmu_status lw_fmu_tell(lw_fmu *fmu, lw_status status, const lw_error *error);
/* Makes the simulation anew if start values have changed. */
lw_fmu_status lw_fmu_settle(lw_fmu *fmu);
/* Time, state or inputs have changed: what was computed does not hold any more. */
void lw_fmu_forget(lw_fmu *fmu);
void lw_fmu_drop_derivatives(lw_fmu *fmu);

#endif

/* state_scale.h - the sizes below which errors of states count absolutely. */
#ifndef LW_STATE_SCALE_H
#define LW_STATE_SCALE_H

#include "formulations/formulation.h"
#include "integrators/integrator.h"

/* The scales of a run: a length, a time and an energy of the mechanism. */
typedef struct lw_scales {
    double length, time, energy;
} lw_scales;

/* The longest arm of a moving body: from the origin of its internal frame to its centre of mass, a joint or a
 * point of a constraint; or its radius of gyration, or a length that a constraint keeps. If all of these are
 * zero: the longest lever of a force on a body, free length of a spring, or distance between joints on
 * ground. 0 if there are none of these either. */
double lw_model_length(const lw_model *model);

/* Finds the scales of the system of a run of the given duration (which may be infinite or zero) at its start
 * (t, y), and writes one number for each state of the method, each user state and each integral of the ledger
 * into scale, which becomes the system's. work: 5 numbers per state. */
lw_scales lw_state_scales(lw_system *system, const lw_method *method, double duration, double t,
                          const double *y, double *scale, double *work);

#endif

/* method_create.h - methods for models with merged welds: they work on the merged form of the model, and
 * answer for the whole.
 *
 * Who has a model of lw_model_compile creates, asks and destroys methods by these functions. Without merged
 * welds they are those of the formulation. All other functions of a formulation speak of coordinates and
 * speeds, elements and constraints, which both forms have in common.
 */
#ifndef LW_METHOD_CREATE_H
#define LW_METHOD_CREATE_H

#include "formulations/formulation.h"

lw_status lw_method_create(const lw_formulation *formulation, const lw_model *model,
                           const lw_method_options *options, lw_method **method, lw_error *error);
void lw_method_destroy(lw_method *method); /* NULL: nothing happens. */

/* `accelerations` of the formulation, with reactions and flags of all joints of the whole model. */
lw_status lw_method_accelerations(lw_method *method, double t, const double *q, const double *v,
                                  const double *tau, double *vdot, double *reactions, bool *unique,
                                  lw_error *error);
/* `reactions` of the formulation. Those of merged welds stay as they are, from `accelerations` for the same
 * state: they follow from the motion, not from multipliers of a scheme. False if there are none. */
bool lw_method_step_reactions(lw_method *method, double t, double *reactions);

#endif

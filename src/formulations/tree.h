/* tree.h - the recursions on the spanning tree, for the formulations that build on them.
 */
#ifndef LW_TREE_H
#define LW_TREE_H

#include "formulations/formulation.h"

extern const lw_formulation lw_formulation_tree;

/* Accelerations into data->vdot and data->motion[].a for the state in data->q, data->v (lw_take_state).
 * Leaves the articulated inertias, U and D for further right-hand sides. */
lw_status lw_tree_solve(const lw_model *model, lw_data *data, double t, const double *tau, lw_error *error);

/* For the state in data and accelerations vdot: motion[].a, and the wrench that each tree joint transmits
 * into data->wrench (child's internal frame). After lw_velocities and lw_forces. */
void lw_tree_wrenches(const lw_model *model, lw_data *data, const double *vdot);

#endif

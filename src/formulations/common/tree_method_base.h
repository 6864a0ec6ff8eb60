/* tree_method_base.h - the common part of all methods whose state is (q, v) of the spanning tree. */
#ifndef LW_TREE_METHOD_BASE_H
#define LW_TREE_METHOD_BASE_H

#include "formulations/formulation.h"
#include "dynamics/tree_dynamics.h"

/* Does the tree with open loops determine all accelerations of the initial state? LW_ERROR_UNSUPPORTED if
 * not. */
lw_status lw_tree_determined(const lw_model *model, lw_error *error);

/* Conversions for methods whose state is (q, v) of the tree. from_state gives prescribed entries exactly. */
void lw_tree_to_state(lw_method *method, double t, const double *q, const double *v, double *y);
void lw_tree_from_state(const lw_model *model, lw_data *data, double t, const double *y, double *q,
                        double *v);
/* Completes a residual that holds the force of every speed from out[nq] on: at prescribed speeds it becomes
 * vdot less the prescribed acceleration (data->vdot); in front of these qdot - N(q) v is put, with q of
 * data. */
void lw_tree_residual(const lw_model *model, const lw_data *data, const double *v, const double *ydot,
                      double *out);

#endif

/* tree_dynamics.h - the recursions on the spanning tree, for what builds on them.
 */
#ifndef LW_TREE_DYNAMICS_H
#define LW_TREE_DYNAMICS_H

#include "model/data.h"

/* Accelerations into data->vdot, and nodes[].a, for the state in data->q, data->v (lw_take_state);
 * data->drive is the force of the drives at prescribed speeds, data->power that of the force elements. */
lw_status lw_tree_solve(const lw_model *model, lw_data *data, double t, const double *tau, lw_error *error);

/* LW_ERROR_SINGULAR, and a sentence: speed number `speed` (from 1) of a body's joint moves no inertia. */
lw_status lw_undetermined(const lw_model *model, int body, int speed, lw_error *error);

/* Loads and joint forces of the elements for the state in data, plus the caller's tau (may be NULL), into
 * data->load and data->tau. */
void lw_take_forces(const lw_model *model, lw_data *data, double t, const double *tau);

/* The answers of the spanning tree with its loops open and without constraints, as if it were the mechanism:
 * terms of the equations of the closed one. Otherwise as lw_tree_forward_dynamics, lw_tree_inverse_dynamics
 * and lw_joint_reactions; arguments are not checked. */
lw_status lw_open_forward(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                          const double *tau, double *vdot, lw_error *error);
void lw_open_inverse(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                     const double *vdot, double *tau);
void lw_open_reactions(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                       const double *vdot, double *reactions);

/* LW_ERROR_UNSUPPORTED with a sentence if the model is more than its tree: the first closing joint, or the
 * first constraint. */
lw_status lw_only_trees(const lw_model *model, lw_error *error);

/* lw_open_inverse and lw_tree_mass_matrix with the moments that hold idle spins (model/idle_spins.c): the
 * equations that methods solve. */
void lw_inverse_held(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                     const double *vdot, double *tau);
void lw_mass_matrix_held(const lw_model *model, lw_data *data, double t, const double *q, double *mass);
/* Subtracts the contribution of these moments, for the state and accelerations in data, after
 * lw_take_forces. */
void lw_idle_forget(const lw_model *model, lw_data *data);
/* LW_ERROR_SINGULAR if the caller's tau turns a body about an axis where nothing resists, for the state in
 * data. */
lw_status lw_idle_torque(const lw_model *model, lw_data *data, const double *tau, const double *vdot,
                         lw_error *error);

/* Power of the drives that impose prescribed motions, given their forces per speed. */
double lw_prescribed_power(const lw_model *model, const lw_data *data, const double *force);

#endif

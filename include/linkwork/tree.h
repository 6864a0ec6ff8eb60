/* tree.h - dynamics of mechanisms that are trees; of the spanning tree where that has a meaning.
 *
 * No call here allocates, data is the workspace (dynamics.h), matrices are row by row, and vectors are in
 * world axes. The coordinates and speeds that the model prescribes are taken from their expressions, whatever
 * q and v say.
 *
 * A model with loops or constraints moves by the forces that keep these closed, which the recursions on the
 * tree do not know. So forward and inverse dynamics, also of batches, refuse such a model by
 * LW_ERROR_UNSUPPORTED, and error names the first joint that closes a loop, or else the first constraint;
 * lw_solver_accelerations (solver.h) is the call for it. The mass matrix and the Jacobians of the spanning
 * tree have a meaning there as well: for speeds v that satisfy closures and constraints, v' M v / 2 is the
 * kinetic energy, and J v the velocity of the point.
 *
 * LW_ERROR_ARGUMENT: a pointer is NULL (q, v, tau and vdot may be if the model has no such numbers), data or
 * batch belong to another model, there is no such body, or a number of the state is not finite.
 */
#ifndef LINKWORK_TREE_H
#define LINKWORK_TREE_H

#include <linkwork/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

/* vdot from q, v and additional generalised forces tau (NULL: none); all force elements of the model act.
 * O(n). LW_ERROR_SINGULAR: a massless body leaves some acceleration undetermined; error (may be NULL) names
 * it. */
LW_API lw_status lw_tree_forward_dynamics(const lw_model *model, lw_data *data, double t, const double *q,
                                          const double *v, const double *tau, double *vdot, lw_error *error);

/* The additional generalised forces tau that make the tree accelerate by vdot. At prescribed coordinates vdot
 * is taken from the prescription and tau is the force of the prescribing drive. O(n). */
LW_API lw_status lw_tree_inverse_dynamics(const lw_model *model, lw_data *data, double t, const double *q,
                                          const double *v, const double *vdot, double *tau, lw_error *error);

/* Joint-space mass matrix, nv x nv, symmetric, prescribed coordinates included. */
LW_API lw_status lw_tree_mass_matrix(const lw_model *model, lw_data *data, double t, const double *q,
                                     double *mass);

/* Twist of a body (angular; linear, of the origin of its frame) = J v; J is 6 x nv. */
LW_API lw_status lw_tree_body_jacobian(const lw_model *model, lw_data *data, double t, const double *q,
                                       int body, double *jacobian);
/* Velocity of a point given in the body's frame = J v; J is 3 x nv. */
LW_API lw_status lw_tree_point_jacobian(const lw_model *model, lw_data *data, double t, const double *q,
                                        int body, const double point[3], double *jacobian);

/* Many states of one model at once. Coordinate k of state s stands at [k * count + s] in q, v, tau and vdot,
 * so that neighbouring states advance together in one vector instruction; several threads share the states.
 * The workspace belongs to one caller at a time. Results are those of the calls above to rounding. */
typedef struct lw_batch lw_batch;

/* threads: how many to use, the caller's included; 0 stands for one for each processor. */
LW_API lw_status lw_batch_create(const lw_model *model, int threads, const lw_allocator *allocator,
                                 lw_batch **batch);
LW_API void lw_batch_destroy(lw_batch *batch);
LW_API int lw_batch_lanes(const lw_batch *batch); /* states per vector instruction on this machine */
/* As lw_data_set_inputs; the same inputs act on all states. */
LW_API lw_status lw_batch_set_inputs(lw_batch *batch, const double *inputs);
/* As lw_data_set_states; the same user states for all states of the mechanism. */
LW_API lw_status lw_batch_set_states(lw_batch *batch, const double *states);

/* tau may be NULL. LW_ERROR_SINGULAR if any state is; its accelerations are then not finite. */
LW_API lw_status lw_tree_forward_dynamics_batch(const lw_model *model, lw_batch *batch, int count, double t,
                                                const double *q, const double *v, const double *tau,
                                                double *vdot, lw_error *error);
LW_API lw_status lw_tree_inverse_dynamics_batch(const lw_model *model, lw_batch *batch, int count, double t,
                                                const double *q, const double *v, const double *vdot,
                                                double *tau, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* dynamics.h - data of one thread; kinematics, energy, momentum, and reactions of trees.
 *
 * Poses, velocities, energies and momenta follow from q and v, which are coordinates and speeds of the
 * spanning tree; with loops or constraints too, if the state satisfies them (lw_assemble). Dynamics: tree.h
 * for mechanisms that are trees, solver.h for all.
 *
 * A data object holds the workspace of one thread; the model is shared. No call here allocates. Time t
 * matters where forces or prescribed motions depend on it. The coordinates and speeds that the model
 * prescribes are taken from their expressions, whatever q and v say.
 *
 * LW_ERROR_ARGUMENT: a pointer is NULL where a number has to be read or written, data belong to another
 * model, there is no such body or joint, or a number of the state is not finite; nothing is written then.
 * Vectors that are only written to may be NULL if they are not wanted. Any destroy call takes NULL; to
 * destroy an object twice, or to use it afterwards, is a fault that no call can detect.
 *
 * Vectors are in world axes unless said; twists and wrenches here are six numbers. Matrices are row by row.
 */
#ifndef LINKWORK_DYNAMICS_H
#define LINKWORK_DYNAMICS_H

#include <linkwork/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_data lw_data;

/* The workspace of a model, which must outlive it; allocator may be NULL. */
LW_API lw_status lw_data_create(const lw_model *model, const lw_allocator *allocator, lw_data **data);
LW_API void lw_data_destroy(lw_data *data);
/* The model's inputs (model.h) for all calls with this data: each call takes the numbers that stand in the
 * array at that time, which has to live on. NULL: the model's defaults, as after lw_data_create. */
LW_API lw_status lw_data_set_inputs(const lw_model *model, lw_data *data, const double *inputs);
/* The same for the user states of the model (section `states`); NULL: their start values. */
LW_API lw_status lw_data_set_states(const lw_model *model, lw_data *data, const double *states);

/* Pose of a body's frame: position, rotation (row by row, body to world). */
LW_API lw_status lw_body_pose(const lw_model *model, lw_data *data, double t, const double *q, int body,
                              double position[3], double rotation[9]);
/* Angular velocity, and velocity of a point given in the body's frame. */
LW_API lw_status lw_body_velocity(const lw_model *model, lw_data *data, double t, const double *q,
                                  const double *v, int body, const double point[3], double angular[3],
                                  double linear[3]);

/* Coordinates and speeds of any joint, also of one that closes a loop, where they follow from the bodies'
 * places. Returns how many coordinates there are; 0, and nothing is written, at a cut joint with an angle
 * whose turns q does not count; -1 for a wrong argument. */
LW_API int lw_joint_coordinates(const lw_model *model, lw_data *data, double t, const double *q,
                                const double *v, int joint, double *coordinates, double *speeds);

/* Energies of the tree in a state; potential is that of gravity (zero at the world's origin), of springs and
 * torsion springs (also those whose law depends on x alone) and of bushings. */
typedef struct lw_energy {
    double kinetic, potential;
} lw_energy;
/* The energies of the tree in a state; NaN for a wrong argument. */
LW_API lw_energy lw_energy_of(const lw_model *model, lw_data *data, double t, const double *q,
                              const double *v);

/* Linear momentum, and angular momentum about the world's origin. */
LW_API lw_status lw_momentum(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                             double linear[3], double angular[3]);

/* Wrench of the first body on the second through each joint, at the joint's point on the second body, world
 * axes: force, torque. It is all that the joint transmits: reaction, drive, friction, torsion spring.
 * reactions is joint_count x 6; vdot are the accelerations of the state (lw_tree_forward_dynamics with the
 * same tau). Refuses loops and constraints as the calls of tree.h do; solver.h has their reactions. */
LW_API lw_status lw_joint_reactions(const lw_model *model, lw_data *data, double t, const double *q,
                                    const double *v, const double *vdot, double *reactions, lw_error *error);

/* Of these three the results are not finite where q or v are not.
 *
 * q += dt * (speeds v), exact for the rotation about a constant axis; keeps quaternions at unit length. */
LW_API lw_status lw_integrate_q(const lw_model *model, double *q, const double *v, double dt);
/* qdot from q and v (quaternion rates for quaternions). */
LW_API lw_status lw_q_rate(const lw_model *model, const double *q, const double *v, double *qdot);
/* Brings every quaternion in q to unit length. */
LW_API lw_status lw_normalise_q(const lw_model *model, double *q);

#ifdef __cplusplus
}
#endif
#endif

/* data.h - the inner structure of lw_data: everything that one thread computes for one model. */
#ifndef LW_DATA_H
#define LW_DATA_H

#include "model/compiled_model.h"
#include <linkwork/dynamics.h>

/* Power of everything except kinetic and potential energy: the integrand of the energy ledger. */
typedef struct lw_power {
    double drives, forces, dissipation;
} lw_power;
#define LW_POWERS 3 /* The number of its members, for use as an array in this order. */

/* Kinematics of one body, in its internal frame. */
typedef struct lw_body_motion {
    double R[9], p[3]; /* Pose in the parent's internal frame. */
    double V[6];       /* twist */
} lw_body_motion;

/* What the recursions (dynamics/tree_recursion.h) keep at each body, in its internal axes, for one state or
 * several:
 *   node    w        angular velocity
 *           a, bias  acceleration (angular; of the origin, gravity taken off), and what the joint's speeds
 *                    alone add to the parent's
 *           U, d, u  U, 1/D and u of an aligned joint
 *   relative  p, R   pose in the parent, where it depends on q: p not of aligned revolute joints, R not of
 *                    aligned ones
 *   sum     A, B, C  articulated inertia [A B; B' C] and bias wrench f that the children have handed over
 *   swing   w, a, K  inverse dynamics: w and a as above; K x is the acceleration of a point x relative to
 *                    the origin
 * Sums and swings stand in slots, which bodies use in turn: only what waits for a child is kept. */
#define LW_NODE(REAL)                                                                                        \
    struct {                                                                                                 \
        REAL w[3], a[6], bias[6], U[6], d, u;                                                                \
    }
#define LW_RELATIVE_POSE(REAL)                                                                               \
    struct {                                                                                                 \
        REAL p[3], R[9];                                                                                     \
    }
#define LW_SUM(REAL)                                                                                         \
    struct {                                                                                                 \
        REAL f[6], A[6], B[9], C[6];                                                                         \
    }
#define LW_SWING(REAL)                                                                                       \
    struct {                                                                                                 \
        REAL w[3], a[6], K[9];                                                                               \
    }
typedef LW_NODE(double) lw_node;
typedef LW_RELATIVE_POSE(double) lw_relative_pose;
typedef LW_SUM(double) lw_node_sum;
typedef LW_SWING(double) lw_node_swing;

/* Derivatives that an element between two bodies stores for methods that linearise it.
 *   spring    the wrenches of a unit of tension on the first body and, opposite, on the second, in their
 *             internal axes; the rate of its length
 *   bushing   its axes as columns in the second body's axes, 9; its point in the first body's frame, 3; the
 *             rates that it damps, 6 */
enum { LW_LINE = 18 };

struct lw_data {
    lw_arena *arena;
    const lw_model *model; /* The model it was created for; public calls refuse any other. */
    /* Kinematics (lw_positions, lw_velocities, lw_world_poses), 0 .. n. */
    lw_body_motion *motion;
    lw_pose *world; /* World poses of the internal frames. */
    double *S;      /* 6 per speed: motion subspace in the child's internal axes. */
    /* The state with prescribed entries filled in (lw_take_state). */
    double *q, *v, *vdot;
    /* Inputs and user states in the model's order; their owner may change them between calls. */
    const double *inputs, *states;
    /* The vector of values that expressions read: `inputs` itself if the model's forces use nothing but
     * inputs, otherwise `computed`, which lw_signals fills. */
    const double *values;
    double *computed;
    lw_jet *jets; /* Of inputs, user states and signals along the motion; NULL if no motion uses states. */
    /* Force elements (lw_forces). */
    double *tau;      /* Per speed: forces of joint elements and of the caller. */
    double *load;     /* 6 per body: wrench (torque about the internal origin; force) in internal axes. */
    lw_power power;   /* Power of the elements. */
    double potential; /* Potential energy of springs, torsion springs and bushings. */
    /* The magnitudes of the parts of the last element, which may cancel each other: torque, force. */
    double gross[2];
    bool measuring; /* The parts within laws and drives count among them, which takes further evaluations. */
    /* Per element: its LW_LINE in `lines` (force.c), or -1; NULL if none are stored. */
    const int *line_of;
    double *lines;
    /* Outcomes at which the conditions in laws, drives and applied forces are frozen
     * (lw_function_value_held). Per element: the index of its first outcome in `held`, or -1. NULL if nothing
     * is frozen. */
    const int *held_of, *held_value_of; /* held_value_of: the same per entry of the vector of values */
    const double *held;
    /* Per element: its law or drive is extrapolated to zero speed by its slope; NULL if none is. */
    const bool *still;
    /* 6 per loop: wrench (torque; force) of elements at the cut joint on its second body, at the joint, in
     * world axes. */
    double *cut_load;
    /* Recursions. */
    lw_node *nodes;             /* 0 .. n */
    lw_relative_pose *relative; /* 0 .. n */
    lw_node_sum *sums;          /* slots */
    lw_node_swing *swings;      /* one for leaves, then slots */
    double *wrenches;           /* 6 per body, 0 .. n: wrench transmitted by its joint (inverse dynamics). */
    /* 6 per speed each: U and the factor of D, for joints that are not aligned. */
    double *joint_U, *joint_D;
    double *joint_u;             /* per speed */
    double *sine, *cosine;       /* per speed, of aligned revolute joints */
    double *drive;               /* Per speed: force of the drive at a prescribed speed. */
    lw_rigid_inertia *composite; /* 0 .. n, for the mass matrix */
    double *columns;             /* 6 per column (lw_branch), in pairs, for the mass matrix */
    lw_data *merged;             /* data of the model's merged form; NULL if there is none */
};

/* The merged form of a model with its data, for recursions: what they compute is the same. */
static inline void lw_take_merged(const lw_model **model, lw_data **data) {
    if (!(*data)->merged) return;
    *model = (*model)->merged;
    *data = (*data)->merged;
}

/* Do model and data exist, and belong together? */
static inline bool lw_data_fits(const lw_model *model, const lw_data *data) {
    return model && data && data->model == model;
}
/* Is there an array, if it has to hold anything? */
static inline bool lw_given(const void *array, int count) { return array || count == 0; }
/* LW_ERROR_ARGUMENT with a sentence: which of the arguments of a call for one state is missing. */
lw_status lw_bad_arguments(const lw_model *model, const lw_data *data, lw_error *error);

/* --- kinematics.c --------------------------------------------------------------------------------- */

/* Fills q, v (and vdot at prescribed speeds) of data from the caller's values; v may be NULL (at rest). */
void lw_take_state(const lw_model *model, lw_data *data, double t, const double *q, const double *v);
/* The prescribed entries alone. */
void lw_take_prescribed(const lw_model *model, lw_data *data, double t);
/* Relative poses and motion subspaces from data->q. */
void lw_positions(const lw_model *model, lw_data *data);
/* lw_positions, and twists from data->v. */
void lw_velocities(const lw_model *model, lw_data *data);
/* World poses, after lw_positions. */
void lw_world_poses(const lw_model *model, lw_data *data);
/* lw_q_rate with a term that drives quaternions towards unit length (joint.h); for integration. */
void lw_q_rate_stable(const lw_model *model, const double *q, const double *v, double *qdot);
/* A quaternion and its negative are the same rotation: gives each quaternion in q the sign that is nearer to
 * that in `like`. */
void lw_same_signs(const lw_model *model, const double *like, double *q);

/* Coordinates and speeds of a joint that closes a loop, and the wrenches of lw_joint_dual in world axes at
 * its point on the second body; after lw_velocities and lw_world_poses. */
void lw_cut_joint(const lw_model *model, const lw_data *data, int closure, double *q, double *v, double W[36],
                  double at[3]);
/* The initial guess of lw_joint_fit at a cut joint: the angles whose revolutions q counts, zero displacement
 * for the others. */
void lw_cut_guess(const lw_joint_entry *entry, const double *q, double *guess);
/* Stores a joint's coordinates in q: all of a tree joint, and of a cut joint the angles whose revolutions
 * matter. */
void lw_put_coordinates(const lw_joint_entry *entry, const double *coordinates, double *q);
/* Replaces the entries of q that belong to cut joints by the angles of the poses, in the same revolution. */
void lw_fit_cut_angles(const lw_model *model, double *q);

/* Makes these the inputs and user states for all later calls; NULL: the defaults and start values. */
void lw_data_set_values(const lw_model *model, lw_data *data, const double *inputs, const double *states);

/* --- force.c -------------------------------------------------------------------------------------- */

/* Loads and joint forces of all elements into load and tau (both overwritten), with their power; after
 * lw_velocities and, if forces_need_world, lw_world_poses. potential: compute data->potential too, which for
 * laws given as expressions means integrating them. */
void lw_forces(const lw_model *model, lw_data *data, double t, bool potential);
/* The outcomes at which the conditions of element k are frozen, or NULL. */
static inline const double *lw_held(const lw_data *data, int k) {
    return data->held_of && data->held_of[k] >= 0 ? data->held + data->held_of[k] : NULL;
}
/* The same of an input's default, a user state's rate or a signal. */
static inline const double *lw_held_value(const lw_data *data, int entry) {
    return data->held_value_of && data->held_value_of[entry] >= 0 ? data->held + data->held_value_of[entry]
                                                                  : NULL;
}
/* Conditions are held at these outcomes from now on; NULL: they are not held. */
typedef struct lw_outcomes {
    const int *of_force, *of_value; /* per element and per entry: the place of its first condition, or -1 */
    const double *outcomes;
} lw_outcomes;
static inline void lw_data_hold(lw_data *data, const lw_outcomes *hold) {
    data->held_of = hold ? hold->of_force : NULL;
    data->held_value_of = hold ? hold->of_value : NULL;
    data->held = hold ? hold->outcomes : NULL;
}
/* Sets everything that lw_forces computes to zero, and computes the signals that elements use. */
void lw_forces_clear(const lw_model *model, lw_data *data, double t);
/* Does an element act on a speed of the tree only, and not on bodies? */
bool lw_force_in_joint(const lw_force *force);
/* lw_forces for the elements first .. end - 1, added to the present values. */
void lw_forces_add(const lw_model *model, lw_data *data, int first, int end, double t, bool potential);

/* --- idle_spins.c --------------------------------------------------------------------------------------- */

/* Adds to load the torque that cancels the gyroscopic torque of the moments that keep idle spins determined;
 * after lw_velocities. */
void lw_idle_loads(const lw_model *model, lw_data *data);

#endif

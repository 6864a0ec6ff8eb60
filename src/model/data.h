/* data.h - the inside of lw_data: everything that one thread computes for one model.
 */
#ifndef LW_DATA_H
#define LW_DATA_H

#include "model/compiled_model.h"
#include <linkwork/dynamics.h>

/* Power of what is neither kinetic nor potential energy: the integrand of the energy ledger. */
typedef struct lw_power {
    double drives, forces, dissipation;
} lw_power;
#define LW_POWERS 3 /* the same as an array, in this order */

/* Kinematics of one body, in its internal frame. */
typedef struct lw_body_motion {
    double R[9], p[3]; /* place in the parent's internal frame */
    double V[6];       /* twist */
} lw_body_motion;

/* What the recursions (dynamics/tree_recursion.h) keep at each body, in its internal axes, for one state or
 * several:
 *   node    w        angular velocity
 *           a, bias  acceleration (angular; of the origin, gravity taken off), and what the joint's speeds
 *                    alone add to the parent's
 *           U, d, u  U, 1/D and u of an aligned joint
 *   place   p, R     place in the parent, where it depends on q: p not of aligned revolute joints, R not of
 *                    aligned ones
 *   sum     A, B, C  articulated inertia [A B; B' C] and bias wrench f that the children have handed over
 *   swing   w, a, K  inverse dynamics: w and a as above; K x is the acceleration of a point x relative to the
 *   origin
 * Sums and swings stand in slots, which bodies use in turn: only what waits for a child is kept. */
#define LW_NODE(REAL)                                                                                        \
    struct {                                                                                                 \
        REAL w[3], a[6], bias[6], U[6], d, u;                                                                \
    }
#define LW_PLACE(REAL)                                                                                       \
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
typedef LW_PLACE(double) lw_node_place;
typedef LW_SUM(double) lw_node_sum;
typedef LW_SWING(double) lw_node_swing;

/* What an element between two bodies leaves for those who differentiate it.
 *   spring    wrenches of a unit of tension on the first body, and against it on the second, in their
 *   internal axes; the rate of its
 *             length
 *   bushing   its axes as columns, seen from the second body, 9; its point seen from the first, 3; the rates
 *   that it damps, 6 */
enum { LW_LINE = 18 };

struct lw_data {
    lw_arena *arena;
    /* kinematics (lw_positions, lw_velocities, lw_world_poses), 0 .. n */
    lw_body_motion *motion;
    lw_pose *world; /* place of the internal frames in the world */
    double *S;      /* 6 per speed: motion subspace, child's internal axes */
    /* state with prescribed entries filled in (lw_take_state) */
    double *q, *v, *vdot;
    /* force elements (lw_forces) */
    double *tau;      /* per speed: of joint elements and of the caller */
    double *load;     /* 6 per body: wrench (torque about the internal origin; force), internal axes */
    lw_power power;   /* of the elements */
    double potential; /* of springs, torsion springs and bushings */
    double gross[2];  /* of the last element: the sizes of its parts, which may cancel (torque, force) */
    /* per element: which LW_LINE of `lines` it leaves (force.c), or -1: none; NULL: not kept */
    const int *line_of;
    double *lines;
    /* outcomes that conditions in laws, drives and applied forces are held at (lw_function_value_held): per
     * element the first of its own in `held`, or -1; NULL: nothing is held */
    const int *held_of;
    const double *held;
    /* per element: its law or drive gives what it would at rest, by its slope; NULL: none does */
    const bool *still;
    /* 6 per loop: wrench (torque; force) of elements at the cut joint on its second body, at the joint, world
     * axes */
    double *cut_load;
    /* recursions */
    lw_node *nodes;              /* 0 .. n */
    lw_node_place *places;       /* 0 .. n */
    lw_node_sum *sums;           /* slots */
    lw_node_swing *swings;       /* one for leaves, then slots */
    double *wrenches;            /* 6 per body, 0 .. n: transmitted by its joint (inverse dynamics) */
    double *joint_U, *joint_D;   /* 6 per speed each: U and the factor of D of joints that are not aligned */
    double *joint_u;             /* per speed */
    double *sine, *cosine;       /* per speed, of aligned revolute joints */
    double *drive;               /* per speed: force of the drive at a prescribed one */
    lw_rigid_inertia *composite; /* 0 .. n, for the mass matrix */
    double *columns;             /* 6 per column (lw_branch), in pairs, for the mass matrix */
};

/* --- kinematics.c --------------------------------------------------------------------------------- */

/* Fills q, v (and vdot at prescribed speeds) of data from the caller's; v may be NULL (at rest). */
void lw_take_state(const lw_model *model, lw_data *data, double t, const double *q, const double *v);
/* The prescribed entries alone. */
void lw_take_prescribed(const lw_model *model, lw_data *data, double t);
/* From data->q: places in the parent and motion subspaces. */
void lw_positions(const lw_model *model, lw_data *data);
/* From data->q, data->v: lw_positions plus twists. */
void lw_velocities(const lw_model *model, lw_data *data);
/* World poses, after lw_positions. */
void lw_world_poses(const lw_model *model, lw_data *data);
/* The same of bodies first .. end - 1, when those before them are done. */
void lw_velocities_of(const lw_model *model, lw_data *data, int first, int end);
void lw_world_poses_of(const lw_model *model, lw_data *data, int first, int end);
/* lw_q_rate with the pull of quaternions towards unit length (joint.h): for integration. */
void lw_q_rate_stable(const lw_model *model, const double *q, const double *v, double *qdot);
/* A quaternion and its opposite are the same rotation: each in q with the sign that is nearer to the one in
 * `like`. */
void lw_same_signs(const lw_model *model, const double *like, double *q);

/* The joint that closes a loop, after lw_velocities and lw_world_poses: coordinates, speeds, and the wrenches
 * of lw_joint_dual in world axes at its point on the second body. */
void lw_cut_joint(const lw_model *model, const lw_data *data, int closure, double *q, double *v, double W[36],
                  double at[3]);
/* What lw_joint_fit starts from at a cut joint: the turns that q names, zero displacement where it names
 * none. */
void lw_cut_guess(const lw_joint_entry *entry, const double *q, double *guess);
/* Into q what it holds of a joint's coordinates: all of them in the tree, the turns of a cut joint where they
 * matter. */
void lw_put_coordinates(const lw_joint_entry *entry, const double *coordinates, double *q);
/* The entries of q that belong to cut joints, from the places of the bodies and the turns that they are
 * in. */
void lw_fit_cut_angles(const lw_model *model, double *q);

/* --- force.c -------------------------------------------------------------------------------------- */

/* Loads and joint forces of all elements into load and tau (both overwritten), with their power;
 * after lw_velocities and, if the model asks for it, lw_world_poses. potential: complete data->potential too,
 * which for laws given as expressions means integrating them. */
void lw_forces(const lw_model *model, lw_data *data, double t, bool potential);
/* Outcomes that conditions of element k are held at, or NULL. */
static inline const double *lw_held(const lw_data *data, int k) {
    return data->held_of && data->held_of[k] >= 0 ? data->held + data->held_of[k] : NULL;
}
/* Sets all that lw_forces fills to zero. */
void lw_forces_clear(const lw_model *model, lw_data *data);
/* Does an element act on a speed of the tree, and load no body? */
bool lw_force_in_joint(const lw_force *force);
/* The same of the elements first .. end - 1, added to what is there. */
void lw_forces_add(const lw_model *model, lw_data *data, int first, int end, double t, bool potential);

/* --- idle_spins.c --------------------------------------------------------------------------------------- */

/* Adds to load what takes the gyroscopic torque of the moments that hold idle spins away again; after
 * lw_velocities. */
void lw_idle_loads(const lw_model *model, lw_data *data);

#endif

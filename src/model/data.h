/* data.h - the inside of lw_data: everything that one thread computes for one model.
 */
#ifndef LW_DATA_H
#define LW_DATA_H

#include "model/model.h"
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
    double bias[6]; /* acceleration that the speeds alone cause: S° v + V x S v (docs/theory/tree.md, 6) */
    double a[6];    /* acceleration, gravity taken off */
    double load[6]; /* wrench of the force elements */
} lw_body_motion;

/* Articulated inertia and bias force of one body with all that hangs on it, in its internal frame. */
typedef struct lw_articulated {
    lw_inertia I;
    double p[6];
} lw_articulated;

struct lw_data {
    lw_arena *arena;
    lw_body_motion *motion; /* 0 .. n */
    lw_articulated *artic;  /* 0 .. n */
    lw_pose *world;         /* 0 .. n: place of the internal frames in the world */
    lw_inertia *composite;  /* 0 .. n, for the mass matrix */
    double *S;              /* 6 per speed: motion subspace, child's internal frame */
    double *U;              /* 6 per speed: articulated inertia times S */
    double *D;              /* nv per joint packed: per speed 6, Cholesky factor of S'U of its joint */
    double *u;              /* per speed */
    double *tau;            /* per speed: generalised forces of joint elements and of the caller */
    double *q, *v, *vdot;   /* with prescribed entries filled in */
    double *wrench;         /* 6 per body: transmitted by its tree joint, child's internal frame */
    lw_power power;         /* of the force elements, after lw_forces */
    double potential;       /* of the springs and bushings, after lw_forces */
};

/* --- kinematics.c
 * ------------------------------------------------------------------------------------------------ */

/* Fills q, v (and vdot at prescribed speeds) of data from the caller's; v may be NULL (at rest). */
void lw_take_state(const lw_model *model, lw_data *data, double t, const double *q, const double *v);
/* From data->q: places in the parent and motion subspaces. */
void lw_positions(const lw_model *model, lw_data *data);
/* From data->q, data->v: lw_positions plus twists and bias accelerations. */
void lw_velocities(const lw_model *model, lw_data *data);
/* World poses, after lw_positions. */
void lw_world_poses(const lw_model *model, lw_data *data);
/* lw_q_rate with the pull of quaternions towards unit length (joint.h): for integration. */
void lw_q_rate_stable(const lw_model *model, const double *q, const double *v, double *qdot);

/* --- force.c
 * ----------------------------------------------------------------------------------------------------- */

/* Loads and joint forces of all elements into motion[].load and tau (both overwritten), with their power;
 * after lw_velocities and, if the model asks for it, lw_world_poses. potential: complete data->potential too,
 * which for laws given as expressions means integrating them. */
void lw_forces(const lw_model *model, lw_data *data, double t, bool potential);

#endif

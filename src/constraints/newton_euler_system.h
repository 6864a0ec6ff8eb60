/* newton_euler_system.h - the stationary-point system of a mechanism at one state, from which all of Mufti's
 * methods start:
 *
 *   J a - H lambda = u,   H'a = gamma                                                     (10), (49), (63)
 *
 * a_i = (angular acceleration; acceleration of the centre of mass) of body i = 1 .. n in world axes, six
 * numbers from a[6 (i - 1)].
 */
#ifndef LW_NEWTON_EULER_SYSTEM_H
#define LW_NEWTON_EULER_SYSTEM_H

#include "model/rows.h"

/* An angle in q that counts whole revolutions, which poses do not show: its entry of q, its joint, and the
 * speed of that joint to which it belongs. */
typedef struct lw_winding {
    int q, joint, speed;
} lw_winding;

typedef struct lw_newton_euler {
    const lw_model *model;
    lw_arena *arena;
    lw_data *data;
    lw_rows *rows; /* H, gamma */
    /* J. Per body: the mass, and 6 numbers of inertia in world axes about the centre of mass. */
    double *mass, *inertia;
    double *u;                 /* (torque about the centre of mass - w x I w; force), gravity included. */
    double *joint_load;        /* 6 per joint: (torque; force) of joint elements on the second body. */
    double *a, *lambda, *vdot; /* The solution, which the caller of a solver fills in; joint accelerations. */
    int angle_count;
    lw_winding *angles;
} lw_newton_euler;

/* Returns NULL when memory is out. */
lw_newton_euler *lw_newton_euler_create(const lw_model *model, lw_hold hold);
void lw_newton_euler_destroy(lw_newton_euler *s);

/* Evaluates the system at joint coordinates; tau may be NULL. */
void lw_newton_euler_at(lw_newton_euler *s, double t, const double *q, const double *v, const double *tau);
/* Evaluates rows and inertia only, without forces: all that projections of positions and velocities need. */
void lw_newton_euler_rows_at(lw_newton_euler *s, double t, const double *q, const double *v);
/* Adds the forces to rows and inertia that have been evaluated; tau may be NULL. */
void lw_newton_euler_forces(lw_newton_euler *s, double t, const double *tau);
/* Evaluates rows and inertia at absolute coordinates y: 13 per body (centre of mass, quaternion of the
 * internal frame, velocity of the centre of mass, angular velocity; world axes), then the angles of joints,
 * of which only the number of revolutions is used. The joint coordinates of s->data are filled in too. */
void lw_newton_euler_rows_at_absolute(lw_newton_euler *s, double t, const double *y);

/* Adds a force on a speed of a body's tree joint to u and joint_load. */
void lw_newton_euler_push(lw_newton_euler *s, int body, int speed, double force);

int lw_absolute_size(const lw_newton_euler *s);
/* Absolute coordinates from joint coordinates, after lw_newton_euler_rows_at. */
void lw_absolute_from_joints(const lw_newton_euler *s, double *y);
/* Replaces the angles in y by those of the poses, after lw_newton_euler_rows_at_absolute. */
void lw_absolute_take_angles(const lw_newton_euler *s, double *y);

/* gamma -= 2 alpha (H'V - rate) + beta^2 phi: Baumgarte's terms, remark 4 of the paper. */
void lw_newton_euler_stabilise(lw_newton_euler *s, double alpha, double beta);
/* Joint reactions from s->a and s->lambda: wrenches of the first body on the second, force then torque, world
 * axes. */
void lw_newton_euler_reactions(const lw_newton_euler *s, double *reactions);
/* Power of the force elements and of the drives of prescribed motions. */
lw_power lw_newton_euler_power(const lw_newton_euler *s);
/* The largest |phi| and the largest |H'V - rate|. */
void lw_newton_euler_violation(const lw_newton_euler *s, double *position, double *velocity);

#endif

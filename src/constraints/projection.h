/* projection.h - projection of positions and velocities onto the constraints of joints, loops and constraint
 * elements, by the smallest motion in the mass metric.
 */
#ifndef LW_PROJECTION_H
#define LW_PROJECTION_H

#include "constraints/newton_euler_system.h"

typedef struct lw_projection lw_projection;

/* hold: the initial values that are to be kept. Returns NULL when memory is out. */
lw_projection *lw_projection_create(const lw_model *model, lw_hold hold);
/* Inputs and user states, on which prescribed motions may depend, for all later calls
 * (lw_data_set_values). */
void lw_projection_set_values(lw_projection *projection, const double *inputs, const double *states);
void lw_projection_destroy(lw_projection *projection);
const lw_newton_euler *lw_projection_system(const lw_projection *projection);

typedef struct lw_violation {
    double largest; /* The largest error that remains. */
    int row;        /* Its row; -1 if there are no rows. */
    int rounds;
} lw_violation;

/* Projects joint coordinates onto the closed loops and constraints, in at most `rounds` iterations. */
lw_status lw_project_positions(lw_projection *projection, double t, double *q, int rounds, lw_violation *left,
                               lw_error *error);
lw_status lw_project_velocities(lw_projection *projection, double t, const double *q, double *v,
                                lw_violation *left, lw_error *error);
/* Replaces all speeds that are neither held nor prescribed by those of the least kinetic energy: the
 * velocities that impulses at the held speeds would give to the mechanism at rest. The result does not depend
 * on which joints are cut. */
lw_status lw_least_velocities(lw_projection *projection, double t, const double *q, double *v,
                              lw_violation *left, lw_error *error);
/* Are there accelerations that satisfy the rows? *left is the residual of those that come closest. */
lw_status lw_project_accelerations(lw_projection *projection, double t, const double *q, const double *v,
                                   lw_violation *left, lw_error *error);
/* Projects the positions and velocities of a state that has drifted slightly. LW_ERROR_SINGULAR if they
 * cannot be made consistent. */
lw_status lw_project_state(lw_projection *projection, double t, double *q, double *v, lw_error *error);
/* The same in absolute coordinates (newton_euler_system.h), where the rows of all joints are enforced too. */
lw_status lw_project_absolute(lw_projection *projection, double t, double *y, lw_error *error);

#endif

/* projection.h - bringing positions and velocities back to where joints, loops and constraints want them, by
 * the smallest motion in the mass metric.
 */
#ifndef LW_PROJECTION_H
#define LW_PROJECTION_H

#include "constraints/newton_euler_system.h"

typedef struct lw_projection lw_projection;

/* hold: given initial values that stay as they are. NULL when memory is out. */
lw_projection *lw_projection_create(const lw_model *model, lw_hold hold);
void lw_projection_destroy(lw_projection *projection);
const lw_newton_euler *lw_projection_system(const lw_projection *projection);

typedef struct lw_violation {
    double largest; /* of what could not be removed */
    int row;        /* where; -1 if there are no rows */
    int rounds;
} lw_violation;

/* In joint coordinates: the closed loops and constraints. rounds is the most that may be tried. */
lw_status lw_project_positions(lw_projection *projection, double t, double *q, int rounds, lw_violation *left,
                               lw_error *error);
lw_status lw_project_velocities(lw_projection *projection, double t, const double *q, double *v,
                                lw_violation *left, lw_error *error);
/* Those of the least kinetic energy, whatever v has at speeds that are neither held nor prescribed: what
 * impulses at these would set the mechanism at rest into. No cut of loops has a part in it. */
lw_status lw_least_velocities(lw_projection *projection, double t, const double *q, double *v,
                              lw_violation *left, lw_error *error);
/* Are there accelerations that satisfy the rows? left tells of those that come closest. */
lw_status lw_project_accelerations(lw_projection *projection, double t, const double *q, const double *v,
                                   lw_violation *left, lw_error *error);
/* Positions and velocities of a state that has drifted a little. LW_ERROR_SINGULAR if they cannot be made
 * consistent. */
lw_status lw_project_state(lw_projection *projection, double t, double *q, double *v, lw_error *error);
/* In absolute coordinates (newton_euler_system.h): every joint too. */
lw_status lw_project_absolute(lw_projection *projection, double t, double *y, lw_error *error);

#endif

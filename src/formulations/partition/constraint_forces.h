/* constraint_forces.h - forces in the rows of closures and constraints by the three schemes of Blajer,
 * Schiehlen & Schirm (1994).
 *
 * The rows of B are those of rows.h in the coordinates of the system: the generalised forces of a unit force
 * or torque along a direction of the joint. C, with which the motion is computed, has the same rows times
 * factors.
 */
#ifndef LW_CONSTRAINT_FORCES_H
#define LW_CONSTRAINT_FORCES_H

#include "formulations/partition/partition.h"

typedef enum lw_scheme {
    LW_SCHEME_38 = 0, /* From the equations of the dependent coordinates. */
    LW_SCHEME_37,     /* From one square matrix with B' and M D'. */
    LW_SCHEME_35,     /* By the inverse of M; not available where M is singular. */
    LW_SCHEMES
} lw_scheme;

const char *lw_scheme_name(lw_scheme scheme); /* "(38)" */

typedef struct lw_constraint_forces lw_constraint_forces;
/* For the sizes of p; NULL when memory is out. The arena owns the result except for what destroy releases. */
lw_constraint_forces *lw_constraint_forces_create(const lw_partition *p, lw_arena *arena);
void lw_constraint_forces_destroy(lw_constraint_forces *d);

/* Multipliers of the rows of C from the state, set and factors in p:
 *   before = M [0; xi] - h, where [0; xi] is the acceleration that satisfies the rows;   after = M vdot - h
 * LW_ERROR_UNSUPPORTED: M has no inverse, and (35) needs one. Where rows are redundant, each scheme gives one
 * of many solutions; they agree in all that is determined. */
lw_status lw_constraint_forces_solve(lw_constraint_forces *d, lw_partition *p, lw_scheme scheme,
                                     const double *before, const double *after, double *lambda,
                                     lw_error *error);

#endif

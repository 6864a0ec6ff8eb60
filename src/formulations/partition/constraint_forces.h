/* constraint_forces.h - forces in the rows of closures and constraints by the three schemes of Blajer,
 * Schiehlen & Schirm (1994).
 *
 * The rows of B are those of rows.h in the coordinates of the system: what a unit force or torque along a
 * direction of the joint itself does along each coordinate. C, which the motion is computed with, has the
 * same rows times factors.
 */
#ifndef LW_CONSTRAINT_FORCES_H
#define LW_CONSTRAINT_FORCES_H

#include "formulations/partition/partition.h"

typedef enum lw_scheme {
    LW_SCHEME_38 = 0, /* equations of the dependent coordinates */
    LW_SCHEME_37,     /* one square matrix with B' and M D' */
    LW_SCHEME_35,     /* by the inverse of M: not where M is singular */
    LW_SCHEMES
} lw_scheme;

const char *lw_scheme_name(lw_scheme scheme); /* "(38)" */

typedef struct lw_constraint_forces lw_constraint_forces;
/* For the sizes of p; NULL when memory is out. The arena owns it, but for what destroy gives back. */
lw_constraint_forces *lw_constraint_forces_create(const lw_partition *p, lw_arena *arena);
void lw_constraint_forces_destroy(lw_constraint_forces *d);

/* Multipliers of the rows of C from the state, set and factors in p:
 *   before = M [0; xi] - h, what the acceleration that the rows ask for leaves;   after = M vdot - h
 * LW_ERROR_UNSUPPORTED: M has no inverse, and (35) needs one. Where rows are redundant each scheme gives one
 * of many solutions: only what is determined is the same. */
lw_status lw_constraint_forces_solve(lw_constraint_forces *d, lw_partition *p, lw_scheme scheme,
                                     const double *before, const double *after, double *lambda,
                                     lw_error *error);

/* Of a method `partition` or an instance made by it: the scheme for all that follows, ... */
void lw_partition_use_scheme(lw_method *method, lw_scheme scheme);
/* ... and only the forces in the rows once more by a scheme, after accelerations. */
lw_status lw_partition_row_forces(lw_method *method, lw_scheme scheme, lw_error *error);

#endif

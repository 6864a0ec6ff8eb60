/* redundancy.h - which rows of closures and constraints depend on others, and what that leaves undetermined.
 */
#ifndef LW_REDUNDANCY_H
#define LW_REDUNDANCY_H

#include "constraints/newton_euler_system.h"

/* Of the state in the system (lw_newton_euler_at or lw_newton_euler_rows_at). Rows count from the first that
 * does not belong to the tree: rows->tree_count. */
typedef struct lw_redundancy {
    int rows;     /* of closures and constraints */
    int speeds;   /* of the tree that are not prescribed */
    int rank;     /* of the rows in these speeds */
    int mobility; /* speeds - rank */
    double size;  /* of the mechanism: makes lengths dimensionless */
    double *unit; /* per row: what makes it dimensionless */
    bool *kept;   /* per row: in a largest independent set; the others are redundant */
    int nulls;    /* rows - rank */
    double *null; /* rows x nulls, column by column: multipliers that move nothing */
} lw_redundancy;

lw_status lw_redundancy_create(const lw_newton_euler *s, lw_redundancy **redundancy, lw_error *error);
void lw_redundancy_destroy(lw_redundancy *redundancy);

/* Which components of the reactions (6 per joint: force, torque, world axes) are determined. */
lw_status lw_unique_reactions(const lw_newton_euler *s, bool *unique, lw_error *error);
/* The same for a position. */
lw_status lw_unique_reactions_at(const lw_model *model, double t, const double *q, bool *unique,
                                 lw_error *error);

#endif

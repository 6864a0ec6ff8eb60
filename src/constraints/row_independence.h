/* row_independence.h - which rows of closures and constraints depend on the others: the one place where a
 * mechanism's rank is decided within a step.
 */
#ifndef LW_ROW_INDEPENDENCE_H
#define LW_ROW_INDEPENDENCE_H

#include "constraints/newton_euler_system.h"
#include "linalg/dense.h"

/* Rows count from the first that does not belong to the tree: rows->tree_count. */
typedef struct lw_independence {
    int rows;     /* of closures and constraints */
    int speeds;   /* of the tree that are not prescribed */
    int rank;     /* of the rows in these speeds */
    bool *kept;   /* per row: in a largest independent set; the others are redundant */
    int *order;   /* rows, the kept ones first */
    double *G;    /* G'P = Q R, speeds x rows: R in the upper triangle */
    double *unit; /* per row: what makes it dimensionless */
    double size;  /* of the mechanism */
    int *number;  /* per speed of the tree: its place among those that are not prescribed, or -1 */
    double
        *S; /* 36 per body: twists (rotation; translation at the joint) dual to W of its joint, world axes */
    double *F; /* 6 per body */
    lw_orthogonal *work;
    /* Only with `least`. */
    double *null; /* all rows x nulls: multipliers of all rows, those of the tree too, that move nothing */
    double *gram, *c; /* null'null, dimensionless, factored; per null */
    lw_symmetric *symmetric;
} lw_independence;

/* least: lw_least_multipliers will be asked. NULL when memory is out. */
lw_independence *lw_independence_create(const lw_model *model, const lw_rows *rows, bool least);
void lw_independence_destroy(lw_independence *independence);
/* At the state in the system, whichever coordinates it came from. Takes no memory. */
void lw_independence_at(lw_independence *independence, const lw_newton_euler *s);
/* Multipliers with the same effect as those given, per row of the system, that are zero in rows which are not
 * kept. */
void lw_unload_multipliers(const lw_independence *independence, const lw_newton_euler *s, double *lambda);
/* Of all multipliers with the same effect the smallest: torques count over the size of the mechanism. The
 * last call at a state. */
void lw_least_multipliers(lw_independence *independence, const lw_newton_euler *s, double *lambda);

#endif

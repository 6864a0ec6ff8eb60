/* row_independence.h - which rows of closures and constraints depend on others. All decisions about rank
 * within a time step are made here.
 */
#ifndef LW_ROW_INDEPENDENCE_H
#define LW_ROW_INDEPENDENCE_H

#include "constraints/newton_euler_system.h"
#include "linalg/dense.h"

/* Rows are counted from rows->tree_count, the first that does not belong to the tree. */
typedef struct lw_independence {
    lw_arena *arena;
    int rows;     /* The number of rows of closures and constraints. */
    int speeds;   /* The number of speeds of the tree that are not prescribed. */
    int rank;     /* The rank of the rows in these speeds. */
    bool *kept;   /* Per row: it belongs to a largest independent set. The others are redundant. */
    int *order;   /* The rows, the kept ones first. */
    double *G;    /* G'P = Q R, speeds x rows: R in the upper triangle. */
    double *unit; /* Per row: the factor that makes it dimensionless. */
    double size;  /* The size of the mechanism. */
    int *number;  /* Per speed of the tree: its number among those that are not prescribed, or -1. */
    /* 36 per body: twists (rotation; translation at the joint) dual to W of its joint, world axes. */
    double *S;
    double *F; /* 6 per body: workspace. */
    lw_orthogonal *work;
    /* Only if created with `least`. */
    /* All rows x nulls: multipliers of all rows, including those of the tree, that cause no motion. */
    double *null;
    double *gram, *c; /* The dimensionless null'null, factored; and one number per null vector. */
    lw_symmetric *symmetric;
} lw_independence;

/* least: lw_least_multipliers will be called. Returns NULL when memory is out. */
lw_independence *lw_independence_create(const lw_model *model, const lw_rows *rows, bool least);
void lw_independence_destroy(lw_independence *independence);
/* Decides the rank at the state in the system, which may come from joint or absolute coordinates. Allocates
 * nothing. */
void lw_independence_at(lw_independence *independence, const lw_newton_euler *s);
/* Replaces multipliers, one per row of the system, by others with the same effect that are zero in rows which
 * are not kept. */
void lw_unload_multipliers(const lw_independence *independence, const lw_newton_euler *s, double *lambda);
/* Replaces multipliers by the smallest with the same effect; torques are divided by the size of the
 * mechanism. This must be the last call at a state. */
void lw_least_multipliers(lw_independence *independence, const lw_newton_euler *s, double *lambda);

#endif

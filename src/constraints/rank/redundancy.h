/* redundancy.h - which rows of closures and constraints depend on others, and which reactions are then
 * undetermined.
 */
#ifndef LW_REDUNDANCY_H
#define LW_REDUNDANCY_H

#include "constraints/newton_euler_system.h"

/* Results for the state in the system (lw_newton_euler_at or lw_newton_euler_rows_at). Rows are counted from
 * rows->tree_count, the first that does not belong to the tree. */
typedef struct lw_redundancy {
    lw_arena *arena;
    int rows;     /* The number of rows of closures and constraints. */
    int speeds;   /* The number of speeds of the tree that are not prescribed. */
    int rank;     /* The rank of the rows in these speeds. */
    int mobility; /* speeds - rank */
    double size;  /* The size of the mechanism, which makes lengths dimensionless. */
    double *unit; /* Per row: the factor that makes it dimensionless. */
    bool *kept;   /* Per row: it belongs to a largest independent set. The others are redundant. */
    int nulls;    /* rows - rank */
    double *null; /* rows x nulls, by columns: multipliers that cause no motion. */
} lw_redundancy;

lw_status lw_redundancy_create(const lw_newton_euler *s, lw_redundancy **redundancy, lw_error *error);
void lw_redundancy_destroy(lw_redundancy *redundancy);

/* Memory for such decisions at the states of a model. s: the system that will hold these states, at any one
 * of them, by which the memory of large mechanisms is measured; NULL: it makes a system of its own, which
 * lw_unique_reactions_at uses. Returns NULL when memory is out. */
typedef struct lw_uniqueness lw_uniqueness;
lw_uniqueness *lw_uniqueness_create(const lw_model *model, const lw_newton_euler *s);
void lw_uniqueness_destroy(lw_uniqueness *uniqueness);

/* Per component of the reactions (6 per joint: force, torque, world axes): is it determined? Allocates
 * nothing unless uniqueness is NULL: then memory is taken for this call. */
lw_status lw_unique_reactions(lw_uniqueness *uniqueness, const lw_newton_euler *s, bool *unique,
                              lw_error *error);
/* The same at a given position; uniqueness was created without a system. */
lw_status lw_unique_reactions_at(lw_uniqueness *uniqueness, const lw_model *model, double t, const double *q,
                                 bool *unique, lw_error *error);

#endif

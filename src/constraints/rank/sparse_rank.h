/* sparse_rank.h - which rows of closures and constraints are independent, and multipliers that cause no
 * motion, for mechanisms that are too large for dense matrices.
 */
#ifndef LW_SPARSE_RANK_H
#define LW_SPARSE_RANK_H

#include "constraints/newton_euler_system.h"

/* For the rows that do not belong to the tree, at the state in the system: which of them are kept (may be
 * NULL), and how many. speeds: the number of speeds of the tree that are not prescribed. */
lw_status lw_sparse_rank_at(const lw_newton_euler *s, bool *kept, int *rank, int *speeds, lw_error *error);

/* Memory for multipliers of the rows of a model, as much as the state in the system needs, several times
 * over. NULL: memory is out. */
typedef struct lw_sparse_rank lw_sparse_rank;
lw_sparse_rank *lw_sparse_rank_create(const lw_newton_euler *s);
void lw_sparse_rank_destroy(lw_sparse_rank *rank);
/* Multipliers of these rows that cause no motion, with arbitrary values in every redundant row: `count`
 * vectors one after the other in null. Two of them differ from zero wherever any such multipliers do. */
lw_status lw_sparse_null_vectors(lw_sparse_rank *rank, const lw_newton_euler *s, int count, double *null,
                                 lw_error *error);

/* Beyond so many numbers in the matrix of rows and speeds, sparse elimination takes the place of orthogonal
 * factors. */
#define LW_DENSE_ENTRIES 4e5

#endif

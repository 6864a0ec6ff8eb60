/* sparse_rank.h - which rows of closures and constraints are independent, for mechanisms that are too large
 * for dense matrices.
 */
#ifndef LW_SPARSE_RANK_H
#define LW_SPARSE_RANK_H

#include "constraints/newton_euler_system.h"

/* For the rows that do not belong to the tree, at the state in the system: which of them are kept (may be
 * NULL), and how many. speeds: the number of speeds of the tree that are not prescribed. */
lw_status lw_sparse_rank(const lw_newton_euler *s, bool *kept, int *rank, int *speeds, lw_error *error);

#endif

/* sparse_order.h - an order of the columns of a sparse matrix in which elimination fills in little.
 */
#ifndef LW_SPARSE_ORDER_H
#define LW_SPARSE_ORDER_H

#include <stdbool.h>

/* order[k] is the column to be eliminated at step k; the matrix as in sparse.h. False: memory is out. */
bool lw_sparse_order(int n, const int *start, const int *index, int *order);

#endif

/* sparse.h - square sparse systems of equations, P A Q = L U: analysed once, factored as often as the values
 * change, with the same pivots as long as these serve.
 *
 * A matrix is stored by columns: column j has the rows index[start[j]] .. index[start[j + 1] - 1], ascending,
 * and the same places of `value` have its entries. Structure and values belong to the caller; the structure
 * must outlive the system.
 */
#ifndef LW_SPARSE_H
#define LW_SPARSE_H

#include <stdbool.h>

typedef struct lw_sparse lw_sparse;

/* For n > 0. NULL: memory is out, or the structure has no n entries in different rows and columns. */
lw_sparse *lw_sparse_create(int n, int *start, int *index);
void lw_sparse_destroy(lw_sparse *s);

/* Factors the matrix. anew: with a new choice of pivots; otherwise that is done only if the last ones do not
 * serve. The first call takes memory for four times the entries that its factors have; later ones take more
 * only if new pivots need more than that. False: it is singular, or memory is out. */
bool lw_sparse_factor(lw_sparse *s, double *value, bool anew);
/* x = A^-1 x. */
void lw_sparse_solve(lw_sparse *s, double *x);
/* An estimate of the condition number in the 1-norm; 1 if nothing has been factored. */
double lw_sparse_condition(lw_sparse *s, double *value);
long lw_sparse_fill(const lw_sparse *s); /* numbers in the factors */

#endif

/* dense_lu.h - general square systems, dense. */
#ifndef LW_DENSE_LU_H
#define LW_DENSE_LU_H

#include <stdbool.h>
#include <stddef.h>

/* P A = L U in place, with row pivots; A is n x n, column by column, pivots has n numbers. False: a pivot is
 * zero or not finite. */
bool lw_lu_factor(int n, double *A, int *pivots);
/* x = A^-1 x with these factors. */
void lw_lu_solve(int n, const double *A, const int *pivots, double *x);

#endif

/* dense_condition.h - the 1-norm of an inverse, estimated from a few solutions of systems of equations.
 */
#ifndef LW_DENSE_CONDITION_H
#define LW_DENSE_CONDITION_H

#include <stdbool.h>

/* Solves A x = b or A'x = b in place. */
typedef void (*lw_solve)(void *context, bool transpose, double *x);

/* A lower bound of the 1-norm of the inverse of an n x n matrix, hardly ever off by more than a factor of
 * three; infinite where a solution is not finite. work has 2 n numbers. */
double lw_inverse_norm(int n, lw_solve solve, void *context, double *work);

#endif

/* eigen.h - eigenvalues of dense matrices by LAPACK: part of the full library alone.
 *
 * Matrices are stored column by column. The calls allocate their workspace; false: no memory, or no
 * convergence.
 */
#ifndef LW_EIGEN_H
#define LW_EIGEN_H

#include <stdbool.h>

/* Eigenvalues of an n x n matrix, which is destroyed, real and imaginary parts in pairs, and unless NULL its
 * right eigenvectors as LAPACK packs them: the real and imaginary parts of a conjugate pair in two
 * columns. */
bool lw_eigen_general(int n, double *A, double *values, double *vectors);
/* K x = w M x for symmetric K and positive definite M, which are destroyed: w ascending, x in the columns of
 * K with x'M x = 1. */
bool lw_eigen_definite(int n, double *K, double *M, double *values);
/* The `count` algebraically smallest w of the same problem, ascending, and x with x'M x = 1 in the columns of
 * `vectors` (n x count). K and M are kept, 4 count <= n; unit: numbers that make x / unit comparable.
 * rounding (count): what rounding of K may have left in each w; zeros are no larger than some of these. */
bool lw_eigen_lowest(int n, const double *K, const double *M, const double *unit, int count, double *values,
                     double *vectors, double *rounding);

#endif

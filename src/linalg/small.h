/* small.h - matrices of fixed size.
 *
 * A symmetric 3 x 3 matrix S is xx, yy, zz, xy, xz, yz.
 */
#ifndef LW_SMALL_H
#define LW_SMALL_H

#include <stdbool.h>

/* Eigenvalues e and eigenvectors, the columns of axes (a rotation matrix, row by row), of S. In no order:
 * axes of a matrix that is diagonal are those of the frame. */
void lw_s3_axes(const double S[6], double e[3], double axes[9]);
/* The same, ascending; axes may be a reflection. */
void lw_s3_axes_ascending(const double S[6], double e[3], double axes[9]);

enum { LW_INVERT_MAX = 6 };
/* Puts the inverse of A, n x n with n <= LW_INVERT_MAX, row by row, in the place of A. False: A is
 * singular. */
bool lw_invert(int n, double *A);

#endif

/* kkt_dense.h - dense symmetric stationary-point systems.
 *
 *   [  A   -G ] [ x ]   [ b ]
 *   [ -G'  -S ] [ l ] = [ c ]
 *
 * A n x n symmetric, G n x m, S symmetric and positive semidefinite, zero but for its last `soft` rows and
 * columns. Rows that depend on others are left out.
 */
#ifndef LW_KKT_DENSE_H
#define LW_KKT_DENSE_H

#include "core/core.h"

#include <stdbool.h>

typedef struct lw_kkt_dense lw_kkt_dense;

/* For n unknowns and m multipliers. doubtful: A may be singular where G does not help; this is then looked at
 * with each factorisation. NULL when memory is out. */
lw_kkt_dense *lw_kkt_dense_create(int n, int m, int soft, bool doubtful);
void lw_kkt_dense_destroy(lw_kkt_dense *kkt);

/* Matrices column by column, A with both triangles or the lower one, S soft x soft. kept: of the last `count`
 * multipliers, which are not left out; NULL: all. The matrices are not needed any more afterwards. */
lw_status lw_kkt_dense_factor(lw_kkt_dense *kkt, const double *A, const double *G, const double *S,
                              const bool *kept, int count, lw_error *error);
/* right holds b, then c; the solution x, then l, replaces it. Multipliers that are left out are zero. */
void lw_kkt_dense_solve(const lw_kkt_dense *kkt, double *right);
/* Estimate of the condition number of the matrix that was factored last, made dimensionless. */
double lw_kkt_dense_condition(lw_kkt_dense *kkt);

/* LW_ERROR_SINGULAR with its sentence. */
lw_status lw_kkt_dense_singular(lw_error *error);

#endif

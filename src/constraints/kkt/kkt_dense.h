/* kkt_dense.h - dense symmetric stationary-point systems.
 *
 *   [  A   -G ] [ x ]   [ b ]
 *   [ -G'  -S ] [ l ] = [ c ]
 *
 * A is n x n and symmetric, G n x m, S symmetric and positive semidefinite; S is zero except in its last
 * `soft` rows and columns. Dependent rows can be left out.
 */
#ifndef LW_KKT_DENSE_H
#define LW_KKT_DENSE_H

#include "core/core.h"

#include <stdbool.h>

typedef struct lw_kkt_dense lw_kkt_dense;

/* For n unknowns and m multipliers. doubtful: A may be singular where G does not help, and each factorisation
 * examines this. Returns NULL when memory is out. */
lw_kkt_dense *lw_kkt_dense_create(int n, int m, int soft, bool doubtful);
void lw_kkt_dense_destroy(lw_kkt_dense *kkt);

/* Matrices are stored by columns, A with both triangles or the lower one, S soft x soft. kept tells which of
 * the last `count` multipliers are not left out; NULL means all. The matrices are not needed after the
 * call. */
lw_status lw_kkt_dense_factor(lw_kkt_dense *kkt, const double *A, const double *G, const double *S,
                              const bool *kept, int count, lw_error *error);
/* right holds b, then c, and is replaced by the solution x, then l. Multipliers that are left out become
 * zero. */
void lw_kkt_dense_solve(const lw_kkt_dense *kkt, double *right);
/* Estimate of the condition number of the matrix factored last, after equilibration. */
double lw_kkt_dense_condition(lw_kkt_dense *kkt);

/* Returns LW_ERROR_SINGULAR with its message. */
lw_status lw_kkt_dense_singular(lw_error *error);

#endif

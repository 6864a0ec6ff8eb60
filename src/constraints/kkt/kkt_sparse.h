/* kkt_sparse.h - sparse solution of the stationary-point system, also with dependent rows.
 */
#ifndef LW_KKT_SPARSE_H
#define LW_KKT_SPARSE_H

#include "model/rows.h"

typedef struct lw_kkt_sparse lw_kkt_sparse;

/* The structure is that of the rows. Returns NULL when memory is out. */
lw_kkt_sparse *lw_kkt_sparse_create(const lw_model *model, const lw_rows *rows);
void lw_kkt_sparse_destroy(lw_kkt_sparse *kkt);

/* J = diag(inertia (6 numbers, world axes, about the centre of mass), mass) of bodies 1 .. n; H is that of
 * the rows. LW_ERROR_SINGULAR names a body whose acceleration nothing determines: J is not positive definite
 * where H'a = 0. */
lw_status lw_kkt_sparse_factor(lw_kkt_sparse *kkt, const double *inertia, const double *mass,
                               const lw_rows *rows, lw_error *error);
/* Solves J a - H lambda = u,  H'a = gamma. LW_ERROR_SINGULAR names a body or a row where too few digits are
 * left; a and lambda are then the best approximation found. */
lw_status lw_kkt_sparse_solve(lw_kkt_sparse *kkt, const double *u, const double *gamma, double *a,
                              double *lambda, lw_error *error);
/* The number of entries of the factor, and of operations for it. */
void lw_kkt_sparse_work(lw_kkt_sparse *kkt, double *entries, double *operations);
/* Estimate of the condition number of the matrix factored last. */
double lw_kkt_sparse_condition(lw_kkt_sparse *kkt);

#endif

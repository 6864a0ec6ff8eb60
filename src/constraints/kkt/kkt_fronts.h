/* kkt_fronts.h - L D L' of the sparse stationary-point matrix, with pivots chosen anew for each matrix.
 */
#ifndef LW_KKT_FRONTS_H
#define LW_KKT_FRONTS_H

#include "constraints/kkt/kkt_order.h"

/* The smallest admissible E of a row. With less, a coordinate without inertia could not be distinguished from
 * one that only rounding determines. */
#define LW_FRONTS_HARDEST 1e-9

typedef struct lw_fronts lw_fronts;

/* Row r touches bodies body[start[r]] .. body[start[r + 1] - 1], counted from 0. The arrays belong to the
 * caller and must outlive the result. Returns NULL when memory is out. */
lw_fronts *lw_fronts_create(int bodies, int rows, const int *start, const int *body);
void lw_fronts_destroy(lw_fronts *fronts);
const lw_kkt_order *lw_fronts_order(const lw_fronts *fronts);

typedef enum lw_fronts_status { LW_FRONTS_OK = 0, LW_FRONTS_SINGULAR, LW_FRONTS_MEMORY } lw_fronts_status;

/* Factors the matrix  [ J  -H ; -H'  -E ].  J = diag(inertia (6 numbers: xx yy zz xy xz yz), mass) per body,
 * H by blocks of 6, E per row; entries should be of the order 1 or less. SINGULAR: *singular is a coordinate
 * (6 body + k) that nothing but rounding determines. */
lw_fronts_status lw_fronts_factor(lw_fronts *fronts, const double *inertia, const double *mass,
                                  const double *H, const double *E, int *singular);
/* Replaces the right-hand side x by the solution: 6 per body, then one per row. */
void lw_fronts_solve(lw_fronts *fronts, double *x);
/* The number of entries of L and of multiplications for them, of the last matrix. */
void lw_fronts_work(const lw_fronts *fronts, double *entries, double *operations);

#endif

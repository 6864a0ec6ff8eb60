/* saddle.h - dense symmetric stationary-point systems, also with dependent rows.
 *
 *   [  A   -G ] [ x ]   [ b ]
 *   [ -G'  -S ] [ l ] = [ c ]
 *
 * A n x n symmetric, G n x m, S symmetric and positive semidefinite, zero but for its last `soft` rows and columns.
 */
#ifndef LW_SADDLE_H
#define LW_SADDLE_H

#include "core/core.h"

#include <stdbool.h>

typedef struct lw_saddle lw_saddle;

/* For n unknowns and m multipliers. doubtful: A may be singular; this is then looked at with each solution. NULL when
 * memory is out. */
lw_saddle *lw_saddle_create(int n, int m, int soft, bool doubtful);
void lw_saddle_destroy(lw_saddle *saddle);

/* Matrices column by column, A with both triangles, S soft x soft. mobility: per multiplier, about what a unit of it moves
 * at its own row, not zero where the row vanishes. All must stay until the last solution. */
lw_status lw_saddle_factor(lw_saddle *saddle, const double *A, const double *G, const double *S,
                           const double *mobility, lw_error *error);
/* right holds b, then c; the solution x, then l, replaces it. */
lw_status lw_saddle_solve(lw_saddle *saddle, double *right, lw_error *error);
/* Estimate of the condition number of the matrix that was factored last. */
double lw_saddle_condition(lw_saddle *saddle);

/* LW_ERROR_SINGULAR with its sentence. */
lw_status lw_saddle_singular(lw_error *error);

#endif

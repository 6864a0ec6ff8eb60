/* block_matrix.h - sparse square matrices of dense blocks: analysed once, factored with the same pivots as
 * long as these serve (linalg/sparse.h).
 */
#ifndef LW_BLOCK_MATRIX_H
#define LW_BLOCK_MATRIX_H

#include <stdbool.h>

typedef struct lw_block_matrix lw_block_matrix;

/* Creates a matrix of count block rows and columns of these sizes. Then every block that may be nonzero is
 * named, once or more often, and finish builds the structure. name and finish return false when memory is
 * out. */
lw_block_matrix *lw_block_matrix_create(int count, const int *sizes);
bool lw_block_matrix_name(lw_block_matrix *m, int row, int column);
bool lw_block_matrix_finish(lw_block_matrix *m);
void lw_block_matrix_destroy(lw_block_matrix *m);

/* The number of a block; -1 if it was not named. */
int lw_block_matrix_find(const lw_block_matrix *m, int row, int column);
int lw_block_matrix_size(const lw_block_matrix *m);
int lw_block_matrix_start(const lw_block_matrix *m, int block_row); /* the first row of a block row */

void lw_block_matrix_clear(lw_block_matrix *m);
/* Entry (a, b) of a block is at [a + b stride]. */
double *lw_block_matrix_at(lw_block_matrix *m, int block, int *stride);

/* Factors the matrix. anew: with a new choice of pivots, which takes memory. False: it is singular, or memory
 * is out. */
bool lw_block_matrix_factor(lw_block_matrix *m, bool anew);
void lw_block_matrix_solve(lw_block_matrix *m, double *right);
/* out = A x. */
void lw_block_matrix_times(const lw_block_matrix *m, const double *x, double *out);
double lw_block_matrix_condition(lw_block_matrix *m); /* estimate, 1-norm */
long lw_block_matrix_fill(const lw_block_matrix *m);  /* numbers in the factors */
/* Writes the whole matrix, column by column. */
void lw_block_matrix_dense(const lw_block_matrix *m, double *A);

#endif

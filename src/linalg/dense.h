/* dense.h - dense linear algebra behind small typed calls: routines of our own, and LAPACK's for large
 * matrices where the library has it.
 *
 * Matrices are stored column by column: entry (i, j) of an m x n matrix is A[i + j m]. Workspaces are created
 * once for the largest sizes; no other call allocates.
 */
#ifndef LW_DENSE_H
#define LW_DENSE_H

#include <stdbool.h>

/* --- products ------------------------------------------------------------------------------------- */

/* C = beta C + alpha op(A) op(B), C m x n, inner size k. */
void lw_dense_multiply(bool transpose_a, bool transpose_b, int m, int n, int k, double alpha, const double *A,
                       const double *B, double beta, double *C);
/* y = beta y + alpha op(A) x, A m x n. */
void lw_dense_times(bool transpose, int m, int n, double alpha, const double *A, const double *x, double beta,
                    double *y);

/* --- symmetric systems ---------------------------------------------------------------------------- */

/* Workspace for symmetric matrices up to size n. */
typedef struct lw_symmetric lw_symmetric;
lw_symmetric *lw_symmetric_create(int n);
void lw_symmetric_destroy(lw_symmetric *s);

/* Factors the n x n matrix A (lower triangle) in place: Cholesky, or L D L' with pivoting for indefinite
 * ones. False: not positive definite, or exactly singular. condition (may be NULL) receives an estimate. */
bool lw_cholesky_factor(lw_symmetric *s, int n, double *A, double *condition);
void lw_cholesky_solve(const lw_symmetric *s, int n, const double *A, int columns, double *B);
/* x = L^-1 x for the Cholesky factor L, with x zero before entry `first`. */
void lw_cholesky_lower(int n, const double *L, int first, double *x);
bool lw_symmetric_factor(lw_symmetric *s, int n, double *A, double *condition);
void lw_symmetric_solve(const lw_symmetric *s, int n, const double *A, int columns, double *B);
/* The 1-norm of a symmetric matrix (lower triangle), and with it the same estimate afterwards, from the
 * factors. */
double lw_symmetric_norm(lw_symmetric *s, int n, const double *A);
double lw_factored_condition(lw_symmetric *s, int n, const double *A, double norm, bool cholesky);

/* A positive semi-definite matrix (lower triangle), P'A P = L L' with the largest pivot next, as far as
 * pivots exceed tolerance; returns the rank. order[k] is the row at place k; work has 2 n numbers; condition
 * is that of the part kept. */
int lw_semidefinite_factor(int n, double *A, int *order, double *work, double tolerance, double *condition);
/* A solution of A x = b for a b in the range of A, with zeros in the rows left out; b is replaced by x. */
void lw_semidefinite_solve(int n, int rank, const double *A, const int *order, double *work, double *b);

/* --- rank-revealing factorisations ----------------------------------------------------------------- */

/* Workspace for m x n matrices up to these sizes; lw_svd needs much more of it. */
typedef struct lw_orthogonal lw_orthogonal;
lw_orthogonal *lw_orthogonal_create(int m, int n, bool svd);
void lw_orthogonal_destroy(lw_orthogonal *o);

/* A P = Q R by Householder reflections with column pivoting, in place; order[j] is the column of A at place
 * j. Returns the rank: how many diagonal entries of R exceed tolerance times the largest. */
int lw_qr_factor(lw_orthogonal *o, int m, int n, double *A, int *order, double tolerance);
/* B = Q'B or Q B for the m x columns matrix B (columns up to the larger of the workspace's sizes). */
void lw_qr_apply(lw_orthogonal *o, bool transpose, int m, int n, const double *A, int columns, double *B);
/* X = R11^-1 X or R11^-T X for the leading rank x rank triangle of an m-row factor; X is rank x columns with
 * `stride` numbers from column to column. */
void lw_qr_triangle(bool transpose, int rank, int m, const double *A, int columns, double *X, int stride);

/* A = U diag(s) V' with U m x m, V' n x n; A is destroyed. Returns the rank; 0 also if it fails. */
int lw_svd(lw_orthogonal *o, int m, int n, double *A, double *s, double *U, double *Vt, double tolerance);

/* The one threshold of rank decisions, relative to the largest pivot or singular value of rows and columns
 * made dimensionless: far above rounding of an assembled state, far below what a mechanism that moves has. */
#define LW_RANK_TOLERANCE 1e-9

#endif

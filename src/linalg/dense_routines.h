/* dense_routines.h - the routines behind dense.h, each in up to three forms: our own, our own with AVX2
 * instructions, and those of LAPACK and BLAS. dense.c chooses by size and processor.
 *
 * The two forms of our own do the same operations in the same order, so that their results agree to the last
 * bit. LAPACK's factors have the same layout as ours: what one form has factored another may solve.
 *
 * Matrices are stored column by column; `stride` is the distance of two columns where it is not the number of
 * rows. No routine takes memory, but LAPACK and BLAS may. Entries may be NULL where LAPACK is not used.
 */
#ifndef LW_DENSE_ROUTINES_H
#define LW_DENSE_ROUTINES_H

#include <stdbool.h>

typedef struct lw_dense_routines {
    /* As lw_dense_multiply and lw_dense_times, for sizes that are not zero. */
    void (*multiply)(bool transpose_a, bool transpose_b, int m, int n, int k, double alpha, const double *A,
                     const double *B, double beta, double *C);
    void (*times)(bool transpose, int m, int n, double alpha, const double *A, const double *x, double beta,
                  double *y);
    /* X = T^-1 X or T^-T X for a lower or upper n x n triangle T. */
    void (*triangle)(bool upper, bool transpose, int n, const double *T, int stride, int columns, double *X,
                     int stride_x);
    /* A = L L' in the lower triangle; false: not positive definite. */
    bool (*cholesky)(int n, double *A);
    /* P'A P = L L' as far as pivots exceed tolerance; returns the rank. work has 2 n numbers. */
    int (*semidefinite)(int n, double *A, int *order, double *work, double tolerance);
    /* P'A P = L D L' with blocks of one and two, and the solution with it; false: a pivot vanishes. A pivot
     * of one row exchanged with row p has the mark p + 1, both rows of one of two that of -(p + 1). */
    bool (*indefinite)(int n, double *A, int *pivots, double *work, int work_size);
    void (*indefinite_solve)(int n, const double *A, const int *pivots, int columns, double *B);
    /* A P = Q R: R in the upper triangle, below it the vectors of the reflections 1 - tau v v', whose first
     * entry is one. */
    void (*qr)(int m, int n, double *A, int *order, double *tau, double *work, int work_size);
    /* B = Q'B or Q B for the first `count` reflections. */
    void (*reflect)(bool transpose, int m, int count, const double *A, const double *tau, int columns,
                    double *B, double *work, int work_size);
    /* A = U diag(s) V', s descending; false: no convergence. */
    bool (*svd)(int m, int n, double *A, double *s, double *U, double *Vt, double *tau, int *integers,
                double *work, int work_size);
    /* The numbers of work that they want for matrices up to these sizes. */
    int (*indefinite_work)(int n);
    int (*qr_work)(int m, int n);
    int (*svd_work)(int m, int n);
} lw_dense_routines;

extern const lw_dense_routines lw_dense_own;
extern const lw_dense_routines lw_dense_own_avx2; /* for processors that have these instructions */

/* LAPACK; NULL in linkwork-core, which is linked without it. */
const lw_dense_routines *lw_dense_lapack(void);

#endif

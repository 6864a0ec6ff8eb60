/* dense_cholesky_kernels.h - Cholesky's factors of positive definite and of positive semi-definite matrices;
 * compiled twice, by dense_own.c and dense_own_avx2.c.
 *
 *   A = L L'            four columns at a time, which are then taken out of all that follow
 *   P'A P = L L'        with the largest of the pivots left next: the diagonal of what is left is carried
 *                       along, and a column is formed when its turn comes
 *
 * Source   Golub & Van Loan, Matrix Computations, 4.2.
 * Cost     n^3 / 3 operations.
 */
#ifndef LW_DENSE_CHOLESKY_KERNELS_H
#define LW_DENSE_CHOLESKY_KERNELS_H

#include "linalg/dense_vector_kernels.h"

static bool own_cholesky(int n, double *A) {
    const size_t stride = (size_t)n;
    for (int first = 0; first < n; first += 4) {
        const int end = first + 4 < n ? first + 4 : n;
        for (int j = first; j < end; j++) {
            double *column = A + (size_t)j * stride;
            const double *before = A + (size_t)first * stride;
            subtract_columns(n - j, j - first, before + j, stride, before + j, stride, column + j);
            if (!(column[j] > 0)) return false; /* NaN is no pivot either. */
            column[j] = sqrt(column[j]);
            const double inverse = 1 / column[j];
            for (int i = j + 1; i < n; i++) column[i] *= inverse;
        }
        const double *block = A + (size_t)first * stride;
        for (int j = end; j < n; j++)
            subtract_columns(n - j, end - first, block + j, stride, block + j, stride,
                             A + (size_t)j * stride + j);
    }
    return true;
}

/* Exchanges rows and columns j < p of the symmetric matrix in the lower triangle, factored columns
 * included. */
static inline void exchange(int n, double *A, int j, int p) {
    const size_t stride = (size_t)n;
    for (int k = 0; k < j; k++) swap(A + j + (size_t)k * stride, A + p + (size_t)k * stride);
    swap(A + (size_t)j * (stride + 1), A + (size_t)p * (stride + 1));
    for (int k = j + 1; k < p; k++) swap(A + k + (size_t)j * stride, A + p + (size_t)k * stride);
    swap_columns(n - p - 1, A + p + 1 + (size_t)j * stride, A + p + 1 + (size_t)p * stride);
}

static int own_semidefinite(int n, double *A, int *order, double *work, double tolerance) {
    const size_t stride = (size_t)n;
    double *taken = work; /* the sum of squares that is taken out of each diagonal entry */
    memset(taken, 0, (size_t)n * sizeof *taken);
    for (int k = 0; k < n; k++) order[k] = k;
    for (int j = 0; j < n; j++) {
        int p = j;
        double largest = A[(size_t)j * (stride + 1)] - taken[j];
        for (int i = j + 1; i < n; i++) {
            const double left = A[(size_t)i * (stride + 1)] - taken[i];
            /* Of pivots that differ by rounding alone the first, so that what rows are left out does not
             * depend on the last digits, and with them on units. */
            if (left > largest + 1e-10 * fabs(largest)) largest = left, p = i;
        }
        if (!(largest > tolerance)) return j;
        if (p != j) {
            exchange(n, A, j, p);
            swap(taken + j, taken + p);
            const int row = order[j];
            order[j] = order[p], order[p] = row;
        }
        double *column = A + (size_t)j * stride;
        column[j] = sqrt(largest);
        subtract_columns(n - j - 1, j, A + j + 1, stride, A + j, stride, column + j + 1);
        const double inverse = 1 / column[j];
        for (int i = j + 1; i < n; i++) column[i] *= inverse, taken[i] += column[i] * column[i];
    }
    return n;
}

#endif

/* dense_indefinite_kernels.h - symmetric indefinite systems, P'A P = L D L' with pivots of one or two rows;
 * compiled twice, by dense_own.c and dense_own_avx2.c.
 *
 * Bunch's and Kaufman's choice of the pivot: with mu the largest entry below the diagonal in the first column
 * left, in row r, and nu the largest beside the diagonal in row r, the pivot is
 *
 *   a_11                       if |a_11| >= alpha mu, or |a_11| nu >= alpha mu^2
 *   a_rr, exchanged with it    else if |a_rr| >= alpha nu
 *   the rows 1 and r           else;                             alpha = (1 + sqrt 17) / 8
 *
 * which bounds the growth of what is left by 2.57 for each row.
 *
 * Source   Bunch and Kaufman, Math. Comp. 31 (1977); Golub & Van Loan, Matrix Computations, 4.4.
 * Cost     n^3 / 3 operations.
 */
#ifndef LW_DENSE_INDEFINITE_KERNELS_H
#define LW_DENSE_INDEFINITE_KERNELS_H

#include "linalg/dense_vector_kernels.h"

/* The row of the entry that is largest by amount among x[0 .. count - 1]; -1 if there is none. */
static inline int largest_of(int count, const double *x) {
    int at = count > 0 ? 0 : -1;
    for (int i = 1; i < count; i++)
        if (fabs(x[i]) > fabs(x[at])) at = i;
    return at;
}

/* The pivot at k: the row p that comes to its last row; returns its size, 0 where all of the column is zero
 * or the diagonal is NaN. */
static int choose_pivot(int n, const double *A, int k, int *p) {
    const double alpha = (1 + 4.12310562561766054982) / 8; /* sqrt 17 */
    const size_t stride = (size_t)n;
    const double *column = A + (size_t)k * stride;
    const double diagonal = fabs(column[k]);
    const int below = largest_of(n - k - 1, column + k + 1), r = k + 1 + below;
    const double mu = below < 0 ? 0 : fabs(column[r]);
    *p = k;
    if (!(diagonal > 0 || mu > 0) || isnan(diagonal)) return 0;
    if (diagonal >= alpha * mu) return 1;
    double nu = 0;
    for (int j = k; j < r; j++) nu = fmax(nu, fabs(A[(size_t)r + (size_t)j * stride]));
    for (int i = r + 1; i < n; i++) nu = fmax(nu, fabs(A[(size_t)i + (size_t)r * stride]));
    if (diagonal >= alpha * mu * (mu / nu)) return 1;
    *p = r;
    return fabs(A[(size_t)r * (stride + 1)]) >= alpha * nu ? 1 : 2;
}

/* Exchanges rows and columns k < p of what is left, in the lower triangle. */
static void exchange_left(int n, double *A, int k, int p) {
    const size_t stride = (size_t)n;
    swap(A + (size_t)k * (stride + 1), A + (size_t)p * (stride + 1));
    for (int i = k + 1; i < p; i++) swap(A + i + (size_t)k * stride, A + p + (size_t)i * stride);
    swap_columns(n - p - 1, A + p + 1 + (size_t)k * stride, A + p + 1 + (size_t)p * stride);
}

static void eliminate_one(int n, double *A, int k) {
    const size_t stride = (size_t)n;
    double *column = A + (size_t)k * stride;
    const double inverse = 1 / column[k];
    for (int j = k + 1; j < n; j++) {
        const double factor = column[j] * inverse;
        if (factor != 0) add(n - j, -factor, column + j, A + (size_t)j * (stride + 1));
    }
    for (int i = k + 1; i < n; i++) column[i] *= inverse;
}

/* The inverse of the pivot is that of [a 1; 1 b] / c with a and b its diagonal over c = d_21, which is not
 * small beside them. */
static void eliminate_two(int n, double *A, int k) {
    const size_t stride = (size_t)n;
    double *first = A + (size_t)k * stride, *second = first + stride;
    const double c = first[k + 1], a = first[k] / c, b = second[k + 1] / c, scale = 1 / (a * b - 1) / c;
    for (int j = k + 2; j < n; j++) {
        const double x = scale * (b * first[j] - second[j]), y = scale * (a * second[j] - first[j]);
        double *column = A + (size_t)j * stride;
        for (int i = j; i < n; i++) column[i] -= first[i] * x + second[i] * y;
        first[j] = x, second[j] = y;
    }
}

static bool own_indefinite(int n, double *A, int *pivots, double *work, int work_size) {
    (void)work, (void)work_size;
    for (int k = 0, size; k < n; k += size) {
        int p;
        size = choose_pivot(n, A, k, &p);
        if (size == 0) return false;
        const int last = k + size - 1;
        if (p != last) {
            exchange_left(n, A, last, p);
            if (size == 2) swap(A + last + (size_t)k * (size_t)n, A + p + (size_t)k * (size_t)n);
        }
        if (size == 1)
            eliminate_one(n, A, k), pivots[k] = p + 1;
        else
            eliminate_two(n, A, k), pivots[k] = pivots[k + 1] = -(p + 1);
    }
    return true;
}

/* x = L^-1 P'x, with D^-1 on the way, then x = P L^-T x. */
static void indefinite_solve_one(int n, const double *A, const int *pivots, double *x) {
    const size_t stride = (size_t)n;
    for (int k = 0; k < n; k++) {
        const double *column = A + (size_t)k * stride;
        if (pivots[k] > 0) {
            swap(x + k, x + pivots[k] - 1);
            add(n - k - 1, -x[k], column + k + 1, x + k + 1);
            x[k] /= column[k];
            continue;
        }
        const double *second = column + stride;
        swap(x + k + 1, x - pivots[k] - 1);
        add(n - k - 2, -x[k], column + k + 2, x + k + 2);
        add(n - k - 2, -x[k + 1], second + k + 2, x + k + 2);
        const double c = column[k + 1], a = column[k] / c, b = second[k + 1] / c, scale = a * b - 1;
        const double y = x[k] / c, z = x[k + 1] / c;
        x[k] = (b * y - z) / scale, x[k + 1] = (a * z - y) / scale;
        k++;
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *column = A + (size_t)k * stride;
        const int after = n - k - 1;
        x[k] -= dot(after, column + k + 1, x + k + 1);
        if (pivots[k] > 0) {
            swap(x + k, x + pivots[k] - 1);
            continue;
        }
        x[k - 1] -= dot(after, column - stride + k + 1, x + k + 1);
        swap(x + k, x - pivots[k] - 1);
        k--;
    }
}

static void own_indefinite_solve(int n, const double *A, const int *pivots, int columns, double *B) {
    for (int c = 0; c < columns; c++) indefinite_solve_one(n, A, pivots, B + (size_t)c * (size_t)n);
}

static int own_indefinite_work(int n) { return (void)n, 0; }

#endif

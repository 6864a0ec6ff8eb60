/* dense_lu.c - general square systems by Gaussian elimination with row pivots, in blocks of columns.
 *
 *   P A = L U,   L with a unit diagonal
 *
 * A block of columns is eliminated; then the rows right of it are brought up to date by a product of
 * matrices, which is where the time goes. Which operations are done depends on n alone, but for the exchange
 * of rows: a step that solves such systems takes a time that does not depend on its numbers.
 *
 * Cost     2/3 n^3 operations, and 2 n^2 for a solution. Nothing is allocated.
 */
#include "linalg/dense_lu.h"

#include <math.h>

enum { BLOCK = 24 };

/* Eliminates columns first .. end - 1 among themselves; exchanges whole rows. */
static bool eliminate(int n, double *A, int first, int end, int *pivots) {
    const size_t rows = (size_t)n;
    for (int k = first; k < end; k++) {
        double *column = A + (size_t)k * rows;
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(column[i]) > fabs(column[best])) best = i;
        pivots[k] = best;
        if (!(fabs(column[best]) > 0) || !isfinite(column[best])) return false;
        for (int j = 0; j < n && best != k; j++) {
            double *entry = A + (size_t)j * rows, kept = entry[k];
            entry[k] = entry[best], entry[best] = kept;
        }
        const double inverse = 1 / column[k];
        for (int i = k + 1; i < n; i++) column[i] *= inverse;
        for (int j = k + 1; j < end; j++) {
            double *other = A + (size_t)j * rows;
            const double factor = other[k];
            for (int i = k + 1; i < n; i++) other[i] -= factor * column[i];
        }
    }
    return true;
}

/* Four columns at a time of A22 -= A21 A12, behind the block. */
static void update(int n, double *A, int first, int end) {
    const size_t rows = (size_t)n;
    for (int j = end; j < n; j++) {
        double *x = A + (size_t)j * rows;
        for (int k = first; k < end; k++) {
            const double *L = A + (size_t)k * rows, value = x[k];
            for (int i = k + 1; i < end; i++) x[i] -= L[i] * value;
        }
        int k = first;
        for (; k + 4 <= end; k += 4) {
            const double *a = A + (size_t)k * rows, *b = a + rows, *c = b + rows, *d = c + rows;
            const double p = x[k], q = x[k + 1], r = x[k + 2], s = x[k + 3];
            for (int i = end; i < n; i++) x[i] -= a[i] * p + b[i] * q + c[i] * r + d[i] * s;
        }
        for (; k < end; k++) {
            const double *a = A + (size_t)k * rows, p = x[k];
            for (int i = end; i < n; i++) x[i] -= a[i] * p;
        }
    }
}

bool lw_lu_factor(int n, double *A, int *pivots) {
    for (int first = 0; first < n; first += BLOCK) {
        const int end = first + BLOCK < n ? first + BLOCK : n;
        if (!eliminate(n, A, first, end, pivots)) return false;
        update(n, A, first, end);
    }
    return true;
}

void lw_lu_solve(int n, const double *A, const int *pivots, double *x) {
    const size_t rows = (size_t)n;
    for (int k = 0; k < n; k++) {
        const double kept = x[pivots[k]];
        x[pivots[k]] = x[k], x[k] = kept;
    }
    for (int k = 0; k < n; k++) {
        const double *L = A + (size_t)k * rows, value = x[k];
        for (int i = k + 1; i < n; i++) x[i] -= L[i] * value;
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *U = A + (size_t)k * rows, value = x[k] /= U[k];
        for (int i = 0; i < k; i++) x[i] -= U[i] * value;
    }
}

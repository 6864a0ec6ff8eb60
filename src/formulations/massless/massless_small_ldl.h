/* massless_small_ldl.h - L D L' of a few directions each of which shares dampers with each, and with no
 * other.
 *
 * Rows of the lower triangle of their matrix follow one another, up to the diagonal, and so do the columns of
 * L below it. n <= 6 is a constant: all loops unroll, and no list is looked up.
 *
 * Source   docs/theory/massless.md, 4.
 * Cost     O(n^3), n <= 6.
 */
#ifndef LW_MASSLESS_SMALL_LDL_H
#define LW_MASSLESS_SMALL_LDL_H

#define INLINE static inline __attribute__((always_inline))

enum { LW_FULL_MAX = 6 };

/* Where column j of L stands, less its row. */
INLINE int full_column(int n, int j) { return j * n - j * (j + 1) / 2 - j - 1; }

/* Row i of L into `rows` and the columns L, from the inverse pivots of those before; returns its pivot. */
INLINE double full_row(int n, int i, const double *value, const double *inverse, double (*rows)[LW_FULL_MAX],
                       double *L) {
    double pivot = value[i * (i + 1) / 2 + i], c[LW_FULL_MAX]; /* c_j = L_ij D_j */
#pragma GCC unroll 6
    for (int j = 0; j < i; j++) {
        c[j] = value[i * (i + 1) / 2 + j];
#pragma GCC unroll 6
        for (int l = 0; l < j; l++) c[j] -= c[l] * rows[j][l];
        L[full_column(n, j) + i] = rows[i][j] = c[j] * inverse[j];
        pivot -= c[j] * rows[i][j];
    }
    return pivot;
}

/* x = L^-1 x;  x = L^-T x. */
INLINE void full_lower(int n, const double *L, double *x) {
    double y[LW_FULL_MAX];
#pragma GCC unroll 6
    for (int i = 0; i < n; i++) {
        y[i] = x[i];
#pragma GCC unroll 6
        for (int k = 0; k < i; k++) y[i] -= L[full_column(n, k) + i] * y[k];
        x[i] = y[i];
    }
}
INLINE void full_upper(int n, const double *L, double *x) {
    double y[LW_FULL_MAX];
#pragma GCC unroll 6
    for (int k = n - 1; k >= 0; k--) {
        y[k] = x[k];
#pragma GCC unroll 6
        for (int i = k + 1; i < n; i++) y[k] -= L[full_column(n, k) + i] * y[i];
        x[k] = y[k];
    }
}

/* x = (L D L')^-1 x. */
INLINE void full_solve(int n, const double *L, const double *inverse, double *x) {
    double y[LW_FULL_MAX]; /* not in memory on the way */
#pragma GCC unroll 6
    for (int k = 0; k < n; k++) y[k] = x[k];
    full_lower(n, L, y);
#pragma GCC unroll 6
    for (int k = 0; k < n; k++) y[k] *= inverse[k];
    full_upper(n, L, y);
#pragma GCC unroll 6
    for (int k = 0; k < n; k++) x[k] = y[k];
}

#endif

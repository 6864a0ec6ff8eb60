/* hessenberg_lapack.c - a linear system in Hessenberg form, and its solution at a frequency.
 *
 * Balancing (dgebal) and the reduction (dgehrd) are LAPACK's; the elimination of i w - H has one entry below
 * each diagonal entry and exchanges neighbouring rows at most, O(n^2).
 *
 * Source   A. J. Laub, Efficient multivariable frequency response computations, IEEE Transactions on
 *          Automatic Control 26, 1981.
 * Cost     reduction O(n^3), once; each frequency O(n^2) and O(n^2) for each column of B.
 */
#include "linalg/hessenberg.h"

#include <math.h>
#include <stdlib.h>

extern void dgebal_(const char *, const int *, double *, const int *, int *, int *, double *, int *);
extern void dgehrd_(const int *, const int *, const int *, double *, const int *, double *, double *,
                    const int *, int *);
extern void dormhr_(const char *, const char *, const int *, const int *, const int *, const int *,
                    const double *, const int *, const double *, double *, const int *, double *, const int *,
                    int *);

bool lw_hessenberg_reduce(int n, double *A, int inputs, double *B, int outputs, double *C) {
    if (n == 0) return true;
    const int widest = inputs > outputs ? inputs : outputs, size = 64 * (n > widest ? n : widest) + 64;
    double *scale = calloc((size_t)n * 2 + (size_t)size, sizeof *scale);
    if (!scale) return false;
    double *tau = scale + n, *work = tau + n;
    int first = 1, last = n, info = 0;
    dgebal_("S", &n, A, &n, &first, &last, scale, &info); /* powers of two: exact */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < inputs; j++) B[i + j * n] /= scale[i];
        for (int j = 0; j < outputs; j++) C[j + i * outputs] *= scale[i];
    }
    dgehrd_(&n, &first, &last, A, &n, tau, work, &size, &info);
    const int rows = outputs > 0 ? outputs : 1;
    if (inputs > 0) dormhr_("L", "T", &n, &inputs, &first, &last, A, &n, tau, B, &n, work, &size, &info);
    if (outputs > 0) dormhr_("R", "N", &outputs, &n, &first, &last, A, &n, tau, C, &rows, work, &size, &info);
    for (int j = 0; j < n; j++) /* Below stand the reflections. */
        for (int i = j + 2; i < n; i++) A[i + j * n] = 0;
    free(scale);
    return info == 0;
}

/* z := z - (a + b i)(c + d i) */
static void subtract(double *z, double a, double b, double c, double d) {
    z[0] -= a * c - b * d;
    z[1] -= a * d + b * c;
}

double lw_hessenberg_solve(int n, const double *A, double w, int inputs, const double *B, double *X,
                           double *work) {
    double *M = work, largest = fabs(w), least = HUGE_VAL; /* i w - A, column by column in pairs */
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j + 1 && i < n; i++) {
            double *z = M + 2 * ((size_t)i + (size_t)j * (size_t)n);
            z[0] = -A[i + j * n], z[1] = i == j ? w : 0;
            largest = fmax(largest, fabs(z[0]));
        }
    for (int k = 0; k < n * inputs; k++) X[2 * k] = B[k], X[2 * k + 1] = 0;
    for (int k = 0; k < n; k++) {
        double *pivot = M + 2 * ((size_t)k + (size_t)k * (size_t)n);
        if (k + 1 < n &&
            hypot(pivot[2], pivot[3]) > hypot(pivot[0], pivot[1])) { /* Rows k, k + 1 change places. */
            for (int j = k; j < n; j++)
                for (int c = 0; c < 2; c++) {
                    double *z = M + 2 * ((size_t)k + (size_t)j * (size_t)n) + c, keep = z[0];
                    z[0] = z[2], z[2] = keep;
                }
            for (int j = 0; j < inputs; j++)
                for (int c = 0; c < 2; c++) {
                    double *z = X + 2 * ((size_t)k + (size_t)j * (size_t)n) + c, keep = z[0];
                    z[0] = z[2], z[2] = keep;
                }
        }
        const double size = hypot(pivot[0], pivot[1]);
        least = fmin(least, size);
        if (size == 0 || k + 1 == n) continue;
        const double re = (pivot[2] * pivot[0] + pivot[3] * pivot[1]) / size / size,
                     im = (pivot[3] * pivot[0] - pivot[2] * pivot[1]) / size / size;
        for (int j = k + 1; j < n; j++) {
            double *z = M + 2 * ((size_t)k + (size_t)j * (size_t)n);
            subtract(z + 2, re, im, z[0], z[1]);
        }
        for (int j = 0; j < inputs; j++) {
            double *z = X + 2 * ((size_t)k + (size_t)j * (size_t)n);
            subtract(z + 2, re, im, z[0], z[1]);
        }
    }
    if (n == 0) return 1;
    if (!(least > 0)) return 0;
    for (int j = 0; j < inputs; j++)
        for (int k = n - 1; k >= 0; k--) {
            double *x = X + 2 * ((size_t)k + (size_t)j * (size_t)n);
            for (int i = k + 1; i < n; i++) {
                const double *z = M + 2 * ((size_t)k + (size_t)i * (size_t)n),
                             *y = X + 2 * ((size_t)i + (size_t)j * (size_t)n);
                subtract(x, z[0], z[1], y[0], y[1]);
            }
            const double *pivot = M + 2 * ((size_t)k + (size_t)k * (size_t)n),
                         size = hypot(pivot[0], pivot[1]);
            const double re = (x[0] * pivot[0] + x[1] * pivot[1]) / size / size,
                         im = (x[1] * pivot[0] - x[0] * pivot[1]) / size / size;
            x[0] = re, x[1] = im;
        }
    return least / largest;
}

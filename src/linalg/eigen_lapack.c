/* eigen_lapack.c - eigenvalues of dense matrices: calls of LAPACK (dgeev, dsygv).
 *
 * Cost     O(n^3).
 */
#include "linalg/eigen.h"

#include <stdlib.h>

extern void dgeev_(const char *, const char *, const int *, double *, const int *, double *, double *,
                   double *, const int *, double *, const int *, double *, const int *, int *);
extern void dsygv_(const int *, const char *, const char *, const int *, double *, const int *, double *,
                   const int *, double *, double *, const int *, int *);

bool lw_eigen_general(int n, double *A, double *values, double *vectors) {
    const int query = -1, one = 1;
    const char *wanted = vectors ? "V" : "N";
    int info = 0;
    double best = 0;
    if (n == 0) return true;
    dgeev_("N", wanted, &n, A, &n, values, values, NULL, &one, vectors, vectors ? &n : &one, &best, &query,
           &info);
    int size = (int)best + 4 * n;
    double *work = calloc((size_t)size + 2 * (size_t)n, sizeof *work), *re = work, *im = work + n;
    if (!work) return false;
    dgeev_("N", wanted, &n, A, &n, re, im, NULL, &one, vectors, vectors ? &n : &one, work + 2 * n, &size,
           &info);
    for (int k = 0; k < n; k++) values[2 * k] = re[k], values[2 * k + 1] = im[k];
    free(work);
    return info == 0;
}

bool lw_eigen_definite(int n, double *K, double *M, double *values) {
    const int query = -1, type = 1;
    int info = 0;
    double best = 0;
    if (n == 0) return true;
    dsygv_(&type, "V", "L", &n, K, &n, M, &n, values, &best, &query, &info);
    int size = (int)best + 3 * n;
    double *work = calloc((size_t)size, sizeof *work);
    if (!work) return false;
    dsygv_(&type, "V", "L", &n, K, &n, M, &n, values, work, &size, &info);
    free(work);
    return info == 0;
}

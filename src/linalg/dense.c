/* dense.c - dense linear algebra behind small typed calls, by LAPACK and BLAS.
 */
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
                   const double *, const int *, const double *, const int *, const double *, double *,
                   const int *);
extern void dgemv_(const char *, const int *, const int *, const double *, const double *, const int *,
                   const double *, const int *, const double *, double *, const int *);
extern void dtrsm_(const char *, const char *, const char *, const char *, const int *, const int *,
                   const double *, const double *, const int *, double *, const int *);
extern void dpotrf_(const char *, const int *, double *, const int *, int *);
extern void dpotrs_(const char *, const int *, const int *, const double *, const int *, double *,
                    const int *, int *);
extern void dpocon_(const char *, const int *, const double *, const int *, const double *, double *,
                    double *, int *, int *);
extern void dsytrf_(const char *, const int *, double *, const int *, int *, double *, const int *, int *);
extern void dsytrs_(const char *, const int *, const int *, const double *, const int *, const int *,
                    double *, const int *, int *);
extern void dsycon_(const char *, const int *, const double *, const int *, const int *, const double *,
                    double *, double *, int *, int *);
extern void dpstrf_(const char *, const int *, double *, const int *, int *, int *, const double *, double *,
                    int *);
extern double dlansy_(const char *, const char *, const int *, const double *, const int *, double *);
extern void dgeqp3_(const int *, const int *, double *, const int *, int *, double *, double *, const int *,
                    int *);
extern void dormqr_(const char *, const char *, const int *, const int *, const int *, const double *,
                    const int *, const double *, double *, const int *, double *, const int *, int *);
extern void dgesdd_(const char *, const int *, const int *, double *, const int *, double *, double *,
                    const int *, double *, const int *, double *, const int *, int *, int *);

static const int one = 1;
static int at_least_one(int n) { return n > 1 ? n : 1; }

void lw_dense_multiply(bool ta, bool tb, int m, int n, int k, double alpha, const double *A, const double *B,
                       double beta, double *C) {
    if (m == 0 || n == 0) return;
    int lda = at_least_one(ta ? k : m), ldb = at_least_one(tb ? n : k);
    dgemm_(ta ? "T" : "N", tb ? "T" : "N", &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta, C, &m);
}

void lw_dense_times(bool transpose, int m, int n, double alpha, const double *A, const double *x, double beta,
                    double *y) {
    if (m == 0 || n == 0) {
        for (int i = 0; i < (transpose ? n : m); i++) y[i] *= beta;
        return;
    }
    dgemv_(transpose ? "T" : "N", &m, &n, &alpha, A, &m, x, &one, &beta, y, &one);
}

/* --- symmetric systems ---------------------------------------------------------------------------- */

struct lw_symmetric {
    int *pivots, *integers, work_size;
    double *work;
};

lw_symmetric *lw_symmetric_create(int n) {
    lw_symmetric *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    int size = at_least_one(n), query = -1, info;
    double best = 0, none = 0;
    dsytrf_("L", &size, &none, &size, &query, &best, &query, &info);
    s->work_size = (int)best > 3 * size ? (int)best : 3 * size;
    s->pivots = calloc((size_t)size, sizeof *s->pivots);
    s->integers = calloc((size_t)size, sizeof *s->integers);
    s->work = calloc((size_t)s->work_size, sizeof *s->work);
    if (s->pivots && s->integers && s->work) return s;
    lw_symmetric_destroy(s);
    return NULL;
}

void lw_symmetric_destroy(lw_symmetric *s) {
    if (!s) return;
    free(s->pivots), free(s->integers), free(s->work), free(s);
}

bool lw_cholesky_factor(lw_symmetric *s, int n, double *A, double *condition) {
    if (condition) *condition = 1;
    if (n == 0) return true;
    int info;
    double norm = condition ? dlansy_("1", "L", &n, A, &n, s->work) : 0, reciprocal = 0;
    dpotrf_("L", &n, A, &n, &info);
    if (info) return false;
    if (condition) {
        dpocon_("L", &n, A, &n, &norm, &reciprocal, s->work, s->integers, &info);
        *condition = 1 / reciprocal;
    }
    return true;
}

void lw_cholesky_solve(const lw_symmetric *s, int n, const double *A, int columns, double *B) {
    (void)s;
    int info;
    if (n > 0 && columns > 0) dpotrs_("L", &n, &columns, A, &n, B, &n, &info);
}

void lw_cholesky_lower(int n, const double *L, int first, double *x) {
    for (int j = first; j < n; j++) {
        const double *column = L + (size_t)j * (size_t)n;
        x[j] /= column[j];
        for (int i = j + 1; i < n; i++) x[i] -= column[i] * x[j];
    }
}

bool lw_symmetric_factor(lw_symmetric *s, int n, double *A, double *condition) {
    if (condition) *condition = 1;
    if (n == 0) return true;
    int info;
    double norm = condition ? dlansy_("1", "L", &n, A, &n, s->work) : 0, reciprocal = 0;
    dsytrf_("L", &n, A, &n, s->pivots, s->work, &s->work_size, &info);
    if (info) return false;
    if (condition) {
        dsycon_("L", &n, A, &n, s->pivots, &norm, &reciprocal, s->work, s->integers, &info);
        *condition = 1 / reciprocal;
    }
    return true;
}

void lw_symmetric_solve(const lw_symmetric *s, int n, const double *A, int columns, double *B) {
    int info;
    if (n > 0 && columns > 0) dsytrs_("L", &n, &columns, A, &n, s->pivots, B, &n, &info);
}

double lw_symmetric_norm(lw_symmetric *s, int n, const double *A) {
    return n > 0 ? dlansy_("1", "L", &n, A, &n, s->work) : 0;
}

double lw_factored_condition(lw_symmetric *s, int n, const double *A, double norm, bool cholesky) {
    double reciprocal = 1;
    int info;
    if (n == 0) return 1;
    if (cholesky)
        dpocon_("L", &n, A, &n, &norm, &reciprocal, s->work, s->integers, &info);
    else
        dsycon_("L", &n, A, &n, s->pivots, &norm, &reciprocal, s->work, s->integers, &info);
    return 1 / reciprocal;
}

int lw_semidefinite_factor(int n, double *A, int *order, double *work, double tolerance, double *condition) {
    *condition = 1;
    if (n == 0) return 0;
    int rank = 0, info;
    double largest = 0;
    for (int k = 0; k < n; k++) {
        order[k] = k;
        largest = fmax(largest, A[(size_t)k * (size_t)(n + 1)]);
    }
    if (!(largest > tolerance)) return 0; /* LAPACK would take the first pivot in any case */
    dpstrf_("L", &n, A, &n, order, &rank, &tolerance, work, &info);
    for (int k = 0; k < n; k++) order[k]--;
    double last = A[(size_t)(rank - 1) * (size_t)(n + 1)];
    *condition = A[0] * A[0] / (last * last);
    return rank;
}

void lw_semidefinite_solve(int n, int rank, const double *A, const int *order, double *work, double *b) {
    const double unity = 1;
    for (int k = 0; k < rank; k++) work[k] = b[order[k]];
    if (rank > 0) {
        dtrsm_("L", "L", "N", "N", &rank, &one, &unity, A, &n, work, &rank);
        dtrsm_("L", "L", "T", "N", &rank, &one, &unity, A, &n, work, &rank);
    }
    for (int k = 0; k < n; k++) b[order[k]] = k < rank ? work[k] : 0;
}

/* --- rank-revealing factorisations ----------------------------------------------------------------- */

struct lw_orthogonal {
    double *tau, *work;
    int *integers, work_size;
};

lw_orthogonal *lw_orthogonal_create(int m, int n, bool svd) {
    lw_orthogonal *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    int rows = at_least_one(m), columns = at_least_one(n), query = -1, info;
    int small = rows < columns ? rows : columns, large = rows < columns ? columns : rows;
    double best = 0, none = 0;
    int size = 3 * small + large;
    if (svd) {
        if (size < 4 * small * small + 7 * small)
            size = 4 * small * small + 7 * small; /* About the size that LAPACK requests. */
        dgesdd_("A", &rows, &columns, &none, &rows, &none, &none, &rows, &none, &columns, &best, &query, NULL,
                &info);
        if ((int)best > size) size = (int)best;
    }
    dgeqp3_(&rows, &columns, &none, &rows, NULL, &none, &best, &query, &info);
    if ((int)best > size) size = (int)best;
    dormqr_("L", "T", &rows, &large, &small, &none, &rows, &none, &none, &rows, &best, &query, &info);
    if ((int)best > size) size = (int)best;
    o->work_size = size;
    o->tau = calloc((size_t)small, sizeof *o->tau);
    o->integers = calloc(svd ? 8 * (size_t)small : 1, sizeof *o->integers);
    o->work = calloc((size_t)size, sizeof *o->work);
    if (o->tau && o->integers && o->work) return o;
    lw_orthogonal_destroy(o);
    return NULL;
}

void lw_orthogonal_destroy(lw_orthogonal *o) {
    if (!o) return;
    free(o->tau), free(o->integers), free(o->work), free(o);
}

int lw_qr_factor(lw_orthogonal *o, int m, int n, double *A, int *order, double tolerance) {
    if (m == 0 || n == 0) return 0;
    int info, rank = 0, small = m < n ? m : n;
    for (int j = 0; j < n; j++) order[j] = 0;
    dgeqp3_(&m, &n, A, &m, order, o->tau, o->work, &o->work_size, &info);
    for (int j = 0; j < n; j++) order[j]--;
    while (rank < small && fabs(A[rank + (size_t)rank * (size_t)m]) > tolerance * fabs(A[0])) rank++;
    return rank;
}

void lw_qr_apply(lw_orthogonal *o, bool transpose, int m, int n, const double *A, int columns, double *B) {
    int small = m < n ? m : n, info;
    if (small == 0 || columns == 0) return;
    dormqr_("L", transpose ? "T" : "N", &m, &columns, &small, A, &m, o->tau, B, &m, o->work, &o->work_size,
            &info);
}

void lw_qr_triangle(bool transpose, int rank, int m, const double *A, int columns, double *X, int stride) {
    const double unity = 1;
    if (rank == 0 || columns == 0) return;
    dtrsm_("L", "U", transpose ? "T" : "N", "N", &rank, &columns, &unity, A, &m, X, &stride);
}

int lw_svd(lw_orthogonal *o, int m, int n, double *A, double *s, double *U, double *Vt, double tolerance) {
    if (m == 0 || n == 0) { /* nothing to decompose: any orthogonal matrices serve */
        memset(U, 0, (size_t)m * (size_t)m * sizeof *U);
        memset(Vt, 0, (size_t)n * (size_t)n * sizeof *Vt);
        for (int i = 0; i < m; i++) U[i + (size_t)i * (size_t)m] = 1;
        for (int i = 0; i < n; i++) Vt[i + (size_t)i * (size_t)n] = 1;
        return 0;
    }
    int info, rank = 0, small = m < n ? m : n;
    dgesdd_("A", &m, &n, A, &m, s, U, &m, Vt, &n, o->work, &o->work_size, o->integers, &info);
    if (info) return 0;
    while (rank < small && s[rank] > tolerance * s[0]) rank++;
    return rank;
}

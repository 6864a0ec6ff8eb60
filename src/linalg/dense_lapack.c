/* dense_lapack.c - the dense routines of LAPACK and BLAS (dense_routines.h): part of the full library alone.
 * Products with a vector and triangles are not among them, since ours are as fast at all sizes.
 */
#include "linalg/dense_routines.h"

extern void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
                   const double *, const int *, const double *, const int *, const double *, double *,
                   const int *);
extern void dpotrf_(const char *, const int *, double *, const int *, int *);
extern void dsytrf_(const char *, const int *, double *, const int *, int *, double *, const int *, int *);
extern void dpstrf_(const char *, const int *, double *, const int *, int *, int *, const double *, double *,
                    int *);
extern void dgeqp3_(const int *, const int *, double *, const int *, int *, double *, double *, const int *,
                    int *);
extern void dormqr_(const char *, const char *, const int *, const int *, const int *, const double *,
                    const int *, const double *, double *, const int *, double *, const int *, int *);
extern void dgesdd_(const char *, const int *, const int *, double *, const int *, double *, double *,
                    const int *, double *, const int *, double *, const int *, int *, int *);

static void multiply(bool ta, bool tb, int m, int n, int k, double alpha, const double *A, const double *B,
                     double beta, double *C) {
    dgemm_(ta ? "T" : "N", tb ? "T" : "N", &m, &n, &k, &alpha, A, ta ? &k : &m, B, tb ? &n : &k, &beta, C,
           &m);
}

static bool cholesky(int n, double *A) {
    int info;
    dpotrf_("L", &n, A, &n, &info);
    return info == 0;
}

static int semidefinite(int n, double *A, int *order, double *work, double tolerance) {
    int rank = 0, info;
    dpstrf_("L", &n, A, &n, order, &rank, &tolerance, work, &info);
    for (int k = 0; k < n; k++) order[k]--;
    return rank;
}

static bool indefinite(int n, double *A, int *pivots, double *work, int work_size) {
    int info;
    dsytrf_("L", &n, A, &n, pivots, work, &work_size, &info);
    return info == 0;
}

static int indefinite_work(int n) {
    const int query = -1;
    int pivots, info;
    double best = 0, none = 0;
    dsytrf_("L", &n, &none, &n, &pivots, &best, &query, &info);
    return (int)best;
}

static void qr(int m, int n, double *A, int *order, double *tau, double *work, int work_size) {
    int info;
    for (int j = 0; j < n; j++) order[j] = 0; /* no column has its place yet */
    dgeqp3_(&m, &n, A, &m, order, tau, work, &work_size, &info);
    for (int j = 0; j < n; j++) order[j]--;
}

static void reflect(bool transpose, int m, int count, const double *A, const double *tau, int columns,
                    double *B, double *work, int work_size) {
    int info;
    dormqr_("L", transpose ? "T" : "N", &m, &columns, &count, A, &m, tau, B, &m, work, &work_size, &info);
}

static int qr_work(int m, int n) {
    const int query = -1, small = m < n ? m : n, large = m < n ? n : m;
    int order, info;
    double best = 0, more = 0, none = 0;
    dgeqp3_(&m, &n, &none, &m, &order, &none, &best, &query, &info);
    dormqr_("L", "T", &m, &large, &small, &none, &m, &none, &none, &m, &more, &query, &info);
    return (int)(best > more ? best : more);
}

static bool svd(int m, int n, double *A, double *s, double *U, double *Vt, double *tau, int *integers,
                double *work, int work_size) {
    (void)tau;
    int info;
    dgesdd_("A", &m, &n, A, &m, s, U, &m, Vt, &n, work, &work_size, integers, &info);
    return info == 0;
}

static int svd_work(int m, int n) {
    const int query = -1, small = m < n ? m : n;
    int integers, info;
    double best = 0, none = 0;
    dgesdd_("A", &m, &n, &none, &m, &none, &none, &m, &none, &n, &best, &query, &integers, &info);
    const int least = 4 * small * small + 7 * small; /* about the size that LAPACK requests */
    return (int)best > least ? (int)best : least;
}

static const lw_dense_routines routines = {
    .multiply = multiply,
    .cholesky = cholesky,
    .semidefinite = semidefinite,
    .indefinite = indefinite,
    .qr = qr,
    .reflect = reflect,
    .svd = svd,
    .indefinite_work = indefinite_work,
    .qr_work = qr_work,
    .svd_work = svd_work,
};

const lw_dense_routines *lw_dense_lapack(void) { return &routines; }

/* dense.c - dense linear algebra behind small typed calls: routines of our own, and those of LAPACK and BLAS
 * for large matrices where the library is linked with them.
 *
 * Up to the sizes of `limits` the routines of our own are used: they take no memory, and their results do not
 * depend on the processor.
 */
#include "linalg/dense.h"
#include "core/processor.h"
#include "linalg/dense_condition.h"
#include "linalg/dense_routines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to these sizes our own routines are used. OpenBLAS takes memory in most of its calls if it has several
 * threads, and in decompositions also if it has one; a step may not. Ours take none, and their results depend
 * neither on the processor nor on the number of threads. Up to 128 they are the faster ones, or as fast; at
 * 800 LAPACK takes 0.4 of the time for a product, 0.3 for singular values and 0.5 to 0.8 for the rest
 * (bench/dense.c, one thread, AVX2), which makes a method of absolute coordinates on chains of a hundred
 * bodies slower by a factor of 1 to 1.3, and nullspace-svd by 2 to 3. Beyond, a call takes a tenth of a
 * second, and threads count. What is not in this list is our own at all sizes: products with a vector and
 * triangles, at which LAPACK is no faster. */
enum limits {
    LIMIT = 1024,
    PRODUCT_LIMIT = LIMIT * LIMIT * LIMIT, /* m n k */
    CHOLESKY_LIMIT = LIMIT,                /* n */
    PIVOTED_LIMIT = LIMIT,                 /* n: semi-definite and indefinite */
    QR_LIMIT = LIMIT * LIMIT * LIMIT,      /* m n min(m, n) */
    REFLECT_LIMIT = LIMIT * LIMIT * LIMIT, /* m count columns, from REFLECT_COLUMNS on */
    REFLECT_COLUMNS = 16,
    SVD_LIMIT = LIMIT, /* min(m, n) */
};

static const lw_dense_routines *own(void) { return lw_has_avx2() ? &lw_dense_own_avx2 : &lw_dense_own; }

static const lw_dense_routines *routines(double size, double limit) {
    const lw_dense_routines *lapack = size > limit ? lw_dense_lapack() : NULL;
    return lapack ? lapack : own();
}

static int at_least_one(int n) { return n > 1 ? n : 1; }
static int larger(int a, int b) { return a > b ? a : b; }

/* --- products ------------------------------------------------------------------------------------- */

void lw_dense_multiply(bool ta, bool tb, int m, int n, int k, double alpha, const double *A, const double *B,
                       double beta, double *C) {
    if (m == 0 || n == 0) return;
    if (k == 0) {
        for (size_t i = 0; i < (size_t)m * (size_t)n; i++) C[i] = beta == 0 ? 0 : beta * C[i];
        return;
    }
    routines((double)m * n * k, PRODUCT_LIMIT)->multiply(ta, tb, m, n, k, alpha, A, B, beta, C);
}

void lw_dense_times(bool transpose, int m, int n, double alpha, const double *A, const double *x, double beta,
                    double *y) {
    if (m == 0 || n == 0) {
        for (int i = 0; i < (transpose ? n : m); i++) y[i] = beta == 0 ? 0 : beta * y[i];
        return;
    }
    own()->times(transpose, m, n, alpha, A, x, beta, y);
}

static void triangle(bool upper, bool transpose, int n, const double *T, int stride, int columns, double *X,
                     int stride_x) {
    if (n > 0) own()->triangle(upper, transpose, n, T, stride, columns, X, stride_x);
}

/* --- symmetric systems ---------------------------------------------------------------------------- */

struct lw_symmetric {
    int *pivots, work_size;
    double *work;
};

lw_symmetric *lw_symmetric_create(int n) {
    lw_symmetric *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    const int size = at_least_one(n);
    s->work_size = larger(routines(size, PIVOTED_LIMIT)->indefinite_work(size), 2 * size);
    s->pivots = calloc((size_t)size, sizeof *s->pivots);
    s->work = calloc((size_t)s->work_size, sizeof *s->work);
    if (s->pivots && s->work) return s;
    lw_symmetric_destroy(s);
    return NULL;
}

void lw_symmetric_destroy(lw_symmetric *s) {
    if (!s) return;
    free(s->pivots), free(s->work), free(s);
}

double lw_symmetric_norm(lw_symmetric *s, int n, const double *A) {
    double *sums = s->work, norm = 0;
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (int j = 0; j < n; j++) {
        const double *column = A + (size_t)j * (size_t)n;
        double sum = sums[j] + fabs(column[j]);
        for (int i = j + 1; i < n; i++) {
            const double amount = fabs(column[i]);
            sum += amount, sums[i] += amount;
        }
        if (sum > norm || isnan(sum)) norm = sum; /* A NaN stays. */
    }
    return norm;
}

typedef struct factors {
    const lw_symmetric *s;
    int n;
    const double *A;
    bool cholesky;
} factors;

static void solve_with_factors(void *context, bool transpose, double *x) {
    const factors *f = context;
    (void)transpose; /* The matrix is symmetric. */
    if (f->cholesky)
        lw_cholesky_solve(f->s, f->n, f->A, 1, x);
    else
        lw_symmetric_solve(f->s, f->n, f->A, 1, x);
}

double lw_factored_condition(lw_symmetric *s, int n, const double *A, double norm, bool cholesky) {
    if (n == 0) return 1;
    factors f = {s, n, A, cholesky};
    return norm * lw_inverse_norm(n, solve_with_factors, &f, s->work);
}

bool lw_cholesky_factor(lw_symmetric *s, int n, double *A, double *condition) {
    if (condition) *condition = 1;
    if (n == 0) return true;
    const double norm = condition ? lw_symmetric_norm(s, n, A) : 0;
    if (!routines(n, CHOLESKY_LIMIT)->cholesky(n, A)) return false;
    if (condition) *condition = lw_factored_condition(s, n, A, norm, true);
    return true;
}

void lw_cholesky_solve(const lw_symmetric *s, int n, const double *A, int columns, double *B) {
    (void)s;
    triangle(false, false, n, A, n, columns, B, n);
    triangle(false, true, n, A, n, columns, B, n);
}

void lw_cholesky_lower(int n, const double *L, int first, double *x) {
    triangle(false, false, n - first, L + (size_t)first * (size_t)(n + 1), n, 1, x + first, n);
}

bool lw_symmetric_factor(lw_symmetric *s, int n, double *A, double *condition) {
    if (condition) *condition = 1;
    if (n == 0) return true;
    const double norm = condition ? lw_symmetric_norm(s, n, A) : 0;
    if (!routines(n, PIVOTED_LIMIT)->indefinite(n, A, s->pivots, s->work, s->work_size)) return false;
    if (condition) *condition = lw_factored_condition(s, n, A, norm, false);
    return true;
}

void lw_symmetric_solve(const lw_symmetric *s, int n, const double *A, int columns, double *B) {
    if (n > 0) own()->indefinite_solve(n, A, s->pivots, columns, B);
}

int lw_semidefinite_factor(int n, double *A, int *order, double *work, double tolerance, double *condition) {
    *condition = 1;
    if (n == 0) return 0;
    double largest = 0;
    for (int k = 0; k < n; k++) {
        order[k] = k;
        largest = fmax(largest, A[(size_t)k * (size_t)(n + 1)]);
    }
    if (!(largest > tolerance)) return 0; /* LAPACK would take the first pivot in any case. */
    const int rank = routines(n, PIVOTED_LIMIT)->semidefinite(n, A, order, work, tolerance);
    const double last = A[(size_t)(rank - 1) * (size_t)(n + 1)];
    *condition = A[0] * A[0] / (last * last);
    return rank;
}

void lw_semidefinite_solve(int n, int rank, const double *A, const int *order, double *work, double *b) {
    for (int k = 0; k < rank; k++) work[k] = b[order[k]];
    triangle(false, false, rank, A, n, 1, work, rank);
    triangle(false, true, rank, A, n, 1, work, rank);
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
    /* A matrix below the limits, or the transposed one, may follow one above them. */
    const lw_dense_routines *all[] = {own(), lw_dense_lapack()};
    const int rows = at_least_one(m), columns = at_least_one(n), small = rows < columns ? rows : columns;
    for (int k = 0; k < 2 && all[k]; k++) {
        o->work_size = larger(o->work_size, all[k]->qr_work(rows, columns));
        if (svd) o->work_size = larger(o->work_size, all[k]->svd_work(rows, columns));
    }
    o->tau = calloc((size_t)small, sizeof *o->tau);
    o->integers = calloc(svd ? (size_t)larger(8 * small, columns) : 1, sizeof *o->integers);
    o->work = calloc((size_t)o->work_size, sizeof *o->work);
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
    int rank = 0;
    const int small = m < n ? m : n;
    routines((double)m * n * small, QR_LIMIT)->qr(m, n, A, order, o->tau, o->work, o->work_size);
    while (rank < small && fabs(A[rank + (size_t)rank * (size_t)m]) > tolerance * fabs(A[0])) rank++;
    return rank;
}

void lw_qr_apply(lw_orthogonal *o, bool transpose, int m, int n, const double *A, int columns, double *B) {
    const int small = m < n ? m : n;
    if (small == 0 || columns == 0) return;
    const double size = columns < REFLECT_COLUMNS ? 0 : (double)m * small * columns;
    routines(size, REFLECT_LIMIT)->reflect(transpose, m, small, A, o->tau, columns, B, o->work, o->work_size);
}

void lw_qr_triangle(bool transpose, int rank, int m, const double *A, int columns, double *X, int stride) {
    triangle(true, transpose, rank, A, m, columns, X, stride);
}

int lw_svd(lw_orthogonal *o, int m, int n, double *A, double *s, double *U, double *Vt, double tolerance) {
    if (m == 0 || n == 0) { /* nothing to decompose: any orthogonal matrices serve */
        memset(U, 0, (size_t)m * (size_t)m * sizeof *U);
        memset(Vt, 0, (size_t)n * (size_t)n * sizeof *Vt);
        for (int i = 0; i < m; i++) U[i + (size_t)i * (size_t)m] = 1;
        for (int i = 0; i < n; i++) Vt[i + (size_t)i * (size_t)n] = 1;
        return 0;
    }
    int rank = 0;
    const int small = m < n ? m : n;
    if (!routines(small, SVD_LIMIT)->svd(m, n, A, s, U, Vt, o->tau, o->integers, o->work, o->work_size))
        return 0;
    while (rank < small && s[rank] > tolerance * s[0]) rank++;
    return rank;
}

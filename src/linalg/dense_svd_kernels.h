/* dense_svd_kernels.h - A = U S V' by the method of Golub and Kahan, through a bidiagonal matrix; compiled
 * twice, by dense_own.c and dense_own_avx2.c.
 *
 *   A P = Q1 [R; 0]        R has r rows: those whose pivot is not lost in rounding
 *   R   = [T 0] Q2'        a second factorisation, of R', where R is not square: T is r x r
 *   T   = X B Y'           reflections from both sides in turn leave a diagonal d and the entries e above it
 *   B   = G diag(s) H'     implicit steps of the QR algorithm on B'B, with Wilkinson's shift
 *
 *   U = Q1 diag(X G, 1),   V = P Q2 diag(Y H, 1)
 *
 * An entry e_k counts as zero when it is lost beside d_k and d_k+1, which splits B into parts; a d_k that is
 * lost beside B is removed by rotations, which splits B, too. The rows left out of R have singular values
 * zero. All that is neglected is a few roundings of the largest singular value. The matrix is first scaled by
 * a power of two, so that no square overflows.
 *
 * Source   Golub and Kahan, SIAM J. Numer. Anal. 2 (1965); Golub & Van Loan, Matrix Computations, 8.6.
 * Cost     about 20 r^3 operations and those of Q1 and Q2.
 */
#ifndef LW_DENSE_SVD_KERNELS_H
#define LW_DENSE_SVD_KERNELS_H

#include "linalg/dense_qr_kernels.h"

/* (x, y) <- (c x + s y, c y - s x) */
static inline void rotate(int count, double *x, double *y, double c, double s) {
    int i = 0;
    for (; i + PACK <= count; i += PACK) {
        const pack p = PACK_AT(x + i), q = PACK_AT(y + i);
        *(pack *)(x + i) = c * p + s * q, *(pack *)(y + i) = c * q - s * p;
    }
    for (; i < count; i++) {
        const double p = x[i], q = y[i];
        x[i] = c * p + s * q, y[i] = c * q - s * p;
    }
}

/* The rotation that turns (f, g) into (length, 0); returns the length. */
static inline double turn(double f, double g, double *c, double *s) {
    double size = sqrt(f * f + g * g);
    if (!(size > 1e-140)) size = hypot(f, g); /* Squares lose digits. */
    *c = size > 0 ? f / size : 1, *s = size > 0 ? g / size : 0;
    return size;
}

/* --- the bidiagonal matrix ------------------------------------------------------------------------ */

typedef struct bidiagonal {
    int size;
    double *d, *e; /* diagonal, and above it */
    /* the matrices to which the rotations are applied as well, from the left and from the right */
    double *G, *H;
    size_t step_g, step_h; /* from column to column of these */
    double small;          /* entries d that count as zero */
} bidiagonal;

static inline void turn_columns(const bidiagonal *b, bool left, int i, int j, double c, double s) {
    double *M = left ? b->G : b->H;
    const size_t step = left ? b->step_g : b->step_h;
    rotate(b->size, M + (size_t)i * step, M + (size_t)j * step, c, s);
}

/* d_k of the part first .. last counts as zero: rotations turn e_k (or e_k-1, at the end) out. */
static void split(const bidiagonal *b, int first, int k, int last) {
    double c, s;
    b->d[k] = 0;
    if (k < last) {
        double f = b->e[k];
        b->e[k] = 0;
        for (int j = k + 1; j <= last; j++) {
            b->d[j] = turn(b->d[j], f, &c, &s);
            turn_columns(b, true, j, k, c, s);
            if (j < last) f = -s * b->e[j], b->e[j] *= c;
        }
    } else {
        double f = b->e[k - 1];
        b->e[k - 1] = 0;
        for (int j = k - 1; j >= first; j--) {
            b->d[j] = turn(b->d[j], f, &c, &s);
            turn_columns(b, false, j, k, c, s);
            if (j > first) f = -s * b->e[j - 1], b->e[j - 1] *= c;
        }
    }
}

/* One step on first .. last: the first rotation is that of B'B - shift, the others restore the shape. */
static void qr_step(const bidiagonal *b, int first, int last) {
    double *d = b->d, *e = b->e, c, s;
    /* the eigenvalue of the last two rows of B'B that is nearer to the last entry, less d_last^2 */
    const double sum = d[last - 1] + d[last], difference = d[last - 1] - d[last];
    const double half = (sum * difference + e[last - 1] * e[last - 1]) / 2, edge = d[last] * e[last - 1];
    const double root = sqrt(half * half + edge * edge), below = half < 0 ? half - root : half + root;
    const double shift = below != 0 ? edge * edge / below : 0;
    double f = (d[first] + d[last]) * (d[first] - d[last]) + shift, g = d[first] * e[first];
    for (int j = first; j < last; j++) {
        const double above = turn(f, g, &c, &s);
        if (j > first) e[j - 1] = above;
        f = c * d[j] + s * e[j], e[j] = c * e[j] - s * d[j];
        g = s * d[j + 1], d[j + 1] *= c;
        turn_columns(b, false, j, j + 1, c, s);
        d[j] = turn(f, g, &c, &s);
        f = c * e[j] + s * d[j + 1], d[j + 1] = c * d[j + 1] - s * e[j];
        if (j + 1 < last) g = s * e[j + 1], e[j + 1] *= c;
        turn_columns(b, true, j, j + 1, c, s);
    }
    e[last - 1] = f;
}

static inline bool is_lost(const bidiagonal *b, int k) {
    return fabs(b->e[k]) <= DBL_EPSILON * (fabs(b->d[k]) + fabs(b->d[k + 1])) ||
           fabs(b->e[k]) <= b->small * 1e-3;
}

static bool diagonalise(const bidiagonal *b) {
    long left = 60L * b->size + 60;
    for (int last = b->size - 1; last > 0;) {
        if (is_lost(b, last - 1)) {
            b->e[--last] = 0;
            continue;
        }
        if (left-- == 0) return false;
        int first = last - 1, zero = -1;
        while (first > 0 && !is_lost(b, first - 1)) first--;
        for (int k = first; k <= last; k++)
            if (fabs(b->d[k]) <= b->small) zero = k;
        if (zero >= 0)
            split(b, first, zero, last);
        else
            qr_step(b, first, last);
    }
    return true;
}

/* --- reflections from both sides ------------------------------------------------------------------- */

/* C = C H for the rows of C: C -= tau (C v) v', with v in full. `sum` has room for C v. */
static void reflect_rows(int rows, int count, const double *v, double tau, double *C, size_t stride,
                         double *sum) {
    if (tau == 0) return;
    memset(sum, 0, (size_t)rows * sizeof *sum);
    int j = 0;
    for (; j + 4 <= count; j += 4) add_four(rows, v + j, C + (size_t)j * stride, stride, sum);
    for (; j < count; j++) add(rows, v[j], C + (size_t)j * stride, sum);
    for (j = 0; j < count; j++) add(rows, -tau * v[j], sum, C + (size_t)j * stride);
}

/* T = X B Y'. Columns of T keep the left reflections below the diagonal; columns of Z get the right ones,
 * column k from row k + 1 on. tau: 2 r numbers, left and right; sum: r numbers. */
static void make_bidiagonal(int r, double *T, double *Z, double *tau, double *sum, double *d, double *e) {
    const size_t stride = (size_t)r;
    for (int k = 0; k < r; k++) {
        double *column = T + (size_t)k * (stride + 1), *row = Z + (size_t)k * stride;
        tau[k] = make_reflection(r - k, column);
        d[k] = *column;
        tau[r + k] = 0;
        if (k + 1 == r) break;
        const int left = r - k - 1;
        apply_reflection(r - k, column + 1, tau[k], left, column + stride, stride);
        double *v = row + k + 1;
        for (int j = 0; j < left; j++) v[j] = column[(size_t)(j + 1) * stride];
        tau[r + k] = make_reflection(left, v);
        e[k] = v[0];
        v[0] = 1;
        reflect_rows(left, left, v, tau[r + k], column + stride + 1, stride, sum);
    }
}

/* Q = the product of reflections, vectors in columns of A from row k + below on, an r x r matrix with this
 * stride. */
static void form_product(int r, int below, const double *A, const double *tau, double *Q, size_t stride) {
    for (int k = r - 1 - below; k >= 0; k--) {
        const int first = k + below;
        apply_reflection(r - first, A + (size_t)k * (size_t)r + first + 1, tau[k], r - first,
                         Q + (size_t)first * (stride + 1), stride);
    }
}

static void fill_identity(int n, double *A) {
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    for (int i = 0; i < n; i++) A[(size_t)i * (size_t)(n + 1)] = 1;
}

/* The power of two by which the largest entry of A comes to about one; 0: all entries vanish, NaN: one is no
 * number. */
static double scale_of(size_t count, const double *A) {
    double largest = 0;
    for (size_t k = 0; k < count; k++)
        if (fabs(A[k]) > largest || isnan(A[k])) largest = fabs(A[k]);
    if (largest == 0) return 0;
    if (!isfinite(largest)) return NAN;
    const int exponent = ilogb(largest);
    return ldexp(1, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
}

/* Singular values become positive and sorted, the largest first, with their columns. */
static void sort_values(const bidiagonal *b) {
    for (int j = 0; j < b->size; j++) {
        if (b->d[j] >= 0) continue;
        b->d[j] = -b->d[j];
        for (int i = 0; i < b->size; i++) b->H[(size_t)i + (size_t)j * b->step_h] *= -1;
    }
    for (int j = 0; j < b->size; j++) {
        int p = j;
        for (int k = j + 1; k < b->size; k++)
            if (b->d[k] > b->d[p]) p = k;
        if (p == j) continue;
        swap(b->d + j, b->d + p);
        swap_columns(b->size, b->G + (size_t)j * b->step_g, b->G + (size_t)p * b->step_g);
        swap_columns(b->size, b->H + (size_t)j * b->step_h, b->H + (size_t)p * b->step_h);
    }
}

/* T = (leading r x r parts of U and V) diag(s); U and V are identities before. Z: r x r, spare: 4 r. */
static bool decompose(int r, double *T, double *s, double *U, size_t step_u, double *V, size_t step_v,
                      double *Z, double *spare) {
    double *e = spare, *tau = e + r, largest = 0;
    make_bidiagonal(r, T, Z, tau, tau + 2 * r, s, e);
    form_product(r, 0, T, tau, U, step_u);
    form_product(r, 1, Z, tau + r, V, step_v);
    for (int k = 0; k < r; k++) largest = fmax(largest, fmax(fabs(s[k]), k + 1 < r ? fabs(e[k]) : 0));
    const bidiagonal b = {r, s, e, U, V, step_u, step_v, DBL_EPSILON * largest};
    if (!diagonalise(&b)) return false;
    sort_values(&b);
    return true;
}

/* --- all together ---------------------------------------------------------------------------------- */

static int own_svd_work(int m, int n) {
    const int small = m < n ? m : n;
    return n * small + n * n + 2 * small * small + 2 * n + 5 * small;
}

static bool own_svd(int m, int n, double *A, double *s, double *U, double *Vt, double *tau, int *order,
                    double *work, int work_size) {
    (void)work_size;
    const int small = m < n ? m : n;
    const size_t height = (size_t)m, width = (size_t)n, least = (size_t)small;
    double *B = work, *V = B + width * least, *T = V + width * width, *Z = T + least * least;
    double *lengths = Z + least * least, *tau2 = lengths + 2 * n, *spare = tau2 + small;
    fill_identity(m, U), fill_identity(n, V);
    memset(s, 0, least * sizeof *s);
    const double scale = scale_of(height * width, A);
    if (isnan(scale)) return false;
    for (size_t k = 0; k < height * width; k++) A[k] *= scale;
    factor_qr(m, n, A, order, tau, lengths);
    int r = 0;
    const double lost = 0.5 * DBL_EPSILON * fabs(A[0]);
    while (r < small && fabs(A[(size_t)r * (height + 1)]) > lost) r++;

    const size_t rank = (size_t)r;
    const bool square = r == n;
    for (int j = 0; j < r && !square; j++) /* R' */
        for (int i = 0; i < n; i++)
            B[(size_t)i + (size_t)j * width] = i < j ? 0 : A[(size_t)j + (size_t)i * height];
    if (!square) factor_qr(n, r, B, NULL, tau2, lengths);
    for (int j = 0; j < r; j++)
        for (int i = 0; i < r; i++) {
            const double upper = i <= j ? A[(size_t)i + (size_t)j * height] : 0;
            T[(size_t)i + (size_t)j * rank] = square ? upper : i < j ? 0 : B[(size_t)j + (size_t)i * width];
        }
    if (r > 0 && !decompose(r, T, s, U, height, V, width, Z, spare)) return false;
    own_reflect(false, m, r, A, tau, m, U, NULL, 0);
    if (!square) own_reflect(false, n, r, B, tau2, n, V, NULL, 0);
    for (int j = 0; j < n; j++) /* row i of Q2 diag(Y H, 1) is row order[i] of V */
        for (int i = 0; i < n; i++)
            Vt[(size_t)j + (size_t)order[i] * width] = V[(size_t)i + (size_t)j * width];
    for (int k = 0; k < r; k++) s[k] /= scale;
    return true;
}

#endif

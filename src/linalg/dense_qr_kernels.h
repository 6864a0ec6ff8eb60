/* dense_qr_kernels.h - A P = Q R by Householder's reflections with column pivoting; compiled twice, by
 * dense_own.c and dense_own_avx2.c.
 *
 * Next is the column whose part left is longest. A reflection H = 1 - tau v v' with v_1 = 1 turns it into
 * (beta, 0, ..., 0):
 *
 *   beta = -sign(x_1) |x|,   tau = (beta - x_1) / beta,   v = x / (x_1 - beta) from its second entry on
 *
 * Lengths are carried along, c^2 <- c^2 - r^2 with r the entry that a column has just given to R, and
 * computed anew where so much has been taken away that half of the digits are lost.
 *
 * Source   Businger and Golub, Numer. Math. 7 (1965); Drmac and Bujanovic, ACM TOMS 35 (2008), on lengths.
 * Cost     2 n^2 (m - n / 3) operations.
 */
#ifndef LW_DENSE_QR_KERNELS_H
#define LW_DENSE_QR_KERNELS_H

#include "linalg/dense_vector_kernels.h"

#include <float.h>

/* Replaces x by beta and v; returns tau, 0 where all but x_1 vanishes already. */
static double make_reflection(int count, double *x) {
    const double up = 0x1p500, tiny = 1e-270;
    double rest = length(count - 1, x + 1);
    if (!(rest > 0) && !isnan(rest)) return 0;
    double scale = 1;
    if (fmax(rest, fabs(x[0])) < tiny) { /* beta would have lost digits, or its inverse overflow. */
        for (int i = 0; i < count; i++) x[i] *= up;
        rest = length(count - 1, x + 1), scale = 1 / up;
    }
    const double size = hypot(x[0], rest), beta = x[0] > 0 ? -size : size, tau = (beta - x[0]) / beta;
    const double below = x[0] - beta;
    if (fabs(below) < 1e300) {
        const double inverse = 1 / below;
        for (int i = 1; i < count; i++) x[i] *= inverse;
    } else
        for (int i = 1; i < count; i++) x[i] /= below; /* The inverse would be denormal. */
    x[0] = beta * scale;
    return tau;
}

/* C = H C for the columns of C; v from its second entry on. */
static void apply_reflection(int count, const double *v, double tau, int columns, double *C, size_t stride) {
    int j = 0;
    if (tau == 0) return;
    for (; j + 4 <= columns; j += 4) {
        double *c = C + (size_t)j * stride, sum[4];
        dot_four(count - 1, c + 1, stride, v, sum);
        for (int r = 0; r < 4; r++, c += stride) {
            const double w = tau * (c[0] + sum[r]);
            c[0] -= w;
            add(count - 1, -w, v, c + 1);
        }
    }
    for (; j < columns; j++) {
        double *c = C + (size_t)j * stride;
        const double w = tau * (c[0] + dot(count - 1, v, c + 1));
        c[0] -= w;
        add(count - 1, -w, v, c + 1);
    }
}

/* work: 2 n numbers, the present length of each column and the one last computed from its entries. With
 * order NULL columns keep their places. */
static void factor_qr(int m, int n, double *A, int *order, double *tau, double *work) {
    const double lost = sqrt(DBL_EPSILON);
    const size_t stride = (size_t)m;
    double *present = work, *computed = work + n;
    const int steps = m < n ? m : n;
    for (int j = 0; order && j < n; j++) {
        order[j] = j;
        present[j] = computed[j] = length(m, A + (size_t)j * stride);
    }
    for (int k = 0; k < steps; k++) {
        double *column = A + (size_t)k * stride;
        if (order) {
            int p = k;
            for (int j = k + 1; j < n; j++)
                if (present[j] > present[p]) p = j;
            if (p != k) {
                swap_columns(m, column, A + (size_t)p * stride);
                const int first = order[k];
                order[k] = order[p], order[p] = first;
                present[p] = present[k], computed[p] = computed[k];
            }
        }
        tau[k] = make_reflection(m - k, column + k);
        apply_reflection(m - k, column + k + 1, tau[k], n - k - 1, column + stride + k, stride);
        for (int j = k + 1; order && j < n; j++) {
            if (present[j] == 0) continue;
            const double *x = A + (size_t)j * stride + k;
            const double ratio = fabs(x[0]) / present[j], left = fmax(0, (1 + ratio) * (1 - ratio));
            const double kept = present[j] / computed[j];
            if (left * kept * kept <= lost)
                present[j] = computed[j] = length(m - k - 1, x + 1);
            else
                present[j] *= sqrt(left);
        }
    }
}

static void own_qr(int m, int n, double *A, int *order, double *tau, double *work, int work_size) {
    (void)work_size;
    factor_qr(m, n, A, order, tau, work);
}

static int own_qr_work(int m, int n) { return 2 * (m > n ? m : n); }

static void own_reflect(bool transpose, int m, int count, const double *A, const double *tau, int columns,
                        double *B, double *work, int work_size) {
    (void)work, (void)work_size;
    const size_t stride = (size_t)m;
    for (int step = 0; step < count; step++) {
        const int k = transpose ? step : count - 1 - step;
        apply_reflection(m - k, A + (size_t)k * (stride + 1) + 1, tau[k], columns, B + k, stride);
    }
}

#endif

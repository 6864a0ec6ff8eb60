/* dense_product_kernels.h - products of matrices, and systems of equations with triangles; compiled twice, by
 * dense_own.c and dense_own_avx2.c.
 *
 * A product A B goes by tiles of two packs of rows and four columns, whose sums stay in registers; A'B by
 * sums of four columns of A against two of B. A triangle is solved by blocks of four columns.
 *
 * Cost     2 m n k operations; n^2 for each column of a triangle's right-hand side.
 */
#ifndef LW_DENSE_PRODUCT_KERNELS_H
#define LW_DENSE_PRODUCT_KERNELS_H

#include "linalg/dense_vector_kernels.h"

/* --- products ------------------------------------------------------------------------------------- */

/* c = beta c + value; with beta = 0 what was in c does not count, be it NaN. */
static inline void put(double *c, double beta, double value) { *c = beta == 0 ? value : beta * *c + value; }
static inline void put_pack(double *c, double beta, pack value) {
    if (beta != 0) value = beta * PACK_AT(c) + value;
    *(pack *)c = value;
}

/* `tall` packs of rows of four columns of C = beta C + alpha A op(B); entry (l, j) of op(B) is
 * B[l row + j column]. The sums run over l in ascending order. */
static inline __attribute__((always_inline)) void multiply_tile(int tall, size_t height, int k, double alpha,
                                                                const double *A, const double *B, size_t row,
                                                                size_t column, double beta, double *C) {
    pack s[4][2] = {{{0}}};
    for (int l = 0; l < k; l++, A += height, B += row)
        for (int p = 0; p < tall; p++) {
            const pack x = PACK_AT(A + p * PACK);
            s[0][p] += x * B[0], s[1][p] += x * B[column], s[2][p] += x * B[2 * column];
            s[3][p] += x * B[3 * column];
        }
    for (int j = 0; j < 4; j++)
        for (int p = 0; p < tall; p++) put_pack(C + (size_t)j * height + p * PACK, beta, alpha * s[j][p]);
}

/* Four columns of the same. */
static inline void multiply_four(int m, int k, double alpha, const double *A, const double *B, size_t row,
                                 size_t column, double beta, double *C) {
    int i = 0;
    const size_t height = (size_t)m;
    for (; i + 2 * PACK <= m; i += 2 * PACK)
        multiply_tile(2, height, k, alpha, A + i, B, row, column, beta, C + i);
    for (; i + PACK <= m; i += PACK) multiply_tile(1, height, k, alpha, A + i, B, row, column, beta, C + i);
    for (; i < m; i++) {
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        const double *a = A + i, *b = B;
        for (int l = 0; l < k; l++, a += height, b += row) {
            s0 += *a * b[0], s1 += *a * b[column], s2 += *a * b[2 * column], s3 += *a * b[3 * column];
        }
        put(C + i, beta, alpha * s0), put(C + i + height, beta, alpha * s1);
        put(C + i + 2 * height, beta, alpha * s2), put(C + i + 3 * height, beta, alpha * s3);
    }
}

/* One column of the same. */
static inline void multiply_one(int m, int k, double alpha, const double *A, const double *B, size_t row,
                                double beta, double *C) {
    int i = 0;
    const size_t height = (size_t)m;
    for (; i + 4 * PACK <= m; i += 4 * PACK) {
        pack s[4] = {{0}};
        const double *a = A + i, *b = B;
        for (int l = 0; l < k; l++, a += height, b += row)
            for (int p = 0; p < 4; p++) s[p] += PACK_AT(a + p * PACK) * *b;
        for (int p = 0; p < 4; p++) put_pack(C + i + p * PACK, beta, alpha * s[p]);
    }
    for (; i + PACK <= m; i += PACK) {
        pack s = {0};
        const double *a = A + i, *b = B;
        for (int l = 0; l < k; l++, a += height, b += row) s += PACK_AT(a) * *b;
        put_pack(C + i, beta, alpha * s);
    }
    for (; i < m; i++) {
        double s = 0;
        const double *a = A + i, *b = B;
        for (int l = 0; l < k; l++, a += height, b += row) s += *a * *b;
        put(C + i, beta, alpha * s);
    }
}

/* c = beta c + alpha A'b for one column of C. */
static inline void multiply_transposed(int m, int k, double alpha, const double *A, const double *b,
                                       double beta, double *c) {
    int i = 0;
    for (; i + 4 <= m; i += 4) {
        double sum[4];
        dot_four(k, A + (size_t)i * (size_t)k, (size_t)k, b, sum);
        for (int r = 0; r < 4; r++) put(c + i + r, beta, alpha * sum[r]);
    }
    for (; i < m; i++) put(c + i, beta, alpha * dot(k, A + (size_t)i * (size_t)k, b));
}

/* The same for two columns, which share what is read of A. */
static inline void multiply_transposed_two(int m, int k, double alpha, const double *A, const double *B,
                                           double beta, double *C) {
    int i = 0;
    const size_t depth = (size_t)k;
    const double *b0 = B, *b1 = B + k;
    for (; i + 4 <= m; i += 4) {
        const double *a[4] = {A + (size_t)i * depth, A + (size_t)(i + 1) * depth, A + (size_t)(i + 2) * depth,
                              A + (size_t)(i + 3) * depth};
        double sum0[4] = {0}, sum1[4] = {0};
        int l = 0;
        if (k >= 4) {
            lanes s0[4] = {{{{0}}}}, s1[4] = {{{{0}}}};
            for (; l + 4 <= k; l += 4)
                for (int r = 0; r < 4; r++) {
                    LANES_ADD(s0[r], a[r] + l, b0 + l);
                    LANES_ADD(s1[r], a[r] + l, b1 + l);
                }
            sum_lanes(&s0[0], &s0[1], &s0[2], &s0[3], sum0);
            sum_lanes(&s1[0], &s1[1], &s1[2], &s1[3], sum1);
        }
        for (; l < k; l++)
            for (int r = 0; r < 4; r++) sum0[r] += a[r][l] * b0[l], sum1[r] += a[r][l] * b1[l];
        for (int r = 0; r < 4; r++)
            put(C + i + r, beta, alpha * sum0[r]), put(C + m + i + r, beta, alpha * sum1[r]);
    }
    for (; i < m; i++) {
        const double *a = A + (size_t)i * depth;
        put(C + i, beta, alpha * dot(k, a, b0)), put(C + m + i, beta, alpha * dot(k, a, b1));
    }
}

static void own_multiply(bool ta, bool tb, int m, int n, int k, double alpha, const double *A,
                         const double *B, double beta, double *C) {
    const size_t row = tb ? (size_t)n : 1, column = tb ? 1 : (size_t)k;
    int j = 0;
    if (ta && tb) { /* in no inner loop of ours */
        for (; j < n; j++)
            for (int i = 0; i < m; i++) {
                double sum = 0;
                for (int l = 0; l < k; l++)
                    sum += A[(size_t)l + (size_t)i * (size_t)k] * B[(size_t)l * row + (size_t)j];
                put(C + (size_t)i + (size_t)j * (size_t)m, beta, alpha * sum);
            }
        return;
    }
    if (ta) {
        for (; j + 2 <= n; j += 2)
            multiply_transposed_two(m, k, alpha, A, B + (size_t)j * (size_t)k, beta,
                                    C + (size_t)j * (size_t)m);
        for (; j < n; j++)
            multiply_transposed(m, k, alpha, A, B + (size_t)j * (size_t)k, beta, C + (size_t)j * (size_t)m);
        return;
    }
    for (; j + 4 <= n; j += 4)
        multiply_four(m, k, alpha, A, B + (size_t)j * column, row, column, beta, C + (size_t)j * (size_t)m);
    for (; j < n; j++)
        multiply_one(m, k, alpha, A, B + (size_t)j * column, row, beta, C + (size_t)j * (size_t)m);
}

static void own_times(bool transpose, int m, int n, double alpha, const double *A, const double *x,
                      double beta, double *y) {
    if (transpose)
        multiply_transposed(n, m, alpha, A, x, beta, y);
    else
        multiply_one(m, n, alpha, A, x, 1, beta, y);
}

/* --- triangles ------------------------------------------------------------------------------------- */

/* The block of size <= 4 on the diagonal: x = T^-1 x or T^-T x, from its first row on or from its last. The
 * inverses of the diagonal do not wait for anything. */
static inline __attribute__((always_inline)) void solve_block(bool transpose, bool downwards, int size,
                                                              const double *T, size_t stride, double *x) {
    double inverse[4];
    for (int i = 0; i < size; i++) inverse[i] = 1 / T[(size_t)i * (stride + 1)];
    for (int step = 0; step < size; step++) {
        const int i = downwards ? step : size - 1 - step;
        double value = x[i];
        for (int before = 0; before < step; before++) {
            const int j = downwards ? before : size - 1 - before;
            value -=
                (transpose ? T[(size_t)j + (size_t)i * stride] : T[(size_t)i + (size_t)j * stride]) * x[j];
        }
        x[i] = value * inverse[i];
    }
}

/* Solved entries are taken out of all that follow (T by columns) ... */
static inline __attribute__((always_inline)) void solve_by_columns(bool upper, int n, const double *T,
                                                                   size_t stride, double *x) {
    for (int done = 0; done < n;) {
        const int size = n - done < 4 ? n - done : 4, first = upper ? n - done - size : done;
        const double *block = T + (size_t)first * stride;
        if (size == 4)
            solve_block(false, !upper, 4, block + first, stride, x + first);
        else
            solve_block(false, !upper, size, block + first, stride, x + first);
        done += size;
        if (upper)
            subtract_columns(first, size, block, stride, x + first, 1, x);
        else
            subtract_columns(n - done, size, block + done, stride, x + first, 1, x + done);
    }
}

/* ... or each is found from all that precede it (T' by rows, which are columns of T). */
static inline __attribute__((always_inline)) void solve_by_rows(bool upper, int n, const double *T,
                                                                size_t stride, double *x) {
    for (int done = 0; done < n;) {
        const int size = n - done < 4 ? n - done : 4, first = upper ? done : n - done - size;
        const int known = upper ? 0 : first + size; /* where the solved entries begin */
        const double *block = T + (size_t)first * stride;
        double sum[4];
        if (size == 4) {
            dot_four(done, block + known, stride, x + known, sum);
            for (int r = 0; r < 4; r++) x[first + r] -= sum[r];
            solve_block(true, upper, 4, block + first, stride, x + first);
        } else {
            for (int r = 0; r < size; r++)
                x[first + r] -= dot(done, block + known + (size_t)r * stride, x + known);
            solve_block(true, upper, size, block + first, stride, x + first);
        }
        done += size;
    }
}

static void own_triangle(bool upper, bool transpose, int n, const double *T, int stride, int columns,
                         double *X, int stride_x) {
    for (int c = 0; c < columns; c++, X += stride_x) {
        if (transpose && upper)
            solve_by_rows(true, n, T, (size_t)stride, X);
        else if (transpose)
            solve_by_rows(false, n, T, (size_t)stride, X);
        else if (upper)
            solve_by_columns(true, n, T, (size_t)stride, X);
        else
            solve_by_columns(false, n, T, (size_t)stride, X);
    }
}

#endif

/* dense_vector_kernels.h - sums over one or four columns at a time, of which all dense routines of our own
 * are made; compiled twice, by dense_own.c and dense_own_avx2.c.
 *
 * The file that includes this defines PACK, the numbers in a register, as 2 or 4. A sum of products runs in
 * four lanes with either, which are added pairwise at its end, then the entries that are left over; thus the
 * order of additions, and with it every bit of a result, is a function of the sizes alone.
 */
#ifndef LW_DENSE_VECTOR_KERNELS_H
#define LW_DENSE_VECTOR_KERNELS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef double pack __attribute__((vector_size(8 * PACK), aligned(8), may_alias));
#define PACK_AT(x) (*(const pack *)(x))

/* Four lanes, one register or two. */
typedef struct lanes {
    pack part[4 / PACK];
} lanes;

/* l += x y for four entries of each. */
#define LANES_ADD(l, x, y)                                                                                   \
    for (int part_ = 0; part_ < 4 / PACK; part_++)                                                           \
    (l).part[part_] += PACK_AT((x) + part_ * PACK) * PACK_AT((y) + part_ * PACK)

#if PACK == 4
/* The sums (l0 + l1) + (l2 + l3) of four times four lanes, added as one. */
static inline void sum_lanes(const lanes *a, const lanes *b, const lanes *c, const lanes *d, double out[4]) {
    const pack ab = __builtin_shufflevector(a->part[0], b->part[0], 0, 4, 2, 6) +
                    __builtin_shufflevector(a->part[0], b->part[0], 1, 5, 3, 7);
    const pack cd = __builtin_shufflevector(c->part[0], d->part[0], 0, 4, 2, 6) +
                    __builtin_shufflevector(c->part[0], d->part[0], 1, 5, 3, 7);
    *(pack *)out = __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}
static inline double sum_of_lanes(const lanes *l) {
    return (l->part[0][0] + l->part[0][1]) + (l->part[0][2] + l->part[0][3]);
}
#else
static inline double sum_of_lanes(const lanes *l) {
    return (l->part[0][0] + l->part[0][1]) + (l->part[1][0] + l->part[1][1]);
}
static inline void sum_lanes(const lanes *a, const lanes *b, const lanes *c, const lanes *d, double out[4]) {
    out[0] = sum_of_lanes(a), out[1] = sum_of_lanes(b), out[2] = sum_of_lanes(c), out[3] = sum_of_lanes(d);
}
#endif

/* x'y */
static inline double dot(int count, const double *x, const double *y) {
    double sum = 0;
    int i = 0;
    if (count >= 4) {
        lanes l = {0};
        for (; i + 4 <= count; i += 4) LANES_ADD(l, x + i, y + i);
        sum = sum_of_lanes(&l);
    }
    for (; i < count; i++) sum += x[i] * y[i];
    return sum;
}

/* out = X'y for four columns X; each sum is that of dot. */
static inline void dot_four(int count, const double *X, size_t stride, const double *y, double out[4]) {
    const double *a = X, *b = a + stride, *c = b + stride, *d = c + stride;
    int i = 0;
    out[0] = out[1] = out[2] = out[3] = 0;
    if (count >= 4) {
        lanes la = {0}, lb = {0}, lc = {0}, ld = {0};
        for (; i + 4 <= count; i += 4) {
            LANES_ADD(la, a + i, y + i);
            LANES_ADD(lb, b + i, y + i);
            LANES_ADD(lc, c + i, y + i);
            LANES_ADD(ld, d + i, y + i);
        }
        sum_lanes(&la, &lb, &lc, &ld, out);
    }
    for (; i < count; i++) {
        const double yi = y[i];
        out[0] += a[i] * yi, out[1] += b[i] * yi, out[2] += c[i] * yi, out[3] += d[i] * yi;
    }
}

/* y += a x */
static inline void add(int count, double a, const double *x, double *y) {
    int i = 0;
    for (; i + PACK <= count; i += PACK) *(pack *)(y + i) += a * PACK_AT(x + i);
    for (; i < count; i++) y[i] += a * x[i];
}

/* y += X a for four columns X, column by column. */
static inline void add_four(int count, const double a[4], const double *X, size_t stride, double *y) {
    const double *p = X, *q = p + stride, *r = q + stride, *s = r + stride;
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    int i = 0;
    for (; i + PACK <= count; i += PACK)
        *(pack *)(y + i) =
            (((PACK_AT(y + i) + a0 * PACK_AT(p + i)) + a1 * PACK_AT(q + i)) + a2 * PACK_AT(r + i)) +
            a3 * PACK_AT(s + i);
    for (; i < count; i++) y[i] = (((y[i] + a0 * p[i]) + a1 * q[i]) + a2 * r[i]) + a3 * s[i];
}

/* y -= X a for any number of columns; entry k of a is a[k step]. */
static inline void subtract_columns(int count, int columns, const double *X, size_t stride, const double *a,
                                    size_t step, double *y) {
    int k = 0;
    for (; k + 4 <= columns; k += 4) {
        const double *c = a + (size_t)k * step;
        const double minus[4] = {-c[0], -c[step], -c[2 * step], -c[3 * step]};
        add_four(count, minus, X + (size_t)k * stride, stride, y);
    }
    for (; k < columns; k++) add(count, -a[(size_t)k * step], X + (size_t)k * stride, y);
}

static inline void swap(double *a, double *b) {
    const double x = *a;
    *a = *b, *b = x;
}

static inline void swap_columns(int count, double *a, double *b) {
    for (int i = 0; i < count; i++) swap(a + i, b + i);
}

/* The length of x; where squares would overflow or lose digits, of x over its largest entry. */
static inline double length(int count, const double *x) {
    const double square = dot(count, x, x);
    if (square > 1e-280 && square < 1e300) return sqrt(square);
    double largest = 0, sum = 0;
    for (int i = 0; i < count; i++)
        if (fabs(x[i]) > largest || isnan(x[i])) largest = fabs(x[i]); /* A NaN stays. */
    if (!(largest > 0) || !isfinite(largest)) return largest;
    for (int i = 0; i < count; i++) sum += (x[i] / largest) * (x[i] / largest);
    return largest * sqrt(sum);
}

#endif

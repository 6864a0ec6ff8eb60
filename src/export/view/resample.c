/* resample.c - as few samples of a motion as reproduce all of them.
 *
 * Between two kept samples (keys) t_i, t_i+1 a channel is the cubic Hermite polynomial with the slopes
 *
 *     m_i = (h_i d_i-1 + h_i-1 d_i) / (h_i-1 + h_i),     h_i = t_i+1 - t_i,  d_i = (y_i+1 - y_i) / h_i
 *
 * of the parabola through three keys; at the ends m = 2 d - (slope at the other end of that interval), and d
 * if there are two keys only. view/data.js has the same formulas. From both ends alone, every interval in
 * which some sample differs too much gets its middle sample as a key, until none does. The keys' values are
 * rounded to float32 before, so that the rounding is part of what is checked.
 *
 * Cost     O(samples x channels) per pass, of which there are about log2(samples).
 */
#include "export/view/resample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A value as the page gets it: rounded to float32; all that follows from it is computed with doubles, as
 * there. */
static double rounded(const double *values, size_t stride, size_t sample) {
    return (double)(float)values[sample * stride];
}

/* Slope at key i of a channel. */
static double slope(const double *t, const double *values, size_t stride, const size_t *keys, size_t count,
                    size_t i) {
    if (count < 2) return 0;
    size_t from = i == 0 ? 0 : i - 1;
    if (from + 2 >= count) from = count >= 3 ? count - 3 : 0;
    const size_t a = keys[from], b = keys[from + 1];
    const double h0 = t[b] - t[a], d0 = (rounded(values, stride, b) - rounded(values, stride, a)) / h0;
    if (count == 2) return d0;
    const size_t c = keys[from + 2];
    const double h1 = t[c] - t[b], d1 = (rounded(values, stride, c) - rounded(values, stride, b)) / h1;
    const double middle = (h1 * d0 + h0 * d1) / (h0 + h1);
    if (i == from + 1) return middle;
    return i == from ? 2 * d0 - middle : 2 * d1 - middle;
}

/* Do the keys reproduce the samples between key i and key i + 1 of a channel? */
static bool fits(const double *t, const double *values, size_t stride, const size_t *keys, size_t count,
                 size_t i, double tolerance) {
    const size_t a = keys[i], b = keys[i + 1];
    const double h = t[b] - t[a], ya = rounded(values, stride, a), yb = rounded(values, stride, b);
    const double ma = slope(t, values, stride, keys, count, i) * h,
                 mb = slope(t, values, stride, keys, count, i + 1) * h;
    for (size_t k = a + 1; k < b; k++) {
        const double s = (t[k] - t[a]) / h, r = 1 - s;
        const double y = r * r * (1 + 2 * s) * ya + s * s * (3 - 2 * s) * yb + s * r * (r * ma - s * mb);
        if (!(fabs(y - values[k * stride]) <= tolerance)) return false;
    }
    return true;
}

size_t lw_resample(const double *t, size_t count, const double *values, size_t width, size_t stride,
                   const double *tolerance, size_t *keys) {
    for (size_t k = 0; k < count; k++) keys[k] = k;
    if (count < 4) return count;
    size_t *next = malloc(count * sizeof *next), kept = 2;
    bool *sound = malloc(count); /* the interval after a key needs no further look */
    if (!next || !sound) {
        free(next);
        free(sound);
        return 0;
    }
    keys[0] = 0, keys[1] = count - 1;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i + 1 < kept; i++) {
            sound[i] = true;
            if (keys[i + 1] - keys[i] < 2) continue;
            for (size_t c = 0; c < width && sound[i]; c++)
                sound[i] = fits(t, values + c, stride, keys, kept, i, tolerance[c]);
        }
        size_t grown = 0;
        for (size_t i = 0; i < kept; i++) {
            next[grown++] = keys[i];
            if (i + 1 < kept && !sound[i]) {
                next[grown++] = keys[i] + (keys[i + 1] - keys[i]) / 2;
                more = true;
            }
        }
        memcpy(keys, next, grown * sizeof *keys);
        kept = grown;
    }
    free(next);
    free(sound);
    return kept;
}

/* test_resample.c - samples that are kept reproduce all others, by an interpolation that is written here anew; smooth motions
 * keep few; kinks, noise and numbers that are none keep what they need.
 */
#include "export/view/resample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

enum { MOST = 2000 };
static double t[MOST], y[2 * MOST];
static size_t keys[MOST];

/* The derivative at point `at` of the parabola through three points (Lagrange). */
static double parabola_slope(const double x[3], const double f[3], double at) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        sum += f[i] * (2 * at - x[j] - x[k]) / ((x[i] - x[j]) * (x[i] - x[k]));
    }
    return sum;
}

/* The cubic between keys i and i + 1 by divided differences with the slopes of parabolas. */
static double interpolate(size_t count, size_t channel, size_t i, double at) {
    double slope[2];
    if (count == 2)
        return y[channel] +
               (at - t[0]) * ((float)y[2 * keys[1] + channel] - y[channel]) / (t[keys[1]] - t[0]);
    for (int e = 0; e < 2; e++) {
        size_t from = i + (size_t)e == 0 ? 0 : i + (size_t)e - 1;
        if (from + 2 >= count) from = count - 3;
        double x[3], f[3];
        for (int k = 0; k < 3; k++)
            x[k] = t[keys[from + (size_t)k]], f[k] = (float)y[2 * keys[from + (size_t)k] + channel];
        slope[e] = parabola_slope(x, f, t[keys[i + (size_t)e]]);
    }
    double a = t[keys[i]], b = t[keys[i + 1]], h = b - a, fa = (float)y[2 * keys[i] + channel],
           fb = (float)y[2 * keys[i + 1] + channel], d = (fb - fa) / h;
    double c2 = (d - slope[0]) / h, c3 = (slope[1] - 2 * d + slope[0]) / (h * h);
    return fa + (at - a) * (slope[0] + (at - a) * (c2 + (at - b) * c3));
}

static void check(size_t samples, size_t kept, const double *tolerance) {
    assert_int_equal(keys[0], 0);
    assert_int_equal(keys[kept - 1], samples - 1);
    for (size_t i = 0; i + 1 < kept; i++) {
        assert_true(keys[i] < keys[i + 1]);
        for (size_t k = keys[i] + 1; k < keys[i + 1]; k++)
            for (size_t c = 0; c < 2; c++)
                assert_true(fabs(interpolate(kept, c, i, t[k]) - y[2 * k + c]) <= tolerance[c] + 1e-7);
    }
}

static void smooth_motions_keep_few(void **state) {
    (void)state;
    const double tolerance[2] = {1e-4, 1e-4};
    for (size_t k = 0; k < MOST; k++) {
        t[k] = 10.0 * (double)k / (MOST - 1);
        y[2 * k] = sin(3 * t[k]), y[2 * k + 1] = cos(2 * t[k]) + 0.1 * t[k];
    }
    size_t kept = lw_resample(t, MOST, y, 2, 2, tolerance, keys);
    check(MOST, kept, tolerance);
    /* The slopes are of second order, so the error is about (w h)^3 / 24: some 50 samples for each of five periods. */
    assert_in_range(kept, 100, 300);
}

static void kinks_and_uneven_times(void **state) {
    (void)state;
    const double tolerance[2] = {1e-3, 1e-5};
    srand(7);
    for (int round = 0; round < 50; round++) {
        const size_t samples = 20 + (size_t)rand() % 900;
        double at = 0, kink = (double)rand() / RAND_MAX;
        for (size_t k = 0; k < samples; k++) {
            at += 1e-4 + (double)rand() / RAND_MAX / (double)samples;
            t[k] = at;
            y[2 * k] = fabs(at - kink) + (round % 5 == 0 ? 0.1 * rand() / RAND_MAX : 0);
            y[2 * k + 1] = at < kink ? 0 : sin(9 * (at - kink));
        }
        size_t kept = lw_resample(t, samples, y, 2, 2, tolerance, keys);
        if (kept < samples) check(samples, kept, tolerance);
    }
}

static void few_samples_and_no_numbers(void **state) {
    (void)state;
    const double tolerance[2] = {1, 1};
    for (size_t k = 0; k < 10; k++) t[k] = (double)k, y[2 * k] = y[2 * k + 1] = 0;
    for (size_t count = 1; count < 4; count++)
        assert_int_equal(lw_resample(t, count, y, 2, 2, tolerance, keys), count);
    assert_int_equal(lw_resample(t, 10, y, 2, 2, tolerance, keys), 2);
    for (size_t k = 0; k < 10; k++) y[2 * k] = NAN;
    assert_int_equal(lw_resample(t, 10, y, 2, 2, tolerance, keys), 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_motions_keep_few),
        cmocka_unit_test(kinks_and_uneven_times),
        cmocka_unit_test(few_samples_and_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

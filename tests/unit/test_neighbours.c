/* test_neighbours.c - dense output by the steps before, on y = (sin t, exp(-t/2), integral of cos^2) and steps of unequal length.
 *
 *   order     Hermite's polynomial through m + 2 nodes has an error of O(h^(2m+4))
 *   estimate  the first rate tells the error of that polynomial; rates make it smaller, and leave the nodes as they are
 *   weights   steps that grow quickly are not taken as neighbours
 *   kinks     next to a force that jumps the estimate is far beyond the tolerance
 */
#include "integrators/multistep_dense_output.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { SIZE = 3 };

static void exact(double t, double *y, double *f) {
    const double state[SIZE] = {sin(t), exp(-0.5 * t), 0.5 * t + 0.25 * sin(2 * t)};
    const double rate[SIZE] = {cos(t), -0.5 * exp(-0.5 * t), cos(t) * cos(t)};
    memcpy(y, state, sizeof state);
    memcpy(f, rate, sizeof rate);
}

/* |sin|: its rate jumps at 0. */
static void kinked(double t, double *y, double *f) {
    exact(t, y, f);
    if (t < 0) y[0] = -y[0], f[0] = -f[0];
}

typedef struct subject {
    lw_arena *arena;
    lw_neighbours n;
    double y[2][SIZE], f[2][SIZE];
} subject;

/* A step from t of length h, and `before` steps before it, each `growth` times shorter than the next. */
static bool enter(subject *s, void (*motion)(double, double *, double *), double t, double h, int before,
                  double growth, double tolerance) {
    double begin[LW_NEIGHBOURS], at = t, length = h, y[SIZE], f[SIZE];
    s->arena = lw_arena_create(NULL);
    assert_true(s->arena && lw_neighbours_create(&s->n, s->arena, SIZE, SIZE - 1, 1, tolerance, NULL));
    for (int k = 0; k < before; k++) {
        length /= growth;
        at -= length;
        begin[k] = at;
    }
    for (int k = before - 1; k >= 0; k--) {
        motion(begin[k], y, f);
        lw_neighbours_keep(&s->n, begin[k], y, f);
    }
    motion(t, s->y[0], s->f[0]);
    motion(t + h, s->y[1], s->f[1]);
    return lw_neighbours_enter(&s->n, t, h, s->y[0], s->f[0], s->y[1], s->f[1]);
}

static double error_of(const subject *s, double t, double h) {
    double worst = 0;
    for (int i = 0; i <= 32; i++) {
        double y[SIZE], right[SIZE], rate[SIZE], here = 0;
        lw_neighbours_state(&s->n, i / 32.0, y);
        exact(t + h * i / 32.0, right, rate);
        for (int k = 0; k < SIZE; k++) here = fmax(here, fabs(y[k] - right[k]));
        if (i % 32 == 0) assert_true(here < 1e-14);
        worst = fmax(worst, here);
    }
    return worst;
}

static void test_order(void **unused) {
    (void)unused;
    for (int m = 1; m <= 3; m++) {
        double errors[2];
        for (int half = 0; half < 2; half++) {
            subject s;
            const double h = 0.3 / (1 + half);
            assert_true(enter(&s, exact, 0.7, h, m, 0.95, 1e-8));
            assert_int_equal(s.n.used, m);
            errors[half] = error_of(&s, 0.7, h);
            lw_arena_destroy(s.arena);
        }
        double order = log2(errors[0] / errors[1]);
        if (fabs(order - (2 * m + 4)) > 1)
            fail_msg("%d steps before: order %g instead of %d", m, order, 2 * m + 4);
    }
}

static void test_estimate(void **unused) {
    (void)unused;
    for (int m = 1; m <= LW_NEIGHBOURS; m++) {
        subject s;
        const double h = 0.4, t = 0.6, tolerance = 1e-6;
        double y[SIZE], f[SIZE], last = HUGE_VAL;
        assert_true(enter(&s, exact, t, h, m, 1, tolerance));
        for (double theta = lw_neighbours_next(&s.n); theta >= 0; theta = lw_neighbours_next(&s.n)) {
            double before = error_of(&s, t, h) / tolerance;
            exact(t + theta * h, y, f);
            double said = lw_neighbours_add(&s.n, f);
            said = fmax(said, s.n.others);
            double now = error_of(&s, t, h) / tolerance;
            /* Told within a factor of 10; the rates are exact here, so that finding them again changes nothing. */
            if (s.n.asked <= LW_NEIGHBOUR_RATES) {
                if (said > 10 * before || said < 0.1 * before || now > 0.5 * before)
                    fail_msg("%d steps before, rate %d: error %g, told %g, then %g", m, s.n.rates, before,
                             said, now);
            } else if (said > 1e-6)
                fail_msg("%d steps before: the same rate again changes something: %g", m, said);
            assert_true(now <= last);
            last = now * (1 + 1e-6) + 1e-8;
        }
        lw_arena_destroy(s.arena);
    }
}

static void test_weights(void **unused) {
    (void)unused;
    subject s;
    assert_true(enter(&s, exact, 0.3, 0.5, 4, 1, 1e-8));
    assert_int_equal(s.n.used, 4);
    lw_arena_destroy(s.arena);
    assert_true(enter(&s, exact, 0.3, 0.5, 4, 2, 1e-8));
    assert_int_equal(s.n.used, 1);
    lw_arena_destroy(s.arena);
    assert_false(enter(&s, exact, 0.3, 0.5, 4, 10, 1e-8));
    lw_neighbours_forget(&s.n);
    assert_false(lw_neighbours_enter(&s.n, 0.3, 0.5, s.y[0], s.f[0], s.y[1], s.f[1]));
    lw_arena_destroy(s.arena);
}

static void test_kink(void **unused) {
    (void)unused;
    for (int m = 1; m <= LW_NEIGHBOURS; m++)
        for (int place = 1; place < 8; place++) { /* where it lies in the step before */
            subject s;
            const double h = 0.1, t = h * place / 8;
            double y[SIZE], f[SIZE];
            assert_true(enter(&s, kinked, t, h, m, 1, 1e-8));
            double theta = lw_neighbours_next(&s.n);
            kinked(t + theta * h, y, f);
            double said = lw_neighbours_add(&s.n, f);
            if (!(said > 1e3)) fail_msg("%d steps before, kink at %d/8: %g", m, place, said);
            lw_arena_destroy(s.arena);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_estimate),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_kink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

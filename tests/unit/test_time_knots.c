/* test_time_knots.c - times known in advance at which expressions have a jump or kink: those that are found,
 * and that no more are found than what is expected; for random piecewise functions, that every jump and kink
 * which sampling shows is among them.
 */
#include "function_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

typedef struct list {
    int count;
    lw_knot knots[MOST];
} list;

static void keep(const lw_knot *knot, void *context) {
    list *l = context;
    assert_true(l->count < MOST);
    l->knots[l->count++] = *knot;
}

static int by_time(const void *a, const void *b) {
    const lw_knot *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static list knots_of(const char *text) {
    lw_arena *arena = lw_arena_create(NULL);
    list l = {0};
    lw_function_knots(must_compile(arena, text), 0, keep, &l);
    qsort(l.knots, (size_t)l.count, sizeof *l.knots, by_time);
    lw_arena_destroy(arena);
    return l;
}

/* Constants: m = 2, length = 3, a = -4. Variables: t, x. */
static const struct {
    const char *text;
    int count;
    double at[4], period;
} cases[] = {
    /* comparisons, on either side, affine */
    {"if(t > m, 1, 0)", 1, {2}, 0},
    {"if(t >= m, 1, 0)", 1, {2}, 0},
    {"if(t < m, 1, 0)", 1, {2}, 0},
    {"if(t <= 2*m + 1, 1, 0)", 1, {5}, 0},
    {"if(m < t, 1, 0)", 1, {2}, 0},
    {"if(2*t - 1 > 0, 1, 0)", 1, {0.5}, 0},
    {"if(t/length > 3, 1, 0)", 1, {9}, 0},
    {"if(1 - t/4 > t, 1, 0)", 1, {0.8}, 0},
    {"if(-(t - 5) > a, 1, 0)", 1, {9}, 0},
    {"if(t + 1 > t, 1, 0)", 0, {0}, 0},
    {"if(t > m and t < m + 1e-3, 1e3, 0)", 2, {2, 2.001}, 0},
    {"if(not (t > m) or x > 3, 1, 0)", 1, {2}, 0},
    {"(t > 1) + 3*(t > 2) - (t > 3)*x", 3, {1, 2, 3}, 0},
    {"sin(if(t > 1, t, x))", 1, {1}, 0},
    {"if(t > 1 + (t > 0.5), 1, 0)", 3, {0.5, 1, 2}, 0},
    /* steps, kinks, signs */
    {"step(t, 1, 0, 1.0001, 1)", 2, {1, 1.0001}, 0},
    {"step5(2*t, 1, 0, m, x)", 2, {0.5, 1}, 0},
    {"step(t - x, 1, 0, 2, 1)", 0, {0}, 0},
    {"abs(t - 1)", 1, {1}, 0},
    {"sign(3 - t)*x", 1, {3}, 0},
    {"ramp(t - m)", 1, {2}, 0},
    {"max(0, min(t - 1, 3))", 2, {1, 4}, 0},
    {"step(ramp(t - 1), 0.5, 0, 1, 1)", 3, {1, 1.5, 2}, 0},
    {"if(abs(t - 5) < 1, 1, 0)", 3, {4, 5, 6}, 0},
    {"if(if(t < 1, t, 2 - t) > 0.5, 1, 0)", 3, {0.5, 1, 1.5}, 0},
    /* what recurs */
    {"mod(t, m)", 1, {0}, 2},
    {"if(mod(t, m) < 0.5, 1, 0)", 2, {0, 0.5}, 2},
    {"if(mod(t - 1, m) < 0.5, 1, 0)", 2, {1, 1.5}, 2},
    {"if(mod(-t, 2) < 0.5, 1, 0)", 2, {0, 1.5}, 2},
    {"if(mod(t, 2) < 3, 1, 0)", 1, {0}, 2},
    {"abs(mod(2*t, 2) - 1)", 2, {0, 0.5}, 1},
    {"floor(t/3)", 1, {0}, 3},
    {"ceil(2*t)*x", 1, {0}, 0.5},
    {"floor(mod(t, 3))", 3, {0, 1, 2}, 3},
    /* waves */
    {"sign(sin(4*t))", 1, {0}, PI / 4},
    {"sign(sin(2*t))", 1, {0}, PI / 2},
    {"if(cos(t) > 0, 1, 0)", 1, {-PI / 2}, PI},
    {"if(2*sin(4*t) + 1 > 2, 1, 0)", 2, {PI / 24, 5 * PI / 24}, PI / 2},
    {"if(-sin(4*t)/2 < 0.25, 1, 0)", 2, {-PI / 24, 7 * PI / 24}, PI / 2},
    {"abs(sin(m*t))", 1, {0}, PI / 2},
    {"max(0, 3*cos(4*t))*x", 1, {-PI / 8}, PI / 4},
    {"step(sin(4*t), 0, 0, 1, 1)", 1, {0}, PI / 4},
    {"if(sin(t) > 1, 1, 0)", 0, {0}, 0},
    {"if(sin(t) > 1.5, 1, 0)", 0, {0}, 0},
    /* what is not known in advance, or not found */
    {"if(x > 1, 1, 0)", 0, {0}, 0},
    {"if(t > x, 1, 0)", 0, {0}, 0},
    {"max(t, x)", 0, {0}, 0},
    {"if(sin(t) > cos(2*t), 1, 0)", 0, {0}, 0},
    {"sign(sin(t)*sin(t))", 0, {0}, 0},
    {"sign(sin(t^2))", 0, {0}, 0},
    {"sign(sin(mod(t, 2)))", 1, {0}, 2},
    {"sign(sin(x*t))", 0, {0}, 0},
    {"if(t^2 > 2, 1, 0)", 0, {0}, 0},
    {"if(t*t > 2, 1, 0)", 0, {0}, 0},
    {"3*sin(2*t) + exp(-t)", 0, {0}, 0},
    {"if(t == 1, 1, 0)", 0, {0}, 0},
    {"if(t/1e300/1e300 > 1, 1, 0)", 0, {0}, 0},
    {"5", 0, {0}, 0},
};

static void found(void **state) {
    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        list l = knots_of(cases[c].text);
        if (l.count != cases[c].count) fail_msg("%s: %d knots", cases[c].text, l.count);
        for (int k = 0; k < l.count; k++)
            if (fabs(l.knots[k].at - cases[c].at[k]) > 1e-15 * (1 + fabs(l.knots[k].at)) ||
                l.knots[k].period != cases[c].period)
                fail_msg("%s: %.17g every %.17g", cases[c].text, l.knots[k].at, l.knots[k].period);
    }
}

/* Where a comparison changes in floating-point arithmetic is within the bound of rounding errors: bisection
 * between neighbouring doubles finds it. */
static void rounding(void **state) {
    (void)state;
    lw_random random = random_seed(20240607);
    lw_arena *arena = lw_arena_create(NULL);
    double worst = 0;
    for (int trial = 0; trial < 2000; trial++) {
        char text[200];
        const double scale = pow(10, 12 * random_between(&random, -0.5, 0.5));
        snprintf(text, sizeof text,
                 trial % 2 ? "(%.17g*t + %.17g)/%.17g - %.17g > %.17g"
                           : "%.17g*(t + %.17g)/%.17g + %.17g < 2*t + %.17g",
                 random_between(&random, 3, 4), scale * random_between(&random, -1, 1),
                 random_between(&random, 0.1, 1), scale * random_between(&random, -1, 1),
                 random_between(&random, -1, 1));
        const lw_function *f = must_compile(arena, text);
        list l = knots_of(text);
        assert_int_equal(l.count, 1);
        const double at = l.knots[0].at, eps = 2.2204460492503131e-16;
        const double width = eps * ((3 + l.knots[0].rate) * fabs(at) + l.knots[0].noise);
        double low[2] = {at - width, 0}, high[2] = {at + width, 0};
        const double before = lw_function_value(f, low, NULL), after = lw_function_value(f, high, NULL);
        if (before == after) fail_msg("%s does not change within %g of %.17g", text, width, at);
        for (;;) {
            double middle[2] = {low[0] + 0.5 * (high[0] - low[0]), 0};
            if (!(middle[0] > low[0] && middle[0] < high[0])) break;
            *(lw_function_value(f, middle, NULL) == before ? low : high) = middle[0];
        }
        worst = fmax(worst, fabs(high[0] - at) / width);
    }
    print_message("switches are off by at most %.2f of the bound\n", worst);
    lw_arena_destroy(arena);
}

/* The same for waves, in any of their periods. */
static void rounding_of_waves(void **state) {
    (void)state;
    lw_random random = random_seed(20261118);
    lw_arena *arena = lw_arena_create(NULL);
    double worst = 0;
    for (int trial = 0; trial < 2000; trial++) {
        char text[200];
        const double amplitude = random_between(&random, 0.5, 2);
        const double level = amplitude * random_between(&random, -1, 1) * (trial % 3 ? 1 : 0.9999);
        snprintf(text, sizeof text, "%.17g*%s(%.17g*t + %.17g)/3 + %.17g > %.17g", 3 * amplitude,
                 trial % 2 ? "sin" : "cos", pow(10, random_between(&random, -2, 4)) * (trial % 5 ? 1 : -1),
                 random_between(&random, -10, 10), 1.0, 1 + level);
        const lw_function *f = must_compile(arena, text);
        list l = knots_of(text);
        assert_int_equal(l.count, 2);
        for (int k = 0; k < 2; k++) {
            const double eps = 2.2204460492503131e-16, far = pow(10, random_between(&random, 0, 5));
            const double at = l.knots[k].at + floor(far) * l.knots[k].period;
            const double width = eps * ((3 + l.knots[k].rate) * fabs(at) + l.knots[k].noise);
            double low[2] = {at - width, 0}, high[2] = {at + width, 0};
            const double before = lw_function_value(f, low, NULL), after = lw_function_value(f, high, NULL);
            if (before == after) fail_msg("%s does not change within %g of %.17g", text, width, at);
            for (;;) {
                double middle[2] = {low[0] + 0.5 * (high[0] - low[0]), 0};
                if (!(middle[0] > low[0] && middle[0] < high[0])) break;
                *(lw_function_value(f, middle, NULL) == before ? low : high) = middle[0];
            }
            worst = fmax(worst, fabs(high[0] - at) / width);
        }
    }
    print_message("switches of waves are off by at most %.2f of the bound\n", worst);
    lw_arena_destroy(arena);
}

/* A random piecewise affine expression of t; what recurs is compared with constants only. */
static void write_random(lw_random *random, int depth, char *text, size_t size) {
    char a[400], b[80];
    const int kind = depth == 0 ? 5 * random_below(random, 2) : 1 + random_below(random, 4);
    snprintf(b, sizeof b, "%.2f*t + %.2f", random_between(random, -2, 2), random_between(random, -2, 2));
    if (kind == 0) snprintf(text, size, "(%s)", b);
    if (kind == 5) snprintf(text, size, "mod(%s, 1.3)", b);
    if (kind == 0 || kind == 5) return;
    write_random(random, depth - 1, a, sizeof a);
    const double c = random_between(random, -1, 1);
    if (kind == 1) snprintf(text, size, "max(%.300s, %.3f)", a, c);
    if (kind == 2) snprintf(text, size, "abs(%.300s - %.3f)", a, c);
    if (kind == 3) snprintf(text, size, "if(%.300s > %.3f, %s, 1)", a, c, b);
    if (kind == 4) snprintf(text, size, "ramp(%.3f - %.300s)", c, a);
}

/* Between the knots that are found the function is affine: three values on a line, all over. */
static void nothing_is_overlooked(void **state) {
    (void)state;
    lw_random random = random_seed(7);
    lw_arena *arena = lw_arena_create(NULL);
    long looked = 0;
    for (int trial = 0; trial < 300; trial++) {
        char text[400];
        write_random(&random, 2, text, sizeof text);
        const lw_function *f = must_compile(arena, text);
        const list l = knots_of(text);
        for (double t = -3; t < 3; t += 0.0137) {
            const double h = 0.004;
            bool clear = true;
            for (int k = 0; k < l.count; k++) {
                const double period = l.knots[k].period;
                double away = t - l.knots[k].at;
                if (period > 0) away -= period * nearbyint(away / period);
                clear = clear && fabs(away) > h;
            }
            if (!clear) continue;
            double values[3];
            for (int k = 0; k < 3; k++) {
                const double at[2] = {t + (k - 1) * h, 0};
                values[k] = lw_function_value(f, at, NULL);
            }
            looked++;
            if (fabs(values[0] - 2 * values[1] + values[2]) > 1e-12)
                fail_msg("trial %d: %s has a knot near t = %g", trial, text, t);
        }
    }
    assert_true(looked > 50000);
    lw_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(found), cmocka_unit_test(rounding),
                                       cmocka_unit_test(rounding_of_waves),
                                       cmocka_unit_test(nothing_is_overlooked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

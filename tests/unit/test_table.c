/* test_table.c - tables: values, slopes and integrals against closed forms and against each other, the order of
 * the interpolations, what is beyond the ends, lookup against a plain search, knots, held pieces, and tables in
 * expressions.
 */
#include "expression/table.h"
#include "function_support.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400 };

static lw_table *make(lw_arena *arena, const double *x, const double *y, size_t count, lw_interpolation how,
                      lw_beyond beyond) {
    lw_table *table = lw_table_create(arena, x, y, count, how, beyond);
    assert_non_null(table);
    return table;
}

/* Ascending x at random distances over many decades, y at random, sometimes level. */
static size_t random_points(lw_random *r, double *x, double *y) {
    const size_t count = 2 + (size_t)random_below(r, random_below(r, 4) ? 13 : MOST - 1);
    const bool even = random_below(r, 2);
    x[0] = random_between(r, -3, 3), y[0] = random_between(r, -2, 2);
    for (size_t i = 1; i < count; i++) {
        x[i] = x[i - 1] + (even ? 0.125 : pow(10, random_between(r, -4, 1)));
        y[i] = random_below(r, 5) ? random_between(r, -2, 2) : y[i - 1];
    }
    return count;
}

static size_t plain_search(const double *x, size_t count, double at) {
    size_t k = 0;
    while (k < count && x[k] <= at) k++;
    return k;
}

/* Every lookup finds the interval that a plain search finds, at the points themselves and beside them too. */
static void lookup(void **state) {
    (void)state;
    lw_random r = random_seed(11);
    static double x[MOST], y[MOST];
    for (int trial = 0; trial < 300; trial++) {
        lw_arena *arena = lw_arena_create(NULL);
        const size_t count = random_points(&r, x, y);
        const lw_table *steps = make(arena, x, y, count, LW_INTERPOLATION_STEPS, LW_BEYOND_HOLD);
        const lw_table *lines = make(arena, x, y, count, LW_INTERPOLATION_LINEAR, LW_BEYOND_LINEAR);
        for (int k = 0; k < 200; k++) {
            const size_t i = (size_t)random_below(&r, (int)count);
            const double ats[] = {x[i], nextafter(x[i], -INFINITY), nextafter(x[i], INFINITY),
                                  random_between(&r, x[0] - 1, x[count - 1] + 1)};
            const double at = ats[random_below(&r, 4)];
            const size_t piece = plain_search(x, count, at);
            assert_true(lw_table_value(steps, at) == y[piece ? piece - 1 : 0]);
            const size_t l = piece == 0 ? 0 : piece == count ? count - 2 : piece - 1;
            const double slope = (y[l + 1] - y[l]) / (x[l + 1] - x[l]);
            const double expected = y[l] + slope * (at - x[l]);
            assert_true(fabs(lw_table_value(lines, at) - expected) <=
                        1e-12 * (1 + fabs(expected) + fabs(slope)));
        }
        lw_arena_destroy(arena);
    }
}

/* Smooth tables: the points, a continuous slope, no overshoot; the derivatives are those of the values, the
 * integral's derivative is the value. */
static void smooth_properties(void **state) {
    (void)state;
    lw_random r = random_seed(5);
    static double x[MOST], y[MOST];
    for (int trial = 0; trial < 300; trial++) {
        lw_arena *arena = lw_arena_create(NULL);
        const size_t count = random_points(&r, x, y);
        const lw_beyond beyond = (lw_beyond)random_below(&r, 3);
        if (beyond == LW_BEYOND_REPEAT && random_below(&r, 2)) y[count - 1] = y[0];
        const lw_table *table = make(arena, x, y, count, LW_INTERPOLATION_SMOOTH, beyond);
        for (size_t i = 0; i + 1 < count; i++) {
            const double h = x[i + 1] - x[i], low = fmin(y[i], y[i + 1]), high = fmax(y[i], y[i + 1]);
            assert_true(lw_table_value(table, x[i]) == y[i]);
            double before = y[i];
            for (int k = 1; k < 20; k++) {
                const double at = x[i] + h * k / 20, value = lw_table_value(table, at);
                const double small = 1e-13 * (1 + fabs(low) + fabs(high));
                assert_true(value >= low - small && value <= high + small);
                assert_true((value - before) * (y[i + 1] - y[i]) >= -small); /* monotone */
                before = value;
                const double e = h * 1e-4, right_at = at + e, left_at = at - e; /* as rounded */
                const lw_jet jet = lw_table_jet(table, (lw_jet){at, 1, 0});
                const double up = lw_table_value(table, right_at), down = lw_table_value(table, left_at);
                const double scale = (high - low) / h + 1e-30;
                assert_true(jet.f == value);
                const double width = right_at - left_at, right_slope = (up - value) / (right_at - at),
                             left_slope = (value - down) / (at - left_at);
                assert_true(fabs((up - down) / width - jet.d) <= 1e-5 * scale + 1e-9 / h);
                assert_true(fabs((right_slope - left_slope) / (0.5 * width) - jet.dd) <=
                            1e-3 * scale / h + 1e-6 / h / h);
                const double area = lw_table_integral(table, left_at, right_at);
                assert_true(fabs(area - width * value) <= 1e-6 * e * (1 + fabs(value)) + 1e-11);
                /* the chain rule along x(s) = at + 3 s + s^2 */
                const lw_jet along = lw_table_jet(table, (lw_jet){at, 3, 2});
                assert_true(fabs(along.d - 3 * jet.d) <= 1e-12 * fabs(jet.d) &&
                            fabs(along.dd - (2 * jet.d + 9 * jet.dd)) <=
                                1e-12 * (fabs(jet.d) + 9 * fabs(jet.dd)));
            }
            if (i == 0) continue;
            const lw_jet left = lw_table_jet(table, (lw_jet){nextafter(x[i], -INFINITY), 1, 0}),
                         right = lw_table_jet(table, (lw_jet){x[i], 1, 0});
            const double steep = fabs(y[i + 1] - y[i]) / h + fabs(y[i] - y[i - 1]) / (x[i] - x[i - 1]);
            const double near = fmin(h, x[i] - x[i - 1]);
            assert_true(fabs(left.d - right.d) <=
                        1e-9 * steep + 1e-13 / near + 10 * DBL_EPSILON * fabs(x[i]) * steep / near);
        }
        assert_int_equal(lw_table_smoothness_within(table), LW_TABLE_C1);
        lw_arena_destroy(arena);
    }
}

static double largest_error(lw_interpolation how, size_t count, double from, double to) {
    static double x[5000], y[5000];
    lw_arena *arena = lw_arena_create(NULL);
    for (size_t i = 0; i < count; i++) {
        x[i] = from + (to - from) * (double)i / (double)(count - 1);
        y[i] = exp(sin(x[i]));
    }
    const lw_table *table = make(arena, x, y, count, how, LW_BEYOND_HOLD);
    double largest = 0;
    for (int k = 0; k < 20000; k++) {
        const double at = from + (to - from) * (k + 0.37) / 20000;
        largest = fmax(largest, fabs(lw_table_value(table, at) - exp(sin(at))));
    }
    lw_arena_destroy(arena);
    return largest;
}

/* The order of tables of exp(sin x): 1, 2, and 3 where it is monotone, 2 with an extremum. */
static void order(void **state) {
    (void)state;
    const struct {
        lw_interpolation how;
        double from, to, order;
    } cases[] = {{LW_INTERPOLATION_STEPS, 0.2, 1.2, 1},
                 {LW_INTERPOLATION_LINEAR, 0.2, 1.2, 2},
                 {LW_INTERPOLATION_SMOOTH, 0.2, 1.2, 3},
                 /* with the extremum at the same place between two points */
                 {LW_INTERPOLATION_SMOOTH, PI / 2 - 1, PI / 2 + 4.0 / 3, 2}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        const double coarse = largest_error(cases[c].how, 101, cases[c].from, cases[c].to),
                     fine = largest_error(cases[c].how, 801, cases[c].from, cases[c].to);
        const double seen = log(coarse / fine) / log(8);
        if (fabs(seen - cases[c].order) > 0.2)
            fail_msg("case %zu: order %.3f instead of %g", c, seen, cases[c].order);
    }
    /* h^2 |f''| / 8 for straight lines */
    assert_true(largest_error(LW_INTERPOLATION_LINEAR, 801, 0.2, 1.2) < 2.8 * pow(1.0 / 800, 2) / 8);
}

/* Beyond the ends: held, straight on, and again; also far away, at infinity, and for NaN. */
static void beyond(void **state) {
    (void)state;
    lw_arena *arena = lw_arena_create(NULL);
    const double x[] = {1, 2, 4}, y[] = {3, 5, 3};
    for (int how = 0; how < LW_INTERPOLATIONS; how++) {
        const lw_table *hold = make(arena, x, y, 3, (lw_interpolation)how, LW_BEYOND_HOLD),
                       *line = make(arena, x, y, 3, (lw_interpolation)how, LW_BEYOND_LINEAR),
                       *again = make(arena, x, y, 3, (lw_interpolation)how, LW_BEYOND_REPEAT);
        assert_true(lw_table_value(hold, -7) == 3 && lw_table_value(hold, 9) == 3);
        assert_true(lw_table_value(hold, INFINITY) == 3 && lw_table_value(hold, -INFINITY) == 3);
        assert_true(lw_table_jet(hold, (lw_jet){9, 1, 0}).d == 0 &&
                    lw_table_jet(hold, (lw_jet){0, 1, 0}).d == 0);
        assert_true(isnan(lw_table_value(hold, NAN)) && isnan(lw_table_value(line, NAN)) &&
                    isnan(lw_table_value(again, NAN)) && isnan(lw_table_value(again, INFINITY)));
        const lw_jet end = lw_table_jet(line, (lw_jet){4, 1, 0}),
                     start = lw_table_jet(line, (lw_jet){1, 1, 0});
        assert_true(fabs(lw_table_value(line, 10) - (end.f + 6 * end.d)) < 1e-14);
        assert_true(fabs(lw_table_value(line, -10) - (start.f - 11 * start.d)) < 1e-13);
        for (int k = -50; k <= 50; k++)
            for (double s = 0; s < 3; s += 0.0625)
                assert_true(lw_table_value(again, 1 + s + 3 * k) == lw_table_value(again, 1 + s));
        assert_true(fabs(lw_table_integral(hold, 4, 6) - 6) < 1e-14 &&
                    fabs(lw_table_integral(hold, -1, 1) - 6) < 1e-14);
        const double period = lw_table_integral(again, 1, 4);
        assert_true(fabs(lw_table_integral(again, -5.5, 15.5) - 7 * period) < 1e-13);
        assert_true(fabs(lw_table_integral(again, 2.5, -0.5) + period) < 1e-14);
    }
    /* A smooth table that repeats and closes has a continuous slope at its seam, too. */
    double sx[33], sy[33];
    for (int i = 0; i <= 32; i++) sx[i] = i * PI / 16, sy[i] = sin(sx[i] + 0.3);
    const lw_table *wave = make(arena, sx, sy, 33, LW_INTERPOLATION_SMOOTH, LW_BEYOND_REPEAT);
    const lw_jet left = lw_table_jet(wave, (lw_jet){nextafter(2 * PI, 0), 1, 0}),
                 right = lw_table_jet(wave, (lw_jet){2 * PI, 1, 0});
    assert_int_equal(lw_table_smoothness(wave), LW_TABLE_C1);
    assert_true(fabs(left.d - right.d) < 1e-12 && fabs(right.d - cos(0.3)) < 0.02);
    assert_true(fabs(lw_table_value(wave, 1e6) - sin(1e6 + 0.3)) < 2e-3);
    /* One that does not close jumps there; held ones have kinks at steep ends. */
    assert_int_equal(lw_table_smoothness(make(arena, sx, sy, 20, LW_INTERPOLATION_SMOOTH, LW_BEYOND_REPEAT)),
                     LW_TABLE_JUMPS);
    assert_int_equal(lw_table_smoothness(make(arena, sx, sy, 20, LW_INTERPOLATION_SMOOTH, LW_BEYOND_HOLD)),
                     LW_TABLE_KINKS);
    assert_int_equal(lw_table_smoothness(make(arena, sx, sy, 20, LW_INTERPOLATION_SMOOTH, LW_BEYOND_LINEAR)),
                     LW_TABLE_C1);
    assert_int_equal(lw_table_smoothness(make(arena, sx, sy, 20, LW_INTERPOLATION_LINEAR, LW_BEYOND_LINEAR)),
                     LW_TABLE_KINKS);
    assert_int_equal(lw_table_smoothness(make(arena, sx, sx, 20, LW_INTERPOLATION_LINEAR, LW_BEYOND_LINEAR)),
                     LW_TABLE_C1);
    assert_int_equal(lw_table_smoothness(make(arena, sx, sy, 20, LW_INTERPOLATION_STEPS, LW_BEYOND_HOLD)),
                     LW_TABLE_JUMPS);
    lw_arena_destroy(arena);
}

static void must_refuse(const double *x, const double *y, size_t count, size_t row, const char *message) {
    lw_syntax syntax = {0};
    size_t found = 999;
    lw_arena *arena = lw_arena_create(NULL);
    assert_false(lw_table_check(x, y, count, &found, &syntax));
    if (found != row || !strstr(syntax.message, message) || !syntax.remedy[0])
        fail_msg("row %zu: %s; %s", found, syntax.message, syntax.remedy);
    assert_null(lw_table_create(arena, x, y, count, LW_INTERPOLATION_SMOOTH, LW_BEYOND_HOLD));
    assert_null(lw_table_create(arena, x, y, count, LW_INTERPOLATION_LINEAR, LW_BEYOND_REPEAT));
    lw_arena_destroy(arena);
}

static void refused(void **state) {
    (void)state;
    const double x[] = {0, 1, 2}, y[] = {0, 1, 2};
    must_refuse(x, y, 0, 0, "0 points");
    must_refuse(x, y, 1, 0, "1 point is");
    must_refuse((double[]){0, 1, 1}, y, 3, 2, "x does not ascend: 1 behind 1");
    must_refuse((double[]){0, 1, 0.5}, y, 3, 2, "x does not ascend: 0.5 behind 1");
    must_refuse((double[]){0, NAN, 2}, y, 3, 1, "x is not a finite number");
    must_refuse(x, (double[]){0, 1, NAN}, 3, 2, "y is not a finite number");
    must_refuse(x, (double[]){INFINITY, 1, 0}, 3, 0, "y is not a finite number");
    must_refuse((double[]){0, 1e-300}, (double[]){0, 1e300}, 2, 1, "too large for a number");
    must_refuse((double[]){-1.7e308, 1.7e308}, y, 2, 1, "too large for a number");
}

/* --- knots ---------------------------------------------------------------------------------------- */

static void knots(void **state) {
    (void)state;
    lw_arena *arena = lw_arena_create(NULL);
    /* Points in line with their neighbours are no knots; the ends of hold are where the slope is not 0. */
    const double x[] = {0, 1, 2, 3, 4, 5, 6}, y[] = {0, 1, 2, 3, 3, 3, 1};
    const lw_table *line = make(arena, x, y, 7, LW_INTERPOLATION_LINEAR, LW_BEYOND_HOLD);
    const bool expected[] = {true, false, false, true, false, true, true};
    for (size_t i = 0; i < 7; i++) assert_int_equal(lw_table_is_knot(line, i, 0), expected[i]);
    const lw_table *steps = make(arena, x, y, 7, LW_INTERPOLATION_STEPS, LW_BEYOND_HOLD);
    const bool jumps[] = {false, true, true, true, false, false, true};
    for (size_t i = 0; i < 7; i++) assert_int_equal(lw_table_is_knot(steps, i, 0), jumps[i]);
    /* A pulse in a level table: smooth everywhere, but its beginning and end are knots. */
    double px[41], py[41] = {0};
    for (int i = 0; i < 41; i++) px[i] = i;
    py[20] = 1;
    const lw_table *pulse = make(arena, px, py, 41, LW_INTERPOLATION_SMOOTH, LW_BEYOND_HOLD);
    for (size_t i = 0; i < 41; i++) {
        assert_int_equal(lw_table_is_knot(pulse, i, 0), i == 19 || i == 21);
        assert_int_equal(lw_table_is_knot(pulse, i, 2), i == 19 || i == 21); /* even at its top */
    }
    /* None of a smooth table of a smooth function, for forces. */
    for (int i = 0; i < 41; i++) py[i] = cos(0.1 * px[i]);
    const lw_table *wave = make(arena, px, py, 41, LW_INTERPOLATION_SMOOTH, LW_BEYOND_LINEAR);
    int count = 0;
    for (size_t i = 1; i < 40; i++) count += lw_table_is_knot(wave, i, 0);
    assert_int_equal(count, 0);
    lw_arena_destroy(arena);
}

/* A held stretch is the table within, and goes on smoothly beyond its ends; its number changes at knots. */
static void held(void **state) {
    (void)state;
    lw_arena *arena = lw_arena_create(NULL);
    lw_random r = random_seed(8);
    const double x[] = {0, 1, 2.5, 3, 4}, y[] = {1, -1, 2, 3, 0};
    for (int how = 0; how < LW_INTERPOLATIONS; how++)
        for (int b = 0; b < LW_BEYONDS; b++) {
            const lw_table *table = make(arena, x, y, 5, (lw_interpolation)how, (lw_beyond)b);
            for (int k = 0; k < 500; k++) {
                const double at = random_between(&r, -10, 15), number = lw_table_stretch(table, at),
                             room = lw_table_room(table, number, at);
                assert_true(room >= 0);
                const lw_jet jet = {at, 1, 0.5};
                const lw_jet own = lw_table_stretch_jet(table, number, jet), value = lw_table_jet(table, jet);
                assert_true(fabs(own.f - value.f) < 1e-12 && fabs(own.d - value.d) < 1e-12 &&
                            fabs(own.dd - value.dd) < 1e-11);
                if (!(room > 1e-9) || room > 100) continue;
                assert_true(lw_table_stretch(table, at + 0.99 * room) == number &&
                            lw_table_stretch(table, at - 0.99 * room) == number);
                const double left = at - 1.001 * room, right = at + 1.001 * room;
                const bool beyond_left = lw_table_stretch(table, left) != number,
                           beyond_right = lw_table_stretch(table, right) != number;
                assert_true(beyond_left || beyond_right);
                const double outside = beyond_left ? left : right;
                assert_true(fabs(lw_table_room(table, number, outside) + 0.001 * room) < 1e-9);
                const lw_jet on = lw_table_stretch_jet(table, number, (lw_jet){outside, 1, 0});
                const double before = beyond_left ? at - 0.999 * room : at + 0.999 * room;
                const lw_jet in = lw_table_stretch_jet(table, number, (lw_jet){before, 1, 0});
                assert_true(fabs(on.f - in.f) < 0.02 * room * (1 + fabs(in.d)) + 1e-6); /* no jump */
            }
        }
    /* A smooth table that is held at steep ends has three stretches, whatever its number of points. */
    const lw_table *table = make(arena, x, y, 5, LW_INTERPOLATION_SMOOTH, LW_BEYOND_HOLD);
    assert_true(lw_table_stretch(table, 0.5) == lw_table_stretch(table, 3.9));
    assert_true(lw_table_stretch(table, -1) != lw_table_stretch(table, 3.9) &&
                lw_table_stretch(table, 5) != lw_table_stretch(table, 3.9));
    lw_arena_destroy(arena);
}

/* --- in expressions ------------------------------------------------------------------------------- */

static const char *const laws[] = {"x", "t"};

static lw_function *law(lw_arena *arena, const char *text, const lw_named_table *tables, size_t count,
                        lw_syntax *syntax) {
    return lw_function_compile(arena, text,
                               &(lw_expression_names){.constants = constants,
                                                      .constant_count = COUNT(constants),
                                                      .variables = laws,
                                                      .variable_count = 2,
                                                      .tables = tables,
                                                      .table_count = count},
                               syntax);
}

static void must_fail(lw_arena *arena, const char *text, const lw_named_table *tables, const char *message) {
    lw_syntax syntax = {0};
    assert_null(law(arena, text, tables, 2, &syntax));
    if (!strstr(syntax.message, message)) fail_msg("%s: %s; %s", text, syntax.message, syntax.remedy);
}

static void count_knots(const lw_knot *knot, void *context) {
    (void)knot;
    ++*(int *)context;
}

static void expressions(void **state) {
    (void)state;
    lw_arena *arena = lw_arena_create(NULL);
    const double x[] = {-1, 0, 1, 2}, y[] = {1, 0, 2, 1};
    lw_meaning metre = {.kind = LW_MEANING_SURE, .length = 1}, newton = {LW_MEANING_SURE, false, 1, 1, -2, 0};
    const lw_named_table tables[] = {
        {"f", make(arena, x, y, 4, LW_INTERPOLATION_LINEAR, LW_BEYOND_LINEAR), metre, newton},
        {"g", make(arena, x, y, 4, LW_INTERPOLATION_SMOOTH, LW_BEYOND_REPEAT), {0}, {0}}};
    lw_syntax syntax;
    const lw_function *c = law(arena, "g(0.5) + f(1)", tables, 2, &syntax);
    assert_true(lw_function_is_constant(c));
    assert_true(lw_function_value(c, NULL, NULL) == lw_table_value(tables[1].table, 0.5) + 2);
    /* A sum of multiples has its integral in closed form; a product by quadrature between the knots. */
    const char *const texts[] = {"3*f(2*x - 1)/7 - g(x)*m + x - 4 + g(0.2)",
                                 "-f(-x) + 0*t",
                                 "x*g(x)",
                                 "g(sin(x))",
                                 "f(x)*g(3*x)",
                                 "abs(f(x) - 1)",
                                 "g(g(x))"};
    lw_random r = random_seed(3);
    for (size_t k = 0; k < COUNT(texts); k++) {
        lw_function *function = law(arena, texts[k], tables, 2, &syntax);
        if (!function) fail_msg("%s: %s", texts[k], syntax.message);
        for (int trial = 0; trial < 10; trial++) {
            const double a = random_between(&r, -4, 4), b = random_between(&r, -4, 4);
            const double others[2] = {0, 0.7};
            double sum = 0;
            enum { STRIPS = 20000 };
            for (int i = 0; i < STRIPS; i++) {
                const double at[2] = {a + (b - a) * (i + 0.5) / STRIPS, 0.7};
                sum += lw_function_value(function, at, NULL) * (b - a) / STRIPS;
            }
            const double area = lw_function_integral(function, a, b, others);
            if (fabs(area - sum) > 1e-5) fail_msg("%s: %.12g instead of %.12g", texts[k], area, sum);
            /* additive, to rounding */
            const double c2 = 0.3 * a + 0.7 * b;
            const double parts =
                lw_function_integral(function, a, c2, others) + lw_function_integral(function, c2, b, others);
            assert_true(fabs(area - parts) < 1e-11 * (1 + fabs(area)));
            const lw_jet at[2] = {{a, 1, 0}, {0.7, 0, 0}};
            const double up[2] = {a + 1e-6, 0.7}, down[2] = {a - 1e-6, 0.7};
            const double slope =
                (lw_function_value(function, up, NULL) - lw_function_value(function, down, NULL)) / 2e-6;
            assert_true(fabs(lw_function_jet(function, at, NULL).d - slope) < 1e-3 * (1 + fabs(slope)));
        }
    }
    must_fail(arena, "f", tables, "table \"f\" has no argument");
    must_fail(arena, "f()", tables, "table \"f\" has no argument");
    must_fail(arena, "f(1, 2)", tables, "takes one argument");
    must_fail(arena, "f(3 s)", tables, "is one of a length, and its argument is a time");
    must_fail(arena, "f(3 mm) + 2 kg", tables, "a force and a mass");
    must_fail(arena, "fg(1)", tables, "unknown function \"fg\"");
    /* Knots in time: 4 points, 3 in a period. */
    int count = 0;
    lw_function_knots(law(arena, "f(t - 3)", tables, 2, &syntax), 1, count_knots, &count);
    assert_int_equal(count, 2); /* straight on beyond the ends */
    count = 0;
    lw_function_motion_knots(law(arena, "g(2*t)", tables, 2, &syntax), 1, count_knots, &count);
    assert_int_equal(count, 3);
    count = 0;
    lw_function_knots(law(arena, "f(x) + f(t^2)", tables, 2, &syntax), 1, count_knots, &count);
    assert_int_equal(count, 0);
    lw_function_knots(law(arena, "f(sin(t))", tables, 2, &syntax), 1, count_knots, &count);
    assert_int_equal(count, 1); /* It passes 0, and touches 1. */
    lw_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookup), cmocka_unit_test(smooth_properties), cmocka_unit_test(order),
        cmocka_unit_test(beyond), cmocka_unit_test(refused),           cmocka_unit_test(knots),
        cmocka_unit_test(held),   cmocka_unit_test(expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

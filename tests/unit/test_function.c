/* test_function.c - tables, integrals, and memory that runs out. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "expression/function.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- tables --------------------------------------------------------------------------------------- */

/* Gauss-Legendre, 5 points: exact for the pieces of tables, and independent of their stored areas. */
static double area_of_piece(const lw_function *f, double a, double b) {
    const double node[3] = {0, 0.53846931010568309104, 0.90617984593866399280};
    const double weight[3] = {0.56888888888888888889, 0.47862867049936646804, 0.23692688505618908751};
    double area = 0, centre = (a + b) / 2, half = (b - a) / 2;
    for (int i = 0; i < 3; i++) {
        double left = centre - half * node[i], right = centre + half * node[i];
        area += weight[i] * half *
                (lw_function_value(f, &right, NULL) + (i ? lw_function_value(f, &left, NULL) : 0));
    }
    return area;
}

static void test_tables(void **state) {
    (void)state;
    lw_arena *arena = lw_arena_create(NULL);
    const double x[] = {-1, 0, 0.5, 2, 2.25, 4}, y[] = {3, 1, 1, 4, 9, 8};
    const size_t count = COUNT(x);
    for (int smooth = 0; smooth < 2; smooth++) {
        lw_function *f = lw_function_table(arena, x, y, count, smooth);
        assert_non_null(f);
        assert_true(lw_function_uses(f, 0) && !lw_function_uses(f, 1) && !lw_function_is_constant(f));
        for (size_t i = 0; i < count; i++) assert_true(lw_function_value(f, &x[i], NULL) == y[i]);

        double area = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            double low = fmin(y[i], y[i + 1]), high = fmax(y[i], y[i + 1]), before = y[i];
            for (int k = 1; k <= 20; k++) {
                double at = x[i] + (x[i + 1] - x[i]) * k / 20, value = lw_function_value(f, &at, NULL);
                /* between the points and monotone, to the rounding of a cubic with values below 10 */
                assert_true(value >= low - 1e-14 && value <= high + 1e-14);
                assert_true((value - before) * (y[i + 1] - y[i]) >= -1e-13);
                if (!smooth) {
                    double line = y[i] + (y[i + 1] - y[i]) * k / 20;
                    assert_true(fabs(value - line) < 1e-14);
                }
                before = value;

                /* the jet: these differences are exact for cubics; rounding 1e-14 / 1e-3 and 1e-14 / 1e-6 */
                double e = 1e-3, middle = at - (x[i + 1] - x[i]) / 40, v[5];
                for (int n = 0; n < 5; n++)
                    v[n] = lw_function_value(f, (double[]){middle + (n - 2) * e}, NULL);
                double slope = (v[0] - 8 * v[1] + 8 * v[3] - v[4]) / (12 * e);
                double bend = (v[1] - 2 * v[2] + v[3]) / (e * e);
                lw_jet j = lw_function_jet(f, &(lw_jet){middle, 2, 3}, NULL);
                if (!smooth) assert_true(fabs(bend) < 1e-7);
                assert_true(j.f == v[2]);
                assert_true(fabs(j.d - 2 * slope) < 1e-10);
                assert_true(fabs(j.dd - (3 * j.d / 2 + 4 * bend)) < 1e-7);

                double whole = lw_function_integral(f, x[0], at, NULL);
                double again = area + area_of_piece(f, x[i], at);
                assert_true(fabs(whole - again) < 1e-13); /* rounding: areas below 30 */
            }
            area += area_of_piece(f, x[i], x[i + 1]);
            if (smooth && i > 0) { /* the slope is continuous: over 2e-9 it changes by c2 2e-9, c2 < 1000 */
                lw_jet l = lw_function_jet(f, &(lw_jet){x[i] - 1e-9, 1, 0}, NULL),
                       r = lw_function_jet(f, &(lw_jet){x[i], 1, 0}, NULL);
                assert_true(fabs(l.d - r.d) < 1e-5);
            }
        }

        /* Beyond the ends: straight with the end's slope; the integral is that of the line. */
        lw_jet left = lw_function_jet(f, &(lw_jet){-4, 1, 0}, NULL),
               end = lw_function_jet(f, &(lw_jet){-1, 1, 0}, NULL);
        assert_true(left.dd == 0 && fabs(left.d - end.d) < 1e-14 && fabs(left.f - (3 - 3 * end.d)) < 1e-13);
        lw_jet right = lw_function_jet(f, &(lw_jet){9, 1, 0}, NULL);
        assert_true(right.dd == 0 && fabs(right.f - (8 + 5 * right.d)) < 1e-13);
        lw_jet last =
            lw_function_jet(f, &(lw_jet){4 - 1e-9, 1, 0}, NULL); /* as above: over 1e-9 little changes */
        assert_true(fabs(right.d - last.d) < 1e-6);
        assert_true(fabs(lw_function_integral(f, -4, 9, NULL) -
                         (area + area_of_piece(f, -4, -1) + area_of_piece(f, 4, 9))) < 1e-12);
        assert_true(lw_function_integral(f, 1, -2, NULL) == -lw_function_integral(f, -2, 1, NULL));
    }

    /* Slopes of the smooth kind: 0 at an extremum; weighted harmonic means inside; at the left end the
     * parabola's slope would be -3, against the rise of the data, so 0; at the right end the parabola's. At
     * point 2, h = 1, 2 and D = 9, 1 have the weights 2*2 + 1 and 2 + 2*1. */
    const double u[] = {0, 1, 2, 4, 5}, w[] = {0, 1, 10, 12, 11},
                 slopes[] = {0, 1.8, 9 / (5 / 9.0 + 4), 0, -5.0 / 3};
    lw_function *s = lw_function_table(arena, u, w, 5, true);
    assert_non_null(s);
    for (size_t i = 0; i < 5; i++) {
        assert_true(fabs(lw_function_jet(s, &(lw_jet){u[i], 1, 0}, NULL).d - slopes[i]) < 1e-14);
    }

    /* A straight table is straight in both kinds; a parabola comes out to second order. */
    double grid[41], straight[41], parabola[41];
    for (int i = 0; i < 41; i++) {
        grid[i] = i * 0.1;
        straight[i] = 2 - 3 * grid[i];
        parabola[i] = (grid[i] + 1) * (grid[i] + 1);
    }
    lw_function *f = lw_function_table(arena, grid, straight, 41, true);
    lw_function *g = lw_function_table(arena, grid, parabola, 41, true);
    for (double at = -1; at < 6; at += 0.0377) {
        lw_jet j = lw_function_jet(f, &(lw_jet){at, 1, 0}, NULL);
        assert_true(fabs(j.f - (2 - 3 * at)) < 1e-13 && fabs(j.d + 3) < 1e-12 && fabs(j.dd) < 1e-10);
        /* harmonic instead of arithmetic mean of slopes: off by h^2/(4 slope) <= 0.002; times h/4 in the
         * value */
        if (at > 0 && at < 4) assert_true(fabs(lw_function_value(g, &at, NULL) - (at + 1) * (at + 1)) < 1e-4);
    }

    assert_null(lw_function_table(arena, x, y, 0, true));
    assert_null(lw_function_table(arena, x, y, 1, true));
    assert_null(lw_function_table(arena, (double[]){0, 0}, y, 2, false));
    assert_null(lw_function_table(arena, (double[]){0, -1}, y, 2, false));
    assert_null(lw_function_table(arena, (double[]){0, NAN}, y, 2, false));
    assert_null(lw_function_table(arena, x, (double[]){0, INFINITY}, 2, false));
    assert_null(lw_function_table(arena, (double[]){0, 1e-300}, (double[]){0, 1e300}, 2, true));
    assert_null(lw_function_table(arena, (double[]){-1.7e308, 1.7e308}, (double[]){0, 1}, 2, true));
    lw_function *two = lw_function_table(arena, (double[]){0, 2}, (double[]){1, 5}, 2, true);
    assert_true(lw_function_value(two, (double[]){1}, NULL) == 3);
    assert_true(isnan(lw_function_value(two, (double[]){NAN}, NULL)));
    lw_arena_destroy(arena);
}

/* --- integrals ------------------------------------------------------------------------------------ */

static void test_integrals(void **state) {
    (void)state;
    /* over x from a to b, with y = 2 */
    static const struct {
        const char *text;
        double a, b, area, magnitude;
    } cases[] = {
        {"5", -1, 3, 20, 20},
        {"x^2", 0, 3, 9, 9},
        {"x^2", 3, 0, -9, 9},
        {"x*y", 0, 3, 9, 9},
        {"sin(x)", 0, PI, 2, 2},
        {"sin(x)", 0, 40 * PI, 0, 80},
        {"exp(x)", -5, 5, 148.40642115557752, 148.4},
        {"1/(1 + x^2)", -1000, 1000, 3.1395926542564595, 3.14}, /* 2 atan(1000) */
        {"1/x", 1, 1e6, 13.815510557964274, 13.8},
        {"sqrt(x)", 0, 1, 2.0 / 3, 2.0 / 3},
        {"abs(x - 0.3)", -1, 2, 2.29, 2.29},
        {"ramp(x - 0.123456)", 0, 1, 0.5 * 0.876544 * 0.876544, 0.384},
        {"if(x > 1/3, 1, 0)", 0, 1, 2.0 / 3, 0.67},
        {"floor(x)", 0, 10.5, 50, 50},
        {"1e6*ramp(-x)", 1, -1e-3, -0.5, 0.5}, /* contact that has just begun */
        {"1e6*ramp(-x)", 1, -1e-6, -5e-7, 5e-7},
        {"1e6*ramp(-x)^1.5", 1, -1e-3, -1e6 * 0.4 * 3.1622776601683794e-8, 0.0127},
        {"step5(x, 0, 0, 1, 1)", -3, 4, 3.5, 3.5},
        {"exp(-(x/0.01)^2)", -1, 1, 0.017724538509055159, 0.0178},
        {"1e-200*x", 0, 2, 2e-200, 2e-200},
        {"mod(x, 0.001)", 0, 0.1, 5e-5, 5e-5},           /* more jumps than halvings could find */
        {"mod(x, 1) - 0.5", 0, 1000.25, -0.09375, 1000}, /* rounding of the arguments */
        {"if(mod(x, 0.1) < 0.05, 3, -1)*y", 0, -60, -120, 240},
    };
    static const char *const names[] = {"x", "y"};
    lw_arena *arena = lw_arena_create(NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        lw_syntax syntax;
        lw_function *f = lw_function_compile(
            arena, cases[i].text, &(lw_expression_names){.variables = names, .variable_count = 2}, &syntax);
        if (!f) fail_msg("%s: %s", cases[i].text, syntax.message);
        double area = lw_function_integral(f, cases[i].a, cases[i].b, (double[]){99, 2});
        /* the promise of function.h, doubled for the rounding of the expected values themselves */
        if (!(fabs(area - cases[i].area) <= 2e-13 * cases[i].magnitude)) {
            fail_msg("%s from %g to %g: %.17g, not %.17g: off by %g", cases[i].text, cases[i].a, cases[i].b,
                     area, cases[i].area, (area - cases[i].area) / cases[i].magnitude);
        }
    }
    /* Undefined or infinite integrands end, and say so; ends that are no numbers as well. */
    lw_function *f = lw_function_compile(
        arena, "log(x)/x", &(lw_expression_names){.variables = names, .variable_count = 1}, NULL);
    assert_false(isfinite(lw_function_integral(f, -1, 1, NULL)));
    f = lw_function_compile(arena, "x", &(lw_expression_names){.variables = names, .variable_count = 1},
                            NULL);
    assert_true(lw_function_integral(f, 1, 1, NULL) == 0);
    assert_true(isnan(lw_function_integral(f, 0, NAN, NULL)));
    assert_false(isfinite(lw_function_integral(f, 0, INFINITY, NULL)));
    /* A wild function costs a bounded time and stays bounded. */
    f = lw_function_compile(arena, "sin(1e9*x^2)",
                            &(lw_expression_names){.variables = names, .variable_count = 1}, NULL);
    assert_true(fabs(lw_function_integral(f, 0, 1, NULL)) < 1);
    lw_arena_destroy(arena);
}

/* --- memory --------------------------------------------------------------------------------------- */

static void *refuse(size_t size, void *context) {
    int *left = context;
    return (*left)-- > 0 ? malloc(size) : NULL;
}

static void release(void *memory, void *context) {
    (void)context;
    free(memory);
}

static void test_out_of_memory(void **state) {
    (void)state;
    static const char *const names[] = {"x"};
    bool compiled = false;
    for (int allowed = 1; allowed < 8 && !compiled; allowed++) {
        int left = allowed;
        lw_allocator allocator = {refuse, release, &left};
        lw_arena *arena = lw_arena_create(&allocator);
        if (!arena) continue;
        char text[4100] = "x"; /* its program needs more than one block of an arena */
        for (int i = 0; i < 1000; i++) strcat(text, " + x");
        lw_syntax syntax = {0};
        compiled =
            lw_function_compile(arena, text, &(lw_expression_names){.variables = names, .variable_count = 1},
                                &syntax) != NULL;
        if (!compiled) assert_string_equal(syntax.message, "out of memory");
        lw_arena_destroy(arena);
    }
    assert_true(compiled);
}

/* Inputs: read from the caller's array, at rest along a jet, in conditions. */
static void test_inputs(void **state) {
    (void)state;
    lw_arena *arena = lw_arena_create(NULL);
    const char *const variables[] = {"t", "x"};
    const lw_constant inputs[] = {{.name = "u"}, {.name = "w"}};
    lw_expression_names names = {
        .variables = variables, .variable_count = 2, .inputs = inputs, .input_count = 2};
    lw_syntax syntax;
    const lw_function *f =
        lw_function_compile(arena, "u*x^2 + if(x > w, 1, 0) + if(w > 2, 10, 0)", &names, &syntax);
    assert_non_null(f);
    assert_true(lw_function_uses_inputs(f) && !lw_function_is_constant(f));
    bool used[2] = {false, false};
    lw_function_mark_inputs(f, used);
    assert_true(used[0] && used[1]);
    double at[2] = {0, 3}, values[2] = {5, 1};
    assert_true(lw_function_value(f, at, values) == 46);
    values[0] = 2, values[1] = 4;
    assert_true(lw_function_value(f, at, values) == 28);
    lw_jet jet = lw_function_jet(f, (lw_jet[]){{0, 1, 0}, {3, 2, 0}}, values);
    assert_true(jet.f == 28 && jet.d == 24 && jet.dd == 16);
    assert_int_equal(lw_function_conditions(f), 2);
    double outcome[2] = {NAN, NAN};
    assert_true(lw_function_look(f, at, values, 0, &(lw_look){.outcomes = outcome}) == HUGE_VAL &&
                outcome[0] == 0);
    values[1] = 2.5;
    assert_true(lw_function_value_held(f, at, values, outcome) == 28);
    assert_true(lw_function_look(f, at, values, 0, &(lw_look){.held = outcome}) == -0.5);

    f = lw_function_compile(arena, "x + 1", &names, &syntax);
    assert_true(f && !lw_function_uses_inputs(f));
    names.input_use = LW_INPUTS_NOT_IN_MOTIONS;
    assert_null(lw_function_compile(arena, "2*u", &names, &syntax));
    assert_non_null(strstr(syntax.message, "is an input"));
    assert_int_equal(syntax.offset, 2);
    double value;
    names.variable_count = 0;
    assert_false(lw_number_meaning("w", &names, &value, NULL, &syntax));
    assert_non_null(strstr(syntax.message, "must be constant"));
    assert_false(lw_number_meaning("2*zzzz", &names, &value, NULL, &syntax));
    assert_non_null(strstr(syntax.remedy, "u, w"));
    lw_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_integrals),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_expression_machine.c - jets, checked in two ways that share no formula with the machine: truncated Taylor series
 * of random expressions (recurrences for the coefficients), and finite differences of the values. */
#include "function_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- jets against Taylor series ------------------------------------------------------------------- */

/* f(s) = c0 + c1 s + c2 s^2 + ...: the derivatives are c1 and 2 c2. */
typedef struct series {
    double c[3];
} series;

static series number(double value) { return (series){{value, 0, 0}}; }

static series times(series a, series b) {
    return (series){{a.c[0] * b.c[0], a.c[0] * b.c[1] + a.c[1] * b.c[0],
                     a.c[0] * b.c[2] + a.c[1] * b.c[1] + a.c[2] * b.c[0]}};
}

static series plus(series a, double factor, series b) {
    for (int i = 0; i < 3; i++) a.c[i] += factor * b.c[i];
    return a;
}

static series over(series a, series b) {
    series q;
    q.c[0] = a.c[0] / b.c[0];
    q.c[1] = (a.c[1] - q.c[0] * b.c[1]) / b.c[0];
    q.c[2] = (a.c[2] - q.c[0] * b.c[2] - q.c[1] * b.c[1]) / b.c[0];
    return q;
}

/* The function with value f0 whose derivative is u' / w. */
static series primitive(double f0, series u, series w) {
    series f = number(f0);
    f.c[1] = u.c[1] / w.c[0];
    f.c[2] = (2 * u.c[2] - f.c[1] * w.c[1]) / w.c[0] / 2;
    return f;
}

static series exponential(series u) {
    series f = number(exp(u.c[0]));
    f.c[1] = u.c[1] * f.c[0];
    f.c[2] = (u.c[1] * f.c[1] + 2 * u.c[2] * f.c[0]) / 2;
    return f;
}

static series logarithm(series u) { return primitive(log(u.c[0]), u, u); }

static series root(series u) {
    series f = number(sqrt(u.c[0]));
    f.c[1] = u.c[1] / (2 * f.c[0]);
    f.c[2] = (u.c[2] - f.c[1] * f.c[1]) / (2 * f.c[0]);
    return f;
}

static void circle(series u, series *s, series *c) {
    *s = number(sin(u.c[0]));
    *c = number(cos(u.c[0]));
    s->c[1] = u.c[1] * c->c[0];
    c->c[1] = -u.c[1] * s->c[0];
    s->c[2] = (u.c[1] * c->c[1] + 2 * u.c[2] * c->c[0]) / 2;
    c->c[2] = -(u.c[1] * s->c[1] + 2 * u.c[2] * s->c[0]) / 2;
}

static series whole_power(series u, int n) {
    series f = number(1);
    for (int i = 0; i < abs(n); i++) f = times(f, u);
    return n < 0 ? over(number(1), f) : f;
}

static series arctangent(series u) { return primitive(atan(u.c[0]), u, plus(number(1), 1, times(u, u))); }

static series arctangent2(series y, series x) {
    series f =
        fabs(x.c[0]) > fabs(y.c[0]) ? arctangent(over(y, x)) : plus(number(0), -1, arctangent(over(x, y)));
    f.c[0] = atan2(y.c[0], x.c[0]);
    return f;
}

static const char *const one_operand[] = {"sin",  "cos",  "tan",   "asin", "acos",  "atan", "sinh",
                                          "cosh", "tanh", "exp",   "log",  "log10", "sqrt", "cbrt",
                                          "abs",  "sign", "floor", "ceil", "ramp",  "-"};

static series apply_one(const char *name, series u) {
    series s, c, ep = exponential(u), en = exponential(plus(number(0), -1, u));
    series sh = times(number(0.5), plus(ep, -1, en)), ch = times(number(0.5), plus(ep, 1, en));
    circle(u, &s, &c);
    if (!strcmp(name, "sin")) return s;
    if (!strcmp(name, "cos")) return c;
    if (!strcmp(name, "tan")) return over(s, c);
    if (!strcmp(name, "asin")) return primitive(asin(u.c[0]), u, root(plus(number(1), -1, times(u, u))));
    if (!strcmp(name, "acos")) {
        return plus(number(PI / 2), -1, primitive(asin(u.c[0]), u, root(plus(number(1), -1, times(u, u)))));
    }
    if (!strcmp(name, "atan")) return arctangent(u);
    if (!strcmp(name, "sinh")) return sh;
    if (!strcmp(name, "cosh")) return ch;
    if (!strcmp(name, "tanh")) return over(sh, ch);
    if (!strcmp(name, "exp")) return ep;
    if (!strcmp(name, "log")) return logarithm(u);
    if (!strcmp(name, "log10")) return over(logarithm(u), number(log(10)));
    if (!strcmp(name, "sqrt")) return root(u);
    if (!strcmp(name, "cbrt")) {
        double sign = u.c[0] < 0 ? -1 : 1;
        return times(number(sign), exponential(over(logarithm(times(number(sign), u)), number(3))));
    }
    if (!strcmp(name, "abs")) return u.c[0] < 0 ? plus(number(0), -1, u) : u;
    if (!strcmp(name, "sign")) return number(u.c[0] < 0 ? -1 : u.c[0] > 0);
    if (!strcmp(name, "floor")) return number(floor(u.c[0]));
    if (!strcmp(name, "ceil")) return number(ceil(u.c[0]));
    if (!strcmp(name, "ramp")) return u.c[0] < 0 ? number(0) : u;
    return plus(number(0), -1, u);
}

static const char *const two_operands[] = {
    "+", "-", "*", "/", "^", "<", ">=", "and", "or", "atan2", "hypot", "mod", "min", "max"};

static series apply_two(const char *name, series a, series b) {
    if (!strcmp(name, "+")) return plus(a, 1, b);
    if (!strcmp(name, "-")) return plus(a, -1, b);
    if (!strcmp(name, "*")) return times(a, b);
    if (!strcmp(name, "/")) return over(a, b);
    if (!strcmp(name, "^")) return exponential(times(b, logarithm(a)));
    if (!strcmp(name, "<")) return number(a.c[0] < b.c[0]);
    if (!strcmp(name, ">=")) return number(a.c[0] >= b.c[0]);
    if (!strcmp(name, "and")) return number(a.c[0] != 0 && b.c[0] != 0);
    if (!strcmp(name, "or")) return number(a.c[0] != 0 || b.c[0] != 0);
    if (!strcmp(name, "atan2")) return arctangent2(a, b);
    if (!strcmp(name, "hypot")) return root(plus(times(a, a), 1, times(b, b)));
    if (!strcmp(name, "mod")) return plus(a, -floor(a.c[0] / b.c[0]), b);
    if (!strcmp(name, "min")) return a.c[0] < b.c[0] ? a : b;
    return a.c[0] > b.c[0] ? a : b;
}

/* A random expression: its text, its series, and the largest coefficient met on the way. */
typedef struct random_expression {
    lw_random random;
    series at[2]; /* the variables */
    char text[4096];
    size_t length;
    double largest;
} random_expression;

static void say(random_expression *r, const char *format, ...) LW_PRINTF(2, 3);

static void say(random_expression *r, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(r->text + r->length, sizeof r->text - r->length, format, arguments);
    va_end(arguments);
    r->length += (size_t)n;
    assert_true(r->length < sizeof r->text);
}

static series grow(random_expression *r, int depth) {
    int kind = depth == 0 ? random_below(&r->random, 3) : 3 + random_below(&r->random, 9);
    series f;
    if (kind == 0) {
        double value = floor(random_between(&r->random, 1, 400)) / 100;
        say(r, "%.2f", value);
        f = number(value);
    } else if (kind <= 2) {
        say(r, "%s", variables[kind - 1]);
        f = r->at[kind - 1];
    } else if (kind <= 5) {
        const char *name = one_operand[random_below(&r->random, (int)COUNT(one_operand))];
        say(r, name[0] == '-' ? "(-" : "%s(", name);
        f = apply_one(name, grow(r, depth - 1));
        say(r, ")");
    } else if (kind <= 9) {
        const char *name = two_operands[random_below(&r->random, (int)COUNT(two_operands))];
        bool call = strlen(name) > 2 && strcmp(name, "and") != 0;
        say(r, call ? "%s(" : "((", name);
        series a = grow(r, depth - 1);
        if (call) {
            say(r, ", ");
        } else {
            say(r, ") %s (", name);
        }
        series b = grow(r, depth - 1);
        say(r, call ? ")" : "))");
        f = apply_two(name, a, b);
    } else if (kind == 10) {
        int n = random_below(&r->random, 8) - 3;
        say(r, "(");
        f = whole_power(grow(r, depth - 1), n);
        say(r, ")^%d", n);
    } else {
        bool five = random_below(&r->random, 2);
        double x0 = -1, x1 = 3;
        say(r, "%s(", five ? "step5" : "step");
        series x = grow(r, depth - 1);
        say(r, ", %g, ", x0);
        series h0 = grow(r, depth - 1);
        say(r, ", %g, ", x1);
        series h1 = grow(r, depth - 1);
        say(r, ")");
        series u = over(plus(x, -x0, number(1)), number(x1 - x0)), w = number(0);
        const double cubic[6] = {0, 0, 3, -2, 0, 0}, quintic[6] = {0, 0, 0, 10, -15, 6};
        for (int i = 5; i >= 0; i--) w = plus(times(w, u), 1, number(five ? quintic[i] : cubic[i]));
        f = x.c[0] <= x0 ? h0 : x.c[0] >= x1 ? h1 : plus(times(h1, w), 1, times(h0, plus(number(1), -1, w)));
    }
    for (int i = 0; i < 3; i++) {
        if (!(fabs(f.c[i]) <= r->largest))
            r->largest = fabs(f.c[i]); /* NaN sticks, by the test in the caller */
        if (isnan(f.c[i])) r->largest = INFINITY;
    }
    return f;
}

static void test_jets_against_series(void **state) {
    (void)state;
    int compared = 0;
    for (uint64_t round = 1; round <= 6000; round++) {
        random_expression r = {.random = random_seed(round)};
        for (int i = 0; i < 6; i++) r.at[i / 3].c[i % 3] = random_between(&r.random, -2, 2);
        series f = grow(&r, 1 + (int)(round % 4));
        /* Huge coefficients cancel to nothing; undefined ones say nothing. */
        if (!(r.largest < 1e4)) continue;

        lw_arena *arena = lw_arena_create(NULL);
        lw_syntax syntax = {0};
        lw_function *function = compile(arena, r.text, &syntax);
        if (!function && (strstr(syntax.message, "zero") || strstr(syntax.message, "real number") ||
                          strstr(syntax.message, "infinite"))) {
            /* a constant part that is undefined but chosen away by if, min, max or a step */
            lw_arena_destroy(arena);
            continue;
        }
        if (!function) fail_msg("round %d: %s: %s", (int)round, r.text, syntax.message);
        lw_jet at[2];
        for (int i = 0; i < 2; i++) at[i] = (lw_jet){r.at[i].c[0], r.at[i].c[1], 2 * r.at[i].c[2]};
        lw_jet jet = lw_function_jet(function, at, NULL);
        double value = lw_function_value(function, (double[]){at[0].f, at[1].f}, NULL);
        /* Both ways round each of up to 60 operations, whose condition is bounded by the coefficients met: a
         * relative 1e-12 of the square of the largest (second derivatives are products of two). */
        double tolerance = 1e-12 * (1 + r.largest * r.largest);
        if (value != jet.f || !(fabs(jet.f - f.c[0]) <= tolerance) || !(fabs(jet.d - f.c[1]) <= tolerance) ||
            !(fabs(jet.dd - 2 * f.c[2]) <= tolerance)) {
            fail_msg("round %d: %s: jet %.15g %.15g %.15g, series %.15g %.15g %.15g, largest %g", (int)round,
                     r.text, jet.f, jet.d, jet.dd, f.c[0], f.c[1], 2 * f.c[2], r.largest);
        }
        compared++;
        lw_arena_destroy(arena);
    }
    assert_true(compared > 1000);
}

/* Central differences of the value, fourth order, over curves x(s): with step 1e-2 the truncation is about
 * 1e-8/30 f5 and 1e-8/90 f6, rounding 1e-16/1e-4; all functions here have such derivatives below 300. */
static void test_jets_against_differences(void **state) {
    (void)state;
    static const char *const texts[] = {
        "sin(x)*cos(t)",
        "tan(t)",
        "asin(t/3)",
        "acos(x/4)",
        "atan(x*t)",
        "sinh(t)*cosh(t)",
        "tanh(x)",
        "exp(-t^2)",
        "log(x)",
        "log10(1 + x^2)",
        "sqrt(x)",
        "cbrt(x)",
        "abs(-x)",
        "x^3 - t^2",
        "x^t",
        "x^-1.5",
        "2^t",
        "x/(1 + t)",
        "atan2(t, x)",
        "atan2(-t, -x)",
        "hypot(x, t)",
        "mod(x, 0.7)",
        "min(x, t)",
        "max(x, t, 0)",
        "if(x > t, x^2, t)",
        "step(t, 0, 1, 1, x)",
        "step5(t, 0, x, 1, 2)",
        "step(x, t, 0, 4*t + 2, t)",
        "ramp(x)*t",
        "x mm/s",
        "(-x)^3",
    };
    lw_arena *arena = lw_arena_create(NULL);
    const double h = 1e-2;
    for (size_t i = 0; i < COUNT(texts); i++) {
        lw_function *f = must_compile(arena, texts[i]);
        double v[5];
        for (int k = -2; k <= 2; k++) {
            double s = k * h;
            v[k + 2] = lw_function_value(
                f, (double[]){0.4 + 0.5 * s - 0.3 * s * s, 1.8 - 0.7 * s + 0.4 * s * s}, NULL);
        }
        lw_jet jet = lw_function_jet(f, (lw_jet[]){{0.4, 0.5, -0.6}, {1.8, -0.7, 0.8}}, NULL);
        double d = (v[0] - 8 * v[1] + 8 * v[3] - v[4]) / (12 * h);
        double dd = (-v[0] + 16 * v[1] - 30 * v[2] + 16 * v[3] - v[4]) / (12 * h * h);
        if (jet.f != v[2] || !(fabs(jet.d - d) < 1e-7) || !(fabs(jet.dd - dd) < 1e-7)) {
            fail_msg("%s: jet %.12g %.12g %.12g, differences %.12g %.12g", texts[i], jet.f, jet.d, jet.dd, d,
                     dd);
        }
    }
    lw_arena_destroy(arena);
}

/* At x = 0, x' = 1, x'' = 2; t = 3, t' = t'' = 0. */
static void test_jets_at_singular_points(void **state) {
    (void)state;
    static const struct {
        const char *text;
        lw_jet jet;
    } cases[] = {
        {"abs(x)", {0, 0, 0}},
        {"sign(x)", {0, 0, 0}},
        {"ramp(x)", {0, 0, 0}},
        {"hypot(x, x)", {0, 0, 0}},
        {"atan2(x, x)", {0, 0, 0}},
        {"x^0", {1, 0, 0}},
        {"x^1", {0, 1, 2}},
        {"x^2", {0, 0, 2}},
        {"x^3", {0, 0, 0}},
        {"x^t", {0, 0, 0}},
        {"x^(2 + x)", {0, 0, 2}},
        {"(x - 2)^3", {-8, 12, 12}},
        {"(x - 2)^-1", {-0.5, -0.25, -0.75}},
        {"(x - 2)^t", {-8, 12, 12}},
        {"min(x, 2*x)", {0, 1, 2}},
        {"floor(x)", {0, 0, 0}},
        {"x < 0", {0, 0, 0}},
        {"not x", {1, 0, 0}},
        {"step(x, 0, 1, 1, 2)", {1, 0, 0}},
        {"step5(x, -1, 1, 0, 2)", {2, 0, 0}},
        {"if(x == 0, 5*x, 1/x)", {0, 5, 10}},
        {"atan(1e200 + x)", {PI / 2, 0, 0}},
        {"tanh(1000 + x)", {1, 0, 0}},
        {"mod(x, t)", {0, 1, 2}},
    };
    lw_arena *arena = lw_arena_create(NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        lw_jet j =
            lw_function_jet(must_compile(arena, cases[i].text), (lw_jet[]){{3, 0, 0}, {0, 1, 2}}, NULL);
        lw_jet want = cases[i].jet;
        /* small whole numbers: a few roundings */
        if (!(fabs(j.f - want.f) < 1e-14) || !(fabs(j.d - want.d) < 1e-14) ||
            !(fabs(j.dd - want.dd) < 1e-14)) {
            fail_msg("%s: %g %g %g", cases[i].text, j.f, j.d, j.dd);
        }
    }
    /* A slope that is infinite is not passed off as another, unless the argument rests. */
    static const char *const steep[] = {"sqrt(x)", "cbrt(x)", "asin(1 + x)", "acos(x - 1)", "x^0.5", "x^1.5"};
    for (size_t i = 0; i < COUNT(steep); i++) {
        const lw_function *f = must_compile(arena, steep[i]);
        lw_jet moving = lw_function_jet(f, (lw_jet[]){{3, 0, 0}, {0, 1, 2}}, NULL);
        lw_jet resting = lw_function_jet(f, (lw_jet[]){{3, 0, 0}, {0, 0, 0}}, NULL);
        if (!isfinite(moving.f) || (isfinite(moving.d) && isfinite(moving.dd)) || resting.d != 0 ||
            resting.dd != 0)
            fail_msg("%s: %g %g %g, resting %g %g", steep[i], moving.f, moving.d, moving.dd, resting.d,
                     resting.dd);
    }
    /* Undefined values stay undefined. */
    lw_jet j = lw_function_jet(must_compile(arena, "sqrt(x - 1)"), (lw_jet[]){{3, 0, 0}, {0, 1, 2}}, NULL);
    assert_true(isnan(j.f) && isnan(j.d) && isnan(j.dd));
    assert_true(isnan(lw_function_value(must_compile(arena, "min(1, sqrt(x - 1))"), (double[]){3, 0}, NULL)));
    assert_true(isnan(lw_function_value(must_compile(arena, "max(sqrt(x - 1), 1)"), (double[]){3, 0}, NULL)));
    lw_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jets_against_series),
        cmocka_unit_test(test_jets_against_differences),
        cmocka_unit_test(test_jets_at_singular_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

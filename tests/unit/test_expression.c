/* test_expression.c - the language: what expressions and units mean, what is refused and how, and hostile
 * text. */
#include "function_support.h"
#include "expression/expression.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what the language means ---------------------------------------------------------------------- */

typedef struct example {
    const char *text;
    double value;
} example;

/* t = 0.5, x = 2. Tolerance: two units in the last place, for pi/180 and its like. */
static void check_examples(const example *examples, size_t count) {
    lw_arena *arena = lw_arena_create(NULL);
    const double at[2] = {0.5, 2};
    for (size_t i = 0; i < count; i++) {
        double value = lw_function_value(must_compile(arena, examples[i].text), at, NULL);
        if (!(fabs(value - examples[i].value) <= 2 * DBL_EPSILON * fabs(examples[i].value))) {
            fail_msg("\"%s\" is %.17g, not %.17g", examples[i].text, value, examples[i].value);
        }
    }
    lw_arena_destroy(arena);
}

static void test_precedence(void **state) {
    (void)state;
    const example examples[] = {
        {"1", 1},
        {".5", 0.5},
        {"1.", 1},
        {"1e-3", 1e-3},
        {"2.5E+2", 250},
        {" \t\n1\r ", 1},
        {"1 - 2 - 3", -4},
        {"8/4/2", 1},
        {"2 + 3*4", 14},
        {"(2 + 3)*4", 20},
        {"2*3^2", 18},
        {"2^3^2", 512},
        {"2**3**2", 512},
        {"-2^2", -4},
        {"(-2)^2", 4},
        {"2^-1", 0.5},
        {"-2^-2", -0.25},
        {"2*-3", -6},
        {"--5", 5},
        {"-+-5", 5},
        {"2^-3^2", 1.0 / 512},
        {"1 - -1", 2},
        {"1 + 2 < 4", 1},
        {"2 <= 2", 1},
        {"2 >= 3", 0},
        {"2 > 1", 1},
        {"1 == 1", 1},
        {"1 != 1", 0},
        {"1 or 0 and 0", 1},
        {"(1 or 0) and 0", 0},
        {"not 1 == 2", 1},
        {"not 0 and 0", 0},
        {"not not 3", 1},
        {"0 or not 0", 1},
        {"t < x and x < 3", 1},
        {"-t < 0", 1},
        {"2 + (not 0)", 3},
        {"pi", PI},
        {"e", 2.71828182845904523536},
        {"m*length + a", 2},
        {"t*x", 1},
        {"if(t < 1, 10, 20)", 10},
        {"if(x < 1, 10, 20)", 20},
        {"if(x == 2, 1, 1/(x - 2))", 1},
        {"min(3, 1, 2)", 1},
        {"max(3, 1, 2, 7)", 7},
        {"min(x, 1)", 1},
        {"hypot(3, 4)", 5},
        {"mod(7, 3)", 1},
        {"mod(-1, 3)", 2},
        {"mod(1, -3)", -2},
        {"mod(-7, -3)", -1},
        {"mod(1e300, 7)", fmod(1e300, 7)},
        {"floor(-1.5)", -2},
        {"ceil(-1.5)", -1},
        {"floor(1e300)", 1e300},
        {"sign(-3)", -1},
        {"sign(0)", 0},
        {"abs(-3)", 3},
        {"ramp(-3)", 0},
        {"ramp(3)", 3},
        {"cbrt(-27)", -3},
        {"log(e)", 1},
        {"log10(1000)", 3},
        {"atan2(1, -1)", 0.75 * PI},
        {"sqrt(2)", sqrt(2)},
        {"tan(1)", tan(1)},
        {"asin(1)", PI / 2},
        {"acos(-1)", PI},
        {"atan(1)", PI / 4},
        {"sinh(1)", sinh(1)},
        {"cosh(1)", cosh(1)},
        {"tanh(1)", tanh(1)},
        {"exp(1)", exp(1)},
        {"sin(1)", sin(1)},
        {"cos(1)", cos(1)},
        {"sin (1)", sin(1)},
        {"step(t, 0, 1, 1, 3)", 2},
        {"step(0.25, 0, 0, 1, 1)", 0.15625},
        {"step(-1, 0, 1, 1, 3)", 1},
        {"step(7, 0, 1, 1, 3)", 3},
        {"step5(0.25, 0, 0, 1, 1)", 0.103515625},
        {"step5(t, 0, 1, 1, 3)", 2},
        {"0.1", 0.1},
        {"123456789.123456789e-5", 1234.56789123456789},
        {"0e-400", 0},
        {"1e-310", 1e-310},
    };
    check_examples(examples, COUNT(examples));
}

static void test_units(void **state) {
    (void)state;
    static const example examples[] = {
        {"2 m", 2},
        {"2*m", 4},
        {"2m", 2},
        {"9 mm", 0.009},
        {"7 cm", 0.07},
        {"2 km", 2000},
        {"3 um", 3e-6},
        {"1 in", 0.0254},
        {"1 ft", 0.3048},
        {"30 deg", PI / 6},
        {"1 rev", 2 * PI},
        {"3000 rpm", 100 * PI},
        {"1 rad", 1},
        {"2 s", 2},
        {"5 ms", 0.005},
        {"5 us", 5e-6},
        {"2 min", 120},
        {"1 h", 3600},
        {"2 kg", 2},
        {"3 g", 0.003},
        {"3 mg", 3e-6},
        {"3 tonne", 3000},
        {"1 lb", 0.45359237},
        {"1 lbf", 4.4482216152605},
        {"5 N", 5},
        {"5 kN", 5000},
        {"5 MN", 5e6},
        {"5 mN", 0.005},
        {"5 Nm", 5},
        {"5 Nmm", 0.005},
        {"5 kNm", 5000},
        {"5 Ns", 5},
        {"5 Nms/rad", 5},
        {"5 Pa", 5},
        {"5 kPa", 5e3},
        {"5 MPa", 5e6},
        {"210 GPa", 210e9},
        {"2 bar", 2e5},
        {"5 J", 5},
        {"5 kJ", 5e3},
        {"5 W", 5},
        {"5 kW", 5e3},
        {"50 Hz", 50},
        {"5 N/mm", 5000},
        {"5 (N/m)", 5},
        {"(5 N)/m", 2.5},
        {"5 N/(mm/s)", 5000},
        {"3 N s/mm", 3000},
        {"3 N*s/mm", 3000},
        {"7.85 g/cm^3", 7850},
        {"7.85 g/cm**3", 7850},
        {"9.81 m/s^2", 9.81},
        {"9.81 m/s/s", 9.81},
        {"9.81 m s^-2", 9.81},
        {"36 km/h", 10},
        {"360 deg/s", 2 * PI},
        {"180 deg/s^2", PI},
        {"5 (N/mm)^2", 25e6 / 5},
        {"2 (1/ms)", 2000},
        {"2 ((N)/(mm))", 2000},
        {"x mm", 0.002},
        {"(1 + 2) mm", 0.003},
        {"length mm", 0.003},
        {"sqrt(4) mm", 0.002},
        {"-5 mm", -0.005},
        {"10 N/5 mm", 2000},
        {"10 N/(5 mm)", 2000},
        {"5 N/2", 2.5},
        {"5 mm*x", 0.01},
        {"5 N*(m + 1)", 15},
        {"5 m/min", 5.0 / 60},
        {"5 m/min(3, x)", 2.5},
        {"(3 mm)^2", 9e-6},
        {"3 mm^2", 3e-6},
        {"2 m < 3 m and 1", 1},
        {"2 mm and 1", 1},
        {"x*2 mm", 0.004},
        {"1/(2 mm)", 500},
        {"(1/2) mm", 0.0005},
        {"1 m/1 s", 1},
        {"2 m^0 mm", 0.002},
    };
    check_examples(examples, COUNT(examples));
}

/* One wrong expression, where the fault is, and words of the message and of the remedy. */
static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t offset;
        const char *message, *remedy;
    } errors[] = {
        {"", 0, "the expression is empty", "write a number"},
        {"  ", 0, "the expression is empty", "write a number"},
        {"2*lenght", 2, "unknown name \"lenght\"", "did you mean \"length\"?"},
        {"foo", 0, "unknown name \"foo\"", "names known here: t, x, m, length, a, zero, big, pi, e"},
        {"sine(1)", 0, "unknown function \"sine\"", "did you mean \"sin\"?"},
        {"frobnicate(1)", 0, "unknown function \"frobnicate\"", "functions are"},
        {"1 + sin", 4, "function \"sin\" has no arguments", "write sin(x)"},
        {"sin()", 0, "sin takes 1 argument, not 0", "write sin(x)"},
        {"sin(1, 2)", 0, "sin takes 1 argument, not 2", "write sin(x)"},
        {"1 + atan2(1)", 4, "atan2 takes 2 arguments, not 1", "write atan2(y, x)"},
        {"min(1)", 0, "min takes at least 2 arguments, not 1", "write min(a, b)"},
        {"max(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", 0, "max takes at most 16 arguments", "nest the calls"},
        {"if(1, 2)", 0, "if takes 3 arguments, not 2", "write if(condition, then, else)"},
        {"step(t, 1, 1, 0, 3)", 0, "x0 = 1 and x1 = 0: x0 must be less than x1", "swap them"},
        {"step5(t, 1, x, 1, x)", 0, "x0 = 1 and x1 = 1", "swap them"},
        {"1/0", 1, "division by zero", "check the parameters"},
        {"x/zero", 1, "division by zero", "check the parameters"},
        {"2 + mod(x, 0)", 4, "division by zero", "check the parameters"},
        {"sqrt(-1)", 0, "sqrt(-1) is not a real number", "sqrt needs an argument of 0 or more"},
        {"1 + log(0)", 4, "log(0) is infinite", "log needs an argument greater than 0"},
        {"log10(-1)", 0, "log10(-1) is not a real number", "greater than 0"},
        {"asin(2)", 0, "asin(2) is not a real number", "from -1 to 1"},
        {"acos(-2)", 0, "acos(-2) is not a real number", "from -1 to 1"},
        {"a^0.5", 1, "(-4)^0.5 is not a real number", "whole powers only"},
        {"0^-1", 1, "division by zero: 0^-1", "no negative power"},
        {"10^400", 2, "10^400 is too large", "1.8e308"},
        {"exp(1000)", 0, "exp(1000) is too large", "1.8e308"},
        {"1e308*10", 5, "1e+308*10 is too large", "1.8e308"},
        {"step(0.5, 0, -1e308, 1, 1e308)", 0, "too large", "1.8e308"},
        {"2 + 1e400", 4, "number 1e400 is too large", "1.8e308"},
        {"1e99999999999999999999", 0, "is too large", "1.8e308"},
        {"1e-400", 0, "number 1e-400 is too small", "write 0"},
        {"big", 0, "\"big\" has no finite value", "finite"},
        {"1e300 km km km", 6, "the value in SI units is too large", "1.8e308"},
        {"1..2", 2, "unexpected \".\"", "one decimal point"},
        {".", 0, "unexpected \".\" where a number", "write a number"},
        {"1,5", 1, "unexpected \",\"", "decimals take a point"},
        {"inf", 0, "\"inf\" is not a number", "finite number"},
        {"1 + nan", 4, "\"nan\" is not a number", "finite number"},
        {"1 = 2", 2, "\"=\" is not an operator", "=="},
        {"1 && 2", 2, "\"&\" is not an operator", "write and"},
        {"1 || 2", 2, "\"|\" is not an operator", "write or"},
        {"!1", 0, "\"!\" is not an operator", "write not"},
        {"5 % 2", 2, "\"%\" is not an operator", "mod(a, b)"},
        {"1 < 2 == 1", 6, "comparisons cannot be chained", "a < b and b < c"},
        {"1 < 2 < 3", 6, "comparisons cannot be chained", "a < b and b < c"},
        {"2*(1", 2, "\"(\" is never closed", "close it"},
        {"sin(1", 3, "\"(\" is never closed", "close it"},
        {"(1))", 3, "\")\" without \"(\"", "remove it"},
        {"(1, 2)", 2, "unexpected \",\"", "comma"},
        {"1 +", 3, "the expression ends where", "complete it"},
        {"* 2", 0, "unexpected \"*\" where a number", "write a number"},
        {"()", 1, "unexpected \")\" where a number", "write a number"},
        {"1 + and 2", 4, "unexpected \"and\" where a number", "write a number"},
        {"3 + not 1", 4, "\"not\" behind an operator", "(not ...)"},
        {"1 $ 2", 2, "unexpected \"$\"", "remove it"},
        {"2 \xC3\x97 3", 2, "character \"\xC3\x97\" has no meaning", "plain names"},
        {"2 \xC3", 2, "character \"\\xC3\" has no meaning", "plain names"},
        {"\xFF\xFE", 0, "character \"\\xFF\" has no meaning", "plain names"},
        {"1 \x01", 2, "character \"\\x01\" has no meaning", "plain names"},
        {"2 x", 2, "an operator is missing before \"x\"", "*"},
        {"2 sin(x)", 2, "an operator is missing before \"sin\"", "*"},
        {"2 (x + 1)", 2, "an operator is missing before \"(\"", "*"},
        {"x(2)", 1, "an operator is missing before \"(\"", "*"},
        {"2 3", 2, "an operator is missing before \"3\"", "*"},
        {"2 e", 2, "an operator is missing before \"e\"", "*"},
        {"2 mmm", 2, "unknown unit \"mmm\"", "did you mean \"mm\"?"},
        {"0x10", 1, "unknown unit \"x10\"", "units are"},
        {"5 N foo", 4, "unknown unit \"foo\"", "units are"},
        {"1 + mm", 4, "unit \"mm\" stands alone", "(1 mm)"},
        {"5 N/m", 4, "\"m\" is a unit and a name here", "(5 N)/m has the name and 5 (N/m) the unit"},
        {"5 N/(m/s)", 5, "\"m\" is a unit and a name here", "(5 N)/m"},
        {"5 N*m", 4, "\"m\" is a unit and a name here", "(5 N)/m"},
        {"5 N/mm s", 7, "behind a quotient of units", "N/(m s)"},
        {"2 m^x", 3, "exponent must be a whole number", "(2 m)^x"},
        {"2 m^0.5", 3, "exponent must be a whole number", "(2 m)^x"},
        {"2 kg/s^12", 6, "exponent must be a whole number", "(2 m)^x"},
        {"2 m^2^3", 5, "power of a value with a unit", "(2 m^2)^3"},
        {"2^3 mm", 4, "a unit behind a power", "(2^3) mm"},
        {"1/2 mm", 4, "a quotient with a unit behind it", "(1/2) mm or 1/(2 mm)"},
    };
    lw_arena *arena = lw_arena_create(NULL);
    for (size_t i = 0; i < COUNT(errors); i++) {
        lw_syntax syntax;
        memset(&syntax, 'z', sizeof syntax);
        if (compile(arena, errors[i].text, &syntax)) fail_msg("\"%s\" was accepted", errors[i].text);
        assert_non_null(memchr(syntax.message, 0, sizeof syntax.message));
        assert_non_null(memchr(syntax.remedy, 0, sizeof syntax.remedy));
        if (syntax.offset != errors[i].offset || !strstr(syntax.message, errors[i].message) ||
            !strstr(syntax.remedy, errors[i].remedy)) {
            fail_msg("\"%s\": offset %zu: %s; %s", errors[i].text, syntax.offset, syntax.message,
                     syntax.remedy);
        }
        assert_null(compile(arena, errors[i].text, NULL));
    }
    lw_syntax syntax;
    assert_null(compile(arena, NULL, &syntax));
    lw_arena_destroy(arena);
}

/* Suggestions look at all names, also if there are more than one round of them. */
static void test_suggestion_among_many(void **state) {
    (void)state;
    enum { MANY = 200 };
    char names[MANY][16];
    lw_constant many[MANY];
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], i == 70 ? "stiffness" : "q%dz%dk", i, 7 * i);
        many[i] = (lw_constant){.name = names[i], .value = i};
    }
    double value;
    lw_syntax syntax;
    assert_false(lw_number("2*stifness", many, MANY, &value, &syntax));
    assert_string_equal(syntax.remedy, "did you mean \"stiffness\"?");
    assert_true(lw_number("stiffness", many, MANY, &value, &syntax));
    assert_true(value == 70);
    assert_false(lw_number("unrelated_word", many, MANY, &value, &syntax));
    assert_non_null(strstr(syntax.remedy, ", ..."));
}

/* --- limits and hostile text ---------------------------------------------------------------------- */

/* head repeated, then middle, then tail repeated. */
static char *repeat(const char *head, const char *middle, const char *tail, size_t count) {
    size_t size = count * (strlen(head) + strlen(tail)) + strlen(middle) + 1;
    char *text = malloc(size), *end = text;
    assert_non_null(text);
    for (size_t i = 0; i < count; i++) end += sprintf(end, "%s", head);
    end += sprintf(end, "%s", middle);
    for (size_t i = 0; i < count; i++) end += sprintf(end, "%s", tail);
    return text;
}

static void test_limits(void **state) {
    (void)state;
    static const struct {
        const char *head, *middle, *tail;
        size_t count;
        const char *message; /* NULL: fine */
    } cases[] = {
        {"(", "x", ")", 150, NULL},
        {"(", "x", ")", 100000, "nested more than 200 deep"},
        {"-", "x", "", 150, NULL},
        {"-", "x", "", 100000, "nested more than 200 deep"},
        {"not ", "x", "", 100000, "nested more than 200 deep"},
        {"2^", "x", "", 100000, "more than 64 intermediate results"},
        {"sin(", "x", ")", 100000, "nested more than 200 deep"},
        {"x+(", "x", ")", 60, NULL},
        {"x+(", "x", ")", 70, "more than 64 intermediate results"},
        {"x + ", "x", "", 1000, NULL},
        {"x + ", "x", "", 1100, "too long (more than 2048 operations)"},
        {"1 + ", "1", "", 100000, NULL},
        {"", "1", "0", 300, NULL},
        {"0", "1", "0", 500, "too many digits"},
        {"0.", "1", "", 100000, "unexpected \".\""},
        {"", "2 m", " m", 100000, NULL},
        {"", "2 m", " km", 100000, "too large"},
        {"", "2 m", "/(s", 100000, "unit \"s\" stands alone"},
        {"", "2 ", "(m", 100000, "an operator is missing"},
        {"abcdefghij", "", "", 10000, "unknown name \"abcdefghijabcdefghijabcdefghijabcdefghij\""},
        {"1 ", "", "abcdefghij", 10000, "an operator is missing before \"1\""},
        {" ", "1", " ", 100000, NULL},
    };
    lw_arena *arena = lw_arena_create(NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = repeat(cases[i].head, cases[i].middle, cases[i].tail, cases[i].count);
        lw_syntax syntax = {0};
        lw_function *f = compile(arena, text, &syntax);
        if ((f != NULL) != (cases[i].message == NULL) || (!f && !strstr(syntax.message, cases[i].message))) {
            fail_msg("case %zu: %s", i, f ? "accepted" : syntax.message);
        }
        if (f) {
            assert_true(isfinite(lw_function_value(f, (double[]){0.5, 0.25}, NULL)));
        } else {
            assert_true(syntax.offset <= strlen(text));
        }
        free(text);
    }
    lw_arena_destroy(arena);
}

/* Random bytes, and random sequences of the language's own words: no crash, no undefined behaviour, errors
 * within the text, and what is accepted evaluates to the same value as its jet. */
static void test_hostile_text(void **state) {
    (void)state;
    static const char *const words[] = {
        "1",    "2.5",  "x",   "t",     "m",      "length", "(",     ")",    ",",   "+",   "-",
        "*",    "/",    "^",   "**",    "<",      "<=",     "==",    "!=",   "and", "or",  "not",
        "sin(", "min(", "if(", "step(", "atan2(", "mm",     "N",     "s",    "deg", " ",   " ",
        "0",    "e",    "pi",  "1e9",   ".",      "mod(",   "sqrt(", "\xC3", "=",   "min", "log("};
    lw_random random = random_seed(20240607);
    int accepted = 0;
    for (int round = 0; round < 40000; round++) {
        lw_arena *arena = lw_arena_create(NULL);
        char text[256];
        size_t length = 0;
        uint64_t start = random.state;
        int count = 1 + random_below(&random, 14);
        for (int i = 0; i < count; i++) {
            if (round % 4 == 0) {
                text[length++] = (char)(1 + random_below(&random, 255));
            } else {
                const char *w = words[random_below(&random, (int)COUNT(words))];
                memcpy(text + length, w, strlen(w));
                length += strlen(w);
            }
        }
        text[length] = '\0';
        /* In a block of exactly its size, so that the address sanitizer sees every step beyond its end. */
        char *exact = malloc(length + 1);
        assert_non_null(exact);
        memcpy(exact, text, length + 1);
        lw_syntax syntax = {.offset = 1000};
        lw_function *f = compile(arena, exact, &syntax);
        free(exact);
        if (f) {
            accepted++;
            double value = lw_function_value(f, (double[]){0.5, 2}, NULL);
            lw_jet jet = lw_function_jet(f, (lw_jet[]){{0.5, 1, 0}, {2, 3, 4}}, NULL);
            if (!(value == jet.f || (isnan(value) && isnan(jet.f)))) {
                fail_msg("\"%s\" (state %llu): value %g, jet %g", text, (unsigned long long)start, value,
                         jet.f);
            }
            if (lw_function_is_constant(f)) assert_true(isfinite(value));
        } else if (syntax.offset > length || syntax.message[0] == '\0' || syntax.remedy[0] == '\0') {
            fail_msg("\"%s\" (state %llu): offset %zu, \"%s\"", text, (unsigned long long)start,
                     syntax.offset, syntax.message);
        }
        lw_arena_destroy(arena);
    }
    assert_true(accepted > 500); /* else the loop tests nothing but errors */
}

static void test_locale(void **state) {
    (void)state;
    const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (size_t i = 0; i < COUNT(locales); i++) (void)setlocale(LC_NUMERIC, locales[i]);
    double value;
    assert_true(lw_number("12.5e3", NULL, 0, &value, NULL));
    assert_true(value == 12500);
    (void)setlocale(LC_NUMERIC, "C");
}

static void test_words_and_constants(void **state) {
    (void)state;
    static const char *const reserved[] = {"sin", "if",  "step5", "pi",  "e",   "and", "or", "not", "inf",
                                           "nan", "deg", "mm",    "rpm", "min", "kg",  "Nm", "in"};
    static const char *const open[] = {"m", "s", "g", "h", "N", "J", "W", "L", "k", "E", "length", "sine"};
    for (size_t i = 0; i < COUNT(reserved); i++) assert_non_null(lw_name_taken(reserved[i]));
    for (size_t i = 0; i < COUNT(open); i++) assert_null(lw_name_taken(open[i]));
    assert_true(lw_name_taken("t") && lw_name_taken("x")); /* variables of laws */

    lw_arena *arena = lw_arena_create(NULL);
    lw_function *f = must_compile(arena, "2*m + sin(pi/6)*(30 deg)^2 - if(1 < 2, length, a)");
    assert_true(lw_function_is_constant(f));
    assert_false(lw_function_uses(f, 0) || lw_function_uses(f, 1));
    f = must_compile(arena, "2*x + m");
    assert_false(lw_function_is_constant(f));
    assert_false(lw_function_uses(f, 0));
    assert_true(lw_function_uses(f, 1));
    assert_false(lw_function_uses(f, 99));

    /* A variable hides a constant; every single-letter unit can be a parameter. */
    lw_constant letters[] = {{.name = "m", .value = 2},  {.name = "s", .value = 3},
                             {.name = "g", .value = 5},  {.name = "h", .value = 7},
                             {.name = "N", .value = 11}, {.name = "J", .value = 13},
                             {.name = "W", .value = 17}, {.name = "x", .value = 19}};
    f = lw_function_compile(arena, "m*s*g*h*N*J*W*x",
                            &(lw_expression_names){.constants = letters,
                                                   .constant_count = COUNT(letters),
                                                   .variables = variables,
                                                   .variable_count = 2},
                            NULL);
    assert_non_null(f);
    assert_true(lw_function_value(f, (double[]){0, 0.5}, NULL) == 510510.0 / 2);

    lw_syntax syntax;
    const char *const five[] = {"a", "b", "c", "d", "f"};
    assert_null(lw_function_compile(arena, "a",
                                    &(lw_expression_names){.variables = five, .variable_count = 5}, &syntax));
    double value = 0;
    assert_true(lw_number("2*length + 30 deg", constants, COUNT(constants), &value, &syntax));
    assert_true(fabs(value - 6 - PI / 6) < 1e-15);
    assert_false(lw_number("2*t", constants, COUNT(constants), &value, &syntax));
    lw_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence), cmocka_unit_test(test_units),
        cmocka_unit_test(test_errors),     cmocka_unit_test(test_suggestion_among_many),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_hostile_text),
        cmocka_unit_test(test_locale),     cmocka_unit_test(test_words_and_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

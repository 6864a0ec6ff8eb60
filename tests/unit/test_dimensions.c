/* test_dimensions.c - what expressions measure, and what does not go together.
 *
 * Three ways: a table of sentences that people write; random expressions made for a dimension, which must have it, and
 * which must be refused or have another one when one unit in them is exchanged; the operations one by one.
 */
#include "expression/function.h"
#include "expression/expression.h"
#include "expression/units.h"
#include "random_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const names[] = {"x", "v", "t"};

/* The text as a value of this quantity, with parameters and the variables of a spring's law. */
static lw_fitness judge(const char *text, lw_quantity quantity, bool *refused) {
    lw_constant constants[8];
    static const struct {
        const char *name, *text;
    } given[] = {{"m", "3 mm"}, {"L", "2 m"}, {"k", "45 N/mm"}, {"w", "2 rad/s"},
                 {"M", "2 kg"}, {"n", "4"},   {"a", "30 deg"}};
    for (size_t k = 0; k < COUNT(given); k++) {
        constants[k] = (lw_constant){.name = given[k].name, .text = given[k].text};
        assert_true(lw_number_meaning(given[k].text, &(lw_expression_names){.constants = NULL},
                                      &constants[k].value, &constants[k].meaning, NULL));
        if (constants[k].meaning.kind == LW_MEANING_NUMBER) constants[k].meaning.kind = LW_MEANING_UNKNOWN;
    }
    const lw_meaning variables[] = {lw_quantity_meaning(LW_LENGTH, LW_MEANING_VARIABLE),
                                    lw_quantity_meaning(LW_SPEED, LW_MEANING_VARIABLE),
                                    lw_quantity_meaning(LW_TIME, LW_MEANING_VARIABLE)};
    const lw_expression_names all = {.constants = constants,
                                     .constant_count = COUNT(given),
                                     .variables = names,
                                     .variable_count = 3,
                                     .variable_measures = variables};
    lw_instruction code[LW_EXPRESSION_LENGTH];
    lw_meaning meaning;
    lw_syntax syntax;
    size_t length = lw_expression_compile(text, &all, code, &meaning, &syntax);
    *refused = length == 0;
    if (*refused) return LW_DOES_NOT_FIT;
    bool uses_time = false;
    for (size_t k = 0; k < length; k++)
        uses_time = uses_time || (code[k].op == LW_OP_VARIABLE && code[k].variable == 2);
    return lw_meaning_fit(&meaning, quantity, uses_time);
}

static void sentences(void **state) {
    (void)state;
    static const struct {
        const char *text;
        lw_quantity quantity;
        lw_fitness fitness;
    } cases[] = {
        /* parameters keep their dimension */
        {"m", LW_MASS, LW_DOES_NOT_FIT},
        {"m", LW_LENGTH, LW_FITS},
        {"-m", LW_MASS, LW_DOES_NOT_FIT},
        {"m + 1", LW_MASS, LW_DOES_NOT_FIT},
        {"n + m", LW_MASS, LW_DOES_NOT_FIT},
        {"n", LW_MASS, LW_FITS},
        {"m*L", LW_LENGTH, LW_DOES_NOT_FIT},
        {"M*L^2", LW_INERTIA, LW_FITS},
        {"M*L^2", LW_MASS, LW_DOES_NOT_FIT},
        {"sqrt(k/M)", LW_ANGULAR_SPEED, LW_FITS},
        {"sqrt(k/M)", LW_TIME, LW_DOES_NOT_FIT},
        {"cbrt(L*L*m)", LW_LENGTH, LW_FITS},
        {"hypot(m, L)", LW_FORCE, LW_DOES_NOT_FIT},
        {"M/(7850 (kg/m^3))", LW_LENGTH, LW_DOES_NOT_FIT},
        {"k*L*w", LW_POWER, LW_DOES_NOT_FIT},
        {"k*L^2*w", LW_POWER, LW_FITS},
        {"a", LW_MASS, LW_DOES_NOT_FIT},
        {"a", LW_ANGLE, LW_FITS},
        {"L*a", LW_LENGTH, LW_FITS},
        {"L/a", LW_LENGTH, LW_FITS},
        {"a", LW_PLAIN_NUMBER, LW_FITS},
        {"L", LW_PLAIN_NUMBER, LW_DOES_NOT_FIT},
        /* torque and energy, angular speed and frequency are one */
        {"5 J", LW_TORQUE, LW_FITS},
        {"5 Nm/rad", LW_TORQUE, LW_FITS},
        {"3 Hz", LW_ANGULAR_SPEED, LW_FITS},
        {"5 mm/rev", LW_LENGTH, LW_IS_PER_ANGLE},
        /* plain numbers and ratios fit anything */
        {"m/L", LW_MASS, LW_FITS},
        {"sin(a)", LW_MASS, LW_FITS},
        {"M*sin(a)", LW_MASS, LW_FITS},
        {"pi*M", LW_MASS, LW_FITS},
        {"pi*m", LW_MASS, LW_DOES_NOT_FIT},
        {"n*m", LW_MASS, LW_FITS},
        {"9.81*M", LW_FORCE, LW_FITS},
        {"2*m", LW_MASS, LW_MAY_FIT},
        {"m/2", LW_STIFFNESS, LW_MAY_FIT},
        {"2*M", LW_MASS, LW_FITS},
        {"M/12", LW_INERTIA, LW_FITS},
        {"1/w", LW_TIME, LW_FITS},
        {"1/w", LW_MASS, LW_DOES_NOT_FIT},
        {"L^2/12", LW_INERTIA, LW_FITS},
        /* laws */
        {"k*x", LW_FORCE, LW_FITS},
        {"m*x", LW_FORCE, LW_DOES_NOT_FIT},
        {"-100*x - 3*v", LW_FORCE, LW_FITS},
        {"k*x + n*v", LW_FORCE, LW_FITS},
        {"k*(x - m)", LW_FORCE, LW_FITS},
        {"x", LW_FORCE, LW_FITS},
        {"5 N*sin(w*t)", LW_FORCE, LW_FITS},
        {"5 N*sin(t)", LW_FORCE, LW_FITS},
        {"5 N*t", LW_FORCE, LW_MAY_FIT},
        {"30 deg*t", LW_ANGLE, LW_FITS},
        {"5 m*x", LW_FORCE, LW_DOES_NOT_FIT},
        {"5 N*exp(-t/(2 s))", LW_FORCE, LW_FITS},
        {"if(t < 2 s, 3 N, 0)", LW_FORCE, LW_FITS},
        {"if(t < 2 s, 3 N, 0)", LW_MASS, LW_DOES_NOT_FIT},
        {"step(t, 0, 0, 1 s, 5 N)", LW_FORCE, LW_FITS},
        {"step(x, 0, 0, m, 5 N)", LW_TORQUE, LW_DOES_NOT_FIT},
        {"5 N*sign(v)", LW_FORCE, LW_FITS},
        {"5 N*tanh(v/(1 mm/s))", LW_FORCE, LW_FITS},
        {"5 N*tanh(v/0.01)", LW_FORCE, LW_FITS},
        {"k*ramp(x - 2 mm)", LW_FORCE, LW_FITS},
        {"5 N*sin(t + 30 deg)", LW_FORCE, LW_FITS},
        {"k*x^3", LW_FORCE, LW_FITS},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool refused;
        lw_fitness fitness = judge(cases[i].text, cases[i].quantity, &refused);
        if (refused || fitness != cases[i].fitness)
            fail_msg("%s as %s: %d, not %d%s", cases[i].text, lw_quantity_name(cases[i].quantity),
                     (int)fitness, (int)cases[i].fitness, refused ? ", refused" : "");
    }
    static const char *const refusals[] = {
        "m + M",
        "M - a",
        "min(m, M)",
        "hypot(L, w)",
        "L < M",
        "2^L",
        "sin(L)",
        "exp(M)",
        "log(k)",
        "atan2(L, M)",
        "mod(L, 2 s)",
        "t - 3 mm",
        "x + M",
        "if(1, L, M)",
        "sin(k*t)",
        "max(1, L, 3, M)",
        "k*x + L*v",
        "step(t, 0, 0, 1 m, 5 N)",
        "(L + M)*0",
        "step(t, 0, L, 1 s, M)",
        "step(1, 1 s, 0, 2 m, 1)",
        "(L*M)^2 + 1 kg",
        "L == M or 1",
    };
    for (size_t i = 0; i < COUNT(refusals); i++) {
        bool refused;
        (void)judge(refusals[i], LW_ANY_QUANTITY, &refused);
        if (!refused) fail_msg("%s is accepted", refusals[i]);
    }
}

/* --- random expressions ----------------------------------------------------------------------------- */

typedef struct draft {
    char text[2000];
    size_t length;
    int leaves, exchanged; /* units so far; the one that is exchanged, -1: none */
} draft;

static void put(draft *d, const char *text) {
    size_t length = strlen(text);
    if (d->length + length < sizeof d->text) memcpy(d->text + d->length, text, length + 1);
    d->length += length;
}

/* An expression of dimension m^e[0] kg^e[1] s^e[2]. */
static void write_random(draft *d, lw_random *random, int depth, const int e[3]) {
    int choice = depth == 0 ? 0 : random_below(random, 8);
    int f[3], g[3];
    char leaf[96];
    for (int k = 0; k < 3; k++) {
        f[k] = random_below(random, 5) - 2;
        g[k] = e[k] - f[k];
    }
    if (choice == 0) {
        static const char *const lengths[] = {"m", "mm", "in"}, *const masses[] = {"kg", "g", "lb"},
                                 *const times[] = {"s", "ms", "min"};
        int exchange = d->leaves++ == d->exchanged;
        if (exchange && e[0] == -1 && e[1] == 0 && e[2] == 0) exchange = 2; /* a plain number would fit */
        snprintf(leaf, sizeof leaf, "%d (%s^%d %s^%d %s^%d)", 1 + random_below(random, 9),
                 lengths[random_below(random, 3)], e[0] + exchange, masses[random_below(random, 3)], e[1],
                 times[random_below(random, 3)], e[2]);
        put(d, leaf);
    } else if (choice <= 2) { /* a product or quotient */
        put(d, "(");
        write_random(d, random, depth - 1, f);
        put(d, choice == 1 ? ")*(" : ")/(1/(");
        write_random(d, random, depth - 1, g);
        put(d, choice == 1 ? ")" : "))");
    } else if (choice <= 4) { /* a sum, with a number that fits */
        put(d, "(");
        write_random(d, random, depth - 1, e);
        put(d, choice == 3 ? " + " : " + 0.7 - ");
        write_random(d, random, depth - 1, e);
        put(d, ")");
    } else if (choice == 5) {
        put(d, "sqrt(abs(");
        write_random(d, random, depth - 1, e);
        put(d, "))*sqrt(abs(");
        write_random(d, random, depth - 1, e);
        put(d, "))");
    } else if (choice == 6) {
        put(d, "max(");
        write_random(d, random, depth - 1, e);
        put(d, ", 1, ");
        write_random(d, random, depth - 1, e);
        put(d, ")");
    } else {
        put(d, "if(2 < 3, ");
        write_random(d, random, depth - 1, e);
        put(d, ", ");
        write_random(d, random, depth - 1, e);
        put(d, ")");
    }
}

/* The expression of a seed and its dimension; unit number `exchanged` of it is another one. */
static draft draw(uint64_t seed, int exchanged, int e[3]) {
    lw_random random = random_seed(seed);
    draft d = {.exchanged = exchanged};
    e[0] = random_below(&random, 4) - 1;
    e[1] = 1 - 2 * random_below(&random, 2); /* never a plain number */
    e[2] = random_below(&random, 4) - 2;
    write_random(&d, &random, 3, e);
    return d;
}

static void random_expressions(void **state) {
    (void)state;
    int exchanged = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        int e[3];
        draft d = draw(seed, -1, e);
        const lw_meaning wanted = {LW_MEANING_SURE, false, e[0], e[1], e[2], 0};
        double value;
        lw_meaning meaning;
        lw_syntax syntax;
        if (d.length >= sizeof d.text) continue;
        if (!lw_number_meaning(d.text, &(lw_expression_names){.constants = NULL}, &value, &meaning,
                               &syntax)) {
            /* a difference may be 0, an exponent above 9: no matter of dimensions */
            if (strstr(syntax.message, "division by zero") || strstr(syntax.message, "unit's exponent"))
                continue;
            fail_msg("seed %d: %s: %s", (int)seed, d.text, syntax.message);
        }
        if (meaning.kind != LW_MEANING_SURE || !lw_meaning_same(&meaning, &wanted))
            fail_msg("seed %d: %s has another dimension", (int)seed, d.text);

        for (int leaf = 0; leaf < d.leaves; leaf++, exchanged++) {
            draft other = draw(seed, leaf, e);
            if (lw_number_meaning(other.text, &(lw_expression_names){.constants = NULL}, &value, &meaning,
                                  NULL) &&
                lw_meaning_same(&meaning, &wanted))
                fail_msg("seed %d: %s and %s have one dimension", (int)seed, d.text, other.text);
        }
    }
    assert_true(exchanged > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences),
        cmocka_unit_test(random_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* fuzz_expression.c - any bytes as an expression: compile, evaluate, differentiate, integrate.
 *
 * What must hold, besides no crash, no leak, no undefined behaviour and no hang:
 *   - a text that is refused gets a message and an offset inside the text;
 *   - the value by jets is the value, to the last bit; constants are constant;
 *   - the integral from a to a is zero;
 *   - a number that lw_number accepts is finite.
 */
#include "demand.h"
#include "expression/function.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const lw_constant constants[] = {{.name = "L", .value = 1.5},
                                        {.name = "m", .value = 2},
                                        {.name = "k_1", .value = -1e3},
                                        {.name = "zero", .value = 0},
                                        {.name = "big", .value = 1e200}};
static const char *const variables[] = {"x", "v", "t"};
enum { CONSTANTS = sizeof constants / sizeof *constants, VARIABLES = sizeof variables / sizeof *variables };

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void evaluate(const lw_function *function) {
    static const double points[][VARIABLES] = {{0, 0, 0}, {0.3, -2, 1}, {-1, 1e-9, 5}, {1e9, -1e300, 0.5}};
    double first = lw_function_value(function, points[0], NULL);
    for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
        lw_jet jets[VARIABLES];
        for (size_t i = 0; i < VARIABLES; i++) jets[i] = (lw_jet){points[k][i], i == 2, 0};
        double value = lw_function_value(function, points[k], NULL);
        DEMAND(same(value, lw_function_jet(function, jets, NULL).f));
        if (lw_function_is_constant(function)) DEMAND(same(value, first) && isfinite(value));
    }
    DEMAND(lw_function_integral(function, 0.5, 0.5, points[1]) == 0);
    (void)lw_function_integral(function, -1, 2, points[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    lw_arena *arena = lw_arena_create(NULL);
    DEMAND(text && arena);
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';

    lw_syntax syntax = {.offset = SIZE_MAX};
    lw_function *function = lw_function_compile(arena, text,
                                                &(lw_expression_names){.constants = constants,
                                                                       .constant_count = CONSTANTS,
                                                                       .variables = variables,
                                                                       .variable_count = VARIABLES},
                                                &syntax);
    if (function) {
        evaluate(function);
    } else {
        DEMAND(syntax.offset <= strlen(text) && syntax.message[0]);
    }
    double number;
    syntax = (lw_syntax){.offset = SIZE_MAX};
    if (lw_number(text, constants, CONSTANTS, &number, &syntax)) {
        DEMAND(isfinite(number));
    } else {
        DEMAND(syntax.offset <= strlen(text) && syntax.message[0]);
    }
    lw_arena_destroy(arena);
    free(text);
    return 0;
}

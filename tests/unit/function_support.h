/* function_support.h - for the tests of expressions and of the machine that evaluates them: constants, variables and a
 * compiler call that must succeed.
 */
#ifndef LW_TEST_FUNCTION_SUPPORT_H
#define LW_TEST_FUNCTION_SUPPORT_H

#include "expression/function.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#define PI 3.14159265358979323846
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const lw_constant constants[] = {{.name = "m", .value = 2},
                                        {.name = "length", .value = 3},
                                        {.name = "a", .value = -4},
                                        {.name = "zero", .value = 0},
                                        {.name = "big", .value = INFINITY}};
static const char *const variables[] = {"t", "x"};

static inline lw_function *compile(lw_arena *arena, const char *text, lw_syntax *syntax) {
    return lw_function_compile(arena, text,
                               &(lw_expression_names){.constants = constants,
                                                      .constant_count = COUNT(constants),
                                                      .variables = variables,
                                                      .variable_count = 2},
                               syntax);
}

static inline lw_function *must_compile(lw_arena *arena, const char *text) {
    lw_syntax syntax;
    lw_function *f = compile(arena, text, &syntax);
    if (!f) fail_msg("\"%s\": offset %zu: %s; %s", text, syntax.offset, syntax.message, syntax.remedy);
    return f;
}

#endif

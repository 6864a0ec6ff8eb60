/* dimensions.c - the rule of every operation for dimensions; meaning.c has the algebra.
 *
 * Sums, comparisons and similar operations need equal dimensions; sines, logarithms and exponents need
 * operands without dimension; the others follow from products and powers. floor, ceil and ramp keep the
 * dimension.
 */
#include "expression/dimensions.h"

#include "expression/units.h"

#include <stdio.h>

static bool differ(lw_op op, const lw_meaning *a, const lw_meaning *b, lw_syntax *syntax) {
    char one[64], other[64];
    const char *verb = op == LW_OP_ADD                             ? "cannot be added"
                       : op == LW_OP_SUBTRACT                      ? "cannot be subtracted from each other"
                       : op >= LW_OP_LESS && op <= LW_OP_NOT_EQUAL ? "cannot be compared"
                                                                   : "do not go together";
    if (!syntax) return false;
    lw_meaning_name(a, one, sizeof one);
    lw_meaning_name(b, other, sizeof other);
    (void)snprintf(syntax->message, sizeof syntax->message, "%s and %s %s", one, other, verb);
    (void)snprintf(syntax->remedy, sizeof syntax->remedy,
                   "check the units; a number without unit fits anything");
    return false;
}

static bool not_plain(lw_op op, const lw_meaning *a, lw_syntax *syntax) {
    char name[64];
    if (!syntax) return false;
    lw_meaning_name(a, name, sizeof name);
    (void)snprintf(syntax->message, sizeof syntax->message, "the %s is %s",
                   op == LW_OP_POWER ? "exponent" : "argument", name);
    (void)snprintf(syntax->remedy, sizeof syntax->remedy,
                   "%s is wanted there; divide by a value of the same dimension",
                   op >= LW_OP_SIN && op <= LW_OP_TAN ? "an angle or a plain number" : "a plain number");
    return false;
}

/* Replaces operand i by the meaning of the sum of operands i and j. */
static bool sum(lw_op op, lw_meaning *operands, int i, int j, lw_syntax *syntax) {
    lw_meaning result;
    if (!lw_meaning_sum(&operands[i], &operands[j], &result))
        return differ(op, &operands[i], &operands[j], syntax);
    operands[0] = result;
    return true;
}

bool lw_meaning_operation(lw_op op, lw_meaning *operands, const double *last, lw_syntax *syntax) {
    static const lw_meaning ratio = {.kind = LW_MEANING_RATIO}, unknown = {.kind = LW_MEANING_UNKNOWN};
    const lw_meaning x = operands[0];
    bool good = true;
    switch (op) {
    case LW_OP_CONSTANT:
    case LW_OP_VARIABLE:
    case LW_OP_INPUT:
    case LW_OP_TABLE: /* The compiler knows what its argument and value measure. */
    case LW_OP_NEGATE:
    case LW_OP_ABS:
    case LW_OP_FLOOR:
    case LW_OP_CEIL:
    case LW_OP_RAMP:
        return true;

    case LW_OP_MULTIPLY:
        operands[0] = lw_meaning_product(&x, &operands[1], 1);
        return true;
    case LW_OP_DIVIDE:
        operands[0] = lw_meaning_product(&x, &operands[1], -1);
        return true;
    case LW_OP_SQRT:
        operands[0] = lw_meaning_power(&x, 0.5);
        return true;
    case LW_OP_CBRT:
        operands[0] = lw_meaning_power(&x, 1.0 / 3);
        return true;
    case LW_OP_POWER:
        if (!lw_meaning_is_plain(&operands[1])) return not_plain(op, &operands[1], syntax);
        operands[0] = last ? lw_meaning_power(&x, *last) : lw_meaning_is_known(&x) ? unknown : x;
        return true;

    case LW_OP_ADD:
    case LW_OP_SUBTRACT:
    case LW_OP_HYPOT:
    case LW_OP_MOD:
    case LW_OP_MIN:
    case LW_OP_MAX:
        return sum(op, operands, 0, 1, syntax);
    case LW_OP_IF:
        return sum(op, operands, 1, 2, syntax);
    case LW_OP_STEP: /* x, x0, h0, x1, h1 */
    case LW_OP_STEP5:
        good = sum(op, operands, 1, 3, syntax);
        operands[1] = operands[0];
        operands[0] = x;
        return good && sum(op, operands, 0, 1, syntax) && sum(op, operands, 2, 4, syntax);

    case LW_OP_LESS:
    case LW_OP_LESS_EQUAL:
    case LW_OP_GREATER:
    case LW_OP_GREATER_EQUAL:
    case LW_OP_EQUAL:
    case LW_OP_NOT_EQUAL:
    case LW_OP_ATAN2:
        good = sum(op, operands, 0, 1, syntax);
        operands[0] = ratio;
        return good;

    case LW_OP_SIGN:
    case LW_OP_NOT:
    case LW_OP_AND:
    case LW_OP_OR:
        operands[0] = ratio;
        return true;
    case LW_OP_SIN:
    case LW_OP_COS:
    case LW_OP_TAN:
    case LW_OP_ASIN:
    case LW_OP_ACOS:
    case LW_OP_ATAN:
    case LW_OP_SINH:
    case LW_OP_COSH:
    case LW_OP_TANH:
    case LW_OP_EXP:
    case LW_OP_LOG:
    case LW_OP_LOG10:
        operands[0] = ratio;
        return lw_meaning_is_plain(&x) || not_plain(op, &x, syntax);
    }
    return true;
}

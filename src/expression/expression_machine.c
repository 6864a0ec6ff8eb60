/* expression_machine.c - runs compiled expressions, on numbers and on jets.
 *
 * A jet (f, f', f'') is a value with its first and second derivative along a curve s. For a function g of one
 * operand u:  f' = g1 u',  f'' = g1 u'' + g2 u'^2  with g1 = dg/du, g2 = d2g/du2; products, quotients, powers
 * and functions of two operands have their own rules below. Nothing is approximated.
 *
 * Where a value exists but a derivative does not (abs, sign, floor, ramp, min, max, if, hypot and comparisons
 * at their kinks; sqrt, cbrt at 0, asin, acos at +-1, where the slope is infinite) the branch that gives the
 * value is differentiated, and a slope that is not finite is taken as 0. The result is NaN only where the
 * value is undefined.
 *
 * Cost: about 3 ns per instruction plus the function itself; for jets about twice as much. There is no
 * allocation, no state and no conversion to integers.
 */
#include "expression/expression_machine.h"

#include <math.h>
#include <stddef.h>

#define LN10 2.302585092994045684

size_t lw_op_arity(lw_op op) {
    if (op >= LW_OP_TABLE) return op == LW_OP_TABLE;
    if (op >= LW_OP_STEP) return 5;
    if (op == LW_OP_IF) return 3;
    if (op >= LW_OP_FIRST_BINARY) return 2;
    return op >= LW_OP_FIRST_UNARY ? 1 : 0;
}

/* --- values --------------------------------------------------------------------------------------- */

static double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

static double unary(lw_op op, double x) {
    switch (op) {
    case LW_OP_NEGATE:
        return -x;
    case LW_OP_NOT:
        return x == 0;
    case LW_OP_SIN:
        return sin(x);
    case LW_OP_COS:
        return cos(x);
    case LW_OP_TAN:
        return tan(x);
    case LW_OP_ASIN:
        return asin(x);
    case LW_OP_ACOS:
        return acos(x);
    case LW_OP_ATAN:
        return atan(x);
    case LW_OP_SINH:
        return sinh(x);
    case LW_OP_COSH:
        return cosh(x);
    case LW_OP_TANH:
        return tanh(x);
    case LW_OP_EXP:
        return exp(x);
    case LW_OP_LOG:
        return log(x);
    case LW_OP_LOG10:
        return log10(x);
    case LW_OP_SQRT:
        return sqrt(x);
    case LW_OP_CBRT:
        return cbrt(x);
    case LW_OP_ABS:
        return fabs(x);
    case LW_OP_SIGN:
        return sign(x);
    case LW_OP_FLOOR:
        return floor(x);
    case LW_OP_CEIL:
        return ceil(x);
    default:
        return x < 0 ? 0 : x; /* LW_OP_RAMP */
    }
}

/* The remainder with the sign of b: a - b floor(a/b), without the rounding of a/b. */
static double modulo(double a, double b) {
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* a^b, with products for the usual exponents, for which pow takes ten times as long. */
static double power(double a, double b) {
    if (b == 1) return a;
    if (b == 2) return a * a;
    if (b == 3) return a * a * a;
    return pow(a, b);
}

static double binary(lw_op op, double a, double b) {
    switch (op) {
    case LW_OP_ADD:
        return a + b;
    case LW_OP_SUBTRACT:
        return a - b;
    case LW_OP_MULTIPLY:
        return a * b;
    case LW_OP_DIVIDE:
        return a / b;
    case LW_OP_POWER:
        return power(a, b);
    case LW_OP_LESS:
        return a < b;
    case LW_OP_LESS_EQUAL:
        return a <= b;
    case LW_OP_GREATER:
        return a > b;
    case LW_OP_GREATER_EQUAL:
        return a >= b;
    case LW_OP_EQUAL:
        return a == b;
    case LW_OP_NOT_EQUAL:
        return a != b;
    case LW_OP_AND:
        return a != 0 && b != 0;
    case LW_OP_OR:
        return a != 0 || b != 0;
    case LW_OP_ATAN2:
        return atan2(a, b);
    case LW_OP_HYPOT:
        return hypot(a, b);
    case LW_OP_MOD:
        return modulo(a, b);
    case LW_OP_MIN:
        return b < a || isnan(b) ? b : a;
    default:
        return b > a || isnan(b) ? b : a; /* LW_OP_MAX */
    }
}

/* The blend from 0 to 1 over 0 < u < 1 with its derivatives: 3u^2 - 2u^3, or 10u^3 - 15u^4 + 6u^5. */
static lw_jet blend(lw_op op, double u) {
    double r = 1 - u;
    if (op == LW_OP_STEP) return (lw_jet){u * u * (3 - 2 * u), 6 * u * r, 6 - 12 * u};
    return (lw_jet){u * u * u * (10 - u * (15 - 6 * u)), 30 * u * u * r * r, 60 * u * r * (1 - 2 * u)};
}

/* Runs one instruction on a stack whose next free element is p; returns the new p. */
static inline double *run_value(const lw_instruction *i, const double *variables, const double *inputs,
                                double *p) {
    lw_op op = (lw_op)i->op;
    if (op == LW_OP_CONSTANT) {
        *p++ = i->value;
    } else if (op == LW_OP_VARIABLE) {
        *p++ = variables[i->variable];
    } else if (op < LW_OP_FIRST_BINARY) {
        p[-1] = unary(op, p[-1]);
    } else if (op < LW_OP_IF) {
        p--;
        p[-1] = binary(op, p[-1], p[0]);
    } else if (op == LW_OP_IF) {
        p -= 2;
        p[-1] = p[-1] != 0 ? p[0] : p[1];
    } else if (op == LW_OP_INPUT) {
        *p++ = inputs[i->input];
    } else if (op == LW_OP_TABLE) {
        p[-1] = lw_table_value(i->table, p[-1]);
    } else {
        p -= 4;
        double x = p[-1], x0 = p[0], h0 = p[1], x1 = p[2], h1 = p[3];
        p[-1] = x <= x0 ? h0 : x >= x1 ? h1 : h0 + (h1 - h0) * blend(op, (x - x0) / (x1 - x0)).f;
    }
    return p;
}

double lw_machine_value(const lw_instruction *code, size_t length, const double *variables,
                        const double *inputs) {
    double stack[LW_MACHINE_STACK], *p = stack;
    for (const lw_instruction *i = code; i < code + length; i++) p = run_value(i, variables, inputs, p);
    return stack[0];
}

/* --- jets ----------------------------------------------------------------------------------------- */

static lw_jet constant(double f) { return (lw_jet){f, 0, 0}; }
static lw_jet add(lw_jet a, lw_jet b) { return (lw_jet){a.f + b.f, a.d + b.d, a.dd + b.dd}; }
static lw_jet subtract(lw_jet a, lw_jet b) { return (lw_jet){a.f - b.f, a.d - b.d, a.dd - b.dd}; }

static lw_jet multiply(lw_jet a, lw_jet b) {
    return (lw_jet){a.f * b.f, a.d * b.f + a.f * b.d, a.dd * b.f + 2 * a.d * b.d + a.f * b.dd};
}

/* The derivatives of q = a / b follow from q b = a, differentiated once and twice. */
static lw_jet divide(lw_jet a, lw_jet b) {
    double q = a.f / b.f;
    double d = (a.d - q * b.d) / b.f;
    return (lw_jet){q, d, (a.dd - 2 * d * b.d - q * b.dd) / b.f};
}

/* The jet of g(u) with g = f, dg/du = g1, d2g/du2 = g2. Where a slope of g is infinite, as that of the root
 * at 0, the result is infinite, too, unless the derivatives of u are 0. */
static lw_jet chain(lw_jet u, double f, double g1, double g2) {
    if (isnan(g1)) g1 = 0; /* This is 0 times infinity, as in x^0 at 0, where the slope is 0. */
    if (isnan(g2)) g2 = 0;
    double first = u.d == 0 ? 0 : g1 * u.d;
    double second = (u.dd == 0 ? 0 : g1 * u.dd) + (u.d == 0 ? 0 : g2 * u.d * u.d);
    if (isnan(f)) first = second = f;
    return (lw_jet){f, first, second};
}

static lw_jet unary_jet(lw_op op, lw_jet u) {
    double x = u.f, f = unary(op, x), g;
    switch (op) {
    case LW_OP_NEGATE:
        return (lw_jet){-u.f, -u.d, -u.dd};
    case LW_OP_SIN:
        return chain(u, f, cos(x), -f);
    case LW_OP_COS:
        return chain(u, f, -sin(x), -f);
    case LW_OP_TAN:
        g = 1 + f * f;
        return chain(u, f, g, 2 * f * g);
    case LW_OP_ASIN:
        g = 1 / sqrt((1 - x) * (1 + x));
        return chain(u, f, g, x * g * g * g);
    case LW_OP_ACOS:
        g = -1 / sqrt((1 - x) * (1 + x));
        return chain(u, f, g, x * g * g * g);
    case LW_OP_ATAN:
        g = 1 / (1 + x * x);
        return chain(u, f, g, -2 * x * g * g);
    case LW_OP_SINH:
        return chain(u, f, cosh(x), f);
    case LW_OP_COSH:
        return chain(u, f, sinh(x), f);
    case LW_OP_TANH:
        g = 1 / cosh(x);
        return chain(u, f, g * g, -2 * f * g * g);
    case LW_OP_EXP:
        return chain(u, f, f, f);
    case LW_OP_LOG:
        return chain(u, f, 1 / x, -1 / x / x);
    case LW_OP_LOG10:
        return chain(u, f, 1 / x / LN10, -1 / x / x / LN10);
    case LW_OP_SQRT:
        g = 0.5 / f;
        return chain(u, f, g, -0.5 * g / x);
    case LW_OP_CBRT:
        g = 1 / (3 * f * f);
        return chain(u, f, g, x == 0 ? -HUGE_VAL : -2 * g / x / 3);
    case LW_OP_ABS:
        return chain(u, f, sign(x), 0);
    case LW_OP_RAMP:
        return chain(u, f, x > 0, 0);
    default:
        return constant(f); /* not, sign, floor, ceil */
    }
}

/* The jet of a^b: by the rule for constant exponents if the derivatives of b are 0, or a <= 0, where only
 * integers b have values; otherwise from f = exp(w), w = b log a. */
static lw_jet power_jet(lw_jet a, lw_jet b) {
    double n = b.f, f = power(a.f, n);
    if ((b.d == 0 && b.dd == 0) || a.f <= 0) {
        return chain(a, f, n * power(a.f, n - 1), n * (n - 1) * power(a.f, n - 2));
    }
    lw_jet w = multiply(b, unary_jet(LW_OP_LOG, a));
    return chain(w, f, f, f);
}

/* The jet of the radius r of (x, y), with the direction c = x/r, s = y/r. At the origin, which has no
 * direction, the derivatives are 0. */
static lw_jet hypot_jet(lw_jet x, lw_jet y) {
    double r = hypot(x.f, y.f), c = x.f / r, s = y.f / r;
    if (r == 0) return constant(0);
    double across = c * y.d - s * x.d;
    return (lw_jet){r, c * x.d + s * y.d, c * x.dd + s * y.dd + across * across / r};
}

static lw_jet atan2_jet(lw_jet y, lw_jet x) {
    double r = hypot(x.f, y.f), c = x.f / r, s = y.f / r;
    if (r == 0) return constant(atan2(y.f, x.f));
    double d = (c * y.d - s * x.d) / r, outward = c * x.d + s * y.d;
    return (lw_jet){atan2(y.f, x.f), d, (c * y.dd - s * x.dd - 2 * outward * d) / r};
}

static lw_jet modulo_jet(lw_jet a, lw_jet b) {
    double r = modulo(a.f, b.f), whole = nearbyint((a.f - r) / b.f);
    return (lw_jet){r, a.d - whole * b.d, a.dd - whole * b.dd};
}

static lw_jet binary_jet(lw_op op, lw_jet a, lw_jet b) {
    switch (op) {
    case LW_OP_ADD:
        return add(a, b);
    case LW_OP_SUBTRACT:
        return subtract(a, b);
    case LW_OP_MULTIPLY:
        return multiply(a, b);
    case LW_OP_DIVIDE:
        return divide(a, b);
    case LW_OP_POWER:
        return power_jet(a, b);
    case LW_OP_ATAN2:
        return atan2_jet(a, b);
    case LW_OP_HYPOT:
        return hypot_jet(a, b);
    case LW_OP_MOD:
        return modulo_jet(a, b);
    case LW_OP_MIN:
        return b.f < a.f || isnan(b.f) ? b : a;
    case LW_OP_MAX:
        return b.f > a.f || isnan(b.f) ? b : a;
    default:
        return constant(binary(op, a.f, b.f)); /* comparisons and logic */
    }
}

static lw_jet step_jet(lw_op op, lw_jet x, lw_jet x0, lw_jet h0, lw_jet x1, lw_jet h1) {
    if (x.f <= x0.f) return h0;
    if (x.f >= x1.f) return h1;
    lw_jet u = divide(subtract(x, x0), subtract(x1, x0));
    lw_jet w = blend(op, u.f);
    return add(h0, multiply(subtract(h1, h0), chain(u, w.f, w.d, w.dd)));
}

/* Runs one instruction on a stack of jets, as run_value does for numbers. */
static inline lw_jet *run_jet(const lw_instruction *i, const lw_jet *variables, const double *inputs,
                              lw_jet *p) {
    lw_op op = (lw_op)i->op;
    if (op == LW_OP_CONSTANT) {
        *p++ = constant(i->value);
    } else if (op == LW_OP_VARIABLE) {
        *p++ = variables[i->variable];
    } else if (op < LW_OP_FIRST_BINARY) {
        p[-1] = unary_jet(op, p[-1]);
    } else if (op < LW_OP_IF) {
        p--;
        p[-1] = binary_jet(op, p[-1], p[0]);
    } else if (op == LW_OP_IF) {
        p -= 2;
        p[-1] = p[-1].f != 0 ? p[0] : p[1];
    } else if (op == LW_OP_INPUT) {
        *p++ = constant(inputs[i->input]);
    } else if (op == LW_OP_TABLE) {
        p[-1] = lw_table_jet(i->table, p[-1]);
    } else {
        p -= 4;
        p[-1] = step_jet(op, p[-1], p[0], p[1], p[2], p[3]);
    }
    return p;
}

lw_jet lw_machine_jet(const lw_instruction *code, size_t length, const lw_jet *variables,
                      const double *inputs) {
    lw_jet stack[LW_MACHINE_STACK], *p = stack;
    for (const lw_instruction *i = code; i < code + length; i++) p = run_jet(i, variables, inputs, p);
    return stack[0];
}

lw_jet lw_machine_jet_along(const lw_instruction *code, size_t length, const lw_jet *variables,
                            const lw_jet *inputs) {
    lw_jet stack[LW_MACHINE_STACK], *p = stack;
    for (const lw_instruction *i = code; i < code + length; i++) {
        if (i->op == LW_OP_INPUT)
            *p++ = inputs[i->input];
        else
            p = run_jet(i, variables, NULL, p);
    }
    return stack[0];
}

double lw_machine_slope(const lw_instruction *code, size_t length, const double *variables,
                        const double *inputs, lw_op op, int number) {
    lw_jet stack[LW_MACHINE_STACK], *p = stack;
    for (const lw_instruction *i = code; i < code + length; i++) {
        if (i->op == LW_OP_INPUT)
            *p++ = (lw_jet){inputs[i->input], op == LW_OP_INPUT && i->input == number, 0};
        else if (i->op == LW_OP_VARIABLE)
            *p++ = (lw_jet){variables[i->variable], op == LW_OP_VARIABLE && i->variable == number, 0};
        else
            p = run_jet(i, NULL, inputs, p);
    }
    return stack[0].d;
}

/* --- conditions ----------------------------------------------------------------------------------- */

/* Restarts at the kinks of longer tables would cost more than they save. */
enum { FEW_KINKS = 50 };

/* Does the value jump where the outcome changes, or (is_kink) only one of its derivatives? A step may be
 * either: its width decides. */
static bool is_jump(const lw_instruction *i) {
    switch ((lw_op)i->op) {
    case LW_OP_TABLE:
        return lw_table_smoothness(i->table) == LW_TABLE_JUMPS;
    case LW_OP_SIGN:
    case LW_OP_FLOOR:
    case LW_OP_CEIL:
    case LW_OP_LESS:
    case LW_OP_LESS_EQUAL:
    case LW_OP_GREATER:
    case LW_OP_GREATER_EQUAL:
    case LW_OP_MOD:
    case LW_OP_STEP:
    case LW_OP_STEP5:
        return true;
    default:
        return false;
    }
}

static bool is_kink(const lw_instruction *i) {
    const lw_op op = (lw_op)i->op;
    if (op == LW_OP_TABLE)
        return lw_table_smoothness(i->table) == LW_TABLE_KINKS && lw_table_count(i->table) <= FEW_KINKS;
    return op == LW_OP_ABS || op == LW_OP_RAMP || op == LW_OP_MIN || op == LW_OP_MAX;
}

int lw_machine_conditions(lw_instruction *code, size_t length) {
    enum { MOST = 255 };
    unsigned char stack[LW_MACHINE_STACK], *p = stack; /* bits of the variables that each value depends on */
    int count = 0;
    for (lw_instruction *i = code; i < code + length; i++) {
        const lw_op op = (lw_op)i->op;
        unsigned char uses = op == LW_OP_VARIABLE ? (unsigned char)(1u << i->variable)
                             : op == LW_OP_INPUT  ? LW_ON_VALUES
                                                  : 0;
        for (size_t k = lw_op_arity(op); k > 0; k--) uses |= *--p;
        *p++ = uses;
        i->slot = uses && (is_jump(i) || is_kink(i)) && count < MOST ? (unsigned char)++count : 0;
        i->uses = is_kink(i) ? uses | LW_KINKS : uses;
    }
    return count;
}

bool lw_machine_jumps(const lw_instruction *code, size_t length) {
    for (const lw_instruction *i = code; i < code + length; i++)
        if (i->slot && is_jump(i) && i->uses & ~(unsigned)LW_ON_VALUES) return true;
    return false;
}

int lw_machine_degree(const lw_instruction *code, size_t length, size_t time, const unsigned char *of_values,
                      int *of_operands) {
    unsigned char stack[LW_MACHINE_STACK], *p = stack;
    *of_operands = stack[0] = 0;
    for (const lw_instruction *i = code; i < code + length; i++) {
        const lw_op op = (lw_op)i->op;
        const size_t operands = lw_op_arity(op);
        int most = 0, sum = 0, varies = op == LW_OP_VARIABLE ? LW_VARIES : 0;
        for (size_t k = 1; k <= operands; k++) {
            const int own = p[-(ptrdiff_t)k] & ~LW_VARIES;
            varies |= p[-(ptrdiff_t)k] & LW_VARIES;
            most = own > most ? own : most;
            sum += own;
        }
        const bool swings = op == LW_OP_SIN || op == LW_OP_COS || op == LW_OP_TAN;
        int degree = most > 0 || (swings && varies) ? 2 : 0;
        if (op == LW_OP_VARIABLE && i->variable == time) degree = 1;
        if (op == LW_OP_INPUT && of_values) {
            degree = of_values[i->input] & ~LW_VARIES;
            varies = of_values[i->input] & LW_VARIES;
        }
        if (op == LW_OP_NEGATE || op == LW_OP_ADD || op == LW_OP_SUBTRACT || op == LW_OP_ABS ||
            op == LW_OP_RAMP || op == LW_OP_MIN || op == LW_OP_MAX || op == LW_OP_IF)
            degree = most;
        if (op == LW_OP_MULTIPLY || (op == LW_OP_DIVIDE && !(p[-1] & ~LW_VARIES))) degree = sum < 2 ? sum : 2;
        if (op == LW_OP_AND || op == LW_OP_OR || op == LW_OP_NOT) degree = 0;
        if (is_jump(i)) {
            *of_operands = most > *of_operands ? most : *of_operands;
            degree = op == LW_OP_MOD ? most : op == LW_OP_STEP || op == LW_OP_STEP5 ? (most > 0 ? 2 : 0) : 0;
        }
        if (is_kink(i)) *of_operands = most > *of_operands ? most : *of_operands;
        p -= operands;
        *p++ = (unsigned char)(degree | varies);
    }
    return stack[0];
}

/* The outcome of a condition with operands x. Of a step: 0 before it, 1 behind it, 2 within its width. */
static double outcome_of(const lw_instruction *i, const double *x) {
    const lw_op op = (lw_op)i->op;
    switch (op) {
    case LW_OP_TABLE:
        return lw_table_stretch(i->table, x[0]);
    case LW_OP_SIGN:
        return sign(x[0]);
    case LW_OP_ABS:
    case LW_OP_RAMP:
        return !(x[0] < 0);
    case LW_OP_FLOOR:
        return floor(x[0]);
    case LW_OP_CEIL:
        return ceil(x[0]);
    case LW_OP_MOD:
        return nearbyint((x[0] - modulo(x[0], x[1])) / x[1]);
    case LW_OP_MIN:
        return x[1] < x[0] || isnan(x[1]);
    case LW_OP_MAX:
        return x[1] > x[0] || isnan(x[1]);
    case LW_OP_STEP:
    case LW_OP_STEP5: /* x, x0, h0, x1, h1 */
        return x[0] <= x[1] ? 0 : x[0] >= x[3] ? 1 : 2;
    default:
        return binary(op, x[0], x[1]);
    }
}

/* The distance of the operands x from where a condition with this outcome changes; negative beyond. It is as
 * smooth as the operands where it passes through zero. */
static double distance_of(const lw_instruction *i, const double *x, double outcome) {
    const double side = outcome != 0 ? 1 : -1;
    double start;
    switch ((lw_op)i->op) {
    case LW_OP_TABLE:
        return lw_table_room(i->table, outcome, x[0]);
    case LW_OP_SIGN:
        return outcome == 0 ? -fabs(x[0]) : outcome * x[0];
    case LW_OP_ABS:
    case LW_OP_RAMP:
        return side * x[0];
    case LW_OP_FLOOR:
        return fmin(x[0] - outcome, outcome + 1 - x[0]);
    case LW_OP_CEIL:
        return fmin(outcome - x[0], x[0] + 1 - outcome);
    case LW_OP_MOD: /* from outcome b to (outcome + 1) b */
        start = x[0] - outcome * x[1];
        return x[1] > 0 ? fmin(start, x[1] - start) : fmin(-start, start - x[1]);
    case LW_OP_MIN:
        return side * (x[0] - x[1]);
    case LW_OP_STEP:
    case LW_OP_STEP5:
        if (outcome == 2) return fmin(x[0] - x[1], x[3] - x[0]);
        return outcome == 0 ? x[1] - x[0] : x[0] - x[3];
    case LW_OP_LESS:
    case LW_OP_LESS_EQUAL:
    case LW_OP_MAX:
        return side * (x[1] - x[0]);
    default:
        return side * (x[0] - x[1]);
    }
}

/* The result of a condition whose outcome is given. */
static double value_with(const lw_instruction *i, const double *x, double outcome) {
    const lw_op op = (lw_op)i->op;
    switch (op) {
    case LW_OP_TABLE:
        return lw_table_stretch_jet(i->table, outcome, constant(x[0])).f;
    case LW_OP_ABS:
        return outcome != 0 ? x[0] : -x[0];
    case LW_OP_RAMP:
        return outcome != 0 ? x[0] : 0;
    case LW_OP_MOD:
        return x[0] - outcome * x[1];
    case LW_OP_MIN:
    case LW_OP_MAX:
        return outcome != 0 ? x[1] : x[0];
    case LW_OP_STEP:
    case LW_OP_STEP5:
        if (outcome == 2) return x[2] + (x[4] - x[2]) * blend(op, (x[0] - x[1]) / (x[3] - x[1])).f;
        return outcome != 0 ? x[4] : x[2];
    default:
        return outcome; /* comparisons, sign, floor, ceil */
    }
}

static lw_jet jet_with(const lw_instruction *i, const lw_jet *x, double outcome) {
    const lw_op op = (lw_op)i->op;
    lw_jet u, w;
    switch (op) {
    case LW_OP_TABLE:
        return lw_table_stretch_jet(i->table, outcome, x[0]);
    case LW_OP_ABS:
        return outcome != 0 ? x[0] : subtract(constant(0), x[0]);
    case LW_OP_RAMP:
        return outcome != 0 ? x[0] : constant(0);
    case LW_OP_MOD:
        return (lw_jet){x[0].f - outcome * x[1].f, x[0].d - outcome * x[1].d, x[0].dd - outcome * x[1].dd};
    case LW_OP_MIN:
    case LW_OP_MAX:
        return outcome != 0 ? x[1] : x[0];
    case LW_OP_STEP:
    case LW_OP_STEP5:
        if (outcome != 2) return outcome != 0 ? x[4] : x[2];
        u = divide(subtract(x[0], x[1]), subtract(x[3], x[1]));
        w = blend(op, u.f);
        return add(x[2], multiply(subtract(x[4], x[2]), chain(u, w.f, w.d, w.dd)));
    default:
        return constant(outcome);
    }
}

/* A law may have no value beyond the condition that guards it, as sqrt(x) in if(x > 0, sqrt(x), 0): there it
 * is what its operands say, held or not. */
lw_jet lw_machine_jet_held(const lw_instruction *code, size_t length, const lw_jet *variables,
                           const double *inputs, const double *held) {
    lw_jet stack[LW_MACHINE_STACK], *p = stack;
    stack[0] = constant(0); /* The compiler does not know that a program has a result. */
    for (const lw_instruction *i = code; i < code + length; i++) {
        if (!i->slot || isnan(held[i->slot - 1])) {
            p = run_jet(i, variables, inputs, p);
            continue;
        }
        p -= lw_op_arity((lw_op)i->op);
        *p = jet_with(i, p, held[i->slot - 1]);
        p++;
    }
    return isfinite(stack[0].f) ? stack[0] : lw_machine_jet(code, length, variables, inputs);
}

double lw_machine_value_held(const lw_instruction *code, size_t length, const double *variables,
                             const double *inputs, const double *held) {
    double stack[LW_MACHINE_STACK], *p = stack;
    stack[0] = 0;
    for (const lw_instruction *i = code; i < code + length; i++) {
        if (!i->slot || isnan(held[i->slot - 1])) {
            p = run_value(i, variables, inputs, p);
            continue;
        }
        p -= lw_op_arity((lw_op)i->op);
        *p = value_with(i, p, held[i->slot - 1]);
        p++;
    }
    return isfinite(stack[0]) ? stack[0] : lw_machine_value(code, length, variables, inputs);
}

/* Without `chained`, operands are computed as if nothing were held, which always gives them values. */
static bool look(const lw_instruction *code, size_t length, const double *variables, const double *inputs,
                 unsigned without, bool chained, const lw_look *at, double *least) {
    double stack[LW_MACHINE_STACK], *p = stack;
    bool defined = true;
    *least = HUGE_VAL;
    for (const lw_instruction *i = code; i < code + length; i++) {
        const lw_op op = (lw_op)i->op;
        if (!i->slot) {
            p = run_value(i, variables, inputs, p);
            continue;
        }
        const double *x = p - lw_op_arity(op), was = at->held ? at->held[i->slot - 1] : NAN;
        double outcome = i->uses & without ? NAN : outcome_of(i, x), distance = HUGE_VAL;
        if ((op == LW_OP_STEP || op == LW_OP_STEP5) && without & LW_KINKS && x[3] > x[1]) outcome = NAN;
        if (!isnan(was)) {
            const double d = distance_of(i, x, was);
            distance = outcome == was ? fmax(d, 1e-300) : fmin(d, -1e-300);
            defined &= !isnan(d);
        }
        *least = fmin(*least, distance);
        if (at->distances) at->distances[i->slot - 1] = distance;
        if (at->outcomes) at->outcomes[i->slot - 1] = outcome;
        if (chained && !isnan(was)) {
            const double value = value_with(i, x, was);
            p -= lw_op_arity(op);
            *p++ = value;
        } else
            p = run_value(i, variables, inputs, p);
    }
    return defined;
}

double lw_machine_look(const lw_instruction *code, size_t length, const double *variables,
                       const double *inputs, unsigned without, const lw_look *at) {
    double least;
    if (!look(code, length, variables, inputs, without, at->held != NULL, at, &least))
        (void)look(code, length, variables, inputs, without, false, at, &least);
    return least;
}

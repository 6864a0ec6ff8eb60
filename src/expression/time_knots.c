/* time_knots.c - times, known in advance, at which an expression has a jump or a kink.
 *
 * The program is run on forms instead of numbers. A form is
 *
 *     a s + b,   s = t, or s = t - origin - k period with the integer k for which 0 <= s < period,
 *
 * or a wave
 *
 *     A sin(w t + p) + b,
 *
 * with constant a, b, A, w and p. A value is a short list of forms, one of which it has at any time, or is
 * not known. Constants and the time are forms, sums of forms and their products with constants are forms,
 * mod(t, T) is a periodic one, sin and cos of a form a t + b are waves; min, max, if, abs and ramp have the
 * forms of all their branches, comparisons are 0 or 1. Everything else is not known: other variables, inputs,
 * products of forms, sums of waves.
 *
 * Knots are the zeros of a - b, for all forms of both operands, in a < b (also <=, >, >=), min and max; those
 * of the operand of sign, abs and ramp; both ends of a step; the multiples that mod, floor and ceil pass; the
 * points of tables at which these jump or bend (table.h). A wave passes zero where w t + p is asin(-b/A) or
 * pi less that, and at intervals of 2 pi/w from there; one that only touches zero does not pass it. As a list
 * contains forms that the value does not have at that time, too, some of these zeros are no knots, which
 * costs a run a restart and nothing else.
 *
 * Rounding   Each form carries a bound of the rounding errors of its evaluation, in units of DBL_EPSILON:
 *            rate |t| + noise. A comparison of t with a constant has none. The argument of a wave has
 *            bounds of its own, and errors of its value are divided by its slope at the zero.
 * Cost       O(length + points of tables), once per expression. No allocation.
 * Limits     Nothing is found in functions that are not piecewise affine in t or waves, such as t^2 > 2 or
 *            sin(t) > cos(2*t), nor in t - T*floor(t/T), for which mod(t, T) may be written, nor in a value
 *            of more than MOST_FORMS forms.
 */
#include "expression/time_knots.h"
#include "linalg/vec3.h"

#include <math.h>

enum { MOST_FORMS = 4, MOST_LEVELS = 1000 };

typedef struct form {
    double a, b;
    double rate, noise;    /* bound of its rounding errors */
    double origin, period; /* The period is 0 if s = t. */
    /* A wave, if the amplitude is not 0: then a is. Rounding errors of its argument are drift |t| + blur. */
    double amplitude, w, phase, drift, blur;
} form;

typedef struct value {
    int count; /* 0: it is not known. */
    form forms[MOST_FORMS];
} value;

typedef struct search {
    lw_knot_found found;
    void *context;
} search;

/* --- values --------------------------------------------------------------------------------------- */

static value constant(double b) { return (value){1, {{.b = b}}}; }

static value truth(void) { return (value){2, {{.b = 0}, {.b = 1}}}; }

static void put(value *v, const form *f) {
    if (v->count < MOST_FORMS)
        v->forms[v->count++] = *f;
    else
        v->count = MOST_FORMS + 1;
}

/* A list that has become too long is not known. */
static value finished(value v) {
    if (v.count > MOST_FORMS) v.count = 0;
    return v;
}

static value either(const value *x, const value *y) {
    value v = {0};
    if (!x->count || !y->count) return v;
    for (int k = 0; k < x->count; k++) put(&v, &x->forms[k]);
    for (int k = 0; k < y->count && v.count <= MOST_FORMS; k++) put(&v, &y->forms[k]);
    return finished(v);
}

static form multiple(const form *f, double c) {
    form out = *f;
    out.a *= c, out.b *= c, out.amplitude *= c;
    out.rate = f->rate * fabs(c) + fabs(out.a);
    out.noise = f->noise * fabs(c) + fabs(out.b) + fabs(out.amplitude);
    return out;
}

static value negative(const value *x) {
    value v = *x;
    for (int k = 0; k < v.count; k++) {
        form *f = &v.forms[k];
        f->a = -f->a, f->b = -f->b, f->amplitude = -f->amplitude;
    }
    return v;
}

static bool is_wave(const form *f) { return f->amplitude != 0; }

static bool is_constant(const form *f) { return f->a == 0 && !is_wave(f); }

/* x + sign y without the rounding error of this sum; false if it is no form. */
static bool sum(const form *x, const form *y, double sign, form *out) {
    const form *timed = is_constant(x) ? y : x;
    if (!is_constant(x) && !is_constant(y) &&
        (is_wave(x) || is_wave(y) || x->period != y->period || x->origin != y->origin))
        return false;
    *out = *timed;
    out->a = x->a + sign * y->a, out->b = x->b + sign * y->b;
    out->amplitude = x->amplitude + sign * y->amplitude;
    out->rate = x->rate + y->rate, out->noise = x->noise + y->noise;
    return true;
}

static bool product(const form *x, const form *y, form *out) {
    if (!is_constant(x) && !is_constant(y)) return false;
    *out = is_constant(y) ? multiple(x, y->b) : multiple(y, x->b);
    return true;
}

static bool quotient(const form *x, const form *y, form *out) {
    if (!is_constant(y) || y->b == 0) return false;
    *out = multiple(x, 1 / y->b);
    out->a = x->a / y->b, out->b = x->b / y->b, out->amplitude = x->amplitude / y->b;
    return true;
}

/* The multiples of m > 0 or m < 0 that x passes, as a knot. */
static lw_knot passages(const form *x, double m) {
    return (lw_knot){-x->b / x->a, fabs(m / x->a), x->rate / fabs(x->a), x->noise / fabs(x->a)};
}

/* mod(x, m) grows from 0 with x/m, and falls from m where x/m falls. */
static bool remainder_of(const form *x, const form *m, form *out) {
    if (x->a == 0 || x->period > 0 || !is_constant(m) || m->b == 0) return false;
    const lw_knot knot = passages(x, m->b);
    *out = (form){.a = x->a,
                  .b = x->a / m->b > 0 ? 0 : m->b,
                  .rate = x->rate,
                  .noise = x->noise + fabs(m->b),
                  .origin = knot.at,
                  .period = knot.period};
    return true;
}

/* The sum, product, quotient or remainder of two values. */
static value binary(lw_op op, const value *x, const value *y) {
    value v = {0};
    for (int i = 0; i < x->count; i++)
        for (int j = 0; j < y->count; j++) {
            const form *f = &x->forms[i], *g = &y->forms[j];
            form out;
            const bool known = op == LW_OP_ADD        ? sum(f, g, 1, &out)
                               : op == LW_OP_SUBTRACT ? sum(f, g, -1, &out)
                               : op == LW_OP_MULTIPLY ? product(f, g, &out)
                               : op == LW_OP_DIVIDE   ? quotient(f, g, &out)
                                                      : remainder_of(f, g, &out);
            if (!known || !isfinite(out.a) || !isfinite(out.b) || !isfinite(out.amplitude)) return (value){0};
            if (op == LW_OP_ADD || op == LW_OP_SUBTRACT)
                out.rate += fabs(out.a), out.noise += fabs(out.b) + fabs(out.amplitude);
            put(&v, &out);
            if (v.count > MOST_FORMS) return (value){0};
        }
    return v;
}

/* sin(x + turn) of values of the form a t + b. */
static value wave(const value *x, double turn) {
    value v = {0};
    for (int k = 0; k < x->count; k++) {
        const form *f = &x->forms[k];
        if (is_wave(f) || f->period > 0) return (value){0};
        form out = {.b = sin(f->b + turn), .noise = 1 + f->noise};
        if (!is_constant(f))
            out = (form){.noise = 1,
                         .amplitude = 1,
                         .w = f->a,
                         .phase = f->b + turn,
                         .drift = f->rate,
                         .blur = f->noise + fabs(f->b) + 2 * fabs(turn)};
        put(&v, &out);
    }
    return finished(v);
}

/* --- knots ---------------------------------------------------------------------------------------- */

static void tell(const search *s, const lw_knot *knot) {
    if (isfinite(knot->at) && isfinite(knot->period) && isfinite(knot->rate) && isfinite(knot->noise))
        s->found(knot, s->context);
}

/* The passages of a wave through zero, upwards and downwards. */
static void zeros_of_wave(const search *s, const form *f) {
    const double level = -f->b / f->amplitude, angle = asin(level), w = fabs(f->w);
    const double slope = sqrt((1 - level) * (1 + level));
    if (!(slope > 0)) return;
    /* Errors of the value, of the level and of asin, and those of angle and phase themselves. */
    const double value_noise = (f->noise / fabs(f->amplitude) + 2 * fabs(level)) / slope;
    const double noise = value_noise + f->blur + 2 * (LW_PI + fabs(f->phase));
    const double angles[] = {angle, LW_PI - angle};
    for (int k = 0; k < (level == 0 ? 1 : 2); k++) {
        const lw_knot knot = {(angles[k] - f->phase) / f->w, (level == 0 ? 1 : 2) * LW_PI / w, f->drift / w,
                              noise / w};
        tell(s, &knot);
    }
}

/* The zero of one form. At the ends of a period the remainder itself has knots. */
static void zero_of(const search *s, const form *f) {
    if (is_constant(f)) return;
    if (is_wave(f)) {
        zeros_of_wave(s, f);
        return;
    }
    const double zero = -f->b / f->a;
    if (f->period > 0 && !(zero > 0 && zero < f->period)) return;
    const lw_knot knot = {f->period > 0 ? f->origin + zero : zero, f->period, f->rate / fabs(f->a),
                          f->noise / fabs(f->a)};
    tell(s, &knot);
}

static void crossings(const search *s, const value *x, const value *y) {
    for (int i = 0; i < x->count; i++)
        for (int j = 0; j < y->count; j++) {
            form difference;
            if (sum(&x->forms[i], &y->forms[j], -1, &difference)) zero_of(s, &difference);
        }
}

static void zeros(const search *s, const value *x) {
    const value zero = constant(0);
    crossings(s, x, &zero);
}

/* The whole numbers that the values pass: all of them, or those within a period. */
static void whole_numbers(const search *s, const value *x) {
    for (int k = 0; k < x->count; k++) {
        const form *f = &x->forms[k];
        if (is_constant(f)) continue;
        if (f->period == 0 && !is_wave(f)) {
            const lw_knot knot = passages(f, 1);
            tell(s, &knot);
            continue;
        }
        const double begin = f->b - f->amplitude, end = f->a * f->period + f->b + f->amplitude;
        const double low = fmin(begin, end), high = fmax(begin, end);
        if (!(high - low < MOST_LEVELS)) continue;
        for (double level = floor(low) + 1; level < high; level++) {
            form shifted = *f;
            shifted.b -= level;
            zero_of(s, &shifted);
        }
    }
}

static void remainders(const search *s, const value *x, const value *m) {
    for (int i = 0; i < x->count; i++)
        for (int j = 0; j < m->count; j++) {
            form out;
            if (!remainder_of(&x->forms[i], &m->forms[j], &out)) continue;
            const lw_knot knot = passages(&x->forms[i], m->forms[j].b);
            tell(s, &knot);
        }
}

/* --- the program ---------------------------------------------------------------------------------- */

/* The result of an instruction with operands x; its knots are told. */
static value result_of(const search *s, lw_op op, const value *x) {
    value other;
    switch (op) {
    case LW_OP_NEGATE:
        return negative(x);
    case LW_OP_SIN:
        return wave(x, 0);
    case LW_OP_COS:
        return wave(x, LW_PI / 2);
    case LW_OP_ABS:
        zeros(s, x);
        other = negative(x);
        return either(x, &other);
    case LW_OP_RAMP:
        zeros(s, x);
        other = constant(0);
        return either(x, &other);
    case LW_OP_SIGN:
        zeros(s, x);
        return (value){2, {{.b = -1}, {.b = 1}}};
    case LW_OP_FLOOR:
    case LW_OP_CEIL:
        whole_numbers(s, x);
        return (value){0};
    case LW_OP_MOD:
        remainders(s, x, x + 1);
        return binary(op, x, x + 1);
    case LW_OP_ADD:
    case LW_OP_SUBTRACT:
    case LW_OP_MULTIPLY:
    case LW_OP_DIVIDE:
        return binary(op, x, x + 1);
    case LW_OP_LESS:
    case LW_OP_LESS_EQUAL:
    case LW_OP_GREATER:
    case LW_OP_GREATER_EQUAL:
        crossings(s, x, x + 1);
        return truth();
    case LW_OP_EQUAL:
    case LW_OP_NOT_EQUAL: /* True, or false, at an instant only, unless its operands jump. */
    case LW_OP_AND:
    case LW_OP_OR:
    case LW_OP_NOT:
        return truth();
    case LW_OP_MIN:
    case LW_OP_MAX:
        crossings(s, x, x + 1);
        return either(x, x + 1);
    case LW_OP_IF:
        return either(x + 1, x + 2);
    case LW_OP_STEP:
    case LW_OP_STEP5: /* x, x0, h0, x1, h1 */
        crossings(s, x, x + 1);
        crossings(s, x, x + 3);
        return (value){0};
    default:
        return (value){0};
    }
}

/* The points of a table that its argument passes: once, or in the rhythm of a table that repeats. */
static void points_of(const search *s, const lw_table *table, int derivatives, const value *x) {
    const double period = lw_table_period(table);
    const size_t count = lw_table_count(table) - (period > 0); /* The last point is the first again. */
    for (int k = 0; k < x->count; k++) {
        const form *f = &x->forms[k];
        if (is_constant(f) || (period > 0 && (f->period > 0 || is_wave(f)))) continue;
        for (size_t i = 0; i < count; i++) {
            if (!lw_table_is_knot(table, i, derivatives)) continue;
            form shifted = *f;
            shifted.b -= lw_table_point(table, i);
            if (period == 0) {
                zero_of(s, &shifted);
                continue;
            }
            shifted.rate += fabs(shifted.a), shifted.noise += fabs(f->b) + fabs(lw_table_point(table, 0));
            const lw_knot knot = passages(&shifted, period);
            tell(s, &knot);
        }
    }
}

void lw_machine_knots(const lw_instruction *code, size_t length, size_t time, int derivatives,
                      lw_knot_found found, void *context) {
    const search s = {found, context};
    value stack[LW_MACHINE_STACK], *p = stack;
    for (const lw_instruction *i = code; i < code + length; i++) {
        if (i->op == LW_OP_CONSTANT) {
            *p++ = constant(i->value);
        } else if (i->op == LW_OP_VARIABLE && i->variable == time) {
            *p++ = (value){1, {{.a = 1}}};
        } else if (i->op == LW_OP_VARIABLE || i->op == LW_OP_INPUT) {
            *p++ = (value){0};
        } else if (i->op == LW_OP_TABLE) {
            points_of(&s, i->table, derivatives, p - 1);
            p[-1] = (value){0};
        } else {
            p -= lw_op_arity((lw_op)i->op);
            *p = result_of(&s, (lw_op)i->op, p);
            p++;
        }
    }
}

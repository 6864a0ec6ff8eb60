/* function.c - functions of both kinds: their evaluation and integrals.
 *
 * A function is a program (expression_machine.h) or one table (table.h) of variable number 0.
 *
 * Integrals of sums and multiples of tables, of the integration variable and of constants are closed forms.
 * Those of other expressions: the range is divided at the knots in it, where there are at most 4096,
 * so that a detent by mod(x, T) that is turned many times has the right energy.
 * Gauss-Kronrod 7-15 on each interval, with the error estimate of QUADPACK; intervals whose error is too
 * large are halved, on a stack of fixed size. There is no node in the outermost 0.4 % at either end, where
 * the force of a contact that has just begun would be missed. The polynomial through the 15 nodes is
 * therefore compared with the function at both ends as well, and the difference counts as an error.
 */
#include "expression/function.h"
#include "expression/expression.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct lw_function {
    const lw_instruction *code; /* program of an expression; NULL for a table */
    size_t length;
    bool uses[LW_MAX_VARIABLES], tables; /* tables: the program has some */
    const int *inputs;                   /* the entries of the vector of values that it uses, ascending */
    size_t input_count;
    lw_meaning meaning;
    int conditions;
};

/* --- expressions ---------------------------------------------------------------------------------- */

/* Stores in inputs[0..count) the entries of the vector of values that a program uses; returns count. */
static size_t list_inputs(const lw_instruction *code, size_t length, int *inputs) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        if (code[i].op != LW_OP_INPUT) continue;
        size_t at = count;
        while (at > 0 && inputs[at - 1] > code[i].input) at--;
        if (at > 0 && inputs[at - 1] == code[i].input) continue;
        memmove(inputs + at + 1, inputs + at, (count - at) * sizeof *inputs);
        inputs[at] = code[i].input;
        count++;
    }
    return count;
}

lw_function *lw_function_compile(lw_arena *arena, const char *text, const lw_expression_names *names,
                                 lw_syntax *syntax) {
    lw_instruction program[LW_EXPRESSION_LENGTH];
    int used[LW_EXPRESSION_LENGTH];
    lw_meaning meaning;
    size_t length = lw_expression_compile(text, names, program, &meaning, syntax);
    if (length == 0) return NULL;

    const size_t input_count = list_inputs(program, length, used);
    lw_function *function = LW_NEW(arena, lw_function, 1);
    lw_instruction *code = LW_NEW(arena, lw_instruction, length);
    int *inputs = input_count ? LW_NEW(arena, int, input_count) : NULL;
    if (lw_arena_failed(arena)) {
        if (syntax) *syntax = (lw_syntax){0, "out of memory", "free some memory"};
        return NULL;
    }
    memcpy(code, program, length * sizeof *code);
    function->code = code;
    function->length = length;
    if (input_count) memcpy(inputs, used, input_count * sizeof *inputs);
    function->inputs = inputs;
    function->input_count = input_count;
    function->meaning = meaning;
    function->conditions = lw_machine_conditions(code, length);
    for (size_t i = 0; i < length; i++) {
        if (code[i].op == LW_OP_VARIABLE) function->uses[code[i].variable] = true;
        if (code[i].op == LW_OP_TABLE) function->tables = true;
    }
    return function;
}

bool lw_number_meaning(const char *text, const lw_expression_names *names, double *value, lw_meaning *measure,
                       lw_syntax *syntax) {
    lw_instruction program[LW_EXPRESSION_LENGTH];
    lw_expression_names constant = *names;
    constant.input_use = LW_INPUTS_NOT_IN_CONSTANTS;
    size_t length = lw_expression_compile(text, &constant, program, measure, syntax);
    if (length == 0) return false;
    *value = lw_machine_value(program, length, NULL, NULL);
    return true;
}

bool lw_number(const char *text, const lw_constant *constants, size_t constant_count, double *value,
               lw_syntax *syntax) {
    const lw_expression_names names = {.constants = constants, .constant_count = constant_count};
    return lw_number_meaning(text, &names, value, NULL, syntax);
}

/* --- tables --------------------------------------------------------------------------------------- */

lw_function *lw_function_table(lw_arena *arena, const double *x, const double *y, size_t count, bool smooth) {
    const lw_table *table = lw_table_create(
        arena, x, y, count, smooth ? LW_INTERPOLATION_SMOOTH : LW_INTERPOLATION_LINEAR, LW_BEYOND_LINEAR);
    lw_function *function = table ? LW_NEW(arena, lw_function, 1) : NULL;
    lw_instruction *code = LW_NEW(arena, lw_instruction, 2);
    if (!function || !code) return NULL;
    code[0] = (lw_instruction){.op = LW_OP_VARIABLE, .variable = 0};
    code[1] = (lw_instruction){.op = LW_OP_TABLE, .table = table};
    function->code = code;
    function->length = 2;
    function->conditions = lw_machine_conditions(code, 2);
    function->tables = true;
    function->uses[0] = true;
    return function;
}

const lw_instruction *lw_function_program(const lw_function *function, size_t *length) {
    *length = function->length;
    return function->code;
}

/* Does the slope of the table of instruction k jump? Its ends do not matter if its argument is the first
 * variable itself, and they are not within the range. */
static bool is_rough(const lw_function *function, size_t k, const double range[2]) {
    const lw_table *table = function->code[k].table;
    const double first = lw_table_point(table, 0), last = lw_table_point(table, lw_table_count(table) - 1);
    const bool itself =
        k > 0 && function->code[k - 1].op == LW_OP_VARIABLE && function->code[k - 1].variable == 0;
    const bool inside = itself && lw_table_period(table) == 0 && range[0] >= first && range[1] <= last;
    return (inside ? lw_table_smoothness_within(table) : lw_table_smoothness(table)) != LW_TABLE_C1;
}

const lw_table *lw_function_rough_table(const lw_function *function, const double range[2]) {
    for (size_t k = 0; k < function->length; k++) {
        const lw_instruction *i = &function->code[k];
        if (i->op != LW_OP_TABLE) continue;
        if (range ? is_rough(function, k, range) : lw_table_smoothness_within(i->table) != LW_TABLE_C1)
            return i->table;
    }
    return NULL;
}

/* --- evaluation ----------------------------------------------------------------------------------- */

bool lw_function_uses(const lw_function *function, size_t variable) {
    return variable < LW_MAX_VARIABLES && function->uses[variable];
}

bool lw_function_uses_inputs(const lw_function *function) { return function->input_count > 0; }

void lw_function_mark_inputs(const lw_function *function, bool *used) {
    for (size_t k = 0; k < function->input_count; k++) used[function->inputs[k]] = true;
}

size_t lw_function_inputs(const lw_function *function, const int **entries) {
    *entries = function->inputs;
    return function->input_count;
}

lw_meaning lw_function_meaning(const lw_function *function) { return function->meaning; }

bool lw_function_may_jump(const lw_function *function, const double range[2]) {
    for (size_t k = 0; k < function->length; k++) {
        lw_op op = function->code[k].op;
        if ((op >= LW_OP_ABS && op <= LW_OP_RAMP) || (op >= LW_OP_LESS && op <= LW_OP_OR) ||
            op == LW_OP_MOD || op == LW_OP_MIN || op == LW_OP_MAX || op == LW_OP_IF || op == LW_OP_NOT ||
            (op == LW_OP_TABLE && is_rough(function, k, range)))
            return true;
    }
    return false;
}

void lw_function_knots(const lw_function *function, size_t time, lw_knot_found found, void *context) {
    lw_machine_knots(function->code, function->length, time, 0, found, context);
}

void lw_function_motion_knots(const lw_function *function, size_t time, lw_knot_found found, void *context) {
    lw_machine_knots(function->code, function->length, time, 2, found, context);
}

bool lw_function_is_truth(const lw_function *function, int *entry) {
    *entry = -1;
    if (function->length == 0) return false;
    const int op = (int)function->code[function->length - 1].op;
    if (op == LW_OP_INPUT && function->length == 1) *entry = function->code[0].input;
    if (op == LW_OP_CONSTANT) return function->length == 1 && function->code[0].variable;
    return op == LW_OP_NOT || (op >= LW_OP_LESS && op <= LW_OP_OR);
}

bool lw_function_is_constant(const lw_function *function) {
    return function->length == 1 && function->code[0].op == LW_OP_CONSTANT;
}

double lw_function_value(const lw_function *function, const double *variables, const double *inputs) {
    return lw_machine_value(function->code, function->length, variables, inputs);
}

lw_jet lw_function_jet(const lw_function *function, const lw_jet *variables, const double *inputs) {
    return lw_machine_jet(function->code, function->length, variables, inputs);
}

lw_jet lw_function_jet_along(const lw_function *function, const lw_jet *variables, const lw_jet *inputs) {
    return lw_machine_jet_along(function->code, function->length, variables, inputs);
}

double lw_function_gradient(const lw_function *function, const double *variables, const double *inputs,
                            double *slopes, double *variable_slopes, size_t variable_count) {
    for (size_t k = 0; k < function->input_count; k++)
        slopes[k] = lw_machine_slope(function->code, function->length, variables, inputs, LW_OP_INPUT,
                                     function->inputs[k]);
    for (size_t k = 0; variable_slopes && k < variable_count; k++)
        variable_slopes[k] = !lw_function_uses(function, k)
                                 ? 0
                                 : lw_machine_slope(function->code, function->length, variables, inputs,
                                                    LW_OP_VARIABLE, (int)k);
    return lw_function_value(function, variables, inputs);
}

int lw_function_conditions(const lw_function *function) { return function->conditions; }

double lw_function_value_held(const lw_function *function, const double *variables, const double *inputs,
                              const double *held) {
    if (!held || !function->conditions) return lw_function_value(function, variables, inputs);
    return lw_machine_value_held(function->code, function->length, variables, inputs, held);
}

lw_jet lw_function_jet_held(const lw_function *function, const lw_jet *variables, const double *inputs,
                            const double *held) {
    if (!held || !function->conditions) return lw_function_jet(function, variables, inputs);
    return lw_machine_jet_held(function->code, function->length, variables, inputs, held);
}

bool lw_function_jumps(const lw_function *function) {
    return function->conditions > 0 && lw_machine_jumps(function->code, function->length);
}

int lw_function_degree(const lw_function *function, size_t time, const unsigned char *of_values,
                       int *of_operands) {
    *of_operands = 0;
    return lw_machine_degree(function->code, function->length, time, of_values, of_operands);
}

double lw_function_look(const lw_function *function, const double *variables, const double *inputs,
                        unsigned without, const lw_look *at) {
    if (!function->conditions) return HUGE_VAL;
    return lw_machine_look(function->code, function->length, variables, inputs, without, at);
}

/* --- integrals ------------------------------------------------------------------------------------ */

enum { HALVINGS = 48, INTERVALS = 4000, MOST_DIVISIONS = 256, MOST_KNOTS = 4096 };

/* Node 0 is the centre, nodes 1..7 are to the right of it; the Gauss rule has the even ones. */
static const double node[8] = {0.0,
                               0.207784955007898467600689403773245,
                               0.405845151377397166906606412076961,
                               0.586087235467691130294144838258730,
                               0.741531185599394439863864773280788,
                               0.864864423359769072789712788640926,
                               0.949107912342758524526189684047851,
                               0.991455371120812639206854697526329};
static const double kronrod[8] = {0.20948214108472782801299917, 0.20443294007529889241416199,
                                  0.19035057806478540991325640, 0.16900472663926790282658342,
                                  0.14065325971552591874518959, 0.10479001032225018383987632,
                                  0.06309209262997855329070066, 0.02293532201052922496373200};
static const double gauss[4] = {0.41795918367346938775510204, 0.38183005050511894495036977,
                                0.27970539148927666790146777, 0.12948496616886969327061143};
/* Weights of the 15 nodes in the value of their polynomial at +1: of the nodes on the same side (near) and on
 * the other side (far). */
static const double near[8] = {-0.11292917291898148247, 0.13978343178290836279,  -0.17457035156224132155,
                               0.22117597022489271508,  -0.29141869591999058908, 0.42004719972088289115,
                               -0.70667399340457381918, 1.4539837311033123601};
static const double far[8] = {0,
                              0.091687296848570964958,
                              -0.07377897964426245736,
                              0.057719118618911435803,
                              -0.043250815978173977328,
                              0.030438309530367933797,
                              -0.018451577046963429929,
                              0.006238528645340283077};

typedef struct interval {
    double left, right, area, magnitude, error; /* The magnitude is the integral of |f|. */
    int depth;
} interval;

typedef struct integrand {
    const lw_function *function;
    double variables[LW_MAX_VARIABLES];
} integrand;

static double sample(integrand *f, double x) {
    f->variables[0] = x;
    return lw_function_value(f->function, f->variables, NULL);
}

static interval integrate(integrand *f, double left, double right, int depth) {
    double centre = left + 0.5 * (right - left), half = 0.5 * (right - left);
    double l[8], r[8]; /* values left and right of the centre */
    double area = 0, coarse = 0, magnitude = 0, spread = 0;
    double at_left = 0, at_right = 0;

    l[0] = r[0] = sample(f, centre);
    for (int i = 1; i < 8; i++) {
        l[i] = sample(f, centre - half * node[i]);
        r[i] = sample(f, centre + half * node[i]);
    }
    for (int i = 0; i < 8; i++) {
        double both = i == 0 ? r[0] : l[i] + r[i];
        area += kronrod[i] * both;
        if (i % 2 == 0) coarse += gauss[i / 2] * both;
        magnitude += kronrod[i] * (fabs(r[i]) + (i == 0 ? 0 : fabs(l[i])));
        at_left += near[i] * l[i] + far[i] * r[i];
        at_right += near[i] * r[i] + far[i] * l[i];
    }
    double mean = 0.5 * area;
    for (int i = 0; i < 8; i++) spread += kronrod[i] * (fabs(r[i] - mean) + (i == 0 ? 0 : fabs(l[i] - mean)));

    /* QUADPACK: the error of the Kronrod rule is far less than its difference from the Gauss rule once this
     * difference is small. */
    double error = fabs(area - coarse);
    if (spread > 0) {
        double ratio = 200 * error / spread;
        error = ratio < 1 ? spread * ratio * sqrt(ratio) : fmax(spread, error);
    }
    double unseen = 0.5 * (1 - node[7]); /* width of a triangle between the last node and the end */
    error += unseen * (fabs(at_left - sample(f, left)) + fabs(at_right - sample(f, right)));
    half = fabs(half);
    return (interval){left,         right, area * (right < left ? -half : half), magnitude * half,
                      error * half, depth};
}

/* A value in the exact integration: a x + b, or (a = NAN) something of which only the integral is known. */
typedef struct primitive {
    double a, b, area;
} primitive;

static primitive affine(double a, double b, double from, double to) {
    return (primitive){a, b, (to - from) * (a * 0.5 * (from + to) + b)};
}

static primitive table_over(const lw_table *table, const primitive *x, double from, double to) {
    if (isnan(x->a)) return (primitive){NAN, NAN, NAN};
    if (x->a == 0) return affine(0, lw_table_value(table, x->b), from, to);
    return (primitive){NAN, NAN, lw_table_integral(table, x->a * from + x->b, x->a * to + x->b) / x->a};
}

/* The integral of a program that is a sum of multiples of tables with arguments a x + b; false if it is no
 * such sum. */
static bool integrate_exactly(const lw_function *function, double from, double to, const double *variables,
                              double *area) {
    primitive stack[LW_MACHINE_STACK], *p = stack;
    for (const lw_instruction *i = function->code; i < function->code + function->length; i++) {
        const lw_op op = (lw_op)i->op;
        const size_t operands = lw_op_arity(op);
        p -= operands;
        primitive *x = p, *y = p + 1, out;
        if (op == LW_OP_CONSTANT)
            out = affine(0, i->value, from, to);
        else if (op == LW_OP_VARIABLE)
            out = affine(i->variable == 0, i->variable == 0 ? 0 : variables[i->variable], from, to);
        else if (op == LW_OP_TABLE)
            out = table_over(i->table, x, from, to);
        else if (op == LW_OP_NEGATE)
            out = (primitive){-x->a, -x->b, -x->area};
        else if (op == LW_OP_ADD)
            out = (primitive){x->a + y->a, x->b + y->b, x->area + y->area};
        else if (op == LW_OP_SUBTRACT)
            out = (primitive){x->a - y->a, x->b - y->b, x->area - y->area};
        else if (op == LW_OP_MULTIPLY && (x->a == 0 || y->a == 0)) {
            const double c = x->a == 0 ? x->b : y->b;
            const primitive *other = x->a == 0 ? y : x;
            out = (primitive){c * other->a, c * other->b, c * other->area};
        } else if (op == LW_OP_DIVIDE && y->a == 0)
            out = (primitive){x->a / y->b, x->b / y->b, x->area / y->b};
        else
            return false;
        *p++ = out;
    }
    *area = stack[0].area;
    return isfinite(*area);
}

/* Knots between two ends, in their order. */
typedef struct divisions {
    double from, to;
    double at[MOST_DIVISIONS];
    int count; /* more than MOST_DIVISIONS: the others are not listed; more than MOST_KNOTS: too many */
} divisions;

static void divide_at(const lw_knot *knot, void *context) {
    divisions *d = context;
    const double low = fmin(d->from, d->to), high = fmax(d->from, d->to);
    double k = knot->period > 0 ? ceil((low - knot->at) / knot->period) : 0;
    for (; d->count <= MOST_KNOTS; k++) {
        const double at = knot->at + k * knot->period;
        if (at > low && at < high) {
            if (d->count < MOST_DIVISIONS) d->at[d->count] = at;
            d->count++;
        }
        if (knot->period == 0 || !(at < high)) return;
    }
}

static double integrate_adaptively(const lw_function *function, double a, double b, const double *variables) {
    integrand f = {.function = function};
    for (size_t i = 1; i < LW_MAX_VARIABLES; i++) {
        if (function->uses[i]) f.variables[i] = variables[i];
    }
    interval stack[HALVINGS + 2];
    stack[0] = integrate(&f, a, b, 0);
    double area = 0, magnitude = stack[0].magnitude; /* The magnitude is the present estimate for [a, b]. */
    size_t waiting = 1;
    int count = 1;
    while (waiting > 0) {
        interval i = stack[--waiting];
        /* Each interval has a share of the tolerance in proportion to its width, but at least 5 %, which
         * intervals with kinks need. */
        double share = fmax((i.right - i.left) / (b - a), 0.05);
        double tolerance = fmax(1e-13 * magnitude * share, 20 * DBL_EPSILON * i.magnitude);
        if (!(i.error > tolerance) || i.depth >= HALVINGS || count >= INTERVALS || !isfinite(i.error)) {
            area += i.area;
            continue;
        }
        double centre = i.left + 0.5 * (i.right - i.left);
        stack[waiting] = integrate(&f, i.left, centre, i.depth + 1);
        stack[waiting + 1] = integrate(&f, centre, i.right, i.depth + 1);
        magnitude += stack[waiting].magnitude + stack[waiting + 1].magnitude - i.magnitude;
        waiting += 2;
        count += 2;
    }
    return area;
}

/* From a to b > a, knot by knot; a range with more knots than a list holds is halved. */
static double integrate_ascending(const lw_function *function, double a, double b, const double *variables) {
    divisions d = {.from = a, .to = b};
    lw_function_knots(function, 0, divide_at, &d);
    const double centre = 0.5 * (a + b);
    if (d.count > MOST_KNOTS || (d.count > MOST_DIVISIONS && !(a < centre && centre < b)))
        return integrate_adaptively(function, a, b, variables);
    if (d.count > MOST_DIVISIONS)
        return integrate_ascending(function, a, centre, variables) +
               integrate_ascending(function, centre, b, variables);
    for (int k = 1; k < d.count; k++) /* Few, and nearly in order. */
        for (int j = k; j > 0 && d.at[j] < d.at[j - 1]; j--) {
            const double later = d.at[j - 1];
            d.at[j - 1] = d.at[j], d.at[j] = later;
        }
    double area = 0;
    for (int k = 0; k <= d.count; k++) {
        const double left = k == 0 ? a : d.at[k - 1], right = k == d.count ? b : d.at[k];
        if (!(left >= right)) area += integrate_adaptively(function, left, right, variables);
    }
    return area;
}

double lw_function_integral(const lw_function *function, double a, double b, const double *variables) {
    double area;
    if (a == b) return 0;
    if (lw_function_is_constant(function)) return function->code[0].value * (b - a);
    if (function->tables && integrate_exactly(function, a, b, variables, &area)) return area;
    return a < b ? integrate_ascending(function, a, b, variables)
                 : -integrate_ascending(function, b, a, variables);
}

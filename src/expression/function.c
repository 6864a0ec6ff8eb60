/* function.c - functions of both kinds: their evaluation, tables, and integrals.
 *
 * Tables. Between points i and i+1, with h = x[i+1] - x[i] and D = (y[i+1] - y[i])/h, the function is
 *     y[i] + s (c1 + s (c2 + s c3)),   s = x - x[i];
 * without smoothing c1 = D, c2 = c3 = 0; a smooth table has the cubic with slopes m[i], m[i+1] at its ends.
 * The slopes are those of Fritsch and Butland (1984): 0 where D changes sign, otherwise the weighted harmonic
 * mean of D in both neighbouring intervals; at the ends they follow from three points and are limited. They
 * satisfy the condition of Fritsch and Carlson (1980) for monotone cubics: there is no overshoot, the slope
 * is continuous, and the order is two. The lines beyond the ends are pieces like the others, so that there
 * are count + 1 pieces. Every piece stores the integral from x[0] to its anchor. Cost O(log count).
 *
 * Integrals of expressions. Gauss-Kronrod 7-15 on each interval, with the error estimate of QUADPACK;
 * intervals whose error is too large are halved, on a stack of fixed size. There is no node in the outermost
 * 0.4 % at either end, where the force of a contact that has just begun would be missed. The polynomial
 * through the 15 nodes is therefore compared with the function at both ends as well, and the difference
 * counts as an error.
 */
#include "expression/function.h"
#include "expression/expression.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct piece {
    double x, c0, c1, c2, c3;
    double area; /* integral from the first point to x */
} piece;

struct lw_function {
    const lw_instruction *code; /* program of an expression; NULL for a table */
    size_t length;
    bool uses[LW_MAX_VARIABLES];
    const int *inputs; /* the entries of the vector of values that it uses, ascending */
    size_t input_count;
    lw_meaning meaning;
    int conditions;
    const double *x; /* `count` points of the table */
    size_t count;
    const piece *pieces; /* count + 1 pieces; piece i holds for x[i-1] <= x < x[i] */
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

static double slope_between(const double *x, const double *y, size_t i) {
    return (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
}

/* The slope at an end from the two nearest intervals (h0, d0 at the end): that of the parabola, limited so
 * that the cubic is monotone. */
static double end_slope(double h0, double h1, double d0, double d1) {
    double m = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (m * d0 <= 0) return 0;
    if (d0 * d1 <= 0 && fabs(m) > 3 * fabs(d0)) return 3 * d0;
    return m;
}

static double smooth_slope(const double *x, const double *y, size_t count, size_t i) {
    if (count == 2) return slope_between(x, y, 0);
    size_t l = i == 0 ? 0 : i == count - 1 ? count - 3 : i - 1; /* the two intervals from l */
    double h0 = x[l + 1] - x[l], h1 = x[l + 2] - x[l + 1];
    double d0 = slope_between(x, y, l), d1 = slope_between(x, y, l + 1);
    if (i == 0) return end_slope(h0, h1, d0, d1);
    if (i == count - 1) return end_slope(h1, h0, d1, d0);
    if (d0 * d1 <= 0) return 0;
    double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
    return (w0 + w1) / (w0 / d0 + w1 / d1);
}

static double piece_value(const piece *p, double s) { return p->c0 + s * (p->c1 + s * (p->c2 + s * p->c3)); }

static double piece_area(const piece *p, double s) {
    return p->area + s * (p->c0 + s * (p->c1 / 2 + s * (p->c2 / 3 + s * p->c3 / 4)));
}

/* The piece between points i and i+1; the caller sets its area. */
static piece make_piece(const double *x, const double *y, size_t count, size_t i, bool smooth) {
    double h = x[i + 1] - x[i], d = slope_between(x, y, i);
    if (!smooth) return (piece){x[i], y[i], d, 0, 0, 0};
    double m0 = smooth_slope(x, y, count, i), m1 = smooth_slope(x, y, count, i + 1);
    return (piece){x[i], y[i], m0, (3 * d - 2 * m0 - m1) / h, (m0 + m1 - 2 * d) / h / h, 0};
}

lw_function *lw_function_table(lw_arena *arena, const double *x, const double *y, size_t count, bool smooth) {
    if (count < 2) return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i]) || (i > 0 && !(x[i] > x[i - 1]))) return NULL;
    }
    lw_function *function = LW_NEW(arena, lw_function, 1);
    double *points = LW_NEW(arena, double, count);
    piece *pieces = LW_NEW(arena, piece, count + 1);
    if (lw_arena_failed(arena)) return NULL;

    memcpy(points, x, count * sizeof *points);
    for (size_t i = 0; i + 1 < count; i++) {
        piece *p = &pieces[i + 1];
        *p = make_piece(x, y, count, i, smooth);
        p->area = i == 0 ? 0 : piece_area(p - 1, x[i] - x[i - 1]);
        if (!isfinite(p->c1) || !isfinite(p->c2) || !isfinite(p->c3) || !isfinite(p->area)) return NULL;
    }
    const piece *last = &pieces[count - 1];
    double h = x[count - 1] - x[count - 2];
    double end = smooth ? smooth_slope(x, y, count, count - 1) : last->c1;
    pieces[0] = (piece){x[0], y[0], pieces[1].c1, 0, 0, 0};
    pieces[count] = (piece){x[count - 1], y[count - 1], end, 0, 0, piece_area(last, h)};
    if (!isfinite(end) || !isfinite(pieces[count].area)) return NULL;

    function->x = points;
    function->count = count;
    function->pieces = pieces;
    function->uses[0] = true;
    return function;
}

static const piece *find_piece(const lw_function *f, double x) {
    size_t low = 0, high = f->count; /* the number of points <= x is in low..high */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->x[middle] <= x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return &f->pieces[low];
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

bool lw_function_may_jump(const lw_function *function) {
    if (!function->code) return true;
    for (size_t k = 0; k < function->length; k++) {
        lw_op op = function->code[k].op;
        if ((op >= LW_OP_ABS && op <= LW_OP_RAMP) || (op >= LW_OP_LESS && op <= LW_OP_OR) ||
            op == LW_OP_MOD || op == LW_OP_MIN || op == LW_OP_MAX || op == LW_OP_IF || op == LW_OP_NOT)
            return true;
    }
    return false;
}

void lw_function_knots(const lw_function *function, size_t time, lw_knot_found found, void *context) {
    if (function->code) lw_machine_knots(function->code, function->length, time, found, context);
}

bool lw_function_is_constant(const lw_function *function) {
    return function->code && function->length == 1 && function->code[0].op == LW_OP_CONSTANT;
}

double lw_function_value(const lw_function *function, const double *variables, const double *inputs) {
    if (function->code) return lw_machine_value(function->code, function->length, variables, inputs);
    const piece *p = find_piece(function, variables[0]);
    return piece_value(p, variables[0] - p->x);
}

lw_jet lw_function_jet(const lw_function *function, const lw_jet *variables, const double *inputs) {
    if (function->code) return lw_machine_jet(function->code, function->length, variables, inputs);
    lw_jet x = variables[0];
    const piece *p = find_piece(function, x.f);
    double s = x.f - p->x;
    double d = p->c1 + s * (2 * p->c2 + 3 * s * p->c3), dd = 2 * p->c2 + 6 * s * p->c3;
    return (lw_jet){piece_value(p, s), d * x.d, d * x.dd + dd * x.d * x.d};
}

lw_jet lw_function_jet_along(const lw_function *function, const lw_jet *variables, const lw_jet *inputs) {
    if (!function->code) return lw_function_jet(function, variables, NULL);
    return lw_machine_jet_along(function->code, function->length, variables, inputs);
}

double lw_function_gradient(const lw_function *function, const double *variables, const double *inputs,
                            double *slopes, double *variable_slopes, size_t variable_count) {
    for (size_t k = 0; k < function->input_count; k++)
        slopes[k] = lw_machine_slope(function->code, function->length, variables, inputs, LW_OP_INPUT,
                                     function->inputs[k]);
    for (size_t k = 0; variable_slopes && k < variable_count; k++) {
        const lw_jet x = {variables[0], 1, 0}; /* A table is a function of variable 0. */
        variable_slopes[k] = !lw_function_uses(function, k) ? 0
                             : function->code ? lw_machine_slope(function->code, function->length, variables,
                                                                 inputs, LW_OP_VARIABLE, (int)k)
                                              : lw_function_jet(function, &x, NULL).d;
    }
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
    if (!function->code) return time == 0 ? 2 : 0;
    return lw_machine_degree(function->code, function->length, time, of_values, of_operands);
}

double lw_function_look(const lw_function *function, const double *variables, const double *inputs,
                        unsigned without, const lw_look *at) {
    if (!function->conditions) return HUGE_VAL;
    return lw_machine_look(function->code, function->length, variables, inputs, without, at);
}

/* --- integrals ------------------------------------------------------------------------------------ */

enum { HALVINGS = 48, INTERVALS = 4000 };

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

double lw_function_integral(const lw_function *function, double a, double b, const double *variables) {
    if (a == b) return 0;
    if (!function->code) {
        const piece *from = find_piece(function, a), *to = find_piece(function, b);
        return piece_area(to, b - to->x) - piece_area(from, a - from->x);
    }
    if (lw_function_is_constant(function)) return function->code[0].value * (b - a);

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

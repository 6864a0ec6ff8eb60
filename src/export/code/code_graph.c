/* code_graph.c - makes nodes: each operation once, constants computed, signs outwards (code_graph.h).
 *
 * Rules     x + 0, x 1, x 0, x - x, --x, and constants that meet: c (d x) = (cd) x, c x + d x = (c + d) x.
 *           A product of anything negative is the negative of a product, a sum with a negative is a
 *           difference; so of two values that differ in sign only one is computed. Numbers are not assumed to
 *           be infinite: 0 x is 0.
 * Cost      O(1) per node, by a hash table.
 */
#include "export/code/code_graph.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int code_arity(code_op op) {
    if (op <= CODE_INPUT) return 0;
    if (op == CODE_SELECT) return 3;
    if (op == CODE_TABLE || op == CODE_NEGATE) return 1;
    if (op >= CODE_SIN && op <= CODE_CEIL) return 1;
    return 2;
}

void code_graph_create(code_graph *g) {
    memset(g, 0, sizeof *g);
    code_constant(g, 0); /* Node 0 is zero. */
    code_constant(g, 1);
}

void code_graph_destroy(code_graph *g) {
    free(g->nodes);
    free(g->table);
    free((void *)g->tables);
    free(g->numbers);
    memset(g, 0, sizeof *g);
}

/* Makes room for one more item of this size; the old array, and failed, if memory is out. */
static void *grown(code_graph *g, void *items, int count, int *room, size_t size) {
    if (count < *room) return items;
    const int more = *room ? 2 * *room : 256;
    void *longer = realloc(items, (size_t)more * size);
    if (!longer) {
        g->failed = true;
        return items;
    }
    *room = more;
    return longer;
}

static uint32_t hash_of(const code_operation *o) {
    uint64_t bits, h = o->op;
    memcpy(&bits, &o->value, sizeof bits);
    const uint64_t parts[4] = {(uint64_t)(unsigned)o->a, (uint64_t)(unsigned)o->b, (uint64_t)(unsigned)o->c,
                               bits};
    for (int k = 0; k < 4; k++) h = (h ^ parts[k]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return (uint32_t)(h >> 16);
}

static bool same(const code_operation *x, const code_operation *y) {
    return x->op == y->op && x->a == y->a && x->b == y->b && x->c == y->c &&
           memcmp(&x->value, &y->value, sizeof x->value) == 0;
}

static void rehash(code_graph *g) {
    const int size = g->table_size ? 2 * g->table_size : 1024;
    int *table = calloc((size_t)size, sizeof *table);
    if (!table) {
        g->failed = true;
        return;
    }
    for (int n = 0; n < g->count; n++) {
        uint32_t at = hash_of(&g->nodes[n]) & (uint32_t)(size - 1);
        while (table[at]) at = (at + 1) & (uint32_t)(size - 1);
        table[at] = n + 1;
    }
    free(g->table);
    g->table = table;
    g->table_size = size;
}

static code_node find(const code_graph *g, const code_operation *o) {
    uint32_t at = hash_of(o) & (uint32_t)(g->table_size - 1);
    for (; g->table[at]; at = (at + 1) & (uint32_t)(g->table_size - 1))
        if (same(&g->nodes[g->table[at] - 1], o)) return g->table[at] - 1;
    return -1;
}

static code_node store(code_graph *g, const code_operation *o) {
    if (g->failed) return 0;
    if (2 * (g->count + 1) > g->table_size) rehash(g);
    g->nodes = grown(g, g->nodes, g->count, &g->room, sizeof *g->nodes);
    if (g->failed) return 0;
    uint32_t at = hash_of(o) & (uint32_t)(g->table_size - 1);
    for (; g->table[at]; at = (at + 1) & (uint32_t)(g->table_size - 1))
        if (same(&g->nodes[g->table[at] - 1], o)) return g->table[at] - 1;
    g->nodes[g->count] = *o;
    g->table[at] = g->count + 1;
    return g->count++;
}

code_node code_constant(code_graph *g, double value) {
    const code_operation o = {.op = CODE_CONSTANT, .value = value == 0 ? 0 : value}; /* no -0 */
    return store(g, &o);
}

code_node code_number(code_graph *g, double value, double scale) {
    if (scale > 0 && fabs(value) < 1e-15 * scale) value = 0;
    if (scale == 1 && fabs(fabs(value) - 1) < 1e-15) value = value > 0 ? 1 : -1;
    g->numbers = grown(g, g->numbers, g->number_count, &g->number_room, sizeof *g->numbers);
    if (g->failed) return 0;
    g->numbers[g->number_count++] = value;
    const code_node kept = g->replace ? g->replace(g, g->context, g->number_count - 1, value) : -1;
    return kept >= 0 ? kept : code_constant(g, value);
}

code_node code_input(code_graph *g, code_array array, int index) {
    const code_operation o = {.op = CODE_INPUT, .a = (int)array, .b = index};
    return store(g, &o);
}

code_node code_table(code_graph *g, const lw_table *table, code_node x, int derivative) {
    int k = 0;
    while (k < g->table_count && g->tables[k] != table) k++;
    if (k == g->table_count) {
        g->tables = grown(g, (void *)g->tables, g->table_count, &g->table_room, sizeof *g->tables);
        if (g->failed) return 0;
        g->tables[g->table_count++] = table;
    }
    const code_operation o = {.op = CODE_TABLE, .a = x, .b = k, .c = derivative};
    return store(g, &o);
}

bool code_is_constant(const code_graph *g, code_node a) {
    return !g->failed && g->nodes[a].op == CODE_CONSTANT;
}
bool code_is(const code_graph *g, code_node a, double value) {
    return code_is_constant(g, a) && g->nodes[a].value == value;
}
static bool is_op(const code_graph *g, code_node a, code_op op) { return g->nodes[a].op == op; }
static double value_of(const code_graph *g, code_node a) { return g->nodes[a].value; }

static double remainder_of(double a, double b) {
    const double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static double evaluate(code_op op, double a, double b, double c) {
    switch (op) {
    case CODE_NEGATE:
        return -a;
    case CODE_ADD:
        return a + b;
    case CODE_SUBTRACT:
        return a - b;
    case CODE_MULTIPLY:
        return a * b;
    case CODE_DIVIDE:
        return a / b;
    case CODE_SIN:
        return sin(a);
    case CODE_COS:
        return cos(a);
    case CODE_TAN:
        return tan(a);
    case CODE_ASIN:
        return asin(a);
    case CODE_ACOS:
        return acos(a);
    case CODE_ATAN:
        return atan(a);
    case CODE_SINH:
        return sinh(a);
    case CODE_COSH:
        return cosh(a);
    case CODE_TANH:
        return tanh(a);
    case CODE_EXP:
        return exp(a);
    case CODE_LOG:
        return log(a);
    case CODE_LOG10:
        return log10(a);
    case CODE_SQRT:
        return sqrt(a);
    case CODE_CBRT:
        return cbrt(a);
    case CODE_ABS:
        return fabs(a);
    case CODE_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : a;
    case CODE_FLOOR:
        return floor(a);
    case CODE_CEIL:
        return ceil(a);
    case CODE_ATAN2:
        return atan2(a, b);
    case CODE_HYPOT:
        return hypot(a, b);
    case CODE_POWER:
        return pow(a, b);
    case CODE_MOD:
        return remainder_of(a, b);
    case CODE_LESS:
        return a < b;
    case CODE_LESS_EQUAL:
        return a <= b;
    case CODE_EQUAL:
        return a == b;
    default:
        return a != 0 ? b : c; /* CODE_SELECT */
    }
}

static double table_value(const lw_table *table, double x, int order) {
    const lw_jet y = lw_table_jet(table, (lw_jet){x, 1, 0});
    return order == 0 ? y.f : order == 1 ? y.d : y.dd;
}

void code_evaluate(const code_graph *g, const double *const arrays[CODE_ARRAYS], double *values) {
    for (int n = 0; n < g->count; n++) {
        const code_operation *o = &g->nodes[n];
        if (o->op == CODE_CONSTANT)
            values[n] = o->value;
        else if (o->op == CODE_INPUT)
            values[n] = arrays[o->a] ? arrays[o->a][o->b] : 0;
        else if (o->op == CODE_TABLE)
            values[n] = table_value(g->tables[o->b], values[o->a], o->c);
        else
            values[n] = evaluate((code_op)o->op, values[o->a], values[o->b], values[o->c]);
    }
}

/* c x: the constant and the node of a product by a constant. */
static double factor_of(const code_graph *g, code_node n, code_node *rest) {
    const code_operation *o = &g->nodes[n];
    if (o->op == CODE_MULTIPLY && is_op(g, o->a, CODE_CONSTANT)) {
        *rest = o->b;
        return value_of(g, o->a);
    }
    *rest = n;
    return 1;
}

static code_node sum(code_graph *g, code_node a, code_node b) {
    code_node x, y;
    if (code_is(g, a, 0)) return b;
    if (code_is(g, b, 0)) return a;
    if (is_op(g, b, CODE_NEGATE)) return code_sub(g, a, g->nodes[b].a);
    if (is_op(g, a, CODE_NEGATE)) return code_sub(g, b, g->nodes[a].a);
    const double c = factor_of(g, a, &x), d = factor_of(g, b, &y);
    if (x == y) return code_mul(g, code_constant(g, c + d), x);
    if (is_op(g, b, CODE_CONSTANT)) { /* constants come first */
        const code_node swap = a;
        a = b, b = swap;
    }
    if (is_op(g, a, CODE_CONSTANT) && is_op(g, b, CODE_ADD) && is_op(g, g->nodes[b].a, CODE_CONSTANT))
        return code_add(g, code_constant(g, value_of(g, a) + value_of(g, g->nodes[b].a)), g->nodes[b].b);
    if (!is_op(g, a, CODE_CONSTANT) && a > b) {
        const code_node swap = a;
        a = b, b = swap;
    }
    const code_operation o = {.op = CODE_ADD, .a = a, .b = b};
    return store(g, &o);
}

static code_node difference(code_graph *g, code_node a, code_node b) {
    code_node x, y;
    if (a == b) return 0;
    if (code_is(g, b, 0)) return a;
    if (code_is(g, a, 0)) return code_neg(g, b);
    if (is_op(g, b, CODE_NEGATE)) return code_add(g, a, g->nodes[b].a);
    if (is_op(g, a, CODE_NEGATE)) return code_neg(g, code_add(g, g->nodes[a].a, b));
    if (is_op(g, b, CODE_CONSTANT)) return code_add(g, a, code_constant(g, -value_of(g, b)));
    const double c = factor_of(g, a, &x), d = factor_of(g, b, &y);
    if (x == y) return code_mul(g, code_constant(g, c - d), x);
    /* Where b - a exists, its negative. */
    const code_operation other = {.op = CODE_SUBTRACT, .a = b, .b = a},
                         own = {.op = CODE_SUBTRACT, .a = a, .b = b};
    const code_node found = find(g, &other);
    return found >= 0 ? code_neg(g, found) : store(g, &own);
}

static code_node product(code_graph *g, code_node a, code_node b) {
    if (code_is(g, a, 0) || code_is(g, b, 0)) return 0;
    if (code_is(g, a, 1)) return b;
    if (code_is(g, b, 1)) return a;
    if (is_op(g, a, CODE_NEGATE)) return code_neg(g, code_mul(g, g->nodes[a].a, b));
    if (is_op(g, b, CODE_NEGATE)) return code_neg(g, code_mul(g, a, g->nodes[b].a));
    if (is_op(g, b, CODE_CONSTANT) || (a > b && !is_op(g, a, CODE_CONSTANT))) {
        const code_node swap = a;
        a = b, b = swap;
    }
    if (is_op(g, a, CODE_CONSTANT)) {
        code_node rest;
        const double c = value_of(g, a), d = factor_of(g, b, &rest);
        if (rest != b) return code_mul(g, code_constant(g, c * d), rest);
        if (c < 0) return code_neg(g, code_mul(g, code_constant(g, -c), b));
    }
    const code_operation o = {.op = CODE_MULTIPLY, .a = a, .b = b};
    return store(g, &o);
}

static code_node quotient(code_graph *g, code_node a, code_node b) {
    if (code_is(g, a, 0)) return 0;
    if (code_is(g, b, 1)) return a;
    if (is_op(g, a, CODE_NEGATE)) return code_neg(g, code_div(g, g->nodes[a].a, b));
    if (is_op(g, b, CODE_NEGATE)) return code_neg(g, code_div(g, a, g->nodes[b].a));
    const code_operation o = {.op = CODE_DIVIDE, .a = a, .b = b};
    return store(g, &o);
}

/* f(-x) of even and odd functions; -1: neither. */
static code_node of_negative(code_graph *g, code_op op, code_node x) {
    if (op == CODE_COS || op == CODE_COSH || op == CODE_ABS) return code_make(g, op, x, 0, 0);
    const bool odd = op == CODE_SIN || op == CODE_TAN || op == CODE_ASIN || op == CODE_ATAN ||
                     op == CODE_SINH || op == CODE_TANH || op == CODE_CBRT || op == CODE_SIGN;
    return odd ? code_neg(g, code_make(g, op, x, 0, 0)) : -1;
}

code_node code_make(code_graph *g, code_op op, code_node a, code_node b, code_node c) {
    if (g->failed) return 0;
    const int operands = code_arity(op);
    const bool constant = is_op(g, a, CODE_CONSTANT) && (operands < 2 || is_op(g, b, CODE_CONSTANT)) &&
                          (operands < 3 || is_op(g, c, CODE_CONSTANT));
    if (constant) {
        const double value = evaluate(op, value_of(g, a), value_of(g, b), value_of(g, c));
        if (isfinite(value)) return code_constant(g, value);
    }
    switch (op) {
    case CODE_NEGATE:
        if (is_op(g, a, CODE_NEGATE)) return g->nodes[a].a;
        break;
    case CODE_ADD:
        return sum(g, a, b);
    case CODE_SUBTRACT:
        return difference(g, a, b);
    case CODE_MULTIPLY:
        return product(g, a, b);
    case CODE_DIVIDE:
        if (is_op(g, b, CODE_CONSTANT) && value_of(g, b) != 0 && !is_op(g, a, CODE_CONSTANT))
            return product(g, code_constant(g, 1 / value_of(g, b)), a);
        return quotient(g, a, b);
    case CODE_POWER:
        if (code_is(g, b, 1)) return a;
        if (code_is(g, b, 2)) return code_mul(g, a, a);
        if (code_is(g, b, 3)) return code_mul(g, code_mul(g, a, a), a);
        break;
    case CODE_SELECT:
        if (b == c) return b;
        if (is_op(g, a, CODE_CONSTANT)) return value_of(g, a) != 0 ? b : c;
        break;
    default:
        if (operands == 1 && is_op(g, a, CODE_NEGATE)) {
            const code_node other = of_negative(g, op, g->nodes[a].a);
            if (other >= 0) return other;
        }
    }
    const code_operation o = {
        .op = (unsigned char)op, .a = a, .b = operands > 1 ? b : 0, .c = operands > 2 ? c : 0};
    return store(g, &o);
}

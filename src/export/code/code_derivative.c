/* code_derivative.c - derivatives of nodes along a direction, as nodes: the chain rule, forwards.
 *
 * Of abs, sign, floor, ceil, mod, comparisons and choices the branch that gives the value is differentiated,
 * as by the machine of expressions (expression/expression_machine.c). Slopes that are infinite there, as that
 * of a root at 0, stay infinite here unless what they multiply is constant.
 *
 * Cost      O(nodes that the wanted ones need).
 */
#include "export/code/code_graph.h"

#include <stdlib.h>
#include <string.h>

#define LN10 2.302585092994045684

static code_node number(code_graph *g, double x) { return code_constant(g, x); }
static code_node square(code_graph *g, code_node x) { return code_mul(g, x, x); }

/* The slope of a function of one operand x whose value is n. */
static code_node slope_of(code_graph *g, code_node n, code_op op, code_node x) {
    const code_node one = number(g, 1);
    switch (op) {
    case CODE_SIN:
        return code_make(g, CODE_COS, x, 0, 0);
    case CODE_COS:
        return code_neg(g, code_make(g, CODE_SIN, x, 0, 0));
    case CODE_TAN:
        return code_add(g, one, square(g, n));
    case CODE_ASIN:
    case CODE_ACOS: {
        const code_node root =
            code_make(g, CODE_SQRT, code_mul(g, code_sub(g, one, x), code_add(g, one, x)), 0, 0);
        return code_div(g, number(g, op == CODE_ASIN ? 1 : -1), root);
    }
    case CODE_ATAN:
        return code_div(g, one, code_add(g, one, square(g, x)));
    case CODE_SINH:
        return code_make(g, CODE_COSH, x, 0, 0);
    case CODE_COSH:
        return code_make(g, CODE_SINH, x, 0, 0);
    case CODE_TANH:
        return code_sub(g, one, square(g, n));
    case CODE_EXP:
        return n;
    case CODE_LOG:
        return code_div(g, one, x);
    case CODE_LOG10:
        return code_div(g, number(g, 1 / LN10), x);
    case CODE_SQRT:
        return code_div(g, number(g, 0.5), n);
    case CODE_CBRT:
        return code_div(g, number(g, 1.0 / 3), square(g, n));
    case CODE_ABS:
        return code_make(g, CODE_SIGN, x, 0, 0);
    default:
        return 0; /* sign, floor, ceil */
    }
}

/* The derivative of node n, from those of its operands; d[k] is -1 where zero. */
static code_node derivative_of(code_graph *g, code_node n, const code_node *d) {
    const code_operation o = g->nodes[n]; /* A copy: new nodes may move them. */
    const code_op op = (code_op)o.op;
    const int operands = code_arity(op);
    const code_node da = operands > 0 && d[o.a] >= 0 ? d[o.a] : 0,
                    db = operands > 1 && d[o.b] >= 0 ? d[o.b] : 0,
                    dc = operands > 2 && d[o.c] >= 0 ? d[o.c] : 0;
    switch (op) {
    case CODE_NEGATE:
        return code_neg(g, da);
    case CODE_ADD:
        return code_add(g, da, db);
    case CODE_SUBTRACT:
        return code_sub(g, da, db);
    case CODE_MULTIPLY:
        return code_add(g, code_mul(g, da, o.b), code_mul(g, o.a, db));
    case CODE_DIVIDE:
        return code_div(g, code_sub(g, da, code_mul(g, n, db)), o.b);
    case CODE_ATAN2:
    case CODE_HYPOT: {
        const code_node a_first = code_mul(g, o.a, da), b_first = code_mul(g, o.b, db);
        if (op == CODE_HYPOT) return code_div(g, code_add(g, a_first, b_first), n);
        return code_div(g, code_sub(g, code_mul(g, o.b, da), code_mul(g, o.a, db)),
                        code_add(g, square(g, o.a), square(g, o.b)));
    }
    case CODE_POWER: {
        code_node out = 0;
        if (da) {
            const code_node less = code_make(g, CODE_POWER, o.a, code_sub(g, o.b, number(g, 1)), 0);
            out = code_mul(g, code_mul(g, o.b, less), da);
        }
        if (db) out = code_add(g, out, code_mul(g, code_mul(g, n, code_make(g, CODE_LOG, o.a, 0, 0)), db));
        return out;
    }
    case CODE_MOD: /* a - b floor(a / b) */
        return code_sub(g, da, code_mul(g, db, code_div(g, code_sub(g, o.a, n), o.b)));
    case CODE_SELECT:
        return code_select(g, o.a, db, dc);
    case CODE_TABLE:
        return o.c < 2 ? code_mul(g, code_table(g, g->tables[o.b], o.a, o.c + 1), da) : 0;
    case CODE_LESS:
    case CODE_LESS_EQUAL:
    case CODE_EQUAL:
        return 0;
    default:
        return code_mul(g, slope_of(g, n, op, o.a), da);
    }
}

bool code_derive(code_graph *g, const code_seed *seeds, int seed_count, const code_node *wanted,
                 int wanted_count, code_node *out) {
    const int count = g->count;
    code_node *d = malloc(((size_t)count + 1) * sizeof *d);
    bool *needed = calloc((size_t)count + 1, sizeof *needed),
         *seeded = calloc((size_t)count + 1, sizeof *seeded);
    if (!d || !needed || !seeded) g->failed = true;
    int last = -1;
    for (int k = 0; k < wanted_count && !g->failed; k++) {
        needed[wanted[k]] = true;
        last = wanted[k] > last ? wanted[k] : last;
    }
    for (int n = last; n >= 0 && !g->failed; n--) {
        d[n] = -1;
        for (int k = 0; needed[n] && k < code_arity((code_op)g->nodes[n].op); k++)
            needed[code_operand(g, n, k)] = true;
    }
    for (int k = 0; k < seed_count && !g->failed; k++)
        if (seeds[k].input <= last) seeded[seeds[k].input] = true, d[seeds[k].input] = seeds[k].rate;
    for (int n = 0; n <= last && !g->failed; n++) {
        if (!needed[n] || seeded[n]) continue;
        bool moves = false;
        const code_op op = (code_op)g->nodes[n].op;
        for (int k = 0; k < code_arity(op); k++) {
            const code_node from = d[code_operand(g, n, k)];
            moves |= from > 0;
        }
        if (moves) d[n] = derivative_of(g, n, d);
        if (d[n] == 0) d[n] = -1;
    }
    for (int k = 0; k < wanted_count; k++) out[k] = !g->failed && d[wanted[k]] >= 0 ? d[wanted[k]] : 0;
    free(d);
    free(needed);
    free(seeded);
    return !g->failed;
}

bool code_substitute(code_graph *g, const code_seed *swaps, int swap_count, const code_node *wanted,
                     int wanted_count, code_node *out) {
    const int count = g->count;
    code_node *is = malloc(((size_t)count + 1) * sizeof *is);
    bool *needed = calloc((size_t)count + 1, sizeof *needed);
    if (!is || !needed) g->failed = true;
    for (int k = 0; k < wanted_count && !g->failed; k++) needed[wanted[k]] = true;
    for (int n = count - 1; n >= 0 && !g->failed; n--) {
        is[n] = -1;
        for (int k = 0; needed[n] && k < code_arity((code_op)g->nodes[n].op); k++)
            needed[code_operand(g, n, k)] = true;
    }
    for (int k = 0; k < swap_count && !g->failed; k++)
        if (swaps[k].input < count) is[swaps[k].input] = swaps[k].rate;
    for (int n = 0; n < count && !g->failed; n++) {
        const code_operation o = g->nodes[n];
        const int operands = code_arity((code_op)o.op);
        if (!needed[n] || is[n] >= 0) continue;
        if (operands == 0)
            is[n] = n;
        else if (o.op == CODE_TABLE)
            is[n] = code_table(g, g->tables[o.b], is[o.a], o.c);
        else
            is[n] =
                code_make(g, (code_op)o.op, is[o.a], operands > 1 ? is[o.b] : 0, operands > 2 ? is[o.c] : 0);
    }
    for (int k = 0; k < wanted_count; k++) out[k] = g->failed ? 0 : is[wanted[k]];
    free(is);
    free(needed);
    return !g->failed;
}

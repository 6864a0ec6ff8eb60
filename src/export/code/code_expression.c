/* code_expression.c - compiled expressions, tables, signals, user states and prescribed motions as nodes.
 *
 * The program of an expression is run on nodes instead of numbers; docs/theory/signals.md says what the
 * entries of the vector of values are. Motions need derivatives in time: those of nodes, along t and the user
 * states, which change at their rates.
 */
#include "export/code/code_build.h"
#include "expression/expression_machine.h"
#include "model/quantity/quantity.h"

#include <math.h>
#include <stdlib.h>

static const code_op functions_of_one[] = {
    [LW_OP_SIN] = CODE_SIN,   [LW_OP_COS] = CODE_COS,     [LW_OP_TAN] = CODE_TAN,
    [LW_OP_ASIN] = CODE_ASIN, [LW_OP_ACOS] = CODE_ACOS,   [LW_OP_ATAN] = CODE_ATAN,
    [LW_OP_SINH] = CODE_SINH, [LW_OP_COSH] = CODE_COSH,   [LW_OP_TANH] = CODE_TANH,
    [LW_OP_EXP] = CODE_EXP,   [LW_OP_LOG] = CODE_LOG,     [LW_OP_LOG10] = CODE_LOG10,
    [LW_OP_SQRT] = CODE_SQRT, [LW_OP_CBRT] = CODE_CBRT,   [LW_OP_ABS] = CODE_ABS,
    [LW_OP_SIGN] = CODE_SIGN, [LW_OP_FLOOR] = CODE_FLOOR, [LW_OP_CEIL] = CODE_CEIL};

static code_node one(code_graph *g) { return code_constant(g, 1); }

static code_node unary(code_graph *g, lw_op op, code_node x) {
    if (op == LW_OP_NEGATE) return code_neg(g, x);
    if (op == LW_OP_NOT) return code_make(g, CODE_EQUAL, x, 0, 0);
    if (op == LW_OP_RAMP) return code_select(g, code_make(g, CODE_LESS, x, 0, 0), 0, x);
    return code_make(g, functions_of_one[op], x, 0, 0);
}

static code_node binary(code_graph *g, lw_op op, code_node a, code_node b) {
    switch (op) {
    case LW_OP_ADD:
        return code_add(g, a, b);
    case LW_OP_SUBTRACT:
        return code_sub(g, a, b);
    case LW_OP_MULTIPLY:
        return code_mul(g, a, b);
    case LW_OP_DIVIDE:
        return code_div(g, a, b);
    case LW_OP_POWER:
        return code_make(g, CODE_POWER, a, b, 0);
    case LW_OP_LESS:
        return code_make(g, CODE_LESS, a, b, 0);
    case LW_OP_LESS_EQUAL:
        return code_make(g, CODE_LESS_EQUAL, a, b, 0);
    case LW_OP_GREATER:
        return code_make(g, CODE_LESS, b, a, 0);
    case LW_OP_GREATER_EQUAL:
        return code_make(g, CODE_LESS_EQUAL, b, a, 0);
    case LW_OP_EQUAL:
        return code_make(g, CODE_EQUAL, a, b, 0);
    case LW_OP_NOT_EQUAL:
        return code_select(g, code_make(g, CODE_EQUAL, a, b, 0), 0, one(g));
    case LW_OP_AND: /* both are other than 0 */
        return code_select(g, a, code_select(g, b, one(g), 0), 0);
    case LW_OP_OR:
        return code_select(g, a, one(g), code_select(g, b, one(g), 0));
    case LW_OP_ATAN2:
        return code_make(g, CODE_ATAN2, a, b, 0);
    case LW_OP_HYPOT:
        return code_make(g, CODE_HYPOT, a, b, 0);
    case LW_OP_MOD:
        return code_make(g, CODE_MOD, a, b, 0);
    case LW_OP_MIN:
        return code_select(g, code_make(g, CODE_LESS, b, a, 0), b, a);
    default: /* LW_OP_MAX */
        return code_select(g, code_make(g, CODE_LESS, a, b, 0), b, a);
    }
}

/* x, x0, h0, x1, h1: from h0 to h1 by a polynomial between x0 and x1. */
static code_node step(code_graph *g, lw_op op, const code_node p[5]) {
    const code_node u = code_div(g, code_sub(g, p[0], p[1]), code_sub(g, p[3], p[1]));
    const code_node u2 = code_mul(g, u, u);
    code_node blend;
    if (op == LW_OP_STEP) {
        const code_node rest = code_sub(g, code_constant(g, 3), code_mul(g, code_constant(g, 2), u));
        blend = code_mul(g, u2, rest);
    } else {
        const code_node inner = code_sub(g, code_constant(g, 15), code_mul(g, code_constant(g, 6), u));
        blend = code_mul(g, code_mul(g, u2, u), code_sub(g, code_constant(g, 10), code_mul(g, u, inner)));
    }
    const code_node between = code_add(g, p[2], code_mul(g, code_sub(g, p[4], p[2]), blend));
    const code_node behind = code_select(g, code_make(g, CODE_LESS_EQUAL, p[3], p[0], 0), p[4], between);
    return code_select(g, code_make(g, CODE_LESS_EQUAL, p[0], p[1], 0), p[2], behind);
}

code_node code_function(code_build *b, const lw_function *function, const code_node *variables) {
    code_graph *g = b->g;
    code_node stack[LW_MACHINE_STACK], *p = stack;
    size_t length = 0;
    const lw_instruction *code = lw_function_program(function, &length);
    stack[0] = 0;
    for (const lw_instruction *i = code; i < code + length; i++) {
        const lw_op op = (lw_op)i->op;
        if (op == LW_OP_CONSTANT)
            *p++ = code_number(g, i->value, 0);
        else if (op == LW_OP_VARIABLE)
            *p++ = variables[i->variable];
        else if (op == LW_OP_INPUT)
            *p++ = code_value(b, i->input);
        else if (op == LW_OP_TABLE)
            p[-1] = code_table(g, i->table, p[-1], 0);
        else if (op < LW_OP_FIRST_BINARY)
            p[-1] = unary(g, op, p[-1]);
        else if (op < LW_OP_IF)
            p--, p[-1] = binary(g, op, p[-1], p[0]);
        else if (op == LW_OP_IF)
            p -= 2, p[-1] = code_select(g, p[-1], p[0], p[1]);
        else
            p -= 4, p[-1] = step(g, op, p - 1);
    }
    return stack[0];
}

code_node code_value(code_build *b, int entry) {
    const lw_values *values = &b->model->values;
    const int inputs = values->input_count, given = inputs + values->state_count,
              named = given + values->signal_count;
    code_graph *g = b->g;
    if (b->values[entry] >= 0) return b->values[entry];
    code_node out;
    if (entry < inputs) {
        out = code_input(g, CODE_INPUTS, entry);
        const lw_function *standard =
            isnan(b->model->input_defaults[entry]) ? values->functions[entry] : NULL;
        if (standard) /* NaN asks for the default, an expression. */
            out =
                code_select(g, code_make(g, CODE_EQUAL, out, out, 0), out, code_function(b, standard, &b->t));
    } else if (entry < given)
        out = code_input(g, CODE_STATES, entry - inputs);
    else if (entry < named)
        out = code_function(b, values->functions[entry], &b->t);
    else
        out = code_quantity(b, &values->quantities[entry - named]);
    b->values[entry] = out;
    return out;
}

code_node code_state_rate(code_build *b, int k) {
    return code_function(b, b->model->values.functions[b->model->values.input_count + k], &b->t);
}

/* --- motions -------------------------------------------------------------------------------------- */

/* The derivatives in time of some nodes, which depend on t and on user states. */
static void time_rates(code_build *b, const code_node *of, int count, code_node *rates) {
    const lw_values *values = &b->model->values;
    code_seed *seeds = malloc(((size_t)values->state_count + 1) * sizeof *seeds);
    int seed_count = 0;
    if (!seeds) {
        b->g->failed = true;
        return;
    }
    seeds[seed_count++] = (code_seed){b->t, one(b->g)};
    for (int k = 0; k < values->moving_count; k++) {
        const int state = values->moving[k];
        seeds[seed_count++] =
            (code_seed){code_value(b, values->input_count + state), code_state_rate(b, state)};
    }
    code_derive(b->g, seeds, seed_count, of, count, rates);
    free(seeds);
}

static void quaternion_product(code_graph *g, const code_node a[4], const code_node c[4], code_node out[4]) {
    code_node t[3];
    out[0] = code_sub(g, code_mul(g, a[0], c[0]), code3_dot(g, a + 1, c + 1));
    code3_cross(g, a + 1, c + 1, t);
    for (int k = 0; k < 3; k++)
        out[1 + k] = code_add(g, t[k], code_add(g, code_mul(g, a[0], c[1 + k]), code_mul(g, c[0], a[1 + k])));
}

/* Cardan angles, R = Rx(a) Ry(b) Rz(c): quaternion, angular velocity and acceleration in the rotated axes
 * (docs/theory/tree.md, 21). */
static void cardan(code_build *b, const code_node angle[3], code_node quaternion[4], code_node w[3],
                   code_node wdot[3]) {
    code_graph *g = b->g;
    code_node turns[3][4] = {{0}}, half[4], rates[3], s[3], c[3];
    for (int k = 0; k < 3; k++) {
        const code_node x = code_mul(g, code_constant(g, 0.5), angle[k]);
        turns[k][0] = code_make(g, CODE_COS, x, 0, 0);
        turns[k][1 + k] = code_make(g, CODE_SIN, x, 0, 0);
        s[k] = code_make(g, CODE_SIN, angle[k], 0, 0), c[k] = code_make(g, CODE_COS, angle[k], 0, 0);
    }
    quaternion_product(g, turns[0], turns[1], half);
    quaternion_product(g, half, turns[2], quaternion);
    time_rates(b, angle, 3, rates);
    const code_node first[3] = {code_mul(g, c[2], c[1]), code_neg(g, code_mul(g, s[2], c[1])), s[1]};
    const code_node second[3] = {s[2], c[2], 0};
    for (int k = 0; k < 3; k++)
        w[k] = code_add(g, code_mul(g, first[k], rates[0]), code_mul(g, second[k], rates[1]));
    w[2] = code_add(g, w[2], rates[2]);
    time_rates(b, w, 3, wdot);
}

void code_motions(code_build *b) {
    for (int k = 0; k < b->model->motion_count; k++) {
        const lw_motion *motion = &b->model->motions[k];
        const lw_link *link = &b->model->links[motion->body];
        const int v = link->v + motion->speed;
        if (motion->count == 1) {
            const code_node q = code_function(b, motion->functions[0], &b->t);
            b->q[link->q + motion->speed] = q;
            time_rates(b, &q, 1, &b->v[v]);
            time_rates(b, &b->v[v], 1, &b->vdot[v]);
        } else {
            code_node angle[3];
            for (int i = 0; i < 3; i++) angle[i] = code_function(b, motion->functions[i], &b->t);
            cardan(b, angle, b->q + link->q + lw_joint_quaternion(link->joint.type), b->v + v, b->vdot + v);
        }
    }
}

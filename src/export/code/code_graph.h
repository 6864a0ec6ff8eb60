/* code_graph.h - expressions as a graph of operations, from which C is generated
 * (docs/theory/generated-c.md).
 *
 * A node is an operation on earlier nodes and is known by its number. Equal operations on equal operands are
 * one node, constants are computed as nodes are made, signs are moved outwards, so that x and -x share their
 * work. There are no statements, no branches and no loops: a choice is a node of three operands.
 *
 * Numbers that the graph takes from a model pass through code_number, in an order that depends on the
 * structure of the model only: so a second model with other values of parameters gives the same sequence, and
 * those numbers that depend on a parameter are found and kept (code_keep.c).
 */
#ifndef LW_CODE_GRAPH_H
#define LW_CODE_GRAPH_H

#include "core/core.h"
#include "expression/table.h"

typedef int code_node;

typedef enum code_op {
    CODE_CONSTANT, /* value */
    CODE_INPUT,    /* number a of the arrays of arguments, entry b */
    CODE_NEGATE,
    CODE_ADD,
    CODE_SUBTRACT,
    CODE_MULTIPLY,
    CODE_DIVIDE,
    CODE_SIN,
    CODE_COS,
    CODE_TAN,
    CODE_ASIN,
    CODE_ACOS,
    CODE_ATAN,
    CODE_SINH,
    CODE_COSH,
    CODE_TANH,
    CODE_EXP,
    CODE_LOG,
    CODE_LOG10,
    CODE_SQRT,
    CODE_CBRT,
    CODE_ABS,
    CODE_SIGN,
    CODE_FLOOR,
    CODE_CEIL,
    CODE_ATAN2,
    CODE_HYPOT,
    CODE_POWER,
    CODE_MOD,
    CODE_LESS, /* comparisons are 0 or 1 */
    CODE_LESS_EQUAL,
    CODE_EQUAL,
    CODE_SELECT, /* a != 0 ? b : c */
    CODE_TABLE,  /* derivative number c, 0 .. 2, of table b at a */
    CODE_OPS
} code_op;

/* The arrays of arguments of generated functions. */
typedef enum code_array {
    CODE_TIME,
    CODE_Q,
    CODE_V,
    CODE_INPUTS,
    CODE_STATES,
    CODE_PARAMETERS, /* those that are kept */
    CODE_FORCE,      /* tau of forward dynamics */
    CODE_RATE,       /* vdot of inverse dynamics */
    CODE_ARRAYS
} code_array;

typedef struct code_operation {
    unsigned char op; /* code_op */
    int a, b, c;
    double value;
} code_operation;

typedef struct code_graph {
    code_operation *nodes;
    int count, room;
    int *table; /* hash: 1 + node, or 0 */
    int table_size;
    const lw_table **tables; /* those that nodes of CODE_TABLE look up */
    int table_count, table_room;
    bool failed; /* memory is out; nodes are then all number 0 */
    /* The numbers of the model in the order in which they were asked for. */
    double *numbers;
    int number_count, number_room;
    /* Replaces number k by a node, or returns -1: the parameters that are kept. May be NULL. */
    code_node (*replace)(struct code_graph *graph, void *context, int k, double value);
    void *context;
} code_graph;

void code_graph_create(code_graph *g);
void code_graph_destroy(code_graph *g);

code_node code_make(code_graph *g, code_op op, code_node a, code_node b, code_node c);
/* A number that does not depend on the model. */
code_node code_constant(code_graph *g, double value);
/* A number of the model; those that are zero, or one, but for rounding are 0 and 1 (scale: the size of a
 * number of this kind that matters; 0: the number as it is). */
code_node code_number(code_graph *g, double value, double scale);
code_node code_input(code_graph *g, code_array array, int index);
code_node code_table(code_graph *g, const lw_table *table, code_node x, int derivative);

static inline code_node code_add(code_graph *g, code_node a, code_node b) {
    return code_make(g, CODE_ADD, a, b, 0);
}
static inline code_node code_sub(code_graph *g, code_node a, code_node b) {
    return code_make(g, CODE_SUBTRACT, a, b, 0);
}
static inline code_node code_mul(code_graph *g, code_node a, code_node b) {
    return code_make(g, CODE_MULTIPLY, a, b, 0);
}
static inline code_node code_div(code_graph *g, code_node a, code_node b) {
    return code_make(g, CODE_DIVIDE, a, b, 0);
}
static inline code_node code_neg(code_graph *g, code_node a) { return code_make(g, CODE_NEGATE, a, 0, 0); }
static inline code_node code_select(code_graph *g, code_node condition, code_node yes, code_node no) {
    return code_make(g, CODE_SELECT, condition, yes, no);
}

bool code_is(const code_graph *g, code_node a, double value); /* Is it this constant? */
bool code_is_constant(const code_graph *g, code_node a);
/* How many operands an operation has. */
int code_arity(code_op op);
/* Operand k of a node. */
static inline code_node code_operand(const code_graph *g, code_node n, int k) {
    const code_operation *o = &g->nodes[n];
    return k == 0 ? o->a : k == 1 ? o->b : o->c;
}

/* The values of all nodes where the arrays of arguments are these; arrays that no node reads may be NULL. */
void code_evaluate(const code_graph *g, const double *const arrays[CODE_ARRAYS], double *values);

/* The derivatives of nodes along one direction: each input of the list changes at its rate, all others are
 * constant; out[k] is the derivative of wanted[k]. (code_derivative.c) */
typedef struct code_seed {
    code_node input, rate;
} code_seed;
bool code_derive(code_graph *g, const code_seed *seeds, int seed_count, const code_node *wanted,
                 int wanted_count, code_node *out);
/* Nodes with others in the place of some inputs: swaps[k].input becomes swaps[k].rate. */
bool code_substitute(code_graph *g, const code_seed *swaps, int swap_count, const code_node *wanted,
                     int wanted_count, code_node *out);

#endif

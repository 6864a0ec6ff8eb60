/* expression_machine.h - the stack machine that runs compiled expressions: its instructions and their
 * evaluation.
 */
#ifndef LW_EXPRESSION_MACHINE_H
#define LW_EXPRESSION_MACHINE_H

#include "expression/expression_types.h"
#include "expression/table.h"

/* Deepest stack that a program may need; the compiler refuses programs that need more. */
#define LW_MACHINE_STACK 64

/* Grouped by the number of operands; LW_OP_FIRST_* mark where a group begins. */
typedef enum lw_op {
    LW_OP_CONSTANT, /* pushes value */
    LW_OP_VARIABLE, /* pushes variable number `variable` */

    LW_OP_NEGATE,
    LW_OP_FIRST_UNARY = LW_OP_NEGATE,
    LW_OP_NOT,
    LW_OP_SIN,
    LW_OP_COS,
    LW_OP_TAN,
    LW_OP_ASIN,
    LW_OP_ACOS,
    LW_OP_ATAN,
    LW_OP_SINH,
    LW_OP_COSH,
    LW_OP_TANH,
    LW_OP_EXP,
    LW_OP_LOG,
    LW_OP_LOG10,
    LW_OP_SQRT,
    LW_OP_CBRT,
    LW_OP_ABS,
    LW_OP_SIGN,
    LW_OP_FLOOR,
    LW_OP_CEIL,
    LW_OP_RAMP,

    LW_OP_ADD,
    LW_OP_FIRST_BINARY = LW_OP_ADD,
    LW_OP_SUBTRACT,
    LW_OP_MULTIPLY,
    LW_OP_DIVIDE,
    LW_OP_POWER,
    LW_OP_LESS,
    LW_OP_LESS_EQUAL,
    LW_OP_GREATER,
    LW_OP_GREATER_EQUAL,
    LW_OP_EQUAL,
    LW_OP_NOT_EQUAL,
    LW_OP_AND,
    LW_OP_OR,
    LW_OP_ATAN2,
    LW_OP_HYPOT,
    LW_OP_MOD,
    LW_OP_MIN,
    LW_OP_MAX,

    LW_OP_IF,    /* condition, then, else */
    LW_OP_STEP,  /* x, x0, h0, x1, h1: cubic blend */
    LW_OP_STEP5, /* the same, quintic */

    LW_OP_TABLE, /* the value of `table` at its operand; behind the others, so that programs without tables
                    and values of the state run as fast as ever */
    /* pushes entry `input` of the vector of values (inputs, user states, signals, quantities) */
    LW_OP_INPUT
} lw_op;

typedef struct lw_instruction {
    union {
        double value;
        const lw_table *table; /* of LW_OP_TABLE; it lives as long as the program */
    };
    unsigned char op;       /* lw_op */
    unsigned char variable; /* its number; of a constant: 1 if it is the outcome of a condition */
    unsigned char slot;     /* of a condition: 1 + the place of its outcome; or 0 */
    unsigned char uses;     /* of a condition: bit k, its operands depend on variable k; LW_KINKS */
    int input;
} lw_instruction;

/* How many operands an instruction takes from the stack; each pushes one result. */
size_t lw_op_arity(lw_op op);

/* Runs a valid program (stack within LW_MACHINE_STACK, one result). inputs: their values; may be NULL if the
 * program uses none. They do not change along the curve of a jet. */
double lw_machine_value(const lw_instruction *code, size_t length, const double *variables,
                        const double *inputs);
lw_jet lw_machine_jet(const lw_instruction *code, size_t length, const lw_jet *variables,
                      const double *inputs);
/* The same where the inputs change along the curve, too. */
lw_jet lw_machine_jet_along(const lw_instruction *code, size_t length, const lw_jet *variables,
                            const lw_jet *inputs);
/* The partial derivative with respect to a variable (op LW_OP_VARIABLE) or an input (LW_OP_INPUT). */
double lw_machine_slope(const lw_instruction *code, size_t length, const double *variables,
                        const double *inputs, lw_op op, int number);

/* Conditions: comparisons, sign, floor, ceil, mod, steps, tables that jump, and the kinks of abs, min, max,
 * ramp and of tables with few points, where they depend on variables or on the vector of values. Finds their
 * slots and what they use; returns how many there are. */
int lw_machine_conditions(lw_instruction *code, size_t length);
/* After lw_machine_conditions: may the value jump at one of them that depends on a variable? */
bool lw_machine_jumps(const lw_instruction *code, size_t length);
/* How its value varies: 0 not, or as variables do that are not the time; 1 linearly with variable number
 * `time`; 2 otherwise, between jumps: with another function of time, or with a sine, cosine or tangent of
 * what varies, which may have many periods while that is still smooth. LW_VARIES is added if it varies at
 * all. of_values: the same of the entries of the vector of values; NULL: 0 of all. of_operands receives the
 * most, without LW_VARIES, of the operands of its conditions. */
int lw_machine_degree(const lw_instruction *code, size_t length, size_t time, const unsigned char *of_values,
                      int *of_operands);
/* The same values where conditions have these outcomes, whatever their operands; NAN: as the operands say. A
 * value that is not finite with these outcomes is that of the operands. */
double lw_machine_value_held(const lw_instruction *code, size_t length, const double *variables,
                             const double *inputs, const double *held);
lw_jet lw_machine_jet_held(const lw_instruction *code, size_t length, const lw_jet *variables,
                           const double *inputs, const double *held);
/* The outcomes of conditions that use no variable of the mask `without`, NAN of others, and how far each is
 * from changing; returns the least of these distances. */
double lw_machine_look(const lw_instruction *code, size_t length, const double *variables,
                       const double *inputs, unsigned without, const lw_look *at);

#endif

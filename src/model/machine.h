/* machine.h - the stack machine that runs compiled expressions: its instructions and their evaluation.
 */
#ifndef LW_MACHINE_H
#define LW_MACHINE_H

#include "model/function.h"

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

    LW_OP_IF,   /* condition, then, else */
    LW_OP_STEP, /* x, x0, h0, x1, h1: cubic blend */
    LW_OP_STEP5 /* the same, quintic */
} lw_op;

typedef struct lw_instruction {
    double value;
    unsigned char op; /* lw_op */
    unsigned char variable;
} lw_instruction;

/* How many operands an instruction takes from the stack; each pushes one result. */
size_t lw_op_arity(lw_op op);

/* Runs a valid program (stack within LW_MACHINE_STACK, one result). */
double lw_machine_value(const lw_instruction *code, size_t length, const double *variables);
lw_jet lw_machine_jet(const lw_instruction *code, size_t length, const lw_jet *variables);

#endif

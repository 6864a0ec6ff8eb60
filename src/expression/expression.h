/* expression.h - from the text of an expression to a program for the machine.
 */
#ifndef LW_EXPRESSION_H
#define LW_EXPRESSION_H

#include "expression/expression_machine.h"

/* Longest program that an expression may become. */
#define LW_EXPRESSION_LENGTH 2048

/* Compiles text into code[0..LW_EXPRESSION_LENGTH) and returns the program's length; 0 on failure, with
 * syntax (which may be NULL) filled. Everything that does not depend on a variable is computed here: a
 * constant expression becomes one LW_OP_CONSTANT. measure (which may be NULL) receives the dimension of the
 * value; contradictory dimensions, as in the sum of a length and a mass, are a failure. */
size_t lw_expression_compile(const char *text, const lw_expression_names *names, lw_instruction *code,
                             lw_meaning *measure, lw_syntax *syntax);

/* The owner of a reserved word, which no parameter, input or index may have: "a function, unit or constant",
 * of which units have more than one letter, or a variable of laws; NULL if it is free. */
const char *lw_name_taken(const char *word);

#endif

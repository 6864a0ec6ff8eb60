/* expression.h - from the text of an expression to a program for the machine.
 */
#ifndef LW_EXPRESSION_H
#define LW_EXPRESSION_H

#include "model/machine.h"

/* Longest program that an expression may become. */
#define LW_EXPRESSION_LENGTH 2048

/* Names that an expression may use; a variable hides a constant of the same name. */
typedef struct lw_expression_names {
    const lw_constant *constants;
    size_t constant_count;
    const char *const *variables;
    size_t variable_count;
    const lw_meaning *variable_measures; /* what each variable measures; NULL: not known */
} lw_expression_names;

/* Does word[0..length) name a constant or a variable? */
bool lw_names_have(const lw_expression_names *names, const char *word, size_t length);

/* Compiles text into code[0..LW_EXPRESSION_LENGTH) and returns the program's length; 0 on failure, with
 * syntax (which may be NULL) filled. All that does not depend on a variable is computed here: a constant
 * expression becomes one LW_OP_CONSTANT. measure (which may be NULL) says what the value measures; a sum of a
 * length and a mass, and whatever else contradicts itself, is a failure. */
size_t lw_expression_compile(const char *text, const lw_expression_names *names, lw_instruction *code,
                             lw_meaning *measure, lw_syntax *syntax);

/* Is this word reserved (a function, a built-in constant, a word of the language, or a unit of more than one
 * letter), so that no parameter may have it? */
bool lw_reserved_word(const char *word);

#endif

/* expression_words.h - the words of expressions: functions, constants, and the names that the caller knows.
 */
#ifndef LW_EXPRESSION_WORDS_H
#define LW_EXPRESSION_WORDS_H

#include "expression/expression_machine.h"

enum { LW_MOST_ARGUMENTS = 16 };

/* A function of the language. */
typedef struct lw_word_function {
    const char *name;
    lw_op op;
    int least, most; /* number of arguments */
    const char *form;
    const char *domain; /* admissible arguments; NULL if all are */
} lw_word_function;

/* A word of the text; shown to the user up to 40 bytes. */
typedef struct lw_word {
    const char *start;
    size_t length;
} lw_word;

#define LW_SHOW(w) (int)((w).length < 40 ? (w).length : 40), (w).start

bool lw_word_is(lw_word w, const char *name);
/* Is it a word such as inf or nan, with which nothing can be computed? */
bool lw_word_is_no_number(lw_word w);

/* The function of this name, or of this operation; NULL if there is none. */
const lw_word_function *lw_find_function(lw_word w);
const lw_word_function *lw_function_of(lw_op op);
/* The number of the variable; variable_count if there is none of this name. */
size_t lw_find_variable(const lw_expression_names *names, lw_word w);
/* The constant of the caller or of the language (pi, e), the table, and the input, user state or signal of
 * this name; NULL if there is none. */
const lw_constant *lw_find_constant(const lw_expression_names *names, lw_word w);
const lw_constant *lw_find_builtin(lw_word w);
const lw_named_table *lw_find_table(const lw_expression_names *names, lw_word w);
const lw_constant *lw_find_value(const lw_expression_names *names, lw_word w);

/* Name number i of all names that may have been meant: variables, constants, inputs, user states, signals,
 * tables, built-in constants, then functions and words of quantities; NULL behind the last. The first
 * lw_known_names of them are names, not functions. */
const char *lw_known_name(const lw_expression_names *names, size_t i);
size_t lw_known_names(const lw_expression_names *names);
/* The closest of all these, or of all units if names is NULL; NULL if none is close. */
const char *lw_closest_word(const lw_expression_names *names, lw_word w);

/* The length of the longest name with dots, front_left.stiffness, that is known and begins text; 0: none. run
 * receives the length of all words with dots between them there. */
size_t lw_dotted_name(const lw_expression_names *names, const char *text, size_t *run);

#endif

/* expression_types.h - what expressions work with: jets, constants, variables, and what is wrong with a text.
 */
#ifndef LW_EXPRESSION_TYPES_H
#define LW_EXPRESSION_TYPES_H

#include "core/core.h"
#include "expression/meaning.h"

/* f, df/ds, d2f/ds2 along a curve with parameter s. */
typedef struct lw_jet {
    double f, d, dd;
} lw_jet;

typedef struct lw_constant {
    const char *name;
    double value;
    lw_meaning meaning; /* what it measures, as far as its author said */
    const char *text;   /* as he wrote it, for messages; may be NULL */
} lw_constant;

#define LW_MAX_VARIABLES 4

/* A look at the conditions of an expression, with one number per condition in each array; all may be NULL. */
typedef struct lw_look {
    const double *held; /* outcomes as they were, NAN: not held; operands see these outcomes, too */
    double *outcomes;   /* receives those of the operands */
    double *distances;  /* receives how far each is from changing, as a difference of its operands: negative
                           where it has changed, HUGE_VAL if it is not held */
} lw_look;
/* In a mask of variables: conditions at which the value itself does not jump. */
#define LW_KINKS 0x80u
/* And those that depend on the vector of values. */
#define LW_ON_VALUES 0x40u

/* Beside the degree of a value in time: it depends on variables or on the state. */
#define LW_VARIES 4

/* What is wrong with an expression: where (offset into the text, from 0) and how to mend it. */
typedef struct lw_syntax {
    size_t offset;
    char message[256];
    char remedy[160];
} lw_syntax;

/* May values of the state (inputs, user states, signals, quantities) be used in an expression? If not, their
 * names are known all the same, and refused with the reason. A motion may use user states. */
typedef enum lw_input_use {
    LW_INPUTS_ALLOWED = 0,
    LW_INPUTS_NOT_IN_CONSTANTS,
    LW_INPUTS_NOT_IN_MOTIONS
} lw_input_use;

/* A table (table.h), called like a function, and what its argument and its value measure. */
typedef struct lw_named_table {
    const char *name;
    const struct lw_table *table;
    lw_meaning argument, value;
} lw_named_table;

/* Finds the quantity of the state (a joint's coordinate, a point's height, ...) whose name begins at text;
 * returns the length of the name, and fills the quantity's number in the vector of values and what it
 * measures. 0: none begins here; then syntax has a message if the text is meant as a quantity but names
 * none, with an offset from text, and an empty one otherwise. */
typedef size_t lw_quantity_finder(void *context, const char *text, int *value, lw_meaning *measure,
                                  lw_syntax *syntax);

/* Names that an expression may use; a variable hides a constant or an input of the same name. */
typedef struct lw_expression_names {
    const lw_constant *constants;
    size_t constant_count;
    const char *const *variables;
    size_t variable_count;
    const lw_meaning *variable_measures; /* what each variable measures; NULL: not known */
    /* Inputs, then user states, then signals, whose values come at run time; those here do not matter. The
     * number of each in this list is its number in the vector of values. */
    const lw_constant *inputs;
    size_t input_count, state_count, signal_count;
    lw_input_use input_use;
    lw_quantity_finder *find_quantity; /* NULL: there are no quantities of a state here. */
    void *find_context;
    const lw_named_table *tables;
    size_t table_count;
} lw_expression_names;

/* The length of what may be the name of a quantity of the state at the beginning of text: words and quoted
 * names with dots between them, 'left-knee'.q, or a call with its component, point(load, 0, 0, 1).z; also a
 * lone word that may name one (kinetic). 0: none. */
size_t lw_quantity_extent(const char *text);
/* Is the word one of those that are called, as point in point(load, 0, 0, 1).z? */
bool lw_quantity_is_called(const char *word, size_t length);
/* The words that begin a quantity, by index, NULL behind the last: for suggestions. */
const char *lw_quantity_word(size_t index);

/* Does word[0..length) name a constant, a variable, an input, a user state, a signal or a table? */
bool lw_names_have(const lw_expression_names *names, const char *word, size_t length);

#endif

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

/* What is wrong with an expression: where (offset into the text, from 0) and how to mend it. */
typedef struct lw_syntax {
    size_t offset;
    char message[256];
    char remedy[160];
} lw_syntax;

/* May inputs be used in an expression? If not, their names are known all the same, and refused with the
 * reason. */
typedef enum lw_input_use {
    LW_INPUTS_ALLOWED = 0,
    LW_INPUTS_NOT_IN_CONSTANTS,
    LW_INPUTS_NOT_IN_MOTIONS
} lw_input_use;

/* Names that an expression may use; a variable hides a constant or an input of the same name. */
typedef struct lw_expression_names {
    const lw_constant *constants;
    size_t constant_count;
    const char *const *variables;
    size_t variable_count;
    const lw_meaning *variable_measures; /* what each variable measures; NULL: not known */
    const lw_constant *inputs;           /* values come from outside at run time; those here do not matter */
    size_t input_count;
    lw_input_use input_use;
} lw_expression_names;

/* Does word[0..length) name a constant, a variable or an input? */
bool lw_names_have(const lw_expression_names *names, const char *word, size_t length);

#endif

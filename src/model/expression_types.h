/* expression_types.h - what expressions work with: jets, constants, variables, and what is wrong with a text.
 */
#ifndef LW_EXPRESSION_TYPES_H
#define LW_EXPRESSION_TYPES_H

#include "core/core.h"
#include "model/meaning.h"

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

/* What is wrong with an expression: where (offset into the text, from 0) and how to mend it. */
typedef struct lw_syntax {
    size_t offset;
    char message[256];
    char remedy[160];
} lw_syntax;

#endif

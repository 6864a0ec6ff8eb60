/* record_expression.h - an expression of quantities as a column of a results file.
 */
#ifndef LW_RECORD_EXPRESSION_H
#define LW_RECORD_EXPRESSION_H

#include "model/quantity/quantity.h"

typedef struct lw_record_expression {
    const char *text;
    lw_function *function;
    lw_state_quantity *quantities; /* those that it uses, behind the named values of the model */
    int quantity_count;
    unsigned needs;
    double *values; /* inputs, user states, signals, and its quantities, */
    double *own;    /* which begin here */
} lw_record_expression;

/* Compiles text; false with syntax filled if that fails, and with an empty message if memory is out. */
bool lw_record_expression_compile(const lw_model *model, const char *text, lw_arena *arena,
                                  lw_record_expression *expression, lw_syntax *syntax);
/* What the values of inputs need of a state, whose defaults may be expressions: bits of LW_NEEDS_*. */
unsigned lw_record_input_needs(const lw_model *model);
/* Its value in the state of data, with the values of its quantities in `own`. Does not allocate. */
double lw_record_expression_value(const lw_model *model, lw_data *data, const lw_quantity_source *source,
                                  const lw_record_expression *expression);

#endif

/* dimensions.h - what the operations of expressions do to dimensions.
 */
#ifndef LW_DIMENSIONS_H
#define LW_DIMENSIONS_H

#include "expression/expression_machine.h"

/* Puts what the result measures in the place of operands[0]. last: the value of the last operand if it is
 * constant, else NULL. false, with message and remedy of syntax (which may be NULL), if the operands
 * contradict each other. */
bool lw_meaning_operation(lw_op op, lw_meaning *operands, const double *last, lw_syntax *syntax);

#endif

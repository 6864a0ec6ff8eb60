/* dimensions.h - what the operations of expressions do to dimensions.
 */
#ifndef LW_DIMENSIONS_H
#define LW_DIMENSIONS_H

#include "expression/expression_machine.h"

/* Replaces operands[0] by the dimension of the result. last: the value of the last operand if it is constant,
 * otherwise NULL. Returns false, with message and remedy in syntax (which may be NULL), if the operands
 * contradict each other. */
bool lw_meaning_operation(lw_op op, lw_meaning *operands, const double *last, lw_syntax *syntax);

#endif

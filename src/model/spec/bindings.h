/* bindings.h - the values of a spec that depend on parameters, and the expressions that they come from.
 *
 * The reader records a binding for every value whose expression mentions a parameter. lw_spec_set_parameter
 * evaluates all of them again, so that the spec becomes the one that a reading with the new value gives.
 */
#ifndef LW_BINDINGS_H
#define LW_BINDINGS_H

#include "model/spec/binding_types.h"

#include <stdbool.h>

int lw_binding_operands(lw_binding_kind kind);
int lw_binding_results(lw_binding_kind kind);

/* Results of kinds other than LW_BIND_SHAPE and LW_BIND_STRUCTURE; false if the operands break the kind's
 * rule. */
bool lw_binding_apply(lw_binding_kind kind, const double *operands, double *results);

/* Adds a binding, whose results stand in the spec already; operand, result and shadow of `binding` are filled
 * in here. */
lw_status lw_spec_bind(lw_spec *spec, const lw_binding *binding, const lw_operand *operands);

/* The column of a table that an owner of kind LW_OWNER_TABLE_* or LW_OWNER_POINTS_* is, with its size, or the
 * list of shapes that LW_OWNER_SHAPES is, with its length; NULL of other kinds. */
const double *lw_binding_column(const lw_spec *spec, lw_binding_owner owner, size_t object, int *size);
bool lw_binding_has_column(lw_binding_owner owner);

/* The place of a binding's results in the spec; NULL if there is none or the caller has replaced the
 * table. */
double *lw_binding_location(const lw_spec *spec, const lw_binding *binding);

#endif

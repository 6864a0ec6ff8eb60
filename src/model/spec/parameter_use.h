/* parameter_use.h - which objects of a spec depend on a parameter.
 */
#ifndef LW_PARAMETER_USE_H
#define LW_PARAMETER_USE_H

#include "model/spec/spec_storage.h"

/* LW_OK if nothing but force elements, gravity, defaults of inputs and suggestions for runs depend on
 * parameter `index`, directly or through other parameters: then it can change while the mechanism moves.
 * Otherwise LW_ERROR_UNSUPPORTED, and error names another object that depends on it. */
lw_status lw_parameter_enters_forces_only(const lw_spec *spec, size_t index, lw_error *error);

/* affected (of parameter_count + table_count): the parameters that events set, those whose expressions depend
 * on them, then tables with points that do. Returns whether there are any. */
bool lw_parameters_changing(const lw_spec *spec, bool *affected);
/* The first affected parameter or table that a text mentions; NULL if there is none, or no text. */
const char *lw_parameter_affecting(const lw_spec *spec, const bool *affected, const char *text);

#endif

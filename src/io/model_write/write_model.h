/* write_model.h - a spec as the text of a model file, in memory.
 */
#ifndef LW_WRITE_MODEL_H
#define LW_WRITE_MODEL_H

#include "core/core.h"

#include <linkwork/spec.h>

/* The text, ended by NUL, to be given back by free; NULL on failure, with the fault in error (which may be
 * NULL). */
lw_status lw_model_text(const lw_spec *spec, char **text, size_t *length, lw_error *error);

#endif

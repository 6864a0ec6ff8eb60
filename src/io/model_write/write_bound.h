/* write_bound.h - expressions of parameters that events set, in a model file.
 */
#ifndef LW_WRITE_BOUND_H
#define LW_WRITE_BOUND_H

#include "io/model_write/write_text.h"

/* Fills the writer's list of numbers that are written as expressions, and changing (of parameters, then
 * tables): the parameters whose expressions are. spec: as it was read; placed: what is written. false: memory
 * is out. */
bool lw_bound_create(lw_writer *writer, const lw_spec *spec, const lw_spec *placed, lw_arena *arena,
                     bool *changing);
/* A fault if such a number has not been written as its expression. */
void lw_bound_check(lw_writer *writer);

#endif

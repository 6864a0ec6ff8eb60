/* choose.h - which formulation works on a model: the one asked for, or the one that auto takes.
 */
#ifndef LW_CHOOSE_H
#define LW_CHOOSE_H

#include "formulations/formulation.h"

/* The formulation of that name, or for NULL and "auto" the one that suits the model best, if it applies. why (may be NULL) is
 * a sentence. */
lw_status lw_choose(const char *name, const lw_model *model, const lw_formulation **formulation, char *why,
                    size_t size, lw_error *error);

#endif

/* method_auto.h - which formulation works on a model: the one asked for, or the one that auto takes.
 */
#ifndef LW_METHOD_AUTO_H
#define LW_METHOD_AUTO_H

#include "formulations/formulation.h"

/* A state to try methods on. */
typedef struct lw_method_choice_state {
    double t;
    const double *q, *v;
} lw_method_choice_state;

/* The formulation of that name, or for NULL and "auto" the one that suits the model best, if it applies. at
 * (may be NULL): the state that methods are tried on; otherwise the initial one, which is assembled for that.
 * why (may be NULL) is a sentence. */
lw_status lw_method_choose_at(const char *name, const lw_model *model, const lw_method_choice_state *at,
                              const lw_formulation **formulation, char *why, size_t size, lw_error *error);
lw_status lw_method_choose(const char *name, const lw_model *model, const lw_formulation **formulation,
                           char *why, size_t size, lw_error *error);

#endif

/* method_auto.h - the choice of a formulation for a model: by name, or automatic.
 */
#ifndef LW_METHOD_AUTO_H
#define LW_METHOD_AUTO_H

#include "formulations/formulation.h"

/* A state on which methods are tried. */
typedef struct lw_method_choice_state {
    double t;
    const double *q, *v;
} lw_method_choice_state;

/* Finds the formulation with this name or, for NULL and "auto", the one that suits the model best; fails if
 * it does not apply. Methods are tried on the state `at` or, if this is NULL, on the initial state, which is
 * assembled for the purpose. `why` (may be NULL) receives the reason as a sentence. */
lw_status lw_method_choose_at(const char *name, const lw_model *model, const lw_method_choice_state *at,
                              const lw_formulation **formulation, char *why, size_t size, lw_error *error);
lw_status lw_method_choose(const char *name, const lw_model *model, const lw_formulation **formulation,
                           char *why, size_t size, lw_error *error);

#endif

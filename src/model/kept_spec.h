/* kept_spec.h - the spec that a compiled model keeps, so that parameters can change while it moves,
 * and results files carry the whole model.
 */
#ifndef LW_KEPT_SPEC_H
#define LW_KEPT_SPEC_H

#include "model/compiled_model.h"

/* Lets the model keep its spec as bytes, and a fingerprint of it. */
lw_status lw_model_keep_spec(lw_model *model, const lw_spec *spec);

/* The spec of a model, its loops cut where the model cuts them. */
lw_status lw_model_kept_spec(const lw_model *model, lw_spec **spec, lw_error *error);

/* Compiles a changed spec of the model; the layout of q and v must not change. */
lw_status lw_model_compile_again(const lw_model *model, const lw_spec *spec, lw_model **again,
                                 lw_error *error);

#endif

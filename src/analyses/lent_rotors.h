/* lent_rotors.h - a model whose motions all move mass, for statics.
 */
#ifndef LW_LENT_ROTORS_H
#define LW_LENT_ROTORS_H

#include "model/compiled_model.h"

/* Has the model motions that move no mass? */
bool lw_moves_no_mass(const lw_model *model);
/* The same model with rotors. LW_ERROR_UNSUPPORTED: it has user states. */
lw_status lw_lend_rotors(const lw_model *model, lw_model **lent, lw_error *error);

#endif

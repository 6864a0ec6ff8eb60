/* fmu_derivatives.h - directional derivatives of the rates and outputs of an FMU.
 */
#ifndef LW_FMU_DERIVATIVES_H
#define LW_FMU_DERIVATIVES_H

#include "fmu/fmu_variables.h"
#include <linkwork/derivatives.h>

typedef struct lw_fmu_derivatives lw_fmu_derivatives;

/* For the model that the simulation has now; both must outlive it. LW_ERROR_UNSUPPORTED: loops or constraints
 * (off them single coordinates have no derivatives), motions that move no mass, outputs of the ledger, or an
 * output that has no derivatives in the present state. */
lw_status lw_fmu_derivatives_create(lw_simulation *simulation, const lw_fmu_table *table,
                                    lw_fmu_derivatives **derivatives, lw_error *error);
void lw_fmu_derivatives_destroy(lw_fmu_derivatives *derivatives);

/* sensitivity = J seed in the present state: unknowns are rates, coordinates, speeds, user states, outputs
 * and reactions; knowns are continuous states and inputs. */
lw_status lw_fmu_derivatives_along(lw_fmu_derivatives *derivatives, const unsigned *unknown, size_t unknowns,
                                   const unsigned *known, size_t knowns, const double *seed,
                                   double *sensitivity, lw_error *error);

#endif

/* integrator_list_full.c - the integrators of the full library, one line each.
 */
#include "integrators/integrator_list.h"

/* clang-format off */
#define INTEGRATORS(row) \
    row(lw_rk4) \
    row(lw_erk) \
    row(lw_rosenbrock) \
    row(lw_adams) \
    row(lw_bdf) \
    row(lw_ida) \
    row(lw_energy_momentum) \
    row(lw_energy_momentum_4)
/* clang-format on */

INTEGRATORS(LW_INTEGRATOR_DECLARATION)

const lw_integrator *const lw_integrator_list[] = {INTEGRATORS(LW_INTEGRATOR_ENTRY) NULL};
const char *const lw_integrators_left_out[] = {NULL};

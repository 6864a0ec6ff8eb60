/* integrator_list_core.c - the integrators of linkwork-core, one line each: those that need no other library.
 */
#include "integrators/integrator_list.h"

/* clang-format off */
#define INTEGRATORS(row) \
    row(lw_rk4) \
    row(lw_erk) \
    row(lw_rosenbrock) \
    row(lw_energy_momentum) \
    row(lw_energy_momentum_4)
/* clang-format on */

INTEGRATORS(LW_INTEGRATOR_DECLARATION)

const lw_integrator *const lw_integrator_list[] = {INTEGRATORS(LW_INTEGRATOR_ENTRY) NULL};
const char *const lw_integrators_left_out[] = {"adams", "bdf", "ida", NULL}; /* They need SUNDIALS. */

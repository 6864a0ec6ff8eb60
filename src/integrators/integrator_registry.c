/* integrator_registry.c - all integrators, one line each.
 */
#include "integrators/integrator.h"

#include <string.h>

#define INTEGRATORS(row)                                                                                     \
    row(lw_rk4) row(lw_erk) row(lw_adams) row(lw_bdf) row(lw_ida) row(lw_energy_momentum)                    \
        row(lw_energy_momentum_4)

#define DECLARATION(name) extern const lw_integrator name;
#define ENTRY(name) &name,

INTEGRATORS(DECLARATION)

static const lw_integrator *const integrators[] = {INTEGRATORS(ENTRY)};

int lw_integrators_count(void) { return (int)(sizeof integrators / sizeof *integrators); }

const lw_integrator *lw_integrator_at(int index) {
    return index >= 0 && index < lw_integrators_count() ? integrators[index] : NULL;
}

const lw_integrator *lw_integrator_find(const char *name) {
    for (int i = 0; i < lw_integrators_count(); i++) {
        if (strcmp(integrators[i]->name, name) == 0) return integrators[i];
    }
    return NULL;
}

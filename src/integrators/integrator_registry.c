/* integrator_registry.c - the integrators that this archive of the library has, by number and by name.
 */
#include "integrators/integrator_list.h"

#include <string.h>

int lw_integrators_count(void) {
    int count = 0;
    while (lw_integrator_list[count]) count++;
    return count;
}

const lw_integrator *lw_integrator_at(int index) {
    return index >= 0 && index < lw_integrators_count() ? lw_integrator_list[index] : NULL;
}

const lw_integrator *lw_integrator_find(const char *name) {
    for (int i = 0; lw_integrator_list[i]; i++)
        if (strcmp(lw_integrator_list[i]->name, name) == 0) return lw_integrator_list[i];
    return NULL;
}

bool lw_integrator_left_out(const char *name) {
    for (int i = 0; lw_integrators_left_out[i]; i++)
        if (strcmp(lw_integrators_left_out[i], name) == 0) return true;
    return false;
}

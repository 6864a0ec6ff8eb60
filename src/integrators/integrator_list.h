/* integrator_list.h - the integrators that an archive of the library is made of. integrator_list_full.c or
 * integrator_list_core.c defines them, whichever is linked.
 */
#ifndef LW_INTEGRATOR_LIST_H
#define LW_INTEGRATOR_LIST_H

#include "integrators/integrator.h"

extern const lw_integrator *const lw_integrator_list[]; /* ends with NULL */
extern const char *const lw_integrators_left_out[];     /* their names; ends with NULL */

#define LW_INTEGRATOR_DECLARATION(name) extern const lw_integrator name;
#define LW_INTEGRATOR_ENTRY(name) &name,

#endif

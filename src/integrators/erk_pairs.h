/* erk_pairs.h - the embedded Runge-Kutta pairs that erk gives to ARKODE.
 */
#ifndef LW_ERK_PAIRS_H
#define LW_ERK_PAIRS_H

#include <arkode/arkode.h>
#include <stdbool.h>

enum { LW_ERK_STAGES = 13 }; /* at most */

/* Dormand-Prince 8(7) (high) or 5(4), to be freed with ARKodeButcherTable_Free; NULL: no memory. */
ARKodeButcherTable lw_erk_pair(bool high);

#endif

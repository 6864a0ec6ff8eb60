/* rigid_motions.h - motions that nothing opposes, and how many eigenvalues are zero for them.
 */
#ifndef LW_RIGID_MOTIONS_H
#define LW_RIGID_MOTIONS_H

#include "core/core.h"
#include "linalg/dense.h"

/* Of M z'' + C z' + K z = 0, n x n column by column, with user states behind the `motions` first unknowns:
 * their rows are those of s' - ..., and their columns of C those of s'. K is scaled. False: no memory. */
bool lw_rigid_motions(lw_arena *arena, int motions, int n, double *K, const double *C, int *rigid,
                      int *zeros);

#endif

/* linear_massless.h - linear systems of mechanisms some of whose motions move no mass.
 */
#ifndef LW_LINEAR_MASSLESS_H
#define LW_LINEAR_MASSLESS_H

#include "analyses/linear_parts.h"

/* `w` holds the maps and, in A and B, rows of coordinates and of user states, and of speeds (N'M N) w' in
 * place of w'; all is reduced to the coordinates, speeds and user states that are left. */
lw_status lw_linear_massless(lw_linear_work *w, double t, const double *q, lw_error *error);

#endif

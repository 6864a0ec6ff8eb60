/* characteristic_length.h - the length that makes rows and coordinates comparable.
 */
#ifndef LW_CHARACTERISTIC_LENGTH_H
#define LW_CHARACTERISTIC_LENGTH_H

#include "constraints/newton_euler_system.h"

/* The size of the mechanism's bodies at the state in the system: the longest arm from a centre of mass to the
 * line along which a row acts, or the largest radius of gyration; 1 if there is neither. */
double lw_length_of(const lw_newton_euler *s);

/* Where to draw the line in rank decisions at this state: rows of an overconstrained loop that does not quite
 * close look independent by as much as the gap is wide, so no singular value below that tells anything. */
double lw_rank_tolerance(const lw_newton_euler *s);

#endif

/* scaling.h - a length to make rows and coordinates dimensionless with, for dense methods.
 */
#ifndef LW_SCALING_H
#define LW_SCALING_H

#include "formulations/stationary.h"

/* The size of the mechanism's bodies at the state in the system: the longest arm from a centre of mass to the line along
 * which a row acts, or the largest radius of gyration; 1 if there is neither. */
double lw_length_of(const lw_stationary *s);

#endif

/* sobol.h - points of Sobol's sequence, which fill a cube evenly.
 */
#ifndef LW_SOBOL_H
#define LW_SOBOL_H

#include <stdint.h>

enum { LW_SOBOL_DIMENSIONS = 21 };

/* Coordinate number dimension (0 .. LW_SOBOL_DIMENSIONS - 1) of point number index, as a fraction of 2^32. */
uint32_t lw_sobol(uint32_t index, int dimension);

#endif

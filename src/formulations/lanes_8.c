/* lanes_8.c - the recursions for eight states at a time, with AVX-512 (lanes_table.h).
 */
#define LANES 8
#include "formulations/lanes_table.h"

const lw_lanes lw_lanes_8 = {"8 lanes", LANES, size, forward, inverse_of_states};

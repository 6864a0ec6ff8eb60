/* lanes_4.c - the recursions for four states at a time, with AVX2 (lanes_table.h).
 */
#define LANES 4
#include "formulations/lanes_table.h"

const lw_lanes lw_lanes_4 = {"4 lanes", LANES, size, forward, inverse_of_states};

/* lanes_2.c - the recursions for two states at a time, with the instructions that every 64-bit x86 and ARM
 * processor has (lanes_table.h).
 */
#define LANES 2
#include "formulations/lanes_table.h"

const lw_lanes lw_lanes_2 = {"2 lanes", LANES, size, forward, inverse_of_states};

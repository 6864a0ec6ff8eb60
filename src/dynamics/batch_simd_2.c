/* batch_simd_2.c - the recursions for two states at a time, with the instructions that every 64-bit x86 and
 * ARM processor has (batch_kernels.h).
 */
#define LANES 2
#include "dynamics/batch_kernels.h"

const lw_batch_simd lw_batch_simd_2 = {"2 lanes", LANES, size, forward, inverse_of_states};

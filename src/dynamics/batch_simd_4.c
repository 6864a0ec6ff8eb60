/* batch_simd_4.c - the recursions for four states at a time, with AVX2 (batch_kernels.h).
 */
#define LANES 4
#include "dynamics/batch_kernels.h"

const lw_batch_simd lw_batch_simd_4 = {"4 lanes", LANES, size, forward, inverse_of_states};

/* batch_simd_8.c - the recursions for eight states at a time, with AVX-512 (batch_kernels.h).
 */
#define LANES 8
#include "dynamics/batch_kernels.h"

const lw_batch_simd lw_batch_simd_8 = {"8 lanes", LANES, size, forward, inverse_of_states};

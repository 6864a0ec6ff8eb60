/* models_simd_4.c - forward dynamics of four trees at a time, with AVX2 (models_kernels.h).
 */
#define LANES 4
#include "dynamics/models_kernels.h"

const lw_models_simd lw_models_simd_4 = {LANES, room_size, take_numbers, forward_of_models};

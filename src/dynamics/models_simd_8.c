/* models_simd_8.c - forward dynamics of eight trees at a time, with AVX-512 (models_kernels.h).
 */
#define LANES 8
#include "dynamics/models_kernels.h"

const lw_models_simd lw_models_simd_8 = {LANES, room_size, take_numbers, forward_of_models};

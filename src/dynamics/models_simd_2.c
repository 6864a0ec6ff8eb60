/* models_simd_2.c - forward dynamics of two trees at a time (models_kernels.h).
 */
#define LANES 2
#include "dynamics/models_kernels.h"

const lw_models_simd lw_models_simd_2 = {LANES, room_size, take_numbers, forward_of_models};

/* rcr_simd_2.c - accelerations of two states at a time (rcr_simd_kernels.h).
 */
#define LANES 2
#include "formulations/rcr/rcr_simd_kernels.h"

const lw_rcr_simd lw_rcr_simd_2 = {LANES, create, accelerations};

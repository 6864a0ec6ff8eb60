/* rcr_simd_4.c - accelerations of four states at a time, with AVX2 (rcr_simd_kernels.h).
 */
#define LANES 4
#include "formulations/rcr/rcr_simd_kernels.h"

const lw_rcr_simd lw_rcr_simd_4 = {LANES, create, accelerations};

/* rcr_simd_8.c - accelerations of eight states at a time, with AVX-512 (rcr_simd_kernels.h).
 */
#define LANES 8
#include "formulations/rcr/rcr_simd_kernels.h"

const lw_rcr_simd lw_rcr_simd_8 = {LANES, create, accelerations};

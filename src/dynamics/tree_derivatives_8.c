/* tree_derivatives_8.c - derivatives of a tree on vectors of eight numbers, with AVX-512
 * (tree_derivatives_kernels.h).
 */
#define LANES 8
#include "dynamics/tree_derivatives_kernels.h"

const lw_tree_simd lw_tree_simd_8 = {LANES, columns, bodies, handed, pairs, factor, solve};

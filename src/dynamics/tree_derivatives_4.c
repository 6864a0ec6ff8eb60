/* tree_derivatives_4.c - derivatives of a tree on vectors of four numbers, with AVX2
 * (tree_derivatives_kernels.h).
 */
#define LANES 4
#include "dynamics/tree_derivatives_kernels.h"

const lw_tree_simd lw_tree_simd_4 = {LANES, columns, bodies, handed, pairs, factor, solve};

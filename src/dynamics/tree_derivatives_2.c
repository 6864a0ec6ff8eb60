/* tree_derivatives_2.c - derivatives of a tree on vectors of two numbers, with the instructions that every
 * 64-bit x86 and ARM processor has (tree_derivatives_kernels.h).
 */
#define LANES 2
#include "dynamics/tree_derivatives_kernels.h"

const lw_tree_simd lw_tree_simd_2 = {LANES, columns, bodies, handed, pairs, factor, solve};

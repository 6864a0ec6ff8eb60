/* code_symmetric.h - symmetric positive definite equations as nodes.
 */
#ifndef LW_CODE_SYMMETRIC_H
#define LW_CODE_SYMMETRIC_H

#include "export/code/code_graph.h"

/* A = L D L' in place, L with ones below the diagonal, row by row; the upper triangle is not touched.
 * margins: by how much each pivot exceeds this part of what stood in its place, to be positive. */
static inline void code_factor_symmetric(code_graph *g, int m, code_node *A, double rounding,
                                         code_node *pivots, code_node *margins) {
    for (int k = 0; k < m; k++) margins[k] = A[m * k + k];
    for (int k = 0; k < m; k++) {
        pivots[k] = A[m * k + k];
        margins[k] = code_sub(g, pivots[k], code_mul(g, code_constant(g, rounding), margins[k]));
        const code_node inv = code_div(g, code_constant(g, 1), pivots[k]);
        for (int i = k + 1; i < m; i++) {
            const code_node l = code_mul(g, A[m * i + k], inv);
            for (int j = k + 1; j < i; j++)
                A[m * i + j] = code_sub(g, A[m * i + j], code_mul(g, A[m * j + k], A[m * i + k]));
            A[m * i + i] = code_sub(g, A[m * i + i], code_mul(g, l, A[m * i + k]));
            A[m * i + k] = l;
        }
    }
}

/* A x = x, A as code_factor_symmetric left it. */
static inline void code_solve_symmetric(code_graph *g, int m, const code_node *A, const code_node *pivots,
                                        code_node *x) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < i; j++) x[i] = code_sub(g, x[i], code_mul(g, A[m * i + j], x[j]));
    for (int i = 0; i < m; i++) x[i] = code_mul(g, x[i], code_div(g, code_constant(g, 1), pivots[i]));
    for (int i = m - 1; i >= 0; i--)
        for (int j = i + 1; j < m; j++) x[i] = code_sub(g, x[i], code_mul(g, A[m * j + i], x[j]));
}

#endif

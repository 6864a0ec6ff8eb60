/* code_vectors.h - 3-vectors, 3 x 3 matrices and wrenches of nodes. A matrix is nine nodes row by row, a
 * symmetric one six: xx, yy, zz, xy, xz, yz. Outputs may not overlap inputs unless said. What is zero costs
 * nothing: the graph knows it.
 */
#ifndef LW_CODE_VECTORS_H
#define LW_CODE_VECTORS_H

#include "export/code/code_graph.h"

static inline int code_sym(int i, int j) { return i == j ? i : i + j + 2; }

static inline void code3_zero(code_node a[3]) { a[0] = a[1] = a[2] = 0; }
static inline void code3_copy(const code_node a[3], code_node out[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[k];
}
/* out may be a or b in the next four. */
static inline void code3_add(code_graph *g, const code_node a[3], const code_node b[3], code_node out[3]) {
    for (int k = 0; k < 3; k++) out[k] = code_add(g, a[k], b[k]);
}
static inline void code3_sub(code_graph *g, const code_node a[3], const code_node b[3], code_node out[3]) {
    for (int k = 0; k < 3; k++) out[k] = code_sub(g, a[k], b[k]);
}
static inline void code3_scale(code_graph *g, code_node s, const code_node a[3], code_node out[3]) {
    for (int k = 0; k < 3; k++) out[k] = code_mul(g, s, a[k]);
}
static inline void code3_add_scaled(code_graph *g, code_node s, const code_node a[3], code_node out[3]) {
    for (int k = 0; k < 3; k++) out[k] = code_add(g, out[k], code_mul(g, s, a[k]));
}
static inline code_node code3_dot(code_graph *g, const code_node a[3], const code_node b[3]) {
    code_node sum = 0;
    for (int k = 0; k < 3; k++) sum = code_add(g, sum, code_mul(g, a[k], b[k]));
    return sum;
}
static inline void code3_cross(code_graph *g, const code_node a[3], const code_node b[3], code_node out[3]) {
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = code_sub(g, code_mul(g, a[i], b[j]), code_mul(g, a[j], b[i]));
    }
}
static inline void code3_add_cross(code_graph *g, const code_node a[3], const code_node b[3],
                                   code_node out[3]) {
    code_node c[3];
    code3_cross(g, a, b, c);
    code3_add(g, out, c, out);
}
static inline code_node code3_norm(code_graph *g, const code_node a[3]) {
    return code_make(g, CODE_SQRT, code3_dot(g, a, a), 0, 0);
}
static inline void code3_turn(code_graph *g, const code_node R[9], const code_node x[3], code_node out[3]) {
    for (int i = 0; i < 3; i++) out[i] = code3_dot(g, R + 3 * i, x);
}
static inline void code3_turn_back(code_graph *g, const code_node R[9], const code_node x[3],
                                   code_node out[3]) {
    for (int i = 0; i < 3; i++) {
        const code_node column[3] = {R[i], R[3 + i], R[6 + i]};
        out[i] = code3_dot(g, column, x);
    }
}
static inline void code33_mul(code_graph *g, const code_node A[9], const code_node B[9], code_node out[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const code_node column[3] = {B[j], B[3 + j], B[6 + j]};
            out[3 * i + j] = code3_dot(g, A + 3 * i, column);
        }
}
static inline void code33_tmul(code_graph *g, const code_node A[9], const code_node B[9], code_node out[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const code_node a[3] = {A[i], A[3 + i], A[6 + i]}, b[3] = {B[j], B[3 + j], B[6 + j]};
            out[3 * i + j] = code3_dot(g, a, b);
        }
}
static inline void code33_identity(code_graph *g, code_node A[9]) {
    for (int k = 0; k < 9; k++) A[k] = code_constant(g, k % 4 == 0);
}
static inline void code_sym_mul(code_graph *g, const code_node S[6], const code_node x[3], code_node out[3]) {
    for (int i = 0; i < 3; i++) {
        const code_node row[3] = {S[code_sym(i, 0)], S[code_sym(i, 1)], S[code_sym(i, 2)]};
        out[i] = code3_dot(g, row, x);
    }
}
/* p + R x. */
static inline void code_pose_point(code_graph *g, const code_node R[9], const code_node p[3],
                                   const code_node x[3], code_node out[3]) {
    code3_turn(g, R, x, out);
    code3_add(g, p, out, out);
}
static inline code_node code6_dot(code_graph *g, const code_node a[6], const code_node b[6]) {
    return code_add(g, code3_dot(g, a, b), code3_dot(g, a + 3, b + 3));
}

#endif

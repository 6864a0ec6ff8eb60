/* tree_derivatives_kernels.h - derivatives of a tree on vectors of LANES bodies, motions or columns: included
 * by tree_derivatives_2.c, _4.c and _8.c, which differ in LANES and in the instructions that their compiler
 * may use. Where these add a product without rounding it first, the last digits are those of that.
 *
 *   columns  C = A^ x S + V^ x P,  D = 2 P                                                          (5, 6)
 *   bodies   I in world axes,  F = I A + V x* I V,  B and p                                         (12)
 *   handed   U = I S,  b,  I C + B P + S x* F,  I D + B S                                           (13, 14)
 *   pairs    36 multiplications for two motions on one path                                         (13, 14)
 *   factor   M = L'D L, where L has the pattern of the tree                                         (36)
 *   solve    x = L^-1 D^-1 L^-T b                                                                   (37)
 *
 * Source   docs/theory/derivatives.md. The factor is that of Featherstone (2005): no entry beside the pairs
 *          on one path arises.
 * Cost     handed: O(n); pairs, factor: O(n depth), O(n depth^2); solve: O(n depth) for each column.
 */
#include "dynamics/tree_derivatives_simd.h"
#include "linalg/simd.h"

#define INLINE static inline __attribute__((always_inline))

typedef REAL loose __attribute__((aligned(8), may_alias));

INLINE REAL load(const double *at) { return *(const loose *)at; }
INLINE void store(double *at, REAL x) { *(loose *)at = x; }

INLINE void rows(const double *at, int stride, int count, REAL *out) {
    for (int k = 0; k < count; k++) out[k] = load(at + (size_t)k * (size_t)stride);
}
INLINE void put_rows(double *at, int stride, int count, const REAL *x) {
    for (int k = 0; k < count; k++) store(at + (size_t)k * (size_t)stride, x[k]);
}

/* V x M and V x* F (spatial.h). */
INLINE void twist_cross(const REAL V[6], const REAL M[6], REAL out[6]) {
    r3_cross(V, M, out);
    r3_cross(V, M + 3, out + 3);
    r3_add_cross(V + 3, M, out + 3);
}
INLINE void wrench_cross(const REAL V[6], const REAL F[6], REAL out[6]) {
    r3_cross(V, F, out);
    r3_add_cross(V + 3, F + 3, out);
    r3_cross(V, F + 3, out + 3);
}
INLINE void symmetric(const REAL S[6], const REAL x[3], REAL out[3]) {
    out[0] = S[0] * x[0] + S[3] * x[1] + S[4] * x[2];
    out[1] = S[3] * x[0] + S[1] * x[1] + S[5] * x[2];
    out[2] = S[4] * x[0] + S[5] * x[1] + S[2] * x[2];
}
/* I V for an inertia: mass, first moment, second moment. */
INLINE void inertia(const REAL I[10], const REAL V[6], REAL out[6]) {
    symmetric(I + 4, V, out);
    r3_add_cross(I + 1, V + 3, out);
    r3_cross(V, I + 1, out + 3);
    for (int k = 0; k < 3; k++) out[3 + k] += I[0] * V[3 + k];
}

static void columns(const lw_tree_flat *f) {
    const int stride = f->motion_stride;
    for (int k = 0; k < f->nv; k += LANES) {
        double *at = f->motions + k;
        REAL S[6], P[6], V[6], A[6], C[6], part[6];
        rows(at + LW_FLAT_S * stride, stride, 6, S);
        rows(at + LW_FLAT_P * stride, stride, 6, P);
        rows(at + LW_FLAT_V * stride, stride, 6, V);
        rows(at + LW_FLAT_A * stride, stride, 6, A);
        twist_cross(A, S, C);
        twist_cross(V, P, part);
        for (int c = 0; c < 6; c++) C[c] += part[c], P[c] += P[c];
        put_rows(at + LW_FLAT_C * stride, stride, 6, C);
        put_rows(at + LW_FLAT_D * stride, stride, 6, P);
    }
}

/* --- bodies ---------------------------------------------------------------------------------------- */

/* The inertia `own` of a body with pose R, p, in the axes and about the origin of all. */
INLINE void to_world(const REAL R[9], const REAL p[3], const REAL own[10], REAL I[10]) {
    REAL T[9], g[3], *h = I + 1, *J = I + 4;
    const REAL m = own[0];
    I[0] = m;
    r3_turn(R, own + 1, h);
    for (int i = 0; i < 3; i++) symmetric(own + 4, R + 3 * i, T + 3 * i);
    for (int i = 0; i < 3; i++) J[i] = r3_dot(T + 3 * i, R + 3 * i);
    J[3] = r3_dot(T, R + 3), J[4] = r3_dot(T, R + 6), J[5] = r3_dot(T + 3, R + 6);
    for (int k = 0; k < 3; k++) g[k] = h[k] + 0.5 * m * p[k];
    const REAL trace = 2 * r3_dot(p, g);
    for (int k = 0; k < 3; k++) J[k] += trace - 2 * p[k] * g[k];
    J[3] -= p[0] * g[1] + g[0] * p[1];
    J[4] -= p[0] * g[2] + g[0] * p[2];
    J[5] -= p[1] * g[2] + g[1] * p[2];
    for (int k = 0; k < 3; k++) h[k] += m * p[k];
}

/* B11 = 2 (tr(G) 1 - G), G = v h' + w~ E, E = tr(J)/2 1 - J; p = w x h + m v (12). */
INLINE void operator_of(const REAL I[10], const REAL V[6], REAL B[9], REAL p[3]) {
    const REAL *J = I + 4, *h = I + 1, half = 0.5 * (J[0] + J[1] + J[2]);
    const REAL E[9] = {half - J[0], -J[3], -J[4], -J[3], half - J[1], -J[5], -J[4], -J[5], half - J[2]};
    REAL G[9];
    for (int j = 0; j < 3; j++) { /* E is symmetric: column j is row j */
        REAL turned[3];
        r3_cross(V, E + 3 * j, turned);
        for (int i = 0; i < 3; i++) G[3 * i + j] = turned[i] + V[3 + i] * h[j];
    }
    const REAL trace = G[0] + G[4] + G[8];
    for (int k = 0; k < 9; k++) B[k] = k % 4 == 0 ? 2 * (trace - G[k]) : -2 * G[k];
    r3_cross(V, h, p);
    for (int k = 0; k < 3; k++) p[k] += I[0] * V[3 + k];
}

static void bodies(const lw_tree_flat *f) {
    const int stride = f->body_stride;
    for (int i = 0; i <= f->body_count; i += LANES) {
        double *at = f->bodies + i, *to = at + LW_BODY_SUM * stride;
        REAL R[9], p[3], V[6], A[6], own[10], I[10], F[6], h[6], turn[6], B[9], momentum[3];
        rows(at + LW_BODY_R * stride, stride, 9, R);
        rows(at + LW_BODY_P * stride, stride, 3, p);
        rows(at + LW_BODY_OWN * stride, stride, 10, own);
        to_world(R, p, own, I);
        put_rows(to, stride, 10, I);
        rows(at + LW_BODY_V * stride, stride, 6, V);
        rows(at + LW_BODY_A * stride, stride, 6, A);
        inertia(I, A, F);
        inertia(I, V, h);
        wrench_cross(V, h, turn);
        for (int k = 0; k < 6; k++) F[k] += turn[k];
        put_rows(to + LW_SUM_F * stride, stride, 6, F);
        operator_of(I, V, B, momentum);
        put_rows(to + LW_SUM_B * stride, stride, 9, B);
        put_rows(to + LW_SUM_P * stride, stride, 3, momentum);
    }
}

/* --- what motions hand on -------------------------------------------------------------------------- */

/* The sums of the bodies of the motions from k on. */
INLINE void sums(const lw_tree_flat *f, int k, REAL out[LW_SUM_ROWS]) {
    const int stride = f->body_stride;
    const double *at = f->bodies + LW_BODY_SUM * stride;
    if (f->run[k] >= 0) {
        rows(at + f->run[k], stride, LW_SUM_ROWS, out);
        return;
    }
    double gathered[LW_SUM_ROWS * LANES] __attribute__((aligned(64))) = {0};
    for (int l = 0; l < LANES && k + l < f->nv; l++)
        for (int row = 0; row < LW_SUM_ROWS; row++)
            gathered[row * LANES + l] = at[(size_t)row * (size_t)stride + (size_t)f->body[k + l]];
    rows(gathered, LANES, LW_SUM_ROWS, out);
}

static void handed(const lw_tree_flat *f) {
    const int stride = f->motion_stride;
    for (int k = 0; k < f->nv; k += LANES) {
        double *at = f->motions + k;
        REAL sum[LW_SUM_ROWS], S[6], P[6], x[6], out[6], b[3], part[3], turn[6];
        const REAL *F = sum + LW_SUM_F, *B = sum + LW_SUM_B, *p = sum + LW_SUM_P;
        sums(f, k, sum);
        rows(at + LW_FLAT_S * stride, stride, 6, S);
        inertia(sum, S, out);
        put_rows(at + LW_FLAT_U * stride, stride, 6, out);
        r3_turn_back(B, S, b);
        r3_cross(p, S + 3, part);
        for (int c = 0; c < 3; c++) b[c] += 2 * part[c];
        put_rows(at + LW_FLAT_B * stride, stride, 3, b);

        rows(at + LW_FLAT_C * stride, stride, 6, x);
        rows(at + LW_FLAT_P * stride, stride, 6, P);
        inertia(sum, x, out);
        r3_turn(B, P, part);
        for (int c = 0; c < 3; c++) out[c] += part[c];
        r3_cross(P, p, part);
        for (int c = 0; c < 3; c++) out[3 + c] += 2 * part[c];
        wrench_cross(S, F, turn);
        for (int c = 0; c < 6; c++) out[c] += turn[c];
        put_rows(at + LW_FLAT_BY_Q * stride, stride, 6, out);

        rows(at + LW_FLAT_D * stride, stride, 6, x);
        inertia(sum, x, out);
        r3_turn(B, S, part);
        for (int c = 0; c < 3; c++) out[c] += part[c];
        r3_cross(S, p, part);
        for (int c = 0; c < 3; c++) out[3 + c] += 2 * part[c];
        put_rows(at + LW_FLAT_BY_V * stride, stride, 6, out);
    }
}

/* --- pairs ----------------------------------------------------------------------------------------- */

static void pairs(const lw_tree_flat *f, const double *path, int stride, int k, int length, double *out[5]) {
    const double *own = f->motions + k;
    const size_t step = (size_t)f->motion_stride;
    double U[6], b[3], by_q[6], by_v[6];
    for (int c = 0; c < 6; c++) {
        U[c] = own[(size_t)(LW_FLAT_U + c) * step];
        by_q[c] = own[(size_t)(LW_FLAT_BY_Q + c) * step];
        by_v[c] = own[(size_t)(LW_FLAT_BY_V + c) * step];
    }
    for (int c = 0; c < 3; c++) b[c] = own[(size_t)(LW_FLAT_B + c) * step];
    for (int l = (length - 1) / LANES * LANES; l >= 0; l -= LANES) { /* backwards: see tree_derivatives.c */
        const double *at = path + l;
        REAL mass = real(0), q = real(0), v = real(0), down_q = real(0), down_v = real(0);
        for (int c = 0; c < 6; c++) {
            const REAL S = load(at + (size_t)(LW_FLAT_S + c) * (size_t)stride);
            mass += U[c] * S;
            down_q += by_q[c] * S;
            down_v += by_v[c] * S;
            q += U[c] * load(at + (size_t)(LW_FLAT_C + c) * (size_t)stride);
            v += U[c] * load(at + (size_t)(LW_FLAT_D + c) * (size_t)stride);
            if (c >= 3) continue;
            v += b[c] * S;
            q += b[c] * load(at + (size_t)(LW_FLAT_P + c) * (size_t)stride);
        }
        store(out[0] + l, q);
        store(out[1] + l, v);
        store(out[2] + l, down_q);
        store(out[3] + l, down_v);
        store(out[4] + l, mass);
    }
}

/* --- the mass matrix ------------------------------------------------------------------------------- */

/* A part of row i, `vectors` from column c on, less what all that i carries leaves there: the sum of L_ki D_k
 * L_k. Two sums, since each waits for itself. */
INLINE void reduce(const lw_tree_flat *f, int i, int c, int vectors) {
    const size_t stride = (size_t)f->path_stride;
    double *to = f->L + (size_t)i * stride + c;
    const double *own = f->mass + (size_t)i * stride + c, *from = to + stride,
                 *L = f->L + (size_t)(i + 1) * stride + f->position[i], *pivot = f->pivot + i + 1;
    REAL x[4], y[4];
    int count = f->end[i] - i - 1;
    for (int l = 0; l < vectors; l++) x[l] = load(own + l * LANES), y[l] = real(0);
    for (; count >= 2; count -= 2, L += 2 * stride, from += 2 * stride, pivot += 2) {
        const double first = L[0] * pivot[0], second = L[stride] * pivot[1];
        for (int l = 0; l < vectors; l++) x[l] -= first * load(from + l * LANES);
        for (int l = 0; l < vectors; l++) y[l] += second * load(from + stride + l * LANES);
    }
    const double last = count ? L[0] * pivot[0] : 0;
    for (int l = 0; l < vectors && count; l++) x[l] -= last * load(from + l * LANES);
    for (int l = 0; l < vectors; l++) store(to + l * LANES, x[l] - y[l]);
}

/* Rows of L = D^-1 (M - the sum above), from the leaves on; rows of what is prescribed are zero. */
static int factor(const lw_tree_flat *f) {
    const size_t stride = (size_t)f->path_stride;
    int bad = 0;
    for (int i = f->nv - 1; i >= 0; i--) {
        double *own = f->L + (size_t)i * stride;
        const int length = f->position[i];
        int c = 0;
        for (; c + 3 * LANES <= length; c += 4 * LANES) reduce(f, i, c, 4);
        if (c + 2 * LANES <= length)
            reduce(f, i, c, 3);
        else if (c + LANES <= length)
            reduce(f, i, c, 2);
        else if (c <= length)
            reduce(f, i, c, 1);
        const double pivot = own[length];
        f->pivot[i] = f->fixed[i] ? 0 : pivot;
        f->inverse[i] = f->fixed[i] ? 0 : 1 / pivot;
        if (!f->fixed[i] && !(pivot > 1e-15 * f->mass[(size_t)i * stride + (size_t)length])) bad = i + 1;
        for (c = 0; c < length; c += LANES) store(own + c, f->inverse[i] * load(own + c));
    }
    return bad;
}

enum { VECTORS = LW_FLAT_BLOCK / LANES, BLOCKS_AT_ONCE = LANES >= 8 ? 4 : LANES >= 4 ? 2 : 1 };

/* How many blocks from `block` on can be taken at once: a power of two, all of them busy. */
INLINE int together(const unsigned char *busy, int block, int blocks) {
    int count = 0;
    while (count < BLOCKS_AT_ONCE && block + count < blocks && busy[block + count]) count++;
    return count >= 4 ? 4 : count >= 2 ? 2 : count;
}

/* x -= the sum of factors times rows. Each sum waits for itself alone, so that several blocks side by side
 * keep the processor busy. */
INLINE void take_children(const lw_tree_flat *f, int i, double *at, int blocks) {
    const size_t stride = (size_t)f->path_stride, row = (size_t)f->right_stride;
    const int count = f->end[i] - i - 1, *motion = f->motion + i + 1;
    const double *factor = f->L + (size_t)(i + 1) * stride + f->position[i];
    double *to = at + (size_t)f->motion[i] * row;
    REAL x[VECTORS * BLOCKS_AT_ONCE];
    for (int l = 0; l < VECTORS * blocks; l++) x[l] = load(to + l * LANES);
#pragma GCC unroll 2
    for (int k = 0; k < count; k++, factor += stride)
        for (int l = 0; l < VECTORS * blocks; l++)
            x[l] -= *factor * load(at + (size_t)motion[k] * row + (size_t)(l * LANES));
    for (int l = 0; l < VECTORS * blocks; l++) store(to + l * LANES, x[l]);
}
INLINE void take_path(const lw_tree_flat *f, int i, double *at, int blocks, REAL *check) {
    const size_t row = (size_t)f->right_stride;
    const double *L = f->L + (size_t)i * (size_t)f->path_stride;
    const int length = f->position[i], *path = f->stack;
    double *to = at + (size_t)f->motion[i] * row;
    REAL x[VECTORS * BLOCKS_AT_ONCE];
    for (int l = 0; l < VECTORS * blocks; l++) x[l] = f->inverse[i] * load(to + l * LANES);
#pragma GCC unroll 2
    for (int c = 0; c < length; c++)
        for (int l = 0; l < VECTORS * blocks; l++)
            x[l] -= L[c] * load(at + (size_t)path[c] * row + (size_t)(l * LANES));
    for (int l = 0; l < VECTORS * blocks; l++) *check += x[l] - x[l], store(to + l * LANES, x[l]);
}

static bool solve(const lw_tree_flat *f, int blocks) {
    REAL check = real(0);
    for (int i = f->nv - 1; i >= 0; i--) { /* b = L^-T b */
        const unsigned char *busy = f->inward + (size_t)i * (size_t)f->block_count;
        if (f->end[i] == i + 1) continue;
        for (int block = 0; block < blocks; block++) {
            const int count = together(busy, block, blocks);
            double *at = f->right + (size_t)block * LW_FLAT_BLOCK;
            if (count == 4)
                take_children(f, i, at, BLOCKS_AT_ONCE);
            else if (count == 2)
                take_children(f, i, at, BLOCKS_AT_ONCE < 2 ? 1 : 2);
            else if (count == 1)
                take_children(f, i, at, 1);
            if (count > 1) block += count - 1;
        }
    }
    for (int i = 0; i < f->nv; i++) { /* x = L^-1 D^-1 b */
        const unsigned char *busy = f->outward + (size_t)i * (size_t)f->block_count;
        f->stack[f->position[i]] = f->motion[i];
        for (int block = 0; block < blocks; block++) {
            const int count = together(busy, block, blocks);
            double *at = f->right + (size_t)block * LW_FLAT_BLOCK;
            if (count == 4)
                take_path(f, i, at, BLOCKS_AT_ONCE, &check);
            else if (count == 2)
                take_path(f, i, at, BLOCKS_AT_ONCE < 2 ? 1 : 2, &check);
            else if (count == 1)
                take_path(f, i, at, 1, &check);
            if (count > 1) block += count - 1;
        }
    }
    bool finite = true; /* x - x is zero for numbers, and nothing else. */
    for (int l = 0; l < LANES; l++) finite &= real_lane(check, l) == 0;
    return finite;
}

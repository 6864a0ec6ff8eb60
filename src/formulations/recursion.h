/* recursion.h - forward and inverse dynamics of a tree, for one state or several at a time (linalg/lanes.h).
 *
 *   forward   given q, v, tau     find vdot with  M(q) vdot + c(q, v) = tau + forces
 *   inverse   given q, v, vdot    find tau
 *
 * Source   Anderson & Critchley (2003), eqs 8-19, 24, 26, 27, at the joints instead of the mass centres;
 *          derivation in docs/theory/tree.md, 11-20.
 * Symbols  w                angular velocity
 *          (alpha; a)       angular acceleration, acceleration of the frame's origin, gravity taken off
 *          I^ = [A B; B' C] articulated inertia, and f^ its bias wrench (torque; force)
 *          S, U, D, u       motion subspace, U = I^ S, D = S'U, u = tau - S'f^
 *          A symmetric 3 x 3 is xx, yy, zz, xy, xz, yz.
 * Cost     O(n). A revolute joint about a coordinate axis (aligned) takes about 200 multiplications and a
 *          division forwards, 80 for inverse dynamics, plus 20 for its sine and cosine; other joints go
 *          through S, two to four times that.
 * Limits   no loops, no constraints; every joint must move some inertia.
 *
 * Accelerations are those of points, not spatial ones: then no linear velocity is needed at all, and the
 * wrench that speeds alone ask of a rigid body is (w x J w; w x (w x h)).
 */
#ifndef LW_RECURSION_H
#define LW_RECURSION_H

#include "formulations/tree.h"
#include "model/joint_motion.h"

/* What the passes leave at each body for each other. */
typedef LW_NODE(REAL) node;
typedef LW_PLACE(REAL) place;
typedef LW_SUM(REAL) sum;
typedef LW_NEED(REAL) need;

typedef struct recursion {
    const lw_model *model;
    node *nodes;         /* 0 .. n */
    place *places;       /* 0 .. n */
    sum *sums;           /* by slot */
    need *needs;         /* 0 .. n */
    REAL *S, *U, *D;     /* 6 per speed, for joints other than aligned ones */
    REAL *u;             /* per speed */
    REAL *sine, *cosine; /* per speed, of aligned revolute joints */
    /* state: per coordinate or speed */
    const REAL *q, *v, *tau;
    REAL *vdot;       /* in: prescribed ones; out: the others */
    REAL *drive;      /* out: force of the drives at prescribed speeds, per speed; may be NULL */
    const REAL *load; /* 6 per body: wrench of the force elements; NULL if no element loads a body */
} recursion;

#define INLINE static inline __attribute__((always_inline))

/* --- kernels -------------------------------------------------------------------------------------- */

/* Index into a symmetric matrix. */
INLINE int sym(int i, int j) { return i == j ? i : i + j + 2; }

/* x about coordinate axis a, from the child's to the parent's axes, and back. */
INLINE void turn(int a, REAL c, REAL s, const REAL x[3], REAL out[3]) {
    int i = (a + 1) % 3, j = (a + 2) % 3;
    out[a] = x[a];
    out[i] = c * x[i] - s * x[j];
    out[j] = s * x[i] + c * x[j];
}
INLINE void turn_back(int a, REAL c, REAL s, const REAL x[3], REAL out[3]) { turn(a, c, -s, x, out); }

/* The same for a symmetric matrix. */
INLINE void turn_symmetric(int a, REAL c, REAL s, const REAL S[6], REAL out[6]) {
    int i = (a + 1) % 3, j = (a + 2) % 3;
    REAL cc = c * c, cs = c * s, d = S[i] - S[j], m = S[sym(i, j)];
    out[a] = S[a];
    out[sym(a, i)] = c * S[sym(a, i)] - s * S[sym(a, j)];
    out[sym(a, j)] = s * S[sym(a, i)] + c * S[sym(a, j)];
    REAL turned = cc * d - 2 * cs * m;
    out[i] = S[j] + turned;
    out[j] = S[i] - turned;
    out[sym(i, j)] = cs * d + (2 * cc - 1) * m;
}

INLINE void symmetric_times(const REAL S[6], const REAL x[3], REAL out[3]) {
    out[0] = S[0] * x[0] + S[3] * x[1] + S[4] * x[2];
    out[1] = S[3] * x[0] + S[1] * x[1] + S[5] * x[2];
    out[2] = S[4] * x[0] + S[5] * x[1] + S[2] * x[2];
}
INLINE void rigid_times(const double S[6], const REAL x[3], REAL out[3]) {
    out[0] = S[0] * x[0] + S[3] * x[1] + S[4] * x[2];
    out[1] = S[3] * x[0] + S[1] * x[1] + S[5] * x[2];
    out[2] = S[4] * x[0] + S[5] * x[1] + S[2] * x[2];
}
/* (n; f) = [A B; B' C] (x; y). */
INLINE void inertia_times(const REAL A[6], const REAL B[9], const REAL C[6], const REAL x[6], REAL out[6]) {
    REAL t[3];
    symmetric_times(A, x, out);
    r3_turn(B, x + 3, t);
    for (int k = 0; k < 3; k++) out[k] += t[k];
    symmetric_times(C, x + 3, out + 3);
    r3_turn_back(B, x, t);
    for (int k = 0; k < 3; k++) out[3 + k] += t[k];
}

/* w x (w x p) for a constant p. */
INLINE void centripetal(const REAL w[3], const REAL p[3], REAL out[3]) {
    REAL along = r3_dot(w, p), square = r3_dot(w, w);
    for (int k = 0; k < 3; k++) out[k] = along * w[k] - square * p[k];
}

INLINE void constant3(const double x[3], REAL out[3]) {
    for (int k = 0; k < 3; k++) out[k] = real(x[k]);
}

/* Wrench that speeds and force elements ask of body i alone:  (w x J w; w x (w x h)) - load. */
INLINE void body_wrench(const recursion *r, int i, const REAL w[3], REAL f[6]) {
    const lw_rigid_inertia *I = &r->model->links[i].inertia;
    REAL momentum[3], h[3];
    rigid_times(I->second, w, momentum);
    r3_cross(w, momentum, f);
    constant3(I->moment, h);
    centripetal(w, h, f + 3);
    if (r->load)
        for (int k = 0; k < 6; k++) f[k] -= r->load[6 * i + k];
}

/* --- positions and velocities (docs/theory/tree.md, 11-13) ---------------------------------------- */

/* Sines and cosines of all aligned revolute joints, before the passes need them one after another: here they
 * do not wait for each other. */
static inline void turn_joints(const recursion *r) {
#if LANES == 1
    lw_turn_joints(r->model, r->q, r->sine, r->cosine);
#else
    for (int k = 0; k < r->model->turn_count; k++) {
        const lw_turn *turn = &r->model->turns[k];
        real_sincos(turn->sign * r->q[turn->q], &r->sine[turn->v], &r->cosine[turn->v]);
    }
#endif
}

INLINE void revolute_place(const recursion *r, int i, int a) { (void)r, (void)i, (void)a; }

INLINE void revolute_velocity(const recursion *r, int i, int a) {
    const lw_link *link = &r->model->links[i];
    const node *parent = &r->nodes[link->parent];
    node *own = &r->nodes[i];
    REAL rate = link->sign * r->v[link->v], p[3], spin[3];
    constant3(link->p, p);
    centripetal(parent->w, p, spin);
    turn_back(a, r->cosine[link->v], r->sine[link->v], parent->w, own->w);
    turn_back(a, r->cosine[link->v], r->sine[link->v], spin, own->bias + 3);
    int j = (a + 1) % 3, k = (a + 2) % 3; /* w x e_a rate */
    own->bias[a] = real(0);
    own->bias[j] = own->w[k] * rate;
    own->bias[k] = -own->w[j] * rate;
    own->w[a] += rate;
}

INLINE void prismatic_place(const recursion *r, int i, int a) {
    const lw_link *link = &r->model->links[i];
    constant3(link->p, r->places[i].p);
    r->places[i].p[a] += link->sign * r->q[link->q];
}

INLINE void prismatic_velocity(const recursion *r, int i, int a) {
    const lw_link *link = &r->model->links[i];
    const node *parent = &r->nodes[link->parent];
    node *own = &r->nodes[i];
    REAL rate = 2 * link->sign * r->v[link->v];
    prismatic_place(r, i, a);
    centripetal(parent->w, r->places[i].p, own->bias + 3);
    int j = (a + 1) % 3, k = (a + 2) % 3; /* + 2 w x e_a rate */
    own->bias[3 + j] += parent->w[k] * rate;
    own->bias[3 + k] -= parent->w[j] * rate;
    for (int l = 0; l < 3; l++) own->w[l] = parent->w[l], own->bias[l] = real(0);
}

/* Any other joint: its place, its motion subspace S and, unless v is NULL, its bias S° v. */
static void general_motion(const recursion *r, int i, const REAL *v) {
    const lw_link *link = &r->model->links[i];
    place *own = &r->places[i];
    REAL R[9], p[3];
    joint_motion(&link->joint, r->q + link->q, v, R, p, r->S + 6 * link->v, r->nodes[i].bias);
    for (int j = 0; j < 3; j++) {
        const double *b = link->R + 3 * j;
        for (int k = 0; k < 3; k++) own->R[3 * j + k] = b[0] * R[k] + b[1] * R[3 + k] + b[2] * R[6 + k];
        own->p[j] = link->p[j] + b[0] * p[0] + b[1] * p[1] + b[2] * p[2];
    }
}

static inline void general_place(const recursion *r, int i) { general_motion(r, i, NULL); }

/* Its bias:
 *     angular  S° v + w x w_r,    linear  R'(w_p x (w_p x p)) + 2 R'w_p x v_r + S° v + w_r x v_r. */
static void general_velocity(const recursion *r, int i) {
    const lw_link *link = &r->model->links[i];
    const node *parent = &r->nodes[link->parent];
    const place *at = &r->places[i];
    node *own = &r->nodes[i];
    REAL relative[6], carried[3], spin[3], t[3];
    const REAL *v = r->v + link->v, *S = r->S + 6 * link->v;
    general_motion(r, i, v);
    for (int k = 0; k < 6; k++) {
        relative[k] = real(0);
        for (int l = 0; l < link->joint.nv; l++) relative[k] += S[6 * l + k] * v[l];
    }
    r3_turn_back(at->R, parent->w, carried);
    for (int k = 0; k < 3; k++) own->w[k] = carried[k] + relative[k];
    r3_add_cross(own->w, relative, own->bias);
    centripetal(parent->w, at->p, spin);
    r3_turn_back(at->R, spin, t);
    for (int k = 0; k < 3; k++) {
        own->bias[3 + k] += t[k];
        t[k] = 2 * carried[k] + relative[k];
    }
    r3_add_cross(t, relative + 3, own->bias + 3);
}

/* Calls the kernel of body i: revolute_kind(r, i, ..., axis), prismatic_kind(r, i, ..., axis) or
 * general_kind(r, i, ...). */
#define BY_JOINT(link, kind, ...)                                                                            \
    switch ((link)->kernel) {                                                                                \
    case LW_KERNEL_REVOLUTE:                                                                                 \
        revolute_##kind(__VA_ARGS__, 0);                                                                     \
        break;                                                                                               \
    case LW_KERNEL_REVOLUTE + 1:                                                                             \
        revolute_##kind(__VA_ARGS__, 1);                                                                     \
        break;                                                                                               \
    case LW_KERNEL_REVOLUTE + 2:                                                                             \
        revolute_##kind(__VA_ARGS__, 2);                                                                     \
        break;                                                                                               \
    case LW_KERNEL_PRISMATIC:                                                                                \
        prismatic_##kind(__VA_ARGS__, 0);                                                                    \
        break;                                                                                               \
    case LW_KERNEL_PRISMATIC + 1:                                                                            \
        prismatic_##kind(__VA_ARGS__, 1);                                                                    \
        break;                                                                                               \
    case LW_KERNEL_PRISMATIC + 2:                                                                            \
        prismatic_##kind(__VA_ARGS__, 2);                                                                    \
        break;                                                                                               \
    default:                                                                                                 \
        general_##kind(__VA_ARGS__);                                                                         \
    }

static inline void velocities(const recursion *r) {
    turn_joints(r);
    for (int k = 0; k < 3; k++) r->nodes[0].w[k] = real(0);
    for (int i = 1; i <= r->model->body_count; i++) {
        BY_JOINT(&r->model->links[i], velocity, r, i)
    }
}

/* --- articulated inertias, from the leaves inwards (docs/theory/tree.md, 14-17) ------------------- */

/* Articulated inertia and bias wrench of body i with what its children have handed over. */
INLINE void gather(const recursion *r, int i, REAL A[6], REAL B[9], REAL C[6], REAL f[6]) {
    const lw_link *link = &r->model->links[i];
    const double *h = link->inertia.moment;
    body_wrench(r, i, r->nodes[i].w, f);
    if (link->slot < 0) {
        const double skew[9] = {0, -h[2], h[1], h[2], 0, -h[0], -h[1], h[0], 0};
        for (int k = 0; k < 6; k++)
            A[k] = real(link->inertia.second[k]), C[k] = real(k < 3 ? link->inertia.mass : 0);
        for (int k = 0; k < 9; k++) B[k] = real(skew[k]);
        return;
    }
    const sum *handed = &r->sums[link->slot];
    for (int k = 0; k < 6; k++) A[k] = handed->A[k] + link->inertia.second[k];
    for (int k = 0; k < 9; k++) B[k] = handed->B[k];
    B[1] -= h[2], B[2] += h[1], B[3] += h[2], B[5] -= h[0], B[6] -= h[1], B[7] += h[0];
    for (int k = 0; k < 6; k++) C[k] = handed->C[k];
    for (int k = 0; k < 3; k++) C[k] += link->inertia.mass;
    for (int k = 0; k < 6; k++) f[k] += handed->f[k];
}

/* Hands an inertia, already in the parent's axes but at the child's origin p, to the parent:
 *     C,   S = B + p~ C,   A - S p~ + p~ B'
 * zero is a row of B, and row and column of A, that vanish (-1: none): the axis of a revolute joint. */
INLINE void hand_over(const recursion *r, const lw_link *link, const REAL p[3], const REAL A[6],
                      const REAL B[9], const REAL C[6], const REAL f[6], int zero) {
    sum *parent = &r->sums[r->model->links[link->parent].slot];
    REAL S[9], A1[6], n[3];
    for (int j = 0; j < 3; j++) {
        REAL c0 = C[sym(0, j)], c1 = C[sym(1, j)], c2 = C[sym(2, j)];
        S[j] = p[1] * c2 - p[2] * c1;
        S[3 + j] = p[2] * c0 - p[0] * c2;
        S[6 + j] = p[0] * c1 - p[1] * c0;
        for (int i = 0; i < 3; i++)
            if (i != zero) S[3 * i + j] += B[3 * i + j];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            /* the entry is symmetric: take the column as the one that vanishes, where there is one */
            int row = i == zero ? j : i, column = i == zero ? i : j;
            int x = (column + 1) % 3, y = (column + 2) % 3;
            REAL entry = S[3 * row + y] * p[x] - S[3 * row + x] * p[y]; /* -(S p~)_row,column */
            if (column != zero) {
                int g = (row + 1) % 3, k = (row + 2) % 3;
                entry += A[sym(row, column)] + (p[g] * B[3 * column + k] - p[k] * B[3 * column + g]);
            }
            A1[sym(i, j)] = entry;
        }
    r3_cross(p, f + 3, n);
    if (link->first) {
        for (int k = 0; k < 6; k++) parent->A[k] = A1[k], parent->C[k] = C[k];
        for (int k = 0; k < 9; k++) parent->B[k] = S[k];
        for (int k = 0; k < 3; k++) parent->f[k] = f[k] + n[k], parent->f[3 + k] = f[3 + k];
    } else {
        for (int k = 0; k < 6; k++) parent->A[k] += A1[k], parent->C[k] += C[k];
        for (int k = 0; k < 9; k++) parent->B[k] += S[k];
        for (int k = 0; k < 3; k++) parent->f[k] += f[k] + n[k], parent->f[3 + k] += f[3 + k];
    }
}

/* Each eliminate_: I^ - U D^-1 U' and f^ + U D^-1 u + (that inertia) bias, handed to the parent. Sets *bad to
 * the number of a speed (from 1) that moves no inertia. */

INLINE void revolute_eliminate(const recursion *r, int i, int *bad, int a) {
    const lw_link *link = &r->model->links[i];
    node *own = &r->nodes[i];
    int j = (a + 1) % 3, k = (a + 2) % 3;
    REAL A[6], B[9], C[6], f[6], w[6];
    gather(r, i, A, B, C, f);
    REAL *U = own->U;
    for (int l = 0; l < 3; l++) U[l] = A[sym(a, l)], U[3 + l] = B[3 * a + l];
    if (__builtin_expect(!real_above(U[a], r->model->pivot_floor[link->v]), 0)) *bad = 1;
    REAL d = 1 / U[a], u = link->sign * r->tau[link->v] - f[a];
    own->d = d;
    own->u = u;
    if (link->parent == 0) return;
    for (int l = 0; l < 6; l++) w[l] = U[l] * d;
    A[j] -= w[j] * U[j], A[k] -= w[k] * U[k], A[sym(j, k)] -= w[j] * U[k];
    for (int l = 0; l < 3; l++) B[3 * j + l] -= w[j] * U[3 + l], B[3 * k + l] -= w[k] * U[3 + l];
    for (int l = 0; l < 3; l++)
        for (int m = 0; m <= l; m++) C[sym(l, m)] -= w[3 + l] * U[3 + m];

    const REAL *b = own->bias;
    f[a] += u;
    f[j] += w[j] * u + (A[j] * b[j] + A[sym(j, k)] * b[k]) + r3_dot(B + 3 * j, b + 3);
    f[k] += w[k] * u + (A[sym(j, k)] * b[j] + A[k] * b[k]) + r3_dot(B + 3 * k, b + 3);
    for (int l = 0; l < 3; l++)
        f[3 + l] += w[3 + l] * u + (B[3 * j + l] * b[j] + B[3 * k + l] * b[k]) +
                    (C[sym(l, 0)] * b[3] + C[sym(l, 1)] * b[4] + C[sym(l, 2)] * b[5]);

    /* to the parent's axes; row a of B and of A is zero */
    REAL A1[6], B1[9], C1[6], f1[6], p[3], c = r->cosine[link->v], s = r->sine[link->v], cs = c * s,
                                           cc = c * c;
    REAL difference = A[j] - A[k], turned = cc * difference - 2 * cs * A[sym(j, k)];
    A1[j] = A[k] + turned, A1[k] = A[j] - turned;
    A1[sym(j, k)] = cs * difference + (2 * cc - 1) * A[sym(j, k)];
    for (int l = 0; l < 3; l++) {
        REAL x = B[3 * j + l], y = B[3 * k + l];
        B[3 * j + l] = c * x - s * y, B[3 * k + l] = s * x + c * y;
    }
    turn(a, c, s, B + 3 * j, B1 + 3 * j);
    turn(a, c, s, B + 3 * k, B1 + 3 * k);
    turn_symmetric(a, c, s, C, C1);
    turn(a, c, s, f, f1);
    turn(a, c, s, f + 3, f1 + 3);
    constant3(link->p, p);
    hand_over(r, link, p, A1, B1, C1, f1, a);
}

INLINE void prismatic_eliminate(const recursion *r, int i, int *bad, int a) {
    const lw_link *link = &r->model->links[i];
    node *own = &r->nodes[i];
    REAL A[6], B[9], C[6], f[6], w[6], t[6];
    gather(r, i, A, B, C, f);
    REAL *U = own->U;
    for (int l = 0; l < 3; l++) U[l] = B[3 * l + a], U[3 + l] = C[sym(a, l)];
    if (__builtin_expect(!real_above(U[3 + a], r->model->pivot_floor[link->v]), 0)) *bad = 1;
    REAL d = 1 / U[3 + a], u = link->sign * r->tau[link->v] - f[3 + a];
    own->d = d;
    own->u = u;
    if (link->parent == 0) return;
    for (int l = 0; l < 6; l++) w[l] = U[l] * d;
    for (int l = 0; l < 3; l++)
        for (int m = 0; m < 3; m++) {
            B[3 * l + m] -= w[l] * U[3 + m];
            if (m > l) continue;
            A[sym(l, m)] -= w[l] * U[m];
            C[sym(l, m)] -= w[3 + l] * U[3 + m];
        }
    inertia_times(A, B, C, own->bias, t);
    for (int l = 0; l < 6; l++) f[l] += w[l] * u + t[l];
    hand_over(r, link, r->places[i].p, A, B, C, f, -1);
}

/* Cholesky factor of the k x k matrix D (rows of 6) in place, prescribed rows left out. Returns the number
 * (from 1) of the first row whose pivot does not exceed its floor, or 0. */
static int factor(int k, unsigned prescribed, REAL *D, const double *floor) {
    int bad = 0;
    for (int i = 0; i < k; i++) {
        if (prescribed >> i & 1) continue;
        for (int j = 0; j <= i; j++) {
            if (prescribed >> j & 1) continue;
            REAL rest = D[6 * i + j];
            for (int l = 0; l < j; l++)
                if (!(prescribed >> l & 1)) rest -= D[6 * i + l] * D[6 * j + l];
            if (i != j)
                D[6 * i + j] = rest / D[6 * j + j];
            else if (real_above(rest, floor[i]))
                D[6 * i + i] = real_sqrt(rest);
            else {
                D[6 * i + i] = real(NAN);
                if (!bad) bad = i + 1;
            }
        }
    }
    return bad;
}

/* x = L^-1 x and x = L^-T x; prescribed rows are left out and not touched. */
static void solve_lower(int k, unsigned prescribed, const REAL *L, REAL *x) {
    for (int i = 0; i < k; i++) {
        if (prescribed >> i & 1) continue;
        for (int l = 0; l < i; l++)
            if (!(prescribed >> l & 1)) x[i] -= L[6 * i + l] * x[l];
        x[i] = x[i] / L[6 * i + i];
    }
}
static void solve_upper(int k, unsigned prescribed, const REAL *L, REAL *x) {
    for (int i = k - 1; i >= 0; i--) {
        if (prescribed >> i & 1) continue;
        for (int l = i + 1; l < k; l++)
            if (!(prescribed >> l & 1)) x[i] -= L[6 * l + i] * x[l];
        x[i] = x[i] / L[6 * i + i];
    }
}

INLINE REAL r6_dot(const REAL a[6], const REAL b[6]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

/* R S R' for a symmetric S. */
static void turn_symmetric_by(const REAL R[9], const REAL S[6], REAL out[6]) {
    REAL T[9];
    for (int i = 0; i < 3; i++) symmetric_times(S, R + 3 * i, T + 3 * i); /* rows of R S */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) out[sym(i, j)] = r3_dot(T + 3 * i, R + 3 * j);
}

/* A spherical joint: S = (1; 0), so U = (A; B') and D = A. What is left for the parent is a mass matrix:
 *     C - B'A^-1 B,   force  f + B'A^-1 u + (that) b,   torque tau. */
static void spherical_eliminate(const recursion *r, int i, int *bad) {
    const lw_link *link = &r->model->links[i];
    REAL *L = r->D + 6 * link->v, *kept = r->U + 6 * link->v, *u = r->u + link->v;
    REAL A[6], B[9], C[6], f[6], W[9], y[3], f1[6], C1[6];
    gather(r, i, A, B, C, f);
    for (int k = 0; k < 3; k++) {
        for (int l = 0; l <= k; l++) L[6 * k + l] = A[sym(k, l)];
        u[k] = r->tau[link->v + k] - f[k];
        y[k] = u[k];
    }
    for (int k = 0; k < 9; k++) kept[k] = B[k];
    *bad = factor(3, 0, L, r->model->pivot_floor + link->v);
    if (link->parent == 0) return;
    solve_lower(3, 0, L, y);
    for (int m = 0; m < 3; m++) { /* columns of W = L^-1 B */
        REAL x[3] = {B[m], B[3 + m], B[6 + m]};
        solve_lower(3, 0, L, x);
        for (int k = 0; k < 3; k++) W[3 * k + m] = x[k];
    }
    for (int l = 0; l < 3; l++) {
        for (int m = 0; m <= l; m++) C[sym(l, m)] -= W[l] * W[m] + W[3 + l] * W[3 + m] + W[6 + l] * W[6 + m];
        f[l] = r->tau[link->v + l];
        f[3 + l] += W[l] * y[0] + W[3 + l] * y[1] + W[6 + l] * y[2];
    }
    const REAL *b = r->nodes[i].bias + 3;
    for (int l = 0; l < 3; l++) f[3 + l] += C[sym(l, 0)] * b[0] + C[sym(l, 1)] * b[1] + C[sym(l, 2)] * b[2];
    const REAL none[9] = {0};
    const place *at = &r->places[i];
    turn_symmetric_by(at->R, C, C1);
    r3_turn(at->R, f, f1);
    r3_turn(at->R, f + 3, f1 + 3);
    hand_over(r, link, at->p, none, none, C1, f1, -1);
}

/* A free joint: S is square, so the body's acceleration does not depend on its parent, I^ (alpha; a) = S^-T tau - f^, and
 * the parent feels S^-T tau alone. S is (0; R'), (1; 0) with R' orthogonal. */
static void free_eliminate(const recursion *r, int i, int *bad) {
    const lw_link *link = &r->model->links[i];
    const double *given = r->model->pivot_floor + link->v;
    const double floor[6] = {given[3], given[4], given[5], given[0], given[1], given[2]};
    const REAL *S = r->S + 6 * link->v, *tau = r->tau + link->v;
    REAL *L = r->D + 6 * link->v, *u = r->u + link->v, A[6], B[9], C[6], f[6], w[6], f1[6];
    gather(r, i, A, B, C, f);
    for (int k = 0; k < 3; k++) {
        for (int l = 0; l <= k; l++) L[6 * k + l] = A[sym(k, l)], L[6 * (3 + k) + 3 + l] = C[sym(k, l)];
        for (int l = 0; l < 3; l++) L[6 * (3 + k) + l] = B[3 * l + k];
        w[k] = tau[3 + k];
        w[3 + k] = S[3 + k] * tau[0] + S[9 + k] * tau[1] + S[15 + k] * tau[2];
    }
    for (int k = 0; k < 6; k++) u[k] = w[k] - f[k];
    *bad = factor(6, 0, L, floor);
    if (*bad) *bad = *bad > 3 ? *bad - 3 : *bad + 3; /* from rows to speeds */
    if (link->parent == 0) return;
    const REAL none[9] = {0};
    const place *at = &r->places[i];
    r3_turn(at->R, w, f1);
    r3_turn(at->R, w + 3, f1 + 3);
    hand_over(r, link, at->p, none, none, none, f1, -1);
}

static void general_eliminate(const recursion *r, int i, int *bad) {
    const lw_link *link = &r->model->links[i];
    if (link->kernel == LW_KERNEL_SPHERICAL) {
        spherical_eliminate(r, i, bad);
        return;
    }
    if (link->kernel == LW_KERNEL_FREE) {
        free_eliminate(r, i, bad);
        return;
    }
    const node *own = &r->nodes[i];
    const place *at = &r->places[i];
    int nv = link->joint.nv;
    unsigned prescribed = link->prescribed;
    const REAL *S = r->S + 6 * link->v, *tau = r->tau + link->v;
    REAL *U = r->U + 6 * link->v, *D = r->D + 6 * link->v, *u = r->u + link->v;
    REAL A[6], B[9], C[6], f[6], t[6], b[6], W[6 * LW_JOINT_MAX_V], y[LW_JOINT_MAX_V];
    gather(r, i, A, B, C, f);
    for (int k = 0; k < 6; k++) b[k] = own->bias[k];
    for (int k = 0; k < nv; k++) {
        inertia_times(A, B, C, S + 6 * k, U + 6 * k);
        u[k] = tau[k] - r6_dot(S + 6 * k, f);
        for (int l = 0; l <= k; l++) D[6 * k + l] = r6_dot(S + 6 * l, U + 6 * k);
        if (prescribed >> k & 1) /* prescribed accelerations act like bias */
            for (int l = 0; l < 6; l++) b[l] += S[6 * k + l] * r->vdot[link->v + k];
    }
    if (nv) *bad = factor(nv, prescribed, D, r->model->pivot_floor + link->v);
    if (link->parent == 0) return;

    inertia_times(A, B, C, b, t);
    for (int k = 0; k < 6; k++) f[k] += t[k];
    for (int k = 0; k < nv; k++) y[k] = tau[k] - r6_dot(S + 6 * k, f);
    solve_lower(nv, prescribed, D, y);
    for (int row = 0; row < 6; row++) { /* W = L^-1 U' */
        REAL x[LW_JOINT_MAX_V];
        for (int k = 0; k < nv; k++) x[k] = U[6 * k + row];
        solve_lower(nv, prescribed, D, x);
        for (int k = 0; k < nv; k++) W[6 * k + row] = x[k];
    }
    for (int k = 0; k < nv; k++) {
        if (prescribed >> k & 1) continue;
        const REAL *w = W + 6 * k;
        for (int l = 0; l < 3; l++)
            for (int m = 0; m < 3; m++) {
                B[3 * l + m] -= w[l] * w[3 + m];
                if (m > l) continue;
                A[sym(l, m)] -= w[l] * w[m];
                C[sym(l, m)] -= w[3 + l] * w[3 + m];
            }
        for (int l = 0; l < 6; l++) f[l] += y[k] * w[l];
    }
    REAL A1[6], B1[9], C1[6], f1[6], T[9];
    turn_symmetric_by(at->R, A, A1);
    turn_symmetric_by(at->R, C, C1);
    for (int l = 0; l < 3; l++) r3_turn(at->R, B + 3 * l, T + 3 * l); /* rows of B R' */
    for (int l = 0; l < 3; l++)
        for (int m = 0; m < 3; m++)
            B1[3 * l + m] = at->R[3 * l] * T[m] + at->R[3 * l + 1] * T[3 + m] + at->R[3 * l + 2] * T[6 + m];
    r3_turn(at->R, f, f1);
    r3_turn(at->R, f + 3, f1 + 3);
    hand_over(r, link, at->p, A1, B1, C1, f1, -1);
}

/* Returns the body at which some speed moves no inertia and that speed's number from 1, or 0. */
static inline int eliminate(const recursion *r, int *speed) {
    int body = 0;
    for (int i = r->model->body_count; i >= 1; i--) {
        int bad = 0;
        BY_JOINT(&r->model->links[i], eliminate, r, i, &bad)
        if (__builtin_expect(bad && !body, 0))
            body = i, *speed = bad; /* the outermost; NaN may follow inwards */
    }
    return body;
}

/* --- accelerations, from ground outwards (docs/theory/tree.md, 18) -------------------------------- */

INLINE void carry_revolute(const recursion *r, int i, REAL x[6], int a) {
    const lw_link *link = &r->model->links[i];
    const node *parent = &r->nodes[link->parent], *own = &r->nodes[i];
    REAL p[3], t[3];
    constant3(link->p, p);
    r3_cross(parent->a, p, t);
    for (int k = 0; k < 3; k++) t[k] += parent->a[3 + k];
    turn_back(a, r->cosine[link->v], r->sine[link->v], parent->a, x);
    turn_back(a, r->cosine[link->v], r->sine[link->v], t, x + 3);
    for (int k = 0; k < 6; k++) x[k] += own->bias[k];
}
INLINE void carry_prismatic(const recursion *r, int i, REAL x[6]) {
    const node *parent = &r->nodes[r->model->links[i].parent], *own = &r->nodes[i];
    r3_cross(parent->a, r->places[i].p, x + 3);
    for (int k = 0; k < 3; k++) x[k] = parent->a[k], x[3 + k] += parent->a[3 + k];
    for (int k = 0; k < 6; k++) x[k] += own->bias[k];
}
INLINE void carry_general(const recursion *r, int i, REAL x[6]) {
    const node *parent = &r->nodes[r->model->links[i].parent], *own = &r->nodes[i];
    REAL t[3];
    r3_cross(parent->a, r->places[i].p, t);
    for (int k = 0; k < 3; k++) t[k] += parent->a[3 + k];
    r3_turn_back(r->places[i].R, parent->a, x);
    r3_turn_back(r->places[i].R, t, x + 3);
    for (int k = 0; k < 6; k++) x[k] += own->bias[k];
}

INLINE void revolute_accelerate(const recursion *r, int i, int a) {
    const lw_link *link = &r->model->links[i];
    node *own = &r->nodes[i];
    REAL x[6];
    carry_revolute(r, i, x, a);
    REAL rate = (own->u - r6_dot(own->U, x)) * own->d;
    r->vdot[link->v] = link->sign * rate;
    x[a] += rate;
    for (int k = 0; k < 6; k++) own->a[k] = x[k];
}

INLINE void prismatic_accelerate(const recursion *r, int i, int a) {
    const lw_link *link = &r->model->links[i];
    node *own = &r->nodes[i];
    REAL x[6];
    carry_prismatic(r, i, x);
    REAL rate = (own->u - r6_dot(own->U, x)) * own->d;
    r->vdot[link->v] = link->sign * rate;
    x[3 + a] += rate;
    for (int k = 0; k < 6; k++) own->a[k] = x[k];
}

/* alpha = A^-1 (u - B a), and the speeds' rate is what exceeds the carried angular acceleration. */
static void spherical_accelerate(const recursion *r, int i) {
    const lw_link *link = &r->model->links[i];
    const REAL *L = r->D + 6 * link->v, *B = r->U + 6 * link->v;
    REAL x[6], y[3], *a = r->nodes[i].a;
    carry_general(r, i, x);
    for (int k = 0; k < 3; k++) y[k] = r->u[link->v + k] - r3_dot(B + 3 * k, x + 3);
    solve_lower(3, 0, L, y);
    solve_upper(3, 0, L, y);
    for (int k = 0; k < 3; k++) {
        r->vdot[link->v + k] = y[k] - x[k];
        a[k] = y[k], a[3 + k] = x[3 + k];
    }
}

static void free_accelerate(const recursion *r, int i) {
    const lw_link *link = &r->model->links[i];
    const REAL *S = r->S + 6 * link->v, *L = r->D + 6 * link->v;
    REAL x[6], y[6], *a = r->nodes[i].a, *vdot = r->vdot + link->v;
    carry_general(r, i, x);
    for (int k = 0; k < 6; k++) y[k] = r->u[link->v + k];
    solve_lower(6, 0, L, y);
    solve_upper(6, 0, L, y);
    for (int k = 0; k < 6; k++) a[k] = y[k], x[k] = y[k] - x[k];
    for (int k = 0; k < 3; k++) vdot[k] = r3_dot(S + 6 * k + 3, x + 3), vdot[3 + k] = x[k];
}

static void general_accelerate(const recursion *r, int i) {
    const lw_link *link = &r->model->links[i];
    if (link->kernel == LW_KERNEL_SPHERICAL) {
        spherical_accelerate(r, i);
        return;
    }
    if (link->kernel == LW_KERNEL_FREE) {
        free_accelerate(r, i);
        return;
    }
    node *own = &r->nodes[i];
    int nv = link->joint.nv;
    unsigned prescribed = link->prescribed;
    const REAL *S = r->S + 6 * link->v, *U = r->U + 6 * link->v, *D = r->D + 6 * link->v;
    REAL x[6], y[LW_JOINT_MAX_V], *vdot = r->vdot + link->v;
    carry_general(r, i, x);
    for (int k = 0; k < nv; k++)
        if (prescribed >> k & 1)
            for (int l = 0; l < 6; l++) x[l] += vdot[k] * S[6 * k + l];
    for (int k = 0; k < nv; k++) y[k] = r->u[link->v + k] - r6_dot(U + 6 * k, x);
    solve_lower(nv, prescribed, D, y);
    solve_upper(nv, prescribed, D, y);
    for (int k = 0; k < nv; k++) {
        if (prescribed >> k & 1) continue;
        vdot[k] = y[k];
        for (int l = 0; l < 6; l++) x[l] += y[k] * S[6 * k + l];
    }
    for (int k = 0; k < 6; k++) own->a[k] = x[k];
    if (!prescribed || !r->drive) return;
    for (int k = 0; k < nv; k++) /* S'(I^ a + f^) - tau */
        if (prescribed >> k & 1) r->drive[link->v + k] = r6_dot(U + 6 * k, x) - r->u[link->v + k];
}

INLINE void hang_ground(const recursion *r) {
    node *ground = &r->nodes[0]; /* gravity is an upward acceleration of ground */
    for (int k = 0; k < 3; k++) ground->a[k] = real(0), ground->a[3 + k] = real(-r->model->gravity[k]);
}

static inline void accelerate(const recursion *r) {
    hang_ground(r);
    for (int i = 1; i <= r->model->body_count; i++) {
        BY_JOINT(&r->model->links[i], accelerate, r, i)
    }
}

/* --- inverse dynamics (docs/theory/tree.md, 19-20) ------------------------------------------------ */

/* With K = alpha~ + w~ w~ a point x of the body accelerates by a + K x. So the body needs the force m a + K h
 * and, with its spread E = sum m x x', the torque h x a + sum m x x (K x), which is the skew part of K E. */
INLINE void ask(const recursion *r, int i, const REAL w[3], const REAL x[6]) {
    const lw_link *link = &r->model->links[i];
    const double *h = link->inertia.moment, *E = link->spread;
    node *own = &r->nodes[i];
    REAL xx = w[0] * w[0], yy = w[1] * w[1], zz = w[2] * w[2];
    REAL xy = w[0] * w[1], xz = w[0] * w[2], yz = w[1] * w[2];
    REAL *K = r->needs[i].K, *f = r->needs[i].f;
    K[0] = -(yy + zz), K[1] = xy - x[2], K[2] = xz + x[1];
    K[3] = xy + x[2], K[4] = -(xx + zz), K[5] = yz - x[0];
    K[6] = xz - x[1], K[7] = yz + x[0], K[8] = -(xx + yy);
    f[0] = K[7] * E[1] - K[5] * E[2];
    f[1] = K[2] * E[2] - K[6] * E[0];
    f[2] = K[3] * E[0] - K[1] * E[1];
    if (!link->principal) {
        f[0] += (K[6] * E[3] - K[3] * E[4]) + (K[8] - K[4]) * E[5];
        f[1] += (K[1] * E[5] - K[7] * E[3]) + (K[0] - K[8]) * E[4];
        f[2] += (K[5] * E[4] - K[2] * E[5]) + (K[4] - K[0]) * E[3];
    }
    f[0] += h[1] * x[5] - h[2] * x[4];
    f[1] += h[2] * x[3] - h[0] * x[5];
    f[2] += h[0] * x[4] - h[1] * x[3];
    for (int k = 0; k < 3; k++) {
        f[3 + k] =
            link->inertia.mass * x[3 + k] + (K[3 * k] * h[0] + K[3 * k + 1] * h[1] + K[3 * k + 2] * h[2]);
        own->w[k] = w[k];
    }
    for (int k = 0; k < 6; k++) own->a[k] = x[k];
    if (r->load)
        for (int k = 0; k < 6; k++) f[k] -= r->load[6 * i + k];
}

/* Acceleration of the parent's point p. */
INLINE void carry_point(const recursion *r, int parent, const REAL p[3], REAL out[3]) {
    const REAL *K = r->needs[parent].K, *a = r->nodes[parent].a;
    for (int k = 0; k < 3; k++)
        out[k] = a[3 + k] + (K[3 * k] * p[0] + K[3 * k + 1] * p[1] + K[3 * k + 2] * p[2]);
}

INLINE void revolute_outwards(const recursion *r, int i, const REAL *vdot, int a) {
    const lw_link *link = &r->model->links[i];
    const node *parent = &r->nodes[link->parent];
    int j = (a + 1) % 3, k = (a + 2) % 3;
    REAL w[3], x[6], p[3], at[3], rate = link->sign * r->v[link->v];
    constant3(link->p, p);
    carry_point(r, link->parent, p, at);
    turn_back(a, r->cosine[link->v], r->sine[link->v], parent->w, w);
    turn_back(a, r->cosine[link->v], r->sine[link->v], parent->a, x);
    turn_back(a, r->cosine[link->v], r->sine[link->v], at, x + 3);
    x[j] += w[k] * rate; /* w x e_a rate */
    x[k] -= w[j] * rate;
    x[a] += link->sign * vdot[link->v];
    w[a] += rate;
    ask(r, i, w, x);
}
INLINE void prismatic_outwards(const recursion *r, int i, const REAL *vdot, int a) {
    const lw_link *link = &r->model->links[i];
    const node *parent = &r->nodes[link->parent];
    int j = (a + 1) % 3, k = (a + 2) % 3;
    REAL x[6], rate = 2 * link->sign * r->v[link->v];
    prismatic_place(r, i, a);
    carry_point(r, link->parent, r->places[i].p, x + 3);
    for (int l = 0; l < 3; l++) x[l] = parent->a[l];
    x[3 + j] += parent->w[k] * rate; /* 2 w x e_a rate */
    x[3 + k] -= parent->w[j] * rate;
    x[3 + a] += link->sign * vdot[link->v];
    ask(r, i, parent->w, x);
}
static void general_outwards(const recursion *r, int i, const REAL *vdot) {
    const lw_link *link = &r->model->links[i];
    general_velocity(r, i);
    REAL x[6], w[3];
    carry_general(r, i, x);
    for (int k = 0; k < link->joint.nv; k++)
        for (int l = 0; l < 6; l++) x[l] += vdot[link->v + k] * r->S[6 * (link->v + k) + l];
    for (int k = 0; k < 3; k++) w[k] = r->nodes[i].w[k];
    ask(r, i, w, x);
}

INLINE void add_wrench(need *parent, const REAL p[3], const REAL f[6]) {
    r3_add_cross(p, f + 3, parent->f);
    for (int k = 0; k < 6; k++) parent->f[k] += f[k];
}
INLINE void revolute_inwards(const recursion *r, int i, REAL *tau, int a) {
    const lw_link *link = &r->model->links[i];
    const REAL *own_f = r->needs[i].f;
    tau[link->v] = link->sign * own_f[a];
    if (link->parent == 0) return;
    REAL f[6], p[3];
    turn(a, r->cosine[link->v], r->sine[link->v], own_f, f);
    turn(a, r->cosine[link->v], r->sine[link->v], own_f + 3, f + 3);
    constant3(link->p, p);
    add_wrench(&r->needs[link->parent], p, f);
}
INLINE void prismatic_inwards(const recursion *r, int i, REAL *tau, int a) {
    const lw_link *link = &r->model->links[i];
    const REAL *own_f = r->needs[i].f;
    tau[link->v] = link->sign * own_f[3 + a];
    if (link->parent) add_wrench(&r->needs[link->parent], r->places[i].p, own_f);
}
static void general_inwards(const recursion *r, int i, REAL *tau) {
    const lw_link *link = &r->model->links[i];
    const place *at = &r->places[i];
    const REAL *own_f = r->needs[i].f;
    for (int k = link->v; k < link->v + link->joint.nv; k++) tau[k] = r6_dot(r->S + 6 * k, own_f);
    if (link->parent == 0) return;
    REAL f[6];
    r3_turn(at->R, own_f, f);
    r3_turn(at->R, own_f + 3, f + 3);
    add_wrench(&r->needs[link->parent], at->p, f);
}

/* tau that vdot asks for; afterwards needs[i].f is the wrench that joint i transmits, child's axes. */
static inline void inverse(const recursion *r, const REAL *vdot, REAL *tau) {
    turn_joints(r);
    for (int k = 0; k < 3; k++) r->nodes[0].w[k] = real(0);
    for (int k = 0; k < 9; k++) r->needs[0].K[k] = real(0);
    hang_ground(r);
    for (int i = 1; i <= r->model->body_count; i++) {
        BY_JOINT(&r->model->links[i], outwards, r, i, vdot)
    }
    for (int i = r->model->body_count; i >= 1; i--) {
        BY_JOINT(&r->model->links[i], inwards, r, i, tau)
    }
}

#endif

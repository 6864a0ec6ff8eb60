/* tree_forward.h - forward dynamics of a tree for one state or several: articulated inertias inwards,
 * accelerations outwards.
 *
 *   given q, v, tau     find vdot with  M(q) vdot + c(q, v) = tau + forces
 *
 * Source   Anderson & Critchley (2003), eqs 14-19, 24, 26, 27; docs/theory/tree.md, 14-18. Symbols as in
 *          tree_recursion.h.
 * Use      velocities (tree_recursion.h), eliminate, accelerate.
 * Cost     O(n): see tree_recursion.h.
 */
#ifndef LW_TREE_FORWARD_H
#define LW_TREE_FORWARD_H

#include "dynamics/tree_recursion.h"

/* --- articulated inertias, from the leaves inwards (docs/theory/tree.md, 14-17) ------------------- */

/* Articulated inertia and bias wrench of body i with what its children have handed over. */
INLINE void gather(const recursion *r, int i, REAL A[6], REAL B[9], REAL C[6], REAL f[6]) {
    const lw_link *link = &r->model->links[i];
    const body_numbers *numbers = NUMBERS_OF(r, i);
    const number *h = numbers->inertia.moment;
    body_wrench(r, i, r->nodes[i].w, f);
    if (link->slot < 0) {
        for (int k = 0; k < 3; k++) C[k] = constant(numbers->inertia.mass), C[3 + k] = real(0);
        for (int k = 0; k < 6; k++) A[k] = constant(numbers->inertia.second[k]);
        B[0] = B[4] = B[8] = real(0);
        B[1] = constant(-h[2]), B[2] = constant(h[1]), B[3] = constant(h[2]);
        B[5] = constant(-h[0]), B[6] = constant(-h[1]), B[7] = constant(h[0]);
        return;
    }
    const sum *handed = &r->sums[link->slot];
    for (int k = 0; k < 6; k++) A[k] = handed->A[k] + numbers->inertia.second[k];
    for (int k = 0; k < 9; k++) B[k] = handed->B[k];
    B[1] -= h[2], B[2] += h[1], B[3] += h[2], B[5] -= h[0], B[6] -= h[1], B[7] += h[0];
    for (int k = 0; k < 6; k++) C[k] = handed->C[k];
    for (int k = 0; k < 3; k++) C[k] += numbers->inertia.mass;
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
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++)
#pragma GCC unroll 3
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

/* 1 / pivot of a speed; zero if that is left out, whose acceleration then becomes zero; bad if it moves no
 * inertia. */
INLINE REAL inverse_pivot(const recursion *r, int speed, REAL pivot, int *bad) {
    if (__builtin_expect(real_above(pivot, r->floor[speed]), 1)) return 1 / pivot;
    if (isinf(r->floor[speed])) return real(0);
    *bad = 1;
    return 1 / pivot;
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
    REAL d = inverse_pivot(r, link->v, U[a], bad), u = link->sign * r->tau[link->v] - f[a];
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
    REAL A1[6], B1[9], C1[6], f1[6], c = r->cosine[link->v], s = r->sine[link->v], cs = c * s, cc = c * c;
    REAL difference = A[j] - A[k], turned = cc * difference - 2 * cs * A[sym(j, k)];
    A1[j] = A[k] + turned, A1[k] = A[j] - turned;
    A1[sym(j, k)] = cs * difference + (2 * cc - 1) * A[sym(j, k)];
    A1[a] = A1[sym(a, j)] = A1[sym(a, k)] = real(0);
    for (int l = 0; l < 3; l++) {
        REAL x = B[3 * j + l], y = B[3 * k + l];
        B[3 * j + l] = c * x - s * y, B[3 * k + l] = s * x + c * y;
    }
    turn(a, c, s, B + 3 * j, B1 + 3 * j);
    turn(a, c, s, B + 3 * k, B1 + 3 * k);
    turn_symmetric(a, c, s, C, C1);
    turn(a, c, s, f, f1);
    turn(a, c, s, f + 3, f1 + 3);
    REAL p[3];
    constant3(NUMBERS_OF(r, i)->p, p);
    hand_over(r, link, p, A1, B1, C1, f1, a);
}

INLINE void prismatic_eliminate(const recursion *r, int i, int *bad, int a) {
    const lw_link *link = &r->model->links[i];
    node *own = &r->nodes[i];
    REAL A[6], B[9], C[6], f[6], w[6], t[6];
    gather(r, i, A, B, C, f);
    REAL *U = own->U;
    for (int l = 0; l < 3; l++) U[l] = B[3 * l + a], U[3 + l] = C[sym(a, l)];
    REAL d = inverse_pivot(r, link->v, U[3 + a], bad), u = link->sign * r->tau[link->v] - f[3 + a];
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
    hand_over(r, link, r->relative[i].p, A, B, C, f, -1);
}

/* L D L' of the k x k matrix D (rows of 6) in place, prescribed rows left out: L a unit triangle, 1 / D on
 * the diagonal. Returns the number (from 1) of the first row whose pivot does not exceed its floor, or 0. */
INLINE int factor(int k, unsigned prescribed, REAL *D, const double *floor) {
    int bad = 0;
    for (int i = 0; i < k; i++) {
        if (prescribed >> i & 1) continue;
        REAL c[LW_JOINT_MAX_V], pivot = D[6 * i + i]; /* c_j = L_ij D_j */
        for (int j = 0; j < i; j++) {
            if (prescribed >> j & 1) continue;
            c[j] = D[6 * i + j];
            for (int l = 0; l < j; l++)
                if (!(prescribed >> l & 1)) c[j] -= c[l] * D[6 * j + l];
            D[6 * i + j] = c[j] * D[6 * j + j];
            pivot -= c[j] * D[6 * i + j];
        }
        if (real_above(pivot, floor[i]))
            D[6 * i + i] = 1 / pivot;
        else if (isinf(floor[i]))
            D[6 * i + i] = real(0); /* left out: column i of L is zero, and so is x_i of solve_upper */
        else {
            D[6 * i + i] = real(NAN);
            if (!bad) bad = i + 1;
        }
    }
    return bad;
}

/* x = L^-1 x and x = L^-T D^-1 x; prescribed rows are left out and not touched. */
INLINE void solve_lower(int k, unsigned prescribed, const REAL *L, REAL *x) {
    for (int i = 0; i < k; i++) {
        if (prescribed >> i & 1) continue;
        for (int l = 0; l < i; l++)
            if (!(prescribed >> l & 1)) x[i] -= L[6 * i + l] * x[l];
    }
}
INLINE void solve_upper(int k, unsigned prescribed, const REAL *L, REAL *x) {
    for (int i = k - 1; i >= 0; i--) {
        if (prescribed >> i & 1) continue;
        x[i] = x[i] * L[6 * i + i];
        for (int l = i + 1; l < k; l++)
            if (!(prescribed >> l & 1)) x[i] -= L[6 * l + i] * x[l];
    }
}

/* A spherical joint: S = (1; 0), so U = (A; B') and D = A. What is left for the parent is a mass matrix:
 *     C - B'A^-1 B,   force  f + B'A^-1 u + (that) b,   torque tau. */
static void spherical_eliminate(const recursion *r, int i, int *bad) {
    const lw_link *link = &r->model->links[i];
    REAL *L = r->D + 6 * link->v, *kept = r->U + 6 * link->v, *u = r->u + link->v;
    REAL A[6], B[9], C[6], f[6], W[9], V[9], y[3], f1[6], C1[6];
    gather(r, i, A, B, C, f);
    for (int k = 0; k < 3; k++) {
        for (int l = 0; l <= k; l++) L[6 * k + l] = A[sym(k, l)];
        u[k] = r->tau[link->v + k] - f[k];
        y[k] = u[k];
    }
    for (int k = 0; k < 9; k++) kept[k] = B[k];
    *bad = factor(3, 0, L, r->floor + link->v);
    if (link->parent == 0) return;
    solve_lower(3, 0, L, y);
    for (int m = 0; m < 3; m++) { /* columns of W = L^-1 B, V = D^-1 W */
        REAL x[3] = {B[m], B[3 + m], B[6 + m]};
        solve_lower(3, 0, L, x);
        for (int k = 0; k < 3; k++) W[3 * k + m] = x[k], V[3 * k + m] = L[7 * k] * x[k];
    }
    for (int l = 0; l < 3; l++) {
        for (int m = 0; m <= l; m++) C[sym(l, m)] -= V[l] * W[m] + V[3 + l] * W[3 + m] + V[6 + l] * W[6 + m];
        f[l] = r->tau[link->v + l];
        f[3 + l] += V[l] * y[0] + V[3 + l] * y[1] + V[6 + l] * y[2];
    }
    const REAL *b = r->nodes[i].bias + 3;
    for (int l = 0; l < 3; l++) f[3 + l] += C[sym(l, 0)] * b[0] + C[sym(l, 1)] * b[1] + C[sym(l, 2)] * b[2];
    const REAL none[9] = {0};
    const relative_pose *at = &r->relative[i];
    turn_symmetric_by(at->R, C, C1);
    r3_turn(at->R, f, f1);
    r3_turn(at->R, f + 3, f1 + 3);
    hand_over(r, link, at->p, none, none, C1, f1, -1);
}

/* A free joint: S is square, so the body's acceleration does not depend on its parent, I^ (alpha; a) = S^-T
 * tau - f^, and the parent feels S^-T tau alone. S is (0; R'), (1; 0) with R' orthogonal. */
static void free_eliminate(const recursion *r, int i, int *bad) {
    const lw_link *link = &r->model->links[i];
    const double *given = r->floor + link->v;
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
    const relative_pose *at = &r->relative[i];
    r3_turn(at->R, w, f1);
    r3_turn(at->R, w + 3, f1 + 3);
    hand_over(r, link, at->p, none, none, none, f1, -1);
}

/* Column k of S times a wrench; those of a universal joint are (S0, 0, S2; 0) and (0, 1, 0; 0). */
INLINE REAL motion_dot(const REAL *S, int k, const REAL f[6], bool universal) {
    if (!universal) return r6_dot(S + 6 * k, f);
    return k == 0 ? S[0] * f[0] + S[2] * f[2] : f[1];
}

/* I^ times column k of S. */
INLINE void inertia_times_motion(const REAL A[6], const REAL B[9], const REAL C[6], const REAL *S, int k,
                                 bool universal, REAL U[6]) {
    if (!universal)
        inertia_times(A, B, C, S + 6 * k, U);
    else
        for (int l = 0; l < 3; l++) {
            U[l] = k == 0 ? S[0] * A[sym(0, l)] + S[2] * A[sym(2, l)] : A[sym(1, l)];
            U[3 + l] = k == 0 ? S[0] * B[l] + S[2] * B[6 + l] : B[3 + l];
        }
}

/* Any other joint, by its S; nv, prescribed and universal are constants where that pays. Joints with rotors
 * take this way too: D = S'I^ S + diag(J) (docs/theory/armature.md, 4), and then I^ - U D^-1 U' has inertia
 * along S, which the other kernels take to be zero. */
INLINE void joint_eliminate(const recursion *r, int i, int *bad, int nv, unsigned prescribed,
                            bool universal) {
    const lw_link *link = &r->model->links[i];
    const node *own = &r->nodes[i];
    const relative_pose *at = &r->relative[i];
    const REAL *S = r->S + 6 * link->v, *tau = r->tau + link->v;
    REAL *U = r->U + 6 * link->v, *D = r->D + 6 * link->v, *u = r->u + link->v;
    REAL A[6], B[9], C[6], f[6], t[6], b[6], W[6 * LW_JOINT_MAX_V], y[LW_JOINT_MAX_V];
    const number *armature = universal ? NULL : ARMATURE_OF(r);
    gather(r, i, A, B, C, f);
    for (int k = 0; k < 6; k++) b[k] = own->bias[k];
    for (int k = 0; k < nv; k++) {
        inertia_times_motion(A, B, C, S, k, universal, U + 6 * k);
        u[k] = tau[k] - motion_dot(S, k, f, universal);
        for (int l = 0; l <= k; l++) D[6 * k + l] = motion_dot(S, l, U + 6 * k, universal);
        if (armature) D[7 * k] += armature[link->v + k];
        if (prescribed >> k & 1) /* prescribed accelerations act like bias */
            for (int l = 0; l < 6; l++) b[l] += S[6 * k + l] * r->vdot[link->v + k];
    }
    if (nv) *bad = factor(nv, prescribed, D, r->floor + link->v);
    if (link->parent == 0) return;

    inertia_times(A, B, C, b, t);
    for (int k = 0; k < 6; k++) f[k] += t[k];
    for (int k = 0; k < nv; k++) y[k] = tau[k] - motion_dot(S, k, f, universal);
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
        REAL v[6];
        for (int l = 0; l < 6; l++) v[l] = D[7 * k] * w[l];
        for (int l = 0; l < 3; l++)
            for (int m = 0; m < 3; m++) {
                B[3 * l + m] -= v[l] * w[3 + m];
                if (m > l) continue;
                A[sym(l, m)] -= v[l] * w[m];
                C[sym(l, m)] -= v[3 + l] * w[3 + m];
            }
        for (int l = 0; l < 6; l++) f[l] += y[k] * v[l];
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

static void general_eliminate(const recursion *r, int i, int *bad) {
    const lw_link *link = &r->model->links[i];
    if (link->kernel == LW_KERNEL_SPHERICAL)
        spherical_eliminate(r, i, bad);
    else if (link->kernel == LW_KERNEL_FREE)
        free_eliminate(r, i, bad);
    else if (link->kernel == LW_KERNEL_UNIVERSAL)
        joint_eliminate(r, i, bad, 2, 0, true);
    else if (link->prescribed)
        joint_eliminate(r, i, bad, link->joint.nv, link->prescribed, false);
    else if (link->joint.nv == 1)
        joint_eliminate(r, i, bad, 1, 0, false);
    else if (link->joint.nv == 2)
        joint_eliminate(r, i, bad, 2, 0, false);
    else if (link->joint.nv == 3)
        joint_eliminate(r, i, bad, 3, 0, false);
    else
        joint_eliminate(r, i, bad, link->joint.nv, 0, false);
}

/* Returns the body at which some speed moves no inertia and that speed's number from 1, or 0. */
static inline int eliminate(const recursion *r, int *speed) {
    int body = 0;
    for (int i = r->model->body_count; i >= 1; i--) {
        int bad = 0;
        look_ahead(r->model->links, sizeof(lw_link), 2, i - AHEAD);
        BY_JOINT(&r->model->links[i], eliminate, r, i, &bad)
        if (__builtin_expect(bad && !body, 0))
            body = i, *speed = bad; /* the outermost; NaN may follow inwards */
    }
    return body;
}

/* --- accelerations, from ground outwards (docs/theory/tree.md, 18) -------------------------------- */

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

INLINE void joint_accelerate(const recursion *r, int i, int nv, unsigned prescribed, bool universal) {
    const lw_link *link = &r->model->links[i];
    node *own = &r->nodes[i];
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
        for (int l = 0; l < 6 && !universal; l++) x[l] += y[k] * S[6 * k + l];
    }
    if (universal) x[0] += y[0] * S[0], x[1] += y[1], x[2] += y[0] * S[2];
    for (int k = 0; k < 6; k++) own->a[k] = x[k];
    if (!prescribed || !r->drive) return;
    for (int k = 0; k < nv; k++) { /* S'(I^ a + f^) + J vdot - tau */
        if (!(prescribed >> k & 1)) continue;
        r->drive[link->v + k] = r6_dot(U + 6 * k, x) - r->u[link->v + k];
        if (ARMATURE_OF(r)) r->drive[link->v + k] += ARMATURE_OF(r)[link->v + k] * vdot[k];
    }
}

static void general_accelerate(const recursion *r, int i) {
    const lw_link *link = &r->model->links[i];
    if (link->kernel == LW_KERNEL_SPHERICAL)
        spherical_accelerate(r, i);
    else if (link->kernel == LW_KERNEL_FREE)
        free_accelerate(r, i);
    else if (link->kernel == LW_KERNEL_UNIVERSAL)
        joint_accelerate(r, i, 2, 0, true);
    else if (link->prescribed)
        joint_accelerate(r, i, link->joint.nv, link->prescribed, false);
    else if (link->joint.nv == 1)
        joint_accelerate(r, i, 1, 0, false);
    else if (link->joint.nv == 2)
        joint_accelerate(r, i, 2, 0, false);
    else if (link->joint.nv == 3)
        joint_accelerate(r, i, 3, 0, false);
    else
        joint_accelerate(r, i, link->joint.nv, 0, false);
}

static inline void accelerate(const recursion *r) {
    hang_ground(r);
    for (int i = 1; i <= r->model->body_count; i++) {
        look_ahead(r->model->links, sizeof(lw_link), 1, i + AHEAD);
        BY_JOINT(&r->model->links[i], accelerate, r, i)
    }
}

#endif

/* tree_mass_matrix.c - the joint-space mass matrix of a tree: composite rigid bodies.
 *
 *   Ic_i = I_i + sum over children of X' Ic X
 *   M_ij = S_i' X' Ic_j S_j                        for i on the path from ground to j
 *
 * Source   docs/theory/tree.md, 10.
 * Symbols  a column is the momentum Ic_j S_j, (angular; linear), of one speed. During the backward pass it is
 *          expressed in the axes and at the origin of the body that the pass has reached. The columns of a
 *          branch are transformed two at a time, because every 64-bit x86 and ARM processor computes two
 *          doubles in the time of one.
 * Cost     O(n d) with d the depth of the tree, plus clearing nv^2 entries; no allocation.
 */
#include "dynamics/tree_dynamics.h"
#include <linkwork/tree.h>

#define LANES 1
#include "dynamics/tree_recursion.h"

/* total = base + a rigid inertia with mass m, first moment h and second moment J in the same axes, about an
 * origin at p. With e = h + m p, the first moment about the new origin, and g = h + e:
 *     J - p~h~ - h~p~ - m p~p~  =  J_ij + (p.g) d_ij - (p_i g_j + g_i p_j) / 2. */
INLINE void add_shifted(const lw_rigid_inertia *base, double m, const double h[3], const double J[6],
                        const double p[3], lw_rigid_inertia *total) {
    double e[3], g[3], pg[3];
    for (int k = 0; k < 3; k++) e[k] = h[k] + m * p[k], g[k] = h[k] + e[k], pg[k] = p[k] * g[k];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        total->second[i] = base->second[i] + J[i] + (pg[j] + pg[k]);
        total->second[sym(j, k)] = base->second[sym(j, k)] + J[sym(j, k)] - 0.5 * (p[j] * g[k] + g[j] * p[k]);
        total->moment[i] = base->moment[i] + e[i];
    }
    total->mass = base->mass + m;
}

/* total = base + the composite inertia `own` of body i, transformed to the parent's frame. */
INLINE void revolute_compose(const recursion *r, int i, const lw_rigid_inertia *own,
                             const lw_rigid_inertia *base, lw_rigid_inertia *total, int a) {
    const lw_link *link = &r->model->links[i];
    double h[3], J[6], c = r->cosine[link->v], s = r->sine[link->v];
    turn(a, c, s, own->moment, h);
    turn_symmetric(a, c, s, own->second, J);
    add_shifted(base, own->mass, h, J, link->p, total);
}
INLINE void prismatic_compose(const recursion *r, int i, const lw_rigid_inertia *own,
                              const lw_rigid_inertia *base, lw_rigid_inertia *total, int a) {
    (void)a;
    add_shifted(base, own->mass, own->moment, own->second, r->relative[i].p, total);
}
static void general_compose(const recursion *r, int i, const lw_rigid_inertia *own,
                            const lw_rigid_inertia *base, lw_rigid_inertia *total) {
    double h[3], J[6];
    r3_turn(r->relative[i].R, own->moment, h);
    turn_symmetric_by(r->relative[i].R, own->second, J);
    add_shifted(base, own->mass, h, J, r->relative[i].p, total);
}

/* --- columns -------------------------------------------------------------------------------------- */

typedef double pair __attribute__((vector_size(16))); /* one component of columns c and c + 1, c even */

/* The columns of one branch: component k of column c is at[6 * (c / 2) + k][c % 2]. */
typedef struct columns {
    pair *at;
    unsigned first, end;
} columns;

/* Stores f as column c. Whole pairs are written, because a processor stalls when a load is wider than the
 * store before it. */
INLINE void put_column(const columns *branch, unsigned c, const double f[6]) {
    pair *to = branch->at + 6 * (c / 2);
    if (c % 2)
        for (int k = 0; k < 6; k++) to[k] = (pair){to[k][0], f[k]};
    else
        for (int k = 0; k < 6; k++) to[k] = (pair){f[k], 0};
}

/* Computes Ic S of the speeds of joint i in its own columns, the last ones of its branch. */
INLINE void revolute_stir(const recursion *r, int i, const lw_rigid_inertia *I, const columns *branch,
                          int a) {
    double sign = r->model->links[i].sign, f[6];
    int j = (a + 1) % 3, k = (a + 2) % 3;
    for (int l = 0; l < 3; l++) f[l] = sign * I->second[sym(a, l)];
    f[3 + a] = 0, f[3 + j] = -sign * I->moment[k], f[3 + k] = sign * I->moment[j]; /* e_a x h */
    put_column(branch, branch->end - 1, f);
}
INLINE void prismatic_stir(const recursion *r, int i, const lw_rigid_inertia *I, const columns *branch,
                           int a) {
    double sign = r->model->links[i].sign, f[6];
    int j = (a + 1) % 3, k = (a + 2) % 3;
    f[a] = 0, f[j] = sign * I->moment[k], f[k] = -sign * I->moment[j]; /* h x e_a */
    f[3 + a] = sign * I->mass, f[3 + j] = f[3 + k] = 0;
    put_column(branch, branch->end - 1, f);
}
static void general_stir(const recursion *r, int i, const lw_rigid_inertia *I, const columns *branch) {
    const lw_link *link = &r->model->links[i];
    for (int k = 0; k < link->joint.nv; k++) {
        double f[6];
        lw_rigid_mul(I, r->S + 6 * (link->v + k), f);
        put_column(branch, branch->end - (unsigned)(link->joint.nv - k), f);
    }
}

/* Stores x in row v, columns c and c + 1 of M, and symmetrically. If c + 1 is beyond the branch, the entry is
 * overwritten later (lw_branch). */
INLINE void enter(const lw_model *model, double *mass, int v, unsigned c, pair x) {
    const int *speeds = model->column_speeds + c;
    size_t nv = (size_t)model->nv, row = (size_t)v;
    for (int lane = 0; lane < 2; lane++) {
        if (speeds[lane] < 0) continue;
        size_t column = (size_t)speeds[lane];
        mass[row * nv + column] = mass[column * nv + row] = x[lane];
    }
}

/* Shifts a pair of columns, given in the parent's axes, by p. */
INLINE void shift_pair(const double p[3], const pair t[6], pair f[6]) {
    f[0] = t[0] + (p[1] * t[5] - p[2] * t[4]);
    f[1] = t[1] + (p[2] * t[3] - p[0] * t[5]);
    f[2] = t[2] + (p[0] * t[4] - p[1] * t[3]);
    for (int k = 3; k < 6; k++) f[k] = t[k];
}

/* Computes for each column f of the branch of body i its entries S_i'f of M and then, unless the parent is
 * ground, transforms the column to the parent. */
INLINE void revolute_climb(const recursion *r, int i, const columns *branch, double *mass, int a) {
    const lw_link *link = &r->model->links[i];
    const double cosine = r->cosine[link->v], sine = r->sine[link->v], sign = link->sign;
    const double p[3] = {link->p[0], link->p[1], link->p[2]};
    int j = (a + 1) % 3, k = (a + 2) % 3;
    for (unsigned c = branch->first; c < branch->end; c += 2) {
        pair *f = branch->at + 3 * c, t[6];
        enter(r->model, mass, link->v, c, sign * f[a]);
        if (link->parent == 0) continue;
        for (int half = 0; half < 6; half += 3) {
            t[half + a] = f[half + a];
            t[half + j] = cosine * f[half + j] - sine * f[half + k];
            t[half + k] = sine * f[half + j] + cosine * f[half + k];
        }
        shift_pair(p, t, f);
    }
}
INLINE void prismatic_climb(const recursion *r, int i, const columns *branch, double *mass, int a) {
    const lw_link *link = &r->model->links[i];
    const double sign = link->sign, *p = r->relative[i].p;
    for (unsigned c = branch->first; c < branch->end; c += 2) {
        pair *f = branch->at + 3 * c;
        enter(r->model, mass, link->v, c, sign * f[3 + a]);
        if (link->parent) shift_pair(p, f, f);
    }
}
static void general_climb(const recursion *r, int i, const columns *branch, double *mass) {
    const lw_link *link = &r->model->links[i];
    const double *R = r->relative[i].R;
    for (unsigned c = branch->first; c < branch->end; c += 2) {
        pair *f = branch->at + 3 * c, t[6];
        for (int v = link->v; v < link->v + link->joint.nv; v++) {
            const double *S = r->S + 6 * v;
            enter(r->model, mass, v, c,
                  S[0] * f[0] + S[1] * f[1] + S[2] * f[2] + S[3] * f[3] + S[4] * f[4] + S[5] * f[5]);
        }
        if (link->parent == 0) continue;
        for (int half = 0; half < 6; half += 3)
            for (int k = 0; k < 3; k++)
                t[half + k] = R[3 * k] * f[half] + R[3 * k + 1] * f[half + 1] + R[3 * k + 2] * f[half + 2];
        shift_pair(r->relative[i].p, t, f);
    }
}

/* Treats body i: its own columns, its rows of M, and then the transformation of its columns and its inertia
 * to the parent. */
INLINE void revolute_pass(const recursion *r, int i, const lw_rigid_inertia *own,
                          const lw_rigid_inertia *base, lw_rigid_inertia *parent, const columns *branch,
                          double *mass, int a) {
    revolute_stir(r, i, own, branch, a);
    revolute_climb(r, i, branch, mass, a);
    if (r->model->links[i].parent) revolute_compose(r, i, own, base, parent, a);
}
INLINE void prismatic_pass(const recursion *r, int i, const lw_rigid_inertia *own,
                           const lw_rigid_inertia *base, lw_rigid_inertia *parent, const columns *branch,
                           double *mass, int a) {
    prismatic_stir(r, i, own, branch, a);
    prismatic_climb(r, i, branch, mass, a);
    if (r->model->links[i].parent) prismatic_compose(r, i, own, base, parent, a);
}
static void general_pass(const recursion *r, int i, const lw_rigid_inertia *own, const lw_rigid_inertia *base,
                         lw_rigid_inertia *parent, const columns *branch, double *mass) {
    general_stir(r, i, own, branch);
    general_climb(r, i, branch, mass);
    if (r->model->links[i].parent) general_compose(r, i, own, base, parent);
}

void lw_mass_matrix_held(const lw_model *model, lw_data *data, double t, const double *q, double *mass) {
    if (model->motion_count) {
        lw_take_state(model, data, t, q, NULL);
        q = data->q;
    }
    const recursion r = {.model = model,
                         .relative = (relative_pose *)data->relative,
                         .S = data->S,
                         .q = q,
                         .sine = data->sine,
                         .cosine = data->cosine};
    lw_rigid_inertia *composite = data->composite;
    memset(mass, 0, (size_t)model->nv * (size_t)model->nv * sizeof *mass);
    turn_joints(&r);
    for (int i = 1; i <= model->body_count && model->revolute_count < model->body_count; i++) {
        BY_JOINT(&model->links[i], pose, &r, i)
    }
    for (int i = model->body_count; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        /* The composite inertia of a leaf is its own inertia. */
        const lw_rigid_inertia *own = link->slot < 0 ? &link->inertia : &composite[i];
        const columns branch = {(pair *)(void *)data->columns, (unsigned)model->branches[i].first,
                                (unsigned)model->branches[i].end};
        lw_rigid_inertia *parent = &composite[link->parent];
        const lw_rigid_inertia *base = link->first ? &model->links[link->parent].inertia : parent;
        BY_JOINT(link, pass, &r, i, own, base, parent, &branch, mass)
    }
    for (int k = 0; model->armature && k < model->nv; k++) /* rotors: docs/theory/armature.md */
        mass[(size_t)k * (size_t)(model->nv + 1)] += model->armature[k];
}

/* Subtracts B b b' for each moment B added for an idle spin, where b is the gradient of the spin's rate with
 * respect to the speeds. */
lw_status lw_tree_mass_matrix(const lw_model *model, lw_data *data, double t, const double *q, double *mass) {
    if (!lw_data_fits(model, data) || !lw_given(q, model->nq) || !lw_given(mass, model->nv))
        return LW_ERROR_ARGUMENT;
    if (!lw_finite(q, model->nq)) return LW_ERROR_ARGUMENT;
    lw_take_merged(&model, &data);
    lw_mass_matrix_held(model, data, t, q, mass);
    size_t n = (size_t)model->nv;
    if (model->idle_count == 0) return LW_OK;
    lw_take_state(model, data, t, q, NULL);
    lw_positions(model, data);
    for (int k = 0; k < model->idle_count; k++) {
        const lw_idle *idle = &model->idle[k];
        double axis[3], moved[3], *rate = data->joint_u;
        memset(rate, 0, n * sizeof *rate);
        lw_v3_copy(idle->axis, axis);
        for (int i = idle->body; i > 0; i = model->links[i].parent) {
            const lw_link *link = &model->links[i];
            for (int v = link->v; v < link->v + link->joint.nv; v++)
                rate[v] = lw_v3_dot(axis, data->S + 6 * v);
            lw_m3_mul_v(data->motion[i].R, axis, moved);
            lw_v3_copy(moved, axis);
        }
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n && rate[a] != 0; b++)
                mass[a * n + b] -= idle->moment * rate[a] * rate[b];
    }
    return LW_OK;
}

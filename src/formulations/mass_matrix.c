/* mass_matrix.c - the joint-space mass matrix of a tree: composite rigid bodies.
 *
 *   Ic_i = I_i + sum over children of X' Ic X
 *   M_ij = S_i' X' Ic_j S_j                        for i on the way from ground to j
 *
 * Source   docs/theory/tree.md, 10.
 * Cost     O(n d) with d the depth of the tree, plus clearing nv^2 entries; no allocation.
 */
#include "formulations/tree.h"

#define LANES 1
#include "formulations/recursion.h"

/* sum = base + a rigid inertia J (about its origin), h, m given in the same axes but at p:
 *     J - p~h~ - h~p~ - m p~p~  =  J_ij + 2 (p.g) d_ij - p_i g_j - g_i p_j  with g = h + m p / 2. */
INLINE void add_shifted(const lw_rigid_inertia *base, double m, const double h[3], const double J[6],
                        const double p[3], lw_rigid_inertia *total) {
    double g[3];
    for (int k = 0; k < 3; k++) g[k] = h[k] + 0.5 * m * p[k];
    double trace = 2 * lw_v3_dot(p, g);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < i; j++)
            total->second[sym(i, j)] = base->second[sym(i, j)] + J[sym(i, j)] - p[i] * g[j] - g[i] * p[j];
        total->second[i] = base->second[i] + J[i] + trace - 2 * p[i] * g[i];
        total->moment[i] = base->moment[i] + h[i] + m * p[i];
    }
    total->mass = base->mass + m;
}

/* total = base + the composite inertia `own` of body i, carried to its parent. */
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
    add_shifted(base, own->mass, own->moment, own->second, r->places[i].p, total);
}
static void general_compose(const recursion *r, int i, const lw_rigid_inertia *own,
                            const lw_rigid_inertia *base, lw_rigid_inertia *total) {
    double h[3], J[6];
    r3_turn(r->places[i].R, own->moment, h);
    turn_symmetric_by(r->places[i].R, own->second, J);
    add_shifted(base, own->mass, h, J, r->places[i].p, total);
}

/* Momentum f = Ic S, (angular; linear), of speed k of joint i. */
INLINE void revolute_stir(const recursion *r, int i, int k, const lw_rigid_inertia *I, double f[6], int a) {
    double sign = r->model->links[i].sign;
    int j = (a + 1) % 3, l = (a + 2) % 3;
    (void)k;
    for (int m = 0; m < 3; m++) f[m] = sign * I->second[sym(a, m)];
    f[3 + a] = 0, f[3 + j] = -sign * I->moment[l], f[3 + l] = sign * I->moment[j]; /* e_a x h */
}
INLINE void prismatic_stir(const recursion *r, int i, int k, const lw_rigid_inertia *I, double f[6], int a) {
    double sign = r->model->links[i].sign;
    int j = (a + 1) % 3, l = (a + 2) % 3;
    (void)k;
    f[a] = 0, f[j] = sign * I->moment[l], f[l] = -sign * I->moment[j]; /* h x e_a */
    f[3 + a] = sign * I->mass, f[3 + j] = f[3 + l] = 0;
}
static inline void general_stir(const recursion *r, int i, int k, const lw_rigid_inertia *I, double f[6]) {
    double copy[6];
    lw_rigid_mul(I, r->S + 6 * (r->model->links[i].v + k), copy);
    for (int l = 0; l < 6; l++) f[l] = copy[l];
}

/* f from the axes and origin of body i to those of its parent. */
INLINE void revolute_climb(const recursion *r, int i, double f[6], int a) {
    double t[6], c = r->cosine[r->model->links[i].v], s = r->sine[r->model->links[i].v];
    turn(a, c, s, f, t);
    turn(a, c, s, f + 3, t + 3);
    r3_add_cross(r->model->links[i].p, t + 3, t);
    for (int k = 0; k < 6; k++) f[k] = t[k];
}
INLINE void prismatic_climb(const recursion *r, int i, double f[6], int a) {
    (void)a;
    r3_add_cross(r->places[i].p, f + 3, f);
}
static void general_turn_and_shift(const recursion *r, int i, double f[6]) {
    double t[6];
    r3_turn(r->places[i].R, f, t);
    r3_turn(r->places[i].R, f + 3, t + 3);
    r3_add_cross(r->places[i].p, t + 3, t);
    for (int k = 0; k < 6; k++) f[k] = t[k];
}
INLINE void general_climb(const recursion *r, int i, double f[6]) {
    double copy[6]; /* so that f itself need not live in memory for the sake of a call */
    for (int k = 0; k < 6; k++) copy[k] = f[k];
    general_turn_and_shift(r, i, copy);
    for (int k = 0; k < 6; k++) f[k] = copy[k];
}

/* Entries of one row of M at the speeds of body j: S_j'f. */
static void general_project(const recursion *r, int j, const double f[6], double *row) {
    const lw_link *link = &r->model->links[j];
    for (int l = link->v; l < link->v + link->joint.nv; l++) row[l] = r6_dot(r->S + 6 * l, f);
}
INLINE void project(const recursion *r, int j, const double f[6], double *row) {
    const lw_link *link = &r->model->links[j];
    switch (link->kernel) { /* revolute axes are 0 .. 2, prismatic ones 3 .. 5 */
    case 0:
        row[link->v] = link->sign * f[0];
        break;
    case 1:
        row[link->v] = link->sign * f[1];
        break;
    case 2:
        row[link->v] = link->sign * f[2];
        break;
    case 3:
        row[link->v] = link->sign * f[3];
        break;
    case 4:
        row[link->v] = link->sign * f[4];
        break;
    case 5:
        row[link->v] = link->sign * f[5];
        break;
    default: {
        const double copy[6] = {f[0], f[1], f[2], f[3], f[4], f[5]};
        general_project(r, j, copy, row);
    }
    }
}

void lw_mass_matrix(const lw_model *model, lw_data *data, double t, const double *q, double *mass) {
    size_t nv = (size_t)model->nv;
    if (model->motion_count) {
        lw_take_state(model, data, t, q, NULL);
        q = data->q;
    }
    const recursion r = {.model = model,
                         .nodes = (node *)data->nodes,
                         .places = (place *)data->places,
                         .S = data->joint_S,
                         .q = q,
                         .sine = data->sine,
                         .cosine = data->cosine};
    lw_rigid_inertia *composite = data->composite;
    memset(mass, 0, nv * nv * sizeof *mass);
    turn_joints(&r);
    for (int i = 1; i <= model->body_count && model->turn_count < model->body_count; i++) {
        BY_JOINT(&model->links[i], place, &r, i)
    }
    for (int i = model->body_count; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        const lw_rigid_inertia *own =
            link->slot < 0 ? &link->inertia : &composite[i]; /* a leaf has its own only */
        if (link->parent) {
            lw_rigid_inertia *parent = &composite[link->parent];
            const lw_rigid_inertia *base = link->first ? &model->links[link->parent].inertia : parent;
            BY_JOINT(link, compose, &r, i, own, base, parent)
        }
        for (int k = 0; k < link->joint.nv; k++) {
            double *row = mass + (size_t)(link->v + k) * nv, f[6]; /* momentum Ic S, (angular; linear) */
            BY_JOINT(link, stir, &r, i, k, own, f)
            project(&r, i, f, row);
            for (int j = i, next; (next = model->links[j].parent) > 0; j = next) {
                BY_JOINT(&model->links[j], climb, &r, j, f)
                project(&r, next, f, row);
            }
        }
    }
    for (size_t row = 1; row < nv; row++) /* what was filled is the part below the diagonal */
        for (size_t column = 0; column < row; column++) mass[column * nv + row] = mass[row * nv + column];
}

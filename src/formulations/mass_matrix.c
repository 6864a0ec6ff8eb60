/* mass_matrix.c - the joint-space mass matrix of a tree: composite rigid bodies.
 *
 *   Ic_i = I_i + sum over children of X' Ic X,      M_ij = S_i' X' Ic_j S_j   for i on the way from ground to
 * j
 *
 * Source   docs/theory/tree.md, 10.
 * Cost     O(n d) with d the depth of the tree, plus clearing nv^2 entries; no allocation.
 */
#include "formulations/tree.h"

#define LANES 1
#include "formulations/recursion.h"

/* parent += child, a rigid inertia J (about the origin), h, m in axes of the parent at p:
 *     J - p~h~ - h~p~ - m p~p~  =  J_ij + 2 (p.g) d_ij - p_i g_j - g_i p_j  with g = h + m p / 2. */
INLINE void add_shifted(lw_rigid_inertia *parent, double m, const double h[3], const double J[6],
                        const double p[3]) {
    double g[3];
    for (int k = 0; k < 3; k++) g[k] = h[k] + 0.5 * m * p[k];
    double trace = 2 * lw_v3_dot(p, g);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < i; j++) parent->second[sym(i, j)] += J[sym(i, j)] - p[i] * g[j] - g[i] * p[j];
        parent->second[i] += J[i] + trace - 2 * p[i] * g[i];
        parent->moment[i] += h[i] + m * p[i];
    }
    parent->mass += m;
}

INLINE void revolute_compose(const recursion *r, int i, const lw_rigid_inertia *own, lw_rigid_inertia *parent,
                             int a) {
    double h[3], J[6], c = r->nodes[i].c, s = r->nodes[i].s;
    turn(a, c, s, own->moment, h);
    turn_symmetric(a, c, s, own->second, J);
    add_shifted(parent, own->mass, h, J, r->model->links[i].p);
}
INLINE void prismatic_compose(const recursion *r, int i, const lw_rigid_inertia *own,
                              lw_rigid_inertia *parent, int a) {
    (void)a;
    add_shifted(parent, own->mass, own->moment, own->second, r->places[i].p);
}
static void general_compose(const recursion *r, int i, const lw_rigid_inertia *own,
                            lw_rigid_inertia *parent) {
    double h[3], J[6];
    r3_turn(r->places[i].R, own->moment, h);
    turn_symmetric_by(r->places[i].R, own->second, J);
    add_shifted(parent, own->mass, h, J, r->places[i].p);
}

/* f from the axes and origin of body i to those of its parent. */
INLINE void revolute_climb(const recursion *r, int i, double f[6], int a) {
    double t[6], c = r->nodes[i].c, s = r->nodes[i].s;
    turn(a, c, s, f, t);
    turn(a, c, s, f + 3, t + 3);
    r3_add_cross(r->model->links[i].p, t + 3, t);
    for (int k = 0; k < 6; k++) f[k] = t[k];
}
INLINE void prismatic_climb(const recursion *r, int i, double f[6], int a) {
    (void)a;
    r3_add_cross(r->places[i].p, f + 3, f);
}
static void general_climb(const recursion *r, int i, double f[6]) {
    double t[6];
    r3_turn(r->places[i].R, f, t);
    r3_turn(r->places[i].R, f + 3, t + 3);
    r3_add_cross(r->places[i].p, t + 3, t);
    for (int k = 0; k < 6; k++) f[k] = t[k];
}

/* Row of M at body j: S_j'f for each of its speeds. */
INLINE void project(const recursion *r, int j, const double f[6], size_t nv, size_t column, double *mass) {
    const lw_link *link = &r->model->links[j];
    if (link->kernel != LW_KERNEL_GENERAL) {
        double entry = link->sign * f[link->kernel]; /* revolute axes 0 .. 2, prismatic ones 3 .. 5 */
        mass[(size_t)link->v * nv + column] = mass[column * nv + (size_t)link->v] = entry;
        return;
    }
    for (int l = 0; l < link->joint.nv; l++) {
        size_t row = (size_t)(link->v + l);
        mass[row * nv + column] = mass[column * nv + row] = r6_dot(r->S + 6 * row, f);
    }
}

void lw_mass_matrix(const lw_model *model, lw_data *data, double t, const double *q, double *mass) {
    size_t nv = (size_t)model->nv;
    lw_take_state(model, data, t, q, NULL);
    const recursion r = {.model = model,
                         .nodes = (node *)data->nodes,
                         .places = (place *)data->places,
                         .S = data->joint_S,
                         .q = data->q};
    lw_rigid_inertia *composite = data->composite;
    memset(mass, 0, nv * nv * sizeof *mass);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        composite[i] = link->inertia;
        BY_JOINT(link, place, &r, i)
        if (link->kernel !=
            LW_KERNEL_GENERAL) { /* the other kernels have no use for S; here it is one column */
            double *S = r.S + 6 * link->v;
            for (int k = 0; k < 6; k++) S[k] = 0;
            S[link->kernel] = link->sign;
        }
    }
    for (int i = model->body_count; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        if (link->parent) {
            BY_JOINT(link, compose, &r, i, &composite[i], &composite[link->parent])
        }
        for (int k = 0; k < link->joint.nv; k++) {
            size_t column = (size_t)(link->v + k);
            double f[6]; /* momentum Ic S, (angular; linear) */
            lw_rigid_mul(&composite[i], r.S + 6 * column, f);
            project(&r, i, f, nv, column, mass);
            for (int j = i; model->links[j].parent; j = model->links[j].parent) {
                BY_JOINT(&model->links[j], climb, &r, j, f)
                project(&r, model->links[j].parent, f, nv, column, mass);
            }
        }
    }
}

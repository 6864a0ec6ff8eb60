/* mass_matrix.c - the joint-space mass matrix of a tree: composite rigid bodies.
 *
 *   Ic_i = I_i + sum over children of X' Ic X,      M_ij = S_i' X' Ic_j S_j   for i on the way from ground to
 * j
 *
 * Source   docs/theory/tree.md, 10.
 * Cost     O(n d) with d the depth of the tree, plus clearing nv^2 entries; no allocation.
 */
#include "formulations/tree.h"

void lw_mass_matrix(const lw_model *model, lw_data *data, double t, const double *q, double *mass) {
    size_t nv = (size_t)model->nv;
    lw_take_state(model, data, t, q, NULL);
    lw_positions(model, data);
    memset(mass, 0, nv * nv * sizeof *mass);
    for (int i = 1; i <= model->body_count; i++) data->composite[i] = model->links[i].inertia;
    for (int i = model->body_count; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        const lw_body_motion *motion = &data->motion[i];
        if (link->parent)
            lw_rigid_add_to_parent(motion->R, motion->p, &data->composite[i], &data->composite[link->parent]);
        for (int k = 0; k < link->joint.nv; k++) {
            double f[6], up[6];
            size_t column = (size_t)(link->v + k);
            lw_rigid_mul(&data->composite[i], data->S + 6 * column, f);
            for (int l = 0; l <= k; l++) {
                size_t row = (size_t)(link->v + l);
                mass[row * nv + column] = mass[column * nv + row] = lw_v6_dot(data->S + 6 * row, f);
            }
            for (int j = i; model->links[j].parent;) {
                lw_wrench_to_parent(data->motion[j].R, data->motion[j].p, f, up);
                memcpy(f, up, sizeof f);
                j = model->links[j].parent;
                const lw_link *ancestor = &model->links[j];
                for (int l = 0; l < ancestor->joint.nv; l++) {
                    size_t row = (size_t)(ancestor->v + l);
                    mass[row * nv + column] = mass[column * nv + row] = lw_v6_dot(data->S + 6 * row, f);
                }
            }
        }
    }
}

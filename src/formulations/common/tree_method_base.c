/* tree_method_base.c - what all methods share whose state is (q, v) of the spanning tree: whether the tree
 * determines the accelerations, the state from and to joint coordinates, the residual of the kinematic
 * equations.
 *
 * Cost     O(n) each; lw_tree_determined allocates, the others do not.
 */
#include "formulations/common/tree_method_base.h"

#include <string.h>

lw_status lw_tree_determined(const lw_model *model, lw_error *error) {
    lw_data *data;
    lw_status status = lw_data_create(model, NULL, &data);
    if (status != LW_OK) return lw_out_of_memory(error);
    lw_take_state(model, data, 0, model->q0, model->v0);
    status = lw_tree_solve(model, data, 0, NULL, error);
    lw_data_destroy(data);
    if (status == LW_ERROR_SINGULAR && error) error->status = LW_ERROR_UNSUPPORTED;
    return status == LW_ERROR_SINGULAR ? LW_ERROR_UNSUPPORTED : status;
}

void lw_tree_to_state(lw_method *base, double t, const double *q, const double *v, double *y) {
    (void)t;
    memcpy(y, q, (size_t)base->model->nq * sizeof *y);
    memcpy(y + base->model->nq, v, (size_t)base->model->nv * sizeof *y);
}

void lw_tree_from_state(const lw_model *model, lw_data *data, double t, const double *y, double *q,
                        double *v) {
    lw_take_state(model, data, t, y, y + model->nq);
    memcpy(q, data->q, (size_t)model->nq * sizeof *q);
    memcpy(v, data->v, (size_t)model->nv * sizeof *v);
    lw_normalise_q(model, q);
}

void lw_tree_residual(const lw_model *model, const lw_data *data, const double *v, const double *ydot,
                      double *out) {
    int nq = model->nq;
    for (int k = 0; k < model->motion_count; k++) {
        const lw_motion *motion = &model->motions[k];
        int first = model->links[motion->body].v + motion->speed;
        for (int i = first; i < first + motion->count; i++) out[nq + i] = ydot[nq + i] - data->vdot[i];
    }
    lw_q_rate_stable(model, data->q, v, out);
    for (int k = 0; k < nq; k++) out[k] = ydot[k] - out[k];
}

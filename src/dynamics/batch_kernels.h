/* batch_kernels.h - an lw_batch_simd for one width: included by batch_simd_2.c, batch_simd_4.c and
 * batch_simd_8.c, which differ in LANES and in the instructions that their compiler may use.
 *
 * States are gathered from the caller's arrays into vectors, the recursions of tree_recursion.h run on
 * vectors, and the result is scattered (simd_states_kernels.h).
 */
#include "dynamics/simd_states_kernels.h"
#include "dynamics/tree_forward.h"
#include "dynamics/tree_inverse.h"

/* LW_OK if all results are finite; else the status and the sentence of the first state whose results are
 * not. */
static lw_status check_lanes(const lw_model *model, const lw_states *states, int first, const workspace *w,
                             const REAL *results, lw_error *error) {
    REAL total = real(0);
    for (int k = 0; k < model->nv; k++) total += results[k] - results[k];
    if (real_above(total, -1)) return LW_OK;
    int lane = 0;
    while (real_lane(total, lane) == 0) lane++;
    bool given = true;
    for (int k = 0; k < model->nq; k++) given &= isfinite(real_lane(w->q[k], lane));
    for (int k = 0; k < model->nv; k++) given &= isfinite(real_lane(w->v[k], lane));
    return given
               ? lw_fail(error, LW_ERROR_SINGULAR, NULL, "look at the forces and motions of the model there",
                         "the result of state %d at t = %g is not finite", state_of(states, first, lane),
                         states->t)
               : lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give finite coordinates and speeds",
                         "state %d has numbers that are not finite", state_of(states, first, lane));
}

static lw_status forward(const lw_model *model, lw_data *data, double *memory, const lw_states *states,
                         int first, lw_error *error) {
    workspace w;
    lay_out(model, memory, &w);
    gather_lanes(states, first, states->q, model->nq, w.q);
    gather_lanes(states, first, states->v, model->nv, w.v);
    if (states->tau)
        gather_lanes(states, first, states->tau, model->nv, w.tau);
    else
        for (int k = 0; k < model->nv; k++) w.tau[k] = real(0);
    if (model->motion_count || model->force_count || model->idle_count)
        take_elements(model, data, states->t, &w, true);
    velocities(&w.r);
    int speed, body = eliminate(&w.r, &speed);
    accelerate(&w.r);
    scatter_lanes(states, first, w.vdot, model->nv, states->vdot);
    return body ? lw_undetermined(model, body, speed, error)
                : check_lanes(model, states, first, &w, w.vdot, error);
}

static lw_status inverse_of_states(const lw_model *model, lw_data *data, double *memory,
                                   const lw_states *states, int first, double *tau, lw_error *error) {
    workspace w;
    lay_out(model, memory, &w);
    gather_lanes(states, first, states->q, model->nq, w.q);
    gather_lanes(states, first, states->v, model->nv, w.v);
    gather_lanes(states, first, states->vdot, model->nv, w.vdot);
    bool elements = model->motion_count || model->force_count || model->idle_count;
    if (elements) take_elements(model, data, states->t, &w, false);
    inverse(&w.r, w.vdot, w.r.u);
    for (int k = 0; k < model->nv && elements; k++) w.r.u[k] -= w.tau[k];
    scatter_lanes(states, first, w.r.u, model->nv, tau);
    return check_lanes(model, states, first, &w, w.r.u, error);
}

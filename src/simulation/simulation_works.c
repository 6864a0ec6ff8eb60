/* simulation_works.c - the work of single force elements in a run.
 *
 *   W_k(t) = W_k(0) + integral of P_k dt,    P_k = force(F).power: what element k supplies to the bodies
 *
 * The integrals are the last entries of the integrated vector, behind those of the ledger, and are there only
 * if an output of the model or the caller asks for them. They are quadratures: nothing depends on them and
 * they take no part in error control, so that the motion is the same with and without them. Of the element's
 * power the ledger books what does not come from its potential U_k,
 *
 *   P_k = (drives + forces - dissipation of element k) - dU_k/dt,
 *
 * so that the works of all elements add up to the ledger's lines less what prescribed motions, impacts and
 * the caller have booked there, and less the change of the elements' potential (docs/theory/signals.md, 10).
 *
 * Cost     per evaluation the kinematics of the tree and all elements once more; nothing is allocated.
 * Limits   the steps of energy-momentum book the work of all elements together, and at a jump of bodies
 *          without mass only the sum is known: there works are refused.
 */
#include "model/signals.h"
#include "simulation/simulation_parts.h"

#include <math.h>

bool lw_simulation_works_wanted(const lw_simulation *s) {
    return s->plan.options.want_works || lw_outputs_need(s->model) & LW_NEEDS_WORK;
}

lw_status lw_simulation_works_possible(lw_simulation *s, lw_error *error) {
    const lw_formulation *f = s->plan.formulation;
    if (s->work_count == 0) return LW_OK;
    if (s->plan.integrator->needs_step)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL,
                       "choose an integrator such as erk or bdf, and a method that goes with it; or record "
                       "force(...).power",
                       "force(...).work: integrator %s takes its method's own conserving steps, which book "
                       "the work of all elements together",
                       s->plan.integrator->name);
    if (f->cross && f->root_count(s->method) > 0)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL,
                       "give the bodies without mass a small one, and choose a method such as rcr; or record "
                       "force(...).power",
                       "force(...).work: where bodies without mass jump, method %s knows only what all "
                       "elements lose together",
                       f->name);
    for (int k = 0; k < s->work_count; k++)
        if (s->plan.options.works && !isfinite(s->plan.options.works[k]))
            return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give finite numbers",
                           "the work of force element %d is %g at the start", k, s->plan.options.works[k]);
    return LW_OK;
}

bool lw_simulation_works_memory(lw_simulation *s) {
    if (s->work_count == 0) return true;
    s->first_works = LW_NEW(s->arena, double, s->work_count);
    s->work_forces = LW_NEW(s->arena, lw_force_value, s->work_count);
    if (lw_arena_failed(s->arena)) return false;
    const double *given = s->plan.options.works;
    for (int k = 0; k < s->work_count; k++) s->first_works[k] = given ? given[k] : 0;
    s->plan.options.works = s->first_works;
    return true;
}

void lw_simulation_powers(lw_simulation *s, lw_method *method, double t, const double *y, double *powers) {
    const lw_model *model = s->model;
    if (s->work_count == 0) return;
    lw_simulation_see(s, y);
    method->formulation->from_state(method, t, y, s->rate_q, s->rate_v);
    lw_take_state(model, s->data, t, s->rate_q, s->rate_v);
    lw_velocities(model, s->data);
    lw_world_poses(model, s->data);
    lw_data_hold(s->data, s->method_options.hold);
    lw_force_values(model, s->data, t, false, s->work_forces);
    lw_data_hold(s->data, NULL);
    for (int k = 0; k < s->work_count; k++) powers[k] = s->work_forces[k].power;
}

lw_status lw_simulation_works(const lw_simulation *s, double *works) {
    if (!s || (!works && s->model->force_count > 0)) return LW_ERROR_ARGUMENT;
    if (s->work_count == 0 && s->model->force_count > 0) return LW_ERROR_UNSUPPORTED;
    for (int k = 0; k < s->work_count; k++) works[k] = s->y[lw_simulation_works_at(s) + k];
    return LW_OK;
}

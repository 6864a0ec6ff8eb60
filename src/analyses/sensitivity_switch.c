/* sensitivity_switch.c - sensitivities at instants at which a force switches by the state.
 *
 *   g(t*, z(t*)) = 0,   dt* = -(dg along dz/dp) / (dg along the motion)                                (12)
 *   dv/dp+ = dv/dp- + (a- - a+) dt*,   likewise for the rates of user states                           (13)
 *
 * g is the distance of the operands of the condition, a- and a+ are the accelerations on both sides. Where
 * the force does not jump nothing does. What p changes in g itself is seen before and behind by the models
 * with other values, which switch there at other states (theory page, "Jumps").
 *
 * Source   docs/theory/sensitivity.md, (12), (13).
 * Cost     two evaluations of derivatives, and four of conditions per parameter.
 * Limits   conditions that are met without being passed through; several at one instant count as one.
 */
#include "analyses/sensitivity_parts.h"
#include "model/model_conditions.h"
#include "simulation/simulation_parts.h"
#include <linkwork/dynamics.h>

#include <math.h>
#include <string.h>

static const double offsets[] = {-2, -1, 1, 2}, weights[] = {1. / 12, -8. / 12, 8. / 12, -1. / 12};
/* Steps of differences of g along the motion, relative to the run's length. */
static const double shortly = 1e-5;

bool lw_variational_switch_create(lw_sensitivity_work *w) {
    const lw_model *model = w->model;
    const int entries = model->force_count + lw_conditions_named(model);
    w->conditions = LW_NEW(w->arena, int, entries + 1);
    if (!w->conditions) return false;
    const int count = lw_conditions(model, w->conditions, w->conditions + model->force_count);
    w->distances = LW_NEW(w->arena, double, count + 1);
    w->probe_q = LW_NEW(w->arena, double, model->nq + 1);
    w->probe_v = LW_NEW(w->arena, double, model->nv + 1);
    w->probe_states = LW_NEW(w->arena, double, model->values.state_count + 1);
    w->vdot_before = LW_NEW(w->arena, double, model->nv + 1);
    w->rates_before = LW_NEW(w->arena, double, model->values.state_count + 1);
    if (lw_arena_failed(w->arena) || lw_data_create(model, NULL, &w->probe) != LW_OK) return false;
    lw_data_set_values(model, w->probe, w->inputs, w->probe_states);
    return true;
}

double lw_variational_switch(const lw_sensitivity_work *w, double t, double to, double knot) {
    const lw_switches *s = &w->simulation->switches;
    const double near = 1e-9 * (w->run.end - w->run.start);
    double first = HUGE_VAL;
    for (int c = 0; c < s->count && !s->off; c++)
        if (!s->released[c] && s->last[c] > t && s->last[c] <= to && fabs(s->last[c] - knot) > near)
            first = fmin(first, s->last[c]);
    return first;
}

/* The distance of condition c in the state that is displaced by h along (dq, dv, dx), dt later. */
static double distance(lw_sensitivity_work *w, int c, double t, const double *dq, const double *dv,
                       const double *dx, double h, double dt) {
    const lw_model *model = w->model;
    memcpy(w->probe_q, w->q, (size_t)model->nq * sizeof *w->q);
    lw_integrate_q(model, w->probe_q, dq, h);
    for (int i = 0; i < model->nv; i++) w->probe_v[i] = w->v[i] + h * dv[i];
    for (int i = 0; i < model->values.state_count; i++) w->probe_states[i] = w->states[i] + h * dx[i];
    lw_take_state(model, w->probe, t + dt, w->probe_q, w->probe_v);
    lw_velocities(model, w->probe);
    lw_world_poses(model, w->probe);
    lw_conditions_look(model, w->probe, t + dt, w->conditions, w->conditions + model->force_count,
                       &(lw_look){.held = w->simulation->switches.held, .distances = w->distances});
    return w->distances[c];
}

/* dt* per unit of each parameter, out: m numbers. */
static lw_status find_instants(lw_sensitivity_work *w, int c, double t, double *out, lw_error *error) {
    const size_t nv = (size_t)w->model->nv, ns = (size_t)w->model->values.state_count;
    const double step = shortly * (w->run.end - w->run.start);
    double along = 0, size = 0;
    for (int k = 0; k < 4; k++) {
        const double h = offsets[k] * step,
                     g = distance(w, c, t, w->v, w->vdot_before, w->rates_before, h, h);
        along += weights[k] / step * g;
        size = fmax(size, fabs(g));
    }
    if (!(fabs(along) * step > 1e-6 * size))
        return lw_fail(error, LW_ERROR_SINGULAR, lw_model_name(w->model), "end the run before it",
                       "a force switches at t = %.9g where its condition is met without being passed through",
                       t);
    for (int j = 0; j < w->m; j++) {
        const double h = w->changes[j]->step;
        double by = 0;
        for (int k = 0; k < 4; k++)
            by += weights[k] / h *
                  distance(w, c, t, w->dq + (size_t)j * nv, w->dv + (size_t)j * nv, w->dx + (size_t)j * ns,
                           offsets[k] * h, 0);
        out[j] = -by / along;
    }
    return LW_OK;
}

lw_status lw_variational_jump(lw_sensitivity_work *w, double at, double behind,
                              lw_status (*evaluate)(lw_sensitivity_work *, double, lw_error *),
                              lw_error *error) {
    const lw_switches *s = &w->simulation->switches;
    const size_t nv = (size_t)w->model->nv, ns = (size_t)w->model->values.state_count;
    double *instants = w->largest + 2 * (size_t)w->m; /* m numbers more */
    const double before = lw_simulation_time(w->simulation);
    lw_simulation_state(w->simulation, w->q, w->v);
    lw_simulation_states(w->simulation, w->states);
    memset(instants, 0, (size_t)w->m * sizeof *instants);
    lw_status status = lw_simulation_advance(w->simulation, behind, error);
    for (int c = 0; c < s->count && status == LW_OK; c++)
        if (s->last[c] == at) {
            status = find_instants(w, c, before, instants, error);
            break;
        }
    if (status == LW_OK) status = evaluate(w, behind, error);
    if (status != LW_OK) return status;
    const lw_derivatives *d = w->linear.derivatives;
    for (int j = 0; j < w->m; j++)
        for (size_t i = 0; i < nv; i++)
            w->dv[(size_t)j * nv + i] += (w->vdot_before[i] - d->vdot[i]) * instants[j];
    for (int j = 0; j < w->m; j++)
        for (size_t i = 0; i < ns; i++)
            w->dx[(size_t)j * ns + i] +=
                (w->rates_before[i] - w->linear.rates[w->linear.coordinates + w->linear.speeds + (int)i]) *
                instants[j];
    return LW_OK;
}

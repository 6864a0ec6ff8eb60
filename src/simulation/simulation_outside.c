/* simulation_outside.c - a simulation whose equations somebody else integrates.
 *
 * All that an integrator of ours sees, lw_system, is handed on: derivative, roots, what happens after an
 * accepted step, and the crossing of an event. An event repeats what `go` in simulation.c does: it notices
 * which events have happened (event_look), lets the method and the conditions cross, carries out the model's
 * actions, and begins anew, which passes knots, projects the state and awaits the next events.
 *
 * Progress is not monitored here: who integrates outside decides how long it goes on. `repeating` keeps
 * evaluations from being counted and notes from being told twice.
 *
 * Source   docs/theory/outside.md.
 * Cost     rates: one evaluation of the method; roots: the kinematics that events need; a step: roots and a
 *          projection; an event: like the start of a run. Nothing is allocated unless a parameter changes.
 */
#include "simulation/simulation_outside.h"
#include "model/signals.h"

#include <math.h>
#include <string.h>

lw_status lw_outside_possible(const lw_simulation *s, lw_error *error) {
    const lw_formulation *f = s->plan.formulation;
    const lw_model *model = s->model;
    if (!s->system.base.derivative || s->integrator->needs_step || s->integrator->needs_residual)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL,
                       "take a method with a derivative (auto), or export Co-Simulation only (--kind cs)",
                       "method %s with integrator %s makes steps of its own, which an outside integrator "
                       "cannot make",
                       f->name, s->integrator->name);
    if (f->coordinates != LW_COORDINATES_JOINT || s->method->state_size != model->nq + model->nv)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL,
                       "take a method in joint coordinates (auto), or export Co-Simulation only (--kind cs)",
                       "method %s integrates coordinates that are not those of the joints", f->name);
    return LW_OK;
}

static bool has_books(const lw_simulation *s) {
    const unsigned needs = lw_outputs_need(s->model) | s->model->values.for_events.needs;
    return (needs & (LW_NEEDS_LEDGER | LW_NEEDS_RUN)) || s->work_count > 0;
}

int lw_outside_size(const lw_simulation *s) {
    return has_books(s) ? s->system.base.size : lw_simulation_books(s);
}

int lw_outside_indicators(const lw_simulation *s) { return s->system.base.root_count; }

/* Speeds of bodies without mass follow from the forces, whatever the state says. */
static void align(lw_simulation *s, double *y) {
    const lw_formulation *f = s->plan.formulation;
    if (!f->frees_speeds) return;
    lw_simulation_see(s, y);
    f->from_state(s->method, lw_simulation_seen(s, s->t), y, s->q, s->v);
    memcpy(y + s->model->nq, s->v, (size_t)s->model->nv * sizeof *y);
}

void lw_outside_begin(lw_simulation *s) { align(s, s->y); }

const double *lw_outside_state(const lw_simulation *s) { return s->y; }

lw_status lw_outside_set_time(lw_simulation *s, double t) {
    if (!isfinite(t)) return LW_ERROR_ARGUMENT;
    s->t = s->accepted = t;
    return LW_OK;
}

lw_status lw_outside_set_state(lw_simulation *s, const double *y) {
    const int n = lw_outside_size(s);
    for (int k = 0; k < n; k++)
        if (!isfinite(y[k])) return LW_ERROR_ARGUMENT;
    memcpy(s->y, y, (size_t)n * sizeof *y);
    return LW_OK;
}

void lw_outside_keep(lw_simulation *s) { s->stale = false; }

lw_status lw_outside_rates(lw_simulation *s, double *rates, lw_error *error) {
    lw_system *system = &s->system.base;
    const bool repeating = s->repeating;
    s->repeating = true;
    lw_status status = system->derivative(system, s->t, s->y, s->work, error);
    s->repeating = repeating;
    if (status == LW_OK) memcpy(rates, s->work, (size_t)lw_outside_size(s) * sizeof *rates);
    return status;
}

void lw_outside_roots(lw_simulation *s, int count, double *values) {
    lw_system *system = &s->system.base;
    const int present = system->root_count;
    for (int k = 0; k < count; k++) values[k] = 1;
    if (present == 0) return;
    if (system->roots(system, s->t, s->y, s->root_values, NULL) != LW_OK) {
        for (int k = 0; k < count; k++) values[k] = -1; /* What cannot be evaluated counts as an event. */
        return;
    }
    for (int k = 0; k < count && k < present; k++)
        values[k] = isnan(s->root_values[k]) ? -1 : s->root_values[k];
}

lw_status lw_outside_stepped(lw_simulation *s, double most, bool *event, lw_error *error) {
    lw_system *system = &s->system.base;
    const int n = lw_outside_size(s);
    *event = false;
    s->accepted = s->t;
    if (s->event_count > 0) {
        int happened;
        lw_status status = lw_simulation_event_look(s, s->t, s->y, &happened, error);
        if (status != LW_OK) return status;
        if (happened >= 0) s->event = happened, *event = true;
    }
    double *y = s->work;
    memcpy(y, s->y, (size_t)system->size * sizeof *y);
    lw_status status = system->project ? system->project(system, s->t, y, error) : LW_OK;
    if (status != LW_OK) return status;
    align(s, y);
    for (int k = 0; k < n; k++)
        if (!(fabs(y[k] - s->y[k]) <= most * lw_error_unit(system, k, y[k]))) *event = true;
    return LW_OK;
}

/* Events that have happened; those that the end of a step has noticed are noticed no second time. */
static lw_status notice(lw_simulation *s, int *happened, lw_error *error) {
    *happened = s->event;
    s->event = -1;
    if (*happened >= 0 || s->event_count == 0) return LW_OK;
    return lw_simulation_event_look(s, s->t, s->y, happened, error);
}

lw_status lw_outside_event(lw_simulation *s, lw_outside_news *news, lw_error *error) {
    lw_system *system = &s->system.base;
    const size_t size = (size_t)system->size * sizeof *s->y;
    int happened = -1;
    *news = (lw_outside_news){.next = HUGE_VAL};
    memcpy(s->kept, s->y, size);
    s->accepted = s->t;
    lw_status status = notice(s, &happened, error);
    if (status == LW_OK && s->t >= s->span.stop) s->span = lw_model_span(s->model, s->t);
    if (status == LW_OK && system->root_count > 0) status = system->cross(system, s->t, s->y, error);
    s->stale = true;
    if (status == LW_OK && happened >= 0) status = lw_simulation_event_act(s, &news->stop, error);
    if (status == LW_OK) status = lw_simulation_begin(s, error);
    if (status != LW_OK) {
        memcpy(s->y, s->kept, size);
        return status;
    }
    align(s, s->y);
    news->changed = memcmp(s->kept, s->y, (size_t)lw_outside_size(s) * sizeof *s->y) != 0;
    news->next = s->span.stop;
    return LW_OK;
}

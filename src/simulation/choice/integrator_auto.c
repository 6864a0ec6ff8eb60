/* integrator_auto.c - which integrator `auto` takes: erk or, for a fixed step, rk4 or the one of the method;
 * bdf takes over from erk while the run goes on, where the model is stiff.
 *
 * Stiff means that stability bounds the steps of erk (stiffness.c) and that a trial of bdf from the same
 * state needs less than a fifth of the evaluations. A caller who has named erk is told so, and erk goes on.
 *
 * Cost     the test is made when progress_monitor.c finds the time for it: 13 evaluations and, if stability
 *          bounds the steps, the trial, whose evaluations are limited in advance.
 */
#include "simulation/simulation_parts.h"
#include "simulation/choice/stiff_cause.h"
#include "simulation/choice/stiffness.h"
#include "formulations/common/method_create.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the start ------------------------------------------------------------------------------------- */

const char *lw_run_integrator(const lw_run_options *options) {
    if (!options) return NULL;
    if (options->integrator && strcmp(options->integrator, "auto") != 0) return options->integrator;
    if (!(options->step > 0) || options->tolerance > 0) return "erk";
    const lw_formulation *f = options->method ? lw_formulation_find(options->method) : NULL;
    return f && f->integrator ? f->integrator : "rk4";
}

/* --- during the run --------------------------------------------------------------------------------- */

/* Tests stiffness with another instance of the method, so that the run is not affected. */
static lw_status try_stiffness(lw_simulation *s, double t, const double *y, bool *stiff, lw_cause *cause) {
    const lw_formulation *f = s->plan.formulation;
    const lw_effort *effort = &s->system.effort;
    const int n = s->system.base.size;
    lw_simulation_system other = s->system;
    lw_method_options quiet = s->method_options;
    lw_error error = {0};
    quiet.note = NULL;
    quiet.hold = NULL;
    quiet.hold = NULL;
    *stiff = false;
    lw_status status = lw_method_create(f, s->model, &quiet, &other.method, &error);
    if (status != LW_OK) return status;
    other.base.accepted = NULL;
    other.effort.given = true;
    double *state = s->work, *work = s->work + n;
    lw_simulation_see(s, y);
    f->from_state(s->method, t, y, s->q, s->v);
    f->to_state(other.method, t, s->q, s->v, state);
    const int own = other.method->state_size;
    memcpy(state + own, y + own, (size_t)(n - own) * sizeof *y);
    const double h = effort->step_mean, per_step = effort->evaluations_mean;
    const double border = 1; /* of h rho in any direction; accuracy alone may keep h rho below it. */
    if (h * lw_spectral_radius(&other.base, t, state, work) > border) {
        const double pays = 5, rest = per_step * (effort->end - t) / h;
        double most = fmin(fmax(200 * per_step, 1000 + 20.0 * n), rest / pays);
        double reach = t + pays * most / per_step * h;
        *stiff = lw_bdf_reaches(&other.base, &s->plan.integrator_options, t, state, reach, effort->end,
                                (long)most);
        /* work + n is the state displaced along the fastest motion. */
        const double times[2] = {t, t}, *const states[2] = {state, work + n};
        if (*stiff) lw_find_cause(s->model, f, &quiet, 2, times, states, cause);
    }
    lw_method_destroy(other.method);
    return LW_OK;
}

/* Returns whether an event has still to be crossed, which the integrator that has found it must do. */
static bool at_event(lw_simulation *s, double t, const double *y) {
    lw_system *system = &s->system.base;
    lw_error error = {0};
    if (system->root_count <= 0) return false;
    if (system->roots(system, t, y, s->root_values, &error) != LW_OK) return true;
    for (int k = 0; k < system->root_count; k++)
        if (!(s->root_values[k] > 0)) return true;
    return false;
}

lw_status lw_simulation_consider_bdf(lw_simulation *s, double t, const double *y) {
    if (s->warned || strcmp(s->integrator->name, "erk") != 0 || at_event(s, t, y)) return LW_OK;
    if (!lw_integrator_find("bdf")) return LW_OK;
    bool stiff;
    lw_cause cause = {0};
    if (try_stiffness(s, t, y, &stiff, &cause) != LW_OK || !stiff) return LW_OK;
    const lw_effort *effort = &s->system.effort;
    const double rest = (effort->end - t) / effort->step_mean;
    char text[256];
    s->warned = true;
    snprintf(text, sizeof text,
             "stiff%s%s: erk takes steps of %.2g s and would need about %.2g for the rest; %s",
             cause.object[0] ? " by " : "", cause.object, effort->step_mean, rest,
             s->plan.automatic ? "bdf goes on" : "bdf is faster here (--integrator bdf)");
    lw_simulation_tell(t, s->plan.automatic ? "integrator" : "warning", text, s);
    if (!s->plan.automatic) return LW_OK;
    memcpy(s->next_y, y, (size_t)s->system.base.size * sizeof *y);
    s->next_t = t;
    s->next = lw_integrator_find("bdf");
    return LW_ERROR_STOPPED;
}

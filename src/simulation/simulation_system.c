/* simulation_system.c - the system of equations for integrators, and the monitoring of a run.
 *
 * The integrated vector is the formulation's state, the model's user states, the ledger's three integrals
 * (work of drives, work of forces, dissipation), and the works of force elements if they are asked for; the
 * integrals take no part in error control. Every evaluation and every step is counted, to find out whether
 * the run will end, whether it is stiff, whether a force jumps, and whether it has come to a singular
 * position.
 */
#include "simulation/simulation_parts.h"
#include "simulation/choice/stiff_cause.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LOOK_EVERY = 1000 }; /* number of evaluations, times that of bodies */

void lw_simulation_tell(double t, const char *kind, const char *text, void *context) {
    lw_simulation *s = context;
    const lw_run_options *options = &s->plan.options;
    if (s->repeating) return;
    s->summary.events++;
    if (options->event) options->event(t, kind, text, options->context);
}

static void find_cause(lw_simulation_system *system, lw_cause *cause) {
    const lw_simulation *s = system->simulation;
    lw_method_options free = s->method_options; /* Jumps are to be seen. */
    free.hold = NULL;
    lw_find_cause(s->model, s->plan.formulation, &free, LW_EFFORT_STATES, system->times,
                  (const double *const *)system->states, cause);
}

/* Reports a run that will not end, with the cause of its short steps. */
static lw_status no_end(lw_simulation_system *system, double t, const double *y, lw_error *error) {
    lw_simulation *s = system->simulation;
    const lw_effort *effort = &system->effort;
    lw_cause cause;
    char grown[80] = "";
    find_cause(system, &cause);
    lw_simulation_see(s, y);
    s->plan.formulation->from_state(s->method, t, y, s->q, s->v);
    lw_energy now = lw_energy_of(s->model, s->data, t, s->q, s->v);
    double at_first = s->initial.kinetic + s->initial.potential, at_last = now.kinetic + now.potential;
    const bool blown = !(fabs(at_last - at_first) < 1e3 * (fabs(at_first) + 1));
    if (blown)
        snprintf(grown, sizeof grown, "; the energy has gone from %.3g J to %.3g J", at_first, at_last);
    const char *remedy =
        cause.jumps
            ? "let it change over a finite width, e.g. tanh(v/0.01) for sign(v), or `smoothing` of friction"
        : s->warned && !s->plan.automatic ? "take --integrator bdf: the model is stiff"
        : blown ? "look for a force that feeds energy, such as a negative damping, and for wrong units"
        : cause.element
            ? "look at its stiffness and damping, and at the mass that it acts on: units, powers of ten"
            : "look at the masses, lengths and forces that act there: units, powers of ten";
    lw_fail(error, LW_ERROR_INTEGRATION, cause.object[0] ? cause.object : NULL, remedy,
            "near t = %.9g steps of %s are %.2g s long, and a run until t = %g needs about %.2g of them, "
            "more than "
            "%.2g (--max-steps): %s%s",
            effort->t, s->integrator->name, effort->h, effort->end, effort->needs,
            effort->most > 0 ? effort->most : lw_effort_allowed(effort->end - effort->start),
            cause.text[0] ? cause.text : "what makes them so short is not known", grown);
    return LW_ERROR_INTEGRATION;
}

/* Reports, once, the cause of hundreds of rejected steps, which is a force that jumps. */
static void consider_jumps(lw_simulation_system *system) {
    lw_simulation *s = system->simulation;
    lw_integrator_statistics now;
    if (s->told_jumps || !s->integration) return;
    s->integrator->statistics(s->integration, &now);
    const long rejected = now.rejected - s->looked.rejected, steps = now.steps - s->looked.steps;
    s->looked = now;
    if (rejected < 1000 || rejected < steps / 4) return;
    lw_cause cause;
    find_cause(system, &cause);
    if (!cause.jumps) return;
    char text[320];
    s->told_jumps = true;
    snprintf(text, sizeof text,
             "%s jumps, and %ld of %ld steps were rejected for that; give it a finite width", cause.object,
             rejected, rejected + steps);
    lw_simulation_tell(system->effort.t, "warning", text, s);
}

static lw_status look_around(lw_simulation_system *system, double t, const double *y, lw_error *error) {
    const lw_run_options *options = &system->simulation->plan.options;
    const lw_effort_answer answer = lw_effort_evaluated(&system->effort);
    const int slot = lw_effort_nearly(&system->effort);
    if (slot > 0 || answer != LW_EFFORT_COUNTED) {
        memcpy(system->states[slot], y, (size_t)system->base.size * sizeof *y);
        system->times[slot] = t;
    }
    const int every = LOOK_EVERY / (system->simulation->model->body_count + 1) + 1;
    if (system->simulation->repeating) return LW_OK;
    if (system->effort.evaluations % every == 0 && options->interrupted &&
        options->interrupted(options->context))
        return lw_fail(error, LW_ERROR_STOPPED, NULL, NULL, "stopped near t = %g", t);
    if (answer == LW_EFFORT_SPENT)
        return lw_fail(error, LW_ERROR_INTEGRATION, NULL, "allow more (--max-steps), or give an earlier end",
                       "after %ld steps, all that are allowed, the run has come to t = %.9g of %g",
                       system->effort.steps, system->effort.t, options->end);
    if (answer == LW_EFFORT_LOOKED) consider_jumps(system);
    return answer == LW_EFFORT_HOPELESS ? no_end(system, t, y, error) : LW_OK;
}

/* Stages of a fixed step may be physically impossible: a foot deep in the ground, a damper that has only just
 * engaged. */
static const char *const fixed_steps = "fixed steps may be too long here: take an integrator that chooses "
                                       "them (erk, bdf), or shorter ones (--step)";

/* Squares of larger rates overflow in the norms of integrators. */
static const double largest_rate = 1e150;

/* Reports a rate that is not finite or too large, with its joint if the kind of state identifies the
 * joint. */
static lw_status check_rates(const lw_simulation_system *system, double t, const double *ydot,
                             lw_error *error) {
    const lw_method *method = system->method;
    const lw_model *model = method->model;
    int k = 0;
    while (k < method->state_size && fabs(ydot[k]) < largest_rate) k++;
    if (k == method->state_size) return LW_OK;
    const char *remedy =
        system->effort.given && system->effort.steps > 0 ? fixed_steps
        : isfinite(ydot[k])
            ? "look at the forces and motions that act there, at masses and gravity: units, powers of ten"
            : "look at the forces and motions that act there: is one infinite or undefined?";
    int speed = k - model->nq;
    if (method->formulation->coordinates != LW_COORDINATES_JOINT || speed < 0 || speed >= model->nv)
        return lw_fail(error, LW_ERROR_SINGULAR, NULL, remedy, "a rate of the state is %.3g at t = %.9g",
                       ydot[k], t);
    int i = model->body_count;
    while (model->links[i].v > speed) i--;
    const lw_joint_entry *joint = &model->joints[model->bodies[i].joint_index];
    return lw_fail_at(error, LW_ERROR_SINGULAR, model->file, joint->place, "joint", joint->name, remedy,
                      isfinite(ydot[k]) ? "its acceleration is %.3g at t = %.9g, too large for any step"
                                        : "its acceleration is not finite (%g) at t = %.9g",
                      ydot[k], t);
}

static lw_status system_derivative(lw_system *base, double t, const double *y, double *ydot,
                                   lw_error *error) {
    lw_simulation_system *system = (lw_simulation_system *)base;
    lw_method *method = system->method;
    lw_power power;
    lw_status status = look_around(system, t, y, error);
    if (status != LW_OK) return status;
    lw_simulation *s = system->simulation;
    const double seen = lw_simulation_seen(s, t);
    lw_simulation_see(s, y);
    status = method->formulation->derivative(method, seen, y, ydot, &power, error);
    if (status == LW_ERROR_SINGULAR && error && system->effort.given && system->effort.steps > 0)
        snprintf(error->remedy, sizeof error->remedy, "%s", fixed_steps);
    if (status != LW_OK) return status;
    power.forces += s->force.power;
    lw_ledger_put(&power, ydot + lw_simulation_books(s));
    status = check_rates(system, t, ydot, error);
    if (status == LW_OK && s->model->values.state_count)
        status = lw_simulation_rates(s, method, seen, y, ydot + lw_simulation_own(s), error);
    if (status == LW_OK && s->work_count)
        lw_simulation_powers(s, method, seen, y, ydot + lw_simulation_works_at(s));
    return status;
}

static lw_status system_residual(lw_system *base, double t, const double *y, const double *ydot,
                                 double *residual, lw_error *error) {
    lw_simulation_system *system = (lw_simulation_system *)base;
    lw_method *method = system->method;
    lw_simulation *s = system->simulation;
    const int own = lw_simulation_own(s), n = lw_simulation_books(s);
    lw_power power;
    lw_status status = look_around(system, t, y, error);
    const double seen = lw_simulation_seen(s, t);
    lw_simulation_see(s, y);
    if (status == LW_OK)
        status = method->formulation->residual(method, seen, y, ydot, residual, &power, error);
    if (status == LW_OK && n > own) status = lw_simulation_rates(s, method, seen, y, residual + own, error);
    if (status != LW_OK) return status;
    for (int k = own; k < n; k++) residual[k] = ydot[k] - residual[k];
    lw_ledger_put(&power, residual + n);
    lw_simulation_powers(s, method, seen, y, residual + n + LW_POWERS);
    for (int k = n; k < base->size; k++) residual[k] = ydot[k] - residual[k];
    return LW_OK;
}

static bool system_switched(lw_system *base, double t, const double *y, double next, const double *z) {
    return lw_simulation_switched(((lw_simulation_system *)base)->simulation, t, y, next, z);
}

/* Such steps take forces and motions at instants within the step, which lies between two knots. */
static lw_status system_step(lw_system *base, double t, double h, const double *y, double *next,
                             lw_error *error) {
    lw_method *method = ((lw_simulation_system *)base)->method;
    lw_simulation *s = ((lw_simulation_system *)base)->simulation;
    const bool own = s->model->values.state_count > 0;
    const int n = lw_simulation_books(s);
    lw_power work;
    lw_status status = look_around((lw_simulation_system *)base, t, y, error);
    if (s->inputs_move) lw_simulation_take_inputs(s, t + 0.5 * h); /* of second order, as the steps are */
    if (status == LW_OK && own) status = lw_simulation_half_before(s, t, h, y, next, error);
    if (status == LW_OK) status = method->formulation->step(method, t, h, y, next, &work, error);
    if (status == LW_OK && own) status = lw_simulation_half_after(s, t, h, next, error);
    if (status != LW_OK) return status;
    memcpy(next + n, y + n, LW_POWERS * sizeof *y);
    lw_ledger_add(&work, next + n);
    return LW_OK;
}

static lw_status system_project(lw_system *base, double t, double *y, lw_error *error) {
    lw_simulation_system *system = (lw_simulation_system *)base;
    lw_method *method = system->method;
    lw_simulation_see(system->simulation, y);
    return method->formulation->project(method, lw_simulation_seen(system->simulation, t), y, error);
}

/* Roots that are cheap: those of events and of conditions in forces. They come last. */
static lw_status system_glimpse(lw_system *base, double t, const double *y, double *values, lw_error *error) {
    lw_simulation *s = ((lw_simulation_system *)base)->simulation;
    (void)error;
    lw_simulation_take(s, t, y, s->switches.needs_poses || s->event_needs);
    lw_simulation_event_roots(s, t, true, values);
    lw_simulation_switch_roots(s, t, values + s->event_count);
    return LW_OK;
}

static lw_status system_roots(lw_system *base, double t, const double *y, double *values, lw_error *error) {
    lw_simulation *s = ((lw_simulation_system *)base)->simulation;
    const lw_formulation *f = s->plan.formulation;
    const int own = base->root_count - base->watched;
    if (base->watched) {
        lw_simulation_take(s, t, y, s->switches.needs_poses || s->event_needs);
        lw_simulation_event_roots(s, t, false, values + own);
        lw_simulation_switch_roots(s, t, values + own + s->event_count);
    }
    return own > 0 ? f->roots(s->method, lw_simulation_seen(s, t), y, values, error) : LW_OK;
}

/* Releases the method from its events; the others remain. */
static void system_release(lw_system *base, double t) {
    lw_simulation *s = ((lw_simulation_system *)base)->simulation;
    s->plan.formulation->release(s->method, t);
    base->root_count = base->watched;
}

/* Crosses an event, or a knot of the model; the integrator restarts afterwards. */
static lw_status system_cross(lw_system *base, double t, double *y, lw_error *error) {
    lw_simulation *s = ((lw_simulation_system *)base)->simulation;
    const int n = lw_simulation_books(s), own = base->root_count - base->watched;
    lw_status status = LW_OK;
    lw_simulation_see(s, y);
    if (own > 0) {
        lw_power work = {0};
        memcpy(s->crossed_y, y, (size_t)base->size * sizeof *y);
        s->crossed_t = lw_simulation_seen(s, t);
        status = s->plan.formulation->cross(s->method, s->crossed_t, y, &work, error);
        lw_ledger_add(&work, y + n);
    }
    lw_simulation_switch_cross(s, t, y);
    lw_simulation_mark(s, t, y);
    return status;
}

static lw_status system_accepted(lw_system *base, double t, double h, int order, const double *y,
                                 lw_error *error) {
    lw_simulation *s = ((lw_simulation_system *)base)->simulation;
    const lw_run_options *options = &s->plan.options;
    s->accepted = t;
    s->anchor.steps++;
    if (s->repeating) { /* The next step may end where an event is awaited since this one. */
        int happened;
        return s->event_count > 0 ? lw_simulation_event_look(s, t, y, &happened, error) : LW_OK;
    }
    /* Work that comes and goes between two samples. */
    const double *books = y + lw_simulation_books(s);
    s->worked = fmax(s->worked, fmax(0, books[0]) + fmax(0, books[1]));
    const bool time_to_look = lw_effort_stepped(&s->system.effort, t);
    if (options->step_taken) options->step_taken(t, h, order, options->context);
    if (lw_passage_due(&s->passage, h)) {
        lw_simulation_see(s, y);
        s->plan.formulation->from_state(s->method, t, y, s->q, s->v);
        lw_status status = lw_passage_look(&s->passage, s->model, t, s->q, s->v, error);
        if (status != LW_OK) return status;
    }
    if (s->event_count > 0) {
        int happened;
        lw_status status = lw_simulation_event_look(s, t, y, &happened, error);
        if (status != LW_OK) return status;
        if (t > s->target)
            s->deferred = happened;
        else if (happened >= 0) {
            s->event = happened;
            memcpy(s->y, y, (size_t)base->size * sizeof *y);
            return LW_ERROR_STOPPED;
        }
    }
    return time_to_look ? lw_simulation_consider_bdf(s, t, y) : LW_OK;
}

void lw_simulation_system_make(lw_simulation *s) {
    const lw_formulation *f = s->plan.formulation;
    const lw_run_options *options = &s->plan.options;
    lw_system *system = &s->system.base;
    const int n = lw_simulation_works_at(s) + s->work_count;
    s->system.method = s->method;
    s->system.simulation = s;
    lw_effort *effort = &s->system.effort;
    lw_effort_start(effort, options->start, options->end);
    effort->given = s->plan.by_step;
    effort->largest = options->step;
    effort->most = (double)options->max_steps;
    system->size = n;
    /* With prescribed motions, and in the short spans between knots and switches, the state may be smooth,
     * even exact, while the power of drives and forces is not; then the ledger's integrals are under error
     * control, too. A conserving step keeps its books by itself. */
    const bool knots =
        s->model->knot_count + s->model->rhythm_count + s->switches.motion > 0 && !s->integrator->needs_step;
    system->quadratures = s->work_count + (s->model->motion_count || knots ? 0 : LW_POWERS);
    system->derivative = f->derivative ? system_derivative : NULL;
    system->residual = f->residual ? system_residual : NULL;
    system->step = f->step ? system_step : NULL;
    system->project = f->project ? system_project : NULL;
    system->accepted = system_accepted;
    system->newton_hints = f->newton_hints ? f->newton_hints(s->method) : NULL;
    if (f->differential) {
        f->differential(s->method, s->system.differential);
        for (int k = s->method->state_size; k < n; k++) s->system.differential[k] = true;
        system->differential = s->system.differential;
    }
    if (s->switches.count && f->step) system->switched = system_switched;
    if (s->integrator->needs_step) return; /* Such steps have no events. */
    const int own = f->cross ? f->root_count(s->method) : 0;
    /* A method that holds conditions of its own settles at its events; others would disturb it. */
    s->switches.off = own > 0;
    system->watched = s->event_count + (s->switches.off ? 0 : s->switches.count);
    system->root_count = own + system->watched;
    system->brisk = s->timed ? 1e-3 * (options->end - options->start) : 0;
    system->roots = system_roots, system->cross = system_cross, system->glimpse = system_glimpse;
    system->release = own ? system_release : NULL;
    if (own) system->quadratures = s->work_count; /* Close to an event power may be unbounded. */
}

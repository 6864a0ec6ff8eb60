/* simulation.c - an initial-value problem that the caller advances: creation, advancing, state.
 *
 * The caller's state (t, y) may lie within the last step of the integrator, which is ahead of it. As long as
 * nothing is changed the integrator continues from the end of its step, so that the requested times do not
 * influence the steps. A change of the state or the equations (an input, a new state, an event) restarts the
 * integrator at (t, y).
 *
 * Knots are the times at which the model's forces and motions have a jump or kink that is known in advance
 * (model_knots.c). No step goes past a knot: the integrator stops there and restarts. Of the two sides of a
 * jump it sees the left one up to the knot and the right one from there on, whatever the comparison says at
 * the knot itself, and so do samples: times that expressions see are moved into the span between two knots,
 * by a few units of rounding (docs/theory/integrators.md, "Knots"). The last sample of a run that ends at a
 * knot is that of the left side.
 *
 * Cost     advance: the integrator's evaluations, and one conversion of coordinates when the caller requests
 *          the state; nothing is allocated unless another integrator takes over.
 */
#include "simulation/simulation_parts.h"
#include "formulations/common/method_create.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- creation -------------------------------------------------------------------------------------- */

static lw_status take_memory(lw_simulation *s, lw_error *error) {
    const lw_model *model = s->model;
    const lw_run_options *options = &s->plan.options;
    const size_t n = (size_t)lw_simulation_works_at(s) + (size_t)s->work_count;
    const size_t nq = (size_t)model->nq + 1, nv = (size_t)model->nv + 1;
    lw_arena *arena = s->arena;
    s->y = LW_NEW(arena, double, n);
    s->q = LW_NEW(arena, double, nq);
    s->shown = LW_NEW(arena, double, nq);
    s->parameters = LW_NEW(arena, double, lw_model_parameter_count(model) + 1);
    s->v = LW_NEW(arena, double, nv);
    const size_t states = (size_t)model->values.state_count;
    if (states || s->work_count || model->motion_count) {
        s->rate_q = LW_NEW(arena, double, nq);
        s->rate_v = LW_NEW(arena, double, nv);
        if (states && s->plan.integrator->needs_step)
            s->implicit = LW_NEW(arena, double, states *(states + 5));
    }
    s->work = LW_NEW(arena, double, 5 * n);
    s->beyond = LW_NEW(arena, double, s->event_count ? 2 * n : 1);
    s->scale = LW_NEW(arena, double, n);
    s->kept = LW_NEW(arena, double, n);
    s->next_y = LW_NEW(arena, double, n);
    s->crossed_y = LW_NEW(arena, double, n);
    s->anchor.y = LW_NEW(arena, double, n);
    lw_archive archive = {.mode = LW_ARCHIVE_MEASURE};
    if (s->plan.formulation->archive) s->plan.formulation->archive(s->method, &archive);
    s->anchor.decided_size = archive.used;
    s->anchor.decided = LW_NEW(arena, unsigned char, archive.used + 1);
    archive.used = 0;
    lw_simulation_event_archive(s, &archive);
    s->anchor.awaited_size = archive.used;
    s->anchor.awaited = LW_NEW(arena, unsigned char, 2 * archive.used + 1);
    for (int k = 0; k < LW_EFFORT_STATES; k++) s->system.states[k] = LW_NEW(arena, double, n);
    s->system.differential = LW_NEW(arena, bool, n);
    if (options->want_accelerations || options->want_reactions) s->vdot = LW_NEW(arena, double, nv);
    if (options->want_reactions)
        s->reactions = LW_NEW(arena, double, 6 * (size_t)lw_model_joint_count(model) + 1);
    s->checked = lw_checked_create(model);
    if (lw_arena_failed(arena) || !lw_simulation_late_memory(s) || !lw_simulation_works_memory(s) ||
        !s->checked || lw_data_create(model, s->allocator, &s->data) != LW_OK)
        return lw_out_of_memory(error);
    lw_data_set_values(model, s->data, s->inputs, s->states);
    return LW_OK;
}

lw_status lw_simulation_take_roots(lw_simulation *s, lw_error *error) {
    if (s->root_values && s->system.base.root_count <= s->root_room) return LW_OK;
    s->root_room = s->system.base.root_count;
    s->root_values = LW_NEW(s->arena, double, s->root_room + 1);
    return s->root_values ? LW_OK : lw_out_of_memory(error);
}

/* Sets inputs, force and notes before the method, which keeps references to them, is created. */
static lw_status create_method(lw_simulation *s, lw_error *error) {
    const lw_run_options *options = &s->plan.options;
    const int inputs = lw_model_input_count(s->model);
    const int states = s->model->values.state_count;
    s->inputs = LW_NEW(s->arena, double, inputs + 1);
    s->first_inputs = LW_NEW(s->arena, double, inputs + 1);
    s->given = LW_NEW(s->arena, bool, inputs + 1);
    s->moving = LW_NEW(s->arena, lw_moving_input, inputs + 1);
    s->states = LW_NEW(s->arena, double, states + 1);
    s->starts = LW_NEW(s->arena, double, states + 1);
    s->force = (lw_outer_force){.add = options->force,
                                .context = options->context,
                                .tau = LW_NEW(s->arena, double, s->model->nv + 1)};
    if (lw_arena_failed(s->arena)) return lw_out_of_memory(error);
    for (int k = 0; k < inputs; k++)
        s->inputs[k] = s->first_inputs[k] =
            options->inputs ? options->inputs[k] : lw_model_input_default(s->model, k);
    lw_simulation_forget_given(s);
    s->plan.options.inputs = s->first_inputs;
    for (int k = 0; k < states; k++)
        s->states[k] = s->starts[k] = options->states ? options->states[k] : s->model->values.starts[k];
    s->plan.options.states = s->starts;
    s->method_options = s->plan.method_options;
    s->method_options.note = lw_simulation_tell;
    s->method_options.note_context = s;
    s->method_options.inputs = s->inputs;
    s->method_options.states = s->states;
    s->method_options.force = options->force ? &s->force : NULL;
    if (!lw_simulation_switches_create(s, s->model) || !lw_simulation_events_create(s))
        return lw_out_of_memory(error);
    lw_simulation_switches_offer(s);
    unsigned char *degrees = LW_NEW(s->arena, unsigned char, s->model->values.count + 1);
    if (!degrees) return lw_out_of_memory(error);
    s->timed = lw_conditions_in_time(s->model, degrees);
    return lw_method_create(s->plan.formulation, s->model, &s->method_options, &s->method, error);
}

/* Makes (q, v) at t the present state; user states and the ledger's integrals are kept. */
static void take_state(lw_simulation *s, double t, const double *q, const double *v) {
    s->t = t;
    s->span = lw_model_span(s->model, t);
    memcpy(s->q, q, (size_t)s->model->nq * sizeof *q);
    memcpy(s->v, v, (size_t)s->model->nv * sizeof *v);
    lw_simulation_see(s, s->y);
    s->plan.formulation->to_state(s->method, t, s->q, s->v, s->y);
    lw_simulation_switch_settle(s, t, s->y);
    lw_simulation_event_forget(s);
    s->stale = true;
}

/* Computes q and v of the present state in the simulation's own arrays. */
static void look(const lw_simulation *s) {
    lw_simulation_see(s, s->y);
    s->plan.formulation->from_state(s->method, lw_simulation_seen(s, s->t), s->y, s->q, s->v);
}

/* Starts the method from the present state, and makes the integrator restart. */

static lw_status start(lw_simulation *s, lw_error *error) {
    s->integrator = s->plan.integrator;
    s->event = s->deferred = s->stopped_by = -1;
    s->t_stop = HUGE_VAL;
    s->summary = (lw_run_summary){.method = s->plan.formulation->name, .integrator = s->integrator->name};
    lw_watch_start(&s->watch, s->model);
    lw_passage_start(&s->passage, s->model, s->plan.formulation);
    lw_simulation_system_make(s);
    lw_status status = lw_simulation_take_roots(s, error);
    if (status != LW_OK) return status;
    for (int k = 0; k < s->model->values.state_count; k++) s->y[lw_simulation_own(s) + k] = s->starts[k];
    for (int k = 0; k < s->work_count; k++) s->y[lw_simulation_works_at(s) + k] = s->first_works[k];
    take_state(s, s->plan.options.start, s->plan.q, s->plan.v);
    s->scales = (lw_scales){0};
    status = lw_passage_begin(&s->passage, s->model, &s->method_options, s->t, s->q, s->v, error);
    if (status == LW_OK) status = lw_simulation_begin(s, error);
    if (status != LW_OK) return status;
    s->initial = lw_simulation_energy(s);
    s->lowest = s->initial.potential;
    s->worked = 0;
    return LW_OK;
}

lw_status lw_simulation_create(const lw_model *model, const lw_run_options *options,
                               const lw_allocator *allocator, lw_simulation **simulation, lw_error *error) {
    if (simulation) *simulation = NULL;
    if (!model || !options || !simulation || options->event_count < 0 ||
        (options->event_count > 0 && !options->events))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL,
                       "a simulation needs a model, options and a pointer for the result");
    lw_arena *arena = lw_arena_create(allocator);
    lw_simulation *s = LW_NEW(arena, lw_simulation, 1);
    if (!s) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    s->arena = arena;
    s->model = model;
    lw_allocator *own = allocator ? LW_NEW(arena, lw_allocator, 1) : NULL;
    if (own) *own = *allocator;
    s->allocator = own;
    lw_status status = allocator && !own ? lw_out_of_memory(error)
                                         : lw_run_plan_make(model, options, arena, &s->plan, error);
    if (status == LW_OK && s->plan.integrator->needs_step && options->event_count + model->event_count > 0)
        status =
            lw_fail(error, LW_ERROR_UNSUPPORTED, NULL,
                    "choose an integrator such as erk or bdf, and a method that goes with it",
                    "integrator %s takes its method's own conserving steps, within which no instant of an "
                    "event can be located",
                    s->plan.integrator->name);
    if (status == LW_OK) status = create_method(s, error);
    if (status == LW_OK && lw_simulation_works_wanted(s)) s->work_count = model->force_count;
    if (status == LW_OK) status = lw_simulation_works_possible(s, error);
    if (status == LW_OK) status = take_memory(s, error);
    if (status == LW_OK) status = start(s, error);
    if (status == LW_OK)
        *simulation = s;
    else
        lw_simulation_destroy(s);
    return status;
}

void lw_simulation_destroy(lw_simulation *s) {
    if (!s) return;
    if (s->integration) s->integrator->destroy(s->integration);
    lw_simulation_jacobian_drop(s);
    lw_method_destroy(s->method);
    lw_data_destroy(s->data);
    lw_checked_destroy(s->checked);
    lw_passage_end(&s->passage);
    lw_model_destroy(s->tuned);
    lw_arena_destroy(s->arena);
}

/* --- advancing ------------------------------------------------------------------------------------- */

static void mark_events(lw_simulation *s) {
    lw_archive archive = {
        .mode = LW_ARCHIVE_WRITE, .bytes = s->anchor.awaited, .size = s->anchor.awaited_size};
    lw_simulation_event_archive(s, &archive);
}

void lw_simulation_mark(lw_simulation *s, double t, const double *y) {
    const lw_formulation *f = s->plan.formulation;
    lw_archive archive = {
        .mode = LW_ARCHIVE_WRITE, .bytes = s->anchor.decided, .size = s->anchor.decided_size};
    s->anchor.t = t;
    s->anchor.t_stop = lw_simulation_bound(s);
    s->anchor.steps = 0;
    memcpy(s->anchor.y, y, (size_t)s->system.base.size * sizeof *y);
    mark_events(s);
    if (!f->archive) return;
    f->archive(s->method, &archive);
    archive.mode = LW_ARCHIVE_READ,
    archive.used = 0; /* Data outside the archive have no influence from here on. */
    f->archive(s->method, &archive);
}

void lw_simulation_retire_integrator(lw_simulation *s) {
    if (!s->integration) return;
    lw_integrator_statistics now;
    lw_archive archive = {.mode = LW_ARCHIVE_MEASURE};
    s->integrator->statistics(s->integration, &now);
    if (s->integrator->archive) s->integrator->archive(s->integration, &archive);
    s->retired_size = archive.used;
    s->before.steps += now.steps;
    s->before.evaluations += now.evaluations;
    s->before.rejected += now.rejected;
    s->integrator->destroy(s->integration);
    s->integration = NULL;
    s->looked = (lw_integrator_statistics){0};
}

static void take_next_integrator(lw_simulation *s) {
    lw_simulation_retire_integrator(s);
    s->integrator = s->next;
    s->next = NULL;
    s->summary.integrator = s->integrator->name;
    lw_effort_changes(&s->system.effort);
}

/* Makes the integrator restart at the present state, in which the method has started. */
static lw_status set_off(lw_simulation *s, lw_error *error) {
    const lw_formulation *f = s->plan.formulation;
    lw_system *system = &s->system.base;
    lw_simulation_see(s, s->y);
    lw_status status = f->project ? f->project(s->method, lw_simulation_seen(s, s->t), s->y, error) : LW_OK;
    if (status != LW_OK) return status;
    /* An integrator that was to take over later, from a state that is no longer reached, starts here. */
    if (s->next) take_next_integrator(s);
    s->accepted = s->t;
    lw_simulation_mark(s, s->t, s->y);
    if (s->deferred >= 0) memset(s->happened, 0, (size_t)s->event_count * sizeof *s->happened);
    s->deferred = -1;
    lw_simulation_event_await(s);
    mark_events(s);
    if (s->integration)
        status = s->integrator->restart(s->integration, s->t, s->y, error);
    else {
        double *rate = system->derivative ? s->work : NULL;
        status = lw_simulation_jacobian_offer(s, error);
        if (status == LW_OK && rate) status = system->derivative(system, s->t, s->y, rate, error);
        if (status == LW_OK)
            status = s->integrator->create(system, &s->plan.integrator_options, s->t, s->y, rate,
                                           &s->integration, error);
    }
    s->stale = status != LW_OK;
    return status;
}

lw_status lw_simulation_begin(lw_simulation *s, lw_error *error) {
    lw_system *system = &s->system.base;
    lw_status status = LW_OK;
    lw_simulation_event_depart(s);
    s->span = lw_model_span(s->model, s->t);
    if (system->root_count > system->watched) {
        s->crossed_t = lw_simulation_seen(s, s->t);
        memcpy(s->crossed_y, s->y, (size_t)system->size * sizeof *s->y);
        lw_simulation_see(s, s->y);
        status = s->plan.formulation->cross(s->method, s->crossed_t, s->y, NULL, error);
    }
    lw_simulation_switch_settle(s, s->t, s->y);
    if (status != LW_OK) return status;
    const lw_run_options *options = &s->plan.options;
    if (!(s->scales.length > 0)) /* the start of the run */
        s->scales =
            lw_state_scales(system, s->method, options->end - options->start, s->t, s->y, s->scale, s->work);
    return set_off(s, error);
}

/* Takes what motions prescribe at the time that they see. */
static void take_prescribed(lw_simulation *s, double seen) {
    lw_simulation_see(s, s->y);
    s->plan.formulation->from_state(s->method, seen, s->y, s->q, s->v);
    lw_take_state(s->model, s->data, seen, s->q, s->v);
}

/* Keeps it, before motions or the states that they follow may jump. */
static void keep_prescribed(lw_simulation *s, double seen) {
    take_prescribed(s, seen);
    memcpy(s->rate_q, s->data->q, (size_t)s->model->nq * sizeof *s->rate_q);
    memcpy(s->rate_v, s->data->v, (size_t)s->model->nv * sizeof *s->rate_v);
}

/* Tells of prescribed motions that have jumped since then, or whose speeds have. */
static void tell_of_impact(lw_simulation *s) {
    const lw_model *model = s->model;
    const double *q = s->rate_q, *v = s->rate_v;
    take_prescribed(s, lw_simulation_seen(s, s->t));
    for (int k = 0; k < model->motion_count; k++) {
        const lw_motion *motion = &model->motions[k];
        const lw_link *link = &model->links[motion->body];
        const double size = s->scales.length > 1 ? s->scales.length : 1;
        double place = 0, speed = 0, fastest = size / s->scales.time;
        for (int i = 0; i < link->joint.nq; i++)
            place = fmax(place, fabs(s->data->q[link->q + i] - q[link->q + i]));
        for (int i = link->v + motion->speed; i < link->v + motion->speed + motion->count; i++) {
            speed = fmax(speed, fabs(s->data->v[i] - v[i]));
            fastest = fmax(fastest, fmax(fabs(v[i]), fabs(s->data->v[i])));
        }
        if (place <= 1e-9 * size && speed <= 1e-9 * fastest) continue;
        char text[240];
        snprintf(
            text, sizeof text,
            "joint \"%.80s\": its prescribed %s jumps by %.3g; a jump of speed is an impact, which is not "
            "simulated",
            model->joints[model->bodies[motion->body].joint_index].name,
            place > 1e-9 * size ? "motion" : "speed", place > 1e-9 * size ? place : speed);
        lw_simulation_tell(s->t, "warning", text, s);
        s->jumped = 1 + model->bodies[motion->body].joint_index;
    }
}

/* Passes to the other side of the knot that has been reached, to which samples there belong; what the method
 * moves at once is booked. */
static lw_status pass_knot(lw_simulation *s, lw_error *error) {
    lw_system *system = &s->system.base;
    if (s->model->motion_count) keep_prescribed(s, lw_simulation_seen(s, s->t));
    s->span = lw_model_span(s->model, s->t);
    if (s->model->motion_count) tell_of_impact(s);
    lw_status status = system->root_count > 0 ? system->cross(system, s->t, s->y, error) : LW_OK;
    return status == LW_OK ? set_off(s, error) : status;
}

static lw_status change_integrator(lw_simulation *s, lw_error *error) {
    take_next_integrator(s);
    s->accepted = s->next_t;
    lw_simulation_mark(s, s->next_t, s->next_y);
    return s->integrator->create(&s->system.base, &s->plan.integrator_options, s->next_t, s->next_y, NULL,
                                 &s->integration, error);
}

/* Computes the state at t. An integrator that is to be replaced still serves times within its last step. */
static lw_status integrate(lw_simulation *s, double t, lw_error *error) {
    for (;;) {
        lw_status status = s->next && t > s->next_t ? change_integrator(s, error) : LW_OK;
        if (status == LW_OK)
            status = s->integrator->advance(s->integration, t, lw_simulation_bound(s), s->y, error);
        if (status != LW_ERROR_STOPPED || !s->next || s->event >= 0) return status;
    }
}

/* Advances the caller's state to an event that the integrator has already reached. */
static lw_status come_to_deferred(lw_simulation *s, lw_error *error) {
    s->event = s->deferred;
    s->deferred = -1;
    lw_status status =
        s->integrator->advance(s->integration, s->accepted, lw_simulation_bound(s), s->y, error);
    return status == LW_OK ? LW_ERROR_STOPPED : status;
}

static lw_status take_step(lw_simulation *s, double *t, lw_error *error) {
    lw_status status = s->next ? change_integrator(s, error) : LW_OK;
    if (status == LW_OK) status = s->integrator->step(s->integration, lw_simulation_bound(s), t, s->y, error);
    return status == LW_ERROR_STOPPED && s->next && s->event < 0 ? LW_OK : status;
}

/* Carries out the model's events, and calls the caller's function for its own, which may change state and
 * inputs; goes_on: nobody asks to stop. */
static lw_status tell_of_event(lw_simulation *s, bool *goes_on, lw_error *error) {
    const lw_run_options *options = &s->plan.options;
    const int own = s->model->event_count;
    const bool moves = own > 0 && s->model->motion_count > 0 && s->model->values.state_count > 0;
    bool stop = false;
    s->stale = true;
    if (moves) keep_prescribed(s, lw_simulation_seen(s, s->t));
    lw_status status = own > 0 ? lw_simulation_event_act(s, &stop, error) : LW_OK;
    if (moves && status == LW_OK) tell_of_impact(s);
    *goes_on = status == LW_OK && !stop;
    s->event = -1;
    for (int k = own; k < s->event_count && status == LW_OK; k++) {
        if (!s->happened[k]) continue;
        s->event = k - own;
        if (!options->happened || !options->happened(s, k - own, options->context)) *goes_on = false;
        if (!options->happened) break;
    }
    if (*goes_on) s->event = -1;
    return status;
}

/* Moves the end of the run, from which progress is predicted, if the caller advances beyond it. */
static void extend(lw_simulation *s, double t) {
    if (t > s->system.effort.end) s->system.effort.end = t;
}

/* Advances to t or, if `step`, to the end of the next step; both in pieces that end at knots. */
static lw_status go(lw_simulation *s, double t, bool step, double t_stop, lw_error *error) {
    const size_t size = (size_t)s->system.base.size * sizeof *s->y;
    bool between_knots = false;
    double from = s->t;
    s->event = -1;
    s->target = step ? HUGE_VAL : t;
    if (t_stop != s->t_stop) s->stale = true, s->t_stop = t_stop;
    for (;;) {
        lw_status status = s->stale ? lw_simulation_begin(s, error) : LW_OK;
        if (!between_knots) {
            from = s->t;
            memcpy(s->kept, s->y, size);
        }
        double reached = t < s->span.stop ? t : s->span.stop;
        if (status == LW_OK && s->deferred >= 0 && (step || reached >= s->accepted))
            status = come_to_deferred(s, error);
        else if (status == LW_OK)
            status = step ? take_step(s, &reached, error) : integrate(s, reached, error);
        if (status == LW_OK) {
            s->t = reached;
            /* The last sample of a run belongs to the run: a motion that ends there still has its speed. */
            if (reached >= s->span.stop && reached >= t_stop)
                s->stale = true;
            else if (reached >= s->span.stop)
                status = pass_knot(s, error);
        }
        if (status == LW_OK) {
            if (step || reached >= t) return LW_OK;
            between_knots = true;
            continue;
        }
        s->stale = true;
        if (status != LW_ERROR_STOPPED || s->event < 0) {
            s->t = from;
            memcpy(s->y, s->kept, size);
            return status;
        }
        between_knots = false;
        s->t = s->accepted; /* y belongs to this time, by system_accepted or come_to_deferred. */
        bool goes_on;
        status = tell_of_event(s, &goes_on, error);
        if (status != LW_OK) return status;
        if (!goes_on) return LW_EVENT;
        if (step || !(t > s->t)) return LW_OK;
    }
}

lw_status lw_simulation_go(lw_simulation *s, double t, double t_stop, lw_error *error) {
    extend(s, t);
    return go(s, t, false, t_stop, error);
}

static lw_status is_missing(lw_error *error) {
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL, "there is no simulation");
}

static lw_status advance(lw_simulation *s, double t, double t_stop, lw_error *error) {
    if (!s) return is_missing(error);
    if (!isfinite(t) || t < s->t)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                       "give a later time; lw_simulation_restore and lw_simulation_set_state go back",
                       "the simulation stands at t = %.9g and cannot advance to %.9g", s->t, t);
    if (t == s->t) return LW_OK;
    return lw_simulation_go(s, t, t_stop, error);
}

lw_status lw_simulation_advance(lw_simulation *s, double t, lw_error *error) {
    return advance(s, t, HUGE_VAL, error);
}

/* A point of time just behind the present one makes the integrator take its next step, whose end is then
 * known. */
lw_status lw_simulation_advance_watched(lw_simulation *s, double t, lw_simulation_watch *watch, void *context,
                                        lw_error *error) {
    const double little = 1e-6;
    while (s->t < t) {
        lw_status status = LW_OK;
        if (s->stale || !(s->accepted > s->t))
            status = advance(s, fmax(s->t + little * (t - s->t), nextafter(s->t, t)), HUGE_VAL, error);
        const double next = fmin(s->accepted, t);
        if (status == LW_OK && !s->stale && next > s->t) status = advance(s, next, HUGE_VAL, error);
        if (status != LW_OK) return status;
        watch(context, s->t, &t);
    }
    return LW_OK;
}

lw_status lw_simulation_step_to(lw_simulation *s, double t, lw_error *error) {
    return advance(s, t, t, error);
}

lw_status lw_simulation_step(lw_simulation *s, lw_error *error) {
    if (!s) return is_missing(error);
    if (!s->stale && s->accepted > s->t) return lw_simulation_go(s, s->accepted, HUGE_VAL, error);
    extend(s, s->t);
    return go(s, s->t, true, HUGE_VAL, error);
}

/* --- properties and state -------------------------------------------------------------------------- */

const lw_model *lw_simulation_model(const lw_simulation *s) { return s ? s->model : NULL; }
const char *lw_simulation_method(const lw_simulation *s) { return s ? s->plan.formulation->name : NULL; }
const char *lw_simulation_method_reason(const lw_simulation *s) { return s ? s->plan.why : NULL; }
const char *lw_simulation_integrator(const lw_simulation *s) { return s ? s->integrator->name : NULL; }
double lw_simulation_time(const lw_simulation *s) { return s ? s->t : NAN; }
int lw_simulation_event(const lw_simulation *s) { return s ? s->event : -1; }
int lw_simulation_model_event(const lw_simulation *s) { return s ? s->stopped_by : -1; }

lw_status lw_simulation_state(const lw_simulation *s, double *q, double *v) {
    if (!s) return LW_ERROR_ARGUMENT;
    look(s);
    if (q) memcpy(q, s->q, (size_t)s->model->nq * sizeof *q);
    if (v) memcpy(v, s->v, (size_t)s->model->nv * sizeof *v);
    return LW_OK;
}

const double *lw_simulation_tau(lw_simulation *s, double t, const double *q, const double *v) {
    return lw_outer_tau(&s->method_options, s->model, t, q, v);
}

lw_status lw_simulation_accelerations(lw_simulation *s, double *vdot, double *reactions, lw_error *error) {
    if (!s) return is_missing(error);
    const double t = lw_simulation_seen(s, s->t);
    if (s->stale) lw_simulation_switch_settle(s, s->t, s->y);
    look(s);
    return lw_checked_accelerations(s->checked,
                                    &(lw_checked_state){s->method, &s->method_options, t, s->q, s->v,
                                                        lw_simulation_tau(s, t, s->q, s->v)},
                                    (lw_checked_answer){.vdot = vdot, .reactions = reactions}, error);
}

lw_status lw_simulation_summary(const lw_simulation *s, lw_run_summary *summary) {
    if (!s || !summary) return LW_ERROR_ARGUMENT;
    lw_integrator_statistics now = {0};
    if (s->integration) s->integrator->statistics(s->integration, &now);
    *summary = s->summary;
    summary->t_end = s->t;
    summary->steps = s->before.steps + now.steps;
    summary->evaluations = s->before.evaluations + now.evaluations;
    summary->rejected = s->before.rejected + now.rejected;
    return LW_OK;
}

/* --- changes --------------------------------------------------------------------------------------- */

/* Without drift control, or with Baumgarte's, nothing closes the loops of a new state: one that is open by
 * more than a run leaves behind is refused, since all that follows would be wrong. */
static lw_status must_be_closed(lw_simulation *s, lw_error *error) {
    const lw_formulation *f = s->plan.formulation;
    if (!f->violation) return LW_OK;
    double position = 0, velocity = 0, fastest = 1 / s->scales.time;
    f->violation(s->method, s->t, s->y, &position, &velocity);
    for (int k = 0; k < s->model->nv; k++) fastest = fmax(fastest, fabs(s->v[k]));
    const double enough = fmax(1e-6, 1e4 * s->plan.integrator_options.tolerance) * s->watch.length;
    if (position <= enough && velocity <= enough * fastest) return LW_OK;
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                   "close it by lw_assemble, or create the simulation with drift control project",
                   "the loops or constraints of the state are open by %.3g, their velocities by %.3g",
                   position, velocity);
}

lw_status lw_simulation_set_state(lw_simulation *s, double t, const double *q, const double *v,
                                  lw_error *error) {
    if (!s) return is_missing(error);
    if (!isfinite(t) || !q || !v)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give q and v of the model's sizes, and a time",
                       "a state at t = %g cannot be set", t);
    const double *const arrays[] = {q, v};
    const int sizes[] = {s->model->nq, s->model->nv};
    for (int a = 0; a < 2; a++)
        for (int k = 0; k < sizes[a]; k++)
            if (!isfinite(arrays[a][k]))
                return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give finite numbers", "%s[%d] is %g",
                               a ? "v" : "q", k, arrays[a][k]);
    const size_t size = (size_t)s->system.base.size * sizeof *s->y;
    const lw_formulation *f = s->plan.formulation;
    const double before = s->t;
    const lw_energy had = lw_simulation_energy(s);
    memcpy(s->kept, s->y, size);
    take_state(s, t, q, v);
    lw_status status = f->project ? f->project(s->method, t, s->y, error) : LW_OK;
    if (status == LW_OK) status = must_be_closed(s, error);
    if (status != LW_OK) {
        s->t = before;
        memcpy(s->y, s->kept, size);
        return status;
    }
    lw_ledger_jump(s, &had);
    return LW_OK;
}

lw_status lw_simulation_reset(lw_simulation *s, lw_error *error) {
    if (!s) return is_missing(error);
    lw_status status = lw_simulation_tune(s, s->plan.model->parameter_values, error);
    if (status != LW_OK) return status;
    lw_simulation_hold_inputs(s);
    for (int k = 0; k < lw_model_input_count(s->model); k++) s->inputs[k] = s->first_inputs[k];
    lw_simulation_forget_given(s);
    if (s->integration && s->integrator != s->plan.integrator) {
        s->integrator->destroy(s->integration);
        s->integration = NULL;
    }
    s->next = NULL;
    s->before = s->looked = (lw_integrator_statistics){0};
    s->warned = s->told_jumps = false;
    s->checked_at = 0;
    memset(s->happened, 0, (size_t)s->event_count * sizeof *s->happened);
    memset(s->largest, 0, (size_t)s->event_count * sizeof *s->largest);
    memset(s->impacts, 0, (size_t)s->model->event_count * sizeof *s->impacts);
    lw_simulation_switches_reset(s);
    lw_passage_end(&s->passage);
    memset(s->y, 0, (size_t)s->system.base.size * sizeof *s->y);
    return start(s, error);
}

lw_status lw_simulation_restart(lw_simulation *s, const lw_simulation_beginning *b, lw_error *error) {
    const lw_model *model = s->plan.model;
    lw_run_plan *plan = &s->plan;
    lw_model_initial_state(model, b->q ? NULL : plan->q, b->v ? NULL : plan->v);
    if (b->q) memmove(plan->q, b->q, (size_t)model->nq * sizeof *plan->q);
    if (b->v) memmove(plan->v, b->v, (size_t)model->nv * sizeof *plan->v);
    lw_status status =
        b->as_given ? LW_OK
                    : lw_assemble(model, plan->options.start, plan->q, plan->v, &plan->assembly, error);
    if (status != LW_OK) return status;
    for (int k = 0; k < model->values.state_count; k++)
        s->starts[k] = b->states ? b->states[k] : model->values.starts[k];
    for (int k = 0; b->inputs && k < lw_model_input_count(model); k++) s->first_inputs[k] = b->inputs[k];
    return lw_simulation_reset(s, error);
}

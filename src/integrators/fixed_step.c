/* fixed_step.c - the frame of the integrators with a fixed step h.
 *
 * Step k goes from t_start + k h to t_start + (k + 1) h, so times carry no accumulated rounding; the last one
 * ends at t_stop exactly and is shorter, or longer by up to 1e-9 h. Between the ends of a step the state is
 * the cubic Hermite polynomial of y and ydot at both ends, error O(h^4), or the straight line where the
 * system has no derivative, error O(h^2). A step in which an event of the system happens ends there, and the
 * next one where this one should have. The derivative at the end of a step is the next step's first
 * evaluation, so dense output costs at most one evaluation in the whole run.
 */
#include "integrators/fixed_step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double REMAINDER = 1e-9; /* Relative to h: a remainder before t_stop that is not worth a step. */

lw_status lw_fixed_step_create(const lw_integrator *integrator, lw_take_step take, lw_system *system,
                               const lw_integrator_options *options, double t, const double *y,
                               lw_integration **integration, lw_error *error) {
    *integration = NULL;
    lw_status status = lw_check_start(integrator, system, options, t, y, error);
    if (status) return status;

    lw_arena *arena = lw_arena_create(NULL);
    lw_fixed_step *run = LW_NEW(arena, lw_fixed_step, 1);
    double *numbers = run ? LW_NEW(arena, double, 7 * (size_t)system->size) : NULL;
    if (!numbers || !lw_event_create(&run->event, system, t, arena)) {
        if (arena) lw_arena_destroy(arena);
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "no memory for %d states", system->size);
    }
    double **arrays[] = {&run->y_begin, &run->y_end,   &run->f_begin, &run->f_end,
                         &run->work[0], &run->work[1], &run->work[2]};
    for (int i = 0; i < 7; i++) *arrays[i] = numbers + (size_t)i * (size_t)system->size;
    run->base.integrator = integrator;
    run->base.system = system;
    run->take = take;
    run->arena = arena;
    run->t_start = run->begin = run->end = t;
    run->h = options->step;
    memcpy(run->y_end, y, sizeof *y * (size_t)system->size);
    *integration = &run->base;
    return LW_OK;
}

void lw_fixed_step_destroy(lw_integration *integration) {
    if (integration) lw_arena_destroy(((lw_fixed_step *)integration)->arena);
}

/* The derivative at the end of the last step, evaluated once. */
static lw_status derivative_at_end(lw_fixed_step *run, lw_error *error) {
    lw_system *system = run->base.system;
    if (!system->derivative || run->f_end_known) return LW_OK;
    lw_status status =
        lw_checked_derivative(system, run->end, run->y_end, run->f_end, &run->evaluations, error);
    run->f_end_known = !status;
    return status;
}

static void end_becomes_begin(lw_fixed_step *run) {
    double *y = run->y_begin, *f = run->f_begin;
    run->begin = run->end;
    run->y_begin = run->y_end, run->y_end = y;
    run->f_begin = run->f_end, run->f_end = f;
    run->f_begin_known = run->f_end_known, run->f_end_known = false;
}

/* The state within the step that is being taken, by a shorter one from its beginning: of the order of the
 * formula. */
static lw_status within(lw_integration *integration, double t, double *y, lw_error *error) {
    lw_fixed_step *run = (lw_fixed_step *)integration;
    lw_system *system = integration->system;
    if (!(t > run->begin)) {
        memcpy(y, run->y_begin, sizeof *y * (size_t)system->size);
        return LW_OK;
    }
    lw_status status = run->take(run, run->begin, t - run->begin, run->y_begin, run->f_begin, y, error);
    return !status && system->project ? system->project(system, t, y, error) : status;
}

/* The same for the search for events: cubic, since the rate at the end is needed for the next step anyway. */
static lw_status glance(lw_integration *integration, double t, double *y, lw_error *error) {
    lw_fixed_step *run = (lw_fixed_step *)integration;
    lw_status status = derivative_at_end(run, error);
    if (status) return status;
    const double thetas[] = {0, 1}, *states[] = {run->y_begin, run->y_end};
    const double *rates[] = {run->f_begin, run->f_end}, h = run->end - run->begin;
    lw_hermite(integration->system->size, 2, thetas, states, rates, h, (t - run->begin) / h, y);
    return LW_OK;
}

/* Crosses the event at which the last step ends; what the derivative was before says nothing then. */
static lw_status cross(lw_fixed_step *run, double t_stop, lw_error *error) {
    run->f_end_known = false;
    return lw_event_cross(&run->event, &run->base, run->end, t_stop - run->t_start, run->y_end, error);
}

static lw_status step(lw_fixed_step *run, double t_stop, lw_error *error) {
    lw_system *system = run->base.system;
    if (run->event.pending) {
        lw_status status = cross(run, t_stop, error);
        if (status) return status;
    }
    /* Only an integrator that works on the derivative needs it at the start of a step. */
    if (!run->base.integrator->needs_step) {
        lw_status status = derivative_at_end(run, error);
        if (status) return lw_stopped_at(run->end, status, error);
    }
    end_becomes_begin(run);
    double next = run->t_start + (double)(run->grid + 1) * run->h;
    if (next < run->begin + REMAINDER * run->h) next = run->t_start + (double)(++run->grid + 1) * run->h;
    const bool whole = next <= t_stop + REMAINDER * run->h;
    if (next > t_stop - REMAINDER * run->h) next = t_stop;
    double h = next - run->begin;
    if (!(h > 0)) return lw_step_vanished(run->base.integrator, run->begin, run->h, 0, error);

    const double *ydot = run->f_begin_known ? run->f_begin : NULL;
    lw_status status = run->take(run, run->begin, h, run->y_begin, ydot, run->y_end, error);
    if (!status && system->project) status = system->project(system, next, run->y_end, error);
    if (status) return lw_stopped_at(run->begin, status, error);
    int bad = lw_first_not_finite(system->size, run->y_end);
    if (bad >= 0) {
        return lw_fail(error, LW_ERROR_INTEGRATION, NULL,
                       "the step may be too large for this motion: give a smaller one (--step), or use an "
                       "integrator that chooses it (erk, adams, bdf)",
                       "state %d became %g in the step from t = %.9g to %.9g", bad, run->y_end[bad],
                       run->begin, next);
    }
    run->end = next;
    if (system->root_count && !run->base.integrator->needs_step) {
        status =
            lw_event_find(&run->event, &run->base, glance, within, run->begin, &run->end, run->y_end, error);
        if (status) return lw_stopped_at(run->begin, status, error);
        if (run->event.pending) run->f_end_known = false;
        next = run->end;
    }
    if (!run->event.pending && whole) run->grid++;
    run->steps++;
    return system->accepted ? system->accepted(system, next, next - run->begin, 0, run->y_end, error) : LW_OK;
}

static lw_status between(lw_fixed_step *run, double t, double *y, lw_error *error) {
    lw_system *system = run->base.system;
    double h = run->end - run->begin, theta = (t - run->begin) / h;
    lw_status status = LW_OK;
    if (system->derivative && !run->f_begin_known) {
        status =
            lw_checked_derivative(system, run->begin, run->y_begin, run->f_begin, &run->evaluations, error);
        run->f_begin_known = !status;
    }
    if (!status) status = derivative_at_end(run, error);
    if (status) return lw_stopped_at(run->end, status, error);
    if (system->derivative) {
        const double thetas[] = {0, 1}, *states[] = {run->y_begin, run->y_end};
        const double *rates[] = {run->f_begin, run->f_end};
        lw_hermite(system->size, 2, thetas, states, rates, h, theta, y);
    } else {
        for (int i = 0; i < system->size; i++) {
            y[i] = run->y_begin[i] + theta * (run->y_end[i] - run->y_begin[i]);
        }
    }
    if (system->project) status = system->project(system, t, y, error);
    return status ? lw_stopped_at(t, status, error) : LW_OK;
}

lw_status lw_fixed_step_advance(lw_integration *integration, double t_out, double t_stop, double *y,
                                lw_error *error) {
    lw_fixed_step *run = (lw_fixed_step *)integration;
    lw_status status = lw_check_times(integration->integrator, run->begin, t_out, t_stop, error);
    while (!status && run->end < t_out) status = step(run, t_stop, error);
    /* At the instant of an event the state is that after it, to which forces at that instant belong. */
    if (!status && run->end == t_out && run->event.pending) status = cross(run, t_stop, error);
    if (status) return status;
    if (t_out < run->end) return between(run, t_out, y, error);
    memcpy(y, run->y_end, sizeof *y * (size_t)integration->system->size);
    return LW_OK;
}

lw_status lw_fixed_step_step(lw_integration *integration, double t_stop, double *t, double *y,
                             lw_error *error) {
    lw_fixed_step *run = (lw_fixed_step *)integration;
    lw_status status = step(run, t_stop, error);
    *t = run->end;
    memcpy(y, run->y_end, sizeof *y * (size_t)integration->system->size);
    return status;
}

lw_status lw_fixed_step_restart(lw_integration *integration, double t, const double *y, lw_error *error) {
    (void)error;
    lw_fixed_step *run = (lw_fixed_step *)integration;
    run->t_start = run->begin = run->end = t;
    run->grid = 0;
    run->f_begin_known = run->f_end_known = false;
    lw_event_reset(&run->event, integration->system, t);
    memcpy(run->y_end, y, sizeof *y * (size_t)integration->system->size);
    return LW_OK;
}

void lw_fixed_step_archive(lw_integration *integration, lw_archive *archive) {
    lw_fixed_step *run = (lw_fixed_step *)integration;
    const int n = integration->system->size;
    double *arrays[] = {run->y_begin, run->y_end, run->f_begin, run->f_end};
    for (int i = 0; i < 4; i++) LW_ARCHIVE_MANY(archive, arrays[i], n);
    LW_ARCHIVE_ONE(archive, run->t_start);
    LW_ARCHIVE_ONE(archive, run->begin);
    LW_ARCHIVE_ONE(archive, run->end);
    LW_ARCHIVE_ONE(archive, run->f_begin_known);
    LW_ARCHIVE_ONE(archive, run->f_end_known);
    LW_ARCHIVE_ONE(archive, run->grid);
    LW_ARCHIVE_ONE(archive, run->steps);
    LW_ARCHIVE_ONE(archive, run->evaluations);
    lw_event_archive(&run->event, archive);
}

void lw_fixed_step_statistics(const lw_integration *integration, lw_integrator_statistics *statistics) {
    const lw_fixed_step *run = (const lw_fixed_step *)integration;
    *statistics = (lw_integrator_statistics){.steps = run->steps, .evaluations = run->evaluations};
}

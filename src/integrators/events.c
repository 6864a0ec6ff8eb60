/* events.c - the instant within a step at which an event of the system happens.
 *
 * Values of all roots are positive where nothing has happened. The bracket (before, after] is narrowed by the
 * Illinois variant of the rule of false position, applied to the root that crosses first by its straight
 * line, and by halving where that does not shorten it enough: values may be signs only. It ends at the far
 * side, where the event has happened.
 *
 * Cost     some 10 states of dense output for smooth roots, 60 for signs; no allocation.
 */
#include "integrators/events.h"

#include <float.h>
#include <math.h>

static double first_bound(const lw_system *system) { return system->brisk > 0 ? system->brisk : HUGE_VAL; }

bool lw_event_create(lw_event *event, const lw_system *system, double t, lw_arena *arena) {
    size_t count = (size_t)system->root_count;
    *event = (lw_event){.last = t, .longest = first_bound(system)};
    if (!count) return true;
    event->before = LW_NEW(arena, double, count);
    event->after = LW_NEW(arena, double, count);
    event->between = LW_NEW(arena, double, count);
    event->samples = LW_NEW(arena, double, lw_event_scan_room(system) + 1);
    event->ignored = LW_NEW(arena, bool, system->watched + 1);
    event->y = LW_NEW(arena, double, system->size);
    return !lw_arena_failed(arena);
}

void lw_event_reset(lw_event *event, const lw_system *system, double t) {
    event->pending = false;
    event->last = t;
    event->longest = first_bound(system);
    event->repeated = 0;
}

void lw_event_archive(lw_event *event, lw_archive *archive) {
    LW_ARCHIVE_ONE(archive, event->pending);
    LW_ARCHIVE_ONE(archive, event->last);
    LW_ARCHIVE_ONE(archive, event->longest);
    LW_ARCHIVE_ONE(archive, event->repeated);
}

/* A state at which roots cannot be had lies beyond: equations may hold on one side of an event only. */
static bool look(const lw_event *event, lw_system *system, double t, const double *y, double *values) {
    lw_status status = system->roots(system, t, y, values, NULL);
    if (event->arming && status == LW_OK)
        status = system->glimpse(system, t, y, values + system->root_count - system->watched, NULL);
    bool happened = false;
    for (int k = 0; k < system->root_count; k++) {
        if (status != LW_OK || !isfinite(values[k])) values[k] = -1;
        happened |= !(values[k] > 0);
    }
    return happened;
}

bool lw_event_at(lw_event *event, lw_system *system, double t, const double *y) {
    return system->root_count && look(event, system, t, y, event->after);
}

/* The fraction of the interval at which the first of the straight lines between the values at both ends is
 * zero. */
static double first_zero(const lw_event *event, int count, const double weight[2]) {
    double least = 1;
    for (int k = 0; k < count; k++) {
        double before = weight[0] * event->before[k], after = weight[1] * event->after[k];
        if (!(after > 0)) least = fmin(least, before / (before - after));
    }
    return least;
}

/* An event has happened by the end of begin .. *end, where event->after has the roots. *end becomes the first
 * instant at which it has happened, and y the state there. */
static lw_status locate(lw_event *event, lw_integration *integration, lw_state_within state, double begin,
                        double *end, double *y, lw_error *error) {
    enum { MOST = 200, ROUNDS = 3 }; /* the bracket is to be halved in so many rounds */
    lw_system *system = integration->system;
    double low = begin, high = *end, width = high - low, weight[2] = {1, 1};
    const double narrow = 4 * DBL_EPSILON * fmax(fabs(low), fabs(high));
    int kept = -1; /* the end that the last round has left as it was */
    lw_status status = state(integration, begin, y, error);
    if (status) return status;
    look(event, system, begin, y, event->before);
    for (int round = 1; round <= MOST && high - low > narrow; round++) {
        double part = first_zero(event, system->root_count, weight);
        if (round % ROUNDS == 0) {
            if (high - low > 0.5 * width) part = 0.5;
            width = high - low;
        }
        if (!(part > 0 && part < 1)) part = 0.5;
        double t = low + part * (high - low);
        t = fmin(fmax(t, low + 0.3 * narrow), high - 0.3 * narrow);
        if (!(t > low && t < high)) break;
        status = state(integration, t, y, error);
        if (status) return status;
        bool happened = look(event, system, t, y, event->between);
        double **replaced = happened ? &event->after : &event->before, *values = *replaced;
        *replaced = event->between, event->between = values;
        *(happened ? &high : &low) = t;
        weight[happened] = 1;
        weight[!happened] *= kept == !happened ? 0.5 : 1;
        kept = !happened;
    }
    *end = high;
    return state(integration, high, y, error);
}

/* Is there an event in from .. to, by states of the formula's order? event->after has the roots at `to`. */
static bool confirm(lw_event *event, lw_integration *integration, lw_state_within state, double to) {
    event->arming = true;
    return state(integration, to, event->y, NULL) == LW_OK &&
           look(event, integration->system, to, event->y, event->after);
}

lw_status lw_event_find(lw_event *event, lw_integration *integration, lw_state_within glance,
                        lw_state_within state, double begin, double *end, double *y, lw_error *error) {
    lw_system *system = integration->system;
    double from = begin, to = *end;
    event->pending = lw_event_at(event, system, *end, y);
    if (system->watched) {
        bool near = false;
        bool inside = lw_event_scan(event, integration, glance, begin, *end, &from, &to, &near);
        /* What the cheap polynomial has found need not be there, and where a root nearly touches zero, what
         * is there need not have been found. */
        if ((inside && from < to && !confirm(event, integration, state, to)) ||
            (!inside && near && glance != state)) {
            event->arming = false;
            (void)lw_event_at(event, system, *end, y);
            inside = lw_event_scan(event, integration, state, begin, *end, &from, &to, &near) &&
                     (from == to || confirm(event, integration, state, to));
            event->arming = inside;
            if (!inside) (void)lw_event_at(event, system, *end, y);
        }
        if (!inside) from = begin, to = *end;
        event->pending |= inside;
    }
    lw_status status = LW_OK;
    if (event->pending && from < to) status = locate(event, integration, state, from, &to, y, error);
    if (event->pending && from == to) status = state(integration, to, y, error);
    *end = to;
    event->arming = false;
    return status;
}

lw_status lw_event_cross(lw_event *event, lw_integration *integration, double t, double span, double *y,
                         lw_error *error) {
    enum { ENDLESS = 100 };
    lw_system *system = integration->system;
    if (!isfinite(span)) span = fmax(1, fabs(t));
    event->repeated = t - event->last < 1e-12 * span ? event->repeated + 1 : 0;
    event->last = t;
    event->pending = false;
    if (system->brisk > 0) event->longest = fmin(event->longest, system->brisk);
    if (event->repeated > ENDLESS && !system->release)
        return lw_fail(error, LW_ERROR_INTEGRATION, NULL,
                       "give what switches there some mass, damping or a smooth transition",
                       "forces switch to and fro without end at t = %.9g", t);
    if (event->repeated > ENDLESS) {
        /* A force that lets go by the speed which it determines is followed as it comes. */
        system->root_count = 0;
        system->release(system, t);
        return LW_OK;
    }
    lw_status status = system->cross(system, t, y, error);
    return status ? lw_stopped_at(t, status, error) : LW_OK;
}

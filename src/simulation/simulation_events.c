/* simulation_events.c - events: instants at which a value g passes through zero, of the model and of the
 * caller.
 *
 * Integrators find zeros of root functions that are positive before an event. An event that is awaited from
 * the side where g has the sign s has the root function s g; one that is not awaited has 1. After each
 * accepted step an event is awaited if g has the sign from which its direction starts.
 *
 * Where g begins at zero, or was left there by the event itself, the side is the one to which it goes, by the
 * rate of the state; if this does not tell either, the event is not awaited until a step ends where g is not
 * zero. Until then rounding may leave it a little beyond zero, at d, and its root function is s g + 2 |d|.
 * The event therefore does not trigger itself again. A condition, whose two values tell nothing of how far it
 * is from changing, has left its instant a little later, `settled`, and d is 0 from there on. If an action
 * has carried g away from zero, the side is the one on which g is, and the event is awaited anew.
 *
 * An impact keeps a joint from going on, and is awaited at once from the side that it came from, unless the
 * value goes on as before: then it is one of time, or of another joint. A joint that comes to rest at its
 * stop triggers it without end instead of going through; this ends the run with the reason.
 *
 * Events of the model come first, in its order, then those of the caller. Actions of the model's events are
 * carried out one after the other; events whose values they carry past zero happen at the same instant, also
 * such as have happened there already and were carried back. This goes on until no event happens; a cascade
 * without end is found by the number of times that one event has happened.
 *
 * Source   docs/theory/events.md, (7) to (9).
 */
#include "model/signals.h"
#include "simulation/simulation_parts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ENDLESS = 100 };             /* events of one name in an instant, */
static const double instant = 1e-6; /* which is this part of the run; */
/* and ten times as many in a hundred times as long: drift of loops within the tolerance, with a projection
 * after each step, makes a joint at rest leave its stop and come back somewhat less often. */
enum { FURTHER = 10, LONGER = 100 };

bool lw_simulation_events_create(lw_simulation *s) {
    const size_t own = (size_t)s->model->event_count, all = own + (size_t)s->plan.options.event_count;
    s->event_count = (int)all;
    s->event_needs = s->model->values.for_events.needs != 0;
    s->sides = LW_NEW(s->arena, signed char, all + 1);
    s->opposite = LW_NEW(s->arena, signed char, all + 1);
    s->happened = LW_NEW(s->arena, bool, all + 1);
    s->event_values = LW_NEW(s->arena, double, all + 1);
    s->offsets = LW_NEW(s->arena, double, all + 1);
    s->settled = LW_NEW(s->arena, double, all + 1);
    s->found = LW_NEW(s->arena, double, all + 1);
    s->largest = LW_NEW(s->arena, double, all + 1);
    s->ahead = LW_NEW(s->arena, double, 4 * (all + 1));
    s->impacts = LW_NEW(s->arena, lw_impact, own + 1);
    s->impulse =
        LW_NEW(s->arena, double, own ? 4 * (size_t)s->model->nv + 12 * (size_t)s->model->joint_count : 1);
    return !lw_arena_failed(s->arena);
}

/* Puts a state into q, v and data, as far as events need it. */
static void take(lw_simulation *s, double t, const double *y) { lw_simulation_take(s, t, y, s->event_needs); }

/* Computes the vector of values that expressions of the model's events read, in the state that has been
 * taken; NULL if that cannot be done. */
static const double *compute(lw_simulation *s, double t, lw_error *error) {
    const lw_value_order *order = &s->model->values.for_events;
    const double seen = lw_simulation_seen(s, t);
    lw_quantity_source source = {.t = seen};
    if (lw_values_are_inputs(&s->model->values, order)) return s->data->inputs;
    if (order->needs & ~(unsigned)LW_NEEDS_KINEMATICS &&
        lw_simulation_source(s, order->needs, seen, NULL, NULL, &source, error) != LW_OK)
        return NULL;
    lw_values_compute(s->model, s->data, seen, &source, order);
    return s->data->computed;
}

/* The values of all events in the state that has been taken. */
static void values_at(lw_simulation *s, double t) {
    const lw_run_options *options = &s->plan.options;
    const int own = s->model->event_count;
    const double *values = own > 0 ? compute(s, t, NULL) : NULL;
    for (int k = 0; k < own; k++)
        s->event_values[k] = values ? lw_function_value(s->model->events[k].when, &t, values) : NAN;
    for (int k = 0; k < options->event_count; k++)
        s->event_values[own + k] = options->events[k].value(t, s->q, s->v, options->context);
}

static double root_of(const lw_simulation *s, int k, int side, double t) {
    return side * s->event_values[k] + (t > s->settled[k] ? 0 : s->offsets[k]);
}

void lw_simulation_event_roots(lw_simulation *s, double t, bool arming, double *values) {
    if (s->event_count == 0) return;
    values_at(s, t);
    for (int k = 0; k < s->event_count; k++) {
        const int side = s->sides[k] ? s->sides[k] : arming ? s->opposite[k] : 0;
        values[k] = side ? root_of(s, k, side, t) : 1;
    }
}

/* Event k is awaited from now on if the side of its value, or that to which it goes, is the one from which
 * its direction starts. */
static void await(lw_simulation *s, int k, int side) {
    const int own = s->model->event_count;
    const int direction = k < own ? s->model->events[k].direction : s->plan.options.events[k - own].direction;
    const bool awaited = side * direction <= 0;
    s->sides[k] = (signed char)(awaited ? side : 0);
    s->opposite[k] = (signed char)(awaited ? 0 : side);
    s->offsets[k] = side && !(side * s->event_values[k] > 0) ? 2 * fabs(s->event_values[k]) + DBL_MIN : 0;
    s->settled[k] = HUGE_VAL;
}

static int sign_of(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

/* Has an action carried the value of event k away from where the event has happened? The same state has the
 * same value, and what a change of speeds leaves of it, by rounding only. */
static bool has_moved(const lw_simulation *s, int k) {
    const double rounding = 1e-12;
    return fabs(s->event_values[k] - s->found[k]) > rounding * s->largest[k];
}

/* Takes notice of the sizes of values. */
static void measure(lw_simulation *s) {
    for (int k = 0; k < s->event_count; k++)
        if (fabs(s->event_values[k]) > s->largest[k]) s->largest[k] = fabs(s->event_values[k]);
}

/* An event has just happened, or its value is zero. */
static bool rests(const lw_simulation *s, int k) { return s->happened[k] || s->event_values[k] == 0; }

/* A little later. */
static double soon(const lw_simulation *s) {
    return 1e-8 * fmax(s->plan.options.end - s->plan.options.start, 1e-6 * fabs(s->t));
}

/* Computes the values of all events a little later, at three instants of which each is AHEAD times as far as
 * the one before, by the rate of the state; false if there is none. */
static bool look_ahead(lw_simulation *s) {
    lw_system *system = &s->system.base;
    double *rate = s->work, *y = s->work + system->size, later = soon(s);
    if (!system->derivative || system->derivative(system, s->t, s->y, rate, NULL) != LW_OK) return false;
    for (int i = 1; i <= 3; i++, later *= 16) {
        for (int n = 0; n < system->size; n++) y[n] = s->y[n] + later * rate[n];
        take(s, s->t + later, y);
        values_at(s, s->t + later);
        for (int k = 0; k < s->event_count; k++) s->ahead[i * s->event_count + k] = s->event_values[k];
    }
    take(s, s->t, s->y);
    values_at(s, s->t);
    return true;
}

/* Does the value of event k stay as it is from a little later on? It is a condition, whose value now depends
 * on rounding. */
static bool stays_ahead(const lw_simulation *s, int k) {
    const double *ahead = s->ahead + s->event_count + k;
    return ahead[0] == ahead[s->event_count] && ahead[0] == ahead[2 * s->event_count];
}

/* The side to which the value of event k goes, or 0: rounding does not grow from one instant to the next. */
static int side_ahead(const lw_simulation *s, int k) {
    double before = 0;
    int side = 0;
    if (stays_ahead(s, k)) return sign_of(s->ahead[s->event_count + k]);
    for (int i = 1; i <= 3; i++) {
        const double change = s->ahead[i * s->event_count + k] - s->event_values[k];
        if (!(fabs(change) >= 4 * fabs(before)) || change == 0 || (side && sign_of(change) != side)) return 0;
        side = sign_of(change);
        before = change;
    }
    return side;
}

/* How much the value of event k is about to change, by the rate of the state; 0 if this is rounding. */
static double change_ahead(lw_simulation *s, int k) {
    const double rounding = 1e-12;
    if (!look_ahead(s)) return 0;
    const double change = s->ahead[3 * s->event_count + k] - s->event_values[k];
    return fabs(change) > rounding * s->largest[k] ? change : 0;
}

/* A joint that stands at its stop when the run begins, and goes on in the direction of the impact, has no
 * impact. */
static void tell_of_start(lw_simulation *s, int k, int side) {
    if (k >= s->model->event_count || s->anchor.t != s->plan.options.start || s->happened[k]) return;
    const lw_model_event *event = &s->model->events[k];
    if (event->action != LW_ACTION_RESTITUTION || !(side * event->direction > 0)) return;
    char text[240];
    snprintf(text, sizeof text,
             "event \"%.80s\": its value starts at zero and goes on in its direction, so that there is no "
             "impact; start before it, or with the speed of the rebound",
             event->name);
    lw_simulation_tell(s->t, "warning", text, s);
}

/* It is awaited already from where rounding has left it: an impact, or an event that has settled to no side
 * yet. */
static bool is_held(const lw_simulation *s, int k) { return s->sides[k] && s->offsets[k] > 0; }

void lw_simulation_event_await(lw_simulation *s) {
    bool ahead = false;
    if (s->event_count == 0) return;
    take(s, s->t, s->y);
    values_at(s, s->t);
    measure(s);
    for (int k = 0; k < s->event_count; k++) ahead |= rests(s, k) && !is_held(s, k);
    if (ahead) ahead = look_ahead(s);
    for (int k = 0; k < s->event_count; k++) {
        if (is_held(s, k)) continue;
        const lw_model_event *own = k < s->model->event_count ? &s->model->events[k] : NULL;
        if (rests(s, k) && own && own->stands) {
            /* The joint starts there: if it goes on, it meets the stop. */
            await(s, k, -own->direction);
            s->impacts[k].approach = own->direction;
        } else if (rests(s, k)) {
            const int side = ahead ? side_ahead(s, k) : 0;
            tell_of_start(s, k, side);
            await(s, k, side);
            if (side && stays_ahead(s, k)) s->settled[k] = s->t + soon(s);
        } else
            await(s, k, sign_of(s->event_values[k]));
    }
}

void lw_simulation_event_forget(lw_simulation *s) {
    for (int k = 0; k < s->event_count; k++)
        s->sides[k] = s->opposite[k] = 0, s->offsets[k] = 0, s->settled[k] = HUGE_VAL;
}

/* Fails if a value is not a number. */
static lw_status check(const lw_simulation *s, double t, lw_error *error) {
    for (int k = 0; k < s->model->event_count; k++) {
        const lw_model_event *event = &s->model->events[k];
        if (isnan(s->event_values[k]))
            return lw_fail_at(error, LW_ERROR_SINGULAR, s->model->file, event->place, "event", event->name,
                              "look for a division by zero, or a root or logarithm of what is negative there",
                              "the value that it waits for is not a number at t = %.9g", t);
    }
    return LW_OK;
}

/* Event k has happened in the state that has been taken. */
static void happens(lw_simulation *s, int k, int side) {
    if (k < s->model->event_count) s->impacts[k].side = (signed char)side;
    s->happened[k] = true;
    s->sides[k] = s->opposite[k] = 0;
    s->found[k] = s->event_values[k];
}

/* Does the step end at (t, y), which has been taken, because something happens there: at a knot, or where an
 * outcome of a condition in the value of an event changes? */
static bool ends_on_purpose(lw_simulation *s, double t) {
    lw_switches *w = &s->switches;
    if (t >= s->span.stop) return true;
    if (w->off || w->count == w->motion) return false;
    lw_simulation_switch_roots(s, t, w->outcomes);
    bool switched = false;
    for (int c = w->motion; c < w->count; c++) switched |= !(w->outcomes[c] > 0);
    return switched;
}

/* Something has been located at (t, y): an event behind its own zero, a knot, a switch. Events that have the
 * same instant, such as the count of impacts by `q < 0` beside the impact at q = 0, may still be a rounding
 * error before theirs, and what the first one does, or the restart, would keep them from happening. They are
 * found a few rounding errors later, behind the knot, by the rate of the state. The state that has been taken
 * is another one afterwards. */
static void find_coincident(lw_simulation *s, double t, const double *y) {
    enum { ROUNDINGS = 32 };
    const lw_time_span span = s->span;
    lw_system *system = &s->system.base;
    const lw_run_options *options = &s->plan.options;
    double *rate = s->beyond, *later = s->beyond + system->size;
    bool any = false;
    for (int k = 0; k < s->event_count; k++) any |= s->sides[k] != 0;
    if (!any || !system->derivative || system->derivative(system, t, y, rate, NULL) != LW_OK) return;
    double ahead = ROUNDINGS * DBL_EPSILON * fmax(fabs(t), 1e-3 * (options->end - options->start));
    if (t >= span.stop) {
        s->span = lw_model_span(s->model, t);
        ahead = fmax(ahead, s->span.after + DBL_EPSILON * fabs(t) - t);
    }
    for (int n = 0; n < system->size; n++) later[n] = y[n] + ahead * rate[n];
    memcpy(s->ahead, s->event_values, (size_t)s->event_count * sizeof *s->ahead);
    take(s, t + ahead, later);
    values_at(s, t + ahead);
    for (int k = 0; k < s->event_count; k++) {
        const int side = s->sides[k];
        const bool passed = side && !(root_of(s, k, side, t + ahead) > 0);
        s->event_values[k] = s->ahead[k];
        if (passed) happens(s, k, side);
    }
    s->span = span;
}

lw_status lw_simulation_event_look(lw_simulation *s, double t, const double *y, int *happened,
                                   lw_error *error) {
    int first = -1;
    take(s, t, y);
    values_at(s, t);
    *happened = -1;
    lw_status status = check(s, t, error);
    if (status != LW_OK) return status;
    measure(s);
    for (int k = 0; k < s->event_count; k++) {
        const int side = s->sides[k] ? s->sides[k] : s->opposite[k];
        s->happened[k] = s->sides[k] && !(root_of(s, k, side, t) > 0);
        if (s->happened[k]) {
            if (first < 0) first = k;
            happens(s, k, side);
        } else if (!(s->offsets[k] > 0) || side * s->event_values[k] > 0 || !(root_of(s, k, side, t) > 0)) {
            if (!side && !s->repeating) tell_of_start(s, k, sign_of(s->event_values[k]));
            await(s, k, sign_of(s->event_values[k]));
        }
    }
    if (first >= 0 || ends_on_purpose(s, t)) find_coincident(s, t, y);
    *happened = -1;
    for (int k = s->event_count - 1; k >= 0; k--)
        if (s->happened[k]) *happened = k;
    return LW_OK;
}

/* --- the model's events ---------------------------------------------------------------------------- */

/* Fails if the event has happened too often in an instant. */
static lw_status count(lw_simulation *s, int k, lw_error *error) {
    const lw_model_event *event = &s->model->events[k];
    lw_impact *impact = &s->impacts[k];
    const double span = instant * fmax(s->plan.options.end - s->plan.options.start, DBL_EPSILON * fabs(s->t));
    if (impact->count == 0 || s->t - impact->since > span) impact->since = s->t, impact->count = 0;
    if (impact->many == 0 || s->t - impact->early > LONGER * span) impact->early = s->t, impact->many = 0;
    /* An event that only takes notice, such as the top of each bounce, is not the cause where another one
     * that changes something happens as often; so it has more time. */
    const bool acts = event->action == LW_ACTION_RESTITUTION || event->action == LW_ACTION_SET;
    const long most = acts ? ENDLESS : 2 * ENDLESS;
    impact->count++, impact->many++;
    if (impact->count <= most && impact->many <= FURTHER * most) return LW_OK;
    const bool brief = impact->count > most;
    const int happened = (int)(brief ? impact->count : impact->many) - 1;
    const double since = brief ? impact->since : impact->early;
    const bool hits = event->action == LW_ACTION_RESTITUTION;
    return lw_fail_at(
        error, LW_ERROR_INTEGRATION, s->model->file, event->place, "event", event->name,
        hits && event->stands ? "give the joint a stop with stiffness and damping, which can hold it at rest"
        : hits ? "let it stop the run (do: stop), or hold the joint at rest by a stiff contact: a "
                 "force with a law such as if(x < 0, -1e6*x, 0)"
               : "let what it sets lead away from zero, e.g. by two values with a gap between them "
                 "(hysteresis)",
        hits ? "it has happened %d times within %.2g s at t = %.9g: the joint has come to rest "
               "at its stop, within the tolerance, and impacts would follow without end"
             : "it has happened %d times within %.2g s at t = %.9g, and would go on without end",
        happened, s->t - since, s->t);
}

static lw_status set(lw_simulation *s, const lw_model_event *event, lw_error *error) {
    lw_status status = LW_OK;
    double values[LW_EVENT_SETS];
    take(s, s->t, s->y);
    const double *seen = compute(s, s->t, error);
    for (int i = 0; i < event->set_count; i++) {
        values[i] = seen ? lw_function_value(event->sets[i].value, &s->t, seen) : NAN;
        if (!isfinite(values[i]))
            return lw_fail_at(error, LW_ERROR_INTEGRATION, s->model->file, event->place, "event", event->name,
                              "look at the expression of this value", "at t = %.9g \"%s\" would be set to %g",
                              s->t, event->sets[i].name, values[i]);
    }
    for (int i = 0; i < event->set_count && status == LW_OK; i++) {
        const lw_model_event_set one = event->sets[i];
        if (one.kind == LW_SET_INPUT)
            status = lw_simulation_set_input(s, one.index, values[i]);
        else if (one.kind == LW_SET_STATE)
            s->y[lw_simulation_own(s) + one.index] = values[i];
        else {
            const int k = (int)(event - s->model->events); /* The model may be another one afterwards. */
            status = lw_simulation_set_parameter(s, one.index, values[i], error);
            event = &s->model->events[k];
        }
    }
    return status;
}

/* Carries out event k, which has happened. */
static lw_status act(lw_simulation *s, int k, bool *stop, lw_error *error) {
    const lw_model_event *event = &s->model->events[k];
    lw_impact *impact = &s->impacts[k];
    if (event->action == LW_ACTION_RESTITUTION) {
        take(s, s->t, s->y);
        const double *seen = compute(s, s->t, error);
        const double factor = seen ? lw_function_value(event->impact_factor, &s->t, seen) : NAN;
        const double coming = change_ahead(s, k), alike = 1e-6;
        lw_status status = lw_simulation_impact(s, event, factor, impact, s->offsets[k] > 0, error);
        /* The event is awaited at once from where it came, a rounding error beyond where it is: a joint that
         * stays at its stop must not get any farther by many impacts. A value that the impact leaves to go
         * on as before, such as one of time or of another joint, has passed like those of other events. */
        const double going = status == LW_OK && coming != 0 ? change_ahead(s, k) : 0;
        if (coming == 0 || impact->leaves || !(fabs(going - coming) <= alike * fabs(coming))) {
            s->sides[k] = impact->side, s->opposite[k] = 0;
            s->offsets[k] = (1 + 4 * DBL_EPSILON) * fabs(s->event_values[k]) + DBL_MIN;
            s->settled[k] = HUGE_VAL;
            s->happened[k] = false;
        }
        /* A rebound that a step does not resolve seems to go on although the joint leaves; it counts all the
         * same. */
        if (status != LW_OK || impact->leaves) return status == LW_OK ? count(s, k, error) : status;
    }
    lw_simulation_tell(s->t, "event", event->name, s);
    lw_status status = count(s, k, error);
    if (status != LW_OK) return status;
    if (event->action == LW_ACTION_STOP) *stop = true, s->stopped_by = s->stopped_by < 0 ? k : s->stopped_by;
    return event->action == LW_ACTION_SET ? set(s, event, error) : LW_OK;
}

/* After an action: events whose values it has carried past zero happen at this instant, too; those whose
 * values it has carried to the side from which they start are awaited. Returns whether one of the model's has
 * happened. */
static bool find_others(lw_simulation *s) {
    bool any = false;
    take(s, s->t, s->y);
    values_at(s, s->t);
    measure(s);
    for (int k = 0; k < s->event_count; k++) {
        const int side = sign_of(s->event_values[k]);
        if (!s->sides[k]) {
            const bool back = s->happened[k] ? has_moved(s, k) : s->opposite[k] == -side;
            if (!side || !back) continue;
            s->happened[k] &= k >= s->model->event_count; /* The caller has still to be told. */
            await(s, k, side);
        } else if (!(root_of(s, k, s->sides[k], s->t) > 0)) {
            if (k < s->model->event_count) s->impacts[k].side = s->sides[k], s->impacts[k].next = any = true;
            s->happened[k] = true;
            s->sides[k] = s->opposite[k] = 0;
            s->found[k] = s->event_values[k];
        }
    }
    return any;
}

void lw_simulation_event_depart(lw_simulation *s) {
    bool any = false;
    for (int k = 0; k < s->event_count; k++) any |= s->happened[k];
    if (!any) return;
    take(s, s->t, s->y);
    values_at(s, s->t);
    for (int k = 0; k < s->event_count; k++)
        if (s->happened[k] && has_moved(s, k)) s->happened[k] = false;
}

lw_status lw_simulation_event_act(lw_simulation *s, bool *stop, lw_error *error) {
    const int own = s->model->event_count;
    bool any = false;
    *stop = false;
    s->stopped_by = -1;
    for (int k = 0; k < own; k++) any |= s->impacts[k].due = s->happened[k];
    while (any) {
        any = false;
        for (int k = 0; k < own; k++) {
            if (!s->impacts[k].due) continue;
            s->impacts[k].due = false;
            lw_status status = act(s, k, stop, error);
            if (status != LW_OK) return status;
            if (s->model->events[k].action >= LW_ACTION_SET) any |= find_others(s);
        }
        for (int k = 0; k < own; k++) s->impacts[k].due = s->impacts[k].next, s->impacts[k].next = false;
    }
    return LW_OK;
}

void lw_simulation_event_archive(lw_simulation *s, lw_archive *archive) {
    LW_ARCHIVE_MANY(archive, s->sides, s->event_count);
    LW_ARCHIVE_MANY(archive, s->opposite, s->event_count);
    LW_ARCHIVE_MANY(archive, s->offsets, s->event_count);
    LW_ARCHIVE_MANY(archive, s->settled, s->event_count);
    LW_ARCHIVE_MANY(archive, s->found, s->event_count);
    LW_ARCHIVE_MANY(archive, s->largest, s->event_count);
    LW_ARCHIVE_MANY(archive, s->happened, s->event_count);
    LW_ARCHIVE_MANY(archive, s->impacts, s->model->event_count);
    LW_ARCHIVE_ONE(archive, s->stopped_by);
}

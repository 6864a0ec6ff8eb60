/* simulation_events.c - the caller's events: times at which a value g(t, q, v) passes through zero.
 *
 * Integrators find zeros of root functions that are positive before an event. An event that is awaited from
 * the side where g has the sign s has the root function s g; one that is not awaited has 1. After each
 * accepted step an event is awaited if g has the sign from which its direction starts. After it has happened
 * it is not awaited until a step ends where g is not zero. A value that begins at zero, or is left at zero by
 * the event itself, therefore does not trigger the event again.
 */
#include "simulation/simulation_parts.h"

static void values_at(lw_simulation *s, double t, const double *y) {
    const lw_run_options *options = &s->plan.options;
    lw_simulation_see(s, y);
    s->plan.formulation->from_state(s->method, lw_simulation_seen(s, t), y, s->q, s->v);
    for (int k = 0; k < options->event_count; k++)
        s->event_values[k] = options->events[k].value(t, s->q, s->v, options->context);
}

void lw_simulation_event_roots(lw_simulation *s, double t, const double *y, double *values) {
    if (s->plan.options.event_count == 0) return;
    values_at(s, t, y);
    for (int k = 0; k < s->plan.options.event_count; k++)
        values[k] = s->sides[k] ? s->sides[k] * s->event_values[k] : 1;
}

/* The side from which an event with this present value is awaited. */
static signed char side_of(const lw_event_function *event, double value) {
    return value > 0 && event->direction <= 0 ? 1 : value < 0 && event->direction >= 0 ? -1 : 0;
}

void lw_simulation_event_await(lw_simulation *s) {
    if (s->plan.options.event_count == 0) return;
    values_at(s, s->t, s->y);
    for (int k = 0; k < s->plan.options.event_count; k++)
        s->sides[k] = s->happened[k] ? 0 : side_of(&s->plan.options.events[k], s->event_values[k]);
}

int lw_simulation_event_look(lw_simulation *s, double t, const double *y) {
    int first = -1;
    values_at(s, t, y);
    for (int k = 0; k < s->plan.options.event_count; k++) {
        const double value = s->event_values[k];
        s->happened[k] = s->sides[k] && !(s->sides[k] * value > 0);
        s->sides[k] = s->happened[k] ? 0 : side_of(&s->plan.options.events[k], value);
        if (s->happened[k] && first < 0) first = k;
    }
    return first;
}

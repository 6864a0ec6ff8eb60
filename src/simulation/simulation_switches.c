/* simulation_switches.c - the conditions in forces that depend on the state: held between events, located,
 * and let go where they switch without end.
 *
 * A force with a condition (force_conditions.h) is smooth as long as the outcome of the condition does not
 * change. From one event to the next all outcomes are held, so that integrators see smooth equations even in
 * states beyond the event; the instant at which an outcome changes is located as a root of the distance of its
 * operands, and the integrator restarts there with the outcomes of the state.
 *
 * A condition that changes again and again at one instant (friction sign(v) at rest, a force that pushes back
 * to where it switches) has no motion between two of its events. After MOST of them it is no longer held nor
 * located, with a note: the integrator then takes as short steps as its error demands.
 *
 * A method with events of its own (massless) holds its conditions itself; here they are located only.
 *
 * Source   docs/theory/events.md, (1) to (3).
 * Cost     a look: one conversion to joint coordinates, the kinematics if some element needs poses, and the
 *          operands of the conditions. No allocation.
 */
#include "simulation/simulation_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 20 };                /* changes of one outcome at one instant */
static const double instant = 1e-11; /* of the run's length */

bool lw_simulation_switches_create(lw_simulation *s, const lw_model *model) {
    lw_switches *w = &s->switches;
    const size_t forces = (size_t)model->force_count;
    const bool first = !w->of;
    int *of = first ? LW_NEW(s->arena, int, forces + 1) : w->spare;
    if (!of) return false;
    const int count = lw_force_conditions(model, of);
    /* Other values of parameters rarely make other conditions. */
    if (!first && memcmp(of, w->of, forces * sizeof *of) == 0 && count == w->count) return true;
    *w = (lw_switches){.of = of, .count = count};
    w->spare = LW_NEW(s->arena, int, forces + 1);
    w->held = LW_NEW(s->arena, double, count + 1);
    w->outcomes = LW_NEW(s->arena, double, count + 1);
    w->last = LW_NEW(s->arena, double, count + 1);
    w->repeated = LW_NEW(s->arena, int, count + 1);
    w->released = LW_NEW(s->arena, bool, count + 1);
    if (lw_arena_failed(s->arena)) return false;
    w->needs_poses = lw_force_conditions_need_poses(model, of);
    lw_simulation_switches_reset(s);
    return true;
}

void lw_simulation_switches_reset(lw_simulation *s) {
    lw_switches *w = &s->switches;
    for (int c = 0; c < w->count; c++) {
        w->held[c] = NAN, w->last[c] = -HUGE_VAL;
        w->repeated[c] = 0, w->released[c] = false;
    }
}

void lw_simulation_switches_offer(lw_simulation *s) {
    const bool holds = s->switches.count > 0 && !s->plan.formulation->cross;
    s->method_options.held_of = holds ? s->switches.of : NULL;
    s->method_options.held = holds ? s->switches.held : NULL;
}

void lw_simulation_take(lw_simulation *s, double t, const double *y, bool poses) {
    const double seen = lw_simulation_seen(s, t);
    s->plan.formulation->from_state(s->method, seen, y, s->q, s->v);
    lw_take_state(s->model, s->data, seen, s->q, s->v);
    if (!poses) return;
    lw_velocities(s->model, s->data);
    lw_world_poses(s->model, s->data);
}

void lw_simulation_switch_look(lw_simulation *s, double t, const lw_look *at) {
    const lw_switches *w = &s->switches;
    const double seen = lw_simulation_seen(s, t);
    for (int k = 0; k < s->model->force_count; k++) {
        const int of = w->of[k];
        if (of < 0) continue;
        const lw_look own = {.held = at->held ? at->held + of : NULL,
                             .outcomes = at->outcomes ? at->outcomes + of : NULL,
                             .distances = at->distances ? at->distances + of : NULL};
        lw_force_look(s->model, s->data, k, seen, &own);
    }
}

void lw_simulation_switch_roots(lw_simulation *s, double t, double *values) {
    const double far = 1e300; /* A value that is not finite would count as an event. */
    lw_simulation_switch_look(s, t, &(lw_look){.held = s->switches.held, .distances = values});
    for (int c = 0; c < s->switches.count; c++) values[c] = fmin(values[c], far);
}

void lw_simulation_switch_settle(lw_simulation *s, double t, const double *y) {
    lw_switches *w = &s->switches;
    if (!w->count) return;
    lw_simulation_take(s, t, y, w->needs_poses);
    lw_simulation_switch_look(s, t, &(lw_look){.outcomes = w->held});
    for (int c = 0; c < w->count; c++)
        if (w->released[c]) w->held[c] = NAN;
}

/* The element to which condition c belongs. */
static const char *name_of(const lw_simulation *s, int c) {
    int k = s->model->force_count - 1;
    while (k > 0 && (s->switches.of[k] < 0 || s->switches.of[k] > c)) k--;
    return s->model->forces[k].name;
}

static void release(lw_simulation *s, double t, int c) {
    char text[256];
    s->switches.released[c] = true;
    s->switches.held[c] = NAN;
    snprintf(text, sizeof text,
             "force \"%s\" switches to and fro without end: from here on it is followed as it comes, without "
             "looking for the instants at which it switches",
             name_of(s, c));
    lw_simulation_tell(t, "switch", text, s);
}

void lw_simulation_switch_cross(lw_simulation *s, double t, const double *y) {
    lw_switches *w = &s->switches;
    if (!w->count) return;
    const double span = instant * fmax(s->plan.options.end - s->plan.options.start, fabs(t));
    lw_simulation_take(s, t, y, w->needs_poses);
    lw_simulation_switch_look(s, t, &(lw_look){.outcomes = w->outcomes});
    for (int c = 0; c < w->count; c++) {
        if (w->released[c] || w->outcomes[c] == w->held[c]) continue;
        w->held[c] = w->outcomes[c];
        w->repeated[c] = t - w->last[c] < span ? w->repeated[c] + 1 : 0;
        w->last[c] = t;
        if (w->repeated[c] > MOST) release(s, t, c);
    }
}

void lw_simulation_switch_archive(lw_simulation *s, lw_archive *archive) {
    lw_switches *w = &s->switches;
    LW_ARCHIVE_MANY(archive, w->held, w->count);
    LW_ARCHIVE_MANY(archive, w->last, w->count);
    LW_ARCHIVE_MANY(archive, w->repeated, w->count);
    LW_ARCHIVE_MANY(archive, w->released, w->count);
}

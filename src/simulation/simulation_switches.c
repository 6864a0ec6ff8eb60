/* simulation_switches.c - the conditions in forces, signals and rates of user states: held between events,
 * located, and let go where they switch without end; and those in values of events, which are located only.
 *
 * A force with a condition (model_conditions.h) is smooth as long as the outcome of the condition does not
 * change. From one event to the next all outcomes are held, so that integrators see smooth equations even in
 * states beyond the event; the instant at which an outcome changes is located as a root of the distance of
 * its operands, and the integrator restarts there with the outcomes of the state.
 *
 * A condition that changes again and again at one instant (friction sign(v) at rest, a force that pushes back
 * to where it switches) has no motion between two of its events. After MOST of them it is no longer held nor
 * located, with a note: the integrator then takes as short steps as its error demands.
 *
 * A method with events of its own (massless, where a motion without mass meets a condition) holds its
 * conditions itself, and settles at each event: nothing is located beside them.
 *
 * Source   docs/theory/events.md, (1) to (3).
 * Cost     a look: one conversion to joint coordinates, the kinematics if some element needs poses, and the
 *          operands of the conditions. No allocation.
 */
#include "simulation/simulation_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 20 };                  /* changes of one outcome at one instant */
static const double instant = 1e-11; /* of the run's length */

bool lw_simulation_switches_create(lw_simulation *s, const lw_model *model) {
    lw_switches *w = &s->switches;
    const int forces = model->force_count, named = lw_conditions_named(model);
    const int entries = forces + 2 * named + model->event_count;
    const bool first = !w->of;
    int *of = first ? LW_NEW(s->arena, int, entries + 1) : w->spare;
    if (!of) return false;
    const int motion = lw_conditions(model, of, of + forces);
    int *merged = of + forces + named;
    memcpy(merged, of + forces, (size_t)named * sizeof *of);
    const int count = lw_event_conditions(model, motion, merged, merged + named);
    /* Other values of parameters rarely make other conditions. */
    if (!first && memcmp(of, w->of, (size_t)entries * sizeof *of) == 0 && count == w->count) return true;
    *w = (lw_switches){.of = of, .count = count, .motion = motion};
    w->spare = LW_NEW(s->arena, int, entries + 1);
    w->held = LW_NEW(s->arena, double, count + 1);
    w->outcomes = LW_NEW(s->arena, double, count + 1);
    w->before = LW_NEW(s->arena, double, count + 1);
    w->last = LW_NEW(s->arena, double, count + 1);
    w->repeated = LW_NEW(s->arena, int, count + 1);
    w->released = LW_NEW(s->arena, bool, count + 1);
    if (lw_arena_failed(s->arena)) return false;
    w->needs_poses = (motion > 0 && lw_conditions_need_poses(model, of)) ||
                     (count > motion && model->values.for_events.needs);
    w->hold = (lw_outcomes){of, merged, w->held};
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
    const bool holds = s->switches.motion > 0 && !s->plan.formulation->cross;
    s->method_options.hold = holds ? &s->switches.hold : NULL;
}

void lw_simulation_take(lw_simulation *s, double t, const double *y, bool poses) {
    const double seen = lw_simulation_seen(s, t);
    lw_simulation_see(s, y);
    s->plan.formulation->from_state(s->method, seen, y, s->q, s->v);
    lw_take_state(s->model, s->data, seen, s->q, s->v);
    if (!poses) return;
    lw_velocities(s->model, s->data);
    lw_world_poses(s->model, s->data);
}

/* Looks at all conditions; with outcomes held, signals see these, too. */
static void look(lw_simulation *s, double t, const lw_look *at) {
    const lw_switches *w = &s->switches;
    const int forces = s->model->force_count, named = lw_conditions_named(s->model);
    const int *merged = w->of + forces + named;
    const double seen = lw_simulation_seen(s, t);
    lw_data_hold(s->data, at->held ? &w->hold : NULL);
    if (w->motion) lw_conditions_look(s->model, s->data, seen, w->of, w->of + forces, at);
    if (w->count > w->motion)
        lw_event_conditions_look(s->model, s->data, seen, w->motion, merged, merged + named, at);
    lw_data_hold(s->data, NULL);
}

void lw_simulation_switch_roots(lw_simulation *s, double t, double *values) {
    const double far = 1e300; /* A value that is not finite would count as an event. */
    if (!s->switches.count || s->switches.off) return;
    look(s, t, &(lw_look){.held = s->switches.held, .distances = values});
    for (int c = 0; c < s->switches.count; c++) values[c] = fmin(values[c], far);
}

/* Decides all outcomes at (t, y) and holds them. Operands that see held outcomes differ from others by
 * rounding: mod(t, 0.01) is t - 9*0.01 then. Where that changes an outcome, as it may at the very instant of
 * an event, the one that belongs to held operands is held; otherwise its root would be negative from the
 * start, and the event would not be found. A condition that depends on others comes behind them, hence the
 * passes. */
static void decide(lw_simulation *s, double t, const double *y) {
    enum { PASSES = 8 };
    lw_switches *w = &s->switches;
    lw_simulation_take(s, t, y, w->needs_poses);
    look(s, t, &(lw_look){.outcomes = w->held});
    for (int c = 0; c < w->count; c++)
        if (w->released[c]) w->held[c] = NAN;
    bool changed = true;
    for (int pass = 0; pass < PASSES && changed; pass++) {
        changed = false;
        look(s, t, &(lw_look){.held = w->held, .outcomes = w->outcomes});
        for (int c = 0; c < w->count; c++) {
            if (isnan(w->held[c]) || isnan(w->outcomes[c]) || w->outcomes[c] == w->held[c]) continue;
            w->held[c] = w->outcomes[c];
            changed = true;
        }
    }
}

void lw_simulation_switch_settle(lw_simulation *s, double t, const double *y) {
    if (s->switches.count && !s->switches.off) decide(s, t, y);
}

/* The object to which condition c belongs. */
static void name_object(const lw_simulation *s, int c, char *text, size_t size) {
    const lw_model *model = s->model;
    const lw_values *values = &model->values;
    const int forces = model->force_count, named = lw_conditions_named(model);
    const int *of = s->switches.of, all = forces + 2 * named + model->event_count;
    int k = 0; /* that with the last place up to c */
    for (int other = 0; other < all; other++)
        if (of[other] >= 0 && of[other] <= c && (of[k] < 0 || of[k] > c || of[other] > of[k])) k = other;
    if (k < forces) {
        snprintf(text, size, "force \"%.80s\"", model->forces[k].name);
        return;
    }
    if (k >= forces + 2 * named) {
        snprintf(text, size, "event \"%.80s\"", model->events[k - forces - 2 * named].name);
        return;
    }
    k = (k - forces) % named;
    const int states = values->input_count, signals = states + values->state_count;
    snprintf(text, size, "%s \"%.80s\"",
             k < states    ? "input"
             : k < signals ? "state"
                           : "signal",
             k < states    ? model->input_names.names[k]
             : k < signals ? values->state_names.names[k - states]
                           : values->signal_names.names[k - signals]);
}

static void release(lw_simulation *s, double t, int c) {
    char text[320], object[112];
    name_object(s, c, object, sizeof object);
    s->switches.released[c] = true;
    s->switches.held[c] = NAN;
    snprintf(text, sizeof text,
             "%s switches to and fro without end: from here on it is followed as it comes, without "
             "looking for the instants at which it switches",
             object);
    lw_simulation_tell(t, "switch", text, s);
}

void lw_simulation_switch_cross(lw_simulation *s, double t, const double *y) {
    lw_switches *w = &s->switches;
    if (!w->count || w->off) return;
    const double span = instant * fmax(s->plan.options.end - s->plan.options.start, fabs(t));
    memcpy(w->before, w->held, (size_t)w->count * sizeof *w->before);
    decide(s, t, y);
    for (int c = 0; c < w->count; c++) {
        if (w->released[c] || w->held[c] == w->before[c]) continue;
        if (isnan(w->held[c]) && isnan(w->before[c])) continue;
        w->repeated[c] = t - w->last[c] < span ? w->repeated[c] + 1 : 0;
        w->last[c] = t;
        if (w->repeated[c] > MOST) release(s, t, c);
    }
}

bool lw_simulation_switched(lw_simulation *s, double t, const double *y, double next, const double *z) {
    lw_switches *w = &s->switches;
    lw_simulation_take(s, t, y, w->needs_poses);
    look(s, t, &(lw_look){.outcomes = w->before});
    lw_simulation_take(s, next, z, w->needs_poses);
    look(s, next, &(lw_look){.outcomes = w->outcomes});
    /* A kink of a law that has a potential: its mean over the step follows from the potential's ends. */
    for (int k = 0; k < s->model->force_count; k++) {
        const lw_function *law = s->model->forces[k].law;
        if (w->of[k] < 0 || !law || !s->model->forces[k].law_is_potential || lw_function_jumps(law)) continue;
        for (int c = lw_function_conditions(law) - 1; c >= 0; c--)
            w->outcomes[w->of[k] + c] = w->before[w->of[k] + c];
    }
    for (int c = 0; c < w->count; c++)
        if (w->before[c] != w->outcomes[c] && !(isnan(w->before[c]) && isnan(w->outcomes[c]))) return true;
    return false;
}

void lw_simulation_switch_archive(lw_simulation *s, lw_archive *archive) {
    lw_switches *w = &s->switches;
    LW_ARCHIVE_MANY(archive, w->held, w->count);
    LW_ARCHIVE_MANY(archive, w->last, w->count);
    LW_ARCHIVE_MANY(archive, w->repeated, w->count);
    LW_ARCHIVE_MANY(archive, w->released, w->count);
}

/* compile_limits.c - limits and stops of joints as events and force elements.
 *
 * A limit h of coordinate q, passed outwards, is an event with a note: q - h passes through zero. A stop
 * there is
 *
 *   a spring    force -(k e + d) beyond the limit, e = q - h the excess, and with damping c
 *                   d = max(c v, -k e)        (at the lower limit min),
 *               so that the stop never pulls. k e has the potential k e^2 / 2, and d takes d v >= 0, which is
 *               dissipation: while the stop lets go faster than its damping allows, this is what its spring
 *               has left;
 *   an impact   an event with an impulse: v becomes -restitution v.
 *
 * They are appended to the forces and events of the spec before it is compiled, so that every method, the
 * ledger, switching and results treat them like those that are given.
 *
 * Source   docs/theory/events.md, section "Limits and stops".
 * Cost     nothing where no joint has limits.
 */
#include "model/compile/compile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct expansion {
    lw_spec *spec;
    lw_arena *arena;
    bool failed;
} expansion;

/* One limit of a coordinate. */
typedef struct limit {
    const lw_joint_spec *joint;
    lw_place place;
    int coordinate;
    bool upper;
    double at;
} limit;

static const char *print(expansion *x, const char *text) {
    const char *copy = lw_arena_text(x->arena, text);
    if (!copy) x->failed = true;
    return copy ? copy : "";
}

/* pin.limit.upper, or hook.second.limit.upper where there are several coordinates; `what` may have a part. */
static const char *name_of(expansion *x, const limit *l, const char *what, const char *part) {
    const lw_joint_spec *joint = l->joint;
    bool several = lw_joint_type_v(joint->type, joint->geometry[0].axis_count) > 1;
    char text[512];
    snprintf(text, sizeof text, "%.300s%s%s.%s.%s%s", joint->name ? joint->name : "", several ? "." : "",
             several ? lw_joint_speed_word(joint->type, l->coordinate) : "", what,
             l->upper ? "upper" : "lower", part);
    return print(x, text);
}

/* The excess of the coordinate, as an expression: 'pin'.q - 1. */
static const char *excess(expansion *x, const limit *l) {
    const lw_joint_spec *joint = l->joint;
    const char *unit,
        *column = lw_joint_column(joint->type, lw_joint_type_v(joint->type, joint->geometry[0].axis_count), 0,
                                  l->coordinate, &unit);
    char text[1024];
    size_t length = 0;
    text[length++] = '\'';
    for (const char *c = joint->name ? joint->name : ""; *c && length < sizeof text - 200; c++) {
        if (*c == '\'') text[length++] = '\''; /* Two stand for one. */
        text[length++] = *c;
    }
    snprintf(text + length, sizeof text - length, "'.%s - (%.17g)", column, l->at);
    return print(x, text);
}

static void add_event(expansion *x, const limit *l, bool impact) {
    lw_event_spec *event = &x->spec->events[x->spec->event_count++];
    char factor[40];
    *event = (lw_event_spec){.name = name_of(x, l, impact ? "stop" : "limit", ""),
                             .when = excess(x, l),
                             .direction = l->upper ? 1 : -1,
                             .action = impact ? LW_ACTION_RESTITUTION : LW_ACTION_NOTE,
                             .place = l->place};
    if (!impact) return;
    snprintf(factor, sizeof factor, "%.17g", l->joint->stop_restitution[l->coordinate]);
    event->joint = l->joint->name;
    event->coordinate = l->coordinate;
    event->factor = print(x, factor);
}

/* A law of the excess x and the speed v; its tension pulls the coordinate back. */
static void add_law(expansion *x, const limit *l, const char *part, const char *law) {
    x->spec->forces[x->spec->force_count++] = (lw_force_spec){.name = name_of(x, l, "stop", part),
                                                              .type = LW_FORCE_TORSION,
                                                              .joint = l->joint->name,
                                                              .coordinate = l->coordinate,
                                                              .free_length = l->at,
                                                              .has_free_length = true,
                                                              .law = {.expression = print(x, law)},
                                                              .place = l->place};
}

static void add_spring(expansion *x, const limit *l) {
    const double k = l->joint->stop_stiffness[l->coordinate], c = l->joint->stop_damping[l->coordinate];
    const char *worst = l->upper ? "max" : "min";
    char law[200];
    snprintf(law, sizeof law, "%.17g*%s(x, 0)", k, worst);
    add_law(x, l, "", law);
    if (c == 0) return;
    snprintf(law, sizeof law, "if(x %s 0, %s(%.17g*v, -%.17g*x), 0)", l->upper ? ">" : "<", worst, c, k);
    add_law(x, l, ".damping", law);
}

/* Calls add for every limit of the spec; returns how many there are. */
static size_t each_limit(expansion *x, const lw_spec *spec, void (*add)(expansion *, const limit *)) {
    size_t count = 0;
    for (size_t j = 0; j < spec->joint_count; j++) {
        const lw_joint_spec *joint = &spec->joints[j];
        const lw_place place = lw_spec_joint_places(spec, joint)->limits;
        if (joint->type < 0 || (int)joint->type >= lw_joint_descriptor_count ||
            lw_joint_describe(joint->type)->ball)
            continue;
        const int nv = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
        for (int k = 0; k < nv && k < LW_JOINT_MAX_V; k++) {
            const double *pair = joint->limits[k];
            for (int side = 0; side < 2 && pair[0] < pair[1]; side++) {
                if (!isfinite(pair[side])) continue;
                const limit l = {joint, place.line ? place : joint->place, k, side == 1, pair[side]};
                if (add) add(x, &l);
                count++;
            }
        }
    }
    return count;
}

/* A stop with numbers that cannot be, of which validate_coordinates.c says so, is left out. */
static void add_limit(expansion *x, const limit *l) {
    const lw_joint_spec *joint = l->joint;
    const double k = joint->stop_stiffness[l->coordinate], c = joint->stop_damping[l->coordinate],
                 e = joint->stop_restitution[l->coordinate];
    add_event(x, l, joint->stop == LW_STOP_IMPACT && e >= 0 && e <= 1);
    if (joint->stop == LW_STOP_SPRING && isfinite(k) && isfinite(c)) add_spring(x, l);
}

lw_status lw_expand_limits(const lw_spec *given, lw_arena *arena, lw_spec *spec) {
    expansion x = {spec, arena, false};
    *spec = *given;
    const size_t limits = each_limit(&x, given, NULL);
    if (limits == 0) return LW_OK;
    spec->forces = LW_NEW(arena, lw_force_spec, given->force_count + 2 * limits);
    spec->events = LW_NEW(arena, lw_event_spec, given->event_count + limits);
    if (!spec->forces || !spec->events) return LW_ERROR_MEMORY;
    if (given->force_count) memcpy(spec->forces, given->forces, given->force_count * sizeof *spec->forces);
    if (given->event_count) memcpy(spec->events, given->events, given->event_count * sizeof *spec->events);
    each_limit(&x, given, add_limit);
    return x.failed ? LW_ERROR_MEMORY : LW_OK;
}

/* model_conditions.c - the conditions in the forces, signals and rates of a model, and in its events.
 *
 * A condition is a comparison, sign, floor, ceil, mod, step, or the kink of abs, min, max and ramp in an
 * expression (expression/function.h). Its outcome decides which smooth branch of the expression holds. The
 * conditions of all elements stand one behind the other, those of element k from place of_force[k] on; within
 * an applied force they follow its six components; of a contact there is one for each of its probes. Behind
 * them come those of signals, defaults of inputs and rates of user states on which the motion depends, those
 * of entry k of the vector of values from of_value[k] on. Those of events, which the motion does not know,
 * are apart from them: a tick such as `mod(q, 0.01) < 0.001` is seen to happen only where its operands are
 * looked at, for its own value is as silent between two ticks as beside them.
 *
 * Source   docs/theory/events.md, (1).
 * Cost     look: O(elements with conditions); no allocation.
 */
#include "model/model_conditions.h"
#include "model/contact.h"
#include "model/signals.h"

#include <float.h>
#include <math.h>
#include <string.h>

static int count_in(const lw_force *force) {
    int count = 0;
    if (force->contact) return force->contact->probes;
    if (force->type == LW_FORCE_APPLIED) {
        for (int c = 0; c < 6; c++)
            if (force->components[c]) count += lw_function_conditions(force->components[c]);
        return count;
    }
    const lw_function *f = force->type == LW_FORCE_DRIVE ? force->drive : force->law;
    return f ? lw_function_conditions(f) : 0;
}

/* Does the motion depend on an entry of the vector of values that has a function? */
static bool enters(const lw_values *values, int entry) {
    if (!values->functions[entry]) return false;
    if (entry >= values->input_count && entry < values->input_count + values->state_count) return true;
    for (int k = 0; k < values->for_motion.count; k++)
        if (values->for_motion.entries[k] == entry) return true;
    return false;
}

int lw_conditions_named(const lw_model *model) {
    const lw_values *values = &model->values;
    return values->input_count + values->state_count + values->signal_count;
}

int lw_conditions(const lw_model *model, int *of_force, int *of_value) {
    int total = 0;
    for (int k = 0; k < model->force_count; k++) {
        const int own = count_in(&model->forces[k]);
        of_force[k] = own ? total : -1;
        total += own;
    }
    for (int entry = 0; entry < lw_conditions_named(model); entry++) {
        const int own =
            enters(&model->values, entry) ? lw_function_conditions(model->values.functions[entry]) : 0;
        of_value[entry] = own ? total : -1;
        total += own;
    }
    return total;
}

/* The elongation of a spring and its rate. */
static void line_of(const lw_data *data, const lw_force *force, double *x, double *rate) {
    double ends[2][3], speeds[2][3], line[3], against[3];
    for (int e = 0; e < 2; e++) {
        const lw_pose *world = &data->world[force->bodies[e]];
        const double *V = data->motion[force->bodies[e]].V;
        double local[3];
        lw_v3_copy(V + 3, local);
        lw_v3_add_cross(V, force->frames[e].p, local);
        lw_pose_point(world->R, world->p, force->frames[e].p, ends[e]);
        lw_m3_mul_v(world->R, local, speeds[e]);
    }
    lw_v3_sub(ends[1], ends[0], line);
    lw_v3_sub(speeds[1], speeds[0], against);
    const double length = lw_v3_norm(line);
    *x = length - force->free_length;
    *rate = length > 0 ? lw_v3_dot(line, against) / length : 0;
}

/* The variables of its law or drive. */
static void variables_of(const lw_model *model, const lw_data *data, const lw_force *force, double t,
                         double out[3]) {
    double x = 0, v = 0;
    if (force->type == LW_FORCE_SPRING)
        line_of(data, force, &x, &v);
    else if (force->closure < 0) {
        x = force->q >= 0 ? data->q[force->q] : 0;
        v = force->v >= 0 ? data->v[force->v] : 0;
    } else {
        double q[LW_JOINT_MAX_Q], speeds[LW_JOINT_MAX_V], W[36], at[3];
        lw_cut_joint(model, data, force->closure, q, speeds, W, at);
        x = force->q >= 0 ? q[force->q] : 0;
        v = speeds[force->v];
    }
    if (force->type == LW_FORCE_DRIVE) {
        out[0] = t, out[1] = x, out[2] = v;
        return;
    }
    out[0] = force->type == LW_FORCE_TORSION ? x - force->free_length : x, out[1] = v, out[2] = t;
}

/* Degrees of signals and defaults in time, each behind those that it uses. */
static int degrees(const lw_model *model, const lw_value_order *order, unsigned char *of_values) {
    int most = 0, operands;
    for (int k = 0; k < order->count; k++) {
        const int entry = order->entries[k];
        if (entry >= lw_conditions_named(model)) continue;
        of_values[entry] =
            (unsigned char)lw_function_degree(model->values.functions[entry], 0, of_values, &operands);
        most = operands > most ? operands : most;
    }
    return most;
}

static int operands_in(const lw_function *f, size_t time, const unsigned char *of_values) {
    int operands = 0;
    if (f) (void)lw_function_degree(f, time, of_values, &operands);
    return operands;
}

bool lw_conditions_in_time(const lw_model *model, unsigned char *of_values) {
    const lw_values *values = &model->values;
    memset(of_values, 0, (size_t)values->count + 1);
    memset(of_values + values->input_count, LW_VARIES, (size_t)values->state_count);
    for (int k = 0; k < values->quantity_count; k++) {
        const lw_quantity_kind kind = values->quantities[k].kind;
        const bool plain = kind == LW_Q_COORDINATE || kind == LW_Q_SPEED;
        /* Places and directions are periodic functions of angles. */
        of_values[values->count - values->quantity_count + k] = plain ? LW_VARIES : 2 | LW_VARIES;
    }
    int most = degrees(model, &values->for_motion, of_values);
    for (int k = 0; k < model->force_count; k++) {
        const lw_force *force = &model->forces[k];
        if (force->contact) return true; /* A body may touch and leave within a step. */
        const int law = operands_in(force->law, 2, of_values),
                  drive = operands_in(force->drive, 0, of_values);
        most = law > most ? law : drive > most ? drive : most;
        for (int c = 0; c < 6; c++) {
            const int own = operands_in(force->components[c], 0, of_values);
            most = own > most ? own : most;
        }
    }
    for (int k = 0; k < values->state_count; k++) {
        const int own = operands_in(values->functions[values->input_count + k], 0, of_values);
        most = own > most ? own : most;
    }
    const int signals = degrees(model, &values->for_events, of_values);
    most = signals > most ? signals : most;
    for (int k = 0; k < model->event_count; k++) {
        int operands, own = lw_function_degree(model->events[k].when, 0, of_values, &operands) & ~LW_VARIES;
        own = operands > own ? operands : own;
        most = own > most ? own : most;
    }
    return most > 1;
}

bool lw_conditions_need_poses(const lw_model *model, const int *of_force) {
    if (model->values.for_motion.needs) return true;
    for (int k = 0; k < model->force_count; k++)
        if (of_force[k] >= 0 && (model->forces[k].type == LW_FORCE_SPRING || model->forces[k].contact ||
                                 model->forces[k].closure >= 0))
            return true;
    return false;
}

static lw_look part_of(const lw_look *at, int place) {
    return (lw_look){.held = at->held ? at->held + place : NULL,
                     .outcomes = at->outcomes ? at->outcomes + place : NULL,
                     .distances = at->distances ? at->distances + place : NULL};
}

/* Each probe of a contact is a condition: whether it touches. */
static void look_at_contact(const lw_data *data, const lw_force *force, const lw_look *at) {
    lw_contact_body surface, shape;
    lw_contact_bodies(force, data, &surface, &shape);
    for (int k = 0; k < force->contact->probes; k++) {
        lw_touch touch;
        lw_contact_look(force->contact, &surface, &shape, k, &touch);
        /* At the instant itself rounding decides about the sign of the depth: its rate says which one
         * comes. */
        const double rounding =
            64 * DBL_EPSILON * (lw_v3_norm(surface.p) + lw_v3_norm(touch.c) + force->contact->probe_radius);
        const bool clear = fabs(touch.depth) > rounding, touches = clear ? touch.depth > 0 : touch.rate > 0;
        const double held = at->held ? at->held[k] : NAN, sign = held > 0.5 ? 1 : -1;
        if (at->outcomes) at->outcomes[k] = touches;
        if (!at->distances) continue;
        at->distances[k] = isnan(held)                       ? HUGE_VAL
                           : !clear && touches == (sign > 0) ? rounding
                                                             : sign * touch.depth;
    }
}

static void look_at_force(const lw_model *model, const lw_data *data, const lw_force *force, double t,
                          const double *values, const lw_look *at) {
    if (force->contact) {
        look_at_contact(data, force, at);
        return;
    }
    if (force->type != LW_FORCE_APPLIED) {
        double x[3];
        variables_of(model, data, force, t, x);
        (void)lw_function_look(force->type == LW_FORCE_DRIVE ? force->drive : force->law, x, values, 0, at);
        return;
    }
    lw_look part = *at;
    for (int c = 0; c < 6; c++) {
        const lw_function *f = force->components[c];
        if (!f) continue;
        (void)lw_function_look(f, &t, values, 0, &part);
        const int own = lw_function_conditions(f);
        if (part.held) part.held += own;
        if (part.outcomes) part.outcomes += own;
        if (part.distances) part.distances += own;
    }
}

/* A default does not count as long as the input has a value. */
static void mind_default(const lw_model *model, const lw_data *data, int entry, const lw_look *part) {
    if (entry >= model->values.input_count || isnan(data->inputs[entry])) return;
    for (int c = lw_function_conditions(model->values.functions[entry]) - 1; c >= 0; c--) {
        if (part->outcomes) part->outcomes[c] = NAN;
        if (part->distances) part->distances[c] = HUGE_VAL;
    }
}

void lw_conditions_look(const lw_model *model, lw_data *data, double t, const int *of_force,
                        const int *of_value, const lw_look *at) {
    const lw_value_order *order = &model->values.for_motion;
    const bool plain = lw_values_are_inputs(&model->values, order);
    const double *values = plain ? data->inputs : data->computed;
    if (!plain) lw_values_compute(model, data, t, NULL, order);
    for (int k = 0; k < model->force_count; k++) {
        if (of_force[k] < 0) continue;
        const lw_look part = part_of(at, of_force[k]);
        look_at_force(model, data, &model->forces[k], t, values, &part);
    }
    for (int entry = 0; entry < lw_conditions_named(model); entry++) {
        if (of_value[entry] < 0) continue;
        const lw_look part = part_of(at, of_value[entry]);
        (void)lw_function_look(model->values.functions[entry], &t, values, 0, &part);
        mind_default(model, data, entry, &part);
    }
}

/* --- of events ------------------------------------------------------------------------------------- */

/* Is it a signal, or the default of an input, that events depend on and the motion does not? */
static bool of_events_alone(const lw_model *model, int entry) {
    const lw_values *values = &model->values;
    const bool state = entry >= values->input_count && entry < values->input_count + values->state_count;
    return entry < lw_conditions_named(model) && !state && values->functions[entry] && !enters(values, entry);
}

int lw_event_conditions(const lw_model *model, int first, int *of_value, int *of_event) {
    const lw_value_order *order = &model->values.for_events;
    const bool late = order->needs & ~(unsigned)LW_NEEDS_KINEMATICS;
    int total = first;
    for (int k = 0; k < order->count && !late; k++) {
        const int entry = order->entries[k];
        if (!of_events_alone(model, entry)) continue;
        const int own = lw_function_conditions(model->values.functions[entry]);
        if (own) of_value[entry] = total;
        total += own;
    }
    for (int k = 0; k < model->event_count; k++) {
        const int own = late ? 0 : lw_function_conditions(model->events[k].when);
        of_event[k] = own ? total : -1;
        total += own;
    }
    return total;
}

void lw_event_conditions_look(const lw_model *model, lw_data *data, double t, int first, const int *of_value,
                              const int *of_event, const lw_look *at) {
    const lw_value_order *order = &model->values.for_events;
    const bool plain = lw_values_are_inputs(&model->values, order);
    const double *values = plain ? data->inputs : data->computed;
    if (!plain) lw_values_compute(model, data, t, &(lw_quantity_source){.t = t}, order);
    for (int k = 0; k < order->count; k++) {
        const int entry = order->entries[k];
        if (entry >= lw_conditions_named(model) || of_value[entry] < first) continue;
        const lw_look part = part_of(at, of_value[entry]);
        (void)lw_function_look(model->values.functions[entry], &t, values, LW_KINKS, &part);
        mind_default(model, data, entry, &part);
    }
    for (int k = 0; k < model->event_count; k++) {
        if (of_event[k] < 0) continue;
        const lw_look part = part_of(at, of_event[k]);
        (void)lw_function_look(model->events[k].when, &t, values, LW_KINKS, &part);
    }
}

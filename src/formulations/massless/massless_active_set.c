/* massless_active_set.c - the conditions and dampers that determine massless motions between two events.
 *
 * The state may decide whether a damper resists a massless motion: contacts, clutches, end stops, dead zones.
 * Conditions of position and time in laws, drives and applied forces make forces jump. In a run both are
 * kept from one event to the next:
 *
 *   outcomes   of the conditions in elements that act on motions which no constant damper resists, where the
 *              force jumps, and where that of a spring has a kink; forces continue smoothly where an outcome
 *              would change
 *   held       the directions that springs hold; these stay algebraic where a damper would engage
 *
 * An event occurs where an outcome, or the number of damped directions of a group, is no longer that of the
 * state. What is kept after the event depends on the state alone.
 *
 * Source   docs/theory/massless.md, 8.
 * Cost     an evaluation of conditions, and two factors of N'C N; no allocation but in create.
 */
#include "model/signals.h"
#include "formulations/massless/massless_active_set.h"
#include "model/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- creation ----------------------------------------------------------------------------------------- */

/* Is a force in a joint or of a spring a function of position and time alone? Then its kinks are held, too: a
 * spring that engages changes the speed of a position which springs alone hold at once, and differences taken
 * across the kink would mix the speeds on both sides of it. Where the force depends on the speed, a kink of
 * the law is where the slope of a damper begins, which the pivots show. */
static bool is_spring(const lw_force *force) {
    const lw_function *f = force->type == LW_FORCE_DRIVE ? force->drive : force->law;
    return f && !law_uses(f, force->type == LW_FORCE_DRIVE ? 2 : 1);
}

/* Conditions at which a force has a kink only have outcomes, too, which are held for springs. */
static int conditions_of(const lw_force *force) {
    int count = 0;
    bool jumps = is_spring(force) || acts_in_joint(force) || (force->law && lw_function_jumps(force->law)) ||
                 (force->drive && lw_function_jumps(force->drive));
    for (int k = 0; k < 6; k++) jumps |= force->components[k] && lw_function_jumps(force->components[k]);
    if (!jumps) return 0;
    if (force->law) count += lw_function_conditions(force->law);
    if (force->drive) count += lw_function_conditions(force->drive);
    for (int k = 0; k < 6; k++)
        if (force->components[k]) count += lw_function_conditions(force->components[k]);
    return count;
}

/* Tells whether the element acts on a motion that no constant damper resists. */
static bool reaches(const lw_null_shape *shape, const lw_force *force, const bool *wanting) {
    const bool in_joint = acts_in_joint(force);
    for (int k = 0; k < shape->count; k++) {
        if (!wanting[k]) continue;
        if (shape->dense || force->closure >= 0) return true;
        for (int e = shape->entry_start[k]; in_joint && e < shape->entry_start[k + 1]; e++)
            if (shape->speed[e] == force->v) return true;
        for (int m = shape->moved_start[k]; !in_joint && m < shape->moved_start[k + 1]; m++)
            if (shape->body[m] == force->bodies[0] || shape->body[m] == force->bodies[1]) return true;
    }
    return false;
}

bool lw_follow_create(const lw_null_shape *shape, const lw_null_kinds *kinds, const lw_dampers *dampers,
                      const lw_method_options *options, lw_arena *arena, lw_follow **follow) {
    const lw_model *model = shape->model;
    bool wanting = false;
    *follow = NULL;
    for (int k = 0; k < shape->count; k++) wanting |= kinds->wanting[k];
    if (!wanting) return true;
    lw_follow *f = LW_NEW(arena, lw_follow, 1);
    if (!f) return false;
    f->shape = shape, f->latent = kinds->latent;
    f->element = LW_NEW(arena, int, model->force_count + 1);
    f->held_of = LW_NEW(arena, int, model->force_count + 1);
    f->loose = LW_NEW(arena, bool, shape->count + 1);
    f->held = LW_NEW(arena, bool, shape->count + 1);
    f->once = LW_NEW(arena, bool, shape->count + 1);
    f->group = LW_NEW(arena, int, shape->count + 1);
    f->count = LW_NEW(arena, int, shape->count + 1);
    f->before = LW_NEW(arena, bool, shape->count + 1);
    f->q = LW_NEW(arena, double, model->nq + 1);
    if (lw_arena_failed(arena)) return false;
    lw_dampers_groups(dampers, f->group);
    int outcomes = 0;
    for (int k = 0; k < shape->count; k++) f->directions += kinds->latent[k];
    for (int k = 0; k < model->force_count; k++) {
        int own = conditions_of(&model->forces[k]);
        f->held_of[k] = -1;
        if (!own || !reaches(shape, &model->forces[k], kinds->wanting)) continue;
        f->held_of[k] = outcomes;
        f->element[f->elements++] = k;
        outcomes += own;
    }
    f->outcomes = LW_NEW(arena, double, outcomes + 1);
    f->room = LW_NEW(arena, double, 3 * outcomes + 1);
    f->turned = LW_NEW(arena, double, outcomes + 1);
    f->slack = LW_NEW(arena, double, outcomes + 1);
    if (!f->outcomes || !f->room || !f->turned || !f->slack) return false;
    f->outcome_count = outcomes;
    if (!f->elements && !f->directions) return true;
    if (lw_data_create(model, NULL, &f->data) != LW_OK) return false;
    lw_data_set_values(model, f->data, options->inputs, options->states);
    *follow = f;
    return true;
}

void lw_follow_destroy(lw_follow *follow) {
    if (follow) lw_data_destroy(follow->data);
}

/* --- conditions
 * -------------------------------------------------------------------------------------------- */

/* The variables of its law or drive at the state in data, the speed only of elements in joints: bit k of the
 * result is that one. */
static unsigned variables_of(const lw_model *model, const lw_data *data, const lw_force *force, double t,
                             double out[3]) {
    if (force->type == LW_FORCE_SPRING) {
        const lw_pose *first = &data->world[force->bodies[0]], *second = &data->world[force->bodies[1]];
        double a[3], b[3], line[3];
        lw_pose_point(first->R, first->p, force->frames[0].p, a);
        lw_pose_point(second->R, second->p, force->frames[1].p, b);
        lw_v3_sub(b, a, line);
        out[0] = lw_v3_norm(line) - force->free_length, out[1] = 0, out[2] = t;
        return 1u << 1;
    }
    double own[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], W[36], at[3];
    if (force->closure >= 0) lw_cut_joint(model, data, force->closure, own, v, W, at);
    const double *q = force->closure < 0 ? data->q : own;
    double x = force->q >= 0 ? q[force->q] : 0;
    const double speed = force->closure < 0 ? data->v[force->v] : v[force->v];
    if (force->type == LW_FORCE_DRIVE) {
        out[0] = t, out[1] = x, out[2] = speed;
        return 1u << 2;
    }
    out[0] = x - force->free_length, out[1] = speed, out[2] = t;
    return 1u << 1;
}

/* Returns how far the conditions of an element are from changing against the outcomes `held`, negative if one
 * has changed; NAN is no outcome. distances: room for one per condition. slack: what each is granted. */
static double room_of(const lw_model *model, const lw_data *data, const lw_force *force, double t,
                      const double *held, const double *slack, double *distances) {
    double x[3], least = HUGE_VAL;
    lw_look at = {.held = held, .distances = distances};
    int total = 0;
    if (force->type != LW_FORCE_APPLIED) {
        variables_of(model, data, force, t, x);
        const lw_function *f = force->type == LW_FORCE_DRIVE ? force->drive : force->law;
        if (!f) return HUGE_VAL;
        lw_function_look(f, x, data->values, 0, &at);
        total = lw_function_conditions(f);
    }
    for (int k = 0; k < 6 && force->type == LW_FORCE_APPLIED; k++) {
        const lw_function *f = force->components[k];
        if (!f) continue;
        lw_function_look(f, &t, data->values, 0, &at);
        const int own = lw_function_conditions(f);
        at.held += own, at.distances += own, total += own;
    }
    for (int c = 0; c < total; c++) least = fmin(least, distances[c] + (slack ? slack[c] : 0));
    return least;
}

/* Stores the present outcomes that are held: those at which the force jumps unless they depend on the speed,
 * and those of kinks of springs. A kink at a speed, as of max(0, k x + c v), is where a damper that only
 * pushes lets go. room: three times as many. */
static void take_outcomes(const lw_model *model, const lw_data *data, const lw_force *force, double t,
                          double *outcomes, double *room) {
    double x[3];
    lw_look at = {.outcomes = outcomes};
    if (force->type != LW_FORCE_APPLIED) {
        const unsigned speed = variables_of(model, data, force, t, x);
        const lw_function *f = force->type == LW_FORCE_DRIVE ? force->drive : force->law;
        if (!f) return;
        const int own = lw_function_conditions(f);
        lw_function_look(f, x, data->values, speed | (is_spring(force) ? 0 : LW_KINKS), &at);
        if (is_spring(force) || !acts_in_joint(force)) return;
        const unsigned without[] = {0, LW_KINKS, speed};
        for (int k = 0; k < 3; k++) {
            at.outcomes = room + (ptrdiff_t)k * own;
            lw_function_look(f, x, data->values, without[k], &at);
        }
        for (int c = 0; c < own; c++)
            if (isnan(room[own + c]) && isnan(room[2 * own + c])) outcomes[c] = room[c];
        return;
    }
    for (int k = 0; k < 6; k++) {
        const lw_function *f = force->components[k];
        if (!f) continue;
        lw_function_look(f, &t, data->values, LW_KINKS, &at);
        at.outcomes += lw_function_conditions(f);
    }
}

/* At an event, turned receives the outcomes with those changed that are passed at the state in the flow,
 * whose velocity belongs to the conditions of the stretch. Returns true if one of an element is among them
 * that has a kink at a speed, or if there is such an element and nothing is passed: the event is another's. A
 * damper that only pushes takes hold and lets go where its force is zero: to rounding there need be no speed
 * at which it pushes. */
static bool turn_outcomes(lw_follow *f, lw_flow *flow, double t) {
    const lw_model *model = f->shape->model;
    bool any = false, some = false, exists = false;
    for (int c = 0; c < f->outcome_count; c++) f->turned[c] = f->outcomes[c];
    for (int e = 0; e < f->elements; e++) {
        const lw_force *force = &model->forces[f->element[e]];
        const lw_function *function = force->type == LW_FORCE_DRIVE ? force->drive : force->law;
        if (!function) continue;
        const int from = f->held_of[f->element[e]], own = lw_function_conditions(function);
        double x[3], *now = f->room, *distance = f->room + own, *still = f->room + 2 * (ptrdiff_t)own;
        const unsigned speed = variables_of(model, flow->data, force, t, x);
        const lw_look at = {.held = f->outcomes + from, .outcomes = now, .distances = distance};
        lw_function_look(function, x, flow->data->values, 0, &at);
        const lw_look without = {.outcomes = still};
        lw_function_look(function, x, flow->data->values, speed, &without);
        bool pushes = false, passed = false;
        for (int c = 0; c < own; c++) {
            pushes |= isnan(still[c]) && !isnan(f->outcomes[from + c]) && !is_spring(force);
            if (isnan(f->outcomes[from + c]) || distance[c] > 0) continue;
            f->turned[from + c] = now[c], passed = true;
        }
        any |= pushes && passed;
        some |= passed, exists |= pushes;
    }
    return any || (exists && !some);
}

bool lw_follow_turn(lw_follow *f, lw_flow *flow, double t) {
    lw_signals(f->shape->model, flow->data, t);
    return turn_outcomes(f, flow, t);
}

void lw_follow_hold_turned(const lw_follow *f, lw_flow *flow) {
    flow->data->held_of = f->held_of, flow->data->held = f->turned;
}

bool lw_follow_confirms(lw_follow *f, const lw_flow *flow, double t) {
    const double rounding = 1e-6; /* m, m/s or N, or what else is compared */
    const lw_model *model = f->shape->model;
    for (int e = 0; e < f->elements; e++) {
        const int k = f->element[e], from = f->held_of[k];
        const int own = (e + 1 < f->elements ? f->held_of[f->element[e + 1]] : f->outcome_count) - from;
        if (!(room_of(model, flow->data, &model->forces[k], t, f->turned + from, NULL, f->room) > -rounding))
            return false;
        for (int c = 0; c < own; c++) f->slack[from + c] = 4 * fmax(0, -f->room[c]) + 1e-12;
    }
    return true;
}

void lw_follow_hold(const lw_follow *f, lw_flow *flow) {
    flow->data->held_of = f->held_of, flow->data->held = f->outcomes;
    lw_dampers_freeze(flow->dampers, f->held);
}
void lw_follow_release(lw_flow *flow) {
    flow->data->held_of = NULL, flow->data->held = NULL;
    lw_dampers_freeze(flow->dampers, NULL);
}

void lw_follow_begin(lw_follow *f, lw_flow *flow, double t, bool turned) {
    const lw_model *model = f->shape->model;
    const bool *held = lw_dampers_held(flow->dampers), *loose = flow->dampers->loose;
    lw_signals(model, flow->data, t);
    if (turned) memcpy(f->outcomes, f->turned, (size_t)f->outcome_count * sizeof *f->outcomes);
    if (!turned) memset(f->slack, 0, (size_t)f->outcome_count * sizeof *f->slack);
    for (int e = 0; e < f->elements && !turned; e++) {
        int k = f->element[e];
        take_outcomes(model, flow->data, &model->forces[k], t, f->outcomes + f->held_of[k], f->room);
    }
    for (int k = 0; k < f->shape->count; k++) f->loose[k] = loose[k], f->held[k] = held && held[k];
    f->begun = true;
}

/* --- roots -------------------------------------------------------------------------------------------- */

int lw_follow_root_count(const lw_follow *f) { return f->elements + (f->directions > 0); }

/* Factors N'C N at the state in the flow with all floors multiplied by a factor, a power of two. */
static void factor_with(lw_flow *flow, double t, double factor) {
    double *floor = flow->dampers->floor;
    for (int k = 0; k < flow->shape->count; k++) floor[k] *= factor;
    lw_dampers_factor(flow->dampers, flow->data, t);
    for (int k = 0; k < flow->shape->count; k++) floor[k] /= factor;
}

/* Returns the logarithmic distance of the pivots of latent directions from the values at which these change
 * between damped and held; negative if one is beyond. A direction stays damped down to half of its floor, and
 * held up to twice its floor, so that errors of a step cannot switch it back and forth. In a group that
 * chooses its pivots at each position only the number of damped directions counts. */
static double pivot_distance(lw_follow *f, lw_flow *flow, double t) {
    const double most = 5, apart = 2;
    const bool *within = flow->dampers->within, *loose = flow->dampers->loose;
    const double *pivot = flow->dampers->pivot, *floor = flow->dampers->floor;
    double least = most;
    for (int held = 0; held < 2; held++) { /* damped directions first, then held ones */
        double factor = held ? apart : 1 / apart;
        factor_with(flow, t, factor);
        memset(f->count, 0, (size_t)f->shape->count * sizeof *f->count);
        for (int k = 0; k < f->shape->count; k++) {
            if (!f->latent[k]) continue;
            if (within[k]) {
                f->count[f->group[k]] += loose[k] - f->loose[k];
                continue;
            }
            if (f->loose[k] != held) continue;
            double ratio = pivot[k] > 0 ? log(pivot[k] / (factor * floor[k])) : -most;
            ratio = fmax(fmin(held ? -ratio : ratio, most), -most);
            least = fmin(least, loose[k] == held ? fmax(ratio, 1e-300) : fmin(ratio, -1e-300));
        }
        for (int k = 0; k < f->shape->count; k++)
            if (held ? f->count[k] < 0 : f->count[k] > 0) least = fmin(least, -1);
    }
    return least;
}

void lw_follow_roots(lw_follow *f, lw_flow *flow, double t, double *values) {
    /* The distance is infinite if no condition of the element makes it jump, as with steps of positive width;
     * a value that is not finite would count as an event. */
    const double far = 1e300;
    const lw_model *model = f->shape->model;
    lw_signals(model, flow->data, t);
    for (int e = 0; e < f->elements; e++) {
        int k = f->element[e];
        double distance = room_of(model, flow->data, &model->forces[k], t, f->outcomes + f->held_of[k],
                                  f->slack + f->held_of[k], f->room);
        values[e] = distance < 0 ? distance : fmin(fmax(distance, 1e-300), far);
    }
    if (!f->directions) return;
    lw_dampers_freeze(flow->dampers, NULL);
    values[f->elements] = pivot_distance(f, flow, t);
    lw_dampers_freeze(flow->dampers, f->held);
}

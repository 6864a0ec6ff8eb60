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
    bool jumps = is_spring(force) || (force->law && lw_function_jumps(force->law)) ||
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
    if (!f->outcomes) return false;
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

/* The variables of its law or drive, but the speed, at the state in data: bit k of the result is that one. */
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
    if (force->type == LW_FORCE_DRIVE) {
        out[0] = t, out[1] = x, out[2] = 0;
        return 1u << 2;
    }
    out[0] = x - force->free_length, out[1] = 0, out[2] = t;
    return 1u << 1;
}

/* Returns how far the conditions of an element are from changing against the outcomes `held`, negative if one
 * has changed. With held NULL the present outcomes are stored in `outcomes`. */
static double look(const lw_model *model, const lw_data *data, const lw_force *force, double t,
                   const double *held, double *outcomes) {
    double x[3], least = HUGE_VAL;
    lw_look at = {.held = held, .outcomes = outcomes};
    if (force->type != LW_FORCE_APPLIED) {
        unsigned speed = variables_of(model, data, force, t, x);
        const lw_function *f = force->type == LW_FORCE_DRIVE ? force->drive : force->law;
        const unsigned without = speed | (is_spring(force) ? 0 : LW_KINKS);
        return f ? lw_function_look(f, x, data->values, without, &at) : HUGE_VAL;
    }
    for (int k = 0; k < 6; k++) {
        const lw_function *f = force->components[k];
        if (!f) continue;
        least = fmin(least, lw_function_look(f, &t, data->values, LW_KINKS, &at));
        int own = lw_function_conditions(f);
        if (held) at.held += own;
        if (outcomes) at.outcomes += own;
    }
    return least;
}

void lw_follow_hold(const lw_follow *f, lw_flow *flow) {
    flow->data->held_of = f->held_of, flow->data->held = f->outcomes;
    lw_dampers_freeze(flow->dampers, f->held);
}
void lw_follow_release(lw_flow *flow) {
    flow->data->held_of = NULL, flow->data->held = NULL;
    lw_dampers_freeze(flow->dampers, NULL);
}

void lw_follow_begin(lw_follow *f, lw_flow *flow, double t) {
    const lw_model *model = f->shape->model;
    const bool *held = lw_dampers_held(flow->dampers), *loose = flow->dampers->loose;
    lw_signals(model, flow->data, t);
    for (int e = 0; e < f->elements; e++) {
        int k = f->element[e];
        look(model, flow->data, &model->forces[k], t, NULL, f->outcomes + f->held_of[k]);
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
        double distance = look(model, flow->data, &model->forces[k], t, f->outcomes + f->held_of[k], NULL);
        values[e] = distance < 0 ? distance : fmin(fmax(distance, 1e-300), far);
    }
    if (!f->directions) return;
    lw_dampers_freeze(flow->dampers, NULL);
    values[f->elements] = pivot_distance(f, flow, t);
    lw_dampers_freeze(flow->dampers, f->held);
}

/* massless_velocity.c - the velocity along massless motions at which the forces balance.
 *
 *   v = w + N zeta    with    N'Q(q, v, t) = 0                                              (28b)
 *
 * The equation is solved by Newton's method with N'C N: one step if the dampers are linear, several steps
 * with a line search otherwise. The cost of nonlinear dampers is the evaluation of their laws and slopes,
 * which are saved in two ways: a state that follows another starts with the zeta of that state, and one step
 * is then enough unless a law is curved there; states next to a given one, for differences, use its slopes.
 *
 * Source   Arnold (2013), eqs 28b, 31; docs/theory/massless.md, 3 and 5.
 * Cost     O(n) per step, no allocation but in create.
 */
#include "formulations/massless/massless_velocity.h"
#include "formulations/massless/massless_dampers.h"
#include "formulations/massless/massless_loops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lw_flow_kept {
    double *w;     /* Per speed: the velocity that was given. */
    bool follows;  /* The states to come follow one another (lw_flow_follows). */
    double *guess; /* Per direction: zeta of the last of the states that follow one another. */
    bool guessed;  /* That zeta was found. */
    bool nearby;   /* The states to come are next to base (lw_flow_nearby). */
    struct { /* The state next to which others are evaluated: position, velocity, zeta, forces, power. */
        double *q, *v, *zeta, *tau, *load;
        lw_power power;
    } base;
    double *marked; /* Per direction: the pivots from which lw_flow_change measures. */
};

/* Speeds beyond this count as not found: their squares would come close to the largest double. */
static const double out_of_reach = 1e150;

static struct lw_flow_kept *kept_create(const lw_null_shape *shape, lw_arena *arena) {
    const lw_model *model = shape->model;
    struct lw_flow_kept *keep = LW_NEW(arena, struct lw_flow_kept, 1);
    if (!keep) return NULL;
    keep->w = LW_NEW(arena, double, model->nv + 1);
    keep->guess = LW_NEW(arena, double, shape->count + 1);
    keep->base.q = LW_NEW(arena, double, model->nq + 1);
    keep->base.v = LW_NEW(arena, double, model->nv + 1);
    keep->base.zeta = LW_NEW(arena, double, shape->count + 1);
    keep->base.tau = LW_NEW(arena, double, model->nv + 1);
    keep->base.load = LW_NEW(arena, double, 6 * ((size_t)model->body_count + 1));
    keep->marked = LW_NEW(arena, double, shape->count + 1);
    bool fine = !lw_arena_failed(arena);
    return fine ? keep : NULL;
}

lw_flow *lw_flow_create(const lw_null_shape *shape) {
    const lw_model *model = shape->model;
    lw_arena *arena = lw_arena_create(NULL);
    lw_flow *flow = LW_NEW(arena, lw_flow, 1);
    if (!flow) {
        if (arena) lw_arena_destroy(arena);
        return NULL;
    }
    flow->arena = arena;
    flow->model = model;
    flow->shape = shape;
    flow->null = lw_null_create(shape, arena);
    if (flow->null) flow->dampers = lw_dampers_create(flow->null, arena);
    flow->zeta = LW_NEW(arena, double, shape->count + 1);
    flow->gamma = LW_NEW(arena, double, shape->count + 1);
    flow->step = LW_NEW(arena, double, shape->count + 1);
    flow->weight = LW_NEW(arena, double, shape->count + 1);
    flow->held = LW_NEW(arena, double, model->nv + 1);
    flow->given = LW_NEW(arena, double, model->nv + 1);
    flow->apart = LW_NEW(arena, double, model->nv + 1);
    flow->twist = LW_NEW(arena, double, 6 * ((size_t)model->body_count + 1));
    bool fine = flow->null && flow->dampers && !lw_arena_failed(arena) &&
                (flow->kept = kept_create(shape, arena)) && lw_data_create(model, NULL, &flow->data) == LW_OK;
    if (fine) {
        size_t lines = (size_t)flow->dampers->line_count;
        flow->data->line_of = flow->dampers->line_of;
        fine = (flow->data->lines = LW_NEW(arena, double, LW_LINE *lines + 1)) != NULL;
    }
    if (fine && shape->dense) fine = (flow->loops = lw_loop_null_create(shape, arena)) != NULL;
    if (fine) return flow;
    lw_flow_destroy(flow);
    return NULL;
}

void lw_flow_destroy(lw_flow *flow) {
    if (!flow) return;
    lw_loop_null_destroy(flow->loops);
    lw_data_destroy(flow->data);
    lw_arena_destroy(flow->arena);
}

static void forces(lw_flow *flow, double t, const double *tau) {
    lw_forces(flow->model, flow->data, t, false);
    for (int k = 0; tau && k < flow->model->nv; k++) flow->data->tau[k] += tau[k];
}

/* Reports that direction k has no damper at its speed. Friction that saturates resists, but does not
 * determine a speed. */
static lw_status say_undamped(const lw_flow *flow, int k, lw_error *error) {
    const lw_model *model = flow->model;
    const int speed = flow->null->rep[k], element = lw_dampers_curved_element(flow->dampers, k);
    if (element < 0) return lw_undetermined_speed(model, speed, false, error);
    const lw_body *body = &model->bodies[lw_body_of_speed(model, speed)];
    char what[96];
    lw_describe_speed(model, speed, what, sizeof what);
    return lw_fail_at(
        error, LW_ERROR_SINGULAR, model->file, body->place, "body", body->name,
        "give that force a part that rises with the speed, however slowly, or the motion inertia",
        "has no mass, and nothing resists its %s (joint \"%s\") any more at the speed that it has "
        "now: force \"%s\" has become constant",
        what, model->joints[body->joint_index].name, model->forces[element].name);
}

/* Computes N'C N with its factor. If springs may hold directions, up to `loose` directions without a pivot
 * are no error. */
static lw_status factor(lw_flow *flow, double t, int loose, lw_error *error) {
    lw_dampers_factor(flow->dampers, flow->data, t);
    int lost = flow->dampers->missing, driven = flow->dampers->driven;
    if (lost < 0 || (flow->classifying && driven >= 0)) return LW_OK;
    if (driven >= 0) return lw_undetermined_speed(flow->model, flow->null->rep[driven], true, error);
    if (flow->sprung && flow->dampers->loose_count <= loose) return LW_OK;
    return say_undamped(flow, lost, error);
}

/* Computes the poses and twists of the bodies, and the directions. */
static lw_status find_directions(lw_flow *flow, lw_error *error) {
    if (flow->model->forces_need_world || flow->shape->dense) {
        lw_velocities(flow->model, flow->data);
        lw_world_poses(flow->model, flow->data);
    }
    lw_status status = LW_OK;
    if (flow->shape->dense)
        status = lw_loop_null_at(flow->loops, flow->null, flow->data, error);
    else
        lw_null_at(flow->null, flow->data);
    return status;
}

lw_status lw_flow_at(lw_flow *flow, double t, const double *tau, lw_error *error) {
    lw_status status = find_directions(flow, error);
    forces(flow, t, tau);
    if (status != LW_OK || !flow->shape->count) return status;
    lw_null_forces(flow->null, flow->data, flow->gamma);
    return factor(flow, t, flow->shape->count, error);
}

/* Adds N z, times a part, to the velocities, and evaluates the forces anew. */
static void advance(lw_flow *flow, const double *z, double part, double t, const double *tau) {
    lw_data *data = flow->data;
    double *scaled = flow->held; /* count <= nv */
    for (int k = 0; k < flow->shape->count; k++) scaled[k] = part * z[k], flow->zeta[k] += scaled[k];
    lw_null_times(flow->null, scaled, data->v);
    if (flow->model->forces_need_world) lw_null_move(flow->null, scaled, data);
    forces(flow, t, tau);
}

/* The same for a full step if all forces follow from those of the dampers: no element is evaluated again. */
static void advance_steady(lw_flow *flow) {
    lw_data *data = flow->data;
    lw_null_motion(flow->null, flow->step, flow->apart, flow->twist);
    for (int k = 0; k < flow->shape->count; k++) flow->zeta[k] = flow->step[k];
    for (int k = 0; k < flow->model->nv; k++) data->v[k] += flow->apart[k];
    lw_dampers_advance(flow->dampers, flow->apart, flow->twist, data);
    flow->apart_known = !flow->dampers->loose_count;
    if (!flow->apart_known && flow->model->forces_need_world) /* lw_springs_velocity needs the twists at v. */
        lw_null_move(flow->null, flow->zeta, data);
}

/* Returns the norm of the unbalanced forces in the metric of the dampers at the first velocity. */
static double imbalance(lw_flow *flow) {
    double sum = 0, *x = flow->held;
    memcpy(x, flow->gamma, (size_t)flow->shape->count * sizeof *x);
    lw_dampers_lower(flow->dampers, x);
    for (int k = 0; k < flow->shape->count; k++) sum += flow->weight[k] * x[k] * x[k];
    return sqrt(sum);
}
/* Sets this metric from the present factor, and returns the norm. */
static double first_imbalance(lw_flow *flow) {
    const double *pivot = flow->dampers->pivot;
    const bool *loose = flow->dampers->loose;
    for (int k = 0; k < flow->shape->count; k++)
        flow->weight[k] = loose[k] ? 0 : flow->shape->square[flow->null->rep[k]] / pivot[k];
    return imbalance(flow);
}

/* Returns the norm of the sizes of the forces that should balance. */
static double force_size(lw_flow *flow) {
    double sum = 0, *x = flow->held;
    lw_null_force_sizes(flow->null, flow->data, x);
    for (int k = 0; k < flow->shape->count; k++) sum += flow->weight[k] * x[k] * x[k];
    return sqrt(sum);
}

/* Returns LW_ERROR_SINGULAR with the message that no speed balances the forces on direction k. */
static lw_status not_found(const lw_flow *flow, int k, double t, lw_error *error) {
    const lw_model *model = flow->model;
    int speed = flow->null->rep[k];
    const lw_body *body = &model->bodies[lw_body_of_speed(model, speed)];
    const char *joint = model->joints[body->joint_index].name;
    char motion[96];
    lw_describe_speed(model, speed, motion, sizeof motion);
    if (!isfinite(flow->gamma[k]))
        return lw_fail_at(error, LW_ERROR_SINGULAR, model->file, body->place, "body", body->name,
                          "look at the forces and motions that act there: is one infinite or undefined?",
                          "forces along its %s (joint \"%s\"), which moves no mass, are not finite at t = %g",
                          motion, joint, t);
    return lw_fail_at(error, LW_ERROR_SINGULAR, model->file, body->place, "body", body->name,
                      "add inertia there, or a damper whose force rises with the speed",
                      "no speed of its %s (joint \"%s\"), which moves no mass, balances its forces at t = %g",
                      motion, joint, t);
}

/* Returns the direction that is farthest from balance. */
static int worst(const lw_flow *flow) {
    int bad = 0;
    double most = -1;
    for (int k = 0; k < flow->shape->count; k++) {
        double size = flow->weight[k] * flow->gamma[k] * flow->gamma[k];
        if (!isfinite(flow->gamma[k])) return k;
        if (size > most) most = size, bad = k;
    }
    return bad;
}

/* Tells whether the next step is negligible against the speeds. At rest a law such as v |v| leaves forces
 * that are as small as their slopes; elsewhere a damper is sensitive to the rounding of the velocities at its
 * ends. */
static bool negligible(const lw_flow *flow) {
    double most = 0;
    for (int k = 0; k < flow->shape->count; k++)
        most = fmax(most, fabs(flow->step[k]) / flow->shape->unit[flow->null->rep[k]]);
    return most < 1e-15 * lw_null_fastest(flow->shape, flow->data->v);
}

/* Tells whether a step has left no more than rounding and the dampers were as good as linear along it. Then
 * their slopes need not be evaluated again. */
static bool is_balanced(lw_flow *flow, double before, double most) {
    const double linear = 1e-3, rounding = 1e-15;
    double now = imbalance(flow);
    return now <= linear * before && now <= rounding * most;
}

/* Returns the work of the unbalanced forces along the step. */
static double work(const lw_flow *flow) {
    double sum = 0;
    for (int k = 0; k < flow->shape->count; k++) sum += flow->step[k] * flow->gamma[k];
    return sum;
}

/* Newton's method with a line search, from the first full step on. The forces of dampers have a potential in
 * the velocities, which is convex since N'C N is positive, and every step goes down in it. A step is too long
 * if the forces at its end oppose it by more than half of the force along it at its start. (The norm of the
 * unbalanced forces is no criterion: it may grow along such a step.) */
static lw_status iterate(lw_flow *flow, double t, const double *tau, double before, double push,
                         lw_error *error) {
    enum { ROUNDS = 200 };
    double part = 1, best = before;
    int stalled = 0, loose = flow->dampers->loose_count;
    /* The last failure of the factor, with its message in error; mostly due to saturated friction. */
    lw_status lost = LW_OK;
    for (int round = 0; round < ROUNDS; round++) {
        /* The sizes of the forces at this velocity; forces at w, or after too long a step, are no measure. */
        double most = force_size(flow);
        lw_null_forces(flow->null, flow->data, flow->gamma);
        if (is_balanced(flow, before, most)) return LW_OK;
        bool far = !(work(flow) >= -0.5 * push);
        lw_status status = factor(flow, t, loose, error);
        double now = status == LW_OK ? imbalance(flow) : HUGE_VAL;
        if ((far || status != LW_OK) && !(now <= 1e-13 * most)) { /* The step is halved. */
            if (status != LW_OK) lost = status;
            if (part < 1e-15) return stalled ? LW_OK : lost ? lost : not_found(flow, worst(flow), t, error);
            part *= 0.5;
            advance(flow, flow->step, -part, t, tau);
            continue;
        }
        /* At the end the norm fluctuates by rounding only. */
        stalled = now < 0.5 * best || now > 1e-9 * most ? 0 : stalled + 1;
        best = fmin(best, now);
        if (!(now > 1e-16 * most) || stalled > 1) return LW_OK;
        memcpy(flow->step, flow->gamma, (size_t)flow->shape->count * sizeof *flow->step);
        lw_dampers_solve(flow->dampers, flow->step);
        if (negligible(flow)) return LW_OK;
        before = now, part = 1, push = work(flow);
        advance(flow, flow->step, 1, t, tau);
    }
    return lost ? lost : not_found(flow, worst(flow), t, error);
}

/* Starts with the representing speeds of all directions at rest, from ground outwards: at other speeds
 * friction may be saturated, and its slope vanishes. */
static lw_status from_rest(lw_flow *flow, double t, const double *tau, lw_error *error) {
    for (int k = flow->shape->count - 1; k >= 0; k--) {
        flow->zeta[k] = -flow->data->v[flow->null->rep[k]];
        lw_null_add(flow->null, k, flow->zeta[k], flow->data->v);
    }
    return lw_flow_at(flow, t, tau, error);
}

/* Finds the balance, starting from the velocities, forces and factor that belong to the present zeta. */
static lw_status balance(lw_flow *flow, double t, const double *tau, lw_error *error) {
    const int count = flow->shape->count;
    bool linear = flow->dampers->linear;
    double before = linear ? 0 : first_imbalance(flow);
    memcpy(flow->step, flow->gamma, (size_t)count * sizeof *flow->step);
    lw_dampers_solve(flow->dampers, flow->step);
    bool none = !linear && negligible(flow);
    double push = linear ? 0 : work(flow);
    if (flow->dampers->steady && !flow->model->idle_count)
        advance_steady(flow);
    else
        advance(flow, flow->step, 1, t, tau);
    for (int k = 0; k < count; k++)
        if (!(fabs(flow->zeta[k]) < out_of_reach)) return not_found(flow, k, t, error);
    if (linear || none) return LW_OK;
    flow->dampers->follow = flow->dampers; /* All rounds use one basis. */
    lw_status status = iterate(flow, t, tau, before, push, error);
    flow->dampers->follow = NULL;
    return status;
}

/* Finds the balance, starting from v = w. */
static lw_status begin(lw_flow *flow, double t, const double *tau, lw_error *error) {
    lw_status status = lw_flow_at(flow, t, tau, error);
    if (!flow->shape->count) return status;
    memset(flow->zeta, 0, (size_t)flow->shape->count * sizeof *flow->zeta);
    if (!flow->dampers->linear && flow->dampers->missing >= 0) status = from_rest(flow, t, tau, error);
    return status == LW_OK ? balance(flow, t, tau, error) : status;
}

/* --- successive states -------------------------------------------------------------------------------- */

void lw_flow_follows(lw_flow *flow, bool on) { flow->kept->follows = on; }

/* Computes the directions, and the velocities for the given zeta. */
static lw_status look_with(lw_flow *flow, const double *zeta, lw_error *error) {
    lw_status status = find_directions(flow, error);
    memcpy(flow->zeta, zeta, (size_t)flow->shape->count * sizeof *flow->zeta);
    lw_null_times(flow->null, zeta, flow->data->v);
    if (flow->model->forces_need_world) lw_null_move(flow->null, zeta, flow->data);
    return status;
}

/* Finds the balance, starting from the zeta of the state before. Returns false if this fails. */
static bool go_on(lw_flow *flow, double t, const double *tau) {
    if (look_with(flow, flow->kept->guess, NULL) != LW_OK) return false;
    forces(flow, t, tau);
    lw_null_forces(flow->null, flow->data, flow->gamma);
    return factor(flow, t, 0, NULL) == LW_OK && flow->dampers->missing < 0 &&
           balance(flow, t, tau, NULL) == LW_OK;
}

/* --- states nearby ------------------------------------------------------------------------------------ */

/* Tells whether the mechanism is a tree all of whose massless motions are damped, and some damper is not
 * linear. Linear dampers gain next to nothing by the data that are kept, and lose digits with sizes from
 * 1e-300 to 1e300. */
static bool is_plain(const lw_flow *flow) {
    return flow->shape->count && !flow->shape->dense && !flow->dampers->linear &&
           !flow->dampers->loose_count && !flow->model->idle_count;
}

void lw_flow_nearby(lw_flow *flow, bool on) {
    const lw_model *model = flow->model;
    const lw_data *data = flow->data;
    struct lw_flow_kept *keep = flow->kept;
    keep->nearby = on && is_plain(flow);
    flow->null->follow = keep->nearby ? flow->null : NULL; /* All these states use one basis. */
    if (!keep->nearby) return;
    memcpy(keep->base.q, data->q, (size_t)model->nq * sizeof *data->q);
    memcpy(keep->base.v, data->v, (size_t)model->nv * sizeof *data->v);
    memcpy(keep->base.zeta, flow->zeta, (size_t)flow->shape->count * sizeof *flow->zeta);
    memcpy(keep->base.tau, data->tau, (size_t)model->nv * sizeof *data->tau);
    memcpy(keep->base.load, data->load, 6 * ((size_t)model->body_count + 1) * sizeof *data->load);
    keep->base.power = data->power;
}

/* Tells whether the state differs from the base by a massless change of w only, or not at all. If so, v and
 * all forces are set to those of the base. */
static bool is_base(lw_flow *flow) {
    const struct lw_flow_kept *keep = flow->kept;
    const size_t speeds = (size_t)flow->model->nv * sizeof(double);
    const int *rep = flow->null->rep;
    lw_data *data = flow->data;
    double *z = flow->step, *v = flow->held;
    if (memcmp(data->q, keep->base.q, (size_t)flow->model->nq * sizeof *data->q) != 0) return false;
    for (int k = 0; k < flow->shape->count; k++) z[k] = keep->base.v[rep[k]] - data->v[rep[k]];
    memcpy(v, data->v, speeds);
    lw_null_times(flow->null, z, v);
    for (int k = 0; k < flow->model->nv; k++)
        if (!(fabs(v[k] - keep->base.v[k]) <= 1e-15 * fabs(keep->base.v[k]))) return false;
    for (int k = 0; k < flow->shape->count; k++) flow->zeta[k] += z[k];
    memcpy(data->v, keep->base.v, speeds);
    memcpy(data->tau, keep->base.tau, speeds);
    memcpy(data->load, keep->base.load, 6 * ((size_t)flow->model->body_count + 1) * sizeof *data->load);
    data->power = keep->base.power;
    return true;
}

/* Makes one step from the base by its factor. Returns false if the step is too long for a difference. */
static bool step_nearby(lw_flow *flow, double t, const double *tau) {
    const double far = 1e-3; /* rad/s, or typical lengths per second */
    const int count = flow->shape->count;
    if (look_with(flow, flow->kept->base.zeta, NULL) != LW_OK) return false;
    if (is_base(flow)) return true;
    forces(flow, t, tau);
    lw_null_forces(flow->null, flow->data, flow->gamma);
    memcpy(flow->step, flow->gamma, (size_t)count * sizeof *flow->step);
    lw_dampers_solve(flow->dampers, flow->step);
    for (int k = 0; k < count; k++)
        if (!(fabs(flow->step[k]) < far * flow->shape->unit[flow->null->rep[k]])) return false;
    advance(flow, flow->step, 1, t, tau);
    return true;
}

/* --- changes ------------------------------------------------------------------------------------------ */

double lw_flow_change(lw_flow *flow, bool mark) {
    const double *pivot = flow->dampers->pivot;
    double *marked = flow->kept->marked, most = 1;
    if (!is_plain(flow)) most = HUGE_VAL;
    for (int k = 0; k < flow->shape->count; k++) {
        double ratio = pivot[k] / marked[k];
        most = fmax(most, ratio > 0 ? fmax(ratio, 1 / ratio) : HUGE_VAL);
    }
    if (mark) memcpy(marked, pivot, (size_t)flow->shape->count * sizeof *pivot);
    return most;
}

/* --- the velocity ------------------------------------------------------------------------------------- */

lw_status lw_flow_velocity(lw_flow *flow, double t, const double *tau, lw_error *error) {
    const size_t speeds = (size_t)flow->model->nv * sizeof(double);
    const int count = flow->shape->count;
    struct lw_flow_kept *keep = flow->kept;
    double *v = flow->data->v;
    flow->apart_known = false;
    bool follows = keep->follows && count && !flow->dampers->linear;
    memcpy(keep->w, v, speeds);
    if (keep->nearby && step_nearby(flow, t, tau)) return LW_OK;
    memcpy(v, keep->w, speeds);
    if (!follows || !keep->guessed || !go_on(flow, t, tau)) {
        memcpy(v, keep->w, speeds);
        lw_status status = begin(flow, t, tau, error);
        if (follows) keep->guessed = status == LW_OK;
        if (status != LW_OK) return status;
    }
    if (follows) memcpy(keep->guess, flow->zeta, (size_t)count * sizeof *keep->guess);
    return LW_OK;
}

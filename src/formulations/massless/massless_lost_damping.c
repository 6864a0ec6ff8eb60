/* massless_lost_damping.c - massless motions whose damper is lost at the position of the state.
 *
 * There are two cases. The damper may stand across a motion that it resists next to this position,
 * c x^2 dx/dt = force: away from balance the motion passes the position in no time. Or the damper has no
 * effect in a whole region, as with an open contact, a clutch or a dead zone: there springs hold the motion,
 * as if there were no damper at all. In a region the pivot vanishes altogether at some position close by;
 * next to a single position it does not.
 *
 * Source   docs/theory/massless.md, 4 and 8.
 * Cost     a few evaluations for each such direction; no allocation.
 */
#include "formulations/massless/massless_springs.h"

#include <math.h>
#include <string.h>

/* --- regions ------------------------------------------------------------------------------------------ */

bool lw_pivot_vanishes(lw_flow *probe, int k, double t, const double *tau, const double *q, const double *v,
                       const double *u) {
    /* Distances as angles, or as parts of the typical length. They are no round numbers, since positions
     * often are. */
    static const double away[] = {0, 1.37e-6, 1.37e-4, 1.37e-3, 1.37e-2};
    static const double nothing = 1e-6; /* a part of the floor of the pivot */
    const lw_model *model = probe->model;
    for (int n = 0; n < 10; n++) {
        lw_take_state(model, probe->data, t, q, v);
        lw_integrate_q(model, probe->data->q, u, n % 2 ? -away[n / 2] : away[n / 2]);
        if (lw_flow_at(probe, t, tau, NULL) == LW_OK &&
            fabs(probe->dampers->pivot[k]) <= nothing * probe->dampers->floor[k])
            return true;
    }
    return false;
}

/* The same at the position of the flow, along direction k without its parts that dampers resist. */
static bool vanishes_around(lw_springs *s, int k, double t, const double *tau) {
    lw_flow *flow = s->flow;
    memset(s->z, 0, (size_t)flow->shape->count * sizeof *s->z);
    s->z[k] = flow->shape->unit[flow->null->rep[k]];
    lw_dampers_upper(flow->dampers, s->z);
    memset(s->u, 0, (size_t)flow->model->nv * sizeof *s->u);
    lw_null_times(flow->null, s->z, s->u);
    s->probe->null->follow = flow->null;
    s->probe->dampers->follow = NULL;
    return lw_pivot_vanishes(s->probe, k, t, tau, flow->data->q, flow->data->v, s->u);
}

void lw_springs_find_regions(lw_springs *s, double t, const double *tau) {
    lw_dampers *dampers = s->flow->dampers;
    if (dampers->frozen || dampers->missing < 0) return;
    const bool *latent = dampers->latent, *loose = dampers->loose, *skipped = dampers->skipped;
    bool any = false;
    for (int k = 0; k < s->flow->shape->count; k++) {
        s->region[k] = latent[k] && loose[k] && !skipped[k] && vanishes_around(s, k, t, tau);
        any |= s->region[k];
    }
    if (any) lw_dampers_hold(dampers, s->region);
}

/* Finds the velocity from w while springs hold the given directions. */
static bool velocity_held(lw_springs *s, double t, const double *tau, const double *w, const bool *held) {
    lw_flow *flow = s->flow;
    memcpy(flow->data->v, w, (size_t)flow->model->nv * sizeof *w);
    lw_dampers_freeze(flow->dampers, held);
    bool fine =
        lw_flow_velocity(flow, t, tau, NULL) == LW_OK && lw_springs_velocity(s, t, tau, NULL) == LW_OK;
    lw_dampers_freeze(flow->dampers, NULL);
    return fine;
}

/* Called if no velocity balances the forces from the given w: dampers that can only push may have let go.
 * Finds the directions that have lost them, and the velocity while springs hold these directions. Returns
 * false if there is no such velocity. */
static bool let_go(lw_springs *s, double t, const double *tau, const double *w) {
    lw_flow *flow = s->flow;
    const int n = flow->shape->count;
    const bool *latent = flow->dampers->latent, *loose = flow->dampers->loose;
    bool any = false, all = true;
    for (int k = 0; k < n; k++) any |= s->region[k] = latent[k];
    if (flow->dampers->frozen || !any || !velocity_held(s, t, tau, w, s->region)) return false;
    lw_dampers_factor(flow->dampers, flow->data,
                      t); /* finds the directions without a damper at this velocity */
    for (int k = 0; k < n; k++) all &= loose[k] || !latent[k], s->region[k] = latent[k] && loose[k];
    if (!all && !velocity_held(s, t, tau, w, s->region)) return false;
    lw_dampers_hold(flow->dampers, s->region);
    return true;
}

/* Reports that a law resists some speeds only and that no speed balances the forces. If no such law acts,
 * status and error keep the earlier message that nothing resists or that no speed is found. */
static lw_status say_let_go(lw_springs *s, double t, const double *tau, lw_status status, lw_error *error) {
    lw_flow *flow = s->flow;
    const lw_model *model = flow->model;
    const bool *latent = flow->dampers->latent;
    double most = -1;
    int worst = -1;
    memcpy(flow->data->v, flow->given, (size_t)model->nv * sizeof *flow->given);
    lw_flow_at(flow, t, tau, NULL); /* evaluates the forces at the given speeds */
    for (int k = 0; k < flow->shape->count; k++) {
        double size = fabs(flow->gamma[k]) * flow->shape->unit[flow->null->rep[k]];
        if (latent[k] && isfinite(size) && size > most) most = size, worst = k;
    }
    if (worst < 0) return status;
    const int speed = flow->null->rep[worst], element = lw_dampers_latent_element(flow->dampers, worst);
    const lw_body *body = &model->bodies[lw_body_of_speed(model, speed)];
    char motion[96];
    lw_describe_speed(model, speed, motion, sizeof motion);
    return lw_fail_at(
        error, LW_ERROR_SINGULAR, model->file, body->place, "body", body->name,
        "let that law depend on position or time where it lets go, not on the speed, or give the "
        "motion inertia or another damper",
        "force \"%s\" resists its %s (joint \"%s\"), which moves no mass, at some speeds only, "
        "and at t = %g no speed balances the forces on it, which leave %.4g %s at the given one",
        model->forces[element].name, motion, model->joints[body->joint_index].name, t,
        fabs(flow->gamma[worst]), strncmp(motion, "rotation", 8) == 0 ? "N m" : "N");
}

lw_status lw_springs_consistent(lw_flow *flow, lw_springs *springs, double t, const double *tau,
                                lw_error *error) {
    if (springs && flow->dampers->still)
        memcpy(flow->given, flow->data->v, (size_t)flow->model->nv * sizeof *flow->given);
    lw_status status = lw_flow_velocity(flow, t, tau, error);
    bool found = status == LW_OK;
    if (found && springs) status = lw_springs_velocity(springs, t, tau, error);
    if (status == LW_ERROR_SINGULAR && !found && springs && flow->dampers->still)
        status = let_go(springs, t, tau, flow->given) ? LW_OK : say_let_go(springs, t, tau, status, error);
    /* The loads of idle spins are added last, since they are no part of the balance of massless motions
     * (docs/theory/idle.md, 4). */
    lw_idle_loads(flow->model, flow->data);
    return status;
}

/* Tells whether fewer directions than `loose` are without a damper after a part of the step u. The caller has
 * doubled the floors, at which a held direction becomes damped (massless_active_set.c). */
static bool engaged(lw_springs *s, double t, const double *tau, const double *q, const double *v,
                    const double *u, double part, int loose) {
    const lw_model *model = s->flow->model;
    memcpy(s->q, q, (size_t)model->nq * sizeof *s->q);
    lw_integrate_q(model, s->q, u, part);
    lw_take_state(model, s->probe->data, t, s->q, v);
    return lw_flow_at(s->probe, t, tau, NULL) == LW_OK && s->probe->dampers->loose_count < loose;
}

double lw_springs_engages(lw_springs *s, double t, const double *tau, const double *q, const double *v,
                          const double *u) {
    enum { PARTS = 16, HALVINGS = 45 };
    int loose = s->flow->dampers->loose_count, n = 1;
    if (s->flow->dampers->frozen || !lw_dampers_held(s->flow->dampers)) return 1;
    s->probe->null->follow = NULL;
    s->probe->dampers->follow = NULL;
    double *floor = s->probe->dampers->floor, low = 1, high = 1;
    for (int k = 0; k < s->flow->shape->count; k++) floor[k] *= 2;
    while (n <= PARTS && !engaged(s, t, tau, q, v, u, (double)n / PARTS, loose)) n++;
    if (n <= PARTS) low = (double)(n - 1) / PARTS, high = (double)n / PARTS;
    for (int k = 0; k < HALVINGS && low < high; k++) {
        double part = (low + high) / 2;
        *(engaged(s, t, tau, q, v, u, part, loose) ? &high : &low) = part;
    }
    for (int k = 0; k < s->flow->shape->count; k++) floor[k] /= 2;
    return high;
}

/* --- a damper that stands across ---------------------------------------------------------------------- */

/* Tells whether the damper of algebraic direction k stands across it at this position and resists it
 * elsewhere. */
static bool is_lost(const lw_springs *s, int k) {
    const bool *held = lw_dampers_held(s->flow->dampers);
    int d = s->direction[k];
    return !s->flow->dampers->skipped[d] && !(held && held[d]);
}

/* Tells whether such a direction is away from balance, too. Then its speed is infinite, c x^2 dx/dt = force,
 * but for an instant only, x^3 ~ t, so the motion does not go to the balance of the springs. Must follow
 * solve, which leaves -g in g. */
static bool passes(const lw_springs *s, int k) {
    if (!is_lost(s, k)) return false;
    if (!s->lost[k]) return fabs(s->solution[k]) > springs_near;
    double effort = s->noise[s->group[s->direction[k]]] * springs_root3 / springs_roundings;
    return fabs(s->g[k]) > springs_near * effort;
}
bool lw_springs_pass_some(const lw_springs *s) {
    for (int k = 0; k < s->count; k++)
        if (passes(s, k)) return true;
    return false;
}

int lw_springs_slack(const lw_springs *s) {
    for (int k = 0; k < s->count; k++)
        if (s->lost[k] && !passes(s, k)) return s->direction[k];
    return -1;
}

/* Returns false if nothing resists the motion in an extended region. */
bool lw_springs_step_aside(lw_springs *s, double t, const double *tau, double *q, const double *v,
                           const double *motion) {
    static const double least = 1e-6, most = 1e-2;
    lw_flow *flow = s->flow;
    const lw_model *model = flow->model;
    double size = 0;
    for (int k = 0; k < s->count; k++) {
        s->step[k] = is_lost(s, k) ? motion[k] : 0;
        size = fmax(size, fabs(s->step[k]));
    }
    if (!(size > 0) || !isfinite(size)) return false;
    memset(s->u, 0, (size_t)model->nv * sizeof *s->u);
    lw_springs_spread(s, -1, s->step);
    lw_null_times(flow->null, s->z, s->u);
    for (double by = least; by < most; by *= 2) {
        memcpy(s->q, q, (size_t)model->nq * sizeof *s->q);
        lw_integrate_q(model, s->q, s->u, by / size);
        lw_violation left;
        if (s->loops) lw_project_positions(s->loops, t, s->q, 40, &left, NULL);
        lw_take_state(model, flow->data, t, s->q, v);
        if (lw_flow_at(flow, t, tau, NULL) != LW_OK || flow->dampers->missing >= 0) continue;
        memcpy(q, s->q, (size_t)model->nq * sizeof *q);
        return true;
    }
    return false;
}

void lw_springs_take_passing(lw_springs *s) {
    const double *floor = s->flow->dampers->floor, *diagonal = s->flow->dampers->diagonal;
    for (int k = 0; k < s->count; k++) {
        int d = s->direction[k];
        double pivot = fmax(floor[d], 1e-10 * diagonal[d]);
        s->down[k] = pivot > 0 && passes(s, k) ? -s->g[k] / pivot : HUGE_VAL;
    }
}

bool lw_springs_pass(lw_springs *s, double t, const double *tau, double *q, const double *v) {
    for (int k = 0; k < s->count; k++) s->down[k] = -s->g[k];
    return lw_springs_step_aside(s, t, tau, q, v, s->down);
}

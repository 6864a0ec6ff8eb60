/* massless_events.c - events of the method `massless`: a damper engages or lets go, or a force jumps.
 *
 * Between two events massless_active_set.c keeps what determines each massless motion. At an event, positions
 * that springs alone hold move to their balance at once, while bodies with mass stay. The work of the forces
 * on this path less the change of potential energy is booked as dissipation: with a small mass it would be
 * the energy of a vibration, the faster the smaller the mass.
 *
 * Source   docs/theory/massless.md, 8.
 * Cost     roots: an evaluation and two factors of N'C N; cross: some ten evaluations. No allocation.
 */
#include "formulations/massless/massless_method.h"

#include <math.h>
#include <string.h>

int lw_massless_root_count(lw_method *base) {
    const massless_method *m = (massless_method *)base;
    return m->follow ? lw_follow_root_count(m->follow) : 0;
}

lw_status lw_massless_roots(lw_method *base, double t, const double *y, double *values, lw_error *error) {
    massless_method *m = (massless_method *)base;
    lw_take_state(base->model, m->flow->data, t, y, y + base->model->nq);
    lw_status status = lw_springs_consistent(m->flow, m->springs, t, NULL, error);
    if (status == LW_OK) lw_follow_roots(m->follow, m->flow, t, values);
    return status;
}

/* Reports the motions that have changed from damped to held by springs or back, each of them once. */
static void tell_switches(massless_method *m, double t, const bool *before) {
    const lw_model *model = m->shape->model;
    lw_follow *follow = m->follow;
    for (int k = 0; k < m->shape->count; k++) {
        if (!follow->latent[k] || before[k] == follow->loose[k] || follow->once[k]) continue;
        const lw_body *body = &model->bodies[lw_body_of_speed(model, m->kinds.speed[k])];
        char motion[96];
        lw_describe_speed(model, m->kinds.speed[k], motion, sizeof motion);
        follow->once[k] = true;
        lw_note(
            &m->loop_base.options, t, "switch",
            follow->loose[k]
                ? "no damper resists the %s of body \"%s\", which has no mass, from here on: springs hold it"
                : "a damper resists the %s of body \"%s\", which has no mass, from here on, and "
                  "determines its speed",
            motion, body->name);
    }
}

static void tell_jump(const massless_method *m, double t, const double *from, const double *to, double lost) {
    const lw_model *model = m->shape->model;
    double most = 0;
    int joint = 0;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = model->links[i].q; k < model->links[i].q + model->links[i].joint.nq; k++)
            if (fabs(to[k] - from[k]) > most) most = fabs(to[k] - from[k]), joint = i;
    if (most > 1e-6 * fmin(1, m->shape->length))
        lw_note(&m->loop_base.options, t, "jump",
                "positions held by springs alone jump, as a force on them does, the most at joint \"%s\": by "
                "%.6g; "
                "%.6g J go into vibration that a small mass would keep, and are booked as dissipation",
                model->joints[model->bodies[joint].joint_index].name, most, lost);
}

/* Does the event, on the branches of the stretch that ends, turn a damper that only pushes? Of several
 * elements at one place rounding lets some seem to have passed, and others not. So the state is looked at a
 * little later. */
static bool has_turned(massless_method *m, double t, const double *y) {
    const double later = 1e-9; /* rad, or parts of the typical length */
    const lw_model *model = m->shape->model;
    lw_data *data = m->flow->data;
    lw_take_state(model, data, t, y, y + model->nq);
    if (lw_springs_consistent(m->flow, m->springs, t, NULL, NULL) != LW_OK) return false;
    const double fastest = lw_null_fastest(m->shape, data->v), dt = fastest > 0 ? later / fastest : 0;
    if (!isfinite(fastest)) return false;
    memcpy(m->q, y, (size_t)model->nq * sizeof *m->q);
    memcpy(m->v, data->v, (size_t)model->nv * sizeof *m->v);
    lw_integrate_q(model, m->q, m->v, dt);
    lw_take_state(model, data, t + dt, m->q, m->v);
    return lw_springs_consistent(m->flow, m->springs, t + dt, NULL, NULL) == LW_OK &&
           lw_follow_turn(m->follow, m->flow, t + dt);
}

/* Settles on the branches behind the event. Returns false if the speeds found there belong to others. */
static bool settle_turned(massless_method *m, double t, const double *y, lw_power *done) {
    lw_flow *const flows[] = {m->flow, m->ahead, m->probe};
    for (int f = 0; f < 3; f++) lw_follow_hold_turned(m->follow, flows[f]);
    return lw_massless_settle(m, true, t, y, m->rate, done, NULL) == LW_OK &&
           lw_follow_confirms(m->follow, m->flow, t);
}

/* Positions go downhill to their balance, as a small mass with little damping would before heavy bodies have
 * moved. */
lw_status lw_massless_cross(lw_method *base, double t, double *y, lw_power *work, lw_error *error) {
    massless_method *m = (massless_method *)base;
    const lw_model *model = base->model;
    lw_follow *follow = m->follow;
    lw_flow *const flows[] = {m->flow, m->ahead, m->probe};
    lw_data *data = m->flow->data;
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    bool start = !follow->begun;
    lw_energy before = {0}, after;
    lw_power done = {0};
    const bool turned = !start && has_turned(m, t, y);
    for (int f = 0; f < 3; f++) lw_follow_release(flows[f]);
    /* m->rate becomes the velocity of the state, not w, whose massless part is arbitrary. */
    lw_massless_from_state(base, t, y, follow->q, m->rate);
    memcpy(follow->before, follow->loose, (size_t)m->shape->count * sizeof *follow->before);
    before = lw_energy_of(model, follow->data, t, follow->q, m->rate);
    const bool settled = turned && settle_turned(m, t, y, &done);
    if (!settled) {
        for (int f = 0; f < 3; f++) lw_follow_release(flows[f]);
        lw_status status = lw_massless_settle(m, true, t, y, m->rate, &done, error);
        if (status != LW_OK) return status;
    }
    lw_follow_begin(follow, m->flow, t, settled);
    for (int f = 0; f < 3; f++) lw_follow_hold(follow, flows[f]);
    memcpy(follow->q, y, nq * sizeof *y);
    memcpy(y, data->q, nq * sizeof *y);
    if (m->shape->dense || lw_null_fastest(m->shape, data->v) < 1e3 * lw_null_fastest(m->shape, y + nq))
        memcpy(y + nq, data->v, nv * sizeof *y);
    if (start || !work) return LW_OK;
    after = lw_energy_of(model, follow->data, t, data->q, data->v);
    done.dissipation =
        done.drives + done.forces - (after.kinetic + after.potential - before.kinetic - before.potential);
    *work = done;
    tell_switches(m, t, follow->before);
    tell_jump(m, t, follow->q, y, done.dissipation);
    return LW_OK;
}

void lw_massless_release(lw_method *base, double t) {
    massless_method *m = (massless_method *)base;
    lw_flow *const flows[] = {m->flow, m->ahead, m->probe};
    for (int f = 0; f < 3; f++) lw_follow_release(flows[f]);
    m->follow->begun = false;
    lw_note(&m->loop_base.options, t, "switch",
            "forces switch to and fro without end: from here on they are followed as they come, without "
            "looking for "
            "the instants at which they switch");
}

/* simulation_impact.c - an impact: an impulse along a joint's coordinate that reverses its speed.
 *
 * Let u = r'v be the speed of the coordinate, r a row of numbers, e the factor of restitution. An impulse P
 * on the coordinate changes the speeds by dv with
 *
 *     M dv = r P + J'L,   J dv = 0,   r'(v + dv) = -e r'v,                                               (8)
 *
 * M the mass matrix, J the rows of closures, constraints and prescribed motions, L their impulses. The
 * equations of motion M a = f + r p + J'l, J a = c are linear in a force p on the coordinate, so that the
 * change of the accelerations by p, for one p, is dv for the impulse P = p: the method itself solves (8),
 * with loops, redundant rows and prescribed motions. By the work-energy theorem kinetic energy changes by
 *
 *     T+ - T- = P (u+ + u-)/2 + L'w,                                                                     (9)
 *
 * w the speeds that motions prescribe, which no impulse changes, and L here the impulses of their drives: the
 * change of the joints' wrenches along these speeds by p. An answer that does not satisfy this is refused.
 * The energy that is lost, -P (u+ + u-)/2, is booked as dissipation, L'w as work of the drives.
 *
 * In the tree r is a unit row; at a joint that closes a loop it follows from the velocities of both bodies.
 *
 * Source   docs/theory/events.md.
 * Cost     three evaluations of accelerations, two more with reactions where drives move; at a cut joint nv
 *          evaluations of velocities more.
 */
#include "formulations/common/method_create.h"
#include "simulation/simulation_parts.h"

#include <math.h>
#include <string.h>

/* The row of the coordinate's speed in the state that has been taken; its value is the result. */
static double speed_row(lw_simulation *s, const lw_model_event *event, double *row) {
    const lw_model *model = s->model;
    lw_data *data = s->data;
    memset(row, 0, (size_t)model->nv * sizeof *row);
    if (event->closure < 0) {
        row[event->speed] = 1;
        return data->v[event->speed];
    }
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], W[36], at[3];
    lw_cut_joint(model, data, event->closure, q, v, W, at);
    const double speed = v[event->speed];
    /* Velocities are linear: the joint's speed for one speed of the tree at a time. */
    for (int k = 0; k < model->nv; k++) {
        memset(data->v, 0, (size_t)model->nv * sizeof *data->v);
        data->v[k] = 1;
        lw_velocities(model, data);
        lw_cut_joint(model, data, event->closure, q, v, W, at);
        row[k] = v[event->speed];
    }
    return speed;
}

static double dot(int n, const double *a, const double *b) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

static double largest(int n, const double *a) {
    double most = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(a[k]));
    return most;
}

/* Accelerations with a force p on the coordinate. */
static lw_status respond(lw_simulation *s, const double *row, double p, double *tau, double *vdot,
                         double *reactions, lw_error *error) {
    const double t = lw_simulation_seen(s, s->t), *outer = lw_simulation_tau(s, t, s->q, s->v);
    for (int k = 0; k < s->model->nv; k++) tau[k] = (outer ? outer[k] : 0) + p * row[k];
    return lw_method_accelerations(s->method, t, s->q, s->v, tau, vdot, reactions, NULL, error);
}

/* Do motions prescribe speeds that are not zero in the state of data? */
static bool drives_move(const lw_model *model, const lw_data *data) {
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        for (int k = 0; k < info->v_count && !info->cut; k++)
            if (info->prescribed >> k & 1 && data->v[info->v + k] != 0) return true;
    }
    return false;
}

/* L'w of (9) for an impulse of one: by the joints' wrenches with a force p along the row and without. Of this
 * force, what acts on prescribed speeds themselves is no drive's. */
static lw_status drives_work(lw_simulation *s, const double *row, double p, double *tau, double *vdot,
                             double *work, lw_error *error) {
    const lw_model *model = s->model;
    const size_t count = 6 * (size_t)model->joint_count;
    double *with = s->impulse + 4 * model->nv, *without = with + count;
    lw_status status = respond(s, row, 0, tau, vdot, without, error);
    if (status == LW_OK) status = respond(s, row, p, tau, vdot, with, error);
    if (status != LW_OK) return status;
    for (size_t k = 0; k < count; k++) with[k] = (with[k] - without[k]) / p;
    lw_take_state(model, s->data, lw_simulation_seen(s, s->t), s->q, s->v);
    lw_velocities(model, s->data);
    lw_world_poses(model, s->data);
    *work = lw_prescribed_wrench_power(model, s->data, with);
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        for (int k = 0; k < info->v_count && !info->cut; k++)
            if (info->prescribed >> k & 1) *work -= row[info->v + k] * s->data->v[info->v + k];
    }
    return LW_OK;
}

static lw_status refuse(const lw_simulation *s, const lw_model_event *event, const char *reason,
                        lw_error *error) {
    return lw_fail_at(
        error, LW_ERROR_UNSUPPORTED, s->model->file, event->place, "event", event->name,
        "give what moves with the joint a mass, or model the stop by a stiff spring with damping",
        "the impact at t = %.9g along joint \"%s\" has no answer by method %s: %s", s->t,
        s->model->joints[event->joint].name, s->plan.formulation->name, reason);
}

lw_status lw_simulation_impact(lw_simulation *s, const lw_model_event *event, double factor,
                               lw_impact *impact, bool held, lw_error *error) {
    const lw_formulation *f = s->plan.formulation;
    const int n = s->model->nv, books = lw_simulation_books(s);
    double *row = s->impulse, *tau = row + n, *still = tau + n, *moved = still + n;
    lw_simulation_take(s, s->t, s->y, true);
    const double before = speed_row(s, event, row);
    impact->leaves = held && before * impact->approach <= 0 && before != 0;
    if (impact->leaves) return LW_OK;
    impact->approach = before;
    if (before == 0) return LW_OK;
    if (!(factor >= 0 && factor <= 1))
        return lw_fail_at(error, LW_ERROR_INTEGRATION, s->model->file, event->place, "event", event->name,
                          "give 0 (no rebound) to 1 (no loss)", "its factor is %g at t = %.9g", factor, s->t);
    lw_status status = respond(s, row, 0, tau, still, NULL, error);
    double p = 1;
    /* A force that changes accelerations as much as they are leaves the difference most of its digits. */
    for (int round = 0; round < 2 && status == LW_OK; round++) {
        status = respond(s, row, p, tau, moved, NULL, error);
        for (int k = 0; k < n; k++) moved[k] = (moved[k] - still[k]) / p;
        const double much = largest(n, still) / largest(n, moved);
        if (isfinite(much) && much > 0) p = fmax(p, much);
    }
    if (status != LW_OK) return status;
    double driven = 0;
    if (drives_move(s->model, s->data)) status = drives_work(s, row, p, tau, still, &driven, error);
    if (status != LW_OK) return status;
    const double yields = dot(n, row, moved), after = -factor * before;
    if (!(yields > 0) || !isfinite(yields)) return refuse(s, event, "an impulse there moves no mass", error);
    const double impulse = (after - before) / yields;
    const double seen = lw_simulation_seen(s, s->t);
    const lw_energy had = lw_simulation_energy(s); /* This computes q and v. */
    for (int k = 0; k < n; k++) s->v[k] -= impulse * moved[k];
    f->to_state(s->method, seen, s->q, s->v, s->y);
    const double opposite = lw_simulation_energy(s).kinetic;
    for (int k = 0; k < n; k++) s->v[k] += 2 * impulse * moved[k];
    f->to_state(s->method, seen, s->q, s->v, s->y);
    const lw_energy has = lw_simulation_energy(s);
    /* dv'M dv is P r'dv whatever v is; the work is P (u+ + u-)/2 as far as v itself satisfies the loops. */
    const double drives = impulse * driven, gained = has.kinetic - had.kinetic;
    const double work = 0.5 * impulse * (after + before) + drives;
    const double change = 0.5 * (has.kinetic + opposite) - had.kinetic;
    const double size = fabs(work) + fabs(drives) + fabs(impulse * before) + 1e-3 * had.kinetic;
    const double exact = fmax(1e-9, 10 * f->accuracy) * size, loops = fmax(1e-6, 10 * f->accuracy) * size;
    if (!(fabs(change - 0.5 * impulse * (after - before)) <= exact) || !(fabs(gained - work) <= loops))
        return refuse(s, event, "the change of kinetic energy is not the work of the impulse", error);
    s->y[books] += drives;
    s->y[books + 2] -= gained - drives;
    return LW_OK;
}

/* massless.c - the formulation `massless`: bodies without mass or inertia, joint coordinates.
 *
 *   state        (q, w): the velocity is v = w + N zeta, so w is correct up to massless motions
 *   derivative   qdot follows from v; wdot follows from the articulated-body recursion with generalised
 *                inverses (17), which leaves out the speeds that represent massless directions: their wdot is
 *                zero
 *   residual     the same equations, (25) and (26), by a Newton-Euler recursion without articulated inertias
 *
 * A consistent v is its own w. With closed loops w is v itself, whose massless part is differentiated along
 * the motion and brought back into balance after each step.
 *
 * Source   Arnold (2013), eqs 11-32; docs/theory/massless.md. The recursions are in massless_recursion.c.
 * Cost     trees O(n) per call; closed loops O(n^3). No allocation.
 * Limits   Dampers or springs must determine all massless motions; lw_null_classify names those that are not
 *          determined.
 */
#include "formulations/massless/massless_method.h"
#include "formulations/common/loop_method_base.h"
#include "formulations/massless/massless_velocity.h"
#include "formulations/massless/massless_active_set.h"
#include "formulations/massless/massless_loops.h"
#include "formulations/massless/massless_motion.h"
#include "constraints/projection.h"
#include "formulations/common/absolute_method_base.h"
#include "formulations/common/tree_method_base.h"
#include "model/joint.h"

#include <stdio.h>
#include <stdlib.h>

/* The rate, 1/s, at which the residual draws positions that springs alone hold back into balance, since its
 * states are not projected. */
static const double pull = 10;
/* The rate, 1/s, at which the residual of closed loops draws massless speeds back into balance, since their
 * rates are found by differences. If the law of a damper is curved within a difference, as friction is near
 * rest, the error of the rate would turn with N into speeds that have mass. The term vanishes in balance. */
static const double draw = 1e4;

/* --- rates of massless motions ------------------------------------------------------------------------ */

/* rate = 12 h times the derivative of N zeta along the motion from the present state, at which w = v, by
 * differences with the given weights of the states at -2 h .. 2 h. */
static lw_status difference_velocities(massless_method *m, double t, const double *tau, double h,
                                       const double weight[5], const double *vdot, lw_error *error) {
    const lw_model *model = m->shape->model;
    const int nv = model->nv;
    lw_data *data = m->flow->data, *moved = m->ahead->data;
    memset(m->rate, 0, (size_t)nv * sizeof *m->rate);
    for (int side = -2; side <= 2; side++) {
        if (weight[side + 2] == 0) continue;
        memcpy(m->q, data->q, (size_t)model->nq * sizeof *m->q);
        lw_integrate_q(model, m->q, data->v, side * h);
        for (int k = 0; k < nv; k++) m->w[k] = data->v[k] + side * h * vdot[k];
        lw_take_state(model, moved, t + side * h, m->q, m->w);
        memcpy(m->w, moved->v, (size_t)nv * sizeof *m->w); /* with the prescribed speeds */
        lw_status status = lw_springs_consistent(m->ahead, m->springs_ahead, t + side * h, tau, error);
        if (status != LW_OK) return status;
        for (int k = 0; k < nv; k++) m->rate[k] += weight[side + 2] * (moved->v[k] - m->w[k]);
    }
    return LW_OK;
}

/* vdot += d/dt (N zeta), by central differences of fourth order. If no velocity exists on one side, as before
 * a damper has engaged, one-sided differences of second order are taken on the other side. */
static lw_status add_rates(massless_method *m, double t, const double *tau, double *vdot, lw_error *error) {
    enum { SCHEMES = 3 };
    static const double weight[SCHEMES][5] = {{1, -8, 0, 8, -1}, {0, 0, 0, 24, -6}, {6, -24, 0, 0, 0}};
    /* The curvature of laws requires shorter steps than that of N. */
    const double h = (m->flow->dampers->linear ? 1e-4 : 1e-5) / lw_null_fastest(m->shape, m->flow->data->v);
    lw_status status = LW_OK;
    for (int scheme = 0; scheme < SCHEMES; scheme++) {
        lw_status own = difference_velocities(m, t, tau, h, weight[scheme], vdot, scheme ? NULL : error);
        if (!scheme) status = own;
        if (own != LW_OK) continue;
        for (int k = 0; k < m->shape->model->nv; k++) vdot[k] += m->rate[k] / (12 * h);
        return LW_OK;
    }
    return status;
}

/* The remedy for forces that are undefined or of absurd size, which lead to results that are not finite. */
static const char look_at_forces[] =
    "look at the forces and motions that act there: is one undefined or of absurd size?";
/* Reports a number among x, per speed, that is not finite. */
static lw_status finite_speeds(const lw_model *model, const double *x, double t, lw_error *error) {
    int k = 0;
    while (k < model->nv && isfinite(x[k])) k++;
    if (k == model->nv) return LW_OK;
    const lw_joint_entry *joint = &model->joints[model->bodies[lw_body_of_speed(model, k)].joint_index];
    return lw_fail_at(error, LW_ERROR_SINGULAR, model->file, joint->place, "joint", joint->name,
                      look_at_forces, "carries forces that are not finite at t = %g", t);
}

/* --- closed loops ------------------------------------------------------------------------------------- */

/* Computes the residuals of the rows if only prescribed speeds accelerate. */
static void row_defects(massless_method *m, double *out) {
    const lw_model *model = m->shape->model;
    lw_data *data = m->flow->data;
    const recursion r = recursion_of(model, data);
    velocities(&r);
    hang_ground(&r);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        double x[6];
        carry(&r, i, x);
        for (int k = 0; k < link->joint.nv; k++)
            if (link->prescribed >> k & 1) lw_v6_axpy(data->vdot[link->v + k], r.S + 6 * (link->v + k), x);
        memcpy(r.nodes[i].a, x, sizeof x);
    }
    lw_loop_method_row_defects(&m->loop_base, out);
}

/* Refuses accelerations that consist of rounding. The check of balance cannot detect them where a motion that
 * moves next to no mass determines the forces on the others. */
static lw_status check_certain(const massless_method *m, double t, lw_error *error) {
    const double most = 1e-6;
    const lw_model *model = m->shape->model;
    int speed;
    double uncertainty = lw_loop_uncertainty(m->system, &speed);
    if (uncertainty <= most) return LW_OK;
    const lw_joint_entry *joint = &model->joints[model->bodies[lw_body_of_speed(model, speed)].joint_index];
    return lw_fail_at(
        error, LW_ERROR_SINGULAR, model->file, joint->place, "joint", joint->name,
        "take method lagrange, or a position farther from the singular one",
        "the mechanism is next to a singular position at t = %g, where method massless finds its "
        "accelerations only with a relative error of %.2g",
        t, uncertainty);
}

static lw_status solve_loops(lw_loop_method *loop_base, double t, const double *tau, lw_error *error) {
    massless_method *m = (massless_method *)loop_base;
    lw_data *data = m->flow->data;
    lw_status status = lw_springs_consistent(m->flow, m->springs, t, tau, error);
    if (status == LW_OK && m->springs && !loop_base->integrating && !m->any_position)
        status = lw_springs_check_balance(m->springs, t, tau, error);
    if (status != LW_OK) return status;
    lw_loop_method_rows(loop_base);
    lw_loop_method_stabilise(loop_base);
    row_defects(m, loop_base->defect);
    lw_loop_equations equations = {
        data, t, tau, m->flow->null->rep, NULL, loop_base->defect, loop_base->lambda};
    status = lw_loop_solve(m->system, &equations, error);
    if (status == LW_OK) status = finite_speeds(m->shape->model, data->vdot, t, error);
    if (status == LW_OK && !loop_base->integrating) status = check_certain(m, t, error);
    if (status != LW_OK || !m->shape->count) return status;
    memcpy(m->wdot, data->vdot, (size_t)m->shape->model->nv * sizeof *m->wdot);
    status = add_rates(m, t, tau, m->wdot, error);
    equations.given = m->wdot;
    if (status == LW_OK) status = lw_loop_solve(m->system, &equations, error);
    return status == LW_OK ? finite_speeds(m->shape->model, data->vdot, t, error) : status;
}

/* A step that leaves springs out of balance by more than this, in rad or typical lengths, has met a jump. */
static const double jump = 0.01;

/* --- the method --------------------------------------------------------------------------------------- */

/* Finds the massless directions and their kinds. Returns LW_ERROR_UNSUPPORTED if one is undetermined. */
static lw_status look_at(const lw_model *model, lw_null_shape **out, lw_null_kinds *kinds, lw_error *error) {
    lw_null_shape *shape = lw_null_shape_create(model);
    *out = shape;
    if (!shape) return lw_out_of_memory(error);
    lw_status status = LW_OK;
    enum { LIMIT = 400 }; /* So many speeds take a second or two to examine. */
    if (shape->dense && model->nv > LIMIT)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "take a recursive or a sparse method",
                       "method massless treats closed loops by dense matrices, with at most %d speeds; this "
                       "model has %d",
                       LIMIT, model->nv);
    if (shape->dense) status = lw_loops_structure(shape, NULL, error);
    if (status == LW_OK) status = lw_null_classify(shape, kinds, shape->arena, error);
    if (status != LW_OK || kinds->undetermined < 0) return status;
    lw_undetermined_speed(model, kinds->speed[kinds->undetermined], kinds->driven[kinds->undetermined],
                          error);
    if (error) error->status = LW_ERROR_UNSUPPORTED;
    return LW_ERROR_UNSUPPORTED;
}

static void destroy(lw_method *base) {
    massless_method *m = (massless_method *)base;
    if (!m) return;
    m->loop_base.data = NULL; /* The flow owns the data. */
    lw_loop_system_destroy(m->system);
    lw_projection_destroy(m->projection);
    lw_follow_destroy(m->follow);
    lw_flow_destroy(m->flow), lw_flow_destroy(m->ahead), lw_flow_destroy(m->probe);
    lw_null_shape_destroy(m->shape);
    lw_loop_method_destroy(base);
}

static lw_flow *flow_of(const massless_method *m) {
    lw_flow *flow = lw_flow_create(m->shape);
    if (!flow) return NULL;
    lw_data_set_values(m->shape->model, flow->data, m->loop_base.options.inputs, m->loop_base.options.states);
    for (int k = 0; k < m->shape->count; k++) {
        flow->dampers->skipped[k] = m->kinds.kind[k] == LW_DIRECTION_ALGEBRAIC && !m->kinds.latent[k];
        flow->dampers->floor[k] = m->kinds.floor[k];
    }
    if (!m->kinds.algebraic || lw_dampers_mix(flow->dampers, flow->arena)) return flow;
    lw_flow_destroy(flow);
    return NULL;
}

/* A force that depends on the state through quantities may depend on any direction without mass, and the
 * structure of springs and dampers, on which the method rests, does not show that. */
static lw_status refuse_quantities(const lw_model *model, lw_error *error) {
    return lw_fail_at(error, LW_ERROR_UNSUPPORTED, model->file, (lw_place){0, 0}, "force",
                      model->forces[model->values.element_of_quantities].name,
                      "let it depend on x, v, q of its own element and on t, inputs or states; a state that "
                      "follows the quantity, lag: {rate: (pin.q - lag)/T, start: 0}, may stand for it",
                      "it depends on quantities of the state, and with bodies without mass forces are "
                      "sorted by what they depend on");
}

/* Contacts, too, depend on place and speed together. */
static lw_status refuse_contacts(const lw_model *model, lw_error *error) {
    for (int k = 0; k < model->force_count; k++)
        if (model->forces[k].contact)
            return lw_fail_at(error, LW_ERROR_UNSUPPORTED, model->file, (lw_place){0, 0}, "force",
                              model->forces[k].name, "give the bodies without mass a small one",
                              "it is a contact, and with bodies without mass forces are sorted by whether "
                              "they depend on places or on speeds");
    return LW_OK;
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    massless_method *m = (massless_method *)lw_loop_method_create(sizeof *m, &lw_formulation_massless, model,
                                                                  options, solve_loops);
    if (!m) return lw_out_of_memory(error);
    lw_arena *arena = m->loop_base.arena;
    lw_data_destroy(m->loop_base.data);
    m->loop_base.data = NULL;
    lw_status status = look_at(model, &m->shape, &m->kinds, error);
    if (status != LW_OK) {
        destroy(&m->loop_base.base);
        return status;
    }
    const lw_null_shape *shape = m->shape;
    if (shape->count && model->values.element_of_quantities >= 0) {
        destroy(&m->loop_base.base);
        return refuse_quantities(model, error);
    }
    if (shape->count && (status = refuse_contacts(model, error)) != LW_OK) {
        destroy(&m->loop_base.base);
        return status;
    }
    bool *candidate = LW_NEW(arena, bool, shape->count + 1), any = false;
    size_t nv = (size_t)model->nv + 1;
    m->flow = flow_of(m);
    if (shape->count) m->ahead = flow_of(m);
    m->floor = LW_NEW(arena, double, nv);
    m->least = LW_NEW(arena, double, nv);
    m->direction = LW_NEW(arena, int, model->body_count + 1);
    m->taken = LW_NEW(arena, unsigned, shape->kinetic_count + 1);
    m->q = LW_NEW(arena, double, model->nq + 1);
    m->v = LW_NEW(arena, double, nv);
    m->w = LW_NEW(arena, double, nv + (size_t)model->nq);
    m->wdot = LW_NEW(arena, double, nv);
    m->rate = LW_NEW(arena, double, nv);
    m->tau = LW_NEW(arena, double, nv);
    bool fine = candidate && m->flow && (!shape->count || m->ahead) && !lw_arena_failed(arena);
    for (int k = 0; k < shape->count && fine; k++)
        any |= candidate[k] = shape->count <= LW_LOOSE_LIMIT || m->kinds.kind[k] == LW_DIRECTION_ALGEBRAIC;
    if (any) {
        m->probe = flow_of(m);
        fine = m->probe && (m->springs = lw_springs_create(m->flow, m->probe, candidate, arena)) &&
               (m->springs_ahead = lw_springs_create(m->ahead, m->probe, candidate, arena));
    }
    if (any && fine) m->flow->sprung = m->ahead->sprung = m->probe->sprung = true;
    if (fine && shape->dense)
        fine = (m->projection = lw_projection_create(model, LW_HOLD_NONE)) &&
               (m->system = lw_loop_system_create(m->flow->loops, arena));
    if (fine && shape->dense) lw_projection_set_values(m->projection, options->inputs, options->states);
    if (any && fine && shape->dense) lw_springs_loops(m->springs, m->projection);
    if (any && fine) fine = lw_follow_create(shape, &m->kinds, m->flow->dampers, options, arena, &m->follow);
    if (!fine) {
        destroy(&m->loop_base.base);
        return lw_out_of_memory(error);
    }
    m->loop_base.data = m->flow->data;
    for (int k = shape->count - 1; k >= 0; k--) m->direction[shape->rep_body[k]] = k;
    for (int k = 0; k < shape->kinetic_count; k++) m->taken[k] = ~0u;
    lw_massless_find_floors(m);
    *out = &m->loop_base.base;
    return LW_OK;
}

static lw_status applies(const lw_model *model, lw_error *error) {
    lw_method *method = NULL;
    const lw_method_options options = {0};
    lw_status status = lw_needs_no_rotors(model, error);
    if (status == LW_OK) status = create(model, &options, &method, error);
    if (status != LW_OK) return status;
    massless_method *m = (massless_method *)method;
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    double *vdot = calloc(2 * (nv + nq) + 1, sizeof *vdot), *q = vdot + nv, *y = q + nq;
    lw_violation left;
    if (vdot) memcpy(q, model->q0, (size_t)model->nq * sizeof *q);
    if (vdot && m->projection) lw_project_positions(m->projection, 0, q, 40, &left, NULL);
    m->any_position = true; /* A run reports that there is no balance. */
    if (vdot) lw_formulation_massless.to_state(method, 0, q, model->v0, y);
    status = vdot ? lw_formulation_massless.accelerations(method, 0, y, y + nq, NULL, vdot, NULL, NULL, error)
                  : lw_out_of_memory(error);
    free(vdot);
    destroy(method);
    if (status == LW_ERROR_SINGULAR && error) error->status = LW_ERROR_UNSUPPORTED;
    return status == LW_ERROR_SINGULAR ? LW_ERROR_UNSUPPORTED : status;
}

lw_status lw_massless_settle(massless_method *m, bool start, double t, const double *q, const double *v,
                             lw_power *work, lw_error *error) {
    const lw_model *model = m->shape->model;
    lw_data *data = m->flow->data;
    lw_status status = LW_OK;
    double moved;
    lw_power own = {0};
    memcpy(m->q, q, (size_t)model->nq * sizeof *m->q);
    memcpy(m->v, v, (size_t)model->nv * sizeof *m->v);
    if (m->springs && start && lw_springs_descend(m->springs, t, NULL, m->q, m->v, &own) != LW_OK) {
        memcpy(m->q, q, (size_t)model->nq * sizeof *m->q);
        own = (lw_power){0};
    }
    if (work) *work = own;
    if (m->springs) status = lw_springs_settle(m->springs, t, NULL, m->q, m->v, &moved, error);
    lw_take_state(model, data, t, m->q, m->v);
    return status == LW_OK ? lw_springs_consistent(m->flow, m->springs, t, NULL, error) : status;
}

/* Reports initial values that massless bodies cannot have and that have been changed. */
static void tell_changes(const massless_method *m, double t, const double *q, const double *v,
                         const double *y) {
    const lw_model *model = m->shape->model;
    double q_change = 0, v_change = 0;
    int q_joint = 0, v_joint = 0;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        for (int k = link->q; k < link->q + link->joint.nq; k++)
            if (fabs(y[k] - q[k]) > q_change) q_change = fabs(y[k] - q[k]), q_joint = i;
        for (int k = link->v; k < link->v + link->joint.nv; k++)
            if (!(link->prescribed >> (k - link->v) & 1) && fabs(y[model->nq + k] - v[k]) > v_change)
                v_change = fabs(y[model->nq + k] - v[k]), v_joint = i;
    }
    if (q_joint && m->springs && q_change > 1e-9)
        lw_note(&m->loop_base.options, t, "start",
                "positions held by springs alone moved into balance, the most at joint \"%s\": by %.6g",
                model->joints[model->bodies[q_joint].joint_index].name, q_change);
    if (v_joint && m->shape->count && v_change > 1e-9)
        lw_note(&m->loop_base.options, t, "start",
                "speeds that move no mass follow from the balance of forces; the most changes joint \"%s\": "
                "by %.6g",
                model->joints[model->bodies[v_joint].joint_index].name, v_change);
}

/* If this fails, the derivative at the state reports the reason. If a damper stands nearly across a motion,
 * its speed is almost infinite for a moment. A tree then starts with w as given, so that the large speed does
 * not cost digits of the momenta. */
static void to_state(lw_method *base, double t, const double *q, const double *v, double *y) {
    massless_method *m = (massless_method *)base;
    const lw_model *model = base->model;
    memcpy(y, q, (size_t)model->nq * sizeof *y);
    memcpy(y + model->nq, v, (size_t)model->nv * sizeof *y);
    if (!m->shape->count || lw_massless_settle(m, true, t, q, v, NULL, NULL) != LW_OK) return;
    memcpy(y, m->flow->data->q, (size_t)model->nq * sizeof *y);
    memcpy(y + model->nq, m->flow->data->v, (size_t)model->nv * sizeof *y);
    tell_changes(m, t, q, v, y);
    if (!m->shape->dense &&
        lw_null_fastest(m->shape, m->flow->data->v) > 1e3 * lw_null_fastest(m->shape, m->v))
        memcpy(y + model->nq, m->v, (size_t)model->nv * sizeof *y);
}

void lw_massless_from_state(lw_method *base, double t, const double *y, double *q, double *v) {
    massless_method *m = (massless_method *)base;
    const lw_model *model = base->model;
    lw_data *data = m->flow->data;
    lw_take_state(model, data, t, y, y + model->nq); /* sets prescribed entries exactly */
    memcpy(v, data->v, (size_t)model->nv * sizeof *v);
    memcpy(q, data->q, (size_t)model->nq * sizeof *q);
    lw_normalise_q(model, q);
    if (m->shape->count && lw_springs_consistent(m->flow, m->springs, t, NULL, NULL) == LW_OK)
        memcpy(v, data->v, (size_t)model->nv * sizeof *v);
}

/* A velocity that is not consistent is replaced by the consistent one. */
static lw_status accelerations(lw_method *base, double t, const double *q, const double *v, const double *tau,
                               double *vdot, double *reactions, bool *unique, lw_error *error) {
    massless_method *m = (massless_method *)base;
    const lw_model *model = base->model;
    lw_data *data = m->flow->data;
    if (m->shape->dense)
        return lw_loop_method_accelerations(base, t, q, v, tau, vdot, reactions, unique, error);
    lw_take_state(model, data, t, q, v);
    lw_status status = lw_springs_consistent(m->flow, m->springs, t, tau, error);
    if (status == LW_OK && m->springs && !m->any_position)
        status = lw_springs_check_balance(m->springs, t, tau, error);
    if (status == LW_OK) status = lw_massless_accelerate(m, true, error);
    if (status == LW_OK) {
        memcpy(vdot, data->vdot, (size_t)model->nv * sizeof *vdot);
        if (m->shape->count) status = add_rates(m, t, tau, vdot, error);
    }
    if (status != LW_OK) return status;
    if (m->shape->count) lw_massless_accelerate_by_rates(m, vdot);
    memcpy(m->v, data->v, (size_t)model->nv * sizeof *m->v);
    if (reactions) lw_open_reactions(model, data, t, q, m->v, vdot, reactions);
    if (unique)
        for (int k = 0; k < 6 * model->joint_count; k++) unique[k] = true;
    return LW_OK;
}

static const double *speeds(const lw_method *base) {
    const massless_method *m = (const massless_method *)base;
    return m->shape->dense ? m->loop_base.v : m->v;
}

static lw_status derivative(lw_method *base, double t, const double *y, double *ydot, lw_power *power,
                            lw_error *error) {
    massless_method *m = (massless_method *)base;
    const lw_model *model = base->model;
    lw_data *data = m->flow->data;
    if (m->shape->dense) return lw_loop_method_derivative(base, t, y, ydot, power, error);
    lw_take_state(model, data, t, y, y + model->nq);
    lw_flow_follows(m->flow, true);
    const double *tau = lw_outer_tau(&m->loop_base.options, model, t, data->q, data->v);
    lw_status status = lw_springs_consistent(m->flow, m->springs, t, tau, error);
    lw_flow_follows(m->flow, false);
    if (status == LW_OK) status = lw_massless_accelerate(m, false, error);
    if (status != LW_OK) return status;
    lw_q_rate_stable(model, data->q, data->v, ydot);
    memcpy(ydot + model->nq, data->vdot, (size_t)model->nv * sizeof *ydot);
    *power = data->power;
    power->drives += lw_prescribed_power(model, data, data->drive);
    return LW_OK;
}

static lw_status must_be_finite(const lw_model *model, const lw_power *power, const double *rows, double t,
                                lw_error *error) {
    lw_status status = finite_speeds(model, rows + model->nq, t, error);
    if (status != LW_OK) return status;
    bool fine = isfinite(power->drives) && isfinite(power->forces) && isfinite(power->dissipation);
    for (int k = 0; k < model->nq; k++) fine &= isfinite(rows[k]) != 0;
    return fine ? LW_OK
                : lw_fail(error, LW_ERROR_SINGULAR, NULL, look_at_forces,
                          "speeds or powers of bodies without mass are too large to compute with at t = %g",
                          t);
}

/* The residual of closed loops: ydot less the derivative, which draws positions and velocities back to those
 * at which loops are closed and springs balance. */
static lw_status residual_loops(massless_method *m, double t, const double *y, const double *ydot,
                                double *out, lw_power *power, lw_error *error) {
    const lw_model *model = m->shape->model;
    lw_data *data = m->flow->data;
    int nq = model->nq;
    lw_status status = lw_loop_method_derivative(&m->loop_base.base, t, y, out, power, error);
    if (status != LW_OK) return status;
    lw_loop_method_velocity_defect(&m->loop_base);
    lw_loop_close(m->flow->loops, pull, m->loop_base.defect, out + nq);
    for (int k = 0; k < model->nv; k++)
        out[nq + k] += draw * (data->v[k] - y[nq + k]); /* draws v into balance */
    memcpy(m->v, data->v, (size_t)model->nv * sizeof *m->v);
    lw_loop_close(m->flow->loops, pull, m->loop_base.rows->phi, m->v);
    if (m->springs) lw_springs_pull(m->springs, t, pull, m->v);
    lw_q_rate_stable(model, data->q, m->v, out);
    for (int k = 0; k < nq + model->nv; k++) out[k] = ydot[k] - out[k];
    return must_be_finite(model, power, out, t, error);
}

/* The rows are qdot - H(q) v;  M wdot + h - Q with the massless part of wdot (lw_massless_add_still);  and
 * wdot less the prescribed acceleration at prescribed speeds. */
static lw_status residual(lw_method *base, double t, const double *y, const double *ydot, double *out,
                          lw_power *power, lw_error *error) {
    massless_method *m = (massless_method *)base;
    const lw_model *model = base->model;
    lw_data *data = m->flow->data;
    int nq = model->nq;
    if (m->shape->dense) return residual_loops(m, t, y, ydot, out, power, error);
    lw_take_state(model, data, t, y, y + nq);
    lw_flow_follows(m->flow, true);
    lw_status status = lw_springs_consistent(m->flow, m->springs, t, NULL, error);
    lw_flow_follows(m->flow, false);
    if (status != LW_OK) return status;
    lw_massless_balance_rows(m, ydot + nq, m->tau);
    *power = data->power;
    power->drives += lw_prescribed_power(model, data, m->tau);
    lw_massless_add_still(m, ydot + nq, m->tau);
    memcpy(m->v, data->v, (size_t)model->nv * sizeof *m->v);
    if (m->springs) lw_springs_pull(m->springs, t, pull, m->v);
    memcpy(out + nq, m->tau, (size_t)model->nv * sizeof *out);
    lw_tree_residual(model, data, m->v, ydot, out);
    return must_be_finite(model, power, out, t, error);
}

static double stiffness_change(void *flow, bool mark) { return lw_flow_change(flow, mark); }
static void differences(void *flow, bool begin) { lw_flow_nearby(flow, begin); }

static const lw_newton_hints *newton_hints(lw_method *base) {
    massless_method *m = (massless_method *)base;
    m->hints = (lw_newton_hints){m->flow, stiffness_change, differences};
    return &m->hints;
}

static lw_status project(lw_method *base, double t, double *y, lw_error *error) {
    massless_method *m = (massless_method *)base;
    const lw_model *model = base->model;
    int nq = model->nq;
    double moved;
    lw_status status = LW_OK;
    lw_normalise_q(model, y);
    if (!m->shape->dense) {
        if (!m->kinds.algebraic && !(m->springs && m->flow->dampers->loose_count)) return LW_OK;
        const double *v = y + nq;
        if (m->follow && m->follow->directions) { /* The laws of latent dampers depend on the speeds. */
            lw_massless_from_state(base, t, y, m->w, m->v);
            v = m->v;
        }
        status = lw_springs_settle(m->springs, t, NULL, y, v, &moved, error);
        if (status == LW_OK && moved > jump)
            lw_note(&m->loop_base.options, t, "jump",
                    "positions held by springs alone jump by %.3g, as a force on them does; the work of that "
                    "is not accounted for",
                    moved);
        return status;
    }
    if (m->loop_base.options.drift == LW_DRIFT_PROJECT)
        status = lw_project_state(m->projection, t, y, y + nq, error);
    if (status != LW_OK || !m->shape->count) return status;
    status = lw_massless_settle(m, false, t, y, y + nq, NULL, error);
    if (status != LW_OK) return status;
    memcpy(y, m->flow->data->q, (size_t)nq * sizeof *y);
    memcpy(y + nq, m->flow->data->v, (size_t)model->nv * sizeof *y);
    return LW_OK;
}

const lw_formulation lw_formulation_massless = {
    .name = "massless",
    .source = "arnold2013 11-32",
    .cost = "O(n); loops O(n^3)",
    .summary = "bodies without mass or inertia: first-order and algebraic motions among dynamic ones, joint "
               "coordinates",
    .coordinates = LW_COORDINATES_JOINT,
    .rank = 80,
    .newton_hints = newton_hints,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    .to_state = to_state,
    .from_state = lw_massless_from_state,
    .accelerations = accelerations,
    .multipliers = lw_loop_method_multipliers,
    .speeds = speeds,
    .frees_speeds = true,
    .derivative = derivative,
    .residual = residual,
    .project = project,
    .root_count = lw_massless_root_count,
    .roots = lw_massless_roots,
    .cross = lw_massless_cross,
    .release = lw_massless_release,
    .violation = lw_loop_method_violation,
};

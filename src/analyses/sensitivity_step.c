/* sensitivity_step.c - the variational equations of a run, and steps by Radau's formula of order 5.
 *
 *   x' = A x + b,   X_i = x + h sum a_ij (A_j X_j + b_j),   i, j = 1 .. 3                             (6, 7)
 *
 * x are the derivatives of independent coordinates, of independent speeds and of user states with respect to
 * a parameter. A and b depend on the motion alone, which the simulation has at any time within its steps; so
 * a step solves one linear system, for all parameters together. The formula is L-stable: stiff elements do
 * not bound the step.
 *
 * Source   docs/theory/sensitivity.md, (4) to (8).
 * Symbols  nodes[0] the beginning of a step, nodes[1 .. 3] its stages; m parameters, n unknowns.
 * Cost     per step three evaluations of derivatives and of parameter_changes.c, and (3 n)^3 2/3.
 */
#include "analyses/sensitivity_parts.h"
#include "linalg/dense_lu.h"
#include "model/joint.h"
#include "model/model_knots.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the estimate, which is of order 3: the solution itself is far better. */
static const double tolerance = 1e-7;
enum { STEPS = 200000 };
/* Changes of a coordinate are resolved to this times the tolerance, in rad or parts of the longest arm, for a
 * relative change of the parameter; those of speeds likewise. What is smaller is rounding of differences. */
static const double resolved = 1e-4;
/* Shorter steps that do not make the estimate smaller meet rounding, or a jump: then a step is taken as it
 * is, and sensitivity_check.c judges. */
static const double falls = 1.3, shorter = 0.02;
/* Independent coordinates are chosen anew where another one moves that much more than those. */
static const double moves_more = 4;

static const double root = 2.449489742783178098;
/* The real eigenvalue of the inverse of (a_ij). */
static const double real_pole = 3.6378342527444957322;

static bool make_node(lw_variational_node *node, lw_arena *arena, size_t m, size_t n, size_t nv) {
    node->A = LW_NEW(arena, double, n *n + 1);
    node->b = LW_NEW(arena, double, m *n + 1);
    node->Lq = LW_NEW(arena, double, nv *n + 1);
    node->Lv = LW_NEW(arena, double, nv *n + 1);
    node->dq0 = LW_NEW(arena, double, m *nv + 1);
    node->dv0 = LW_NEW(arena, double, m *nv + 1);
    node->x0 = LW_NEW(arena, double, m *n + 1);
    return !lw_arena_failed(arena);
}

/* --- the equations --------------------------------------------------------------------------------- */

/* The rate of a motion dq whose speeds change by dv: dv - w x dq at balls, which is kept in `rate`. */
static void motion_rate(const lw_model *model, const double *v, const double *dq, const double *dv,
                        double *rate) {
    memcpy(rate, dv, (size_t)model->nv * sizeof *rate);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const int at = lw_joint_quaternion(link->joint.type);
        if (at < 0) continue;
        const int first = link->v + (at == 3 ? 3 : 0);
        double turned[3];
        lw_v3_cross(v + first, dq + first, turned);
        for (int k = 0; k < 3; k++) rate[first + k] -= turned[k];
    }
}

/* A, b and what belongs to them, where the simulation stands; forces are seen at `seen`, within the span. */
static lw_status evaluate(lw_sensitivity_work *w, lw_variational_node *node, double seen, lw_error *error) {
    lw_linear_work *l = &w->linear;
    const lw_derivatives *d = l->derivatives;
    const lw_model *model = w->model;
    const size_t nv = (size_t)model->nv;
    const int ns = model->values.state_count;
    lw_simulation_state(w->simulation, w->q, w->v);
    lw_simulation_states(w->simulation, w->states);
    for (size_t k = 0; k < nv; k++)
        w->fastest = fmax(w->fastest, fabs(w->v[k]) / (l->slides[k] ? lw_longest_arm(model) : 1));
    for (int k = 0; k < ns; k++) w->most_state[k] = fmax(w->most_state[k], fabs(w->states[k]));
    l->kept_q = w->chosen ? w->kept_q : NULL, l->kept_v = w->chosen ? w->kept_v : NULL;
    lw_status status = lw_linear_at(l, &w->at, seen, w->q, w->v, error);
    if (status == LW_OK && w->n >= 0 && l->n != w->n)
        status = lw_fail(error, LW_ERROR_SINGULAR, lw_model_name(model), "end the run before that position",
                         "the mechanism has another mobility at t = %.9g", seen);
    if (status != LW_OK) return status;
    const size_t n = (size_t)l->n;
    node->t = seen;
    if (!node->A) return LW_OK; /* The first evaluation only counts. */
    memcpy(node->A, l->A, n * n * sizeof *node->A);
    memcpy(node->Lq, l->Lq, nv * n * sizeof *node->Lq);
    memcpy(node->Lv, l->Lv, nv * n * sizeof *node->Lv);
    for (int j = 0; j < w->m && status == LW_OK; j++) {
        lw_parameter_changes *c = w->changes[j];
        double *b = node->b + (size_t)j * n, *x0 = node->x0 + (size_t)j * n;
        status = lw_parameter_changes_evaluate(c, seen, w->q, w->v, error);
        if (status != LW_OK) return status;
        memcpy(node->dq0 + (size_t)j * nv, c->dq, nv * sizeof *c->dq);
        memcpy(node->dv0 + (size_t)j * nv, c->dv, nv * sizeof *c->dv);
        motion_rate(model, w->v, c->dq, c->dv, c->motion);
        for (int k = 0; k < l->coordinates; k++) {
            const int speed = d->free[l->own_q[k]];
            x0[k] = c->dq[speed], b[k] = c->motion[speed];
        }
        for (int k = 0; k < l->speeds; k++) {
            const int speed = d->free[l->own_v[k]], at = l->coordinates + k;
            x0[at] = c->dv[speed], b[at] = c->da[speed];
        }
        for (int k = 0; k < ns; k++) {
            const int at = l->coordinates + l->speeds + k;
            x0[at] = 0, b[at] = c->rates[k];
        }
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++) b[i] -= node->A[i * n + k] * x0[k];
    }
    return status;
}

/* --- changes of all coordinates, and the independent ones ------------------------------------------- */

static void unfold(lw_sensitivity_work *w, const lw_variational_node *node) {
    const size_t nv = (size_t)w->model->nv, n = (size_t)w->n, ns = (size_t)w->model->values.state_count;
    for (size_t j = 0; j < (size_t)w->m; j++) {
        const double *x = w->x + j * n, *x0 = node->x0 + j * n;
        for (size_t i = 0; i < nv; i++) {
            double dq = node->dq0[j * nv + i], dv = node->dv0[j * nv + i];
            for (size_t k = 0; k < n; k++) {
                dq += node->Lq[i * n + k] * (x[k] - x0[k]);
                dv += node->Lv[i * n + k] * (x[k] - x0[k]);
            }
            w->dq[j * nv + i] = dq, w->dv[j * nv + i] = dv;
        }
        for (size_t k = 0; k < ns; k++) w->dx[j * ns + k] = x[n - ns + k];
    }
}

static void fold(lw_sensitivity_work *w) {
    const lw_linear_work *l = &w->linear;
    const lw_derivatives *d = l->derivatives;
    const size_t nv = (size_t)w->model->nv, n = (size_t)w->n, ns = (size_t)w->model->values.state_count;
    for (size_t j = 0; j < (size_t)w->m; j++) {
        double *x = w->x + j * n;
        for (int k = 0; k < l->coordinates; k++) x[k] = w->dq[j * nv + (size_t)d->free[l->own_q[k]]];
        for (int k = 0; k < l->speeds; k++)
            x[l->coordinates + k] = w->dv[j * nv + (size_t)d->free[l->own_v[k]]];
        for (size_t k = 0; k < ns; k++) x[n - ns + k] = w->dx[j * ns + k];
    }
}

/* The first node of a step, with independent coordinates of this position's choice if `anew`. */
static lw_status stand(lw_sensitivity_work *w, double seen, bool anew, lw_error *error) {
    const lw_linear_work *l = &w->linear;
    if (anew) w->chosen = false;
    lw_status status = evaluate(w, &w->nodes[0], seen, error);
    if (status != LW_OK) return status;
    memcpy(w->kept_q, l->own_q, (size_t)l->coordinates * sizeof *w->kept_q);
    memcpy(w->kept_v, l->own_v, (size_t)l->speeds * sizeof *w->kept_v);
    w->chosen = true;
    fold(w);
    return LW_OK;
}

/* Does some coordinate move much more than the independent ones, in the position of the last evaluation? */
static bool others_move(const lw_sensitivity_work *w) {
    const lw_linear_work *l = &w->linear;
    const lw_derivatives *d = l->derivatives;
    const int nf = d->free_count;
    const double length = lw_longest_arm(w->model);
    for (int i = 0; i < nf; i++)
        for (int j = 0; j < l->coordinates; j++) {
            const double own = l->slides[d->free[l->own_q[j]]] ? length : 1,
                         unit = l->slides[d->free[i]] ? length : 1;
            if (fabs(l->Nq[i + j * nf]) * own > moves_more * unit) return true;
        }
    return false;
}

/* --- steps ------------------------------------------------------------------------------------------ */

/* The stages of all parameters, 3 n each, in w->stages. */
static bool solve_stages(lw_sensitivity_work *w, double h) {
    const double a[3][3] = {{(88 - 7 * root) / 360, (296 - 169 * root) / 1800, (-2 + 3 * root) / 225},
                            {(296 + 169 * root) / 1800, (88 + 7 * root) / 360, (-2 - 3 * root) / 225},
                            {(16 - root) / 36, (16 + root) / 36, 1. / 9}};
    const size_t n = (size_t)w->n, wide = 3 * n;
    for (size_t j = 0; j < 3; j++)
        for (size_t k = 0; k < n; k++) {
            double *column = w->matrix + (j * n + k) * wide;
            for (size_t i = 0; i < 3; i++)
                for (size_t r = 0; r < n; r++)
                    column[i * n + r] = -h * a[i][j] * w->nodes[1 + j].A[r * n + k] + (i == j && r == k);
        }
    if (!lw_lu_factor((int)wide, w->matrix, w->pivots)) return false;
    for (size_t p = 0; p < (size_t)w->m; p++) {
        double *X = w->stages + p * wide;
        for (size_t i = 0; i < 3; i++)
            for (size_t r = 0; r < n; r++) {
                X[i * n + r] = w->x[p * n + r];
                for (size_t j = 0; j < 3; j++) X[i * n + r] += h * a[i][j] * w->nodes[1 + j].b[p * n + r];
            }
        lw_lu_solve((int)wide, w->matrix, w->pivots, X);
        if (!lw_finite(X, (int)wide)) return false;
    }
    return true;
}

/* Is unknown k of the coordinates or user states (0), or of the speeds (1)? */
static int group(const lw_sensitivity_work *w, size_t k) {
    const int at = (int)k - w->linear.coordinates;
    return at >= 0 && at < w->linear.speeds;
}

/* What counts as nothing for unknown k. */
static double least_size(const lw_sensitivity_work *w, size_t parameter, size_t k) {
    const lw_linear_work *l = &w->linear;
    const int at = (int)k, speed = at - l->coordinates;
    const double relative = resolved / w->changes[parameter]->scale;
    if (speed >= l->speeds) return relative * fmax(1, w->most_state[at - l->coordinates - l->speeds]);
    const int own = l->derivatives->free[speed < 0 ? l->own_q[at] : l->own_v[speed]];
    return relative * (l->slides[own] ? lw_longest_arm(w->model) : 1) * (speed < 0 ? 1 : w->fastest);
}

/* The estimated error relative to what is allowed, at most over all parameters; HUGE_VAL: none is known. */
static double step_error(lw_sensitivity_work *w, double h) {
    const double e[3] = {-(13 + 7 * root) / 3, (-13 + 7 * root) / 3, -1. / 3};
    const size_t n = (size_t)w->n;
    const lw_variational_node *start = &w->nodes[0];
    double worst = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t r = 0; r < n; r++)
            w->small[k * n + r] = (r == k ? real_pole / h : 0) - start->A[r * n + k];
    if (!lw_lu_factor((int)n, w->small, w->small_pivots)) return HUGE_VAL;
    for (size_t p = 0; p < (size_t)w->m; p++) {
        const double *x = w->x + p * n, *X = w->stages + p * 3 * n;
        double *y = w->error_of, size[2] = {w->largest[2 * p], w->largest[2 * p + 1]};
        for (size_t r = 0; r < n; r++) {
            y[r] = start->b[p * n + r];
            for (size_t k = 0; k < n; k++) y[r] += start->A[r * n + k] * x[k];
            for (size_t i = 0; i < 3; i++) y[r] += e[i] * (X[i * n + r] - x[r]) / h;
            size[group(w, r)] = fmax(size[group(w, r)], fabs(X[2 * n + r]));
        }
        lw_lu_solve((int)n, w->small, w->small_pivots, y);
        for (size_t r = 0; r < n; r++) {
            const double most = fmax(size[group(w, r)], least_size(w, p, r));
            worst = fmax(worst, fabs(y[r]) / (tolerance * most));
        }
    }
    return isfinite(worst) ? worst : HUGE_VAL;
}

static lw_status visit_stages(lw_sensitivity_work *w, const lw_time_span *span, double t, double h,
                              double end, lw_error *error) {
    const double c[3] = {(4 - root) / 10, (4 + root) / 10, 1};
    lw_status status = LW_OK;
    for (int i = 0; i < 3 && status == LW_OK; i++) {
        const double at = i == 2 ? end : t + c[i] * h;
        status = lw_simulation_advance(w->simulation, at, error);
        if (status == LW_EVENT)
            status = lw_fail(error, LW_ERROR_UNSUPPORTED, lw_model_name(w->model), "end the run before it",
                             "an event ends the run at t = %.9g, at an instant that depends on the parameter",
                             lw_simulation_time(w->simulation));
        if (status == LW_OK) status = evaluate(w, &w->nodes[1 + i], lw_time_within(span, at), error);
    }
    return status;
}

static void accept(lw_sensitivity_work *w) {
    const size_t n = (size_t)w->n;
    for (size_t p = 0; p < (size_t)w->m; p++) {
        memcpy(w->x + p * n, w->stages + p * 3 * n + 2 * n, n * sizeof *w->x);
        for (size_t r = 0; r < n; r++) {
            double *most = &w->largest[2 * p + (size_t)group(w, r)];
            *most = fmax(*most, fabs(w->x[p * n + r]));
        }
    }
    const lw_variational_node first = w->nodes[0];
    w->nodes[0] = w->nodes[3], w->nodes[3] = first;
    unfold(w, &w->nodes[0]);
}

static lw_status save(lw_sensitivity_work *w, lw_error *error) {
    const size_t size = lw_simulation_snapshot_size(w->simulation);
    if (size > w->snapshot_size) { /* Another integrator has taken over. */
        void *room = realloc(w->snapshot, size);
        if (!room) return lw_out_of_memory(error);
        w->snapshot = room, w->snapshot_size = size;
    }
    return lw_simulation_save(w->simulation, w->snapshot, w->snapshot_size);
}

/* The first node of the step behind a switch, before dv and dx have jumped. */
static lw_status look_behind(lw_sensitivity_work *w, double behind, lw_error *error) {
    return evaluate(w, &w->nodes[0], behind, error);
}

/* Past an instant at which a force switches by the state: to shortly before it, and to shortly behind. */
static lw_status pass_switch(lw_sensitivity_work *w, double at, lw_error *error) {
    const double aside = 1e-9 * (w->run.end - w->run.start);
    const int ns = w->model->values.state_count;
    lw_status status = lw_variational_advance(w, at - aside, error);
    const double before = lw_simulation_time(w->simulation);
    if (status == LW_OK) status = evaluate(w, &w->nodes[0], before, error);
    if (status != LW_OK) return status;
    const lw_linear_work *l = &w->linear;
    memcpy(w->vdot_before, l->derivatives->vdot, (size_t)w->model->nv * sizeof *w->vdot_before);
    memcpy(w->rates_before, l->rates + l->coordinates + l->speeds, (size_t)ns * sizeof *w->rates_before);
    status = lw_variational_jump(w, at, at + aside, look_behind, error);
    w->nodes[0].t = NAN; /* The next step begins anew. */
    return status;
}

lw_status lw_variational_advance(lw_sensitivity_work *w, double end, lw_error *error) {
    lw_status status = LW_OK;
    double t = lw_simulation_time(w->simulation);
    while (t < end && status == LW_OK) {
        const lw_time_span span = lw_model_span(w->model, t);
        const double bound = fmin(end, span.stop), least = 16 * DBL_EPSILON * fmax(fabs(t), fabs(end));
        if (w->nodes[0].t != lw_time_within(&span, t) || others_move(w))
            status = stand(w, lw_time_within(&span, t), true, error);
        if (status == LW_OK) status = save(w, error);
        double first_h = 0, first_off = 0;
        for (bool done = false; !done && status == LW_OK;) {
            double h = w->h, to = t + h;
            if (to > bound - 0.1 * h) to = bound, h = bound - t;
            status = visit_stages(w, &span, t, h, to, error);
            if (status != LW_OK) break;
            const double at = lw_variational_switch(w, t, to, span.stop);
            if (at < HUGE_VAL) {
                status = lw_simulation_restore(w->simulation, w->snapshot, w->snapshot_size, error);
                if (status == LW_OK) status = pass_switch(w, at, error);
                if (++w->result.steps > STEPS) status = LW_ERROR_SINGULAR;
                t = lw_simulation_time(w->simulation);
                break;
            }
            const double off = solve_stages(w, h) ? step_error(w, h) : HUGE_VAL;
            const double factor = isfinite(off) ? 0.9 * pow(fmax(off, 1e-12), -0.25) : 0.1;
            if (!(first_h > 0)) first_h = h, first_off = off;
            done = off <= 1 || (h < shorter * first_h && isfinite(off) && isfinite(first_off) &&
                                off > first_off * pow(h / first_h, falls));
            if (done) {
                accept(w);
                w->h = off > 1 ? 4 * h : factor < 1 ? h * factor : fmax(w->h, h * fmin(4, factor));
                t = to;
            } else {
                w->h = h * fmax(0.1, fmin(0.7, factor));
                status = lw_simulation_restore(w->simulation, w->snapshot, w->snapshot_size, error);
            }
            if (status == LW_OK && (++w->result.steps > STEPS || !(w->h > least)))
                status = lw_fail(error, LW_ERROR_SINGULAR, lw_model_name(w->model),
                                 "look for a force that jumps there, or for growth without bounds",
                                 "steps of the variational equations become too short at t = %.9g", t);
        }
    }
    return status;
}

lw_status lw_variational_begin(lw_sensitivity_work *w, lw_error *error) {
    const lw_time_span span = lw_model_span(w->model, w->run.start);
    const double seen = lw_time_within(&span, w->run.start);
    w->n = -1;
    w->fastest = 1 / (w->run.end - w->run.start);
    w->most_state = LW_NEW(w->arena, double, w->model->values.state_count + 1);
    if (!w->most_state) return lw_out_of_memory(error);
    lw_status status = evaluate(w, &w->nodes[0], seen, error);
    if (status != LW_OK) return status;
    w->n = w->linear.n;
    const size_t n = (size_t)w->n, m = (size_t)w->m, nv = (size_t)w->model->nv;
    lw_arena *arena = w->arena;
    w->kept_q = LW_NEW(arena, int, nv + 1);
    w->kept_v = LW_NEW(arena, int, nv + 1);
    w->x = LW_NEW(arena, double, m *n + 1);
    w->stages = LW_NEW(arena, double, 3 * m * n + 1);
    w->matrix = LW_NEW(arena, double, 9 * n * n + 1);
    w->small = LW_NEW(arena, double, n *n + 1);
    w->error_of = LW_NEW(arena, double, n + 1);
    w->pivots = LW_NEW(arena, int, 3 * n + 1);
    w->small_pivots = LW_NEW(arena, int, n + 1);
    w->largest = LW_NEW(arena, double, 3 * m + 1);
    for (int k = 0; k <= LW_RADAU_STAGES; k++)
        if (!make_node(&w->nodes[k], arena, m, n, nv)) return lw_out_of_memory(error);
    if (!lw_variational_switch_create(w)) return lw_out_of_memory(error);
    w->h = 1e-3 * (w->run.end - w->run.start);
    return stand(w, seen, true, error);
}

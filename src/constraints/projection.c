/* projection.c - projection of positions and velocities onto the constraints, by Gauss-Newton in the mass
 * metric.
 *
 *   minimise d'J d  with  H'd = -phi,       d a displacement of the bodies
 *   minimise D'J D  with  H'(V + D) = rate, V + D their new velocities
 *
 * Both are the stationary-point system with other right-hand sides (u = 0), so that the sparse solver of
 * kkt_sparse.c, which admits dependent rows, serves here too. In joint coordinates the rows of the tree are
 * satisfied already (phi = 0), d moves the joints by W'd, and the result is the same as with the mass matrix
 * of the joint coordinates.
 *
 * Source   docs/theory/projection.md.
 * Cost     one sparse factorisation and a few solutions per iteration, no allocation.
 * Limits   bodies without mass or inertia get a small one here, since the metric is arbitrary. Where this
 *          leaves too few digits (bodies of very different mass), a metric in which all bodies are equal is
 *          used instead.
 */
#include "constraints/kkt/kkt_sparse.h"
#include "constraints/projection.h"
#include "constraints/characteristic_length.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lw_projection {
    lw_newton_euler *system;
    lw_kkt_sparse *kkt;
    double *mass, *inertia;   /* The metric. */
    double *nothing, *wanted; /* u = 0; gamma. */
    double *step, *multiplier, *speed;
    double length; /* The length of the mechanism. */
    bool alike;    /* The metric has the same mass and inertia for all bodies. */
};

/* Computes the metric of the state in the system, and the size of the mechanism: the extent of its joints or
 * of its bodies. */
static lw_status factor(lw_projection *p, lw_error *error) {
    const lw_newton_euler *s = p->system;
    const lw_model *model = s->model;
    int n = model->body_count;
    double mass = 0, inertia = 0, length = lw_body_length(s);
    for (int i = 0; i < n; i++) {
        mass += s->mass[i] / n;
        inertia += (s->inertia[6 * i] + s->inertia[6 * i + 1] + s->inertia[6 * i + 2]) / (3 * n);
    }
    for (int i = 1; i <= n; i++)
        for (int k = 0; k < 3; k++) length = fmax(length, fabs(s->data->world[i].p[k]));
    if (!(mass > 0)) mass = 1;
    if (!(inertia > 0)) inertia = mass;
    p->length = length > 0 ? length : 1;
    const double little = 1e-6;
    for (int i = 0; i < n && p->alike; i++) {
        p->mass[i] = mass;
        for (int k = 0; k < 6; k++) p->inertia[6 * i + k] = k < 3 ? mass * p->length * p->length : 0;
    }
    for (int i = 0; i < n && !p->alike; i++) {
        p->mass[i] = s->mass[i] + little * mass;
        for (int k = 0; k < 6; k++)
            p->inertia[6 * i + k] = s->inertia[6 * i + k] + (k < 3 ? little * inertia : 0);
    }
    return lw_kkt_sparse_factor(p->kkt, p->inertia, p->mass, s->rows, error);
}

lw_projection *lw_projection_create(const lw_model *model, lw_hold hold) {
    lw_projection *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    size_t n = 6 * (size_t)model->body_count + 1;
    p->system = lw_newton_euler_create(model, hold);
    lw_arena *arena = p->system ? p->system->arena : NULL;
    p->mass = LW_NEW(arena, double, n);
    p->inertia = LW_NEW(arena, double, n);
    p->nothing = LW_NEW(arena, double, n);
    p->step = LW_NEW(arena, double, n);
    p->speed = LW_NEW(arena, double, model->nv + 1);
    if (p->system) {
        size_t m = (size_t)p->system->rows->count + 1;
        p->kkt = lw_kkt_sparse_create(model, p->system->rows);
        p->wanted = LW_NEW(arena, double, m);
        p->multiplier = LW_NEW(arena, double, m);
    }
    if (lw_arena_failed(arena) || !p->kkt) {
        lw_projection_destroy(p);
        return NULL;
    }
    /* The first factorisation allocates: now rather than in a step. */
    lw_newton_euler_rows_at(p->system, 0, model->q0, model->v0);
    if (factor(p, NULL) == LW_ERROR_MEMORY) {
        lw_projection_destroy(p);
        return NULL;
    }
    return p;
}

void lw_projection_set_values(lw_projection *p, const double *inputs, const double *states) {
    lw_data_set_values(p->system->model, p->system->data, inputs, states);
}

void lw_projection_destroy(lw_projection *p) {
    if (!p) return;
    lw_kkt_sparse_destroy(p->kkt);
    lw_newton_euler_destroy(p->system);
    free(p);
}

const lw_newton_euler *lw_projection_system(const lw_projection *p) { return p->system; }

static lw_violation largest(const double *violation, int count) {
    lw_violation worst = {0, count > 0 ? 0 : -1, 0};
    for (int r = 0; r < count && !isnan(worst.largest); r++)
        if (!(fabs(violation[r]) <= worst.largest)) worst = (lw_violation){fabs(violation[r]), r, 0};
    return worst;
}

/* step = the smallest with H'step = wanted, as far as the digits allow; the residual is measured
 * afterwards. */
static lw_status smallest_step(lw_projection *p, const double *wanted, lw_error *error) {
    lw_status status = factor(p, error);
    if (status != LW_OK) return status;
    lw_kkt_sparse_solve(p->kkt, p->nothing, wanted, p->step, p->multiplier, NULL);
    for (int k = 0; k < 6 * p->system->model->body_count; k++)
        if (!isfinite(p->step[k]))
            return lw_fail(error, LW_ERROR_SINGULAR, NULL, lw_rows_remedy(p->system->model),
                           "the constraints cannot be satisfied together");
    return LW_OK;
}

/* Repeats the step with a metric in which all bodies are equal, where that of the masses has left a
 * residual. */
static lw_status step_alike(lw_projection *p, const double *wanted, lw_error *error) {
    p->alike = true;
    lw_status status = smallest_step(p, wanted, error);
    p->alike = false;
    return status;
}

/* The displacement that removes phi to first order. Rows of slip have no position level; H is zero for them
 * here. */
static lw_status displacement(lw_projection *p, lw_error *error) {
    const lw_rows *rows = p->system->rows;
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        p->wanted[r] = -rows->phi[r];
        if (lw_row_is_slip(p->system->model, row))
            memset(rows->H + 6 * row->block, 0, 6 * (size_t)row->count * sizeof *rows->H);
    }
    return smallest_step(p, p->wanted, error);
}

/* The negative velocity error, rate - H'V, into wanted. */
static void velocity_defect(lw_projection *p) {
    const lw_rows *rows = p->system->rows;
    lw_rows_velocities(p->system->model, rows, p->step);
    lw_rows_transposed(rows, p->step, p->wanted);
    for (int r = 0; r < rows->count; r++) p->wanted[r] = rows->rate[r] - p->wanted[r];
}

/* Far from the solution a linear step means little: no body rotates by more than half a radian or moves by
 * more than half the mechanism in one iteration. */
static double bounded(const lw_projection *p) {
    double most = 0;
    for (int k = 0; k < 6 * p->system->model->body_count; k++)
        most = fmax(most, fabs(p->step[k]) / (k % 6 < 3 ? 1 : p->length));
    return most > 0.5 ? 0.5 / most : 1;
}

static const double closed = 1e-14; /* Relative to the size of the mechanism: rounding of its positions. */

lw_status lw_project_positions(lw_projection *p, double t, double *q, int rounds, lw_violation *left,
                               lw_error *error) {
    lw_newton_euler *s = p->system;
    const lw_rows *rows = s->rows;
    double best = HUGE_VAL;
    int stalled = 0;
    for (int round = 0;; round++) {
        lw_newton_euler_rows_at(s, t, q, NULL);
        *left = largest(rows->phi, rows->count);
        left->rounds = round;
        if (!(left->largest > closed * p->length) || round == rounds || !isfinite(left->largest))
            return LW_OK;
        /* In the end only rounding fluctuates. */
        stalled = left->largest < 0.5 * best ? 0 : stalled + 1;
        if (left->largest < 1e-12 && stalled > 0) return LW_OK;
        if (stalled > 20) return LW_OK;
        best = fmin(best, left->largest);
        p->alike = stalled > 4;
        lw_status status = displacement(p, error);
        p->alike = false;
        if (status != LW_OK) return status;
        lw_rows_joint_speeds(s->model, rows, p->step, p->speed);
        /* Contradictory rows must not move coordinates that are held. */
        for (int r = 0; r < rows->tree_count; r++)
            if (rows->rows[r].kind != LW_ROW_TREE)
                p->speed[s->model->joints[rows->rows[r].joint].info.v + rows->rows[r].component] = 0;
        lw_integrate_q(s->model, q, p->speed, bounded(p));
    }
}

static double fastest(const lw_projection *p) {
    double most = 1;
    for (int i = 1; i <= p->system->model->body_count; i++)
        most = fmax(most, fmax(lw_v3_norm(p->system->rows->bodies[i].rdot),
                               lw_v3_norm(p->system->rows->bodies[i].w)));
    return most;
}

lw_status lw_project_velocities(lw_projection *p, double t, const double *q, double *v, lw_violation *left,
                                lw_error *error) {
    lw_newton_euler *s = p->system;
    const lw_model *model = s->model;
    lw_newton_euler_rows_at(s, t, q, v);
    velocity_defect(p);
    *left = largest(p->wanted, s->rows->count);
    memcpy(v, s->data->v, (size_t)model->nv * sizeof *v); /* Including the prescribed ones. */
    if (!(left->largest > 0)) return LW_OK;
    for (int round = 0; round < 3; round++) {
        lw_status status = round < 1 ? smallest_step(p, p->wanted, error) : step_alike(p, p->wanted, error);
        if (status != LW_OK) return status;
        lw_rows_joint_speeds(model, s->rows, p->step, p->speed);
        for (int k = 0; k < model->nv; k++) v[k] += p->speed[k];
        lw_newton_euler_rows_at(s, t, q, v);
        velocity_defect(p);
        *left = largest(p->wanted, s->rows->count);
        if (!(left->largest > 1e-11 * fastest(p))) break; /* One iteration leaves rounding only. */
    }
    return LW_OK;
}

lw_status lw_least_velocities(lw_projection *p, double t, const double *q, double *v, lw_violation *left,
                              lw_error *error) {
    lw_newton_euler *s = p->system;
    lw_newton_euler_rows_at(s, t, q, v);
    lw_status status = smallest_step(p, s->rows->rate, error);
    if (status != LW_OK) return status;
    memcpy(v, s->data->v, (size_t)s->model->nv * sizeof *v);
    lw_rows_joint_speeds(s->model, s->rows, p->step, p->speed);
    /* Held and prescribed speeds remain unchanged to the last digit. */
    for (int r = 0; r < s->rows->tree_count; r++)
        if (s->rows->rows[r].kind != LW_ROW_TREE) {
            int speed = s->model->joints[s->rows->rows[r].joint].info.v + s->rows->rows[r].component;
            p->speed[speed] = v[speed];
        }
    memcpy(v, p->speed, (size_t)s->model->nv * sizeof *v);
    return lw_project_velocities(p, t, q, v, left, error); /* This removes rounding. */
}

/* Fails if a loop stays open, as when prescribed motions contradict each other: a run cannot continue. */
static lw_status must_close(const lw_projection *p, const lw_violation *left, double size, const char *level,
                            lw_error *error) {
    const double open = 1e-6;
    if (!(left->largest > open * size) && !isnan(left->largest)) return LW_OK;
    char what[160];
    lw_row_describe(p->system->model, &p->system->rows->rows[left->row], what, sizeof what);
    return lw_fail(error, LW_ERROR_SINGULAR, NULL, lw_rows_remedy(p->system->model),
                   "the %s cannot be made consistent: %s is off by %.3g", level, what, left->largest);
}

lw_status lw_project_accelerations(lw_projection *p, double t, const double *q, const double *v,
                                   lw_violation *left, lw_error *error) {
    lw_newton_euler *s = p->system;
    lw_newton_euler_rows_at(s, t, q, v);
    double asked = 1;
    for (int r = 0; r < s->rows->count; r++) asked = fmax(asked, fabs(s->rows->gamma[r]));
    for (int round = 0; round < 2; round++) {
        lw_status status =
            round < 1 ? smallest_step(p, s->rows->gamma, error) : step_alike(p, s->rows->gamma, error);
        if (status != LW_OK) return status;
        lw_rows_transposed(s->rows, p->step, p->wanted);
        for (int r = 0; r < s->rows->count; r++) p->wanted[r] -= s->rows->gamma[r];
        *left = largest(p->wanted, s->rows->count);
        if (!(left->largest > 1e-9 * asked)) break;
    }
    return LW_OK;
}

lw_status lw_project_state(lw_projection *p, double t, double *q, double *v, lw_error *error) {
    enum { ROUNDS = 40 };
    const lw_model *model = p->system->model;
    lw_violation left;
    if (!model->closure_count && !model->constraint_count) return LW_OK;
    lw_status status = lw_project_positions(p, t, q, ROUNDS, &left, error);
    if (status == LW_OK) status = must_close(p, &left, p->length, "positions", error);
    if (status == LW_OK) status = lw_project_velocities(p, t, q, v, &left, error);
    return status == LW_OK ? must_close(p, &left, fastest(p), "velocities", error) : status;
}

lw_status lw_project_absolute(lw_projection *p, double t, double *y, lw_error *error) {
    enum { ROUNDS = 40 };
    lw_newton_euler *s = p->system;
    int n = s->model->body_count, stalled = 0;
    double best = HUGE_VAL;
    lw_violation left;
    for (int i = 0; i < n; i++) lw_quat_normalise(y + 13 * i + 3);
    for (int round = 0;; round++) {
        lw_newton_euler_rows_at_absolute(s, t, y);
        lw_absolute_take_angles(s, y);
        left = largest(s->rows->phi, s->rows->count);
        if (!(left.largest > closed * p->length) || round == ROUNDS) break;
        /* An overconstrained loop may open further before it closes; in the end only rounding fluctuates. */
        stalled = left.largest < 0.5 * best ? 0 : stalled + 1;
        if (stalled > (left.largest < 1e-12 * p->length ? 0 : 5)) break;
        best = fmin(best, left.largest);
        lw_status status = displacement(p, error);
        if (status != LW_OK) return status;
        double part = bounded(p);
        for (int i = 0; i < n; i++) {
            double turn[4], next[4], *body = y + 13 * i;
            for (int k = 0; k < 6; k++) p->step[6 * i + k] *= part;
            lw_quat_exp(p->step + 6 * i, turn);
            lw_quat_mul(turn, body + 3, next);
            lw_quat_normalise(next);
            memcpy(body + 3, next, sizeof next);
            lw_v3_add(body, p->step + 6 * i + 3, body);
        }
    }
    lw_status status = must_close(p, &left, p->length, "positions", error);
    if (status != LW_OK) return status;
    velocity_defect(p);
    status = smallest_step(p, p->wanted, error);
    if (status != LW_OK) return status;
    for (int i = 0; i < n; i++) {
        lw_v3_add(y + 13 * i + 10, p->step + 6 * i, y + 13 * i + 10);
        lw_v3_add(y + 13 * i + 7, p->step + 6 * i + 3, y + 13 * i + 7);
    }
    lw_newton_euler_rows_at_absolute(s, t, y);
    velocity_defect(p);
    left = largest(p->wanted, s->rows->count);
    return must_close(p, &left, fastest(p), "velocities", error);
}

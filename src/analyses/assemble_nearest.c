/* assemble_nearest.c - initial positions that the model leaves open: the closed position nearest to the
 * joints' initial coordinates, independent of the cuts.
 *
 *   minimise  f = 1/2 sum over all joints of |x|^2   with  phi = 0,
 *   x = deviation of a joint from its initial coordinates: angles and rotation vectors in rad, slides divided
 *       by the length of the mechanism.
 *
 * The sum includes joints that close loops, and no mass enters; so the result depends neither on the cuts nor
 * on the masses. Given and prescribed coordinates are fixed and do not contribute. Angles are taken in the
 * nearest revolution, unless a coupling distinguishes revolutions.
 *
 *   gradient   G = sum of x_k W_k / scale^2, wrenches on the bodies; W dual to the joint's motion (joint.h);
 *              for a rotation vector x, d(|x|^2)/2 = x'w, because x is an eigenvector of the derivative of
 *              exp
 *   tangent    J d - H lambda = -G, H'd = 0: the steepest descent that satisfies the rows, and multipliers
 *   Newton     conjugate gradients on B = d(G - H lambda), projected by the same system; B p by differences
 *              along p, within a ball (Steihaug)
 *   closing    by projection.c; a step is accepted if f falls as the quadratic model predicts
 *
 * B is positive definite on the tangent space where rows are linear, because every joint coordinate
 * contributes; so nothing remains undetermined.
 *
 * Source   docs/theory/projection.md, 5; N. I. M. Gould, M. E. Hribar & J. Nocedal, SIAM J. Sci. Comput. 23
 *          (2001) 1376, projected conjugate gradients with an update of the residual; T. Steihaug, SIAM J.
 *          Numer. Anal. 20 (1983) 626.
 * Cost     sparse: a factorisation per iteration, a solution and two evaluations of the rows per direction,
 *          up to EFFORT. Allocates.
 * Limits   where EFFORT ends the search (rings of fifty and more bodies), the position is nearer than the
 *          starting point, but not the nearest.
 */
#include "analyses/assemble_nearest.h"
#include "constraints/kkt/kkt_sparse.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 100, DIRECTIONS = 300, CLOSING_ROUNDS = 40 };
enum { EFFORT = 50000 }; /* Directions times speeds that one search may take: a quarter of a second. */

struct lw_assemble_nearest {
    lw_arena *arena;
    const lw_model *model;
    lw_hold hold;
    double t;
    double length;                    /* The length that makes slides dimensionless. */
    lw_newton_euler *system, *beside; /* At q; and at the positions where differences are taken. */
    lw_projection *projection;
    lw_kkt_sparse *kkt;
    bool *coupled; /* Per speed: a coupling distinguishes its revolutions. */
    /* The metric J: 1 for rotations, 1 / length^2 for displacements. */
    double *mass, *inertia;
    double *trial, *next, *speed;              /* coordinates; speeds of the tree */
    double *G, *tangent, *lambda;              /* at q */
    double *step, *p, *g, *r, *Bp, *left, *mu; /* conjugate gradients */
    double *nothing;                           /* Zeros, for rows and for body displacements. */
    double f;
    long effort; /* The effort so far. */
};

/* --- how far from the initial coordinates ---------------------------------------------------------- */

/* A length that does not depend on cuts, masses or the order of joints: twice the root mean square distance
 * of a body's joints from their centre, for the body where it is largest; or the length of a constraint. */
static double length_of(const lw_model *model, double *sums) {
    double length = 0;
    for (int pass = 0; pass < 2; pass++) { /* centres first: 5 numbers per body: count, sum, then squares */
        for (int j = 0; j < model->joint_count; j++)
            for (int side = 0; side < 2; side++) {
                double *sum = sums + 5 * model->joints[j].info.bodies[side], from[3];
                const double *p = model->joints[j].frames[side].p;
                if (pass == 0) {
                    sum[0] += 1;
                    lw_v3_add(sum + 1, p, sum + 1);
                    continue;
                }
                for (int k = 0; k < 3; k++) from[k] = p[k] - sum[1 + k] / sum[0];
                sum[4] += lw_v3_dot(from, from) / sum[0];
            }
    }
    for (int i = 0; i <= model->body_count; i++) length = fmax(length, 2 * sqrt(sums[5 * i + 4]));
    for (int c = 0; c < model->constraint_count; c++)
        length = fmax(length, fmax(model->constraints[c].length, model->constraints[c].radius));
    return length > 0 && isfinite(length) ? length : 1;
}

static double in_nearest_revolution(double angle) { return angle - 2 * LW_PI * round(angle / (2 * LW_PI)); }

/* Deviation of a joint at q, per speed; zero for held or prescribed ones. */
static void deviation(const lw_assemble_nearest *n, int joint, const double *q, double x[LW_JOINT_MAX_V]) {
    const lw_joint_entry *entry = &n->model->joints[joint];
    const lw_joint_info *info = &entry->info;
    int at = lw_joint_quaternion(info->type), nv = entry->joint.nv;
    bool held = !info->cut && n->hold == LW_HOLD_Q && entry->given_q;
    const double *from = entry->initial;
    for (int k = 0; k < (at >= 0 ? at : nv); k++) {
        bool winds = lw_joint_describe(info->type)->screws || (!info->cut && n->coupled[info->v + k]);
        x[k] = q[k] - from[k];
        if (lw_joint_speed_turns(info->type, k) && !winds) x[k] = in_nearest_revolution(x[k]);
    }
    if (at >= 0) {
        double back[4] = {from[at], -from[at + 1], -from[at + 2], -from[at + 3]}, relative[4];
        lw_quat_mul(back, q + at, relative);
        lw_quat_log(relative, x + at);
    }
    for (int k = 0; k < nv; k++)
        if (held || (!info->cut && info->prescribed >> k & 1)) x[k] = 0;
}

/* Adds a wrench (torque; force) at a world point to F of a body. */
static void add_wrench(const lw_rows *rows, int body, double factor, const double w[6], const double at[3],
                       double *F) {
    if (body == 0) return;
    double arm[3], moment[3];
    lw_v3_sub(at, rows->bodies[body].r, arm);
    lw_v3_cross(arm, w + 3, moment);
    lw_v3_axpy(factor, w, F + 6 * (body - 1));
    lw_v3_axpy(factor, moment, F + 6 * (body - 1));
    lw_v3_axpy(factor, w + 3, F + 6 * (body - 1) + 3);
}

/* f and G of the position in a system. */
static double distance(const lw_assemble_nearest *n, const lw_newton_euler *s, double *G) {
    const lw_model *model = n->model;
    double f = 0;
    memset(G, 0, 6 * (size_t)model->body_count * sizeof *G);
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        const lw_joint_state *state = &s->rows->joints[j];
        double x[LW_JOINT_MAX_V] = {0}, wrench[6] = {0};
        deviation(n, j, state->q, x);
        for (int k = 0; k < model->joints[j].joint.nv; k++) {
            double scale = lw_joint_speed_turns(info->type, k) ? 1 : 1 / (n->length * n->length);
            f += 0.5 * scale * x[k] * x[k];
            lw_v6_axpy(scale * x[k], state->W + 6 * k, wrench);
        }
        add_wrench(s->rows, info->bodies[1], 1, wrench, state->at, G);
        add_wrench(s->rows, info->bodies[0], -1, wrench, state->at, G);
    }
    return f;
}

/* The rows at a position, without those of slip. */
static void rows_at(const lw_assemble_nearest *n, lw_newton_euler *s, const double *q) {
    lw_newton_euler_rows_at(s, n->t, q, NULL);
    for (int r = 0; r < s->rows->count; r++) {
        const lw_row *row = &s->rows->rows[r];
        if (lw_row_is_slip(n->model, row))
            memset(s->rows->H + 6 * row->block, 0, 6 * (size_t)row->count * sizeof *s->rows->H);
    }
}

/* Moves q by a part of a displacement of the bodies that satisfies the rows. */
static void move(lw_assemble_nearest *n, const double *q, const double *d, double part, double *out) {
    const lw_rows *rows = n->system->rows;
    if (out != q) memcpy(out, q, (size_t)n->model->nq * sizeof *q);
    lw_rows_joint_speeds(n->model, rows, d, n->speed);
    /* Held and prescribed coordinates are kept to the last digit. */
    for (int r = 0; r < rows->tree_count; r++)
        if (rows->rows[r].kind != LW_ROW_TREE)
            n->speed[n->model->joints[rows->rows[r].joint].info.v + rows->rows[r].component] = 0;
    lw_integrate_q(n->model, out, n->speed, part);
}

/* --- closing ---------------------------------------------------------------------------------------- */

double lw_put_back(const lw_model *model, const double *given, double *q) {
    double most = 0;
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_entry *entry = &model->joints[j];
        int turned = lw_joint_quaternion(entry->joint.type);
        for (int k = 0; entry->given_q && !entry->info.cut && k < entry->joint.nq; k++) {
            int at = entry->info.q + k, speed = turned >= 0 && k > turned ? turned : k;
            if (entry->info.prescribed >> speed & 1) continue;
            most = fmax(most, fabs(q[at] - given[at]));
            q[at] = given[at];
        }
    }
    return most;
}

static lw_violation violation(const lw_rows *rows) {
    lw_violation worst = {0, rows->count > 0 ? 0 : -1, 0};
    for (int r = 0; r < rows->count && !isnan(worst.largest); r++)
        if (!(fabs(rows->phi[r]) <= worst.largest)) worst = (lw_violation){fabs(rows->phi[r]), r, 0};
    return worst;
}

/* Gauss-Newton in the metric J with held values fixed, from nearly closed positions. */
static lw_status polish(lw_assemble_nearest *n, double *q, lw_error *error) {
    enum { POLISHINGS = 10 };
    double best = HUGE_VAL;
    for (int k = 0; k < POLISHINGS; k++) {
        rows_at(n, n->system, q);
        double gap = violation(n->system->rows).largest;
        if (!(gap > 1e-15 * n->length) || !(gap < 0.5 * best)) break;
        best = gap;
        for (int r = 0; r < n->system->rows->count; r++) n->mu[r] = -n->system->rows->phi[r];
        lw_status status = lw_kkt_sparse_factor(n->kkt, n->inertia, n->mass, n->system->rows, error);
        if (status == LW_OK)
            status = lw_kkt_sparse_solve(n->kkt, n->nothing, n->mu, n->step, n->lambda, error);
        if (status != LW_OK) return status;
        move(n, q, n->step, 1, q);
    }
    return LW_OK;
}

/* The rows that hold a value do so inaccurately where its body is light relative to others. */
lw_status lw_assemble_nearest_close(lw_assemble_nearest *n, const double *given, double *q, int rounds,
                                    lw_violation *left, lw_error *error) {
    const double rounding = 1e-14, nearly = 1e-6;
    lw_status status = lw_project_positions(n->projection, n->t, q, rounds, left, error);
    int done = left->rounds;
    if (status != LW_OK) return status;
    if (n->hold == LW_HOLD_Q && lw_put_back(n->model, given, q) > rounding &&
        left->largest < nearly * n->length)
        status = polish(n, q, error);
    if (status != LW_OK) return status;
    rows_at(n, n->system, q);
    memcpy(q, n->system->data->q, (size_t)n->model->nq * sizeof *q); /* Including the prescribed ones. */
    *left = violation(n->system->rows);
    left->rounds = done;
    return LW_OK;
}

/* --- one step --------------------------------------------------------------------------------------- */

static double dot(const lw_assemble_nearest *n, const double *a, const double *b) {
    double sum = 0;
    for (int k = 0; k < 6 * n->model->body_count; k++) sum += a[k] * b[k];
    return sum;
}

static void times_metric(const lw_assemble_nearest *n, const double *a, double *out) {
    for (int k = 0; k < 6 * n->model->body_count; k++)
        out[k] = a[k] / (k % 6 < 3 ? 1 : n->length * n->length);
}

static double metric_dot(const lw_assemble_nearest *n, const double *a, const double *b) {
    double sum = 0;
    for (int k = 0; k < 6 * n->model->body_count; k++)
        sum += a[k] * b[k] / (k % 6 < 3 ? 1 : n->length * n->length);
    return sum;
}

/* Bp = change of G - H lambda along p. */
static void times_B(lw_assemble_nearest *n, const double *q, const double *p, double *Bp) {
    const double change = 1e-5; /* Truncation 1e-10, rounding 1e-11 of it. */
    int size = 6 * n->model->body_count;
    double most = 0;
    for (int k = 0; k < size; k++) most = fmax(most, fabs(p[k]) / (k % 6 < 3 ? 1 : n->length));
    double h = change / (most > 0 ? most : 1);
    memset(Bp, 0, (size_t)size * sizeof *Bp);
    for (int side = -1; side <= 1; side += 2) {
        move(n, q, p, side * h, n->trial);
        rows_at(n, n->beside, n->trial);
        distance(n, n->beside, n->left);
        for (int r = 0; r < n->beside->rows->count; r++) n->mu[r] = -n->lambda[r];
        lw_rows_times(n->beside->rows, n->mu, n->left);
        for (int k = 0; k < size; k++) Bp[k] += side * n->left[k] / (2 * h);
    }
}

/* The distance along p at which a step d reaches the surface of the ball. */
static double to_surface(const lw_assemble_nearest *n, const double *d, const double *p, double radius) {
    double a = metric_dot(n, p, p), b = metric_dot(n, d, p), c = metric_dot(n, d, d) - radius * radius;
    double root = sqrt(fmax(b * b - a * c, 0));
    return a > 0 ? (root - b) / a : 0;
}

/* step = minimum of the quadratic model in the ball, with an accuracy that depends on the size of the
 * tangent; returns the predicted decrease of f. */
static lw_status newton(lw_assemble_nearest *n, const double *q, double radius, double *falls,
                        lw_error *error) {
    int size = 6 * n->model->body_count;
    double first = metric_dot(n, n->tangent, n->tangent), left = first;
    double enough = fmin(0.1, sqrt(first));
    memset(n->step, 0, (size_t)size * sizeof *n->step);
    memcpy(n->p, n->tangent, (size_t)size * sizeof *n->p);
    times_metric(n, n->tangent, n->r);
    for (int k = 0; k < size; k++) n->r[k] = -n->r[k];
    *falls = 0;
    for (int direction = 0; direction < DIRECTIONS && !lw_assemble_nearest_spent(n); direction++) {
        n->effort += n->model->nv;
        times_B(n, q, n->p, n->Bp);
        double bends = dot(n, n->p, n->Bp), slope = dot(n, n->r, n->p);
        double part = bends > 0 ? -slope / bends : HUGE_VAL, most = to_surface(n, n->step, n->p, radius);
        bool ends = !(part < most);
        if (ends) part = most;
        for (int k = 0; k < size; k++) {
            n->step[k] += part * n->p[k];
            n->r[k] += part * n->Bp[k];
        }
        *falls -= part * (slope + 0.5 * part * bends);
        if (ends) return LW_OK;
        lw_status status = lw_kkt_sparse_solve(n->kkt, n->r, n->nothing, n->g, n->mu, error);
        if (status != LW_OK) return status;
        times_metric(n, n->g, n->r); /* Removes the part that rows balance, which would grow by rounding. */
        double former = left;
        left = metric_dot(n, n->g, n->g);
        if (!(left > enough * enough * first)) return LW_OK;
        for (int k = 0; k < size; k++) n->p[k] = left / former * n->p[k] - n->g[k];
    }
    return LW_OK;
}

/* --- the whole search -------------------------------------------------------------------------------- */

void lw_assemble_nearest_destroy(lw_assemble_nearest *n) {
    if (!n) return;
    lw_kkt_sparse_destroy(n->kkt);
    lw_projection_destroy(n->projection);
    lw_newton_euler_destroy(n->system);
    lw_newton_euler_destroy(n->beside);
    lw_arena_destroy(n->arena);
}

static lw_status prepare(lw_assemble_nearest *n) {
    const lw_model *model = n->model;
    lw_arena *arena = n->arena;
    size_t bodies = (size_t)model->body_count, six = 6 * bodies;
    double **wanted[] = {&n->G, &n->tangent, &n->step, &n->p, &n->g, &n->r, &n->Bp, &n->left, &n->inertia};
    n->system = lw_newton_euler_create(model, n->hold);
    n->beside = lw_newton_euler_create(model, n->hold);
    n->projection = lw_projection_create(model, n->hold);
    if (!n->system || !n->beside || !n->projection) return LW_ERROR_MEMORY;
    size_t rows = (size_t)n->system->rows->count;
    n->kkt = lw_kkt_sparse_create(model, n->system->rows);
    n->mass = LW_NEW(arena, double, bodies + 1);
    n->trial = LW_NEW(arena, double, model->nq + 1), n->next = LW_NEW(arena, double, model->nq + 1);
    n->speed = LW_NEW(arena, double, model->nv + 1);
    n->coupled = LW_NEW(arena, bool, model->nv + 1);
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) *wanted[k] = LW_NEW(arena, double, six + 1);
    n->lambda = LW_NEW(arena, double, rows + 1), n->mu = LW_NEW(arena, double, rows + 1);
    n->nothing = LW_NEW(arena, double, (rows > six ? rows : six) + 1);
    double *sums = LW_NEW(arena, double, 5 * (bodies + 1));
    if (!n->kkt || lw_arena_failed(arena)) return LW_ERROR_MEMORY;
    n->length = length_of(model, sums);
    for (size_t i = 0; i < bodies; i++) {
        n->mass[i] = 1 / (n->length * n->length);
        for (int k = 0; k < 3; k++) n->inertia[6 * i + (size_t)k] = 1;
    }
    for (int c = 0; c < model->constraint_count; c++)
        for (int k = 0; k < model->constraints[c].terms; k++)
            n->coupled[model->constraints[c].speeds[k]] = true;
    return LW_OK;
}

/* Tangent and multipliers at the position in system. */
static lw_status find_tangent(lw_assemble_nearest *n, lw_error *error) {
    for (int k = 0; k < 6 * n->model->body_count; k++) n->step[k] = -n->G[k];
    lw_status status = lw_kkt_sparse_factor(n->kkt, n->inertia, n->mass, n->system->rows, error);
    return status == LW_OK ? lw_kkt_sparse_solve(n->kkt, n->step, n->nothing, n->tangent, n->lambda, error)
                           : status;
}

/* How far the tangent opens the rows, relative to the mechanism. Long chains of loops have motions that open
 * them so little that the solver permits them (softness, kkt_sparse.c): f does not decrease along these once
 * the loops are closed again. */
static double opening(const lw_assemble_nearest *n) {
    const lw_rows *rows = n->system->rows;
    double most = 0;
    lw_rows_transposed(rows, n->tangent, n->mu);
    for (int r = 0; r < rows->count; r++)
        most = fmax(most, fabs(n->mu[r]) / (lw_row_is_length(n->model, rows, r) ? n->length : 1));
    return most;
}

/* Descends from q as far as possible. */
static lw_status descend(lw_assemble_nearest *n, double gap, double *q, lw_violation *left, bool *chosen,
                         lw_error *error) {
    /* Relative to G: the residual of the solver where the rows determine everything. */
    const double nothing = 1e-10;
    const double last = 1e-7;              /* A Newton step after which, squared, only rounding is left. */
    const double vague = 1e-10;            /* Relative to f: too small to be distinguished from rounding. */
    const double leak = 1e-8, none = 1e-3; /* see opening */
    double radius = 1, falls;
    for (int round = 0; round < ROUNDS && radius > last && !lw_assemble_nearest_spent(n); round++) {
        lw_violation now;
        rows_at(n, n->system, q);
        n->f = distance(n, n->system, n->G);
        if (!(n->f > nothing * nothing)) return LW_OK;
        lw_status status = find_tangent(n, error);
        double slope = sqrt(metric_dot(n, n->tangent, n->tangent));
        if (status != LW_OK || !(slope > nothing * fmax(sqrt(n->f), 1))) return status;
        bool leaks = opening(n) > leak * slope;
        status = newton(n, q, radius, &falls, error);
        if (status != LW_OK) return status;
        double moved = sqrt(metric_dot(n, n->step, n->step)), before = n->f, ratio = -1;
        move(n, q, n->step, 1, n->next);
        status = lw_assemble_nearest_close(n, q, n->next, CLOSING_ROUNDS, &now, error);
        if (status != LW_OK && status != LW_ERROR_SINGULAR) return status;
        if (status == LW_OK && now.largest <= gap) {
            n->f = distance(n, n->system, n->left);
            ratio = falls > vague * before ? (before - n->f) / falls : 1;
        }
        radius = ratio > 0.75 ? fmax(radius, 2 * moved) : ratio > 0.25 ? radius : 0.25 * moved;
        if (!(ratio > 0.1)) {
            n->f = before;
            if (leaks && ratio < none) break;
            continue;
        }
        *chosen |= falls > vague * before;
        memcpy(q, n->next, (size_t)n->model->nq * sizeof *q);
        *left = now;
        if (moved < last) break;
    }
    return LW_OK;
}

/* Puts angles that are not given into the revolution nearest to their initial values, like those of cut
 * joints. */
static void unwind(const lw_assemble_nearest *n, double *q) {
    for (int j = 0; j < n->model->joint_count; j++) {
        const lw_joint_info *info = &n->model->joints[j].info;
        double x[LW_JOINT_MAX_V] = {0};
        if (info->cut || lw_joint_quaternion(info->type) == 0) continue;
        deviation(n, j, q + info->q, x);
        for (int k = 0; k < info->v_count; k++) {
            double *own = q + info->q + k, nearer = n->model->q0[info->q + k] + x[k];
            bool free_angle = x[k] != 0 && lw_joint_speed_turns(info->type, k) &&
                              lw_joint_coordinate_of_speed(info->type, k) >= 0;
            if (free_angle && fabs(*own - nearer) > 1) *own = nearer;
        }
    }
}

lw_assemble_nearest *lw_assemble_nearest_create(const lw_model *model, lw_hold hold, double t) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_assemble_nearest *n = LW_NEW(arena, lw_assemble_nearest, 1);
    if (!n) {
        lw_arena_destroy(arena);
        return NULL;
    }
    n->arena = arena;
    n->model = model, n->hold = hold, n->t = t;
    if (prepare(n) == LW_OK) return n;
    lw_assemble_nearest_destroy(n);
    return NULL;
}

bool lw_assemble_nearest_spent(const lw_assemble_nearest *n) { return n->effort >= EFFORT; }

const lw_newton_euler *lw_assemble_nearest_system(const lw_assemble_nearest *n) { return n->system; }

lw_status lw_assemble_nearest_descend(lw_assemble_nearest *n, double gap, double *q, lw_violation *left,
                                      double *distance, bool *chosen, lw_error *error) {
    *chosen = false;
    lw_status status = descend(n, gap, q, left, chosen, error);
    if (status != LW_OK && status != LW_ERROR_SINGULAR) return status;
    unwind(n, q);
    *distance = sqrt(2 * n->f);
    return LW_OK;
}

lw_status lw_assemble_nearest_fixed(lw_assemble_nearest *n, const double *q, bool *fixed, lw_error *error) {
    enum { PROBES = 3 };
    const double still = 1e-8; /* Relative to the largest motion: the residual of the solver. */
    const lw_model *model = n->model;
    for (int j = 0; j < model->joint_count; j++) fixed[j] = !model->joints[j].info.cut;
    rows_at(n, n->system, q);
    lw_status status = lw_kkt_sparse_factor(n->kkt, n->inertia, n->mass, n->system->rows, error);
    for (int probe = 0; probe < PROBES && status == LW_OK; probe++) {
        double most = 0;
        for (int k = 0; k < 6 * model->body_count; k++) /* In an arbitrary direction. */
            n->r[k] = cos(1 + 7 * probe + 1.7 * k) / (k % 6 < 3 ? 1 : n->length);
        status = lw_kkt_sparse_solve(n->kkt, n->r, n->nothing, n->g, n->mu, error);
        if (status != LW_OK) break;
        lw_rows_joint_speeds(model, n->system->rows, n->g, n->speed);
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j < model->joint_count; j++) {
                const lw_joint_info *info = &model->joints[j].info;
                for (int k = 0; k < info->v_count && !info->cut; k++) {
                    double x =
                        fabs(n->speed[info->v + k]) / (lw_joint_speed_turns(info->type, k) ? 1 : n->length);
                    if (pass == 0)
                        most = fmax(most, x);
                    else if (x > still * most)
                        fixed[j] = false;
                }
            }
    }
    return status == LW_ERROR_SINGULAR ? LW_OK : status;
}

/* massless_springs.c - massless motions that no damper resists: springs hold them, and their balance is a
 * condition on positions.
 *
 *   g(q, t) = (L^-1 N'Q)_a = 0,      a the directions whose pivots of N'C N = L D L' vanish
 *
 * g does not depend on velocities, since the rows of L^-1 of these directions are null vectors of N'C N.
 * Displacements along N L^-T e_a change g by the columns of G. G determines the positions, by Newton's
 * method, and the velocities that keep g at zero,
 *
 *   v += N L^-T eta,     G eta = -dg/dt along (v, t)
 *
 * G and dg/dt are central differences; G is computed at once for all groups of directions that share neither
 * bodies nor elements. Entries of G are compared with the rounding of their terms: the forces of all elements
 * on the path of a direction, times their arms, whether they do work along it or not. An entry that does not
 * exceed this rounding holds nothing.
 *
 * A small mass instead of none leads to the same motion only if the balance is stable. If G is symmetric, -G
 * must be positive definite; if it is not (forces without a potential), the determinant of -G must be
 * positive. A run starts at the next stable balance downhill, which is reached by steps in which the forces
 * do work.
 *
 * The position may decide which directions are algebraic: where a damper stands across a motion that it
 * resists elsewhere, springs hold this motion, too. Candidates are the directions that may be algebraic;
 * those whose pivot is lost at the position are taken.
 *
 * Source   docs/theory/massless.md, 4.
 * Cost     O(n) times the largest group, and the cube of each group; no allocation but in create.
 */
#include "model/signals.h"
#include "formulations/massless/massless_springs.h"
#include "constraints/projection.h"
#include "model/joint.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- groups ------------------------------------------------------------------------------------------- */

static int root(int *up, int k) {
    while (up[k] != k) k = up[k] = up[up[k]];
    return k;
}
static void unite(int *up, int a, int b) {
    if (a >= 0 && b >= 0) up[root(up, a)] = root(up, b);
}

/* Unites directions that share a body on their paths, or an element, into one group. */
static bool find_groups(const lw_null_shape *shape, int *up) {
    const lw_model *model = shape->model;
    int *of_body = malloc(((size_t)model->body_count + 1) * sizeof *of_body);
    if (!of_body) return false;
    for (int i = 0; i <= model->body_count; i++) of_body[i] = -1;
    for (int k = 0; k < shape->count; k++) {
        up[k] = k;
        if (shape->dense) unite(up, k, 0);
        for (int n = shape->node_start[k]; n < shape->node_start[k + 1]; n++) {
            int body = shape->nodes[n].body;
            unite(up, k, of_body[body]);
            of_body[body] = k;
        }
    }
    for (int f = 0; f < model->force_count; f++) {
        const lw_force *force = &model->forces[f];
        if (!acts_in_joint(force)) unite(up, of_body[force->bodies[0]], of_body[force->bodies[1]]);
    }
    free(of_body);
    return true;
}

static void take_memory(lw_springs *s, lw_arena *arena) {
    const lw_model *model = s->flow->model;
    const int n = s->flow->shape->count, room = s->candidates + 1;
    s->candidate = LW_NEW(arena, int, room);
    s->direction = LW_NEW(arena, int, room);
    s->first = LW_NEW(arena, int, room);
    s->start = LW_NEW(arena, int, room);
    s->G = LW_NEW(arena, double *, room);
    s->order = LW_NEW(arena, int *, room);
    s->q = LW_NEW(arena, double, model->nq + 1);
    s->v = LW_NEW(arena, double, model->nv + 1);
    s->u = LW_NEW(arena, double, model->nv + 1);
    s->z = LW_NEW(arena, double, n + 1);
    s->plus = LW_NEW(arena, double, n + 1);
    s->minus = LW_NEW(arena, double, n + 1);
    s->g = LW_NEW(arena, double, room);
    s->solution = LW_NEW(arena, double, room);
    s->group = LW_NEW(arena, int, n + 1);
    s->effort = LW_NEW(arena, double, model->body_count + 1 + model->nv);
    s->noise = LW_NEW(arena, double, room);
    s->unstable = LW_NEW(arena, int, room);
    s->lost = LW_NEW(arena, bool, room);
    s->stiffness = LW_NEW(arena, double, room);
    s->region = LW_NEW(arena, bool, n + 1);
    s->radius = LW_NEW(arena, double, room);
    s->reach = LW_NEW(arena, double, room);
    s->step = LW_NEW(arena, double, room);
    s->down = LW_NEW(arena, double, room);
}

/* Counts the candidates, then sorts them, by the root of their group; next has n + 2 zeros. */
static void sort_candidates(lw_springs *s, const bool *candidate, int *up, int *next) {
    const int n = s->flow->shape->count;
    int *size = next, at = 0;
    for (int k = 0; k < n; k++)
        if (candidate[k]) size[root(up, k)]++;
    for (int k = 0; k < n; k++) s->group[k] = -1;
    for (int k = 0; k < n; k++) {
        if (!size[k]) continue;
        int own = size[k];
        s->group[k] = s->groups;
        s->first[s->groups++] = at;
        size[k] = at;
        at += own;
    }
    s->first[s->groups] = at;
    for (int k = 0; k < n; k++) s->group[k] = s->group[root(up, k)];
    for (int k = 0; k < n; k++)
        if (candidate[k]) s->candidate[next[root(up, k)]++] = k;
}

/* The matrices of the groups. */
static void take_matrices(lw_springs *s, lw_arena *arena) {
    size_t most = 0;
    for (int g = 0; g < s->groups; g++) {
        size_t own = (size_t)(s->first[g + 1] - s->first[g]);
        if (own > most) most = own;
        s->G[g] = LW_NEW(arena, double, own *own);
        s->order[g] = LW_NEW(arena, int, own);
    }
    s->room = LW_NEW(arena, double, most *most + 1);
    s->shifted = LW_NEW(arena, double, most *most + 1);
}

lw_springs *lw_springs_create(lw_flow *flow, lw_flow *probe, const bool *candidate, lw_arena *arena) {
    const lw_null_shape *shape = flow->shape;
    lw_springs *s = LW_NEW(arena, lw_springs, 1);
    int n = shape->count, *up = malloc(((size_t)n + 1) * sizeof *up);
    int *next = calloc((size_t)n + 2, sizeof *next);
    bool fine = s && up && next && find_groups(shape, up);
    if (fine) {
        s->flow = flow, s->probe = probe;
        probe->data->still = probe->dampers->still;
        for (int k = 0; k < n; k++) s->candidates += candidate[k];
        take_memory(s, arena);
        fine = !lw_arena_failed(arena);
    }
    if (fine) {
        sort_candidates(s, candidate, up, next);
        take_matrices(s, arena);
        fine = !lw_arena_failed(arena);
    }
    free(next), free(up);
    return fine ? s : NULL;
}

/* Takes the candidates that are algebraic at the position of the flow. */
static void take_loose(lw_springs *s) {
    const bool *loose = s->flow->dampers->loose;
    s->count = s->largest = 0;
    for (int g = 0; g < s->groups; g++) {
        s->start[g] = s->count;
        for (int k = s->first[g]; k < s->first[g + 1]; k++)
            if (loose[s->candidate[k]]) s->direction[s->count++] = s->candidate[k];
        if (s->count - s->start[g] > s->largest) s->largest = s->count - s->start[g];
    }
    s->start[s->groups] = s->count;
}

/* --- differences -------------------------------------------------------------------------------------- */

/* out = L^-1 N'Q at (q, v, t), evaluated by the probe in the basis of the flow. Returns false if the probe
 * fails there. */
static bool balance(lw_springs *s, double t, const double *q, const double *v, const double *tau,
                    double *out) {
    lw_flow *probe = s->probe;
    probe->null->follow = s->flow->null;
    probe->dampers->follow = s->flow->dampers;
    lw_take_state(probe->model, probe->data, t, q, v);
    if (lw_flow_at(probe, t, tau, NULL) != LW_OK) return false;
    memcpy(out, probe->gamma, (size_t)probe->shape->count * sizeof *out);
    lw_dampers_lower(probe->dampers, out);
    return true;
}

void lw_springs_spread(lw_springs *s, int k, const double *x) {
    memset(s->z, 0, (size_t)s->flow->shape->count * sizeof *s->z);
    for (int g = 0; g < s->groups; g++)
        for (int j = s->start[g]; j < s->start[g + 1]; j++)
            if (k < 0 || j - s->start[g] == k) s->z[s->direction[j]] = springs_unit(s, j) * (x ? x[j] : 1);
    lw_dampers_upper(s->flow->dampers, s->z);
}

/* Adds up the sizes of the forces in the probe, element by element: forces may cancel in their sum, but their
 * rounding does not. Loads and joint forces of the probe are overwritten. */
static void find_efforts(lw_springs *s, double t, const double *tau) {
    const lw_model *model = s->flow->model;
    lw_data *data = s->probe->data;
    const double length = s->flow->shape->length;
    double *of_speed = s->effort + model->body_count + 1;
    memset(s->effort, 0, ((size_t)model->body_count + 1 + (size_t)model->nv) * sizeof *s->effort);
    for (int k = 0; k < model->nv; k++) data->tau[k] = tau ? tau[k] : 0;
    lw_signals(model, data, t);
    for (int f = -1; f < model->force_count; f++) { /* f = -1 stands for the caller's joint forces. */
        const lw_force *force = f < 0 ? NULL : &model->forces[f];
        bool in_joint = force && acts_in_joint(force);
        if (force && !(in_joint && force->closure < 0)) {
            int bodies[2];
            lw_damper_bodies(model, force, bodies);
            for (int b = 0; b < 2; b++) memset(data->load + 6 * bodies[b], 0, 6 * sizeof *data->load);
            lw_forces_add(model, data, f, f + 1, t, false);
            for (int b = 0; b < 2; b++) {
                const double *load = data->load + 6 * bodies[b];
                double arm = length + (in_joint ? 0 : lw_v3_norm(force->frames[b].p));
                s->effort[bodies[b]] += lw_v3_norm(load) + arm * lw_v3_norm(load + 3);
            }
            continue;
        }
        int first = force ? force->v : 0, end = force ? first + 1 : model->nv;
        if (force) data->tau[first] = 0, lw_forces_add(model, data, f, f + 1, t, false);
        for (int k = first; k < end; k++) of_speed[k] += fabs(data->tau[k]) * s->flow->shape->unit[k];
    }
}

/* Returns the size of the terms of the balance of direction k, in the units of g, as if the largest motion of
 * the direction did work against each of the forces. */
static double effort_along(const lw_springs *s, int k) {
    const lw_null *null = s->probe->null;
    const lw_null_shape *shape = null->shape;
    const double *of_speed = s->effort + shape->model->body_count + 1;
    double most = 0, sum = 0;
    for (int m = shape->moved_start[k]; m < shape->moved_start[k + 1]; m++) {
        const double *twist = null->twist + 6 * m;
        most = fmax(most, fmax(lw_v3_norm(twist), lw_v3_norm(twist + 3) / shape->length));
        sum += s->effort[shape->body[m]];
    }
    for (int e = shape->entry_start[k]; e < shape->entry_start[k + 1]; e++) {
        int speed = shape->speed[e];
        most = fmax(most, fabs(null->value[e]) / shape->unit[speed]);
        sum += of_speed[speed];
    }
    return most * sum * shape->unit[null->rep[k]];
}

/* Computes L U with row pivoting, in place. Pivots that do not exceed `noise` are replaced by 1, and their
 * columns are marked in lost. Returns the first such column, or -1. */
static int factor_group(int n, double *A, int *order, double noise, bool *lost) {
    int bad = -1;
    for (int k = 0; k < n; k++) order[k] = k;
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
        lost[k] = !(fabs(A[p * n + k]) > noise);
        if (lost[k]) {
            if (bad < 0) bad = k;
            for (int i = k; i < n; i++) A[i * n + k] = i == k ? 1 : 0;
            continue;
        }
        for (int j = 0; j < n && p != k; j++) {
            double x = A[k * n + j];
            A[k * n + j] = A[p * n + j], A[p * n + j] = x;
        }
        int row = order[k];
        order[k] = order[p], order[p] = row;
        for (int i = k + 1; i < n; i++) {
            double l = A[i * n + k] /= A[k * n + k];
            for (int j = k + 1; j < n; j++) A[i * n + j] -= l * A[k * n + j];
        }
    }
    return bad;
}
static void solve_group(int n, const double *A, const int *order, const double *b, double *x) {
    for (int i = 0; i < n; i++) {
        x[i] = b[order[i]];
        for (int j = 0; j < i; j++) x[i] -= A[i * n + j] * x[j];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= A[i * n + j] * x[j];
        x[i] /= A[i * n + i];
    }
}

/* Returns the direction of a group, counted from its first, at which its balance is unstable, or -1. G must
 * not be factored yet. A is workspace. */
static int find_unstable(int n, const double *G, double *A, double noise) {
    double worst = 0, sign = 1;
    int bad = -1;
    bool symmetric = true;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double a = G[i * n + j], b = G[j * n + i];
            symmetric &= fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)) + noise;
        }
    for (int k = 0; k < n * n; k++) A[k] = -G[k];
    for (int k = 0; k < n; k++) /* The direction with the largest force away from balance is named. */
        if (A[k * n + k] < worst) worst = A[k * n + k], bad = k;
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n && !symmetric; i++)
            if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
        for (int j = 0; j < n && p != k; j++) {
            double x = A[k * n + j];
            A[k * n + j] = A[p * n + j], A[p * n + j] = x;
        }
        double pivot = A[k * n + k];
        if (p != k) sign = -sign;
        if (pivot < 0) sign = -sign;
        if (symmetric && pivot < -noise) return bad >= 0 ? bad : k;
        for (int i = k + 1; i < n && symmetric && !(pivot > noise); i++) /* a negative 2 x 2 minor */
            if (A[i * n + k] * A[i * n + k] > noise * fabs(A[i * n + i])) return bad >= 0 ? bad : k;
        if (!(fabs(pivot) > noise)) return -1; /* The direction is lost, not unstable. */
        for (int i = k + 1; i < n; i++) {
            double l = A[i * n + k] / pivot;
            for (int j = k; j < n; j++) A[i * n + j] -= l * A[k * n + j];
        }
    }
    return sign > 0 ? -1 : bad >= 0 ? bad : 0;
}

/* Computes G and its noise at the position of the flow. */
static void differentiate(lw_springs *s, double t, const double *tau) {
    const lw_flow *flow = s->flow;
    const lw_model *model = flow->model;
    const double h = springs_root3;
    take_loose(s);
    for (int g = 0; g < s->groups; g++) s->noise[g] = 0;
    for (int k = 0; k < s->largest; k++) {
        memset(s->u, 0, (size_t)model->nv * sizeof *s->u);
        lw_springs_spread(s, k, NULL);
        lw_null_times(flow->null, s->z, s->u);
        bool fine = true;
        for (int side = 0; side < 2; side++) {
            memcpy(s->q, flow->data->q, (size_t)model->nq * sizeof *s->q);
            lw_integrate_q(model, s->q, s->u, side ? -h : h);
            fine = fine && balance(s, t, s->q, flow->data->v, tau, side ? s->minus : s->plus);
        }
        for (int g = 0; g < s->groups; g++) {
            int n = s->start[g + 1] - s->start[g];
            for (int i = 0; i < n && k < n; i++) {
                int d = s->direction[s->start[g] + i];
                double unit = springs_unit(s, s->start[g] + i);
                s->G[g][i * n + k] = fine ? unit * (s->plus[d] - s->minus[d]) / (2 * h) : 0;
            }
        }
    }
    if (s->largest) find_efforts(s, t, tau);
    for (int d = 0; d < flow->shape->count && s->largest; d++)
        if (s->group[d] >= 0)
            s->noise[s->group[d]] = fmax(s->noise[s->group[d]], springs_roundings / h * effort_along(s, d));
    for (int g = 0; g < s->groups; g++) {
        int n = s->start[g + 1] - s->start[g];
        for (int k = 0; k < n * n; k++) /* Differences have a relative error of 1e-11. */
            s->noise[g] = fmax(s->noise[g], 1e-9 * fabs(s->G[g][k]));
    }
}

int lw_springs_factor(lw_springs *s, double t, const double *tau) {
    int first_bad = -1;
    differentiate(s, t, tau);
    for (int g = 0; g < s->groups; g++) {
        int n = s->start[g + 1] - s->start[g];
        int unstable = find_unstable(n, s->G[g], s->room, s->noise[g]);
        s->unstable[g] = unstable < 0 ? -1 : s->direction[s->start[g] + unstable];
        for (int k = 0; k < n; k++) {
            double unit = springs_unit(s, s->start[g] + k);
            s->stiffness[s->start[g] + k] = fabs(s->G[g][k * n + k]) / (unit * unit);
        }
        int bad = factor_group(n, s->G[g], s->order[g], s->noise[g], s->lost + s->start[g]);
        if (bad >= 0 && first_bad < 0) first_bad = s->direction[s->start[g] + bad];
    }
    return first_bad;
}

double lw_springs_stiffness(const lw_springs *s, int direction) {
    for (int k = 0; k < s->count; k++)
        if (s->direction[k] == direction) return s->stiffness[k];
    return 0;
}

bool lw_springs_lost(const lw_springs *s, int direction) {
    for (int k = 0; k < s->count; k++)
        if (s->direction[k] == direction) return s->lost[k];
    return false;
}

void lw_springs_free(lw_springs *s, int direction, double *z) {
    memset(z, 0, (size_t)s->flow->shape->count * sizeof *z);
    for (int g = 0; g < s->groups; g++) {
        int n = s->start[g + 1] - s->start[g], k = 0;
        const int *own = s->direction + s->start[g];
        const bool *lost = s->lost + s->start[g];
        while (k < n && own[k] != direction) k++;
        if (k == n || !lost[k]) continue;
        double *x = s->solution + s->start[g]; /* the solution of U x = 0 */
        x[k] = 1;
        for (int i = k - 1; i >= 0; i--) {
            x[i] = 0;
            for (int j = i + 1; j <= k && !lost[i]; j++)
                x[i] -= s->G[g][i * n + j] * x[j] / s->G[g][i * n + i];
        }
        for (int i = 0; i <= k; i++) z[own[i]] = springs_unit(s, s->start[g] + i) * x[i];
    }
    lw_dampers_upper(s->flow->dampers, z);
}

/* solution = -G^-1 g. Returns its largest absolute value. g becomes -g. */
static double solve(lw_springs *s) {
    double most = 0;
    for (int k = 0; k < s->count; k++) s->g[k] = -s->g[k];
    for (int g = 0; g < s->groups; g++)
        solve_group(s->start[g + 1] - s->start[g], s->G[g], s->order[g], s->g + s->start[g],
                    s->solution + s->start[g]);
    for (int k = 0; k < s->count; k++)
        most = isfinite(s->solution[k]) ? fmax(most, fabs(s->solution[k])) : HUGE_VAL;
    return most;
}

/* Reports an error of direction k, which springs alone hold, with its body, motion and joint. */
static lw_status say(const lw_springs *s, int k, lw_error *error, const char *remedy, const char *what,
                     double t) {
    const lw_model *model = s->flow->model;
    int speed = s->flow->null->rep[k];
    const lw_body *body = &model->bodies[lw_body_of_speed(model, speed)];
    char motion[96];
    lw_describe_speed(model, speed, motion, sizeof motion);
    return lw_fail_at(error, LW_ERROR_SINGULAR, model->file, body->place, "body", body->name, remedy,
                      "springs alone hold its %s (joint \"%s\"), %s at t = %g", motion,
                      model->joints[body->joint_index].name, what, t);
}

/* Tells whether direction k never has a damper, or has lost it in a region. Otherwise its damper stands
 * across it at this position only. */
static bool is_sprung(const lw_springs *s, int k) {
    const bool *held = lw_dampers_held(s->flow->dampers);
    return s->flow->dampers->skipped[k] || (held && held[k]);
}

/* Reports that Newton's method has found no balance. */
static lw_status no_balance(const lw_springs *s, int k, double t, lw_error *error) {
    if (!is_sprung(s, k)) return lw_undetermined_speed(s->flow->model, s->flow->null->rep[k], false, error);
    return say(s, k, error,
               "begin nearer to a position where its forces balance, or give it mass or damping there",
               "and no balance is found from its position", t);
}

/* Reports that the springs do not resist the motion at this position, though elsewhere they do. */
static lw_status slack(const lw_springs *s, int k, double t, lw_error *error) {
    if (!is_sprung(s, k)) return lw_undetermined_speed(s->flow->model, s->flow->null->rep[k], false, error);
    return say(s, k, error, "add a spring, a damper or inertia there, or begin at another position",
               "and do not resist it in its position", t);
}

/* Computes g at the position of the flow. The forces are those of the flow, or those of the probe in two
 * cases: if latent dampers act, whose laws the probe evaluates at rest; and if the flow's forces contain the
 * loads of idle spins, which are no part of the balance. */
static void take_balance(lw_springs *s, double t, const double *tau) {
    const lw_flow *flow = s->flow;
    const bool as_they_are = !s->probe->data->still && !flow->model->idle_count;
    if (as_they_are || !balance(s, t, flow->data->q, flow->data->v, tau, s->z)) {
        lw_null_forces(flow->null, flow->data, s->z);
        lw_dampers_lower(flow->dampers, s->z);
    }
    for (int k = 0; k < s->count; k++) s->g[k] = springs_unit(s, k) * s->z[s->direction[k]];
}

/* Reports an unstable balance. */
static lw_status check_stable(const lw_springs *s, double t, lw_error *error) {
    int g = 0;
    while (g < s->groups && s->unstable[g] < 0) g++;
    if (g == s->groups) return LW_OK;
    return say(s, s->unstable[g], error,
               "give it mass or damping there, or positions from which it finds a stable balance",
               "in an unstable balance", t);
}

/* Returns the index of the algebraic direction whose forces are out of balance by the largest share of their
 * sizes, if this share exceeds the tolerance of the balance check and the distance from balance exceeds the
 * rounding of positions; else -1. Leaves -g in g and the displacement to the balance in solution. */
static int out_of_balance(lw_springs *s, double t, const double *tau) {
    static const double allowed = 5e-7;  /* a share of the forces on the direction, as LW_BALANCE_ENOUGH */
    static const double rounding = 1e-9; /* an angle, or a part of the typical length */
    double most = allowed;
    int bad = -1;
    take_balance(s, t, tau);
    solve(s);
    for (int k = 0; k < s->count; k++) {
        double size = effort_along(s, s->direction[k]);
        if (!is_sprung(s, s->direction[k]) || !(fabs(s->solution[k]) > rounding)) continue;
        if (fabs(s->g[k]) > most * size) most = fabs(s->g[k]) / size, bad = k;
    }
    return bad;
}

lw_status lw_springs_check_balance(lw_springs *s, double t, const double *tau, lw_error *error) {
    if (!s->flow->dampers->loose_count) return LW_OK;
    int k = out_of_balance(s, t, tau);
    if (k < 0) return LW_OK;
    const lw_link *link = &s->flow->model->links[s->flow->shape->rep_body[s->direction[k]]];
    const bool turns = lw_joint_speed_turns(link->joint.type, s->flow->null->rep[s->direction[k]] - link->v);
    const double unit = springs_unit(s, k);
    char what[160];
    snprintf(what, sizeof what,
             "which moves no mass, and %.4g %s of force are left that nothing balances, about %.3g %s from "
             "balance",
             fabs(s->g[k]) / unit, turns ? "N m" : "N", unit * fabs(s->solution[k]), turns ? "rad" : "m");
    return say(s, s->direction[k], error,
               "begin where its forces balance, as a run does by itself, or give it mass or damping", what,
               t);
}

/* --- positions and velocities ------------------------------------------------------------------------- */

lw_status lw_springs_settle(lw_springs *s, double t, const double *tau, double *q, const double *v,
                            double *moved, lw_error *error) {
    enum { ROUNDS = 50 };
    lw_flow *flow = s->flow;
    const lw_model *model = flow->model;
    double last = HUGE_VAL;
    bool stays = false;
    *moved = 0;
    for (int round = 0; round < ROUNDS; round++) {
        lw_take_state(model, flow->data, t, q, v);
        lw_status status = lw_flow_at(flow, t, tau, error);
        if (status != LW_OK) return status;
        if (!flow->dampers->loose_count) return LW_OK;
        lw_springs_find_regions(s, t, tau);
        lw_springs_factor(s, t, tau);
        take_balance(s, t, tau);
        double most = solve(s);
        int bad = lw_springs_slack(s);
        if (bad >= 0) return slack(s, bad, t, error);
        if (!isfinite(most)) return no_balance(s, s->direction[0], t, error);
        if (!stays && lw_springs_pass_some(s)) {
            stays = !lw_springs_pass(s, t, tau, q, v);
            continue;
        }
        if (!(most > 1e-14) || (most < 1e-9 && most > 0.5 * last)) return check_stable(s, t, error);
        last = most;
        memset(s->u, 0, (size_t)model->nv * sizeof *s->u);
        lw_springs_spread(s, -1, s->solution);
        lw_null_times(flow->null, s->z, s->u);
        double part = most > 0.5 ? 0.5 / most : 1;
        lw_integrate_q(model, q, s->u, part);
        *moved = fmax(*moved, part * most);
    }
    return no_balance(s, s->direction[0], t, error);
}

void lw_springs_loops(lw_springs *s, lw_projection *loops) { s->loops = loops; }

/* Tells whether the symmetric part of A is positive definite. room: workspace, n x n. */
static bool is_definite(int n, const double *A, double *room) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double x = (A[i * n + j] + A[j * n + i]) / 2;
            for (int k = 0; k < j; k++) x -= room[i * n + k] * room[j * n + k];
            if (i == j && !(x > 1e-8 * fabs(A[i * n + i]))) return false;
            room[i * n + j] = i == j ? sqrt(x) : x / room[j * n + j];
        }
    return true;
}

/* Computes the step downhill of group g: (mu - G) z = g with the least mu of a geometric series for which the
 * matrix is positive definite and the step no longer than the radius; mu = 0 gives Newton's step. away: the
 * step leaves a balance along the motion that leaves it fastest. Returns the size of the step, or HUGE_VAL if
 * there is none. */
static double step_down(lw_springs *s, int g, bool away) {
    int from = s->start[g], n = s->start[g + 1] - from;
    double mu = 0, most = 0, *A = s->shifted, *z = s->step + from;
    for (int k = 0; k < n * n; k++) most = fmax(most, fabs(s->G[g][k]));
    if (!(most > 0) || !isfinite(most)) return n ? HUGE_VAL : 0;
    for (int tries = 0; tries<200; tries++, mu = mu> 0 ? 2 * mu : 1e-6 * most) {
        for (int k = 0; k < n * n; k++) A[k] = -s->G[g][k];
        for (int i = 0; i < n; i++) A[i * n + i] += mu;
        if (!is_definite(n, A, s->room) || factor_group(n, A, s->order[g], s->noise[g], s->lost + from) >= 0)
            continue;
        for (int i = 0; i < n; i++) z[i] = away ? sin(1.0 + i) : s->g[from + i];
        double size = 0;
        for (int power = 0; power < (away ? 20 : 1); power++) { /* inverse iteration */
            for (int i = 0; i < n; i++) s->down[from + i] = z[i];
            solve_group(n, A, s->order[g], s->down + from, z);
            size = 0;
            for (int i = 0; i < n; i++) size = fmax(size, fabs(z[i]));
            for (int i = 0; i < n && away; i++) z[i] *= 1e-3 / size;
        }
        if (away) return isfinite(size) ? 1e-3 : HUGE_VAL;
        if (size <= s->radius[g]) return size;
    }
    return HUGE_VAL;
}

/* Tells whether the step of group g goes downhill, by the force along it at its start (s->g) and at its end
 * (s->plus). */
static bool goes_down(const lw_springs *s, int g) {
    double before = 0, after = 0;
    for (int k = s->start[g]; k < s->start[g + 1]; k++) {
        before += s->g[k] * s->step[k];
        after += springs_unit(s, k) * s->plus[s->direction[k]] * s->step[k];
    }
    return after > -0.5 * fabs(before);
}

/* Leaves a position where a damper is lost, along the forces or from an unstable balance. Returns false if
 * the position is kept. */
static bool leave(lw_springs *s, double t, const double *tau, double *q, const double *v) {
    lw_springs_factor(s, t, tau);
    take_balance(s, t, tau);
    solve(s);
    if (lw_springs_pass_some(s)) return lw_springs_pass(s, t, tau, q, v);
    for (int k = 0; k < s->count; k++) s->down[k] = 0;
    differentiate(s, t, tau);
    bool unstable = false;
    for (int g = 0; g < s->groups; g++)
        if (s->unstable[g] >= 0 && isfinite(step_down(s, g, true)))
            unstable = true;
        else
            memset(s->step + s->start[g], 0, (size_t)(s->start[g + 1] - s->start[g]) * sizeof *s->step);
    return unstable && lw_springs_step_aside(s, t, tau, q, v, s->step);
}

/* Adds to work the work of drives and forces along a part of the step u from q, without the effect of
 * speeds. */
static void add_work(lw_springs *s, double t, const double *tau, const double *q, double part,
                     lw_power *work) {
    static const double node[3] = {0.1127016653792583, 0.5,
                                   0.8872983346207417}; /* Gauss's rule of degree 5 */
    static const double weight[3] = {5.0 / 18, 4.0 / 9, 5.0 / 18}, slow = 1e-4;
    const lw_model *model = s->flow->model;
    /* The last three evaluations are without the step's speeds: they subtract the power that is due to
     * prescribed motions. */
    for (int n = 0; n < 6; n++) {
        double sign = n < 3 ? 1 : 0, factor = (n < 3 ? weight[n % 3] : -weight[n % 3]) * part / slow;
        memcpy(s->q, q, (size_t)model->nq * sizeof *s->q);
        lw_integrate_q(model, s->q, s->u, part * node[n % 3]);
        for (int k = 0; k < model->nv; k++) s->v[k] = sign * slow * s->u[k];
        lw_take_state(model, s->probe->data, t, s->q, s->v);
        if (lw_flow_at(s->probe, t, tau, NULL) != LW_OK) continue;
        work->drives += factor * s->probe->data->power.drives;
        work->forces += factor * s->probe->data->power.forces;
    }
}

/* Each group has a trust region. The forces do work along each step, so a potential falls, and the balance at
 * the end is stable. */
lw_status lw_springs_descend(lw_springs *s, double t, const double *tau, double *q, const double *v,
                             lw_power *work) {
    enum { ROUNDS = 400 };
    static const double longest = 0.2, negligible = 1e-10;
    lw_flow *flow = s->flow;
    const lw_model *model = flow->model;
    bool stays = false;
    for (int g = 0; g < s->groups; g++) s->radius[g] = longest;
    for (int round = 0; round < ROUNDS; round++) {
        lw_take_state(model, flow->data, t, q, v);
        lw_status status = lw_flow_at(flow, t, tau, NULL);
        if (status != LW_OK) return status;
        if (!flow->dampers->loose_count) return LW_OK;
        lw_springs_find_regions(s, t, tau);
        if (!stays && flow->dampers->missing >= 0) {
            stays = !leave(s, t, tau, q, v);
            continue;
        }
        differentiate(s, t, tau);
        take_balance(s, t, tau);
        double most = 0;
        for (int g = 0; g < s->groups; g++) {
            int n = s->start[g + 1] - s->start[g];
            bool unstable = find_unstable(n, s->G[g], s->room, s->noise[g]) >= 0;
            double size = step_down(s, g, false);
            if (unstable && size < negligible) size = step_down(s, g, true);
            if (!isfinite(size)) return LW_ERROR_SINGULAR;
            most = fmax(most, size);
            s->reach[g] = size;
        }
        if (most < negligible) return LW_OK;
        memset(s->u, 0, (size_t)model->nv * sizeof *s->u);
        lw_springs_spread(s, -1, s->step);
        lw_null_times(flow->null, s->z, s->u);
        memcpy(s->q, q, (size_t)model->nq * sizeof *s->q);
        lw_integrate_q(model, s->q, s->u, 1);
        bool fine = balance(s, t, s->q, v, tau, s->plus), accepted = true;
        for (int g = 0; g < s->groups; g++) {
            if (s->reach[g] < negligible) continue; /* The group is in balance. */
            bool down = fine && goes_down(s, g);
            s->radius[g] = down ? fmin(longest, 2 * s->radius[g]) : s->reach[g] / 4;
            accepted &= down;
            if (s->radius[g] < 0.1 * negligible) return LW_ERROR_SINGULAR;
        }
        if (!accepted) continue;
        double part = lw_springs_engages(s, t, tau, q, v, s->u);
        if (work) add_work(s, t, tau, q, part, work);
        lw_integrate_q(model, q, s->u, part);
        lw_violation left;
        if (s->loops) lw_project_positions(s->loops, t, q, 40, &left, NULL);
    }
    return LW_ERROR_SINGULAR;
}

lw_status lw_springs_velocity(lw_springs *s, double t, const double *tau, lw_error *error) {
    lw_flow *flow = s->flow;
    const lw_model *model = flow->model;
    if (!flow->dampers->loose_count) return LW_OK;
    lw_springs_find_regions(s, t, tau);
    lw_springs_factor(s, t, tau);
    take_balance(s, t, tau);
    double most = solve(s);
    int bad = lw_springs_slack(s);
    if (bad >= 0) return slack(s, bad, t, error);
    bool passing = lw_springs_pass_some(s);
    if (passing)
        lw_springs_take_passing(s);
    else if (most < springs_near) {
        lw_status status = check_stable(s, t, error);
        if (status != LW_OK) return status;
    }
    double h = springs_root3 / lw_null_fastest(flow->shape, flow->data->v);
    for (int side = 0; side < 2; side++) {
        double dt = side ? -h : h;
        memcpy(s->q, flow->data->q, (size_t)model->nq * sizeof *s->q);
        memcpy(s->v, flow->data->v, (size_t)model->nv * sizeof *s->v);
        lw_integrate_q(model, s->q, s->v, dt);
        if (!balance(s, t + dt, s->q, s->v, tau, side ? s->minus : s->plus))
            return no_balance(s, s->direction[0], t, error);
    }
    for (int k = 0; k < s->count; k++)
        s->g[k] = springs_unit(s, k) * (s->plus[s->direction[k]] - s->minus[s->direction[k]]) / (2 * h);
    solve(s);
    for (int k = 0; k < s->count && passing; k++)
        if (isfinite(s->down[k])) s->solution[k] = s->down[k];
    lw_springs_spread(s, -1, s->solution);
    for (int k = 0; k < flow->shape->count; k++) {
        if (!isfinite(s->z[k])) return no_balance(s, k, t, error);
        flow->zeta[k] += s->z[k];
    }
    lw_null_times(flow->null, s->z, flow->data->v);
    if (model->forces_need_world) lw_null_move(flow->null, s->z, flow->data);
    lw_forces(model, flow->data, t, false);
    for (int k = 0; tau && k < model->nv; k++) flow->data->tau[k] += tau[k];
    return LW_OK;
}

void lw_springs_pull(lw_springs *s, double t, double rate, double *v) {
    lw_flow *flow = s->flow;
    if (!flow->dampers->loose_count) return;
    take_balance(s, t, NULL);
    for (int k = 0; k < s->count; k++) s->g[k] *= rate;
    solve(s);
    lw_springs_spread(s, -1, s->solution);
    lw_null_times(flow->null, s->z, v);
}

/* massless_springs.c - motions without mass that no damper resists: springs hold them, and the balance is one of positions.
 *
 *   g(q, t) = (L^-1 N'Q)_a = 0,      a the directions whose pivot of N'C N = L D L' vanishes
 *
 * g does not depend on velocities: the rows of L^-1 of these directions are the null vectors of N'C N. Displacements along N L^-T e_a
 * change it by G. From it follow the positions, by Newton's method, and the velocities that keep it zero,
 *
 *   v += N L^-T eta,     G eta = -dg/dt along (v, t)
 *
 * G and dg/dt are central differences, G for all groups of directions at once that share neither bodies nor elements.
 *
 * Which directions are algebraic may change with position: where a damper stands across a motion that it resists elsewhere, springs hold
 * that as well. Candidates are those that may be; those whose pivot is lost at the position are taken.
 *
 * Source   docs/theory/massless.md, 5.
 * Cost     O(n) times the largest group, and the cube of each group; no allocation but in create.
 */
#include "formulations/massless.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lw_springs {
    lw_flow *flow, *probe;
    int candidates, *candidate; /* directions, by groups */
    int groups, *first;         /* groups + 1: their candidates */
    /* of the last factor: */
    int count, *direction; /* algebraic directions, by groups */
    int *start;            /* groups + 1: of these */
    int largest;           /* group */
    double **G;            /* per group: row by row, factored in place */
    int **order;           /* per group: rows after pivoting */
    double *q, *v;         /* displaced */
    double *z, *u;         /* per direction, per speed */
    double *plus, *minus;  /* g */
    double *g, *solution;  /* per algebraic direction */
    int *group;            /* per direction: its group, -1 if that has no candidates */
    double *size;          /* per direction: of the forces that balance */
    double *noise;         /* per group: of differences */
    bool *lost;            /* per algebraic direction: nothing holds it */
};

/* --- groups ---------------------------------------------------------------------------------------------- */

static int root(int *up, int k) {
    while (up[k] != k) k = up[k] = up[up[k]];
    return k;
}
static void unite(int *up, int a, int b) {
    if (a >= 0 && b >= 0) up[root(up, a)] = root(up, b);
}

/* Directions that share a body on their ways, or an element, belong together. */
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
        if (force->type == LW_FORCE_SPRING || force->type == LW_FORCE_BUSHING ||
            force->type == LW_FORCE_APPLIED)
            unite(up, of_body[force->bodies[0]], of_body[force->bodies[1]]);
    }
    free(of_body);
    return true;
}

lw_springs *lw_springs_create(lw_flow *flow, lw_flow *probe, const bool *candidate, lw_arena *arena) {
    const lw_null_shape *shape = flow->shape;
    const lw_model *model = flow->model;
    lw_springs *s = LW_NEW(arena, lw_springs, 1);
    int n = shape->count, *up = malloc(((size_t)n + 1) * sizeof *up);
    int *place = calloc((size_t)n + 2, sizeof *place);
    bool fine = s && up && place && find_groups(shape, up);
    if (fine) {
        s->flow = flow, s->probe = probe;
        for (int k = 0; k < n; k++) s->candidates += candidate[k];
        int room = s->candidates + 1;
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
        s->size = LW_NEW(arena, double, n + 1);
        s->noise = LW_NEW(arena, double, room);
        s->lost = LW_NEW(arena, bool, room);
        fine = s->candidate && s->direction && s->first && s->start && s->G && s->order && s->q && s->v &&
               s->u && s->z && s->plus && s->minus && s->g && s->solution && s->group && s->size &&
               s->noise && s->lost;
    }
    if (fine) { /* counted, then placed, by the root of the group */
        int *size = place, at = 0;
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
            if (candidate[k]) s->candidate[place[root(up, k)]++] = k;
        for (int g = 0; g < s->groups && fine; g++) {
            size_t own = (size_t)(s->first[g + 1] - s->first[g]);
            s->G[g] = LW_NEW(arena, double, own *own);
            s->order[g] = LW_NEW(arena, int, own);
            fine = s->G[g] && s->order[g];
        }
    }
    free(place), free(up);
    return fine ? s : NULL;
}

/* Those that are algebraic at the position of the flow. */
static void take_loose(lw_springs *s) {
    const bool *loose = lw_dampers_loose(s->flow->dampers);
    s->count = s->largest = 0;
    for (int g = 0; g < s->groups; g++) {
        s->start[g] = s->count;
        for (int k = s->first[g]; k < s->first[g + 1]; k++)
            if (loose[s->candidate[k]]) s->direction[s->count++] = s->candidate[k];
        if (s->count - s->start[g] > s->largest) s->largest = s->count - s->start[g];
    }
    s->start[s->groups] = s->count;
}

/* --- differences ------------------------------------------------------------------------------------------- */

/* L^-1 N'Q of the probe at (q, v, t). False where that cannot be had. */
static bool balance(lw_springs *s, double t, const double *q, const double *v, const double *tau,
                    double *out) {
    lw_flow *probe = s->probe;
    probe->null->follow = s->flow->null;
    lw_dampers_follow(probe->dampers, s->flow->dampers);
    lw_take_state(probe->model, probe->data, t, q, v);
    memcpy(probe->data->cut_q, s->flow->data->cut_q,
           LW_JOINT_MAX_Q * (size_t)probe->model->closure_count * sizeof *probe->data->cut_q);
    if (lw_flow_at(probe, t, tau, NULL) != LW_OK) return false;
    memcpy(out, probe->gamma, (size_t)probe->shape->count * sizeof *out);
    lw_dampers_lower(probe->dampers, out);
    return true;
}

/* z = the displacement or velocity of all directions for `x` of the algebraic ones of index k in their groups (or all: k < 0). */
static void spread(lw_springs *s, int k, const double *x) {
    memset(s->z, 0, (size_t)s->flow->shape->count * sizeof *s->z);
    for (int g = 0; g < s->groups; g++)
        for (int j = s->start[g]; j < s->start[g + 1]; j++)
            if (k < 0 || j - s->start[g] == k) s->z[s->direction[j]] = x ? x[j] : 1;
    lw_dampers_upper(s->flow->dampers, s->z);
}

/* L U with row pivoting, in place. Pivots that do not exceed `noise` or vanish against the largest entry are replaced, their number of
 * column is told; returns the first, or -1. */
static int factor_group(int n, double *A, int *order, double noise, bool *lost) {
    double largest = 0;
    int bad = -1;
    for (int k = 0; k < n * n; k++) largest = fmax(largest, fabs(A[k]));
    noise = fmax(noise, 1e-9 * largest); /* differences leave 1e-11 */
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

static const double root3 = 6.1e-6; /* of epsilon: step of central differences, relative */

int lw_springs_factor(lw_springs *s, double t, const double *tau) {
    const lw_flow *flow = s->flow;
    const lw_model *model = flow->model;
    const double h = root3 * fmin(1, flow->shape->length);
    int first_bad = -1;
    take_loose(s);
    for (int g = 0; g < s->groups; g++) s->noise[g] = 0;
    for (int k = 0; k < s->largest; k++) {
        memset(s->u, 0, (size_t)model->nv * sizeof *s->u);
        spread(s, k, NULL);
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
                s->G[g][i * n + k] = fine ? (s->plus[d] - s->minus[d]) / (2 * h) : 0;
            }
        }
        lw_null_force_sizes(s->probe->null, s->probe->data, s->size);
        for (int d = 0; d < flow->shape->count; d++)
            if (s->group[d] >= 0) s->noise[s->group[d]] = fmax(s->noise[s->group[d]], 1e-14 / h * s->size[d]);
    }
    for (int g = 0; g < s->groups; g++) {
        int bad = factor_group(s->start[g + 1] - s->start[g], s->G[g], s->order[g], s->noise[g],
                               s->lost + s->start[g]);
        if (bad >= 0 && first_bad < 0) first_bad = s->direction[s->start[g] + bad];
    }
    return first_bad;
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
        double *x = s->solution + s->start[g]; /* U x = 0 */
        x[k] = 1;
        for (int i = k - 1; i >= 0; i--) {
            x[i] = 0;
            for (int j = i + 1; j <= k && !lost[i]; j++)
                x[i] -= s->G[g][i * n + j] * x[j] / s->G[g][i * n + i];
        }
        for (int i = 0; i <= k; i++) z[own[i]] = x[i];
    }
    lw_dampers_upper(s->flow->dampers, z);
}

/* solution = -G^-1 g */
static void solve(lw_springs *s) {
    for (int k = 0; k < s->count; k++) s->g[k] = -s->g[k];
    for (int g = 0; g < s->groups; g++)
        solve_group(s->start[g + 1] - s->start[g], s->G[g], s->order[g], s->g + s->start[g],
                    s->solution + s->start[g]);
}

static lw_status no_balance(const lw_springs *s, int k, double t, lw_error *error) {
    lw_error where = {0};
    int speed = s->flow->null->rep[k];
    if (!lw_dampers_skipped(s->flow->dampers)[k])
        return lw_undetermined_speed(s->flow->model, speed, false, error);
    lw_undetermined_speed(s->flow->model, speed, false, &where);
    return lw_fail(error, LW_ERROR_SINGULAR, where.object, "look at the springs that hold it",
                   "springs alone hold it, and do not hold it in balance at t = %g", t);
}

/* --- what they are for ---------------------------------------------------------------------------------------- */

lw_status lw_springs_settle(lw_springs *s, double t, const double *tau, double *q, const double *v,
                            double *moved, lw_error *error) {
    enum { ROUNDS = 50 };
    lw_flow *flow = s->flow;
    const lw_model *model = flow->model;
    double last = HUGE_VAL;
    *moved = 0;
    for (int round = 0; round < ROUNDS; round++) {
        lw_take_state(model, flow->data, t, q, v);
        lw_status status = lw_flow_at(flow, t, tau, error);
        if (status != LW_OK) return status;
        if (!lw_dampers_loose_count(flow->dampers)) return LW_OK;
        int bad = lw_springs_factor(s, t, tau);
        if (bad >= 0) return no_balance(s, bad, t, error);
        memcpy(s->z, flow->gamma, (size_t)flow->shape->count * sizeof *s->z);
        lw_dampers_lower(flow->dampers, s->z);
        for (int k = 0; k < s->count; k++) s->g[k] = s->z[s->direction[k]];
        solve(s);
        double most = 0;
        for (int k = 0; k < s->count; k++) most = fmax(most, fabs(s->solution[k]));
        if (!isfinite(most)) return no_balance(s, s->direction[0], t, error);
        double far = flow->shape->length + 1;
        if (!(most > 1e-14 * far) || (most < 1e-9 * far && most > 0.5 * last)) return LW_OK;
        last = most;
        memset(s->u, 0, (size_t)model->nv * sizeof *s->u);
        spread(s, -1, s->solution);
        lw_null_times(flow->null, s->z, s->u);
        double part = most > 0.5 * far ? 0.5 * far / most : 1;
        lw_integrate_q(model, q, s->u, part);
        *moved = fmax(*moved, part * most);
    }
    return no_balance(s, s->direction[0], t, error);
}

lw_status lw_springs_velocity(lw_springs *s, double t, const double *tau, lw_error *error) {
    lw_flow *flow = s->flow;
    const lw_model *model = flow->model;
    if (!lw_dampers_loose_count(flow->dampers)) return LW_OK;
    int bad = lw_springs_factor(s, t, tau);
    if (bad >= 0) return no_balance(s, bad, t, error);
    double fastest = 1;
    for (int k = 0; k < model->nv; k++) fastest = fmax(fastest, fabs(flow->data->v[k]));
    double h = root3 / fastest;
    for (int side = 0; side < 2; side++) {
        double dt = side ? -h : h;
        memcpy(s->q, flow->data->q, (size_t)model->nq * sizeof *s->q);
        memcpy(s->v, flow->data->v, (size_t)model->nv * sizeof *s->v);
        lw_integrate_q(model, s->q, s->v, dt);
        if (!balance(s, t + dt, s->q, s->v, tau, side ? s->minus : s->plus))
            return no_balance(s, s->direction[0], t, error);
    }
    for (int k = 0; k < s->count; k++)
        s->g[k] = (s->plus[s->direction[k]] - s->minus[s->direction[k]]) / (2 * h);
    solve(s);
    spread(s, -1, s->solution);
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

void lw_springs_pull(lw_springs *s, double rate, double *v) {
    lw_flow *flow = s->flow;
    if (!lw_dampers_loose_count(flow->dampers)) return;
    lw_null_forces(flow->null, flow->data, s->z);
    lw_dampers_lower(flow->dampers, s->z);
    for (int k = 0; k < s->count; k++) s->g[k] = rate * s->z[s->direction[k]];
    solve(s);
    spread(s, -1, s->solution);
    lw_null_times(flow->null, s->z, v);
}

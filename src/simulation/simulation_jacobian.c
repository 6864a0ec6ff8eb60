/* simulation_jacobian.c - the linear equations of implicit steps from exact derivatives.
 *
 *   (I - g J) x = r,   J = df/dy,   y = (q, v, user states)
 *
 * Coordinates change by motions w: x_q = T w, for a scalar coordinate with T = 1, and for a quaternion with
 * qdot = T(q) v = B(v) q and the term of joint.c that keeps it at unit length
 *
 *   x_q = Q^-1 (r_q + g T x_v),   Q = I - g B + g |v| q q',   (I - g B)^-1 = (I + g B) / (1 + g^2 |v|^2 / 4)
 *   w = T^+ x_q = T^+ Q^-1 r_q + g E x_v,   E = T^+ Q^-1 T                                          (1, 2)
 *
 * so that the coordinates are eliminated and one system in speeds and user states u remains:
 *
 *   x_v - g (A_q g E + A_v) x_v - g A_u x_u = r_v + g A_q T^+ Q^-1 r_q                                 (3)
 *
 * with the derivatives A of the accelerations (solver_derivatives.c), and likewise for the rates of u.
 *
 * Source   docs/theory/linearly_implicit.md, 9-12.
 * Symbols  nf free speeds (not prescribed), ns user states.
 * Cost     at: the derivatives; factor: (nf + ns)^3 2/3; solve: O(nf (nf + ns)). Allocates in create only.
 * Limits   methods in joint coordinates; models whose derivatives exist (derivatives.h). For prescribed
 *          coordinates, which are functions of time, J is zero.
 */
#include "simulation/simulation_parts.h"
#include "linalg/dense_lu.h"
#include "model/joint.h"
#include "model/joint_types.h"
#include "model/signals.h"
#include "simulation/solver/solver_derivatives.h"

#include <math.h>
#include <string.h>

/* The quaternion of a ball in q, and its three speeds. */
typedef struct ball {
    int q, v;
    double T[12]; /* its columns are the rates for a unit of each speed */
    double E[9];  /* row by row */
} ball;

struct lw_simulation_jacobian {
    lw_arena *arena;
    const lw_model *model;
    lw_derivatives *derivatives;
    lw_linearised table;
    double *q, *v, *rates; /* the state; ns x (free motions, free speeds, user states), row by row */
    double *row, *w, *x;   /* workspaces */
    double *matrix;        /* nf + ns squared: the factors of (3) */
    int *pivots;
    int *coordinate; /* per free speed: its coordinate in q, or -1 if it is one of a ball */
    int *place;      /* per speed: its number among the free ones, or -1 */
    ball *balls;
    int ball_count;
    double gamma;
};

/* p (0, w) / 2 for quaternions: B(w) p, and T(p) w. */
static void turn(const double p[4], const double w[3], double out[4]) {
    out[0] = -0.5 * (p[1] * w[0] + p[2] * w[1] + p[3] * w[2]);
    out[1] = 0.5 * (p[0] * w[0] + p[2] * w[2] - p[3] * w[1]);
    out[2] = 0.5 * (p[0] * w[1] + p[3] * w[0] - p[1] * w[2]);
    out[3] = 0.5 * (p[0] * w[2] + p[1] * w[1] - p[2] * w[0]);
}

/* x := Q^-1 x of (1) for a quaternion q with speeds w. */
static void unturn(const double q[4], const double w[3], double gamma, double x[4]) {
    const double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], pull = gamma * sqrt(square);
    const double divisor = 1 + 0.25 * gamma * gamma * square;
    double moved[4], turned[4], along = 0, own = 0;
    turn(x, w, moved);
    turn(q, w, turned);
    for (int i = 0; i < 4; i++) {
        x[i] = (x[i] + gamma * moved[i]) / divisor;
        turned[i] = (q[i] + gamma * turned[i]) / divisor;
        along += q[i] * x[i], own += q[i] * turned[i];
    }
    for (int i = 0; i < 4; i++) x[i] -= pull * along / (1 + pull * own) * turned[i];
}

/* --- creation -------------------------------------------------------------------------------------- */

static bool take_memory(lw_simulation_jacobian *j) {
    const lw_model *model = j->model;
    const lw_derivatives *d = j->derivatives;
    const size_t nf = (size_t)d->free_count, ns = (size_t)model->values.state_count, n = nf + ns;
    lw_arena *arena = j->arena;
    j->q = LW_NEW(arena, double, model->nq + 1);
    j->v = LW_NEW(arena, double, model->nv + 1);
    j->rates = LW_NEW(arena, double, ns *(2 * nf + ns) + 1);
    j->row = LW_NEW(arena, double, d->tree->columns + 1);
    j->w = LW_NEW(arena, double, model->nv + 1);
    j->x = LW_NEW(arena, double, n + 1);
    j->matrix = LW_NEW(arena, double, n *n + 1);
    j->pivots = LW_NEW(arena, int, n + 1);
    j->coordinate = LW_NEW(arena, int, nf + 1);
    j->place = LW_NEW(arena, int, model->nv + 1);
    j->balls = LW_NEW(arena, ball, model->body_count + 1);
    return !lw_arena_failed(arena);
}

static void find_places(lw_simulation_jacobian *j) {
    const lw_model *model = j->model;
    const lw_derivatives *d = j->derivatives;
    for (int k = 0; k < model->nv; k++) j->place[k] = -1;
    for (int f = 0; f < d->free_count; f++) j->place[d->free[f]] = f;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const int at = lw_joint_quaternion(link->joint.type), plain = at >= 0 ? at : link->joint.nv;
        for (int k = 0; k < link->joint.nv; k++)
            if (j->place[link->v + k] >= 0)
                j->coordinate[j->place[link->v + k]] = k < plain ? link->q + k : -1;
        if (at >= 0 && j->place[link->v + at] >= 0)
            j->balls[j->ball_count++] = (ball){.q = link->q + at, .v = link->v + at};
    }
}

/* --- J ---------------------------------------------------------------------------------------------- */

/* Derivatives of the rates of user states. Where one does not exist it counts as zero: steps are less well
 * informed then, and not wrong. */
static lw_status differentiate_rates(lw_simulation_jacobian *j, lw_error *error) {
    lw_derivatives *d = j->derivatives;
    lw_tree_derivatives *tree = d->tree;
    const lw_model *model = j->model;
    const lw_values *values = &model->values;
    const int nf = d->free_count, ns = values->state_count, nv = model->nv, wide = 2 * nf + ns;
    if (ns == 0) return LW_OK;
    tree->tolerant = true;
    const lw_quantity_source source = {.t = tree->t, .vdot = d->vdot};
    lw_values_compute(model, d->data, tree->t, &source, &values->for_rates);
    lw_status status = lw_value_derivatives(tree, &values->for_rates, error);
    for (int k = 0; k < ns && status == LW_OK; k++) {
        double *rates = j->rates + (size_t)k * (size_t)wide;
        memset(j->row, 0, (size_t)tree->columns * sizeof *j->row);
        lw_function_derivatives(tree, values->functions[values->input_count + k], &tree->t, d->data->computed,
                                1, j->row, NULL, 0);
        for (int f = 0; f < nf; f++) {
            rates[f] = j->row[d->free[f]];
            rates[nf + f] = j->row[nv + d->free[f]];
        }
        for (int u = 0; u < ns; u++) rates[2 * nf + u] = j->row[2 * nv + values->input_count + u];
        for (int c = 0; c < wide; c++)
            if (!isfinite(rates[c])) rates[c] = 0;
    }
    tree->tolerant = false;
    return status;
}

static lw_status linearise(lw_system *base, double t, const double *y, lw_error *error) {
    lw_simulation *s = ((lw_simulation_system *)base)->simulation;
    lw_simulation_jacobian *j = s->jacobian;
    const double seen = lw_simulation_seen(s, t);
    lw_simulation_see(s, y);
    s->plan.formulation->from_state(s->method, seen, y, j->q, j->v);
    const double *tau = lw_simulation_tau(s, seen, j->q, j->v);
    lw_status status = lw_derivatives_evaluate(j->derivatives, seen, j->q, j->v, tau, error);
    return status == LW_OK ? differentiate_rates(j, error) : status;
}

/* --- I - g J ---------------------------------------------------------------------------------------- */

/* T and E of (1) and (2). */
static void make_ball(ball *b, const double *q, const double *v, double gamma) {
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double *w = v + b->v, *p = q + b->q;
    const double size2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3];
    for (int k = 0; k < 3; k++) turn(p, unit[k], b->T + 4 * k);
    for (int k = 0; k < 3; k++) {
        double moved[4];
        memcpy(moved, b->T + 4 * k, sizeof moved);
        unturn(p, w, gamma, moved);
        for (int i = 0; i < 3; i++) {
            const double *T = b->T + 4 * i;
            b->E[3 * i + k] =
                4 * (T[0] * moved[0] + T[1] * moved[1] + T[2] * moved[2] + T[3] * moved[3]) / size2;
        }
    }
}

/* The matrix of (3), and its factors. */
static bool factor(lw_system *base, double gamma) {
    lw_simulation *s = ((lw_simulation_system *)base)->simulation;
    lw_simulation_jacobian *j = s->jacobian;
    const lw_derivatives *d = j->derivatives;
    const int nf = d->free_count, ns = j->model->values.state_count, nv = j->model->nv, n = nf + ns;
    const int wide = 2 * nf + ns, inputs = j->model->values.input_count;
    j->gamma = gamma;
    for (int c = 0; c < nf; c++) {
        double *column = j->matrix + (size_t)c * (size_t)n;
        const double *by_v = d->dvdot + (size_t)(nv + d->free[c]) * (size_t)nf;
        const double *by_q = d->dvdot + (size_t)d->free[c] * (size_t)nf;
        const double own = j->coordinate[c] >= 0 ? 1 : 0; /* Balls follow below. */
        for (int i = 0; i < nf; i++) column[i] = -gamma * (by_v[i] + gamma * own * by_q[i]);
        for (int u = 0; u < ns; u++) {
            const double *rates = j->rates + (size_t)u * (size_t)wide;
            column[nf + u] = -gamma * (rates[nf + c] + gamma * own * rates[c]);
        }
    }
    for (int k = 0; k < j->ball_count; k++) {
        ball *b = &j->balls[k];
        const int first = j->place[b->v];
        make_ball(b, j->q, j->v, gamma);
        for (int c = 0; c < 3; c++)
            for (int m = 0; m < 3; m++) {
                double *column = j->matrix + (size_t)(first + c) * (size_t)n;
                const double *by_q = d->dvdot + (size_t)(b->v + m) * (size_t)nf;
                const double weight = gamma * gamma * b->E[3 * m + c];
                for (int i = 0; i < nf; i++) column[i] -= weight * by_q[i];
                for (int u = 0; u < ns; u++)
                    column[nf + u] -= weight * j->rates[(size_t)u * (size_t)wide + (size_t)(first + m)];
            }
    }
    for (int c = 0; c < ns; c++) {
        double *column = j->matrix + (size_t)(nf + c) * (size_t)n;
        const double *by_u = d->dvdot + (size_t)(2 * nv + inputs + c) * (size_t)nf;
        for (int i = 0; i < nf; i++) column[i] = -gamma * by_u[i];
        for (int u = 0; u < ns; u++)
            column[nf + u] = -gamma * j->rates[(size_t)u * (size_t)wide + (size_t)(2 * nf + c)];
    }
    for (int k = 0; k < n; k++) j->matrix[(size_t)k * ((size_t)n + 1)] += 1;
    return lw_lu_factor(n, j->matrix, j->pivots);
}

static void solve(lw_system *base, double *y) {
    lw_simulation *s = ((lw_simulation_system *)base)->simulation;
    lw_simulation_jacobian *j = s->jacobian;
    const lw_derivatives *d = j->derivatives;
    const int nf = d->free_count, ns = j->model->values.state_count, nq = j->model->nq, wide = 2 * nf + ns;
    const double gamma = j->gamma;
    double *speeds = y + nq, *own = y + nq + j->model->nv, *x = j->x, *w = j->w;
    for (int f = 0; f < nf; f++) w[f] = j->coordinate[f] >= 0 ? y[j->coordinate[f]] : 0;
    for (int k = 0; k < j->ball_count; k++) {
        const ball *b = &j->balls[k];
        const double *p = j->q + b->q;
        const double size2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3];
        unturn(p, j->v + b->v, gamma, y + b->q);
        for (int m = 0; m < 3; m++) {
            const double *T = b->T + 4 * m, *r = y + b->q;
            w[j->place[b->v] + m] = 4 * (T[0] * r[0] + T[1] * r[1] + T[2] * r[2] + T[3] * r[3]) / size2;
        }
    }
    for (int f = 0; f < nf; f++) x[f] = speeds[d->free[f]];
    for (int u = 0; u < ns; u++) x[nf + u] = own[u];
    for (int c = 0; c < nf; c++) {
        const double *by_q = d->dvdot + (size_t)d->free[c] * (size_t)nf, moved = gamma * w[c];
        for (int i = 0; i < nf; i++) x[i] += moved * by_q[i];
        for (int u = 0; u < ns; u++) x[nf + u] += moved * j->rates[(size_t)u * (size_t)wide + (size_t)c];
    }
    lw_lu_solve(nf + ns, j->matrix, j->pivots, x);
    for (int f = 0; f < nf; f++) {
        speeds[d->free[f]] = x[f];
        if (j->coordinate[f] >= 0) y[j->coordinate[f]] += gamma * x[f];
    }
    for (int u = 0; u < ns; u++) own[u] = x[nf + u];
    for (int k = 0; k < j->ball_count; k++) { /* The rest of (1): g Q^-1 T x_v. */
        const ball *b = &j->balls[k];
        const double *v3 = x + j->place[b->v];
        double rate[4] = {0};
        for (int m = 0; m < 3; m++)
            for (int i = 0; i < 4; i++) rate[i] += gamma * v3[m] * b->T[4 * m + i];
        unturn(j->q + b->q, j->v + b->v, gamma, rate);
        for (int i = 0; i < 4; i++) y[b->q + i] += rate[i];
    }
}

/* --- the object ------------------------------------------------------------------------------------- */

static bool suits(const lw_simulation *s) {
    const lw_formulation *f = s->plan.formulation;
    return f->coordinates == LW_COORDINATES_JOINT && f->derivative && !f->cross && !f->newton_hints &&
           !f->frees_speeds && s->method->state_size == s->model->nq + s->model->nv && s->model->nv > 0;
}

static lw_status make(lw_simulation *s, lw_error *error) {
    const lw_simulation_system *system = &s->system;
    lw_arena *arena = lw_arena_create(s->allocator);
    lw_simulation_jacobian *j = LW_NEW(arena, lw_simulation_jacobian, 1);
    if (!j) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    *j = (lw_simulation_jacobian){.arena = arena, .model = s->model};
    s->jacobian = j;
    lw_solver_options options;
    lw_solver_defaults(s->model, &options);
    options.method = s->plan.formulation->name;
    options.penalty = s->method_options.penalty;
    options.unchecked = true;
    options.inputs = s->inputs, options.states = s->states;
    options.t = s->t, options.q = s->q, options.v = s->v;
    lw_status status = lw_derivatives_create(s->model, &options, s->allocator, &j->derivatives, error);
    if (status == LW_OK && !take_memory(j)) status = lw_out_of_memory(error);
    if (status != LW_OK) return status;
    find_places(j);
    j->table = (lw_linearised){.count = system->method->state_size + s->model->values.state_count,
                               .at = linearise,
                               .factor = factor,
                               .solve = solve};
    return LW_OK;
}

void lw_simulation_jacobian_drop(lw_simulation *s) {
    s->system.base.linearised = NULL;
    if (!s->jacobian) return;
    lw_derivatives_destroy(s->jacobian->derivatives);
    lw_arena_destroy(s->jacobian->arena);
    s->jacobian = NULL;
}

lw_status lw_simulation_jacobian_offer(lw_simulation *s, lw_error *error) {
    lw_system *system = &s->system.base;
    system->linearised = NULL;
    const int states = system->size - system->quadratures;
    if (states < s->integrator->linearises_least || states > s->integrator->linearises_most || !suits(s))
        return LW_OK;
    if (!s->jacobian || s->jacobian->model != s->model) {
        lw_error reason = {0};
        lw_simulation_jacobian_drop(s);
        lw_status status = make(s, &reason);
        /* Models without derivatives are integrated with differences. */
        if (status != LW_OK) lw_simulation_jacobian_drop(s);
        if (status == LW_ERROR_MEMORY && error) *error = reason;
        if (status != LW_OK) return status == LW_ERROR_MEMORY ? status : LW_OK;
    }
    system->linearised = &s->jacobian->table;
    return LW_OK;
}

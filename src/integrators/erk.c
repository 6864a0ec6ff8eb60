/* erk.c - explicit Runge-Kutta pairs with step size control: order 5, and order 8 for tight tolerances.
 *
 *   k_i = f(t + c_i h, y + h sum_j<i a_ij k_j),  y_next = y + h sum b_i k_i,  error = h sum (b_i - d_i) k_i
 *
 * with the coefficients of erk_pairs.c. Not SUNDIALS' ARKODE: that ends the run when a stage cannot be
 * evaluated (a singular position just outside of the path), where a smaller step is the answer, and its dense
 * output has degree 5 at most.
 *
 * Step size: error norm e = rms of error_i / (tolerance (1 + |y_i|)) over the states under control;
 * h_next = h * 0.9 e^(-0.7/k) e_previous^(0.4/k) within h/5 .. 5 h (Gustafsson's PI control; Hairer, Norsett,
 * Wanner, Solving Ordinary Differential Equations I, sect. II.4), k = 1 + order of the lower formula. First
 * step: ibid.
 *
 * Dense output: Hermite interpolation of y and ydot at both ends of the step and at one (order 5) or two
 * (order 8) interior points, which the same formula reaches by a shorter step from the beginning. Degree 5
 * and 7, local error O(h^6) and O(h^8) with small constants. Computed only for steps in which an output time
 * lies.
 *
 * Cost: 6 (order 5) or 13 (order 8) evaluations per step, about as many again per interior point of dense
 * output.
 */
#include "integrators/erk_pairs.h"
#include "integrators/integration.h"

#include <float.h>
#include <math.h>
#include <string.h>

extern const lw_integrator lw_erk;

static const double HIGH_ORDER_BELOW = 1e-9; /* tolerance from which order 8 needs fewer evaluations */

typedef struct {
    lw_integration base;
    lw_arena *arena;
    const lw_erk_pair *pair;
    int interior;   /* interior points of dense output */
    int controlled; /* states under error control */
    double tolerance, largest_step;

    double begin, end;                                 /* the last step; both the start before the first */
    double h;                                          /* next step to try */
    double last_error;                                 /* norm, of the last accepted step */
    double *y[LW_HERMITE_NODES], *f[LW_HERMITE_NODES]; /* at begin, end, interior points */
    bool interior_known, started;
    double *k[LW_ERK_STAGES], *stage;

    lw_error failure; /* of the last stage that could not be evaluated */
    long steps, evaluations, rejected;
} erk;

/* --- creation ----------------------------------------------------------------------------------------- */

static void destroy(lw_integration *integration) {
    if (integration) lw_arena_destroy(((erk *)integration)->arena);
}

static bool allocate(erk *run, size_t size) {
    bool ok = (run->stage = LW_NEW(run->arena, double, size)) != NULL;
    for (int i = 0; i < run->interior + 2; i++) {
        ok = ok && (run->y[i] = LW_NEW(run->arena, double, size));
        ok = ok && (run->f[i] = LW_NEW(run->arena, double, size));
    }
    for (int i = 1; i < run->pair->stages; i++) ok = ok && (run->k[i] = LW_NEW(run->arena, double, size));
    return ok;
}

static lw_status create(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                        const double *ydot, lw_integration **integration, lw_error *error) {
    (void)ydot;
    *integration = NULL;
    lw_status status = lw_check_start(&lw_erk, system, options, t, y, error);
    if (status) return status;

    bool high = options->tolerance <= HIGH_ORDER_BELOW;
    lw_arena *arena = lw_arena_create(NULL);
    erk *run = arena ? LW_NEW(arena, erk, 1) : NULL;
    if (run) {
        run->arena = arena;
        run->pair = high ? &lw_dormand_prince_87 : &lw_dormand_prince_54;
        run->interior = high ? 2 : 1;
    }
    if (!run || !allocate(run, (size_t)system->size)) {
        if (arena) lw_arena_destroy(arena);
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "no memory for %d states", system->size);
    }
    run->base.integrator = &lw_erk;
    run->base.system = system;
    run->controlled = lw_controlled_states(system);
    run->tolerance = options->tolerance;
    run->largest_step = options->step > 0 ? options->step : INFINITY;
    run->begin = run->end = t;
    run->last_error = 1;
    memcpy(run->y[1], y, sizeof *y * (size_t)system->size);
    *integration = &run->base;
    return LW_OK;
}

/* --- one step ----------------------------------------------------------------------------------------- */

static lw_status evaluate(erk *run, double t, const double *y, double *ydot) {
    return lw_checked_derivative(run->base.system, t, y, ydot, &run->evaluations, &run->failure);
}

/* Stages from (begin, y[0]) with k[0] = f[0], and the new state. */
static lw_status runge_kutta(erk *run, double h, int stages, double *y_next) {
    const lw_erk_pair *pair = run->pair;
    const int n = run->base.system->size;
    const double *y = run->y[0];
    run->k[0] = run->f[0];
    for (int s = 1; s <= stages; s++) {
        const double *row = s < stages ? pair->a[s] : pair->b;
        double *to = s < stages ? run->stage : y_next;
        memset(to, 0, sizeof *to * (size_t)n);
        for (int j = 0; j < s; j++) {
            if (row[j] == 0) continue;
            for (int i = 0; i < n; i++) to[i] += row[j] * run->k[j][i];
        }
        for (int i = 0; i < n; i++) to[i] = y[i] + h * to[i];
        if (s == stages) break;
        lw_status status = evaluate(run, run->begin + pair->c[s] * h, to, run->k[s]);
        if (status) return status;
    }
    return LW_OK;
}

/* Root mean square of x_i / (tolerance (1 + |y_i|)), with the larger of two |y_i|. */
static double error_norm(const erk *run, const double *x, const double *y, const double *y_other) {
    double sum = 0;
    for (int i = 0; i < run->controlled; i++) {
        double scaled = x[i] / (run->tolerance * (1 + fmax(fabs(y[i]), fabs(y_other[i]))));
        sum += scaled * scaled;
    }
    return sqrt(sum / run->controlled);
}

static double error_of_step(erk *run, double h, const double *y_next) {
    const lw_erk_pair *pair = run->pair;
    double *error = run->stage;
    for (int i = 0; i < run->controlled; i++) {
        double sum = 0;
        for (int s = 0; s < pair->stages; s++) sum += (pair->b[s] - pair->d[s]) * run->k[s][i];
        error[i] = h * sum;
    }
    return error_norm(run, error, run->y[0], y_next);
}

/* A step of length h from begin to t_next; its state, derivative and error norm (infinite: h is too long). A
 * status other than OK ends the run. */
static lw_status attempt(erk *run, double h, double t_next, double *norm) {
    lw_system *system = run->base.system;
    double *y = run->y[1], *f = run->f[1];
    *norm = INFINITY;
    lw_status status = runge_kutta(run, h, run->pair->stages, y);
    if (!status) {
        double size = error_of_step(run, h, y);
        if (!(size <= 1)) {
            if (isfinite(size)) *norm = size;
            return LW_OK;
        }
        *norm = size;
        if (system->project) status = system->project(system, t_next, y, &run->failure);
        if (!status && run->pair->last_is_first && !system->project) {
            memcpy(f, run->k[run->pair->stages - 1], sizeof *f * (size_t)system->size);
        } else if (!status) {
            status = evaluate(run, t_next, y, f);
        }
    }
    if (status) *norm = INFINITY;
    return status == LW_ERROR_SINGULAR ? LW_OK : status;
}

/* The first step (Hairer, Norsett, Wanner I, sect. II.4): an Euler step of 1 % of |y| / |f| shows y''. */
static double first_step(erk *run, double t_stop) {
    const int n = run->base.system->size;
    const double *y = run->y[1], *f = run->f[1];
    double size = error_norm(run, y, y, y), slope = error_norm(run, f, y, y);
    double h = size < 1e-5 || slope < 1e-5 ? 1e-6 : 0.01 * size / slope;
    h = fmin(fmin(h, t_stop - run->end), run->largest_step);
    for (int i = 0; i < n; i++) run->stage[i] = y[i] + h * f[i];
    if (evaluate(run, run->end + h, run->stage, run->k[1])) return 0.01 * h;
    for (int i = 0; i < n; i++) run->k[1][i] -= f[i];
    double steepest = fmax(slope, error_norm(run, run->k[1], y, y) / h);
    double second =
        steepest <= 1e-15 ? fmax(1e-6, 1e-3 * h) : pow(0.01 / steepest, 1.0 / (run->pair->order + 1));
    return fmin(100 * h, second);
}

static lw_status start(erk *run, double t_stop, lw_error *error) {
    lw_status status = evaluate(run, run->end, run->y[1], run->f[1]);
    if (status) {
        if (error) *error = run->failure;
        return lw_stopped_at(run->end, status, error);
    }
    run->h = first_step(run, t_stop);
    run->started = true;
    return LW_OK;
}

static void end_becomes_begin(erk *run) {
    double *y = run->y[0], *f = run->f[0];
    run->begin = run->end;
    run->y[0] = run->y[1], run->y[1] = y;
    run->f[0] = run->f[1], run->f[1] = f;
    run->interior_known = false;
}

/* Tries until a step is accepted. */
static lw_status step(erk *run, double t_stop, lw_error *error) {
    const double power = 1.0 / (run->pair->error_order + 1);
    double norm, growth = 5;
    end_becomes_begin(run);
    run->failure.status = LW_OK;
    for (;;) {
        double left = t_stop - run->begin, h = fmin(run->h, run->largest_step), next;
        if (left <= h * (1 + 1e-9))
            h = left;
        else if (left < 2 * h)
            h = 0.5 * left; /* no tiny last step */
        next = h == left ? t_stop : run->begin + h;
        if (next - run->begin <= 4 * DBL_EPSILON * fabs(run->begin) && h != left) {
            lw_status status = run->failure.status;
            if (!status) return lw_step_vanished(&lw_erk, run->begin, h, error);
            if (error) *error = run->failure;
            return lw_stopped_at(run->begin, status, error);
        }
        lw_status status = attempt(run, h, next, &norm);
        if (status) {
            if (error) *error = run->failure;
            return lw_stopped_at(run->begin, status, error);
        }
        if (norm <= 1) {
            run->end = next;
            norm = fmax(norm, 1e-10);
            double factor = 0.9 * pow(norm, -0.7 * power) * pow(run->last_error, 0.4 * power);
            run->h = h * fmin(growth, fmax(0.2, factor));
            run->last_error = norm;
            run->steps++;
            return LW_OK;
        }
        run->rejected++;
        run->h = h * (isfinite(norm) ? fmax(0.2, 0.9 * pow(norm, -power)) : 0.25);
        growth = 1; /* no growth right after a rejection */
    }
}

/* --- dense output ------------------------------------------------------------------------------------- */

static double theta_of(const erk *run, int point) { return (double)(point + 1) / (run->interior + 1); }

static lw_status interior_points(erk *run) {
    lw_system *system = run->base.system;
    int stages = run->pair->stages - (run->pair->last_is_first ? 1 : 0);
    for (int p = 0; p < run->interior; p++) {
        double h = theta_of(run, p) * (run->end - run->begin), *y = run->y[2 + p];
        lw_status status = runge_kutta(run, h, stages, y);
        if (!status && system->project) status = system->project(system, run->begin + h, y, &run->failure);
        if (!status) status = evaluate(run, run->begin + h, y, run->f[2 + p]);
        if (status) return status;
    }
    run->interior_known = true;
    return LW_OK;
}

static lw_status between(erk *run, double t, double *y, lw_error *error) {
    lw_system *system = run->base.system;
    double thetas[LW_HERMITE_NODES] = {0, 1};
    const double *states[LW_HERMITE_NODES], *rates[LW_HERMITE_NODES];
    lw_status status = run->interior_known ? LW_OK : interior_points(run);
    if (!status) {
        for (int p = 0; p < run->interior; p++) thetas[2 + p] = theta_of(run, p);
        for (int i = 0; i < run->interior + 2; i++) states[i] = run->y[i], rates[i] = run->f[i];
        double h = run->end - run->begin;
        lw_hermite(system->size, run->interior + 2, thetas, states, rates, h, (t - run->begin) / h, y);
        if (system->project) status = system->project(system, t, y, &run->failure);
    }
    if (!status) return LW_OK;
    if (error) *error = run->failure;
    return lw_stopped_at(t, status, error);
}

static lw_status advance(lw_integration *integration, double t_out, double t_stop, double *y,
                         lw_error *error) {
    erk *run = (erk *)integration;
    lw_status status = lw_check_times(&lw_erk, run->begin, t_out, t_stop, error);
    if (!status && !run->started && run->end < t_out) status = start(run, t_stop, error);
    while (!status && run->end < t_out) status = step(run, t_stop, error);
    if (status) return status;
    if (t_out < run->end) return between(run, t_out, y, error);
    memcpy(y, run->y[1], sizeof *y * (size_t)integration->system->size);
    return LW_OK;
}

static void statistics(const lw_integration *integration, lw_integrator_statistics *result) {
    const erk *run = (const erk *)integration;
    *result = (lw_integrator_statistics){run->steps, run->evaluations, run->rejected};
}

const lw_integrator lw_erk = {
    .name = "erk",
    .summary = "explicit Runge-Kutta pairs of order 5 and 8, step by tolerance",
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .statistics = statistics,
};

/* rosenbrock.c - a linearly implicit Runge-Kutta method of order 3 for stiff systems, fixed step: ROS34PW2.
 *
 *   (I - g h J) u_i = g h f(t + alpha_i h, Y_i) + g sum_{j<i} c_ij u_j + g gamma_i h^2 f_t,
 *   Y_i = y + sum_{j<i} a_ij u_j,     y(t + h) = y + sum m_j u_j,     i = 1 .. 4                      (1-3)
 *
 * with one matrix J for all four stages and no iteration: the work of a step is always the same. The method
 * is L-stable, and its order does not depend on J: it is 3 for J = df/dy and for any other matrix (a
 * W-method), so that J need not be exact where nothing is stiff.
 *
 * J comes from the system, which then solves the linear equations, or else from differences. f_t is one
 * difference along h / 1000. The integrals, on which nothing depends, follow from the rates at a third and at
 * the end of the step by Radau's formula,
 *
 *   Q(t + h) = Q + h (3/4 f_Q(y_{1/3}) + 1/4 f_Q(y_1)),   y_{1/3} = 4/9 y + 5/9 y_1 - 2/9 h f(y_1),     (4)
 *
 * which is of order 3, too, and does not see what has died out within the step.
 *
 * Source   docs/theory/linearly_implicit.md; J. Rang, L. Angermann, New Rosenbrock W-methods of order 3 for
 *          partial differential algebraic equations of index 1, BIT 45 (2005) 761-787; the form (1-3):
 *          Hairer, Wanner, Solving ordinary differential equations II (1996), IV.7.
 * Cost     per step one J, one factorisation, four solutions and 7 evaluations (6 without projection); by
 *          differences, one evaluation more for each state. No allocation but in create.
 */
#include "integrators/fixed_step.h"
#include "integrators/integration.h"
#include "linalg/dense_lu.h"

#include <float.h>
#include <limits.h>
#include <string.h>

extern const lw_integrator lw_rosenbrock;

enum { STAGES = 4 };

/* The coefficients as published: g, alpha_ij, gamma_ij for j < i, weights b_i. */
static const double diagonal = 4.3586652150845900e-01;
static const double alpha[STAGES][STAGES] = {
    {0}, {8.7173304301691801e-01}, {8.4457060015369423e-01, -1.1299064236484185e-01}, {0, 0, 1}};
static const double gammas[STAGES][STAGES] = {
    {4.3586652150845900e-01},
    {-8.7173304301691801e-01, 4.3586652150845900e-01},
    {-9.0338057013044082e-01, 5.4180672388095326e-02, 4.3586652150845900e-01},
    {2.4212380706095346e-01, -1.2232505839045147e+00, 5.4526025533510214e-01, 4.3586652150845900e-01}};
static const double weights[STAGES] = {2.4212380706095346e-01, -1.2232505839045147e+00,
                                       1.5452602553351020e+00, 4.3586652150845900e-01};

typedef struct rosenbrock {
    double a[STAGES][STAGES], c[STAGES][STAGES], m[STAGES]; /* of (1-3) */
    double nodes[STAGES], sums[STAGES];                     /* alpha_i, gamma_i */
    double *u[STAGES], *stage, *rate, *by_time;             /* of the state's size */
    double *matrix;                                         /* NULL if the system solves by itself */
    int *pivots;
} rosenbrock;

/* a = alpha G^-1, m = b G^-1, c = 1 / g - G^-1 with G = (gamma_ij), a lower triangle. */
static void transform(rosenbrock *r) {
    double inverse[STAGES][STAGES] = {{0}};
    for (int j = 0; j < STAGES; j++)
        for (int i = j; i < STAGES; i++) {
            double sum = i == j;
            for (int k = j; k < i; k++) sum -= gammas[i][k] * inverse[k][j];
            inverse[i][j] = sum / gammas[i][i];
        }
    for (int i = 0; i < STAGES; i++) {
        for (int j = 0; j < STAGES; j++) {
            for (int k = 0; k < STAGES; k++) r->a[i][j] += alpha[i][k] * inverse[k][j];
            r->c[i][j] = j < i ? -inverse[i][j] : 0;
            r->m[j] += weights[i] * inverse[i][j];
            r->nodes[i] += alpha[i][j];
            r->sums[i] += gammas[i][j];
        }
    }
}

/* --- the linear equations --------------------------------------------------------------------------- */

static int coupled(const lw_system *system) {
    return system->linearised ? system->linearised->count : system->size - system->quadratures;
}

/* I - gamma J, J by differences from f(t, y) = ydot. A system with hints wants them to be taken from its last
 * evaluation, which is made anew. */
static lw_status differences(lw_fixed_step *run, double t, double gamma, const double *y, const double *ydot,
                             lw_error *error) {
    rosenbrock *r = run->more;
    lw_system *system = run->base.system;
    const lw_newton_hints *hints = system->newton_hints;
    const int n = coupled(system);
    double *moved = r->stage, *rate = r->rate;
    lw_status status = LW_OK;
    memcpy(moved, y, (size_t)system->size * sizeof *y);
    if (hints) {
        status = lw_checked_derivative(system, t, y, r->by_time, &run->evaluations, error);
        if (status != LW_OK) return status;
        ydot = r->by_time;
        hints->differences(hints->subject, true);
    }
    for (int j = 0; j < n && status == LW_OK; j++) {
        double *column = r->matrix + (size_t)j * (size_t)n;
        moved[j] = y[j] + sqrt(DBL_EPSILON) * lw_error_unit(system, j, y[j]);
        const double factor = gamma / (moved[j] - y[j]);
        status = lw_checked_derivative(system, t, moved, rate, &run->evaluations, error);
        moved[j] = y[j];
        for (int i = 0; i < n; i++) column[i] = (i == j) - factor * (rate[i] - ydot[i]);
    }
    if (hints) hints->differences(hints->subject, false);
    return status;
}

static lw_status prepare(lw_fixed_step *run, double t, double gamma, const double *y, const double *ydot,
                         lw_error *error) {
    rosenbrock *r = run->more;
    lw_system *system = run->base.system;
    bool regular;
    if (system->linearised) {
        lw_status status = system->linearised->at(system, t, y, error);
        if (status != LW_OK) return status;
        regular = system->linearised->factor(system, gamma);
    } else {
        lw_status status = differences(run, t, gamma, y, ydot, error);
        if (status != LW_OK) return status;
        regular = lw_lu_factor(coupled(system), r->matrix, r->pivots);
    }
    if (regular) return LW_OK;
    return lw_fail(error, LW_ERROR_INTEGRATION, NULL, "give a smaller step (--step)",
                   "the linear equations of a step are singular: a force grows by itself within it");
}

static void solve(lw_fixed_step *run, double *x) {
    rosenbrock *r = run->more;
    lw_system *system = run->base.system;
    if (system->linearised)
        system->linearised->solve(system, x);
    else
        lw_lu_solve(coupled(system), r->matrix, r->pivots, x);
}

/* --- a step ----------------------------------------------------------------------------------------- */

/* (4), for the states behind the first n. */
static lw_status integrals(lw_fixed_step *run, double t, double h, const double *y, double *y_next,
                           lw_error *error) {
    rosenbrock *r = run->more;
    lw_system *system = run->base.system;
    const int n = coupled(system), size = system->size;
    double *f_end = r->u[0], *within = r->stage, *rate = r->rate;
    if (n == size) return LW_OK;
    memcpy(y_next + n, y + n, (size_t)(size - n) * sizeof *y);
    lw_status status = lw_checked_derivative(system, t + h, y_next, f_end, &run->evaluations, error);
    if (status != LW_OK) return status;
    for (int i = 0; i < n; i++) within[i] = (4 * y[i] + 5 * y_next[i] - 2 * h * f_end[i]) / 9;
    memcpy(within + n, y + n, (size_t)(size - n) * sizeof *y);
    status = lw_checked_derivative(system, t + h / 3, within, rate, &run->evaluations, error);
    for (int i = n; i < size; i++) y_next[i] = y[i] + h * (0.75 * rate[i] + 0.25 * f_end[i]);
    if (y_next == run->y_end && !system->project) { /* the first evaluation of the next step */
        memcpy(run->f_end, f_end, (size_t)size * sizeof *f_end);
        run->f_end_known = true;
    }
    return status;
}

static lw_status take(lw_fixed_step *run, double t, double h, const double *y, const double *ydot,
                      double *y_next, lw_error *error) {
    rosenbrock *r = run->more;
    lw_system *system = run->base.system;
    const int n = coupled(system), size = system->size;
    lw_status status = prepare(run, t, diagonal * h, y, ydot, error);
    if (status != LW_OK) return status;
    const double later = t + 1e-3 * h, delay = later - t;
    if (delay > 0) {
        status = lw_checked_derivative(system, later, y, r->by_time, &run->evaluations, error);
        if (status != LW_OK) return status;
        for (int k = 0; k < n; k++) r->by_time[k] = (r->by_time[k] - ydot[k]) / delay;
    } else {
        memset(r->by_time, 0, (size_t)n * sizeof *r->by_time);
    }
    memcpy(r->stage + n, y + n, (size_t)(size - n) * sizeof *y);
    for (int i = 0; i < STAGES; i++) {
        double *u = r->u[i];
        const double *rate = ydot;
        if (i > 0) {
            for (int k = 0; k < n; k++) r->stage[k] = y[k];
            for (int j = 0; j < i; j++)
                for (int k = 0; k < n; k++) r->stage[k] += r->a[i][j] * r->u[j][k];
            status = lw_checked_derivative(system, t + r->nodes[i] * h, r->stage, r->rate, &run->evaluations,
                                           error);
            if (status != LW_OK) return status;
            rate = r->rate;
        }
        for (int k = 0; k < n; k++) u[k] = diagonal * h * (rate[k] + r->sums[i] * h * r->by_time[k]);
        for (int j = 0; j < i; j++)
            for (int k = 0; k < n; k++) u[k] += diagonal * r->c[i][j] * r->u[j][k];
        solve(run, u);
    }
    for (int k = 0; k < n; k++) {
        double sum = 0;
        for (int j = 0; j < STAGES; j++) sum += r->m[j] * r->u[j][k];
        y_next[k] = y[k] + sum;
    }
    return integrals(run, t, h, y, y_next, error);
}

/* --- creation --------------------------------------------------------------------------------------- */

static lw_status create(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                        const double *ydot, lw_integration **integration, lw_error *error) {
    (void)ydot;
    lw_status status = lw_fixed_step_create(&lw_rosenbrock, take, system, options, t, y, integration, error);
    if (status != LW_OK) return status;
    lw_fixed_step *run = (lw_fixed_step *)*integration;
    const size_t size = (size_t)system->size, n = (size_t)coupled(system);
    rosenbrock *r = LW_NEW(run->arena, rosenbrock, 1);
    double *numbers = r ? LW_NEW(run->arena, double, (STAGES + 3) * size) : NULL;
    if (numbers && !system->linearised) {
        r->matrix = LW_NEW(run->arena, double, n *n + 1);
        r->pivots = LW_NEW(run->arena, int, n + 1);
    }
    if (!numbers || lw_arena_failed(run->arena)) {
        lw_fixed_step_destroy(*integration);
        *integration = NULL;
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "no memory for %d states", system->size);
    }
    for (int i = 0; i < STAGES; i++) r->u[i] = numbers + (size_t)i * size;
    r->stage = numbers + STAGES * size, r->rate = r->stage + size, r->by_time = r->rate + size;
    transform(r);
    run->more = r;
    return LW_OK;
}

const lw_integrator lw_rosenbrock = {
    .name = "rosenbrock",
    .summary = "linearly implicit, order 3, for stiff systems, fixed step and fixed work per step",
    .fixed_step = true,
    .linearises_most = INT_MAX,
    .create = create,
    .destroy = lw_fixed_step_destroy,
    .advance = lw_fixed_step_advance,
    .step = lw_fixed_step_step,
    .restart = lw_fixed_step_restart,
    .archive = lw_fixed_step_archive,
    .statistics = lw_fixed_step_statistics,
};

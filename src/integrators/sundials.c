/* sundials.c - what the integrators made of SUNDIALS share.
 *
 * Vectors: serial ones whose norms and products see only the states under error control. Thus the quadratures
 * are integrated by the same formula but have no influence on step size, order, convergence tests and Krylov
 * spaces, not even by rounding; all other operations work on all entries.
 *
 * Stepping: one step at a time with the end of the run as SUNDIALS' output time, so that the sequence of
 * steps does not depend on the output times; these are served by dense output (the solver's own polynomial,
 * of the order of the method).
 *
 * Versions: 6.4 and newer ones of 6, and 7, which differ in the context, in how errors are told, and in names
 * of types and codes. sunrealtype is double.
 */
#include "integrators/sundials.h"

#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

#if SUNDIALS_VERSION_MAJOR >= 7
#define SUN_NLS_SUCCESS SUN_SUCCESS
#endif

enum { LARGEST_DENSE = 400, KRYLOV_VECTORS = 30 };

/* --- vectors -------------------------------------------------------------------------------------- */

/* A serial vector's content, and whose it is. The functions of the serial vector see only the
 * first member. */
typedef struct {
    struct _N_VectorContent_Serial serial;
    lw_sundials *run;
} content;

lw_sundials *lw_sundials_of(N_Vector v) { return ((const content *)v->content)->run; }

static int count_of(N_Vector v) { return lw_sundials_of(v)->controlled; }

static double norm(N_Vector x, N_Vector w) {
    const double *xs = NV_DATA_S(x), *ws = NV_DATA_S(w);
    int count = count_of(x);
    double sum = 0;
    for (int i = 0; i < count; i++) sum += xs[i] * ws[i] * (xs[i] * ws[i]);
    return sqrt(sum / count);
}

static double norm_mask(N_Vector x, N_Vector w, N_Vector id) {
    const double *xs = NV_DATA_S(x), *ws = NV_DATA_S(w), *ids = NV_DATA_S(id);
    int count = count_of(x);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        if (ids[i] > 0) sum += xs[i] * ws[i] * (xs[i] * ws[i]);
    }
    return sqrt(sum / count);
}

static double largest(N_Vector x) {
    const double *xs = NV_DATA_S(x);
    int count = count_of(x);
    double result = 0;
    for (int i = 0; i < count; i++) result = fmax(result, fabs(xs[i]));
    return result;
}

static double dot(N_Vector x, N_Vector y) {
    const double *xs = NV_DATA_S(x), *ys = NV_DATA_S(y);
    int count = count_of(x);
    double sum = 0;
    for (int i = 0; i < count; i++) sum += xs[i] * ys[i];
    return sum;
}

/* result = sum of factors x, which may be one of the x. In one pass and without the zeros of Runge-Kutta
 * tables; SUNDIALS' own takes a pass per term, more time than many a mechanism's derivative. */
static int combination(int terms, double *factors, N_Vector *xs, N_Vector result) {
    enum { BLOCK = 64 };
    const int size = (int)NV_LENGTH_S(result);
    for (int at = 0; at < size; at += BLOCK) {
        double sum[BLOCK] = {0};
        const int width = size - at < BLOCK ? size - at : BLOCK;
        for (int j = 0; j < terms; j++) {
            if (factors[j] == 0) continue;
            const double *x = NV_DATA_S(xs[j]) + at;
            for (int i = 0; i < width; i++) sum[i] += factors[j] * x[i];
        }
        memcpy(NV_DATA_S(result) + at, sum, sizeof *sum * (size_t)width);
    }
    return 0;
}

/* Content for a vector that has none; the serial vector's destroy will free it. */
static N_Vector with_content(N_Vector v, lw_sundials *run) {
    content *inside = v ? malloc(sizeof *inside) : NULL;
    if (!inside) {
        if (v) N_VFreeEmpty(v);
        return NULL;
    }
    *inside = (content){{.length = run->base.system->size, .own_data = SUNFALSE, .data = NULL}, run};
    v->content = inside;
    return v;
}

static N_Vector with_data(N_Vector v) {
    if (!v) return NULL;
    NV_DATA_S(v) = calloc((size_t)NV_LENGTH_S(v), sizeof(double));
    NV_OWN_DATA_S(v) = NV_DATA_S(v) ? SUNTRUE : SUNFALSE;
    if (NV_OWN_DATA_S(v)) return v;
    N_VDestroy(v);
    return NULL;
}

static N_Vector clone_empty(N_Vector like) {
    N_Vector v = N_VNewEmpty(like->sunctx);
    if (v && N_VCopyOps(like, v)) {
        N_VFreeEmpty(v);
        return NULL;
    }
    return with_content(v, lw_sundials_of(like));
}

static N_Vector clone(N_Vector like) { return with_data(clone_empty(like)); }

static N_Vector new_vector(lw_sundials *run) {
    N_Vector v = N_VNewEmpty_Serial(run->base.system->size, run->context);
    if (!v) return NULL;
    free(v->content);
    v->content = NULL;
    v->ops->nvclone = clone;
    v->ops->nvcloneempty = clone_empty;
    v->ops->nvwrmsnorm = norm;
    v->ops->nvwrmsnormmask = norm_mask;
    v->ops->nvmaxnorm = largest;
    v->ops->nvdotprod = dot;
    v->ops->nvlinearcombination = combination;
    return with_data(with_content(v, run));
}

/* A start takes a few steps of low order, the errors of which are as large as the tolerance permits and, if
 * forces switch to and fro, have the same sign at every start: thousands of them add up
 * (docs/theory/integrators.md, "Tolerance"). So the first step gets a hundredth of the tolerance,
 * and each later one more; at once, Newton's method would suddenly be content with little. */
enum { FIRST = 12 }; /* by then formulas have reached their order */

static bool is_careful(const lw_sundials *run) { return run->careful && !run->hurried && run->since < FIRST; }

int lw_sundials_weights(N_Vector y, N_Vector weights, void *data) {
    const double part = 0.01, least = 1e-11; /* Derivatives may be noisy below. */
    const lw_sundials *run = data;
    const lw_system *system = run->base.system;
    double tolerance = run->tolerance, *w = NV_DATA_S(weights);
    if (is_careful(run))
        tolerance = fmin(tolerance, fmax(pow(part, 1 - (double)run->since / FIRST) * tolerance, least));
    for (int i = 0; i < system->size; i++) w[i] = 1 / (tolerance * lw_error_unit(system, i, NV_DATA_S(y)[i]));
    return 0;
}

/* --- creation ------------------------------------------------------------------------------------- */

#if SUNDIALS_VERSION_MAJOR < 7
static bool create_context(lw_sundials *run) { return SUNContext_Create(NULL, &run->context) == 0; }
#else
static void keep_message(int line, const char *function, const char *file, const char *message,
                         SUNErrCode code, void *data, SUNContext context) {
    (void)line, (void)function, (void)file, (void)code, (void)context;
    lw_sundials *run = data;
    snprintf(run->text, sizeof run->text, "%s", message ? message : "");
}

/* A new context would print errors and warnings: it gets a handler of ours in place of its own, and no
 * logger. */
static bool create_context(lw_sundials *run) {
    return SUNContext_Create(SUN_COMM_NULL, &run->context) == SUN_SUCCESS &&
           SUNContext_SetLogger(run->context, NULL) == SUN_SUCCESS &&
           SUNContext_ClearErrHandlers(run->context) == SUN_SUCCESS &&
           SUNContext_PushErrHandler(run->context, keep_message, run) == SUN_SUCCESS;
}
#endif

static void keep_beginning(lw_sundials *run) {
    const lw_event *event = &run->event;
    run->begun.last = event->last, run->begun.longest = event->longest;
    run->begun.repeated = event->repeated;
}

lw_status lw_sundials_create(const lw_integrator *integrator, size_t size, lw_system *system,
                             const lw_integrator_options *options, double t, const double *y,
                             lw_sundials **run, lw_error *error) {
    *run = NULL;
    lw_status status = lw_check_start(integrator, system, options, t, y, error);
    if (status) return status;

    lw_arena *arena = lw_arena_create(NULL);
    lw_sundials *made = lw_arena_take(arena, 1, size);
    if (!made) {
        if (arena) lw_arena_destroy(arena);
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "no memory for %d states", system->size);
    }
    made->arena = arena;
    made->base.integrator = integrator;
    made->base.system = system;
    made->controlled = lw_controlled_states(system);
    made->tolerance = options->tolerance;
    made->largest_step = options->step > 0 ? options->step : 0;
    made->begin = made->end = made->t_start = t;
    if (create_context(made)) {
        made->y = new_vector(made);
        made->ydot = made->y ? N_VClone(made->y) : NULL;
        made->between = made->y ? N_VClone(made->y) : NULL;
    }
    if (!made->ydot || !made->between || !lw_event_create(&made->event, system, t, arena)) {
        lw_sundials_destroy(made);
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "no memory for %d states", system->size);
    }
    keep_beginning(made);
    memcpy(NV_DATA_S(made->y), y, sizeof *y * (size_t)system->size);
    *run = made;
    return LW_OK;
}

void lw_sundials_destroy(lw_sundials *run) {
    if (run->nonlinear) SUNNonlinSolFree(run->nonlinear);
    if (run->linear) SUNLinSolFree(run->linear);
    if (run->matrix) SUNMatDestroy(run->matrix);
    if (run->y) N_VDestroy(run->y);
    if (run->ydot) N_VDestroy(run->ydot);
    if (run->between) N_VDestroy(run->between);
    if (run->first) N_VDestroy(run->first);
    if (run->second) N_VDestroy(run->second);
    if (run->context) SUNContext_Free(&run->context);
    lw_arena_destroy(run->arena);
}

/* --- Newton's matrix ------------------------------------------------------------------------------ */

bool lw_sundials_linear_solver(lw_sundials *run) {
    int size = run->base.system->size, count = run->controlled;
    if (count > LARGEST_DENSE) {
        run->linear = SUNLinSol_SPGMR(run->y, SUN_PREC_NONE, KRYLOV_VECTORS, run->context);
        return run->linear != NULL;
    }
    run->coupling = LW_NEW(run->arena, double, (size_t)(size - count) * (size_t)count + 1);
    run->matrix = SUNDenseMatrix(size, size, run->context);
    if (run->matrix) run->linear = SUNLinSol_Dense(run->y, run->matrix, run->context);
    return run->coupling && run->linear;
}

int lw_sundials_solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector b, double tolerance,
                      double factor, double diagonal) {
    lw_sundials *run = lw_sundials_of(x);
    const int count = run->controlled, quadratures = run->base.system->size - count;
    int round = 0;
    SUNNonlinSolGetCurIter(run->nonlinear, &round);
    if (round < 2) N_VScale(1, b, round ? run->second : run->first);
    int flag = matrix ? SUNLinSolSolve_Dense(solver, matrix, x, b, tolerance)
                      : SUNLinSolSolve_SPGMR(solver, matrix, x, b, tolerance);
    if (flag < 0 || quadratures == 0) return flag;

    /* x_Q = (b_Q - M_QY x_Y) / diagonal */
    double *xs = NV_DATA_S(x), *product = NV_DATA_S(run->between) + count;
    if (matrix) {
        for (int q = 0; q < quadratures; q++) {
            product[q] = 0;
            for (int j = 0; j < count; j++) product[q] += factor * run->coupling[q * count + j] * xs[j];
        }
    } else {
        SUNLinearSolverContent_SPGMR krylov = solver->content;
        for (int q = 0; q < quadratures; q++) xs[count + q] = 0;
        int failed = krylov->ATimes(krylov->ATData, x, run->between);
        if (failed) return failed < 0 ? SUNLS_ATIMES_FAIL_UNREC : SUNLS_ATIMES_FAIL_REC;
    }
    for (int q = 0; q < quadratures; q++) {
        xs[count + q] = (NV_DATA_S(b)[count + q] - product[q]) / diagonal;
    }
    return flag;
}

/* --- Newton's method ------------------------------------------------------------------------------ */

bool lw_sundials_newton(lw_sundials *run) {
    run->unit = run->rate = run->expected = 1;
    run->first = N_VClone(run->y);
    run->second = N_VClone(run->y);
    run->nonlinear = SUNNonlinSol_Newton(run->y, run->context);
    return run->first && run->second && run->nonlinear;
}

/* Is the residual of some equation as large as before the first iteration? Corrections show this only if the
 * matrix is right: a matrix that was made when the system was much stiffer gives nearly none. So the
 * residuals themselves are examined, in units of the change that they would cause if the equations were not
 * stiff. */
static bool is_stale(const lw_sundials *run, N_Vector weights) {
    const double *first = NV_DATA_S(run->first), *second = NV_DATA_S(run->second), *w = NV_DATA_S(weights);
    for (int k = 0; k < run->controlled; k++)
        if (fabs(second[k]) * w[k] > 0.1 * run->unit && fabs(second[k]) > 0.5 * fabs(first[k])) return true;
    return false;
}

void lw_sundials_renews(lw_sundials *run, bool begins) {
    const lw_newton_hints *hints = run->base.system->newton_hints;
    if (hints && begins) hints->stiffness_change(hints->subject, true);
    if (hints) hints->differences(hints->subject, begins);
    if (begins) run->fresh = true;
}

/* Is the first correction good enough, by what is known of the matrix: its rate in earlier steps, and how
 * much stiffness has changed? One that is off by a factor r leaves r - 1 of a correction, or less. */
static bool suffices(const lw_sundials *run, double size, double tolerance) {
    const lw_newton_hints *hints = run->base.system->newton_hints;
    if (run->fresh || !hints) return false;
    double rate = fmax(run->expected, hints->stiffness_change(hints->subject, false) - 1);
    return rate < 0.05 && rate / (1 - rate) * size <= tolerance;
}

/* SUNDIALS' own tests take the rate of convergence over from earlier steps, and may do so for as long as the
 * matrix is kept. Here every step finds it anew in two rounds, unless the system knows how little its
 * stiffness has changed. Corrections by a new matrix that are small but do not get smaller are noise of the
 * system. */
static int converged(SUNNonlinearSolver solver, N_Vector y, N_Vector change, double tolerance,
                     N_Vector weights, void *data) {
    (void)y;
    lw_sundials *run = data;
    enum { PATIENCE = 200 }; /* with a system that is all noise: forces beyond 1e16 of others */
    const double negligible = 1e-2 * tolerance, slowest = 0.9;
    double size = N_VWrmsNorm(change, weights);
    int round = 0;
    SUNNonlinSolGetCurIter(solver, &round);
    if (round == 0) {
        if (run->fresh) run->rate = run->expected = 1;
        run->change = size;
        if (suffices(run, size, tolerance)) {
            run->solved++;
            return SUN_NLS_SUCCESS;
        }
        bool known = run->noisy || (run->fresh && size <= negligible);
        if (!known || !(size * run->rate <= tolerance)) return SUN_NLS_CONTINUE;
    } else {
        run->rate = size > 0 ? pow(size / run->change, 1.0 / round) : 0;
        run->expected = fmax(0.3 * run->expected, run->rate);
        bool slow = run->rate > slowest, noise = size <= (run->fresh ? tolerance : negligible);
        if ((slow && !noise) || (round == 1 && !run->fresh && is_stale(run, weights))) {
            if (++run->refused > PATIENCE && run->refused > run->solved) run->noisy = true;
            return SUN_NLS_CONV_RECVR;
        }
        bool left = slow ? !noise : !(run->rate / (1 - run->rate) * size <= tolerance);
        if (left) return SUN_NLS_CONTINUE;
    }
    run->fresh = false;
    run->solved++;
    return SUN_NLS_SUCCESS;
}

bool lw_sundials_tests_itself(lw_sundials *run) {
    return !run->matrix || !run->base.system->newton_hints ||
           SUNNonlinSolSetConvTestFn(run->nonlinear, converged, run) == 0;
}

/* --- errors --------------------------------------------------------------------------------------- */

/* An error that no smaller step can cure. */
static bool is_final(const lw_error *failure) {
    return failure->status != LW_OK && failure->status != LW_ERROR_SINGULAR;
}

/* What SUNDIALS expects after a call of the system at t, whose error is in run->failure. */
static int answer(lw_sundials *run, double t, lw_status status) {
    if (status == LW_OK) return 0;
    run->failure.status = status;
    run->failed_at = t;
    return status == LW_ERROR_SINGULAR ? 1 : -1;
}

int lw_sundials_derivative(lw_sundials *run, double t, N_Vector y, N_Vector ydot) {
    if (is_final(&run->failure)) return -1; /* CVODE's functional iteration evaluates again. */
    return answer(run, t,
                  lw_checked_derivative(run->base.system, t, NV_DATA_S(y), NV_DATA_S(ydot), &run->evaluations,
                                        &run->failure));
}

int lw_sundials_residual(lw_sundials *run, double t, N_Vector y, N_Vector ydot, N_Vector residual) {
    if (is_final(&run->failure)) return -1;
    return answer(run, t,
                  lw_checked_residual(run->base.system, t, NV_DATA_S(y), NV_DATA_S(ydot), NV_DATA_S(residual),
                                      &run->evaluations, &run->failure));
}

#if SUNDIALS_VERSION_MAJOR < 7
void lw_sundials_message(int code, const char *module, const char *function, char *message, void *data) {
    (void)code, (void)module, (void)function;
    lw_sundials *run = data;
    snprintf(run->text, sizeof run->text, "%s", message);
}
#endif

/* The flags that CVODE and IDA have in common, and one of ours: time stands still. */
enum { TOO_MUCH_ACCURACY = -2, ERROR_TEST_FAILED = -3, NO_CONVERGENCE = -4, STANDSTILL = -1000 };

static lw_status gave_up(lw_sundials *run, int flag, lw_error *error) {
    /* A failure of the system ahead is the cause; one that was overcome is not. */
    if (is_final(&run->failure) || (run->failure.status && run->failed_at >= run->end)) {
        if (error) *error = run->failure;
        return lw_stopped_at(run->end, run->failure.status, error);
    }
    double h = run->step_size(run);
    char object[64];
    snprintf(object, sizeof object, "integrator \"%s\"", run->base.integrator->name);
    switch (flag) {
    case STANDSTILL:
    case ERROR_TEST_FAILED:
        return lw_step_vanished(run->base.integrator, run->end, h, run->tolerance, error);
    case TOO_MUCH_ACCURACY:
        return lw_fail(error, LW_ERROR_INTEGRATION, object, "give a larger tolerance (--tol)",
                       "the tolerance %g is beyond double precision at t = %.9g", run->tolerance, run->end);
    case NO_CONVERGENCE:
        return lw_fail(
            error, LW_ERROR_INTEGRATION, object,
            run->nonlinear && run->matrix
                ? "the motion may be singular there, or a force jump: look at the model's state at that time"
                : "the motion may be singular or stiff there: look at the model's state at that time, or try "
                  "the integrator bdf",
            "at t = %.9g the equations of a step were not solved, even with a step of %.3g", run->end, h);
    default:
        return lw_fail(error, LW_ERROR_INTEGRATION, object, "try another integrator or tolerance",
                       "stopped at t = %.9g with step %.3g: %s", run->end, h, run->text);
    }
}

void lw_sundials_add_before(const lw_sundials *run, lw_integrator_statistics *statistics) {
    statistics->steps += run->before.steps;
    statistics->rejected += run->before.rejected;
}

/* --- stepping ------------------------------------------------------------------------------------- */

/* Each step is projected where the solver takes the state back. Of a solver that drifts only the output is
 * projected, which shows whether its loops still close. */
static lw_status project(lw_sundials *run, double t, N_Vector y, lw_error *error) {
    lw_system *system = run->base.system;
    if (!system->project) return LW_OK;
    lw_status status = system->project(system, t, NV_DATA_S(y), error);
    return status ? lw_stopped_at(t, status, error) : LW_OK;
}

/* The state within the last step, as the solver's dense output has it. */
static lw_status within(lw_integration *integration, double t, double *y, lw_error *error) {
    lw_sundials *run = (lw_sundials *)integration;
    int flag = run->dense(run, t, run->between);
    if (flag < 0) return gave_up(run, flag, error);
    memcpy(y, NV_DATA_S(run->between), sizeof *y * (size_t)integration->system->size);
    return LW_OK;
}

/* Steps that are too long to be searched for events are bounded. */
static void bound_steps(lw_sundials *run) {
    const double longest =
        run->largest_step > 0 ? fmin(run->largest_step, run->event.longest) : run->event.longest;
    (void)run->bound(run, longest < HUGE_VAL ? longest : 0);
}

/* Nothing that Newton's method has learnt outlives a start, so that steps from there depend on it alone. */
static void forget(lw_sundials *run) {
    run->rate = run->expected = 1;
    run->change = 0;
    run->fresh = run->noisy = false;
    run->solved = run->refused = 0;
    run->crawled = 0;
    run->since = 0;
    run->hurried = false;
}

/* Crosses the event at which the last step ends, and begins anew. */
static lw_status cross(lw_sundials *run, double t_stop, lw_error *error) {
    lw_integrator_statistics now;
    run->base.integrator->statistics(&run->base, &now);
    run->before = now; /* restart sets the solver's counts back */
    lw_status status =
        lw_event_cross(&run->event, &run->base, run->end, t_stop - run->t_start, NV_DATA_S(run->y), error);
    if (status) return status;
    run->begin = run->end;
    forget(run);
    keep_beginning(run);
    if (run->event.longest < HUGE_VAL) bound_steps(run);
    int flag = run->restart(run, t_stop);
    return flag < 0 ? gave_up(run, flag, error) : LW_OK;
}

static lw_status step(lw_sundials *run, double t_stop, lw_error *error) {
    if (run->event.pending) {
        lw_status status = cross(run, t_stop, error);
        if (status) return status;
    }
    double end = run->end;
    /* SUNDIALS takes its output time for the scale of time when it looks for a first step. */
    int flag = run->step(run, isfinite(t_stop) ? t_stop : run->end + 1, &end);
    enum { CRAWL = 1000 }; /* steps, which after a start or a jump grow at once */
    run->crawled = end - run->end < 1e-13 * fmin(t_stop - run->end, 1) ? run->crawled + 1 : 0;
    if (flag >= 0 && (!(end > run->end) || run->crawled > CRAWL)) flag = STANDSTILL;
    /* Without its history, and with all of the tolerance, it may find a step: a motion that passes a position
     * in which its speed is infinite (x^3 ~ t) leaves behind formulas that fit no step beyond it. */
    if (flag < 0 && !run->hurried && !is_final(&run->failure)) {
        lw_integrator_statistics now;
        run->base.integrator->statistics(&run->base, &now);
        run->before = now; /* restart sets the solver's counts back */
        run->hurried = true;
        run->crawled = 0;
        run->failure = (lw_error){0};
        flag = run->restart(run, t_stop);
        if (flag >= 0) flag = run->step(run, isfinite(t_stop) ? t_stop : run->end + 1, &end);
        if (flag >= 0 && !(end > run->end)) flag = STANDSTILL;
    }
    if (flag < 0 || is_final(&run->failure)) return gave_up(run, flag, error);
    run->begin = run->end;
    run->end = end;
    run->since++;
    if (run->base.system->project && run->history) {
        lw_status status = project(run, end, run->y, error);
        if (status) return status;
        N_VScale(1, run->y, run->history(run));
    }
    if (run->base.system->root_count) {
        const double longest = run->event.longest;
        lw_status status = lw_event_find(&run->event, &run->base, within, within, run->begin, &run->end,
                                         NV_DATA_S(run->y), error);
        if (status) return status;
        if (run->event.longest != longest) bound_steps(run);
    }
    if (!run->base.system->accepted) return LW_OK;
    return run->base.system->accepted(run->base.system, run->end, run->end - run->begin,
                                      run->order ? run->order(run) : 0, NV_DATA_S(run->y), error);
}

/* Sets the solver's stop time, if it has changed. */
static lw_status begin(lw_sundials *run, double t_stop, lw_error *error) {
    if ((run->started && t_stop == run->t_stop) || !(t_stop > run->end)) return LW_OK;
    if (!run->started && run->event.longest < HUGE_VAL) bound_steps(run);
    int flag = run->start(run, t_stop);
    if (flag < 0) return gave_up(run, flag, error);
    run->started = true;
    run->t_stop = t_stop;
    return LW_OK;
}

lw_status lw_sundials_step(lw_integration *integration, double t_stop, double *t, double *y,
                           lw_error *error) {
    lw_sundials *run = (lw_sundials *)integration;
    lw_status status = begin(run, t_stop, error);
    if (!status) status = step(run, t_stop, error);
    *t = run->end;
    memcpy(y, NV_DATA_S(run->y), sizeof *y * (size_t)integration->system->size);
    if (!status && run->drifts && integration->system->project)
        status = integration->system->project(integration->system, *t, y, error);
    return status;
}

void lw_sundials_archive(lw_integration *integration, lw_archive *archive) {
    lw_sundials *run = (lw_sundials *)integration;
    LW_ARCHIVE_ONE(archive, run->begun.last);
    LW_ARCHIVE_ONE(archive, run->begun.longest);
    LW_ARCHIVE_ONE(archive, run->begun.repeated);
    if (archive->mode != LW_ARCHIVE_READ) return;
    run->event.last = run->begun.last, run->event.longest = run->begun.longest;
    run->event.repeated = run->begun.repeated;
    bound_steps(run);
}

lw_status lw_sundials_restart(lw_integration *integration, double t, const double *y, lw_error *error) {
    lw_sundials *run = (lw_sundials *)integration;
    lw_integrator_statistics now;
    integration->integrator->statistics(integration, &now);
    run->before = now;
    run->failure = (lw_error){0};
    run->t_start = run->begin = run->end = t;
    forget(run);
    run->started = false;
    const bool bounded = run->event.longest < HUGE_VAL;
    lw_event_reset(&run->event, integration->system, t);
    keep_beginning(run);
    if (bounded || run->event.longest < HUGE_VAL) bound_steps(run);
    memcpy(NV_DATA_S(run->y), y, sizeof *y * (size_t)integration->system->size);
    int flag = run->restart(run, HUGE_VAL);
    return flag < 0 ? gave_up(run, flag, error) : LW_OK;
}

lw_status lw_sundials_advance(lw_integration *integration, double t_out, double t_stop, double *y,
                              lw_error *error) {
    lw_sundials *run = (lw_sundials *)integration;
    lw_status status = lw_check_times(integration->integrator, run->begin, t_out, t_stop, error);
    if (!status) status = begin(run, t_stop, error);
    while (!status && run->end < t_out) status = step(run, t_stop, error);
    /* At the instant of an event the state is that after it, to which forces at that instant belong. */
    if (!status && run->end == t_out && run->event.pending) status = cross(run, t_stop, error);
    if (status) return status;

    N_Vector state = run->y;
    if (t_out < run->end) {
        state = run->between;
        int flag = run->dense(run, t_out, state);
        if (flag < 0) return gave_up(run, flag, error);
    } else if (run->drifts) {
        state = run->between;
        N_VScale(1, run->y, state);
    }
    if (state == run->between && (run->history || run->drifts)) status = project(run, t_out, state, error);
    memcpy(y, NV_DATA_S(state), sizeof *y * (size_t)integration->system->size);
    return status;
}

/* ida.c - backward differentiation formulas of order 1 to 5 on F(t, y, ydot) = 0, step and order by
 * tolerance; IDA.
 *
 * For differential-algebraic systems of index 1 (index 2 with the algebraic states out of the error test, as
 * here). Newton's matrix is M = dF/dy + c dF/dydot by differences, block triangular as in bdf.c: the
 * quadratures Q, whose rows of F are Qdot - g, have the block c I. Beyond 400 states GMRES uses M x by one
 * difference quotient each.
 *
 * IDA asks for a new M whenever c, about 1/h, has changed by some; that, not steps, is where most residuals
 * went. As CVODE does with df/dy, differences of some steps ago serve then: M(c) = M(c before) + (c - c
 * before) dF/dydot, and dF/dydot, masses and such, hardly changes. Where Newton's method does not converge, M
 * is made anew.
 *
 * Start: ydot as given, or from the system's derivative, or IDA's own search for consistent algebraic states
 * and derivatives of the differential ones. IDA has no way to take a projected state back; the residual has
 * to keep its constraints. What is put out is projected, and a run whose loops cannot be closed ends there.
 */
#include "integrators/sundials.h"

#include <float.h>
#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <string.h>
#include <sunmatrix/sunmatrix_dense.h>

extern const lw_integrator lw_ida;

enum {
    OLDEST = 50,
    OFTEN = 10
}; /* steps for which differences may serve, as in CVODE; matrices that they may */

typedef struct {
    lw_sundials base;
    void *memory;    /* IDA's memory block. */
    N_Vector moved;  /* ydot for differences. */
    double matrix_c; /* The factor c of the matrix in use. */
    /* Difference quotients of the residual. */
    double *whole;    /* F_y + c F_ydot, by columns. */
    bool whole_known; /* Whether `whole` has been computed. */
    double whole_c;
    int whole_served; /* The number of matrices that have been derived from `whole`. */
    /* The step in which `whole` was computed, and the number of convergence failures at that time. */
    long whole_step, whole_failures;
    double *rated;    /* F_ydot, by columns. */
    bool rated_known; /* Whether `rated` has been computed. */
    long rated_step;  /* The step in which `rated` was computed. */
    bool consistent;  /* y and ydot are consistent. */
} ida;

static ida *from(lw_sundials *run) { return (ida *)run; }

/* --- what IDA calls ------------------------------------------------------------------------------- */

static int residual(double t, N_Vector y, N_Vector ydot, N_Vector result, void *data) {
    return lw_sundials_residual(data, t, y, ydot, result);
}

/* The state at which IDA requires a matrix. */
typedef struct {
    double t, c;
    N_Vector y, ydot, r;
    N_Vector moved, weights; /* room */
} linearisation_point;

/* Columns of F_y + c F_ydot, or (alone) of F_ydot: y_j moves, and ydot_j c times as far, or ydot_j alone. The
 * increment of y_j as IDA chooses it: sqrt(eps) of the largest of |y_j|, |h ydot_j| and the tolerance, in the
 * direction of motion. */
static int differences(ida *run, const linearisation_point *at, bool alone, double *columns) {
    const int n = run->base.controlled, size = run->base.base.system->size;
    double h, *ys = NV_DATA_S(at->y), *rates = NV_DATA_S(at->ydot);
    const double *rs = NV_DATA_S(at->r), *moved = NV_DATA_S(at->moved), *weights = NV_DATA_S(at->weights);
    IDAGetErrWeights(run->memory, at->weights);
    IDAGetCurrentStep(run->memory, &h);
    for (int j = 0; j < n; j++) {
        double y_kept = ys[j], rate_kept = rates[j], *column = columns + (size_t)j * (size_t)size;
        double scale = fmax(fmax(fabs(y_kept), fabs(h * rate_kept)), 1 / weights[j]);
        double increment = copysign(sqrt(DBL_EPSILON) * scale, h * rate_kept);
        if (!alone) {
            ys[j] += increment;
            increment = ys[j] - y_kept;
        }
        rates[j] += at->c * increment;
        if (alone) increment = rates[j] - rate_kept;
        int flag = residual(at->t, at->y, at->ydot, at->moved, run);
        ys[j] = y_kept;
        rates[j] = rate_kept;
        if (flag) return flag;
        for (int i = 0; i < size; i++) column[i] = (moved[i] - rs[i]) / increment;
    }
    return 0;
}

/* Is it known how little stiffness has changed since the last differences? */
static bool is_steady(lw_system *system) {
    const double much = 4; /* beyond it Newton's method would not converge anyway */
    const lw_newton_hints *hints = system->newton_hints;
    return !hints || hints->stiffness_change(hints->subject, false) < much;
}

/* Can the last differences be reused: is M requested because c has changed, and not because Newton's method
 * does not converge? */
static bool serves(const ida *run, double c, long steps, long failures) {
    /* IDA itself requests a matrix where c is below this part of its former value, or beyond the inverse. */
    const double least = 0.6;
    const double ratio = c / run->matrix_c;
    if (!run->whole_known || !run->rated_known || (ratio >= least && ratio <= 1 / least)) return false;
    if (steps - run->whole_step > OLDEST || run->whole_served >= OFTEN || failures != run->whole_failures)
        return false;
    /* The former c times F_ydot, which is subtracted, has an error of 1e-8, which must not hide the
     * result. */
    const double most = 100, grown = run->whole_c / c;
    if (!(grown < most && grown > 1 / most)) return false;
    return is_steady(run->base.base.system);
}

static int differ(ida *run, const linearisation_point *at, long steps, long failures) {
    bool old = !run->rated_known || steps - run->rated_step > OLDEST;
    lw_sundials_renews(&run->base, true);
    bool may_serve = is_steady(run->base.base.system);
    int flag = differences(run, at, false, run->whole);
    run->whole_known = !flag;
    run->whole_c = at->c, run->whole_step = steps, run->whole_failures = failures;
    if (!flag && old && may_serve) {
        flag = differences(run, at, true, run->rated);
        run->rated_known = !flag;
        run->rated_step = steps;
    }
    lw_sundials_renews(&run->base, false);
    return flag;
}

static int jacobian(double t, double c, N_Vector y, N_Vector ydot, N_Vector r, SUNMatrix matrix, void *data,
                    N_Vector moved, N_Vector weights, N_Vector unused) {
    (void)unused;
    ida *run = data;
    const int n = run->base.controlled, size = run->base.base.system->size;
    const linearisation_point at = {t, c, y, ydot, r, moved, weights};
    long steps, failures;
    IDAGetNumSteps(run->memory, &steps);
    IDAGetNumNonlinSolvConvFails(run->memory, &failures);
    if (serves(run, c, steps, failures)) {
        run->whole_served++;
    } else {
        int flag = differ(run, &at, steps, failures);
        if (flag) return flag;
        run->whole_served = 0;
    }

    const double change = c - run->whole_c;
    SUNMatZero(matrix);
    run->matrix_c = c;
    for (int j = 0; j < n; j++) {
        double *column = SUNDenseMatrix_Column(matrix, j);
        const double *whole = run->whole + (size_t)j * (size_t)size,
                     *rated = run->rated + (size_t)j * (size_t)size;
        for (int i = 0; i < n; i++) column[i] = whole[i] + change * rated[i];
        for (int i = n; i < size; i++) run->base.coupling[(i - n) * n + j] = whole[i] + change * rated[i];
    }
    for (int j = n; j < size; j++) SUNDenseMatrix_Column(matrix, j)[j] = c;
    return 0;
}

/* M v for GMRES. */
static int jacobian_times(double t, N_Vector y, N_Vector ydot, N_Vector r, N_Vector v, N_Vector product,
                          double c, void *data, N_Vector y_moved, N_Vector unused) {
    (void)unused;
    ida *run = data;
    IDAGetErrWeights(run->memory, y_moved);
    double length = N_VWrmsNorm(v, y_moved);
    N_VConst(0, product);
    if (length == 0) return 0;
    N_VLinearSum(1 / length, v, 1, y, y_moved);
    N_VLinearSum(c / length, v, 1, ydot, run->moved);
    int flag = residual(t, y_moved, run->moved, product, data);
    if (flag) return flag;
    N_VLinearSum(length, product, -length, r, product);
    return 0;
}

/* IDA scales the result afterwards by 2 / (1 + c / c of the matrix), since its matrix is an old one. The
 * quadratures are solved for with the present c, and the scaling is compensated for them beforehand: if a
 * part of their correction were omitted in every step, the error would grow, because nothing else controls
 * them. */
static int solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector b, double tolerance) {
    ida *run = (ida *)lw_sundials_of(x);
    double c = 1;
    IDAGetCurrentCj(run->memory, &c);
    run->base.unit = fabs(c);
    int flag = lw_sundials_solve(solver, matrix, x, b, tolerance, 1, c);
    if (flag >= 0 && matrix)
        for (int k = run->base.controlled; k < run->base.base.system->size; k++)
            NV_DATA_S(x)[k] *= (1 + c / run->matrix_c) / 2;
    return flag;
}

/* --- what the common stepping calls --------------------------------------------------------------- */

/* IDA begins with a step that changes the state by half of the tolerance. Behind a jump of a large force that
 * may be too short to move time; then it begins with the shortest one that does. */
static int choose_first_step(lw_sundials *run) {
    const double *y = NV_DATA_S(run->y), *rates = NV_DATA_S(run->ydot);
    const double shortest = 16 * DBL_EPSILON * fabs(run->end);
    double sum = 0;
    for (int k = 0; k < run->controlled; k++) {
        const double rate = rates[k] / (run->tolerance * lw_error_unit(run->base.system, k, y[k]));
        sum += rate * rate;
    }
    const bool too_short = sqrt(sum / run->controlled) * shortest > 0.5;
    return IDASetInitStep(from(run)->memory, too_short ? shortest : 0);
}

static int start(lw_sundials *run, double t_stop) {
    void *memory = from(run)->memory;
    /* IDA keeps an earlier stop time until it has come there, even when it starts anew beyond it. */
    int flag = IDASetStopTime(memory, fmin(t_stop, DBL_MAX));
    if (flag >= 0 && !run->started) flag = choose_first_step(run);
    if (flag < 0 || from(run)->consistent || run->started) return flag;
    flag = IDACalcIC(memory, IDA_YA_YDP_INIT, isfinite(t_stop) ? t_stop : run->end + 1);
    return flag < 0 ? flag : IDAGetConsistentIC(memory, run->y, run->ydot);
}

static int restart(lw_sundials *run, double t_stop) {
    ida *own = from(run);
    own->whole_known = own->rated_known = false;
    own->matrix_c = 0;
    if (run->base.system->derivative && lw_sundials_derivative(run, run->end, run->y, run->ydot) != 0) {
        run->failed_at = run->end;
        return -1;
    }
    int flag = IDAReInit(own->memory, run->end, run->y, run->ydot);
    if (flag >= 0) flag = choose_first_step(run);
    return flag < 0 ? flag : start(run, t_stop);
}

static int step(lw_sundials *run, double t_stop, double *end) {
    return IDASolve(from(run)->memory, t_stop, end, run->y, run->ydot, IDA_ONE_STEP);
}

static int dense(lw_sundials *run, double t, N_Vector y) { return IDAGetDky(from(run)->memory, t, 0, y); }

static double step_size(lw_sundials *run) {
    double h = 0;
    IDAGetCurrentStep(from(run)->memory, &h);
    return h;
}

static int bound(lw_sundials *run, double longest) { return IDASetMaxStep(from(run)->memory, longest); }

static int order(lw_sundials *run) {
    int last = 0;
    IDAGetLastOrder(from(run)->memory, &last);
    return last;
}

/* --- creation ------------------------------------------------------------------------------------- */

static void destroy(lw_integration *integration) {
    if (!integration) return;
    ida *run = (ida *)integration;
    if (run->memory) IDAFree(&run->memory);
    if (run->moved) N_VDestroy(run->moved);
    lw_sundials_destroy(&run->base);
}

/* Which states are differential: for IDA's start and, if there are others, its error test. */
static bool name_differential(ida *run) {
    const bool *differential = run->base.base.system->differential;
    double *id = NV_DATA_S(run->base.between);
    for (int i = 0; i < run->base.base.system->size; i++) id[i] = !differential || differential[i] ? 1 : 0;
    return IDASetId(run->memory, run->base.between) == 0 &&
           IDASetSuppressAlg(run->memory, differential != NULL) == 0;
}

static bool attach_linear_solver(ida *run) {
    lw_sundials *base = &run->base;
    if (!lw_sundials_newton(base) || IDASetNonlinearSolver(run->memory, base->nonlinear) ||
        !lw_sundials_linear_solver(base) || IDASetLinearSolver(run->memory, base->linear, base->matrix) ||
        !lw_sundials_tests_itself(base)) {
        return false;
    }
    base->linear->ops->solve = solve;
    size_t entries = (size_t)base->controlled * (size_t)base->base.system->size + 1;
    if (base->matrix && (!(run->whole = LW_NEW(base->arena, double, entries)) ||
                         !(run->rated = LW_NEW(base->arena, double, entries))))
        return false;
    if (base->matrix) return IDASetJacFn(run->memory, jacobian) == 0;
    return IDASetJacTimes(run->memory, NULL, jacobian_times) == 0 &&
           IDASetLSNormFactor(run->memory, sqrt(base->controlled)) == 0;
}

/* Messages go to run->text: by the context from version 7 on. */
static bool listens(ida *run) {
#if SUNDIALS_VERSION_MAJOR < 7
    return IDASetErrHandlerFn(run->memory, lw_sundials_message, &run->base) == IDA_SUCCESS;
#else
    return run->memory != NULL;
#endif
}

static lw_status create(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                        const double *ydot, lw_integration **integration, lw_error *error) {
    *integration = NULL;
    lw_sundials *base;
    lw_status status = lw_sundials_create(&lw_ida, sizeof(ida), system, options, t, y, &base, error);
    if (status) return status;

    ida *run = from(base);
    base->start = start;
    base->restart = restart;
    base->step = step;
    base->dense = dense;
    base->step_size = step_size;
    base->bound = bound;
    base->order = order;
    base->drifts = true;
    run->consistent = ydot || system->derivative;
    if (ydot) {
        memcpy(NV_DATA_S(base->ydot), ydot, sizeof *ydot * (size_t)system->size);
    } else if (system->derivative) {
        status = lw_checked_derivative(system, t, y, NV_DATA_S(base->ydot), &base->evaluations, error);
        if (status) {
            destroy(&base->base);
            return lw_stopped_at(t, status, error);
        }
    }
    run->moved = N_VClone(base->y);
    run->memory = IDACreate(base->context);
    if (!run->moved || !run->memory || !listens(run) || IDASetUserData(run->memory, base) ||
        IDAInit(run->memory, residual, t, base->y, base->ydot) ||
        IDAWFtolerances(run->memory, lw_sundials_weights) || IDASetMaxStep(run->memory, base->largest_step) ||
        !name_differential(run) || !attach_linear_solver(run)) {
        destroy(&base->base);
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "no memory for %d states", system->size);
    }
    *integration = &base->base;
    return LW_OK;
}

static void statistics(const lw_integration *integration, lw_integrator_statistics *result) {
    const ida *run = (const ida *)integration;
    *result = (lw_integrator_statistics){.evaluations = run->base.evaluations};
    IDAGetNumSteps(run->memory, &result->steps);
    IDAGetNumErrTestFails(run->memory, &result->rejected);
    lw_sundials_add_before(&run->base, result);
}

const lw_integrator lw_ida = {
    .name = "ida",
    .summary = "backward differentiation formulas on a residual (differential-algebraic), step and order by "
               "tolerance",
    .needs_residual = true,
    .create = create,
    .destroy = destroy,
    .advance = lw_sundials_advance,
    .step = lw_sundials_step,
    .restart = lw_sundials_restart,
    .archive = lw_sundials_archive,
    .repeats = true,
    .statistics = statistics,
};

/* bdf.c - backward differentiation formulas of order 1 to 5, step and order by tolerance; CVODE with Newton's
 * method.
 *
 * For stiff systems. Newton's matrix is M = I - gamma J, J = df/dy by differences. The quadratures Q do not
 * act back on the states Y, so that M is block triangular,
 *
 *     M = [ I - gamma J_YY   0 ]
 *         [   - gamma J_QY   I ]
 *
 * and is solved as such: Q costs no column of J and cannot enter the pivoting. Beyond 400 states M is not
 * formed; GMRES on the block of Y uses M x by one difference quotient each.
 *
 * A system that linearises itself (lw_linearised) solves the block of Y, without any evaluation. Then Q needs
 * no block of J: what Newton's method has found for Y is evaluated once more, and with the formula, in
 * CVODE's terms (predicted state z_0, correction e, r = 1 / l_1),
 *
 *     e_Q = gamma f_Q(z_0 + e) - r z_1Q,                                                               (2)
 *
 * Q is right for the state that is accepted. If the iteration goes on, that evaluation is its next one.
 */
#include "integrators/cvode.h"

#include <cvode/cvode.h>
#include <float.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

extern const lw_integrator lw_bdf;

typedef struct bdf {
    lw_cvode base;
    /* With a system that linearises itself: */
    bool exact;     /* The last matrix is the system's own, and not one of differences. */
    double *saved;  /* df/dy by differences, where the system has refused; as many numbers as in the matrix */
    double *known;  /* The last state evaluated at the end of an iteration, */
    double *rates;  /* its rates, */
    double known_t; /* and its time. */
    bool is_known;
    SUNNonlinSolConvTestFn test; /* CVODE's own test of convergence */
    void *test_data;
    int (*restart)(lw_sundials *run, double t_stop); /* that of cvode.c */
} bdf;

/* The content of the dense solver, and whose it is. */
struct content {
    struct _SUNLinearSolverContent_Dense dense;
    bdf *run;
};

/* J_YY column by column; the increment of y_j as CVODE chooses it: sqrt(eps) |y_j|, and not below what
 * rounding of f demands. */
static int jacobian(double t, N_Vector y, N_Vector f, SUNMatrix matrix, void *data, N_Vector f_moved,
                    N_Vector weights, N_Vector unused) {
    (void)unused;
    lw_cvode *run = data;
    const int n = run->base.controlled, size = run->base.base.system->size;
    double h, *ys = NV_DATA_S(y), *fs = NV_DATA_S(f), *moved = NV_DATA_S(f_moved);
    CVodeGetErrWeights(run->memory, weights);
    CVodeGetCurrentStep(run->memory, &h);
    double f_norm = N_VWrmsNorm(f, weights);
    double least = f_norm > 0 ? 1000 * fabs(h) * DBL_EPSILON * n * f_norm : 1;

    SUNMatZero(matrix);
    lw_sundials_renews(&run->base, true);
    int flag = 0;
    for (int j = 0; j < n; j++) {
        double kept = ys[j], *column = SUNDenseMatrix_Column(matrix, j);
        ys[j] += fmax(sqrt(DBL_EPSILON) * fabs(kept), least / NV_DATA_S(weights)[j]);
        double increment = ys[j] - kept;
        flag = lw_sundials_derivative(&run->base, t, y, f_moved);
        ys[j] = kept;
        if (flag) break;
        for (int i = 0; i < n; i++) column[i] = (moved[i] - fs[i]) / increment;
        for (int i = n; i < size; i++) run->base.coupling[(i - n) * n + j] = (moved[i] - fs[i]) / increment;
    }
    lw_sundials_renews(&run->base, false);
    return flag;
}

/* J v for GMRES. */
static int jacobian_times(N_Vector v, N_Vector product, double t, N_Vector y, N_Vector f, void *data,
                          N_Vector moved) {
    lw_cvode *run = data;
    CVodeGetErrWeights(run->memory, moved);
    double size = N_VWrmsNorm(v, moved);
    N_VConst(0, product);
    if (size == 0) return 0;
    N_VLinearSum(1 / size, v, 1, y, moved);
    int flag = lw_sundials_derivative(&run->base, t, moved, product);
    if (flag) return flag;
    N_VLinearSum(size, product, -size, f, product);
    return 0;
}

/* --- the system's own linear equations --------------------------------------------------------------- */

static const lw_linearised *own_equations(const bdf *run) { return run->base.base.base.system->linearised; }

/* The entries on which rates depend. */
static bool same_state(const bdf *run, double t, const double *y) {
    return run->is_known && t == run->known_t &&
           memcmp(y, run->known, (size_t)own_equations(run)->count * sizeof *y) == 0;
}

static int known_derivative(double t, N_Vector y, N_Vector ydot, void *data) {
    bdf *run = data;
    if (!same_state(run, t, NV_DATA_S(y))) return lw_sundials_derivative(&run->base.base, t, y, ydot);
    memcpy(NV_DATA_S(ydot), run->rates, (size_t)run->base.base.base.system->size * sizeof(double));
    return 0;
}

/* I - gamma J. The system factors it; if it has no derivatives here, differences serve. */
static int equations(double t, N_Vector y, N_Vector f, SUNMatrix matrix, booleantype reuse,
                     booleantype *renewed, double gamma, void *data, N_Vector room, N_Vector weights,
                     N_Vector unused) {
    bdf *run = data;
    lw_system *system = run->base.base.base.system;
    const int size = system->size;
    const size_t entries = (size_t)size * (size_t)size;
    double *columns = SUNDenseMatrix_Data(matrix);
    lw_error reason = {0};
    *renewed = SUNFALSE;
    if (!reuse) {
        const lw_status status = system->linearised->at(system, t, NV_DATA_S(y), &reason);
        if (status != LW_OK && status != LW_ERROR_SINGULAR) {
            run->base.base.failure = reason;
            return -1;
        }
        run->exact = status == LW_OK;
        *renewed = SUNTRUE;
    }
    if (run->exact) return system->linearised->factor(system, gamma) ? 0 : 1;
    if (!reuse) {
        const int flag = jacobian(t, y, f, matrix, data, room, weights, unused);
        if (flag) return flag;
        memcpy(run->saved, columns, entries * sizeof *columns);
    }
    for (size_t k = 0; k < entries; k++) columns[k] = -gamma * run->saved[k];
    for (int k = 0; k < size; k++) columns[(size_t)k * ((size_t)size + 1)] += 1;
    return 0;
}

static int factor(SUNLinearSolver solver, SUNMatrix matrix) {
    return ((const struct content *)solver->content)->run->exact ? 0 : SUNLinSolSetup_Dense(solver, matrix);
}

/* Integrals by the formula, at the state that an iteration has found. */
static int settle(bdf *run, N_Vector correction, N_Vector change) {
    lw_sundials *base = &run->base.base;
    const int count = own_equations(run)->count, size = base->base.system->size;
    N_Vector predicted, now, f, row;
    double t, gamma, r;
    void *data;
    CVodeGetNonlinearSystemData(run->base.memory, &t, &predicted, &now, &f, &gamma, &r, &row, &data);
    double *e = NV_DATA_S(correction), *d = NV_DATA_S(change), *state = NV_DATA_S(base->between);
    for (int k = 0; k < size; k++) state[k] = NV_DATA_S(predicted)[k] + e[k];
    if (!same_state(run, t, state)) {
        run->is_known = false;
        const int flag = lw_sundials_derivative(base, t, base->between, base->second);
        if (flag) return flag;
        memcpy(run->known, state, (size_t)count * sizeof *state);
        memcpy(run->rates, NV_DATA_S(base->second), (size_t)size * sizeof *state);
        run->known_t = t, run->is_known = true;
    }
    for (int k = count; k < size; k++) {
        const double value = gamma * run->rates[k] - r * NV_DATA_S(row)[k];
        d[k] += value - e[k];
        e[k] = value;
    }
    return 0;
}

static int converged(SUNNonlinearSolver solver, N_Vector correction, N_Vector change, double tolerance,
                     N_Vector weights, void *data) {
    bdf *run = data;
    const bool books = own_equations(run)->count < run->base.base.controlled;
    int flag = run->exact && books ? settle(run, correction, change) : 0;
    if (flag) return flag;
    flag = run->test(solver, correction, change, tolerance, weights, run->test_data);
    return flag == 0 && run->exact && !books ? settle(run, correction, change) : flag;
}

static int solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector b, double tolerance) {
    bdf *run = (bdf *)lw_sundials_of(x);
    double gamma = 0;
    if (run->exact) {
        lw_system *system = run->base.base.base.system;
        N_VScale(1, b, x);
        system->linearised->solve(system, NV_DATA_S(x));
        return 0;
    }
    CVodeGetCurrentGamma(run->base.memory, &gamma);
    return lw_sundials_solve(solver, matrix, x, b, tolerance, -gamma, 1);
}

/* --- creation ---------------------------------------------------------------------------------------- */

/* Equations may be others from here on. */
static int restart(lw_sundials *base, double t_stop) {
    bdf *run = (bdf *)base;
    run->is_known = false;
    return run->restart(base, t_stop);
}

static bool take_own_equations(bdf *run) {
    lw_sundials *base = &run->base.base;
    struct content *inside = malloc(sizeof *inside); /* The solver's destroy frees it. */
    if (!inside) return false;
    *inside = (struct content){*(const struct _SUNLinearSolverContent_Dense *)base->linear->content, run};
    free(base->linear->content);
    base->linear->content = inside;
    base->linear->ops->setup = factor;
    run->restart = base->restart;
    base->restart = restart;
    const size_t size = (size_t)base->base.system->size;
    run->saved = LW_NEW(base->arena, double, size *size + 1);
    run->known = LW_NEW(base->arena, double, size + 1);
    run->rates = LW_NEW(base->arena, double, size + 1);
    const SUNNonlinearSolverContent_Newton content = base->nonlinear->content;
    run->test = content->CTest, run->test_data = content->ctest_data;
    return run->saved && run->known && run->rates && run->test &&
           SUNNonlinSolSetConvTestFn(base->nonlinear, converged, run) == 0 &&
           CVodeSetLinSysFn(run->base.memory, equations) == 0 &&
           CVodeSetNlsRhsFn(run->base.memory, known_derivative) == 0;
}

static bool newton(lw_cvode *run) {
    lw_sundials *base = &run->base;
    if (!lw_sundials_linear_solver(base) || !lw_sundials_newton(base) ||
        CVodeSetNonlinearSolver(run->memory, base->nonlinear) || !lw_sundials_tests_itself(base) ||
        CVodeSetLinearSolver(run->memory, base->linear, base->matrix)) {
        return false;
    }
    base->linear->ops->solve = solve;
    if (base->matrix && base->base.system->linearised) {
        return take_own_equations((bdf *)run) && CVodeSetLinearSolutionScaling(run->memory, SUNFALSE) == 0;
    }
    if (base->matrix) {
        /* Scaling x for an old gamma would be wrong for the quadratures, and saves no steps. */
        return CVodeSetJacFn(run->memory, jacobian) == 0 &&
               CVodeSetLinearSolutionScaling(run->memory, SUNFALSE) == 0;
    }
    return CVodeSetJacTimes(run->memory, NULL, jacobian_times) == 0 &&
           CVodeSetLSNormFactor(run->memory, sqrt(base->controlled)) == 0;
}

static lw_status create(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                        const double *ydot, lw_integration **integration, lw_error *error) {
    (void)ydot;
    return lw_cvode_create(&lw_bdf, sizeof(bdf), CV_BDF, newton, system, options, t, y, integration, error);
}

const lw_integrator lw_bdf = {
    .name = "bdf",
    .summary =
        "backward differentiation formulas, order 1 to 5, for stiff systems, step and order by tolerance",
    .linearises_least = 40, /* Below, differences cost less than (2). */
    .linearises_most = 400,
    .create = create,
    .destroy = lw_cvode_destroy,
    .advance = lw_sundials_advance,
    .step = lw_sundials_step,
    .restart = lw_sundials_restart,
    .archive = lw_sundials_archive,
    .repeats = true,
    .statistics = lw_cvode_statistics,
};

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
 */
#include "integrators/cvode.h"

#include <cvode/cvode.h>
#include <float.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

extern const lw_integrator lw_bdf;

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

static int solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector b, double tolerance) {
    double gamma = 0;
    CVodeGetCurrentGamma(((lw_cvode *)lw_sundials_of(x))->memory, &gamma);
    return lw_sundials_solve(solver, matrix, x, b, tolerance, -gamma, 1);
}

static bool newton(lw_cvode *run) {
    lw_sundials *base = &run->base;
    if (!lw_sundials_linear_solver(base) || !lw_sundials_newton(base) ||
        CVodeSetNonlinearSolver(run->memory, base->nonlinear) || !lw_sundials_tests_itself(base) ||
        CVodeSetLinearSolver(run->memory, base->linear, base->matrix)) {
        return false;
    }
    base->linear->ops->solve = solve;
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
    return lw_cvode_create(&lw_bdf, CV_BDF, newton, system, options, t, y, integration, error);
}

const lw_integrator lw_bdf = {
    .name = "bdf",
    .summary =
        "backward differentiation formulas, order 1 to 5, for stiff systems, step and order by tolerance",
    .create = create,
    .destroy = lw_cvode_destroy,
    .advance = lw_sundials_advance,
    .step = lw_sundials_step,
    .restart = lw_sundials_restart,
    .archive = lw_sundials_archive,
    .repeats = true,
    .statistics = lw_cvode_statistics,
};

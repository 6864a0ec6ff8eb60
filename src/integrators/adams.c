/* adams.c - Adams-Moulton formulas of order 1 to 12, step and order by tolerance; CVODE with functional
 * iteration.
 *
 * For smooth motions without stiff springs or dampers: few evaluations per step (one to two) at any
 * tolerance.
 */
#include "integrators/cvode.h"

#include <cvode/cvode.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

extern const lw_integrator lw_adams;

static bool functional_iteration(lw_cvode *run) {
    run->base.nonlinear = SUNNonlinSol_FixedPoint(run->base.y, 0, run->base.context);
    return run->base.nonlinear && CVodeSetNonlinearSolver(run->memory, run->base.nonlinear) == 0;
}

static lw_status create(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                        const double *ydot, lw_integration **integration, lw_error *error) {
    (void)ydot;
    return lw_cvode_create(&lw_adams, sizeof(lw_cvode), CV_ADAMS, functional_iteration, system, options, t, y,
                           integration, error);
}

const lw_integrator lw_adams = {
    .name = "adams",
    .summary = "Adams-Moulton, order 1 to 12, step and order by tolerance",
    .create = create,
    .destroy = lw_cvode_destroy,
    .advance = lw_sundials_advance,
    .step = lw_sundials_step,
    .restart = lw_sundials_restart,
    .archive = lw_sundials_archive,
    .repeats = true,
    .statistics = lw_cvode_statistics,
};

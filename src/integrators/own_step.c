/* own_step.c - the integrator "step": the formulation's own step, repeated with a fixed h.
 *
 * For formulations that are a time-stepping scheme themselves (energy-momentum, variational). Order and cost
 * are the scheme's. Evaluations counts steps, of which each solves the scheme's equations.
 */
#include "integrators/fixed_step.h"

extern const lw_integrator lw_own_step;

static lw_status take(lw_fixed_step *run, double t, double h, const double *y, const double *ydot,
                      double *y_next, lw_error *error) {
    (void)ydot;
    lw_system *system = run->base.system;
    run->evaluations++;
    return system->step(system, t, h, y, y_next, error);
}

static lw_status create(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                        const double *ydot, lw_integration **integration, lw_error *error) {
    (void)ydot;
    return lw_fixed_step_create(&lw_own_step, take, system, options, t, y, integration, error);
}

const lw_integrator lw_own_step = {
    .name = "step",
    .summary = "the method's own time-stepping scheme, fixed step",
    .fixed_step = true,
    .needs_step = true,
    .create = create,
    .destroy = lw_fixed_step_destroy,
    .advance = lw_fixed_step_advance,
    .statistics = lw_fixed_step_statistics,
};

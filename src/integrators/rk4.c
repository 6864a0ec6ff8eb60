/* rk4.c - the classical Runge-Kutta method of order 4, fixed step.
 *
 *   k1 = f(t, y), k2 = f(t + h/2, y + h/2 k1), k3 = f(t + h/2, y + h/2 k2), k4 = f(t + h, y + h k3)
 *   y(t + h) = y + h/6 (k1 + 2 k2 + 2 k3 + k4) + O(h^5)
 *
 * Cost: 4 evaluations per step. No error control: the step is the user's.
 */
#include "integrators/fixed_step.h"

extern const lw_integrator lw_rk4;

static lw_status take(lw_fixed_step *run, double t, double h, const double *y, const double *k1,
                      double *y_next, lw_error *error) {
    lw_system *system = run->base.system;
    const int n = system->size;
    double *stage = run->work[0], *k = run->work[1], *sum = run->work[2];
    const double at[3] = {0.5 * h, 0.5 * h, h}; /* of k2, k3, k4 */
    const double weights[3] = {2, 2, 1};

    for (int i = 0; i < n; i++) sum[i] = k1[i];
    for (int s = 0; s < 3; s++) {
        const double *previous = s == 0 ? k1 : k;
        for (int i = 0; i < n; i++) stage[i] = y[i] + at[s] * previous[i];
        lw_status status = lw_checked_derivative(system, t + at[s], stage, k, &run->evaluations, error);
        if (status) return status;
        for (int i = 0; i < n; i++) sum[i] += weights[s] * k[i];
    }
    for (int i = 0; i < n; i++) y_next[i] = y[i] + h / 6 * sum[i];
    return LW_OK;
}

static lw_status create(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                        const double *ydot, lw_integration **integration, lw_error *error) {
    (void)ydot;
    return lw_fixed_step_create(&lw_rk4, take, system, options, t, y, integration, error);
}

const lw_integrator lw_rk4 = {
    .name = "rk4",
    .summary = "classical Runge-Kutta, order 4, fixed step",
    .fixed_step = true,
    .create = create,
    .destroy = lw_fixed_step_destroy,
    .advance = lw_fixed_step_advance,
    .step = lw_fixed_step_step,
    .restart = lw_fixed_step_restart,
    .archive = lw_fixed_step_archive,
    .statistics = lw_fixed_step_statistics,
};

/* integrators_support.h - systems to integrate and short calls, for the tests of the integrators.
 */
#ifndef LW_TEST_INTEGRATORS_SUPPORT_H
#define LW_TEST_INTEGRATORS_SUPPORT_H

#include "integrators/integrator.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LARGEST = 512 };

typedef struct problem {
    lw_system base;
    double (*quadrature)(double t, const double *y, int index); /* rates of the last entries */
    double parameter;
    double t_last, off_grid;    /* latest time of evaluation, largest distance to a multiple of half a step */
    double largest_correction;  /* by projection */
    long projections, refusals; /* calls that projected, that returned LW_ERROR_SINGULAR */
} problem;

static inline void fill_quadratures(problem *p, double t, const double *y, double *ydot) {
    for (int k = 0; k < p->base.quadratures; k++) {
        ydot[p->base.size - p->base.quadratures + k] = p->quadrature(t, y, k);
    }
}

/* F = ydot - f for all systems that have a derivative. */
static inline lw_status ode_residual(lw_system *system, double t, const double *y, const double *ydot,
                                     double *residual, lw_error *error) {
    double f[LARGEST];
    lw_status status = system->derivative(system, t, y, f, error);
    for (int i = 0; i < system->size && !status; i++) residual[i] = ydot[i] - f[i];
    return status;
}

static inline lw_status oscillator(lw_system *system, double t, const double *y, double *ydot,
                                   lw_error *error) {
    (void)error;
    ydot[0] = y[1];
    ydot[1] = -y[0];
    fill_quadratures((problem *)system, t, y, ydot);
    return LW_OK;
}

static const char *const adaptive[] = {"erk", "adams", "bdf", "ida"};
enum { ADAPTIVE = 4 };

static inline lw_integration *begin(const char *name, lw_system *system, double step, double tolerance,
                                    double t, const double *y, const double *ydot) {
    lw_integration *integration;
    lw_error error = {0};
    lw_integrator_options options = {step, tolerance};
    const lw_integrator *integrator = lw_integrator_find(name);
    assert_non_null(integrator);
    lw_status status = integrator->create(system, &options, t, y, ydot, &integration, &error);
    if (status) print_error("%s: %s\n", name, error.message);
    assert_int_equal(status, LW_OK);
    return integration;
}

static inline void to(lw_integration *integration, double t_out, double t_stop, double *y) {
    lw_error error = {0};
    lw_status status = integration->integrator->advance(integration, t_out, t_stop, y, &error);
    if (status) print_error("%s: %s\n", integration->integrator->name, error.message);
    assert_int_equal(status, LW_OK);
}

static inline lw_integrator_statistics end(lw_integration *integration) {
    lw_integrator_statistics statistics;
    integration->integrator->statistics(integration, &statistics);
    integration->integrator->destroy(integration);
    return statistics;
}

static inline void expect_at_most(const char *what, const char *name, double value, double bound) {
    if (!(value <= bound)) print_error("%s: %s %.3e, expected at most %.3e\n", name, what, value, bound);
    assert_true(value <= bound);
}

static inline double distance(int n, const double *a, const double *b) {
    double result = 0;
    for (int i = 0; i < n; i++) result = fmax(result, fabs(a[i] - b[i]));
    return result;
}

static inline lw_status midpoint(lw_system *system, double t, double h, const double *y, double *y_next,
                                 lw_error *error) {
    (void)system, (void)t, (void)error;
    double c = 1 + h * h / 4; /* (I - h/2 A) y_next = (I + h/2 A) y */
    y_next[0] = ((1 - h * h / 4) * y[0] + h * y[1]) / c;
    y_next[1] = ((1 - h * h / 4) * y[1] - h * y[0]) / c;
    return LW_OK;
}

#endif

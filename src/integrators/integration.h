/* integration.h - functions that all integrators share: checked calls of the system, times, dense output,
 * error messages.
 */
#ifndef LW_INTEGRATION_H
#define LW_INTEGRATION_H

#include "integrators/integrator.h"

/* Does the system have the derivative, residual or step that this integrator needs, and do the options have a
 * step or a tolerance? */
lw_status lw_check_start(const lw_integrator *integrator, const lw_system *system,
                         const lw_integrator_options *options, double t, const double *y, lw_error *error);

/* Is earliest <= t_out <= t_stop? earliest is where the last step began. */
lw_status lw_check_times(const lw_integrator *integrator, double earliest, double t_out, double t_stop,
                         lw_error *error);

/* The number of leading entries of the state that are subject to error control. */
int lw_controlled_states(const lw_system *system);

/* The system's derivative or residual. A result that is not finite is LW_ERROR_SINGULAR. */
lw_status lw_checked_derivative(lw_system *system, double t, const double *y, double *ydot, long *evaluations,
                                lw_error *error);
lw_status lw_checked_residual(lw_system *system, double t, const double *y, const double *ydot,
                              double *residual, long *evaluations, lw_error *error);

/* Adds "the integrator stopped at t = ..." to an error of the system; returns the error's status. */
lw_status lw_stopped_at(double t, lw_status status, lw_error *error);

/* Fails because the step has become too small to advance time, or is not a number. tolerance 0: the user has
 * given the step. */
lw_status lw_step_vanished(const lw_integrator *integrator, double t, double h, double tolerance,
                           lw_error *error);

/* Index of the first number that is not finite, -1 if all are. */
int lw_first_not_finite(int count, const double *x);

/* Hermite interpolation, degree 2 nodes - 1, on a step of length h: y_i and ydot_i at theta_i of 0 .. 1;
 * result at theta. At most LW_HERMITE_NODES nodes. */
enum { LW_HERMITE_NODES = 4 };
void lw_hermite(int size, int nodes, const double *thetas, const double *const *y, const double *const *ydot,
                double h, double theta, double *result);

#endif

/* integration.c - what all integrators share: checked calls of the system, times, dense output, error texts.
 */
#include "integrators/integration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- arguments ------------------------------------------------------------------------------------ */

static void object_of(const lw_integrator *integrator, char object[64]) {
    snprintf(object, 64, "integrator \"%s\"", integrator->name);
}

lw_status lw_check_start(const lw_integrator *integrator, const lw_system *system,
                         const lw_integrator_options *options, double t, const double *y, lw_error *error) {
    char object[64];
    object_of(integrator, object);
    if (integrator->needs_residual ? !system->residual
        : integrator->needs_step   ? !system->step
                                   : !system->derivative) {
        const char *need = integrator->needs_residual ? "a residual"
                           : integrator->needs_step   ? "a step of its own"
                                                      : "a derivative";
        return lw_fail(error, LW_ERROR_UNSUPPORTED, object, "choose another integrator or another method",
                       "needs %s, which the chosen method does not have", need);
    }
    if (system->size < 1 || system->quadratures < 0 || system->quadratures > system->size) {
        return lw_fail(error, LW_ERROR_ARGUMENT, object, "a system has at least one state",
                       "cannot work on %d states of which %d are integrals", system->size,
                       system->quadratures);
    }
    bool fixed_step = integrator->fixed_step || (integrator->either && !(options->tolerance > 0));
    if (fixed_step && !(options->step > 0 && isfinite(options->step))) {
        return lw_fail(error, LW_ERROR_ARGUMENT, object, "give a positive step (--step), e.g. 1e-3",
                       "step %g is not a length of time", options->step);
    }
    if (!fixed_step && !(options->tolerance > 0 && options->tolerance < 1)) {
        return lw_fail(error, LW_ERROR_ARGUMENT, object, "give a tolerance (--tol), e.g. 1e-6",
                       "tolerance %g is not between 0 and 1", options->tolerance);
    }
    int bad = lw_first_not_finite(system->size, y);
    if (bad >= 0 || !isfinite(t)) {
        return lw_fail(error, LW_ERROR_ARGUMENT, object, "give finite initial values",
                       "cannot start at t = %g with state %d = %g", t, bad < 0 ? 0 : bad,
                       y[bad < 0 ? 0 : bad]);
    }
    return LW_OK;
}

lw_status lw_check_times(const lw_integrator *integrator, double earliest, double t_out, double t_stop,
                         lw_error *error) {
    if (t_out >= earliest && t_out <= t_stop) return LW_OK;
    char object[64];
    object_of(integrator, object);
    return lw_fail(error, LW_ERROR_ARGUMENT, object, "ask for ascending times up to the end",
                   "time %.9g lies outside of %.9g .. %.9g", t_out, earliest, t_stop);
}

int lw_controlled_states(const lw_system *system) {
    int states = system->size - system->quadratures;
    return states > 0 ? states : system->size;
}

/* --- calls of the system -------------------------------------------------------------------------- */

int lw_first_not_finite(int count, const double *x) {
    for (int i = 0; i < count; i++) {
        if (!isfinite(x[i])) return i;
    }
    return -1;
}

static lw_status check_finite(int count, const double *x, const char *what, double t, lw_error *error) {
    int bad = lw_first_not_finite(count, x);
    if (bad < 0) return LW_OK;
    return lw_fail(error, LW_ERROR_SINGULAR, NULL,
                   "look for a division by zero or a value out of range in the model's forces and motions",
                   "the %s of state %d is %g at t = %.9g", what, bad, x[bad], t);
}

lw_status lw_checked_derivative(lw_system *system, double t, const double *y, double *ydot, long *evaluations,
                                lw_error *error) {
    ++*evaluations;
    lw_status status = system->derivative(system, t, y, ydot, error);
    return status ? status : check_finite(system->size, ydot, "rate", t, error);
}

lw_status lw_checked_residual(lw_system *system, double t, const double *y, const double *ydot,
                              double *residual, long *evaluations, lw_error *error) {
    ++*evaluations;
    lw_status status = system->residual(system, t, y, ydot, residual, error);
    return status ? status : check_finite(system->size, residual, "residual", t, error);
}

/* --- error texts ---------------------------------------------------------------------------------- */

lw_status lw_stopped_at(double t, lw_status status, lw_error *error) {
    if (error) {
        size_t length = strlen(error->message);
        snprintf(error->message + length, sizeof error->message - length,
                 "%sthe integrator stopped at t = %.9g", length ? "; " : "", t);
    }
    return status;
}

lw_status lw_step_vanished(const lw_integrator *integrator, double t, double h, double tolerance,
                           lw_error *error) {
    const double loose = 1e-3, tight = 1e-12;
    const bool implicit =
        strcmp(integrator->name, "bdf") == 0 || integrator->needs_residual || integrator->needs_step;
    char object[64], remedy[256];
    object_of(integrator, object);
    if (!isfinite(h)) {
        return lw_fail(error, LW_ERROR_INTEGRATION, object,
                       "look at the model's masses, forces and gravity: something is out of all proportion",
                       "at t = %.9g no step size can be computed: rates of the state overflow", t);
    }
    if (!(tolerance > 0)) {
        return lw_fail(error, LW_ERROR_INTEGRATION, object, "give a longer one (--step)",
                       "at t = %.9g the step %.3g is too short to move time", t, h);
    }
    snprintf(
        remedy, sizeof remedy, "forces that jump or grow without bound, or a singular position, do that%s%s",
        tolerance >= loose  ? "; the tolerance is loose, and a state that errors have led astray may do it "
                              "too: try a smaller one, e.g. --tol 1e-6"
        : tolerance < tight ? "; the tolerance may be too tight: try a larger one (--tol)"
                            : "",
        implicit || !lw_integrator_find("bdf") ? "" : "; for a stiff model use the integrator bdf");
    return lw_fail(error, LW_ERROR_INTEGRATION, object, remedy,
                   "at t = %.9g no step is short enough for the tolerance %g: its size fell to %.3g", t,
                   tolerance, h);
}

/* --- dense output --------------------------------------------------------------------------------- */

/* p(theta) = sum of H_i y_i + G_i h ydot_i,  H_i = (1 - 2 (theta - theta_i) L_i'(theta_i)) L_i^2,
 * G_i = (theta - theta_i) L_i^2, L_i the Lagrange polynomials of the nodes. The H_i add up to one, so that
 * H_0 is replaced by 1 - H_1 - ...: what is constant, a counter of events, keeps its last bit. */
void lw_hermite(int size, int nodes, const double *thetas, const double *const *y, const double *const *ydot,
                double h, double theta, double *result) {
    double of_y[LW_HERMITE_NODES], of_ydot[LW_HERMITE_NODES];
    for (int i = 0; i < nodes; i++) {
        double lagrange = 1, slope = 0;
        for (int j = 0; j < nodes; j++) {
            if (j == i) continue;
            lagrange *= (theta - thetas[j]) / (thetas[i] - thetas[j]);
            slope += 1 / (thetas[i] - thetas[j]);
        }
        double square = lagrange * lagrange, distance = theta - thetas[i];
        of_y[i] = (1 - 2 * distance * slope) * square;
        of_ydot[i] = h * distance * square;
    }
    for (int k = 0; k < size; k++) {
        const double first = y[0][k];
        double sum = of_ydot[0] * ydot[0][k];
        for (int i = 1; i < nodes; i++) sum += of_y[i] * (y[i][k] - first) + of_ydot[i] * ydot[i][k];
        result[k] = first + sum;
    }
}

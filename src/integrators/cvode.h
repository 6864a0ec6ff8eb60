/* cvode.h - what adams and bdf share: everything but the formula and the solution of its equations.
 */
#ifndef LW_CVODE_H
#define LW_CVODE_H

#include "integrators/sundials.h"

typedef struct lw_cvode {
    lw_sundials base;
    void *memory; /* CVODE's */
} lw_cvode;

/* formula: CV_ADAMS or CV_BDF; attach gives CVODE the solver of the implicit equations, false: no memory. */
lw_status lw_cvode_create(const lw_integrator *integrator, int formula, bool (*attach)(lw_cvode *run),
                          lw_system *system, const lw_integrator_options *options, double t, const double *y,
                          lw_integration **integration, lw_error *error);
void lw_cvode_destroy(lw_integration *integration);
void lw_cvode_statistics(const lw_integration *integration, lw_integrator_statistics *statistics);

#endif

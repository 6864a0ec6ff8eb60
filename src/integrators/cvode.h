/* cvode.h - the common part of adams and bdf: everything except the formula and the solution of its
 * equations.
 */
#ifndef LW_CVODE_H
#define LW_CVODE_H

#include "integrators/sundials.h"

typedef struct lw_cvode {
    lw_sundials base;
    void *memory; /* CVODE's memory block. */
} lw_cvode;

/* formula: CV_ADAMS or CV_BDF. size: of the integrator's own struct, which begins with lw_cvode. attach gives
 * CVODE the solver of the implicit equations; it returns false when memory is out. */
lw_status lw_cvode_create(const lw_integrator *integrator, size_t size, int formula,
                          bool (*attach)(lw_cvode *run), lw_system *system,
                          const lw_integrator_options *options, double t, const double *y,
                          lw_integration **integration, lw_error *error);
void lw_cvode_destroy(lw_integration *integration);
void lw_cvode_statistics(const lw_integration *integration, lw_integrator_statistics *statistics);

#endif

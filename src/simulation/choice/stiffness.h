/* stiffness.h - tests whether stability bounds the steps of an explicit formula, and whether an implicit one
 * needs less work.
 */
#ifndef LW_STIFFNESS_H
#define LW_STIFFNESS_H

#include "integrators/integrator.h"

/* The spectral radius of df/dy at (t, y), without quadratures; 0 if it cannot be computed. work has 3 numbers
 * per state. */
double lw_spectral_radius(lw_system *system, double t, const double *y, double *work);

/* Returns whether bdf, started at (t, y), reaches `t_end` with at most `most` evaluations. Its result is
 * discarded. */
bool lw_bdf_reaches(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                    double t_end, double t_stop, long most);

#endif

/* stiffness.h - does stability bound the steps of an explicit formula, and would an implicit one do better?
 */
#ifndef LW_STIFFNESS_H
#define LW_STIFFNESS_H

#include "integrators/integrator.h"

/* The spectral radius of df/dy at (t, y), quadratures left out; 0 if it cannot be had. work: 3 numbers per
 * state. */
double lw_spectral_radius(lw_system *system, double t, const double *y, double *work);

/* From (t, y) on, does bdf reach `t_end` with at most `most` evaluations? All that it does is thrown away. */
bool lw_bdf_reaches(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                    double t_end, double t_stop, long most);

#endif

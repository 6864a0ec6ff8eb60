/* run_options.h - what a run is asked for, checked and translated for the method.
 */
#ifndef LW_RUN_OPTIONS_H
#define LW_RUN_OPTIONS_H

#include "formulations/formulation.h"
#include "integrators/integrator.h"
#include <linkwork/simulate.h>

/* LW_ERROR_ARGUMENT names the option that no run can have. */
lw_status lw_run_check_options(const lw_run_options *options, lw_error *error);
/* An integrator by its name. */
lw_status lw_run_find_integrator(const char *name, const lw_integrator **integrator, lw_error *error);
/* The drift control of this name (NULL: project), with Baumgarte's numbers as they are by default. */
lw_status lw_run_drift(const char *name, lw_method_options *options, lw_error *error);
/* Baumgarte's numbers, independent coordinates, the scheme of reactions: what the formulation takes of
 * them. */
lw_status lw_run_method_options(const lw_run_options *run, const lw_formulation *formulation,
                                lw_method_options *options, lw_error *error);

#endif

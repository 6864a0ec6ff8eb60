/* run_options.h - the options of a run, checked and translated for the method.
 */
#ifndef LW_RUN_OPTIONS_H
#define LW_RUN_OPTIONS_H

#include "formulations/formulation.h"
#include "integrators/integrator.h"
#include <linkwork/simulate.h>

/* Checks the options; LW_ERROR_ARGUMENT, with the option in the message, if no run can have one of them. */
lw_status lw_run_check_options(const lw_run_options *options, lw_error *error);
/* Finds an integrator by its name. */
lw_status lw_run_find_integrator(const char *name, const lw_integrator **integrator, lw_error *error);
/* Finds the drift control with this name (NULL: project), with default numbers for Baumgarte's method. */
lw_status lw_run_drift(const char *name, lw_method_options *options, lw_error *error);
/* Takes Baumgarte's numbers, independent coordinates and the scheme of reactions, as far as the formulation
 * accepts them. */
lw_status lw_run_method_options(const lw_run_options *run, const lw_formulation *formulation,
                                lw_method_options *options, lw_error *error);

#endif

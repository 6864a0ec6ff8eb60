/* director.h - how well the equations of an energy-momentum step are conditioned.
 */
#ifndef LINKWORK_DIRECTOR_H
#define LINKWORK_DIRECTOR_H

#include <linkwork/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes `steps` steps of size h from the model's initial state by method director-full or director, and gives
 * the condition number (2-norm) of Newton's matrix at the end of the last, as in betsch2006, Tables II to V:
 * with director-full that of all coordinates and multipliers, with director that of the increments of the
 * tree's coordinates and, where loops close, of the conditions that close them. Dense and cubic: for
 * mechanisms of some dozen bodies. LW_ERROR_INTEGRATION if a step is not found, or not in one piece. */
LW_API lw_status lw_newton_condition(const lw_model *model, const char *method, double h, long steps,
                                     double *condition, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif

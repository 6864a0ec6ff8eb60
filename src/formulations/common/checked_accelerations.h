/* checked_accelerations.h - accelerations of a method that have passed the balance check. Only these may be
 * shown to a user.
 */
#ifndef LW_CHECKED_ACCELERATIONS_H
#define LW_CHECKED_ACCELERATIONS_H

#include "constraints/balance.h"
#include "formulations/formulation.h"

typedef struct lw_checked lw_checked;

/* The workspace of a check on one model, for any of its methods. NULL when memory is out. */
lw_checked *lw_checked_create(const lw_model *model);
void lw_checked_destroy(lw_checked *checked);

/* Computes the accelerations, reactions and uniqueness flags of a state as lw_formulation.accelerations does
 * (vdot, reactions and unique may be NULL), and checks them. options are those with which the method was
 * created. amount (may be NULL) receives the relative residual of the balance, or NaN if the method has
 * failed; LW_ERROR_SINGULAR names the body, joint or constraint that is out of balance. */
lw_status lw_checked_accelerations(lw_checked *checked, lw_method *method, const lw_method_options *options,
                                   double t, const double *q, const double *v, const double *tau,
                                   double *vdot, double *reactions, bool *unique, double *amount,
                                   lw_error *error);
/* The reactions of a state whose accelerations vdot are known from elsewhere to follow from tau, as the
 * method finds them with its own; they must balance with vdot. unique may be NULL. */
lw_status lw_checked_reactions(lw_checked *checked, lw_method *method, const lw_method_options *options,
                               double t, const double *q, const double *v, const double *tau,
                               const double *vdot, double *reactions, bool *unique, lw_error *error);
/* The forces of constraints that belong to the last reactions, one per row of them. */
const double *lw_checked_multipliers(const lw_checked *checked);
/* lw_balance_effort of the last check. */
double lw_checked_effort(const lw_checked *checked);

#endif

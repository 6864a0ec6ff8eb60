/* checked_accelerations.h - accelerations of a method that have passed the balance check. Only these may be
 * shown to a user.
 */
#ifndef LW_CHECKED_ACCELERATIONS_H
#define LW_CHECKED_ACCELERATIONS_H

#include "constraints/balance/balance.h"
#include "formulations/formulation.h"

typedef struct lw_checked lw_checked;

/* The workspace of a check on one model, for any of its methods. NULL when memory is out. */
lw_checked *lw_checked_create(const lw_model *model);
void lw_checked_destroy(lw_checked *checked);

/* The question: a state, for a method and the options with which it was created. */
typedef struct lw_checked_state {
    lw_method *method;
    const lw_method_options *options;
    double t;
    const double *q, *v;
    const double *tau; /* joint forces of the caller; NULL: none */
} lw_checked_state;

/* Where the answer goes; each may be NULL. */
typedef struct lw_checked_answer {
    double *vdot, *reactions;
    bool *unique;   /* flags of the reactions, as lw_formulation.accelerations gives them */
    double *amount; /* the relative residual of the balance, or NaN if the method has failed */
} lw_checked_answer;

/* Computes accelerations, reactions and uniqueness flags, and checks them. LW_ERROR_SINGULAR names the body,
 * joint or constraint that is out of balance. */
lw_status lw_checked_accelerations(lw_checked *checked, const lw_checked_state *state,
                                   lw_checked_answer answer, lw_error *error);
/* The reactions of a state whose accelerations vdot are known from elsewhere to follow from tau, as the
 * method finds them with its own; they must balance with vdot. unique may be NULL. */
lw_status lw_checked_reactions(lw_checked *checked, const lw_checked_state *state, const double *vdot,
                               double *reactions, bool *unique, lw_error *error);
/* Reactions that were found otherwise, as the compliance of joints shares them (constraints/compliance.h). */
void lw_checked_share(lw_checked *checked, double t, const double *q, double *reactions);
/* Of the last reactions, 6 per joint: the component is not unique, and determined by compliance. */
const bool *lw_checked_by_compliance(const lw_checked *checked);
/* The forces of constraints that belong to the last reactions, one per row of them. */
const double *lw_checked_multipliers(const lw_checked *checked);
/* lw_balance_effort of the last check. */
double lw_checked_effort(const lw_checked *checked);

#endif

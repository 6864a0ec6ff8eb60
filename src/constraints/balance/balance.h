/* balance.h - do accelerations and reactions satisfy the Newton-Euler equations? The check is independent of
 * all methods.
 *
 * Given a state (t, q, v), applied joint forces tau, accelerations vdot, joint reactions and the multipliers
 * of constraints, computed by any method, the check examines each body, each joint and each row separately
 * (docs/theory/balance.md):
 *
 *   (1) body     rate of momentum = gravity + force elements + reactions of its joints + constraint forces
 *   (2) joint    along its free directions it transmits the forces of its elements and tau, nothing else
 *   (3) row      the accelerations satisfy closures and constraints
 *   (4) speeds   the state is the one given; prescribed speeds accelerate as prescribed
 *
 * Each residual is measured relative to the terms of its own equation, so that an error on a light body is
 * not hidden by the large forces on its neighbours.
 */
#ifndef LW_BALANCE_H
#define LW_BALANCE_H

#include "model/data.h"

typedef struct lw_balance lw_balance;

/* Residuals above this cannot be explained by rounding, nor by the conditioning of a state for which a method
 * may be trusted; lw_balance_enough says where less can not. */
#define LW_BALANCE_ENOUGH 5e-7

/* The quantities to be checked. Reactions are those of dynamics.h; multipliers has one entry for each row of
 * the constraints, in the model's order. */
typedef struct lw_balance_state {
    double t;
    const double *q, *v;
    /* The speeds to which vdot belongs: v, made consistent with the loops by a change of at most their
     * violation. */
    const double *speeds;
    bool free_speeds;        /* The speeds may also differ from v in motions of bodies without mass. */
    const double *tau;       /* Applied joint forces; may be NULL. */
    const double *inputs;    /* Values of the model's inputs; NULL for their defaults. */
    const double *states;    /* Values of its user states; NULL for their start values. */
    const lw_outcomes *hold; /* Outcomes at which conditions are held; NULL: none is. */
    const double *vdot, *reactions, *multipliers;
    double alpha, beta; /* Baumgarte's parameters, for a vdot that contains such terms; otherwise 0. */
    /* Error of an approximate method, relative to the largest force; 0 for methods exact to rounding. */
    double accuracy;
} lw_balance_state;

/* The kind of equation with the largest residual. */
typedef enum lw_balance_object {
    LW_BALANCE_NOWHERE = 0,
    LW_BALANCE_BODY,
    LW_BALANCE_JOINT,     /* The transmitted force along its free directions. */
    LW_BALANCE_DRIVE,     /* The acceleration of a prescribed speed of the joint. */
    LW_BALANCE_SPEED,     /* A speed of the joint is not the one given. */
    LW_BALANCE_CLOSURE,   /* The acceleration of a joint that closes a loop. */
    LW_BALANCE_CONSTRAINT /* The acceleration of a constraint. */
} lw_balance_object;

typedef struct lw_balance_result {
    double amount; /* The largest relative residual; not finite if some input is not. */
    lw_balance_object object;
    int index; /* The body, the joint in the spec's order, or the constraint. */
} lw_balance_result;

/* Returns NULL when memory is out. */
lw_balance *lw_balance_create(const lw_model *model);
void lw_balance_destroy(lw_balance *balance);

/* The residual up to which an answer for this model is balanced: a fifth of LW_BALANCE_ENOUGH where no body
 * is lighter than a millionth of the heaviest. */
double lw_balance_enough(const lw_balance *balance);

/* The number of multipliers of the model's constraints. */
int lw_balance_multiplier_count(const lw_model *model);

/* Costs O(bodies + joints + constraints + elements) and allocates nothing. */
lw_balance_result lw_balance_check(lw_balance *balance, const lw_balance_state *state);
/* The largest force of the last check times the length of the mechanism, in J. Energies cannot be resolved
 * below the rounding of this value. */
double lw_balance_effort(const lw_balance *balance);

/* After a check: does a joint transmit forces whose last digits exceed 1e-8 of those that move the body it
 * carries, a body with inertia? Then `shaken` receives the joint forces tau with changes of some last digits
 * of what each joint transmits. Accelerations that change noticeably with the shaken forces are rounding
 * (8). */
bool lw_balance_shake(const lw_balance *balance, const lw_balance_state *state, double *shaken);
/* The speed whose acceleration differs between two answers by more than 1e-3 of itself, 1e-7 of
 * those of all joints on the path to it, and moves the body by more than 1e-9 of what applied forces cause in
 * its mechanism, or -1. */
int lw_balance_uncertain(const lw_balance *balance, const double *vdot, const double *other);

/* LW_OK if the amount is at most `enough`; otherwise LW_ERROR_SINGULAR with the object, the amount and the
 * method's name. */
lw_status lw_balance_verdict(const lw_model *model, const lw_balance_result *result, double enough,
                             const char *method, double t, lw_error *error);

#endif

/* balance.h - do accelerations and reactions satisfy the laws of Newton and Euler? The check that knows no
 * method.
 *
 * Given a state (t, q, v), forces tau of the caller, accelerations vdot, joint reactions and the multipliers
 * of constraints, by whatever method, the check looks at each body, each joint and each row by itself
 * (docs/theory/balance.md):
 *
 *   body      rate of momentum = gravity + force elements + reactions of its joints + constraint forces
 *   (1)
 *   joint     along its free directions it transmits what acts there, elements and tau, and nothing else
 *   (2)
 *   row       accelerations of closures and constraints
 *   (3)
 *   speeds    the state is the one that was asked for; prescribed speeds accelerate as prescribed
 *   (4)
 *
 * Each is measured against what acts in its own place, so that a light frame does not drown in the forces of
 * its neighbours.
 */
#ifndef LW_BALANCE_H
#define LW_BALANCE_H

#include "model/data.h"

typedef struct lw_balance lw_balance;

/* An amount above this is not explained by rounding, nor by the conditioning of a state that a method can be
 * trusted with. */
#define LW_BALANCE_ENOUGH 5e-7

/* What is checked. reactions as in dynamics.h; multipliers: one for each row of the constraints, in the
 * model's order. */
typedef struct lw_balance_state {
    double t;
    const double *q, *v;
    const double
        *speeds; /* those that vdot belongs to: v, drawn onto open loops by no more than these are open */
    bool free_speeds;  /* ... or by as much as bodies without mass want */
    const double *tau; /* of the caller; may be NULL */
    const double *vdot, *reactions, *multipliers;
    double alpha, beta; /* of Baumgarte's terms in vdot; 0 where there are none */
    double accuracy;    /* of an approximate method, relative to the largest forces; 0: exact to rounding */
    double roughness;   /* accelerations that differences of speeds leave, m/s^2; 0: there are none */
} lw_balance_state;

/* Where the balance is worst. */
typedef enum lw_balance_place {
    LW_BALANCE_NOWHERE = 0,
    LW_BALANCE_BODY,
    LW_BALANCE_JOINT,     /* along its free directions */
    LW_BALANCE_SPEED,     /* the accelerations belong to another speed of it */
    LW_BALANCE_CLOSURE,   /* the acceleration of a joint that closes a loop */
    LW_BALANCE_CONSTRAINT /* the acceleration of a constraint */
} lw_balance_place;

typedef struct lw_balance_result {
    double amount; /* the largest, relative to what acts there; not finite: some number is not */
    lw_balance_place place;
    int index; /* body, joint in the spec's order, or constraint */
} lw_balance_result;

/* NULL when memory is out. */
lw_balance *lw_balance_create(const lw_model *model);
void lw_balance_destroy(lw_balance *balance);

/* How many multipliers constraints have. */
int lw_balance_multiplier_count(const lw_model *model);

/* O(bodies + joints + constraints + elements); nothing is allocated. */
lw_balance_result lw_balance_check(lw_balance *balance, const lw_balance_state *state);
/* Of the last check: the largest force in the mechanism times its length, J. Its rounding is what energies
 * cannot resolve. */
double lw_balance_effort(const lw_balance *balance);

/* LW_OK where the amount is at most `enough`; else LW_ERROR_SINGULAR with object, amount, and the method's
 * name. */
lw_status lw_balance_verdict(const lw_model *model, const lw_balance_result *result, double enough,
                             const char *method, double t, lw_error *error);

#endif

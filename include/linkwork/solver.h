/* solver.h - accelerations, reactions and forces of single states: one method on one model for one thread.
 *
 * A solver is created once and asked as often as wanted; loops, constraints and bodies without mass are
 * included. It belongs to one thread; any number of solvers may share a model, which must outlive them. What
 * it answers depends on the arguments of the call only, never on what was asked before.
 *
 *   lw_solver_options options;
 *   lw_solver_defaults(model, &options);
 *   lw_solver_create(model, &options, NULL, &solver, &error);
 *   lw_solver_accelerations(solver, t, q, v, NULL, vdot, &error);
 *   lw_solver_reactions(solver, reactions, unique, &error);
 *
 * Pointers to solvers may be NULL: the calls then return LW_ERROR_ARGUMENT or NULL.
 */
#ifndef LINKWORK_SOLVER_H
#define LINKWORK_SOLVER_H

#include <linkwork/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_solver lw_solver;

typedef struct lw_solver_options {
    const char *method; /* NULL or auto: the cheapest that passes a trial */
    /* The state on which auto tries methods; NULL: the assembled initial state. */
    double t;
    const double *q, *v;
    /* Values of the model's inputs, in its order. The array belongs to the caller, who may change the numbers
     * between calls, and must outlive the solver. NULL: the defaults. */
    const double *inputs;
    double penalty; /* of method penalty; 0: its own choice */
    /* Accelerations are not put to the balance check: for inner loops, where a call has to be cheap. */
    bool unchecked;
} lw_solver_options;

/* The method that the model suggests, or auto; with the check. */
void lw_solver_defaults(const lw_model *model, lw_solver_options *options);
/* allocator may be NULL. */
lw_status lw_solver_create(const lw_model *model, const lw_solver_options *options,
                           const lw_allocator *allocator, lw_solver **solver, lw_error *error);
void lw_solver_destroy(lw_solver *solver);

const lw_model *lw_solver_model(const lw_solver *solver);
const char *lw_solver_method(const lw_solver *solver);
/* Why this method: a sentence. */
const char *lw_solver_method_reason(const lw_solver *solver);

/* vdot of a state under the model's forces and additional generalised forces tau (NULL: none). q and v should
 * satisfy closures and constraints (lw_assemble). Unless the solver is unchecked, the answer has passed the
 * balance check: Newton's and Euler's laws for every body, what every joint transmits, the acceleration of
 * every closure and constraint; one that does not pass is LW_ERROR_SINGULAR, which names the place. */
lw_status lw_solver_accelerations(lw_solver *solver, double t, const double *q, const double *v,
                                  const double *tau, double *vdot, lw_error *error);

/* Of the last successful call of accelerations. Wrenches of the first body on the second through each joint,
 * joint_count x 6 (force, torque) as in dynamics.h, and whether each component is determined by the model:
 * redundant constraints may share a load in any way. Either may be NULL. */
lw_status lw_solver_reactions(lw_solver *solver, double *reactions, bool *unique, lw_error *error);
/* The amount that the balance check finds, relative to what acts in the worst place; LW_ERROR_SINGULAR if the
 * last accelerations did not pass for it. NaN: there were none. */
lw_status lw_solver_balance(lw_solver *solver, double *amount, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif

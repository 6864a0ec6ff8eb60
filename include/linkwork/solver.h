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
 *   lw_solver_inverse_dynamics(solver, t, q, v, vdot, tau, &error);
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
    /* Values of the model's user states (section `states`), in its order, on the same terms. NULL: their
     * start values. */
    const double *states;
    double penalty; /* of method penalty; 0: its own choice */
    /* Accelerations are not put to the balance check, nor the forces of inverse dynamics of a tree whose
     * joints are all driven: for inner loops, where a call has to be cheap. */
    bool unchecked;
    /* The joints that inverse dynamics may drive, by name: "crank" for all coordinates of a joint, "slide.x"
     * for one of several, as in results. NULL: all joints of the tree. Prescribed motions have their drives
     * in any case. A list of length 0 that is not NULL leaves these alone. */
    const char *const *driven;
    int driven_count;
} lw_solver_options;

/* The method that the model suggests, or auto; with the check. */
LW_API void lw_solver_defaults(const lw_model *model, lw_solver_options *options);
/* allocator may be NULL. */
LW_API lw_status lw_solver_create(const lw_model *model, const lw_solver_options *options,
                                  const lw_allocator *allocator, lw_solver **solver, lw_error *error);
LW_API void lw_solver_destroy(lw_solver *solver);

/* Its model, and the name of its method. */
LW_API const lw_model *lw_solver_model(const lw_solver *solver);
LW_API const char *lw_solver_method(const lw_solver *solver);
/* Why this method: a sentence. */
LW_API const char *lw_solver_method_reason(const lw_solver *solver);

/* vdot of a state under the model's forces and additional generalised forces tau (NULL: none). q and v should
 * satisfy closures and constraints (lw_assemble). Unless the solver is unchecked, the answer has passed the
 * balance check: Newton's and Euler's laws for every body, what every joint transmits, the acceleration of
 * every closure and constraint; one that does not pass is LW_ERROR_SINGULAR, which names the place. */
LW_API lw_status lw_solver_accelerations(lw_solver *solver, double t, const double *q, const double *v,
                                         const double *tau, double *vdot, lw_error *error);

/* Of the last successful call of accelerations or inverse dynamics. Wrenches of the first body on the second
 * through each joint, joint_count x 6 (force, torque) as in dynamics.h, and whether each component is
 * determined by the model: redundant constraints may share a load in any way. Either may be NULL. */
LW_API lw_status lw_solver_reactions(lw_solver *solver, double *reactions, bool *unique, lw_error *error);
/* Of the same reactions, joint_count x 6: the component is not unique by the rigid bodies, and its value is
 * the one of least elastic energy by the compliance of the joints (lw_joint_spec). */
LW_API lw_status lw_solver_by_compliance(lw_solver *solver, bool *by_compliance, lw_error *error);
/* Which joint forces tau make the mechanism move by vdot, loops and constraints included: forces at the
 * driven joints, and zeros. At prescribed coordinates vdot is taken from the prescription, and tau is the
 * force of the prescribing drive, which takes over all that it can. Where several sets of forces do the same,
 * tau is the smallest: the least sum of the squares of torques and of forces times the longest arm of the
 * model, which does not depend on units (docs/theory/inverse_loops.md). The answer has passed the balance
 * check (`unchecked`).
 *
 * LW_ERROR_ARGUMENT: q, v or vdot contradict the closures; the row is named. LW_ERROR_SINGULAR: the driven
 * joints cannot do it; the motion in which no drive acts is named. Afterwards lw_solver_reactions and
 * lw_solver_balance are about this motion. */
LW_API lw_status lw_solver_inverse_dynamics(lw_solver *solver, double t, const double *q, const double *v,
                                            const double *vdot, double *tau, lw_error *error);
/* Of the last inverse dynamics: is each of the nv forces the only one that does it? */
LW_API lw_status lw_solver_unique_forces(lw_solver *solver, bool *unique, lw_error *error);

/* The rows of closures and constraints, in the order of the matrix below, and their names: joint "pin",
 * position x. NULL if there is none. */
LW_API int lw_solver_row_count(const lw_solver *solver);
LW_API const char *lw_solver_row_name(const lw_solver *solver, int row);
/* The rows in the speeds of the tree, prescribed ones included: jacobian v = 0, row_count x nv, row by row,
 * in m/s or rad/s (couplings: in theirs). bias (row_count; may be NULL): jacobian vdot = bias for
 * accelerations at the speeds v, which may be NULL only if bias is. */
LW_API lw_status lw_solver_closure_jacobian(lw_solver *solver, double t, const double *q, const double *v,
                                            double *jacobian, double *bias, lw_error *error);

/* How many speeds can be chosen at this position: those of the tree that are not prescribed, less the rank of
 * the rows. */
LW_API lw_status lw_solver_mobility(lw_solver *solver, double t, const double *q, int *mobility,
                                    lw_error *error);
/* A basis of the admissible speeds at this position while prescribed motions stand still: nv x mobility, row
 * by row; prescribed speeds have zeros. columns: the mobility for which there is room, as lw_solver_mobility
 * says. It is orthonormal where turning speeds count as they are and sliding speeds divided by the longest
 * arm of the model, depends on the position only, and continuously so as long as the same coordinates move
 * most. own (may be NULL): per column, the speed that stands for it; columns are in the order of these. */
LW_API lw_status lw_solver_tangent_basis(lw_solver *solver, double t, const double *q, int columns,
                                         double *basis, int *own, lw_error *error);
/* The mass matrix in a basis (nv x columns, row by row), of admissible speeds or any others: basis' M basis,
 * columns x columns. */
LW_API lw_status lw_solver_mass_matrix(lw_solver *solver, double t, const double *q, int columns,
                                       const double *basis, double *mass, lw_error *error);

/* The amount that the balance check finds, relative to what acts in the worst place; LW_ERROR_SINGULAR if the
 * last accelerations did not pass for it. NaN: there were none. */
LW_API lw_status lw_solver_balance(lw_solver *solver, double *amount, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif

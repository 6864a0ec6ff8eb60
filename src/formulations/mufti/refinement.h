/* refinement.h - residuals of a solution of the stationary-point system in the equations of every body and
 * row, and its iterative refinement with the same factors.
 */
#ifndef LW_REFINEMENT_H
#define LW_REFINEMENT_H

#include "formulations/common/absolute_method_base.h"

/* Solves J a - H lambda = u, H'a = gamma for any right-hand sides with the factors of the state in the
 * system. */
typedef void lw_solver_of(lw_absolute_method *method, const double *u, const double *gamma, double *a,
                          double *lambda);

typedef struct lw_refinement {
    lw_newton_euler *s;
    int first;              /* Rows before this one are all checked. */
    const bool *met;        /* Which of the other rows are checked: those that are independent. */
    double *u, *gamma;      /* The residuals. */
    double *a, *lambda;     /* The corrections. */
    double *force, *torque; /* Per body: the sizes of the forces and torques that act on it. */
    double *arm;            /* Per body: the longest arm of a force about its centre of mass. */
} lw_refinement;

/* Returns NULL when memory is out. The arena of s owns the result. */
lw_refinement *lw_refinement_create(lw_newton_euler *s, int first, const bool *met);
/* Computes s->a and s->lambda from s->u and the rows' gamma. LW_ERROR_SINGULAR names the body or the row if
 * the factors are too inaccurate for the refinement to converge. */
lw_status lw_refine(lw_refinement *refinement, lw_solver_of *solve, lw_absolute_method *method,
                    lw_error *error);

#endif

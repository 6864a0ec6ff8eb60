/* refinement.h - what a solution of the stationary-point system leaves of the equations of every body and
 * row, and its correction by the same factors.
 */
#ifndef LW_REFINEMENT_H
#define LW_REFINEMENT_H

#include "constraints/newton_euler_system.h"

/* Solves J a - H lambda = u, H'a = gamma for any right-hand sides, with the factors of the state in the
 * system. */
typedef lw_status lw_solver_of(void *method, const double *u, const double *gamma, double *a, double *lambda,
                               lw_error *error);

typedef struct lw_refinement {
    lw_newton_euler *s;
    int first;              /* rows before it are all looked at ... */
    const bool *met;        /* ... and of the others those that do not follow from others */
    double *u, *gamma;      /* what is left */
    double *a, *lambda;     /* corrections */
    double *force, *torque; /* per body: size of what acts on it */
    double *arm;            /* per body: how far from its centre */
} lw_refinement;

/* NULL when memory is out. The arena of s owns it. */
lw_refinement *lw_refinement_create(lw_newton_euler *s, int first, const bool *met);
/* s->a and s->lambda from s->u and the rows' gamma. LW_ERROR_SINGULAR, with the body or the row, if the
 * factors are too poor to get there. name: of the method. */
lw_status lw_refine(lw_refinement *refinement, lw_solver_of *solve, void *method, const char *name,
                    lw_error *error);

#endif

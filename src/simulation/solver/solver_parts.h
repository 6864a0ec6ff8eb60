/* solver_parts.h - the inner structure of a solver.
 */
#ifndef LW_SOLVER_PARTS_H
#define LW_SOLVER_PARTS_H

#include "constraints/loop_inverse.h"
#include "formulations/common/checked_accelerations.h"
#include <linkwork/solver.h>

struct lw_solver {
    lw_arena *arena;
    const lw_model *model;
    const lw_formulation *formulation;
    lw_method_options options;
    lw_method *method;
    lw_checked *checked;
    lw_loop_inverse *inverse;
    lw_orthogonal *turn;    /* For tangent bases. */
    int *order, *own;       /* Per speed: workspaces for them. */
    const char **row_names; /* Per row of closures and constraints. */
    bool unchecked;
    char why[256];
    /* The state of the last call that has succeeded. */
    bool known, has_tau;
    bool inverted; /* That call was inverse dynamics: vdot is the given motion. */
    double t, *q, *v, *tau;
    double *vdot, *reactions;
    double *scratch;    /* Per speed. */
    bool has_reactions; /* `reactions` are those of this state. */
    double amount;      /* result of the balance check for this state; NaN if it is not known */
};

/* What inverse dynamics and the manifold need, at creation. */
lw_status lw_solver_create_inverse(lw_solver *solver, const lw_solver_options *options, lw_error *error);

#endif

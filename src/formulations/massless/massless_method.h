/* massless_method.h - the object of the method `massless`, shared by massless.c, massless_recursion.c and
 * massless_events.c.
 */
#ifndef LW_MASSLESS_METHOD_H
#define LW_MASSLESS_METHOD_H

#include "formulations/common/loop_method_base.h"
#include "formulations/massless/massless_active_set.h"
#include "formulations/massless/massless_loops.h"
#include "constraints/projection.h"

typedef struct massless_method {
    lw_loop_method loop_base; /* The base of methods with closed loops; its data are those of flow. */
    lw_null_shape *shape;
    lw_null_kinds kinds;
    lw_flow *flow;  /* The present state. */
    lw_flow *ahead; /* States nearby, for rates by differences; NULL if there are no massless directions. */
    lw_flow *probe; /* States nearby, for the springs; NULL if no direction can be algebraic. */
    /* The algebraic directions of flow (springs) and of ahead (springs_ahead); NULL if no direction can be
     * algebraic at any position. */
    lw_springs *springs, *springs_ahead;
    lw_projection *projection; /* Closes loops; NULL for trees. */
    lw_loop_system *system;    /* The equations of motion with closed loops; NULL for trees. */
    lw_follow *follow;         /* What events can change in a run; NULL if they can change nothing. */
    unsigned *taken;           /* Per kinetic body: the left-out speeds for which floor was last set. */
    int *direction;            /* Per body: the first direction of its joint. */
    double *floor;             /* Per speed: the floor of its pivot; infinite for a speed that is left out. */
    double *least;             /* Per speed: its floor wherever it is not left out. */
    double inertia;            /* A typical inertia of the mechanism. */
    /* Workspace per coordinate (q) or per speed (v, wdot, rate); w is large enough for both. */
    double *q, *v, *w, *wdot, *rate;
    double *tau; /* Per speed: workspace for joint forces. */
    lw_newton_hints hints;
    /* Positions at which the springs are out of balance have accelerations, too; `applies` sets this. */
    bool any_position;
} massless_method;

/* Brings positions and velocities into balance; the result is q and v of the flow's data. start: positions
 * first go downhill to the next stable balance. work (may be NULL): the work of drives and forces on the path
 * downhill. */
lw_status lw_massless_settle(massless_method *m, bool start, double t, const double *q, const double *v,
                             lw_power *work, lw_error *error);
/* Computes the position and the consistent velocity of the state y = (q, w). */
void lw_massless_from_state(lw_method *base, double t, const double *y, double *q, double *v);

/* --- recursions of a tree (massless_recursion.c) -----------------------------------------------------
 * All but lw_massless_find_floors use the velocity, the forces and the poses that the flow has found. */

/* Computes wdot and stores it in data->vdot. as_given: w is v, so the bias is that of v. */
lw_status lw_massless_accelerate(massless_method *m, bool as_given, lw_error *error);
/* Computes all accelerations from those of the speeds that represent massless directions, which vdot has on
 * entry; after lw_massless_accelerate, whose articulated inertias are used again. */
void lw_massless_accelerate_by_rates(massless_method *m, double *vdot);
/* Determines the floors of the pivots of the articulated inertias, from the pivots at a few positions. */
void lw_massless_find_floors(massless_method *m);
/* row = M wdot + h - Q. */
void lw_massless_balance_rows(massless_method *m, const double *wdot, double *row);
/* Adds the massless part of each joint's accelerations, times a typical inertia, to the rows of the joint.
 * The matrix of the rows is then regular. */
void lw_massless_add_still(massless_method *m, const double *wdot, double *row);

/* --- events (massless_events.c): entries of lw_formulation -------------------------------------------- */

int lw_massless_root_count(lw_method *base);
lw_status lw_massless_roots(lw_method *base, double t, const double *y, double *values, lw_error *error);
lw_status lw_massless_cross(lw_method *base, double t, double *y, lw_power *work, lw_error *error);
void lw_massless_release(lw_method *method, double t);

#endif

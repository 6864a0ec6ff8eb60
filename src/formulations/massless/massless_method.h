/* massless_method.h - inside of the method `massless`: what massless.c and massless_events.c share.
 */
#ifndef LW_MASSLESS_METHOD_H
#define LW_MASSLESS_METHOD_H

#include "formulations/common/loop_method_base.h"
#include "formulations/massless/massless_active_set.h"
#include "formulations/massless/massless_loops.h"
#include "constraints/projection.h"

typedef struct massless_method {
    lw_loop_method looped; /* its data are those of flow */
    lw_null_shape *shape;
    lw_null_kinds kinds;
    lw_flow *flow;  /* the state */
    lw_flow *ahead; /* states nearby, for rates; NULL if there is no motion without mass */
    lw_flow *probe; /* of springs; NULL if there are none */
    lw_springs *springs, *springs_ahead; /* of directions that are algebraic, somewhere at least */
    lw_projection *projection;           /* closed loops */
    lw_loop_system *system;
    lw_follow *follow;               /* what may change on the way; NULL: nothing */
    bool mixed;                      /* some joint that goes by its S has speeds that are left out */
    unsigned *taken;                 /* per kinetic body: the speeds that are left out by now */
    int *direction, *entry;          /* per body: the first direction of its joint, and its first value */
    double *floor;                   /* per speed */
    double *least;                   /* per speed: its floor where it is not left out */
    double inertia;                  /* typical of the mechanism */
    double *q, *v, *w, *wdot, *rate; /* per coordinate or speed */
    double *tau;
    lw_newton_hints hints;
    bool any_position; /* positions out of the balance of springs have accelerations, too: for `applies` */
} massless_method;

/* Positions and velocities in balance: q, v of the flow's data. start: positions go down to the next stable
 * one. work (may be NULL): of drives and forces on the way down. */
lw_status lw_massless_settle(massless_method *m, bool start, double t, const double *q, const double *v,
                             lw_power *work, lw_error *error);
void lw_massless_from_state(lw_method *base, double t, const double *y, double *q, double *v);

/* Recursions of a tree (massless_recursion.c), after the flow has found velocity, forces and poses.
 * lw_massless_accelerate: wdot into data->vdot; as_given: w is v. lw_massless_accelerate_by_rates: all
 * accelerations from those that vdot has for the speeds which represent motions without mass.
 * lw_massless_find_floors: the least pivots of the articulated inertias, from a few positions.
 * lw_massless_balance_rows: M wdot + h - Q. lw_massless_add_still: adds the accelerations without mass of
 * each joint, times a typical inertia, which makes the matrix of the rows regular. */
lw_status lw_massless_accelerate(massless_method *m, bool as_given, lw_error *error);
void lw_massless_accelerate_by_rates(massless_method *m, double *vdot);
void lw_massless_find_floors(massless_method *m);
void lw_massless_balance_rows(massless_method *m, const double *wdot, double *row);
void lw_massless_add_still(massless_method *m, const double *wdot, double *row);

/* Events (massless_events.c): entries of lw_formulation. */
int lw_massless_root_count(lw_method *base);
lw_status lw_massless_roots(lw_method *base, double t, const double *y, double *values, lw_error *error);
lw_status lw_massless_cross(lw_method *base, double t, double *y, lw_power *work, lw_error *error);
void lw_massless_release(lw_method *method, double t);

#endif

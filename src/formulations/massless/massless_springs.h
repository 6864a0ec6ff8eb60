/* massless_springs.h - the object lw_springs (massless_parts.h), shared by massless_springs.c and
 * massless_lost_damping.c.
 */
#ifndef LW_MASSLESS_SPRINGS_H
#define LW_MASSLESS_SPRINGS_H

#include "formulations/massless/massless_dampers.h"
#include "constraints/projection.h"

struct lw_springs {
    lw_flow *flow, *probe; /* The flow of the state, and a flow that evaluates states nearby. */
    /* The directions that may be algebraic, group by group. A group has the directions that share bodies or
     * elements. */
    int candidates, *candidate;
    int groups, *first; /* first (groups + 1) has the range of each group in candidate. */
    /* The directions that are algebraic at the position of the last factor, group by group. */
    int count, *direction;
    int *start;      /* groups + 1: the range of each group in direction. */
    int largest;     /* The number of algebraic directions in the largest group. */
    double **G;      /* Per group: its part of G, row by row, factored in place. */
    double *room;    /* Workspace for the matrix of one group. */
    double *shifted; /* Workspace for the matrix mu - G of one group, in steps downhill. */
    /* Per group: radius is the trust radius of steps downhill, reach the length of the last step; both in
     * angles, or in lengths over the typical length. */
    double *radius, *reach;
    /* Per algebraic direction: step is the step downhill; down is workspace, and has the speeds of directions
     * that pass a position without damping (lw_springs_take_passing). */
    double *step, *down;
    lw_projection *loops; /* Closes loops after a step downhill; NULL if there are no loops. */
    int **order;          /* Per group: the order of the rows of G after pivoting. */
    double *q, *v;        /* The position and the velocity of a displaced state. */
    double *z, *u;        /* A displacement or velocity, z per direction and u = N z per speed. */
    double *plus, *minus; /* Per direction: L^-1 N'Q at the two displaced states of a difference. */
    double *g, *solution; /* Per algebraic direction: the balance g, and the solution of a system with G. */
    int *group;           /* Per direction: its group, or -1 if the group has no candidates. */
    double *effort;       /* Per body, then per speed: the sizes of the forces that act there, as torques. */
    double *noise;        /* Per group: the rounding of the differences that make up G. */
    int *unstable;        /* Per group: the direction at which the balance is unstable, or -1. */
    bool *lost;           /* Per algebraic direction: nothing holds it, G is singular there. */
    double *stiffness;    /* Per algebraic direction: the absolute value of its diagonal entry of G. */
    bool *region;         /* Per direction: its damper is lost in a region, and springs hold it there. */
};

/* The relative step of central differences, the cube root of the rounding unit. */
static const double springs_root3 = 6.1e-6;
/* The distance from balance, an angle or a part of the typical length, that errors of an integrator's step do
 * not exceed. */
static const double springs_near = 1e-3;
/* The rounding of g, relative to the sum of its terms. */
static const double springs_roundings = 1e-14;

/* The unit of displacements along algebraic direction k: 1 for an angle, or the typical length. g, G and
 * their solutions are in these units: g = unit L^-1 N'Q is a torque for every direction. */
static inline double springs_unit(const lw_springs *s, int k) {
    return s->flow->shape->unit[s->flow->null->rep[s->direction[k]]];
}

/* Computes z = L^-T x, the displacement or velocity of all directions for the values x of the algebraic
 * directions, in their units. x NULL: every value is 1. k >= 0: only the algebraic direction of index k in
 * each group is displaced; k < 0: all are. */
void lw_springs_spread(lw_springs *s, int k, const double *x);

/* --- positions where a damper is lost (massless_lost_damping.c) --------------------------------------- */

/* Tells whether the pivot of direction k vanishes at q or close to it along the motion u. */
bool lw_pivot_vanishes(lw_flow *probe, int k, double t, const double *tau, const double *q, const double *v,
                       const double *u);
/* Leaves directions to springs that have lost their damper in a region, not only at a single position where
 * the damper stands across the motion. Must follow a factor of the dampers that is not frozen. */
void lw_springs_find_regions(lw_springs *s, double t, const double *tau);
/* Returns the part of the step along u from q after which a damper engages that has no effect at q; 1 if none
 * engages on the step. */
double lw_springs_engages(lw_springs *s, double t, const double *tau, const double *q, const double *v,
                          const double *u);
/* Tells whether some direction is away from balance at a position where its damper stands across it. Must
 * follow the solution of G x = -g, which leaves -g in g. */
bool lw_springs_pass_some(const lw_springs *s);
/* Returns the first algebraic direction that nothing holds at its position and that does not pass, or -1. */
int lw_springs_slack(const lw_springs *s);
/* Stores in `down` the speeds of the directions that pass, computed with the largest pivot that still counts
 * as lost in place of their own pivot, and HUGE_VAL for all other directions. */
void lw_springs_take_passing(lw_springs *s);
/* Moves q along a motion, per algebraic direction, by the least distance at which no damper is lost; only
 * directions that have lost their damper move. The motion takes a time of the order of the cube of this
 * distance. Returns false if there is no such distance. */
bool lw_springs_step_aside(lw_springs *s, double t, const double *tau, double *q, const double *v,
                           const double *motion);
/* lw_springs_step_aside along the unbalanced forces. */
bool lw_springs_pass(lw_springs *s, double t, const double *tau, double *q, const double *v);

#endif

/* massless_springs.h - inside of lw_springs (massless.h): what massless_springs.c and massless_lost_damping.c
 * share.
 */
#ifndef LW_MASSLESS_SPRINGS_H
#define LW_MASSLESS_SPRINGS_H

#include "formulations/massless/massless_parts.h"
#include "constraints/projection.h"

struct lw_springs {
    lw_flow *flow, *probe;
    int candidates, *candidate; /* directions, by groups */
    int groups, *first;         /* groups + 1: their candidates */
    /* of the last factor: */
    int count, *direction; /* algebraic directions, by groups */
    int *start;            /* groups + 1: of these */
    int largest;           /* group */
    double **G;            /* per group: row by row, factored in place */
    double *room;          /* for one of them */
    double *shifted;       /* for one of them, descending */
    double *radius,
        *reach; /* per group: the longest step down, and its own; angles, or lengths over the typical one */
    double *step, *down;  /* per algebraic direction */
    lw_projection *loops; /* closes loops after a step down; NULL: there are none */
    int **order;          /* per group: rows after pivoting */
    double *q, *v;        /* displaced */
    double *z, *u;        /* per direction, per speed */
    double *plus, *minus; /* g */
    double *g, *solution; /* per algebraic direction */
    int *group;           /* per direction: its group, -1 if that has no candidates */
    double *effort;       /* 1 per body, then 1 per speed: sizes of the forces there, as torques */
    double *noise;        /* per group: of differences */
    int *unstable;        /* per group: the direction at which the balance is unstable, or -1 */
    bool *lost;           /* per algebraic direction: nothing holds it */
    double *stiffness;    /* per algebraic direction: of G, on its diagonal */
    bool *region;         /* per direction: held, by state */
};

static const double springs_root3 = 6.1e-6; /* of epsilon: step of central differences, relative */
static const double springs_near =
    1e-3; /* of an angle or the length: what a step of an integrator leaves, and more */
static const double springs_roundings = 1e-14; /* in g, relative to its terms */

/* What displacements along algebraic direction k are measured by: an angle, or the typical length. g, G and
 * their solutions are in these units: g = unit L^-1 N'Q, a torque whatever the direction is. */
static inline double springs_unit(const lw_springs *s, int k) {
    return s->flow->shape->unit[s->flow->null->rep[s->direction[k]]];
}

/* z = the displacement or velocity of all directions for `x` (NULL: 1), in their units, of the algebraic ones
 * of index k in their groups (or all: k < 0). */
void lw_springs_spread(lw_springs *s, int k, const double *x);

/* --- positions where a damper is lost (massless_lost_damping.c)
 * ---------------------------------------------------- */

/* After a factor that is not frozen: directions that have lost their damper in a region, not at a place where
 * it stands across, are held by springs. */
void lw_springs_find_regions(lw_springs *s, double t, const double *tau);
/* The part of a step along u from q after which a damper engages that is lost there, if that is before its
 * end; else 1. */
double lw_springs_engages(lw_springs *s, double t, const double *tau, const double *q, const double *v,
                          const double *u);
/* Does some direction pass such a place, away from balance? After solve, which leaves -g. */
bool lw_springs_pass_some(const lw_springs *s);
/* The first direction that nothing holds where it is, or -1. */
int lw_springs_slack(const lw_springs *s);
/* down = the speeds of directions that pass, with the pivot that counts as lost; HUGE_VAL: of others. */
void lw_springs_take_passing(lw_springs *s);
/* Moves q along `way`, or along the forces, of directions without their damper, by the least distance at
 * which no damper is lost; the time that takes is the cube of it. False where there is none. */
bool lw_springs_step_aside(lw_springs *s, double t, const double *tau, double *q, const double *v,
                           const double *way);
bool lw_springs_pass(lw_springs *s, double t, const double *tau, double *q, const double *v);

#endif

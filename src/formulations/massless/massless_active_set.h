/* massless_active_set.h - the conditions and dampers that determine massless motions, which are kept from one
 * event to the next (massless_active_set.c). A stretch is the time between two events.
 */
#ifndef LW_MASSLESS_ACTIVE_SET_H
#define LW_MASSLESS_ACTIVE_SET_H

#include "formulations/massless/massless_dampers.h"

typedef struct lw_follow {
    const lw_null_shape *shape;
    int directions;     /* The number of latent directions: the state decides whether they are damped. */
    const bool *latent; /* Per direction: it is latent. */
    /* The elements with conditions that act on motions which no constant damper resists. */
    int elements, *element;
    int *held_of; /* Per element of the model: the index of its first outcome in outcomes, or -1. */
    double *outcomes, *room; /* The outcomes of the conditions in this stretch; workspace. */
    double *turned;          /* The outcomes with those changed that an event turns. */
    double *slack; /* Per outcome: how far it may seem to have changed, by the rounding of that event. */
    int outcome_count;
    bool *loose;   /* Per direction: it has no damper in this stretch. */
    bool *held;    /* Per direction: it has no damper in a region, and springs hold it in this stretch. */
    bool *once;    /* Per direction: a change from damped to held or back has been reported. */
    bool begun;    /* A stretch has begun. */
    int *group;    /* Per direction: the number of its group of directions that share dampers. */
    int *count;    /* Per group: workspace, the change of the number of its loose directions. */
    lw_data *data; /* For the evaluation of energies. */
    bool *before;  /* Per direction: it was loose before the event. */
    double *q;     /* Per coordinate: the position before the event. */
} lw_follow;

/* *follow is NULL if no event can change anything. Returns false when memory is out. */
bool lw_follow_create(const lw_null_shape *shape, const lw_null_kinds *kinds, const lw_dampers *dampers,
                      const lw_method_options *options, lw_arena *arena, lw_follow **follow);
void lw_follow_destroy(lw_follow *follow);
/* Keeps the outcomes of conditions and the held directions of the flow as they were when the stretch
 * began. */
void lw_follow_hold(const lw_follow *follow, lw_flow *flow);
/* At an event: has a damper that only pushes let go, or taken hold again, at the state in the flow, whose
 * velocity belongs to the conditions of the stretch? Then lw_follow_hold_turned holds the outcomes behind the
 * event, but no directions, and lw_follow_confirms tells whether the velocity then found belongs to them. */
bool lw_follow_turn(lw_follow *follow, lw_flow *flow, double t);
void lw_follow_hold_turned(const lw_follow *follow, lw_flow *flow);
bool lw_follow_confirms(lw_follow *follow, const lw_flow *flow, double t);
/* Lets each state decide outcomes and dampers again. */
void lw_follow_release(lw_flow *flow);
/* Begins a stretch with the state in the flow, whose velocity and factor have been found without anything
 * held from before, or (turned) with the outcomes behind the event. */
void lw_follow_begin(lw_follow *follow, lw_flow *flow, double t, bool turned);
/* Returns the number of event functions. */
int lw_follow_root_count(const lw_follow *follow);
/* Evaluates the event functions at the state in the flow, whose velocity belongs to the conditions of the
 * stretch. The values are positive as long as the stretch lasts. */
void lw_follow_roots(lw_follow *follow, lw_flow *flow, double t, double *values);

#endif

/* massless_active_set.h - what determines motions without mass from one event to the next
 * (massless_active_set.c).
 */
#ifndef LW_MASSLESS_ACTIVE_SET_H
#define LW_MASSLESS_ACTIVE_SET_H

#include "formulations/massless/massless_parts.h"

typedef struct lw_follow {
    const lw_null_shape *shape;
    int directions; /* that may be damped or not: latent */
    const bool *latent;
    int elements, *element; /* those with conditions that act on motions which no constant damper resists */
    int *held_of;           /* per element of the model: the first of its outcomes, or -1 */
    double *outcomes;
    bool *loose;   /* per direction: it has no damper, ... */
    bool *held;    /* ... in a region */
    bool *once;    /* per direction: its change has been told */
    bool begun;    /* there is such a stretch */
    int *group;    /* per direction: one of those that it shares dampers with */
    int *count;    /* per direction: of a group, how many are loose; room */
    lw_data *data; /* for energies */
    bool *before;  /* per direction, and ... */
    double *q;     /* ... per coordinate: what was before an event */
} lw_follow;

/* NULL in *follow: nothing can change. False when memory is out. */
bool lw_follow_create(const lw_null_shape *shape, const lw_null_kinds *kinds, const lw_dampers *dampers,
                      const double *inputs, lw_arena *arena, lw_follow **follow);
void lw_follow_destroy(lw_follow *follow);
/* Conditions of elements and dampers of the flow are as at the beginning of the stretch; or (release) as each
 * state says. */
void lw_follow_hold(const lw_follow *follow, lw_flow *flow);
void lw_follow_release(lw_flow *flow);
/* The state in the flow, whose velocity and factor are those by state, begins a stretch. */
void lw_follow_begin(lw_follow *follow, lw_flow *flow, double t);
int lw_follow_root_count(const lw_follow *follow);
/* At the state in the flow, with the velocity and the conditions of the stretch: values, positive while it
 * lasts. */
void lw_follow_roots(lw_follow *follow, lw_flow *flow, double t, double *values);

#endif

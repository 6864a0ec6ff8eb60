/* events.h - locating the instant within a step at which an event of the system happens. */
#ifndef LW_EVENTS_H
#define LW_EVENTS_H

#include "integrators/integration.h"

/* The data of an integration about events, allocated by lw_event_create. */
typedef struct lw_event {
    /* Values of the roots at an instant before the event, and at one after it. */
    double *before, *after;
    double *between; /* Values of the roots at a trial instant between these. */
    bool pending;    /* The last step ends at an event that is still to be crossed. */
    /* The search within steps (event_scan.c). */
    double *samples, *y; /* values of the watched roots; a state */
    bool *ignored;       /* per watched root: it does not count in this step */
    double longest;      /* how long steps may be to be searched; HUGE_VAL: as they like */
    bool arming;         /* Roots that are not awaited count, too, since one becomes so within the step. */
    double last;         /* The instant at which the previous event was crossed. */
    long repeated;       /* How many events have followed one another next to that instant. */
} lw_event;

/* The state at t within the last step. */
typedef lw_status (*lw_state_within)(lw_integration *integration, double t, double *y, lw_error *error);

bool lw_event_create(lw_event *event, const lw_system *system, double t, lw_arena *arena);
/* A new start at t: nothing has happened yet. */
void lw_event_reset(lw_event *event, const lw_system *system, double t);
void lw_event_archive(lw_event *event, lw_archive *archive);
/* Has an event happened at (t, y)? */
bool lw_event_at(lw_event *event, lw_system *system, double t, const double *y);
/* Has an event happened in the step begin .. *end, at whose end the state is y? If so, pending is set, *end
 * becomes the first instant at which it has happened, and y the state there. `glance` gives states that are
 * cheap, for the search, `state` those of the formula's order. */
lw_status lw_event_find(lw_event *event, lw_integration *integration, lw_state_within glance,
                        lw_state_within state, double begin, double *end, double *y, lw_error *error);
/* The part of this search that is about the interior of the step, after lw_event_at for its end: true with a
 * bracket from .. to, of which `to` lies within the step, in which the first root becomes negative; with from
 * = to if the step is too long to be searched and has to end there. *near: a root comes close to zero within
 * the step and turns back, perhaps behind zero for all that `state` can tell. */
bool lw_event_scan(lw_event *event, lw_integration *integration, lw_state_within state, double begin,
                   double end, double *from, double *to, bool *near);
/* How many numbers it needs in `samples`. */
size_t lw_event_scan_room(const lw_system *system);
/* Crosses the event at (t, y). Where events accumulate, the system is released from them for the rest of the
 * run, with a note; if it cannot be released, this is LW_ERROR_INTEGRATION. span is that of the run. */
lw_status lw_event_cross(lw_event *event, lw_integration *integration, double t, double span, double *y,
                         lw_error *error);

#endif

/* events.h - the instant within a step at which an event of the system happens.
 */
#ifndef LW_EVENTS_H
#define LW_EVENTS_H

#include "integrators/integration.h"

/* What an integration keeps of events: lw_event_create gives it room. */
typedef struct lw_event {
    double *before,
        *after;      /* values of the roots where nothing has happened yet, and where something has, ... */
    double *between; /* ... and where it is looked at */
    bool pending;    /* the last step ends at one, which is still to be crossed */
    double last;     /* where the one before was crossed, ... */
    long repeated;   /* ... and how many there have been next to it */
} lw_event;

/* The state at t within the last step. */
typedef lw_status (*lw_state_within)(lw_integration *integration, double t, double *y, lw_error *error);

bool lw_event_create(lw_event *event, const lw_system *system, double t, lw_arena *arena);
/* A new start at t: nothing has happened yet. */
void lw_event_reset(lw_event *event, double t);
void lw_event_archive(lw_event *event, lw_archive *archive);
/* Has something happened at (t, y)? */
bool lw_event_at(lw_event *event, lw_system *system, double t, const double *y);
/* Something has happened by the end of the step begin .. *end (lw_event_at says so): *end becomes the first
 * instant at which it has, y the state there. */
lw_status lw_event_locate(lw_event *event, lw_integration *integration, lw_state_within state, double begin,
                          double *end, double *y, lw_error *error);
/* Crosses the event at (t, y). Where there are events without end next to one another, the system is released
 * from them for the rest of the run, and told so; if it cannot be, that is LW_ERROR_INTEGRATION. span: of the
 * run. */
lw_status lw_event_cross(lw_event *event, lw_integration *integration, double t, double span, double *y,
                         lw_error *error);

#endif

/* simulation_outside.h - a simulation whose equations somebody else integrates: Model Exchange of an FMU.
 *
 * The owner gives a time and a state and asks for rates and indicators, tells when a step of the integrator
 * has ended, and asks for an event when an indicator has changed its sign, when the next time event is
 * reached, or when the end of a step has asked for it. The simulation's own integrator is never called.
 *
 * The state vector is that of a method in joint coordinates, coordinates then speeds of the tree, followed by
 * the user states of the model and, if an output needs them, by the integrals of the energy ledger and the
 * works of force elements.
 */
#ifndef LW_SIMULATION_OUTSIDE_H
#define LW_SIMULATION_OUTSIDE_H

#include "simulation/simulation_parts.h"

/* LW_ERROR_UNSUPPORTED, with the reason, if the simulation's state is not of that kind. */
lw_status lw_outside_possible(const lw_simulation *simulation, lw_error *error);
/* How many numbers the state vector has, and how many indicators there are; both are constant. */
int lw_outside_size(const lw_simulation *simulation);
int lw_outside_indicators(const lw_simulation *simulation);

/* Before the first use: makes the state vector that of the beginning. */
void lw_outside_begin(lw_simulation *simulation);
/* The present state; another time and state. */
const double *lw_outside_state(const lw_simulation *simulation);
lw_status lw_outside_set_time(lw_simulation *simulation, double t);
lw_status lw_outside_set_state(lw_simulation *simulation, const double *y);

/* After inputs have been set between events: the conditions in forces keep the outcomes that they have. */
void lw_outside_keep(lw_simulation *simulation);

/* Rates of the state vector in the present state. */
lw_status lw_outside_rates(lw_simulation *simulation, double *rates, lw_error *error);
/* Values that are positive until their event has happened; count numbers, of which those that the present
 * equations do not have are 1. */
void lw_outside_roots(lw_simulation *simulation, int count, double *values);
/* A step of the integrator has ended in the present state. event: an event is to be handled, or the state
 * has left closures, constraints or unit quaternions by more than `most` of the size of its numbers. */
lw_status lw_outside_stepped(lw_simulation *simulation, double most, bool *event, lw_error *error);

/* Handles what has happened in the present state: knots, switches, events of method and model; brings the
 * state onto closures and constraints. */
typedef struct lw_outside_news {
    bool stop;    /* an event of the model ends the run */
    bool changed; /* the state is another one */
    double next;  /* the next time event; infinite: there is none */
} lw_outside_news;
lw_status lw_outside_event(lw_simulation *simulation, lw_outside_news *news, lw_error *error);

#endif

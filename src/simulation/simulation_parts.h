/* simulation_parts.h - what a simulation consists of, for the files that make it up.
 *
 * simulation.c            the object: creation, advancing, state, inputs
 * simulation_system.c     the system of equations that integrators see, and what is watched meanwhile
 * simulation_events.c     events of the caller's own
 * simulation_snapshot.c   saving and restoring
 * simulate.c              a whole run with samples, on top of the others
 */
#ifndef LW_SIMULATION_PARTS_H
#define LW_SIMULATION_PARTS_H

#include "formulations/common/checked_accelerations.h"
#include "simulation/progress_monitor.h"
#include "simulation/run_plan.h"
#include "simulation/singularity_monitor.h"
#include "simulation/verdict.h"
#include <linkwork/simulation.h>

/* The integrated vector is the method's state y followed by the ledger's three integrals: work of drives,
 * work of forces, dissipation. */
typedef struct lw_simulation_system {
    lw_system base;
    lw_method *method;
    bool *differential;
    lw_simulation *simulation;
    lw_effort effort;
    /* States of evaluations shortly before the effort is looked at, and the one at hand. */
    double *states[LW_EFFORT_STATES], times[LW_EFFORT_STATES];
} lw_simulation_system;

/* Where the integrator has last begun anew; from there the same steps lead to the same bits. */
typedef struct lw_simulation_anchor {
    double t, *y;
    double t_stop;          /* of the steps since */
    long steps;             /* taken since */
    unsigned char *decided; /* what the method had decided by then */
    size_t decided_size;
} lw_simulation_anchor;

struct lw_simulation {
    lw_arena *arena;
    const lw_model *model;
    lw_run_plan plan;
    lw_method_options method_options; /* the plan's, with note, inputs and force */
    lw_method *method;
    lw_data *data;
    lw_simulation_system system;
    double t, *y; /* the present state, with the ledger's integrals */
    double *q, *v;
    double t_stop; /* the integrator does not step past it */
    double *inputs;
    lw_outer_force force;

    const lw_integrator *integrator;
    lw_integration *integration;
    lw_integrator_statistics before; /* of integrators before this one */
    bool stale;                      /* state or equations have changed: the integrator must begin anew */
    double accepted;                 /* where its last step has ended */
    bool repeating;                  /* steps of before are taken again: nobody is told of them */
    lw_simulation_anchor anchor;
    double crossed_t, *crossed_y; /* where the method has last crossed an event, and its state before that */
    const lw_integrator *next;    /* the integrator that goes on from next_y at next_t; NULL: none */
    double next_t, *next_y;

    double target;        /* how far the call under way goes */
    int deferred;         /* an event at `accepted`, which lies beyond the target; -1: none */
    int event;            /* of the caller's, that has ended the last advance; -1: none */
    signed char *sides;   /* per event: sign of its value while it is awaited; 0: it is not */
    bool *happened;       /* per event: it has happened at the end of the last step */
    double *event_values; /* of the caller's events, and work for all roots */

    double *work; /* 4 numbers per state */
    double *kept; /* the state to which an error returns */
    lw_checked *checked;
    long checked_at; /* evaluations at the last check */
    lw_watch watch;
    lw_passage passage;
    lw_energy initial;
    double lowest, worked; /* lowest potential energy so far; largest work that was given so far */
    bool warned;           /* of stiffness */
    bool told_jumps;       /* of steps that are rejected at jumps */
    lw_integrator_statistics looked;
    lw_run_summary summary;
    double *shown;            /* q of the sample before */
    double *vdot, *reactions; /* of a sample, if asked for */
};

/* Fills the system that integrators see. */
void lw_simulation_system_make(lw_simulation *simulation);
/* Passes on what a user should know. */
void lw_simulation_tell(double t, const char *kind, const char *text, void *simulation);
/* The integrator begins anew at (t, y). */
void lw_simulation_mark(lw_simulation *simulation, double t, const double *y);
/* The equations hold from the present state on: tells the method, and makes the integrator begin anew. */
lw_status lw_simulation_begin(lw_simulation *simulation, lw_error *error);
/* To t, or to an event before it; never a step past t_stop. */
lw_status lw_simulation_go(lw_simulation *simulation, double t, double t_stop, lw_error *error);
/* What the caller's own force adds in the present state; NULL: nothing. */
const double *lw_simulation_tau(lw_simulation *simulation, double t, const double *q, const double *v);

/* The caller's events. Values, positive where nothing has happened since they are awaited. */
void lw_simulation_event_roots(lw_simulation *simulation, double t, const double *y, double *values);
/* At a new start: those are awaited whose value has a sign, unless they have just happened. */
void lw_simulation_event_await(lw_simulation *simulation);
/* After a step that ends in (t, y): the first that has happened there, else -1. Those that have not are
 * awaited if their value has a sign now. */
int lw_simulation_event_look(lw_simulation *simulation, double t, const double *y);

#endif

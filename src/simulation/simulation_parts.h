/* simulation_parts.h - the structure of a simulation, for the files that implement it.
 *
 * simulation.c            the object: creation, advancing, state
 * simulation_system.c     the system of equations for integrators, and the monitoring of a run
 * energy_ledger.c         the energy ledger
 * integrator_auto.c       which integrator auto takes, and when bdf takes over
 * simulation_values.c     inputs, user states with their rates, outputs
 * simulation_jacobian.c   the linear equations of implicit steps
 * simulation_works.c      work of single force elements
 * simulation_events.c     events of the model and of the caller
 * simulation_impact.c     impulses of the model's events
 * simulation_switches.c   conditions in forces, signals and rates
 * simulation_parameters.c parameters that change while the mechanism moves
 * simulation_snapshot.c   saving and restoring
 * simulate.c              a whole run with samples, on top of the others
 * rollout.c               many runs on threads (rollout_parts.h)
 * side_by_side.c          runs of several models in the lanes of vectors (side_by_side.h)
 */
#ifndef LW_SIMULATION_PARTS_H
#define LW_SIMULATION_PARTS_H

#include "formulations/common/checked_accelerations.h"
#include "model/model_conditions.h"
#include "model/model_knots.h"
#include "model/quantity/quantity.h"
#include "simulation/progress_monitor.h"
#include "simulation/run_plan.h"
#include "simulation/singularity_monitor.h"
#include "simulation/state_scale.h"
#include "simulation/verdict.h"
#include <linkwork/simulation.h>

/* The integrated vector is the method's state y, followed by the user states of the model and the ledger's
 * three integrals: work of drives, work of forces, dissipation; then, if they are asked for, the works of all
 * force elements. */
typedef struct lw_simulation_system {
    lw_system base;
    lw_method *method;
    bool *differential;
    lw_simulation *simulation;
    lw_effort effort;
    /* States of the evaluations numbered by lw_effort_nearly before the end of a window, and the present
     * one. */
    double *states[LW_EFFORT_STATES], times[LW_EFFORT_STATES];
} lw_simulation_system;

/* The last restart of the integrator; from there the same steps give the same result to the last bit. */
typedef struct lw_simulation_anchor {
    double t, *y;
    double t_stop;          /* the bound of the steps since then */
    long steps;             /* number of steps since then */
    unsigned char *decided; /* archive of the method's decisions at that time */
    size_t decided_size;
    unsigned char *awaited; /* archive of what was known of events then; steps end where they find one */
    size_t awaited_size;
} lw_simulation_anchor;

/* The conditions in forces, signals and rates, and the outcomes at which they are held
 * (simulation_switches.c). */
typedef struct lw_switches {
    int count;
    int motion; /* The first so many are conditions of the motion, the others of events alone. */
    /* Per element, and behind them per entry of the vector of values: the place of its first condition, or
     * -1; the same of entries with those of events; per event; and room for another model. */
    int *of, *spare;
    lw_outcomes hold;
    bool needs_poses; /* Elements with conditions see poses of bodies. */
    bool off;         /* The method holds conditions of its own, and these are not located. */
    double *held, *outcomes;
    double *before; /* workspace: what was held before an event */
    double *last;   /* When each outcome changed last, */
    int *repeated;  /* and how often at that instant. */
    bool *released; /* It switches without end and is no longer held. */
} lw_switches;

typedef struct lw_simulation_jacobian lw_simulation_jacobian;

/* What is known of an event of the model (simulation_events.c). */
typedef struct lw_impact {
    double since;     /* When the present series of its happenings at one instant began, */
    long count;       /* and how many there were. */
    double early;     /* The same of a longer series, */
    long many;        /* for which an instant is longer, too. */
    double approach;  /* The joint's speed before the last impact. */
    signed char side; /* The side from which it came. */
    bool leaves;      /* The joint is already moving away. */
    bool due;         /* Its action is still to be carried out, */
    bool next;        /* or after those that are. */
} lw_impact;

/* An input that is a polynomial in time: its value and its derivatives at the time `since`. */
enum { LW_INPUT_ORDER = 3 };
typedef struct lw_moving_input {
    double since, at[1 + LW_INPUT_ORDER];
    bool moves;
} lw_moving_input;

/* Room for what outputs need when the equations of motion are solved; NULL where no output needs it. */
typedef struct lw_late_values {
    double *vdot, *reactions, *multipliers, *motion_rates;
    lw_force_value *forces;
} lw_late_values;

struct lw_simulation {
    lw_arena *arena;
    const lw_allocator *allocator; /* its own copy of the caller's, or NULL */
    const lw_model *model;         /* with the present parameters: plan.model, the caller's, or tuned */
    lw_run_plan plan;
    lw_method_options method_options; /* options of the plan, with note, inputs and force */
    lw_method *method;
    lw_data *data;
    lw_simulation_system system;
    lw_scales scales; /* of length, time and energy */
    double *scale;    /* the system's: one number per state */
    double t, *y;     /* the present state, with user states and the ledger's integrals */
    double *q, *v;
    double t_stop; /* The integrator does not step past this time, */
    lw_time_span
        span; /* nor past the end of the span in which it is, with knots of the model at both ends. */
    double *inputs, *first_inputs; /* now, and at the start */
    lw_moving_input *moving;       /* one per input */
    bool inputs_move;              /* some of them move: `inputs` are those of the time last seen */
    bool *given;    /* per input: somebody has set it, so that it does not follow its default */
    double *states; /* user states of the state that the method looks at */
    double *starts; /* user states at the start */
    double *rate_q,
        *rate_v;         /* workspace: coordinates and speeds of a state whose rates or motions are wanted */
    double *implicit;    /* workspace of steps of methods of their own (simulation_values.c) */
    double *outputs;     /* of a sample, if the model has any */
    bool *missed;        /* per output: it has been told that it has no value */
    int work_count;      /* how many force elements have their work integrated: all or none */
    double *first_works; /* their works at the start */
    lw_force_value *work_forces; /* workspace: the elements in a state */
    lw_late_values late;
    lw_model *tuned;    /* the model with changed parameters, or NULL */
    double *parameters; /* workspace: one number per parameter */
    lw_outer_force force;

    const lw_integrator *integrator;
    lw_integration *integration;
    lw_simulation_jacobian *jacobian; /* NULL: none has been wanted, or there is none */
    lw_integrator_statistics before;  /* statistics of the integrators before this one */
    bool stale;                       /* State or equations have changed: the integrator must restart. */
    double accepted;                  /* end of its last step */
    size_t retired_size;              /* what the integrator destroyed last would add to a snapshot */
    bool repeating;                   /* Earlier steps are repeated, without notifications. */
    lw_simulation_anchor anchor;
    double crossed_t, *crossed_y; /* time of the method's last event, and its state before the event */
    const lw_integrator *next;    /* integrator that takes over from next_y at next_t, or NULL */
    double next_t, *next_y;

    lw_switches switches;
    int jumped;            /* 1 + a joint whose prescribed motion has jumped, or 0 */
    bool timed;            /* Conditions or events may change in time faster than the state. */
    double target;         /* end of the present call */
    int deferred;          /* event at `accepted`, which lies beyond the target, or -1 */
    int event;             /* the event that ended the last advance, or -1; the model's come first */
    int stopped_by;        /* the model's event that asked for it, or -1 */
    int event_count;       /* those of the model and of the caller */
    bool event_needs;      /* Events of the model see quantities of the state. */
    signed char *sides;    /* per event: sign of its value while it is awaited, otherwise 0 */
    signed char *opposite; /* per event that is not awaited: sign of its value at the last step, or 0 */
    bool *happened;        /* per event: it happened at the end of the last step */
    double *event_values;  /* values of the events */
    double *offsets;       /* per event: what rounding has left beyond zero (simulation_events.c), or 0 */
    double *settled;       /* per event: the time until which the offset counts */
    double *found;         /* per event: its value where it has happened */
    double *largest;       /* per event: its largest value so far */
    double *ahead;         /* workspace: values of the events later on, 4 numbers per event */
    double *beyond;        /* workspace: a state and its rate */
    lw_impact *impacts;    /* per event of the model */
    double *impulse;       /* workspace of impacts, 4 numbers per speed and 12 per joint */
    double *root_values;   /* workspace: all roots */
    int root_room;         /* how many there is room for */

    double *work; /* workspace, 5 numbers per state */
    double *kept; /* state that is restored after an error */
    lw_checked *checked;
    long checked_at; /* number of evaluations at the last check */
    lw_watch watch;
    lw_passage passage;
    lw_energy initial;
    double lowest, worked; /* lowest potential energy so far; largest work done so far */
    bool warned;           /* Stiffness has been reported. */
    bool told_jumps;       /* Steps that are rejected at jumps have been reported. */
    lw_integrator_statistics looked;
    lw_run_summary summary;
    double *shown;            /* q of the last sample */
    double *vdot, *reactions; /* accelerations and reactions of a sample, if requested */
};

/* Fills the system for integrators. */
void lw_simulation_system_make(lw_simulation *simulation);
/* Passes a notification to the caller. */
void lw_simulation_tell(double t, const char *kind, const char *text, void *simulation);
/* Starts the method from the present state, and makes the integrator restart. */
lw_status lw_simulation_begin(lw_simulation *simulation, lw_error *error);
/* Where a run begins; q, v, states: NULL stands for the model's, inputs: NULL for those of the last
 * beginning. as_given: q and v are not assembled. */
typedef struct lw_simulation_beginning {
    const double *q, *v, *states, *inputs;
    bool as_given;
} lw_simulation_beginning;
/* Makes the simulation what lw_simulation_create would have made for this beginning with the same method and
 * options, to the last bit. */
lw_status lw_simulation_restart(lw_simulation *simulation, const lw_simulation_beginning *beginning,
                                lw_error *error);
/* Of a whole run (simulate.c): makes a sample of the present state, updates the ledger and calls the
 * observer; gives the time of sample k of a run from `begin`, and whether it is the last one; fills the
 * summary, with the verdict, but for the time that it took. */
lw_status lw_simulation_sample(lw_simulation *simulation, bool first, bool last, lw_error *error);
bool lw_simulation_sample_time(const lw_simulation *simulation, double begin, long k, double *t);
void lw_simulation_conclude(lw_simulation *simulation, lw_status status, lw_run_summary *summary);
/* Records that the integrator restarts at (t, y). */
void lw_simulation_mark(lw_simulation *simulation, double t, const double *y);
/* Where the user states and the ledger's integrals begin in y. */
static inline int lw_simulation_own(const lw_simulation *s) { return s->method->state_size; }
static inline int lw_simulation_books(const lw_simulation *s) {
    return s->method->state_size + s->model->values.state_count;
}
static inline int lw_simulation_works_at(const lw_simulation *s) {
    return lw_simulation_books(s) + LW_POWERS;
}
/* Lets the method, forces and signals see the user states of y; before every call of the method for y. */
static inline void lw_simulation_see(const lw_simulation *s, const double *y) {
    for (int k = 0; k < s->model->values.state_count; k++) s->states[k] = y[s->method->state_size + k];
}
/* Gives an input that has been set a derivative by time, of order 1 to LW_INPUT_ORDER, at the present time;
 * the polynomial holds until the input is set again. LW_ERROR_ARGUMENT: it follows its default. */
lw_status lw_simulation_move_input(lw_simulation *simulation, int input, int order, double value);
void lw_simulation_hold_inputs(lw_simulation *simulation);
/* lw_simulation_advance in pieces that end with steps of the integrator, whose bits stay as they are. watch
 * is called after each, and may bring the end forward, at most to the present time. */
typedef void lw_simulation_watch(void *context, double t, double *end);
lw_status lw_simulation_advance_watched(lw_simulation *simulation, double t, lw_simulation_watch *watch,
                                        void *context, lw_error *error);
/* Rates of the user states at (t, y), checked; t is the time that forces see. method: that which y belongs
 * to. */
lw_status lw_simulation_rates(lw_simulation *simulation, lw_method *method, double t, const double *y,
                              double *rates, lw_error *error);
/* Works of force elements: are they asked for; can they be had (then the method exists); their memory, false:
 * there is none; the powers at (t, y), work_count of them. */
bool lw_simulation_works_wanted(const lw_simulation *simulation);
lw_status lw_simulation_works_possible(lw_simulation *simulation, lw_error *error);
bool lw_simulation_works_memory(lw_simulation *simulation);
void lw_simulation_powers(lw_simulation *simulation, lw_method *method, double t, const double *y,
                          double *powers);
/* The steps of user states before and after a step of a method of its own from t to t + h. */
lw_status lw_simulation_half_before(lw_simulation *simulation, double t, double h, const double *y,
                                    double *next, lw_error *error);
lw_status lw_simulation_half_after(lw_simulation *simulation, double t, double h, double *next,
                                   lw_error *error);
/* Takes the memory of outputs; false: there is none. */
bool lw_simulation_late_memory(lw_simulation *simulation);
/* What quantities of these needs (LW_NEEDS_*, but for ledger and run) take from the state in q and v at the
 * time t that forces see, after lw_simulation_see; vdot and reactions may be NULL if they are not known
 * yet. */
lw_status lw_simulation_source(lw_simulation *simulation, unsigned needs, double t, const double *vdot,
                               const double *reactions, lw_quantity_source *source, lw_error *error);
/* Outputs first .. end - 1 of the present state, of which q and v are computed; vdot and reactions may be
 * NULL if they are not known yet. */
lw_status lw_simulation_compute_outputs(lw_simulation *simulation, const double *vdot,
                                        const double *reactions, int first, int end, double *values,
                                        lw_error *error);
/* The time that the integrator must not step past. */
static inline double lw_simulation_bound(const lw_simulation *s) {
    return s->span.stop < s->t_stop ? s->span.stop : s->t_stop;
}
/* Inputs that move with time (lw_simulation_move_input) take their values at t. */
void lw_simulation_take_inputs(const lw_simulation *simulation, double t);
/* The time that forces and motions see, with the inputs of then: at a knot that of its side on which the
 * integrator is. */
static inline double lw_simulation_seen(const lw_simulation *s, double t) {
    if (s->inputs_move) lw_simulation_take_inputs(s, t);
    return lw_time_within(&s->span, t);
}
/* Advances to t or to an event before t, without a step past t_stop. */
lw_status lw_simulation_go(lw_simulation *simulation, double t, double t_stop, lw_error *error);
/* Sets all parameters, one value for each of the model's. */
void lw_simulation_forget_given(lw_simulation *simulation);
void lw_simulation_follow_defaults(lw_simulation *simulation);
lw_status lw_simulation_tune(lw_simulation *simulation, const double *values, lw_error *error);
/* Counts the work of the present integrator and destroys it; the next restart creates another one. */
void lw_simulation_retire_integrator(lw_simulation *simulation);
/* If the model is stiff in the state (t, y), at which a step of erk has ended: reports it and, unless the
 * caller has named erk, returns LW_ERROR_STOPPED with bdf as the integrator that takes over. LW_OK if erk
 * goes on. */
lw_status lw_simulation_consider_bdf(lw_simulation *simulation, double t, const double *y);
/* The joint forces of the caller's own force in this state, or NULL if there is none. */
const double *lw_simulation_tau(lw_simulation *simulation, double t, const double *q, const double *v);

/* Gives the integrator, which is about to be created, the linear equations of its steps, if it uses such and
 * method and model have them. */
lw_status lw_simulation_jacobian_offer(lw_simulation *simulation, lw_error *error);
void lw_simulation_jacobian_drop(lw_simulation *simulation);

/* --- energy_ledger.c ---------------------------------------------------------------------------------- */

/* Writes powers, as the rates of the three integrals. */
void lw_ledger_put(const lw_power *power, double books[LW_POWERS]);
/* Adds work to the three integrals. */
void lw_ledger_add(const lw_power *work, double books[LW_POWERS]);
/* Books the change of energy since the caller has begun to change the state or the parameters. */
void lw_ledger_jump(lw_simulation *simulation, const lw_energy *had);
/* The energy of the present state, of which q and v are computed. */
lw_energy lw_simulation_energy(lw_simulation *simulation);
/* Reports a run that has diverged. The energy of the motion can only come from the initial kinetic energy,
 * the decrease of potential energy and the work that was done, apart from dampers that supply energy. If the
 * energy is ten times this sum, and the ledger does not account for it, the run has diverged. Smaller
 * deviations are left to the verdict. */
lw_status lw_ledger_check(lw_simulation *simulation, double t, const lw_ledger *ledger, lw_error *error);

/* --- simulation_switches.c, simulation_events.c, simulation_impact.c ---------------------------------- */

/* Takes memory for the conditions of the model, if they are others than before; false when memory is out. */
bool lw_simulation_switches_create(lw_simulation *simulation, const lw_model *model);
/* Nothing has switched yet. */
void lw_simulation_switches_reset(lw_simulation *simulation);
/* Puts the outcomes that are held into the options of methods. */
void lw_simulation_switches_offer(lw_simulation *simulation);
/* Puts the state y at t into the simulation's q, v and data, with poses and velocities of bodies if
 * wanted. */
void lw_simulation_take(lw_simulation *simulation, double t, const double *y, bool poses);
/* Their root functions, positive as long as no outcome has changed; after lw_simulation_take. */
void lw_simulation_switch_roots(lw_simulation *simulation, double t, double *values);
/* From here on outcomes are held as they are at (t, y). */
void lw_simulation_switch_settle(lw_simulation *simulation, double t, const double *y);
/* The same after an event, at which outcomes may have changed; those that do so without end are released. */
void lw_simulation_switch_cross(lw_simulation *simulation, double t, const double *y);
/* Whether some outcome differs between y at t and z at next, with nothing held. */
bool lw_simulation_switched(lw_simulation *simulation, double t, const double *y, double next,
                            const double *z);
void lw_simulation_switch_archive(lw_simulation *simulation, lw_archive *archive);

/* Takes memory for events; false when memory is out. */
bool lw_simulation_events_create(lw_simulation *simulation);
/* Root functions of events, which are positive as long as awaited events have not happened; after
 * lw_simulation_take. arming: those that are not awaited count, too, until they are. */
void lw_simulation_event_roots(lw_simulation *simulation, double t, bool arming, double *values);
/* At a restart: events whose value is not zero are awaited, unless they have just happened. */
void lw_simulation_event_await(lw_simulation *simulation);
/* After a step that ends in (t, y): finds the first event that has happened there, or -1. The others are
 * awaited if their value is not zero now. Fails if a value is not a number. */
lw_status lw_simulation_event_look(lw_simulation *simulation, double t, const double *y, int *happened,
                                   lw_error *error);
/* Events that have happened, and whose values actions or the caller have carried away from zero since, are
 * awaited like others; before the state is projected. */
void lw_simulation_event_depart(lw_simulation *simulation);
/* In another state no event is awaited because of what was before. */
void lw_simulation_event_forget(lw_simulation *simulation);
/* Makes room for the values of all roots. */
lw_status lw_simulation_take_roots(lw_simulation *simulation, lw_error *error);
/* Carries out the actions of the model's events that have happened at the present state. */
lw_status lw_simulation_event_act(lw_simulation *simulation, bool *stop, lw_error *error);
void lw_simulation_event_archive(lw_simulation *simulation, lw_archive *archive);
/* The impulse of an event at the present state; held: the joint has not left its stop since the last one. */
lw_status lw_simulation_impact(lw_simulation *simulation, const lw_model_event *event, double factor,
                               lw_impact *impact, bool held, lw_error *error);

#endif

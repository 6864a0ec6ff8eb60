/* formulation.h - the interface of a formulation: a table of functions, with one row in
 * formulation_registry.c.
 *
 * A formulation has a state vector y of its own (joint, absolute or director coordinates) and offers a
 * derivative ydot = f(t, y), a residual F(t, y, ydot) = 0, or a time step of its own. It converts y from and
 * to the joint coordinates of the spanning tree and delivers accelerations and joint reactions there, so that
 * all formulations can be compared at the same state.
 *
 * An instance (lw_method) belongs to one thread. Each formulation embeds lw_method as the first member of its
 * own struct. Nothing but create allocates.
 */
#ifndef LW_FORMULATION_H
#define LW_FORMULATION_H

#include "core/archive.h"
#include "core/core.h"
#include "core/newton_hints.h"
#include "model/data.h"
#include <linkwork/dynamics.h>

typedef struct lw_method lw_method;
typedef struct lw_whole lw_whole;

typedef enum lw_coordinates {
    LW_COORDINATES_JOINT,
    LW_COORDINATES_ABSOLUTE,
    LW_COORDINATES_DIRECTOR
} lw_coordinates;
typedef enum lw_drift {
    LW_DRIFT_PROJECT = 0,
    LW_DRIFT_BAUMGARTE,
    LW_DRIFT_NONE,
    /* Dependent coordinates follow from closing conditions; for formulations with .closing. */
    LW_DRIFT_CLOSED
} lw_drift;

typedef struct lw_outer_force lw_outer_force;

typedef struct lw_method_options {
    lw_drift drift;
    double baumgarte_alpha, baumgarte_beta; /* e'' + 2 alpha e' + beta^2 e = 0 */
    /* For the method penalty: its factor, relative to masses; 0 means its default. */
    double penalty;
    /* For formulations with .partitions: their independent coordinates, separated by commas; NULL lets the
     * formulation choose. */
    const char *independent;
    /* Flags of uniqueness will be asked for: their memory is taken at creation. Otherwise each call that asks
     * for them takes memory. */
    bool flags;
    /* For formulations with .schemes: the scheme of the reactions, 35, 37 or 38; 0 means the default. */
    int scheme;
    /* Values of the model's inputs for as long as the method exists; every evaluation reads the numbers that
     * stand there at that moment. NULL means the model's defaults. */
    const double *inputs;
    const double *states; /* The same of its user states; NULL means their start values. */
    /* Outcomes at which the conditions in forces and signals are held; NULL: they are decided at every state.
     * Methods with `cross` hold their own. */
    const lw_outcomes *hold;
    /* Receives notes about a run (lw_note). May be NULL. */
    void (*note)(double t, const char *kind, const char *text, void *context);
    void *note_context;
    lw_outer_force *force; /* A force of the caller's own that acts on derivatives; NULL if there is none. */
} lw_method_options;

/* A force of the caller's own in a run. */
struct lw_outer_force {
    void (*add)(double t, const double *q, const double *v, double *tau, void *context); /* NULL: none */
    void *context;
    double *tau;  /* of the last evaluation */
    double power; /* its power there */
};

/* tau of this state; NULL: there is none. */
const double *lw_outer_tau(const lw_method_options *options, const lw_model *model, double t, const double *q,
                           const double *v);

/* Reports an event at time t to the user: a change of coordinates, a halved step, a warning. kind is one
 * word. To be called for accepted steps only (project, step), never for trial states of an integrator. */
void lw_note(const lw_method_options *options, double t, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Alternative schemes for the forces in the rows of closures and constraints. Scheme 0 is the default. */
typedef struct lw_reaction_schemes {
    int count;
    const char *(*name)(int scheme);
    void (*use)(lw_method *method, int scheme); /* Selects the scheme for all later calls. */
    /* Recomputes the forces by a scheme, after a call of accelerations with reactions. */
    lw_status (*forces)(lw_method *method, int scheme, lw_error *error);
} lw_reaction_schemes;

typedef struct lw_formulation {
    const char *name, *source, *cost, *summary;
    lw_coordinates coordinates;
    /* Where no predicted expense decides, auto takes the smallest rank that applies. */
    int rank;
    double accuracy;   /* The relative error to be expected with default options; 0 if exact to rounding. */
    bool closing;      /* It has closing conditions and accepts LW_DRIFT_CLOSED. */
    bool no_baumgarte; /* It has no such terms and rejects LW_DRIFT_BAUMGARTE. */
    bool partitions;   /* Its independent coordinates can be prescribed by the user. */
    const lw_reaction_schemes *schemes; /* NULL if there is only one scheme for its reactions. */
    bool no_force;                      /* Its steps have no place for a force of the caller's own. */
    /* It passes through singular positions along the branch of its motion. */
    bool passes;
    /* Advice for the Newton method of a stiff integrator, valid as long as the method lives. NULL: the
     * Jacobian changes slowly and no advice is needed. */
    const lw_newton_hints *(*newton_hints)(lw_method *method);
    const char *integrator; /* The default integrator for runs with a given step; NULL means rk4. */

    /* Returns LW_OK, or LW_ERROR_UNSUPPORTED with the reason as a sentence for the user. */
    lw_status (*applies)(const lw_model *model, lw_error *error);
    lw_status (*create)(const lw_model *model, const lw_method_options *options, lw_method **method,
                        lw_error *error);
    void (*destroy)(lw_method *method);

    /* Conversion to and from joint coordinates. */
    void (*to_state)(lw_method *method, double t, const double *q, const double *v, double *y);
    void (*from_state)(lw_method *method, double t, const double *y, double *q, double *v);
    /* Hands what the run since the last to_state has decided (independent coordinates, rows that take part)
     * to the archive: of all that a method keeps, this alone has an influence on later results. NULL if it
     * decides nothing. */
    void (*archive)(lw_method *method, lw_archive *archive);

    /* Accelerations at joint coordinates; reactions as in dynamics.h with uniqueness flags (either may be
     * NULL). */
    lw_status (*accelerations)(lw_method *method, double t, const double *q, const double *v,
                               const double *tau, double *vdot, double *reactions, bool *unique,
                               lw_error *error);

    /* Results of the last call of accelerations with reactions. multipliers: one for each row of the
     * constraints, in the model's order; NULL if the formulation takes no models with constraints. speeds:
     * the speeds to which the accelerations belong, where loops or bodies without mass determine them; NULL
     * if they are the speeds given. */
    void (*multipliers)(const lw_method *method, double *multipliers);
    const double *(*speeds)(const lw_method *method);
    /* Speeds of bodies without mass follow from the forces, whatever values are given. */
    bool frees_speeds;
    /* The method that computes `accelerations` for this one; NULL if it computes its own. */
    const char *borrows;

    /* What the formulation offers; the others are NULL. power is the integrand of the energy ledger at (t,
     * y). */
    lw_status (*derivative)(lw_method *method, double t, const double *y, double *ydot, lw_power *power,
                            lw_error *error);
    lw_status (*residual)(lw_method *method, double t, const double *y, const double *ydot, double *residual,
                          lw_power *power, lw_error *error);
    /* For residuals, differential[i] is false where y[i] is algebraic; for steps, where y[i] is auxiliary and
     * must not enter an error estimate. NULL: all components are differential. */
    void (*differential)(lw_method *method, bool *differential);
    /* One time step of its own from t to t + h. work is its contribution to the energy ledger. */
    lw_status (*step)(lw_method *method, double t, double h, const double *y, double *y_next, lw_power *work,
                      lw_error *error);
    /* Reactions at the end t of the last step, from the multipliers of its scheme. Returns false before the
     * first step. NULL: a run shows the reactions of `accelerations`. */
    bool (*reactions)(lw_method *method, double t, double *reactions);
    /* Projects y back onto its constraints after a step (unit quaternions, closed loops). NULL: nothing to
     * do. */
    lw_status (*project)(lw_method *method, double t, double *y, lw_error *error);
    /* Events, at which the equations change and y may jump. NULL: there are none.
     *
     *   roots   gives root_count values at (t, y), each of which is positive until its event has happened.
     *   cross   starts an interval without events at (t, y). The equations of the interval depend on (t, y)
     *           alone. work, which may be NULL at the start, is the contribution of a jump to the energy
     *           ledger.
     *
     * Before the first call of cross, the equations are decided anew at every state. */
    int (*root_count)(lw_method *method);
    lw_status (*roots)(lw_method *method, double t, const double *y, double *values, lw_error *error);
    lw_status (*cross)(lw_method *method, double t, double *y, lw_power *work, lw_error *error);
    /* Leaves the current interval: from t on the equations are decided anew at every state. It is called when
     * events accumulate. */
    void (*release)(lw_method *method, double t);
    /* For a run by another method that starts from (q, v): fails with a message if this is a singular
     * position from which no motion leads out, or more than one. NULL: not available. */
    lw_status (*leads_out)(lw_method *method, double t, const double *q, const double *v, lw_error *error);
    /* For a run by the method called `other`, with steps up to `step`: fails with a message if a moving loop
     * has come to a singular position, where the continuation is defined by the limit along the motion only.
     * stuck: the run makes no progress, so that positions farther away count too. NULL: not available. */
    lw_status (*blocked)(lw_method *method, double t, const double *q, const double *v, double step,
                         bool stuck, const char *other, lw_error *error);
    /* The largest violation of closures and constraints in y. NULL: there are none. */
    void (*violation)(lw_method *method, double t, const double *y, double *position, double *velocity);
    /* The energies of y, where they differ from those of its joint coordinates (a discrete conservation law).
     * NULL: they do not differ. */
    lw_energy (*energy)(lw_method *method, double t, const double *y);
    /* Estimated condition number of the matrix solved last. NULL: no matrix is solved. */
    double (*condition)(lw_method *method);
    /* The approximate time of a call of accelerations on a current machine, in ns, predicted from the
     * structure found by create and one evaluation. NULL: auto takes the formulation only where no other
     * applies. */
    double (*expense)(lw_method *method);
    /* A lower bound of this time from the sizes of the model alone. NULL: none is known. */
    double (*least_expense)(const lw_model *model);
    /* Its memory grows with the square of the model's size and its time with the cube: auto does not try it
     * on large models. */
    bool dense;
} lw_formulation;

struct lw_method {
    const lw_formulation *formulation;
    const lw_model *model; /* in which welds are merged, if there are any to merge */
    int state_size;
    lw_whole *whole; /* lw_method_create: for answers about the whole model; NULL if nothing is merged */
};

/* The registry of formulations. */
int lw_formulation_count(void);
const lw_formulation *lw_formulation_at(int index);
const lw_formulation *lw_formulation_find(const char *name); /* NULL if the name is unknown. */
/* The same, but LW_ERROR_ARGUMENT with a remedy if the name is unknown. */
lw_status lw_formulation_named(const char *name, const lw_formulation **formulation, lw_error *error);

#endif

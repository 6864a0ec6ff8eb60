/* formulation.h - what a formulation is: a table of functions, one file each, one line in registry.c.
 *
 * A formulation has a state vector y of its own (joint, absolute or director coordinates) and offers what it
 * is: a derivative ydot = f(t, y), a residual F(t, y, ydot) = 0, or a step of its own. It converts y from and
 * to the joint coordinates of the spanning tree and delivers accelerations and joint reactions there, so that
 * all formulations can be compared on the same state.
 *
 * An instance (lw_method) belongs to one thread. Each formulation embeds lw_method as the first member of its
 * own struct. Nothing but create allocates.
 */
#ifndef LW_FORMULATION_H
#define LW_FORMULATION_H

#include "core/newton_hints.h"
#include "core/core.h"
#include "model/data.h"
#include <linkwork/dynamics.h>

typedef struct lw_method lw_method;

typedef enum lw_coordinates {
    LW_COORDINATES_JOINT,
    LW_COORDINATES_ABSOLUTE,
    LW_COORDINATES_DIRECTOR
} lw_coordinates;
typedef enum lw_drift {
    LW_DRIFT_PROJECT = 0,
    LW_DRIFT_BAUMGARTE,
    LW_DRIFT_NONE,
    LW_DRIFT_CLOSED /* dependent coordinates by closing conditions: formulations with .closing */
} lw_drift;

typedef struct lw_method_options {
    lw_drift drift;
    double baumgarte_alpha, baumgarte_beta; /* e'' + 2 alpha e' + beta^2 e = 0 */
    double penalty;                         /* method penalty: its factor, relative to masses; 0: its own */
    /* formulations with .partitions: their coordinates, separated by commas; NULL: own choice */
    const char *independent;
    int scheme; /* formulations with .schemes: of the reactions, 35, 37, 38; 0: own choice */
    /* Told what a user should know of a run: lw_note. May be NULL. */
    void (*note)(double t, const char *kind, const char *text, void *context);
    void *note_context;
} lw_method_options;

/* Tells that something happened at t: a change of coordinates, a halved step, a warning. kind is one word.
 * For accepted steps only (project, step), not for what an integrator tries. */
void lw_note(const lw_method_options *options, double t, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Several ways to the forces in the rows of closures and constraints. Scheme 0 is the one a method takes by
 * itself. */
typedef struct lw_reaction_schemes {
    int count;
    const char *(*name)(int scheme);
    void (*use)(lw_method *method, int scheme); /* for all that follows */
    /* The forces once more by a scheme, after accelerations that were asked for with reactions. */
    lw_status (*forces)(lw_method *method, int scheme, lw_error *error);
} lw_reaction_schemes;

typedef struct lw_formulation {
    const char *name, *source, *cost, *summary;
    lw_coordinates coordinates;
    int rank;          /* auto prefers the applicable formulation of the smallest rank */
    double accuracy;   /* relative error to expect with default options; 0: exact to rounding */
    bool closing;      /* has closing conditions: takes LW_DRIFT_CLOSED */
    bool no_baumgarte; /* has no such terms: does not take LW_DRIFT_BAUMGARTE */
    bool partitions;   /* can be told its independent coordinates */
    const lw_reaction_schemes *schemes; /* NULL: there is one way to its reactions */
    bool passes;                        /* goes through singular positions on its branch */
    /* What Newton's method of a stiff integrator should know, for as long as the method lives. NULL: the
     * Jacobian changes slowly, and nothing needs to be known. */
    const lw_newton_hints *(*newton_hints)(lw_method *method);
    const char *integrator; /* of a run with a given step, if none is named; NULL: rk4 */

    /* LW_OK, or LW_ERROR_UNSUPPORTED with the reason as a sentence for the user. */
    lw_status (*applies)(const lw_model *model, lw_error *error);
    lw_status (*create)(const lw_model *model, const lw_method_options *options, lw_method **method,
                        lw_error *error);
    void (*destroy)(lw_method *method);

    /* To and from joint coordinates. */
    void (*to_state)(lw_method *method, double t, const double *q, const double *v, double *y);
    void (*from_state)(lw_method *method, double t, const double *y, double *q, double *v);

    /* On joint coordinates: accelerations; reactions as in dynamics.h with uniqueness flags (either may be
     * NULL). */
    lw_status (*accelerations)(lw_method *method, double t, const double *q, const double *v,
                               const double *tau, double *vdot, double *reactions, bool *unique,
                               lw_error *error);

    /* Of the last accelerations that were asked for with reactions. multipliers: one for each row of the
     * constraints, in the model's order; NULL: it takes no models with constraints. speeds: those that the
     * accelerations belong to, where loops or bodies without mass leave no choice; NULL: those that were
     * given. */
    void (*multipliers)(const lw_method *method, double *multipliers);
    const double *(*speeds)(const lw_method *method);
    bool frees_speeds;   /* speeds of bodies without mass follow from the forces, whatever was given */
    const char *borrows; /* the method whose solution `accelerations` gives; NULL: its own */

    /* What it offers; those it does not are NULL. power is the ledger's integrand at (t, y). */
    lw_status (*derivative)(lw_method *method, double t, const double *y, double *ydot, lw_power *power,
                            lw_error *error);
    lw_status (*residual)(lw_method *method, double t, const double *y, const double *ydot, double *residual,
                          lw_power *power, lw_error *error);
    /* differential[i] is false where y[i] is algebraic (residuals), or of a scheme's own making so that its
     * error tells nothing (steps). NULL: all differential. */
    void (*differential)(lw_method *method, bool *differential);
    /* One step of its own from t to t + h; work is what the ledger books for it. */
    lw_status (*step)(lw_method *method, double t, double h, const double *y, double *y_next, lw_power *work,
                      lw_error *error);
    /* Reactions at the end t of the last step of its own, from the scheme's multipliers; false: it has taken
     * none. NULL: a run shows those of accelerations. */
    bool (*reactions)(lw_method *method, double t, double *reactions);
    /* Brings y back to where it belongs after a step (unit quaternions, closed loops). NULL:
     * nothing to do. */
    lw_status (*project)(lw_method *method, double t, double *y, lw_error *error);
    /* Events: at each its equations change, and y may jump. roots: root_count values at (t, y), each positive
     * until what it stands for has happened. cross: takes (t, y) as the beginning of a stretch in which
     * nothing happens; what it takes for that depends on (t, y) alone; work: what the ledger books for a jump
     * (it may be NULL: at the start). Until cross is called all is decided anew at each state. NULL: there
     * are none. */
    int (*root_count)(lw_method *method);
    lw_status (*roots)(lw_method *method, double t, const double *y, double *values, lw_error *error);
    lw_status (*cross)(lw_method *method, double t, double *y, lw_power *work, lw_error *error);
    /* From t on all is decided anew at every state again: events follow one another without end. */
    void (*release)(lw_method *method, double t);
    /* For a run by the method called `other`, with steps up to `step`: has a loop that moves come to a
     * singular position, where only the limit along its motion tells the way on? Then a failure that says so.
     * stuck: that run makes no headway, so that farther off counts, too. NULL: it cannot tell. */
    lw_status (*blocked)(lw_method *method, double t, const double *q, const double *v, double step,
                         bool stuck, const char *other, lw_error *error);
    /* Largest violation of closures and constraints in y. NULL: there are none. */
    void (*violation)(lw_method *method, double t, const double *y, double *position, double *velocity);
    /* Energies of y where they are not those of its joint coordinates (a discrete conservation law). NULL:
     * they are. */
    lw_energy (*energy)(lw_method *method, double t, const double *y);
    /* What differences of speeds leave in the last accelerations, m/s^2. NULL: it forms none. */
    double (*roughness)(lw_method *method);
    /* Estimated condition number of the matrix solved last. NULL: it solves none. */
    double (*condition)(lw_method *method);
    /* What a call for accelerations takes, in ns on a machine of today, roughly: predicted from the structure
     * that create and one evaluation have found. NULL: auto takes it only where nothing else applies. */
    double (*expense)(lw_method *method);
    /* The least that this can be, from the sizes of the model alone; NULL: nothing is known. */
    double (*least_expense)(const lw_model *model);
    /* its memory grows with the square of the model, its time with the cube: auto leaves large models
     * alone */
    bool dense;
} lw_formulation;

struct lw_method {
    const lw_formulation *formulation;
    const lw_model *model;
    int state_size;
};

/* The registry. */
int lw_formulation_count(void);
const lw_formulation *lw_formulation_at(int index);
const lw_formulation *lw_formulation_find(const char *name); /* NULL if there is none */
/* The same; LW_ERROR_ARGUMENT with a remedy if there is none. */
lw_status lw_formulation_named(const char *name, const lw_formulation **formulation, lw_error *error);

#endif

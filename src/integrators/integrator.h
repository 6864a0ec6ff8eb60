/* integrator.h - the interface of an integrator: a table of functions, with one row in
 * integrator_list_full.c.
 *
 * An integrator works on an lw_system: a state of n numbers, of which the last `quadratures` are integrals on
 * which nothing else depends (the energy ledger). These are integrated alongside but are not subject to error
 * control (unless there is nothing else). Nothing but create allocates (except for the start-up of SUNDIALS).
 */
#ifndef LW_INTEGRATOR_H
#define LW_INTEGRATOR_H

#include "core/archive.h"
#include "core/core.h"
#include "core/newton_hints.h"

#include <math.h>

typedef struct lw_system lw_system;

/* The linear equations of implicit steps, (I - gamma J) x = r with J = df/dy, which a system solves by itself
 * from exact derivatives, in the form that suits its structure. They are about the first `count` states, on
 * which alone all rates depend; the others are integrals. J need be right only for changes of the state that
 * keep the system's invariants (closed loops). Nothing here counts as an evaluation, or allocates. */
typedef struct lw_linearised {
    int count;
    /* J at (t, y), for the calls that follow. LW_ERROR_SINGULAR: it is not known there. */
    lw_status (*at)(lw_system *system, double t, const double *y, lw_error *error);
    /* Factors I - gamma J; false: it is singular. */
    bool (*factor)(lw_system *system, double gamma);
    /* x becomes (I - gamma J)^-1 x. */
    void (*solve)(lw_system *system, double *x);
} lw_linearised;

/* The system to be integrated; its owner embeds it as the first member of a larger struct. */
struct lw_system {
    int size, quadratures;
    /* ydot = f(t, y); NULL if the system has only a residual. An error ends the run, except
     * LW_ERROR_SINGULAR, to which an adaptive integrator may respond with a smaller step. */
    lw_status (*derivative)(lw_system *system, double t, const double *y, double *ydot, lw_error *error);
    /* F(t, y, ydot); NULL if there is none. Its rows of the quadratures are ydot - (a function of the other
     * states). */
    lw_status (*residual)(lw_system *system, double t, const double *y, const double *ydot, double *residual,
                          lw_error *error);
    /* The size of each state below which its error counts absolutely: steps are chosen by tolerance (scale +
     * |y|). Constant while an integration exists. NULL: all are 1. */
    const double *scale;
    const bool *differential;            /* For residuals and steps; NULL: all of y is differential. */
    const lw_newton_hints *newton_hints; /* NULL: the Jacobian changes slowly */
    const lw_linearised *linearised;     /* NULL: J is found by differences */
    /* One time step of the system's own; NULL if there is none. */
    lw_status (*step)(lw_system *system, double t, double h, const double *y, double *y_next,
                      lw_error *error);
    /* Whether some condition in forces, signals or rates has different outcomes at (t, y) and at (next, z);
     * for integrators that take `step`, which locate no roots. NULL if there are no conditions. */
    bool (*switched)(lw_system *system, double t, const double *y, double next, const double *z);
    /* Called after every accepted step (by all integrators except ida) and for output between steps. It
     * changes y by no more than the order of the local error. May be NULL. */
    lw_status (*project)(lw_system *system, double t, double *y, lw_error *error);
    /* Called for every accepted step, after project: the step has length h and ends at t in the state y;
     * order is that of a formula of variable order, otherwise 0. Any status but LW_OK ends advance there with
     * that status; after LW_ERROR_STOPPED advance may be called again and continues. May be NULL. */
    lw_status (*accepted)(lw_system *system, double t, double h, int order, const double *y, lw_error *error);
    /* Events, for all integrators that work on derivative or residual; root_count 0: there are none. `roots`
     * gives root_count values, each positive until its event has happened. They are evaluated after each
     * accepted step. If one is not positive, or cannot be evaluated, the step ends at the first instant at
     * which this is so, which is located within the step. Before the next step `cross` is called there; it
     * may change y and the equations so that all values are positive again, and the formula restarts. */
    int root_count;
    lw_status (*roots)(lw_system *system, double t, const double *y, double *values, lw_error *error);
    lw_status (*cross)(lw_system *system, double t, double *y, lw_error *error);
    /* The last `watched` of the roots cost little. They are looked at within each step, too, so that an event
     * that begins and ends there is found. `glimpse` gives these alone; where an event is not awaited, the
     * value is positive until it becomes so, at which a step in which that happens and which the event ends
     * is divided. */
    int watched;
    /* Positive: these may change in time faster than the state. A step after a start is at most so long, and
     * each at most twice as long as the one before, so that it can be searched. */
    double brisk;
    lw_status (*glimpse)(lw_system *system, double t, const double *y, double *values, lw_error *error);
    /* From here on the equations are decided anew at every state. */
    void (*release)(lw_system *system, double t);
};

/* What error in state i the tolerance is a part of, where the state is y. */
static inline double lw_error_unit(const lw_system *system, int i, double y) {
    return (system->scale ? system->scale[i] : 1) + fabs(y);
}

typedef struct lw_integrator_options {
    double step;      /* The fixed step; for adaptive integrators the largest step, if positive. */
    double tolerance; /* Of scale + |y|; 0 if none is given, for integrators that need none. */
} lw_integrator_options;

typedef struct lw_integrator_statistics {
    long steps, evaluations, rejected;
} lw_integrator_statistics;

enum { LW_BEGINNING = 64 };

/* An instance; each integrator embeds it as the first member of its own struct. */
typedef struct lw_integration lw_integration;

typedef struct lw_integrator {
    const char *name, *summary;
    bool fixed_step;     /* needs options.step */
    bool either;         /* Takes a fixed step if options.tolerance is 0, otherwise chooses its steps. */
    bool needs_residual; /* works on the residual, otherwise on the derivative */
    bool needs_step;     /* works on the system's own step */
    /* It uses `linearised` of systems with so many states; most 0: never. */
    int linearises_least, linearises_most;
    /* Starts at (t, y); ydot (may be NULL) is a consistent derivative for residual systems. The system must
     * outlive the integration. */
    lw_status (*create)(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                        const double *ydot, lw_integration **integration, lw_error *error);
    void (*destroy)(lw_integration *integration);
    /* Steps until t_out is reached or passed, never past t_stop, and gives the state at t_out by dense
     * output. Times must ascend; t_out <= t_stop. The sequence of steps depends on t_stop, which may be
     * infinite, but not on t_out. After an error other than LW_ERROR_STOPPED only statistics, restart and
     * destroy may follow. */
    lw_status (*advance)(lw_integration *integration, double t_out, double t_stop, double *y,
                         lw_error *error);
    /* One step, never past t_stop; t and y receive its end. */
    lw_status (*step)(lw_integration *integration, double t_stop, double *t, double *y, lw_error *error);
    /* Restarts at (t, y) like a new integration, but without allocation. The statistics continue. */
    lw_status (*restart)(lw_integration *integration, double t, const double *y, lw_error *error);
    /* Hands everything on which later steps depend to the archive. NULL: part of it cannot be had; then
     * repeating the steps from the last start reproduces the same bits. */
    void (*archive)(lw_integration *integration, lw_archive *archive);
    /* The archive holds only what else a start depends on: after restart and reading it once more the steps
     * have to be repeated as well. It has at most LW_BEGINNING bytes. */
    bool repeats;
    void (*statistics)(const lw_integration *integration, lw_integrator_statistics *statistics);
} lw_integrator;

struct lw_integration {
    const lw_integrator *integrator;
    lw_system *system;
};

int lw_integrators_count(void);
const lw_integrator *lw_integrator_at(int index);
const lw_integrator *lw_integrator_find(const char *name); /* NULL if the name is unknown. */
bool lw_integrator_left_out(const char *name); /* The full library has it, linkwork-core does not. */

#endif

/* integrator.h - what an integrator is: a table of functions, one file each, one line in registry.c.
 *
 * It sees an lw_system: a state of n numbers, of which the last `quadratures` are integrals that nothing
 * depends on (the energy ledger). These are integrated alongside but take no part in error control (unless
 * there is nothing else). Nothing but create allocates (SUNDIALS' own start-up excepted).
 */
#ifndef LW_INTEGRATOR_H
#define LW_INTEGRATOR_H

#include "core/archive.h"
#include "core/core.h"
#include "core/newton_hints.h"

typedef struct lw_system lw_system;

/* Embedded as first member of a struct that knows more, by whoever wants something integrated. */
struct lw_system {
    int size, quadratures;
    /* ydot = f(t, y); NULL if the system has only a residual. An error that is not LW_OK ends the run, except
     * LW_ERROR_SINGULAR, which an adaptive integrator may answer with a smaller step. */
    lw_status (*derivative)(lw_system *system, double t, const double *y, double *ydot, lw_error *error);
    /* F(t, y, ydot); NULL if there is none. Its rows of the quadratures are ydot - (a function of the
     * others). */
    lw_status (*residual)(lw_system *system, double t, const double *y, const double *ydot, double *residual,
                          lw_error *error);
    const bool *differential;            /* for residuals and steps; NULL: all of y is differential */
    const lw_newton_hints *newton_hints; /* NULL: the Jacobian changes slowly */
    /* One step of its own; NULL if there is none. */
    lw_status (*step)(lw_system *system, double t, double h, const double *y, double *y_next,
                      lw_error *error);
    /* After every accepted step (all integrators but ida) and on states given out between steps; a change of
     * the order of the local error. May be NULL. */
    lw_status (*project)(lw_system *system, double t, double *y, lw_error *error);
    /* Told of every accepted step, after project: it ends at t in the state y, is h long; order is that of a
     * formula with a variable one, else 0. Anything but LW_OK ends advance there with that status; after
     * LW_ERROR_STOPPED it may be called again, and goes on. May be NULL. */
    lw_status (*accepted)(lw_system *system, double t, double h, int order, const double *y, lw_error *error);
    /* Events (all integrators that work on derivative or residual; root_count 0: there are none). `roots`
     * gives root_count values, each positive until what it stands for has happened. After each accepted step
     * they are looked at; where one is not positive, or cannot be had, the step ends at the first instant at
     * which that is so, found within the step. Before the next step `cross` is called there, which may change
     * y and the equations, so that all values are positive again, and the formula starts anew. */
    int root_count;
    lw_status (*roots)(lw_system *system, double t, const double *y, double *values, lw_error *error);
    lw_status (*cross)(lw_system *system, double t, double *y, lw_error *error);
    void (*release)(lw_system *system, double t); /* from here on all is decided anew at every state */
};

typedef struct lw_integrator_options {
    double step;      /* fixed step, or largest step if > 0 for adaptive ones */
    double tolerance; /* relative and absolute; 0: none given, for integrators that need none */
} lw_integrator_options;

typedef struct lw_integrator_statistics {
    long steps, evaluations, rejected;
} lw_integrator_statistics;

/* An instance; each integrator embeds it as the first member of its own struct. */
typedef struct lw_integration lw_integration;

typedef struct lw_integrator {
    const char *name, *summary;
    bool fixed_step;     /* needs options.step */
    bool either;         /* takes a fixed step if options.tolerance is 0, else chooses it */
    bool needs_residual; /* works on the residual, otherwise on the derivative */
    bool needs_step;     /* works on the system's own step */
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
    /* Begins anew at (t, y), as a new integration would, but takes no memory. What it has counted so far
     * stays counted. */
    lw_status (*restart)(lw_integration *integration, double t, const double *y, lw_error *error);
    /* Hands everything that later steps depend on to the archive. NULL: a library keeps some of it to
     * itself; then the same steps from the last start lead to the same bits. */
    void (*archive)(lw_integration *integration, lw_archive *archive);
    void (*statistics)(const lw_integration *integration, lw_integrator_statistics *statistics);
} lw_integrator;

struct lw_integration {
    const lw_integrator *integrator;
    lw_system *system;
};

int lw_integrators_count(void);
const lw_integrator *lw_integrator_at(int index);
const lw_integrator *lw_integrator_find(const char *name); /* NULL if there is none */

#endif

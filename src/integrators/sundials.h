/* sundials.h - what the integrators made of SUNDIALS share: vectors, context, linear solver, errors,
 * stepping.
 */
#ifndef LW_SUNDIALS_H
#define LW_SUNDIALS_H

#include "integrators/events.h"

#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nonlinearsolver.h>
#include <sundials/sundials_nvector.h>

typedef struct lw_sundials lw_sundials;

/* First member of a struct that knows the solver; also the user data of all callbacks. */
struct lw_sundials {
    lw_integration base;
    lw_arena *arena;
    SUNContext context;
    SUNMatrix matrix; /* NULL: the linear solver is iterative */
    SUNLinearSolver linear;
    SUNNonlinearSolver nonlinear;
    N_Vector y, ydot; /* at the end of the last step (ydot: ida) */
    N_Vector between; /* dense output */
    int controlled;   /* states under error control: the first ones */
    double *coupling; /* quadratures x controlled, how Newton's matrix couples them, up to a factor */
    double tolerance, largest_step, t_start;

    N_Vector first, second; /* Newton's method: what the equations leave in its first two rounds */
    double change, rate;    /* its first correction, its rate of convergence */
    double expected;        /* that of steps to come with this matrix */
    double unit;            /* diagonal of its matrix where nothing is stiff */
    bool fresh;             /* the matrix is that of this step */
    bool noisy;             /* no matrix helps: what convergence was stays */
    long solved, refused;   /* how often it has ended */

    double begin, end;               /* the last step; both the start before the first */
    lw_event event;                  /* within it */
    lw_integrator_statistics before; /* of what was before the last start */
    bool drifts;                     /* nothing projects its steps */
    int crawled;                     /* steps of next to no length, in a row */
    bool started;
    double t_stop; /* where the solver has been told to stop, if it has started */
    long evaluations;
    lw_error failure; /* the system's last one */
    double failed_at; /* its time */
    char text[256];   /* SUNDIALS' last message */

    /* The solver: SUNDIALS' flags, < 0 is an error. */
    int (*start)(lw_sundials *run, double t_stop);             /* before the first step */
    int (*restart)(lw_sundials *run, double t_stop);           /* from y at `end`; the history is forgotten */
    int (*step)(lw_sundials *run, double t_stop, double *end); /* one step, into y */
    int (*dense)(lw_sundials *run, double t, N_Vector y);      /* the state within the last step */
    double (*step_size)(lw_sundials *run);                     /* the one being tried */
    int (*order)(lw_sundials *run);                            /* of the last step; NULL: always the same */
    /* Where the solver keeps y, to put the projected one; NULL: step and dense project, or nobody does. */
    N_Vector (*history)(lw_sundials *run);
};

/* Takes memory for a struct of the given size that begins with lw_sundials, its context and vectors. */
lw_status lw_sundials_create(const lw_integrator *integrator, size_t size, lw_system *system,
                             const lw_integrator_options *options, double t, const double *y,
                             lw_sundials **run, lw_error *error);
void lw_sundials_destroy(lw_sundials *run); /* after the solver's own memory */

/* Dense (small systems) or iterative linear solver for Newton's matrix
 *       M = [ M_YY   0          ]   of states Y under control and quadratures Q.
 *           [ M_QY   diagonal I ]
 * The solver proper sees M_YY only: a dense matrix holds zeros for M_QY, which stands in coupling. false: no
 * memory. */
bool lw_sundials_linear_solver(lw_sundials *run);
/* Solves M x = b; M_QY = factor coupling (dense), or known by its products (iterative). */
int lw_sundials_solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector b, double tolerance,
                      double factor, double diagonal);
/* Newton's method. false: no memory. */
bool lw_sundials_newton(lw_sundials *run);
/* Before and after its matrix is made by differences from the last evaluation. */
void lw_sundials_renews(lw_sundials *run, bool begins);
/* To be called when it is attached: where the system's stiffness may change by decades within a few steps, it
 * tests by itself, in each step, whether the matrix is too old. false: no memory. */
bool lw_sundials_tests_itself(lw_sundials *run);
/* Whose vector it is. */
lw_sundials *lw_sundials_of(N_Vector v);

lw_status lw_sundials_step(lw_integration *integration, double t_stop, double *t, double *y, lw_error *error);
lw_status lw_sundials_restart(lw_integration *integration, double t, const double *y, lw_error *error);
lw_status lw_sundials_advance(lw_integration *integration, double t_out, double t_stop, double *y,
                              lw_error *error);

/* The checked derivative or residual of the system, into the vectors; as SUNDIALS wants it: 0 done, 1 try a
 * smaller step, -1 end. */
int lw_sundials_derivative(lw_sundials *run, double t, N_Vector y, N_Vector ydot);
int lw_sundials_residual(lw_sundials *run, double t, N_Vector y, N_Vector ydot, N_Vector residual);
/* The same answer to any call of the system at t, whose error is in run->failure. */
int lw_sundials_answer(lw_sundials *run, double t, lw_status status);
/* Adds what was counted before the last start. */
void lw_sundials_add_before(const lw_sundials *run, lw_integrator_statistics *statistics);
/* Keeps SUNDIALS' message instead of printing it. */
void lw_sundials_message(int code, const char *module, const char *function, char *message, void *data);

#endif

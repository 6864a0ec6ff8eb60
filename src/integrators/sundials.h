/* sundials.h - the common part of the integrators built on SUNDIALS: vectors, context, linear solver, errors,
 * stepping.
 */
#ifndef LW_SUNDIALS_H
#define LW_SUNDIALS_H

#include "integrators/events.h"

#include <sundials/sundials_config.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nonlinearsolver.h>
#include <sundials/sundials_nvector.h>

typedef struct lw_sundials lw_sundials;

/* The first member of a solver's struct; also the user data of all callbacks. */
struct lw_sundials {
    lw_integration base;
    lw_arena *arena;
    SUNContext context;
    SUNMatrix matrix; /* NULL if the linear solver is iterative. */
    SUNLinearSolver linear;
    SUNNonlinearSolver nonlinear;
    N_Vector y, ydot; /* At the end of the last step (ydot: ida only). */
    N_Vector between; /* Workspace of dense output. */
    int controlled;   /* The number of states under error control, which come first. */
    double *coupling; /* quadratures x controlled: their coupling in Newton's matrix, up to a factor. */
    double tolerance, largest_step, t_start;
    bool careful; /* Its first steps after a start have a tighter tolerance, */
    int since;    /* and this is the number of steps since then; */
    bool hurried; /* but not once it had to start again, since no step was short enough. */

    /* Newton's method: residuals of its first two iterations. */
    N_Vector first, second;
    double change, rate;  /* The size of its first correction, and its rate of convergence. */
    double expected;      /* The rate expected in the next steps with this matrix. */
    double unit;          /* The diagonal of its matrix where nothing is stiff. */
    bool fresh;           /* The matrix was made in this step. */
    bool noisy;           /* No matrix improves convergence, so that the measured rate is kept. */
    long solved, refused; /* How often it has converged, and how often it has not. */

    double begin, end; /* The last step; both are the start time before the first. */
    lw_event event;    /* The event within the last step. */
    /* What was known of earlier events at the last start: the search for events, and thereby the steps,
     * depend on it. */
    struct {
        double last, longest;
        long repeated;
    } begun;
    lw_integrator_statistics before; /* The statistics up to the last start. */
    bool drifts;                     /* Nothing projects its steps. */
    int crawled;                     /* The number of consecutive steps of nearly zero length. */
    bool started;
    double t_stop; /* The time at which the solver has been told to stop, once it has started. */
    long evaluations;
    lw_error failure; /* The last error of the system. */
    double failed_at; /* The time of that error. */
    char text[256];   /* The last message of SUNDIALS. */

    /* Functions of the solver. They return flags of SUNDIALS, of which negative ones are errors. */
    int (*start)(lw_sundials *run, double t_stop);             /* To be called before the first step. */
    int (*restart)(lw_sundials *run, double t_stop);           /* Restarts from y at `end` without history. */
    int (*step)(lw_sundials *run, double t_stop, double *end); /* one step, into y */
    int (*dense)(lw_sundials *run, double t, N_Vector y);      /* the state within the last step */
    double (*step_size)(lw_sundials *run);                     /* The size of the step in progress. */
    int (*bound)(lw_sundials *run, double longest);            /* Longest step; 0: there is no bound. */
    /* The order of the last step; NULL if it is constant. */
    int (*order)(lw_sundials *run);
    /* Where the solver keeps y, so that the projected one can be put there; NULL if step and dense project
     * themselves, or nothing does. */
    N_Vector (*history)(lw_sundials *run);
};

/* Allocates a struct of the given size that begins with lw_sundials, its context and vectors. */
lw_status lw_sundials_create(const lw_integrator *integrator, size_t size, lw_system *system,
                             const lw_integrator_options *options, double t, const double *y,
                             lw_sundials **run, lw_error *error);
void lw_sundials_destroy(lw_sundials *run); /* To be called after the solver's own memory has been freed. */

/* Attaches a dense (small systems) or iterative linear solver for Newton's matrix
 *       M = [ M_YY   0          ]   of states Y under control and quadratures Q.
 *           [ M_QY   diagonal I ]
 * The solver itself sees M_YY only: a dense matrix has zeros for M_QY, which is kept in coupling. Returns
 * false when memory is out. */
bool lw_sundials_linear_solver(lw_sundials *run);
/* Solves M x = b. M_QY is factor times coupling (dense), or given by its products (iterative). */
int lw_sundials_solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector b, double tolerance,
                      double factor, double diagonal);
/* Attaches Newton's method. Returns false when memory is out. */
bool lw_sundials_newton(lw_sundials *run);
/* To be called before and after the matrix is formed by differences from the last evaluation. */
void lw_sundials_renews(lw_sundials *run, bool begins);
/* To be called when Newton's method is attached. Where the system's stiffness may change by decades within a
 * few steps, Newton's method then tests in each step whether the matrix is too old. Returns false when memory
 * is out. */
bool lw_sundials_tests_itself(lw_sundials *run);
/* Weights of errors, of the type that CVODE and IDA expect: 1 / (tolerance (scale + |y|)). */
int lw_sundials_weights(N_Vector y, N_Vector weights, void *run);
/* The integration to which a vector belongs. */
lw_sundials *lw_sundials_of(N_Vector v);

lw_status lw_sundials_step(lw_integration *integration, double t_stop, double *t, double *y, lw_error *error);
lw_status lw_sundials_restart(lw_integration *integration, double t, const double *y, lw_error *error);
void lw_sundials_archive(lw_integration *integration, lw_archive *archive);
lw_status lw_sundials_advance(lw_integration *integration, double t_out, double t_stop, double *y,
                              lw_error *error);

/* Evaluates the checked derivative or residual of the system into the vectors. Returns what SUNDIALS expects:
 * 0 for success, 1 to try a smaller step, -1 to stop. */
int lw_sundials_derivative(lw_sundials *run, double t, N_Vector y, N_Vector ydot);
int lw_sundials_residual(lw_sundials *run, double t, N_Vector y, N_Vector ydot, N_Vector residual);
/* Adds the statistics up to the last start. */
void lw_sundials_add_before(const lw_sundials *run, lw_integrator_statistics *statistics);
#if SUNDIALS_VERSION_MAJOR < 7
/* Stores the message of SUNDIALS instead of printing it. From version 7 on the context is told of a function
 * for this, in lw_sundials_create; before, each solver. */
void lw_sundials_message(int code, const char *module, const char *function, char *message, void *data);
#endif

#endif

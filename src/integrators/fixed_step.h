/* fixed_step.h - the common part of integrators with a fixed step: times, dense output, projection. */
#ifndef LW_FIXED_STEP_H
#define LW_FIXED_STEP_H

#include "integrators/events.h"

typedef struct lw_fixed_step lw_fixed_step;

/* y_next from y at time t; ydot, the derivative of y at t, is NULL if the system has none. */
typedef lw_status (*lw_take_step)(lw_fixed_step *run, double t, double h, const double *y, const double *ydot,
                                  double *y_next, lw_error *error);

struct lw_fixed_step {
    lw_integration base;
    lw_take_step take;
    lw_arena *arena;
    double t_start, h;
    double begin, end;       /* The last step taken; both are t_start before the first. */
    double *y_begin, *y_end; /* The states at its ends. */
    double *f_begin, *f_end; /* The derivatives of these states. */
    bool f_begin_known, f_end_known;
    double *work[3];         /* Workspace for take, of the state's size. */
    void *more;              /* What else take needs; its integrator puts it there. */
    lw_event event;          /* The event at the end of the last step. */
    long grid;               /* Steps that have ended at a multiple of h. */
    long steps, evaluations; /* All steps, and all evaluations. */
};

lw_status lw_fixed_step_create(const lw_integrator *integrator, lw_take_step take, lw_system *system,
                               const lw_integrator_options *options, double t, const double *y,
                               lw_integration **integration, lw_error *error);
void lw_fixed_step_destroy(lw_integration *integration);
lw_status lw_fixed_step_advance(lw_integration *integration, double t_out, double t_stop, double *y,
                                lw_error *error);
lw_status lw_fixed_step_step(lw_integration *integration, double t_stop, double *t, double *y,
                             lw_error *error);
lw_status lw_fixed_step_restart(lw_integration *integration, double t, const double *y, lw_error *error);
void lw_fixed_step_archive(lw_integration *integration, lw_archive *archive);
void lw_fixed_step_statistics(const lw_integration *integration, lw_integrator_statistics *statistics);

#endif

/* progress_monitor.h - the progress of a run, by counts: whether it will end, and when to test for stiffness.
 */
#ifndef LW_PROGRESS_MONITOR_H
#define LW_PROGRESS_MONITOR_H

#include <stdbool.h>

typedef struct lw_effort {
    double start, end;
    double largest; /* the largest step that the user allows; 0 if any is allowed */
    double most;    /* the number of steps that the user allows; 0 for lw_effort_allowed */
    bool given;     /* The user gives every step, so that nothing is judged. */
    /* Numbers of evaluations and accepted steps so far. */
    long evaluations, steps;
    double t; /* end of the last accepted step */
    /* The same numbers at the end of the last window. */
    long evaluations_then, steps_then;
    double t_then;
    long windows, slow; /* number of windows, and how many of the last ones in a row predicted no end */
    double h;           /* mean step of the last window */
    double needs;       /* number of steps that the whole run needs with this mean step */
    /* Tests for stiffness. */
    long begun;              /* number of steps of integrators before this one */
    double step_mean;        /* mean of the last CHECK steps */
    double evaluations_mean; /* mean number of evaluations per step in the last CHECK steps */
    double step_before;      /* step_mean at the last test */
    double t_checked;
    long evaluations_checked, next;
} lw_effort;

void lw_effort_start(lw_effort *effort, double start, double end);
/* The number of steps that a run of `span` seconds may need. */
double lw_effort_allowed(double span);
/* Counts an evaluation of the system. LW_EFFORT_LOOKED: a window has ended, and h and needs are new;
 * LW_EFFORT_HOPELESS: the run will not end; LW_EFFORT_SPENT: the run has taken all steps that the user
 * allows. */
typedef enum lw_effort_answer {
    LW_EFFORT_COUNTED,
    LW_EFFORT_LOOKED,
    LW_EFFORT_HOPELESS,
    LW_EFFORT_SPENT
} lw_effort_answer;
lw_effort_answer lw_effort_evaluated(lw_effort *effort);
/* The result is k = 1 .. LW_EFFORT_STATES - 1 at 2^(k-1) evaluations before the end of a window, otherwise
 * 0. */
enum { LW_EFFORT_STATES = 12 };
int lw_effort_nearly(const lw_effort *effort);
/* Counts an accepted step that ends at t; returns whether it is time to test if stability bounds the steps,
 * whose mean is step_mean. */
bool lw_effort_stepped(lw_effort *effort, double t);
/* Another integrator takes over. */
void lw_effort_changes(lw_effort *effort);

#endif

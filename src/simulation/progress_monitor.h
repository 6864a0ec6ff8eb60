/* progress_monitor.h - how a run gets on, by counts: does it come to an end, is it time to look for
 * stiffness?
 */
#ifndef LW_PROGRESS_MONITOR_H
#define LW_PROGRESS_MONITOR_H

#include <stdbool.h>

typedef struct lw_effort {
    double start, end;
    double largest; /* step that the user allows; 0: any */
    double most;    /* steps that the user allows; 0: lw_effort_allowed */
    bool given;     /* the user gives every step: nothing is judged */
    /* so far */
    long evaluations, steps;
    double t; /* where the last accepted step ends */
    /* at the last look: */
    long evaluations_then, steps_then;
    double t_then;
    long windows, slow; /* looks, and how many of them in a row found no end */
    double h;           /* mean step of the last look */
    double needs;       /* steps that the whole run needs at that pace */
    /* for stiffness: */
    long begun;              /* steps of integrators before this one */
    double step_mean;        /* of the last CHECK steps, ... */
    double evaluations_mean; /* ... and evaluations for each */
    double step_before;      /* step_mean when it was last asked for */
    double t_checked;
    long evaluations_checked, next;
} lw_effort;

void lw_effort_start(lw_effort *effort, double start, double end);
/* How many steps a run of that many seconds may need. */
double lw_effort_allowed(double span);
/* Counts an evaluation of the system. LW_EFFORT_LOOKED: a good many have passed, and h and needs tell how it
 * goes; LW_EFFORT_HOPELESS: the run does not come to an end; LW_EFFORT_SPENT: it has taken the steps that the
 * user allows. */
typedef enum lw_effort_answer {
    LW_EFFORT_COUNTED,
    LW_EFFORT_LOOKED,
    LW_EFFORT_HOPELESS,
    LW_EFFORT_SPENT
} lw_effort_answer;
lw_effort_answer lw_effort_evaluated(lw_effort *effort);
/* Some evaluations before the next look, ever more closely: 1 .. LW_EFFORT_STATES - 1 once each; otherwise
 * 0. */
enum { LW_EFFORT_STATES = 12 };
int lw_effort_nearly(const lw_effort *effort);
/* Counts an accepted step that ends at t; true: it is time to ask whether stability bounds the steps, whose
 * mean is step_mean. */
bool lw_effort_stepped(lw_effort *effort, double t);
/* Another integrator goes on. */
void lw_effort_changes(lw_effort *effort);

#endif

/* results.h - what a run delivers: a sample at each requested time, a summary at the end.
 */
#ifndef LINKWORK_RESULTS_H
#define LINKWORK_RESULTS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the energy went since the start: kinetic + potential - initial = drives + forces - dissipation +
 * unaccounted. */
typedef struct lw_ledger {
    double kinetic, potential;
    double drives;      /* work of joint drives and of prescribed motions */
    double forces;      /* work of applied forces, and of laws without a potential */
    double dissipation; /* lost in dampers and friction, positive */
    double unaccounted;
} lw_ledger;

typedef struct lw_sample {
    double t;
    const double *q, *v;
    const double *vdot;      /* accelerations of the speeds; NULL unless asked for */
    const double *reactions; /* joint_count x 6 as in dynamics.h; NULL unless asked for */
    const double *states;    /* user states, in the model's order; NULL if it has none */
    const double *outputs;   /* outputs, in the model's order, SI units; NULL if it has none */
    const lw_ledger *ledger;
    double position_violation, velocity_violation; /* of closures and constraints, the largest */
    double progress;                               /* 0 .. 1 */
    const double
        *multipliers; /* forces of constraints, one per row of them; NULL unless reactions are asked for */
    const double *inputs; /* values of the model's inputs, NAN: the default; NULL: their defaults */
    /* The model with the values that its parameters have now, which events may change; NULL: the one that the
     * run began with. */
    const struct lw_model *model;
    /* Forces and motions that jump at t are seen at t + aside, on the side of the jump to which the sample
     * belongs: the last of a run is what has been until then. 0, or a few units of rounding of t. */
    double aside;
    const double *works; /* works of the force elements since the start; NULL unless asked for */
} lw_sample;

/* Whether a run is to be trusted: ok, or doubtful, with reasons in plain words that begin with one of
 * balance, closure, energy, steps. */
#define LW_REASONS_MAX 6
#define LW_REASON_SIZE 320
typedef struct lw_run_verdict {
    bool ok;
    int reason_count;
    char reasons[LW_REASONS_MAX][LW_REASON_SIZE];
} lw_run_verdict;

/* What a run was, told when it has ended. */
typedef struct lw_run_summary {
    const char *method, *integrator;
    double t_end;
    long steps, evaluations, rejected, samples;
    long events; /* what the method told on the way (lw_run_options.event) */
    double wall_s;
    double energy_initial, energy_final, energy_max_drift; /* drift: largest unaccounted energy, absolute */
    double position_max, velocity_max;                     /* largest violation of closures and constraints */
    lw_ledger ledger;
    double balance_max; /* largest amount of the balance check at the samples that were put to it */
    lw_run_verdict verdict;
} lw_run_summary;

#ifdef __cplusplus
}
#endif
#endif

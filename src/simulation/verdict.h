/* verdict.h - watches a run and says at its end whether its numbers are to be trusted.
 */
#ifndef LW_VERDICT_H
#define LW_VERDICT_H

#include "formulations/common/checked_accelerations.h"
#include <linkwork/results.h>

typedef struct lw_watch {
    const lw_model *model;
    double length;       /* of the mechanism */
    double kinetic_most; /* J */
    double potential_least, potential_most;
    double gap, gap_t; /* largest violation of positions, and when */
    double unaccounted, unaccounted_t;
    double balance, balance_t;
    double effort;      /* the largest force times the mechanism's length, J */
    long checks;        /* how many samples were put to the balance check */
    lw_error imbalance; /* where the first did not pass */
    double quaternion;  /* how far off unit length one has been */
    bool started;
} lw_watch;

/* What a run asked for, as far as it says what errors are in proportion. */
typedef struct lw_watch_limits {
    double tolerance; /* 0: fixed steps */
    long steps, rejected;
} lw_watch_limits;

void lw_watch_start(lw_watch *watch, const lw_model *model);
/* A sample: energies and violations. */
void lw_watch_sample(lw_watch *watch, double t, const lw_ledger *ledger, double position_violation);
/* The outcome of a balance check at a sample: amount and effort of lw_checked; error: what it said if it did
 * not pass. */
void lw_watch_balance(lw_watch *watch, double t, double amount, double effort, lw_status status,
                      const lw_error *error);

/* Fills verdict and balance_max of the summary. */
void lw_watch_verdict(const lw_watch *watch, const lw_watch_limits *limits, lw_run_summary *summary);

#endif

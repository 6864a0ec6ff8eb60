/* verdict.h - monitors a run and decides at its end whether its numbers are reliable.
 */
#ifndef LW_VERDICT_H
#define LW_VERDICT_H

#include "formulations/common/checked_accelerations.h"
#include <linkwork/results.h>

typedef struct lw_watch {
    const lw_model *model;
    double length;       /* length of the mechanism */
    double kinetic_most; /* largest kinetic energy, J */
    double potential_least, potential_most;
    double gap, gap_t; /* largest violation of positions, and its time */
    double unaccounted, unaccounted_t;
    double balance, balance_t;
    double effort;      /* the largest force times the mechanism's length, J */
    long checks;        /* number of samples with a balance check */
    lw_error imbalance; /* error of the first sample that failed the check */
    double quaternion;  /* largest deviation of a quaternion from unit length */
    bool started;
} lw_watch;

/* The data of a run that determine which errors are acceptable. */
typedef struct lw_watch_limits {
    double tolerance; /* 0 for fixed steps */
    long steps, rejected;
} lw_watch_limits;

void lw_watch_start(lw_watch *watch, const lw_model *model);
/* Records the energies and violations of a sample. */
void lw_watch_sample(lw_watch *watch, double t, const lw_ledger *ledger, double position_violation);
/* Records the result of a balance check at a sample: amount and effort of lw_checked, and the error if the
 * check failed. */
void lw_watch_balance(lw_watch *watch, double t, double amount, double effort, lw_status status,
                      const lw_error *error);

/* Fills verdict and balance_max of the summary. */
void lw_watch_verdict(const lw_watch *watch, const lw_watch_limits *limits, lw_run_summary *summary);

#endif

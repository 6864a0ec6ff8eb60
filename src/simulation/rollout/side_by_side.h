/* side_by_side.h - runs of models that differ in their numbers, in the lanes of vectors.
 */
#ifndef LW_SIDE_BY_SIDE_H
#define LW_SIDE_BY_SIDE_H

#include <linkwork/simulation.h>

enum { LW_SIDE_BY_SIDE_MOST = 8 };

/* How many runs the vectors of this processor hold. */
int lw_side_by_side_width(void);

/* Why the run of this simulation cannot go into a lane; NULL: it can. Trees by the method tree and rk4, whose
 * right side changes smoothly with the state. */
const char *lw_side_by_side_hindrance(const lw_simulation *simulation);

/* What became of a run. */
typedef struct lw_lane_end {
    lw_status status;
    lw_error error;
    lw_run_summary summary; /* but for the time that it took */
} lw_lane_end;

/* Runs count simulations, each at its start and without a hindrance, to their ends as lw_simulation_run does,
 * at most lw_side_by_side_width() at a time: those that are alike in structure and in the times of their runs
 * together. Samples, energy ledger and verdict are those of single runs. A run depends on its own numbers
 * alone, not on those beside it, and equals a single run to rounding. */
void lw_run_side_by_side(lw_simulation *const *simulations, int count, lw_lane_end *ends);

#endif

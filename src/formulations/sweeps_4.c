/* sweeps_4.c - the sweeps four rows at a time, with AVX2 (sweep.h).
 */
#define PACK 4
#include "formulations/sweep.h"

void lw_sweeps_start_4(lw_sweeps *sweeps, const lw_subject *subject) { start(sweeps, subject); }

lw_status lw_sweeps_run_4(lw_sweeps *sweeps, const lw_subject *subject, lw_error *error) {
    return sweep(sweeps, subject, error);
}

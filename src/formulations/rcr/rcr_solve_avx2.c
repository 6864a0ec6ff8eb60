/* rcr_solve_avx2.c - the passes four rows at a time, with AVX2 (rcr_solve_kernels.h).
 */
#define LANES 1
#define PACK 4
#include "formulations/rcr/rcr_solve_kernels.h"

void lw_rcr_system_start_4(lw_rcr_system *system, const lw_subject *subject) { start(system, subject); }

lw_status lw_rcr_system_run_4(lw_rcr_system *system, const lw_subject *subject, lw_error *error) {
    return run(system, subject, error);
}

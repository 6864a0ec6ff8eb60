/* sweep_execute.h - how the rows of a sweep are computed: by threads in linkwork, by ranks in linkwork-mpi.
 */
#ifndef CLI_SWEEP_EXECUTE_H
#define CLI_SWEEP_EXECUTE_H

#include <linkwork/sweep.h>

/* As lw_sweep_run. *silent is set where another process reports. */
lw_status sweep_execute(const lw_sweep *sweep, const lw_sweep_call *call, lw_sweep_summary *summary,
                        bool *silent, lw_error *error);

#endif

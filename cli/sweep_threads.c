/* sweep_threads.c - the rows of a sweep by the threads of this process.
 */
#include "sweep_execute.h"

lw_status sweep_execute(const lw_sweep *sweep, const lw_sweep_call *call, lw_sweep_summary *summary,
                        bool *silent, lw_error *error) {
    *silent = false;
    return lw_sweep_run(sweep, call, summary, error);
}

/* massless_loops.h - motions without mass in mechanisms with closed loops (massless_loops.c).
 */
#ifndef LW_MASSLESS_LOOPS_H
#define LW_MASSLESS_LOOPS_H

#include "formulations/massless/massless_parts.h"
#include "model/rows.h"

typedef struct lw_loop_null lw_loop_null;

/* The directions of closed loops at the initial position, and nearby: fills a dense shape. mobility (may be
 * NULL): how many motions the loops allow. */
lw_status lw_loops_structure(lw_null_shape *shape, int *mobility, lw_error *error);

lw_loop_null *lw_loop_null_create(const lw_null_shape *shape, lw_arena *arena);
void lw_loop_null_destroy(lw_loop_null *loops);
/* Directions at the position in data, after lw_velocities and lw_world_poses. */
lw_status lw_loop_null_at(lw_loop_null *loops, lw_null *null, lw_data *data, lw_error *error);
/* v -= rate times the smallest motion that removes a violation of the rows, at the last position. */
void lw_loop_close(lw_loop_null *loops, double rate, const double *violation, double *v);

typedef struct lw_loop_system lw_loop_system;

lw_loop_system *lw_loop_system_create(lw_loop_null *null, lw_arena *arena);
void lw_loop_system_destroy(lw_loop_system *system);
/* Accelerations (zero at the speeds `reps` that stand for directions), multipliers, and drives of prescribed
 * speeds, at the state in data, of which lw_loop_null_at has been told. defect: what the rows leave when
 * these accelerations are zero. */
lw_status lw_loop_solve(lw_loop_system *system, const int *reps, lw_data *data, double t, const double *tau,
                        const double *defect, double *lambda, lw_error *error);

#endif

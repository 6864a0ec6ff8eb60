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
/* The equations of motion at the state in data, after lw_loop_null_at at that state. */
typedef struct lw_loop_equations {
    lw_data *data;
    double t;
    const double *tau;    /* of the caller; may be NULL */
    const int *reps;      /* per direction: the speed that represents it */
    const double *given;  /* per speed: the accelerations that those speeds are to have; NULL: zero */
    const double *defect; /* per row: what it leaves when only prescribed speeds accelerate */
    double *lambda;       /* per row: the multipliers, out */
} lw_loop_equations;

/* Accelerations, multipliers, and drives of prescribed speeds. */
lw_status lw_loop_solve(lw_loop_system *system, const lw_loop_equations *equations, lw_error *error);
/* What rounding leaves undecided of the last accelerations, relative to those of a joint, and of which
 * speed. */
double lw_loop_uncertainty(const lw_loop_system *system, int *speed);

#endif

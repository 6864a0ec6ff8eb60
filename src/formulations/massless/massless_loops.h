/* massless_loops.h - motions without mass in mechanisms with closed loops (massless_loops.c).
 */
#ifndef LW_MASSLESS_LOOPS_H
#define LW_MASSLESS_LOOPS_H

#include "formulations/massless/massless_parts.h"
#include "model/rows.h"

typedef struct lw_loop_null lw_loop_null;

/* Finds the massless directions at the initial position and nearby, and fills the dense shape with them.
 * mobility (may be NULL): the number of independent motions that the loops allow. */
lw_status lw_loops_structure(lw_null_shape *shape, int *mobility, lw_error *error);

lw_loop_null *lw_loop_null_create(const lw_null_shape *shape, lw_arena *arena);
void lw_loop_null_destroy(lw_loop_null *loops);
/* Computes the directions at the position in data, after lw_velocities and lw_world_poses. */
lw_status lw_loop_null_at(lw_loop_null *loops, lw_null *null, lw_data *data, lw_error *error);
/* Subtracts from v the rate times the smallest motion that removes a violation of the rows, at the position
 * of the last lw_loop_null_at. */
void lw_loop_close(lw_loop_null *loops, double rate, const double *violation, double *v);

typedef struct lw_loop_system lw_loop_system;

lw_loop_system *lw_loop_system_create(lw_loop_null *null, lw_arena *arena);
void lw_loop_system_destroy(lw_loop_system *system);
/* The equations of motion at the state in data, after lw_loop_null_at at that state. */
typedef struct lw_loop_equations {
    lw_data *data;
    double t;
    const double *tau;    /* Joint forces of the caller; may be NULL. */
    const int *reps;      /* Per direction: the speed that represents it. */
    const double *given;  /* Per speed: the accelerations of the representing speeds; NULL: zero. */
    const double *defect; /* Per row: its residual when only prescribed speeds accelerate. */
    double *lambda;       /* Per row (out): its multiplier. */
} lw_loop_equations;

/* Computes accelerations, multipliers, and the drive forces of prescribed speeds. */
lw_status lw_loop_solve(lw_loop_system *system, const lw_loop_equations *equations, lw_error *error);
/* Returns the largest uncertainty that rounding leaves in the last accelerations, relative to those of the
 * same joint. speed: the speed that has it. */
double lw_loop_uncertainty(const lw_loop_system *system, int *speed);

#endif

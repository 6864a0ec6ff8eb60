/* motion_rows.h - speeds and accelerations that a motion by rows does not give, by differences.
 */
#ifndef LW_MOTION_ROWS_H
#define LW_MOTION_ROWS_H

#include "model/compiled_model.h"
#include <linkwork/inverse.h>

/* What is given of a motion by rows, and room for one row. */
typedef struct lw_motion_rows {
    const lw_model *model;
    const lw_motion_table *motion;
    /* Per speed: its coordinate is given; its speed; its acceleration. */
    bool *given, *speed, *acceleration;
    double *v, *vdot; /* samples x nv: given, or by differences */
    double differences;
} lw_motion_rows;

/* Checks the motion and completes it, in the memory of the arena. */
lw_status lw_motion_rows_complete(const lw_model *model, const lw_motion_table *motion, lw_arena *arena,
                                  lw_motion_rows *rows, lw_error *error);

#endif

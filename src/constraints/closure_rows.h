/* closure_rows.h - rows of closures that hold a point (revolute, spherical, weld), in body axes.
 *
 * This is the common case of model/rows.h, computed directly from the angles and angular velocities of the
 * tree's recursion. "Bodies concerned" are the bodies on the paths from closures to ground.
 */
#ifndef LW_CLOSURE_ROWS_H
#define LW_CLOSURE_ROWS_H

#include "model/rows.h"

typedef struct lw_closures lw_closures;

/* Sets *out to NULL if some closure or constraint is of another kind; model/rows.h then has to be used. */
lw_status lw_closures_create(const lw_model *model, lw_arena *arena, lw_closures **out);

/* Computes the poses and angular velocities of the bodies concerned, and from these the closures' points and
 * axes. It needs the velocities of the recursion. If v is not NULL, velocities of the origins are computed
 * too. */
void lw_closures_move(const lw_model *model, const lw_data *data, const double *v, lw_closures *closures);

/* Poses of the internal frames 0 .. n of the bodies concerned, after lw_closures_move. Positions are relative
 * to the point where the branch of the body is attached to ground: only their differences along one branch
 * are meaningful. */
const lw_pose *lw_closures_world(const lw_closures *closures);

/* Rows row[0] .. row[count - 1] of closure k of the model, counted from its first: the wrenches on its second
 * and first body (internal axes, about the internal origin; layout of loop_constraints.h), and the bias that
 * is added to the products of these wrenches with the accelerations of the two bodies. The wrenches on the
 * second body are constant; second may be NULL. */
void lw_closure_rows(const lw_closures *closures, int k, int count, const int *row, double *restrict second,
                     double *restrict first, double *restrict bias);
/* The largest residual of some rows at acceleration level, for the accelerations of the tree's recursion.
 * *size is raised to the largest of the terms. Both are angular accelerations: linear ones are divided by the
 * size of the mechanism. */
double lw_closure_defect(const lw_data *data, const lw_closures *closures, int k, int count, const int *row,
                         double *size);
/* The residuals of all `count` rows at velocity level, in the units of the rows. Returns the largest residual
 * and raises *size, both as angular velocities. */
double lw_closure_velocity(const lw_data *data, const lw_closures *closures, int k, int count,
                           double *velocity, double *size);
/* The position errors of the rows, in their own units, after lw_closures_move; valid near a closed position.
 * Returns the largest. */
double lw_closure_gap(const lw_model *model, const lw_closures *closures, int k, int count, double *gap);

#endif

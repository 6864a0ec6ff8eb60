/* closure_rows.h - closures that hold a point (revolute, spherical, weld), from the angles and angular
 * velocities of the tree's recursion, in body axes: the common case of rows.c without its detours.
 */
#ifndef LW_CLOSURE_ROWS_H
#define LW_CLOSURE_ROWS_H

#include "model/rows.h"

typedef struct lw_closures lw_closures;

/* NULL in *out if some closure or constraint is of another kind, and rows.c has to be asked. */
lw_status lw_closures_create(const lw_model *model, lw_arena *arena, lw_closures **out);

/* Poses and angular velocities of the bodies concerned, after the recursion's velocities, and from these the
 * places of the closures; with speeds v (not NULL) also velocities. */
void lw_closures_move(const lw_model *model, const lw_data *data, const double *v, lw_closures *closures);

/* Poses of the internal frames of the bodies concerned, 0 .. n, after lw_closures_move; places from where the
 * branch of each hangs on ground, so that they are good for differences along a branch. */
const lw_pose *lw_closures_world(const lw_closures *closures);

/* Of closure number k of the model, rows `row` (counted from its first): wrenches on its second and first
 * body (internal axes, about the internal origin; as in loop_constraints.h), and what is to be added to the
 * sum of their products with the accelerations of both. Those on the second are always the same, and not
 * asked for if NULL. */
void lw_closure_rows(const lw_closures *closures, int k, int count, const int *row, double *restrict second,
                     double *restrict first, double *restrict bias);
/* Two that return the largest of the rows, and let size grow to that of the terms, both as angles: lengths
 * count relative to the size of the mechanism. The sum itself, for accelerations of the tree's recursion: */
double lw_closure_defect(const lw_data *data, const lw_closures *closures, int k, int count, const int *row,
                         double *size);
/* What is left of all `count` rows at velocity level, in the rows' own units: */
double lw_closure_velocity(const lw_data *data, const lw_closures *closures, int k, int count,
                           double *velocity, double *size);
/* How far its rows are open, in their own units, after lw_closures_move; returns the largest. Near a closed
 * position. */
double lw_closure_gap(const lw_model *model, const lw_closures *closures, int k, int count, double *gap);

#endif

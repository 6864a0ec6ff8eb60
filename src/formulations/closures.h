/* closures.h - closures that hold a point (revolute, spherical, weld), from the angles and angular velocities of the tree's
 * recursion, in body axes: the common case of rows.c without its detours.
 */
#ifndef LW_CLOSURES_H
#define LW_CLOSURES_H

#include "model/rows.h"

typedef struct lw_closures lw_closures;

/* NULL in *out if some closure or constraint is of another kind, and rows.c has to be asked. */
lw_status lw_closures_create(const lw_model *model, const lw_rows *rows, lw_arena *arena, lw_closures **out);

/* Poses and velocities of the bodies concerned, after the recursion's velocities; v may be NULL (at rest). */
void lw_closures_move(const lw_model *model, const lw_data *data, const double *v, lw_closures *closures);

/* Closure number k of the model; rows `row` (counted from the closure's first) of it: wrenches on its second and first body
 * (internal axes, about the internal origin), and
 *   bias      what is to be added to the sum of wrenches' products with the accelerations of both (ground: -gravity)
 *   velocity  what is left of the rows at velocity level
 *   size      of the velocities that make it up, at least what it was */
void lw_closure_rows(const lw_model *model, const lw_data *data, const lw_closures *closures, int k,
                     int count, const int *row, double *second, double *first, double *bias, double *velocity,
                     double *size);

#endif

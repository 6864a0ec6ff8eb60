/* force_conditions.h - the conditions in the laws, drives and applied forces of a model. */
#ifndef LW_FORCE_CONDITIONS_H
#define LW_FORCE_CONDITIONS_H

#include "model/data.h"

/* Returns how many there are; of (may be NULL) receives, per element, the place of its first one, or -1. */
int lw_force_conditions(const lw_model *model, int *of);
/* Does a look at these elements need poses and velocities of bodies, and not only coordinates and speeds? */
bool lw_force_conditions_need_poses(const lw_model *model, const int *of);
/* Looks at the conditions of element k, which has some, in the state of data; after lw_take_state and, if
 * needed, lw_velocities and lw_world_poses. */
void lw_force_look(const lw_model *model, const lw_data *data, int k, double t, const lw_look *at);

#endif

/* model_conditions.h - the conditions in the forces, signals and rates of a model, and in its events. */
#ifndef LW_MODEL_CONDITIONS_H
#define LW_MODEL_CONDITIONS_H

#include "model/data.h"

/* The number of entries of the vector of values that may have conditions. */
int lw_conditions_named(const lw_model *model);
/* Returns how many conditions there are. of_force and of_value receive, per element and per such entry, the
 * place of its first condition, or -1. */
int lw_conditions(const lw_model *model, int *of_force, int *of_value);
/* May a condition, or an event of the model, change faster than the state, so that steps which the state
 * alone determines could pass over it: with time, or with a periodic function of the state? of_values: room
 * for a number per entry of the vector of values. */
bool lw_conditions_in_time(const lw_model *model, unsigned char *of_values);
/* Does a look at them need poses and velocities of bodies, and not only coordinates and speeds? */
bool lw_conditions_need_poses(const lw_model *model, const int *of_force);
/* Looks at all conditions in the state of data, one number per condition; after lw_take_state and, if needed,
 * lw_velocities and lw_world_poses. Signals see the outcomes at which data is held. */
void lw_conditions_look(const lw_model *model, lw_data *data, double t, const int *of_force,
                        const int *of_value, const lw_look *at);

/* The conditions of the model's events, and of the signals and defaults that events alone depend on, behind
 * `first` others: returns how many there are with these. of_value, in which are the places of the others,
 * receives theirs, of_event those of events. Kinks do not count. There are none if events need
 * accelerations. */
int lw_event_conditions(const lw_model *model, int first, int *of_value, int *of_event);
/* Looks at those; after lw_take_state, lw_velocities and lw_world_poses. */
void lw_event_conditions_look(const lw_model *model, lw_data *data, double t, int first, const int *of_value,
                              const int *of_event, const lw_look *at);

#endif

/* signals.h - the vector of values that expressions of a model read, and what is computed from it: signals,
 * rates of user states, outputs.
 *
 *     values = [ inputs | user states | signals | quantities of the state ]
 *
 * Inputs and user states are given by the owner of lw_data; quantities and signals are computed from the
 * state. docs/theory/signals.md says when, and in which order.
 */
#ifndef LW_SIGNALS_H
#define LW_SIGNALS_H

#include "model/data.h"
#include "model/quantity/quantity.h"

/* Computes the entries of an order, and copies the given ones, into data->computed. After lw_velocities and
 * lw_world_poses; source: what else the entries need (NULL: nothing but t). */
void lw_values_compute(const lw_model *model, lw_data *data, double t, const lw_quantity_source *source,
                       const lw_value_order *order);

/* What the model's forces need; to be called before elements are evaluated, unless that is by lw_forces or
 * after lw_forces_clear. */
static inline void lw_signals(const lw_model *model, lw_data *data, double t) {
    if (data->values == data->computed) lw_values_compute(model, data, t, NULL, &model->values.for_forces);
}

/* The rates of all user states, after lw_velocities and lw_world_poses. */
void lw_state_rates(const lw_model *model, lw_data *data, double t, double *rates);

/* Fills data->jets: the user states that motions depend on, with their first and second derivatives in time
 * (docs/theory/signals.md, 5-6). */
void lw_motion_jets(const lw_model *model, lw_data *data, double t);

/* What the outputs need of a state besides its kinematics: bits of LW_NEEDS_*. */
unsigned lw_outputs_need(const lw_model *model);
/* Does an output need the work of this force element? */
bool lw_outputs_use_work(const lw_model *model, int force);
/* Outputs first .. end - 1 in SI units; source as they need. */
void lw_outputs_compute(const lw_model *model, lw_data *data, const lw_quantity_source *source, int first,
                        int end, double *values);

#endif

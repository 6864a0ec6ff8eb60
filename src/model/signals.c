/* signals.c - evaluation of the vector of values: quantities of the state, signals, defaults of inputs; rates
 * of user states, outputs.
 *
 * The orders are made in compile_signals.c, so that one pass suffices: quantities of the state come first,
 * since they depend on nothing else here, then signals and defaults of inputs, each behind those that it
 * uses. A default is an expression that holds as long as the owner's value of the input is NAN.
 *
 * Source   docs/theory/signals.md.
 * Cost     O(entries of the order), no allocation.
 */
#include "model/signals.h"

#include <math.h>
#include <string.h>

void lw_values_compute(const lw_model *model, lw_data *data, double t, const lw_quantity_source *source,
                       const lw_value_order *order) {
    const lw_values *values = &model->values;
    const lw_quantity_source only_time = {.t = t};
    const int inputs = values->input_count, given = inputs + values->state_count,
              named = given + values->signal_count;
    double *computed = data->computed;
    if (!source) source = &only_time;
    if (inputs) memcpy(computed, data->inputs, (size_t)inputs * sizeof *computed);
    if (values->state_count)
        memcpy(computed + inputs, data->states, (size_t)values->state_count * sizeof *computed);
    for (int k = 0; k < order->coordinate_count; k++)
        computed[order->coordinates[k].entry] = data->q[order->coordinates[k].from];
    for (int k = 0; k < order->speed_count; k++)
        computed[order->speeds[k].entry] = data->v[order->speeds[k].from];
    double vector[LW_QUANTITY_COMPONENTS];
    for (int k = 0; k < order->quantity_count; k++) {
        const int entry = order->entries[k];
        const lw_state_quantity *quantity = &values->quantities[entry - named];
        if (!order->again[k]) lw_quantity_vector(model, data, source, quantity, vector);
        computed[entry] = vector[quantity->component];
    }
    for (int k = order->quantity_count; k < order->count; k++) {
        const int entry = order->entries[k];
        if (entry >= given || isnan(computed[entry]))
            computed[entry] =
                lw_function_value_held(values->functions[entry], &t, computed, lw_held_value(data, entry));
    }
}

void lw_state_rates(const lw_model *model, lw_data *data, double t, double *rates) {
    const lw_values *values = &model->values;
    lw_values_compute(model, data, t, NULL, &values->for_rates);
    for (int k = 0; k < values->state_count; k++) {
        const int entry = values->input_count + k;
        rates[k] =
            lw_function_value_held(values->functions[entry], &t, data->computed, lw_held_value(data, entry));
    }
}

void lw_motion_jets(const lw_model *model, lw_data *data, double t) {
    const lw_values *values = &model->values;
    const int inputs = values->input_count, given = inputs + values->state_count;
    const lw_jet time = {t, 1, 0};
    lw_values_compute(model, data, t, NULL, &values->for_motions);
    for (int k = 0; k < given; k++) data->jets[k] = (lw_jet){data->computed[k], 0, 0};
    for (int k = 0; k < values->moving_count; k++) {
        const int entry = inputs + values->moving[k];
        data->jets[entry].d = lw_function_value(values->functions[entry], &t, data->computed);
    }
    for (int k = 0; k < values->for_motions.count; k++) {
        const int entry = values->for_motions.entries[k];
        if (entry >= given)
            data->jets[entry] = lw_function_jet_along(values->functions[entry], &time, data->jets);
    }
    for (int k = 0; k < values->mover_count; k++) { /* The rates depend on nothing that this changes. */
        const int entry = inputs + values->moving[k];
        data->jets[entry].dd = lw_function_jet_along(values->functions[entry], &time, data->jets).d;
    }
}

unsigned lw_outputs_need(const lw_model *model) {
    unsigned needs = 0;
    for (int k = 0; k < model->output_names.count; k++) needs |= model->outputs[k].needs;
    return needs;
}

bool lw_outputs_use_work(const lw_model *model, int force) {
    const lw_values *values = &model->values; /* Nothing but outputs may use works. */
    for (int k = 0; k < values->quantity_count; k++)
        if (values->quantities[k].needs & LW_NEEDS_WORK && values->quantities[k].object == force) return true;
    return false;
}

void lw_outputs_compute(const lw_model *model, lw_data *data, const lw_quantity_source *source, int first,
                        int end, double *out) {
    lw_values_compute(model, data, source->t, source, &model->values.for_all);
    for (int k = first; k < end; k++)
        out[k - first] = lw_function_value(model->outputs[k].function, &source->t, data->computed);
}

/* record_expression.c - an expression of quantities, parameters, inputs, user states and signals as a column
 * of a results file: what an output of the model would be.
 *
 * Its vector of values is [ inputs | user states | signals | its own quantities ]; the first three are those
 * of the model (model/signals.h). Cost of a value: that of its quantities and, if the model has signals, of
 * all of these.
 */
#include "io/results/record_expression.h"
#include "model/signals.h"

#include <math.h>
#include <string.h>

enum { MOST_QUANTITIES = 64 };

typedef struct finding {
    const lw_model *model;
    lw_record_expression *expression;
    int named;
} finding;

/* lw_quantity_finder: each quantity has one entry, however often it is used. */
static size_t find(void *context, const char *text, int *value, lw_meaning *measure, lw_syntax *syntax) {
    finding *f = context;
    lw_record_expression *e = f->expression;
    lw_state_quantity quantity = {0};
    const size_t length = lw_quantity_find(f->model, text, &quantity, syntax);
    if (length == 0) return 0;
    int k = 0;
    while (k < e->quantity_count && !(lw_quantity_same_vector(&e->quantities[k], &quantity) &&
                                      e->quantities[k].component == quantity.component))
        k++;
    if (k == e->quantity_count) {
        if (e->quantity_count == MOST_QUANTITIES) {
            if (syntax) *syntax = (lw_syntax){.message = "an expression of more than 64 quantities"};
            return 0;
        }
        e->quantities[e->quantity_count++] = quantity;
        e->needs |= quantity.needs;
    }
    *measure = quantity.meaning;
    *value = f->named + k;
    return length;
}

bool lw_record_expression_compile(const lw_model *model, const char *text, lw_arena *arena,
                                  lw_record_expression *expression, lw_syntax *syntax) {
    static const char *const time[] = {"t"};
    const lw_values *own = &model->values;
    const int named = own->input_count + own->state_count + own->signal_count;
    const int parameters = model->parameter_names.count;
    lw_constant *constants = LW_NEW(arena, lw_constant, parameters + 1);
    lw_constant *values = LW_NEW(arena, lw_constant, named + 1);
    *syntax = (lw_syntax){0};
    *expression = (lw_record_expression){.text = lw_arena_text(arena, text)};
    expression->quantities = LW_NEW(arena, lw_state_quantity, MOST_QUANTITIES);
    expression->values = LW_NEW(arena, double, named + MOST_QUANTITIES);
    if (lw_arena_failed(arena)) return false;
    expression->own = expression->values + named;
    for (int k = 0; k < parameters; k++)
        constants[k] =
            (lw_constant){.name = model->parameter_names.names[k], .value = model->parameter_values[k]};
    for (int k = 0; k < own->input_count; k++) values[k].name = model->input_names.names[k];
    for (int k = 0; k < own->state_count; k++) values[own->input_count + k].name = own->state_names.names[k];
    for (int k = 0; k < own->signal_count; k++)
        values[own->input_count + own->state_count + k].name = own->signal_names.names[k];
    finding f = {model, expression, named};
    const lw_expression_names names = {.constants = constants,
                                       .constant_count = (size_t)parameters,
                                       .variables = time,
                                       .variable_count = 1,
                                       .inputs = values,
                                       .input_count = (size_t)own->input_count,
                                       .state_count = (size_t)own->state_count,
                                       .signal_count = (size_t)own->signal_count,
                                       .find_quantity = find,
                                       .find_context = &f};
    expression->function = lw_function_compile(arena, text, &names, syntax);
    if (named > 0) expression->needs |= LW_NEEDS_KINEMATICS; /* Signals may need anything. */
    for (int k = 0; k < own->quantity_count && named > 0; k++) expression->needs |= own->quantities[k].needs;
    return expression->function != NULL;
}

unsigned lw_record_input_needs(const lw_model *model) {
    const lw_values *own = &model->values;
    unsigned needs = 0;
    for (int k = 0; k < own->input_count; k++)
        if (isnan(model->input_defaults[k])) needs |= LW_NEEDS_KINEMATICS;
    for (int k = 0; k < own->quantity_count && needs; k++) needs |= own->quantities[k].needs;
    return needs;
}

double lw_record_expression_value(const lw_model *model, lw_data *data, const lw_quantity_source *source,
                                  const lw_record_expression *expression) {
    const lw_values *own = &model->values;
    const int named = own->input_count + own->state_count + own->signal_count;
    if (named > 0) {
        lw_values_compute(model, data, source->t, source, &own->for_all);
        memcpy(expression->values, data->computed, (size_t)named * sizeof *expression->values);
    }
    return lw_function_value(expression->function, &source->t, expression->values);
}

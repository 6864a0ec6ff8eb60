/* simulation_parameters.c - parameters that change while the mechanism moves.
 *
 * The model is constant and shared, so that new values make another model of the same layout
 * (model/kept_spec.c), for which method and integrator are created again; the state stays. The result depends
 * on the values alone, not on the order in which they were set: the spec is always made from the caller's,
 * with those parameters set that differ. What the change adds to the potential energy is booked as work of
 * forces.
 *
 * Cost     compiling the model and creating the method; allocates.
 */
#include "model/kept_spec.h"
#include "model/spec/parameter_use.h"
#include "simulation/simulation_parts.h"
#include "formulations/common/method_create.h"

#include <math.h>
#include <string.h>

static lw_status set_one(lw_spec *spec, size_t index, double value, lw_error *error) {
    lw_status status = lw_parameter_enters_forces_only(spec, index, error);
    return status == LW_OK ? lw_spec_set_parameter(spec, spec->parameters[index].name, value, error) : status;
}

/* The caller's spec with these values. Parameters that others depend on come first, as in evaluation. */
static lw_status spec_with(const lw_simulation *s, const double *values, lw_spec **spec, lw_error *error) {
    lw_status status = lw_model_kept_spec(s->plan.model, spec, error);
    for (size_t r = 0; status == LW_OK && r < (*spec)->parameter_count; r++) {
        const size_t k = (*spec)->parameters[r].evaluated;
        if ((*spec)->parameters[k].value != values[k]) status = set_one(*spec, k, values[k], error);
    }
    return status;
}

/* Brings the room for the method's decisions to the size that this method needs. */
static bool fit_anchor(lw_simulation *s, lw_method *method) {
    lw_archive archive = {.mode = LW_ARCHIVE_MEASURE};
    if (s->plan.formulation->archive) s->plan.formulation->archive(method, &archive);
    if (archive.used > s->anchor.decided_size) {
        unsigned char *room = LW_NEW(s->arena, unsigned char, archive.used);
        if (!room) return false;
        s->anchor.decided = room;
    }
    s->anchor.decided_size = archive.used;
    return true;
}

/* Goes on with another model of the same layout. */
static lw_status exchange(lw_simulation *s, lw_model *tuned, lw_error *error) {
    const lw_formulation *f = s->plan.formulation;
    const lw_model *model = tuned ? tuned : s->plan.model;
    const lw_energy had = lw_simulation_energy(s);
    lw_method *method = NULL;
    lw_data *data = NULL;
    lw_checked *checked = lw_checked_create(model);
    lw_status status = checked ? lw_data_create(model, s->allocator, &data) : LW_ERROR_MEMORY;
    if (status != LW_OK) (void)lw_out_of_memory(error);
    const lw_switches switches = s->switches;
    if (status == LW_OK && !lw_simulation_switches_create(s, model)) status = lw_out_of_memory(error);
    lw_simulation_switches_offer(s);
    if (status == LW_OK) status = lw_method_create(f, model, &s->method_options, &method, error);
    if (status == LW_OK && method->state_size != s->method->state_size)
        status = lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "compile the changed spec, and start again",
                         "with this value method %s has a state of another size", f->name);
    if (status == LW_OK && !fit_anchor(s, method)) status = lw_out_of_memory(error);
    if (status != LW_OK) {
        s->switches = switches;
        lw_simulation_switches_offer(s);
        lw_method_destroy(method);
        lw_data_destroy(data);
        lw_checked_destroy(checked);
        lw_model_destroy(tuned);
        return status;
    }
    lw_simulation_retire_integrator(s);
    lw_simulation_jacobian_drop(s);
    lw_method_destroy(s->method);
    lw_data_destroy(s->data);
    lw_checked_destroy(s->checked);
    lw_passage_end(&s->passage);
    lw_model_destroy(s->tuned);
    s->tuned = tuned;
    s->model = model;
    s->span = lw_model_span(model, s->t);
    s->method = method;
    s->data = data;
    lw_simulation_follow_defaults(s);
    lw_data_set_values(model, s->data, s->inputs, s->states);
    s->checked = checked;
    const lw_effort effort = s->system.effort;
    lw_simulation_system_make(s);
    s->system.effort = effort;
    status = lw_simulation_take_roots(s, error);
    lw_watch_start(&s->watch, model);
    lw_passage_start(&s->passage, model, f);
    f->to_state(s->method, s->t, s->q, s->v, s->y);
    lw_ledger_jump(s, &had);
    s->stale = true;
    return status;
}

static lw_status compile_and_exchange(lw_simulation *s, const lw_spec *spec, lw_error *error) {
    lw_model *tuned;
    lw_status status = lw_model_compile_again(s->plan.model, spec, &tuned, error);
    return status == LW_OK ? exchange(s, tuned, error) : status;
}

static bool same_values(const lw_model *model, const double *values) {
    for (int k = 0; k < lw_model_parameter_count(model); k++)
        if (model->parameter_values[k] != values[k]) return false;
    return true;
}

lw_status lw_simulation_tune(lw_simulation *s, const double *values, lw_error *error) {
    if (same_values(s->model, values)) return LW_OK;
    if (same_values(s->plan.model, values)) return exchange(s, NULL, error);
    lw_spec *spec;
    lw_status status = spec_with(s, values, &spec, error);
    if (status == LW_OK) status = compile_and_exchange(s, spec, error);
    lw_spec_destroy(spec);
    return status;
}

lw_status lw_simulation_set_parameter(lw_simulation *s, int parameter, double value, lw_error *error) {
    if (!s) return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL, "there is no simulation");
    const int count = lw_model_parameter_count(s->model);
    if (parameter < 0 || parameter >= count || !isfinite(value))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "lw_model_parameter finds the number of a name",
                       "parameter %d of %d cannot be set to %g", parameter, count, value);
    if (s->model->parameter_values[parameter] == value) return LW_OK;
    lw_spec *spec;
    lw_status status = spec_with(s, s->model->parameter_values, &spec, error);
    if (status == LW_OK) status = set_one(spec, (size_t)parameter, value, error);
    if (status == LW_OK) status = compile_and_exchange(s, spec, error);
    lw_spec_destroy(spec);
    return status;
}

double lw_simulation_parameter(const lw_simulation *s, int parameter) {
    return s ? lw_model_parameter_value(s->model, parameter) : NAN;
}

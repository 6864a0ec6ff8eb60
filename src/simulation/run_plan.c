/* run_plan.c - decisions made once for a run: assembled start, method, integrator, completed options.
 *
 * The order matters: invalid names and numbers are refused before anything is computed, the start is
 * assembled before methods are tried on it, and the integrator is checked against the functions that the
 * method offers.
 */
#include "simulation/singularity_monitor.h"
#include "simulation/run_plan.h"
#include "simulation/choice/method_auto.h"
#include "simulation/run_options.h"

#include <stdio.h>
#include <string.h>

static const double default_tolerance = 1e-8;

static bool is_automatic(const char *name) { return !name || strcmp(name, "auto") == 0; }

static lw_status choose_start(lw_run_plan *plan, lw_error *error) {
    const lw_model *model = plan->model;
    const lw_run_options *options = &plan->options;
    /* The caller may give and take the state in the same arrays. */
    lw_model_initial_state(model, options->q ? NULL : plan->q, options->v ? NULL : plan->v);
    if (options->q) memmove(plan->q, options->q, (size_t)model->nq * sizeof *plan->q);
    if (options->v) memmove(plan->v, options->v, (size_t)model->nv * sizeof *plan->v);
    plan->options.q = plan->q, plan->options.v = plan->v;
    plan->assembly.moved_joint = plan->assembly.changed_joint = -1;
    if (options->as_given) return LW_OK;
    return lw_assemble(model, options->start, plan->q, plan->v, &plan->assembly, error);
}

static lw_status choose_method(lw_run_plan *plan, lw_error *error) {
    const lw_method_choice_state at = {plan->options.start, plan->q, plan->v};
    return lw_method_choose_at(plan->options.method, plan->model, &at, &plan->formulation, plan->why,
                               sizeof plan->why, error);
}

/* The start in plan->q and plan->v, and the method unless nobody wants to know. A method that was named is
 * refused before anything is computed. */
static lw_status choose_start_and_method(lw_run_plan *plan, bool method, lw_error *error) {
    const lw_run_options *options = &plan->options;
    /* Only one method can fulfil these requests, which therefore choose it. */
    const bool asked = is_automatic(options->method) && (options->independent || options->reactions);
    if (asked) plan->options.method = "partition";
    const bool automatic = is_automatic(plan->options.method);
    lw_status status = method && !automatic ? choose_method(plan, error) : LW_OK;
    if (status == LW_OK) status = choose_start(plan, error);
    if (status == LW_OK && method && automatic) status = choose_method(plan, error);
    if (asked)
        snprintf(plan->why, sizeof plan->why,
                 "no other method takes independent coordinates or a scheme for reactions");
    return status;
}

lw_status lw_run_start(const lw_model *model, const lw_run_options *options, double *q, double *v,
                       lw_assembly *assembly, const char **method, char *why, size_t size, lw_error *error) {
    if (!model || !options || !q || !v)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a model, options and places for q and v",
                       "the start of a run needs a model, options, q and v");
    lw_run_plan plan = {.model = model, .options = *options, .q = q, .v = v};
    lw_status status = choose_start_and_method(&plan, method || why, error);
    if (assembly) *assembly = plan.assembly;
    if (status != LW_OK) return status;
    if (method) *method = plan.formulation->name;
    if (why) snprintf(why, size, "%s", plan.why);
    return LW_OK;
}

lw_status lw_run_leads_on(const lw_model *model, const lw_run_options *options, const double *q,
                          const double *v, lw_error *error) {
    if (!model || !options || !q || !v)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a model, options, q and v",
                       "whether a motion leads on is asked of a model in a state");
    const lw_formulation *any = lw_formulation_find("lagrange");
    const lw_method_options method = {.states = options->states, .inputs = options->inputs};
    lw_passage passage;
    lw_passage_start(&passage, model, any);
    const lw_status status = lw_passage_begin(&passage, model, &method, options->start, q, v, error);
    lw_passage_end(&passage);
    return status;
}

static lw_status choose_method_options(lw_run_plan *plan, lw_error *error) {
    const lw_formulation *f = plan->formulation;
    lw_method_options *options = &plan->method_options;
    *options = (lw_method_options){.penalty = plan->options.penalty};
    lw_status status = lw_run_drift(plan->options.drift, options, error);
    if (status == LW_OK) status = lw_run_method_options(&plan->options, f, options, error);
    if (status != LW_OK) return status;
    if (options->drift == LW_DRIFT_CLOSED && !f->closing)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "choose --drift project, or --method partition",
                       "method %s has no closing conditions for drift control \"closed\"", f->name);
    if (options->drift == LW_DRIFT_BAUMGARTE && f->no_baumgarte &&
        lw_model_loop_count(plan->model) + lw_model_constraint_count(plan->model) > 0)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL,
                       "choose --drift project, or --method cut or lagrange",
                       "method %s has no terms for drift control \"baumgarte\"", f->name);
    const bool by_residual = plan->integrator->needs_residual;
    if (plan->options.force && (f->no_force || by_residual))
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL,
                       "leave the choice to auto, or write the force into the model",
                       "%s %s cannot take a force of the caller's own", by_residual ? "integrator" : "method",
                       by_residual ? plan->integrator->name : f->name);
    return LW_OK;
}

static lw_status choose_integrator(lw_run_plan *plan, lw_error *error) {
    const lw_run_options *options = &plan->options;
    const lw_formulation *f = plan->formulation;
    lw_status status = lw_run_find_integrator(lw_run_integrator(options), &plan->integrator, error);
    if (status != LW_OK) return status;
    const lw_integrator *integrator = plan->integrator;
    plan->automatic = is_automatic(options->integrator);
    const char *lacks = integrator->needs_residual && !f->residual ? "a residual"
                        : integrator->needs_step && !f->step       ? "a step of its own"
                        : !integrator->needs_residual && !integrator->needs_step && !f->derivative
                            ? "a derivative"
                            : NULL;
    if (lacks)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "choose another integrator or another method",
                       "integrator %s needs %s, which method %s does not offer", integrator->name, lacks,
                       f->name);
    if (integrator->fixed_step && !(options->step > 0))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give --step, or an adaptive integrator such as erk",
                       "integrator %s works with a fixed step, and none is given", integrator->name);
    plan->by_step = lw_integrator_by_step(integrator->name, options);
    /* An adaptive integrator at rest would step over a pulse that comes later. */
    double step = options->step;
    if (!(step > 0) && plan->model->depends_on_time) step = (options->end - options->start) / 200;
    double tolerance = options->tolerance > 0 ? options->tolerance : plan->by_step ? 0 : default_tolerance;
    plan->integrator_options = (lw_integrator_options){step, tolerance};
    return LW_OK;
}

lw_status lw_run_plan_make(const lw_model *model, const lw_run_options *options, lw_arena *arena,
                           lw_run_plan *plan, lw_error *error) {
    *plan = (lw_run_plan){.model = model, .options = *options};
    plan->q = LW_NEW(arena, double, model->nq + 1);
    plan->v = LW_NEW(arena, double, model->nv + 1);
    if (lw_arena_failed(arena)) return lw_out_of_memory(error);
    lw_status status = lw_run_check_options(options, error);
    if (status == LW_OK) status = choose_start_and_method(plan, true, error);
    if (status != LW_OK) return status;
    plan->options.method = plan->formulation->name;
    plan->options.independent = lw_arena_text(arena, options->independent);
    status = choose_integrator(plan, error);
    return status == LW_OK ? choose_method_options(plan, error) : status;
}

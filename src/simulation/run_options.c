/* run_options.c - the options of a run: defaults from the model, names of integrators, drift controls and
 * schemes, and their checks.
 */
#include "simulation/run_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double default_end = 10;

void lw_run_defaults(const lw_model *model, lw_run_options *options) {
    if (!options) return;
    *options = (lw_run_options){0};
    if (!model) return;
    const lw_run_spec *run = lw_model_run(model);
    options->method = run->method;
    options->integrator = run->integrator;
    options->drift = run->drift;
    options->baumgarte_alpha = run->baumgarte[0];
    options->baumgarte_beta = run->baumgarte[1];
    options->independent = run->independent;
    options->reactions = run->reactions;
    options->end = run->end > 0 ? run->end : default_end;
    options->step = run->step;
    options->tolerance = run->tolerance;
    options->output = run->output;
}

bool lw_integrator_by_step(const char *name, const lw_run_options *options) {
    if (!name || !options) return false;
    const lw_integrator *integrator = lw_integrator_find(name);
    return integrator &&
           (integrator->fixed_step || (integrator->either && options->step > 0 && !(options->tolerance > 0)));
}

lw_status lw_run_find_integrator(const char *name, const lw_integrator **integrator, lw_error *error) {
    *integrator = lw_integrator_find(name);
    if (*integrator) return LW_OK;
    const char *names[32];
    int count = lw_integrators_count() < 32 ? lw_integrators_count() : 32;
    char remedy[160] = "known are";
    for (int k = 0; k < count; k++) {
        names[k] = lw_integrator_at(k)->name;
        size_t used = strlen(remedy);
        snprintf(remedy + used, sizeof remedy - used, "%s %s", k ? "," : "", names[k]);
    }
    if (lw_integrator_left_out(name))
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, remedy,
                       "integrator \"%s\" is not part of linkwork-core", name);
    lw_did_you_mean(lw_closest(name, names, (size_t)count), remedy, sizeof remedy);
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL, remedy, "unknown integrator \"%s\"", name);
}

/* The number of a scheme for reactions; 0 if none is given, -1 if the name is unknown. */
static int scheme_of(const char *name) {
    static const char *const names[] = {"35", "37", "38"};
    static const int numbers[] = {35, 37, 38};
    for (int k = 0; name && k < 3; k++)
        if (strcmp(name, names[k]) == 0) return numbers[k];
    return name ? -1 : 0;
}

lw_status lw_run_check_options(const lw_run_options *o, lw_error *error) {
    if (!isfinite(o->start) || !isfinite(o->end) || !(o->end > o->start))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give an end after the start",
                       "a run from t = %g to t = %g is empty", o->start, o->end);
    if (o->step < 0 || !isfinite(o->step))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a positive number of seconds",
                       "step %g is not a step", o->step);
    if (o->tolerance < 0 || o->tolerance >= 1 || !isfinite(o->tolerance))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a number such as 1e-8",
                       "tolerance %g is not between 0 and 1", o->tolerance);
    if (o->output > 0 && (o->end - o->start) / o->output > 1e9)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a longer one",
                       "an output interval of %g s would give more than 1e9 samples", o->output);
    if (o->output < 0 || !isfinite(o->output))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a positive number of seconds",
                       "output interval %g is not positive", o->output);
    if (o->penalty < 0 || !isfinite(o->penalty))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a positive number such as 1e8",
                       "penalty %g is not a positive number", o->penalty);
    if (!(o->baumgarte_alpha >= 0) || !(o->baumgarte_beta >= 0) || !isfinite(o->baumgarte_alpha) ||
        !isfinite(o->baumgarte_beta))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give positive numbers of 1/s, such as 10 and 10",
                       "alpha %g and beta %g are not positive numbers", o->baumgarte_alpha,
                       o->baumgarte_beta);
    if (o->max_steps < 0)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a positive number, or 0 for the library's own",
                       "a limit of %ld steps is negative", o->max_steps);
    for (int k = 0; k < o->event_count; k++)
        if (!o->events || !o->events[k].value)
            return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give its value as a function of the state",
                           "event %d has no function", k);
    return scheme_of(o->reactions) >= 0
               ? LW_OK
               : lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give 35, 37 or 38, the equations of blajer1994",
                         "there is no scheme \"%s\" for reactions", o->reactions);
}

lw_status lw_run_method_options(const lw_run_options *o, const lw_formulation *f, lw_method_options *options,
                                lw_error *error) {
    if (o->baumgarte_alpha > 0) options->baumgarte_alpha = o->baumgarte_alpha;
    if (o->baumgarte_beta > 0) options->baumgarte_beta = o->baumgarte_beta;
    options->independent = o->independent;
    options->scheme = scheme_of(o->reactions);
    if (o->independent && !f->partitions)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "choose --method partition",
                       "method %s does not let its independent coordinates be chosen", f->name);
    if (o->reactions && !f->schemes)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "choose --method partition",
                       "method %s has only one scheme for its reactions", f->name);
    return LW_OK;
}

lw_status lw_run_drift(const char *name, lw_method_options *options, lw_error *error) {
    static const char *const names[] = {"project", "baumgarte", "none", "closed"};
    options->drift = LW_DRIFT_PROJECT, options->baumgarte_alpha = options->baumgarte_beta = 10;
    if (!name) return LW_OK;
    for (int k = 0; k < 4; k++)
        if (strcmp(name, names[k]) == 0) {
            options->drift = (lw_drift)k;
            return LW_OK;
        }
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "known are project, baumgarte, none, closed",
                   "unknown drift control \"%s\"", name);
}

lw_status lw_run_check(const lw_model *model, const lw_run_options *options, lw_error *error) {
    const lw_formulation *formulation;
    const lw_integrator *integrator;
    lw_method_options method_options = {0};
    if (!model || !options) return lw_call_needs("a model and options", error);
    lw_status status = lw_run_check_options(options, error);
    if (status == LW_OK) status = lw_run_drift(options->drift, &method_options, error);
    if (status == LW_OK) status = lw_run_find_integrator(lw_run_integrator(options), &integrator, error);
    if (status != LW_OK) return status;
    /* Applicability is checked by the run. */
    bool automatic = !options->method || strcmp(options->method, "auto") == 0;
    return automatic ? LW_OK : lw_formulation_named(options->method, &formulation, error);
}

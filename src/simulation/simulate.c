/* simulate.c - a whole run: a simulation that is advanced from sample to sample, its energy ledger and its
 * verdict.
 *
 * At each requested time the state is converted to joint coordinates, and the energies are computed from
 * them; energy_ledger.c keeps the books.
 *
 * Cost     per sample O(n).
 */
#define _POSIX_C_SOURCE 200809L
#include "simulation/simulation_parts.h"
#include "formulations/common/method_create.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A check costs about as much as ten evaluations, for accelerations, reactions and the balance. If the caller
 * does not request accelerations, it is made once in CHECK_EVERY evaluations of the integrator, and at both
 * ends of the run. */
enum { CHECK_EVERY = 250 };

/* Computes and checks the accelerations and reactions of the sample; those that are shown must pass. */
static lw_status check_sample(lw_simulation *s, double t, bool end, lw_error *error) {
    bool shown = s->vdot != NULL;
    if (!shown && s->plan.options.unchecked) return LW_OK;
    if (!shown && !end && s->system.effort.evaluations - s->checked_at < CHECK_EVERY) return LW_OK;
    s->checked_at = s->system.effort.evaluations;
    double amount = 0;
    lw_error reason = {0};
    lw_status status = lw_checked_accelerations(
        s->checked,
        &(lw_checked_state){s->method, &s->method_options, t, s->q, s->v,
                            lw_simulation_tau(s, t, s->q, s->v)},
        (lw_checked_answer){.vdot = s->vdot, .reactions = s->reactions, .amount = &amount}, &reason);
    lw_watch_balance(&s->watch, t, amount, lw_checked_effort(s->checked), status, &reason);
    if (!shown || status == LW_OK) return LW_OK;
    if (error) *error = reason;
    return status;
}

/* Outputs that have no value, such as the logarithm of what is negative, are told once each. */
static void tell_of_missing(lw_simulation *s, double t) {
    for (int k = 0; k < s->model->output_names.count; k++) {
        char text[320];
        if (isfinite(s->outputs[k]) || s->missed[k]) continue;
        s->missed[k] = true;
        snprintf(text, sizeof text,
                 "output \"%.80s\" is not finite at t = %.9g, and has no value in results where that is so; "
                 "look for a division by zero, or a root or logarithm of what is negative there",
                 s->model->output_names.names[k], t);
        lw_simulation_tell(t, "warning", text, s);
    }
}

lw_status lw_simulation_sample(lw_simulation *s, bool first, bool last, lw_error *error) {
    const lw_run_options *options = &s->plan.options;
    const lw_formulation *f = s->plan.formulation;
    lw_run_summary *summary = &s->summary;
    lw_ledger *ledger = &summary->ledger;
    const double t = s->t;
    memcpy(s->shown, s->q, (size_t)s->model->nq * sizeof *s->q);
    lw_simulation_ledger(s, ledger); /* This computes q and v. */
    /* Integrated joint coordinates keep the signs of their quaternions. Quaternions computed from poses get
     * the signs of the last sample, so that curves have no jumps. */
    if (f->coordinates != LW_COORDINATES_JOINT) lw_same_signs(s->model, s->shown, s->q);
    summary->energy_final = ledger->kinetic + ledger->potential;
    if (first) summary->energy_initial = s->initial.kinetic + s->initial.potential;
    summary->energy_max_drift = fmax(summary->energy_max_drift, fabs(ledger->unaccounted));
    double position = 0, velocity = 0;
    if (f->violation) {
        f->violation(s->method, lw_simulation_seen(s, t), s->y, &position, &velocity);
        summary->position_max = fmax(summary->position_max, position);
        summary->velocity_max = fmax(summary->velocity_max, velocity);
    }
    lw_watch_sample(&s->watch, t, ledger, position);
    summary->t_end = t;
    summary->samples++;
    lw_status status = lw_ledger_check(s, t, ledger, error);
    if (status == LW_OK) status = check_sample(s, lw_simulation_seen(s, t), first || last, error);
    if (status != LW_OK || !options->observe) return status;
    if (s->reactions && f->reactions && s->integrator->needs_step) {
        lw_method_step_reactions(s->method, t, s->reactions);
        lw_checked_share(s->checked, t, s->q, s->reactions);
    }
    const int outputs = s->model->output_names.count;
    if (outputs) {
        status = lw_simulation_compute_outputs(s, s->vdot, s->reactions, 0, outputs, s->outputs, error);
        if (status != LW_OK) return status;
        tell_of_missing(s, t);
    }
    const lw_sample shown = {.t = t,
                             .aside = lw_simulation_seen(s, t) - t,
                             .q = s->q,
                             .v = s->v,
                             .vdot = s->vdot,
                             .reactions = s->reactions,
                             .multipliers = s->reactions ? lw_checked_multipliers(s->checked) : NULL,
                             .inputs = s->inputs,
                             .model = s->model,
                             .states = s->model->values.state_count ? s->y + lw_simulation_own(s) : NULL,
                             .outputs = outputs ? s->outputs : NULL,
                             .ledger = ledger,
                             .works = s->work_count ? s->y + lw_simulation_works_at(s) : NULL,
                             .position_violation = position,
                             .velocity_violation = velocity,
                             .progress = (t - options->start) / (options->end - options->start)};
    if (!options->observe(&shown, options->context))
        return lw_fail(error, LW_ERROR_STOPPED, NULL, NULL, "stopped at t = %g", t);
    return LW_OK;
}

bool lw_simulation_sample_time(const lw_simulation *s, double begin, long k, double *t) {
    const lw_run_options *options = &s->plan.options;
    double interval = options->output > 0 ? options->output : (options->end - options->start) / 1000;
    /* A conserving scheme conserves at the ends of its steps, so that these are the samples. */
    if (!(options->output > 0) && s->integrator->needs_step && s->plan.by_step)
        interval = options->step * fmax(1, ceil(interval / options->step - 1e-9));
    *t = begin + (double)k * interval;
    const bool last = *t >= options->end - 1e-9 * interval;
    if (last) *t = options->end;
    return last;
}

static lw_status advance(lw_simulation *s, lw_error *error) {
    const double begin = s->t;
    lw_status status = lw_simulation_sample(s, true, false, error);
    for (long k = 1; status == LW_OK; k++) {
        double t;
        const bool last = lw_simulation_sample_time(s, begin, k, &t);
        status = lw_simulation_go(s, t, s->plan.options.end, error);
        if (status == LW_OK || status == LW_EVENT) {
            lw_status shown = lw_simulation_sample(s, false, last || status == LW_EVENT, error);
            if (shown != LW_OK) status = shown;
        }
        if (last) break;
    }
    return status;
}

static double wall_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Reports steps that were rejected in large numbers if the cause has not been reported. */
static void tell_of_rejections(lw_simulation *s, const lw_run_summary *summary) {
    if (s->told_jumps || summary->rejected < 1000 || 4 * summary->rejected < summary->steps) return;
    char text[160];
    snprintf(text, sizeof text,
             "%ld of %ld steps were rejected: does a force jump (sign, step without width)?",
             summary->rejected, summary->rejected + summary->steps);
    lw_simulation_tell(summary->t_end, "warning", text, s);
}

void lw_simulation_conclude(lw_simulation *s, lw_status status, lw_run_summary *summary) {
    lw_run_summary told;
    const double t_end = s->summary.t_end;
    lw_simulation_summary(s, &told);
    told.t_end = t_end;
    if (status == LW_OK) tell_of_rejections(s, &told);
    told.events = s->summary.events;
    const lw_watch_limits limits = {s->plan.integrator_options.tolerance, told.steps, told.rejected};
    lw_watch_verdict(&s->watch, &limits, &told);
    *summary = told;
}

lw_status lw_simulation_run(lw_simulation *s, lw_run_summary *summary, lw_error *error) {
    if (!s) return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL, "there is no simulation");
    if (!(s->t < s->plan.options.end))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "create it with a later end, or use advance",
                       "the simulation stands at t = %.9g, and its run ends at %.9g", s->t,
                       s->plan.options.end);
    const double start = wall_clock();
    lw_status status = advance(s, error);
    lw_run_summary told;
    lw_simulation_conclude(s, status, &told);
    told.wall_s = wall_clock() - start;
    if (summary) *summary = told;
    return status;
}

lw_status lw_simulate(const lw_model *model, const lw_run_options *options, double *q, double *v,
                      lw_run_summary *summary, lw_error *error) {
    lw_run_summary own;
    if (!summary) summary = &own;
    *summary = (lw_run_summary){0};
    const double start = wall_clock();
    lw_simulation *simulation;
    lw_status status = lw_simulation_create(model, options, NULL, &simulation, error);
    if (status != LW_OK) return status;
    status = lw_simulation_run(simulation, summary, error);
    if (q) memcpy(q, simulation->q, (size_t)model->nq * sizeof *q);
    if (v) memcpy(v, simulation->v, (size_t)model->nv * sizeof *v);
    summary->wall_s = wall_clock() - start;
    lw_simulation_destroy(simulation);
    return status;
}

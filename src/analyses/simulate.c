/* simulate.c - a run: formulation, integrator, energy ledger, samples.
 *
 * The integrated vector is the formulation's state followed by the ledger's three integrals (work of drives,
 * work of forces, dissipation), which take no part in error control. At each requested time the state is
 * turned into joint coordinates, the energies are computed from them, and what the books do not explain is
 *
 *   unaccounted = (T + U) - (T0 + U0) - drives - forces + dissipation
 *
 * Cost     per sample O(n); memory is taken before the first step only.
 */
#define _POSIX_C_SOURCE 200809L
#include "analyses/choose.h"
#include "analyses/verdict.h"
#include "integrators/integrator.h"
#include <linkwork/assemble.h>
#include <linkwork/simulate.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double default_tolerance = 1e-8;
static const double default_end = 10;

void lw_run_defaults(const lw_model *model, lw_run_options *options) {
    const lw_run_spec *run = lw_model_run(model);
    *options = (lw_run_options){0};
    options->method = run->method;
    options->integrator = run->integrator;
    options->drift = run->drift;
    options->end = run->end > 0 ? run->end : default_end;
    options->step = run->step;
    options->tolerance = run->tolerance;
    options->output = run->output;
}

/* --- the system that integrators see -------------------------------------------------------------- */

typedef struct run_system {
    lw_system base;
    lw_method *method;
    bool *differential;
    /* A run that gets nowhere, e.g. into a pole of a prescribed motion, must end, and any when asked to. */
    const lw_run_options *options;
    long evaluations;
    double last_t; /* at the last look */
} run_system;

enum { LOOK_EVERY = 1000, HOPELESS_AFTER = 1000000 }; /* evaluations */

static lw_status look_around(run_system *system, double t, lw_error *error) {
    const lw_run_options *options = system->options;
    if (++system->evaluations % LOOK_EVERY) return LW_OK;
    if (options->interrupted && options->interrupted(options->context))
        return lw_fail(error, LW_ERROR_STOPPED, NULL, NULL, "stopped near t = %g", t);
    if (system->evaluations % HOPELESS_AFTER) return LW_OK;
    /* at this rate it would take longer than anyone waits */
    if (t - system->last_t < 1e-9 * (options->end - options->start))
        return lw_fail(error, LW_ERROR_INTEGRATION, NULL,
                       "something changes ever faster there: look at motions, forces and the last results",
                       "time stands still near t = %.9g: %d evaluations took it %.3g s further", t,
                       HOPELESS_AFTER, t - system->last_t);
    system->last_t = t;
    return LW_OK;
}

static void put_power(const lw_power *power, double *out) {
    out[0] = power->drives, out[1] = power->forces, out[2] = power->dissipation;
}

/* Names the joint of a rate that is not finite, if the state says which that is. */
static lw_status check_rates(const lw_method *method, double t, const double *ydot, lw_error *error) {
    const lw_model *model = method->model;
    for (int k = 0; k < method->state_size; k++) {
        if (isfinite(ydot[k])) continue;
        int speed = k - model->nq;
        if (method->formulation->coordinates != LW_COORDINATES_JOINT || speed < 0 || speed >= model->nv)
            return lw_fail(error, LW_ERROR_SINGULAR, NULL,
                           "look at the motions and forces of the model there",
                           "a rate of the state is not finite at t = %.9g", t);
        int i = model->body_count;
        while (model->links[i].v > speed) i--;
        const lw_joint_entry *joint = &model->joints[model->bodies[i].joint_index];
        return lw_fail_at(error, LW_ERROR_SINGULAR, model->file, joint->place, "joint", joint->name,
                          "look at the forces and motions that act there: is one infinite or undefined?",
                          "its acceleration is not finite at t = %.9g", t);
    }
    return LW_OK;
}

static lw_status system_derivative(lw_system *base, double t, const double *y, double *ydot,
                                   lw_error *error) {
    lw_method *method = ((run_system *)base)->method;
    lw_power power;
    lw_status status = look_around((run_system *)base, t, error);
    if (status == LW_OK) status = method->formulation->derivative(method, t, y, ydot, &power, error);
    if (status != LW_OK) return status;
    put_power(&power, ydot + method->state_size);
    return check_rates(method, t, ydot, error);
}

static lw_status system_residual(lw_system *base, double t, const double *y, const double *ydot,
                                 double *residual, lw_error *error) {
    lw_method *method = ((run_system *)base)->method;
    int n = method->state_size;
    lw_power power;
    lw_status status = look_around((run_system *)base, t, error);
    if (status == LW_OK) status = method->formulation->residual(method, t, y, ydot, residual, &power, error);
    if (status != LW_OK) return status;
    put_power(&power, residual + n);
    for (int k = 0; k < LW_POWERS; k++) residual[n + k] = ydot[n + k] - residual[n + k];
    return LW_OK;
}

static lw_status system_step(lw_system *base, double t, double h, const double *y, double *next,
                             lw_error *error) {
    lw_method *method = ((run_system *)base)->method;
    int n = method->state_size;
    lw_power work;
    lw_status status = look_around((run_system *)base, t, error);
    if (status == LW_OK) status = method->formulation->step(method, t, h, y, next, &work, error);
    if (status != LW_OK) return status;
    put_power(&work, next + n);
    for (int k = 0; k < LW_POWERS; k++) next[n + k] += y[n + k];
    return LW_OK;
}

static lw_status system_project(lw_system *base, double t, double *y, lw_error *error) {
    lw_method *method = ((run_system *)base)->method;
    return method->formulation->project(method, t, y, error);
}

static lw_status system_roots(lw_system *base, double t, const double *y, double *values, lw_error *error) {
    lw_method *method = ((run_system *)base)->method;
    return method->formulation->roots(method, t, y, values, error);
}

static lw_status system_cross(lw_system *base, double t, double *y, lw_error *error) {
    lw_method *method = ((run_system *)base)->method;
    lw_power work = {0};
    double booked[LW_POWERS];
    lw_status status = method->formulation->cross(method, t, y, &work, error);
    put_power(&work, booked);
    for (int k = 0; k < LW_POWERS; k++) y[method->state_size + k] += booked[k];
    return status;
}

static double system_stiffened(lw_system *base, bool mark) {
    lw_method *method = ((run_system *)base)->method;
    return method->formulation->stiffened(method, mark);
}

static void system_nearby(lw_system *base, bool on) {
    lw_method *method = ((run_system *)base)->method;
    method->formulation->nearby(method, on);
}

static void system_accepted(lw_system *base, double t, double h, int order) {
    const lw_run_options *options = ((run_system *)base)->options;
    options->step_taken(t, h, order, options->context);
}

/* --- a run ---------------------------------------------------------------------------------------- */

typedef struct run {
    const lw_model *model;
    const lw_run_options *options;
    const lw_formulation *formulation;
    const lw_integrator *integrator;
    lw_method *method;
    lw_integration *integration;
    lw_data *data;
    run_system system;
    double *y, *ydot, *q, *v;
    double *vdot, *reactions; /* of a sample, if asked for */
    lw_checked *checked;
    lw_method_options method_options;
    double tolerance; /* 0: fixed steps */
    long checked_at;  /* evaluations at the last check */
    lw_watch watch;
    lw_energy initial;
    lw_run_summary *summary;
} run;

const char *lw_run_integrator(const lw_run_options *options) {
    if (options->integrator && strcmp(options->integrator, "auto") != 0) return options->integrator;
    if (!(options->step > 0) || options->tolerance > 0) return "erk";
    const lw_formulation *f = options->method ? lw_formulation_find(options->method) : NULL;
    return f && f->integrator ? f->integrator : "rk4";
}

bool lw_integrator_by_step(const char *name, const lw_run_options *options) {
    const lw_integrator *integrator = lw_integrator_find(name);
    return integrator &&
           (integrator->fixed_step || (integrator->either && options->step > 0 && !(options->tolerance > 0)));
}

static void told(double t, const char *kind, const char *text, void *context) {
    run *r = context;
    r->summary->events++;
    if (r->options->event) r->options->event(t, kind, text, r->options->context);
}

static lw_status find_integrator(const char *name, const lw_integrator **integrator, lw_error *error) {
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
    const char *close = lw_closest(name, names, (size_t)count);
    if (close) snprintf(remedy, sizeof remedy, "did you mean \"%s\"?", close);
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL, remedy, "unknown integrator \"%s\"", name);
}

static lw_status choose_integrator(run *r, lw_error *error) {
    const lw_run_options *options = r->options;
    lw_status status = find_integrator(lw_run_integrator(options), &r->integrator, error);
    if (status != LW_OK) return status;
    const lw_formulation *f = r->formulation;
    const char *lacks = r->integrator->needs_residual && !f->residual ? "a residual"
                        : r->integrator->needs_step && !f->step       ? "a step of its own"
                        : !r->integrator->needs_residual && !r->integrator->needs_step && !f->derivative
                            ? "a derivative"
                            : NULL;
    if (lacks)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "choose another integrator or another method",
                       "integrator %s needs %s, which method %s does not offer", r->integrator->name, lacks,
                       f->name);
    if (r->integrator->fixed_step && !(options->step > 0))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give --step, or an adaptive integrator such as erk",
                       "integrator %s works with a fixed step, and none is given", r->integrator->name);
    return LW_OK;
}

static lw_status check_options(const lw_run_options *o, lw_error *error) {
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
                       "output interval %g is not an interval", o->output);
    if (o->penalty < 0 || !isfinite(o->penalty))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a positive number such as 1e8",
                       "penalty %g is not a penalty", o->penalty);
    return LW_OK;
}

static lw_status choose_drift(const char *name, lw_method_options *options, lw_error *error) {
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
    lw_status status = check_options(options, error);
    if (status == LW_OK) status = choose_drift(options->drift, &method_options, error);
    if (status == LW_OK) status = find_integrator(lw_run_integrator(options), &integrator, error);
    if (status != LW_OK) return status;
    (void)model; /* whatever the method says of it */
    bool automatic = !options->method || strcmp(options->method, "auto") == 0;
    return automatic ? LW_OK : lw_formulation_named(options->method, &formulation, error);
}

/* A check costs about as much as ten evaluations: accelerations, reactions and the balance, none of them by the fastest way.
 * Where nobody asked for accelerations it is made once in so many evaluations of the integrator, and at both ends. */
enum { CHECK_EVERY = 250 };

/* Accelerations and reactions of the sample, checked; those that are shown must have passed. */
static lw_status check_sample(run *r, double t, bool end, lw_error *error) {
    bool shown = r->vdot != NULL;
    if (!shown && !end && r->system.evaluations - r->checked_at < CHECK_EVERY) return LW_OK;
    r->checked_at = r->system.evaluations;
    double amount = 0;
    lw_error reason = {0};
    lw_status status = lw_checked_accelerations(r->checked, r->method, &r->method_options, t, r->q, r->v,
                                                NULL, r->vdot, r->reactions, NULL, &amount, &reason);
    lw_watch_balance(&r->watch, t, amount, status, &reason);
    if (!shown || status == LW_OK) return LW_OK;
    if (error) *error = reason;
    return status;
}

/* Turns y at time t into a sample, keeps the books and shows it to the observer. */
static lw_status sample(run *r, double t, bool first, bool last, lw_error *error) {
    const lw_run_options *options = r->options;
    lw_run_summary *s = r->summary;
    int n = r->method->state_size;
    r->formulation->from_state(r->method, t, r->y, r->q, r->v);
    lw_energy energy = r->formulation->energy ? r->formulation->energy(r->method, t, r->y)
                                              : lw_energy_of(r->model, r->data, t, r->q, r->v);
    if (first) {
        r->initial = energy;
        s->energy_initial = energy.kinetic + energy.potential;
    }
    const double *books = r->y + n;
    lw_ledger *ledger = &s->ledger;
    *ledger = (lw_ledger){energy.kinetic, energy.potential, books[0], books[1], books[2], 0};
    ledger->unaccounted = (energy.kinetic - r->initial.kinetic) + (energy.potential - r->initial.potential) -
                          books[0] - books[1] + books[2];
    s->energy_final = energy.kinetic + energy.potential;
    s->energy_max_drift = fmax(s->energy_max_drift, fabs(ledger->unaccounted));
    double position = 0, velocity = 0;
    if (r->formulation->violation) {
        r->formulation->violation(r->method, t, r->y, &position, &velocity);
        s->position_max = fmax(s->position_max, position);
        s->velocity_max = fmax(s->velocity_max, velocity);
    }
    lw_watch_sample(&r->watch, t, ledger, position);
    s->t_end = t;
    s->samples++;
    if (!isfinite(ledger->unaccounted))
        return lw_fail(error, LW_ERROR_INTEGRATION, NULL, "try a smaller step or an adaptive integrator",
                       "the state is no longer finite at t = %g", t);
    lw_status status = check_sample(r, t, first || last, error);
    if (status != LW_OK || !options->observe) return status;
    if (r->reactions && r->formulation->reactions && r->integrator->needs_step)
        r->formulation->reactions(r->method, t, r->reactions);
    const lw_sample shown = {.t = t,
                             .q = r->q,
                             .v = r->v,
                             .vdot = r->vdot,
                             .reactions = r->reactions,
                             .ledger = ledger,
                             .position_violation = position,
                             .velocity_violation = velocity,
                             .progress = (t - options->start) / (options->end - options->start)};
    if (!options->observe(&shown, options->context))
        return lw_fail(error, LW_ERROR_STOPPED, NULL, NULL, "stopped at t = %g", t);
    return LW_OK;
}

static lw_status prepare(run *r, lw_error *error) {
    const lw_run_options *options = r->options;
    const lw_model *model = r->model;
    lw_method_options method_options = {.penalty = options->penalty, .note = told, .note_context = r};
    lw_status status = choose_drift(options->drift, &method_options, error);
    if (status != LW_OK) return status;
    if (method_options.drift == LW_DRIFT_CLOSED && !r->formulation->closing)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "choose --drift project, or --method partition",
                       "method %s has no closing conditions for drift control \"closed\"",
                       r->formulation->name);
    if (method_options.drift == LW_DRIFT_BAUMGARTE && r->formulation->no_baumgarte &&
        lw_model_loop_count(model) + lw_model_constraint_count(model) > 0)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL,
                       "choose --drift project, or --method cut or lagrange",
                       "method %s has no terms for drift control \"baumgarte\"", r->formulation->name);
    status = r->formulation->create(model, &method_options, &r->method, error);
    if (status != LW_OK) return status;
    r->method_options = method_options;
    r->checked = lw_checked_create(model);
    lw_watch_start(&r->watch, model);
    size_t n = (size_t)r->method->state_size + LW_POWERS;
    r->y = calloc(n, sizeof(double));
    r->ydot = calloc(n, sizeof(double));
    r->q = calloc((size_t)lw_model_q_size(model) + 1, sizeof(double));
    r->v = calloc((size_t)lw_model_v_size(model) + 1, sizeof(double));
    r->system.differential = calloc(n, sizeof(bool));
    bool accelerations = options->want_accelerations || options->want_reactions;
    if (accelerations) r->vdot = calloc((size_t)lw_model_v_size(model) + 1, sizeof(double));
    if (options->want_reactions)
        r->reactions = calloc(6 * (size_t)lw_model_joint_count(model) + 1, sizeof(double));
    if ((accelerations && !r->vdot) || (options->want_reactions && !r->reactions) || !r->y || !r->ydot ||
        !r->q || !r->v || !r->checked || !r->system.differential ||
        lw_data_create(model, NULL, &r->data) != LW_OK)
        return lw_out_of_memory(error);
    lw_model_initial_state(model, r->q, r->v);
    if (options->q) memcpy(r->q, options->q, (size_t)lw_model_q_size(model) * sizeof(double));
    if (options->v) memcpy(r->v, options->v, (size_t)lw_model_v_size(model) * sizeof(double));

    if (!options->as_given) status = lw_assemble(model, options->start, r->q, r->v, NULL, error);
    if (status != LW_OK) return status;

    const lw_formulation *f = r->formulation;
    lw_system *system = &r->system.base;
    r->system.method = r->method;
    r->system.options = options;
    r->system.last_t = -HUGE_VAL;
    system->size = (int)n;
    /* Where motions are prescribed the state may be smooth, even exact, while the drives' power is not: then
     * the books are under error control too. */
    system->quadratures = model->motion_count ? 0 : LW_POWERS;
    system->derivative = f->derivative ? system_derivative : NULL;
    system->residual = f->residual ? system_residual : NULL;
    system->step = f->step ? system_step : NULL;
    system->project = f->project ? system_project : NULL;
    system->accepted = options->step_taken ? system_accepted : NULL;
    system->fickle = f->fickle;
    system->stiffened = f->stiffened ? system_stiffened : NULL;
    system->nearby = f->nearby ? system_nearby : NULL;
    if (f->differential) {
        f->differential(r->method, r->system.differential);
        for (int k = 0; k < LW_POWERS; k++) r->system.differential[n - 1 - (size_t)k] = true;
        system->differential = r->system.differential;
    }
    f->to_state(r->method, options->start, r->q, r->v, r->y);
    if (f->cross && !r->integrator->needs_step) {
        system->root_count = f->root_count(r->method);
        system->roots = system_roots, system->cross = system_cross;
        if (system->root_count) status = f->cross(r->method, options->start, r->y, NULL, error);
        if (status != LW_OK) return status;
    }
    if (f->project) status = f->project(r->method, options->start, r->y, error);
    if (status == LW_OK && f->derivative)
        status = system_derivative(system, options->start, r->y, r->ydot, error);
    if (status != LW_OK) return status;
    /* An adaptive integrator at rest would step over a pulse that comes later. */
    double step = options->step;
    if (!(step > 0) && model->depends_on_time) step = (options->end - options->start) / 200;
    double tolerance = options->tolerance > 0                                ? options->tolerance
                       : lw_integrator_by_step(r->integrator->name, options) ? 0
                                                                             : default_tolerance;
    r->tolerance = tolerance;
    const lw_integrator_options integrator_options = {step, tolerance};
    return r->integrator->create(system, &integrator_options, options->start, r->y,
                                 f->derivative ? r->ydot : NULL, &r->integration, error);
}

static lw_status advance(run *r, lw_error *error) {
    const lw_run_options *options = r->options;
    double span = options->end - options->start;
    double interval = options->output > 0 ? options->output : span / 1000;
    /* A scheme that conserves is best seen at the ends of its steps. */
    if (!(options->output > 0) && r->integrator->needs_step &&
        lw_integrator_by_step(r->integrator->name, options))
        interval = options->step * fmax(1, ceil(interval / options->step - 1e-9));
    lw_status status = sample(r, options->start, true, false, error);
    for (long k = 1; status == LW_OK; k++) {
        double t = options->start + (double)k * interval;
        bool last = t >= options->end - 1e-9 * interval;
        if (last) t = options->end;
        status = r->integrator->advance(r->integration, t, options->end, r->y, error);
        if (status == LW_OK) status = sample(r, t, false, last, error);
        if (last) break;
    }
    return status;
}

static double wall_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

lw_status lw_simulate(const lw_model *model, const lw_run_options *options, double *q, double *v,
                      lw_run_summary *summary, lw_error *error) {
    lw_run_summary own;
    if (!summary) summary = &own;
    *summary = (lw_run_summary){0};
    run r = {.model = model, .options = options, .summary = summary};
    double start = wall_clock();
    lw_status status = check_options(options, error);
    const lw_choice_state start_state = {options->start, options->q, options->v};
    const bool given = options->as_given && options->q && options->v;
    if (status == LW_OK)
        status =
            lw_choose_at(options->method, model, given ? &start_state : NULL, &r.formulation, NULL, 0, error);
    if (status == LW_OK) status = choose_integrator(&r, error);
    if (status == LW_OK) {
        summary->method = r.formulation->name;
        summary->integrator = r.integrator->name;
        status = prepare(&r, error);
    }
    if (status == LW_OK) status = advance(&r, error);
    if (r.integration) {
        lw_integrator_statistics statistics;
        r.integrator->statistics(r.integration, &statistics);
        summary->steps = statistics.steps;
        summary->evaluations = statistics.evaluations;
        summary->rejected = statistics.rejected;
        r.integrator->destroy(r.integration);
    }
    const lw_watch_limits limits = {r.tolerance, summary->steps, summary->rejected};
    if (r.watch.model) lw_watch_verdict(&r.watch, &limits, summary);
    if (r.q && q) memcpy(q, r.q, (size_t)lw_model_q_size(model) * sizeof *q);
    if (r.v && v) memcpy(v, r.v, (size_t)lw_model_v_size(model) * sizeof *v);
    if (r.method) r.formulation->destroy(r.method);
    lw_data_destroy(r.data);
    lw_checked_destroy(r.checked);
    free(r.y), free(r.ydot), free(r.q), free(r.v), free(r.vdot), free(r.reactions),
        free(r.system.differential);
    summary->wall_s = wall_clock() - start;
    return status;
}

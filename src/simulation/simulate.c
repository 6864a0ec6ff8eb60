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
#include "simulation/stiff_cause.h"
#include "simulation/method_auto.h"
#include "simulation/progress_monitor.h"
#include "simulation/singularity_monitor.h"
#include "simulation/run_options.h"
#include "simulation/stiffness.h"
#include "simulation/verdict.h"
#include "integrators/integrator.h"
#include <linkwork/assemble.h>
#include <linkwork/simulate.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const double default_tolerance = 1e-8;

typedef struct run run;

/* --- the system that integrators see -------------------------------------------------------------- */

typedef struct run_system {
    lw_system base;
    lw_method *method;
    bool *differential;
    run *run;
    lw_effort effort;
    /* evaluations before effort is looked at, and the one at hand: */
    double *states[LW_EFFORT_STATES], times[LW_EFFORT_STATES];
} run_system;

struct run {
    const lw_model *model;
    const lw_run_options *options;
    const lw_formulation *formulation;
    lw_method_options method_options;
    const lw_integrator *integrator;
    lw_integrator_options integrator_options;
    lw_method *method;
    lw_integration *integration;
    lw_integrator_statistics before; /* of integrators before this one */
    lw_data *data;
    run_system system;
    lw_arena *arena;
    double *y, *ydot, *q, *v;
    double *shown;            /* q of the sample before */
    double *vdot, *reactions; /* of a sample, if asked for */
    double *work;             /* 4 numbers per state */
    lw_checked *checked;
    long checked_at; /* evaluations at the last check */
    lw_watch watch;
    lw_passage passage;
    lw_energy initial;
    double lowest, worked;           /* potential energy so far; work that was given, the largest so far */
    bool automatic;                  /* nobody has named the integrator */
    bool warned;                     /* of stiffness */
    bool told_jumps;                 /* and of steps rejected at jumps */
    lw_integrator_statistics looked; /* at the last look */
    const lw_integrator *next;       /* goes on from next_y at next_t */
    double next_t, *next_y;
    lw_run_summary *summary;
};

enum { LOOK_EVERY = 1000 }; /* evaluations, times bodies */

static void told(double t, const char *kind, const char *text, void *context) {
    run *r = context;
    r->summary->events++;
    if (r->options->event) r->options->event(t, kind, text, r->options->context);
}

static void find_cause(run_system *system, lw_cause *cause) {
    const run *r = system->run;
    lw_find_cause(r->model, r->formulation, &r->method_options, LW_EFFORT_STATES, system->times,
                  (const double *const *)system->states, cause);
}

/* A run that does not come to an end: what makes its steps so short? */
static lw_status no_end(run_system *system, double t, const double *y, lw_error *error) {
    run *r = system->run;
    const lw_effort *effort = &system->effort;
    lw_cause cause;
    char grown[80] = "";
    find_cause(system, &cause);
    r->formulation->from_state(r->method, t, y, r->q, r->v);
    lw_energy now = lw_energy_of(r->model, r->data, t, r->q, r->v);
    double at_first = r->initial.kinetic + r->initial.potential, at_last = now.kinetic + now.potential;
    const bool blown = !(fabs(at_last - at_first) < 1e3 * (fabs(at_first) + 1));
    if (blown)
        snprintf(grown, sizeof grown, "; the energy has gone from %.3g J to %.3g J", at_first, at_last);
    const char *remedy =
        cause.jumps
            ? "let it change over a finite width, e.g. tanh(v/0.01) for sign(v), or `smoothing` of friction"
        : r->warned && !r->automatic ? "take --integrator bdf: the model is stiff"
        : blown ? "look for a force that feeds energy, such as a negative damping, and for wrong units"
        : cause.element
            ? "look at its stiffness and damping, and at the mass that it acts on: units, powers of ten"
            : "look at the masses, lengths and forces that act there: units, powers of ten";
    lw_fail(error, LW_ERROR_INTEGRATION, cause.object[0] ? cause.object : NULL, remedy,
            "near t = %.9g steps of %s are %.2g s long, and a run until t = %g needs about %.2g of them, "
            "more than "
            "%.2g (--max-steps): %s%s",
            effort->t, r->integrator->name, effort->h, effort->end, effort->needs,
            effort->most > 0 ? effort->most : lw_effort_allowed(effort->end - effort->start),
            cause.text[0] ? cause.text : "what makes them so short is not known", grown);
    return LW_ERROR_INTEGRATION;
}

/* Steps that are rejected by the hundred have met something that jumps: says what, once. */
static void consider_jumps(run_system *system) {
    run *r = system->run;
    lw_integrator_statistics now;
    if (r->told_jumps || !r->integration) return;
    r->integrator->statistics(r->integration, &now);
    const long rejected = now.rejected - r->looked.rejected, steps = now.steps - r->looked.steps;
    r->looked = now;
    if (rejected < 1000 || rejected < steps / 4) return;
    lw_cause cause;
    find_cause(system, &cause);
    if (!cause.jumps) return;
    char text[320];
    r->told_jumps = true;
    snprintf(text, sizeof text,
             "%s jumps, and %ld of %ld steps were rejected for that; give it a finite width", cause.object,
             rejected, rejected + steps);
    told(system->effort.t, "warning", text, r);
}

static lw_status look_around(run_system *system, double t, const double *y, lw_error *error) {
    const lw_run_options *options = system->run->options;
    const lw_effort_answer answer = lw_effort_evaluated(&system->effort);
    const int place = lw_effort_nearly(&system->effort);
    if (place > 0 || answer != LW_EFFORT_COUNTED) {
        memcpy(system->states[place], y, (size_t)system->base.size * sizeof *y);
        system->times[place] = t;
    }
    const int every = LOOK_EVERY / (system->run->model->body_count + 1) + 1;
    if (system->effort.evaluations % every == 0 && options->interrupted &&
        options->interrupted(options->context))
        return lw_fail(error, LW_ERROR_STOPPED, NULL, NULL, "stopped near t = %g", t);
    if (answer == LW_EFFORT_SPENT)
        return lw_fail(error, LW_ERROR_INTEGRATION, NULL, "allow more (--max-steps), or give an earlier end",
                       "after %ld steps, all that are allowed, the run has come to t = %.9g of %g",
                       system->effort.steps, system->effort.t, options->end);
    if (answer == LW_EFFORT_LOOKED) consider_jumps(system);
    return answer == LW_EFFORT_HOPELESS ? no_end(system, t, y, error) : LW_OK;
}

static void put_power(const lw_power *power, double *out) {
    out[0] = power->drives, out[1] = power->forces, out[2] = power->dissipation;
}

/* Stages of a fixed step may lie where nothing can be: a foot deep in the ground, a damper that has only just
 * engaged. */
static const char *const fixed_steps = "fixed steps may be too long here: take an integrator that chooses "
                                       "them (erk, bdf), or shorter ones (--step)";

/* Squares of larger rates overflow in the norms of integrators. */
static const double largest_rate = 1e150;

/* Names the joint of a rate that is not finite or too large, if the state says which that is. */
static lw_status check_rates(const run_system *system, double t, const double *ydot, lw_error *error) {
    const lw_method *method = system->method;
    const lw_model *model = method->model;
    int k = 0;
    while (k < method->state_size && fabs(ydot[k]) < largest_rate) k++;
    if (k == method->state_size) return LW_OK;
    const char *remedy =
        system->effort.given && system->effort.steps > 0 ? fixed_steps
        : isfinite(ydot[k])
            ? "look at the forces and motions that act there, at masses and gravity: units, powers of ten"
            : "look at the forces and motions that act there: is one infinite or undefined?";
    int speed = k - model->nq;
    if (method->formulation->coordinates != LW_COORDINATES_JOINT || speed < 0 || speed >= model->nv)
        return lw_fail(error, LW_ERROR_SINGULAR, NULL, remedy, "a rate of the state is %.3g at t = %.9g",
                       ydot[k], t);
    int i = model->body_count;
    while (model->links[i].v > speed) i--;
    const lw_joint_entry *joint = &model->joints[model->bodies[i].joint_index];
    return lw_fail_at(error, LW_ERROR_SINGULAR, model->file, joint->place, "joint", joint->name, remedy,
                      isfinite(ydot[k]) ? "its acceleration is %.3g at t = %.9g, which nothing can follow"
                                        : "its acceleration is not finite (%g) at t = %.9g",
                      ydot[k], t);
}

static lw_status system_derivative(lw_system *base, double t, const double *y, double *ydot,
                                   lw_error *error) {
    run_system *system = (run_system *)base;
    lw_method *method = system->method;
    lw_power power;
    lw_status status = look_around(system, t, y, error);
    if (status != LW_OK) return status;
    status = method->formulation->derivative(method, t, y, ydot, &power, error);
    if (status == LW_ERROR_SINGULAR && error && system->effort.given && system->effort.steps > 0)
        snprintf(error->remedy, sizeof error->remedy, "%s", fixed_steps);
    if (status != LW_OK) return status;
    put_power(&power, ydot + method->state_size);
    return check_rates(system, t, ydot, error);
}

static lw_status system_residual(lw_system *base, double t, const double *y, const double *ydot,
                                 double *residual, lw_error *error) {
    lw_method *method = ((run_system *)base)->method;
    int n = method->state_size;
    lw_power power;
    lw_status status = look_around((run_system *)base, t, y, error);
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
    lw_status status = look_around((run_system *)base, t, y, error);
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

static void system_release(lw_system *base, double t) {
    lw_method *method = ((run_system *)base)->method;
    method->formulation->release(method, t);
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

/* --- stiffness ------------------------------------------------------------------------------------ */

/* Another instance of the method, so that the run does not notice what is tried. */
static lw_status try_stiffness(run *r, double t, const double *y, bool *stiff, lw_cause *cause) {
    const lw_formulation *f = r->formulation;
    const lw_effort *effort = &r->system.effort;
    const int n = r->system.base.size;
    run_system other = r->system;
    lw_method_options quiet = r->method_options;
    lw_error error = {0};
    quiet.note = NULL;
    *stiff = false;
    lw_status status = f->create(r->model, &quiet, &other.method, &error);
    if (status != LW_OK) return status;
    other.base.accepted = NULL;
    other.effort.given = true;
    double *state = r->work, *work = r->work + n;
    f->from_state(r->method, t, y, r->q, r->v);
    f->to_state(other.method, t, r->q, r->v, state);
    memcpy(state + other.method->state_size, y + other.method->state_size, LW_POWERS * sizeof *y);
    const double h = effort->step_mean, per_step = effort->evaluations_mean;
    const double border = 1; /* of h rho, whatever the direction: accuracy alone may stay below */
    if (h * lw_spectral_radius(&other.base, t, state, work) > border) {
        const double pays = 5, rest = per_step * (effort->end - t) / h;
        double most = fmin(fmax(200 * per_step, 1000 + 20.0 * n), rest / pays);
        double reach = t + pays * most / per_step * h;
        *stiff =
            lw_bdf_reaches(&other.base, &r->integrator_options, t, state, reach, effort->end, (long)most);
        /* work + n holds the state moved along the fastest motion */
        const double times[2] = {t, t}, *const states[2] = {state, work + n};
        if (*stiff) lw_find_cause(r->model, f, &r->method_options, 2, times, states, cause);
    }
    f->destroy(other.method);
    return LW_OK;
}

/* An event that is still to be crossed belongs to the integrator that has found it. */
static bool at_event(run *r, double t, const double *y) {
    lw_system *system = &r->system.base;
    lw_error error = {0};
    if (system->root_count <= 0) return false;
    if (system->root_count > 4 * system->size || system->roots(system, t, y, r->work, &error) != LW_OK)
        return true;
    for (int k = 0; k < system->root_count; k++)
        if (!(r->work[k] > 0)) return true;
    return false;
}

/* Where stability bounds the steps of erk and bdf does better: says so, and goes on by bdf if nobody has
 * asked for erk. */
static lw_status consider_stiffness(run *r, double t, const double *y, lw_error *error) {
    (void)error;
    if (r->warned || strcmp(r->integrator->name, "erk") != 0 || at_event(r, t, y)) return LW_OK;
    bool stiff;
    lw_cause cause = {0};
    if (try_stiffness(r, t, y, &stiff, &cause) != LW_OK || !stiff) return LW_OK;
    const lw_effort *effort = &r->system.effort;
    const double rest = (effort->end - t) / effort->step_mean;
    char text[256];
    r->warned = true;
    snprintf(text, sizeof text,
             "stiff%s%s: erk takes steps of %.2g s and would need about %.2g for the rest; %s",
             cause.object[0] ? " by " : "", cause.object, effort->step_mean, rest,
             r->automatic ? "bdf goes on" : "bdf is faster here (--integrator bdf)");
    told(t, r->automatic ? "integrator" : "warning", text, r);
    if (!r->automatic) return LW_OK;
    memcpy(r->next_y, y, (size_t)r->system.base.size * sizeof *y);
    r->next_t = t;
    r->next = lw_integrator_find("bdf");
    return LW_ERROR_STOPPED;
}

static lw_status system_accepted(lw_system *base, double t, double h, int order, const double *y,
                                 lw_error *error) {
    run *r = ((run_system *)base)->run;
    const lw_run_options *options = r->options;
    const bool time_to_look = lw_effort_stepped(&r->system.effort, t);
    if (options->step_taken) options->step_taken(t, h, order, options->context);
    if (lw_passage_due(&r->passage, h)) {
        r->formulation->from_state(r->method, t, y, r->q, r->v);
        lw_status status = lw_passage_look(&r->passage, r->model, t, r->q, r->v, error);
        if (status != LW_OK) return status;
    }
    return time_to_look ? consider_stiffness(r, t, y, error) : LW_OK;
}

/* --- a run ---------------------------------------------------------------------------------------- */

static lw_status choose_integrator(run *r, lw_error *error) {
    const lw_run_options *options = r->options;
    lw_status status = lw_run_find_integrator(lw_run_integrator(options), &r->integrator, error);
    if (status != LW_OK) return status;
    r->automatic = !options->integrator || strcmp(options->integrator, "auto") == 0;
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

/* A check costs about as much as ten evaluations: accelerations, reactions and the balance, none of them by
 * the fastest way. Where nobody asked for accelerations it is made once in so many evaluations of the
 * integrator, and at both ends. */
enum { CHECK_EVERY = 250 };

/* Accelerations and reactions of the sample, checked; those that are shown must have passed. */
static lw_status check_sample(run *r, double t, bool end, lw_error *error) {
    bool shown = r->vdot != NULL;
    if (!shown && r->options->unchecked) return LW_OK;
    if (!shown && !end && r->system.effort.evaluations - r->checked_at < CHECK_EVERY) return LW_OK;
    r->checked_at = r->system.effort.evaluations;
    double amount = 0;
    lw_error reason = {0};
    lw_status status = lw_checked_accelerations(r->checked, r->method, &r->method_options, t, r->q, r->v,
                                                NULL, r->vdot, r->reactions, NULL, &amount, &reason);
    lw_watch_balance(&r->watch, t, amount, lw_checked_effort(r->checked), status, &reason);
    if (!shown || status == LW_OK) return LW_OK;
    if (error) *error = reason;
    return status;
}

/* Energy cannot come from nowhere: what the motion had, what the potential has given off and what was worked
 * are all there is, but for dampers that feed. A motion with ten times that which the books do not explain is
 * no error of a step any more, but a run that has blown up. Where they are off by less, the verdict
 * judges. */
static lw_status check_energy(run *r, double t, const lw_ledger *ledger, lw_error *error) {
    r->lowest = fmin(r->lowest, ledger->potential);
    r->worked = fmax(r->worked, fmax(0, ledger->drives) + fmax(0, ledger->forces));
    const double had = r->initial.kinetic + (r->initial.potential - r->lowest) + r->worked;
    const double has = ledger->kinetic + (ledger->potential - r->lowest);
    const double nothing = 1e-3 + 1e-6 * fabs(r->initial.potential); /* J, at rest */
    if (isfinite(has) && (has <= 10 * had + nothing || fabs(ledger->unaccounted) < 0.1 * has)) return LW_OK;
    char remedy[160];
    if (lw_integrator_by_step(r->integrator->name, r->options))
        snprintf(remedy, sizeof remedy,
                 "the step %g s is too long for this model: give a shorter one (--step), or take an "
                 "integrator that "
                 "chooses it (erk, bdf)",
                 r->options->step);
    else
        snprintf(remedy, sizeof remedy, "give a smaller tolerance than %g (--tol)",
                 r->integrator_options.tolerance);
    return lw_fail(
        error, LW_ERROR_INTEGRATION, NULL, remedy,
        "the run by %s has blown up at t = %g: its motion has %.3g J, and %.3g J are all that it had or was "
        "given; the rest comes from nowhere",
        r->integrator->name, t, has, had);
}

/* Turns y at time t into a sample, keeps the books and shows it to the observer. */
static lw_status sample(run *r, double t, bool first, bool last, lw_error *error) {
    const lw_run_options *options = r->options;
    lw_run_summary *s = r->summary;
    int n = r->method->state_size;
    memcpy(r->shown, r->q, (size_t)r->model->nq * sizeof *r->q);
    r->formulation->from_state(r->method, t, r->y, r->q, r->v);
    /* Joint coordinates carry the signs of their quaternions along; those found from poses follow the last
     * sample, so that curves have no jumps. */
    if (r->formulation->coordinates != LW_COORDINATES_JOINT) lw_same_signs(r->model, r->shown, r->q);
    lw_energy energy = r->formulation->energy ? r->formulation->energy(r->method, t, r->y)
                                              : lw_energy_of(r->model, r->data, t, r->q, r->v);
    if (first) {
        r->initial = energy;
        r->lowest = energy.potential;
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
    lw_status status = check_energy(r, t, ledger, error);
    if (status == LW_OK) status = check_sample(r, t, first || last, error);
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
    r->method_options = (lw_method_options){.penalty = options->penalty, .note = told, .note_context = r};
    lw_method_options *method_options = &r->method_options;
    lw_status status = lw_run_drift(options->drift, method_options, error);
    if (status == LW_OK) status = lw_run_method_options(options, r->formulation, method_options, error);
    if (status != LW_OK) return status;
    if (method_options->drift == LW_DRIFT_CLOSED && !r->formulation->closing)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "choose --drift project, or --method partition",
                       "method %s has no closing conditions for drift control \"closed\"",
                       r->formulation->name);
    if (method_options->drift == LW_DRIFT_BAUMGARTE && r->formulation->no_baumgarte &&
        lw_model_loop_count(model) + lw_model_constraint_count(model) > 0)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL,
                       "choose --drift project, or --method cut or lagrange",
                       "method %s has no terms for drift control \"baumgarte\"", r->formulation->name);
    status = r->formulation->create(model, method_options, &r->method, error);
    if (status != LW_OK) return status;
    r->checked = lw_checked_create(model);
    lw_watch_start(&r->watch, model);
    lw_passage_start(&r->passage, model, r->formulation);
    size_t n = (size_t)r->method->state_size + LW_POWERS;
    int nq = lw_model_q_size(model) + 1, nv = lw_model_v_size(model) + 1;
    lw_arena *arena = r->arena = lw_arena_create(NULL);
    r->y = LW_NEW(arena, double, n);
    r->ydot = LW_NEW(arena, double, n);
    r->q = LW_NEW(arena, double, nq);
    r->shown = LW_NEW(arena, double, nq);
    r->v = LW_NEW(arena, double, nv);
    r->work = LW_NEW(arena, double, 4 * n);
    r->next_y = LW_NEW(arena, double, n);
    for (int k = 0; k < LW_EFFORT_STATES; k++) r->system.states[k] = LW_NEW(arena, double, n);
    r->system.differential = LW_NEW(arena, bool, n);
    if (options->want_accelerations || options->want_reactions) r->vdot = LW_NEW(arena, double, nv);
    if (options->want_reactions) r->reactions = LW_NEW(arena, double, 6 * lw_model_joint_count(model) + 1);
    if (lw_arena_failed(arena) || !r->checked || lw_data_create(model, NULL, &r->data) != LW_OK)
        return lw_out_of_memory(error);
    lw_model_initial_state(model, r->q, r->v);
    if (options->q) memcpy(r->q, options->q, (size_t)lw_model_q_size(model) * sizeof(double));
    if (options->v) memcpy(r->v, options->v, (size_t)lw_model_v_size(model) * sizeof(double));

    if (!options->as_given) status = lw_assemble(model, options->start, r->q, r->v, NULL, error);
    if (status != LW_OK) return status;

    const lw_formulation *f = r->formulation;
    lw_system *system = &r->system.base;
    r->system.method = r->method;
    r->system.run = r;
    lw_effort *effort = &r->system.effort;
    lw_effort_start(effort, options->start, options->end);
    effort->given = lw_integrator_by_step(r->integrator->name, options);
    effort->largest = options->step;
    effort->most = (double)options->max_steps;
    system->size = (int)n;
    /* Where motions are prescribed the state may be smooth, even exact, while the drives' power is not: then
     * the books are under error control too. */
    system->quadratures = model->motion_count ? 0 : LW_POWERS;
    system->derivative = f->derivative ? system_derivative : NULL;
    system->residual = f->residual ? system_residual : NULL;
    system->step = f->step ? system_step : NULL;
    system->project = f->project ? system_project : NULL;
    system->accepted = system_accepted;
    system->newton_hints = f->newton_hints ? f->newton_hints(r->method) : NULL;
    if (f->differential) {
        f->differential(r->method, r->system.differential);
        for (int k = 0; k < LW_POWERS; k++) r->system.differential[n - 1 - (size_t)k] = true;
        system->differential = r->system.differential;
    }
    f->to_state(r->method, options->start, r->q, r->v, r->y);
    if (f->cross && !r->integrator->needs_step) {
        system->root_count = f->root_count(r->method);
        system->roots = system_roots, system->cross = system_cross, system->release = system_release;
        if (system->root_count) system->quadratures = 0; /* next to an event power may rise without bound */
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
    r->integrator_options = (lw_integrator_options){step, tolerance};
    return r->integrator->create(system, &r->integrator_options, options->start, r->y,
                                 f->derivative ? r->ydot : NULL, &r->integration, error);
}

static void take_statistics(run *r) {
    lw_integrator_statistics now;
    r->integrator->statistics(r->integration, &now);
    r->before.steps += now.steps;
    r->before.evaluations += now.evaluations;
    r->before.rejected += now.rejected;
    r->integrator->destroy(r->integration);
    r->integration = NULL;
}

static lw_status change_integrator(run *r, lw_error *error) {
    take_statistics(r);
    r->integrator = r->next;
    r->next = NULL;
    r->looked = (lw_integrator_statistics){0};
    r->summary->integrator = r->integrator->name;
    lw_effort_changes(&r->system.effort);
    return r->integrator->create(&r->system.base, &r->integrator_options, r->next_t, r->next_y, NULL,
                                 &r->integration, error);
}

/* The state at t, by whichever integrator comes so far: one that is to be followed by another still serves
 * times within its last step. */
static lw_status go_to(run *r, double t, lw_error *error) {
    for (;;) {
        lw_status status = r->next && t > r->next_t ? change_integrator(r, error) : LW_OK;
        if (status == LW_OK) status = r->integrator->advance(r->integration, t, r->options->end, r->y, error);
        if (status != LW_ERROR_STOPPED || !r->next) return status;
    }
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
        status = go_to(r, t, error);
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
    lw_status status = lw_run_check_options(options, error);
    const lw_method_choice_state start_state = {options->start, options->q, options->v};
    const bool given = options->as_given && options->q && options->v;
    if (status == LW_OK)
        status = lw_method_choose_at(options->method, model, given ? &start_state : NULL, &r.formulation,
                                     NULL, 0, error);
    if (status == LW_OK) status = choose_integrator(&r, error);
    if (status == LW_OK) {
        summary->method = r.formulation->name;
        summary->integrator = r.integrator->name;
        status = prepare(&r, error);
    }
    if (status == LW_OK) status = advance(&r, error);
    if (r.integration) take_statistics(&r);
    if (status == LW_OK && !r.told_jumps && r.before.rejected >= 1000 &&
        4 * r.before.rejected >= r.before.steps) {
        char text[160];
        snprintf(text, sizeof text,
                 "%ld of %ld steps were rejected: does a force jump (sign, step without width)?",
                 r.before.rejected, r.before.rejected + r.before.steps);
        told(summary->t_end, "warning", text, &r);
    }
    summary->steps = r.before.steps;
    summary->evaluations = r.before.evaluations;
    summary->rejected = r.before.rejected;
    const lw_watch_limits limits = {r.integrator_options.tolerance, summary->steps, summary->rejected};
    if (r.watch.model) lw_watch_verdict(&r.watch, &limits, summary);
    if (r.q && q) memcpy(q, r.q, (size_t)lw_model_q_size(model) * sizeof *q);
    if (r.v && v) memcpy(v, r.v, (size_t)lw_model_v_size(model) * sizeof *v);
    if (r.method) r.formulation->destroy(r.method);
    lw_data_destroy(r.data);
    lw_checked_destroy(r.checked);
    lw_passage_end(&r.passage);
    lw_arena_destroy(r.arena);
    summary->wall_s = wall_clock() - start;
    return status;
}

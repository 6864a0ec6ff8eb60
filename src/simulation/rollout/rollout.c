/* rollout.c - many runs of one model, distributed over threads.
 *
 * Each thread has one simulation. For every run it is put back to its beginning with the start of that run,
 * so that it is bit by bit what a new simulation would be (lw_simulation_restart), and then advanced from
 * instant to instant. A thread takes one run after another; which thread makes a run has no influence on it.
 *
 * At the last instant the energy of a run is looked at (lw_ledger_check): steps that are too long for the
 * model give numbers that are finite and wrong.
 *
 * Cost     that of the runs; between two runs the assembly of the start and one evaluation. Nothing but the
 *          assembly of models with loops allocates.
 */
#include "simulation/rollout/rollout_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- call-backs ------------------------------------------------------------------------------------ */

bool lw_rollout_stopped(lw_rollout_worker *own) {
    lw_rollout *r = own->rollout;
    if (own->index == 0 && r->interrupted && !atomic_load(&r->stop) && r->interrupted(r->context))
        atomic_store(&r->stop, true);
    return atomic_load(&r->stop);
}

static bool interrupted(void *context) { return lw_rollout_stopped(context); }

static void add_force(double t, const double *q, const double *v, double *tau, void *context) {
    const lw_rollout_worker *own = context;
    (void)t, (void)q, (void)v;
    for (int k = 0; own->tau && k < own->rollout->model->nv; k++) tau[k] += own->tau[k];
}

void lw_rollout_failed(lw_rollout_worker *own, int run, lw_status status, const lw_error *error) {
    if (status == LW_OK || status == LW_EVENT || (own->status != LW_OK && own->failed < run)) return;
    own->failed = run, own->status = status, own->error = *error;
    snprintf(own->error.message, sizeof own->error.message, "run %d: %.490s", run, error->message);
}

/* --- creation -------------------------------------------------------------------------------------- */

void lw_rollout_defaults(const lw_model *model, lw_rollout_options *options) {
    if (!options) return;
    *options = (lw_rollout_options){0};
    if (model) lw_run_defaults(model, &options->run);
}

/* The first worker decides the method, which the others then have; all begin where it does. */
static lw_status create_worker(lw_rollout *r, int index, const lw_allocator *allocator, lw_error *error) {
    lw_rollout_worker *own = &r->workers[index];
    lw_run_options options = r->options.run;
    own->rollout = r, own->index = index;
    options.observe = NULL, options.event = NULL, options.step_taken = NULL, options.happened = NULL;
    options.event_count = 0, options.events = NULL;
    options.interrupted = interrupted, options.context = own;
    options.force = r->options.forces ? add_force : NULL;
    options.want_accelerations = options.want_reactions = options.want_works = false;
    if (index > 0) {
        const lw_run_plan *first = &r->workers[0].simulation->plan;
        options.method = first->formulation->name;
        options.q = first->q, options.v = first->v;
        options.as_given = true;
    }
    return lw_simulation_create(r->model, &options, allocator, &own->simulation, error);
}

/* A copy of numbers that the caller has given; NULL for NULL. */
static const double *copy(lw_arena *arena, const double *from, int count) {
    double *own = from ? LW_NEW(arena, double, count + 1) : NULL;
    if (own) memcpy(own, from, (size_t)count * sizeof *own);
    return own;
}

/* The options outlive the call: their numbers do, too, and inputs have values. */
static lw_status keep_options(lw_rollout *r, lw_error *error) {
    const lw_model *model = r->model;
    lw_run_options *run = &r->options.run;
    run->q = copy(r->arena, run->q, model->nq);
    run->v = copy(r->arena, run->v, model->nv);
    run->states = copy(r->arena, run->states, model->values.state_count);
    const int inputs = lw_model_input_count(model);
    double *values = LW_NEW(r->arena, double, inputs + 1);
    if (lw_arena_failed(r->arena)) return lw_out_of_memory(error);
    for (int k = 0; k < inputs; k++)
        values[k] = run->inputs ? run->inputs[k] : lw_model_input_default(model, k);
    run->inputs = values;
    return LW_OK;
}

static lw_status create(lw_rollout *r, const lw_allocator *allocator, lw_error *error) {
    const lw_run_options *run = &r->options.run;
    if (run->observe || run->event || run->step_taken || run->happened || run->event_count || run->force)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                       "give joint forces as tau, and look at the runs when they are done; for call-backs "
                       "make simulations of your own",
                       "runs on threads take no call-back but `interrupted`");
    lw_status status = keep_options(r, error);
    if (status != LW_OK) return status;
    r->interrupted = run->interrupted, r->context = run->context;
    r->threads = lw_threads_create(r->options.threads, r->arena);
    if (!r->threads) return lw_out_of_memory(error);
    const int threads = lw_threads_count(r->threads);
    r->workers = LW_NEW(r->arena, lw_rollout_worker, threads);
    if (!r->workers) return lw_out_of_memory(error);
    atomic_init(&r->stop, false);
    for (int k = 0; k < threads && status == LW_OK; k++) status = create_worker(r, k, allocator, error);
    r->lanes = r->room = 1;
    return status == LW_OK && r->options.vectors ? lw_rollout_vectors_create(r, error) : status;
}

lw_status lw_rollout_create(const lw_model *model, const lw_rollout_options *options,
                            const lw_allocator *allocator, lw_rollout **rollout, lw_error *error) {
    if (rollout) *rollout = NULL;
    if (!model || !options || !rollout)
        return lw_call_needs("a model, options, a place for the rollout", error);
    lw_arena *arena = lw_arena_create(allocator);
    lw_rollout *r = LW_NEW(arena, lw_rollout, 1);
    if (!r) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    r->arena = arena, r->model = model, r->options = *options;
    const lw_status status = create(r, allocator, error);
    if (status == LW_OK)
        *rollout = r;
    else
        lw_rollout_destroy(r);
    return status;
}

void lw_rollout_destroy(lw_rollout *r) {
    if (!r) return;
    const int threads = r->workers ? lw_threads_count(r->threads) : 0;
    lw_threads_destroy(r->threads);
    if (threads) lw_rollout_vectors_destroy(r);
    for (int k = 0; k < threads; k++) lw_simulation_destroy(r->workers[k].simulation);
    lw_arena_destroy(r->arena);
}

const lw_model *lw_rollout_model(const lw_rollout *r) { return r ? r->model : NULL; }
const char *lw_rollout_method(const lw_rollout *r) {
    return r ? lw_simulation_method(r->workers[0].simulation) : NULL;
}
const char *lw_rollout_integrator(const lw_rollout *r) {
    return r ? r->workers[0].simulation->plan.integrator->name : NULL;
}
int lw_rollout_threads(const lw_rollout *r) { return r ? lw_threads_count(r->threads) : 0; }
int lw_rollout_lanes(const lw_rollout *r) { return r ? r->lanes : 0; }

/* --- one run --------------------------------------------------------------------------------------- */

/* Everything that the run has not reached. */
static void fill(const lw_rollout *r, int run, int from) {
    const lw_rollout_runs *x = &r->runs;
    const lw_model *model = r->model;
    double *const places[] = {x->q_out, x->v_out, x->states_out, x->outputs_out};
    const int sizes[] = {model->nq, model->nv, model->values.state_count, model->output_names.count};
    for (int a = 0; a < 4; a++) {
        double *all = places[a] ? places[a] + (size_t)run * (size_t)x->instants * (size_t)sizes[a] : NULL;
        for (size_t k = (size_t)from * (size_t)sizes[a]; all && k < (size_t)x->instants * (size_t)sizes[a];
             k++)
            all[k] = NAN;
    }
}

static lw_status write(lw_rollout_worker *own, size_t at, lw_error *error) {
    lw_simulation *s = own->simulation;
    const lw_rollout_runs *x = &own->rollout->runs;
    const lw_model *model = own->rollout->model;
    const size_t states = (size_t)model->values.state_count, outputs = (size_t)model->output_names.count;
    lw_status status = lw_simulation_state(s, x->q_out ? x->q_out + at * (size_t)model->nq : NULL,
                                           x->v_out ? x->v_out + at * (size_t)model->nv : NULL);
    if (status == LW_OK && x->states_out && states)
        status = lw_simulation_states(s, x->states_out + at * states);
    if (status == LW_OK && x->outputs_out && outputs) {
        status = lw_simulation_outputs(s, x->outputs_out + at * outputs);
        if (status != LW_OK)
            lw_fail(error, status, NULL, "ask for the state alone",
                    "its outputs cannot be computed at t = %g", lw_simulation_time(s));
    }
    return status;
}

/* The forces of an interval; the integrator restarts where they jump. */
static void take_forces(lw_rollout_worker *own, const double *tau, bool first) {
    const size_t size = (size_t)own->rollout->model->nv * sizeof *tau;
    if (!first && tau && memcmp(own->tau, tau, size) != 0) own->simulation->stale = true;
    own->tau = tau;
}

static lw_status run_one(lw_rollout_worker *own, int run, int *reached, lw_error *error) {
    lw_rollout *r = own->rollout;
    const lw_rollout_runs *x = &r->runs;
    const lw_model *model = r->model;
    lw_simulation *s = own->simulation;
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv, at = (size_t)run, T = (size_t)x->instants;
    const size_t inputs = (size_t)lw_model_input_count(model), states = (size_t)model->values.state_count;
    take_forces(own, x->tau ? x->tau + at * T * nv : NULL, true);
    lw_status status = lw_simulation_restart(
        s,
        &(lw_simulation_beginning){.q = x->q ? x->q + at * nq : r->options.run.q,
                                   .v = x->v ? x->v + at * nv : r->options.run.v,
                                   .states = x->states ? x->states + at * states : r->options.run.states,
                                   .inputs = x->inputs ? x->inputs + at * T * inputs : r->options.run.inputs,
                                   .as_given = r->options.run.as_given},
        error);
    for (*reached = 0; status == LW_OK && *reached < x->instants; ++*reached) {
        const size_t place = at * T + (size_t)*reached;
        if (*reached > 0 && x->inputs && inputs) lw_simulation_set_inputs(s, x->inputs + place * inputs);
        if (*reached > 0 && x->tau) take_forces(own, x->tau + place * nv, false);
        status = (x->inputs || x->tau ? lw_simulation_step_to : lw_simulation_advance)(s, x->times[*reached],
                                                                                       error);
        if (status == LW_OK) status = write(own, place, error);
        if (status != LW_OK) break;
    }
    if (status != LW_OK || x->instants == 0) return status;
    lw_ledger ledger;
    lw_simulation_ledger(s, &ledger);
    return lw_ledger_check(s, lw_simulation_time(s), &ledger, error);
}

static void work(void *context, int thread, int run) {
    lw_rollout *r = context;
    lw_rollout_worker *own = &r->workers[thread];
    lw_error error = {0};
    int reached = 0;
    const lw_status status =
        lw_rollout_stopped(own) ? lw_fail(&error, LW_ERROR_STOPPED, NULL, NULL, "stopped before it has begun")
                                : run_one(own, run, &reached, &error);
    if (status != LW_OK && status != LW_EVENT && reached == r->runs.instants) reached = 0; /* blown up */
    fill(r, run, reached);
    if (r->runs.status) r->runs.status[run] = status;
    lw_rollout_failed(own, run, status, &error);
}

/* --- all runs -------------------------------------------------------------------------------------- */

static lw_status check_numbers(const char *name, const double *x, size_t count, size_t size, bool may_be_nan,
                               lw_error *error) {
    for (size_t k = 0; x && k < count * size; k++)
        if (!isfinite(x[k]) && !(may_be_nan && isnan(x[k])))
            return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give finite numbers", "%s[%zu][%zu] is %g", name,
                           k / size, k % size, x[k]);
    return LW_OK;
}

static lw_status check_inputs(const lw_model *model, const double *inputs, size_t rows, lw_error *error) {
    const size_t count = (size_t)lw_model_input_count(model);
    for (size_t k = 0; inputs && k < rows * count; k++) {
        const bool expression = isnan(model->input_defaults[k % count]);
        if (!isfinite(inputs[k]) && !(expression && isnan(inputs[k])))
            return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                           "give a finite number; NaN stands for a default that is an expression",
                           "inputs[%zu]: input \"%s\" is %g", k / count,
                           lw_model_input_name(model, (int)(k % count)), inputs[k]);
    }
    return LW_OK;
}

static lw_status check(const lw_rollout *r, const lw_rollout_runs *x, lw_error *error) {
    const lw_model *model = r->model;
    const size_t n = (size_t)x->count, T = (size_t)x->instants;
    for (size_t k = 0; k < T; k++)
        if (!isfinite(x->times[k]) || x->times[k] < (k ? x->times[k - 1] : r->options.run.start) ||
            (k && x->times[k] == x->times[k - 1]))
            return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                           "give times that ascend, from the start of the run on",
                           "times[%zu] is %.9g, the instant before it %.9g", k, x->times[k],
                           k ? x->times[k - 1] : r->options.run.start);
    if (x->tau && !r->options.forces)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "create it with `forces` in its options",
                       "this rollout was made for runs without joint forces, and tau is given");
    lw_status status = check_numbers("q", x->q, n, (size_t)model->nq, false, error);
    if (status == LW_OK) status = check_numbers("v", x->v, n, (size_t)model->nv, false, error);
    if (status == LW_OK)
        status = check_numbers("states", x->states, n, (size_t)model->values.state_count, false, error);
    if (status == LW_OK) status = check_numbers("tau", x->tau, n * T, (size_t)model->nv, false, error);
    if (status == LW_OK) status = check_inputs(model, x->inputs, n * T, error);
    return status == LW_OK && r->lanes > 1 ? lw_rollout_vectors_check(r, x, error) : status;
}

lw_status lw_rollout_run(lw_rollout *r, const lw_rollout_runs *runs, lw_error *error) {
    if (!r || !runs || runs->count < 0 || runs->instants < 0 || (runs->instants > 0 && !runs->times))
        return lw_call_needs("a rollout, the number of runs and of instants, and their times", error);
    lw_status status = check(r, runs, error);
    if (status != LW_OK || runs->count == 0) return status;
    const int threads = lw_threads_count(r->threads);
    for (int k = 0; k < threads; k++) r->workers[k].status = LW_OK;
    atomic_store(&r->stop, false);
    r->runs = *runs;
    if (r->lanes > 1)
        lw_threads_run(r->threads, (runs->count - 1) / r->room + 1, lw_rollout_vectors_work, r);
    else
        lw_threads_run(r->threads, runs->count, work, r);
    const lw_rollout_worker *first = NULL;
    for (int k = 0; k < threads; k++) {
        const lw_rollout_worker *own = &r->workers[k];
        if (own->status != LW_OK && (!first || own->failed < first->failed)) first = own;
    }
    if (!first) return LW_OK;
    if (error) *error = first->error;
    return first->status;
}

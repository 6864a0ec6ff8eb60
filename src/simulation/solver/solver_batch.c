/* solver_batch.c - accelerations of many states of one model, by one method: vectors of states, distributed
 * over threads.
 *
 * A method that takes several states at a time (method_simd.h) is given them so; states that it leaves
 * out, and all states of other methods and of checked batches, are solved one by one. Which of the two ways a
 * state takes, and what it gives, depends on that state alone.
 *
 * Source   docs/theory/batch_loops.md.
 * Cost     docs/performance.md. No allocation after creation.
 */
#include "core/threads.h"
#include "formulations/common/checked_accelerations.h"
#include "formulations/common/method_create.h"
#include "formulations/common/method_simd.h"
#include "simulation/choice/method_auto.h"
#include <linkwork/solver_batch.h>

#include <math.h>

/* The data of one thread. */
typedef struct worker {
    lw_method *method;
    lw_checked *checked;        /* NULL: unchecked */
    void *workspace;            /* NULL: states one by one */
    double *q, *v, *tau, *vdot; /* one state */
    /* The first state that has failed, and why; status is LW_OK if none has. */
    int failed;
    lw_status status;
    lw_error error;
} worker;

struct lw_solver_batch {
    lw_arena *arena;
    const lw_model *model;
    const lw_formulation *formulation;
    const lw_method_simd *vectors; /* NULL: the method has none */
    lw_method_options options;
    lw_threads *threads;
    worker *workers;
    int lanes;        /* states at a time */
    int chunk;        /* states that a thread takes at a time */
    lw_states states; /* of the call in progress */
};

void lw_solver_batch_defaults(const lw_model *model, lw_solver_options *options) {
    if (!options) return;
    lw_solver_defaults(model, options);
    options->unchecked = true;
}

static lw_status create_worker(lw_solver_batch *batch, worker *own, bool unchecked, lw_error *error) {
    const lw_model *model = batch->model;
    own->q = LW_NEW(batch->arena, double, model->nq + 1);
    own->v = LW_NEW(batch->arena, double, model->nv + 1);
    own->tau = LW_NEW(batch->arena, double, model->nv + 1);
    own->vdot = LW_NEW(batch->arena, double, model->nv + 1);
    if (!unchecked) own->checked = lw_checked_create(model);
    if (lw_arena_failed(batch->arena) || (!unchecked && !own->checked)) return lw_out_of_memory(error);
    lw_status status = lw_method_create(batch->formulation, model, &batch->options, &own->method, error);
    batch->lanes = 1;
    if (status != LW_OK || !unchecked || !batch->vectors) return status;
    return batch->vectors->create(own->method, &batch->options, &batch->lanes, &own->workspace, error);
}

static lw_status create(lw_solver_batch *batch, const lw_solver_options *options, int threads,
                        lw_error *error) {
    enum { VECTORS_AT_ONCE = 4, SINGLE_AT_ONCE = 8 };
    const lw_method_choice_state at = {options->t, options->q, options->v};
    const bool given = options->q && options->v;
    lw_status status = lw_method_choose_at(options->method, batch->model, given ? &at : NULL,
                                           &batch->formulation, NULL, 0, error);
    if (status != LW_OK) return status;
    batch->vectors = lw_method_simd_find(batch->formulation->name);
    batch->options = (lw_method_options){
        .penalty = options->penalty, .inputs = options->inputs, .states = options->states};
    batch->threads = lw_threads_create(threads, batch->arena);
    if (!batch->threads) return lw_out_of_memory(error);
    threads = lw_threads_count(batch->threads);
    batch->workers = LW_NEW(batch->arena, worker, threads);
    if (!batch->workers) return lw_out_of_memory(error);
    for (int k = 0; k < threads && status == LW_OK; k++)
        status = create_worker(batch, &batch->workers[k], options->unchecked, error);
    batch->chunk = batch->lanes > 1 ? VECTORS_AT_ONCE * batch->lanes : SINGLE_AT_ONCE;
    return status;
}

lw_status lw_solver_batch_create(const lw_model *model, const lw_solver_options *options, int threads,
                                 const lw_allocator *allocator, lw_solver_batch **batch, lw_error *error) {
    if (batch) *batch = NULL;
    if (!model || !options || !batch)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL,
                       "a batch needs a model, options and a pointer for the result");
    if (!(options->penalty >= 0) || !isfinite(options->penalty))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a positive number such as 1e8",
                       "penalty %g is not a positive number", options->penalty);
    lw_arena *arena = lw_arena_create(allocator);
    lw_solver_batch *x = LW_NEW(arena, lw_solver_batch, 1);
    if (!x) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    x->arena = arena;
    x->model = model;
    lw_status status = create(x, options, threads, error);
    if (status == LW_OK)
        *batch = x;
    else
        lw_solver_batch_destroy(x);
    return status;
}

void lw_solver_batch_destroy(lw_solver_batch *batch) {
    if (!batch) return;
    int threads = batch->workers ? lw_threads_count(batch->threads) : 0;
    lw_threads_destroy(batch->threads);
    for (int k = 0; k < threads; k++) {
        if (batch->workers[k].workspace) batch->vectors->destroy(batch->workers[k].workspace);
        lw_method_destroy(batch->workers[k].method);
        lw_checked_destroy(batch->workers[k].checked);
    }
    lw_arena_destroy(batch->arena);
}

const lw_model *lw_solver_batch_model(const lw_solver_batch *batch) { return batch ? batch->model : NULL; }
const char *lw_solver_batch_method(const lw_solver_batch *batch) {
    return batch ? batch->formulation->name : NULL;
}
int lw_solver_batch_lanes(const lw_solver_batch *batch) { return batch ? batch->lanes : 0; }
int lw_solver_batch_threads(const lw_solver_batch *batch) {
    return batch ? lw_threads_count(batch->threads) : 0;
}

static bool finite(int count, const double *x) {
    double total = 0; /* Zero times a number that is not finite is none. */
    for (int k = 0; k < count; k++) total += 0 * x[k];
    return total == 0;
}

/* One state by itself. */
static lw_status solve_one(const lw_solver_batch *batch, worker *own, int s, lw_error *error) {
    const double *tau = batch->states.tau ? own->tau : NULL;
    const double t = batch->states.t;
    lw_status status =
        own->checked
            ? lw_checked_accelerations(
                  own->checked, &(lw_checked_state){own->method, &batch->options, t, own->q, own->v, tau},
                  (lw_checked_answer){.vdot = own->vdot}, error)
            : batch->formulation->accelerations(own->method, t, own->q, own->v, tau, own->vdot, NULL, NULL,
                                                error);
    if (status != LW_OK || finite(batch->model->nv, own->vdot)) return status;
    if (!finite(batch->model->nq, own->q) || !finite(batch->model->nv, own->v))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give finite coordinates and speeds",
                       "state %d has numbers that are not finite", s);
    return lw_fail(error, LW_ERROR_SINGULAR, NULL, "look at the forces and motions of the model there",
                   "an acceleration of state %d at t = %g is not finite", s, t);
}

static void take_state(const lw_solver_batch *batch, worker *own, int s) {
    const lw_states *states = &batch->states;
    const size_t count = (size_t)states->count, at = (size_t)s;
    const int nq = batch->model->nq, nv = batch->model->nv;
    for (int k = 0; k < nq; k++) own->q[k] = states->q[(size_t)k * count + at];
    for (int k = 0; k < nv; k++) own->v[k] = states->v[(size_t)k * count + at];
    for (int k = 0; k < nv && states->tau; k++) own->tau[k] = states->tau[(size_t)k * count + at];
    lw_error error;
    lw_status status = solve_one(batch, own, s, &error);
    for (int k = 0; k < nv; k++) states->vdot[(size_t)k * count + at] = status == LW_OK ? own->vdot[k] : NAN;
    if (status == LW_OK || (own->status != LW_OK && own->failed < s)) return;
    own->failed = s, own->status = status, own->error = error;
}

static void work(void *context, int thread, int chunk) {
    const lw_solver_batch *batch = context;
    worker *own = &batch->workers[thread];
    int first = chunk * batch->chunk, end = first + batch->chunk;
    if (end > batch->states.count) end = batch->states.count;
    for (int s = first; s < end; s += batch->lanes) {
        unsigned answered =
            own->workspace ? batch->vectors->accelerations(own->workspace, &batch->states, s) : 0;
        for (int l = 0; l < batch->lanes && s + l < end; l++)
            if (!(answered >> l & 1)) take_state(batch, own, s + l);
    }
}

lw_status lw_solver_batch_accelerations(lw_solver_batch *batch, int count, double t, const double *q,
                                        const double *v, const double *tau, double *vdot, lw_error *error) {
    if (!batch || count < 0 || (count > 0 && (!q || !v || !vdot)))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                       "give a batch, the number of states, q, v and a place for vdot",
                       "accelerations need states");
    if (count == 0) return LW_OK;
    int threads = lw_threads_count(batch->threads);
    for (int k = 0; k < threads; k++) batch->workers[k].status = LW_OK;
    batch->states = (lw_states){count, t, q, v, tau, vdot};
    lw_threads_run(batch->threads, (count - 1) / batch->chunk + 1, work, batch);
    const worker *first = NULL;
    for (int k = 0; k < threads; k++) {
        const worker *own = &batch->workers[k];
        if (own->status != LW_OK && (!first || own->failed < first->failed)) first = own;
    }
    if (!first) return LW_OK;
    if (error) *error = first->error;
    return first->status;
}

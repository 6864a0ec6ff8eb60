/* batch.c - forward and inverse dynamics of many states of one model: vectors of states, distributed over
 * threads.
 *
 * The width of the vectors is chosen at run time from the instructions of the processor. Threads are started
 * once, with the batch; each has a share of the states, and the caller's thread has one, too. Nothing is
 * allocated in a call.
 *
 * Cost     per state a fraction of the call for one state (docs/performance.md).
 */
#include "core/processor.h"
#include "core/threads.h"
#include "dynamics/batch_simd.h"
#include <linkwork/tree.h>

/* The data of one thread. */
typedef struct worker {
    lw_data *data;
    double *workspace;
    lw_status status;
    lw_error error;
} worker;

typedef enum work { FORWARD, INVERSE } work;

struct lw_batch {
    lw_arena *arena;
    const lw_model *whole; /* the caller's */
    const lw_model *model; /* its merged form */
    const lw_batch_simd *simd;
    lw_threads *threads;
    worker *workers; /* one for each thread */
    /* The present job. */
    work work;
    lw_states states;
    double *tau;
};

enum { BLOCKS_AT_ONCE = 4 }; /* vectors of states that a thread takes at a time */

/* Computes one chunk: BLOCKS_AT_ONCE vectors of states. */
static void work_on(void *context, int thread, int chunk) {
    const lw_batch *batch = context;
    worker *own = &batch->workers[thread];
    int width = batch->simd->width, count = batch->states.count;
    int first = chunk * BLOCKS_AT_ONCE * width, end = first + BLOCKS_AT_ONCE * width;
    if (end > count) end = count;
    for (int s = first; s < end; s += width) {
        lw_error *error = own->status == LW_OK ? &own->error : NULL;
        lw_status status =
            batch->work == INVERSE
                ? batch->simd->inverse(batch->model, own->data, own->workspace, &batch->states, s, batch->tau,
                                       error)
                : batch->simd->forward(batch->model, own->data, own->workspace, &batch->states, s, error);
        if (status != LW_OK) own->status = status;
    }
}

/* Does the work; returns the status of a thread that has failed. */
static lw_status run(lw_batch *batch, work what, const lw_states *states, double *tau, lw_error *error) {
    const int threads = lw_threads_count(batch->threads), size = BLOCKS_AT_ONCE * batch->simd->width;
    batch->work = what;
    batch->states = *states;
    batch->tau = tau;
    for (int k = 0; k < threads; k++) batch->workers[k].status = LW_OK;
    lw_threads_run(batch->threads, (states->count + size - 1) / size, work_on, batch);
    for (int k = 0; k < threads; k++)
        if (batch->workers[k].status != LW_OK) {
            if (error) *error = batch->workers[k].error;
            return batch->workers[k].status;
        }
    return LW_OK;
}

const lw_batch_simd *lw_batch_simd_widest(void) {
    if (lw_has_avx512()) return &lw_batch_simd_8;
    if (lw_has_avx2()) return &lw_batch_simd_4;
    return &lw_batch_simd_2;
}

lw_status lw_batch_create(const lw_model *model, int threads, const lw_allocator *allocator, lw_batch **out) {
    if (out) *out = NULL;
    if (!model || !out) return LW_ERROR_ARGUMENT;
    lw_arena *arena = lw_arena_create(allocator);
    if (!arena) return LW_ERROR_MEMORY;
    lw_batch *batch = LW_NEW(arena, lw_batch, 1);
    if (!batch) {
        lw_arena_destroy(arena);
        return LW_ERROR_MEMORY;
    }
    batch->arena = arena;
    batch->whole = model;
    batch->model = model = lw_merged(model);
    batch->simd = lw_batch_simd_widest();
    batch->threads = lw_threads_create(threads, arena);
    threads = batch->threads ? lw_threads_count(batch->threads) : 0;
    batch->workers = LW_NEW(arena, worker, threads);
    for (int k = 0; k < threads && batch->workers; k++) {
        worker *own = &batch->workers[k];
        own->workspace = LW_NEW(arena, double, batch->simd->size(model));
        if (!own->workspace || lw_data_create(model, allocator, &own->data) != LW_OK) break;
    }
    if (!batch->workers || !batch->workers[threads - 1].data) {
        lw_batch_destroy(batch);
        return LW_ERROR_MEMORY;
    }
    *out = batch;
    return LW_OK;
}

void lw_batch_destroy(lw_batch *batch) {
    if (!batch) return;
    int threads = batch->workers ? lw_threads_count(batch->threads) : 0;
    lw_threads_destroy(batch->threads);
    for (int k = 0; k < threads; k++) lw_data_destroy(batch->workers[k].data);
    lw_arena_destroy(batch->arena);
}

int lw_batch_lanes(const lw_batch *batch) { return batch ? batch->simd->width : 0; }

lw_status lw_batch_set_states(lw_batch *batch, const double *states) {
    if (!batch) return LW_ERROR_ARGUMENT;
    for (int k = 0; k < lw_threads_count(batch->threads); k++)
        lw_data_set_states(batch->model, batch->workers[k].data, states);
    return LW_OK;
}

lw_status lw_batch_set_inputs(lw_batch *batch, const double *inputs) {
    if (!batch) return LW_ERROR_ARGUMENT;
    for (int k = 0; k < lw_threads_count(batch->threads); k++)
        lw_data_set_inputs(batch->model, batch->workers[k].data, inputs);
    return LW_OK;
}

/* Checks that tau of no state acts on an idle spin, which has no inertia (lw_idle_torque). */
static lw_status check_idle(lw_batch *batch, const lw_states *states, lw_error *error) {
    const lw_model *model = batch->model;
    lw_data *data = batch->workers[0].data;
    size_t count = (size_t)states->count;
    lw_status status = LW_OK;
    for (size_t s = 0; s < count && status == LW_OK; s++) {
        for (int k = 0; k < model->nq; k++) data->q[k] = states->q[(size_t)k * count + s];
        for (int k = 0; k < model->nv; k++) {
            data->v[k] = states->v[(size_t)k * count + s];
            data->tau[k] = states->tau[(size_t)k * count + s];
            data->vdot[k] = states->vdot[(size_t)k * count + s];
        }
        if (model->motion_count) lw_take_prescribed(model, data, states->t);
        status = lw_idle_torque(model, data, data->tau, data->vdot, error);
    }
    return status;
}

/* Checks the arguments of a call: a model without loops or constraints, its own batch, and arrays. */
static lw_status check_call(const lw_model *model, const lw_batch *batch, int count, const double *q,
                            const double *v, const double *vdot, lw_error *error) {
    if (model && batch && batch->whole != model)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "create a batch for this model (lw_batch_create)",
                       "the batch belongs to another model");
    if (!model || !batch || count < 0)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a model, its batch, and 0 states or more",
                       "%s of %d states", model ? batch ? "a batch" : "no batch" : "no model", count);
    if (count > 0 && (!lw_given(q, model->nq) || !lw_given(v, model->nv) || !lw_given(vdot, model->nv)))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give the states and a place for the results",
                       "an array of %d states is NULL", count);
    return lw_only_trees(model, error);
}

lw_status lw_tree_forward_dynamics_batch(const lw_model *model, lw_batch *batch, int count, double t,
                                         const double *q, const double *v, const double *tau, double *vdot,
                                         lw_error *error) {
    lw_status status = check_call(model, batch, count, q, v, vdot, error);
    if (status != LW_OK || count == 0) return status;
    const lw_states states = {count, t, q, v, tau, vdot};
    status = run(batch, FORWARD, &states, NULL, error);
    if (status != LW_OK) return status;
    return tau && batch->model->idle_count ? check_idle(batch, &states, error) : LW_OK;
}

lw_status lw_tree_inverse_dynamics_batch(const lw_model *model, lw_batch *batch, int count, double t,
                                         const double *q, const double *v, const double *vdot, double *tau,
                                         lw_error *error) {
    lw_status status = check_call(model, batch, count, q, v, vdot, error);
    if (status == LW_OK && count > 0 && !lw_given(tau, model->nv))
        status = lw_bad_arguments(NULL, NULL, error);
    if (status != LW_OK || count == 0) return status;
    const lw_states states = {count, t, q, v, NULL, (double *)vdot};
    return run(batch, INVERSE, &states, tau, error);
}

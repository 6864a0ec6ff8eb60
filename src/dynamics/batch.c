/* batch.c - forward and inverse dynamics of many states of one model: vectors of states, distributed over
 * threads.
 *
 * The width of the vectors is chosen at run time from the instructions of the processor. Threads are started
 * once, with the batch; each has a share of the states, and the caller's thread has one, too. Nothing is
 * allocated in a call.
 *
 * Cost     per state a fraction of the call for one state (docs/performance.md).
 */
#define _POSIX_C_SOURCE 200809L
#include "dynamics/batch_simd.h"
#include <linkwork/tree.h>

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* The data of one thread. */
typedef struct worker {
    lw_batch *batch;
    lw_data *data;
    double *workspace;
    pthread_t thread;
    lw_status status;
    lw_error error;
    _Alignas(64) atomic_int taken; /* number of chunks of its share that have been taken */
} worker;

typedef enum work { FORWARD, INVERSE, QUIT } work;

struct lw_batch {
    lw_arena *arena;
    const lw_model *model;
    const lw_batch_simd *lanes;
    int worker_count, started; /* started: without workers[0], which is the caller */
    worker *workers;
    /* The present job. It is written only while no thread has joined and none may join. */
    work work;
    lw_states states;
    double *tau;
    _Alignas(64) atomic_uint round; /* number of jobs so far */
    atomic_int busy; /* number of threads that have joined and not finished; CLOSED if none may join */
    /* lock and conditions for threads that sleep */
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    atomic_int sleepers;       /* number of threads that wait for `begin` */
    atomic_bool caller_sleeps; /* The caller waits for `end`. */
};

enum { CLOSED = -1 };

enum { BLOCKS_AT_ONCE = 4 }; /* vectors of states that a thread takes at a time */

/* Computes one chunk: BLOCKS_AT_ONCE vectors of states. */
static void work_on(worker *own, int chunk) {
    const lw_batch *batch = own->batch;
    int width = batch->lanes->width, count = batch->states.count;
    int first = chunk * BLOCKS_AT_ONCE * width, end = first + BLOCKS_AT_ONCE * width;
    if (end > count) end = count;
    for (int s = first; s < end; s += width) {
        lw_error *error = own->status == LW_OK ? &own->error : NULL;
        lw_status status =
            batch->work == INVERSE
                ? batch->lanes->inverse(batch->model, own->data, own->workspace, &batch->states, s,
                                        batch->tau, error)
                : batch->lanes->forward(batch->model, own->data, own->workspace, &batch->states, s, error);
        if (status != LW_OK) own->status = status;
    }
}

/* Each thread has its own share of the chunks, the same in every call, so that states stay in its cache; a
 * thread that has finished its share takes chunks of the others. */
static void work_along(worker *own) {
    lw_batch *batch = own->batch;
    int threads = batch->started + 1, size = BLOCKS_AT_ONCE * batch->lanes->width;
    int chunks = (batch->states.count + size - 1) / size, self = (int)(own - batch->workers);
    for (int k = 0; k < threads; k++) {
        worker *share = &batch->workers[(self + k) % threads];
        int index = (int)(share - batch->workers);
        int first = (int)((long)chunks * index / threads), end = (int)((long)chunks * (index + 1) / threads);
        for (int chunk; (chunk = first + atomic_fetch_add(&share->taken, 1)) < end;) work_on(own, chunk);
    }
}

/* A sleeping thread takes some 50 us to wake up, as long as a thousand states. So a thread polls for about
 * that time before it goes to sleep, and while all are awake none touches the lock. A thread announces that
 * it goes to sleep before its last poll, and a thread that posts an event checks for sleepers afterwards
 * (both in the single order of all sequentially consistent operations), so that one of the two notices the
 * other. */
enum { LOOKS = 4000 }; /* about 0.1 ms */

static inline void breathe(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* A thread that wakes up when the others have done all the work does not join, so that none waits for it: on
 * a busy machine a batch is not slower than on one thread. */
static bool join_in(lw_batch *batch) {
    int busy = atomic_load(&batch->busy);
    while (busy != CLOSED)
        if (atomic_compare_exchange_weak(&batch->busy, &busy, busy + 1)) return true;
    return false;
}

static void leave(lw_batch *batch) {
    if (atomic_fetch_sub(&batch->busy, 1) != 1 || !atomic_load(&batch->caller_sleeps)) return;
    pthread_mutex_lock(&batch->lock);
    pthread_cond_signal(&batch->end);
    pthread_mutex_unlock(&batch->lock);
}

/* Closes the job if no thread is busy; returns whether the job is closed. */
static bool close_job(lw_batch *batch) {
    int nobody = 0;
    return atomic_load(&batch->busy) == 0 && atomic_compare_exchange_strong(&batch->busy, &nobody, CLOSED);
}

static void *serve(void *argument) {
    worker *own = argument;
    lw_batch *batch = own->batch;
    for (unsigned done = 0;;) {
        for (int look = 0; look < LOOKS && atomic_load(&batch->round) == done; look++) breathe();
        if (atomic_load(&batch->round) == done) {
            pthread_mutex_lock(&batch->lock);
            atomic_fetch_add(&batch->sleepers, 1);
            while (atomic_load(&batch->round) == done) pthread_cond_wait(&batch->begin, &batch->lock);
            atomic_fetch_sub(&batch->sleepers, 1);
            pthread_mutex_unlock(&batch->lock);
        }
        done = atomic_load(&batch->round);
        if (!join_in(batch)) continue;
        if (batch->work == QUIT) return NULL;
        work_along(own);
        leave(batch);
    }
}

static void run_job(lw_batch *batch, work what, const lw_states *states, double *tau) {
    batch->work = what;
    if (states) batch->states = *states;
    batch->tau = tau;
    for (int k = 0; k <= batch->started; k++) {
        atomic_store(&batch->workers[k].taken, 0);
        batch->workers[k].status = LW_OK;
    }
    atomic_store(&batch->busy, 0); /* Threads may join now. */
    atomic_fetch_add(&batch->round, 1);
    if (atomic_load(&batch->sleepers)) {
        pthread_mutex_lock(&batch->lock);
        pthread_cond_broadcast(&batch->begin);
        pthread_mutex_unlock(&batch->lock);
    }
    if (what == QUIT) return; /* The job stays open, so that all threads join and end. */
    work_along(&batch->workers[0]);
    for (int look = 0; look < LOOKS; look++) {
        if (close_job(batch)) return;
        breathe();
    }
    pthread_mutex_lock(&batch->lock);
    atomic_store(&batch->caller_sleeps, true);
    while (!close_job(batch)) pthread_cond_wait(&batch->end, &batch->lock);
    atomic_store(&batch->caller_sleeps, false);
    pthread_mutex_unlock(&batch->lock);
}

/* Does the work; returns the status of a thread that has failed. */
static lw_status run(lw_batch *batch, work what, const lw_states *states, double *tau, lw_error *error) {
    run_job(batch, what, states, tau);
    for (int k = 0; k <= batch->started; k++)
        if (batch->workers[k].status != LW_OK) {
            if (error) *error = batch->workers[k].error;
            return batch->workers[k].status;
        }
    return LW_OK;
}

static const lw_batch_simd *widest(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return &lw_batch_simd_8;
    if (__builtin_cpu_supports("avx2")) return &lw_batch_simd_4;
#endif
    return &lw_batch_simd_2;
}

lw_status lw_batch_create(const lw_model *model, int threads, const lw_allocator *allocator, lw_batch **out) {
    if (out) *out = NULL;
    if (!model || !out) return LW_ERROR_ARGUMENT;
    if (threads <= 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        threads = processors > 0 && processors < 1024 ? (int)processors : 1;
    }
    lw_arena *arena = lw_arena_create(allocator);
    if (!arena) return LW_ERROR_MEMORY;
    lw_batch *batch = LW_NEW(arena, lw_batch, 1);
    worker *workers = LW_NEW(arena, worker, threads);
    if (lw_arena_failed(arena)) {
        lw_arena_destroy(arena);
        return LW_ERROR_MEMORY;
    }
    batch->arena = arena;
    batch->model = model;
    batch->lanes = widest();
    batch->workers = workers;
    atomic_init(&batch->busy, CLOSED);
    pthread_mutex_init(&batch->lock, NULL);
    pthread_cond_init(&batch->begin, NULL);
    pthread_cond_init(&batch->end, NULL);
    for (int k = 0; k < threads; k++) {
        worker *own = &workers[k];
        own->batch = batch;
        own->workspace = LW_NEW(arena, double, batch->lanes->size(model));
        lw_status status = lw_data_create(model, allocator, &own->data);
        batch->worker_count++;
        if (!own->workspace || status != LW_OK) {
            lw_batch_destroy(batch);
            return LW_ERROR_MEMORY;
        }
        if (k == 0) continue;
        if (pthread_create(&own->thread, NULL, serve, own) != 0) break; /* Fewer threads suffice. */
        batch->started++;
    }
    *out = batch;
    return LW_OK;
}

void lw_batch_destroy(lw_batch *batch) {
    if (!batch) return;
    run_job(batch, QUIT, NULL, NULL);
    for (int k = 1; k <= batch->started; k++) pthread_join(batch->workers[k].thread, NULL);
    for (int k = 0; k < batch->worker_count; k++) lw_data_destroy(batch->workers[k].data);
    pthread_mutex_destroy(&batch->lock);
    pthread_cond_destroy(&batch->begin);
    pthread_cond_destroy(&batch->end);
    lw_arena_destroy(batch->arena);
}

int lw_batch_lanes(const lw_batch *batch) { return batch ? batch->lanes->width : 0; }

lw_status lw_batch_set_inputs(lw_batch *batch, const double *inputs) {
    if (!batch) return LW_ERROR_ARGUMENT;
    for (int k = 0; k < batch->worker_count; k++)
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
    if (model && batch && batch->model != model)
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
    return tau && model->idle_count ? check_idle(batch, &states, error) : LW_OK;
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

/* sweep_run.c - computes the rows of a sweep on threads.
 *
 * Threads take runs from a common counter, one after the other, so that none waits for another; each has a
 * worker of its own. What is common, the file, the caller's function and the books, is behind one lock, which
 * a thread holds for the time of writing a row.
 */
#define _POSIX_C_SOURCE 200809L
#include "core/threads.h"
#include "sweep/sweep_parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct lw_sweep_job {
    lw_arena *arena;
    const lw_sweep *sweep;
    const lw_sweep_call *call;
    lw_sweep_file *file;
    lw_threads *threads;
    lw_sweep_worker **workers;
    lw_sweep_row *rows; /* `width` for each thread */
    int width;          /* rows that a worker computes at a time */
    double start;
    /* Of the present batch: the next run, where it ends, its first run and rows. */
    atomic_ullong next;
    uint64_t end, first;
    lw_sweep_row *batch; /* NULL: values by the design */
    atomic_bool stop;
    bool locked;          /* there is a lock */
    pthread_mutex_t lock; /* of all below */
    lw_sweep_summary *summary;
    lw_status status;
    lw_error fault;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void count_row(lw_sweep_job *j, const lw_sweep_row *row) {
    lw_sweep_summary *s = j->summary;
    s->done++;
    if (row->status == LW_SWEEP_FAILED) {
        if (s->failed++ == 0 || row->run < s->first_failed) s->first_failed = row->run;
    } else if (row->status == LW_SWEEP_DOUBTFUL) {
        if (s->doubtful++ == 0 || row->run < s->first_doubtful) s->first_doubtful = row->run;
    }
    if (j->call->row) j->call->row(j->sweep, row, j->call->context);
}

static void halt(lw_sweep_job *j, const char *why) {
    if (!j->summary->stopped) j->summary->stopped = why;
    atomic_store(&j->stop, true);
}

static void give_up(lw_sweep_job *j, lw_status status, const lw_error *error) {
    if (j->status == LW_OK) {
        j->status = status;
        j->fault = *error;
    }
    halt(j, "fault");
}

/* Asked during runs: looks whether the sweep is to stop, and lets no row wait long for the file. */
static bool ask(void *context) {
    lw_sweep_job *j = context;
    lw_error error = {0};
    if (atomic_load(&j->stop)) return true;
    pthread_mutex_lock(&j->lock);
    if (j->call->interrupted && j->call->interrupted(j->call->context)) halt(j, "interrupted");
    if (j->call->budget > 0 && now() - j->start > j->call->budget) halt(j, "budget");
    const lw_status status = j->file ? lw_sweep_file_tick(j->file, &error) : LW_OK;
    if (status != LW_OK) give_up(j, status, &error);
    pthread_mutex_unlock(&j->lock);
    return atomic_load(&j->stop);
}

static void finish(lw_sweep_job *j, const lw_sweep_row *row, bool old) {
    lw_error error = {0};
    const lw_status status = j->file && !old ? lw_sweep_file_add(j->file, row, &error) : LW_OK;
    if (status != LW_OK)
        give_up(j, status, &error);
    else
        count_row(j, row);
    if (j->call->most_failures > 0 && j->summary->failed >= j->call->most_failures) halt(j, "failures");
}

/* Takes a row of a batch from the file, whose values must be those that are asked for: the same search has
 * written it, if the same program on the same kind of processor goes on. */
static void take_row(lw_sweep_job *j, uint64_t run, int thread) {
    lw_error error = {0};
    lw_sweep_row *row = &j->batch[run - j->first], *there = &j->rows[thread * j->width];
    const size_t variables = (size_t)lw_sweep_variable_count(j->sweep);
    lw_status status = lw_sweep_file_get(j->file, run, there);
    if (status != LW_OK)
        (void)lw_fail(&error, status, "file", NULL, "row %llu cannot be read", (unsigned long long)run);
    else if (memcmp(row->values, there->values, variables * sizeof *row->values) != 0)
        status =
            lw_fail(&error, LW_ERROR_FILE, "file", "begin a new file",
                    "row %llu is not what this search asks for: another build or processor has written it",
                    (unsigned long long)run);
    if (status != LW_OK) {
        give_up(j, status, &error);
        return;
    }
    double *values = row->values;
    memcpy(values, there->values,
           (variables + (size_t)lw_sweep_measure_count(j->sweep)) * sizeof *row->values);
    *row = *there;
    row->values = values;
    finish(j, row, true);
}

/* One run of a batch, unless the file has it. */
static lw_status work_on_batch(lw_sweep_job *j, uint64_t run, int thread, lw_error *error) {
    lw_sweep_row *row = &j->batch[run - j->first];
    pthread_mutex_lock(&j->lock);
    const bool there = j->file && lw_sweep_file_has(j->file, run);
    if (there) take_row(j, run, thread);
    pthread_mutex_unlock(&j->lock);
    if (there) return LW_OK;
    const lw_status status = lw_sweep_worker_row(j->workers[thread], row, ask, j, error);
    if (status != LW_OK) return status;
    pthread_mutex_lock(&j->lock);
    finish(j, row, false);
    pthread_mutex_unlock(&j->lock);
    return LW_OK;
}

/* Neighbouring runs that the file has not. */
static lw_status work_on_runs(lw_sweep_job *j, uint64_t first, uint64_t end, int thread, lw_error *error) {
    lw_sweep_row *rows = &j->rows[thread * j->width];
    int count = 0;
    pthread_mutex_lock(&j->lock);
    for (uint64_t run = first; run < end; run++)
        if (!j->file || !lw_sweep_file_has(j->file, run)) rows[count++].run = run;
    pthread_mutex_unlock(&j->lock);
    const lw_status status = lw_sweep_worker_run_many(j->workers[thread], rows, count, ask, j, error);
    if (status != LW_OK) return status;
    pthread_mutex_lock(&j->lock);
    for (int k = 0; k < count; k++) finish(j, &rows[k], false);
    pthread_mutex_unlock(&j->lock);
    return LW_OK;
}

static void work(void *context, int thread, int chunk) {
    lw_sweep_job *j = context;
    (void)chunk;
    while (!ask(j)) {
        const uint64_t take = j->batch ? 1 : (uint64_t)j->width, run = atomic_fetch_add(&j->next, take);
        lw_error error = {0};
        if (run >= j->end) return;
        const lw_status status =
            j->batch ? work_on_batch(j, run, thread, &error)
                     : work_on_runs(j, run, run + take < j->end ? run + take : j->end, thread, &error);
        if (status == LW_ERROR_STOPPED) return;
        if (status == LW_OK) continue;
        pthread_mutex_lock(&j->lock);
        give_up(j, status, &error);
        pthread_mutex_unlock(&j->lock);
    }
}

/* Takes the rows that the file had before into the books. */
static lw_status take_old_rows(lw_sweep_job *j, lw_error *error) {
    const uint64_t count = lw_sweep_count(j->sweep);
    for (uint64_t run = 0; j->file && run < count; run++) {
        if (!lw_sweep_file_has(j->file, run)) continue;
        const lw_status status = lw_sweep_file_get(j->file, run, &j->rows[0]);
        if (status != LW_OK)
            return lw_fail(error, status, "file", NULL, "row %llu cannot be read", (unsigned long long)run);
        count_row(j, &j->rows[0]);
    }
    return LW_OK;
}

static lw_status create_workers(lw_sweep_job *j, lw_error *error) {
    j->threads = lw_threads_create(j->call->jobs, j->arena);
    if (!j->threads) return lw_out_of_memory(error);
    const int given = lw_threads_count(j->threads);
    j->workers = LW_NEW(j->arena, lw_sweep_worker *, given);
    const int columns = lw_sweep_variable_count(j->sweep) + lw_sweep_measure_count(j->sweep);
    lw_status status = lw_arena_failed(j->arena) ? lw_out_of_memory(error) : LW_OK;
    for (int k = 0; k < given && status == LW_OK; k++)
        status = lw_sweep_worker_create(j->sweep, &j->workers[k], error);
    if (status != LW_OK) return status;
    j->width = lw_sweep_worker_width(j->workers[0]);
    j->rows = LW_NEW(j->arena, lw_sweep_row, given * j->width);
    for (int k = 0; k < given * j->width && j->rows; k++)
        j->rows[k].values = LW_NEW(j->arena, double, columns + 1);
    return lw_arena_failed(j->arena) ? lw_out_of_memory(error) : LW_OK;
}

lw_status lw_sweep_job_create(const lw_sweep *sweep, const lw_sweep_call *call, lw_sweep_summary *summary,
                              lw_sweep_job **job, lw_error *error) {
    *job = NULL;
    *summary = (lw_sweep_summary){0};
    lw_arena *arena = lw_arena_create(NULL);
    lw_sweep_job *j = arena ? LW_NEW(arena, lw_sweep_job, 1) : NULL;
    if (!j) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    j->arena = arena, j->sweep = sweep, j->call = call, j->summary = summary, j->start = now();
    atomic_init(&j->next, 0);
    atomic_init(&j->stop, false);
    lw_status status =
        call->path ? lw_sweep_file_open(sweep, call->path, call->resume, &j->file, error) : LW_OK;
    if (status == LW_OK) {
        j->locked = pthread_mutex_init(&j->lock, NULL) == 0;
        status = j->locked ? create_workers(j, error) : lw_out_of_memory(error);
    }
    if (status != LW_OK) {
        (void)lw_sweep_job_end(j, status, NULL);
        return status;
    }
    *job = j;
    return LW_OK;
}

lw_status lw_sweep_job_batch(lw_sweep_job *j, uint64_t first, uint64_t count, lw_sweep_row *rows,
                             lw_error *error) {
    atomic_store(&j->next, first);
    j->first = first, j->end = first + count, j->batch = rows;
    lw_threads_run(j->threads, lw_threads_count(j->threads), work, j);
    if (j->status != LW_OK && error) *error = j->fault;
    return j->status;
}

lw_status lw_sweep_job_end(lw_sweep_job *j, lw_status status, lw_error *error) {
    lw_sweep_summary *summary = j->summary;
    lw_error unclosed = {0};
    for (int k = 0; j->workers && k < lw_threads_count(j->threads); k++)
        lw_sweep_worker_destroy(j->workers[k]);
    lw_threads_destroy(j->threads);
    const lw_status closed = j->file ? lw_sweep_file_close(j->file, &unclosed) : LW_OK;
    if (status == LW_OK && closed != LW_OK) {
        status = closed;
        if (error) *error = unclosed;
    }
    if (j->locked) pthread_mutex_destroy(&j->lock);
    summary->wall_s = now() - j->start;
    lw_arena_destroy(j->arena);
    if (status == LW_OK && summary->stopped && strcmp(summary->stopped, "interrupted") == 0)
        return lw_fail(error, LW_ERROR_STOPPED, NULL, NULL, "stopped on request");
    return status;
}

lw_status lw_sweep_run(const lw_sweep *sweep, const lw_sweep_call *call, lw_sweep_summary *summary,
                       lw_error *error) {
    lw_sweep_summary unwanted;
    lw_sweep_job *job;
    if (!sweep || !call) return lw_call_needs("a sweep and a call", error);
    if (!summary) summary = &unwanted;
    lw_status status = lw_sweep_job_create(sweep, call, summary, &job, error);
    if (status != LW_OK) return status;
    status = take_old_rows(job, error);
    if (status == LW_OK) status = lw_sweep_job_batch(job, 0, lw_sweep_count(sweep), NULL, error);
    return lw_sweep_job_end(job, status, error);
}

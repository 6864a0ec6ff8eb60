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
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct job {
    const lw_sweep *sweep;
    const lw_sweep_call *call;
    lw_sweep_file *file;
    lw_sweep_worker **workers;
    lw_sweep_row *rows;
    double start;
    atomic_ullong next;
    atomic_bool stop;
    pthread_mutex_t lock; /* of all below */
    lw_sweep_summary *summary;
    lw_status status;
    lw_error fault;
} job;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void count_row(job *j, const lw_sweep_row *row) {
    lw_sweep_summary *s = j->summary;
    s->done++;
    if (row->status == LW_SWEEP_FAILED) {
        if (s->failed++ == 0 || row->run < s->first_failed) s->first_failed = row->run;
    } else if (row->status == LW_SWEEP_DOUBTFUL) {
        if (s->doubtful++ == 0 || row->run < s->first_doubtful) s->first_doubtful = row->run;
    }
    if (j->call->row) j->call->row(j->sweep, row, j->call->context);
}

static void halt(job *j, const char *why) {
    if (!j->summary->stopped) j->summary->stopped = why;
    atomic_store(&j->stop, true);
}

static void give_up(job *j, lw_status status, const lw_error *error) {
    if (j->status == LW_OK) {
        j->status = status;
        j->fault = *error;
    }
    halt(j, "fault");
}

/* Asked during runs: looks whether the sweep is to stop, and lets no row wait long for the file. */
static bool ask(void *context) {
    job *j = context;
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

static void finish(job *j, const lw_sweep_row *row) {
    lw_error error = {0};
    pthread_mutex_lock(&j->lock);
    const lw_status status = j->file ? lw_sweep_file_add(j->file, row, &error) : LW_OK;
    if (status != LW_OK)
        give_up(j, status, &error);
    else
        count_row(j, row);
    if (j->call->most_failures > 0 && j->summary->failed >= j->call->most_failures) halt(j, "failures");
    pthread_mutex_unlock(&j->lock);
}

static void work(void *context, int thread, int chunk) {
    job *j = context;
    (void)chunk;
    lw_sweep_row *row = &j->rows[thread];
    while (!ask(j)) {
        const uint64_t run = atomic_fetch_add(&j->next, 1);
        lw_error error = {0};
        if (run >= lw_sweep_count(j->sweep)) return;
        pthread_mutex_lock(&j->lock);
        const bool there = j->file && lw_sweep_file_has(j->file, run);
        pthread_mutex_unlock(&j->lock);
        if (there) continue;
        const lw_status status = lw_sweep_worker_run(j->workers[thread], run, row, ask, j, &error);
        if (status == LW_ERROR_STOPPED) return;
        if (status == LW_OK) {
            finish(j, row);
            continue;
        }
        pthread_mutex_lock(&j->lock);
        give_up(j, status, &error);
        pthread_mutex_unlock(&j->lock);
    }
}

/* Takes the rows that the file had before into the books. */
static lw_status take_old_rows(job *j, lw_error *error) {
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

static lw_status run_threads(job *j, int count, lw_arena *arena, lw_error *error) {
    lw_threads *threads = lw_threads_create(count, arena);
    if (!threads) return lw_out_of_memory(error);
    const int given = lw_threads_count(threads);
    j->workers = LW_NEW(arena, lw_sweep_worker *, given);
    j->rows = LW_NEW(arena, lw_sweep_row, given);
    const int columns = lw_sweep_variable_count(j->sweep) + lw_sweep_measure_count(j->sweep);
    lw_status status = lw_arena_failed(arena) ? lw_out_of_memory(error) : LW_OK;
    for (int k = 0; k < given && status == LW_OK; k++) {
        j->rows[k].values = LW_NEW(arena, double, columns + 1);
        status = j->rows[k].values ? lw_sweep_worker_create(j->sweep, &j->workers[k], error)
                                   : lw_out_of_memory(error);
    }
    if (status == LW_OK) status = take_old_rows(j, error);
    if (status == LW_OK) lw_threads_run(threads, given, work, j);
    for (int k = 0; j->workers && k < given; k++) lw_sweep_worker_destroy(j->workers[k]);
    lw_threads_destroy(threads);
    return status;
}

lw_status lw_sweep_run(const lw_sweep *sweep, const lw_sweep_call *call, lw_sweep_summary *summary,
                       lw_error *error) {
    lw_sweep_summary unwanted;
    if (!sweep || !call) return lw_call_needs("a sweep and a call", error);
    if (!summary) summary = &unwanted;
    *summary = (lw_sweep_summary){0};
    job j = {.sweep = sweep, .call = call, .summary = summary, .start = now()};
    lw_status status =
        call->path ? lw_sweep_file_open(sweep, call->path, call->resume, &j.file, error) : LW_OK;
    if (status != LW_OK) return status;
    atomic_init(&j.next, 0);
    atomic_init(&j.stop, false);
    lw_arena *arena = lw_arena_create(NULL);
    if (!arena || pthread_mutex_init(&j.lock, NULL) != 0) {
        status = lw_out_of_memory(error);
    } else {
        status = run_threads(&j, call->jobs, arena, error);
        pthread_mutex_destroy(&j.lock);
    }
    if (status == LW_OK && j.status != LW_OK) {
        status = j.status;
        if (error) *error = j.fault;
    }
    lw_error unclosed = {0};
    const lw_status closed = j.file ? lw_sweep_file_close(j.file, &unclosed) : LW_OK;
    if (status == LW_OK && closed != LW_OK) {
        status = closed;
        if (error) *error = unclosed;
    }
    if (arena) lw_arena_destroy(arena);
    summary->wall_s = now() - j.start;
    if (status == LW_OK && summary->stopped && strcmp(summary->stopped, "interrupted") == 0)
        return lw_fail(error, LW_ERROR_STOPPED, NULL, NULL, "stopped on request");
    return status;
}

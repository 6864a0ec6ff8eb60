/* threads.c - threads that share the chunks of a job, again and again.
 *
 * Cost     a job costs some 0.1 us per thread while all are awake, and the time to wake them otherwise. No
 *          allocation but in create.
 */
#define _POSIX_C_SOURCE 200809L
#include "core/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct member {
    lw_threads *threads;
    pthread_t thread;
    _Alignas(64) atomic_int taken; /* number of chunks of its share that have been taken */
} member;

struct lw_threads {
    int count;   /* with members[0], which is the caller */
    pid_t owner; /* the process that has started them: a process forked from it has none of them */
    member *members;
    /* The present job. It is written only while no thread has joined and none may join. */
    int chunks;
    void (*work)(void *context, int thread, int chunk); /* NULL: the threads end */
    void *context;
    _Alignas(64) atomic_uint round; /* number of jobs so far */
    atomic_int busy; /* number of threads that have joined and not finished; CLOSED if none may join */
    /* lock and conditions for threads that sleep */
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    atomic_int sleepers;       /* number of threads that wait for `begin` */
    atomic_bool caller_sleeps; /* The caller waits for `end`. */
};

enum { CLOSED = -1 };

static void work_along(member *own) {
    lw_threads *threads = own->threads;
    int count = threads->count, self = (int)(own - threads->members);
    for (int k = 0; k < count; k++) {
        int index = (self + k) % count;
        member *share = &threads->members[index];
        int first = (int)((long)threads->chunks * index / count),
            end = (int)((long)threads->chunks * (index + 1) / count);
        for (int chunk; (chunk = first + atomic_fetch_add(&share->taken, 1)) < end;)
            threads->work(threads->context, self, chunk);
    }
}

/* A sleeping thread takes some 50 us to wake up, as long as a thousand states of a small mechanism. So a
 * thread polls for about that time before it goes to sleep, and while all are awake none touches the lock. A
 * thread announces that it goes to sleep before its last poll, and a thread that posts an event checks for
 * sleepers afterwards (both in the single order of all sequentially consistent operations), so that one of
 * the two notices the other. */
enum { LOOKS = 4000 }; /* about 0.1 ms */

static inline void breathe(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* A thread that wakes up when the others have done all the work does not join, so that none waits for it: on
 * a busy machine a job is not slower than on one thread. */
static bool join_in(lw_threads *threads) {
    int busy = atomic_load(&threads->busy);
    while (busy != CLOSED)
        if (atomic_compare_exchange_weak(&threads->busy, &busy, busy + 1)) return true;
    return false;
}

static void leave(lw_threads *threads) {
    if (atomic_fetch_sub(&threads->busy, 1) != 1 || !atomic_load(&threads->caller_sleeps)) return;
    pthread_mutex_lock(&threads->lock);
    pthread_cond_signal(&threads->end);
    pthread_mutex_unlock(&threads->lock);
}

/* Closes the job if no thread is busy; returns whether the job is closed. */
static bool close_job(lw_threads *threads) {
    int nobody = 0;
    return atomic_load(&threads->busy) == 0 &&
           atomic_compare_exchange_strong(&threads->busy, &nobody, CLOSED);
}

static void *serve(void *argument) {
    member *own = argument;
    lw_threads *threads = own->threads;
    for (unsigned done = 0;;) {
        for (int look = 0; look < LOOKS && atomic_load(&threads->round) == done; look++) breathe();
        if (atomic_load(&threads->round) == done) {
            pthread_mutex_lock(&threads->lock);
            atomic_fetch_add(&threads->sleepers, 1);
            while (atomic_load(&threads->round) == done) pthread_cond_wait(&threads->begin, &threads->lock);
            atomic_fetch_sub(&threads->sleepers, 1);
            pthread_mutex_unlock(&threads->lock);
        }
        done = atomic_load(&threads->round);
        if (!join_in(threads)) continue;
        if (!threads->work) return NULL;
        work_along(own);
        leave(threads);
    }
}

/* Posts a job, which threads may join from now on. */
static void post(lw_threads *threads) {
    for (int k = 0; k < threads->count; k++) atomic_store(&threads->members[k].taken, 0);
    atomic_store(&threads->busy, 0);
    atomic_fetch_add(&threads->round, 1);
    if (!atomic_load(&threads->sleepers)) return;
    pthread_mutex_lock(&threads->lock);
    pthread_cond_broadcast(&threads->begin);
    pthread_mutex_unlock(&threads->lock);
}

void lw_threads_run(lw_threads *threads, int chunks, void (*work)(void *context, int thread, int chunk),
                    void *context) {
    if (getpid() != threads->owner) {
        for (int chunk = 0; chunk < chunks; chunk++) work(context, 0, chunk);
        return;
    }
    threads->chunks = chunks, threads->work = work, threads->context = context;
    post(threads);
    work_along(&threads->members[0]);
    for (int look = 0; look < LOOKS; look++) {
        if (close_job(threads)) return;
        breathe();
    }
    pthread_mutex_lock(&threads->lock);
    atomic_store(&threads->caller_sleeps, true);
    while (!close_job(threads)) pthread_cond_wait(&threads->end, &threads->lock);
    atomic_store(&threads->caller_sleeps, false);
    pthread_mutex_unlock(&threads->lock);
}

lw_threads *lw_threads_create(int count, lw_arena *arena) {
    if (count <= 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        count = processors > 0 && processors < 1024 ? (int)processors : 1;
    }
    lw_threads *threads = LW_NEW(arena, lw_threads, 1);
    member *members = LW_NEW(arena, member, count);
    if (!threads || !members) return NULL;
    threads->members = members;
    threads->owner = getpid();
    atomic_init(&threads->busy, CLOSED);
    pthread_mutex_init(&threads->lock, NULL);
    pthread_cond_init(&threads->begin, NULL);
    pthread_cond_init(&threads->end, NULL);
    for (threads->count = 0; threads->count < count; threads->count++) {
        member *own = &members[threads->count];
        own->threads = threads;
        if (threads->count > 0 && pthread_create(&own->thread, NULL, serve, own) != 0) break;
    }
    return threads;
}

void lw_threads_destroy(lw_threads *threads) {
    if (!threads || getpid() != threads->owner) return;
    threads->work = NULL;
    post(threads); /* The job stays open, so that all threads join and end. */
    for (int k = 1; k < threads->count; k++) pthread_join(threads->members[k].thread, NULL);
    pthread_mutex_destroy(&threads->lock);
    pthread_cond_destroy(&threads->begin);
    pthread_cond_destroy(&threads->end);
}

int lw_threads_count(const lw_threads *threads) { return threads->count; }

/* sweep_ranks.c - the rows of a sweep by the ranks of MPI.
 *
 * Rank 0 gives blocks of runs, writes the file and shows the progress; the others compute, and send each row
 * as soon as it is done. Blocks shrink towards the end, so that no rank is left with much. Every rank has
 * read the same model and made the same plan, by which a row depends on its number alone: the rows are those
 * of threads, bit by bit.
 *
 * Rank 0 looks for messages every 50 to 200 us while there are none, so that it leaves its processor to
 * another rank. Among few ranks it computes too, by a thread that takes blocks as the others do and makes no
 * call of MPI; what both touch is behind one lock. With one rank alone it computes by its threads.
 *
 * Cost     a message of 200 bytes and 8 for each column, a row; two short ones a block.
 * Limits   a rank that dies ends the job, as MPI has it; rows that rank 0 has received are in the file within
 *          two seconds, and --resume goes on.
 */
#define _POSIX_C_SOURCE 200809L
#include "sweep_execute.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG_ASK = 1, TAG_BLOCK, TAG_ROW, TAG_FAULT };
enum { FEW = 16 }; /* ranks among which rank 0 computes too; of more, one that waits is no loss */

typedef struct block {
    uint64_t first, count; /* count 0: there is nothing more to do */
} block;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static size_t row_size(const lw_sweep *sweep) {
    const int columns = lw_sweep_variable_count(sweep) + lw_sweep_measure_count(sweep);
    return sizeof(lw_sweep_row) + (size_t)columns * sizeof(double);
}

/* --- rows ----------------------------------------------------------------------------------------- */

/* Rows that are computed at a time, each in the form in which it is sent: the row, then its values. */
typedef struct some_rows {
    int width;
    size_t size;
    char *room;
    lw_sweep_row *rows;
} some_rows;

static bool take_rows(some_rows *some, int width, size_t size) {
    *some =
        (some_rows){width, size, calloc((size_t)width, size), calloc((size_t)width, sizeof(lw_sweep_row))};
    for (int k = 0; some->room && some->rows && k < width; k++)
        some->rows[k].values = (double *)(void *)(some->room + (size_t)k * size + sizeof(lw_sweep_row));
    return some->room && some->rows;
}

static void give_rows_back(some_rows *some) {
    free(some->room);
    free(some->rows);
}

static void send_row(const some_rows *some, int k) {
    char *at = some->room + (size_t)k * some->size;
    memcpy(at, &some->rows[k], sizeof(lw_sweep_row));
    MPI_Send(at, (int)some->size, MPI_BYTE, 0, TAG_ROW, MPI_COMM_WORLD);
}

/* --- rank 0 --------------------------------------------------------------------------------------- */

typedef struct master {
    const lw_sweep *sweep;
    const lw_sweep_call *call;
    lw_sweep_file *file;
    lw_sweep_summary *summary;
    uint64_t next;
    int workers, busy; /* those that compute, and the ranks that have not been told the end */
    double start;
    lw_status status;
    lw_error *error;
    /* The thread that computes: while it does, the lock is held for all above. */
    pthread_mutex_t lock;
    lw_sweep_worker *worker;
    atomic_bool working, stop;
} master;

static void halt(master *m, const char *why) {
    if (!m->summary->stopped) m->summary->stopped = why;
    atomic_store(&m->stop, true);
}

static void give_up(master *m, lw_status status, const lw_error *error) {
    if (m->status == LW_OK) {
        m->status = status;
        if (m->error) *m->error = *error;
    }
    halt(m, "fault");
}

static void take_row(master *m, const lw_sweep_row *row, bool old) {
    lw_sweep_summary *s = m->summary;
    lw_error error = {0};
    const lw_status status = m->file && !old ? lw_sweep_file_add(m->file, row, &error) : LW_OK;
    if (status != LW_OK) {
        give_up(m, status, &error);
        return;
    }
    s->done++;
    if (row->status == LW_SWEEP_FAILED && (s->failed++ == 0 || row->run < s->first_failed))
        s->first_failed = row->run;
    if (row->status == LW_SWEEP_DOUBTFUL && (s->doubtful++ == 0 || row->run < s->first_doubtful))
        s->first_doubtful = row->run;
    if (m->call->row) m->call->row(m->sweep, row, m->call->context);
    if (m->call->most_failures > 0 && s->failed >= m->call->most_failures) halt(m, "failures");
}

/* The next runs that are not in the file, so many that every rank gets some eight blocks of what is left. */
static block next_block(master *m, uint64_t most) {
    const uint64_t count = lw_sweep_count(m->sweep);
    if (m->summary->stopped) return (block){0, 0};
    while (m->next < count && lw_sweep_file_has(m->file, m->next)) m->next++;
    uint64_t wanted = (count - m->next) / (8 * (uint64_t)m->workers);
    wanted = wanted < 1 ? 1 : wanted > most ? most : wanted;
    block b = {m->next, 0};
    while (b.count < wanted && m->next < count && !lw_sweep_file_has(m->file, m->next)) b.count++, m->next++;
    return b;
}

static void answer(master *m, const MPI_Status *message, void *room, size_t size) {
    if (message->MPI_TAG == TAG_ASK) {
        MPI_Recv(NULL, 0, MPI_BYTE, message->MPI_SOURCE, TAG_ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        block b = next_block(m, 64);
        if (b.count == 0) m->busy--;
        MPI_Send(&b, (int)sizeof b, MPI_BYTE, message->MPI_SOURCE, TAG_BLOCK, MPI_COMM_WORLD);
    } else if (message->MPI_TAG == TAG_ROW) {
        lw_sweep_row *row = room;
        MPI_Recv(room, (int)size, MPI_BYTE, message->MPI_SOURCE, TAG_ROW, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        row->values = (double *)(void *)(row + 1);
        take_row(m, row, false);
    } else {
        lw_error error = {0};
        MPI_Recv(&error, (int)sizeof error, MPI_BYTE, message->MPI_SOURCE, TAG_FAULT, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        give_up(m, error.status ? error.status : LW_ERROR_MEMORY, &error);
    }
}

/* Rows of the file from before go into the books. */
static lw_status take_old_rows(master *m, void *room) {
    lw_sweep_row *row = room;
    row->values = (double *)(void *)(row + 1);
    for (uint64_t run = 0; m->file && run < lw_sweep_count(m->sweep); run++) {
        if (!lw_sweep_file_has(m->file, run)) continue;
        const lw_status status = lw_sweep_file_get(m->file, run, row);
        if (status != LW_OK) return status;
        take_row(m, row, true);
    }
    return LW_OK;
}

static bool stopped(void *context) { return atomic_load(&((master *)context)->stop); }

/* What the thread of rank 0 does: blocks of as many rows as it computes at a time. */
static void *compute(void *context) {
    master *m = context;
    some_rows some;
    lw_error error = {0};
    lw_status status = LW_OK;
    const bool good = take_rows(&some, lw_sweep_worker_width(m->worker), row_size(m->sweep));
    if (!good) status = error.status = LW_ERROR_MEMORY;
    while (status == LW_OK) {
        pthread_mutex_lock(&m->lock);
        const block b = next_block(m, (uint64_t)some.width);
        pthread_mutex_unlock(&m->lock);
        if (b.count == 0) break;
        for (uint64_t k = 0; k < b.count; k++) some.rows[k].run = b.first + k;
        status = lw_sweep_worker_run_many(m->worker, some.rows, (int)b.count, stopped, m, &error);
        pthread_mutex_lock(&m->lock);
        for (uint64_t k = 0; k < b.count && status == LW_OK; k++) take_row(m, &some.rows[k], false);
        pthread_mutex_unlock(&m->lock);
    }
    if (status != LW_OK && status != LW_ERROR_STOPPED) {
        pthread_mutex_lock(&m->lock);
        give_up(m, status, &error);
        pthread_mutex_unlock(&m->lock);
    }
    give_rows_back(&some);
    atomic_store(&m->working, false);
    return NULL;
}

static void serve(master *m, void *room, size_t size) {
    long pause = 50000;
    double looked = now();
    while (m->busy > 0 || atomic_load(&m->working)) {
        int there = 0;
        MPI_Status message;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &message);
        if (there) {
            pthread_mutex_lock(&m->lock);
            answer(m, &message, room, size);
            pthread_mutex_unlock(&m->lock);
        } else
            nanosleep(&(struct timespec){0, pause}, NULL);
        pause = there ? 50000 : pause < 200000 ? 2 * pause : pause;
        if (now() - looked < 0.1) continue;
        looked = now();
        lw_error error = {0};
        pthread_mutex_lock(&m->lock);
        const lw_status status = lw_sweep_file_tick(m->file, &error);
        if (status != LW_OK) give_up(m, status, &error);
        if (m->call->interrupted && m->call->interrupted(m->call->context)) halt(m, "interrupted");
        if (m->call->budget > 0 && now() - m->start > m->call->budget) halt(m, "budget");
        pthread_mutex_unlock(&m->lock);
    }
}

/* Serves the other ranks, and computes beside if it can. */
static void serve_and_compute(master *m, void *room, size_t size) {
    pthread_t thread;
    int level = MPI_THREAD_SINGLE;
    lw_error error = {0};
    MPI_Query_thread(&level);
    bool computes = m->workers < FEW && level >= MPI_THREAD_FUNNELED && !m->summary->stopped &&
                    lw_sweep_worker_create(m->sweep, &m->worker, &error) == LW_OK;
    m->workers += computes;
    atomic_store(&m->working, computes);
    if (computes && pthread_create(&thread, NULL, compute, m) != 0) {
        atomic_store(&m->working, computes = false);
        m->workers--;
    }
    serve(m, room, size);
    if (computes) pthread_join(thread, NULL);
    lw_sweep_worker_destroy(m->worker);
}

static lw_status lead(const lw_sweep *sweep, const lw_sweep_call *call, int size, lw_sweep_summary *summary,
                      lw_error *error) {
    master m = {.sweep = sweep,
                .call = call,
                .summary = summary,
                .workers = size - 1,
                .busy = size - 1,
                .start = now(),
                .error = error};
    *summary = (lw_sweep_summary){0};
    const size_t room_size = row_size(sweep);
    void *room = malloc(room_size);
    atomic_init(&m.working, false);
    atomic_init(&m.stop, false);
    (void)pthread_mutex_init(&m.lock, NULL);
    if (call->path) m.status = lw_sweep_file_open(sweep, call->path, call->resume, &m.file, error);
    if (m.status == LW_OK && !room) m.status = LW_ERROR_MEMORY;
    if (m.status == LW_OK) m.status = take_old_rows(&m, room);
    if (m.status != LW_OK) halt(&m, "fault"); /* The others are told the end when they ask. */
    serve_and_compute(&m, room, room_size);
    pthread_mutex_destroy(&m.lock);
    free(room);
    lw_error unclosed = {0};
    const lw_status closed = lw_sweep_file_close(m.file, &unclosed);
    if (closed != LW_OK) give_up(&m, closed, &unclosed);
    summary->wall_s = now() - m.start;
    if (m.status == LW_OK && summary->stopped && strcmp(summary->stopped, "interrupted") == 0)
        m.status = LW_ERROR_STOPPED;
    return m.status;
}

/* --- the others ------------------------------------------------------------------------------------ */

static block receive_block(void) {
    block b;
    MPI_Recv(&b, (int)sizeof b, MPI_BYTE, 0, TAG_BLOCK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return b;
}

static void ask_for_block(void) { MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_ASK, MPI_COMM_WORLD); }

static void tell_fault(lw_status status, lw_error *error) {
    error->status = status;
    MPI_Send(error, (int)sizeof *error, MPI_BYTE, 0, TAG_FAULT, MPI_COMM_WORLD);
}

static void follow(const lw_sweep *sweep, const lw_sweep_call *call) {
    some_rows some = {0};
    lw_sweep_worker *worker = NULL;
    lw_error error = {0};
    lw_status status = lw_sweep_worker_create(sweep, &worker, &error);
    if (status == LW_OK && !take_rows(&some, lw_sweep_worker_width(worker), row_size(sweep)))
        status = LW_ERROR_MEMORY;
    if (status != LW_OK) tell_fault(status, &error);
    /* Who asks has sent all rows of the block before: when rank 0 has told all the end, it has all rows. */
    ask_for_block();
    for (block b = receive_block(); b.count > 0; b = receive_block()) {
        for (uint64_t run = b.first; run < b.first + b.count && status == LW_OK;) {
            int count = 0;
            for (; count < some.width && run < b.first + b.count; run++) some.rows[count++].run = run;
            status =
                lw_sweep_worker_run_many(worker, some.rows, count, call->interrupted, call->context, &error);
            for (int k = 0; k < count && status == LW_OK; k++) send_row(&some, k);
            if (status != LW_OK && status != LW_ERROR_STOPPED) tell_fault(status, &error);
        }
        ask_for_block();
    }
    lw_sweep_worker_destroy(worker);
    give_rows_back(&some);
}

lw_status sweep_execute(const lw_sweep *sweep, const lw_sweep_call *call, lw_sweep_summary *summary,
                        bool *silent, lw_error *error) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    *silent = rank > 0;
    if (size == 1) return lw_sweep_run(sweep, call, summary, error);
    if (rank == 0) return lead(sweep, call, size, summary, error);
    *summary = (lw_sweep_summary){0};
    follow(sweep, call);
    return LW_OK;
}

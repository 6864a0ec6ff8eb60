/* rollout_parts.h - the structure of a rollout, for the files that implement it.
 *
 * rollout.c          runs one by one, each thread with a simulation of its own
 * rollout_vectors.c  runs side by side in vectors
 */
#ifndef LW_ROLLOUT_PARTS_H
#define LW_ROLLOUT_PARTS_H

#include "core/threads.h"
#include "formulations/common/method_simd.h"
#include "simulation/simulation_parts.h"
#include <linkwork/rollout.h>

#include <stdatomic.h>

/* What a thread needs for runs side by side. */
typedef struct lw_side_by_side {
    lw_method *method;
    lw_method_options options;
    void *workspace;
    double *inputs; /* those of the present instant, which the method sees */
    /* Numbers of `room` runs, number k of run r at [k * room + r]: the state, a stage, rates, their sum. */
    double *q, *v, *stage_q, *stage_v, *rate_q, *rate_v, *sum_q, *sum_v, *tau;
    double *one_q, *one_v, *one_tau, *one_rate; /* one state */
} lw_side_by_side;

/* The data of one thread. */
typedef struct lw_rollout_worker {
    lw_rollout *rollout;
    int index; /* 0: the caller's thread */
    lw_simulation *simulation;
    const double *tau; /* joint forces of the present interval, or NULL */
    lw_side_by_side beside;
    /* The first run that has failed, and why; status is LW_OK if none has. */
    int failed;
    lw_status status;
    lw_error error;
} lw_rollout_worker;

struct lw_rollout {
    lw_arena *arena;
    const lw_model *model;
    lw_rollout_options options;
    lw_threads *threads;
    lw_rollout_worker *workers;
    const lw_method_simd *simd; /* NULL: one by one */
    int lanes;                  /* runs in a vector, 1: one by one */
    int room;                   /* runs that a thread advances side by side */
    bool (*interrupted)(void *context);
    void *context;
    atomic_bool stop;     /* The caller asked to stop. */
    lw_rollout_runs runs; /* of the call in progress */
};

/* Notes that a run has failed. */
void lw_rollout_failed(lw_rollout_worker *own, int run, lw_status status, const lw_error *error);
/* Has the caller asked to stop? His thread asks him. */
bool lw_rollout_stopped(lw_rollout_worker *own);

/* Takes memory of the side-by-side part, or says what of the model or the options does not permit it. */
lw_status lw_rollout_vectors_create(lw_rollout *rollout, lw_error *error);
void lw_rollout_vectors_destroy(lw_rollout *rollout);
/* What of the runs does not permit it. */
lw_status lw_rollout_vectors_check(const lw_rollout *rollout, const lw_rollout_runs *runs, lw_error *error);
/* Runs number chunk * room and so on. */
void lw_rollout_vectors_work(void *rollout, int thread, int chunk);

#endif

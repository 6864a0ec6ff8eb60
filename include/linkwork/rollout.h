/* rollout.h - many runs of one model in one call, on threads: from many states, by many inputs.
 *
 * A rollout is created once and asked as often as wanted, from one thread at a time; it has threads and
 * memory of its own, and the model must outlive it. Each of its threads has a simulation, which starts anew
 * for every run.
 *
 *   lw_rollout_options options;
 *   lw_rollout_defaults(model, &options);
 *   lw_rollout_create(model, &options, NULL, &rollout, &error);
 *   lw_rollout_run(rollout, &(lw_rollout_runs){.count = N, .instants = T, .times = times, .q = q, .v = v,
 *                                              .inputs = inputs, .q_out = q_out, .v_out = v_out}, &error);
 *
 * Numbers of a run stand together, those of an instant together within them: coordinate k of run r at instant
 * i is [(r * instants + i) * nq + k].
 *
 * A run gives, to the last bit, what a simulation gives that has the method of the rollout, its other options
 * and this run's start, and that is advanced from instant to instant: by lw_simulation_advance, or where
 * inputs or forces are given by lw_simulation_step_to, after lw_simulation_set_inputs. So it depends on its
 * own numbers alone: not on the other runs, their number, or the threads. Runs side by side in vectors
 * (`vectors`) depend on their own numbers alone, too, and are those of a simulation to rounding.
 */
#ifndef LINKWORK_ROLLOUT_H
#define LINKWORK_ROLLOUT_H

#include <linkwork/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_rollout lw_rollout;

typedef struct lw_rollout_options {
    /* Of every run. Method and integrator are chosen once, for the start that stands here or is the model's;
     * an integrator that nobody has named may be followed by bdf in a run, as in any. Of the call-backs only
     * `interrupted` is taken; the caller's thread asks it. */
    lw_run_options run;
    int threads; /* 0 or less: one for every processor */
    bool forces; /* Runs are given joint forces (tau): needs a method and an integrator that take them. */
    /* Runs advance side by side in the vectors of the processor: a tree with a fixed step by rk4, without
     * prescribed motions, events, user states, and conditions or knots in its forces, whose inputs are the
     * same for all runs; what else it has is refused by LW_ERROR_UNSUPPORTED. Steps end at the instants: an
     * interval is divided into equal steps that are at most as long as the step of the options. */
    bool vectors;
} lw_rollout_options;

/* lw_run_defaults, a thread for every processor, no forces, no vectors. */
LW_API void lw_rollout_defaults(const lw_model *model, lw_rollout_options *options);
/* allocator may be NULL. */
LW_API lw_status lw_rollout_create(const lw_model *model, const lw_rollout_options *options,
                                   const lw_allocator *allocator, lw_rollout **rollout, lw_error *error);
LW_API void lw_rollout_destroy(lw_rollout *rollout);

/* Its model, method and integrator; NULL for NULL. */
LW_API const lw_model *lw_rollout_model(const lw_rollout *rollout);
LW_API const char *lw_rollout_method(const lw_rollout *rollout);
LW_API const char *lw_rollout_integrator(const lw_rollout *rollout);
/* Threads that work, the caller's included; runs side by side in vectors, 1: none. 0 for NULL. */
LW_API int lw_rollout_threads(const lw_rollout *rollout);
LW_API int lw_rollout_lanes(const lw_rollout *rollout);

/* The runs of a call: first what is given, then places for results, of which any may be NULL. */
typedef struct lw_rollout_runs {
    int count;           /* runs */
    int instants;        /* of each */
    const double *times; /* `instants` of them, ascending, none before options.run.start */
    /* The starts: count x nq, nv, user states. NULL: those of the options or the model. Loops that are open
     * are closed (lw_assemble) unless options.run.as_given. */
    const double *q, *v, *states;
    /* Held from one instant to the next, the first from the start on: inputs, count x instants x inputs (NAN:
     * a default that is an expression; NULL: those of the options), and joint forces, count x instants x nv
     * (NULL: none). */
    const double *inputs, *tau;
    double *q_out, *v_out;            /* count x instants x nq, nv */
    double *states_out, *outputs_out; /* count x instants x user states, outputs */
    lw_status *status;                /* count: of each run */
} lw_rollout_runs;

/* Makes the runs. One that fails has NaN from the instant on that it has not reached, and the other runs are
 * made nevertheless; status and error, which begins with the run's number, are those of the first that has
 * failed. A run that an event of the model ends has NaN behind it and the status LW_EVENT, which is no
 * failure. LW_ERROR_ARGUMENT, before any run is made: a number that is given is not finite, times do not
 * ascend. LW_ERROR_STOPPED: the caller asked to stop; runs that were not finished have this status and
 * NaN. */
LW_API lw_status lw_rollout_run(lw_rollout *rollout, const lw_rollout_runs *runs, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif

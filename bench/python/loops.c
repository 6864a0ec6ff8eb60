/* loops.c - the loops of bench/python in C: what a call from Python is measured against, in the same process.
 *
 * Each function returns the time of one call, or of all runs, in seconds of the processor (`wall`: by the
 * wall clock), or a negative number if something has failed. The model comes as bytes (Model.to_bytes).
 */
#define _POSIX_C_SOURCE 200809L
#include <linkwork/linkwork.h>

#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* Found by their names. */
EXPORT int bench_open(const void *bytes, size_t size);
EXPORT double bench_calls(int count, const double *q, const double *v, const double *tau, double *vdot);
EXPORT int bench_rollout_open(double step, int threads, int vectors);
EXPORT double bench_rollout(int wall, int count, int instants, const double *times, const double *q,
                            const double *v, const double *tau, double *q_out, double *v_out);

static double now(bool wall) {
    struct timespec t;
    clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct subject {
    lw_spec *spec;
    lw_model *model;
    lw_solver *solver;
    lw_rollout *rollout;
} subject;

static subject it; /* of a benchmark, which has one */

EXPORT int bench_open(const void *bytes, size_t size) {
    lw_error error;
    lw_solver_options options;
    if (lw_spec_load(bytes, size, &it.spec, &error) != LW_OK) return 1;
    if (lw_model_compile(it.spec, NULL, NULL, &it.model) != LW_OK) return 2;
    lw_solver_defaults(it.model, &options);
    options.unchecked = true;
    return lw_solver_create(it.model, &options, NULL, &it.solver, &error) == LW_OK ? 0 : 3;
}

EXPORT double bench_calls(int count, const double *q, const double *v, const double *tau, double *vdot) {
    lw_error error;
    const double begin = now(false);
    for (int k = 0; k < count; k++)
        if (lw_solver_accelerations(it.solver, 0, q, v, tau, vdot, &error) != LW_OK) return -1;
    return (now(false) - begin) / count;
}

EXPORT int bench_rollout_open(double step, int threads, int vectors) {
    lw_rollout_options options;
    lw_error error;
    lw_rollout_destroy(it.rollout);
    lw_rollout_defaults(it.model, &options);
    options.run.method = "tree", options.run.integrator = "rk4";
    options.run.step = step, options.run.tolerance = 0;
    options.threads = threads, options.forces = true, options.vectors = vectors;
    return lw_rollout_create(it.model, &options, NULL, &it.rollout, &error) == LW_OK ? 0 : 1;
}

EXPORT double bench_rollout(int wall, int count, int instants, const double *times, const double *q,
                            const double *v, const double *tau, double *q_out, double *v_out) {
    const lw_rollout_runs runs = {.count = count,
                                  .instants = instants,
                                  .times = times,
                                  .q = q,
                                  .v = v,
                                  .tau = tau,
                                  .q_out = q_out,
                                  .v_out = v_out};
    lw_error error;
    const double begin = now(wall);
    return lw_rollout_run(it.rollout, &runs, &error) == LW_OK ? now(wall) - begin : -1;
}

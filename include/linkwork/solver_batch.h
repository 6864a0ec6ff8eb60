/* solver_batch.h - accelerations of many states of one model in one call, loops included: on the vectors of
 * the processor and on threads.
 *
 * A batch is created once and asked as often as wanted, from one thread at a time; it has threads and memory
 * of its own, and the model must outlive it. Number k of state s stands at [k * count + s]: coordinates q,
 * speeds v, joint forces tau and accelerations vdot alike.
 *
 *   lw_solver_options options;
 *   lw_solver_batch_defaults(model, &options);
 *   lw_solver_batch_create(model, &options, 0, NULL, &batch, &error);
 *   lw_solver_batch_accelerations(batch, count, t, q, v, NULL, vdot, &error);
 *
 * Every state has the answer that lw_solver_accelerations gives, to rounding. It depends on that state alone,
 * to the last bit: not on the other states, their number, or the number of threads.
 */
#ifndef LINKWORK_SOLVER_BATCH_H
#define LINKWORK_SOLVER_BATCH_H

#include <linkwork/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_solver_batch lw_solver_batch;

/* As lw_solver_defaults, but unchecked. */
LW_API void lw_solver_batch_defaults(const lw_model *model, lw_solver_options *options);
/* threads: 0 or less means one for every processor. With options.unchecked = false every answer is put to the
 * balance check, state by state; it then takes several times as long. allocator may be NULL. */
LW_API lw_status lw_solver_batch_create(const lw_model *model, const lw_solver_options *options, int threads,
                                        const lw_allocator *allocator, lw_solver_batch **batch,
                                        lw_error *error);
LW_API void lw_solver_batch_destroy(lw_solver_batch *batch);

/* Its model, and its method by name; NULL for NULL. */
LW_API const lw_model *lw_solver_batch_model(const lw_solver_batch *batch);
LW_API const char *lw_solver_batch_method(const lw_solver_batch *batch);
/* States that are solved side by side in vectors; 1: one after another. 0 for NULL. */
LW_API int lw_solver_batch_lanes(const lw_solver_batch *batch);
/* Threads that work, the caller's included. 0 for NULL. */
LW_API int lw_solver_batch_threads(const lw_solver_batch *batch);

/* vdot of `count` states at time t. tau may be NULL. A state that has no accelerations (LW_ERROR_SINGULAR,
 * and whatever lw_solver_accelerations refuses) has NaN in all of them; the other states are solved
 * nevertheless. Status and error are those of the first such state. */
LW_API lw_status lw_solver_batch_accelerations(lw_solver_batch *batch, int count, double t, const double *q,
                                               const double *v, const double *tau, double *vdot,
                                               lw_error *error);

#ifdef __cplusplus
}
#endif
#endif

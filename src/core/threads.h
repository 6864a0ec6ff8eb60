/* threads.h - threads that share the chunks of a job, again and again.
 *
 * They are started once. In a job each has its own share of the chunks, the same in every job of that size,
 * so that its data stay in its cache; a thread that has finished its share takes chunks of the others. The
 * caller's thread is number 0 and works along. In a process that has been forked from the one that has
 * started them there are none of them, and the caller does everything.
 */
#ifndef LW_THREADS_H
#define LW_THREADS_H

#include "core/core.h"

typedef struct lw_threads lw_threads;

/* count: 0 or less means one for every processor. Fewer are started if the system gives no more. NULL when
 * memory is out. The arena must outlive lw_threads_destroy. */
lw_threads *lw_threads_create(int count, lw_arena *arena);
/* Ends the threads; NULL is allowed. */
void lw_threads_destroy(lw_threads *threads);
/* With the caller's own. */
int lw_threads_count(const lw_threads *threads);

/* Calls work(context, thread, chunk) for chunk = 0 .. chunks - 1 and returns when all have been done. */
void lw_threads_run(lw_threads *threads, int chunks, void (*work)(void *context, int thread, int chunk),
                    void *context);

#endif

/* processor.h - which vectors the processor that runs this has instructions for.
 *
 * Code that is compiled for wide vectors is called only where these say so. On Windows they never do: a stack
 * there is aligned to 16 bytes, and gcc moves vectors of 32 and 64 to and from it by instructions that need
 * their full alignment (its bug 54412). All widths round alike, so that only speed depends on them.
 */
#ifndef LW_PROCESSOR_H
#define LW_PROCESSOR_H

#include <stdbool.h>

/* Vectors of 4 doubles. */
static inline bool lw_has_avx2(void) {
#if defined(__x86_64__) && !defined(_WIN32)
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

/* Vectors of 8 doubles. */
static inline bool lw_has_avx512(void) {
#if defined(__x86_64__) && !defined(_WIN32)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#else
    return false;
#endif
}

#endif

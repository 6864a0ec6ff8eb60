/* timing.h - times of calls on a machine that others use too.
 *
 * Candidates take turns: in each repetition every one of them makes its calls once, so that a slow moment of
 * the machine hits all alike. A ratio of two candidates is formed within each repetition; its median over the
 * repetitions counts. The measuring thread is pinned to one processor; its own processor time is what counts,
 * or the wall clock where several threads work.
 */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bench_case {
    /* Makes the given number of calls; returns a number that depends on all results. */
    double (*run)(void *context, int calls);
    void *context;
    int units;      /* states per call, to divide by */
    bool wall;      /* count wall-clock time */
    double *sample; /* filled by bench_measure: ns per unit in each repetition */
    int calls;      /* chosen by bench_measure: calls per repetition */
} bench_case;

/* Chooses the calls so that a repetition of a candidate takes about the given time (ms), and at least one. */
void bench_measure(bench_case *cases, int count, int repetitions, double ms);
void bench_cases_clear(bench_case *cases, int count);

double bench_median(const bench_case *c, int repetitions);
double bench_minimum(const bench_case *c, int repetitions);
/* Median of the ratio of the samples of a and b. */
double bench_ratio(const bench_case *a, const bench_case *b, int repetitions);

/* Number of processors this process may use. */
int bench_processors(void);

/* "processor model (vector instructions of interest)" and the compiler of this file. */
void bench_machine(char *text, size_t size);
const char *bench_compiler(void);

#endif

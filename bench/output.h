/* output.h - what the benchmarks share around the timing: their arguments, their CSV file, a process without helping threads.
 */
#ifndef BENCH_OUTPUT_H
#define BENCH_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct bench_output {
    bool quick;
    int repetitions;
    FILE *csv; /* may be NULL */
    char machine[512];
} bench_output;

/* First line of a CSV file of bench_output_row. */
#define BENCH_ROW "model,dof,call,threads,median_ns,min_ns,machine,compiler,version"

/* From the arguments [--quick] [--csv FILE]; ends the program with status 2 and a sentence if there are others, or the file
 * cannot be written. */
bench_output bench_output_open(const char *program, const char *csv_head, int argc, char **argv);
void bench_output_row(const bench_output *out, const char *model, size_t speeds, const char *call,
                      int threads, double median_ns, double least_ns);
void bench_output_close(bench_output *out);

/* Threads of a BLAS would do work that the clock of this thread does not see, and it reads their number before main: starts
 * the program anew without them. */
void bench_without_threads(char **argv);

#endif

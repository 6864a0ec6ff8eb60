/* output.c - arguments, CSV file and process of the benchmarks (Linux).
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "output.h"
#include "timing.h"
#include <linkwork/version.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bench_output bench_output_open(const char *program, const char *csv_head, int argc, char **argv) {
    bench_output out = {.repetitions = 101};
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--quick") == 0) {
            out.quick = true;
            out.repetitions = 15;
        } else if (strcmp(argv[k], "--csv") == 0 && k + 1 < argc) {
            out.csv = fopen(argv[++k], "w");
            if (out.csv) continue;
            fprintf(stderr, "%s: cannot write %s\n", program, argv[k]);
            exit(2);
        } else {
            fprintf(stderr, "usage: %s [--quick] [--csv FILE]\n", program);
            exit(2);
        }
    }
    bench_machine(out.machine, sizeof out.machine);
    if (out.csv) fprintf(out.csv, "%s\n", csv_head);
    return out;
}

void bench_output_row(const bench_output *out, const char *model, size_t speeds, const char *call,
                      int threads, double median_ns, double least_ns) {
    if (!out->csv) return;
    fprintf(out->csv, "\"%s\",%zu,%s,%d,%.1f,%.1f,\"%s\",\"%s\",%s\n", model, speeds, call, threads,
            median_ns, least_ns, out->machine, bench_compiler(), LW_VERSION);
}

void bench_output_close(bench_output *out) {
    if (out->csv) fclose(out->csv);
    out->csv = NULL;
}

void bench_without_threads(char **argv) {
    if (getenv("BENCH_WITHOUT_THREADS")) return;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("MKL_NUM_THREADS", "1", 1);
    setenv("BENCH_WITHOUT_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
}

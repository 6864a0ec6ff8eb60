/* balance.c - what the balance check costs in a run with 1000 samples: processor time with it against that without.
 *
 * Call: bench-balance [--quick] [--csv FILE]. Runs with and without the check take turns; the ratio is that of the least times.
 */
#define _POSIX_C_SOURCE 200809L
#include "output.h"
#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { PASSES = 15, QUICK_PASSES = 3 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool keep_going(const lw_sample *sample, void *context) {
    (void)sample, (void)context;
    return true;
}

/* Least processor time of a run, with and without. */
static bool time_runs(const lw_model *model, double end, int passes, double least[2]) {
    lw_error error = {0};
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.method = lw_method_auto(model, NULL, 0, &error);
    options.observe = keep_going;
    if (end > 0) options.end = end;
    least[0] = least[1] = HUGE_VAL;
    for (int pass = 0; pass < 2 * passes && options.method; pass++) {
        options.unchecked = pass % 2;
        double start = seconds();
        if (lw_simulate(model, &options, NULL, NULL, NULL, &error) != LW_OK) break;
        least[pass % 2] = fmin(least[pass % 2], seconds() - start);
    }
    if (!isfinite(least[1])) fprintf(stderr, "bench-balance: %s: %s\n", lw_model_name(model), error.message);
    return isfinite(least[1]);
}

int main(int argc, char **argv) {
    static const struct {
        const char *problem, *name, *value;
        double end;
    } runs[] = {{"four_bar", NULL, NULL, 0},
                {"andrews_squeezer", NULL, NULL, 0},
                {"chain", NULL, NULL, 0},
                {"ladder", "N", "128", 1}};
    bench_without_threads(argv);
    bench_output out = bench_output_open("bench-balance", "problem,checked_s,unchecked_s,ratio", argc, argv);
    int faults = 0;
    printf("the balance check in a run of 1000 samples\n\n  %-22s %12s %12s %8s\n", "problem", "with it, s",
           "without, s", "ratio");
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        char path[1024];
        const lw_setting setting = {runs[k].name, runs[k].value};
        lw_spec *spec = NULL;
        lw_model *model = NULL;
        double least[2];
        snprintf(path, sizeof path, "%s/%s/model.yaml", BENCH_PROBLEMS, runs[k].problem);
        if (lw_read_model(path, &setting, runs[k].name ? 1 : 0, NULL, &spec) == LW_OK &&
            lw_model_compile(spec, NULL, NULL, &model) == LW_OK &&
            time_runs(model, runs[k].end, out.quick ? QUICK_PASSES : PASSES, least)) {
            printf("  %-22s %12.4g %12.4g %8.3f\n", runs[k].problem, least[0], least[1], least[0] / least[1]);
            if (out.csv)
                fprintf(out.csv, "%s,%.6g,%.6g,%.4f\n", runs[k].problem, least[0], least[1],
                        least[0] / least[1]);
        } else
            faults++;
        lw_model_destroy(model);
        lw_spec_destroy(spec);
    }
    bench_output_close(&out);
    return faults > 0;
}

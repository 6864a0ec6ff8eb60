/* choice.c - how good the choice of `auto` is: time of a call by the method it takes against the best of all, on every problem.
 *
 * Call: bench-choice [--quick] [--csv FILE]. Times are those of linkwork compare (processor time, median of batches) in the assembled initial
 * state, the lesser of two comparisons each (--quick: one).
 */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "output.h"
#include <linkwork/linkwork.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES = 2, PROBLEMS = 256 };

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int problem_names(char **names) {
    DIR *folder = opendir(BENCH_PROBLEMS);
    int count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder)) && count < PROBLEMS;)
        if (entry->d_name[0] != '.') names[count++] = strdup(entry->d_name);
    if (folder) closedir(folder);
    qsort(names, (size_t)count, sizeof *names, by_name);
    return count;
}

/* Least time of each method over the passes; NaN: it does not apply, or is approximate. */
static bool time_methods(const lw_model *model, int passes, double *ns) {
    lw_comparison *results = calloc((size_t)lw_method_count(), sizeof *results);
    lw_compare_options options;
    lw_error error = {0};
    bool good = results != NULL;
    for (int k = 0; k < lw_method_count(); k++) ns[k] = NAN;
    for (int pass = 0; pass < passes && good; pass++) {
        int count = 0;
        lw_compare_defaults(model, &options);
        options.no_run = options.no_reactions = true;
        options.timing = 0.05;
        good = lw_compare(model, &options, results, &count, &error) == LW_OK;
        for (int r = 0; r < count && good; r++)
            for (int k = 0; k < lw_method_count(); k++)
                if (strcmp(results[r].method, lw_method_at(k).name) == 0 &&
                    results[r].verdict == LW_VERDICT_AGREES)
                    ns[k] = fmin(ns[k], results[r].ns_per_call);
    }
    if (!good) fprintf(stderr, "bench-choice: %s: %s\n", lw_model_name(model), error.message);
    free(results);
    return good;
}

int main(int argc, char **argv) {
    bench_without_threads(argv);
    bench_output out =
        bench_output_open("bench-choice", "problem,chosen,chosen_ns,best,best_ns,ratio", argc, argv);
    char *names[PROBLEMS];
    int problems = problem_names(names), faults = 0;
    double worst = 1, *ns = calloc((size_t)lw_method_count(), sizeof *ns);
    printf("auto against the best method, accelerations of the initial state\n\n");
    printf("  %-22s %-20s %12s   %-20s %12s %7s\n", "problem", "auto takes", "ns a call", "best", "ns a call",
           "ratio");
    for (int p = 0; p < problems && ns; p++) {
        char path[1024], why[256];
        snprintf(path, sizeof path, "%s/%s/model.yaml", BENCH_PROBLEMS, names[p]);
        lw_spec *spec = NULL;
        lw_model *model = NULL;
        const char *chosen = NULL;
        if (lw_read_model(path, NULL, 0, NULL, &spec) == LW_OK &&
            lw_model_compile(spec, NULL, NULL, &model) == LW_OK)
            chosen = lw_method_auto(model, why, sizeof why, NULL);
        if (!chosen || !time_methods(model, out.quick ? 1 : PASSES, ns)) {
            faults++;
        } else {
            int best = -1, mine = -1;
            for (int k = 0; k < lw_method_count(); k++) {
                if (strcmp(lw_method_at(k).name, chosen) == 0) mine = k;
                if (!isnan(ns[k]) && (best < 0 || ns[k] < ns[best])) best = k;
            }
            double ratio = ns[mine] / ns[best];
            if (!(ratio <= worst)) worst = ratio;
            printf("  %-22s %-20s %12.0f   %-20s %12.0f %7.2f\n", names[p], chosen, ns[mine],
                   lw_method_at(best).name, ns[best], ratio);
            if (out.csv)
                fprintf(out.csv, "%s,%s,%.6g,%s,%.6g,%.4g\n", names[p], chosen, ns[mine],
                        lw_method_at(best).name, ns[best], ratio);
        }
        lw_model_destroy(model);
        lw_spec_destroy(spec);
        free(names[p]);
    }
    printf("\n  largest ratio %.2f\n", worst);
    free(ns);
    bench_output_close(&out);
    return faults > 0;
}

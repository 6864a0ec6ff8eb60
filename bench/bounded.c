/* bounded.c - how even the steps of the linearly implicit integrator are: the car on four bushed wishbones.
 *
 * Call: bench-bounded [STEPS [PASSES]], 1e5 and 3. Every step of 1 ms is timed alone, in CPU time of the thread;
 * the same steps are taken again from a snapshot, pass after pass, and the shortest time of each counts, so
 * that what the machine does beside it falls out. Prints the median, the 99.9 % quantile, the worst, and the
 * evaluations per step.
 */
#define _POSIX_C_SOURCE 200809L
#include <linkwork/linkwork.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int fail(const lw_error *error) {
    fprintf(stderr, "bench-bounded: %s: %s\n", error->object, error->message);
    return 1;
}

int main(int count, char **arguments) {
    const int steps = count > 1 ? atoi(arguments[1]) : 100000, passes = count > 2 ? atoi(arguments[2]) : 3;
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_run_options options;
    lw_simulation *s = NULL;
    lw_error error = {0};
    if (steps < 1 || passes < 1 || lw_read_model(BENCH_MODEL, NULL, 0, report, &spec) != LW_OK ||
        lw_model_compile(spec, NULL, report, &model) != LW_OK)
        return 1;
    lw_run_defaults(model, &options);
    options.integrator = "rosenbrock", options.step = 1e-3, options.tolerance = 0;
    options.end = 1e-3 * (steps + 1);
    if (lw_simulation_create(model, &options, NULL, &s, &error) != LW_OK) return fail(&error);
    const size_t size = lw_simulation_snapshot_size(s);
    void *start = malloc(size);
    double *best = malloc((size_t)steps * sizeof *best);
    if (!start || !best || lw_simulation_save(s, start, size) != LW_OK) return 1;
    for (int pass = 0; pass < passes; pass++) {
        if (pass > 0 && lw_simulation_restore(s, start, size, &error) != LW_OK) return fail(&error);
        for (int k = 0; k < steps; k++) {
            const double before = now();
            if (lw_simulation_step(s, &error) != LW_OK) return fail(&error);
            const double took = now() - before;
            if (pass == 0 || took < best[k]) best[k] = took;
        }
    }
    lw_run_summary summary;
    lw_simulation_summary(s, &summary);
    int at = 0;
    for (int k = 1; k < steps; k++)
        if (best[k] > best[at]) at = k;
    qsort(best, (size_t)steps, sizeof *best, ascending);
    const double median = best[steps / 2], worst = best[steps - 1];
    printf("car on four bushed wishbones, %d freedoms, %d steps of 1 ms, shortest of %d passes\n",
           lw_model_v_size(model), steps, passes);
    printf("  median %.1f us, 99.9 %% %.1f us, worst %.1f us (step %d): %.2f times the median\n",
           1e6 * median, 1e6 * best[(int)(0.999 * steps)], 1e6 * worst, at, worst / median);
    printf("  %.3f evaluations per step\n", (double)summary.evaluations / (double)summary.steps);
    free(start), free(best);
    lw_simulation_destroy(s);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    return 0;
}

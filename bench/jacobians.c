/* jacobians.c - evaluations and steps of bdf with exact derivatives in Newton's matrix, and with differences.
 *
 * Call: bench-jacobians. Runs each mechanism twice from the same state with the same tolerance; the second time
 * the system hides its linear equations. Counts are repeatable; CPU times are those of this machine.
 */
#include "simulation/simulation_parts.h"
#include <linkwork/io.h>

#include <stdio.h>
#include <time.h>

typedef struct subject {
    const char *path, *method;
    double end;
} subject;

static const subject subjects[] = {
    {BENCH_ROOT "/tests/support/models/bushed_car.yaml", "rcr", 2},
    {BENCH_ROOT "/problems/chain/model.yaml", "tree", 0.1},
    {BENCH_ROOT "/problems/net/model.yaml", "rcr", 0.1},
    {BENCH_ROOT "/problems/n_four_bar/model.yaml", "rcr", 0.1},
    {BENCH_ROOT "/problems/ladder/model.yaml", "rcr", 0.1},
};

static int fail(const char *path, const lw_error *error) {
    fprintf(stderr, "bench-jacobians: %s: %s %s\n", path, error->object, error->message);
    return 1;
}

static int run(const subject *at, lw_simulation *s, bool exact) {
    lw_simulation_system system = s->system;
    lw_integration *integration;
    lw_integrator_statistics now;
    lw_error error = {0};
    const lw_integrator *bdf = s->integrator;
    system.base.accepted = NULL;
    system.effort.given = true;
    if (!exact) system.base.linearised = NULL;
    const clock_t start = clock();
    if (bdf->create(&system.base, &s->plan.integrator_options, s->t, s->y, NULL, &integration, &error) !=
            LW_OK ||
        bdf->advance(integration, at->end, at->end, s->next_y, &error) != LW_OK)
        return fail(at->path, &error);
    bdf->statistics(integration, &now);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("  %-11s %5ld steps %6ld evaluations %5.2f per step %7.3f s\n", exact ? "exact" : "differences",
           now.steps, now.evaluations, (double)now.evaluations / (double)now.steps, seconds);
    bdf->destroy(integration);
    return 0;
}

int main(void) {
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        lw_report *report = lw_report_create();
        lw_spec *spec = NULL;
        lw_model *model = NULL;
        lw_run_options options;
        lw_simulation *s = NULL;
        lw_error error = {0};
        if (lw_read_model(subjects[k].path, NULL, 0, report, &spec) != LW_OK ||
            lw_model_compile(spec, NULL, report, &model) != LW_OK)
            return 1;
        lw_run_defaults(model, &options);
        options.method = subjects[k].method, options.integrator = "bdf";
        options.step = 0, options.tolerance = 1e-8, options.end = subjects[k].end;
        if (lw_simulation_create(model, &options, NULL, &s, &error) != LW_OK)
            return fail(subjects[k].path, &error);
        printf("%s, %d states%s\n", lw_model_name(model), s->system.base.size - s->system.base.quadratures,
               s->system.base.linearised ? "" : ": no derivatives");
        if (run(&subjects[k], s, true) || run(&subjects[k], s, false)) return 1;
        lw_simulation_destroy(s);
        lw_model_destroy(model);
        lw_spec_destroy(spec);
        lw_report_destroy(report);
    }
    return 0;
}

/* prediction.c - what a call for accelerations takes against what the method predicts of it, on families of mechanisms that grow.
 *
 * Call: bench-prediction [--quick] [--csv FILE]. Times are the least of several batches (processor time) in the assembled initial state. The
 * prediction is in nanoseconds of a machine of the year, so what counts is that the ratio is the same for all sizes and families.
 */
#define _POSIX_C_SOURCE 200809L
#include "formulations/formulation.h"
#include "output.h"
#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Nanoseconds of a call, and the method's own prediction. */
static bool measure(const lw_model *model, const char *name, int batches, double *ns, double *predicted) {
    const double wanted = 0.02; /* s, of a batch */
    const lw_formulation *f = lw_formulation_find(name);
    const lw_method_options options = {.drift = LW_DRIFT_PROJECT};
    int nq = lw_model_q_size(model), nv = lw_model_v_size(model);
    double *q = calloc((size_t)(nq + 2 * nv) + 1, sizeof *q), *v = q + nq, *vdot = v + nv;
    lw_method *method = NULL;
    lw_error error;
    bool good = q != NULL;
    if (good) lw_model_initial_state(model, q, v);
    good = good && lw_assemble(model, 0, q, v, NULL, &error) == LW_OK && f->applies(model, &error) == LW_OK &&
           f->create(model, &options, &method, &error) == LW_OK &&
           f->accelerations(method, 0, q, v, NULL, vdot, NULL, NULL, &error) == LW_OK;
    *ns = HUGE_VAL;
    long calls = 1;
    for (int batch = 0; batch < batches && good; batch++) {
        double start = seconds();
        for (long k = 0; k < calls; k++) f->accelerations(method, 0, q, v, NULL, vdot, NULL, NULL, NULL);
        double time = seconds() - start;
        if (time < wanted && calls < 1L << 24)
            calls *= 2, batch = -1;
        else
            *ns = fmin(*ns, 1e9 * time / (double)calls);
    }
    if (good) *predicted = f->expense(method);
    if (method) f->destroy(method);
    free(q);
    return good;
}

int main(int argc, char **argv) {
    static const struct {
        const char *problem, *parameter, *values[4];
    } families[] = {{"trellis", "k", {"3", "6", "12", "24"}},
                    {"scissor", "N", {"4", "16", "32", "64"}},
                    {"net", "a", {"4", "8", "16", "32"}},
                    {"hub", "N", {"4", "16", "64", "128"}},
                    {"ladder", "N", {"4", "32", "128", "512"}}};
    static const char *const methods[] = {"rcr", "lagrange"};
    bench_without_threads(argv);
    bench_output out =
        bench_output_open("bench-prediction", "problem,size,method,ns,predicted_ns,ratio", argc, argv);
    int faults = 0;
    printf("a call for accelerations, and what the method predicts\n\n  %-10s %6s %-10s %12s %12s %8s\n",
           "problem", "size", "method", "us", "predicted", "ratio");
    for (size_t k = 0; k < sizeof families / sizeof *families; k++)
        for (int s = 0; s < (out.quick ? 2 : 4); s++) {
            char path[1024];
            const lw_setting setting = {families[k].parameter, families[k].values[s]};
            lw_spec *spec = NULL;
            lw_model *model = NULL;
            snprintf(path, sizeof path, "%s/%s/model.yaml", BENCH_PROBLEMS, families[k].problem);
            bool good = lw_read_model(path, &setting, 1, NULL, &spec) == LW_OK &&
                        lw_model_compile(spec, NULL, NULL, &model) == LW_OK;
            for (int m = 0; m < 2 && good; m++) {
                double ns, predicted;
                if (!measure(model, methods[m], out.quick ? 3 : 10, &ns, &predicted)) {
                    faults++;
                    continue;
                }
                printf("  %-10s %6s %-10s %12.4g %12.4g %8.2f\n", families[k].problem, families[k].values[s],
                       methods[m], 1e-3 * ns, 1e-3 * predicted, predicted / ns);
                fflush(stdout);
                if (out.csv)
                    fprintf(out.csv, "%s,%s,%s,%.5g,%.5g,%.4f\n", families[k].problem, families[k].values[s],
                            methods[m], ns, predicted, predicted / ns);
            }
            faults += !good;
            lw_model_destroy(model);
            lw_spec_destroy(spec);
        }
    bench_output_close(&out);
    return faults > 0;
}

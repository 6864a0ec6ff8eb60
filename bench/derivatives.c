/* derivatives.c - what exact derivatives of the accelerations cost, in calls of forward dynamics.
 *
 * Call: bench-derivatives [--quick] [--csv FILE]. Both take turns; the ratio is the median of those of the
 * repetitions. The derivatives are all of them, dq, dv and dtau, with the accelerations; both are unchecked.
 */
#include "models.h"
#include "output.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>

enum { STATES = 64, REPETITIONS = 41, QUICK_REPETITIONS = 5 };

typedef struct job {
    lw_derivatives *derivatives;
    lw_solver *solver;
    int next, count;
    size_t nq, nv;
    double *q, *v, *vdot, *dq, *dv, *dtau;
} job;

static double run_forward(void *context, int calls) {
    job *j = context;
    double sum = 0;
    for (int k = 0; k < calls; k++) {
        const size_t s = (size_t)(j->next = (j->next + 1) % j->count);
        lw_solver_accelerations(j->solver, 0, j->q + s * j->nq, j->v + s * j->nv, NULL, j->vdot, NULL);
        sum += j->vdot[0];
    }
    return sum;
}

static double run_derivatives(void *context, int calls) {
    job *j = context;
    double sum = 0;
    const lw_acceleration_derivatives out = {.dq = j->dq, .dv = j->dv, .dtau = j->dtau};
    for (int k = 0; k < calls; k++) {
        const size_t s = (size_t)(j->next = (j->next + 1) % j->count);
        lw_derivatives_of_accelerations(j->derivatives, 0, j->q + s * j->nq, j->v + s * j->nv, NULL, &out,
                                        NULL);
        sum += j->dq[0];
    }
    return sum;
}

static int measure(const char *name, const lw_model *model, const double *q, const double *v, int count,
                   const char *method, bench_output *out) {
    const size_t nq = (size_t)lw_model_q_size(model), nv = (size_t)lw_model_v_size(model);
    lw_solver_options options;
    lw_error error = {0};
    job j = {.count = count, .nq = nq, .nv = nv};
    lw_solver_defaults(model, &options);
    options.method = method, options.unchecked = true;
    if (lw_derivatives_create(model, &options, NULL, &j.derivatives, &error) != LW_OK) {
        fprintf(stderr, "bench-derivatives: %s: %s\n", name, error.message);
        return 1;
    }
    j.solver = lw_derivatives_solver(j.derivatives);
    j.q = bench_allocate(nq * (size_t)count, sizeof *j.q);
    j.v = bench_allocate(nv * (size_t)count, sizeof *j.v);
    for (size_t k = 0; k < nq * (size_t)count; k++) j.q[k] = q[k];
    for (size_t k = 0; k < nv * (size_t)count; k++) j.v[k] = v[k];
    j.vdot = bench_allocate(nv, sizeof *j.vdot);
    j.dq = bench_allocate(nv * nv, sizeof *j.dq);
    j.dv = bench_allocate(nv * nv, sizeof *j.dv);
    j.dtau = bench_allocate(nv * nv, sizeof *j.dtau);
    bench_case cases[2] = {{.run = run_forward, .context = &j, .units = 1},
                           {.run = run_derivatives, .context = &j, .units = 1}};
    const int repetitions = out->quick ? QUICK_REPETITIONS : REPETITIONS;
    bench_measure(cases, 2, repetitions, 2);
    const double forward = bench_median(&cases[0], repetitions), all = bench_median(&cases[1], repetitions),
                 ratio = bench_ratio(&cases[1], &cases[0], repetitions);
    printf("  %-22s %8zu %12.0f %12.0f %8.1f\n", name, nv, forward, all, ratio);
    if (out->csv) fprintf(out->csv, "%s,%zu,%.1f,%.1f,%.2f\n", name, nv, forward, all, ratio);
    bench_cases_clear(cases, 2);
    free(j.q);
    free(j.v);
    free(j.vdot);
    free(j.dq);
    free(j.dv);
    free(j.dtau);
    lw_derivatives_destroy(j.derivatives);
    return 0;
}

static int tree(bench_model *model, bench_output *out) {
    lw_model *compiled = bench_compile(model);
    bench_states *states = bench_states_create(model, STATES, 1);
    const size_t nq = (size_t)model->q_size, nv = (size_t)model->v_size;
    double *q = bench_allocate(nq * STATES, sizeof *q), *v = bench_allocate(nv * STATES, sizeof *v);
    for (size_t s = 0; s < STATES; s++)
        bench_to_linkwork(model, compiled, states->q + s * nq, states->v + s * nv, q + s * nq, v + s * nv);
    int faults = measure(model->name, compiled, q, v, STATES, "tree", out);
    free(q);
    free(v);
    bench_states_destroy(states);
    lw_model_destroy(compiled);
    bench_model_destroy(model);
    return faults;
}

static int problem(const char *name, bench_output *out) {
    char path[1024];
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    int faults = 1;
    snprintf(path, sizeof path, "%s/%s/model.yaml", BENCH_PROBLEMS, name);
    if (lw_read_model(path, NULL, 0, NULL, &spec) == LW_OK &&
        lw_model_compile(spec, NULL, NULL, &model) == LW_OK) {
        double *q = bench_allocate((size_t)lw_model_q_size(model), sizeof *q),
               *v = bench_allocate((size_t)lw_model_v_size(model), sizeof *v);
        lw_model_initial_state(model, q, v);
        if (lw_assemble(model, 0, q, v, NULL, NULL) == LW_OK)
            faults = measure(name, model, q, v, 1, NULL, out);
        free(q);
        free(v);
    }
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return faults;
}

int main(int argc, char **argv) {
    bench_without_threads(argv);
    bench_output out =
        bench_output_open("bench-derivatives", "model,speeds,forward_ns,derivatives_ns,ratio", argc, argv);
    printf(
        "derivatives of the accelerations by coordinates, speeds and forces\n\n  %-22s %8s %12s %12s %8s\n",
        "model", "speeds", "forward, ns", "all, ns", "ratio");
    int faults = tree(bench_chain(7), &out) + tree(bench_chain(30), &out) + tree(bench_humanoid(), &out);
    faults += problem("four_bar", &out) + problem("suspension", &out) + problem("stewart_platform", &out);
    bench_output_close(&out);
    return faults > 0;
}

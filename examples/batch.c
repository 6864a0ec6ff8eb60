/* batch.c - accelerations of 100 000 states of a mechanism in one call, on vector units and all processors. */
#include <linkwork/linkwork.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STATES = 100000 };

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "call: batch MODEL.yaml\n"), 2;
    lw_spec *spec;
    lw_model *model;
    lw_solver_batch *batch = NULL;
    lw_solver_options options;
    lw_error error = {0};
    if (lw_read_model(argv[1], NULL, 0, NULL, &spec) != LW_OK) return 1;
    if (lw_model_compile(spec, NULL, NULL, &model) != LW_OK) return 1;
    const size_t nq = (size_t)lw_model_q_size(model), nv = (size_t)lw_model_v_size(model);
    double *q = calloc((nq + 2 * nv) * STATES + 1, sizeof *q), *v = q + nq * STATES, *vdot = v + nv * STATES;
    double *q0 = calloc(nq + nv + 1, sizeof *q0);
    if (!q || !q0) return 1;
    lw_model_initial_state(model, q0, q0 + nq);
    lw_status status = lw_assemble(model, 0, q0, q0 + nq, NULL, &error); /* closes the loops, if it has any */
    for (size_t k = 0; k < nq; k++) /* number k of state s stands at [k * STATES + s] */
        for (size_t s = 0; s < STATES; s++) q[k * STATES + s] = q0[k];
    for (size_t k = 0; k < nv; k++)
        for (size_t s = 0; s < STATES; s++) v[k * STATES + s] = q0[nq + k] * (1 + 1e-6 * (double)s);
    lw_solver_batch_defaults(model, &options);
    if (status == LW_OK) /* 0: a thread for every processor */
        status = lw_solver_batch_create(model, &options, 0, NULL, &batch, &error);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    if (status == LW_OK) status = lw_solver_batch_accelerations(batch, STATES, 0, q, v, NULL, vdot, &error);
    clock_gettime(CLOCK_MONOTONIC, &after);
    const double seconds =
        (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    if (status == LW_OK)
        printf("%d states in %.1f ms; the first acceleration goes from %.9g to %.9g\n", STATES, 1e3 * seconds,
               vdot[0], vdot[STATES - 1]);
    else
        fprintf(stderr, "%s\n", error.message);
    lw_solver_batch_destroy(batch);
    free(q);
    free(q0);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return status == LW_OK ? 0 : 1;
}

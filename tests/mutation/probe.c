/* probe.c - the checked accelerations of one method on random mechanisms, for tests/mutation/run.
 *
 * Call: probe METHOD write|read FILE. States are made and written by the sound library, and read by the broken ones, which might make
 * others. One line for each mechanism that the method takes: its number, the outcome (ok, seen: the balance check
 * refused the answer, or failed: the method itself did), the amount of the balance, then the accelerations. Where bodies lack mass the
 * accelerations stand times the mass matrix: the laws of motion say nothing of an acceleration that moves no mass.
 */
#include "random_massless.h"
#include "formulations/common/checked_accelerations.h"
#include <linkwork/tree.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TREES = 24, LOOPS = 48, WITHOUT_MASS = 24 };

/* Of accelerations that which moves mass. */
static void weigh(const lw_model *model, double t, const double *q, double *vdot) {
    size_t n = (size_t)model->nv;
    double *mass = calloc(n * n + n + 1, sizeof *mass), *product = mass + n * n;
    lw_data *data;
    if (!mass || lw_data_create(model, NULL, &data) != LW_OK) exit(3);
    lw_tree_mass_matrix(model, data, t, q, mass);
    for (size_t k = 0; k < n * n; k++) product[k / n] += mass[k] * vdot[k % n];
    memcpy(vdot, product, n * sizeof *vdot);
    lw_data_destroy(data);
    free(mass);
}

static void answer(const lw_formulation *f, const lw_model *model, int number, double t, const double *q,
                   const double *v, const double *tau, bool massless) {
    const lw_method_options options = {0};
    lw_method *method;
    lw_error error = {0};
    if (f->applies(model, &error) != LW_OK || f->create(model, &options, &method, &error) != LW_OK) {
        printf("%d refused\n", number);
        return;
    }
    lw_checked *checked = lw_checked_create(model);
    double *vdot = calloc((size_t)model->nv + 1, sizeof *vdot), amount = 0;
    if (!checked || !vdot) exit(3);
    lw_status status = lw_checked_accelerations(checked, &(lw_checked_state){method, &options, t, q, v, tau},
                                                (lw_checked_answer){.vdot = vdot, .amount = &amount}, &error);
    bool unbalanced = status != LW_OK && strstr(error.message, "method") == error.message;
    if (massless) weigh(model, t, q, vdot);
    printf("%d %s %.3g", number, status == LW_OK ? "ok" : unbalanced ? "seen" : "failed", amount);
    for (int k = 0; k < model->nv; k++) printf(" %.17g", vdot[k]);
    printf("\n");
    fflush(stdout);
    free(vdot);
    lw_checked_destroy(checked);
    f->destroy(method);
}

/* The state of a mechanism from the file, or into it. */
static void exchange(FILE *file, bool write, const lw_model *model, double *q, double *v) {
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    size_t done = write ? fwrite(q, sizeof *q, nq, file) + fwrite(v, sizeof *v, nv, file)
                        : fread(q, sizeof *q, nq, file) + fread(v, sizeof *v, nv, file);
    if (done != nq + nv) exit(4);
}

int main(int argc, char **argv) {
    const lw_formulation *f = argc == 4 ? lw_formulation_find(argv[1]) : NULL;
    bool write = f && strcmp(argv[2], "write") == 0;
    FILE *file = f ? fopen(argv[3], write ? "wb" : "rb") : NULL;
    if (!f || !file) return 2;
    double q[512], v[512], tau[512];
    for (int seed = 0; seed < TREES; seed++) {
        lw_random random = random_seed((uint64_t)seed + 4100);
        random_tree options = {.bodies = 2 + random_below(&random, 5),
                               .forces = seed % 2,
                               .prescribed = seed % 3 == 1,
                               .reversed = seed % 4 < 2,
                               .aligned = seed % 5 < 3,
                               .joint = -1};
        lw_model *model = random_tree_model(&random, &options);
        double t = random_between(&random, 0, 3);
        random_state(&random, model, q, v);
        random_vector(&random, model->nv, 3, tau);
        answer(f, model, seed, t, q, v, tau, false);
        lw_model_destroy(model);
    }
    for (int seed = 0; seed < LOOPS; seed++) {
        random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        random_loops_state(&loops, model, seed % 3 > 0, q, v);
        random_vector(&loops.random, model->nv, 3, tau);
        exchange(file, write, model, q, v);
        answer(f, model, TREES + seed, loops.t, q, v, tau, false);
        lw_model_destroy(model);
    }
    for (int seed = 0; seed < 2 * WITHOUT_MASS; seed++) { /* trees, then loops, at rest */
        random_loops loops;
        /* couplings may need a coordinate that another choice of cuts has lost */
        if (seed >= WITHOUT_MASS && seed % LOOP_KINDS == LOOP_CONSTRAINED) continue;
        lw_model *model = seed < WITHOUT_MASS ? random_massless_model((uint64_t)seed, 2 + seed % 6,
                                                                      seed % 2 ? HOLD_DAMPED : HOLD_SPRUNG, 0)
                                              : random_massless_loops(&loops, seed, 0);
        lw_model_initial_state(model, q, v);
        if (seed >= WITHOUT_MASS) random_loops_configuration(&loops, model, q);
        answer(f, model, TREES + LOOPS + seed, 0, q, v, NULL, true);
        lw_model_destroy(model);
    }
    fclose(file);
    return 0;
}

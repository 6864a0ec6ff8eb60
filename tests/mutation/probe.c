/* probe.c - the checked accelerations of one method on random mechanisms, for tests/mutation/run.
 *
 * Call: probe METHOD write|read FILE. States are made and written by the sound library, and read by the broken ones, which might make
 * others. One line for each mechanism that the method takes: its number, the outcome (ok, seen: the balance check
 * refused the answer, or failed: the method itself did), then the accelerations.
 */
#include "random_loops.h"
#include "formulations/checked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TREES = 24, LOOPS = 48 };

static void answer(const lw_formulation *f, const lw_model *model, int number, double t, const double *q,
                   const double *v, const double *tau) {
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
    lw_status status =
        lw_checked_accelerations(checked, method, &options, t, q, v, tau, vdot, NULL, NULL, &amount, &error);
    bool unbalanced = status != LW_OK && strstr(error.message, "method") == error.message;
    printf("%d %s", number, status == LW_OK ? "ok" : unbalanced ? "seen" : "failed");
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
        answer(f, model, seed, t, q, v, tau);
        lw_model_destroy(model);
    }
    for (int seed = 0; seed < LOOPS; seed++) {
        random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        random_loops_state(&loops, model, seed % 3 > 0, q, v);
        random_vector(&loops.random, model->nv, 3, tau);
        exchange(file, write, model, q, v);
        answer(f, model, TREES + seed, loops.t, q, v, tau);
        lw_model_destroy(model);
    }
    fclose(file);
    return 0;
}

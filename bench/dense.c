/* dense.c - the dense routines of our own next to those of LAPACK, from small sizes to large ones: where the
 * limits of src/linalg/dense.c come from.
 *
 * A row gives the microseconds of one call for a matrix of n rows and columns, by our own routines without
 * and with AVX2 and by LAPACK, and the ratio of the last two: above one, ours are the faster ones.
 */
#include "linalg/dense_routines.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128, COUNT = MOST * MOST, REPETITIONS = 15 };

typedef struct subject {
    int n, order[MOST], integers[8 * MOST], work_size;
    double A[COUNT], S[COUNT], B[COUNT], C[COUNT], U[COUNT], V[COUNT], F[COUNT], x[MOST], s[MOST], tau[MOST];
    double *work;
} subject;

typedef void operation(const lw_dense_routines *by, subject *o);

static size_t square(const subject *o) { return (size_t)o->n * (size_t)o->n * sizeof(double); }

static void multiply(const lw_dense_routines *by, subject *o) {
    by->multiply(false, false, o->n, o->n, o->n, 1, o->A, o->B, 0, o->C);
}
static void multiply_transposed(const lw_dense_routines *by, subject *o) {
    by->multiply(true, false, o->n, o->n, o->n, 1, o->A, o->B, 0, o->C);
}
static void cholesky(const lw_dense_routines *by, subject *o) {
    memcpy(o->F, o->S, square(o));
    by->cholesky(o->n, o->F);
}
static void semidefinite(const lw_dense_routines *by, subject *o) {
    memcpy(o->F, o->S, square(o));
    by->semidefinite(o->n, o->F, o->order, o->work, 1e-15);
}
static void indefinite(const lw_dense_routines *by, subject *o) {
    memcpy(o->F, o->A, square(o));
    by->indefinite(o->n, o->F, o->order, o->work, o->work_size);
}
static void qr(const lw_dense_routines *by, subject *o) {
    memcpy(o->F, o->A, square(o));
    by->qr(o->n, o->n, o->F, o->order, o->tau, o->work, o->work_size);
}
static void reflect_one(const lw_dense_routines *by, subject *o) {
    by->reflect(true, o->n, o->n, o->F, o->tau, 1, o->x, o->work, o->work_size);
}
static void reflect_many(const lw_dense_routines *by, subject *o) {
    by->reflect(true, o->n, o->n, o->F, o->tau, o->n, o->C, o->work, o->work_size);
}
static void svd(const lw_dense_routines *by, subject *o) {
    memcpy(o->F, o->A, square(o));
    by->svd(o->n, o->n, o->F, o->s, o->U, o->V, o->tau, o->integers, o->work, o->work_size);
}

static const struct {
    const char *name;
    operation *run;
} operations[] = {
    {"multiply A B", multiply},
    {"multiply A'B", multiply_transposed},
    {"cholesky", cholesky},
    {"semidefinite", semidefinite},
    {"indefinite", indefinite},
    {"qr", qr},
    {"reflect, 1 column", reflect_one},
    {"reflect, n columns", reflect_many},
    {"svd", svd},
};

/* Random numbers between -1 and 1; S is positive definite, its factor well conditioned. */
static void fill(subject *o) {
    const int n = o->n;
    unsigned seed = 1;
    for (int k = 0; k < n * n; k++) {
        seed = seed * 1664525u + 1013904223u, o->A[k] = (double)(seed >> 8) / 0x1p23 - 1;
        seed = seed * 1664525u + 1013904223u, o->B[k] = (double)(seed >> 8) / 0x1p23 - 1;
        o->S[k] = 0.1 * o->A[k] / n, o->C[k] = o->B[k];
    }
    for (int i = 0; i < n; i++) o->S[i * (n + 1)] = 1, o->x[i] = o->A[i];
}

typedef struct candidate {
    operation *run;
    const lw_dense_routines *by;
    subject *o;
} candidate;

static double run_calls(void *context, int calls) {
    const candidate *c = context;
    for (int k = 0; k < calls; k++) {
        if (k % 16 == 0) fill(c->o); /* else what is solved in place would grow */
        c->run(c->by, c->o);
    }
    return c->o->C[0] + c->o->s[0] + c->o->x[0];
}

int main(void) {
    static const int sizes[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, MOST};
    subject *o = calloc(1, sizeof *o);
    if (!o) return 1;
    const lw_dense_routines *const by[] = {&lw_dense_own, &lw_dense_own_avx2, lw_dense_lapack()};
    for (int k = 0; k < 3; k++) {
        const int size =
            by[k]->qr_work(MOST, MOST) + by[k]->svd_work(MOST, MOST) + by[k]->indefinite_work(MOST);
        if (size > o->work_size) o->work_size = size;
    }
    o->work = calloc((size_t)o->work_size, sizeof *o->work);
    for (size_t q = 0; q < sizeof operations / sizeof *operations && o->work; q++) {
        printf("%s\n%6s %10s %10s %10s %8s\n", operations[q].name, "n", "own", "own, avx2", "lapack",
               "ratio");
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            double us[3] = {0};
            o->n = sizes[k];
            candidate candidates[3];
            bench_case cases[3];
            for (int form = 0; form < 3; form++) {
                candidates[form] = (candidate){operations[q].run, by[form], o};
                cases[form] = (bench_case){.run = run_calls, .context = &candidates[form], .units = 1};
            }
            bench_measure(cases, 3, REPETITIONS, 1);
            for (int form = 0; form < 3; form++) us[form] = 1e-3 * bench_minimum(&cases[form], REPETITIONS);
            printf("%6d %10.3f %10.3f %10.3f %8.2f\n", o->n, us[0], us[1], us[2],
                   bench_ratio(&cases[2], &cases[1], REPETITIONS));
            bench_cases_clear(cases, 3);
        }
    }
    free(o->work), free(o);
    return 0;
}

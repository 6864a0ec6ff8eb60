/* sparse_klu.c - square sparse systems by KLU: part of the full library alone.
 *
 * Source   Davis, Palamadai Natarajan: KLU, ACM TOMS 37 (2010).
 * Cost     linear in the entries of the factors, nearly.
 */
#include "linalg/sparse.h"

#include <klu.h>
#include <stdlib.h>

struct lw_sparse {
    int n, *start, *index;
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
};

lw_sparse *lw_sparse_create(int n, int *start, int *index) {
    lw_sparse *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->n = n, s->start = start, s->index = index;
    klu_defaults(&s->common);
    s->symbolic = klu_analyze(n, start, index, &s->common);
    if (s->symbolic) return s;
    lw_sparse_destroy(s);
    return NULL;
}

void lw_sparse_destroy(lw_sparse *s) {
    if (!s) return;
    if (s->numeric) klu_free_numeric(&s->numeric, &s->common);
    if (s->symbolic) klu_free_symbolic(&s->symbolic, &s->common);
    free(s);
}

bool lw_sparse_factor(lw_sparse *s, double *value, bool anew) {
    if (s->numeric && !anew && klu_refactor(s->start, s->index, value, s->symbolic, s->numeric, &s->common) &&
        s->common.status == KLU_OK)
        return true;
    if (s->numeric) klu_free_numeric(&s->numeric, &s->common);
    s->numeric = klu_factor(s->start, s->index, value, s->symbolic, &s->common);
    return s->numeric && s->common.status == KLU_OK;
}

void lw_sparse_solve(lw_sparse *s, double *x) { klu_solve(s->symbolic, s->numeric, s->n, 1, x, &s->common); }

double lw_sparse_condition(lw_sparse *s, double *value) {
    if (!s->numeric) return 1;
    klu_condest(s->start, value, s->symbolic, s->numeric, &s->common);
    return s->common.condest;
}

long lw_sparse_fill(const lw_sparse *s) {
    return s->numeric ? (long)s->numeric->lnz + (long)s->numeric->unz : 0;
}

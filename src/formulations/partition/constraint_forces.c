/* constraint_forces.c - physical reactions of closures and constraints by three schemes.
 *
 *   B'f = C'lambda,   rows of C = rows of B times factors: f = factors times lambda                  (32)
 *   (B M^-1 B') f = B ([0; xi] - M^-1 h)                                                             (35)
 *   [B' M D'] [f; 0] = M vdot - h                                                              (36), (37)
 *   B'f = M vdot - h                                                                                 (38)
 *
 *   (35)  With B [0; xi] - B M^-1 h = B M^-1 (M [0; xi] - h) and M = L L', these are the normal equations of
 *         the least-squares problem L^-1 B'f = L^-1 (M [0; xi] - h). It is solved by reflections, because
 *         B M^-1 B' is singular where rows are redundant.
 *   (37)  A square matrix needs independent rows: those that pivoting finds. The others carry no force.
 *   (38)  The equations of the dependent coordinates, C_D'lambda = (M vdot - h)_D: C_D is factored already.
 *
 * Source   Blajer, Schiehlen & Schirm (1994), eqs 32-38, appendix B; docs/theory/partition.md, 5.
 * Cost     (35) O(n^3 + n^2 m), (37) O(n^3 + n^2 m), (38) O(m n); dense, no allocation.
 */
#include "formulations/partition/constraint_forces.h"

#include <math.h>
#include <string.h>

struct lw_constraint_forces {
    double *M; /* n x n: L */
    double *B; /* n x m, factored */
    double *K; /* n x n: [B' M D'], factored */
    double *x; /* n */
    int *order, *columns;
    lw_orthogonal *orthogonal;
    lw_orthogonal *square;
};

const char *lw_scheme_name(lw_scheme scheme) {
    static const char *const names[LW_SCHEMES] = {
        [LW_SCHEME_35] = "(35)", [LW_SCHEME_37] = "(37)", [LW_SCHEME_38] = "(38)"};
    return names[scheme];
}

lw_constraint_forces *lw_constraint_forces_create(const lw_partition *p, lw_arena *arena) {
    lw_constraint_forces *d = LW_NEW(arena, lw_constraint_forces, 1);
    if (!d) return NULL;
    size_t n = (size_t)p->n + 1, m = (size_t)p->m + 1;
    d->M = LW_NEW(arena, double, n *n);
    d->B = LW_NEW(arena, double, n *m);
    d->K = LW_NEW(arena, double, n *n);
    d->x = LW_NEW(arena, double, n + m);
    d->order = LW_NEW(arena, int, m);
    d->columns = LW_NEW(arena, int, n);
    d->orthogonal = lw_orthogonal_create(p->n, p->m, false);
    d->square = lw_orthogonal_create(p->n, p->n, false);
    if (d->M && !lw_arena_failed(arena) && d->orthogonal && d->square) return d;
    lw_constraint_forces_destroy(d);
    return NULL;
}

void lw_constraint_forces_destroy(lw_constraint_forces *d) {
    if (!d) return;
    lw_orthogonal_destroy(d->orthogonal);
    lw_orthogonal_destroy(d->square);
    d->orthogonal = d->square = NULL;
}

/* The number of leading pivots of an n-row factor that exceed the tolerance. */
static int rank_of(const double *R, size_t n, int pivots, double tolerance) {
    int rank = 0;
    while (rank < pivots && fabs(R[(size_t)rank * (n + 1)]) > tolerance) rank++;
    return rank;
}

static lw_status by_inverse(lw_constraint_forces *d, lw_partition *p, const double *before, double *lambda,
                            lw_error *error) {
    const double vanished = 1e-12; /* of a pivot, relative to its diagonal entry */
    size_t n = (size_t)p->n;
    memcpy(d->M, p->M, n * n * sizeof *d->M);
    bool regular = lw_cholesky_factor(NULL, p->n, d->M, NULL);
    for (size_t i = 0; regular && i < n; i++)
        regular = d->M[i * (n + 1)] * d->M[i * (n + 1)] > vanished * p->M[i * (n + 1)];
    if (!regular)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "take scheme (37) or (38)",
                       "the mass matrix has no inverse, and scheme (35) needs one");
    for (size_t r = 0; r < (size_t)p->m; r++) {
        memcpy(d->B + r * n, p->C + r * n, n * sizeof *d->B);
        lw_cholesky_lower(p->n, d->M, 0, d->B + r * n);
    }
    for (size_t i = 0; i < n; i++) d->x[i] = before[i] * p->units[i];
    lw_cholesky_lower(p->n, d->M, 0, d->x);
    lw_qr_factor(d->orthogonal, p->n, p->m, d->B, d->order, 0);
    lw_qr_apply(d->orthogonal, true, p->n, p->m, d->B, 1, d->x);
    lw_qr_triangle(false, p->d, p->n, d->B, 1, d->x, p->n); /* C has the rank d of C_D */
    for (int r = 0; r < p->m; r++) lambda[d->order[r]] = r < p->d ? d->x[r] : 0;
    return LW_OK;
}

static lw_status by_square(lw_constraint_forces *d, lw_partition *p, const double *after, double *lambda,
                           lw_error *error) {
    size_t n = (size_t)p->n;
    int dependent = p->d;
    memcpy(d->B, p->C, n * (size_t)p->m * sizeof *d->B); /* rows of C are columns here */
    lw_qr_factor(d->orthogonal, p->n, p->m, d->B, d->order, 0);
    for (int j = 0; j < dependent; j++)
        memcpy(d->K + (size_t)j * n, p->C + (size_t)d->order[j] * n, n * sizeof *d->K);
    memcpy(d->K + (size_t)dependent * n, p->MD, n * (size_t)p->k * sizeof *d->K);
    for (int j = dependent; j < p->n; j++) { /* columns of C have no dimension, those of M D' that of mass */
        double most = 0, *column = d->K + (size_t)j * n;
        for (size_t i = 0; i < n; i++) most = fmax(most, fabs(column[i]));
        for (size_t i = 0; i < n && most > 0; i++) column[i] /= most;
    }
    int pivots = lw_qr_factor(d->square, p->n, p->n, d->K, d->columns, 0);
    int rank = rank_of(d->K, n, pivots, 0);
    if (rank < p->n)
        return lw_fail(error, LW_ERROR_SINGULAR, NULL, "take scheme (38)",
                       "the matrix of scheme (37) is singular");
    for (size_t i = 0; i < n; i++) d->x[i] = after[i] * p->units[i];
    lw_qr_apply(d->square, true, p->n, p->n, d->K, 1, d->x);
    lw_qr_triangle(false, p->n, p->n, d->K, 1, d->x, p->n);
    for (int r = 0; r < p->m; r++) lambda[r] = 0;
    for (int j = 0; j < p->n; j++)
        if (d->columns[j] < dependent) lambda[d->order[d->columns[j]]] = d->x[j];
    return LW_OK;
}

lw_status lw_constraint_forces_solve(lw_constraint_forces *d, lw_partition *p, lw_scheme scheme,
                                     const double *before, const double *after, double *lambda,
                                     lw_error *error) {
    if (p->m == 0) return LW_OK;
    if (scheme == LW_SCHEME_35) return by_inverse(d, p, before, lambda, error);
    if (scheme == LW_SCHEME_37) return by_square(d, p, after, lambda, error);
    lw_partition_multipliers(p, after, lambda);
    return LW_OK;
}

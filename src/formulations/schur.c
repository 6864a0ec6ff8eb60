/* schur.c - the formulation `schur`: reaction forces first, then each body by itself.
 *
 *   H'J^-1 H lambda = gamma - H'J^-1 u,   a = J^-1 (u + H lambda)                              (12)-(14), (50)
 *
 * by the appendix's way, which never forms the matrix on the left:
 *
 *   J = L L'                     3 x 3 Cholesky factors of the inertias, roots of the masses
 *   L^-1 H D P = Q R             with column pivoting; D makes the columns unit vectors, so that rank has no units
 *   g = R11^-T (P'D gamma)_1     R11: leading rank x rank triangle
 *   L'a = Q (g; c_2),  R11 (P'D^-1 lambda)_1 = g - c_1,   (c_1; c_2) = Q'L^-1 u
 *
 * Columns beyond the rank belong to rows that follow from others: their multipliers are zero.
 *
 * Source   Mufti (1983), eqs 12-14, 50, A-3 to A-5, case 2; docs/theory/schur.md.
 * Cost     O(bodies rows^2), dense; no allocation but in create.
 * Limits   masses and inertias must have inverses.
 */
#include "formulations/reduction.h"
#include "formulations/scaling.h"
#include "linalg/dense.h"

#include <math.h>

typedef struct schur_method {
    lw_reduction reduction;
    lw_orthogonal *work;
    int rank, *order;   /* columns in the order of pivoting */
    double *root;       /* L: 6 per body (11, 22, 33, 21, 31, 32) */
    double *A;          /* L^-1 H D, then its factors: 6 bodies x rows */
    double *scale;      /* D */
    double *c;          /* 6 per body */
    double *g, *lambda; /* in the order of pivoting */
} schur_method;

extern const lw_formulation lw_formulation_schur;

/* --- roots of the inertias ------------------------------------------------------------------------ */

/* J = L L' of a 3 x 3 matrix (11, 22, 33, 21, 31, 32). False: not positive definite. */
static bool root_of(const double J[6], double L[6]) {
    L[0] = sqrt(J[0]);
    L[3] = J[3] / L[0];
    L[4] = J[4] / L[0];
    L[1] = sqrt(J[1] - L[3] * L[3]);
    L[5] = (J[5] - L[4] * L[3]) / L[1];
    L[2] = sqrt(J[2] - L[4] * L[4] - L[5] * L[5]);
    return L[0] > 0 && L[1] > 0 && L[2] > 0; /* a root of something negative is not */
}

/* out = L^-1 x for the six numbers of a body. */
static void divide(const double L[6], double mass, const double x[6], double out[6]) {
    out[0] = x[0] / L[0];
    out[1] = (x[1] - L[3] * out[0]) / L[1];
    out[2] = (x[2] - L[4] * out[0] - L[5] * out[1]) / L[2];
    for (int k = 3; k < 6; k++) out[k] = x[k] / sqrt(mass);
}

/* out = L^-T x. */
static void divide_transposed(const double L[6], double mass, const double x[6], double out[6]) {
    out[2] = x[2] / L[2];
    out[1] = (x[1] - L[5] * out[2]) / L[1];
    out[0] = (x[0] - L[3] * out[1] - L[4] * out[2]) / L[0];
    for (int k = 3; k < 6; k++) out[k] = x[k] / sqrt(mass);
}

static lw_status take_roots(schur_method *method, lw_error *error) {
    const lw_stationary *s = method->reduction.system;
    for (int i = 0; i < s->model->body_count; i++) {
        if (root_of(s->inertia + 6 * i, method->root + 6 * i)) continue;
        const lw_body *body = &s->model->bodies[i + 1];
        return lw_fail_at(
            error, LW_ERROR_SINGULAR, s->model->file, body->place, "body", body->name,
            "take a method that needs no inverse, such as lagrange or massless",
            "its inertia is not positive definite to rounding, and method schur needs its inverse");
    }
    return LW_OK;
}

/* --- solution ------------------------------------------------------------------------------------- */

/* A = L^-1 H D and its factors. */
static void factor(schur_method *method) {
    const lw_stationary *s = method->reduction.system;
    const lw_rows *rows = s->rows;
    int n = 6 * s->model->body_count;
    memset(method->A, 0, (size_t)n * (size_t)rows->count * sizeof *method->A);
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        double *column = method->A + (size_t)n * (size_t)r, square = 0;
        for (int b = row->block; b < row->block + row->count; b++) {
            int i = rows->body[b] - 1;
            divide(method->root + 6 * i, s->mass[i], rows->H + 6 * b, column + 6 * i);
            square += lw_v6_dot(column + 6 * i, column + 6 * i);
        }
        method->scale[r] = square > 0 ? 1 / sqrt(square) : 0; /* a row that says nothing stays out */
        for (int b = row->block; b < row->block + row->count; b++)
            for (int k = 0; k < 6; k++) column[6 * (rows->body[b] - 1) + k] *= method->scale[r];
    }
    method->rank = lw_qr_factor(method->work, n, rows->count, method->A, method->order, lw_rank_tolerance(s));
}

static lw_status solve(lw_reduction *reduction, lw_error *error) {
    schur_method *method = (schur_method *)reduction;
    lw_stationary *s = reduction->system;
    int bodies = s->model->body_count, n = 6 * bodies, m = s->rows->count;
    lw_status status = take_roots(method, error);
    if (status != LW_OK) return status;
    factor(method);

    int rank = method->rank;
    double *c = method->c, *g = method->g, *lambda = method->lambda;
    for (int i = 0; i < bodies; i++) divide(method->root + 6 * i, s->mass[i], s->u + 6 * i, c + 6 * i);
    lw_qr_apply(method->work, true, n, m, method->A, 1, c);
    for (int k = 0; k < rank; k++) g[k] = method->scale[method->order[k]] * s->rows->gamma[method->order[k]];
    lw_qr_triangle(true, rank, n, method->A, 1, g, rank);

    for (int k = 0; k < rank; k++) lambda[k] = g[k] - c[k], c[k] = g[k];
    lw_qr_triangle(false, rank, n, method->A, 1, lambda, rank);
    memset(s->lambda, 0, (size_t)m * sizeof *s->lambda);
    for (int k = 0; k < rank; k++) s->lambda[method->order[k]] = method->scale[method->order[k]] * lambda[k];

    lw_qr_apply(method->work, false, n, m, method->A, 1, c);
    for (int i = 0; i < bodies; i++)
        divide_transposed(method->root + 6 * i, s->mass[i], c + 6 * i, s->a + 6 * i);
    return LW_OK;
}

/* The triangle R is the Cholesky factor of the scaled H'J^-1 H. */
static double condition(lw_method *base) {
    const schur_method *method = (schur_method *)base;
    if (method->rank == 0) return 1;
    size_t last = (size_t)method->rank - 1, n = 6 * (size_t)base->model->body_count;
    double ratio = method->A[0] / method->A[last + last * n];
    return ratio * ratio;
}

/* --- the formulation ------------------------------------------------------------------------------ */

static lw_status applies(const lw_model *model, lw_error *error) {
    lw_status status = lw_needs_inverse("schur", model, true, error);
    return status == LW_OK ? lw_dense_limit("schur", lw_row_count(model), error) : status;
}

static void destroy(lw_method *base) {
    schur_method *method = (schur_method *)base;
    if (!method) return;
    lw_orthogonal_destroy(method->work);
    lw_reduction_destroy(&method->reduction);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    schur_method *method =
        (schur_method *)lw_reduction_create(sizeof *method, &lw_formulation_schur, model, options, solve);
    if (!method) return lw_out_of_memory(error);
    lw_arena *arena = method->reduction.system->arena;
    size_t n = 6 * (size_t)model->body_count, m = (size_t)method->reduction.system->rows->count;
    method->work = lw_orthogonal_create((int)n, (int)m, false);
    method->order = LW_NEW(arena, int, m);
    method->root = LW_NEW(arena, double, n);
    method->A = LW_NEW(arena, double, n *m);
    method->scale = LW_NEW(arena, double, m);
    method->c = LW_NEW(arena, double, n);
    method->g = LW_NEW(arena, double, m);
    method->lambda = LW_NEW(arena, double, m);
    if (!method->work || !method->order || !method->root || !method->A || !method->scale || !method->c ||
        !method->g || !method->lambda) {
        destroy(&method->reduction.base);
        return lw_out_of_memory(error);
    }
    *out = &method->reduction.base;
    return LW_OK;
}

const lw_formulation lw_formulation_schur = {
    .name = "schur",
    .source = "mufti1983 12-14, 50",
    .cost = "O(n^3), dense",
    .dense = true,
    .summary = "reaction forces from a dense least-squares system, then each body by itself",
    .coordinates = LW_COORDINATES_ABSOLUTE,
    .rank = 30,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    LW_ABSOLUTE_FUNCTIONS,
    .condition = condition,
};

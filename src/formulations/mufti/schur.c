/* schur.c - the formulation `schur`: reaction forces first, then each body by itself.
 *
 *   H'J^-1 H lambda = gamma - H'J^-1 u,   a = J^-1 (u + H lambda)                           (12)-(14), (50)
 *
 * by the algorithm of the appendix, which never forms the matrix on the left:
 *
 *   J = X^-T X^-1,   a = X x     X: principal axes over roots of moments, unit vectors over roots of masses
 *   A = X'H D,   A P = Q R       with column pivoting; D makes the columns unit vectors
 *   g = R^-T P'D gamma,   x = Q (g; c_2),   R (P'D^-1 lambda) = g - c_1,   (c_1; c_2) = Q'X'u
 *
 * H has the rows that row_independence.c keeps; the others depend on them, and their multipliers are zero.
 *
 * Directions without inertia (all rotations of a point, those of a planar body out of its plane, that of a
 * rod about its axis) are not in X: a = X x + N w. The rows alone determine w, and the multipliers must
 * balance the torques in these directions, F lambda = -N'u with F = N'H D. With F' = (U_1, U_2) (V; 0) both
 * are eliminated first: the rows U_2' remain, with A U_2 instead of A and lambda = D (U_1 mu_1 + U_2 mu_2).
 *
 * Source   Mufti (1983), eqs 12-14, 50, A-3 to A-5, case 2; docs/theory/schur.md.
 * Cost     O(bodies rows^2), dense; no allocation but in create.
 * Limits   every body must have mass; rows must hold all directions without inertia.
 */
#include "constraints/rank/row_independence.h"
#include "formulations/common/absolute_method_base.h"
#include "formulations/mufti/refinement.h"
#include "formulations/mufti/inertia_roots.h"
#include "constraints/characteristic_length.h"

#include <math.h>

typedef struct schur_method {
    lw_absolute_method absolute_base;
    lw_independence *independence;
    lw_refinement *refinement;
    lw_roots *roots;
    lw_orthogonal *work, *idle_work;
    int size, idle;          /* numbers of coordinates with and without inertia */
    int count, *row;         /* rows that are kept: their number, and their indices */
    int *order, *idle_order; /* columns of A U_2 and of F', in the order of pivoting */
    double *A;     /* A', count x size, times U; then A U_2, size x (count - idle), and its factors */
    double *At;    /* A' */
    double *F;     /* F', count x idle, and its factors */
    double *scale; /* D, per row of the list */
    double *c, *w, *mu, *rows; /* workspace of `size`, `idle`, `count` and `count` numbers */
    double condition;
} schur_method;

extern const lw_formulation lw_formulation_schur;

/* --- coordinates ---------------------------------------------------------------------------------- */

/* out = X'f, idle = N'f for wrenches f, six numbers per body. */
static void into(const schur_method *method, const double *f, double *out, double *idle) {
    const lw_newton_euler *s = method->absolute_base.system;
    const lw_roots *roots = method->roots;
    for (int i = 0; i < s->model->body_count; i++) {
        for (int k = 0; k < 3; k++) {
            double turn = lw_v3_dot(roots->axes + 9 * i + 3 * k, f + 6 * i), e = roots->moment[3 * i + k];
            if (e > 0)
                *out++ = turn / sqrt(e);
            else
                *idle++ = turn;
        }
        for (int k = 3; k < 6; k++) *out++ = f[6 * i + k] / sqrt(s->mass[i]);
    }
}

/* a = X x + N w. */
static void out_of(const schur_method *method, const double *x, const double *w, double *a) {
    const lw_newton_euler *s = method->absolute_base.system;
    const lw_roots *roots = method->roots;
    for (int i = 0; i < s->model->body_count; i++) {
        lw_v3_set(a + 6 * i, 0, 0, 0);
        for (int k = 0; k < 3; k++) {
            double e = roots->moment[3 * i + k], speed = e > 0 ? *x++ / sqrt(e) : *w++;
            lw_v3_axpy(speed, roots->axes + 9 * i + 3 * k, a + 6 * i);
        }
        for (int k = 3; k < 6; k++) a[6 * i + k] = *x++ / sqrt(s->mass[i]);
    }
}

/* --- factors -------------------------------------------------------------------------------------- */

/* Fills A' and F', row by row of H. A row that rotates a body in a direction without inertia is scaled as if
 * this body had the inertia of the whole mechanism, because the other entries of such a row may be mere
 * rounding. */
static void fill(schur_method *method) {
    const lw_newton_euler *s = method->absolute_base.system;
    const lw_rows *rows = s->rows;
    double *wrench = s->a; /* free until the system is solved */
    double length = lw_body_length(s), whole = 0;
    for (int i = 0; i < s->model->body_count; i++) whole += s->mass[i] * length * length;
    method->count = 0;
    for (int r = 0; r < rows->count; r++)
        if (r < rows->tree_count || method->independence->kept[r - rows->tree_count])
            method->row[method->count++] = r;
    size_t count = (size_t)method->count;
    memset(wrench, 0, 6 * (size_t)s->model->body_count * sizeof *wrench);
    for (size_t j = 0; j < count; j++) {
        const lw_row *row = &rows->rows[method->row[j]];
        double square = 0, other = 0;
        for (int b = row->block; b < row->block + row->count; b++)
            memcpy(wrench + 6 * (rows->body[b] - 1), rows->H + 6 * b, 6 * sizeof *wrench);
        into(method, wrench, method->c, method->w);
        for (int b = row->block; b < row->block + row->count; b++)
            memset(wrench + 6 * (rows->body[b] - 1), 0, 6 * sizeof *wrench);
        for (int k = 0; k < method->size; k++) square += method->c[k] * method->c[k];
        for (int k = 0; k < method->idle; k++) other += method->w[k] * method->w[k];
        square += other / whole;
        double scale = square > 0 ? 1 / sqrt(square) : 1;
        method->scale[j] = scale;
        for (size_t k = 0; k < (size_t)method->size; k++) method->At[j + k * count] = scale * method->c[k];
        for (size_t k = 0; k < (size_t)method->idle; k++) method->F[j + k * count] = scale * method->w[k];
    }
}

static lw_status undetermined(lw_error *error) {
    return lw_fail(
        error, LW_ERROR_SINGULAR, NULL,
        "give inertia to the bodies that turn freely without any, or take method massless",
        "a body without inertia in some direction is not constrained there by its joints: its acceleration "
        "is not determined");
}

static lw_status factor(schur_method *method, lw_error *error) {
    const lw_newton_euler *s = method->absolute_base.system;
    lw_independence_at(method->independence, s);
    lw_roots_at(method->roots, s);
    fill(method);
    int count = method->count, idle = method->idle, size = method->size, left = count - idle;
    if (left < 0) return undetermined(error);
    if (idle > 0) {
        int held =
            lw_qr_factor(method->idle_work, count, idle, method->F, method->idle_order, lw_rank_tolerance(s));
        if (held < idle) return undetermined(error);
        lw_qr_apply(method->idle_work, true, count, idle, method->F, size, method->At);
    }
    for (int k = 0; k < size; k++)
        for (int j = 0; j < left; j++)
            method->A[(size_t)k + (size_t)j * (size_t)size] =
                method->At[(size_t)(idle + j) + (size_t)k * (size_t)count];
    if (left > size) return undetermined(error);
    int rank = lw_qr_factor(method->work, size, left, method->A, method->order, 0);
    double ratio = 1;
    if (left > 0) ratio = method->A[0] / method->A[(size_t)(left - 1) * (size_t)(size + 1)];
    method->condition =
        rank == left ? ratio * ratio : HUGE_VAL; /* R is the Cholesky factor of the scaled H'J^-1 H */
    return rank == left ? LW_OK : undetermined(error);
}

/* --- solution ------------------------------------------------------------------------------------- */

static void solve_for(lw_absolute_method *base, const double *u, const double *gamma, double *a,
                      double *lambda) {
    schur_method *method = (schur_method *)base;
    const lw_newton_euler *s = method->absolute_base.system;
    int count = method->count, idle = method->idle, size = method->size, left = count - idle;
    double *c = method->c, *w = method->w, *mu = method->mu, *rows = method->rows;
    into(method, u, c, w);
    for (int j = 0; j < count; j++) rows[j] = method->scale[j] * gamma[method->row[j]];
    if (idle > 0) {
        lw_qr_apply(method->idle_work, true, count, idle, method->F, 1, rows); /* U'D gamma */
        for (int k = 0; k < idle; k++) mu[k] = -w[method->idle_order[k]];      /* V'mu_1 = -N'u */
        lw_qr_triangle(true, idle, count, method->F, 1, mu, idle);
        for (int k = 0; k < size; k++) /* effect of mu_1 on the other coordinates */
            for (int j = 0; j < idle; j++) c[k] += method->At[(size_t)j + (size_t)k * (size_t)count] * mu[j];
    }
    lw_qr_apply(method->work, true, size, left, method->A, 1, c);
    double *g = mu + idle;
    for (int k = 0; k < left; k++) g[k] = rows[idle + method->order[k]];
    lw_qr_triangle(true, left, size, method->A, 1, g, left > 0 ? left : 1);
    for (int k = 0; k < left; k++) {
        double known = g[k];
        g[k] -= c[k];
        c[k] = known;
    }
    lw_qr_triangle(false, left, size, method->A, 1, g, left > 0 ? left : 1);
    lw_qr_apply(method->work, false, size, left, method->A, 1, c); /* x */
    if (idle > 0) {                                                /* V w = U_1'(D gamma - A'x) */
        for (int j = 0; j < idle; j++)
            for (int k = 0; k < size; k++)
                rows[j] -= method->At[(size_t)j + (size_t)k * (size_t)count] * c[k];
        lw_qr_triangle(false, idle, count, method->F, 1, rows, idle);
        for (int k = 0; k < idle; k++) w[method->idle_order[k]] = rows[k];
    }
    out_of(method, c, w, a);
    for (int k = 0; k < idle; k++) rows[k] = mu[k];
    for (int k = 0; k < left; k++) rows[idle + method->order[k]] = g[k];
    if (idle > 0) lw_qr_apply(method->idle_work, false, count, idle, method->F, 1, rows);
    memset(lambda, 0, (size_t)s->rows->count * sizeof *lambda);
    for (int j = 0; j < count; j++) lambda[method->row[j]] = method->scale[j] * rows[j];
}

static lw_status solve(lw_absolute_method *absolute_base, lw_error *error) {
    schur_method *method = (schur_method *)absolute_base;
    lw_status status = factor(method, error);
    if (status == LW_OK) status = lw_refine(method->refinement, solve_for, &method->absolute_base, error);
    if (status == LW_OK)
        lw_least_multipliers(method->independence, absolute_base->system, absolute_base->system->lambda);
    return status;
}

static double condition(lw_method *base) { return ((const schur_method *)base)->condition; }

/* --- the formulation ------------------------------------------------------------------------------ */

static lw_status applies(const lw_model *model, lw_error *error) {
    lw_status status = lw_needs_inverse("schur", model, false, error);
    if (status == LW_OK) status = lw_dense_limit("schur", lw_row_count(model), error);
    return status == LW_OK ? lw_needs_determined(model, error) : status;
}

static void destroy(lw_method *base) {
    schur_method *method = (schur_method *)base;
    if (!method) return;
    lw_orthogonal_destroy(method->work);
    lw_orthogonal_destroy(method->idle_work);
    lw_independence_destroy(method->independence);
    lw_absolute_method_destroy(&method->absolute_base);
}

static bool make_room(schur_method *method) {
    lw_newton_euler *s = method->absolute_base.system;
    lw_arena *arena = s->arena;
    size_t n = 6 * (size_t)s->model->body_count, m = (size_t)s->rows->count;
    method->roots = lw_roots_create(s->model, arena);
    if (!method->roots) return false;
    for (int k = 0; k < 3 * s->model->body_count; k++) method->idle += !(method->roots->moment[k] > 0);
    method->size = (int)n - method->idle;
    method->independence = lw_independence_create(s->model, s->rows, true);
    if (!method->independence) return false;
    method->refinement = lw_refinement_create(s, s->rows->tree_count, method->independence->kept);
    method->work = lw_orthogonal_create((int)n, (int)m, false);
    method->idle_work = lw_orthogonal_create((int)m, (int)n, false);
    method->row = LW_NEW(arena, int, m + 1);
    method->order = LW_NEW(arena, int, m + 1);
    method->idle_order = LW_NEW(arena, int, n + 1);
    method->A = LW_NEW(arena, double, n *m + 1);
    method->At = LW_NEW(arena, double, n *m + 1);
    method->F = LW_NEW(arena, double, m *(size_t)method->idle + 1);
    method->scale = LW_NEW(arena, double, m + 1);
    method->c = LW_NEW(arena, double, n + 1);
    method->w = LW_NEW(arena, double, n + 1);
    method->mu = LW_NEW(arena, double, m + 1);
    method->rows = LW_NEW(arena, double, m + 1);
    return method->refinement && method->work && method->idle_work && !lw_arena_failed(arena);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    schur_method *method = (schur_method *)lw_absolute_method_create(sizeof *method, &lw_formulation_schur,
                                                                     model, options, solve);
    return lw_absolute_method_finish((lw_absolute_method *)method, method && make_room(method), out, error);
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

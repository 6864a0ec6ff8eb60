/* nullspace.c - the formulations `nullspace`, `nullspace-partition`, `nullspace-svd`: equations of motion
 * without multipliers, in as many unknowns as the mechanism has degrees of freedom.
 *
 *   H'a = gamma   has the solutions   a = Y gamma + Z a',  Z'H = 0
 *   Z'J Z a' = Z'(u - J Y gamma),     H lambda = J a - u
 *   J = X X',  X'Z P = Q R            Z'J Z = P R'R P' is not formed: R has the root of its condition
 *
 * Y and Z are computed in one of three ways, where K is the rank of H (M x N):
 *   QR          H P = (Q1, Q2) (R11, R12; 0, 0)    Y = Q1 R11^-T on the K rows that P moves to the front,
 *                                                  Z = Q2
 *   partition   H'P = Q1 (R11, R12)                the K coordinates that P moves to the front depend on the
 *                                                  others: Y = P (R11^-1 Q1'; 0),  Z = P (-R11^-1 R12; E)
 *   SVD         H = (V, V') (S, 0; 0, 0) (W, W')'  Y = V S^-1 W',  Z = V'
 *
 * All coordinates are dimensionless: linear accelerations are in units of a length (characteristic_length.h),
 * and the columns of H have unit size. Rank decisions therefore do not depend on units. Any K is admissible,
 * so that dependent rows do no harm.
 *
 * Source   Mufti (1983), eqs 40, 67-73, appendix; docs/theory/nullspace.md.
 * Cost     O(M^2 N), M = 6 bodies, N rows; dense.
 * Limits   J may be singular, Z'J Z not. Light bodies: refinement.c.
 */
#include "constraints/rank/row_independence.h"
#include "formulations/common/absolute_method_base.h"
#include "formulations/mufti/refinement.h"
#include "formulations/mufti/inertia_roots.h"
#include "constraints/characteristic_length.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

typedef struct nullspace_method nullspace_method;

/* One of the three ways to compute Y and Z. */
typedef struct variant {
    bool svd, transposed;
    int (*basis)(nullspace_method *method);                                       /* computes Z, returns K */
    void (*particular)(nullspace_method *method, double *gamma, double *a);       /* a = Y gamma */
    void (*multipliers)(nullspace_method *method, double *force, double *lambda); /* H lambda = force */
} variant;

struct nullspace_method {
    lw_absolute_method absolute_base;
    const variant *variant;
    int M, N, K;
    int most; /* the largest number of columns of Z: the rows of a tree are independent */
    double length;
    double *scale; /* per row: the factor that gives its column of H unit size */
    double *H;     /* H, M x N, or N x M for the partition; then its factors */
    int *order;
    double *s, *V, *Wt; /* SVD only */
    double *Z, *R;      /* Z; X'Z, then its factors */
    int *pivots;        /* order of the columns of R */
    double *a, *force, *reduced, *gamma, *lambda;
    lw_orthogonal *orthogonal, *motion;
    bool *met;                     /* per row: it must be satisfied (refinement.h) */
    lw_independence *independence; /* finds the multipliers of dependent rows */
    bool redundant;                /* There are dependent rows. */
    lw_refinement *refinement;
    lw_roots *roots;
    double condition;
};

static lw_status applies_to(const char *name, const lw_model *model, lw_error *error) {
    lw_status status = lw_dense_limit(name, 6 * model->body_count, error);
    return status == LW_OK ? lw_needs_determined(model, error) : status;
}

/* --- the scaled system ---------------------------------------------------------------------------- */

static void fill_H(nullspace_method *method) {
    const lw_rows *rows = method->absolute_base.system->rows;
    size_t M = (size_t)method->M, N = (size_t)method->N;
    bool transposed = method->variant->transposed;
    memset(method->H, 0, M * N * sizeof *method->H);
    for (int r = 0; r < method->N; r++) {
        const lw_row *row = &rows->rows[r];
        double square = 0, unit[6];
        for (int pass = 0; pass < 2; pass++) {
            for (int b = row->block; b < row->block + row->count; b++) {
                size_t at = 6 * (size_t)(rows->body[b] - 1);
                for (int k = 0; k < 6; k++) unit[k] = rows->H[6 * b + k] * (k < 3 ? 1 : method->length);
                if (pass == 0)
                    square += lw_v6_dot(unit, unit);
                else
                    for (size_t k = 0; k < 6; k++)
                        method->H[transposed ? (size_t)r + (at + k) * N : at + k + (size_t)r * M] =
                            unit[k] * method->scale[r];
            }
            if (pass == 0) method->scale[r] = square > 0 ? 1 / sqrt(square) : 1;
        }
    }
}

/* out = J x. */
static void inertia_times(const nullspace_method *method, const double *x, double *out) {
    const lw_newton_euler *s = method->absolute_base.system;
    double square = method->length * method->length;
    for (int i = 0; i < s->model->body_count; i++) {
        lw_s3_mul_v(s->inertia + 6 * i, x + 6 * i, out + 6 * i);
        for (int k = 3; k < 6; k++) out[6 * i + k] = s->mass[i] * square * x[6 * i + k];
    }
}

/* out = X'z. */
static void root_times(const nullspace_method *method, const double *z, double *out) {
    const lw_newton_euler *s = method->absolute_base.system;
    const lw_roots *roots = method->roots;
    for (int i = 0; i < s->model->body_count; i++)
        for (int k = 0; k < 3; k++) {
            out[6 * i + k] =
                sqrt(roots->moment[3 * i + k]) * lw_v3_dot(roots->axes + 9 * i + 3 * k, z + 6 * i);
            out[6 * i + 3 + k] = sqrt(s->mass[i]) * method->length * z[6 * i + 3 + k];
        }
}

/* --- QR: the general solution by reflections ------------------------------------------------------- */

static int qr_basis(nullspace_method *m) {
    int K = lw_qr_factor(m->orthogonal, m->M, m->N, m->H, m->order,
                         lw_rank_tolerance(m->absolute_base.system)),
        columns = m->M - K;
    if (columns > m->most) return K;
    memset(m->Z, 0, (size_t)m->M * (size_t)columns * sizeof *m->Z);
    for (int j = 0; j < columns; j++) m->Z[(size_t)(K + j) + (size_t)j * (size_t)m->M] = 1;
    lw_qr_apply(m->orthogonal, false, m->M, m->N, m->H, columns, m->Z);
    return K;
}

static void qr_particular(nullspace_method *m, double *gamma, double *a) {
    for (int k = 0; k < m->M; k++) a[k] = k < m->K ? gamma[m->order[k]] : 0;
    lw_qr_triangle(true, m->K, m->M, m->H, 1, a, m->M);
    lw_qr_apply(m->orthogonal, false, m->M, m->N, m->H, 1, a);
}

/* The multipliers of rows that depend on others are zero. */
static void qr_multipliers(nullspace_method *m, double *force, double *lambda) {
    lw_qr_apply(m->orthogonal, true, m->M, m->N, m->H, 1, force);
    lw_qr_triangle(false, m->K, m->M, m->H, 1, force, m->M);
    for (int k = 0; k < m->N; k++) lambda[m->order[k]] = k < m->K ? force[k] : 0;
}

/* --- partition: dependent and independent coordinates ---------------------------------------------- */

static int partition_basis(nullspace_method *m) {
    size_t M = (size_t)m->M, N = (size_t)m->N;
    for (int k = 0; k < m->M; k++) m->order[k] = k;
    int K = lw_qr_factor(m->orthogonal, m->N, m->M, m->H, m->order,
                         lw_rank_tolerance(m->absolute_base.system)),
        columns = m->M - K;
    if (columns > m->most) return K;
    double *X = m->R; /* R11^-1 R12, K x columns */
    for (int j = 0; j < columns; j++)
        for (int k = 0; k < K; k++) X[(size_t)k + (size_t)j * M] = m->H[(size_t)k + (size_t)(K + j) * N];
    lw_qr_triangle(false, K, m->N, m->H, columns, X, m->M);
    memset(m->Z, 0, M * (size_t)columns * sizeof *m->Z);
    for (int j = 0; j < columns; j++) {
        double *z = m->Z + (size_t)j * M;
        for (int k = 0; k < K; k++) z[m->order[k]] = -X[(size_t)k + (size_t)j * M];
        z[m->order[K + j]] = 1;
    }
    return K;
}

static void partition_particular(nullspace_method *m, double *gamma, double *a) {
    lw_qr_apply(m->orthogonal, true, m->N, m->M, m->H, 1, gamma);
    lw_qr_triangle(false, m->K, m->N, m->H, 1, gamma, m->N);
    for (int k = 0; k < m->M; k++) a[m->order[k]] = k < m->K ? gamma[k] : 0;
}

/* Of all multipliers, those of least norm are computed. */
static void partition_multipliers(nullspace_method *m, double *force, double *lambda) {
    for (int k = 0; k < m->N; k++) lambda[k] = k < m->K ? force[m->order[k]] : 0;
    lw_qr_triangle(true, m->K, m->N, m->H, 1, lambda, m->N);
    lw_qr_apply(m->orthogonal, false, m->N, m->M, m->H, 1, lambda);
}

/* --- SVD ------------------------------------------------------------------------------------------- */

static int svd_basis(nullspace_method *m) {
    int K = lw_svd(m->orthogonal, m->M, m->N, m->H, m->s, m->V, m->Wt,
                   lw_rank_tolerance(m->absolute_base.system));
    int columns = m->M - K;
    if (columns <= m->most)
        memcpy(m->Z, m->V + (size_t)K * (size_t)m->M, (size_t)m->M * (size_t)columns * sizeof *m->Z);
    return K;
}

/* Multiplies by V S^-1 W'; svd_multipliers multiplies by the transpose. */
static void svd_particular(nullspace_method *m, double *gamma, double *a) {
    lw_dense_times(false, m->N, m->N, 1, m->Wt, gamma, 0, m->lambda);
    for (int k = 0; k < m->K; k++) m->lambda[k] /= m->s[k];
    lw_dense_times(false, m->M, m->K, 1, m->V, m->lambda, 0, a);
}

static void svd_multipliers(nullspace_method *m, double *force, double *lambda) {
    lw_dense_times(true, m->M, m->K, 1, m->V, force, 0, m->gamma);
    for (int k = 0; k < m->N; k++) m->gamma[k] = k < m->K ? m->gamma[k] / m->s[k] : 0;
    lw_dense_times(true, m->N, m->N, 1, m->Wt, m->gamma, 0, lambda);
}

/* --- solution -------------------------------------------------------------------------------------- */

static lw_status singular(lw_error *error) {
    return lw_fail(error, LW_ERROR_SINGULAR, NULL,
                   "give mass or inertia to the bodies that move freely without any",
                   "the equations of motion are singular: some acceleration is not determined");
}

static void solve_for(lw_absolute_method *base, const double *u, const double *gamma, double *a,
                      double *lambda) {
    nullspace_method *m = (nullspace_method *)base;
    int columns = m->M - m->K;
    for (int r = 0; r < m->N; r++) m->gamma[r] = gamma[r] * m->scale[r];
    m->variant->particular(m, m->gamma, m->a);
    inertia_times(m, m->a, m->force);
    for (int k = 0; k < m->M; k++) m->force[k] = u[k] * (k % 6 < 3 ? 1 : m->length) - m->force[k];
    lw_dense_times(true, m->M, columns, 1, m->Z, m->force, 0, m->gamma);
    for (int k = 0; k < columns; k++) m->reduced[k] = m->gamma[m->pivots[k]];
    lw_qr_triangle(true, columns, m->M, m->R, 1, m->reduced, m->M);
    lw_qr_triangle(false, columns, m->M, m->R, 1, m->reduced, m->M);
    for (int k = 0; k < columns; k++) m->gamma[m->pivots[k]] = m->reduced[k];
    lw_dense_times(false, m->M, columns, 1, m->Z, m->gamma, 1, m->a);

    inertia_times(m, m->a, m->force);
    for (int k = 0; k < m->M; k++) {
        double unit = k % 6 < 3 ? 1 : m->length;
        m->force[k] -= u[k] * unit;
        a[k] = m->a[k] * unit;
    }
    m->variant->multipliers(m, m->force, m->lambda);
    for (int r = 0; r < m->N; r++) lambda[r] = m->lambda[r] * m->scale[r];
    /* With the least multipliers, redundant rows on a light body carry a share of the forces on heavy bodies,
     * whose rounding would accelerate the light one. Refinement therefore uses multipliers that are zero for
     * rows that depend on others. */
    if (m->redundant) lw_unload_multipliers(m->independence, m->absolute_base.system, lambda);
}

static lw_status solve(lw_absolute_method *absolute_base, lw_error *error) {
    const double largest_condition = 1e13; /* of R; beyond it the lightest motion is lost in rounding. */
    nullspace_method *m = (nullspace_method *)absolute_base;
    lw_newton_euler *s = absolute_base->system;
    m->length = lw_body_length(s);
    fill_H(m);
    lw_roots_at(m->roots, s);
    m->K = m->variant->basis(m);
    int columns = m->M - m->K;
    if (columns > m->most)
        return lw_fail(
            error, LW_ERROR_SINGULAR, NULL, "start from another state, or take a method in joint coordinates",
            "the rows of the joints have lost their rank: %d instead of at least %d", m->K, m->M - m->most);

    /* Where loops do not close exactly, dependent rows contradict each other; then only pivot rows are
     * satisfied. */
    for (int r = 0; r < m->N; r++) m->met[r] = m->K == m->N;
    for (int k = 0; k < m->K && m->variant->basis == qr_basis; k++) m->met[m->order[k]] = true;
    for (int j = 0; j < columns; j++)
        root_times(m, m->Z + (size_t)j * (size_t)m->M, m->R + (size_t)j * (size_t)m->M);
    int rank = lw_qr_factor(m->motion, m->M, columns, m->R, m->pivots, 1 / largest_condition);
    if (rank < columns) return singular(error);
    double ratio = columns > 0 ? m->R[0] / m->R[(size_t)(columns - 1) * (size_t)(m->M + 1)] : 1;
    m->condition = ratio * ratio;
    lw_independence_at(m->independence, s);
    /* If the two rank decisions differ, it is a borderline case, and the rows count as independent. */
    m->redundant = m->K < m->N && m->independence->rows - m->independence->rank == m->N - m->K;
    lw_status status = lw_refine(m->refinement, solve_for, &m->absolute_base, error);
    if (status == LW_OK && m->redundant) lw_least_multipliers(m->independence, s, s->lambda);
    return status;
}

/* --- life ------------------------------------------------------------------------------------------ */

static void destroy(lw_method *base) {
    nullspace_method *m = (nullspace_method *)base;
    if (!m) return;
    lw_orthogonal_destroy(m->orthogonal);
    lw_orthogonal_destroy(m->motion);
    lw_independence_destroy(m->independence);
    lw_absolute_method_destroy(&m->absolute_base);
}

static double *numbers(const nullspace_method *m, size_t rows, size_t columns) {
    return LW_NEW(m->absolute_base.system->arena, double, rows *columns + 1);
}

static lw_status create(const lw_formulation *formulation, const variant *how, const lw_model *model,
                        const lw_method_options *options, lw_method **out, lw_error *error) {
    nullspace_method *m =
        (nullspace_method *)lw_absolute_method_create(sizeof *m, formulation, model, options, solve);
    if (!m) return lw_out_of_memory(error);
    const lw_rows *rows = m->absolute_base.system->rows;
    lw_arena *arena = m->absolute_base.system->arena;
    m->variant = how;
    m->M = 6 * model->body_count, m->N = rows->count;
    m->most = m->M - rows->tree_count;
    size_t M = (size_t)m->M, N = (size_t)m->N, most = (size_t)m->most;
    m->scale = numbers(m, N, 1);
    m->H = numbers(m, M, N);
    m->order = LW_NEW(arena, int, (M > N ? M : N) + 1);
    m->Z = numbers(m, M, most), m->R = numbers(m, M, most), m->pivots = LW_NEW(arena, int, most + 1);
    m->a = numbers(m, M, 1), m->force = numbers(m, M, 1), m->reduced = numbers(m, M > N ? M : N, 1);
    m->gamma = numbers(m, M > N ? M : N, 1), m->lambda = numbers(m, N, 1);
    if (how->svd) m->s = numbers(m, M < N ? M : N, 1), m->V = numbers(m, M, M), m->Wt = numbers(m, N, N);
    m->orthogonal = how->transposed ? lw_orthogonal_create(m->N, m->M, how->svd)
                                    : lw_orthogonal_create(m->M, m->N, how->svd);
    m->motion = lw_orthogonal_create(m->M, m->most, false);
    m->roots = lw_roots_create(model, arena);
    m->met = LW_NEW(arena, bool, N + 1);
    m->independence = lw_independence_create(model, rows, true);
    m->refinement = lw_refinement_create(m->absolute_base.system, 0, m->met);
    bool fine = !lw_arena_failed(arena) && m->orthogonal && m->motion && m->independence && m->refinement;
    return lw_absolute_method_finish(&m->absolute_base, fine, out, error);
}

static double condition(lw_method *base) { return ((nullspace_method *)base)->condition; }

/* --- the three formulations ------------------------------------------------------------------------ */

extern const lw_formulation lw_formulation_nullspace, lw_formulation_nullspace_partition,
    lw_formulation_nullspace_svd;

static const variant by_qr = {.basis = qr_basis, .particular = qr_particular, .multipliers = qr_multipliers};
static const variant by_partition = {.transposed = true,
                                     .basis = partition_basis,
                                     .particular = partition_particular,
                                     .multipliers = partition_multipliers};
static const variant by_svd = {
    .svd = true, .basis = svd_basis, .particular = svd_particular, .multipliers = svd_multipliers};

static lw_status qr_applies(const lw_model *model, lw_error *error) {
    return applies_to("nullspace", model, error);
}
static lw_status partition_applies(const lw_model *model, lw_error *error) {
    return applies_to("nullspace-partition", model, error);
}
static lw_status svd_applies(const lw_model *model, lw_error *error) {
    return applies_to("nullspace-svd", model, error);
}

static lw_status qr_create(const lw_model *model, const lw_method_options *options, lw_method **out,
                           lw_error *error) {
    return create(&lw_formulation_nullspace, &by_qr, model, options, out, error);
}
static lw_status partition_create(const lw_model *model, const lw_method_options *options, lw_method **out,
                                  lw_error *error) {
    return create(&lw_formulation_nullspace_partition, &by_partition, model, options, out, error);
}
static lw_status svd_create(const lw_model *model, const lw_method_options *options, lw_method **out,
                            lw_error *error) {
    return create(&lw_formulation_nullspace_svd, &by_svd, model, options, out, error);
}

/* clang-format off */
#define LW_SHARED \
    .cost = "O(n^3), dense", \
    .dense = true, \
    .coordinates = LW_COORDINATES_ABSOLUTE, \
    .destroy = destroy, \
    .to_state = lw_absolute_to_state, \
    .from_state = lw_absolute_from_state, \
    .accelerations = lw_absolute_method_accelerations, \
    .multipliers = lw_absolute_method_multipliers, \
    .derivative = lw_absolute_derivative, \
    .project = lw_absolute_project, \
    .violation = lw_absolute_violation, \
    .condition = condition
/* clang-format on */

const lw_formulation lw_formulation_nullspace = {
    .name = "nullspace",
    .source = "mufti1983 40, 67-73, appendix (QR)",
    .summary = "motion only, in a basis of what the joints allow, by orthogonal reflections",
    .rank = 35,
    .applies = qr_applies,
    .create = qr_create,
    LW_SHARED,
};

const lw_formulation lw_formulation_nullspace_partition = {
    .name = "nullspace-partition",
    .source = "mufti1983 40, 67-73, appendix (partition)",
    .summary = "motion only, in the coordinates that pivoting leaves independent",
    .rank = 36,
    .applies = partition_applies,
    .create = partition_create,
    LW_SHARED,
};

const lw_formulation lw_formulation_nullspace_svd = {
    .name = "nullspace-svd",
    .source = "mufti1983 40, 67-73, appendix, case 2 (SVD)",
    .summary = "motion only, in a basis of what the joints allow, by singular values",
    .rank = 37,
    .applies = svd_applies,
    .create = svd_create,
    LW_SHARED,
};

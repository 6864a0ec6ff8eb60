/* projective_criterion.c - the projective criterion of coordinate partitioning, and choices of independent
 * coordinates by it.
 *
 *   C D' = 0,   M_d = D M D'                                                                      (9), (13)
 *   cos^2 alpha_i = d_i' M_d^-1 d_i / M^-1(i,i)          d_i the i-th column of D                     (23a)
 *   cos^2 beta_i  = b_i' M_c^+ b_i / M^-1(i,i)         b_i the i-th column of C M^-1, M_c = C M^-1 C' (23b)
 *
 * Symbols  D' = Z, an orthonormal basis of the null space of C by reflections: (23a) is the same for every
 *          basis. W = L_d^-1 Z' with M_d = L_d L_d': column i is k_i in the tangent space, its square is
 *          |k_i^(d)|^2. Y = L^-1 with M = L L': column i is k_i itself, |y_i|^2 = M^-1(i,i).
 *          (23b) is the length of the projection of y_i on the columns of L^-1 C', by reflections again:
 *          M_c^+, the pseudo-inverse where rows are redundant, would lose half of the digits, and needs no D
 *          either.
 * Choice   columns w_i / |y_i|, the longest next, what is left of the others perpendicular to it: a Cholesky
 *          factorisation of G_ij / (|y_i| |y_j|), G = D' M_d^-1 D, with pivoting, on its factor. The pivots
 *          are the squares.
 *
 * Source   Blajer, Schiehlen & Schirm (1994), eqs 9-23; docs/theory/partition.md.
 * Cost     O(n^3 + n^2 m), a choice O(k^2 n); no allocation.
 */
#include "constraints/projective_criterion.h"
#include "constraints/loop_constraints.h"
#include "linalg/dense.h"
#include "model/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct lw_criterion {
    int n, m, rank, k;
    bool bounded;
    double *C, *B; /* n x m: C' in units and L^-1 C', then factors */
    double *Z;     /* n x k */
    double *Md;    /* k x k, then L_d */
    double *W;     /* k x n */
    double *M, *Y; /* n x n: M in units, then L; n x k: M Z, then n x n: L^-1 */
    double *left;  /* k x n: what a choice has left */
    double *length, *square;
    int *order;
    bool *taken;
    lw_orthogonal *orthogonal;
    lw_symmetric *symmetric;
};

lw_criterion *lw_criterion_create(int n, int m, lw_arena *arena) {
    lw_criterion *c = LW_NEW(arena, lw_criterion, 1);
    if (!c) return NULL;
    size_t rows = (size_t)m, columns = (size_t)n;
    c->C = LW_NEW(arena, double, columns *rows + 1);
    c->B = LW_NEW(arena, double, columns *rows + 1);
    c->Z = LW_NEW(arena, double, columns *columns + 1);
    c->Md = LW_NEW(arena, double, columns *columns + 1);
    c->W = LW_NEW(arena, double, columns *columns + 1);
    c->M = LW_NEW(arena, double, columns *columns + 1);
    c->Y = LW_NEW(arena, double, columns *columns + 1);
    c->left = LW_NEW(arena, double, columns *columns + 1);
    c->length = LW_NEW(arena, double, columns + 1);
    c->square = LW_NEW(arena, double, columns + 1);
    c->order = LW_NEW(arena, int, rows + 1);
    c->taken = LW_NEW(arena, bool, columns + 1);
    c->orthogonal = lw_orthogonal_create(n, m, false);
    c->symmetric = lw_symmetric_create(n);
    if (!lw_arena_failed(arena) && c->orthogonal && c->symmetric) return c;
    lw_criterion_destroy(c);
    return NULL;
}

void lw_criterion_destroy(lw_criterion *c) {
    if (!c) return;
    lw_orthogonal_destroy(c->orthogonal);
    lw_symmetric_destroy(c->symmetric);
    c->orthogonal = NULL, c->symmetric = NULL;
}

static double dot(int n, const double *a, const double *b) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

/* Z and the rank of C. */
static void null_space(lw_criterion *c, double tolerance) {
    int n = c->n;
    c->rank = 0;
    /* rows and coordinates have no dimension: if all pivots are small, all rows are redundant */
    int pivots = lw_qr_factor(c->orthogonal, n, c->m, c->C, c->order, 0);
    while (c->rank < pivots &&
           fabs(c->C[(size_t)c->rank * (size_t)(n + 1)]) > tolerance * fmax(1, fabs(c->C[0])))
        c->rank++;
    c->k = n - c->rank;
    memset(c->Z, 0, (size_t)n * (size_t)c->k * sizeof *c->Z);
    for (int j = 0; j < c->k; j++) c->Z[(size_t)(c->rank + j) + (size_t)j * (size_t)n] = 1;
    lw_qr_apply(c->orthogonal, false, n, c->m, c->C, c->k, c->Z);
}

/* W. False: M_d is singular. */
static bool tangent_images(lw_criterion *c) {
    const double largest_condition = 1e13; /* beyond, nothing is left of the lightest motion */
    int n = c->n, k = c->k;
    double condition;
    lw_dense_multiply(false, false, n, k, n, 1, c->M, c->Z, 0, c->Y);
    lw_dense_multiply(true, false, k, k, n, 1, c->Z, c->Y, 0, c->Md);
    if (!lw_cholesky_factor(c->symmetric, k, c->Md, &condition) || !(condition < largest_condition))
        return false;
    for (int i = 0; i < n; i++) {
        double *w = c->W + (size_t)i * (size_t)k;
        for (int j = 0; j < k; j++) w[j] = c->Z[(size_t)i + (size_t)j * (size_t)n];
        lw_cholesky_lower(k, c->Md, 0, w);
    }
    return true;
}

/* Y and the lengths of its columns. False: M is singular. */
static bool coordinate_vectors(lw_criterion *c) {
    /* of a pivot relative to its diagonal entry: rounding of the subtractions before it */
    const double vanished = 1e-12;
    int n = c->n;
    size_t step = (size_t)n + 1;
    for (int i = 0; i < n; i++) c->square[i] = c->M[(size_t)i * step];
    if (!lw_cholesky_factor(c->symmetric, n, c->M, NULL)) return false;
    for (int i = 0; i < n; i++) {
        double pivot = c->M[(size_t)i * step];
        if (!(pivot * pivot > vanished * c->square[i])) return false;
    }
    memset(c->Y, 0, (size_t)n * (size_t)n * sizeof *c->Y);
    for (int i = 0; i < n; i++) {
        double *y = c->Y + (size_t)i * (size_t)n;
        y[i] = 1;
        lw_cholesky_lower(n, c->M, i, y);
        c->length[i] = sqrt(dot(n, y, y));
    }
    return true;
}

static void constrained_share(lw_criterion *c, double *cos2_beta) {
    int n = c->n;
    for (int r = 0; r < c->m; r++) lw_cholesky_lower(n, c->M, 0, c->B + (size_t)r * (size_t)n);
    lw_qr_factor(c->orthogonal, n, c->m, c->B, c->order, 0);
    lw_qr_apply(c->orthogonal, true, n, c->m, c->B, n, c->Y);
    for (int i = 0; i < n; i++) {
        const double *y = c->Y + (size_t)i * (size_t)n;
        cos2_beta[i] = dot(c->rank, y, y) / (c->length[i] * c->length[i]);
    }
}

lw_status lw_criterion_evaluate(lw_criterion *c, int n, int m, const double *M, const double *C,
                                const double *units, double rank_tolerance, double *cos2_alpha,
                                double *cos2_beta, int *freedom, lw_error *error) {
    size_t N = (size_t)n, rows = (size_t)m;
    c->n = n, c->m = m;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < N; i++)
            c->C[i + r * N] = c->B[i + r * N] = C[r * N + i] * (units ? units[i] : 1);
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) c->M[i + j * N] = M[i + j * N] * (units ? units[i] * units[j] : 1);
    null_space(c, rank_tolerance);
    if (freedom) *freedom = c->k;
    if (!tangent_images(c))
        return lw_fail(error, LW_ERROR_SINGULAR, NULL,
                       "give mass or inertia to the bodies that move freely without any",
                       "the equations of motion are singular: some acceleration is not determined");
    c->bounded = coordinate_vectors(c);
    if (!c->bounded) {
        double most = 0;
        for (size_t i = 0; i < N; i++)
            most = fmax(most, dot(c->k, c->W + i * (size_t)c->k, c->W + i * (size_t)c->k));
        for (size_t i = 0; i < N; i++) c->length[i] = most > 0 ? sqrt(most) : 1;
    }
    for (size_t i = 0; i < N; i++) {
        const double *w = c->W + i * (size_t)c->k;
        c->square[i] = dot(c->k, w, w) / (c->length[i] * c->length[i]);
    }
    if (cos2_alpha) memcpy(cos2_alpha, c->square, N * sizeof *cos2_alpha);
    if (!cos2_beta) return LW_OK;
    if (c->bounded)
        constrained_share(c, cos2_beta);
    else
        for (size_t i = 0; i < N; i++) cos2_beta[i] = 1 - c->square[i];
    return LW_OK;
}

bool lw_criterion_bounded(const lw_criterion *c) { return c->bounded; }

/* --- choices --------------------------------------------------------------------------------------- */

/* Picks `count` of the coordinates that are not taken; chosen and pivots may be NULL. Returns how many there
 * were with anything left, and the smallest pivot in *least. */
static int pick(lw_criterion *c, int count, int *chosen, double *pivots, double *least) {
    const double alike = 1e-9; /* the first of equals, whatever rounding says */
    int n = c->n, k = c->k;
    *least = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++)
            c->left[j + (size_t)i * (size_t)k] = c->W[j + (size_t)i * (size_t)k] / c->length[i];
    for (int picked = 0; picked < count; picked++) {
        int best = -1;
        double most = 0, unit;
        for (int i = 0; i < n; i++) {
            const double *w = c->left + (size_t)i * (size_t)k;
            double square = c->taken[i] ? 0 : dot(k, w, w);
            if (square > most * (1 + alike)) best = i, most = square;
        }
        if (best < 0) {
            *least = 0;
            return picked;
        }
        c->taken[best] = true;
        if (chosen) chosen[picked] = best;
        if (pivots) pivots[picked] = most;
        *least = fmin(*least, most);
        double *own = c->left + (size_t)best * (size_t)k;
        unit = 1 / sqrt(most);
        for (int j = 0; j < k; j++) own[j] *= unit;
        for (int i = 0; i < n; i++) {
            double *w = c->left + (size_t)i * (size_t)k;
            if (c->taken[i]) continue;
            for (int twice = 0; twice < 2; twice++) { /* the second time for what rounding has left */
                double along = dot(k, own, w);
                for (int j = 0; j < k; j++) w[j] -= along * own[j];
            }
        }
    }
    return count;
}

int lw_criterion_choose(lw_criterion *c, const bool *skip, int *chosen, double *pivots) {
    double least;
    for (int i = 0; i < c->n; i++) c->taken[i] = skip && skip[i];
    return pick(c, c->k, chosen, pivots, &least);
}

double lw_criterion_worth(lw_criterion *c, const int *set, int count) {
    double least;
    for (int i = 0; i < c->n; i++) c->taken[i] = true;
    for (int j = 0; j < count; j++) c->taken[set[j]] = false;
    if (count > c->k) return 0;
    pick(c, count, NULL, NULL, &least);
    return least;
}

void lw_criterion_svd(const lw_criterion *c, double *weight) {
    for (int i = 0; i < c->n; i++) {
        weight[i] = 0;
        for (int j = 0; j < c->k; j++) {
            double z = c->Z[(size_t)i + (size_t)j * (size_t)c->n];
            weight[i] += z * z;
        }
    }
}

/* --- a mechanism in joint coordinates --------------------------------------------------------------- */

/* The speeds of the tree in turn: which body's joint, which of its speeds; false after the last. */
static bool next_speed(const lw_model *model, int *body, int *k) {
    for (++*k; *body <= model->body_count; ++*body, *k = 0)
        if (*k < model->links[*body].joint.nv) return true;
    return false;
}

int lw_criterion_row_count(const lw_model *model) {
    int count = 0;
    for (int k = 0; k < model->closure_count; k++) count += model->joints[model->closures[k]].info.rows;
    for (int k = 0; k < model->constraint_count; k++)
        count += model->constraints[k].type == LW_CONSTRAINT_ROLLING ? 3 : 1;
    for (int i = 1, k = -1; next_speed(model, &i, &k);) count += model->links[i].prescribed >> k & 1;
    return count;
}

/* Joints below the body at which both branches of a row between two bodies meet move the two alike, which
 * the row does not feel. Rounding of the two parts is left in their columns, and a light body there may
 * accelerate 1e9 times as fast as the loop; so it goes. Rows of couplings count coordinates of joints. */
static void clear_common(const lw_model *model, const lw_rows *loops, const lw_row *row, double *C) {
    bool counts = row->constraint >= 0 && model->constraints[row->constraint].type == LW_CONSTRAINT_COUPLING;
    if (row->count != 2 || counts) return;
    int a = loops->body[row->block], b = loops->body[row->block + 1];
    while (a != b) { /* parents have smaller numbers */
        if (a > b)
            a = model->links[a].parent;
        else
            b = model->links[b].parent;
    }
    for (; a > 0; a = model->links[a].parent)
        memset(C + model->links[a].v, 0, (size_t)model->links[a].joint.nv * sizeof *C);
}

void lw_criterion_rows(const lw_model *model, const lw_data *data, const lw_rows *loops, double length,
                       double *C, double *factor) {
    size_t nv = (size_t)model->nv;
    lw_loop_constraint_matrix(model, data, loops, C);
    for (int r = 0; r < loops->count; r++, C += nv) {
        const lw_row *row = &loops->rows[r];
        double square = 0, scale;
        clear_common(model, loops, row, C);
        for (int b = row->block; b < row->block + row->count; b++) {
            const double *h = loops->H + 6 * b;
            square += lw_v3_dot(h, h) + length * length * lw_v3_dot(h + 3, h + 3);
        }
        scale = square > 0 ? 1 / sqrt(square) : 1;
        for (size_t k = 0; k < nv; k++) C[k] *= scale;
        if (factor) *factor++ = scale;
    }
    for (int i = 1, k = -1; next_speed(model, &i, &k);) {
        const lw_link *link = &model->links[i];
        if (!(link->prescribed >> k & 1)) continue;
        double scale = lw_joint_speed_turns(link->joint.type, k) ? 1 : 1 / length;
        memset(C, 0, nv * sizeof *C);
        C[link->v + k] = scale;
        if (factor) *factor++ = scale;
        C += nv;
    }
}

void lw_criterion_units(const lw_model *model, double length, double *units) {
    for (int i = 1, k = -1; next_speed(model, &i, &k);)
        units[model->links[i].v + k] = lw_joint_speed_turns(model->links[i].joint.type, k) ? 1 : length;
}

double lw_criterion_tolerance(const lw_rows *loops, double length) {
    const double most = 3e-5, share = 100; /* as lw_rank_tolerance */
    double gap = 0;
    for (int r = 0; r < loops->count; r++) gap = fmax(gap, fabs(loops->phi[r]));
    return fmin(most, fmax(LW_RANK_TOLERANCE, share * gap / length));
}

void lw_speed_name(const lw_model *model, int speed, char *text, size_t size) {
    int body = model->body_count;
    while (model->links[body].v > speed) body--;
    const lw_link *link = &model->links[body];
    int k = speed - link->v,
        order = lw_joint_coordinate_of_speed(link->joint.type, k) < 0; /* speeds of a ball */
    const char *unit, *part = lw_joint_column(link->joint.type, link->joint.nv, order, k, &unit);
    const char *name = model->joints[model->bodies[body].joint_index].name;
    if (link->joint.nv == 1)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "%s.%s", name, part);
}

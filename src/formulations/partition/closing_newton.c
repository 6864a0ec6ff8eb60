/* closing_newton.c - Newton's method from the last position for coordinates without a closed formula.
 *
 *   C_D d = -phi              over the remaining coordinates, repeated
 *
 * is solved by reflections with pivoting, since rows may be redundant; lengths are relative to that of the
 * mechanism. Rows that are already satisfied do not depend on the remaining coordinates.
 *
 * Branch   a round moves no coordinate by more than half a radian or half the mechanism, and all rounds
 *          together by no more than `farthest`; between start and end det(C_D) must not change its sign:
 *          C_D(start)^+ C_D(end) has a positive determinant. Otherwise the call fails.
 * Cost     O(rows unknowns^2) per round; dense.
 */
#include "formulations/partition/closing_parts.h"
#include "constraints/loop_constraints.h"
#include "model/joint.h"

#include <stdio.h>

static const double farthest = 1.5; /* radians, or lengths of the mechanism */
static const double enough = 1e-14, open_loop = 1e-9;

bool lw_closing_newton_create(lw_closing *c, lw_arena *arena) {
    size_t m = (size_t)c->rows->count + 1, n = (size_t)c->model->nv + 1;
    bool loops = c->rows->count > 0;
    size_t matrix = loops ? m * n : 1;
    c->G = LW_NEW(arena, double, matrix);
    c->A = LW_NEW(arena, double, matrix);
    c->A0 = LW_NEW(arena, double, matrix);
    c->M = LW_NEW(arena, double, loops ? (m > n ? m : n) * n : 1);
    c->order = LW_NEW(arena, int, n);
    c->order0 = LW_NEW(arena, int, n);
    c->right = LW_NEW(arena, double, m + n);
    c->orthogonal = lw_orthogonal_create((int)m, (int)n, false);
    c->orthogonal0 = lw_orthogonal_create((int)m, (int)n, false);
    return !lw_arena_failed(arena) && c->orthogonal && c->orthogonal0;
}

/* The unit of a remaining speed: that of a slide is the length of the mechanism. */
static double unit_of(const lw_closing *c, int speed) {
    return c->edges[c->edge_of_speed[speed]].kind == LW_EDGE_SLIDE ? c->length : 1;
}

static double unit_of_row(const lw_closing *c, int row) {
    return lw_row_is_length(c->model, c->rows, row) ? c->length : 1;
}

static void evaluate(lw_closing *c, double t, const double *q) {
    lw_take_state(c->model, c->data, t, q, NULL);
    lw_velocities(c->model, c->data);
    lw_world_poses(c->model, c->data);
    lw_rows_evaluate(c->model, c->data, false, c->rows);
}

/* Fills A with C_D at the position in data, in dimensionless numbers. */
static void fill(lw_closing *c, double *A) {
    size_t m = (size_t)c->rows->count, nv = (size_t)c->model->nv;
    lw_loop_constraint_matrix(c->model, c->data, c->rows, c->G);
    for (int j = 0; j < c->unknown_count; j++)
        for (size_t r = 0; r < m; r++) {
            bool slip = lw_row_is_slip(c->model, &c->rows->rows[r]);
            A[r + (size_t)j * m] = slip ? 0
                                        : c->G[r * nv + (size_t)c->unknown[j]] * unit_of(c, c->unknown[j]) /
                                              unit_of_row(c, (int)r);
        }
}

/* Factors A and returns its rank, which is 0 if all entries are rounding. */
static int factor(lw_orthogonal *work, int m, int n, double *A, int *order) {
    int rank = lw_qr_factor(work, m, n, A, order, LW_RANK_TOLERANCE);
    return rank > 0 && fabs(A[0]) < LW_RANK_TOLERANCE ? 0 : rank;
}

/* The largest violation of the rows at position level. */
static double worst_row(const lw_closing *c, int *row) {
    double worst = 0;
    *row = 0;
    for (int r = 0; r < c->rows->count; r++) {
        double off = fabs(c->rows->phi[r]) / unit_of_row(c, r);
        if (lw_row_is_slip(c->model, &c->rows->rows[r]) || off <= worst) continue;
        worst = off, *row = r;
        if (isnan(off)) break;
    }
    return worst;
}

static bool has_slip(const lw_closing *c) {
    for (int r = 0; r < c->rows->count; r++)
        if (lw_row_is_slip(c->model, &c->rows->rows[r])) return true;
    return false;
}

/* The sign of the determinant of the n x n matrix M, which is overwritten. */
static double determinant_sign(int n, double *M) {
    double sign = 1;
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(M[i + k * n]) > fabs(M[pivot + k * n])) pivot = i;
        if (M[pivot + k * n] == 0) return 0;
        for (int j = 0; j < n && pivot != k; j++) {
            double other = M[k + j * n];
            M[k + j * n] = M[pivot + j * n], M[pivot + j * n] = other;
        }
        if (pivot != k) sign = -sign;
        if (M[k + k * n] < 0) sign = -sign;
        for (int i = k + 1; i < n; i++) {
            double factor = M[i + k * n] / M[k + k * n];
            for (int j = k + 1; j < n; j++) M[i + j * n] -= factor * M[k + j * n];
        }
    }
    return sign;
}

/* Returns whether det(C_D) has the same sign at the start, whose factors are in A0, and at the end, which is
 * in data. */
static bool same_branch(lw_closing *c) {
    int n = c->unknown_count, m = c->rows->count;
    fill(c, c->A);
    for (int j = 0; j < n; j++) {
        double *column = c->A + (size_t)j * (size_t)m;
        lw_qr_apply(c->orthogonal0, true, m, n, c->A0, 1, column);
        lw_qr_triangle(false, n, m, c->A0, 1, column, m);
        for (int k = 0; k < n; k++) c->M[c->order0[k] + j * n] = column[k];
    }
    return determinant_sign(n, c->M) > 0;
}

static lw_status lost(const lw_closing *c, int row, const char *why, lw_error *error) {
    char what[192];
    lw_row_describe(c->model, &c->rows->rows[row], what, sizeof what);
    return lw_fail(
        error, LW_ERROR_SINGULAR, NULL,
        "choose other independent coordinates, take shorter steps, or turn back before the dead point",
        "the loops cannot be closed by Newton's method from the last position: %s; %s is off by %.3g", why,
        what, fabs(c->rows->phi[row]));
}

/* Moves the remaining coordinates by d, and returns the largest move. */
static double move(const lw_closing *c, const double *d, double *q) {
    double largest = 0;
    for (int j = 0; j < c->unknown_count; j++) {
        const lw_closing_edge *edge = &c->edges[c->edge_of_speed[c->unknown[j]]];
        largest = fmax(largest, fabs(d[j]));
        if (edge->kind != LW_EDGE_BALL) {
            q[edge->q] += d[j] * unit_of(c, c->unknown[j]);
            continue;
        }
        /* in axes of the second frame, so that it multiplies from the right */
        double turn[3] = {0, 0, 0}, by[4], old[4];
        for (; j < c->unknown_count && c->edge_of_speed[c->unknown[j]] == c->edge_of_speed[edge->v]; j++)
            turn[c->unknown[j] - edge->v] = d[j], largest = fmax(largest, fabs(d[j]));
        j--;
        lw_quat_exp(turn, by);
        memcpy(old, q + edge->q, sizeof old);
        lw_quat_mul(old, by, q + edge->q);
        lw_quat_normalise(q + edge->q);
    }
    return largest;
}

lw_status lw_closing_newton_positions(lw_closing *c, double t, double *q, lw_error *error) {
    int n = c->unknown_count, m = c->rows->count, row = 0, rank = 0, rank0 = 0;
    double before = INFINITY, far = 0;
    bool slip = has_slip(c);
    for (int round = 0; round < 40; round++) {
        evaluate(c, t, q);
        double worst = worst_row(c, &row);
        if (worst <= enough || (worst < open_loop && worst >= 0.5 * before)) {
            if (far > 0.05 && rank0 == n && !same_branch(c))
                return lost(c, row, "it would end on another branch", error);
            return LW_OK;
        }
        if (!isfinite(worst)) break;
        before = worst;
        double *A = round == 0 ? c->A0 : c->A;
        int *order = round == 0 ? c->order0 : c->order;
        lw_orthogonal *work = round == 0 ? c->orthogonal0 : c->orthogonal;
        fill(c, A);
        rank = factor(work, m, n, A, order);
        if (round == 0) rank0 = rank;
        if (rank < n && !slip)
            return lost(c, row, "the independent coordinates do not determine the others there", error);
        for (int r = 0; r < m; r++)
            c->right[r] =
                lw_row_is_slip(c->model, &c->rows->rows[r]) ? 0 : -c->rows->phi[r] / unit_of_row(c, r);
        lw_qr_apply(work, true, m, n, A, 1, c->right);
        lw_qr_triangle(false, rank, m, A, 1, c->right, m);
        double *step = c->right + m, most = 0;
        for (int k = 0; k < n; k++) step[order[k]] = k < rank ? c->right[k] : 0;
        for (int k = 0; k < n; k++) most = fmax(most, fabs(step[k]));
        for (int k = 0; k < n && most > 0.5; k++) step[k] *= 0.5 / most;
        far += move(c, step, q);
        if (far > farthest) return lost(c, row, "the nearest solution is too far away", error);
    }
    return lost(c, row, "it does not converge", error);
}

lw_status lw_closing_check(lw_closing *c, double t, const double *q, lw_error *error) {
    int row;
    if (c->rows->count == 0) return LW_OK;
    evaluate(c, t, q);
    double worst = worst_row(c, &row);
    if (worst <= open_loop) return LW_OK;
    char what[192];
    lw_row_describe(c->model, &c->rows->rows[row], what, sizeof what);
    return lw_fail(error, LW_ERROR_SINGULAR, NULL,
                   "take fewer independent coordinates, as many as the mechanism has freedoms, or move the "
                   "prescribed ones "
                   "so that they agree",
                   "the given coordinates leave a loop open: %s is off by %.3g", what,
                   fabs(c->rows->phi[row]));
}

/* closing_support.h - for the tests of closing conditions: a model on the bench, and one way to examine a set.
 *
 * Positions are compared with the rows (rounding), with where they came from, and in their differences with the
 * velocities that the rows demand.
 */
#ifndef LW_TEST_CLOSING_SUPPORT_H
#define LW_TEST_CLOSING_SUPPORT_H

#include "build.h"
#include "formulations/partition/closing_parts.h"
#include "constraints/projection.h"
#include "constraints/loop_constraints.h"
#include "linalg/dense.h"
#include "model/rows.h"
#include "random_model.h"
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST 96

/* --- a model with everything needed to look at it ------------------------------------------------------ */

typedef struct bench {
    lw_model *model;
    lw_arena *arena;
    lw_data *data;
    lw_rows *rows;
    lw_closing *closing;
    lw_orthogonal *orthogonal;
    double *G, *A; /* rows x speeds, by rows and by columns */
    int nq, nv, rank;
    double t, length;
    double q[MOST]; /* an assembled position */
    char name[128];
} bench;

/* The largest violation at positions q. */
static inline double residual(bench *b, const double *q) {
    double worst = 0;
    lw_take_state(b->model, b->data, b->t, q, NULL);
    lw_velocities(b->model, b->data);
    lw_world_poses(b->model, b->data);
    lw_rows_evaluate(b->model, b->data, false, b->rows);
    for (int r = 0; r < b->rows->count; r++)
        if (!lw_row_is_slip(b->model, &b->rows->rows[r])) worst = fmax(worst, fabs(b->rows->phi[r]));
    return worst;
}

static inline void open_bench(bench *b, lw_model *model, double t, const double *q, const char *name) {
    *b = (bench){
        .model = model, .t = t, .nq = lw_model_q_size(model), .nv = lw_model_v_size(model), .length = 1};
    assert_true(b->nq <= MOST && b->nv <= MOST);
    snprintf(b->name, sizeof b->name, "%s", name);
    b->arena = lw_arena_create(NULL);
    assert_int_equal(lw_data_create(model, NULL, &b->data), LW_OK);
    b->rows = lw_rows_create_loops(model, b->arena);
    b->closing = lw_closing_create(model, b->arena);
    b->orthogonal = lw_orthogonal_create(b->rows->count + 1, b->nv + 1, false);
    b->G = LW_NEW(b->arena, double, (b->rows->count + 1) * (b->nv + 1));
    b->A = LW_NEW(b->arena, double, (b->rows->count + 1) * (b->nv + 1));
    assert_true(b->closing && b->orthogonal && b->G && b->A);
    if (q)
        memcpy(b->q, q, (size_t)b->nq * sizeof *q);
    else {
        double v[MOST];
        lw_error error;
        lw_model_initial_state(model, b->q, v);
        assert_int_equal(lw_assemble(model, t, b->q, v, NULL, &error), LW_OK);
    }
    residual(b, b->q);
    memcpy(b->q, b->data->q, (size_t)b->nq * sizeof *q);
    for (int i = 1; i <= model->body_count; i++) b->length = fmax(b->length, lw_v3_norm(b->data->world[i].p));
}

static inline void close_bench(bench *b) {
    lw_orthogonal_destroy(b->orthogonal);
    lw_closing_destroy(b->closing);
    lw_data_destroy(b->data);
    lw_arena_destroy(b->arena);
    lw_model_destroy(b->model);
}

static inline bool prescribed(const bench *b, int speed) {
    for (int j = 0; j < lw_model_joint_count(b->model); j++) {
        lw_joint_info info = lw_model_joint_info(b->model, j);
        int k = speed - info.v;
        if (!info.cut && k >= 0 && k < info.v_count) return info.prescribed >> k & 1;
    }
    return false;
}

/* The rank of the columns of G that are not independent (all: NULL) nor prescribed, each times weight (1: NULL), how well they
 * are conditioned, and how many they are; order of pivots in terms of speeds. */
static inline int rank_of(bench *b, const bool *independent, const double *weight, double *condition,
                          int *count, int *order) {
    int m = b->rows->count, n = 0, place[MOST + 1], column[MOST];
    for (int k = 0; k < b->nv; k++) {
        if ((independent && independent[k]) || prescribed(b, k)) continue;
        for (int r = 0; r < m; r++) b->A[r + n * m] = b->G[r * b->nv + k] * (weight ? weight[k] : 1);
        column[n++] = k;
    }
    for (int k = 0; k < n; k++) place[k] = k;
    int rank = m > 0 ? lw_qr_factor(b->orthogonal, m, n, b->A, place, 1e-7) : 0;
    if (rank > 0 && fabs(b->A[0]) < 1e-9) rank = 0; /* nothing but rounding */
    if (condition) *condition = rank > 0 ? fabs(b->A[rank - 1 + (rank - 1) * m] / b->A[0]) : 1;
    for (int k = 0; order && k < n; k++) order[k] = column[place[k]];
    if (count) *count = n;
    return rank;
}

/* The dependent speeds at closed positions q from the independent ones, by least squares over the rows: v in, the
 * independent ones; out, all. False if the rows do not determine them. */
static inline bool complete_speeds(bench *b, const double *q, const bool *independent, double *v) {
    int m = b->rows->count, n, order[MOST];
    double right[6 * MOST];
    lw_take_state(b->model, b->data, b->t, q, v);
    memcpy(v, b->data->v, (size_t)b->nv * sizeof *v); /* prescribed ones included */
    residual(b, q);
    lw_loop_constraint_matrix(b->model, b->data, b->rows, b->G);
    int rank = rank_of(b, independent, NULL, NULL, &n, order);
    if (rank < n) return false;
    for (int k = 0; k < n; k++) v[order[k]] = 0;
    assert_true(m <= 6 * MOST);
    for (int r = 0; r < m; r++) {
        right[r] = b->rows->rate[r];
        for (int k = 0; k < b->nv; k++) right[r] -= b->G[r * b->nv + k] * v[k];
    }
    lw_qr_apply(b->orthogonal, true, m, n, b->A, 1, right);
    lw_qr_triangle(false, rank, m, b->A, 1, right, m);
    for (int k = 0; k < n; k++) v[order[k]] = right[k];
    return true;
}

/* --- one set ---------------------------------------------------------------------------------------------- */

static inline void fail_set(bench *b, const bool *independent, const char *what, double value,
                            const lw_error *error) {
    print_error("%s: %s %g", b->name, what, value);
    if (error) print_error(" (%s: %s)", error->object, error->message);
    print_error("; independent:");
    for (int k = 0; k < b->nv; k++)
        if (independent[k]) print_error(" %d", k);
    print_error("\n");
    fail_msg("%s", what);
}

static inline double difference(const double *a, const double *b, int count) {
    double worst = 0;
    for (int k = 0; k < count; k++) worst = fmax(worst, fabs(a[k] - b[k]));
    return worst;
}

/* Plans the set and examines it at the assembled position. Returns how many speeds are left to Newton, or -1 if the set is not
 * well conditioned there and was left alone. */
static inline int examine(bench *b, const bool *independent, lw_random *random) {
    double q[MOST], v[MOST], qdot[MOST], side[2][MOST], condition, largest = 0;
    int count, nq = b->nq, nv = b->nv;
    lw_error error = {0};
    residual(b, b->q);
    lw_loop_constraint_matrix(b->model, b->data, b->rows, b->G);
    if (rank_of(b, independent, NULL, &condition, &count, NULL) < count || condition < 0.02) return -1;
    if (lw_closing_plan(b->closing, independent, &error) != LW_OK)
        fail_set(b, independent, "plan", 0, &error);
    lw_closing_take_branch(b->closing, b->t, b->q);

    /* positions: from a guess that is off, back to where they were; conditioning costs two digits */
    for (int k = 0; k < nv; k++) v[k] = independent[k] ? 0 : random_between(random, -0.001, 0.001);
    memcpy(q, b->q, (size_t)nq * sizeof *q);
    lw_integrate_q(b->model, q, v, 1);
    bool spins =
        false; /* of spherical joints part of whose speeds are independent the guess decides: do not move them */
    for (int j = 0; j < lw_model_joint_count(b->model); j++) {
        lw_joint_info info = lw_model_joint_info(b->model, j);
        int at = info.type == LW_JOINT_SPHERICAL ? 0 : info.type == LW_JOINT_FREE ? 3 : -1, some = 0;
        if (info.cut || at < 0) continue;
        for (int k = 0; k < 3; k++) some += independent[info.v + at + k];
        if (some == 0 || some == 3) continue;
        memcpy(q + info.q + at, b->q + info.q + at, 4 * sizeof *q);
        spins = true;
    }
    for (int r = 0; r < b->rows->count; r++)
        spins |= lw_row_is_slip(b->model, &b->rows->rows[r]); /* so with rolling */
    if (lw_closing_positions(b->closing, b->t, q, &error) != LW_OK)
        fail_set(b, independent, "positions", 0, &error);
    double off = residual(b, q);
    /* rows that depend on others are not solved: there rounding comes back over the conditioning */
    if (off > fmax(1e-13, 1e-14 / condition) * b->length) fail_set(b, independent, "residual", off, NULL);
    off = difference(q, b->q, nq);
    if (off > 1e-10 * b->length && !spins) fail_set(b, independent, "positions are elsewhere by", off, NULL);

    /* velocities by the rows, scaled so that the largest is one */
    double q0[MOST];
    memcpy(q0, q, sizeof q);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < nv; k++)
            v[k] = pass == 0 ? random_between(random, -1, 1) : v[k] / fmax(largest, 1);
        if (!complete_speeds(b, q0, independent, v)) fail_set(b, independent, "velocities", 0, NULL);
        for (int k = 0; k < nv; k++) largest = fmax(largest, fabs(v[k]));
    }
    residual(b, q0);
    lw_loop_constraint_matrix(b->model, b->data, b->rows, b->G);
    for (int r = 0; r < b->rows->count; r++) {
        double defect = -b->rows->rate[r], size = 1;
        for (int k = 0; k < nv; k++) defect += b->G[r * nv + k] * v[k], size += fabs(b->G[r * nv + k] * v[k]);
        if (fabs(defect) > 1e-10 * size) fail_set(b, independent, "velocity defect", defect, NULL);
    }

    /* differences: h^2 times third derivatives, and rounding over h; prescribed motions move on too */
    const double h = 1e-5;
    lw_q_rate(b->model, q0, v, qdot);
    for (int s = 0; s < 2; s++) {
        double step = s ? h : -h;
        for (int k = 0; k < nq; k++) side[s][k] = q0[k] + step * qdot[k];
        if (lw_closing_positions(b->closing, b->t + step, side[s], &error) != LW_OK)
            fail_set(b, independent, "positions beside", 0, &error);
    }
    for (int k = 0; k < nq; k++) side[0][k] = (side[1][k] - side[0][k]) / (2 * h);
    off = difference(side[0], qdot, nq);
    if (off > 1e-5) fail_set(b, independent, "differences of positions", off, NULL);
    return b->closing->unknown_count;
}

/* Every single speed as the independent one. Returns how many were examined; the others are badly conditioned. */
static inline int examine_all(bench *b, lw_random *random, bool must_be_closed) {
    int examined = 0;
    for (int k = 0; k < b->nv; k++) {
        bool independent[MOST] = {false};
        if (prescribed(b, k)) continue;
        independent[k] = true;
        int newton = examine(b, independent, random);
        examined += newton >= 0;
        if (must_be_closed && newton > 0) fail_set(b, independent, "left to Newton", newton, NULL);
    }
    return examined;
}

static inline void names_of(int k, char *body, char *joint) {
    if (body) snprintf(body, 16, k < 0 ? "ground" : "b%d", k);
    if (joint) snprintf(joint, 16, "j%d", k);
}

static inline void add_link(lw_spec *spec, int k) {
    char name[16];
    names_of(k, name, NULL);
    add_plain_body(spec, name);
}

#endif

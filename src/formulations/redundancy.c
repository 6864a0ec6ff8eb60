/* redundancy.c - dependent rows of closures and constraints, mobility, and which reactions they leave undetermined.
 *
 *   G = H_c' Z           rows of closures and constraints in the speeds of the tree, Z: speeds -> velocities
 *   G'P = Q R            with pivoting: rank; the rows that come last are redundant
 *   G'l = 0              l: multipliers of the closures that move nothing. With the tree's reactions that balance
 *                        them they are all that redundancy leaves open: the rows of a tree are independent
 *
 * A component of a reaction is unique if no such l contributes to it. Lengths are made dimensionless by the size of the
 * mechanism; rank decisions are all taken here or with the same threshold (linalg/dense.h).
 *
 * Source   Mufti (1983), eq. 64 and appendix, case 2; docs/theory/redundancy.md.
 * Cost     O(rows^2 speeds), dense; allocates. Not for use within a time step.
 */
#include "formulations/redundancy.h"
#include "formulations/ties.h"
#include "linalg/dense.h"
#include "model/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far the joints are from their middle. */
double lw_redundancy_size(const lw_stationary *s) {
    double middle[3] = {0, 0, 0}, far = 0;
    int count = s->model->joint_count;
    for (int j = 0; j < count; j++) lw_v3_axpy(1.0 / count, s->rows->joints[j].at, middle);
    for (int j = 0; j < count; j++) {
        double arm[3];
        lw_v3_sub(s->rows->joints[j].at, middle, arm);
        far = fmax(far, lw_v3_norm(arm));
    }
    return far > 0 ? far : 1;
}

/* What makes a row dimensionless: of lengths the size of the mechanism; of a coupling its largest term. */
double lw_redundancy_row_scale(const lw_stationary *s, const lw_row *row, double size) {
    if (row->joint >= 0) {
        bool length = lw_v3_norm(s->rows->joints[row->joint].W + 6 * row->component + 3) > 0.5;
        return length ? 1 / size : 1;
    }
    const lw_constraint *constraint = &s->model->constraints[row->constraint];
    if (constraint->type != LW_CONSTRAINT_COUPLING) return 1 / size;
    double largest = 0;
    for (int k = 0; k < constraint->terms; k++) {
        int at = LW_COUPLING_MAX * row->constraint + k;
        lw_joint_type type = s->model->joints[s->rows->coupling_joint[at]].info.type;
        bool turns = lw_joint_speed_turns(type, s->rows->coupling_component[at]);
        largest = fmax(largest, fabs(constraint->factors[k]) * (turns ? 1 : size));
    }
    return largest > 0 ? 1 / largest : 1;
}

/* Numbers the speeds that are not prescribed; -1 for the others. */
static int number_speeds(const lw_model *model, int *number) {
    int count = 0;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++)
            number[model->links[i].v + k] = model->links[i].prescribed >> k & 1 ? -1 : count++;
    return count;
}

/* G' (speeds x rows), dimensionless, in place of that of all nv speeds, prescribed or not. */
static void closure_matrix(const lw_stationary *s, const int *number, int speeds, double size, double *G) {
    const lw_rows *rows = s->rows;
    lw_tie_matrix(s->model, s->data, rows, G);
    for (int r = rows->tree_count; r < rows->count; r++) {
        const double *all = G + (size_t)(r - rows->tree_count) * (size_t)s->model->nv;
        double *g = G + (size_t)(r - rows->tree_count) * (size_t)speeds,
               scale = lw_redundancy_row_scale(s, &rows->rows[r], size);
        for (int k = 0; k < s->model->nv; k++) {
            const double *S = s->data->S + 6 * k;
            bool turns = lw_v3_dot(S, S) > 0.25;
            if (number[k] >= 0) g[number[k]] = scale * (turns ? 1 : size) * all[k];
        }
    }
}

lw_status lw_redundancy_create(const lw_stationary *s, lw_redundancy **out, lw_error *error) {
    const lw_model *model = s->model;
    const lw_rows *rows = s->rows;
    int m = rows->count - rows->tree_count;
    *out = NULL;
    lw_redundancy *r = calloc(1, sizeof *r);
    int *number = calloc((size_t)model->nv + 1, sizeof *number);
    int *order = calloc((size_t)m + 1, sizeof *order);
    int speeds = number ? number_speeds(model, number) : 0;
    double *G = calloc((size_t)m * (size_t)model->nv + 1, sizeof *G), size = lw_redundancy_size(s);
    lw_orthogonal *work = lw_orthogonal_create(speeds, m, false);
    if (r) r->kept = calloc((size_t)m + 1, sizeof *r->kept);
    if (!r || !number || !order || !G || !work || !r->kept) goto fail;
    closure_matrix(s, number, speeds, size, G);
    r->rows = m;
    r->speeds = speeds;
    /* rows and columns are of size one: if all pivots are small, all rows are redundant */
    int pivots = lw_qr_factor(work, speeds, m, G, order, 0);
    while (r->rank < pivots &&
           fabs(G[r->rank + (size_t)r->rank * (size_t)speeds]) > LW_RANK_TOLERANCE * fmax(1, fabs(G[0])))
        r->rank++;
    if (m > 0 && speeds == 0)
        for (int k = 0; k < m; k++) order[k] = k;
    r->mobility = speeds - r->rank;
    r->nulls = m - r->rank;
    r->null = calloc((size_t)m * (size_t)r->nulls + 1, sizeof *r->null);
    double *X = calloc((size_t)m * (size_t)r->nulls + 1, sizeof *X);
    if (!r->null || !X) {
        free(X);
        goto fail;
    }
    for (int k = 0; k < r->rank; k++) r->kept[order[k]] = true;
    /* l = P [-R11^-1 R12; I], in the units of the rows */
    for (int c = 0; c < r->nulls; c++)
        for (int k = 0; k < r->rank; k++) X[k + c * r->rank] = -G[k + (size_t)(r->rank + c) * (size_t)speeds];
    lw_qr_triangle(false, r->rank, speeds > 0 ? speeds : 1, G, r->nulls, X, r->rank > 0 ? r->rank : 1);
    for (int c = 0; c < r->nulls; c++) {
        double *null = r->null + (size_t)c * (size_t)m;
        for (int k = 0; k < r->rank; k++) null[order[k]] = X[k + c * r->rank];
        null[order[r->rank + c]] = 1;
        for (int k = 0; k < m; k++)
            null[k] *= lw_redundancy_row_scale(s, &rows->rows[rows->tree_count + k], size);
    }
    free(X), free(number), free(order), free(G);
    lw_orthogonal_destroy(work);
    *out = r;
    return LW_OK;
fail:
    free(number), free(order), free(G);
    lw_orthogonal_destroy(work);
    lw_redundancy_destroy(r);
    return lw_out_of_memory(error);
}

void lw_redundancy_destroy(lw_redundancy *r) {
    if (!r) return;
    free(r->kept), free(r->null), free(r);
}

/* Adds a wrench (torque; force) acting at x to one given at `at`. */
static void move_wrench(const double w[6], const double x[3], const double at[3], double out[6]) {
    double arm[3], moment[3];
    lw_v3_sub(x, at, arm);
    lw_v3_cross(arm, w + 3, moment);
    for (int k = 0; k < 3; k++) out[k] += w[k] + moment[k], out[3 + k] += w[3 + k];
}

/* Size of the wrench (force; torque / size) that multipliers l of the closures make each joint transmit. */
static void transmitted(const lw_stationary *s, const double *l, double size, double *F, double *wrench) {
    const lw_model *model = s->model;
    const lw_rows *rows = s->rows;
    int n = model->body_count;
    memset(F, 0, 6 * (size_t)n * sizeof *F);
    memset(wrench, 0, 6 * (size_t)model->joint_count * sizeof *wrench);
    for (int r = rows->tree_count; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        double x = l[r - rows->tree_count];
        for (int b = row->block; b < row->block + row->count; b++)
            lw_v6_axpy(x, rows->H + 6 * b, F + 6 * (rows->body[b] - 1));
        if (row->joint >= 0) {
            lw_v6_axpy(x, rows->joints[row->joint].W + 6 * row->component, wrench + 6 * row->joint);
            continue;
        }
        /* what a coupling does at a joint it does beside the joint, which carries the rest */
        const lw_constraint *constraint = &model->constraints[row->constraint];
        for (int k = 0; k < constraint->terms; k++) {
            int at = LW_COUPLING_MAX * row->constraint + k, j = rows->coupling_joint[at];
            double sign = model->joints[j].info.reversed ? 1 : -1;
            lw_v6_axpy(sign * x * constraint->factors[k],
                       rows->joints[j].W + 6 * rows->coupling_component[at], wrench + 6 * j);
        }
    }
    for (int i = n; i >= 1; i--) { /* a tree joint carries what acts on everything beyond it */
        int j = model->bodies[i].joint_index, parent = model->links[i].parent;
        move_wrench(F + 6 * (i - 1), rows->bodies[i].r, rows->joints[j].at, wrench + 6 * j);
        if (parent > 0)
            move_wrench(F + 6 * (i - 1), rows->bodies[i].r, rows->bodies[parent].r, F + 6 * (parent - 1));
    }
    for (int j = 0; j < model->joint_count; j++)
        for (int k = 0; k < 3; k++) {
            double torque = wrench[6 * j + k];
            wrench[6 * j + k] = fabs(wrench[6 * j + 3 + k]);
            wrench[6 * j + 3 + k] = fabs(torque) / size;
        }
}

lw_status lw_unique_reactions(const lw_stationary *s, bool *unique, lw_error *error) {
    const lw_model *model = s->model;
    int count = 6 * model->joint_count;
    for (int k = 0; k < count; k++) unique[k] = true;
    if (s->rows->count == s->rows->tree_count) return LW_OK; /* a tree has nothing redundant */
    lw_redundancy *redundancy;
    lw_status status = lw_redundancy_create(s, &redundancy, error);
    if (status != LW_OK) return status;
    double *F = calloc(6 * (size_t)model->body_count + 1, sizeof *F);
    double *wrench = calloc((size_t)count + 1, sizeof *wrench);
    double size = lw_redundancy_size(s);
    const double threshold = 1e-9; /* of the largest component: methods are to agree to that */
    for (int c = 0; F && wrench && c < redundancy->nulls; c++) {
        const double *null = redundancy->null + (size_t)c * (size_t)redundancy->rows;
        double largest = 0; /* multipliers count, too: perhaps no joint feels them */
        for (int r = 0; r < redundancy->rows; r++) {
            double scale = lw_redundancy_row_scale(s, &s->rows->rows[s->rows->tree_count + r], size);
            largest = fmax(largest, fabs(null[r]) / (scale * size));
        }
        transmitted(s, null, size, F, wrench);
        for (int k = 0; k < count; k++) largest = fmax(largest, wrench[k]);
        for (int k = 0; k < count; k++)
            if (wrench[k] > threshold * largest) unique[k] = false;
    }
    if (!F || !wrench) status = lw_out_of_memory(error);
    free(F), free(wrench);
    lw_redundancy_destroy(redundancy);
    return status;
}

lw_status lw_unique_reactions_at(const lw_model *model, double t, const double *q, bool *unique,
                                 lw_error *error) {
    lw_stationary *s = lw_stationary_create(model, LW_HOLD_NONE);
    if (!s) return lw_out_of_memory(error);
    lw_stationary_rows_at(s, t, q, NULL);
    lw_status status = lw_unique_reactions(s, unique, error);
    lw_stationary_destroy(s);
    return status;
}

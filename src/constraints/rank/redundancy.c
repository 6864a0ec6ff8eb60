/* redundancy.c - dependent rows of closures and constraints, mobility, and which reactions they leave
 * undetermined.
 *
 *   G'P = Q R            row_independence.c: rank; the rows that come last are redundant
 *   G'l = 0              l: multipliers of the closures that move nothing. With the tree's reactions that
 *                        balance them they are all that redundancy leaves open: the rows of a tree are
 *                        independent
 *
 * A component of a reaction is unique if no such l contributes to it.
 *
 * Source   Mufti (1983), eq. 64 and appendix, case 2; docs/theory/redundancy.md.
 * Cost     O(rows^2 speeds), dense; uniqueness on large mechanisms by sparse_rank.c. Only what is called
 *          create allocates.
 */
#include "constraints/rank/redundancy.h"
#include "constraints/characteristic_length.h"
#include "constraints/rank/row_independence.h"
#include "constraints/row_scaling.h"
#include "constraints/rank/sparse_rank.h"

#include <math.h>
#include <string.h>

/* Column c of l = P [-R11^-1 R12; I], in the units of the rows. X: workspace, one number per row. */
static void find_null(const lw_independence *d, int c, double *X, double *null) {
    const size_t speeds = (size_t)d->speeds;
    const int rank = d->rank;
    for (int k = 0; k < rank; k++) X[k] = -d->G[(size_t)k + (size_t)(rank + c) * speeds];
    lw_qr_triangle(false, rank, speeds > 0 ? (int)speeds : 1, d->G, 1, X, rank > 0 ? rank : 1);
    memset(null, 0, (size_t)d->rows * sizeof *null);
    for (int k = 0; k < rank; k++) null[d->order[k]] = X[k];
    null[d->order[rank + c]] = 1;
    for (int k = 0; k < d->rows; k++) null[k] *= d->unit[k];
}

lw_status lw_redundancy_create(const lw_newton_euler *s, lw_redundancy **out, lw_error *error) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_redundancy *r = LW_NEW(arena, lw_redundancy, 1);
    lw_independence *d = lw_independence_create(s->model, s->rows, false);
    if (r && d) {
        lw_independence_at(d, s);
        size_t m = (size_t)d->rows;
        *r = (lw_redundancy){.arena = arena,
                             .rows = d->rows,
                             .speeds = d->speeds,
                             .rank = d->rank,
                             .size = d->size,
                             .mobility = d->speeds - d->rank,
                             .nulls = d->rows - d->rank};
        r->kept = LW_NEW(arena, bool, m + 1);
        r->unit = LW_NEW(arena, double, m + 1);
        r->null = LW_NEW(arena, double, m *(size_t)r->nulls + 1);
        double *X = LW_NEW(arena, double, m + 1);
        if (!lw_arena_failed(arena)) {
            memcpy(r->kept, d->kept, m * sizeof *r->kept);
            memcpy(r->unit, d->unit, m * sizeof *r->unit);
            for (int c = 0; c < r->nulls; c++) find_null(d, c, X, r->null + (size_t)c * m);
        }
    }
    bool fine = d && !lw_arena_failed(arena);
    lw_independence_destroy(d);
    if (!fine) lw_arena_destroy(arena);
    *out = fine ? r : NULL;
    return fine ? LW_OK : lw_out_of_memory(error);
}

void lw_redundancy_destroy(lw_redundancy *r) {
    if (r) lw_arena_destroy(r->arena);
}

/* Adds a wrench (torque; force) acting at x to one given at `at`. */
static void move_wrench(const double w[6], const double x[3], const double at[3], double out[6]) {
    double arm[3], moment[3];
    lw_v3_sub(x, at, arm);
    lw_v3_cross(arm, w + 3, moment);
    for (int k = 0; k < 3; k++) out[k] += w[k] + moment[k], out[3 + k] += w[3 + k];
}

/* Size of the wrench (force; torque / size) that multipliers l of the closures make each joint transmit. */
static void transmitted(const lw_newton_euler *s, const double *l, double size, double *F, double *wrench) {
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
            lw_v6_axpy(sign * x * rows->coupling_factor[at],
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

/* Clears the flags of the components that one vector of multipliers without effect on the motion touches.
 * F, wrench: workspace of 6 numbers per body and per joint. */
static void clear_touched(const lw_newton_euler *s, const double *null, double size, double *F,
                          double *wrench, bool *unique) {
    const lw_rows *rows = s->rows;
    const double threshold = 1e-9; /* of the largest component: methods are to agree to that */
    int count = 6 * s->model->joint_count;
    double largest = 0; /* multipliers count, too: perhaps no joint transmits any of them */
    for (int r = rows->tree_count; r < rows->count; r++)
        largest =
            fmax(largest, fabs(null[r - rows->tree_count]) / (lw_row_scale(s, &rows->rows[r], size) * size));
    transmitted(s, null, size, F, wrench);
    for (int k = 0; k < count; k++) largest = fmax(largest, wrench[k]);
    for (int k = 0; k < count; k++)
        if (wrench[k] > threshold * largest) unique[k] = false;
}

struct lw_uniqueness {
    lw_arena *arena;
    lw_newton_euler *own;   /* Only if it was created without a system. */
    lw_independence *dense; /* Up to LW_DENSE_ENTRIES; */
    lw_sparse_rank *sparse; /* beyond. Both NULL: there are no rows. */
    double *F, *wrench;     /* 6 per body, 6 per joint */
    double *null, *X;       /* 2 per row, one per row */
};

lw_uniqueness *lw_uniqueness_create(const lw_model *model, const lw_newton_euler *s) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_uniqueness *u = LW_NEW(arena, lw_uniqueness, 1);
    if (!u) {
        lw_arena_destroy(arena);
        return NULL;
    }
    u->arena = arena;
    if (!s) {
        s = u->own = lw_newton_euler_create(model, LW_HOLD_NONE);
        if (s) lw_newton_euler_rows_at(u->own, 0, model->q0, NULL);
    }
    bool fine = s != NULL;
    const int rows = fine ? s->rows->count - s->rows->tree_count : 0;
    if (rows > 0) {
        u->F = LW_NEW(arena, double, 6 * (size_t)model->body_count + 1);
        u->wrench = LW_NEW(arena, double, 6 * (size_t)model->joint_count + 1);
        u->null = LW_NEW(arena, double, 2 * (size_t)rows);
        u->X = LW_NEW(arena, double, rows);
        if ((double)rows * model->nv > LW_DENSE_ENTRIES)
            u->sparse = lw_sparse_rank_create(s);
        else
            u->dense = lw_independence_create(model, s->rows, false);
        fine = (u->sparse || u->dense) && !lw_arena_failed(arena);
    }
    if (fine) return u;
    lw_uniqueness_destroy(u);
    return NULL;
}

void lw_uniqueness_destroy(lw_uniqueness *u) {
    if (!u) return;
    lw_newton_euler_destroy(u->own);
    lw_independence_destroy(u->dense);
    lw_sparse_rank_destroy(u->sparse);
    lw_arena_destroy(u->arena);
}

/* By all vectors of a basis, from orthogonal factors. */
static void unique_by_basis(lw_uniqueness *u, const lw_newton_euler *s, bool *unique) {
    lw_independence *d = u->dense;
    lw_independence_at(d, s);
    for (int c = 0; c < d->rows - d->rank; c++) {
        find_null(d, c, u->X, u->null);
        clear_touched(s, u->null, d->size, u->F, u->wrench, unique);
    }
}

/* By two arbitrary vectors, from sparse factors: a component that neither touches is touched by none, but for
 * a coincidence of probability 1e-9 squared. */
static lw_status unique_by_chance(lw_uniqueness *u, const lw_newton_euler *s, bool *unique, lw_error *error) {
    const size_t rows = (size_t)(s->rows->count - s->rows->tree_count);
    const double size = lw_joint_extent(s);
    lw_status status = lw_sparse_null_vectors(u->sparse, s, 2, u->null, error);
    for (size_t c = 0; c < 2 && status == LW_OK; c++)
        clear_touched(s, u->null + c * rows, size, u->F, u->wrench, unique);
    return status;
}

static lw_status decide(lw_uniqueness *u, const lw_newton_euler *s, bool *unique, lw_error *error) {
    const int count = 6 * s->model->joint_count;
    for (int k = 0; k < count; k++) unique[k] = true;
    if (u->sparse) return unique_by_chance(u, s, unique, error);
    if (u->dense) unique_by_basis(u, s, unique);
    return LW_OK; /* A tree has nothing redundant. */
}

lw_status lw_unique_reactions(lw_uniqueness *u, const lw_newton_euler *s, bool *unique, lw_error *error) {
    if (u) return decide(u, s, unique, error);
    u = lw_uniqueness_create(s->model, s);
    lw_status status = u ? decide(u, s, unique, error) : lw_out_of_memory(error);
    lw_uniqueness_destroy(u);
    return status;
}

static lw_status decide_at(lw_uniqueness *u, double t, const double *q, bool *unique, lw_error *error) {
    lw_newton_euler_rows_at(u->own, t, q, NULL);
    return decide(u, u->own, unique, error);
}

lw_status lw_unique_reactions_at(lw_uniqueness *u, const lw_model *model, double t, const double *q,
                                 bool *unique, lw_error *error) {
    if (u) return decide_at(u, t, q, unique, error);
    u = lw_uniqueness_create(model, NULL);
    lw_status status = u ? decide_at(u, t, q, unique, error) : lw_out_of_memory(error);
    lw_uniqueness_destroy(u);
    return status;
}

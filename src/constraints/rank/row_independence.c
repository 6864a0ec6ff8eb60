/* row_independence.c - a largest independent set of the rows of closures and constraints.
 *
 *   G = H_c' Z           rows of closures and constraints in the speeds of the tree, Z: speeds -> velocities
 *   G'P = Q R            with pivoting: rank; the rows that come last are redundant
 *
 * The rows of a tree are independent whatever its state, so nothing else can be redundant. G does not depend
 * on masses: a light body between heavy ones counts as much as any other. A row of lengths is divided by the
 * size of the mechanism, and a column of a sliding speed is multiplied by it, so that G does not depend on
 * units.
 *
 * Z needs no joint coordinates: the twists S of a joint are dual to the wrenches W that rows.h gives in world
 * axes, W'S = 1, and a row's wrench on a body acts on all joints between that body and ground.
 *
 * Multipliers that move nothing, G'l = 0, with what the tree then carries, H (l_tree; l) = 0, take loads off
 * redundant rows (for a method's arithmetic) or share them out (for its answer): the loads of a loop then
 * follow the state without jumps.
 *
 * Source   Mufti (1983), eq. 64 and appendix, case 2; docs/theory/redundancy.md.
 * Cost     O(rows^2 speeds + rows depth), dense; no allocation but in create.
 */
#include "constraints/rank/row_independence.h"
#include "constraints/row_scaling.h"
#include "constraints/characteristic_length.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

/* --- rows in the speeds of the tree ---------------------------------------------------------------- */

/* S with W'S = 1: the columns of W^-T, by elimination with the largest pivot next. */
static void twists_of(const double W[36], double S[36]) {
    double A[6][12];
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 12; k++) A[i][k] = k < 6 ? W[6 * i + k] : k - 6 == i;
    for (int p = 0; p < 6; p++) {
        int best = p;
        for (int i = p + 1; i < 6; i++)
            if (fabs(A[i][p]) > fabs(A[best][p])) best = i;
        for (int k = 0; k < 12; k++) {
            double keep = A[p][k];
            A[p][k] = A[best][k], A[best][k] = keep;
        }
        double pivot = A[p][p];
        for (int k = 0; k < 12; k++) A[p][k] /= pivot;
        for (int i = 0; i < 6; i++) {
            double factor = A[i][p];
            for (int k = 0; k < 12 && i != p && factor != 0; k++) A[i][k] -= factor * A[p][k];
        }
    }
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 6; i++) S[6 * k + i] = A[i][6 + k];
}

static void find_twists(lw_independence *d, const lw_newton_euler *s) {
    for (int i = 1; i <= s->model->body_count; i++) {
        const lw_link *link = &s->model->links[i];
        if (link->joint.nv > 0 || d->null)
            twists_of(s->rows->joints[s->model->bodies[i].joint_index].W, d->S + 36 * (i - 1));
    }
}

/* The row in the speeds, dimensionless. The sense of a speed changes the sign of its column only, which says
 * nothing. */
static void row_in_speeds(lw_independence *d, const lw_newton_euler *s, const lw_row *row, double unit,
                          double *g) {
    const lw_model *model = s->model;
    const lw_rows *rows = s->rows;
    int last = 0;
    memset(g, 0, (size_t)d->speeds * sizeof *g);
    for (int b = row->block; b < row->block + row->count; b++) {
        int body = rows->body[b];
        lw_v6_axpy(1, rows->H + 6 * b, d->F + 6 * (body - 1));
        last = body > last ? body : last;
    }
    for (int i = last; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        double *F = d->F + 6 * (i - 1), at[6], arm[3], moment[3];
        const double *place = rows->joints[model->bodies[i].joint_index].at;
        if (lw_v6_dot(F, F) == 0) continue;
        lw_v3_sub(rows->bodies[i].r, place, arm);
        lw_v3_cross(arm, F + 3, moment);
        for (int k = 0; k < 3; k++) at[k] = F[k] + moment[k], at[3 + k] = F[3 + k];
        for (int k = 0; k < link->joint.nv; k++) {
            int speed = d->number[link->v + k];
            const double *S = d->S + 36 * (i - 1) + 6 * k;
            bool turns = lw_v3_dot(S, S) > 0.25;
            if (speed >= 0) g[speed] = unit * (turns ? 1 : d->size) * lw_v6_dot(S, at);
        }
        if (link->parent > 0) {
            double *to = d->F + 6 * (link->parent - 1);
            lw_v3_sub(rows->bodies[i].r, rows->bodies[link->parent].r, arm);
            lw_v3_cross(arm, F + 3, moment);
            for (int k = 0; k < 3; k++) to[k] += F[k] + moment[k], to[3 + k] += F[3 + k];
        }
        memset(F, 0, 6 * sizeof *F);
    }
}

/* --- the smallest multipliers ---------------------------------------------------------------------- */

/* Torques over the size of the mechanism, so that they compare with forces. Couplings are taken by their
 * unit. */
static double weight(const lw_independence *d, const lw_newton_euler *s, int row) {
    const lw_rows *rows = s->rows;
    if (row >= rows->tree_count) return 1 / (d->unit[row - rows->tree_count] * d->size);
    bool force = lw_v3_norm(rows->joints[rows->rows[row].joint].W + 6 * rows->rows[row].component + 3) > 0.5;
    return force ? 1 : 1 / d->size;
}

/* What the tree's rows must carry so that multipliers l of the others move nothing. */
static void carry(lw_independence *d, const lw_newton_euler *s, double *l) {
    const lw_model *model = s->model;
    const lw_rows *rows = s->rows;
    int row = rows->tree_count - 1;
    memset(d->F, 0, 6 * (size_t)model->body_count * sizeof *d->F);
    for (int r = rows->tree_count; r < rows->count; r++)
        for (int b = rows->rows[r].block; b < rows->rows[r].block + rows->rows[r].count; b++)
            lw_v6_axpy(l[r], rows->H + 6 * b, d->F + 6 * (rows->body[b] - 1));
    for (int i = model->body_count; i >= 1; i--) {
        int j = model->bodies[i].joint_index, parent = model->links[i].parent;
        double *F = d->F + 6 * (i - 1), at[6], arm[3], moment[3];
        double sign = model->joints[j].info.bodies[1] == i ? -1 : 1;
        lw_v3_sub(rows->bodies[i].r, rows->joints[j].at, arm);
        lw_v3_cross(arm, F + 3, moment);
        for (int k = 0; k < 3; k++) at[k] = F[k] + moment[k], at[3 + k] = F[3 + k];
        for (; row >= 0 && rows->rows[row].joint == j; row--)
            l[row] = sign * lw_v6_dot(d->S + 36 * (i - 1) + 6 * rows->rows[row].component, at);
        if (parent == 0) continue;
        double *to = d->F + 6 * (parent - 1);
        lw_v3_sub(rows->bodies[i].r, rows->bodies[parent].r, arm);
        lw_v3_cross(arm, F + 3, moment);
        for (int k = 0; k < 3; k++) to[k] += F[k] + moment[k], to[3 + k] += F[3 + k];
    }
    memset(d->F, 0, 6 * (size_t)model->body_count * sizeof *d->F);
}

/* l = P (-R11^-1 R12; 1), in the units of the rows, and what the tree then carries: one in a row that is not
 * kept, zero in all others that are not. */
static void find_null(lw_independence *d, const lw_newton_euler *s) {
    const lw_rows *rows = s->rows;
    size_t count = (size_t)rows->count, speeds = (size_t)d->speeds;
    for (int c = 0; c < d->rows - d->rank; c++) {
        double *l = d->null + (size_t)c * count, *x = d->c;
        for (int k = 0; k < d->rank; k++) x[k] = -d->G[(size_t)k + (size_t)(d->rank + c) * speeds];
        lw_qr_triangle(false, d->rank, speeds > 0 ? (int)speeds : 1, d->G, 1, x, d->rank > 0 ? d->rank : 1);
        memset(l, 0, count * sizeof *l);
        int own = d->order[d->rank + c];
        for (int k = 0; k < d->rank; k++)
            l[rows->tree_count + d->order[k]] = x[k] * d->unit[d->order[k]] / d->unit[own];
        l[rows->tree_count + own] = 1;
        carry(d, s, l);
    }
}

void lw_unload_multipliers(const lw_independence *d, const lw_newton_euler *s, double *lambda) {
    for (int c = 0; c < d->rows - d->rank; c++) {
        const double *l = d->null + (size_t)c * (size_t)s->rows->count;
        int own = s->rows->tree_count + d->order[d->rank + c];
        double load = lambda[own];
        for (int r = 0; r < s->rows->count; r++) lambda[r] -= load * l[r];
        lambda[own] = 0;
    }
}

void lw_least_multipliers(lw_independence *d, const lw_newton_euler *s, double *lambda) {
    int nulls = d->rows - d->rank, count = s->rows->count;
    if (nulls == 0) return;
    for (int r = 0; r < count; r++) {
        double factor = weight(d, s, r);
        lambda[r] *= factor;
        for (int c = 0; c < nulls; c++) d->null[(size_t)r + (size_t)c * (size_t)count] *= factor;
    }
    lw_dense_multiply(true, false, nulls, nulls, count, 1, d->null, d->null, 0, d->gram);
    lw_dense_times(true, count, nulls, 1, d->null, lambda, 0, d->c);
    if (lw_cholesky_factor(d->symmetric, nulls, d->gram, NULL)) {
        lw_cholesky_solve(d->symmetric, nulls, d->gram, 1, d->c);
        lw_dense_times(false, count, nulls, -1, d->null, d->c, 1, lambda);
    }
    for (int r = 0; r < count; r++) lambda[r] /= weight(d, s, r);
}

/* --- the decision --------------------------------------------------------------------------------- */

void lw_independence_at(lw_independence *d, const lw_newton_euler *s) {
    const lw_rows *rows = s->rows;
    size_t speeds = (size_t)d->speeds;
    d->rank = 0;
    if (d->rows == 0) return;
    d->size = lw_joint_extent(s);
    find_twists(d, s);
    for (int r = 0; r < d->rows; r++) {
        const lw_row *row = &rows->rows[rows->tree_count + r];
        d->unit[r] = lw_row_scale(s, row, d->size);
        row_in_speeds(d, s, row, d->unit[r], d->G + (size_t)r * speeds);
        d->kept[r] = false;
        d->order[r] = r;
    }
    /* rows and columns are of size one: if all pivots are small, all rows are redundant */
    int pivots = lw_qr_factor(d->work, d->speeds, d->rows, d->G, d->order, 0);
    double least = lw_rank_tolerance(s) * (pivots > 0 ? fmax(1, fabs(d->G[0])) : 1);
    while (d->rank < pivots && fabs(d->G[(size_t)d->rank * (speeds + 1)]) > least)
        d->kept[d->order[d->rank++]] = true;
    if (d->null) find_null(d, s);
}

static int number_speeds(const lw_model *model, int *number) {
    int count = 0;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++)
            number[model->links[i].v + k] = model->links[i].prescribed >> k & 1 ? -1 : count++;
    return count;
}

lw_independence *lw_independence_create(const lw_model *model, const lw_rows *rows, bool least) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_independence *d = LW_NEW(arena, lw_independence, 1);
    size_t m = (size_t)(rows->count - rows->tree_count), bodies = (size_t)model->body_count;
    int *number = LW_NEW(arena, int, model->nv + 1);
    if (lw_arena_failed(arena)) {
        lw_arena_destroy(arena);
        return NULL;
    }
    d->arena = arena;
    d->rows = (int)m;
    d->number = number;
    d->speeds = number_speeds(model, number);
    d->kept = LW_NEW(arena, bool, m + 1);
    d->order = LW_NEW(arena, int, m + 1);
    d->unit = LW_NEW(arena, double, m + 1);
    d->G = LW_NEW(arena, double, m *(size_t)d->speeds + 1);
    d->S = LW_NEW(arena, double, m > 0 ? 36 * bodies + 1 : 1);
    d->F = LW_NEW(arena, double, 6 * bodies + 1);
    d->work = lw_orthogonal_create(d->speeds, (int)m, false);
    if (least) {
        d->null = LW_NEW(arena, double, m *(size_t)rows->count + 1);
        d->gram = LW_NEW(arena, double, m *m + 1);
        d->c = LW_NEW(arena, double, m + 1);
        d->symmetric = lw_symmetric_create((int)m);
    }
    if (!lw_arena_failed(arena) && d->work && (!least || d->symmetric)) return d;
    lw_independence_destroy(d);
    return NULL;
}

void lw_independence_destroy(lw_independence *d) {
    if (!d) return;
    lw_orthogonal_destroy(d->work);
    lw_symmetric_destroy(d->symmetric);
    lw_arena_destroy(d->arena);
}

/* sparse_rank.c - the rank of the closures and constraints of a large mechanism, row by row.
 *
 *   g_r -= sum over earlier pivots p of (g_r)_c(p) u_p,   c(r) = the column of the largest entry left,   u_r
 *   = g_r / (g_r)_c(r)
 *
 * Gaussian elimination of the rows in the speeds of the tree, scaled by row_scaling.c. A row of which nothing
 * is left is redundant. Entries of u are at most 1, so that nothing grows by more than a factor of two in
 * each elimination, and in practice by none. Rows are sparse: a loop touches the joints along it, and an
 * elimination adds those of the loops that it shares joints with.
 *
 * Cost     O(rows x entries of the rows that meet); memory for the entries. Allocates; not for use within a
 *          time step.
 * Limits   less certain of a rank than the orthogonal factors of redundancy.c next to singular positions; for
 *          large mechanisms.
 */
#include "constraints/sparse_rank.h"
#include "constraints/characteristic_length.h"
#include "constraints/row_scaling.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row that has been kept: its pivot's column, and its entries in `column` and `value`. */
typedef struct pivot_row {
    int pivot;
    size_t first, count;
} pivot_row;

typedef struct eliminator {
    int columns;
    double *x;    /* the row at work, dense; */
    int *touched; /* its columns, */
    int touched_count;
    bool *marked; /* per column: it is among them */
    int *heap;    /* kept rows that are to be subtracted from it, the earliest on top */
    int heap_count;
    int *owner; /* per column: the kept row whose pivot it is, or -1 */
    pivot_row *rows;
    int kept;
    int *column;
    double *value;
    size_t used, room;
} eliminator;

static void push(eliminator *e, int row) {
    int k = e->heap_count++;
    for (; k > 0 && e->heap[(k - 1) / 2] > row; k = (k - 1) / 2) e->heap[k] = e->heap[(k - 1) / 2];
    e->heap[k] = row;
}

static int pop(eliminator *e) {
    int top = e->heap[0], last = e->heap[--e->heap_count], k = 0;
    for (;;) {
        int child = 2 * k + 1;
        if (child >= e->heap_count) break;
        if (child + 1 < e->heap_count && e->heap[child + 1] < e->heap[child]) child++;
        if (e->heap[child] >= last) break;
        e->heap[k] = e->heap[child];
        k = child;
    }
    e->heap[k] = last;
    return top;
}

static void touch(eliminator *e, int column) {
    if (e->marked[column]) return;
    e->marked[column] = true;
    e->touched[e->touched_count++] = column;
    if (e->owner[column] >= 0) push(e, e->owner[column]);
}

static void subtract(eliminator *e, int row) {
    const pivot_row *p = &e->rows[row];
    double factor = e->x[p->pivot];
    for (size_t k = p->first; k < p->first + p->count; k++) {
        touch(e, e->column[k]);
        e->x[e->column[k]] -= factor * e->value[k];
    }
    e->x[p->pivot] = 0;
}

static bool keep(eliminator *e, int pivot) {
    if (e->used + (size_t)e->touched_count > e->room) {
        size_t room = 2 * e->room + (size_t)e->touched_count;
        int *column = realloc(e->column, room * sizeof *column);
        if (column) e->column = column;
        double *value = realloc(e->value, room * sizeof *value);
        if (value) e->value = value;
        if (!column || !value) return false;
        e->room = room;
    }
    pivot_row *p = &e->rows[e->kept];
    *p = (pivot_row){pivot, e->used, 0};
    for (int k = 0; k < e->touched_count; k++) {
        int c = e->touched[k];
        if (e->x[c] == 0) continue;
        e->column[e->used] = c;
        e->value[e->used++] = e->x[c] / e->x[pivot];
    }
    p->count = e->used - p->first;
    e->owner[pivot] = e->kept++;
    return true;
}

/* Entries of a row at the joints between its bodies and ground, dimensionless. */
static void scatter(eliminator *e, const lw_newton_euler *s, const int *number, const lw_row *row,
                    double size) {
    const lw_rows *rows = s->rows;
    double scale = lw_row_scale(s, row, size);
    for (int b = row->block; b < row->block + row->count; b++) {
        int body = rows->body[b];
        const double *h = rows->H + 6 * b;
        for (int i = body; i > 0; i = s->model->links[i].parent) {
            const lw_link *link = &s->model->links[i];
            const lw_pose *world = &s->data->world[i];
            double arm[3], moment[3], w[3], l[3];
            lw_v3_sub(rows->bodies[body].r, world->p, arm);
            lw_v3_cross(arm, h + 3, moment);
            lw_v3_add(moment, h, moment);
            for (int k = 0; k < link->joint.nv; k++) {
                const double *S = s->data->S + 6 * (link->v + k);
                int column = number[link->v + k];
                if (column < 0) continue;
                double unit = lw_v3_dot(S, S) > 0.25 ? 1 : size;
                lw_m3_mul_v(world->R, S, w);
                lw_m3_mul_v(world->R, S + 3, l);
                touch(e, column);
                e->x[column] += scale * unit * (lw_v3_dot(w, moment) + lw_v3_dot(l, h + 3));
            }
        }
    }
}

static lw_status eliminate(eliminator *e, const lw_newton_euler *s, const int *number, bool *kept) {
    const lw_rows *rows = s->rows;
    double size = lw_joint_extent(s);
    for (int r = rows->tree_count; r < rows->count; r++) {
        int pivot = -1;
        e->touched_count = e->heap_count = 0;
        scatter(e, s, number, &rows->rows[r], size);
        while (e->heap_count) subtract(e, pop(e));
        for (int k = 0; k < e->touched_count; k++)
            if (pivot < 0 || fabs(e->x[e->touched[k]]) > fabs(e->x[pivot])) pivot = e->touched[k];
        bool independent = pivot >= 0 && fabs(e->x[pivot]) > LW_RANK_TOLERANCE;
        if (independent && !keep(e, pivot)) return LW_ERROR_MEMORY;
        if (kept) kept[r - rows->tree_count] = independent;
        for (int k = 0; k < e->touched_count; k++) {
            e->x[e->touched[k]] = 0;
            e->marked[e->touched[k]] = false;
        }
    }
    return LW_OK;
}

lw_status lw_sparse_rank(const lw_newton_euler *s, bool *kept, int *rank, int *speeds, lw_error *error) {
    const lw_model *model = s->model;
    lw_arena *arena = lw_arena_create(NULL);
    lw_status status = LW_ERROR_MEMORY;
    eliminator e = {0};
    if (arena) {
        size_t nv = (size_t)model->nv + 1, m = (size_t)(s->rows->count - s->rows->tree_count) + 1;
        int *number = LW_NEW(arena, int, nv);
        e.x = LW_NEW(arena, double, nv);
        e.touched = LW_NEW(arena, int, nv);
        e.marked = LW_NEW(arena, bool, nv);
        e.heap = LW_NEW(arena, int, nv);
        e.owner = LW_NEW(arena, int, nv);
        e.rows = LW_NEW(arena, pivot_row, m);
        if (number && !lw_arena_failed(arena)) {
            e.columns = 0;
            for (int i = 1; i <= model->body_count; i++)
                for (int k = 0; k < model->links[i].joint.nv; k++)
                    number[model->links[i].v + k] = model->links[i].prescribed >> k & 1 ? -1 : e.columns++;
            for (size_t k = 0; k < nv; k++) e.owner[k] = -1;
            status = eliminate(&e, s, number, kept);
        }
    }
    *rank = e.kept;
    *speeds = e.columns;
    free(e.column), free(e.value);
    if (arena) lw_arena_destroy(arena);
    return status == LW_OK ? LW_OK : lw_out_of_memory(error);
}

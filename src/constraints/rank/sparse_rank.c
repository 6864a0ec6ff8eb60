/* sparse_rank.c - the rank of the closures and constraints of a large mechanism, row by row, and multipliers
 * that cause no motion.
 *
 *   g_r = sum over earlier pivots p of f_rp u_p + d_r u_r,   d_r = the largest entry left, in column c(r) (1)
 *   sum over r of l_r g_r = 0:   d_p l_p = - sum over later r of f_rp l_r,   l_r arbitrary if d_r = 0     (2)
 *
 * Gaussian elimination of the rows in the speeds of the tree, scaled by row_scaling.c. A row of which nothing
 * but rounding is left is redundant. Entries of u are at most 1, so that nothing grows by more than a factor
 * of two in each elimination, and in practice by none. Rows are sparse: a loop touches the joints along it,
 * and an elimination adds those of the loops that it shares joints with. Going back through the factors f
 * gives the multipliers of (2).
 *
 * Cost     O(rows x entries of the rows that meet). Memory is taken at creation: four times the entries of
 *          the state there, or ROOM if that is more, but never more than the full matrices have.
 * Limits   less certain of a rank than the orthogonal factors of redundancy.c next to singular positions; for
 *          large mechanisms. A state with still more entries than there is room for takes more memory.
 */
#include "constraints/rank/sparse_rank.h"
#include "constraints/characteristic_length.h"
#include "constraints/row_scaling.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entries for which there is room in any case; what is never used of it costs address space only. */
enum { ROOM = 1 << 20 };

/* Numbers with indices, in rows that follow each other. */
typedef struct entries {
    int *index;
    double *value;
    size_t used, room;
} entries;

/* A row that has been kept, u_p: the column of its pivot, and its part of the entries u. */
typedef struct pivot_row {
    int pivot;
    size_t first, count;
} pivot_row;

typedef struct lw_sparse_rank eliminator;
struct lw_sparse_rank {
    lw_arena *arena;
    int columns;
    int *number;  /* per speed of the tree: its column, or -1 */
    double *x;    /* the present row, dense */
    int *touched; /* the columns in which the present row has entries */
    int touched_count;
    bool *marked; /* per column: it is in the list `touched` */
    int *heap;    /* kept rows that are to be subtracted from the present one, the earliest on top */
    int heap_count;
    int *owner; /* per column: the kept row whose pivot it is, or -1 */
    pivot_row *rows;
    int kept;
    entries u; /* the kept rows: columns and values */
    /* Only if multipliers are asked for. */
    bool recording;
    entries f;         /* for all rows: kept rows and factors */
    size_t *first;     /* per row: where its factors begin in f */
    int *as;           /* per row: its number among the kept rows, or -1 */
    double *d, *scale; /* per row: what was left at its pivot; the factor that makes it dimensionless */
    double *sum;       /* per row: workspace */
};

static bool reserve(entries *e, size_t room) {
    if (room <= e->room) return true;
    int *indices = realloc(e->index, room * sizeof *indices);
    if (indices) e->index = indices;
    double *values = realloc(e->value, room * sizeof *values);
    if (values) e->value = values;
    if (indices && values) e->room = room;
    return indices && values;
}

static bool add(entries *e, int index, double value) {
    if (e->used == e->room && !reserve(e, 2 * e->room + 64)) return false;
    e->index[e->used] = index;
    e->value[e->used++] = value;
    return true;
}

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

static bool subtract(eliminator *e, int row) {
    const pivot_row *p = &e->rows[row];
    double factor = e->x[p->pivot];
    for (size_t k = p->first; k < p->first + p->count; k++) {
        touch(e, e->u.index[k]);
        e->x[e->u.index[k]] -= factor * e->u.value[k];
    }
    e->x[p->pivot] = 0;
    return !e->recording || factor == 0 || add(&e->f, row, factor);
}

static bool keep(eliminator *e, int pivot) {
    pivot_row *p = &e->rows[e->kept];
    *p = (pivot_row){pivot, e->u.used, 0};
    for (int k = 0; k < e->touched_count; k++) {
        int c = e->touched[k];
        if (e->x[c] != 0 && !add(&e->u, c, e->x[c] / e->x[pivot])) return false;
    }
    p->count = e->u.used - p->first;
    e->owner[pivot] = e->kept++;
    return true;
}

/* Entries of a row at the joints between its bodies and ground, dimensionless. */
static void scatter(eliminator *e, const lw_newton_euler *s, const lw_row *row, double scale, double size) {
    const lw_rows *rows = s->rows;
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
                int column = e->number[link->v + k];
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

static lw_status eliminate(eliminator *e, const lw_newton_euler *s, bool *kept) {
    const lw_rows *rows = s->rows;
    double size = lw_joint_extent(s);
    for (int c = 0; c < e->columns; c++) e->owner[c] = -1;
    e->kept = 0;
    e->u.used = e->f.used = 0;
    for (int r = rows->tree_count; r < rows->count; r++) {
        int pivot = -1, own = r - rows->tree_count;
        double scale = lw_row_scale(s, &rows->rows[r], size);
        e->touched_count = e->heap_count = 0;
        if (e->recording) e->first[own] = e->f.used, e->scale[own] = scale;
        scatter(e, s, &rows->rows[r], scale, size);
        bool fine = true;
        while (e->heap_count) fine &= subtract(e, pop(e));
        for (int k = 0; k < e->touched_count; k++)
            if (pivot < 0 || fabs(e->x[e->touched[k]]) > fabs(e->x[pivot])) pivot = e->touched[k];
        bool independent = pivot >= 0 && fabs(e->x[pivot]) > LW_RANK_TOLERANCE;
        if (e->recording) e->as[own] = independent ? e->kept : -1, e->d[own] = independent ? e->x[pivot] : 0;
        if (independent) fine &= keep(e, pivot);
        if (kept) kept[own] = independent;
        for (int k = 0; k < e->touched_count; k++) { /* also where memory is out: the next state needs it */
            e->x[e->touched[k]] = 0;
            e->marked[e->touched[k]] = false;
        }
        if (!fine) return LW_ERROR_MEMORY;
    }
    if (e->recording) e->first[rows->count - rows->tree_count] = e->f.used;
    return LW_OK;
}

static eliminator *create(const lw_newton_euler *s, bool recording) {
    const lw_model *model = s->model;
    size_t nv = (size_t)model->nv + 1, m = (size_t)(s->rows->count - s->rows->tree_count) + 1;
    lw_arena *arena = lw_arena_create(NULL);
    eliminator *e = LW_NEW(arena, eliminator, 1);
    if (e) {
        e->arena = arena;
        e->recording = recording;
        e->number = LW_NEW(arena, int, nv);
        e->x = LW_NEW(arena, double, nv);
        e->touched = LW_NEW(arena, int, nv);
        e->marked = LW_NEW(arena, bool, nv);
        e->heap = LW_NEW(arena, int, nv);
        e->owner = LW_NEW(arena, int, nv);
        e->rows = LW_NEW(arena, pivot_row, m);
        e->first = LW_NEW(arena, size_t, recording ? m : 1);
        e->as = LW_NEW(arena, int, recording ? m : 1);
        e->d = LW_NEW(arena, double, recording ? m : 1);
        e->scale = LW_NEW(arena, double, recording ? m : 1);
        e->sum = LW_NEW(arena, double, recording ? m : 1);
    }
    if (lw_arena_failed(arena)) {
        lw_arena_destroy(arena);
        return NULL;
    }
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++)
            e->number[model->links[i].v + k] = model->links[i].prescribed >> k & 1 ? -1 : e->columns++;
    return e;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

lw_sparse_rank *lw_sparse_rank_create(const lw_newton_euler *s) {
    eliminator *e = create(s, true);
    size_t m = (size_t)(s->rows->count - s->rows->tree_count);
    bool fine = e && eliminate(e, s, NULL) == LW_OK &&
                reserve(&e->u, smaller(m * (size_t)e->columns, larger(4 * e->u.used, ROOM))) &&
                reserve(&e->f, smaller(m * m / 2 + m, larger(4 * e->f.used, ROOM)));
    if (fine) return e;
    lw_sparse_rank_destroy(e);
    return NULL;
}

void lw_sparse_rank_destroy(lw_sparse_rank *e) {
    if (!e) return;
    free(e->u.index), free(e->u.value);
    free(e->f.index), free(e->f.value);
    lw_arena_destroy(e->arena);
}

lw_status lw_sparse_rank_at(const lw_newton_euler *s, bool *kept, int *rank, int *speeds, lw_error *error) {
    eliminator *e = create(s, false);
    lw_status status = e ? eliminate(e, s, kept) : LW_ERROR_MEMORY;
    *rank = e ? e->kept : 0;
    *speeds = e ? e->columns : 0;
    lw_sparse_rank_destroy(e);
    return status == LW_OK ? LW_OK : lw_out_of_memory(error);
}

/* --- multipliers that cause no motion ---------------------------------------------------------------- */

/* In [-1, 1], the same for the same seed (xorshift). */
static double chance(unsigned *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 17, *seed ^= *seed << 5;
    return (double)*seed / 2147483648.0 - 1;
}

/* (2), from the last row to the first. */
static void back(const eliminator *e, int rows, unsigned seed, double *l) {
    double *sum = e->sum;
    memset(sum, 0, (size_t)e->kept * sizeof *sum);
    for (int r = rows - 1; r >= 0; r--) {
        double x = e->as[r] >= 0 ? -sum[e->as[r]] / e->d[r] : chance(&seed);
        for (size_t k = e->first[r]; k < e->first[r + 1]; k++) sum[e->f.index[k]] += e->f.value[k] * x;
        l[r] = e->scale[r] * x;
    }
}

lw_status lw_sparse_null_vectors(lw_sparse_rank *e, const lw_newton_euler *s, int count, double *null,
                                 lw_error *error) {
    int rows = s->rows->count - s->rows->tree_count;
    if (eliminate(e, s, NULL) != LW_OK) return lw_out_of_memory(error);
    for (int c = 0; c < count; c++) back(e, rows, 7919u * (unsigned)(c + 1), null + (size_t)c * (size_t)rows);
    return LW_OK;
}

/* kkt_fronts.c - L D L' of the sparse stationary-point matrix by dense fronts, one for each body.
 *
 *   K = [  J   -H ]     J block-diagonal, any of it may be zero;  E > 0 small
 *       [ -H'  -E ]
 *
 * Fronts come in the order of kkt_order.c. The front of a body holds its six coordinates, the rows that act
 * on no body eliminated before, the coordinates that the fronts below could not eliminate, and, as its
 * border, the bodies with which it is coupled. Its pivots of order 1 and 2 are chosen by size:
 *
 *   d with |d| >= u |largest other entry of its column|,  or  D, 2 x 2, with |D^-1| (largest others of its
 *   two columns) <= 1/u.
 *
 * A body that is heavy compared with the entries of its rows is thus eliminated by its own mass, a light or
 * massless one together with rows that determine its motion, and a coordinate that admits neither waits for
 * the next front. No entry grows by more than 1/u from pivot to pivot, whatever the masses are, and no pivot
 * depends on any other matrix.
 *
 * Where more rows wait than the border has coordinates, as on a bar that many others cross, some combinations
 * of them are zero in the border. Rows are sheared, row_i -= m_i row_w with |m_i| <= 1, one row w for each
 * coordinate of the border, until the others are zero there; these can then be eliminated in the front, and
 * at most as many rows wait as the border has coordinates. Left-overs of two fronts with the same parent that
 * would give it more rows than the border has coordinates are joined and sheared first. The cost of redundant
 * nets thus depends on their bodies, not on their rows.
 *
 * Source   Duff and Reid (1983), the multifrontal method for symmetric indefinite matrices;
 *          docs/theory/lagrange.md, 4.
 * Cost     sum over fronts of (pivots) (size)^2 / 2 multiplications, (waiting rows) (border)^2 / 2 for
 *          shears; bounded fronts on chains, trees, ladders, hubs: O(n).
 * Limits   the memory is four times that of the first matrix; it grows only in a state in which many more
 *          coordinates have to wait.
 */
#include "constraints/kkt/kkt_fronts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The threshold u: a light body is eliminated by its own mass down to this part of the entries of its rows.
 * Large values lose few digits but make many coordinates wait. */
static const double threshold = 1e-3;
/* Pivots below this part of the terms of which they are sums are rounding. */
static const double rounding = 4e-15;
/* Rows have length 1. An entry of a row below this is rounding, and so is the pivot off^2 / E that such an
 * entry gives, through the softness E of the row, to a coordinate without inertia. */
static const double off = 1e-14;
/* Fewer waiting rows are not sheared: shears pay only where they remove many. */
enum { FEW_ROWS = 24 };

typedef struct front {
    int size, pivots; /* The number of all coordinates, and of those eliminated here, which come first. */
    /* Index in panels: `pivots` columns of `size` numbers, L below, inverse of D on the diagonal. */
    size_t panel;
    /* Index in indices: the coordinates, pivots in their order; a 2 x 2 pivot has its first as -1 - index. */
    size_t index;
    /* Pivots before shears; rows before .. top - 1 are sheared by the last `shears` of them. */
    int before, top, shears;
    /* Index in shears: columns of (top - before) numbers, the first for row top - 1, the next for row top -
     * 2, and so on. */
    size_t shear;
} front;

/* The part of a front that is passed to the front at position `parent`: `waiting` coordinates, `rows` of them
 * rows, then six for each body of its border. */
typedef struct left_over {
    int parent, size, waiting, rows;
    size_t matrix, index;
} left_over;

struct lw_fronts {
    lw_arena *arena; /* Memory of fixed size. */
    int bodies, rows;
    const int *row_start, *row_body;
    lw_kkt_order order;
    int *own_start, *own; /* Per position: rows that act on no body eliminated before. */
    int *offset;          /* Per position: the index of a body's six coordinates in the present front. */
    front *fronts;        /* The fronts of the bodies, and those that join left-overs between them. */
    int count;
    bool reserved; /* There is memory for more than the first matrix. */
    /* The numbers of L, and those of left-overs. */
    double *panels, *stack;
    int *indices, *stack_index;
    double *stack_seen;
    /* All multipliers m; and per coordinate of a front: the largest terms of its row in the border. */
    double *shears, *reach;
    size_t panel_room, index_room, stack_room, stack_index_room, shear_room, shear_count;
    left_over *leaves;    /* Left-overs of fronts whose parent has not been reached yet. */
    const front *sheared; /* The present front, once it is sheared. */
    double *F, *seen, *l1, *l2;
    int *index, *target;
    int room; /* The number of coordinates for which F, seen and the like have memory. */
    double *local;
    double entries, operations;
};

/* --- memory ---------------------------------------------------------------------------------------- */

static bool reserve_doubles(double **array, size_t *room, size_t needed) {
    if (needed <= *room) return true;
    size_t larger = needed + needed / 2 + 64;
    double *moved = realloc(*array, larger * sizeof *moved);
    if (!moved) return false;
    *array = moved, *room = larger;
    return true;
}

static bool reserve_integers(int **array, size_t *room, size_t needed) {
    if (needed <= *room) return true;
    size_t larger = needed + needed / 2 + 64;
    int *moved = realloc(*array, larger * sizeof *moved);
    if (!moved) return false;
    *array = moved, *room = larger;
    return true;
}

static bool reserve_front(lw_fronts *f, int size) {
    if (size <= f->room) return true;
    size_t larger = (size_t)size + (size_t)size / 2 + 12;
    free(f->F), free(f->seen), free(f->l1), free(f->l2), free(f->local), free(f->index), free(f->target);
    free(f->reach);
    f->F = malloc(larger * larger * sizeof *f->F);
    f->seen = malloc(larger * sizeof *f->seen);
    f->l1 = malloc(larger * sizeof *f->l1);
    f->l2 = malloc(larger * sizeof *f->l2);
    f->local = malloc(larger * sizeof *f->local);
    f->reach = malloc(larger * sizeof *f->reach);
    f->index = malloc(larger * sizeof *f->index);
    f->target = malloc(larger * sizeof *f->target);
    bool fine = f->F && f->seen && f->l1 && f->l2 && f->local && f->index && f->target && f->reach;
    f->room = fine ? (int)larger : 0;
    return fine;
}

static bool reserve_stack(lw_fronts *f, size_t numbers, size_t indices) {
    if (!reserve_doubles(&f->stack, &f->stack_room, numbers)) return false;
    if (indices <= f->stack_index_room) return true;
    size_t larger = indices + indices / 2 + 64;
    int *index = realloc(f->stack_index, larger * sizeof *index);
    if (index) f->stack_index = index;
    double *seen = realloc(f->stack_seen, larger * sizeof *seen);
    if (seen) f->stack_seen = seen;
    if (index && seen) f->stack_index_room = larger;
    return index && seen;
}

/* Assigns each row to the front of the first of its bodies. */
static bool assign_rows(lw_fronts *f) {
    size_t m = (size_t)f->rows + 1, n = (size_t)f->bodies + 2;
    int *first = LW_NEW(f->arena, int, m);
    f->own_start = LW_NEW(f->arena, int, n);
    f->own = LW_NEW(f->arena, int, m);
    if (lw_arena_failed(f->arena)) return false;
    for (int r = 0; r < f->rows; r++) {
        int earliest = f->bodies - 1; /* A row without bodies goes to the last front. */
        for (int b = f->row_start[r]; b < f->row_start[r + 1]; b++)
            if (f->order.position[f->row_body[b]] < earliest) earliest = f->order.position[f->row_body[b]];
        first[r] = earliest;
        f->own_start[earliest + 2]++;
    }
    for (int k = 2; k <= f->bodies; k++) f->own_start[k] += f->own_start[k - 1];
    for (int r = 0; r < f->rows; r++) f->own[f->own_start[first[r] + 1]++] = r;
    return true;
}

lw_fronts *lw_fronts_create(int bodies, int rows, const int *start, const int *body) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_fronts *f = LW_NEW(arena, lw_fronts, 1);
    if (!f) {
        lw_arena_destroy(arena);
        return NULL;
    }
    size_t n = (size_t)bodies + 1;
    f->arena = arena;
    f->bodies = bodies, f->rows = bodies > 0 ? rows : 0;
    f->row_start = start, f->row_body = body;
    f->fronts = LW_NEW(arena, front, 2 * n);
    f->leaves = LW_NEW(arena, left_over, n);
    f->offset = LW_NEW(arena, int, n);
    if (lw_kkt_order_make(&f->order, bodies, rows, start, body, arena) && assign_rows(f) &&
        reserve_front(f, 24))
        return f;
    lw_fronts_destroy(f);
    return NULL;
}

void lw_fronts_destroy(lw_fronts *f) {
    if (!f) return;
    free(f->panels), free(f->stack), free(f->indices), free(f->stack_index), free(f->stack_seen);
    free(f->F), free(f->seen), free(f->l1), free(f->l2), free(f->index), free(f->target), free(f->local);
    free(f->shears), free(f->reach);
    lw_arena_destroy(f->arena);
}

const lw_kkt_order *lw_fronts_order(const lw_fronts *f) { return &f->order; }

/* --- one front: assembly --------------------------------------------------------------------------- */

/* Lists the coordinates of front k: six of its body, its rows, those that wait from the fronts `below`, then
 * six of each neighbour. Returns how many may be eliminated in this front, or -1 if there is no memory; *size
 * is the number of all. */
static int gather(lw_fronts *f, int k, const left_over *below, int count, int *size) {
    const lw_kkt_order *order = &f->order;
    int summed = 6 + f->own_start[k + 1] - f->own_start[k], at = 0;
    for (int c = 0; c < count; c++) summed += below[c].waiting;
    *size = summed + 6 * (order->start[k + 1] - order->start[k]);
    if (!reserve_front(f, *size)) return -1;
    f->offset[k] = 0;
    for (int i = 0; i < 6; i++) f->index[at++] = 6 * order->body[k] + i;
    for (int r = f->own_start[k]; r < f->own_start[k + 1]; r++) f->index[at++] = 6 * f->bodies + f->own[r];
    for (int c = 0; c < count; c++)
        for (int i = 0; i < below[c].waiting; i++)
            f->index[at++] = f->stack_index[below[c].index + (size_t)i];
    for (int i = order->start[k]; i < order->start[k + 1]; i++) {
        f->offset[order->neighbour[i]] = at;
        for (int l = 0; l < 6; l++) f->index[at++] = 6 * order->body[order->neighbour[i]] + l;
    }
    return summed;
}

/* Fills the lower triangle, column by column, with the entries of the body and its rows. */
static void assemble_own(lw_fronts *f, int k, int size, const double *inertia, const double *mass,
                         const double *H, const double *E) {
    const double least = off * off / (rounding * LW_FRONTS_HARDEST);
    static const int lower[6][3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {1, 0, 3}, {2, 0, 4}, {2, 1, 5}};
    double *F = f->F;
    size_t stride = (size_t)size;
    int body = f->order.body[k];
    if (stride) memset(F, 0, stride * stride * sizeof *F);
    if (stride) memset(f->seen, 0, stride * sizeof *f->seen);
    for (int e = 0; e < 6; e++)
        F[(size_t)lower[e][0] + stride * (size_t)lower[e][1]] = inertia[6 * body + lower[e][2]];
    for (int i = 0; i < 3; i++) {
        F[(size_t)(3 + i) * (stride + 1)] = mass[body];
        f->seen[i] = inertia[6 * body + i] > 0 ? inertia[6 * body + i] : least;
        f->seen[3 + i] = mass[body] > 0 ? mass[body] : least;
    }
    for (int r = f->own_start[k]; r < f->own_start[k + 1]; r++) {
        int row = f->own[r];
        size_t column = (size_t)(6 + r - f->own_start[k]);
        F[column * (stride + 1)] = -E[row];
        f->seen[column] = E[row];
        for (int b = f->row_start[row]; b < f->row_start[row + 1]; b++) {
            int at = f->offset[f->order.position[f->row_body[b]]];
            for (int i = 0; i < 6; i++)
                if (at == 0)
                    F[column + stride * (size_t)i] = -H[6 * b + i];
                else
                    F[(size_t)(at + i) + stride * column] = -H[6 * b + i];
        }
    }
}

/* Adds the left-over of a front below, whose waiting coordinates have the indices from `first` on. */
static void assemble_below(lw_fronts *f, const left_over *below, int first, int size) {
    int *target = f->target;
    const int *index = f->stack_index + below->index;
    size_t stride = (size_t)size;
    for (int i = 0; i < below->waiting; i++) target[i] = first + i;
    for (int i = below->waiting; i < below->size; i++)
        target[i] = f->offset[f->order.position[index[i] / 6]] + index[i] % 6;
    const double *from = f->stack + below->matrix;
    for (int c = 0; c < below->size; c++, from += below->size) {
        int column = target[c];
        for (int i = c; i < below->size; i++) {
            int row = target[i];
            f->F[row >= column ? (size_t)row + stride * (size_t)column
                               : (size_t)column + stride * (size_t)row] += from[i];
        }
        double seen = f->stack_seen[below->index + (size_t)c];
        if (seen > f->seen[column]) f->seen[column] = seen;
    }
}

/* --- one front: elimination ------------------------------------------------------------------------ */

static void swap_numbers(double *a, double *b) {
    double keep = *a;
    *a = *b, *b = keep;
}

/* Exchanges coordinates i < j of the front, also in the columns of L and in the shears. */
static void exchange(lw_fronts *f, int size, int i, int j) {
    if (i == j) return;
    double *F = f->F;
    size_t stride = (size_t)size, a = (size_t)i, b = (size_t)j;
    for (size_t c = 0; c < a; c++) swap_numbers(F + a + stride * c, F + b + stride * c);
    for (size_t r = a + 1; r < b; r++) swap_numbers(F + r + stride * a, F + b + stride * r);
    for (size_t r = b + 1; r < stride; r++) swap_numbers(F + r + stride * a, F + r + stride * b);
    swap_numbers(F + a * (stride + 1), F + b * (stride + 1));
    swap_numbers(f->seen + a, f->seen + b);
    int keep = f->index[i];
    f->index[i] = f->index[j], f->index[j] = keep;
    for (int t = 0; f->sheared && t < f->sheared->shears; t++) {
        double *m = f->shears + f->sheared->shear +
                    (size_t)t * (size_t)(f->sheared->top - f->sheared->before) - f->sheared->before;
        swap_numbers(m + i, m + j);
    }
}

/* The largest entry of column c off the diagonal from coordinate k on, except `skip`. *partner is the
 * coordinate of the largest entry below `summed`, or -1 if all of these are zero. */
static double largest_of(const double *F, int size, int k, int summed, int c, int skip, int *partner) {
    size_t stride = (size_t)size;
    double inside = 0, outside = 0;
    *partner = -1;
    for (int r = k; r < summed; r++) {
        if (r == c || r == skip) continue;
        double entry = fabs(r < c ? F[(size_t)c + stride * (size_t)r] : F[(size_t)r + stride * (size_t)c]);
        if (entry > inside) inside = entry, *partner = r;
    }
    const double *column = F + stride * (size_t)c;
    for (int r = summed; r < size; r++) outside = fabs(column[r]) > outside ? fabs(column[r]) : outside;
    return inside > outside ? inside : outside;
}

/* column[i] -= w l[i] for i = from .. to - 1. This is the innermost loop; `restrict` lets it be
 * vectorised. */
static inline void subtract(double *restrict column, const double *restrict l, double w, int from, int to) {
    for (int i = from; i < to; i++) column[i] -= w * l[i];
}

static inline void subtract_two(double *restrict column, const double *restrict l1, const double *restrict l2,
                                double w1, double w2, int from, int to) {
    for (int i = from; i < to; i++) column[i] -= w1 * l1[i] + w2 * l2[i];
}

/* Eliminates a pivot of order 1 at index k. */
static void eliminate_one(lw_fronts *f, int size, int k) {
    size_t stride = (size_t)size;
    double *column = f->F + stride * (size_t)k, inverse = 1 / column[k], *l = f->l1, *seen = f->seen;
    for (int i = k + 1; i < size; i++) l[i] = column[i] * inverse;
    for (int c = k + 1; c < size; c++) {
        double w = column[c];
        if (w == 0) continue;
        double own = fabs(w * l[c]);
        if (own > seen[c]) seen[c] = own;
        subtract(f->F + stride * (size_t)c, l, w, c, size);
    }
    memcpy(column + k + 1, l + k + 1, (size_t)(size - k - 1) * sizeof *l);
    column[k] = inverse;
}

/* Eliminates a pivot of order 2 at indices k and k + 1. */
static void eliminate_two(lw_fronts *f, int size, int k) {
    size_t stride = (size_t)size;
    double *one = f->F + stride * (size_t)k, *two = one + stride, *l1 = f->l1, *l2 = f->l2;
    double a = one[k], b = one[k + 1], c = two[k + 1], det = a * c - b * b;
    double ia = c / det, ib = -b / det, ic = a / det;
    for (int i = k + 2; i < size; i++) {
        l1[i] = ia * one[i] + ib * two[i];
        l2[i] = ib * one[i] + ic * two[i];
    }
    for (int j = k + 2; j < size; j++) {
        double w1 = one[j], w2 = two[j];
        if (w1 == 0 && w2 == 0) continue;
        double own = fabs(w1 * l1[j]) + fabs(w2 * l2[j]);
        if (own > f->seen[j]) f->seen[j] = own;
        subtract_two(f->F + stride * (size_t)j, l1, l2, w1, w2, j, size);
    }
    memcpy(one + k + 2, l1 + k + 2, (size_t)(size - k - 2) * sizeof *l1);
    memcpy(two + k + 2, l2 + k + 2, (size_t)(size - k - 2) * sizeof *l2);
    one[k] = ia, one[k + 1] = ib, two[k + 1] = ic;
}

/* Tries coordinate c as the next pivot, alone or with a partner; returns the number of eliminated
 * coordinates. */
static int try_pivot(lw_fronts *f, int size, int k, int summed, int c) {
    double *F = f->F;
    size_t stride = (size_t)size;
    int t, ignored;
    double largest = largest_of(F, size, k, summed, c, -1, &t), *d = F + (size_t)c * (stride + 1);
    double nothing = rounding * f->seen[c];
    bool row = f->index[c] >= 6 * f->bodies;
    if (row && !(fabs(*d) > nothing) && !(largest > nothing))
        *d = -nothing; /* The row depends on others; the corrections in kkt_sparse.c admit any softness. */
    if (fabs(*d) >= threshold * largest && (row ? *d != 0 : fabs(*d) > nothing)) {
        exchange(f, size, k, c);
        eliminate_one(f, size, k);
        return 1;
    }
    if (t < 0) return 0;
    double apart = F[t < c ? (size_t)c + stride * (size_t)t : (size_t)t + stride * (size_t)c];
    double e = F[(size_t)t * (stride + 1)], det = *d * e - apart * apart;
    double size_c = largest_of(F, size, k, summed, c, t, &ignored);
    double size_t_ = largest_of(F, size, k, summed, t, c, &ignored);
    double room = fabs(det) / threshold;
    if (row != (f->index[t] >= 6 * f->bodies) && nothing < off) nothing = off;
    if (!(fabs(det) > 0.01 * apart * apart) || fabs(e) * size_c + fabs(apart) * size_t_ > room ||
        fabs(*d) * size_t_ + fabs(apart) * size_c > room || !(fabs(apart) > nothing))
        return 0;
    exchange(f, size, k, c);
    exchange(f, size, k + 1, t == k ? c : t);
    f->index[k] = -1 - f->index[k];
    eliminate_two(f, size, k);
    return 2;
}

/* Eliminates coordinates below `summed` from index k on; returns the index of the first that remains. */
static int eliminate_from(lw_fronts *f, int size, int k, int summed) {
    while (k < summed) {
        int done = 0;
        for (int c = k; c < summed && !done; c++) done = try_pivot(f, size, k, summed, c);
        if (!done) break;
        k += done;
    }
    return k;
}

/* --- one front: shears ------------------------------------------------------------------------------ */

/* The entry of coordinates i and j. */
static double *entry_of(lw_fronts *f, int size, int i, int j) {
    return f->F + (i > j ? (size_t)i + (size_t)size * (size_t)j : (size_t)j + (size_t)size * (size_t)i);
}

/* Finds the largest entry in the border (from `summed` on) of rows from .. to - 1, and clears rows that are
 * only rounding there. Returns the row of this entry, or -1 if all rows are zero in the border. */
static int strongest_row(lw_fronts *f, int size, int from, int to, int summed, int *border) {
    double best = 0;
    int strongest = -1;
    for (int i = from; i < to; i++) {
        double *column = f->F + (size_t)size * (size_t)i, largest = 0;
        int at = -1;
        for (int b = summed; b < size; b++)
            if (fabs(column[b]) > largest) largest = fabs(column[b]), at = b;
        if (at < 0) continue;
        if (!(largest > rounding * f->reach[i]))
            memset(column + summed, 0, (size_t)(size - summed) * sizeof *column);
        else if (largest > best)
            best = largest, strongest = i, *border = at;
    }
    return strongest;
}

/* row_i -= m row_w and the same for columns, for all coordinates that are not eliminated, from `before`
 * on. */
static void shear_row(lw_fronts *f, int size, int before, int summed, int i, int w, double m) {
    double *own = f->F + (size_t)size * (size_t)i, *other = f->F + (size_t)size * (size_t)w;
    double across = *entry_of(f, size, i, w), square = *entry_of(f, size, w, w);
    double change = fmax(2 * fabs(m * across), m * m * fabs(square));
    for (int c = before; c < summed; c++)
        if (c != i) *entry_of(f, size, i, c) -= m * *entry_of(f, size, w, c);
    *entry_of(f, size, i, i) += m * (m * square - 2 * across);
    for (int b = summed; b < size; b++) {
        double term = fabs(m * other[b]);
        if (term > f->reach[i]) f->reach[i] = term;
        own[b] -= m * other[b];
    }
    f->seen[i] = fmax(f->seen[i], fmax(change, m * m * f->seen[w]));
}

/* Combines the waiting rows among the coordinates before .. summed - 1, until at most as many as the border
 * has coordinates are not zero in the border. Returns the end of the rows that may be eliminated now, or -1
 * if there is no memory. */
static int shear(lw_fronts *f, front *own, int before, int summed) {
    int size = own->size, top = summed, rows = 0;
    own->before = before, own->top = before, own->shears = 0, own->shear = f->shear_count;
    for (int i = before; i < summed; i++) rows += f->index[i] >= 6 * f->bodies;
    if (summed == size || rows < FEW_ROWS || rows <= size - summed) return before;
    for (int i = summed - 1; i >= before; i--)
        if (f->index[i] < 6 * f->bodies) exchange(f, size, i, --top);
    int room = top - before, border = 0;
    own->top = top, f->sheared = own;
    for (int i = before; i < top; i++) f->reach[i] = 0;
    for (int i = before; i < top; i++)
        for (int b = summed; b < size; b++)
            f->reach[i] = fmax(f->reach[i], fabs(f->F[(size_t)b + (size_t)size * (size_t)i]));
    for (int w; (w = strongest_row(f, size, before, top - own->shears, summed, &border)) >= 0;
         own->shears++) {
        int last = top - own->shears - 1;
        size_t at = own->shear + (size_t)own->shears * (size_t)room;
        if (!reserve_doubles(&f->shears, &f->shear_room, at + (size_t)room)) return -1;
        exchange(f, size, w, last);
        swap_numbers(f->reach + w, f->reach + last);
        double *m = f->shears + at, pivot = *entry_of(f, size, border, last);
        memset(m, 0, (size_t)room * sizeof *m);
        for (int i = before; i < last; i++) {
            double *value = entry_of(f, size, border, i);
            if (*value == 0) continue;
            m[i - before] = *value / pivot;
            shear_row(f, size, before, summed, i, last, m[i - before]);
            *value = 0;
        }
    }
    f->shear_count = own->shear + (size_t)own->shears * (size_t)room;
    f->operations += 0.5 * (double)room * (double)own->shears * (double)(size - before);
    return top - own->shears;
}

/* --- factor ---------------------------------------------------------------------------------------- */

static bool keep_panel(lw_fronts *f, front *own, size_t panel, size_t index) {
    size_t numbers = (size_t)own->size * (size_t)own->pivots;
    own->panel = panel, own->index = index;
    if (!reserve_doubles(&f->panels, &f->panel_room, panel + numbers) ||
        !reserve_integers(&f->indices, &f->index_room, index + (size_t)own->size))
        return false;
    if (numbers) memcpy(f->panels + panel, f->F, numbers * sizeof *f->F);
    if (own->size) memcpy(f->indices + index, f->index, (size_t)own->size * sizeof *f->index);
    f->entries += (double)numbers;
    for (int p = 0; p < own->pivots; p++)
        f->operations += 0.5 * (double)(own->size - p) * (double)(own->size - p);
    return true;
}

static bool keep_rest(lw_fronts *f, const front *own, int summed, left_over *rest) {
    size_t left = (size_t)(own->size - own->pivots), stride = (size_t)own->size;
    if (!reserve_stack(f, rest->matrix + left * left, rest->index + left)) return false;
    rest->size = (int)left, rest->waiting = summed - own->pivots, rest->rows = 0;
    for (int i = own->pivots; i < summed; i++) rest->rows += f->index[i] >= 6 * f->bodies;
    double *to = f->stack + rest->matrix;
    const double *from = f->F + (size_t)own->pivots * (stride + 1);
    for (size_t c = 0; c < left; c++, to += left, from += stride + 1)
        memcpy(to + c, from, (left - c) * sizeof *to);
    if (left) memcpy(f->stack_index + rest->index, f->index + own->pivots, left * sizeof *f->index);
    if (left) memcpy(f->stack_seen + rest->index, f->seen + own->pivots, left * sizeof *f->seen);
    return true;
}

/* Eliminates as much as possible of the assembled front, and stores it; *panel and *index are advanced behind
 * it. */
static front *finish(lw_fronts *f, int size, int summed, size_t *panel, size_t *index) {
    front *own = &f->fronts[f->count++];
    own->size = size;
    int waits = eliminate_from(f, size, 0, summed), end = shear(f, own, waits, summed);
    if (end >= 0) own->pivots = eliminate_from(f, size, waits, end);
    f->sheared = NULL;
    if (end < 0 || !keep_panel(f, own, *panel, *index)) return NULL;
    *panel += (size_t)size * (size_t)own->pivots, *index += (size_t)size;
    return own;
}

/* The position of the next left-over if those from `below` on have been assembled. */
static left_over place_rest(const lw_fronts *f, int below, int depth) {
    left_over rest = {0};
    if (below < depth)
        rest.matrix = f->leaves[below].matrix, rest.index = f->leaves[below].index;
    else if (depth > 0) {
        const left_over *top = &f->leaves[depth - 1];
        rest.matrix = top->matrix + (size_t)top->size * (size_t)top->size;
        rest.index = top->index + (size_t)top->size;
    }
    return rest;
}

/* Returns whether the last two left-overs have the same parent and would give it more rows than the larger of
 * their borders has coordinates. */
static bool many_rows(const lw_fronts *f, int depth) {
    if (depth < 2) return false;
    const left_over *a = &f->leaves[depth - 2], *b = a + 1;
    int border = a->size - a->waiting > b->size - b->waiting ? a->size - a->waiting : b->size - b->waiting;
    return a->parent == b->parent && a->rows + b->rows >= FEW_ROWS && a->rows + b->rows > border;
}

/* Joins the last two left-overs in a front without a body of its own. */
static bool join(lw_fronts *f, int depth, size_t *panel, size_t *index) {
    const left_over *below = &f->leaves[depth - 2];
    int summed = below[0].waiting + below[1].waiting, size = summed, at = 0;
    if (!reserve_front(f, below[0].size + below[1].size)) return false;
    for (int c = 0; c < 2; c++) {
        const int *from = f->stack_index + below[c].index;
        for (int i = 0; i < below[c].waiting; i++) f->index[at++] = from[i];
        for (int i = below[c].waiting; i < below[c].size; i += 6)
            f->offset[f->order.position[from[i] / 6]] = -1;
    }
    for (int c = 0; c < 2; c++) {
        const int *from = f->stack_index + below[c].index;
        for (int i = below[c].waiting; i < below[c].size; i += 6) {
            int *offset = &f->offset[f->order.position[from[i] / 6]];
            if (*offset >= 0) continue;
            *offset = size;
            for (int l = 0; l < 6; l++) f->index[size++] = from[i] + l;
        }
    }
    memset(f->F, 0, (size_t)size * (size_t)size * sizeof *f->F);
    memset(f->seen, 0, (size_t)size * sizeof *f->seen);
    assemble_below(f, &below[0], 0, size);
    assemble_below(f, &below[1], below[0].waiting, size);
    left_over rest = place_rest(f, depth - 2, depth);
    rest.parent = below->parent;
    front *own = finish(f, size, summed, panel, index);
    if (!own || !keep_rest(f, own, summed, &rest)) return false;
    f->leaves[depth - 2] = rest;
    return true;
}

/* Takes memory for other matrices of the same structure: what the first one has needed, several times. In a
 * front, coordinates that wait come to those of its structure. */
static bool reserve_more(lw_fronts *f, size_t panel, size_t index) {
    return reserve_doubles(&f->panels, &f->panel_room, 4 * panel) &&
           reserve_integers(&f->indices, &f->index_room, 4 * index) &&
           reserve_stack(f, 4 * f->stack_room, 4 * f->stack_index_room) &&
           reserve_doubles(&f->shears, &f->shear_room, 4 * f->shear_count + (size_t)FEW_ROWS * FEW_ROWS) &&
           reserve_front(f, 2 * f->room);
}

lw_fronts_status lw_fronts_factor(lw_fronts *f, const double *inertia, const double *mass, const double *H,
                                  const double *E, int *singular) {
    const lw_kkt_order *order = &f->order;
    size_t panel = 0, index = 0;
    int depth = 0; /* number of left-overs */
    f->entries = f->operations = 0;
    f->shear_count = 0, f->count = 0;
    for (int k = 0; k < f->bodies; k++) {
        int below = depth;
        while (below > 0 && f->leaves[below - 1].parent == k) below--;
        int size, summed = gather(f, k, f->leaves + below, depth - below, &size);
        if (summed < 0) return LW_FRONTS_MEMORY;
        assemble_own(f, k, size, inertia, mass, H, E);
        int first = 6 + f->own_start[k + 1] - f->own_start[k];
        for (int c = below; c < depth; c++) {
            assemble_below(f, &f->leaves[c], first, size);
            first += f->leaves[c].waiting;
        }
        front *own = finish(f, size, summed, &panel, &index);
        if (!own) return LW_FRONTS_MEMORY;
        if (order->parent[k] < 0 && own->pivots < summed) {
            *singular = f->index[own->pivots];
            for (int c = own->pivots; c < summed && *singular >= 6 * f->bodies; c++) *singular = f->index[c];
            return LW_FRONTS_SINGULAR;
        }
        left_over rest = place_rest(f, below, depth);
        rest.parent = order->parent[k];
        depth = below;
        if (rest.parent < 0) continue;
        if (!keep_rest(f, own, summed, &rest)) return LW_FRONTS_MEMORY;
        f->leaves[depth++] = rest;
        for (; many_rows(f, depth); depth--)
            if (!join(f, depth, &panel, &index)) return LW_FRONTS_MEMORY;
    }
    if (!f->reserved && !reserve_more(f, panel, index)) return LW_FRONTS_MEMORY;
    f->reserved = true;
    return LW_FRONTS_OK;
}

/* --- solution -------------------------------------------------------------------------------------- */

/* y <- D^-1 L^-1 y for pivots from .. to - 1. */
static void substitute_forward(const lw_fronts *f, const front *own, const int *index, int from, int to,
                               double *y) {
    int size = own->size;
    const double *l = f->panels + own->panel + (size_t)from * (size_t)size;
    for (int p = from; p < to; p++, l += size) {
        if (index[p] >= 0) {
            double now = y[p];
            if (now != 0)
                for (int i = p + 1; i < size; i++) y[i] -= now * l[i];
            y[p] = now * l[p];
            continue;
        }
        const double *m = l + size;
        double one = y[p], two = y[p + 1];
        for (int i = p + 2; i < size; i++) y[i] -= one * l[i] + two * m[i];
        y[p] = l[p] * one + l[p + 1] * two;
        y[p + 1] = l[p + 1] * one + m[p + 1] * two;
        p++, l += size;
    }
}

/* y <- L'^-1 y for pivots to - 1 .. from. */
static void substitute_backward(const lw_fronts *f, const front *own, const int *index, int from, int to,
                                double *y) {
    int size = own->size;
    for (int p = to - 1; p >= from; p--) {
        const double *l = f->panels + own->panel + (size_t)p * (size_t)size;
        double sum = 0;
        if (p > from && index[p - 1] < 0) { /* It is the second coordinate of a 2 x 2 pivot. */
            const double *first = l - size;
            double other = 0;
            for (int i = p + 1; i < size; i++) sum += l[i] * y[i], other += first[i] * y[i];
            y[p] -= sum, y[p - 1] -= other;
            p--;
            continue;
        }
        for (int i = p + 1; i < size; i++) sum += l[i] * y[i];
        y[p] -= sum;
    }
}

static void shear_up(const lw_fronts *f, const front *own, double *y) {
    const double *m = f->shears + own->shear;
    for (int t = 0; t < own->shears; t++, m += own->top - own->before) {
        int last = own->top - 1 - t;
        for (int i = own->before; i < last; i++) y[i] -= m[i - own->before] * y[last];
    }
}

static void shear_down(const lw_fronts *f, const front *own, double *y) {
    for (int t = own->shears - 1; t >= 0; t--) {
        const double *m = f->shears + own->shear + (size_t)t * (size_t)(own->top - own->before);
        int last = own->top - 1 - t;
        for (int i = own->before; i < last; i++) y[last] -= m[i - own->before] * y[i];
    }
}

void lw_fronts_solve(lw_fronts *f, double *x) {
    double *y = f->local;
    for (int k = 0; k < f->count; k++) {
        const front *own = &f->fronts[k];
        const int *index = f->indices + own->index;
        for (int i = 0; i < own->size; i++) y[i] = x[index[i] < 0 ? -1 - index[i] : index[i]];
        substitute_forward(f, own, index, 0, own->before, y);
        shear_up(f, own, y);
        substitute_forward(f, own, index, own->before, own->pivots, y);
        for (int i = 0; i < own->size; i++) x[index[i] < 0 ? -1 - index[i] : index[i]] = y[i];
    }
    for (int k = f->count - 1; k >= 0; k--) {
        const front *own = &f->fronts[k];
        const int *index = f->indices + own->index;
        for (int i = 0; i < own->size; i++) y[i] = x[index[i] < 0 ? -1 - index[i] : index[i]];
        substitute_backward(f, own, index, own->before, own->pivots, y);
        shear_down(f, own, y);
        substitute_backward(f, own, index, 0, own->before, y);
        int changed = own->shears ? own->top : own->pivots;
        for (int p = 0; p < changed; p++) x[index[p] < 0 ? -1 - index[p] : index[p]] = y[p];
    }
}

void lw_fronts_work(const lw_fronts *f, double *entries, double *operations) {
    *entries = f->entries, *operations = f->operations;
}

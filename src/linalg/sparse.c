/* sparse.c - square sparse systems by left-looking elimination with partial pivoting.
 *
 * Rows are divided by their largest entry, R^-1 A; columns are taken in the order Q of sparse_order.c. Column
 * k of the factors is the solution of a triangular system with the columns before it,
 *
 *   x = L^-1 R^-1 a_k,     U's part: the rows that are pivots already; L's: the others over the pivot
 *
 * in which only those columns of L count that can be reached from the entries of a_k: a search in depth finds
 * them, in an order in which each comes after those that it depends on. The pivot is the diagonal entry
 * unless another entry of x is ten times larger.
 *
 * Factored again, the same rows, columns and pivots are used, and no memory is taken; a pivot that has become
 * small in its column is refused, and pivots are chosen anew, in the memory that the first choice has taken:
 * four times what it needed.
 *
 * Source   Gilbert and Peierls, SIAM J. Sci. Stat. Comput. 9 (1988).
 * Cost     proportional to the operations on entries that are not zero.
 */
#include "linalg/dense_condition.h"
#include "linalg/sparse.h"
#include "linalg/sparse_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The part of the largest entry that a diagonal pivot has at least, when it is chosen and afterwards. */
static const double diagonal_part = 0.1, kept_part = 1e-3;

/* Entries of the columns of a factor, one column after the other. */
typedef struct entries {
    int *start, *row;
    double *value;
    size_t room;
} entries;

struct lw_sparse {
    int n;
    const int *start, *index;
    int *order;            /* Q: the column at each step */
    int *pivot, *position; /* the row that is the pivot of a step, and the inverse: -1 for none yet */
    entries L, U;          /* L by rows of A, without its unit diagonal; U by steps, without its diagonal */
    double *diagonal;      /* of U */
    double *scale;         /* the inverse of the largest entry of each row */
    double *x, *work;      /* a column by rows; 2 n numbers */
    int *reached, *stack, *next, *mark;
    bool factored, reserved;
};

lw_sparse *lw_sparse_create(int n, int *start, int *index) {
    lw_sparse *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    const size_t room = (size_t)n + 1;
    s->n = n, s->start = start, s->index = index;
    int **integers[] = {&s->order,   &s->pivot, &s->position, &s->L.start, &s->U.start,
                        &s->reached, &s->stack, &s->next,     &s->mark};
    double **numbers[] = {&s->diagonal, &s->scale, &s->x};
    bool fine = true;
    for (size_t k = 0; k < sizeof integers / sizeof *integers; k++)
        fine &= (*integers[k] = calloc(room, sizeof(int))) != NULL;
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        fine &= (*numbers[k] = calloc(room, sizeof(double))) != NULL;
    s->work = calloc(2 * room, sizeof *s->work);
    if (fine && s->work && lw_sparse_order(n, start, index, s->order)) return s;
    lw_sparse_destroy(s);
    return NULL;
}

void lw_sparse_destroy(lw_sparse *s) {
    if (!s) return;
    free(s->order), free(s->pivot), free(s->position), free(s->reached), free(s->stack), free(s->next);
    free(s->mark), free(s->diagonal), free(s->scale), free(s->x), free(s->work);
    free(s->L.start), free(s->L.row), free(s->L.value), free(s->U.start), free(s->U.row), free(s->U.value);
    free(s);
}

static bool reserve(entries *e, size_t room) {
    if (room <= e->room) return true;
    int *row = realloc(e->row, room * sizeof *row);
    if (row) e->row = row;
    double *value = realloc(e->value, room * sizeof *value);
    if (value) e->value = value;
    if (!row || !value) return false;
    e->room = room;
    return true;
}

/* Makes room for one more column. */
static bool have_room(entries *e, int used, int more) {
    const size_t needed = (size_t)used + (size_t)more;
    return needed <= e->room || reserve(e, 2 * needed);
}

static bool scale_rows(lw_sparse *s, const double *value) {
    memset(s->scale, 0, (size_t)s->n * sizeof *s->scale);
    for (int k = 0; k < s->start[s->n]; k++)
        if (fabs(value[k]) > s->scale[s->index[k]] || isnan(value[k])) s->scale[s->index[k]] = fabs(value[k]);
    for (int i = 0; i < s->n; i++) {
        if (!(s->scale[i] > 0) || !isfinite(s->scale[i])) return false; /* an empty row, or no numbers */
        s->scale[i] = 1 / s->scale[i];
    }
    return true;
}

static void scatter(lw_sparse *s, const double *value, int column) {
    for (int k = s->start[column]; k < s->start[column + 1]; k++)
        s->x[s->index[k]] += value[k] * s->scale[s->index[k]];
}

/* --- a new choice of pivots ------------------------------------------------------------------------ */

/* Steps whose columns of L change rows that the row can be reached through, deepest first, in front of
 * reached[top]; rows without a pivot are written from reached[0] on. */
static void search(lw_sparse *s, int row, int stamp, int *top, int *others) {
    int depth = 0;
    s->stack[0] = row;
    s->mark[row] = stamp;
    if (s->position[row] >= 0) s->next[0] = s->L.start[s->position[row]];
    while (depth >= 0) {
        const int now = s->stack[depth], step = s->position[now];
        if (step < 0) {
            s->reached[(*others)++] = now;
            depth--;
            continue;
        }
        int k = s->next[depth];
        while (k < s->L.start[step + 1] && s->mark[s->L.row[k]] == stamp) k++;
        s->next[depth] = k + 1;
        if (k == s->L.start[step + 1]) {
            s->reached[--*top] = step;
            depth--;
            continue;
        }
        const int deeper = s->L.row[k];
        s->mark[deeper] = stamp;
        s->stack[++depth] = deeper;
        if (s->position[deeper] >= 0) s->next[depth] = s->L.start[s->position[deeper]];
    }
}

/* x -= L's column of the step, times x of its pivot; returns that number. */
static double eliminate(lw_sparse *s, int step) {
    const double u = s->x[s->pivot[step]];
    for (int k = s->L.start[step]; k < s->L.start[step + 1]; k++) s->x[s->L.row[k]] -= s->L.value[k] * u;
    return u;
}

/* The row of the pivot among the rows of x that have none: the diagonal if it is large enough. -1: all are
 * zero, or one is not a number. */
static int choose(const lw_sparse *s, int column, int stamp, int others) {
    int best = -1;
    double largest = 0;
    for (int k = 0; k < others; k++) {
        const double amount = fabs(s->x[s->reached[k]]);
        if (isnan(amount)) return -1;
        if (amount > largest) largest = amount, best = s->reached[k];
    }
    const bool diagonal = s->mark[column] == stamp && s->position[column] < 0;
    return best >= 0 && diagonal && fabs(s->x[column]) >= diagonal_part * largest ? column : best;
}

static bool factor_column(lw_sparse *s, const double *value, int step) {
    const int column = s->order[step];
    int top = s->n, others = 0, l = s->L.start[step], u = s->U.start[step];
    for (int k = s->start[column]; k < s->start[column + 1]; k++)
        if (s->mark[s->index[k]] != step + 1) search(s, s->index[k], step + 1, &top, &others);
    scatter(s, value, column);
    if (!have_room(&s->L, l, others) || !have_room(&s->U, u, s->n - top)) return false;
    for (int k = top; k < s->n; k++, u++) {
        s->U.row[u] = s->reached[k];
        s->U.value[u] = eliminate(s, s->reached[k]);
        s->x[s->pivot[s->reached[k]]] = 0;
    }
    const int pivot = choose(s, column, step + 1, others);
    if (pivot < 0) return false;
    s->diagonal[step] = s->x[pivot];
    s->pivot[step] = pivot, s->position[pivot] = step;
    s->x[pivot] = 0;
    for (int k = 0; k < others; k++) {
        const int row = s->reached[k];
        if (row == pivot) continue;
        s->L.row[l] = row, s->L.value[l++] = s->x[row] / s->diagonal[step];
        s->x[row] = 0;
    }
    s->L.start[step + 1] = l, s->U.start[step + 1] = u;
    return true;
}

static bool factor_anew(lw_sparse *s, const double *value) {
    memset(s->x, 0, (size_t)s->n * sizeof *s->x);
    memset(s->mark, 0, (size_t)s->n * sizeof *s->mark);
    for (int i = 0; i < s->n; i++) s->position[i] = -1;
    for (int step = 0; step < s->n; step++)
        if (!factor_column(s, value, step)) return false;
    if (s->reserved) return true;
    s->reserved =
        reserve(&s->L, 4 * (size_t)s->L.start[s->n]) && reserve(&s->U, 4 * (size_t)s->U.start[s->n]);
    return s->reserved;
}

/* --- the same pivots again ------------------------------------------------------------------------- */

static bool factor_again(lw_sparse *s, const double *value) {
    memset(s->x, 0, (size_t)s->n * sizeof *s->x);
    for (int step = 0; step < s->n; step++) {
        scatter(s, value, s->order[step]);
        for (int k = s->U.start[step]; k < s->U.start[step + 1]; k++) {
            s->U.value[k] = eliminate(s, s->U.row[k]);
            s->x[s->pivot[s->U.row[k]]] = 0;
        }
        const double pivot = s->x[s->pivot[step]];
        double largest = 0;
        s->x[s->pivot[step]] = 0;
        s->diagonal[step] = pivot;
        for (int k = s->L.start[step]; k < s->L.start[step + 1]; k++) {
            largest = fmax(largest, fabs(s->x[s->L.row[k]]));
            s->L.value[k] = s->x[s->L.row[k]] / pivot;
            s->x[s->L.row[k]] = 0;
        }
        if (!(fabs(pivot) > 0) || !(fabs(pivot) >= kept_part * largest)) return false;
    }
    return true;
}

bool lw_sparse_factor(lw_sparse *s, double *value, bool anew) {
    const bool again = s->factored && !anew;
    s->factored = false;
    if (!scale_rows(s, value)) return false;
    s->factored = (again && factor_again(s, value)) || factor_anew(s, value);
    return s->factored;
}

/* --- solutions ------------------------------------------------------------------------------------- */

void lw_sparse_solve(lw_sparse *s, double *b) {
    double *y = s->x;
    for (int i = 0; i < s->n; i++) b[i] *= s->scale[i];
    for (int step = 0; step < s->n; step++) {
        y[step] = b[s->pivot[step]];
        for (int k = s->L.start[step]; k < s->L.start[step + 1]; k++)
            b[s->L.row[k]] -= s->L.value[k] * y[step];
    }
    for (int step = s->n - 1; step >= 0; step--) {
        y[step] /= s->diagonal[step];
        for (int k = s->U.start[step]; k < s->U.start[step + 1]; k++)
            y[s->U.row[k]] -= s->U.value[k] * y[step];
    }
    for (int step = 0; step < s->n; step++) b[s->order[step]] = y[step];
}

/* b = A^-T b = R^-1 P' L^-T U^-T Q' b */
static void solve_transposed(lw_sparse *s, double *b) {
    double *y = s->x;
    for (int step = 0; step < s->n; step++) {
        double sum = b[s->order[step]];
        for (int k = s->U.start[step]; k < s->U.start[step + 1]; k++) sum -= s->U.value[k] * y[s->U.row[k]];
        y[step] = sum / s->diagonal[step];
    }
    for (int step = s->n - 1; step >= 0; step--) {
        double sum = y[step];
        for (int k = s->L.start[step]; k < s->L.start[step + 1]; k++)
            sum -= s->L.value[k] * y[s->position[s->L.row[k]]];
        y[step] = sum;
    }
    for (int step = 0; step < s->n; step++) b[s->pivot[step]] = y[step] * s->scale[s->pivot[step]];
}

static void solve_either(void *context, bool transpose, double *x) {
    if (transpose)
        solve_transposed(context, x);
    else
        lw_sparse_solve(context, x);
}

double lw_sparse_condition(lw_sparse *s, double *value) {
    if (!s->factored) return 1;
    double norm = 0;
    for (int j = 0; j < s->n; j++) {
        double sum = 0;
        for (int k = s->start[j]; k < s->start[j + 1]; k++) sum += fabs(value[k]);
        norm = fmax(norm, sum);
    }
    return norm * lw_inverse_norm(s->n, solve_either, s, s->work);
}

long lw_sparse_fill(const lw_sparse *s) {
    return s->factored ? (long)s->L.start[s->n] + (long)s->U.start[s->n] + s->n : 0;
}

/* block_matrix.c - sparse matrices of dense blocks in compressed columns (linalg/sparse.h).
 *
 * All columns of a block column have the same rows, so a block needs one offset: entry (a, b) of block (i, j)
 * stands `offset` places after the start of column b of j.
 *
 * Cost     linear in the entries of the factors.
 */
#include "formulations/director/block_matrix.h"
#include "linalg/sparse.h"

#include <stdlib.h>
#include <string.h>

typedef struct pair {
    int column, row, offset;
} pair;

struct lw_block_matrix {
    int count, size, pairs, room;
    int *first;       /* count + 1: first row of each block row */
    pair *pair;       /* sorted by column, then row */
    int *column_pair; /* count + 1: first pair of each block column */
    int *start, *index;
    double *value;
    lw_sparse *system;
};

lw_block_matrix *lw_block_matrix_create(int count, const int *sizes) {
    lw_block_matrix *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->count = count;
    m->first = calloc((size_t)count + 1, sizeof *m->first);
    m->column_pair = calloc((size_t)count + 2, sizeof *m->column_pair);
    if (!m->first || !m->column_pair) {
        lw_block_matrix_destroy(m);
        return NULL;
    }
    for (int k = 0; k < count; k++) m->first[k + 1] = m->first[k] + sizes[k];
    m->size = m->first[count];
    return m;
}

bool lw_block_matrix_name(lw_block_matrix *m, int row, int column) {
    if (m->pairs == m->room) {
        int room = m->room ? 2 * m->room : 64;
        pair *more = realloc(m->pair, (size_t)room * sizeof *more);
        if (!more) return false;
        m->pair = more, m->room = room;
    }
    m->pair[m->pairs++] = (pair){column, row, 0};
    return true;
}

static int by_position(const void *a, const void *b) {
    const pair *x = a, *y = b;
    return x->column != y->column ? (x->column < y->column ? -1 : 1) : (x->row > y->row) - (x->row < y->row);
}

bool lw_block_matrix_finish(lw_block_matrix *m) {
    if (m->size == 0) return true;
    qsort(m->pair, (size_t)m->pairs, sizeof *m->pair, by_position);
    int kept = 0;
    for (int k = 0; k < m->pairs; k++)
        if (kept == 0 || by_position(&m->pair[kept - 1], &m->pair[k]) != 0) m->pair[kept++] = m->pair[k];
    m->pairs = kept;
    m->start = calloc((size_t)m->size + 1, sizeof *m->start);
    if (!m->start) return false;
    int at = 0;
    for (int j = 0; j < m->count; j++) {
        int height = 0;
        m->column_pair[j] = at;
        for (; at < m->pairs && m->pair[at].column == j; at++) {
            m->pair[at].offset = height;
            height += m->first[m->pair[at].row + 1] - m->first[m->pair[at].row];
        }
        for (int b = m->first[j]; b < m->first[j + 1]; b++) m->start[b + 1] = m->start[b] + height;
    }
    m->column_pair[m->count] = at;
    m->index = calloc((size_t)m->start[m->size] + 1, sizeof *m->index);
    m->value = calloc((size_t)m->start[m->size] + 1, sizeof *m->value);
    if (!m->index || !m->value) return false;
    for (int j = 0; j < m->count; j++)
        for (int b = m->first[j]; b < m->first[j + 1]; b++) {
            int *index = m->index + m->start[b];
            for (int p = m->column_pair[j]; p < m->column_pair[j + 1]; p++)
                for (int a = m->first[m->pair[p].row]; a < m->first[m->pair[p].row + 1]; a++) *index++ = a;
        }
    m->system = lw_sparse_create(m->size, m->start, m->index);
    return m->system != NULL;
}

void lw_block_matrix_destroy(lw_block_matrix *m) {
    if (!m) return;
    lw_sparse_destroy(m->system);
    free(m->first), free(m->column_pair), free(m->pair), free(m->start), free(m->index), free(m->value),
        free(m);
}

int lw_block_matrix_find(const lw_block_matrix *m, int row, int column) {
    int low = m->column_pair[column], high = m->column_pair[column + 1];
    while (low < high) {
        int middle = (low + high) / 2;
        if (m->pair[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->column_pair[column + 1] && m->pair[low].row == row ? low : -1;
}

int lw_block_matrix_size(const lw_block_matrix *m) { return m->size; }
int lw_block_matrix_start(const lw_block_matrix *m, int block_row) { return m->first[block_row]; }

void lw_block_matrix_clear(lw_block_matrix *m) {
    if (m->size) memset(m->value, 0, (size_t)m->start[m->size] * sizeof *m->value);
}

double *lw_block_matrix_at(lw_block_matrix *m, int block, int *stride) {
    int column = m->first[m->pair[block].column];
    *stride = m->start[column + 1] - m->start[column];
    return m->value + m->start[column] + m->pair[block].offset;
}

bool lw_block_matrix_factor(lw_block_matrix *m, bool anew) {
    return m->size == 0 || lw_sparse_factor(m->system, m->value, anew);
}

void lw_block_matrix_solve(lw_block_matrix *m, double *right) {
    if (m->size) lw_sparse_solve(m->system, right);
}

void lw_block_matrix_times(const lw_block_matrix *m, const double *x, double *out) {
    memset(out, 0, (size_t)m->size * sizeof *out);
    for (int j = 0; j < m->size; j++)
        for (int k = m->start[j]; k < m->start[j + 1]; k++) out[m->index[k]] += m->value[k] * x[j];
}

double lw_block_matrix_condition(lw_block_matrix *m) {
    return m->size ? lw_sparse_condition(m->system, m->value) : 1;
}

long lw_block_matrix_fill(const lw_block_matrix *m) { return m->size ? lw_sparse_fill(m->system) : 0; }

void lw_block_matrix_dense(const lw_block_matrix *m, double *A) {
    memset(A, 0, (size_t)m->size * (size_t)m->size * sizeof *A);
    for (int j = 0; j < m->size; j++)
        for (int k = m->start[j]; k < m->start[j + 1]; k++)
            A[(size_t)m->index[k] + (size_t)j * (size_t)m->size] = m->value[k];
}

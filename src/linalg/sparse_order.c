/* sparse_order.c - an order of elimination by minimum degree, on the structure of A + A'.
 *
 * Next is the column with the fewest neighbours; eliminating it connects these to each other.
 * Neighbouring columns with the same structure, as the columns of a block are, count as one vertex whose
 * weight is their number; they stay together.
 *
 * Cost     the sum over vertices of neighbours squared, and a heap for the choice; made once. Ties are
 *          broken by the column's number, so that the order is a function of the structure.
 */
#include "linalg/sparse_order.h"

#include <stdlib.h>
#include <string.h>

typedef struct vertex {
    int first, weight;     /* columns first .. first + weight - 1 */
    int count, *neighbour; /* ascending */
    long degree;
} vertex;

typedef struct graph {
    int n, vertices;
    int *row_start, *row; /* the neighbours of each column, itself included, ascending */
    vertex *vertex;
    int *of;     /* the vertex of a column */
    int *merged; /* room for one list of neighbours */
    /* The vertices that are not eliminated yet, as a heap: that of the least degree on top. */
    int *heap, *place, left;
} graph;

/* The structure of A + A' + 1. Rows come out ascending: they are entered in ascending order of the other
 * end. */
static bool make_symmetric(graph *g, const int *start, const int *index) {
    const int n = g->n;
    const size_t most = 2 * (size_t)start[n] + (size_t)n;
    int *transposed_start = calloc((size_t)n + 2, sizeof *transposed_start);
    int *transposed = malloc(((size_t)start[n] + 1) * sizeof *transposed);
    g->row = malloc((most + 1) * sizeof *g->row);
    const bool enough = transposed_start && transposed && g->row;
    for (int k = 0; enough && k < start[n]; k++) transposed_start[index[k] + 2]++;
    for (int i = 0; enough && i < n; i++) transposed_start[i + 2] += transposed_start[i + 1];
    for (int j = 0; enough && j < n; j++)
        for (int k = start[j]; k < start[j + 1]; k++) transposed[transposed_start[index[k] + 1]++] = j;
    int at = 0;
    for (int j = 0; enough && j < n; j++) { /* merges two ascending lists and j itself */
        int a = start[j], b = transposed_start[j];
        bool own = false;
        g->row_start[j] = at;
        while (a < start[j + 1] || b < transposed_start[j + 1] || !own) {
            int next = own ? n : j;
            if (a < start[j + 1] && index[a] < next) next = index[a];
            if (b < transposed_start[j + 1] && transposed[b] < next) next = transposed[b];
            g->row[at++] = next;
            if (a < start[j + 1] && index[a] == next) a++;
            if (b < transposed_start[j + 1] && transposed[b] == next) b++;
            if (next == j) own = true;
        }
    }
    g->row_start[n] = at;
    free(transposed_start), free(transposed);
    return enough;
}

static bool is_same(const graph *g, int a, int b) {
    const int count = g->row_start[a + 1] - g->row_start[a];
    return count == g->row_start[b + 1] - g->row_start[b] &&
           memcmp(g->row + g->row_start[a], g->row + g->row_start[b], (size_t)count * sizeof *g->row) == 0;
}

static void weigh(graph *g, vertex *v) {
    v->degree = 0;
    for (int k = 0; k < v->count; k++) v->degree += g->vertex[v->neighbour[k]].weight;
}

static bool comes_before(const graph *g, int a, int b) {
    const long first = g->vertex[a].degree, second = g->vertex[b].degree;
    return first != second ? first < second : a < b;
}

static void put(graph *g, int place, int a) { g->heap[place] = a, g->place[a] = place; }

/* Moves a vertex whose degree has changed to its place in the heap. */
static void sift(graph *g, int a) {
    int at = g->place[a];
    for (; at > 0 && comes_before(g, a, g->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(g, at, g->heap[(at - 1) / 2]);
    for (int child; (child = 2 * at + 1) < g->left; at = child) {
        if (child + 1 < g->left && comes_before(g, g->heap[child + 1], g->heap[child])) child++;
        if (!comes_before(g, g->heap[child], a)) break;
        put(g, at, g->heap[child]);
    }
    put(g, at, a);
}

static bool make_vertices(graph *g) {
    for (int j = 0; j < g->n; j++) {
        if (j == 0 || !is_same(g, j - 1, j)) g->vertex[g->vertices++] = (vertex){.first = j};
        g->of[j] = g->vertices - 1;
        g->vertex[g->vertices - 1].weight++;
    }
    for (int a = 0; a < g->vertices; a++) {
        vertex *v = &g->vertex[a];
        const int begin = g->row_start[v->first], end = g->row_start[v->first + 1];
        v->neighbour = malloc(((size_t)(end - begin) + 1) * sizeof *v->neighbour);
        if (!v->neighbour) return false;
        for (int k = begin, last = -1; k < end; k++) {
            const int b = g->of[g->row[k]];
            if (b == a || b == last) continue;
            v->neighbour[v->count++] = last = b;
        }
    }
    for (int a = 0; a < g->vertices; a++) {
        weigh(g, &g->vertex[a]);
        put(g, g->left++, a);
        sift(g, a);
    }
    return true;
}

/* neighbours of a = (neighbours of a and of p) without a and p. */
static bool merge(graph *g, int a, int p) {
    vertex *v = &g->vertex[a];
    const vertex *w = &g->vertex[p];
    int count = 0;
    for (int i = 0, k = 0; i < v->count || k < w->count;) {
        const int x = i < v->count ? v->neighbour[i] : g->vertices;
        const int y = k < w->count ? w->neighbour[k] : g->vertices;
        const int next = x < y ? x : y;
        i += x == next, k += y == next;
        if (next != a && next != p) g->merged[count++] = next;
    }
    if (count > v->count) {
        int *more = realloc(v->neighbour, (size_t)count * sizeof *more);
        if (!more) return false;
        v->neighbour = more;
    }
    if (count > 0) memcpy(v->neighbour, g->merged, (size_t)count * sizeof *v->neighbour);
    v->count = count;
    return true;
}

static bool eliminate_all(graph *g, int *order) {
    int done = 0;
    while (g->left > 0) {
        const int p = g->heap[0];
        vertex *v = &g->vertex[p];
        if (--g->left > 0) {
            put(g, 0, g->heap[g->left]);
            sift(g, g->heap[0]);
        }
        for (int c = 0; c < v->weight; c++) order[done++] = v->first + c;
        for (int k = 0; k < v->count; k++)
            if (!merge(g, v->neighbour[k], p)) return false;
        for (int k = 0; k < v->count; k++) {
            weigh(g, &g->vertex[v->neighbour[k]]);
            sift(g, v->neighbour[k]);
        }
        free(v->neighbour);
        v->neighbour = NULL, v->count = 0;
    }
    return true;
}

bool lw_sparse_order(int n, const int *start, const int *index, int *order) {
    const size_t room = (size_t)n + 1;
    graph g = {.n = n,
               .row_start = calloc(room, sizeof *g.row_start),
               .vertex = calloc(room, sizeof *g.vertex),
               .of = calloc(room, sizeof *g.of),
               .merged = calloc(room, sizeof *g.merged),
               .heap = calloc(room, sizeof *g.heap),
               .place = calloc(room, sizeof *g.place)};
    const bool fine = g.row_start && g.vertex && g.of && g.merged && g.heap && g.place &&
                      make_symmetric(&g, start, index) && make_vertices(&g) && eliminate_all(&g, order);
    for (int a = 0; g.vertex && a < g.vertices; a++) free(g.vertex[a].neighbour);
    free(g.row_start), free(g.row), free(g.vertex), free(g.of), free(g.merged), free(g.heap), free(g.place);
    return fine;
}

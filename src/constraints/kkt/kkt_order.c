/* kkt_order.c - an order of elimination for the bodies of a mechanism: next is the one with the fewest
 * neighbours.
 *
 * The graph has the bodies as vertices; a row connects all bodies on which it acts. Eliminating a body
 * connects its neighbours, so that the list of neighbours it has then is what its front meets in the factor.
 * Minimum degree keeps chains, trees, ladders and hubs at bounded fronts, and plane nets near the best that a
 * direct method can do.
 *
 * Source   Mufti (1983) has no order; minimum degree is usual in sparse elimination.
 *          docs/theory/lagrange.md, 4.
 * Cost     O(sum over bodies of neighbours squared) expected, that of the factor's blocks; made once.
 *          Of equal ones the body with the higher number (nearer to the tips of the spanning tree) is first:
 *          the order is a function of the model.
 */
#include "constraints/kkt/kkt_order.h"

#include <stdint.h>
#include <stdlib.h>

/* --- a set of edges, a heap of degrees ------------------------------------------------------------- */

typedef struct edge_set {
    uint64_t *key; /* 0 is empty */
    size_t room, count;
} edge_set;

static size_t slot_of(const edge_set *set, uint64_t key) {
    uint64_t mixed = key * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(mixed >> 20) & (set->room - 1);
    while (set->key[at] && set->key[at] != key) at = (at + 1) & (set->room - 1);
    return at;
}

/* Whether the pair is new; false also where memory is out. */
static bool insert(edge_set *set, int a, int b, lw_arena *scratch) {
    if (2 * set->count >= set->room) {
        edge_set larger = {NULL, set->room ? 2 * set->room : 1024, set->count};
        larger.key = LW_NEW(scratch, uint64_t, larger.room);
        if (!larger.key) return false;
        for (size_t k = 0; k < set->room; k++)
            if (set->key[k]) larger.key[slot_of(&larger, set->key[k])] = set->key[k];
        *set = larger;
    }
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a), key = (high << 32) + low + 1;
    size_t at = slot_of(set, key);
    if (set->key[at]) return false;
    set->key[at] = key;
    set->count++;
    return true;
}

typedef struct graph {
    lw_arena *scratch;
    lw_list *neighbours; /* neighbours, eliminated ones included */
    int *degree;         /* neighbours that are left; -1: eliminated */
    edge_set edges;      /* each pair once */
    int *heap, *at, count;
} graph;

static bool before(const graph *g, int a, int b) {
    return g->degree[a] != g->degree[b] ? g->degree[a] < g->degree[b] : a > b;
}

static void put(graph *g, int slot, int body) { g->heap[slot] = body, g->at[body] = slot; }

static void sift(graph *g, int body) {
    int slot = g->at[body];
    for (; slot > 0 && before(g, body, g->heap[(slot - 1) / 2]); slot = (slot - 1) / 2)
        put(g, slot, g->heap[(slot - 1) / 2]);
    for (int child; (child = 2 * slot + 1) < g->count; slot = child) {
        if (child + 1 < g->count && before(g, g->heap[child + 1], g->heap[child])) child++;
        if (!before(g, g->heap[child], body)) break;
        put(g, slot, g->heap[child]);
    }
    put(g, slot, body);
}

static void connect(graph *g, int a, int b) {
    if (!insert(&g->edges, a, b, g->scratch)) return;
    g->degree[a]++, g->degree[b]++;
    lw_list_append(&g->neighbours[a], b, g->scratch);
    lw_list_append(&g->neighbours[b], a, g->scratch);
}

/* --- elimination ----------------------------------------------------------------------------------- */

/* Takes the body with the fewest neighbours out, connects these and appends them to the lists of
 * order. */
static void eliminate(graph *g, int k, lw_list *left, lw_list *neighbours) {
    int body = g->heap[0];
    g->count--;
    if (g->count > 0) put(g, 0, g->heap[g->count]), sift(g, g->heap[0]);
    left->count = 0;
    for (int i = 0; i < g->neighbours[body].count; i++)
        if (g->degree[g->neighbours[body].item[i]] >= 0)
            lw_list_append(left, g->neighbours[body].item[i], g->scratch);
    g->degree[body] = -1 - k;
    for (int i = 0; i < left->count; i++) g->degree[left->item[i]]--;
    for (int i = 0; i < left->count; i++)
        for (int j = 0; j < i; j++) connect(g, left->item[i], left->item[j]);
    for (int i = 0; i < left->count; i++) {
        sift(g, left->item[i]);
        lw_list_append(neighbours, left->item[i], g->scratch);
    }
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* The elimination as it was done: the k-th front is that of body[k], and goes to that at place parent[k]. Its
 * border are the places neighbour[start[k]] .. neighbour[start[k + 1] - 1]. */
typedef struct elimination {
    int *body, *parent, *start, *neighbour;
} elimination;

/* Fronts one after the other so that all those below one come just before it: then what they leave lies on a
 * stack. The order that results is equivalent to the elimination. */
static bool postorder(lw_kkt_order *order, const elimination *e, lw_arena *scratch) {
    int n = order->bodies, count = 0, at = 0, depth = 0;
    int *first = LW_NEW(scratch, int, n + 1), *next = LW_NEW(scratch, int, n + 1),
        *stack = LW_NEW(scratch, int, n + 1), *number = LW_NEW(scratch, int, n + 1);
    if (lw_arena_failed(scratch)) return false;
    for (int k = 0; k <= n; k++) first[k] = -1;
    for (int k = n - 1; k >= 0; k--) {
        int above = e->parent[k] < 0 ? n : e->parent[k];
        next[k] = first[above], first[above] = k;
    }
    for (int root = first[n]; root >= 0; root = next[root]) {
        stack[depth++] = root;
        while (depth > 0) {
            int k = stack[depth - 1];
            if (first[k] >= 0) {
                stack[depth++] = first[k];
                first[k] = next[first[k]];
                continue;
            }
            depth--;
            number[k] = count++;
        }
    }
    for (int k = 0; k < n; k++) order->body[number[k]] = k;
    for (int position = 0; position < n; position++) {
        int k = order->body[position];
        order->start[position] = at;
        for (int i = e->start[k]; i < e->start[k + 1]; i++) order->neighbour[at++] = number[e->neighbour[i]];
        qsort(order->neighbour + order->start[position], (size_t)(at - order->start[position]),
              sizeof *order->neighbour, ascending);
        order->parent[position] = e->parent[k] < 0 ? -1 : number[e->parent[k]];
    }
    order->start[n] = at;
    for (int position = 0; position < n; position++) order->body[position] = e->body[order->body[position]];
    for (int position = 0; position < n; position++) order->position[order->body[position]] = position;
    return true;
}

static void number_components(lw_kkt_order *order) {
    for (int k = order->bodies - 1; k >= 0; k--)
        order->component[order->body[k]] =
            order->parent[k] < 0 ? order->components++ : order->component[order->body[order->parent[k]]];
}

/* Eliminates all bodies in turn; then neighbours are known by their place. */
static void eliminate_all(graph *g, int bodies, elimination *e) {
    lw_list left = {0}, neighbours = {0};
    for (int i = 0; i < bodies; i++) g->count = i + 1, put(g, i, i), sift(g, i);
    for (int k = 0; k < bodies; k++) {
        e->start[k] = neighbours.count;
        e->body[k] = g->heap[0];
        eliminate(g, k, &left, &neighbours);
    }
    e->start[bodies] = neighbours.count;
    e->neighbour = neighbours.item;
    for (int i = 0; i < neighbours.count; i++) e->neighbour[i] = -1 - g->degree[e->neighbour[i]];
    for (int k = 0; k < bodies; k++) {
        e->parent[k] = -1;
        for (int i = e->start[k]; i < e->start[k + 1]; i++)
            if (e->parent[k] < 0 || e->neighbour[i] < e->parent[k]) e->parent[k] = e->neighbour[i];
    }
}

static bool make(lw_kkt_order *order, int rows, const int *start, const int *body, lw_arena *arena,
                 lw_arena *scratch) {
    size_t n = (size_t)order->bodies + 1;
    elimination e = {
        .body = LW_NEW(scratch, int, n), .parent = LW_NEW(scratch, int, n), .start = LW_NEW(scratch, int, n)};
    graph g = {.scratch = scratch,
               .neighbours = LW_NEW(scratch, lw_list, n),
               .degree = LW_NEW(scratch, int, n),
               .heap = LW_NEW(scratch, int, n),
               .at = LW_NEW(scratch, int, n)};
    order->body = LW_NEW(arena, int, n);
    order->position = LW_NEW(arena, int, n);
    order->start = LW_NEW(arena, int, n);
    order->parent = LW_NEW(arena, int, n);
    order->component = LW_NEW(arena, int, n);
    if (lw_arena_failed(scratch)) return false;
    for (int r = 0; r < rows; r++)
        for (int i = start[r]; i < start[r + 1]; i++)
            for (int j = start[r]; j < i; j++) connect(&g, body[i], body[j]);
    eliminate_all(&g, order->bodies, &e);
    order->neighbour = LW_NEW(arena, int, e.start[order->bodies] + 1);
    if (lw_arena_failed(arena) || lw_arena_failed(scratch) || !postorder(order, &e, scratch)) return false;
    number_components(order);
    return true;
}

bool lw_kkt_order_make(lw_kkt_order *order, int bodies, int rows, const int *start, const int *body,
                       lw_arena *arena) {
    lw_arena *scratch = lw_arena_create(NULL);
    *order = (lw_kkt_order){.bodies = bodies};
    bool fine = make(order, rows, start, body, arena, scratch);
    lw_arena_destroy(scratch);
    return fine;
}

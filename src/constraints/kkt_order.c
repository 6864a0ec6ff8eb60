/* kkt_order.c - an order of elimination for the bodies of a mechanism: next is the one tied to the fewest
 * others.
 *
 * The graph has the bodies as vertices; a row ties all bodies that it touches. Eliminating a body ties its
 * neighbours to each other, so that the list of neighbours it has then is what its front meets in the factor.
 * Minimum degree keeps chains, trees, ladders and hubs at bounded fronts, and plane nets near the best that a
 * direct method can do.
 *
 * Source   Mufti (1983) has no order; minimum degree is folklore of sparse elimination.
 *          docs/theory/lagrange.md, 4.
 * Cost     O(sum over bodies of neighbours squared) expected, that of the factor's blocks; made once.
 *          Ties are broken by the body's number, high ones (tips of the spanning tree) first: the order is a
 *          function of the model.
 */
#include "constraints/kkt_order.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- a growing list, a set of ties, a heap of degrees ------------------------------------------------ */

typedef struct list {
    int *item, count, room;
} list;

static bool append(list *l, int value) {
    if (l->count == l->room) {
        int room = l->room ? 2 * l->room : 8;
        int *item = realloc(l->item, (size_t)room * sizeof *item);
        if (!item) return false;
        l->item = item, l->room = room;
    }
    l->item[l->count++] = value;
    return true;
}

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

/* 1: it is new, 0: it was there, -1: no memory. */
static int insert(edge_set *set, int a, int b) {
    if (2 * set->count >= set->room) {
        edge_set larger = {NULL, set->room ? 2 * set->room : 1024, set->count};
        larger.key = calloc(larger.room, sizeof *larger.key);
        if (!larger.key) return -1;
        for (size_t k = 0; k < set->room; k++)
            if (set->key[k]) larger.key[slot_of(&larger, set->key[k])] = set->key[k];
        free(set->key);
        *set = larger;
    }
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a), key = (high << 32) + low + 1;
    size_t at = slot_of(set, key);
    if (set->key[at]) return 0;
    set->key[at] = key;
    set->count++;
    return 1;
}

typedef struct graph {
    int bodies;
    list *neighbours; /* neighbours, eliminated ones included */
    int *degree;      /* neighbours that are left; -1: eliminated */
    edge_set edges;   /* each pair once */
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

static bool connect(graph *g, int a, int b) {
    int found = insert(&g->edges, a, b);
    if (found <= 0) return found == 0;
    g->degree[a]++, g->degree[b]++;
    return append(&g->neighbours[a], b) && append(&g->neighbours[b], a);
}

/* --- elimination ----------------------------------------------------------------------------------- */

/* Takes the body with the fewest neighbours out, ties these to each other and appends them to the lists of
 * order. */
static bool eliminate(graph *g, int k, list *left, list *neighbours) {
    int body = g->heap[0];
    g->count--;
    if (g->count > 0) put(g, 0, g->heap[g->count]), sift(g, g->heap[0]);
    left->count = 0;
    for (int i = 0; i < g->neighbours[body].count; i++)
        if (g->degree[g->neighbours[body].item[i]] >= 0 && !append(left, g->neighbours[body].item[i]))
            return false;
    g->degree[body] = -1 - k;
    for (int i = 0; i < left->count; i++) g->degree[left->item[i]]--;
    for (int i = 0; i < left->count; i++)
        for (int j = 0; j < i; j++)
            if (!connect(g, left->item[i], left->item[j])) return false;
    for (int i = 0; i < left->count; i++) {
        sift(g, left->item[i]);
        if (!append(neighbours, left->item[i])) return false;
    }
    return true;
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Fronts one after the other so that all those below one come just before it: then what they leave lies on a
 * stack. parent and start are those of the elimination as it was done; the order that results is equivalent
 * to it. */
static bool postorder(lw_kkt_order *order, const int *eliminated, const int *parent, const int *start,
                      const int *neighbour) {
    int n = order->bodies, count = 0, at = 0, depth = 0;
    int *first = malloc(((size_t)n + 1) * sizeof *first), *next = malloc(((size_t)n + 1) * sizeof *next),
        *stack = malloc(((size_t)n + 1) * sizeof *stack), *number = malloc(((size_t)n + 1) * sizeof *number);
    if (!first || !next || !stack || !number) {
        free(first), free(next), free(stack), free(number);
        return false;
    }
    for (int k = 0; k <= n; k++) first[k] = -1;
    for (int k = n - 1; k >= 0; k--) {
        int above = parent[k] < 0 ? n : parent[k];
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
        for (int i = start[k]; i < start[k + 1]; i++) order->neighbour[at++] = number[neighbour[i]];
        qsort(order->neighbour + order->start[position], (size_t)(at - order->start[position]),
              sizeof *order->neighbour, ascending);
        order->parent[position] = parent[k] < 0 ? -1 : number[parent[k]];
    }
    order->start[n] = at;
    for (int position = 0; position < n; position++)
        order->body[position] = eliminated[order->body[position]];
    for (int position = 0; position < n; position++) order->position[order->body[position]] = position;
    free(first), free(next), free(stack), free(number);
    return true;
}

static void number_components(lw_kkt_order *order) {
    for (int k = order->bodies - 1; k >= 0; k--)
        order->component[order->body[k]] =
            order->parent[k] < 0 ? order->components++ : order->component[order->body[order->parent[k]]];
}

bool lw_kkt_order_make(lw_kkt_order *order, int bodies, int rows, const int *start, const int *body) {
    size_t n = (size_t)bodies + 1;
    graph g = {.bodies = bodies};
    list left = {0}, neighbours = {0};
    int *eliminated = calloc(n, sizeof *eliminated), *at = calloc(n, sizeof *at);
    int *parent = calloc(n, sizeof *parent);
    memset(order, 0, sizeof *order);
    order->bodies = bodies;
    order->body = calloc(n, sizeof *order->body);
    order->position = calloc(n, sizeof *order->position);
    order->start = calloc(n, sizeof *order->start);
    order->parent = calloc(n, sizeof *order->parent);
    order->component = calloc(n, sizeof *order->component);
    g.neighbours = calloc(n, sizeof *g.neighbours);
    g.degree = calloc(n, sizeof *g.degree);
    g.heap = calloc(n, sizeof *g.heap);
    g.at = calloc(n, sizeof *g.at);
    bool fine = eliminated && at && parent && order->body && order->position && order->start &&
                order->parent && order->component && g.neighbours && g.degree && g.heap && g.at;
    for (int r = 0; fine && r < rows; r++)
        for (int i = start[r]; fine && i < start[r + 1]; i++)
            for (int j = start[r]; fine && j < i; j++) fine = connect(&g, body[i], body[j]);
    for (int i = 0; fine && i < bodies; i++) g.count = i + 1, put(&g, i, i), sift(&g, i);
    for (int k = 0; fine && k < bodies; k++) {
        at[k] = neighbours.count;
        eliminated[k] = g.heap[0];
        fine = eliminate(&g, k, &left, &neighbours);
    }
    if (fine) { /* neighbours by their place */
        at[bodies] = neighbours.count;
        order->neighbour = calloc((size_t)neighbours.count + 1, sizeof *order->neighbour);
        for (int i = 0; i < neighbours.count; i++) neighbours.item[i] = -1 - g.degree[neighbours.item[i]];
        for (int k = 0; k < bodies; k++) {
            parent[k] = -1;
            for (int i = at[k]; i < at[k + 1]; i++)
                if (parent[k] < 0 || neighbours.item[i] < parent[k]) parent[k] = neighbours.item[i];
        }
        fine = order->neighbour && postorder(order, eliminated, parent, at, neighbours.item);
    }
    if (fine) number_components(order);
    for (int i = 0; g.neighbours && i < bodies; i++) free(g.neighbours[i].item);
    free(g.neighbours), free(g.degree), free(g.heap), free(g.at), free(g.edges.key);
    free(left.item), free(neighbours.item), free(eliminated), free(at), free(parent);
    if (!fine) lw_kkt_order_free(order);
    return fine;
}

void lw_kkt_order_free(lw_kkt_order *order) {
    free(order->body), free(order->position), free(order->start), free(order->neighbour), free(order->parent);
    free(order->component);
    memset(order, 0, sizeof *order);
}

/* graph.c - spanning tree, regular labelling and fundamental loops of the graph of bodies and joints.
 *
 * Tree. Every edge has a class, which says how much its cut would be regretted (edge_class). The tree keeps
 * as much of class 0 as any spanning tree can, then of class 1, and so on: the base of least cost of the
 * graphic matroid. Such a tree is one that enters every group of bodies (component of the graph of the edges
 * of classes < c, for every c) exactly once. So one search from ground finds it, if an edge of class c may
 * only lead to a group that nothing has entered yet. The search goes breadth first: where all edges are of
 * one class this is the ordinary breadth-first tree with shortest branches, and loops are short if ground is
 * near. In a long row of cells it is not, and all loops would reach back to ground; so the same search is
 * also made last in, first out (Paton 1969), and its tree is taken if it more than halves the total length of
 * the loops.
 *
 * Cuts. A tree edge that lies on one fundamental loop only can change places with the edge that closes this
 * loop, and no loop changes its edges. This is done, within the class, where it saves closure rows. A tree
 * edge t that lies on further loops changes these, too: when the cut of loop L moves to t, every other loop K
 * through t becomes the symmetric difference of K and L, of length |K| + |L| - 2 |K L|, where |K L| counts
 * their common edges. So the total length falls by the sum of 2 |K L| - |L| over these K. Such moves are
 * made, shortest loops first, as long as one makes the total smaller and costs no closure row.
 *
 * Bodies without mass. A cut beside one leaves a joint of the open tree that moves no inertia, which most
 * methods for trees cannot handle. Such cuts are therefore avoided; only cuts of prescribed and coupled
 * joints are worse. In a row of cells with massless couplers this makes one long chain of the whole row, and
 * every loop reaches back to its beginning. The choice is therefore repeated as if these bodies had mass, and
 * the second tree is taken if it more than halves the total length of the loops; rcr gives such bodies
 * inertia.
 *
 * Labels. Regular labelling of Mufti (1983), sect. 2: all leaves get the highest numbers and are removed, and
 * so on. A body is removed in round h, its height above the deepest leaf that hangs from it; so the labels
 * are the order by falling height, then rising depth, then the user's order. Parents have smaller labels than
 * children.
 *
 * Loops. The cut edge, then the tree path from its second body back to its first. The base body of the loop
 * (Anderson and Critchley 2003, body 0_i) is where this path turns from going up to going down.
 *
 * Cost O((n + e) log n), the total length of the loops, and at most WORK steps to shorten them. No recursion.
 */
#include "model/graph.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

enum { CLASSES = 9 };
enum { WORK = 20000000 }; /* steps that shorter loops may cost: a small fraction of a second */
typedef enum discipline { FIRST_IN_FIRST_OUT, LAST_IN_FIRST_OUT } discipline;

/* The problem, the rooted tree and the workspace. Bodies have the user's numbers; labels are assigned
 * last. */
typedef struct search {
    int body_count, edge_count;
    const bool *massless;
    bool spares; /* Cuts beside bodies without mass are avoided. */
    const lw_edge *edges;
    int *start, *incident; /* the edges at each body, in the user's order, CSR */
    int *group;    /* class c, body b -> its component in the graph of classes < c, at c (n + 1) + b */
    bool *entered; /* class c, component -> the search has entered it */
    /* edge -> kept: it is in the tree of the present search; trial: it is cut in the tree of the search last
     * in, first out; other: it is cut if cuts beside bodies without mass are not avoided */
    bool *kept, *trial, *other;
    int *order;        /* the bodies reached, breadth first in the tree; the first is ground */
    int reached;       /* number of bodies reached */
    int *up, *up_edge; /* body -> its parent and the edge to it */
    int *skip;         /* body -> an ancestor for fast search (root_tree) */
    int *depth;        /* body -> number of edges between it and ground; -1 if there is no path */
    /* cut edge -> the body where its branches meet; number of edges in the loop */
    int *meet, *length;
    int *cover;    /* body -> number of loops through its up_edge */
    bool *on_loop; /* body -> its up_edge lies on the marked loop (mark_loop) */
    /* body on the marked loop -> decrease of the loops' total length if its up_edge is cut instead */
    int *saving;
    int *key, *list, *spare, *bins;
} search;

/* Returns whether closing a loop at this edge would put forces on a massless body; a free joint transmits
 * none. */
static bool loads_massless(const search *s, const lw_edge *edge) {
    bool massless = false;
    for (int side = 0; side < 2 && s->spares; side++)
        massless |= edge->bodies[side] != 0 && s->massless[edge->bodies[side]];
    return massless && edge->freedom < 6;
}

/* The class of an edge, from 0 for the joints most needed in the tree to 8 for a requested cut
 * (docs/theory/graph.md). No method can treat a cut joint that is prescribed or coupled, since it has no
 * coordinate; some methods can treat a cut beside a body without mass. */
static int edge_class(const search *s, const lw_edge *edge) {
    if (edge->keep == LW_KEEP_ALWAYS && !edge->requested_cut) return 0;
    if (loads_massless(s, edge)) return edge->requested_cut ? 2 : edge->keep ? 0 : 1;
    if (edge->requested_cut) return 8;
    if (edge->keep) return 3 + LW_KEEP_VALUES - (int)edge->keep;
    return edge->freedom < 6 ? 6 : 7;
}

static int other_body(const lw_edge *edge, int body) { return edge->bodies[edge->bodies[0] == body]; }

/* The sense in which a path that leaves the body passes the edge: +1 from its first body, otherwise -1. */
static int sense_from(const lw_edge *edge, int body) { return edge->bodies[0] == body ? 1 : -1; }

static void list_incident_edges(search *s) {
    for (int e = 0; e < s->edge_count; e++)
        for (int side = 0; side < 2; side++) s->start[s->edges[e].bodies[side] + 1]++;
    for (int b = 0; b <= s->body_count; b++) s->start[b + 1] += s->start[b];
    int *fill = s->list;
    memcpy(fill, s->start, (size_t)(s->body_count + 1) * sizeof *fill);
    for (int e = 0; e < s->edge_count; e++)
        for (int side = 0; side < 2; side++) s->incident[fill[s->edges[e].bodies[side]]++] = e;
}

static int find_root(int *link, int body) {
    while (link[body] != body) {
        link[body] = link[link[body]];
        body = link[body];
    }
    return body;
}

static void find_groups(search *s) {
    int *link = s->list;
    for (int b = 0; b <= s->body_count; b++) link[b] = b;
    for (int c = 0; c < CLASSES; c++) {
        int *group = s->group + (size_t)c * (size_t)(s->body_count + 1);
        for (int b = 0; b <= s->body_count; b++) group[b] = find_root(link, b);
        for (int e = 0; e < s->edge_count; e++)
            if (edge_class(s, &s->edges[e]) == c)
                link[find_root(link, s->edges[e].bodies[0])] = find_root(link, s->edges[e].bodies[1]);
    }
}

static bool *entry(search *s, int c, int body) {
    size_t row = (size_t)c * (size_t)(s->body_count + 1);
    return &s->entered[row + (size_t)s->group[row + (size_t)body]];
}

/* The search, in which an edge of class c may only lead to a group that has not been entered. The groups of
 * class 0 are single bodies, so that no body is entered twice. */
static void grow_tree(search *s, discipline take, bool *cut) {
    memset(s->entered, 0, (size_t)CLASSES * (size_t)(s->body_count + 1) * sizeof *s->entered);
    memset(s->kept, 0, (size_t)s->edge_count * sizeof *s->kept);
    int *waiting = s->list, first = 0, last = 0;
    waiting[last++] = 0;
    for (int c = 0; c < CLASSES; c++) *entry(s, c, 0) = true;
    while (first < last) {
        int body = take == FIRST_IN_FIRST_OUT ? waiting[first++] : waiting[--last];
        for (int i = s->start[body]; i < s->start[body + 1]; i++) {
            const lw_edge *edge = &s->edges[s->incident[i]];
            int other = other_body(edge, body);
            if (*entry(s, edge_class(s, edge), other)) continue;
            for (int c = 0; c < CLASSES; c++) *entry(s, c, other) = true;
            s->kept[s->incident[i]] = true;
            waiting[last++] = other;
        }
    }
    for (int e = 0; e < s->edge_count; e++) cut[e] = *entry(s, 0, s->edges[e].bodies[0]) && !s->kept[e];
}

/* Finds parents and depths in the tree of the edges that are not cut. skip[b] is an ancestor of b, chosen so
 * that any ancestor is found in O(log n) steps (Myers 1983). */
static void root_tree(search *s, const bool *cut) {
    for (int b = 0; b <= s->body_count; b++) s->up[b] = s->up_edge[b] = s->depth[b] = -1;
    s->order[0] = 0;
    s->reached = 1;
    s->depth[0] = s->skip[0] = 0;
    for (int next = 0; next < s->reached; next++) {
        int body = s->order[next];
        for (int i = s->start[body]; i < s->start[body + 1]; i++) {
            int e = s->incident[i];
            if (cut[e] || e == s->up_edge[body]) continue;
            int child = other_body(&s->edges[e], body);
            s->up[child] = body;
            s->up_edge[child] = e;
            s->depth[child] = s->depth[body] + 1;
            int near = s->skip[body], far = s->skip[near];
            bool equal = s->depth[body] - s->depth[near] == s->depth[near] - s->depth[far];
            s->skip[child] = equal ? far : body;
            s->order[s->reached++] = child;
        }
    }
}

static int meeting_body(const search *s, int a, int b) {
    int deep = s->depth[a] < s->depth[b] ? b : a, other = deep == a ? b : a;
    while (s->depth[deep] > s->depth[other])
        deep = s->depth[s->skip[deep]] >= s->depth[other] ? s->skip[deep] : s->up[deep];
    while (deep != other) { /* Both have the same depth, and therefore also their skips. */
        bool skip = s->skip[deep] != s->skip[other];
        deep = skip ? s->skip[deep] : s->up[deep];
        other = skip ? s->skip[other] : s->up[other];
    }
    return deep;
}

/* Computes `meet` and `length` of all loops; returns the sum of the lengths. */
static int64_t measure_loops(search *s, const bool *cut) {
    int64_t total = 0;
    for (int e = 0; e < s->edge_count; e++) {
        if (!cut[e]) continue;
        const int *ends = s->edges[e].bodies;
        s->meet[e] = meeting_body(s, ends[0], ends[1]);
        s->length[e] = 1 + s->depth[ends[0]] + s->depth[ends[1]] - 2 * s->depth[s->meet[e]];
        total += s->length[e];
    }
    return total;
}

/* Chooses between the trees of the two searches; roots the better one, measures its loops and returns their
 * total length. */
static int64_t choose_tree(search *s, bool *cut) {
    grow_tree(s, LAST_IN_FIRST_OUT, s->trial);
    root_tree(s, s->trial);
    int64_t trial_total = measure_loops(s, s->trial);

    grow_tree(s, FIRST_IN_FIRST_OUT, cut);
    root_tree(s, cut);
    int64_t total = measure_loops(s, cut);
    if (2 * trial_total >= total) return total;

    memcpy(cut, s->trial, (size_t)s->edge_count * sizeof *cut);
    root_tree(s, cut);
    return measure_loops(s, cut);
}

/* Counts the loops through each tree edge. The loop of a cut edge consists of its two branches up to the body
 * where they meet, so that the counts are sums over subtrees: +1 at both ends, -2 at the meeting body. */
static void count_covers(search *s, const bool *cut) {
    memset(s->cover, 0, (size_t)(s->body_count + 1) * sizeof *s->cover);
    for (int e = 0; e < s->edge_count; e++) {
        if (!cut[e]) continue;
        for (int side = 0; side < 2; side++) s->cover[s->edges[e].bodies[side]]++;
        s->cover[s->meet[e]] -= 2;
    }
    for (int next = s->reached - 1; next > 0; next--) {
        int body = s->order[next];
        s->cover[s->up[body]] += s->cover[body];
    }
}

/* The edge that should close the loop of this cut edge: the one with most degrees of freedom; among these,
 * the one that reverses the shortest branch; among these, the user's first. */
static int best_cut(const search *s, int cut_edge) {
    const lw_edge *edges = s->edges;
    int same = edge_class(s, &edges[cut_edge]);
    int best = cut_edge, best_depth = INT_MAX;
    for (int side = 0; side < 2; side++) {
        for (int b = edges[cut_edge].bodies[side]; b != s->meet[cut_edge]; b = s->up[b]) {
            int e = s->up_edge[b], depth = s->depth[b];
            if (s->cover[b] != 1 || edge_class(s, &edges[e]) != same) continue;
            int gain = edges[e].freedom - edges[best].freedom;
            if (gain == 0) gain = depth - best_depth;
            if (gain == 0) gain = best - e;
            if (gain <= 0) continue;
            best = e;
            best_depth = depth;
        }
    }
    return best;
}

/* Recomputes all data of the tree and its loops after cuts have moved; returns the loops' total length. */
static int64_t view_tree(search *s, const bool *cut) {
    root_tree(s, cut);
    int64_t total = measure_loops(s, cut);
    count_covers(s, cut);
    return total;
}

static int64_t save_rows(search *s, bool *cut) {
    /* An exchange concerns no edge of another loop, so that all are found in the same tree and then made. */
    int *better = s->spare;
    for (int e = 0; e < s->edge_count; e++) better[e] = cut[e] ? best_cut(s, e) : e;
    for (int e = 0; e < s->edge_count; e++) {
        if (better[e] == e) continue;
        cut[e] = false;
        cut[better[e]] = true;
    }
    return view_tree(s, cut);
}

/* Sorts list by key (0 .. key_max), smallest first; equals keep their order. */
static void counting_sort(search *s, int key_max, int count) {
    memset(s->bins, 0, (size_t)(key_max + 2) * sizeof *s->bins);
    for (int i = 0; i < count; i++) s->bins[s->key[s->list[i]] + 1]++;
    for (int k = 0; k < key_max; k++) s->bins[k + 1] += s->bins[k];
    for (int i = 0; i < count; i++) s->spare[s->bins[s->key[s->list[i]]]++] = s->list[i];
    memcpy(s->list, s->spare, (size_t)count * sizeof *s->list);
}

/* Marks the edges of a loop or removes the marks; returns whether some edge lies on other loops, too. */
static bool mark_loop(search *s, int cut_edge, bool mark) {
    bool shared = false;
    for (int side = 0; side < 2; side++)
        for (int b = s->edges[cut_edge].bodies[side]; b != s->meet[cut_edge]; b = s->up[b]) {
            s->on_loop[b] = mark;
            s->saving[b] = 0;
            shared |= s->cover[b] > 1;
        }
    return shared;
}

/* Adds the decrease in length of the loop of another cut edge to the savings of each edge that this loop has
 * in common with the marked one. */
static void add_savings(search *s, int length, int other_cut) {
    const int *ends = s->edges[other_cut].bodies;
    int meet = s->meet[other_cut], common = 0;
    for (int side = 0; side < 2; side++)
        for (int b = ends[side]; b != meet; b = s->up[b]) common += s->on_loop[b];
    if (common == 0) return;
    for (int side = 0; side < 2; side++)
        for (int b = ends[side]; b != meet; b = s->up[b])
            if (s->on_loop[b]) s->saving[b] += 2 * common - length;
}

/* The edge whose cut, instead of the k-th in the list of cut edges, makes the loops shorter: the one with
 * most degrees of freedom; among these, the one that saves most, then the one that reverses the shortest
 * branch, then the user's first. */
static int shorter_cut(search *s, int count, int k, int64_t *work) {
    const lw_edge *edges = s->edges;
    int cut_edge = s->list[k];
    bool shared = mark_loop(s, cut_edge, true);
    for (int i = 0; i < count && shared; i++) {
        if (i != k) add_savings(s, s->length[cut_edge], s->list[i]);
        *work -= s->length[s->list[i]];
    }
    int same = edge_class(s, &edges[cut_edge]), best = cut_edge, best_body = -1;
    for (int side = 0; side < 2; side++) {
        for (int b = edges[cut_edge].bodies[side]; b != s->meet[cut_edge]; b = s->up[b]) {
            int e = s->up_edge[b];
            if (s->saving[b] <= 0 || edge_class(s, &edges[e]) != same) continue;
            int gain = edges[e].freedom - edges[best].freedom;
            if (gain == 0 && best_body < 0) gain = 1;
            if (gain == 0) gain = s->saving[b] - s->saving[best_body];
            if (gain == 0) gain = s->depth[b] - s->depth[best_body];
            if (gain == 0) gain = best - e;
            if (gain <= 0) continue;
            best = e;
            best_body = b;
        }
    }
    mark_loop(s, cut_edge, false);
    return best;
}

/* One pass through all loops, shortest first; true if a cut has moved. */
static bool shorten_loops(search *s, bool *cut, int64_t *work) {
    int count = 0;
    bool moved = false;
    for (int e = 0; e < s->edge_count; e++) {
        if (!cut[e]) continue;
        s->list[count++] = e;
        s->key[e] = s->length[e];
    }
    counting_sort(s, s->body_count + 1, count);
    for (int k = 0; *work > 0 && k < count; k++) {
        int e = s->list[k];
        if (s->edges[e].requested_cut || loads_massless(s, &s->edges[e])) continue;
        int better = shorter_cut(s, count, k, work);
        if (better == e) continue;
        cut[e] = false;
        cut[better] = true;
        s->list[k] = better;
        view_tree(s, cut);
        *work -= s->body_count + s->edge_count;
        moved = true;
    }
    return moved;
}

/* Makes both kinds of moves alternately until none is left. No move adds rows or length, so that the loop
 * ends; if a pass through all loops is too much work, only moves that save rows are made. Returns the total
 * length of the loops. */
static int64_t move_cuts(search *s, bool *cut) {
    int64_t total = view_tree(s, cut), work = WORK, count = 0;
    for (int e = 0; e < s->edge_count; e++) count += cut[e];
    total = save_rows(s, cut);
    if (count * total > work) return total;
    while (shorten_loops(s, cut, &work)) total = save_rows(s, cut);
    return total;
}

static void label_bodies(search *s, lw_graph *graph) {
    int n = s->body_count, count = 0;
    for (int b = 1; b <= n; b++)
        if (s->depth[b] >= 0) s->list[count++] = b;
    memcpy(s->key, s->depth, (size_t)(n + 1) * sizeof *s->key);
    counting_sort(s, n, count);

    int *height = s->key;
    memset(height, 0, (size_t)(n + 1) * sizeof *height);
    for (int next = s->reached - 1; next > 0; next--) {
        int body = s->order[next], parent = s->up[body];
        if (height[parent] <= height[body]) height[parent] = height[body] + 1;
    }
    /* height and key are the same array, so that ground, whose height is needed, comes last. */
    for (int b = n; b >= 0; b--) s->key[b] = height[0] - height[b];
    counting_sort(s, n, count);

    for (int b = 0; b <= n; b++) graph->body[b] = graph->label[b] = graph->parent[b] = graph->edge[b] = -1;
    graph->body[0] = graph->label[0] = 0;
    for (int i = 0; i < count; i++) {
        graph->body[i + 1] = s->list[i];
        graph->label[s->list[i]] = i + 1;
    }
    for (int i = 1; i <= count; i++) {
        graph->parent[i] = graph->label[s->up[graph->body[i]]];
        graph->edge[i] = s->up_edge[graph->body[i]];
    }
    graph->unreached = n - count;
}

static void write_loop(const search *s, int cut_edge, int *edge, int *sense) {
    const int *ends = s->edges[cut_edge].bodies;
    int first = 0, last = s->length[cut_edge];
    edge[first] = cut_edge;
    sense[first++] = 1;
    for (int b = ends[1]; b != s->meet[cut_edge]; b = s->up[b]) {
        edge[first] = s->up_edge[b];
        sense[first++] = sense_from(&s->edges[s->up_edge[b]], b);
    }
    for (int b = ends[0]; b != s->meet[cut_edge]; b = s->up[b]) {
        edge[--last] = s->up_edge[b];
        sense[last] = sense_from(&s->edges[s->up_edge[b]], s->up[b]);
    }
}

static lw_status list_loops(search *s, lw_arena *arena, lw_graph *graph) {
    int count = 0, total = 0;
    for (int e = 0; e < s->edge_count; e++) {
        if (!graph->cut[e]) continue;
        s->list[count++] = e;
        s->key[e] = s->length[e];
        total += s->length[e];
    }
    counting_sort(s, s->body_count + 1, count);

    graph->loop_count = count;
    graph->loop_start = LW_NEW(arena, int, count + 1);
    graph->loop_edge = LW_NEW(arena, int, total);
    graph->loop_sense = LW_NEW(arena, int, total);
    graph->loop_base = LW_NEW(arena, int, count);
    graph->loop_cut_at_massless = LW_NEW(arena, bool, count);
    if (lw_arena_failed(arena)) return LW_ERROR_MEMORY;
    for (int k = 0; k < count; k++) {
        int e = s->list[k], start = graph->loop_start[k];
        write_loop(s, e, graph->loop_edge + start, graph->loop_sense + start);
        graph->loop_start[k + 1] = start + s->length[e];
        graph->loop_base[k] = graph->label[s->meet[e]];
        graph->loop_cut_at_massless[k] = loads_massless(s, &s->edges[e]);
    }
    return LW_OK;
}

static bool take_memory(search *s, lw_arena *arena, lw_graph *graph) {
    size_t n = (size_t)s->body_count + 1, e = (size_t)s->edge_count, most = n > e ? n : e;
    s->start = LW_NEW(arena, int, n + 1);
    s->incident = LW_NEW(arena, int, 2 * e);
    s->group = LW_NEW(arena, int, CLASSES *n);
    s->entered = LW_NEW(arena, bool, CLASSES *n);
    s->kept = LW_NEW(arena, bool, e);
    s->trial = LW_NEW(arena, bool, e);
    s->other = LW_NEW(arena, bool, e);
    s->order = LW_NEW(arena, int, n);
    s->up = LW_NEW(arena, int, n);
    s->up_edge = LW_NEW(arena, int, n);
    s->skip = LW_NEW(arena, int, n);
    s->depth = LW_NEW(arena, int, n);
    s->meet = LW_NEW(arena, int, e);
    s->length = LW_NEW(arena, int, e);
    s->cover = LW_NEW(arena, int, n);
    s->on_loop = LW_NEW(arena, bool, n);
    s->saving = LW_NEW(arena, int, n);
    s->key = LW_NEW(arena, int, most);
    s->list = LW_NEW(arena, int, most);
    s->spare = LW_NEW(arena, int, most);
    s->bins = LW_NEW(arena, int, n + 2);
    graph->body = LW_NEW(arena, int, n);
    graph->label = LW_NEW(arena, int, n);
    graph->parent = LW_NEW(arena, int, n);
    graph->edge = LW_NEW(arena, int, n);
    graph->cut = LW_NEW(arena, bool, e);
    return !lw_arena_failed(arena);
}

/* Chooses the cuts by one rule for bodies without mass; returns the total length of the loops. */
static int64_t choose_cuts(search *s, bool *cut) {
    find_groups(s);
    int64_t total = choose_tree(s, cut);
    return total > INT_MAX ? total : move_cuts(s, cut);
}

lw_status lw_graph_analyse(lw_arena *arena, int body_count, const bool *massless, int edge_count,
                           const lw_edge *edges, lw_graph *graph) {
    for (int e = 0; e < edge_count; e++) {
        const int *ends = edges[e].bodies;
        if (ends[0] == ends[1]) return LW_ERROR_ARGUMENT;
        for (int side = 0; side < 2; side++)
            if (ends[side] < 0 || ends[side] > body_count) return LW_ERROR_ARGUMENT;
    }
    search s = {.body_count = body_count, .edge_count = edge_count, .massless = massless, .edges = edges};
    *graph = (lw_graph){.body_count = body_count, .edge_count = edge_count};
    if (!take_memory(&s, arena, graph)) return LW_ERROR_MEMORY;

    list_incident_edges(&s);
    s.spares = true;
    int64_t total = choose_cuts(&s, graph->cut);
    bool any = false;
    for (int b = 1; b <= body_count; b++) any |= massless[b];
    if (any && total <= INT_MAX) {
        s.spares = false;
        graph->short_beside_massless = 2 * choose_cuts(&s, s.other) < total;
        s.spares = !graph->short_beside_massless;
        if (!s.spares) memcpy(graph->cut, s.other, (size_t)edge_count * sizeof *s.other);
        total = view_tree(&s, graph->cut);
    }
    if (total > INT_MAX) return LW_ERROR_MEMORY;
    label_bodies(&s, graph);
    return list_loops(&s, arena, graph);
}

/* test_graph.c - spanning tree, regular labelling and loops: the example of Mufti (1983), mechanisms with a
 * known answer, properties of hundreds of random graphs against slow and literal versions, and very large
 * graphs.
 */
#include "model/graph.h"
#include "random_model.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST_BODIES = 64, MOST_EDGES = 160 };

typedef struct problem {
    int body_count, edge_count;
    bool massless[MOST_BODIES + 1];
    lw_edge edges[MOST_EDGES];
} problem;

static void shuffle(lw_random *random, int count, int *list) {
    for (int i = count - 1; i > 0; i--) {
        int j = random_below(random, i + 1), swap = list[i];
        list[i] = list[j];
        list[j] = swap;
    }
}

static lw_arena *arena;

static int create_arena(void **state) {
    (void)state;
    arena = lw_arena_create(NULL);
    return arena ? 0 : -1;
}

static int destroy_arena(void **state) {
    (void)state;
    lw_arena_destroy(arena);
    return 0;
}

static lw_graph analyse(const problem *p) {
    lw_graph graph;
    assert_int_equal(lw_graph_analyse(arena, p->body_count, p->massless, p->edge_count, p->edges, &graph),
                     LW_OK);
    return graph;
}

static void join(problem *p, int a, int b, int freedom) {
    p->edges[p->edge_count++] = (lw_edge){.bodies = {a, b}, .freedom = freedom};
}

/* --- slow, literal versions of what graph.c does -------------------------------------------------- */

static bool at_massless(const problem *p, const lw_edge *edge) {
    bool massless = (edge->bodies[0] && p->massless[edge->bodies[0]]) ||
                    (edge->bodies[1] && p->massless[edge->bodies[1]]);
    return massless && edge->freedom < 6;
}

/* The rules for cuts: 0 is the worst place to cut, 8 the best. */
enum { REGRETS = 9 };
static int regret(const problem *p, const lw_edge *edge) {
    int wish = edge->requested_cut ? 2 : edge->keep ? 0 : 1;
    if (wish == 0 && edge->keep == LW_KEEP_ALWAYS) return 0;
    if (at_massless(p, edge)) return wish;
    if (wish == 1) return edge->freedom == 6 ? 7 : 6;
    return wish == 2 ? 8 : 6 - (int)edge->keep;
}

/* Steps from ground to every body over the edges in use (NULL: all), by relaxing until nothing changes; -1:
 * none. */
static void distances(const problem *p, const bool *use, int *distance) {
    for (int b = 0; b <= p->body_count; b++) distance[b] = b ? -1 : 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int e = 0; e < p->edge_count; e++) {
            if (use && !use[e]) continue;
            for (int side = 0; side < 2; side++) {
                int from = p->edges[e].bodies[side], to = p->edges[e].bodies[1 - side];
                if (distance[from] < 0) continue;
                if (distance[to] >= 0 && distance[to] <= distance[from] + 1) continue;
                distance[to] = distance[from] + 1;
                changed = true;
            }
        }
    }
}

/* Would an edge of this class lead into a group that is entered: is one of the bodies seen connected to this
 * body by edges of lower classes? */
static bool group_entered(const problem *p, int class, int body, const bool *seen) {
    bool group[MOST_BODIES + 1] = {false};
    group[body] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (int e = 0; e < p->edge_count; e++) {
            const int *ends = p->edges[e].bodies;
            if (regret(p, &p->edges[e]) >= class || group[ends[0]] == group[ends[1]]) continue;
            group[ends[0]] = group[ends[1]] = changed = true;
        }
    }
    for (int b = 0; b <= p->body_count; b++)
        if (group[b] && seen[b]) return true;
    return false;
}

/* Total length of the loops of a tree, by going up from both ends of each cut. */
static int total_length(const problem *p, const bool *tree) {
    int depth[MOST_BODIES + 1], up[MOST_BODIES + 1] = {0}, total = 0;
    distances(p, tree, depth);
    for (int e = 0; e < p->edge_count; e++) {
        int a = p->edges[e].bodies[0], b = p->edges[e].bodies[1];
        if (tree[e]) up[depth[a] > depth[b] ? a : b] = depth[a] > depth[b] ? b : a;
    }
    for (int e = 0; e < p->edge_count; e++) {
        int a = p->edges[e].bodies[0], b = p->edges[e].bodies[1];
        if (tree[e] || depth[a] < 0) continue;
        for (total++; a != b; total++) {
            if (depth[a] >= depth[b])
                a = up[a];
            else
                b = up[b];
        }
    }
    return total;
}

/* Total loop length of the breadth-first tree before any cut is moved, grown by scanning the user's edges body
 * by body. */
static int breadth_first_total(const problem *p) {
    int queue[MOST_BODIES + 1] = {0}, count = 1;
    bool seen[MOST_BODIES + 1] = {true}, tree[MOST_EDGES] = {false};
    for (int next = 0; next < count; next++)
        for (int e = 0; e < p->edge_count; e++)
            for (int side = 0; side < 2; side++) {
                int other = p->edges[e].bodies[1 - side];
                if (p->edges[e].bodies[side] != queue[next]) continue;
                if (group_entered(p, regret(p, &p->edges[e]), other, seen)) continue;
                seen[other] = tree[e] = true;
                queue[count++] = other;
            }
    return total_length(p, tree);
}

/* Labels by stripping leaves, literally as in sect. 2 of the paper. */
static void strip_leaves(const problem *p, const lw_graph *g, const int *depth, int *label) {
    int left = p->body_count - g->unreached, up[MOST_BODIES + 1];
    bool present[MOST_BODIES + 1] = {false};
    for (int i = 1; i <= left; i++) {
        up[g->body[i]] = g->body[g->parent[i]];
        present[g->body[i]] = true;
    }
    while (left > 0) {
        bool leaf[MOST_BODIES + 1];
        memcpy(leaf, present, sizeof leaf);
        for (int b = 1; b <= p->body_count; b++)
            if (present[b]) leaf[up[b]] = false;
        leaf[0] = false;
        for (;;) { /* the highest number goes to the deepest leaf, of these to the user's last */
            int last = 0;
            for (int b = 1; b <= p->body_count; b++)
                if (leaf[b] && (last == 0 || depth[b] >= depth[last])) last = b;
            if (last == 0) break;
            label[last] = left--;
            leaf[last] = present[last] = false;
        }
    }
}

/* --- properties that every graph must have -------------------------------------------------------- */

static void check_tree(const problem *p, const lw_graph *g) {
    int distance[MOST_BODIES + 1], depth[MOST_BODIES + 1], label[MOST_BODIES + 1], unreached = 0;
    bool tree[MOST_EDGES] = {false};
    distances(p, NULL, distance);
    for (int b = 0; b <= p->body_count; b++) {
        unreached += distance[b] < 0;
        assert_int_equal(g->label[b] < 0, distance[b] < 0);
        if (g->label[b] >= 0) assert_int_equal(g->body[g->label[b]], b);
    }
    assert_int_equal(g->unreached, unreached);
    assert_int_equal(g->label[0], 0);
    for (int i = 1; i <= p->body_count - unreached; i++) {
        const int *ends = p->edges[g->edge[i]].bodies;
        assert_in_range(g->parent[i], 0, i - 1);
        int side = ends[1] == g->body[i];
        assert_int_equal(ends[side], g->body[i]);
        assert_int_equal(ends[1 - side], g->body[g->parent[i]]);
        assert_false(tree[g->edge[i]]);
        tree[g->edge[i]] = true;
    }
    for (int e = 0; e < p->edge_count; e++)
        assert_int_equal(g->cut[e], distance[p->edges[e].bodies[0]] >= 0 && !tree[e]);
    distances(p, tree, depth);
    strip_leaves(p, g, depth, label);
    for (int b = 1; b <= p->body_count; b++)
        if (distance[b] >= 0) assert_int_equal(g->label[b], label[b]);
}

static bool is_ancestor(const lw_graph *g, int ancestor, int label) {
    while (label > ancestor) label = g->parent[label];
    return label == ancestor;
}

static void check_loop(const problem *p, const lw_graph *g, int k, int *cover) {
    const int *edge = g->loop_edge + g->loop_start[k], *sense = g->loop_sense + g->loop_start[k];
    int length = g->loop_start[k + 1] - g->loop_start[k];
    bool met[MOST_BODIES + 1] = {false};
    assert_true(length >= 2);
    assert_true(g->cut[edge[0]]);
    assert_int_equal(sense[0], 1);
    int at = p->edges[edge[0]].bodies[0], lowest = INT_MAX;
    for (int i = 0; i < length; i++) {
        assert_true(sense[i] == 1 || sense[i] == -1);
        if (i > 0) assert_false(g->cut[edge[i]]);
        assert_int_equal(p->edges[edge[i]].bodies[sense[i] < 0], at);
        at = p->edges[edge[i]].bodies[sense[i] > 0];
        assert_false(met[at]);
        met[at] = true;
        if (g->label[at] < lowest) lowest = g->label[at];
        cover[edge[i]]++;
    }
    assert_int_equal(at, p->edges[edge[0]].bodies[0]);
    assert_int_equal(g->loop_base[k], lowest);
    for (int side = 0; side < 2; side++)
        assert_true(is_ancestor(g, lowest, g->label[p->edges[edge[0]].bodies[side]]));
    assert_int_equal(g->loop_cut_at_massless[k], at_massless(p, &p->edges[edge[0]]));
}

static void check_loops(const problem *p, const lw_graph *g) {
    int cover[MOST_EDGES] = {0}, cuts = 0, reached_edges = 0;
    for (int e = 0; e < p->edge_count; e++) {
        cuts += g->cut[e];
        reached_edges += g->label[p->edges[e].bodies[0]] >= 0;
    }
    assert_int_equal(g->loop_count, cuts);
    assert_int_equal(g->loop_count, reached_edges - (p->body_count - g->unreached));
    for (int k = 0; k < g->loop_count; k++) {
        check_loop(p, g, k, cover);
        if (k == 0) continue;
        const int *start = g->loop_start + k - 1;
        int longer = (start[2] - start[1]) - (start[1] - start[0]);
        assert_true(longer > 0 || (longer == 0 && g->loop_edge[start[0]] < g->loop_edge[start[1]]));
    }
    for (int k = 0; k < g->loop_count; k++) {
        const lw_edge *cut = &p->edges[g->loop_edge[g->loop_start[k]]];
        for (int i = g->loop_start[k] + 1; i < g->loop_start[k + 1]; i++) {
            const lw_edge *other = &p->edges[g->loop_edge[i]];
            /* No exchange makes a better base: for a matroid this proves the best one. */
            assert_true(regret(p, other) <= regret(p, cut));
            if (cover[g->loop_edge[i]] == 1 && regret(p, other) == regret(p, cut))
                assert_true(other->freedom <= cut->freedom);
        }
    }
}

static void check(const problem *p, const lw_graph *g) {
    check_tree(p, g);
    check_loops(p, g);
}

/* --- the example of the paper --------------------------------------------------------------------- */

/* C of (1) with -e1 before it, S of (22), and T of (25) from the paths to ground; one body
 * stands on ground. */
static void incidence_and_paths(const lw_graph *g, int s[6][6], int t[6][6]) {
    memset(s, 0, 36 * sizeof(int));
    memset(t, 0, 36 * sizeof(int));
    for (int arc = 1; arc <= 6; arc++) { /* arc i, the edge into body i, is h_(i-1) of the paper */
        s[arc - 1][arc - 1] = -1;
        if (g->parent[arc] > 0) s[g->parent[arc] - 1][arc - 1] = 1;
    }
    for (int body = 1; body <= 6; body++)
        for (int i = body; i > 0; i = g->parent[i]) t[i - 1][body - 1] = -1;
}

static void check_six_bodies(const problem *p) {
    static const int c[6][5] = {{1, 1, 0, 0, 0},  {-1, 0, 1, 1, 1}, {0, -1, 0, 0, 0},
                                {0, 0, -1, 0, 0}, {0, 0, 0, -1, 0}, {0, 0, 0, 0, -1}};
    static const int paths[6][6] = {{-1, -1, -1, -1, -1, -1}, {0, -1, 0, -1, -1, -1}, {0, 0, -1, 0, 0, 0},
                                    {0, 0, 0, -1, 0, 0},      {0, 0, 0, 0, -1, 0},    {0, 0, 0, 0, 0, -1}};
    lw_graph g = analyse(p);
    int s[6][6], t[6][6];
    check(p, &g);
    assert_int_equal(g.loop_count, 0);
    incidence_and_paths(&g, s, t);
    assert_memory_equal(t, paths, sizeof paths);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(s[i][0], i == 0 ? -1 : 0);
        assert_memory_equal(&s[i][1], c[i], sizeof c[i]);
        for (int j = 0; j < 6; j++) {
            int product = 0;
            for (int k = 0; k < 6; k++) product += s[i][k] * t[k][j];
            assert_int_equal(product, i == j);
        }
    }
}

static void six_body_example(void **state) {
    (void)state;
    static const int regular[6][2] = {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {2, 5}, {2, 6}};   /* Fig. 3a */
    static const int arbitrary[6][2] = {{0, 1}, {1, 5}, {1, 4}, {4, 6}, {4, 2}, {4, 3}}; /* Fig. 3b */
    problem a = {.body_count = 6}, b = {.body_count = 6};
    for (int e = 0; e < 6; e++) {
        join(&a, regular[e][0], regular[e][1], 3);
        join(&b, arbitrary[e][0], arbitrary[e][1], 3);
    }
    check_six_bodies(&a);
    check_six_bodies(&b);
    lw_random random = random_seed(1983);
    for (int trial = 0; trial < 200; trial++) {
        int body[7] = {0, 1, 2, 3, 4, 5, 6}, edge[6] = {0, 1, 2, 3, 4, 5};
        shuffle(&random, 6, body + 1);
        shuffle(&random, 6, edge);
        problem p = {.body_count = 6};
        for (int e = 0; e < 6; e++) {
            int turn = random_below(&random, 2);
            join(&p, body[regular[edge[e]][turn]], body[regular[edge[e]][1 - turn]], 3);
        }
        check_six_bodies(&p);
    }
}

/* --- mechanisms with a known answer --------------------------------------------------------------- */

static problem four_bar(void) {
    problem p = {.body_count = 3}; /* crank, coupler, rocker */
    join(&p, 0, 1, 1);
    join(&p, 1, 2, 1);
    join(&p, 2, 3, 1);
    join(&p, 3, 0, 1);
    return p;
}

static int only_cut(const problem *p) {
    lw_graph g = analyse(p);
    check(p, &g);
    assert_int_equal(g.loop_count, 1);
    return g.loop_edge[0];
}

static void four_bar_cut(void **state) {
    (void)state;
    problem p = four_bar();
    lw_graph g = analyse(&p);
    check(&p, &g);
    static const int edge[4] = {2, 3, 0, 1}, label[4] = {0, 1, 3, 2};
    assert_int_equal(g.loop_count, 1);
    assert_memory_equal(g.loop_edge, edge, sizeof edge);
    assert_memory_equal(g.label, label, sizeof label);
    for (int i = 0; i < 4; i++) assert_int_equal(g.loop_sense[i], 1);
    assert_int_equal(g.loop_base[0], 0);
    assert_false(g.loop_cut_at_massless[0]);

    for (int e = 0; e < 4; e++) {
        problem more_freedom = four_bar();
        more_freedom.edges[e].freedom = 3;
        assert_int_equal(only_cut(&more_freedom), e);
        more_freedom.edges[e].keep = LW_KEEP_VALUES; /* then freedom does not count */
        assert_int_not_equal(only_cut(&more_freedom), e);
        more_freedom.edges[e].requested_cut = true; /* but a wish does */
        assert_int_equal(only_cut(&more_freedom), e);

        problem wish = four_bar();
        wish.edges[e].requested_cut = true;
        wish.edges[(e + 1) % 4].freedom = 3;
        assert_int_equal(only_cut(&wish), e);
    }
}

static void massless_bodies(void **state) {
    (void)state;
    for (int body = 1; body <= 3; body++) {
        problem p = four_bar();
        p.massless[body] = true;
        p.edges[body].freedom = 3;
        p.edges[body].requested_cut = true; /* joins bodies body and body + 1 */
        p.edges[(body + 1) % 4].keep =
            body % 2 == 0 ? LW_KEEP_REVOLUTIONS : LW_KEEP_NOT; /* not at the massless body */
        p.edges[(body + 2) % 4].keep = body % 2 == 0 ? LW_KEEP_REVOLUTIONS : LW_KEEP_NOT;
        int cut = only_cut(&p);
        assert_true(cut == (body + 1) % 4 || cut == (body + 2) % 4);
    }
    problem none = four_bar(); /* crank and rocker: every joint is at a massless body */
    none.massless[1] = none.massless[3] = true;
    none.edges[1].requested_cut = true;
    lw_graph g = analyse(&none);
    check(&none, &g);
    assert_int_equal(g.loop_edge[0], 1);
    assert_true(g.loop_cut_at_massless[0]);

    none.edges[0].freedom = 6; /* a free joint loads nothing */
    g = analyse(&none);
    check(&none, &g);
    assert_int_equal(g.loop_edge[0], 0);
    assert_false(g.loop_cut_at_massless[0]);

    problem coupled = four_bar(); /* the only joint that is at no massless body needs its coordinate */
    coupled.massless[1] = coupled.massless[2] = true;
    coupled.edges[3].keep = LW_KEEP_VALUES;
    assert_int_equal(only_cut(&coupled), 3);
    coupled.edges[3].keep = LW_KEEP_ALWAYS;
    assert_int_not_equal(only_cut(&coupled), 3);

    problem ground = four_bar(); /* ground is never massless */
    ground.massless[0] = true;
    assert_int_equal(only_cut(&ground), 2);
}

/* Two four-bars with a common upright c, where b is massless: breadth first, c is reached through b, D is cut,
 * and the second loop goes all the way round. */
static void loops_are_short_past_a_massless_body(void **state) {
    (void)state;
    enum { A, B, C, D, E, F, G };
    problem p = {.body_count = 5}; /* a, b, c, d, e */
    p.massless[2] = true;
    join(&p, 0, 1, 1);
    join(&p, 1, 2, 1);
    join(&p, 2, 3, 1);
    join(&p, 3, 0, 1);
    join(&p, 3, 4, 1);
    join(&p, 4, 5, 1);
    join(&p, 5, 0, 1);
    lw_graph g = analyse(&p);
    check(&p, &g);
    static const int edge[8] = {A, B, C, D, E, F, G, D}, sense[8] = {1, 1, 1, 1, 1, 1, 1, -1};
    assert_int_equal(breadth_first_total(&p), 10);
    assert_int_equal(g.loop_count, 2);
    assert_int_equal(g.loop_start[1], 4);
    assert_int_equal(g.loop_start[2], 8);
    assert_memory_equal(g.loop_edge, edge, sizeof edge);
    assert_memory_equal(g.loop_sense, sense, sizeof sense);

    p.edges[D].requested_cut = true; /* a wish is not moved */
    g = analyse(&p);
    check(&p, &g);
    assert_true(g.cut[D]);
    p.edges[D].requested_cut = false;
    p.edges[A].keep = LW_KEEP_VALUES; /* nor does the cut go to a worse class */
    g = analyse(&p);
    check(&p, &g);
    assert_true(g.cut[D]);
    p.edges[A].keep = LW_KEEP_NOT;
    p.edges[D].freedom = 2; /* nor is a row paid for it */
    g = analyse(&p);
    check(&p, &g);
    assert_true(g.cut[D]);
}

/* Bodies in absolute coordinates: free joints to ground all round and a ring of pins. Cutting free joints
 * costs nothing, so one closure is left; a tree of free joints would have a closure for each pin. */
static void free_joints_are_cut_first(void **state) {
    (void)state;
    enum { N = 6 };
    problem p = {.body_count = N};
    for (int b = 1; b <= N; b++) join(&p, 0, b, 6);
    for (int b = 1; b <= N; b++) join(&p, b, b % N + 1, 1);
    lw_graph g = analyse(&p);
    check(&p, &g);
    int rows = 0;
    for (int e = 0; e < p.edge_count; e++)
        if (g.cut[e]) rows += 6 - p.edges[e].freedom;
    assert_int_equal(g.loop_count, N);
    assert_int_equal(rows, 5);
}

static void degenerate_graphs(void **state) {
    (void)state;
    problem empty = {0};
    lw_graph g = analyse(&empty);
    check(&empty, &g);
    assert_int_equal(g.loop_count, 0);
    assert_int_equal(g.loop_start[0], 0);

    problem loose = {.body_count = 3}; /* 2 and 3 hang together twice, but not on ground */
    join(&loose, 0, 1, 1);
    join(&loose, 2, 3, 1);
    join(&loose, 3, 2, 1);
    g = analyse(&loose);
    check(&loose, &g);
    assert_int_equal(g.unreached, 2);
    assert_int_equal(g.loop_count, 0);

    problem no_edges = {.body_count = 2};
    g = analyse(&no_edges);
    check(&no_edges, &g);
    assert_int_equal(g.unreached, 2);

    problem parallel = {.body_count = 2}; /* three joints between the same bodies */
    join(&parallel, 0, 1, 1);
    join(&parallel, 1, 2, 1);
    join(&parallel, 2, 1, 1);
    join(&parallel, 1, 2, 1);
    g = analyse(&parallel);
    check(&parallel, &g);
    assert_int_equal(g.loop_count, 2);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(g.loop_start[k + 1] - g.loop_start[k], 2);
        assert_int_equal(g.loop_base[k], 1);
    }

    static const int wrong[3][2] = {{1, 1}, {0, 3}, {-1, 1}};
    for (int i = 0; i < 3; i++) {
        problem p = {.body_count = 2};
        join(&p, wrong[i][0], wrong[i][1], 1);
        assert_int_equal(lw_graph_analyse(arena, 2, p.massless, 1, p.edges, &g), LW_ERROR_ARGUMENT);
    }
}

/* --- random graphs -------------------------------------------------------------------------------- */

static problem random_problem(lw_random *random, int most_bodies, int most_extra, bool plain) {
    problem p = {.body_count = 1 + random_below(random, most_bodies)};
    int name[MOST_BODIES + 1];
    for (int b = 0; b <= p.body_count; b++) name[b] = b;
    shuffle(random, p.body_count, name + 1);
    int near = random_below(random, 2) ? 3 : p.body_count; /* long or bushy */
    int loose = random_below(random, 8) == 0 ? 1 + random_below(random, p.body_count) : 0;
    for (int b = 1; b <= p.body_count; b++) {
        int back = 1 + random_below(random, b < near ? b : near);
        if (b != loose) join(&p, name[b], name[b - back], 0);
    }
    for (int extra = random_below(random, most_extra + 1); extra > 0; extra--) {
        int a = random_below(random, p.body_count + 1), b = random_below(random, p.body_count + 1);
        if (a != b) join(&p, a, b, 0);
    }
    int order[MOST_EDGES];
    for (int e = 0; e < p.edge_count; e++) order[e] = e;
    shuffle(random, p.edge_count, order);
    problem mixed = p;
    for (int e = 0; e < p.edge_count; e++) {
        mixed.edges[e] = p.edges[order[e]];
        mixed.edges[e].freedom = random_below(random, plain ? 6 : 7);
        if (plain) continue;
        mixed.edges[e].keep = random_below(random, 3) ? LW_KEEP_NOT : (lw_keep)random_below(random, 5);
        mixed.edges[e].requested_cut = random_below(random, 5) == 0;
    }
    for (int b = 0; b <= p.body_count && !plain; b++) mixed.massless[b] = random_below(random, 5) == 0;
    return mixed;
}

/* Says which seed failed, as cmocka leaves the test by a jump. */
static int running;
static int report_seed(void **state) {
    if (running >= 0) fprintf(stderr, "seed %d\n", running);
    return destroy_arena(state);
}

static void random_graphs(void **state) {
    (void)state;
    for (running = 0; running < 600; running++) {
        lw_random random = random_seed((uint64_t)running);
        problem p = random_problem(&random, running % 3 ? 12 : MOST_BODIES, running % 4 * 10, false);
        lw_graph g = analyse(&p);
        check(&p, &g);
    }
    running = -1;
}

/* One class and one freedom, so the tree is the breadth-first one unless another has shorter loops. */
static void plain_graphs_have_short_loops(void **state) {
    (void)state;
    for (running = 0; running < 400; running++) {
        lw_random random = random_seed((uint64_t)running);
        problem p = random_problem(&random, running % 3 ? 12 : MOST_BODIES, running % 4 * 10, true);
        for (int e = 0; e < p.edge_count; e++) p.edges[e].freedom = 1;
        lw_graph g = analyse(&p);
        check(&p, &g);
        int total = g.loop_start[g.loop_count], bound = breadth_first_total(&p);
        assert_true(total <= bound);
        if (total != bound) continue;
        int distance[MOST_BODIES + 1], depth[MOST_BODIES + 1] = {0};
        distances(&p, NULL, distance);
        for (int i = 1; i <= p.body_count - g.unreached; i++) {
            depth[i] = depth[g.parent[i]] + 1;
            assert_int_equal(depth[i], distance[g.body[i]]);
        }
    }
    running = -1;
}

/* Loops are no longer than those of the breadth-first tree, often shorter, and no permitted move of a cut that
 * costs no row would make them shorter still; every move is tried. */
static void no_move_makes_loops_shorter(void **state) {
    (void)state;
    int shorter = 0;
    for (running = 0; running < 400; running++) {
        lw_random random = random_seed((uint64_t)running);
        problem p = random_problem(&random, running % 3 ? 10 : 25, 1 + running % 4 * 5, running % 5 == 0);
        lw_graph g = analyse(&p);
        bool tree[MOST_EDGES] = {false};
        for (int i = 1; i <= p.body_count - g.unreached; i++) tree[g.edge[i]] = true;
        int total = total_length(&p, tree), bound = breadth_first_total(&p);
        assert_int_equal(g.loop_start[g.loop_count], total);
        assert_true(total <= bound);
        shorter += total < bound;
        for (int k = 0; k < g.loop_count; k++) {
            int cut = g.loop_edge[g.loop_start[k]];
            if (p.edges[cut].requested_cut || g.loop_cut_at_massless[k]) continue;
            for (int i = g.loop_start[k] + 1; i < g.loop_start[k + 1]; i++) {
                int other = g.loop_edge[i];
                if (regret(&p, &p.edges[other]) != regret(&p, &p.edges[cut])) continue;
                if (p.edges[other].freedom < p.edges[cut].freedom) continue;
                tree[cut] = true;
                tree[other] = false;
                assert_true(total_length(&p, tree) >= total);
                tree[cut] = false;
                tree[other] = true;
            }
        }
    }
    running = -1;
    assert_true(shorter > 20);
}

/* All spanning trees of small graphs: none keeps more of the worst cuts, of the next worst, and so on. */
static void best_of_all_spanning_trees(void **state) {
    (void)state;
    for (running = 0; running < 300; running++) {
        lw_random random = random_seed((uint64_t)running);
        problem p = random_problem(&random, 5, 5, false);
        lw_graph g = analyse(&p);
        int reached = p.body_count - g.unreached, fewest = INT_MAX, cuts_here = 0; /* of classes 0 to 2 */
        int best[REGRETS] = {0}, here[REGRETS] = {0};
        for (unsigned set = 0; set < 1u << p.edge_count; set++) {
            bool use[MOST_EDGES];
            int used = 0, cuts = 0, kept[REGRETS] = {0}, distance[MOST_BODIES + 1], found = 0;
            for (int e = 0; e < p.edge_count; e++) {
                use[e] = set >> e & 1;
                used += use[e];
            }
            if (used != reached) continue;
            distances(&p, use, distance);
            for (int b = 1; b <= p.body_count; b++) found += distance[b] >= 0;
            if (found != reached) continue;
            for (int e = 0; e < p.edge_count; e++) {
                if (use[e]) kept[regret(&p, &p.edges[e])]++;
                cuts += !use[e] && distance[p.edges[e].bodies[0]] >= 0 && regret(&p, &p.edges[e]) < 3;
            }
            if (cuts < fewest) fewest = cuts;
            int c = 0;
            while (c < REGRETS - 1 && kept[c] == best[c]) c++;
            if (kept[c] > best[c]) memcpy(best, kept, sizeof best);
        }
        for (int i = 1; i <= reached; i++) here[regret(&p, &p.edges[g.edge[i]])]++;
        for (int k = 0; k < g.loop_count; k++)
            cuts_here += regret(&p, &p.edges[g.loop_edge[g.loop_start[k]]]) < 3;
        assert_memory_equal(here, best, sizeof best);
        assert_int_equal(cuts_here, fewest);
    }
    running = -1;
}

#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, create_arena, destroy_arena)
#define RANDOM_TEST(name) cmocka_unit_test_setup_teardown(name, create_arena, report_seed)

int main(void) {
    const struct CMUnitTest tests[] = {
        GRAPH_TEST(six_body_example),
        GRAPH_TEST(four_bar_cut),
        GRAPH_TEST(massless_bodies),
        GRAPH_TEST(loops_are_short_past_a_massless_body),
        GRAPH_TEST(free_joints_are_cut_first),
        GRAPH_TEST(degenerate_graphs),
        RANDOM_TEST(random_graphs),
        RANDOM_TEST(plain_graphs_have_short_loops),
        RANDOM_TEST(no_move_makes_loops_shorter),
        RANDOM_TEST(best_of_all_spanning_trees),
    };
    return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}

/* test_graph_large.c - graphs of 100000 bodies: linear memory, short loops, no recursion on the stack;
 * and what happens when memory runs out.
 */
#include "model/graph.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

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

typedef struct large {
    int body_count, edge_count;
    bool *massless;
    lw_edge *edges;
    lw_graph graph;
} large;

static large large_create(int bodies, int most_edges) {
    large p = {.body_count = bodies};
    p.massless = LW_NEW(arena, bool, bodies + 1);
    p.edges = LW_NEW(arena, lw_edge, most_edges);
    assert_non_null(p.massless);
    assert_non_null(p.edges);
    return p;
}

static void large_join(large *p, int a, int b) {
    p->edges[p->edge_count++] = (lw_edge){.bodies = {a, b}, .freedom = 1};
}

static lw_status large_analyse(large *p) {
    return lw_graph_analyse(arena, p->body_count, p->massless, p->edge_count, p->edges, &p->graph);
}

enum { LARGE = 100000 };

static void large_trees(void **state) {
    (void)state;
    large chain = large_create(LARGE, LARGE), star = large_create(LARGE, LARGE);
    for (int b = LARGE; b >= 1; b--) {
        large_join(&chain, b, b - 1);
        large_join(&star, 0, b);
    }
    assert_int_equal(large_analyse(&chain), LW_OK);
    assert_int_equal(large_analyse(&star), LW_OK);
    for (int b = 1; b <= LARGE; b++) {
        assert_int_equal(chain.graph.label[b], b);
        assert_int_equal(chain.graph.parent[b], b - 1);
        assert_int_equal(star.graph.label[b], b);
        assert_int_equal(star.graph.parent[b], 0);
    }
}

static void large_ring(void **state) {
    (void)state;
    large ring = large_create(LARGE, LARGE + 1);
    for (int b = 1; b <= LARGE; b++) large_join(&ring, b - 1, b);
    large_join(&ring, LARGE, 0);
    assert_int_equal(large_analyse(&ring), LW_OK);
    assert_int_equal(ring.graph.loop_count, 1);
    assert_int_equal(ring.graph.loop_start[1], LARGE + 1);
    assert_int_equal(ring.graph.loop_edge[0], LARGE / 2); /* half way round, so that no branch is deeper */
}

/* Anderson and Critchley (2003), Fig. 9: rungs hang from ground, a bar joins the tips of neighbours. */
static void large_ladder_on_ground(void **state) {
    (void)state;
    large ladder = large_create(2 * LARGE + 1, 3 * LARGE + 1); /* rungs 1, 3, 5 .., bars between */
    for (int b = 1; b <= 2 * LARGE + 1; b += 2) large_join(&ladder, 0, b);
    for (int b = 2; b <= 2 * LARGE; b += 2) {
        large_join(&ladder, b - 1, b);
        large_join(&ladder, b, b + 1);
    }
    assert_int_equal(large_analyse(&ladder), LW_OK);
    assert_int_equal(ladder.graph.loop_count, LARGE);
    for (int k = 0; k <= LARGE; k++) assert_int_equal(ladder.graph.loop_start[k], 4 * k);
    for (int k = 0; k < LARGE; k++) assert_int_equal(ladder.graph.loop_base[k], 0);
}

/* Two rails that stand on ground, with rungs: breadth-first, rung i would close a loop back to ground of
 * length 2 i + 1, in all 10^10. */
static void large_tower(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) { /* rungs before rails, rails before rungs */
        large tower = large_create(2 * LARGE, 3 * LARGE);
        for (int pass = 0; pass < 2; pass++)
            for (int i = 1; i <= LARGE; i++) {
                int left = 2 * i - 1, right = 2 * i;
                if (pass == first) {
                    large_join(&tower, left, right);
                } else {
                    large_join(&tower, i > 1 ? left - 2 : 0, left);
                    large_join(&tower, i > 1 ? right - 2 : 0, right);
                }
            }
        assert_int_equal(large_analyse(&tower), LW_OK);
        assert_int_equal(tower.graph.loop_count, LARGE);
        assert_true(tower.graph.loop_start[LARGE] <= 6 * LARGE); /* a cell has 4 joints; two cells 6 */
    }
}

/* Two long chains, not to be cut, whose tips are joined by many chords: more than an int can count, told at
 * once. */
static void too_long_loops(void **state) {
    (void)state;
    enum { CHORDS = 3 * LARGE };
    large p = large_create(2 * LARGE, 2 * LARGE + CHORDS);
    for (int b = 1; b <= 2 * LARGE; b++) large_join(&p, b > 2 ? b - 2 : 0, b);
    for (int i = 0; i < CHORDS; i++) large_join(&p, 2 * LARGE - 1, 2 * LARGE);
    for (int i = 0; i < 2 * LARGE; i++) p.edges[i].keep = true;
    assert_int_equal(large_analyse(&p), LW_ERROR_MEMORY);
}

/* --- memory --------------------------------------------------------------------------------------- */

static void *allocate_some(size_t size, void *context) {
    int *left = context;
    if (*left == 0) return NULL;
    --*left;
    return malloc(size);
}

static void release(void *memory, void *context) {
    (void)context;
    free(memory);
}

static void memory_runs_out(void **state) {
    (void)state;
    enum { N = 2000 };
    large p = large_create(N, 2 * N);
    for (int b = 1; b <= N; b++) {
        large_join(&p, b - 1, b);
        if (b > 2) large_join(&p, b - 2, b);
    }
    bool done = false;
    for (int allowed = 1; !done; allowed++) {
        assert_true(allowed < 100);
        int left = allowed;
        lw_allocator allocator = {allocate_some, release, &left};
        lw_arena *small = lw_arena_create(&allocator);
        assert_non_null(small);
        lw_status status = lw_graph_analyse(small, N, p.massless, p.edge_count, p.edges, &p.graph);
        done = status == LW_OK;
        if (!done) assert_int_equal(status, LW_ERROR_MEMORY);
        lw_arena_destroy(small);
    }
}

#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, create_arena, destroy_arena)

int main(void) {
    const struct CMUnitTest tests[] = {
        GRAPH_TEST(large_trees), GRAPH_TEST(large_ring),     GRAPH_TEST(large_ladder_on_ground),
        GRAPH_TEST(large_tower), GRAPH_TEST(too_long_loops), GRAPH_TEST(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

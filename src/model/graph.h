/* graph.h - spanning tree, regular labelling and fundamental loops of the graph of bodies and joints.
 */
#ifndef LW_GRAPH_H
#define LW_GRAPH_H

#include "core/core.h"

/* Reasons to keep a joint in the tree, in ascending order. */
typedef enum lw_keep {
    LW_KEEP_NOT = 0,
    LW_KEEP_ELEMENT, /* A force element acts on it. */
    /* Its number of revolutions matters: it is a screw, or an element may depend on its angle. */
    LW_KEEP_REVOLUTIONS,
    LW_KEEP_VALUES, /* Its initial values are given; those of a cut joint have no effect. */
    /* It is prescribed or coupled or turns a rotor, for which a cut joint has no coordinate. */
    LW_KEEP_ALWAYS
} lw_keep;

/* One joint as an edge between bodies; body 0 is ground, bodies 1 .. n are in the user's order. */
typedef struct lw_edge {
    int bodies[2];
    /* 0 .. 6. The larger, the better it serves as a cut; a cut at 6 has no closure row at all. */
    int freedom;
    /* How much it needs coordinates. Joints that do are not cut if avoidable; otherwise the one with the
     * weakest reason is. */
    lw_keep keep;
    bool requested_cut; /* The model requests a cut here. */
} lw_edge;

typedef struct lw_graph {
    int body_count, edge_count;
    /* The tree by label 1 .. n (0 is ground); -1 stands for none. */
    int *body;   /* label -> user's body */
    int *label;  /* user's body -> label; -1 if not connected to ground */
    int *parent; /* label -> label of the parent */
    int *edge;   /* label -> the edge into it */
    bool *cut;   /* edge -> closes a loop */
    /* The number of bodies without a path to ground; the others have the labels 1 .. n - unreached. */
    int unreached;
    /* Fundamental loops, shortest first: edges along the loop from the cut edge on, CSR. */
    int loop_count;
    int *loop_start; /* loop_count + 1 */
    int *loop_edge;  /* loop_edge[loop_start[k]] is the cut edge, traversed from bodies[0] to bodies[1] */
    int *loop_sense; /* +1 if traversed from bodies[0] to bodies[1], -1 otherwise. */
    int *loop_base;  /* label of the body where the two branches meet */
    bool short_beside_massless; /* Cuts lie beside massless bodies because this makes loops much shorter. */
    bool *loop_cut_at_massless; /* Closure rows act on a massless body, since no other cut was possible. */
} lw_graph;

/* Analyses the graph; all arrays come from the arena. massless[b] for user's bodies 0 .. n. O((n + e) log n)
 * plus the total length of the loops, plus a bounded effort to make them shorter. Returns LW_ERROR_ARGUMENT
 * if an edge joins a body to itself or to a body that is not there, LW_ERROR_MEMORY if memory is out or the
 * loops have more than INT_MAX edges in all.
 */
lw_status lw_graph_analyse(lw_arena *arena, int body_count, const bool *massless, int edge_count,
                           const lw_edge *edges, lw_graph *graph);

#endif

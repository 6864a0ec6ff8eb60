/* graph.h - spanning tree, regular labelling and fundamental loops of the graph of bodies and joints.
 */
#ifndef LW_GRAPH_H
#define LW_GRAPH_H

#include "core/core.h"

/* Why a joint had better stay in the tree. */
typedef enum lw_keep {
    LW_KEEP_NOT = 0,
    LW_KEEP_ELEMENT, /* an element acts on it */
    LW_KEEP_TURNS,   /* how often it has turned matters: a screw, an element that may depend on its angle */
    LW_KEEP_VALUES,  /* its initial values are given: those of a cut joint do not count */
    LW_KEEP_ALWAYS   /* prescribed or coupled: a cut joint has no coordinate for that */
} lw_keep;

/* One joint as an edge between bodies; body 0 is ground, bodies 1 .. n are in the user's order. */
typedef struct lw_edge {
    int bodies[2];
    int freedom; /* 0 .. 6: the more, the better it serves as a cut; a cut at 6 has no closure row at all */
    /* how much it needs coordinates: not cut if avoidable, and of several the one that needs them least */
    lw_keep keep;
    bool requested_cut; /* the user asks to cut here */
} lw_edge;

typedef struct lw_graph {
    int body_count, edge_count;
    /* tree, by label 1 .. n (0 is ground); -1 where there is none */
    int *body;     /* label -> user's body */
    int *label;    /* user's body -> label; -1 if not connected to ground */
    int *parent;   /* label -> label of the parent */
    int *edge;     /* label -> the edge into it */
    bool *cut;     /* edge -> closes a loop */
    int unreached; /* how many bodies have no path to ground; the others have the labels 1 .. n - unreached */
    /* fundamental loops, shortest first: edges along the loop from the cut edge on, CSR */
    int loop_count;
    int *loop_start; /* loop_count + 1 */
    int *loop_edge;  /* loop_edge[loop_start[k]] is the cut edge, traversed from bodies[0] to bodies[1] */
    int *loop_sense; /* +1 traversed from bodies[0] to bodies[1], -1 the other way */
    int *loop_base;  /* label of the body where the two branches meet */
    bool short_beside_massless; /* cuts lie beside massless bodies because that makes loops much shorter */
    bool *loop_cut_at_massless; /* closure rows act on a massless body: no other choice was left */
} lw_graph;

/* Analyses the graph; all arrays come from the arena. massless[b] for user's bodies 0 .. n. O((n + e) log n)
 * plus the total length of the loops, plus a bounded effort to make them shorter. Returns LW_ERROR_ARGUMENT
 * if an edge joins a body to itself or to a body that is not there, LW_ERROR_MEMORY if memory is out or the
 * loops have more than INT_MAX edges in all.
 */
lw_status lw_graph_analyse(lw_arena *arena, int body_count, const bool *massless, int edge_count,
                           const lw_edge *edges, lw_graph *graph);

#endif

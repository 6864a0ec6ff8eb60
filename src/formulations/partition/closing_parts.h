/* closing_parts.h - the inner structure of lw_closing, shared by the closing_*.c files.
 *
 * Nodes are the bodies 0 .. n, the intermediate frames of joints with several coordinates (a cylindrical
 * joint is a slide and a turn with a node in between), and the rods that represent distance constraints.
 * Edges are joints of one coordinate, balls, and edges implied by others. With the independent coordinates
 * given, nodes are merged into groups that are rigid for the moment, until one group is left. The steps of a
 * plan say in which order and how.
 */
#ifndef LW_CLOSING_PARTS_H
#define LW_CLOSING_PARTS_H

#include "formulations/partition/closing.h"
#include "linalg/dense.h"
#include "model/data.h"
#include "model/rows.h"

typedef enum lw_edge_kind {
    LW_EDGE_FIXED = 0,
    LW_EDGE_TURN,  /* about axis */
    LW_EDGE_SLIDE, /* along axis */
    LW_EDGE_SCREW, /* about axis, advancing by pitch per radian */
    LW_EDGE_BALL,  /* three speeds: angular velocity in the axes of the second end */
    LW_EDGE_CROSS  /* implied: a universal joint as a whole */
} lw_edge_kind;

typedef struct lw_closing_edge {
    lw_edge_kind kind;
    int joint;       /* In the spec's order; -1 for a distance constraint. */
    int constraint;  /* -1 if it is not a constraint. */
    int nodes[2];    /* First and second, as in the spec. */
    lw_pose ends[2]; /* Its frame on both nodes; the two coincide where the coordinate is zero. */
    double axis[3], pitch;
    int q, v; /* -1 if it has no coordinates. */
    /* Implied by other edges: coaxial hinges at one node, a universal joint as a whole, a cylindrical one in
     * its plane. */
    bool implied;
    bool loose; /* Implied by a cylindrical joint: it may slide along the axis. */
    /* For a universal or cylindrical joint taken as a whole: the first of its two edges, which are
     * consecutive; otherwise -1. */
    int first_part;
    /* For turns: the set of parallel axes (lw_closing_normal) to which it belongs; -1 if none. */
    int plane;
    unsigned known; /* Bit k: speed k is independent or prescribed. */
} lw_closing_edge;

/* A joint of several coordinates and the edges that represent it. */
typedef struct lw_closing_chain {
    int joint, first, count;
} lw_closing_chain;

typedef enum lw_step_kind {
    LW_STEP_GIVEN = 0, /* Edge 0 by its coordinates. */
    LW_STEP_COUPLED,   /* Edge 0 by a coupling whose other coordinates are known. */
    LW_STEP_FIT,       /* A chain whose ends belong to one group. */
    /* Planar dyad of three groups in a ring: edge 0 from group 1 to 2, edge 1 from 2 to 3, edge 2 back to
     * 1. */
    LW_STEP_RRR,
    LW_STEP_PRR, /* The same, with edge 0 a slide. */
    LW_STEP_PPR, /* The same, with edges 0 and 1 slides. */
    LW_STEP_RR,  /* Redundant planar closure of two groups: edge 0 from group 1 to 2, edge 1 back. */
    LW_STEP_PR,
    LW_STEP_PP,
    LW_STEP_ROD,    /* Edge 0 by the distance that group 3 keeps between two balls, edges 1 and 2. */
    LW_STEP_SPIN,   /* Two balls: edge 0 keeps its spin. */
    LW_STEP_CARDAN, /* Edge 0 is a universal joint, edge 1 a ball. */
    LW_STEP_NEWTON  /* All remaining coordinates together. */
} lw_step_kind;

typedef struct lw_closing_step {
    lw_step_kind kind;
    int edges[3];
    int from[3];   /* The side of each edge on which the preceding group is. */
    int plane;     /* The plane of planar steps. */
    int term;      /* The index of the term of a coupling. */
    double branch; /* +1 or -1; 0 if there is only one solution. */
} lw_closing_step;

/* A direction shared by all bodies that are connected by turns about it and by slides. */
typedef struct lw_closing_entry {
    int plane, next; /* The next entry of the same node. */
    double normal[3];
} lw_closing_entry;

struct lw_closing {
    const lw_model *model;
    lw_data *data;
    lw_rows *rows; /* Rows of closures and constraints. */
    double length; /* The length of the mechanism. */
    int nodes, rods;
    int edge_count;
    lw_closing_edge *edges;
    int chain_count;
    lw_closing_chain *chains;
    /* LW_JOINT_MAX_Q per chain that closes a loop: its coordinates at the position evaluated last. */
    double *chain_q;
    int *edge_of_speed;
    /* Edges of the tree from ground outwards, and the side of each that is nearer to ground. */
    int walk_count, *walk, *walk_from;
    int entry_count, *entry_of; /* The first entry of every node in entries. */
    lw_closing_entry *entries;
    bool *constrained; /* Per body: its tree joint is in a loop, or a constraint acts through it. */

    /* The plan. */
    bool *known;                /* Per speed: it is independent or prescribed. */
    int step_count, first_step; /* Steps before first_step only take given coordinates. */
    lw_closing_step *steps;
    int unknown_count, *unknown; /* Speeds left to Newton's method. */

    /* Groups, as circular lists of nodes. */
    int *group, *next, *size; /* size: the number of nodes in the group named after the node. */
    lw_pose *pose;            /* The pose of a node in its group's frame. */

    lw_pose *world;       /* The poses of the nodes at the position evaluated last. */
    double *q, *trial;    /* The position evaluated last, and the one sought. */
    bool guess_has_poses; /* world belongs to the guess. */

    /* Workspace of planning. */
    int *start, *at; /* Edges between groups, sorted by group. */

    /* Workspace of Newton's method. */
    double *G; /* The rows in all speeds. */
    /* The rows in the unknown speeds, scaled, now and at the start; later their factors. */
    double *A, *A0;
    int *order, *order0;
    double *right, *M;
    lw_orthogonal *orthogonal, *orthogonal0;
};

/* --- closing_graph.c ------------------------------------------------------------------------------- */

bool lw_closing_graph(lw_closing *closing, lw_arena *arena);
/* The direction of a plane in a node's axes, or NULL if the plane does not belong to the node. */
const double *lw_closing_normal(const lw_closing *closing, int plane, int node);
/* World poses of all nodes except rods, from q. */
void lw_closing_poses(lw_closing *closing, const double *q);
/* The pose of an edge's second end relative to its first, from its own coordinates. */
void lw_closing_edge_pose(const lw_closing_edge *edge, const double *own, lw_pose *relative);
/* The coordinates of an edge from that relative pose; own holds a guess. */
void lw_closing_edge_fit(const lw_closing_edge *edge, const lw_pose *relative, double *own);

/* --- closing_groups.c: groups, and steps that the coordinates themselves determine -------------------- */

void lw_closing_scatter(lw_closing *closing);
/* Merges the group of node b into that of node a. T is the pose of its frame in that of a's group; NULL
 * merges the lists only. */
void lw_closing_join(lw_closing *closing, int a, int b, const lw_pose *T);
/* The pose of an edge's end in its group's frame. */
void lw_closing_end(const lw_closing *closing, const lw_pose *poses, int edge, int side, lw_pose *out);

/* --- closing_positions.c ---------------------------------------------------------------------------- */

/* A signed measure of the branch of a step at the world poses of the nodes. */
double lw_closing_measure(const lw_closing *closing, const lw_closing_step *step);
/* The sine of the middle angle of a dyad at these poses: 0 at a dead point; 1 for other steps. */
double lw_closing_quality(const lw_closing *closing, const lw_closing_step *step);
lw_status lw_closing_step_position(lw_closing *closing, lw_closing_step *step, lw_error *error);
/* Reads the dependent coordinates of tree joints within groups into trial. */
void lw_closing_read(lw_closing *closing);

/* --- closing_newton.c ------------------------------------------------------------------------------- */

bool lw_closing_newton_create(lw_closing *closing, lw_arena *arena);
lw_status lw_closing_newton_positions(lw_closing *closing, double t, double *q, lw_error *error);
/* Are all loops closed at q? */
lw_status lw_closing_check(lw_closing *closing, double t, const double *q, lw_error *error);

/* --- closing.c: messages ------------------------------------------------------------------------------- */

/* Fails with the message for a step that is open by `gap` metres. */
lw_status lw_closing_dead(const lw_closing *closing, const lw_closing_step *step, double gap,
                          lw_error *error);

#endif

/* closing_parts.h - the inside of lw_closing, shared by the closing_*.c files.
 *
 * Nodes are the bodies 0 .. n, the frames within joints of several coordinates (a cylindrical joint is a
 * slide and a turn with a node between), and the rods that stand for distance constraints. Edges are joints
 * of one coordinate, balls, and edges implied by others. With the independent coordinates given, nodes grow
 * together to groups, rigid for the moment, until one group is left: the steps of a plan say in which order,
 * and how.
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
    int joint;       /* in the spec's order; -1: a distance constraint */
    int constraint;  /* or -1 */
    int nodes[2];    /* in the user's sense */
    lw_pose ends[2]; /* its frame on both nodes; they coincide where the coordinate is zero */
    double axis[3], pitch;
    int q, v; /* -1: it has no coordinates */
    /* coaxial hinges at one node, a universal joint as a whole, a cylindrical one in its plane */
    bool implied;
    bool loose; /* implied by a cylindrical joint: free to slide along the axis */
    /* of a universal or cylindrical joint taken as a whole: its two edges, this and the next; or -1 */
    int first_part;
    int plane;      /* turns: which set of parallel axes (lw_closing_normal); -1: none */
    unsigned known; /* bit k: speed k is independent or prescribed */
} lw_closing_edge;

/* A joint of several coordinates and the edges it is made of. */
typedef struct lw_closing_chain {
    int joint, first, count;
} lw_closing_chain;

typedef enum lw_step_kind {
    LW_STEP_GIVEN = 0, /* edge 0 by its coordinates */
    LW_STEP_COUPLED,   /* edge 0 by a coupling whose other coordinates are known */
    LW_STEP_FIT,       /* a chain whose ends belong to one group */
    LW_STEP_RRR, /* planar dyads: three groups in a ring. Edge 0 from group 1 to 2, edge 1 from 2 to 3, ... */
    LW_STEP_PRR, /* edge 0 slides */
    LW_STEP_PPR, /* edges 0 and 1 slide */
    LW_STEP_RR,  /* redundant planar closures: two groups. Edge 0 from group 1 to 2, edge 1 back */
    LW_STEP_PR,
    LW_STEP_PP,
    LW_STEP_ROD,    /* edge 0 by the distance that group 3 keeps between two balls, edges 1 and 2 */
    LW_STEP_SPIN,   /* two balls: edge 0 keeps its spin */
    LW_STEP_CARDAN, /* edge 0 a universal joint, edge 1 a ball */
    LW_STEP_NEWTON  /* whatever is left */
} lw_step_kind;

typedef struct lw_closing_step {
    lw_step_kind kind;
    int edges[3];
    int from[3];   /* the side of the edge where the group before it is */
    int plane;     /* of planar steps */
    int term;      /* coupling: which of its terms */
    double branch; /* +1 or -1; 0: there is one solution only */
} lw_closing_step;

/* A direction that all bodies joined by turns about it and by slides share. */
typedef struct lw_closing_entry {
    int plane, next; /* next entry of the same node */
    double normal[3];
} lw_closing_entry;

struct lw_closing {
    const lw_model *model;
    lw_data *data;
    lw_rows *rows; /* of closures and constraints */
    double length; /* of the mechanism */
    int nodes, rods;
    int edge_count;
    lw_closing_edge *edges;
    int chain_count;
    lw_closing_chain *chains;
    double *chain_q; /* LW_JOINT_MAX_Q per chain that closes a loop: its coordinates when last seen */
    int *edge_of_speed;
    int walk_count, *walk, *walk_from; /* edges of the tree from ground outwards; the side nearer to ground */
    int entry_count, *entry_of;        /* the directions of every node */
    lw_closing_entry *entries;
    bool *tied; /* per body: its tree joint is in a loop, or a constraint acts through it */

    /* the plan */
    bool *known;                /* per speed */
    int step_count, first_step; /* steps before first_step only take given coordinates */
    lw_closing_step *steps;
    int unknown_count, *unknown; /* speeds left to Newton's method */

    /* groups: circular lists of nodes */
    int *group, *next, *size; /* size: of the group named after the node */
    lw_pose *pose;            /* of a node in its group's frame */

    lw_pose *world;       /* of the nodes at the position last seen */
    double *q, *trial;    /* the position last seen; the one sought */
    bool guess_is_placed; /* world belongs to the guess */

    /* planning */
    int *start, *at; /* edges between groups, by group */

    /* Newton */
    double *G;      /* rows in all speeds */
    double *A, *A0; /* in the unknown ones, scaled, and as they were at the start; then their factors */
    int *order, *order0;
    double *right, *M;
    lw_orthogonal *orthogonal, *orthogonal0;
};

/* --- closing_graph.c ------------------------------------------------------------------------------- */

bool lw_closing_graph(lw_closing *closing, lw_arena *arena);
/* The direction of a plane in a node's axes, or NULL if it does not belong to it. */
const double *lw_closing_normal(const lw_closing *closing, int plane, int node);
/* World poses of all nodes but rods, from q. */
void lw_closing_place(lw_closing *closing, const double *q);
/* Place of an edge's second end in its first, from its own coordinates. */
void lw_closing_edge_pose(const lw_closing_edge *edge, const double *own, lw_pose *relative);
/* The coordinates of an edge from that place; own holds a guess. */
void lw_closing_edge_fit(const lw_closing_edge *edge, const lw_pose *relative, double *own);
/* The coordinates of a chain from the poses of the bodies at its ends, own holding a guess; and of the nodes
 * within into out. */
void lw_closing_chain_fit(const lw_closing *closing, const lw_pose *poses, const lw_closing_chain *chain,
                          double *own, lw_pose *out);

/* --- closing_groups.c: groups, and steps that the coordinates themselves decide ----------------------- */

void lw_closing_scatter(lw_closing *closing);
/* The group of node b joins that of node a; T places its frame in that of a's group. NULL: names only. */
void lw_closing_join(lw_closing *closing, int a, int b, const lw_pose *T);
/* Pose of an edge's end in its group's frame. */
void lw_closing_end(const lw_closing *closing, const lw_pose *poses, int edge, int side, lw_pose *out);

/* --- closing_positions.c ---------------------------------------------------------------------------- */

/* A signed measure of the branch of a step at the poses of the nodes in the world. */
double lw_closing_measure(const lw_closing *closing, const lw_closing_step *step);
/* The sine of the angle in the middle of a dyad there, at which it is driven: 0 at a dead point; 1 for other
 * steps. */
double lw_closing_quality(const lw_closing *closing, const lw_closing_step *step);
lw_status lw_closing_step_position(lw_closing *closing, lw_closing_step *step, lw_error *error);
/* The dependent coordinates of tree joints within groups, into trial. */
void lw_closing_read(lw_closing *closing);

/* --- closing_newton.c ------------------------------------------------------------------------------- */

bool lw_closing_newton_create(lw_closing *closing, lw_arena *arena);
lw_status lw_closing_newton_positions(lw_closing *closing, double t, double *q, lw_error *error);
/* Are all loops closed at q? */
lw_status lw_closing_check(lw_closing *closing, double t, const double *q, lw_error *error);

/* --- closing.c: what people read --------------------------------------------------------------------- */

/* A step that cannot close by `gap` metres. */
lw_status lw_closing_dead(const lw_closing *closing, const lw_closing_step *step, double gap,
                          lw_error *error);

#endif

/* loop_constraints.h - the loops of a mechanism as its spanning tree sees them, and a static order to
 * eliminate them.
 *
 * A loop is a closure or a constraint: some rows that act on two or more bodies. Its base is the body where
 * the branches from these bodies to ground meet. On the way there it leaves a segment at every body: the
 * wrenches that its multipliers put on the articulated body there. Two loops couple if they share a joint, or
 * by the elimination of a third.
 */
#ifndef LW_LOOP_CONSTRAINTS_H
#define LW_LOOP_CONSTRAINTS_H

#include "model/rows.h"

/* Rows of a loop stand side by side, four at a time, so that they can be worked on together: component k of
 * the wrench of row r is at lw_wrench_at(r) + 4 k. Rows of matrices have so many places for `count`
 * columns: */
#define LW_ABREAST(count) (((count) + 3) / 4 * 4)
static inline int lw_wrench_at(int row) { return row / 4 * 24 + row % 4; }
/* The wrench of a row by itself; K: where those of its loop start. */
static inline void lw_wrench(const double *K, int row, double w[6]) {
    for (int k = 0; k < 6; k++) w[k] = K[lw_wrench_at(row) + 4 * k];
}

typedef struct lw_segment {
    int loop;
    int row;    /* the loop's first */
    int parent; /* the segment at the parent; -1: the parent is the loop's base */
    int to;     /* where its wrenches go at the parent; -1: the parent is ground */
    int K;      /* where its wrenches start: 6 per row */
    int Y;      /* where its joint components start: one per speed and row */
    bool adds;  /* the parent has wrenches of the loop already, from its rows or another branch */
} lw_segment;

/* A pair of segments at one body, and the block of the matrix that their joint adds to. */
typedef struct lw_segment_pair {
    int first, second, block;
    bool adds; /* something has gone into the block before */
} lw_segment_pair;

/* Loop s is coupled with loop t, which is eliminated before it. */
typedef struct lw_coupling {
    int loop;
    int block; /* rows of t times LW_ABREAST(rows of s), row by row of t */
    int K;     /* where the wrenches of s at the base of t start */
} lw_coupling;

typedef struct lw_loop_constraint {
    int first, count; /* rows */
    int base;
    int closure;             /* number in the model, or -1: a constraint */
    int bodies[2];           /* of a closure: first, second */
    int K_first, K_second;   /* where the wrenches on these start; -1 for ground */
    int K;                   /* its wrenches at the base: 6 per row */
    int block;               /* count x LW_ABREAST(count) */
    int coupling, couplings; /* with loops eliminated later */
    int target;              /* in targets: for j <= k < couplings, the block of (loop j, loop k) */
} lw_loop_constraint;

typedef struct lw_loop_constraints {
    int count;
    lw_loop_constraint *loops; /* in the order of elimination: bases from the leaves inwards */
    int *at_base; /* 0 .. n + 1: the loops based at body b are at_base[b] .. at_base[b] + based[b] - 1 */
    int *based;
    int *loop_of_row;   /* which loop a row belongs to */
    int *segment_start; /* 0 .. n + 1: segments of body i, CSR */
    lw_segment *segments;
    int *pair_start; /* 0 .. n + 1 */
    lw_segment_pair *pairs;
    lw_coupling *couplings;
    int *targets;
    bool *target_adds; /* per target: something has gone into the block before */
    int *
        /* per block of the rows (lw_rows.body): where the wrenches of its loop on its body start */
        wrench_start;
    int K_size, Y_size, block_size; /* numbers */
    int Z_size;                     /* of Y at one body, the most */
    int row_max;
} lw_loop_constraints;

/* NULL when memory is out. The arena owns it. */
lw_loop_constraints *lw_loop_constraints_create(const lw_model *model, const lw_rows *rows, lw_arena *arena);
/* The same loops in the same order, but only the active ones have segments and couplings: what is left when
 * the others have no rows that take part. */
lw_loop_constraints *lw_loop_constraints_reduce(const lw_model *model, const lw_rows *rows,
                                                const lw_loop_constraints *whole, const bool *active,
                                                lw_arena *arena);

/* The rows from the first on that does not belong to the tree, in the speeds of the tree: nv numbers for
 * each, after lw_velocities and lw_world_poses. */
void lw_loop_constraint_matrix(const lw_model *model, const lw_data *data, const lw_rows *rows, double *G);

/* Adds what the multipliers of the loops make the joints transmit to the reactions of the tree alone
 * (lw_joint_reactions); body is a workspace of 6 numbers per body. */
void lw_loop_constraint_reactions(const lw_model *model, const lw_data *data, const lw_rows *rows,
                                  const double *lambda, double *body, double *reactions);

#endif

/* loop_constraints.h - the closures and constraints of a mechanism as loops of its spanning tree, and a
 * static order of their elimination.
 *
 * A loop is a closure or a constraint: some rows that act on two or more bodies. Its base is the body where
 * the paths from these bodies to ground meet. On the paths it has a segment at every body: the wrenches that
 * its multipliers exert on the articulated body there. Two loops are coupled if they share a joint, or by the
 * elimination of a third loop.
 */
#ifndef LW_LOOP_CONSTRAINTS_H
#define LW_LOOP_CONSTRAINTS_H

#include "model/rows.h"

/* The rows of a loop are stored side by side in groups of four, so that four can be processed together:
 * component k of the wrench of row r is at lw_wrench_at(r) + 4 k. LW_ABREAST is the length of a matrix row
 * with `count` columns. */
#define LW_ABREAST(count) (((count) + 3) / 4 * 4)
static inline int lw_wrench_at(int row) { return row / 4 * 24 + row % 4; }
/* The wrench of one row; the wrenches of its loop start at K. */
static inline void lw_wrench(const double *K, int row, double w[6]) {
    for (int k = 0; k < 6; k++) w[k] = K[lw_wrench_at(row) + 4 * k];
}

typedef struct lw_segment {
    int loop;
    int row;    /* The loop's first row. */
    int parent; /* The segment at the parent; -1 if the parent is the loop's base. */
    int to;     /* Where its wrenches go at the parent; -1 if the parent is ground. */
    int K;      /* Where its wrenches start: 6 per row. */
    int Y;      /* Where its joint components start: one per speed and row. */
    bool adds;  /* The parent already has wrenches of the loop, from its rows or another branch. */
} lw_segment;

/* A pair of segments at one body, and the block of the matrix to which their joint contributes. */
typedef struct lw_segment_pair {
    int first, second, block;
    bool adds; /* The block already has a contribution. */
} lw_segment_pair;

/* A loop s that is coupled with loop t, which is eliminated before s. */
typedef struct lw_coupling {
    int loop;
    int block; /* Rows of t times LW_ABREAST(rows of s), stored by rows of t. */
    int K;     /* Where the wrenches of s at the base of t start. */
} lw_coupling;

typedef struct lw_loop_constraint {
    int first, count; /* The loop's rows. */
    int base;
    int closure;             /* The number of the closure in the model; -1 for a constraint. */
    int bodies[2];           /* The first and second body of a closure. */
    int K_first, K_second;   /* Where the wrenches on these bodies start; -1 for ground. */
    int K;                   /* Where the loop's wrenches at its base start: 6 per row. */
    int block;               /* Where the diagonal block starts: count x LW_ABREAST(count). */
    int coupling, couplings; /* Range in couplings: those with loops eliminated later. */
    int target;              /* Index in targets: for j <= k < couplings, the block of (loop j, loop k). */
} lw_loop_constraint;

typedef struct lw_loop_constraints {
    int count;
    lw_loop_constraint *loops; /* In the order of elimination: bases from the leaves inwards. */
    int *at_base; /* 0 .. n + 1: the loops with base b are at_base[b] .. at_base[b] + based[b] - 1. */
    int *based;
    int *loop_of_row;   /* Per row: the loop to which it belongs. */
    int *segment_start; /* 0 .. n + 1: segments of body i, CSR. */
    lw_segment *segments;
    int *pair_start; /* 0 .. n + 1: pairs of segments of body i, CSR. */
    lw_segment_pair *pairs;
    lw_coupling *couplings;
    int *targets;
    bool *target_adds; /* Per target: the block already has a contribution. */
    /* Per block of the rows (lw_rows.body): where the wrenches of its loop on its body start. */
    int *wrench_start;
    int K_size, Y_size, block_size; /* The sizes of the arrays of wrenches, joint components and blocks. */
    int Z_size;                     /* The largest number of joint components at one body. */
    int row_max;
} lw_loop_constraints;

/* Returns NULL when memory is out. The arena owns the result. */
lw_loop_constraints *lw_loop_constraints_create(const lw_model *model, const lw_rows *rows, lw_arena *arena);
/* The same loops in the same order, of which only the active ones have segments and couplings: the structure
 * that remains when no row of the others takes part. */
lw_loop_constraints *lw_loop_constraints_reduce(const lw_model *model, const lw_rows *rows,
                                                const lw_loop_constraints *whole, const bool *active,
                                                lw_arena *arena);

/* The rows that do not belong to the tree, in the speeds of the tree: nv numbers for each row, after
 * lw_velocities and lw_world_poses. */
void lw_loop_constraint_matrix(const lw_model *model, const lw_data *data, const lw_rows *rows, double *G);

/* Adds the joint reactions due to the multipliers of the loops to the reactions of the tree alone
 * (lw_open_reactions). body is a workspace of 6 numbers per body. */
void lw_loop_constraint_reactions(const lw_model *model, const lw_data *data, const lw_rows *rows,
                                  const double *lambda, double *body, double *reactions);

#endif

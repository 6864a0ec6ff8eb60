/* tree_derivatives_simd.h - the part of the derivatives of a tree that runs on vectors, of bodies, of motions
 * or of columns, one table for each width; and the flat arrays that it works on.
 *
 * Numbers of all motions, or of all bodies, stand side by side in a row; rows follow each other at a stride
 * that is padded, so that vectors may reach beyond the last entry. Arrays about pairs of motions are ordered
 * by `line`, an order of depth first: all that a motion carries follows it at once, and what carries it is
 * the path from ground, in which it has a position. So a row of an array over a path is contiguous.
 */
#ifndef LW_TREE_DERIVATIVES_SIMD_H
#define LW_TREE_DERIVATIVES_SIMD_H

#include <stdbool.h>

enum { LW_FLAT_BLOCK = 16 }; /* columns that the solution takes at a time; all strides are multiples */

/* Rows of `motions`: the columns of tree_derivatives.h, twist and acceleration of their bases, and what a
 * motion hands to those that carry it: U = I S, b the angular part of B'S, the wrenches of its motion and its
 * speed. The first 24 are the rows of `path`, too. */
enum {
    LW_FLAT_S = 0,
    LW_FLAT_P = 6,
    LW_FLAT_C = 12,
    LW_FLAT_D = 18,
    LW_PATH_ROWS = 24,
    LW_FLAT_V = 24,
    LW_FLAT_A = 30,
    LW_FLAT_U = 36,
    LW_FLAT_B = 42,
    LW_FLAT_BY_Q = 45,
    LW_FLAT_BY_V = 51,
    LW_MOTION_ROWS = 57
};
/* Rows of `bodies`: pose, twist, acceleration, inertia in the body's axes; then what is summed over all that
 * its joint carries: inertia (mass, first, second moments), wrench, the operator B (12) and its p. */
enum {
    LW_BODY_R = 0,
    LW_BODY_P = 9,
    LW_BODY_V = 12,
    LW_BODY_A = 18,
    LW_BODY_OWN = 24,
    LW_BODY_SUM = 34,
    LW_SUM_F = 10,
    LW_SUM_B = 16,
    LW_SUM_P = 25,
    LW_SUM_ROWS = 28,
    LW_BODY_ROWS = 62
};

typedef struct lw_tree_flat {
    int body_count, nv, deepest; /* deepest: the longest path, in motions */
    int body_stride, motion_stride, path_stride;
    bool serial;       /* Every path is that of all motions before: `motions` serves as `path`. */
    const int *parent; /* per body */
    const int *body;   /* per motion */
    const int *run;    /* per motion: its body, if those of the vector that begins here follow each other;
                        * or -1 */
    double *bodies, *motions, *path;
    /* The line: which motion stands at each place; its position on its path, the place behind all that it
     * carries, the number of motions on the path of its joint, and how many of these are of its joint. */
    const int *motion, *position, *end, *length, *own;
    const int *up;     /* the place before on the path, or -1 */
    const bool *fixed; /* per place: it is prescribed */
    double *mass;      /* places x path_stride: rows of the mass matrix along the path, itself included */
    double *L;         /* likewise: factor of M = L'D L, and */
    double *pivot, *inverse; /* per place, D and 1/D; zero where it is fixed */
    /* Right sides and solutions, rows of motions: derivatives of forces by motions and by speeds, inputs and
     * user states, padded; then, from `units` on, the unit matrix. */
    double *right;
    int right_stride, units, block_count, plain_blocks; /* plain_blocks: those without the unit matrix */
    const unsigned char *inward, *outward; /* places x blocks: those that are not zero, or are wanted */
    int *stack;                            /* deepest */
} lw_tree_flat;

typedef struct lw_tree_simd {
    int width;
    void (*columns)(const lw_tree_flat *f); /* C and D of all motions from S, P, V, A, as for single ones */
    void (*bodies)(const lw_tree_flat *f);  /* the sums, of each body alone */
    void (*handed)(const lw_tree_flat *f);  /* what motions hand to those that carry them */
    /* Of motion k with those on its path, lanes 0 .. length - 1: derivatives of its force by them (out rows 0
     * and 1: by motions, by speeds), of their forces by it (2, 3), and the mass matrix (4). */
    void (*pairs)(const lw_tree_flat *f, const double *path, int stride, int k, int length, double *out[5]);
    /* L and D from `mass`; returns the first place, from 1, whose pivot is not positive, or 0. */
    int (*factor)(const lw_tree_flat *f);
    /* right = M^-1 right, blocks 0 .. blocks - 1; false: some number is not finite. */
    bool (*solve)(const lw_tree_flat *f, int blocks);
} lw_tree_simd;

extern const lw_tree_simd lw_tree_simd_2, lw_tree_simd_4, lw_tree_simd_8;
/* The widest that the processor has. */
const lw_tree_simd *lw_tree_simd_widest(void);

#endif

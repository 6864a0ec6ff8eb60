/* director_solver.h - how Newton's equations of a step are solved: one interface with two implementations.
 *
 *   lw_director_by_recursion   trees: two passes over the bodies with matrices of at most 6 x 6, without
 *                              multipliers (director_recursive_newton.c)
 *   lw_director_by_matrix      every mechanism: all bodies and rows in one sparse matrix (director_sparse.c)
 *
 * director_step.c runs the iteration and knows nothing else of either. One solver is at work at a time; it is
 * lw_director.solver, and force elements add their derivatives to the matrix blocks of that one.
 */
#ifndef LW_DIRECTOR_SOLVER_H
#define LW_DIRECTOR_SOLVER_H

#include "formulations/director/block_matrix.h"

struct lw_director;

/* Which matrix an increment is solved with. */
typedef enum lw_director_matrix_use {
    LW_DIRECTOR_SAME_MATRIX = 0,
    LW_DIRECTOR_NEW_MATRIX, /* evaluated and factored anew */
    LW_DIRECTOR_NEW_PIVOTS  /* and with a new choice of pivots, which may allocate */
} lw_director_matrix_use;

typedef struct lw_director_solver {
    /* Newton's start: the end of the step where the velocities at its begin lead. Makes this solver the one
     * at work. */
    void (*start)(struct lw_director *d);
    /* One increment of Newton's iteration. size and step are the lengths of the increment and of the step so
     * far in the metric of lw_director.weight. False: the matrix is singular, or numbers overflow. */
    bool (*increment)(struct lw_director *d, lw_director_matrix_use use, double *size, double *step);
    /* The largest last increment, relative to the step, that accept and store still take into account. */
    double (*last_increment)(const struct lw_director *d);
    /* Evaluates the equations at the end that was found (new_matrix: with the matrix, too) and tells whether
     * the step may be accepted. */
    bool (*accept)(struct lw_director *d, bool new_matrix);
    /* Finds what rounding has left of the equations, keeps the reactions, and writes the end of the step into
     * the state y. Returns whether the bodies have drifted off their joints by rounding. */
    bool (*store)(struct lw_director *d, double *y);
    /* Where the derivative of the balance of body i by the motion of body j is added up; `block` is its
     * number in the sparse matrix. Entry (a, b) is at [a + b stride]. */
    double *(*block)(struct lw_director *d, int i, int j, int block, int *stride);
} lw_director_solver;

extern const lw_director_solver lw_director_by_recursion, lw_director_by_matrix;

/* Memory of the sparse solver. */
typedef struct lw_director_sparse {
    lw_block_matrix *matrix; /* block rows and columns: the bodies, then the rows */
    double *right;           /* the right-hand side, and then the solution */
    int *body_block;         /* the diagonal block of each body */
    int *force_block;        /* per force element, of its bodies a and b: blocks (a,a) (a,b) (b,a) (b,b) */
} lw_director_sparse;

/* Memory of the choice among rows that may depend on each other (director_redundancy.c). */
typedef struct lw_director_choice {
    double *matrix, *work; /* the rows in free speeds, one column each; and its factors */
    double *speeds;        /* twists of all bodies for one speed */
    double *scale;         /* one over the size of each row */
    int *order;            /* three lists of rows: by pivots, of a trial, and of those kept at present */
    int rank;              /* at the last choice; -1: none was made yet */
    int age;               /* steps since that choice */
    struct lw_orthogonal *orthogonal;
} lw_director_choice;

#endif

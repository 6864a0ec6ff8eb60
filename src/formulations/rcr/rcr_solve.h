/* rcr_solve.h - the two passes of the tree's recursion with closed loops: elimination inwards, solution
 * outwards (rcr.c).
 */
#ifndef LW_RCR_SOLVE_H
#define LW_RCR_SOLVE_H

#include "constraints/loop_constraints.h"

/* A scale that accepts every pivot except an exact zero. */
#define LW_ANY_PIVOT 1e-250

/* Which rows take part in the elimination. The rows of each loop are listed in `row`, those that take part
 * first. */
typedef struct lw_selection {
    const lw_loop_constraints *loops; /* Loops of which rows take part have segments; others may have none. */
    /* Per loop: the number of rows that take part. The others are redundant as far as is known. */
    int *awake;
    int *row;      /* From loop.first on: the loop's rows, counted from loop.first. */
    double *scale; /* Per row of the list: its pivot at a position far from singular ones. */
    int *order;    /* From loop.first on: positions in the list, in the order of the pivots there. */
} lw_selection;

/* The equations of the loops. K, l and lambda are ordered by the lists of the selection. */
typedef struct lw_rcr_system {
    const lw_model *model;
    lw_data *data;
    const lw_selection *selected;
    const lw_loop_constraints *loops; /* Of the selection, as are awake, row and scale. */
    const int *awake, *row;
    const double *scale;
    /* Per loop: a run adds nothing to the wrenches on its second body, so that they last from run to run. */
    bool *lasting;
    /* Per loop: the wrenches on its second body are in place for the rows that take part. */
    bool *written;
    /* Wrenches in internal axes about the internal origin: at segments, and of loops at their bases. */
    double *K;
    size_t K_size; /* The number of doubles in K. */
    double *Y, *Z; /* S'K per segment, and D^-1 S'K of the segments at one body. */
    /* Blocks, in rows of LW_ABREAST(columns); after the elimination C (below the diagonal), 1 / d and
         * F. */
    double *L;
    double *E, *e; /* Per row: C^-1 K' and C^-1 l. */
    double *l;     /* Per row: the term l of K'a + l + L lambda = 0. */
    bool weak;     /* In the last run some pivot was far below its scale. */
    int *pivot;    /* Per row: positions in the list, in the order of the pivots. */
    int *rank;     /* Per loop: the number of its pivots in the last run. */
    double *lambda;
    /* The length of the longest link (on ground: arm of the centre of mass); it makes lengths
     * dimensionless. */
    double length;
} lw_rcr_system;

/* With memory for selections of these loops, all of which must have segments. Arrays of doubles have `lanes`
 * numbers side by side for each that is named here: as many states are solved at a time. NULL when memory is
 * out. */
lw_rcr_system *lw_rcr_system_create(const lw_model *model, lw_data *data, const lw_loop_constraints *loops,
                                    int rows, int lanes, lw_arena *arena);
/* A selection of all rows in their own order, which accepts every pivot. Returns false when memory is out. */
bool lw_selection_create(lw_selection *selection, const lw_loop_constraints *loops, int rows,
                         lw_arena *arena);
/* Makes the system use a selection. After a change of the selection's contents, lw_rcr_system_forget must
 * come first. */
void lw_rcr_system_select(lw_rcr_system *system, const lw_selection *selection);
static inline void lw_rcr_system_forget(lw_rcr_system *system) { system->selected = NULL; }

/* The loads of a run: speeds, joint forces and loads on bodies. NULL stands for zeros. */
typedef struct lw_subject {
    const double *v, *tau, *load;
    bool gravity;
    double *drive; /* Output: the forces of the drives of prescribed speeds; may be NULL. */
} lw_subject;

/* Poses and velocities of the tree at data->q. */
void lw_rcr_system_start(lw_rcr_system *system, const lw_subject *subject);
/* Solves the equations for given l, and K at the bodies on which the rows act. Accelerations go to data->vdot
 * and to the nodes, multipliers to lambda. */
lw_status lw_rcr_system_run(lw_rcr_system *system, const lw_subject *subject, lw_error *error);
/* The same two functions for processors with AVX2. */
void lw_rcr_system_start_4(lw_rcr_system *system, const lw_subject *subject);
lw_status lw_rcr_system_run_4(lw_rcr_system *system, const lw_subject *subject, lw_error *error);
/* The largest ratio of a diagonal entry of the multipliers' matrix to its pivot, after a run with independent
 * rows. Its logarithm is the number of digits that the elimination loses. */
double lw_rcr_system_cancellation(const lw_rcr_system *system);

/* After a run with all rows awake: multipliers that cause no motion, with random values from `seed` in each
 * redundant row. */
void lw_rcr_system_null(lw_rcr_system *system, unsigned seed, double *lambda);

#endif

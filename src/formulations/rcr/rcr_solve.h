/* rcr_solve.h - the two sweeps of the tree's recursion that carry closed loops along (rcr.c).
 */
#ifndef LW_RCR_SOLVE_H
#define LW_RCR_SOLVE_H

#include "constraints/loop_constraints.h"

/* A scale that accepts every pivot except an exact zero. */
#define LW_ANY_PIVOT 1e-250

/* Which rows take part. Those of a loop are listed in `row`, the ones that do first. */
typedef struct lw_selection {
    const lw_loop_constraints *loops; /* at least those of which rows take part have segments */
    int *awake;    /* per loop: how many rows take part; the others are redundant as far as is known */
    int *row;      /* from loop.first on: its rows, counted from loop.first */
    double *scale; /* per row of the list: its pivot where the loop is wide open */
} lw_selection;

/* K, l and lambda count in the lists of the selection. */
typedef struct lw_rcr_system {
    const lw_model *model;
    lw_data *data;
    const lw_selection *selected;
    const lw_loop_constraints *loops; /* of the selection, as are awake, row and scale */
    const int *awake, *row;
    const double *scale;
    bool *lasting; /* per loop: nothing is added to the wrenches on its second body in a run, ... */
    bool *placed;  /* ... and they are those of a closure's rows that take part */
    double
        *K; /* wrenches, internal axes about the internal origin: at segments, and of loops at their bases */
    double *Y, *Z; /* S'K per segment, and D^-1 S'K of the segments at one body */
    double
        *L; /* blocks; after elimination C (below the diagonal), 1 / d and F; rows of LW_ABREAST(columns) */
    double *E, *e; /* per row: C^-1 K' and C^-1 l */
    double *l;     /* per row: K'a + l + L lambda = 0 */
    bool weak;     /* in the last run some pivot was far below its scale */
    int *pivot;    /* per row: places in the list, in the order of their pivots */
    int *rank;     /* per loop */
    double *lambda;
    double length; /* of a link */
} lw_rcr_system;

/* With room for selections of these loops, all of which have segments. NULL when memory is out. */
lw_rcr_system *lw_rcr_system_create(const lw_model *model, lw_data *data, const lw_loop_constraints *loops,
                                    int rows, lw_arena *arena);
/* A selection of all rows in their own order; no pivot is too small. False: memory is out. */
bool lw_selection_create(lw_selection *selection, const lw_loop_constraints *loops, int rows,
                         lw_arena *arena);
/* Rows of this selection take part from now on. One that has changed has to be selected again after
 * lw_rcr_system_forget. */
void lw_rcr_system_select(lw_rcr_system *system, const lw_selection *selection);
static inline void lw_rcr_system_forget(lw_rcr_system *system) { system->selected = NULL; }

/* What the tree is subject to; NULL stands for nothing: speeds, joint forces, loads on bodies. */
typedef struct lw_subject {
    const double *v, *tau, *load;
    bool gravity;
    double *drive; /* out */
} lw_subject;

/* Places and velocities of the tree at data->q. */
void lw_rcr_system_start(lw_rcr_system *system, const lw_subject *subject);
/* With l, and K of the bodies that the rows act on, set: accelerations into data->vdot and nodes,
 * multipliers. */
lw_status lw_rcr_system_run(lw_rcr_system *system, const lw_subject *subject, lw_error *error);
/* Both on a processor with AVX2. */
void lw_rcr_system_start_4(lw_rcr_system *system, const lw_subject *subject);
lw_status lw_rcr_system_run_4(lw_rcr_system *system, const lw_subject *subject, lw_error *error);
/* Of a run whose rows are independent: by how much the diagonal of the multipliers' matrix exceeds some
 * pivot, at most. So many digits the elimination loses. */
double lw_rcr_system_cancellation(const lw_rcr_system *system);

/* Multipliers that move nothing, one for each redundant row chosen at random from `seed`, of the last run
 * with all rows awake. */
void lw_rcr_system_null(lw_rcr_system *system, unsigned seed, double *lambda);

#endif

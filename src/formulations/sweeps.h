/* sweeps.h - the two sweeps of the tree's recursion that carry closed loops along (rcr.c).
 */
#ifndef LW_SWEEPS_H
#define LW_SWEEPS_H

#include "formulations/ties.h"

/* Rows of a tie are listed in `row`, those that take part first. K, l and lambda count in that list. */
typedef struct lw_sweeps {
    const lw_model *model;
    lw_data *data;
    const lw_ties *ties;
    int *awake;    /* per tie: how many rows take part; the others are redundant as far as is known */
    int *row;      /* from tie.first on: its rows, counted from tie.first */
    bool *lasting; /* per tie: nothing is added to the wrenches on its second body in a run, ... */
    bool *placed;  /* ... and they are those of a closure's rows that take part */
    double *K; /* wrenches, internal axes about the internal origin: at strands, and of ties at their bases */
    double *Y, *Z; /* S'K per strand, and D^-1 S'K of the strands at one body */
    double
        *L; /* blocks; after elimination C (below the diagonal), 1 / d and F; rows of LW_ABREAST(columns) */
    double *E, *e; /* per row: C^-1 K' and C^-1 l */
    double *l;     /* per row: K'a + l + L lambda = 0 */
    double *scale; /* per row of the list: what its pivot would be in the direction that moves most */
    int *pivot;    /* per row: places in the list, in the order of their pivots */
    int *rank;     /* per tie */
    double *lambda;
    double length; /* of a link */
} lw_sweeps;

/* NULL when memory is out. */
lw_sweeps *lw_sweeps_create(const lw_model *model, lw_data *data, const lw_ties *ties, int rows,
                            lw_arena *arena);
/* All rows take part again, in their own order. */
void lw_sweeps_wake(lw_sweeps *sweeps);

/* Of the wrenches that tie t puts on its bodies, those of rows that do not take part become zero. */
void lw_sweeps_clear(lw_sweeps *sweeps, int tie);

/* What the tree is subject to; NULL stands for nothing: speeds, joint forces, loads on bodies. */
typedef struct lw_subject {
    const double *v, *tau, *load;
    bool gravity;
    double *drive; /* out */
} lw_subject;

/* Places and velocities of the tree at data->q. */
void lw_sweeps_start(lw_sweeps *sweeps, const lw_subject *subject);
/* With l, and K of the bodies that the rows act on, set: accelerations into data->vdot and nodes, multipliers. */
lw_status lw_sweeps_run(lw_sweeps *sweeps, const lw_subject *subject, lw_error *error);
/* Both on a processor with AVX2. */
void lw_sweeps_start_4(lw_sweeps *sweeps, const lw_subject *subject);
lw_status lw_sweeps_run_4(lw_sweeps *sweeps, const lw_subject *subject, lw_error *error);
/* The scales of the rows from the strands of a run. */
void lw_sweeps_measure(lw_sweeps *sweeps);

/* Multipliers that move nothing, one for each redundant row chosen at random from `seed`, of the last run with all rows awake. */
void lw_sweeps_null(lw_sweeps *sweeps, unsigned seed, double *lambda);

#endif

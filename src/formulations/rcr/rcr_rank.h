/* rcr_rank.h - which rows of closed loops are independent at a position (rcr_rank.c).
 */
#ifndef LW_RCR_RANK_H
#define LW_RCR_RANK_H

#include "formulations/rcr/rcr_coordinate_choice.h"

typedef struct lw_rank {
    const lw_choice *choice; /* Its structure and columns are used. */
    double *size;            /* Per loop: a length that makes its rows dimensionless. */
    bool *is_length;         /* Per row: it is a length; otherwise it is an angle. */
    /* The result of lw_rank_find. */
    int *found;    /* Per loop: the number of its independent rows. */
    int *row;      /* From loop.first on: all rows of the loop, the independent ones first. */
    double *least; /* Per loop: its smallest pivot, at most 1. */
    /* Solved fronts, one after another. Per loop: the index of its first entry in R, that of its first speed
     * in `speed`, and its number of speeds. */
    int *start, *speed_start, *count;
    double *R;
    int *speed, capacity, speed_capacity;
    int *dependent; /* From loop.first on: the speeds that the loop determines. */
    int *owner;     /* Per speed: the loop that determines it, or -1. */
    /* The front in progress: entries of six rows for each of n speeds. */
    int n, *list, *where;
    double *W;
} lw_rank;

/* Returns NULL when memory is out. */
lw_rank *lw_rank_create(const lw_choice *choice, lw_arena *arena);
/* Finds the sizes of the loops from the wrenches of all rows; after lw_rows_evaluate. */
void lw_rank_measure(lw_rank *rank, const double *K);
/* Returns how many rows are independent, with pivots above `least`, or -1 if the fronts exceed their memory.
 * It needs lw_choice_columns of all speeds and of all rows in their own order. */
int lw_rank_find(lw_rank *rank, double least);
/* Doubles the memory for fronts. Returns false when memory is out. */
bool lw_rank_grow(lw_rank *rank, lw_arena *arena);

#endif

/* rcr_rank.h - which rows of closed loops are independent at a position (rcr_rank.c).
 */
#ifndef LW_RCR_RANK_H
#define LW_RCR_RANK_H

#include "formulations/rcr/rcr_coordinate_choice.h"

typedef struct lw_rank {
    const lw_choice *choice; /* of its structure and columns */
    double *size;            /* per loop: of its loop */
    bool *is_length;         /* per row: else an angle */
    /* what has been found */
    int *found;    /* per loop: independent rows, ... */
    int *row;      /* ... from loop.first on: all its rows, these first */
    double *least; /* per loop: its smallest pivot, at most 1 */
    /* solved fronts, in turn: per loop the first number, the first speed and the number of speeds */
    int *start, *speed_start, *count;
    double *R;
    int *speed, capacity, speed_capacity;
    int *dependent; /* from loop.first on: the speeds that it determines */
    int *owner;     /* per speed: the loop that determines it, or -1 */
    /* the front at work: entries of six rows for each of n speeds */
    int n, *list, *where;
    double *W;
} lw_rank;

/* NULL when memory is out. */
lw_rank *lw_rank_create(const lw_choice *choice, lw_arena *arena);
/* The sizes of the loops, from the wrenches of all rows; after lw_rows_evaluate. */
void lw_rank_measure(lw_rank *rank, const double *K);
/* After lw_choice_columns of all speeds and all rows in their order: how many rows are independent, with
 * pivots above `least`; -1 if there is no room. */
int lw_rank_find(lw_rank *rank, double least);
/* Twice the room. False: memory is out. */
bool lw_rank_grow(lw_rank *rank, lw_arena *arena);

#endif

/* erk_pairs.h - the embedded Runge-Kutta pairs of erk.
 */
#ifndef LW_ERK_PAIRS_H
#define LW_ERK_PAIRS_H

#include <stdbool.h>

enum { LW_ERK_STAGES = 13 }; /* The largest number of stages. */

typedef struct lw_erk_pair {
    int stages, order;
    bool last_is_new; /* the last stage is the new state: its row of a is b */
    double c[LW_ERK_STAGES], a[LW_ERK_STAGES][LW_ERK_STAGES];
    double b[LW_ERK_STAGES]; /* The weights of the new state. */
    /* The weights of the state of lower order, whose difference from the new state estimates the error. */
    double d[LW_ERK_STAGES];
} lw_erk_pair;

/* Dormand and Prince's 8(7) (high) or 5(4). */
const lw_erk_pair *lw_erk_pair_of(bool high);

#endif

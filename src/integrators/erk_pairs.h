/* erk_pairs.h - coefficients of the embedded Runge-Kutta pairs that erk uses.
 */
#ifndef LW_ERK_PAIRS_H
#define LW_ERK_PAIRS_H

#include <stdbool.h>

enum { LW_ERK_STAGES = 13 };

typedef struct lw_erk_pair {
    int stages, order, error_order; /* error_order: of the formula compared with */
    bool last_is_first;             /* the last stage is f at the new state */
    double c[LW_ERK_STAGES];
    double a[LW_ERK_STAGES][LW_ERK_STAGES];
    double b[LW_ERK_STAGES]; /* the formula stepped with */
    double d[LW_ERK_STAGES]; /* the one compared with */
} lw_erk_pair;

extern const lw_erk_pair lw_dormand_prince_54, lw_dormand_prince_87;

#endif

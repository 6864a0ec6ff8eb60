/* kkt_order.h - the order in which the bodies of a mechanism are eliminated, and the neighbours that each
 * body then has.
 */
#ifndef LW_KKT_ORDER_H
#define LW_KKT_ORDER_H

#include "core/core.h"

typedef struct lw_kkt_order {
    int bodies;
    int *body, *position; /* body[k] is eliminated at position k; position is the inverse. */
    /* CSR: the positions of the neighbours of the body at position k when it is eliminated, all later
         * than k and ascending. */
    int *start, *neighbour;
    int *parent;    /* The first of these neighbours, or -1. */
    int *component; /* Per body: the connected component of the mechanism to which it belongs. */
    int components;
} lw_kkt_order;

/* Bodies 0 .. bodies - 1; row r connects body[start[r]] .. body[start[r + 1] - 1]. The order lives in the
 * arena. Returns false when memory is out. */
bool lw_kkt_order_make(lw_kkt_order *order, int bodies, int rows, const int *start, const int *body,
                       lw_arena *arena);

#endif

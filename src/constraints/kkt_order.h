/* kkt_order.h - the order in which the bodies of a mechanism are eliminated, and which others each one then
 * meets.
 */
#ifndef LW_KKT_ORDER_H
#define LW_KKT_ORDER_H

#include <stdbool.h>

typedef struct lw_kkt_order {
    int bodies;
    int *body, *position; /* body that is eliminated k-th; its inverse */
    int *start,
        *neighbour; /* places of the bodies, all later than k and ascending, that are tied to k-th then */
    int *parent;    /* first of them, or -1 */
    int *component; /* per body: a number of the part of the mechanism that hangs together with it */
    int components;
} lw_kkt_order;

/* Bodies 0 .. bodies - 1; row r ties body[start[r]] .. body[start[r + 1] - 1] together. False when memory is
 * out. */
bool lw_kkt_order_make(lw_kkt_order *order, int bodies, int rows, const int *start, const int *body);
void lw_kkt_order_free(lw_kkt_order *order);

#endif

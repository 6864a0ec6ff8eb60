/* random_massless.h - seeded random trees of which some bodies have no mass, or inertia in some directions only.
 */
#ifndef LW_TEST_RANDOM_MASSLESS_H
#define LW_TEST_RANDOM_MASSLESS_H

#include "random_loops.h"
#include "random_model.h"

/* What stands in the way of motions without mass. */
typedef enum massless_hold {
    HOLD_DAMPED = 0, /* a viscous damper at every speed: all are first order */
    HOLD_SPRUNG,     /* springs at every coordinate that has one, dampers elsewhere and at some of them */
    HOLD_NOTHING,
    HOLD_KINDS
} massless_hold;

/* A random tree with all types of joints in which about every second body lacks mass, inertia, or inertia about one axis.
 * little: what these bodies get instead of nothing, relative to the others; 0: nothing. The same seed gives the same tree
 * for every `little`. */
lw_spec *random_massless_spec(uint64_t seed, int bodies, massless_hold hold, double little);
lw_model *random_massless_model(uint64_t seed, int bodies, massless_hold hold, double little);

/* The closed loops of a seed, with bodies lightened in the same way, and dampers at all joints of the tree and of the loops. */
lw_model *random_massless_loops(random_loops *loops, int seed, double little);

#endif

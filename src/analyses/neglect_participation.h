/* neglect_participation.h - the part of the kinetic energy that small inertia has in the motions that remain
 * without it.
 */
#ifndef LW_NEGLECT_PARTICIPATION_H
#define LW_NEGLECT_PARTICIPATION_H

#include "model/compiled_model.h"

/* Small inertia of one body, and its participation: at most this part of the kinetic energy of the rest. */
typedef struct lw_participation {
    const char *body;
    double mass, inertia[6]; /* about its centre of mass, in the axes of the spec */
    double by_mass, by_inertia;
} lw_participation;

/* Both models have the same tree, with and without the small inertia of all bodies in the list. The
 * participations are zero where they cannot be computed: no consistent initial position, or too large a
 * model. */
lw_status lw_participation_find(const lw_model *with, const lw_model *without, lw_participation *list,
                                int count, lw_error *error);

#endif

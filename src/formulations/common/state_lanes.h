/* state_lanes.h - accelerations of several states at a time, on vectors, by the methods that offer it. Not in
 * linkwork-core, for which this is too much code.
 */
#ifndef LW_STATE_LANES_H
#define LW_STATE_LANES_H

#include "dynamics/batch_simd.h"
#include "formulations/formulation.h"

typedef struct lw_state_lanes {
    const char *method; /* the name of its formulation */
    /* Takes the memory for a method of this formulation, with the options of its creation; it is used in the
     * method's thread and destroyed before it. *width is the number of states at a time; 1, and *lanes is
     * NULL, if the model does not permit it. */
    lw_status (*create)(lw_method *method, const lw_method_options *options, int *width, void **lanes,
                        lw_error *error);
    void (*destroy)(void *lanes);
    /* Accelerations of states first .. first + width - 1, as far as they exist. Bit l of the result is set if
     * state first + l has its accelerations; the others are to be computed one by one. Both depend on that
     * state alone, to the last bit. */
    unsigned (*accelerations)(void *lanes, const lw_states *states, int first);
} lw_state_lanes;

/* NULL if the formulation offers none. */
const lw_state_lanes *lw_state_lanes_find(const char *method);

#endif

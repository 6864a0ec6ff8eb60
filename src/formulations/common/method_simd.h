/* method_simd.h - accelerations of several states at a time, on vectors, by the methods that offer it. Not in
 * linkwork-core, for which this is too much code.
 */
#ifndef LW_METHOD_SIMD_H
#define LW_METHOD_SIMD_H

#include "dynamics/batch_simd.h"
#include "formulations/formulation.h"

typedef struct lw_method_simd {
    const char *method; /* the name of its formulation */
    /* Takes the memory for a method of this formulation, with the options of its creation; it is used in the
     * method's thread and destroyed before it. *width is the number of states at a time; 1, and *workspace is
     * NULL, if the model does not permit it. */
    lw_status (*create)(lw_method *method, const lw_method_options *options, int *width, void **workspace,
                        lw_error *error);
    void (*destroy)(void *workspace);
    /* Accelerations of states first .. first + width - 1, as far as they exist. Bit l of the result is set if
     * state first + l has its accelerations; the others are to be computed one by one. Both depend on that
     * state alone, to the last bit. */
    unsigned (*accelerations)(void *workspace, const lw_states *states, int first);
} lw_method_simd;

/* NULL if the formulation offers none. */
const lw_method_simd *lw_method_simd_find(const char *method);

#endif

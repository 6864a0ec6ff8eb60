/* batch_simd.h - the recursions for several states at a time, one table for each width of vector.
 */
#ifndef LW_BATCH_SIMD_H
#define LW_BATCH_SIMD_H

#include "dynamics/tree_dynamics.h"

/* Some of many states, and where they stand: coordinate k of state s at [k * count + s]. */
typedef struct lw_states {
    int count;
    double t;
    const double *q, *v, *tau; /* tau may be NULL */
    double *vdot;
} lw_states;

typedef struct lw_batch_simd {
    const char *name;
    int width;                             /* states at a time */
    size_t (*size)(const lw_model *model); /* doubles of workspace, aligned to 64 bytes */
    /* States first .. first + width - 1, as far as they exist. data serves the force elements, state by
     * state. */
    lw_status (*forward)(const lw_model *model, lw_data *data, double *workspace, const lw_states *states,
                         int first, lw_error *error);
    /* Inverse dynamics: states->vdot is input, the result goes to tau. */
    lw_status (*inverse)(const lw_model *model, lw_data *data, double *workspace, const lw_states *states,
                         int first, double *tau, lw_error *error);
} lw_batch_simd;

extern const lw_batch_simd lw_batch_simd_2, lw_batch_simd_4, lw_batch_simd_8;
/* The widest that the processor has. */
const lw_batch_simd *lw_batch_simd_widest(void);

#endif

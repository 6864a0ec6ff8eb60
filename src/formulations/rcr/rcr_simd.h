/* rcr_simd.h - accelerations of several states at a time by the method rcr, one table for each width of
 * vector.
 */
#ifndef LW_RCR_SIMD_H
#define LW_RCR_SIMD_H

#include "dynamics/batch_simd.h"
#include "formulations/rcr/rcr_parts.h"

typedef struct lw_rcr_simd {
    int width; /* states at a time */
    /* The memory for them, from the arena; NULL when memory is out. */
    void *(*create)(const lw_rcr *m, lw_arena *arena);
    /* States first .. first + width - 1, as far as they exist. Bit l of the result is set if state first + l
     * has its accelerations; the others are left to a call for each. */
    unsigned (*accelerations)(lw_rcr *m, void *workspace, const lw_states *states, int first);
} lw_rcr_simd;

extern const lw_rcr_simd lw_rcr_simd_2, lw_rcr_simd_4, lw_rcr_simd_8;

#endif

/* rcr_lanes.c - accelerations of several states at a time: which width, and for which models.
 *
 * Vectors run the sweeps once, with the base rows (rcr_rows.c). So a base has to exist, and its result must
 * not need corrections.
 */
#include "formulations/rcr/rcr_lanes.h"

static const lw_rcr_simd *widest(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &lw_rcr_simd_8;
    if (__builtin_cpu_supports("avx2")) return &lw_rcr_simd_4;
#endif
    return &lw_rcr_simd_2;
}

lw_status lw_rcr_lanes(lw_method *base, int *lanes, lw_error *error) {
    lw_rcr *m = (lw_rcr *)base;
    *lanes = 1;
    if (!m->based || m->delicate) return LW_OK;
    m->simd = widest();
    m->lanes = m->simd->create(m, m->loop_base.arena);
    if (!m->lanes) return lw_out_of_memory(error);
    *lanes = m->simd->width;
    return LW_OK;
}

unsigned lw_rcr_accelerations_of_lanes(lw_method *base, const lw_states *states, int first) {
    lw_rcr *m = (lw_rcr *)base;
    return m->simd->accelerations(m, m->lanes, states, first);
}

/* rcr_lanes.c - accelerations of several states at a time: which width, and for which models.
 *
 * Vectors run the sweeps once, with the base rows (rcr_rows.c). So a base has to exist, and its result must
 * not need corrections.
 */
#include "formulations/common/state_lanes.h"
#include "formulations/rcr/rcr_lanes.h"

extern const lw_state_lanes lw_state_lanes_rcr;

typedef struct rcr_lanes {
    lw_rcr *method;
    const lw_rcr_simd *simd;
    void *memory;
} rcr_lanes;

static const lw_rcr_simd *widest(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &lw_rcr_simd_8;
    if (__builtin_cpu_supports("avx2")) return &lw_rcr_simd_4;
#endif
    return &lw_rcr_simd_2;
}

static lw_status create(lw_method *base, const lw_method_options *options, int *width, void **lanes,
                        lw_error *error) {
    (void)options;
    lw_rcr *m = (lw_rcr *)base;
    *width = 1, *lanes = NULL;
    if (!m->based || m->delicate) return LW_OK;
    rcr_lanes *x = LW_NEW(m->loop_base.arena, rcr_lanes, 1);
    if (!x) return lw_out_of_memory(error);
    *x = (rcr_lanes){m, widest(), NULL};
    x->memory = x->simd->create(m, m->loop_base.arena);
    if (!x->memory) return lw_out_of_memory(error);
    *width = x->simd->width, *lanes = x;
    return LW_OK;
}

static void destroy(void *lanes) { (void)lanes; } /* The method's arena owns it. */

static unsigned accelerations(void *lanes, const lw_states *states, int first) {
    rcr_lanes *x = lanes;
    return x->simd->accelerations(x->method, x->memory, states, first);
}

const lw_state_lanes lw_state_lanes_rcr = {"rcr", create, destroy, accelerations};

/* rcr_simd.c - accelerations of several states at a time: which width, and for which models.
 *
 * Vectors run the passes once, with the base rows (rcr_rows.c). So a base has to exist, and its result must
 * not need corrections.
 */
#include "core/processor.h"
#include "formulations/common/method_simd.h"
#include "formulations/rcr/rcr_simd.h"

extern const lw_method_simd lw_method_simd_rcr;

typedef struct simd_rcr {
    lw_rcr *method;
    const lw_rcr_simd *simd;
    void *memory;
} simd_rcr;

static const lw_rcr_simd *widest(void) {
    if (lw_has_avx512()) return &lw_rcr_simd_8;
    if (lw_has_avx2()) return &lw_rcr_simd_4;
    return &lw_rcr_simd_2;
}

static lw_status create(lw_method *base, const lw_method_options *options, int *width, void **workspace,
                        lw_error *error) {
    (void)options;
    lw_rcr *m = (lw_rcr *)base;
    *width = 1, *workspace = NULL;
    if (!m->based || m->delicate) return LW_OK;
    simd_rcr *x = LW_NEW(m->loop_base.arena, simd_rcr, 1);
    if (!x) return lw_out_of_memory(error);
    *x = (simd_rcr){m, widest(), NULL};
    x->memory = x->simd->create(m, m->loop_base.arena);
    if (!x->memory) return lw_out_of_memory(error);
    *width = x->simd->width, *workspace = x;
    return LW_OK;
}

static void destroy(void *workspace) { (void)workspace; } /* The method's arena owns it. */

static unsigned accelerations(void *workspace, const lw_states *states, int first) {
    simd_rcr *x = workspace;
    return x->simd->accelerations(x->method, x->memory, states, first);
}

const lw_method_simd lw_method_simd_rcr = {"rcr", create, destroy, accelerations};

/* models_simd.c - which trees can stand side by side in a vector, and the widest vector of the processor.
 *
 * The recursions decide by kinds of joints, signs, slots and by which speeds are left out; all of that must
 * be the same in every lane. Joints without a kernel of their own have numbers that the recursions take from
 * the joint itself (pitch, axes), which must be the same too.
 *
 * Cost     O(bodies) a pair.
 */
#include "dynamics/models_simd.h"

#include <math.h>
#include <string.h>

const lw_models_simd *lw_models_simd_widest(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return &lw_models_simd_8;
    if (__builtin_cpu_supports("avx2")) return &lw_models_simd_4;
#endif
    return &lw_models_simd_2;
}

static bool joints_alike(const lw_joint *a, const lw_joint *b) {
    if (a->type != b->type || a->inverse != b->inverse || a->straight != b->straight || a->axis != b->axis ||
        a->kernel != b->kernel || a->sign != b->sign || a->pitch != b->pitch || a->nq != b->nq ||
        a->nv != b->nv || !a->axes != !b->axes)
        return false;
    for (int k = 0; a->axes && k < 3 * a->nv; k++)
        if (a->axes[k] != b->axes[k]) return false;
    return true;
}

bool lw_models_alike(const lw_model *one, const lw_model *other) {
    if (one->body_count != other->body_count || one->nq != other->nq || one->nv != other->nv ||
        one->slot_count != other->slot_count || one->turn_count != other->turn_count ||
        !one->armature != !other->armature || one->forces_need_world != other->forces_need_world)
        return false;
    for (int i = 1; i <= one->body_count; i++) {
        const lw_link *a = &one->links[i], *b = &other->links[i];
        if (a->parent != b->parent || a->q != b->q || a->v != b->v || a->slot != b->slot ||
            a->kernel != b->kernel || a->first != b->first || a->prescribed != b->prescribed ||
            a->sign != b->sign || !joints_alike(&a->joint, &b->joint))
            return false;
    }
    for (int k = 0; k < one->turn_count; k++)
        if (one->turns[k].q != other->turns[k].q || one->turns[k].v != other->turns[k].v ||
            one->turns[k].sign != other->turns[k].sign)
            return false;
    for (int k = 0; k < one->nv; k++)
        if (!isinf(one->pivot_floor[k]) != !isinf(other->pivot_floor[k])) return false;
    return true;
}

/* variant.h - the same mechanism with other cuts or another motion of a joint: its spec with other joints.
 */
#ifndef LW_VARIANT_H
#define LW_VARIANT_H

#include "model/compiled_model.h"
#include "model/spec/spec_storage.h"

#include <stdlib.h>
#include <string.h>

/* A spec that shares everything with another but its joints, which are to be freed; NULL there: out of
 * memory. */
static inline lw_spec lw_variant(const lw_spec *spec) {
    lw_spec variant = *spec;
    variant.joints = calloc(spec->joint_count + 1, sizeof *variant.joints);
    if (variant.joints) memcpy(variant.joints, spec->joints, spec->joint_count * sizeof *variant.joints);
    return variant;
}

/* The cuts of a model as requests. */
static inline void lw_variant_cuts(const lw_model *model, lw_joint_spec *joints) {
    for (int j = 0; j < model->joint_count; j++) joints[j].cut = model->joints[j].info.cut;
}

static inline bool lw_variant_same_tree(const lw_model *a, const lw_model *b) {
    for (int j = 0; j < a->joint_count; j++)
        if (a->joints[j].info.cut != b->joints[j].info.cut || a->joints[j].info.q != b->joints[j].info.q)
            return false;
    return true;
}

#endif

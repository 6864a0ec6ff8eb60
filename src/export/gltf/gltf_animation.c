/* gltf_animation.c - an animation of view.h as glTF.
 */
#include "export/view/animation.h"

#include <linkwork/gltf.h>

lw_status lw_animation_gltf(const lw_animation *animation, const char *path, const lw_gltf_options *options,
                            lw_gltf_summary *summary, lw_error *error) {
    if (!animation || animation->count == 0 || !path)
        return lw_call_needs("an animation with a sample at least, and a path", error);
    return lw_export_gltf(animation->model, animation->times, animation->poses.at, animation->count, path,
                          options, summary, error);
}

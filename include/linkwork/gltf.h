/* gltf.h - a motion as an animated glTF 2.0 file (.glb), for Blender, slides and viewers of others.
 */
#ifndef LINKWORK_GLTF_H
#define LINKWORK_GLTF_H

#include <linkwork/dynamics.h>
#include <linkwork/view.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_gltf_options {
    /* How far a body may be from its place at a sample that is left out, relative to the size of the
     * mechanism; 0: 2e-5, which no eye sees. */
    double accuracy;
    bool grid; /* a grid of lines below the mechanism */
} lw_gltf_options;

/* What was written. */
typedef struct lw_gltf_summary {
    size_t bytes, nodes, keys; /* keys: of all channels; samples that interpolation gives are left out */
    size_t samples;            /* those with different times in single precision */
} lw_gltf_summary;

/* The poses of the bodies 1 .. n in a state, as lw_export_gltf takes them: seven numbers each, the position
 * of the body's frame and its quaternion x, y, z, w. */
LW_API lw_status lw_gltf_poses(const lw_model *model, lw_data *data, double t, const double *q,
                               double *poses);

/* Writes a motion: count samples of time, not descending, and of the poses of all bodies. Bodies are nodes
 * with their names and show their shapes; one without is drawn as links between its joints with a ball at
 * its centre of mass. Joints have solids by their types, springs are coils. The file's times start at 0.
 * Coordinates are those of the model below a root node that turns z up into glTF's y up. options and summary
 * may be NULL. */
LW_API lw_status lw_export_gltf(const lw_model *model, const double *t, const double *poses, size_t count,
                                const char *path, const lw_gltf_options *options, lw_gltf_summary *summary,
                                lw_error *error);

/* The same for an animation (view.h), of a run or of a results file. */
LW_API lw_status lw_animation_gltf(const lw_animation *animation, const char *path,
                                   const lw_gltf_options *options, lw_gltf_summary *summary, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif

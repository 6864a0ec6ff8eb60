/* scene_keys.h - the motion of nodes, and the few of its samples from which interpolation gives all others.
 */
#ifndef LW_SCENE_KEYS_H
#define LW_SCENE_KEYS_H

#include "export/scene/scene_model.h"

/* The pose of a node: of a body's frame in the world, or of a line, whose z is scaled by its length. */
typedef struct lw_node_pose {
    double position[3], rotation[4]; /* the quaternion's sign is that closer to the sample before */
    double length;                   /* 1 for bodies */
} lw_node_pose;

/* How many nodes a scene has: bodies with ground, then lines. */
size_t lw_scene_node_count(const lw_scene *scene);

/* Poses of the nodes first .. first + count - 1 from those of the bodies 1 .. n in a sample, seven numbers
 * each: position, quaternion x, y, z, w. before: the nodes' poses in the sample before, or NULL. */
void lw_scene_poses(const lw_scene *scene, const double *sample, size_t first, size_t count,
                    const lw_node_pose *before, lw_node_pose *poses);

/* Chooses samples of one node, the first and the last among them, such that at no sample linear
 * interpolation of position and length and spherical interpolation of rotation between the chosen ones
 * deviate by more than tolerance, for a point at a distance of reach. The sample k of the node is
 * poses[k * stride]. Returns their number; keys has room for count. Cost O(count log count). */
size_t lw_scene_keys(const double *t, const lw_node_pose *poses, size_t stride, size_t count, double reach,
                     double tolerance, size_t *keys);

#endif

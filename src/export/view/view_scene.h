/* view_scene.h - a model and its motion as JSON, for pages and for other programs. */
#ifndef LW_VIEW_SCENE_H
#define LW_VIEW_SCENE_H

#include "export/view/animation.h"
#include "export/view/view_json.h"

/* The model: bodies with shapes, joints, force elements, constraints, loops, redundancy, as an object. All
 * points and axes are in the users' body frames. */
void lw_view_put_model(lw_view_json *j, const char *key, const lw_animation *a);
/* The motion: times, poses at keys, columns, events, ledger, verdict, as an object. */
lw_status lw_view_put_motion(lw_view_json *j, const char *key, const lw_animation *a,
                             const lw_view_options *options);
/* The size of a scene, m: the diagonal of the box in which joints, centres of mass and shapes are at the
 * start. */
double lw_view_size(const lw_animation *a);

#endif

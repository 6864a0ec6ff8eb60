/* scene_model.h - a mechanism as solids: what there is to see of each body, joint, spring and constraint.
 *
 * Every body is a node that moves with the body's frame and carries parts; ground is node 0. What stretches
 * between two bodies, springs and constraints of distance, is a line: a solid along z from one point to the
 * other. Sizes of what has none of its own (links, joints, balls at centres of mass) follow from the bodies'
 * median extent, so that pictures look alike whatever the mechanism's size.
 */
#ifndef LW_SCENE_MODEL_H
#define LW_SCENE_MODEL_H

#include "export/scene/scene_mesh.h"
#include "model/compiled_model.h"

/* Colours: 0 .. LW_PAINT_BODIES - 1 for bodies in turn, then those with a meaning. */
enum {
    LW_PAINT_BODIES = 8,
    LW_PAINT_JOINT = LW_PAINT_BODIES,
    LW_PAINT_CUT,  /* a joint that closes a loop */
    LW_PAINT_LINE, /* springs, distances */
    LW_PAINT_BUSHING,
    LW_PAINT_GRID,
    LW_PAINTS
};

typedef struct lw_paint {
    const char *name;     /* NULL: a colour of its own */
    unsigned char rgb[3]; /* sRGB */
} lw_paint;
extern const lw_paint lw_paints[LW_PAINTS];

/* A solid in the frame of its node. */
typedef struct lw_part {
    const char *name; /* of a joint or bushing; NULL: none */
    const char *kind; /* "joint", "bushing", "shape" */
    lw_solid solid;
    int body;              /* whose node it belongs to */
    const lw_shape *shape; /* of a tetrahedron or mesh: what has its points; else NULL */
    int paint;             /* index into the scene's paints */
    double position[3], rotation[4], scale[3];
} lw_part;

typedef struct lw_scene_line {
    const char *name;
    lw_solid solid;
    int bodies[2];
    double points[2][3]; /* in the bodies' frames */
    double radius;
} lw_scene_line;

typedef struct lw_scene {
    const lw_model *model;
    lw_part *parts; /* in the order of bodies: those of body i are parts[first[i] .. first[i + 1]) */
    size_t part_count, *first;
    lw_scene_line *lines;
    size_t line_count;
    lw_paint *paints; /* lw_paints, and behind these the shapes' own */
    int paint_count;
    double (*middle)[3], *radius; /* of a ball around each body, in its frame; zero for ground */
    double typical;               /* the median extent of bodies */
} lw_scene;

/* Describes the model, which must outlive the scene; NULL if memory is out. sample: the poses of the bodies 1
 * .. n in any position of the motion, seven numbers each: position, quaternion x, y, z, w. Cost O(bodies +
 * joints). */
lw_scene *lw_scene_create(const lw_model *model, const double *sample, lw_arena *arena);

#endif

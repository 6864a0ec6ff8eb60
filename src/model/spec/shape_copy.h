/* shape_copy.h - copies of shapes in an arena; equal meshes are kept once.
 */
#ifndef LW_SHAPE_COPY_H
#define LW_SHAPE_COPY_H

#include "core/core.h"

#include <linkwork/spec.h>

/* The meshes of a spec or a model. */
typedef struct lw_mesh_pool {
    const lw_mesh_spec **items;
    size_t count, capacity;
} lw_mesh_pool;

/* The mesh of the pool that equals this one, which is added if there is none; NULL for NULL, or if memory is
 * out. Its counts must not be negative. */
const lw_mesh_spec *lw_mesh_keep(lw_mesh_pool *pool, lw_arena *arena, const lw_mesh_spec *mesh);

/* Adds a mesh that lives in the arena as it is; false if memory is out. */
bool lw_mesh_enter(lw_mesh_pool *pool, lw_arena *arena, const lw_mesh_spec *mesh);

/* The index of a mesh of the pool; -1 if it is not there. */
int lw_mesh_index(const lw_mesh_pool *pool, const lw_mesh_spec *mesh);

/* A copy of count shapes, whose meshes are those of the pool; NULL if memory is out. */
lw_shape *lw_shapes_copy(lw_mesh_pool *pool, lw_arena *arena, const lw_shape *shapes, int count);

#endif

/* shape_copy.c - copies of shapes in an arena; equal meshes are kept once.
 *
 * A mesh may have millions of triangles, and a repeated body as many copies of it as it has steps. Two
 * meshes are equal if counts, coordinates (to the last bit), indices and file are. Cost of one O(its size,
 * for every mesh of the pool with the same counts).
 */
#include "model/spec/shape_copy.h"

#include <string.h>

static size_t coordinates(const lw_mesh_spec *mesh) {
    return mesh->vertices ? 3 * (size_t)mesh->vertex_count : 0;
}
static size_t indices(const lw_mesh_spec *mesh) {
    return mesh->triangles ? 3 * (size_t)mesh->triangle_count : 0;
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_mesh(const lw_mesh_spec *a, const lw_mesh_spec *b) {
    if (a == b) return true;
    size_t numbers = coordinates(a), corners = indices(a);
    if (a->vertex_count != b->vertex_count || a->triangle_count != b->triangle_count ||
        numbers != coordinates(b) || corners != indices(b) || !same_text(a->file, b->file))
        return false;
    return (numbers == 0 || memcmp(a->vertices, b->vertices, numbers * sizeof *a->vertices) == 0) &&
           (corners == 0 || memcmp(a->triangles, b->triangles, corners * sizeof *a->triangles) == 0);
}

bool lw_mesh_enter(lw_mesh_pool *pool, lw_arena *arena, const lw_mesh_spec *mesh) {
    if (pool->count == pool->capacity) {
        size_t capacity = 2 * pool->capacity + 8;
        const lw_mesh_spec **longer = LW_NEW(arena, const lw_mesh_spec *, capacity);
        if (!longer) return false;
        if (pool->count > 0) memcpy((void *)longer, (const void *)pool->items, pool->count * sizeof *longer);
        pool->items = longer;
        pool->capacity = capacity;
    }
    pool->items[pool->count++] = mesh;
    return true;
}

const lw_mesh_spec *lw_mesh_keep(lw_mesh_pool *pool, lw_arena *arena, const lw_mesh_spec *mesh) {
    if (!mesh) return NULL;
    for (size_t k = 0; k < pool->count; k++)
        if (same_mesh(pool->items[k], mesh)) return pool->items[k];
    lw_mesh_spec *copy = LW_NEW(arena, lw_mesh_spec, 1);
    double *vertices = LW_NEW(arena, double, coordinates(mesh) + 1);
    int *triangles = LW_NEW(arena, int, indices(mesh) + 1);
    const char *file = lw_arena_text(arena, mesh->file);
    if (lw_arena_failed(arena)) return NULL;
    if (mesh->vertices) memcpy(vertices, mesh->vertices, coordinates(mesh) * sizeof *vertices);
    if (mesh->triangles) memcpy(triangles, mesh->triangles, indices(mesh) * sizeof *triangles);
    *copy = (lw_mesh_spec){.vertex_count = mesh->vertex_count,
                           .triangle_count = mesh->triangle_count,
                           .vertices = mesh->vertices ? vertices : NULL,
                           .triangles = mesh->triangles ? triangles : NULL,
                           .file = file};
    return lw_mesh_enter(pool, arena, copy) ? copy : NULL;
}

int lw_mesh_index(const lw_mesh_pool *pool, const lw_mesh_spec *mesh) {
    for (size_t k = 0; k < pool->count && mesh; k++)
        if (pool->items[k] == mesh) return (int)k;
    return -1;
}

lw_shape *lw_shapes_copy(lw_mesh_pool *pool, lw_arena *arena, const lw_shape *shapes, int count) {
    lw_shape *copy = LW_NEW(arena, lw_shape, count + 1);
    for (int k = 0; k < count && copy; k++) {
        copy[k] = shapes[k];
        copy[k].mesh = lw_mesh_keep(pool, arena, shapes[k].mesh);
        if (shapes[k].mesh && !copy[k].mesh) return NULL;
    }
    return copy;
}

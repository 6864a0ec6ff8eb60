/* scene_mesh.h - triangles of the solids from which pictures of mechanisms are made.
 *
 * Each solid has unit size; a part of a scene scales it. Normals point outwards, triangles are
 * counter-clockwise seen from outside.
 */
#ifndef LW_SCENE_MESH_H
#define LW_SCENE_MESH_H

#include "core/core.h"

#include <linkwork/spec.h>

#include <stdint.h>

typedef enum lw_solid {
    LW_SOLID_BOX = 0,     /* edges of length 1, centred */
    LW_SOLID_CYLINDER,    /* radius 1, length 1 along z, centred */
    LW_SOLID_SPHERE,      /* radius 1, centred */
    LW_SOLID_CONE,        /* base of radius 1 at the origin, apex at z = 1 */
    LW_SOLID_COIL,        /* a wound wire of radius 1 from z = 0 to z = 1, with straight ends on the axis */
    LW_SOLID_TETRAHEDRON, /* four given points: not of unit size */
    LW_SOLID_MESH,        /* the triangles of a mesh: not of unit size */
    LW_SOLIDS
} lw_solid;

typedef struct lw_mesh {
    float *positions, *normals;       /* three numbers for each vertex */
    uint16_t *indices;                /* three for each triangle */
    size_t vertex_count, index_count; /* index_count 0: each three vertices are a triangle */
} lw_mesh;

/* Fills mesh with memory of the arena; false if that is out. points: of a tetrahedron, else NULL. */
bool lw_mesh_create(lw_solid solid, const double (*points)[3], lw_arena *arena, lw_mesh *mesh);

/* The triangles of a mesh, each with vertices of its own, as far as they are finite in single precision.
 * Their normals are smooth where triangles meet at less than 35 degrees. */
bool lw_mesh_of_triangles(const lw_mesh_spec *triangles, lw_arena *arena, lw_mesh *mesh);

#endif

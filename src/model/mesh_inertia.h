/* mesh_inertia.h - volume, centroid and second moments of the solid within a surface of triangles.
 */
#ifndef LW_MESH_INERTIA_H
#define LW_MESH_INERTIA_H

#include "core/core.h"

#include <linkwork/spec.h>

/* Are counts, indices and coordinates valid? The surface need not be closed. error may be NULL. */
lw_status lw_mesh_valid(const lw_mesh_spec *mesh, lw_error *error);

/* Volume, centroid c, and the integral of (x - c)(x - c)' over the solid per volume. *inward (may be NULL):
 * the triangles are clockwise seen from outside. Returns what lw_mesh_check does. */
lw_status lw_mesh_moments(const lw_mesh_spec *mesh, double *volume, double centroid[3], double second[6],
                          bool *inward, lw_error *error);

/* Turns triangles (those of the mesh) counter-clockwise seen from outside, if there is an outside. */
void lw_mesh_turn_outward(const lw_mesh_spec *mesh, int *triangles);

#endif

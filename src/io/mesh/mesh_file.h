/* mesh_file.h - triangles from a file: STL, binary or text, OBJ, or MuJoCo's MSH.
 */
#ifndef LW_MESH_FILE_H
#define LW_MESH_FILE_H

#include "core/core.h"

#include <linkwork/spec.h>

/* Reads the mesh into the arena, without its name of the file. Corners with the same coordinates are one
 * vertex, and triangles of which two corners are one are left out. A closed surface of triangles that are
 * clockwise seen from outside is turned round. The format follows from the name's end,
 * .stl, .obj or .msh. The triangles need not form a closed surface. */
lw_status lw_mesh_file_read(const char *path, lw_arena *arena, lw_mesh_spec *mesh, lw_error *error);

/* The same of the bytes of a file of this path, with a zero behind them. */
lw_status lw_mesh_file_bytes(const char *path, const unsigned char *bytes, size_t size, lw_arena *arena,
                             lw_mesh_spec *mesh, lw_error *error);

#endif

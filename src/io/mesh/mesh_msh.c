/* mesh_msh.c - triangles of an MSH file, the binary format of MuJoCo.
 *
 * Four i32: the numbers of vertices, normals, texture coordinates and triangles; then IEEE 754 binary32:
 * three for each vertex, three for each normal, two for each texture coordinate; then for each triangle three
 * i32, numbers of vertices from 0. All little-endian, nothing behind. Normals are not used: the order of the
 * corners says the same. Such files give each triangle vertices of its own; those with the same coordinates
 * become one.
 *
 * Source   MuJoCo's documentation, XML reference, asset/mesh.
 */
#include "io/mesh/mesh_file_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 16 };

static uint32_t u32_at(const unsigned char *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static bool read_vertices(lw_mesh_builder *b, const unsigned char *at, uint32_t count, int *vertices) {
    for (uint32_t v = 0; v < count; v++) {
        double point[3];
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t bits = u32_at(at + 4 * (3 * (size_t)v + k));
            float value;
            memcpy(&value, &bits, sizeof value);
            if (!(fabsf(value) <= 1e30f))
                return lw_mesh_fault(b, 0, "export the mesh again",
                                     "coordinate %c of vertex %u is no finite number", "xyz"[k], v);
            point[k] = (double)value;
        }
        if (!lw_mesh_vertex(b, point, &vertices[v])) return false;
    }
    return true;
}

static bool read_triangles(lw_mesh_builder *b, const unsigned char *at, uint32_t count, uint32_t vertex_count,
                           const int *vertices) {
    for (uint32_t t = 0; t < count; t++) {
        int corners[3];
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t vertex = u32_at(at + 4 * (3 * (size_t)t + k));
            if (vertex >= vertex_count)
                return lw_mesh_fault(b, 0, "export the mesh again",
                                     "triangle %u has a corner %u, but there are %u vertices", t, vertex,
                                     vertex_count);
            corners[k] = vertices[vertex];
        }
        if (!lw_mesh_triangle(b, corners[0], corners[1], corners[2])) return false;
    }
    return true;
}

bool lw_mesh_read_msh(lw_mesh_builder *b, const unsigned char *bytes, size_t size) {
    uint32_t counts[4] = {0, 0, 0, 0};
    for (int k = 0; k < 4 && size >= HEAD; k++) counts[k] = u32_at(bytes + 4 * (size_t)k);
    const uint64_t behind =
        HEAD + 12 * (uint64_t)counts[0] + 12 * (uint64_t)counts[1] + 8 * (uint64_t)counts[2];
    const uint64_t wanted = behind + 12 * (uint64_t)counts[3];
    if (size < HEAD || size != wanted)
        return lw_mesh_fault(b, 0, "give an MSH file of MuJoCo, or the mesh as STL or OBJ",
                             "the file is no MSH file: its head asks for %llu bytes, but there are %zu",
                             (unsigned long long)(size < HEAD ? HEAD : wanted), size);
    int *vertices = calloc((size_t)counts[0] + 1, sizeof *vertices);
    if (!vertices) return lw_mesh_no_memory(b);
    const bool good = read_vertices(b, bytes + HEAD, counts[0], vertices) &&
                      read_triangles(b, bytes + behind, counts[3], counts[0], vertices);
    free(vertices);
    return good;
}

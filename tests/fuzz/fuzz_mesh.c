/* fuzz_mesh.c - any bytes as a file of a mesh, STL, OBJ and MSH: read it, weigh the solid within.
 *
 * What must hold, besides no crash, no leak, no undefined behaviour and no hang:
 *   - a file that is refused gets a message and a remedy;
 *   - a mesh that is read has triangles, with corners that are there and finite;
 *   - a solid has a positive mass. (Shells that overlap with opposite sense may have their centre anywhere.)
 */
#include "demand.h"
#include "io/mesh/mesh_file.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void weigh(const lw_mesh_spec *mesh) {
    const lw_shape shape = {.kind = LW_SHAPE_MESH, .size = {1, 1, 1}, .mesh = mesh};
    double mass, com[3], inertia[6];
    lw_error error = {0};
    if (lw_mesh_check(mesh, &error) != LW_OK) {
        DEMAND(error.message[0] && error.remedy[0]);
        return;
    }
    if (lw_shape_inertia(&shape, 0, 1, &mass, com, inertia) != LW_OK) return;
    DEMAND(mass > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"fuzz.stl", "fuzz.obj", "fuzz.msh"};
    unsigned char *bytes = malloc(size + 1);
    DEMAND(bytes);
    if (size > 0) memcpy(bytes, data, size);
    bytes[size] = 0;
    for (int k = 0; k < 3; k++) {
        lw_arena *arena = lw_arena_create(NULL);
        lw_mesh_spec mesh;
        lw_error error = {0};
        if (lw_mesh_file_bytes(names[k], bytes, size, arena, &mesh, &error) == LW_OK) {
            DEMAND(mesh.triangle_count > 0 && mesh.vertex_count > 2);
            for (int i = 0; i < 3 * mesh.triangle_count; i++)
                DEMAND(mesh.triangles[i] >= 0 && mesh.triangles[i] < mesh.vertex_count);
            for (int i = 0; i < 3 * mesh.vertex_count; i++) DEMAND(isfinite(mesh.vertices[i]));
            weigh(&mesh);
        } else {
            DEMAND(error.message[0] && error.remedy[0]);
        }
        lw_arena_destroy(arena);
    }
    free(bytes);
    return 0;
}

/* mjcf_assets.c - meshes and materials of MJCF.
 *
 * A mesh comes from a file (STL, OBJ or MSH) or from the numbers of its attributes vertex and face. Its
 * points are
 *     x = S Q' (v - r)
 * with refpos r, refquat Q and scale S. A mesh that cannot be had is a warning; bodies whose mass should come
 * from it are told of by mjcf_inertia.c.
 */
#include "io/import/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

int mj_find_mesh(const mj_reader *reader, const char *name) {
    for (int k = 0; k < reader->meshes.count; k++)
        if (strcmp(MJ_MESH(reader, k)->name, name) == 0) return k;
    return -1;
}

/* The name of a file without folder and ending: the mesh's own if it has none. */
static const char *base_name(mj_reader *reader, const char *file) {
    const char *slash = strrchr(file, '/'), *begin = slash ? slash + 1 : file, *dot = strrchr(begin, '.');
    const int length = dot ? (int)(dot - begin) : (int)strlen(begin);
    return lw_import_print(reader->importer, "%.*s", length, begin);
}

/* Triangles from the attributes vertex and face. */
static void read_numbers(mj_reader *reader, const mj_element *element, mj_mesh *mesh) {
    int numbers = 0, corners = 0;
    const double *vertices = mj_list(reader, element, "vertex", &numbers);
    const double *faces = mj_list(reader, element, "face", &corners);
    if (numbers < 12 || numbers % 3 != 0) {
        mj_error(reader, element->node, "vertex", "give three numbers for each of at least four points",
                 "vertex has %d numbers", numbers);
        return;
    }
    if (!faces || corners == 0) {
        mj_warn(reader, element->node, "vertex", "give its triangles by face",
                "a mesh of points alone stands for their convex hull, which is not computed");
        return;
    }
    int *triangles = LW_NEW(reader->arena, int, corners);
    if (!triangles) {
        reader->importer->out_of_memory = true;
        return;
    }
    bool good = corners % 3 == 0;
    for (int k = 0; k < corners && good; k++) {
        good = faces[k] >= 0 && faces[k] < numbers / 3 && faces[k] == floor(faces[k]);
        if (good) triangles[k] = (int)faces[k];
    }
    if (!good) {
        mj_error(reader, element->node, "face", "give three numbers of vertices, from 0, for each triangle",
                 "face has a number that is no vertex, or not three for each triangle");
        return;
    }
    mesh->mesh = (lw_mesh_spec){.vertex_count = numbers / 3,
                                .triangle_count = corners / 3,
                                .vertices = vertices,
                                .triangles = triangles};
    mesh->loaded = true;
}

/* x = S Q' (v - r) of every vertex, if there are r or Q. */
static void move_vertices(mj_reader *reader, const mj_element *element, mj_mesh *mesh) {
    double r[3] = {0, 0, 0}, q[4] = {1, 0, 0, 0}, R[9], from[3], turned[3];
    const bool moved = mj_numbers(reader, element, "refpos", 3, 3, r) == 3;
    const bool rotated = mj_numbers(reader, element, "refquat", 4, 4, q) == 4;
    if (!mesh->loaded || (!moved && !rotated)) return;
    lw_quat_normalise(q);
    lw_rot_quat(q, R);
    double *vertices = LW_NEW(reader->arena, double, 3 * mesh->mesh.vertex_count);
    if (!vertices) {
        reader->importer->out_of_memory = true;
        return;
    }
    for (int k = 0; k < mesh->mesh.vertex_count; k++) {
        lw_v3_sub(mesh->mesh.vertices + 3 * k, r, from);
        lw_m3_tmul_v(R, from, turned);
        lw_v3_copy(turned, vertices + 3 * k);
    }
    mesh->mesh.vertices = vertices;
    mesh->mesh.file = NULL;
}

static void read_mesh(mj_reader *reader, const lw_xml *node) {
    const mj_element element = mj_with_class(reader, node, "mesh", reader->classes.count > 0 ? 0 : -1);
    const char *name = lw_xml_get(node, "name"), *file = mj_text(reader, &element, "file");
    if (!name && file) name = base_name(reader, file);
    if (!name) {
        mj_error(reader, node, NULL, "give a name or a file", "the mesh has neither a name nor a file");
        return;
    }
    if (mj_find_mesh(reader, name) >= 0) {
        mj_error(reader, node, "name", "give it another name", "there is a mesh \"%.60s\" already", name);
        return;
    }
    mj_mesh *mesh = mj_add(reader, &reader->meshes, sizeof *mesh);
    if (!mesh) return;
    *mesh = (mj_mesh){.name = name, .node = node, .scale = {1, 1, 1}};
    (void)mj_numbers(reader, &element, "scale", 3, 3, mesh->scale);
    if (mesh->scale[0] == 0 || mesh->scale[1] == 0 || mesh->scale[2] == 0) {
        mj_error(reader, node, "scale", "give factors that are not zero", "a factor of scale is zero");
        return;
    }
    const char *how = mj_text(reader, &element, "inertia");
    mesh->counts = reader->exact_meshes ? MJ_EXACT : MJ_LEGACY;
    if (how) {
        static const char *const ways[] = {"legacy", "exact", "shell", "convex", NULL};
        const int way = mj_word(reader, &element, "inertia", ways, 0);
        if (way >= 0) mesh->counts = (mj_counting)way;
    }
    if (file) {
        char path[1024];
        if (reader->strippath && strrchr(file, '/')) file = strrchr(file, '/') + 1;
        const bool joined = reader->meshdir && reader->meshdir[0] && file[0] != '/';
        (void)snprintf(path, sizeof path, "%s%s%s", joined ? reader->meshdir : "",
                       joined && reader->meshdir[strlen(reader->meshdir) - 1] != '/' ? "/" : "", file);
        const char *own = reader->importer->file;
        char object[112];
        (void)snprintf(object, sizeof object, "mesh \"%.90s\"", name);
        const lw_mesh_spec *read = lw_import_mesh(reader->importer, path, lw_xml_place(node, "file"), object);
        reader->importer->file = own;
        if (read) mesh->mesh = *read, mesh->loaded = true;
    } else if (mj_text(reader, &element, "vertex"))
        read_numbers(reader, &element, mesh);
    else
        mj_warn(reader, node, NULL, NULL, "it has neither a file nor vertices that are read");
    move_vertices(reader, &element, mesh);
    mesh->known = mesh->loaded && mesh->counts != MJ_HULL &&
                  mj_mesh_moments(mesh, &mesh->amount, mesh->com, mesh->inertia);
}

static void read_material(mj_reader *reader, const lw_xml *node) {
    const mj_element element = mj_with_class(reader, node, "material", reader->classes.count > 0 ? 0 : -1);
    const char *name = lw_xml_get(node, "name");
    double rgba[4] = {1, 1, 1, 1};
    if (!name || mj_numbers(reader, &element, "rgba", 3, 4, rgba) == 0) return;
    mj_material *material = mj_add(reader, &reader->materials, sizeof *material);
    if (material) *material = (mj_material){name, lw_import_colour(rgba)};
}

void mj_read_assets(mj_reader *reader) {
    for (const lw_xml *section = lw_xml_child(reader->root, "asset"); section; section = lw_xml_next(section))
        for (const lw_xml *node = section->first; node; node = node->next) {
            if (lw_xml_is(node, "mesh")) read_mesh(reader, node);
            if (lw_xml_is(node, "material")) read_material(reader, node);
            if (lw_xml_is(node, "model"))
                mj_error(reader, node, NULL, "put the elements of that file into this one, by <include>",
                         "models that are attached are not read");
        }
}

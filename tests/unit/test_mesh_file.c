/* test_mesh_file.c - files of meshes: the formats give the same mesh; any bytes are safe; a model that
 * uses one is written, and read again from its text, from its bytes and from another folder.
 */
#define _XOPEN_SOURCE 700

#include "io/mesh/mesh_file.h"

#include <linkwork/linkwork.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], other[64], path[160];

static const double corners[4][3] = {{0, 0, 0}, {0.5, 0, 0}, {0, 0.25, 0}, {0.125, 0, 1}};
static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};

static const char *in(const char *where, const char *name) {
    (void)snprintf(path, sizeof path, "%s/%s", where, name);
    return path;
}

static void put(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(in(folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* --- the formats ---------------------------------------------------------------------------------- */

/* sense -1: clockwise seen from outside */
static size_t binary(unsigned char *out, int sense) {
    memset(out, 0, 84);
    memcpy(out, "solid, but binary", 17);
    out[80] = 4;
    for (int f = 0; f < 4; f++)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) {
                float value = (float)corners[faces[f][sense > 0 ? k : 2 - k]][i];
                uint32_t bits;
                memcpy(&bits, &value, sizeof bits);
                for (int b = 0; b < 4; b++)
                    out[84 + 50 * f + 12 + 12 * k + 4 * i + b] = (unsigned char)(bits >> 8 * b);
            }
    return 84 + 4 * 50;
}

static size_t text(char *out) {
    int used = sprintf(out, "SOLID a wedge\r\n");
    for (int f = 0; f < 4; f++) {
        used += sprintf(out + used, "  facet normal nan 0 0\n    Outer Loop\n");
        for (int k = 0; k < 3; k++) {
            const double *p = corners[faces[f][k]];
            /* Minus zero is the same place as zero. */
            used +=
                sprintf(out + used, "\tvertex %g %.3e %g \r\n", p[0], p[1], p[2] == 0 && f % 2 ? -0.0 : p[2]);
        }
        used += sprintf(out + used, "    endloop\n  endfacet\n");
    }
    return (size_t)(used + sprintf(out + used, "endsolid\n"));
}

/* Vertices twice, one of them unused, corners with normals, from the front and from behind, a quadrangle that
 * is flat because two of its corners are one, a line that goes on. */
static size_t object(char *out) {
    int used = sprintf(out, "# wedge\nmtllib none.mtl\no wedge\nv 9 9 9\n");
    for (int twice = 0; twice < 2; twice++)
        for (int k = 0; k < 4; k++)
            used += sprintf(out + used, "v %g %g %g 1.0\n", corners[k][0], corners[k][1], corners[k][2]);
    used += sprintf(out + used, "vn 0 0 1\nvt 0 0\ns off\n");
    used += sprintf(out + used, "f 2//1 4//1 3//1\nf 6/1 7/1 9/1/1 9/1/1\nf -7 4 \\\n  -1 # last\nf 4 2 5\n");
    return (size_t)used;
}

static size_t put_u32(unsigned char *out, uint32_t bits) {
    for (int b = 0; b < 4; b++) out[b] = (unsigned char)(bits >> 8 * b);
    return 4;
}

/* Each triangle has vertices of its own; one normal and one texture coordinate that nobody needs. */
static size_t own_vertices(unsigned char *out) {
    size_t used = put_u32(out, 12);
    used += put_u32(out + used, 1), used += put_u32(out + used, 1), used += put_u32(out + used, 4);
    for (int f = 0; f < 4; f++)
        for (int k = 0; k < 9; k++) {
            const float value = (float)corners[faces[f][k / 3]][k % 3];
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            used += put_u32(out + used, bits);
        }
    for (int k = 0; k < 5; k++) used += put_u32(out + used, 0);
    for (int k = 0; k < 12; k++) used += put_u32(out + used, (uint32_t)k);
    return used;
}

static void same_mesh(const lw_mesh_spec *a, const lw_mesh_spec *b) {
    assert_int_equal(a->vertex_count, 4);
    assert_int_equal(b->vertex_count, 4);
    assert_int_equal(a->triangle_count, b->triangle_count);
    for (int k = 0; k < 3 * a->triangle_count; k++)
        for (int i = 0; i < 3; i++)
            assert_true(a->vertices[3 * a->triangles[k] + i] == b->vertices[3 * b->triangles[k] + i]);
}

static void the_formats_agree(void **state) {
    (void)state;
    static unsigned char bytes[8192];
    lw_arena *arena = lw_arena_create(NULL);
    lw_mesh_spec mesh[5];
    lw_error error;
    put("wedge.stl", bytes, binary(bytes, 1));
    put("text.STL", bytes, text((char *)bytes));
    put("wedge.obj", bytes, object((char *)bytes));
    put("inward.stl", bytes, binary(bytes, -1));
    put("wedge.msh", bytes, own_vertices(bytes));
    static const char *const names[] = {"wedge.stl", "text.STL", "wedge.obj", "inward.stl", "wedge.msh"};
    for (int k = 0; k < 5; k++)
        if (lw_mesh_file_read(in(folder, names[k]), arena, &mesh[k], &error) != LW_OK)
            fail_msg("%s: %s", names[k], error.message);
    for (int k = 1; k < 5; k += k == 2 ? 2 : 1) same_mesh(&mesh[0], &mesh[k]);
    double m[5], c[5][3], I[5][6];
    for (int k = 0; k < 5; k++) {
        const lw_shape shape = {.kind = LW_SHAPE_MESH, .size = {1, 1, 1}, .mesh = &mesh[k]};
        assert_int_equal(lw_shape_inertia(&shape, 0, 24, &m[k], c[k], I[k]), LW_OK);
        assert_true(fabs(m[k] - 0.5) < 1e-12); /* 24/6 * 0.5 * 0.25 * 1 */
        assert_true(fabs(c[k][2] - 0.25) < 1e-12);
    }
    /* The one whose triangles were clockwise has been turned. */
    const int *t = mesh[3].triangles;
    const double *p = mesh[3].vertices;
    double first[3] = {0, 0, 0}, around = 0;
    for (int k = 0; k < 3 * 4; k++)
        for (int i = 0; i < 3; i++) first[i] += p[3 * t[k] + i] / 12;
    for (int f = 0; f < 4; f++) {
        double d[3][3];
        for (int k = 0; k < 9; k++) d[k / 3][k % 3] = p[3 * t[3 * f + k / 3] + k % 3] - first[k % 3];
        around += d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) +
                  d[0][1] * (d[1][2] * d[2][0] - d[1][0] * d[2][2]) +
                  d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
    }
    assert_true(around > 0);
    lw_arena_destroy(arena);
}

/* --- any bytes ------------------------------------------------------------------------------------ */

/* Cut off at every byte, and with bytes changed: read or refused, with a message and a remedy; whatever is
 * read is valid. */
static void any_bytes_are_safe(void **state) {
    (void)state;
    static unsigned char good[4][8192], bytes[8192];
    static const char *const names[] = {"some.stl", "some.stl", "some.obj", "some.msh"};
    const size_t sizes[4] = {binary(good[0], 1), text((char *)good[1]), object((char *)good[2]),
                             own_vertices(good[3])};
    uint64_t random = 12345;
    int refused = 0, taken = 0;
    for (int format = 0; format < 4; format++)
        for (size_t k = 1; k < sizes[format] + 3000; k++) {
            size_t size = k < sizes[format] ? k : sizes[format];
            memcpy(bytes, good[format], size);
            for (int change = 0; k >= sizes[format] && change < 3; change++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                bytes[(random >> 33) % size] = (unsigned char)(random >> 20);
            }
            bytes[size] = 0;
            lw_arena *arena = lw_arena_create(NULL);
            lw_mesh_spec mesh;
            lw_error error;
            lw_status status = lw_mesh_file_bytes(names[format], bytes, size, arena, &mesh, &error);
            if (status == LW_OK) {
                taken++;
                for (int i = 0; i < 3 * mesh.triangle_count; i++)
                    assert_true(mesh.triangles[i] >= 0 && mesh.triangles[i] < mesh.vertex_count);
                for (int i = 0; i < 3 * mesh.vertex_count; i++) assert_true(isfinite(mesh.vertices[i]));
            } else {
                refused++;
                assert_int_equal(status, LW_ERROR_FILE);
                assert_true(error.message[0] && error.remedy[0] && error.file[0]);
            }
            lw_arena_destroy(arena);
        }
    assert_true(refused > 500 && taken > 500);
}

static void what_is_no_file_is_refused(void **state) {
    (void)state;
    lw_mesh_spec mesh;
    lw_error error;
    lw_arena *arena = lw_arena_create(NULL);
    assert_int_equal(mkdir(in(folder, "folder.stl"), 0700), 0);
    assert_int_equal(mkfifo(in(folder, "pipe.obj"), 0600), 0);
    put("empty.stl", "", 0);
    static const char *const names[] = {"folder.stl", "pipe.obj", "empty.stl", "none.stl", "wedge.ply"};
    static const char *const words[] = {"folder", "pipe", "empty", "no such file", "format"};
    for (int k = 0; k < 5; k++) {
        assert_int_equal(lw_mesh_file_read(in(folder, names[k]), arena, &mesh, &error), LW_ERROR_FILE);
        if (!strstr(error.message, words[k])) fail_msg("%s: %s", names[k], error.message);
    }
    assert_int_equal(lw_mesh_file_read(in(folder, "none.stl"), arena, &mesh, NULL), LW_ERROR_FILE);
    assert_int_equal(unlink(in(folder, "pipe.obj")), 0);
    assert_int_equal(rmdir(in(folder, "folder.stl")), 0);
    lw_arena_destroy(arena);
}

/* --- in a model ----------------------------------------------------------------------------------- */

static const char model[] =
    "linkwork: 1\n"
    "parameters: {s: 0.5}\n"
    "bodies:\n"
    "  one{i}: {repeat: {i: 1..3}, density: 24, shape: {type: mesh, file: wedge.stl, scale: s}}\n"
    "  two: {shapes: [{type: mesh, file: wedge.obj, scale: [s, 1, -1], density: 24}, {type: mesh, file: "
    "text.STL, colour: red}]}\n"
    "joints:\n"
    "  one{i}: {repeat: {i: 1..3}, type: free, between: [ground, 'one{i}']}\n"
    "  two: {type: free, between: [ground, two]}\n";

static lw_spec *read_from(const char *where, const char *name) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    (void)lw_read_model(in(where, name), NULL, 0, report, &spec);
    for (size_t k = 0; k < lw_report_size(report); k++)
        print_error("%s\n", lw_report_get(report, k)->message);
    assert_int_equal(lw_report_size(report), 0);
    lw_report_destroy(report);
    assert_non_null(spec);
    return spec;
}

static void same_masses(lw_spec *a, lw_spec *b) {
    assert_int_equal(lw_spec_body_count(a), lw_spec_body_count(b));
    for (size_t k = 0; k < lw_spec_body_count(a); k++) {
        const lw_body_spec *x = lw_spec_body(a, k), *y = lw_spec_body(b, k);
        assert_memory_equal(&x->mass, &y->mass, sizeof x->mass);
        assert_memory_equal(x->com, y->com, sizeof x->com);
        assert_memory_equal(x->inertia, y->inertia, sizeof x->inertia);
        assert_int_equal(x->shape_count, y->shape_count);
    }
}

static bool contains(const char *where, const char *name, const char *word) {
    static char content[20000];
    FILE *file = fopen(in(where, name), "rb");
    assert_non_null(file);
    size_t size = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    content[size] = '\0';
    return strstr(content, word) != NULL;
}

static void a_model_keeps_its_meshes(void **state) {
    (void)state;
    lw_error error;
    put("model.yaml", model, sizeof model - 1);
    lw_spec *spec = read_from(folder, "model.yaml");
    assert_true(fabs(lw_spec_body(spec, 0)->mass - 0.0625) < 1e-13);
    assert_true(fabs(lw_spec_body(spec, 3)->mass - 0.25) < 1e-13);
    /* Three bodies share one mesh. */
    assert_ptr_equal(lw_spec_body(spec, 0)->shape.mesh, lw_spec_body(spec, 2)->shape.mesh);
    /* In its folder a model names its files, elsewhere it carries the triangles. */
    assert_int_equal(lw_write_model(spec, in(folder, "again.yaml"), &error), LW_OK);
    assert_true(contains(folder, "again.yaml", "file: wedge.stl"));
    lw_spec *again = read_from(folder, "again.yaml");
    same_masses(spec, again);
    lw_spec_destroy(again);
    assert_int_equal(lw_write_model(spec, in(other, "moved.yaml"), &error), LW_OK);
    assert_false(contains(other, "moved.yaml", "file:"));
    assert_true(contains(other, "moved.yaml", "triangles:"));
    again = read_from(other, "moved.yaml");
    same_masses(spec, again);
    lw_spec_destroy(again);
    /* Bytes carry them, too, each once; a parameter still changes what depends on it. */
    size_t size = 0;
    assert_int_equal(lw_spec_save(spec, NULL, 0, &size), LW_OK);
    unsigned char *bytes = malloc(size);
    assert_int_equal(lw_spec_save(spec, bytes, size, NULL), LW_OK);
    assert_int_equal(lw_spec_load(bytes, size, &again, &error), LW_OK);
    free(bytes);
    same_masses(spec, again);
    assert_ptr_equal(lw_spec_body(again, 0)->shape.mesh, lw_spec_body(again, 2)->shape.mesh);
    assert_int_equal(lw_spec_set_parameter(spec, "s", 1, &error), LW_OK);
    assert_int_equal(lw_spec_set_parameter(again, "s", 1, &error), LW_OK);
    same_masses(spec, again);
    assert_true(fabs(lw_spec_body(again, 0)->mass - 0.5) < 1e-13);
    assert_true(fabs(lw_spec_body(again, 3)->mass - 0.5) < 1e-13);
    lw_model *compiled = NULL;
    assert_int_equal(lw_model_compile(again, NULL, NULL, &compiled), LW_OK);
    lw_spec_destroy(again);
    lw_spec_destroy(spec);
    /* The model has its own copy. */
    int two = lw_model_body(compiled, "two");
    assert_int_equal(lw_model_body_shape_count(compiled, two), 2);
    assert_int_equal(lw_model_body_shape_at(compiled, two, 1)->mesh->triangle_count, 4);
    assert_int_equal(lw_model_body_shape_at(compiled, two, 1)->colour, LW_COLOUR | 0xc23b3b);
    assert_null(lw_model_body_shape_at(compiled, two, 2));
    assert_null(lw_model_body_shape_at(compiled, two, -1));
    lw_model_destroy(compiled);
}

static int make_folders(void **state) {
    (void)state;
    strcpy(folder, "/tmp/lw_mesh_XXXXXX");
    strcpy(other, "/tmp/lw_mesh_XXXXXX");
    return mkdtemp(folder) && mkdtemp(other) ? 0 : -1;
}

static int remove_folders(void **state) {
    (void)state;
    static const char *const names[] = {"wedge.stl", "text.STL",   "wedge.obj",  "inward.stl", "wedge.msh",
                                        "empty.stl", "model.yaml", "again.yaml", "moved.yaml"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        (void)unlink(in(folder, names[k]));
        (void)unlink(in(other, names[k]));
    }
    return rmdir(folder) || rmdir(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formats_agree),
        cmocka_unit_test(any_bytes_are_safe),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_model_keeps_its_meshes),
    };
    return cmocka_run_group_tests(tests, make_folders, remove_folders);
}

/* test_mesh_inertia.c - mass properties of meshes against formulas of boxes, tetrahedra and prisms, and of
 * several shapes against their parts; surfaces that enclose nothing are refused with the reason.
 *
 * TOLERANCE is what docs/theory/mesh_inertia.md promises, relative to the mass, the size of the solid, and for
 * centres to the distance from the origin.
 */
#include <linkwork/spec.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#define PI 3.14159265358979323846
#define TOLERANCE 1e-12

/* --- surfaces ------------------------------------------------------------------------------------- */

typedef struct {
    double *vertices;
    int *triangles;
    int vertex_count, triangle_count, vertex_room, triangle_room;
} surface;

static int vertex(surface *s, double x, double y, double z) {
    if (s->vertex_count == s->vertex_room) {
        s->vertex_room = 2 * s->vertex_room + 16;
        s->vertices = realloc(s->vertices, 3 * (size_t)s->vertex_room * sizeof(double));
    }
    double *at = s->vertices + 3 * (size_t)s->vertex_count;
    at[0] = x, at[1] = y, at[2] = z;
    return s->vertex_count++;
}

static void triangle(surface *s, int i, int j, int k) {
    if (s->triangle_count == s->triangle_room) {
        s->triangle_room = 2 * s->triangle_room + 16;
        s->triangles = realloc(s->triangles, 3 * (size_t)s->triangle_room * sizeof(int));
    }
    int *at = s->triangles + 3 * (size_t)s->triangle_count++;
    at[0] = i, at[1] = j, at[2] = k;
}

static void drop(surface *s) {
    free(s->vertices);
    free(s->triangles);
    *s = (surface){0};
}

static lw_mesh_spec mesh_of(const surface *s) {
    return (lw_mesh_spec){s->vertex_count, s->triangle_count, s->vertices, s->triangles, NULL};
}

/* A box whose faces have n x n squares of two triangles; sense -1: clockwise seen from outside. */
static void add_box(surface *s, const double low[3], const double high[3], int n, int sense) {
    int(*at)[3][60][60] = malloc(2 * sizeof *at);
    int first = s->vertex_count;
    assert_true(n < 60);
    for (int side = 0; side < 2; side++)
        for (int axis = 0; axis < 3; axis++)
            for (int i = 0; i <= n; i++)
                for (int j = 0; j <= n; j++) {
                    double p[3];
                    int u = (axis + 1) % 3, w = (axis + 2) % 3;
                    p[axis] = side ? high[axis] : low[axis];
                    p[u] = i == n ? high[u] : low[u] + (high[u] - low[u]) * i / n;
                    p[w] = j == n ? high[w] : low[w] + (high[w] - low[w]) * j / n;
                    int found = -1;
                    bool edge = i == 0 || j == 0 || i == n || j == n;
                    for (int v = first; v < s->vertex_count && edge && found < 0; v++)
                        if (memcmp(s->vertices + 3 * (size_t)v, p, sizeof p) == 0) found = v;
                    at[side][axis][i][j] = found >= 0 ? found : vertex(s, p[0], p[1], p[2]);
                }
    for (int side = 0; side < 2; side++)
        for (int axis = 0; axis < 3; axis++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    int(*g)[60] = at[side][axis];
                    int a = g[i][j], b = g[i + 1][j], c = g[i + 1][j + 1], d = g[i][j + 1];
                    if ((side == 1) == (sense > 0))
                        triangle(s, a, b, c), triangle(s, a, c, d);
                    else
                        triangle(s, a, c, b), triangle(s, a, d, c);
                }
    free(at);
}

/* --- comparison ----------------------------------------------------------------------------------- */

static void close_to(double a, double b, double scale) {
    if (!(fabs(a - b) <= TOLERANCE * scale))
        fail_msg("%.17g differs from %.17g by more than %g", a, b, TOLERANCE * scale);
}

/* Compares a mesh of some density with a shape. size: of the solid; far: from the origin. */
static void same_as(const surface *s, const lw_shape *other, double size, double far) {
    const lw_mesh_spec mesh = mesh_of(s);
    const lw_shape shape = {.kind = LW_SHAPE_MESH, .size = {1, 1, 1}, .mesh = &mesh};
    double m[2], c[2][3], I[2][6];
    lw_error error = {0};
    if (lw_mesh_check(&mesh, &error) != LW_OK) fail_msg("%s", error.message);
    assert_int_equal(lw_shape_inertia(&shape, 0, 7850, &m[0], c[0], I[0]), LW_OK);
    assert_int_equal(lw_shape_inertia(other, 0, 7850, &m[1], c[1], I[1]), LW_OK);
    close_to(m[0], m[1], m[1]);
    for (int k = 0; k < 3; k++) close_to(c[0][k], c[1][k], size + far);
    for (int k = 0; k < 6; k++) close_to(I[0][k], I[1][k], m[1] * size * size);
}

static void boxes(void **state) {
    (void)state;
    static const int divisions[] = {1, 7, 55};
    for (int d = 0; d < 3; d++)
        for (int far = 0; far <= 100; far += 50)
            for (int sense = -1; sense <= 1; sense += 2) {
                surface s = {0};
                const double low[3] = {0.1 + far, 0 - 0.7 * far, 0.3},
                             high[3] = {1.3 + far, 1.1 - 0.7 * far, 0.9};
                lw_shape box = {.kind = LW_SHAPE_BOX};
                for (int k = 0; k < 3; k++) {
                    box.size[k] = high[k] - low[k];
                    box.position[k] = 0.5 * (low[k] + high[k]);
                }
                add_box(&s, low, high, divisions[d], sense);
                same_as(&s, &box, 1.5, far);
                drop(&s);
            }
}

static void tetrahedra(void **state) {
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        uint64_t random = seed * 7919u;
        surface s = {0};
        lw_shape t = {.kind = LW_SHAPE_TETRAHEDRON};
        for (int k = 0; k < 12; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            t.points[k / 3][k % 3] = (double)(random >> 11) / 9007199254740992.0 - 0.5;
        }
        for (int k = 0; k < 4; k++) vertex(&s, t.points[k][0], t.points[k][1], t.points[k][2]);
        triangle(&s, 0, 1, 2), triangle(&s, 0, 3, 1), triangle(&s, 1, 3, 2), triangle(&s, 0, 2, 3);
        double m, c[3], I[6];
        /* Of a flat one both volumes are rounding. */
        if (lw_shape_inertia(&t, 0, 1, &m, c, I) == LW_OK && m > 1e-3) same_as(&s, &t, 1, 0);
        drop(&s);
    }
}

/* A prism over a regular polygon with n corners: area n/2 R^2 sin(2 pi/n), second moments along any direction
 * in its plane R^2/4 (1 - 2/3 sin(pi/n)^2). */
static void prisms(void **state) {
    (void)state;
    for (int n = 3; n <= 3000; n = 3 * n + 1) {
        const double R = 0.8, h = 0.3, turn = 0.1;
        surface s = {0};
        int low = vertex(&s, 0, 0, -h / 2), high = vertex(&s, 0, 0, h / 2);
        for (int k = 0; k < n; k++) {
            double a = turn + 2 * PI * k / n;
            vertex(&s, R * cos(a), R * sin(a), -h / 2);
            vertex(&s, R * cos(a), R * sin(a), h / 2);
        }
        for (int k = 0; k < n; k++) {
            int a = 2 + 2 * k, b = 2 + 2 * ((k + 1) % n);
            triangle(&s, low, b, a), triangle(&s, high, a + 1, b + 1);
            triangle(&s, a, b, b + 1), triangle(&s, a, b + 1, a + 1);
        }
        const lw_mesh_spec mesh = mesh_of(&s);
        /* Twice as long along y, mirrored in z, turned about x by 90 degrees, moved. */
        const lw_shape shape = {.kind = LW_SHAPE_MESH,
                                .size = {1, 2, -1},
                                .mesh = &mesh,
                                .position = {1, 2, 3},
                                .rotation = {sqrt(0.5), sqrt(0.5), 0, 0}};
        double m, c[3], I[6], sine = sin(PI / n);
        double flat = R * R / 4 * (1 - 2.0 / 3 * sine * sine), S[3] = {flat, h * h / 12, 4 * flat};
        assert_int_equal(lw_shape_inertia(&shape, 0, 10, &m, c, I), LW_OK);
        close_to(m, 10 * 2 * h * 0.5 * n * R * R * sin(2 * PI / n), m);
        for (int k = 0; k < 3; k++) {
            close_to(c[k], k + 1, 4);
            close_to(I[k], m * (S[(k + 1) % 3] + S[(k + 2) % 3]), m);
            close_to(I[3 + k], 0, m);
        }
        drop(&s);
    }
}

/* A box with a cavity is the difference of two; two boxes at one edge are their sum. */
static void cavities_and_touching_parts(void **state) {
    (void)state;
    const double outer[2][3] = {{0, 0, 0}, {3, 2, 1}}, inner[2][3] = {{0.5, 0.5, 0.25}, {1, 1.5, 0.5}};
    surface s = {0};
    add_box(&s, outer[0], outer[1], 3, 1);
    add_box(&s, inner[0], inner[1], 2, -1);
    lw_mesh_spec mesh = mesh_of(&s);
    lw_shape shape = {.kind = LW_SHAPE_MESH, .size = {1, 1, 1}, .mesh = &mesh};
    double m, c[3], I[6];
    assert_int_equal(lw_shape_inertia(&shape, 0, 1, &m, c, I), LW_OK);
    close_to(m, 6 - 0.125, 6);
    close_to(c[0], (6 * 1.5 - 0.125 * 0.75) / 5.875, 3);
    drop(&s);

    const double beside[2][3] = {{3, 2, 0}, {4, 4, 1}};
    add_box(&s, outer[0], outer[1], 1, 1);
    add_box(&s, beside[0], beside[1], 1, 1);
    mesh = mesh_of(&s);
    assert_int_equal(lw_shape_inertia(&shape, 0, 1, &m, c, I), LW_OK);
    close_to(m, 6 + 2, 8);
    close_to(c[0], (6 * 1.5 + 2 * 3.5) / 8, 4);
    drop(&s);
}

/* --- refusals ------------------------------------------------------------------------------------- */

static void refused(const surface *s, const char *words) {
    const lw_mesh_spec mesh = mesh_of(s);
    lw_error error = {0};
    double m, c[3], I[6];
    const lw_shape shape = {.kind = LW_SHAPE_MESH, .size = {1, 1, 1}, .mesh = &mesh};
    assert_int_equal(lw_mesh_check(&mesh, &error), LW_ERROR_ARGUMENT);
    if (!strstr(error.message, words)) fail_msg("\"%s\" is not in: %s", words, error.message);
    assert_true(error.remedy[0] != '\0');
    assert_int_equal(lw_shape_inertia(&shape, 1, 0, &m, c, I), LW_ERROR_ARGUMENT);
}

/* Two wedges that touch in the origin, and a small box with the other sense: in one of them it is a cavity; in
 * the bounds of both, but beside them, it is a part that was exported inside out. All three the other way round
 * as well. */
static void a_cavity_is_enclosed(void **state) {
    (void)state;
    for (int sense = -1; sense <= 1; sense += 2)
        for (int beside = 0; beside < 2; beside++) {
            surface s = {0};
            static const double corner[7][3] = {{0, 0, 0},  {1, 0, 0},  {0, 1, 0}, {0, 0, 1},
                                                {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
            static const int faces[8][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3},
                                            {0, 4, 5}, {0, 6, 4}, {0, 5, 6}, {4, 6, 5}};
            for (int k = 0; k < 7; k++) vertex(&s, corner[k][0], corner[k][1], corner[k][2]);
            for (int k = 0; k < 8; k++)
                triangle(&s, faces[k][0], faces[k][sense > 0 ? 1 : 2], faces[k][sense > 0 ? 2 : 1]);
            const double y = beside ? -0.3 : 0.2, low[3] = {0.2, y, 0.2}, high[3] = {0.3, y + 0.1, 0.3};
            add_box(&s, low, high, 1, -sense);
            if (beside) {
                refused(&s, "opposite sense");
            } else {
                const lw_mesh_spec mesh = mesh_of(&s);
                const lw_shape shape = {.kind = LW_SHAPE_MESH, .size = {1, 1, 1}, .mesh = &mesh};
                double m, c[3], I[6];
                assert_int_equal(lw_shape_inertia(&shape, 0, 1, &m, c, I), LW_OK);
                close_to(m, 2.0 / 6 - 0.001, 1);
            }
            drop(&s);
        }
}

static void what_encloses_nothing_is_refused(void **state) {
    (void)state;
    const double low[3] = {0, 0, 0}, high[3] = {1, 2, 3}, far_low[3] = {5, 0, 0}, far_high[3] = {6, 1, 1};
    surface s = {0};
    add_box(&s, low, high, 2, 1);
    s.triangle_count--;
    refused(&s, "not closed");
    refused(&s, "and so are 2 others");
    s.triangle_count++;
    int *last = s.triangles + 3 * (s.triangle_count - 1), kept = last[1];
    last[1] = last[2], last[2] = kept;
    refused(&s, "do not have one sense");
    kept = last[1], last[1] = last[2], last[2] = kept;
    last[0] += 1000;
    refused(&s, "refers to vertex");
    last[0] -= 1000;
    s.vertices[4] = NAN;
    refused(&s, "coordinate y of vertex 1");
    s.vertices[4] = INFINITY;
    refused(&s, "coordinate y of vertex 1");
    drop(&s);

    add_box(&s, low, high, 1, 1);
    add_box(&s, far_low, far_high, 1, -1);
    refused(&s, "opposite sense");
    drop(&s);

    add_box(&s, low, high, 2, 1);
    for (int k = 0, count = s.triangle_count; k < count; k++) { /* beginning with another corner */
        const int t[3] = {s.triangles[3 * k], s.triangles[3 * k + 1], s.triangles[3 * k + 2]};
        triangle(&s, t[2], t[0], t[1]);
    }
    refused(&s, "occurs twice");
    drop(&s);

    vertex(&s, 0, 0, 0), vertex(&s, 1, 0, 0), vertex(&s, 0, 1, 0);
    triangle(&s, 0, 1, 2), triangle(&s, 0, 2, 1);
    refused(&s, "no volume");
    s.triangle_count = 0;
    refused(&s, "no triangles");
    s.triangle_count = -1;
    refused(&s, "not there");
    drop(&s);

    lw_error error = {0};
    assert_int_equal(lw_mesh_check(NULL, &error), LW_ERROR_ARGUMENT);
    const lw_mesh_spec mesh = {0};
    assert_int_equal(lw_mesh_check(&mesh, NULL), LW_ERROR_ARGUMENT);
}

static void an_open_edge_is_named(void **state) {
    (void)state;
    surface s = {0};
    vertex(&s, 0, 0, 0.125), vertex(&s, 1, 0, 0), vertex(&s, 0, 1, 0), vertex(&s, 0.25, 0.5, 2);
    triangle(&s, 0, 2, 1), triangle(&s, 0, 1, 3), triangle(&s, 1, 2, 3), triangle(&s, 2, 0, 3);
    const lw_mesh_spec whole = mesh_of(&s);
    assert_int_equal(lw_mesh_check(&whole, NULL), LW_OK);
    s.triangle_count--;
    lw_error error = {0};
    const lw_mesh_spec mesh = mesh_of(&s);
    assert_int_equal(lw_mesh_check(&mesh, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "(0, 0, 0.125)"));
    drop(&s);
}

/* --- several shapes ------------------------------------------------------------------------------- */

/* A box cut into eight boxes is a box, whether their densities, masses or their common mass are given. */
static void parts_make_a_whole(void **state) {
    (void)state;
    const double cut[3] = {0.3, 1.1, 0.45}, size[3] = {1, 2, 0.5};
    for (int way = 0; way < 3; way++) {
        lw_shape parts[8] = {{0}};
        for (int k = 0; k < 8; k++) {
            lw_shape *p = &parts[k];
            p->kind = LW_SHAPE_BOX;
            for (int i = 0; i < 3; i++) {
                bool upper = k >> i & 1;
                p->size[i] = upper ? size[i] - cut[i] : cut[i];
                p->position[i] = upper ? 0.5 * (size[i] + cut[i]) : 0.5 * cut[i];
            }
            if (way == 0) p->density = 5;
            if (way == 1) p->has_mass = true, p->mass = 5 * p->size[0] * p->size[1] * p->size[2];
        }
        const lw_shape whole = {.kind = LW_SHAPE_BOX, .size = {1, 2, 0.5}, .position = {0.5, 1, 0.25}};
        double m[2], c[2][3], I[2][6];
        assert_int_equal(lw_shapes_inertia(parts, 8, way < 2 ? 99 : 5, &m[0], c[0], I[0]), LW_OK);
        assert_int_equal(lw_shape_inertia(&whole, 0, 5, &m[1], c[1], I[1]), LW_OK);
        close_to(m[0], m[1], m[1]);
        for (int k = 0; k < 3; k++) close_to(c[0][k], c[1][k], 2);
        for (int k = 0; k < 6; k++) close_to(I[0][k], I[1][k], 4 * m[1]);
    }
}

static void shapes_without_sense_are_refused(void **state) {
    (void)state;
    double m, c[3], I[6];
    lw_shape two[2] = {{.kind = LW_SHAPE_SPHERE, .size = {1}}, {.kind = LW_SHAPE_ROD, .points = {{0}, {1}}}};
    assert_int_equal(lw_shapes_inertia(two, 2, 1, &m, c, I), LW_ERROR_ARGUMENT); /* a thin rod's share */
    assert_int_equal(lw_shapes_inertia(two, 2, 0, &m, c, I), LW_OK);
    two[1].has_mass = true, two[1].mass = 2;
    assert_int_equal(lw_shapes_inertia(two, 2, 77, &m, c, I), LW_OK); /* the sphere only shows something */
    close_to(m, 2, 2);
    close_to(c[0], 0.5, 1);
    close_to(I[1], 2.0 / 12, 1);
    two[1].mass = -1;
    assert_int_equal(lw_shapes_inertia(two, 2, 1, &m, c, I), LW_ERROR_ARGUMENT);
    two[1].mass = NAN;
    assert_int_equal(lw_shapes_inertia(two, 2, 1, &m, c, I), LW_ERROR_ARGUMENT);
    two[1].density = 1; /* no volume */
    assert_int_equal(lw_shapes_inertia(two, 2, 1, &m, c, I), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_shapes_inertia(two, 0, 1, &m, c, I), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_shapes_inertia(NULL, 1, 1, &m, c, I), LW_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes),
        cmocka_unit_test(tetrahedra),
        cmocka_unit_test(prisms),
        cmocka_unit_test(cavities_and_touching_parts),
        cmocka_unit_test(a_cavity_is_enclosed),
        cmocka_unit_test(what_encloses_nothing_is_refused),
        cmocka_unit_test(an_open_edge_is_named),
        cmocka_unit_test(parts_make_a_whole),
        cmocka_unit_test(shapes_without_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

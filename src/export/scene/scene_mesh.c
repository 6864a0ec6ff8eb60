/* scene_mesh.c - triangles of box, cylinder, sphere, cone, coil, tetrahedron and meshes.
 *
 * Round solids are surfaces of revolution: a profile of (radius, height, normal) is turned about z in
 * SIDES steps. Edges where the normal jumps have two vertices. The coil is a tube around a helix; scaling it
 * along z stretches it as a spring.
 */
#include "export/scene/scene_mesh.h"
#include "linalg/vec3.h"

#include <math.h>

enum { SIDES = 32, RINGS = 16, TURNS = 8, WIRE_SIDES = 8, TURN_STEPS = 20 };

typedef struct {
    lw_mesh *mesh;
    bool failed;
} builder;

static builder begin(lw_mesh *mesh, lw_arena *arena, size_t vertices, size_t triangles) {
    *mesh = (lw_mesh){.positions = LW_NEW(arena, float, 3 * vertices),
                      .normals = LW_NEW(arena, float, 3 * vertices),
                      .indices = LW_NEW(arena, uint16_t, 3 * triangles)};
    return (builder){mesh, lw_arena_failed(arena)};
}

static uint16_t vertex(builder *b, const double at[3], const double normal[3]) {
    lw_mesh *mesh = b->mesh;
    for (int k = 0; k < 3; k++) {
        mesh->positions[3 * mesh->vertex_count + (size_t)k] = (float)at[k];
        mesh->normals[3 * mesh->vertex_count + (size_t)k] = (float)normal[k];
    }
    return (uint16_t)mesh->vertex_count++;
}

static void triangle(builder *b, uint16_t i, uint16_t j, uint16_t k) {
    uint16_t *at = b->mesh->indices + b->mesh->index_count;
    at[0] = i, at[1] = j, at[2] = k;
    b->mesh->index_count += 3;
}

/* A flat polygon, counter-clockwise seen from outside. */
static void polygon(builder *b, const double (*points)[3], int count) {
    double u[3], w[3], normal[3];
    lw_v3_sub(points[1], points[0], u);
    lw_v3_sub(points[2], points[0], w);
    lw_v3_cross(u, w, normal);
    double length = lw_v3_norm(normal);
    for (int k = 0; k < 3; k++) normal[k] = length > 0 ? normal[k] / length : k == 2;
    uint16_t first = (uint16_t)b->mesh->vertex_count;
    for (int k = 0; k < count; k++) (void)vertex(b, points[k], normal);
    for (int k = 2; k < count; k++) triangle(b, first, (uint16_t)(first + k - 1), (uint16_t)(first + k));
}

static bool make_box(lw_arena *arena, lw_mesh *mesh) {
    builder b = begin(mesh, arena, 24, 12);
    if (b.failed) return false;
    for (int axis = 0; axis < 3; axis++)
        for (int side = -1; side <= 1; side += 2) {
            static const int corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
            double points[4][3];
            for (int k = 0; k < 4; k++) {
                const int *at = corner[side > 0 ? k : 3 - k];
                points[k][axis] = 0.5 * side;
                points[k][(axis + 1) % 3] = 0.5 * at[0];
                points[k][(axis + 2) % 3] = 0.5 * at[1];
            }
            polygon(&b, (const double(*)[3])points, 4);
        }
    return true;
}

/* A ring of the profile of a surface of revolution. */
typedef struct {
    double radius, z, normal_radial, normal_z;
    bool starts; /* A new part of the surface begins: no triangles to the ring before. */
} ring;

static void revolve(builder *b, const ring *rings, int count) {
    for (int r = 0; r < count; r++) {
        uint16_t first = (uint16_t)b->mesh->vertex_count;
        for (int k = 0; k <= SIDES; k++) {
            double angle = 2 * LW_PI * k / SIDES, c = cos(angle), s = sin(angle);
            if (k == SIDES) c = 1, s = 0;
            const double at[3] = {rings[r].radius * c, rings[r].radius * s, rings[r].z};
            const double normal[3] = {rings[r].normal_radial * c, rings[r].normal_radial * s,
                                      rings[r].normal_z};
            (void)vertex(b, at, normal);
        }
        for (int k = 0; k < SIDES && !rings[r].starts; k++) {
            uint16_t below = (uint16_t)(first - (SIDES + 1) + k), here = (uint16_t)(first + k);
            if (rings[r - 1].radius > 0) triangle(b, below, (uint16_t)(below + 1), here);
            if (rings[r].radius > 0) triangle(b, (uint16_t)(below + 1), (uint16_t)(here + 1), here);
        }
    }
}

static bool make_round(lw_solid solid, lw_arena *arena, lw_mesh *mesh) {
    ring rings[RINGS + 1];
    int count = 0;
    if (solid == LW_SOLID_SPHERE) {
        for (; count <= RINGS; count++) {
            double polar = LW_PI * (1 - (double)count / RINGS), r = sin(polar), z = cos(polar);
            bool pole = count == 0 || count == RINGS;
            rings[count] = (ring){pole ? 0 : r, z, pole ? 0 : r, z, count == 0};
        }
    } else if (solid == LW_SOLID_CYLINDER) {
        const ring cylinder[] = {{0, -0.5, 0, -1, true}, {1, -0.5, 0, -1, false}, {1, -0.5, 1, 0, true},
                                 {1, 0.5, 1, 0, false},  {1, 0.5, 0, 1, true},    {0, 0.5, 0, 1, false}};
        for (; count < 6; count++) rings[count] = cylinder[count];
    } else {
        const double slope = sqrt(0.5);
        const ring cone[] = {{0, 0, 0, -1, true},
                             {1, 0, 0, -1, false},
                             {1, 0, slope, slope, true},
                             {0, 1, slope, slope, false}};
        for (; count < 4; count++) rings[count] = cone[count];
    }
    builder b = begin(mesh, arena, (size_t)count * (SIDES + 1), 2 * (size_t)count * SIDES);
    if (b.failed) return false;
    revolve(&b, rings, count);
    return true;
}

/* The middle of the wire at a fraction of its way: on the axis, outwards, TURNS turns, inwards, on the
 * axis. */
static void wire_point(double way, double at[3]) {
    static const double lead = 0.08, bend = 0.13; /* Shares of the length. */
    double inside = fmin(way, 1 - way) - lead, share = fmin(1, fmax(0, inside / bend));
    double radius = share * share * (3 - 2 * share);
    double angle = 2 * LW_PI * TURNS * (way - lead) / (1 - 2 * lead);
    lw_v3_set(at, radius * cos(angle), radius * sin(angle), way);
}

static bool make_coil(lw_arena *arena, lw_mesh *mesh) {
    enum { STEPS = TURNS * TURN_STEPS };
    const double wire = 0.16; /* Radius of the wire, in radii of the coil. */
    /* The proportion for which the wire is round and its normals are exact: ten radii long. */
    const double slenderness = 10;
    builder b = begin(mesh, arena, (STEPS + 1) * (size_t)(WIRE_SIDES + 1), 2 * STEPS * (size_t)WIRE_SIDES);
    if (b.failed) return false;
    double radial[3] = {1, 0, 0};
    for (int step = 0; step <= STEPS; step++) {
        double way = (double)step / STEPS, at[3], before[3], after[3], tangent[3], side[3];
        wire_point(way, at);
        wire_point(fmax(0, way - 1e-4), before);
        wire_point(fmin(1, way + 1e-4), after);
        lw_v3_sub(after, before, tangent);
        tangent[2] *= slenderness;
        double length = lw_v3_norm(tangent);
        for (int k = 0; k < 3; k++) tangent[k] /= length;
        /* The circle around the wire is carried along it without a turn of its own. */
        lw_v3_axpy(-lw_v3_dot(radial, tangent), tangent, radial);
        length = lw_v3_norm(radial);
        for (int k = 0; k < 3; k++) radial[k] /= length;
        lw_v3_cross(tangent, radial, side);
        uint16_t first = (uint16_t)mesh->vertex_count;
        for (int k = 0; k <= WIRE_SIDES; k++) {
            double turn = 2 * LW_PI * (k % WIRE_SIDES) / WIRE_SIDES, normal[3], point[3];
            for (int i = 0; i < 3; i++) {
                normal[i] = cos(turn) * radial[i] + sin(turn) * side[i];
                point[i] = at[i] + wire * normal[i] / (i == 2 ? slenderness : 1);
            }
            normal[2] *= slenderness; /* Normals scale inversely to points. */
            length = lw_v3_norm(normal);
            for (int i = 0; i < 3; i++) normal[i] /= length;
            (void)vertex(&b, point, normal);
        }
        for (int k = 0; k < WIRE_SIDES && step > 0; k++) {
            uint16_t last = (uint16_t)(first - (WIRE_SIDES + 1) + k), here = (uint16_t)(first + k);
            triangle(&b, last, (uint16_t)(last + 1), here);
            triangle(&b, (uint16_t)(last + 1), (uint16_t)(here + 1), here);
        }
    }
    return true;
}

static bool make_tetrahedron(const double (*points)[3], lw_arena *arena, lw_mesh *mesh) {
    builder b = begin(mesh, arena, 12, 4);
    if (b.failed) return false;
    double u[3], v[3], w[3], normal[3];
    lw_v3_sub(points[1], points[0], u);
    lw_v3_sub(points[2], points[0], v);
    lw_v3_sub(points[3], points[0], w);
    lw_v3_cross(u, v, normal);
    bool positive = lw_v3_dot(normal, w) > 0;
    static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    for (int f = 0; f < 4; f++) {
        double corner[3][3];
        for (int k = 0; k < 3; k++) lw_v3_copy(points[faces[f][positive ? k : 2 - k]], corner[k]);
        polygon(&b, (const double(*)[3])corner, 3);
    }
    return true;
}

bool lw_mesh_create(lw_solid solid, const double (*points)[3], lw_arena *arena, lw_mesh *mesh) {
    switch (solid) {
    case LW_SOLID_BOX:
        return make_box(arena, mesh);
    case LW_SOLID_COIL:
        return make_coil(arena, mesh);
    case LW_SOLID_TETRAHEDRON:
        return make_tetrahedron(points, arena, mesh);
    default:
        return make_round(solid, arena, mesh);
    }
}

/* --- meshes of bodies ----------------------------------------------------------------------------- */

/* The normal of a triangle, with twice its area as length. */
static void area_normal(const lw_mesh_spec *m, size_t t, double normal[3]) {
    const double *p[3];
    double u[3], v[3];
    for (size_t k = 0; k < 3; k++) p[k] = m->vertices + 3 * (size_t)m->triangles[3 * t + k];
    lw_v3_sub(p[1], p[0], u);
    lw_v3_sub(p[2], p[0], v);
    lw_v3_cross(u, v, normal);
}

/* The sum of the normals around a vertex that differ little from that of triangle t. */
static void smooth_normal(const double (*normals)[3], const int *around, size_t count, size_t t,
                          double out[3]) {
    enum { MANY = 64 };            /* The square of their number would be spent on them. */
    const double crease = 0.81915; /* the cosine of 35 degrees */
    const double *own = normals[t];
    double length = lw_v3_norm(own);
    lw_v3_copy(own, out);
    for (size_t k = 0; k < count && count <= MANY; k++) {
        const double *other = normals[around[k]];
        if ((size_t)around[k] != t && lw_v3_dot(own, other) > crease * length * lw_v3_norm(other))
            lw_v3_add(out, other, out);
    }
    length = lw_v3_norm(out);
    for (int k = 0; k < 3; k++) out[k] = length > 0 ? out[k] / length : k == 2;
}

bool lw_mesh_of_triangles(const lw_mesh_spec *m, lw_arena *arena, lw_mesh *mesh) {
    const size_t vertices = (size_t)m->vertex_count, triangles = (size_t)m->triangle_count;
    double(*normals)[3] = (double(*)[3])(void *)LW_NEW(arena, double, 3 * triangles);
    size_t *first = LW_NEW(arena, size_t, vertices + 2);
    int *around = LW_NEW(arena, int, 3 * triangles);
    *mesh = (lw_mesh){.positions = LW_NEW(arena, float, 9 * triangles),
                      .normals = LW_NEW(arena, float, 9 * triangles)};
    if (lw_arena_failed(arena)) return false;
    for (size_t k = 0; k < 3 * triangles; k++) first[m->triangles[k] + 2]++;
    for (size_t v = 1; v <= vertices; v++) first[v + 1] += first[v];
    for (size_t t = 0; t < triangles; t++) {
        area_normal(m, t, normals[t]);
        for (size_t k = 0; k < 3; k++) around[first[m->triangles[3 * t + k] + 1]++] = (int)t;
    }
    builder b = {mesh, false};
    for (size_t t = 0; t < triangles; t++)
        for (size_t k = 0; k < 3; k++) {
            const size_t v = (size_t)m->triangles[3 * t + k];
            double normal[3];
            smooth_normal((const double(*)[3])normals, around + first[v], first[v + 1] - first[v], t, normal);
            (void)vertex(&b, m->vertices + 3 * v, normal);
        }
    return true;
}

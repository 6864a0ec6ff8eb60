/* mesh_inertia.c - volume, centroid and second moments of the solid within a surface of triangles.
 *
 * docs/theory/mesh_inertia.md has the equations. Every triangle spans a tetrahedron with a reference point r;
 * its signed volume (1), first moment (2) and second moments (3) are added up. The sums are those of the
 * solid if every edge is passed as often in one direction as in the other (4), for any r; the mean of the
 * vertices loses the fewest digits. The second moments are taken in a second pass about the centroid that the
 * first one gives, so that (6) subtracts almost nothing. Sums are compensated (Neumaier), so that their
 * error does not grow with the number of triangles.
 *
 * Surfaces that are connected with each other by vertices form a shell. If the total volume is negative, all
 * triangles are clockwise seen from outside, and the sums are taken with the opposite sign. A shell of the
 * other sign than the total is a cavity, which lies within another shell; one that does not is refused. So is
 * a triangle that occurs twice.
 *
 * Cost     O(triangles), and as much again for each cavity; memory 80 bytes for each, during the call.
 */
#include "model/mesh_inertia.h"

#include "linalg/vec3.h"

#include <stdint.h>
#include <stdio.h>

/* --- validity ------------------------------------------------------------------------------------- */

lw_status lw_mesh_valid(const lw_mesh_spec *mesh, lw_error *error) {
    const double most = 1e30; /* Single precision holds it, for drawing, and its cube is finite. */
    if (!mesh || mesh->vertex_count < 0 || mesh->triangle_count < 0 ||
        (mesh->vertex_count > 0 && !mesh->vertices) || (mesh->triangle_count > 0 && !mesh->triangles))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give vertices and triangles",
                       "the mesh is not there");
    if (mesh->triangle_count == 0)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give at least four triangles",
                       "the mesh has no triangles");
    for (size_t k = 0; k < 3 * (size_t)mesh->vertex_count; k++)
        if (!(fabs(mesh->vertices[k]) <= most))
            return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give finite numbers, below 1e30",
                           "coordinate %c of vertex %zu of the mesh is %g", "xyz"[k % 3], k / 3,
                           mesh->vertices[k]);
    for (size_t k = 0; k < 3 * (size_t)mesh->triangle_count; k++)
        if (mesh->triangles[k] < 0 || mesh->triangles[k] >= mesh->vertex_count)
            return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "vertices are counted from 0",
                           "triangle %zu of the mesh refers to vertex %d, but there are %d", k / 3,
                           mesh->triangles[k], mesh->vertex_count);
    return LW_OK;
}

/* --- edges ---------------------------------------------------------------------------------------- */

typedef struct {
    int low, high; /* its vertices; high 0: the slot is free */
    int balance;   /* how many triangles pass it from low to high, less those from high to low */
    int count;     /* triangles at it */
    int triangle;  /* one of them */
} edge;

static edge *find_edge(edge *edges, size_t mask, int low, int high) {
    uint64_t key = ((uint64_t)(uint32_t)low << 32 | (uint32_t)high) * 0x9E3779B97F4A7C15u;
    size_t at = (size_t)(key >> 20) & mask;
    while (edges[at].high != 0 && (edges[at].low != low || edges[at].high != high)) at = (at + 1) & mask;
    return &edges[at];
}

static void describe(const lw_mesh_spec *mesh, int vertex, char text[96]) {
    const double *p = mesh->vertices + 3 * (size_t)vertex;
    (void)snprintf(text, 96, "(%.9g, %.9g, %.9g)", p[0], p[1], p[2]);
}

static lw_status refuse_edge(const lw_mesh_spec *mesh, const edge *wrong, size_t how_many, lw_error *error) {
    char from[96], to[96], others[64] = "";
    const bool open = wrong->count % 2 == 1;
    describe(mesh, wrong->low, from);
    describe(mesh, wrong->high, to);
    if (how_many > 1)
        (void)snprintf(others, sizeof others, ", and so %s %zu others", open ? "are" : "do", how_many - 1);
    if (open)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                       "close the mesh in the program that made it, or give mass, com and inertia",
                       "the mesh is not closed: the edge from %s to %s is open%s", from, to, others);
    return lw_fail(
        error, LW_ERROR_ARGUMENT, NULL,
        "orient the mesh in the program that made it: all triangles counter-clockwise from outside",
        "the triangles of the mesh do not have one sense: two at the edge from %s to %s pass "
        "it in the same direction%s",
        from, to, others);
}

/* Equation (4): the surface has no border. */
static lw_status check_edges(const lw_mesh_spec *mesh, lw_arena *arena, lw_error *error) {
    size_t slots = 8, wrong = 0;
    while (slots < 4 * (size_t)mesh->triangle_count) slots *= 2;
    edge *edges = LW_NEW(arena, edge, slots), *first = NULL;
    if (!edges) return lw_out_of_memory(error);
    for (int t = 0; t < mesh->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            int from = mesh->triangles[3 * (size_t)t + (size_t)k],
                to = mesh->triangles[3 * (size_t)t + (size_t)((k + 1) % 3)];
            if (from == to) continue; /* The triangle is a line, whose other edges cancel. */
            edge *e = find_edge(edges, slots - 1, from < to ? from : to, from < to ? to : from);
            if (e->count++ == 0) e->low = from < to ? from : to, e->high = from < to ? to : from;
            e->triangle = t;
            e->balance += from < to ? 1 : -1;
        }
    for (size_t k = 0; k < slots; k++) {
        if (edges[k].balance == 0) continue;
        wrong++;
        if (!first || edges[k].triangle < first->triangle) first = &edges[k];
    }
    return first ? refuse_edge(mesh, first, wrong, error) : LW_OK;
}

/* The corners of a triangle in their sense, beginning with the lowest. */
static void in_order(const int *triangle, int corner[3]) {
    int first = triangle[0] < triangle[1] ? 0 : 1;
    if (triangle[2] < triangle[first]) first = 2;
    for (int k = 0; k < 3; k++) corner[k] = triangle[(first + k) % 3];
}

/* Each triangle occurs once: what a doubled surface encloses would count twice. */
static lw_status check_doubles(const lw_mesh_spec *mesh, lw_arena *arena, lw_error *error) {
    size_t slots = 8;
    while (slots < 2 * (size_t)mesh->triangle_count) slots *= 2;
    int *known = LW_NEW(arena, int, slots); /* 1 + a triangle; 0: free */
    if (!known) return lw_out_of_memory(error);
    for (int t = 0; t < mesh->triangle_count; t++) {
        int own[3], other[3];
        in_order(mesh->triangles + 3 * (size_t)t, own);
        if (own[0] == own[1] || own[1] == own[2] || own[2] == own[0]) continue; /* a line */
        uint64_t key = 0;
        for (int k = 0; k < 3; k++) key = (key ^ (uint32_t)own[k]) * 0x9E3779B97F4A7C15u, key ^= key >> 31;
        size_t at = (size_t)key & (slots - 1);
        for (; known[at] != 0; at = (at + 1) & (slots - 1)) {
            in_order(mesh->triangles + 3 * (size_t)(known[at] - 1), other);
            if (own[0] != other[0] || own[1] != other[1] || own[2] != other[2]) continue;
            char corners[3][96];
            for (int k = 0; k < 3; k++) describe(mesh, own[k], corners[k]);
            return lw_fail(
                error, LW_ERROR_ARGUMENT, NULL, "remove doubled triangles in the program that made the mesh",
                "the triangle %s, %s, %s occurs twice in the mesh", corners[0], corners[1], corners[2]);
        }
        known[at] = t + 1;
    }
    return LW_OK;
}

/* --- sums ----------------------------------------------------------------------------------------- */

/* A sum and the rounding errors of its additions (Neumaier 1974). */
typedef struct {
    double value, lost;
} sum;

static void add(sum *s, double term) {
    double next = s->value + term;
    s->lost += fabs(s->value) >= fabs(term) ? (s->value - next) + term : (term - next) + s->value;
    s->value = next;
}

static double total(const sum *s) { return s->value + s->lost; }

/* The corners of a triangle relative to r, and six times the volume of the tetrahedron: equation (1). */
static double corners(const lw_mesh_spec *mesh, int t, const double r[3], double d[3][3]) {
    double normal[3];
    for (int k = 0; k < 3; k++)
        lw_v3_sub(mesh->vertices + 3 * (size_t)mesh->triangles[3 * (size_t)t + (size_t)k], r, d[k]);
    lw_v3_cross(d[0], d[1], normal);
    return lw_v3_dot(normal, d[2]);
}

/* The mean of the vertices. */
static void reference(const lw_mesh_spec *mesh, double r[3]) {
    for (int k = 0; k < 3; k++) {
        sum s = {0, 0};
        for (int v = 0; v < mesh->vertex_count; v++) add(&s, mesh->vertices[3 * (size_t)v + (size_t)k]);
        r[k] = total(&s) / mesh->vertex_count;
    }
}

/* --- shells --------------------------------------------------------------------------------------- */

typedef struct {
    sum volume;
    double low[3], high[3];
    double widest; /* twice the area of its largest triangle */
    int triangle;  /* which is this one */
} shell;

static int root_of(int *parent, int v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

static bool holds(const shell *outer, const shell *inner) {
    for (int k = 0; k < 3; k++)
        if (!(outer->low[k] <= inner->low[k] && inner->high[k] <= outer->high[k])) return false;
    return true;
}

/* How often the surface encloses a point: the solid angle under which its triangles are seen from there, over
 * 4 pi. tan(angle/2) of a triangle with the corners a, b, c as seen from the point is
 * det[a, b, c] / (|a||b||c| + a.b |c| + b.c |a| + c.a |b|) (van Oosterom, Strackee 1983). */
static double enclosed(const lw_mesh_spec *mesh, const double at[3], double sense) {
    sum angle = {0, 0};
    for (int t = 0; t < mesh->triangle_count; t++) {
        double d[3][3];
        const double volume = corners(mesh, t, at, d);
        const double a = lw_v3_norm(d[0]), b = lw_v3_norm(d[1]), c = lw_v3_norm(d[2]);
        add(&angle, atan2(volume, a * b * c + lw_v3_dot(d[0], d[1]) * c + lw_v3_dot(d[1], d[2]) * a +
                                      lw_v3_dot(d[2], d[0]) * b));
    }
    return sense * total(&angle) / (2 * LW_PI);
}

/* Is a shell that subtracts volume a void in others? Just inside of it, at its largest triangle, the surface
 * then encloses the point once less than it would without the shell: not at all, or still. */
static bool is_void(const lw_mesh_spec *mesh, const shell *s, double sense) {
    double d[3][3], one[3], two[3], normal[3], at[3];
    const double origin[3] = {0, 0, 0};
    (void)corners(mesh, s->triangle, origin, d);
    lw_v3_sub(d[1], d[0], one);
    lw_v3_sub(d[2], d[0], two);
    lw_v3_cross(one, two, normal); /* With the sense, this leads out of the solid, into the void. */
    const double step = s->widest > 0 ? 1e-5 * sense / sqrt(s->widest) : 0;
    for (int k = 0; k < 3; k++) at[k] = (d[0][k] + d[1][k] + d[2][k]) / 3 + step * normal[k];
    return enclosed(mesh, at, sense) > -0.5;
}

/* Every shell that subtracts volume lies within the bounds of one that adds some, and is a void in it. */
static lw_status check_shells(const lw_mesh_spec *mesh, const double r[3], double sense, double negligible,
                              lw_arena *arena, lw_error *error) {
    enum { MOST_PAIRS = 100000000, MOST_ANGLES = 20000000 }; /* a second or two each */
    size_t vertices = (size_t)mesh->vertex_count, count = 0, cavities = 0;
    int *parent = LW_NEW(arena, int, vertices), *number = LW_NEW(arena, int, vertices);
    if (!parent || !number) return lw_out_of_memory(error);
    for (size_t v = 0; v < vertices; v++) parent[v] = (int)v, number[v] = -1;
    for (size_t k = 0; k < 3 * (size_t)mesh->triangle_count; k++) {
        int a = root_of(parent, mesh->triangles[k]), b = root_of(parent, mesh->triangles[k - k % 3]);
        if (a != b) parent[a] = b;
    }
    for (size_t k = 0; k < 3 * (size_t)mesh->triangle_count; k += 3) {
        int root = root_of(parent, mesh->triangles[k]);
        if (number[root] < 0) number[root] = (int)count++;
    }
    if (count < 2) return LW_OK;
    shell *shells = LW_NEW(arena, shell, count);
    if (!shells) return lw_out_of_memory(error);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) shells[i].low[k] = INFINITY, shells[i].high[k] = -INFINITY;
    for (int t = 0; t < mesh->triangle_count; t++) {
        const int *at = mesh->triangles + 3 * (size_t)t;
        shell *s = &shells[number[root_of(parent, at[0])]];
        double d[3][3], one[3], two[3], normal[3];
        add(&s->volume, sense * corners(mesh, t, r, d));
        lw_v3_sub(d[1], d[0], one);
        lw_v3_sub(d[2], d[0], two);
        lw_v3_cross(one, two, normal);
        if (lw_v3_norm(normal) >= s->widest) s->widest = lw_v3_norm(normal), s->triangle = t;
        for (int k = 0; k < 9; k++) {
            s->low[k % 3] = fmin(s->low[k % 3], d[k / 3][k % 3]);
            s->high[k % 3] = fmax(s->high[k % 3], d[k / 3][k % 3]);
        }
    }
    for (size_t i = 0; i < count; i++) cavities += total(&shells[i].volume) < -negligible;
    if (cavities * count > MOST_PAIRS)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give mass, com and inertia",
                       "the mesh has %zu cavities among %zu shells: too many to tell whether they are any",
                       cavities, count);
    for (size_t i = 0; i < count; i++) {
        bool inside = total(&shells[i].volume) >= -negligible;
        for (size_t j = 0; j < count && !inside; j++)
            inside = total(&shells[j].volume) > 0 && holds(&shells[j], &shells[i]);
        if (inside && total(&shells[i].volume) < -negligible &&
            cavities * (size_t)mesh->triangle_count <= MOST_ANGLES)
            inside = is_void(mesh, &shells[i], sense);
        if (inside) continue;
        char at[96];
        describe(mesh, mesh->triangles[3 * (size_t)shells[i].triangle], at);
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                       "turn its triangles round in the program that made the mesh",
                       "the part of the mesh at %s has the opposite sense of the others, but lies in none of "
                       "them as a cavity",
                       at);
    }
    return LW_OK;
}

/* --- the whole ------------------------------------------------------------------------------------ */

static lw_status integrate(const lw_mesh_spec *mesh, lw_arena *arena, double *volume, double centroid[3],
                           double second[6], bool *inward, lw_error *error) {
    static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    double r[3], d[3][3], c[3], largest = 0;
    sum six = {0, 0}, first[3] = {{0, 0}}, again[3] = {{0, 0}}, products[6] = {{0, 0}};
    reference(mesh, r);
    for (int t = 0; t < mesh->triangle_count; t++) { /* (1), (2) */
        double v = corners(mesh, t, r, d);
        add(&six, v);
        for (int k = 0; k < 3; k++) {
            add(&first[k], v * (d[0][k] + d[1][k] + d[2][k]));
            largest = fmax(largest, lw_v3_norm(d[k]));
        }
    }
    /* The computed volume of a flat surface is rounding. */
    double negligible = 1e-13 * largest * largest * largest, all = total(&six);
    if (!(fabs(all) > negligible))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give mass, com and inertia, or another mesh",
                       "the mesh is closed, but has no volume");
    for (int k = 0; k < 3; k++) c[k] = r[k] + total(&first[k]) / (4 * all); /* (5) */
    for (int t = 0; t < mesh->triangle_count; t++) {                        /* (2), (3) about c */
        double v = corners(mesh, t, c, d), s[3];
        for (int k = 0; k < 3; k++) {
            s[k] = d[0][k] + d[1][k] + d[2][k];
            add(&again[k], v * s[k]);
        }
        for (int k = 0; k < 6; k++) {
            int i = pairs[k][0], j = pairs[k][1];
            add(&products[k], v * (d[0][i] * d[0][j] + d[1][i] * d[1][j] + d[2][i] * d[2][j] + s[i] * s[j]));
        }
    }
    double rest[3];
    for (int k = 0; k < 3; k++) {
        rest[k] = total(&again[k]) / (4 * all);
        centroid[k] = c[k] + rest[k];
    }
    for (int k = 0; k < 6; k++) /* (6) */
        second[k] = total(&products[k]) / (20 * all) - rest[pairs[k][0]] * rest[pairs[k][1]];
    *volume = fabs(all) / 6;
    if (inward) *inward = all < 0;
    return check_shells(mesh, r, all < 0 ? -1 : 1, negligible, arena, error);
}

lw_status lw_mesh_moments(const lw_mesh_spec *mesh, double *volume, double centroid[3], double second[6],
                          bool *inward, lw_error *error) {
    lw_status status = lw_mesh_valid(mesh, error);
    if (status != LW_OK) return status;
    lw_arena *arena = lw_arena_create(NULL);
    if (!arena) return lw_out_of_memory(error);
    status = check_edges(mesh, arena, error);
    if (status == LW_OK) status = check_doubles(mesh, arena, error);
    if (status == LW_OK) status = integrate(mesh, arena, volume, centroid, second, inward, error);
    lw_arena_destroy(arena);
    return status;
}

lw_status lw_mesh_check(const lw_mesh_spec *mesh, lw_error *error) {
    double volume, centroid[3], second[6];
    return lw_mesh_moments(mesh, &volume, centroid, second, NULL, error);
}

void lw_mesh_turn_outward(const lw_mesh_spec *mesh, int *triangles) {
    double volume, centroid[3], second[6];
    bool inward = false;
    if (lw_mesh_moments(mesh, &volume, centroid, second, &inward, NULL) != LW_OK || !inward) return;
    for (size_t t = 0; t < (size_t)mesh->triangle_count; t++) {
        int corner = triangles[3 * t + 1];
        triangles[3 * t + 1] = triangles[3 * t + 2];
        triangles[3 * t + 2] = corner;
    }
}

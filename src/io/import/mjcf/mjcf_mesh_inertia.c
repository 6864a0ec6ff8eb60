/* mjcf_mesh_inertia.c - what MuJoCo takes for the mass of a mesh.
 *
 * Unless a mesh says inertia="exact", MuJoCo counts the tetrahedra between its triangles and one point all as
 * positive ("legacy"). That is the solid's volume if every triangle is seen from inside there, as of convex
 * solids, and more if not: nine times as much for the palm of a hand. Files have their masses from it, and
 * so has this: equations (8) to (11) of docs/theory/mesh_inertia.md. It asks for no closed surface. The same
 * sums with signs are "exact", which are those of mesh_inertia.c on closed surfaces; "shell" is mass on the
 * surface.
 *
 * Cost     O(triangles).
 */
#include "io/import/mjcf/mjcf.h"

/* The corners of triangle t relative to r, with the mesh's factors. */
static void corners(const mj_mesh *mesh, int t, const double r[3], double d[3][3]) {
    for (int k = 0; k < 3; k++) {
        const double *p = mesh->mesh.vertices + 3 * (size_t)mesh->mesh.triangles[3 * (size_t)t + (size_t)k];
        for (int i = 0; i < 3; i++) d[k][i] = mesh->scale[i] * p[i] - r[i];
    }
}

static double area(double d[3][3]) {
    double one[3], two[3], normal[3];
    lw_v3_sub(d[1], d[0], one);
    lw_v3_sub(d[2], d[0], two);
    lw_v3_cross(one, two, normal);
    return lw_v3_norm(normal) / 2;
}

/* How much triangle t counts: its area, or the volume up to the origin. */
static double weight(const mj_mesh *mesh, double d[3][3]) {
    double normal[3];
    if (mesh->counts == MJ_SHELL) return area(d);
    lw_v3_cross(d[0], d[1], normal);
    const double volume = lw_v3_dot(normal, d[2]) / 6;
    return mesh->counts == MJ_LEGACY ? fabs(volume) : volume;
}

bool mj_mesh_moments(const mj_mesh *mesh, double *amount, double com[3], double inertia[6]) {
    static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    const double origin[3] = {0, 0, 0};
    const int count = mesh->mesh.triangle_count;
    const bool solid = mesh->counts != MJ_SHELL;
    double d[3][3], middle[3] = {0, 0, 0}, first[3] = {0, 0, 0}, second[6] = {0}, all = 0, total = 0;
    for (int t = 0; t < count; t++) { /* (8) */
        corners(mesh, t, origin, d);
        const double a = area(d);
        all += a;
        for (int i = 0; i < 3; i++) middle[i] += a * (d[0][i] + d[1][i] + d[2][i]) / 3;
    }
    if (!(all > 0)) return false;
    for (int i = 0; i < 3; i++) middle[i] /= all;
    for (int t = 0; t < count && solid; t++) { /* (9) */
        corners(mesh, t, middle, d);
        const double v = weight(mesh, d);
        total += v;
        for (int i = 0; i < 3; i++) first[i] += v * (d[0][i] + d[1][i] + d[2][i]) / 4;
    }
    if (solid && !(total > 1e-12 * pow(all, 1.5))) return false; /* It is flat. */
    for (int i = 0; i < 3; i++) com[i] = middle[i] + (solid ? first[i] / total : 0);
    *amount = 0;
    for (int t = 0; t < count; t++) { /* (10) */
        corners(mesh, t, com, d);
        const double w = weight(mesh, d), part = w / (solid ? 20 : 12);
        double s[3];
        *amount += w;
        for (int i = 0; i < 3; i++) s[i] = d[0][i] + d[1][i] + d[2][i];
        for (int k = 0; k < 6; k++) {
            const int i = pairs[k][0], j = pairs[k][1];
            second[k] += part * (d[0][i] * d[0][j] + d[1][i] * d[1][j] + d[2][i] * d[2][j] + s[i] * s[j]);
        }
    }
    const double trace = second[0] + second[1] + second[2];
    for (int k = 0; k < 6; k++) inertia[k] = (k < 3 ? trace : 0) - second[k]; /* (11) */
    return *amount > 0 && isfinite(*amount);
}

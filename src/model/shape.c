/* shape.c - mass, centre and inertia of homogeneous shapes, and of several together.
 *
 * Each shape gives its volume, its centroid c and its second moments per mass about c, the symmetric matrix
 *     S = (1/m) integral (x - c)(x - c)' dm,        inertia about c = m (tr(S) 1 - S).
 * In the shape's own axes S is diagonal:
 *     box       a^2/12, b^2/12, c^2/12              cylinder  r^2/4, r^2/4, l^2/12
 *     sphere    r^2/5, r^2/5, r^2/5                 cone      3 r^2/20, 3 r^2/20, 3 h^2/80;  c at h/4
 *     ellipsoid a^2/5, b^2/5, c^2/5                 capsule   cylinder and two half balls, whose centroids
 *                                                             lie 3 r/8 beyond its ends
 *     mesh      mesh_inertia.c; factors s_i multiply volume by |s_x s_y s_z|, c_i by s_i, S_ij by s_i s_j
 * and from points, with d_k = x_k - c:
 *     rod       a a'/12 + r^2/4 (1 - a a'/|a|^2), a = x_1 - x_0
 *     tetrahedron  sum_k d_k d_k' / 20
 * Several shapes of masses m_k, centres c_k and inertias J_k (about c_k) have together, with d_k = c_k - c,
 *     m = sum m_k,   c = sum m_k c_k / m,   J = sum J_k + m_k (d_k'd_k 1 - d_k d_k')    (parallel axes).
 */
#include "linalg/vec3.h"
#include "model/mesh_inertia.h"

#include <linkwork/spec.h>

typedef struct {
    double volume;
    double centroid[3];
    double second[6]; /* S */
} moments;

/* Adds s d d' to the symmetric matrix out. */
static void add_square(double s, const double d[3], double out[6]) {
    out[0] += s * d[0] * d[0];
    out[1] += s * d[1] * d[1];
    out[2] += s * d[2] * d[2];
    out[3] += s * d[0] * d[1];
    out[4] += s * d[0] * d[2];
    out[5] += s * d[1] * d[2];
}

/* --- shapes in their own axes; the result is false if a size is not valid ------------------------- */

static bool sizes_fit(const double *size, int count) {
    double largest = 0;
    for (int k = 0; k < count; k++) {
        if (!(size[k] >= 0) || isinf(size[k])) return false;
        largest = fmax(largest, size[k]);
    }
    return largest > 0;
}

static bool solid_moments(const lw_shape *shape, moments *out) {
    const double *s = shape->size;
    double a2 = s[0] * s[0], b2 = s[1] * s[1], c2 = s[2] * s[2];
    switch (shape->kind) {
    case LW_SHAPE_BOX:
        *out = (moments){s[0] * s[1] * s[2], {0, 0, 0}, {a2 / 12, b2 / 12, c2 / 12, 0, 0, 0}};
        return sizes_fit(s, 3);
    case LW_SHAPE_CYLINDER:
        *out = (moments){LW_PI * a2 * s[1], {0, 0, 0}, {a2 / 4, a2 / 4, b2 / 12, 0, 0, 0}};
        return sizes_fit(s, 2);
    case LW_SHAPE_SPHERE:
        *out = (moments){4.0 / 3 * LW_PI * a2 * s[0], {0, 0, 0}, {a2 / 5, a2 / 5, a2 / 5, 0, 0, 0}};
        return sizes_fit(s, 1);
    case LW_SHAPE_CONE:
        *out = (moments){
            LW_PI / 3 * a2 * s[1], {0, 0, s[1] / 4}, {3 * a2 / 20, 3 * a2 / 20, 3 * b2 / 80, 0, 0, 0}};
        return sizes_fit(s, 2);
    case LW_SHAPE_ELLIPSOID:
        *out = (moments){4.0 / 3 * LW_PI * s[0] * s[1] * s[2], {0, 0, 0}, {a2 / 5, b2 / 5, c2 / 5, 0, 0, 0}};
        return sizes_fit(s, 3);
    case LW_SHAPE_CAPSULE: {
        if (!sizes_fit(s, 2)) return false;
        /* Volumes of cylinder and ball per cross section; their shares of the mass. */
        double whole = s[1] + 4.0 / 3 * s[0], straight = s[1] / whole, ends = 1 - straight;
        double across = a2 * (straight / 4 + ends / 5);
        *out = (moments){
            LW_PI * a2 * whole,
            {0, 0, 0},
            {across, across, straight * b2 / 12 + ends * (a2 / 5 + b2 / 4 + 3 * s[0] * s[1] / 8), 0, 0, 0}};
        return true;
    }
    default:
        return false;
    }
}

/* In the mesh's axes, with its factors. */
static lw_status mesh_moments(const lw_shape *shape, moments *out) {
    static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    const double *s = shape->size, product = s[0] * s[1] * s[2];
    if (!isfinite(product) || product == 0) return LW_ERROR_ARGUMENT;
    lw_status status = lw_mesh_moments(shape->mesh, &out->volume, out->centroid, out->second, NULL, NULL);
    if (status != LW_OK) return status;
    out->volume *= fabs(product);
    for (int k = 0; k < 3; k++) out->centroid[k] *= s[k];
    for (int k = 0; k < 6; k++) out->second[k] *= s[pairs[k][0]] * s[pairs[k][1]];
    return LW_OK;
}

/* Transforms the moments from the shape's axes to the body's. */
static bool place_moments(const lw_shape *shape, moments *out) {
    const double *q = shape->rotation, *p = shape->position;
    double R[9], centroid[3], second[6];
    double length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!isfinite(length) || !isfinite(p[0] + p[1] + p[2])) return false;
    if (length > 0) {
        lw_rot_quat(q, R);
    } else {
        lw_m3_identity(R);
    }
    lw_pose_point(R, p, out->centroid, centroid);
    lw_s3_rotate(R, out->second, second);
    lw_v3_copy(centroid, out->centroid);
    memcpy(out->second, second, sizeof second);
    return true;
}

/* --- shapes given by points in body axes ---------------------------------------------------------- */

static bool rod_moments(const lw_shape *shape, moments *out) {
    double along[3];
    lw_v3_sub(shape->points[1], shape->points[0], along);
    *out = (moments){0};
    add_square(1.0 / 12, along, out->second);
    for (int k = 0; k < 3; k++) out->centroid[k] = 0.5 * (shape->points[0][k] + shape->points[1][k]);
    double length = lw_v3_norm(along), radius = shape->size[0];
    if (!(length > 0) || !isfinite(length) || !(radius >= 0) || isinf(radius)) return false;
    double across = radius * radius / 4;
    for (int k = 0; k < 3; k++) out->second[k] += across;
    add_square(-across / (length * length), along, out->second);
    out->volume = LW_PI * radius * radius * length;
    return true;
}

static bool tetrahedron_moments(const lw_shape *shape, moments *out) {
    double edges[3][3], normal[3], longest = 0;
    *out = (moments){0};
    for (int k = 0; k < 4; k++) lw_v3_axpy(0.25, shape->points[k], out->centroid);
    for (int k = 0; k < 4; k++) {
        double d[3];
        lw_v3_sub(shape->points[k], out->centroid, d);
        add_square(1.0 / 20, d, out->second);
    }
    for (int k = 0; k < 3; k++) {
        lw_v3_sub(shape->points[k + 1], shape->points[0], edges[k]);
        double length = lw_v3_norm(edges[k]);
        if (!isfinite(length)) return false;
        longest = fmax(longest, length);
    }
    lw_v3_cross(edges[0], edges[1], normal);
    double volume = fabs(lw_v3_dot(normal, edges[2])) / 6;
    /* The computed volume of four points in a plane is rounding. */
    out->volume = volume > 1e-14 * longest * longest * longest ? volume : 0;
    return longest > 0;
}

static lw_status shape_moments(const lw_shape *shape, moments *out) {
    switch (shape->kind) {
    case LW_SHAPE_ROD:
        return rod_moments(shape, out) ? LW_OK : LW_ERROR_ARGUMENT;
    case LW_SHAPE_TETRAHEDRON:
        return tetrahedron_moments(shape, out) ? LW_OK : LW_ERROR_ARGUMENT;
    case LW_SHAPE_MESH: {
        lw_status status = mesh_moments(shape, out);
        return status != LW_OK || place_moments(shape, out) ? status : LW_ERROR_ARGUMENT;
    }
    default:
        return solid_moments(shape, out) && place_moments(shape, out) ? LW_OK : LW_ERROR_ARGUMENT;
    }
}

/* --- masses --------------------------------------------------------------------------------------- */

static void weigh(const moments *of, double mass, double com[3], double inertia[6]) {
    const double *S = of->second;
    lw_v3_copy(of->centroid, com);
    inertia[0] = mass * (S[1] + S[2]);
    inertia[1] = mass * (S[0] + S[2]);
    inertia[2] = mass * (S[0] + S[1]);
    for (int k = 3; k < 6; k++) inertia[k] = -mass * S[k];
}

lw_status lw_shape_inertia(const lw_shape *shape, double mass, double density, double *total, double com[3],
                           double inertia[6]) {
    moments shape_of;
    if (!shape || !total || !com || !inertia) return LW_ERROR_ARGUMENT;
    lw_status status = shape_moments(shape, &shape_of);
    if (status != LW_OK) return status;
    if (density > 0) {
        if (!(shape_of.volume > 0)) return LW_ERROR_ARGUMENT;
        mass = density * shape_of.volume;
    }
    if (!(mass >= 0) || isinf(mass)) return LW_ERROR_ARGUMENT;
    *total = mass;
    weigh(&shape_of, mass, com, inertia);
    return LW_OK;
}

/* The mass of one shape of several; negative or NaN if it cannot be. */
static double own_mass(const lw_shape *shape, const moments *of) {
    if (shape->density > 0) return of->volume > 0 ? shape->density * of->volume : NAN;
    return shape->has_mass ? shape->mass : 0;
}

/* Adds the inertia of a shape about c, by the theorem of parallel axes. */
static void add_moments(const moments *of, double mass, const double c[3], double inertia[6]) {
    double own[6], centre[3], d[3];
    weigh(of, mass, centre, own);
    lw_v3_sub(centre, c, d);
    double square = lw_v3_dot(d, d);
    for (int k = 0; k < 3; k++) inertia[k] += own[k] + mass * (square - d[k] * d[k]);
    inertia[3] += own[3] - mass * d[0] * d[1];
    inertia[4] += own[4] - mass * d[0] * d[2];
    inertia[5] += own[5] - mass * d[1] * d[2];
}

lw_status lw_shapes_inertia(const lw_shape *shapes, int count, double mass, double *total, double com[3],
                            double inertia[6]) {
    if (!shapes || count < 1 || !total || !com || !inertia) return LW_ERROR_ARGUMENT;
    bool own = false;
    for (int k = 0; k < count; k++) own = own || shapes[k].has_mass || shapes[k].density > 0;
    if (!own && (!(mass >= 0) || isinf(mass))) return LW_ERROR_ARGUMENT;
    lw_arena *arena = lw_arena_create(NULL);
    moments *each = LW_NEW(arena, moments, count);
    double *masses = LW_NEW(arena, double, count), sum = 0, weighted[3] = {0, 0, 0};
    lw_status status = arena && each && masses ? LW_OK : LW_ERROR_MEMORY;
    for (int k = 0; k < count && status == LW_OK; k++) {
        const bool drawn = own && !(shapes[k].density > 0) && !(shapes[k].has_mass && shapes[k].mass != 0);
        /* A mesh that only shows something may be open. */
        if (!drawn || shapes[k].kind != LW_SHAPE_MESH) status = shape_moments(&shapes[k], &each[k]);
        masses[k] = own ? own_mass(&shapes[k], &each[k]) : each[k].volume;
        if (status == LW_OK && (!(masses[k] >= 0) || isinf(masses[k]))) status = LW_ERROR_ARGUMENT;
        if (status == LW_OK && !own && mass > 0 && masses[k] == 0) status = LW_ERROR_ARGUMENT;
        sum += masses[k];
        lw_v3_axpy(masses[k], each[k].centroid, weighted);
    }
    if (status == LW_OK && isinf(sum)) status = LW_ERROR_ARGUMENT;
    if (status == LW_OK) {
        *total = own ? sum : mass;
        for (int k = 0; k < 3; k++) com[k] = sum > 0 ? weighted[k] / sum : 0;
        for (int k = 0; k < 6; k++) inertia[k] = 0;
        for (int k = 0; k < count; k++)
            add_moments(&each[k], own ? masses[k] : sum > 0 ? mass * (masses[k] / sum) : 0, com, inertia);
    }
    if (arena) lw_arena_destroy(arena);
    return status;
}

/* shape.c - mass, centre and inertia of homogeneous shapes.
 *
 * Each shape gives its volume, its centroid c and its second moments per mass about c, the symmetric matrix
 *     S = (1/m) integral (x - c)(x - c)' dm,        inertia about c = m (tr(S) 1 - S).
 * In the shape's own axes S is diagonal:
 *     box       a^2/12, b^2/12, c^2/12              cylinder  r^2/4, r^2/4, l^2/12
 *     sphere    r^2/5, r^2/5, r^2/5                 cone      3 r^2/20, 3 r^2/20, 3 h^2/80;  c at h/4
 * and from points, with d_k = x_k - c:
 *     rod       a a'/12 + r^2/4 (1 - a a'/|a|^2), a = x_1 - x_0
 *     tetrahedron  sum_k d_k d_k' / 20
 */
#include "linalg/vec3.h"

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
    default:
        return false;
    }
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

static bool shape_moments(const lw_shape *shape, moments *out) {
    switch (shape->kind) {
    case LW_SHAPE_ROD:
        return rod_moments(shape, out);
    case LW_SHAPE_TETRAHEDRON:
        return tetrahedron_moments(shape, out);
    default:
        return solid_moments(shape, out) && place_moments(shape, out);
    }
}

lw_status lw_shape_inertia(const lw_shape *shape, double mass, double density, double *total, double com[3],
                           double inertia[6]) {
    moments shape_of;
    if (!shape || !total || !com || !inertia) return LW_ERROR_ARGUMENT;
    if (!shape_moments(shape, &shape_of)) return LW_ERROR_ARGUMENT;
    if (density > 0) {
        if (!(shape_of.volume > 0)) return LW_ERROR_ARGUMENT;
        mass = density * shape_of.volume;
    }
    if (!(mass >= 0) || isinf(mass)) return LW_ERROR_ARGUMENT;

    const double *S = shape_of.second;
    *total = mass;
    lw_v3_copy(shape_of.centroid, com);
    inertia[0] = mass * (S[1] + S[2]);
    inertia[1] = mass * (S[0] + S[2]);
    inertia[2] = mass * (S[0] + S[1]);
    for (int k = 3; k < 6; k++) inertia[k] = -mass * S[k];
    return LW_OK;
}

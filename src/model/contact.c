/* contact.c - the geometry and the forces of a contact between a surface of one body and a shape on another.
 *
 * The surface is given by the signed distance d(y) of a point y from it, positive outside, in the axes of its
 * frame; n is its gradient, H its second derivatives. A shape touches at probes: spheres of radius r (or
 * zero) around points that are fixed in it, or that slide along its edge or axis to where it is next to the
 * surface.
 *
 *     depth  e = r - d,   acts at  x = c - (r + d)/2 n,   edot = -n . v_rel
 *     normal force   N = k e^p (1 + a edot), not negative
 *     friction       T = -mu N tanh(|u|/s) u/|u|,   u the tangential part of v_rel
 *
 * Source   docs/theory/contact.md, 1-9 (Hunt and Crossley 1975).
 * Cost     O(probes), no allocation.
 * Limits   Capsules touch planes and spheres, discs and boxes planes. A disc that lies flat has no lowest
 *          point; one of its edge is taken.
 */
#include "model/contact.h"

#include <math.h>
#include <string.h>

/* --- surfaces -------------------------------------------------------------------------------------- */

/* Distance, gradient and second derivatives of a sphere around the origin; of a point at its centre the
 * gradient has no direction, and is taken along z. */
static double from_sphere(const double y[3], double radius, double n[3], double H[9]) {
    const double length = lw_v3_norm(y);
    lw_v3_set(n, 0, 0, 1);
    if (length > 0)
        for (int k = 0; k < 3; k++) n[k] = y[k] / length;
    for (int i = 0; i < 3 && length > 0; i++)
        for (int k = 0; k < 3; k++) H[3 * i + k] = ((i == k) - n[i] * n[k]) / length;
    return length - radius;
}

/* A cylinder about z: its side, one of its ends, or the edge between them. */
static double from_cylinder(const double y[3], double radius, double half_length, double n[3], double H[9]) {
    const double rho = hypot(y[0], y[1]), side = rho - radius, end = fabs(y[2]) - half_length;
    const double radial[3] = {rho > 0 ? y[0] / rho : 1, rho > 0 ? y[1] / rho : 0, 0};
    const double up = y[2] < 0 ? -1 : 1;
    double along_side = 1, along_end = 0, d = side; /* n = along_side radial + along_end up */
    if (side > 0 && end > 0)
        d = hypot(side, end), along_side = side / d, along_end = end / d;
    else if (end > side)
        d = end, along_side = 0, along_end = 1;
    for (int k = 0; k < 3; k++) n[k] = along_side * radial[k];
    n[2] += along_end * up;
    const double tangent[3] = {-radial[1], radial[0], 0}, edge = side > 0 && end > 0 ? 1 / d : 0;
    const double bend[3] = {-along_end * radial[0], -along_end * radial[1], along_side * up};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            H[3 * i + k] =
                (rho > 0 ? along_side / rho : 0) * tangent[i] * tangent[k] + edge * bend[i] * bend[k];
    return d;
}

static double from_box(const double y[3], const double half[3], double n[3], double H[9]) {
    double beyond[3], d = -HUGE_VAL, length = 0;
    int face = 0;
    lw_v3_set(n, 0, 0, 0);
    for (int k = 0; k < 3; k++) {
        const double out = fabs(y[k]) - half[k];
        if (out > d) d = out, face = k;
        beyond[k] = fmax(out, 0);
        length += beyond[k] * beyond[k];
    }
    length = sqrt(length);
    if (!(length > 0)) { /* within: the nearest face */
        n[face] = y[face] < 0 ? -1 : 1;
        return d;
    }
    for (int k = 0; k < 3; k++) n[k] = copysign(beyond[k] / length, y[k]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (beyond[i] > 0 && beyond[k] > 0) H[3 * i + k] = ((i == k) - n[i] * n[k]) / length;
    return length;
}

static double distance_from(const lw_contact *contact, const double y[3], double n[3], double H[9]) {
    double d;
    memset(H, 0, 9 * sizeof *H);
    switch (contact->surface) {
    case LW_SURFACE_SPHERE:
        d = from_sphere(y, contact->radius, n, H);
        break;
    case LW_SURFACE_CYLINDER:
        d = from_cylinder(y, contact->radius, contact->half_length, n, H);
        break;
    case LW_SURFACE_BOX:
        d = from_box(y, contact->half_size, n, H);
        break;
    default:
        lw_v3_set(n, 0, 0, 1);
        return y[2];
    }
    if (!contact->inside) return d;
    for (int k = 0; k < 3; k++) n[k] = -n[k];
    for (int k = 0; k < 9; k++) H[k] = -H[k];
    return -d;
}

/* --- probes ---------------------------------------------------------------------------------------- */

/* Does the capsule touch a ball next to it, by the point of its axis that is nearest to the centre? */
static bool slides_along_axis(const lw_contact *contact) {
    return contact->shape == LW_TOUCH_CAPSULE && contact->surface == LW_SURFACE_SPHERE && !contact->inside;
}

static void z_axis(const double R[9], double z[3]) { lw_v3_set(z, R[2], R[5], R[8]); }

/* The part of the plane's normal along the disc; returns its length. */
static double along_disc(const lw_contact_body *surface, const lw_contact_body *shape, double out[3]) {
    double n[3], m[3];
    z_axis(surface->R, n);
    z_axis(shape->R, m);
    const double across = lw_v3_dot(n, m);
    for (int k = 0; k < 3; k++) out[k] = n[k] - across * m[k];
    return lw_v3_norm(out);
}

/* Below this sine of its inclination a disc counts as lying flat. */
static const double flat = 1e-9;

static void centre_of(const lw_contact *contact, const lw_contact_body *surface, const lw_contact_body *shape,
                      int k, double c[3]) {
    double axis[3], down[3], to[3];
    if (contact->shape == LW_TOUCH_DISC) {
        const double length = along_disc(surface, shape, down);
        lw_v3_copy(shape->p, c);
        for (int i = 0; i < 3; i++) /* Of a flat one, the point along its x axis. */
            c[i] -= contact->reach * (length > flat ? down[i] / length : shape->R[3 * i]);
        return;
    }
    if (slides_along_axis(contact)) {
        z_axis(shape->R, axis);
        lw_v3_sub(surface->p, shape->p, to);
        const double s = fmax(-contact->reach, fmin(contact->reach, lw_v3_dot(axis, to)));
        lw_v3_copy(shape->p, c);
        lw_v3_axpy(s, axis, c);
        return;
    }
    lw_pose_point(shape->R, shape->p, contact->probe[k], c);
}

void lw_contact_shift(const lw_contact *contact, const lw_contact_body *surface, const lw_contact_body *shape,
                      const lw_touch *touch, const double turns[2][3], const double moves[2][3],
                      double shift[3]) {
    double axis[3], turned[3], to[3], part[3];
    lw_v3_set(shift, 0, 0, 0);
    if (slides_along_axis(contact)) {
        z_axis(shape->R, axis);
        lw_v3_sub(surface->p, shape->p, to);
        if (!(fabs(lw_v3_dot(axis, to)) < contact->reach)) return; /* at an end */
        lw_v3_cross(turns[1], axis, turned);
        lw_v3_sub(moves[0], moves[1], part);
        lw_v3_axpy(lw_v3_dot(turned, to) + lw_v3_dot(axis, part), axis, shift);
    } else if (contact->shape == LW_TOUCH_DISC) {
        double down[3], n[3], change[3], turned_n[3];
        const double length = along_disc(surface, shape, down);
        if (!(length > flat)) return;
        z_axis(surface->R, n);
        z_axis(shape->R, axis);
        lw_v3_cross(turns[0], n, turned_n);
        lw_v3_cross(turns[1], axis, turned);
        const double across = lw_v3_dot(n, axis), by = lw_v3_dot(turned_n, axis) + lw_v3_dot(n, turned);
        for (int k = 0; k < 3; k++) down[k] /= length;
        for (int k = 0; k < 3; k++) change[k] = turned_n[k] - by * axis[k] - across * turned[k];
        const double along = lw_v3_dot(down, change);
        for (int k = 0; k < 3; k++)
            shift[k] = -contact->reach * (change[k] - along * down[k]) / length; /* of the lowest point, */
        lw_v3_sub(touch->c, shape->p, to);
        lw_v3_cross(turns[1], to, part); /* less the motion of the material there */
        lw_v3_sub(shift, part, shift);
    }
}

/* --- kinematics and forces ------------------------------------------------------------------------- */

void lw_contact_look(const lw_contact *contact, const lw_contact_body *surface, const lw_contact_body *shape,
                     int k, lw_touch *touch) {
    double arm[3], y[3], n[3], H[9], part[9], on_shape[3], on_surface[3];
    centre_of(contact, surface, shape, k, touch->c);
    lw_v3_sub(touch->c, surface->p, arm);
    lw_m3_tmul_v(surface->R, arm, y);
    const double d = distance_from(contact, y, n, H);
    lw_m3_mul_v(surface->R, n, touch->n);
    lw_m3_mul(surface->R, H, part);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) touch->H[3 * i + j] = lw_v3_dot(part + 3 * i, surface->R + 3 * j);
    touch->depth = contact->probe_radius - d;
    lw_v3_copy(touch->c, touch->x);
    lw_v3_axpy(-0.5 * (contact->probe_radius + d), touch->n, touch->x);
    lw_v3_copy(shape->v, on_shape);
    lw_v3_sub(touch->x, shape->p, arm);
    lw_v3_add_cross(shape->w, arm, on_shape);
    lw_v3_copy(surface->v, on_surface);
    lw_v3_sub(touch->x, surface->p, arm);
    lw_v3_add_cross(surface->w, arm, on_surface);
    lw_v3_sub(on_shape, on_surface, touch->v);
    touch->rate = -lw_v3_dot(touch->n, touch->v);
    lw_v3_copy(touch->v, touch->u);
    lw_v3_axpy(touch->rate, touch->n, touch->u);
}

/* tanh(s)/s */
static double share_of(double s) { return s < 1e-4 ? 1 - s * s / 3 : tanh(s) / s; }

void lw_contact_forces(const lw_contact *contact, double held, lw_touch *touch) {
    const double e = touch->depth;
    touch->acts = isnan(held) ? e > 0 : held > 0.5;
    touch->normal = touch->elastic = touch->by_depth = touch->by_rate = 0;
    lw_v3_set(touch->friction, 0, 0, 0);
    if (!touch->acts) return;
    /* Beyond the instant at which it would part, the law goes on as an odd function. */
    const double slope = contact->stiffness * pow(fabs(e), contact->exponent - 1);
    const double faster = 1 + contact->damping * touch->rate;
    touch->elastic = slope * e;
    if (!(faster > 0)) return;
    touch->normal = touch->elastic * faster;
    touch->by_depth = contact->exponent * slope * faster;
    touch->by_rate = touch->elastic * contact->damping;
    if (contact->friction == 0) return;
    const double share = share_of(lw_v3_norm(touch->u) / contact->smoothing);
    for (int k = 0; k < 3; k++)
        touch->friction[k] = -contact->friction * touch->normal * share * touch->u[k] / contact->smoothing;
}

static void look_at(const lw_data *data, int body, const lw_pose *frame, lw_contact_body *out) {
    const lw_pose *world = &data->world[body];
    const double *V = data->motion[body].V;
    double v[3];
    lw_m3_mul(world->R, frame->R, out->R);
    lw_pose_point(world->R, world->p, frame->p, out->p);
    lw_m3_mul_v(world->R, V, out->w);
    lw_v3_copy(V + 3, v);
    lw_v3_add_cross(V, frame->p, v);
    lw_m3_mul_v(world->R, v, out->v);
}

void lw_contact_bodies(const lw_force *force, const lw_data *data, lw_contact_body *surface,
                       lw_contact_body *shape) {
    look_at(data, force->bodies[0], &force->frames[0], surface);
    look_at(data, force->bodies[1], &force->frames[1], shape);
}

void lw_contact_gap(const lw_force *force, const lw_data *data, double *gap, double *rate) {
    lw_contact_body surface, shape;
    lw_touch touch;
    lw_contact_bodies(force, data, &surface, &shape);
    *gap = HUGE_VAL, *rate = 0;
    for (int k = 0; k < force->contact->probes; k++) {
        lw_contact_look(force->contact, &surface, &shape, k, &touch);
        if (-touch.depth < *gap) *gap = -touch.depth, *rate = -touch.rate;
    }
}

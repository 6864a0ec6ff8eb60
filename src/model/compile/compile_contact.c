/* compile_contact.c - contacts: which surfaces and shapes may meet, their frames on both bodies, and the
 * points at which a shape may touch.
 *
 * Source   docs/theory/contact.md.
 */
#include "model/compile/compile.h"

#include <string.h>

static void complain(lw_compiler *compiler, const lw_force_spec *spec, const char *remedy, const char *what,
                     double value) {
    lw_compile_error(compiler, "force", spec->name, spec->place, remedy, "%s %g", what, value);
}

/* A length that the figure must have. */
static bool positive(lw_compiler *compiler, const lw_force_spec *spec, const char *what, double value) {
    if (value > 0 && isfinite(value)) return true;
    lw_compile_error(compiler, "force", spec->name, spec->place, "give a positive length",
                     "%s %g is not a length", what, value);
    return false;
}

static bool has_direction(lw_compiler *compiler, const lw_force_spec *spec, const char *what,
                          const double axis[3]) {
    const double length = lw_v3_norm(axis);
    if (length > 0 && isfinite(length)) return true;
    lw_compile_error(compiler, "force", spec->name, spec->place, "give any non-zero vector, e.g. [0, 0, 1]",
                     "%s [%g, %g, %g] has no direction", what, axis[0], axis[1], axis[2]);
    return false;
}

/* Size and direction of the surface. */
static bool take_surface(lw_compiler *compiler, const lw_force_spec *spec, lw_contact *contact) {
    const lw_contact_figure *on = &spec->contact.on[0];
    bool good = true;
    contact->surface = spec->contact.surface;
    contact->inside = spec->contact.inside;
    contact->radius = on->radius;
    contact->half_length = on->length > 0 ? 0.5 * on->length : HUGE_VAL;
    for (int k = 0; k < 3; k++) contact->half_size[k] = 0.5 * on->size[k];
    switch (spec->contact.surface) {
    case LW_SURFACE_PLANE:
        good = has_direction(compiler, spec, "the plane's normal", on->axis);
        break;
    case LW_SURFACE_SPHERE:
        good = positive(compiler, spec, "the surface's radius", on->radius);
        break;
    case LW_SURFACE_CYLINDER:
        good = positive(compiler, spec, "the surface's radius", on->radius) &&
               has_direction(compiler, spec, "the cylinder's axis", on->axis);
        if (!(on->length >= 0) || !isfinite(on->length))
            complain(compiler, spec, "give a positive length, or leave it out for a cylinder without ends",
                     "the cylinder's length is", on->length);
        break;
    case LW_SURFACE_BOX:
        for (int k = 0; k < 3 && good; k++)
            good = positive(compiler, spec, "the size of the surface", on->size[k]);
        break;
    default:
        lw_compile_error(compiler, "force", spec->name, spec->place, NULL, "unknown surface %d",
                         (int)spec->contact.surface);
        return false;
    }
    const bool round = spec->contact.surface == LW_SURFACE_SPHERE ||
                       (spec->contact.surface == LW_SURFACE_CYLINDER && on->length == 0);
    if (good && contact->inside && !round) {
        lw_compile_error(compiler, "force", spec->name, spec->place,
                         "take a contact with a plane for each wall and each end",
                         "only spheres and cylinders without ends have an inside");
        return false;
    }
    return good;
}

/* The points at which the shape may touch. */
static bool take_shape(lw_compiler *compiler, const lw_force_spec *spec, lw_contact *contact) {
    const lw_contact_figure *on = &spec->contact.on[1];
    bool good = true;
    contact->shape = spec->contact.shape;
    contact->probes = 1;
    switch (spec->contact.shape) {
    case LW_TOUCH_POINT:
        break;
    case LW_TOUCH_SPHERE:
        good = positive(compiler, spec, "the shape's radius", on->radius);
        contact->probe_radius = on->radius;
        break;
    case LW_TOUCH_CAPSULE:
        good = positive(compiler, spec, "the shape's radius", on->radius) &&
               positive(compiler, spec, "the shape's length", on->length) &&
               has_direction(compiler, spec, "the shape's axis", on->axis);
        contact->probe_radius = on->radius;
        contact->reach = 0.5 * on->length;
        if (spec->contact.surface == LW_SURFACE_SPHERE && !contact->inside) break; /* It slides along. */
        contact->probes = 2;
        contact->probe[0][2] = contact->reach, contact->probe[1][2] = -contact->reach;
        break;
    case LW_TOUCH_DISC:
        good = positive(compiler, spec, "the shape's radius", on->radius) &&
               has_direction(compiler, spec, "the shape's axis", on->axis);
        contact->reach = on->radius;
        break;
    case LW_TOUCH_BOX:
        contact->probes = 8;
        for (int k = 0; k < 3 && good; k++)
            good = positive(compiler, spec, "the size of the shape", on->size[k]);
        for (int c = 0; c < 8; c++)
            for (int k = 0; k < 3; k++) contact->probe[c][k] = (c >> k & 1 ? 0.5 : -0.5) * on->size[k];
        break;
    default:
        lw_compile_error(compiler, "force", spec->name, spec->place, NULL, "unknown shape %d",
                         (int)spec->contact.shape);
        return false;
    }
    static const char *const shapes[LW_TOUCHES] = {"point", "sphere", "capsule", "disc", "box"};
    static const char *const surfaces[LW_SURFACES] = {"plane", "sphere", "cylinder", "box"};
    const bool plane = contact->surface == LW_SURFACE_PLANE, ball = contact->surface == LW_SURFACE_SPHERE;
    const bool meets = contact->shape == LW_TOUCH_POINT || contact->shape == LW_TOUCH_SPHERE || plane ||
                       (contact->shape == LW_TOUCH_CAPSULE && ball);
    if (good && !meets)
        lw_compile_error(
            compiler, "force", spec->name, spec->place,
            contact->shape == LW_TOUCH_BOX
                ? "exchange both bodies, or take a contact with a sphere or point for each corner"
                : "take several contacts with spheres",
            "a %s touches planes%s, but no %s", shapes[contact->shape],
            contact->shape == LW_TOUCH_CAPSULE ? " and spheres" : "", surfaces[contact->surface]);
    return good && meets;
}

static bool take_law(lw_compiler *compiler, const lw_force_spec *spec, lw_contact *contact) {
    const lw_contact_spec *c = &spec->contact;
    const int before = compiler->errors;
    contact->stiffness = c->stiffness, contact->exponent = c->exponent, contact->damping = c->damping;
    contact->friction = c->friction, contact->smoothing = c->smoothing;
    if (!(c->stiffness > 0) || !isfinite(c->stiffness))
        complain(compiler, spec, "give a positive number", "its stiffness is", c->stiffness);
    if (!(c->exponent >= 1) || !(c->exponent <= 4))
        complain(compiler, spec, "give a number from 1 to 4; 1.5 is that of round bodies (Hertz)",
                 "its exponent is", c->exponent);
    if (!(c->damping >= 0) || !isfinite(c->damping))
        complain(compiler, spec, "give zero or a positive number, s/m", "its damping is", c->damping);
    if (!(c->friction >= 0) || !isfinite(c->friction))
        complain(compiler, spec, "give zero or a positive coefficient", "its friction is", c->friction);
    if (c->friction > 0 && (!(c->smoothing > 0) || !isfinite(c->smoothing)))
        complain(compiler, spec, "give the speed below which friction fades, e.g. 0.001",
                 "its smoothing is no speed:", c->smoothing);
    return compiler->errors == before;
}

/* The axes of a figure, in the world or on its body: z along its axis, or those of a box. */
static void figure_axes(const lw_contact_figure *figure, bool box, double R[9]) {
    double z[3], x[3], quaternion[4];
    lw_m3_identity(R);
    if (box) {
        memcpy(quaternion, figure->rotation, sizeof quaternion);
        lw_quat_normalise(quaternion);
        lw_rot_quat(quaternion, R);
        return;
    }
    const double length = lw_v3_norm(figure->axis);
    if (!(length > 0)) return;
    for (int k = 0; k < 3; k++) z[k] = figure->axis[k] / length;
    lw_v3_perpendicular(z, x);
    lw_rot_columns_zx(z, x, R);
}

void lw_compile_contact(lw_compiler *compiler, const lw_force_spec *spec, lw_force *force) {
    lw_contact *contact = LW_NEW(compiler->model->arena, lw_contact, 1);
    lw_mount users[2];
    if (!contact) return; /* The arena remembers. */
    const bool finite = lw_finite(spec->points[0], 6) && lw_finite(spec->contact.on[0].rotation, 4) &&
                        lw_finite(spec->contact.on[1].rotation, 4);
    if (!finite)
        lw_compile_error(compiler, "force", spec->name, spec->place, "give finite numbers",
                         "a point or a rotation is not finite");
    bool good =
        lw_compile_pair(compiler, "force", spec->name, spec->place, spec->bodies, users, force->bodies) &&
        finite;
    good = take_surface(compiler, spec, contact) && take_shape(compiler, spec, contact) && good;
    good = take_law(compiler, spec, contact) && good;
    force->contact = contact;
    if (!good) return;
    for (int side = 0; side < 2; side++) {
        const bool box = side ? spec->contact.shape == LW_TOUCH_BOX : spec->contact.surface == LW_SURFACE_BOX;
        double R[9];
        figure_axes(&spec->contact.on[side], box, R);
        lw_compile_point(compiler, &users[side], spec->frame, spec->points[side], force->frames[side].p);
        lw_compile_axes(compiler, &users[side], spec->frame, R, force->frames[side].R);
    }
}

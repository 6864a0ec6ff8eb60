/* validate.c - checks of a body or a joint by itself.
 *
 * Rules    numbers are finite; mass >= 0;
 *          inertia is positive semidefinite, to 1e-9 of the largest moment, because data are often rounded to
 *          nine digits, and to what is negligible beside the masses and lengths of the model
 *          (inertia_noise). Moments a, b, c with a + b < c belong to no solid, but cause only a warning: a
 *          rotor or a measured arm may be given by the one moment that matters, and the equations of motion
 *          need no more than a positive inertia;
 *          axes have a direction; those of a universal joint are perpendicular, of a translation independent;
 *          planar bodies stay in their plane.
 */
#include "linalg/small.h"
#include "model/compile/compile.h"
#include "model/joint.h"
#include "model/mesh_inertia.h"

#include <stdio.h>
#include <string.h>

static const double tolerance = 1e-9;

void lw_principal_moments(const double S[6], double e[3]) {
    double axes[9];
    lw_s3_axes_ascending(S, e, axes);
}

/* Computes the joint's point on a body, in the body's frame. */
static void joint_point(const lw_mount *mount, const lw_body_spec *body, const lw_joint_spec *joint, int side,
                        double point[3]) {
    double R[9], from[3];
    if (joint->frame == LW_GEOMETRY_BODY) {
        lw_mount_point(mount, joint->geometry[side].point, point);
        return;
    }
    if (joint->at_frames && mount->frame) {
        lw_v3_copy(mount->frame->p, point);
        return;
    }
    if (!body->has_pose) {
        lw_v3_copy(joint->geometry[0].point, point);
        return;
    }
    lw_rot_quat(body->rotation, R);
    lw_v3_sub(joint->geometry[0].point, body->position, from);
    lw_m3_tmul_v(R, from, point);
}

/* The larger of m l^2 and the largest moment of a body, where l is the distance of the farthest joint from
 * the centre of mass. */
static double moment_scale(const lw_compiler *compiler, const lw_body_spec *body) {
    const lw_spec *spec = compiler->spec;
    const int index = (int)(body - spec->bodies) + 1;
    double square = 0, moment = 0;
    for (size_t k = 0; k < spec->joint_count; k++)
        for (int side = 0; side < 2; side++) {
            const lw_joint_spec *joint = &spec->joints[k];
            double point[3];
            if (!joint->bodies[side] || !body->name) continue;
            lw_mount mount = {.body = strcmp(joint->bodies[side], body->name) == 0 ? index : -1};
            if (mount.body < 0 && spec->frame_count > 0) mount = lw_find_mount(compiler, joint->bodies[side]);
            if (mount.body != index) continue;
            joint_point(&mount, body, joint, side, point);
            lw_v3_sub(point, body->com, point);
            square = fmax(square, lw_v3_dot(point, point));
        }
    for (int k = 0; k < 3; k++) moment = fmax(moment, fabs(body->inertia[k]));
    return fmax(body->mass * square, moment);
}

/* The moment of inertia that is negligible for this body: 1e-15 of its moment_scale, or 1e-28 of the largest
 * moment_scale of the model. The cost is O(bodies x joints), so that only doubtful cases call this. */
static double inertia_noise(const lw_compiler *compiler, const lw_body_spec *body) {
    double greatest = 0;
    for (size_t k = 0; k < compiler->spec->body_count; k++)
        greatest = fmax(greatest, moment_scale(compiler, &compiler->spec->bodies[k]));
    return fmax(1e-15 * moment_scale(compiler, body), 1e-28 * greatest);
}

/* The place of a value in the file, or that of its object if the value has none. */
static lw_place first_known(lw_place value, lw_place object) { return value.line > 0 ? value : object; }

static void validate_spatial_inertia(lw_compiler *compiler, const lw_body_spec *body, lw_place place) {
    double e[3];
    lw_principal_moments(body->inertia, e);
    for (int k = 0; k < 2; k++)
        if (fabs(e[k]) < 1e-15 * e[2]) e[k] = 0; /* It is rounding. */
    double scale = fmax(fabs(e[0]), fabs(e[2]));
    if (e[0] < -tolerance * scale && e[0] < -inertia_noise(compiler, body))
        lw_compile_error(compiler, "body", body->name, place,
                         "check the signs of the products of inertia and the centre they refer to",
                         "inertia is not positive: its principal moments are %.6g, %.6g, %.6g", e[0], e[1],
                         e[2]);
    else if (e[0] + e[1] < e[2] * (1 - tolerance) && e[0] >= -tolerance * scale)
        lw_compile_warning(compiler, "body", body->name, place,
                           "it is taken as given, as rotors and measured arms need it; if it is meant as a "
                           "solid, check units and axes",
                           "inertia breaks the triangle inequality by %.3g: principal moments %.6g + %.6g "
                           "< %.6g, which no solid has",
                           e[2] - (e[0] + e[1]), fmax(0, e[0]), fmax(0, e[1]), e[2]);
}

static void validate_inertia(lw_compiler *compiler, const lw_body_spec *body, lw_place place) {
    const double *I = body->inertia;
    bool any = false;
    if (!lw_finite(I, 6)) {
        lw_compile_error(compiler, "body", body->name, place, "give finite numbers", "inertia is not finite");
        return;
    }
    for (int k = 0; k < 6; k++) any |= I[k] != 0;
    switch (body->kind) {
    case LW_BODY_SPATIAL:
        validate_spatial_inertia(compiler, body, place);
        break;
    case LW_BODY_PLANAR:
        if (I[2] < 0)
            lw_compile_error(compiler, "body", body->name, place, "give zero or a positive moment of inertia",
                             "inertia %g about the plane's normal is negative", I[2]);
        break;
    case LW_BODY_POINT:
        if (any)
            lw_compile_error(compiler, "body", body->name, place,
                             "leave the inertia out, or make the body spatial",
                             "a point mass has no inertia, but one is given");
        break;
    default:
        lw_compile_error(compiler, "body", body->name, body->place, NULL, "unknown body kind %d",
                         (int)body->kind);
    }
}

/* What programs that draw the body rely on. */
static void validate_shape(lw_compiler *compiler, const lw_body_spec *body, const lw_shape *shape) {
    lw_error error;
    if (shape->kind < 0 || shape->kind >= LW_SHAPE_KINDS)
        lw_compile_error(compiler, "body", body->name, body->place, NULL, "unknown shape %d",
                         (int)shape->kind);
    else if (shape->kind == LW_SHAPE_MESH && lw_mesh_valid(shape->mesh, &error) != LW_OK)
        lw_compile_error(compiler, "body", body->name, body->place, error.remedy, "%s", error.message);
}

bool lw_validate_body(lw_compiler *compiler, const lw_body_spec *body) {
    const char *name = body->name;
    const lw_body_places *places = lw_spec_body_places(compiler->spec, body);
    int before = compiler->errors;
    if (!isfinite(body->mass) || body->mass < 0)
        lw_compile_error(compiler, "body", name, first_known(places->mass, body->place),
                         "give zero or a positive number of kilograms", "mass %g is not a mass", body->mass);
    if (!lw_finite(body->com, 3))
        lw_compile_error(compiler, "body", name, first_known(places->com, body->place),
                         "give three finite numbers", "centre of mass [%g, %g, %g] is not a point",
                         body->com[0], body->com[1], body->com[2]);
    if (body->has_pose && (!lw_finite(body->position, 3) || !lw_finite(body->rotation, 4)))
        lw_compile_error(compiler, "body", name, first_known(places->position, body->place),
                         "give finite numbers", "position or rotation is not finite");
    if (body->has_pose && body->rotation[0] == 0 && lw_v3_norm(body->rotation + 1) == 0)
        lw_compile_error(compiler, "body", name, first_known(places->rotation, body->place),
                         "no rotation is [1, 0, 0, 0]", "rotation quaternion [0, 0, 0, 0] has no direction");
    validate_inertia(compiler, body, first_known(places->inertia, body->place));
    if (body->shape_count == 0) validate_shape(compiler, body, &body->shape);
    for (int k = 0; k < body->shape_count; k++) validate_shape(compiler, body, &body->shapes[k]);
    return compiler->errors == before;
}

/* The name of a joint's axis number k in a model file. */
static const char *axis_name(lw_joint_type type, int k) {
    if (lw_joint_axes_are_listed(type)) return "axis";
    return k == 1 ? "x" : lw_joint_describe(type)->axis_key;
}

static bool validate_geometry(lw_compiler *compiler, const lw_joint_spec *joint, int side) {
    const lw_joint_geometry *geometry = &joint->geometry[side];
    const lw_joint_places *places = lw_spec_joint_places(compiler->spec, joint);
    const lw_joint_descriptor *about = lw_joint_describe(joint->type);
    int least = about->fewest_axes, most = about->most_axes, before = compiler->errors;
    if (!lw_finite(geometry->point, 3))
        lw_compile_error(compiler, "joint", joint->name, first_known(places->point[side], joint->place),
                         "give three finite numbers", "point [%g, %g, %g] is not a point", geometry->point[0],
                         geometry->point[1], geometry->point[2]);
    if (geometry->axis_count < least || geometry->axis_count > most) {
        char remedy[96];
        snprintf(remedy, sizeof remedy, least == most ? "give %d" : "give %d to %d", least, most);
        lw_compile_error(compiler, "joint", joint->name, joint->place, remedy, "%d ax%ss given to a %s joint",
                         geometry->axis_count, geometry->axis_count == 1 ? "i" : "e",
                         lw_joint_type_name(joint->type));
        return false;
    }
    double unit[3][3];
    for (int k = 0; k < geometry->axis_count; k++) {
        const double *a = geometry->axes[k];
        if (!lw_finite(a, 3) || (a[0] == 0 && a[1] == 0 && a[2] == 0)) {
            lw_compile_error(compiler, "joint", joint->name, first_known(places->axes[side][k], joint->place),
                             "give any non-zero vector, e.g. [0, 0, 1]", "%s [%g, %g, %g] has no direction",
                             axis_name(joint->type, k), a[0], a[1], a[2]);
            return false;
        }
        lw_unit(a, unit[k]);
    }
    if (geometry->axis_count >= 2) {
        double cosine = lw_v3_dot(unit[0], unit[1]), across[3];
        lw_v3_cross(unit[0], unit[1], across);
        if (about->frame == LW_FRAME_X_Y && fabs(cosine) > 1e-6)
            lw_compile_error(compiler, "joint", joint->name, first_known(places->axes[side][1], joint->place),
                             "make them perpendicular",
                             "the axes of a %s joint stand at %.6g degrees to each other", about->name,
                             acos(fmax(-1, fmin(1, cosine))) * 180 / LW_PI);
        else if (lw_v3_norm(across) < 1e-6 ||
                 (geometry->axis_count == 3 && fabs(lw_v3_dot(across, unit[2])) < 1e-6))
            lw_compile_error(compiler, "joint", joint->name, first_known(places->axes[side][1], joint->place),
                             "leave one out, or turn it", "its axes are not independent");
    }
    return compiler->errors == before;
}

bool lw_validate_joint(lw_compiler *compiler, const lw_joint_spec *joint) {
    int before = compiler->errors;
    const char *name = joint->name;
    const lw_joint_places *places = lw_spec_joint_places(compiler->spec, joint);
    if (joint->type < 0 || (int)joint->type >= lw_joint_descriptor_count) {
        lw_compile_error(compiler, "joint", name, joint->place, NULL, "unknown joint type %d",
                         (int)joint->type);
        return false;
    }
    if (joint->frame != LW_GEOMETRY_WORLD && joint->frame != LW_GEOMETRY_BODY) {
        lw_compile_error(compiler, "joint", name, joint->place, NULL, "unknown geometry frame %d",
                         (int)joint->frame);
        return false;
    }
    if (joint->bodies[0] && joint->bodies[1] && strcmp(joint->bodies[0], joint->bodies[1]) == 0)
        lw_compile_error(compiler, "joint", name, first_known(places->between, joint->place),
                         "name two different bodies", "joins body \"%s\" to itself", joint->bodies[0]);
    const lw_joint_descriptor *about = lw_joint_describe(joint->type);
    bool both = joint->frame == LW_GEOMETRY_BODY, first_alone = about->frame == LW_FRAME_OF_BODY;
    bool sound = validate_geometry(compiler, joint, 0);
    if (both && first_alone && !lw_finite(joint->geometry[1].point, 3))
        lw_compile_error(compiler, "joint", name, first_known(places->point[1], joint->place),
                         "give three finite numbers", "its point in the second body is not a point");
    if (sound && both && !first_alone) validate_geometry(compiler, joint, 1);
    if (about->screws && !isfinite(joint->lead))
        lw_compile_error(compiler, "joint", name, first_known(places->lead, joint->place),
                         "give metres per turn", "lead %g is not finite", joint->lead);
    int nq = lw_joint_type_q(joint->type, joint->geometry[0].axis_count);
    int nv = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
    if ((joint->has_q && !lw_finite(joint->q, nq)) || (joint->has_v && !lw_finite(joint->v, nv)))
        lw_compile_error(compiler, "joint", name, first_known(places->q, joint->place), "give finite numbers",
                         "initial coordinates or speeds are not finite");
    for (int k = nv; k < LW_JOINT_MAX_V; k++)
        if (joint->motion[k]) {
            lw_compile_error(compiler, "joint", name, joint->place,
                             "give as many motions as it has speeds, or fewer",
                             "a motion is given for speed %d, but a %s joint has %d", k,
                             lw_joint_type_name(joint->type), nv);
            break;
        }
    lw_validate_coordinates(compiler, joint);
    int at = lw_joint_quaternion(joint->type);
    if (at >= 0 && joint->has_q && joint->q[at] == 0 && lw_v3_norm(joint->q + at + 1) == 0)
        lw_compile_error(compiler, "joint", name, first_known(places->q, joint->place),
                         "no rotation is [1, 0, 0, 0]", "initial quaternion [0, 0, 0, 0] has no direction");
    return compiler->errors == before;
}

/* Returns whether the tree joint keeps a plane with this normal (world axes, reference configuration): it
 * does if it rotates about the normal only and slides perpendicular to the normal only. */
static bool keeps_plane(const lw_link *link, const double world[9], const double normal[3]) {
    const lw_joint *joint = &link->joint;
    const lw_joint_descriptor *about = lw_joint_describe(joint->type);
    if (about->ball || (about->screws && joint->pitch != 0)) return false;
    for (int k = 0; k < joint->nv; k++) {
        double direction[3], axis[3];
        lw_joint_direction(joint, k, direction);
        lw_m3_mul_v(world, direction, axis);
        double along = fabs(lw_v3_dot(axis, normal));
        if (k >= about->slides ? !(along > 1 - tolerance) : !(along <= 1e-6)) return false;
    }
    return true;
}

void lw_validate_planar(lw_compiler *compiler) {
    const lw_model *model = compiler->model;
    bool any = false;
    for (int i = 1; i <= model->body_count; i++) any |= model->bodies[i].kind == LW_BODY_PLANAR;
    if (!any) return;
    double(*world)[9] = (double(*)[9])LW_NEW(compiler->scratch, double, 9 * ((size_t)model->body_count + 1));
    if (!world) return;
    lw_m3_identity(world[0]);
    for (int i = 1; i <= model->body_count; i++)
        lw_m3_mul(world[model->links[i].parent], model->links[i].R, world[i]);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_body *own = &model->bodies[i];
        if (own->kind != LW_BODY_PLANAR) continue;
        double body[9];
        lw_m3_mul(world[i], own->frame.R, body);
        const double normal[3] = {body[2], body[5], body[8]};
        for (int j = i; j > 0; j = model->links[j].parent) {
            /* The path from a planar body to ground was checked with that body. */
            if (j != i && model->bodies[j].kind == LW_BODY_PLANAR) {
                lw_m3_mul(world[j], model->bodies[j].frame.R, body);
                const double other[3] = {body[2], body[5], body[8]};
                if (fabs(lw_v3_dot(normal, other)) > 1 - tolerance) break;
            }
            if (!keeps_plane(&model->links[j], world[j], normal)) {
                lw_compile_error(
                    compiler, "body", own->name, own->place,
                    "make the body spatial, or the joint one that keeps the plane of the body's x and y",
                    "is planar, but joint \"%s\" (%s) lets it leave its plane",
                    model->joints[model->bodies[j].joint_index].name,
                    lw_joint_type_name(model->links[j].joint.type));
                break;
            }
        }
    }
}

/* scene_model.c - which solids show a mechanism.
 *
 *   body with shapes      the shapes; a thin strut from the first to each joint that lies outside of all
 *   body without          links between its joints, and a ball at the centre of mass with a volume in
 *                         proportion to the mass; where links would say nothing, a box of the same inertia
 *   joint                 revolute: a pin along the axis; prismatic, translation: a sleeve along each
 *                         direction; screw, cylindrical: a pin with a sleeve; universal: a cross; spherical:
 *                         a ball; planar: a plate; weld: a cube; free: nothing
 *   bushing               a sleeve along the x axis of its frame, with a pin in it
 *   spring                a coil        distance: a thin rod
 */
#include "export/scene/scene_model.h"
#include "linalg/small.h"
#include "linalg/vec3.h"

#include <stdlib.h>
#include <string.h>

/* The colours of plots for light pages (Okabe and Ito 2008), a little lighter. */
const lw_paint lw_paints[LW_PAINTS] = {
    {"blue", {0x2b, 0x83, 0xc6}},   {"orange", {0xe8, 0x7a, 0x2e}}, {"green", {0x2a, 0xa8, 0x7e}},
    {"purple", {0xb8, 0x62, 0xa0}}, {"yellow", {0xd9, 0xb1, 0x2e}}, {"sky", {0x62, 0xb8, 0xdc}},
    {"brown", {0xa0, 0x76, 0x4f}},  {"grey", {0x8d, 0x98, 0xa3}},   {"joint", {0x3a, 0x41, 0x49}},
    {"loop", {0xc2, 0x3b, 0x3b}},   {"spring", {0x6b, 0x74, 0x7d}}, {"bushing", {0xc9, 0x86, 0x2b}},
    {"grid", {0xb9, 0xc0, 0xc8}}};

/* Sizes relative to the typical extent of a body. */
static const double link_radius = 0.030, strut_radius = 0.015, rod_radius = 0.022, joint_radius = 0.048;
static const double ball_largest = 0.13, ball_least = 0.035, coil_radius = 0.055;

typedef struct {
    const lw_model *model;
    lw_scene *scene;
    double size, heaviest;
} builder;

/* --- places in the bodies' frames ----------------------------------------------------------------- */

/* A point of the internal frame in the user's frame of the body. */
static void in_body(const lw_model *model, int body, const double internal[3], double out[3]) {
    const lw_pose *frame = &model->bodies[body].frame;
    double shifted[3];
    lw_v3_sub(internal, frame->p, shifted);
    lw_m3_tmul_v(frame->R, shifted, out);
}

static void axes_in_body(const lw_model *model, int body, const double internal[9], double out[9]) {
    lw_m3_tmul(model->bodies[body].frame.R, internal, out);
}

static double distance(const double a[3], const double b[3]) {
    double d[3];
    lw_v3_sub(a, b, d);
    return lw_v3_norm(d);
}

/* --- parts ---------------------------------------------------------------------------------------- */

static lw_part *add_part(builder *b, int body, lw_solid solid, int paint, const double at[3]) {
    lw_part *part = &b->scene->parts[b->scene->part_count++];
    *part =
        (lw_part){.kind = "shape", .solid = solid, .body = body, .paint = paint, .rotation = {1, 0, 0, 0}};
    lw_v3_copy(at, part->position);
    return part;
}

static void set_scale(lw_part *part, double x, double y, double z) { lw_v3_set(part->scale, x, y, z); }

/* Turns a part so that its z axis has this direction, of any length. */
static void point_along(lw_part *part, const double direction[3]) {
    double length = lw_v3_norm(direction), z[3], x[3], R[9];
    if (!(length > 0)) return;
    for (int k = 0; k < 3; k++) z[k] = direction[k] / length;
    lw_v3_perpendicular(z, x);
    lw_rot_columns_zx(z, x, R);
    lw_quat_rot(R, part->rotation);
}

static void add_ball(builder *b, int body, int paint, const double at[3], double radius) {
    set_scale(add_part(b, body, LW_SOLID_SPHERE, paint, at), radius, radius, radius);
}

static void add_bar(builder *b, int body, int paint, const double from[3], const double to[3],
                    double radius) {
    double along[3], middle[3];
    lw_v3_sub(to, from, along);
    double length = lw_v3_norm(along);
    if (!(length > 1e-6 * b->size)) return;
    for (int k = 0; k < 3; k++) middle[k] = 0.5 * (from[k] + to[k]);
    lw_part *part = add_part(b, body, LW_SOLID_CYLINDER, paint, middle);
    point_along(part, along);
    set_scale(part, radius, radius, length);
}

/* --- joints on each body -------------------------------------------------------------------------- */

/* The places on a body where something is attached to it. */
typedef struct {
    double (*at)[3];
    size_t count;
} places;

/* A joint's point on both of its bodies, in their frames, as it is drawn. */
typedef double spot[2][3];

/* Does the joint's point say where it is? That of a slide may be anywhere on a line, and of a prismatic
 * joint the line may be any of its direction. */
static bool has_point(lw_joint_type type) {
    return type != LW_JOINT_PRISMATIC && type != LW_JOINT_TRANSLATION && type != LW_JOINT_CYLINDRICAL &&
           type != LW_JOINT_SCREW && type != LW_JOINT_FREE;
}

static void add_place(const lw_model *model, int body, const double internal[3], places *list,
                      size_t *counts) {
    if (list[body].at)
        in_body(model, body, internal, list[body].at[list[body].count++]);
    else
        counts[body]++;
}

static void find_fixed(const lw_model *model, places *list, size_t *counts) {
    for (int side = 0; side < 2; side++) {
        for (int j = 0; j < model->joint_count; j++) {
            const lw_joint_entry *joint = &model->joints[j];
            if (has_point(joint->info.type))
                add_place(model, joint->info.bodies[side], joint->frames[side].p, list, counts);
        }
        for (int f = 0; f < model->force_count; f++) {
            const lw_force *force = &model->forces[f];
            if (!lw_force_type_in_joint(force->type) && force->type != LW_FORCE_APPLIED)
                add_place(model, force->bodies[side], force->frames[side].p, list, counts);
        }
        for (int c = 0; c < model->constraint_count; c++) {
            const lw_constraint *constraint = &model->constraints[c];
            if (constraint->type == LW_CONSTRAINT_DISTANCE)
                add_place(model, constraint->bodies[side], constraint->points[side], list, counts);
        }
    }
}

/* Where joints, springs, bushings and constraints of distance hold each body, with room for slides. */
static places *find_places(const lw_model *model, lw_arena *arena) {
    size_t bodies = (size_t)model->body_count + 1;
    places *list = LW_NEW(arena, places, bodies);
    size_t *counts = LW_NEW(arena, size_t, bodies);
    if (!list || !counts) return NULL;
    find_fixed(model, list, counts);
    for (int j = 0; j < model->joint_count; j++)
        for (int side = 0; side < 2; side++) counts[model->joints[j].info.bodies[side]]++;
    for (size_t i = 0; i < bodies; i++)
        if (!(list[i].at = (double(*)[3])(void *)LW_NEW(arena, double, 3 * counts[i] + 3))) return NULL;
    find_fixed(model, list, counts);
    return list;
}

/* Drops places that coincide with an earlier one. Many joints in one place are rare: the square of their
 * number is spent on bodies with few only. */
static void drop_doubles(places *list, double near) {
    enum { FEW = 64 };
    size_t kept = 0;
    for (size_t k = 0; k < list->count; k++) {
        bool known = false;
        for (size_t i = 0; i < kept && i < FEW && !known; i++)
            known = distance(list->at[i], list->at[k]) < near;
        if (known) continue;
        if (kept != k) lw_v3_copy(list->at[k], list->at[kept]);
        kept++;
    }
    list->count = kept;
}

/* --- extents -------------------------------------------------------------------------------------- */

static void shape_rotation(const lw_shape *shape, double quaternion[4]) {
    for (int k = 0; k < 4; k++) quaternion[k] = shape->rotation[k];
    lw_quat_normalise(quaternion);
}

/* The middle of a mesh's bounds in its axes, and half their diagonal. */
static double mesh_ball(const lw_shape *shape, double centre[3]) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, middle[3],
           quaternion[4], R[9];
    for (size_t v = 0; v < (size_t)shape->mesh->vertex_count; v++)
        for (int k = 0; k < 3; k++) {
            const double x = shape->size[k] * shape->mesh->vertices[3 * v + (size_t)k];
            low[k] = fmin(low[k], x), high[k] = fmax(high[k], x);
        }
    for (int k = 0; k < 3; k++) middle[k] = 0.5 * (low[k] + high[k]);
    shape_rotation(shape, quaternion);
    lw_rot_quat(quaternion, R);
    lw_pose_point(R, shape->position, middle, centre);
    return 0.5 * distance(low, high);
}

/* The centre of a shape and the radius of a ball around it that holds it. */
static double shape_ball(const lw_shape *shape, double centre[3]) {
    const double *s = shape->size;
    lw_v3_copy(shape->position, centre);
    switch (shape->kind) {
    case LW_SHAPE_BOX:
        return 0.5 * lw_v3_norm(s);
    case LW_SHAPE_CYLINDER:
        return hypot(s[0], 0.5 * s[1]);
    case LW_SHAPE_SPHERE:
        return s[0];
    case LW_SHAPE_CONE:
        return hypot(s[0], s[1]);
    case LW_SHAPE_CAPSULE:
        return s[0] + 0.5 * s[1];
    case LW_SHAPE_ELLIPSOID:
        return fmax(s[0], fmax(s[1], s[2]));
    case LW_SHAPE_MESH:
        return mesh_ball(shape, centre);
    case LW_SHAPE_ROD:
    case LW_SHAPE_TETRAHEDRON: {
        int count = shape->kind == LW_SHAPE_ROD ? 2 : 4;
        double radius = 0;
        lw_v3_set(centre, 0, 0, 0);
        for (int k = 0; k < count; k++) lw_v3_axpy(1.0 / count, shape->points[k], centre);
        for (int k = 0; k < count; k++) radius = fmax(radius, distance(shape->points[k], centre));
        return radius + (shape->kind == LW_SHAPE_ROD ? s[0] : 0);
    }
    default:
        return 0;
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The homogeneous box with a body's inertia: lengths of its edges, and its axes as a quaternion, in the
 * body's frame. Zeros for a body without. */
static void inertia_box(const lw_model *model, int body, double size[3], double quaternion[4]) {
    lw_rigid_inertia I = lw_true_inertia(model, body);
    const double *c = model->bodies[body].com;
    double e[3], axes[9], seen[9], square = lw_v3_dot(c, c), J[6];
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int k = 0; k < 6; k++) /* about the centre of mass */
        J[k] = I.second[k] - I.mass * ((k < 3 ? square : 0) - c[pair[k][0]] * c[pair[k][1]]);
    lw_s3_axes(J, e, axes);
    axes_in_body(model, body, axes, seen);
    lw_quat_rot(seen, quaternion);
    for (int k = 0; k < 3; k++) {
        double squared = I.mass > 0 ? 6 * (e[(k + 1) % 3] + e[(k + 2) % 3] - e[k]) / I.mass : 0;
        size[k] = squared > 0 ? sqrt(squared) : 0;
    }
}

/* Is a body without a shape shown as a box with its inertia? So it is where links would say nothing: with no
 * joint, or one that is inside of that box. */
static bool shown_by_inertia(const lw_model *model, int body, const places *joints, double size[3],
                             double quaternion[4]) {
    double com[3];
    if (body == 0 || model->bodies[body].shape_count > 0 || joints->count > 1 ||
        model->bodies[body].kind != LW_BODY_SPATIAL)
        return false;
    inertia_box(model, body, size, quaternion);
    in_body(model, body, model->bodies[body].com, com);
    double longest = fmax(size[0], fmax(size[1], size[2]));
    return longest > 0 && (joints->count == 0 || distance(joints->at[0], com) < 0.51 * longest);
}

typedef struct {
    double low[3], high[3];
} bounds;

static void extend(bounds *box, const double at[3], double margin) {
    for (int i = 0; i < 3; i++) {
        box->low[i] = fmin(box->low[i], at[i] - margin);
        box->high[i] = fmax(box->high[i], at[i] + margin);
    }
}

/* The box, in its frame, around a body's places, its centre of mass and its shape. */
static bounds bounds_of(const lw_model *model, int body, const places *joints) {
    bounds box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    double com[3], centre[3], size[3], quaternion[4];
    for (size_t k = 0; k < joints->count; k++) extend(&box, joints->at[k], 0);
    if (body == 0) return box;
    in_body(model, body, model->bodies[body].com, com);
    extend(&box, com, 0);
    for (int i = 0; i < model->bodies[body].shape_count; i++) {
        const lw_shape *shape = &model->bodies[body].shapes[i];
        if (shape->kind == LW_SHAPE_ROD || shape->kind == LW_SHAPE_TETRAHEDRON) {
            for (int k = 0; k < (shape->kind == LW_SHAPE_ROD ? 2 : 4); k++)
                extend(&box, shape->points[k], shape->kind == LW_SHAPE_ROD ? shape->size[0] : 0);
        } else {
            double radius = shape_ball(shape, centre);
            extend(&box, centre, 0.577 * radius); /* the cube in the ball */
        }
    }
    if (shown_by_inertia(model, body, joints, size, quaternion)) {
        extend(&box, com, 0.5 * 0.577 * lw_v3_norm(size));
    }
    return box;
}

static double middle_of(const bounds *box, double middle[3]) {
    for (int k = 0; k < 3; k++) middle[k] = 0.5 * (box->low[k] + box->high[k]);
    return 0.5 * distance(box->low, box->high);
}

/* Says where each joint is drawn. A slide is on its line where that passes its body, or, if it passes far
 * away, in the body's middle; then it becomes a place of the body. */
static void find_spots(const lw_model *model, places *list, spot *spots, const bounds *boxes) {
    for (int j = 0; j < model->joint_count; j++)
        for (int side = 0; side < 2; side++) {
            const lw_joint_entry *joint = &model->joints[j];
            int body = joint->info.bodies[side];
            double *at = spots[j][side];
            in_body(model, body, joint->frames[side].p, at);
            if (has_point(joint->info.type) || joint->info.type == LW_JOINT_FREE || body == 0) continue;
            double R[9], along[3], middle[3], away[3];
            int axis = joint->info.type == LW_JOINT_PRISMATIC ? joint->joint.axis : 2;
            axes_in_body(model, body, joint->frames[side].R, R);
            for (int k = 0; k < 3; k++) along[k] = R[3 * k + axis];
            double radius = middle_of(&boxes[body], middle);
            lw_v3_sub(middle, at, away);
            lw_v3_axpy(lw_v3_dot(away, along), along, at);
            bool line = joint->info.type == LW_JOINT_CYLINDRICAL || joint->info.type == LW_JOINT_SCREW;
            if (joint->info.type == LW_JOINT_TRANSLATION || (!line && distance(at, middle) > 1.01 * radius))
                lw_v3_copy(middle, at);
            lw_v3_copy(at, list[body].at[list[body].count++]);
        }
}

/* The size of a mechanism of points: what lies between them, were they in a row, or in a square. */
static double spacing(const lw_model *model, const double *sample) {
    bounds box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    double middle[3], R[9], at[3];
    for (int body = 1; body <= model->body_count; body++) {
        const double *pose = sample + 7 * (size_t)(body - 1), turn[4] = {pose[6], pose[3], pose[4], pose[5]};
        lw_rot_quat(turn, R);
        in_body(model, body, model->bodies[body].com, middle);
        lw_pose_point(R, pose, middle, at);
        extend(&box, at, 0);
    }
    for (int j = 0; j < model->joint_count; j++)
        for (int side = 0; side < 2; side++)
            if (model->joints[j].info.bodies[side] == 0 && has_point(model->joints[j].info.type))
                extend(&box, model->joints[j].frames[side].p, 0);
    int long_sides = 0;
    double length = 2 * middle_of(&box, middle), count = model->body_count;
    if (!(length > 0) || !isfinite(length)) return 1;
    for (int k = 0; k < 3; k++) long_sides += box.high[k] - box.low[k] > 0.2 * length;
    return length / (long_sides > 1 ? sqrt(count) : count);
}

/* Fills middles and radii; returns the median extent of bodies, 1 if all are zero. */
static double measure(lw_scene *scene, const double *sample, const places *list, const bounds *boxes,
                      double *extents) {
    size_t count = 0;
    double farthest = 0, middle[3];
    for (int body = 1; body <= scene->model->body_count; body++)
        farthest = fmax(farthest, middle_of(&boxes[body], middle) + lw_v3_norm(middle));
    for (int body = 1; body <= scene->model->body_count; body++) {
        bounds box = boxes[body];
        for (size_t k = 0; k < list[body].count; k++) extend(&box, list[body].at[k], 0);
        double radius = middle_of(&box, scene->middle[body]);
        scene->radius[body] = radius;
        if (radius > 1e-9 * farthest) extents[count++] = 2 * radius; /* More than rounding. */
    }
    if (count == 0) return spacing(scene->model, sample);
    qsort(extents, count, sizeof *extents, ascending);
    return extents[count / 2];
}

/* --- bodies --------------------------------------------------------------------------------------- */

/* Is a point inside a shape, or nearer to it than margin? */
static bool touches(const lw_shape *shape, const double at[3], double margin) {
    double q[4], R[9], d[3], x[3];
    const double *s = shape->size;
    shape_rotation(shape, q);
    lw_rot_quat(q, R);
    lw_v3_sub(at, shape->position, d);
    lw_m3_tmul_v(R, d, x);
    switch (shape->kind) {
    case LW_SHAPE_BOX:
        for (int k = 0; k < 3; k++)
            if (fabs(x[k]) > 0.5 * s[k] + margin) return false;
        return true;
    case LW_SHAPE_CYLINDER:
        return hypot(x[0], x[1]) <= s[0] + margin && fabs(x[2]) <= 0.5 * s[1] + margin;
    case LW_SHAPE_SPHERE:
        return lw_v3_norm(x) <= s[0] + margin;
    case LW_SHAPE_CONE:
        return x[2] >= -margin && x[2] <= s[1] + margin &&
               hypot(x[0], x[1]) <= s[0] * (1 - fmin(1, fmax(0, x[2] / (s[1] > 0 ? s[1] : 1)))) + margin;
    case LW_SHAPE_ROD: {
        double along[3], from[3];
        lw_v3_sub(shape->points[1], shape->points[0], along);
        lw_v3_sub(at, shape->points[0], from);
        double square = lw_v3_dot(along, along);
        double way = square > 0 ? fmin(1, fmax(0, lw_v3_dot(from, along) / square)) : 0;
        lw_v3_axpy(-way, along, from);
        return lw_v3_norm(from) <= s[0] + margin;
    }
    case LW_SHAPE_CAPSULE: {
        const double beyond = fmax(0, fabs(x[2]) - 0.5 * s[1]);
        return hypot(hypot(x[0], x[1]), beyond) <= s[0] + margin;
    }
    default: { /* A tetrahedron, ellipsoid or mesh: near its ball is near enough. */
        double centre[3], radius = shape_ball(shape, centre);
        return distance(at, centre) <= radius + margin;
    }
    }
}

static double at_least(double value, double least) { return value > least ? value : least; }

/* A capsule: a cylinder between two balls. */
static void add_capsule(builder *b, int body, int paint, const lw_shape *shape) {
    double quaternion[4], R[9], ends[2][3], radius = at_least(shape->size[0], 1e-4 * b->size);
    shape_rotation(shape, quaternion);
    lw_rot_quat(quaternion, R);
    for (int side = 0; side < 2; side++) {
        const double at[3] = {0, 0, (side - 0.5) * shape->size[1]};
        lw_pose_point(R, shape->position, at, ends[side]);
        add_ball(b, body, paint, ends[side], radius);
    }
    add_bar(b, body, paint, ends[0], ends[1], radius);
}

static void add_solid(builder *b, int body, int paint, const lw_shape *shape) {
    static const double origin[3] = {0, 0, 0};
    const double *s = shape->size, thin = 1e-4 * b->size;
    lw_part *part = NULL;
    switch (shape->kind) {
    case LW_SHAPE_ROD:
        add_bar(b, body, paint, shape->points[0], shape->points[1], s[0] > 0 ? s[0] : rod_radius * b->size);
        return;
    case LW_SHAPE_CAPSULE:
        add_capsule(b, body, paint, shape);
        return;
    case LW_SHAPE_TETRAHEDRON:
        part = add_part(b, body, LW_SOLID_TETRAHEDRON, paint, origin);
        set_scale(part, 1, 1, 1);
        part->shape = shape;
        return;
    case LW_SHAPE_MESH:
        part = add_part(b, body, LW_SOLID_MESH, paint, shape->position);
        set_scale(part, s[0], s[1], s[2]);
        part->shape = shape;
        break;
    case LW_SHAPE_BOX:
        part = add_part(b, body, LW_SOLID_BOX, paint, shape->position);
        set_scale(part, at_least(s[0], thin), at_least(s[1], thin), at_least(s[2], thin));
        break;
    case LW_SHAPE_ELLIPSOID:
        part = add_part(b, body, LW_SOLID_SPHERE, paint, shape->position);
        set_scale(part, at_least(s[0], thin), at_least(s[1], thin), at_least(s[2], thin));
        break;
    case LW_SHAPE_SPHERE:
        part = add_part(b, body, LW_SOLID_SPHERE, paint, shape->position);
        set_scale(part, at_least(s[0], thin), at_least(s[0], thin), at_least(s[0], thin));
        break;
    default:
        part = add_part(b, body, shape->kind == LW_SHAPE_CONE ? LW_SOLID_CONE : LW_SOLID_CYLINDER, paint,
                        shape->position);
        set_scale(part, at_least(s[0], thin), at_least(s[0], thin), at_least(s[1], thin));
        break;
    }
    shape_rotation(shape, part->rotation);
}

/* The paint of a shape's own colour, or the body's. There is room for one of each shape. */
static int paint_of(lw_scene *scene, const lw_shape *shape, int paint) {
    if (!shape->colour) return paint;
    const unsigned char rgb[3] = {(unsigned char)(shape->colour >> 16 & 255),
                                  (unsigned char)(shape->colour >> 8 & 255),
                                  (unsigned char)(shape->colour & 255)};
    for (int k = LW_PAINTS; k < scene->paint_count; k++)
        if (memcmp(scene->paints[k].rgb, rgb, sizeof rgb) == 0) return k;
    memcpy(scene->paints[scene->paint_count].rgb, rgb, sizeof rgb);
    return scene->paint_count++;
}

static void add_shapes(builder *b, int body, int paint, const places *joints) {
    const lw_body *own = &b->model->bodies[body];
    double centre[3];
    for (int k = 0; k < own->shape_count; k++)
        add_solid(b, body, paint_of(b->scene, &own->shapes[k], paint), &own->shapes[k]);
    shape_ball(&own->shapes[0], centre);
    for (size_t k = 0; k < joints->count; k++) {
        bool touched = false;
        for (int i = 0; i < own->shape_count && !touched; i++)
            touched = touches(&own->shapes[i], joints->at[k], joint_radius * b->size);
        if (!touched) add_bar(b, body, paint, centre, joints->at[k], strut_radius * b->size);
    }
}

static void add_links(builder *b, int body, int paint, const places *joints) {
    double com[3], hub[3] = {0, 0, 0}, mass = lw_model_body_mass(b->model, body), size[3], quaternion[4];
    in_body(b->model, body, b->model->bodies[body].com, com);
    if (shown_by_inertia(b->model, body, joints, size, quaternion)) {
        lw_part *part = add_part(b, body, LW_SOLID_BOX, paint, com);
        for (int k = 0; k < 4; k++) part->rotation[k] = quaternion[k];
        for (int k = 0; k < 3; k++) part->scale[k] = at_least(size[k], ball_least * b->size);
        return;
    }
    for (size_t k = 0; k < joints->count; k++) lw_v3_axpy(1.0 / (double)joints->count, joints->at[k], hub);
    if (joints->count == 2) {
        add_bar(b, body, paint, joints->at[0], joints->at[1], link_radius * b->size);
    } else {
        for (size_t k = 0; k < joints->count; k++)
            add_bar(b, body, paint, hub, joints->at[k], link_radius * b->size);
    }
    double radius = ball_least * b->size;
    if (mass > 0) {
        radius = at_least(ball_largest * b->size * cbrt(mass / b->heaviest), radius);
        if (joints->count > 0) add_bar(b, body, paint, hub, com, strut_radius * b->size);
        add_ball(b, body, paint, com, radius);
    } else if (joints->count < 2) {
        add_ball(b, body, paint, joints->count ? joints->at[0] : com, radius);
    }
}

/* --- joints --------------------------------------------------------------------------------------- */

static void add_rod(builder *b, int body, int paint, const double at[3], const double axis[3], double radius,
                    double length, lw_solid solid) {
    lw_part *part = add_part(b, body, solid, paint, at);
    point_along(part, axis);
    double across = solid == LW_SOLID_BOX ? 2 * radius : radius;
    set_scale(part, across, across, length);
}

/* A joint's solid moves with its second body, or with the first where the second is ground. */
static void add_joint(builder *b, const lw_joint_entry *joint, const spot at_both) {
    int side = joint->info.bodies[1] == 0 ? 0 : 1, body = joint->info.bodies[side];
    int paint = joint->info.cut ? LW_PAINT_CUT : LW_PAINT_JOINT;
    double r = joint_radius * b->size, R[9], axes[3][3];
    const double *at = at_both[side];
    size_t before = b->scene->part_count;
    axes_in_body(b->model, body, joint->frames[side].R, R);
    for (int k = 0; k < 3; k++) lw_v3_set(axes[k], R[k], R[3 + k], R[6 + k]);
    switch (joint->info.type) {
    case LW_JOINT_REVOLUTE:
        add_rod(b, body, paint, at, axes[joint->joint.axis], r, 3.2 * r, LW_SOLID_CYLINDER);
        break;
    case LW_JOINT_PRISMATIC:
        add_rod(b, body, paint, at, axes[joint->joint.axis], 0.95 * r, 5 * r, LW_SOLID_BOX);
        break;
    case LW_JOINT_SCREW:
    case LW_JOINT_CYLINDRICAL:
        add_rod(b, body, paint, at, axes[2], 0.55 * r, 7 * r, LW_SOLID_CYLINDER);
        add_rod(b, body, paint, at, axes[2], r, joint->info.type == LW_JOINT_SCREW ? 1.4 * r : 3.2 * r,
                LW_SOLID_CYLINDER);
        break;
    case LW_JOINT_UNIVERSAL:
        add_rod(b, body, paint, at, axes[0], 0.55 * r, 4 * r, LW_SOLID_CYLINDER);
        add_rod(b, body, paint, at, axes[1], 0.55 * r, 4 * r, LW_SOLID_CYLINDER);
        break;
    case LW_JOINT_SPHERICAL:
        add_ball(b, body, paint, at, 1.25 * r);
        break;
    case LW_JOINT_PLANAR:
        add_rod(b, body, paint, at, axes[2], 2.4 * r, 0.4 * r, LW_SOLID_BOX);
        break;
    case LW_JOINT_TRANSLATION:
        /* Its directions are in the axes of both frames: these do not turn against each other. */
        for (int k = 0; k < joint->joint.nv; k++) {
            double along[3];
            lw_m3_mul_v(R, joint->joint.axes + 3 * k, along);
            add_rod(b, body, paint, at, along, 0.7 * r, 5 * r, LW_SOLID_BOX);
        }
        break;
    case LW_JOINT_FREE:
        break;
    default:
        add_rod(b, body, paint, at, axes[2], r, 2 * r, LW_SOLID_BOX);
        break;
    }
    for (size_t k = before; k < b->scene->part_count; k++)
        b->scene->parts[k].name = joint->name, b->scene->parts[k].kind = "joint";
}

/* A bushing moves with its second body, or with the first where the second is ground. */
static void add_bushing(builder *b, const lw_force *force) {
    int side = force->bodies[1] == 0 ? 0 : 1, body = force->bodies[side];
    double r = 1.4 * joint_radius * b->size, R[9], at[3];
    size_t before = b->scene->part_count;
    if (body == 0) return;
    in_body(b->model, body, force->frames[side].p, at);
    axes_in_body(b->model, body, force->frames[side].R, R);
    const double axis[3] = {R[0], R[3], R[6]};
    add_rod(b, body, LW_PAINT_BUSHING, at, axis, r, 1.5 * r, LW_SOLID_CYLINDER);
    add_rod(b, body, LW_PAINT_JOINT, at, axis, 0.45 * r, 2 * r, LW_SOLID_CYLINDER);
    for (size_t k = before; k < b->scene->part_count; k++)
        b->scene->parts[k].name = force->name, b->scene->parts[k].kind = "bushing";
}

/* --- lines ---------------------------------------------------------------------------------------- */

static void add_lines(builder *b) {
    const lw_model *model = b->model;
    for (int f = 0; f < model->force_count; f++) {
        const lw_force *force = &model->forces[f];
        if (force->type != LW_FORCE_SPRING) continue;
        lw_scene_line *line = &b->scene->lines[b->scene->line_count++];
        *line = (lw_scene_line){.name = force->name,
                                .solid = LW_SOLID_COIL,
                                .bodies = {force->bodies[0], force->bodies[1]},
                                .radius = coil_radius * b->size};
        for (int side = 0; side < 2; side++)
            in_body(model, force->bodies[side], force->frames[side].p, line->points[side]);
    }
    for (int c = 0; c < model->constraint_count; c++) {
        const lw_constraint *constraint = &model->constraints[c];
        if (constraint->type != LW_CONSTRAINT_DISTANCE) continue;
        lw_scene_line *line = &b->scene->lines[b->scene->line_count++];
        *line = (lw_scene_line){.name = constraint->name,
                                .solid = LW_SOLID_CYLINDER,
                                .bodies = {constraint->bodies[0], constraint->bodies[1]},
                                .radius = strut_radius * b->size};
        for (int side = 0; side < 2; side++)
            in_body(model, constraint->bodies[side], constraint->points[side], line->points[side]);
    }
}

/* --- the whole ------------------------------------------------------------------------------------ */

/* Gathers the parts by body, in their present order otherwise. */
static bool sort_parts(lw_scene *scene, lw_arena *arena) {
    size_t bodies = (size_t)scene->model->body_count + 1;
    lw_part *sorted = LW_NEW(arena, lw_part, scene->part_count + 1);
    size_t *next = LW_NEW(arena, size_t, bodies);
    scene->first = LW_NEW(arena, size_t, bodies + 1);
    if (!sorted || !next || !scene->first) return false;
    for (size_t k = 0; k < scene->part_count; k++) scene->first[scene->parts[k].body + 1]++;
    for (size_t i = 0; i < bodies; i++) scene->first[i + 1] += scene->first[i];
    for (size_t i = 0; i < bodies; i++) next[i] = scene->first[i];
    for (size_t k = 0; k < scene->part_count; k++) sorted[next[scene->parts[k].body]++] = scene->parts[k];
    scene->parts = sorted;
    return true;
}

lw_scene *lw_scene_create(const lw_model *model, const double *sample, lw_arena *arena) {
    enum { MOST_PARTS_OF_JOINT = 3, MOST_PARTS_OF_BODY = 3, MOST_PARTS_OF_FORCE = 2 };
    size_t bodies = (size_t)model->body_count + 1, room = bodies * MOST_PARTS_OF_BODY, shapes = 0;
    lw_scene *scene = LW_NEW(arena, lw_scene, 1);
    places *list = find_places(model, arena);
    double *extents = LW_NEW(arena, double, bodies);
    bounds *boxes = LW_NEW(arena, bounds, bodies);
    spot *spots = LW_NEW(arena, spot, (size_t)model->joint_count + 1);
    if (!scene || !list || lw_arena_failed(arena)) return NULL;
    scene->model = model;
    scene->middle = (double(*)[3])(void *)LW_NEW(arena, double, 3 * bodies);
    scene->radius = LW_NEW(arena, double, bodies);
    if (lw_arena_failed(arena)) return NULL;
    for (int body = 0; body <= model->body_count; body++) boxes[body] = bounds_of(model, body, &list[body]);
    find_spots(model, list, spots, boxes);
    scene->typical = measure(scene, sample, list, boxes, extents);
    builder b = {.model = model, .scene = scene, .size = scene->typical};
    for (size_t i = 0; i < bodies; i++) {
        drop_doubles(&list[i], 1e-6 * b.size);
        room += list[i].count + MOST_PARTS_OF_BODY * (size_t)model->bodies[i].shape_count;
        shapes += (size_t)model->bodies[i].shape_count;
        b.heaviest = fmax(b.heaviest, lw_model_body_mass(model, (int)i));
    }
    room +=
        MOST_PARTS_OF_JOINT * (size_t)model->joint_count + MOST_PARTS_OF_FORCE * (size_t)model->force_count;
    scene->parts = LW_NEW(arena, lw_part, room);
    scene->paints = LW_NEW(arena, lw_paint, LW_PAINTS + shapes);
    scene->paint_count = LW_PAINTS;
    scene->lines =
        LW_NEW(arena, lw_scene_line, (size_t)model->force_count + (size_t)model->constraint_count + 1);
    if (lw_arena_failed(arena)) return NULL;
    memcpy(scene->paints, lw_paints, sizeof lw_paints);
    for (int body = 1; body <= model->body_count; body++) {
        int paint = (body - 1) % LW_PAINT_BODIES;
        size_t before = scene->part_count;
        if (model->bodies[body].shape_count == 0)
            add_links(&b, body, paint, &list[body]);
        else
            add_shapes(&b, body, paint, &list[body]);
        if (scene->part_count == before) { /* A rod without length. */
            double com[3];
            in_body(model, body, model->bodies[body].com, com);
            add_ball(&b, body, paint, com, ball_least * b.size);
        }
    }
    for (int j = 0; j < model->joint_count; j++)
        add_joint(&b, &model->joints[j], (const double(*)[3])spots[j]);
    for (int f = 0; f < model->force_count; f++)
        if (model->forces[f].type == LW_FORCE_BUSHING) add_bushing(&b, &model->forces[f]);
    add_lines(&b);
    return sort_parts(scene, arena) ? scene : NULL;
}

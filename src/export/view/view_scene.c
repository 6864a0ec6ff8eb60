/* view_scene.c - a model as JSON: everything that a drawing of it needs.
 *
 * src/export/view/README.md describes the members. Points, axes and frames are in the users' body frames (the
 * compiled model has them in its internal frames); a frame is [x, y, z, qx, qy, qz, qw].
 */
#include "export/view/view_scene.h"

#include <linkwork/assemble.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A point or frame of a body's internal frame in the user's frame. */
static void user_point(const lw_model *model, int body, const double p[3], double out[3]) {
    const lw_pose *frame = &model->bodies[body].frame;
    double arm[3];
    if (body == 0) {
        lw_v3_copy(p, out);
        return;
    }
    lw_v3_sub(p, frame->p, arm);
    lw_m3_tmul_v(frame->R, arm, out);
}

static void user_axes(const lw_model *model, int body, const double R[9], double out[9]) {
    if (body == 0)
        memcpy(out, R, 9 * sizeof *out);
    else
        lw_m3_tmul(model->bodies[body].frame.R, R, out);
}

static void put_frame(lw_view_json *j, const char *key, const lw_model *model, int body,
                      const lw_pose *frame) {
    double R[9], q[4], out[7];
    user_point(model, body, frame->p, out);
    user_axes(model, body, frame->R, R);
    lw_quat_rot(R, q);
    for (int k = 0; k < 3; k++) out[3 + k] = q[1 + k];
    out[6] = q[0];
    lw_view_numbers(j, key, out, 7);
}

/* --- bodies --------------------------------------------------------------------------------------- */

static const char *const shape_names[] = {
    [LW_SHAPE_BOX] = "box",         [LW_SHAPE_CYLINDER] = "cylinder",
    [LW_SHAPE_SPHERE] = "sphere",   [LW_SHAPE_CONE] = "cone",
    [LW_SHAPE_ROD] = "rod",         [LW_SHAPE_TETRAHEDRON] = "tetrahedron",
    [LW_SHAPE_CAPSULE] = "capsule", [LW_SHAPE_ELLIPSOID] = "ellipsoid",
    [LW_SHAPE_MESH] = "mesh"};

static void put_shape(lw_view_json *j, const lw_model *model, const lw_shape *shape) {
    const size_t kinds = sizeof shape_names / sizeof *shape_names;
    if (shape->kind == LW_SHAPE_NONE || (size_t)shape->kind >= kinds || !shape_names[shape->kind]) return;
    lw_view_open(j, NULL, '{');
    lw_view_text(j, "kind", shape_names[shape->kind]);
    lw_view_numbers(j, "size", shape->size, 3);
    lw_view_numbers(j, "position", shape->position, 3);
    double q[4] = {shape->rotation[0], shape->rotation[1], shape->rotation[2], shape->rotation[3]};
    lw_quat_normalise(q);
    const double turned[4] = {q[1], q[2], q[3], q[0]};
    lw_view_numbers(j, "rotation", turned, 4);
    if (shape->kind == LW_SHAPE_ROD || shape->kind == LW_SHAPE_TETRAHEDRON)
        lw_view_numbers(j, "points", shape->points[0], 12);
    if (shape->colour) {
        char text[16];
        (void)snprintf(text, sizeof text, "#%06x", (unsigned)shape->colour & 0xFFFFFFu);
        lw_view_text(j, "colour", text);
    }
    if (shape->kind == LW_SHAPE_MESH) lw_view_integer(j, "mesh", lw_mesh_index(&model->meshes, shape->mesh));
    lw_view_close(j, '}');
}

static void put_shapes(lw_view_json *j, const lw_model *model, const lw_body *body) {
    if (body->shape_count == 0) return;
    lw_view_open(j, "shapes", '[');
    for (int k = 0; k < body->shape_count; k++) put_shape(j, model, &body->shapes[k]);
    lw_view_close(j, ']');
}

/* Vertices as float32, three corners of each triangle as uint32. */
static void put_meshes(lw_view_json *j, const lw_model *model) {
    if (model->meshes.count == 0) return;
    lw_view_open(j, "meshes", '[');
    for (size_t k = 0; k < model->meshes.count; k++) {
        const lw_mesh_spec *mesh = model->meshes.items[k];
        lw_view_base64 b;
        lw_view_open(j, NULL, '{');
        lw_view_base64_open(j, "v", &b);
        for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
            lw_view_base64_float(&b, mesh->vertices[i]);
        lw_view_base64_close(&b, true);
        lw_view_base64_open(j, "i", &b);
        lw_view_base64_put(&b, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *mesh->triangles);
        lw_view_base64_close(&b, true);
        lw_view_close(j, '}');
    }
    lw_view_close(j, ']');
}

/* Moments of inertia about the centre of mass in the user's axes: xx, yy, zz, xy, xz, yz. */
static void inertia_of(const lw_model *model, int body, double out[6]) {
    const lw_rigid_inertia I = lw_true_inertia(model, body);
    const double *c = model->bodies[body].com, square = lw_v3_dot(c, c), m = I.mass;
    static const int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    double about_com[6], R[9];
    for (int k = 0; k < 3; k++) {
        about_com[k] = I.second[k] - m * (square - c[k] * c[k]);
        about_com[3 + k] = I.second[3 + k] + m * c[pairs[k][0]] * c[pairs[k][1]];
    }
    lw_m3_transpose(model->bodies[body].frame.R, R);
    lw_s3_rotate(R, about_com, out);
}

static void put_bodies(lw_view_json *j, const lw_model *model) {
    static const char *const kinds[] = {"spatial", "planar", "point"};
    lw_view_open(j, "bodies", '[');
    for (int body = 0; body <= model->body_count; body++) {
        const lw_body *b = &model->bodies[body];
        double com[3] = {0, 0, 0};
        if (body > 0) user_point(model, body, b->com, com);
        lw_view_open(j, NULL, '{');
        lw_view_text(j, "name", body ? b->name : LW_GROUND);
        lw_view_text(j, "kind", kinds[body ? b->kind : 0]);
        lw_view_number(j, "mass", body ? lw_model_body_mass(model, body) : 0);
        lw_view_numbers(j, "com", com, 3);
        if (body > 0 && b->kind == LW_BODY_SPATIAL) {
            double inertia[6];
            inertia_of(model, body, inertia);
            lw_view_numbers(j, "inertia", inertia, 6);
        }
        put_shapes(j, model, b);
        lw_view_close(j, '}');
    }
    lw_view_close(j, ']');
}

/* --- joints --------------------------------------------------------------------------------------- */

static void put_joint(lw_view_json *j, const lw_animation *a, int index, const lw_mobility *mobility) {
    const lw_model *model = a->model;
    const lw_joint_entry *entry = &model->joints[index];
    const lw_joint_info *info = &entry->info;
    lw_view_open(j, NULL, '{');
    lw_view_text(j, "name", entry->name);
    lw_view_text(j, "type", lw_joint_type_name(info->type));
    lw_view_open(j, "bodies", '[');
    lw_view_integer(j, NULL, info->bodies[0]);
    lw_view_integer(j, NULL, info->bodies[1]);
    lw_view_close(j, ']');
    lw_view_open(j, "frames", '[');
    for (int side = 0; side < 2; side++) put_frame(j, NULL, model, info->bodies[side], &entry->frames[side]);
    lw_view_close(j, ']');
    if (entry->joint.axes && entry->joint.nv > 0)
        lw_view_numbers(j, "axes", entry->joint.axes, 3 * (size_t)entry->joint.nv);
    lw_view_number(j, "pitch", entry->joint.pitch);
    lw_view_bool(j, "cut", info->cut);
    lw_view_integer(j, "prescribed", (long)info->prescribed);
    int redundant = 0;
    for (int k = 0; k < lw_mobility_rows(mobility) - lw_mobility_rank(mobility); k++)
        redundant += lw_mobility_redundant_joint(mobility, k) == index;
    lw_view_integer(j, "redundant", redundant);
    if (a->unique) {
        lw_view_open(j, "unique", '[');
        for (int k = 0; k < 6; k++) lw_view_bool(j, NULL, a->unique[6 * index + k]);
        lw_view_close(j, ']');
    }
    lw_view_close(j, '}');
}

/* Which rows are redundant at the start, where finding that takes no longer than about a second. */
static lw_mobility *mobility_of(const lw_animation *a) {
    const double most_work = 2e9;
    const lw_model *model = a->model;
    double rows = 3.0 * model->constraint_count;
    for (int k = 0; k < model->closure_count; k++) rows += model->joints[model->closures[k]].info.rows;
    lw_mobility *mobility = NULL;
    if (!a->has_state || rows == 0 || rows * rows * model->nv > most_work) return NULL;
    lw_error error;
    if (lw_mobility_create(model, a->times[0], a->q0, &mobility, &error) != LW_OK) return NULL;
    return mobility;
}

static void put_joints(lw_view_json *j, const lw_animation *a) {
    lw_mobility *mobility = mobility_of(a);
    lw_view_open(j, "joints", '[');
    for (int k = 0; k < a->model->joint_count; k++) put_joint(j, a, k, mobility);
    lw_view_close(j, ']');
    lw_view_open(j, "redundant", '[');
    for (int k = 0; k < lw_mobility_rows(mobility) - lw_mobility_rank(mobility); k++)
        lw_view_text(j, NULL, lw_mobility_redundant(mobility, k));
    lw_view_close(j, ']');
    if (mobility) lw_view_integer(j, "freedom", lw_mobility_freedom(mobility));
    lw_mobility_destroy(mobility);
    lw_view_open(j, "loops", '[');
    for (int loop = 0; loop < lw_model_loop_count(a->model); loop++) {
        lw_view_open(j, NULL, '[');
        for (int k = 0; k < lw_model_loop_length(a->model, loop); k++)
            lw_view_integer(j, NULL, lw_model_loop_joint(a->model, loop, k, NULL));
        lw_view_close(j, ']');
    }
    lw_view_close(j, ']');
}

/* --- force elements and constraints --------------------------------------------------------------- */

/* The joint on one of whose coordinates an element acts, and which of its speeds that is; -1: none. */
static int joint_of(const lw_model *model, const lw_force *force, int *speed) {
    for (int k = 0; k < model->joint_count; k++) {
        const lw_joint_info *info = &model->joints[k].info;
        *speed = force->closure >= 0 ? force->v : force->v - info->v;
        if (force->closure >= 0 ? model->closures[force->closure] == k
                                : !info->cut && *speed >= 0 && *speed < info->v_count)
            return k;
    }
    return -1;
}

static void put_contact(lw_view_json *j, const lw_model *model, const lw_force *force) {
    static const char *const names[LW_SURFACES] = {"plane", "sphere", "cylinder", "box"};
    const lw_contact *c = force->contact;
    double size[3];
    put_frame(j, "frame", model, force->bodies[0], &force->frames[0]);
    for (int k = 0; k < 3; k++) size[k] = 2 * c->half_size[k];
    lw_view_text(j, "surface", names[c->surface]);
    lw_view_number(j, "radius", c->radius);
    lw_view_number(j, "length", isfinite(c->half_length) ? 2 * c->half_length : 0);
    lw_view_numbers(j, "size", size, 3);
}

static void put_force(lw_view_json *j, const lw_model *model, const lw_force *force) {
    const bool in_joint = lw_force_type_in_joint(force->type);
    lw_view_open(j, NULL, '{');
    lw_view_text(j, "name", force->name);
    lw_view_text(j, "type", lw_force_type_name(force->type));
    if (in_joint) {
        int speed = 0, joint = joint_of(model, force, &speed);
        lw_view_integer(j, "joint", joint);
        lw_view_integer(j, "speed", speed);
    } else {
        lw_view_open(j, "bodies", '[');
        for (int side = 0; side < 2; side++) lw_view_integer(j, NULL, force->bodies[side]);
        lw_view_close(j, ']');
        lw_view_open(j, "points", '[');
        for (int side = 0; side < (force->type == LW_FORCE_APPLIED ? 1 : 2); side++) {
            double p[3];
            user_point(model, force->bodies[side], force->frames[side].p, p);
            lw_view_numbers(j, NULL, p, 3);
        }
        lw_view_close(j, ']');
    }
    if (force->contact) put_contact(j, model, force);
    if (force->type == LW_FORCE_BUSHING) put_frame(j, "frame", model, force->bodies[0], &force->frames[0]);
    lw_view_bool(j, "springs", force->stiffness != 0 || force->law != NULL);
    lw_view_bool(j, "damps", force->damping != 0);
    lw_view_number(j, "free", force->free_length);
    lw_view_close(j, '}');
}

static void put_constraint(lw_view_json *j, const lw_model *model, const lw_constraint *c) {
    lw_view_open(j, NULL, '{');
    lw_view_text(j, "name", c->name);
    lw_view_text(j, "type", lw_constraint_type_name(c->type));
    if (c->type != LW_CONSTRAINT_COUPLING) {
        lw_view_open(j, "bodies", '[');
        for (int side = 0; side < 2; side++) lw_view_integer(j, NULL, c->bodies[side]);
        lw_view_close(j, ']');
        lw_view_open(j, "points", '[');
        for (int side = 0; side < 2; side++) {
            double p[3];
            user_point(model, c->bodies[side], c->points[side], p);
            lw_view_numbers(j, NULL, p, 3);
        }
        lw_view_close(j, ']');
        lw_view_number(j, "radius", c->radius);
        double axis[3], normal[3];
        for (int side = 0; side < 2; side++) {
            const int body = c->bodies[side];
            double *out = side ? normal : axis;
            const double *in = side ? c->normal : c->axis;
            if (body)
                lw_m3_tmul_v(model->bodies[body].frame.R, in, out);
            else
                lw_v3_copy(in, out);
        }
        lw_view_numbers(j, "axis", axis, 3);
        lw_view_numbers(j, "normal", normal, 3);
    }
    lw_view_close(j, '}');
}

/* The markers with names, each on its body. */
static void put_markers(lw_view_json *j, const lw_model *model) {
    lw_view_open(j, "frames", '[');
    for (int k = 0; k < model->frame_count; k++) {
        const lw_frame *frame = &model->frames[k];
        lw_view_open(j, NULL, '{');
        lw_view_text(j, "name", frame->name);
        lw_view_integer(j, "body", frame->body);
        put_frame(j, "frame", model, frame->body, &frame->pose);
        lw_view_close(j, '}');
    }
    lw_view_close(j, ']');
}

void lw_view_put_model(lw_view_json *j, const char *key, const lw_animation *a) {
    const lw_model *model = a->model;
    lw_view_open(j, key, '{');
    lw_view_text(j, "name", model->name);
    lw_view_text(j, "file", model->file);
    lw_view_numbers(j, "gravity", model->gravity, 3);
    lw_view_number(j, "size", lw_view_size(a));
    put_meshes(j, model);
    put_bodies(j, model);
    put_markers(j, model);
    put_joints(j, a);
    lw_view_open(j, "forces", '[');
    for (int k = 0; k < model->force_count; k++) put_force(j, model, &model->forces[k]);
    lw_view_close(j, ']');
    lw_view_open(j, "outputs", '[');
    for (int k = 0; k < model->output_names.count; k++) lw_view_text(j, NULL, model->outputs[k].column);
    lw_view_close(j, ']');
    lw_view_open(j, "constraints", '[');
    for (int k = 0; k < model->constraint_count; k++) put_constraint(j, model, &model->constraints[k]);
    lw_view_close(j, ']');
    lw_view_close(j, '}');
}

/* --- size ----------------------------------------------------------------------------------------- */

static void extend(double box[2][3], const double *pose, const double p[3], double radius) {
    double R[9], x[3] = {p[0], p[1], p[2]};
    if (pose) {
        const double q[4] = {pose[6], pose[3], pose[4], pose[5]};
        lw_rot_quat(q, R);
        lw_pose_point(R, pose, p, x);
    }
    for (int k = 0; k < 3; k++) {
        box[0][k] = fmin(box[0][k], x[k] - radius);
        box[1][k] = fmax(box[1][k], x[k] + radius);
    }
}

static void extend_by_shape(double box[2][3], const double *pose, const lw_shape *shape) {
    const int points = shape->kind == LW_SHAPE_ROD ? 2 : shape->kind == LW_SHAPE_TETRAHEDRON ? 4 : 0;
    for (int k = 0; k < points; k++) extend(box, pose, shape->points[k], 0);
    if (points > 0) return;
    if (shape->kind == LW_SHAPE_MESH) {
        double q[4] = {shape->rotation[0], shape->rotation[1], shape->rotation[2], shape->rotation[3]}, R[9];
        lw_quat_normalise(q);
        lw_rot_quat(q, R);
        for (size_t v = 0; v < (size_t)shape->mesh->vertex_count; v++) {
            double own[3], at[3];
            for (int k = 0; k < 3; k++) own[k] = shape->size[k] * shape->mesh->vertices[3 * v + (size_t)k];
            lw_pose_point(R, shape->position, own, at);
            extend(box, pose, at, 0);
        }
        return;
    }
    double radius = 0;
    for (int k = 0; k < 3; k++) radius = fmax(radius, shape->size[k]);
    extend(box, pose, shape->position, (shape->kind == LW_SHAPE_ELLIPSOID ? 1 : 0.5) * radius);
}

double lw_view_size(const lw_animation *a) {
    const lw_model *model = a->model;
    double box[2][3] = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    const double origin[3] = {0, 0, 0};
    for (int body = 1; body <= model->body_count && a->count; body++) {
        const double *pose = a->poses.at + 7 * (body - 1);
        double com[3];
        user_point(model, body, model->bodies[body].com, com);
        extend(box, pose, com, 0);
        for (int k = 0; k < model->bodies[body].shape_count; k++)
            extend_by_shape(box, pose, &model->bodies[body].shapes[k]);
    }
    for (int k = 0; k < model->joint_count && a->count; k++)
        for (int side = 0; side < 2; side++) {
            const int body = model->joints[k].info.bodies[side];
            double p[3];
            user_point(model, body, model->joints[k].frames[side].p, p);
            if (model->joints[k].info.type == LW_JOINT_FREE && body == 0) continue;
            extend(box, body ? a->poses.at + 7 * (body - 1) : NULL, p, 0);
        }
    if (!(box[1][0] >= box[0][0])) extend(box, NULL, origin, 0.5);
    double gap[3];
    lw_v3_sub(box[1], box[0], gap);
    double size = lw_v3_norm(gap);
    return size > 0 && isfinite(size) ? size : 1;
}
